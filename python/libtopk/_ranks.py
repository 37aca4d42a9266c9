# SPDX-License-Identifier: Apache-2.0
"""Selection from rows whose elements lie on many ranks, over whatever brings arrays from one to another.

The ranks of a call, `ranks` below, have

  rank, size     the number of this rank, and how many there are
  sum(array)     adds up an array of int64 over all ranks, in place
  gather(array)  the arrays of all ranks, stacked, on every rank
  collect(array, root)  the same on one rank; None on the others
  exchange(array)       array[r] goes to rank r; stacked by where they come from
  tell(object)   the objects of all ranks, a list; or None where the host may not wait for the others
  full(count, number), join(arrays)   new arrays of int64 on the device of the elements, and one of several
  take(name, array)   an array of any kind as one of this kind, contiguous; it raises TypeError for others

Arrays are numpy's or torch's: only what both know is used, and nothing asks an array for a number unless ranks tell.
"""
from __future__ import annotations

import builtins
import math
from dataclasses import dataclass
from operator import index
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

    def given(self):
        """The options of a selection on this rank. Positions are those on it, or those in the table."""
        table = {} if self.table is None else {"indices": self.table}
        return {**self.options, **self.predicate, **table}

    def chosen(self, k):
        """The k best elements of this rank."""
        return (_api.select_where if self.predicate else _api.topk)(self.x, k, self.largest, **self.given())

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
    return type(results)(*(result.reshape((*problem.lead, *result.shape[1:])) for result in results))


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
    """Of the arrays of all ranks, the sum of some ranks' arrays."""
    return sum((numbers[rank] * which[rank] for rank in range(len(numbers))), numbers[0] * 0)


def _in_place(ranks, problem):
    shard = Shard(problem.x, problem.k, problem.largest, **problem.given())
    found = _advanced(ranks, shard)
    if problem.base is not None:
        lower = [base < problem.base for base in problem.bases]
        ties_before = _before(ranks.gather(found.own_equal), lower)
    else:  # as many as leave this rank its own
        ties_before = (problem.k - found.better - _own_ties(ranks, problem, shard, found)).clip(0)
    own_k = shard.result(ties_before).own_k
    before = _before(ranks.gather(own_k), [rank < ranks.rank for rank in range(ranks.size)])
    values, indices = shard.select(ties_before)
    return InPlace(values, problem.whole(ranks, indices), own_k, before)


def _own_ties(ranks, problem, shard, found):
    """How many elements of this rank that tie with the k-th are results, where ranks hold no runs of positions: the
    position of the last tie that is a result is another k-th element, and positions never tie."""
    need = (problem.k - found.better).clip(0) * (found.equal > 0)
    values, indices = shard.select()  # as if no other rank had ties; best first these come last
    _, positions = _api.topk(values, found.own_k, problem.largest, indices=problem.whole(ranks, indices),
                             lengths=found.own_k, k_max=values.shape[1], **problem.options)
    places = (positions * 0 + 1).cumsum(-1) - 1
    ties = (places >= found.own_better[:, None]) * (places < found.own_k[:, None])
    last = _advanced(ranks, Shard(positions, need, False, k_max=problem.k, mask=ties, **_context(problem))).kth
    return (ties * (positions <= last[:, None])).sum(-1) * (need > 0)


def _context(problem):
    return {name: problem.options[name] for name in ("context",) if name in problem.options}


def _kth(ranks, problem, ks, k_max):
    """kth() of the whole rows, for each of a list of k: arrays (len(ks), rows). A k is a number, or an array of one."""
    rows, length = problem.x.shape
    if len(ks) == 1 and hasattr(ks[0], "__index__") and getattr(ks[0], "shape", None) is None:
        shard = Shard(problem.x, ks[0], problem.largest, **problem.options)
    else:  # each k has rows of its own, which share memory
        begins = (ranks.full(rows, 1).cumsum(0) - 1) * length
        begins = ranks.join([begins] * len(ks))
        shard = Shard(problem.x.reshape(-1), ranks.join([ranks.full(rows, 1) * k for k in ks]), problem.largest,
                      begins=begins, ends=begins + length, length_max=length, k_max=k_max, **problem.options)
    found = _advanced(ranks, shard)
    return _api.Kth(*(result.reshape((len(ks), *problem.lead)) for result in found[:3]))


# ---- Calls ----

_OPTIONS = frozenset(("magnitude", "nan", "order", "context"))
_PREDICATES = frozenset(("gt", "ge", "lt", "le", "eq", "ne", "between", "mask"))
_ROUNDED = {"lower": "floor", "higher": "ceil", "nearest": "round"}


def _named(error):
    """An exception as (name of a builtin type, text)."""
    if error is None:
        return None
    kinds = (kind.__name__ for kind in type(error).__mro__ if getattr(builtins, kind.__name__, None) is kind)
    return next(kinds, "RuntimeError"), str(error)


def _agree(ranks, prepare):
    """What prepare() returns on this rank, and the facts of all ranks; an exception on all ranks for one on any.
    prepare() returns (a result, what must be alike, the facts of this rank). Without facts of others where the host may
    not wait for them: then an exception is this rank's alone."""
    result = alike = facts = error = None
    try:
        result, alike, facts = prepare()
    except Exception as caught:
        error = caught
    told = ranks.tell((_named(error), alike, facts))
    if told is None:
        if error is not None:
            raise error
        return result, None
    for rank, (failure, _, _) in enumerate(told):
        if failure is not None:
            name, text = failure
            raise getattr(builtins, name)(f"rank {rank}: {text}") from error
    for rank, (_, other, _) in enumerate(told):
        for name, value in told[0][1].items():
            if other.get(name) != value:
                raise ValueError(f"rank {rank}: {name} is {other.get(name)!r}, where rank 0 has {value!r}")
    return result, [each for _, _, each in told]


def _number(name, value):
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, and must be an integer") from None
    if not 0 <= number < 2**63:
        raise ValueError(f"{name} is {number}, and cannot be negative or beyond 64 bits")
    return number


def _is_list(value):
    return hasattr(value, "__len__") and getattr(value, "shape", None) != ()


def _check_table(table):
    if (table < 0).any() or (table[:, 1:] <= table[:, :-1]).any():
        raise ValueError("positions do not ascend in a row, or are negative")


def _prepared(ranks, x, k, largest, sorted, to, positions, options):
    """(problem, what must be alike, facts), as _agree() wants it."""
    for name in options:
        if name not in _OPTIONS | _PREDICATES:
            raise TypeError(f"there is no option '{name}' here")
    given = {name: value for name, value in options.items() if value is not None}
    predicate = {name: given.pop(name) for name in _PREDICATES & given.keys()}
    x = ranks.take("x", x)
    if "mask" in predicate:
        predicate["mask"] = ranks.take("mask", predicate["mask"])
        if predicate["mask"].shape != x.shape:
            raise ValueError("mask is not of the shape of x")
    problem = problem_of(x, k, largest, sorted, to, positions, given, predicate, ranks.size)
    rows, length = problem.x.shape
    if rows * max(1, k) >= 2**31:
        raise OverflowError(f"{rows} rows of {k} results are 2^31 or more")
    if problem.table is not None and ranks.is_told:
        _check_table(problem.table)
    base, kind = None, "a table" if problem.table is not None else positions
    if problem.table is None and positions is not None and not isinstance(positions, str):
        base, kind = _number("positions", positions), "a number"
        if base + length > 2**63:
            raise ValueError(f"positions from {base} on are beyond 64 bits")
    alike = {"the type of x": str(x.dtype), "the rows of x": problem.lead, "k": k, "largest": problem.largest,
             "order": problem.order, "to": to, "the kind of positions": kind,
             "magnitude": bool(given.get("magnitude")), "nan": given.get("nan", "largest"),
             "the predicate": {name: repr(value) for name, value in predicate.items() if name != "mask"},
             "a mask": "mask" in predicate}
    problem.chosen(0)  # whatever else is wrong
    return problem, alike, (length, base)


def _place(ranks, problem, facts):
    """Settles the positions of runs, once all lengths are known to the host."""
    bases, end = [], 0
    for length, base in facts:
        bases.append(end if base is None else base)
        end += length
    runs = sorted((base, base + length, rank) for rank, (base, (length, _)) in enumerate(zip(bases, facts)) if length)
    for (_, end, rank), (begin, _, other) in zip(runs, runs[1:]):
        if begin < end:
            raise ValueError(f"rank {other}: its positions begin at {begin}, and those of rank {rank} end at {end}")
    problem.base, problem.bases = bases[ranks.rank], bases


def _place_on_device(ranks, problem, base):
    """Likewise where the host knows nothing of the others."""
    length = problem.x.shape[1]
    if base is None:
        lengths = ranks.gather(ranks.full(1, length))
        problem.bases = lengths.cumsum(0) - lengths
        problem.base = problem.bases[ranks.rank]
    else:
        problem.base = base
        problem.bases = ranks.gather(ranks.full(1, base)) if problem.to == "place" else None


def call_select(ranks, name, x, k, largest, sorted, to, positions, options):
    own_base = None

    def prepare():
        nonlocal own_base
        problem, alike, facts = _prepared(ranks, x, _number("k", k), largest, sorted, to, positions, dict(options))
        if (name == "select_where") != bool(problem.predicate):
            raise TypeError("a predicate is needed: gt, ge, lt, le, eq, ne, between or mask"
                            if name == "select_where" else "topk() takes no predicate: use select_where()")
        own_base = facts[1]
        return problem, {"the function": name, **alike}, facts

    problem, facts = _agree(ranks, prepare)
    are_runs = problem.table is None and not isinstance(positions, str)
    if facts is not None:
        problem.most = max(length for length, _ in facts)
    if are_runs and facts is not None:
        _place(ranks, problem, facts)
    elif are_runs:
        _place_on_device(ranks, problem, own_base)
    return select(ranks, problem)


def _prepared_kth(ranks, x, largest, options, more):
    problem, alike, facts = _prepared(ranks, x, 0, largest, True, "all", "stride", dict(options))
    if problem.predicate or "order" in options:
        raise TypeError("kth() and quantile() take the options magnitude, nan and context")
    return problem, {**more, **alike, **more}, facts  # the function first: k is 0 for quantile()


def call_kth(ranks, x, k, largest, options):
    is_list = _is_list(k)
    ks: list[int] = []

    def prepare():
        ks.extend(_number("k", each) for each in (k if is_list else [k]))
        return _prepared_kth(ranks, x, largest, options, {"the function": "kth", "k": tuple(ks)})

    problem, _ = _agree(ranks, prepare)
    found = _kth(ranks, problem, ks, max(ks, default=0))
    return found if is_list else _api.Kth(*(result[0] for result in found))


def call_quantile(ranks, x, q, method, options):
    is_list = _is_list(q)
    qs: list[float] = []

    def prepare():
        if method not in _ROUNDED:
            raise ValueError(f"method is {method!r}, and can be one of {', '.join(_ROUNDED)}")
        qs.extend(float(each) for each in (q if is_list else [q]))
        if not all(0 <= each <= 1 for each in qs):
            raise ValueError(f"q is {q!r}, and must be from 0 to 1")
        return _prepared_kth(ranks, x, False, options, {"the function": "quantile", "q": tuple(qs), "method": method})

    problem, facts = _agree(ranks, prepare)
    if facts is not None:
        length = sum(length for length, _ in facts)
        if not length:
            raise ValueError("rows without any elements have no quantiles")
        rounded = {"lower": math.floor, "higher": math.ceil, "nearest": round}[method]
        ks = [rounded(each * (length - 1)) + 1 for each in qs]
        k_max = length
    else:
        lengths = ranks.gather(ranks.full(1, problem.x.shape[1])).sum()
        ks = [getattr((lengths - 1).double() * each, _ROUNDED[method])().long() + 1 for each in qs]
        k_max = 2**62
    found = _kth(ranks, problem, ks, k_max).kth
    return found if is_list else found[0]
