# SPDX-License-Identifier: Apache-2.0
"""Lists that parts of rows leave, merged, are what topk() says of the whole rows."""
import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

import libtopk
import oracle
from backend import context, few, topk, workspace_size
from oracle import all_same
from strategies import choices, problems

merge = lambda *arguments, **options: libtopk.merge(*arguments, context=context, **options)  # noqa: E731


def lists_of(matrix, k, parts, **choice):
    """Candidates of each part of the rows, stacked, and where parts begin."""
    edges = np.linspace(0, matrix.shape[1], parts + 1).astype(int)
    found = [topk(matrix[:, begin:end], k, index_base=begin, **choice) for begin, end in zip(edges, edges[1:])]
    return np.stack([part.values for part in found]), np.stack([part.indices for part in found])


@given(problems(), choices, some.integers(1, 7), some.booleans(), some.sampled_from(["int32", "int64"]))
def test_parts_are_what_the_whole_is(problem, choice, parts, are_sorted, index_dtype):
    matrix, k = problem
    values, indices = lists_of(matrix, k, parts, index_dtype=index_dtype, **choice)
    wanted = oracle.select(matrix, k, matrix.dtype, **choice)
    found = merge(values, indices, k, lists_sorted=are_sorted, **choice)
    assert all_same(found, (wanted[0], wanted[1].astype(index_dtype)))


@given(problems(), some.integers(1, 4), some.data())
def test_lengths_and_k_of_rows(problem, parts, data):
    matrix, k = problem
    rows = len(matrix)
    values, indices = lists_of(matrix, k, parts)
    lengths = np.array(data.draw(some.lists(some.integers(0, k), min_size=parts * rows, max_size=parts * rows)))
    ks = np.array(data.draw(some.lists(some.integers(0, k), min_size=rows, max_size=rows)))
    lengths = lengths.reshape(parts, rows)
    chosen = np.zeros(matrix.shape, bool)
    for part, row in np.ndindex(parts, rows):
        kept = indices[part, row, :lengths[part, row]]
        chosen[row, kept[kept >= 0]] = True
    wanted = oracle.select(matrix, ks, matrix.dtype, k_max=k, chosen=chosen)
    assert all_same(merge(values, indices, ks, lengths=lengths, k_max=k), wanted)


def test_shapes_and_layouts():
    x = np.random.default_rng(1).integers(0, 50, (3, 4, few(60, 12))).astype(np.int16)
    values, indices = (np.stack(parts, -1) for parts in zip(*(
        topk(x[..., part::2], 5, index_base=part * 100) for part in range(2))))
    values, indices = np.moveaxis(values, -1, 0), np.moveaxis(indices, -1, 0)  # no list is contiguous
    assert all_same(merge(values, indices, 5),
                    merge(np.ascontiguousarray(values), np.ascontiguousarray(indices), 5, lists_sorted=True))
    out = np.empty((3, 4, 7), np.int16), np.empty((3, 4, 7), np.int64)
    workspace = np.empty(workspace_size("merge", values, 7), np.uint8)
    assert merge(values, indices, 7, out=out, workspace=workspace)[0] is out[0]
    assert all_same(out, merge(values, indices, 7))
    gaps = np.empty((3, 4, 14), np.int64)[..., ::2]
    assert all_same(merge(values, indices, 7, out=(out[0], gaps)), merge(values, indices, 7))
    both = np.zeros((2, 4, 14), np.int64)
    with pytest.raises(ValueError, match="share memory"):
        merge(both, np.tile(np.arange(14), (2, 4, 1)), 7, out=(np.empty((4, 7), np.int64), both[1, :, ::2]))
    none = merge(values[:0], indices[:0], 2)
    assert none.indices.shape == (3, 4, 2) and (none.indices == -1).all() and (none.values == -2**15).all()
    one = merge(values[:, 0, 0], indices[:, 0, 0], 3)  # a single row
    assert one.values.shape == (3,) and all_same(one, merge(values, indices, 3)[0:0] or tuple(
        part[0, 0] for part in merge(values, indices, 3)))


@given(problems(), choices, some.sampled_from(["bool", "int8", "uint16", "float32", "int64", "pair"]))
def test_a_payload_travels_along(problem, choice, kind):
    """The number of each element in the matrix, in as many bytes as the type has."""
    matrix, k = problem
    values, indices = lists_of(matrix, k, 3, **choice)
    numbers = (indices * 7 + np.arange(len(matrix))[:, None] * 1000 + 1).astype("int64" if kind == "pair" else kind)
    payload = np.stack([numbers, -numbers], -1) if kind == "pair" else numbers
    found = merge(values, indices, k, payload=payload, lists_sorted=True, **choice)
    assert isinstance(found, libtopk.Merged) and all_same(found[:2], merge(values, indices, k, **choice))
    wanted = (found.indices * 7 + np.arange(len(matrix))[:, None] * 1000 + 1).astype(numbers.dtype)
    wanted[found.indices < 0] = 0
    assert np.array_equal(found.payload, np.stack([wanted, -wanted], -1) if kind == "pair" else wanted)
    assert found.payload.dtype == payload.dtype
    out = tuple(np.empty_like(part) for part in found)
    assert merge(values, indices, k, payload=np.asfortranarray(payload), out=out, **choice)[2] is out[2]
    assert all_same(out, found)


def test_expanded_lists():
    values = np.broadcast_to(np.float32(2), (3, 1, 4))
    indices = np.arange(12).reshape(3, 1, 4)[::-1].copy()
    assert merge(values, indices, 5).indices.tolist() == [[0, 1, 2, 3, 4]]


def test_a_bad_index_breaks_its_row():
    values, indices = np.ones((1, 2, 3), np.float32), np.arange(6).reshape(1, 2, 3)
    indices[0, 1, 2] = -3
    assert merge(values, indices, 2).indices.tolist() == [[0, 1], [-2, -2]]


@pytest.mark.parametrize("exception, words, change", (
    (TypeError, "int32 or int64", {"indices": np.zeros((2, 3), np.int16)}),
    (ValueError, "not of the shape of values", {"indices": np.zeros((2, 2), np.int64)}),
    (ValueError, "need one of lists", {"values": np.zeros(3, np.float32), "indices": np.zeros(3, np.int64)}),
    (ValueError, "lengths has", {"lengths": [1]}),
    (TypeError, "k is needed", {"k": None}),
    (TypeError, "no option 'index_base'", {"index_base": 3}),
    (TypeError, "not of type int32", {"index_dtype": "int32"}),
    (ValueError, "shape of values, but for", {"payload": np.zeros((2, 2), np.int8)}),
    (ValueError, "1, 2, 4, 8 or 16 bytes", {"payload": np.zeros((2, 3, 3), np.int8)}),
    (ValueError, "1, 2, 4, 8 or 16 bytes", {"payload": np.zeros((2, 3, 0), np.int8)}),
    (ValueError, "1, 2, 4, 8 or 16 bytes", {"payload": np.zeros((2, 3, 4), np.float64)}),
    (TypeError, "complex", {"payload": np.zeros((2, 3), complex)}),
    (ValueError, "out has 2 arrays, where there are 3", {"payload": np.zeros((2, 3), bool),
                                                         "out": (np.zeros(1, np.float32), np.zeros(1, int))}),
    (ValueError, "of the payload given", {"payload": np.zeros((2, 3), bool), "out": (None, None, np.zeros(1))}),
))
def test_errors(exception, words, change):
    arguments = {"values": np.zeros((2, 3), np.float32), "indices": np.arange(6).reshape(2, 3), "k": 1, **change}
    with pytest.raises(exception, match=words):
        merge(arguments.pop("values"), arguments.pop("indices"), arguments.pop("k"), **arguments)
