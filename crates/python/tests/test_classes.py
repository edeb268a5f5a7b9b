"""Several classes: comparable values, coefficients that reproduce them, and classes that a fit does not see."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

import halfspaces

LINEAR = [
    halfspaces.LogisticRegression(),
    halfspaces.LinearSVM(tol=1e-3),
    halfspaces.PerspectronClassifier(passes=3),
    halfspaces.AveragedPerceptron(passes=3),
    halfspaces.AROWClassifier(passes=3),
]


def between(rows, seed):
    """Three classes along a direction: no halfspace separates the middle one from the others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    return X, np.digitize(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=rows), [-0.7, 0.7])


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_a_class_between_two_others_is_predicted(model):
    X, y = between(3000, 0)
    fresh, truth = between(3000, 1)
    assert model.fit(X, y).score(fresh, truth) > 0.82
    values = model.decision_function(fresh)
    np.testing.assert_allclose(fresh @ model.coef_.T + model.intercept_, values, rtol=1e-9, atol=1e-9)
    assert (model.classes_[values.argmax(axis=1)] == model.predict(fresh)).all()


def test_probabilities_of_several_classes_are_those_of_the_log_odds():
    X, y = between(500, 2)
    model = halfspaces.LogisticRegression().fit(X, y)
    odds = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), rtol=1e-9)


def test_weights_count_rows_of_several_classes():
    X, y = between(400, 3)
    weights = np.arange(400) % 3
    rows = np.repeat(np.arange(400), weights)
    weighted = halfspaces.LogisticRegression(tol=1e-10).fit(X, y, sample_weight=weights)
    repeated = halfspaces.LogisticRegression(tol=1e-10).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_balanced_weights_count_rows(classes):
    X, y = between(400, 3)
    y = np.minimum(y, classes - 1)
    weights = np.arange(400) % 3 + 3 * (y == 0)
    rows = np.repeat(np.arange(400), weights)
    for model in (halfspaces.LogisticRegression, halfspaces.LinearSVM):
        weighted = model(tol=1e-9, class_weight="balanced").fit(X, y, sample_weight=weights)
        repeated = model(tol=1e-9, class_weight="balanced").fit(X[rows], y[rows])
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-3, atol=1e-5)
        ignored = model(tol=1e-9).fit(X, y, sample_weight=weights)
        assert np.abs(ignored.coef_ - weighted.coef_).max() > 1e-3


def test_a_class_whose_weights_are_all_zero_is_named():
    X, y = between(300, 5)
    with pytest.warns(halfspaces.DataWarning, match="all rows of 1 have weight 0"):
        model = halfspaces.LogisticRegression().fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]
    with pytest.raises(ValueError, match="without the rows of weight 0, has only one class"):
        model.fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="all weights are 0|at least one non-zero"):
        model.fit(X, y, sample_weight=np.zeros(300))


def test_logarithms_of_probabilities():
    X, y = between(300, 6)
    for model in (halfspaces.LogisticRegression(), halfspaces.HalfspaceClassifier()):
        model.fit(X, y)
        np.testing.assert_array_equal(np.exp(model.predict_log_proba(X)).round(9), model.predict_proba(X).round(9))


def test_labels_of_bytes_are_refused():
    X, y = between(300, 7)
    with pytest.raises(ValueError, match="bytes"):
        halfspaces.LogisticRegression().fit(X, y.astype("S"))


def test_sparse_rows_of_few_columns_are_a_table():
    X, y = load_iris(return_X_y=True)
    dense = halfspaces.HalfspaceClassifier().fit(X, y)
    other = halfspaces.HalfspaceClassifier().fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(other.predict(X), dense.predict(X))
    np.testing.assert_allclose(other.decision_function(sparse.csr_array(X)), dense.decision_function(X), rtol=1e-9)


def test_a_class_whose_rows_are_all_held_out_is_unknown():
    X, y = between(300, 4)
    names = np.where(y > 0, "cat", "dog").astype(object)
    names[0] = "ant"
    lost = 0
    for seed in range(10):
        model = halfspaces.HalfspaceClassifier(held_out=0.3, random_state=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, names)
        assert model.score(X, names) > 0.9
        if "ant" not in model.classes_:
            lost += 1
            assert any("'ant'" in str(one.message) for one in caught)
            assert model.decision_function(X).shape == (300,)
            assert model.predict_proba(X).shape == (300, 2)
    assert lost


def test_one_class_to_learn_from_is_refused():
    X = np.arange(40.0).reshape(-1, 1)
    y = np.r_[1, np.zeros(39)]
    model = halfspaces.HalfspaceClassifier(held_out=0.95, random_state=0)
    with pytest.raises(ValueError, match="held_out"):
        for seed in range(10):
            model.set_params(random_state=seed).fit(X, y)


@pytest.mark.parametrize("held_out", [0.0, 1e-9, 0.25])
def test_the_default_classifier_reports_its_fit(held_out: float) -> None:
    X = np.random.default_rng(1).normal(size=(400, 3))
    model = halfspaces.HalfspaceClassifier(held_out=held_out).fit(X, X[:, 0] > 0)
    (report,) = model.report_
    assert report["learned_from"] == 400 - round(400 * held_out) and report["compared_on"] == report["learned_from"]
    assert report["chosen"] and all(isinstance(name, str) for name in report["chosen"])
    assert 0 <= report["cross_validated_error"] < 0.1
    assert ("held_out" in report) == (held_out > 0.1)
    if held_out > 0.1:
        assert report["held_out"] == 100 and 0 <= report["held_out_errors"] < 20


@pytest.mark.parametrize("labels", [[False, True], [3, 7], [np.int64(3), np.int64(2**62)], ["a", "b"]])
def test_labels_of_type_object_are_what_they_are(labels):
    X = np.arange(40.0).reshape(-1, 1)
    y = np.empty(40, dtype=object)
    y[:] = [labels[row >= 20] for row in range(40)]
    model = halfspaces.LogisticRegression().fit(X, y)
    assert model.classes_.tolist() == labels and model.predict(X).tolist() == list(y)
    assert halfspaces.audit(X, y, learner="logistic").label.dtype == model.classes_.dtype
    online = halfspaces.Perceptron().partial_fit(X, y, classes=labels)
    assert online.classes_.tolist() == labels


@pytest.mark.parametrize("labels", [[True, 1], [1, 2**70], [b"a", b"b"], [1, "b"]])
def test_mixed_labels_are_refused(labels):
    y = np.empty(40, dtype=object)
    y[:] = labels * 20
    with pytest.raises(ValueError, match="y: labels|[Uu]nknown label type"):
        halfspaces.LogisticRegression().fit(np.arange(40.0).reshape(-1, 1), y)
