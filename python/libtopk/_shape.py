# SPDX-License-Identifier: Apache-2.0
"""Arrays to plan with."""
from __future__ import annotations

import math
import operator
import re
from typing import Any

from libtopk._kinds import NAMES, name_of


class Shape:
    """Stands for an array that does not exist, where no element is read: in workspace_size() and explain().

        bytes = libtopk.workspace_size("topk", libtopk.Shape((4096, 256), "float32", "cuda"), 32)

    shape    a tuple, or one length
    dtype    a name such as "float32", or a type of numpy or torch
    device   "cpu", "cuda" or "cuda:1", as torch names devices; "cuda" is the first one. None: the device of the option
             context, or else the CPU

    The array is contiguous in C order. Options that are arrays of integers can be Shapes too; an array of k then needs
    k_max. Calls that run raise TypeError for a Shape. Raises TypeError for a dtype that libtopk does not know,
    ValueError for a negative length or another device, and OverflowError beyond 2^63 bytes.
    """

    __slots__ = ("shape", "dtype", "device", "ordinal")

    def __init__(self, shape: int | tuple[int, ...], dtype: Any, device: Any = None):
        lengths = (shape,) if hasattr(shape, "__index__") else tuple(shape)
        self.shape = tuple(map(operator.index, lengths))
        self.dtype = name_of(dtype)
        self.device = None if device is None else str(device)
        if min(self.shape, default=0) < 0:
            raise ValueError(f"a Shape of {self.shape}, where no length can be negative")
        if self.dtype not in NAMES:
            raise TypeError(f"a Shape of type {dtype!r}, which is none of {', '.join(NAMES)}")
        if math.prod(max(1, length) for length in self.shape) >= 2**60:
            raise OverflowError(f"a Shape of {self.shape}, which is more than 2^63 bytes can hold")
        self.ordinal = _ordinal_of(self.device)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a Shape without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        device = "" if self.device is None else f", {self.device!r}"
        return f"Shape({self.shape}, {self.dtype!r}{device})"


def _ordinal_of(device: str | None) -> int:
    """As the core numbers devices: -1 is the CPU, -2 is whichever the context is for."""
    if device is None:
        return -2
    match = re.fullmatch(r"cuda(?::(\d{1,4}))?|cpu(?::0)?", device)
    if match is None:
        raise ValueError(f"device is {device!r}, and can be 'cpu', 'cuda' or 'cuda:N'")
    return -1 if device.startswith("cpu") else int(match[1] or 0)
