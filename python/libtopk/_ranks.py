# SPDX-License-Identifier: Apache-2.0
"""Selection from rows whose elements lie on many ranks, over whatever brings arrays from one to another.

The ranks of a call, `ranks` below, have

  rank, size     the number of this rank, and how many there are
  sum(array)     adds up an array of int64 over all ranks, in place
  gather(array)  the arrays of all ranks, stacked, on every rank
  collect(array, root)  the same on one rank; None on the others
  exchange(array)       array[r] goes to rank r; stacked by where they come from

Arrays are numpy's or torch's: only what both know is used, and nothing asks an array for a number.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from libtopk import _api, _core
from libtopk._options import Array
from libtopk._shard import Shard

ORDERS = ("best", "any", "position")


class InPlace(NamedTuple):
    """The results that lie on this rank, by position, with padding behind them; how many these are in each row, and how
    many results the ranks with lower numbers have together."""

    values: Array
    indices: Array
    own_k: Array
    before: Array


@dataclass
class Problem:
    """What a call selects from on this rank."""

    x: Any  # (rows, length)
    lead: tuple[int, ...]  # what `rows` were
    k: int
    largest: bool
    order: str
    to: Any  # "all", "owner", "place", or a rank
    options: dict[str, Any]  # how elements rank, and the context
    predicate: dict[str, Any]
    base: Any = None  # of the positions on this rank; None: they are dealt out in turns, or in the table
    bases: Any = None  # of all ranks, an array or a tuple; with `base`
    table: Any = None  # (rows, length)
    most: int | None = None  # elements of a row on any rank, if that is known

    def chosen(self, k, **more):
        """The k best elements of this rank, and their positions on it or in the table."""
        more = {**self.options, **self.predicate, **more}
        if self.table is not None:
            more["indices"] = self.table
        select = _api.select_where if self.predicate else _api.topk
        return select(self.x, k, self.largest, **more)

    def whole(self, ranks, indices):
        """Positions in the whole row."""
        if self.table is not None:
            return indices
        if self.base is not None:
            return indices + (indices >= 0) * self.base
        return indices + (indices >= 0) * (indices * (ranks.size - 1) + ranks.rank)


def problem_of(x, k, largest, sorted, to, positions, options, predicate, size) -> Problem:
    """Checks what can be checked on one rank. `base` stays None where it depends on others' lengths."""
    if not x.shape:
        raise ValueError("x has no dimensions; rows lie along its last one")
    order = options.pop("order", None) or ("best" if sorted else "any")
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}, and can be one of {', '.join(ORDERS)}")
    if to not in ("all", "owner", "place") and (isinstance(to, (str, bool)) or not hasattr(to, "__index__")):
        raise ValueError(f"to is {to!r}, and can be 'all', 'owner', 'place' or the number of a rank")
    if not isinstance(to, str) and not 0 <= to < size:
        raise ValueError(f"to is {to}, where there are {size} ranks")
    lead = tuple(x.shape[:-1])
    rows, length = 1, x.shape[-1]
    for count in lead:
        rows *= count
    predicate = {name: value.reshape(rows, length) if name == "mask" else value for name, value in predicate.items()}
    problem = Problem(x.reshape(rows, length), lead, k, bool(largest), order, to, options, predicate)
    if positions is not None and not isinstance(positions, str) and not hasattr(positions, "__index__") or (
            getattr(positions, "shape", ()) != ()):
        table = _core.integers(positions, x, "positions")
        if tuple(table.shape) != tuple(x.shape):
            raise ValueError(f"positions are a table of shape {tuple(table.shape)}, where x has {tuple(x.shape)}")
        problem.table = table.reshape(rows, length)
    elif isinstance(positions, str) and positions != "stride":
        raise ValueError(f"positions is {positions!r}, and can be None, a number, 'stride' or an array")
    return problem


def _shaped(problem, results):
    return type(results)(*(result.reshape(*problem.lead, *result.shape[1:]) for result in results))


def select(ranks, problem):
    """topk() or select_where() of the whole rows."""
    if problem.to == "place":
        return _shaped(problem, _in_place(ranks, problem))
    capacity = problem.k if problem.most is None else min(problem.k, problem.most)
    values, indices = problem.chosen(capacity)
    lists = values, problem.whole(ranks, indices)
    if problem.to == "owner":
        return _owned(ranks, problem, lists)
    lists = tuple(ranks.gather(part) if problem.to == "all" else ranks.collect(part, problem.to) for part in lists)
    return None if lists[0] is None else _shaped(problem, _merge(problem, *lists))


def _merge(problem, values, indices):
    return _api.merge(values, indices, problem.k, problem.largest, order=problem.order, lists_sorted=True,
                      **problem.options)


def owned_rows(rows, ranks):
    """How many rows a rank owns, but for the last ones, and its own ones."""
    each = -(-rows // ranks.size)
    return each, slice(min(rows, each * ranks.rank), min(rows, each * (ranks.rank + 1)))


def _owned(ranks, problem, lists):
    rows = problem.x.shape[0]
    each, own = owned_rows(rows, ranks)
    dealt = []
    for part in lists:
        padded = _core.empty(part, (each * ranks.size, part.shape[1]), None)
        padded[:rows] = part
        padded[rows:] = -1 if part is lists[1] else 0
        dealt.append(ranks.exchange(padded.reshape(ranks.size, each, part.shape[1])))
    return _api.TopK(*(result[:own.stop - own.start] for result in _merge(problem, *dealt)))


def _advanced(ranks, shard):
    for _ in range(shard.rounds):
        ranks.sum(shard.count())
        shard.advance()
    return shard.result()


def _before(numbers, which):
    """Of the arrays of all ranks, the sum of those of some ranks."""
    return sum((numbers[rank] * which[rank] for rank in range(len(numbers))), numbers[0] * 0)


def _in_place(ranks, problem):
    shard = Shard(problem.x, problem.k, problem.largest, **problem.options, **problem.predicate)
    found = _advanced(ranks, shard)
    if problem.base is not None:
        lower = [base < problem.base for base in problem.bases]
        own_k = shard.result(_before(ranks.gather(found.own_equal), lower)).own_k
    else:
        own_k = found.own_better + _own_ties(ranks, problem, found)
    before = _before(ranks.gather(own_k), [rank < ranks.rank for rank in range(ranks.size)])
    pitch = min(problem.k, problem.x.shape[1])
    values, indices = problem.chosen(own_k, k_max=pitch, order="position")
    return InPlace(values, problem.whole(ranks, indices), own_k, before)


def _own_ties(ranks, problem, found):
    """How many elements of this rank that tie with the k-th are results, where ranks hold no runs of positions: the
    position of the last tie that is a result is another k-th element, and positions never tie."""
    need = (problem.k - found.better).clip(0) * (found.equal > 0)
    reach = found.own_better + found.own_equal
    _, indices = problem.chosen(reach, k_max=problem.x.shape[1])
    places = (indices * 0 + 1).cumsum(-1) - 1
    ties = (places >= found.own_better[:, None]) * (places < reach[:, None])
    positions = problem.whole(ranks, indices)
    last = _advanced(ranks, Shard(positions, need, False, k_max=problem.k, mask=ties, **_context(problem))).kth
    return (ties * (positions <= last[:, None])).sum(-1) * (need > 0)


def _context(problem):
    return {name: problem.options[name] for name in ("context",) if name in problem.options}


def kth(ranks, problem, ks):
    """kth() of the whole rows, for each of a list of k: arrays (len(ks), rows)."""
    rows, length = problem.x.shape
    begins = [length * row for row in range(rows)] * len(ks)
    shard = Shard(problem.x.reshape(-1), [k for k in ks for _ in range(rows)], problem.largest, begins=begins,
                  ends=[begin + length for begin in begins], length_max=length, k_max=max(ks, default=0), **problem.options)
    found = _advanced(ranks, shard)
    return _api.Kth(*(result.reshape(len(ks), *problem.lead) for result in found[:3]))
