"""Code that the estimators share: checks of arguments, classes, and models that can be copied and pickled."""

from __future__ import annotations

import numbers
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

Floats: TypeAlias = npt.NDArray[np.float64]


class DataWarning(UserWarning):
    """A decision about a table that could be wrong, such as a column that is left out or cells that are read as dates."""


def warn(notes: Iterable[str]) -> None:
    """Issue each note as a `DataWarning` at the line that called this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "halfspaces":
        frame, level = frame.f_back, level + 1
    for note in notes:
        warnings.warn(note, DataWarning, stacklevel=level)


class Saved(Protocol):
    """A native object that can be saved as text."""

    def to_json(self) -> str: ...

    @staticmethod
    def from_json(text: str) -> Any: ...


def native(values: Any, dtype: Any) -> npt.NDArray[Any]:
    """Return an array that the native module can read in place.

    Arrays from a socket or a memory map may begin at any byte. They are copied if they are not aligned.
    """
    return np.require(values, dtype=dtype, requirements=["C_CONTIGUOUS", "ALIGNED"])


def rows(X: Any) -> Any:
    """Return rows in the form that the native module expects: a C-contiguous array, or the arrays of a CSR matrix.

    The native module checks that all numbers are finite.
    """
    if sparse.issparse(X):
        matrix: Any = X
        if matrix.shape[1] > np.iinfo(np.int32).max:
            raise ValueError(f"X has {matrix.shape[1]} columns; sparse rows can have at most {np.iinfo(np.int32).max}")
        return (
            native(matrix.indptr, np.int64),
            native(matrix.indices, np.int32),
            native(matrix.data, np.float64),
            matrix.shape[1],
        )
    return native(X, np.float64)


def numbered(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Return the sorted classes, and for each row the number of its class."""
    # Counting is much faster than sorting.
    if y.dtype.kind == "b" and y.any() and not y.all():
        return np.array([False, True]), y.astype(np.int64)
    if y.dtype.kind == "i" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low <= len(y):
            codes = np.subtract(y, low, dtype=np.int64)
            occurs = np.bincount(codes) > 0
            classes = (np.flatnonzero(occurs) + low).astype(y.dtype)
            return classes, codes if occurs.all() else (np.cumsum(occurs) - 1)[codes]
    classes, numbers_of = np.unique(y, return_inverse=True)
    return classes, np.ascontiguousarray(numbers_of, dtype=np.int64)


def check_labels(y: npt.NDArray[Any]) -> None:
    """Raise ValueError if labels cannot be classes."""
    kinds = {type(label).__name__ for label in y} if y.dtype == object else {y.dtype.type.__name__.strip("_")}
    try:
        if len(kinds) < 2 or not {"bool", "str"} & kinds:
            check_classification_targets(y)
            return
    except TypeError:
        pass
    raise ValueError(
        f"y: labels of the types {', '.join(sorted(kinds))} cannot be classes; convert them to one type, such as integers "
        f"or strings, and remove rows without a label"
    )


def seed_of(random_state: Any) -> int:
    """Return the seed of a `random_state`: the integer itself, 0 for ``None``, or a number drawn from a generator."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return check_count("random_state", int(random_state), least=0)
    try:
        generator = check_random_state(random_state)
    except ValueError:
        raise ValueError(f"random_state={random_state!r}: must be an integer, a RandomState or None") from None
    return int(generator.randint(np.iinfo(np.int32).max))


def check_count(name: str, value: Any, least: int = 1, most: int = 2**64 - 1) -> int:
    """Return an integer parameter of at least `least` and at most `most`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={value!r}: must be an integer")
    count = int(value)
    if count < least:
        raise ValueError(f"{name}={_shown(count)}: must be at least {least}")
    if count > most:
        end = "below 2**64" if most == 2**64 - 1 else f"at most {most}"
        raise ValueError(f"{name}={_shown(count)}: must be {end}")
    return count


def _shown(value: Any) -> str:
    """Return a number as a string, or a short description if it has more than 40 digits.

    Python refuses to convert integers with thousands of digits.
    """
    return str(value) if abs(value) < 10**40 else "a number of more than 40 digits"


def check_number(name: str, value: Any, *, positive: bool = False) -> float:
    """Return a parameter that must be a number; with `positive`, it must also be positive and finite."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r}: must be a number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name}={_shown(value)}: is beyond the range of float64") from None
    if positive and not 0 < number < np.inf:
        raise ValueError(f"{name}={value}: must be positive and finite")
    return number


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return a parameter that must be one of the given strings."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(map(repr, known))}")
    return value


@contextmanager
def parameter_names(**names: str) -> Iterator[None]:
    """Replace the names of parameters in errors of the native module with their names in Python."""
    try:
        yield
    except ValueError as error:
        for inside, name in names.items():
            if str(error).startswith(f"{inside} = "):
                raise ValueError(name + str(error).removeprefix(inside)) from None
        raise


def check_flag(name: str, value: Any) -> bool:
    """Return a parameter that must be a boolean."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}={value!r}: must be True or False")
    return bool(value)


def check_unmasked(**arrays: Any) -> None:
    """Raise ValueError for a masked array with missing values, because scikit-learn's checks ignore the mask."""
    for name, array in arrays.items():
        if np.ma.is_masked(array):
            raise ValueError(f"{name}: a masked array with missing values; fill them or remove their rows")


def validated(estimator: Any, X: Any, y: Any = "no_validation", reset: bool = True) -> Any:
    """Check rows, and labels if there are any, as scikit-learn does.

    The native module checks that all numbers are finite, and its error names the first one that is not.
    """
    check_unmasked(X=X, y=y)
    try:
        checked = validate_data(
            estimator,
            X,
            y,
            reset=reset,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            accept_large_sparse=True,
            ensure_all_finite=False,
        )
    except ValueError as error:
        raise with_advice(error) from error
    return (checked[0], typed_labels(checked[1])) if isinstance(checked, tuple) else checked


def typed_labels(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels of type object as booleans or 64-bit integers if all of them are; pandas makes such columns."""
    if y.dtype != object:
        return y
    kinds = {type(label) for label in y}
    if kinds <= {bool, np.bool_}:
        return y.astype(np.bool_)
    if bool in kinds or not all(issubclass(kind, (int, np.integer)) for kind in kinds):
        return y
    try:
        return y.astype(np.int64)
    except OverflowError:
        return y


def with_advice(error: ValueError, mixed: str = "fit a table of mixed columns with halfspaces.Pipeline") -> ValueError:
    """Return the error, with advice added if rows contain strings; `mixed` is the advice for a table."""
    if "could not convert string to float" not in str(error):
        return error
    return ValueError(
        f"X contains strings: {error}; convert them to numbers, for example in a ColumnTransformer, or {mixed}"
    )


def threads_of(n_jobs: Any) -> int:
    """Return the number of threads for a value of `n_jobs`, at most one for each core."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral)):
        raise TypeError(f"n_jobs={n_jobs!r}: must be an integer or None")
    return min(int(effective_n_jobs(n_jobs)), os.cpu_count() or 1)


class NativeState(BaseEstimator):
    """An estimator whose fitted state is one native object, the attribute ``_native``."""

    _native: Any
    _native_type: type[Saved]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_native" in state:
            state["_native"] = state["_native"].to_json()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if isinstance(state.get("_native"), str):
            state["_native"] = self._native_type.from_json(state["_native"])
        super().__setstate__(state)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_native")

    def _jobs(self) -> int:
        return threads_of(getattr(self, "n_jobs", None))

    def _forget(self) -> None:
        """Drop the fitted state: the native object and all attributes whose names end with an underscore."""
        fitted = [name for name in vars(self) if name == "_native" or name[-1] == "_"]
        for name in fitted:
            delattr(self, name)

    @contextmanager
    def _fitting(self) -> Iterator[None]:
        """Drop the fitted state before a fit, and again if the fit fails, so that no partial or mixed model is left."""
        self._forget()
        try:
            yield
        except BaseException:
            self._forget()
            raise

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return rows(validated(self, X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class ClassifierBase(ClassifierMixin, NativeState):
    """A classifier for two or more classes."""

    classes_: npt.NDArray[Any]

    def _checked_sample(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, npt.NDArray[np.int64], Any]:
        """Check `X` and `y`, set ``classes_``, and return rows, class numbers and weights."""
        X, y = validated(self, X, y)
        if y.dtype.kind not in "biuU":
            check_labels(y)
        weights, given = None, None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            # Rows with weight 0 have no effect, so they are removed.
            used = np.flatnonzero(weights)
            if len(used) == 0:
                raise ValueError("sample_weight: all weights are 0; a classifier needs rows with positive weights")
            if len(used) < len(weights):
                given = numbered(y)[0]
                X, y, weights = X[used], y[used], weights[used]
        self.classes_, numbers_of = numbered(y)
        if len(self.classes_) < 2:
            of = "y" if given is None else "y, without the rows of weight 0,"
            raise ValueError(
                f"{of} has only one class ({self.classes_[0]!r}); a classifier needs samples of at least two classes"
            )
        if given is not None and len(given) > len(self.classes_):
            shown = ", ".join(map(repr, np.setdiff1d(given, self.classes_).tolist()))
            warn([f"y: all rows of {shown} have weight 0, so the model does not know them"])
        return rows(X), numbers_of, weights

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values of the rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, one value per row, at least 0 if ``classes_[1]`` is predicted; otherwise one value per
            class, and the class with the largest value is predicted.
        """
        values: Floats = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Values of ``classes_``.
        """
        values = self._values(X)
        numbers_of = (values[:, 0] >= 0).astype(np.intp) if values.shape[1] == 1 else values.argmax(axis=1)
        classes: npt.NDArray[Any] = self.classes_[numbers_of]
        return classes

    def _values(self, X: Any) -> Floats:
        checked = self._checked_rows(X)
        values: Floats = self._native.values(checked, self._jobs())
        return values

    def _set_coefficients(self) -> None:
        found = self._native.coefficients()
        for name in ("coef_", "intercept_"):
            if hasattr(self, name):
                delattr(self, name)
        if found is not None:
            self.coef_, self.intercept_ = found


__all__ = [
    "ClassifierBase",
    "DataWarning",
    "Floats",
    "NativeState",
    "NotFittedError",
    "Self",
    "check_choice",
    "check_count",
    "check_flag",
    "check_labels",
    "check_number",
    "check_unmasked",
    "native",
    "parameter_names",
    "rows",
    "seed_of",
    "threads_of",
    "typed_labels",
    "validated",
    "warn",
    "with_advice",
]
