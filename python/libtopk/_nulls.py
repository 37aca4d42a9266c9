# SPDX-License-Identifier: Apache-2.0
"""Columns with nulls, of pyarrow, polars and pandas: nulls take no part, and positions are those in the column.

A column comes apart into its numbers, exact in their own type, and a bit for each that is no null. Those bits are a
predicate of the library's. Numbers of pyarrow are read where they lie, if the column is one chunk.
"""
import numpy as np

from libtopk import _arrow, _core
from libtopk._adopt import Nulls
from libtopk._messages import PREDICATES

_SELECT, _KTH, _WHERE, _SELECT_WHERE, _COUNT, _MASK = range(1, 7)
_RUN = 0


def _type_of_numbers(kind):
    """numpy's type; TypeError unless it is one of integers, floats or truth values."""
    dtype = np.dtype(kind)
    if dtype.kind not in "iufb":
        raise TypeError(f"a column of type {dtype}")
    return dtype


def _packed(flags):
    return np.packbits(flags, bitorder="little")


def unpacked(bits, count):
    return np.unpackbits(bits, count=count, bitorder="little").view(bool)


def _cut(bits, begin, end):
    """Bits [begin, end) of a buffer, from bit 0 on."""
    bits = np.frombuffer(bits, np.uint8)[begin // 8:(end + 7) // 8]
    return bits if begin % 8 == 0 else _packed(unpacked(bits, None)[begin % 8:][:end - begin])


def split_pyarrow(column):
    """(numbers, bits) of a column that has nulls, from the buffers. A slice may begin at any bit."""
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    dtype = _type_of_numbers(column.type.to_pandas_dtype())
    valid, data = column.buffers()
    begin, end = column.offset, column.offset + len(column)
    if dtype.kind == "b":
        return unpacked(_cut(data, begin, end), len(column)), _cut(valid, begin, end)
    return np.frombuffer(data, dtype, len(column), begin * dtype.itemsize), _cut(valid, begin, end)


def _of_polars(column):
    is_of_truth = str(column.dtype) == "Boolean"
    if not (is_of_truth or column.dtype.is_integer() or column.dtype.is_float()):
        raise TypeError(f"a column of type {column.dtype}")
    dtype = _type_of_numbers("bool" if is_of_truth else str(column.dtype).lower())  # numpy has none of 128 bits
    numbers = column.fill_null(False if is_of_truth else 0).to_numpy()
    return numbers.view(dtype), _packed(column.is_not_null().to_numpy())


def _of_pandas(column):
    dtype = _type_of_numbers(column.dtype.numpy_dtype)  # which nullable and Arrow's types have
    return column.to_numpy(dtype=dtype, na_value=dtype.type(0)), _packed(~np.asarray(column.isna()))


_SPLITTERS = {"pyarrow": split_pyarrow, "polars": _of_polars, "pandas": _of_pandas}


def split(error):
    """(numbers, bits) of the column that Nulls tells of. Raises it again for a column that is not of numbers."""
    if error.parts is not None:
        return error.parts
    library = type(error.column).__module__.partition(".")[0]
    try:
        numbers, bits = _SPLITTERS[library](error.column)
    except (KeyError, TypeError, AttributeError, NotImplementedError, ValueError):
        dtype = getattr(error.column, "dtype", getattr(error.column, "type", "unknown"))
        raise Nulls(f"{error}. Its type is {dtype}, and nulls are left out of columns of integers, floats, bool, dates, times, "
                    "durations and decimals") from None
    if numbers.ndim != 1:
        raise error
    return numbers, bits


def chosen(numbers, bits, predicate, context):
    """The bits that meet a predicate, too, if there is one."""
    if not predicate:
        return bits
    options = {**predicate, "context": context}
    return bits & _core.run(_RUN, _MASK, numbers, None, True, True, 0, None, 1, None, options, None)


def _mask_of(error):
    """The mask that Nulls tells of, as an array."""
    truths, bits = split(error)
    if truths.dtype not in (bool, np.uint8):
        raise TypeError("mask is neither of type bool nor uint8") from None
    return (truths != 0) & unpacked(bits, len(truths))


def adopt_mask(mask):
    """A mask as an array. Its nulls choose nothing."""
    try:
        return _core.adopt(mask)[0]
    except Nulls as error:
        return _mask_of(error)


def of_chunk(error, predicate, context):
    """(numbers, predicate) of a chunk with nulls."""
    numbers, bits = split(error)
    return numbers, {"mask": unpacked(chosen(numbers, bits, predicate, context), len(numbers))}


def answer(error, adopted, mode, operation, x, k, largest, sorted, dim, out, wanted, workspace, options, other):
    """Answers a call of run() that raised Nulls. adopted: the array that it had made of x; None: it had not."""
    options = dict(options or {})

    def run(operation, x, options):
        return _core.run(mode, operation, x, k, largest, sorted, dim, out, wanted, workspace, options, other)
    if operation > _MASK or error.column is None or options.get("at_least") is not None:
        raise error
    if error.column is not x:
        if error.column is not options.get("mask"):
            for name, given in {"k": k, **options}.items():
                if given is error.column:
                    raise TypeError(f"{name}: {error}") from None
            raise error
        if _arrow.is_offered(x):
            x = adopted  # a stream gives its elements once
        return run(operation, x, {**options, "mask": _mask_of(error)})
    numbers, bits = split(error)
    predicate = {name: options[name] for name in PREDICATES if options.get(name) is not None}
    if numbers.dtype == bool and operation in (_WHERE, _COUNT, _MASK):
        predicate = predicate or {"ne": 0}  # a null's own bit says nothing
    if (bool(predicate) == (operation == _SELECT) and operation != _KTH) or (operation == _KTH and mode != _RUN):
        return run(operation, numbers, options)  # an exception, or a plan, which is for all elements
    options = {name: options[name] for name in options if name not in predicate}
    options["bits"] = chosen(numbers, bits, predicate, options.get("context"))
    return run(_SELECT_WHERE if operation == _SELECT else operation, numbers, options)
