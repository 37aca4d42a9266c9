# SPDX-License-Identifier: Apache-2.0
import pytest


@pytest.fixture(params=("cpu", "cuda"))
def device(request):
    """Each device that this machine has."""
    torch = pytest.importorskip("torch")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return request.param


@pytest.fixture(autouse=True)
def seed():
    torch = pytest.importorskip("torch")
    torch.manual_seed(20251)
