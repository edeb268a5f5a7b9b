"""Measures fits to Parquet files that are larger than the memory of the workers.

    python larger_than_memory.py FOLDER --gigabytes 4 --workers 2 --memory 700MB

Creates the files if the folder has none. Prints the seconds of each fit, their ratio to the time of reading the files
once, and the peak memory of a worker.
"""

import argparse
import re
import time
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from halfspaces.dask import (
    AveragedPerceptron,
    ForsterTransform,
    LogisticRegression,
    count_errors,
    label,
    largest_margins,
)

COLUMNS, ROW_GROUP, FILE_ROWS = 50, 50_000, 500_000


def make(folder, gigabytes):
    """Write files of heavy-tailed correlated rows with labels, a tenth of which are wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    mix = np.random.default_rng(0).normal(size=(COLUMNS, COLUMNS))
    target = np.random.default_rng(1).normal(size=COLUMNS)
    for part in range(max(1, round(gigabytes * 1e9 / (8 * COLUMNS * FILE_ROWS)))):
        rng = np.random.default_rng([2, part])
        X = rng.normal(size=(FILE_ROWS, COLUMNS)) @ mix / np.sqrt(rng.chisquare(3, size=(FILE_ROWS, 1)))
        y = (X @ np.linalg.solve(mix, target) > 0) ^ (rng.random(FILE_ROWS) < 0.1)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)]).assign(y=y)
        file = folder / f"{part:04}.parquet"
        frame.to_parquet(file, row_group_size=ROW_GROUP, compression="zstd", use_dictionary=False)


def peak():
    """Return the largest resident memory of this process so far, in bytes."""
    # On Linux, `getrusage` may return the peak of the process that started this one.
    return int(re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]) * 1024


def main():
    """Create the files, and time each job."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="700MB")
    options = parser.parse_args()
    if not list(options.folder.glob("*.parquet")):
        make(options.folder, options.gigabytes)
    limits = {"n_workers": options.workers, "threads_per_worker": 1, "memory_limit": options.memory}
    with LocalCluster(**limits, dashboard_address=None) as cluster, Client(cluster) as client:
        table = dd.read_parquet(options.folder, split_row_groups=True)
        X, y = table[[f"x{j}" for j in range(COLUMNS)]], table["y"]
        rows = len(table)
        size = sum(file.stat().st_size for file in options.folder.glob("*.parquet"))
        print(f"{rows} x {COLUMNS}: {rows * COLUMNS * 8 / 1e9:.1f} GB in memory, {size / 1e9:.1f} GB of Parquet")
        times = {}

        def timed(name, work):
            start = time.perf_counter()
            result = work()
            times[name] = time.perf_counter() - start
            most = max(client.run(peak).values()) / 1e6
            multiple = times[name] / times["read once"]
            print(
                f"{name:22} {times[name]:7.1f} s  {multiple:5.1f} readings  peak of a worker {most:.0f} MB", flush=True
            )
            return result

        timed("read once", lambda: dask.compute(X.map_partitions(lambda part: part.to_numpy().sum()).sum()))
        forster = timed("Forster transform", lambda: ForsterTransform().fit(X))
        print(f"  {forster.outcome_}, residual {forster.residual_:.1e}, {forster.n_passes_} passes")
        logistic = timed("logistic regression", lambda: LogisticRegression(C=1e-3, tol=1e-8).fit(X, y))
        print(f"  {logistic.reports_[0]['n_iter']} steps, {logistic.reports_[0]['termination']}")
        timed("averaged perceptron", lambda: AveragedPerceptron(max_iter=3, fit_intercept=False).fit(X, y))
        timed("largest margins", lambda: largest_margins(X, logistic.coef_[0], 100))
        target = logistic.coef_[0]
        session = timed(
            "labelling 200 rows", lambda: label(X, lambda q: q.values @ target > 0, [False, True], budget=200)
        )
        print(f"  {session.progress.corrections} corrections, {session.n_scans_} scans")
        errors = timed("count errors", lambda: count_errors(X, y, logistic.coef_, logistic.intercept_))
        print(f"  logistic regression misclassifies {errors[0] / rows:.4%} of the rows")


if __name__ == "__main__":
    main()
