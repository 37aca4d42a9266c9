# SPDX-License-Identifier: Apache-2.0
"""Properties of topk_where, with Python's exact comparisons of integers and floats."""
import operator

import hypothesis.strategies as some
import numpy as np
from hypothesis import given

import libtopk
from strategies import matrices
from test_select import same

OPERATORS = {"gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le, "eq": operator.eq,
             "ne": operator.ne}
COMPLEMENTS = {"gt": "le", "ge": "lt", "eq": "ne"}

numbers = some.one_of(some.floats(), some.integers(-2**63, 2**64 - 1))


@some.composite
def bounded(draw):
    """(matrix, a bound that is any number, an element, or next to one)."""
    matrix = draw(matrices())
    element = draw(some.sampled_from(matrix.ravel().tolist()))
    near = float(np.nextafter(np.float64(element), draw(some.sampled_from([-np.inf, np.inf]))))
    return matrix, draw(some.one_of(numbers, some.just(element), some.just(near)))


def check(matrix, result, matches):
    values, indices, offsets = result
    expected = [np.flatnonzero(row) for row in matches]
    assert np.array_equal(indices, np.concatenate(expected))
    assert np.array_equal(offsets, np.cumsum([0, *(len(row) for row in expected)]))
    assert same(values, matrix[matches])


@given(bounded(), some.sampled_from(list(OPERATORS)))
def test_compares_as_python_does(problem, kind):
    matrix, bound = problem
    matches = np.array([[OPERATORS[kind](x, bound) for x in row] for row in matrix.tolist()])
    check(matrix, libtopk.where(matrix, kind, bound), matches)


@given(bounded(), numbers)
def test_between(problem, high):
    matrix, low = problem
    matches = np.array([[low <= x <= high for x in row] for row in matrix.tolist()])
    check(matrix, libtopk.where(matrix, "between", low, high), matches)


@given(bounded(), some.sampled_from(list(COMPLEMENTS)))
def test_predicate_and_complement_partition_the_numbers(problem, kind):
    matrix, bound = problem
    _, indices, offsets = libtopk.where(matrix, kind, bound)
    _, others, other_offsets = libtopk.where(matrix, COMPLEMENTS[kind], bound)
    for r, row in enumerate(matrix):
        together = [*indices[offsets[r]:offsets[r + 1]], *others[other_offsets[r]:other_offsets[r + 1]]]
        comparable = row.size if kind == "eq" else 0 if bound != bound else sum(x == x for x in row.tolist())
        assert len(together) == len(set(together)) == comparable
