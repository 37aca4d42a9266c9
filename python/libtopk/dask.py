# SPDX-License-Identifier: Apache-2.0
"""libtopk for dask: the k best elements of arrays in chunks, on as many workers as there are, and of columns.

    from libtopk.dask import argtopk, kth, nlargest, nsmallest, topk

    values, indices = topk(x, 10)              # lazy, of a dask array; both come from one pass over its chunks
    values, indices = dask.compute(values, indices)

topk(), argtopk() and kth() say of a dask array what libtopk's functions of these names say of the whole array, to the
bit: whatever its chunks, split_every, the scheduler and the number of workers are, and if a worker is lost on the way.
NaN, ties and zeros rank as CONTRACT.md says, and positions count from the start of the axis.

Each chunk leaves a list of its k best elements and their places: at most 16 k bytes for each row. Lists are merged in a
tree, `split_every` at a time, until one is left. So a worker holds the chunks that it works on and some lists. An axis
that is one chunk needs no lists.

What dask does for each task may take longer than a chunk. So chunks that are in memory already, by persist() or from
numpy's arrays, share tasks: up to 16 of one worker and 256 MiB in each, as long as each thread has four tasks. Of a
cluster the scheduler is asked where chunks lie when topk() is called. If they move later, that costs copies, no more.

Chunks are of numpy or CuPy; results are of the same kind. Lists of CuPy's are merged on the CPU. Masked arrays raise
TypeError: where the array is made if dask knows, or else when it is computed. Lengths of chunks may be unknown (nan):
each task counts its own. A task works with one thread, since dask runs one for each core.

nlargest() and nsmallest() are for dask dataframes and series.

This module alone imports dask, which is no dependency of libtopk. It is tested with dask 2026.8 and pandas 3.1.
"""
from __future__ import annotations

import importlib
import math
import operator
import sys
import threading
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from dask.system import CPU_COUNT

import libtopk
from libtopk._accumulator import Accumulator, _on_host
from libtopk._api import Kth, TopK, integer
from libtopk._kinds import name_of

__all__ = ["argtopk", "kth", "nlargest", "nsmallest", "topk"]

# The place of an element: the number of its chunk, then its position there.
_LOCAL_BITS = 40
_CHUNKS_MAX = 1 << 62 - _LOCAL_BITS
_SPLIT_EVERY = 16

# Chunks in memory that a task takes at most, their bytes, and the tasks that each thread should have.
_GROUP_CHUNKS = 16
_GROUP_BYTES = 256 << 20
_TASKS_OF_A_THREAD = 4
_own = threading.local()


def topk(x: Any, k: int, largest: bool = True, dim: int = -1, *, split_every: int | None = None,
         **options: Any) -> TopK:
    """The k largest or smallest elements along a dimension of a dask array, and their positions: libtopk.topk.

    x            a dask array of any type of libtopk, chunked along any dimensions
    k            how many; may exceed the length
    largest      False: the smallest
    dim          rows lie along it; axis is another name
    split_every  how many lists are merged at a time, 2 or more; None: 16
    options      magnitude, nan, order, index_dtype, index_base, method, tuning: as libtopk.Accumulator has them

    Returns TopK(values, indices): dask arrays of the shape of x with k in place of the length along `dim`, in one chunk
    there. Rows with fewer elements end in padding, as libtopk.topk has it. Compute both at once, by dask.compute(): they
    share all work.

    Raises as libtopk.topk() does, for what the array shows before it is computed; else the computation raises. ValueError
    for more than 2^22 chunks along `dim`.
    """
    x, dim, k, options = _checked(x, dim, k, options)
    largest = bool(largest)
    order = "best" if options.get("order") in (None, "any") else options["order"]
    base, index_dtype = options.get("index_base") or 0, np.dtype(name_of(options.get("index_dtype") or "int64"))
    _check_positions(x.shape[dim], base, index_dtype)
    ranking = {name: options[name] for name in ("magnitude", "nan") if options.get(name) is not None}
    choice = {**ranking, **{name: options[name] for name in ("method", "tuning") if options.get(name) is not None}}
    settings = {"k": k, "largest": largest}
    tree = _Tree(x, dim, split_every, ("topk", settings, choice, order, base, index_dtype))
    dtype = x.dtype.newbyteorder("=")
    results = tree.build(
        partial(_list_of, **settings, dim=dim, choice=choice), partial(_merged, **settings, choice=ranking),
        partial(_best_of, **settings, choice=ranking, order=order, dim=dim, base=base, index_dtype=index_dtype,
                kind=_kind_of(x)),
        partial(_topk_of_one, **settings, dim=dim, choice={**choice, "order": order}, base=base, index_dtype=index_dtype))
    chunks = (*x.chunks[:dim], (k,), *x.chunks[dim + 1:])
    return TopK(tree.output(results, 0, chunks, dtype), tree.output(results, 1, chunks, index_dtype))


def argtopk(x: Any, k: int, largest: bool = True, dim: int = -1, *, split_every: int | None = None,
            **options: Any) -> Any:
    """The positions of what topk() returns, alone."""
    return topk(x, k, largest, dim, split_every=split_every, **options).indices


def kth(x: Any, k: int, largest: bool = True, dim: int = -1, *, split_every: int | None = None, **options: Any) -> Kth:
    """The k-th largest or smallest element along a dimension of a dask array, k from 1 on, and its rank: libtopk.kth.

    Parameters are those of topk(), but options are magnitude and nan alone. Returns Kth(kth, better, equal) of dask
    arrays of the shape of x without `dim`.

    Memory grows with k, as in topk(): the median of a long axis is better taken by libtopk.kth of the whole.
    """
    unknown = set(options) - {"magnitude", "nan", "axis"}
    if unknown:
        raise TypeError(f"kth() has no option {min(unknown)!r} here: magnitude, nan and axis alone")
    x, dim, k, options = _checked(x, dim, k, options)
    largest = bool(largest)
    choice = {name: options[name] for name in options if options[name] is not None}
    settings = {"k": k, "largest": largest, "choice": choice}
    tree = _Tree(x, dim, split_every, ("kth", settings))
    dtype = x.dtype.newbyteorder("=")
    results = tree.build(
        partial(_counted_list_of, **settings, dim=dim), partial(_merged_and_counted, **settings),
        partial(_kth_of, **settings, kind=_kind_of(x)), partial(_kth_of_one, **settings, dim=dim))
    chunks = x.chunks[:dim] + x.chunks[dim + 1:]
    dtypes = dtype, np.dtype(np.int64), np.dtype(np.int64)
    return Kth(*(tree.output(results, which, chunks, dtype) for which, dtype in enumerate(dtypes)))


def _checked(x, dim, k, options):
    """(x, dim, k, options but axis) once all is known to be right that can be known before there are elements."""
    if not isinstance(x, da.Array):
        raise TypeError(f"x is no dask array, but {type(x).__name__}, which libtopk's own functions may take")
    if "context" in options:
        raise TypeError("context is no option here: each worker has contexts of its own")
    x = x.reshape(1) if x.ndim == 0 else x
    name, options = "dim", dict(options)
    if "axis" in options:
        if dim != -1:
            raise TypeError("dim and axis are two names of one argument, and both are given")
        name, dim = "axis", options.pop("axis")
    k, dim = integer("k", k), integer(name, dim)
    if not -x.ndim <= dim < x.ndim:
        raise IndexError(f"{name} is {dim}, outside [{-x.ndim}, {x.ndim - 1}]")
    dim %= x.ndim
    if x.numblocks[dim] > _CHUNKS_MAX:
        raise ValueError(f"x has {x.numblocks[dim]} chunks along dim {dim}, and can have {_CHUNKS_MAX}: rechunk it")
    meta = np.empty((0,) * x.ndim, x.dtype) if _kind_of(x) == "cupy" else x._meta
    Accumulator(k, **options).push(meta.reshape((0,) * x.ndim))
    return x, dim, k, options


def _check_positions(length, base, index_dtype):
    most = np.iinfo(index_dtype).max
    if not math.isnan(length) and length + base > most:
        raise OverflowError(f'index_dtype="{index_dtype}" cannot hold the positions of rows of {length} elements from '
                            f"{base} on")


def _kind_of(x):
    return type(x._meta).__module__.partition(".")[0]


class _Tree:
    """The graph of a reduction along one dimension of an array."""

    def __init__(self, x, dim, split_every, question):
        self.x, self.dim = x, dim
        self.split_every = _SPLIT_EVERY if split_every is None else integer("split_every", split_every)
        if self.split_every < 2:
            raise ValueError(f"split_every is {self.split_every}, and must be 2 or more")
        self.rows = [(place, self.chunks_of(place)) for place in np.ndindex(*x.numblocks[:dim], *x.numblocks[dim + 1:])]
        self.groups = _groups_of(x, [chunks for _, chunks in self.rows])
        self.question = question[0]
        self.token = tokenize(x.name, dim, self.split_every, question, self.groups)
        self.name = self.named("finish")

    def chunks_of(self, place):
        before, after = place[:self.dim], place[self.dim:]
        return [(self.x.name, *before, number, *after) for number in range(self.x.numblocks[self.dim])]

    def named(self, stage):
        """dask learns how long tasks take, and shows them, by what stands before the token."""
        return f"libtopk-{self.question}-{stage}-{self.token}"

    def build(self, leaf, merge, finish, at_once):
        """A graph that has, for each row of chunks, a tuple of results. leaf(chunk, number) makes a list, merge(lists) one
        of several, finish(lists) the results; at_once(chunk) does all where there is one chunk."""
        layer, leaves = {}, partial(_list_of_group, leaf, merge)
        for (place, chunks), groups in zip(self.rows, self.groups):
            if len(chunks) == 1:
                layer[self.name, *place] = (at_once, chunks[0])
                continue
            lists = [(self.named("list"), *place, group[0]) for group in groups]
            layer.update((one, (leaves, [chunks[number] for number in group], group)) for one, group in zip(lists, groups))
            level = 0
            while len(lists) > self.split_every:
                parts = [lists[first:first + self.split_every] for first in range(0, len(lists), self.split_every)]
                lists = [(self.named("merge"), *place, level, number) for number in range(len(parts))]
                layer.update((one, (merge, part)) for one, part in zip(lists, parts))
                level += 1
            layer[self.name, *place] = (finish, lists)
        return HighLevelGraph.from_collections(self.name, layer, [self.x])

    def output(self, graph, which, chunks, dtype):
        """The dask array of one of the results."""
        name = self.named(which)
        layer = {}
        for place in np.ndindex(*self.x.numblocks[:self.dim], *self.x.numblocks[self.dim + 1:]):
            one = (0,) if len(chunks) == self.x.ndim else ()
            layer[name, *place[:self.dim], *one, *place[self.dim:]] = (operator.itemgetter(which), (self.name, *place))
        graph = HighLevelGraph({**graph.layers, name: layer}, {**graph.dependencies, name: {self.name}})
        return da.Array(graph, name, chunks, meta=meta_from_array(self.x._meta, len(chunks), dtype=dtype))


def _groups_of(x, rows):
    """For each row of chunks lists of the chunks that a task takes together. Results are the same for any groups."""
    homes, threads = _homes_of(x)
    chunk_bytes = math.prod(map(max, x.chunks)) * x.dtype.itemsize if x.size else 0
    fitting = 0 if math.isnan(chunk_bytes) else min(_GROUP_CHUNKS, _GROUP_BYTES // max(chunk_bytes, 1))
    most = max(1, min(fitting, len(homes) // (_TASKS_OF_A_THREAD * threads)))
    return [_groups_of_row([homes.get(chunk) for chunk in chunks], most) for chunks in rows]


def _groups_of_row(homes, most):
    """Numbers of chunks by their home; None: a chunk is not in memory, and alone."""
    groups, open_groups = [], {}
    for number, home in enumerate(homes):
        group = open_groups.get(home, [])
        if home is None or len(group) in (0, most):
            group = open_groups[home] = []
            groups.append(group)
        group.append(number)
    return groups


def _homes_of(x):
    """({the key of a chunk in memory: the worker that has it, or "here"}, how many threads will work on them)"""
    layer = x.dask.layers.get(x.name)
    values = layer.mapping if isinstance(layer, MaterializedLayer) else {}
    if here := {key: "here" for key, value in values.items() if isinstance(value, type(x._meta))}:
        return here, dask.config.get("num_workers", None) or CPU_COUNT
    future_type = getattr(sys.modules.get("distributed"), "Future", ())
    futures = [value for value in values.values() if isinstance(value, future_type)]
    if not futures or futures[0].client.asynchronous or futures[0].client.status != "running":
        return {}, 1
    client = futures[0].client
    try:
        holders, threads = client.who_has(futures), sum(client.nthreads().values())
    except OSError:  # the computation says so
        return {}, 1
    return {key: workers[0] for key, workers in holders.items() if workers}, max(threads, 1)


def _options_for(block):
    """One thread's own context, for arrays of the host."""
    if _on_host(block) is not block:
        return {}
    if not hasattr(_own, "context"):
        _own.context = libtopk.Context("cpu", threads=1)
    return {"context": _own.context}


def _as_kind(kind, *arrays):
    """Arrays of numpy as what the chunks are."""
    if kind != "cupy":
        return arrays
    return tuple(map(importlib.import_module("cupy").asarray, arrays))


def _list_of_group(leaf, merge, blocks, numbers):
    """What leaf() makes of each chunk of a group, as one."""
    lists = [leaf(block, number) for block, number in zip(blocks, numbers)]
    return lists[0] if len(lists) == 1 else merge(lists)


def _list_of(block, number, *, k, largest, dim, choice):
    """What is known of one chunk: its k best, best first, their places, and the lengths of chunks by their numbers."""
    rows = np.moveaxis(block, dim, -1)
    length = rows.shape[-1]
    values, places = libtopk.topk(rows, min(k, length), largest, index_base=number << _LOCAL_BITS, **choice,
                                  **_options_for(block))
    return np.asarray(_on_host(values)), np.asarray(_on_host(places)), {number: length}


def _side_by_side(arrays, padding):
    """Lists as libtopk.merge() takes them: the shorter ones end in padding."""
    longest = max(array.shape[-1] for array in arrays)
    whole = np.full((len(arrays), *arrays[0].shape[:-1], longest), padding, arrays[0].dtype)
    for number, array in enumerate(arrays):
        whole[number, ..., :array.shape[-1]] = array
    return whole


def _merged(lists, *, k, largest, choice, order="best", are_all=False):
    """One list of several; with `are_all` k results, padding among them."""
    lengths = {number: length for one in lists for number, length in one[2].items()}
    values, places = _side_by_side([one[0] for one in lists], 0), _side_by_side([one[1] for one in lists], -1)
    best = libtopk.merge(values, places, k if are_all else min(k, sum(lengths.values())), largest, lists_sorted=True, order=order,
                         **choice, **_options_for(values))
    return *best, lengths


def _best_of(lists, *, k, largest, choice, order, dim, base, index_dtype, kind):
    values, places, lengths = _merged(lists, k=k, largest=largest, choice=choice, order=order, are_all=True)
    begins = np.cumsum((0, *(lengths[number] for number in range(len(lengths)))))
    _check_positions(int(begins[-1]), base, index_dtype)
    indices = np.where(places < 0, -1, begins[places >> _LOCAL_BITS] + (places & (1 << _LOCAL_BITS) - 1) + base)
    return _as_kind(kind, np.moveaxis(values, -1, dim), np.moveaxis(indices.astype(index_dtype), -1, dim))


def _topk_of_one(block, *, k, largest, dim, choice, base, index_dtype):
    return tuple(libtopk.topk(block, k, largest, dim=dim, index_base=base, index_dtype=index_dtype, **choice,
                              **_options_for(block)))


def _tie(a, b, magnitude):
    """Which elements rank alike."""
    a, b = (np.abs(a), np.abs(b)) if magnitude else (a, b)
    return (a == b) | (a != a) & (b != b)


def _counted_list_of(block, number, *, k, largest, dim, choice):
    """A list, and how many elements of each row tie with the k-th one: 0 where there are fewer than k."""
    equal = libtopk.kth(block, k, largest, dim, **choice, **_options_for(block)).equal
    return *_list_of(block, number, k=k, largest=largest, dim=dim, choice=choice), np.asarray(_on_host(equal))


def _merged_and_counted(lists, *, k, largest, choice):
    """Elements that tie with the k-th of all: those of a list are all in it, unless its k-th is one."""
    best = _merged(lists, k=k, largest=largest, choice=choice)
    equal = np.zeros_like(lists[0][3])
    if 0 < k <= sum(best[2].values()):
        threshold = best[0][..., k - 1:]
        for values, _, _, ties_of_last in lists:
            ties = _tie(values, threshold, bool(choice.get("magnitude")))
            is_last = ties[..., -1] if values.shape[-1] == k else np.zeros(equal.shape, bool)
            equal += np.where(is_last, ties_of_last, ties.sum(-1))
    return *best, equal


def _kth_of(lists, *, k, largest, choice, kind):
    best, _, _, equal = _merged_and_counted(lists, k=k, largest=largest, choice=choice)
    common, better, _ = libtopk.kth(best, k, largest, **choice, **_options_for(best))
    return _as_kind(kind, common, better, equal)


def _kth_of_one(block, *, k, largest, dim, choice):
    return tuple(libtopk.kth(block, k, largest, dim, **choice, **_options_for(block)))


def nlargest(frame: Any, n: int, columns: Any = None, keep: str = "first", *, split_every: int | None = None) -> Any:
    """The n rows of a dask dataframe with the largest numbers in a column, or the n largest elements of a series.

    columns      the label of a column, or a list of them, which later ones order where earlier ones tie; None for a
                 series
    keep         of the elements that tie with the last one: "first", "last", or "all" of them, more than n
    split_every  how many parts are put together at a time; None: as dask has it

    Returns what pandas' nlargest(n, columns, keep=keep) returns of the whole, as one partition: the same rows in the same
    order, whatever the partitions are. Of each partition at most n + 1 rows go on, and with "all" or several columns
    those that tie with the last of them in the first column.

    Columns hold numbers, bools or times, with nulls or not. Raises as pandas does, before anything is computed.
    """
    return _of_frame(frame, n, columns, keep, split_every, "nlargest")


def nsmallest(frame: Any, n: int, columns: Any = None, keep: str = "first", *, split_every: int | None = None) -> Any:
    """As nlargest(), of the smallest."""
    return _of_frame(frame, n, columns, keep, split_every, "nsmallest")


def _of_frame(frame, n, columns, keep, split_every, method):
    import dask.dataframe as dd
    if not isinstance(frame, (dd.DataFrame, dd.Series)):
        raise TypeError(f"frame is no dask dataframe or series, but {type(frame).__name__}")
    n = integer("n", n)
    is_series = isinstance(frame, dd.Series)
    if is_series == (columns is not None):
        raise TypeError("columns is for a dataframe, which needs it, and not for a series")
    ask = partial(_asked, method=method, n=n, columns=columns, keep=keep)
    meta = ask(frame._meta_nonempty).iloc[:0]
    if is_series:  # dask reduces frames alone to more than a number
        frame, ask = frame.to_frame("values"), partial(ask, name=frame.name)
    labels = ["values"] if is_series else columns if isinstance(columns, list) else [columns]
    narrow = partial(_narrowed, count=max(n, 0) + 1, column=labels[0], largest=method == "nlargest",
                     keep=keep if len(labels) == 1 else "all")
    return frame.reduction(narrow, combine=narrow, aggregate=ask, meta=meta, split_every=split_every)


def _asked(rows, *, method, n, columns, keep, **of_series):
    """What pandas says of all rows that are left."""
    if of_series:
        rows = rows["values"].rename(of_series["name"])
    return getattr(rows, method)(n, keep=keep, **({} if columns is None else {"columns": columns}))


def _narrowed(frame, *, count, column, largest, keep):
    """Of a dataframe's rows, in their order, those that can be among the count - 1 best of more rows: one more than
    asked for, since pandas orders ties in another way where it is asked for all rows."""
    series = frame[column]
    is_null = series.isna().to_numpy()
    present, nulls = np.flatnonzero(~is_null), np.flatnonzero(is_null)
    if len(present) >= count:
        keys = _keys_of(series[~is_null])
        present, nulls = present[_best_places(keys, count, largest, keep)], nulls[:0]
    elif keep != "all":  # nulls fill up, the first ones first
        nulls = nulls[:count]
    return frame.iloc[np.sort(np.concatenate((present, nulls)))]


def _keys_of(series):
    """Numbers that rank as the elements of a column without nulls."""
    dtype = getattr(series.dtype, "numpy_dtype", series.dtype)
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return series.to_numpy(dtype)
    if isinstance(dtype, np.dtype) and dtype.kind == "b":
        return series.to_numpy(dtype).view(np.uint8)
    return series.astype("int64").to_numpy()  # times


def _best_places(keys, count, largest, keep):
    options = {"nan": "last", **_options_for(keys)}
    if keep == "all":
        last = libtopk.kth(keys, count, largest, **options).kth
        return np.flatnonzero((keys >= last if largest else keys <= last))
    if keep == "last":
        return len(keys) - 1 - libtopk.argtopk(keys[::-1], count, largest, **options)
    return libtopk.argtopk(keys, count, largest, **options)
