# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries lose neither nulls nor digits on the way, in either direction. The classes here behave as
those libraries do; with_packages/ has the libraries themselves."""
import ctypes
import importlib
import sys
import warnings

import numpy as np
import pytest

from libtopk import _adopt

from backend import Accumulator, count, kth, topk, where
from oracle import all_same, same

GREAT = 2**53 + 1
NUMBERS = np.array([2**53, GREAT, 5])
FLOATS = np.array([2.0**53, np.nan])


def is_second():
    return np.array([False, True])


class Convertible:
    """What numpy can read, and what it says of itself."""

    def __init__(self, array, **attributes):
        self.array = array
        vars(self).update(attributes)

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __len__(self):
        return len(self.array)

    def __getitem__(self, which):
        return self.array[which]


class Refusing(Convertible):
    """DLPack refuses it for its nulls."""

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        raise TypeError("no nulls, please")


class Dtype:
    def __init__(self, name, kind="", na_value=None, **attributes):
        self.name, self.kind, self.na_value = name, kind, na_value
        vars(self).update(attributes)

    def __str__(self):
        return self.name


class Frame(Convertible):
    """A table, whose columns are found as pandas' are."""

    def __init__(self, array, columns):
        super().__init__(array)
        self.shape, self.iloc = array.shape, self
        self.columns = columns

    def __getitem__(self, which):
        return self.columns[which[1]]


class Rows(Convertible):
    """Rows of polars, which counts nulls of whole rows."""
    dtype = Dtype("Array", inner=Dtype("Float64"))
    null_count = staticmethod(lambda: 0)

    def explode(self):
        return Convertible(self.array.ravel(), null_count=lambda: 1, dtype=Dtype("Float64"))


def null_column():
    return Convertible(FLOATS, null_count=1)


class Masked(np.ndarray):
    """As astropy's."""


def masked():
    array = np.array([1.0, 2.0]).view(Masked)
    array.mask = np.array([False, True])
    return array


class Interface:
    def __init__(self, mask):
        self.array = np.arange(3.0)
        self.__array_interface__ = {**self.array.__array_interface__, "mask": mask}


WITH_NULLS = {
    "pyarrow": Refusing(FLOATS, null_count=1), "refused, and no more is known": Refusing(FLOATS),
    "chunks": null_column(), "polars": Convertible(FLOATS, null_count=lambda: 1),
    "floats of polars": Convertible(np.array([1.0, np.nan]), null_count=lambda: 1, dtype=Dtype("Float64")),
    "rows of polars": Rows(np.array([[1.0, np.nan]])),
    "pandas": Convertible(FLOATS, dtype=Dtype("Int64"), isna=is_second),
    "floats of pandas": Convertible(FLOATS, dtype=Dtype("Float64", "f", object()), isna=is_second),
    "categories": Convertible(FLOATS, dtype=Dtype("category", "O", np.nan), isna=is_second),
    "no count": Convertible(FLOATS, dtype=Dtype("dictionary<values=int64>")),
    "truth values": Convertible(np.array([True, None]), null_count=1),
    "table of pandas": Frame(np.ones((2, 2)), [Convertible(np.ones(2), null_count=0), null_column()]),
    "table of polars": Convertible(np.ones((2, 1)), get_columns=lambda: [null_column()]),
    "table of pyarrow": Convertible(np.ones((2, 1)), schema=None, columns=[null_column()]),
    "list of columns": [null_column(), null_column()],
    "masked": np.ma.masked_array([1, 2], [0, 1]), "masked later": Convertible(np.ma.masked_array([1, 2], [0, 1])),
    "list of masked": [np.ma.masked_array([1, 2], [0, 1])], "nested": [[np.ma.masked_array([1, 2], [0, 1])]],
    "mask of another library": masked(), "mask of the interface": Interface(np.array([True, False, True])),
}


@pytest.mark.parametrize("x", WITH_NULLS.values(), ids=WITH_NULLS)
def test_nulls_are_refused(x):
    for call in (lambda: topk(x, 1), lambda: kth(x, 1), lambda: where(x, gt=0), lambda: Accumulator(1).push(x),
                 lambda: topk(np.ones((2, 2)), 1, lengths=x), lambda: count(np.ones(2), mask=x)):
        with pytest.raises(TypeError, match="nulls|mask"):
            call()


def test_a_masked_number_in_a_list_is_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TypeError, match="mask"):
            topk([1.0, np.ma.masked], 1)


@pytest.mark.parametrize("x", [
    Refusing(NUMBERS, null_count=0), Refusing(NUMBERS), Convertible(NUMBERS, null_count=0),
    Convertible(NUMBERS, null_count=lambda: 0),
    Convertible(NUMBERS, dtype=Dtype("Int64"), isna=lambda: np.zeros(3, bool)),
    Frame(NUMBERS.reshape(1, 3), [Convertible(NUMBERS[i:i + 1], null_count=0) for i in range(3)]), Interface(None),
    Convertible(NUMBERS, null_count=None), NUMBERS.tolist()], ids=repr)
def test_without_nulls_integers_are_exact(x):
    wanted = topk(np.asarray(x), 2)
    assert all_same(topk(x, 2), wanted) and all_same(kth(x, 2), kth(np.asarray(x), 2))


@pytest.mark.parametrize("x", [
    Convertible(FLOATS), Convertible(FLOATS, dtype=FLOATS.dtype, isna=is_second),
    Convertible(FLOATS, dtype=Dtype("Sparse[float64, nan]", "f", np.nan), isna=is_second),
    Convertible(FLOATS, dtype=Dtype("Float64"), null_count=lambda: 0), FLOATS.tolist()], ids=repr)
def test_nan_is_a_number_where_it_is_no_null(x):
    assert all_same(topk(x, 1), topk(FLOATS, 1))


ROUNDED = {
    "integers among floats": [GREAT, 0.5], "negative": [-GREAT, 0.5], "nested": [[GREAT, 1], [0.5, 2]],
    "numpy's": [np.int64(GREAT), 0.5], "columns": [NUMBERS, np.ones(3)],
    "table": Frame(np.array([[2.0**53, 0.5]]), [Convertible(NUMBERS[:1], dtype=np.dtype(np.int64)),
                                                 Convertible(np.array([0.5]), dtype=np.dtype(float))]),
}


@pytest.mark.parametrize("x", ROUNDED.values(), ids=ROUNDED)
def test_integers_are_not_rounded(x):
    with pytest.raises(TypeError, match="float"):
        topk(x, 1)


@pytest.mark.parametrize("x", [[2**53 - 1, 0.5], [1, 1e300], [2**60, 0.5], [float(GREAT), np.inf], [[3, 1], [0.5, 2]],
                               Frame(np.array([[7.0, 0.5]]), [Convertible(np.array([7]), dtype=np.dtype(np.int64)),
                                                              Convertible(np.array([0.5]))])], ids=repr)
def test_integers_that_are_floats_may_be_among_floats(x):
    assert all_same(topk(x, 1), topk(np.asarray(x), 1))


@pytest.mark.parametrize("x, word", [
    (Convertible(np.array([None, 2])), "objects .NoneType"), ([1, None], "objects .NoneType"), ("a", "type"),
    (np.zeros(3, "V2"), r"\|V2.*view.ml_dtypes.bfloat16"), (np.zeros(3, "V1"), "view.ml_dtypes.float8_e4m3fn"),
    (np.zeros(3, "M8[s]"), "int64")])
def test_other_arrays_are_refused_with_a_way_out(x, word):
    with pytest.raises(TypeError, match=word):
        topk(x, 1)


class Warning1(Convertible):
    """DLPack of this library warns unless it is told a version, which numpy 1 does not tell."""

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, max_version=None, **options):
        warnings.warn("pass max_version", DeprecationWarning)
        return self.array.__dlpack__()


def test_warnings_of_other_libraries_are_no_failures():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all_same(topk(Warning1(NUMBERS), 2), topk(NUMBERS, 2))


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("dims", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32 * 2), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


class Tensor:
    """An array of a library that has DLPack and nothing else, of any type of DLPack."""

    def __init__(self, bits, code, is_versioned=False):
        self.bits, self.code, self.is_versioned = bits, code, is_versioned
        self.shape = (ctypes.c_int64 * 1)(bits.size)
        self.exported = []

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, max_version=None, **options):
        is_versioned = self.is_versioned and max_version is not None
        managed = Versioned() if is_versioned else Managed()
        if is_versioned:
            managed.version[0] = 1
        managed.tensor = DLTensor(self.bits.ctypes.data, (1, 0), 1, self.code, 8 * self.bits.itemsize, 1, self.shape)
        self.exported.append(managed)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return make(ctypes.addressof(managed), b"dltensor_versioned" if is_versioned else b"dltensor", None)


TYPES = {"bfloat16": (4, np.array([0x3f80, 0x4040, 0x4000], np.uint16)),
         "float8_e4m3fn": (10, np.array([0x38, 0x44, 0x40], np.uint8)),
         "float8_e5m2": (12, np.array([0x3c, 0x42, 0x40], np.uint8))}


@pytest.mark.parametrize("is_versioned", [False, True])
@pytest.mark.parametrize("name", TYPES)
def test_dlpack_of_types_that_numpy_lacks(name, is_versioned):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    code, bits = TYPES[name]
    x = Tensor(bits, code, is_versioned)
    for _ in range(2):
        values, indices = topk(x, 2)
        assert same(indices, np.array([1, 2])) and values.dtype == getattr(ml_dtypes, name)
        assert values.astype(float).tolist() == [3, 2]
    assert kth(x, 3).kth == 1


@pytest.mark.parametrize("name", TYPES)
def test_types_that_numpy_lacks_share_memory(name, monkeypatch):
    """Positive floats rank as their bits do, so integers do for the types of ml_dtypes, which may be missing."""
    code, bits = TYPES[name]
    monkeypatch.setitem(sys.modules, "ml_dtypes", type(sys)("ml_dtypes"))
    setattr(sys.modules["ml_dtypes"], name, bits.dtype)
    bits = bits.copy()
    x = Tensor(bits, code)
    assert topk(x, 1).indices.tolist() == [1]
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(TypeError, match=f"type {name}.*package ml_dtypes"):
        topk(x, 1)


@pytest.mark.parametrize("code", [7, 8, 9, 11, 13, 14, 3, 5])
def test_other_types_of_dlpack_are_refused(code):
    with pytest.raises(TypeError, match="objects|type"):
        topk(Tensor(np.zeros(3, np.uint8), code), 1)


class Narrow:
    """An array of a library whose integers have 32 bits and whose floats have as many, as JAX's by default."""

    def __init__(self, array, keeps=()):
        narrow = {"int64": np.int32, "uint64": np.uint32, "float64": np.float32}
        self.array = array.astype(narrow.get(array.dtype.name, array.dtype))
        self.dtype = self.array.dtype

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __array_namespace__(self):
        return NarrowNamespace


class NarrowNamespace:
    asarray = from_dlpack = staticmethod(Narrow)


class Wide(Narrow):
    """Its type may be given by name, as MLX's may."""

    def __init__(self, array, dtype=None):
        self.array, self.dtype = array, np.dtype(array.dtype if dtype else np.float32)

    def __array_namespace__(self):
        return WideNamespace


class WideNamespace:
    float64, asarray, from_dlpack = np.float64, staticmethod(Wide), staticmethod(Wide)


X = np.arange(5, dtype=np.float32)
TOO_GREAT = {
    "all": {"index_base": 2**33}, "one": {"index_base": 2**31 - 2},
    "the last, which is none": {"index_base": 2**31 - 4},
    "payload": {"indices": np.arange(5) + 2**31}, "negative payload": {"indices": np.arange(5) - 2**31 - 5},
}


@pytest.mark.parametrize("options", TOO_GREAT.values(), ids=TOO_GREAT)
def test_positions_do_not_wrap_in_other_libraries(options):
    for call in (lambda: topk(Narrow(X), 2, largest=False, **options), lambda: where(Narrow(X), le=1, **options)):
        with pytest.raises(OverflowError, match="int64 do not fit.*enable_x64.*numpy.asarray"):
            call()
    stream = Accumulator(2, largest=False, index_base=options.get("index_base", 0))
    stream.push(Narrow(X), indices=options.get("indices"))
    with pytest.raises(OverflowError, match="int64 do not fit"):
        stream.peek()


def test_positions_that_fit_come_back():
    results = topk(Narrow(X), 2, index_base=2**31 - 5)
    assert results.indices.array.tolist() == [2**31 - 1, 2**31 - 2] and results.indices.dtype == np.int32
    payload = np.array([-2**31, 0, 0, 0, 2**31 - 1])
    assert topk(Narrow(X), 5, indices=payload, index_base=2**40).indices.array.tolist() == [2**31 - 1, 0, 0, 0, -2**31]
    assert topk(Narrow(X), 7).indices.array.tolist()[5:] == [-1, -1]
    assert kth(Narrow(X), 2, ).better.array == 1 and where(Narrow(X), gt=2).offsets.array.tolist() == [0, 2]
    with pytest.raises(OverflowError, match="index_dtype|INDEX_TOO_NARROW|int64"):
        topk(Narrow(X), 2, index_base=2**31, index_dtype="int32")


class Doubles(Narrow):
    def __init__(self, array):
        self.array = array


def test_values_do_not_lose_digits_in_other_libraries():
    third = Doubles(np.array([1 / 3, 2.0, np.nan]))
    assert topk(third, 2).values.array.tolist()[1] == 2
    with pytest.raises(OverflowError, match="float64 do not fit"):
        topk(third, 3)
    with pytest.raises(OverflowError, match="int64 do not fit"):
        topk(Doubles(NUMBERS), 1)


def test_a_library_is_asked_for_the_type_by_name():
    third = Wide(np.array([1 / 3, 2.0]), np.float64)
    values = topk(third, 2).values
    assert values.dtype == np.float64 and values.array.tolist() == [2, 1 / 3]


class OnGpu:
    """An array on a GPU, which other libraries take over as they can."""

    def __init__(self, dtype):
        self.dtype = dtype

    def view(self, dtype):
        return OnGpu(dtype)

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **options):
        raise AssertionError("the libraries here do not ask")


class FakeTensor(str):
    view = str.__add__


def library(*types):
    """One that takes over arrays of those types alone."""
    def from_dlpack(array):
        if array.dtype not in types:
            raise BufferError(f"no {array.dtype}")
        return FakeTensor(array.dtype)
    module = type(sys)("library")
    module.from_dlpack, module.float8_e5m2 = from_dlpack, " as float8_e5m2"
    return module


@pytest.mark.parametrize("cupy, torch, dtype, adopted", [
    (library("float32"), None, "float32", "float32"), (None, library("float32"), "float32", "float32"),
    (library("float32"), library("bfloat16"), "bfloat16", "bfloat16"),
    (library("float32"), library("uint8"), "float8_e5m2", "uint8 as float8_e5m2"),
    (library(), library("uint8"), "int4", None), (library("float32"), None, "float8_e5m2", None),
    (library("uint8"), library(), "float8_e5m2", None), (None, None, "float32", None)])
def test_an_array_on_a_gpu_is_taken_over_by_whichever_library_can(monkeypatch, cupy, torch, dtype, adopted):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "torch", torch)
    if adopted is not None:
        assert _adopt.adopt(OnGpu(dtype)) == (adopted, None)
        return
    with pytest.raises(TypeError, match=f"of type {dtype}.* on a GPU|neither can be imported"):
        _adopt.adopt(OnGpu(dtype))


def test_a_table_of_c_is_an_array():
    assert all_same(topk((ctypes.c_float * 3)(2, 3, 1), 2), topk(np.array([2, 3, 1], np.float32), 2))
    x = ((ctypes.c_int64 * 2) * 2)((GREAT, 1), (2, 2**53))
    assert all_same(topk(x, 1), topk(np.array([[GREAT, 1], [2, 2**53]]), 1))


class CopiedEachTime:
    """What numpy reads as a view of a copy."""

    def __init__(self):
        self.array = np.zeros((2, 2))

    def __array__(self, dtype=None, copy=None):
        return self.array.copy().T


def test_nothing_is_written_to_a_copy_of_what_is_given():
    out = CopiedEachTime()
    with pytest.raises(TypeError, match="out: values is no array with memory of its own"):
        topk(np.ones((2, 3)), 2, out=(out, None))
    assert not out.array.any()


def test_an_old_torch_is_refused_by_name(monkeypatch):
    torch = type(sys)("torch")
    torch.__version__, torch.Tensor = "1.13.1+cu117", type("Tensor", (Convertible,), {"__module__": "torch"})
    if getattr(sys.modules.get("torch"), "__file__", None):
        pytest.skip("torch has been imported")
    monkeypatch.setitem(sys.modules, "torch", torch)
    with pytest.raises(ImportError, match="libtopk needs torch 2.0 or later, and this is torch 1.13.1"):
        topk(torch.Tensor(NUMBERS), 1)
    assert all_same(topk(NUMBERS.tolist(), 1), topk(NUMBERS, 1))


def test_the_operators_of_torch_say_what_they_need(monkeypatch):
    """A torch that lacks what libtopk.torch registers."""
    torch = type(sys)("torch")
    torch.__path__, torch.__version__ = [], "2.4.1"
    for name in ("autograd", "library"):
        setattr(torch, name, type(sys)("torch." + name))
        monkeypatch.setitem(sys.modules, "torch." + name, getattr(torch, name))
    torch.autograd.forward_ad = None
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delitem(sys.modules, "libtopk._torch_operator", raising=False)
    with pytest.raises(ImportError, match="libtopk.torch needs torch 2.5 or later, and this is torch 2.4.1"):
        importlib.import_module("libtopk._torch_operator")
