"""Labelling sessions: a model predicts the class of one row at a time, and a person confirms or corrects it."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _get_feature_names, check_array

from halfspaces import _core
from halfspaces._base import Floats, check_count, check_flag, check_number, rows, seed_of, threads_of, warn, with_advice

P = ParamSpec("P")
T = TypeVar("T")


class Question(NamedTuple):
    """A question of a labelling session.

    Parameters
    ----------
    row : int
        The row in question.
    predicted : object
        The class that the model predicts.
    probability : float or None
        The probability of the predicted class. It is ``None`` until every class has a label, because the prediction is
        then a guess.

    Examples
    --------
    >>> import halfspaces
    >>> labeler = halfspaces.Labeler([[0.0], [1.0], [5.0]], classes=["low", "high"])
    >>> question = labeler.ask()
    >>> question.predicted, question.probability
    ('high', None)
    """

    row: int
    predicted: Any
    probability: float | None


class Progress(NamedTuple):
    """Counts of the rows of a labelling session.

    Parameters
    ----------
    rows : int
        All rows.
    labelled : int
        Rows with a label.
    asked : int
        Rows whose label was given in answer to a question.
    skipped : int
        Rows that were skipped and have no label.
    uncertain : int
        Rows whose class the person could not tell.
    corrections : int
        Answers that differ from the prediction.

    Examples
    --------
    >>> import halfspaces
    >>> labeler = halfspaces.Labeler([[0.0], [1.0], [5.0]], classes=["low", "high"])
    >>> labeler.tell(0, "low")
    >>> labeler.progress
    Progress(rows=3, labelled=1, asked=1, skipped=0, uncertain=0, corrections=1)
    """

    rows: int
    labelled: int
    asked: int
    skipped: int
    uncertain: int
    corrections: int


class Outlook(NamedTuple):
    """An estimate of the corrections that are still to come until every row has a label.

    Parameters
    ----------
    expected : float
        The expected number of corrections.
    low : float
        A lower limit: in nine of ten cases, there are at least this many corrections.
    high : float
        An upper limit: in nineteen of twenty cases, there are at most this many corrections.
    open : int
        The number of rows without a label.

    Examples
    --------
    >>> import halfspaces
    >>> labeler = halfspaces.Labeler([[0.0], [1.0], [5.0]], classes=["low", "high"])
    >>> labeler.outlook.open
    3
    """

    expected: float
    low: float
    high: float
    open: int


class Doubt(NamedTuple):
    """An answer that disagrees with the others.

    Parameters
    ----------
    row : int
        The row.
    label : object
        Its label.
    predicted : object
        The class that the model predicts from all other labels.
    probability : float
        The probability of the label, estimated from all other labels.

    Examples
    --------
    >>> import halfspaces
    >>> X = [[float(i)] for i in range(10)] + [[float(i)] for i in range(40, 50)]
    >>> labeler = halfspaces.Labeler(X, classes=["low", "high"])
    >>> labeler.tell(range(20), ["low"] * 4 + ["high"] + ["low"] * 5 + ["high"] * 10)
    >>> doubt = labeler.doubts(5)[0]
    >>> doubt.row, doubt.label, doubt.predicted
    (4, 'high', 'low')
    """

    row: int
    label: Any
    predicted: Any
    probability: float


def _one_at_a_time(method: Callable[Concatenate[Labeler, P], T]) -> Callable[Concatenate[Labeler, P], T]:
    """Make a call wait while another thread is using the session."""

    @functools.wraps(method)
    def waiting(self: Labeler, /, *args: P.args, **options: P.kwargs) -> T:
        with self._lock:
            return method(self, *args, **options)

    return waiting


class Labeler:
    """A labelling session that needs few corrections to label all rows of a matrix.

    The session asks about the row of whose class it is most certain. The person confirms or corrects the prediction,
    and the model learns from each answer. There is no guarantee on the number of corrections; `outlook` estimates how
    many are still to come. The surest rows come first, so after several hundred answers some classes may still have no
    label, and `predict` is wrong for their rows. Continue until all rows are labelled. To label a sample for fitting a
    classifier, `tell` the labels of random rows. The rows, the answers in their order and `random_state` determine the
    session bit for bit. Threads may share a `Labeler`; a call waits until the call of another thread has returned.

    With a session file, each answer is saved to disk before the method returns. The command uses the same files:
    ``halfspaces label`` continues a session on an array that was saved with `numpy.save` or `scipy.sparse.save_npz`, or
    on a data frame that was saved as CSV, and a `Labeler` continues a session of the command. An answer belongs to the
    content of its row (or to its id), so rows may be added, removed and sorted between two runs.

    Parameters
    ----------
    X : array-like, CSR matrix or data frame of shape (n_rows, n_features)
        The rows. Missing values are NaN. As in the command, constant columns have no effect, and columns of a data
        frame that identify rows are ignored; `notes_` names them.
    classes : iterable of hashable or None, default=None
        The classes, at least two. In the session file, each has the name ``str(value)``. ``None`` takes the names from
        the session file.
    session : path-like or None, default=None
        The session file, which is created or continued. ``None`` keeps the answers in memory only.
    ids : array-like of shape (n_rows,) or None, default=None
        Unique ids of the rows, which identify the rows of earlier answers. By default rows are identified by their
        content.
    order : {"recommended", "rare"}, default="recommended"
        Whether to ask about the surest row first, or about the likeliest examples of the class with the fewest labels
        until each class has 20.
    seek : object or None, default=None
        A class to look for: the session always asks about the row that is most likely to belong to this class,
        whatever `order` is.
    keep_found : bool, default=False
        Whether to continue even if labelled rows are missing from `X`. Their answers stay in the session file.
    random_state : int, RandomState or None, default=None
        The seed of the model of a new session; a resumed session keeps its own seed. ``None`` is the same as 0.
    n_jobs : int or None, default=None
        The number of threads. No result depends on it.

    Attributes
    ----------
    classes_ : list
        The classes.
    seed_ : int
        The seed of the session.
    notes_ : list of str
        Notes about ignored columns and about rows that changed since the last run.

    See Also
    --------
    LabelWidget : The session as a widget of a notebook.
    label_page : The labelling page of the command.

    Examples
    --------
    >>> import halfspaces
    >>> X = [[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1], [-0.8, 0.4]]
    >>> labeler = halfspaces.Labeler(X, classes=["left", "right"])
    >>> while (question := labeler.ask()) is not None:
    ...     labeler.tell("right" if X[question.row][0] > 0 else "left")
    >>> labeler.predict().tolist()
    ['right', 'right', 'left', 'left']
    >>> labeler.progress.corrections <= 2
    True
    """

    # The row of the question that the caller has seen.
    _shown: int | None = None

    def __init__(
        self,
        X: Any,
        classes: Iterable[Hashable] | None = None,
        *,
        session: str | os.PathLike[str] | None = None,
        ids: Any = None,
        order: str = "recommended",
        seek: Hashable = None,
        keep_found: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        if order not in ("recommended", "rare"):
            raise ValueError(f'order={order!r}: must be "recommended" or "rare"')
        named = None if classes is None else _checked_classes(classes)
        columns = _get_feature_names(X)
        try:
            checked = check_array(
                X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite="allow-nan", input_name="X"
            )
        except ValueError as error:
            raise with_advice(error, "label the file of the table with label_page") from error
        if hasattr(checked, "indptr") and not np.isfinite(checked.data).all():
            raise ValueError("X contains NaN or infinity; a sparse matrix must have finite entries")
        names = None if named is None else [str(value) for value in named]
        options = _Options(
            classes=names,
            names=None if columns is None else [str(name) for name in columns],
            ids=None if ids is None else _checked_ids(ids, checked.shape[0]),
            seed=seed_of(random_state),
            path=None if session is None else os.fspath(session),
            rare=order == "rare",
            seek=None,
            keep_found=check_flag("keep_found", keep_found),
        )
        if seek is not None:
            known = named
            if known is None:
                if session is None:
                    raise ValueError("classes=None: a new session needs the names of at least two classes")
                known = list(_core.session_labels(os.fspath(session))[0])
            options.seek = _number_of(seek, known, "seek")
        # The lock is reentrant, because the methods call each other.
        self._lock = threading.RLock()
        self._native = _core.Session(rows(checked), options, threads_of(n_jobs))
        self.classes_: list[Any] = list(self._native.classes) if named is None else named
        self.seed_: int = self._native.seed
        self.notes_: list[str] = self._native.notes

    @_one_at_a_time
    def ask(self) -> Question | None:
        """Return the open question, which stays the same until it is answered or skipped.

        Returns
        -------
        Question or None
            ``None`` if every row has a label or was left as uncertain.
        """
        return self._showing(self._native.question())

    @_one_at_a_time
    def tell(self, *answer: Any) -> None:
        """Answer the open question, or label other rows.

        ``tell(label)`` answers the open question. ``tell(row, label)`` labels a row: if it is the row in question, this
        answers the question; if the row already has a label, this changes it; otherwise the label counts as known, not
        as an answer or a correction. ``tell(rows, labels)`` does this for many rows at once, except that a label for the
        row in question counts as known, too. `rows` are row numbers, or a boolean mask with one value for each row of
        `X`.

        Parameters
        ----------
        *answer : label, or row and label, or rows and labels
            The answer.

        Raises
        ------
        ValueError
            If there is no such class or row, if there is no open question, or if `ask` has not returned it yet.
        OSError
            If the answer could not be saved.
        """
        if len(answer) == 1:
            number = _number_of(answer[0], self.classes_, "label")
            self._native.answer(self._open("tell(label)").row, number)
            return
        if len(answer) != 2:
            raise TypeError(f"tell takes a label, or a row and a label, not {len(answer)} arguments")
        given, labels = answer
        if not isinstance(given, (int, np.integer)) or isinstance(given, bool):
            self._tell_many(given, labels)
            return
        row, number = self._checked_row(given), _number_of(labels, self.classes_, "label")
        question = self._question(self._native.question())
        if question is not None and question.row == row:
            self._native.answer(row, number)
        else:
            self._native.tell([(row, number)])

    @_one_at_a_time
    def confirm(self) -> None:
        """Answer the open question with the predicted class."""
        question = self._open("confirm()")
        self._native.answer(question.row, self.classes_.index(question.predicted))

    @_one_at_a_time
    def skip(self) -> None:
        """Postpone the open question until all other rows have been asked about."""
        self._native.skip(self._open("skip()").row)

    @_one_at_a_time
    def uncertain(self) -> None:
        """Leave the row in question without a label if its class is unclear. The row is not asked about again."""
        self._native.uncertain(self._open("uncertain()").row)

    @_one_at_a_time
    def undo(self) -> Question | None:
        """Undo the last answer. Skipping a row and leaving it as uncertain count as answers.

        Returns
        -------
        Question or None
            The open question: usually the one whose answer was undone.

        Raises
        ------
        ValueError
            If there is nothing to undo. Known labels are not undone.
        """
        return self._showing(self._native.undo())

    @_one_at_a_time
    def predict(self) -> npt.NDArray[Any]:
        """Return the label of each row, or the predicted class of a row without one.

        Returns
        -------
        ndarray of shape (n_rows,)
            Values of `classes_`.

        Warns
        -----
        DataWarning
            If no row has been labelled with some class yet, because the predictions for rows of this class are then
            wrong.
        """
        numbers, _ = self._native.predictions()
        given = {label for _, label in self._native.labels()}
        unlabelled = [value for number, value in enumerate(self.classes_) if number not in given]
        if unlabelled:
            shown = ", ".join(map(repr, unlabelled[:10])) + (", ..." if len(unlabelled) > 10 else "")
            warn([f"predict: no row has been labelled {shown} yet, so the predictions for such rows are wrong"])
        labels: npt.NDArray[Any] = _array_of(self.classes_)[numbers]
        return labels

    @_one_at_a_time
    def predict_probability(self) -> Floats:
        """Return the probabilities of the classes that `predict` returns.

        Returns
        -------
        ndarray of shape (n_rows,)
            1 for a row with a label.
        """
        probabilities: Floats = self._native.predictions()[1]
        return probabilities

    @_one_at_a_time
    def doubts(self, n: int = 10) -> list[Doubt]:
        """Return the labels that disagree most with the others, the worst first.

        Parameters
        ----------
        n : int, default=10
            The maximum number of labels. The list is empty as long as there are few labels.

        Returns
        -------
        list of Doubt
        """
        found = self._native.doubts(check_count("n", n))
        return [Doubt(row, self.classes_[label], self.classes_[other], p) for row, label, other, p in found]

    @_one_at_a_time
    def can_stop(self, share: float = 0.05) -> bool:
        """Return whether `outlook` expects corrections for at most this share of all rows.

        The upper limit of `outlook` is compared with the share. `outlook` estimates the corrections to come if
        labelling continues and the model keeps learning. If you stop, more predictions than this may be wrong. On a
        labelled table, ``halfspaces label --simulate`` says how many. The estimate has no guarantee. The method returns
        False as long as a class has no label, and True if every row has one.

        Parameters
        ----------
        share : float, default=0.05
            The share of all rows, from 0 to 1.

        Returns
        -------
        bool
        """
        if not 0 <= check_number("share", share) <= 1:
            raise ValueError(f"share={share}: must be from 0 to 1")
        return bool(self._native.can_stop(float(share)))

    @_one_at_a_time
    def close(self) -> None:
        """End the session, so that other programs can use its file. No answer is lost without this call."""
        self._native.close()

    @property
    @_one_at_a_time
    def labels_(self) -> dict[int, Any]:
        """The labels so far: a dict that maps rows to classes, in the order in which rows were first labelled."""
        return {row: self.classes_[label] for row, label in self._native.labels()}

    @property
    @_one_at_a_time
    def skipped_(self) -> list[int]:
        """The rows that were skipped and have no label."""
        return list(self._native.aside()[0])

    @property
    @_one_at_a_time
    def uncertain_(self) -> list[int]:
        """The rows whose class the person could not tell."""
        return list(self._native.aside()[1])

    @property
    @_one_at_a_time
    def progress(self) -> Progress:
        """The counts of rows and corrections."""
        return Progress(*self._native.progress())

    @property
    @_one_at_a_time
    def outlook(self) -> Outlook:
        """An estimate of the corrections to come."""
        return Outlook(*self._native.outlook())

    @property
    def expected_corrections(self) -> float:
        """The expected number of corrections to come."""
        return self.outlook.expected

    @property
    @_one_at_a_time
    def capacity(self) -> int | None:
        """The largest number of labels from which the model learns; ``None`` if there is no limit.

        Later labels are stored, but the model does not learn from them.
        """
        capacity: int | None = self._native.capacity
        return capacity

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            progress = self.progress
        except ValueError:
            return "<Labeler: closed>"
        return f"<Labeler: {progress.labelled} of {progress.rows} rows labelled, {progress.corrections} corrections>"

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a Labeler cannot be copied or pickled; pass session=, and make a Labeler with the same file")

    def _question(self, found: tuple[int, int, float | None] | None) -> Question | None:
        return None if found is None else Question(found[0], self.classes_[found[1]], found[2])

    def _showing(self, native: Any) -> Question | None:
        """Return the open question to the caller, who can answer it from now on."""
        question = self._question(native)
        self._shown = None if question is None else question.row
        return question

    @_one_at_a_time
    def _peek(self) -> Question | None:
        """Return the open question to a widget. The caller of the methods has not seen it."""
        return self._question(self._native.question())

    @_one_at_a_time
    def _set_aside(self, row: int, *, uncertain: bool) -> None:
        """Skip the open question, or leave it as uncertain, for a widget. It must be about `row`."""
        (self._native.uncertain if uncertain else self._native.skip)(row)

    @_one_at_a_time
    def _undo(self) -> None:
        """Undo the last answer for a widget."""
        self._native.undo()

    def _open(self, action: str) -> Question:
        question = self._question(self._native.question())
        if question is None:
            raise ValueError(f"{action}: every row has an answer; tell(row, label) changes one")
        if question.row != self._shown:
            raise ValueError(f"{action}: the open question is about row {question.row}; call ask() to see it first")
        return question

    def _checked_row(self, row: Any) -> int:
        count = self.progress.rows
        if not 0 <= row < count:
            raise ValueError(f"row={row}: there are {count} rows, counted from 0")
        return int(row)

    def _tell_many(self, given: Any, labels: Any) -> None:
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise TypeError(f"row={given!r}: must be an integer, or rows and labels must be of equal length")
        if isinstance(given, Mapping) or not isinstance(given, Iterable):
            raise TypeError(f"row={given!r}: must be an integer or a list of integers")
        if isinstance(given, (set, frozenset)) or isinstance(labels, (set, frozenset)):
            raise TypeError("rows and labels: a set has no order; pass lists of equal length")
        numbers = [_number_of(_plain(label), self.classes_, "label") for label in labels]
        given = _rows_of_mask(given, self.progress.rows)
        chosen = [self._checked_row(check_count("row", row, least=0)) for row in given]
        if len(chosen) != len(numbers):
            raise ValueError(f"{len(chosen)} rows and {len(numbers)} labels; each row needs one label")
        if len(set(chosen)) < len(chosen):
            raise ValueError("rows: a row is named twice")
        self._native.tell(list(zip(chosen, numbers, strict=True)))


class _Options:
    """The options of a native session."""

    def __init__(
        self,
        *,
        classes: list[str] | None,
        names: list[str] | None,
        ids: list[str] | None,
        seed: int,
        path: str | None,
        rare: bool,
        seek: int | None,
        keep_found: bool,
    ) -> None:
        self.classes, self.names, self.ids = classes, names, ids
        self.seed, self.path, self.rare, self.seek, self.keep_found = seed, path, rare, seek, keep_found


def _rows_of_mask(given: Any, rows: int) -> Any:
    """Return the row numbers of a boolean mask, or any other argument unchanged."""
    mask = given if hasattr(given, "dtype") else list(given)
    if len(mask) == 0 or not all(isinstance(value, (bool, np.bool_)) for value in mask):
        return mask
    if len(mask) != rows:
        raise ValueError(f"rows: the mask has {len(mask)} values, but there are {rows} rows")
    return np.flatnonzero(np.asarray(mask, dtype=bool)).tolist()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _checked_classes(classes: Iterable[Hashable]) -> list[Any]:
    if isinstance(classes, str):
        raise TypeError(f"classes={classes!r}: must be a list of classes")
    named = [_plain(value) for value in classes]
    if len(named) < 2:
        raise ValueError(f"classes={named!r}: at least two classes are needed")
    texts = [str(value) for value in named]
    for place, (value, text) in enumerate(zip(named, texts, strict=True)):
        if value != value:
            raise ValueError(f"classes={named!r}: {value!r} does not equal itself, so it cannot be a class")
        if value in named[:place]:
            raise ValueError(f"classes={named!r}: {value!r} is named twice; it equals {named[named.index(value)]!r}")
        if not text.strip():
            raise ValueError(f"classes={named!r}: the name of a class is empty")
        if text in texts[:place]:
            raise ValueError(f"classes={named!r}: {text!r} is named twice")
    return named


def _checked_ids(ids: Any, count: int) -> list[str]:
    texts = [str(value) for value in ids]
    if len(texts) != count:
        raise ValueError(f"ids: {len(texts)} ids for {count} rows; each row needs one")
    if len(set(texts)) < count:
        repeated = next(text for place, text in enumerate(texts) if text in texts[:place])
        raise ValueError(f"ids: {repeated!r} occurs twice; ids must be unique")
    return texts


def _number_of(label: Any, classes: list[Any], argument: str) -> int:
    label = _plain(label)
    for number, value in enumerate(classes):
        if value == label and isinstance(value, str) == isinstance(label, str):
            return number
    shown = ", ".join(repr(value) for value in classes[:20]) + (", ..." if len(classes) > 20 else "")
    raise ValueError(f"{argument}={label!r}: there is no such class; the classes are {shown}")


def _array_of(classes: list[Any]) -> npt.NDArray[Any]:
    """Return the classes as an array of their common type, or of objects if they have none."""
    if len({type(value) for value in classes}) == 1 and isinstance(classes[0], (str, int, float)):
        # NumPy drops NUL characters at the end of strings, and integers may be too large.
        typed = np.array(classes)
        if typed.tolist() == classes:
            return typed
    array = np.empty(len(classes), dtype=object)
    array[:] = classes
    return array


__all__ = ["Doubt", "Labeler", "Outlook", "Progress", "Question"]
