# SPDX-License-Identifier: Apache-2.0
"""libtopk.torch.distributed on several ranks gives the bits of one process."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", minversion="2.6")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("no gloo in this torch", allow_module_level=True)


def run(ranks, program, folder, *arguments):
    """Runs a program once for each rank: its arguments are the rank, the number of ranks, and a file to meet by."""
    jobs = [subprocess.Popen([sys.executable, str(Path(__file__).parent / program), str(rank), str(ranks),
                              str(folder / "meet"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}) for rank in range(ranks)]
    try:
        printed = [job.communicate(timeout=900)[0] for job in jobs]
    finally:
        for job in jobs:
            job.kill()
    assert [job.returncode for job in jobs] == [0] * ranks, "\n".join(text[-3000:] for text in printed)
    return printed


@pytest.mark.parametrize("ranks, problems", ((1, 28), (2, 12), (3, 8), (7, 2)))
def test_ranks_are_one_process(ranks, problems, tmp_path):
    printed = run(ranks, "ranks.py", tmp_path, str(problems))
    assert all(f"rank {rank} is done" in text for rank, text in enumerate(printed))
