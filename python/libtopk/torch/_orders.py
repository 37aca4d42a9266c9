# SPDX-License-Identifier: Apache-2.0
"""kthvalue(), median() and quantile() for libtopk.torch, over operators that tell where the k-th elements are:

    libtopk::argkth(Tensor self, SymInt k, int dim, bool nan_first) -> Tensor
    libtopk::argkths(Tensor self, SymInt[] k, int dim, bool nan_first) -> Tensor

The result of argkths has len(k) elements along `dim`. Both return integers, which have no gradient. Values are gathered
by them: gather() has gradients in all modes.
"""
from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function_unary

from libtopk import _api, _torch_operator

_library = torch.library.Library("libtopk", "FRAGMENT")
for _name, _k in (("argkth", "SymInt"), ("argkths", "SymInt[]")):
    _library.define(f"{_name}(Tensor self, {_k} k, int dim, bool nan_first) -> Tensor",
                    tags=(torch.Tag.pt2_compliant_tag,))
_argkth, _argkths = torch.ops.libtopk.argkth.default, torch.ops.libtopk.argkths.default


def _first(flags, dim):
    """The lowest index of what is true; 0 if nothing is."""
    return _api.call_topk(flags.view(torch.uint8), 1, True, True, dim, None, None, None)[1].squeeze(dim)


def _values(self, k, dim):
    """The k-th smallest, side by side along `dim`. A GPU reads rows for each k, and needs less memory one by one."""
    if self.is_cuda or len(k) == 1:
        return torch.cat([_api.kth(self, each, False, dim).kth.unsqueeze(dim) for each in k], dim)
    return _api.kth(self, torch.tensor(k).reshape((1,) * (self.dim() - 1) + (-1,)), False, dim).kth


def _index_of(self, kth, has_nan, dim):
    equal = self == kth
    if has_nan is not None and (has_nan.is_cuda or has_nan.any()):  # the question would wait for a GPU
        equal = torch.where(has_nan, self.isnan(), equal)
    return _first(equal, dim).unsqueeze(dim)


def _run(self, k, dim, nan_first):
    return _run_all(self, [k], dim, nan_first).squeeze(dim)


def _run_all(self, k, dim, nan_first):
    """For each of k: the lowest index of an element that equals the k-th smallest, NaN the largest; or, in rows that
    have NaN, of the first one."""
    self = self.detach()
    values = _values(self, k, dim)
    has_nan = None
    if self.is_floating_point():
        has_nan = _values(self, [self.size(dim)], dim).isnan() if nan_first else values.isnan()
        has_nan = has_nan.expand(values.shape)
    parts = [None] * len(k) if has_nan is None else has_nan.split(1, dim)
    return torch.cat([_index_of(self, kth, part, dim) for kth, part in zip(values.split(1, dim), parts)], dim)


def _fake(self, k, dim, nan_first):
    return self.new_empty((*self.shape[:dim], *self.shape[dim + 1:]), dtype=torch.int64)


def _fake_all(self, k, dim, nan_first):
    return self.new_empty((*self.shape[:dim], len(k), *self.shape[dim + 1:]), dtype=torch.int64)


def _register(operator, run, fake):
    def below_autograd(*arguments):
        with torch._C._AutoDispatchBelowAutograd():
            return operator(*arguments)

    def batched(info, in_dims, self, k, dim, nan_first):
        return operator(self.movedim(in_dims[0], 0), k, dim + 1, nan_first), 0
    name = operator.name()
    _library.impl(name, run, "CPU")
    _library.impl(name, run, "CUDA")
    _library.impl(name, below_autograd, "Autograd")
    torch.library.register_fake(name, fake, lib=_library)
    torch.library.register_vmap(name, batched, lib=_library)


_register(_argkth, _run, _fake)
_register(_argkths, _run_all, _fake_all)


def _call(operator, run, input, *arguments):
    return run(input, *arguments) if _torch_operator.is_direct(input) else operator(input, *arguments)


def _row_of(name, input, dim):
    """(a dimension counted from 0, its size, which is not 0)"""
    dim = _dimension(name, input, dim)
    size = input.size(dim) if input.dim() else 1
    if size == 0:
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
    return dim, size


def _dimension(name, input, dim):
    return _torch_operator.from_front(_torch_operator.integer(name, "dim", dim), max(input.dim(), 1))


def _check(name, input):
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(input).__name__}")
    is_narrow = input.is_floating_point() and input.dtype.itemsize == 1  # which torch does not gather
    if input.is_complex() or input.dtype == torch.bool or is_narrow:
        kind = "bool" if input.dtype == torch.bool else "8-bit floating-point" if is_narrow else "complex"
        raise _torch_operator.UnsupportedDtype(f"{name} does not support {kind} dtypes")


def _write(name, input, out, results):
    """Copies results to the tensors `out`, which take their shapes."""
    _torch_operator.check_out(name, input, out, [result.dtype for result in results])
    for tensor, result in zip(out, results):
        _torch_operator.resize(tensor, result.shape)
        tensor.copy_(result)
    return out


def _selected(input, k, dim, keepdim, nan_first):
    """(values, indices) of the k-th smallest along a dimension."""
    if not input.dim():
        return input.clone(), torch.zeros((), dtype=torch.int64, device=input.device)
    indices = _call(_argkth, _run, input, k, dim, nan_first).unsqueeze(dim)
    values = input.gather(dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *,
             out: tuple[Tensor, Tensor] | None = None) -> torch.return_types.kthvalue:
    """The k-th smallest element of each row along `dim`, k from 1 on: torch.kthvalue, at libtopk's speed.

    Of elements that are equal the index is the lowest, on every device. NaN ranks above all others. The gradient goes
    to the element at the index. Returns the named tuple (values, indices) of torch.kthvalue, and raises what that does.
    """
    if not isinstance(input, Tensor) and has_torch_function_unary(input):
        return handle_torch_function(kthvalue, (input,), input, k, dim, keepdim, out=out)
    _check("kthvalue", input)
    dim, size = _row_of("kthvalue", input, dim)
    if not 1 <= _torch_operator.integer("kthvalue", "k", k) <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    results = _selected(input, k, dim, keepdim, False)
    return torch.return_types.kthvalue(results if out is None else _write("kthvalue", input, out, results))


class _Shared(torch.autograd.Function):
    """The element of a vector that is found, whose gradient is shared evenly by all that equal it."""

    generate_vmap_rule = True

    @staticmethod
    def forward(vector, found):
        return found.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def _weights(vector, found):
        equal = torch.where(found.isnan(), vector.isnan(), vector == found)
        return equal.to(vector.dtype) / equal.sum()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * _Shared._weights(*ctx.saved_tensors), None

    @staticmethod
    def jvp(ctx, tangent, _):
        return (tangent * _Shared._weights(*ctx.saved_tensors)).sum()


def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *,
           out: tuple[Tensor, Tensor] | None = None) -> Tensor | torch.return_types.median:
    """The median of all elements, or (values, indices) for each row along `dim`: torch.median.

    It is an element, of an even number the lower one of the two in the middle; NaN where there is one. Of elements that
    are equal the index is the lowest. The gradient goes to the element at the index; without `dim` all that equal the
    median share it, as in torch.
    """
    if not isinstance(input, Tensor) and has_torch_function_unary(input):
        return handle_torch_function(median, (input,), input, dim, keepdim, out=out)
    _check("median", input)
    if dim is None:
        if keepdim or out is not None:
            raise TypeError("median(): keepdim and out go with dim, which is not given")
        return _median_of_all(input)
    dim, size = _row_of("median", input, dim)
    results = _selected(input, (size + 1) // 2, dim, keepdim, True)
    return torch.return_types.median(results if out is None else _write("median", input, out, results))


def _median_of_all(input):
    vector = input.reshape(-1)
    if vector.numel() == 0:
        if not input.is_floating_point():
            raise RuntimeError("median(): no elements have a median that is an integer")
        return vector.new_full((), math.nan)
    found, _ = _selected(vector.detach(), (vector.numel() + 1) // 2, 0, False, True)
    return _Shared.apply(vector, found) if input.is_floating_point() else found


_ROUNDED = {"lower": math.floor, "higher": math.ceil, "nearest": round}


def quantile(input: Tensor, q: float | Tensor, dim: int | None = None, keepdim: bool = False, *,
             interpolation: str = "linear", out: Tensor | None = None) -> Tensor:
    """Quantiles of all elements, or of each row along `dim`: torch.quantile, of tensors of any size.

    q              a number from 0 to 1, or a tensor of them of one dimension, which is then the first of the result.
                   It has no gradient, and a tensor on a GPU is waited for
    interpolation  "linear", "lower", "higher", "midpoint" or "nearest", as torch has them

    Places between elements are worked out in float64, where torch uses the type of `input`. NaN in a row is its quantile.
    The gradient goes to the elements at the lowest indices. Half types are taken, too, which torch.quantile refuses;
    else raises what that does.
    """
    if not isinstance(input, Tensor) and has_torch_function_unary(input):
        return handle_torch_function(quantile, (input,), input, q, dim, keepdim, interpolation=interpolation, out=out)
    _check("quantile", input)
    if not input.is_floating_point():
        raise RuntimeError("quantile() input tensor must be of a floating-point dtype")
    if interpolation not in ("linear", "midpoint", *_ROUNDED):
        raise RuntimeError("quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
                           f"{interpolation}")
    qs = _numbers(q, input)
    kept = [1] * input.dim() if dim is None else None
    rows = input.reshape(-1) if dim is None or not input.dim() else input
    dim = 0 if dim is None else _dimension("quantile", input, dim)
    if input.numel() == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    result = torch.stack(_quantiles(rows, qs or [0.0], dim, interpolation))[:len(qs)]
    if keepdim:
        result = result.unsqueeze(dim + 1) if kept is None and input.dim() else result.reshape(len(qs), *kept or [])
    result = result if isinstance(q, Tensor) and q.dim() else result.squeeze(0)
    return result if out is None else _write("quantile", input, (out,), (result,))[0]


def _numbers(q, input):
    if isinstance(q, Tensor):
        if q.dim() > 1:
            raise RuntimeError(f"quantile() q must be a scalar or 1D tensor, but got {q.dim()} dimensions")
        if q.dtype != input.dtype:
            raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    elif not hasattr(q, "__float__"):
        raise TypeError(f"quantile(): argument 'q' must be Tensor or float, not {type(q).__name__}")
    qs = q.detach().double().reshape(-1).tolist() if isinstance(q, Tensor) else [float(q)]
    if not all(0 <= each <= 1 for each in qs):
        raise RuntimeError(f"quantile() q values must be in the range [0, 1], but got {q}")
    return qs


def _quantiles(rows, qs, dim, interpolation):
    places = [each * (rows.size(dim) - 1) for each in qs]
    if interpolation in _ROUNDED:
        places = [_ROUNDED[interpolation](place) for place in places]
    wanted = list(dict.fromkeys(end for place in places for end in (math.floor(place), math.ceil(place))))
    indices = _call(_argkths, _run_all, rows, [place + 1 for place in wanted], dim, True)
    found = dict(zip(wanted, zip(rows.gather(dim, indices).unbind(dim), indices.unbind(dim))))
    results = []
    for place in places:
        low, high = math.floor(place), math.ceil(place)
        (a, index), (b, other) = found[low], found[high]
        weight = 0.5 if interpolation == "midpoint" else place - low
        results.append(a if low == high else torch.where(index == other, a, torch.lerp(a, b, weight)))
    return results
