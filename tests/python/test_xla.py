# SPDX-License-Identifier: Apache-2.0
"""The handlers that programs of XLA call, called as XLA does, without JAX: also as a program from a file may call them."""
import ctypes

import numpy as np
import pytest

import oracle
from backend import ON_GPU
from libtopk import _core

pytestmark = pytest.mark.skipif(ON_GPU, reason="handlers serve the CPU alone")

SELECT, KTH, F32 = 1, 2, 3
TYPES = {"float32": 11, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "bool": 1}  # XLA's numbers
CODES = {3: "invalid argument", 8: "resource exhausted", 12: "unimplemented"}


class Head(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extensions", ctypes.c_void_p)]


class Version(Head):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int)]


class Metadata(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("version", Version), ("traits", ctypes.c_uint32)]


class Extension(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.c_void_p),
                ("metadata", ctypes.POINTER(Metadata))]


class Error(Head):
    _fields_ = [("message", ctypes.c_char_p), ("code", ctypes.c_int)]


MAKE_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Error))


class Api(Head):
    _fields_ = [("version", Version), ("internal", ctypes.c_void_p), ("make_error", MAKE_ERROR)]


class Buffer(Head):
    _fields_ = [("type", ctypes.c_int), ("data", ctypes.c_void_p), ("rank", ctypes.c_int64),
                ("dims", ctypes.POINTER(ctypes.c_int64))]


class Text(ctypes.Structure):
    _fields_ = [("start", ctypes.c_char_p), ("length", ctypes.c_size_t)]


class Scalar(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("value", ctypes.c_void_p)]


class Items(Head):
    _fields_ = [("count", ctypes.c_int64), ("kinds", ctypes.POINTER(ctypes.c_int)), ("items", ctypes.POINTER(ctypes.c_void_p))]


class Attributes(Head):
    _fields_ = [("count", ctypes.c_int64), ("kinds", ctypes.POINTER(ctypes.c_int)),
                ("names", ctypes.POINTER(ctypes.POINTER(Text))), ("items", ctypes.POINTER(ctypes.c_void_p))]


class Call(Head):
    _fields_ = [("api", ctypes.POINTER(Api)), ("context", ctypes.c_void_p), ("stage", ctypes.c_int), ("arguments", Items),
                ("results", Items), ("attributes", Attributes)]


def handler(operation):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(_core.xla_handler("cpu", operation), None)
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Call))(address)


def pointers(objects):
    return (ctypes.c_void_p * len(objects))(*(ctypes.cast(ctypes.pointer(each), ctypes.c_void_p) for each in objects))


def buffer_of(array):
    dims = (ctypes.c_int64 * array.ndim)(*array.shape)
    data = array.ctypes.data if array.size else None
    return Buffer(ctypes.sizeof(Buffer), None, TYPES[array.dtype.name], data, array.ndim, dims)


def call(operation, arguments, results, attributes):
    """Runs a handler over arrays. Returns (code, message) of its error, or None."""
    errors = []

    @MAKE_ERROR
    def make_error(given):
        errors.append((given.contents.code, given.contents.message.decode()))
        return 1

    api = Api(ctypes.sizeof(Api), None, Version(ctypes.sizeof(Version), None, 0, 3), None, make_error)
    sides = []
    for arrays in (arguments, results):
        kinds = (ctypes.c_int * len(arrays))(*[1] * len(arrays))
        sides.append(Items(ctypes.sizeof(Items), None, len(arrays), kinds, pointers([buffer_of(each) for each in arrays])))
    numbers = [np.array(value) for value in attributes.values()]
    scalars = [Scalar(TYPES[number.dtype.name], number.ctypes.data) for number in numbers]
    names = [Text(name.encode(), len(name)) for name in attributes]
    given = Attributes(ctypes.sizeof(Attributes), None, len(names), (ctypes.c_int * len(names))(*[3] * len(names)),
                       (ctypes.POINTER(Text) * len(names))(*map(ctypes.pointer, names)), pointers(scalars))
    frame = Call(ctypes.sizeof(Call), None, ctypes.pointer(api), None, 3, *sides, given)
    failed = handler(operation)(ctypes.byref(frame))
    assert bool(failed) == bool(errors)
    return errors[0] if errors else None


def settings(k, largest=1, nan_last=0):
    return {name: np.int64(value) for name, value in (("k", k), ("largest", largest), ("nan_last", nan_last))}


def scratch_for(operation, rows, length, is_wide, k, largest=1, nan_last=0):
    return np.full(_core.xla_scratch("cpu", operation, F32, rows, length, is_wide, k, largest, nan_last), 0x5a, np.uint8)


X = np.random.default_rng(2).integers(-50, 50, (3, 4, 500)).astype(np.float32)
X[0, 0, :7] = np.nan


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("largest, nan_last", [(1, 0), (1, 1), (0, 0), (0, 1)])
def test_results(index_type, largest, nan_last):
    is_wide = index_type is np.int64
    choice = {"largest": bool(largest), "nan": "last" if nan_last else "largest"}
    rows = oracle.rows_of(X)
    values, indices = np.empty((3, 4, 20), np.float32), np.empty((3, 4, 20), index_type)
    scratch = scratch_for(SELECT, 12, 500, is_wide, 20, largest, nan_last)
    assert call(SELECT, [X], [values, indices, scratch], settings(20, largest, nan_last)) is None
    wanted = oracle.select(rows, 20, X.dtype, **choice)
    assert oracle.all_same([values.reshape(12, 20), indices.reshape(12, 20)], [wanted[0], wanted[1].astype(index_type)])

    found, better, equal = np.empty((3, 4), np.float32), np.empty((3, 4), index_type), np.empty((3, 4), index_type)
    scratch = scratch_for(KTH, 12, 500, is_wide, 20, largest, nan_last)
    assert call(KTH, [X], [found, better, equal, scratch], settings(20, largest, nan_last)) is None
    wanted = [oracle.kth(row, 20, **choice) for row in rows]
    assert [*zip(found.ravel(), better.ravel(), equal.ravel())] == wanted


def test_scratch_of_another_machine():
    """A method that gets along with less serves; where there is none, it is an error that says so."""
    x = np.random.default_rng(3).permutation(200_000).astype(np.float32)
    values, indices = np.empty(500, np.float32), np.empty(500, np.int32)
    whole = len(scratch_for(SELECT, 1, len(x), False, 500))
    served = 0
    for bytes_given in (whole // 2, 30_000, 0):
        scratch = np.empty(bytes_given, np.uint8)
        error = call(SELECT, [x], [values, indices, scratch], settings(500))
        if error is None:
            served += 1
            np.testing.assert_array_equal(values, np.arange(len(x) - 1, len(x) - 501, -1))
            np.testing.assert_array_equal(x[indices], values)
        else:
            assert CODES[error[0]] == "unimplemented" and "workspace" in error[1]
    assert served


def test_nothing_to_do():
    empty = np.empty((2, 0), np.float32)
    assert call(SELECT, [empty], [empty, np.empty((2, 0), np.int32), np.empty(0, np.uint8)], settings(0)) is None
    none = np.empty((0, 5), np.float32)
    counts = np.empty(0, np.int32)
    assert call(KTH, [none], [np.empty(0, np.float32), counts, counts, np.empty(0, np.uint8)], settings(1)) is None


V, I, S = np.empty((2, 3), np.float32), np.empty((2, 3), np.int32), np.empty(100_000, np.uint8)
ROWS = np.ones((2, 9), np.float32)
F, C = np.empty(2, np.float32), np.empty(2, np.int32)


@pytest.mark.parametrize("operation, arguments, results, given, words", [
    (SELECT, [ROWS, ROWS], [V, I, S], settings(3), "numbers of arguments"), (SELECT, [ROWS], [V, I], settings(3), "numbers"),
    (SELECT, [ROWS], [V, I, S], {"k": np.int64(3), "largest": np.int64(1)}, "attributes"),
    (SELECT, [ROWS], [V, I, S], {**settings(3), "k": np.int32(3)}, "attributes"),
    (SELECT, [ROWS > 0], [V, I, S], settings(3), "types"), (SELECT, [ROWS], [V, V, S], settings(3), "types"),
    (SELECT, [ROWS], [I, I, S], settings(3), "types"), (SELECT, [ROWS], [V, I, V], settings(3), "types"),
    (SELECT, [np.array(1.0, np.float32)], [V, I, S], settings(3), "types"),
    (SELECT, [ROWS], [V, I, S], settings(4), "room"), (SELECT, [ROWS], [V[:1], I, S], settings(3), "room"),
    (SELECT, [ROWS], [V, I, S], settings(-3), "room"),
    (KTH, [ROWS], [F, C, C[:1], S], settings(3), "room"), (KTH, [ROWS], [F, C, C.astype(np.int64), S], settings(3), "room"),
    (KTH, [ROWS], [F, C, C, S[:31]], settings(3), "room"), (KTH, [ROWS], [F, C, C, S], settings(-1), "k_max"),
    (SELECT, [ROWS[0]], [ROWS[0, :3], I[0], S], settings(3), "overlap")])
def test_errors(operation, arguments, results, given, words):
    code, message = call(operation, arguments, results, given)
    assert CODES[code] == "invalid argument" and words in message


def test_version():
    for operation in (SELECT, KTH):
        metadata = Metadata(ctypes.sizeof(Metadata), Version(ctypes.sizeof(Version)), 0)
        extension = Extension(ctypes.sizeof(Extension), 1, None, ctypes.pointer(metadata))
        frame = Call(ctypes.sizeof(Call), ctypes.addressof(extension))
        assert not handler(operation)(ctypes.byref(frame))
        assert (metadata.version.major, metadata.version.minor) == (0, 3)


def test_python():
    for platform, operation in (("cuda", SELECT), ("cpu", 3)):
        with pytest.raises(NotImplementedError, match=f"{platform} for operation {operation}"):
            _core.xla_handler(platform, operation)
        with pytest.raises(NotImplementedError, match=f"{platform} for operation {operation}"):
            _core.xla_scratch(platform, operation, F32, 1, 9, False, 3, 1, 0)
    with pytest.raises(OverflowError):
        _core.xla_scratch("cpu", SELECT, F32, 1, 2**31, False, 3, 1, 0)
    with pytest.raises(ValueError):
        _core.xla_scratch("cpu", SELECT, F32, -1, 5, False, 3, 1, 0)
