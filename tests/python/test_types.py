# SPDX-License-Identifier: Apache-2.0
"""Every element type, with ml_dtypes' where it can be imported."""
import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

import libtopk
import oracle
from backend import Accumulator, count, few, kth, mask, select_where, topk, where
from oracle import all_same, same
from strategies import FLOATS, INTEGERS, choices

SMALL = ["bfloat16", "float8_e4m3fn", "float8_e5m2"]
TYPES = FLOATS + INTEGERS + SMALL


def dtype_of(name):
    return np.dtype(getattr(pytest.importorskip("ml_dtypes"), name) if name in SMALL else name)


def any_bits(dtype, shape, seed):
    """Elements of any bits: NaN of all kinds, denormals and both zeros among them."""
    return np.frombuffer(np.random.default_rng(seed).bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)


@pytest.mark.parametrize("name", TYPES)
@given(seed=some.integers(0, 2**32 - 1), k=some.integers(0, 40), choice=choices)
def test_all_bits_of_a_type(name, seed, k, choice):
    dtype = dtype_of(name)
    x = any_bits(dtype, (2, few(200, 60)), seed)
    if seed % 2:
        x = x[:, :3][:, np.arange(x.shape[1]) % 3]
    assert all_same(topk(x, k, **choice), oracle.select(x, k, dtype, **choice))
    ranked = [oracle.kth(row, k, **choice) for row in x]
    assert all_same(kth(x, k, **choice), [np.array([row[i] for row in ranked], type_)
                                          for i, type_ in enumerate((dtype, np.int64, np.int64))])
    matches = oracle.meets(x, "gt", 0.25)
    assert all_same(where(x, gt=0.25), oracle.where(x, matches, dtype))
    assert same(count(x, gt=0.25), matches.sum(axis=1))
    assert same(mask(x, gt=0.25), np.packbits(matches, bitorder="little"))
    assert all_same(select_where(x, k, gt=0.25, **choice), oracle.select(x, k, dtype, chosen=matches, **choice))


@pytest.mark.parametrize("name", TYPES)
def test_streams_copies_and_outputs_of_a_type(name):
    dtype = dtype_of(name)
    x = any_bits(dtype, (30, 4), 5)
    wanted = topk(np.ascontiguousarray(x.T), 6)
    assert all_same([result.T for result in topk(x, 6, dim=0)], wanted)
    out = np.zeros((4, 12), dtype)[:, ::2], np.zeros((4, 6), np.int64)
    assert topk(x.T, 6, out=out)[0] is out[0] and all_same(out, wanted)
    stream = Accumulator(6)
    for begin in range(0, 30, 8):
        stream.push(x.T[:, begin:begin + 8])
    assert all_same(stream.finish(), wanted)


@pytest.mark.parametrize("x", [
    np.zeros(3, bool), np.zeros(3, complex), np.zeros(3, np.longdouble), np.zeros(3, "U2"), np.zeros(3, "S1"),
    np.zeros(3, "datetime64[s]"), np.zeros(3, "V2"), np.zeros(3, [("a", "f4")]), np.zeros(3, object)],
    ids=lambda x: x.dtype.name)
def test_other_types_are_refused(x):
    with pytest.raises(TypeError, match="x (is of type|holds truth values)"):
        topk(x, 1)


@pytest.mark.parametrize("name", ["float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz", "int4", "uint4"])
def test_other_types_of_ml_dtypes_are_refused(name):
    x = np.zeros(3, getattr(pytest.importorskip("ml_dtypes"), name))
    with pytest.raises(TypeError, match=f"x is of type {name}"):
        topk(x, 1)


def test_versions_are_known():
    assert libtopk.__version__.count(".") == 2 and "\0" not in libtopk.library_path
