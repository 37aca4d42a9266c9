# SPDX-License-Identifier: Apache-2.0
"""libtopk.mpi on several ranks gives the bits of one process."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")
MPIRUN = shutil.which("mpirun")
# As in tests/dist/CMakeLists.txt: as root, more ranks than processors, and these yield while they wait.
LAUNCH = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
          "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
          "OMPI_MCA_btl": "self,vader", "OMP_NUM_THREADS": "1"}


def run(ranks, program, *arguments):
    if MPIRUN is None:
        pytest.skip("no mpirun here")
    job = subprocess.run([MPIRUN, "-n", str(ranks), sys.executable, "-m", "mpi4py", str(program), *arguments],
                         env={**os.environ, **LAUNCH}, capture_output=True, text=True, timeout=900)
    assert job.returncode == 0, job.stdout[-2000:] + job.stderr[-4000:]
    return job.stdout


@pytest.mark.parametrize("ranks, problems", ((1, 24), (2, 24), (3, 24), (7, 12)))
def test_ranks_are_one_process(ranks, problems):
    printed = run(ranks, Path(__file__).parent / "ranks.py", str(problems))
    assert f"{ranks} ranks are done" in printed


def test_examples():
    printed = run(3, Path(__file__).parent / "examples.py")
    assert "the best tenth of all tokens" in printed and "held by each rank" in printed
