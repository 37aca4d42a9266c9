# SPDX-License-Identifier: Apache-2.0
"""Exact selection at the speed of memory: the k best elements, the k-th, and the elements that meet a predicate.

    values, indices = libtopk.topk(x, 10)            # of each row of the last dimension
    median = libtopk.median(x)
    values, indices, offsets = libtopk.where(x, gt=0.5)

Arrays come from numpy, torch (CPU or CUDA), CuPy, or any library with DLPack. They are read where they lie, without a
copy, if the elements of a row are neighbours and the rows follow one another at one stride, or share memory. Results
are arrays of the same kind on the same device. On a GPU the work is enqueued on the current stream of that library, and
nothing waits for it.

Types are float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, and integers of 8 to 64 bits, signed or not.
Elements rank by value, equal ones by lower position, and NaN above infinity unless an option says otherwise. Nulls of
columns of pyarrow, polars and pandas take no part. Results are the same bits on every device. CONTRACT.md, which an
installed package has beside this file, states everything that is promised.

Every function raises

  TypeError            for arrays of a type or kind, or options, that it does not know, for masked arrays, and for
                       nulls where they cannot be left out
  ValueError           for shapes and numbers out of their range
  IndexError           for a dim or an axis out of range
  NotImplementedError  for what the library does not do, or what a method that is forced cannot do
  OverflowError        for integers beyond 64 bits, buffers beyond 2^63 bytes, or int32 indices that cannot hold all
                       positions, those that a library such as JAX makes of results included
  RuntimeError         for a device that is missing or fails
  MemoryError          if the host has no memory for results or a workspace; if a GPU has none, the array's library
                       raises its own exception

Python's lock is released while the C library works.
"""
from typing import TYPE_CHECKING

from libtopk._load import library_path  # first: the core is empty until the library is loaded
from libtopk._core import Context
from libtopk._api import (Choice, Kth, Merged, Method, Route, TopK, TopKBy, Where, argtopk, argwhere, choice, count,
                          explain, kth, mask, merge, route, select_where, top_k, topk, topk_by, where, workspace_size)
from libtopk._accumulator import Accumulator, Bar
from libtopk._options import AnyPredicate, Options, Predicate, PredicateOptions
from libtopk._shape import Shape
from libtopk._shard import Shard, Sharded

if TYPE_CHECKING:
    from libtopk._quantiles import median, percentile, quantile

__all__ = ["Accumulator", "AnyPredicate", "Bar", "Choice", "Context", "Kth", "Merged", "Method", "Options", "Predicate",
           "PredicateOptions", "Route", "Shape", "Shard", "Sharded", "TopK", "TopKBy", "Where", "argtopk", "argwhere", "choice",
           "count", "explain", "kth", "library_path", "mask", "median", "merge", "percentile", "quantile", "route",
           "select_where", "top_k", "topk", "topk_by", "where", "workspace_size"]
__version__ = "0.1.0"


def __getattr__(name):
    if name in ("median", "percentile", "quantile"):  # which few programs need: importing them takes its time
        from libtopk import _quantiles
        globals().update({each: getattr(_quantiles, each) for each in ("median", "percentile", "quantile")})
        return globals()[name]
    raise AttributeError(f"module 'libtopk' has no attribute {name!r}")
