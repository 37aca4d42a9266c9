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


def run_ranks(tmp_path, device):
    job = subprocess.run([sys.executable, str(Path(__file__).parent / "ranks.py"), str(tmp_path / "meet"), device], text=True,
                         env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, timeout=900)
    assert job.returncode == 0, job.stdout[-2000:] + job.stderr[-6000:]
    return job.stdout


def test_ranks_are_one_process(tmp_path):
    printed = run_ranks(tmp_path, "cpu")
    assert "7 ranks are done" in printed and "likeliest tokens" in printed


@pytest.mark.skipif(not (torch.cuda.is_available() and torch.distributed.is_nccl_available()), reason="no GPU with NCCL")
def test_ranks_of_gpus_are_one_process(tmp_path):
    assert f"{min(7, torch.cuda.device_count())} ranks are done" in run_ranks(tmp_path, "cuda")
