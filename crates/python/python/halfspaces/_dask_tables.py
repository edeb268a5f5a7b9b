"""Pipelines and label audits of Dask dataframes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeVar

import dask
import dask.array as da
import numpy as np
import pandas as pd
from dask.delayed import delayed

from halfspaces import _pipeline, parts
from halfspaces._audit import AuditResult
from halfspaces._base import Floats
from halfspaces._frames import Reading

T = TypeVar("T")


def _is_frame(data: Any) -> bool:
    return hasattr(data, "map_partitions") and hasattr(data, "columns")


def _in_order(columns: list[str], frame: Any) -> list[Any]:
    """Return the names of `frame` that are written like `columns`; all names if one of the columns is missing."""
    names = {str(name): name for name in frame.columns}
    return [names[column] for column in columns] if all(column in names for column in columns) else list(frame.columns)


class DaskTable:
    """A Dask dataframe as a `halfspaces.parts.Table`."""

    def __init__(self, frame: Any, label: str) -> None:
        if not _is_frame(frame):
            raise TypeError(f"data is a {type(frame).__name__}; expected a Dask dataframe")
        if label not in frame.columns:
            raise ValueError(f"data: there is no column {label!r}")
        self._frame = frame
        of_part = [delayed(len)(part) for part in frame[[label]].to_delayed()]
        lengths = dask.compute(*of_part)
        self._places = [place for place, length in enumerate(lengths) if length]
        self.lengths: list[int] = [int(length) for length in lengths if length]

    def _parts(self, columns: list[str] | None) -> list[Any]:
        frame = self._frame if columns is None else self._frame[_in_order(columns, self._frame)]
        found = frame.to_delayed()
        return [found[place] for place in self._places]

    def head(self, count: int) -> Any:
        """Return the first rows; see `halfspaces.parts.Table.head`."""
        needed = sum(first < count for first in parts.firsts(self.lengths))
        rows = delayed(parts.joined_head)(self._parts(None)[:needed], count)
        return rows.compute()

    def _tasks(self, work: Callable[..., Any], shared: Sequence[Any], columns: list[str] | None) -> list[Any]:
        task, arguments = delayed(work, pure=False), [delayed(value, traverse=False) for value in shared]
        places = zip(self._parts(columns), parts.firsts(self.lengths), strict=True)
        return [task(part, first, *arguments) for part, first in places]

    def each(self, work: Callable[..., T], *shared: Any, columns: list[str] | None = None) -> list[T]:
        """Call a function for each part; see `halfspaces.parts.Table.each`."""
        return list(dask.compute(*self._tasks(work, shared, columns)))

    def aligned(
        self, work: Callable[..., Floats], *shared: Any, counts: Sequence[int], width: int, columns: list[str]
    ) -> parts.AlignedRows:
        """Return the rows of arrays; see `halfspaces.parts.Table.aligned`."""
        from halfspaces.dask import DaskSource

        tasks = zip(self._tasks(work, shared, columns), counts, strict=True)
        arrays = [da.from_delayed(task, (count, width), dtype=np.float64) for task, count in tasks if count]
        return _DaskRows(DaskSource(da.concatenate(arrays)))


class _DaskRows:
    """The rows of a `halfspaces.dask.DaskSource`, as `halfspaces.parts.AlignedRows`."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def run(self, work: Callable[..., list[bytes]], *shared: Any) -> list[bytes]:
        from halfspaces.dask import MERGED_AT_ONCE

        task, merge = delayed(_of_joined, pure=False), delayed(parts.merged, pure=False)
        arguments = [delayed(value, traverse=False) for value in (work, *shared)]
        pieces = zip(self._source.parts, self._source.firsts, strict=True)
        found = [task(rows, first, *arguments) for rows, first in pieces]
        while len(found) > 1:
            found = [merge(found[i : i + MERGED_AT_ONCE]) for i in range(0, len(found), MERGED_AT_ONCE)]
        (total,) = dask.compute(found[0])
        joined: list[bytes] = total
        return joined


def _of_joined(pieces: Any, first: int, work: Callable[..., list[bytes]], *shared: Any) -> list[bytes]:
    from halfspaces.dask import joined

    return work(joined(pieces), first, *shared)


def _apply(part: Any, pipeline: Any, method: str, given: dict[str, Any], meta: Any) -> Any:
    """Apply a method of a pipeline to a partition, and give the result the index of the partition."""
    if len(part) == 0:
        return meta
    found = getattr(_pipeline.Pipeline, method)(pipeline, part, **given)
    if isinstance(meta, pd.Series):
        return pd.Series(found, index=part.index, name=meta.name, dtype=meta.dtype)
    if isinstance(found, np.ndarray):
        return pd.DataFrame(found, index=part.index, columns=meta.columns)
    return found.set_axis(part.index).astype(meta.dtypes.to_dict())


class Pipeline(_pipeline.Pipeline):
    """`halfspaces.Pipeline` for Dask dataframes that are larger than memory.

    `fit` returns an ordinary pipeline: `save`, `load` and the command ``halfspaces`` use the same model files. The
    methods for prediction take a Dask dataframe, and return one that is computed when needed, or any table that
    `halfspaces.Pipeline` takes. Notes on the rows of a partition go to the log of the worker, and row numbers in errors
    count from the first row of the partition.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import numpy as np
    >>> import pandas as pd
    >>> from halfspaces.dask import Pipeline
    >>> size = np.linspace(0.0, 10.0, 200)
    >>> rows = pd.DataFrame({"size": size, "kind": np.where(size > 4.0, "large", "small")})
    >>> table = dd.from_pandas(rows, npartitions=3)
    >>> model = Pipeline.fit(table, label="kind", c=100.0)
    >>> float((model.predict(table) == table["kind"]).mean().compute()) > 0.98
    True
    """

    @classmethod
    def fit(  # type: ignore[override]
        cls,
        data: Any,
        *,
        label: str,
        positive: Any = None,
        c: float | None = None,
        holdout: float | None = None,
        drop: str | Iterable[str] = (),
        use: str | Iterable[str] = (),
        reading: Reading | None = None,
        seed: int = 0,
        first_rows: int = parts.FIRST_ROWS,
    ) -> Self:
        """Fit a pipeline with a logistic regression to a labelled Dask dataframe; see `halfspaces.parts.fit`.

        The rows are read again in each of about 12 passes, or 12 passes for each 16 classes. If
        the dataframe fits into the memory of the cluster, pass ``data.persist()``.

        Parameters
        ----------
        data : Dask dataframe
            The table.
        label : str
            The column of labels.
        positive, c, holdout, drop, use, reading, seed, first_rows
            As for `halfspaces.parts.fit`.

        Returns
        -------
        Pipeline
        """
        options = parts._options(positive, c, holdout, drop, use, reading, seed)
        found: Self = parts.fit_as(cls, DaskTable(data, label), label, first_rows, options)
        return found

    def _mapped(self, data: Any, method: str, given: dict[str, Any], meta: Any) -> Any:
        used = data[_in_order(self.columns, data)]
        return used.map_partitions(_apply, self, method, given, meta, meta=meta)

    def predict(
        self,
        data: Any,
        *,
        unseen: str = "error",
        costs: Mapping[Any, float] | None = None,
        threshold: float | None = None,
        reading: Reading | None = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Return the class of each row.

        Parameters
        ----------
        data : Dask dataframe, or a table in memory
            The table.
        unseen, costs, threshold, reading, n_jobs
            As for `halfspaces.Pipeline.predict`.

        Returns
        -------
        Dask series with the index of `data`, or ndarray for a table in memory
            Values of ``classes_``.
        """
        self._given(unseen, costs, threshold, reading)
        given: dict[str, Any] = {
            "unseen": unseen,
            "costs": costs,
            "threshold": threshold,
            "reading": reading,
            "n_jobs": n_jobs,
        }
        if not _is_frame(data):
            return super().predict(data, **given)
        meta = pd.Series([], index=data._meta.index[:0], dtype=self.classes_.dtype, name=self.label)
        return self._mapped(data, "predict", given, meta)

    def predict_proba(
        self, data: Any, *, unseen: str = "error", reading: Reading | None = None, n_jobs: int | None = None
    ) -> Any:
        """Return the calibrated probability of each class.

        Parameters
        ----------
        data : Dask dataframe, or a table in memory
            The table.
        unseen, reading, n_jobs
            As for `halfspaces.Pipeline.predict`.

        Returns
        -------
        Dask dataframe with the index of `data` and the columns ``classes_``, or ndarray for a table in memory
        """
        self._given(unseen, None, None, reading)
        given: dict[str, Any] = {"unseen": unseen, "reading": reading, "n_jobs": n_jobs}
        if not _is_frame(data):
            return super().predict_proba(data, **given)
        meta = pd.DataFrame(np.empty((0, len(self.classes_))), index=data._meta.index[:0], columns=self.classes_)
        return self._mapped(data, "predict_proba", given, meta)

    def decide(
        self,
        data: Any,
        *,
        unseen: str = "error",
        costs: Mapping[Any, float] | None = None,
        threshold: float | None = None,
        reading: Reading | None = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Return the table that the command ``halfspaces predict --all`` writes.

        Parameters
        ----------
        data : Dask dataframe, or a table in memory
            The table.
        unseen, costs, threshold, reading, n_jobs
            As for `halfspaces.Pipeline.predict`.

        Returns
        -------
        Dask dataframe with the index of `data`, or the result of `halfspaces.Pipeline.decide` for a table in memory
        """
        self._given(unseen, costs, threshold, reading)
        given: dict[str, Any] = {
            "unseen": unseen,
            "costs": costs,
            "threshold": threshold,
            "reading": reading,
            "n_jobs": n_jobs,
        }
        if not _is_frame(data):
            return super().decide(data, **given)
        numbers = ["value", "probability", *(f"probability={name}" for name in self.class_names)]
        columns: dict[str, Any] = {"label": pd.Series([], dtype=self.classes_.dtype)}
        columns |= {name: pd.Series([], dtype=np.float64) for name in numbers}
        meta = pd.DataFrame(columns).set_axis(data._meta.index[:0])
        return self._mapped(data, "decide", given, meta)


def audit(
    data: Any,
    *,
    label: str,
    count: int = 1000,
    folds: int = 5,
    failure: float = 0.05,
    drop: str | Iterable[str] = (),
    use: str | Iterable[str] = (),
    reading: Reading | None = None,
    seed: int = 0,
    first_rows: int = parts.FIRST_ROWS,
) -> AuditResult:
    """Find labels that are probably wrong in a Dask dataframe; see `halfspaces.parts.audit`.

    Parameters
    ----------
    data : Dask dataframe
        The table.
    label : str
        The column of labels.
    count, folds, failure, drop, use, reading, seed, first_rows
        As for `halfspaces.parts.audit`.

    Returns
    -------
    AuditResult
        ``table`` is a pandas DataFrame of at most `count` rows, the most suspicious one first.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import numpy as np
    >>> import pandas as pd
    >>> from halfspaces.dask import audit
    >>> size = np.linspace(0.0, 10.0, 300)
    >>> rows = pd.DataFrame({"size": size, "kind": np.where(size > 4.0, "large", "small")})
    >>> rows.loc[290, "kind"] = "small"  # a wrong label
    >>> found = audit(dd.from_pandas(rows, npartitions=3), label="kind", count=3)
    >>> found.table["row"].tolist()[0]
    290
    """
    table = DaskTable(data, label)
    return parts.audit(
        table,
        label=label,
        count=count,
        folds=folds,
        failure=failure,
        drop=drop,
        use=use,
        reading=reading,
        seed=seed,
        first_rows=first_rows,
    )


__all__ = ["DaskTable", "Pipeline", "audit"]
