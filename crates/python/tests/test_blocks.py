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


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("more", [1, 0, -1])
def test_heavy_subspaces_are_those_of_a_fit_in_memory(dim: int, more: int) -> None:
    """The subspace contains its share of the rows, or one row more or fewer."""
    n = 2 * BLOCK_ROWS + 400
    X = np.random.default_rng(0).normal(size=(n, 4))
    members = np.sort(np.random.default_rng(1).permutation(n)[: n * dim // 4 + more])
    X[members, dim:] = 0.0
    X = X @ np.random.default_rng(2).normal(size=(4, 4))
    alone = halfspaces.ForsterTransform().fit(X)
    fits = [blocks.ForsterTransform().fit(Workers(X, None, cuts)) for cuts in CUTS[:3]]
    for fit in fits:
        assert np.array_equal(fit.matrix_, fits[0].matrix_)
        # With exactly the share, some transform comes as close as needed.
        assert fit.outcome_ == alone.outcome_ == ("heavy_subspace" if more > 0 else "radially_isotropic")
        assert fit.n_members_ == len(alone.members_) == (len(members) if more > 0 else n)
        assert np.allclose(fit.basis_.T @ fit.basis_, alone.basis_.T @ alone.basis_, atol=1e-12)
        assert np.allclose(fit.transform(X[members[:9]]), alone.transform(X[members[:9]]), atol=1e-6)
        assert fit.residual_ <= 1e-6


def test_rows_of_a_subspace_are_mapped_in_their_span() -> None:
    X, _ = sample()
    flat = np.column_stack([X, X[:, 0] - X[:, 1], np.zeros(len(X))])
    fit = blocks.ForsterTransform().fit(Workers(flat, None, CUTS[1]))
    alone = halfspaces.ForsterTransform().fit(flat)
    assert fit.outcome_ == alone.outcome_ == "radially_isotropic"
    assert fit.matrix_.shape == alone.matrix_.shape == (6, 4) and fit.n_members_ == len(X)
    again = pickle.loads(pickle.dumps(fit))
    assert np.array_equal(again.transform(flat[:5]), fit.transform(flat[:5]))


def test_labelling_does_not_depend_on_the_workers() -> None:
    X, _ = sample()
    truth = np.where(X @ [1.0, -2.0, 0.5, 3.0] >= 0, "yes", "no")
    asked: list[list[blocks.Question]] = []
    for cuts, batch in zip(CUTS, [1, 7, 40, 500], strict=True):
        questions: list[blocks.Question] = []

        def oracle(question: blocks.Question, questions: list[blocks.Question] = questions) -> object:
            assert np.array_equal(question.values, X[question.row])
            questions.append(question)
            return truth[question.row]

        source = Workers(X, None, cuts)
        session = blocks.label(source, oracle, ["no", "yes"], batch=batch, budget=120)
        asked.append(questions)
        assert [(q.row, q.predicted, q.margin) for q in questions] == [(q.row, q.predicted, q.margin) for q in asked[0]]
        wrong = sum(truth[question.row] != question.predicted for question in questions)
        assert session.progress == (len(X), 120, 120, 0, 0, wrong)
        assert session.labels == {question.row: truth[question.row] for question in questions}
        assert source.jobs == session.n_scans_ <= wrong + 2 + 120 // batch
        # The surest row without a label comes next.
        sizes = np.abs(X @ session.coef_) / np.linalg.norm(X, axis=1)
        sizes[list(session.labels)] = -1
        question = session.ask()
        assert question is not None and np.isclose(sizes.max(), abs(question.margin), rtol=1e-12)
        assert np.array_equal(session.predict(X), np.where(X @ session.coef_ >= 0, "yes", "no"))
    with pytest.raises(ValueError, match="there is no such class"):
        session.tell("maybe")
    session.tell("no")
    with pytest.raises(ValueError, match="no question is open"):
        session.tell("no")
    with pytest.raises(TypeError, match="copied"):
        pickle.dumps(session)


def test_simulated_labelling_is_that_of_an_oracle() -> None:
    X, _ = sample(BLOCK_ROWS + 60)
    truth = X @ [1.0, -2.0, 0.5, 3.0] >= 0
    wrong: list[int] = []

    def oracle(question: blocks.Question) -> bool:
        if truth[question.row] != question.predicted:
            wrong.append(question.row)
        return bool(truth[question.row])

    session = blocks.label(MemorySource(X), oracle, [False, True], batch=1000)
    assert session.ask() is None and session.progress.labelled == len(X)
    for cuts in ([0], [0, BLOCK_ROWS]):
        source = Workers(X, truth, cuts)
        simulation = blocks.simulate_labelling(source)
        assert simulation.rows.tolist() == wrong and np.array_equal(simulation.coef, session.coef_)
        assert simulation.corrections == session.progress.corrections == len(wrong) > 0
        assert source.jobs == simulation.scans <= len(wrong) + 2


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
    with pytest.raises(ValueError, match="between two classes"):
        blocks.Labeler(MemorySource(X), ["a", "b", "c"])
    with pytest.raises(ValueError, match="3 classes"):
        blocks.simulate_labelling(MemorySource(X, np.arange(len(X)) % 3))
    with pytest.raises(ZeroDivisionError):
        blocks.Labeler(Broken(X, y, [0]), ["a", "b"]).ask()
    with pytest.raises(ValueError, match="not a partial result"):
        blocks.merge([b"\xff\xff\xff"])


@pytest.mark.parametrize("cuts", CUTS)
def test_a_fault_names_the_row_of_the_whole_table(cuts: list[int]) -> None:
    X, _ = sample()
    X[2 * BLOCK_ROWS + 7] = 1e300
    with pytest.raises(ValueError, match=f"row {2 * BLOCK_ROWS + 7}\\b"):
        blocks.Labeler(Workers(X, None, cuts), classes=["no", "yes"]).ask()
