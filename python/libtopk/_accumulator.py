# SPDX-License-Identifier: Apache-2.0
"""The k best of a stream."""
from __future__ import annotations

import json
import os
import reprlib
import sys
from contextlib import contextmanager
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from libtopk import _core, _expanded
from libtopk._adopt import Nulls
from libtopk._api import RUN, WORKSPACE, TopK, integer
from libtopk._kinds import name_of
from libtopk._options import Array

_INIT, _PUSH, _MERGE, _PEEK, _FINISH, _EXPORT, _IMPORT, _BAR, _RAISE = range(11, 20)

# What to_bytes() begins with, with its format version, and the options that it writes.
_BYTES = "libtopk.Accumulator 1"
_OPTIONS = frozenset(("magnitude", "nan", "order", "index_dtype", "index_base", "method", "tuning"))


class Bar(NamedTuple):
    """What no element may rank behind to be a result: of each row an element, and its position in the stream or -1."""

    values: Array
    positions: Array


def _bytes_beside(like, size):
    """An array of uint8 for a state, at a multiple of 64: copies must lie where their original does, modulo 64."""
    room = _core.empty(like, (size + 63,), "uint8")
    begin = -_core.address(room) % 64
    return room[begin:begin + size]


def _copied(state):
    copy = _bytes_beside(state, len(state))
    copy[:] = state
    return copy


def _on_host(array):
    """The array, or a copy of it in the host's memory."""
    return array.cpu() if hasattr(array, "cpu") else array.get() if hasattr(array, "get") else array


def _beside(like, data):
    """Bytes as an array beside another one."""
    array, host = _core.empty(like, (len(data),), "uint8"), np.frombuffer(data, np.uint8)
    if hasattr(array, "new_tensor"):
        array.copy_(sys.modules["torch"].from_numpy(host.copy()))
    elif hasattr(array, "set"):
        array.set(host)
    else:
        array[:] = host
    return array


def _is_count(value):
    return type(value) is int and 0 <= value < 2**63


# What the first line of bytes says, and what is right there.
_HEAD = {
    "k": _is_count,
    "largest": lambda value: isinstance(value, bool),
    "chunk_max": lambda value: _is_count(value) and value > 0,
    "rows": lambda value: isinstance(value, list) and len(value) < 64 and all(map(_is_count, value)),
    "pushed": _is_count,
    "carries_indices": lambda value: value is None or isinstance(value, bool),
    "options": lambda value: isinstance(value, dict) and _OPTIONS.issuperset(value),
}


def _head_of(line):
    """The first line of bytes, checked. Raises ValueError that says what is wrong with it."""
    try:
        head = json.loads(line)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("libtopk") != _BYTES:
        raise ValueError(f"the bytes are no accumulator: they do not begin with a line of JSON for {_BYTES!r}")
    for name, is_right in _HEAD.items():
        if name not in head or not is_right(head[name]):
            said = reprlib.repr(head[name]) if name in head else "missing"
            raise ValueError(f"the bytes are no accumulator: in their first line {name} is {said}")
    return head


class _Turn:
    """A lock, and how many calls have it, one within the other."""

    __slots__ = ("_lock", "depth")

    def __init__(self):
        self._lock = RLock()
        self.depth = 0  # changed by the lock's owner alone

    def __enter__(self):
        self._lock.acquire()
        self.depth += 1

    def __exit__(self, *_):
        self.depth -= 1
        self._lock.release()


class _Turns:
    """How threads take turns with an accumulator. A child process has none of its parent's other threads, so it has a
    lock of its own; if one of them had its turn at the fork, the child's copy may be half written."""

    forks = 0  # that lie behind this process

    def __init__(self) -> None:
        self._turns: dict[int, _Turn] = {}  # of this process, and of its ancestors by fork

    def take(self) -> _Turn:
        turn = self._turns.get(_Turns.forks) or self._turns.setdefault(_Turns.forks, _Turn())
        if len(self._turns) > 1 and any(self._turns[forks].depth for forks in self._turns if forks < _Turns.forks):
            raise RuntimeError("another thread was at work on this accumulator when the process forked, so this copy "
                               "of it may be half written: fork between calls, or make the accumulator in the child")
        return turn


def _count_fork():
    _Turns.forks += 1


os.register_at_fork(after_in_child=_count_fork)


class Accumulator:
    """The k best elements of each row of a stream that arrives in chunks; rows lie along the last dimension.

        best = libtopk.Accumulator(10)
        for chunk in chunks:
            best.push(chunk)
        values, indices = best.finish()

    k            how many of each row are kept
    largest      False: the smallest
    chunk_max    the longest piece of a row that is taken in at once; longer chunks are pushed piece by piece. None:
                 the length of the first chunk
    options      magnitude, nan, order, index_dtype, index_base, method, tuning, context: as topk() has them; but an order
                 of "any" is best first, too

    The first chunk fixes the type, device and rows of all chunks, and the kind of the results. All chunks are numpy's,
    or what can become so, or all torch's, or all CuPy's. Memory does not grow with the stream: the state holds
    candidates, at most 2 k elements of each row on the CPU and 6 k on a GPU (where rows are at most 64, up to 5120 more
    for all of them together), and what one push works with, which grows with k and chunk_max.

    Threads take turns; on a GPU, all use one stream. It can be copied, and pickled unless its options have a context.
    Pickles of strangers are never safe to read; from_bytes() is. On the CPU a child of fork() can use it; if another
    thread was at work on it at the fork, every use in the child raises RuntimeError.
    """

    def __init__(self, k: int, largest: bool = True, *, chunk_max: int | None = None, **options: Any):
        k = integer("k", k)
        if k < 0:
            raise ValueError(f"k is {k}, and cannot be negative")
        if chunk_max is not None:
            chunk_max = integer("chunk_max", chunk_max)
            if chunk_max < 1:
                raise ValueError(f"chunk_max is {chunk_max}, and must be positive")
        if "length_max" in options:
            raise TypeError("length_max is no option of an Accumulator, whose chunks end at chunk_max")
        self._k, self._largest = k, largest
        self._options = options
        self._chunk_max: Any = chunk_max
        self._state: Any = None
        self._like: Any = None  # an empty array of the type, kind and rows of the chunks
        self._give: Any = None  # turns results into arrays of the caller's kind
        self._carries_indices: bool | None = None
        self._pushed = 0
        self._turns = _Turns()

    def _problem(self):
        """What accumulators that are merged have in common."""
        ranking = {"magnitude": False, "nan": "largest", "index_dtype": "int64", "index_base": 0}
        chosen = {name: self._options.get(name) or ranking[name] for name in ranking}
        chosen["index_dtype"] = name_of(chosen["index_dtype"])
        return self._k, bool(self._largest), self._like.shape, self._like.dtype, chosen

    def _check_indices(self, are_carried):
        """None: a chunk without elements, which settles nothing."""
        if are_carried is not None and self._carries_indices not in (None, are_carried):
            raise ValueError("either all chunks carry indices or none does")

    def _run(self, operation, x, options=None, out=None, other=None, mode=RUN, k=None):
        options = {**self._options, "length_max": self._chunk_max, **(options or {})}
        return _core.run(mode, operation, x, self._k if k is None else k, self._largest, True, -1, out, 3, self._state,
                         options, other)

    @contextmanager
    def _as_a_whole(self):
        """What fails within begins no stream."""
        with self._turns.take():
            before = self.__dict__.copy() if self._state is None else {}
            try:
                yield
            except BaseException:
                self.__dict__.update(before)
                raise

    def _begin(self, chunk, give):
        self._give = give
        if self._chunk_max is None:
            self._chunk_max = max(1, chunk.shape[-1])
        self._like = _core.empty(chunk, (*chunk.shape[:-1], 0), None)
        size = self._run(_INIT, self._like, mode=WORKSPACE)
        self._state = _bytes_beside(chunk, size)
        self._run(_INIT, self._like)

    def __copy__(self):
        twin = type(self).__new__(type(self))
        with self._turns.take():
            state = None if self._state is None else _copied(self._state)
            twin.__dict__.update(self.__dict__, _turns=_Turns(), _state=state)
        return twin

    def __deepcopy__(self, _):  # what the two share is never changed
        return self.__copy__()

    def __getstate__(self):  # for a pickle
        with self._turns.take():
            return {**self.__dict__, "_turns": None, "_state": None if self._state is None else self._exported()}

    def __setstate__(self, members):
        state = members["_state"]
        self.__dict__.update(members, _turns=_Turns(), _state=None)
        if state is not None:
            self._import(self._like, self._give, state)

    def _export(self):
        """The bytes of topk_accumulator_export(), beside the state."""
        size = self._run(_EXPORT, self._like, mode=WORKSPACE)
        data = _core.empty(self._like, (size,), "uint8")
        self._run(_EXPORT, self._like, other=data)
        return data

    def _exported(self):
        return np.asarray(_on_host(self._export())).tobytes()

    def _import(self, chunk, give, data):
        """Begins with a state of bytes, which are an array or on the host."""
        self._begin(chunk, give)
        self._run(_IMPORT, self._like, other=_beside(chunk, data) if isinstance(data, bytes) else data)

    def to_bytes(self) -> bytes:
        """The accumulator as bytes, for a file, another process or another machine; more may be pushed. They are the
        same from the CPU and a GPU: a line of JSON with options, and the bytes that topk_accumulator_export() writes.
        Waits for a GPU."""
        with self._turns.take():
            if self._state is None:
                raise RuntimeError("nothing has been pushed, so there is no state to write")
            options = {name: value for name, value in self._options.items() if name != "context" and value is not None}
            if "index_dtype" in options:
                options["index_dtype"] = name_of(options["index_dtype"])
            head = {"libtopk": _BYTES, "k": self._k, "largest": bool(self._largest), "chunk_max": self._chunk_max,
                    "rows": list(self._like.shape[:-1]), "pushed": self._pushed,
                    "carries_indices": self._carries_indices, "options": options}
            return json.dumps(head).encode() + b"\n" + self._exported()

    @classmethod
    def from_bytes(cls, data: bytes, like: Array, *, chunk_max: int | None = None,
                   context: Any = None) -> Accumulator:
        """The accumulator that to_bytes() wrote, which goes on as that one.

        like       an array of the type, kind and device of the chunks to come, of any shape
        chunk_max  as the class has it; None: what it was. The state takes memory for it: give one to bytes of strangers
        context    as topk() has it

        The bytes may come from anywhere: all that they say is checked, and nothing in them is run. Raises ValueError,
        which says what is wrong, for bytes that are no accumulator or one of another type. An element or a position
        that was changed on its way is not found: the bytes have no checksum.
        """
        line, _, state = bytes(memoryview(data)).partition(b"\n")
        head = _head_of(line)
        like, give = _core.adopt(like)
        cls(0, context=context)._run(_EXPORT, _core.empty(like, (0,), None), mode=WORKSPACE)  # raises for a wrong argument
        self = cls(head["k"], head["largest"], chunk_max=head["chunk_max"] if chunk_max is None else chunk_max,
                   **head["options"])
        try:
            self._read(_core.empty(like, (*head["rows"], 0), None), give, state, context)
        except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
            raise ValueError(f"the bytes are no accumulator of this type: {error}") from None
        self._carries_indices, self._pushed = head["carries_indices"], head["pushed"]
        return self

    def _read(self, chunk, give, state, context):
        """Begins with the state of bytes from anywhere. Only the CPU knows at once what is wrong with them."""
        host = _on_host(chunk)
        if host is not chunk or (context is not None and context.backend != "cpu"):
            options = {name: value for name, value in self._options.items() if name not in ("method", "tuning")}
            Accumulator(self._k, self._largest, chunk_max=1, **options)._read(host, None, state, _core.Context("cpu"))
        if context is not None:
            self._options["context"] = context
        size = self._run(_EXPORT, chunk, mode=WORKSPACE)
        if size != len(state):
            raise ValueError(f"behind the first line are {len(state)} bytes, and its state has {size}")
        self._import(chunk, give, state)

    def push(self, chunk: Array, base: int | None = None, *, lengths: Array | None = None,
             indices: Array | None = None, k: Array | None = None, **predicate: Any) -> None:
        """Adds the elements of a chunk, an array (..., length).

        base       the position of its first element in the stream; None: behind all that came before
        lengths    integers, one for each row: how many elements of the chunk count
        indices    a payload for each element, returned in place of its position; in all chunks with elements or in none
        k          integers, one for each row: that row keeps no more from now on
        predicate  one of gt, ge, lt, le, eq, ne, between, mask: only elements that meet it count

        Chunks may come in any order, but must not overlap. Raises as topk() does, and ValueError for a chunk with other
        rows or type than the first.
        """
        with self._as_a_whole():
            self._push(chunk, base, lengths, indices, k, predicate)

    def _adopted(self, chunk, predicate):
        """(chunk, what turns results into its kind, predicate). Nulls of a chunk, or of a mask, do not count."""
        if predicate.get("mask") is not None:
            from libtopk import _nulls
            predicate = {**predicate, "mask": _nulls.adopt_mask(predicate["mask"])}
        try:
            return *_core.adopt(chunk), predicate
        except Nulls as error:
            from libtopk import _nulls
            numbers, predicate = _nulls.of_chunk(error, predicate, self._options.get("context"))
            return numbers, None, predicate

    def _push(self, chunk, base, lengths, indices, k, predicate):
        chunk, give, predicate = self._adopted(chunk, predicate)
        if not chunk.shape:
            raise ValueError("a chunk has at least one dimension")
        if self._state is None:
            self._begin(chunk, give)
        dtype = _core.empty(chunk, (0,), None).dtype  # in the machine's byte order
        if chunk.shape[:-1] != self._like.shape[:-1] or dtype != self._like.dtype:
            raise ValueError(f"a chunk of {tuple(chunk.shape)} {chunk.dtype}, where the first one had rows of "
                             f"{tuple(self._like.shape[:-1])} {self._like.dtype}")
        are_carried = None if 0 in chunk.shape else indices is not None
        self._check_indices(are_carried)
        base = self._pushed if base is None else base
        companions = {name: _core.adopt(array)[0] for name, array in
                      (("mask", predicate.pop("mask", None)), ("indices", indices)) if array is not None}
        for name, array in companions.items():
            if tuple(array.shape) != tuple(chunk.shape):
                raise ValueError(f"{name} is not of the shape of the chunk")
        if lengths is not None:
            lengths = _core.integers(lengths, chunk, "lengths")
        length = _expanded.needed(chunk, self._k, predicate)
        length_max = _expanded.piece_of(chunk, self._chunk_max)
        # What can fail fails for the last piece, so that comes first: nothing is added then.
        for begin in reversed(range(0, max(1, length), length_max)):
            piece = slice(begin, min(begin + length_max, length))
            options = {**predicate, **{name: array[..., piece] for name, array in companions.items()}}
            if lengths is not None:
                options["lengths"] = lengths.clip(begin, begin + length_max) - begin
            if k is not None:
                options["k_max"] = self._k
            self._run(_PUSH, chunk[..., piece], {**options, "base": base + begin}, k=k)
            self._carries_indices = self._carries_indices if are_carried is None else are_carried
        self._pushed = max(self._pushed, base + chunk.shape[-1])

    def merge(self, other: Accumulator) -> None:
        """Adds all that was pushed to another accumulator of the same k and options, which stays as it is.

        Their positions must not overlap. An accumulator that has had no push adds nothing, whatever its options are.
        One of another process comes as bytes: merge(Accumulator.from_bytes(data, like)). Raises ValueError for another
        k, option, type or number of rows, and if only one of the two carries indices.
        """
        if not isinstance(other, Accumulator):
            raise TypeError(f"merge() takes an Accumulator, not {type(other).__name__}")
        if other is self:
            raise ValueError("an accumulator cannot be merged into itself: each element would count twice")
        first, second = sorted((self, other), key=id)  # in one order, so that none waits for the other
        with first._turns.take(), second._turns.take(), self._as_a_whole():
            self._merge(other)

    def _merge(self, other):
        if other._state is None:
            return
        if self._state is None:
            self._chunk_max = self._chunk_max or other._chunk_max
            self._begin(other._like, other._give)
        if self._problem() != other._problem():
            raise ValueError("the accumulators differ in k, options, or the rows or type of their chunks")
        if other._carries_indices is not None:
            self._check_indices(other._carries_indices)
            self._carries_indices = other._carries_indices
        self._run(_MERGE, self._like, other=other._state_for(self._chunk_max))
        self._pushed = max(self._pushed, other._pushed)

    def _state_for(self, chunk_max):
        """A state of the same elements for chunks of another length."""
        if chunk_max == self._chunk_max:
            return self._state
        twin = Accumulator(self._k, self._largest, chunk_max=chunk_max, **self._options)
        twin._import(self._like, None, self._export())
        return twin._state

    def _results(self, operation, out):
        if self._state is None:
            raise RuntimeError("nothing has been pushed, so neither type nor kind of the results is known")
        results = self._run(operation, self._like, out=out)
        if self._give is None or out is not None:
            return TopK(*results)
        last = None if self._carries_indices else (self._options.get("index_base") or 0) + self._pushed - 1
        return TopK(self._give(results[0]), self._give(results[1], last, True))

    def peek(self, *, out: tuple[Array, Array] | None = None) -> TopK:
        """The k best so far, best first or by position, as TopK(values, indices); more may be pushed."""
        with self._turns.take():
            return self._results(_PEEK, out)

    def bar(self) -> Bar:
        """What no element may rank behind any more to be a result, of each row: Bar(values, positions).

        Elements of later chunks that rank behind values[r], ties by position, need not be computed or pushed. A position is
        that in the stream; -1 where there is no bar yet. The bar lags behind the k-th best; it takes constant time. On the
        CPU alone (NotImplementedError).
        """
        with self._turns.take():
            if self._state is None:
                raise RuntimeError("nothing has been pushed, so the type of the bar is not known")
            values, positions = self._run(_BAR, self._like)
            if self._give is None:
                return Bar(values, positions)
            return Bar(self._give(values), self._give(positions, self._pushed - 1, True))

    def raise_bar(self, values: Array, positions: Array) -> None:
        """Raises the bar of each row, to what bar() of another accumulator of the same stream says, for one.

        Of what is pushed or merged from now on nothing takes part that ranks behind. Negative positions raise nothing. Bytes
        and pickles do not hold such a bar. On the CPU alone (NotImplementedError).
        """
        with self._turns.take():
            if self._state is None:
                raise RuntimeError("nothing has been pushed, so there is no bar to raise")
            self._run(_RAISE, self._like, {"bar": values, "positions": positions})

    def finish(self, *, out: tuple[Array, Array] | None = None) -> TopK:
        """As peek(), and ends the stream: the next push begins a new one."""
        with self._turns.take():
            results = self._results(_FINISH, out)
            self._state, self._carries_indices, self._pushed = None, None, 0
        return results
