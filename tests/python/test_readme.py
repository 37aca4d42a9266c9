# SPDX-License-Identifier: Apache-2.0
"""The Python programs of the pages for readers run as they stand; on the CPU where there is no GPU."""
import inspect
import pathlib
import re

import pytest

import libtopk

ROOT = pathlib.Path(__file__).parents[2]
PROGRAMS = [(page, program) for page in ("README.md", "python/README.md")
            for program in re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)]


@pytest.mark.parametrize("page, program", PROGRAMS)
def test_runs(page, program):
    names = {}
    if "torch" in program:
        names["torch"] = torch = pytest.importorskip("torch", minversion="2.6")
        if not torch.cuda.is_available():
            program = program.replace(', device="cuda"', "")
    for module in ("onnxscript", "dask", "jax"):
        if module in program:
            pytest.importorskip(module)
    exec(compile(program, page, "exec"), names)


@pytest.mark.parametrize("options", [libtopk.Options, libtopk.Predicate], ids=lambda options: options.__name__)
def test_help_lists_each_option(options):
    entries = re.findall(r"^(\w+(?:, \w+)*)  ", inspect.cleandoc(options.__doc__), re.MULTILINE)
    assert sorted(", ".join(entries).split(", ")) == sorted(options.__annotations__)


def test_there_are_programs():
    assert len(PROGRAMS) >= 3
