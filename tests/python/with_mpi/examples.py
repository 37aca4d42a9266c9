# SPDX-License-Identifier: Apache-2.0
"""One rank of a job: the examples over MPI do what they say."""
import importlib.util
import pathlib

import numpy as np
from mpi4py import MPI

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples" / "python"
COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


random = np.random.default_rng(7)
scores = random.integers(0, 40, (333, 5)).astype(np.float32)
found = load("router_quantiles").thresholds(COMM, np.array_split(scores, SIZE)[RANK], [0.1, 0.25, 1])
assert np.array_equal(found, np.quantile(scores, [0.9, 0.75, 0], method="higher", axis=0).astype(np.float32))

keys, queries = (random.integers(-3, 4, (count, 6)).astype(np.float32) for count in (101, 4))
positions, own = load("sharded_cache").best_positions(COMM, queries, keys[RANK::SIZE], 20)
assert np.array_equal(positions, np.argsort(-(queries @ keys.T), axis=1, kind="stable")[:, :20])
for row, held in zip(positions, own):
    assert np.array_equal(keys[RANK::SIZE][held], keys[row[row % SIZE == RANK]])
for name in ("router_quantiles", "sharded_cache"):
    load(name).main(COMM)
