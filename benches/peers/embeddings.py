"""Classification of embeddings: our command compared with scikit-learn, on the same splits of the same rows.

The embeddings are an NPY file; the classes of its rows are in the last column of a CSV file. Splits and noise are those
of texts.py: 70 % of the rows are for training, and their labels are clean, or a quarter of them is replaced by a class
drawn at random. The peers are logistic regression, a linear SVM and an SVM with the RBF kernel. The C of each is chosen
from 0.3 to 10 by five-fold cross-validation; some also run with C = 1. The programs take turns and use one thread each.
The seconds are those of fit and predict; ours include reading and writing CSV files. Our program is built with `cargo
build --release -p halfspaces-cli`.
"""

import argparse
import pathlib
import subprocess
import tempfile
import time

import texts  # This import comes first because it sets the number of threads.
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.svm import SVC, LinearSVC
from tables import ROOT

GRID = {"C": (0.3, 1, 3, 10)}
PEERS = {
    "logistic regression, C = 1": lambda: LogisticRegression(max_iter=2000),
    "logistic regression, C by CV": lambda: GridSearchCV(LogisticRegression(max_iter=2000), GRID, cv=5),
    "linear SVM, C by CV": lambda: GridSearchCV(LinearSVC(), GRID, cv=5),
    "RBF machine, C = 1": SVC,
    "RBF machine, C by CV": lambda: GridSearchCV(SVC(), GRID, cv=5),
}


def ours(program, names):
    def run(train, given, test):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            columns = [f"c{at}" for at in range(train.shape[1])]
            pd.DataFrame(train, columns=columns).assign(label=names[given]).to_csv(place / "train.csv", index=False)
            pd.DataFrame(test, columns=columns).to_csv(place / "test.csv", index=False)
            start = time.perf_counter()
            fit = [program, "fit", "train.csv", "--label", "label", "--threads", "1", "-o", "model.json"]
            predict = [program, "predict", "model.json", "test.csv", "--threads", "1", "-o", "labels.csv"]
            for command in (fit, predict):
                subprocess.run(command, cwd=place, capture_output=True, check=True)
            seconds = time.perf_counter() - start
            labels = pd.read_csv(place / "labels.csv", dtype=str, keep_default_na=False)["label"].values
            return np.searchsorted(names, labels.astype(names.dtype)), seconds

    return run


def peer(make):
    def run(train, given, test):
        start = time.perf_counter()
        found = make().fit(train, given).predict(test)
        return found, time.perf_counter() - start

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("embeddings", type=pathlib.Path)
    parser.add_argument("table", type=pathlib.Path, help="CSV file, class last")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--program", default=ROOT / "target/release/halfspaces")
    options = parser.parse_args()
    points = np.load(options.embeddings).astype(float)
    labels = pd.read_csv(options.table, dtype=str, keep_default_na=False).iloc[: len(points), -1].values
    names, classes = np.unique(labels, return_inverse=True)
    program = str(pathlib.Path(options.program).resolve())
    runs = {"ours": ours(program, names)} | {name: peer(make) for name, make in PEERS.items()}
    entries = []
    for split in range(options.splits):
        train, test = train_test_split(np.arange(len(points)), test_size=0.3, stratify=classes, random_state=split)
        for noise in ("clean", "uniform"):
            given = texts.noisy(classes[train], len(names), noise, split)
            entry = {"set": options.embeddings.stem, "rows": len(points), "classes": len(names), "noise": noise, "split": split}
            entry |= {"errors": {}, "seconds": {}}
            for name in map(str, np.random.default_rng(split).permutation(list(runs))):
                found, entry["seconds"][name] = runs[name](points[train], given, points[test])
                entry["errors"][name] = 100 * np.mean(found != classes[test])
            entries.append(entry)
    texts.report(list(runs), entries)


if __name__ == "__main__":
    main()
