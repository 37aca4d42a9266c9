#!/bin/sh
# jax.numpy.from_dlpack() changes numbers without a word: JAX 0.10.2 with numpy 2.4.6, on a CPU.
#
# from_dlpack() shares memory or raises, as the array API has it. While 64-bit types are off, which is the default, JAX
# takes a 64-bit array all the same and keeps the low 32 bits of each integer: 2^33 + 1 becomes 1, with no warning. The
# same numbers as a list are an OverflowError. It concerns positions and counts that are given to JAX as int64.
#
# Seen:
#   from_dlpack int32 [1, 7]
#   list OverflowError
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q jax==0.10.2 numpy==2.4.6
"$venv/bin/python" -W error - <<'P'
import jax.numpy as jnp
import numpy as np

given = jnp.from_dlpack(np.array([2**33 + 1, 7]))
print("from_dlpack", given.dtype, given.tolist())
assert given.dtype == np.int32 and given.tolist() == [1, 7]
try:
    print("list", jnp.array([2**33 + 1, 7]))
except OverflowError:
    print("list OverflowError")
else:
    raise AssertionError("a list is taken now")
P
