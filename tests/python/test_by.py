# SPDX-License-Identifier: Apache-2.0
"""The k best of each group are what topk() says of the group's elements alone."""
import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

import libtopk
from backend import context, few, workspace_size
from oracle import all_same, best, padding
from strategies import LAYOUTS, choices, extents, matrices


def topk_by(*arguments, **options):
    return libtopk.topk_by(*arguments, context=context, **options)


def expected(x, groups, k, group_count, payload=None, order=None, **choice):
    ks = np.broadcast_to(np.asarray(k), group_count)
    values = np.full((group_count, max(ks, default=0) if np.ndim(k) else k), padding(x.dtype, choice.get("largest", True)),
                     x.dtype)
    indices, counts = np.full(values.shape, -1, np.int64), np.zeros(group_count, np.int64)
    for group in range(group_count):
        members = np.flatnonzero(np.asarray(groups) == group)
        found = members[best(x[members], ks[group], **choice)]
        found = np.sort(found) if order == "position" else found
        counts[group] = len(members)
        values[group, :len(found)] = x[found]
        indices[group, :len(found)] = found if payload is None else payload[found]
    return values, indices, counts


@given(matrices(columns=300), choices, some.sampled_from(["best", "position"]), some.integers(0, 12), some.data())
def test_against_a_filter_of_each_group(matrix, choice, order, k, data):
    x = matrix.reshape(-1)
    group_count = data.draw(some.integers(0, 9))
    some_groups = data.draw(extents(min(len(x), 40), -2, group_count + 1))
    groups = np.resize(some_groups, len(x)).astype(np.asarray(some_groups).dtype)
    wanted = expected(x, groups, k, group_count, order=order, **choice)
    assert all_same(topk_by(x, groups, k, group_count=group_count, order=order, **choice), wanted)


@given(some.sampled_from(LAYOUTS), some.integers(1, 400), some.sampled_from(["int8", "uint16", "int32", "int64", "uint64"]))
def test_layouts_and_types_of_groups(layout, length, dtype):
    random = np.random.default_rng(length)
    x, groups = random.integers(0, 50, length).astype(np.int16), random.integers(0, 5, length).astype(dtype)
    laid = layout(x)
    wanted = expected(np.ascontiguousarray(laid, np.int16), groups, 3, int(groups.max()) + 1)
    assert all_same(topk_by(laid, groups, 3), wanted)
    assert all_same(topk_by(laid, groups.tolist(), 3), wanted)


def test_k_of_each_group_and_payload():
    random = np.random.default_rng(3)
    x, groups = random.standard_normal(few(3000, 300)).astype(np.float32), random.integers(0, 4, few(3000, 300))
    payload, ks = random.permutation(len(x)), np.array([0, 5, 2, 9])
    assert all_same(topk_by(x, groups, ks, indices=payload), expected(x, groups, ks, 4, payload=payload))
    narrow = topk_by(x, groups.astype(np.int32), ks.astype(np.int32), index_dtype="int32", index_base=7)
    values, indices, counts = expected(x, groups, ks, 4)
    assert all_same(narrow, (values, np.where(indices < 0, -1, indices + 7).astype(np.int32), counts))


def test_many_groups():
    random, length, group_count = np.random.default_rng(4), few(20000, 700), few(3000, 120)
    x, groups = random.integers(-40, 40, length).astype(np.float64), random.integers(0, group_count, length)
    assert all_same(topk_by(x, groups, 4, group_count=group_count), expected(x, groups, 4, group_count))
    few_groups = groups // 50 * 50
    assert all_same(topk_by(x, few_groups, 4, group_count=group_count), expected(x, few_groups, 4, group_count))


def test_outputs():
    x, groups = np.arange(10.0), np.arange(10) % 3
    wanted = expected(x, groups, 2, 3)
    out = np.empty((3, 2)), np.empty((3, 2), np.int64), np.empty(3, np.int64)
    workspace = np.empty(workspace_size("topk_by", x, 2, groups=groups, group_count=3), np.uint8)
    found = topk_by(x, groups, 2, out=out, workspace=workspace)
    assert all(mine is yours for mine, yours in zip(found, out)) and all_same(found, wanted)
    gaps = np.empty((3, 4), np.int64)[:, ::2]
    assert all_same(topk_by(x, groups, 2, out=(None, gaps, None))[:2], (wanted[0], gaps))
    empty = topk_by(x[:0], groups[:0], 2)
    assert [each.shape for each in empty] == [(0, 2), (0, 2), (0,)]
    assert topk_by(x, groups - 9, 2).values.shape == (0, 2)  # all are left out
    assert "groups" in libtopk.explain("topk_by", libtopk.Shape((1000,), "float32"), 3, groups=libtopk.Shape((1000,), "int64"),
                                       group_count=10)


@pytest.mark.parametrize("error, message, call", [
    (ValueError, "^groups has 3 elements, where the elements of x are 4$", lambda: topk_by(np.ones(4), [0, 1, 2], 1)),
    (ValueError, "^k has 2 elements, where the groups are 3$", lambda: topk_by(np.ones(3), [0, 1, 2], np.array([1, 2]))),
    (ValueError, "^x has 2 dimensions; with groups it has one$", lambda: topk_by(np.ones((2, 2)), [0, 1], 1)),
    (ValueError, "^group_count is -1, and cannot be negative$", lambda: topk_by(np.ones(2), [0, 1], 1, group_count=-1)),
    (ValueError, "^indices is not of the shape of x$", lambda: topk_by(np.ones(2), [0, 1], 1, indices=np.ones(3, int))),
    (TypeError, "^groups must hold integers$", lambda: topk_by(np.ones(2), [0.5, 1.0], 1)),
    (TypeError, "'dim' here: rows lie along", lambda: topk_by(np.ones(2), [0, 1], 1, dim=0)),
    (TypeError, "'gt' here: use select_where", lambda: topk_by(np.ones(2), [0, 1], 1, gt=0)),
    (ValueError, "^x overlaps values$", lambda: topk_by(X := np.ones(4), [0, 1, 0, 1], 2, out=(X.reshape(2, 2), None, None)))])
def test_what_is_refused(error, message, call):
    with pytest.raises(error, match=message):
        call()
