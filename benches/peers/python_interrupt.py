"""The time between Ctrl-C and the end of a fit in the Python package.

Every fit of `crates/python/tests/test_interrupt.py` is interrupted after each of `--delays` seconds, on one and on two
threads. The output shows the time until the exception, in seconds. A dash means that the fit ended before the
interrupt.
"""

import argparse
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "crates/python/tests"))

from test_interrupt import LONG, sample, waited


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--delays", default="0.5,1.5,3.0")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    delays = [float(delay) for delay in options.delays.split(",")]
    X, y = sample(options.rows)
    print("| fit | threads |", " | ".join(f"after {delay} s" for delay in delays), "|")
    print("|---|---|" + "---|" * len(delays))
    for name, estimator in LONG.items():
        takes_labels = name not in ("forster", "nystroem")
        for jobs in (1, 2):
            if "n_jobs" in estimator.get_params():
                estimator.set_params(n_jobs=jobs)
            times = []
            for delay in delays:
                taken = waited(lambda: estimator.fit(X, y) if takes_labels else estimator.fit(X), delay)
                times.append("-" if taken is None else f"{taken:.3f}")
            print(f"| {name} | {jobs} |", " | ".join(times), "|", flush=True)


if __name__ == "__main__":
    main()
