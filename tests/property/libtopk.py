# SPDX-License-Identifier: Apache-2.0
"""The part of libtopk's interface that the property tests use, by ctypes over numpy arrays.

TOPK_LIBRARY names the shared library.
"""
import ctypes
import os

import numpy as np

_library = ctypes.CDLL(os.environ["TOPK_LIBRARY"])

TYPES = {"float16": 1, "float32": 3, "float64": 4, "int8": 7, "int16": 8, "int32": 9, "int64": 10, "uint8": 11,
         "uint16": 12, "uint32": 13, "uint64": 14}
KINDS = {"gt": 1, "ge": 2, "lt": 3, "le": 4, "eq": 5, "ne": 6, "between": 7}
SELECT, KTH, WHERE, SELECT_WHERE, COUNT, MASK = range(1, 7)
BIT_MASK = 9


class Problem(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t),
                *((name, ctypes.c_int) for name in ("type", "index_type", "extent_type", "direction", "rank", "ties",
                                                    "order", "nan", "shape")),
                *((name, ctypes.c_int64) for name in ("rows", "length_max", "k_max", "row_stride", "elements_max",
                                                      "index_base")),
                ("workspace_limit", ctypes.c_size_t), ("method", ctypes.c_char_p), ("tuning", ctypes.c_char_p),
                ("max_iterations", ctypes.c_int64), ("epsilon", ctypes.c_double), ("epsilon_relative", ctypes.c_double)]


class Input(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t),
                *((name, ctypes.c_void_p) for name in ("values", "indices", "lengths", "begins", "ends", "offsets",
                                                       "k"))]


class BoundValue(ctypes.Union):
    _fields_ = [("f64", ctypes.c_double), ("i64", ctypes.c_int64), ("u64", ctypes.c_uint64)]


class Bound(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("value", BoundValue)]


class Predicate(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kind", ctypes.c_int), ("low", Bound), ("high", Bound),
                ("bounds", ctypes.c_void_p), ("mask", ctypes.c_void_p)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("backend", ctypes.c_int), ("device", ctypes.c_int),
                ("threads", ctypes.c_int), ("seed", ctypes.c_uint64)]


_library.topk_last_error.restype = ctypes.c_char_p


def _call(function, *arguments):
    status = function(*arguments)
    assert status == 0, f"{function.__name__}: status {status}: {_library.topk_last_error().decode()}"


def _create_context(threads):
    context = ctypes.c_void_p()
    options = ContextOptions(ctypes.sizeof(ContextOptions), 1, 0, threads)
    _call(_library.topk_context_create, ctypes.byref(options), ctypes.byref(context))
    return context


_context = _create_context(2)


def _pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p) if array is not None else None


def _problem(values, k, smallest=False, magnitude=False, nan_last=False, method=None):
    """A problem on the rows of a 2-D array, with int64 indices and extents."""
    problem = Problem(size=ctypes.sizeof(Problem), type=TYPES[values.dtype.name], index_type=1, extent_type=1,
                      direction=int(smallest), rank=int(magnitude), nan=int(nan_last), rows=values.shape[0],
                      length_max=values.shape[1], k_max=k)
    problem.method = method.encode() if method else None
    return problem


def _input(values, **arrays):
    return Input(size=ctypes.sizeof(Input), values=_pointer(values),
                 **{name: _pointer(array) for name, array in arrays.items()})


def _workspace(operation, problem):
    needed = ctypes.c_size_t()
    _call(_library.topk_workspace_size, _context, operation, ctypes.byref(problem), ctypes.byref(needed))
    return np.full(needed.value, 0xA5, np.uint8)


def select(values, k, **options):
    """(values, indices) of the k best of each row of a 2-D array; padded to k."""
    values = np.ascontiguousarray(values)
    problem, data = _problem(values, k, **options), _input(values)
    out = np.empty((values.shape[0], k), values.dtype), np.empty((values.shape[0], k), np.int64)
    workspace = _workspace(SELECT, problem)
    _call(_library.topk_select, _context, ctypes.byref(problem), ctypes.byref(data), _pointer(out[0]),
          _pointer(out[1]), _pointer(workspace), ctypes.c_size_t(workspace.size), None)
    return out


def kth(values, k, **options):
    """(k-th, better, equal) of each row."""
    values = np.ascontiguousarray(values)
    problem, data = _problem(values, k, **options), _input(values)
    rows = values.shape[0]
    out = np.empty(rows, values.dtype), np.empty(rows, np.int64), np.empty(rows, np.int64)
    workspace = _workspace(KTH, problem)
    _call(_library.topk_kth, _context, ctypes.byref(problem), ctypes.byref(data), *map(_pointer, out),
          _pointer(workspace), ctypes.c_size_t(workspace.size), None)
    return out


def _bound(number):
    bound = Bound()
    if isinstance(number, float):
        bound.value.f64 = number
    elif number < 0:
        bound.type, bound.value.i64 = 1, number
    else:
        bound.type, bound.value.u64 = 2, number
    return bound


def comparison(kind, low, high=0):
    """A predicate by bounds."""
    return Predicate(size=ctypes.sizeof(Predicate), kind=KINDS[kind], low=_bound(low), high=_bound(high))


def masked(bits):
    """A predicate by a bit mask, which must outlive it."""
    return Predicate(size=ctypes.sizeof(Predicate), kind=BIT_MASK, mask=_pointer(bits))


def where(values, kind, low, high=0):
    """(values, indices, offsets) of the elements of each row that meet a comparison."""
    return where_matches(values, comparison(kind, low, high))


def where_matches(values, predicate):
    """(values, indices, offsets) of the elements of each row that meet the predicate."""
    values = np.ascontiguousarray(values)
    problem, data = _problem(values, 0), _input(values)
    out = np.empty(values.size, values.dtype), np.empty(values.size, np.int64)
    offsets = np.empty(values.shape[0] + 1, np.int64)
    workspace = _workspace(WHERE, problem)
    _call(_library.topk_where, _context, ctypes.byref(problem), ctypes.byref(data), ctypes.byref(predicate),
          _pointer(out[0]), _pointer(out[1]), ctypes.c_int64(values.size), _pointer(offsets), _pointer(workspace),
          ctypes.c_size_t(workspace.size), None)
    return out[0][:offsets[-1]], out[1][:offsets[-1]], offsets


def select_where(values, k, predicate, **options):
    """As select(), from the elements that meet the predicate."""
    values = np.ascontiguousarray(values)
    problem, data = _problem(values, k, **options), _input(values)
    out = np.empty((values.shape[0], k), values.dtype), np.empty((values.shape[0], k), np.int64)
    workspace = _workspace(SELECT_WHERE, problem)
    _call(_library.topk_select_where, _context, ctypes.byref(problem), ctypes.byref(data), ctypes.byref(predicate),
          _pointer(out[0]), _pointer(out[1]), _pointer(workspace), ctypes.c_size_t(workspace.size), None)
    return out


def _read(operation, function, values, predicate, out):
    problem, data = _problem(values, 0), _input(values)
    workspace = _workspace(operation, problem)
    _call(function, _context, ctypes.byref(problem), ctypes.byref(data), ctypes.byref(predicate), _pointer(out),
          _pointer(workspace), ctypes.c_size_t(workspace.size), None)
    return out


def count(values, predicate):
    """How many elements of each row meet the predicate."""
    values = np.ascontiguousarray(values)
    return _read(COUNT, _library.topk_count, values, predicate, np.empty(values.shape[0], np.int64))


def mask(values, predicate):
    """The bit mask of all elements that meet the predicate."""
    values = np.ascontiguousarray(values)
    return _read(MASK, _library.topk_mask, values, predicate, np.empty((values.size + 7) // 8, np.uint8))


def accumulate(values, k, cuts, order, **options):
    """As select(), but the columns arrive in chunks: those between neighbouring cuts, in that order."""
    values = np.ascontiguousarray(values)
    problem = _problem(values, k, **options)
    edges = [0, *cuts, values.shape[1]]
    chunks = list(zip(edges[:-1], edges[1:]))
    problem.length_max = max(end - begin for begin, end in chunks)
    problem.row_stride = values.shape[1]
    needed = ctypes.c_size_t()
    _call(_library.topk_accumulator_size, _context, ctypes.byref(problem), ctypes.byref(needed))
    memory = np.full(needed.value, 0xA5, np.uint8)
    state = (_context, ctypes.byref(problem), _pointer(memory), needed)
    _call(_library.topk_accumulator_init, *state, None)
    for begin, end in (chunks[i] for i in order):
        data = _input(values[:, begin:])
        _call(_library.topk_accumulator_push, *state, ctypes.byref(data), ctypes.c_int64(end - begin),
              ctypes.c_int64(begin), None)
    out = np.empty((values.shape[0], k), values.dtype), np.empty((values.shape[0], k), np.int64)
    _call(_library.topk_accumulator_finish, *state, *map(_pointer, out), None)
    return out
