# SPDX-License-Identifier: Apache-2.0
"""Rows for the tests of libtopk.jax, and the right answers by Python's numbers."""
import numpy as np

import oracle

NARROW = ["float16", "bfloat16", "float32", "float8_e4m3fn", "float8_e5m2", "int8", "int16", "int32", "uint8", "uint16",
          "uint32"]
WIDE = ["float64", "int64", "uint64"]


def rows_of(name, shape, seed=0):
    """Few distinct values, so that many tie; of floats NaN of both signs, zeros, infinities and denormals, too."""
    import ml_dtypes  # with which JAX comes
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    random = np.random.default_rng(seed)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return random.choice(np.array([limits.min, limits.min + 1, 0, 1, 5, limits.max - 1, limits.max], dtype), shape)
    finite = random.integers(-9, 9, 12).astype(np.float64)
    some = np.array([*finite, 0.0, -0.0, np.inf, -np.inf, np.nan, np.nan], np.float64).astype(dtype)
    some[-1] = -some[-1]
    bits = f"u{dtype.itemsize}"
    tiny = np.array([1, 2], bits).view(dtype)  # denormals
    return random.choice(np.concatenate([some, tiny, -tiny]).view(bits), shape).view(dtype)


def top_k(array, k, axis=-1, largest=True, nan="largest", index_dtype=np.int32):
    """What libtopk.jax.top_k() is to return."""
    values, indices = oracle.select(oracle.rows_of(array, axis), k, array.dtype, largest=largest, nan=nan)
    values, indices = oracle.shaped_like(array, axis, values, indices)
    return values, indices.astype(index_dtype)


def kth(array, k, axis=-1, largest=True, nan="largest", counts=np.int32):
    found = [oracle.kth(row, k, largest=largest, nan=nan) for row in oracle.rows_of(array, axis)]
    elements, better, equal = (np.array(part) for part in zip(*found))
    return oracle.shaped_like(array, axis, elements.astype(array.dtype), better.astype(counts), equal.astype(counts))


def agree(results, wanted):
    return oracle.all_same([np.asarray(result) for result in results], [np.asarray(each) for each in wanted])
