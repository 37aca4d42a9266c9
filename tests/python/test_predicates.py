# SPDX-License-Identifier: Apache-2.0
"""Properties that the functions with a predicate have in common."""
import hypothesis.strategies as some
import numpy as np
from hypothesis import given

import oracle
from backend import ON_GPU, count, kth, mask, select_where, topk, where
from oracle import OPERATORS, all_same, same
from strategies import choices, matrices


@some.composite
def filtered(draw):
    """(matrix, a predicate as options, which elements meet it); bounds are elements or any numbers."""
    matrix = draw(matrices())
    bounds = some.one_of(some.sampled_from(matrix.ravel().tolist()), some.floats())
    kind = draw(some.sampled_from([*OPERATORS, "mask", "bytes"]))
    if kind in OPERATORS:
        bound = draw(some.tuples(bounds, bounds) if kind == "between" else bounds)
        return matrix, {kind: bound}, oracle.meets(matrix, kind, bound)
    bytes_ = np.random.default_rng(draw(some.integers(0, 99))).integers(0, draw(some.sampled_from([2, 256])),
                                                                        matrix.shape, np.uint8)
    return matrix, {"mask": bytes_ if kind == "bytes" else bytes_ != 0}, bytes_ != 0


@given(filtered())
def test_count_mask_and_where_agree(problem):
    matrix, predicate, matches = problem
    assert all_same(where(matrix, **predicate), oracle.where(matrix, matches, matrix.dtype))
    assert same(count(matrix, **predicate), matches.sum(axis=1))
    assert same(mask(matrix, **predicate), np.packbits(matches, bitorder="little"))


@given(filtered(), some.integers(1, 50), choices)
def test_bits_stand_for_their_predicate(problem, k, choice):
    matrix, predicate, _ = problem
    bits = mask(matrix, **predicate)
    assert same(mask(matrix, bits=bits), bits)
    assert same(mask(matrix, bits=np.repeat(bits, 2)[::2]), bits)
    assert same(count(matrix, bits=bits), count(matrix, **predicate))
    assert all_same(where(matrix, bits=bits), where(matrix, **predicate))
    assert all_same(select_where(matrix, k, bits=bits, **choice), select_where(matrix, k, **predicate, **choice))


@given(filtered(), some.integers(1, 250), choices)
def test_selects_as_from_the_matches_alone(problem, k, choice):
    matrix, predicate, _ = problem
    values, indices = select_where(matrix, k, **predicate, **choice)
    matched, positions, offsets = where(matrix, **predicate)
    for r in range(len(matrix)):
        row = slice(offsets[r], offsets[r + 1])
        best = topk(matched[row], k, **choice)
        assert same(values[r], best.values)
        assert np.array_equal(indices[r], [positions[row][slot] if slot >= 0 else -1 for slot in best.indices])


@given(filtered(), some.integers(0, 60), choices)
def test_finds_the_kth_of_the_matches_alone(problem, k, choice):
    matrix, predicate, matches = problem
    found = kth(matrix, k, **predicate, **choice)
    wanted = [oracle.kth(row[chosen], k, **choice) for row, chosen in zip(matrix, matches)]
    types = matrix.dtype, np.int64, np.int64
    assert all_same(found, [np.array([row[i] for row in wanted], dtype) for i, dtype in enumerate(types)])
    assert all_same(kth(matrix, k, bits=mask(matrix, **predicate), **choice), found)


@given(matrices(), some.integers(1, 60), choices)
def test_at_least_the_kth_are_all_that_tie_with_it(matrix, k, choice):
    found = kth(matrix, min(k, matrix.shape[1]), **choice)
    thresholds = found.kth[:1] if ON_GPU else found.kth
    if ON_GPU and choice == {"largest": True, "magnitude": True, "nan": "last"} and matrix.dtype.kind == "f":
        return
    wanted = oracle.at_least(matrix, thresholds, **choice)
    given_ = {"at_least": thresholds, **choice}
    assert same(count(matrix, **given_), wanted.sum(axis=1))
    assert same(mask(matrix, **given_), np.packbits(wanted, bitorder="little"))
    assert all_same(where(matrix, **given_), oracle.where(matrix, wanted, matrix.dtype))
    assert all_same(select_where(matrix, k, **given_), oracle.select(matrix, k, matrix.dtype, chosen=wanted, **choice))
    assert ON_GPU or same(count(matrix, **given_), found.better + found.equal)


@given(filtered(), some.integers(1, 20), choices)
def test_agrees_with_numpy(problem, k, choice):
    matrix, predicate, matches = problem
    wanted = oracle.select(matrix, k, matrix.dtype, chosen=matches, **choice)
    assert all_same(select_where(matrix, k, **predicate, **choice), wanted)
