"""Ctrl-C ends a long computation soon, and leaves the process usable."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pytest

import halfspaces

# The fits below take much longer. benches/peers/python_interrupt.py measures the time itself.
SOON = 10.0

LONG = {
    "auto": halfspaces.HalfspaceClassifier(),
    "perspectron": halfspaces.PerspectronClassifier(passes=10_000),
    "massart": halfspaces.MassartClassifier(noise_rate=0.3),
    "svm": halfspaces.LinearSVM(C=1e6, tol=1e-12, max_iter=10**9),
    "logistic": halfspaces.LogisticRegression(C=1e10, tol=1e-13),
    "margin": halfspaces.MarginPerceptron(max_iter=10**9),
    "dgt": halfspaces.DGTClassifier(margin=0.001, max_steps=10**9),
    "ckmy": halfspaces.CKMYClassifier(margin=0.001, max_steps=10**9),
    "ddk": halfspaces.DDKClassifier(margin=0.001, max_steps=10**9),
    "averaged": halfspaces.AveragedPerceptron(passes=10**6),
    "second order": halfspaces.SecondOrderPerceptron(passes=10**6),
    "kernel": halfspaces.KernelPerceptron(passes=10**6),
    "forster": halfspaces.ForsterTransform(tol=1e-10),
    "nystroem": halfspaces.NystroemFeatures(landmarks=400),
}


def sample(rows: int, columns: int = 50) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(rows, columns))
    return X, (X[:, 0] + rng.normal(size=rows) > 0).astype(int)


def waited(work: Any, after: float) -> float | None:
    """Return the time from a signal, sent after `after` seconds, to the exception; `None` if the work ended earlier."""
    sent = []

    def send() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    ended = False
    with pytest.raises(KeyboardInterrupt):
        work()
        ended = True
        time.sleep(after + 30)
        pytest.fail("the signal has no effect")
    return None if ended else time.perf_counter() - sent[0]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", LONG)
def test_a_fit_ends_soon(name: str, jobs: int) -> None:
    X, y = sample(60_000)
    estimator = LONG[name]
    if "n_jobs" in estimator.get_params():
        estimator.set_params(n_jobs=jobs)
    delay = 0.15
    work = (lambda: estimator.fit(X)) if name in ("forster", "nystroem") else (lambda: estimator.fit(X, y))
    time_taken = waited(work, delay)
    # Some fits end by themselves on a fast machine.
    assert time_taken is not None or name in ("auto", "massart", "logistic", "forster", "nystroem")
    assert time_taken is None or time_taken < SOON
    # The process is still usable.
    assert halfspaces.LinearSVM().fit([[0.0], [1.0]], [0, 1]).predict([[2.0]]).tolist() == [1]


@pytest.mark.parametrize(
    "estimator",
    [
        halfspaces.MarginPerceptron(max_iter=10**12),
        halfspaces.PerspectronClassifier(passes=10**9, noise_rate=0.2, margin=0.01),
        halfspaces.AveragedPerceptron(passes=10**9),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_long_fit_to_few_rows_ends_soon(estimator: Any) -> None:
    X, _ = sample(200, 3)
    y = np.random.default_rng(1).integers(0, 2, size=200)
    time_taken = waited(lambda: estimator.fit(X, y), 0.3)
    assert time_taken is None or time_taken < SOON


def test_an_interrupted_partial_fit_keeps_its_rows() -> None:
    X, y = sample(400_000)
    model = halfspaces.SecondOrderPerceptron().partial_fit(X[:10], y[:10], classes=[0, 1])
    waited(lambda: model.partial_fit(X, y), 0.1)
    assert 10 <= model._native.rounds < 400_010
    model.partial_fit(X[:10], y[:10])


def test_an_interrupted_first_part_is_a_model() -> None:
    X, y = sample(400_000)
    model = halfspaces.SecondOrderPerceptron()
    assert waited(lambda: model.partial_fit(X, y, classes=[0, 1]), 0.2) is not None
    assert model.t_ == model._native.rounds < 400_000
    assert np.allclose(model.decision_function(X[:9]), X[:9] @ model.coef_[0] + model.intercept_)
    assert waited(lambda: model.set_params(passes=10**6).fit(X, y), 0.5) is not None
    assert not hasattr(model, "classes_")


def test_other_threads_run_during_a_fit() -> None:
    X, y = sample(30_000)
    turns = 0
    done = threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    halfspaces.PerspectronClassifier(passes=20).fit(X, y)
    done.set()
    thread.join()
    assert turns > 20


def test_a_fork_after_use_can_fit() -> None:
    program = """
        import os, sys, numpy as np, halfspaces
        X = np.random.default_rng(0).normal(size=(5000, 8)); y = X[:, 0] > 0
        fit = lambda: halfspaces.HalfspaceClassifier(n_jobs=2).fit(X, y).decision_function(X)
        here = fit()
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(fit(), here) else 3)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)], timeout=120)
    assert done.returncode == 0
