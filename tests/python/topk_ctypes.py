# SPDX-License-Identifier: Apache-2.0
"""The structs of libtopk and a library with a context, by ctypes: what the scripts of bench/ share.

The caller keeps what addresses point to.
"""
import ctypes
from ctypes import byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

TYPES = {"float16": 1, "float32": 3, "float64": 4, "int8": 7, "int16": 8, "int32": 9, "int64": 10, "uint8": 11,
         "uint16": 12, "uint32": 13, "uint64": 14}
KINDS = {"gt": 1, "ge": 2, "lt": 3, "le": 4, "eq": 5, "ne": 6, "between": 7, "bit-mask": 9}
OPERATIONS = {"select": 1, "kth": 2, "where": 3, "select_where": 4, "count": 5, "mask": 6, "route": 7}
CPU, CUDA = 1, 2


def _members(**types):
    """(name, type) of members, from a type and the names that have it."""
    return [(name, getattr(ctypes, "c_" + kind)) for kind, names in types.items() for name in names.split()]


class _Sized(ctypes.Structure):
    """A struct whose first member is its size."""

    def __init__(self, **members):
        super().__init__(size=ctypes.sizeof(self), **members)


class ContextOptions(_Sized):
    _fields_ = [("size", c_size_t)] + _members(int="backend device threads", uint64="seed")


class ContextProperties(_Sized):
    _fields_ = [("size", c_size_t)] + _members(int="backend device threads", char_p="features")


class Problem(_Sized):
    _fields_ = [("size", c_size_t)] + _members(
        int="type index_type extent_type direction rank ties order nan shape",
        int64="rows length_max k_max row_stride elements_max index_base") + [
        ("workspace_limit", c_size_t), ("method", c_char_p), ("tuning", c_char_p), ("max_iterations", c_int64),
        ("epsilon", c_double), ("epsilon_relative", c_double)]


class Input(_Sized):
    _fields_ = [("size", c_size_t)] + _members(void_p="values indices lengths begins ends offsets k")


class _BoundValue(ctypes.Union):
    _fields_ = [("f64", c_double), ("i64", c_int64), ("u64", c_uint64)]


class Bound(ctypes.Structure):
    _fields_ = [("type", c_int), ("value", _BoundValue)]


class Predicate(_Sized):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("low", Bound), ("high", Bound), ("bounds", c_void_p),
                ("mask", c_void_p)]


class Routing(_Sized):
    _fields_ = [("size", c_size_t)] + _members(int="score weighing", void_p="bias", int64="groups groups_kept",
                                               float="factor")


def bound(number):
    if isinstance(number, float):
        return Bound(0, _BoundValue(f64=number))
    return Bound(1, _BoundValue(i64=number)) if number < 0 else Bound(2, _BoundValue(u64=number))


def comparison(kind, low, high=0):
    """A predicate by bounds."""
    return Predicate(kind=KINDS[kind], low=bound(low), high=bound(high))


def address(array):
    """Of a numpy array or a torch tensor; None is NULL."""
    return None if array is None else c_void_p(array.ctypes.data if hasattr(array, "ctypes") else array.data_ptr())


class Library:
    """libtopk with a context for the CPU, or for the first GPU."""

    def __init__(self, path, threads, backend=CPU):
        self._library = ctypes.CDLL(path)
        self._library.topk_last_error.restype = c_char_p
        self.context = c_void_p()
        properties = ContextProperties()
        self._check("context_create", byref(ContextOptions(backend=backend, threads=threads)), byref(self.context))
        self.call("context_query", byref(properties))
        self.threads, self.features = properties.threads, (properties.features or b"").decode()

    def _check(self, name, *arguments):
        status = getattr(self._library, "topk_" + name)(*arguments)
        if status != 0:
            raise RuntimeError(f"topk_{name}: status {status}: {self._library.topk_last_error().decode()}")

    def call(self, name, *arguments):
        """Calls a function whose first argument is the context."""
        self._check(name, self.context, *arguments)

    def workspace_bytes(self, operation, problem):
        needed = c_size_t()
        self.call("workspace_size", OPERATIONS[operation], byref(problem), byref(needed))
        return needed.value

    def bind(self, operation, problem, outputs, workspace, stream=None):
        """A function of an input's address. `outputs` are the arguments between the input and the workspace; a
        workspace is an array of bytes."""
        room = c_size_t(len(workspace))

        def run(values):
            data = Input(values=values)
            self.call(operation, byref(problem), byref(data), *outputs, address(workspace), room, stream)
        return run
