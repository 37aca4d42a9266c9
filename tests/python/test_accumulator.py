# SPDX-License-Identifier: Apache-2.0
"""However a stream is cut and in whatever order it arrives, an accumulator says what topk() says of the whole."""
import copy
import pickle
import sys

import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given, settings

import libtopk
from backend import ON_GPU, Accumulator, few, select_where, topk
from oracle import all_same, meets, same
from strategies import choices, extents, problems, tensors
from test_arrays import Exporter

cuts = some.lists(some.floats(0, 1), max_size=few(12, 3))
chunk_maxima = some.one_of(some.none(), some.integers(1, 50))

fewer_examples = settings(max_examples=settings().max_examples // few(1, 3))


def pieces(length, shares, random):
    """The parts of a stream between cuts, in any order."""
    edges = [0, *sorted(int(share * length) for share in shares), length]
    parts = list(zip(edges[:-1], edges[1:]))
    random.shuffle(parts)
    return parts


@fewer_examples
@given(problems(), cuts, choices, some.randoms(use_true_random=False), chunk_maxima)
def test_any_chunking_gives_what_topk_gives(problem, shares, choice, random, chunk_max):
    matrix, k = problem
    stream = Accumulator(k, chunk_max=max(chunk_max or 1, matrix.shape[1] // 20), **choice)
    for begin, end in pieces(matrix.shape[1], shares, random):
        stream.push(matrix[:, begin:end], base=begin)
    wanted = topk(matrix, k, **choice)
    assert all_same(stream.peek(), wanted)
    assert all_same(stream.finish(), wanted)


@fewer_examples
@given(tensors(min_dims=1), some.integers(0, 8), cuts, chunk_maxima)
def test_chunks_in_order_need_no_base(problem, k, shares, chunk_max):
    array, _ = problem
    stream = Accumulator(k, chunk_max=chunk_max)
    edges = [0, *sorted(int(share * array.shape[-1]) for share in shares), array.shape[-1]]
    for begin, end in zip(edges[:-1], edges[1:]):
        stream.push(array[..., begin:end])
        assert all_same(stream.peek(), topk(array[..., :end], k))
    assert all_same(stream.finish(), topk(array, k))
    stream.push(array)  # a new stream begins
    assert all_same(stream.finish(), topk(array, k))


@fewer_examples
@given(tensors(min_dims=1), some.integers(1, 8), cuts, choices, some.randoms(use_true_random=False), some.data())
def test_everything_at_once(problem, k, shares, choice, random, data):
    """Chunks in any order with payload, lengths, a predicate, and k of rows, in two accumulators that are merged."""
    array, _ = problem
    rows, length = array.shape[:-1], array.shape[-1]
    count = int(np.prod(rows))
    payload = np.arange(array.size, dtype=np.int32).reshape(array.shape)[::1]
    by_mask, bound = data.draw(some.booleans()), data.draw(some.integers(-2, 2))
    matches = meets(array, "le", bound)
    streams = [Accumulator(k, chunk_max=3, index_dtype="int32", **choice) for _ in range(2)]
    used = set()
    least, inside = np.full(count, k), np.zeros(array.shape, bool)
    for begin, end in pieces(length, shares, random):
        lengths, ks = (data.draw(some.one_of(some.none(), extents(count, -2, 8))) for _ in range(2))
        part = np.s_[..., begin:end]
        which = data.draw(some.integers(0, 1))
        used.add(which)
        streams[which].push(
            array[part], begin, indices=payload[part], lengths=lengths, k=ks,
            **{"mask": matches[part]} if by_mask else {"le": bound})
        most = np.full(count, length) if lengths is None else np.array(lengths, int)
        inside[part] = np.arange(end - begin) < most.reshape(*rows, 1)
        least = least if ks is None else np.minimum(least, np.clip(np.array(ks, int), 0, k))
    wanted = select_where(array, least, mask=matches & inside, k_max=k, indices=payload, index_dtype="int32", **choice)
    before = streams[1].peek() if 1 in used else None
    streams[0].merge(streams[1])  # either may be empty
    assert all_same(streams[0].finish(), wanted)
    assert before is None or all_same(streams[1].finish(), before)


@fewer_examples
@given(problems(), cuts, some.randoms(use_true_random=False))
def test_merging_is_pushing(problem, shares, random):
    matrix, k = problem
    streams = []
    for begin, end in pieces(matrix.shape[1], shares, random):
        streams.append(Accumulator(k))  # each with the chunk_max of its own chunk
        streams[-1].push(matrix[:, begin:end], base=begin)
    whole = Accumulator(k)
    for stream in streams:
        whole.merge(stream)
    assert all_same(whole.finish(), topk(matrix, k))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64, np.int8, np.int64])
def test_lengths_of_any_type_end_rows_in_any_piece(dtype):
    x = np.arange(1200.0).reshape(4, 300)
    lengths = np.array([0, 5, 100, np.iinfo(dtype).max], dtype)
    stream = Accumulator(3, chunk_max=7)
    stream.push(x, lengths=lengths)
    assert all_same(stream.finish(), topk(x, 3, lengths=lengths))


def test_results_are_written_to_arrays():
    x = np.arange(12.0).reshape(3, 4)
    stream = Accumulator(2)
    stream.push(x)
    wide = np.zeros((3, 4)), np.zeros((2, 3), np.int64)
    out = wide[0][:, ::2], wide[1].T
    assert stream.peek(out=out)[0] is out[0] and all_same(out, topk(x, 2))
    values, indices = stream.finish(out=(None, np.zeros((3, 2), np.int64)))
    assert same(values, out[0]) and same(indices, np.ascontiguousarray(out[1]))


def test_options_change_positions_alone():
    x = np.arange(12, dtype=np.int16).reshape(3, 4)
    stream = Accumulator(2, largest=False, index_base=100, index_dtype="int32")
    stream.push(x.astype(">i2"))
    stream.push(x, base=50)
    wanted = topk(np.concatenate([x, x], axis=1), 2, largest=False, index_base=100, index_dtype="int32")
    assert same(stream.peek().values, wanted.values)
    assert stream.finish().indices.tolist() == [[100, 150]] * 3
    assert isinstance(wanted, libtopk.TopK)


def test_results_by_position():
    x = np.random.default_rng(3).integers(0, 50, size=(3, 90)).astype(np.float32)
    stream, other = Accumulator(7, order="position"), Accumulator(7, chunk_max=30)
    for begin in (60, 0):
        stream.push(x[:, begin:begin + 30], base=begin)
    other.push(x[:, 30:60], base=30)
    stream.merge(other)
    assert all_same(stream.peek(), topk(x, 7, order="position"))
    assert all_same(stream.finish(), topk(x, 7, order="position"))


def test_a_chunk_without_elements_carries_what_it_will():
    x, payload = np.arange(4.0), np.array([7, 8, 9, 5])
    for indices in (payload, None):
        stream = Accumulator(2)
        stream.push(x, indices=indices)
        stream.push(x[:0])
        stream.push(x[:0], indices=payload[:0])
        assert all_same(stream.finish(), topk(x, 2, indices=indices))


def test_copies_go_on_by_themselves():
    x = np.random.default_rng(5).normal(size=(2, 300)).astype(np.float32)
    kept = []
    for i in range(20):  # so that states lie at addresses of all kinds
        kept.append(bytearray(16 * i + 1))
        stream = libtopk.Accumulator(7, chunk_max=100)
        for unused in (copy.copy(stream), pickle.loads(pickle.dumps(stream))):
            unused.push(x)
            assert all_same(unused.finish(), libtopk.topk(x, 7))
        stream.push(x[:, :100])
        copies = copy.copy(stream), copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))
        for other in copies:
            other.push(x[:, 200:], base=200)
        stream.push(x[:, 100:200])
        for other in copies:
            assert all_same(other.peek(), libtopk.topk(np.where(np.arange(300) // 100 == 1, -np.inf, x), 7))
        half = libtopk.Accumulator(7, chunk_max=100)
        half.push(x[:, 200:], base=200)
        stream.merge(pickle.loads(pickle.dumps(half)))
        assert all_same(stream.finish(), libtopk.topk(x, 7))


class Member(Exporter):
    """An array of another library, whose namespace is a module."""

    def __array_namespace__(self):
        return sys.modules["another_library"]


@pytest.fixture
def another_library(monkeypatch):
    module = type(sys)("another_library")
    module.from_dlpack = Member
    monkeypatch.setitem(sys.modules, module.__name__, module)


def test_the_first_chunk_says_of_which_kind_results_are(another_library):
    x = np.arange(6.0)
    for first, second in ((x, Member(x)), (Member(x), x)):
        stream = libtopk.Accumulator(2)
        stream.push(first)
        stream.push(second)
        with pytest.raises(ValueError):
            stream.push(Member(x.astype(np.int8)))
        for other in (stream, copy.copy(stream), copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))):
            results = other.peek()
            assert all(type(result) is type(first) for result in results)
            assert np.array_equal(getattr(results.indices, "array", results.indices), [5, 11])


def test_what_fails_begins_no_stream():
    x = np.arange(6.0)
    unlike, others = Accumulator(3, chunk_max=5), Accumulator(2)
    unlike.push(x)
    for fail in (lambda stream: stream.push(x.astype(np.float32), colour=1), lambda stream: stream.push(x + 1j),
                 lambda stream: stream.push(x[:3], k=[[1]] * 2), lambda stream: stream.merge(unlike)):
        stream = Accumulator(2)
        with pytest.raises((TypeError, ValueError)):
            fail(stream)
        with pytest.raises(RuntimeError, match="nothing has been pushed"):
            stream.peek()
        stream.push(x)
        assert all_same(stream.peek(), topk(x, 2))
        others.merge(stream)  # it has the chunk_max of its own first chunk
        stream.finish()
        others.finish()


@pytest.mark.skipif(ON_GPU, reason="bars are the CPU's")
@fewer_examples
@given(problems(), cuts, choices)
def test_bars_that_are_passed_on_lose_nothing(problem, shares, choice):
    matrix, k = problem
    streams = Accumulator(k, **choice), Accumulator(k, **choice)
    edges = [0, *sorted(int(share * matrix.shape[1]) for share in shares), matrix.shape[1]]
    for number, (begin, end) in enumerate(zip(edges[:-1], edges[1:])):
        to, other = streams[number % 2], streams[1 - number % 2]
        to.push(matrix[:, begin:end], begin)
        bar = to.bar()
        assert bar.values.shape == bar.positions.shape == matrix.shape[:1]
        if number > 0:
            other.raise_bar(bar.values, bar.positions)
    if len(edges) > 2:
        streams[0].merge(streams[1])
    assert all_same(streams[0].peek(), topk(matrix, k, **choice))


@pytest.mark.skipif(ON_GPU, reason="bars are the CPU's")
def test_a_bar_is_an_element_and_its_position():
    stream = Accumulator(2)
    with pytest.raises(RuntimeError, match="nothing has been pushed"):
        stream.bar()
    stream.push(np.array([[5.0, 1, 4], [3, 3, 3]]))
    assert stream.bar().positions.tolist() == [-1, -1]
    stream.push(np.array([[6.0, 0], [3, 3]]))
    stream.push(np.array([[0.0], [9]]))
    assert stream.bar().values.tolist() == [5, 3] and stream.bar().positions.tolist() == [0, 1]
    stream.raise_bar(np.array([6.0, 0]), np.array([3, -1]))
    stream.push(np.array([[5.5], [8]]))
    assert stream.peek().indices.tolist() == [[3, 0], [5, 6]]
    zeros = np.zeros(2)
    for values, positions in (zeros[:1], np.zeros(2, int)), (zeros.astype("f4"), np.zeros(2, int)), (zeros, np.zeros(2, "i4")):
        with pytest.raises((TypeError, ValueError), match="bar|positions"):
            stream.raise_bar(values, positions)
