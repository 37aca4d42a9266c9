# SPDX-License-Identifier: Apache-2.0
"""libtopk.dask says of chunks what libtopk says of the whole array, to the bit."""
import itertools
import threading
import weakref

import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given, settings

import libtopk
from oracle import all_same
from strategies import choices, tensors

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
from libtopk.dask import argtopk, kth, topk  # noqa: E402

fewer_examples = settings(max_examples=settings().max_examples // 2)


def computed(results, scheduler="sync"):
    """The arrays of results, which must be what was announced."""
    arrays = dask.compute(*results, scheduler=scheduler)
    for lazy, array in zip(results, arrays):
        assert lazy.dtype == array.dtype and type(lazy._meta) is type(array) and lazy._meta.ndim == lazy.ndim
        assert len(lazy.shape) == array.ndim
        assert all(said == length or np.isnan(said) for said, length in zip(lazy.shape, array.shape))
    return arrays


@some.composite
def chunked(draw):
    """(an array, the same in chunks, a dimension)"""
    array, dim = draw(tensors(min_dims=draw(some.integers(0, 2))))
    cuts = [sorted(draw(some.lists(some.integers(0, n), max_size=4))) for n in array.shape]
    chunks = tuple(tuple(np.diff([0, *cut, n]).tolist()) for cut, n in zip(cuts, array.shape))
    return array, da.from_array(array, chunks=chunks), dim


splits = some.sampled_from([None, 2, 3, 5])
threads = some.sampled_from([1, 64])  # with few of them, chunks share tasks


@given(chunked(), some.integers(0, 8), choices, splits, some.sampled_from([None, "best", "any", "position"]),
       some.sampled_from([{}, {"index_dtype": "int32", "index_base": 7}, {"index_base": 2**40}]), threads)
def test_topk_of_chunks_is_topk(problem, k, choice, split_every, order, positions, count):
    array, x, dim = problem
    with dask.config.set(num_workers=count):
        results = topk(x, k, dim=dim, split_every=split_every, order=order, **choice, **positions)
    wanted = libtopk.topk(array, k, dim=dim, order="best" if order == "any" else order, **choice, **positions)
    assert all_same(computed(results), wanted)
    assert all_same(computed([argtopk(x, k, dim=dim, **choice, **positions)]),
                    [libtopk.argtopk(array, k, dim=dim, **choice, **positions)])


@given(chunked(), some.integers(0, 8), choices, splits, threads)
def test_kth_of_chunks_is_kth(problem, k, choice, split_every, count):
    array, x, dim = problem
    with dask.config.set(num_workers=count):
        results = kth(x, k, dim=dim, split_every=split_every, **choice)
    assert all_same(computed(results), libtopk.kth(array, k, dim=dim, **choice))


@fewer_examples
@given(some.lists(some.lists(some.sampled_from([0.0, -0.0, 1.0, np.nan, np.inf]), max_size=9), min_size=1, max_size=7),
       some.integers(0, 9), choices, splits, threads)
def test_many_ties_of_long_rows(chunks, k, choice, split_every, count):
    whole = np.array(list(itertools.chain(*chunks)), np.float32)
    x = da.from_array(whole, chunks=(tuple(map(len, chunks)),))
    with dask.config.set(num_workers=count):
        assert all_same(computed(topk(x, k, split_every=split_every, **choice)), libtopk.topk(whole, k, **choice))
        assert all_same(computed(kth(x, k, split_every=split_every, **choice)), libtopk.kth(whole, k, **choice))


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
@pytest.mark.parametrize("dim", [0, 1])
def test_lengths_of_chunks_may_be_unknown(dim, scheduler):
    array = np.random.default_rng(1).integers(0, 20, (300, 4)).astype(np.int16)
    x = da.from_array(array, chunks=(37, 3))
    kept, wanted = x[x[:, 0] > 9], array[array[:, 0] > 9]
    assert np.isnan(kept.shape[0])
    for split_every in (2, None):
        results = topk(kept, 5, dim=dim, split_every=split_every)
        assert results.indices.shape[dim] == 5
        assert all_same(computed(results, scheduler), libtopk.topk(wanted, 5, dim=dim))
        assert all_same(computed(kth(kept, 5, dim=dim), scheduler), libtopk.kth(wanted, 5, dim=dim))
    nothing = x[x[:, 0] > 99]
    assert all_same(computed(topk(nothing, 2, dim=0)), libtopk.topk(array[:0], 2, dim=0))


def test_values_and_positions_take_one_pass_and_few_chunks_at_once():
    made, alive, most = [], set(), [0]
    lock = threading.Lock()

    def block(block_info):
        array = np.random.default_rng(block_info[None]["chunk-location"]).random(10**4)
        with lock:
            made.append(0)
            alive.add(number := len(made))
            most[0] = max(most[0], len(alive))
        weakref.finalize(array, alive.discard, number)
        return array

    x = da.map_blocks(block, chunks=((10**4,) * 100,), dtype=float, meta=np.empty(0))
    whole = x.compute(scheduler="sync")
    for of_chunks, of_all in ((topk, libtopk.topk), (kth, libtopk.kth)):
        made.clear(), most.__setitem__(0, 0)
        results = dask.compute(*of_chunks(x, 1000), scheduler="threads", num_workers=2)
        assert all_same(results, of_all(whole, 1000))
        assert len(made) == 100 and most[0] < 10


def lists_of(results):
    """How many tasks read chunks."""
    return sum("-list-" in str(key) for key in dict(results[0].dask))


def test_chunks_in_memory_share_tasks(monkeypatch):
    x = da.from_array(np.random.default_rng(4).integers(0, 50, 6400).astype(np.float32), chunks=100)
    for few, tasks in ((1, 4), (2, 8), (4, 16), (8, 32), (16, 64)):
        with dask.config.set(num_workers=few):
            assert lists_of(topk(x, 30)) == lists_of(kth(x, 30)) == tasks
    with dask.config.set(num_workers=1):
        assert lists_of(topk(x + 1, 30)) == lists_of(topk(x[x > 9], 30)) == 64  # which would lie in memory at once
        assert lists_of(topk((x + 1).persist(scheduler="sync"), 30)) == 4
        monkeypatch.setattr("libtopk.dask._GROUP_BYTES", 1000)
        assert lists_of(topk(x, 30)) == 32


def test_axis_is_another_name_of_dim():
    array = np.random.default_rng(5).standard_normal((40, 30))
    x = da.from_array(array, chunks=(7, 8))
    for one, other in ((topk(x, 3, axis=0), topk(x, 3, dim=0)), (kth(x, 3, axis=0), kth(x, 3, dim=0))):
        assert all_same(computed(one), computed(other))
    assert all_same(computed([argtopk(x, 3, axis=0)]), [libtopk.argtopk(array, 3, axis=0)])
    with pytest.raises(TypeError, match="two names"):
        topk(x, 3, dim=0, axis=0)
    with pytest.raises(IndexError, match="axis is 2"):
        kth(x, 3, axis=2)


def test_one_question_has_one_name():
    x = da.from_array(np.arange(10.0), chunks=3)
    same, other = topk(x, 2), [topk(x, 3), topk(x, 2, False), topk(x, 2, nan="last"), topk(x, 2, split_every=2),
                               topk(x, 2, index_base=1), topk(x + 1, 2), kth(x, 2)]
    assert topk(x, 2)[0].name == same[0].name
    assert len({same[0].name, *(results[0].name for results in other)}) == 8
    assert len({array.name for array in same}) == 2


X = da.ones((6, 4), chunks=2, dtype="float32")


@pytest.mark.parametrize("error, words, call", [
    (TypeError, "no dask array, but ndarray", lambda: topk(np.ones(3), 1)),
    (TypeError, "k is 1.5", lambda: topk(X, 1.5)), (ValueError, "k is -1", lambda: topk(X, -1)),
    (TypeError, "k is", lambda: topk(X, [1, 2])), (OverflowError, "k is", lambda: topk(X, 2**63)),
    (IndexError, r"dim is 2, outside \[-2, 1\]", lambda: topk(X, 1, dim=2)),
    (IndexError, "dim is -3", lambda: kth(X, 1, dim=-3)), (TypeError, "dim is", lambda: topk(X, 1, dim=None)),
    (ValueError, "split_every is 1", lambda: topk(X, 1, split_every=1)),
    (TypeError, "split_every is", lambda: topk(X, 1, split_every=2.5)),
    (TypeError, "context is no option", lambda: topk(X, 1, context=libtopk.Context("cpu"))),
    (TypeError, "'colour'", lambda: topk(X, 1, colour=1)), (TypeError, "'order'", lambda: kth(X, 1, order="best")),
    (ValueError, "nan", lambda: topk(X, 1, nan="first")), (ValueError, "nan", lambda: kth(X, 1, nan="first")),
    (TypeError, "lengths", lambda: topk(X, 1, lengths=[1] * 6)), (TypeError, "ties", lambda: topk(X, 1, ties="any")),
    (ValueError, "index_dtype", lambda: topk(X, 1, index_dtype="int16")),
    (OverflowError, "index_dtype", lambda: topk(X, 1, index_dtype="int32", index_base=2**31 - 3)),
    (TypeError, "complex", lambda: topk(X * 1j, 1)), (TypeError, "truth values", lambda: kth(X > 0, 1)),
    (TypeError, "mask", lambda: topk(da.ma.masked_greater(X, 0), 1)),
    (TypeError, "mask", lambda: kth(da.ma.masked_greater(X, 0), 1)),
])
def test_what_is_wrong_is_said_before_anything_is_computed(error, words, call):
    with pytest.raises(error, match=words):
        call()


def test_what_only_chunks_show_is_said_by_the_computation():
    masked = X.map_blocks(lambda block: np.ma.masked_array(block), meta=np.empty((0, 0), np.float32))
    for dim in (0, 1):
        for results in (topk(masked, 1, dim=dim), kth(masked, 1, dim=dim)):
            with pytest.raises(TypeError, match="mask"):
                computed(results)
    unknown = X.reshape(-1)[da.ones(24, chunks=4) > 0]
    with pytest.raises(OverflowError, match="index_dtype"):
        computed(topk(unknown, 1, index_dtype="int32", index_base=2**31 - 4))


def test_chunks_of_bfloat16():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    array = np.random.default_rng(2).normal(size=(3, 200)).astype(bfloat16)
    x = da.from_array(array, chunks=(2, 64))
    assert all_same(computed(topk(x, 9)), libtopk.topk(array, 9))
    assert all_same(computed(kth(x, 9)), libtopk.kth(array, 9))


def test_chunks_of_cupy():
    cupy = pytest.importorskip("cupy")
    array = np.random.default_rng(2).integers(0, 99, (3, 2000)).astype(np.float32)
    for chunks in ((2, 300), (3, 2000)):
        x = da.from_array(cupy.asarray(array), chunks=chunks, asarray=False)
        for results, wanted in ((topk(x, 9), libtopk.topk(array, 9)), (kth(x, 9), libtopk.kth(array, 9))):
            assert all_same([cupy.asnumpy(result) for result in computed(results)], wanted)
