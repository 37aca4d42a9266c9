#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `mpirun -n RANKS topk select --mpi` takes beside one process of one thread, from a file in the page cache.

  ranks.py build/topk [--gib 2,4,8] [--ranks 2] [--mca "pml ob1"] [--text] [--k 1000] [--runs 7]
            [--folder /tmp] [--csv FILE]

The file holds random float32 elements, or with --text lines with a number each. Each round times one process with
--threads 1, one with as many threads as ranks, the job, and the same job over a file of one element: what it takes mpirun
and MPI to start and end. Figures are medians. `ratio` is how many times as long as the job one thread takes, in the same
round. The job must print what one process prints: the exit status is 1 if it does not.
"""

import argparse
import csv
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

from tool import write


def run(command):
    begin = time.perf_counter()
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return out, time.perf_counter() - begin


def write_text(path, size):
    numbers = random.Random(1)
    block = "".join(f"{numbers.gauss(0, 1000):.6f}\n" for _ in range(10**6)).encode()
    with open(path, "wb") as file:
        for _ in range(0, size, len(block)):
            file.write(block)


def measure(options, gib, folder):
    """The line of the CSV; None if a result was wrong."""
    path, short = os.path.join(folder, "elements.raw"), os.path.join(folder, "one.raw")
    (write_text if options.text else write)(path, int(gib * 2**30) // 4 * 4)
    write(short, 4)
    short_rest = ["--dtype", "float32", "-k", "1"]
    rest = [*(["--format", "text"] if options.text else ["--dtype", "float32"]), "-k", str(options.k), "--device", "cpu"]
    mca = ["--mca", *options.mca.split()] if options.mca else []
    job = ["mpirun", "-n", str(options.ranks), *mca, options.tool, "select", "--mpi"]
    times = []
    for _ in range(options.runs + 1):
        expected, one = run([options.tool, "select", path, *rest, "--threads", "1"])
        _, threads = run([options.tool, "select", path, *rest, "--threads", str(options.ranks)])
        found, ranks = run([*job, path, *rest])
        if found != expected:
            return None
        times.append((one, threads, ranks, run([*job, short, *short_rest])[1]))
    del times[0]  # the first one warms up

    def median(figure):
        return f"{statistics.median(figure(*each) for each in times):.4f}"

    return {"input": "text" if options.text else "float32", "size_gib": f"{gib:g}", "k": options.k, "ranks": options.ranks, "mca": options.mca.replace(" ", "=") or "-", "runs": options.runs,
            "one_thread_s": median(lambda one, threads, ranks, start: one),
            "threads_s": median(lambda one, threads, ranks, start: threads),
            "ranks_s": median(lambda one, threads, ranks, start: ranks),
            "start_s": median(lambda one, threads, ranks, start: start),
            "ratio": median(lambda one, threads, ranks, start: one / ranks),
            "ratio_started": median(lambda one, threads, ranks, start: one / (ranks - start))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--gib", default="2,4,8")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--mca", default="", help="a parameter of Open MPI and its value")
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--k", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--folder", help="where the file is made and removed")
    parser.add_argument("--csv", type=argparse.FileType("a"), default=sys.stdout)
    options = parser.parse_args()
    for gib in options.gib.split(","):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            line = measure(options, float(gib), folder)
        if line is None:
            sys.exit("ranks.py: the ranks print something else than one process")
        writer = csv.DictWriter(options.csv, line, lineterminator="\n")
        if options.csv.tell() == 0 or not options.csv.seekable():
            writer.writeheader()
        writer.writerow(line)
        options.csv.flush()


if __name__ == "__main__":
    main()
