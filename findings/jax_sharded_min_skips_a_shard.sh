#!/bin/sh
# The minimum of a sharded array is neither NaN nor its least number: jax 0.10.2, four devices of a CPU.
#
# jnp.min() and max() return NaN where an element is, and sharding is to change where elements lie, not results. On a CPU
# each device takes the minimum of its shard, which is NaN, and the reduction over devices drops it: with it goes every
# number of that shard. Below, -1 lies beside the NaN, and the minimum is 0. nanmin() and sum() do what they do for one
# device.
#
# Seen:
#   one device: min nan, max nan, nanmin -1.0
#   four devices: min 0.0, max 5.0, nanmin -1.0
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=4 "$venv/bin/python" - <<'P'
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec


def reductions(numbers):
    return tuple(str(jax.jit(reduce)(numbers)) for reduce in (jnp.min, jnp.max, jnp.nanmin))


numbers = jnp.array([2.0, 0.0, 3.0, 1.0, float("nan"), -1.0, 4.0, 5.0])
sharded = jax.device_put(numbers, NamedSharding(jax.make_mesh((4,), ("devices",)), PartitionSpec("devices")))
for name, given in ("one device", numbers), ("four devices", sharded):
    print("{}: min {}, max {}, nanmin {}".format(name, *reductions(given)))
assert reductions(numbers) == ("nan", "nan", "-1.0") and jnp.isnan(jnp.sum(sharded))
assert reductions(sharded) == ("0.0", "5.0", "-1.0")
P
