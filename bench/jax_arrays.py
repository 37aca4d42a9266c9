#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libtopk.jax beside jax.lax.top_k, in compiled programs on rows of float32.

  jax_arrays.py --library build/libtopk.so --csv jax.csv
  JAX_PLATFORMS=cuda jax_arrays.py --library build-gpu/libtopk.so --calls 20 --csv jax.csv

Contenders run by turns; jax.numpy.max among them is one read by XLA, and on a GPU jax.numpy.sort is a whole sort. Each round
enqueues so many calls of a contender and waits until the results of all are there; times are of one of these calls, medians
and quartiles over the rounds. to_topk is the median of the ratios to the run of libtopk.jax.top_k in the same round. Each
result is verified, of the first round and the last.
"""

import argparse
import csv
import os
import statistics
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import jax.numpy as jnp
    import numpy
except ImportError as error:
    sys.exit(f"jax_arrays.py: {error}, for this Python: {sys.executable}")

import package

COLUMNS = "what rows n k device threads calls rounds call_ms q1_ms q3_ms to_topk jax_version check".split()
THREADS = len(os.sched_getaffinity(0))


def contenders_of(ours, k):
    """(its name, its program, what makes the right results of values and positions)"""
    yield "libtopk.jax.top_k", lambda x: ours.top_k(x, k), lambda best, places: (best, places)
    yield "libtopk.jax.kth", lambda x: ours.kth(x, k).kth, lambda best, places: best[:, -1]
    yield "jax.lax.top_k", lambda x: jax.lax.top_k(x, k), lambda best, places: (best, places)
    yield "jax.numpy.max", lambda x: jnp.max(x, 1), lambda best, places: best[:, 0]
    if jax.default_backend() == "gpu":
        yield "jax.numpy.sort", lambda x: jnp.sort(x, 1, descending=True)[:, :k], lambda best, places: best


def is_right(results, wanted):
    return all(numpy.array_equal(a, b) for a, b in zip(jax.tree.leaves(results), jax.tree.leaves(wanted), strict=True))


def measure(ours, rows, n, k, calls, rounds):
    numbers = numpy.random.default_rng(1).random((rows, n), numpy.float32)
    places = numpy.argsort(-numbers, axis=1, kind="stable")[:, :k]
    best = numpy.take_along_axis(numbers, places, 1)
    x = jnp.asarray(numbers)
    contenders = [(name, jax.jit(program), wanted(best, places)) for name, program, wanted in contenders_of(ours, k)]
    times, right = {name: [] for name, _, _ in contenders}, {name: True for name, _, _ in contenders}
    for turn in range(-2, rounds):  # the first ones compile and warm up
        for name, program, wanted in contenders:
            begin = time.perf_counter()
            results = jax.block_until_ready([program(x) for _ in range(calls)])
            seconds = (time.perf_counter() - begin) / calls
            if turn in (-2, rounds - 1):
                right[name] &= is_right(results[-1], wanted)
            if turn >= 0:
                times[name].append(seconds)
    for name in times:
        line = {"what": name, "rows": rows, "n": n, "k": k, "device": jax.devices()[0].device_kind, "threads": THREADS,
                "calls": calls, "rounds": rounds, "jax_version": jax.__version__, "check": "ok" if right[name] else "FAIL"}
        if right[name]:
            q1, middle, q3 = statistics.quantiles(times[name], n=4, method="inclusive")
            ratios = [a / b for a, b in zip(times[name], times["libtopk.jax.top_k"])]
            line.update(call_ms=f"{1e3 * middle:.3f}", q1_ms=f"{1e3 * q1:.3f}", q3_ms=f"{1e3 * q3:.3f}",
                        to_topk=f"{statistics.median(ratios):.2f}")
        yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="build/libtopk.so")
    parser.add_argument("--problems", default="1x24x1000,1x24x10,1x20x1000,4096x8x8,64x17x50", metavar="ROWSxEXPONENTxK,...")
    parser.add_argument("--calls", type=int, default=1, help="calls of a round")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--csv", metavar="FILE")
    options = parser.parse_args()
    package.load(options.library)
    import libtopk.jax
    lines = []
    for problem in options.problems.split(","):
        rows, exponent, k = map(int, problem.split("x"))
        for line in measure(libtopk.jax, rows, 2**exponent, k, options.calls, options.rounds):
            lines.append(line)
            print(*(line.get(name, "-") for name in COLUMNS), flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    return any(line["check"] != "ok" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
