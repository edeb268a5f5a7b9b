"""Jobs over blocks of rows give the same bits for any division of the work."""

import pickle

import numpy as np
import pytest

import halfspaces
from halfspaces import blocks
from halfspaces.blocks import BLOCK_ROWS, MemorySource


def sample(rows: int = 3 * BLOCK_ROWS + 100, columns: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(rows, columns)) @ rng.normal(size=(columns, columns))
    y = np.where(X[:, 0] - 0.3 * X[:, 1] + rng.normal(size=rows) > 0, "yes", "no")
    return X, y


class Workers:
    """Rows cut into parts, each computed once or twice, and merged in another order."""

    def __init__(self, X: np.ndarray, y: np.ndarray | None, cuts: list[int]) -> None:
        self.X, self.y, self.cuts = X, y, cuts
        self.shape = X.shape
        self.jobs = 0

    def run(self, job: bytes, positive: object = None) -> bytes:
        self.jobs += 1
        ends = [*self.cuts[1:], len(self.X)]
        parts = []
        for start, end in zip(self.cuts, ends, strict=True):
            y = None if positive is None or self.y is None else self.y[start:end]
            parts.append(blocks.partial(job, self.X[start:end], y, positive, start))
        # The first part arrives again, as from a worker that was believed to be lost.
        return blocks.merge([blocks.merge([*parts[1:][::-1], parts[0]]), parts[0]])

    def classes(self) -> np.ndarray:
        return np.unique(self.y)


CUTS = [[0], [0, BLOCK_ROWS], [0, 2 * BLOCK_ROWS, 3 * BLOCK_ROWS], [0, BLOCK_ROWS, 2 * BLOCK_ROWS, 3 * BLOCK_ROWS]]


def test_the_position_is_that_of_a_fit_in_memory() -> None:
    X, _ = sample()
    alone = halfspaces.ForsterTransform(tol=1e-9).fit(X)
    for cuts in CUTS:
        source = Workers(X, None, cuts)
        fit = blocks.ForsterTransform(tol=1e-9).fit(source)
        assert fit.outcome_ == "radially_isotropic" and fit.residual_ <= 1e-9
        assert np.array_equal(fit.matrix_, alone.matrix_)
        assert source.jobs == fit.n_passes_
        assert np.array_equal(fit.transform(X[:10]), alone.transform(X[:10]))
    threads = blocks.ForsterTransform(tol=1e-9).fit(MemorySource(X, n_jobs=2))
    assert np.array_equal(threads.matrix_, alone.matrix_)
    again = pickle.loads(pickle.dumps(threads))
    assert np.array_equal(again.transform(X[:10]), alone.transform(X[:10]))


@pytest.mark.parametrize("estimator", [blocks.LogisticRegression(C=0.01), blocks.AveragedPerceptron(max_iter=4)])
def test_classifiers_do_not_depend_on_the_workers(estimator: blocks._Linear) -> None:
    X, y = sample()
    for labels in (y, np.arange(len(y)) % 3):
        alone = type(estimator)(**estimator.get_params()).fit(MemorySource(X, labels, n_jobs=2))
        for cuts in CUTS:
            fit = type(estimator)(**estimator.get_params()).fit(Workers(X, labels, cuts))
            assert np.array_equal(fit.coef_, alone.coef_) and np.array_equal(fit.intercept_, alone.intercept_)
    two = type(estimator)(**estimator.get_params()).fit(MemorySource(X, y))
    assert (two.predict(X) == y).mean() > 0.75


def test_logistic_regression_is_that_in_memory() -> None:
    X, y = sample()
    fit = blocks.LogisticRegression(C=0.1).fit(Workers(X, y, CUTS[2]))
    alone = halfspaces.LogisticRegression(C=0.1).fit(X, y)
    assert np.allclose(fit.coef_, alone.coef_, atol=1e-7) and np.allclose(fit.intercept_, alone.intercept_, atol=1e-7)
    assert fit.reports_[0]["converged"]


def test_scans_and_counts() -> None:
    X, y = sample()
    X = X.round()  # many ties
    w = np.array([1.0, 0.0, -1.0, 0.5])
    for cuts in CUTS:
        rows, values = blocks.largest_margins(Workers(X, None, cuts), w, 50)
        margins = np.abs(X @ w)
        expected = np.lexsort((np.arange(len(X)), -margins))[:50]
        assert np.array_equal(rows, expected) and np.array_equal(values, margins[expected])
        coef = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
        counts = blocks.count_errors(Workers(X, y, cuts), coef, [0.0, 0.5])
        truth = y == "yes"
        assert counts.tolist() == [
            int(((X[:, 0] >= 0) != truth).sum()),
            int(((X[:, 1] + 0.5 >= 0) != truth).sum()),
        ]


def test_faults_are_told() -> None:
    X, y = sample()
    with pytest.raises(ValueError, match="multiple of 4608"):
        blocks.ForsterTransform().fit(Workers(X, None, [0, 17]))
    with pytest.raises(ValueError, match="block 1 is missing"):

        class Lossy(Workers):
            def run(self, job: bytes, positive: object = None) -> bytes:
                return blocks.partial(job, self.X[:BLOCK_ROWS])

        blocks.ForsterTransform().fit(Lossy(X, None, [0]))
    with pytest.raises(ValueError, match=r"row 4609, column 2"):
        bad = X.copy()
        bad[4609, 2] = np.nan
        blocks.ForsterTransform().fit(Workers(bad, None, CUTS[1]))
    with pytest.raises(ZeroDivisionError):

        class Broken(Workers):
            def run(self, job: bytes, positive: object = None) -> bytes:
                raise ZeroDivisionError

        blocks.LogisticRegression().fit(Broken(X, y, [0]))
    with pytest.raises(ValueError, match="at least two"):
        blocks.LogisticRegression().fit(MemorySource(X, np.zeros(len(X))))
    with pytest.raises(ValueError, match="different computations|different jobs|cannot be joined"):
        jobs: list[bytes] = []

        class Keeps(Workers):
            def run(self, job: bytes, positive: object = None) -> bytes:
                jobs.append(job)
                raise InterruptedError

        for fit in (
            lambda: blocks.ForsterTransform().fit(Keeps(X, y, [0])),
            lambda: blocks.AveragedPerceptron().fit(Keeps(X, y, [0])),
        ):
            with pytest.raises(InterruptedError):
                fit()
        blocks.merge([blocks.partial(jobs[0], X), blocks.partial(jobs[1], X, y, "yes")])
    with pytest.raises(ValueError, match="not a partial result"):
        blocks.merge([b"\xff\xff\xff"])
