# SPDX-License-Identifier: Apache-2.0
"""libtopk.torch.nonzero_static beside torch's."""
import math

import pytest

torch = pytest.importorskip("torch")

from libtopk.torch import nonzero_static  # noqa: E402

TYPES = (torch.bool, torch.uint8, torch.int64, torch.bfloat16, torch.float32, torch.float64)
SHAPES = ((), (0,), (1,), (200,), (3, 0, 2), (7, 11), (4, 5, 6))


def tensor_of(shape, dtype, seed=1):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(-1, 3, shape, generator=generator).clamp(min=0).to(dtype)
    if dtype.is_floating_point and x.numel() > 9:
        x.view(-1)[3], x.view(-1)[4], x.view(-1)[5] = float("nan"), -0.0, -1e-30
    return x


def wanted(x, size, fill_value):
    found = torch.nonzero(x)[:size]
    return torch.cat([found, torch.full((size - len(found), x.dim()), fill_value)])


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_results_are_those_of_torch(shape, dtype):
    x = tensor_of(shape, dtype)
    for size in (0, 1, 5, math.prod(shape), math.prod(shape) + 3):
        for fill_value in (-1, 7):
            found = nonzero_static(x, size=size, fill_value=fill_value)
            assert found.dtype == torch.int64 and torch.equal(found, wanted(x, size, fill_value))
            assert torch.equal(found, torch.nonzero_static(x, size=size, fill_value=fill_value))


def test_strides():
    x = tensor_of((8, 9, 10), torch.float32)
    for view in (x.mT, x[::2, :, 3:], x[:, 0].expand(3, 8, 10), x.permute(2, 0, 1)):
        assert torch.equal(nonzero_static(view, size=300), wanted(view, 300, -1))


def test_transforms():
    x = tensor_of((7, 11), torch.float32)
    compiled = torch.compile(lambda x, size: nonzero_static(x * 2, size=size) + 1, backend="aot_eager", fullgraph=True)
    for size in (5, 40, 99):
        assert torch.equal(compiled(x, size), wanted(x, size, -1) + 1)
    assert not nonzero_static(x.clone().requires_grad_(), size=3).requires_grad
    torch.library.opcheck(torch.ops.libtopk.nonzero_static.default, (x, 9, -1))
    assert nonzero_static(x.to("meta"), size=4).shape == (4, 2)


def test_errors():
    x = torch.ones(3)
    for error, words, call in ((RuntimeError, "size is negative", lambda: nonzero_static(x, size=-1)),
                               (TypeError, "size", lambda: nonzero_static(x, size=1.5)),
                               (TypeError, "fill_value", lambda: nonzero_static(x, size=1, fill_value="a")),
                               (TypeError, "must be Tensor", lambda: nonzero_static([1], size=1)),
                               (TypeError, "complex", lambda: nonzero_static(x + 1j, size=1))):
        with pytest.raises(error, match=words):
            call()
