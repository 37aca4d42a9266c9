# SPDX-License-Identifier: Apache-2.0
"""The functions over arrays."""
from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from libtopk import _core
from libtopk._adopt import Nulls, held
from libtopk._kinds import name_of
from libtopk._options import Array

if TYPE_CHECKING:
    from typing import Unpack

    from libtopk._options import (ByOptions, KthOptions, MergeOptions, Options, PredicateOptions, RouteOptions,
                                  SelectWhereOptions, WhereOptions)
    from libtopk._shape import Shape

SELECT, KTH, WHERE, SELECT_WHERE, COUNT, MASK, ROUTE, MERGE = range(1, 9)
SELECT_BY = 10
RUN, WORKSPACE, EXPLAIN, CHOICE = range(4)
_CALLS = {  # the operation of each function, and a bit for each result that it returns
    "topk": (SELECT, 3), "argtopk": (SELECT, 2), "kth": (KTH, 7), "where": (WHERE, 7), "argwhere": (WHERE, 6),
    "select_where": (SELECT_WHERE, 3), "count": (COUNT, 1), "mask": (MASK, 1), "route": (ROUTE, 3),
    "merge": (MERGE, 3), "topk_by": (SELECT_BY, 7)}
_run = _core.run
_tuple = tuple.__new__  # takes half as long as the call of a NamedTuple's class


class TopK(NamedTuple):
    """The k best of each row, best first: elements, and their positions in the row (-1 behind the end of a row)."""

    values: Array
    indices: Array


class TopKBy(NamedTuple):
    """The k best of each group, best first: elements, their positions in x (-1 where a group has no more), and how many
    elements each group has."""

    values: Array
    indices: Array
    counts: Array


class Kth(NamedTuple):
    """The k-th best of each row, how many elements rank above it, and how many tie with it, itself included."""

    kth: Array
    better: Array
    equal: Array


class Where(NamedTuple):
    """The matches of all rows, in the order of the rows. Row r fills [offsets[r], offsets[r + 1])."""

    values: Array
    indices: Array
    offsets: Array


class Route(NamedTuple):
    """The experts of each token, best first (-1 where there are none left), and their weights in float32."""

    indices: Array
    weights: Array


class Merged(NamedTuple):
    """The k best candidates of each row, their indices, and the payload of each."""

    values: Array
    indices: Array
    payload: Array


class Method(NamedTuple):
    """What a choice knew of a method: why it cannot serve, or what it would take."""

    cannot: str | None
    variant: str | None
    predicted_us: float
    workspace_bytes: int
    launches: int


class Choice(NamedTuple):
    """The name of the method that serves a call, and what is known of each method, by its name."""

    method: str
    methods: dict[str, Method]


def integer(name, value):
    """As the core reads an integer."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, and must be an integer") from None
    if not -2**63 <= number < 2**63:
        raise OverflowError(f"{name} is an integer beyond 64 bits")
    return number


def topk(x: Array, k: int | Array, largest: bool = True, sorted: bool = True, dim: int = -1, *,
         out: tuple[Array, Array] | None = None, workspace: Array | None = None, **options: Unpack[Options]) -> TopK:
    """The k largest or smallest elements along a dimension, exactly.

    x          an array of any shape; rows lie along `dim`
    k          how many of each row: a number, or an array of integers, one for each row. May exceed the length
    largest    False: the smallest
    sorted     best first, equal ones by position; False: in any order
    out        (values, indices): arrays of the results' shapes and types to write to; or None for new ones. The type
               of indices is theirs, int32 or int64. They may have gaps, but no element may overlap another, nor an
               array that is read, nor the workspace
    workspace  an array of uint8 beside x, as workspace_size() says; None: the library takes memory

    Returns TopK(values, indices): arrays of the kind of x and its shape, with k in place of the length along `dim`;
    with an array of k, their greatest. Rows with fewer elements than k end in padding: index -1, and -infinity for
    the largest (integers: their minimum), +infinity for the smallest.

    Rows are read where they lie if elements of a row are neighbours and rows follow at one stride: so are contiguous
    arrays along the last dimension, slices of them, and transposed ones along the first. Expanded arrays, which have a
    stride of 0, are not copied either. All else is copied first. On a GPU the results are ready when the current stream
    has done the work.

    On the CPU a workspace is kept for the next call. See the module for types and exceptions, and Options for more.
    """
    return _tuple(TopK, _run(RUN, SELECT, x, k, largest, sorted, dim, out, 3, workspace, options, None))


def call_topk(x, k, largest, sorted, dim, out, workspace, options):
    """topk() for callers in a hurry: all arguments by position, `options` a dictionary or None; a plain tuple."""
    return _run(RUN, SELECT, x, k, largest, sorted, dim, out, 3, workspace, options, None)


def top_k(a: Array, k: int, /, *, axis: int = -1, mode: Literal["largest", "smallest"] = "largest",
          sorted: bool = True) -> TopK:
    """The k largest or smallest elements along an axis, as the array API standard and numpy name this.

    a       an array of one dimension or more
    k       how many: at most the length of the axis, else ValueError
    mode    "largest" or "smallest"
    sorted  best first, equal ones by position; False: in any order

    NaN comes last in either mode, where topk() ranks it above infinity. A column's nulls are left out: where that
    leaves fewer than k elements, results end in padding, as from topk(). Returns TopK(values, indices).
    """
    if mode not in ("largest", "smallest"):
        raise ValueError(f"mode is {mode!r}, and can be 'largest' or 'smallest'")
    a = held(a)
    shape = _shape_of(a)
    axis, k = integer("axis", axis), integer("k", k)
    if not -len(shape) <= axis < len(shape):
        raise IndexError(f"axis is {axis}, and a has {len(shape)} dimensions")
    if k > shape[axis]:
        raise ValueError(f"k is {k}, and a has {shape[axis]} elements along axis {axis}")
    return TopK(*_run(RUN, SELECT, a, k, mode == "largest", sorted, axis, None, 3, None, {"nan": "last"}, None))


def _shape_of(x):
    if hasattr(x, "shape"):
        return x.shape
    try:
        return _core.adopt(x)[0].shape
    except Nulls:
        return (len(x),)


def argtopk(x: Array, k: int | Array, largest: bool = True, sorted: bool = True, dim: int = -1, *,
            out: Array | None = None, workspace: Array | None = None, **options: Unpack[Options]) -> Array:
    """The positions of what topk() returns, alone: elements are not written."""
    return _run(RUN, SELECT, x, k, largest, sorted, dim, None if out is None else (None, out), 2, workspace, options,
                None)[1]


def topk_by(x: Array, groups: Array, k: int | Array, largest: bool = True, sorted: bool = True, *,
            group_count: int | None = None, out: tuple[Array, Array, Array] | None = None, workspace: Array | None = None,
            **options: Unpack[ByOptions]) -> TopKBy:
    """The k best elements of each group, where each element names its group: SQL's top n of each group, unsorted.

        best = libtopk.topk_by(sales, shops, 3)   # best.values[7]: the three largest sales of shop 7

    x            an array of one dimension
    groups       integers, as many: the group of each element, a number from 0 on. An element whose number is negative, or
                 at least group_count, is left out. numpy.unique(names, return_inverse=True) makes numbers of names
    k            how many of each group: a number, or an array of integers, one for each group
    group_count  how many groups there are. None: one more than the greatest number, which is looked for; on a GPU that
                 waits
    out          (values, indices, counts), each an array or None

    Returns TopKBy(values, indices, counts) of the shapes (group_count, k) twice and (group_count,). Row g is what topk()
    finds among the elements of group g alone, but positions are those in x. Groups of fewer elements than k end in padding,
    as topk() has it. Raises as topk() does.
    """
    groups = _core.adopt(groups)[0]
    if group_count is None:
        group_count = max(int(groups.max()) + 1, 0) if len(groups) > 0 else 0
    given = {**options, "groups": groups, "group_count": group_count}
    return TopKBy(*_run(RUN, SELECT_BY, x, k, largest, sorted, -1, out, 7, workspace, given, None))


def kth(x: Array, k: int | Array, largest: bool = True, dim: int = -1, *, out: tuple[Array, Array, Array] | None = None,
        workspace: Array | None = None, **options: Unpack[KthOptions]) -> Kth:
    """The k-th largest or smallest element along a dimension, k from 1 on, and its rank.

    Parameters are those of topk(); `out` is (kth, better, equal). Returns Kth of arrays of the shape of x without
    `dim`, better and equal of int64. kth is what all elements that tie with it have in common: +0.0 for both zeros, one
    quiet NaN for all NaN, the magnitude if `magnitude` is set. With k = 0 or k beyond a row's end it is padding, and
    equal is 0.

    An array of k with one dimension more than the rows have finds several of each row in one call, which reads long rows
    once on the CPU: of shape (..., r) r of each row, and all rows share them where its other dimensions have length 1.
    Results then have r in place of the length along `dim`:

        low, middle, high = libtopk.kth(x, [1, 500, 1000]).kth     # of one row
        libtopk.kth(matrix, [[1, 500, 1000]]).kth                  # rows x 3

    With a predicate it counts the elements that meet it, as if a row had only these. So the medians of what is known:

        counts = libtopk.count(x, ne=nodata)
        medians = libtopk.kth(x, (counts + 1) // 2, largest=False, ne=nodata).kth
    """
    return Kth(*_run(RUN, KTH, x, k, largest, True, dim, out, 7, workspace, options, None))


def select_where(x: Array, k: int | Array, largest: bool = True, sorted: bool = True, dim: int = -1, *,
                 out: tuple[Array, Array] | None = None, workspace: Array | None = None,
                 **options: Unpack[SelectWhereOptions]) -> TopK:
    """As topk(), among the elements that meet a predicate: select_where(x, 10, gt=0.5, largest=False)."""
    return TopK(*_run(RUN, SELECT_WHERE, x, k, largest, sorted, dim, out, 3, workspace, options, None))


def where(x: Array, dim: int = -1, *, capacity: int | None = None, out: tuple[Array, Array, Array] | None = None,
          workspace: Array | None = None, **options: Unpack[WhereOptions]) -> Where:
    """The elements that meet a predicate, in input order: where(x, ge=0.5), where(x, mask=x > y).

    All that are among the k best, with all that tie with the k-th: where(x, at_least=kth(x, k).kth).

    Of an array of truth values without a predicate these are the true ones: argwhere(x > y). count() and mask() likewise.

    capacity   room for matches. None: as many as there are, for which x is counted first; that reads it twice
               and, on a GPU, waits for the count
    out        (values, indices, offsets), of `capacity`, `capacity` and rows + 1 elements; matches beyond the
               capacity are counted, not written

    Returns Where(values, indices, offsets): two arrays of `capacity` elements, whose first offsets[-1] are
    matches, row after row, and int64 offsets. Positions are those in the row.
    """
    return Where(*_where(x, dim, capacity, out, 7, workspace, options))


def argwhere(x: Array, dim: int = -1, *, capacity: int | None = None, out: tuple[Array, Array] | None = None,
             workspace: Array | None = None, **options: Unpack[WhereOptions]) -> tuple[Array, Array]:
    """The positions and offsets of what where() returns, alone: elements are not written. `out` is (indices, offsets).
    """
    return _where(x, dim, capacity, _targets_of_argwhere(out), 6, workspace, options)[1:]


def _targets_of_argwhere(out):
    if out is not None and not (isinstance(out, tuple) and len(out) == 2):
        raise TypeError("out is not a tuple (indices, offsets)")
    return None if out is None else (None, *out)


def _where(x, dim, capacity, out, wanted, workspace, options):
    if capacity is None and isinstance(out, tuple):
        capacity = min((len(array) for array in out[:2] if array is not None), default=None)
    if capacity is None:
        x, options = held(x), {name: held(value) for name, value in options.items()}
        unused = ("index_dtype", "index_base", "indices", "method", "tuning")
        of_count = {name: options[name] for name in options if name not in unused}
        try:
            x_of_count = _core.adopt(x)[0]  # so that the sum has 64 bits
        except Nulls:
            x_of_count = x
        capacity = int(count(x_of_count, dim, **of_count).sum())
    return _run(RUN, WHERE, x, None, True, True, dim, out, wanted, workspace, {**options, "capacity": capacity}, None)


def count(x: Array, dim: int = -1, *, out: Array | None = None, workspace: Array | None = None,
          **options: Unpack[PredicateOptions]) -> Array:
    """How many elements of each row meet a predicate: int64, of the shape of x without `dim`."""
    return _run(RUN, COUNT, x, None, True, True, dim, out, 1, workspace, options, None)


def mask(x: Array, dim: int = -1, *, out: Array | None = None, workspace: Array | None = None,
         **options: Unpack[PredicateOptions]) -> Array:
    """Which elements meet a predicate: an array of uint8, a bit for each element of x in C order, lowest first.

    The option `bits` takes it, and numpy.unpackbits(bits, count=x.size, bitorder="little") makes a flat array of zeros
    and ones of it. Bits follow the order of x after its dimension `dim` has been moved to the end.
    """
    return _run(RUN, MASK, x, None, True, True, dim, out, 1, workspace, options, None)


def route(logits: Array, k: int, dim: int = -1, *, score: Literal["logit", "sigmoid"] = "logit",
          weighing: Literal["softmax", "sigmoid"] = "softmax", bias: Array | None = None, groups: int = 0,
          groups_kept: int = 0, factor: float = 1.0, out: tuple[Array, Array] | None = None,
          workspace: Array | None = None, **options: Unpack[RouteOptions]) -> Route:
    """Chooses experts for tokens, as layers of mixtures of experts do: the k with the greatest scores in each row.

    logits       floating-point; a row for each token, of up to 1024 experts; k is 32 at most
    score        what experts are chosen by: the logit or its sigmoid
    bias         float32, one for each expert, added to its score for choosing alone; or None
    groups       experts are in this number of groups of neighbours, and only the `groups_kept` best groups' can be
                 chosen: by the sum of their two best scores. 0: no groups
    weighing     a chosen expert weighs exp(logit) or sigmoid(logit), divided by the sum of that over the chosen
    factor       that weights are multiplied by, after that division, which cannot be left out
    out          (indices, weights)

    Returns Route(indices, weights): of the shape of logits with k in place of the experts; weights are float32.
    """
    routing = {"score": score, "weighing": weighing, "bias": bias, "groups": groups, "groups_kept": groups_kept,
               "factor": factor, **options}
    return Route(*_run(RUN, ROUTE, logits, k, True, True, dim, out, 3, workspace, routing, None))


def merge(values: Array, indices: Array, k: int | Array, largest: bool = True, sorted: bool = True, *,
          lists_sorted: bool = False, lengths: Array | None = None, payload: Array | None = None,
          out: tuple[Array, ...] | None = None, workspace: Array | None = None,
          **options: Unpack[MergeOptions]) -> TopK | Merged:
    """The k best candidates of each row, from lists that parts of the row have left: by device, process or search.

        values, indices = zip(*(libtopk.topk(part, 10, index_base=base) for base, part in parts))
        best = libtopk.merge(numpy.stack(values), numpy.stack(indices), 10, lists_sorted=True)

    values        an array (lists, ..., candidates): a list of candidates for each row of each part, as numpy.stack or an
                  all-gather leaves results of topk()
    indices       int32 or int64 of the same shape, on the same device: the candidates' positions in the whole row, no
                  two of a row alike. -1 is padding, and counts as no candidate
    k             how many of each row: a number, or an array of integers, one for each row
    lists_sorted  True: each list is as topk() writes it, best first, ties by lowest index, padding last. That is
                  trusted, and saves time
    lengths       integers (lists, ...): how many candidates of each list count
    payload       what else travels with each candidate and is never compared, as the rank or the shard that it is from: an
                  array of the kind and shape of values, of any type of libtopk or bool, or of one more dimension, the last.
                  1, 2, 4, 8 or 16 bytes for each candidate
    out           (values, indices) of the results' shapes and types; with a payload a third one

    Returns TopK(values, indices) of shape (..., k), or with a payload Merged(values, indices, payload): of padding it is
    zeros. Where each list has the k best of its part they are what topk()
    gives for the whole rows, bit for bit. Rows with fewer candidates than k end in padding, as topk() has it. A row
    with an index below -1 has -2 for all its indices. Raises as topk() does, ValueError for indices of another shape,
    and TypeError for indices of another type.
    """
    indices = _core.adopt(indices)[0]
    dtype = name_of(_core.empty(indices, (0,), None).dtype)
    if dtype not in ("int32", "int64"):
        raise TypeError(f"indices are of type {dtype}, and can be int32 or int64")
    given = {"index_dtype": dtype, **options, "indices": indices, "lengths": lengths, "lists_sorted": lists_sorted}
    if payload is None:
        return TopK(*_run(RUN, MERGE, values, k, largest, sorted, -1, out, 3, workspace, given, None))
    given["payload"] = _core.adopt(payload)[0]
    return Merged(*_run(RUN, MERGE, values, k, largest, sorted, -1, out, 7, workspace, given, None))


def _ask(mode, operation, x, k, largest, sorted, dim, out, options):
    if operation not in _CALLS:
        raise ValueError(f"operation is {operation!r}, and can be one of {', '.join(_CALLS)}")
    number, wanted = _CALLS[operation]
    if operation == "argwhere":
        out = _targets_of_argwhere(out)
    options.pop("workspace", None)
    return _run(mode, number, x, k, largest, sorted, dim, out, wanted, None, options, None)


def workspace_size(operation: str, x: Array | Shape, k: int | Array | None = None, largest: bool = True,
                   sorted: bool = True, dim: int = -1, *, out: Any = None, **options: Any) -> int:
    """The bytes of workspace that a call needs, from its name ("topk", "kth" ...) and its arguments.

    It depends on shapes, types, k and options alone, never on what the arrays hold, unless k is an array. So x can be a
    Shape, before there is data.

    `out` is what the call is given. Only the type of its array of indices counts, which stands above index_dtype: int32
    and int64 need different workspaces. Its arrays can be Shapes. Without `out`, index_dtype says the type.
    """
    return _ask(WORKSPACE, operation, x, k, largest, sorted, dim, out, options)


def explain(operation: str, x: Array | Shape, k: int | Array | None = None, largest: bool = True, sorted: bool = True,
            dim: int = -1, *, out: Any = None, **options: Any) -> str:
    """How the method of a call is chosen: for each method its predicted cost or why it cannot serve, and its knobs.

    x and `out` can be Shapes, as workspace_size() says.
    """
    return _ask(EXPLAIN, operation, x, k, largest, sorted, dim, out, options)


def choice(operation: str, x: Array | Shape, k: int | Array | None = None, largest: bool = True, sorted: bool = True,
           dim: int = -1, *, out: Any = None, **options: Any) -> Choice:
    """What explain() says, for programs: Choice(method, methods).

    Predicted times may change from version to version. Raises what the call would if no method can serve.
    """
    method, rows = _ask(CHOICE, operation, x, k, largest, sorted, dim, out, options)
    return Choice(method, {name: Method(*row) for name, row in rows})
