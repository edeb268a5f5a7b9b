"""Progress of long computations: what is reported, to whom, and what happens if the function raises an exception."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from halfspaces import (
    AveragedPerceptron,
    HalfspaceClassifier,
    KernelPerceptron,
    LinearSVM,
    Pipeline,
    audit,
    show_progress,
)

RNG = np.random.default_rng(5)
X = RNG.normal(size=(4000, 12))
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
TWO = (THREE == 1).astype(int)
WIDE = sparse.random(4000, 400, 0.05, random_state=1)


def reports(work: Callable[[], Any]) -> list[tuple[int, int]]:
    seen: list[tuple[int, int]] = []
    with show_progress(lambda done, total: seen.append((done, total))):
        work()
    return seen


@pytest.mark.parametrize(
    ("work", "total"),
    [
        (lambda: AveragedPerceptron(passes=1000).fit(X, TWO), 4_000_000),
        (lambda: AveragedPerceptron(passes=400).fit(sparse.csr_matrix(X), THREE), 4_800_000),
        (lambda: KernelPerceptron(passes=2).fit(X, TWO), 8000),
        (lambda: LinearSVM(C=1e3, tol=1e-9).fit(X, THREE), 3),
        (lambda: audit(X, TWO, folds=4), 4),
        (lambda: audit(X, THREE, folds=3), 3),
        (lambda: HalfspaceClassifier().fit(X, THREE), None),
        (lambda: HalfspaceClassifier().fit(sparse.hstack([sparse.csr_matrix(X), WIDE]).tocsr(), THREE), None),
        (lambda: Pipeline.fit({**dict(enumerate(X.T)), "y": TWO}, label="y"), None),
    ],
)
def test_steps_are_counted_to_the_end(work: Callable[[], Any], total: int | None) -> None:
    seen = reports(work)
    done, totals = zip(*seen, strict=True)
    assert list(done) == sorted(done)
    assert done[-1] == totals[-1] == max(totals)
    assert len(set(totals)) == 1
    if total is not None:
        assert totals[-1] == total


def test_an_exception_of_the_function_stops_the_computation() -> None:
    def fails(done: int, total: int) -> None:
        raise RuntimeError(f"of {total}")

    model = AveragedPerceptron(passes=100_000)
    with pytest.raises(RuntimeError, match="of 400000000"), show_progress(fails):
        model.fit(X, TWO)
    assert not hasattr(model, "coef_")


def test_the_function_before_is_restored_and_other_threads_report_nothing() -> None:
    outer: list[int] = []
    with show_progress(lambda done, total: outer.append(total)):
        inner = reports(lambda: AveragedPerceptron(passes=1000).fit(X, TWO))
        assert inner and not outer
        other = threading.Thread(target=lambda: AveragedPerceptron(passes=1000).fit(X, TWO))
        other.start()
        other.join()
        assert not outer
        AveragedPerceptron(passes=1000).fit(X, TWO)
        assert set(outer) == {4_000_000}
    count = len(outer)
    AveragedPerceptron(passes=1000).fit(X, TWO)
    assert len(outer) == count


def test_a_bar_of_tqdm_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress():
        AveragedPerceptron(passes=1000).fit(X, TWO)
        audit(X, TWO, folds=4)
    shown = capsys.readouterr().err
    assert "4.00M/4.00M" in shown and "4.00/4.00" in shown
