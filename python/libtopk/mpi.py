# SPDX-License-Identifier: Apache-2.0
"""Selection from rows whose elements lie on many processes, over the communicators of mpi4py.

    from mpi4py import MPI
    values, indices = libtopk.mpi.topk(MPI.COMM_WORLD, x, 10)      # x: this rank's elements of each row

Results are what libtopk.topk(), kth() and select_where() give for the whole rows, bit for bit, for any number of ranks
and any way of dealing out the elements. Ties go by the position in the whole row. libtopk links no MPI: mpi4py's
collectives carry its lists of candidates, and its counters.

Every rank of the communicator calls the same function with the same arguments, in the same order; only x, positions
given as a number or an array, a mask, and the context are a rank's own. A rank may have no elements: x then has 0
columns. x is a numpy array (..., length), or what numpy can read. Tensors of torch and arrays of CuPy are copied to
numpy's; results are numpy's.

positions  where the elements of this rank lie in the whole row:
           None      behind the elements of the ranks with lower numbers
           a number  element p lies at that number + p. The runs of ranks must not overlap
           "stride"  element p lies at p * ranks + rank: elements are dealt out in turns
           an array  integers of the shape of x, ascending in each row; no two ranks may have the same one, which nothing
                     checks
to         who gets the results:
           "all"     every rank
           a number  that rank; the others get None
           "owner"   rank r gets rows [r * n, (r + 1) * n), of n = ceil(rows / ranks), counted in C order: the results
                     have two dimensions, and the last ranks may have no rows
           "place"   each rank gets those that are its own elements, as InPlace. No element is sent, so k may be large

What is wrong on one rank, or differs between ranks, is an error on all of them, and says which rank has it: the
exception of that rank, with "rank 2: " before its text. An exception of another kind on some ranks, as a lack of memory
or one between two calls, leaves the others waiting: run programs by

    mpirun -n 4 python -m mpi4py program.py

which ends the whole job then.

Rows times k must be below 2^31. An MPI with threads is not needed; ranks that wait may spin. Give ranks of one machine
contexts of few threads (context=libtopk.Context("cpu", threads=1)), or set OMP_NUM_THREADS.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from libtopk import _core, _ranks
from libtopk._api import Kth, TopK
from libtopk._kinds import _on_host
from libtopk._options import Array
from libtopk._ranks import InPlace

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["InPlace", "Kth", "TopK", "kth", "quantile", "select_where", "topk"]

_PIECE = 2**30  # counts of MPI-3 end at 2^31


class _Ranks:
    is_told = True

    def __init__(self, comm):
        if not isinstance(comm, MPI.Intracomm):
            raise TypeError(f"comm is of type {type(comm).__name__}, and must be an intracommunicator of mpi4py")
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()

    def tell(self, told):
        return self.comm.allgather(told)

    def take(self, name, array):
        array = np.asarray(_on_host(_core.adopt(array)[0]))
        return np.ascontiguousarray(array, array.dtype.newbyteorder("="))

    def full(self, count, number):
        return np.full(count, number, np.int64)

    def join(self, arrays):
        return np.concatenate([self.full(0, 0), *arrays])

    def sum(self, array):
        for begin in range(0, array.size, _PIECE):
            piece = array[begin:begin + _PIECE]
            self.comm.Allreduce(MPI.IN_PLACE, [piece, piece.size, MPI.INT64_T], MPI.SUM)

    def _moved(self, array, each, call):
        """Calls a collective that brings `each` elements of this array from or to each rank."""
        array = np.ascontiguousarray(array)
        kind = MPI.BYTE.Create_contiguous(array.itemsize).Commit()  # float16 and its like have no type of MPI's
        try:
            return call([array.reshape(-1).view(np.uint8), each, kind], kind)
        finally:
            kind.Free()

    def gather(self, array):
        into = np.empty((self.size, *array.shape), array.dtype)
        self._moved(array, array.size, lambda sent, kind: self.comm.Allgather(
            sent, [into.reshape(-1).view(np.uint8), array.size, kind]))
        return into

    def collect(self, array, root):
        is_root = self.rank == root
        into = np.empty((self.size, *array.shape), array.dtype) if is_root else None
        self._moved(array, array.size, lambda sent, kind: self.comm.Gather(
            sent, [into.reshape(-1).view(np.uint8), array.size, kind] if is_root else None, root))
        return into

    def exchange(self, array):
        into = np.empty_like(array)
        each = array[0].size
        self._moved(array, each, lambda sent, kind: self.comm.Alltoall(
            sent, [into.reshape(-1).view(np.uint8), each, kind]))
        return into


def topk(comm: Any, x: Array, k: int, largest: bool = True, sorted: bool = True, *, to: str | int = "all",
         positions: Any = None, **options: Any) -> TopK | InPlace | None:
    """The k largest or smallest elements of each row of all ranks, with their positions in the whole row.

    x        this rank's elements, (..., length); rows lie along the last dimension
    k        how many of each row; it may exceed the length
    sorted   best first, equal ones by position; False: in any order
    options  order, magnitude, nan and context, as libtopk.topk() has them

    `to` and `positions` are explained in the module. Returns TopK(values, indices) of numpy arrays (..., k) and int64
    indices; with "place" InPlace(values, indices, own_k, before): up to min(k, length) results of each row by position,
    int64 own_k of (...) says how many, and `before` how many the ranks with lower numbers have. Raises what
    libtopk.topk() does, and ValueError where ranks differ: on all ranks.
    """
    return _ranks.call_select(_Ranks(comm), "topk", x, k, largest, sorted, to, positions, options)


def select_where(comm: Any, x: Array, k: int, largest: bool = True, sorted: bool = True, *, to: str | int = "all",
                 positions: Any = None, **options: Any) -> TopK | InPlace | None:
    """As topk(), among the elements that meet a predicate: one of gt, ge, lt, le, eq, ne and between, the same on all
    ranks, or a mask of this rank's elements."""
    return _ranks.call_select(_Ranks(comm), "select_where", x, k, largest, sorted, to, positions, options)


def kth(comm: Any, x: Array, k: int | Sequence[int], largest: bool = True, **options: Any) -> Kth:
    """The k-th largest or smallest element of each row of all ranks, k from 1 on, how many elements rank above it, and
    how many tie with it: on every rank.

    k        a number, or a list of them: results then have one more dimension, the first, for the elements of the list
    options  magnitude, nan and context, as libtopk.kth() has them

    No element is sent, but counters: up to six times 2048 for each row and each k, on a GPU up to five times 8192 where
    there are few rows. Returns Kth(kth, better, equal). Raises as topk() does.
    """
    return _ranks.call_kth(_Ranks(comm), x, k, largest, options)


def quantile(comm: Any, x: Array, q: float | Sequence[float], *, method: str = "lower", **options: Any) -> np.ndarray:
    """Quantiles of each row of all ranks, on every rank: elements, as numpy.quantile() chooses them.

    q        a number from 0 to 1, or a list of them: results then have one more dimension, the first
    method   of n elements in ascending order, which one stands for q * (n - 1): the one below, "lower", the one above,
             "higher", or the "nearest", of two the one with an even number
    options  magnitude, nan and context, as libtopk.kth() has them: NaN counts as the largest, unless nan is "last",
             which is behind all others either way

    Returns an array of the type of x. Raises as topk() does, and ValueError for rows without any elements.
    """
    return _ranks.call_quantile(_Ranks(comm), x, q, method, options)
