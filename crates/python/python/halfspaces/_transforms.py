"""Transformers: the Forster transform, Tyler's scatter, and feature maps."""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2
from sklearn.base import ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from halfspaces import _core
from halfspaces._base import (
    Floats,
    NativeState,
    check_choice,
    check_count,
    check_flag,
    check_number,
    parameter_names,
    rows,
    seed_of,
)


class _Transformer(TransformerMixin, NativeState):
    _native: _core.Map
    _native_type = _core.Map
    _takes_sparse = True

    def _fitted_rows(self, X: Any) -> Any:
        self._forget()
        sparse = "csr" if self._takes_sparse else False
        return validate_data(self, X, accept_sparse=sparse, dtype=np.float64, order="C")

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        sparse = "csr" if self._takes_sparse else False
        return rows(validate_data(self, X, reset=False, accept_sparse=sparse, dtype=np.float64, order="C"))

    def transform(self, X: Any) -> Floats:
        """Return the features of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        checked = self._checked_rows(X)
        return self._native.apply(checked, self._jobs())

    @property
    def _n_features_out(self) -> int:
        return self._native.output_dim

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags


class ForsterTransform(ClassNamePrefixFeaturesOutMixin, _Transformer):
    """The Forster transform: a linear map after which rows, scaled to norm 1, have the same spread in all directions.

    If more than a fraction k/d of the rows in d dimensions lie in a subspace of k dimensions, no such map exists. In
    this case, the map is fitted to the rows in that subspace, and `outcome_` says so. Rows of zeros have no direction
    and are not used by `fit`.

    Parameters
    ----------
    tol : float, default=1e-6
        All eigenvalues of the second-moment matrix of the result, times the dimension, are within `tol` of 1.
    max_iter : int, default=200
        The maximum number of steps.
    max_condition : float, default=1e13
        The largest condition number of the map, from 1e3 to 1e15.
    n_jobs : int or None, default=None
        The number of threads; the map does not depend on it.

    Attributes
    ----------
    n_features_in_ : int
        The number of columns.
    matrix_ : ndarray of shape (n_features, n_components)
        The map A: a row x becomes ``x @ A`` divided by its norm.
    basis_ : ndarray of shape (n_components, n_features)
        An orthonormal basis of the subspace.
    outcome_ : {"radially_isotropic", "heavy_subspace", "unresolved"}
        How the fit ended.
    residual_ : float
        The largest distance of an eigenvalue from 1, computed from the result.
    members_ : ndarray of int
        The rows in the subspace.
    n_iter_ : int
        The number of steps.
    termination_ : str
        Why the iteration ended, such as "converged".

    Notes
    -----
    Guarantee: the residual is computed from the rows as given, and a result that misses `tol` is "unresolved". Source:
    DKTZ23, section 3; Tyler (1987).

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces import ForsterTransform
    >>> X = np.random.default_rng(0).normal(size=(500, 3)) * [1.0, 1000.0, 0.01]
    >>> U = ForsterTransform().fit_transform(X)
    >>> bool(np.abs(3 * U.T @ U / len(U) - np.eye(3)).max() < 1e-5)
    True
    """

    _takes_sparse = False

    def __init__(
        self,
        *,
        tol: float = 1e-6,
        max_iter: int = 200,
        max_condition: float = 1e13,
        n_jobs: int | None = None,
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.max_condition = max_condition
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, at least 0. An integer weight has the same effect as repeating the row.

        Returns
        -------
        self
        """
        X = self._fitted_rows(X)
        used = np.arange(len(X))
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            # Rows with weight 0 have no effect, so they are removed.
            used = np.flatnonzero(sample_weight)
            sample_weight = sample_weight[used]
        with parameter_names(delta="tol"):
            self._native, report = _core.fit_position(
                rows(X[used]),
                sample_weight,
                check_number("tol", self.tol),
                check_count("max_iter", self.max_iter),
                check_number("max_condition", self.max_condition),
                False,
                self._jobs(),
            )
        self.outcome_: str = report["outcome"]
        self.termination_: str = report["termination"]
        self.residual_: float = report["residual"]
        self.n_iter_: int = max(1, report["n_iter"])
        self.members_: npt.NDArray[np.intp] = used[report["members"]]
        self.matrix_: Floats = report["matrix"]
        self.basis_: Floats = report["basis"]
        return self

    def transform(self, X: Any) -> Floats:
        """Return the transformed rows, scaled to norm 1; rows of zeros, which have no direction, remain zeros.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)

        Raises
        ------
        ValueError
            If a row that is not zero is orthogonal to the subspace.
        """
        X = self._checked_rows(X)
        used = X.any(axis=1)
        if used.all():
            return self._native.apply(X, self._jobs())
        result = np.zeros((len(X), self._n_features_out))
        if used.any():
            result[used] = self._native.apply(X[used], self._jobs())
        return result


class TylerScatter(NativeState):
    """Tyler's M-estimator of scatter: a covariance matrix up to scale, which heavy tails do not distort.

    Parameters
    ----------
    assume_centered : bool, default=False
        Whether the location is 0. Otherwise it is the median of each column.
    scale : {"gaussian", "trace", "determinant"}, default="gaussian"
        The scale of `covariance_`. With "gaussian", the median of the squared distances of the rows is that of Gaussian
        rows. With "trace", the trace is the number of columns. With "determinant", the determinant is 1.
    tol : float, default=1e-6
        The accuracy of the estimate, as in `ForsterTransform`.
    max_iter : int, default=200
        The maximum number of steps.
    n_jobs : int or None, default=None
        The number of threads; the estimate does not depend on it.

    Attributes
    ----------
    n_features_in_ : int
        The number of columns.
    location_ : ndarray of shape (n_features,)
        The location.
    covariance_ : ndarray of shape (n_features, n_features)
        The scatter matrix.
    precision_ : ndarray of shape (n_features, n_features)
        Its pseudo-inverse.
    dist_ : ndarray of shape (n_samples,)
        The squared robust distances of the rows given to `fit`.
    outcome_ : {"radially_isotropic", "heavy_subspace", "unresolved"}
        How the fit ended. If it is "heavy_subspace", the matrix is that of a subspace.
    n_iter_ : int
        The number of steps.

    Notes
    -----
    Source: Tyler (1987); for existence and computation, DKTZ23, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces import TylerScatter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_cauchy(size=(2000, 1)) * rng.normal(size=(2000, 2)) @ [[1.0, 0.8], [0.0, 0.6]]
    >>> scatter = TylerScatter(assume_centered=True, scale="trace").fit(X)
    >>> scatter.covariance_.round(1).tolist()
    [[1.0, 0.8], [0.8, 1.0]]
    """

    _native: _core.Map
    _native_type = _core.Map

    def __init__(
        self,
        *,
        assume_centered: bool = False,
        scale: str = "gaussian",
        tol: float = 1e-6,
        max_iter: int = 200,
        n_jobs: int | None = None,
    ) -> None:
        self.assume_centered = assume_centered
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the location and the scatter matrix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._forget()
        check_choice("scale", self.scale, ("gaussian", "trace", "determinant"))
        centred = check_flag("assume_centered", self.assume_centered)
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        self.location_: Floats = np.zeros(X.shape[1]) if centred else np.median(X, axis=0)
        with parameter_names(delta="tol"):
            self._native, report = _core.fit_position(
                rows(X - self.location_),
                None,
                check_number("tol", self.tol),
                check_count("max_iter", self.max_iter),
                1e13,
                self.scale == "determinant",
                self._jobs(),
            )
        self.outcome_: str = report["outcome"]
        self.n_iter_: int = max(1, report["n_iter"])
        self.covariance_: Floats = report["scatter"]
        if not np.isfinite(self.covariance_).all():
            self._refuse()
        # Overflows are detected below.
        with np.errstate(all="ignore"):
            self.precision_: Floats = np.linalg.pinv(self.covariance_, hermitian=True)
            self.dist_: Floats = self._distances(X)
            if self.scale == "gaussian":
                rank = np.linalg.matrix_rank(self.covariance_, hermitian=True)
                factor = np.median(self.dist_) / chi2.ppf(0.5, rank)
                if factor > 0:
                    self.covariance_ *= factor
                    self.precision_ /= factor
                    self.dist_ /= factor
        results = (self.covariance_, self.precision_, self.dist_)
        if not all(np.isfinite(result).all() for result in results):
            self._refuse()
        return self

    def _refuse(self) -> NoReturn:
        self._forget()
        raise ValueError("X: the sizes of the columns are beyond the range of float64 when squared; rescale them")

    def _distances(self, X: Floats) -> Floats:
        centred = X - self.location_
        # This is computed as a product of matrices, which is many times faster than one sum over three indices.
        distances: Floats = np.einsum("ij,ij->i", centred @ self.precision_, centred)
        return distances

    def mahalanobis(self, X: Any) -> Floats:
        """Return the squared robust distances of the rows from the location.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._distances(validate_data(self, X, reset=False, dtype=np.float64))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


class RankScaler(OneToOneFeatureMixin, _Transformer):
    """Replaces each number with its rank in the training column; ranks have mean 0 and standard deviation 1.

    It is useful for counts, percentages and columns with heavy tails. The rank of a number between two numbers of the
    training column is interpolated.

    Parameters
    ----------
    n_jobs : int or None, default=None
        The number of threads.

    Attributes
    ----------
    n_features_in_ : int
        The number of columns.

    Examples
    --------
    >>> from halfspaces import RankScaler
    >>> RankScaler().fit_transform([[1.0], [10.0], [1000.0]]).round(2).tolist()
    [[-1.22], [0.0], [1.22]]
    """

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the ranks of the numbers in each column.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._native = _core.fit_map({"map": "ranks"}, rows(self._fitted_rows(X)), self._jobs())
        return self


class NystroemFeatures(ClassNamePrefixFeaturesOutMixin, _Transformer):
    """Features whose inner products approximate a Gaussian or Laplacian kernel, from landmarks among the rows.

    Standardise the columns first. A linear classifier on the features is a kernel classifier on the columns.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian"}, default="gaussian"
        ``exp(-|x - z|^2 / scale)`` or ``exp(-|x - z|_1 / scale)``.
    scale : float or None, default=None
        The scale. ``None`` takes the median of the distances between rows.
    landmarks : int, default=300
        The number of landmarks, drawn without replacement. Landmarks that add no feature are dropped.
    random_state : int, RandomState or None, default=None
        The seed for the choice of the landmarks. ``None`` is the same as 0.
    n_jobs : int or None, default=None
        The number of threads; the features do not depend on it.

    Attributes
    ----------
    n_features_in_ : int
        The number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces import NystroemFeatures
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> F = NystroemFeatures(scale=2.0, landmarks=50).fit_transform(X)
    >>> exact = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 2.0)
    >>> bool(np.abs(F @ F.T - exact).max() < 1e-5)
    True
    """

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        scale: float | None = None,
        landmarks: int = 300,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.scale = scale
        self.landmarks = landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the landmarks and compute the map.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        distances = {"gaussian": "SquaredEuclidean", "laplacian": "Manhattan"}
        spec = {
            "map": "nystroem",
            "kernel": distances[check_choice("kernel", self.kernel, distances)],
            "scale": None if self.scale is None else check_number("scale", self.scale, positive=True),
            "landmarks": check_count("landmarks", self.landmarks),
            "seed": seed_of(self.random_state),
        }
        self._native = _core.fit_map(spec, rows(self._fitted_rows(X)), self._jobs())
        return self


__all__ = ["ForsterTransform", "NystroemFeatures", "RankScaler", "TylerScatter"]
