#!/bin/sh
# Ranks of integers that differ are ties: bottleneck 1.6.0, and xarray, which asks it.
#
# rankdata() has code of its own for 64-bit integers, but compares them as floats of 64 bits. Beyond 2^53 neighbours
# become one number and share a rank. Times in nanoseconds lie there: two that are 100 ns apart tie. scipy ranks the
# same integers without a tie, and so does sorting them.
#
# Seen, for four times that are 100 ns apart, and what they should be is [1.0, 2.0, 3.0, 4.0]:
#   bottleneck [1.5, 1.5, 3.5, 3.5]
#   xarray [1.5, 1.5, 3.5, 3.5]
#   scipy [1.0, 2.0, 3.0, 4.0]
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q bottleneck==1.6.0 xarray==2026.9.0 pandas==3.1.1 scipy==1.17.1 numpy==2.4.6
cat >"$venv/program.py" <<'P'
import bottleneck
import numpy as np
import scipy.stats
import xarray

times = np.datetime64("2026-01-01", "ns").astype(np.int64) + 100 * np.arange(4)
print("bottleneck", bottleneck.rankdata(times).tolist())
print("xarray", xarray.DataArray(times, dims="time").rank("time").values.tolist())
print("scipy", scipy.stats.rankdata(times).tolist())
P
"$venv/bin/python" "$venv/program.py" | tee "$venv/seen"
grep '^#   ' "$0" | sed 's/^#   //' | diff - "$venv/seen"
