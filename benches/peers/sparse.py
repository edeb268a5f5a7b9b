"""Wide sparse rows: our command compared with LIBLINEAR and Vowpal Wabbit on the same LIBSVM file.

Complete processes are compared. The file has 100,000 rows with 75 nonzeros in 50,000 columns each. Common columns have
small numbers (the probability of column j is proportional to 1/(j + 10)). Entries are positive, and rows have norm 1.
The labels are those of a random halfspace with Gaussian noise, and a further twentieth of them is flipped. Errors are
in per cent on 10,000 further rows. The processes of the peers also read and predict these rows; ours only fits. All
programs use one thread, except for the parser of Vowpal Wabbit, which reads a file in its own format. LIBLINEAR runs through
its Python package, whose reader is slow, so the reading time is shown separately. Memory is the peak of the process as
measured by GNU time. Our program is built with `cargo build --release -p halfspaces-cli`.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
from tables import ROOT

LEARNERS = ("auto", "auto --stream", "svm", "logistic", "perceptron", "perceptron --stream")
LIBLINEAR = """
import sys, time
from liblinear.liblinearutil import predict, svm_read_problem, train
start = time.perf_counter()
labels, rows = svm_read_problem("train.svm", return_scipy=True)
read = time.perf_counter() - start
model = train(labels, rows, sys.argv[1] + " -B 1 -q")
fitted = time.perf_counter() - start
labels, rows = svm_read_problem("test.svm", return_scipy=True)
found, (accuracy, *_), _ = predict(labels, rows, model, "-q")
print(f"error {100 - accuracy:.1f} after {read:.2f} s of reading and {fitted - read:.2f} s")
"""
VOWPAL_WABBIT = """
import time
from vowpalwabbit import Workspace
start = time.perf_counter()
model = Workspace("--quiet --binary --loss_function logistic -b 18 -d train.vw")
fitted = time.perf_counter() - start
lines = open("test.vw").read().splitlines()
wrong = sum((model.predict(line[line.index("|"):]) > 0) != (float(line.split()[0]) > 0) for line in lines)
print(f"error {100 * wrong / len(lines):.1f} after {fitted:.2f} s")
"""


def write(folder, name, rows, target, rng, width=75):
    dim = len(target)
    chance = 1 / (np.arange(dim) + 10.0)
    with open(folder / f"{name}.svm", "w") as svm, open(folder / f"{name}.vw", "w") as vw:
        for _ in range(rows // 1000):
            for drawn in rng.choice(dim, size=(1000, width + 20), p=chance / chance.sum()):
                columns = np.unique(drawn)[:width]
                values = np.abs(rng.standard_normal(len(columns))) + 0.1
                values /= np.linalg.norm(values)
                label = 1 if target[columns] @ values + 0.3 * rng.standard_normal() > 0 else -1
                label = -label if rng.random() < 0.05 else label
                entries = " ".join(f"{j + 1}:{v:.4f}" for j, v in zip(columns, values))
                svm.write(f"{label} {entries}\n")
                vw.write(f"{label} | {entries}\n")


def run(folder, command):
    """Returns the output of a command, its seconds and its peak memory in MB."""
    start = time.perf_counter()
    timed = ["/usr/bin/time", "-f", "%M", "-o", "memory", *command]
    done = subprocess.run(timed, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return done.stdout, time.perf_counter() - start, int((folder / "memory").read_text()) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--program", default=ROOT / "target/release/halfspaces")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    results = {}
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        rng = np.random.default_rng(options.seed)
        target = rng.standard_normal(50_000)
        write(folder, "train", options.rows, target, rng)
        write(folder, "test", 10_000, target, rng)
        for _ in range(options.runs):
            for learner in LEARNERS:
                fit = [program, *f"fit train.svm --label label -o m.json --force --threads 1 --learner {learner}".split()]
                _, seconds, memory = run(folder, fit)
                out, _, _ = run(folder, [program, "evaluate", "m.json", "test.svm"])
                error = re.search(r"error +([\d.]+) %", out)[1]
                results.setdefault(f"ours, {learner}", []).append((seconds, memory, f"error {error}"))
            for name, code in [(f"LIBLINEAR {given}", LIBLINEAR) for given in ("-s 3 -c 1", "-s 1 -c 0.4", "-s 0 -c 1")] + [
                ("Vowpal Wabbit", VOWPAL_WABBIT)
            ]:
                out, seconds, memory = run(folder, [sys.executable, "-c", code, name.removeprefix("LIBLINEAR ")])
                results.setdefault(name, []).append((seconds, memory, out.strip()))
    print("| program | seconds | MB | |\n|---|---|---|---|")
    for name, runs in results.items():
        seconds, memory = (np.median([run[at] for run in runs]) for at in (0, 1))
        print(f"| {name} | {seconds:.1f} | {memory:.0f} | {runs[-1][2]} |")


if __name__ == "__main__":
    main()
