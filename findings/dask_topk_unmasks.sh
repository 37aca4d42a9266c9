#!/bin/sh
# A masked number comes back as the largest: dask 2026.8.0 with numpy 2.4.6, on a CPU.
#
# dask.array has masked arrays, and max(), min() and sort-like reductions leave out what is masked. So one expects topk()
# to do so, too. It goes through numpy.partition(), which drops the mask with no more than a warning: the masked 9 is
# returned, and is no longer masked. argtopk() returns its position.
#
# Seen:
#   max 4.0
#   topk [9.0, 4.0] masked [False, False]
#   argtopk [1, 3]
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q 'dask[array]==2026.8.0' numpy==2.4.6
"$venv/bin/python" -W ignore - <<'P'
import dask.array as da
import numpy as np

numbers = np.ma.masked_array([1.0, 9.0, 3.0, 4.0], [False, True, False, False])
x = da.from_array(numbers, chunks=2)
best, places = x.topk(2).compute(), x.argtopk(2).compute()
print("max", x.max().compute())
print("topk", best.data.tolist(), "masked", np.ma.getmaskarray(best).tolist())
print("argtopk", places.tolist())
assert x.max().compute() == 4 and best.tolist() == [9.0, 4.0] and sorted(places.tolist()) == [1, 3]
P
