"""Probabilities of the command `halfspaces fit` and of scikit-learn on drawn tables of 60,000 rows.

Each of the seven kinds of tables is drawn with the given seeds. The models are fitted to 60,000 rows, and the error, the
log loss and the expected calibration error (ten bins of the probability of the predicted class) are measured on 60,000
other rows. The peers are HistGradientBoostingClassifier, alone and calibrated by cross-validation (isotonic), and
LogisticRegression. Our program is built with `cargo build --release -p halfspaces-cli`.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

ROWS = 60_000
BINS = 10


def logistic(rng, odds):
    return (rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(int)


def drawn(kind, seed):
    """Returns the points and classes of a table with 2 * ROWS rows."""
    rng, n = np.random.default_rng(seed), 2 * ROWS
    if kind.startswith("sine"):
        points = rng.standard_normal((n, 10))
        return points, logistic(rng, int(kind[-1]) * (np.sin(2 * points[:, 0]) + points[:, 1] / 2))
    if kind == "chessboard":
        points = rng.uniform(-2, 2, (n, 6))
        classes = ((np.floor(points[:, 0]) + np.floor(points[:, 1])) % 2).astype(int)
        return points, np.where(rng.random(n) < 0.2, 1 - classes, classes)
    if kind == "rare class":
        points = rng.standard_normal((n, 8))
        return points, logistic(rng, 1.5 * points[:, 0] + points[:, 1] * points[:, 2] - 4)
    if kind == "make_classification":
        return make_classification(
            n, 20, n_informative=8, n_redundant=4, flip_y=0.1, class_sep=0.7, random_state=seed
        )
    if kind == "three classes":
        points = rng.standard_normal((n, 8))
        x = points.T
        odds = np.exp(np.stack([1.2 * x[0], x[1] + x[2] ** 2 / 2 - 0.5, x[3] * x[0]], axis=1))
        shares = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
        return points, (rng.random((n, 1)) > shares).sum(axis=1)
    centres = 1.1 * rng.standard_normal((4, 10))
    classes = rng.integers(0, 4, n)
    points = centres[classes] + 1.5 * rng.standard_normal((n, 10))
    return points, np.where(rng.random(n) < 0.1, rng.integers(0, 4, n), classes)


KINDS = (
    "sine 2", "sine 4", "chessboard", "rare class", "make_classification", "three classes", "four classes, 10 % random",
)


def scores(probabilities, classes):
    """Returns the error, the log loss and the expected calibration error."""
    found, largest = probabilities.argmax(axis=1), probabilities.max(axis=1)
    correct = found == classes
    bins = np.minimum((largest * BINS).astype(int), BINS - 1)
    gaps = [abs(correct[bins == b].sum() - largest[bins == b].sum()) for b in range(BINS)]
    of_class = np.maximum(probabilities[np.arange(len(classes)), classes], 2.0**-52)
    return 1 - correct.mean(), -np.log(of_class).mean(), sum(gaps) / len(classes)


def ours(program, holdout, points, classes):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        table = pd.DataFrame(points, columns=[f"x{j}" for j in range(points.shape[1])])
        table["class"] = [f"c{k}" for k in classes]
        table[:ROWS].to_csv(folder / "train.csv", index=False)
        table[ROWS:].to_csv(folder / "test.csv", index=False)
        fit = [program, "fit", "train.csv", "--label", "class", "-o", "model.json", "--holdout", holdout]
        subprocess.run(fit, cwd=folder, check=True, capture_output=True)
        evaluate = [program, "evaluate", "model.json", "test.csv", "--json"]
        found = json.loads(subprocess.run(evaluate, cwd=folder, check=True, capture_output=True).stdout)
    found = found.get("evaluation", found)
    of = found["probabilities"]
    return found["error"]["rate"], of["log_loss"], of["calibration_error"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="3,4", help="seeds of the tables (default: 3,4)")
    parser.add_argument("--program", default="target/release/halfspaces")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    boosting = HistGradientBoostingClassifier
    peers = {
        "boosting": lambda: boosting(),
        "boosting, isotonic": lambda: CalibratedClassifierCV(boosting(), method="isotonic", cv=5),
        "logistic": lambda: LogisticRegression(max_iter=1000),
    }
    names = ["ours", "ours, --holdout 0", *peers]
    print("error / log loss / calibration error, in %, nats and %\n")
    print("| table | seed | " + " | ".join(names) + " |\n|---|---|" + "---|" * len(names))
    within = dict.fromkeys(names, 0)
    tables = [(kind, int(seed)) for kind in KINDS for seed in options.seeds.split(",")]
    for kind, seed in tables:
        points, classes = drawn(kind, seed)
        found = [ours(program, holdout, points, classes) for holdout in ("0.1", "0")]
        for make in peers.values():
            model = make().fit(points[:ROWS], classes[:ROWS])
            found.append(scores(model.predict_proba(points[ROWS:]), classes[ROWS:]))
        for name, of in zip(names, found, strict=True):
            within[name] += of[2] <= 0.01
        cells = [f"{100 * e:.1f} / {loss:.3f} / {100 * gap:.2f}" for e, loss, gap in found]
        print(f"| {kind} | {seed} | " + " | ".join(cells) + " |", flush=True)
    print("\ncalibration error at most 1 %: " + ", ".join(f"{name} {count}/{len(tables)}" for name, count in within.items()))


if __name__ == "__main__":
    main()
