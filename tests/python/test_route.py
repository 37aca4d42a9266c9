# SPDX-License-Identifier: Apache-2.0
"""Properties of topk_route, with numpy's stable sort and its float64."""
import hypothesis.extra.numpy as arrays
import hypothesis.strategies as some
import numpy as np
from hypothesis import given

from backend import route
from oracle import all_same

numbers = some.floats(-60, 60, width=32)


@some.composite
def tokens(draw, most=96):
    """(logits of some tokens, k), with equal logits among them."""
    shape = draw(some.tuples(some.integers(1, 4), some.integers(1, most)))
    few = some.lists(numbers, min_size=1, max_size=4)
    elements = some.sampled_from(draw(few)) if draw(some.booleans()) else numbers
    return draw(arrays.arrays(np.float32, shape, elements=elements)), draw(some.integers(1, 32))


def best(scores, k):
    """Positions of the k best of each row, best first, and -1 behind them."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.pad(order, ((0, 0), (0, k - order.shape[1])), constant_values=-1)


@given(tokens(), some.integers(0, 2**32 - 1))
def test_bias_chooses_but_does_not_weigh(problem, seed):
    logits, k = problem
    bias = np.random.default_rng(seed).normal(size=logits.shape[1]).astype(np.float32)
    experts, weights = route(logits, k, bias=bias)
    for copied in (bias.astype(">f4"), np.repeat(bias, 3)[::3], bias[::-1].copy()[::-1]):
        assert all_same(route(logits, k, bias=copied), (experts, weights))
    assert np.array_equal(experts, best(logits + bias, k))
    chosen = np.where(experts < 0, -np.inf, np.take_along_axis(logits, np.maximum(experts, 0), 1)).astype(np.float64)
    powers = np.exp(chosen - chosen.max(axis=1, keepdims=True))
    assert np.allclose(weights, powers / powers.sum(axis=1, keepdims=True), rtol=2e-5, atol=1e-30)


@given(tokens(), some.floats(0.25, 4, width=32))
def test_sigmoids_weigh_by_their_share(problem, factor):
    logits, k = problem
    experts, weights = route(logits, k, score="sigmoid", weighing="sigmoid", factor=factor)
    sigmoids = 1 / (1 + np.exp(-np.take_along_axis(logits, np.maximum(experts, 0), 1).astype(np.float64)))
    sigmoids = np.where(experts < 0, 0, sigmoids)
    assert np.allclose(weights, factor * sigmoids / sigmoids.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-30)
    assert np.all(np.diff(np.where(experts < 0, -1, sigmoids), axis=1) < 1e-6)


@given(tokens(most=12), some.integers(1, 8), some.data())
def test_all_groups_are_no_groups(problem, groups, data):
    logits, k = problem
    wide = np.tile(logits, groups)
    kept = data.draw(some.integers(1, groups))
    experts, _ = route(wide, k, groups=groups, groups_kept=kept)
    assert np.array_equal(experts, best(np.tile(logits, kept), k))
    assert np.array_equal(route(wide, k, groups=groups, groups_kept=groups)[0], route(wide, k)[0])
