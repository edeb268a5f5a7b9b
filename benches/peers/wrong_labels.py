"""Finding wrong labels: our audit compared with cleanlab, on the same files with the same labels turned.

For every data set (CSV, class last; folder as argument), noise and seed: rows drawn by the seed, whose own labels are taken
for the truth, and labels turned: uniform, each with probability 0.1; far25 and side40, as in tables.py; class20, those of the
more frequent class with probability 0.2, of the other with 0.02. cleanlab ranks by out-of-fold probabilities (five folds) of each
classifier; the best of its three ways to rank is named for each classifier's mean over everything, in hindsight. Our side is
`halfspaces audit` (`cargo build --release -p halfspaces-cli`): LabelAudit of TableClassifier, five folds; its seconds are those of the whole process. Precision at k, k the number of
wrong labels, and average precision, in per cent, as Markdown; in the last columns the mean difference from the best peer of the
row with its standard error over the seeds.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import json
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC
from tables import ROOT, SETS, load, noisy, standardised

warnings.filterwarnings("ignore")
NOISES = ("uniform", "far25", "side40", "class20")


def turned(points, labels, noise, seed):
    if noise in ("far25", "side40"):
        return noisy(points, labels, noise, seed)
    coins = np.random.default_rng(55 + seed).random(len(labels))
    frequent = 1 if (labels > 0).sum() * 2 > len(labels) else -1
    rate = 0.1 if noise == "uniform" else np.where(labels == frequent, 0.2, 0.02)
    return np.where(coins < rate, -labels, labels)


def ours(program, points, given, folder):
    """Suspicion of every row, and the seconds of the whole program."""
    table, ranking = folder / "table.csv", folder / "ranking.csv"
    names = ",".join(f"x{j}" for j in range(points.shape[1]))
    rows = np.c_[points, given]
    np.savetxt(table, rows, delimiter=",", header=names + ",label", comments="", fmt=["%.17g"] * points.shape[1] + ["%d"])
    start = time.perf_counter()
    command = [program, "audit", table, "--label", "label", "--threads", "1", "-o", ranking, "--force"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    order = np.loadtxt(ranking, delimiter=",", skiprows=1, usecols=1).astype(int)
    suspicion = np.empty(len(given))
    suspicion[order] = -np.arange(len(given))
    return suspicion, seconds


def classifiers(chosen=None):
    found = {
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "RBF SVM": lambda: CalibratedClassifierCV(SVC(), ensemble=False, cv=5),
    }
    try:
        from lightgbm import LGBMClassifier

        found["LightGBM"] = lambda: LGBMClassifier(verbose=-1, n_jobs=1)
    except ImportError:
        print("lightgbm: missing")
    return {name: make for name, make in found.items() if chosen is None or name in chosen}


def cleanlab_ranks(given, probabilities):
    """Suspicions by what cleanlab offers: its quality scores (of two classes all orders by label are that of self-confidence),
    those with probabilities adjusted by class, and the found issues first."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    classes = (given > 0).astype(int)
    plain = get_label_quality_scores(classes, probabilities, method="self_confidence")
    adjusted = get_label_quality_scores(classes, probabilities, method="self_confidence", adjust_pred_probs=True)
    issues = find_label_issues(classes, probabilities)
    return {"scores": -plain, "adjusted scores": -adjusted, "issues, then scores": 10.0 * issues - plain}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--noises", default=",".join(NOISES))
    parser.add_argument("--classifiers", default="logistic,RBF SVM,LightGBM")
    parser.add_argument("--program", default=ROOT / "target/release/halfspaces")
    parser.add_argument("--save", type=pathlib.Path, help="every result, as JSON lines")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            for name in options.sets.split(","):
                points, labels = load(options.folder, name)
                rows = np.random.default_rng(3000 + seed).permutation(len(labels))[: options.rows]
                points, labels = points[rows], labels[rows]
                scaled, _ = standardised(points, points)
                for noise in options.noises.split(","):
                    given = turned(points, labels, noise, seed)
                    wrong = given != labels
                    k = wrong.sum()
                    suspicion, seconds = ours(options.program, points, given, scratch)
                    entry = {"set": name, "noise": noise, "seed": seed, "rows": len(labels), "wrong": int(k), "seconds": {"ours": seconds}}
                    found = {"ours": suspicion}
                    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
                    for peer, make in classifiers(options.classifiers.split(",")).items():
                        start = time.perf_counter()
                        p = cross_val_predict(make(), scaled, given, cv=folds, method="predict_proba")
                        ranks = cleanlab_ranks(given, p)
                        entry["seconds"][peer] = time.perf_counter() - start
                        found.update({f"{peer}: {how}": s for how, s in ranks.items()})
                    entry["precision"] = {
                        who: 100 * wrong[np.argsort(-s, kind="stable")[:k]].mean() for who, s in found.items()
                    }
                    entry["average"] = {who: 100 * average_precision_score(wrong, s) for who, s in found.items()}
                    results.append(entry)
                    if options.save:
                        with options.save.open("a") as file:
                            file.write(json.dumps(entry) + "\n")
    report(results)


def report(results):
    measures = ("precision", "average")
    mean = {who: np.mean([e["average"][who] for e in results]) for who in results[0]["average"]}
    peers = {}
    for who in mean:
        if who != "ours":
            classifier = who.split(":")[0]
            if classifier not in peers or mean[who] > mean[peers[classifier]]:
                peers[classifier] = who
    names = ["ours", *peers.values()]
    print("cleanlab's best way to rank:", "; ".join(peers.values()))
    print()
    titles = ["ours", *(f"cleanlab, {classifier}" for classifier in peers)]
    print("| set | labels turned | wrong |", " | ".join(titles), "| P@k: ours - best peer | average precision: ours - best peer |")
    print("|---|---|---|" + "---|" * (len(names) + 2))

    def line(first, entries):
        values = {m: np.array([[e[m][who] for who in names] for e in entries]) for m in measures}
        cells = [" / ".join(f"{values[m][:, j].mean():.1f}" for m in measures) for j in range(len(names))]
        gaps = []
        for m in measures:
            best = 1 + values[m][:, 1:].mean(0).argmax()
            gap = values[m][:, 0] - values[m][:, best]
            # Sets are no sample of anything: the deviation is that of the means over them, seed by seed.
            by_seed = [np.mean([g for g, e in zip(gap, entries) if e["seed"] == s]) for s in sorted({e["seed"] for e in entries})]
            deviation = np.std(by_seed, ddof=1) / np.sqrt(len(by_seed)) if len(by_seed) > 1 else np.nan
            mark = " (worse)" if gap.mean() < -2 * deviation else ""
            gaps.append(f"{gap.mean():+.1f} ± {deviation:.1f}{mark}")
        print(f"| {first} | {np.mean([e['wrong'] for e in entries]):.0f} |", " | ".join(cells), "|", " | ".join(gaps), "|")

    noises = list(dict.fromkeys(e["noise"] for e in results))
    sets = list(dict.fromkeys(e["set"] for e in results))
    for name in sets:
        for noise in noises:
            line(f"{name} | {noise}", [e for e in results if (e["set"], e["noise"]) == (name, noise)])
    for noise in noises:
        line(f"mean of {len(sets)} sets | {noise}", [e for e in results if e["noise"] == noise])
    times = {who: np.median([e["seconds"][who] for e in results]) for who in results[0]["seconds"]}
    print()
    print("median seconds:", ", ".join(f"{who} {t:.2f}" for who, t in times.items()))


if __name__ == "__main__":
    main()
