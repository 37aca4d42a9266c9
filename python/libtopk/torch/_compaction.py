# SPDX-License-Identifier: Apache-2.0
"""nonzero_static() for libtopk.torch, over an operator whose result is integers, which have no gradient:

    libtopk::nonzero_static(Tensor self, SymInt size, int fill_value) -> Tensor
"""
from __future__ import annotations

import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function_unary

from libtopk import _api, _torch_operator

_library = torch.library.Library("libtopk", "FRAGMENT")
_library.define("nonzero_static(Tensor self, SymInt size, int fill_value) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_operator = torch.ops.libtopk.nonzero_static.default


def _run(self, size, fill_value):
    """Positions in the flat tensor, as coordinates. The host waits for nothing."""
    if self.numel() == 0 or size == 0 or self.dim() == 0:
        return self.new_full((size, self.dim()), fill_value, dtype=torch.int64)
    flat = self.detach().contiguous().view(-1)
    places, offsets = _api.argwhere(flat, capacity=size, **({} if flat.dtype == torch.bool else {"ne": 0}))
    is_match = torch.arange(size, device=self.device) < offsets[-1]
    columns, rest = [], places.to(torch.int64)
    for length in reversed(self.shape):
        columns.append(torch.where(is_match, rest % length, fill_value))
        rest = rest // length
    return torch.stack(columns[::-1], 1)


def _fake(self, size, fill_value):
    return self.new_empty((size, self.dim()), dtype=torch.int64)


def _below_autograd(*arguments):
    with torch._C._AutoDispatchBelowAutograd():
        return _operator(*arguments)


for _key, _function in (("CPU", _run), ("CUDA", _run), ("Autograd", _below_autograd)):
    _library.impl("nonzero_static", _function, _key)
torch.library.register_fake("libtopk::nonzero_static", _fake, lib=_library)


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The coordinates of the first `size` elements that are not zero: torch.nonzero_static, on CPU and CUDA.

    input       a tensor of a type that topk() takes, or of bool. NaN is not zero
    size        how many rows the result has. Elements beyond it are left out
    fill_value  what the rows behind the last match hold

    Returns int64 of shape (size, input.dim()), in the order of the elements. On a GPU the host waits for nothing, so a
    CUDA graph can capture it. There is no vmap.

    Raises TypeError for what is no tensor, or of another type; RuntimeError for a size below 0.
    """
    if not isinstance(input, Tensor) and has_torch_function_unary(input):
        return handle_torch_function(nonzero_static, (input,), input, size=size, fill_value=fill_value)
    if not isinstance(input, Tensor):
        raise TypeError(f"nonzero_static(): argument 'input' must be Tensor, not {type(input).__name__}")
    if input.is_complex():
        raise _torch_operator.UnsupportedDtype("nonzero_static does not support complex dtypes")
    if _torch_operator.integer("nonzero_static", "size", size) < 0:
        raise RuntimeError("nonzero_static(): size is negative")
    fill_value = _torch_operator.integer("nonzero_static", "fill_value", fill_value)
    run = _run if _torch_operator.is_direct(input) else _operator
    return run(input, size, fill_value)
