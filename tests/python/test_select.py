# SPDX-License-Identifier: Apache-2.0
"""Properties of topk_select and topk_kth, and what numpy says."""
import hypothesis.strategies as some
import numpy as np
from hypothesis import assume, given

import libtopk
from strategies import FLOATS, INTEGERS, matrices, options, problems


def bits(array):
    return array.view(f"u{array.dtype.itemsize}")


def same(a, b):
    return np.array_equal(bits(a), bits(b))


def ranks(row, smallest, magnitude, nan_last):
    """A number for each element, the lower the better, equal for equals."""
    size = np.abs(row.astype(object) if row.dtype.kind in "iu" else row) if magnitude else row
    nan = np.array([x != x for x in row])
    numbers = sorted(set(x for x in size.tolist() if x == x), reverse=not smallest)
    rank = {x: r for r, x in enumerate(numbers)}
    of_nan = -1 if not smallest and not nan_last else len(numbers)
    return np.array([of_nan if is_nan else rank[x] for x, is_nan in zip(size.tolist(), nan)])


def ranking(row, choice):
    return np.lexsort((np.arange(row.size), ranks(row, **choice)))


@given(problems(), options)
def test_agrees_with_lexsort(problem, choice):
    matrix, k = problem
    values, indices = libtopk.select(matrix, k, **choice)
    for row, row_values, row_indices in zip(matrix, values, indices):
        best = ranking(row, choice)[:k]
        assert np.array_equal(row_indices[:best.size], best)
        assert same(row_values[:best.size], row[best])
        assert (row_indices[best.size:] == -1).all()


@given(problems(), options, some.sampled_from(["reference", "bracket"]))
def test_methods_agree(problem, choice, method):
    matrix, k = problem
    values, indices = libtopk.select(matrix, k, **choice)
    other_values, other_indices = libtopk.select(matrix, k, method=method, **choice)
    assert same(values, other_values) and np.array_equal(indices, other_indices)


@given(problems(), options, some.randoms(use_true_random=False))
def test_order_of_the_input_does_not_matter(problem, choice, random):
    matrix, k = problem
    shuffled = list(range(matrix.shape[1]))
    random.shuffle(shuffled)
    kth, better, equal = libtopk.kth(matrix, k, **choice)
    other_kth, other_better, other_equal = libtopk.kth(matrix[:, shuffled], k, **choice)
    assert same(kth, other_kth) and np.array_equal(better, other_better) and np.array_equal(equal, other_equal)


@given(problems(), some.integers(0, 200), options)
def test_best_of_a_concatenation_are_among_the_best_of_its_parts(problem, cut, choice):
    matrix, k = problem
    assume(0 < cut < matrix.shape[1] and k <= min(cut, matrix.shape[1] - cut))
    left, right = libtopk.select(matrix[:, :cut], k, **choice), libtopk.select(matrix[:, cut:], k, **choice)
    candidates = np.concatenate([left[0], right[0]], axis=1)
    positions = np.concatenate([left[1], right[1] + cut], axis=1)
    values, slots = libtopk.select(candidates, k, **choice)
    whole_values, whole_indices = libtopk.select(matrix, k, **choice)
    assert same(values, whole_values)
    assert np.array_equal(np.take_along_axis(positions, slots, axis=1), whole_indices)


@given(problems(FLOATS), some.booleans())
def test_largest_of_the_negated_are_the_smallest(problem, smallest):
    matrix, k = problem
    _, indices = libtopk.select(matrix, k, smallest=smallest, nan_last=True)
    _, negated = libtopk.select(-matrix, k, smallest=not smallest, nan_last=True)
    assert np.array_equal(indices, negated)


@given(problems(INTEGERS), some.booleans())
def test_complement_reverses_integers(problem, smallest):
    matrix, k = problem
    _, indices = libtopk.select(matrix, k, smallest=smallest)
    _, complement = libtopk.select(~matrix, k, smallest=not smallest)
    assert np.array_equal(indices, complement)


@given(problems(["float16", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32"]), some.booleans())
def test_wider_type_makes_no_difference(problem, smallest):
    matrix, k = problem
    wider = matrix.astype(np.float64)
    _, indices = libtopk.select(matrix, k, smallest=smallest)
    _, of_wider = libtopk.select(wider, k, smallest=smallest)
    assert np.array_equal(indices, of_wider)


@given(matrices(), options)
def test_first_results_do_not_depend_on_k(matrix, choice):
    n = matrix.shape[1]
    _, everything = libtopk.select(matrix, n, **choice)
    assert np.array_equal(np.sort(everything, axis=1), np.tile(np.arange(n), (matrix.shape[0], 1)))
    for k in {1, (n + 1) // 2, n - 1} - {0}:
        assert np.array_equal(libtopk.select(matrix, k, **choice)[1], everything[:, :k])


@given(problems(), options)
def test_kth_is_the_last_of_select(problem, choice):
    matrix, k = problem
    assume(k <= matrix.shape[1])
    values, _ = libtopk.select(matrix, k, **choice)
    kth, better, equal = libtopk.kth(matrix, k, **choice)
    for r, row in enumerate(matrix):
        rank = ranks(row, **choice)
        of_kth = np.sort(rank)[k - 1]
        assert better[r] == (rank < of_kth).sum() and equal[r] == (rank == of_kth).sum()
        last = values[r, k - 1]
        with np.errstate(over="ignore"):  # the magnitude of the least integer is itself
            wanted = np.abs(last) if choice["magnitude"] else last
        assert kth[r] == wanted or (kth[r] != kth[r] and last != last)
