# SPDX-License-Identifier: Apache-2.0
"""Columns that an object offers through Arrow's PyCapsule interface, read where they lie. No package is needed for it.

An array is moved out of its capsule and released when the last numpy array over its memory is gone. Schemas and streams
stay in their capsules, which release them.
"""
import ctypes

import numpy as np

_OTHERS = "__array__", "__array_interface__", "__array_struct__", "__cuda_array_interface__", "__dlpack__"

_KINDS = {b"c": "i1", b"C": "u1", b"s": "<i2", b"S": "<u2", b"i": "<i4", b"I": "<u4", b"l": "<i8", b"L": "<u8",
          b"e": "<f2", b"f": "<f4", b"g": "<f8",
          b"tdD": "<i4", b"tdm": "<i8", b"tts": "<i4", b"ttm": "<i4", b"ttu": "<i8", b"ttn": "<i8"}
_DIGITS = 18  # of decimals that 64 bits hold


class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
                    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", ctypes.c_void_p),
                    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                   ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                   ("children", ctypes.POINTER(ctypes.POINTER(_Array))), ("dictionary", ctypes.c_void_p),
                   ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]

_Fill = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Stream(ctypes.Structure):
    _fields_ = [("get_schema", _Fill), ("get_next", _Fill),
                ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
                ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


class _Owned:
    """A structure of Arrow's that is ours to release."""

    def __init__(self, kind):
        self.data = kind()

    def __del__(self):
        if self.data.release:
            _Release(self.data.release)(ctypes.addressof(self.data))


class _Memory:
    """Elements that numpy reads in place, and their owner."""

    def __init__(self, owner, address, kind, count):
        self.owner = owner
        self.__array_interface__ = {"data": (address, True), "shape": (count,), "typestr": kind, "version": 3}


class Column:
    """A column's numbers, and a flag for each that is no null; None: it has no nulls. `name` is its object's type."""

    def __init__(self, name, numbers, valid):
        self.name, self.numbers, self.valid = name, numbers, valid
        self.shape = numbers.shape


def is_offered(array):
    """Whether that interface is the way to an array's elements: it has no other."""
    return (hasattr(array, "__arrow_c_array__") or hasattr(array, "__arrow_c_stream__")) and not any(
        hasattr(array, name) for name in _OTHERS)


def _in_capsule(capsule, name, kind):
    try:
        found = kind.from_address(_pointer_of(capsule, name))
    except (ValueError, ctypes.ArgumentError):
        raise TypeError(f"no capsule of Arrow's that is called {name.decode()}") from None
    if not found.release:
        raise TypeError(f"a capsule of Arrow's whose {name.decode()} has been released")
    return found


def _kind_of(format, name):
    """(numpy's type, words of that type in an element). Times and decimals are integers; of truth values the type is None."""
    if format == b"b":
        return None, 1
    if format in _KINDS:
        return _KINDS[format], 1
    if format and (format[:3] in (b"tDs", b"tDm", b"tDu", b"tDn") or format[:4] in (b"tss:", b"tsm:", b"tsu:", b"tsn:")):
        return "<i8", 1
    spelt = (format or b"").decode(errors="replace")
    if spelt.startswith("d:"):
        precision, bits = (*spelt[2:].split(","), "", "")[0:3:2]
        bits = bits or "128"
        if bits in ("32", "64", "128", "256") and precision.isdigit():
            if int(precision) <= _DIGITS:
                return ("<i4", 1) if bits == "32" else ("<i8", int(bits) // 64)
            raise TypeError(f"a {name} whose column has decimals of {precision} digits, where 64 bits hold {_DIGITS}: cast it "
                            "to fewer digits, or to floats")
    raise TypeError(f"a {name} whose column has Arrow's format {spelt!r}, which is none of integers of 8 to 64 bits, float16, "
                    "float32, float64, bool, dates, times, durations and decimals")


def _numbers_in(schema, name):
    """The schema of the numbers: a table's of one column is that column's."""
    inner = schema
    if schema.format == b"+s":
        if schema.n_children != 1:
            raise TypeError(f"a {name}, which is a table of {schema.n_children} columns: pass one of them")
        if not schema.children or not schema.children[0]:
            raise TypeError(f"a {name} whose Arrow schema is malformed")
        inner = schema.children[0].contents
    if inner.dictionary:
        raise TypeError(f"a {name} whose column is a dictionary: decode it first")
    _kind_of(inner.format, name)
    return inner


def _elements(owner, address, kind, begin, count):
    """[begin, begin + count) of a buffer of elements, or of bits where kind is None."""
    if kind is None:
        at = begin // 8
        bits = _elements(owner, address, "u1", at, (begin + count + 7) // 8 - at if count else 0)
        return np.unpackbits(bits, bitorder="little")[begin - 8 * at:][:count].view(bool)
    if count == 0:
        return np.empty(0, kind)
    elements = np.asarray(_Memory(owner, address + begin * np.dtype(kind).itemsize, kind, count))
    return elements if elements.flags.aligned else elements.copy()


def _narrowed(words, count, valid, name):
    """Decimals of several words each as their low ones, whose sign the others repeat unless the element is a null."""
    words = words.reshape(count, -1)
    low = words[:, 0].copy()
    is_wide = (words[:, 1:] != (low >> 63)[:, None]).any(1)
    if (is_wide if valid is None else is_wide & valid).any():
        raise TypeError(f"a {name} whose column has decimals beyond the digits of its type")
    return low


def _valid(owner, array, begin, count):
    """A flag for each element that is no null; None: there are no nulls."""
    if array.null_count == 0 or array.n_buffers < 1 or not array.buffers or not array.buffers[0]:
        return None
    flags = _elements(owner, array.buffers[0], None, begin, count)
    return None if flags.all() else flags


def _check(array, buffers, end, name):
    if array.length < end or array.offset < 0 or array.n_buffers != buffers:
        raise TypeError(f"a {name} whose Arrow array is malformed")


def _chunk(owner, schema, numbers, name):
    """(numbers, valid) of an array. A table's offset counts for its column, too."""
    array = owner.data
    begin, count, flags = array.offset, array.length, []
    _check(array, 1 if numbers is not schema else 2, 0, name)
    if numbers is not schema:
        if array.n_children != 1 or not array.children or not array.children[0]:
            raise TypeError(f"a {name} whose Arrow array has not the one column of its schema")
        flags.append(_valid(owner, array, begin, count))
        array = array.children[0].contents
        _check(array, 2, begin + count, name)
        begin += array.offset
    if count and not (array.buffers and array.buffers[1]):
        raise TypeError(f"a {name} whose Arrow array has no elements in memory")
    flags = [each for each in (*flags, _valid(owner, array, begin, count)) if each is not None]
    valid = np.logical_and.reduce(flags) if flags else None
    kind, words = _kind_of(numbers.format, name)
    elements = _elements(owner, array.buffers[1] if count else None, kind, words * begin, words * count)
    return elements if words == 1 else _narrowed(elements, count, valid, name), valid


def _of_array(array, name):
    pair = array.__arrow_c_array__()
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f"a {name} whose __arrow_c_array__() gives no pair of capsules")
    described, held = pair
    schema = _in_capsule(described, b"arrow_schema", _Schema)
    numbers = _numbers_in(schema, name)
    given, owner = _in_capsule(held, b"arrow_array", _Array), _Owned(_Array)
    ctypes.memmove(ctypes.byref(owner.data), ctypes.byref(given), ctypes.sizeof(_Array))
    given.release = None
    return [_chunk(owner, schema, numbers, name)], numbers.format


def _of_stream(array, name):
    capsule = array.__arrow_c_stream__()
    stream = _in_capsule(capsule, b"arrow_array_stream", _Stream)

    def fill(function, kind):
        owned = _Owned(kind)
        status = function(ctypes.addressof(stream), ctypes.addressof(owned.data))
        if status != 0:
            words = stream.get_last_error(ctypes.addressof(stream)) or b"no reason is given"
            raise OSError(status, f"the stream of a {name}: {words.decode(errors='replace')}")
        return owned
    schema = fill(stream.get_schema, _Schema)
    numbers = _numbers_in(schema.data, name)
    chunks = []
    while (owner := fill(stream.get_next, _Array)).data.release:
        chunks.append(_chunk(owner, schema.data, numbers, name))
    return chunks, numbers.format


def column_of(array, name=None):
    """The column of an object that offers one. TypeError for what is no column of numbers. name: None: its type's."""
    name = name or f"{type(array).__module__}.{type(array).__qualname__}"
    chunks, kind = (_of_array if hasattr(array, "__arrow_c_array__") else _of_stream)(array, name)
    if len(chunks) == 1:
        return Column(name, *chunks[0])
    if not chunks:
        return Column(name, np.empty(0, _kind_of(kind, name)[0] or "?"), None)
    flags = [np.ones(len(numbers), bool) if valid is None else valid for numbers, valid in chunks]
    has_nulls = any(valid is not None for _, valid in chunks)
    numbers = np.concatenate([numbers for numbers, _ in chunks])
    return Column(name, numbers, np.concatenate(flags) if has_nulls else None)
