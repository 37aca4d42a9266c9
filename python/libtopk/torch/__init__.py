# SPDX-License-Identifier: Apache-2.0
"""libtopk for torch: drop-ins for torch.topk, kthvalue, median and quantile, operators, and the MaxK activations.

    from libtopk.torch import topk, kthvalue, median, quantile, maxk, MaxK, SparseMaxK

`topk`, `kthvalue`, `median`, `quantile` and `nonzero_static` take the place of torch's. The others keep the k largest elements of each
row. All work on CPU and CUDA tensors, are differentiable, and go through torch.compile, torch.export, torch.func,
torch.fx.symbolic_trace, torch.jit.trace and CUDA graphs by way of the operators `torch.ops.libtopk.topk`, `argkth`,
`argkths` and `nonzero_static`, which returns integers and has no vmap.

TorchScript's compiler takes none of these functions. torch.jit.script of a model with MaxK or SparseMaxK raises
NotImplementedError; of code that calls topk() it ends in an error of torch's own. Use torch.export.export or
torch.jit.trace in its place. ONNX has no such operator, so torch.onnx.export says that there is none for libtopk.topk;
with dynamo=True and a translation of it to ONNX's TopK, as python/README.md has one, it exports exact selections.

Order. Elements rank by value; -0.0 equals +0.0. Among equal elements the one with the lowest index is chosen, and
comes first in sorted results. All NaN equal each other and rank above +infinity, as in torch.

Results depend on the input alone: the same values and indices on every device and run. With sorted=False their order
along the dimension is not promised.

DTensors. topk, maxk and the modules take tensors on a mesh of ranks, and gradients lie as the tensor does; the other
functions do not. A mesh dimension that shards another dimension than the selected one shards the results, and nothing is
sent. One that shards the selected dimension replicates the results: ranks send the k best elements of each row and their
positions, not the tensor, unless these take as many bytes (or max_iterations asks for an approximation). Partial sums are
added up first; what is sharded unlike Shard is gathered. A NaN counts on whichever rank it lies: max() and norms of order
infinity of DTensors can lose it over gloo. It needs torch 2.6.

Gradients. A chosen element receives the gradient of its result, every other element zero. Indices have no gradient.
For the backward pass of `topk` the indices are kept, not the input. Forward mode and gradients of any order work as
well.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.overrides import handle_torch_function, has_torch_function_unary

from libtopk import _torch_operator
from libtopk.torch._compaction import nonzero_static
from libtopk.torch._orders import kthvalue, median, quantile

__all__ = ["MaxK", "SparseMaxK", "kthvalue", "maxk", "median", "nonzero_static", "quantile", "topk"]


def topk(input: Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True, *,
         out: tuple[Tensor, Tensor] | None = None, axis: int | None = None,
         order: str | None = None) -> torch.return_types.topk:
    """The k largest or smallest elements of `input` along `dim`: torch.topk, at libtopk's speed.

    input    a tensor of any shape and strides; float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, or
             an integer type of 8 to 64 bits, signed or not
    k        how many, from 0 to the size of `dim`. A tensor without dimensions has size 1, and keeps its element
             for k = 0 too
    dim      the dimension to choose along; None for the last one
    largest  True for the largest elements, False for the smallest
    sorted   True for results best first, False for any order
    out      two tensors (values, indices) to write to: of the dtypes of the results, on the device of `input`. They
             are resized to the shape of the results, with a warning if they had elements
    axis     another name of dim, as torch.topk has it
    order    in place of `sorted`: "best" first, "any" order, or by "position", which torch.topk does not have. Gathers
             by ascending index are faster, and all devices and ranks agree on the indices

    Returns the named tuple (values, indices) of torch.topk: contiguous tensors of the shape of `input`, with k in
    place of the size of `dim`. Values have the dtype of `input`, indices int64.

    Raises, as torch.topk does,
      TypeError     for an argument of another type, and for an `out` that is no pair of tensors
      IndexError    for a `dim` that `input` does not have
      RuntimeError  for k out of range, for an `out` of another dtype or device, and for an `out` where a gradient
                    would be recorded

    For bool and complex numbers it is an error of type TypeError and NotImplementedError at once: torch.topk raises
    one or the other.

    The module's documentation has the order of ties and NaN, and gradients.
    """
    if axis is not None:
        if dim is not None:
            raise TypeError("topk(): dim and axis are two names of one argument, and both are given")
        dim = axis
    if not isinstance(input, Tensor):
        if has_torch_function_unary(input):  # what stands for a tensor, as in torch.fx
            return handle_torch_function(topk, (input,), input, k, dim, largest, sorted, out=out, order=order)
        raise TypeError(f"topk(): argument 'input' must be Tensor, not {type(input).__name__}")
    k = _torch_operator.integer("topk", "k", k)
    dim = -1 if dim is None else _torch_operator.integer("topk", "dim", dim)
    for name, flag in (("largest", largest), ("sorted", sorted)):
        if not isinstance(flag, bool):
            raise TypeError(f"topk(): argument '{name}' must be bool, not {type(flag).__name__}")
    if order not in (None, "best", "any", "position"):
        raise ValueError(f"topk(): argument 'order' must be 'best', 'any' or 'position', not {order!r}")
    if out is not None:
        return _topk_out(input, k, dim, largest, sorted, out, order)
    flags = (largest, sorted, 0) if order is None else (largest, sorted, 0, order)
    return torch.return_types.topk(_torch_operator.select(input, k, dim, *flags))


def _topk_out(input, k, dim, largest, sorted, out, order):
    _torch_operator.check_out("topk", input, out, (input.dtype, torch.int64))
    shape = _torch_operator.result_shape(input, k, dim)
    for tensor in out:
        _torch_operator.resize(tensor, shape)
    values, indices = out
    if _can_write(input, values, indices):
        _torch_operator.run(input, k, dim, largest, sorted, 0, order, out=(values.detach(), indices))
    else:
        results = _torch_operator.select(input, k, dim, largest, sorted, 0, order)
        values.copy_(results[0])
        indices.copy_(results[1])
    return torch.return_types.topk_out((values, indices))


def _can_write(input, *out):
    """Whether libtopk can write to `out` itself: else its results are copied there."""
    if not input.dim() or not all(map(_torch_operator.is_direct, (input, *out))):
        return False
    storages = {tensor.untyped_storage().data_ptr() for tensor in (input, *out)}
    return len(storages) == 3 and all(tensor.is_contiguous() for tensor in out)


def maxk(x: Tensor, k: int, max_iterations: int = 0) -> Tensor:
    """Keeps the k largest elements of each row of `x`, its last dimension, and sets all others to zero.

    x               a tensor of one dimension or more, of the dtypes of topk()
    k               how many to keep: 0 to the size of the last dimension
    max_iterations  0 for the exact result. Else the number of steps of RTop-K's search, for floating-point `x`: of
                    each row k elements are kept, the largest ones to within the precision that this number of halvings
                    of the row's range gives. Rows have at most 8192 elements then

    Returns a tensor of the shape and dtype of `x`. Raises RuntimeError for k out of range, ValueError for a tensor
    without dimensions, and NotImplementedError for what max_iterations cannot have; for other dtypes as topk() does.

    This is the nonlinearity of MaxK-GNN (Peng et al., ASPLOS 2024). The search is RTop-K's (Xie et al., ICLR
    2025). Few steps may cost a network accuracy. With k = 32 of 256, two steps took GraphSAGE from 84.5 % to 81.9 %,
    below the 82.8 % of ReLU; five to eight steps cost none of three networks more than 0.3 points
    (docs/benchmarks/h100/notes-python.md).
    """
    if not isinstance(x, Tensor) and has_torch_function_unary(x):
        return handle_torch_function(maxk, (x,), x, k, max_iterations)
    values, indices = _sparse_maxk(x, k, max_iterations, sorted=False)
    scatter = _torch_operator.scatter_of(x, -1)
    if values.dtype.itemsize == 1 and not values.requires_grad:  # torch cannot scatter all types of 8 bits
        return scatter(values.view(torch.uint8), indices).view(x.dtype)
    return scatter(values, indices)


def _sparse_maxk(x, k, max_iterations, sorted):
    if not isinstance(x, Tensor) and has_torch_function_unary(x):
        return handle_torch_function(_sparse_maxk, (x,), x, k, max_iterations, sorted)
    if not x.dim():
        raise ValueError("maxk needs at least one dimension")
    return _torch_operator.select(x, k, -1, True, sorted, max_iterations)


class MaxK(nn.Module):
    """maxk() as a module: keeps the k largest elements of the last dimension, and sets all others to zero.

    k               how many to keep; forward() raises RuntimeError for rows with fewer elements
    max_iterations  0 for the exact result, else the number of steps of RTop-K's approximate search, for floating-point
                    rows of at most 8192 elements

    It has no parameters and no buffers.
    """

    def __init__(self, k: int, max_iterations: int = 0) -> None:
        super().__init__()
        if k < 0 or max_iterations < 0:
            raise ValueError(f"k and max_iterations must not be negative: {k}, {max_iterations}")
        self.k = k
        self.max_iterations = max_iterations

    def forward(self, x: Tensor) -> Tensor:
        return maxk(x, self.k, self.max_iterations)

    def __prepare_scriptable__(self):  # torch.jit.script asks for what it should compile
        raise NotImplementedError(f"torch.jit.script cannot compile {type(self).__name__}: use torch.export.export or "
                                  "torch.jit.trace")

    def extra_repr(self) -> str:
        return f"k={self.k}" + (f", max_iterations={self.max_iterations}" if self.max_iterations else "")


class SparseMaxK(MaxK):
    """MaxK in sparse form: forward() returns (values, indices) of the k largest elements of each row, best first.

    Both have the shape of the input, with k in place of the last size. Values have its dtype, indices int64. Takes the
    arguments of MaxK. `torch.zeros_like(x).scatter(-1, indices, values)` is MaxK's result.
    """

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return _sparse_maxk(x, self.k, self.max_iterations, sorted=True)
