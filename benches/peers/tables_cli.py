"""The command `halfspaces fit` and `predict` compared with scikit-learn and LightGBM, on the same splits of the same files.

Data sets, splits and noises are those of tables.py (clean and far25). Our program reads files as users have them: every
split is written as CSV with its categories as words, and the complete time of both processes is measured, including
reading and writing. The peers get the same rows as arrays with one-hot categories and standardised columns; only their
fit and predict are timed.

With --large ROWS,COLUMNS, a table of that size is written, and the wall time and peak memory of complete processes are
compared: our learners, a scikit-learn script and, if they are installed, Vowpal Wabbit and LIBLINEAR on files in their
own formats. Our program is built with `cargo build --release -p halfspaces-cli`.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd
import tables

NOISES = ("clean", "far25")
LABEL = "class"
SCRIPT = """
import sys
import pandas as pd
from sklearn.{module} import {name}
from sklearn.preprocessing import StandardScaler
from sklearn.pipeline import make_pipeline
table = pd.read_csv(sys.argv[1])
model = make_pipeline(StandardScaler(), {name}({options}))
model.fit(table.drop(columns="class").values, table["class"].values)
"""


def raw(folder, name):
    """Returns the table as users have it, without its labels."""
    header = 0 if tables.SETS[name][1] else None
    table = pd.read_csv(folder / f"{name}.csv", header=header, skipinitialspace=True).iloc[:, :-1]
    table.columns = [f"x{i}" for i in range(table.shape[1])]
    return table


def command(program, folder, learner):
    """Runs fit and predict with the command; returns the labels and the seconds of both processes."""
    start = time.perf_counter()
    arguments = ["--label", LABEL, "--learner", learner, "--threads", "1", "-o", "model.json", "--force"]
    subprocess.run([program, "fit", "train.csv", *arguments], cwd=folder, check=True, capture_output=True)
    arguments = ["predict", "model.json", "test.csv", "--unseen", "zero", "-o", "labels.csv", "--force"]
    subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True)
    seconds = time.perf_counter() - start
    return pd.read_csv(folder / "labels.csv")["label"].values, seconds


def compare(options):
    others = tables.peers()
    names = ["auto", "logistic (ours)", *others]
    errors, seconds = {}, {name: [] for name in names}
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        for split in range(options.splits):
            for name in options.sets.split(",") if options.sets else tables.SETS:
                points, labels = tables.load(options.folder, name)
                table = raw(options.folder, name)
                rows = np.random.default_rng(1000 + split).permutation(len(labels))[: options.rows]
                test, train = rows[: len(rows) // 3], rows[len(rows) // 3 :]
                scaled, scaled_test = tables.standardised(points[train], points[test])
                table.iloc[test].to_csv(place / "test.csv", index=False)
                for noise in NOISES:
                    given = tables.noisy(points[train], labels[train], noise, split)
                    rows_of_train = table.iloc[train].assign(**{LABEL: given.astype(int)})
                    rows_of_train.to_csv(place / "train.csv", index=False)
                    found = {}
                    for learner in ("auto", "logistic"):
                        shown = "auto" if learner == "auto" else "logistic (ours)"
                        found[shown], elapsed = command(options.program, place, learner)
                        seconds[shown].append(elapsed)
                    for peer, make in others.items():
                        start = time.perf_counter()
                        found[peer] = make().fit(scaled, given).predict(scaled_test)
                        seconds[peer].append(time.perf_counter() - start)
                    of = [100 * np.mean(found[peer] != labels[test]) for peer in names]
                    errors.setdefault((name, noise), []).append(of)
    print("| set | noise |", " | ".join(names), "| auto - best peer |")
    print("|---|---|" + "---|" * (len(names) + 1))
    for (name, noise), of in errors.items():
        of = np.array(of)
        mean = of.mean(0)
        gap = of[:, 0] - of[:, 2 + mean[2:].argmin()]
        deviation = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
        cells = " | ".join(f"{value:.1f}" for value in mean)
        print(f"| {name} | {noise} | {cells} | {gap.mean():+.1f} ± {deviation:.1f} |")
    for noise in NOISES:
        of = np.array([np.mean(v, 0) for (_, kind), v in errors.items() if kind == noise])
        cells = " | ".join(f"{value:.2f}" for value in of.mean(0))
        print(f"| mean of {len(of)} sets | {noise} | {cells} | {options.splits} splits |")
    cells = " | ".join(f"{np.mean(seconds[name]):.2f}" for name in names)
    print(f"| seconds, mean | | {cells} | |")


# A process inherits the peak memory of the process that starts it, so the starting process must be small.
MEASURE = """
import resource, subprocess, sys, time
start = time.perf_counter()
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
print(status, time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def measured(arguments, folder):
    """Returns the wall time and the peak memory of a process."""
    measure = [sys.executable, "-I", "-S", "-c", MEASURE, *arguments]
    told = subprocess.run(measure, cwd=folder, check=True, capture_output=True, text=True)
    status, seconds, kilobytes = told.stdout.split()
    if int(status) != 0:
        raise RuntimeError(f"{arguments}: {status}")
    return float(seconds), int(kilobytes) / 1024


def large(options):
    rows, columns = (int(part) for part in options.large.split(","))
    generator = np.random.default_rng(5)
    normal = generator.standard_normal(columns)
    with tempfile.TemporaryDirectory(dir=options.scratch) as place:
        place = pathlib.Path(place)
        liblinear, vw = shutil.which("liblinear-train"), shutil.which("vw")
        files = {"csv": place / "train.csv"}
        if liblinear:
            files["libsvm"] = place / "train.libsvm"
        if vw:
            files["vw"] = place / "train.vw"
        files = {kind: path.open("w") for kind, path in files.items()}
        files["csv"].write(",".join([*(f"x{i}" for i in range(columns)), LABEL]) + "\n")
        for first in range(0, rows, 10_000):
            points = generator.standard_normal((min(10_000, rows - first), columns))
            values = points @ normal
            flips = (np.abs(values) > np.median(np.abs(values))) & (generator.random(len(points)) < 0.25)
            labels = np.where((values >= 0) ^ flips, 1, -1)
            for x, y in zip(points, labels):
                cells = [f"{v:.5g}" for v in x]
                files["csv"].write(",".join(cells) + f",{y}\n")
                pairs = " ".join(f"{i}:{v}" for i, v in enumerate(cells, 1))
                if liblinear:
                    files["libsvm"].write(f"{y} {pairs}\n")
                if vw:
                    files["vw"].write(f"{y} | {pairs}\n")
        for file in files.values():
            file.close()
        print(f"| {rows} x {columns}, whole process | seconds | MB |")
        print("|---|---|---|")
        fit = [options.program, "fit", "train.csv", "--label", LABEL, "-o", "model.json", "--force"]
        jobs = {f"fit --learner {learner}": [*fit, "--learner", learner] for learner in ("auto", "perceptron", "logistic")}
        jobs["fit --stream --learner perceptron"] = [*fit, "--stream", "--learner", "perceptron"]
        jobs["fit --stream --learner auto"] = [*fit, "--stream", "--learner", "auto"]
        jobs["predict (logistic)"] = [options.program, "predict", "model.json", "train.csv", "-o", "out.csv", "--force"]
        scripts = (("linear_model", "LogisticRegression", "max_iter=1000"), ("svm", "LinearSVC", ""))
        for module, name, model in scripts:
            script = place / f"{name}.py"
            script.write_text(SCRIPT.format(module=module, name=name, options=model))
            jobs[f"scikit-learn {name}"] = [sys.executable, str(script), "train.csv"]
        if liblinear:
            jobs["LIBLINEAR -s 2"] = [liblinear, "-s", "2", "train.libsvm", "train.model"]
        if vw:
            loss = ["--loss_function", "logistic", "-f", "vw.model"]
            jobs["Vowpal Wabbit, one pass"] = [vw, "-d", "train.vw", *loss]
        for job, arguments in jobs.items():
            if job == "predict (logistic)":
                measured([*fit, "--learner", "logistic"], place)
            seconds, memory = measured(arguments, place)
            print(f"| {job} | {seconds:.1f} | {memory:.0f} |", flush=True)
        for name, found in (("liblinear-train", liblinear), ("vw", vw)):
            if not found:
                print(f"{name}: missing")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", help="CSV files, class last")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--sets")
    parser.add_argument("--large", metavar="ROWS,COLUMNS", help="time and memory on a table of this size instead")
    parser.add_argument("--scratch", help="folder for the large table")
    parser.add_argument("--program", default=str(tables.ROOT / "target/release/halfspaces"))
    options = parser.parse_args()
    if options.large:
        large(options)
    elif options.folder:
        compare(options)
    else:
        parser.error("name a folder of data sets, or --large")


if __name__ == "__main__":
    main()
