"""Errors and times of the command `halfspaces fit` and of scikit-learn on drawn tables with 1000 classes.

There are 18,000 rows to fit and 6000 to test. The kinds of tables are normal classes in 20 dimensions, normal classes
near a space of 4 dimensions, well separated classes, and classes that each consist of two clusters. Our program is built
with `cargo build --release -p halfspaces-cli`.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

CLASSES, FIT_ROWS, TEST_ROWS, DIM = 1000, 18_000, 6000, 20
KINDS = ("normal", "near 4 dimensions", "well separated", "two clusters a class")
PEERS = {
    "discriminant analysis": LinearDiscriminantAnalysis,
    "5 nearest neighbours": KNeighborsClassifier,
    "naive Bayes": GaussianNB,
    "logistic": lambda: LogisticRegression(max_iter=200),
}


def drawn(kind, seed):
    rng, n = np.random.default_rng(seed), FIT_ROWS + TEST_ROWS
    classes = np.arange(n) % CLASSES
    rng.shuffle(classes)
    noise = rng.standard_normal((n, DIM))
    if kind == "near 4 dimensions":
        plane = rng.standard_normal((4, DIM))
        return 2 * rng.standard_normal((CLASSES, 4))[classes] @ plane + 0.4 * noise, classes
    if kind == "two clusters a class":
        clusters = 2.5 * rng.standard_normal((2 * CLASSES, DIM))
        return clusters[classes + CLASSES * rng.integers(0, 2, n)] + 1.7 * noise, classes
    width = 5.0 if kind == "well separated" else 1.2
    return width * rng.standard_normal((CLASSES, DIM))[classes] + noise, classes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--program", default="target/release/halfspaces")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    names = ["ours", *PEERS]
    print("error in % (seconds of the fit)\n\n| table | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for kind in KINDS:
        points, classes = drawn(kind, options.seed)
        table = pd.DataFrame(points, columns=[f"x{j}" for j in range(DIM)]).assign(label=[f"c{k}" for k in classes])
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            table[:FIT_ROWS].to_csv(folder / "train.csv", index=False)
            table[FIT_ROWS:].to_csv(folder / "test.csv", index=False)
            start = time.perf_counter()
            fit = [program, "fit", "train.csv", "--label", "label", "--threads", "1", "-o", "model.json"]
            subprocess.run(fit, cwd=folder, check=True, capture_output=True)
            elapsed = time.perf_counter() - start
            evaluate = [program, "evaluate", "model.json", "test.csv"]
            text = subprocess.run(evaluate, cwd=folder, check=True, capture_output=True, text=True).stdout
        cells = [f"{float(re.search(r'error +([0-9.]+) %', text).group(1)):.1f} ({elapsed:.1f})"]
        for make in PEERS.values():
            start = time.perf_counter()
            model = make_pipeline(StandardScaler(), make()).fit(points[:FIT_ROWS], classes[:FIT_ROWS])
            elapsed = time.perf_counter() - start
            wrong = (model.predict(points[FIT_ROWS:]) != classes[FIT_ROWS:]).mean()
            cells.append(f"{100 * wrong:.1f} ({elapsed:.1f})")
        print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
