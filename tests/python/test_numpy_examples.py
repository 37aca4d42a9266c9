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


def test_p_values():
    random = np.random.default_rng(6)
    p = random.random(5000)
    p[:40] /= 10**6
    p[random.permutation(5000)[:300]] = np.nan
    program, known = load("p_values"), np.flatnonzero(~np.isnan(p))
    values, places = program.most_significant(p, 10)
    assert np.array_equal(places, known[np.argsort(p[known], kind="stable")[:10]]) and np.array_equal(values, p[places])
    ordered = np.sort(p[known])
    kept = max(i for i in range(1, len(known) + 1) if ordered[i - 1] <= 0.05 * i / len(known))
    assert np.array_equal(program.discoveries(p, 0.05), known[np.argsort(p[known], kind="stable")[:kept]]) and kept > 20
    assert len(program.discoveries(np.full(7, np.nan), 0.05)) == len(program.discoveries(np.ones(7), 0.05)) == 0


def test_best_of_groups():
    random = np.random.default_rng(7)
    groups, values = random.integers(0, 12, 500), random.integers(0, 9, 500)
    groups[groups == 5] = 4  # an empty one
    valid = (random.random(500) > 0.3) & (groups != 7)
    best, places = load("best_of_groups").best_of_groups(groups, values, valid, 4)
    for group in range(12):
        rows = [row for row in np.argsort(-values, kind="stable") if groups[row] == group and valid[row]][:4]
        assert places[group].tolist() == rows + [-1] * (4 - len(rows))
        assert best[group, :len(rows)].tolist() == values[rows].tolist()


def test_two_columns():
    random = np.random.default_rng(8)
    price, stars, stock = random.integers(0, 50, 300), random.uniform(1, 5, 300), random.integers(0, 2, 300)
    wanted = [row for row in np.argsort(price, kind="stable") if stars[row] >= 4 and stock[row] > 0]
    assert load("two_columns").cheapest(price, stars, stock, 20).tolist() == wanted[:20]
    assert load("two_columns").cheapest(price, stars, stock, 300).tolist() == wanted + [-1] * (300 - len(wanted))


@pytest.mark.parametrize("share", (0, 0.001, 0.1, 0.9, 1))
def test_allowed_neighbours(share):
    random = np.random.default_rng(9)
    vectors, queries = (random.integers(-9, 9, (count, 16)).astype(np.float32) for count in (1000, 7))
    allowed = random.random(1000) < share
    exact = np.square(vectors[None] - queries[:, None]).sum(-1)  # whole numbers, with ties
    found = load("allowed_neighbours").neighbours(vectors, queries, allowed, 5)
    for row, squares in zip(found, exact):
        wanted = [i for i in np.argsort(squares, kind="stable") if allowed[i]][:5]
        assert row.tolist() == wanted + [-1] * (5 - len(wanted))


def test_nodata():
    images = np.random.default_rng(10).integers(0, 1000, (4, 30, 40)).astype(np.uint16)
    images[:, :7], images[3] = 65535, 65535
    low, high = load("nodata").limits(images, 65535)
    for image in range(3):
        pixels = images[image][images[image] != 65535]
        np.testing.assert_allclose((low[image], high[image]), np.percentile(pixels, (2, 98)))
    assert np.isnan(low[3]) and np.isnan(high[3])
    stretched = load("nodata").stretched(images, 65535)
    assert (stretched[:, :7] == 0).all() and (stretched[3] == 0).all() and stretched[0, 7:].min() == 1


PROGRAMS = ("neighbours", "large_file", "p_values", "best_of_groups", "two_columns", "allowed_neighbours", "nodata")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_in_numpy_run(name, capsys, tmp_path):
    program, numbers = load(name), np.random.default_rng(5).standard_normal((300, 8))
    np.save(tmp_path / "numbers.npy", numbers)
    path = str(tmp_path / "numbers.npy")
    files = {"neighbours": [path, path, "3"], "large_file": [path, "3"]}
    program.main(files[name]) if name in files else program.main()
    assert 2 <= len(capsys.readouterr().out.splitlines()) <= 6
