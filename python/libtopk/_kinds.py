# SPDX-License-Identifier: Apache-2.0
"""What the core asks of each array library, numpy, torch and cupy, and of Shape. A class here is never made into an
object."""
import sys

import numpy as np

# In the order of topk_type; 0 is for truth values.
NAMES = ("bool", "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "int8", "int16", "int32",
         "int64", "uint8", "uint16", "uint32", "uint64")


def name_of(dtype):
    """The name of a type that is a name, or of numpy, torch, or JAX."""
    return getattr(dtype, "__name__", None) or str(dtype).removeprefix("torch.")


def _ml_dtype(name):
    """ml_dtypes' numpy type of that name, once that package has been imported: no such array exists before."""
    ml_dtypes = sys.modules.get("ml_dtypes")
    return np.dtype(getattr(ml_dtypes, name)) if ml_dtypes is not None else None


class _Lazy:
    """Compares equal to ml_dtypes' type of that name, whenever that package comes to be imported."""

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return getattr(other, "name", None) == self.name and other == _ml_dtype(self.name)

    __hash__ = None  # type: ignore[assignment]


def _numpy_types():
    return tuple(np.dtype(name) if name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2") else _Lazy(name)
                 for name in NAMES)


def _plain(array, dtype):
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED", "ENSUREARRAY"])  # ascontiguousarray() does not align


class numpy:
    @staticmethod
    def array_type():
        return np.ndarray

    @staticmethod
    def empty(like, shape, dtype):
        return np.empty(shape, like.dtype.newbyteorder("=") if dtype is None else dtype)

    @staticmethod
    def rows(array, dim):
        moved = np.moveaxis(np.atleast_1d(array), dim, -1)
        return _plain(moved, moved.dtype.newbyteorder("="))

    @staticmethod
    def move(array, dim):
        return np.moveaxis(array, -1, dim)

    @staticmethod
    def assign(target, source):
        target[...] = source

    @staticmethod
    def integers(array, like):
        array = np.asarray(_on_host(array))
        if array.dtype.kind == "u" and array.dtype.itemsize == 8:
            array = np.minimum(array, np.uint64(2**63 - 1))  # cut, not wrapped to what is negative
        return _plain(array, np.int64)

    stream = tell_written = keywords = staticmethod(lambda: None)
    dtypes = staticmethod(_numpy_types)


def _on_host(array):
    return array.get() if hasattr(array, "get") else array.cpu().numpy() if hasattr(array, "cpu") else array


def is_old(torch):
    """Whether a version of torch is older than 2.0, the least that libtopk knows."""
    return int(torch.__version__.split(".")[0]) < 2


class torch:
    @staticmethod
    def array_type():
        module = sys.modules["torch"]
        if is_old(module):
            raise AttributeError  # as if there were none; adopt() refuses its tensors
        return module.Tensor

    @staticmethod
    def empty(like, shape, dtype):
        return like.new_empty(shape, dtype=like.dtype if dtype is None else getattr(sys.modules["torch"], dtype),
                              requires_grad=False)

    @staticmethod
    def keywords():
        return tuple({"dtype": dtype} for dtype in torch.dtypes())

    @staticmethod
    def rows(array, dim):
        # contiguous() would not copy a tensor that is not aligned.
        return array.detach().movedim(dim, -1).clone(memory_format=sys.modules["torch"].contiguous_format)

    @staticmethod
    def move(array, dim):
        return array.movedim(-1, dim)

    @staticmethod
    def assign(target, source):
        target.detach().copy_(source)

    @staticmethod
    def tell_written():  # what autograd has kept of them is void
        module = sys.modules["torch"]
        increment = getattr(module.autograd.graph, "increment_version", None)
        if increment is None:
            return None
        try:
            increment((module.empty(0, device="cpu"),))
        except (TypeError, RuntimeError):  # torch before 2.6 takes one tensor
            return lambda tensors: [increment(tensor) for tensor in tensors]
        return increment

    @staticmethod
    def integers(array, like):
        module = sys.modules["torch"]
        if isinstance(array, np.ndarray):  # as_tensor() refuses some strides and byte orders
            array = np.require(numpy.integers(array, None), requirements="W")
        if isinstance(array, module.Tensor) and array.dtype == getattr(module, "uint64", None):
            array = array.contiguous().view(module.int64)
            array = module.where(array < 0, 2**63 - 1, array)  # cut, not wrapped
        # contiguous() would not copy a tensor that is not aligned.
        return module.as_tensor(array, dtype=module.int64, device=like.device).clone(
            memory_format=module.contiguous_format)

    @staticmethod
    def stream():
        module = sys.modules["torch"]
        return getattr(module._C, "_cuda_getCurrentRawStream", None) or (
            lambda device: module.cuda.current_stream(device).cuda_stream)

    @staticmethod
    def dtypes():
        module = sys.modules["torch"]
        module.float32  # AttributeError while another thread imports torch: its types come late
        return tuple(getattr(module, name, None) for name in NAMES)


class cupy:
    @staticmethod
    def array_type():
        return sys.modules["cupy"].ndarray

    @staticmethod
    def empty(like, shape, dtype):
        with like.device:
            return sys.modules["cupy"].empty(shape, like.dtype if dtype is None else dtype)

    @staticmethod
    def rows(array, dim):
        module = sys.modules["cupy"]
        with array.device:
            return module.ascontiguousarray(module.moveaxis(array, dim, -1))

    @staticmethod
    def move(array, dim):
        return sys.modules["cupy"].moveaxis(array, -1, dim)

    @staticmethod
    def assign(target, source):
        target[...] = source

    @staticmethod
    def integers(array, like):
        module = sys.modules["cupy"]
        with like.device:
            array = module.asarray(array)
            if array.dtype == module.uint64:
                array = module.minimum(array, module.uint64(2**63 - 1))  # cut, not wrapped
            return module.ascontiguousarray(array, module.int64)

    @staticmethod
    def stream():
        return lambda device: sys.modules["cupy"].cuda.get_current_stream(device).ptr

    tell_written = keywords = staticmethod(lambda: None)
    dtypes = staticmethod(_numpy_types)


def _refuse(*_):
    raise TypeError("a Shape has no elements, and is no array to compute with")


class shape:
    @staticmethod
    def array_type():
        from libtopk._shape import Shape  # which imports this module
        return Shape

    @staticmethod
    def rows(array, dim):
        lengths = (*array.shape[:dim], *array.shape[dim + 1:], array.shape[dim])
        return type(array)(lengths, array.dtype, array.device)

    @staticmethod
    def integers(array, like):
        return type(array)(array.shape, "int64", array.device)

    empty = move = assign = staticmethod(_refuse)
    stream = tell_written = keywords = staticmethod(lambda: None)
    dtypes = staticmethod(lambda: NAMES)
