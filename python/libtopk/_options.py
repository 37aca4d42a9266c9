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
    """The method that must serve; explain() lists them. As a rule the library chooses."""
    tuning: str
    """Settings of a method's knobs, "alpha=64,early_stop=0"; explain() lists them."""
    workspace_limit: int
    """Bytes that the workspace may take at most; 0 is no limit."""
    context: Context
    """A context of one's own, with its threads."""


class _Rows(_Common, total=False):
    lengths: Any
    """Integers, one for each row: how many of its elements count."""
    offsets: Any
    """Integers, one more than there are rows: row r is x[offsets[r]:offsets[r + 1]]. x has one dimension."""
    begins: Any
    """Integers: row r is x[begins[r]:ends[r]]. x has one dimension."""
    ends: Any
    """Integers, with begins."""
    length_max: int
    """Rows are cut to so many elements. Methods are chosen by it where rows are given by offsets, or begins. Not of
    mask()."""


class Predicate(TypedDict, total=False):
    """Which elements are meant: exactly one of these. Numbers are compared as the real numbers that they are."""

    gt: float
    """x > gt"""
    ge: float
    """x >= ge"""
    lt: float
    """x < lt"""
    le: float
    """x <= le"""
    eq: float
    """x == eq"""
    ne: float
    """x != ne; true for NaN"""
    between: tuple[float, float]
    """low <= x <= high"""
    mask: Any
    """An array of bool or uint8, of the shape of x: where it is not zero."""
    bits: Any
    """An array of uint8: element e in C order counts if bit e % 8, lowest first, of bits[e // 8] is 1."""


class _Ranking(_Rows, total=False):
    magnitude: bool
    """Rank by |x|; the signed elements are returned."""
    nan: Literal["largest", "last"]
    """Where NaN ranks: above infinity, or behind every number in either direction."""


class Options(_Ranking, total=False):
    """Options of topk() and argtopk()."""

    ties: Literal["lowest", "any"]
    """Which of the elements equal to the k-th are taken: those at the lowest positions, or any."""
    index_dtype: Literal["int64", "int32"]
    """The type of indices; int64 unless given."""
    index_base: int
    """Added to every position."""
    indices: Any
    """A payload for each element of x, which is returned in place of its position."""
    k_max: int
    """With an array of k: what they are cut to, and the size of the results. Needed on a GPU alone."""
    max_iterations: int
    """Approximate, RTop-K's Algorithm 2: so many halvings; 0 is exact."""
    epsilon: float
    """Approximate, RTop-K's Algorithm 1: the width at which its search may end."""
    epsilon_relative: float
    """As epsilon, times the larger magnitude of the row's least and greatest element."""


class KthOptions(_Ranking, total=False):
    """Options of kth()."""

    k_max: int
    """With an array of k: what they are cut to. Needed on a GPU alone."""


class PredicateOptions(_Rows, Predicate, total=False):
    """Options of count() and mask()."""


class WhereOptions(PredicateOptions, total=False):
    index_dtype: Literal["int64", "int32"]
    index_base: int
    indices: Any


class SelectWhereOptions(Options, Predicate, total=False):
    pass


class RouteOptions(_Common, total=False):
    index_dtype: Literal["int64", "int32"]
    index_base: int
