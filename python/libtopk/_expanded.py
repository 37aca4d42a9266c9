# SPDX-License-Identifier: Apache-2.0
"""Arrays whose elements stand for many by a stride of 0, as numpy.broadcast_to() and torch's expand() make them.

Rows that share memory go to the C library as spans that begin alike. A row that is one element many times is answered
from that element. Results are as of a copy, which would take as much memory as the array pretends to have.
"""
import math
import operator
import sys

import numpy as np

from libtopk import _core
from libtopk._shape import Shape

_SELECT, _KTH, _WHERE, _SELECT_WHERE, _COUNT, _MASK, _ROUTE = range(1, 8)
_RUN, _WORKSPACE = range(2)
_PIECE_BYTES = 1 << 22


def _is_torch(array):
    return "torch" in sys.modules and isinstance(array, sys.modules["torch"].Tensor)


def _library_of(array):
    """numpy or cupy."""
    return np if isinstance(array, np.ndarray) else sys.modules["cupy"]


def _strides(array):
    return array.stride() if _is_torch(array) else array.strides


def _copied(array):
    if _is_torch(array):
        return array.detach().clone(memory_format=sys.modules["torch"].contiguous_format)
    return array.copy()


def _broadcast(array, shape):
    return array.expand(shape) if _is_torch(array) else _library_of(array).broadcast_to(array, shape)


def _moved(array, source, target):
    return array.movedim(source, target) if _is_torch(array) else _library_of(array).moveaxis(array, source, target)


def _counted(like, count):
    """0, 1 ... as int64 beside an array."""
    if _is_torch(like):
        return sys.modules["torch"].arange(count, device=like.device)
    if isinstance(like, np.ndarray):
        return np.arange(count)
    with like.device:
        return sys.modules["cupy"].arange(count)


def _elements(array):
    return array.numel() if _is_torch(array) else array.size


def _itemsize(array):
    return array.element_size() if _is_torch(array) else array.dtype.itemsize


def _first(array, dim, count):
    return array[(slice(None),) * dim + (slice(0, count),)]


def _once(array, dim):
    """The array with one element along each dimension whose stride is 0, but for `dim`."""
    strides = _strides(array)
    return array[tuple(slice(0, 1) if d != dim and strides[d] == 0 else slice(None) for d in range(len(strides)))]


def compact(array, dim):
    """The same elements, with rows that are contiguous, in the machine's byte order, and share memory as before."""
    rows = _moved(_once(array, dim), dim, -1)
    copy = rows.astype(rows.dtype.newbyteorder("="), "C") if isinstance(rows, np.ndarray) else _copied(rows)
    return _broadcast(_moved(copy, -1, dim), array.shape)


def spans(array, shape, strides, length, lengths):
    """(begins, ends) of rows that are counted along `shape`, `strides` elements apart. lengths: integers, or None."""
    begins = _counted(array, 1)
    for count, stride in zip(shape, strides):
        begins = (begins[:, None] + _counted(array, count) * stride).reshape(-1)
    if lengths is None:
        return begins, begins + length
    lengths = _core.integers(lengths, array, "lengths").reshape(-1).clip(0, length)
    if len(lengths) != len(begins):
        raise ValueError(f"lengths has {len(lengths)} elements, where the rows are {len(begins)}")
    return begins, begins + lengths


def _k_max(k, options):
    if options.get("k_max") is not None:
        return options["k_max"]
    return k if isinstance(k, int) else max(np.asarray(_core.adopt(k)[0]).ravel().tolist(), default=0)


def _first_elements(array, dim, count, options):
    """That many of each row, and of the payload, which a plan does not read."""
    if isinstance(options.get("indices"), Shape):
        options = {**options, "indices": None}
    if options.get("indices") is not None:
        payload = _core.adopt(options["indices"])[0]
        if tuple(payload.shape) != tuple(array.shape):
            raise ValueError("indices is not of the shape of x")
        options = {**options, "indices": _first(payload, dim, count)}
    return _copied(_first(array, dim, count)), options


def _select(run, array, k, dim, options):
    """From the first k elements of each row: they are its best."""
    count = max(1, min(array.shape[dim], _k_max(k, options)))
    array, options = _first_elements(array, dim, count, options)
    return run(array, k, options)


def _overwrite(result, numbers):
    """Writes numbers to a result, which is new or the caller's."""
    target = _core.adopt(result)[0]
    target = target.detach() if _is_torch(target) else target
    target[...] = numbers if isinstance(numbers, int) else numbers.reshape(target.shape)


def _lengths(array, dim, options):
    """How many elements of each row count: a number, or one for each row."""
    length = array.shape[dim]
    if options.get("length_max") is not None:
        length = min(length, options["length_max"])
    if options.get("lengths") is None:
        return length
    return _core.integers(options["lengths"], array, "lengths").reshape(-1).clip(0, length)


_COMPARISONS = "gt", "ge", "lt", "le", "eq", "ne", "between"


def _kth(run, array, k, dim, options):
    """From one element of each row. It is the k-th if k is a place in the row, and all of the row tie with it."""
    one = _copied(_first(array, dim, 1))
    lengths = _lengths(array, dim, options)
    if any(options.get(name) is not None for name in _COMPARISONS):
        asked = {name: options[name] for name in (*_COMPARISONS, "context") if name in options}
        matches = _core.run(_RUN, _COUNT, one, None, True, True, dim, None, 1, None, asked, None)
        lengths = lengths * _core.adopt(matches)[0].reshape(-1)
    places = k if isinstance(k, int) else _core.integers(k, array, "k").reshape(-1).clip(0, _k_max(k, options))
    if any(not isinstance(given, int) and len(given) != _elements(one) for given in (places, lengths)):
        return run(one, k, options)  # raises an exception
    is_found = (places >= 1) & (places <= lengths)
    options = {name: options[name] for name in options if name not in ("k_max", "length_max", "lengths")}
    if isinstance(is_found, bool):
        results = run(one, int(is_found), options)
    else:
        results = run(one, 1, {**options, "lengths": is_found * 1})
    for result, numbers in zip(results[1:], ((places > lengths) * lengths, is_found * lengths)):
        if result is not None:
            _overwrite(result, numbers)
    return results


def _count(run, array, k, dim, options):
    """From one element of each row, counted as often as the row is long."""
    counts = run(_copied(_first(array, dim, 1)), k, options)
    lengths = _lengths(array, dim, options)
    matches = _core.adopt(counts)[0]
    _overwrite(counts, matches * (lengths if isinstance(lengths, int) else lengths.reshape(matches.shape)))
    return counts


def _where(run, array, k, dim, options):
    """From one element of each row if none meets the predicate. Else results are as large as a copy. Never on a GPU,
    which would have to be waited for."""
    if not isinstance(array, np.ndarray) and getattr(array, "is_cuda", True):
        return NotImplemented
    unused = "index_dtype", "index_base", "indices", "method", "tuning", "capacity", "length_max"
    one, narrow = _first_elements(array, dim, 1, options)
    predicate = {name: options[name] for name in options if name not in unused}
    counts = _core.run(_RUN, _COUNT, one, None, True, True, dim, None, 1, None, predicate, None)
    return NotImplemented if counts.any() else run(one, k, narrow)


def _mask(run, array, dim, options):
    """From as many rows as fill whole bytes, if all rows are the same."""
    strides = _strides(array)
    if any(strides[d] != 0 and array.shape[d] > 1 for d in range(len(strides)) if d != dim):
        return NotImplemented
    if options.get("lengths") is not None:
        return NotImplemented
    row = _moved(_once(array, dim), dim, -1).reshape(-1)
    bits = math.prod(array.shape)
    if strides[dim] == 0:
        row = row[:1]
    pattern = run(_copied(_broadcast(row, (8 // math.gcd(8, len(row)), len(row)))), None, options)
    size, times = (bits + 7) // 8, -(-bits // (8 * len(pattern)))
    result = (pattern.repeat(times) if _is_torch(pattern) else _library_of(pattern).tile(pattern, times))[:size]
    if bits % 8 != 0:
        result[-1:] &= (1 << bits % 8) - 1
    return result


def _route(run, array, k, dim, options):
    """From one of the rows that are the same."""
    once = _once(array, dim)
    if once.shape == array.shape:
        return NotImplemented
    results = run(once, k, options)
    return tuple(_copied(_broadcast(result, (*array.shape[:dim], result.shape[dim], *array.shape[dim + 1:])))
                 for result in results)


_ANSWERS = {_SELECT: _select, _SELECT_WHERE: _select, _KTH: _kth, _COUNT: _count, _WHERE: _where}


def answer(mode, operation, array, k, largest, sorted, dim, out, wanted, workspace, options):
    """The results of an operation on an array that has strides of 0; NotImplemented where it takes a copy or spans.

    Takes the arguments of run(); `array` is of numpy, torch or cupy, and `dim` counts from 0.
    """
    options = {name: value for name, value in (options or {}).items() if name != "axis"}
    if any(options.get(name) is not None for name in ("offsets", "begins", "ends", "mask", "bits", "at_least")):
        return NotImplemented
    if hasattr(k, "__index__") and not getattr(k, "shape", ()):
        k = operator.index(k)
        if not 0 <= k < 2**63:
            return NotImplemented  # an exception

    def run(narrow, k, options, dim=dim):
        return _core.run(mode, operation, narrow, k, largest, sorted, dim, out, wanted, workspace, options, None)
    if operation in (_MASK, _ROUTE):
        if mode != _RUN or out is not None:
            return NotImplemented
        return (_mask(lambda *given: run(*given, dim=1), array, dim, options) if operation == _MASK else
                _route(run, array, k, dim, options))
    if _strides(array)[dim] != 0 or array.shape[dim] == 1:
        return NotImplemented
    if operation == _KTH and not isinstance(k, int) and len(_core.adopt(k)[0].shape) == len(array.shape):
        return NotImplemented  # several k of each row
    if operation not in (_KTH, _COUNT) and array.shape[dim] + (options.get("index_base") or 0) >= 2**31 - 1:
        shape = Shape(tuple(array.shape), array.dtype)  # an exception if indices are too narrow for the whole row
        _core.run(_WORKSPACE, operation, shape, k, largest, sorted, dim, out, wanted, None, options, None)
    if mode == _RUN or operation in (_SELECT, _SELECT_WHERE):
        return _ANSWERS[operation](run, array, k, dim, options)
    if operation == _WHERE:
        return NotImplemented
    unused = "k_max", "length_max", "lengths"
    return run(_first(array, dim, 1), min(k, 1) if isinstance(k, int) else 1 if operation == _KTH else None,
               {name: options[name] for name in options if name not in unused})


def needed(chunk, k, predicate):
    """How many elements of each row of a chunk can be among its k best, by its strides."""
    length = chunk.shape[-1]
    is_one = length > 1 and _strides(chunk)[-1] == 0 and "mask" not in predicate
    return min(length, max(k, 1)) if is_one else length


def piece_of(chunk, most):
    """How long pieces of a chunk are, `most` at most, that do not take much memory where they are copied."""
    rows = math.prod(chunk.shape[:-1])
    if rows == 0 or not any(stride == 0 and length > 1 for stride, length in zip(_strides(chunk), chunk.shape)):
        return most
    return min(most, max(1, _PIECE_BYTES // (rows * _itemsize(chunk))))
