# SPDX-License-Identifier: Apache-2.0
"""libtopk for JAX: jax.lax.top_k at libtopk's speed, positions alone, and the k-th element, in compiled programs.

    from libtopk.jax import argtopk, kth, top_k

    values, indices = jax.jit(top_k, static_argnums=1)(x, 10)

The functions work under jit, vmap, grad, jvp and shard_map, and in sharded programs. XLA calls the C library through its
foreign function interface and gives it the workspace: nothing is allocated, and nothing is copied to numpy and back.

Order. Elements rank by value; -0.0 equals +0.0. Among equal elements the one at the lowest position is chosen, and comes
first. All NaN equal each other and rank above +infinity, whatever their sign; nan="last" puts them behind all numbers, for
the largest and for the smallest. (jax.lax.top_k puts NaN with a sign, as 0/0 has on x86, behind -infinity, and +0.0 before
-0.0.) Denormals keep their ranks, where comparisons by XLA on a CPU take them for zero.

Types are float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, and integers of 8 to 64 bits. Others raise
TypeError. k and the shape must be known when a program is traced; symbolic shapes raise NotImplementedError.

Indices are int32. For rows beyond 2^31 - 1 elements, or with index_dtype="int64", they are int64 where jax_enable_x64 is
on; else the call raises OverflowError.

Gradients. A chosen element receives the gradient of its result, every other element zero. For kth() it is the first element
that ties with the k-th. Indices and counts have no gradient.

Sharding. Dimensions other than `axis` keep their sharding, and nothing is sent for them. Where `axis` is sharded, top_k()
and argtopk() select on each device from its shard, gather each shard's k best elements and their positions, and replicate
the results along it. kth() gathers the rows, and so does every function where the shards of a row differ in length, and
the gradient where the mesh has explicit axes. In shard_map() functions see their shard alone, as all of JAX do; it must be
over all axes of the mesh, else NotImplementedError.

Axes. XLA gives the library rows along the last dimension: for another axis it transposes the operand, and the results.

Devices. CPUs and GPUs of CUDA are served; for others lowering raises NotImplementedError. On a GPU a call is enqueued on XLA's
stream, and XLA may capture it in its command buffers. A program for CUDA is compiled where there is such a GPU, since that
says how much workspace it takes; else lowering raises RuntimeError, as it does if the library has no CUDA backend. All GPUs
of a process have a context each, which is made when a program is compiled for its kind or first runs there.

Threads. All programs on the CPU share one context of the library. It starts when the first program is compiled or runs, with as many
threads as any context: OMP_NUM_THREADS, else the processors that the process may use. XLA calls the library from threads of
its own, several at a time; that is safe. The context's threads then work for one call, and XLA's own thread alone does each
of the others.

Programs. jax.export takes these functions with the safety check disabled for the custom calls libtopk_select and
libtopk_kth. Programs whose results are TopK or Kth are written and read as they are. The process that reads or runs such a
program imports libtopk.jax first.

This module alone imports JAX, which is no dependency of libtopk. It needs JAX 0.10 and a jaxlib that serves version 0.3 of
its interface, else importing it raises ImportError. It is tested with JAX 0.10.2 and 0.11.2.
"""
from __future__ import annotations

import math
import os
import re
from functools import lru_cache, partial
from operator import index
from typing import Any, Literal

import jax
import jax.custom_batching
import jax.extend
import jax.numpy as jnp
import jaxlib
import numpy as np
from jax import Array, export, lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.interpreters import mlir
from jax.sharding import NamedSharding, PartitionSpec

from libtopk import _core
from libtopk._api import KTH, SELECT, Kth, TopK
from libtopk._kinds import NAMES

if jax.__version_info__ < (0, 10):
    raise ImportError(f"libtopk.jax needs JAX 0.10 or later, and this is JAX {jax.__version__}")


def _check_interface(folder):
    """Refuses a jaxlib of another interface before a handler is registered: if JAX has no backend yet, registering waits for
    it, and what XLA then refuses ends the start of that backend."""
    try:
        with open(os.path.join(folder, "xla/ffi/api/c_api.h"), encoding="utf-8") as file:
            numbers = dict(re.findall(r"^#define XLA_FFI_API_(MAJOR|MINOR) (\d+)", file.read(), re.MULTILINE))
    except OSError:
        return  # a jaxlib without its headers: XLA's own check remains
    major, minor = (int(numbers.get(name, -1)) for name in ("MAJOR", "MINOR"))
    if major != 0 or minor < 3:
        raise ImportError(f"libtopk.jax is for version 0.3 of XLA's interface, and jaxlib {jaxlib.__version__} has {major}."
                          f"{minor}")


_check_interface(jax.ffi.include_dir())

__all__ = ["argtopk", "kth", "top_k"]

_INT32_MAX = 2**31 - 1
_TARGETS = {SELECT: "libtopk_select", KTH: "libtopk_kth"}
_PLATFORMS = ("cpu", "cuda")  # each with handlers in the core
_ON_CPU = -1


def top_k(operand: Array, k: int, *, axis: int = -1, largest: bool = True, nan: Literal["largest", "last"] = "largest",
          index_dtype: Any = None) -> TopK:
    """The k largest or smallest elements along an axis, best first, and their positions: jax.lax.top_k.

    operand      an array of one dimension or more
    k            how many: 0 to the length of the axis, else ValueError
    axis         that rows lie along
    largest      False: the smallest
    nan          "largest": NaN ranks above infinity; "last": behind all numbers
    index_dtype  int32 or int64; None: int32, but for rows that are too long for it

    Returns TopK(values, indices), of the shape of operand with k in place of the length of the axis. The module's
    documentation has the order of ties, types, gradients and sharding.
    """
    operand, axis, settings = _read("top_k", operand, k, axis, largest, nan)
    settings["index_dtype"] = _index_dtype(index_dtype, operand.shape[axis])
    if axis == operand.ndim - 1:
        return TopK(*_function_of(SELECT, **settings)(operand))
    return TopK(*(jnp.moveaxis(result, -1, axis) for result in
                  _function_of(SELECT, **settings)(jnp.moveaxis(operand, axis, -1))))


def argtopk(operand: Array, k: int, *, axis: int = -1, largest: bool = True, nan: Literal["largest", "last"] = "largest",
            index_dtype: Any = None) -> Array:
    """The positions of what top_k() returns, alone."""
    return top_k(operand, k, axis=axis, largest=largest, nan=nan, index_dtype=index_dtype).indices


def kth(operand: Array, k: int, *, axis: int = -1, largest: bool = True, nan: Literal["largest", "last"] = "largest") -> Kth:
    """The k-th largest or smallest element along an axis, k from 1 on, how many rank above it, and how many tie with it.

    Parameters are those of top_k(); k is 1 to the length of the axis. Returns Kth(kth, better, equal), of the shape of
    operand without the axis; better and equal are int64 where jax_enable_x64 is on, else int32. kth is what all elements
    that tie with it have in common: +0.0 for both zeros, one quiet NaN for all NaN.
    """
    operand, axis, settings = _read("kth", operand, k, axis, largest, nan)
    if settings["k"] < 1:
        raise ValueError(f"kth: k is {k}, and counts from 1")
    length = operand.shape[axis]
    settings["index_dtype"] = _index_dtype("int64" if _has_64_bits() else None, length)
    return Kth(*_function_of(KTH, **settings)(jnp.moveaxis(operand, axis, -1)))


# ---- Arguments ----


def _read(name, operand, k, axis, largest, nan):
    """(operand as an array of JAX, the axis counted from 0, what the primitives take)"""
    operand = jnp.asarray(operand)
    if operand.dtype.name not in NAMES[1:]:
        raise TypeError(f"{name}: elements of type {operand.dtype} are not served")
    if operand.ndim == 0:
        raise TypeError(f"{name}: operand has no dimension to select along")
    if not all(isinstance(length, int) for length in operand.shape):
        raise NotImplementedError(f"{name}: the shape {operand.shape} is symbolic, and must be known")
    mesh = jax.sharding.get_abstract_mesh()
    if mesh.manual_axes and set(mesh.manual_axes) != set(mesh.axis_names):
        raise NotImplementedError(f"{name}: shard_map is over {mesh.manual_axes} alone, and must be over all axes of the "
                                  f"mesh: {mesh.axis_names}")
    if not -operand.ndim <= (axis := index(axis)) < operand.ndim:
        raise ValueError(f"{name}: axis is {axis}, and operand has {operand.ndim} dimensions")
    if not 0 <= (k := index(k)) <= operand.shape[axis]:
        raise ValueError(f"{name}: k is {k}, and operand has {operand.shape[axis]} elements along axis {axis}")
    if nan not in ("largest", "last"):
        raise ValueError(f"{name}: nan is {nan!r}, and can be 'largest' or 'last'")
    return operand, axis % operand.ndim, {"k": k, "largest": bool(largest), "nan_last": nan == "last"}


def _has_64_bits():
    return jax.dtypes.canonicalize_dtype(np.int64) == np.int64


def _index_dtype(asked, length):
    if asked is not None and np.dtype(asked).name not in ("int32", "int64"):
        raise TypeError(f"index_dtype is {asked!r}, and can be int32 or int64")
    dtype = np.dtype(asked or ("int32" if length <= _INT32_MAX else "int64"))
    if dtype == np.int64 and not _has_64_bits():
        raise OverflowError(f"positions in rows of {length} elements were to be int64, and JAX has no 64-bit types unless "
                            "jax_enable_x64 is on")
    if dtype == np.int32 and length > _INT32_MAX:
        raise OverflowError(f"positions in rows of {length} elements do not fit int32")
    return dtype


# ---- Primitives: calls of the library for the rows of one device ----


def _result_avals(operation, x, k, index_dtype, **_):
    lead = x.sharding.spec[:-1]
    shape, spec = ((*x.shape[:-1], k), (*lead, None)) if operation == SELECT else (x.shape[:-1], lead)
    first = x.update(shape=shape, weak_type=False, sharding=x.sharding.update(spec=spec))
    return [first, *[first.update(dtype=index_dtype)] * (1 if operation == SELECT else 2)]


def _devices(platform):
    """One device of each kind that a program may run on."""
    if platform == "cpu":
        return [_ON_CPU]
    try:
        return {device.device_kind: device.local_hardware_id for device in jax.local_devices(backend=platform)}.values()
    except RuntimeError:  # JAX has no such backend here
        return [0]


def _scratch(platform, *problem):
    try:
        return max(_core.xla_scratch(device, *problem) for device in _devices(platform))
    except RuntimeError as error:
        raise RuntimeError(f"a program with libtopk.jax for {platform} is compiled where the library finds such a device, "
                           f"which says how much workspace it takes: {error}") from error


def _call(operation, platform, x, k, largest, nan_last, index_dtype):
    """What a handler writes. The scratch is of the program's memory."""
    *lead, length = x.shape
    scratch = _scratch(platform, operation, NAMES.index(x.dtype.name), math.prod(lead), length, index_dtype == np.int64, k,
                       largest, nan_last)
    is_halved = operation == KTH and index_dtype == np.int32  # counts of 64 bits: both halves, the low one first
    shapes = [(*lead, k)] * 2 if operation == SELECT else [tuple(lead)] + [(*lead, 2) if is_halved else tuple(lead)] * 2
    results = [jax.ShapeDtypeStruct(shape, index_dtype if i else x.dtype) for i, shape in enumerate(shapes)]
    call = jax.ffi.ffi_call(_TARGETS[operation], [*results, jax.ShapeDtypeStruct((scratch,), np.uint8)])
    # Attributes that are equal are one to JAX, whatever their types, and a handler takes one type.
    results = call(x, k=np.int64(k), largest=np.int64(largest), nan_last=np.int64(nan_last))[:-1]
    return [lax.index_in_dim(each, 0, -1, keepdims=False) if i and is_halved else each for i, each in enumerate(results)]


def _no_handler(context, *_, **__):
    raise NotImplementedError("libtopk.jax serves CPUs and CUDA, and this program is for "
                              f"{', '.join(context.module_context.platforms)}")


def _register(target, handler, platform):
    """XLA asks the handler for its version, at once or when a backend starts, and refuses one that it does not serve."""
    try:
        jax.ffi.register_ffi_target(target, handler, platform=platform)
    except Exception as error:
        raise ImportError(f"libtopk.jax cannot be used with jaxlib {jaxlib.__version__}: {error}") from error


def _primitive(operation):
    primitive = jax.extend.core.Primitive(_TARGETS[operation])
    primitive.multiple_results = True
    primitive.def_abstract_eval(partial(_result_avals, operation))
    primitive.def_impl(lambda x, **settings: jax.jit(partial(primitive.bind, **settings))(x))
    mlir.register_lowering(primitive, _no_handler)
    for platform in _PLATFORMS:
        handler = _core.xla_handler(platform, operation)
        _register(_TARGETS[operation], handler if platform == "cpu" else {"initialize": handler, "execute": handler},
                  "CUDA" if platform == "cuda" else platform)
        mlir.register_lowering(primitive, mlir.lower_fun(partial(_call, operation, platform), multiple_results=True),
                               platform=platform)
    return primitive


_primitives = {operation: _primitive(operation) for operation in _TARGETS}

for _results in (TopK, Kth):  # by names that files of programs keep
    try:
        export.register_namedtuple_serialization(_results, serialized_name=f"libtopk.{_results.__name__}")
    except ValueError:
        pass  # the program has registered it, by a name of its own


# ---- Sharding ----


def _partition(operation, settings, mesh, arguments, results):
    """What each device does with its shard, and how shards lie: (mesh, function, of the results, of the arguments)."""
    shape, spec = arguments[0].shape, arguments[0].sharding.spec
    spec = (*spec, *[None] * (len(shape) - len(spec)))
    names = spec[-1] if isinstance(spec[-1], tuple) else () if spec[-1] is None else (spec[-1],)
    shards = math.prod(mesh.shape[name] for name in names)
    if operation == KTH or shape[-1] % shards:
        names = ()
    function = partial(_of_shards, settings, names) if names else partial(_primitives[operation].bind, **settings)
    of_results = NamedSharding(mesh, PartitionSpec(*spec[:-1]))

    def traced(x):  # by a thread of XLA's, which does not know the caller's jax.enable_x64()
        with jax.enable_x64(True):
            return function(x)
    return mesh, traced, (of_results,) * len(results), (NamedSharding(mesh, PartitionSpec(*spec[:-1], names or None)),)


def _of_shards(settings, names, x):
    """The best of all devices' candidates. These lie in the order of positions, so ties go to the lowest."""
    select = _primitives[SELECT].bind
    values, places = select(x, **{**settings, "k": min(settings["k"], x.shape[-1])})
    places += lax.axis_index(names).astype(places.dtype) * x.shape[-1]
    values, places = (lax.all_gather(part, names, axis=part.ndim - 1, tiled=True) for part in (values, places))
    best, at = select(values, **settings)
    return best, jnp.take_along_axis(places, at, -1)


def _sharding_rule(operation, mesh, types, _):
    lead = " ".join(f"r{d}" for d in range(len(types[0].shape) - 1))
    return f"{lead} n -> " + ", ".join([f"{lead} k"] * 2 if operation == SELECT else [lead] * 3)


# ---- Functions ----


@lru_cache(maxsize=4096)
def _function_of(operation, **settings):
    """A function of rows along the last dimension, which transforms know: derivatives, then vmap, then sharding."""
    @custom_partitioning
    def partitioned(x):
        return tuple(_primitives[operation].bind(x, **settings))

    partition = partial(_partition, operation, settings)
    partitioned.def_partition(partition, lambda *arguments: partition(*arguments)[2],
                              sharding_rule=partial(_sharding_rule, operation))

    @jax.custom_batching.custom_vmap
    def batched(x):
        return partitioned(x)

    @batched.def_vmap
    def _(size, is_batched, x):
        results = batched(x)
        return results, (True,) * len(results)

    def function(x):
        results = batched(lax.stop_gradient(x))
        if not jnp.issubdtype(x.dtype, jnp.floating):
            return results
        follow = _follow_chosen if operation == SELECT else _follow_kth
        return follow(x, *results[:2]), *results[1:]

    return jax.jit(function, inline=True)


# Results as functions of the elements that were chosen, for derivatives alone.


@jax.custom_jvp
def _follow_chosen(x, values, places):
    return values


@_follow_chosen.defjvp
def _(primals, tangents):
    return _follow_chosen(*primals), _chosen_of(tangents[0], primals[2])


@jax.custom_jvp
def _follow_kth(x, found, _):
    return found


@_follow_kth.defjvp
def _(primals, tangents):
    x, found, _ = primals
    return _follow_kth(*primals), _chosen_of(tangents[0], _place_of_kth(x, found))[..., 0]


def _chosen_of(tangent, places):
    sharding = jax.typeof(tangent).sharding
    if sharding.spec[-1] is not None:  # along an explicit axis of a mesh JAX does not gather by itself
        tangent = jax.sharding.reshard(tangent, sharding.update(spec=(*sharding.spec[:-1], None)))
    return jnp.take_along_axis(tangent, places, -1)


def _place_of_kth(x, found):
    """The first element that ties with the k-th."""
    equal = _ties_with(x, found[..., None]).astype(np.uint8)
    return _function_of(SELECT, k=1, largest=True, nan_last=False, index_dtype=_index_dtype(None, x.shape[-1]))(equal)[1]


def _ties_with(x, found):
    """By bits, since XLA on a CPU takes denormals for zero. So it does where bits are shifted or masked and compared with 0,
    which LLVM turns into a comparison of floats: compare them with whole words."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x == found
    word = np.dtype(f"uint{8 * x.dtype.itemsize}")
    bits, bits_of_found = (lax.bitcast_convert_type(each, word) for each in (x, found))
    minus_zero = word.type(1 << 8 * word.itemsize - 1)
    other_zero = jnp.where(bits_of_found == 0, minus_zero, bits_of_found)  # zeros are found as +0.0
    return (bits == bits_of_found) | (bits == other_zero) | (jnp.isnan(x) & jnp.isnan(found))
