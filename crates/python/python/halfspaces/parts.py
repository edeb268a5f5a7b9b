"""Fits pipelines to tables that several processes hold in parts, and audits their labels.

The columns (numbers, categories, dates, missing values) and the classes are determined from the first rows of the
table, by the rules of ``halfspaces fit --stream``. Then every part is converted to points in the process that holds it,
and a logistic regression is fitted to all points by the jobs of `halfspaces.blocks`. The result is bit-for-bit
identical for any division into parts and any number of processes.

`halfspaces.dask` uses this module for Dask dataframes. For another engine, write a `Table`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from halfspaces import _core
from halfspaces._audit import AuditResult
from halfspaces._base import Floats, check_count, check_number, native, warn
from halfspaces._frames import Reading, classes_of, reading_of, source_of, spelled, spelled_errors, text_of
from halfspaces._passes import together
from halfspaces._pipeline import Pipeline, columns_of
from halfspaces.blocks import merge
from halfspaces.blocks import partial as partial_of_blocks

FIRST_ROWS = 60_000
"""The default number of rows from which the columns and the classes are determined."""

FITS_AT_ONCE = 16
"""The number of halfspaces that are fitted in common passes over the rows."""

T = TypeVar("T")


class Table(Protocol):
    """The rows of a table, which are divided into parts that only functions sent to them can read.

    A part is a pandas DataFrame with at least one row.
    """

    @property
    def lengths(self) -> list[int]:
        """The number of rows of each part."""
        ...

    def head(self, count: int) -> Any:
        """Return the first rows of the table as one DataFrame."""
        ...

    def each(self, work: Callable[..., T], *shared: Any, columns: list[str] | None = None) -> list[T]:
        """Call ``work(part, first, *shared)`` for each part.

        Parameters
        ----------
        work : callable
            The function. ``first`` is the number of rows before the part.
        *shared : object
            Further arguments, the same for all parts.
        columns : list of str or None, default=None
            The columns that the function needs. ``None`` means all.

        Returns
        -------
        list
            The results, in the order of the parts.
        """
        ...

    def aligned(
        self, work: Callable[..., Floats], *shared: Any, counts: Sequence[int], width: int, columns: list[str]
    ) -> AlignedRows:
        """Return the rows of arrays, one for each part, for jobs of `halfspaces.blocks`.

        Parameters
        ----------
        work : callable
            ``work(part, first, *shared)`` returns the array of a part. It may be called for each pass over the rows.
        *shared : object
            Further arguments, the same for all parts.
        counts : sequence of int
            The number of rows of each array.
        width : int
            The number of columns of each array.
        columns : list of str
            The columns of the table that the function needs.

        Returns
        -------
        AlignedRows
        """
        ...


class AlignedRows(Protocol):
    """Rows of numbers, divided into arrays that begin at multiples of `halfspaces.blocks.BLOCK_ROWS`."""

    def run(self, work: Callable[..., list[bytes]], *shared: Any) -> list[bytes]:
        """Call ``work(rows, first, *shared)`` for each array, and join its results with `halfspaces.blocks.merge`.

        Parameters
        ----------
        work : callable
            The function. ``first`` is the number of rows before the array.
        *shared : object
            Further arguments, the same for all arrays.

        Returns
        -------
        list of bytes
            The joined results: the first results of all arrays, the second results of all arrays, and so on.
        """
        ...


def merged(results: Sequence[list[bytes]]) -> list[bytes]:
    """Join the results for several arrays of `AlignedRows`."""
    return [merge(of_job) for of_job in zip(*results, strict=True)]


class _MemoryRows:
    def __init__(self, rows: Floats) -> None:
        self._rows = rows

    def run(self, work: Callable[..., list[bytes]], *shared: Any) -> list[bytes]:
        return work(self._rows, 0, *shared)


class MemoryTable:
    """A table in the memory of this process, as a `Table`.

    Parameters
    ----------
    parts : iterable of pandas.DataFrame
        The parts of the table, with the same columns. Parts without rows are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from halfspaces.parts import MemoryTable
    >>> table = MemoryTable([pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [3]})])
    >>> table.each(lambda part, first: (first, len(part)))
    [(0, 2), (2, 1)]
    """

    def __init__(self, parts: Iterable[Any]) -> None:
        self._parts = [part for part in parts if len(part)]

    @property
    def lengths(self) -> list[int]:
        """The number of rows of each part."""
        return [len(part) for part in self._parts]

    def head(self, count: int) -> Any:
        """Return the first rows; see `Table.head`."""
        return joined_head(self._parts, count)

    def each(self, work: Callable[..., T], *shared: Any, columns: list[str] | None = None) -> list[T]:
        """Call a function for each part; see `Table.each`."""
        parts = [part if columns is None else part[columns] for part in self._parts]
        return [work(part, first, *shared) for part, first in zip(parts, firsts(self.lengths), strict=True)]

    def aligned(
        self, work: Callable[..., Floats], *shared: Any, counts: Sequence[int], width: int, columns: list[str]
    ) -> AlignedRows:
        """Return the rows of arrays; see `Table.aligned`."""
        return _MemoryRows(np.concatenate(self.each(work, *shared, columns=columns)))


def firsts(lengths: Sequence[int]) -> list[int]:
    """Return the number of rows before each part."""
    return [0, *itertools.accumulate(lengths)][:-1]


def joined_head(parts: Iterable[Any], count: int) -> Any:
    """Return the first rows of parts, of which no more than needed are read."""
    import pandas as pd

    found = []
    for part in parts:
        found.append(part.iloc[:count])
        count -= len(found[-1])
        if count == 0:
            break
    return pd.concat(found, ignore_index=True)


# The functions that run where a part is. They are named, so that other processes can find them.


def _native_table(part: Any) -> Any:
    return ("table", source_of(part)[1])


def _survey(part: Any, first: int, plan: bytes) -> bytes:
    return _core.PartsPlan.from_bytes(plan).survey(_native_table(part), first)


def _points(part: Any, first: int, plan: bytes, keep: list[bool]) -> Floats:
    return _core.PartsPlan.from_bytes(plan).points(_native_table(part), first, keep)


def _held_out(part: Any, first: int, plan: bytes, fits: list[bytes], keep: list[bool]) -> Floats:
    return _core.PartsPlan.from_bytes(plan).held_out(_native_table(part), first, fits, keep)


def _judged(part: Any, first: int, plan: bytes, fits: list[list[bytes]]) -> Floats:
    return _core.PartsPlan.from_bytes(plan).judged(_native_table(part), first, fits)


def _run_fits(rows: Floats, first: int, jobs: list[tuple[bytes, int, list[bool]]]) -> list[bytes]:
    return _core.run_on_points(jobs, native(rows, np.float64), first)


def _run_audit(rows: Floats, first: int, job: bytes) -> list[bytes]:
    return [partial_of_blocks(job, rows, first=first)]


class _Plan:
    """A plan for the fits to a table, and the counts of its rows."""

    def __init__(self, table: Table, label: str, folds: int | None, first_rows: Any, options: dict[str, Any]) -> None:
        if not isinstance(label, str):
            raise TypeError(f"label={label!r}: must be the name of a column")
        size, rows = check_count("first_rows", first_rows), sum(table.lengths)
        if rows == 0:
            raise ValueError("the table has no rows")
        absent = {"noise": None, "weights": None, "balanced": False, "group": None, "time": None}
        given = {"label": label, "learner": "logistic", "skip_unlabelled": False, **absent, **options}
        self.table = table
        self.label = label
        self.head = _native_table(table.head(min(size, rows)))
        self.native = _core.PartsPlan(self.head, size, rows, folds, given)
        self.bytes = self.native.to_bytes()
        self.survey = _core.PartsSurvey(table.each(_survey, self.bytes))
        self.columns = self.native.columns
        self.positives = [1] if len(self.native.classes) == 2 else list(range(len(self.native.classes)))

    def fit(self, keep: list[bool], of_fits: list[list[bool]], remedy: str, c: float | None) -> list[list[bytes]]:
        """Fit halfspaces to the rows in the groups that each element of `of_fits` selects; `keep` selects all of them."""
        for groups in of_fits:
            self.native.check_classes(self.survey, groups, remedy)
        counts, width = self.survey.known(keep), self.native.dim + 2
        rows = self.table.aligned(_points, self.bytes, keep, counts=counts, width=width, columns=self.columns)
        fits = [(positive, groups) for groups in of_fits for positive in self.positives]
        found: list[bytes] = []
        for start in range(0, len(fits), FITS_AT_ONCE):
            some = fits[start : start + FITS_AT_ONCE]

            def run(jobs: list[tuple[int, bytes]], some: list[tuple[int, list[bool]]] = some) -> list[bytes]:
                return rows.run(_run_fits, [(job, *some[number]) for number, job in jobs])

            def fit(run: Callable[[bytes], bytes], groups: list[bool]) -> bytes:
                return self.native.fit(run, sum(self.survey.known(groups)), sum(counts), c)

            found += together([partial(fit, groups=groups) for _, groups in some], run)
        classes = len(self.positives)
        return [found[start : start + classes] for start in range(0, len(found), classes)]

    def classes(self) -> npt.NDArray[Any]:
        """Return the classes as values of the column of labels."""
        return classes_of(self.native.classes, self.head, self.label)


def _options(
    positive: Any, c: Any, holdout: Any, drop: Any, use: Any, reading: Reading | None, seed: Any
) -> dict[str, Any]:
    return {
        "positive": None if positive is None else text_of(positive),
        "c": None if c is None else check_number("c", c),
        "holdout": None if holdout is None else check_number("holdout", holdout),
        "columns": columns_of(drop, (), use, None),
        "reading": reading_of(reading),
        "seed": check_count("seed", seed, least=0),
    }


def fit_as(kind: type[Any], table: Table, label: str, first_rows: int, options: dict[str, Any]) -> Any:
    """Fit a pipeline of the class `kind`; see `fit`."""
    with spelled_errors():
        plan = _Plan(table, label, None, first_rows, options)
        keep = plan.native.training(plan.survey)
        [fits] = plan.fit(keep, [keep], "hold out fewer rows (holdout)", options["c"])
        held_out = np.concatenate(table.each(_held_out, plan.bytes, fits, keep, columns=plan.columns))
        native, notes = plan.native.finish(plan.survey, keep, fits, held_out)
    notes = [spelled(note) for note in notes]
    warn(notes)
    return kind._of(native, notes, plan.classes())


def fit(
    table: Table,
    *,
    label: str,
    positive: Any = None,
    c: float | None = None,
    holdout: float | None = None,
    drop: str | Iterable[str] = (),
    use: str | Iterable[str] = (),
    reading: Reading | None = None,
    seed: int = 0,
    first_rows: int = FIRST_ROWS,
) -> Pipeline:
    """Fit a pipeline with a logistic regression to a labelled table that several processes hold.

    Parameters
    ----------
    table : Table
        The table.
    label : str
        The column of labels.
    positive : str, int, float or bool, default=None
        The positive class; with more than two labels, all others form the negative class.
    c : float, default=None
        The weight of the loss relative to the penalty. ``None`` means 1.
    holdout : float, default=None
        The fraction of the rows held out to measure the error and to calibrate the probabilities, at least 0 and below
        1. ``None`` means 0.1, halved until at most 40 000 rows are held out; or the default of `Pipeline.fit` if the
        table has fewer than `first_rows` rows. A row is held out if a pseudorandom function of the seed and of its
        number is below the fraction.
    drop, use : str or iterable of str, default=()
        Columns to ignore, and columns to use although they look like identifiers or saved indices.
    reading : Reading, default=None
        How the table is read; see `Pipeline.fit`.
    seed : int, default=0
        The seed for the held-out rows.
    first_rows : int, default=60000
        The number of first rows from which the columns, their scales and the classes are determined.

    Returns
    -------
    Pipeline
        Its decision values are log odds of standardised coordinates. Its probabilities are calibrated on the held-out
        rows.

    Raises
    ------
    ValueError
        If an argument does not fit the table, a label is missing, or a column is a text.

    Warns
    -----
    DataWarning
        For each decision that could be wrong, as for ``halfspaces fit --stream``: also for labels, categories and
        missing values that occur only in later rows. These notes are also in ``notes``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from halfspaces import parts
    >>> size = np.linspace(0.0, 10.0, 200)
    >>> rows = pd.DataFrame({"size": size, "kind": np.where(size > 4.0, "large", "small")})
    >>> model = parts.fit(parts.MemoryTable([rows[:120], rows[120:]]), label="kind", c=100.0)
    >>> model.predict({"size": [1.0, 9.0]}).tolist()
    ['small', 'large']
    """
    found: Pipeline = fit_as(
        Pipeline, table, label, first_rows, _options(positive, c, holdout, drop, use, reading, seed)
    )
    return found


def audit(
    table: Table,
    *,
    label: str,
    count: int = 1000,
    folds: int = 5,
    failure: float = 0.05,
    drop: str | Iterable[str] = (),
    use: str | Iterable[str] = (),
    reading: Reading | None = None,
    seed: int = 0,
    first_rows: int = FIRST_ROWS,
) -> AuditResult:
    """Find labels that are probably wrong in a table that several processes hold; see `halfspaces.audit`.

    The classifier is a logistic regression. The result differs from that of ``halfspaces.audit(..., learner="logistic")``
    on all rows as follows: the columns and their scales are determined from the first rows; the fold of a row is a
    pseudorandom function of the seed and of its number; rows with a label that does not occur in the first rows are not
    audited; only the first rows of the ranking are returned; and ``contradicts`` is ``None``.

    Parameters
    ----------
    table : Table
        The table.
    label : str
        The column of labels.
    count : int, default=1000
        The number of rows of the ranking to return.
    folds : int, default=5
        The number of folds, at most 1000.
    failure : float, default=0.05
        The probability with which the bound may fail, above 0 and below 1.
    drop, use, reading, seed, first_rows
        As for `fit`.

    Returns
    -------
    AuditResult
        ``table`` contains at most `count` rows. Rows are counted from 0 over all parts, in the order of the parts.

    Raises
    ------
    ValueError
        For the reasons of `fit`, and if all rows of a class are in one fold.

    Notes
    -----
    Guarantee: ``at_most`` is a guaranteed bound on the number of wrong labels among ``rows`` labels. The ranking and
    ``likely_wrong`` are heuristic.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from halfspaces import parts
    >>> size = np.linspace(0.0, 10.0, 300)
    >>> rows = pd.DataFrame({"size": size, "kind": np.where(size > 4.0, "large", "small")})
    >>> rows.loc[290, "kind"] = "small"  # a wrong label
    >>> found = parts.audit(parts.MemoryTable([rows[:100], rows[100:]]), label="kind", count=3)
    >>> int(found.row[0]), found.suggested[0], found.rows
    (290, 'large', 300)
    """
    folds, failure = check_count("folds", folds, least=2), check_number("failure", failure)
    count = check_count("count", count)
    if not 0 < failure < 1:
        raise ValueError(f"failure={failure}: must be above 0 and below 1")
    with spelled_errors():
        plan = _Plan(table, label, folds, first_rows, _options(None, None, None, drop, use, reading, seed))
        keep = [True] * folds
        fits = plan.fit(keep, plan.native.other_folds(), "use more folds", None)
        counts = plan.survey.known(keep)
        judged = table.aligned(_judged, plan.bytes, fits, counts=counts, width=5, columns=plan.columns)

        def run(job: bytes) -> bytes:
            return judged.run(_run_audit, job)[0]

        rows, classes = sum(counts), plan.classes()
        found = _core.audit_judged(run, rows, len(classes), folds, failure, count)
    notes = [spelled(note) for note in plan.native.notes(plan.survey)]
    warn(notes)
    return AuditResult(
        row=found["row"],
        label=classes[found["label"]],
        suggested=classes[found["suggested"]],
        score=found["agreement"],
        likely_wrong=found["likely_wrong"],
        at_most=found["at_most"],
        failure=failure,
        disagreements=found["disagreements"],
        baseline=found["baseline"],
        notes=notes,
        rows=rows,
    )


__all__ = ["FIRST_ROWS", "FITS_AT_ONCE", "AlignedRows", "MemoryTable", "Table", "audit", "fit"]
