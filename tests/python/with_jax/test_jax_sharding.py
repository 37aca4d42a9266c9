# SPDX-License-Identifier: Apache-2.0
"""Arrays on a mesh of four devices: the results of one device, and what is sent for them."""
import re

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

import rows  # noqa: E402
from libtopk.jax import kth, top_k  # noqa: E402

pytestmark = pytest.mark.skipif(jax.device_count() < 4, reason="there are fewer than four devices")
ARRAY = rows.rows_of("float32", (4, 32), seed=2)
SPECS = [P(), P("a"), P(("a", "b")), P(None, "b"), P("a", "b"), P("b", "a"), P(None, ("a", "b")), P(None, ("b", "a"))]


def mesh_of(kind):
    return jax.make_mesh((2, 2), ("a", "b"), axis_types=(kind, kind))


def sent(function, x):
    """The lines of a compiled program that bring elements from one device to another."""
    text = jax.jit(function).lower(x).compile().as_text()
    return re.findall(r"= \S+ (?:all-gather|all-reduce|all-to-all|collective-permute)\(", text)


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_results_are_those_of_one_device(kind, spec):
    x = jax.device_put(ARRAY, NamedSharding(mesh_of(kind), spec))
    for k in (3, 20):  # fewer and more than a shard may have
        results = jax.jit(lambda x: top_k(x, k))(x)
        assert rows.agree(results, rows.top_k(ARRAY, k))
        lead = spec[0] if len(spec) else None
        assert all(result.sharding.is_equivalent_to(NamedSharding(x.sharding.mesh, P(lead)), 2) for result in results)
    assert rows.agree(jax.jit(lambda x: kth(x, 5))(x), rows.kth(ARRAY, 5))
    assert rows.agree(jax.jit(lambda x: top_k(x, 3, axis=0))(x), rows.top_k(ARRAY, 3, axis=0))


@pytest.mark.parametrize("spec", [P("a", "b"), P(None, ("b", "a"))], ids=str)
def test_transforms(spec):
    numbers = np.random.default_rng(4).permutation(ARRAY.size).reshape(ARRAY.shape).astype(np.float32)
    wanted = jax.grad(lambda x: (jax.lax.top_k(x, 5)[0] ** 2).sum())(numbers)
    for kind in (AxisType.Auto, AxisType.Explicit):
        x = jax.device_put(numbers, NamedSharding(mesh_of(kind), spec))
        np.testing.assert_array_equal(jax.jit(jax.grad(lambda x: (top_k(x, 5).values ** 2).sum()))(x), wanted)
        assert rows.agree(jax.jit(jax.vmap(lambda x: top_k(x, 5)))(x), rows.top_k(numbers, 5))
        lowest = jax.jit(jax.grad(lambda x: kth(x, 32).kth.sum()))(x)
        np.testing.assert_array_equal(lowest, numbers == numbers.min(1, keepdims=True))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "int8", "uint16", "float64",
                                  "int64"])
def test_candidates_of_all_types(name):
    with jax.enable_x64(name in rows.WIDE):
        array = rows.rows_of(name, (2, 40))
        x = jax.device_put(array, NamedSharding(mesh_of(AxisType.Auto), P(None, ("a", "b"))))
        index_dtype = np.int64 if name in rows.WIDE else np.int32
        results = jax.jit(lambda x: top_k(x, 12, largest=False, nan="last", index_dtype=index_dtype))(x)
        assert rows.agree(results, rows.top_k(array, 12, largest=False, nan="last", index_dtype=index_dtype))


def test_what_is_sent():
    mesh = mesh_of(AxisType.Auto)
    batch, along = (jax.device_put(ARRAY, NamedSharding(mesh, spec)) for spec in (P(("a", "b")), P("a", "b")))
    assert not sent(lambda x: top_k(x, 3), batch) and not sent(lambda x: kth(x, 3), batch)
    assert not sent(jax.grad(lambda x: top_k(x, 3).values[..., 0].sum()), batch)
    candidates = sent(lambda x: top_k(x, 3), along)  # of each of two shards, of two rows
    assert len(candidates) == 2 and all("[2,6]" in line for line in candidates)
    gathered = sent(lambda x: kth(x, 3), along)
    assert len(gathered) == 1 and "[2,32]" in gathered[0]


def test_lengths_that_shards_do_not_divide():
    x = jax.device_put(ARRAY, NamedSharding(mesh_of(AxisType.Auto), P(None, ("a", "b"))))
    assert rows.agree(jax.jit(lambda x: top_k(x[:, :29], 6))(x), rows.top_k(ARRAY[:, :29], 6))


def test_shardings_of_results():
    mesh = mesh_of(AxisType.Auto)
    x = jax.device_put(ARRAY, NamedSharding(mesh, P("a", "b")))
    results = jax.jit(lambda x: top_k(x, 4), out_shardings=NamedSharding(mesh, P("b", "a")))(x)
    assert rows.agree(results, rows.top_k(ARRAY, 4))


def test_shard_map():
    mesh = mesh_of(AxisType.Auto)
    for checked in (True, False):
        best = jax.shard_map(lambda x: top_k(x, 3), mesh=mesh, in_specs=P("a", "b"), out_specs=P("a", "b"),
                             check_vma=checked)
        parts = [rows.top_k(part, 3) for part in np.split(ARRAY, 2, axis=1)]
        assert rows.agree(jax.jit(best)(ARRAY), [np.concatenate(each, 1) for each in zip(*parts)])
        summed = jax.shard_map(lambda x: top_k(x, 3).values, mesh=mesh, in_specs=P("a"), out_specs=P("a"), check_vma=checked)
        numbers = np.arange(128.0, dtype=np.float32).reshape(4, 32)
        gradient = jax.jit(jax.grad(lambda x: summed(x).sum()))(numbers)
        np.testing.assert_array_equal(gradient, np.arange(32) >= np.full((4, 1), 29))
        some = jax.shard_map(lambda x: top_k(x, 3), mesh=mesh, in_specs=P("a"), out_specs=P("a"), axis_names={"a"},
                             check_vma=checked)
        with pytest.raises(NotImplementedError, match="over all axes"):
            jax.jit(some)(jnp.asarray(ARRAY))
