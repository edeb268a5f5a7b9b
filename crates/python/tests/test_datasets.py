"""Data sets have the properties that their descriptions promise."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from halfspaces import ForsterTransform, LogisticRegression, MassartClassifier, Perceptron, datasets


@pytest.mark.parametrize("distribution", datasets.DISTRIBUTIONS)
def test_labels_follow_the_target(distribution: str) -> None:
    sample = datasets.halfspace(400, 6, distribution=distribution, margin=0.15, condition=10.0, seed=3)
    assert sample.X.shape == (400, 6) and np.isclose(np.linalg.norm(sample.coef), 1.0)
    side = sample.X @ sample.coef
    assert (np.where(side >= 0, 1, -1) == sample.clean).all() and (sample.y == sample.clean).all()
    if distribution not in ("gaussian", "student_t"):
        assert np.abs(side).min() >= 0.15 - 1e-12
    again = datasets.halfspace(400, 6, distribution=distribution, margin=0.15, condition=10.0, seed=3)
    assert np.array_equal(sample.X, again.X)
    other = datasets.halfspace(400, 6, distribution=distribution, margin=0.15, condition=10.0, seed=4)
    assert not np.array_equal(sample.X, other.X)


def test_noise_is_where_it_is_said() -> None:
    for where in ("everywhere", "far", "near"):
        sample = datasets.halfspace(20_000, 4, distribution="gaussian", rate=0.3, where=where, threshold=0.7)
        side, flipped = np.abs(sample.X @ sample.coef), sample.y != sample.clean
        noisy = {"everywhere": side >= 0, "far": side >= 0.7, "near": side <= 0.7}[where]
        assert abs(flipped[noisy].mean() - 0.3) < 0.02 and not flipped[~noisy].any()


def test_the_trap_misleads_logistic_regression() -> None:
    trap = datasets.massart_trap(6000, rate=0.3, margin=0.05, seed=1)
    assert abs((trap.y != trap.clean).mean() - 0.12) < 0.02
    convex = LogisticRegression(C=1e3, fit_intercept=False).fit(trap.X, trap.y)
    robust = MassartClassifier(noise_rate=0.3).fit(trap.X, trap.y)
    assert convex.score(trap.X, trap.clean) < 0.7
    assert robust.score(trap.X, trap.clean) > 0.9


def test_tight_pools_reach_the_bounds() -> None:
    pool = datasets.perceptron_tight(25)
    assert (pool.X == np.eye(25)).all() and (pool.y == -1).all()
    sides = datasets.margin_perceptron_tight(0.1)
    assert np.allclose(np.linalg.norm(sides.X, axis=1), 1.0) and (sides.y == 1).all()
    assert np.isclose((sides.X @ sides.coef).min(), 0.1)


@pytest.mark.parametrize("kind", ["gaussian", "one_hot", "two_planes", "student_t"])
def test_heavy_subspaces_are_heavy(kind: str) -> None:
    sample = datasets.heavy_subspace(120, 6, 2, kind=kind, excess=0.5, seed=2)
    for dim, members in zip(sample.dimensions, sample.members, strict=True):
        assert np.linalg.matrix_rank(sample.X[members]) == dim
        assert len(members) / len(sample.X) > dim / 6
    assert ForsterTransform().fit(sample.X).outcome_ == "heavy_subspace"
    with pytest.raises(ValueError, match='kind="magic": must be one of gaussian'):
        datasets.heavy_subspace(kind="magic")


def test_noise_on_real_data() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])[y]
    noisy, probabilities = datasets.massart_noise(X, names, 0.3, where="far", share=0.4, seed=1)
    flipped = noisy != names
    assert set(noisy) == {"malignant", "benign"} and not flipped[probabilities == 0].any()
    assert abs((probabilities > 0).mean() - 0.4) < 0.01 and set(probabilities) == {0.0, 0.3}
    assert 0.2 < flipped[probabilities > 0].mean() < 0.4
    near = datasets.massart_noise(X, names, 0.3, where="near", share=0.4)[1] > 0
    assert not (near & (probabilities > 0)).any()
    assert (datasets.massart_noise(X, names, 0.3, where="everywhere")[1] == 0.3).all()
    for options, message in [({"rate": 0.6}, "noise rate"), ({"where": "here"}, "where"), ({"share": 0.0}, "share")]:
        with pytest.raises(ValueError, match=message):
            datasets.massart_noise(X, y, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="3 classes"):
        datasets.massart_noise(X, np.arange(len(y)) % 3)


@pytest.mark.parametrize(("name", "shape"), [("wdbc", (569, 30)), ("ionosphere", (351, 33)), ("mushroom", (5644, 98))])
def test_tables(name: str, shape: tuple[int, int]) -> None:
    table = datasets.load(name)
    assert table.X.shape == shape and len(table.columns) == shape[1] and set(table.y) == {-1, 1}
    assert "UCI" in table.description
    assert Perceptron(passes=20).fit(table.X, table.y).score(table.X, table.y) > 0.6
    with pytest.raises(ValueError, match='name="iris": must be one of wdbc'):
        datasets.load("iris")
