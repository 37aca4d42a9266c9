# SPDX-License-Identifier: Apache-2.0
"""The handlers that programs of XLA call, called as XLA does, without JAX: also as a program from a file may call them. On
the emulated GPU, whose memory is the host's, these are the handlers for CUDA."""
import ctypes

import numpy as np
import pytest

import oracle
from backend import ON_GPU
from libtopk import _core

PLATFORM, DEVICE = ("cuda", 0) if ON_GPU else ("cpu", -1)
SELECT, KTH, F32 = 1, 2, 3
INITIALIZE, EXECUTE = 2, 3  # stages of a call
TYPES = {"float32": 11, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "bool": 1}  # XLA's numbers
CODES = {3: "invalid argument", 8: "resource exhausted", 12: "unimplemented", 13: "internal"}


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


class StreamArguments(Head):
    _fields_ = [("context", ctypes.c_void_p), ("stream", ctypes.c_void_p)]


class DeviceArguments(Head):
    _fields_ = [("context", ctypes.c_void_p), ("device", ctypes.c_int32)]


MAKE_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Error))
GET_STREAM = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(StreamArguments))
GET_DEVICE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(DeviceArguments))


class Api(Head):
    _fields_ = [("version", Version), ("internal", ctypes.c_void_p), ("make_error", MAKE_ERROR),
                ("unused", ctypes.c_void_p * 3), ("get_stream", GET_STREAM), ("unused_too", ctypes.c_void_p * 12),
                ("get_device", GET_DEVICE)]


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
    address = pointer(_core.xla_handler(PLATFORM, operation), None)
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Call))(address)


def pointers(objects):
    return (ctypes.c_void_p * len(objects))(*(ctypes.cast(ctypes.pointer(each), ctypes.c_void_p) for each in objects))


def buffer_of(array):
    dims = (ctypes.c_int64 * array.ndim)(*array.shape)
    data = array.ctypes.data if array.size else None
    return Buffer(ctypes.sizeof(Buffer), None, TYPES[array.dtype.name], data, array.ndim, dims)


CONTEXT, OF_XLA = 0x1234, 0x5678  # where XLA's own things might lie


class Xla:
    """What XLA says of the call at hand: its device; whether it has no stream. `asked` is what it was asked for."""

    def __init__(self, device=0, has_stream=True):
        self.device, self.has_stream, self.asked = device, has_stream, []

    def get_stream(self, given):
        assert given.contents.context == CONTEXT and given.contents.size >= 32
        self.asked.append("stream")
        given.contents.stream = None  # the device's own
        return None if self.has_stream else OF_XLA

    def get_device(self, given):
        assert given.contents.context == CONTEXT and given.contents.size >= 28
        self.asked.append("device")
        given.contents.device = self.device
        return OF_XLA if self.device is None else None


def call(operation, arguments, results, attributes, xla=None, stage=EXECUTE):
    """Runs a handler over arrays. Returns (code, message) of its error, None, or OF_XLA for an error that XLA made."""
    errors, xla = [], xla or Xla()

    @MAKE_ERROR
    def make_error(given):
        errors.append((given.contents.code, given.contents.message.decode()))
        return 1

    api = Api(ctypes.sizeof(Api), None, Version(ctypes.sizeof(Version), None, 0, 3), None, make_error, (None,) * 3,
              GET_STREAM(xla.get_stream), (None,) * 12, GET_DEVICE(xla.get_device))
    sides = []
    for arrays in (arguments, results):
        kinds = (ctypes.c_int * len(arrays))(*[1] * len(arrays))
        sides.append(Items(ctypes.sizeof(Items), None, len(arrays), kinds, pointers([buffer_of(each) for each in arrays])))
    numbers = [np.array(value) for value in attributes.values()]
    scalars = [Scalar(TYPES[number.dtype.name], number.ctypes.data) for number in numbers]
    names = [Text(name.encode(), len(name)) for name in attributes]
    given = Attributes(ctypes.sizeof(Attributes), None, len(names), (ctypes.c_int * len(names))(*[3] * len(names)),
                       (ctypes.POINTER(Text) * len(names))(*map(ctypes.pointer, names)), pointers(scalars))
    frame = Call(ctypes.sizeof(Call), None, ctypes.pointer(api), CONTEXT, stage, *sides, given)
    failed = handler(operation)(ctypes.byref(frame))
    if failed == OF_XLA:
        return failed
    assert bool(failed) == bool(errors)
    if not ON_GPU:
        assert not xla.asked
    return errors[0] if errors else None


def settings(k, largest=1, nan_last=0):
    return {name: np.int64(value) for name, value in (("k", k), ("largest", largest), ("nan_last", nan_last))}


def scratch_for(operation, rows, length, is_wide, k, largest=1, nan_last=0):
    return np.full(_core.xla_scratch(DEVICE, operation, F32, rows, length, is_wide, k, largest, nan_last), 0x5a, np.uint8)


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

    found, counts = np.empty((3, 4), np.float32), [np.empty((3, 4, *(() if is_wide else (2,))), index_type) for _ in "12"]
    scratch = scratch_for(KTH, 12, 500, is_wide, 20, largest, nan_last)
    assert call(KTH, [X], [found, *counts, scratch], settings(20, largest, nan_last)) is None
    better, equal = counts if is_wide else (each[..., 0] for each in counts)
    assert is_wide or not any(each[..., 1].any() for each in counts)
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
    counts = np.empty((0, 2), np.int32)
    assert call(KTH, [none], [np.empty(0, np.float32), counts, counts, np.empty(0, np.uint8)], settings(1)) is None


V, I, S = np.empty((2, 3), np.float32), np.empty((2, 3), np.int32), np.empty(100_000, np.uint8)
ROWS = np.ones((2, 9), np.float32)
F, C = np.empty(2, np.float32), np.empty((2, 2), np.int32)


@pytest.mark.parametrize("operation, arguments, results, given, words", [
    (SELECT, [ROWS, ROWS], [V, I, S], settings(3), "numbers of arguments"), (SELECT, [ROWS], [V, I], settings(3), "numbers"),
    (SELECT, [ROWS], [V, I, S], {"k": np.int64(3), "largest": np.int64(1)}, "attributes"),
    (SELECT, [ROWS], [V, I, S], {**settings(3), "k": np.int32(3)}, "attributes"),
    (SELECT, [ROWS > 0], [V, I, S], settings(3), "types"), (SELECT, [ROWS], [V, V, S], settings(3), "types"),
    (SELECT, [ROWS], [I, I, S], settings(3), "types"), (SELECT, [ROWS], [V, I, V], settings(3), "types"),
    (SELECT, [np.array(1.0, np.float32)], [V, I, S], settings(3), "types"),
    (SELECT, [ROWS], [V, I, S], settings(4), "room"), (SELECT, [ROWS], [V[:1], I, S], settings(3), "room"),
    (SELECT, [ROWS], [V, I, S], settings(-3), "room"),
    (KTH, [ROWS], [F, C, C[:1], S], settings(3), "room"), (KTH, [ROWS], [F, C, C[:, 0].astype(np.int64), S], settings(3), "room"),
    (KTH, [ROWS], [F, C[:, 0], C[:, 0], S], settings(3), "room"), (KTH, [ROWS], [F[:1], C, C, S], settings(3), "room"),
    (KTH, [ROWS], [F, C, C, S], settings(-1), "k_max"),
    (SELECT, [ROWS[0]], [ROWS[0, :3], I[0], S], settings(3), "overlap")])
def test_errors(operation, arguments, results, given, words):
    code, message = call(operation, arguments, results, given)
    assert CODES[code] == "invalid argument" and words in message


def test_metadata():
    for operation in (SELECT, KTH):
        metadata = Metadata(ctypes.sizeof(Metadata), Version(ctypes.sizeof(Version)), 9)
        extension = Extension(ctypes.sizeof(Extension), 1, None, ctypes.pointer(metadata))
        frame = Call(ctypes.sizeof(Call), ctypes.addressof(extension))
        assert not handler(operation)(ctypes.byref(frame))
        assert (metadata.version.major, metadata.version.minor, metadata.traits) == (0, 3, 1 if ON_GPU else 0)


def test_stages():
    """Before a program runs, a handler makes its context and touches nothing."""
    xla = Xla()
    values, indices = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int32)
    assert call(SELECT, [ROWS], [values, indices, S], settings(3), xla, INITIALIZE) is None
    assert xla.asked == (["device"] if ON_GPU else []) and not values.any()
    assert call(SELECT, [ROWS], [values, indices, S], settings(3), xla) is None
    assert xla.asked == (["device", "device", "stream"] if ON_GPU else []) and values.all()


@pytest.mark.skipif(not ON_GPU, reason="XLA has devices and streams on a GPU")
def test_devices_and_streams():
    for device, code in ((64, "unimplemented"), (-1, "unimplemented"), (63, "internal")):
        for stage in (INITIALIZE, EXECUTE):
            error = call(SELECT, [ROWS], [V, I, S], settings(3), Xla(device), stage)
            assert CODES[error[0]] == code and ("63" in error[1])
    assert call(KTH, [ROWS], [F, C, C, S], settings(3), Xla(has_stream=False)) == OF_XLA
    assert call(KTH, [ROWS], [F, C, C.copy(), S], settings(3), Xla()) is None


def test_python():
    for platform, operation in (("rocm", SELECT), ("cpu", 3), ("cuda", 3)):
        with pytest.raises(NotImplementedError, match=f"{platform} for operation {operation}"):
            _core.xla_handler(platform, operation)
    for device, operation, words in ((-1, 3, "cpu for operation 3"), (0, 3, "cuda for operation 3")):
        with pytest.raises(NotImplementedError, match=words):
            _core.xla_scratch(device, operation, F32, 1, 9, False, 3, 1, 0)
    for device in (-2, 64):
        with pytest.raises(ValueError, match=f"device {device}"):
            _core.xla_scratch(device, SELECT, F32, 1, 9, False, 3, 1, 0)
    with pytest.raises(RuntimeError):
        _core.xla_scratch(63, SELECT, F32, 1, 9, False, 3, 1, 0)
    with pytest.raises(OverflowError):
        _core.xla_scratch(DEVICE, SELECT, F32, 1, 2**31, False, 3, 1, 0)
    with pytest.raises(ValueError):
        _core.xla_scratch(DEVICE, SELECT, F32, -1, 5, False, 3, 1, 0)
