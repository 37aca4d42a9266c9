# SPDX-License-Identifier: Apache-2.0
"""How libtopk.jax meets JAX: its interface's version and layouts, its import, programs for other machines."""
import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax")
from jax import export  # noqa: E402

import libtopk.jax as ours  # noqa: E402
import rows  # noqa: E402

SOURCE = pathlib.Path(__file__).parents[3] / "python" / "src"
SAFE = [export.DisabledSafetyCheck.custom_call("libtopk_select"), export.DisabledSafetyCheck.custom_call("libtopk_kth")]

# Of xla.h, of jaxlib's header, and their fields in the order of xla.h.
LAYOUTS = [
    ("xla_extension", "XLA_FFI_InternalExtension", "struct_size type next"),
    ("xla_version", "XLA_FFI_Api_Version", "struct_size extensions major minor"),
    ("xla_metadata", "XLA_FFI_Metadata", "struct_size version traits"),
    ("xla_metadata_extension", "XLA_FFI_Metadata_Extension", "base metadata"),
    ("xla_error_arguments", "XLA_FFI_Error_Create_Args", "struct_size extensions message code"),
    ("xla_api", "XLA_FFI_Api", "struct_size extensions version internal error_create stream_get device_get"),
    ("xla_stream_arguments", "XLA_FFI_Stream_Get_Args", "struct_size extensions context stream"),
    ("xla_device_arguments", "XLA_FFI_DeviceOrdinal_Get_Args", "struct_size extensions context device"),
    ("xla_buffer", "XLA_FFI_Buffer", "struct_size extensions type data rank dims"),
    ("xla_buffers", "XLA_FFI_Args", "struct_size extensions count kinds items"),
    ("xla_buffers", "XLA_FFI_Rets", "struct_size extensions count kinds rets"),
    ("xla_text", "XLA_FFI_ByteSpan", "start length"),
    ("xla_scalar", "XLA_FFI_Scalar", "type value"),
    ("xla_attributes", "XLA_FFI_Attrs", "struct_size extensions count kinds names attributes"),
    ("xla_call", "XLA_FFI_CallFrame", "struct_size extensions api context stage arguments results attributes"),
]
THEIRS = {"extensions": "extension_start", "version": "api_version", "major": "major_version", "minor": "minor_version",
          "base": "extension_base", "code": "errc", "internal": "internal_api", "error_create": "XLA_FFI_Error_Create",
          "stream_get": "XLA_FFI_Stream_Get", "device_get": "XLA_FFI_DeviceOrdinal_Get", "device": "device_ordinal",
          "kinds": "types", "count": "size", "start": "ptr", "length": "len", "context": "ctx"}
IN_STRUCT = {"type": "dtype", "items": "args", "attributes": "attrs", "arguments": "args", "results": "rets"}
NUMBERS = {"XLA_MAJOR": "XLA_FFI_API_MAJOR", "XLA_MINOR": "XLA_FFI_API_MINOR", "XLA_BUFFER": "XLA_FFI_ArgType_BUFFER",
           "XLA_SCALAR": "XLA_FFI_AttrType_SCALAR", "XLA_EXECUTE": "XLA_FFI_ExecutionStage_EXECUTE",
           "XLA_CAN_BE_CAPTURED": "XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE",
           "XLA_EXTENSION_METADATA": "XLA_FFI_Extension_Metadata",
           "XLA_F8_E4M3FN": "XLA_FFI_DataType_F8E4M3FN", "XLA_F8_E5M2": "XLA_FFI_DataType_F8E5M2"}
NUMBERS |= {f"XLA_{name}": f"XLA_FFI_DataType_{name}" for name in
            "S8 S16 S32 S64 U8 U16 U32 U64 F16 F32 F64 BF16".split()}
NUMBERS |= {f"XLA_{name}": f"XLA_FFI_Error_Code_{name}" for name in
            "INVALID_ARGUMENT RESOURCE_EXHAUSTED UNIMPLEMENTED INTERNAL".split()}


def checks():
    for mine, theirs, fields in LAYOUTS:
        for field in fields.split():
            other = THEIRS.get(field) or (field if theirs == "XLA_FFI_InternalExtension" else IN_STRUCT.get(field, field))
            name = {"rets": "items"}.get(field, field) if theirs == "XLA_FFI_Rets" else field
            name = {"attributes": "items"}.get(field, field) if theirs == "XLA_FFI_Attrs" else name
            yield f"offsetof(struct {mine}, {name}) == offsetof({theirs}, {other})"
            yield f"sizeof(((struct {mine} *)0)->{name}) == sizeof((({theirs} *)0)->{other})"
    for mine, theirs in NUMBERS.items():
        yield f"{mine} == {theirs}"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_layouts_are_those_of_jaxlib(tmp_path):
    header = pathlib.Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h"
    if not header.exists():
        pytest.skip("this jaxlib has no header")
    names = []
    if int(re.search(r"XLA_FFI_API_MINOR (\d+)", header.read_text())[1]) > 3:
        NUMBERS.pop("XLA_MINOR", None)  # a later one serves the earlier
    else:
        names = ["#define XLA_FFI_InternalExtension XLA_FFI_Extension_Base"]
    (tmp_path / "check.c").write_text("\n".join(
        [f'#include "{header}"', f'#include "{SOURCE / "xla.h"}"', *names,
         *(f'_Static_assert({each}, "");' for each in checks())]))
    made = subprocess.run(["cc", "-std=c11", "-fsyntax-only", tmp_path / "check.c"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[:2000]


class Version(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extensions", ctypes.c_void_p), ("major", ctypes.c_int), ("minor", ctypes.c_int)]


class Metadata(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("version", Version)]


class Extension(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.c_void_p),
                ("metadata", ctypes.POINTER(Metadata))]


class Call(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extension", ctypes.POINTER(Extension))]


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Call))
def _of_another_version(call):
    version = call.contents.extension.contents.metadata.contents.version
    version.major, version.minor = 1, 0


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="the backend at hand asks otherwise")
def test_another_version_is_refused(tmp_path):
    jax.devices()  # before there is a backend, XLA keeps the handler for later
    with pytest.raises(ImportError, match=r"jaxlib \d.*\(1\.0\) is incompatible"):
        ours._register("libtopk_of_another_version", jax.ffi.pycapsule(_of_another_version), "cpu")
    ours._check_interface(tmp_path)
    header = tmp_path / "xla/ffi/api/c_api.h"
    header.parent.mkdir(parents=True)
    for version, words in (((0, 3), None), ((0, 4), None), ((0, 2), r"has 0\.2"), ((1, 3), r"has 1\.3"), (None, r"has -1\.-1")):
        lines = "#define XLA_FFI_API_MAJOR {}\n#define XLA_FFI_API_MINOR {}\n"
        header.write_text("" if version is None else lines.format(*version))
        with pytest.raises(ImportError, match=words) if words else contextlib.nullcontext():
            ours._check_interface(tmp_path)


def run_python(script, before="", **environment):
    script = before + "import jax, numpy as np, libtopk.jax\n" + script
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", **environment}
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True,
                          timeout=300)


def test_import_starts_no_backend():
    done = run_python("jax.config.update('jax_num_cpu_devices', 3)\nassert len(jax.devices()) == 3", XLA_FLAGS="")
    assert done.returncode == 0, done.stderr
    done = subprocess.run([sys.executable, "-c", "import sys, libtopk\nassert 'jax' not in sys.modules"])
    assert done.returncode == 0


def test_programs_run_with_more_threads(tmp_path):
    """Where the scratch that a program has is less than the library would take."""
    pytest.importorskip("flatbuffers")  # which JAX writes programs with
    array = rows.rows_of("float32", (2, 200_000))
    np.save(tmp_path / "array.npy", array)
    made = run_python(f"""
from jax import export
checks = [export.DisabledSafetyCheck.custom_call(name) for name in ("libtopk_select", "libtopk_kth")]
made = export.export(jax.jit(lambda x: [*libtopk.jax.top_k(x, 500), *libtopk.jax.kth(x, 500)]), disabled_checks=checks)
open({str(tmp_path / "program")!r}, "wb").write(made(jax.ShapeDtypeStruct((2, 200_000), np.float32)).serialize())
print(libtopk._core.xla_scratch(-1, 1, 3, 2, 200_000, False, 500, 1, 0))
""", OMP_NUM_THREADS="1")
    assert made.returncode == 0, made.stderr
    done = run_python(f"""
from jax import export
assert libtopk._core.xla_scratch(-1, 1, 3, 2, 200_000, False, 500, 1, 0) > {int(made.stdout)}
program = export.deserialize(bytearray(open({str(tmp_path / "program")!r}, "rb").read()))
np.savez({str(tmp_path / "results.npz")!r}, *program.call(np.load({str(tmp_path / "array.npy")!r})))
""", OMP_NUM_THREADS="16")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "results.npz") as results:
        results = [results[name] for name in results.files]
    assert rows.agree(results[:2], rows.top_k(array, 500)) and rows.agree(results[2:], rows.kth(array, 500))


WRITING = """
from jax import export
checks = [export.DisabledSafetyCheck.custom_call(name) for name in ("libtopk_select", "libtopk_kth")]
made = export.export(jax.jit(lambda x: (libtopk.jax.top_k(x, 20), libtopk.jax.kth(x, 20))), disabled_checks=checks)
open(PATH, "wb").write(made(jax.ShapeDtypeStruct((3, 500), np.float32)).serialize())
"""
READING = """
from jax import export
best, rank = export.deserialize(bytearray(open(PATH, "rb").read())).call(np.load(ARRAY))
assert type(best) is libtopk.TopK and type(rank) is libtopk.Kth
np.savez(RESULTS, *best, *rank)
"""


@pytest.mark.parametrize("before", ["", "export.register_namedtuple_serialization(libtopk.TopK, serialized_name='mine')"])
def test_programs_are_written_and_read(tmp_path, before):
    """With their named tuples, also where a program has registered one itself."""
    pytest.importorskip("flatbuffers")
    array = rows.rows_of("float32", (3, 500))
    np.save(tmp_path / "array.npy", array)
    paths = f"PATH, ARRAY, RESULTS = [f'{tmp_path}/' + name for name in ('program', 'array.npy', 'results.npz')]\n"
    before = f"import libtopk; from jax import export; {before}\n"
    for script in (WRITING, READING):
        done = run_python(paths + script, before=before)
        assert done.returncode == 0, done.stderr
    names = {name for name in (b"libtopk.TopK", b"libtopk.Kth", b"mine") if name in (tmp_path / "program").read_bytes()}
    assert names == ({b"mine", b"libtopk.Kth"} if "mine" in before else {b"libtopk.TopK", b"libtopk.Kth"})
    with np.load(tmp_path / "results.npz") as results:
        results = [results[name] for name in results.files]
    assert rows.agree(results[:2], rows.top_k(array, 20)) and rows.agree(results[2:], rows.kth(array, 20))


@pytest.mark.parametrize("platform", ["tpu", "rocm"])
def test_other_devices_are_refused(platform):
    for function in (ours.top_k, ours.kth):
        with pytest.raises(NotImplementedError, match=f"CPUs and CUDA, .*{platform}"):
            export.export(jax.jit(lambda x: function(x, 3)), platforms=[platform], disabled_checks=SAFE)(
                jax.ShapeDtypeStruct((4, 16), np.float32))


def test_symbolic_shapes_are_refused():
    with pytest.raises(NotImplementedError, match="symbolic"):
        export.export(jax.jit(lambda x: ours.top_k(x, 3)))(
            jax.ShapeDtypeStruct(export.symbolic_shape("b, 16"), np.float32))
