"""The default classifier for tables compared with common alternatives, on the same splits of the same files.

The data sets are CSV files in the given folder with the class in the last column. For every data set, noise and split,
a third of the rows (at most 3000, drawn with the seed of the split) is the test set, whose labels stay clean.
The noise on the other labels is one of three: clean, without flips; far25, where a label is flipped with probability
0.25 if the margin of its row is above the median; and side40, where the probability is 0.4 and only rows of the more
frequent class are flipped. The margin is that of a halfspace fitted to the clean labels (logistic regression with C =
10 on standardised rows that are lifted and scaled to norm 1).

With --several, the classifiers predict all classes of penbased, of satimage and of scikit-learn's digits. A row is then
far if the two largest values of a multinomial logistic regression differ by more than the median difference. far25
flips to another class at random, and side40 flips rows of the most frequent class to the second most likely one.

The output is Markdown: the mean errors in per cent and, for every data set and noise, the difference from the best peer
with its standard error over the splits. Our program is built with `cargo build --release -p halfspaces-tables --example
serve`.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import json
import pathlib
import struct
import subprocess
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[2]
# The data sets: name, positive class, and whether the file has a header.
SETS = {
    "wdbc": ("M", False), "ionosphere": ("g", False), "magic": ("g", False), "spambase": ("1", False),
    "mushroom": ("p", False), "pima": ("tested_positive", True), "heart": ("2", True),
    "titanic": ("1.0", True), "banana": ("1.0", True), "australian": ("1", True),
    "penbased": ("8", True), "satimage": ("4", True), "ring": ("1", True),
}
SEVERAL = ("penbased", "satimage", "digits")
NOISES = ("clean", "far25", "side40")


def load(folder, name):
    positive, header = SETS[name]
    table = pd.read_csv(folder / f"{name}.csv", header=0 if header else None, skipinitialspace=True)
    classes = table.iloc[:, -1].astype(str).str.strip()
    labels = np.where((classes == positive) | (classes == positive.removesuffix(".0")), 1.0, -1.0)
    assert 0 < (labels > 0).sum() < len(labels), name
    return pd.get_dummies(table.iloc[:, :-1]).astype(float).values, labels


def standardised(points, others):
    mean, deviation = points.mean(0), points.std(0)
    deviation[deviation == 0] = np.inf
    return (points - mean) / deviation, (others - mean) / deviation


def noisy(points, labels, noise, seed):
    labels = labels.copy()
    if noise == "clean":
        return labels
    unit = np.c_[standardised(points, points)[0], np.ones(len(points))]
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    margin = np.abs(unit @ LogisticRegression(C=10, fit_intercept=False, max_iter=500).fit(unit, labels).coef_[0])
    far = margin > np.median(margin)
    coins = np.random.default_rng(77 + seed).random(len(labels))
    frequent = 1 if (labels > 0).sum() * 2 > len(labels) else -1
    labels[far & (coins < 0.25) if noise == "far25" else far & (labels == frequent) & (coins < 0.4)] *= -1
    return labels


def load_several(folder, name):
    if name == "digits":
        return load_digits(return_X_y=True)
    table = pd.read_csv(folder / f"{name}.csv")
    return table.iloc[:, :-1].astype(float).values, np.unique(table.iloc[:, -1], return_inverse=True)[1]


def noisy_several(points, classes, noise, seed):
    classes = classes.copy()
    if noise == "clean":
        return classes
    unit = np.c_[standardised(points, points)[0], np.ones(len(points))]
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    values = LogisticRegression(C=10, max_iter=500).fit(unit, classes).decision_function(unit)
    ordered = np.sort(values, axis=1)
    gap = ordered[:, -1] - ordered[:, -2]
    far = gap > np.median(gap)
    generator = np.random.default_rng(77 + seed)
    coins, count = generator.random(len(classes)), values.shape[1]
    if noise == "far25":
        flipped = far & (coins < 0.25)
        classes[flipped] = (classes[flipped] + generator.integers(1, count, flipped.sum())) % count
    else:
        flipped = far & (classes == np.bincount(classes).argmax()) & (coins < 0.4)
        values[np.arange(len(classes)), classes] = -np.inf
        classes[flipped] = values.argmax(axis=1)[flipped]
    return classes


class Ours:
    def __init__(self, program):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([program], stdin=pipe, stdout=pipe)

    def __call__(self, points, labels, others, seed, threads=1, max_rows=0, several=False):
        head = struct.pack("<7Q", *points.shape, len(others), seed, threads, max_rows, several)
        parts = [np.ascontiguousarray(part, "<f8").tobytes() for part in (points, labels, others)]
        self.process.stdin.write(head + b"".join(parts))
        self.process.stdin.flush()
        answer = np.frombuffer(self.process.stdout.read(8 * (len(others) + 4)), "<f8")
        return answer[:-4], answer[-4:]


def peers():
    found = {
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "linear SVM": lambda: LinearSVC(),
        "RBF SVM": lambda: SVC(),
    }
    try:
        from lightgbm import LGBMClassifier

        found["LightGBM"] = lambda: LGBMClassifier(verbose=-1, n_jobs=1)
    except ImportError:
        print("lightgbm: missing")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--sets")
    parser.add_argument("--several", action="store_true", help="tell several classes apart")
    parser.add_argument("--program", default=ROOT / "target/release/examples/serve")
    parser.add_argument("--save", type=pathlib.Path, help="errors of every fit, as JSON lines")
    options = parser.parse_args()
    ours, others = Ours(options.program), peers()
    names = ["ours", *others]
    sets = options.sets.split(",") if options.sets else SEVERAL if options.several else SETS
    errors = {}
    for split in range(options.splits):
        for name in sets:
            points, labels = (load_several if options.several else load)(options.folder, name)
            rows = np.random.default_rng(1000 + split).permutation(len(labels))[: options.rows]
            test, train = rows[: len(rows) // 3], rows[len(rows) // 3 :]
            scaled, scaled_test = standardised(points[train], points[test])
            for noise in NOISES:
                given = (noisy_several if options.several else noisy)(points[train], labels[train], noise, split)
                values, (wrong, kept_back, bound, seconds) = ours(
                    points[train], given, points[test], split, several=options.several
                )
                found = {"ours": values if options.several else np.where(values >= 0, 1, -1)}
                times = {"ours": seconds}
                for peer, make in others.items():
                    start = time.perf_counter()
                    found[peer] = make().fit(scaled, given).predict(scaled_test)
                    times[peer] = time.perf_counter() - start
                of = {peer: 100 * np.mean(y != labels[test]) for peer, y in found.items()}
                errors.setdefault((name, noise), []).append([of[peer] for peer in names])
                if options.save:
                    entry = {"set": name, "noise": noise, "split": split, "errors": of, "seconds": times,
                             "kept_back": [wrong, kept_back], "bound": bound}
                    with options.save.open("a") as file:
                        file.write(json.dumps(entry) + "\n")
    report(names, errors)


def report(names, errors):
    splits = max(len(of) for of in errors.values())
    print("| set | noise |", " | ".join(names), "| ours - best peer |")
    print("|---|---|" + "---|" * (len(names) + 1))
    for (name, noise), of in errors.items():
        of = np.array(of)
        mean = of.mean(0)
        best = 1 + mean[1:].argmin()
        gap = of[:, 0] - of[:, best]
        deviation = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
        mark = " **" if gap.mean() > max(0.5, 2 * deviation) else ""
        print(f"| {name} | {noise} |", " | ".join(f"{v:.1f}" for v in mean), f"| {gap.mean():+.1f} ± {deviation:.1f}{mark} |")
    for noise in NOISES:
        of = np.array([np.mean(v, 0) for (_, kind), v in errors.items() if kind == noise])
        print(f"| mean of {len(of)} sets | {noise} |", " | ".join(f"{v:.2f}" for v in of.mean(0)), f"| {splits} splits |")


if __name__ == "__main__":
    main()
