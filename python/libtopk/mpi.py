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
           None      behind those of the ranks with lower numbers
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
exception of that rank, with "rank 2: " before its text. So is a lack of memory for what a rank selects itself. An
exception of another kind on some ranks, as one between two calls, leaves the others waiting: run programs by

    mpirun -n 4 python -m mpi4py program.py

which ends the whole job then.

Rows times k must be below 2^31. An MPI with threads is not needed; ranks that wait may spin. Give ranks of one machine
contexts of few threads (context=libtopk.Context("cpu", threads=1)), or set OMP_NUM_THREADS.
"""
from __future__ import annotations

import builtins
import math
from operator import index
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

_OPTIONS = frozenset(("magnitude", "nan", "order", "context"))
_PIECE = 2**30  # counts of MPI-3 end at 2^31
_PREDICATES = frozenset(("gt", "ge", "lt", "le", "eq", "ne", "between", "mask"))


class _Ranks:
    def __init__(self, comm):
        if not isinstance(comm, MPI.Intracomm):
            raise TypeError(f"comm is of type {type(comm).__name__}, and must be an intracommunicator of mpi4py")
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()

    def agree(self, prepare):
        """What prepare() returns on this rank, and the facts of all ranks; an exception on all ranks for one on any.
        prepare() returns (a result, what must be alike, the facts of this rank)."""
        result = alike = facts = error = None
        try:
            result, alike, facts = prepare()
        except Exception as caught:
            error = caught
        told = self.comm.allgather((_named(error), alike, facts))
        for rank, (failure, _, _) in enumerate(told):
            if failure is not None:
                name, text = failure
                raise getattr(builtins, name)(f"rank {rank}: {text}") from error
        for rank, (_, other, _) in enumerate(told):
            for name, value in told[0][1].items():
                if other.get(name) != value:
                    raise ValueError(f"rank {rank}: {name} is {other.get(name)!r}, where rank 0 has {value!r}")
        return result, [each for _, _, each in told]

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


def _named(error):
    """An exception as (name of a builtin type, text)."""
    if error is None:
        return None
    kinds = (kind.__name__ for kind in type(error).__mro__ if getattr(builtins, kind.__name__, None) is kind)
    return next(kinds, "RuntimeError"), str(error)


def _host(array):
    return np.asarray(_on_host(_core.adopt(array)[0]))


def _number(name, value):
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, and must be an integer") from None
    if not 0 <= number < 2**63:
        raise ValueError(f"{name} is {number}, and cannot be negative or beyond 64 bits")
    return number


def _check_table(table):
    if (table < 0).any() or (np.diff(table, axis=1) <= 0).any():
        raise ValueError("positions do not ascend in a row, or are negative")


def _problem(ranks, x, k, largest, sorted, to, positions, options):
    """(problem, what must be alike, facts): as agree() wants it."""
    for name in options:
        if name not in _OPTIONS | _PREDICATES:
            raise TypeError(f"there is no option '{name}' here")
    given = {name: value for name, value in options.items() if value is not None}
    predicate = {name: given.pop(name) for name in _PREDICATES & given.keys()}
    x = _host(x)
    x = np.ascontiguousarray(x, x.dtype.newbyteorder("="))
    if "mask" in predicate:
        predicate["mask"] = np.ascontiguousarray(_host(predicate["mask"]))
        if predicate["mask"].shape != x.shape:
            raise ValueError("mask is not of the shape of x")
    problem = _ranks.problem_of(x, k, largest, sorted, to, positions, given, predicate, ranks.size)
    rows, length = problem.x.shape
    if rows * max(1, k) >= 2**31:
        raise OverflowError(f"{rows} rows of {k} results are 2^31 or more")
    if problem.table is not None:
        _check_table(problem.table)
    base = kind = None
    if problem.table is None and not isinstance(positions, str):
        kind = "a number" if positions is not None else "none"
        base = None if positions is None else _number("positions", positions)
    alike = {"the type of x": x.dtype.str if x.dtype.kind != "V" else str(x.dtype), "the rows of x": problem.lead, "k": k,
             "largest": problem.largest, "order": problem.order, "to": to, "the kind of positions": kind or (
                 "a table" if problem.table is not None else positions),
             "magnitude": bool(given.get("magnitude")), "nan": given.get("nan", "largest"),
             "the predicate": {name: repr(value) for name, value in predicate.items() if name != "mask"},
             "a mask": "mask" in predicate}
    problem.chosen(0)  # whatever else is wrong
    return problem, alike, (length, base)


def _place(ranks, problem, facts, is_stride):
    """Settles the positions of runs, once all lengths are known."""
    problem.most = max(length for length, _ in facts)
    if problem.table is not None or is_stride:
        return
    bases, end = [], 0
    for length, base in facts:
        bases.append(end if base is None else base)
        end += length
    runs = sorted((base, base + length, rank) for rank, (base, (length, _)) in enumerate(zip(bases, facts)) if length)
    for (_, end, rank), (begin, _, other) in zip(runs, runs[1:]):
        if begin < end:
            raise ValueError(f"rank {other}: its positions begin at {begin}, and those of rank {rank} end at {end}")
    problem.base, problem.bases = bases[ranks.rank], bases


def _select(name, comm, x, k, largest, sorted, to, positions, options):
    ranks = _Ranks(comm)

    def prepare():
        problem, alike, facts = _problem(ranks, x, _number("k", k), largest, sorted, to, positions, dict(options))
        if (name == "select_where") != bool(problem.predicate):
            raise TypeError("a predicate is needed: gt, ge, lt, le, eq, ne, between or mask"
                            if name == "select_where" else "topk() takes no predicate: use select_where()")
        return problem, {"the function": name, **alike}, facts

    problem, facts = ranks.agree(prepare)
    _place(ranks, problem, facts, isinstance(positions, str))
    return _ranks.select(ranks, problem)


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
    return _select("topk", comm, x, k, largest, sorted, to, positions, options)


def select_where(comm: Any, x: Array, k: int, largest: bool = True, sorted: bool = True, *, to: str | int = "all",
                 positions: Any = None, **options: Any) -> TopK | InPlace | None:
    """As topk(), among the elements that meet a predicate: one of gt, ge, lt, le, eq, ne and between, the same on all
    ranks, or a mask of this rank's elements."""
    return _select("select_where", comm, x, k, largest, sorted, to, positions, options)


def _kth(comm, x, prepare_ks, largest, options, alike_more):
    ranks = _Ranks(comm)

    def prepare():
        problem, alike, facts = _problem(ranks, x, 0, largest, True, "all", "stride", dict(options))
        if problem.predicate or "order" in options:
            raise TypeError("kth() and quantile() take the options magnitude, nan and context")
        return problem, {**alike, **alike_more()}, facts

    problem, facts = ranks.agree(prepare)
    ks = prepare_ks(sum(length for length, _ in facts))
    return _ranks.kth(ranks, problem, ks)


def kth(comm: Any, x: Array, k: int | Sequence[int], largest: bool = True, **options: Any) -> Kth:
    """The k-th largest or smallest element of each row of all ranks, k from 1 on, how many elements rank above it, and
    how many tie with it: on every rank.

    k        a number, or a list of them: results then have one more dimension, the first, for the elements of the list
    options  magnitude, nan and context, as libtopk.kth() has them

    No element is sent, but counters: up to six times 2048 for each row and each k. Returns Kth(kth, better, equal).
    Raises as topk() does.
    """
    is_list = not hasattr(k, "__index__") or getattr(k, "shape", ()) != ()

    def alike():
        ks.extend(_number("k", each) for each in (k if is_list else [k]))
        return {"the function": "kth", "k": tuple(ks)}

    ks: list[int] = []
    found = _kth(comm, x, lambda length: ks, largest, options, alike)
    return found if is_list else Kth(*(result[0] for result in found))


def quantile(comm: Any, x: Array, q: float | Sequence[float], *, method: str = "lower", **options: Any) -> np.ndarray:
    """Quantiles of each row of all ranks, on every rank: elements, as numpy.quantile() chooses them.

    q        a number from 0 to 1, or a list of them: results then have one more dimension, the first
    method   of n elements in ascending order, which one stands for q * (n - 1): the one below, "lower", the one above,
             "higher", or the "nearest", of two the one with an even number
    options  magnitude, nan and context, as libtopk.kth() has them: NaN counts as the largest, unless nan is "last",
             which is behind all others either way

    Returns an array of the type of x. Raises as topk() does, and ValueError for rows without any elements.
    """
    rounded = {"lower": math.floor, "higher": math.ceil, "nearest": round}
    is_list = np.ndim(q) > 0
    qs: list[float] = []

    def alike():
        if method not in rounded:
            raise ValueError(f"method is {method!r}, and can be one of {', '.join(rounded)}")
        qs.extend(float(each) for each in (q if is_list else [q]))
        if not all(0 <= each <= 1 for each in qs):
            raise ValueError(f"q is {q!r}, and must be from 0 to 1")
        return {"the function": "quantile", "q": tuple(qs), "method": method}

    def ks(length):
        if not length:
            raise ValueError("rows without any elements have no quantiles")
        return [rounded[method](each * (length - 1)) + 1 for each in qs]

    found = _kth(comm, x, ks, False, options, alike).kth
    return found if is_list else found[0]
