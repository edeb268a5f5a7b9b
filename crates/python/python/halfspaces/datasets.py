"""Data sets with known targets and label noise, for comparisons of learners.

Every function takes a seed and returns NumPy arrays; the same seed gives the same rows on every machine. Labels are 1
and -1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_X_y

from halfspaces import _core
from halfspaces._base import Floats, check_count, check_number, rows

Integers = npt.NDArray[np.int64]


class Sample(NamedTuple):
    """Rows with noisy labels, the labels without noise, and the weights of the target."""

    X: Floats
    y: Integers
    clean: Integers
    coef: Floats


class HeavySample(NamedTuple):
    """Rows with heavy subspaces: the dimension of each planted subspace and the rows in it."""

    X: Floats
    dimensions: list[int]
    members: list[Integers]


class Table(NamedTuple):
    """A real table: rows, labels, the names of the columns, and where it comes from."""

    X: Floats
    y: Integers
    columns: list[str]
    description: str


DISTRIBUTIONS = ("margin_ball", "margin_shell", "ill_conditioned_ball", "spiked_ball", "gaussian", "student_t")


def halfspace(
    n_samples: int = 1000,
    n_features: int = 10,
    *,
    distribution: str = "margin_ball",
    margin: float = 0.1,
    rate: float = 0.0,
    where: str = "everywhere",
    threshold: float = 0.5,
    condition: float = 1.0,
    freedom: float = 3.0,
    share: float = 0.5,
    seed: int = 0,
) -> Sample:
    """Draw rows that are labelled by a random halfspace through the origin, with Massart noise.

    Parameters
    ----------
    n_samples, n_features : int, default=1000 and 10
        The numbers of rows and columns.
    distribution : str, default="margin_ball"
        ``margin_ball``: uniform in the unit ball without the band of half-width `margin` around the boundary;
        ``margin_shell``: unit rows, a fraction `share` of which are exactly at the margin; ``ill_conditioned_ball``:
        rows between one and two margins from the boundary, uniform in an ellipsoid with axes from 1 to 1/`condition` in
        the other directions; ``spiked_ball``: a margin ball in which a fraction `share` of the rows lie on a spike at
        the margin, which turns averages away from the target; ``gaussian``: normally distributed rows with standard
        deviations from 1 to 1/`condition`; ``student_t``: rows like those of ``gaussian``, but with a Student-t
        distribution with `freedom` degrees of freedom.
    margin : float, default=0.1
        The distance from the boundary, for the first four distributions.
    rate : float, default=0.0
        The probability of a wrong label on noisy rows, at least 0 and below 0.5.
    where : {"everywhere", "far", "near"}, default="everywhere"
        Which rows have noise: all rows (random classification noise), or only the rows whose distance from the boundary
        is at least ("far") or at most ("near") `threshold` (Massart noise).
    threshold : float, default=0.5
        See `where`.
    condition, freedom, share : float, default=1.0, 3.0 and 0.5
        See `distribution`.
    seed : int, default=0
        The seed for the target, the rows and the noise.

    Returns
    -------
    Sample
        ``X``, ``y``, ``clean`` and ``coef``.

    Examples
    --------
    >>> from halfspaces.datasets import halfspace
    >>> sample = halfspace(500, 5, margin=0.2, rate=0.1)
    >>> bool((abs(sample.X @ sample.coef) >= 0.2 - 1e-12).all()), bool((sample.y != sample.clean).mean() < 0.15)
    (True, True)
    """
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"distribution={distribution!r}: must be one of {', '.join(DISTRIBUTIONS)}")
    if where not in ("everywhere", "far", "near"):
        raise ValueError(f"where={where!r}: must be 'everywhere', 'far' or 'near'")
    spec = {
        "distribution": distribution,
        "rows": check_count("n_samples", n_samples),
        "dim": check_count("n_features", n_features),
        "margin": check_number("margin", margin),
        "condition": check_number("condition", condition),
        "freedom": check_number("freedom", freedom),
        "share": check_number("share", share),
        "rate": check_number("rate", rate),
        "where": where,
        "threshold": check_number("threshold", threshold),
        "seed": check_count("seed", seed, least=0),
    }
    return Sample(*_core.draw(spec))


def massart_trap(n_samples: int = 1000, *, rate: float = 0.3, margin: float = 0.05, seed: int = 0) -> Sample:
    """Draw Massart noise in the plane that misleads logistic regression and the support vector machine.

    The error of the target is ``0.4 * rate``. The error of the minimisers of the logistic and the hinge loss is
    ``0.4 + 0.4 * rate``.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of rows.
    rate : float, default=0.3
        The noise rate far from the boundary, above 0 and at most 0.45.
    margin : float, default=0.05
        The margin of the other rows, above 0 and at most ``min(rate / 2, 0.1)``.
    seed : int, default=0
        The seed for drawing the rows and the noise.

    Returns
    -------
    Sample

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from halfspaces.datasets import massart_trap
    >>> trap = massart_trap(5000)
    >>> model = LogisticRegression(C=1e3, fit_intercept=False).fit(trap.X, trap.y)
    >>> bool(model.score(trap.X, trap.clean) < 0.7), bool((trap.y == trap.clean).mean() > 0.85)
    (True, True)
    """
    count, seed = check_count("n_samples", n_samples), check_count("seed", seed, least=0)
    return Sample(*_core.draw_trap(count, check_number("rate", rate), check_number("margin", margin), seed))


def perceptron_tight(n_features: int = 100) -> Sample:
    """Return rows on which the perceptron makes as many mistakes as its bound ``1 / margin**2`` allows, in any order.

    Parameters
    ----------
    n_features : int, default=100
        The number of columns, rows and mistakes.

    Returns
    -------
    Sample
        The rows are the standard basis, all labelled -1.

    Examples
    --------
    >>> from halfspaces.datasets import perceptron_tight
    >>> perceptron_tight(4).X.sum(axis=1).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return Sample(*_core.tight(check_count("n_features", n_features), None))


def margin_perceptron_tight(margin: float = 0.1) -> Sample:
    """Return rows on which the margin perceptron makes almost all of its ``3 / margin**2`` updates, in this order.

    Parameters
    ----------
    margin : float, default=0.1
        The margin, from 0.001 to 0.5.

    Returns
    -------
    Sample
        Unit rows of three columns, all labelled 1.

    Examples
    --------
    >>> from halfspaces.datasets import margin_perceptron_tight
    >>> margin_perceptron_tight(0.1).X.shape
    (298, 3)
    """
    return Sample(*_core.tight(3, check_number("margin", margin)))


def heavy_subspace(
    n_samples: int = 500,
    n_features: int = 10,
    heavy_dim: int = 3,
    *,
    kind: str = "gaussian",
    excess: float | None = None,
    seed: int = 0,
) -> HeavySample:
    """Draw rows of which more than the fraction ``heavy_dim / n_features`` lie in a subspace of that dimension.

    No linear map brings such rows into radially isotropic position, so they are the hard cases for `ForsterTransform`.

    Parameters
    ----------
    n_samples, n_features : int, default=500 and 10
        The numbers of rows and columns. `n_samples` must be at least ``5 * n_features`` and is rounded up to a multiple
        of `n_features`.
    heavy_dim : int, default=3
        The dimension of the subspace.
    kind : str, default="gaussian"
        The distribution of the rows: gaussian, elliptical, norms6, norms150, duplicates, nested, two_planes, integer,
        one_hot, clustered, student_t or noisy.
    excess : float, default=None
        In addition to the fraction ``heavy_dim / n_features`` of the rows, the subspace contains this part of the other
        rows, at most 0.7. With 0, it contains exactly that fraction, and the map exists. ``None`` means one row more
        than that fraction.
    seed : int, default=0
        The seed for the rows.

    Returns
    -------
    HeavySample
        ``X``, and for each planted subspace its dimension and the rows in it.

    Examples
    --------
    >>> from halfspaces.datasets import heavy_subspace
    >>> sample = heavy_subspace(60, 6, 2)
    >>> sample.dimensions, len(sample.members[0])
    ([2], 21)
    """
    found = _core.draw_heavy(
        kind,
        check_count("n_samples", n_samples),
        check_count("n_features", n_features),
        check_count("heavy_dim", heavy_dim),
        None if excess is None else check_number("excess", excess),
        check_count("seed", seed, least=0),
    )
    planted = found[1]
    return HeavySample(found[0], [dim for dim, _ in planted], [members for _, members in planted])


def massart_noise(
    X: Any, y: Any, rate: float = 0.2, *, where: str = "far", share: float = 0.5, seed: int = 0
) -> tuple[npt.NDArray[Any], Floats]:
    """Add Massart noise to the labels of any two-class data.

    The distance of a row is measured from the boundary of the halfspace whose normal points from the mean of one class
    to that of the other, after the columns are standardised.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The labels, of two classes.
    rate : float, default=0.2
        The probability that the label of a noisy row is flipped, at least 0 and below 0.5.
    where : {"far", "near", "everywhere"}, default="far"
        Which rows are noisy.
    share : float, default=0.5
        The fraction of the rows that are far, or near.
    seed : int, default=0
        The seed for the flips.

    Returns
    -------
    noisy : ndarray of shape (n_samples,)
        The labels after the flips, with the values of `y`.
    probabilities : ndarray of shape (n_samples,)
        The probability with which each label was flipped: 0 or `rate`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from halfspaces.datasets import massart_noise
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> noisy, probabilities = massart_noise(X, y, 0.3)
    >>> bool(((noisy != y) <= (probabilities > 0)).all()), float(probabilities.max())
    (True, 0.3)
    """
    X, y = check_X_y(X, y, dtype=np.float64, order="C")
    classes, numbers = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; Massart noise needs two")
    numbers = np.ascontiguousarray(numbers, dtype=np.int64)
    rate, share = check_number("rate", rate), check_number("share", share)
    noisy, probabilities = _core.add_noise(rows(X), numbers, rate, where, share, check_count("seed", seed, least=0))
    return classes[noisy], probabilities


def load(name: str) -> Table:
    """Return a real table that the package contains.

    Parameters
    ----------
    name : {"wdbc", "ionosphere", "mushroom"}
        Breast cancer (569 rows, 1 = malignant), radar returns (351 rows, 1 = good), mushrooms (5644 rows of 0/1 columns,
        1 = poisonous).

    Returns
    -------
    Table
        ``X``, ``y``, ``columns`` and ``description``.

    Examples
    --------
    >>> from halfspaces.datasets import load
    >>> load("ionosphere").X.shape
    (351, 33)
    """
    return Table(*_core.load_table(name))


__all__ = [
    "HeavySample",
    "Sample",
    "Table",
    "halfspace",
    "heavy_subspace",
    "load",
    "margin_perceptron_tight",
    "massart_noise",
    "massart_trap",
    "perceptron_tight",
]
