# SPDX-License-Identifier: Apache-2.0
"""Each exception that libtopk promises, with a sentence; and that failures leave nothing changed and nothing behind."""
import gc
import os
import pathlib
import re
import resource
import sys
import tracemalloc

import numpy as np
import pytest

import libtopk
from backend import (METHODS, ON_GPU, Accumulator, argtopk, count, explain, few, kth, mask, route, select_where, topk,
                     where, workspace_size)
from libtopk._messages import in_python
from oracle import all_same, same

SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")  # which keeps freed memory for a while

X = np.arange(12, dtype=np.float32).reshape(3, 4)
LONG = np.tile(X, 2)
INTS = X.astype(np.int32)

FAILURES = [  # (exception, part of its sentence, call)
    (TypeError, "no option 'colour' here", lambda: topk(X, 1, colour=3)),
    (TypeError, "no option 'gt' here", lambda: topk(X, 1, gt=3)),
    (TypeError, "no option 'ties' here", lambda: kth(X, 1, ties="any")),
    (TypeError, "no option 'max_iterations' here", lambda: kth(X, 1, max_iterations=3)),
    (TypeError, "nan go with at_least here", lambda: where(X, gt=1, nan="last")),
    (TypeError, "largest, magnitude and nan go with at_least", lambda: count(X, gt=1, largest=False)),
    (TypeError, "at_least is not of the type of x", lambda: where(X, at_least=X[0, :1].astype(np.float64))),
    (ValueError, "at_least has 2 elements, where the rows are 3", lambda: count(X, at_least=X[0, :2])),
    (TypeError, "two predicates", lambda: count(X, at_least=X[0, :1], gt=1)),
    (TypeError, "no option 'capacity' here", lambda: count(X, gt=1, capacity=3)),
    (TypeError, "no option 'length_max' here", lambda: mask(X, gt=1, length_max=3)),
    (TypeError, "no option 'lengths' here", lambda: route(X, 1, lengths=[1, 1, 1])),
    (TypeError, "masked array", lambda: topk(np.ma.masked_array(X, X > 3), 1)),
    (TypeError, "two predicates", lambda: where(X, gt=1, lt=3)),
    (TypeError, "a predicate is needed", lambda: select_where(X, 1, gt=None)),
    (TypeError, "must be a tuple", lambda: count(X, between=[1, 2])),
    (TypeError, "real number|float", lambda: count(X, gt="1")),
    (TypeError, "k is needed", lambda: topk(X, None)),
    (TypeError, "k is needed", lambda: workspace_size("kth", X)),
    (TypeError, "k must hold integers", lambda: topk(X, 2.0)),
    (TypeError, "k must hold integers", lambda: topk(X, [1.0, 2.0, 3.0])),
    (TypeError, "lengths must hold integers", lambda: topk(X, 1, lengths=[True, True, False])),
    (TypeError, "where an array of them", lambda: topk(X, 1, k_max=3)),
    (TypeError, "indices are not of type int64", lambda: topk(X, 1, indices=INTS)),
    (TypeError, "neither of type bool nor uint8", lambda: count(X, mask=X)),
    (TypeError, "bits are not of type uint8", lambda: count(X, bits=np.zeros(2, bool))),
    (TypeError, "by offsets, or by begins and ends", lambda: topk(X[0], 1, begins=[0])),
    (TypeError, "by offsets, or by begins and ends", lambda: topk(X[0], 1, begins=[0], ends=[1], offsets=[0, 1])),
    (TypeError, "method is 5, and must be a str", lambda: topk(X, 1, method=5)),
    (TypeError, r"not a tuple \(indices, offsets\)", lambda: libtopk.argwhere(X, gt=1, out=np.zeros(9, int))),
    (TypeError, "an array of numbers is needed", lambda: topk([1, None], 1)),
    (TypeError, "no libtopk.Context", lambda: libtopk.topk(X, 1, context="cpu")),
    (TypeError, "is of type complex64", lambda: topk(X.astype(np.complex64), 1)),
    (ValueError, "k is -1", lambda: topk(X, -1)),
    (ValueError, "nan is 'first', and can be 'largest' or 'last'", lambda: topk(X, 1, nan="first")),
    (ValueError, "index_dtype is 'int16'", lambda: topk(X, 1, index_dtype="int16")),
    (ValueError, "workspace_limit is -1", lambda: topk(X, 1, workspace_limit=-1)),
    (ValueError, "^index_base is -1, must not be negative$", lambda: topk(X, 1, index_base=-1)),
    (ValueError, "length_max is -1", lambda: topk(X, 1, length_max=-1)),
    (ValueError, "k_max is -2", lambda: topk(X, [1, 1, 1], k_max=-2)),
    (ValueError, "capacity is -3", lambda: where(X, gt=1, capacity=-3)),
    (ValueError, "^epsilon is nan, must be finite", lambda: topk(X, 1, epsilon=float("nan"))),
    (ValueError, "^k is 33, at most 32 experts are chosen$", lambda: route(X, 33)),
    (ValueError, "^the length of a row is 1025, there are at most 1024 experts$",
     lambda: route(np.zeros((2, 1025), np.float32), 2)),
    (ValueError, "^groups_kept is 3, must be 1 to 2$", lambda: route(X, 1, groups=2, groups_kept=3)),
    (ValueError, "^groups is 3, must be 0 or divide the 4 experts$", lambda: route(X, 1, groups=3, groups_kept=1)),
    (ValueError, "^factor is not finite$", lambda: route(X, 1, factor=1e300)),
    (ValueError, "no method 'nonesuch'", lambda: topk(X, 1, method="nonesuch")),
    (ValueError, "^tuning: 'fast' is not NAME=VALUE", lambda: topk(X, 1, tuning="fast")),
    (ValueError, "of at most 255", lambda: topk(X, 1, tuning="a=1," * 100)),
    (ValueError, "of at most 63", lambda: topk(X, 1, method="air\0")),
    (ValueError, "operation is 'sort'", lambda: explain("sort", X, 1)),
    (ValueError, "lengths has 2 elements, where the rows are 3", lambda: topk(X, 1, lengths=[1, 2])),
    (ValueError, "ends has 1 elements", lambda: topk(X[0], 1, begins=[0, 1], ends=[1])),
    (ValueError, "x has 2 dimensions", lambda: topk(X, 1, offsets=[0, 1])),
    (ValueError, "one element more than there are rows", lambda: topk(X[0], 1, offsets=[])),
    (ValueError, "begins must have one dimension", lambda: topk(X[0], 1, begins=[[0]], ends=[[1]])),
    (ValueError, "mask is not of the shape of x", lambda: count(X, mask=np.ones((4, 3), bool))),
    (ValueError, "indices is not of the shape of x", lambda: topk(X, 1, indices=np.arange(12))),
    (ValueError, "a bit for each element", lambda: count(X, bits=np.zeros(1, np.uint8))),
    (ValueError, "a float32 number for each expert", lambda: route(X, 1, bias=np.zeros(4))),
    (ValueError, "backend is 'gpu'", lambda: libtopk.Context("gpu")),
    (ValueError, "^threads is 1025, must be 0 to 1024", lambda: libtopk.Context("cpu", threads=1025)),
    (ValueError, "seed is -1", lambda: libtopk.Context("cpu", seed=-1)),
    (IndexError, "dim is -3, outside", lambda: topk(X, 1, dim=-3)),
    (NotImplementedError, "^epsilon goes with floating-point types, not with int32$",
     lambda: topk(INTS, 1, epsilon=0.5)),
    (ValueError, "^max_iterations and epsilon do not go together$",
     lambda: topk(X, 1, epsilon=0.5, max_iterations=3)),
    (ValueError, "^lengths does not go with offsets$", lambda: topk(X[0], 1, offsets=[0, 2], lengths=[1])),
    (ValueError, "^lengths does not go with begins and ends$",
     lambda: topk(X[0], 1, begins=[0], ends=[2], lengths=[1])),
    (NotImplementedError, "method 'route' cannot serve", lambda: topk(X, 1, method="route")),
    (NotImplementedError, "nonesuch", lambda: topk(X, 1, tuning="nonesuch=3")),
    (NotImplementedError, "does not do where", lambda: where(X, gt=1, method=METHODS[-1], capacity=3)),
    (NotImplementedError, "^the type of x is int32, logits are", lambda: route(INTS, 1)),
    (OverflowError, 'use index_dtype="int64"$', lambda: topk(X, 1, index_dtype="int32", index_base=2**31 - 4)),
    (OverflowError, "and k 2305843009213693952 exceed", lambda: workspace_size("topk", X, 2**61)),
    (OverflowError, "^gt is below all integers of 64 bits", lambda: count(X, gt=-2**63 - 1)),
    (OverflowError, "^le is above all integers of 64 bits", lambda: count(X, le=2**64)),
    (OverflowError, "^between is above all integers of 64 bits", lambda: count(X, between=(0, 10**5000))),
    (OverflowError, "^k is an integer beyond 64 bits$", lambda: topk(X, 2**63)),
    (OverflowError, "^k is an integer beyond 64 bits$", lambda: kth(X, -10**5000)),
    (OverflowError, "^dim is an integer beyond 64 bits$", lambda: count(X, dim=2**64, gt=1)),
    (OverflowError, "^index_base is an integer beyond 64 bits$", lambda: topk(X, 1, index_base=2**63)),
    (OverflowError, "^length_max is an integer beyond 64 bits$", lambda: topk(X, 1, length_max=2**63)),
    (OverflowError, "^capacity is an integer beyond 64 bits$", lambda: where(X, gt=1, capacity=2**63)),
    (OverflowError, "^groups is an integer beyond 64 bits$", lambda: route(X, 1, groups=2**63)),
    (OverflowError, "holds integers beyond 64 bits$", lambda: topk(X, [2**64] * 3)),
    (OverflowError, "holds integers beyond 64 bits$", lambda: topk(X, 1, lengths=[-2**70] * 3)),
    (OverflowError, "^chunk_max is an integer beyond 64 bits$", lambda: Accumulator(1, chunk_max=2**63)),
    (OverflowError, "^k is an integer beyond 64 bits$", lambda: Accumulator(10**5000)),
    (ValueError, "^k is -1, and cannot be negative$", lambda: Accumulator(-1)),
    (TypeError, "^k is 1.5, and must be an integer$", lambda: Accumulator(1.5)),
    (TypeError, "^chunk_max is 2.5, and must be an integer$", lambda: Accumulator(1, chunk_max=2.5)),
    (OverflowError, "^factor: int too large", lambda: route(X, 1, factor=10**400)),
    (OverflowError, "^threads is 2147483648, and beyond 32 bits", lambda: libtopk.Context(threads=2**31)),
    (OverflowError, "^device is an integer beyond 64 bits", lambda: libtopk.Context(device=2**64)),
    (OverflowError, r"^values of shape \(3, 4611686018427387904\) would have more than 2\^63", lambda: topk(X, 2**62)),
    (OverflowError, "^values of shape .* would have more than", lambda: select_where(X[:0], 2**62, gt=1)),
    (OverflowError, "^indices of shape .* would have more than", lambda: argtopk(X, [1, 2**62, 1])),
    (OverflowError, "^indices of shape .* would have more than", lambda: route(X, 2**62)),
    (OverflowError, "^values of shape .* would have more than", lambda: where(X, gt=1, capacity=2**62)),
    (OverflowError, "overflows 64 bits|exceeds? 2\\^63", lambda: topk(X, 1, index_base=2**63 - 1)),
    (TypeError, "^index_base is 1.5, and must be an integer$", lambda: topk(X, 1, index_base=1.5)),
    (TypeError, "^dim is None, and must be an integer$", lambda: topk(X, 1, dim=None)),
    (TypeError, "^epsilon: must be real number, not str", lambda: topk(X, 1, epsilon="1")),
    (TypeError, "^axis is None, and must be an integer$", lambda: topk(X, 1, axis=None)),
    (IndexError, r"^axis is 2, outside \[-2, 1\]$", lambda: count(X, gt=1, axis=2)),
    (TypeError, "^dim and axis are two names of one argument", lambda: kth(X, 1, dim=0, axis=1)),
    (TypeError, "'axis' here: rows lie along the last dimension$", lambda: libtopk.merge(X, X.astype(int), 1, axis=0)),
    (TypeError, "^axis is None, and must be an integer$", lambda: libtopk.top_k(X, 1, axis=None)),
    (TypeError, r"^k is 1\.0, and must be an integer$", lambda: libtopk.top_k(X, 1.0)),
    (IndexError, "^axis is 2, and a has 2 dimensions$", lambda: libtopk.top_k(X, 1, axis=2)),
    (IndexError, "^axis is -1, and a has 0 dimensions$", lambda: libtopk.top_k(3.0, 1)),
    (ValueError, "^k is 4, and a has 3 elements along axis 0$", lambda: libtopk.top_k(X, 4, axis=0)),
    (ValueError, "^k is -1, and cannot be negative", lambda: libtopk.top_k(X, -1)),
    (TypeError, "", lambda: libtopk.top_k(X, [1, 2, 3])),
    (ValueError, "^mode is 'least', and can be", lambda: libtopk.top_k(X, 1, mode="least")),
    (TypeError, "'norm_topk_prob' here: weights are always divided by", lambda: route(X, 1, norm_topk_prob=False)),
    (TypeError, "'n_group' here: use groups$", lambda: route(X, 1, n_group=2)),
    (TypeError, "'scoring_func' here: use score and weighing$", lambda: route(X, 1, scoring_func="sigmoid")),
    (TypeError, "'descending' here: use largest$", lambda: topk(X, 1, descending=True)),
    (TypeError, "'ne' here: use select_where", lambda: topk(X, 1, ne=3)),
    (ValueError if ON_GPU else RuntimeError, "CUDA device|built without CUDA, as pip|there are",
     lambda: libtopk.Context("cuda", device=1)),
]


# The environment's variables are the user's to set, in Python too.
NAMES_OF_C = re.compile(r"->\w|TOPK_(?!METHOD\b|CPU_DISABLE\b)|\b(row_stride|elements_max|index_type|extent_type)\b")


def fails(error, sentence, call):
    """call() raises that error with that sentence, in Python's words."""
    with pytest.raises(error, match=sentence) as caught:
        call()
    assert not NAMES_OF_C.search(str(caught.value))


@pytest.mark.parametrize("error, sentence, call", FAILURES)
def test_exceptions_say_what_is_wrong(error, sentence, call):
    fails(error, sentence, call)
    assert argtopk(X, 1).tolist() == [[3]] * 3  # and the next call works


def test_no_message_of_the_library_names_what_python_does_not_know():
    source = pathlib.Path(__file__).parents[2] / "src"
    texts = "\n".join(path.read_text() for path in source.rglob("*.[ch]"))
    literals = [re.sub(r'"\s+"', "", text) for text in re.findall(r'topk_fail\(\s*\w+,\s*("(?:[^"]|"\s+")*")', texts)]
    fields = re.findall(r'\{"(\w+(?:->\w+)?)", [^"}]*\}', texts)  # of tables whose names go into messages
    assert len(literals) > 60 and {"index_type", "k_max", "input->lengths", "predicate->mask"} <= set(fields)
    # Of plans, merging and peer memory, which Python does not have.
    absent = re.compile("(what|lists|group)->|TOPK_PEER_")
    literals = [text for text in literals if not absent.search(text)]
    literals = [re.sub("(input|predicate)->%s", r"\1->low", text.replace("%s->", "problem->")) for text in literals]
    fields = [name for name in fields if not absent.match(name)]
    named = [re.sub('^"%s' if "->" in name else "problem->%s", lambda place: place[0].replace("%s", name), text)
             for name in fields for text in literals]
    for text in named:
        assert not NAMES_OF_C.search(in_python(text.strip('"'))), text


def test_an_explanation_is_in_the_words_of_python():
    for text in (explain("topk", X, 1, method=METHODS[0]), explain("where", X, gt=1)):
        assert not NAMES_OF_C.search(text) and " select" not in text.replace("select_where", "")
    assert f"method '{METHODS[0]}' is forced by the option method" in explain("topk", X, 1, method=METHODS[0])


def test_what_replaces_an_option_does_what_it_is_for():
    weights = np.exp(X) / np.exp(X).sum(1, keepdims=True)
    indices = libtopk.route(X, 2).indices
    assert np.allclose(np.take_along_axis(weights, indices, 1), -np.sort(-weights, axis=1)[:, :2])


def test_a_workspace_beyond_all_memory():
    with pytest.raises(MemoryError, match="shape"):
        topk(X, 2**45)


def pushed(*chunks, k=2, **options):
    stream = Accumulator(k, **options)
    for chunk in chunks:
        stream.push(chunk)
    return stream


MISUSES = [
    (ValueError, "where the first one had rows", lambda s: s.push(X.astype(np.float64))),
    (ValueError, "where the first one had rows", lambda s: s.push(X[:2])),
    (ValueError, "where the first one had rows", lambda s: s.push(X[0])),
    (ValueError, "at least one dimension", lambda s: s.push(1.0)),
    (ValueError, "either all chunks carry indices", lambda s: s.push(X, indices=np.zeros((3, 4), np.int64))),
    (ValueError, "either all chunks carry indices", lambda s: s.merge(carrying())),
    (ValueError, "base is -1", lambda s: s.push(X, base=-1)),
    (ValueError, "lengths has 1 elements", lambda s: s.push(X, lengths=[1])),
    (ValueError, "mask is not of the shape", lambda s: s.push(X, mask=np.ones((3, 3), bool))),
    (ValueError, "mask is not of the shape", lambda s: s.push(LONG, mask=np.ones((3, 12), bool))),
    (TypeError, "lengths must hold integers", lambda s: s.push(X, lengths=[1.5] * 3)),
    (TypeError, "where an array of them", lambda s: s.push(X, k=1)),
    (TypeError, "no option 'bits' here: use mask$", lambda s: s.push(X, bits=mask(X, gt=1))),
    (TypeError, "'axis' here: the rows of a chunk lie along its last dimension$", lambda s: s.push(X, axis=0)),
    (TypeError, "'dim' here: the rows of a chunk lie along its last dimension$", lambda s: s.push(X, dim=0)),
    (OverflowError, "^base is an integer beyond 64 bits$", lambda s: s.push(X, base=2**63)),
    (TypeError, "two predicates", lambda s: s.push(X, gt=1, lt=1)),
    (TypeError, "no option 'colour' here", lambda s: s.push(X, colour=1)),
    (ValueError, "the accumulators differ", lambda s: s.merge(pushed(X, k=3))),
    (ValueError, "the accumulators differ", lambda s: s.merge(pushed(X[:2]))),
    (ValueError, "the accumulators differ", lambda s: s.merge(pushed(INTS))),
    (ValueError, "the accumulators differ", lambda s: s.merge(pushed(X, nan="last"))),
    (ValueError, "^an accumulator cannot be merged into itself", lambda s: s.merge(s)),
]


def carrying():
    stream = Accumulator(2)
    stream.push(X, indices=np.zeros((3, 4), np.int64))
    return stream


@pytest.mark.parametrize("error, sentence, misuse", MISUSES)
def test_a_stream_survives_misuse(error, sentence, misuse):
    stream = pushed(X)
    fails(error, sentence, lambda: misuse(stream))
    assert all_same(stream.finish(), topk(X, 2))


def test_a_stream_needs_chunks_and_options_that_it_knows():
    stream = Accumulator(2)
    stream.merge(Accumulator(2))
    for call in (stream.peek, stream.finish):
        with pytest.raises(RuntimeError, match="nothing has been pushed"):
            call()
    for chunk_max in (0, -3):
        with pytest.raises(ValueError, match=f"chunk_max is {chunk_max}"):
            Accumulator(2, chunk_max=chunk_max)
    with pytest.raises(TypeError, match="length_max is no option of an Accumulator"):
        Accumulator(2, length_max=3)
    with pytest.raises(TypeError, match="no option 'ties' here"):
        pushed(X, ties="any")
    with pytest.raises(TypeError, match="'gt' here: push\\(\\) takes predicates"):
        pushed(X, gt=1)
    for k in (2**62, 2**63):
        with pytest.raises(OverflowError, match="2\\^63|beyond 64 bits"):
            pushed(X, k=k)
    stream = pushed(X, index_dtype="int32")
    with pytest.raises(OverflowError, match='use index_dtype="int64"$'):
        stream.push(10 * LONG, base=2**31 - 7)  # of whose two pieces the first would fit
    assert all_same(stream.finish(), topk(X, 2, index_dtype="int32"))


def test_failures_change_no_outputs():
    values, indices, offsets = np.full((3, 2), 7, np.float32), np.full((3, 2), 7), np.full(4, 7)
    for options in ({"method": "route"}, {"index_base": -1}, {"lengths": [1]}, {"lengths": [0.5] * 3},
                    {"indices": INTS}, {"workspace": np.empty((), np.int8)}, {"epsilon": -1}):
        with pytest.raises((ValueError, TypeError, NotImplementedError)):
            topk(X, 2, out=(values, indices), **options)
    for options in ({"mask": X}, {"gt": 1, "index_base": -1}, {"bits": np.zeros(1, np.uint8)}, {"gt": 1, "lt": 2}):
        with pytest.raises((ValueError, TypeError)):
            where(X, out=(values.ravel(), indices.ravel(), offsets), **options)
    assert (values == 7).all() and (indices == 7).all() and (offsets == 7).all()


def test_neither_success_nor_failure_leaves_anything_behind():
    x = np.ones((300, 400), ">f4")[:, ::2]  # a copy of 240 kB for each call
    inputs = [x, np.full(300, 3, np.int16), np.ones(x.shape, bool), np.zeros(x.shape, np.int64),
              np.zeros((300, 8), np.float32)[:, ::2], np.empty(10**6, np.uint8)]

    def calls(n):
        for i in range(n):
            _, k, flags, payload, values, memory = inputs
            options = {"mask": flags, "indices": payload, "out": (values, None), "lengths": k, "workspace": memory}
            select_where(x[:3], [4, 2, 1], k_max=4, mask=flags[:3], lengths=k[:3], indices=payload[:3])
            for bad in ({"index_base": -1}, {"out": (payload, None)}, {"colour": 1}, {"workspace": k}, {"mask": x},
                        {"lengths": payload}, {"indices": flags}):
                with pytest.raises((ValueError, TypeError)):
                    select_where(x, 4, **{**options, **bad})
            if i % few(50, 500) == 0:
                select_where(x, 4, **options)

    calls(3)
    references = [sys.getrefcount(array) for array in inputs]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    calls(3)
    gc.collect()  # pytest's records of exceptions refer to themselves
    before = tracemalloc.get_traced_memory()[0]
    calls(few(250, 12))
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert [sys.getrefcount(array) for array in inputs] == references
    assert grown < 20000 and (SANITIZED or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 20000)
    assert same(inputs[2], np.ones(x.shape, bool))


def test_neither_contexts_nor_merges_leave_anything_behind():
    x = np.random.default_rng(5).normal(size=200_000).astype(np.float32)

    def work():
        own = libtopk.Context("cpu", threads=1)
        libtopk.topk(x, x.size // 2, context=own)  # in 3 MB that the context keeps
        whole, part = (libtopk.Accumulator(3000, context=own) for _ in range(2))  # in 800 kB each
        part.push(x)
        whole.merge(part)

    work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    work()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        work()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20000 and (SANITIZED or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 20000)
