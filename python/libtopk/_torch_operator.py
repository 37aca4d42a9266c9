# SPDX-License-Identifier: Apache-2.0
"""The operator `libtopk::topk` of torch, which `libtopk.torch` is built on.

    libtopk::topk(Tensor self, SymInt k, int dim, bool largest, bool sorted, int max_iterations)
        -> (Tensor values, Tensor indices)

It has kernels for CPU and CUDA, shapes for meta and fake tensors, gradients in reverse mode (of any order) and in
forward mode, and a rule for vmap. So it can be compiled, exported, traced and captured in a CUDA graph.

The kernels are registered one by one with torch.library.Library: torch.library.custom_op puts two more layers of
Python above a kernel, which cost about 4 us a call.
"""

import sys
import warnings
from functools import partial, reduce
from operator import index, or_

import torch
from torch.autograd import forward_ad

from libtopk import _api

if not hasattr(torch.library, "register_vmap"):
    raise ImportError(f"libtopk.torch needs torch 2.5 or later, and this is torch {torch.__version__}")

NAME = "libtopk::topk"

library = torch.library.Library("libtopk", "FRAGMENT")
library.define(
    "topk(Tensor self, SymInt k, int dim, bool largest, bool sorted, int max_iterations, str? order=None)"
    " -> (Tensor values, Tensor indices)",
    tags=(torch.Tag.pt2_compliant_tag,),
)
operator = torch.ops.libtopk.topk.default


# ---- Which calls need the dispatcher ----


def _keys(*names):
    sets = (torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, name)) for name in names)
    return reduce(or_, sets).raw_repr()


# What the dispatcher sees in a tensor of plain data, and in a thread that neither traces nor transforms. In both, the
# second kind is that of inference mode. A call with other keys has something else to do before the kernel. These are
# torch's own names: a version without them has every call go through the dispatcher.
try:
    _PLAIN_TENSORS = frozenset(
        _keys(device, f"Autocast{device}", *more)
        for device in ("CPU", "CUDA")
        for more in (("ADInplaceOrView", f"Autograd{device}"), ())
    )
    _PLAIN_THREADS = frozenset((_keys("BackendSelect", "ADInplaceOrView"), _keys("BackendSelect")))
    _keys_of_tensor, _keys_of_thread = torch._C._dispatch_keys, torch._C._dispatch_tls_local_include_set
except AttributeError:
    _keys_of_tensor = None  # type: ignore[assignment]


def is_plain(tensor):
    """Whether the dispatcher would take a call on `tensor` straight to the kernel, gradients apart."""
    return (
        _keys_of_tensor is not None
        and _keys_of_tensor(tensor).raw_repr() in _PLAIN_TENSORS
        and _keys_of_thread().raw_repr() in _PLAIN_THREADS
    )


def _in_forward_mode():
    return getattr(forward_ad, "_current_level", 0) >= 0  # a version that does not tell may be in it


def needs_gradient(tensor):
    """Whether `tensor` takes part in automatic differentiation, in reverse mode or perhaps in forward mode."""
    return tensor.requires_grad and torch.is_grad_enabled() or _in_forward_mode()


def is_direct(tensor):
    """Whether a call on `tensor` may do without the dispatcher: it would add nothing but its time."""
    # First what Dynamo asks: it takes this for true, and cannot trace the rest.
    if torch.compiler.is_compiling() or torch.overrides.has_torch_function_unary(tensor):
        return False
    return is_plain(tensor) and not needs_gradient(tensor)


def select(tensor, *arguments):
    """What the operator returns."""
    if is_direct(tensor):
        return run(tensor, *arguments)
    if not torch.compiler.is_compiling():
        _meet_meshes()
    return operator(tensor, *arguments)


def _meet_meshes():
    """DTensors have rules of their own, which wait for the module that makes such tensors: it is slow to import."""
    if "torch.distributed.tensor" in sys.modules:
        import libtopk._torch_mesh  # noqa: F401


# ---- Arguments ----


def integer(function, name, value):
    if type(value) is int or isinstance(value, torch.SymInt):
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{function}(): argument '{name}' must be int, not {type(value).__name__}")
    return index(value)


def from_front(dim, rank):
    """A dimension counted from 0."""
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def check_out(function, input, out, dtypes):
    """Refuses what is no tuple of tensors that results of these types can be written to."""
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{function}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    if len(out) != len(dtypes):
        raise TypeError(f"{function}(): argument 'out' must have {len(dtypes)} elements, not {len(out)}")
    for tensor, dtype in zip(out, dtypes):
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{function}(): argument 'out' must be tuple of Tensors, not of {type(tensor).__name__}")
        if tensor.dtype != dtype:
            raise RuntimeError(f"Expected out tensor to have dtype {dtype}, but got {tensor.dtype} instead")
        if not torch.compiler.is_compiling() and tensor.is_inference() and not torch.is_inference_mode_enabled():
            raise RuntimeError("Inplace update to inference tensor outside InferenceMode is not allowed")
        if tensor.device != input.device:
            raise RuntimeError(f"Expected out tensor to be on device {input.device}, but got {tensor.device} instead")
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (input, *out)):
        raise RuntimeError(
            f"{function}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )


def resize(tensor, shape):
    """Gives a tensor of `out` the shape of a result, with torch's warning."""
    if tensor.shape != shape:
        if tensor.numel():
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(tensor.shape)}, which "
                f"does not match the required output shape {list(shape)}",
                stacklevel=4,
            )
        tensor.resize_(shape)


# ---- Kernels ----


_UNRANKED = frozenset((torch.bool, torch.complex32, torch.complex64, torch.complex128))


class UnsupportedDtype(NotImplementedError, TypeError):
    """For truth values and complex numbers. Versions of torch.topk differ in which of the two they raise."""


def _size_of(tensor, dim):
    """The size of `dim`. A tensor without dimensions has one element, in dimension 0."""
    dtype = tensor.dtype
    if dtype in _UNRANKED:
        raise UnsupportedDtype(f"topk does not support {'bool' if dtype == torch.bool else 'complex'} dtypes")
    if tensor.dim():
        return tensor.size(dim)  # which raises IndexError
    from_front(dim, 1)
    return 1


def result_shape(tensor, k, dim):
    size = _size_of(tensor, dim)
    # Apart, and not by `if`: when a graph is traced, k may be a symbol without a value.
    torch._check(k >= 0, lambda: "selected index k out of range")
    torch._check(k <= size, lambda: "selected index k out of range")
    if not tensor.dim():
        return ()
    dim = from_front(dim, tensor.dim())
    return (*tensor.shape[:dim], k, *tensor.shape[dim + 1 :])


def run(self, k, dim, largest, sorted, max_iterations, order=None, out=None):
    size = _size_of(self, dim)
    if not 0 <= k <= size:
        raise RuntimeError("selected index k out of range")
    if self.requires_grad:
        self = self.detach()
    if not self.dim():  # one element, also for k = 0: so does torch.topk
        values, indices = run(self.reshape(1), 1, 0, largest, sorted, max_iterations, order)
        return values.reshape(()), indices.reshape(())
    options = {"max_iterations": max_iterations} if max_iterations else None
    if order is not None:
        options = {**(options or {}), "order": order}
    values, indices = _api.call_topk(self, k, largest, sorted, dim, out, None, options)
    return values.contiguous(), indices.contiguous()


def _fake(self, k, dim, largest, sorted, max_iterations, order=None):
    shape = result_shape(self, k, dim)
    return self.new_empty(shape), self.new_empty(shape, dtype=torch.int64)


# ---- Transforms ----


def _below_autograd(*arguments):
    _meet_meshes()
    with torch._C._AutoDispatchBelowAutograd():
        return operator(*arguments)


def scattered(values, dim, indices, shape):
    """Zeros of `shape`, but for `values` at `indices`."""
    # The backward pass of torch.topk itself: it scatters in place, without a copy, wherever that is possible.
    return torch.ops.aten.value_selecting_reduction_backward(values, dim, indices, shape, True)


scatters: dict = {}  # scatter_of() for kinds of tensors that lie in another way


def scatter_of(tensor, dim):
    """A function (values, indices) that returns zeros of the shape of `tensor`, but for `values` at `indices`. It does not
    keep the tensor."""
    if type(tensor) in scatters:
        return scatters[type(tensor)](tensor, dim)
    return partial(_scattered_to, dim, tensor.shape)


def _scattered_to(dim, shape, values, indices):
    return scattered(values, dim, indices, shape)


class _Selection(torch.autograd.Function):
    """The gradient in reverse mode. It keeps the indices, not the input."""

    @staticmethod
    def forward(ctx, self, k, dim, *flags):
        values, indices = _below_autograd(self, k, dim, *flags)
        ctx.save_for_backward(indices)
        ctx.mark_non_differentiable(indices)
        ctx.scatter, ctx.flags = scatter_of(self, dim), len(flags)
        return values, indices

    @staticmethod
    def backward(ctx, gradient, _):
        (indices,) = ctx.saved_tensors
        return ctx.scatter(gradient, indices), None, None, *([None] * ctx.flags)


def _differentiable(self, k, dim, *flags):
    if not needs_gradient(self):
        return run(self, k, dim, *flags) if is_plain(self) else _below_autograd(self, k, dim, *flags)
    if _in_forward_mode() or torch._C._are_functorch_transforms_active():
        # A kernel cannot use torch.autograd.Function here. gather() knows every mode, but keeps the input.
        _, indices = _below_autograd(self, k, dim, *flags)
        return self.gather(dim, indices), indices
    return _Selection.apply(self, k, dim, *flags)


def _batched(info, in_dims, self, k, dim, *flags):
    self = self.movedim(in_dims[0], 0)
    scalars = self.dim() == 1
    if scalars:
        self, k = self.unsqueeze(1), k or 1
    values, indices = operator(self, k, from_front(dim, self.dim() - 1) + 1, *flags)
    return ((values.squeeze(1), indices.squeeze(1)) if scalars else (values, indices)), (0, 0)


library.impl("topk", run, "CPU")
library.impl("topk", run, "CUDA")
library.impl("topk", _differentiable, "Autograd")
torch.library.register_fake(NAME, _fake, lib=library)
torch.library.register_vmap(NAME, _batched, lib=library)
