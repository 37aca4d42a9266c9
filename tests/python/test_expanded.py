# SPDX-License-Identifier: Apache-2.0
"""Arrays whose elements stand for many by a stride of 0: the results of a copy, without its memory."""
import tracemalloc

import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

from backend import (ON_GPU, Accumulator, argtopk, count, explain, kth, mask, route, select_where, topk, where,
                     workspace_size)
from oracle import all_same, same
from strategies import choices

LENGTH = 70  # rows of 64 bytes and more are read where they are shared
OPERATIONS = {
    "topk": topk, "argtopk": lambda *given, **options: (argtopk(*given, **options),), "kth": kth,
    "kth_where": lambda *given, **options: kth(*given, ge=1, **options),
    "select_where": lambda *given, **options: select_where(*given, ge=1, **options),
    "where": lambda x, k, **options: where(x, ge=1, **options),
    "count": lambda x, k, **options: (count(x, ge=1, **options),),
}


@some.composite
def expanded(draw):
    """(an array with strides of 0, dim): rows of any layout, shared along some dimensions or made of one element."""
    shape = draw(some.lists(some.sampled_from([3, 2, 1]), min_size=0, max_size=2))
    dim = draw(some.integers(0, len(shape)))
    shape.insert(dim, draw(some.sampled_from([LENGTH, LENGTH, 5, 1])))
    dtype = draw(some.sampled_from([np.float32, ">f4", np.float64, np.int16, np.uint8]))
    shared = draw(some.lists(some.booleans(), min_size=len(shape), max_size=len(shape)))
    kept = [1 if is_shared else length for is_shared, length in zip(shared, shape)]
    step = draw(some.sampled_from([1, -1, 2]))
    numbers = np.random.default_rng(draw(some.integers(0, 99))).integers(0, 4, [length * 2 for length in kept])
    if np.dtype(dtype).kind == "f" and draw(some.booleans()):
        numbers = np.where(numbers == 3, np.nan, numbers)
    base = numbers.astype(dtype)[tuple(slice(None, None, step) for _ in kept)][tuple(slice(0, n) for n in kept)]
    return np.broadcast_to(base, shape), dim


def options_for(data, x, dim):
    """k and options that may differ from row to row."""
    rows = x.size // x.shape[dim] if x.size else 0
    numbers = some.integers(-1, LENGTH + 3)
    k = data.draw(some.integers(0, LENGTH + 3) | some.lists(numbers, min_size=rows, max_size=rows))
    options = {"dim": dim}
    if isinstance(k, list):
        k = np.array(k, data.draw(some.sampled_from([np.int32, np.int64])))
    if data.draw(some.booleans()):
        lengths = data.draw(some.lists(numbers, min_size=rows, max_size=rows))
        options["lengths"] = np.array(lengths, data.draw(some.sampled_from([np.int32, np.int64])))
    if data.draw(some.booleans()):
        options["length_max"] = data.draw(some.integers(0, LENGTH + 3))
    return k, options


@given(expanded(), some.data(), choices)
def test_results_are_those_of_a_copy(problem, data, choice):
    x, dim = problem
    k, options = options_for(data, x, dim)
    before = x.copy()
    for name, operation in OPERATIONS.items():
        extra = choice if name in ("topk", "kth", "kth_where", "select_where") else {}
        given_k = () if name in ("where", "count") else k
        wanted = operation(x.copy(), given_k, **options, **extra)
        assert all_same(operation(x, given_k, **options, **extra), wanted), name
        out = tuple(np.full_like(result, 7) for result in wanted)
        if name in ("topk", "kth", "kth_where", "select_where"):
            assert all_same(operation(x, given_k, out=out, **options, **extra), wanted) and all_same(out, wanted), name
    assert same(x, before)


@given(expanded(), some.integers(0, 5))
def test_companions_of_expanded_arrays(problem, k):
    x, dim = problem
    flags = np.arange(x.size).reshape(x.shape) % 3 != 0
    payload = np.arange(x.size).reshape(x.shape) - 7
    for call in (lambda x: topk(x, k, dim=dim, indices=payload), lambda x: where(x, dim, mask=flags),
                 lambda x: select_where(x, k, dim=dim, mask=flags, indices=payload),
                 lambda x: where(x, dim, ge=1, indices=payload), lambda x: (count(x, dim, mask=flags),),
                 lambda x: (mask(x, dim, ge=1),), lambda x: (mask(x, dim, mask=flags),)):
        assert all_same(call(x), call(x.copy()))
    rows = np.moveaxis(x, dim, -1)
    if rows.dtype.kind == "f":
        assert all_same(route(x, k, dim=dim), route(x.copy(), k, dim=dim))
    streams = Accumulator(k), Accumulator(k), Accumulator(k, chunk_max=3)
    for stream, chunk in zip(streams, (rows, rows.copy(), rows)):
        for base in (100, 0):
            stream.push(chunk, base)
        stream.push(chunk, 200, ge=1)
    assert all_same(streams[0].peek(), streams[1].peek()) and all_same(streams[2].peek(), streams[1].peek())


@given(expanded(), some.data())
def test_the_workspace_suffices(problem, data):
    x, dim = problem
    k, options = options_for(data, x, dim)
    for operation, given_k in ((topk, k), (kth, k), (count, None)):
        name = {topk: "topk", kth: "kth", count: "count"}[operation]
        extra = {"ge": 1} if operation is count else {}
        arguments = () if operation is count else (k,)
        space = np.zeros(workspace_size(name, x, given_k, **options, **extra), np.uint8)
        wanted = operation(x.copy(), *arguments, **options, **extra)
        results = operation(x, *arguments, workspace=space, **options, **extra)
        assert all_same(results if isinstance(results, tuple) else [results],
                        wanted if isinstance(wanted, tuple) else [wanted])
        assert explain(name, x, given_k, **options, **extra)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("shared", [0, 1, 2])
def test_rows_of_three_dimensions(dim, shared):
    shape = [2, 3, 4]
    shape[dim] = LENGTH
    x = np.broadcast_to(np.random.default_rng(1).normal(size=[1 if d == shared else shape[d] for d in range(3)]), shape)
    lengths = np.arange(x.size // LENGTH) * 9
    for options in {}, {"lengths": lengths}, {"lengths": lengths.astype(np.int32)}, {"nan": "last", "largest": False}:
        assert all_same(topk(x, 5, dim=dim, **options), topk(x.copy(), 5, dim=dim, **options))
        for predicate in {}, {"gt": 0}, {"ne": float(x.flat[0])}, {"mask": x > 0}:
            assert all_same(kth(x, 7, dim=dim, **options, **predicate), kth(x.copy(), 7, dim=dim, **options, **predicate))
    assert all_same(where(x, dim, gt=0), where(x.copy(), dim, gt=0))


ROWS, LONG = 64, 1 << 18
SHAPES = {
    "rows": lambda: np.broadcast_to(np.arange(LONG, dtype=np.float32) % 1000, (ROWS, LONG)),
    "columns": lambda: np.broadcast_to(np.arange(LONG, dtype=np.float32) % 1000, (ROWS, LONG)).T,
    "planes": lambda: np.broadcast_to((np.arange(LONG, dtype=np.float32) % 1000)[:, None], (ROWS, LONG, 1))[..., 0],
    "one of each": lambda: np.broadcast_to(np.arange(ROWS, dtype=np.float32)[:, None], (ROWS, LONG)),
    "one": lambda: np.broadcast_to(np.float32(2), (ROWS, LONG)),
}


@pytest.mark.skipif(ON_GPU, reason="what is copied is decided in the same way, and the emulation is slow")
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_copied(shape):
    x = SHAPES[shape]()
    dim = 0 if shape == "columns" else -1
    calls = [lambda: topk(x, 3, dim=dim), lambda: kth(x, 5, dim=dim), lambda: count(x, dim, ge=2),
             lambda: select_where(x, 3, dim=dim, ge=1), lambda: where(x, dim, gt=1e6), lambda: argtopk(x, 2, dim=dim),
             lambda: topk(x, 3, dim=dim, lengths=np.arange(ROWS)), lambda: kth(x, np.arange(ROWS), dim=dim),
             lambda: workspace_size("topk", x, 3, dim=dim)]
    if not shape.startswith("one of"):
        calls.append(lambda: mask(x, dim, ge=2))
    rows = np.moveaxis(x, dim, -1)
    stream = Accumulator(3, chunk_max=1024)
    calls.append(lambda: stream.push(rows))
    for call in calls:
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < x.nbytes // 12, peak


def test_a_row_of_one_element_of_any_length():
    x = np.broadcast_to(np.float32(2), (2, 2**40))
    assert all_same(topk(x, 2), topk(np.full((2, 2), 2, np.float32), 2))
    assert all_same(kth(x, 2**39), (np.full(2, 2, np.float32), np.zeros(2, np.int64), np.full(2, 2**40)))
    assert kth(x, 2**40 + 1).better.tolist() == [2**40] * 2 and count(x, eq=2).tolist() == [2**40] * 2
    assert where(x, gt=2).offsets.tolist() == [0, 0, 0]
    with pytest.raises(OverflowError, match="int64|INDEX_TOO_NARROW"):
        topk(x, 2, index_dtype="int32")
    with pytest.raises(ValueError):
        topk(x, -1)
    with pytest.raises(ValueError, match="lengths has 3 elements"):
        kth(x, 1, lengths=[1, 2, 3])
    with pytest.raises(ValueError, match="indices is not of the shape of x"):
        topk(x, 2, indices=np.zeros((2, 2), np.int64))
