# SPDX-License-Identifier: Apache-2.0
"""Properties that the operations with a predicate have in common."""
import hypothesis.strategies as some
import numpy as np
from hypothesis import given

import libtopk
from strategies import matrices, options
from test_select import same


@some.composite
def filtered(draw):
    """(matrix, a comparison with one of its elements or any number)."""
    matrix = draw(matrices())
    bound = draw(some.one_of(some.sampled_from(matrix.ravel().tolist()), some.floats()))
    return matrix, libtopk.comparison(draw(some.sampled_from(["gt", "ge", "lt", "le", "eq", "ne"])), bound)


@given(filtered())
def test_count_and_mask_agree_with_where(problem):
    matrix, predicate = problem
    _, indices, offsets = libtopk.where_matches(matrix, predicate)
    matches = np.zeros(matrix.shape, bool)
    matches[np.repeat(np.arange(len(matrix)), np.diff(offsets)), indices] = True
    assert np.array_equal(libtopk.count(matrix, predicate), np.diff(offsets))
    assert np.array_equal(libtopk.mask(matrix, predicate), np.packbits(matches, bitorder="little"))


@given(filtered(), some.integers(1, 50), options)
def test_a_mask_stands_for_its_predicate(problem, k, choice):
    matrix, predicate = problem
    bits = libtopk.mask(matrix, predicate)
    again = libtopk.masked(bits)
    assert np.array_equal(libtopk.mask(matrix, again), bits)
    assert np.array_equal(libtopk.count(matrix, again), libtopk.count(matrix, predicate))
    values, indices = libtopk.select_where(matrix, k, predicate, **choice)
    masked_values, masked_indices = libtopk.select_where(matrix, k, again, **choice)
    assert np.array_equal(indices, masked_indices) and same(values, masked_values)


@given(filtered(), some.integers(1, 250), options)
def test_selects_as_from_the_matches_alone(problem, k, choice):
    matrix, predicate = problem
    values, indices = libtopk.select_where(matrix, k, predicate, **choice)
    matched, positions, offsets = libtopk.where_matches(matrix, predicate)
    for r in range(len(matrix)):
        row = slice(offsets[r], offsets[r + 1])
        if offsets[r] == offsets[r + 1]:
            assert (indices[r] == -1).all()
            continue
        expected, slots = libtopk.select(matched[np.newaxis, row], k, **choice)
        found = np.where(slots[0] < 0, -1, positions[row][slots[0]])
        assert np.array_equal(indices[r], found) and same(values[r], expected[0])
