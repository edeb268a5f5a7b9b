"""Fits models to Dask arrays, Dask dataframes and Parquet files that are too large for one machine.

The estimators are those of `halfspaces.blocks`, with Dask collections as `X` and `y`. They run on whatever scheduler
Dask uses: threads of this process, or the workers of a `distributed.Client`. The result is bit-for-bit identical for
any number of workers and any chunks, even if workers are lost and their tasks are repeated.

It needs ``pip install "halfspaces[dask]"``.

Examples
--------
>>> import dask.array as da
>>> from halfspaces.dask import LogisticRegression
>>> X = da.random.default_rng(0).normal(size=(20_000, 3), chunks=(6_000, 3))
>>> y = X[:, 0] > 0.5 * X[:, 1]
>>> model = LogisticRegression(C=0.01).fit(X, y)
>>> model.predict(X[:3]).compute().tolist() == y[:3].compute().tolist()
True
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from halfspaces import blocks
from halfspaces._base import Floats
from halfspaces._block_labeler import _answered, _predicted
from halfspaces._labeler import _array_of

try:
    import dask
    import dask.array as da
    from dask.delayed import delayed
except ImportError as error:
    raise ImportError('halfspaces.dask needs Dask; install it with: pip install "halfspaces[dask]"') from error

CHUNK_BYTES = 2**25
"""The least number of bytes of the rows of a task, about 32 MB; chunks of more than twice as many bytes are divided."""
MERGED_AT_ONCE = 16
"""The number of partial results that one task joins."""


def _as_array(name: str, collection: Any, *, lengths: bool) -> Any:
    """Return a Dask collection as a Dask array; with `lengths`, all of its chunks have known sizes."""
    if hasattr(collection, "to_dask_array"):
        collection = collection.to_dask_array()
    if not isinstance(collection, da.Array):
        if not isinstance(collection, np.ndarray):
            kind = type(collection).__name__
            raise TypeError(f"{name} is a {kind}; expected a Dask array or dataframe, or a NumPy array")
        collection = da.from_array(collection)
    if lengths and np.isnan(collection.shape[0]):
        collection = collection.compute_chunk_sizes()
    return collection


class _Chunks:
    """The chunks of a Dask array along its rows, and their division into parts that begin at multiples of a block.

    A part consists of whole chunks, without the rows before its first block, and of the first rows of the next chunk.
    Only these few rows are sent to the worker that has the other rows of the part.
    """

    def __init__(self, array: Any) -> None:
        self.chunks: list[Any] = array.to_delayed().ravel().tolist()
        self._ends = [int(end) for end in np.cumsum(array.chunks[0])]

    def part_ends(self, size: int) -> list[int]:
        """Return the ends of parts of at least `size` rows, a multiple of a block, except for the last part.

        A part ends near the end of a chunk, or inside a chunk of more than twice the size.
        """
        n_rows, ends = self._ends[-1], [0]
        for end in self._ends:
            end = min(-(-end // blocks.BLOCK_ROWS) * blocks.BLOCK_ROWS, n_rows)
            while end - ends[-1] > 2 * size:
                ends.append(ends[-1] + size)
            if end - ends[-1] >= size or end == n_rows > ends[-1]:
                ends.append(end)
        return ends[1:]

    def parts(self, ends: list[int]) -> list[list[Any]]:
        """Return the pieces of each part: an array, and the range of its rows that belong to the part."""
        found: list[list[Any]] = [[] for _ in ends]
        start, part = 0, 0
        for chunk, end in zip(self.chunks, self._ends, strict=True):
            at = start
            while at < end:
                until = min(end, ends[part])
                if 2 * (until - at) < end - start:
                    found[part].append((chunk[at - start : until - start], 0, until - at))
                else:
                    found[part].append((chunk, at - start, until - start))
                at = until
                part += at == ends[part]
            start = end
        return found


def joined(pieces: list[tuple[Any, int, int]]) -> Any:
    """Return the rows of a part of a `DaskSource`."""
    arrays = [array[start:end] for array, start, end in pieces]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _of_part(X: Any, y: Any, job: bytes, positive: Any, first: int) -> bytes:
    return blocks.partial(job, joined(X), y if y is None else joined(y), positive, first)


class DaskSource:
    """The rows of Dask collections, as a `halfspaces.blocks.Source`.

    Parameters
    ----------
    X : dask array or dataframe of shape (n_rows, n_columns)
        The rows.
    y : dask array or series of shape (n_rows,), or None, default=None
        Their labels.
    """

    def __init__(self, X: Any, y: Any = None) -> None:
        array = _as_array("X", X, lengths=True)
        if array.ndim != 2:
            raise ValueError(f"X has {array.ndim} dimensions, but needs 2")
        n_rows, n_columns = array.shape
        if n_rows == 0 or n_columns == 0:
            raise ValueError(f"X has {n_rows} rows and {n_columns} columns; at least one of each is needed")
        self.shape: tuple[int, int] = (int(n_rows), int(n_columns))
        columns = _Chunks(array.rechunk({1: -1}))
        of_block = 8 * n_columns * blocks.BLOCK_ROWS
        ends = columns.part_ends(blocks.BLOCK_ROWS * max(1, CHUNK_BYTES // of_block))
        self.firsts = [0, *ends[:-1]]
        self.parts = columns.parts(ends)
        self._classes: npt.NDArray[Any] | None = None
        self._labels: _Chunks | None = None
        self.label_parts: list[Any] = [None] * len(self.parts)
        if y is not None:
            labels = _as_array("y", y, lengths=True)
            if labels.shape != (n_rows,):
                raise ValueError(f"y has shape {labels.shape}; expected one label for each of the {n_rows} rows")
            self._labels = _Chunks(labels)
            self.label_parts = self._labels.parts(ends)

    def _partials(self, job: Any, positive: Any) -> Iterator[Any]:
        work = delayed(_of_part, pure=False)
        for X, y, first in zip(self.parts, self.label_parts, self.firsts, strict=True):
            yield work(X, y if positive is not None else None, job, positive, first)

    def run(self, job: bytes, positive: Any = None) -> bytes:
        """Run a job on all rows; see `halfspaces.blocks.Source.run`."""
        merge = delayed(blocks.merge, pure=False)
        parts = list(self._partials(delayed(job), positive))
        while len(parts) > 1:
            parts = [merge(parts[i : i + MERGED_AT_ONCE]) for i in range(0, len(parts), MERGED_AT_ONCE)]
        (total,) = dask.compute(parts[0])
        joined: bytes = total
        return joined

    def classes(self) -> npt.NDArray[Any]:
        """Return the distinct labels, sorted."""
        if self._classes is None:
            if self._labels is None:
                raise ValueError("y is missing; a classifier needs labels")
            distinct = delayed(np.unique, pure=False)
            found = dask.compute(*[distinct(labels) for labels in self._labels.chunks])
            self._classes = np.unique(np.concatenate(found))
        return self._classes


def _by_rows(X: Any, work: Any, dtype: Any, columns: int | None) -> Any:
    """Apply `work` to the rows of a Dask collection, part by part, when the result is computed."""
    array = _as_array("X", X, lengths=False)
    array = array.rechunk({1: -1})
    if columns is None:
        return array.map_blocks(work, dtype=dtype, drop_axis=1)
    return array.map_blocks(work, dtype=dtype, chunks=(array.chunks[0], (columns,)))


def _keep_names(model: Any, X: Any) -> None:
    """Remember the names of the columns of a dataframe."""
    model.__dict__.pop("feature_names_in_", None)
    if hasattr(X, "columns"):
        model.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)


def _check_names(model: Any, X: Any) -> None:
    """Raise ValueError if the columns of a dataframe are not those of the fit, in the same order."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is None or not hasattr(X, "columns"):
        return
    found = [str(name) for name in X.columns]
    if found != fitted.tolist():
        raise ValueError(
            f"X has the columns {', '.join(found[:20])}, but the model was fitted to {', '.join(fitted[:20])}; pass "
            f"these columns in this order"
        )


class ForsterTransform(blocks.ForsterTransform):
    """`halfspaces.blocks.ForsterTransform` for Dask collections."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the map.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_rows, n_columns)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        super().fit(DaskSource(X))
        _keep_names(self, X)
        return self

    def transform(self, X: Any) -> Any:
        """Return the transformed rows as a Dask array, which is computed when needed.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        dask array of shape (n_rows, n_components)
        """
        _check_names(self, X)
        return _by_rows(X, partial(blocks.ForsterTransform.transform, self), np.float64, self.matrix_.shape[1])


class _DaskLinear(blocks._Linear):
    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit the classifier.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_rows, n_columns)
            The rows.
        y : dask array or series of shape (n_rows,)
            Their labels.

        Returns
        -------
        self
        """
        super().fit(DaskSource(X, y))
        _keep_names(self, X)
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the decision values as a Dask array, which is computed when needed.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        dask array of shape (n_rows,) or (n_rows, n_classes)
        """
        _check_names(self, X)
        columns = None if len(self.classes_) == 2 else len(self.classes_)
        return _by_rows(X, partial(blocks._Linear.decision_function, self), np.float64, columns)

    def predict(self, X: Any) -> Any:
        """Return the class of each row as a Dask array, which is computed when needed.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        dask array of shape (n_rows,)
        """
        values = self.decision_function(X)
        classes = self.classes_

        def decide(values: Floats) -> npt.NDArray[Any]:
            found: npt.NDArray[Any] = classes[(values >= 0).astype(int) if values.ndim == 1 else values.argmax(1)]
            return found

        if values.ndim == 1:
            return values.map_blocks(decide, dtype=classes.dtype)
        return values.map_blocks(decide, dtype=classes.dtype, drop_axis=1)


class LogisticRegression(_DaskLinear, blocks.LogisticRegression):
    """`halfspaces.blocks.LogisticRegression` for Dask collections."""


class AveragedPerceptron(_DaskLinear, blocks.AveragedPerceptron):
    """`halfspaces.blocks.AveragedPerceptron` for Dask collections."""


class Labeler(blocks.Labeler):
    """`halfspaces.blocks.Labeler` for Dask collections.

    Parameters
    ----------
    X : dask array or dataframe of shape (n_rows, n_columns)
        The rows.
    classes : iterable of hashable
        The two classes.
    batch : int, default=100
        The largest number of questions from one scan of the rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from halfspaces.dask import Labeler
    >>> X = da.random.default_rng(0).normal(size=(10_000, 3), chunks=(5_000, 3))
    >>> labeler = Labeler(X, classes=["low", "high"])
    >>> question = labeler.ask()
    >>> question.row, question.predicted
    (0, 'high')
    >>> labeler.tell("low")
    >>> labeler.progress.corrections
    1
    """

    def __init__(self, X: Any, classes: Iterable[Hashable], *, batch: int = 100) -> None:
        super().__init__(DaskSource(X), classes, batch=batch)
        _keep_names(self, X)
        self.n_features_in_: int = len(self.coef_)

    def predict(self, X: Any) -> Any:
        """Return the class that the weights predict for each row as a Dask array, which is computed when needed.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        dask array of shape (n_rows,)
        """
        _check_names(self, X)
        classes = _array_of(self.classes_)
        return _by_rows(X, partial(_predicted, coef=self.coef_, classes=classes), classes.dtype, None)


def label(
    X: Any,
    oracle: Callable[[blocks.Question], Any],
    classes: Iterable[Hashable],
    *,
    batch: int = 100,
    budget: int | None = None,
) -> Labeler:
    """`halfspaces.blocks.label` for Dask collections.

    Examples
    --------
    >>> import dask.array as da
    >>> from halfspaces.dask import label
    >>> X = da.random.default_rng(0).normal(size=(10_000, 3), chunks=(5_000, 3))
    >>> session = label(X, lambda question: bool(question.values[0] > 0), [False, True], budget=100)
    >>> session.progress.asked
    100
    >>> session.progress.corrections < 20
    True
    >>> session.predict(X).shape
    (10000,)
    """
    return _answered(Labeler(X, classes, batch=batch), oracle, budget)


def simulate_labelling(X: Any, y: Any) -> blocks.Simulation:
    """`halfspaces.blocks.simulate_labelling` for Dask collections.

    Examples
    --------
    >>> import dask.array as da
    >>> from halfspaces.dask import simulate_labelling
    >>> X = da.random.default_rng(0).normal(size=(10_000, 3), chunks=(5_000, 3))
    >>> simulate_labelling(X, X[:, 0] > 0).corrections < 20
    True
    """
    return blocks.simulate_labelling(DaskSource(X, y))


def largest_margins(X: Any, w: Any, count: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """`halfspaces.blocks.largest_margins` for Dask collections."""
    return blocks.largest_margins(DaskSource(X), w, count)


def count_errors(X: Any, y: Any, coef: Any, intercept: Any = None) -> npt.NDArray[np.int64]:
    """`halfspaces.blocks.count_errors` for Dask collections."""
    return blocks.count_errors(DaskSource(X, y), coef, intercept)


from halfspaces._dask_tables import DaskTable, Pipeline, audit  # noqa: E402 (this module imports it, too)

__all__ = [
    "AveragedPerceptron",
    "DaskSource",
    "DaskTable",
    "ForsterTransform",
    "Labeler",
    "LogisticRegression",
    "Pipeline",
    "audit",
    "count_errors",
    "label",
    "largest_margins",
    "simulate_labelling",
]
