# SPDX-License-Identifier: Apache-2.0
"""One rank of a job: problems that all ranks know as a whole, each with its own part, against the oracle."""
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).parents[1]))

import libtopk  # noqa: E402
import libtopk.mpi as over  # noqa: E402
import oracle  # noqa: E402
from oracle import all_same, same  # noqa: E402

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()
CONTEXT = libtopk.Context("cpu", threads=1)
TYPES = ("float32", "float16", "float64", "int8", "uint64", "int32")


def numbers(random, rows, length, dtype):
    """Elements that tie, with NaN, infinities and both zeros among floats."""
    x = random.integers(-4, 5, (rows, length)).astype(dtype)
    if x.dtype.kind == "f":
        strange = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0], dtype)
        return np.where(random.random((rows, length)) < 0.15, random.choice(strange, (rows, length)), x)
    return x


def dealing(random, kind, length):
    """(positions of each rank, what the argument `positions` is on this rank, by rank) of a way of dealing."""
    if kind == "stride":
        return [np.arange(rank, length, SIZE) for rank in range(SIZE)], "stride"
    if kind == "table":
        owners = random.integers(0, SIZE, length)
        return [np.flatnonzero(owners == rank) for rank in range(SIZE)], None
    edges = np.sort(random.integers(0, length + 1, SIZE - 1))
    runs = [np.arange(*edge) for edge in zip([0, *edges], [*edges, length])]
    if kind == "none":
        return runs, None
    order = random.permutation(SIZE)
    return [runs[which] for which in order], "base"


def check_selections(seed):
    random = np.random.default_rng(seed)
    rows, length = int(random.integers(0, 5)), int(random.integers(0, 60))
    kind = ("none", "base", "stride", "table")[seed % 4]
    k = int(random.choice([0, 1, 3, 10, length, length + 4]))
    x = numbers(random, rows, length, TYPES[seed % len(TYPES)])
    dealt, positions = dealing(random, kind, length)
    own = dealt[RANK]
    if kind == "table":
        positions = np.broadcast_to(own, (rows, len(own)))
    elif kind == "base":
        positions = int(own[0]) if len(own) else length
    choice = {"largest": bool(random.integers(2)), "magnitude": bool(random.integers(2)),
              "nan": ("largest", "last")[random.integers(2)]}
    part = x[:, own]
    for chosen, masked in ((None, {}), (oracle.meets(x, "le", 1), {"le": 1}), (random.random(x.shape) < 0.5, None)):
        if masked is None:
            masked = {"mask": chosen[:, own]}
        function = over.select_where if masked else over.topk
        wanted = oracle.select(x, k, x.dtype, chosen=chosen, **choice)
        options = {**choice, **masked, "positions": positions, "context": CONTEXT}
        assert all_same(function(COMM, part, k, **options), wanted), (seed, kind)
        found = function(COMM, part, k, to=SIZE - 1, **options)
        assert (found is None) == (RANK != SIZE - 1) and (found is None or all_same(found, wanted))
        each = -(-rows // SIZE)
        found = function(COMM, part, k, to="owner", **options)
        assert all_same(found, tuple(result[each * RANK:each * (RANK + 1)] for result in wanted))
        check_place(function(COMM, part, k, to="place", **options), x, wanted, dealt)
        check_one_row(function, x, part, k, options)


def check_one_row(function, x, part, k, options):
    """A row of an array with one dimension is the row of a matrix."""
    if not len(x):
        return
    options = {name: value[0] if name == "mask" or isinstance(value, np.ndarray) else value
               for name, value in options.items()}
    rows = {name: value[None] if isinstance(value, np.ndarray) else value for name, value in options.items()}
    for to in ("all", "place"):
        alone = function(COMM, part[0], k, to=to, **options)
        assert all_same(alone, tuple(result[0] for result in function(COMM, part[:1], k, to=to, **rows)))


def check_place(found, x, wanted, dealt):
    for row in range(len(x)):
        best = wanted[1][row][wanted[1][row] >= 0]
        mine = np.sort(best[np.isin(best, dealt[RANK])])
        assert found.own_k[row] == len(mine)
        assert found.before[row] == sum(np.isin(best, dealt[rank]).sum() for rank in range(RANK))
        assert np.array_equal(found.indices[row][:len(mine)], mine) and (found.indices[row][len(mine):] == -1).all()
        assert same(found.values[row][:len(mine)], x[row][mine])


def check_kth(seed):
    random = np.random.default_rng(1000 + seed)
    rows, length = int(random.integers(1, 4)), int(random.integers(1, 80))
    x = numbers(random, rows, length, TYPES[seed % len(TYPES)])
    dealt, _ = dealing(random, "table", length)
    part = x[:, dealt[RANK]]
    ks = [1, length, int(random.integers(0, length + 3))]
    choice = {"largest": bool(random.integers(2)), "magnitude": bool(random.integers(2))}
    found = over.kth(COMM, part, ks, context=CONTEXT, **choice)
    for which, k in enumerate(ks):
        for row in range(rows):
            common, better, equal = oracle.kth(x[row], k, **choice)
            one = found.kth[which, row]
            assert one == common or (one != one and common != common)
            assert (found.better[which, row], found.equal[which, row]) == (better, equal)
    assert all_same(over.kth(COMM, part, ks[2], context=CONTEXT, **choice), tuple(each[2] for each in found))
    if x.dtype.kind != "f":
        qs = [0, 0.3, 0.5, 0.77, 1]
        for method in ("lower", "higher", "nearest"):
            wanted = np.quantile(x, qs, method=method, axis=1).astype(x.dtype)
            assert same(over.quantile(COMM, part, qs, method=method, context=CONTEXT), wanted)
        assert same(over.quantile(COMM, part, 0.5, context=CONTEXT), np.quantile(x, 0.5, method="lower", axis=1).astype(
            x.dtype))


def check_shapes():
    x = np.arange(2 * 3 * 8, dtype=">f4").reshape(2, 3, 8)
    part = np.array_split(x, SIZE, axis=2)[RANK]
    wanted = libtopk.topk(x, 5)
    assert all_same(over.topk(COMM, part, 5), wanted)
    assert all_same(over.topk(COMM, part.tolist() if part.size else part.astype(float), 5, order="position"),
                    libtopk.topk(x.astype(float), 5, order="position"))
    assert over.topk(COMM, part, 5, to="place").values.shape[:2] == (2, 3)
    assert over.kth(COMM, part[0, 0], 2).kth == 6


def raises(kind, words, function):
    try:
        function()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}: {words}")


def check_errors():
    """Each is wrong on the last rank alone, or on all."""
    last = RANK == SIZE - 1
    x = np.arange(10.0)
    own = x if SIZE == 1 else x[:5] if not last else x[5:]
    name = f"rank {SIZE - 1}: "
    raises(ValueError, name + "k is -1", lambda: over.topk(COMM, own, -1 if last else 2))
    raises(TypeError, name + "k is 'two'", lambda: over.topk(COMM, own, "two" if last else 2))
    raises(TypeError, name, lambda: over.topk(COMM, own > 3 if last else own, 2))
    raises(TypeError, name + "there is no option 'axis'", lambda: over.topk(COMM, own, 2, **({"axis": 0} if last else {})))
    raises(ValueError, name + "positions do not ascend", lambda: over.topk(
        COMM, own, 2, positions=np.zeros(len(own), int) if last else np.arange(len(own))))
    raises(ValueError, name + "positions are a table", lambda: over.topk(
        COMM, own, 2, positions=[1] if last else np.arange(len(own))))
    raises(ValueError, name + "positions from 9223372036854775807 on", lambda: over.topk(
        COMM, own, 2, positions=2**63 - 1 if last else 0))
    raises(TypeError, name + "k is 1.5", lambda: over.kth(COMM, own, 1.5 if last else 1))
    raises(ValueError, name + "to is 99", lambda: over.topk(COMM, own, 2, to=99 if last else 0))
    raises(ValueError, name + "mask is not", lambda: over.select_where(COMM, own, 2, mask=[True] if last else own > 2))
    raises(TypeError, "predicate is needed", lambda: over.select_where(COMM, own, 2))
    raises(ValueError, name + "q is", lambda: over.quantile(COMM, own, 2.0 if last else 0.5))
    raises(ValueError, "no quantiles", lambda: over.quantile(COMM, x[:0], 0.5))
    raises(ValueError, name + "positions from", lambda: over.topk(
        COMM, own, 2, positions=2**63 - 4 if last else 0, to="place"))
    raises(OverflowError, name, lambda: over.topk(COMM, np.zeros((2**20, 0)) if last else own, 2**12 if last else 2))
    if SIZE > 1:
        raises(ValueError, name + "k is 3, where rank 0 has 2", lambda: over.topk(COMM, own, 3 if last else 2))
        raises(ValueError, name + "the type of x", lambda: over.topk(COMM, own.astype("f4") if last else own, 2))
        raises(ValueError, name + "the rows of x", lambda: over.topk(COMM, own[None] if last else own, 2))
        raises(ValueError, "its positions begin at 0", lambda: over.topk(COMM, own, 2, positions=0))
        raises(ValueError, name + "the function", lambda: over.kth(COMM, own, [2]) if last else over.topk(COMM, own, 2))
        raises(ValueError, name + "the function", lambda: over.kth(COMM, own, 2) if last else over.quantile(COMM, own, 0.5))
    raises(TypeError, "communicator", lambda: over.topk(None, own, 2))


for seed in range(int(sys.argv[1])):
    check_selections(seed)
    check_kth(seed)
check_shapes()
check_errors()
if COMM.gather(True, 0) is not None:  # lines of several ranks may run into each other
    print(f"{SIZE} ranks are done")
