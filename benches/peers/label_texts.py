"""Labelling of pools of texts and of embeddings: our session compared with ten lines of scikit-learn.

Every pool is labelled completely. A correction is a label that was predicted wrongly before it was revealed. Every CSV
file of the folder has a text in its first column and a class in its last, and gives --pools pools, whose rows are drawn
with a seed. The script with which we compare is a linear SVM (C = 1) on TF-IDF values of words, refitted after every 15
answers. It asks about the rows with the largest gap between the two best classes. At first, it asks about random rows
and predicts the most recent answer, until it has seen two classes. Our side is `halfspaces label POOL.csv --text text
--simulate`. --embeddings expects an NPY file whose rows belong to the first rows of the table --of. The script is then
the linear SVM or logistic regression, whichever is better on the pool. The output is a Markdown table with the number
of corrections in the whole pool and, in parentheses, in its first half. Its last row has the mean ratio of our
corrections to those of the script. Our program is built with `cargo build --release -p halfspaces-cli`.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from tables import ROOT

REFITTED_AFTER = 15


def script(points, classes, make):
    """Returns the number of corrections in the whole pool and in its first half."""
    n = len(classes)
    left = np.ones(n, bool)
    seen, wrong = [], []

    def see(row, predicted):
        wrong.append(predicted != classes[row])
        seen.append(row)
        left[row] = False

    for row in np.random.RandomState(0).permutation(n):
        if len(set(classes[seen])) == 2:
            break
        see(row, classes[seen[-1]] if seen else 0)
    while left.any():
        model = make().fit(points[seen], classes[seen])
        rest = np.flatnonzero(left)
        values = model.decision_function(points[rest])
        values = np.c_[-values, values] if values.ndim == 1 else values
        best_two = np.sort(values, axis=1)[:, -2:]
        surest = np.argsort(best_two[:, 0] - best_two[:, 1], kind="stable")[:REFITTED_AFTER]
        for place in surest:
            see(rest[place], model.classes_[values[place].argmax()])
    return sum(wrong), sum(wrong[: n // 2])


def ours(program, columns, names, classes, *arguments):
    """Returns the same two numbers for our session."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "pool.csv"
        pd.DataFrame({**columns, "label": names[classes]}).to_csv(path, index=False)
        command = [program, "label", path, "--label", "label", *arguments, "--simulate", "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.stderr}")
        found = json.loads(done.stdout)
        return found["corrections"], found["corrections_first_half"]


def load(path):
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return table.iloc[:, 0].values, table.iloc[:, -1].values


def pools_of_texts(options):
    for path in sorted(options.folder.glob("*.csv")):
        texts, labels = load(path)
        for seed in range(options.first_pool, options.first_pool + options.pools):
            rows = np.random.RandomState(seed).permutation(len(labels))[: options.rows]
            names, classes = np.unique(labels[rows], return_inverse=True)
            words = TfidfVectorizer(sublinear_tf=True).fit_transform(texts[rows])
            scripts = [script(words, classes, LinearSVC)]
            session = ours(options.program, {"text": texts[rows]}, names, classes, "--text", "text")
            yield f"{path.stem}, pool {seed}", min(scripts), session


def pools_of_embeddings(options):
    points = np.load(options.embeddings).astype(float)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    labels = load(options.of)[1]
    for first in range(0, len(points), options.rows):
        rows = np.arange(first, min(first + options.rows, len(points)))
        names, classes = np.unique(labels[rows], return_inverse=True)
        makes = (LinearSVC, lambda: LogisticRegression(max_iter=300))
        scripts = [script(points[rows], classes, make) for make in makes]
        columns = {f"c{place}": points[rows, place] for place in range(points.shape[1])}
        yield f"embeddings, rows {first} on", min(scripts), ours(options.program, columns, names, classes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--pools", type=int, default=1)
    parser.add_argument("--first-pool", type=int, default=0, help="the seed of the first pool")
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--embeddings", type=pathlib.Path)
    parser.add_argument("--of", type=pathlib.Path, help="the table of the embeddings, class last")
    parser.add_argument("--program", default=ROOT / "target/release/halfspaces")
    options = parser.parse_args()
    if (options.folder is None) == (options.embeddings is None) or (options.embeddings is None) != (options.of is None):
        parser.error("give a folder, or --embeddings with --of")
    print("| pool | script | ours | ours / script |\n|---|---|---|---|")
    ratios = []
    for name, found, session in (pools_of_embeddings if options.embeddings else pools_of_texts)(options):
        # One is added to the counts of the first half, because these can be 0.
        ratios.append((session[0] / found[0], (session[1] + 1) / (found[1] + 1)))
        shown = [f"{whole} ({half})" for whole, half in (found, session)]
        print(f"| {name} | {shown[0]} | {shown[1]} | {ratios[-1][0]:.2f} ({ratios[-1][1]:.2f}) |", flush=True)
    whole, half = np.mean(ratios, axis=0)
    print(f"| mean | | | {whole:.2f} ({half:.2f}) |")


if __name__ == "__main__":
    main()
