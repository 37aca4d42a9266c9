# SPDX-License-Identifier: Apache-2.0
"""The part of libtopk's interface that the property tests use, by ctypes over numpy arrays.

TOPK_LIBRARY names the shared library.
"""
import ctypes
import os

import numpy as np

from topk_ctypes import KINDS, TYPES, Input, Library, Predicate, Problem, Routing, address, comparison

_library = Library(os.environ["TOPK_LIBRARY"], threads=2)
_call = _library.call


def _problem(values, k, smallest=False, magnitude=False, nan_last=False, method=None):
    """A problem on the rows of a 2-D array, with int64 indices and extents."""
    return Problem(type=TYPES[values.dtype.name], index_type=1, extent_type=1, direction=int(smallest),
                   rank=int(magnitude), nan=int(nan_last), rows=values.shape[0], length_max=values.shape[1],
                   k_max=k, method=method.encode() if method else None)


def _run(operation, values, problem, *arguments):
    """Runs an operation; the arguments lie between the input and the workspace."""
    workspace = np.full(_library.workspace_bytes(operation, problem), 0xA5, np.uint8)
    _library.bind(operation, problem, arguments, workspace)(address(values))


def select(values, k, **options):
    """(values, indices) of the k best of each row of a 2-D array; padded to k."""
    return select_where(values, k, None, **options)


def kth(values, k, **options):
    """(k-th, better, equal) of each row."""
    values = np.ascontiguousarray(values)
    rows = values.shape[0]
    out = np.empty(rows, values.dtype), np.empty(rows, np.int64), np.empty(rows, np.int64)
    _run("kth", values, _problem(values, k, **options), *map(address, out))
    return out


def masked(bits):
    """A predicate by a bit mask, which must outlive it."""
    return Predicate(kind=KINDS["bit-mask"], mask=address(bits))


def where(values, kind, low, high=0):
    """(values, indices, offsets) of the elements of each row that meet a comparison."""
    return where_matches(values, comparison(kind, low, high))


def where_matches(values, predicate):
    """(values, indices, offsets) of the elements of each row that meet the predicate."""
    values = np.ascontiguousarray(values)
    out = np.empty(values.size, values.dtype), np.empty(values.size, np.int64)
    offsets = np.empty(values.shape[0] + 1, np.int64)
    _run("where", values, _problem(values, 0), ctypes.byref(predicate), *map(address, out),
         ctypes.c_int64(values.size), address(offsets))
    return out[0][:offsets[-1]], out[1][:offsets[-1]], offsets


def select_where(values, k, predicate, **options):
    """As select(), from the elements that meet the predicate, unless that is None."""
    values = np.ascontiguousarray(values)
    out = np.empty((values.shape[0], k), values.dtype), np.empty((values.shape[0], k), np.int64)
    asked = [ctypes.byref(predicate)] if predicate else []
    _run("select_where" if predicate else "select", values, _problem(values, k, **options), *asked, *map(address, out))
    return out


def _read(operation, values, predicate, out):
    _run(operation, values, _problem(values, 0), ctypes.byref(predicate), address(out))
    return out


def count(values, predicate):
    """How many elements of each row meet the predicate."""
    values = np.ascontiguousarray(values)
    return _read("count", values, predicate, np.empty(values.shape[0], np.int64))


def mask(values, predicate):
    """The bit mask of all elements that meet the predicate."""
    values = np.ascontiguousarray(values)
    return _read("mask", values, predicate, np.empty((values.size + 7) // 8, np.uint8))


def route(logits, k, bias=None, groups=0, groups_kept=0, factor=1.0, **options):
    """(experts, weights) of each row, by logits and weighed by softmax unless the options say otherwise."""
    logits = np.ascontiguousarray(logits)
    out = np.empty((logits.shape[0], k), np.int64), np.empty((logits.shape[0], k), np.float32)
    routing = Routing(bias=address(bias), groups=groups, groups_kept=groups_kept, factor=factor, **options)
    _call("route", ctypes.byref(_problem(logits, k)), ctypes.byref(routing), *map(address, (logits, *out)), None,
          ctypes.c_size_t(0), None)
    return out


def accumulate(values, k, cuts, order, **options):
    """As select(), but the columns arrive in chunks: those between neighbouring cuts, in that order."""
    values = np.ascontiguousarray(values)
    problem = _problem(values, k, **options)
    edges = [0, *cuts, values.shape[1]]
    chunks = list(zip(edges[:-1], edges[1:]))
    problem.length_max = max(end - begin for begin, end in chunks)
    problem.row_stride = values.shape[1]
    needed = ctypes.c_size_t()
    _call("accumulator_size", ctypes.byref(problem), ctypes.byref(needed))
    memory = np.full(needed.value, 0xA5, np.uint8)
    state = (ctypes.byref(problem), address(memory), needed)
    _call("accumulator_init", *state, None)
    for begin, end in (chunks[i] for i in order):
        data = Input(values=address(values[:, begin:]))
        _call("accumulator_push", *state, ctypes.byref(data), ctypes.c_int64(end - begin),
              ctypes.c_int64(begin), None)
    out = np.empty((values.shape[0], k), values.dtype), np.empty((values.shape[0], k), np.int64)
    _call("accumulator_finish", *state, *map(address, out), None)
    return out
