"""Matplotlib plots: margins, error against coverage, calibration, robust distances, and corrections while labelling.

Every function takes arrays, draws on `ax` or on new axes, and returns the Axes. The functions need matplotlib: ``pip
install "halfspaces[plots]"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2
from sklearn.utils.validation import check_consistent_length, column_or_1d

from halfspaces._base import Floats, check_count, check_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY = "#2f6db3", "#d9782d", "#8a8a8a"


def _axes(ax: Axes | None) -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError('halfspaces.plots needs matplotlib: pip install "halfspaces[plots]"') from None
    if ax is None:
        _, ax = pyplot.subplots(figsize=(5.0, 3.6), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _column(name: str, values: Any) -> Floats:
    found = np.asarray(column_or_1d(values), dtype=np.float64)
    if not len(found):
        raise ValueError(f"{name}: there are no rows")
    if not np.isfinite(found).all():
        raise ValueError(f"{name}: row {int(np.flatnonzero(~np.isfinite(found))[0])} is not a finite number")
    return found


def _shares(name: str, values: Any) -> Floats:
    found = _column(name, values)
    if found.min() < 0 or found.max() > 1:
        raise ValueError(f"{name}: must be between 0 and 1, but ranges from {found.min():g} to {found.max():g}")
    return found


def _flags(name: str, values: Any) -> npt.NDArray[np.bool_]:
    found = column_or_1d(values)
    if not np.isin(found, (0, 1)).all():
        raise ValueError(f"{name}: must be booleans, or 0 and 1")
    return np.asarray(found, dtype=bool)


def margins(values: Any, y: Any, *, bins: int = 40, ax: Axes | None = None) -> Axes:
    """Draw a histogram of margins: signed decision values, which are negative for misclassified rows.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        The decision values of two classes, as `decision_function` returns them.
    y : array-like of shape (n_samples,)
        The labels. The larger of the two is the positive class.
    bins : int, default=40
        The number of bins.
    ax : Axes, default=None
        Where to draw. ``None`` creates new axes.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from halfspaces.plots import margins
    >>> margins([2.0, 1.0, -1.0, 0.5], [1, 1, 0, 0], bins=4).get_xlabel()
    'margin'
    """
    found = _column("values", values)
    labels = column_or_1d(y)
    check_consistent_length(found, labels)
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; margins need two")
    signed = np.where(labels == classes[1], found, -found)
    edges = np.histogram_bin_edges(signed, bins=check_count("bins", bins)).tolist()
    wrong = signed < 0
    ax = _axes(ax)
    ax.hist(signed[~wrong], bins=edges, color=BLUE, label=f"correct side: {int((~wrong).sum())}")
    ax.hist(signed[wrong], bins=edges, color=ORANGE, label=f"wrong side: {int(wrong.sum())}")
    ax.axvline(0.0, color=GREY, linewidth=1)
    ax.set(xlabel="margin", ylabel="rows")
    ax.legend(frameon=False)
    return ax


def error_against_coverage(
    values: Any, wrong: Any, *, label: str | None = None, color: str = BLUE, ax: Axes | None = None
) -> Axes:
    """Draw the error on the rows with the largest confidence against their fraction (the risk-coverage curve).

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        The confidence of each prediction, or its decision value, of which only the magnitude is used.
    wrong : array-like of bool of shape (n_samples,)
        Whether each prediction is wrong.
    label : str, default=None
        The name of the curve in the legend.
    color : str, default="#2f6db3"
        Its colour.
    ax : Axes, default=None
        Where to draw. ``None`` creates new axes.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from halfspaces.plots import error_against_coverage
    >>> line = error_against_coverage([3.0, -2.0, 1.0, 0.5], [False, False, False, True]).lines[0]
    >>> line.get_xdata().tolist(), line.get_ydata().tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.0, 0.0, 0.0, 0.25])
    """
    sizes, errors = np.abs(_column("values", values)), _flags("wrong", wrong)
    check_consistent_length(sizes, errors)
    order = np.argsort(-sizes, kind="stable")
    sizes, counts = sizes[order], np.arange(1, len(sizes) + 1)
    rates = np.cumsum(errors[order]) / counts
    # Rows with the same confidence are decided together.
    last = np.append(sizes[1:] != sizes[:-1], True)
    ax = _axes(ax)
    ax.plot(counts[last] / len(sizes), rates[last], color=color, label=label)
    ax.set(xlabel="coverage: fraction of the rows that are decided", ylabel="error on these rows", xlim=(0, 1))
    ax.set_ylim(bottom=0)
    if label is not None:
        ax.legend(frameon=False)
    return ax


def calibration(
    probabilities: Any,
    correct: Any,
    *,
    bins: int = 10,
    label: str | None = None,
    color: str = BLUE,
    ax: Axes | None = None,
) -> Axes:
    """Draw the fraction of correct predictions against their probability, in bins of equal width.

    The bars are 95 % intervals for the fraction (Wilson). The points of a calibrated model lie near the diagonal.

    Parameters
    ----------
    probabilities : array-like of shape (n_samples,)
        The probability of the predicted class of each row, or of the positive class.
    correct : array-like of bool of shape (n_samples,)
        Whether the prediction is correct, or the row is positive.
    bins : int, default=10
        The number of bins from 0 to 1. Empty ones are left out.
    label : str, default=None
        The name of the points in the legend.
    color : str, default="#2f6db3"
        Their colour.
    ax : Axes, default=None
        Where to draw. ``None`` creates new axes.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from halfspaces.plots import calibration
    >>> ax = calibration([0.9, 0.9, 0.9, 0.9, 0.6], [True, True, True, False, True])
    >>> [line.get_ydata().tolist() for line in ax.lines if line.get_marker() == "o"]
    [[1.0, 0.75]]
    """
    found, hits = _shares("probabilities", probabilities), _flags("correct", correct)
    check_consistent_length(found, hits)
    count = check_count("bins", bins)
    of = np.minimum((found * count).astype(int), count - 1)
    rows = np.bincount(of, minlength=count)
    full = rows > 0
    rows = rows[full]
    means = np.bincount(of, weights=found, minlength=count)[full] / rows
    rates = np.bincount(of, weights=hits, minlength=count)[full] / rows
    z = 1.959964
    centres = (rates + z * z / (2 * rows)) / (1 + z * z / rows)
    halves = z * np.sqrt(rates * (1 - rates) / rows + z * z / (4 * rows**2)) / (1 + z * z / rows)
    ax = _axes(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
    ax.vlines(means, centres - halves, centres + halves, color=color, linewidth=1)
    ax.plot(means, rates, "o", color=color, markersize=4, label=label)
    ax.set(xlabel="probability", ylabel="fraction that is correct", ylim=(0, 1.02))
    ax.set_xlim(max(0.0, float(means.min()) - 0.08), 1.02)
    if label is not None:
        ax.legend(frameon=False)
    return ax


def distances(
    robust: Any, classical: Any = None, *, n_features: int | None = None, level: float = 0.975, ax: Axes | None = None
) -> Axes:
    """Draw robust distances of rows against row numbers or Mahalanobis distances; outliers are at the top.

    Parameters
    ----------
    robust : array-like of shape (n_samples,)
        The distances for a robust scatter matrix, such as those of `TylerScatter`.
    classical : array-like of shape (n_samples,), default=None
        The distances for the sample covariance matrix. If ``None``, the robust distances are plotted against the row
        number.
    n_features : int, default=None
        The number of columns. If it is given, a line shows the distance that a normally distributed row exceeds with
        probability ``1 - level``.
    level : float, default=0.975
        See `n_features`.
    ax : Axes, default=None
        Where to draw. ``None`` creates new axes.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from halfspaces.plots import distances
    >>> distances([1.0, 2.0, 9.0], n_features=2).get_ylabel()
    'robust distance'
    """
    found = _column("robust", robust)
    ax = _axes(ax)
    cut = None
    if n_features is not None:
        share = check_number("level", level)
        if not 0 < share < 1:
            raise ValueError(f"level={level}: must be above 0 and below 1")
        cut = float(np.sqrt(chi2.ppf(share, check_count("n_features", n_features))))
    across = np.arange(len(found)) if classical is None else _column("classical", classical)
    check_consistent_length(found, across)
    far = found > (np.inf if cut is None else cut)
    ax.scatter(across[~far], found[~far], s=10, color=BLUE)
    ax.scatter(across[far], found[far], s=10, color=ORANGE, label=f"beyond {level:.1%}: {int(far.sum())}")
    if cut is not None:
        ax.axhline(cut, color=GREY, linewidth=1, linestyle="--")
        if classical is not None:
            ax.axvline(cut, color=GREY, linewidth=1, linestyle="--")
        if far.any():
            ax.legend(frameon=False)
    ax.set(xlabel="row" if classical is None else "Mahalanobis distance", ylabel="robust distance")
    ax.set_ylim(bottom=0)
    return ax


def corrections(
    wrong: Any,
    *,
    random_error: float | None = None,
    label: str | None = None,
    color: str = BLUE,
    ax: Axes | None = None,
) -> Axes:
    """Plot the number of suggestions that a person had to correct during labelling against the number of answers.

    Parameters
    ----------
    wrong : array-like of bool of shape (n_answers,)
        Whether the suggestion was wrong, for each answer in the order of the answers.
    random_error : float, default=None
        An error rate for comparison, such as that of always suggesting the most frequent class. It is drawn as a line.
    label : str, default=None
        The name of the curve in the legend.
    color : str, default="#2f6db3"
        Its colour.
    ax : Axes, default=None
        Where to draw. ``None`` creates new axes.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from halfspaces.plots import corrections
    >>> corrections([True, True, False, True, False]).lines[0].get_ydata().tolist()
    [0, 1, 2, 2, 3, 3]
    """
    flags = _flags("wrong", wrong)
    ax = _axes(ax)
    answers = np.arange(len(flags) + 1)
    ax.plot(answers, np.append(0, np.cumsum(flags)), color=color, label=label, drawstyle="steps-post")
    if random_error is not None:
        rate = check_number("random_error", random_error)
        ax.plot(answers, rate * answers, color=GREY, linewidth=1, linestyle="--", label=f"{rate:.1%} of the answers")
    ax.set(xlabel="answers", ylabel="corrections")
    ax.set_xlim(0, max(1, len(flags)))
    ax.set_ylim(bottom=0)
    if label is not None or random_error is not None:
        ax.legend(frameon=False)
    return ax


__all__ = ["calibration", "corrections", "distances", "error_against_coverage", "margins"]
