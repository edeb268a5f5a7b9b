"""Label audits: a ranking of labels that are probably wrong, and a bound on their number."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_X_y

from halfspaces import _core
from halfspaces._base import (
    Floats,
    check_count,
    check_labels,
    check_number,
    check_unmasked,
    numbered,
    rows,
    threads_of,
    typed_labels,
    warn,
    with_advice,
)
from halfspaces._frames import Reading, classes_of, reading_of, source_of, spelled, spelled_errors, table_of
from halfspaces._pipeline import check_learner, columns_of


@dataclass(frozen=True)
class AuditResult:
    """The result of `audit`. The arrays are ordered by rank: the most suspicious row first.

    Attributes
    ----------
    row : ndarray of int
        The rows, counted from 0.
    label : ndarray
        Their labels.
    suggested : ndarray
        The labels that the classifier predicts; equal to `label` if the classifier agrees with it.
    score : ndarray of float
        How strongly a classifier that was fitted without the row supports the label; negative if this classifier
        predicts another class. For two classes, it is the decision value divided by the mean absolute decision value.
        For more classes, it is the probability of the label minus that of the most probable other class for the learner
        "auto", and the value of the label minus the largest value of another class for the other learners. The ranking
        also takes into account that the labels of one class may be wrong more often, so it can differ from the order by
        score.
    likely_wrong : int
        The number of labels that are likely wrong, which are the first rows of the ranking. The number is a heuristic.
    at_most : int
        An upper bound on the number of wrong labels. It fails with probability at most `failure` if each label is wrong
        independently of the others, with probability at most one half.
    failure : float
        The probability with which the bound may fail.
    disagreements : int
        The number of labels that differ from the prediction.
    baseline : int
        The number of labels that differ from the most frequent label. If the classifier disagrees with at least as many
        labels, the ranking says little about which labels are wrong, and `likely_wrong` is 0.
    contradicts : ndarray of int or None
        The row with a different label and nearly the same text, or -1 if there is no such row. In a table without texts,
        the row with the same values and a different label, or `None` if there are no such rows.
    notes : list of str
        Decisions about the table that could be wrong; each was also issued as a `DataWarning`.
    index : pandas.Index or None
        The index of the rows, if `X` is a pandas DataFrame. It is the index of `table` as well.
    rows : int or None
        The number of audited labels, if the arrays contain only the first rows of the ranking (`halfspaces.parts`).
    """

    row: npt.NDArray[np.int64]
    label: npt.NDArray[Any]
    suggested: npt.NDArray[Any]
    score: Floats
    likely_wrong: int
    at_most: int
    failure: float
    disagreements: int
    baseline: int
    contradicts: npt.NDArray[np.int64] | None = None
    notes: list[str] = field(default_factory=list)
    index: Any = None
    rows: int | None = None

    @property
    def table(self) -> Any:
        """The ranking as a pandas DataFrame, or a dict of arrays if pandas is not installed."""
        columns: dict[str, Any] = {
            "row": self.row,
            "label": self.label,
            "suggested": self.suggested,
            "score": self.score,
            "likely_wrong": np.arange(len(self.row)) < self.likely_wrong,
        }
        if self.contradicts is not None:
            columns["contradicts"] = self.contradicts
        table = table_of(columns)
        return table if self.index is None else table.set_axis(self.index)

    def summary(self) -> str:
        """Return the counts and the bound in words.

        Returns
        -------
        str
        """
        count = len(self.row) if self.rows is None else self.rows
        if self.disagreements >= self.baseline:
            likely = (
                f"the audit cannot tell which of them are wrong: the classifier disagrees with {self.disagreements}, and "
                f"always giving the most frequent label would disagree with {self.baseline}"
            )
            return f"{count} labels; {likely}\n{self._bound()}"
        likely = {0: "none of them likely wrong", 1: "1 of them likely wrong; inspect the top of the ranking"}.get(
            self.likely_wrong,
            f"{self.likely_wrong} of them likely wrong; inspect the first {self.likely_wrong} rows of the ranking",
        )
        if self.likely_wrong > 0 and 5 * self.disagreements >= count:
            likely += ", but do not accept a suggestion without a look: many of these labels may be right"
        return f"{count} labels, {likely}\n{self._bound()}"

    def _bound(self) -> str:
        labels = "1 label" if self.disagreements == 1 else f"{self.disagreements} labels"
        return (
            f"the classifier disagrees with {labels} (negative score); with {100 * (1 - self.failure):g} % confidence, at "
            f"most {self.at_most} labels are wrong, if labels are wrong independently of each other"
        )

    def __repr__(self) -> str:
        return f"<AuditResult: {self.summary()}>"


def audit(
    X: Any,
    y: Any = None,
    *,
    label: str | None = None,
    learner: str = "auto",
    folds: int = 5,
    failure: float = 0.05,
    drop: str | Iterable[str] = (),
    text: str | Iterable[str] = (),
    use: str | Iterable[str] = (),
    hash_bits: int | None = None,
    reading: Reading | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> AuditResult:
    """Find labels that are probably wrong, and bound the number of wrong labels.

    The label of each row is compared with the prediction of a classifier that was fitted to the other folds of a
    cross-validation. With `label`, this function does the same as the command ``halfspaces audit`` and gives the same
    ranking for the same file.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features), or a table
        The rows. With `label`, a table with that column: a path, DataFrame, Arrow table or dict of arrays, as in
        `Pipeline.fit`.
    y : array-like of shape (n_samples,), default=None
        The labels of an array `X`.
    label : str, default=None
        The column of labels of a table `X`.
    learner : {"auto", "massart", "perspectron", "perceptron", "logistic", "svm"}, default="auto"
        The learner of the classifier.
    folds : int, default=5
        The number of folds.
    failure : float, default=0.05
        The probability with which the bound may fail, above 0 and below 1.
    drop, text, use, hash_bits, reading
        For a table: how its columns are used, as in `Pipeline.fit`.
    seed : int, default=0
        The seed for the folds and for the learner.
    n_jobs : int, default=None
        The number of threads; the result does not depend on it. ``None`` means 1, and -1 all cores.

    Returns
    -------
    AuditResult

    Raises
    ------
    ValueError
        If both or neither of `y` and `label` are given, there are fewer than two classes, a class is too small for the
        folds, or a parameter is out of range.

    Notes
    -----
    Guarantee: ``at_most`` is a guaranteed bound. The ranking and ``likely_wrong`` are heuristic.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces import audit
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> y[np.abs(X.sum(axis=1)).argmax()] ^= 1  # a wrong label
    >>> found = audit(X, y, learner="logistic")
    >>> bool(found.row[0] == np.abs(X.sum(axis=1)).argmax())
    True
    """
    if label is not None and not isinstance(label, str):
        raise TypeError(f"label={label!r}: must be the name of a column")
    if (y is None) == (label is None):
        raise ValueError("audit: pass the labels y of an array X, or the column of labels (label) of a table X")
    given: dict[str, Any] = {
        "learner": check_learner(learner),
        "folds": check_count("folds", folds, least=2),
        "failure": check_number("failure", failure),
        "seed": check_count("seed", seed, least=0),
    }
    pandas = sys.modules.get("pandas")
    index = X.index if pandas is not None and isinstance(X, pandas.DataFrame) else None
    if pandas is not None and index is not None and isinstance(y, pandas.Series) and not index.equals(y.index):
        if len(index) == len(y) and index.difference(y.index).empty:
            warn(["y: its index has the same values as that of X in another order; rows are matched by position"])
    jobs = threads_of(n_jobs)
    columns = columns_of(drop, text, use, hash_bits)
    if label is not None:
        table = {"label": label, "columns": columns, "reading": reading_of(reading)}
        source = source_of(X)
        with spelled_errors():
            found = _core.audit_table(source, table, given, jobs)
        found["notes"] = [spelled(note) for note in found["notes"]]
        warn(found["notes"])
        classes = classes_of(found["classes"], source, label)
        numbers = found["label"]
    else:
        if reading or any(columns.values()):
            raise ValueError("drop, text, use, hash_bits and reading: they are for tables; pass label, not y")
        check_unmasked(X=X, y=y)
        try:
            # The native module checks that all numbers are finite, and names the first one that is not.
            X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=False)
        except ValueError as error:
            raise with_advice(error, "audit it with label, the name of its column of labels") from error
        y = typed_labels(y)
        check_labels(y)
        classes, numbers = numbered(y)
        if len(classes) < 2:
            raise ValueError(f"y: all labels are {classes[0]!r}; an audit needs at least two classes")
        single = classes[np.bincount(numbers) == 1]
        if len(single):
            shown = ", ".join(map(repr, single[:5].tolist())) + (", ..." if len(single) > 5 else "")
            raise ValueError(
                f"y: every class needs at least 2 rows, but these have one: {shown}; add rows, join classes, or "
                f"remove their rows"
            )
        found = _core.audit_rows(rows(X), numbers, len(classes), given, jobs)
    row = found["row"]
    contradicts = found.get("contradicts")
    return AuditResult(
        row=row,
        label=classes[numbers[row]],
        suggested=classes[found["suggested"]],
        score=found["agreement"],
        likely_wrong=found["likely_wrong"],
        at_most=found["at_most"],
        failure=given["failure"],
        disagreements=found["disagreements"],
        baseline=found["baseline"],
        contradicts=None if contradicts is None else contradicts[row],
        notes=found.get("notes", []),
        index=None if index is None else index[row],
    )


__all__ = ["AuditResult", "audit"]
