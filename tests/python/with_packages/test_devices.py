# SPDX-License-Identifier: Apache-2.0
"""Arrays of JAX, MLX and TVM, and results of their kinds."""
import re

import numpy as np
import pytest

import libtopk

FLOATS = "bfloat16", "float8_e4m3fn", "float8_e5m2"


@pytest.fixture(params=FLOATS)
def of_jax(request):
    jnp = pytest.importorskip("jax.numpy")
    return jnp.array([1, 3, 2], getattr(jnp, request.param))


def test_floats_of_jax(of_jax):
    values, indices = libtopk.topk(of_jax, 2)
    assert type(values) is type(of_jax) and values.dtype == of_jax.dtype
    assert values.astype(float).tolist() == [3, 2] and indices.tolist() == [1, 2]
    assert libtopk.kth(of_jax, 3).kth == 1


def test_floats_of_tvm(of_jax):
    x = pytest.importorskip("tvm_ffi").from_dlpack(of_jax)
    for _ in range(2):  # what it exports is not changed by the first call
        values, indices = libtopk.topk(x, 2)
        assert values.dtype == of_jax.dtype and values.astype(float).tolist() == [3, 2]


def test_positions_do_not_wrap_in_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(5.0)
    for base in (2**33, 2**31 - 2, 2**31 - 4):
        for call in (lambda: libtopk.topk(x, 2, index_base=base), lambda: libtopk.where(x, ge=0, index_base=base)):
            try:  # a GPU's arrays of int64 stay what they are
                assert call().indices.tolist()[0] in (base, base + 4)
            except OverflowError as error:
                assert re.search("jax.numpy.*enable_x64", str(error))
            else:
                assert jax.default_backend() != "cpu"
    on_cpu = jax.default_backend() == "cpu"
    with pytest.raises(OverflowError if on_cpu else ValueError):  # numpy's payload is on another device than x
        libtopk.topk(x, 2, indices=np.arange(5) + 2**31)
    assert libtopk.topk(x, 2, index_base=2**31 - 5).indices.tolist() == [2**31 - 1, 2**31 - 2]
    with jax.enable_x64(True):
        wide = jax.numpy.array([1 / 3, 2.0])
        assert libtopk.topk(x, 2, index_base=2**33).indices.tolist() == [2**33 + 4, 2**33 + 3]
    with pytest.raises(OverflowError, match="float64"):
        libtopk.topk(wide, 2)


def test_quantiles_in_jax():
    jnp = pytest.importorskip("jax.numpy")
    for x in (jnp.arange(7), jnp.arange(7.0)):
        found = libtopk.quantile(x, [0.11, 0.5])
        assert isinstance(found, type(x)) and np.allclose(found, np.quantile(np.arange(7), [0.11, 0.5]))
    assert libtopk.quantile(jnp.arange(7), 0.3, method="lower").dtype == jnp.int32
    assert libtopk.top_k(jnp.array([1, jnp.nan, 2]), 2).indices.tolist() == [2, 0]


@pytest.mark.parametrize("name", ["float8_e4m3", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "int4",
                                  "uint4", "float4_e2m1fn"])
def test_other_types_of_jax_are_refused(name):
    jnp = pytest.importorskip("jax.numpy")
    if not hasattr(jnp, name):
        pytest.skip("this JAX lacks the type")
    with pytest.raises(TypeError, match=rf"x is of type (torch\.)?{name}"):
        libtopk.topk(jnp.zeros(3, getattr(jnp, name)), 1)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float64", "int64", "uint8"])
def test_arrays_of_mlx(name):
    mx = pytest.importorskip("mlx.core")
    mx.set_default_device(mx.cpu)
    dtype = getattr(mx, name)
    x = mx.array([1, 3, 2], dtype=dtype)
    for _ in range(2):
        values, indices = libtopk.topk(x, 2)
        assert values.dtype == dtype and values.tolist() == [3, 2] and indices.tolist() == [1, 2]
    if name == "float64":
        third = mx.array(np.array([1 / 3]), dtype=dtype)
        assert libtopk.kth(third, 1).kth.item() == 1 / 3
