# SPDX-License-Identifier: Apache-2.0
"""What the contract promises, by Python's numbers and numpy's stable sort."""
import operator

import numpy as np

OPERATORS = {"gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le, "eq": operator.eq,
             "ne": operator.ne, "between": lambda x, bounds: bounds[0] <= x <= bounds[1]}


def bits(array):
    return np.asarray(array).view(f"u{array.dtype.itemsize}")


def same(a, b):
    """Whether two arrays have one type, one shape, and the same bits."""
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(bits(a), bits(b))


def all_same(results, wanted):
    return len(results) == len(wanted) and all(map(same, results, wanted))


def is_integer(dtype):
    return dtype.kind in "iu"


def numbers(array):
    """The elements as Python's numbers, in C order."""
    with np.errstate(invalid="ignore"):  # signalling NaN
        return (array if is_integer(array.dtype) else array.astype(np.float64)).ravel().tolist()


def padding(dtype, largest):
    if is_integer(dtype):
        return getattr(np.iinfo(dtype), "min" if largest else "max")
    loser = 448 if "e4m3" in dtype.name else np.inf  # e4m3 has no infinity
    return -loser if largest else loser


def ranks(row, largest=True, magnitude=False, nan="largest"):
    """A number for each element, the lower the better, equal for equals."""
    sizes = [abs(x) if magnitude else x for x in numbers(row)]
    rank = {x: r for r, x in enumerate(sorted({x for x in sizes if x == x}, reverse=largest))}
    of_nan = -1 if largest and nan == "largest" else len(rank)
    return np.array([rank.get(x, of_nan) for x in sizes], np.int64)


def best(row, k, chosen=None, **choice):
    """Positions of the k best elements, best first, of those that are chosen."""
    positions = np.arange(row.size) if chosen is None else np.flatnonzero(chosen)
    return positions[np.argsort(ranks(row, **choice)[positions], kind="stable")][:k]


def select(rows, k, dtype, k_max=None, chosen=None, payload=None, **choice):
    """(values, indices) of the k best of each row; k is a number, or one for each row."""
    ks = np.clip(np.broadcast_to(np.array(k, np.int64), len(rows)), 0, k_max)
    width = k_max if k_max is not None else ks.max(initial=0) if np.ndim(k) else k
    values = np.full((len(rows), width), padding(dtype, choice.get("largest", True)), dtype)
    indices = np.full((len(rows), width), -1, np.int64)
    for r, row in enumerate(rows):
        positions = best(row, ks[r], None if chosen is None else chosen[r], **choice)
        values[r, :len(positions)] = row[positions]
        indices[r, :len(positions)] = positions if payload is None else payload[r][positions]
    return values, indices


def kth(row, k, **choice):
    """(k-th, better, equal): the k-th as what all that tie with it have in common."""
    rank = ranks(row, **choice)
    if not 0 < k <= row.size:
        return padding(row.dtype, choice.get("largest", True)), row.size if k else 0, 0
    of_kth = np.sort(rank)[k - 1]
    element = row[rank == of_kth][:1]
    with np.errstate(over="ignore", invalid="ignore"):  # the magnitude of the least integer is itself
        element = np.abs(element) if choice.get("magnitude") else element + element.dtype.type(0)
    common = element[0] if element[0] == element[0] else np.nan
    return common, (rank < of_kth).sum(), (rank == of_kth).sum()


def rows_of(array, dim=-1):
    """The rows along a dimension, as a matrix in the machine's byte order."""
    moved = np.moveaxis(np.atleast_1d(array), dim, -1)
    count = int(np.prod(moved.shape[:-1]))
    return np.ascontiguousarray(moved, moved.dtype.newbyteorder("=")).reshape(count, moved.shape[-1])


def shaped_like(array, dim, *results):
    """Results of rows, matrices or one number for each, in the shape of an array whose rows lie along a dimension."""
    lead = np.delete(np.atleast_1d(array).shape, dim)
    return tuple(np.moveaxis(result.reshape(*lead, result.shape[1]), -1, dim) if result.ndim == 2 else
                 result.reshape(lead) for result in results)


def meets(array, kind, bound):
    """Which elements meet a comparison, as Python compares them: exactly."""
    return np.array([OPERATORS[kind](x, bound) for x in numbers(array)], bool).reshape(array.shape)


def at_least(rows, thresholds, **choice):
    """Which elements rank at or above a threshold: one, or one for each row."""
    both = [ranks(np.concatenate([[threshold], row], dtype=row.dtype), **choice)
            for row, threshold in zip(rows, np.broadcast_to(thresholds, len(rows)))]
    return np.array([rank[1:] <= rank[0] for rank in both])


def where(rows, chosen, dtype):
    """(values, indices, offsets) of the elements of rows that are chosen."""
    positions = [np.flatnonzero(row) for row in chosen]
    return (np.concatenate([np.empty(0, dtype), *(row[p] for row, p in zip(rows, positions))]),
            np.concatenate([np.empty(0, np.int64), *positions]), np.cumsum([0, *map(len, positions)]))
