# SPDX-License-Identifier: Apache-2.0
"""Properties of topk() and kth(), and what numpy says."""
import hypothesis.strategies as some
import numpy as np
from hypothesis import assume, given

import oracle
from backend import METHODS, argtopk, kth, topk
from oracle import all_same, ranks, same
from strategies import FLOATS, INTEGERS, choices, matrices, problems


@given(problems(), choices)
def test_agrees_with_numpy(problem, choice):
    matrix, k = problem
    results = topk(matrix, k, **choice)
    assert all_same(results, oracle.select(matrix, k, matrix.dtype, **choice))
    assert same(argtopk(matrix, k, **choice), results.indices)


@given(problems(), choices, some.sampled_from(METHODS))
def test_methods_agree(problem, choice, method):
    matrix, k = problem
    assert all_same(topk(matrix, k, **choice), topk(matrix, k, method=method, **choice))


@given(problems(), choices)
def test_any_order_frees_the_order_alone(problem, choice):
    matrix, k = problem
    values, indices = topk(matrix, k, sorted=False, **choice)
    wanted = topk(matrix, k, **choice)
    assert np.array_equal(np.sort(indices, axis=1), np.sort(wanted.indices, axis=1))
    padded = np.pad(matrix, ((0, 0), (0, 1)), constant_values=oracle.padding(matrix.dtype, choice["largest"]))
    assert same(values, np.take_along_axis(padded, indices, axis=1))


@given(problems(), choices, some.sampled_from(["lowest", "any"]))
def test_by_position(problem, choice, ties):
    matrix, k = problem
    values, indices = topk(matrix, k, order="position", ties=ties, **choice)
    best = topk(matrix, k, **choice)
    for row, row_values, row_indices in zip(matrix, values, indices):
        taken = row_indices[row_indices >= 0]
        assert len(taken) == min(k, matrix.shape[1]) and np.all(row_indices[:len(taken)] == taken)
        assert np.all(taken[1:] > taken[:-1]) and same(row_values[:len(taken)], row[taken])
    if ties == "lowest":
        assert np.array_equal(np.sort(indices, axis=1), np.sort(best.indices, axis=1))
    assert all_same(topk(matrix, k, sorted=False, order="best", **choice), best)


@given(problems(), choices, some.booleans())
def test_free_ties_are_those_with_the_kth(problem, choice, sort):
    matrix, k = problem
    assume(k <= matrix.shape[1])
    values, indices = topk(matrix, k, sorted=sort, ties="any", **choice)
    for row, row_values, row_indices in zip(matrix, values, indices):
        rank = ranks(row, **choice)
        assert len(set(row_indices)) == k and same(row_values, row[row_indices])
        assert np.array_equal(np.sort(rank[row_indices]), np.sort(rank)[:k])
        in_order = np.lexsort((row_indices, rank[row_indices]))
        assert not sort or np.array_equal(in_order, np.arange(k))


@given(problems(), choices, some.randoms(use_true_random=False))
def test_order_of_the_input_does_not_matter(problem, choice, random):
    matrix, k = problem
    shuffled = list(range(matrix.shape[1]))
    random.shuffle(shuffled)
    assert all_same(kth(matrix, k, **choice), kth(matrix[:, shuffled], k, **choice))


@given(problems(), some.integers(0, 200), choices)
def test_best_of_a_concatenation_are_among_the_best_of_its_parts(problem, cut, choice):
    matrix, k = problem
    assume(0 < cut < matrix.shape[1] and k <= min(cut, matrix.shape[1] - cut))
    left, right = topk(matrix[:, :cut], k, **choice), topk(matrix[:, cut:], k, **choice)
    candidates = np.concatenate([left.values, right.values], axis=1)
    positions = np.concatenate([left.indices, right.indices + cut], axis=1)
    values, slots = topk(candidates, k, **choice)
    assert all_same((values, np.take_along_axis(positions, slots, axis=1)), topk(matrix, k, **choice))


@given(problems(FLOATS), some.booleans())
def test_largest_of_the_negated_are_the_smallest(problem, largest):
    matrix, k = problem
    assert same(argtopk(matrix, k, largest, nan="last"), argtopk(-matrix, k, not largest, nan="last"))


@given(problems(INTEGERS), some.booleans())
def test_complement_reverses_integers(problem, largest):
    matrix, k = problem
    assert same(argtopk(matrix, k, largest), argtopk(~matrix, k, not largest))


@given(problems(["float16", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32"]), some.booleans())
def test_wider_type_makes_no_difference(problem, largest):
    matrix, k = problem
    assert same(argtopk(matrix, k, largest), argtopk(matrix.astype(np.float64), k, largest))


@given(matrices(), choices)
def test_first_results_do_not_depend_on_k(matrix, choice):
    n = matrix.shape[1]
    everything = argtopk(matrix, n, **choice)
    assert np.array_equal(np.sort(everything, axis=1), np.tile(np.arange(n), (matrix.shape[0], 1)))
    for k in {1, (n + 1) // 2, n - 1} - {0}:
        assert same(argtopk(matrix, k, **choice), everything[:, :k])


@given(problems(), choices)
def test_kth_is_the_last_of_topk(problem, choice):
    matrix, k = problem
    assume(k <= matrix.shape[1])
    values = topk(matrix, k, **choice).values
    common, better, equal = kth(matrix, k, **choice)
    for r, row in enumerate(matrix):
        rank = ranks(row, **choice)
        of_kth = np.sort(rank)[k - 1]
        assert better[r] == (rank < of_kth).sum() and equal[r] == (rank == of_kth).sum()
        last = values[r, k - 1]
        with np.errstate(over="ignore"):  # the magnitude of the least integer is itself
            wanted = np.abs(last) if choice["magnitude"] else last
        assert common[r] == wanted or (common[r] != common[r] and last != last)
