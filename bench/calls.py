# SPDX-License-Identifier: Apache-2.0
"""Calls of the C library in a loop in C (measure/calls.c), for the scripts beside this one."""

import ctypes
import functools
import os
from ctypes import POINTER, c_double, c_int, c_int64, c_size_t, c_void_p

# As in topk_type, topk_backend, topk_order and topk_index_type.
TYPES = {"float16": 1, "float32": 3, "float64": 4, "int8": 7, "int16": 8, "int32": 9, "int64": 10, "uint8": 11,
         "uint16": 12, "uint32": 13, "uint64": 14}
BACKENDS = {"cpu": 1, "cuda": 2}
ORDERS = {"best": 0, "any": 1}
INDICES = {"int32": 0, "int64": 1}


class Ring(ctypes.Structure):
    """struct bench_ring of calls.c."""
    _fields_ = [("context", c_void_p), ("type", c_int), ("order", c_int), ("index_type", c_int), ("rows", c_int64),
                ("length", c_int64), ("k", c_int64), ("slots", c_int64), ("values", c_void_p), ("best", c_void_p),
                ("positions", c_void_p), ("workspace", c_void_p), ("workspace_bytes", c_size_t), ("stream", c_void_p),
                ("synchronise", c_void_p)]


def load(build):
    """The loop of a build. It calls the library that is loaded already, of whichever build that is."""
    calls = ctypes.CDLL(os.path.join(build, "libtopk-bench-calls.so"))
    calls.bench_context.restype, calls.bench_context.argtypes = c_void_p, [c_int, c_int]
    calls.bench_select.restype, calls.bench_select.argtypes = c_double, [POINTER(Ring), c_int64]
    return calls


@functools.lru_cache(None)
def context(calls, backend, threads=0):
    """One for each number of threads; 0 is the library's choice."""
    return calls.bench_context(BACKENDS[backend], threads)


def address(array):
    return array.data_ptr() if hasattr(array, "data_ptr") else array.ctypes.data


def number(names, dtype):
    return names[str(dtype).removeprefix("torch.")]


def loop(calls, where, x, k, out, workspace, order="best", rows=None, stream=lambda: None, synchronise=None):
    """A function of a number of calls and, on a GPU, whether each waits for the stream: their mean seconds. `where` is
    a context. Each call selects from the next `rows` rows of x (all of them), from the first again after the last,
    and its results are as many rows of `out`."""
    best, positions = out
    rows = rows or len(x)
    ring = Ring(where, number(TYPES, x.dtype), ORDERS[order], number(INDICES, positions.dtype), rows, x.shape[1], k,
                len(x) // rows, address(x), address(best), address(positions), address(workspace), len(workspace))

    def run(count, waits=False):
        ring.stream, ring.synchronise = stream(), synchronise if waits else None
        seconds = calls.bench_select(ring, count)
        if seconds < 0:
            raise RuntimeError("the call of the C library fails")
        return seconds
    run.arrays = x, out, workspace  # live as long as their addresses are used
    return run
