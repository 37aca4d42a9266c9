#!/bin/sh
# A sharded parameter cannot be laid out anew in inference mode: torch 2.11.0, DTensor, one process, on a CPU.
#
# DTensor.redistribute() makes its result with the gradient that the tensor asks for. In torch.inference_mode() autograd then
# detaches this in place, and no rule for that operator is there for tensors on a mesh. Without a gradient it works, and so it
# does under torch.no_grad(). torch 2.15.0 does it all.
#
# Seen:
#   parameter, no_grad: ok
#   parameter, inference_mode: NotImplementedError: Operator aten.detach_.default does not have a sharding strategy registered.
#   the same, detached, inference_mode: ok
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q torch==2.11.0 numpy==2.4.6
cat >"$venv/program.py" <<'P'
import os

import torch
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh

torch.distributed.init_process_group("gloo", init_method=f"file://{os.path.dirname(__file__)}/meet", rank=0, world_size=1)
mesh = init_device_mesh("cpu", (1,))
parameter = torch.nn.Parameter(distribute_tensor(torch.arange(4.0), mesh, [Shard(0)]))


def attempt(name, x, mode):
    try:
        with mode():
            x.redistribute(mesh, [Replicate()])
        print(f"{name}: ok")
    except NotImplementedError as error:
        print(f"{name}: NotImplementedError: {error}")


attempt("parameter, no_grad", parameter, torch.no_grad)
attempt("parameter, inference_mode", parameter, torch.inference_mode)
attempt("the same, detached, inference_mode", parameter.detach(), torch.inference_mode)
torch.distributed.destroy_process_group()
P
"$venv/bin/python" -W ignore "$venv/program.py" 2>/dev/null | tee "$venv/seen"
grep '^#   ' "$0" | sed 's/^#   //' | diff - "$venv/seen"
