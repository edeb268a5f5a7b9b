"""The estimators of the Python package compared with common alternatives in Python, on the same files in one run.

The data sets are CSV files in the given folder with the class in the last column. The rows and the noises of each data
set and split are those of `tables.py`. Each classifier is fitted by the code that its user would write, in a process of
its own with one thread. The column `lines` counts the lines of this code. The output shows mean errors in per cent, the
median time of fit and predict, and the median of the peak memory above that of the data.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import multiprocessing
import pathlib
import resource
import textwrap
import time
import warnings

import numpy as np

from tables import NOISES, SETS, load, noisy

USES = {
    "halfspaces": "from halfspaces import HalfspaceClassifier\nmodel = HalfspaceClassifier()",
    "halfspaces Perspectron": """
        from halfspaces import PerspectronClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        model = make_pipeline(StandardScaler(), PerspectronClassifier())""",
    "halfspaces Massart": "from halfspaces import MassartClassifier\nmodel = MassartClassifier()",
    "Perceptron": """
        from sklearn.linear_model import Perceptron
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        model = make_pipeline(StandardScaler(), Perceptron())""",
    "logistic": """
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        model = make_pipeline(StandardScaler(), LogisticRegression())""",
    "linear SVM": """
        from sklearn.svm import LinearSVC
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        model = make_pipeline(StandardScaler(), LinearSVC())""",
    "RBF SVM": """
        from sklearn.svm import SVC
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        model = make_pipeline(StandardScaler(), SVC())""",
    "modified Huber": """
        from sklearn.linear_model import SGDClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        model = make_pipeline(StandardScaler(), SGDClassifier(loss="modified_huber"))""",
    "LightGBM": "from lightgbm import LGBMClassifier\nmodel = LGBMClassifier(verbose=-1, n_jobs=1)",
    "river": """
        from river import compose, linear_model, preprocessing
        model = compose.Pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression())
        for row, label in zip(train, y):
            model.learn_one(dict(enumerate(row)), bool(label > 0))
        found = [1 if model.predict_one(dict(enumerate(row))) else -1 for row in test]""",
}


def fit(use, train, y, test, answer):
    warnings.filterwarnings("ignore")
    code = textwrap.dedent(use)
    if "found =" not in code:
        code += "\nfound = model.fit(train, y).predict(test)"
    names = {"train": train, "y": y, "test": test}
    head = "\n".join(line for line in code.splitlines() if line.startswith("from "))
    exec(head, names)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    exec(code, names)
    seconds = time.perf_counter() - start
    answer.send((np.asarray(names["found"]), seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--sets")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    results = {}
    for split in range(options.splits):
        for name in options.sets.split(",") if options.sets else SETS:
            points, labels = load(options.folder, name)
            rows = np.random.default_rng(1000 + split).permutation(len(labels))[: options.rows]
            test, train = rows[: len(rows) // 3], rows[len(rows) // 3 :]
            for noise in NOISES:
                given = noisy(points[train], labels[train], noise, split)
                for peer, use in USES.items():
                    ours, theirs = context.Pipe(False)
                    process = context.Process(target=fit, args=(use, points[train], given, points[test], theirs))
                    process.start()
                    theirs.close()
                    try:
                        found, seconds, memory = ours.recv()
                    except EOFError:
                        found, seconds, memory = np.full(len(test), np.nan), np.nan, np.nan
                    process.join()
                    error = 100 * np.mean(found != labels[test]) if not np.isnan(seconds) else np.nan
                    results.setdefault(peer, {}).setdefault(noise, []).append((error, seconds, memory / 1024))
    heads = [f"error, {noise}" for noise in NOISES]
    print("| classifier |", " | ".join(heads), "| seconds | MB | lines |")
    print("|---|" + "---|" * (len(heads) + 3))
    for peer, of in results.items():
        errors = " | ".join(f"{np.mean([row[0] for row in of[noise]]):.2f}" for noise in NOISES)
        every = np.array([row for noise in NOISES for row in of[noise]])
        lines = len(textwrap.dedent(USES[peer]).strip().splitlines()) + ("found =" not in USES[peer])
        print(f"| {peer} | {errors} | {np.median(every[:, 1]):.3f} | {np.median(every[:, 2]):.0f} | {lines} |")


if __name__ == "__main__":
    main()
