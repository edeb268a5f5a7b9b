"""The estimators within scikit-learn's tools, and with frames."""

import copy
import io
import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression as PeerLogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import halfspaces
from halfspaces import (
    AveragedPerceptron,
    ForsterTransform,
    HalfspaceClassifier,
    LinearSVM,
    NystroemFeatures,
    PerspectronClassifier,
    RankScaler,
    TylerScatter,
)
from halfspaces._base import threads_of

CLASSIFIERS = [
    cls()
    for cls in (getattr(halfspaces, name) for name in halfspaces.__all__)
    if isinstance(cls, type) and hasattr(cls, "predict") and hasattr(cls, "decision_function")
]
LINEAR = [
    model.set_params(fit_intercept=intercept)
    for intercept in (True, False)
    for model in map(clone, CLASSIFIERS)
    if "fit_intercept" in model.get_params()
    and not isinstance(model, (halfspaces.MassartClassifier, halfspaces.DGTClassifier))
]
X, Y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)[:, ::3].copy()


def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    n = 300
    size = rng.normal(size=n)
    colour = rng.choice(["red", "green", "blue"], size=n)
    return pd.DataFrame(
        {
            "size": size,
            "weight": rng.exponential(size=n),
            "colour": colour,
            "good": np.where(size + (colour == "red") > 0.3, "yes", "no"),
        }
    )


@pytest.mark.parametrize("frames", [pd, pl])
def test_a_pipeline_of_columns_in_a_grid_search(frames: Any) -> None:
    frame = table()
    columns = ColumnTransformer(
        [("numbers", RankScaler(), ["size", "weight"]), ("texts", OneHotEncoder(sparse_output=False), ["colour"])]
    )
    model = make_pipeline(columns, PerspectronClassifier(passes=5))
    data = frame.drop(columns="good") if frames is pd else pl.from_pandas(frame.drop(columns="good"))
    search = GridSearchCV(model, {"perspectronclassifier__noise_rate": [0.0, 0.2]}, cv=3)
    search.fit(data, frame["good"])
    assert search.best_score_ > 0.9
    assert set(search.predict(data)) == {"yes", "no"}
    assert search.best_estimator_[0].get_feature_names_out().tolist()[:2] == ["numbers__size", "numbers__weight"]


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_transformers_keep_names(output: str) -> None:
    frame = table()[["size", "weight"]]
    ranked = RankScaler().set_output(transform=output).fit_transform(frame)
    assert list(ranked.columns) == ["size", "weight"]
    turned = ForsterTransform().set_output(transform=output).fit(frame).transform(frame)
    assert list(turned.columns) == ["forstertransform0", "forstertransform1"]
    features = NystroemFeatures(landmarks=5).set_output(transform=output).fit_transform(frame)
    assert next(iter(features.columns)) == "nystroemfeatures0"


@pytest.mark.parametrize("frames", [pd.DataFrame, pl.DataFrame])
def test_names_of_columns_are_checked(frames: Any) -> None:
    frame = frames({"a": X[:, 0], "b": X[:, 1]})
    model = LinearSVM().fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frames({"b": X[:, 1], "a": X[:, 0]}))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_copies_decide_alike(model: Any) -> None:
    model = clone(model).fit(X, Y)
    expected = model.decision_function(X)
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    dumped = skops.io.dumps(model)
    trusted = skops.io.get_untrusted_types(data=dumped)
    assert all(name.startswith("halfspaces.") for name in trusted), trusted
    copies = [
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        joblib.load(stream),
        skops.io.loads(dumped, trusted=trusted),
    ]
    for again in copies:
        assert np.array_equal(again.decision_function(X), expected)
        assert np.array_equal(again.predict(X), model.predict(X))
    if hasattr(model, "partial_fit"):
        # A copy continues learning where the model stopped.
        again = copies[0]
        assert np.array_equal(
            model.partial_fit(X[:50], Y[:50]).decision_function(X),
            again.partial_fit(X[:50], Y[:50]).decision_function(X),
        )


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_decide_alone_as_together_dense_as_sparse_on_any_threads(model: Any) -> None:
    holes = np.where(np.abs(X) > 0.4, X, 0.0)
    model = clone(model).fit(holes, Y)
    expected = model.decision_function(holes)
    alone = np.concatenate([model.decision_function(row[None]) for row in holes[:20]])
    assert np.array_equal(alone, expected[:20])
    assert np.allclose(model.decision_function(sparse.csr_array(holes)), expected, rtol=1e-12, atol=1e-12)
    if "n_jobs" in model.get_params():
        assert np.array_equal(clone(model).set_params(n_jobs=2).fit(holes, Y).decision_function(holes), expected)


def test_orders_and_types_of_memory_do_not_matter() -> None:
    single = X.astype(np.float32)
    expected = PerspectronClassifier().fit(single.astype(np.float64), Y).decision_function(X)
    for same in (single, np.asfortranarray(single), np.repeat(single, 2, axis=1)[:, ::2], single.tolist()):
        assert np.array_equal(PerspectronClassifier().fit(same, Y).decision_function(X), expected)


def test_processes_give_the_same_scores() -> None:
    model = make_pipeline(StandardScaler(), PerspectronClassifier())
    one = cross_val_score(model, X, Y, cv=4, n_jobs=1)
    assert np.array_equal(cross_val_score(model, X, Y, cv=4, n_jobs=2), one)
    assert one.mean() > 0.9


def test_meta_estimators_work() -> None:
    bagged = BaggingClassifier(LinearSVM(), n_estimators=3, random_state=0).fit(X, Y)
    assert bagged.score(X, Y) > 0.9
    calibrated = CalibratedClassifierCV(AveragedPerceptron(), cv=3).fit(X, Y)
    assert calibrated.predict_proba(X).shape == (len(X), 2)


def test_texts_as_sparse_rows() -> None:
    texts = ["good film", "great good film", "bad film", "boring bad film"] * 10
    labels = [1, 1, 0, 0] * 10
    model = make_pipeline(TfidfVectorizer(), HalfspaceClassifier()).fit(texts, labels)
    assert model.predict(["a great film", "a boring film"]).tolist() == [1, 0]


def test_the_bound_is_above_the_error_on_new_rows() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12_000, 5))
    y = (X[:, 0] > 0) ^ (rng.random(len(X)) < 0.1)
    train, test = slice(0, 4000), slice(4000, None)
    for model in (HalfspaceClassifier(held_out=0.3), PerspectronClassifier(), halfspaces.MassartClassifier()):
        model.fit(X[train], y[train])
        error = 1 - model.score(X[test], y[test])
        assert error <= model.error_bound(0.001) < error + 0.1, type(model)
        assert model.error_bound(0.01) > model.error_bound(0.1)
        for bad in (0.0, 1.0, -1.0, float("nan")):
            with pytest.raises(ValueError, match="failure"):
                model.error_bound(bad)
    with pytest.raises(ValueError, match="held_out > 0"):
        HalfspaceClassifier().fit(X[:100], y[:100]).error_bound()
    digits, names = load_digits(return_X_y=True)
    several = PerspectronClassifier(n_jobs=2).fit(digits / 16, names)
    assert 1 - several.score(digits / 16, names) < several.error_bound() <= 1.0
    for bad in (0, 1, 2, np.nan):
        with pytest.raises(ValueError, match=f"failure={bad}: must be above 0 and below 1"):
            several.error_bound(bad)


def test_tyler_scatter_finds_the_shape_of_heavy_tails() -> None:
    rng = np.random.default_rng(0)
    shape = np.array([[1.0, 0.8], [0.0, 0.6]])
    X = rng.standard_cauchy(size=(4000, 1)) * rng.normal(size=(4000, 2)) @ shape
    scatter = TylerScatter(scale="determinant").fit(X)
    expected = shape.T @ shape / np.sqrt(np.linalg.det(shape.T @ shape))
    assert np.abs(scatter.covariance_ - expected).max() < 0.1
    assert np.abs(np.cov(X.T) / np.sqrt(np.linalg.det(np.cov(X.T))) - expected).max() > 0.1
    normal = rng.normal(size=(20_000, 3)) * [1.0, 2.0, 3.0] + 7.0
    scatter = TylerScatter().fit(normal)
    assert np.allclose(np.diag(scatter.covariance_), [1, 4, 9], rtol=0.1)
    assert np.allclose(scatter.location_, 7.0, atol=0.1)
    assert abs(np.median(scatter.mahalanobis(normal)) - 2.366) < 0.05
    one_by_one = [row @ scatter.precision_ @ row for row in normal[:9] - scatter.location_]
    np.testing.assert_allclose(scatter.mahalanobis(normal[:9]), one_by_one, rtol=1e-10)
    np.testing.assert_allclose(scatter.dist_, scatter.mahalanobis(normal), rtol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_counts_as_copies(classes: int) -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(200, 4))
    y = (np.abs(rows[:, 0] + 0.5 * rng.normal(size=200)) * classes / 2).astype(int).clip(0, classes - 1)
    weights = rng.integers(0, 4, size=200)
    copies = np.repeat(np.arange(200), weights)
    model = halfspaces.LogisticRegression()
    weighted = clone(model).fit(rows, y, sample_weight=weights)
    repeated = clone(model).fit(rows[copies], y[copies])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-7)
    by_class = dict(enumerate(range(1, classes + 1)))
    balanced = clone(model).set_params(class_weight=by_class).fit(rows, y)
    np.testing.assert_allclose(balanced.coef_, clone(model).fit(rows, y, sample_weight=y + 1.0).coef_, atol=1e-7)
    assert np.abs(balanced.coef_ - clone(model).fit(rows, y).coef_).max() > 1e-3


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_coefficients_give_the_decision_values(model: Any, classes: int, make: Any) -> None:
    rng = np.random.default_rng(8)
    means = np.array([[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [-9.0, -1.0, 0.0]])[:classes]
    y = np.repeat(np.arange(classes), [120, 60, 30][:classes])
    rows = np.maximum(rng.normal(size=(len(y), 3)) + means[y], -4.0)
    fresh = 3 * rng.normal(size=(500, 3))
    model = clone(model).fit(make(rows), np.array(["a", "b", "c"])[y])
    assert model.coef_.shape == (1 if classes == 2 else 3, 3) and model.intercept_.shape == model.coef_.shape[:1]
    values = fresh @ model.coef_.T + model.intercept_
    found = model.decision_function(make(fresh))
    np.testing.assert_allclose(values if classes > 2 else values[:, 0], found, rtol=1e-12, atol=1e-12)
    numbers = values.argmax(axis=1) if classes > 2 else (values[:, 0] >= 0).astype(int)
    assert np.array_equal(model.classes_[numbers], model.predict(make(fresh)))


def test_the_intercept_of_a_support_vector_machine_is_penalised() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3)) + 2.0
    y = (rows.sum(axis=1) + rng.normal(size=200) > 6).astype(int)
    # The objective is that of the docstring, which scikit-learn's LinearSVC also minimises.
    peer = LinearSVC(loss="hinge", C=0.1, tol=1e-8, max_iter=10**6).fit(rows, y)
    model = LinearSVM(C=0.1, tol=1e-9, max_iter=10**5).fit(rows, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-3)


def test_probabilities_of_several_classes() -> None:
    rows, digits = load_digits(n_class=4, return_X_y=True)
    rows = rows[:, 10:40] / 16
    model = halfspaces.LogisticRegression()
    assert hasattr(model, "predict_proba")
    probabilities = model.fit(rows, digits).predict_proba(rows)
    peer = OneVsRestClassifier(PeerLogisticRegression(tol=1e-10, max_iter=1000)).fit(rows, digits)
    np.testing.assert_allclose(probabilities, peer.predict_proba(rows), atol=1e-5)
    assert np.array_equal(model.predict(rows), peer.predict(rows))
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(rows))
    # This row makes every class improbable, beyond the range of the exponential function.
    far = np.linalg.lstsq(model.coef_, np.full(4, -1e6))[0][None]
    assert (model.decision_function(far) < -1000).all()
    assert model.predict_proba(far).sum() == pytest.approx(1.0)
    stacked = StackingClassifier([("one", halfspaces.LogisticRegression())], cv=3).fit(rows, digits)
    assert stacked.stack_method_ == ["predict_proba"] and stacked.score(rows, digits) > 0.95


def test_a_failed_refit_leaves_no_mixture() -> None:
    model = LinearSVM().fit(X, np.where(Y, "a", "b"))
    model.C = 1e20
    with pytest.raises(ValueError, match="C = "):
        model.fit(X, np.where(Y, "c", "d"))
    with pytest.raises(NotFittedError):
        model.predict(X)
    online = AveragedPerceptron().fit(X, Y)
    online.passes = 0
    with pytest.raises(ValueError, match="passes=0"):
        online.fit(X, Y)
    # Parameters are checked first, so the model is still the old one.
    assert online.score(X, Y) > 0.9


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_failed_fit_leaves_nothing(model: Any) -> None:
    bad = X.copy()
    bad[7, 1] = np.nan
    model = clone(model)
    for _ in range(2):
        # The same holds for a new model and for one that was fitted before.
        with pytest.raises(ValueError, match="row 7, column 1"):
            model.fit(bad, Y)
        assert [name for name in vars(model) if name.endswith("_")] == []
        with pytest.raises(NotFittedError):
            model.predict(X)
        model.fit(X, np.where(Y, "b", "a"))


ONLINE = [model for model in CLASSIFIERS if hasattr(model, "partial_fit")]


@pytest.mark.parametrize("model", ONLINE, ids=lambda model: type(model).__name__)
def test_a_failed_first_part_is_forgotten(model: Any) -> None:
    bad = X[:30].copy()
    bad[7, 1] = np.nan
    for rows, labels, classes in [(bad, Y[:30], [0, 1]), (X[:30], Y[:30], [0, 5]), (X[:30], Y[:30], [1])]:
        again = clone(model)
        with pytest.raises(ValueError, match=r"row 7|not one of|two classes"):
            again.partial_fit(rows, labels, classes=classes)
        assert [name for name in vars(again) if name.endswith("_")] == []
        with pytest.raises(NotFittedError):
            again.predict(X)
        again.partial_fit(X[:30], Y[:30], classes=[0, 1, 2])
        assert again.classes_.tolist() == [0, 1, 2] and again.t_ == 30
        # A later part that is refused changes nothing.
        before = again.decision_function(X)
        with pytest.raises(ValueError, match="row 7"):
            again.partial_fit(bad, Y[:30])
        assert np.array_equal(again.decision_function(X), before) and again.t_ == 30


def test_coefficients_are_those_of_the_rows_learned_before_a_refused_one() -> None:
    model = halfspaces.OnlineMassart(radius=3.0).partial_fit([[1.0], [-1.0]], [1, 0], classes=[0, 1])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="row 1"):
        model.partial_fit([[-2.0], [9.0]], [1, 1])
    assert not np.array_equal(model.coef_, before)
    assert np.allclose(model.decision_function([[2.0]]), [[2.0]] @ model.coef_.T + model.intercept_)


def test_threads_are_at_most_the_cores() -> None:
    assert threads_of(100_000) == threads_of(-1) >= threads_of(None) == 1
    for bad in ("2", 1.5, True):
        with pytest.raises(TypeError, match="n_jobs="):
            threads_of(bad)


def test_scatter_beyond_the_range_of_numbers_is_refused() -> None:
    for size in (1e200, 1e-160):
        with pytest.raises(ValueError, match="rescale"):
            TylerScatter().fit(X[:, :3] * size)
