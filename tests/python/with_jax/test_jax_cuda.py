# SPDX-License-Identifier: Apache-2.0
"""libtopk.jax on CUDA. Programs are lowered for it wherever the library has a GPU, if only the emulated one; they run where
JAX has one, too (JAX_PLATFORMS=cuda)."""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import libtopk

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax import export  # noqa: E402

import libtopk.jax as ours  # noqa: E402
import rows  # noqa: E402
from libtopk import _core  # noqa: E402

ON_GPU = jax.default_backend() == "gpu"
SELECT, KTH, F32 = 1, 2, 3
SAFE = [export.DisabledSafetyCheck.custom_call(name) for name in ("libtopk_select", "libtopk_kth")]
ARRAY = rows.rows_of("float32", (3, 5, 700))


def has_gpu():
    try:
        libtopk.Context("cuda")
    except RuntimeError:
        return False
    return True


on_gpu = pytest.mark.skipif(not ON_GPU, reason="JAX has no GPU")
library_has_gpu = pytest.mark.skipif(not has_gpu(), reason="the library has no GPU")


def lowered(function, *shapes):
    """A program for CUDA, as text."""
    arguments = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
    return export.export(jax.jit(function), platforms=["cuda"], disabled_checks=SAFE)(*arguments).mlir_module()


def calls(text):
    """(target, arguments and results) of each call of the library. A call that occurs twice is one function."""
    return re.findall(r"custom_call @(libtopk_\w+)\(.*?\) .*?: (\(.*?\) -> \(.*?\))", text)


@pytest.mark.skipif(has_gpu(), reason="the library has a GPU")
def test_programs_are_compiled_where_there_is_a_gpu():
    for function in (lambda x: ours.top_k(x, 3), lambda x: ours.kth(x, 3)):
        with pytest.raises(RuntimeError, match="for cuda is compiled where the library finds such a device.*: this libtopk"):
            lowered(function, (4, 16))


@library_has_gpu
def test_lowering():
    scratch = _core.xla_scratch(0, SELECT, F32, 6, 2**20, False, 5000, 1, 0)
    ((target, types),) = calls(lowered(lambda x: ours.top_k(x, 5000), (2, 3, 2**20)))
    assert scratch > 0 and target == "libtopk_select" and types == \
        f"(tensor<2x3x1048576xf32>) -> (tensor<2x3x5000xf32>, tensor<2x3x5000xi32>, tensor<{scratch}xui8>)"
    scratch = _core.xla_scratch(0, KTH, F32, 6, 2**20, False, 5000, 1, 0)
    ((target, types),) = calls(lowered(lambda x: ours.kth(x, 5000), (2, 3, 2**20)))
    assert scratch > 0 and target == "libtopk_kth" and types == \
        f"(tensor<2x3x1048576xf32>) -> (tensor<2x3xf32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>, tensor<{scratch}xui8>)"
    with jax.enable_x64(True):
        ((_, types),) = calls(lowered(lambda x: ours.top_k(x, 20, index_dtype="int64").indices, ARRAY.shape))
        assert "tensor<3x5x20xi64>" in types
        ((_, types),) = calls(lowered(lambda x: ours.kth(x, 20), ARRAY.shape))
        assert "-> (tensor<3x5xf32>, tensor<3x5xi64>, tensor<3x5xi64>, " in types


@library_has_gpu
def test_lowering_of_transforms():
    ((_, types),) = calls(lowered(jax.vmap(jax.vmap(lambda x: ours.top_k(x, 3))), ARRAY.shape))
    assert types.startswith("(tensor<3x5x700xf32>)")  # all rows by one call
    assert len(calls(lowered(jax.grad(lambda x: ours.top_k(x, 3).values.sum()), (4, 16)))) == 1
    assert {target for target, _ in calls(lowered(jax.grad(lambda x: ours.kth(x, 3).kth.sum()), (4, 16)))} == \
        {"libtopk_kth", "libtopk_select"}  # the latter finds the first that ties with the k-th


@library_has_gpu
def test_both_platforms_in_one_program():
    program = export.export(jax.jit(lambda x: ours.top_k(x, 3)), platforms=["cpu", "cuda"], disabled_checks=SAFE)(
        jax.ShapeDtypeStruct((4, 16), np.float32))
    array = rows.rows_of("float32", (4, 16))
    assert rows.agree(program.call(array), rows.top_k(array, 3))


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="JAX is not on the CPU")
def test_errors_of_xla_come_through():
    """On a CPU XLA has no stream for the handler of CUDA."""
    jax.ffi.register_ffi_target("libtopk_select_of_cuda", _core.xla_handler("cuda", SELECT), platform="cpu")
    call = jax.ffi.ffi_call("libtopk_select_of_cuda", [jax.ShapeDtypeStruct((2,), np.float32),
                                                       jax.ShapeDtypeStruct((2,), np.int32),
                                                       jax.ShapeDtypeStruct((9000,), np.uint8)])
    words = "GPU|stream" if has_gpu() else "this libtopk was built without CUDA|CUDA"
    with pytest.raises(Exception, match=words):
        jax.block_until_ready(call(jnp.arange(5.0), k=np.int64(2), largest=np.int64(1), nan_last=np.int64(0)))


# ---- Where JAX has a GPU ----

@on_gpu
def test_results_lie_on_the_gpu():
    for device in jax.devices():
        x = jax.device_put(ARRAY, device)
        results = jax.jit(lambda x: ours.top_k(x, 20))(x)
        assert rows.agree(results, rows.top_k(ARRAY, 20)) and all(each.devices() == {device} for each in results)
        results = jax.jit(lambda x: ours.kth(x, 20))(x)
        assert rows.agree(results, rows.kth(ARRAY, 20)) and all(each.devices() == {device} for each in results)


@on_gpu
def test_long_rows_on_the_gpu():
    numbers = jax.random.normal(jax.random.key(1), (2, 3_000_000))
    for k in (1, 10, 1000, 100_000):
        values, indices = jax.jit(lambda x: ours.top_k(x, k))(numbers)
        wanted = -np.sort(-np.asarray(numbers), axis=1)[:, :k]
        np.testing.assert_array_equal(values, wanted)
        np.testing.assert_array_equal(np.take_along_axis(np.asarray(numbers), np.asarray(indices), 1), wanted)


CAPTURED = """
import numpy as np, jax, jax.numpy as jnp, libtopk.jax
def program(x):
    for turn in range(3):
        best, places = libtopk.jax.top_k(x, 50)
        found = libtopk.jax.kth(x, 7)
        x = jnp.sin(x).at[:, :50].add(best) + found.kth[:, None] + places.sum() + found.better[:, None]
    return x
run = jax.jit(program)
for n in (300, 4000, 50_000, 2_000_000):
    inputs = [np.random.default_rng(seed).standard_normal((2, n), np.float32) for seed in range(4)]
    out = [run(x) for x in inputs] + [run(x) for x in inputs]  # other memory each time
    np.savez(f"{FOLDER}/{NAME}-{n}.npz", *map(np.asarray, out))
"""


@on_gpu
def test_command_buffers(tmp_path):
    """Programs that XLA captures give what they give where it captures none."""
    for name, flags in (("captured", "--xla_gpu_graph_min_graph_size=1"), ("plain", "--xla_gpu_enable_command_buffer=")):
        script = f"FOLDER, NAME = {str(tmp_path)!r}, {name!r}\n" + CAPTURED
        done = subprocess.run([sys.executable, "-c", script], env={**os.environ, "XLA_FLAGS": flags}, capture_output=True,
                              text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
    for path in sorted(tmp_path.glob("captured-*.npz")):
        with np.load(path) as captured, np.load(str(path).replace("captured-", "plain-")) as plain:
            for each in plain.files:
                np.testing.assert_array_equal(captured[each], plain[each], err_msg=path.name)


@on_gpu
def test_a_program_of_another_process(tmp_path):
    """The process that runs it has measured no workspace, and so has no context yet."""
    program = export.export(jax.jit(lambda x: (ours.top_k(x, 20), ours.kth(x, 20))), disabled_checks=SAFE)(
        jax.ShapeDtypeStruct(ARRAY.shape, np.float32))
    (tmp_path / "program").write_bytes(program.serialize())
    np.save(tmp_path / "array.npy", ARRAY)
    script = f"""
import pathlib, numpy as np, jax, libtopk.jax
folder = pathlib.Path({str(tmp_path)!r})
program = jax.export.deserialize(bytearray((folder / "program").read_bytes()))
best, rank = program.call(np.load(folder / "array.npy"))
np.savez(folder / "results.npz", *best, *rank)
"""
    done = subprocess.run([sys.executable, "-c", "import jax.export\n" + script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(pathlib.Path(tmp_path) / "results.npz") as results:
        results = [results[name] for name in results.files]
    assert rows.agree(results[:2], rows.top_k(ARRAY, 20)) and rows.agree(results[2:], rows.kth(ARRAY, 20))
