#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/rivals.py in batches: each call of a batch has an input and results of its own, of which none may be wrong; times
are those of a call, ratios those of a pair; and what a page prints of two numbers of threads can be told apart.

usage: rivals.py SOURCE_DIR BUILD_DIR
"""
import math
import pathlib
import subprocess
import sys
import tempfile
import types

import numpy

source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
sys.path[:0] = [str(source / "bench"), str(source / "tests/tree/figures")]
import calls  # noqa: E402
import package  # noqa: E402
import record  # noqa: E402
import records  # noqa: E402
import rivals  # noqa: E402


def test_each_call_is_verified(libtopk, library):
    context = libtopk.Context("cpu", threads=1)
    for name, order in (("u8", "any"), ("f16", "best"), ("u64", "best")):
        array = rivals.make_data("uniform", 5 * 3, 100, 1, name)
        batch = rivals.Batch(array, 3, 7, order, library)
        _, run, check = batch.ours(libtopk, context)
        assert not check(None), "nothing was selected"
        run(batch.array)
        assert check(None) and not check(None), "what was checked is overwritten"
        run(batch.array, 2)
        assert check(None)

        out, order_of_rows = batch.outputs(), numpy.arange(15)
        workspace = numpy.zeros(2**20, numpy.uint8)
        loop = calls.loop(library, calls.context(library, "cpu", 1), batch.array, 7, out, workspace, order, 3)
        loop(4)
        assert not batch.check_pairs(*out), "the last call was not made"
        loop(5)
        assert batch.check_pairs(*out) and batch.check_ties(out[1])
        order_of_rows[3:6] = order_of_rows[:3]
        assert not batch.check_pairs(*(array[order_of_rows] for array in out)), "the second input was not read"
        for columns, run, check in batch.rivals(1):
            result = run(batch.array, 2)
            assert check(result), columns
            result[4] = result[5]
            assert not check(result), columns


def test_times(monkey):
    """By a clock that only calls move: ours takes 100 us for a turn of four calls, the rival 300 us."""
    now = [0.0]

    def contender(seconds):
        def run(_, turns=1):
            now[0] += turns * seconds
        return run
    monkey.time = types.SimpleNamespace(perf_counter=lambda: now[0], sleep=lambda _: None)
    options = types.SimpleNamespace(pairs=9, budget=1)
    times = rivals.Batches(numpy.zeros((8, 3)), 2, options)(contender(1e-4), contender(3e-4))
    assert (times["calls"], times["pairs"]) == (4 * 4, 9), times
    assert math.isclose(times["call_us"], 300 / 4) and math.isclose(times["to_topk"], 3), times


def test_columns(folder):
    path = folder / "quick.csv"
    subprocess.run([sys.executable, "-B", source / "bench/rivals.py", "sorted-quick", "--library", build / "libtopk.so",
                    "--threads", "1,2", "--type", "u16,f64", "--data", "uniform", "--pairs", "2", "--csv", path],
                   check=True)
    lines = record.read(path)
    assert {line["check"] for line in lines} == {"ok"}
    sorts = {(line["team"], line["k"], line["what"]): float(line["to_topk"]) for line in lines
             if line["type"] == "u16" and line["order"] == "best"}
    least = [min(sorts["2", k, "numpy.sort"], sorts["2", k, "numpy.sort+stable"]) for k in ("25", "128", "256")]
    asked = ("order=best", "type=u16", "team=2")
    conditions = [records.CONDITION.fullmatch(condition).groups() for condition in asked]
    for name, value in (("gmean", math.prod(least) ** (1 / 3)), ("min", min(least))):
        found = records.evaluate(f"{name}(least({{to_topk what=numpy.sort}}, {{to_topk what=numpy.sort+stable}}))", source,
                                 path, path.name, conditions)
        assert math.isclose(found, value), (name, found, value)


def main():
    libtopk = package.load(str(build / "libtopk.so"))
    test_each_call_is_verified(libtopk, calls.load(build))
    with tempfile.TemporaryDirectory() as name:
        test_columns(pathlib.Path(name))
    test_times(rivals)


main()
