#!/bin/sh
# heat.sort() of a vector sorts what each process has, and no more: heat 1.8.0 over MPI, two processes, on a CPU.
#
# The axis is the last by default, -1. Heat compares it as it stands with the axis along which the vector is dealt out,
# which is 0. So it takes the axis for one that every process has whole, and its positions are those within a process.
# With axis=0 all is right. heat.topk() finds the right elements, but its positions count from the start of whichever process
# has an element, and integers of 64 bits pass through float64 on the way: also in one process.
#
# Seen:
#   sort(x): 2 3 4 6 7 0 1 5 8 9
#   sort(x, axis=0): 0 1 2 3 4 5 6 7 8 9
#   topk(x, 3): 9 8 7, at their positions: False
#   topk of 2^53 + 1 and 2^53 + 3, k = 1: 9007199254740996
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q heat==1.8.0 torch==2.11.0 numpy==2.4.6 mpi4py==4.1.2 mpich==5.0.2
cat >"$venv/program.py" <<'P'
import heat
import numpy as np

numbers = np.array([4, 6, 2, 7, 3, 5, 9, 0, 8, 1], np.float32)
x = heat.array(numbers, split=0)
whole = {"sort(x)": heat.sort(x)[0], "sort(x, axis=0)": heat.sort(x, axis=0)[0]}
lines = [f"{call}: " + " ".join(str(int(value)) for value in result.numpy()) for call, result in whole.items()]
values, positions = (result.numpy() for result in heat.topk(x, 3))
lines.append(f"topk(x, 3): {' '.join(str(int(value)) for value in values)}, at their positions: "
             f"{np.array_equal(numbers[positions], values)}")
large = heat.topk(heat.array(np.array([2**53 + 1, 2**53 + 3]), split=0), 1)[0].numpy()
lines.append(f"topk of 2^53 + 1 and 2^53 + 3, k = 1: {int(large[0])}")
if x.comm.rank == 0:
    print("\n".join(lines))
P
"$venv/bin/mpiexec" -n 2 "$venv/bin/python" -W ignore "$venv/program.py" | tee "$venv/seen"
grep '^#   ' "$0" | sed 's/^#   //' | diff - "$venv/seen"
