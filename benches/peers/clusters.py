"""Fits to Parquet files on Dask and Spark, compared on the same rows, and the model of cost of docs/clusters.md.

    python clusters.py rows FOLDER                                  # 10^7 rows of 50 columns, 4.6 GB
    python clusters.py halfspaces FOLDER --workers 2 [--persist]    # halfspaces.dask
    python clusters.py dask-ml FOLDER --workers 2 --solver newton   # also lbfgs and admm
    python clusters.py spark FOLDER --workers 2 [--cache]           # MLlib; needs JAVA_HOME
    python clusters.py model FOLDER --log FILE                      # compares the times of a log with the model
    python clusters.py kills FOLDER --gigabytes 20 [--kill FILE]    # examples/larger_than_memory.py, with killed workers

The rows have a correlated Student distribution with three degrees of freedom. The labels are those of a halfspace
through the origin; a tenth of those to learn from are wrong. Every fit minimises |w|²/2 + Σ log(1 + exp(-y (w·x + b))).
A worker is a process with one thread, or for Spark a thread. All files are read once before the first job, so they are
in the page cache if it is large enough. Every result is a line of JSON, printed and appended to the file of --log.
The packages are pyarrow and distributed, and halfspaces, dask-ml or pyspark.
"""

import os
import sys

# Dask would import the script sparse.py of this folder as the package sparse.
if sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]
for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ.setdefault(f"{name}_NUM_THREADS", "1")

import argparse
import hashlib
import importlib.util
import json
import signal
import statistics
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

COLUMNS, TEST_ROWS = 50, 10**6
NAMES = [f"x{j}" for j in range(COLUMNS)]


class Log:
    """Appends lines of JSON to a file, and prints them."""

    def __init__(self, options):
        self.file = options.log
        self.always = {name: value for name, value in vars(options).items() if name not in ("log", "folder", "run")}

    def __call__(self, what, **values):
        line = {"what": what, **self.always, **values, "load": os.getloadavg()[0]}
        text = json.dumps(line, default=float)
        print(text, flush=True)
        if self.file:
            with open(self.file, "a") as file:
                file.write(text + "\n")


def lines(file):
    return [json.loads(line) for line in Path(file).read_text().splitlines()]


def seconds(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def rows(options):
    """Write the files. The distribution is that of the option --mild or not, whatever the number of rows."""
    mix = np.random.default_rng(0).normal(size=(COLUMNS, COLUMNS))
    if options.mild:
        mix = np.eye(COLUMNS) + 0.5 * mix / np.sqrt(COLUMNS)
    target = np.random.default_rng(1).normal(size=COLUMNS)

    def write(file, seed, n, wrong):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, COLUMNS)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)
        y = (X @ target > 0) ^ (rng.random(n) < wrong)
        frame = pd.DataFrame(X @ mix, columns=NAMES).assign(y=y.astype(np.int64))
        frame.to_parquet(file, row_group_size=50_000, use_dictionary=False)

    (options.folder / "train").mkdir(parents=True, exist_ok=True)
    files = max(1, options.rows // 10**5)
    cuts = [options.rows * i // files for i in range(files + 1)]
    for i in range(files):
        write(options.folder / "train" / f"{i:04}.parquet", [2, i], cuts[i + 1] - cuts[i], 0.1)
    write(options.folder / "test.parquet", 3, min(TEST_ROWS, options.rows), 0.0)
    print(f"condition of the covariance: {np.linalg.cond(mix) ** 2:.3g}")


def warm(folder):
    for file in sorted(folder.rglob("*.parquet")):
        with open(file, "rb") as opened:
            while opened.read(1 << 24):
                pass


def test_error(folder, w, b):
    frame = pd.read_parquet(folder / "test.parquet")
    positive = frame[NAMES].to_numpy() @ np.ravel(w) + np.ravel(b)[0] >= 0
    return float(np.mean(positive != (frame["y"].to_numpy() == 1)))


def peak_mb():
    """Return the largest resident memory of this process so far. `getrusage` may return that of its parent."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024 / 1e6
    return None


def cluster(options):
    import cloudpickle
    from distributed import LocalCluster

    # The workers cannot import a script.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return LocalCluster(
        n_workers=options.workers, threads_per_worker=1, memory_limit=options.memory, dashboard_address=None
    )


def halfspaces(options):
    import dask.dataframe as dd
    from distributed import Client, wait

    from halfspaces import dask as ours

    passes = []

    class Timed(ours.DaskSource):
        def run(self, *arguments, **more):
            s, result = seconds(lambda: super(Timed, self).run(*arguments, **more))
            passes.append(s)
            return result

    ours.DaskSource = Timed
    if options.chunk_mb:
        ours.CHUNK_BYTES = options.chunk_mb << 20
    log = Log(options)
    warm(options.folder)
    with cluster(options) as workers, Client(workers) as client:
        client.wait_for_workers(options.workers)
        pids = client.run(os.getpid)
        table = dd.read_parquet(options.folder / "train")
        X, y = table[NAMES], table["y"]
        for _ in range(2):
            summed = X.map_partitions(lambda part: part.to_numpy().sum(), meta=("s", "f8")).sum()
            log("read", s=seconds(summed.compute)[0], rows=len(table))
        if options.persist:
            start = time.perf_counter()
            X, y = X.to_dask_array().persist(), y.to_dask_array().persist()
            wait([X, y])
            X, y = X.compute_chunk_sizes(), y.compute_chunk_sizes()
            log("persist", s=time.perf_counter() - start)

        def job(name, work, found, more=dict):
            passes.clear()
            s, model = seconds(work)
            bits = hashlib.sha256(np.ascontiguousarray(found(model)).tobytes()).hexdigest()[:16]
            same = client.run(os.getpid) == pids
            peak = max(client.run(peak_mb).values())
            log(name, s=s, passes=len(passes), pass_s=passes, bits=bits, peak_mb=peak, same_workers=same, **more(model))

        def errors(model):
            return {"error": test_error(options.folder, model.coef_, model.intercept_)}

        job(
            "logistic",
            lambda: ours.LogisticRegression(C=1.0, tol=1e-8).fit(X, y),
            lambda model: model.coef_,
            lambda model: {**errors(model), "steps": model.reports_[0]["n_iter"]},
        )
        job(
            "forster",
            lambda: ours.ForsterTransform().fit(X),
            lambda model: model.matrix_,
            lambda model: {"outcome": model.outcome_, "residual": model.residual_},
        )
        perceptron = ours.AveragedPerceptron(max_iter=3, fit_intercept=False)
        job("perceptron", lambda: perceptron.fit(X, y), lambda model: model.coef_, errors)
        direction = np.arange(1.0, COLUMNS + 1)
        job("margins", lambda: ours.largest_margins(X, direction, 100), np.concatenate)


def dask_ml(options):
    import dask.dataframe as dd
    from dask_ml.linear_model import LogisticRegression
    from distributed import Client, wait

    log = Log(options)
    warm(options.folder)
    with cluster(options) as workers, Client(workers) as client:
        client.wait_for_workers(options.workers)
        start = time.perf_counter()
        table = dd.read_parquet(options.folder / "train")
        X, y = table[NAMES].to_dask_array(), table["y"].to_dask_array()
        if options.persist:
            X, y = X.persist(), y.persist()
            wait([X, y])
        X, y = X.compute_chunk_sizes(), y.compute_chunk_sizes()
        y = y.rechunk((X.chunks[0],))
        read = time.perf_counter() - start
        model = LogisticRegression(solver=options.solver, C=1.0, max_iter=options.max_iter)
        s, model = seconds(lambda: model.fit(X, y))
        error = test_error(options.folder, model.coef_, model.intercept_)
        log("fit", read_s=read, s=s, error=error, peak_mb=max(client.run(peak_mb).values()))


def spark(options):
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col

    log = Log(options)
    warm(options.folder)
    builder = SparkSession.builder.master(f"local[{options.workers}]").config("spark.driver.memory", options.memory)
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(options.folder),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    files = session.read.parquet(str(options.folder / "train"))
    for _ in range(2):
        # The sum of all columns reads every value.
        summed = files.selectExpr(" + ".join(NAMES) + " as s").selectExpr("sum(s)")
        log("read", s=seconds(summed.collect)[0])
    data = VectorAssembler(inputCols=NAMES, outputCol="features").transform(files)
    data = data.select("features", col("y").cast("double").alias("label"))
    read = 0.0
    if options.persist:
        data = data.cache()
        read = seconds(data.count)[0]
    # MLlib divides the loss by the number of rows.
    weight = 1 / files.count()
    model = LogisticRegression(regParam=weight, standardization=False, tol=options.tol, maxIter=options.max_iter)
    s, model = seconds(lambda: model.fit(data))
    error = test_error(options.folder, model.coefficients.toArray(), model.intercept)
    log("fit", read_s=read, s=s, steps=model.summary.totalIterations, error=error)
    session.stop()


def model(options):
    """Measure B, F, s and l of docs/clusters.md, and compare the passes of a log with the model."""
    import dask
    from distributed import Client

    from halfspaces import blocks

    class Job(blocks.MemorySource):
        def run(self, job, positive=None):
            self.job, self.positive = job, positive
            return super().run(job, positive)

    files = sorted((options.folder / "train").glob("*.parquet"))
    some = files[: max(2, len(files) // 10)]
    warm(options.folder)
    size = sum(pd.read_parquet(file, columns=NAMES).to_numpy().nbytes for file in some)
    read = min(seconds(lambda: [pd.read_parquet(f, columns=NAMES).to_numpy().sum() for f in some])[0] for _ in range(3))
    rate = size / read
    print(f"B: {rate / 1e9:.2f} GB/s")
    frame = pd.concat([pd.read_parquet(file) for file in files[:2]])
    some_rows = 18 * blocks.BLOCK_ROWS
    X, y = frame[NAMES].to_numpy()[:some_rows], frame["y"].to_numpy()[:some_rows]
    X = np.ascontiguousarray(X)
    per_row = {}
    for name, fit in {
        "logistic": lambda source: blocks.LogisticRegression(C=1.0, max_iter=1).fit(source),
        "forster": lambda source: blocks.ForsterTransform(max_iter=1).fit(source),
        "perceptron": lambda source: blocks.AveragedPerceptron(max_iter=1, fit_intercept=False).fit(source),
        "margins": lambda source: blocks.largest_margins(source, np.ones(COLUMNS), 100),
    }.items():
        source = Job(X, y)
        fit(source)
        labels = y if source.positive is not None else None
        arguments = (source.job, X, labels, source.positive, 0, 1)
        turns = [seconds(partial(blocks.partial, *arguments))[0] for _ in range(5)]
        per_row[name] = min(turns) / some_rows
        print(f"a row of {name}: {per_row[name] * 1e9:.0f} ns")
    spent = {}
    for count in (1, 2, 4):
        options.workers, options.memory = count, "2GB"
        with cluster(options) as workers, Client(workers) as client:
            client.wait_for_workers(count)
            nothing = dask.delayed(lambda *parts: b"x" * 10_000, pure=False)
            turns = [seconds(dask.delayed(nothing)(*[nothing(i) for i in range(4000)]).compute)[0] for _ in range(3)]
            rounds = [seconds(nothing(1).compute)[0] for _ in range(20)]
            spent[count] = (min(turns[1:]) / 4000, statistics.median(rounds))
            print(f"{count} workers: {spent[count][0] * 1e3:.2f} ms a task, {spent[count][1] * 1e3:.1f} ms a round")
    print("| job | workers | rows kept | a pass, s | model, s |\n|---|---|---|---|---|")
    n = next(line["rows"] for line in lines(options.log) if "rows" in line)
    for line in lines(options.log):
        if line["what"] not in per_row or line["chunk_mb"]:
            continue
        count = min(line["workers"], os.cpu_count())
        chunks = n / (blocks.BLOCK_ROWS * ((32 << 20) // (8 * COLUMNS * blocks.BLOCK_ROWS)))
        # docs/clusters.md counts the tasks for each chunk.
        tasks = (4.4 if line["what"] in ("logistic", "perceptron") else 3.0) * chunks
        task, latency = spent[line["workers"]]
        reading = 0.0 if line["persist"] else 8 * n * COLUMNS / rate
        predicted = (reading + n * per_row[line["what"]]) / count + tasks * task + np.log(chunks) / np.log(16) * latency
        measured = statistics.median(line["pass_s"])
        print(f"| {line['what']} | {line['workers']} | {line['persist']} | {measured:.2f} | {predicted:.2f} |")


def kills(options):
    """Run the example of files larger than memory. With --kill, half way through each job one worker is killed."""
    from distributed import default_client

    path = Path(__file__).parents[2] / "crates/python/examples/larger_than_memory.py"
    spec = importlib.util.spec_from_file_location("larger_than_memory", path)
    example = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = example
    spec.loader.exec_module(example)
    import cloudpickle

    cloudpickle.register_pickle_by_value(example)
    earlier = {line["what"]: line for line in lines(options.kill)} if options.kill else {}
    log = Log(options)

    def watched(name, work, found):
        client, done, told = default_client(), threading.Event(), {}

        def kill():
            if done.wait(earlier[name]["s"] / 2):
                told["killed"] = "too late"
                return
            pids = client.run(os.getpid)
            running = client.processing()
            address = max(pids, key=lambda worker: len(running.get(worker, ())))
            os.kill(pids[address], signal.SIGKILL)
            told["killed"] = f"{len(running.get(address, ()))} tasks there"

        thread = threading.Thread(target=kill) if earlier else None
        if thread:
            thread.start()
        s, result = seconds(work)
        done.set()
        if thread:
            thread.join()
        bits = hashlib.sha256(np.ascontiguousarray(found(result)).tobytes()).hexdigest()[:16]
        if earlier:
            told["same_bits"] = bits == earlier[name]["bits"]
        log(name, s=s, bits=bits, **told)
        return result

    def fitted(kind, name, found):
        class Watched(kind):
            def fit(self, *arguments):
                return watched(name, lambda: super(Watched, self).fit(*arguments), found)

        return Watched

    example.ForsterTransform = fitted(example.ForsterTransform, "forster", lambda model: model.matrix_)
    example.LogisticRegression = fitted(example.LogisticRegression, "logistic", lambda model: model.coef_)
    example.AveragedPerceptron = fitted(example.AveragedPerceptron, "perceptron", lambda model: model.coef_)

    def called(name, found, plain):
        setattr(example, name, lambda *arguments, **more: watched(name, lambda: plain(*arguments, **more), found))

    for name, found in {
        "largest_margins": np.concatenate,
        "count_errors": np.asarray,
        "label": lambda session: np.concatenate([session.coef_, [session.n_scans_, session.progress.corrections]]),
    }.items():
        called(name, found, getattr(example, name))
    sys.argv = [str(path), str(options.folder), "--gigabytes", str(options.gigabytes)]
    sys.argv += ["--workers", str(options.workers), "--memory", options.memory]
    example.main()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name, run, memory=None):
        added = commands.add_parser(name)
        added.set_defaults(run=run)
        added.add_argument("folder", type=Path)
        added.add_argument("--log", help="the file that gets the lines of JSON")
        if memory:
            added.add_argument("--workers", type=int, default=2)
            added.add_argument("--memory", default=memory, help="of each worker; for Spark, of all")
        return added

    added = command("rows", rows)
    added.add_argument("--rows", type=int, default=10**7)
    added.add_argument("--mild", action="store_true", help="columns with little correlation")
    added = command("halfspaces", halfspaces, "5GB")
    added.add_argument("--persist", action="store_true", help="keep the rows in the memory of the workers")
    added.add_argument("--chunk-mb", type=int, default=0)
    added = command("dask-ml", dask_ml, "9GB")
    added.add_argument("--solver", default="newton")
    added.add_argument("--max-iter", type=int, default=100)
    added.add_argument("--no-persist", dest="persist", action="store_false")
    added = command("spark", spark, "12g")
    added.add_argument("--cache", dest="persist", action="store_true", help="keep the rows in memory")
    added.add_argument("--tol", type=float, default=1e-6)
    added.add_argument("--max-iter", type=int, default=100)
    command("model", model)
    added = command("kills", kills, "700MB")
    added.add_argument("--gigabytes", type=float, default=20.0)
    added.add_argument("--kill", help="the log of the same command without --kill")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
