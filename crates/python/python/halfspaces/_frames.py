"""Converts tables of other libraries to the form that the native module expects, and results to tables."""

from __future__ import annotations

import datetime
import decimal
import errno
import io
import math
import numbers
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from halfspaces._base import check_flag, warn


class Reading(TypedDict, total=False):
    """Options for reading a table. All keys are optional.

    If a key is missing, the reader decides, and the model stores its decision.

    ``format`` : {"csv", "tsv", "libsvm", "parquet", "arrow", "npy", "npz"}; ``delimiter`` : one character; ``header`` :
    whether the first line contains column names; ``ragged`` : {"error", "pad", "skip"}, for rows with too many or too
    few cells; ``missing`` and ``not_missing`` : further strings that mark a missing value, and usual markers that do
    not (among categories, texts and labels); ``decimal`` : "." or ","; ``day_first`` : whether 3/4/2025 is 3 April;
    ``category`` : columns of numbers, such as postcodes, that are categories.
    """

    format: str
    delimiter: str
    header: bool
    ragged: str
    missing: list[str]
    not_missing: list[str]
    decimal: str
    day_first: bool
    category: list[str]


def names(argument: str, given: Any) -> list[str]:
    """Return a list of column names from one name or several."""
    if isinstance(given, str):
        return [given]
    found = list(given)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{argument}={given!r}: must be a name or a list of names")
    return found


def reading_of(given: Reading | None) -> dict[str, Any]:
    """Return the options for reading a table in the form that the native module expects."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"reading={given!r}: must be a dict of options")
    options: dict[str, Any] = dict(given or {})
    known = Reading.__annotations__
    for key in options:
        if key not in known:
            raise ValueError(f"reading: {key!r} is not an option; the options are {', '.join(sorted(known))}")
    for key in ("missing", "not_missing", "category"):
        if key in options:
            options[key] = names(key, options[key])
    for key in ("header", "day_first"):
        if options.get(key) is not None:
            options[key] = check_flag(f"reading: {key}", options[key])
    return options


# The pattern of an option and its value in messages of the native module, and the corresponding Python argument.
_OPTIONS = (
    (r"\b(pass|use|or) (category|missing|not_missing) '([^']*)'", r'\1 reading={"\2": ["\3"]}'),
    (r"\bpass (missing|not_missing) ([^\s']+)", r'pass reading={"\1": ["\2"]}'),
    (r"\b(pass|use|or|with) (decimal|ragged|delimiter) '?([.,;|]|[a-z]+)'?(?=\W|$)", r'\1 reading={"\2": "\3"}'),
    (r"\bpass (day_first|header)\b", r'pass reading={"\1": True}'),
    (r"\bpass no_header\b", r'pass reading={"header": False}'),
    (r"`fit (skip_unlabelled|balanced)`", r"`fit` with \1=True"),
    (r"\b(drop|use|text) '([^']*)'", r"\1=['\2']"),
)


def spelled(text: str) -> str:
    """Return a note or an error of the native module with its options written as Python arguments."""
    for option, argument in _OPTIONS:
        text = re.sub(option, argument, text)
    return text


@contextmanager
def spelled_errors() -> Iterator[None]:
    """Write the options in errors of the native module as Python arguments."""
    try:
        yield
    except ValueError as error:
        text = spelled(str(error))
        if text == str(error):
            raise
        raise ValueError(text) from None


def existing(path: str | os.PathLike[str]) -> str:
    """Return a path as a string. Raise FileNotFoundError if it does not exist; "-" is standard input."""
    found = os.fspath(path)
    if found != "-" and not os.path.exists(found):
        advice = "; download what a URL names first" if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", found) else ""
        raise FileNotFoundError(errno.ENOENT, f"there is no such file{advice}", found)
    return found


def source_of(data: Any) -> Any:
    """Return a table in the form that the native module expects: a path, an Arrow stream, or named columns.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError
        If `data` is not a table, or a column has values of several types.
    ValueError
        If two columns have the same name, or columns have different lengths.
    """
    if isinstance(data, (str, os.PathLike)):
        return existing(data)
    if isinstance(data, Mapping):
        if not data:
            raise ValueError("data: the dict has no columns")
        return _columns("dict", [(name, values) for name, values in data.items()])
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _of_pandas(data)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(data, polars.LazyFrame):
        data = data.collect()
    if polars is not None and isinstance(data, polars.DataFrame):
        for name, dtype in data.schema.items():
            if str(dtype) in ("Int128", "UInt128"):
                raise TypeError(
                    f"data, column {name!r}: values of type {dtype} are not supported; cast them to Int64, Float64 or "
                    f"String"
                )
        return ("polars DataFrame", data.write_ipc_stream(None).getvalue())
    is_column = any(of is not None and isinstance(data, of.Series) for of in (pandas, polars))
    if hasattr(data, "__arrow_c_stream__") and not is_column:
        return _of_arrow(data)
    raise TypeError(
        f"data: expected a path, a pandas or polars DataFrame, an Arrow table or stream, or a dict of arrays, but found "
        f"{type(data).__name__}"
    )


def _of_arrow(data: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        kind = type(data).__name__
        raise ImportError(f'data: reading a {kind} needs PyArrow: pip install "halfspaces[arrow]"') from None
    name = "Arrow table" if isinstance(data, (pa.Table, pa.RecordBatch)) else type(data).__name__
    return (name, _stream(pa, pa.RecordBatchReader.from_stream(data)))


def classes_of(names: list[str], source: Any, label: str) -> npt.NDArray[Any]:
    """Return classes as values of the column of labels, or, for a file or dates, as `typed_classes` returns them."""
    value_of_name: dict[str, Any] = {}
    for value in _distinct(source, label):
        value_of_name.setdefault(text_of(value).strip(), value)
    if not all(name in value_of_name for name in names):
        return typed_classes(names)
    values = [value_of_name[name] for name in names]
    found = np.array(values)
    return found if found.dtype.kind in "biuf" else np.array(values, dtype=object)


def _distinct(source: Any, label: str) -> Iterable[Any]:
    """Return the distinct values of a column of a table in memory, in the order of their first rows."""
    if isinstance(source, str):
        return []
    _, table = source
    if isinstance(table, bytes):
        try:
            import pyarrow as pa
        except ImportError:
            import polars

            series = polars.read_ipc_stream(table, columns=[label])[label].unique(maintain_order=True).drop_nulls()
            # A float of Python has 64 bits, so it would not equal a 32-bit label.
            return iter(series.to_numpy() if series.dtype.is_float() else series)
        column = pa.ipc.open_stream(table).read_all().column(label).unique().drop_null()
        values: Iterable[Any] = column.to_numpy() if pa.types.is_floating(column.type) else column.to_pylist()
        return values
    cells = dict(table)[label]
    # The categories of a dict are strings, whatever type they had.
    return [] if isinstance(cells, tuple) else dict.fromkeys(value for value in cells if not is_missing(value))


def _stream(pa: Any, reader: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return sink.getvalue()


def _of_pandas(frame: Any) -> Any:
    import pandas as pd

    kind = "pandas DataFrame"
    if frame.columns.nlevels > 1:
        raise ValueError("data: the columns have several levels; join the levels of each column into one name")
    columns = []
    for at, name in enumerate(frame.columns):
        column = frame.iloc[:, at]
        if isinstance(column.dtype, pd.PeriodDtype):
            column = column.dt.to_timestamp()
        elif isinstance(column.dtype, pd.SparseDtype):
            column = column.sparse.to_dense()
        elif isinstance(column.dtype, pd.IntervalDtype):
            column = column.astype(str).astype("category")
        elif isinstance(column.dtype, pd.CategoricalDtype) and column.cat.categories.dtype.kind == "O":
            column = column.cat.rename_categories([text_of(level) for level in column.cat.categories])
        columns.append((name, column))
    try:
        import pyarrow as pa
    except ImportError:
        return _columns(kind, columns)
    arrays = []
    for name, column in columns:
        kind_of_values = _check_kinds(name, column)
        try:
            arrays.append(pa.array(column, from_pandas=True))
        except UnicodeEncodeError as error:
            raise ValueError(f"data, column {name!r}: the text {error.object!r} is not valid Unicode") from None
        except (OverflowError, pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            if kind_of_values == "number":
                # These integers are outside the range of int64.
                arrays.append(pa.array(_of_objects(name, column.to_numpy())))
                continue
            raise TypeError(f"data, column {name!r}: {error}; convert it to numbers, strings or dates") from error
    table = pa.table(arrays, names=_unique_names([name for name, _ in columns]))
    return (kind, _stream(pa, table.to_reader()))


def _unique_names(given: list[Any]) -> list[str]:
    found = [str(name) for name in given]
    seen = set()
    for name in found:
        if name in seen:
            raise ValueError(f"data: two columns are named {name!r}; rename one")
        seen.add(name)
    return found


def _columns(kind: str, columns: list[tuple[Any, Any]]) -> Any:
    """Return columns of arrays in the form that the native module expects."""
    found = list(
        zip(_unique_names([name for name, _ in columns]), [_cells(*column) for column in columns], strict=True)
    )
    lengths = {name: _length(cells) for name, cells in found}
    for name, length in lengths.items():
        first = next(iter(lengths))
        if length != lengths[first]:
            raise ValueError(
                f"data: column {first!r} has {lengths[first]} rows, but column {name!r} has {length}; all columns "
                f"need the same length"
            )
    return (kind, found)


def _length(cells: Any) -> int:
    return len(cells[0]) if isinstance(cells, tuple) else len(cells)


def is_missing(value: Any) -> bool:
    """Return whether an object is a missing value: None, NaN, or a missing value of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def text_of(value: Any) -> str:
    """Return a category or a class as a string, as the native module writes it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return np.format_float_positional(value, trim="-")
    return str(value)


def _kind(value: Any) -> str:
    kinds: tuple[tuple[str, Any], ...] = (
        ("bool", (bool, np.bool_)),
        ("text", str),
        ("number", (numbers.Real, decimal.Decimal)),
        ("date", (datetime.date, np.datetime64)),
        ("duration", (datetime.timedelta, np.timedelta64)),
        ("time", datetime.time),
        ("bytes", bytes),
    )
    return next((kind for kind, of in kinds if isinstance(value, of)), type(value).__name__)


def _check_kinds(name: Any, column: Any) -> str:
    """Return the single kind of all values in a column of objects, or an empty string for any other column."""
    if column.dtype != object:
        return ""
    example: dict[str, Any] = {}
    for value in column:
        if not is_missing(value):
            example.setdefault(_kind(value), value)
    if len(example) > 1:
        shown = " and ".join(f"{value!r}" for value in list(example.values())[:2])
        raise TypeError(
            f"data, column {name!r}: it has values of several types, such as {shown}; convert it to one type, for example "
            f"with astype(str)"
        )
    return next(iter(example), "missing")


def _cells(name: Any, values: Any) -> Any:
    """Return a column of numbers, booleans, times, strings or categories in the form that the native module expects."""
    if hasattr(values, "cat"):
        values = values.cat
    if hasattr(values, "categories") and hasattr(values, "codes"):
        return (np.ascontiguousarray(values.codes, dtype=np.int32), [text_of(level) for level in values.categories])
    if isinstance(values, np.ma.MaskedArray):
        is_masked = np.ma.getmaskarray(values)
        values = values.data.astype(object)
        values[is_masked] = None
    array: npt.NDArray[Any] = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"data, column {name!r}: it has {array.ndim} dimensions; pass one array for each column")
    if array.dtype == object:
        return _of_objects(name, array)
    if array.dtype.kind in "iu":
        wide = array.dtype.kind == "u" and array.size > 0 and array.max() > np.iinfo(np.int64).max
        return np.ascontiguousarray(array, dtype=np.uint64 if wide else np.int64)
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind == "b":
        return array.tolist()
    if array.dtype.kind == "M":
        return (np.ascontiguousarray(array.astype("datetime64[us]").view(np.int64)), "moments")
    if array.dtype.kind == "m":
        return (np.ascontiguousarray(array.astype("timedelta64[ns]").view(np.int64)), "durations")
    if array.dtype.kind in "UT":
        return _checked_texts(name, array.tolist())
    if array.dtype.kind == "S":
        return _of_objects(name, array.astype(object))
    raise TypeError(
        f"data, column {name!r}: values of type {array.dtype} are not supported; convert them to numbers or strings"
    )


def _checked_texts(name: Any, texts: list[str | None]) -> list[str | None]:
    for place, text in enumerate(texts):
        try:
            if text is not None:
                text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"data, column {name!r}: the text {text!r} in row {place} is not valid Unicode") from None
    return texts


# A day without a meaning, to which times of the day are added.
_DAY = datetime.datetime(2000, 1, 1)


def _without_zones(name: Any, values: list[Any]) -> list[Any]:
    """Convert times with a time zone to UTC, and issue a warning if any of them has an offset other than 0."""
    zoned = [isinstance(value, datetime.datetime) and value.tzinfo is not None for value in values]
    if not any(zoned):
        return values
    if any(value.utcoffset() for value, is_zoned in zip(values, zoned, strict=True) if is_zoned):
        warn([f"data, column {name!r}: it has times with a time zone, which are converted to UTC"])
    utc = datetime.UTC
    return [v.astimezone(utc).replace(tzinfo=None) if z else v for v, z in zip(values, zoned, strict=True)]


def _decoded(name: Any, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ValueError(f"data, column {name!r}: the bytes {value!r} are not UTF-8 text") from None


def _of_objects(name: Any, array: npt.NDArray[Any]) -> Any:
    kind = _check_kinds(name, array)
    missing = [is_missing(value) for value in array]
    present_values = array[~np.array(missing, dtype=bool)]
    if kind == "number" and all(isinstance(value, numbers.Integral) for value in present_values):
        least, greatest = int(min(present_values)), int(max(present_values))
        exact = next(
            (of for of in (np.int64, np.uint64) if np.iinfo(of).min <= least and greatest <= np.iinfo(of).max), None
        )
        if exact is not None and not any(missing):
            return array.astype(exact)
        if max(-least, greatest) > 2**53:
            why = "do not fit into 64 bits" if exact is None else "and missing values do not fit into floats"
            raise ValueError(
                f"data, column {name!r}: numbers from {least} to {greatest} {why}; convert the column to strings, if "
                f"it names rows or classes, or to floats"
            )
    if kind in ("number", "missing"):
        try:
            present = [np.nan if gap else float(value) for value, gap in zip(array, missing, strict=True)]
        except OverflowError:
            raise ValueError(f"data, column {name!r}: a number is beyond the range of float64") from None
        return np.array(present, dtype=np.float64)
    values = [None if gap else value for value, gap in zip(array, missing, strict=True)]
    if kind == "Period":
        return _of_objects(name, np.array([None if value is None else value.to_timestamp() for value in values]))
    if kind == "date":
        return (np.array(_without_zones(name, values), dtype="datetime64[us]").view(np.int64), "moments")
    if kind == "duration":
        return (np.array(values, dtype="timedelta64[ns]").view(np.int64), "durations")
    if kind == "time":
        clock = [None if value is None else value.replace(tzinfo=None) for value in values]
        spans = [None if value is None else datetime.datetime.combine(_DAY, value) - _DAY for value in clock]
        return (np.array(spans, dtype="timedelta64[us]").view(np.int64), "times")
    if kind == "bytes":
        return _checked_texts(name, [None if value is None else _decoded(name, value) for value in values])
    if kind == "bool":
        return [None if value is None else bool(value) for value in values]
    if kind == "text":
        return _checked_texts(name, [None if value is None else str(value) for value in values])
    raise TypeError(
        f"data, column {name!r}: values of type {kind} are not supported; convert them to numbers or strings"
    )


def table_of(columns: dict[str, Any]) -> Any:
    """Return the arrays as a pandas DataFrame, or as the given dict if pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        return columns
    return pd.DataFrame(columns)


def typed_classes(classes: list[str]) -> npt.NDArray[Any]:
    """Return class names as integers, floats or booleans if all of them are written that way, otherwise as strings.

    Numbers must be different and written in the usual way, such as 7 and 0.5: 007 and 0.50 stay strings.
    """
    if all(re.fullmatch(r"0|-?[1-9][0-9]*", name) for name in classes):
        # Python refuses to convert strings with thousands of digits.
        integers = [int(name[:21]) for name in classes]
        for of in (np.int64, np.uint64):
            if np.iinfo(of).min <= min(integers) and max(integers) <= np.iinfo(of).max:
                return np.array(integers, dtype=of)
    elif all(re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?", name) for name in classes):
        floats = [float(name) for name in classes]
        usual = all(name in (text_of(number), repr(number)) for name, number in zip(classes, floats, strict=True))
        if usual and len(set(floats)) == len(floats):
            return np.array(floats)
    if sorted(name.lower() for name in classes) == ["false", "true"]:
        return np.array([name.lower() == "true" for name in classes])
    return np.array(classes, dtype=object)


__all__ = [
    "Reading",
    "classes_of",
    "is_missing",
    "names",
    "reading_of",
    "source_of",
    "spelled",
    "spelled_errors",
    "table_of",
    "text_of",
    "typed_classes",
]
