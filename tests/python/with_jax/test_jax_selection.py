# SPDX-License-Identifier: Apache-2.0
"""libtopk.jax chooses what the contract says, in eager calls, compiled programs and under vmap."""
import threading

import numpy as np
import pytest

import libtopk

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

import rows  # noqa: E402
from libtopk.jax import argtopk, kth, top_k  # noqa: E402

CHOICES = [{"largest": largest, "nan": nan} for largest in (True, False) for nan in ("largest", "last")]


@pytest.mark.parametrize("name", rows.NARROW + rows.WIDE)
def test_types(name):
    array = rows.rows_of(name, (3, 50))
    with jax.enable_x64(name in rows.WIDE):
        counts = np.int64 if name in rows.WIDE else np.int32
        for choice in CHOICES:
            assert rows.agree(top_k(array, 20, **choice), rows.top_k(array, 20, **choice))
            assert rows.agree(jax.jit(lambda x: kth(x, 20, **choice))(array), rows.kth(array, 20, **choice, counts=counts))


@pytest.mark.parametrize("shape, k, axis", [((7,), 0, 0), ((7,), 7, -1), ((0,), 0, 0), ((3, 0), 0, 1), ((0, 5), 2, 1),
                                            ((4, 3, 5), 2, 0), ((4, 3, 5), 3, 1), ((4, 3, 5), 5, -1), ((1, 1), 1, 0)])
def test_shapes(shape, k, axis):
    array = rows.rows_of("float32", shape)
    program = jax.jit(lambda x: top_k(x, k, axis=axis))
    assert rows.agree(top_k(array, k, axis=axis), rows.top_k(array, k, axis))
    assert rows.agree(program(array), rows.top_k(array, k, axis))
    assert rows.agree([argtopk(array, k, axis=axis)], rows.top_k(array, k, axis)[1:])
    if k > 0 and array.size:
        assert rows.agree(kth(array, k, axis=axis), rows.kth(array, k, axis))


def test_long_rows():
    array = np.random.default_rng(3).integers(0, 1000, (2, 300_000)).astype(np.float32)
    order = np.argsort(-array, kind="stable")[:, :5000].astype(np.int32)
    assert rows.agree(jax.jit(lambda x: top_k(x, 5000))(array), (np.take_along_axis(array, order, 1), order))
    fifth = np.sort(array)[:, -5000]
    counts = [np.sum(array > fifth[:, None], 1, np.int32), np.sum(array == fifth[:, None], 1, np.int32)]
    assert rows.agree(kth(array, 5000), (fifth, *counts))


def test_results_are_those_of_lax_where_both_agree():
    x = jnp.asarray(np.random.default_rng(1).standard_normal((5, 40), np.float32))
    for axis in (0, 1):
        assert rows.agree(top_k(x, 3, axis=axis), jax.lax.top_k(x, 3, axis=axis))
    assert type(top_k(x, 3)) is libtopk.TopK and type(kth(x, 3)) is libtopk.Kth


def test_index_types():
    array = rows.rows_of("float32", (2, 9))
    with jax.enable_x64(True):
        assert rows.agree(top_k(array, 4, index_dtype="int64"), rows.top_k(array, 4, index_dtype=np.int64))
        assert rows.agree(top_k(array, 4), rows.top_k(array, 4))
        long = jax.eval_shape(lambda x: top_k(x, 3), jax.ShapeDtypeStruct((2**31,), np.uint8))
        assert long.indices.dtype == np.int64
        with pytest.raises(OverflowError, match="do not fit int32"):
            jax.eval_shape(lambda x: top_k(x, 3, index_dtype=np.int32), jax.ShapeDtypeStruct((2**31,), np.uint8))
    for ask in (lambda: top_k(array, 4, index_dtype="int64"),
                lambda: jax.eval_shape(lambda x: top_k(x, 3), jax.ShapeDtypeStruct((2**31,), np.uint8)),
                lambda: jax.eval_shape(lambda x: kth(x, 3), jax.ShapeDtypeStruct((2**31,), np.uint8))):
        with pytest.raises(OverflowError, match="jax_enable_x64"):
            ask()
    assert jax.eval_shape(lambda x: top_k(x, 3), jax.ShapeDtypeStruct((2**31 - 1,), np.uint8)).indices.dtype == np.int32


@pytest.mark.parametrize("call, error, words", [
    (lambda x: top_k(x, 10), ValueError, "k is 10, and operand has 9"), (lambda x: top_k(x, -1), ValueError, "k is -1"),
    (lambda x: top_k(x, 2.0), TypeError, "float"), (lambda x: kth(x, 0), ValueError, "counts from 1"),
    (lambda x: kth(x, 10), ValueError, "k is 10"), (lambda x: top_k(x, 1, axis=2), ValueError, "axis is 2"),
    (lambda x: top_k(x, 1, nan="first"), ValueError, "'first'"), (lambda x: top_k(x[0, 0], 1), TypeError, "no dimension"),
    (lambda x: top_k(x > 0, 1), TypeError, "bool"), (lambda x: top_k(x + 1j, 1), TypeError, "complex64"),
    (lambda x: top_k(x.astype(jnp.int4), 1), TypeError, "int4"),
    (lambda x: top_k(x, 1, index_dtype="int16"), TypeError, "int16"),
    (lambda x: jax.jit(top_k)(x, 3), TypeError, "concrete|index")])
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call(jnp.zeros((2, 9)))


def calls_of(function, *arguments):
    """The lines of a compiled program that call the library."""
    text = jax.jit(function).lower(*arguments).compile().as_text()
    return [line for line in text.splitlines() if "custom-call(" in line and "libtopk_" in line]


def test_vmap():
    array = rows.rows_of("float32", (2, 3, 4, 11))
    wanted = rows.top_k(array, 3)
    assert rows.agree(jax.vmap(lambda x: top_k(x, 3))(array), wanted)
    assert rows.agree(jax.vmap(jax.vmap(jax.vmap(lambda x: top_k(x, 3))))(array), wanted)
    assert rows.agree(jax.vmap(lambda x: top_k(x, 3), in_axes=2, out_axes=2)(array), wanted)
    assert rows.agree(jax.vmap(lambda x: top_k(x, 2, axis=0), in_axes=3)(array),
                      [np.moveaxis(each, 3, 0) for each in rows.top_k(array, 2, axis=0)])
    assert rows.agree(jax.vmap(jax.vmap(lambda x: kth(x, 3)))(array), rows.kth(array, 3))
    values, weights = jax.vmap(lambda w: (top_k(array[0, 0], 3).values, w))(jnp.arange(2.0))
    assert values.shape == (2, 4, 3)
    nested = jax.vmap(jax.vmap(lambda x: top_k(x, 3)))
    (line,) = calls_of(nested, array)  # all rows by one call
    assert "f32[2,3,4,3]" in line


def test_control_flow():
    array = rows.rows_of("float32", (6, 20))
    _, scanned = jax.lax.scan(lambda carry, row: (carry, top_k(row, 4)), 0, jnp.asarray(array))
    assert rows.agree(scanned, rows.top_k(array, 4))
    best = jax.lax.cond(True, lambda x: argtopk(x, 4), lambda x: argtopk(x, 4, largest=False), jnp.asarray(array))
    assert rows.agree([best], rows.top_k(array, 4)[1:])


def test_many_threads():
    arrays = [rows.rows_of("float32", (2, 40_000), seed) for seed in range(4)]
    program = jax.jit(lambda x: (top_k(x, 300), kth(x, 300)))
    wanted = [(libtopk.topk(array, 300, index_dtype="int32"), libtopk.kth(array, 300)) for array in arrays]
    wrong = []

    def work(number):
        for turn in range(8):
            at = (number + turn) % len(arrays)
            best, rank = program(arrays[at])
            found, *counts = wanted[at][1]
            if not rows.agree(best, wanted[at][0]) or \
                    not rows.agree(rank, (found, *(each.astype(np.int32) for each in counts))):
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
