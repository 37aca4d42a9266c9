# SPDX-License-Identifier: Apache-2.0
"""Arrays of any dimensions, along any of them, however they lie in memory."""
import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

import oracle
from backend import argtopk, count, kth, mask, select_where, topk, where
from oracle import all_same, rows_of, same, shaped_like
from strategies import LAYOUTS, choices, tensors

ks = some.integers(0, 8)


def type_of(array):
    return array.dtype.newbyteorder("=")


def wanted_of(array, k, dim, **options):
    return shaped_like(array, dim, *oracle.select(rows_of(array, dim), k, type_of(array), **options))


@given(tensors(), ks, choices)
def test_topk(problem, k, choice):
    array, dim = problem
    before = array.copy()
    results = topk(array, k, dim=dim, **choice)
    assert all_same(results, wanted_of(array, k, dim, **choice))
    assert same(argtopk(array, k, dim=dim, **choice), results.indices)
    assert same(array, before)


@given(tensors(), ks, choices)
def test_kth(problem, k, choice):
    array, dim = problem
    before = array.copy()
    ranked = [oracle.kth(row, k, **choice) for row in rows_of(array, dim)]
    types = type_of(array), np.int64, np.int64
    wanted = shaped_like(array, dim, *(np.array([row[i] for row in ranked], dtype) for i, dtype in enumerate(types)))
    assert all_same(kth(array, k, dim=dim, **choice), wanted)
    assert same(array, before)


@given(tensors(), tensors(), ks, choices, some.integers(-3, 3))
def test_predicates(problem, other, k, choice, bound):
    array, dim = problem
    dtype, rows = type_of(array), rows_of(array, dim)
    flags = np.resize(other[0].astype(bool), array.shape) if other[0].size else np.ones(array.shape, bool)
    matches = oracle.meets(array, "ge", bound)
    for predicate, chosen in (({"ge": bound}, matches), ({"mask": flags}, flags)):
        chosen = rows_of(chosen, dim)
        assert all_same(where(array, dim, **predicate), oracle.where(rows, chosen, dtype))
        counts = count(array, dim, **predicate)
        assert all_same([counts], shaped_like(array, dim, chosen.sum(axis=1, dtype=np.int64)))
        bits = mask(array, dim, **predicate)
        assert same(bits, np.packbits(chosen, bitorder="little"))
        assert same(count(array, dim, bits=bits), counts)
        assert all_same(select_where(array, k, dim=dim, **predicate, **choice),
                        wanted_of(array, k, dim, chosen=chosen, **choice))


@given(tensors(), some.sampled_from(LAYOUTS), some.sampled_from(["int32", "int64"]), ks, choices)
def test_payload_lies_as_it_likes(problem, layout, index_dtype, k, choice):
    array, dim = problem
    payload = layout(np.arange(-7, array.size - 7, dtype=index_dtype).reshape(array.shape))
    values, indices = wanted_of(array, k, dim, payload=rows_of(payload, dim), **choice)
    results = topk(array, k, dim=dim, indices=payload, index_dtype=index_dtype, **choice)
    assert all_same(results, (values, indices.astype(index_dtype)))
    some_rows, some_payload = rows_of(array, dim), rows_of(payload, dim)
    found = where(array, dim, ne=0, indices=payload, index_dtype=index_dtype).indices
    assert same(found, some_payload[some_rows != 0])


def test_windows_share_their_elements():
    x = np.random.default_rng(1).normal(size=50).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(x, 7)
    assert all_same(topk(windows, 3), oracle.select(windows, 3, x.dtype))
    assert all_same(topk(windows, 3, dim=0), wanted_of(windows, 3, 0))
    matches = windows > 0
    assert same(mask(windows, gt=0), np.packbits(matches, bitorder="little"))


@pytest.mark.parametrize("dim", [-3, 2, 2**40])
def test_dim_is_one_of_the_array(dim):
    with pytest.raises(IndexError, match=f"dim is {dim}, outside"):
        topk(np.zeros((2, 3)), 1, dim=dim)


@pytest.mark.parametrize("dims", [32, 20])
def test_many_dimensions(dims):
    x = np.arange(12.0).reshape(*[1] * (dims - 2), 3, 4)
    assert all_same(topk(x, 2), wanted_of(x, 2, -1))
    assert all_same(topk(x, 2, dim=0), wanted_of(x, 2, 0))
