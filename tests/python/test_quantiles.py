# SPDX-License-Identifier: Apache-2.0
"""quantile(), percentile() and median(): what numpy says, and elements by their places in order."""
import math
import sys
from functools import partial

import numpy as np
import pytest

import libtopk
from backend import ON_GPU, context, few

pytestmark = pytest.mark.skipif(ON_GPU, reason="made of kth(), count(), where() and topk(), which are tried there")

ELEMENTS = ["inverted_cdf", "closest_observation", "lower", "higher", "nearest"]
OTHERS = ["averaged_inverted_cdf", "midpoint", "linear", "interpolated_inverted_cdf", "hazen", "weibull",
          "median_unbiased", "normal_unbiased"]
DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int32", "uint64"]

quantile, percentile, median = (partial(function, context=context)
                                for function in (libtopk.quantile, libtopk.percentile, libtopk.median))


def closest(x, q, axis):
    """By its definition: of n elements the round(n q)-th. numpy before 2.0 takes another one halfway."""
    n, ordered = x.shape[axis], np.sort(x, axis)
    found = [np.take(ordered, min(max(round(n * each), 1), n) - 1, axis) for each in np.ravel(q)]
    nan = np.isnan(np.take(ordered, -1, axis)) if x.dtype.kind == "f" else False
    return np.array([np.where(nan, np.nan, each) for each in found]).reshape((*np.shape(q), *found[0].shape))


def wanted(x, q, axis=-1, method="linear", function=np.quantile):
    """What numpy says in float64, in the type that is promised."""
    if x.dtype.kind == "f":
        exact = x.astype(np.float64)
    else:
        exact = x if method in ELEMENTS else x.astype(np.float64)
    found = (closest(exact, q, axis) if method == "closest_observation" else
             function(exact, q, axis=axis, method=method))
    return np.asarray(found, x.dtype if x.dtype.kind == "f" or method in ELEMENTS else np.float64)


def same(found, expected, method, dtype):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if method in ELEMENTS:
        return np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
    epsilon = np.finfo(found.dtype).eps
    return np.allclose(found, expected, rtol=2 * epsilon, atol=4 * epsilon, equal_nan=True)


def arrays(generator, count):
    """Arrays with ties, some with NaN in some of their rows."""
    for dtype in DTYPES:
        for _ in range(count):
            shape = tuple(generator.integers(1, 6, generator.integers(1, 4)))
            x = generator.integers(0, 9, shape)
            x = (x - 4.25).astype(dtype) if np.dtype(dtype).kind == "f" else x.astype(dtype)
            if x.dtype.kind == "f" and generator.random() < 0.4:
                x[generator.random(shape) < 0.1] = np.nan
            yield x


def qs(generator):
    """Numbers at which quantiles are elements, or halfway between two, or anywhere."""
    some = [0, 1, 0.5, 0.25, 0.75, 1 / 3, 0.1, 0.7, *generator.random(3)]
    return generator.choice(some, tuple(generator.integers(1, 4, generator.integers(0, 3))))


@pytest.mark.parametrize("method", ELEMENTS + OTHERS)
def test_as_numpy(method):
    generator = np.random.default_rng(3)
    for x in arrays(generator, few(12, 2)):
        q, axis = qs(generator), int(generator.integers(-x.ndim, x.ndim))
        found, expected = quantile(x, q, axis, method=method), wanted(x, q, axis, method)
        assert same(found, expected, method, x.dtype), (x, q, axis)
        found = quantile(x, q, axis=None, method=method)
        assert same(found, wanted(x.ravel(), q, -1, method), method, x.dtype), (x, q)


@pytest.mark.parametrize("method", ["lower", "nearest", "midpoint", "linear", "weibull"])
@pytest.mark.filterwarnings("ignore:All-NaN")
def test_nan_is_ignored_as_in_numpy(method):
    generator = np.random.default_rng(4)
    for x in arrays(generator, few(12, 2)):
        q, axis = qs(generator), int(generator.integers(-x.ndim, x.ndim))
        if q.ndim < 2:  # numpy takes no more
            found = quantile(x, q, axis, method=method, nan="ignore")
            assert same(found, wanted(x, q, axis, method, np.nanquantile), method, x.dtype), (x, q, axis)


@pytest.mark.parametrize("method", ["higher", "closest_observation", "linear", "hazen"])
def test_elements_that_meet_a_predicate(method):
    generator = np.random.default_rng(5)
    for x in arrays(generator, few(12, 2)):
        q, axis = qs(generator), int(generator.integers(-x.ndim, x.ndim))
        rows = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])
        mask = generator.random(x.shape) < 0.7
        lead = np.delete(x.shape, axis)
        for predicate, meets in (({"ne": x.flat[0].item()}, rows != x.flat[0]),
                                 ({"mask": mask}, np.moveaxis(mask, axis, -1).reshape(rows.shape))):
            if method in ELEMENTS and x.dtype.kind != "f" and not meets.any(axis=-1).all():
                with pytest.raises(ValueError, match="without any elements"):
                    quantile(x, q, axis, method=method, **predicate)
                continue
            found = quantile(x, q, axis, method=method, **predicate)
            for r, row in enumerate(found.reshape(*q.shape, len(rows)).T if q.ndim < 2 else ()):
                one = rows[r][meets[r]]
                expected = wanted(one, q, -1, method) if one.size else np.full(q.shape, np.nan, found.dtype)
                assert same(row, expected, method, x.dtype), (x, q, axis, predicate)
            assert found.shape == (*q.shape, *lead)


def test_shapes():
    x = np.random.default_rng(6).standard_normal((3, 4, 5))
    for axis in (0, -1, (0, 2), (2, 0), (-1, 1), (0, 1, 2), None):
        for q in (0.3, [0.2, 0.9], [[0.1], [1]]):
            for keepdims in (False, True):
                found = quantile(x, q, axis=axis, keepdims=keepdims)
                expected = np.array([np.quantile(x, each, axis=axis, keepdims=keepdims) for each in np.ravel(q)])
                expected = expected.reshape((*np.shape(q), *expected.shape[1:]))
                assert found.shape == expected.shape and np.allclose(found, expected, rtol=1e-15)
        assert np.allclose(median(x, axis), np.median(x, axis=axis), rtol=1e-15)
        assert np.allclose(percentile(x, [7, 50], axis=axis), np.percentile(x, [7, 50], axis=axis), rtol=1e-15)
    mask = np.random.default_rng(7).random(x.shape) < 0.5
    assert np.allclose(median(x, None, mask=mask), np.median(x[mask]), rtol=1e-15)
    expected = [np.median(x[:, d][mask[:, d]]) for d in range(4)]
    assert np.allclose(median(x, (2, 0), mask=mask), expected, rtol=1e-15)
    assert np.allclose(median(x, (0, 2), mask=mask.astype(np.uint8)), expected, rtol=1e-15)
    for layout in (x.T, x[:, ::2], x[::-1], np.asfortranarray(x), np.broadcast_to(x[:1], x.shape), x.astype(">f8")):
        assert np.allclose(quantile(layout, [0.2, 0.6], 1), np.quantile(layout, [0.2, 0.6], axis=1), rtol=1e-15)
    assert quantile(x, []).shape == (0, 3, 4) and quantile(x[:0], 0.5).shape == (0, 4)
    assert np.allclose(median(x, [0, 2]), np.median(x, axis=(0, 2)), rtol=1e-15)


def test_types_of_no_quantiles():
    for dtype in DTYPES:
        for method in ("lower", "linear"):
            x = np.ones((2, 3), dtype)
            assert quantile(x, [], method=method).dtype == quantile(x, [1], method=method).dtype


def test_numbers_without_dimensions():
    assert quantile(3.0, 0.5) == 3 and quantile(3.0, [0.5], None, keepdims=True).tolist() == [3]
    for axis in (0, -1, None, ()):
        for truth, wanted in ((True, 3), (False, math.nan)):
            found = quantile(3.0, 0.5, axis=axis, mask=np.array(truth))
            assert found.shape == () and np.array_equal(found, wanted, equal_nan=True)


@pytest.mark.parametrize("method", ["lower", "linear"])
def test_nan_is_left_out_of_expanded_arrays(method):
    column = np.array([[1.5], [math.nan], [-2]], np.float32)
    for x in (np.broadcast_to(column, (3, 99)), np.broadcast_to(column, (2, 3, 99))):
        found = quantile(x, [0.1, 0.5], -1, method=method, nan="ignore")
        assert np.array_equal(found, np.broadcast_to(column[:, 0], found.shape), equal_nan=True)


@pytest.mark.parametrize("n", [9, 10, 1001])
def test_integers_beyond_floats_are_exact(n):
    for dtype in (np.int64, np.uint64):
        x = np.iinfo(dtype).max - np.random.default_rng(7).permutation(n).astype(dtype)
        x = np.where(np.arange(n) % 3 == 0, x - 2**62, x)
        ordered = np.sort(x)
        for q in (0, 0.1, 0.5, 0.77, 1):
            assert quantile(x, q, method="lower") == ordered[math.floor(q * (n - 1))]
            assert quantile(x, q, method="higher") == ordered[math.ceil(q * (n - 1))]
            assert quantile(x, q, method="inverted_cdf") == ordered[max(math.ceil(n * q) - 1, 0)]
        wide = quantile(x, np.linspace(0, 1, 40), method="nearest")
        assert wide.dtype == dtype and np.array_equal(wide, ordered[np.rint(np.linspace(0, 1, 40) * (n - 1)).astype(int)])


def test_many_quantiles_sort():
    generator = np.random.default_rng(8)
    for x in arrays(generator, few(4, 1)):
        for axis in range(x.ndim):
            q = np.linspace(0, 1, 50)
            assert same(quantile(x, q, axis), wanted(x, q, axis), "linear", x.dtype)
    x = generator.standard_normal((2, few(3000, 300)), np.float32)
    for method in ("nearest", "linear"):
        assert same(quantile(x, q, method=method), wanted(x, q, -1, method), method, x.dtype)


def test_infinities_and_the_ends_of_types():
    inf, most = math.inf, sys.float_info.max
    for x, q, expected in (([-inf, 1, 2], 0.5, 1), ([-inf, 1, 2], 0.25, -inf), ([1, inf], 0, 1), ([1, inf], 0.5, inf),
                           ([inf, inf], 0.5, inf), ([-inf, -inf, 3], 0.25, -inf), ([-inf, inf], 1, inf),
                           ([-inf, inf], 0.5, math.nan), ([-most, most], 0.5, 0), ([most, most], 0.3, most),
                           ([-most, most], 0.75, most / 2), ([1, inf, math.nan], 0.5, math.nan)):
        assert np.allclose(quantile(x, q), expected, rtol=1e-15, equal_nan=True), (x, q)
    assert np.array_equal(median([math.nan] * 3, nan="ignore"), math.nan, equal_nan=True)


def test_zeros_are_positive_and_bits_the_same_by_either_way():
    for x in ([-0.0, -0.0, -0.0], [-0.0] * 50 + [1.0]):
        for q in (0.5, np.linspace(0, 0.9, 40)):
            for method in ("lower", "linear"):
                assert not np.signbit(quantile(x, q, method=method)).any()


def test_no_elements():
    assert np.isnan(median(np.zeros((2, 0)))).tolist() == [True, True]
    assert np.isnan(median(np.zeros((2, 0), int))).all() and np.isnan(median(np.arange(3), gt=9))
    assert np.isnan(quantile(np.zeros(3, np.float32), [0.1, 0.9], method="lower", gt=9)).tolist() == [True, True]


@pytest.mark.parametrize("error, words, call", [
    (ValueError, r"^q is 1\.5, and must be from 0 to 1$", lambda: quantile([1.0], 1.5)),
    (TypeError, "^q is 'half', and must be a number", lambda: quantile([1.0], "half")),
    (TypeError, "^q is 5j, and must be a number", lambda: percentile([1.0], 5j)),
    (TypeError, r"^axis is 0\.0, and must be an integer$", lambda: median([1.0], axis=0.0)),
    (OverflowError, "^dim is an integer beyond 64 bits$", lambda: median([1.0], 2**64)),
    (ValueError, "mask is not of the shape", lambda: median(1.0, mask=[True])),
    (ValueError, "^q is nan, and must be", lambda: quantile([1.0], math.nan)),
    (ValueError, "^q is 101, and must be from 0 to 100$", lambda: percentile([1.0], 101)),
    (ValueError, "^method is 'cubic', and can be one of inverted_cdf", lambda: quantile([1.0], 0.5, method="cubic")),
    (ValueError, "^nan is 'last', and can be", lambda: quantile([1.0], 0.5, nan="last")),
    (ValueError, "no quantile that is an integer", lambda: quantile(np.zeros(0, int), 0.5, method="lower")),
    (TypeError, "^there is no option 'weights' here$", lambda: quantile([1.0], 0.5, weights=[1])),
    (TypeError, "^dim and axis are two names", lambda: quantile([1.0], 0.5, 0, axis=0)),
    (TypeError, "two predicates", lambda: quantile([1.0], 0.5, gt=1, lt=3)),
    (TypeError, "truth values", lambda: median([True, False])),
    (ValueError, "mask is not of the shape", lambda: median(np.zeros((2, 3)), None, mask=np.ones((3, 2), bool))),
    (IndexError, r"^axis is 1, outside \[-1, 0\]$", lambda: median([1.0], axis=1)),
    (IndexError, r"^dim is -2, outside", lambda: median([1.0], (0, -2))),
    (ValueError, "^dim names a dimension twice$", lambda: median(np.zeros((2, 2)), (0, -2))),
    (AttributeError, "no attribute 'quantiles'", lambda: libtopk.quantiles),
])
def test_what_goes_wrong_says_so(error, words, call):
    with pytest.raises(error, match=words):
        call()
