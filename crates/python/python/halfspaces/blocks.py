"""Fits models to rows that are divided among several processes, by means of jobs and partial results.

A job is a bytes object. A process that holds rows runs the job on them with `partial`, and `merge` joins partial
results, in any order and on any machine. The result does not depend on which process held which rows, not even in the
last bit: rows are split into blocks of `BLOCK_ROWS`, and the sums over blocks are added in one fixed tree. A part
begins at a multiple of `BLOCK_ROWS`; only the last part may end elsewhere. If a job was run twice on a block, the block
counts only once.

`halfspaces.dask` runs such jobs with Dask. For another engine, write a `Source`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from halfspaces import _core
from halfspaces._base import Floats, check_count, check_flag, check_number, native, parameter_names, rows
from halfspaces._block_labeler import Labeler, Question, Simulation, label, simulate_labelling

BLOCK_ROWS: int = _core.block_rows()
"""The number of rows of a block."""


class Source(Protocol):
    """Rows that only jobs can read."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        ...

    def run(self, job: bytes, positive: Any = None) -> bytes:
        """Run `job` on all rows with `partial`, and join the results with `merge`.

        Parameters
        ----------
        job : bytes
            The job.
        positive : object, default=None
            The class whose rows are positive, for jobs that need labels.

        Returns
        -------
        bytes
            The joined partial results.
        """
        ...

    def classes(self) -> npt.NDArray[Any]:
        """Return the distinct labels, sorted."""
        ...


def partial(job: bytes, X: Any, y: Any = None, positive: Any = None, first: int = 0, n_jobs: int = 1) -> bytes:
    """Run a job on some of the rows.

    Parameters
    ----------
    job : bytes
        The job, as given to `Source.run`.
    X : array-like of shape (n_rows, n_columns)
        Consecutive rows. Their number must be a multiple of `BLOCK_ROWS`, except in the last part.
    y : array-like of shape (n_rows,) or None, default=None
        The labels of the rows, if the job needs them.
    positive : object, default=None
        The class whose rows are positive.
    first : int, default=0
        The number of rows before these, a multiple of `BLOCK_ROWS`.
    n_jobs : int, default=1
        The number of threads; the result does not depend on it.

    Returns
    -------
    bytes
        The partial result.

    Raises
    ------
    ValueError
        If the rows do not fit the job, are not finite, or do not begin at a multiple of `BLOCK_ROWS`.
    """
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions, but needs 2")
    labels = native([] if y is None else np.asarray(y) == positive, np.int64)
    return _core.partial(job, rows(X), labels, first, n_jobs)


def merge(parts: Sequence[bytes]) -> bytes:
    """Join partial results of one job; the order does not matter.

    Parameters
    ----------
    parts : sequence of bytes
        Results of `partial` or `merge`, at least one.

    Returns
    -------
    bytes
        The joined result.

    Raises
    ------
    ValueError
        If the results belong to different jobs, or if a job was run twice on a block with different results.
    """
    return _core.merge(list(parts))


class MemorySource:
    """Rows in memory, as a `Source` that runs all jobs itself.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        The rows.
    y : array-like of shape (n_rows,) or None, default=None
        Their labels.
    n_jobs : int, default=1
        The number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces.blocks import LogisticRegression, MemorySource
    >>> source = MemorySource(np.array([[-2.0], [-1.0], [1.0], [2.0]]), ["a", "a", "b", "b"])
    >>> model = LogisticRegression().fit(source)
    >>> model.predict(np.array([[3.0]])).tolist()
    ['b']
    """

    def __init__(self, X: Any, y: Any = None, n_jobs: int = 1) -> None:
        self._X = np.asarray(X)
        self._y = None if y is None else np.asarray(y)
        self._jobs = n_jobs

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return self._X.shape[0], self._X.shape[1]

    def run(self, job: bytes, positive: Any = None) -> bytes:
        """Run a job on all rows; see `Source.run`."""
        return partial(job, self._X, self._y if positive is not None else None, positive, 0, self._jobs)

    def classes(self) -> npt.NDArray[Any]:
        """Return the distinct labels, sorted."""
        return np.unique(np.asarray(self._y))


class ForsterTransform(BaseEstimator):
    """The Forster transform of rows that several processes hold; see `halfspaces.ForsterTransform`.

    If more than a fraction k/d of the rows in d dimensions lie in a subspace of k dimensions, the map is fitted to the
    rows in that subspace, and `outcome_` says so. The outcome and the certificates are those of
    `halfspaces.ForsterTransform`. If the rows span all dimensions, no subspace is heavy, no row is repeated or zero, and
    all norms are between 1e-100 and 1e100, the map is bit-for-bit identical, too. Otherwise, it may differ by rounding
    errors.

    Parameters
    ----------
    tol : float, default=1e-6
        All eigenvalues of the second-moment matrix of the result, times the dimension, are within `tol` of 1.
    max_iter : int, default=200
        The maximum number of steps.
    max_condition : float, default=1e13
        The largest condition number of the map, from 1e3 to 1e15.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_columns, n_components)
        The map A: a row x becomes ``x @ A`` divided by its norm.
    basis_ : ndarray of shape (n_components, n_columns)
        An orthonormal basis of the subspace.
    outcome_ : {"radially_isotropic", "heavy_subspace", "unresolved"}
        How the fit ended.
    residual_ : float
        The largest distance of an eigenvalue from 1, from the last pass over the rows.
    n_members_ : int
        The number of rows in the subspace.
    n_iter_ : int
        The number of steps.
    n_passes_ : int
        The number of jobs, each of which reads all rows once.
    """

    def __init__(self, *, tol: float = 1e-6, max_iter: int = 200, max_condition: float = 1e13) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.max_condition = max_condition

    def fit(self, source: Source) -> Self:
        """Fit the map.

        Parameters
        ----------
        source : Source
            The rows.

        Returns
        -------
        self
        """
        n_rows, n_columns = source.shape
        tol, steps = check_number("tol", self.tol), check_count("max_iter", self.max_iter)
        condition = check_number("max_condition", self.max_condition)
        with parameter_names(delta="tol"):
            self._native, report = _core.fit_position_blocks(source.run, n_rows, n_columns, tol, steps, condition)
        self.matrix_: Floats = report["matrix"]
        self.basis_: Floats = report["basis"]
        self.outcome_: str = report["outcome"]
        self.residual_: float = report["residual"]
        self.n_members_: int = report["members"]
        self.n_iter_: int = report["n_iter"]
        self.n_passes_: int = report["passes"]
        self.n_features_in_: int = n_columns
        return self

    def transform(self, X: Any) -> Floats:
        """Return the transformed rows of an array, scaled to norm 1.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
        """
        check_is_fitted(self)
        return self._native.apply(rows(np.asarray(X)), 1)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_native" in state:
            state["_native"] = state["_native"].to_json()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "_native" in state:
            state["_native"] = _core.Map.from_json(state["_native"])
        super().__setstate__(state)


class _Linear(BaseEstimator):
    """A classifier: one halfspace for two classes, otherwise one for each class against the others."""

    classes_: npt.NDArray[Any]

    def _fit_halfspace(self, run: Callable[[bytes], bytes], n_rows: int, n_columns: int) -> dict[str, Any]:
        raise NotImplementedError

    def fit(self, source: Source) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        source : Source
            The rows with their labels.

        Returns
        -------
        self
        """
        n_rows, n_columns = source.shape
        classes = source.classes()
        if classes.dtype.kind == "f" and np.isnan(classes).any():
            raise ValueError("y contains NaN; remove the rows without a label")
        if len(classes) < 2:
            raise ValueError(f"y has {len(classes)} classes; a classifier needs at least two")
        positives = classes[1:] if len(classes) == 2 else classes
        fits = []
        for positive in positives:

            def run(job: bytes, positive: Any = positive) -> bytes:
                return source.run(job, positive)

            fits.append(self._fit_halfspace(run, n_rows, n_columns))
        self.classes_ = classes
        self.coef_: Floats = np.stack([fit["weights"] for fit in fits])
        self.intercept_: Floats = np.array([fit["bias"] for fit in fits])
        self.reports_: list[dict[str, Any]] = fits
        self.n_features_in_: int = n_columns
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values of the rows of an array.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            For two classes, one value per row, positive for ``classes_[1]``; otherwise one value per class.
        """
        check_is_fitted(self)
        values: Floats = np.asarray(X, dtype=np.float64) @ self.coef_.T + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row of an array.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Values of ``classes_``.
        """
        values = self.decision_function(X)
        found: npt.NDArray[Any] = self.classes_[(values >= 0).astype(int) if values.ndim == 1 else values.argmax(1)]
        return found


class LogisticRegression(_Linear):
    """Logistic regression by Newton's method on rows that several processes hold.

    Minimises the objective of `halfspaces.LogisticRegression`: half the squared norm of the weights plus `C` times the
    loss. Each step runs one job, which computes the loss, the gradient and the Hessian.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss, from 1e-12 to 1e12.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is not penalised.
    tol : float, default=1e-10
        The gradient norm at which the fit ends, relative to `C` times the sum of the norms of the rows.
    max_iter : int, default=100
        The maximum number of steps.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        The weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    reports_ : list of dict
        The objective, the number of steps and how the fit ended, for each halfspace.
    """

    def __init__(self, *, C: float = 1.0, fit_intercept: bool = True, tol: float = 1e-10, max_iter: int = 100) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def _fit_halfspace(self, run: Callable[[bytes], bytes], n_rows: int, n_columns: int) -> dict[str, Any]:
        c, tol = check_number("C", self.C, positive=True), check_number("tol", self.tol, positive=True)
        steps, lift = check_count("max_iter", self.max_iter), check_flag("fit_intercept", self.fit_intercept)
        return _core.fit_logistic_blocks(run, n_rows, n_columns, c, lift, tol, steps)


class AveragedPerceptron(_Linear):
    """The averaged perceptron on rows that several processes hold: iterative parameter mixing.

    In each epoch, a separate perceptron passes over each block of `BLOCK_ROWS` rows. All perceptrons start from the
    same weights; the next epoch starts from the mean of their final weights. The model is the mean of the weights over
    all predictions. On rows of norm at most R that a halfspace separates with margin g, the perceptrons make at most
    (R/g)² mistakes per block, over all epochs.

    Parameters
    ----------
    max_iter : int, default=10
        The number of epochs, each of which is one job.
    fit_intercept : bool, default=True
        Whether there is an intercept.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        The weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    reports_ : list of dict
        The number of mistakes in each epoch and the number of blocks, for each halfspace.

    Notes
    -----
    Source: McDonald, Hall and Mann (2010), Theorem 3.
    """

    def __init__(self, *, max_iter: int = 10, fit_intercept: bool = True) -> None:
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept

    def _fit_halfspace(self, run: Callable[[bytes], bytes], n_rows: int, n_columns: int) -> dict[str, Any]:
        epochs, lift = check_count("max_iter", self.max_iter), check_flag("fit_intercept", self.fit_intercept)
        return _core.fit_perceptron_blocks(run, n_rows, n_columns, epochs, lift)


def largest_margins(source: Source, w: Any, count: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the rows with the largest ``|x @ w|``, largest first, and these values; ties are ordered by row.

    Parameters
    ----------
    source : Source
        The rows.
    w : array-like of shape (n_columns,)
        The weights.
    count : int
        The number of rows to find.

    Returns
    -------
    rows : ndarray of shape (count,)
        The row numbers, counted from 0.
    values : ndarray of shape (count,)
        ``|x @ w|`` of these rows.
    """
    weights = native(w, np.float64)
    found = _core.largest_margins_blocks(source.run, source.shape[0], weights, check_count("count", count, 0))
    return np.array([row for _, row in found], dtype=np.int64), np.array([value for value, _ in found])


def count_errors(source: Source, coef: Any, intercept: Any = None) -> npt.NDArray[np.int64]:
    """Return the number of rows that each of several halfspaces misclassifies, for two classes.

    Parameters
    ----------
    source : Source
        The rows with their labels.
    coef : array-like of shape (n_halfspaces, n_columns)
        The weights of the halfspaces.
    intercept : array-like of shape (n_halfspaces,) or None, default=None
        Their intercepts. ``None`` means that all are 0.

    Returns
    -------
    ndarray of shape (n_halfspaces,)
        The counts. The best halfspace is the first one with the smallest count.
    """
    weights = native(coef, np.float64)
    biases = np.zeros(len(weights)) if intercept is None else native(intercept, np.float64)
    if weights.ndim != 2 or biases.shape != weights.shape[:1]:
        raise ValueError(
            f"coef has shape {weights.shape}, intercept {biases.shape}; pass one intercept for each row of coef"
        )
    classes = source.classes()
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; halfspaces decide between two")

    def run(job: bytes) -> bytes:
        return source.run(job, classes[1])

    return np.array(_core.count_errors_blocks(run, source.shape[0], weights, biases), dtype=np.int64)


__all__ = [
    "BLOCK_ROWS",
    "AveragedPerceptron",
    "ForsterTransform",
    "Labeler",
    "LogisticRegression",
    "MemorySource",
    "Question",
    "Simulation",
    "Source",
    "count_errors",
    "label",
    "largest_margins",
    "merge",
    "partial",
    "simulate_labelling",
]
