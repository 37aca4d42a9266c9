# SPDX-License-Identifier: Apache-2.0
"""What the properties are tried on."""
import hypothesis.extra.numpy as arrays
import hypothesis.strategies as some
import numpy as np

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]

options = some.fixed_dictionaries({"smallest": some.booleans(), "magnitude": some.booleans(),
                                   "nan_last": some.booleans()})


@some.composite
def matrices(draw, dtypes=None, columns=200):
    """Short rows of few distinct values, or long rows of which Hypothesis picks only some elements."""
    dtype = np.dtype(draw(some.sampled_from(dtypes or FLOATS + INTEGERS)))
    shape = draw(some.tuples(some.integers(1, 4), some.integers(1, columns)))
    elements = arrays.from_dtype(dtype)
    if draw(some.booleans()):
        elements = some.sampled_from(draw(some.lists(elements, min_size=1, max_size=4)))
    matrix = draw(arrays.arrays(dtype, shape, elements=elements, fill=elements))
    if draw(some.booleans()):
        matrix = np.tile(matrix, draw(some.integers(1, 60)))
    return matrix


@some.composite
def problems(draw, dtypes=None):
    """(matrix, k) with k from 1 to beyond the length."""
    matrix = draw(matrices(dtypes))
    return matrix, draw(some.integers(1, matrix.shape[1] + 3))
