"""Pipelines and audits of Dask dataframes give the same bits for any workers, even when workers are killed."""

import itertools
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from tables import mixed

from halfspaces import Pipeline, parts
from halfspaces import dask as hd
from halfspaces.blocks import BLOCK_ROWS
from halfspaces.parts import MemoryTable

# Dask and its workers warn about their own ports, loops and versions.
pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = 3 * BLOCK_ROWS + 77
OPTIONS = {"label": "outcome", "first_rows": 6000}


@pytest.fixture(scope="module")
def sample() -> pd.DataFrame:
    return mixed(ROWS, text=False)


@pytest.fixture(scope="module")
def folder(sample: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    cuts = [0, 2500, 2501, 7000, 11_000, ROWS]
    for part, (start, end) in enumerate(itertools.pairwise(cuts)):
        sample.iloc[start:end].to_parquet(folder / f"{part}.parquet", row_group_size=1500)
    return folder


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
    hd.CHUNK_BYTES = 1
    yield
    hd.CHUNK_BYTES = before


def results(table: object) -> list[bytes]:
    """The model, the notes, the predictions and the audit."""
    fit, found = hd.Pipeline.fit(table, **OPTIONS), hd.audit(table, **OPTIONS, count=50)
    labels = fit.predict(table).compute()
    return [fit._native.to_bytes(), repr(fit.notes).encode(), labels.to_numpy().astype(str).tobytes(), *of_audit(found)]


def of_audit(found: object) -> list[bytes]:
    return [found.row.tobytes(), found.score.tobytes(), repr(found.suggested).encode(), repr(found).encode()]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def alone(sample: pd.DataFrame) -> list[bytes]:
    """The same without Dask."""
    table = MemoryTable([sample[:4000], sample[4000:]])
    fit, found = parts.fit(table, **OPTIONS), parts.audit(table, **OPTIONS, count=50)
    labels = fit.predict(sample).astype(str).tobytes()
    return [fit._native.to_bytes(), repr(fit.notes).encode(), labels, *of_audit(found)]


def test_any_number_of_workers_finds_the_same_bits(client: Client, folder: Path, alone: list[bytes]) -> None:
    for workers, by_groups in [(1, False), (2, True), (3, False)]:
        client.cluster.scale(workers)
        client.wait_for_workers(workers)
        assert results(dd.read_parquet(folder, split_row_groups=by_groups)) == alone
    client.cluster.scale(2)


def test_threads_of_this_process_find_the_same_bits(sample: pd.DataFrame, alone: list[bytes]) -> None:
    with dask.config.set(scheduler="threads", num_workers=3):
        assert results(dd.from_pandas(sample, npartitions=7)) == alone


def test_killed_workers_change_nothing(client: Client, folder: Path, alone: list[bytes]) -> None:
    client.cluster.scale(3)
    client.wait_for_workers(3)
    stop, killed = threading.Event(), []

    def kill() -> None:
        while not stop.wait(1.0) and len(killed) < 3:
            pids = [pid for pid in client.run(os.getpid, on_error="ignore").values() if pid not in killed]
            if pids:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])

    def slow(part: pd.DataFrame) -> pd.DataFrame:
        time.sleep(0.03)
        return part

    table = dd.read_parquet(folder)
    table = table.map_partitions(slow, meta=table._meta)
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = results(table)
    finally:
        stop.set()
        killer.join()
    assert len(killed) == 3, "too few workers were killed while the jobs ran"
    assert found == alone
    client.cluster.scale(2)


def test_predictions_are_those_of_each_partition_and_of_their_type(sample: pd.DataFrame, tmp_path: Path) -> None:
    rows = sample.assign(level=np.where(sample["outcome"] == "spam", 3, 1)).drop(columns="outcome")
    rows.index = pd.Index(np.arange(ROWS) * 2, name="id")
    with dask.config.set(scheduler="threads"):
        table = dd.from_pandas(rows, npartitions=4)
        fit = hd.Pipeline.fit(table, label="level", first_rows=6000)
        # The first partition keeps no row.
        kept = table.map_partitions(lambda part: part[part.index >= rows.index[5000]], meta=table._meta)
        inside = rows[rows.index >= rows.index[5000]]
        for model in (fit, pickle.loads(pickle.dumps(fit))):
            labels = model.predict(kept)
            assert labels.dtype == np.int64 and labels.name == "level" and labels.known_divisions
            found = labels.compute()
            assert found.dtype == np.int64 and found.index.equals(inside.index)
            assert np.array_equal(found, fit.predict(inside))
        chances = fit.predict_proba(kept)
        assert chances.columns.tolist() == [1, 3] and (chances.dtypes == np.float64).all()
        assert np.array_equal(chances.compute().to_numpy(), fit.predict_proba(inside))
        table_of = fit.decide(kept)
        pd.testing.assert_frame_equal(table_of.compute(), fit.decide(inside).set_axis(inside.index))
        assert table_of.dtypes.to_dict() == table_of.compute().dtypes.to_dict()
        # A cost that makes every row positive, as in memory.
        assert (fit.predict(kept, costs={3: 1e9}).compute() == 3).all()
        assert (kept["level"] == fit.predict(kept)).mean().compute() > 0.7
        fit.save(tmp_path / "m.json")
        loaded = hd.Pipeline.load(tmp_path / "m.json")
        assert np.array_equal(loaded.predict(kept).compute(), Pipeline.load(tmp_path / "m.json").predict(inside))


def test_strings_are_predicted_and_unseen_categories_are_told(sample: pd.DataFrame) -> None:
    with dask.config.set(scheduler="threads"):
        table = dd.from_pandas(sample, npartitions=3)
        fit = hd.Pipeline.fit(table, **OPTIONS)
        labels = fit.predict(table)
        assert labels.dtype == labels.compute().dtype
        strange = table.assign(colour="mauve")
        with pytest.raises(ValueError, match="the model has not seen the category `mauve`"):
            fit.predict(strange).compute()
        assert len(fit.predict(strange, unseen="zero").compute()) == ROWS
        with pytest.raises(ValueError, match="unseen='none'"):
            fit.predict(table, unseen="none")
        with pytest.raises(ValueError, match="does not|has no|no column"):
            fit.predict(table.drop(columns="amount")).compute()


def test_faults_are_told(sample: pd.DataFrame) -> None:
    with dask.config.set(scheduler="threads"):
        with pytest.raises(TypeError, match="expected a Dask dataframe"):
            hd.Pipeline.fit(sample, label="outcome")
        table = dd.from_pandas(sample, npartitions=3)
        with pytest.raises(ValueError, match="there is no column 'result'"):
            hd.audit(table, label="result")
        gap = sample.copy()
        gap.loc[9_500, "outcome"] = None
        with pytest.raises(ValueError, match="table, row 9500, column `outcome`: the label is missing"):
            hd.Pipeline.fit(dd.from_pandas(gap, npartitions=3), **OPTIONS)


def test_columns_of_many_types(sample: pd.DataFrame, tmp_path: Path) -> None:
    """Partitions may store a column in different types, as Parquet files with and without missing values do."""
    rows = sample.assign(
        grade=pd.Categorical(np.where(sample["count"] > 20, "high", "low")),
        whole=sample["count"].astype("Int64").mask(sample["count"] == 7),
        none=None,
    )
    for part, start in enumerate(range(0, ROWS, 5000)):
        rows.iloc[start : start + 5000].to_parquet(tmp_path / f"{part}.parquet")
    with dask.config.set(scheduler="threads"):
        fit = hd.Pipeline.fit(dd.read_parquet(tmp_path), **OPTIONS)
        assert {"grade", "whole", "colour", "day", "paid"} <= set(fit.columns)
        inside = parts.fit(MemoryTable([rows]), **OPTIONS)
        assert np.array_equal(fit.predict(rows), inside.predict(rows))
