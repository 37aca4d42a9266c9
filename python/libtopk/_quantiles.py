# SPDX-License-Identifier: Apache-2.0
"""Quantiles, by the k-th elements of rows.

A quantile is an element, or lies between two that are neighbours in ascending order. On the CPU one call finds all
elements that are needed. On a GPU each is found by itself, but for the upper one of two where so many elements tie with
the lower one that it is one of them.
"""
from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Literal

import numpy as np

from libtopk import _core, _expanded
from libtopk._adopt import Nulls, held
from libtopk._api import COUNT, KTH, RUN, SELECT, WHERE, integer
from libtopk._kinds import _on_host, name_of
from libtopk._messages import PREDICATES
from libtopk._options import Array

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from libtopk._options import QuantileOptions

# Of n elements in ascending order, the first of them 0, the quantile q is at n q - 1 + alpha + q (1 - alpha - beta):
_CONTINUOUS = {"interpolated_inverted_cdf": (0, 1), "hazen": (0.5, 0.5), "weibull": (0, 0),
               "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8)}
# or at n q + shift; with None at q (n - 1). `low` is the element below that point, and `part` the distance to it. The
# quantile is this element, or the next one, or a mean; a function gives the weight of the next one.
_ELEMENTS = {
    "inverted_cdf": (-1, lambda part, low: part > 0),
    "closest_observation": (-1.5, lambda part, low: (part > 0) | (low % 2 == 0)),
    "lower": (None, lambda part, low: part < 0),
    "higher": (None, lambda part, low: part > 0),
    "nearest": (None, lambda part, low: (part > 0.5) | ((part == 0.5) & (low % 2 == 1))),
}
_MEANS = {
    "averaged_inverted_cdf": (-1, lambda part, low: (1 + (part > 0)) / 2),
    "midpoint": (None, lambda part, low: (part > 0) / 2),
    "linear": (None, lambda part, low: part),
}
_METHODS = (*_ELEMENTS, *_MEANS, *_CONTINUOUS)
_SHORT = 4096  # rows up to this length are searched for one place after the other


def _is_on_gpu(array):
    return not isinstance(array, np.ndarray) and getattr(array, "is_cuda", True)


def _module(array):
    if isinstance(array, (np.ndarray, np.generic)):
        return np
    return sys.modules["torch" if _expanded._is_torch(array) else "cupy"]


def _as(array, dtype):
    dtype = getattr(_module(array), dtype) if isinstance(dtype, str) else dtype
    return array.to(dtype) if _expanded._is_torch(array) else array.astype(dtype)


def _neighbours(method, n, q):
    """(place of the lower neighbour, of the upper one, weight of the upper one): numbers, or arrays where n is one. The
    weight is 0, and both places are one, where an element is known to be the quantile."""
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        at, weigh = n * q + (alpha + q * (1 - alpha - beta)) - 1, _MEANS["linear"][1]
    else:
        shift, weigh = _ELEMENTS.get(method) or _MEANS[method]
        at = (n - 1) * q if shift is None else n * q + shift
    low = at // 1
    weight = weigh(at - low, low)
    if method in _ELEMENTS or (isinstance(n, int) and weight in (0, 1)):
        place = _within(low + weight, n)
        return place, place, 0
    return _within(low, n), _within(low + 1, n), weight


def _within(place, n):
    """The nearest place in the row; -1 if the row is empty."""
    if isinstance(n, int):
        return int(min(max(place, 0), n - 1))
    return _module(n).minimum(place.clip(min=0), n - 1)


def _mean(a, b, weight):
    """a + (b - a) weight in float64; a or b itself where that is exact."""
    module = _module(a)
    a, b = _as(a, "float64"), _as(b, "float64")
    weight = module.zeros_like(a) + weight
    with np.errstate(all="ignore"):
        step = b - a
        mean = module.where(weight < 0.5, a + step * weight, b - step * (1 - weight))
        mean = module.where(abs(step) == math.inf, a * (1 - weight) + b * weight, mean)
    return module.where((weight == 0) | (a == b), a, module.where(weight == 1, b, mean))


class _Rows:
    """The rows of an array along a dimension, or by offsets, and their elements by places in ascending order. NaN is
    behind all others.

    n     how many elements a row has to choose from: a number, or float64 for each row
    hole  which rows have no quantile, since they have NaN or no elements; True: all; None: not one
    """

    def __init__(self, x, dim, context):
        self.x, self.dim, self.options = x, dim, {"context": context}
        self.n, self.hole = x.shape[dim], None
        self.dtype = _core.empty(x, (0,), None).dtype  # in the machine's byte order
        self.is_float = "float" in name_of(self.dtype)
        self.found, self.in_order = {}, None

    def run(self, operation, k, wanted, options):
        is_largest = operation in (COUNT, WHERE)  # which do not rank; the others begin with the least
        return _core.run(RUN, operation, self.x, k, is_largest, True, self.dim, None, wanted, None,
                         {**self.options, **options}, None)

    def choose(self, predicate):
        """Leaves the elements that meet a predicate."""
        total = int(self.run(COUNT, None, 1, predicate).sum())
        self.x, _, offsets = self.run(WHERE, None, 7, {**predicate, "capacity": total})
        self.dim, self.options["offsets"] = 0, offsets
        self._set_lengths(offsets[1:] - offsets[:-1])

    def _set_lengths(self, lengths):
        is_one = not _is_on_gpu(lengths) and math.prod(lengths.shape) > 0 and bool((lengths == lengths.max()).all())
        self.n = int(lengths.max()) if is_one else _as(lengths, "float64")

    def settle_nan(self, is_ignored):
        """Leaves NaN out, or tells the rows that have it."""
        if not self.is_float:
            return
        numbers = self.run(COUNT, None, 1, {"ge": -math.inf})
        if is_ignored:
            self._set_lengths(numbers)
        elif _is_on_gpu(numbers) or (numbers < self.n).any():
            self.hole = numbers < self.n

    def settle_empty(self, is_element):
        """Rows without elements have no quantile, which no integer can say."""
        is_empty = self.n == 0
        is_known = isinstance(is_empty, bool)
        if is_element and not self.is_float and (is_empty if is_known else is_empty.any()):
            raise ValueError("rows without any elements have no quantile that is an integer")
        if is_known:
            self.hole = True if is_empty else self.hole
        else:
            self.hole = is_empty if self.hole is None else self.hole | is_empty

    def at(self, place):
        """The elements at a place, which is one number, or one for each row."""
        if not isinstance(place, int):
            return self.run(KTH, _as(place, "int64") + 1, 1, {"k_max": self.x.shape[self.dim]})[0]
        if self.in_order is not None:
            found = self.in_order[(slice(None),) * self.dim + (place, ...)]
            return _as(_as(found, "float64") + 0.0, self.dtype) if self.is_float else found  # +0.0 as kth() has it
        if place not in self.found:
            kth, better, equal = self.run(KTH, place + 1, 7, {})
            self.found[place] = kth
            if not _is_on_gpu(kth) and (better + equal > place + 1).all():
                self.found[place + 1] = kth
        return self.found[place]

    def prepare(self, method, qs):
        """Finds all places at once, or sorts the rows where that is faster: on the CPU it takes as long as some
        log2(n) / 2 k-th elements, measured for n from 9 to 2^22, and six places of a long row count as one. A GPU finds
        each place by itself."""
        if not isinstance(self.n, int) or self.n == 0 or "offsets" in self.options:
            return
        places = sorted({place for q in qs for place in _neighbours(method, self.n, q)[:2]})
        on_cpu = isinstance(self.x, np.ndarray)
        if len(places) / (6 if on_cpu and self.n > _SHORT else 1) > math.log2(self.n) / 2:
            self.in_order = self.run(SELECT, self.n, 1, {})[0]
        elif len(places) > 1 and on_cpu:
            ranks = np.array(places).reshape((1,) * (len(self.x.shape) - 1) + (-1,)) + 1
            kth = self.run(KTH, ranks, 1, {})[0]
            self.found = {place: kth[(slice(None),) * self.dim + (i,)] for i, place in enumerate(places)}

    def type_of(self, method):
        return self.dtype if self.is_float or method in _ELEMENTS else "float64"

    def quantile(self, method, q):
        low, high, weight = _neighbours(method, self.n, q)
        result = self.at(low)
        if isinstance(weight, int) and weight == 0:
            result = result if method in _ELEMENTS else _as(result, "float64")
        else:
            result = _mean(result, self.at(high), weight)
        if self.hole is not None:
            result = _as(result, "float64")
            hole = self.hole if self.hole is not True else result == result
            result = _module(result).where(hole, math.nan, result)
        return _as(result, self.type_of(method))


def _axes_of(dim, options, dims):
    """The dimensions of the rows, counted from 0."""
    if "axis" in options and dim != -1:
        raise TypeError("dim and axis are two names of one argument, and both are given")
    name, given = ("axis", options.pop("axis")) if "axis" in options else ("dim", dim)
    if given is None:
        return tuple(range(dims))
    axes = tuple(integer(name, axis) for axis in (given if isinstance(given, (tuple, list)) else (given,)))
    for axis in axes:
        if not -dims <= axis < dims:
            raise IndexError(f"{name} is {axis}, outside [{-dims}, {dims - 1}]")
    axes = tuple(axis % dims for axis in axes)
    if len(set(axes)) < len(axes):
        raise ValueError(f"{name} names a dimension twice")
    return axes


def _with_rows_along_one(x, axes):
    """(the same elements, the dimension of the rows)"""
    if len(axes) == 1:
        return x, axes[0]
    lead = len(x.shape) - len(axes)
    x = _expanded._moved(x, axes, tuple(range(lead, len(x.shape))))
    return x.reshape((*x.shape[:lead], math.prod(x.shape[lead:]))), lead


def _moved(predicate, shape, axes):
    """The predicate of the elements of an array of a shape, where their rows lie along one dimension."""
    if "mask" not in predicate or (len(axes) == 1 and shape):
        return predicate
    from libtopk import _nulls
    mask = _nulls.adopt_mask(predicate["mask"])
    if tuple(mask.shape) != tuple(shape):
        raise ValueError("mask is not of the shape of x")
    return {**predicate, "mask": _with_rows_along_one(mask if shape else mask.reshape(1), axes)[0]}


def _adopted(x, predicate, context):
    """(array, giver of results of its kind, predicate): the predicate leaves nulls out."""
    try:
        return *_core.adopt(x), predicate
    except Nulls as error:
        from libtopk import _nulls
        numbers, bits = _nulls.split(error)
        return numbers, None, {"bits": _nulls.chosen(numbers, bits, predicate, context)}


def _numbers(q, most):
    """q as an array of numpy of numbers from 0 to 1, divided by `most`."""
    try:
        qs = np.asarray(_on_host(q.detach().double() if _expanded._is_torch(q) else q), np.float64) / most
    except (TypeError, ValueError):
        raise TypeError(f"q is {q!r}, and must be a number or an array of numbers") from None
    if not ((qs >= 0) & (qs <= 1)).all():
        raise ValueError(f"q is {q!r}, and must be from 0 to {most}")
    return qs


def _check(method, nan, options):
    if method not in _METHODS:
        raise ValueError(f"method is {method!r}, and can be one of {', '.join(_METHODS)}")
    if nan not in ("propagate", "ignore"):
        raise ValueError(f"nan is {nan!r}, and can be 'propagate' or 'ignore'")
    for name in options:
        if name not in (*PREDICATES, "axis", "context"):
            raise TypeError(f"there is no option '{name}' here")


def quantile(x: Array, q: float | Sequence[float] | Array, dim: int | tuple[int, ...] | None = -1, *,
             method: str = "linear", keepdims: bool = False, nan: Literal["propagate", "ignore"] = "propagate",
             **options: Unpack[QuantileOptions]) -> Array:
    """Quantiles of the rows along a dimension, as numpy.quantile() defines them.

        median = libtopk.quantile(x, 0.5)
        low, high = libtopk.quantile(image, [0.02, 0.98], dim=None, ne=nodata)

    q         a number from 0 to 1, or an array of them, whose dimensions are then the first of the result
    dim       the dimension of the rows; None for all elements, or several dimensions as a tuple. `axis` is its other name
    method    one of numpy's: "inverted_cdf", "closest_observation", "lower", "higher" and "nearest" choose an element;
              "averaged_inverted_cdf" and "midpoint" also the mean of two; "linear", "interpolated_inverted_cdf",
              "hazen", "weibull", "median_unbiased" and "normal_unbiased" what lies between two
    keepdims  dimensions of the rows stay, with length 1
    nan       "propagate": rows with NaN have the quantile NaN; "ignore": NaN does not count, as in numpy.nanquantile()
    options   a predicate, as Predicate has them: only elements that meet it count. context, as topk() has it

    Elements are exact, and of the type of x, integers beyond 2^53 too. What lies between two is computed in float64, and
    is of the type of x where that is floating-point, else float64. Between a number and an infinity lies that infinity,
    and NaN between two of different signs, where numpy has NaN for other places, too. Nulls of a column do not count.
    The quantile of no elements is NaN, where numpy warns, and ValueError where it would be an integer.

    All q read x once, and many q sort it. On a GPU each q reads it once or twice. With "propagate" floats are read once more. numpy copies x and
    changes the order of the copy. On a GPU nothing waits, unless there is a predicate.
    """
    qs = _numbers(q, 1)
    _check(method, nan, options)
    predicate = {name: held(value) for name in PREDICATES if (value := options.get(name)) is not None}
    context = options.get("context")
    x, give, predicate = _adopted(x, predicate, context)
    shape = tuple(x.shape)
    axes = _axes_of(dim, dict(options), max(len(shape), 1))
    along, place = _with_rows_along_one(x if shape else x.reshape(1), axes)
    rows = _Rows(along, place, context)
    if predicate:
        rows.choose(_moved(predicate, shape, axes))
    rows.settle_nan(nan == "ignore")
    rows.settle_empty(method in _ELEMENTS)
    rows.prepare(method, qs.ravel().tolist())
    results = [rows.quantile(method, each) for each in qs.ravel().tolist()]
    result = _module(rows.x).stack(results) if results else _as(_core.empty(x, (0,), None), rows.type_of(method))
    kept = [1 if d in axes else length for d, length in enumerate(shape) if keepdims or d not in axes]
    result = result.reshape((*qs.shape, *kept))
    if give is None:
        return result
    try:
        return give(result)
    except OverflowError:  # as of JAX, whose means of integers are of float32 then
        if rows.is_float or method in _ELEMENTS:
            raise
        return give(_as(result, "float32"))


def percentile(x: Array, q: float | Sequence[float] | Array, dim: int | tuple[int, ...] | None = -1, *,
               method: str = "linear", keepdims: bool = False, nan: Literal["propagate", "ignore"] = "propagate",
               **options: Unpack[QuantileOptions]) -> Array:
    """As quantile(), of q from 0 to 100."""
    return quantile(x, _numbers(q, 100), dim, method=method, keepdims=keepdims, nan=nan, **options)


def median(x: Array, dim: int | tuple[int, ...] | None = -1, *, keepdims: bool = False,
           nan: Literal["propagate", "ignore"] = "propagate", **options: Unpack[QuantileOptions]) -> Array:
    """The median of the rows along a dimension, as numpy.median() defines it: quantile() of 0.5. Of an even number of
    elements it is the mean of two; quantile(x, 0.5, method="lower") is always an element."""
    return quantile(x, 0.5, dim, keepdims=keepdims, nan=nan, **options)
