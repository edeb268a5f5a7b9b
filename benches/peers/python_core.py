"""The estimators of the Python package compared with the same fits in Rust, on the same data in one run.

Both sides fit 10^6 rows of 50 columns (`--rows`, `--columns`), dense and sparse, with one thread. The time of the
package includes the checks of scikit-learn and the encoding of the classes. The Rust side is `cargo run --release -p
halfspaces --example time_python_core -- FILE LEARNER`, which reads the same file and prints the time of the fit and of
the check that all numbers are finite. The output shows the medians over `--runs` runs and their ratio.
"""

import argparse
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from scipy import sparse

import halfspaces

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEARNERS = {
    "averaged": lambda: halfspaces.AveragedPerceptron(passes=1, shuffle=False),
    "perspectron": lambda: halfspaces.PerspectronClassifier(passes=1),
    "svm": lambda: halfspaces.LinearSVM(C=0.001),
    "logistic": lambda: halfspaces.LogisticRegression(),
    "massart": lambda: halfspaces.MassartClassifier(noise_rate=0.1),
    "auto": lambda: halfspaces.HalfspaceClassifier(),
}


def write(path, points, y):
    counts, parts = [*points.shape, 0], [points]
    if sparse.issparse(points):
        counts[2] = points.nnz
        parts = [points.indptr.astype("<u8"), points.indices.astype("<u8"), points.data]
    with path.open("wb") as file:
        for part in (np.array(counts, "<u8"), y.astype("<f8"), *parts):
            part.tofile(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--learners", default=",".join(LEARNERS))
    parser.add_argument("--program", default=ROOT / "target/release/examples/time_python_core")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.rows, options.columns))
    y = (X @ rng.normal(size=options.columns) > 0) ^ (rng.random(options.rows) < 0.1)
    holes = sparse.csr_array(np.where(rng.random(X.shape) < 0.1, X, 0.0))
    print("| learner | rows | Python, s | Rust, s | ratio |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        dense_file, sparse_file = pathlib.Path(folder) / "dense", pathlib.Path(folder) / "sparse"
        write(dense_file, X, y)
        write(sparse_file, holes, y)
        for learner in options.learners.split(","):
            for kind, points, file in (("dense", X, dense_file), ("sparse", holes, sparse_file)):
                python, rust = [], []
                for _ in range(options.runs):
                    # The Rust program has just written its rows, so they are partly in the cache. This sum has the same
                    # effect for the rows of Python.
                    float(points.sum())
                    start = time.perf_counter()
                    LEARNERS[learner]().fit(points, y)
                    python.append(time.perf_counter() - start)
                    done = subprocess.run([options.program, file, learner], check=True, capture_output=True, text=True)
                    rust.append(float(done.stdout))
                ours, core = np.median(python), np.median(rust)
                print(f"| {learner} | {kind} | {ours:.3f} | {core:.3f} | {ours / core:.3f} |", flush=True)


if __name__ == "__main__":
    main()
