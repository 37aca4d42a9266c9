# SPDX-License-Identifier: Apache-2.0
"""Arrays and workspaces of the caller's."""
import array as standard
from functools import partial

import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

import libtopk
from backend import (Accumulator, argtopk, context, count, few, kth, mask, route, select_where, topk, where,
                     workspace_size)
from oracle import all_same, same
from strategies import FLOATS, WRITABLE_LAYOUTS, choices, tensors

layouts = some.sampled_from(WRITABLE_LAYOUTS)


def native(array):
    return array.astype(array.dtype.newbyteorder("="))


def check_out(call, results, draw_layout):
    """That call(out) fills arrays of any layout with those results, returns them, and may leave some out."""
    out = tuple(draw_layout()(np.full_like(result, 7)) for result in results)
    returned = call(out)
    assert all(given_ is array for given_, array in zip(returned, out))
    assert all_same(list(map(native, out)), results)
    for i, result in enumerate(results):
        one = draw_layout()(np.full_like(result, 7))
        assert call(tuple(one if j == i else None for j in range(len(results))))[i] is one
        assert same(native(one), result)


@given(tensors(FLOATS), some.integers(0, 8), choices, some.data())
def test_results_are_written_to_arrays_of_any_layout(problem, k, choice, data):
    x, dim = problem

    def draw():
        return data.draw(layouts)
    check_out(lambda out: topk(x, k, dim=dim, out=out, **choice), topk(x, k, dim=dim, **choice), draw)
    check_out(lambda out: kth(x, k, dim=dim, out=out, **choice), kth(x, k, dim=dim, **choice), draw)
    check_out(lambda out: select_where(x, k, dim=dim, gt=0, out=out), select_where(x, k, dim=dim, gt=0), draw)
    check_out(lambda out: where(x, dim, gt=0, out=out), where(x, dim, gt=0), draw)
    check_out(lambda out: route(np.resize(native(x), (3, 5)), k, out=out), route(np.resize(native(x), (3, 5)), k), draw)
    for call in (lambda **out: argtopk(x, k, dim=dim, **out), lambda **out: count(x, dim, gt=0, **out),
                 lambda **out: mask(x, dim, gt=0, **out)):
        check_out(lambda out: [call(out=out[0])], [call()], draw)


@given(tensors(), some.integers(0, 8), layouts)
def test_indices_have_the_type_of_their_array(problem, k, layout):
    x, dim = problem
    wanted = argtopk(x, k, dim=dim)
    out = layout(np.full(wanted.shape, 7, np.int32))
    assert argtopk(x, k, dim=dim, out=out) is out and np.array_equal(out, wanted)


def test_nothing_is_written_between_the_elements_of_an_array():
    x = np.arange(24.0).reshape(4, 6)
    wide = np.full((8, 9), -5.0)
    values = wide[::2, 1:7:3]
    topk(x, 2, out=(values, None))
    assert same(values.copy(), topk(x, 2).values)
    values[...] = -5
    assert (wide == -5).all()


X = np.arange(24.0).reshape(4, 6)
WRONG = {  # arrays for values and indices of the 2 best of each row of X
    "shape": (np.zeros((4, 3)), np.zeros((4, 3), np.int64)),
    "rows": (np.zeros((5, 2)), np.zeros((5, 2), np.int64)),
    "shape moved": (np.zeros((2, 4)), np.zeros((2, 4), np.int64)),
    "dimensions": (np.zeros(8), np.zeros((4, 2, 1), np.int64)),
    "type": (np.zeros((4, 2), np.float32), np.zeros((4, 2), np.uint64)),
    "type of floats": (np.zeros((4, 2), np.int64), np.zeros((4, 2), np.float64)),
    "type of bits": (np.zeros((4, 2), bool), np.zeros((4, 2), bool)),
    "one place for many": tuple(np.lib.stride_tricks.as_strided(np.zeros(1, dtype), (4, 2), (0, 0))
                                for dtype in (np.float64, np.int64)),
    "no right to write": tuple(np.broadcast_to(np.zeros(1, dtype), (4, 2)) for dtype in (np.float64, np.int64)),
}


@pytest.mark.parametrize("values, indices", WRONG.values(), ids=WRONG)
def test_unlike_arrays_are_refused_and_unchanged(values, indices):
    good = np.full((4, 2), 3.0), np.full((4, 2), 3)
    for out in ((values, None), (None, indices), (good[0], indices), (values, good[1])):
        with pytest.raises(ValueError, match="out: (values|indices) must be a writable array beside x"):
            topk(X, 2, out=out)
    assert not values.any() and not indices.any() and all((array == 3).all() for array in good)


@pytest.mark.parametrize("out, error", [
    ((np.zeros((4, 2)),), ValueError), ((None,) * 3, ValueError), (np.zeros((4, 2)), TypeError),
    ([np.zeros((4, 2)), None], TypeError), ((np.zeros((4, 2)), object()), TypeError), (5, TypeError)])
def test_out_is_a_tuple_of_arrays(out, error):
    with pytest.raises(error):
        topk(X, 2, out=out)


@pytest.mark.parametrize("call, out", [
    (count, [7] * 4), (argtopk, [[7, 7]] * 4), (kth, (np.float64(7), None, None)), (topk, ([[7.0, 7.0]] * 4, None))],
                         ids=lambda value: getattr(value, "__name__", None))
def test_what_is_copied_to_be_read_is_not_written_to(call, out):
    options = {"gt": 0} if call is count else {"k": 2}
    with pytest.raises(TypeError, match="is no array"):
        call(X[0] if call is kth else X, out=out, **options)
    assert np.all(np.array(out[0]) == 7)


def test_memory_of_other_libraries_is_written_to():
    wanted = mask(X, gt=9)
    for out in (bytearray(3), memoryview(bytearray(3)), standard.array("B", [0] * 3)):
        assert mask(X, gt=9, out=out) is out and bytes(out) == wanted.tobytes()


def test_memory_of_other_libraries_may_have_gaps():
    wanted = mask(X, gt=9)
    memory = bytearray(b"7" * 6)
    out = memoryview(memory)[::2]
    assert mask(X, gt=9, out=out) is out and bytes(out) == wanted.tobytes() and memory[1::2] == b"777"


def test_results_may_not_overlap_what_is_read_or_written():
    x = X.copy()
    for out in ((x.ravel()[:8].reshape(4, 2), None), (x.ravel()[:8].reshape(4, 2),) * 2):
        with pytest.raises(ValueError):
            topk(x, 2, out=out)
    both = np.full((4, 2), 3)
    with pytest.raises(ValueError, match="overlaps"):
        topk(x.view(np.int64), 2, out=(both, both))
    assert same(x, X) and (both == 3).all()


def test_results_with_gaps_may_not_overlap_either():
    x = np.arange(20).reshape(4, 5) * 10
    wide, line, own = np.zeros((4, 8), np.int64), np.zeros(8, np.int64)[::2], np.zeros(30, np.int64)
    payload, space = np.zeros((4, 5), np.int64), np.zeros(1 << 16, np.uint8)
    in_space = space.view(np.int64)[:32].reshape(4, 8)
    calls = [
        lambda: topk(x, 3, out=(wide[:, :3], wide[:, 2:5])),
        lambda: topk(x, 3, out=(wide[:, ::3], wide[:, 6:3:-1])),
        lambda: kth(x, 2, out=(line, None, line)),
        lambda: topk(x, 3, out=(np.lib.stride_tricks.as_strided(own, (4, 3), (8, 8)), None)),
        lambda: topk(x, 3, out=(np.lib.stride_tricks.as_strided(own, (4, 3), (16, 16)), None)),
        lambda: topk(x, 3, out=(x[:, :3], None)),
        lambda: topk(wide[:, :5], 3, out=(wide[:, 4:7], None)),
        lambda: topk(x, 3, indices=payload, out=(payload[:, 1:4], None)),
        lambda: topk(x, 3, out=(in_space[:, :3], None), workspace=space)]
    before = x.copy()
    for call in calls:
        with pytest.raises(ValueError, match="out: two elements share memory"):
            call()
    for written in wide, line, own, payload, space:
        assert not written.any()
    assert same(x, before)


def test_results_with_gaps_may_lie_between_each_other():
    x = np.arange(20).reshape(4, 5) * 10
    wide = np.zeros((4, 10), np.int64)
    wide[:, :5] = x
    narrow = wide.view(np.int32)
    for out in ((wide[:, 5:7], wide[:, 7:9]), (wide[:, 5::2][:, :2], wide[:, 6::2]), (wide[::-1, 8:6:-1], wide[:, 5:7]),
                (wide[:, 5:7], narrow[:, 14:16])):
        assert all_same(topk(wide[:, :5], 2, out=out), topk(x, 2, index_dtype=out[1].dtype.name))
    assert same(wide[:, :5], x)
    empty = wide[:0, ::2]
    assert topk(x[:0], 5, out=(empty, empty))[0] is empty


CALLS = {
    "topk": (topk, (3,), 2), "kth": (kth, (3,), 3), "select_where": (select_where, (3,), 2),
    "where": (where, (), 3), "count": (count, (), 1), "mask": (mask, (), 1), "route": (route, (3,), 2)}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", [(3, 50), (1, 3000), (40, 7), (0, 4)])
def test_a_workspace_of_the_size_that_is_said_serves(name, shape):
    call, arguments, _ = CALLS[name]
    options = {"gt": 0} if name in ("select_where", "where", "count", "mask") else {}
    x = np.random.default_rng(3).normal(size=shape if name != "route" else (shape[0], 24)).astype(np.float32)
    size = workspace_size(name, x, *arguments, **options)
    wanted = call(x, *arguments, **options)
    for extra in (0, 100):
        results = call(x, *arguments, workspace=np.full(size + extra, 0xA5, np.uint8), **options)
        assert all_same(results, wanted) if isinstance(wanted, tuple) else same(results, wanted)
    if size > 0:
        with pytest.raises(ValueError, match=f"the workspace has {size - 1} bytes"):
            call(x, *arguments, workspace=np.empty(size - 1, np.uint8), **options)


NAMES = [*CALLS, "argtopk", "argwhere"]
PREDICATES = {"gt": 0.5, "between": (-0.5, 1.5), "ne": 0.0}


@some.composite
def calls_with_workspaces(draw):
    """(name, x, arguments, options) of a call; `out` and index_dtype ask for indices of some type, or none does."""
    name = draw(some.sampled_from(NAMES))
    length = draw(some.sampled_from([24] if name == "route" else [1, 50, few(3000, 300), few(1 << 15, 2000)]))
    x = np.random.default_rng(3).normal(size=(draw(some.integers(1, 3)), length)).astype(np.float32)
    form = draw(some.sampled_from(["plain", "plain", "one row", "one column", "gaps"]))
    if form == "gaps":
        x = np.repeat(x, 2, axis=1)[:, ::2]
    elif form != "plain":
        x = np.broadcast_to(x[:1] if form == "one row" else x[:, :1], x.shape)
    k = draw(some.sampled_from([1, 9, 500])) if name != "route" else 3
    options = {}
    if name in ("topk", "argtopk", "kth", "select_where"):
        options |= draw(choices)
        options |= draw(some.sampled_from([{}, {"lengths": np.full(len(x), length // 2)}, {"length_max": length // 3}]))
    if name in ("where", "argwhere", "count", "mask", "select_where"):
        options |= dict([draw(some.sampled_from(list(PREDICATES.items())))])
    if name not in ("kth", "count", "mask"):
        dtype = draw(some.sampled_from(["int32", "int64"]))
        if draw(some.booleans()):
            options["index_dtype"] = draw(some.sampled_from([dtype, np.dtype(dtype), getattr(np, dtype)]))
        if draw(some.booleans()):
            shape = (len(x), k) if "where" not in name or name == "select_where" else (x.size,)
            indices = draw(layouts)(np.zeros(shape, dtype))
            options["out"] = (indices if name == "argtopk" else (indices, None) if name in ("argwhere", "route")
                              else (None, indices, None) if name == "where" else (None, indices))
    arguments = (k,) if name in ("topk", "argtopk", "kth", "select_where", "route") else ()
    return name, x, arguments, options


@given(calls_with_workspaces())
def test_a_workspace_size_is_exact(problem):
    name, x, arguments, options = problem
    call = partial(getattr(libtopk, name), context=context)
    size = workspace_size(name, x, *arguments, **options)
    planned = {**options, "out": out_of_shapes(options.get("out"))}
    if 0 not in x.strides:  # a Shape is contiguous, and may need less or more
        assert workspace_size(name, libtopk.Shape(x.shape, x.dtype), *arguments, **planned) == size
    if "where" in name and name != "select_where":
        options = {"capacity": x.size, **options}
    call(x, *arguments, workspace=np.empty(size, np.uint8), **options)
    if size > 0:
        with pytest.raises(ValueError, match=f"the workspace has {size - 1} bytes, method .* needs {size}"):
            call(x, *arguments, workspace=np.empty(size - 1, np.uint8), **options)


def out_of_shapes(out):
    if isinstance(out, np.ndarray):
        return libtopk.Shape(out.shape, out.dtype.newbyteorder("="))
    return tuple(map(out_of_shapes, out)) if isinstance(out, tuple) else None


def test_indices_have_the_type_that_is_asked_for():
    for name, dtype in (("int32", np.int32), ("int64", np.dtype("int64")), ("int32", np.dtype(np.int32))):
        assert topk(X, 2, index_dtype=dtype).indices.dtype == name
        assert where(X, gt=1, index_dtype=dtype).indices.dtype == name
    one, other = Accumulator(2, index_dtype="int32"), Accumulator(2, index_dtype=np.int32)
    one.push(X), other.push(X, base=6)
    one.merge(other)
    assert one.finish().indices.dtype == np.int32
    for dtype in (np.int16, np.dtype(">i4"), float, 32, None.__class__):
        with pytest.raises(ValueError, match="index_dtype is .*, and can be 'int32' or 'int64'"):
            topk(X, 2, index_dtype=dtype)


@pytest.mark.parametrize("workspace", [np.empty(9999, np.int8), np.empty(99999, np.uint8)[::2], b"0" * 9999,
                                       np.frombuffer(b"0" * 9999, np.uint8), [0] * 9999])
def test_a_workspace_is_one_array_of_bytes(workspace):
    out = np.full((4, 2), 3.0), np.full((4, 2), 3)
    with pytest.raises((ValueError, TypeError)):
        topk(X, 2, workspace=workspace, out=out)
    assert all((array == 3).all() for array in out)


def test_a_workspace_overlaps_nothing():
    memory = np.zeros(10**6, np.uint8)
    x = memory[:40000].view(np.float32)
    assert workspace_size("where", x, gt=0) > 0
    for options in ({"workspace": memory}, {"workspace": memory[40000:], "out": (None, memory[40000:120000].view(int),
                                                                                 None)}):
        with pytest.raises(ValueError, match="overlaps"):
            where(x, gt=-1, **options)
    assert not memory.any()


def bytes_of(array):
    begins = np.array(array.__array_interface__["data"][0]) + np.arange(len(array)) * array.strides[0]
    return {begin + i for begin in begins.tolist() for i in range(array.itemsize)}


PLACE = 2048
SECOND = {  # what the array for values moves past, from what lies behind a place: how it is passed
    "indices": lambda behind, step: (behind[:3 * step:step], topk, lambda second: {"out": second}),
    "x": lambda behind, step: (behind[:5], topk, lambda second: {"x": second}),
    "payload": lambda behind, step: (behind[:5], topk, lambda second: {"indices": second}),
    "lengths": lambda behind, step: (behind[:1], topk, lambda second: {"lengths": second}),
    "workspace": lambda behind, step: (
        behind.view(np.uint8)[:workspace_size("topk", np.arange(5), 3)], topk, lambda second: {"workspace": second}),
    "mask": lambda behind, step: (behind.view(np.uint8)[step:step + 5], select_where, lambda second: {"mask": second}),
}


@pytest.mark.parametrize("step", [1, 2, -1, -3])
@pytest.mark.parametrize("name", SECOND)
def test_one_element_in_common_is_an_overlap_and_a_miss_by_one_is_none(name, step):
    found = []
    size = len(SECOND[name](np.zeros(1 << 12, np.int64), abs(step))[0])
    if size == 0:
        pytest.skip("so few elements need no workspace on this backend")
    ends = (0, size // 8) if name == "workspace" else (0,)
    for shift in sorted({end + shift for end in ends for shift in range(-12, 16)}):
        memory = np.full(1 << 13, 1)
        second, call, options_for = SECOND[name](memory[PLACE:], abs(step))
        first = memory[PLACE + shift:][:3 * abs(step):abs(step)][::1 if step > 0 else -1]
        options = {"x": np.arange(5), **options_for(second)}
        out = first, options.pop("out", None)
        before = memory.copy()
        found.append(not bytes_of(first).isdisjoint(bytes_of(second)))
        if found[-1]:
            with pytest.raises(ValueError, match="share memory|overlaps"):
                call(options.pop("x"), 3, out=out, **options)
            assert same(memory, before)
        else:
            call(options.pop("x"), 3, out=out, **options)
    assert any(found) and not all(found)


@pytest.mark.parametrize("width", [1, 3])
def test_results_may_fill_the_gaps_between_rows_to_the_last_element(width):
    found = []
    for shift in range(9):
        memory = np.arange(44)
        rows = np.lib.stride_tricks.as_strided(memory, (4, 8), (80, 8))
        out = np.lib.stride_tricks.as_strided(memory[shift:], (4, width), (80, 8))
        x = rows[:, :8 - width]  # behind each row of it are `width` + 2 elements that belong to none
        wanted = topk(x.copy(), width).values
        free = {place for place in range(44) if place % 10 >= 8 - width}
        found.append({shift + 10 * row + i for row in range(4) for i in range(width)} <= free)
        if found[-1]:
            assert same(topk(x, width, out=(out, None)).values.copy(), wanted)
        else:
            with pytest.raises(ValueError, match="share memory|overlaps"):
                topk(x, width, out=(out, None))
    assert found[8 - width:8] == [True] * width and not any(found[:8 - width])
