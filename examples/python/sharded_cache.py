# SPDX-License-Identifier: Apache-2.0
"""The best positions of a cache of keys that is dealt out to the ranks in turns: position p lies on rank p % ranks.

Sparse attention reads the keys that score best for a query. Each rank scores its own keys, and all agree on the best k
of the whole context; each then reads those that it holds. Positions that tie go by their place in the context, so the
result is the same for any number of ranks.

    mpirun -n 2 python -m mpi4py sharded_cache.py
"""
import numpy as np
from mpi4py import MPI

import libtopk.mpi


def best_positions(comm, queries, keys, k):
    """The k positions of the whole context that score best for each query, and this rank's own among them.

    queries  (queries, width), the same on all ranks
    keys     (positions of this rank, width): rows rank, rank + ranks ... of the context

    Returns (positions of the context (queries, k), best first; a list of rows of `keys` for each query).
    """
    scores = queries @ keys.T
    positions = libtopk.mpi.topk(comm, scores, k, positions="stride").indices
    ranks, rank = comm.Get_size(), comm.Get_rank()
    return positions, [row[(row >= 0) & (row % ranks == rank)] // ranks for row in positions]


def main(comm):
    random = np.random.default_rng(1)  # every rank makes the whole context, and keeps its part
    context = random.standard_normal((10_000, 64)).astype(np.float32)
    queries = random.standard_normal((3, 64)).astype(np.float32)
    positions, own = best_positions(comm, queries, context[comm.Get_rank()::comm.Get_size()], 8)
    held = comm.gather([len(rows) for rows in own])
    if comm.Get_rank() == 0:
        print("best positions of each query:", positions, sep="\n")
        print("held by each rank:", held)


if __name__ == "__main__":
    main(MPI.COMM_WORLD)
