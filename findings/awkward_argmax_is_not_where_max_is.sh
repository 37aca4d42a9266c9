#!/bin/sh
# The largest element and its position disagree: awkward 2.14.0 with numpy 2.4.6, on a CPU.
#
# awkward.max() leaves NaN out, unlike numpy.max(), so one expects awkward.argmax() to do so, too. It does, unless a list
# begins with NaN: then it answers 0, the place of the NaN, and x[argmax(x)] is not max(x). argmin() and min() likewise.
# numpy's pair agrees: both answer with the NaN, wherever it stands. awkward.nanargmax() has the position of max().
#
# Seen:
#   [1.0, nan, 3.0] max 3.0 argmax 2 nanargmax 2
#   [nan, 2.0] max 2.0 argmax 0 nanargmax 1
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q awkward==2.14.0 awkward-cpp==57 numpy==2.4.6
"$venv/bin/python" - <<'P'
import awkward as ak

lists = ak.Array([[1.0, float("nan"), 3.0], [float("nan"), 2.0]])
seen = list(zip(*(f(lists, axis=1).to_list() for f in (ak.max, ak.argmax, ak.nanargmax))))
for one, (largest, at, nan_at) in zip(lists.to_list(), seen):
    print(one, "max", largest, "argmax", at, "nanargmax", nan_at)
assert seen == [(3.0, 2, 2), (2.0, 0, 1)]
assert ak.min(lists, axis=1).to_list() == [1.0, 2.0] and ak.argmin(lists, axis=1).to_list() == [0, 0]
P
