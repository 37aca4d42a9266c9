# SPDX-License-Identifier: Apache-2.0
"""Rows whose elements lie on several devices or machines."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from libtopk import _core
from libtopk._accumulator import _bytes_beside
from libtopk._api import RUN, WORKSPACE, TopK
from libtopk._options import Array

if TYPE_CHECKING:
    from typing import Unpack

    from libtopk._options import ShardOptions

_BEGIN, _COUNT, _ADVANCE, _RESULT, _SELECT = range(20, 25)
_EXTENTS = ("lengths", "offsets", "begins", "ends")


class Sharded(NamedTuple):
    """What a Shard knows of each row. The first three are alike for all shards, and what kth() returns for the whole.

    own_better  how many elements of this shard rank above the k-th
    own_equal   how many tie with it
    own_k       how many of the k best of the row lie in this shard
    after       `before` of the shard behind this one: before + own_equal
    """

    kth: Array
    better: Array
    equal: Array
    own_better: Array
    own_equal: Array
    own_k: Array
    after: Array


class Shard:
    """One shard of rows that lie on several devices or machines: finds their k-th element, and moves none.

        shard = libtopk.Shard(x, k)                      # each process has its part of the rows
        for _ in range(shard.rounds):
            sums = ...                                   # of shard.count() over all shards, by any means
            shard.advance(sums)
        kth, better, equal, *_ = shard.result()
        values, indices = shard.select(before)           # the results that lie here; see result()

    x        an array (..., length): this shard's elements of each row, which lie along `dim`. The same elements until
             the last round; the length may be 0
    k        as kth() has it, counted in the whole row and alike for all shards: a number, or integers, one for each row.
             These need k_max, which they are cut to
    options  magnitude, nan, lengths, offsets, begins, ends, length_max, index_dtype, index_base, indices and context, as
             topk() has them, and a predicate: then the elements that meet it are counted alone. workspace_limit bounds the
             state

    rounds   how many there are: 1, 2, 3 and 6 for 8, 16, 32 and 64 bits; 5 for up to 16 rows of 64 bits on a GPU

    Counters are int64, and their sums are all that shards exchange. One row has 256 for elements of up to 16
    bits, else 2048, or 8192 if it is one of up to 16 rows on a GPU. All shards are on the CPU, or all on a GPU, where nothing waits and a CUDA graph can capture all
    calls with the sums between them. docs/sharded.md says more. Raises as kth() does.
    """

    def __init__(self, x: Array, k: int | Array, largest: bool = True, dim: int = -1,
                 **options: Unpack[ShardOptions]):
        self._x, self._give = _core.adopt(x)
        given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        for name in _EXTENTS:
            if name in given:
                given[name] = _core.integers(given[name], self._x, name)
        is_of_rows = "k_max" in given and hasattr(k, "shape")  # an array without dimensions is that of the only row
        if is_of_rows or getattr(k, "shape", None) or not hasattr(k, "__index__"):
            if "k_max" not in given:
                raise TypeError("k_max is needed with an array of k, alike for all shards")
            self._k = given.pop("k_max")
            each, k = {"k_max": self._k}, _core.integers(k, self._x, "k")
        else:
            each, self._k = {}, k
        self._arguments, self._options = (largest, dim), given
        size, counters, self.rounds = self._run(_BEGIN, {}, mode=WORKSPACE)
        self._state = _bytes_beside(self._x, size)
        self._counters = _core.empty(self._x, (counters,), "int64")
        self._run(_BEGIN, each, k)
        self._round, self._is_counted = 0, False

    def _run(self, operation, more, k=None, mode=RUN, wanted=0, out=None):
        largest, dim = self._arguments
        options = {**self._options, **more}
        if mode == RUN and operation < _RESULT:
            options["counters"] = self._counters
        return _core.run(mode, operation, self._x, self._k if k is None else k, largest, True, dim, out, wanted,
                         None if mode == WORKSPACE else self._state, options, None)

    def count(self) -> Array:
        """Counts this round's elements of the shard. Returns the counters, an array of int64 that is the shard's own:
        it may be overwritten by the sums, and advance() clears it. Raises RuntimeError out of turn."""
        if self._is_counted or self._round == self.rounds:
            raise RuntimeError("count() comes once in each round, before advance()")
        self._run(_COUNT, {"round": self._round})
        self._is_counted = True
        return self._counters

    def advance(self, sums: Array | None = None) -> None:
        """Ends a round. `sums` are the counters of all shards, added up; None: they are where count() put its own.

        Sums that are wrong make results wrong. Raises RuntimeError for a negative one (on a GPU results are -2), and
        out of turn.
        """
        if not self._is_counted:
            raise RuntimeError("advance() comes after count()")
        sums = self._counters if sums is None else _core.integers(sums, self._x, "sums")
        self._run(_ADVANCE, {"round": self._round, "sums": sums})
        self._round, self._is_counted = self._round + 1, False

    def result(self, before: Array | None = None) -> Sharded:
        """What is known after the last round.

        before  integers, one for each row: how many elements of the shards before this one, in the order of positions,
                tie with the k-th: the sum of their own_equal. None: this shard is the first. own_k and after need it

        Raises RuntimeError before the last round.
        """
        results = self._run(_RESULT, self._after_rounds(before), wanted=127)[:7]
        return Sharded(*results) if self._give is None else Sharded(*map(self._give, results))

    def select(self, before: Array | None = None, pitch: int | None = None, *,
               out: tuple[Array, Array] | None = None) -> TopK:
        """The part of the k best of each row that lies in this shard, by ascending position: own_k of them, as result() says
        with the same `before`. One read of the elements, where topk() with own_k takes several.

        pitch  room for results of each row; None: for as many as there can be. Behind own_k results is padding
        out    (values, indices) of the results' shapes and types

        Returns TopK(values, indices): arrays of the shape of x with `pitch` in place of the length along `dim`. Positions
        are those in the shard, plus index_base, or the `indices` that belong to them. Raises RuntimeError before the last
        round.
        """
        more = self._after_rounds(before)
        more["pitch"] = self._most() if pitch is None else pitch
        results = self._run(_SELECT, more, wanted=3, out=out)
        if self._give is None or out is not None:
            return TopK(*results)
        last = None if "indices" in self._options else self._options.get("index_base", 0) + self._length() - 1
        return TopK(self._give(results[0]), self._give(results[1], last, True))

    def _length(self):
        return self._x.shape[self._arguments[1]] if self._x.shape else 1

    def _most(self):
        """How many results a row of this shard can have."""
        return min(self._k, self._length(), self._options.get("length_max", self._k))

    def _after_rounds(self, before):
        if self._round != self.rounds or not self.rounds:
            raise RuntimeError(f"{self._round} of {self.rounds} rounds have ended")
        return {} if before is None else {"before": _core.integers(before, self._x, "before")}
