"""The error bound of the default classifier for tables compared with its error on fresh rows.

The data sets are CSV files in the given folder with the class in the last column, and synthetic data of 10 Gaussian
columns with a quadric as the boundary. From each, 5000 rows with the noises of tables.py are used for the fit. The
output shows the error on up to 20 000 other rows, whose labels have the same noise, next to the bound that holds with
probability 95 %. Our program is built with `cargo build --release -p halfspaces-tables --example serve`.
"""

import argparse
import pathlib

import numpy as np
import tables

GIVEN = 5000
ROWS = 25_000
SETS = ("synthetic", "magic", "penbased", "ring")


def synthetic(noise, seed):
    generator = np.random.default_rng(900 + seed)
    points = generator.standard_normal((ROWS, 10))
    value = (points[:, :3] ** 2).sum(1) - 2.4 + points[:, 3]
    labels = np.where(value >= 0, 1.0, -1.0)
    far = np.abs(value) > np.median(np.abs(value))
    coins = generator.random(ROWS)
    if noise == "far25":
        labels[far & (coins < 0.25)] *= -1
    if noise == "side40":
        labels[far & (coins < 0.4) & (labels < 0)] *= -1
    return points, labels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--max-rows", type=int, default=600, help="rows learned from")
    parser.add_argument("--program", default=tables.ROOT / "target/release/examples/serve")
    options = parser.parse_args()
    ours = tables.Ours(options.program)
    print("| set | noise | error | bound | bound - error |")
    print("|---|---|---|---|---|")
    for name in SETS:
        for noise in tables.NOISES:
            found = []
            for split in range(options.splits):
                if name == "synthetic":
                    points, labels = synthetic(noise, split)
                else:
                    points, labels = tables.load(options.folder, name)
                    rows = np.random.default_rng(2000 + split).permutation(len(labels))[:ROWS]
                    points = points[rows]
                    labels = tables.noisy(points, labels[rows], noise, split)
                values, (_, _, bound, _) = ours(
                    points[:GIVEN], labels[:GIVEN], points[GIVEN:], split, max_rows=options.max_rows
                )
                error = np.mean(np.where(values >= 0, 1, -1) != labels[GIVEN:])
                found.append((100 * error, 100 * bound))
            found = np.array(found)
            gap = found[:, 1] - found[:, 0]
            means = " | ".join(f"{v:.1f}" for v in found.mean(0))
            print(f"| {name} | {noise} | {means} | {gap.min():+.1f} to {gap.max():+.1f} |", flush=True)


if __name__ == "__main__":
    main()
