# SPDX-License-Identifier: Apache-2.0
"""docs/coming_from.md: the two calls of each line give the same elements of numbers that differ; of packages that are here."""
import importlib
import pathlib
import re

import numpy as np
import pytest

import libtopk
from backend import ON_GPU

pytestmark = pytest.mark.skipif(ON_GPU, reason="the arrays are on the CPU")

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "coming_from.md").read_text()
LINES = [(package, *re.findall(r"^\| `([^|]*)` \| `([^|]*)` \|", line)[0])
         for package, table in re.findall(r"^## ([a-z]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
         for line in table.splitlines() if line.startswith("| `")]
GROUPS = np.arange(997) % 7
ROWS = np.random.default_rng(1).permutation(4 * 997).reshape(4, 997).astype(np.float32) / 997


def names_for(package):
    """What the lines of a package speak of."""
    there = pytest.importorskip(package)
    names = {package: there, "libtopk": libtopk, "k": 10, "x": ROWS, "a": ROWS[0], "g": GROUPS}
    if package == "numpy":
        names["np"] = there
    elif package == "torch":
        importlib.import_module("libtopk.torch")
        names["x"], names["a"] = there.from_numpy(ROWS), there.from_numpy(ROWS[0])
    elif package == "jax":
        importlib.import_module("libtopk.jax")
        there.config.update("jax_enable_x64", True)
        names["x"] = there.numpy.asarray(ROWS)
    elif package == "pyarrow":
        importlib.import_module("pyarrow.compute")
        names["s"] = there.array(ROWS[0])
    elif package == "faiss": # whole numbers, whose distances are exact in any order of sums
        names["q"], names["y"] = (np.random.default_rng(2).integers(0, 50, shape).astype(np.float32)
                                  for shape in ((4, 8), (997, 8)))
    elif package == "duckdb":
        frame = pytest.importorskip("pandas").DataFrame({"x": ROWS[0], "g": GROUPS})
        there.sql("CREATE OR REPLACE TABLE numbers AS FROM frame")
        names["s"] = there.sql("FROM numbers").to_arrow_table()["x"]
    else:
        names["s"] = there.Series(ROWS[0])
    return names


def elements(result):
    """Of any kind of result, in ascending order: lines that leave the order open give the same."""
    if type(result).__name__ == "DuckDBPyRelation":
        result = [row[0] for row in result.fetchall()]
    return np.sort(np.atleast_1d(np.asarray(result, dtype=np.float64)), axis=-1)


@pytest.mark.parametrize("package, there, here", LINES)
def test_the_two_calls_agree(package, there, here):
    names = names_for(package)
    if there.startswith("np.top_k") and not hasattr(np, "top_k"):
        pytest.skip("numpy has no top_k yet")
    np.testing.assert_allclose(elements(eval(here, names)), elements(eval(there, names)), rtol=1e-6)


def test_there_are_lines_of_each_package():
    assert {package for package, _, _ in LINES} == {"numpy", "torch", "jax", "pandas", "polars", "pyarrow", "duckdb", "faiss"}
