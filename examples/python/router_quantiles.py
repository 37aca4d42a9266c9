# SPDX-License-Identifier: Apache-2.0
"""Quantiles of a router's scores over all ranks: the score of each expert that a given share of all tokens reaches.

Each rank has the scores of its own tokens. Thresholds and how many tokens reach them are exact and alike on all ranks,
and no score leaves its rank: ranks add up counters.

    mpirun -n 4 python -m mpi4py router_quantiles.py
"""
import numpy as np
from mpi4py import MPI

import libtopk.mpi


def thresholds(comm, scores, shares):
    """For each share of the tokens, and each expert, the least score that belongs to the share with the best ones.

    scores   (tokens of this rank, experts)
    shares   numbers from 0 to 1

    Returns an array (shares, experts).
    """
    by_expert = np.ascontiguousarray(scores.T)
    return libtopk.mpi.quantile(comm, by_expert, [1 - share for share in shares], method="higher")


def main(comm):
    random = np.random.default_rng(comm.Get_rank())
    scores = random.standard_normal((1000 + 10 * comm.Get_rank(), 4)).astype(np.float32)
    found = thresholds(comm, scores, [0.1, 0.5])
    reached = comm.allreduce((scores >= found[0]).sum(0))
    if comm.Get_rank() == 0:
        print("the best tenth of all tokens scores at least", found[0])
        print("so many tokens do:", reached)


if __name__ == "__main__":
    main(MPI.COMM_WORLD)
