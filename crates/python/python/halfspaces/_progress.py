"""Reports of the progress of long computations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from halfspaces import _core


@contextmanager
def show_progress(report: Callable[[int, int], Any] | None = None) -> Iterator[None]:
    """Report the progress of fits and audits to a function, or show it as a tqdm progress bar.

    Inside a ``with`` block, each computation that this thread starts reports how many of its steps are finished. A step
    is a part of the work, such as a fold of an audit or a row from which a learner learns. Not all steps take the same
    time. These computations report their progress unless they end at once: `audit`, the default classifier (also in
    `Pipeline.fit`), the online learners, and one-vs-rest classifiers. Other computations, such as a fit of `LinearSVM`
    to two classes, report nothing.

    Parameters
    ----------
    report : callable, default=None
        A function that takes the number of finished steps and the total number of steps. It is called at most every 20
        ms by the thread that started the computation. If it raises an exception, the computation stops and raises this
        exception. ``None`` shows a tqdm progress bar.

    Raises
    ------
    TypeError
        If `report` is not a function.
    ImportError
        If tqdm is needed and not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces import AveragedPerceptron, show_progress
    >>> X = np.random.default_rng(0).normal(size=(20_000, 20))
    >>> seen = []
    >>> with show_progress(lambda done, total: seen.append((done, total))):
    ...     model = AveragedPerceptron(passes=300).fit(X, X[:, 0] > 0.0)
    >>> seen[-1]
    (6000000, 6000000)
    """
    if report is not None and not callable(report):
        raise TypeError(f"report={report!r}: must be a function of two counts")
    bar = _Bar() if report is None else None
    before = _core.set_progress(bar.update if bar is not None else report)
    try:
        yield
    finally:
        _core.set_progress(before)
        if bar is not None:
            bar.close()


class _Bar:
    """A tqdm progress bar that starts again if the number of steps changes."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError("a progress bar needs tqdm: pip install tqdm") from None
        self._new = tqdm
        self._bar: Any = None

    def update(self, done: int, total: int) -> None:
        if self._bar is None or self._bar.total != total or done < self._bar.n:
            self.close()
            self._bar = self._new(total=total, unit="step", unit_scale=True)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


__all__ = ["show_progress"]
