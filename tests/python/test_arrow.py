# SPDX-License-Identifier: Apache-2.0
"""Columns offered through Arrow's PyCapsule interface by a producer that counts what it gives and what is released."""
import ctypes
import gc

import numpy as np
import pytest

import libtopk
from libtopk import _arrow

_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_kept = []  # callbacks and structures, for the whole run: a late release must not fail


def _destructor(name, kind):
    def drop(capsule):
        found = kind.from_address(_pointer(capsule, name))
        if found.release:
            _arrow._Release(found.release)(ctypes.addressof(found))
    _kept.append(ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(drop))
    return ctypes.cast(_kept[-1], ctypes.c_void_p)


DESTRUCTORS = {kind: (name, _destructor(name, kind)) for kind, name in (
    (_arrow._Schema, b"arrow_schema"), (_arrow._Array, b"arrow_array"), (_arrow._Stream, b"arrow_array_stream"))}


class Producer:
    """chunks: (buffers, length, offset, null_count); in a table of `columns` columns if there are any."""

    def __init__(self, format, chunks, columns=0, outer=0, **odd):
        self.format, self.chunks, self.columns, self.outer, self.odd = format, chunks, columns, outer, odd
        self.given = self.released = 0

    def _counted(self, data):
        def release(address):
            kind = type(data)
            assert kind.from_address(address).release, "released twice"
            kind.from_address(address).release = None
            self.released += 1
        _kept.extend((callback := _arrow._Release(release), data))
        data.release = ctypes.cast(callback, ctypes.c_void_p)
        self.given += 1
        return data

    @staticmethod
    def _within(data, child, count):
        children = (ctypes.POINTER(type(child)) * max(count, 1))(*[ctypes.pointer(child)] * count)
        _kept.extend((child, children))
        data.n_children, data.children = count, children
        return data

    def _schema(self):
        if self.columns:
            return self._counted(self._within(_arrow._Schema(b"+s"), _arrow._Schema(self.format, b"x"), self.columns))
        return self._counted(_arrow._Schema(self.format, b""))

    def _array(self, buffers, length, offset=0, null_count=-1):
        pointers = (ctypes.c_void_p * 2)(*(None if each is None else each.ctypes.data for each in buffers))
        _kept.extend((buffers, pointers))
        array = _arrow._Array(length, null_count, offset, self.odd.get("n_buffers", 2), 0, pointers)
        if not self.columns:
            return self._counted(array)
        none = (ctypes.c_void_p * 1)()
        _kept.append(none)
        table = _arrow._Array(length - self.outer, 0, self.outer, 1, 0, none)
        return self._counted(self._within(table, array, self.columns))

    def capsule(self, data):
        name, destructor = DESTRUCTORS[type(data)]
        return _new(ctypes.addressof(data), self.odd.get("name", name), destructor if "name" not in self.odd else None)


class Array(Producer):
    def __arrow_c_array__(self, requested_schema=None):
        return self.capsule(self._schema()), self.capsule(self._array(*self.chunks[0]))


class Stream(Producer):
    def __arrow_c_stream__(self, requested_schema=None):
        left = iter(self.chunks)

        def fill(address, made):
            ctypes.memmove(address, ctypes.addressof(made), ctypes.sizeof(made))
            return 0

        def next_array(stream, address):
            chunk = next(left, None)
            if chunk == "fails":
                return 5
            return fill(address, _arrow._Array() if chunk is None else self._array(*chunk))
        error = ctypes.create_string_buffer(b"the disk is gone")
        stream = _arrow._Stream(_arrow._Fill(lambda stream, address: fill(address, self._schema())),
                                _arrow._Fill(next_array))
        words = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda stream: ctypes.addressof(error))
        ctypes.c_void_p.from_buffer(stream, _arrow._Stream.get_last_error.offset).value = ctypes.cast(
            words, ctypes.c_void_p).value
        _kept.extend((error, words))
        return self.capsule(self._counted(stream))


class Once(Stream):
    """Gives its chunks to who asks first, as a reader of record batches does."""

    def __arrow_c_stream__(self, requested_schema=None):
        capsule = super().__arrow_c_stream__()
        self.chunks = []
        return capsule


def assert_released(producer):
    gc.collect()
    assert producer.given > 0 and producer.released == producer.given


def bits_of(flags):
    return np.packbits(flags, bitorder="little")


FORMATS = {"int8": b"c", "uint8": b"C", "int16": b"s", "uint16": b"S", "int32": b"i", "uint32": b"I", "int64": b"l",
           "uint64": b"L", "float16": b"e", "float32": b"f", "float64": b"g"}
kinds = pytest.mark.parametrize("kind", (Array, Stream))


@kinds
@pytest.mark.parametrize("dtype", FORMATS)
def test_numbers(kind, dtype):
    numbers = np.random.default_rng(1).permutation(100).astype(dtype)
    for offset in (0, 3):
        for columns, outer in ((0, 0), (1, 0), (1, 5)):
            producer = kind(FORMATS[dtype], [((None, numbers), 100 - offset, offset, 0)], columns, outer)
            found, wanted = libtopk.topk(producer, 7), libtopk.topk(numbers[offset + outer:], 7)
            assert found.values.dtype == numbers.dtype
            assert found.values.tolist() == wanted.values.tolist() and found.indices.tolist() == wanted.indices.tolist()
            assert_released(producer)


@kinds
@pytest.mark.parametrize("format, dtype, words", (
    (b"tdD", "int32", 1), (b"tdm", "int64", 1), (b"ttm", "int32", 1), (b"ttn", "int64", 1), (b"tDu", "int64", 1),
    (b"tsn:Asia/Tokyo", "int64", 1), (b"tss:", "int64", 1), (b"d:9,2,32", "int32", 1), (b"d:18,-2,64", "int64", 1),
    (b"d:18,3", "int64", 2), (b"d:18,3,256", "int64", 4)))
def test_times_and_decimals(kind, format, dtype, words):
    numbers = (np.random.default_rng(5).permutation(100) - 50).astype(dtype)
    held = np.repeat(numbers[:, None], words, 1)
    held[:, 1:] >>= 63  # the sign
    for offset in (0, 3):
        producer = kind(format, [((None, held.ravel()), 100 - offset, offset, 0)], 1, 5)
        found, wanted = libtopk.topk(producer, 7), libtopk.topk(numbers[offset + 5:], 7)
        assert found.values.dtype == dtype
        assert found.values.tolist() == wanted.values.tolist() and found.indices.tolist() == wanted.indices.tolist()
        assert_released(producer)
    assert libtopk.topk(Stream(format, []), 0).values.dtype == dtype


@kinds
@pytest.mark.parametrize("null_count", (-1, 34))
def test_nulls_take_no_part(kind, null_count):
    numbers = np.random.default_rng(2).permutation(100).astype(np.int64) + 2**60
    valid = np.arange(100) % 3 != 0
    for offset in (0, 5, 8):
        for columns, outer in ((0, 0), (1, 3)):
            begin = offset + outer
            producer = kind(b"l", [((bits_of(valid), numbers), 100 - offset, offset, null_count)], columns, outer)
            found = libtopk.topk(producer, 9)
            wanted = libtopk.select_where(numbers[begin:], 9, mask=valid[begin:])
            assert found.values.tolist() == wanted.values.tolist() and found.indices.tolist() == wanted.indices.tolist()
            assert_released(producer)


def test_chunks():
    numbers = np.arange(50.0)
    valid = np.arange(50) != 49
    chunks = [((None, numbers), 20, 0, 0), ((None, None), 0, 0, 0), ((bits_of(valid), numbers), 30, 20, -1)]
    for given, k, best in ((chunks, 2, [48, 47]), (chunks[:2], 1, [19]), ([], 0, [])):
        for columns in (0, 1):
            producer = Stream(b"g", given, columns)
            found = libtopk.topk(producer, k)
            assert found.indices.tolist() == best and found.values.tolist() == best
            assert_released(producer)


def test_masks_of_bits():
    truths = np.arange(40) % 5 == 0
    for offset in (0, 9):
        mask = Array(b"b", [((None, bits_of(truths)), 40 - offset, offset, 0)])
        found = libtopk.where(np.arange(40.0)[offset:], mask=mask).values
        assert found.tolist() == [x for x in range(offset, 40) if x % 5 == 0]
        assert_released(mask)


def test_memory_is_shared_and_held():
    """An array at an odd address is copied."""
    numbers = np.arange(10.0)
    producer = Array(b"g", [((None, numbers), 10, 0, 0)])
    column = _arrow.column_of(producer).numbers
    assert np.shares_memory(column, numbers) and not column.flags.writeable
    part = column[3:]
    del column
    gc.collect()
    assert producer.released == producer.given - 1 and part.tolist() == list(range(3, 10))
    del part
    assert_released(producer)
    raw = np.zeros(81, np.uint8)
    raw[1:] = numbers.view(np.uint8)
    assert libtopk.topk(Array(b"g", [((None, raw[1:]), 10, 0, 0)]), 1).values.tolist() == [9]


@kinds
@pytest.mark.parametrize("format, chunk, words, odd", (
    (b"u", ((None, None), 3), "Arrow's format 'u', which is none of integers", {}),
    (b"tiM", ((None, None), 3), "Arrow's format 'tiM'", {}),
    (b"d:4,1,65", ((None, None), 3), "Arrow's format 'd:4,1,65'", {}),
    (b"d:x", ((None, None), 3), "Arrow's format 'd:x'", {}),
    (b"d:19,0", ((None, None), 3), "decimals of 19 digits, where 64 bits hold 18", {}),
    (b"d:9,0", ((None, np.array([1, 0, 2, 1])), 2), "beyond the digits of its type", {}),
    (b"g", ((None, None), 3), "has no elements in memory", {}),
    (b"g", ((None, np.zeros(3)), -1), "malformed", {}),
    (b"g", ((None, np.zeros(3)), 3, -1), "malformed", {}),
    (b"g", ((None, np.zeros(3)), 3), "malformed", {"n_buffers": 3}),
    (b"g", ((None, np.zeros(3)), 3), "which is a table of 2 columns: pass one of them", {"columns": 2}),
    (b"g", ((None, np.zeros(3)), 3), "no capsule of Arrow's that is called", {"name": b"other"})))
def test_what_is_refused(kind, format, chunk, words, odd):
    producer = kind(format, [chunk], **odd)
    with pytest.raises(TypeError, match=words):
        libtopk.topk(producer, 1)
    if "name" not in odd:
        assert_released(producer)


def test_odd_producers():
    with pytest.raises(TypeError, match="gives no pair of capsules"):
        libtopk.topk(type("Odd", (), {"__arrow_c_array__": lambda self: 1})(), 1)
    producer = Array(b"g", [((None, np.zeros(3)), 3)])
    pair = producer.__arrow_c_array__()
    once = type("Once", (), {"__arrow_c_array__": lambda self: pair})()
    assert libtopk.topk(once, 1).values.tolist() == [0]
    with pytest.raises(TypeError, match="arrow_array has been released"):
        libtopk.topk(once, 1)
    failing = Stream(b"g", [((None, np.zeros(3)), 3), "fails"])
    with pytest.raises(OSError, match="the stream of a .*Stream: the disk is gone"):
        libtopk.topk(failing, 1)
    assert_released(failing)


@pytest.mark.parametrize("nulls, mask_nulls", ((False, False), (True, False), (False, True), (True, True)))
def test_a_stream_is_read_once(nulls, mask_nulls):
    """Each function takes a stream once, for elements and for a mask."""
    numbers, given = np.random.default_rng(3).permutation(60).astype(np.float64), []
    valid = np.arange(60) % 7 != 0 if nulls else np.ones(60, bool)
    chosen, known = np.arange(60) % 3 != 0, np.arange(60) % 5 != 0 if mask_nulls else np.ones(60, bool)

    def once(format, values, flags):
        given.append(Once(format, [((None if flags.all() else bits_of(flags), values), 60, 0, -1)], 1))
        return given[-1]

    def x():
        return once(b"g", numbers, valid)

    def mask():
        return once(b"b", bits_of(chosen), known)
    plain = {"mask": valid & chosen & known}
    assert libtopk.top_k(x(), 5).values.tolist() == libtopk.select_where(numbers, 5, mask=valid).values.tolist()
    at = np.flatnonzero(valid & (numbers > 20))
    assert libtopk.where(x(), gt=20).values.tolist() == numbers[at].tolist()
    assert libtopk.argwhere(x(), gt=20)[0].tolist() == at.tolist()
    assert libtopk.where(x(), mask=mask()).indices.tolist() == np.flatnonzero(plain["mask"]).tolist()
    assert libtopk.where(numbers, mask=mask()).indices.tolist() == np.flatnonzero(chosen & known).tolist()
    assert libtopk.select_where(x(), 5, mask=mask()).values.tolist() == (
        libtopk.select_where(numbers, 5, **plain).values.tolist())
    assert libtopk.count(x(), mask=mask()) == plain["mask"].sum()
    assert libtopk.kth(x(), 4, mask=mask()).kth == libtopk.kth(numbers, 4, **plain).kth
    for dim in (-1, None):
        assert libtopk.quantile(x(), 0.3, dim, mask=mask()) == np.quantile(numbers[plain["mask"]], 0.3)
    for each in given:
        assert_released(each)
