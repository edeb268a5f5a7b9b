"""Learners, scans, selection and readers compared with other programs, on the same files and in alternating runs.

`cargo xtask bench --serve` draws the points, writes them to files that all sides read, and then does our side of a job
on request. So every round runs our program and each peer once. The output is a Markdown table with the medians of the
times and the medians over the rounds of the ratio peer / ours. All programs use one thread, except in the scan and in
Vowpal Wabbit, whose parser has a thread of its own. A side that takes less than 50 ms is run for a tenth of a second
immediately before it is timed, because a process that has waited would otherwise start slower than one that has not.

A peer that is not installed is reported as missing. The jobs of the peers:
- scikit-learn: one epoch of SGDClassifier without intercept or penalty (perceptron, PA-I), with partial_fit, which does
  not shuffle, and without the check for finite values;
- numba: the same loop as ours, compiled with fast-math;
- Vowpal Wabbit: one pass over its own binary cache, hinge loss;
- liblinear: a linear SVM trained to its default tolerance (it has no single pass);
- river: one pass of linear_model.Perceptron over dictionaries that are created beforehand;
- numpy: plain matrix products, in blocks that stay in cache;
- pandas, polars, PyArrow, scikit-learn: their loaders. Those of polars and PyArrow run in separate processes, because
  their number of threads is fixed when they start.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA"):
    os.environ[f"{name}_NUM_THREADS"] = "2"

import argparse
import contextlib
import importlib
import json
import pathlib
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = {
    "scikit-learn": "sklearn.linear_model",
    "numba": "numba",
    "Vowpal Wabbit": "vowpalwabbit",
    "liblinear": "liblinear.liblinearutil",
    "river": "river.linear_model",
    "pandas": "pandas",
    "polars": "polars",
    "PyArrow": "pyarrow",
}
# The code of loaders that run in a separate process. `read(path)` returns the number of rows.
READERS = {
    "polars": "import polars\nread = lambda path: polars.read_csv(path).height",
    "PyArrow": """
import pyarrow, pyarrow.csv
pyarrow.set_cpu_count(threads)
options = pyarrow.csv.ReadOptions(use_threads=threads > 1)
read = lambda path: pyarrow.csv.read_csv(path, read_options=options).num_rows
""",
}
KERNEL_BLOCK = 256
# A job that takes less than QUICK seconds is warmed up each time, for WARM seconds. Our side does the same.
QUICK = 0.05
WARM = 0.1
# Pause before each run, in seconds, because the threads of a peer busy-wait for more work for some time.
REST = 0.1
POINT_TILE, CANDIDATE_TILE = 512, 512


def available():
    """Returns the peers that can be imported."""
    found = {"numpy": np}
    for name, module in PEERS.items():
        with contextlib.suppress(ImportError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[name] = importlib.import_module(module)
    return found


def one_thread():
    """Limits BLAS to one thread, which requires threadpoolctl."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        sys.exit("threadpoolctl is missing: install benches/peers/requirements.txt")
    return threadpool_limits(1)


class Ours:
    """Our side: a process that holds the points and times a job on request."""

    def __init__(self, folder):
        subprocess.run(["cargo", "build", "-q", "--release", "-p", "halfspaces-experiments"], cwd=ROOT, check=True)
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        command = [target / "release" / "halfspaces-experiments", "bench", "--serve", folder]
        # numpy requests huge pages for its arrays; this setting makes glibc request them for our program.
        environment = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("our side ended early")
        return json.loads(line)

    def __call__(self, job):
        self.process.stdin.write(job + "\n")
        self.process.stdin.flush()
        answer = self.read()
        return answer["seconds"], answer["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Reader:
    """A loader in a process of its own with the given number of threads."""

    LOOP = "import sys\nfor line in sys.stdin:\n    print(read(line.rstrip('\\n')), flush=True)"

    def __init__(self, peer, threads, path):
        self.path = path
        code = f"threads = {threads}\n{READERS[peer]}\n{self.LOOP}"
        environment = {**os.environ, "POLARS_MAX_THREADS": str(threads)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __call__(self):
        self.process.stdin.write(self.path + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


class Files:
    """The files that our side wrote."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def points(self, name, d):
        return np.fromfile(self.folder / f"{name}.f64", dtype="<f8").reshape(-1, d)

    def labels(self, name):
        return np.fromfile(self.folder / f"{name}.i8", dtype=np.int8).astype(np.float64)

    def sparse(self):
        from sklearn.datasets import load_svmlight_file

        x, y = load_svmlight_file(str(self.folder / "sparse.libsvm"), n_features=50_000)
        # The learners of scikit-learn accept only 32-bit indices, but its loader returns other ones.
        x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
        return x, y


def warm_up(call):
    until = time.perf_counter() + WARM
    while time.perf_counter() < until:
        call()


def timed(call):
    clock = time.perf_counter()
    result = call()
    return time.perf_counter() - clock, result


def sgd(peers, x, y, aggressive=False):
    """Returns a function that runs one epoch in order. The number of updates is not reported."""
    kind = peers["scikit-learn"].SGDClassifier
    rule = {"loss": "hinge", "learning_rate": "pa1"} if aggressive else {
        "loss": "perceptron",
        "learning_rate": "constant",
    }

    classes = np.array([-1.0, 1.0])

    def epoch():
        import sklearn

        with warnings.catch_warnings(), sklearn.config_context(assume_finite=True):
            warnings.simplefilter("ignore")
            learner = kind(**rule, eta0=1.0, penalty=None, shuffle=False, fit_intercept=False)
            learner.partial_fit(x, y, classes=classes)

    return epoch


def numba_loops(numba):
    """Returns the perceptron and PA-I, written like our loops."""

    @numba.njit(fastmath=True)
    def perceptron(x, y):
        w, updates = np.zeros(x.shape[1]), 0
        for i in range(x.shape[0]):
            value = 0.0
            for j in range(x.shape[1]):
                value += x[i, j] * w[j]
            if (value >= 0.0) != (y[i] > 0.0):
                updates += 1
                for j in range(x.shape[1]):
                    w[j] += y[i] * x[i, j]
        return updates

    @numba.njit(fastmath=True)
    def aggressive(x, y):
        w, updates = np.zeros(x.shape[1]), 0
        for i in range(x.shape[0]):
            value, square = 0.0, 0.0
            for j in range(x.shape[1]):
                value += x[i, j] * w[j]
                square += x[i, j] * x[i, j]
            loss = 1.0 - y[i] * value
            if loss > 0.0:
                updates += 1
                step = min(1.0, loss / square) * y[i]
                for j in range(x.shape[1]):
                    w[j] += step * x[i, j]
        return updates

    @numba.njit(fastmath=True)
    def sparse(starts, columns, values, y, d):
        w, updates = np.zeros(d), 0
        for i in range(len(starts) - 1):
            value = 0.0
            for k in range(starts[i], starts[i + 1]):
                value += values[k] * w[columns[k]]
            if (value >= 0.0) != (y[i] > 0.0):
                updates += 1
                for k in range(starts[i], starts[i + 1]):
                    w[columns[k]] += y[i] * values[k]
        return updates

    return perceptron, aggressive, sparse


def wabbit(module, folder, name, rows, y):
    """Returns a function that makes a pass over the binary cache of the rows. A first pass writes the cache."""
    text, cache = folder / f"{name}.vw", folder / f"{name}.cache"
    with open(text, "w") as out:
        for label, row in zip(y, rows):
            out.write(f"{label:.0f} | " + " ".join(f"{j}:{v:.6g}" for j, v in row) + "\n")
    cache.unlink(missing_ok=True)

    def run():
        learner = module.Workspace(
            f"--data {text} --cache_file {cache} --loss_function hinge --noconstant --holdout_off "
            "-b 18 --quiet"
        )
        learner.finish()

    run()
    return run


def rivers(linear_model, x, y):
    rows = [dict(enumerate(row.tolist())) for row in x]
    truths = [bool(label > 0) for label in y]

    def run():
        learner = linear_model.Perceptron()
        for row, truth in zip(rows, truths):
            learner.learn_one(row, truth)

    return run


def svm(liblinear, x, y):
    problem = liblinear.problem(y, x)
    parameter = liblinear.parameter("-s 3 -c 1 -q")
    return lambda: liblinear.train(problem, parameter)


def kernel_perceptron(x, y):
    """Returns a function that runs the Gaussian kernel perceptron in blocks and returns its mistakes."""
    n, d = x.shape
    scale = 2.0 * d
    squares = np.einsum("ij,ij->i", x, x)

    def kernel(a, a_sq, b, b_sq):
        return np.exp((2.0 * (a @ b.T) - a_sq[:, None] - b_sq[None, :]) / scale)

    def run():
        supports = []
        for first in range(0, n, KERNEL_BLOCK):
            block = slice(first, min(n, first + KERNEL_BLOCK))
            xb, sq, yb = x[block], squares[block], y[block]
            known = np.array(supports, dtype=np.int64)
            values = np.zeros(len(xb))
            if supports:
                values = kernel(xb, sq, x[known], squares[known]) @ y[known]
            within = kernel(xb, sq, xb, sq)
            for i in range(len(xb)):
                if (values[i] >= 0.0) != (yb[i] > 0.0):
                    values += yb[i] * within[i]
                    supports.append(first + i)
        return len(supports)

    return run


def choice(x, y, candidates):
    """Returns a function that finds the candidate with the fewest errors from all products in single precision."""

    def run():
        folded = (x * y[:, None]).astype(np.float32)
        best = (len(x) + 1, -1)
        for first in range(0, len(candidates), CANDIDATE_TILE):
            tile = candidates[first : first + CANDIDATE_TILE].astype(np.float32).T
            errors = np.zeros(tile.shape[1], dtype=np.int64)
            for start in range(0, len(x), POINT_TILE):
                errors += np.count_nonzero(folded[start : start + POINT_TILE] @ tile < 0, axis=0)
            at = int(np.argmin(errors))
            best = min(best, (int(errors[at]), first + at))
        return best[1]

    return run


def jobs(peers, files):
    """Yields the name, the size, our name and the functions of the peers for each job."""
    has = lambda *names: all(name in peers for name in names)
    loops = numba_loops(peers["numba"]) if has("numba") else None
    for d, n in ((50, "1000000"), (20, "100000"), (500, "100000")):
        x, y = files.points(f"dense-{d}", d), files.labels(f"dense-{d}")
        rivals = {}
        if has("scikit-learn"):
            rivals["scikit-learn"] = sgd(peers, x, y)
        if loops:
            rivals["numba"] = lambda x=x, y=y: loops[0](x, y)
        if d == 20:
            if has("Vowpal Wabbit"):
                rows = (list(enumerate(row)) for row in x)
                rivals["Vowpal Wabbit"] = wabbit(peers["Vowpal Wabbit"], files.folder, "dense", rows, y)
            if has("liblinear"):
                rivals["liblinear"] = svm(peers["liblinear"], x, y)
            if has("river"):
                rivals["river"] = rivers(peers["river"], x, y)
        yield "perceptron", f"{n} × {d}", f"perceptron {d}", rivals
        if d == 50:
            rivals = {}
            if has("scikit-learn"):
                rivals["scikit-learn"] = sgd(peers, x, y, aggressive=True)
            if loops:
                rivals["numba"] = lambda x=x, y=y: loops[1](x, y)
            yield "PA-I", f"{n} × {d}", f"passive-aggressive {d}", rivals
            w = files.points("normal", d)[0]
            scan = {"numpy": lambda x=x, w=w: int(np.argmax(np.abs(x @ w)))}
            yield "argmax of abs(Xw), two threads", f"{n} × {d}", "scan 2", scan
    if not has("scikit-learn"):
        print("the sparse points are read by scikit-learn's loader: job left out\n")
    else:
        x, y = files.sparse()
        rivals = {"scikit-learn": sgd(peers, x, y)}
        if loops:
            arrays = (x.indptr, x.indices, x.data, y, x.shape[1])
            rivals["numba"] = lambda: loops[2](*arrays)
        if has("Vowpal Wabbit"):
            rows = (
                zip(x.indices[a:b], x.data[a:b]) for a, b in zip(x.indptr[:-1], x.indptr[1:])
            )
            rivals["Vowpal Wabbit"] = wabbit(peers["Vowpal Wabbit"], files.folder, "sparse", rows, y)
        if has("liblinear"):
            rivals["liblinear"] = svm(peers["liblinear"], x, y)
        yield "perceptron, sparse", "100000 × 50000, 75 a row", "sparse", rivals
    x = files.points("kernel", 20)
    for ours, noise in (("kernel 0", "clean"), ("kernel 1", "noisy")):
        y = files.labels(f"kernel-{noise}")
        rivals = {"numpy": kernel_perceptron(x, y)}
        yield f"Gaussian kernel perceptron, {noise}", "20000 × 20", ours, rivals
    x, y, w = files.points("race", 50), files.labels("race"), files.points("candidates", 50)
    selections = {
        "all counted": "selection",
        "worse ones dropped": "selection-statistical",
        "ended when good enough": "selection-early-stop",
    }
    for name, ours in selections.items():
        yield f"selection, {name}", "100000 on 10000 × 50", ours, {"numpy": choice(x, y, w)}
    csv, libsvm = str(files.folder / "dense.csv"), str(files.folder / "sparse.libsvm")
    size = f"{os.path.getsize(csv) / 1e6:.0f} MB"
    for threads, name in ((1, "one thread"), (2, "two threads")):
        rivals = {peer: Reader(peer, threads, csv) for peer in READERS if has(peer)}
        if threads == 1 and has("pandas"):
            rivals["pandas"] = lambda: len(peers["pandas"].read_csv(csv))
        yield f"reading CSV, {size}, {name}", "200000 × 50", f"csv {threads}", rivals
    rivals = {}
    if has("scikit-learn"):
        from sklearn.datasets import load_svmlight_file

        rivals["scikit-learn"] = lambda: load_svmlight_file(libsvm)[0].nnz
    size = f"{os.path.getsize(libsvm) / 1e6:.0f} MB"
    yield f"reading LIBSVM, {size}", "100000 × 50000, 75 a row", "libsvm", rivals


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=7, help="rounds; fewer where one takes long")
    options.add_argument("--folder", default=str(ROOT / "target" / "peers"), help="for the files")
    options.add_argument("--only", nargs="+", help="parts of the names of jobs")
    options = options.parse_args()
    peers = available()
    missing = [name for name in PEERS if name not in peers]
    if missing:
        print(f"missing: {', '.join(missing)}\n")
    ours = Ours(options.folder)
    print("| job | size | ours | peer | its time | peer / ours | same result |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with one_thread() as limits:
        for job, size, request, rivals in jobs(peers, Files(options.folder)):
            if options.only and not any(part in job for part in options.only):
                continue
            if "two threads" in job:
                limits.restore_original_limits()
            # The first run compiles, fills caches, and shows how long a round takes.
            warm = {name: timed(call)[0] for name, call in rivals.items()}
            ours(request)
            times = {name: [] for name in ("ours", *rivals)}
            results = {}
            for round in range(options.runs):
                time.sleep(REST)
                seconds, mine = ours(request)
                times["ours"].append(seconds)
                for name, call in rivals.items():
                    # A slow peer runs only three times.
                    if round < 3 or warm[name] < 2.0:
                        time.sleep(REST)
                        if warm[name] < QUICK:
                            warm_up(call)
                        seconds, results[name] = timed(call)
                        times[name].append(seconds)
            if "two threads" in job:
                limits = one_thread()
            own = statistics.median(times["ours"])
            for name in rivals:
                ratio = statistics.median(p / o for p, o in zip(times[name], times["ours"]))
                # If worse candidates are dropped early, a different choice may be equally good.
                told = isinstance(results[name], int) and request not in ("selection-statistical", "selection-early-stop")
                same = "-" if not told else "yes" if results[name] == mine else f"{results[name]}, ours {mine}"
                cells = [job, size, f"{own:.3g} s", name, f"{statistics.median(times[name]):.3g} s"]
                print("|", " | ".join([*cells, f"{ratio:.1f}", same]), "|", flush=True)
    ours.close()


if __name__ == "__main__":
    main()
