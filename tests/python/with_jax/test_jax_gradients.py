# SPDX-License-Identifier: Apache-2.0
"""Gradients of libtopk.jax go to the chosen elements, as those of jax.lax.top_k do."""
import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from libtopk.jax import kth, top_k  # noqa: E402

X = np.random.default_rng(5).permutation(24).reshape(3, 8).astype(np.float32)
WEIGHTS = np.array([3.0, 5.0, 7.0], np.float32)


def both(function):
    """What a transform makes of libtopk's function and of JAX's own."""
    return function(lambda x: top_k(x, 3).values), function(lambda x: jax.lax.top_k(x, 3)[0])


@pytest.mark.parametrize("transform", [
    lambda f: jax.grad(lambda x: (f(x) * WEIGHTS).sum())(X), lambda f: jax.jacfwd(f)(X), lambda f: jax.jacrev(f)(X),
    lambda f: jax.jit(jax.grad(lambda x: (jnp.sin(f(x)) * WEIGHTS).sum()))(X),
    lambda f: jax.hessian(lambda x: (f(x) ** 2).sum())(X[0, :4]), lambda f: jax.vmap(jax.grad(lambda x: f(x)[2]))(X),
    lambda f: jax.grad(lambda x: (jax.vmap(f)(x) * WEIGHTS).sum())(X), lambda f: jax.jvp(f, (X,), (X * X,))[1],
    lambda f: jax.vmap(lambda t: jax.jvp(f, (X,), (t,))[1])(np.stack([X, X * X])),
    lambda f: jax.grad(jax.checkpoint(lambda x: f(jnp.sin(x)).sum()))(X), lambda f: jax.linearize(f, X)[1](X * X)])
def test_top_k(transform):
    ours, theirs = both(transform)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16, jnp.float8_e4m3fn])
def test_other_axes_and_types(dtype):
    gradient = jax.grad(lambda x: top_k(x, 2, axis=0, largest=False).values.astype(jnp.float32).sum())(X.astype(dtype))
    assert gradient.dtype == dtype
    np.testing.assert_array_equal(gradient.astype(np.float32), X != X.max(0))


def test_ties_go_to_the_lowest_position():
    x = jnp.array([1.0, 2.0, 2.0, 2.0, 0.0])
    np.testing.assert_array_equal(jax.grad(lambda x: top_k(x, 2).values.sum())(x), [0, 1, 1, 0, 0])
    np.testing.assert_array_equal(jax.grad(lambda x: kth(x, 3).kth)(x), [0, 1, 0, 0, 0])


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.float8_e5m2])
@pytest.mark.parametrize("row, k, place", [
    ([5.0, -0.0, 0.0, 3.0], 3, 1), ([-np.nan, 1.0, np.nan], 2, 0), ([np.inf, 2.0, np.inf], 3, 1)])
def test_kth_goes_to_the_first_that_ties(row, k, place, dtype):
    x = jnp.array(row).astype(dtype)
    for gradient in (jax.grad, lambda f: jax.jit(jax.grad(f)), lambda f: lambda x: jax.vmap(jax.grad(f))(x[None])[0]):
        result = gradient(lambda x: kth(x, k).kth.astype(jnp.float32))(x)
        np.testing.assert_array_equal(result.astype(np.float32), np.eye(len(row))[place])


def test_kth_among_denormals():
    x = np.array([3, 1, 2, 4], np.uint32).view(np.float32)
    np.testing.assert_array_equal(jax.grad(lambda x: kth(x, 3).kth)(x), [0, 0, 1, 0])


def test_integers_have_none():
    gradient = jax.grad(lambda w: (top_k(jnp.arange(5), 2).values * w).sum() + kth(jnp.arange(5), 2).kth * w)(2.0)
    assert gradient == 10
    (values, indices), (of_values, of_indices) = jax.jvp(lambda x: top_k(x, 2), (X[0],), (X[0],))
    assert of_indices.dtype == jax.dtypes.float0 and of_values.shape == values.shape
