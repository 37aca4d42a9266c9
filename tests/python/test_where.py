# SPDX-License-Identifier: Apache-2.0
"""Properties of where(), with Python's exact comparisons of integers and floats."""
from decimal import Decimal
from fractions import Fraction

import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

import oracle
from backend import argwhere, count, mask, where
from oracle import OPERATORS, all_same
from strategies import matrices

COMPLEMENTS = {"gt": "le", "ge": "lt", "eq": "ne"}

numbers = some.one_of(some.floats(), some.integers(-2**63, 2**64 - 1))


@some.composite
def bounded(draw):
    """(matrix, a bound that is any number, an element, or next to one)."""
    matrix = draw(matrices())
    element = draw(some.sampled_from(matrix.ravel().tolist()))
    near = float(np.nextafter(np.float64(element), draw(some.sampled_from([-np.inf, np.inf]))))
    return matrix, draw(some.one_of(numbers, some.just(element), some.just(near)))


def wanted_of(matrix, kind, bound):
    return oracle.where(matrix, oracle.meets(matrix, kind, bound), matrix.dtype)


@given(bounded(), some.sampled_from([kind for kind in OPERATORS if kind != "between"]))
def test_compares_as_python_does(problem, kind):
    matrix, bound = problem
    assert all_same(where(matrix, **{kind: bound}), wanted_of(matrix, kind, bound))


@given(bounded(), numbers)
def test_between(problem, high):
    matrix, low = problem
    assert all_same(where(matrix, between=(low, high)), wanted_of(matrix, "between", (low, high)))


@given(bounded(), some.sampled_from(list(COMPLEMENTS)))
def test_predicate_and_complement_partition_the_numbers(problem, kind):
    matrix, bound = problem
    _, indices, offsets = where(matrix, **{kind: bound})
    _, others, other_offsets = where(matrix, **{COMPLEMENTS[kind]: bound})
    for r, row in enumerate(matrix):
        together = [*indices[offsets[r]:offsets[r + 1]], *others[other_offsets[r]:other_offsets[r + 1]]]
        comparable = row.size if kind == "eq" else 0 if bound != bound else sum(x == x for x in row.tolist())
        assert len(together) == len(set(together)) == comparable


@given(bounded(), some.floats(0, 2))
def test_capacity_bounds_what_is_written_not_what_is_counted(problem, share):
    matrix, bound = problem
    values, indices, offsets = wanted_of(matrix, "ge", bound)
    capacity = int(share * len(values))
    found = where(matrix, ge=bound, capacity=capacity)
    assert found.values.shape == found.indices.shape == (capacity,)
    assert all_same((*(array[:len(values)] for array in found[:2]), found.offsets),
                    (values[:capacity], indices[:capacity], offsets))


EXACT = [  # (element type, element, comparison that is true, bound)
    ("int32", 3, "gt", 2.5), ("int32", 3, "ne", 2.5), ("uint8", 255, "le", 300), ("uint8", 0, "gt", -1),
    ("float32", np.float32(0.1), "ne", 0.1), ("float32", np.float32(0.1), "gt", 0.1), ("float32", 0.5, "eq", 0.5),
    ("float64", 2.0**63, "eq", 2**63), ("float64", 2.0**63, "gt", 2**63 - 1), ("float64", 2.0**53, "lt", 2**53 + 1),
    ("uint64", 2**64 - 1, "lt", 2.0**64), ("uint64", 2**64 - 1, "eq", 2**64 - 1), ("uint64", 2**63, "eq", 2.0**63),
    ("int64", -2**63, "eq", -2.0**63), ("int64", 2**63 - 1, "lt", 2.0**63), ("int64", 2**62 + 1, "gt", 2.0**62),
    ("int64", 5, "gt", -np.inf), ("float32", np.inf, "gt", 2**64 - 1), ("float32", np.nan, "ne", np.nan),
    ("float16", 65504, "lt", 65505), ("float32", -0.0, "eq", 0), ("float32", 1e-45, "gt", 0),
    ("float32", 2.5, "eq", np.array(2.5)), ("uint64", 2**63, "eq", np.array(2**63, np.uint64)),
    ("float32", 2.0, "eq", np.float32(2)), ("float32", 2.0, "eq", np.int8(2)), ("float32", 1.0, "eq", True),
]


@pytest.mark.parametrize("dtype, element, kind, bound", EXACT)
def test_bounds_are_the_numbers_that_they_are(dtype, element, kind, bound):
    x = np.array([element], dtype)
    opposite = {"gt": "le", "le": "gt", "lt": "ge", "ge": "lt", "eq": "ne", "ne": "eq"}[kind]
    assert count(x, **{kind: bound}) == 1 and count(x, **{opposite: bound}) == 0


@pytest.mark.parametrize("shape, dim", [((0,), 0), ((1,), 0), ((100,), 0), ((3, 40), -1), ((3, 40), 0), ((2, 3, 9), 1),
                                        ((3, 0), 1), ((0, 3), 1)])
def test_truth_values_choose_the_true_ones(shape, dim):
    for share in (0, 0.4, 1):
        truths = np.random.default_rng(len(shape)).random(shape) < share
        rows = oracle.rows_of(truths, dim)
        wanted = oracle.where(rows, rows, bool)
        found = where(truths, dim)
        assert all_same(found, wanted) and found.values.dtype == bool
        assert all_same(argwhere(truths, dim), wanted[1:])
        np.testing.assert_array_equal(count(truths, dim), truths.sum(dim))
        np.testing.assert_array_equal(count(truths, dim, eq=False), (~truths).sum(dim))
        np.testing.assert_array_equal(count(truths, dim, mask=~truths), (~truths).sum(dim))
        np.testing.assert_array_equal(mask(truths, dim), np.packbits(rows, bitorder="little"))


def test_truth_values_of_strided_and_expanded_arrays():
    truths = np.random.default_rng(3).random((4, 200)) < 0.5
    for array in (truths[:, ::3], truths.T, truths[::-1], np.broadcast_to(truths[:1], (5, 200)),
                  np.broadcast_to(truths[:, :1], (4, 300))):
        np.testing.assert_array_equal(count(array), array.sum(-1))
        for found, row in zip(np.split(argwhere(array)[0], argwhere(array)[1][1:-1]), array):
            np.testing.assert_array_equal(found, np.flatnonzero(row))


def test_truth_values_go_where_they_are_told():
    truths = np.array([True, False, True, True])
    out = np.zeros(2, bool), np.zeros(2, np.int64), np.zeros(2, np.int64)
    where(truths, out=out)
    assert out[0].all() and out[1].tolist() == [0, 2] and out[2].tolist() == [0, 3]
    with pytest.raises(ValueError, match="of type of x"):
        where(truths, out=(np.zeros(2, np.uint8), *out[1:]))


@pytest.mark.parametrize("bound", [Fraction(1, 4), Decimal("0.25"), np.longdouble(0.25), np.float32(0.25)])
def test_bounds_of_any_type_are_exact(bound):
    assert count(np.array([0.0, 0.25, 0.75, 1.0]), gt=bound) == 2


@pytest.mark.parametrize("bound", [Fraction(1, 3), Decimal("0.1"), np.longdouble(1) + np.finfo(np.longdouble).eps])
def test_bounds_that_no_double_is_are_refused(bound):
    with pytest.raises(ValueError, match="is no number that"):
        count(np.zeros(3), gt=bound)
