"""Pipelines: the same model files and answers as the command, from every kind of table."""

import io
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tables import command, mixed, write_csv

import halfspaces
from halfspaces import DataWarning, Pipeline, audit
from halfspaces._frames import typed_classes

pytestmark = pytest.mark.filterwarnings("ignore::halfspaces.DataWarning")


@pytest.fixture(scope="module", params=[False, True], ids=["dense", "text"])
def case(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, Path, Pipeline]:
    folder = tmp_path_factory.mktemp("tables")
    table = mixed(text=request.param)
    path = write_csv(table, folder / "train.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return table, path, Pipeline.fit(path, label="outcome")


def test_the_command_writes_the_same_file(case: Any, tmp_path: Path) -> None:
    _, path, model = case
    model.save(tmp_path / "python.json")
    command("fit", path, "--label", "outcome", "-o", tmp_path / "command.json")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "command.json").read_bytes()


def test_options_mean_what_they_mean_for_the_command(case: Any, tmp_path: Path) -> None:
    _, path, _ = case
    model = Pipeline.fit(
        path,
        label="outcome",
        positive="ham",
        learner="svm",
        c=0.5,
        holdout=0.2,
        drop=["count"],
        seed=3,
        reading={"category": ["paid"], "missing": ["green"]},
        n_jobs=2,
    )
    model.save(tmp_path / "python.json")
    command(
        "fit", path, "--label", "outcome", "--positive", "ham", "--learner", "svm", "--c", 0.5, "--holdout", 0.2,
        "--drop", "count", "--seed", 3, "--category", "paid", "--missing", "green", "-o", tmp_path / "command.json",
    )  # fmt: skip
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "command.json").read_bytes()
    assert model.classes_.tolist() == ["spam", "ham"] and "count" not in model.columns
    by_time = Pipeline.fit(path, label="outcome", time="count", balanced=True)
    by_time.save(tmp_path / "time.json")
    command("fit", path, "-l", "outcome", "--time", "count", "--balanced", "-o", tmp_path / "command2.json")
    assert (tmp_path / "time.json").read_bytes() == (tmp_path / "command2.json").read_bytes()
    assert by_time.report["split"] == {"time": "count"}


def predicted(model_file: Path, table: Path, *options: object) -> pd.DataFrame:
    text = command("predict", model_file, table, "--all", *options)
    return pd.read_csv(io.StringIO(text), converters={"value": float, "probability": float})


def test_models_of_the_command_predict_the_same_here(case: Any, tmp_path: Path) -> None:
    table, path, model = case
    command("fit", path, "--label", "outcome", "-o", tmp_path / "m.json")
    loaded = Pipeline.load(tmp_path / "m.json")
    new = mixed(rows=100, seed=2, text="note" in table).drop(columns="outcome")
    new_path = write_csv(new, tmp_path / "new.csv")
    by_command = predicted(tmp_path / "m.json", new_path)
    for used in (model, loaded):
        here = used.decide(new_path)
        assert list(here.columns) == list(by_command.columns)
        assert here["label"].tolist() == by_command["label"].tolist()
        # The command prints all digits of the value and six of the probability.
        assert here["value"].tolist() == by_command["value"].tolist()
        assert here["probability=spam"].round(6).tolist() == by_command["probability=spam"].tolist()
        assert used.predict(new_path).tolist() == by_command["label"].tolist()
        assert np.array_equal(used.predict_proba(new_path)[:, 1], here["probability=spam"])
    costly = predicted(tmp_path / "m.json", new_path, "--cost", "spam=9")
    assert loaded.predict(new_path, costs={"spam": 9}).tolist() == costly["label"].tolist()
    assert costly["label"].tolist() != by_command["label"].tolist()
    careful = predicted(tmp_path / "m.json", new_path, "--threshold", "0.9")
    assert loaded.predict(new_path, threshold=0.9).tolist() == careful["label"].tolist()


def test_evaluations_are_the_same(case: Any, tmp_path: Path) -> None:
    import json

    table, _, model = case
    new_path = write_csv(mixed(rows=150, seed=3, text="note" in table), tmp_path / "new.csv")
    model.save(tmp_path / "m.json")
    by_command = json.loads(command("evaluate", tmp_path / "m.json", new_path, "--json"))
    assert model.evaluate(new_path) == by_command


def in_memory(table: pd.DataFrame) -> dict[str, Any]:
    """The same table in every form that is not a file."""
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    categories = table.astype({"colour": "category"})
    return {
        "pandas": table,
        "pandas with another index": table.set_index(pd.Index(range(5, 5 + len(table)), name="id")),
        "pandas with Arrow types": table.convert_dtypes(dtype_backend="pyarrow"),
        "pandas with nullable types": table.convert_dtypes(),
        "pandas with categories": categories,
        "polars": pl.from_arrow(arrow),
        "polars, lazy": pl.from_arrow(arrow).lazy(),  # type: ignore[union-attr]
        "polars with categories": pl.from_pandas(table).with_columns(pl.col("colour").cast(pl.Categorical)),
        "pyarrow": arrow,
        "pyarrow, in batches": pa.Table.from_batches(arrow.to_batches(max_chunksize=7)),
        "pyarrow reader": arrow.to_reader(max_chunksize=50),
        "duckdb": duckdb.sql("select * from arrow"),
        "dict of arrays": {name: table[name].to_numpy() for name in table},
        "dict of lists": {name: table[name].tolist() for name in table},
        "dict of series": dict(table.items()),
    }


FORMS = list(in_memory(mixed(rows=10)))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_same_model(case: Any, form: str) -> None:
    table, path, from_file = case
    model = Pipeline.fit(in_memory(table)[form], label="outcome")
    assert model.coordinates == from_file.coordinates
    assert model.report == from_file.report
    by_file = from_file.decide(path)
    pd.testing.assert_frame_equal(model.decide(path), by_file, check_exact=True)
    # A model that was fitted to one form of a table reads all other forms.
    pd.testing.assert_frame_equal(from_file.decide(in_memory(table)[form]), by_file, check_exact=True)
    assert from_file.evaluate(in_memory(table)[form])["confusion"] == from_file.evaluate(path)["confusion"]


WITHOUT_PYARROW = """
import sys, warnings
sys.modules["pyarrow"] = None
import pandas as pd
from halfspaces import Pipeline
from tables import mixed
warnings.simplefilter("ignore")
table = mixed(text=bool(int(sys.argv[1])))
for form in (table, table.convert_dtypes(), table.astype({"colour": "category"})):
    model = Pipeline.fit(form, label="outcome")
    print(model.decide(form).to_csv(index=False))
class Stream:
    def __arrow_c_stream__(self, requested_schema=None):
        raise AssertionError
try:
    Pipeline.fit(Stream(), label="x")
except ImportError as error:
    print(error)
try:
    Pipeline.fit(table.assign(amount=[1, "one"] * 200), label="outcome")
except TypeError as error:
    print(error)
"""


def test_pandas_works_without_pyarrow(case: Any) -> None:
    table, path, from_file = case
    run = [sys.executable, "-c", WITHOUT_PYARROW, str(int("note" in table))]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stderr
    expected = from_file.decide(path).to_csv(index=False)
    *tables, errors = done.stdout.split("\n\n")
    assert [found + "\n" for found in tables] == [expected] * 3
    assert 'reading a Stream needs PyArrow: pip install "halfspaces[arrow]"' in errors
    assert "column 'amount': it has values of several types, such as 1 and 'one'" in errors


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([0, 1, 2], "i"),
        ([0.0, 1.0, 2.0], "f"),
        ([-(2**63), 2**63 - 1], "i"),
        ([2**64 - 1, 2**64 - 2], "u"),
        ([0.5, 1.5], "f"),
        ([0.1 + 0.2, 1e-7, 1e20, -1.0], "f"),
        ([False, True], "b"),
        ([0.0, 1e20], "f"),
        (["a", "b"], "O"),
        ([" <=50K", " >50K"], "O"),
        (["0", "1"], "O"),
        (["1.0", "0.0"], "O"),
        (["true", "false"], "O"),
        (["01", "2"], "O"),
        (["0.50", "1.5"], "O"),
        (["9" * 5000, "-7"], "O"),
        ([str(2**64), str(10**20)], "O"),
        ([str(2**63), "-1"], "O"),
    ],
)
def test_classes_have_the_type_of_the_labels(labels: list[Any], kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    number = rng.integers(0, len(labels), 300)
    table = pd.DataFrame({"x": number + rng.normal(0, 0.1, 300), "y": np.array(labels)[number]})
    model = Pipeline.fit(table, label="y")
    assert model.classes_.dtype.kind == kind
    assert (model.predict(table) == table["y"]).mean() > 0.95
    assert (audit(table, label="y").label == table["y"][audit(table, label="y").row]).all()
    if kind in "iuf":
        path = write_csv(table, tmp_path / "table.csv")
        model = Pipeline.fit(path, label="y")
        assert (model.predict(path) == pd.read_csv(path)["y"]).mean() > 0.95


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, dict], ids=["pandas", "polars", "arrow", "dict"]
)
@pytest.mark.parametrize("labels", [[True, False], ["yes ", "no"], ["1", "2"], [1.0, 2.0], [3, 4]])
def test_predictions_equal_the_labels_of_every_table(make: Any, labels: list[Any]) -> None:
    x = np.linspace(-1.0, 1.0, 200)
    given = [labels[int(value > 0)] for value in x]
    table = make({"x": x, "y": given})
    for positive in labels:
        model = Pipeline.fit(table, label="y", positive=positive)
        again = pickle.loads(pickle.dumps(model))
        for found in (model.classes_.tolist(), again.classes_.tolist()):
            assert [(type(value), value) for value in found][-1] == (type(positive), positive)
        assert [type(value) for value in model.predict(table).tolist()[:1]] == [type(labels[0])]
        assert np.mean([a == b for a, b in zip(model.predict(table).tolist(), given, strict=True)]) > 0.95


def test_the_prediction_is_the_most_probable_class_with_few_labels() -> None:
    # Words and labels are random, so held-out decision values may contradict the labels.
    rng = np.random.default_rng(0)
    for rows in (10, 16, 24, 32):
        text = [" ".join(rng.choice([f"word{k}" for k in range(200)], size=8)) for _ in range(rows)]
        labels = ["a", "b"] * (rows // 2)
        model = Pipeline.fit({"text": text, "y": labels}, label="y", text=["text"])
        shares = model.predict_proba({"text": text})
        assert (shares.max(axis=1) > 0.5).all()
        assert np.array_equal(model.classes_[shares.argmax(axis=1)], model.predict({"text": text}))


def test_a_model_file_says_if_its_classes_change_their_type(tmp_path: Path) -> None:
    x = np.linspace(-1.0, 1.0, 200)
    model = Pipeline.fit({"x": x, "y": np.where(x > 0, "1", "0")}, label="y")
    with pytest.warns(DataWarning, match="predicts 0 instead of '0'"):
        model.save(tmp_path / "model.json")
    assert Pipeline.load(tmp_path / "model.json").classes_.tolist() == [0, 1]
    for labels in (np.where(x > 0, "a", "b"), x > 0, (x > 0).astype(int)):
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            Pipeline.fit({"x": x, "y": labels}, label="y").save(tmp_path / "model.json")


def test_positive_false_of_booleans_in_a_file(tmp_path: Path) -> None:
    x = np.linspace(-1.0, 1.0, 200)
    path = write_csv(pd.DataFrame({"x": x, "y": x > 0}), tmp_path / "table.csv")
    model = Pipeline.fit(path, label="y", positive=False)
    assert model.classes_.tolist() == [True, False] and model.classes_.dtype == bool
    assert (model.predict({"x": [-0.9, 0.9]}) == [False, True]).all()


def category_of(kind: str, x: np.ndarray) -> Any:
    return {
        "int": x,
        "float": x / 2,
        "bool": x > 3,
        "date": pd.date_range("2024-01-01", periods=8)[x],
    }[kind]


@pytest.mark.parametrize("kind", ["int", "float", "bool", "date"])
def test_a_category_is_read_by_the_rule_of_a_plain_column(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 8, 300), rng.normal(size=300)
    column = category_of(kind, x)
    plain = pd.DataFrame({"x": column, "z": z, "y": np.where(x + z > 4, "a", "b")})
    category = plain.assign(x=pd.Categorical(column))
    model = Pipeline.fit(plain, label="y")
    expected = model.predict_proba(plain)
    category.to_parquet(tmp_path / "table.parquet")
    sources = [category, tmp_path / "table.parquet", {"x": plain["x"].to_numpy(), "z": z}]
    for source in sources:
        np.testing.assert_array_equal(model.predict_proba(source), expected)
    np.testing.assert_array_equal(
        Pipeline.fit(category, label="y").predict_proba(category),
        Pipeline.fit(tmp_path / "table.parquet", label="y").predict_proba(tmp_path / "table.parquet"),
    )


def test_times_mean_the_same_in_every_table() -> None:
    rng = np.random.default_rng(0)
    hours, z = rng.integers(0, 24, 300), rng.normal(size=300)
    days = pd.date_range("2024-01-01", periods=300, freq="h")
    columns = {
        "time": [day.time() for day in days],
        "time and gap": [None, *(day.time() for day in days[1:])],
        "duration": pd.to_timedelta(hours, unit="h").to_numpy(),
        "durations": [None, *pd.to_timedelta(hours[1:], unit="h").to_pytimedelta()],
        "period": np.array(pd.PeriodIndex(days, freq="h"), dtype=object),
        "berlin": [day.tz_localize("Europe/Berlin").to_pydatetime() for day in days],
        "bytes": np.array([b"low", b"high"])[(hours > 12).astype(int)],
        "interval": pd.cut(z, 3),
    }
    for name, column in columns.items():
        of_dict = {"q": column, "z": z, "y": np.where(hours + z > 12, "a", "b")}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = Pipeline.fit(of_dict, label="y")
        assert all(issubclass(one.category, DataWarning) for one in caught), name
        frame = pd.DataFrame({"q": pd.Series(column), "z": z, "y": of_dict["y"]})
        np.testing.assert_array_equal(model.predict_proba(frame), model.predict_proba(of_dict), err_msg=name)
        other = Pipeline.fit(frame, label="y")
        assert other.coordinates == model.coordinates, name
        said = [str(one.message) for one in caught]
        assert any("seconds" in note for note in said) == name.startswith("duration"), said
        assert any("read as times of day" in note for note in said) == name.startswith("time"), said
        assert any("converted to UTC" in note for note in said) == (name == "berlin"), said


def test_a_series_is_not_a_table() -> None:
    for series in (pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0])):
        with pytest.raises(TypeError, match="expected a path, a pandas or polars DataFrame"):
            Pipeline.fit(series, label="y")


def test_classes_of_fractions_are_named_by_numbers() -> None:
    table = {"x": np.arange(200.0), "y": np.array([0.0, 0.5])[np.arange(200) // 100]}
    model = Pipeline.fit(table, label="y", positive=0.0)
    assert model.class_names == ["0.5", "0"] and model.classes_.tolist() == [0.5, 0.0]
    assert np.array_equal(model.predict(table, costs={0.0: 1e9}), model.predict(table, costs={"0": 1e9}))
    assert (model.predict(table, costs={0.0: 1e9}) == 0.0).all()
    assert (model.predict(table, costs={0.5: 1e9}) == 0.5).all()
    # Strings that denote equal numbers are different classes.
    assert typed_classes(["0", "-0", "0.5"]).dtype == object


def test_notes_are_warnings_and_kept() -> None:
    table = mixed(text=False)
    table.insert(0, "id", range(len(table)))
    with pytest.warns(DataWarning, match="`id`"):
        model = Pipeline.fit(table, label="outcome")
    assert any("`id`" in note for note in model.notes) and "id" not in model.columns
    # Options are written as Python arguments.
    assert not any("--" in note for note in model.notes), model.notes
    unknown = table.assign(outcome="eggs").head(1)
    with pytest.warns(DataWarning, match="does not know"):
        model.evaluate(pd.concat([unknown, table.tail(9)]))


def test_pickles_keep_the_model(case: Any, tmp_path: Path) -> None:
    _, path, model = case
    copy = pickle.loads(pickle.dumps(model))
    assert copy.notes == model.notes and copy.report == model.report
    pd.testing.assert_frame_equal(copy.decide(path), model.decide(path), check_exact=True)
    assert "'ham', 'spam'" in repr(copy)
    loaded = tmp_path / "m.json"
    model.save(loaded)
    loaded.write_text(loaded.read_text().replace('"rows":400', '"rows":401', 1))
    with pytest.raises(ValueError, match="checksum"):
        Pipeline.load(loaded)
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        Pipeline.load(tmp_path / "none.json")


def test_a_file_is_replaced_as_a_whole(case: Any, tmp_path: Path) -> None:
    _, _, model = case
    path = tmp_path / "m.json"
    path.write_text("before")
    with path.open() as before:
        model.save(path)
        assert before.read() == "before"
    assert repr(Pipeline.load(path)) == repr(model)
    with pytest.raises(OSError, match=r"none.m\.json: cannot be written"):
        model.save(tmp_path / "none/m.json")
    assert [file.name for file in tmp_path.iterdir()] == ["m.json"]


SMALL = pd.DataFrame({"x": [1.0, 2.0] * 50, "y": ["a", "b"] * 50})


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (SMALL.head(0), ValueError, "pandas DataFrame: the table has no rows"),
        ({"x": [], "y": np.array([], dtype=object)}, ValueError, "the table has no rows"),
        ({}, ValueError, "data: the dict has no columns"),
        (pd.concat([SMALL, SMALL["x"]], axis=1), ValueError, "two columns are named 'x'"),
        (SMALL.rename(columns={"y": "z"}), ValueError, "there is no column `y`"),
        (SMALL.assign(y=None), ValueError, "the label is missing"),
        (SMALL.assign(y="a"), ValueError, "every row has the same label, `a`"),
        (SMALL.assign(y=np.arange(100.0) / 3), ValueError, "quantity|classes"),
        (SMALL.assign(x=[1, "one"] * 50), TypeError, "column 'x': it has values of several types, such as 1 and 'one'"),
        (SMALL.assign(x=[{"a": 1}] * 100), (TypeError, ValueError), "column `?'?x"),
        (SMALL.assign(x=np.inf), ValueError, "column `x`: the value is infinite"),
        (SMALL[["y"]], ValueError, "no column to learn from"),
        ({"x": [1.0, 2.0], "y": ["a"]}, ValueError, "'x' has 2 rows, but column 'y' has 1"),
        ({"x": np.ones((3, 2)), "y": ["a", "b", "a"]}, ValueError, "column 'x': it has 2 dimensions"),
        ({"x": [1 + 2j], "y": ["a"]}, TypeError, "column 'x': values of type complex128"),
        ({"x": ["\ud800", "a"], "y": ["a", "b"]}, ValueError, "column 'x': the text .* in row 0 is not valid Unicode"),
        (SMALL.assign(x=pd.Series(["\ud800", "a"] * 50, dtype=object)), ValueError, "column 'x': the text .*Unicode"),
        (np.ones((3, 2)), TypeError, "data: expected a path.*found ndarray"),
        (None, TypeError, "data: expected a path.*found NoneType"),
        ("no-such-file.csv", FileNotFoundError, "no such file: 'no-such-file.csv'"),
        (
            "https://example.com/a.csv",
            FileNotFoundError,
            "download what a URL names first: 'https://example.com/a.csv'",
        ),
        (
            pl.DataFrame({"x": [1, 2], "y": ["a", "b"]}, schema_overrides={"x": pl.Int128}),
            TypeError,
            "column 'x': values of type Int128",
        ),
        (SMALL.set_axis(pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]), axis=1), ValueError, "several levels"),
        (pa.table([[1], [2]], names=["x", "x"]), ValueError, "two columns are named `x`"),
        (pl.DataFrame({"y": ["a", "b"], "x": [[[1]], [[2]]]}), ValueError, "column `x`: values of type"),
    ],
)
def test_bad_tables_are_named(data: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Pipeline.fit(data, label="y")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "magic"}, "learner='magic': must be one of auto"),
        ({"learner": "auto", "c": 2.0}, "c: does not apply to the learner auto"),
        ({"learner": "svm", "noise": 0.1}, "noise: does not apply"),
        ({"holdout": 1.5}, "holdout 1.5: must be at least 0"),
        ({"group": "x", "time": "x"}, "group and time: pass only one of them"),
        ({"drop": ["z"]}, "there is no column `z`"),
        ({"drop": "y"}, "drop y: it is the column of labels"),
        ({"weights": "y"}, "weights y: it is the column of labels"),
        ({"positive": "c"}, "positive c: no row has this label"),
        ({"reading": {"delimeter": ";"}}, "reading: 'delimeter' is not an option"),
        ({"reading": {"decimal": "x"}}, "decimal='x'"),
        ({"reading": {"delimiter": "ab"}}, "expected|character"),
        ({"reading": {"format": "xls"}}, "format: `xls` is not a format"),
        ({"seed": -1}, "seed=-1: must be at least 0"),
        ({"hash_bits": 40}, "hash_bits"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pipeline.fit(SMALL, label="y", **options)


@pytest.mark.parametrize("roles", [{"label": None}, {"weights": [1.0] * 100}, {"group": 3}])
def test_columns_are_given_by_name(roles: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="must be the name of a column"):
        Pipeline.fit(SMALL, **{"label": "y", **roles})


def test_columns_may_come_in_any_order_with_others(case: Any) -> None:
    table, path, model = case
    expected = model.decide(path)
    shuffled = table.drop(columns="outcome")[reversed(table.columns.drop("outcome"))].assign(extra="x")
    pd.testing.assert_frame_equal(model.decide(shuffled), expected, check_exact=True)
    with pytest.raises(ValueError, match="amount"):
        model.predict(table.drop(columns="amount"))
    assert len(model.predict(table.drop(columns="amount"), unseen="zero")) == len(table)
    with pytest.raises(ValueError, match=r"amount.*`many`"):
        model.predict(table.assign(amount="many"))
    new = table.assign(colour="violet")
    with pytest.raises(ValueError, match="violet"):
        model.predict(new)
    assert len(model.predict(new, unseen="zero")) == len(table)
    with pytest.raises(ValueError, match="unseen='no'"):
        model.predict(table, unseen="no")
    with pytest.raises(ValueError, match="eggs"):
        model.predict(table, costs={"eggs": 2.0})
    # Numbers that are given as strings are read by the rules of the fit.
    assert model.predict(table.assign(count=table["count"].astype(str))).tolist() == expected["label"].tolist()


def test_types_of_other_libraries(tmp_path: Path) -> None:
    """Periods, sparse columns, decimals, durations, times and missing truth values."""
    import datetime
    import decimal

    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 200)
    table = pd.DataFrame(
        {
            "period": pd.period_range("2020-01", periods=200, freq="M"),
            "sparse": pd.arrays.SparseArray(np.where(rng.random(200) < 0.9, 0.0, y + 1.0)),
            "exact": [decimal.Decimal(int(v)) / 10 for v in y * 3 + rng.integers(0, 3, 200)],
            "waited": pd.to_timedelta(y * 60 + rng.integers(0, 60, 200), unit="s"),
            "day": [datetime.date(2020, 1, 1 + int(v)) for v in rng.integers(0, 28, 200)],
            "sure": pd.array([None if r < 0.2 else bool(r < 0.6) for r in rng.random(200)], dtype="boolean"),
            "y": y,
        }
    )
    model = Pipeline.fit(table, label="y")
    assert set(model.columns) == {"period", "sparse", "exact", "waited", "day", "sure"}
    assert (model.predict(table) == y).mean() > 0.9
    values = {name: table[name].tolist() for name in ("exact", "waited", "day", "sure", "y")}
    assert set(Pipeline.fit(values, label="y").columns) == {"exact", "waited", "day", "sure"}


def test_masked_values_are_missing() -> None:
    x = np.arange(60.0)
    masked = np.ma.masked_where(x % 7 == 0, x)
    model = Pipeline.fit({"x": masked, "y": np.where(x > 30, "b", "a")}, label="y")
    assert model.coordinates == ["x", "x is missing"]
    assert model.predict({"x": masked[1:3]}).tolist() == ["a", "a"]


def test_control_c_ends_a_fit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 20))
    table = pd.DataFrame(X).assign(y=(X[:, 0] + rng.normal(size=30_000) > 0).astype(int))
    import _thread

    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        _thread.interrupt_main()

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        Pipeline.fit(table, label="y")
    assert time.perf_counter() - sent[0] < 10.0


def test_other_libraries_are_not_imported() -> None:
    script = "import halfspaces, sys; assert not {'duckdb', 'matplotlib', 'polars', 'tqdm'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ)
    assert halfspaces.Pipeline is Pipeline
    with pytest.raises(TypeError, match=r"Pipeline\.fit"):
        Pipeline()


def test_lists_of_numbers_are_columns() -> None:
    rng = np.random.default_rng(0)
    lists = rng.normal(size=(300, 3))
    table = pl.DataFrame({"e": lists.tolist(), "z": lists[:, 0], "y": np.where(lists[:, 1] > 0, "a", "b")})
    with pytest.warns(DataWarning, match="column `e` contains lists of 3 numbers") as found:
        model = Pipeline.fit(table, label="y")
    assert found[0].filename == __file__, "a warning names the line that called the package"
    assert sorted(model.columns) == ["e.0", "e.1", "e.2", "z"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (model.predict(table.drop("y")) == table["y"].to_numpy()).mean() > 0.9


def test_advice_names_arguments_of_python(tmp_path: Path) -> None:
    table = {"since": ["3/4/2025", "5/6/2025"] * 50, "y": ["a", "b"] * 50, "q": ["?", "1"] * 50}
    table |= {"num": ["1,234", "2,345"] * 50, "id": [f"k{at}" for at in range(100)]}
    model = Pipeline.fit(table, label="y")
    notes = "\n".join(model.notes)
    for advice in (
        """pass reading={"category": ["since"]} to read it as categories, or drop=['since'] to leave it out""",
        'pass reading={"day_first": True} if that is wrong',
        """pass reading={"decimal": ","} if that is wrong""",
        "pass use=['id'] to learn from it",
    ):
        assert advice in notes
    # The advice can be followed.
    again = Pipeline.fit(table, label="y", reading={"category": ["since"], "decimal": ","}, drop=["id"])
    assert not any("since" in note or "`id`" in note or "thousands" in note for note in again.notes)
    assert any('reading={"category": ["since"]}' in note for note in audit(table, label="y").notes)
    with pytest.raises(ValueError, match=r"""if `\?` is a class, pass reading={"not_missing": \["\?"\]}"""):
        Pipeline.fit(table, label="q")
    path = tmp_path / "ragged.csv"
    path.write_text("a,y\n1,2\n1,2,3\n")
    with pytest.raises(
        ValueError, match=r"""pass reading={"ragged": "pad"} to .* or reading={"ragged": "skip"} to leave"""
    ):
        Pipeline.fit(path, label="y")


def test_large_integers_are_exact() -> None:
    for least in (2**63, 2**53):
        labels = [least + at % 2 for at in range(200)]
        for y in (labels, np.array(labels, dtype=np.uint64)):
            model = Pipeline.fit({"x": np.arange(200.0) * (np.arange(200) % 2 - 0.5), "y": y}, label="y")
            assert model.class_names == [str(least), str(least + 1)]
    # A column of objects, as pandas reads such numbers, with PyArrow.
    frame = pd.DataFrame({"x": np.arange(200.0), "y": np.array([2**64 - 1, 2**63] * 100, dtype=object)})
    assert Pipeline.fit(frame, label="y").classes_.tolist() == [2**63, 2**64 - 1]
    for large in ([2**70, 0] * 100, [2**64 - 1, None] * 100):
        with pytest.raises(ValueError, match="column 'y': numbers from .* convert the column to strings"):
            Pipeline.fit(frame.assign(y=np.array(large, dtype=object)), label="y")
    with pytest.raises(ValueError, match="column 'x': a number is beyond the range of float64"):
        Pipeline.fit(frame.assign(x=np.array([10**400, 0.5] * 100, dtype=object)), label="y")
    for y in ([2**70, 0] * 100, [2**53 + 1, None] * 100, [-(2**53) - 1, None] * 100):
        with pytest.raises(ValueError, match="column 'y': numbers from .* convert the column to strings"):
            Pipeline.fit({"x": np.arange(200.0), "y": y}, label="y")
    # Floats hold integers up to here exactly.
    Pipeline.fit({"x": [2**53, 1, None] * 60, "y": ["a", "b", "a"] * 60}, label="y")


def test_classes_have_the_precision_of_the_labels() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    for kind in np.float32, np.float64:
        table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.where(X[:, 0] > 0, 0.1, 0.2).astype(kind)})
        for data in table, pl.from_pandas(table):
            model = Pipeline.fit(data, label="y", learner="logistic")
            assert model.classes_.dtype == kind and np.mean(model.predict(data) == table["y"]) > 0.9


def test_labels_that_differ_in_blanks_are_noted() -> None:
    x = np.arange(40.0)
    table = pd.DataFrame({"x": x, "y": np.where(x < 20, "yes", "no")})
    table.loc[3, "y"] = "yes "
    with pytest.warns(DataWarning, match="`yes` and `yes ` differ only in blanks"):
        model = Pipeline.fit(table, label="y", learner="logistic")
    assert sorted(model.classes_) == ["no", "yes"]
