# SPDX-License-Identifier: Apache-2.0
"""Rows that are cut by lengths, or from one array by offsets, or begins and ends; k of each row; and positions."""
import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

import oracle
from backend import argtopk, count, kth, mask, select_where, topk, where
from oracle import all_same, rows_of, same, shaped_like
from strategies import choices, extents, matrices, tensors


@some.composite
def ragged(draw):
    """(an array, its rows as options, where each row begins, where each ends)"""
    array = draw(matrices(columns=40))[0]
    count_ = draw(some.integers(0, 5))
    reach = extents(count_, -5, min(array.size + 20, 30000))
    if draw(some.booleans()):
        begins, ends = draw(reach), draw(reach)
        options = {"begins": begins, "ends": ends}
    else:
        offsets = draw(extents(count_ + 1, -5, min(array.size + 20, 30000)))
        begins, ends = offsets[:-1], offsets[1:]
        options = {"offsets": offsets}
    begins, ends = (np.clip(np.array(some_, np.int64), 0, array.size) for some_ in (begins, ends))
    return array, options, begins, np.maximum(begins, ends)


def cut(array, begins, ends):
    return [array[begin:end] for begin, end in zip(begins, ends)]


@given(tensors(), some.data(), some.integers(0, 8), choices)
def test_lengths(problem, data, k, choice):
    array, dim = problem
    rows = rows_of(array, dim)
    lengths = data.draw(extents(len(rows), -3, 12))
    cut_rows = [row[:max(0, length)] for row, length in zip(rows, lengths)]
    wanted = shaped_like(array, dim, *oracle.select(cut_rows, k, rows.dtype, **choice))
    assert all_same(topk(array, k, dim=dim, lengths=lengths, **choice), wanted)
    inside = np.arange(rows.shape[1]) < np.reshape(np.array(lengths, np.int64), (-1, 1))
    assert same(count(array, dim, ne=0, lengths=lengths).ravel(), (inside & (rows != 0)).sum(axis=1))
    assert same(mask(array, dim, ne=0, lengths=lengths), np.packbits(inside & (rows != 0), bitorder="little"))


@given(tensors(), some.integers(0, 8), some.integers(0, 8), choices)
def test_length_max_cuts_all_rows(problem, length_max, k, choice):
    array, dim = problem
    rows = rows_of(array, dim)
    wanted = shaped_like(array, dim, *oracle.select(rows[:, :length_max], k, rows.dtype, **choice))
    assert all_same(topk(array, k, dim=dim, length_max=length_max, **choice), wanted)


@given(ragged(), some.integers(0, 50), choices, some.integers(-2, 2))
def test_ragged_rows(problem, k, choice, bound):
    array, options, begins, ends = problem
    rows = cut(array, begins, ends)
    matches = oracle.meets(array, "ge", bound)
    chosen = cut(matches, begins, ends)
    assert all_same(topk(array, k, **options, **choice), oracle.select(rows, k, array.dtype, **choice))
    assert all_same(select_where(array, k, ge=bound, **options, **choice),
                    oracle.select(rows, k, array.dtype, chosen=chosen, **choice))
    wanted = oracle.where(rows, chosen, array.dtype)
    assert all_same(where(array, ge=bound, **options), wanted)
    assert all_same(where(array, mask=matches, **options), wanted)
    assert np.array_equal(count(array, ge=bound, **options), np.diff(wanted[2]))
    ranked = [oracle.kth(row, k, **choice) for row in rows]
    assert np.array_equal(kth(array, k, **options, **choice).better, [row[1] for row in ranked])
    inside = np.zeros(array.size, bool)
    for begin, end in zip(begins, ends):
        inside[begin:end] = True
    bits = mask(array, ge=bound, **options)
    assert same(bits, np.packbits(inside & matches, bitorder="little"))
    assert all_same(where(array, bits=bits, **options), wanted)


@given(ragged(), some.integers(0, 9), some.integers(0, 30))
def test_ragged_rows_are_cut_and_carry_payload(problem, k, length_max):
    array, options, begins, ends = problem
    ends = np.minimum(ends, begins + length_max)
    payload = np.arange(array.size)[::-1].copy()
    wanted = oracle.select(cut(array, begins, ends), k, array.dtype, payload=cut(payload, begins, ends))
    assert all_same(topk(array, k, length_max=length_max, indices=payload, **options), wanted)


@given(tensors(), some.data(), some.one_of(some.none(), some.integers(0, 9)), choices)
def test_k_of_each_row(problem, data, k_max, choice):
    array, dim = problem
    rows = rows_of(array, dim)
    k = data.draw(extents(len(rows), -2, 9))
    wanted = shaped_like(array, dim, *oracle.select(rows, k, rows.dtype, k_max=k_max, **choice))
    results = topk(array, k, dim=dim, k_max=k_max, **choice)
    assert all_same(results, wanted)
    ranked = [oracle.kth(row, np.clip(each, 0, k_max), **choice) for row, each in zip(rows, k)]
    assert np.array_equal(kth(array, k, dim=dim, k_max=k_max, **choice).equal.ravel(), [row[2] for row in ranked])


@given(tensors(), some.integers(0, 8), some.sampled_from(["int32", "int64"]), some.integers(0, 2**31 - 10))
def test_index_base_is_added_to_positions(problem, k, index_dtype, base):
    array, dim = problem
    positions = argtopk(array, k, dim=dim)
    wanted = np.where(positions < 0, -1, positions + base).astype(index_dtype)
    assert same(argtopk(array, k, dim=dim, index_base=base, index_dtype=index_dtype), wanted)
    found = where(array, dim, ne=0, index_base=base, index_dtype=index_dtype).indices
    assert same(found, (where(array, dim, ne=0).indices + base).astype(index_dtype))


@pytest.mark.parametrize("lengths", [np.array([2**64 - 1, 2**63, 2], np.uint64), [2**62, 2**40, 2],
                                     np.array([[4], [4], [2]], np.int32), (9, 9, 2)])
def test_extents_beyond_the_end_are_cut(lengths):
    x = np.ones((3, 4))
    assert count(x, gt=0, lengths=lengths).tolist() == [4, 4, 2]
    assert kth(x, 1, lengths=lengths).equal.tolist() == [4, 4, 2]
    assert topk(x, lengths, k_max=4).indices.min(axis=1).tolist() == [0, 0, -1]


@pytest.mark.parametrize("offsets", [[0], np.zeros(1, np.int32)])
def test_no_rows_at_all(offsets):
    x = np.arange(20.0)
    assert topk(x, 3, offsets=offsets).values.shape == (0, 3)
    assert where(x, gt=1, offsets=offsets).offsets.tolist() == [0]
    assert not mask(x, gt=1, offsets=offsets).any() and mask(x, mask=x > 1, begins=[], ends=[]).size == 3
