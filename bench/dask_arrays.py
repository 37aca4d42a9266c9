#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libtopk.dask beside dask.array.topk and argtopk, on one array of float32 in chunks that lie in the workers' memory.

  dask_arrays.py --library build/libtopk.so --csv dask.csv       two threads, then a cluster of two processes

Contenders run by turns, each from the lazy array to the result, the graph included; x.max() among them says what dask
itself and one read take. Times are medians and quartiles over the rounds; to_topk is the median of the ratios to the run
of libtopk.dask.topk in the same round. Each result is verified, of the first round and the last. peak_mib is by how much
the largest worker grew at most in a run; with threads it is this process.
"""

import argparse
import csv
import statistics
import sys
import time

try:
    import dask
    import dask.array as da
    import numpy
    from distributed import Client, LocalCluster, wait
except ImportError as error:
    sys.exit(f"dask_arrays.py: {error}, for this Python: {sys.executable}")

import package

COLUMNS = ("what scheduler workers n chunks k rounds call_ms q1_ms q3_ms to_topk peak_mib dask_version numpy_version "
           "check").split()
WORKERS = 2


def reset_peak():
    """Begins to watch how large this process grows, and returns its size in bytes."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return size_of("VmRSS")


def size_of(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field + ":"))


class Threads:
    """dask's scheduler of threads in this process."""

    name = "threads"

    def __enter__(self):
        self.settings = dask.config.set(scheduler="threads", num_workers=WORKERS)
        self.settings.__enter__()
        return self

    def __exit__(self, *error):
        self.settings.__exit__(*error)

    def persist(self, x):
        return x.persist()

    def everywhere(self, function, *given):
        return {0: function(*given)}


class Processes:
    """A cluster of processes of one thread each."""

    name = "processes"

    def __enter__(self):
        self.cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None)
        self.client = Client(self.cluster)
        return self

    def __exit__(self, *_):
        self.client.close()
        self.cluster.close()

    def persist(self, x):
        x = x.persist()
        wait(x)
        return x

    def everywhere(self, function, *given):
        return self.client.run(function, *given)


def contenders_of(topk, argtopk, x, k):
    """(its name, what makes its lazy arrays, which of them are values and positions)"""
    yield "libtopk.dask.topk", lambda: topk(x, k), "both"
    yield "libtopk.dask.argtopk", lambda: (argtopk(x, k),), "positions"
    yield "dask.array.topk", lambda: (da.topk(x, k),), "values"
    yield "dask.array.argtopk", lambda: (da.argtopk(x, k),), "positions"
    yield "dask.array.max", lambda: (x.max(),), "max"


def is_right(kind, results, best, places, numbers):
    """Positions of dask's may be any of equal elements."""
    if kind == "max":
        return results[0] == best[0]
    if kind == "values":
        return numpy.array_equal(results[0], best)
    if kind == "positions":
        return len(set(results[0].tolist())) == len(best) and numpy.array_equal(numbers(results[0]), best)
    return numpy.array_equal(results[0], best) and numpy.array_equal(results[1], places)


def answer_of(x, k):
    """The right values and positions, chunk by chunk by a stable sort."""
    best, places, begin = numpy.empty(0, x.dtype), numpy.empty(0, numpy.int64), 0
    for block in x.blocks:
        chunk = numpy.asarray(block.compute())
        candidates = numpy.flatnonzero(chunk >= (best[-1] if len(best) == k else -numpy.inf))
        best, places = numpy.concatenate((best, chunk[candidates])), numpy.concatenate((places, begin + candidates))
        order = numpy.argsort(-best, kind="stable")[:k]
        best, places, begin = best[order], places[order], begin + len(chunk)
    return best, places


def measure(host, topk, argtopk, n, chunks, k, rounds):
    source = da.random.default_rng(1).random(n, chunks=n // chunks, dtype=numpy.float32)
    x = host.persist(source)
    best, places = answer_of(x, k)
    contenders = list(contenders_of(topk, argtopk, x, k))
    times, grown, right = ({name: [] for name, _, _ in contenders} for _ in range(3))
    for turn in range(-1, rounds):  # the first one warms up
        for name, make, kind in contenders:
            before = host.everywhere(reset_peak)
            begin = time.perf_counter()
            results = dask.compute(*make())
            seconds = time.perf_counter() - begin
            peaks = host.everywhere(size_of, "VmHWM")
            if turn in (-1, rounds - 1):
                right[name].append(is_right(kind, results, best, places, lambda at: x.vindex[at].compute()))
            if turn >= 0:
                times[name].append(seconds)
                grown[name].append(max(peaks[worker] - before[worker] for worker in peaks))
    for name in times:
        line = {"what": name, "scheduler": host.name, "workers": WORKERS, "n": n, "chunks": chunks, "k": k,
                "rounds": rounds, "dask_version": dask.__version__, "numpy_version": numpy.__version__,
                "check": "ok" if all(right[name]) else "FAIL"}
        if line["check"] == "ok":
            q1, middle, q3 = statistics.quantiles(times[name], n=4, method="inclusive")
            ratios = [a / b for a, b in zip(times[name], times["libtopk.dask.topk"])]
            line.update(call_ms=f"{1e3 * middle:.1f}", q1_ms=f"{1e3 * q1:.1f}", q3_ms=f"{1e3 * q3:.1f}",
                        to_topk=f"{statistics.median(ratios):.2f}", peak_mib=f"{max(grown[name]) / 2**20:.0f}")
        yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="build/libtopk.so")
    parser.add_argument("--exponents", type=lambda text: [int(e) for e in text.split(",")], default=[24, 26, 28])
    parser.add_argument("--chunks", type=int, default=64)
    parser.add_argument("--k", type=lambda text: [int(k) for k in text.split(",")], default=[100])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--csv", metavar="FILE")
    options = parser.parse_args()
    package.load(options.library)
    from libtopk.dask import argtopk, topk
    lines = []
    for make_host in (Threads, Processes):
        for exponent in options.exponents:
            for k in options.k:
                with make_host() as host:
                    for line in measure(host, topk, argtopk, 2**exponent, options.chunks, k, options.rounds):
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
