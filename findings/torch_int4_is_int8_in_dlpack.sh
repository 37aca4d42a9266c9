#!/bin/sh
# torch's DLPack says that tensors of int4 are int8: torch 2.15.0 with numpy 2.4.6, on a CPU.
#
# DLPack describes a type by a code and a width in bits, and has room for 4 of them. torch exports each of int1 to int7
# and uint1 to uint7 as 8 bits, so that numpy.from_dlpack() takes what it should refuse, as an array of int8.
#
# Seen:
#   torch.int4 -> int8
#   torch.uint1 -> uint8
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q torch==2.15.0 numpy==2.4.6
"$venv/bin/python" - <<'P'
import numpy as np
import torch

for dtype, wanted in ((torch.int4, "int8"), (torch.uint1, "uint8")):
    found = np.from_dlpack(torch.zeros(4, dtype=torch.uint8).view(dtype)).dtype
    print(dtype, "->", found)
    assert found == wanted
P
