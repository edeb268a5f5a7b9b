"""Classification of texts: our command compared with common alternatives, on the same splits of the same files.

Every CSV file of the folder has the columns text and label. For each split, 70 % of the rows, stratified by class, are
the training part. Errors are those on the other rows, whose labels stay clean. The noise on the training labels is one
of three: clean, without changes; uniform, where a quarter of the labels is replaced by a class drawn at random,
possibly the true one; and class, where 40 % of the most frequent class get the label of the second most frequent. The
peers are linear SVMs, one of them tuned, complement naive Bayes of scikit-learn, cleanlab around two classifiers (only
for noisy labels) and, if they are installed, LIBLINEAR, Vowpal Wabbit and fastText. In names, "all" means words, word
pairs and sequences of 3 to 5 characters, and "words" means only words.

The programs take turns and use one thread each. The seconds are those of computing features, fit and predict, starting
from texts in memory. For our program, Vowpal Wabbit and fastText, they also include reading and writing files. The time
of features that several peers share counts for each of these peers. The output consists of Markdown tables with mean
errors in per cent and their 95 % intervals over the splits. The last rows show the mean difference, split by split,
between our errors and those of the peer with the lowest mean, which is known only in hindsight, and those of the tuned
SVM. Our program is built with `cargo build --release -p halfspaces-cli`.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import time
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sparse
from scipy.special import expit, softmax
from scipy.stats import t as student
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC
from tables import ROOT

warnings.filterwarnings("ignore")
NOISES = ("clean", "uniform", "class")
GRID = (0.03, 0.1, 0.3, 1, 3)
TUNED = "SVM, all, C by CV"


def load(path, rows=None):
    """Returns the texts and the numbers of their classes, shuffled with a fixed seed; at most `rows` of them."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    # The names of the columns do not matter: the first column is the text, and the last is the class.
    texts, labels = table.iloc[:, 0].values, table.iloc[:, -1].values
    chosen = np.random.default_rng(0).permutation(len(labels))[:rows]
    names, classes = np.unique(labels[chosen], return_inverse=True)
    return texts[chosen], classes, names


def noisy(classes, count, noise, seed):
    """Returns the classes with wrong labels added."""
    given, generator = classes.copy(), np.random.default_rng(77 + seed)
    coins = generator.random(len(classes))
    if noise == "uniform":
        changed = coins < 0.25
        given[changed] = generator.integers(0, count, changed.sum())
    elif noise == "class":
        second, first = np.argsort(np.bincount(classes, minlength=count), kind="stable")[-2:]
        given[(classes == first) & (coins < 0.4)] = second
    return given


def words():
    return [TfidfVectorizer()]


def everything():
    return [
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, min_df=2),
    ]


class Features:
    """Features of both parts, computed once for each kind, and the seconds that this took."""

    def __init__(self, train, test):
        self.texts, self.made = (train, test), {}

    def __call__(self, kind):
        if kind not in self.made:
            start = time.perf_counter()
            vectorizers = kind()
            parts = [sparse.hstack([v.fit_transform(self.texts[0]) for v in vectorizers], format="csr")]
            parts.append(sparse.hstack([v.transform(self.texts[1]) for v in vectorizers], format="csr"))
            self.made[kind] = (*parts, time.perf_counter() - start)
        return self.made[kind]


class Probabilistic(LinearSVC):
    """A linear SVM whose probabilities are the softmax of its values, as cleanlab needs probabilities."""

    def predict_proba(self, points):
        values = self.decision_function(points)
        if values.ndim == 1:
            return np.c_[expit(-values), expit(values)]
        return softmax(values, axis=1)


def one_vs_rest():
    return OneVsRestClassifier(LogisticRegression(C=10, solver="liblinear"))


def tuned():
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(LinearSVC(), {"C": GRID}, cv=folds)


def on_features(kind, make):
    """Returns a run of a classifier with the API of scikit-learn, on features that it shares with others."""

    def run(texts, given, others, features, folder, count):
        train, test, seconds = features(kind)
        start = time.perf_counter()
        found = make().fit(train, given).predict(test)
        return found, seconds + time.perf_counter() - start

    return run


def liblinear(parameters):
    from liblinear.liblinearutil import predict, train

    def run(texts, given, others, features, folder, count):
        points, test, seconds = features(everything)
        start = time.perf_counter()
        model = train(given.astype(float), points, f"{parameters} -q")
        found = predict([], test, model, "-q")[0]
        return np.asarray(found, int), seconds + time.perf_counter() - start

    return run


def plain(text):
    """Returns the words in lower case without punctuation, for programs that split texts at blanks."""
    return " ".join(re.findall(r"\w+", text.lower()))


def vowpal_wabbit(arguments):
    from vowpalwabbit import Workspace

    def line(text, label=""):
        return f"{label} | {plain(text)}"

    def run(texts, given, others, features, folder, count):
        start = time.perf_counter()
        path = folder / "train.vw"
        path.write_text("".join(line(text, label + 1) + "\n" for text, label in zip(texts, given)), encoding="utf-8")
        how = f"--quiet --oaa {count} --loss_function logistic {arguments}"
        model = Workspace(f"{how} -k --cache_file {folder}/train.cache -d {path}")
        found = np.array([model.predict(line(text)) for text in others]) - 1
        model.finish()
        return found.astype(int), time.perf_counter() - start

    return run


def fasttext(**arguments):
    import fasttext as package

    def run(texts, given, others, features, folder, count):
        start = time.perf_counter()
        path = folder / "train.txt"
        path.write_text("".join(f"__label__{y} {plain(x)}\n" for x, y in zip(texts, given)), encoding="utf-8")
        model = package.train_supervised(str(path), thread=1, verbose=0, seed=0, **arguments)
        # The `predict` of fastText itself does not work with numpy 2.
        found = [model.f.predict(plain(text) + "\n", 1, 0.0, "strict") for text in others]
        found = np.array([int(of[0][1].removeprefix("__label__")) if of else 0 for of in found])
        return found, time.perf_counter() - start

    return run


def cleanlab(make):
    from cleanlab.classification import CleanLearning

    def cleaned():
        return CleanLearning(make(), cv_n_folds=5, seed=0)

    return on_features(everything, cleaned)


def peers():
    """Returns the peers that can run here, by name, and prints the missing ones."""
    found = {
        "SVM, words, C = 1": on_features(words, LinearSVC),
        "SVM, words, C = 0.1": on_features(words, lambda: LinearSVC(C=0.1)),
        "SVM, all, C = 1": on_features(everything, LinearSVC),
        "SVM, all, C = 0.1": on_features(everything, lambda: LinearSVC(C=0.1)),
        TUNED: on_features(everything, tuned),
        "complement NB, words": on_features(words, ComplementNB),
    }
    more = {
        "cleanlab, SVM, all": lambda: cleanlab(lambda: Probabilistic(C=0.1)),
        "cleanlab, logistic, all": lambda: cleanlab(one_vs_rest),
        "LIBLINEAR -s 4 -c 0.1, all": lambda: liblinear("-s 4 -c 0.1"),
        "LIBLINEAR -s 0 -c 10, all": lambda: liblinear("-s 0 -c 10"),
        "Vowpal Wabbit, pairs": lambda: vowpal_wabbit("--ngram 2 -b 22 --passes 10"),
        "fastText, pairs": lambda: fasttext(lr=0.5, epoch=25, wordNgrams=2, bucket=200_000),
        "fastText, pairs, characters": lambda: fasttext(lr=0.5, epoch=25, wordNgrams=2, minn=3, maxn=5, bucket=200_000),
    }
    for name, make in more.items():
        try:
            found[name] = make()
        except ImportError as error:
            print(f"{name}: missing ({error.name})")
    return found


def ours(program, arguments, names):
    """Returns a run of `halfspaces fit` and `predict`, two processes on files that are written beforehand."""

    def run(texts, given, others, features, folder, count):
        pd.DataFrame({"text": texts, "label": names[given]}).to_csv(folder / "train.csv", index=False)
        pd.DataFrame({"text": others}).to_csv(folder / "test.csv", index=False)
        start = time.perf_counter()
        fit = [program, "fit", "train.csv", "--label", "label", "--threads", "1", "-o", "model.json", "--force", *arguments]
        predict = [program, "predict", "model.json", "test.csv", "--threads", "1", "-o", "labels.csv", "--force"]
        for command in (fit, predict):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{command}: {done.stderr}")
        seconds = time.perf_counter() - start
        labels = pd.read_csv(folder / "labels.csv", dtype=str, keep_default_na=False)["label"].values
        return np.searchsorted(names, labels.astype(names.dtype)), seconds

    return run


def called(arguments, all_arguments):
    """Returns the name of one of our programs in the tables."""
    return "ours" if len(all_arguments) == 1 else f"ours {arguments}".strip()


def measure(options):
    """Yields one entry with the errors and seconds of every program for each data set, split and noise."""
    others = {name: run for name, run in peers().items() if options.peers is None or options.peers in name}
    # The path must be absolute, because the programs run in a folder of their own.
    program = str(pathlib.Path(options.program).resolve())
    paths = [options.folder] if options.folder.is_file() else sorted(options.folder.glob("*.csv"))
    wanted = options.sets.split(",") if options.sets else [path.stem for path in paths]
    for path in (path for path in paths if path.stem in wanted):
        texts, classes, names = load(path, options.rows)
        runs = {called(a, options.ours): ours(program, a.split(), names) for a in options.ours} | others
        for split in range(options.first_split, options.first_split + options.splits):
            rows = np.arange(len(texts))
            train, test = train_test_split(rows, test_size=0.3, stratify=classes, random_state=split)
            features = Features(texts[train], texts[test])
            for noise in options.noises.split(","):
                given = noisy(classes[train], len(names), noise, split)
                entry = {"set": path.stem, "rows": len(texts), "classes": len(names), "noise": noise, "split": split}
                entry |= {"errors": {}, "seconds": {}}
                # The order is random, so that no program always runs after the same other program.
                order = np.random.default_rng(split).permutation(list(runs))
                for name in map(str, order):
                    if noise == "clean" and name.startswith("cleanlab"):
                        continue
                    with tempfile.TemporaryDirectory() as folder:
                        place = pathlib.Path(folder)
                        found, seconds = runs[name](texts[train], given, texts[test], features, place, len(names))
                    entry["errors"][name] = 100 * np.mean(found != classes[test])
                    entry["seconds"][name] = seconds
                if options.save:
                    with options.save.open("a") as file:
                        file.write(json.dumps(entry) + "\n")
                yield list(runs), entry


def interval(values):
    """Returns half the width of the 95 % interval of a mean."""
    values = np.asarray(values, float)
    if len(values) < 2:
        return np.nan
    return student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))


def shown(values, sign=""):
    half = interval(values)
    return f"{np.mean(values):{sign}.1f}" + ("" if np.isnan(half) else f" ± {half:.1f}")


def report(names, entries):
    """Prints the table of one data set."""
    noises = list(dict.fromkeys(entry["noise"] for entry in entries))
    of = {noise: [entry["errors"] for entry in entries if entry["noise"] == noise] for noise in noises}
    first = entries[0]
    print(f"\n{first['set']}: {first['rows']} rows, {first['classes']} classes, {len(of[noises[0]])} splits\n")
    print("| program |", " | ".join(noises), "| seconds |")
    print("|---|" + "---|" * (len(noises) + 1))
    for name in names:
        cells = [shown([errors[name] for errors in of[noise]]) if name in of[noise][0] else "" for noise in noises]
        seconds = [entry["seconds"][name] for entry in entries if name in entry["seconds"]]
        print(f"| {name} |", " | ".join(cells), f"| {np.mean(seconds):.2f} |")
    for mine in (name for name in names if name.startswith("ours")):
        cells, tuned_cells = [], []
        for noise in noises:
            rivals = [name for name in names if not name.startswith("ours") and name in of[noise][0]]
            if rivals:
                best = min(rivals, key=lambda name: np.mean([errors[name] for errors in of[noise]]))
                cells.append(f"{shown([errors[mine] - errors[best] for errors in of[noise]], '+')} ({best})")
            if TUNED in rivals:
                tuned_cells.append(shown([errors[mine] - errors[TUNED] for errors in of[noise]], "+"))
        if cells:
            print(f"| {mine} - best peer |", " | ".join(cells), "| |")
        if tuned_cells:
            print(f"| {mine} - {TUNED} |", " | ".join(tuned_cells), "| |")


def summary(names, entries):
    """Prints the means over the data sets, with intervals over the splits."""
    noises = list(dict.fromkeys(entry["noise"] for entry in entries))
    splits = sorted({entry["split"] for entry in entries})
    sets = {entry["set"] for entry in entries}
    print(f"\nmean of {len(sets)} sets, {len(splits)} splits\n")
    print("| program |", " | ".join(noises), "| seconds |")
    print("|---|" + "---|" * (len(noises) + 1))
    for name in names:
        cells = []
        for noise in noises:
            of = [[e["errors"].get(name, np.nan) for e in entries if (e["noise"], e["split"]) == (noise, s)] for s in splits]
            means = [np.mean(errors) for errors in of]
            cells.append("" if np.isnan(means).any() else shown(means))
        seconds = [entry["seconds"][name] for entry in entries if name in entry["seconds"]]
        print(f"| {name} |", " | ".join(cells), f"| {np.mean(seconds):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="CSV files, text first and class last, or one such file")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first-split", type=int, default=0)
    parser.add_argument("--rows", type=int, help="at most this many rows of a file")
    parser.add_argument("--sets", help="names of files without .csv, with commas")
    parser.add_argument("--noises", default=",".join(NOISES))
    parser.add_argument("--peers", help="only peers whose name has this in it; none for ours alone")
    parser.add_argument("--ours", action="append", help="arguments of `halfspaces fit`; repeat it for several [--text text]")
    parser.add_argument("--program", default=ROOT / "target/release/halfspaces")
    parser.add_argument("--save", type=pathlib.Path, help="every result, as JSON lines")
    options = parser.parse_args()
    options.ours = options.ours or ["--text text"]
    entries, names = [], []
    for names, entry in measure(options):
        if entries and entries[-1]["set"] != entry["set"]:
            report(names, [e for e in entries if e["set"] == entries[-1]["set"]])
        entries.append(entry)
    if not entries:
        parser.error("no such sets")
    report(names, [e for e in entries if e["set"] == entries[-1]["set"]])
    if len({entry["set"] for entry in entries}) > 1:
        summary(names, entries)


if __name__ == "__main__":
    main()
