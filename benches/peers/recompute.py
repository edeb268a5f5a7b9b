"""Recomputes core numbers of the claims with a second, naive implementation (numpy only) and compares the results.

`cargo run -p halfspaces --example export_runs` runs the library on small data and prints data and results. This script
computes the same results from the data alone, written from the sources and docs/theory in the simplest form (dense
loops, no blocks, no shortcuts). It prints one line for each quantity of each claim: our value and the recomputed one,
the largest difference relative to the largest entry, the tolerance, and the number of cases. The exit status is 1 if a
difference exceeds its tolerance or a claim is missing.

    target/peers-venv/bin/python benches/peers/recompute.py [--table docs/results/recomputed.md]
    target/peers-venv/bin/python benches/peers/recompute.py --check-faults     # every planted fault must be found
"""

import argparse
import fractions
import itertools
import json
import math
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Tolerances relative to the largest entry of a result. The two programs add the terms of sums in different orders, so
# results differ by rounding errors. In K8, P8, P7 and P15, these build up over thousands of dependent steps.
TOLERANCE = {"F1": 1e-5, "K8": 1e-8, "P7": 1e-8, "P8": 1e-8, "P15": 1e-8, "S5x": 0.0, "S14": 1e-6}
DEFAULT_TOLERANCE = 1e-9


def sign(value):
    return 1.0 if value >= 0 else -1.0


def unit(x):
    return x / math.sqrt(x @ x)


def rows(given):
    return np.reshape(given["points"], (-1, int(given["dim"][0])))


def examples(given, passes=1):
    for _ in range(passes):
        yield from zip(rows(given), given["labels"])


# ---- learners in a given order


def halving(given):
    alive = np.reshape(given["class"], (-1, int(given["dim"][0])))
    size, mistakes = len(alive), 0
    for x, y in examples(given):
        votes = np.array([sign(w @ x) for w in alive])
        mistakes += sign(votes.sum()) != y
        alive = alive[votes == y]
    return {"mistakes": [mistakes], "bound": [math.log2(size)]}


def grid_halving(given):
    d, r, w, gamma = (given[name][0] for name in ("dim", "radius", "norm", "margin"))
    return {"bound": [d * math.log2(2 * math.ceil(2 * r * w * d / gamma) + 1)]}


def perceptron(given):
    w, mistakes = np.zeros(int(given["dim"][0])), 0
    for x, y in examples(given, 3):
        if sign(w @ x) != y:
            mistakes += 1
            w = w + y * x
    return {"mistakes": [mistakes], "weights": w}


def batch(given, violated):
    """Adds y x of a violated point (the next in cyclic order, the first, or the worst) until no point is violated."""
    points, labels = rows(given), np.array(given["labels"])
    w, updates, at = np.zeros(points.shape[1]), 0, 0
    while True:
        margins = labels * (points @ w)
        bad = [i for i in range(len(points)) if violated(margins[i], labels[i])]
        if not bad:
            return {"updates": [updates], "weights": w}
        pick = given["pick"][0]
        if pick == 0:
            i = next((i for i in bad if i >= at), bad[0])
            at = i + 1
        elif pick == 1:
            i = bad[0]
        else:
            i = min(bad, key=lambda i: margins[i])
        w = w + labels[i] * points[i]
        updates += 1


def batch_perceptron(given):
    # Violated if y (w . x) < 0, or if it is 0 and the label differs from sign(0) = +1.
    return batch(given, lambda margin, y: sign(y * margin) != y)


def margin_perceptron(given):
    threshold = max(x @ x for x in rows(given))
    return batch(given, lambda margin, y: margin <= threshold)


def kernel_perceptron(given):
    kind, value = given["kernel"]
    kernel = {
        1: lambda x, z: (x @ z) ** value,
        2: lambda x, z: (1 + x @ z) ** value,
        3: lambda x, z: math.exp(-((x - z) @ (x - z)) / value),
    }[int(kind)]
    support, mistakes = [], 0
    for x, y in examples(given, 2):
        if sign(sum(s * kernel(z, x) for z, s in support)) != y:
            mistakes += 1
            support.append((x, y))
    return {"mistakes": [mistakes]}


def modified_perceptron(given):
    sigma, alpha = given["sigma"][0], given["alpha"][0]
    w, mistakes = unit(np.array(given["start"])), 0
    for x, y in examples(given, 2):
        x = unit(x)
        if abs(w @ x) > sigma and sign(w @ x) != y:
            mistakes += 1
            w = unit(w - (w @ x) * x)
    return {"mistakes": [mistakes], "weights": w, "bound": [math.floor(2 * math.log(1 / alpha) / sigma**2)]}


def ellipsoid(given):
    """Runs the ellipsoid method with {w : (w - c)' P^-1 (w - c) <= 1} and the textbook update of P."""
    d = int(given["dim"][0])
    gamma = given["margin"][0]
    c, p, mistakes = np.zeros(d), np.eye(d), 0
    for x, y in examples(given, 3):
        if sign(c @ x) != y:
            mistakes += 1
            a = y * unit(x)
            g = p @ a / math.sqrt(a @ p @ a)
            c = c + g / (d + 1)
            p = d * d / (d * d - 1) * (p - 2 / (d + 1) * np.outer(g, g))
    return {"mistakes": [mistakes], "centre": c, "bound": [2 * d * (d + 1) * math.log((1 + gamma) / gamma)]}


def passive_aggressive(given):
    w, mistakes = np.zeros(int(given["dim"][0])), 0
    for x, y in examples(given, 3):
        mistakes += sign(w @ x) != y
        w = w + max(0.0, 1 - y * (w @ x)) / (x @ x) * y * x
    return {"mistakes": [mistakes], "weights": w}


def winnow(given):
    n, k = int(given["dim"][0]), given["relevant"][0]
    w, mistakes = np.ones(n), 0
    for x, y in examples(given, 2):
        if sign(w @ x - n) != y:
            mistakes += 1
            w = np.where(x > 0, w * (2.0 if y > 0 else 0.5), w)
    return {"mistakes": [mistakes], "weights": w, "bound": [2 + 3 * k * (1 + math.log2(n))]}


def alma(given):
    alpha, gamma = given["alpha"][0], given["margin"][0]
    w, k, mistakes = np.zeros(int(given["dim"][0])), 1, 0
    for x, y in examples(given, 3):
        x = unit(x)
        wrong = sign(w @ x) != y
        mistakes += wrong
        if wrong or y * (w @ x) <= (1 - alpha) * math.sqrt(8) / alpha / math.sqrt(k):
            w = w + math.sqrt(2 / k) * y * x
            w = w / max(1.0, math.sqrt(w @ w))
            k += 1
    bound = 2 / gamma**2 * (2 / alpha - 1) ** 2 + 8 / alpha - 4
    return {"counts": [mistakes, k - 1, bound], "weights": w}


def second_order(given):
    d, a = int(given["dim"][0]), given["a"][0]
    s, v, mistakes = a * np.eye(d), np.zeros(d), 0
    for x, y in examples(given, 2):
        if sign(np.linalg.solve(s, v) @ x) != y:
            mistakes += 1
            s, v = s + np.outer(x, x), v + y * x
    return {"mistakes": [mistakes], "log_det": [math.log(np.linalg.det(s / a))]}


# ---- learners that choose the order, labelling games, radially isotropic position


def greedy(given):
    """Always takes the remaining point with the largest |w . x|. A mistake is projected out of w."""
    points, labels, target = rows(given), given["labels"], unit(np.array(given["target"]))
    wrong = [0] if labels[0] < 0 else []
    w = labels[0] * unit(points[0])
    left = set(range(1, len(points)))
    while left:
        i = max(left, key=lambda i: abs(w @ points[i]))
        left.remove(i)
        if sign(w @ points[i]) != labels[i]:
            wrong.append(i)
            before = math.tan(math.acos(min(1.0, w @ target)))
            margin = abs(w @ points[i]) / math.sqrt(1 - (w @ target) ** 2)
            w = unit(w - (w @ points[i]) * points[i])
            # Checks equation (2) of DKTZ23 as well (claim S2).
            after = math.tan(math.acos(min(1.0, w @ target)))
            assert after**2 <= (1 - margin**2) * before**2 * (1 + 1e-6) + 1e-9, (before, after)
    return {"mistaken rows": wrong, "weights": w}


def dichotomies(points):
    """Lists all dichotomies of points in general position.

    Near a vector w that is orthogonal to d-1 points, all signs of these points occur, and every cell touches such a
    w.
    """
    n, d = points.shape
    found = set()
    for edge in itertools.combinations(range(n), d - 1):
        w = np.linalg.svd(points[list(edge)])[2][-1]
        for side in (1.0, -1.0):
            labels = [sign(side * (w @ x)) for x in points]
            for own in itertools.product((1.0, -1.0), repeat=d - 1):
                for i, y in zip(edge, own):
                    labels[i] = y
                found.add(tuple(labels))
    return frozenset(found)


def labelling_game(given):
    points = rows(given)
    everything = dichotomies(points)
    known = {}

    def values(left):
        """Returns the mistakes in a chosen order, in the worst order, and in random order for a uniform dichotomy."""
        if len(left) == 1:
            return 0, 0, 0.0
        if left not in known:
            chosen, worst, average = math.inf, 0, []
            for i in range(len(points)):
                parts = [frozenset(l for l in left if l[i] == y) for y in (1.0, -1.0)]
                if not all(parts):
                    continue
                plus, minus = values(parts[0]), values(parts[1])
                chosen = min(chosen, max(plus[0], 1 + minus[0]), max(minus[0], 1 + plus[0]))
                worst = max(worst, min(max(plus[1], 1 + minus[1]), max(minus[1], 1 + plus[1])))
                sizes = [len(part) for part in parts]
                cost = min(sizes) + sizes[0] * plus[2] + sizes[1] * minus[2]
                average.append(cost / len(left))
            known[left] = chosen, worst, sum(average) / len(average)
        return known[left]

    chosen, worst, average = values(everything)
    return {"dichotomies": [len(everything)], "chosen": [chosen], "worst": [worst], "random, on average": [average]}


def radially_isotropic(given):
    """Computes Tyler's fixed point from the raw points.

    Radially isotropic position is unique up to a rotation, so inner products are compared.
    """
    points = rows(given)
    n, d = points.shape
    u = np.array([unit(x) for x in points])
    for _ in range(20_000):
        m = d / n * u.T @ u
        values, vectors = np.linalg.eigh(m)
        if values[0] > 1 - 1e-9:
            break
        u = u @ (vectors / np.sqrt(values)) @ vectors.T
        u = np.array([unit(x) for x in u])
    moved = np.array([unit(x) for x in np.reshape(given["moved"], (n, d))])
    assert np.abs(np.abs(moved @ moved.T) - np.abs(u @ u.T)).max() < 1e-4, "another position"
    values = np.linalg.eigvalsh(d / n * moved.T @ moved)
    return {"eigenvalues": [values[0], values[-1]]}


def super_linear(given):
    log_excess, rho, failure = (given[name][0] for name in ("log_excess", "rho", "failure"))
    decays = max(0, math.ceil(math.log(log_excess / 2) / -math.log(1 - rho)))
    steps = decays
    # Computes P[Bin(T, 2/3) < decays] exactly, as an integer divided by 3^T.
    while sum(math.comb(steps, i) * 2**i for i in range(decays)) > fractions.Fraction(failure) * 3**steps:
        steps += 1
    return {"decays": [decays], "steps": [steps]}


def chain_length(given):
    d, n, delta = given["setting"]
    return {"buckets": [math.ceil(24 * d * max(math.log(math.log(n)), 0) + 4.5 * math.log(4 / delta))]}


def random_order(given):
    d, n = given["dim"][0], given["n"][0]
    bound = (d - 1) ** 2 / (2 * math.pi * math.e * d) * math.log(n / d)
    # kappa = int 1 dp / int h(p)/min(p, 1-p) dp over (0, 1), with the substitution p = e^-s on both halves.
    s = np.linspace(math.log(2), 60, 400_001)
    p = np.exp(-s)
    h = s * p - (1 - p) * np.log1p(-p)
    kappa = 1 / (2 * np.trapezoid(h, s))
    return {"bound": [bound], "rate": [kappa * (d - 1), (d - 1) / 2]}


# ---- learners for noisy labels


def perspectron_steps(given, link, denominator, step, projected, stop):
    w = np.zeros(int(given["dim"][0]))
    for t, (x, y) in enumerate(examples(given)):
        if t == stop:
            return w
        value = w @ x
        w = w - step * (link(max(-1.0, min(1.0, value))) - y) / denominator(abs(value)) * x
        if projected:
            w = w / max(1.0, math.sqrt(w @ w))
    return w


def fresh_errors(given, w, after, count):
    fresh = itertools.islice(examples(given), after, after + count)
    return sum(sign(w @ x) != y for x, y in fresh)


def perspectron(given):
    eta, gamma, eps, delta = given["setting"]
    log = math.log(3 / delta)
    assert given["denominator"] == [1.0], "the denominator is not max(|w . x|, gamma)"
    length = math.ceil(16 * (1 - eta) ** 2 * (1 + (1 + gamma) * math.sqrt(2 * log)) ** 2 / (eps * gamma) ** 2)
    step = gamma / (2 * (1 - eta) * math.sqrt(length))
    candidates = math.ceil((4 * eta + 2 * eps) / eps * log)
    fresh = math.ceil(8 / eps**2 * math.log(6 * candidates / delta))
    denominator = lambda a: max(a, gamma)
    link = lambda t: (1 - 2 * eta) * sign(t)
    w = perspectron_steps(given, link, denominator, step, True, int(given["step"][0]))
    return {"plan": [length, step, candidates, fresh], "weights": w, "errors": [fresh_errors(given, w, length, fresh)]}


def printed_constants(_):
    eps, gamma = 0.1, 0.2
    return {
        "constants": [
            math.ceil(16 / (eps * gamma) ** 2 - 1e-6),
            gamma / (2 * math.sqrt(40_000)),
            math.ceil(math.log2(2 / 0.1)),
            math.ceil(8 / 0.2**2 * math.log(4 * 10_000 / 0.1)),
        ]
    }


def glm_perspectron(given):
    scale, gamma, eps, delta, extra = given["setting"]
    link = lambda t: sign(t) * max(0.0, abs(math.tanh(scale * t / 2)) - 2 * extra)
    log = math.log(3 / delta)
    length = math.ceil(16 * (2 + (2 + gamma) * math.sqrt(2 * log)) ** 2 / (eps * gamma) ** 2)
    step = gamma / (4 * math.sqrt(length))
    level = (1 - min(abs(link(gamma)), abs(link(-gamma)))) / 2
    candidates = math.ceil((4 * level + 2 * eps) / eps * log)
    fresh = math.ceil(8 / eps**2 * math.log(6 * candidates / delta))
    w = perspectron_steps(given, link, lambda a: max(a, gamma / 2), step, True, int(given["step"][0]))
    return {"plan": [length, step, candidates, fresh], "weights": w, "errors": [fresh_errors(given, w, length, fresh)]}


def certificate(given):
    points, target, w = rows(given), np.array(given["target"]), np.array(given["w"])
    total = 0.0
    for x, flip in zip(points, given["flips"]):
        a = abs(w @ x)
        d = a + 0.2 if given["denominator"][0] == 0 else max(a, 0.2)
        mean = (1 - 2 * flip) * sign(target @ x)
        total += (0.4 * sign(w @ x) - mean) / d * (x @ (w - target))
    return {"certificate": [total / len(points)]}


def online_massart(given):
    eta, gamma = given["setting"]
    t = len(given["labels"])
    step = gamma / (2 * (1 - eta) * math.sqrt(t))
    w, mistakes = np.zeros(int(given["dim"][0])), 0
    for x, y in examples(given):
        mistakes += sign(w @ x) != y
        w = w - step * ((1 - 2 * eta) * sign(w @ x) - y) / (abs(w @ x) + gamma) * x
    excess = (1 - eta) * math.sqrt(t) / gamma
    return {
        "mistakes": [mistakes],
        "weights": w,
        "excess": [excess],
        "deviation": [math.sqrt(t * math.log(1 / 0.05) / 2) / gamma],
    }


def push_away(given):
    w, gamma = unit(np.array(given["w"])), given["margin"][0]
    moved = []
    for x in rows(given):
        if abs(w @ x) < gamma / 3:
            x = unit(x + gamma / 3 * sign(w @ x) * w)
        assert abs(w @ x) >= gamma / 6
        moved.extend(x)
    return {"moved": moved}


# ---- bounds


def projected_dimension(given):
    n, gamma, delta = given["setting"]
    return {"dimension": [math.ceil(16 * math.log(4 * n / delta) / (gamma**2 * (1 - gamma / 2)))]}


def clopper_pearson(given):
    errors, points, delta = int(given["setting"][0]), int(given["setting"][1]), given["setting"][2]

    def tail(p):
        terms = (math.comb(points, i) * p**i * (1 - p) ** (points - i) for i in range(errors + 1))
        return math.fsum(terms)

    low, high = errors / points, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > delta else (low, middle)
    return {"bound": [high]}


def wrong_labels(given):
    d, points, delta = given["setting"]
    log = math.log(1 / delta)
    n = min(points, (math.sqrt(log / 2) + math.sqrt(log / 2 + 2 * d)) ** 2)
    return {"bound": [min(points, math.floor(d + math.sqrt(2 * n * log)))]}


RECOMPUTE = {
    "K1": halving, "K2": grid_halving, "K3": perceptron, "K4": batch_perceptron, "K5": margin_perceptron, "K6": kernel_perceptron,
    "K7": modified_perceptron, "K8": ellipsoid, "K10": passive_aggressive, "K11": winnow, "K12": alma, "K13": second_order,
    "S1": greedy, "S12": labelling_game, "F1": radially_isotropic, "S5": chain_length, "S5x": super_linear, "S14": random_order, "P8": perspectron,
    "P3": printed_constants, "P7": glm_perspectron, "P15": glm_perspectron, "P1": certificate, "P9": online_massart,
    "P11": push_away, "P12": projected_dimension, "PT": clopper_pearson, "PW": wrong_labels,
}  # fmt: skip


# Wrong constants, signs and comparisons. `--check-faults` plants each in turn and requires that its claim then differs.
FAULTS = [
    ("K1", "alive = alive[votes == y]", "alive = alive[votes != -2 * y]"),
    ("K2", "2 * math.ceil(2 * r * w * d / gamma)", "math.ceil(4 * r * w * d / gamma)"),
    ("K3", "w = w + y * x\n    return", "w = w + y * x / 2 + 0.1\n    return"),
    ("K5", "margin <= threshold", "margin <= 0.9 * threshold"),
    ("K6", "(1 + x @ z) ** value", "(x @ z) ** value"),
    ("K7", "2 * math.log(1 / alpha) / sigma**2", "math.log(1 / alpha) / sigma**2"),
    ("K8", "p - 2 / (d + 1)", "p - 2 / (d + 2)"),
    ("K8", "2 * d * (d + 1) * math.log", "2 * d * d * math.log"),
    ("K10", "max(0.0, 1 - y", "max(0.0, 0.5 - y"),
    ("K11", "sign(w @ x - n)", "sign(w @ x - n / 2)"),
    ("K12", "math.sqrt(8) / alpha", "math.sqrt(7) / alpha"),
    ("K13", "s + np.outer(x, x)", "s + 2 * np.outer(x, x)"),
    ("S1", "max(left, key=lambda i: abs", "min(left, key=lambda i: abs"),
    ("S1", "(1 - margin**2) * before", "(1 - margin) * before"),
    ("S12", "max(minus[0], 1 + plus[0])", "max(minus[0], plus[0])"),
    ("S5", "24 * d", "23 * d"),
    ("S5", "4.5 * math.log", "4 * math.log"),
    ("S5x", "* 2**i for", "* 1**i for"),
    ("S14", "(d - 1) ** 2 / (2", "(d - 1) ** 2 / (3"),
    ("P8", "(1 + gamma) * math.sqrt(2 * log)", "(1 + gamma) * math.sqrt(3 * log)"),
    ("P8", "lambda a: max(a, gamma)\n", "lambda a: max(a, gamma / 2)\n"),
    ("P3", "math.log2(2 / 0.1)", "math.log2(1 / 0.1)"),
    ("P7", "lambda a: max(a, gamma / 2),", "lambda a: max(a, gamma),"),
    ("P15", "2 * extra", "extra"),
    ("P1", "(x @ (w - target))", "(x @ w)"),
    ("P9", "step * ((1 - 2 * eta)", "step * ((1 - eta)"),
    ("P11", "x + gamma / 3 * sign", "x + gamma / 4 * sign"),
    ("P12", "16 * math.log(4 * n", "8 * math.log(4 * n"),
    ("PT", "range(errors + 1)", "range(errors)"),
    ("PW", "d + math.sqrt(2 * n * log)", "d + math.sqrt(n * log)"),
]  # fmt: skip


def deviation(found, expected):
    found, expected = np.atleast_1d(np.array(found, float)), np.array(expected, float)
    if found.shape != expected.shape:
        return math.inf
    if not expected.size:
        return 0.0
    off = np.abs(found - expected).max() / max(1e-300, np.abs(expected).max())
    return float(off) if off == off else math.inf


def compare(record, recompute):
    """Returns the name, the recomputed values and the deviation of each quantity.

    The deviation is infinite if a check during the computation fails.
    """
    try:
        found = recompute(record["given"])
    except AssertionError as failed:
        print(f"{record['claim']}: {failed}", file=sys.stderr)
        found = {}
    if found and found.keys() != record["found"].keys():
        sys.exit(f"{record['claim']}: {sorted(record['found'])} are exported, {sorted(found)} recomputed")
    return [(name, found.get(name, [math.nan]), deviation(found.get(name, []), ours)) for name, ours in record["found"].items()]


def within(claim, off):
    return off <= TOLERANCE.get(claim, DEFAULT_TOLERANCE)


def check_faults(records):
    """Plants every fault of FAULTS in this script, and then a small change in every exported quantity.

    Returns the number of faults and changes that were not detected.
    """
    missed = 0
    source, end = pathlib.Path(__file__).read_text(), "\nRECOMPUTE = {"
    code, names = source.split(end)[:2]
    names = end + names.split("# Wrong constants")[0]
    for claim, right, wrong in FAULTS:
        if right not in code:
            sys.exit(f"{claim}: {right!r} is not in the script; adapt FAULTS")
        space = {"__file__": __file__, "__name__": "planted"}
        exec(code.replace(right, wrong) + names, space)
        cases = [record for record in records if record["claim"] == claim]
        caught = any(not within(claim, off) for record in cases for _, _, off in compare(record, space["RECOMPUTE"][claim]))
        missed += not caught
        print(f"{'found ' if caught else 'MISSED'} {claim}: {wrong.splitlines()[0]} for {right.splitlines()[0]}")
    quantities = 0
    for record in records:
        for name, values, _ in compare(record, RECOMPUTE[record["claim"]]):
            ours = np.array(record["found"][name], float)
            at = int(np.abs(ours).argmax())
            ours[at] += 1.0 if ours[at] == round(ours[at]) else 1e-3 * abs(ours[at])
            quantities += 1
            if within(record["claim"], deviation(values, ours)):
                missed += 1
                print(f"MISSED {record['claim']}: a change of {name}")
    print(f"{len(FAULTS)} faults here and {quantities} changed results there, {missed} missed")
    return missed


INTRODUCTION = """# Recomputed numbers

Two programs compute the same numbers from the same small data: the library, and `benches/peers/recompute.py`, which is written from the sources and
docs/theory in numpy and shares no code with it. Learners run on exported points and labels; the table shows the largest entry of the first case. The
difference is the largest one over all cases and entries, relative to the largest entry of its result. Counts of mistakes are compared as numbers, so
a tolerance below 1e-3 allows no other count. The data are small and drawn for this comparison: it tests that the claims compute what the theorems
say, not the trials of the ledger. For P7, P8 and P15 the step of the chosen candidate is given, so the choice itself is not recomputed. For F1 the
position is recomputed, compared up to a rotation to 1e-4, and its eigenvalues are those of the exported points.

```sh
python3 -m venv target/peers-venv && target/peers-venv/bin/pip install numpy
target/peers-venv/bin/python benches/peers/recompute.py --table docs/results/recomputed.md
target/peers-venv/bin/python benches/peers/recompute.py --check-faults
```

The second command plants wrong constants, signs and comparisons in the script, and changes every exported result; each must be found.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=20261201, help="the seed of the exported data")
    parser.add_argument("--exported", type=pathlib.Path, help="a file with the lines of export_runs, instead of running it")
    parser.add_argument("--table", type=pathlib.Path, help="also write the page with the table to this file")
    parser.add_argument("--check-faults", action="store_true", help="plant faults, and fail if one is not found")
    options = parser.parse_args()
    if options.exported:
        text = options.exported.read_text()
    else:
        command = ["cargo", "run", "-q", "--locked", "-p", "halfspaces", "--example", "export_runs", "--", f"seed={options.seed}"]
        text = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    records = [json.loads(line) for line in text.splitlines()]
    if missing := RECOMPUTE.keys() - {record["claim"] for record in records}:
        sys.exit(f"not exported: {', '.join(sorted(missing))}")
    if options.check_faults:
        sys.exit(check_faults(records) > 0)
    rows = {}
    for record in records:
        claim = record["claim"]
        for name, values, off in compare(record, RECOMPUTE[claim]):
            ours, theirs = np.array(record["found"][name], float), np.atleast_1d(np.array(values, float))
            at = int(np.abs(ours).argmax()) if ours.size else 0
            shown = [f"{v[at]:.10g}" if at < v.size else "none" for v in (ours, theirs)]
            row = rows.setdefault((claim, name), [*shown, 0.0, 0])
            row[2], row[3] = max(row[2], off), row[3] + 1
    lines = ["| claim | quantity | ours | recomputed | largest difference | tolerance | cases |", "|---|---|---|---|---|---|---|"]
    differs = 0
    for (claim, name), (ours, theirs, off, cases) in rows.items():
        differs += not within(claim, off)
        mark = "" if within(claim, off) else " **differs**"
        lines.append(f"| {claim} | {name} | {ours} | {theirs} | {off:.0e}{mark} | {TOLERANCE.get(claim, DEFAULT_TOLERANCE):.0e} | {cases} |")
    print("\n".join(lines))
    print(f"{len(RECOMPUTE)} claims, {len(rows)} quantities, {differs} differ", file=sys.stderr)
    if options.table:
        options.table.write_text(INTRODUCTION + "\n".join(lines) + "\n")
    sys.exit(differs > 0)


if __name__ == "__main__":
    main()
