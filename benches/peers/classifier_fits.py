"""Complete fits of every classifier that needs no settings, compared with the fastest peer that is equally good.

The tables are CSV files in the given folder with the class in the last column. Columns are standardised, and each table
is limited to 20 000 rows. A quarter of the rows is the test part; its labels are never flipped. The training labels are
used as they are, or a tenth of them is flipped. The peers have their default settings: scikit-learn's Perceptron,
SGDClassifier, LogisticRegression, LinearSVC (LIBLINEAR) and SVC, and LightGBM. All programs use one thread, and times
are medians of three runs. LightGBM also runs with all threads and is then compared with our last line. A peer is
equally good if its error is at most 0.5 points higher. Our program is built with `cargo build --release -p halfspaces
--example time_classifiers`.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
import tables
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.svm import SVC, LinearSVC

warnings.filterwarnings("ignore")
THREADS = os.cpu_count()
PEERS = {
    "Perceptron": lambda: Perceptron(random_state=0),
    "SGDClassifier": lambda: SGDClassifier(random_state=0),
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "LinearSVC": lambda: LinearSVC(random_state=0, max_iter=10_000),
    "SVC": lambda: SVC(cache_size=2000),
    "LightGBM": lambda: LGBMClassifier(n_jobs=1, verbose=-1),
}
THREADED = {"LightGBM": lambda: LGBMClassifier(n_jobs=THREADS, verbose=-1)}
# The largest difference of error rates at which two classifiers count as equally good.
AS_GOOD = 0.005


def timed(peers, train, test):
    """Yields the name, the seconds and the error rate of each peer."""
    for name, make in peers.items():
        seconds = []
        for _ in range(3):
            model = make()
            start = time.perf_counter()
            model.fit(*train)
            seconds.append(time.perf_counter() - start)
        yield name, sorted(seconds)[1], np.mean(model.predict(test[0]) != test[1])


def shown(peer):
    return f"{peer[0]}, {1000 * peer[1]:.1f} ms, {100 * peer[2]:.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sets", default="wdbc,pima,australian,banana,spambase,satimage,penbased,magic")
    parser.add_argument("--program", default=tables.ROOT / "target/release/examples/time_classifiers")
    options = parser.parse_args()
    print("| table | labels turned | ours | learns, ms | errors, % | fastest peer as good | it / ours | best peer |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        paths = [pathlib.Path(place) / "train.csv", pathlib.Path(place) / "test.csv"]
        for name in options.sets.split(","):
            points, labels = tables.load(options.folder, name)
            generator = np.random.default_rng(1)
            order = generator.permutation(len(points))[:20_000]
            kept, learned = np.split(order, [len(order) // 4])
            train, test = tables.standardised(points[learned], points[kept])
            for share in (0.0, 0.1):
                turned = np.where(generator.random(len(learned)) < share, -1, 1)
                sides = (train, labels[learned] * turned), (test, labels[kept])
                for path, (x, y) in zip(paths, sides):
                    np.savetxt(path, np.column_stack([x, y]), delimiter=",", fmt="%.17g")
                command = [options.program, *paths]
                told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                alone = list(timed(PEERS, *sides))
                together = alone[:-1] + list(timed(THREADED, *sides))
                for line in told.splitlines():
                    what, seconds, wrong = line.split("\t")
                    seconds, error = float(seconds), int(wrong) / len(kept)
                    peers = together if what.endswith("all threads") else alone
                    rivals = [peer for peer in peers if peer[2] <= error + AS_GOOD]
                    rival = min(rivals, key=lambda peer: peer[1], default=None)
                    best = min(peers, key=lambda peer: peer[2])
                    print(
                        f"| {name}, {len(learned)} x {points.shape[1]} | {100 * share:.0f} % | {what} "
                        f"| {1000 * seconds:.1f} | {100 * error:.1f} "
                        f"| {shown(rival) if rival else 'none'} | {f'{rival[1] / seconds:.1f}' if rival else '-'} | {shown(best)} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
