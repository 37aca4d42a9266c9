# SPDX-License-Identifier: Apache-2.0
"""What is planned with a Shape is what arrays of that shape get; and positions alone."""
import os

import numpy as np
import pytest

import libtopk
from libtopk import Shape

CONTEXT = libtopk.Context(os.environ.get("TOPK_TEST_BACKEND", "cpu"), threads=2)
ASKED = [libtopk.workspace_size, libtopk.explain, libtopk.choice]
CALLS = [("topk", (100000,), -1, {"k": 10}), ("topk", (7, 300), 0, {"k": 3, "sorted": False}),
         ("topk", (2, 3, 400), 1, {"k": 2, "ties": "any", "index_dtype": "int32"}), ("kth", (5, 1000), -1, {"k": 500}),
         ("select_where", (3, 5000), -1, {"k": 70, "gt": 0.5}), ("where", (1 << 20,), -1, {"lt": 0.5}),
         ("count", (30, 70), -1, {"lt": 0.5}), ("mask", (30, 70), 0, {"lt": 0.5}), ("route", (64, 128), -1, {"k": 8}),
         ("topk", (), -1, {"k": 1})]


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("operation, shape, dim, options", CALLS)
def test_as_arrays(ask, operation, shape, dim, options):
    array = np.zeros(shape, np.float32)
    options = {"dim": dim, "context": CONTEXT, **options}
    assert ask(operation, Shape(shape, "float32"), **options) == ask(operation, array, **options)


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_ragged(ask, dtype):
    offsets = np.array([0, 30, 70, 100], dtype)
    expected = ask("topk", np.zeros(100, np.float32), 7, length_max=50, offsets=offsets, context=CONTEXT)
    for given in (offsets, Shape((4,), dtype)):
        found = ask("topk", Shape(100, "float32"), 7, length_max=50, offsets=given, context=CONTEXT)
        assert found == expected


def test_k_of_rows():
    array, ks = np.zeros((4, 100), np.float32), np.array([1, 9, 3, 2])
    expected = libtopk.workspace_size("topk", array, ks, context=CONTEXT)
    assert libtopk.workspace_size("topk", Shape((4, 100), "float32"), ks, context=CONTEXT) == expected
    with pytest.raises(TypeError, match="k_max"):
        libtopk.workspace_size("topk", array, Shape(4, "int64"), context=CONTEXT)
    assert libtopk.workspace_size("topk", array, Shape(4, "int64"), k_max=9, context=CONTEXT) == expected


def test_is_no_array():
    shape, array, offsets = Shape((3, 4), "float32"), np.zeros((3, 4), np.float32), np.zeros(3, np.int64)
    values, indices = np.zeros((3, 2), np.float32), np.zeros((3, 2), np.int64)
    with pytest.raises(TypeError, match="x is a Shape"):
        libtopk.topk(shape, 2, context=CONTEXT)
    with pytest.raises(TypeError, match="lengths is a Shape"):
        libtopk.topk(array, 2, lengths=Shape(3, "int64"), context=CONTEXT)
    with pytest.raises(TypeError, match="mask is a Shape"):
        libtopk.count(array, mask=Shape((3, 4), "uint8"), context=CONTEXT)
    with pytest.raises(ValueError, match="out"):
        libtopk.topk(array, 2, out=(Shape((3, 2), "float32", "cpu"), indices), context=CONTEXT)
    with pytest.raises(ValueError, match="workspace"):
        libtopk.topk(array, 2, workspace=Shape(1000000, "uint8", "cpu"), context=CONTEXT)
    with pytest.raises(TypeError, match="Shape"):
        libtopk.Accumulator(2, context=CONTEXT).push(shape)
    with pytest.raises(TypeError, match="truth"):
        libtopk.explain("topk", Shape(3, bool), 2, context=CONTEXT)
    assert len(libtopk.topk(array, 2, out=(values, indices), context=CONTEXT)) == 2 and len(offsets) == len(shape)


def test_words():
    assert repr(Shape(5, np.float16)) == "Shape((5,), 'float16')"
    assert repr(Shape([2, 3], np.dtype("uint8"), "cuda:1")) == "Shape((2, 3), 'uint8', 'cuda:1')"
    for wrong, error in [(((-1,), "int8"), ValueError), (((2,), "complex64"), TypeError), ((("a",), "int8"), TypeError),
                         (((2**31, 2**31), "int8"), OverflowError), ((3, "int8", "tpu"), ValueError),
                         ((3, "int8", "cuda:x"), ValueError), ((3, "int8", "cuda:4294967295"), ValueError)]:
        with pytest.raises(error):
            Shape(*wrong)
    with pytest.raises(TypeError):
        len(Shape((), "int8"))
    with pytest.raises(IndexError):
        libtopk.explain("topk", Shape((2, 3), "int8"), 1, dim=2, context=CONTEXT)
    if CONTEXT.backend == "cpu":
        with pytest.raises(ValueError, match="device"):
            libtopk.explain("topk", Shape(9, "int8", "cuda"), 1, context=CONTEXT)


def test_positions_alone():
    x = np.array([[3, 1, 4, 1], [5, 9, 2, 6]], np.int32)
    indices, offsets = libtopk.argwhere(x, gt=3, index_dtype="int32", context=CONTEXT)
    assert indices.dtype == np.int32 and indices.tolist() == [2, 0, 1, 3] and offsets.tolist() == [0, 1, 4]
    out = np.zeros(3, np.int64), np.zeros(3, np.int64)
    found = libtopk.argwhere(x, gt=3, out=out, context=CONTEXT)
    assert found[0] is out[0] and found[1] is out[1] and out[0].tolist() == [2, 0, 1] and out[1].tolist() == [0, 1, 4]
