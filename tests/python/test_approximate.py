# SPDX-License-Identifier: Apache-2.0
"""max_iterations, epsilon and epsilon_relative, as section 2.5 of the contract describes them."""
import hypothesis.strategies as some
import numpy as np
from hypothesis import given

import oracle
from backend import argtopk, topk
from oracle import all_same, same
from strategies import FLOATS, choices, matrices

problems = some.tuples(matrices(FLOATS, columns=60), some.integers(1, 64)).filter(lambda p: p[0].shape[1] <= 1024)


def sizes(row, largest=True, magnitude=False, nan=None):
    """The numbers that the search compares, in its precision: the greater the better."""
    wide = row.astype(np.float64 if row.dtype == np.float64 else np.float32)
    wide = np.abs(wide) if magnitude else wide
    return wide if largest else -wide


def bisected(row, k, iterations, **choice):
    """Positions that Algorithm 2 takes, in the order of positions."""
    size = sizes(row, **choice)
    finite = np.flatnonzero(np.isfinite(size))
    ranked = oracle.best(row, row.size, **choice)
    ahead = [p for p in ranked[:np.flatnonzero(np.isin(ranked, finite))[0] if len(finite) else 0]]
    needed = min(k, row.size) - len(ahead)
    if not 1 <= needed <= len(finite):
        return np.sort(ranked[:k])
    numbers = size[finite]
    low, high, half = numbers.min(), numbers.max(), numbers.dtype.type(0.5)
    for _ in range(iterations):
        with np.errstate(over="ignore"):
            middle = (low + high) * half
        middle = middle if np.isfinite(middle) else low * half + high * half
        if (numbers >= middle).sum() < needed:
            high = middle
        else:
            low = middle
    return np.sort([*ahead, *finite[numbers >= low][:needed]])


@given(problems, choices, some.one_of(some.integers(1, 12), some.just(250)))
def test_iterations_halve_the_range(problem, choice, iterations):
    matrix, k = problem
    values, indices = topk(matrix, k, max_iterations=iterations, **choice)
    in_order = argtopk(matrix, k, max_iterations=iterations, sorted=False, **choice)
    for row, row_values, row_indices, by_position in zip(matrix, values, indices, in_order):
        taken = bisected(row, k, iterations, **choice)
        assert np.array_equal(by_position[:taken.size], taken) and (by_position[taken.size:] == -1).all()
        rank = oracle.ranks(row, **choice)[taken]
        assert np.array_equal(row_indices[:taken.size], taken[np.lexsort((taken, rank))])
        assert same(row_values[:taken.size], row[row_indices[:taken.size]])


@given(some.permutations(range(50)), some.integers(1, 50), choices, some.sampled_from(FLOATS))
def test_enough_iterations_are_exact_for_distinct_numbers(order, k, choice, dtype):
    x = np.array(order, dtype)
    assert all_same(topk(x, k, max_iterations=64, **choice), topk(x, k, **choice))


@given(problems, choices, some.floats(0, 100), some.booleans())
def test_no_number_that_is_left_out_exceeds_a_result_by_more(problem, choice, epsilon, relative):
    matrix, k = problem
    values, indices = topk(matrix, k, **{"epsilon_relative" if relative else "epsilon": epsilon}, **choice)
    for row, row_indices in zip(matrix, indices):
        size = sizes(row, **choice)
        taken = row_indices[row_indices >= 0]
        assert len(set(taken)) == min(k, row.size)
        finite = np.isfinite(size)
        inside = finite & np.isin(np.arange(row.size), taken)
        if inside.any() and (finite & ~inside).any():
            width = size.dtype.type(epsilon)
            if relative:
                with np.errstate(over="ignore"):
                    width = width * np.abs(size[finite]).max()
            assert float(size[finite & ~inside].max()) - float(size[inside].min()) <= float(width)


@given(problems, choices)
def test_none_of_them_is_exact(problem, choice):
    matrix, k = problem
    assert all_same(topk(matrix, k, max_iterations=0, epsilon=0, epsilon_relative=None, **choice),
                    topk(matrix, k, **choice))
