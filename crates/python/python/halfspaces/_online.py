"""Online learners: they learn from one row at a time, in `fit` or in `partial_fit`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import _check_partial_fit_first_call

from halfspaces import _core
from halfspaces._base import (
    ClassifierBase,
    check_choice,
    check_count,
    check_flag,
    check_number,
    parameter_names,
    rows,
    seed_of,
    validated,
)

_SHARED = """
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    passes : int, default=10
        The number of passes of `fit` over the rows.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass. `partial_fit` takes them in the given order.
    random_state : int, RandomState or None, default=None
        The seed for the order of the rows in each pass. ``None`` is the same as 0.
    n_jobs : int or None, default=None
        The number of threads for predictions.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        The number of columns.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    n_updates_ : int
        The number of updates so far.
    t_ : int
        The number of rows learned from so far, over all passes.
    n_iter_ : int
        The number of passes of `fit`.

    Examples
    --------
    >>> import halfspaces
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
    >>> model = halfspaces.{name}({arguments}).fit(X, y)
    >>> model.predict([[-3.0], [3.0]]).tolist()
    ['no', 'yes']
    >>> model.partial_fit([[1.5]], ["yes"]).t_
    41
    """


class _OnlineClassifier(ClassifierBase):
    _native: _core.Online
    _native_type = _core.Online

    def _spec(self) -> dict[str, Any]:
        raise NotImplementedError

    def _has_intercept(self) -> bool:
        return check_flag("fit_intercept", getattr(self, "fit_intercept", False))

    def fit(self, X: Any, y: Any) -> Self:
        """Forget earlier rows, and learn from the given rows in `passes` passes.

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
        spec, passes = self._spec(), check_count("passes", self.passes)
        seed = seed_of(self.random_state) if check_flag("shuffle", self.shuffle) else None
        with self._fitting():
            checked, numbers, _ = self._checked_sample(X, y)
            self._native = self._started(spec, checked)
            self._native.learn(checked, numbers, passes, seed, self._jobs())
            self.n_iter_ = passes
            return self._updated()

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn once from the rows, in the given order.

        If the call is interrupted, or if the learner itself refuses a row (too large a norm, overflow), the learner
        keeps what it has learned so far. A first call that fails changes nothing.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.
        classes : array-like of shape (n_classes,) or None, default=None
            All classes that can occur. They must be given in the first call.

        Returns
        -------
        self
        """
        first = not hasattr(self, "_native")
        try:
            X, y = validated(self, X, y, reset=first)
            _check_partial_fit_first_call(self, classes)
            if first and len(self.classes_) < 2:
                raise ValueError(f"classes={classes!r}: a classifier needs at least two classes")
            unknown = np.setdiff1d(y, self.classes_)
            if len(unknown):
                raise ValueError(f"y contains {unknown[0]!r}, which is not one of classes={list(self.classes_)}")
            numbers: npt.NDArray[np.int64] = np.searchsorted(self.classes_, y).astype(np.int64)
            if first:
                self._native = self._started(self._spec(), rows(X))
            try:
                self._native.learn(rows(X), numbers, 1, None, self._jobs())
            finally:
                self._updated()
        except BaseException as error:
            # The learner keeps what it learned before an interrupt.
            if first and (isinstance(error, Exception) or not hasattr(self, "_native")):
                self._forget()
            raise
        return self

    def _started(self, spec: dict[str, Any], first: Any) -> _core.Online:
        """Return a new learner; `first` contains the first rows."""
        return _core.Online(spec, len(self.classes_), self.n_features_in_, self._has_intercept())

    def _updated(self) -> Self:
        self.n_updates_ = self._native.updates
        self.t_ = self._native.rounds
        self._set_coefficients()
        return self


def _documented(text: str, name: str, arguments: str = "") -> str:
    return text + _SHARED.format(name=name, arguments=arguments)


class Perceptron(_OnlineClassifier):
    __doc__ = _documented(
        """The perceptron: adds each row whose class it predicts wrongly to its weights, or subtracts it from them.

    It makes at most (R / gamma)^2 mistakes on rows of norm at most R that a halfspace separates with margin gamma, in
    any order. The last weights are the model; `AveragedPerceptron` is usually better on noisy labels. With more than
    two classes, one learner per class is fitted (one-vs-rest).

    Parameters
    ----------""",
        "Perceptron",
    )

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {"learner": "perceptron"}


class AveragedPerceptron(_OnlineClassifier):
    __doc__ = _documented(
        """The averaged perceptron: the mean of the perceptron's weights over all rounds.

    With more than two classes, one learner per class is fitted (one-vs-rest).

    Parameters
    ----------""",
        "AveragedPerceptron",
    )

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {"learner": "averaged"}


class PassiveAggressiveClassifier(_OnlineClassifier):
    __doc__ = _documented(
        """The passive-aggressive algorithm: the smallest change to the weights that gives a row a margin of 1.

    With more than two classes, one learner per class is fitted (one-vs-rest).

    Parameters
    ----------
    C : float or None, default=1.0
        The limit on the size of a step; wrong labels have less effect if it is small. ``None`` sets no limit (PA).
    damped : bool, default=False
        Whether the step is damped (PA-II) instead of capped (PA-I).""",
        "PassiveAggressiveClassifier",
    )

    def __init__(
        self,
        *,
        C: float | None = 1.0,
        damped: bool = False,
        fit_intercept: bool = True,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.damped = damped
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        c = None if self.C is None else check_number("C", self.C, positive=True)
        return {"learner": "passive_aggressive", "c": c, "damped": check_flag("damped", self.damped)}


class AROWClassifier(_OnlineClassifier):
    __doc__ = _documented(
        """Adaptive regularisation of weights, with one variance per column.

    The weights of columns that were rarely non-zero are changed more. With more than two classes, one learner per class
    is fitted (one-vs-rest).

    Parameters
    ----------
    r : float, default=1.0
        The strength of the regularisation; larger values change the weights less.""",
        "AROWClassifier",
    )

    def __init__(
        self,
        *,
        r: float = 1.0,
        fit_intercept: bool = True,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.r = r
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {"learner": "arow", "r": check_number("r", self.r, positive=True)}


class SecondOrderPerceptron(_OnlineClassifier):
    __doc__ = _documented(
        """The second-order perceptron: a perceptron on rows that are whitened with the rows of earlier mistakes.

    For d columns, an update takes O(d^2) time and the state takes O(d^2) memory. With more than two classes, one
    learner per class is fitted (one-vs-rest).

    Parameters
    ----------
    a : float, default=1.0
        The strength of the regularisation, positive.""",
        "SecondOrderPerceptron",
    )

    def __init__(
        self,
        *,
        a: float = 1.0,
        fit_intercept: bool = True,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.a = a
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {"learner": "second_order", "a": check_number("a", self.a, positive=True)}


class OnlineMassart(_OnlineClassifier):
    __doc__ = _documented(
        """The online learner for Massart noise: the Perspectron's step on every row.

    Its mean error exceeds `noise_rate` by at most O(1 / (margin * sqrt(t))) after t independent rows that a halfspace
    separates with `margin` before the noise is added. With more than two classes, one learner per class is fitted
    (one-vs-rest).

    Parameters
    ----------
    noise_rate : float, default=0.1
        An upper bound on the rate of wrong labels near any point, at least 0 and below 0.5.
    margin : float, default=0.1
        The margin relative to `radius`, above 0 and at most 1.
    radius : float or None, default=None
        The largest norm of a row, by which rows are divided; a row with a larger norm causes an error. ``None`` takes
        the largest norm in `fit` or in the first call of `partial_fit`.""",
        "OnlineMassart",
        "noise_rate=0.0, margin=0.3",
    )

    def __init__(
        self,
        *,
        noise_rate: float = 0.1,
        margin: float = 0.1,
        radius: float | None = None,
        fit_intercept: bool = True,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.noise_rate = noise_rate
        self.margin = margin
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        return {
            "learner": "massart",
            "noise_rate": check_number("noise_rate", self.noise_rate),
            "margin": check_number("margin", self.margin),
            "radius": None if self.radius is None else check_number("radius", self.radius, positive=True),
        }

    def _started(self, spec: dict[str, Any], first: Any) -> _core.Online:
        if spec["radius"] is None:
            # If all rows are zero, any radius is valid.
            spec["radius"] = _core.largest_norm(first) or 1.0
        with parameter_names(noise="noise_rate"):
            return super()._started(spec, first)


class KernelPerceptron(_OnlineClassifier):
    """The kernel perceptron: a signed sum of kernel values, one for each row that was predicted wrongly (a support).

    A prediction takes O(d) time for each support. With more than two classes, one learner per class is fitted
    (one-vs-rest).

    Parameters
    ----------
    kernel : {"gaussian", "polynomial", "inhomogeneous", "linear"}, default="gaussian"
        ``exp(-|x - z|^2 / scale)``, ``(x @ z)^degree``, ``(1 + x @ z)^degree`` or ``x @ z``.
    scale : float, default=1.0
        The scale of the Gaussian kernel: the square of its width.
    degree : int, default=2
        The degree of the polynomial kernels.
    budget : int or None, default=None
        The maximum number of supports of one learner; the oldest are dropped.
    passes : int, default=10
        The number of passes of `fit` over the rows.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass. `partial_fit` takes them in the given order.
    random_state : int, RandomState or None, default=None
        The seed for the order of the rows in each pass. ``None`` is the same as 0.
    n_jobs : int or None, default=None
        The number of threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        The number of columns.
    n_supports_ : int
        The number of supports of all learners.
    n_updates_ : int
        The number of updates so far.
    t_ : int
        The number of rows learned from so far, over all passes.
    n_iter_ : int
        The number of passes of `fit`.

    Examples
    --------
    >>> from halfspaces import KernelPerceptron
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> KernelPerceptron().fit(X, y).predict(X).tolist()
    [0, 1, 1, 0]
    """

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        scale: float = 1.0,
        degree: int = 2,
        budget: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.scale = scale
        self.degree = degree
        self.budget = budget
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _spec(self) -> dict[str, Any]:
        degree = {"degree": check_count("degree", self.degree, most=1000)}
        kernels: dict[str, Any] = {
            "gaussian": {"Gaussian": {"scale": check_number("scale", self.scale, positive=True)}},
            "polynomial": {"Polynomial": degree},
            "inhomogeneous": {"Inhomogeneous": degree},
            "linear": "Linear",
        }
        kernel = kernels[check_choice("kernel", self.kernel, kernels)]
        budget = None if self.budget is None else check_count("budget", self.budget)
        return {"learner": "kernel", "kernel": kernel, "budget": budget}

    def _updated(self) -> Self:
        self.n_supports_ = self._native.supports
        return super()._updated()


__all__ = [
    "AROWClassifier",
    "AveragedPerceptron",
    "KernelPerceptron",
    "OnlineMassart",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "SecondOrderPerceptron",
]
