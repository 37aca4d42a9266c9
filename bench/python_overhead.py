#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call of the Python package takes beyond the call of the C library that it makes.

  python_overhead.py build --csv overhead.csv        numpy's arrays; torch's where this Python has torch, and on its GPU

The call of the C library is timed in a loop in C (build/libtopk-bench-calls.so), on the same input, with outputs and
workspace made before. Contenders run by turns; each run is compared with the run of that loop in the same round. Times
are medians of a call over the rounds, and so are differences and ratios. The column timing says what was timed:

  call           on the CPU: the call
  enqueue        on a GPU: how long a call holds its thread, while the queue has room for all calls of the run
  synchronised   on a GPU: the call and a wait for the stream, in Python by torch, in C by the driver
  replay         on a GPU: a captured CUDA graph of one call, replayed

Each result is verified before and after it is timed. A wrong one shows no time, and the exit status is 1.
"""

import argparse
import csv
import os
import platform
import statistics
import sys
import time

import numpy

import calls
import package
from python_contenders import Arrays, captured, contenders_of, torch

# (rows, n, k, calls in a run). On a GPU the queue takes about 1000 launches before a call waits.
HOST = [(1, 1000, 8, 5000), (1, 2**26, 8, 2)]
HOST_QUICK = [(1, 1000, 8, 50), (1, 2**16, 8, 2)]
CUDA = [(1, 256, 8, 200), (4096, 256, 32, 200)]
CAPTURED = ["c", "libtopk.topk/out+workspace", "libtopk.topk"]
COLUMNS = ("what timing arrays device rows n k features threads python_version numpy_version torch_version calls "
           "rounds call_us q1_us q3_us extra_us extra_q1 extra_q3 ratio ratio_q1 ratio_q3 check").split()
PAUSE_SECONDS = 0.02  # threads that wait awake for their next job end before the next contender begins


def quartiles(numbers):
    return [f"{number:.3f}" for number in statistics.quantiles(numbers, n=4, method="inclusive")]


def measure(contenders, arrays, timing, calls, host, rounds):
    """(contender, what its line says of times) of each, the loop in C first."""
    right = {contender for contender in contenders if contender.is_right(*host)}
    samples = {contender: [] for contender in contenders}
    for _ in range(rounds):
        for contender in right:
            arrays.wait()
            time.sleep(PAUSE_SECONDS)
            samples[contender].append(contender.loop(calls, timing == "synchronised"))
    first = contenders[0]
    for contender in contenders:
        times = {}
        if {first, contender} <= right and contender.is_right(*host):
            pairs = list(zip(samples[contender], samples[first]))
            for names, numbers in (("q1_us call_us q3_us", [1e6 * a for a, _ in pairs]),
                                   ("extra_q1 extra_us extra_q3", [1e6 * (a - b) for a, b in pairs]),
                                   ("ratio_q1 ratio ratio_q3", [a / b for a, b in pairs])):
                times.update(zip(names.split(), quartiles(numbers)))
        yield contender, {**times, "check": "ok" if times else "FAIL"}


def timings_of(contenders, arrays):
    """(timing, contenders) of each way to time them on the device."""
    if arrays.device == "cpu":
        yield "call", contenders
        return
    yield "enqueue", contenders
    yield "synchronised", contenders
    yield "replay", [captured(contender) for contender in contenders if contender.what in CAPTURED]


def points_of(options):
    """(arrays, point) of each."""
    points = HOST_QUICK if options.quick else HOST
    yield from ((Arrays("numpy", "cpu"), point) for point in points)
    if torch is not None:
        yield Arrays("torch", "cpu"), points[0]
        yield from ((Arrays("torch", "cuda"), point) for point in CUDA if torch.cuda.is_available())


def lines_of(libtopk, library, options):
    generator = numpy.random.default_rng(1)
    for arrays, (rows, n, k, count) in points_of(options):
        context = libtopk.Context(arrays.device)
        point = {"arrays": arrays.name, "device": arrays.device, "rows": rows, "n": n, "k": k, "calls": count,
                 "rounds": options.rounds, "features": context.features, "threads": context.threads,
                 "python_version": platform.python_version(), "numpy_version": numpy.__version__,
                 "torch_version": torch.__version__ if torch else ""}
        del context  # and its threads
        x = generator.standard_normal((rows, n), dtype=numpy.float32)
        best = -numpy.sort(-numpy.partition(x, n - k, axis=1)[:, n - k:], axis=1)
        contenders = list(contenders_of(libtopk, library, arrays, arrays.of(x), k))
        for timing, contending in timings_of(contenders, arrays):
            for contender, times in measure(contending, arrays, timing, count, (x, best), options.rounds):
                yield {"what": contender.what, "timing": timing, **point, **times}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the folder of a build, with topk-bench-calls and the package's library")
    parser.add_argument("--rounds", type=int, default=21, help="at least 2 (21)")
    parser.add_argument("--quick", action="store_true", help="small inputs and few calls")
    parser.add_argument("--csv", metavar="FILE")
    options = parser.parse_args()
    libtopk = package.load(os.path.join(options.build, "libtopk.so"))
    lines = []
    for line in lines_of(libtopk, calls.load(options.build), options):
        lines.append(line)
        print(*(f"{line[name]}" for name in "what timing arrays device rows n k".split()), "call",
              line.get("call_us", "-"), "us, beyond C", line.get("extra_us", "-"), "us, ratio", line.get("ratio", "-"),
              line["check"], flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    return any(line["check"] != "ok" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
