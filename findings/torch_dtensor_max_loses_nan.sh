#!/bin/sh
# A NaN on the second process is not seen: torch 2.15.0 with DTensors over gloo, two processes, on a CPU.
#
# torch.max(), amax() and norms of order infinity are NaN where an element is. A DTensor promises the result that the whole
# tensor has. Here each process reduces its own elements, and gloo's MAX drops the NaN of a later process: so the maximum
# is NaN or a number, as the NaN lies on one process or on the other. This reaches the clipping of gradients by their
# largest magnitude: with error_if_nonfinite=True the NaN passes on all processes. A norm of
# order 2, which is a sum, raises as it should.
#
# Seen, for a NaN among the elements of process 0 and of process 1:
#   process 0: max nan, clipped by order inf: raises, by order 2: raises
#   process 1: max 1.0, clipped by order inf: 1.0, by order 2: raises
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q torch==2.15.0 numpy==2.4.6
cat >"$venv/program.py" <<'P'
import sys

import torch
import torch.distributed as dist
from torch.distributed.tensor import Shard, distribute_tensor

PROCESSES = 2


def clipped(gradient, order):
    weights = torch.nn.Parameter(torch.zeros_like(gradient))
    weights.grad = gradient
    try:
        norm = torch.nn.utils.clip_grad_norm_([weights], 1.0, norm_type=order, error_if_nonfinite=True)
    except RuntimeError:
        return "raises"
    return str(norm.full_tensor().item())


def work(rank, meeting_point):
    dist.init_process_group("gloo", init_method=meeting_point, rank=rank, world_size=PROCESSES)
    mesh = dist.device_mesh.init_device_mesh("cpu", (PROCESSES,))
    seen = []
    for owner in range(PROCESSES):
        numbers = torch.ones(2 * PROCESSES)
        numbers[2 * owner] = float("nan")
        dealt_out = distribute_tensor(numbers, mesh, [Shard(0)])
        seen.append((str(dealt_out.max().full_tensor().item()), clipped(dealt_out, float("inf")), clipped(dealt_out, 2.0)))
        if rank == 0:
            print("process {}: max {}, clipped by order inf: {}, by order 2: {}".format(owner, *seen[-1]))
    assert seen == [("nan", "raises", "raises"), ("1.0", "1.0", "raises")], seen
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(work, ("file://" + sys.argv[1],), PROCESSES)
P
"$venv/bin/python" -W ignore "$venv/program.py" "$venv/meeting-point"
