# SPDX-License-Identifier: Apache-2.0
"""Shards know of the whole rows what kth() says of them, and topk() gives each its part of the results."""
import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given, settings

import libtopk
from backend import context, few, kth, select_where, topk, where
from oracle import all_same, meets, same
from strategies import choices, problems
from test_arrays import Exporter

fewer_examples = settings(max_examples=settings().max_examples // few(1, 3))


def shards_of(parts, k, **options):
    """Results of shards whose counters are added up, of each one with the ties before it, and what it selects."""
    shards = [libtopk.Shard(part, k, context=context, **options) for part in parts]
    for _ in range(shards[0].rounds):
        sums = sum(shard.count().copy() for shard in shards)
        for shard in shards:
            shard.advance(sums)
    before, results, taken = None, [], []
    for shard in shards:
        results.append(shard.result(before))
        taken.append(shard.select(before))
        before = results[-1].after
    return results, taken


def results_of(parts, k, **options):
    return shards_of(parts, k, **options)[0]


def cut(matrix, count):
    edges = np.linspace(0, matrix.shape[1], count + 1).astype(int)
    return [matrix[:, begin:end] for begin, end in zip(edges, edges[1:])], edges


@fewer_examples
@given(problems(), choices, some.integers(1, 5))
def test_shards_are_what_the_whole_is(problem, choice, count):
    matrix, k = problem
    parts, edges = cut(matrix, count)
    results, taken = shards_of(parts, k, **choice)
    wanted = kth(matrix, k, **choice)
    whole = topk(matrix, k, order="position", **choice)
    for part, result, found in zip(parts, results, taken):
        pitch = min(k, part.shape[1])
        assert all_same(found, topk(part, result.own_k, k_max=pitch, order="position", **choice))
    taken = [topk(part, result.own_k, k_max=k, order="position", index_base=begin, **choice)
             for part, result, begin in zip(parts, results, edges)]
    for result in results:
        assert all_same(result[:3], wanted)
    for row in range(len(matrix)):
        indices = np.concatenate([part.indices[row] for part in taken])
        values = np.concatenate([part.values[row] for part in taken])
        best = whole.indices[row][whole.indices[row] >= 0]
        assert np.array_equal(indices[indices >= 0], best)
        assert same(values[indices >= 0], whole.values[row][:len(best)])


@fewer_examples
@given(problems(), some.integers(1, 3), some.data())
def test_predicates_lengths_and_k_of_rows(problem, count, data):
    matrix, k = problem
    rows = len(matrix)
    by_mask, bound = data.draw(some.booleans()), data.draw(some.integers(-2, 2))
    ks = data.draw(some.lists(some.integers(0, k), min_size=rows, max_size=rows))
    matches = meets(matrix, "le", bound)
    parts, _ = cut(matrix, count)
    masks, _ = cut(matches, count)
    shards = [libtopk.Shard(part, ks, k_max=k, context=context, **({"mask": mask} if by_mask else {"le": bound}))
              for part, mask in zip(parts, masks)]
    for _ in range(shards[0].rounds):
        sums = sum(shard.count().copy() for shard in shards)
        for shard in shards:
            shard.advance(sums.tolist())
    values, _, offsets = where(matrix, mask=matches)
    assert all_same(shards[0].result()[:3], kth(values, ks, offsets=offsets, k_max=k))
    lengths = np.full(rows, matrix.shape[1] // 2, np.int16)
    (short,) = results_of([matrix], k, lengths=lengths)
    assert all_same(short[:3], kth(matrix, k, lengths=lengths))


def test_other_shapes():
    x = np.random.default_rng(3).integers(-9, 9, (2, 30, 3)).astype(np.float32)
    (found,) = results_of([x], 4, dim=1)
    assert all_same(found[:3], kth(x, 4, dim=1)) and found.own_k.tolist() == [[4] * 3] * 2
    (found,) = results_of([x.ravel()], 4, offsets=[0, 5, 180])
    assert all_same(found[:3], kth(x.ravel(), 4, offsets=[0, 5, 180]))
    (found,) = results_of([np.broadcast_to(x[0, 0, 0], (2, 40))], 4)
    assert found.equal.tolist() == [40, 40]
    (found,) = results_of([Exporter(x[:, :, 0].copy())], 4)
    assert all_same(tuple(map(np.asarray, found[:3])), kth(x[:, :, 0].copy(), 4))


def test_a_row_without_other_dimensions():
    """The number of its results is an array without dimensions."""
    x = np.random.default_rng(4).integers(-9, 9, 50).astype(np.float32)
    parts = np.split(x, [20, 20])
    results = results_of(parts, 7)
    taken = [topk(part, result.own_k, k_max=7, order="position", index_base=base).indices
             for part, result, base in zip(parts, results, (0, 20, 20))]
    taken = np.concatenate(taken)
    assert taken[taken >= 0].tolist() == topk(x, 7, order="position").indices.tolist()
    (found,) = results_of([x], results[0].own_k + 0, k_max=9)
    assert all_same(found[:3], kth(x, int(results[0].own_k)))
    with pytest.raises(ValueError, match="k has 1 elements, where the rows are 2"):
        topk(x.reshape(2, 25), results[0].own_k, k_max=7)
    with pytest.raises(TypeError, match="k is one number"):
        topk(x, 3, k_max=7)


def test_an_empty_shard_learns_the_result():
    x = np.arange(20.0).reshape(1, 20)
    first, second = results_of([x, x[:, :0]], 3)
    assert all_same(first[:3], second[:3]) and second.kth.tolist() == [17] and second.own_k.tolist() == [0]


def test_what_a_shard_selects():
    """In all shapes, with payloads, bases, gaps and places that are given."""
    x = np.random.default_rng(6).integers(-9, 9, (2, few(60, 20), 3)).astype(np.float32)
    marks = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    for more in ({}, {"index_base": 70}, {"indices": marks, "index_dtype": "int32"}, {"mask": x > -3}, {"le": 2}):
        shard = libtopk.Shard(x, 5, dim=1, context=context, **more)
        for _ in range(shard.rounds):
            shard.count()
            shard.advance()
        select = select_where if more.keys() & {"mask", "le"} else topk
        wanted = select(x, 5, dim=1, order="position", **more)
        assert all_same(shard.select(), wanted)
        out = np.empty((2, 9, 3), np.float32), np.empty((2, 9, 6), wanted.indices.dtype)[..., ::2]
        assert shard.select(pitch=9, out=out)[1] is out[1]
        assert all_same(out, select(x, [[5] * 3] * 2, dim=1, order="position", k_max=9, **more))
        assert all_same(shard.select(pitch=2), tuple(part[:, :2] for part in wanted))
    _, (ragged,) = shards_of([x.ravel()], 4, offsets=[0, 5, 180 if x.size > 180 else x.size])
    assert all_same(ragged, topk(x.ravel(), 4, offsets=[0, 5, 180 if x.size > 180 else x.size], order="position"))
    _, (apart,) = shards_of([x[:, ::2, 0]], 4)
    assert all_same(apart, topk(x[:, ::2, 0], 4, order="position"))
    _, (foreign,) = shards_of([Exporter(x[:, :, 0].copy())], 4)
    assert all_same(tuple(map(np.asarray, foreign)), topk(x[:, :, 0].copy(), 4, order="position"))
    _, (one,) = shards_of([x[0, :, 0].copy()], 3, nan="last")
    assert all_same(one, topk(x[0, :, 0].copy(), 3, order="position"))


def test_turns_and_errors():
    x = np.arange(10.0)
    shard = libtopk.Shard(x, 3, context=context)
    with pytest.raises(RuntimeError, match="after count"):
        shard.advance()
    shard.count()
    with pytest.raises(RuntimeError, match="once in each round"):
        shard.count()
    with pytest.raises(RuntimeError, match="0 of [56] rounds"):
        shard.result()
    with pytest.raises(RuntimeError, match="0 of [56] rounds"):
        shard.select()
    with pytest.raises(ValueError, match="sums are not (2048|8192)"):
        shard.advance([1, 2])
    with pytest.raises(TypeError, match="k_max is needed"):
        libtopk.Shard(x, [3], context=context)
    with pytest.raises(ValueError, match="negative"):
        libtopk.Shard(x, -3, context=context)
    with pytest.raises(TypeError, match="no option 'ties'"):
        libtopk.Shard(x, 3, ties="any", context=context)
    for _ in range(shard.rounds - 1):
        shard.advance()
        shard.count()
    shard.advance()
    assert shard.result().kth == 7
    with pytest.raises(ValueError, match="before are not 1"):
        shard.result([0, 0])
    with pytest.raises(ValueError, match="pitch is -1"):
        shard.select(pitch=-1)
    with pytest.raises(ValueError, match="out: values must be"):
        shard.select(pitch=4, out=(np.empty(3), np.empty(3, int)))
    with pytest.raises(TypeError, match="no option 'pitch'"):
        shards_of([x], 3, pitch=4)
    with pytest.raises(OverflowError, match="2147483648 exceed"):
        shards_of([x], 3, index_base=2**31, index_dtype="int32")
