# SPDX-License-Identifier: Apache-2.0
"""Accumulators as bytes: they go on elsewhere as if they had stayed, and bytes of any kind do no harm."""
import concurrent.futures
import copy
import json
import multiprocessing
import pickle

import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given, settings

import libtopk
from backend import ON_GPU, Accumulator, context, few, topk
from oracle import all_same
from strategies import choices, problems, tensors

fewer_examples = settings(max_examples=settings().max_examples // few(1, 3))


def read(data, like, **options):
    return libtopk.Accumulator.from_bytes(data, like, context=context, **options)


@fewer_examples
@given(tensors(min_dims=1), some.integers(0, 8), choices, some.booleans(), some.integers(0, 40),
       some.one_of(some.none(), some.integers(1, 60)))
def test_bytes_go_on_as_the_accumulator(problem, k, choice, carries, cut, chunk_max):
    array, _ = problem
    cut = min(cut, array.shape[-1])
    payload = np.arange(array.size).reshape(array.shape)
    stream = Accumulator(k, chunk_max=50, **choice)
    first, second = np.s_[..., :cut], np.s_[..., cut:]
    stream.push(array[first], indices=payload[first] if carries else None)
    data = stream.to_bytes()
    assert data == stream.to_bytes()
    other = read(data, array[..., :1], chunk_max=chunk_max)
    assert chunk_max is not None or other.to_bytes() == data
    for each in (stream, other):
        each.push(array[second], indices=payload[second] if carries else None)  # the base follows, too
    assert all_same(other.peek(), stream.peek())
    merged = read(data, array)
    part = Accumulator(k, **choice)
    part.push(array[second], cut, indices=payload[second] if carries else None)
    merged.merge(part)
    assert all_same(merged.finish(), stream.finish())


def bytes_of(pieces, k, choice):
    """What a process of its own makes of its share of a stream."""
    stream = Accumulator(k, **choice)
    for begin, piece in pieces:
        stream.push(piece, begin)
    return stream.to_bytes()


def pickle_of(piece, begin, k, choice):
    stream = libtopk.Accumulator(k, **choice)
    stream.push(piece, begin)
    return stream  # pickled on its way


@pytest.fixture(scope="module")
def processes():
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


@settings(max_examples=few(40, 4))
@given(problem=problems(), shares=some.lists(some.floats(0, 1), min_size=2, max_size=6), choice=choices,
       order=some.randoms(use_true_random=False))
def test_any_split_over_processes_gives_what_topk_gives(processes, problem, shares, choice, order):
    matrix, k = problem
    edges = [0, *sorted(int(share * matrix.shape[1]) for share in shares), matrix.shape[1]]
    pieces = [(begin, matrix[:, begin:end]) for begin, end in zip(edges[:-1], edges[1:])]
    order.shuffle(pieces)
    cut = order.randint(1, len(pieces) - 1)
    parts = list(processes.map(bytes_of, (pieces[:cut], pieces[cut:]), (k, k), (choice, choice)))
    whole = Accumulator(k, chunk_max=7, **choice)
    for data in parts:
        whole.merge(read(data, matrix))
    assert all_same(whole.finish(), topk(matrix, k, **choice))
    for data in reversed(parts):
        whole.merge(read(data, matrix, chunk_max=1))
    assert all_same(whole.finish(), topk(matrix, k, **choice))


@pytest.mark.skipif(ON_GPU, reason="pickles go to the context of the array's device")
def test_pickles_of_another_process_are_merged(processes):
    x = np.random.default_rng(7).integers(0, 30, (2, 999)).astype(np.float32)
    choice = {"nan": "last", "order": "position"}
    whole = libtopk.Accumulator(40, **choice)
    for part in processes.map(pickle_of, (x[:, 400:], x[:, :400]), (400, 0), (40, 40), (choice, choice)):
        whole.merge(part)
    assert all_same(whole.finish(), libtopk.topk(x, 40, **choice))


def test_pickles_are_small_and_copies_share_a_context():
    stream = Accumulator(5, chunk_max=2**20)
    x = np.arange(10, dtype=np.int16)
    stream.push(x)
    for twin in (copy.copy(stream), copy.deepcopy(stream)):
        twin.push(x)
        assert twin.finish().indices.tolist() == [9, 19, 8, 18, 7]
    assert stream.finish().indices.tolist() == [9, 8, 7, 6, 5]
    plain = libtopk.Accumulator(5, chunk_max=2**20)
    plain.push(x)
    assert len(pickle.dumps(plain)) < 2000
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(Accumulator(5))


def sample(**options):
    stream = Accumulator(2, **options)
    stream.push(np.arange(6, dtype=np.float32))
    return stream.to_bytes()


X = np.zeros(3, np.float32)


def with_head(**changes):
    line, _, state = sample().partition(b"\n")
    return json.dumps({**json.loads(line), **changes}).encode() + b"\n" + state


@pytest.mark.parametrize("data, words", [
    (b"", "do not begin with"), (b"\n", "do not begin with"), (b"[" * 10**5, "do not begin with"),
    (b"[]", "do not begin with"), (b"9" * 5000, "do not begin with"), (sample()[1:], "do not begin with"),
    (pickle.dumps(3), "do not begin with"), (sample().replace(b"Accumulator 1", b"Accumulator 2"), "do not begin with"),
    (sample()[:-1], "bytes, and its state has"), (sample() + b"x", "bytes, and its state has"),
    (with_head(k=-2), "k is -2"), (with_head(k=3), "bytes, and its state has"), (with_head(k=2.0), r"k is 2\.0"),
    (with_head(k=True), "k is True"), (with_head(k=2**63), "k is 9223372036854775808"), (with_head(k="2"), "k is '2'"),
    (with_head(k=2**62), "accumulator of this type"), (with_head(largest=1), "largest is 1"),
    (with_head(chunk_max=0), "chunk_max is 0"), (with_head(chunk_max=2**62), "exceed 2.63 bytes"),
    (with_head(rows=None), "rows is None"), (with_head(rows=[-1]), r"rows is \[-1\]"), (with_head(rows=[0] * 64), "rows is"),
    (with_head(rows=[2**40]), "accumulator of this type"), (with_head(rows=[2**62, 2**62]), "accumulator of this type"),
    (with_head(rows=[0]), "bytes, and its state has"), (with_head(pushed=-1), "pushed is -1"),
    (with_head(carries_indices=0), "carries_indices is 0"), (with_head(options=[]), r"options is \[\]"),
    (with_head(options={"mask": 1}), "options is {'mask': 1}"), (with_head(options={"context": 1}), "options is"),
    (with_head(options={"nan": 5}), "nan"), (with_head(options={"index_base": "a" * 10**4}), "index_base"),
    (with_head(options={"index_dtype": "float32"}), "index_dtype"), (with_head(options={"index_dtype": {}}), "index_dtype"),
    (with_head(options={"method": "none"}), "method"), (with_head(options={"tuning": "a=b"}), "tuning|knob"),
    (with_head(options={"order": None, "index_dtype": "int32"}), "bytes, and its state has"),
    (sample().replace(b"topk-acc", b"topk-acd"), "no state"),
])
def test_bytes_that_are_no_accumulator(data, words):
    with pytest.raises(ValueError, match=words):
        read(data, X)
    with pytest.raises(ValueError):
        libtopk.Accumulator.from_bytes(bytearray(data), X)


def test_arguments_are_not_blamed_on_bytes():
    with pytest.raises(ValueError, match="this type"):
        read(sample(), X.astype(np.int8))
    for data in (5, "text", None, [1, 2]):
        with pytest.raises(TypeError):
            read(data, X)
    for like in (X + 1j, np.ma.masked_array(X), "x"):
        with pytest.raises(TypeError):
            read(sample(), like)
    with pytest.raises(TypeError, match="no libtopk.Context"):
        libtopk.Accumulator.from_bytes(sample(), X, context=3)
    with pytest.raises(ValueError, match="chunk_max is 0"):
        read(sample(), X, chunk_max=0)
    with pytest.raises(RuntimeError, match="nothing has been pushed"):
        Accumulator(2).to_bytes()


@fewer_examples
@given(tensors(min_dims=1), some.integers(0, 5), choices, some.booleans(), some.data())
def test_corrupted_bytes_never_crash(problem, k, choice, carries, data):
    array, _ = problem
    payload = np.arange(array.size).reshape(array.shape)
    stream = Accumulator(k, chunk_max=4, **choice)
    stream.push(array, indices=payload if carries else None)
    broken = bytearray(stream.to_bytes())
    for _ in range(data.draw(some.integers(1, 4))):
        place = data.draw(some.integers(0, len(broken)))
        end = min(len(broken), place + data.draw(some.sampled_from([0, 0, 1, 8, len(broken)])))
        broken[place:end] = data.draw(some.one_of(
            some.binary(min_size=end - place, max_size=end - place), some.binary(max_size=9),
            some.sampled_from([b"0", b"9", b"-1", b"null", b"]", b"\n", b"1e9", b"\xff" * 8, bytes(8)])))
    try:
        other = read(broken, array)
    except ValueError as error:
        assert str(error)
        return
    # What is still an accumulator is one: its results are in its range, and it goes on.
    values, indices = other.peek()
    assert values.dtype == array.dtype.newbyteorder("=") and values.shape == indices.shape
    again = read(other.to_bytes(), array)
    assert all_same(again.peek(), (values, indices))
    for go_on in (lambda: again.push(array), lambda: again.merge(other), lambda: stream.merge(other)):
        try:
            go_on()
        except (ValueError, OverflowError):
            pass
    again.finish()
