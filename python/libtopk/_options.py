# SPDX-License-Identifier: Apache-2.0
"""The keyword options that several functions share, as types for checkers and editors."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from libtopk._core import Context

# An array of numpy, torch or CuPy, of any library with DLPack, or what numpy.asarray takes. Results are arrays of the
# kind of the input, which no checker can follow through all of these.
Array: TypeAlias = Any


class _Common(TypedDict, total=False):
    method: str
    tuning: str
    workspace_limit: int
    context: Context


class _Rows(_Common, total=False):
    axis: int
    lengths: Any
    offsets: Any
    begins: Any
    ends: Any
    length_max: int


class Predicate(TypedDict, total=False):
    """Which elements are meant: exactly one of these. Numbers are compared as the real numbers that they are.

    gt, ge, lt, le   a number: x > gt, x >= ge, x < lt, x <= le
    eq, ne           a number: x == eq, x != ne; NaN meets ne
    between          (low, high): low <= x <= high
    mask             an array of bool or uint8, of the shape of x: where it is not zero
    bits             an array of uint8: element e is meant if bit e % 8, lowest first, of bits[e // 8] is 1. Elements
                     are counted in C order, after the dimension `dim` of x has been moved to the end
    """

    gt: float
    ge: float
    lt: float
    le: float
    eq: float
    ne: float
    between: tuple[float, float]
    mask: Any
    bits: Any


class AnyPredicate(Predicate, total=False):
    """Predicate, or:

    at_least         an array of the type of x, with one element or one for each row: what ranks at or above it, as
                     topk() ranks by largest, magnitude and nan. On a GPU one element alone
    """

    at_least: Any


class _Ranking(_Rows, total=False):
    magnitude: bool
    nan: Literal["largest", "last"]


class Options(_Ranking, total=False):
    """Options of topk() and argtopk(). Other functions take some of them, as their signatures say.

    axis               another name of dim, numpy's

    Which elements are a row's, in place of all along `dim`:
    lengths            integers, one for each row: how many of its elements count
    offsets            integers, one more than there are rows: row r is x[offsets[r]:offsets[r + 1]]. x has one
                       dimension
    begins, ends       integers, one for each row: row r is x[begins[r]:ends[r]]. x has one dimension
    length_max         rows are cut to this length. Methods are chosen by it where rows are given by offsets, or
                       begins. Not of mask()

    How they rank:
    magnitude          True: by |x|; the signed elements are returned
    nan                "largest": above infinity; "last": behind every number in either direction
    ties               which of the elements equal to the k-th are taken: "lowest", those at the lowest positions, or
                       "any"

    What is returned:
    order              in place of `sorted`: "best" first, "any" order, or by "position" in the row
    index_dtype        the type of indices: "int64", unless given, or "int32"; or what numpy, torch or JAX call these
    index_base         a number that is added to every position
    indices            a payload: an array of the type index_dtype and the shape of x, whose elements are returned in
                       place of positions
    k_max              with an array of k: what they are cut to, and the size of the results. Needed on a GPU alone

    Approximate selections, of floating-point rows of at most 8192 elements (else NotImplementedError):
    max_iterations     RTop-K's Algorithm 2: its number of halvings; 0 is exact
    epsilon            RTop-K's Algorithm 1: the width at which its search may end
    epsilon_relative   as epsilon, times the larger magnitude of the row's least and greatest element

    How it is done, which changes no result:
    method             the method that must serve; explain() lists them. As a rule the library chooses
    tuning             settings of a method's knobs, "alpha=64,early_stop=0", without blanks; explain() lists them
    workspace_limit    bytes that the workspace may take at most; 0 is no limit
    context            a Context of one's own, with its threads
    """

    ties: Literal["lowest", "any"]
    order: Literal["best", "any", "position"]
    index_dtype: Any
    index_base: int
    indices: Any
    k_max: int
    max_iterations: int
    epsilon: float
    epsilon_relative: float


class KthOptions(_Ranking, AnyPredicate, total=False):
    """Options of kth(): these of Options, and AnyPredicate."""

    k_max: int


class QuantileOptions(Predicate, total=False):
    """Options of quantile(), percentile() and median(): these of Options, and Predicate."""

    axis: int | tuple[int, ...] | None
    context: Context


class PredicateOptions(_Ranking, AnyPredicate, total=False):
    """Options of count() and mask(): these of Options, and AnyPredicate. How elements rank goes with at_least alone."""

    largest: bool


class WhereOptions(PredicateOptions, total=False):
    index_dtype: Any
    index_base: int
    indices: Any


class SelectWhereOptions(Options, AnyPredicate, total=False):
    pass


class ByOptions(_Common, total=False):
    """Options of topk_by(): these of Options."""

    magnitude: bool
    nan: Literal["largest", "last"]
    ties: Literal["lowest", "any"]
    order: Literal["best", "any", "position"]
    index_dtype: Any
    index_base: int
    indices: Any
    k_max: int


class MergeOptions(_Common, total=False):
    """Options of merge(): these of Options."""

    magnitude: bool
    nan: Literal["largest", "last"]
    ties: Literal["lowest", "any"]
    order: Literal["best", "any", "position"]
    k_max: int


class ShardOptions(Predicate, total=False):
    """Options of Shard: these of Options, and Predicate. What is returned is for its select()."""

    index_dtype: Any
    index_base: int
    indices: Any
    magnitude: bool
    nan: Literal["largest", "last"]
    lengths: Any
    offsets: Any
    begins: Any
    ends: Any
    length_max: int
    k_max: int
    workspace_limit: int
    context: Context


class RouteOptions(_Common, total=False):
    axis: int
    index_dtype: Any
    index_base: int
