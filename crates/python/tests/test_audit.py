"""Audits: the ranking is that of the command, and wrong labels come first."""

import csv
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from tables import command, mixed, write_csv

from halfspaces import AuditResult, DataWarning, audit

pytestmark = pytest.mark.filterwarnings("ignore::halfspaces.DataWarning")


@pytest.mark.parametrize(
    ("text", "learner", "forms"), [(False, "auto", 1), (True, "auto", 1), (False, "logistic", 3), (True, "svm", 3)]
)
def test_the_ranking_is_that_of_the_command(text: bool, learner: str, forms: int, tmp_path: Path) -> None:
    table = mixed(rows=160, text=text)
    path = write_csv(table, tmp_path / "data.csv")
    ranking_path = tmp_path / "ranking.csv"
    options = ["--learner", learner, "--folds", 3, "--seed", 2]
    printed = command("audit", path, "--label", "outcome", *options, "-o", ranking_path)
    with open(ranking_path, newline="", encoding="utf-8") as file:
        ranking = list(csv.DictReader(file))
    for data in [path, table, pl.from_pandas(table)][:forms]:
        found = audit(data, label="outcome", learner=learner, folds=3, seed=2)
        assert found.row.tolist() == [int(line["row"]) for line in ranking]
        assert found.label.tolist() == [line["label"] for line in ranking]
        assert found.suggested.tolist() == [line["suggested"] for line in ranking]
        assert found.score.tolist() == [float(line["agreement"]) for line in ranking]
        likely = [line["likely_wrong"] == "yes" for line in ranking]
        assert found.table["likely_wrong"].tolist() == likely and found.likely_wrong == sum(likely)
        assert (found.contradicts is not None) == text
        if found.contradicts is not None:
            twins = [int(line["contradicts"] or -1) for line in ranking]
            assert found.contradicts.tolist() == twins
        assert f"at most {found.at_most} labels are wrong" in printed
        assert found.summary().splitlines()[0] in printed


def flipped(load: Any, share: float) -> tuple[Any, Any, Any]:
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(7)
    wrong = rng.random(len(y)) < share
    other = (y + rng.integers(1, y.max() + 1, len(y))) % (y.max() + 1)
    return X, np.where(wrong, other, y), wrong


def test_an_audit_without_information_marks_no_label() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 2)), np.arange(90) % 2
    found = audit(X, y, learner="logistic", folds=3)
    assert found.baseline == 45 and found.disagreements >= 45 and found.likely_wrong == 0
    assert not found.table["likely_wrong"].any()
    assert "cannot tell which of them are wrong" in found.summary()
    found = audit(X, (X[:, 0] > 0).astype(int), learner="logistic", folds=3)
    assert found.disagreements < found.baseline and "likely wrong" in found.summary()


def test_sentences_of_a_small_table_are_text() -> None:
    rng = np.random.default_rng(5)
    words = {"it": ["printer", "password", "laptop", "network"], "office": ["invoice", "parking", "contract", "desk"]}
    teams = ["it" if i % 2 else "office" for i in range(24)]
    requests = [f"please look at the {rng.choice(words[team])} number {i} soon" for i, team in enumerate(teams)]
    found = audit(pd.DataFrame({"request": requests, "team": teams}), label="team")
    assert found.disagreements <= 4
    assert any("treated as text" in note for note in found.notes)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_most_flipped_labels_are_first(load: Any) -> None:
    X, y, wrong = flipped(load, 0.1)
    found = audit(X, y, folds=3)
    assert isinstance(found, AuditResult) and sorted(found.row) == list(range(len(y)))
    first = found.row[: wrong.sum()]
    assert wrong[first].mean() > 0.85
    assert (found.label == y[found.row]).all()
    # The bound holds, and the count is not far off.
    assert wrong.sum() <= found.at_most < len(y)
    assert 0.6 * wrong.sum() <= found.likely_wrong <= 1.5 * wrong.sum()
    assert ((found.score < 0) == (found.suggested != found.label)).all()
    table = found.table
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["row", "label", "suggested", "score", "likely_wrong"]


def test_rows_are_matched_by_position() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[:120], y.iloc[:120]
    turned = X.iloc[::-1]
    with pytest.warns(DataWarning, match="y: its index has the same values as that of X in another order"):
        audit(turned, y, learner="logistic")
    # Other indices say nothing about the order.
    audit(X.reset_index(drop=True), y.set_axis(range(500, 620)), learner="logistic")
    audit(turned, y.iloc[::-1], learner="logistic")


def test_arrays_and_tables_agree() -> None:
    X, y, _ = flipped(load_breast_cancer, 0.1)
    table = pd.DataFrame(X).add_prefix("x").assign(y=y)
    by_table, by_array = audit(table, label="y", learner="svm"), audit(X, y, learner="svm")
    assert by_table.row.tolist() == by_array.row.tolist()
    assert by_table.label.tolist() == by_array.label.tolist() and by_table.label.dtype.kind == "i"
    assert by_array.row.tolist() == audit(X, y, learner="svm", n_jobs=2).row.tolist()
    assert by_array.row.tolist() != audit(X, y, learner="svm", seed=1).row.tolist()


def test_a_label_that_occurs_once_is_named() -> None:
    X, y, _ = flipped(load_breast_cancer, 0.1)
    labels = np.where(y == 1, "yes", "no").astype(object)
    labels[7] = "yse"
    with pytest.raises(ValueError, match="y: every class needs at least 2 rows, but these have one: 'yse'; add rows"):
        audit(X, labels, learner="logistic")
    with pytest.raises(ValueError, match="but these have one: 1; add rows"):
        audit(X, np.r_[1, [0] * (len(X) - 1)], learner="logistic")


def test_control_c_ends_an_audit() -> None:
    import _thread

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    y = (X[:, :3].sum(axis=1) + rng.normal(size=20_000) > 0).astype(int)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        _thread.interrupt_main()

    threading.Timer(0.3, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        audit(X, y)
    assert time.perf_counter() - sent[0] < 10.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "pass the labels y"),
        ({"y": [0, 1], "label": "y"}, "pass the labels y"),
        ({"y": [0] * 40}, "all labels are"),
        ({"y": [0, 1] * 20, "folds": 1}, "folds=1: must be at least 2"),
        ({"y": [0, 1] * 20, "folds": 41}, "folds"),
        ({"y": [0, 1] * 20, "failure": 1.0}, "failure"),
        ({"y": [0, 1] * 20, "drop": "x"}, "they are for tables"),
        ({"y": [0, 1] * 10}, "inconsistent"),
        ({"label": "y"}, "data: expected a path"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        audit(np.arange(80.0).reshape(40, 2), **options)


def test_a_number_that_is_not_finite_is_named_with_its_place() -> None:
    X = np.arange(80.0).reshape(40, 2)
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="X: row 7, column 1 is NaN"):
        audit(X, [0, 1] * 20)
    with pytest.raises(ValueError, match="NaN"):
        audit(np.ones((40, 2)), [0.0, np.nan] * 20)


def test_a_table_of_one_class_is_refused() -> None:
    table = pd.DataFrame({"x": np.arange(40.0), "y": "a"})
    with pytest.raises(ValueError, match="all labels are a; an audit needs at least two classes"):
        audit(table, label="y")


def test_the_table_has_the_index_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    names = [f"row {place}" for place in rng.permutation(200)]
    table = pd.DataFrame({"x": rng.normal(size=200)}, index=names).assign(y=lambda t: np.where(t["x"] > 0, "a", "b"))
    table.loc["row 17", "y"] = "b" if table.loc["row 17", "x"] > 0 else "a"
    for found in (audit(table, label="y", learner="logistic"), audit(table[["x"]], table["y"], learner="logistic")):
        assert found.table.index.tolist() == [names[row] for row in found.row]
        assert (table.loc[found.table.index, "y"].to_numpy() == found.label).all()
    assert audit(table[["x"]].to_numpy(), table["y"], learner="logistic").index is None
