#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libtopk.topk_by beside other ways to the k best of each group, in Python on the CPU: values of float32 and group numbers
of int32, unsorted.

  groups.py --library build/libtopk.so --csv groups.csv

"topk_by+counts" has group counts written, too; "sort+topk" sorts the group numbers first (numpy's stable argsort) and
selects from the rows that this makes. polars, pandas and duckdb run where they are installed, over their own tables. Contenders
run by turns; times are medians and quartiles over the rounds, of the last of two runs in each. The values of each result are
compared with those of a sort by group and value.
"""

import argparse
import csv
import importlib
import os
import statistics
import sys
import time

import numpy

import package

COLUMNS = "what law n groups k threads rounds call_ms q1_ms q3_ms to_topk_by version check".split()
THREADS = len(os.sched_getaffinity(0))


def numbers_of(data, n, groups):
    """Values, and the group of each."""
    random = numpy.random.default_rng(1)
    values, numbers = random.random(n, numpy.float32), random.integers(0, groups, n, numpy.int32)
    if data == "ascending":
        values.sort()
    elif data == "one-group":
        numbers[random.random(n) < 0.9] = groups // 2
    return values, numbers


def matrix_of(pairs, groups, k):
    """The values of (group, value) in rows, best first, -inf where there is none. Values are not negative, so their bits are in
    their order: one sort of integers has the groups apart and the best of each first."""
    numbers, values = (numpy.asarray(each) for each in pairs)
    bits = values.astype(numpy.float32).view(numpy.uint32)
    ordered = numpy.sort(numbers.astype(numpy.uint64) << 32 | ~bits)
    begins = numpy.searchsorted(ordered, numpy.arange(groups + 1, dtype=numpy.uint64) << 32)
    places = begins[:-1, None] + numpy.arange(k)
    sorted_values = numpy.append((~ordered.astype(numpy.uint32)).view(numpy.float32), numpy.float32(-numpy.inf))
    return sorted_values[numpy.where(places < begins[1:, None], places, len(values))]


def by_sorting(ours, values, numbers, groups, k):
    order = numpy.argsort(numbers, kind="stable")
    offsets = numpy.searchsorted(numbers[order], numpy.arange(groups + 1))
    return ours.topk(values[order], k, offsets=offsets).values


def contenders_of(ours, values, numbers, groups, k):
    """(name, version, call, what makes a matrix of its result)"""
    out = numpy.empty((groups, k), numpy.float32), numpy.empty((groups, k), numpy.int64), numpy.empty(groups, numpy.int64)
    yield "topk_by", ours.__version__, lambda: ours.topk_by(
        values, numbers, k, group_count=groups, out=(out[0], out[1], None)), lambda best: best[0]
    yield "topk_by+counts", ours.__version__, lambda: ours.topk_by(
        values, numbers, k, group_count=groups, out=out), lambda best: best[0]
    yield "sort+topk", ours.__version__, lambda: by_sorting(ours, values, numbers, groups, k), lambda best: best
    for name, make in (("polars", of_polars), ("duckdb", of_duckdb), ("pandas", of_pandas)):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        call, pairs = make(module, values, numbers, k)
        yield name, module.__version__, call, lambda result, pairs=pairs: matrix_of(pairs(result), groups, k)


def of_polars(polars, values, numbers, k):
    table = polars.DataFrame({"group": numbers, "value": values}).lazy()
    best = table.group_by("group").agg(polars.col("value").top_k(k))
    return best.collect, lambda found: found.explode("value").select("group", "value").to_numpy().T


def of_duckdb(duckdb, values, numbers, k):
    frame = importlib.import_module("pandas").DataFrame({"group": numbers, "value": values})
    duckdb.sql("CREATE OR REPLACE TABLE numbers AS SELECT * FROM frame")
    sql = f'SELECT "group", unnest(max(value, {k})) AS value FROM numbers GROUP BY "group"'
    return lambda: duckdb.sql(sql).fetchnumpy(), lambda found: (found["group"], found["value"])


def of_pandas(pandas, values, numbers, k):
    table = pandas.DataFrame({"group": numbers, "value": values})
    return (lambda: table.sort_values("value", ascending=False).groupby("group", sort=False).head(k),
            lambda found: (found["group"], found["value"]))


def measure(ours, data, n, groups, k, rounds, only):
    values, numbers = numbers_of(data, n, groups)
    wanted = matrix_of((numbers, values), groups, k)
    contenders = [each for each in contenders_of(ours, values, numbers, groups, k) if not only or each[0] in only]
    times, right = {each[0]: [] for each in contenders}, {}
    for turn in range(rounds):
        for name, _, call, matrix in contenders:
            for _ in range(2 if name.startswith("topk_by") else 1):
                begin = time.perf_counter()
                result = call()
                seconds = time.perf_counter() - begin
            times[name].append(seconds)
            if turn == 0:
                right[name] = numpy.array_equal(matrix(result), wanted)
    for name, version, _, _ in contenders:
        line = {"what": name, "law": data, "n": n, "groups": groups, "k": k, "threads": THREADS, "rounds": rounds,
                "version": version, "check": "ok" if right[name] else "FAIL"}
        if right[name]:
            q1, middle, q3 = statistics.quantiles(times[name], n=4, method="inclusive")
            ratios = [a / b for a, b in zip(times[name], times["topk_by"])]
            line.update(call_ms=f"{1e3 * middle:.1f}", q1_ms=f"{1e3 * q1:.1f}", q3_ms=f"{1e3 * q3:.1f}",
                        to_topk_by=f"{statistics.median(ratios):.2f}")
        yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="build/libtopk.so")
    parser.add_argument("--problems", default="uniform:20000000x1000x10,ascending:20000000x1000x10,one-group:20000000x1000x10,"
                        "uniform:20000000x100000x10,uniform:20000000x1000000x10,uniform:20000000x1000x1000",
                        metavar="DATA:NxGROUPSxK,...")
    parser.add_argument("--only", default="", metavar="'NAME ...'", help="contenders, topk_by among them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--csv", metavar="FILE")
    options = parser.parse_args()
    package.load(options.library)
    import libtopk
    lines = []
    for problem in options.problems.split(","):
        data, _, sizes = problem.rpartition(":")
        for line in measure(libtopk, data, *map(int, sizes.split("x")), options.rounds, options.only.split()):
            print(*(f"{name}={line.get(name, '')}" for name in COLUMNS), flush=True)
            lines.append(line)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    return any(line["check"] != "ok" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
