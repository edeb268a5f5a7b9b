"""Fits to Dask collections give the same bits for any workers, even when workers are killed."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.exceptions import NotFittedError

import halfspaces
from halfspaces import blocks
from halfspaces import dask as hd
from halfspaces.blocks import BLOCK_ROWS, MemorySource

# Dask and its workers warn about their own ports, loops and versions.
pytestmark = pytest.mark.filterwarnings("ignore")

ROWS, COLUMNS = 4 * BLOCK_ROWS + 100, 5


@pytest.fixture(scope="module")
def sample() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(ROWS, COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS))
    return X, np.where(X[:, 0] - 0.3 * X[:, 1] + rng.normal(size=ROWS) > 0, "yes", "no")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    settings = {"distributed.scheduler.allowed-failures": 10, "distributed.comm.timeouts.connect": "20s"}
    with dask.config.set(settings):
        with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                yield client


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> Iterator[None]:
    before = hd.CHUNK_BYTES
    hd.CHUNK_BYTES = 8 * COLUMNS * BLOCK_ROWS
    yield
    hd.CHUNK_BYTES = before


def labelled(session: blocks.Labeler) -> np.ndarray:
    """The questions, the corrections and the weights of a session."""
    return np.array([*session.labels, session.progress.corrections, *session.coef_])


def oracle(question: blocks.Question) -> str:
    return "yes" if question.values[0] > 0.3 * question.values[1] else "no"


def fits(X: da.Array, y: object) -> list[np.ndarray]:
    """The results of all jobs."""
    labelling = labelled(hd.label(X, oracle, ["no", "yes"], batch=15, budget=40))
    simulation = hd.simulate_labelling(X, X[:, 0] > 0.3 * X[:, 1])
    position = hd.ForsterTransform(tol=1e-3).fit(X)
    logistic = hd.LogisticRegression(C=0.01, tol=1e-6).fit(X, y)
    perceptron = hd.AveragedPerceptron(max_iter=3).fit(X, y)
    rows, values = hd.largest_margins(X, np.arange(COLUMNS), 20)
    counts = hd.count_errors(X, y, np.eye(COLUMNS))
    results = [position.matrix_, logistic.coef_, perceptron.coef_, rows, values, counts]
    return [*results, labelling, simulation.rows, simulation.coef]


def alone(X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The same without Dask."""
    source = MemorySource(X, y)
    rows, values = blocks.largest_margins(source, np.arange(COLUMNS), 20)
    simulation = blocks.simulate_labelling(MemorySource(X, X[:, 0] > 0.3 * X[:, 1]))
    return [
        halfspaces.ForsterTransform(tol=1e-3).fit(X).matrix_,
        blocks.LogisticRegression(C=0.01, tol=1e-6).fit(source).coef_,
        blocks.AveragedPerceptron(max_iter=3).fit(source).coef_,
        rows,
        values,
        blocks.count_errors(source, np.eye(COLUMNS)),
        labelled(blocks.label(source, oracle, ["no", "yes"], batch=15, budget=40)),
        simulation.rows,
        simulation.coef,
    ]


def same(found: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_any_number_of_workers_finds_the_same_bits(client: Client, sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = sample
    expected = alone(X, y)
    for workers, chunk in [(1, 3000), (2, 4999), (3, ROWS)]:
        client.cluster.scale(workers)
        client.wait_for_workers(workers)
        assert same(fits(da.from_array(X, chunks=(chunk, 2)), da.from_array(y, chunks=chunk // 2)), expected)
    client.cluster.scale(2)


def test_threads_of_this_process_find_the_same_bits(sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = sample
    with dask.config.set(scheduler="threads", num_workers=3):
        assert same(fits(da.from_array(X, chunks=(5000, 5)), da.from_array(y, chunks=7000)), alone(X, y))


def test_parts_begin_at_blocks_and_hold_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)

    def divided(n: int, most: int) -> tuple[int, ...]:
        cuts = np.sort(rng.integers(0, n + 1, size=rng.integers(0, most)))
        return tuple(int(size) for size in np.diff([0, *cuts, n]))

    for _ in range(25):
        n = int(rng.integers(1, 30 * BLOCK_ROWS))
        size = int(rng.integers(1, 12)) * BLOCK_ROWS
        monkeypatch.setattr(hd, "CHUNK_BYTES", 8 * 2 * size)
        X, y = np.arange(2.0 * n).reshape(n, 2), np.arange(n)
        chunked = da.from_array(X, chunks=(divided(n, 12), (2,)))
        source = hd.DaskSource(chunked, da.from_array(y, chunks=(divided(n, 5),)))
        found = [
            dask.compute(*[dask.delayed(hd.joined)(part) for part in parts])
            for parts in (source.parts, source.label_parts)
        ]
        assert np.array_equal(np.concatenate(found[0]), X) and np.array_equal(np.concatenate(found[1]), y)
        lengths = [len(part) for part in found[0]]
        assert lengths == [len(part) for part in found[1]]
        assert source.firsts == [sum(lengths[:part]) for part in range(len(lengths))]
        assert all(first % BLOCK_ROWS == 0 for first in source.firsts)
        assert all(size <= length <= 2 * size for length in lengths[:-1])


def slowly(part: np.ndarray) -> np.ndarray:
    time.sleep(0.05)
    return part


@contextlib.contextmanager
def killing(client: Client, most: int) -> Iterator[None]:
    """Kill this many workers, one per second, while the body runs."""
    stop = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        while len(killed) < most and not stop.wait(1.0):
            pids = [pid for pid in client.run(os.getpid, on_error="ignore").values() if pid not in killed]
            if pids:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        stop.set()
        killer.join()
    assert killed or most == 0, "no worker was killed while the jobs ran"


def test_killed_workers_change_nothing(client: Client, sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = sample
    client.cluster.scale(3)
    client.wait_for_workers(3)
    rows = da.from_array(X, chunks=(BLOCK_ROWS, COLUMNS)).map_blocks(slowly, dtype=np.float64)
    with killing(client, 2):
        found = fits(rows, da.from_array(y, chunks=BLOCK_ROWS))
    assert same(found, alone(X, y))
    client.cluster.scale(2)


def test_parquet_frames(client: Client, sample: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    X, y = sample
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    for part, start in enumerate(range(0, ROWS, 9000)):
        frame.iloc[start : start + 9000].to_parquet(tmp_path / f"{part}.parquet", row_group_size=3500)
    table = dd.read_parquet(tmp_path, split_row_groups=True)
    assert table.npartitions > 5
    model = hd.LogisticRegression(C=0.01, tol=1e-6).fit(table[list("abcde")], table["y"])
    inside = blocks.LogisticRegression(C=0.01, tol=1e-6).fit(MemorySource(X, y))
    assert np.array_equal(model.coef_, inside.coef_)
    assert np.array_equal(model.predict(table[list("abcde")]).compute(), inside.predict(X))
    position = hd.ForsterTransform(tol=1e-3).fit(table[list("abcde")])
    expected = halfspaces.ForsterTransform(tol=1e-3).fit(X).transform(X)
    assert np.array_equal(position.transform(table[list("abcde")]).compute(), expected)


def test_heavy_subspaces_and_killed_workers(client: Client) -> None:
    """More than three fifths of the rows are in three of five dimensions."""
    X = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    X[::3, 3:] = X[1::3, 3:] = 0.0
    X = X @ np.random.default_rng(2).normal(size=(COLUMNS, COLUMNS))
    expected = blocks.ForsterTransform(tol=1e-3).fit(MemorySource(X))
    assert expected.outcome_ == "heavy_subspace" and expected.matrix_.shape == (COLUMNS, 3)
    rows = da.from_array(X, chunks=(BLOCK_ROWS, COLUMNS)).map_blocks(slowly, dtype=np.float64)
    for workers in (1, 2, 3):
        client.cluster.scale(workers)
        client.wait_for_workers(workers)
        with killing(client, 1 if workers == 3 else 0):
            fit = hd.ForsterTransform(tol=1e-3).fit(rows)
        assert fit.outcome_ == "heavy_subspace" and fit.n_members_ == expected.n_members_
        assert np.array_equal(fit.matrix_, expected.matrix_)
    assert fit.transform(rows[:7]).compute().shape == (7, 3)
    client.cluster.scale(2)


def test_labelling_on_frames(client: Client, sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, _ = sample
    table = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=3)
    session = hd.Labeler(table, ["no", "yes"], batch=5)
    while session.progress.asked < 12:
        question = session.ask()
        assert question is not None and np.array_equal(question.values, X[question.row])
        session.tell(oracle(question))
    inside = blocks.label(MemorySource(X), oracle, ["no", "yes"], batch=5, budget=12)
    assert np.array_equal(labelled(session), labelled(inside))
    assert np.array_equal(session.predict(table).compute(), inside.predict(X))
    with pytest.raises(ValueError, match="X has the columns e, d, c, b, a"):
        session.predict(table[list("edcba")])


def test_columns_in_another_order_are_refused(sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = sample
    with dask.config.set(scheduler="threads"):
        table = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=2)
        for model in (hd.LogisticRegression(C=0.01), hd.ForsterTransform(tol=1e-3)):
            uses = model.predict if isinstance(model, hd.LogisticRegression) else model.transform
            with pytest.raises(NotFittedError):
                uses(table)
            model.fit(table, da.from_array(y))
            assert model.feature_names_in_.tolist() == list("abcde")
            expected = uses(table).compute()
            with pytest.raises(
                ValueError, match="X has the columns e, d, c, b, a, but the model was fitted to a, b, c"
            ):
                uses(table[list("edcba")])
            assert np.array_equal(uses(da.from_array(X)).compute(), expected)
            assert not hasattr(model.fit(da.from_array(X), da.from_array(y)), "feature_names_in_")
        labels = np.where(y == "yes", 1.0, 0.0)
        labels[77] = np.nan
        with pytest.raises(ValueError, match="y contains NaN"):
            hd.LogisticRegression().fit(da.from_array(X), da.from_array(labels))


def test_faults_are_told(sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = sample
    with dask.config.set(scheduler="threads"):
        with pytest.raises(ValueError, match="one label for each"):
            hd.LogisticRegression().fit(da.from_array(X), da.from_array(y[1:]))
        with pytest.raises(TypeError, match="expected a Dask array"):
            hd.LogisticRegression().fit([[1.0]], y)
        bad = X.copy()
        bad[BLOCK_ROWS + 3, 1] = np.inf
        with pytest.raises(ValueError, match=f"row {BLOCK_ROWS + 3}, column 1"):
            hd.ForsterTransform().fit(da.from_array(bad, chunks=(1000, 5)))
