# SPDX-License-Identifier: Apache-2.0
"""top_k(), which the array API standard and numpy name, and `axis`, which stands for `dim` everywhere."""
import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

import libtopk
import oracle
from backend import argtopk, choice, count, explain, kth, mask, route, select_where, topk, where, workspace_size
from oracle import all_same
from strategies import tensors


@given(tensors(min_dims=1), some.integers(0, 6), some.sampled_from(["largest", "smallest"]))
def test_top_k_puts_nan_last(problem, k, mode):
    array, axis = problem
    k = min(k, array.shape[axis])
    rows = oracle.rows_of(array, axis)
    wanted = oracle.select(rows, k, rows.dtype, largest=mode == "largest", nan="last")
    found = libtopk.top_k(array, k, axis=axis, mode=mode)
    assert all_same(found, oracle.shaped_like(array, axis, *wanted)) and type(found) is libtopk.TopK
    indices = np.sort(libtopk.top_k(array, k, axis=axis, mode=mode, sorted=False).indices, axis)
    assert np.array_equal(indices, np.sort(found.indices, axis))


@given(tensors(min_dims=1), some.integers(0, 6), some.sampled_from(["largest", "smallest"]))
def test_top_k_as_numpy_has_it(problem, k, mode):
    if not hasattr(np, "top_k"):
        pytest.skip("this numpy has no top_k")
    array, axis = problem
    k = min(k, array.shape[axis])
    found, wanted = libtopk.top_k(array, k, axis=axis, mode=mode), np.top_k(array, k, axis=axis, mode=mode)
    np.testing.assert_array_equal(found.values, wanted[0])
    with pytest.raises(ValueError):
        np.top_k(array, array.shape[axis] + 1, axis=axis, mode=mode)


def test_top_k_of_lists():
    values, indices = libtopk.top_k([[3, 1, 2], [4, 6, 5]], 2)
    assert values.tolist() == [[3, 2], [6, 5]] and indices.tolist() == [[0, 2], [1, 2]]
    assert libtopk.top_k([np.nan, 1.0], 1).values == [1] and np.isnan(libtopk.top_k([np.nan, 1.0], 2).values[1])


X = np.random.default_rng(5).standard_normal((3, 4, 5), np.float32)
CALLS = [lambda **given: topk(X, 2, **given), lambda **given: argtopk(X, 2, **given), lambda **given: kth(X, 2, **given),
         lambda **given: select_where(X, 2, gt=0, **given), lambda **given: where(X, gt=0, **given),
         lambda **given: libtopk.argwhere(X, gt=0, **given), lambda **given: count(X, gt=0, **given),
         lambda **given: mask(X, gt=0, **given), lambda **given: route(X, 2, **given),
         lambda **given: topk(np.broadcast_to(X[..., :1], (3, 4, 99)), 2, **given),
         lambda **given: kth(np.broadcast_to(X[:1], (9, 4, 5)), 2, **given)]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("axis", [-3, -1, 0, 1])
def test_axis_stands_for_dim(call, axis):
    results = call(axis=axis), call(dim=axis)
    one, other = (result if isinstance(result, tuple) else (result,) for result in results)
    assert all_same(one, other)


@pytest.mark.parametrize("ask", [workspace_size, explain, choice])
def test_axis_in_plans(ask):
    for axis in range(3):
        assert ask("topk", libtopk.Shape(X.shape, "float32"), 2, axis=axis) == ask("topk", X, 2, dim=axis)
