#!/bin/sh
# A NaN makes sort() lose numbers, repeat others and return an infinity that nobody gave it: tinygrad 0.14.0, on a CPU.
#
# One expects NaN at one end, and every number there once. tinygrad sorts by a network of maxima and minima, pads rows to
# a power of two with infinities, and finds positions by comparing values, where NaN equals nothing. So of two numbers and
# a NaN come the numbers and +infinity. Of four elements two come twice and the greatest is missing; topk() goes by that:
# for 1, 2, 3 and NaN it answers 2 and 1, where torch has NaN and 3. argmax() of three elements may answer 3, which is no
# position.
#
# tinygrad compiles for a CPU with clang, which must be there.
#
# Seen:
#   sort [5.0, 1.0, nan] -> [1.0, 5.0, inf] at [1, 0, 0]
#   topk 2 of [1.0, 2.0, 3.0, nan] -> [2.0, 1.0] at [1, 0]
#   argmax [nan, 5.0, 1.0] -> 3
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q tinygrad==0.14.0
DEV=CPU "$venv/bin/python" - <<'P'
from tinygrad import Tensor

NAN = float("nan")
values, places = Tensor([5.0, 1.0, NAN]).sort()
print("sort [5.0, 1.0, nan] ->", values.tolist(), "at", places.tolist())
assert values.tolist() == [1.0, 5.0, float("inf")] and places.tolist() == [1, 0, 0]
values, places = Tensor([1.0, 2.0, 3.0, NAN]).topk(2)
print("topk 2 of [1.0, 2.0, 3.0, nan] ->", values.tolist(), "at", places.tolist())
assert values.tolist() == [2.0, 1.0] and places.tolist() == [1, 0]
place = Tensor([NAN, 5.0, 1.0]).argmax().item()
print("argmax [nan, 5.0, 1.0] ->", place)
assert place == 3
P
