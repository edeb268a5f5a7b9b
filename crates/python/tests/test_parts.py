"""Pipelines and audits of tables in parts: the same bits for any parts, and nearly the results of a fit in memory."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from tables import command, mixed

import halfspaces
from halfspaces import Pipeline, parts
from halfspaces._passes import together
from halfspaces.blocks import BLOCK_ROWS
from halfspaces.parts import MemoryTable

pytestmark = pytest.mark.filterwarnings("ignore::halfspaces.DataWarning")

ROWS = 3 * BLOCK_ROWS + 77
CUTS = [[], [5, 5, BLOCK_ROWS], [9_000, 9_001], list(range(0, ROWS, 2500))]


def cut(rows: pd.DataFrame, cuts: list[int]) -> MemoryTable:
    return MemoryTable([rows.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)])


@pytest.fixture(scope="module")
def sample() -> pd.DataFrame:
    return mixed(ROWS, text=False)


def three(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with three classes."""
    kind = np.where(rows["amount"].to_numpy() > 2.0, "large", rows["outcome"].to_numpy())
    return rows.assign(outcome=kind)


def test_no_bit_depends_on_the_parts(sample: pd.DataFrame) -> None:
    for rows in (sample, three(sample)):
        fits = [parts.fit(cut(rows, cuts), label="outcome", first_rows=6000) for cuts in CUTS]
        assert len({fit._native.to_bytes() for fit in fits}) == 1
        assert all(fit.notes == fits[0].notes for fit in fits)
        audits = [parts.audit(cut(rows, cuts), label="outcome", count=50, first_rows=6000) for cuts in CUTS]
        assert all(np.array_equal(found.row, audits[0].row) for found in audits)
        assert all(found.score.tobytes() == audits[0].score.tobytes() for found in audits)
        assert len({repr(found) for found in audits}) == 1


def test_a_fit_is_nearly_that_in_memory(sample: pd.DataFrame, tmp_path: Path) -> None:
    fresh = mixed(20_000, seed=2, text=False)
    for rows, new in ((sample, fresh), (three(sample), three(fresh))):
        fit = parts.fit(cut(rows, CUTS[3]), label="outcome", first_rows=6000)
        alone = Pipeline.fit(rows, label="outcome", learner="logistic")
        # The two fits differ in the rows held out, in their scales, which weight the penalty, and in the medians.
        assert fit.coordinates == alone.coordinates and list(fit.classes_) == list(alone.classes_)
        assert (fit.predict(new) != alone.predict(new)).mean() < 0.01
        whole = parts.fit(cut(rows, CUTS[3]), label="outcome", first_rows=6000, holdout=0.0)
        all_rows = Pipeline.fit(rows, label="outcome", learner="logistic", holdout=0.0)
        assert (whole.predict(new) != all_rows.predict(new)).mean() < 0.001
        error, other = fit.evaluate(new), alone.evaluate(new)
        assert abs(error["error"]["rate"] - other["error"]["rate"]) < 0.003
        assert abs(error["probabilities"]["log_loss"] - other["probabilities"]["log_loss"]) < 0.01
        held_out = fit.report["held_out"]
        assert abs(held_out["of"] - 0.1 * ROWS) < 150 and held_out["low"] <= error["error"]["rate"] <= held_out["high"]
        counts = {of["name"]: of["rows"] for of in fit.report["classes"]}
        assert counts == rows["outcome"].value_counts().to_dict()
        assert fit.report["learned_from"] == ROWS - held_out["of"]
        # Copies predict the same, also with the command.
        fit.save(tmp_path / "m.json")
        again = Pipeline.load(tmp_path / "m.json")
        assert np.array_equal(again.predict_proba(new), fit.predict_proba(new))
        assert np.array_equal(pickle.loads(pickle.dumps(fit)).predict(new), fit.predict(new))
        new.to_parquet(tmp_path / "new.parquet")
        lines = command("predict", tmp_path / "m.json", tmp_path / "new.parquet").split()
        assert [line.split(",")[0] for line in lines[-len(new) :]] == fit.predict(new).tolist()
        assert "logistic, fitted to" in command("explain", tmp_path / "m.json")


def test_a_small_table_holds_out_the_rows_of_a_fit_in_memory(sample: pd.DataFrame) -> None:
    rows = sample[:3000]
    fit, alone = parts.fit(cut(rows, [1000]), label="outcome"), Pipeline.fit(rows, label="outcome", learner="logistic")
    # The recipe and the scales come from the same rows, so only the end of the iteration differs.
    assert fit.report["held_out"] == alone.report["held_out"]
    assert np.allclose(fit.decide(rows)["value"], alone.decide(rows)["value"], atol=1e-6)
    none = parts.fit(cut(rows, [1000]), label="outcome", holdout=0.0)
    assert none.report["held_out"] is None and none.report["learned_from"] == 3000
    with pytest.raises(ValueError, match="not calibrated"):
        none.predict_proba(rows)


def test_notes_are_those_of_a_stream(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "size": rng.normal(size=64_000).round(3),
            "colour": np.where(rng.random(64_000) < 0.5, "red", "blue"),
            "gap": rng.normal(size=64_000).round(3),
            "one": 1,
            "code": rng.integers(0, 50, 64_000),
        }
    )
    rows["kind"] = np.where(rows["size"] + rng.normal(size=64_000) > 0, "yes", "no")
    rows.loc[61_000:61_002, "colour"] = "green"
    rows.loc[60_500, "colour"] = "grey"
    rows.loc[[61_500, 63_000], "gap"] = np.nan
    rows.loc[62_000, "one"] = 2
    rows.loc[[61_000, 63_999], "kind"] = "maybe"
    rows.loc[[100, 63_500], "code"] = -9999
    rows.to_csv(tmp_path / "t.csv", index=False)
    run = [sys.executable, "-m", "halfspaces", "fit", tmp_path / "t.csv", "--label", "kind", "--stream"]
    run += ["--learner", "perceptron", "--output", tmp_path / "m.json"]
    stream = subprocess.run(list(map(str, run)), capture_output=True, text=True, check=True).stderr
    fit = parts.fit(cut(rows, [30_000, 59_999, 61_001, 62_500]), label="kind")

    def neutral(note: str) -> str:
        note = note.replace(str(tmp_path / "t.csv"), "table")
        for row in (62_000, 61_500):
            note = note.replace(f"line {row + 2}", f"row {row}")
        return note.split("; shuffle")[0].split("; pass")[0]

    expected = [neutral(line[6:]) for line in stream.splitlines() if line.startswith("note: ")]
    assert [neutral(note) for note in fit.notes] == expected
    assert len(expected) == 5 and any("2 rows have labels" in note for note in expected)
    for key in ("rows", "sampled", "classes", "learned_from"):
        assert fit.report[key] == Pipeline.load(tmp_path / "m.json").report[key], key


def test_an_audit_is_nearly_that_in_memory(sample: pd.DataFrame) -> None:
    for rows in (sample, three(sample)):
        found = parts.audit(cut(rows, CUTS[3]), label="outcome", count=ROWS, first_rows=6000)
        alone = halfspaces.audit(rows, label="outcome", learner="logistic")
        assert sorted(found.row) == list(range(ROWS)) and found.rows == ROWS
        assert np.array_equal(found.label, rows["outcome"].to_numpy()[found.row])
        # The folds differ, so the classifiers do.
        for counted, of_alone in (
            (found.likely_wrong, alone.likely_wrong),
            (found.at_most, alone.at_most),
            (found.disagreements, alone.disagreements),
        ):
            assert abs(counted - of_alone) < 0.03 * of_alone
        assert found.baseline == alone.baseline
        assert len(set(found.row[:500]) & set(alone.row[:500])) > 480
        order = pd.Series(alone.score, index=alone.row)[found.row]
        assert np.corrcoef(order, found.score)[0, 1] > 0.999
        few = parts.audit(cut(rows, CUTS[1]), label="outcome", count=7, first_rows=6000)
        assert np.array_equal(few.row, found.row[:7]) and few.summary() == found.summary()


def test_wrong_labels_are_found_as_by_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2 * BLOCK_ROWS, 4))
    truth = (X @ [1.0, -2.0, 0.5, 0.0] + rng.logistic(size=len(X)) * 0.3 > 0).astype(int)
    is_wrong = rng.random(len(X)) < 0.05
    y = np.where(is_wrong, 1 - truth, truth)
    rows = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    found = parts.audit(cut(rows, [3000]), label="y", count=400, first_rows=3000)
    # The opponent.
    p = cross_val_predict(LogisticRegression(), X, y, cv=5, method="predict_proba")
    order = np.argsort(p[np.arange(len(y)), y])[:400]
    ours, theirs = is_wrong[found.row].sum(), is_wrong[order].sum()
    assert ours >= theirs - 8 and ours > 340
    assert found.at_most >= is_wrong.sum()
    assert found.label.dtype.kind == "i" and np.array_equal(found.label, y[found.row])
    fit = parts.fit(cut(rows, [3000]), label="y", first_rows=3000)
    opponent = LogisticRegression().fit(X, y)
    assert abs((fit.predict(rows) != truth).mean() - (opponent.predict(X) != truth).mean()) < 0.002


def test_a_positive_class_and_dropped_columns(sample: pd.DataFrame) -> None:
    rows = three(sample)
    fit = parts.fit(cut(rows, CUTS[2]), label="outcome", positive="large", drop=["colour"], first_rows=6000)
    assert fit.class_names == ["not large", "large"] and "colour" not in fit.columns
    assert ((fit.predict(rows) == "large") == (rows["outcome"] == "large")).mean() > 0.95


def test_faults_are_told(sample: pd.DataFrame) -> None:
    gap = sample.copy()
    gap.loc[9_500, "outcome"] = None
    with pytest.raises(ValueError, match="table, row 9500, column `outcome`: the label is missing"):
        parts.fit(cut(gap, CUTS[3]), label="outcome", first_rows=6000)
    huge = sample.assign(count=sample["count"].astype(float))
    huge.loc[9_500, "count"] = 1e200
    with pytest.raises(ValueError, match="table, row 9500, column `count`: 1e200 is so large"):
        parts.fit(cut(huge, CUTS[3]), label="outcome", first_rows=6000)
    with pytest.raises(ValueError, match=r"column `note`.*leave it out with drop=\['note'\]"):
        parts.fit(cut(mixed(600), [300]), label="outcome")
    with pytest.raises(ValueError, match="the table has no rows"):
        parts.fit(MemoryTable([sample[:0]]), label="outcome")
    with pytest.raises(ValueError, match="no row labelled `ham` is left to learn from; use more folds"):
        rare = sample[:40].assign(outcome=["ham"] + ["spam"] * 39)
        parts.audit(cut(rare, [20]), label="outcome", drop=["colour", "day", "paid"])
    for given, text in (({"folds": 1}, "folds"), ({"failure": 1.0}, "failure"), ({"folds": 2000}, "folds")):
        with pytest.raises(ValueError, match=text):
            parts.audit(cut(sample, []), label="outcome", **given)
    for given, text in (({"c": -1.0}, "c = -1"), ({"holdout": 1.0}, "holdout 1"), ({"first_rows": 0}, "first_rows")):
        with pytest.raises(ValueError, match=text):
            parts.fit(cut(sample, []), label="outcome", **given)
    with pytest.raises(TypeError, match="label=3"):
        parts.fit(cut(sample, []), label=3)  # type: ignore[arg-type]


def test_fits_that_run_together_failtogether() -> None:
    passes = []

    def run(jobs: list[tuple[int, bytes]]) -> list[bytes]:
        passes.append([number for number, _ in jobs])
        return [job + b"!" for _, job in jobs]

    def fit(length: int) -> object:
        def work(ask: object) -> bytes:
            text = b""
            while len(text) < length:
                text = ask(text)  # type: ignore[operator]
            return text

        return work

    assert together([fit(3), fit(1), fit(2)], run) == [b"!!!", b"!", b"!!"]  # type: ignore[list-item]
    assert passes == [[0, 1, 2], [0, 2], [0]]

    def broken(ask: object) -> bytes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        together([fit(3), broken], run)  # type: ignore[list-item]

    def fails(jobs: list[tuple[int, bytes]]) -> list[bytes]:
        raise KeyError

    with pytest.raises(KeyError):
        together([fit(3), fit(2)], fails)  # type: ignore[list-item]
