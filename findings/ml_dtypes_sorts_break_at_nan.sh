#!/bin/sh
# One NaN leaves the numbers out of order: numpy.sort of bfloat16 and 8-bit floats, ml_dtypes 0.6.0 with numpy 2.4.6.
#
# numpy sorts its own floats with NaN behind all numbers. For the types of ml_dtypes it asks them which of two elements is
# less; a NaN is equal to everything then. So a sort ends with runs on both sides of a NaN that are not merged. argsort,
# partition, argpartition, unique, searchsorted and lexsort go the same way, stable or not. The k largest elements by such
# a call miss some, numpy.unique repeats some, and numpy.median of many elements can be a number where others are NaN.
# max, argmax and comparisons are right. Sorting x.astype(numpy.float32) is a way round.
#
# Seen:
#   float32: sort [1.0, 2.0, 3.0, 4.0, 5.0, nan], unique [1.0, 2.0, nan]
#   bfloat16: sort [4.0, 5.0, nan, 1.0, 2.0, 3.0], unique [1.0, nan, 1.0, 2.0]
#   float8_e4m3fn: sort [4.0, 5.0, nan, 1.0, 2.0, 3.0], unique [1.0, nan, 1.0, 2.0]
#   float8_e5m2: sort [4.0, 5.0, nan, 1.0, 2.0, 3.0], unique [1.0, nan, 1.0, 2.0]
#   bfloat16, 1000 numbers and 10 NaN, the 20 largest by a stable argsort: 6 of them
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q ml_dtypes==0.6.0 numpy==2.4.6
cat >"$venv/program.py" <<'P'
import ml_dtypes
import numpy as np

NAN = float("nan")


def numbers(array):
    return array.astype(np.float64).tolist()


for name in ("float32", "bfloat16", "float8_e4m3fn", "float8_e5m2"):
    dtype = getattr(ml_dtypes, name, np.float32)
    ordered = np.sort(np.array([5, 4, NAN, 3, 2, 1], dtype))
    print(f"{name}: sort {numbers(ordered)}, unique {numbers(np.unique(np.array([1, NAN, 2, 1, 2, 1], dtype)))}")

x = np.arange(1000).astype(np.float32)
x[::100] = NAN
x = np.random.RandomState(1).permutation(x).astype(ml_dtypes.bfloat16)
order = np.argsort(x, kind="stable")
best = order[~np.isnan(x[order].astype(np.float32))][-20:]
right = np.sort(x.astype(np.float32))[:990][-20:]
found = sum(float(value) >= right[0] for value in x[best])
print(f"bfloat16, 1000 numbers and 10 NaN, the 20 largest by a stable argsort: {found} of them")
P
"$venv/bin/python" "$venv/program.py" | tee "$venv/seen"
grep '^#   ' "$0" | sed 's/^#   //' | diff - "$venv/seen"
