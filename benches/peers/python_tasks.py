"""Wrong labels, labelling and robust scatter in the Python package, compared with peers on the same files in one run.

The peers are cleanlab, scikit-activeml, small-text and pyRiemann.

Wrong labels: at most --rows rows of each data set (a CSV file in the given folder with the class in the last column)
are used, with labels flipped as in `tables.py`. The output shows, for each noise, the average precision of the ranking
and its precision among the first k rows, where k is the number of flipped labels. Labelling: pools have at most --pool
rows. A correction is a label that was predicted wrongly before it was revealed. A peer refits logistic regression after
each hundredth of the pool. Scatter: Tyler's estimator is applied to Student-t points. All programs use one thread.
Times are medians, and lines of code are those that a user writes.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import inspect
import pathlib
import time
import warnings

import halfspaces
import numpy as np
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from labelling import Script, activeml_strategies, small_text_strategies, surest
from pyriemann.geometry import covariance
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import SETS, load, noisy, standardised

warnings.filterwarnings("ignore")
POOLS = "wdbc,ionosphere,heart,banana,spambase"


def by_halfspaces(X, y):
    return halfspaces.audit(X, y).row


def by_cleanlab_logistic(X, y):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    return find_label_issues_first(y, cross_val_predict(model, X, y, method="predict_proba"))


def by_cleanlab_forest(X, y):
    model = RandomForestClassifier(random_state=0)
    return find_label_issues_first(y, cross_val_predict(model, X, y, method="predict_proba"))


def find_label_issues_first(y, probabilities):
    issues = find_label_issues(y, probabilities, return_indices_ranked_by="self_confidence")
    rest = np.argsort(get_label_quality_scores(y, probabilities), kind="stable")
    return np.r_[issues, rest[~np.isin(rest, issues)]]


def lines_of(function):
    return len(inspect.getsource(function).strip().splitlines()) - 1


def wrong_labels(options):
    uses = {"halfspaces": (by_halfspaces, 1), "cleanlab, logistic": (by_cleanlab_logistic, 3), "cleanlab, forest": (by_cleanlab_forest, 3)}
    noises = ("far25", "side40")
    found = {}
    for split in range(options.splits):
        for name in options.sets.split(",") if options.sets else SETS:
            points, labels = load(options.folder, name)
            rows = np.random.default_rng(2000 + split).permutation(len(labels))[: options.rows]
            points, labels = points[rows], labels[rows]
            for noise in noises:
                given = noisy(points, labels, noise, split)
                flipped = given != labels
                for peer, (use, _) in uses.items():
                    start = time.perf_counter()
                    ranking = np.asarray(use(points, (given > 0).astype(int)))
                    seconds = time.perf_counter() - start
                    places = np.empty(len(rows))
                    places[ranking] = np.arange(len(rows))
                    precision = average_precision_score(flipped, -places)
                    found.setdefault(peer, {}).setdefault(noise, []).append(
                        (precision, flipped[ranking[: flipped.sum()]].mean(), seconds)
                    )
    print("| wrong labels by |", " | ".join(f"{n}: average precision | precision at k" for n in noises), "| seconds | lines |")
    print("|---|" + "---|" * (2 * len(noises) + 2))
    for peer, of in found.items():
        cells = [f"{np.mean([r[k] for r in of[noise]]):.3f}" for noise in noises for k in (0, 1)]
        seconds = np.median([r[2] for noise in noises for r in of[noise]])
        print(f"| {peer} |", " | ".join(cells), f"| {seconds:.2f} | {uses[peer][1]} |", flush=True)
    print()


def session(points, labels, seed):
    labeler = halfspaces.Labeler(points, classes=[-1.0, 1.0], random_state=seed)
    while (question := labeler.ask()) is not None:
        labeler.tell(labels[question.row])
    return labeler.progress.corrections


def labelling(options):
    scripts = {"halfspaces": session}
    for name, script in {"LR, surest first": Script(surest), **activeml_strategies(False), **small_text_strategies(False)}.items():
        scripts[name] = lambda points, labels, seed, script=script: script.play(points, labels, seed)[0]
    counts, seconds = {}, {}
    for order in range(options.splits):
        for name in POOLS.split(","):
            points, labels = load(options.folder, name)
            rows = np.random.default_rng(6000 + order).permutation(len(labels))[: options.pool]
            points, labels = points[rows], labels[rows]
            points = standardised(points, points)[0][:, points.std(0) > 0]
            for peer, use in scripts.items():
                start = time.perf_counter()
                counts.setdefault(peer, []).append(use(points, labels, order))
                seconds.setdefault(peer, []).append(time.perf_counter() - start)
    ours = np.log1p(counts["halfspaces"])
    print("| labelled by | mean corrections | halfspaces / it | seconds a pool |")
    print("|---|---|---|---|")
    for peer in scripts:
        ratio = np.exp((ours - np.log1p(counts[peer])).mean())
        print(f"| {peer} | {np.mean(counts[peer]):.1f} | {ratio:.2f} | {np.median(seconds[peer]):.2f} |", flush=True)
    print()


def scatter(options):
    rng = np.random.default_rng(9)
    print("| Tyler's scatter | rows x columns | seconds, halfspaces | seconds, pyRiemann | largest difference |")
    print("|---|---|---|---|---|")
    for n, d in ((20_000, 20), (100_000, 50)):
        points = rng.normal(size=(n, d)) @ np.diag(np.geomspace(1, 1e3, d)) / np.sqrt(rng.chisquare(3, size=(n, 1)))
        ours, theirs = [], []
        for _ in range(3):
            start = time.perf_counter()
            a = halfspaces.TylerScatter(assume_centered=True).fit(points).covariance_
            ours.append(time.perf_counter() - start)
            start = time.perf_counter()
            b = covariance.covariance_mest(points.T, "tyl", tol=1e-9, n_iter_max=200, assume_centered=True)
            theirs.append(time.perf_counter() - start)
        # The scale of the scatter is arbitrary.
        a, b = a / np.trace(a), b / np.trace(b)
        size = np.sqrt(np.outer(np.diag(a), np.diag(a)))
        print(f"| | {n} x {d} | {np.median(ours):.3f} | {np.median(theirs):.3f} | {np.abs((a - b) / size).max():.1e} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--pool", type=int, default=400)
    parser.add_argument("--sets", help="data sets of the first table")
    options = parser.parse_args()
    wrong_labels(options)
    labelling(options)
    scatter(options)


if __name__ == "__main__":
    main()
