#!/bin/sh
# topk() announces a shape that it does not have, and argtopk() fails where topk() works: dask 2026.8.0, numpy 2.4.6, on a
# CPU.
#
# k may exceed the length for topk(), which then returns all there is. The lazy array says k all the same, so len() and
# shape are wrong until it is computed. argtopk(), its twin, raises ValueError where k reaches the length of all chunks.
#
# Seen:
#   topk(9) of 6 elements: says (9,) has (6,)
#   argtopk(5) [5, 4, 3, 2, 1]
#   argtopk(6) ValueError: too many values to unpack (expected 2)
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q 'dask[array]==2026.8.0' numpy==2.4.6
"$venv/bin/python" - <<'P'
import dask.array as da
import numpy as np

x = da.from_array(np.arange(6.0), chunks=2)
lazy = x.topk(9)
print("topk(9) of 6 elements: says", lazy.shape, "has", lazy.compute().shape)
assert lazy.shape == (9,) and lazy.compute().shape == (6,)
print("argtopk(5)", x.argtopk(5).compute().tolist())
try:
    print("argtopk(6)", x.argtopk(6).compute().tolist())
except ValueError as error:
    print("argtopk(6) ValueError:", error)
else:
    raise SystemExit("argtopk(6) works")
P
