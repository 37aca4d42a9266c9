#!/bin/sh
# A program that works on integers alone treats denormals as zeros: jax 0.10.2 on a CPU, under jit.
#
# The bits of floats are often compared as integers, to rank them or to tell the two zeros apart. Without jit such a program
# is right for every element. Under jit, where a comparison of the floats themselves stands beside it, the compiler makes
# a test of the bits for zero into a comparison of floats. That runs with denormals flushed, so a denormal's bits are
# taken for those of a zero.
#
# Seen, for the bits of two positive denormals and a negative one, and what should be returned are these bits:
#   without jit [1, 2, 2147483649]
#   with jit [0, 0, 0]
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
cat >"$venv/program.py" <<'P'
import jax
import jax.numpy as jnp
import numpy as np


def bits_unless_zero(x):
    bits = jax.lax.bitcast_convert_type(x, np.uint32)
    return jnp.where(jnp.isnan(x), 7, jnp.where(bits << 1 == 0, 0, bits))


denormals = jnp.asarray(np.array([1, 2, 0x80000001], np.uint32).view(np.float32))
print("without jit", bits_unless_zero(denormals).tolist())
print("with jit", jax.jit(bits_unless_zero)(denormals).tolist())
P
"$venv/bin/python" "$venv/program.py" | tee "$venv/seen"
grep '^#   ' "$0" | sed 's/^#   //' | diff - "$venv/seen"
