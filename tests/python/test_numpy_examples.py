# SPDX-License-Identifier: Apache-2.0
"""The examples in numpy run, and do what they say for every type; test_examples.py of with_torch has the others."""
import importlib.util
import pathlib

import numpy as np
import pytest

from backend import ON_GPU

pytestmark = pytest.mark.skipif(ON_GPU, reason="the examples are on the CPU")

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dtype_of(name):
    return np.dtype(pytest.importorskip("ml_dtypes").bfloat16 if name == "bfloat16" else name)


@pytest.mark.parametrize("name", FLOATS)
def test_neighbours_of_each_type(name):
    dtype = dtype_of(name)
    random = np.random.default_rng(3)
    vectors, queries = (30 * random.standard_normal((count, 48)).astype(dtype) for count in (700, 20))
    distances, indices = load("neighbours").neighbours(vectors, queries, 4, block_bytes=2**14)
    exact = np.linalg.norm(vectors.astype(float)[None] - queries.astype(float)[:, None], axis=-1)
    tolerance = 1e-9 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(distances, np.sort(exact)[:, :4], rtol=tolerance)
    np.testing.assert_allclose(np.take_along_axis(exact, indices, 1), np.sort(exact)[:, :4], rtol=tolerance)


@pytest.mark.parametrize("name", [*FLOATS, "int8", "uint64"])
def test_a_large_file_of_each_type(name, tmp_path, capsys):
    dtype = dtype_of(name)
    numbers = abs(30 * np.random.default_rng(4).standard_normal((7, 1000))).astype(dtype)
    np.save(tmp_path / "numbers.npy", numbers)
    shares = []
    values, positions = load("large_file").largest_of_file(
        tmp_path / "numbers.npy", 30, 2**9, dtype if name == "bfloat16" else None, shares.append)
    order = np.argsort(-numbers.ravel().astype(float), kind="stable")[:30]
    assert np.array_equal(positions, order) and np.array_equal(values, numbers.ravel()[order])
    assert len(shares) == 14 and shares[-1] == 1 and sorted(shares) == shares
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ("neighbours", "large_file"))
def test_programs_in_numpy_run(name, capsys, tmp_path):
    program, numbers = load(name), np.random.default_rng(5).standard_normal((300, 8))
    np.save(tmp_path / "numbers.npy", numbers)
    path = str(tmp_path / "numbers.npy")
    program.main([path, path, "3"] if name == "neighbours" else [path, "3"])
    assert len(capsys.readouterr().out.splitlines()) == 3
