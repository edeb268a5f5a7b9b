"""A classifier of rows, exported by halfspaces. It needs only the standard library.

As a module: `predict(row)` returns the class of a row and the probability of each class. A row is a dict from column
names to cells, as csv.DictReader gives: text, a number, a truth value, a date, or None.

As a program: `python3 FILE.py DATA.csv` reads a text file with column names in the first line and cells separated by
commas, semicolons, tabs or vertical bars. It writes the class, the decision value and the probability of each class for every
row as CSV. `-` reads standard input. `unseen=zero` after the file name has the same effect as in `predict`.
"""

import bisect
import csv
import decimal
import functools
import io
import math
import re
import sys

true, false, null = True, False, None


def predict(row, unseen="error"):
    """The class of a row, and a dict with the probability of each class (None if the model has no probabilities).

    `unseen="error"` raises ValueError for a category that the model has not seen, for a missing value in a column
    that had none in the fit, and for a missing column. `unseen="zero"` treats an unseen category as different from all
    known categories, and does the same with a missing value in a column of categories that had none in the fit. It
    treats the cells of a missing column as missing values.
    """
    values = decision_values(row, unseen)
    label = CLASSES[_class(values)]
    if CALIBRATION is None:
        return label, None
    return label, dict(zip(CLASSES, _probabilities(values)))


def decision_values(row, unseen="error"):
    """The decision values of a row: one for two classes, positive for the second; otherwise one for each class."""
    if unseen not in ("error", "zero"):
        raise ValueError('unseen: expected "error" or "zero"')
    entries = _coordinates(row, unseen)
    values = [0.0] * len(PARTS[0]["halfspaces"])
    scaled = {}
    for part in PARTS:
        scale, features = part["scale"], None
        if scale is not None:
            if scale not in scaled:
                scaled[scale] = _scaled(SCALES[scale], entries)
            features = scaled[scale]
            if part["kernel"] is not None:
                features = _kernel(part["kernel"], features)
        for k, halfspace in enumerate(part["halfspaces"]):
            weights = halfspace["weights"]
            if features is None:
                total = sum(weights[at] * value for at, value in entries.items())
            else:
                total = sum(weight * value for weight, value in zip(weights, features))
            values[k] += total + halfspace["bias"]
    if not all(map(math.isfinite, values)):
        raise ValueError("a decision value overflows; check the sizes of the numbers")
    return values


def _class(values):
    return int(values[0] >= 0) if len(values) == 1 else values.index(max(values))


def _probabilities(values):
    if len(values) == 1:
        distances = [max(values[0], 0.0), max(-values[0], 0.0)]
    else:
        distances = [max(values) - value for value in values]
    c = CALIBRATION
    powers = []
    for distance in distances:
        try:
            powers.append(min((distance / c["unit"]) ** c["exponent"], c["most"]))
        except OverflowError:
            powers.append(c["most"])
    second = sorted(powers)[1]
    shares = [
        math.exp(-c["slope"] * (min(power, second) + c["tail"] * max(power - second, 0.0)))
        for power in powers
    ]
    total = sum(shares)
    return [c["slip"] / len(shares) + (1 - c["slip"]) * share / total for share in shares]


def _scaled(scale, entries):
    if scale["kind"] == "standard":
        scales = enumerate(zip(scale["means"], scale["deviations"]))
        return [(entries.get(at, 0.0) - mean) / s if s > 0 else 0.0 for at, (mean, s) in scales]
    return [_rank(entries.get(at, 0.0), *knots) for at, knots in enumerate(scale["knots"])]


def _rank(value, values, ranks):
    above = bisect.bisect_right(values, value)
    if above == 0:
        return ranks[0]
    if above == len(values):
        return ranks[-1]
    low, high = values[above - 1], values[above]
    share = (0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low)
    return ranks[above - 1] + share * (ranks[above] - ranks[above - 1])


def _kernel(kernel, x):
    if kernel["distance"] == "SquaredEuclidean":
        distances = (sum((a - b) * (a - b) for a, b in zip(x, z)) for z in kernel["centres"])
    else:
        distances = (sum(abs(a - b) for a, b in zip(x, z)) for z in kernel["centres"])
    return [math.exp(-distance / kernel["scale"]) for distance in distances]


def _coordinates(row, unseen):
    """The coordinates of a row that are not 0, by their places."""
    entries, first = {}, 0
    for at, column in enumerate(COLUMNS):
        name, cell = column["name"], None
        if name in row:
            cell = row[name]
        elif unseen == "error" and not column["absent"]:
            raise ValueError(f'there is no column `{name}`; add it, or use unseen="zero"')
        kind = column["kind"]
        if name not in row and column["absent"]:
            pass
        elif kind == "number":
            number = _number(column, cell)
            entries[first] = column["median"] if number is None else number
            if number is None and column["missing"]:
                entries[first + 1] = 1.0
        elif kind == "entry":
            number = _number(column, cell)
            if number is None and unseen == "error":
                raise ValueError(f'column `{name}`: the number is missing; fill it in, or use unseen="zero"')
            entries[first] = number or 0.0
        elif kind == "category":
            place = _category(at, cell, unseen if name in row else "zero")
            if place is not None:
                entries[first + place] = 1.0
        elif kind == "moment":
            moment = _moment(column, cell)
            values = _moment_coordinates(column["parts"], column["median"] if moment is None else moment)
            entries.update((first + place, value) for place, value in enumerate(values))
            if moment is None and column["missing"]:
                entries[first + len(values)] = 1.0
        elif kind == "text":
            entries.update((first + place, weight) for place, weight in _weights(at, cell))
        if column["deviation"] is not None:
            entries[first] = (entries.get(first, 0.0) - column["centre"]) / column["deviation"]
        first += column["width"]
    return entries
