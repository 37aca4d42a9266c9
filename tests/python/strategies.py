# SPDX-License-Identifier: Apache-2.0
"""What the properties are tried on."""
import hypothesis.extra.numpy as arrays
import hypothesis.strategies as some
import numpy as np

from backend import few

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]

choices = some.fixed_dictionaries({"largest": some.booleans(), "magnitude": some.booleans(),
                                   "nan": some.sampled_from(["largest", "last"])})


@some.composite
def _filled(draw, dtypes, shape):
    """An array of few distinct values, or one with some elements picked by Hypothesis."""
    dtype = np.dtype(draw(some.sampled_from(dtypes or FLOATS + INTEGERS)))
    elements = arrays.from_dtype(dtype)
    if draw(some.booleans()):
        elements = some.sampled_from(draw(some.lists(elements, min_size=1, max_size=4)))
    return draw(arrays.arrays(dtype, shape, elements=elements, fill=elements))


@some.composite
def matrices(draw, dtypes=None, columns=200):
    """A few rows, short or long."""
    matrix = draw(_filled(dtypes, some.tuples(some.integers(1, 4), some.integers(1, columns))))
    if draw(some.booleans()):
        matrix = np.tile(matrix, draw(some.integers(1, few(60, 6))))
    return matrix


@some.composite
def problems(draw, dtypes=None):
    """(matrix, k) with k from 1 to beyond the length."""
    matrix = draw(matrices(dtypes))
    return matrix, draw(some.integers(1, matrix.shape[1] + 3))


def _as_fortran(array):
    return array.copy("F")


def _as_view_from_behind(array):
    return np.flip(np.flip(array).copy())[...]


def _among_gaps(array):
    wide = np.zeros([2 * n for n in array.shape], array.dtype)
    view = wide[(..., *[slice(None, None, 2)] * array.ndim)]
    view[...] = array
    return view


def _in_wider_rows(array):
    wide = np.zeros([*array.shape[:-1], array.shape[-1] + 3], array.dtype) if array.ndim else array.copy()
    view = wide[..., 1:1 + array.shape[-1]] if array.ndim else wide
    view[...] = array
    return view


def _with_first_dimension_last(array):
    return np.moveaxis(np.moveaxis(array, 0, -1).copy(), -1, 0) if array.ndim else array.copy()


def _misaligned(array):
    result = np.ndarray(array.shape, array.dtype, bytearray(array.nbytes + 1), 1)
    result[...] = array
    return result


def _byte_swapped(array):
    return array.astype(array.dtype.newbyteorder())


def _read_only(array):
    result = array.copy()
    result.flags.writeable = False
    return result


def _broadcast(array):
    return np.broadcast_to(array[:1], array.shape) if array.ndim else array.copy()


# Each takes an array and returns one of its shape: with its elements, but for _broadcast.
WRITABLE_LAYOUTS = [np.copy, _as_fortran, _as_view_from_behind, _among_gaps, _in_wider_rows, _with_first_dimension_last,
                    _misaligned, _byte_swapped]
LAYOUTS = [*WRITABLE_LAYOUTS, _read_only, _broadcast]


@some.composite
def tensors(draw, dtypes=None, layouts=None, min_dims=0):
    """(an array of up to four dimensions in some layout, one of them)."""
    shape = draw(some.lists(some.integers(0, 6), min_size=min_dims, max_size=4))
    array = draw(some.sampled_from(layouts or LAYOUTS))(draw(_filled(dtypes, tuple(shape))))
    dims = max(1, array.ndim)
    return array, draw(some.integers(-dims, dims - 1))


@some.composite
def extents(draw, count, least, most):
    """`count` integers, as a list or an array of some type that holds them, contiguous or not."""
    numbers = draw(some.lists(some.integers(least, most), min_size=count, max_size=count))
    form = draw(some.sampled_from(["list", "int32", "int64", "int16", ">i4", "every other"]))
    if form == "every other":
        return np.repeat(np.array(numbers, np.int64), 2)[::2]
    return numbers if form == "list" else np.array(numbers, form)
