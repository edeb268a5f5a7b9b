"""Detection of wrong labels: our audit compared with cleanlab, on the same files with the same flipped labels.

The data sets are CSV files in the given folder with the class in the last column. For every data set, noise and seed,
rows are drawn with the seed. Their own labels count as the truth, and some of them are flipped: uniform flips each
label with probability 0.1; far25 and side40 are those of tables.py; class20 flips labels of the more frequent class
with probability 0.2 and those of the other class with probability 0.02. cleanlab ranks rows by the out-of-fold
probabilities (five folds) of each classifier. Of its three ways to rank, the table shows the one that is best in
hindsight for each classifier, by the mean over everything.

Our side is `halfspaces audit` (built with `cargo build --release -p halfspaces-cli`): the LabelAudit of TableClassifier
with five folds. Its seconds are those of the complete process. The output is a Markdown table of the precision at k,
where k is the number of wrong labels, and of the average precision, in per cent. The last columns show the mean
difference from the best peer of the row, with its standard error over the seeds.

With --texts, the files have a text in the first column and one of several classes in the last, and labels are flipped
in other ways: other20 changes each label with probability 0.2 to another class, drawn at random; class40 changes labels
of the most frequent class with probability 0.4 to the second most frequent class. The classifiers of cleanlab then use
words, word pairs and sequences of 3 to 5 characters, as in texts.py. They are a linear SVM (C = 0.1), whose values are
converted by softmax or calibrated, and logistic regression (C = 1). Their seconds include the time of computing these
features, and the best way to rank is chosen for each noise.
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
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC, LinearSVC
from tables import ROOT, SETS, load, noisy, standardised

warnings.filterwarnings("ignore")
NOISES = ("uniform", "far25", "side40", "class20")
TEXT_NOISES = ("other20", "class40")


def turned(points, labels, noise, seed):
    if noise in ("far25", "side40"):
        return noisy(points, labels, noise, seed)
    coins = np.random.default_rng(55 + seed).random(len(labels))
    frequent = 1 if (labels > 0).sum() * 2 > len(labels) else -1
    rate = 0.1 if noise == "uniform" else np.where(labels == frequent, 0.2, 0.02)
    return np.where(coins < rate, -labels, labels)


def turned_classes(classes, noise, seed):
    """Returns the classes as numbers, with wrong ones added."""
    given, count = classes.copy(), classes.max() + 1
    generator = np.random.default_rng(55 + seed)
    coins = generator.random(len(classes))
    if noise == "other20":
        chosen = coins < 0.2
        given[chosen] = (given[chosen] + generator.integers(1, count, chosen.sum())) % count
    else:
        second, first = np.argsort(np.bincount(classes), kind="stable")[-2:]
        given[(classes == first) & (coins < 0.4)] = second
    return given


def write_numbers(path, points, given):
    names = ",".join(f"x{j}" for j in range(points.shape[1]))
    rows = np.c_[points, given]
    np.savetxt(path, rows, delimiter=",", header=names + ",label", comments="", fmt=["%.17g"] * points.shape[1] + ["%d"])


def ours(program, write, given, folder, arguments):
    """Returns the suspicion of every row, and the seconds of the complete program."""
    table, ranking = folder / "table.csv", folder / "ranking.csv"
    write(table)
    start = time.perf_counter()
    command = [program, "audit", table, "--label", "label", *arguments, "--threads", "1", "-o", ranking, "--force"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    order = pd.read_csv(ranking)["row"].values
    suspicion = np.empty(len(given))
    suspicion[order] = -np.arange(len(given))
    return suspicion, seconds


def text_classifiers():
    from texts import Probabilistic

    return {
        "softmax SVM": lambda: Probabilistic(C=0.1),
        "calibrated SVM": lambda: CalibratedClassifierCV(LinearSVC(C=0.1), ensemble=False, cv=5),
        "logistic": lambda: LogisticRegression(max_iter=1000),
    }


def table_classifiers():
    found = {
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "RBF SVM": lambda: CalibratedClassifierCV(SVC(), ensemble=False, cv=5),
    }
    try:
        from lightgbm import LGBMClassifier

        found["LightGBM"] = lambda: LGBMClassifier(verbose=-1, n_jobs=1)
    except ImportError:
        print("lightgbm: missing")
    return found


def cleanlab_ranks(classes, probabilities):
    """Returns the suspicions that cleanlab offers.

    They are its quality scores, the scores with probabilities adjusted by class, and the ranking with the found issues
    first. With two classes, all of its scores give the same order as self-confidence; with more classes, the score by
    margin differs.
    """
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    plain = get_label_quality_scores(classes, probabilities, method="self_confidence")
    adjusted = get_label_quality_scores(classes, probabilities, method="self_confidence", adjust_pred_probs=True)
    issues = find_label_issues(classes, probabilities)
    found = {"scores": -plain, "adjusted scores": -adjusted, "issues, then scores": 10.0 * issues - plain}
    if probabilities.shape[1] > 2:
        found["margins"] = -get_label_quality_scores(classes, probabilities, method="normalized_margin")
    return found


def table_jobs(options, seed):
    """Yields the true and the given labels, our file and the features of the peers for each data set and noise."""
    for name in options.sets.split(",") if options.sets else SETS:
        points, labels = load(options.folder, name)
        rows = np.random.default_rng(3000 + seed).permutation(len(labels))[: options.rows]
        points, labels = points[rows], labels[rows]
        scaled, _ = standardised(points, points)
        for noise in options.noises.split(",") if options.noises else NOISES:
            given = turned(points, labels, noise, seed)
            yield name, noise, labels, given, lambda path, p=points, g=given: write_numbers(path, p, g), scaled, 0.0


def text_jobs(options, seed):
    """Yields the same for texts, and last the seconds of the features, which the classifiers share."""
    from texts import Features, everything
    from texts import load as load_texts

    paths = sorted(options.folder.glob("*.csv"))
    wanted = options.sets.split(",") if options.sets else [path.stem for path in paths]
    for path in (path for path in paths if path.stem in wanted):
        texts, classes, names = load_texts(path)
        rows = np.random.default_rng(3000 + seed).permutation(len(texts))[: options.rows]
        texts, classes = texts[rows], np.unique(classes[rows], return_inverse=True)[1]
        points, _, seconds = Features(texts, texts[:1])(everything)
        for noise in options.noises.split(",") if options.noises else TEXT_NOISES:
            given = turned_classes(classes, noise, seed)
            table = pd.DataFrame({"text": texts, "label": [f"class {g}" for g in given]})
            yield path.stem, noise, classes, given, lambda to, t=table: t.to_csv(to, index=False), points, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rows", type=int, help="rows drawn of every file [600, or 3000 texts]")
    parser.add_argument("--sets", help="names of files without .csv, with commas")
    parser.add_argument("--noises")
    parser.add_argument("--classifiers", help="names, with commas")
    parser.add_argument("--texts", action="store_true", help="files with a text first and any number of classes last")
    parser.add_argument("--ours", help="more arguments of `halfspaces audit` [--text text with --texts]")
    parser.add_argument("--program", default=ROOT / "target/release/halfspaces")
    parser.add_argument("--save", type=pathlib.Path, help="every result, as JSON lines")
    options = parser.parse_args()
    options.rows = options.rows or (3000 if options.texts else 600)
    if options.ours is None:
        options.ours = "--text text" if options.texts else ""
    makers = text_classifiers() if options.texts else table_classifiers()
    chosen = options.classifiers.split(",") if options.classifiers else list(makers)
    makers = {name: makers[name] for name in chosen if name in makers}
    jobs = text_jobs if options.texts else table_jobs
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            for job in jobs(options, seed):
                results.append(measure(options, seed, makers, pathlib.Path(scratch), *job))
                if options.save:
                    with options.save.open("a") as file:
                        file.write(json.dumps(results[-1]) + "\n")
    report(results, by_noise=options.texts)


def measure(options, seed, makers, scratch, name, noise, labels, given, write, points, before):
    """Measures how well each program ranks the wrong labels of one file."""
    wrong = given != labels
    k = wrong.sum()
    suspicion, seconds = ours(options.program, write, given, scratch, options.ours.split())
    entry = {"set": name, "noise": noise, "seed": seed, "rows": len(labels), "wrong": int(k), "seconds": {"ours": seconds}}
    found = {"ours": suspicion}
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    classes = np.unique(given, return_inverse=True)[1]
    for peer, make in makers.items():
        start = time.perf_counter()
        p = cross_val_predict(make(), points, classes, cv=folds, method="predict_proba")
        ranks = cleanlab_ranks(classes, p)
        entry["seconds"][peer] = before + time.perf_counter() - start
        found.update({f"{peer}: {how}": s for how, s in ranks.items()})
    entry["precision"] = {who: 100 * wrong[np.argsort(-s, kind="stable")[:k]].mean() for who, s in found.items()}
    entry["average"] = {who: 100 * average_precision_score(wrong, s) for who, s in found.items()}
    return entry


def best_ways(results):
    """Returns the ranking with the best mean for each classifier; ours is first."""
    everywhere = [who for who in results[0]["average"] if all(who in e["average"] for e in results)]
    mean = {who: np.mean([e["average"][who] for e in results]) for who in everywhere}
    peers = {}
    for who in mean:
        if who != "ours":
            classifier = who.split(":")[0]
            if classifier not in peers or mean[who] > mean[peers[classifier]]:
                peers[classifier] = who
    return ["ours", *peers.values()]


def report(results, by_noise):
    measures = ("precision", "average")
    noises = list(dict.fromkeys(e["noise"] for e in results))
    sets = list(dict.fromkeys(e["set"] for e in results))
    ways = {noise: best_ways([e for e in results if e["noise"] == noise or not by_noise]) for noise in noises}
    for noise in noises if by_noise else noises[:1]:
        print("cleanlab's best way to rank" + f", {noise}" * by_noise + ":", "; ".join(ways[noise][1:]))
    print()
    titles = ["ours", *(f"cleanlab, {way.split(':')[0]}" for way in ways[noises[0]][1:])]
    print("| set | labels turned | wrong |", " | ".join(titles), "| P@k: ours - best peer | average precision: ours - best peer |")
    print("|---|---|---|" + "---|" * (len(titles) + 2))

    def line(first, entries):
        names = ways[entries[0]["noise"]]
        values = {m: np.array([[e[m][who] for who in names] for e in entries]) for m in measures}
        cells = [" / ".join(f"{values[m][:, j].mean():.1f}" for m in measures) for j in range(len(names))]
        gaps = []
        for m in measures:
            best = 1 + values[m][:, 1:].mean(0).argmax()
            gap = values[m][:, 0] - values[m][:, best]
            # The data sets are not a random sample, so the deviation is that of their means over the seeds.
            by_seed = [np.mean([g for g, e in zip(gap, entries) if e["seed"] == s]) for s in sorted({e["seed"] for e in entries})]
            deviation = np.std(by_seed, ddof=1) / np.sqrt(len(by_seed)) if len(by_seed) > 1 else np.nan
            mark = " (worse)" if gap.mean() < -2 * deviation else ""
            gaps.append(f"{gap.mean():+.1f} ± {deviation:.1f}{mark}")
        print(f"| {first} | {np.mean([e['wrong'] for e in entries]):.0f} |", " | ".join(cells), "|", " | ".join(gaps), "|")

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
