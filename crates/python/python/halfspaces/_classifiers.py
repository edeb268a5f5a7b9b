"""Classifiers that are fitted to all rows of a sample at once."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from halfspaces import _core
from halfspaces._base import ClassifierBase, Floats, check_choice, check_count, check_flag, check_number, seed_of, warn


class _BatchClassifier(ClassifierBase):
    _native: _core.Model
    _native_type = _core.Model

    def _spec(self) -> dict[str, Any]:
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        spec = self._spec()
        _check_class_weight(getattr(self, "class_weight", None))
        with self._fitting():
            checked, numbers, weights = self._checked_sample(X, y, sample_weight)
            if getattr(self, "class_weight", None) is not None:
                of_class = _weights_of_classes(self.class_weight, self.classes_, numbers, weights)
                weights = of_class if weights is None else weights * of_class
            self._native = _core.fit(spec, checked, numbers, weights, self._jobs())
            known = self._native.known
            if known is not None:
                lost = np.setdiff1d(np.arange(len(self.classes_)), known)
                names = ", ".join(repr(name) for name in self.classes_[lost].tolist())
                warn([f"all rows of {names} are held out, so the model does not know them; pass a smaller held_out"])
                self.classes_ = self.classes_[known]
            self.report_ = self._native.facts()
            self._set_coefficients()
            counts = [part["n_iter"] for part in self.report_ if "n_iter" in part]
            if counts:
                self.n_iter_ = max(1, *counts)
        unfinished = {part["termination"] for part in self.report_ if "termination" in part} - {"converged"}
        if unfinished and "max_iter" in spec:
            warnings.warn(
                f"{type(self).__name__}: {', '.join(sorted(unfinished))}; increase max_iter or rescale the columns",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self


def _check_class_weight(weights: Any) -> None:
    if weights is None or (isinstance(weights, str) and weights == "balanced"):
        return
    if not isinstance(weights, Mapping):
        raise ValueError(f"class_weight={weights!r}: must be a dict, 'balanced' or None")
    for label, weight in weights.items():
        if not 0 <= check_number(f"class_weight, class {label!r}: weight", weight) < np.inf:
            raise ValueError(f"class_weight, class {label!r}: weight={weight}: must be at least 0 and finite")


def _weights_of_classes(class_weight: Any, classes: Any, numbers: Any, weights: Floats | None) -> Floats:
    """Return the weight of each row's class.

    If `class_weight` is "balanced", all classes have the same total weight. A row of weight 2 counts as two rows.
    """
    if isinstance(class_weight, Mapping):
        of_row: Floats = compute_sample_weight(class_weight, classes[numbers])
        return of_row
    totals = np.bincount(numbers, weights, minlength=len(classes))
    of_class: Floats = totals.sum() / (len(classes) * totals)
    found: Floats = of_class[numbers]
    return found


class _BoundedClassifier(_BatchClassifier):
    def error_bound(self, failure: float = 0.05) -> float:
        """Return an upper bound on the error rate on new rows, measured on held-out rows.

        The bound holds with probability at least ``1 - failure`` if the rows given to ``fit`` are independent draws
        from one distribution and new rows come from the same distribution, including the labels and their noise. It
        does not depend on any assumption about the noise. With more than two classes, the bound of a one-vs-rest
        classifier is the sum of the bounds of its binary models, each with an equal share of `failure`. For
        `HalfspaceClassifier`, the held-out errors of the whole classifier are counted, so there is a single bound.

        Parameters
        ----------
        failure : float, default=0.05
            The probability with which the bound may be wrong, above 0 and below 1.

        Returns
        -------
        float
            The bound; 1.0 if the held-out rows do not suffice for a smaller one.

        Raises
        ------
        ValueError
            If no rows were held out, or `failure` is out of range.
        """
        check_is_fitted(self)
        if not 0 < check_number("failure", failure) < 1:
            raise ValueError(f"failure={failure}: must be above 0 and below 1")
        bound = self._native.error_bound(float(failure))
        if bound is None:
            raise ValueError("error_bound: no rows were held out; fit with held_out > 0")
        return bound


class _Probabilities:
    def predict_proba(self, X: Any) -> Floats:
        raise NotImplementedError

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))


class HalfspaceClassifier(_Probabilities, _BoundedClassifier):
    """The default classifier: compares halfspaces over columns and over kernel features, and averages the best.

    Candidates differ in the loss (some losses resist wrong labels), in the scales of the columns, and in whether they
    use kernel features. They are compared by cross-validation, and weak ones are dropped early. For CSR rows with more
    than 100 columns, such as texts, the candidates are linear. CSR rows with fewer columns are treated like dense rows,
    unless dense rows would take more than eight times the memory. Probabilities are calibrated on rows that the models
    did not learn from. This is the learner ``auto`` of the command ``halfspaces fit``.

    Parameters
    ----------
    held_out : float, default=0.0
        The fraction of the rows that is held out for `error_bound`, at least 0 and below 1.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, at least 0, as in scikit-learn.
    random_state : int, RandomState or None, default=None
        The seed for the folds and the landmarks. ``None`` is the same as 0, so fits are reproducible by default.
    n_jobs : int or None, default=None
        The number of threads; the model does not depend on it. ``None`` means 1, and -1 all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if `X` has names.
    report_ : list of dict
        One dict with ``learned_from`` (the number of training rows), ``compared_on`` (the number of rows on which
        candidates were compared), ``chosen`` (the names of the candidates that are averaged, best first),
        ``cross_validated_error``, and ``held_out`` and ``held_out_errors`` if rows are held out.

    Notes
    -----
    Guarantee: `error_bound`, if rows are held out. The choice among candidates is heuristic.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from halfspaces import HalfspaceClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = HalfspaceClassifier(held_out=0.3).fit(X, y)
    >>> bool(model.error_bound(0.05) < 0.1)
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 2)
    """

    def __init__(
        self,
        *,
        held_out: float = 0.0,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.held_out = held_out
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {
            "learner": "auto",
            "held_out": check_number("held_out", self.held_out),
            "seed": seed_of(self.random_state),
        }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows. Numbers are converted to float64; float32 values are not rounded.
        y : array-like of shape (n_samples,)
            The labels: integers, booleans, strings or dates, all of one type, or floats that are whole numbers. Other
            floats are refused, because they look like regression targets. Missing labels and objects such as bytes are
            also refused.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, at least 0.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def predict_proba(self, X: Any) -> Floats:
        """Return the calibrated probability of each class, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        checked = self._checked_rows(X)
        found = self._native.probabilities(checked, self._jobs())
        assert found is not None, "the default classifier is calibrated"
        return found


class PerspectronClassifier(_BoundedClassifier):
    """The Perspectron: a halfspace learned from labels, many of which may be wrong.

    For each guess of the noise rate and the margin, a run takes steps along the gradient divided by the distance to the
    boundary. The model is the iterate with the fewest held-out errors among the iterates of all runs. Standardise the
    columns first. With more than two classes, one model per class is fitted (one-vs-rest).

    Parameters
    ----------
    noise_rate : float or None, default=None
        An upper bound on the rate of wrong labels near any point, at least 0 and below 0.5. ``None`` tries 0, 0.05,
        0.1, 0.2, 0.3 and 0.4.
    margin : float or None, default=None
        The margin relative to the largest norm of a row, above 0 and at most 1. ``None`` tries 1, 1/2, ..., 1/256.
    passes : int, default=10
        The number of passes over the rows.
    candidates : int, default=32
        The number of iterates of each run that are compared.
    held_out : float, default=0.2
        The fraction of the rows on which candidates are compared, above 0 and below 1.
    fit_intercept : bool, default=True
        Whether the halfspace has an intercept.
    random_state : int, RandomState or None, default=None
        The seed for the choice of the held-out rows and for the candidates. ``None`` is the same as 0.
    n_jobs : int or None, default=None
        The number of threads; the model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        The number of columns.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights: ``X @ coef_.T + intercept_`` are the decision values.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    report_ : list of dict
        For each binary model: the number of steps, the chosen noise rate and margin, and the numbers of held-out rows
        and of errors on them.
    n_iter_ : int
        The largest number of steps of a binary model.

    Notes
    -----
    Guarantee: `error_bound`, for any distribution of independent rows. Source: CKST24, Algorithm 1; the choice among
    guesses is ours.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from halfspaces import PerspectronClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), PerspectronClassifier()).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        *,
        noise_rate: float | None = None,
        margin: float | None = None,
        passes: int = 10,
        candidates: int = 32,
        held_out: float = 0.2,
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.noise_rate = noise_rate
        self.margin = margin
        self.passes = passes
        self.candidates = candidates
        self.held_out = held_out
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {
            "learner": "perspectron",
            "noise_rate": None if self.noise_rate is None else check_number("noise_rate", self.noise_rate),
            "margin": None if self.margin is None else check_number("margin", self.margin),
            "passes": check_count("passes", self.passes),
            "candidates": check_count("candidates", self.candidates),
            "held_out": check_number("held_out", self.held_out),
            "fit_intercept": check_flag("fit_intercept", self.fit_intercept),
            "seed": seed_of(self.random_state),
        }

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        self
        """
        return self._fit(X, y)


class MassartClassifier(_BoundedClassifier):
    """A decision list of halfspaces in radially isotropic position, for Massart noise without a margin.

    Each round brings the remaining rows into radially isotropic position, learns a direction, and predicts the labels
    in the region where this direction is most certain. The next round gets the other rows. The orders of magnitude of
    the columns do not matter. With more than two classes, one model per class is fitted (one-vs-rest).

    Parameters
    ----------
    noise_rate : float, default=0.25
        An upper bound on the rate of wrong labels near any point, at least 0 and below 0.5.
    excess : float, default=0.1
        The target error is `noise_rate` + `excess`.
    failure : float, default=0.05
        The probability of a larger error if `schedule` is "theorem".
    schedule : {"practical", "theorem"}, default="practical"
        Whether to use practical sample sizes and thresholds, or those of the theorem, which need very many rows.
    held_out : float, default=0.15
        The fraction of the rows that is held out for `error_bound`; 0 holds out none.
    fit_intercept : bool, default=True
        Whether the halfspaces have intercepts.
    random_state : int, RandomState or None, default=None
        The seed for the choice of the held-out rows and for the order of the rows. ``None`` is the same as 0.
    n_jobs : int or None, default=None
        The number of threads; the model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        The number of columns.
    report_ : list of dict
        For each binary model: the number of rules, how the fit ended, and the numbers of held-out rows and of errors on
        them.

    Notes
    -----
    Guarantee: with ``schedule="theorem"``, an error of at most `noise_rate` + `excess` with probability 1 - `failure`;
    otherwise `error_bound`.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces import MassartClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 3)) * [1.0, 100.0, 0.01]
    >>> y = X @ [1.0, 0.01, 100.0] > 0
    >>> bool(MassartClassifier(noise_rate=0.05).fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        noise_rate: float = 0.25,
        excess: float = 0.1,
        failure: float = 0.05,
        schedule: str = "practical",
        held_out: float = 0.15,
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.noise_rate = noise_rate
        self.excess = excess
        self.failure = failure
        self.schedule = schedule
        self.held_out = held_out
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {
            "learner": "massart",
            "noise_rate": check_number("noise_rate", self.noise_rate),
            "excess": check_number("excess", self.excess),
            "failure": check_number("failure", self.failure),
            "schedule": check_choice("schedule", self.schedule, ("practical", "theorem")),
            "held_out": check_number("held_out", self.held_out),
            "fit_intercept": check_flag("fit_intercept", self.fit_intercept),
            "seed": seed_of(self.random_state),
        }

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        self
        """
        return self._fit(X, y)


class LinearSVM(_BatchClassifier):
    """A linear support vector machine with the hinge loss or its square, solved to a relative duality gap of `tol`.

    Minimises ``0.5 * (|w|^2 + b^2) + C * sum(max(0, 1 - y * (w @ x + b)))``, as LIBLINEAR does. The intercept is
    penalised, so standardise the columns first. With more than two classes, one model per class is fitted
    (one-vs-rest), and the decision values are mapped to log odds.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss, from 1e-12 to 1e12.
    squared : bool, default=False
        Whether the loss is squared.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    tol : float, default=1e-4
        The duality gap, relative to the objective, at which the fit ends.
    max_iter : int, default=10000
        The maximum number of passes.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, at least 0.
    random_state : int, RandomState or None, default=None
        The seed for the order of the rows in each pass. ``None`` is the same as 0.
    n_jobs : int or None, default=None
        The number of threads; the model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        The number of columns.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights: ``X @ coef_.T + intercept_`` are the decision values.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    n_iter_ : int
        The number of passes of the longest fit.
    report_ : list of dict
        For each binary model: how the fit ended, and its numbers of steps.

    Examples
    --------
    >>> from halfspaces import LinearSVM
    >>> LinearSVM().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"]).predict([[0.5], [9.0]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        squared: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.squared = squared
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {
            "learner": "svm",
            "c": check_number("C", self.C, positive=True),
            "squared": check_flag("squared", self.squared),
            "fit_intercept": check_flag("fit_intercept", self.fit_intercept),
            "tol": check_number("tol", self.tol),
            "max_iter": check_count("max_iter", self.max_iter),
            "seed": seed_of(self.random_state),
        }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, by which `C` is multiplied.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)


class LogisticRegression(_Probabilities, _BatchClassifier):
    """Logistic regression with an L2 penalty, solved by Newton's method.

    Minimises ``0.5 * |w|^2 + C * sum(log(1 + exp(-y * (w @ x + b))))``, the objective of scikit-learn's class of this
    name. With more than two classes, one model per class is fitted (one-vs-rest). A decision value is the logarithm of
    the odds of a class, against the other class or against the rest.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the loss, from 1e-12 to 1e12.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    tol : float, default=1e-10
        The norm of the gradient at which the fit ends, relative to its norm at zero. The fit also ends at the smaller of
        ``tol`` and 1e-10 times a bound on the gradient, because of rounding errors.
    max_iter : int, default=100
        The maximum number of Newton steps.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, at least 0.
    n_jobs : int or None, default=None
        The number of threads; the model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        The number of columns.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights: ``X @ coef_.T + intercept_`` are the decision values.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    n_iter_ : int
        The number of Newton steps of the longest fit.
    report_ : list of dict
        For each binary model: how the fit ended, and its numbers of steps.

    Examples
    --------
    >>> from halfspaces import LogisticRegression
    >>> model = LogisticRegression().fit([[9.0], [11.0]], [0, 1])
    >>> model.predict_proba([[10.0]]).round(6).tolist()
    [[0.5, 0.5]]
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-10,
        max_iter: int = 100,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {
            "learner": "logistic",
            "c": check_number("C", self.C, positive=True),
            "fit_intercept": check_flag("fit_intercept", self.fit_intercept),
            "tol": check_number("tol", self.tol),
            "max_iter": check_count("max_iter", self.max_iter),
        }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows, by which `C` is multiplied.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, in the order of ``classes_``.

        With more than two classes, these are the probabilities of each class against the rest, divided by their sum, as
        in scikit-learn's ``OneVsRestClassifier``. This is a heuristic. Unlike scikit-learn's ``LogisticRegression``,
        the fit does not maximise a joint likelihood of all classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        checked = self._checked_rows(X)
        found = self._native.probabilities(checked, self._jobs())
        assert found is not None, "logistic regression has probabilities"
        return found


class MarginPerceptron(_BatchClassifier):
    """The margin perceptron: updates on rows within a margin until no such row is left.

    On rows that a halfspace separates with margin gamma (relative to the largest norm), it ends after at most
    3/gamma^2 updates with a margin of at least gamma/3. On other rows it ends after `max_iter` updates. With more than
    two classes, one model per class is fitted (one-vs-rest).

    Parameters
    ----------
    max_iter : int, default=100000
        The maximum number of updates.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    n_jobs : int or None, default=None
        The number of threads, which are used only if there are more than two classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        The number of columns.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights: ``X @ coef_.T + intercept_`` are the decision values.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    n_iter_ : int
        The number of updates of the longest fit.
    report_ : list of dict
        For each binary model: how the fit ended, and its numbers of steps.

    Examples
    --------
    >>> from halfspaces import MarginPerceptron
    >>> MarginPerceptron().fit([[-1.0, 0.1], [1.0, -0.1]], [0, 1]).predict([[5.0, 0.0]]).tolist()
    [1]
    """

    def __init__(self, *, max_iter: int = 100_000, fit_intercept: bool = True, n_jobs: int | None = None) -> None:
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {
            "learner": "margin",
            "max_iter": check_count("max_iter", self.max_iter),
            "fit_intercept": check_flag("fit_intercept", self.fit_intercept),
        }

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        self
        """
        return self._fit(X, y)


class _Baseline(_BatchClassifier):
    _learner: str

    def __init__(
        self,
        *,
        noise_rate: float = 0.1,
        margin: float = 0.1,
        excess: float = 0.1,
        max_steps: int = 10_000,
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.noise_rate = noise_rate
        self.margin = margin
        self.excess = excess
        self.max_steps = max_steps
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {
            "learner": self._learner,
            "noise_rate": check_number("noise_rate", self.noise_rate),
            "margin": check_number("margin", self.margin),
            "excess": check_number("excess", self.excess),
            "max_steps": check_count("max_steps", self.max_steps),
            "fit_intercept": check_flag("fit_intercept", self.fit_intercept),
            "seed": seed_of(self.random_state),
        }

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier to the rows divided by their largest norm.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        self
        """
        return self._fit(X, y)


_BASELINE = """

    Parameters
    ----------
    noise_rate : float, default=0.1
        An upper bound on the rate of wrong labels near any point, at least 0 and below 0.5.
    margin : float, default=0.1
        The margin relative to the largest norm of a row, above 0 and at most 1.
    excess : float, default=0.1
        The target error is `noise_rate` + `excess`.
    max_steps : int, default=10000
        The maximum number of steps of a descent. The guarantee may need more.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    random_state : int, RandomState or None, default=None
        The seed for the choice of the held-out rows. ``None`` is the same as 0.
    n_jobs : int or None, default=None
        The number of threads, which are used only if there are more than two classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        The number of columns.
    report_ : list of dict
        For each binary model: the number of steps or rules, and how the fit ended.
    coef_, intercept_, n_iter_
        Like those of `PerspectronClassifier`. A decision list has none of them.

    Examples
    --------
    >>> import halfspaces
    >>> X = [[-1.0], [-0.9], [-0.8], [-0.7], [0.7], [0.8], [0.9], [1.0]] * 20
    >>> y = ([0] * 4 + [1] * 4) * 20
    >>> model = halfspaces.{name}(noise_rate=0.0, margin=0.5, excess=0.3).fit(X, y)
    >>> model.predict([[-0.9], [0.9]]).tolist()
    [0, 1]
    """


class DGTClassifier(_Baseline):
    __doc__ = """DGT19, for comparison: a decision list of halfspaces under Massart noise with a margin.

    For real data, use `PerspectronClassifier`. This class reproduces the algorithm of Diakonikolas, Gouleakis and
    Tzamos (2019). With more than two classes, one model per class is fitted (one-vs-rest).""" + _BASELINE.format(
        name="DGTClassifier"
    )
    _learner = "dgt"


class CKMYClassifier(_Baseline):
    __doc__ = """CKMY20, for comparison: a halfspace under Massart noise, by descent on the worst slab.

    For real data, use `PerspectronClassifier`. This class reproduces the algorithm of Chen, Koehler, Moitra and Yau
    (2020). With more than two classes, one model per class is fitted (one-vs-rest).""" + _BASELINE.format(
        name="CKMYClassifier"
    )
    _learner = "ckmy"


class DDKClassifier(_Baseline):
    __doc__ = """DDK+23, for comparison: projected descent on the LeakyReLU loss, for random classification noise.

    There is no guarantee under Massart noise. For real data, use `PerspectronClassifier`. This class reproduces the
    algorithm of DDK+23. With more than two classes, one model per class is fitted (one-vs-rest).""" + _BASELINE.format(
        name="DDKClassifier"
    )
    _learner = "ddk"


__all__ = [
    "CKMYClassifier",
    "DDKClassifier",
    "DGTClassifier",
    "HalfspaceClassifier",
    "LinearSVM",
    "LogisticRegression",
    "MarginPerceptron",
    "MassartClassifier",
    "PerspectronClassifier",
]
