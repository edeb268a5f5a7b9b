"""Complete fits with a Gaussian kernel compared with scikit-learn's SVC: times of fit and predict, and test errors.

The tables are CSV files in the given folder with the class in the last column. Columns are standardised, and each table
is limited to 20 000 rows. A quarter of the rows is the test part; its labels are never flipped. The training labels are
used as they are, or a tenth of them is flipped. The kernel is the same on both sides, exp(-gamma ‖x - z‖²) with gamma =
1/d. SVC has C = 1 and as much cache as it can use. Both sides use one thread, and times are medians of three runs. Our
program is built with `cargo build --release -p halfspaces --example time_kernel_fits`.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import tables
from sklearn.svm import SVC


def svc(train, test):
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        model = SVC(C=1.0, gamma=1 / train[0].shape[1], cache_size=2000).fit(*train)
        learned = time.perf_counter()
        predicted = model.predict(test[0])
        seconds.append((learned - start, time.perf_counter() - learned))
    fit, label = (sorted(column)[1] for column in zip(*seconds))
    return fit, label, int((predicted != test[1]).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sets", default="banana,spambase,magic,penbased")
    parser.add_argument("--program", default=tables.ROOT / "target/release/examples/time_kernel_fits")
    options = parser.parse_args()
    print("| table | labels turned | learner | learns, ms | labels, ms | SVC / it, learning and labelling | errors, % |")
    print("|---|---|---|---|---|---|---|")
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
                command = [options.program, *paths, str(points.shape[1])]
                told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                lines = [line.split("\t") for line in told.splitlines()]
                peer = svc(*sides)
                lines.append(("scikit-learn's SVC", *peer))
                for what, fit, label, wrong in lines:
                    fit, label = float(fit), float(label)
                    print(
                        f"| {name}, {len(learned)} x {points.shape[1]} | {100 * share:.0f} % | {what} | {1000 * fit:.1f} "
                        f"| {1000 * label:.1f} | {peer[0] / fit:.1f}, {peer[1] / label:.1f} | {100 * int(wrong) / len(kept):.1f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
