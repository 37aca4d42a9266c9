# SPDX-License-Identifier: Apache-2.0
"""From arrays of other libraries to those that the core knows, and back. Nothing is lost on the way: neither nulls nor
digits."""
import importlib
import re
import sys
import warnings

import numpy as np

from libtopk import _arrow, _core
from libtopk._kinds import is_old

# What from_dlpack() raises for arrays that it does not share; warnings are exceptions under `python -W error`.
_REFUSALS = BufferError, TypeError, RuntimeError, ValueError, Warning

_TIMES = re.compile("date|time|duration|decimal", re.IGNORECASE)  # at the beginning of the names of types

_EXACT = 2**53  # every integer below it is a float64

_KNOWN = "float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, and integers of 8 to 64 bits"


class _Giver:
    """Turns results into arrays of another library. Its namespace goes into a pickle by its name."""

    def __init__(self, namespace):
        self.namespace = namespace

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _giver_by_name, (self.namespace.__name__,)

    def __call__(self, array, most=None, is_written=False):
        """most: no integer in the array is greater; None: unknown. is_written: as if `most` were in the array."""
        given = self._give(array)
        width = _width_of(given)
        if width is None or width >= array.dtype.itemsize:
            return given
        are_integers = "int" in str(array.dtype)
        if are_integers and _fits(array, given, width, most, is_written):
            return given
        wide = self._give_wide(array)
        if wide is None and (are_integers or not _fits(array, given, width, None, False)):
            raise OverflowError(
                f"results of type {array.dtype} do not fit the narrower type that {self.namespace.__name__} makes of "
                "them: switch on its 64-bit types, as by jax.config.update('jax_enable_x64', True), or pass "
                "numpy.asarray(x)")
        return given if wide is None else wide

    def _give(self, array):
        try:
            return self.namespace.from_dlpack(array)
        except _REFUSALS:
            pass
        try:
            return self.namespace.asarray(array)
        except _REFUSALS:
            torch = sys.modules.get("torch")
            if torch is None or not isinstance(array, torch.Tensor) or array.element_size() != 1:
                raise
            return self.namespace.from_dlpack(array.view(torch.uint8)).view(str(array.dtype).removeprefix("torch."))

    def _give_wide(self, array):
        """As the type of that name, which a library may have and yet not choose by itself; or None."""
        name = str(array.dtype).removeprefix("torch.")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                given = self.namespace.asarray(array, dtype=getattr(self.namespace, name))
        except (AttributeError, *_REFUSALS):
            return None
        return given if _width_of(given) == array.dtype.itemsize else None


def _width_of(array):
    """The bytes of an element, by either name that libraries have for them; or None."""
    dtype = getattr(array, "dtype", None)
    width = getattr(dtype, "itemsize", getattr(dtype, "size", None))
    return width if isinstance(width, int) else None


def _fits(array, given, width, most, is_written):
    """Whether `given`, of `width` bytes an element, holds what the array holds."""
    if most is not None and (is_written or most < 2**(8 * width - 1)):
        return most < 2**(8 * width - 1)
    numbers = _as_numpy(array)
    return np.array_equal(np.asarray(given), numbers, equal_nan=numbers.dtype.kind == "f")


def _giver_by_name(name):
    return _Giver(importlib.import_module(name))


def _as_numpy(array):
    return array.get() if hasattr(array, "get") else array.cpu().numpy() if hasattr(array, "cpu") else array


def _name_of(array):
    return array.name if isinstance(array, _arrow.Column) else f"{type(array).__module__}.{type(array).__qualname__}"


class Nulls(TypeError):
    """Tells of a column that has nulls. libtopk._nulls leaves them out, where an operation can."""

    column = None
    parts = None  # (numbers, validity bits) of a column that came by Arrow's interface


def _refuse_nulls(array, column=None, parts=None):
    error = Nulls(
        f"a {_name_of(array)} with nulls, which are no numbers: drop or fill them first, by what its library calls "
        "drop_null, drop_nulls or dropna, fill_null or fillna; mask= leaves out the filled, where a predicate goes")
    error.column, error.parts = column, parts
    raise error


def refuse_type(name, dtype):
    """TypeError for an array of a type that libtopk does not know, with what its bits may be meant as."""
    kind, itemsize = getattr(dtype, "kind", ""), getattr(dtype, "itemsize", 0)
    hint = ""
    if str(dtype) in ("|V1", "|V2"):  # what numpy.save() and numpy.load() leave of ml_dtypes' types
        hint = f": if it is meant, x.view(ml_dtypes.{'bfloat16' if itemsize == 2 else 'float8_e4m3fn'}) has its type"
    elif kind in ("m", "M"):
        hint = ": x.view('int64') ranks by time, and NaT below all"
    raise TypeError(f"{name} is of type {dtype}{hint}; libtopk knows {_KNOWN}")


def check_subclass(array):
    """Refuses an array of a subclass of numpy's whose memory does not say all."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("a masked array, whose mask would be ignored: pass x.data, and where a predicate goes "
                        "mask=~numpy.ma.getmaskarray(x)")
    mask = getattr(array, "mask", None)
    if isinstance(mask, np.ndarray) and mask.dtype == bool:
        raise TypeError(f"a {_name_of(array)}, whose mask would be ignored: pass its data, and where a predicate goes "
                        "mask=~x.mask")


def _columns_of(array):
    """The columns of a table of pandas, polars or pyarrow; None for all else."""
    if hasattr(array, "iloc") and len(getattr(array, "shape", ())) == 2:
        return [array.iloc[:, i] for i in range(array.shape[1])]
    if hasattr(array, "get_columns"):
        return array.get_columns()
    return array.columns if hasattr(array, "schema") and isinstance(getattr(array, "columns", None), list) else None


def _has_nulls(array):
    """Whether a column says that it has nulls. NaN is a number unless the column's type takes it for a null."""
    dtype = getattr(array, "dtype", None)
    while getattr(dtype, "inner", None) is not None:  # rows of polars, which counts nulls among rows alone
        array = array.explode()
        dtype = array.dtype
    count = getattr(array, "null_count", None)
    count = count() if callable(count) else count
    if isinstance(count, (int, np.integer)):
        return count > 0
    if isinstance(dtype, np.dtype) or not hasattr(array, "isna"):
        return False
    is_number = dtype.kind == "f" and isinstance(dtype.na_value, float) if hasattr(dtype, "na_value") else False
    return not is_number and bool(array.isna().any())


def check_nulls(array):
    """TypeError for an array or a table of another library that says it has nulls."""
    columns = _columns_of(array)
    if any(map(_has_nulls, [array] if columns is None else columns)):
        _refuse_nulls(array, array if columns is None else None)


def _is_of_integers(array):
    name = str(getattr(array, "dtype", None) or getattr(array, "type", "")).lower()
    return "int" in name and "float" not in name and "double" not in name


def _check_numbers(array, numbers, was_refused):
    """TypeError where floats that numpy has made of another library's array may hide nulls or have lost digits."""
    if _is_of_integers(array) and not (np.abs(numbers) < _EXACT).all():
        raise TypeError(f"integers of a {_name_of(array)}, which numpy makes floats that cannot hold them, or nulls "
                        "among them: pass columns one by one, without nulls")
    has_memory = hasattr(array, "__array_interface__") or hasattr(array, "__array_struct__")
    if was_refused and not has_memory and np.isnan(numbers).any():
        _refuse_nulls(array)


def _check_conversion(array, adopted, was_refused):
    if adopted.dtype not in (np.float16, np.float32, np.float64):
        return
    columns = _columns_of(array)
    for i, column in enumerate([array] if columns is None else columns):
        _check_numbers(column, adopted if columns is None else adopted[:, i], was_refused)


def _check_items(items, dims, are_odd):
    """TypeError for what numpy passes over in a list: masks, nulls, and integers that it rounds.

    dims     of the array that numpy has made of `items`
    are_odd  it has numbers that may come from those
    """
    if dims == 1 and not (are_odd and set(map(type, items)) - {float}):
        return
    for item in items if dims > 2 or are_odd else [item for item in items if not isinstance(item, (list, tuple))]:
        if isinstance(item, (list, tuple)):
            _check_items(item, dims - 1, are_odd)
        elif item is np.ma.masked or dims > 1:
            check_subclass(item)
            check_nulls(item)
            if are_odd and getattr(getattr(item, "dtype", None), "kind", "") in "iu":
                _check_numbers(item, np.asarray(item).astype(np.float64), False)
        elif isinstance(item, (int, np.integer)) and int(float(item)) != item:
            raise TypeError(f"{item}, among floats, is no float64: convert the list to one type first")


def _refuse_objects(array, adopted):
    if adopted.dtype == object:
        odd = next((type(item).__name__ for item in adopted.flat if not isinstance(item, (int, float))), None)
        if odd is None and adopted.size:
            raise OverflowError(f"an array of numbers is needed, and {_name_of(array)} holds integers beyond 64 bits")
        raise TypeError(f"an array of numbers is needed, and {_name_of(array)} makes one of objects ({odd}): convert "
                        "them to numbers first, as by astype('float64')")


def _adopt_list(items):
    adopted = np.asarray(items)
    _refuse_objects(items, adopted)
    _check_items(items, adopted.ndim, adopted.dtype.kind == "f" and not (np.abs(adopted) < _EXACT).all())
    return adopted


def _is_masked(array, protocol):
    """Whether the array interface of an array names a mask, which consumers ignore or refuse."""
    interface = getattr(array, protocol, None)
    return isinstance(interface, dict) and interface.get("mask") is not None


class _Bits:
    """Elements of 8 or 16 bits of a type that numpy's DLPack lacks, exported as unsigned integers. `dtype` is the name
    of their type, once they have been exported."""

    def __init__(self, array):
        self.array, self.dtype = array, None

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        capsule = self.array.__dlpack__(**options)
        self.dtype = _core.as_bits(capsule)
        return capsule


def _adopt_bits(array):
    """An array of bfloat16 or 8-bit floats, as one of ml_dtypes' types; None if it is none."""
    bits = _Bits(array)
    try:
        adopted = np.from_dlpack(bits)
    except _REFUSALS:
        return None
    if bits.dtype is None:
        return None
    try:
        return adopted.view(getattr(importlib.import_module("ml_dtypes"), bits.dtype))
    except ImportError:
        raise TypeError(f"an array of type {bits.dtype}, for which numpy needs the package ml_dtypes") from None


def _import(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _adopt_from_gpu(array):
    """An array of another library on a GPU: through cupy or torch, whichever is there and knows its type."""
    cupy, torch = _import("cupy"), _import("torch")
    if cupy is None and torch is None:
        raise TypeError("an array on a GPU of a library other than torch and cupy needs one of these two, "
                        "and neither can be imported")
    if not hasattr(array, "__dlpack__"):
        return cupy.asarray(array) if cupy is not None else torch.as_tensor(array, device="cuda")
    for module in (cupy, torch):
        try:
            if module is not None:
                return module.from_dlpack(array)
        except _REFUSALS:
            pass
    name = str(getattr(array, "dtype", "unknown"))
    if name not in ("float8_e4m3fn", "float8_e5m2"):
        raise TypeError(f"x is of type {name}, which neither cupy nor torch takes over from a {_name_of(array)} on a "
                        f"GPU; libtopk knows {_KNOWN}")
    try:
        return torch.from_dlpack(array.view("uint8")).view(getattr(torch, name))
    except (AttributeError, *_REFUSALS):
        raise TypeError(f"a {_name_of(array)} of type {name} on a GPU, which neither cupy nor torch takes over: pass a "
                        f"tensor, torch.from_dlpack(x.view('uint8')).view(torch.{name})") from None


def _adopt_from_cpu(array):
    was_refused = False
    if hasattr(array, "__dlpack__"):
        try:
            return np.from_dlpack(array)
        except _REFUSALS:
            was_refused = True
        bits = _adopt_bits(array)
        if bits is not None:
            return bits
    adopted = np.asanyarray(array)
    _refuse_objects(array, adopted)
    check_subclass(adopted)
    _check_conversion(array, adopted, was_refused)
    return np.asarray(adopted)


def held(array):
    """The same elements, to be adopted any number of times: a stream of Arrow's gives them once."""
    return _arrow.column_of(array) if _arrow.is_offered(array) else array


def _column_of_times(array):
    """A column of dates, times, durations or decimals of pyarrow, polars or pandas as its integers; None for all else."""
    dtype = getattr(array, "dtype", None)
    dtype = getattr(array, "type", None) if dtype is None else dtype
    if not _TIMES.match(str(dtype)):
        return None
    inner = getattr(array, "array", array)  # of a Series or an Index of pandas
    if hasattr(inner, "__arrow_array__"):
        inner = inner.__arrow_array__()
    if hasattr(inner, "__arrow_c_array__") or hasattr(inner, "__arrow_c_stream__"):
        return _arrow.column_of(inner, _name_of(array))
    if getattr(inner, "tz", None) is not None:
        inner = inner.tz_convert(None)
    times = np.asarray(inner) if getattr(dtype, "kind", "") in ("m", "M") else None
    if times is None or times.dtype.kind not in "mM" or times.ndim != 1:
        return None
    numbers = np.ascontiguousarray(times, times.dtype.newbyteorder("=")).view(np.int64)
    valid = ~np.isnat(times)
    return _arrow.Column(_name_of(array), numbers, None if valid.all() else valid)


def _adopt_column(array, column):
    if column.valid is not None:
        _refuse_nulls(array, array, (column.numbers, np.packbits(column.valid, bitorder="little")))
    return column.numbers


def _refuse_old_torch(array):
    torch = sys.modules.get("torch")
    if type(array).__module__.startswith("torch") and hasattr(torch, "__version__") and is_old(torch):
        raise ImportError(f"libtopk needs torch 2.0 or later, and this is torch {torch.__version__}")


def adopt(array):
    """(an array of numpy, torch or cupy with the same elements, what turns a result into the caller's kind or None).

    Memory is shared wherever the other library lets it be.
    """
    if isinstance(array, (list, tuple)):
        return _adopt_list(array), None
    _refuse_old_torch(array)
    column = held(array)
    column = column if isinstance(column, _arrow.Column) else _column_of_times(array)
    if column is not None:
        return _adopt_column(array, column), None
    check_nulls(array)
    if _is_masked(array, "__array_interface__") or _is_masked(array, "__cuda_array_interface__"):
        raise TypeError(f"a {_name_of(array)} with a mask, which would be ignored: pass its data, and where a "
                        "predicate goes mask=")
    namespace = array.__array_namespace__() if hasattr(array, "__array_namespace__") else None
    give = None if namespace in (None, np) else _Giver(namespace)
    if hasattr(array, "__dlpack_device__"):
        on_gpu = array.__dlpack_device__()[0] == 2
    else:
        on_gpu = hasattr(array, "__cuda_array_interface__")
    return _adopt_from_gpu(array) if on_gpu else _adopt_from_cpu(array), give
