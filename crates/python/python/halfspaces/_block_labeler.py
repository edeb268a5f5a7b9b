"""Labelling sessions on rows that several processes hold."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from halfspaces import _core
from halfspaces._base import Floats, check_count
from halfspaces._labeler import Progress, _array_of, _checked_classes, _number_of

if TYPE_CHECKING:
    from halfspaces.blocks import Source

L = TypeVar("L", bound="Labeler")


class Question(NamedTuple):
    """A question of a labelling session.

    Parameters
    ----------
    row : int
        The row in question, counted from 0.
    predicted : object
        The class that the learner predicts.
    margin : float
        The decision value ``x @ w / norm(x)``. The larger its absolute value, the surer is the prediction.
    values : ndarray of shape (n_columns,)
        The values of the row.
    """

    row: int
    predicted: Any
    margin: float
    values: Floats


class Simulation(NamedTuple):
    """The result of a simulated labelling session.

    Parameters
    ----------
    corrections : int
        The number of wrong predictions.
    rows : ndarray of int
        The rows that were predicted wrongly, in the order of the questions.
    coef : ndarray of shape (n_columns,)
        The weights at the end, of norm 1.
    scans : int
        The number of jobs, each of which read all rows once.
    """

    corrections: int
    rows: npt.NDArray[np.int64]
    coef: Floats
    scans: int


class Labeler:
    """A labelling session of the greedy learner on rows that several processes hold, for two classes.

    The learner has the weights of a halfspace through the origin. It asks about the row with the largest
    ``abs(x @ w) / norm(x)`` among the rows without a label. If its prediction is wrong, it removes the component of the
    weights along this row. The questions, the predictions and the weights do not depend on which process holds which
    rows, not even in the last bit.

    A job finds the surest `batch` rows. They are the next questions, in this order, until an answer is a correction.
    Hence a session needs one job for each correction, and one for each `batch` answers without a correction.

    Parameters
    ----------
    source : Source
        The rows. Labels of the source are not used.
    classes : iterable of hashable
        The two classes. The second one has positive decision values.
    batch : int, default=100
        The largest number of questions from one job. Each job returns this number of rows, with all of their columns.

    Attributes
    ----------
    classes_ : list
        The classes.

    See Also
    --------
    halfspaces.Labeler : A session on rows in memory, with several classes, session files and estimates.

    Notes
    -----
    The surest rows come first, so `predict` may be wrong for many of the other rows until the session has reached them.
    To label a sample for fitting a classifier, label random rows. There is no guarantee on the number of corrections.
    On uniformly distributed directions in d dimensions, about 2 d to 2.5 d corrections were measured. To add an
    intercept, append a column of ones. Source: the update is that of DKTZ23, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces.blocks import Labeler, MemorySource
    >>> X = np.array([[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1], [-0.8, 0.4]])
    >>> labeler = Labeler(MemorySource(X), classes=["left", "right"])
    >>> while (question := labeler.ask()) is not None:
    ...     labeler.tell("right" if question.values[0] > 0 else "left")
    >>> labeler.predict(X).tolist()
    ['right', 'right', 'left', 'left']
    >>> labeler.progress.corrections
    0
    """

    def __init__(self, source: Source, classes: Iterable[Hashable], *, batch: int = 100) -> None:
        self.classes_: list[Any] = _checked_classes(classes)
        if len(self.classes_) != 2:
            raise ValueError(f"classes={self.classes_!r}: the learner decides between two classes")
        self._n_rows, n_columns = source.shape
        self._native = _core.BlocksLabeler(source.run, self._n_rows, n_columns, check_count("batch", batch))
        self._labels: dict[int, Any] = {}

    def ask(self) -> Question | None:
        """Return the open question, which stays the same until it is answered. A new question may need a job.

        Returns
        -------
        Question or None
            ``None`` if every row has a label.
        """
        found = self._native.ask()
        return None if found is None else Question(found[0], self.classes_[int(found[1])], found[2], found[3])

    def tell(self, label: Any) -> None:
        """Answer the open question.

        Parameters
        ----------
        label : object
            The class of the row in question.

        Raises
        ------
        ValueError
            If there is no such class, or if `ask` has not returned a question since the last answer.
        """
        number = _number_of(label, self.classes_, "label")
        row, _ = self._native.answer(number == 1)
        self._labels[row] = self.classes_[number]

    @property
    def labels(self) -> dict[int, Any]:
        """The labels of the rows, in the order of the answers."""
        return dict(self._labels)

    @property
    def progress(self) -> Progress:
        """The counts of rows and corrections, as of `halfspaces.Labeler`."""
        asked = self._native.labelled
        return Progress(self._n_rows, asked, asked, 0, 0, self._native.corrections)

    @property
    def coef_(self) -> Floats:
        """The weights, of norm 1; zero before the first answer."""
        return self._native.weights

    @property
    def n_scans_(self) -> int:
        """The number of jobs, each of which read all rows once."""
        return self._native.scans

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class that the weights predict for each row of an array.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Values of `classes_`.
        """
        return _predicted(X, self.coef_, _array_of(self.classes_))

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a Labeler cannot be copied or pickled; keep its labels and coef_")


def _predicted(X: Any, coef: Floats, classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = classes[(np.asarray(X, dtype=np.float64) @ coef >= 0).astype(int)]
    return found


def _answered(labeler: L, oracle: Callable[[Question], Any], budget: int | None) -> L:
    """Answer questions until the budget is spent or all rows have labels."""
    most = None if budget is None else check_count("budget", budget, 0)
    while (most is None or labeler.progress.asked < most) and (question := labeler.ask()) is not None:
        labeler.tell(oracle(question))
    return labeler


def label(
    source: Source,
    oracle: Callable[[Question], Any],
    classes: Iterable[Hashable],
    *,
    batch: int = 100,
    budget: int | None = None,
) -> Labeler:
    """Label rows: the learner predicts, and a function confirms or corrects the prediction.

    Parameters
    ----------
    source : Source
        The rows. Labels of the source are not used.
    oracle : callable
        A function that takes a `Question`, which contains the prediction, and returns the class of the row.
    classes : iterable of hashable
        The two classes.
    batch : int, default=100
        The largest number of questions from one job.
    budget : int or None, default=None
        The largest number of questions. ``None`` asks about all rows.

    Returns
    -------
    Labeler
        The session, with the labels, the counts and the weights. ``progress.corrections`` is the number of answers that
        differ from the prediction. The session can go on.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces.blocks import MemorySource, label
    >>> X = np.random.default_rng(0).normal(size=(5000, 3))
    >>> session = label(MemorySource(X), lambda question: bool(question.values[0] > 0), [False, True], budget=200)
    >>> session.progress.asked, len(session.labels)
    (200, 200)
    >>> session.progress.corrections < 20
    True
    """
    return _answered(Labeler(source, classes, batch=batch), oracle, budget)


def simulate_labelling(source: Source) -> Simulation:
    """Simulate the session of a `Labeler` on rows with known labels, until all rows have labels.

    The result is that of `label` with an oracle that knows the labels, but there is only one job for each correction.
    A job finds the next wrong prediction directly.

    Parameters
    ----------
    source : Source
        The rows with their labels, of two classes.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces.blocks import MemorySource, simulate_labelling
    >>> X = np.random.default_rng(0).normal(size=(5000, 3))
    >>> simulation = simulate_labelling(MemorySource(X, X[:, 0] > 0))
    >>> simulation.corrections < 20 and simulation.scans <= simulation.corrections + 2
    True
    """
    classes = source.classes()
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; the learner decides between two")
    n_rows, n_columns = source.shape

    def run(job: bytes) -> bytes:
        return source.run(job, classes[1])

    report = _core.simulate_labelling_blocks(run, n_rows, n_columns)
    rows = np.array(report["corrected"], dtype=np.int64)
    return Simulation(len(rows), rows, report["weights"], report["scans"])


__all__ = ["Labeler", "Question", "Simulation", "label", "simulate_labelling"]
