"""The Forster transform (Tyler's M-estimator, uncentred) compared with pyRiemann and a plain numpy fixed point.

The Rust example `fit_file` draws the points once and writes them to files that all three programs read. Only the fits
are timed. The programs take turns and use one thread each. The output is a Markdown table with the medians of the times
and the medians of the ratios within each round.

The stopping rules:
- ours: the eigenvalues of M = (d/n) sum u u' are within 1e-9 of 1, certified from the points;
- numpy: the same eigenvalues, computed as those of L^-1 S' L^-T (S = LL', S' the next iterate), are within 1e-9 of 1;
- pyRiemann: ||S' - S|| <= 1e-9 ||S|| in the Frobenius norm, the only rule that it offers.
Both peers stop after at most CAP iterations. This script computes the residual max(1 - lmin, lmax - 1) of M for both
peers by the same rule. Our residual is the one that our program certifies.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

try:
    from pyriemann.geometry import covariance
except ImportError:
    sys.exit("pyriemann is missing: install benches/peers/requirements.txt")

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("gaussian", "student-t", "clustered")
SHAPES = ("10000x20", "100000x50", "100000x100", "1000000x50")
DELTA = 1e-9
CAP = 200
BLOCK = 100_000


def residual(x, scatter):
    """Returns max(1 - lmin, lmax - 1) of M for the given scatter; nan if the scatter has no Cholesky factor."""
    n, d = x.shape
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(scatter))
    except np.linalg.LinAlgError:
        return float("nan")
    moment = np.zeros((d, d))
    for first in range(0, n, BLOCK):
        u = x[first : first + BLOCK] @ inverse.T
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        moment += u.T @ u
    values = np.linalg.eigvalsh(moment * (d / n))
    return max(1 - values[0], values[-1] - 1)


def plain_numpy(x):
    """Iterates S <- (d/n) sum x x' / (x' S^-1 x) to its fixed point."""
    n, d = x.shape
    s = x.T @ x / n
    for step in range(1, CAP + 1):
        inverse = np.linalg.inv(np.linalg.cholesky(s))
        y = x @ inverse.T
        weights = d / np.einsum("ij,ij->i", y, y)
        following = (x * weights[:, None]).T @ x / n
        values = np.linalg.eigvalsh(inverse @ following @ inverse.T)
        if max(1 - values[0], values[-1] - 1) <= DELTA:
            return s, step
        s = following * (d / np.trace(following))
    return s, CAP


class Counted:
    """Counts the calls of a function, because pyRiemann does not report its number of iterations."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments, **named):
        self.calls += 1
        return self.function(*arguments, **named)


def pyriemann(columns):
    """Runs Tyler's estimator of pyRiemann, which expects points as columns."""
    counted = Counted(covariance.distance_mahalanobis)
    covariance.distance_mahalanobis, kept = counted, covariance.distance_mahalanobis
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scatter = covariance.covariance_mest(
                columns, "tyl", tol=DELTA, n_iter_max=CAP, assume_centered=True
            )
    finally:
        covariance.distance_mahalanobis = kept
    return scatter, counted.calls


def timed(function, *arguments):
    clock = time.perf_counter()
    try:
        scatter, steps = function(*arguments)
    except np.linalg.LinAlgError:
        return None, time.perf_counter() - clock, None
    return scatter, time.perf_counter() - clock, steps


def cell(seconds, steps, left):
    if steps is None:
        return "fails"
    reached = "" if left <= DELTA else f", only {left:.1e}"
    return f"{seconds:.3g} s ({steps}{reached})"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--shapes", nargs="+", default=SHAPES, help="n x d, as 10000x20")
    options.add_argument("--kinds", nargs="+", default=KINDS)
    options.add_argument("--runs", type=int, default=9, help="runs; 3 from five million numbers on")
    options = options.parse_args()

    package = ["-p", "halfspaces-forster", "--example", "fit_file"]
    subprocess.run(["cargo", "build", "-q", "--release", *package], cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = target / "release" / "examples" / "fit_file"

    def ours(*arguments):
        # numpy requests huge pages for its arrays; this setting makes glibc request them for our program.
        environment = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
        run = subprocess.run(
            [program, *arguments], check=True, capture_output=True, text=True, env=environment
        )
        return json.loads(run.stdout) if run.stdout else None

    print("| points | shape | ours | pyRiemann | numpy | pyRiemann / ours | numpy / ours |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for shape in options.shapes:
        n, d = map(int, shape.split("x"))
        runs = options.runs if n * d < 5_000_000 else min(3, options.runs)
        for kind in options.kinds:
            with tempfile.TemporaryDirectory() as folder:
                file = str(pathlib.Path(folder) / "points.f64")
                ours("generate", kind, str(n), str(d), file)
                x = np.fromfile(file, dtype="<f8").reshape(n, d)
                columns = np.ascontiguousarray(x.T)
                times, results = {"ours": [], "pyRiemann": [], "numpy": []}, {}
                # The first run of each peer is not counted. Our program is a new process each time.
                for call in ((pyriemann, columns), (plain_numpy, x)):
                    timed(*call)
                for _ in range(runs):
                    fit = ours("fit", file, str(n), str(d), str(DELTA))
                    times["ours"].append(fit["seconds"])
                    for name, call in (("pyRiemann", (pyriemann, columns)), ("numpy", (plain_numpy, x))):
                        scatter, seconds, steps = timed(*call)
                        times[name].append(seconds)
                        results[name] = (scatter, steps)
            medians = {name: statistics.median(values) for name, values in times.items()}
            steps = fit["fixed_point_steps"] + fit["newton_steps"]
            left = fit["residual"] if fit["resolved"] else float("nan")
            cells = [cell(medians["ours"], f"{steps}; {fit['passes']} passes", left)]
            for name in ("pyRiemann", "numpy"):
                scatter, steps = results[name]
                left = residual(x, scatter) if scatter is not None else None
                cells.append(cell(medians[name], steps, left))
            # The ratio is computed within each round, so that load on the machine affects both sides.
            ratios = []
            for name in ("pyRiemann", "numpy"):
                rounds = zip(times[name], times["ours"])
                ratios.append(f"{statistics.median(peer / own for peer, own in rounds):.1f}")
            print("|", " | ".join([kind, f"{n} × {d}", *cells, *ratios]), "|", flush=True)


if __name__ == "__main__":
    main()
