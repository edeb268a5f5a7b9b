"""Complete fits of the linear SVM and of logistic regression, compared with scikit-learn's solvers on the same data.

The data are tables in the given folder (CSV files with the class in the last column, columns standardised), and
Gaussian points labelled by a halfspace, whose columns have one common scale or scales from 1 to 100. On both sides, the
intercept of the SVM is penalised like a weight, and that of logistic regression is not penalised. All programs use one
thread. Times are medians of three fits per side, and our program runs first on each table. Our program is built with
`cargo build --release -p halfspaces --example time_fits`.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
import tables
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

warnings.filterwarnings("ignore")
SOLVERS = ("lbfgs", "newton-cholesky", "liblinear")
# The first tolerance is the default.
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


def median_of(fit):
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        model = fit()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[1], model


def values(model, points, labels):
    """Returns y (w · x + b), and the sum of the squares of the weights and the intercept."""
    w, b = model.coef_[0], model.intercept_[0]
    return labels * (points @ w + b), w @ w + b * b


def liblinear(points, labels, c):
    seconds, model = median_of(
        lambda: LinearSVC(loss="hinge", C=c, dual=True, max_iter=10_000).fit(points, labels)
    )
    margins, square = values(model, points, labels)
    return seconds, 0.5 * square + c * np.maximum(0, 1 - margins).sum()


def logistic(points, labels, reached):
    """Yields seconds, objective and solver of the fastest solver with its default tolerance, and of the fastest solver
    whose objective is at most `reached` up to eight digits, with whatever tolerance this takes. The intercept is not
    penalised, as usual in scikit-learn.
    """
    found = []
    for solver in SOLVERS:
        for tolerance in TOLERANCES:
            seconds, model = median_of(
                lambda: LogisticRegression(solver=solver, max_iter=1000, tol=tolerance).fit(points, labels)
            )
            margins, _ = values(model, points, labels)
            objective = 0.5 * model.coef_[0] @ model.coef_[0] + np.logaddexp(0, -margins).sum()
            found.append((seconds, objective, solver, tolerance))
    yield min(fit[:3] for fit in found if fit[3] == TOLERANCES[0])
    near = [fit for fit in found if fit[1] <= reached * (1 + 1e-8)]
    if near:
        seconds, objective, solver, tolerance = min(near)
        yield seconds, objective, f"{solver}, tol = {tolerance:.0e}"


def made(scales):
    generator = np.random.default_rng(1)
    points = generator.standard_normal((5000, 60))
    return points * scales, np.sign(points @ generator.standard_normal(60))


def inputs(options):
    for name in options.sets.split(","):
        points, labels = tables.load(options.folder, name)
        yield name, tables.standardised(points, points)[0], labels
    yield "separable", *made(np.ones(60))
    yield "separable, scaled columns", *made(np.logspace(0, 2, 60))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sets", default="spambase,magic,wdbc,pima")
    parser.add_argument("--program", default=tables.ROOT / "target/release/examples/time_fits")
    options = parser.parse_args()
    print("| table | fit | ours, ms | peer, ms | peer / ours | ours ends | objective, ours / peer - 1 |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / "table.csv"
        for name, points, labels in inputs(options):
            np.savetxt(path, np.column_stack([points, labels]), delimiter=",", fmt="%.17g")
            told = subprocess.run([options.program, path, "1"], check=True, capture_output=True, text=True).stdout
            for line in told.splitlines():
                kind, c, seconds, objective, end = line.split(maxsplit=4)
                seconds, objective = float(seconds), float(objective)
                if kind == "svm":
                    peers = [(*liblinear(points, labels, float(c)), "LIBLINEAR, hinge loss")]
                else:
                    fits = logistic(points, labels, objective)
                    peers = [(peer, reached, f"logistic regression, {solver}") for peer, reached, solver in fits]
                size = f"{len(points)} x {points.shape[1]}"
                for peer, reached, what in peers:
                    print(
                        f"| {name}, {size} | {what}, C = {c} | {1000 * seconds:.1f} | {1000 * peer:.1f} "
                        f"| {peer / seconds:.1f} | {end} | {objective / reached - 1:+.0e} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
