#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables 1, 2 and 5 of the RTop-K paper by the scalar model of the tests, beside what the paper prints.

  rtopk.py build/libtopk-bench-models.so [--rows 100000] [--csv FILE]

Tables 1 and 5 are about Algorithm 1 with epsilon = 1e-4 and 0: the percentage of rows whose search has ended after so
many iterations, and their mean; with E(n), the expected number by the paper's Appendix A. Table 2 is about Algorithm 2:
the relative errors of the greatest (E1) and the least element (E2), and the percentage of hits. Elements are normal.
With --tolerance POINTS the exit status is 1 if a percentage of Tables 1 and 5 is further off, or one of hits lower."""

import argparse
import concurrent.futures
import csv
import ctypes
import math
import os
import statistics
import sys
from ctypes import byref, c_double, c_int64, c_void_p

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
# struct oracle_entry: a number and its position. This script reads only the position.
ENTRY = numpy.dtype({"names": ["position"], "formats": ["i8"], "offsets": [24], "itemsize": 32})
LEAST_EPSILON = 5e-324  # in the precision of the elements it is 0, which by itself would mean an exact search
EPSILON = {"1": 1e-4, "5": LEAST_EPSILON}
CHUNK = 1000


def address(array):
    return c_void_p(array.ctypes.data)


def approximate(models, ranking, k, chosen, max_iterations=0, epsilon=0):
    """The number of iterations; writes what is chosen."""
    steps = c_int64()
    models.oracle_approximate_f32(address(ranking), c_int64(len(ranking)), c_int64(k), c_int64(max_iterations),
                                  c_double(epsilon), address(chosen), byref(steps))
    return steps.value


def relative_error(value, right):
    """In percent; of an element that is 0 there is none, and it adds nothing."""
    return abs((float(value) - float(right)) / float(right)) * 100 if right else 0.0


def of_row(models, table, row, ks, iterations):
    """What a row adds to the cells of a table: ((k, what, iterations), number) of each."""
    ranking, chosen = numpy.zeros(len(row), ENTRY), numpy.zeros(max(ks), ENTRY)
    models.oracle_rank_f32(address(row), c_int64(len(row)), address(ranking))
    rank = numpy.empty(len(row), numpy.int64)
    rank[ranking["position"]] = numpy.arange(len(row))
    for k in ks:
        if table in EPSILON:
            steps = approximate(models, ranking, k, chosen, epsilon=EPSILON[table])
            yield (k, "average", ""), steps
            yield from (((k, "exit", count), 100) for count in iterations if steps <= count)
        for count in iterations if table not in EPSILON else ():
            approximate(models, ranking, k, chosen, max_iterations=count)
            taken = chosen["position"][:k]
            yield (k, "hit", count), 100 * numpy.count_nonzero(rank[taken] < k) / k
            yield (k, "e1", count), relative_error(row[taken].max(), row[ranking["position"][0]])
            yield (k, "e2", count), relative_error(row[taken].min(), row[ranking["position"][k - 1]])


def of_chunk(task):
    """Sums over the rows of a chunk, by (k, what, iterations)."""
    path, table, m, ks, iterations, rows, seed = task
    models, sums = ctypes.CDLL(path), {}
    data = numpy.random.Generator(numpy.random.PCG64(seed)).standard_normal((rows, m), dtype=numpy.float32)
    for row in data:
        for cell, value in of_row(models, table, row, ks, iterations):
            sums[cell] = sums.get(cell, 0) + value
    return sums


def expected(m, k):
    """E(n): equation 4 of the paper."""
    quantile = statistics.NormalDist().inv_cdf(1 - k / m)
    return math.log2(2 * m * math.sqrt(math.log(m) / math.pi)) - quantile**2 / (2 * math.log(2))


def measure(path, printed, rows, seed, pool):
    """{(table, m, k, what, iterations): mean over all rows} of all that is printed."""
    measured = {}
    for table, m in dict.fromkeys((cell[0], cell[1]) for cell in printed):
        cells = [cell for cell in printed if cell[:2] == (table, m)]
        ks, iterations = sorted({cell[2] for cell in cells}), sorted({cell[4] for cell in cells} - {""})
        tasks = [(path, table, m, ks, iterations, min(CHUNK, rows - first), [seed, m, first])
                 for first in range(0, rows, CHUNK)]
        for sums in pool.map(of_chunk, tasks):
            for cell, value in sums.items():
                measured[table, m, *cell] = measured.get((table, m, *cell), 0) + value / rows
        measured.update({cell: expected(m, cell[2]) for cell in cells if cell[3] == "expected"})
    return measured


def show(printed, measured, table):
    """A Markdown table for each kind of number: measured, and in brackets what is printed."""
    columns = list(dict.fromkeys(cell[1:3] for cell in printed if cell[0] == table))
    for kinds in (("exit", "average", "expected"), ("hit",), ("e1",), ("e2",)):
        cells = [cell for cell in printed if cell[0] == table and cell[3] in kinds]
        if cells:
            print(f"\nTable {table}, {', '.join(dict.fromkeys(cell[3] for cell in cells))}\n\n| M, k | "
                  + " | ".join(f"{m}, {k}" for m, k in columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
        for what, count in dict.fromkeys(cell[3:] for cell in cells):
            keys = [(table, m, k, what, count) for m, k in columns]
            print(f"| {count or what} | " + " | ".join(
                f"{measured.get(key, 0):.2f} ({printed[key]:.2f})" if key in printed else "-" for key in keys) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", help="the library with the models: libtopk-bench-models.so")
    parser.add_argument("--rows", type=int, default=10000, help="of each table")
    parser.add_argument("--tables", default="1,2,5")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tolerance", type=float, help="percentage points")
    parser.add_argument("--csv", help="write the numbers to this file too")
    options = parser.parse_args()
    with open(os.path.join(HERE, "../docs/benchmarks/published/rtopk_tables.csv"), newline="") as file:
        printed = {(line["table"], int(line["m"]), int(line["k"]), line["what"],
                    int(line["iterations"]) if line["iterations"] else ""): float(line["printed"])
                   for line in csv.DictReader(file) if line["table"] in options.tables.split(",")}
    with concurrent.futures.ProcessPoolExecutor() as pool:
        measured = measure(os.path.abspath(options.models), printed, options.rows, options.seed, pool)
    for table in dict.fromkeys(cell[0] for cell in printed):
        show(printed, measured, table)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow("table m k what iterations printed measured".split())
            writer.writerows([*cell, value, f"{measured.get(cell, 0):.3f}"] for cell, value in printed.items())
    off = {what: max((sign * (measured.get(cell, 0) - value) for cell, value in printed.items() if cell[3] == what
                      for sign in signs), default=0) for what, signs in (("exit", (-1, 1)), ("hit", (-1,)))}
    print(f"\n{options.rows} rows: exits at most {off['exit']:.2f} points from the printed ones, hits at most "
          f"{off['hit']:.2f} below them")
    return options.tolerance is not None and max(off.values()) > options.tolerance


if __name__ == "__main__":
    sys.exit(main())
