# SPDX-License-Identifier: Apache-2.0
"""What python_overhead.py times: ways to select the k largest of each row, the loop in C first."""

import ctypes
import functools
import importlib.util
import itertools
import time
from ctypes import c_void_p

import numpy

import calls

try:
    import torch
except ImportError:
    torch = None


class Arrays:
    """numpy's arrays, or torch's on a device."""

    def __init__(self, name, device):
        self.name, self.device = name, device

    def of(self, array):
        return torch.from_numpy(array).to(self.device) if self.name == "torch" else array

    def stream(self):
        return torch.cuda.current_stream().cuda_stream if self.device == "cuda" else None

    def wait(self):
        if self.device == "cuda":
            torch.cuda.synchronize()


def on_host(array):
    return array.cpu().numpy() if hasattr(array, "cpu") else array


class Contender:
    """Something that selects: call() gives (values, indices), which lie in `out` where these are always the same
    arrays; loop(calls, whether it waits for the stream after each) gives the mean seconds of calls."""

    def __init__(self, what, call, out=None, loop=None):
        self.what, self.call, self.out = what, call, out
        self.loop = loop or self.loop_in_python

    def loop_in_python(self, calls, waits):
        wait = torch.cuda.current_stream().synchronize if waits else None
        begin = time.perf_counter()
        if waits:
            for _ in itertools.repeat(None, calls):
                self.call()
                wait()
        else:
            for _ in itertools.repeat(None, calls):
                self.call()
        return (time.perf_counter() - begin) / calls

    def is_right(self, x, best):
        for array in self.out or ():
            array[...] = -7
        values, indices = (on_host(array) for array in self.call())
        return (numpy.array_equal(values, best) and numpy.array_equal(numpy.take_along_axis(x, indices, 1), values)
                and bool(numpy.diff(numpy.sort(indices, axis=1), axis=1).all()))


def in_c(library, arrays, x, k, workspace, out):
    """The loop in C."""
    synchronise = None
    if arrays.device == "cuda":
        synchronise = ctypes.cast(ctypes.CDLL("libcuda.so.1").cuStreamSynchronize, c_void_p).value
    loop = calls.loop(library, calls.context(library, arrays.device), x, k, out, workspace, stream=arrays.stream,
                      synchronise=synchronise)
    return Contender("c", lambda: (loop(1), out)[1], out, loop)


def contenders_of(libtopk, library, arrays, x, k):
    def made(dtype, *shape):
        return arrays.of(numpy.zeros(shape, dtype))

    def outputs():
        return made("float32", len(x), k), made("int64", len(x), k)
    size = libtopk.workspace_size("topk", x, k)
    yield in_c(library, arrays, x, k, made("uint8", size), outputs())
    call, out, workspace = functools.partial(libtopk.topk, x, k), outputs(), made("uint8", size)
    yield Contender("libtopk.topk/out+workspace", functools.partial(call, out=out, workspace=workspace), out)
    yield Contender("libtopk.topk/out", functools.partial(call, out=out), out)
    yield Contender("libtopk.topk", call)
    if arrays.name == "torch":
        if importlib.util.find_spec("libtopk.torch") is not None:
            from libtopk.torch import topk
            yield Contender("libtopk.torch.topk", functools.partial(topk, x, k))
            operator = torch.ops.libtopk.topk
            yield Contender("torch.ops.libtopk.topk", functools.partial(operator, x, k, -1, True, True, 0))
        yield Contender("torch.topk", functools.partial(torch.topk, x, k))


def captured(contender):
    """A graph of one call, which is replayed in its place. The call has been made before."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = contender.call()

    def loop(calls, _):
        begin = time.perf_counter()
        for _ in itertools.repeat(None, calls):
            graph.replay()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / calls
    return Contender(contender.what, lambda: (graph.replay(), out)[1], out, loop)
