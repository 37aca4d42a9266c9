# SPDX-License-Identifier: Apache-2.0
"""Just enough of libtopk's C interface, through ctypes, to time it from Python."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p

import numpy

F32, F64, I32, I64 = 3, 4, 9, 10
TYPES = {"float32": F32, "float64": F64, "int32": I32, "int64": I64}
NAMES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64"}
SELECT, WHERE = 1, 3
CPU, CUDA = 1, 2
GREATER = 1
BOUND_F64 = 0


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("backend", c_int), ("device", c_int), ("threads", c_int),
                ("seed", ctypes.c_uint64)]


class ContextProperties(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("backend", c_int), ("device", c_int), ("threads", c_int),
                ("features", c_char_p)]


class Problem(ctypes.Structure):
    _fields_ = [("size", c_size_t)]
    _fields_ += [(name, c_int) for name in ("type", "index_type", "extent_type", "direction", "rank", "ties",
                                            "order", "nan", "shape")]
    _fields_ += [(name, c_int64) for name in ("rows", "length_max", "k_max", "row_stride", "elements_max",
                                              "index_base")]
    _fields_ += [("workspace_limit", c_size_t), ("method", c_char_p), ("tuning", c_char_p)]
    _fields_ += [("max_iterations", c_int64), ("epsilon", ctypes.c_double), ("epsilon_relative", ctypes.c_double)]


class Input(ctypes.Structure):
    _fields_ = [("size", c_size_t)]
    _fields_ += [(name, c_void_p) for name in ("values", "indices", "lengths", "begins", "ends", "offsets", "k")]


class BoundValue(ctypes.Union):
    _fields_ = [("f64", ctypes.c_double), ("i64", c_int64), ("u64", ctypes.c_uint64)]


class Bound(ctypes.Structure):
    _fields_ = [("type", c_int), ("value", BoundValue)]


class Predicate(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("low", Bound), ("high", Bound), ("bounds", c_void_p),
                ("mask", c_void_p)]


def _data(array):
    return array.ctypes.data_as(c_void_p)


class Library:
    """libtopk with a context for the CPU, or for the first GPU."""

    def __init__(self, path, threads, backend=CPU):
        self.lib = ctypes.CDLL(path)
        self.lib.topk_last_error.restype = c_char_p
        pointer = c_void_p
        self.lib.topk_workspace_size.argtypes = [pointer, c_int, POINTER(Problem), POINTER(c_size_t)]
        self.lib.topk_select.argtypes = [pointer, POINTER(Problem), POINTER(Input), pointer, pointer, pointer,
                                         c_size_t, pointer]
        self.lib.topk_where.argtypes = [pointer, POINTER(Problem), POINTER(Input), POINTER(Predicate), pointer,
                                        pointer, c_int64, pointer, pointer, c_size_t, pointer]
        self.context = c_void_p()
        options = ContextOptions(ctypes.sizeof(ContextOptions), backend, 0, threads)
        self._check(self.lib.topk_context_create(byref(options), byref(self.context)))
        properties = ContextProperties(ctypes.sizeof(ContextProperties))
        self._check(self.lib.topk_context_query(self.context, byref(properties)))
        self.threads = properties.threads
        self.features = (properties.features or b"").decode()

    def _check(self, status):
        if status != 0:
            raise RuntimeError("libtopk: " + self.lib.topk_last_error().decode())

    def _problem(self, array, k, order):
        rows, n = array.shape
        return Problem(size=ctypes.sizeof(Problem), type=TYPES[array.dtype.name], extent_type=1,
                       order=int(order == "any"), rows=rows, length_max=n, k_max=k)

    def _workspace(self, operation, problem):
        needed = c_size_t()
        self._check(self.lib.topk_workspace_size(self.context, operation, byref(problem), byref(needed)))
        return numpy.zeros(max(needed.value, 1), numpy.uint8), needed.value

    def select(self, array, k, order):
        """A function without arguments that selects, its outputs (values, indices), and its workspace bytes."""
        problem = self._problem(array, k, order)
        workspace, needed = self._workspace(SELECT, problem)
        values = numpy.zeros((array.shape[0], k), array.dtype)
        indices = numpy.zeros((array.shape[0], k), numpy.int32)
        data = Input(size=ctypes.sizeof(Input), values=_data(array))
        arguments = (self.context, byref(problem), byref(data), _data(values), _data(indices), _data(workspace),
                     needed, None)
        return (lambda: self._check(self.lib.topk_select(*arguments))), (values, indices), needed

    def select_on_device(self, rows, n, k, order, ties, method=None):
        """A function that selects float32 elements, given the addresses of input, values, int32 indices and
        workspace and a stream, and the workspace bytes."""
        problem = Problem(size=ctypes.sizeof(Problem), type=F32, extent_type=1, order=int(order == "any"),
                          ties=int(ties == "any"), rows=rows, length_max=n, k_max=k,
                          method=method.encode() if method else None)
        needed = c_size_t()
        self._check(self.lib.topk_workspace_size(self.context, SELECT, byref(problem), byref(needed)))

        def call(data, values, indices, workspace, stream):
            inputs = Input(size=ctypes.sizeof(Input), values=data)
            self._check(self.lib.topk_select(self.context, byref(problem), byref(inputs), values, indices, workspace,
                                             needed.value, stream))
        return call, needed.value

    def where_on_device(self, n, bound, capacity, method):
        """call(data, indices, offsets, workspace, stream) of device addresses: the elements of a float32 row above a
        bound; and the workspace bytes."""
        problem = Problem(size=ctypes.sizeof(Problem), type=F32, extent_type=1, rows=1, length_max=n,
                          method=method.encode() if method else None)
        needed = c_size_t()
        self._check(self.lib.topk_workspace_size(self.context, WHERE, byref(problem), byref(needed)))
        predicate = Predicate(size=ctypes.sizeof(Predicate), kind=GREATER,
                              low=Bound(BOUND_F64, BoundValue(f64=float(bound))))

        def call(data, indices, offsets, workspace, stream):
            inputs = Input(size=ctypes.sizeof(Input), values=data)
            self._check(self.lib.topk_where(self.context, byref(problem), byref(inputs), byref(predicate), None, indices,
                                            capacity, offsets, workspace, needed.value, stream))
        return call, needed.value

    def where_greater(self, array, bound, capacity):
        """The same for the elements above a bound; the outputs are (indices, offsets)."""
        problem = self._problem(array, 0, "best")
        workspace, needed = self._workspace(WHERE, problem)
        indices = numpy.zeros(capacity, numpy.int32)
        offsets = numpy.zeros(array.shape[0] + 1, numpy.int64)
        data = Input(size=ctypes.sizeof(Input), values=_data(array))
        predicate = Predicate(size=ctypes.sizeof(Predicate), kind=GREATER,
                              low=Bound(BOUND_F64, BoundValue(f64=float(bound))))
        arguments = (self.context, byref(problem), byref(data), byref(predicate), None, _data(indices), capacity,
                     _data(offsets), _data(workspace), needed, None)
        return (lambda: self._check(self.lib.topk_where(*arguments))), (indices, offsets), needed
