# SPDX-License-Identifier: Apache-2.0
"""However a stream is cut and in whatever order it arrives, the accumulator says what select says."""
import hypothesis.strategies as some
import numpy as np
from hypothesis import given

import libtopk
from strategies import options, problems
from test_select import same


@given(problems(), some.lists(some.floats(0, 1), max_size=12), options, some.randoms(use_true_random=False))
def test_any_chunking_gives_what_select_gives(problem, shares, choice, random):
    matrix, k = problem
    cuts = sorted(int(share * matrix.shape[1]) for share in shares)
    order = list(range(len(cuts) + 1))
    random.shuffle(order)
    values, indices = libtopk.accumulate(matrix, k, cuts, order, **choice)
    wanted_values, wanted_indices = libtopk.select(matrix, k, **choice)
    assert same(values, wanted_values)
    assert np.array_equal(indices, wanted_indices)
