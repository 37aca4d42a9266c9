# SPDX-License-Identifier: Apache-2.0
"""libtopk.dask on workers that are processes: the bits of one call, also if one of them is killed on the way."""
import csv
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

import numpy as np
import pytest

import libtopk
from oracle import all_same

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
from libtopk.dask import kth, nlargest, topk  # noqa: E402

PATIENCE_S = 600  # of a machine that does much else
EXAMPLE = pathlib.Path(__file__).parents[3] / "examples" / "python" / "files_in_parallel.py"


@pytest.fixture(scope="module")
def client():
    with dask.config.set({"distributed.comm.timeouts.connect": PATIENCE_S, "distributed.worker.memory.terminate": False}):
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with distributed.Client(cluster, timeout=PATIENCE_S) as client:
                yield client


def numbers_of(number, length):
    return np.random.default_rng(number).integers(-99, 99, length).astype(np.float32)


def block_of(log, length, wait_s, block_info):
    """The numbers of a chunk, which are the same whenever and wherever they are made. Its file tells who made it."""
    (number,) = block_info[None]["chunk-location"]
    log.joinpath(f"{os.getpid()} {uuid.uuid4()}").touch()
    time.sleep(wait_s)
    return numbers_of(number, length)


def array_of(log, chunks, length, wait_s):
    whole = np.concatenate([numbers_of(number, length) for number in range(chunks)])
    lazy = da.map_blocks(lambda block_info: block_of(log, length, wait_s, block_info), chunks=((length,) * chunks,),
                         dtype=np.float32, meta=np.empty(0, np.float32))
    return whole, lazy


def test_any_chunking_on_processes_gives_the_bits_of_one_call(client, tmp_path):
    whole, lazy = array_of(tmp_path, 12, 500, 0)
    for x in (lazy, lazy.rechunk(701), lazy.rechunk(6000), lazy.reshape(60, 100).rechunk((7, 30)).reshape(-1), lazy.persist()):
        for k in (1, 40, 7000):
            assert all_same(client.gather(client.compute(topk(x, k, split_every=3))), libtopk.topk(whole, k))
    assert all_same(dask.compute(*kth(lazy, 900, split_every=2)), libtopk.kth(whole, 900))


def test_a_killed_worker_changes_no_bit(client, tmp_path):
    whole, lazy = array_of(tmp_path, 40, 300, 0.05)
    pids = set(client.run(os.getpid).values())
    futures = client.compute(topk(lazy, 100, split_every=4))
    deadline = time.monotonic() + PATIENCE_S
    while len(made := list(tmp_path.iterdir())) < 6:  # some states are ready, and most are not
        assert time.monotonic() < deadline
        time.sleep(0.01)
    victim = int(made[0].name.split()[0])
    assert victim in pids and len(made) < 40
    os.kill(victim, signal.SIGKILL)
    assert all_same(client.gather(futures), libtopk.topk(whole, 100))
    client.wait_for_workers(2, timeout=PATIENCE_S)
    assert victim not in client.run(os.getpid).values()


def test_chunks_that_were_in_a_killed_worker(client, tmp_path):
    """They shared tasks by the workers that had them, which holds no longer when the tasks run."""
    whole, lazy = array_of(tmp_path, 40, 300, 0)
    x = lazy.persist()
    distributed.wait(x)
    questions = topk(x, 100, split_every=4), kth(x, 100)
    lists = [str(key) for key in dict(questions[0][0].dask) if "-list-" in str(key)]
    assert 4 <= len(lists) < 10
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert all_same(client.gather(client.compute(questions[0])), libtopk.topk(whole, 100))
    assert all_same(client.gather(client.compute(questions[1])), libtopk.kth(whole, 100))
    client.wait_for_workers(2, timeout=PATIENCE_S)


def test_frames_on_processes(client):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"a": np.arange(999) % 7, "b": np.arange(999)})
    result = nlargest(dd.from_pandas(frame, npartitions=11), 20, "a", "last", split_every=3).compute()
    pd.testing.assert_frame_equal(result, frame.nlargest(20, "a", "last"))


def test_the_example(client, tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("example_files_in_parallel", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    paths, parts = [], []
    for number, length in enumerate((5000, 1, 0, 777)):
        parts.append(numbers_of(number, length))
        paths.append(str(tmp_path / f"{number}.npy"))
        np.save(paths[-1], parts[-1])
    values, places = example.largest_of_files(paths, 30, chunk_elements=1000)
    whole = libtopk.topk(np.concatenate(parts), 30)
    assert np.array_equal(values, whole.values)
    begins = np.cumsum([0, *map(len, parts)])
    assert [begins[paths.index(path)] + place for path, place in places] == whole.indices.tolist()
    example.main([*paths, "-k", "3"])
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert len(EXAMPLE.read_text().splitlines()) < 70


def test_the_benchmark_finds_right_results(tmp_path):
    script = EXAMPLE.parents[2] / "bench" / "dask_arrays.py"
    record = tmp_path / "record.csv"
    subprocess.run([sys.executable, script, "--library", libtopk.library_path, "--exponents", "12", "--chunks", "4", "--k", "5",
                    "--rounds", "2", "--csv", record], check=True, stdout=subprocess.DEVNULL)
    lines = list(csv.DictReader(record.open()))
    assert len(lines) == 10 and all(line["check"] == "ok" and float(line["to_topk"]) > 0 for line in lines)
