"""Plots: what is drawn, and what is refused."""

import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import load_breast_cancer

from halfspaces import HalfspaceClassifier, TylerScatter, plots


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    plt.close("all")


def test_margins_are_counted_by_side() -> None:
    ax = plots.margins([2.0, 1.0, -1.0, 0.5, 3.0], ["b", "b", "a", "a", "b"], bins=5)
    heights = [sum(patch.get_height() for patch in container) for container in ax.containers]
    assert heights == [4, 1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["correct side: 4", "wrong side: 1"]


def test_error_against_coverage_joins_ties() -> None:
    line = plots.error_against_coverage([1.0, -1.0, 1.0, 0.2], [True, False, False, False]).lines[0]
    assert line.get_xdata().tolist() == [0.75, 1.0] and np.allclose(line.get_ydata(), [1 / 3, 1 / 4])


def test_calibration_has_intervals() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1.0, 4000)
    ax = plots.calibration(p, rng.random(4000) < p, label="model")
    points = next(line for line in ax.lines if line.get_marker() == "o")
    assert len(points.get_xdata()) == 5 and np.abs(points.get_xdata() - points.get_ydata()).max() < 0.05
    bars = [segment[:, 1] for segment in ax.collections[0].get_segments()]
    assert all(low < rate < high for (low, high), rate in zip(bars, points.get_ydata(), strict=True))


def test_distances_mark_outliers() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    X[:10] += 8.0
    robust = np.sqrt(TylerScatter().fit(X).mahalanobis(X))
    classical = np.sqrt(EmpiricalCovariance().fit(X).mahalanobis(X))
    ax = plots.distances(robust, classical, n_features=3)
    far = ax.collections[1].get_offsets()
    assert len(far) >= 10 and ax.get_xlabel() == "Mahalanobis distance"
    assert plots.distances(robust).get_xlabel() == "row"


def test_corrections_are_cumulated() -> None:
    ax = plots.corrections([1, 0, 1], random_error=0.5, label="halfspaces")
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0, 1, 1, 2], [0.0, 0.5, 1.0, 1.5]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.margins([1.0, 2.0], [0, 0]), "y has 1 classes"),
        (lambda: plots.margins([1.0, np.nan], [0, 1]), "values: row 1 is not a finite number"),
        (lambda: plots.margins([1.0], [0, 1]), "inconsistent"),
        (lambda: plots.calibration([0.5, 1.2], [0, 1]), "probabilities: must be between 0 and 1"),
        (lambda: plots.calibration([0.5], [3]), "correct: must be booleans"),
        (lambda: plots.error_against_coverage([], []), "there are no rows"),
        (lambda: plots.distances([1.0], n_features=2, level=1.0), "level"),
    ],
)
def test_bad_arrays_are_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_matplotlib_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"halfspaces\[plots\]"):
        plots.corrections([1, 0])


def test_all_can_be_drawn_on_one_figure(tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = HalfspaceClassifier().fit(X[::2], y[::2])
    values, p, new = model.decision_function(X[1::2]), model.predict_proba(X[1::2]), y[1::2]
    wrong = model.predict(X[1::2]) != new
    figure, axes = plt.subplots(2, 3, figsize=(14, 7), layout="constrained")
    robust = np.sqrt(TylerScatter().fit(X).mahalanobis(X))
    classical = np.sqrt(EmpiricalCovariance().fit(X).mahalanobis(X))
    drawn = [
        plots.margins(values, new, ax=axes[0, 0]),
        plots.error_against_coverage(values, wrong, label="halfspaces", ax=axes[0, 1]),
        plots.calibration(p.max(axis=1), ~wrong, label="halfspaces", ax=axes[0, 2]),
        plots.distances(robust, classical, n_features=X.shape[1], ax=axes[1, 0]),
        plots.distances(robust, n_features=X.shape[1], ax=axes[1, 1]),
        plots.corrections(wrong, random_error=0.37, label="halfspaces", ax=axes[1, 2]),
    ]
    assert drawn == list(axes.flat)
    figure.savefig(tmp_path / "plots.png")
    assert (tmp_path / "plots.png").stat().st_size > 10_000
