"""scikit-learn's own checks of every estimator, and the documentation of fitted attributes."""

import inspect
import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import halfspaces

ESTIMATORS = [
    getattr(halfspaces, name)()
    for name in halfspaces.__all__
    if isinstance(getattr(halfspaces, name), type) and issubclass(getattr(halfspaces, name), BaseEstimator)
]
# scikit-learn has no checks for estimators that take texts.
ESTIMATORS = [estimator for estimator in ESTIMATORS if estimator.__sklearn_tags__().input_tags.two_d_array]


def expected_failures(estimator: Any) -> dict[str, str]:
    """The checks that an estimator is expected to fail, and the reasons."""
    checks = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    reasons = {
        halfspaces.HalfspaceClassifier: "folds are drawn by row number, so copies of a row fall into several folds",
        halfspaces.LinearSVM: "the optimum is reached to a duality gap, and the check allows a relative error of 1e-7",
    }
    reason = reasons.get(type(estimator))
    return {} if reason is None else dict.fromkeys(checks, reason)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_with_a_small_gap_a_weight_of_two_is_two_rows(kind: str) -> None:
    """The check that fails with the default accuracy passes if the optimum is nearly exact."""
    check = getattr(estimator_checks, f"check_sample_weight_equivalence_on_{kind}_data")
    check("LinearSVM", halfspaces.LinearSVM(tol=1e-10, max_iter=10**6))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.filterwarnings("ignore")
def test_fitted_attributes_are_documented(estimator: Any) -> None:
    X = np.random.default_rng(0).normal(size=(120, 3))
    fitted = vars(clone(estimator).fit(X, (X[:, 0] > 0).astype(int)))
    attributes = [name for name in fitted if name.endswith("_") and not name.startswith("_")]
    # CPython 3.13 removes the indentation of docstrings, and earlier versions keep it.
    documented = inspect.getdoc(type(estimator)).split("\nAttributes\n")[1].split("\n\n")[0]
    missing = [name for name in attributes if not re.search(rf"\b{name}\b", documented)]
    assert attributes and not missing
