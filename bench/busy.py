#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What more threads gain or lose: on a quiet machine, beside another build of the library, or on a busy machine.

  busy.py build/libtopk.so --busy 1 --csv busy.csv               one thread, two, and one for each processor
  busy.py old/libtopk.so build/libtopk.so --threads 2            two builds, by turns

Each library and number of threads is a contender, in a process of its own. Contenders run by turns, and each run is
compared with the run of the first contender in the same round. Times are medians of a call, ratios medians of these
pairs. With --busy N there are N processes for each processor that do nothing but keep it busy. The exit status is 1 if a
ratio is above --limit.
"""

import argparse
import csv
import functools
import multiprocessing
import os
import statistics
import subprocess
import sys
import time

import numpy

import package

# (operation, rows, n, k, order, calls in a run); a tenth of the elements meets the predicate of where
POINTS = {
    "short": ("select", 1, 2**16, 10, "best", 4000),
    "short-sorted": ("select", 1, 2**17, 10000, "best", 400),
    "middle": ("select", 1, 2**20, 1000, "best", 300),
    "long": ("select", 1, 2**26, 10, "best", 3),
    "long-sorted": ("select", 1, 2**26, 10**5, "best", 3),
    "gib-sorted": ("select", 1, 2**28, 10**5, "best", 1),
    "large-k": ("select", 1, 2**24, 2**24 // 10, "best", 1),
    "where": ("where", 1, 2**26, 0, "best", 2),
    "rows": ("select", 65536, 256, 32, "best", 3),
}
COLUMNS = "point operation rows n k busy library threads rounds call_us q1_us q3_us ratio ratio_q1 ratio_q3".split()
# Threads that wait awake for their next job end before the next contender begins.
PAUSE_SECONDS = 0.02


def caller(libtopk, threads, point, data):
    """A function that runs the point once."""
    operation, rows, n, k, order, _ = POINTS[point]
    data = data.reshape(rows, n)
    options = {"context": libtopk.Context("cpu", threads=threads)}
    if operation == "where":
        options.update(lt=0.1, capacity=rows * n)
        out = numpy.zeros(rows * n, numpy.float32), numpy.zeros(rows * n, numpy.int32), numpy.zeros(rows + 1, numpy.int64)
        workspace = numpy.zeros(libtopk.workspace_size("where", data, index_dtype="int32", **options), numpy.uint8)
        return functools.partial(libtopk.where, data, out=out, workspace=workspace, **options)
    options.update(k=k, sorted=order == "best")
    out = numpy.zeros((rows, k), numpy.float32), numpy.zeros((rows, k), numpy.int32)
    workspace = numpy.zeros(libtopk.workspace_size("topk", data, index_dtype="int32", **options), numpy.uint8)
    return functools.partial(libtopk.topk, data, out=out, workspace=workspace, **options)


def serve(pipe, path, threads, point, data):
    """Answers each request with the seconds of a call. Here the package is imported, and not in the first process:
    each process has one library."""
    run, calls = caller(package.load(path), threads, point, data), POINTS[point][-1]
    run()
    while pipe.recv():
        start = time.perf_counter()
        for _ in range(calls):
            run()
        pipe.send((time.perf_counter() - start) / calls)


class Contender:
    def __init__(self, path, threads, point, data):
        self.path, self.threads, self.seconds = path, threads, []
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve, args=(theirs, path, threads, point, data), daemon=True)
        self.process.start()

    def run(self):
        self.pipe.send(True)
        self.seconds.append(self.pipe.recv())
        time.sleep(PAUSE_SECONDS)

    def end(self):
        self.pipe.send(False)
        self.process.join()


def quartiles(numbers):
    return statistics.quantiles(numbers, n=4, method="inclusive")


def lines(point, contenders, options):
    first = contenders[0]
    for contender in contenders:
        q1, median, q3 = quartiles([1e6 * seconds for seconds in contender.seconds])
        ratio_q1, ratio, ratio_q3 = quartiles([a / b for a, b in zip(contender.seconds, first.seconds)])
        operation, rows, n, k, _, _ = POINTS[point]
        yield [point, operation, rows, n, k, options.busy, contender.path, contender.threads, options.rounds,
               f"{median:.2f}", f"{q1:.2f}", f"{q3:.2f}", f"{ratio:.3f}", f"{ratio_q1:.3f}", f"{ratio_q3:.3f}"]


def measure(point, data, options):
    contenders = [Contender(path, threads, point, data) for path in options.library for threads in options.threads]
    for _ in range(options.rounds):
        for contender in contenders:
            contender.run()
    for contender in contenders:
        contender.end()
    return list(lines(point, contenders, options))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    processors = len(os.sched_getaffinity(0))
    parser.add_argument("library", nargs="+")
    parser.add_argument("--threads", type=lambda text: [int(word) for word in text.split(",")],
                        default=sorted({1, 2, processors}), help="(1, 2, and the number of processors)")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="busy processes for each processor (0)")
    parser.add_argument("--points", type=lambda text: text.split(","), default=list(POINTS), help=",".join(POINTS))
    parser.add_argument("--rounds", type=int, default=21, help="at least 2 (21)")
    parser.add_argument("--limit", type=float, default=float("inf"), metavar="RATIO")
    parser.add_argument("--csv", metavar="FILE")
    return parser.parse_args()


def main():
    options = parse()
    package.check()
    sizes = {point: POINTS[point][1] * POINTS[point][2] for point in options.points}
    data = numpy.random.default_rng(1).random(max(sizes.values()), dtype=numpy.float32)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(options.busy * len(os.sched_getaffinity(0)))]
    results = []
    try:
        for point in options.points:
            results += measure(point, data[:sizes[point]], options)
            for line in results[-len(options.library) * len(options.threads):]:
                print(*line, flush=True)
    finally:
        for process in busy:
            process.kill()
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *results])
    return max(float(line[COLUMNS.index("ratio")]) for line in results) > options.limit


if __name__ == "__main__":
    sys.exit(main())
