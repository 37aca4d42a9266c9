#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `mpirun -n RANKS topk select --mpi` takes beside one process of one thread, from a file in the page cache.

  ranks.py build/topk [--gib 2,4,8] [--ranks 2] [--mca "pml ob1"] [--text] [--k 1000] [--runs 7] [--quiet SECONDS]
            [--folder /tmp] [--csv FILE]

The file holds random float32 elements, or with --text lines with a number each. Each round times one process with
--threads 1, one with as many threads as ranks, the job, and the same job over a file of one element: what it takes mpirun
and MPI to start and end. Two more show what no job can beat: mpirun of a program that does nothing, and mpirun of ranks
without MPI, which each select from a file with a rank's share of the elements and agree on nothing. Figures are medians.
`ratio` is how many times as long as the job one thread takes, in the same round. The job must print what one process
prints: the exit status is 1 if it does not.

With --quiet a round counts only if other processes of the machine used less than 4 % of its processors in each of its
runs. Rounds are repeated for that many seconds; the exit status is 1 if too few count.
"""

import argparse
import csv
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from tool import write


class Busy(Exception):
    pass


def processor_seconds():
    """That all processes of the machine have used, but for this one's children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open("/proc/stat") as file:
        user, nice, system, _, _, *interrupts = map(int, file.readline().split()[1:9])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK") - used.ru_utime - used.ru_stime


def run(command, quiet=False):
    others, begin = processor_seconds(), time.perf_counter()
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    seconds = time.perf_counter() - begin
    if quiet and processor_seconds() - others > 0.02 + 0.04 * seconds * os.cpu_count():  # a clock tick is 10 ms
        raise Busy
    return out, seconds


def write_text(path, size):
    numbers = random.Random(1)
    block = "".join(f"{numbers.gauss(0, 1000):.6f}\n" for _ in range(10**6)).encode()
    with open(path, "wb") as file:
        for _ in range(0, size, len(block)):
            file.write(block)


FIGURES = ("one_thread_s", "threads_s", "ranks_s", "start_s", "launch_s", "apart_s")


def rounds(options, commands):
    """Seconds of each command, in each round; None if a job printed something else than one process."""
    times, end = [], time.monotonic() + options.quiet
    for command in commands.values():
        run(command)
    while len(times) < options.runs:
        try:
            results = {name: run(command, options.quiet > 0) for name, command in commands.items()}
        except Busy:
            if time.monotonic() > end:
                sys.exit("ranks.py: the machine has other work to do")
            continue
        if results["ranks_s"][0] != results["one_thread_s"][0]:
            return None
        times.append([results[name][1] for name in FIGURES])
    return times


def measure(options, gib, folder):
    """The line of the CSV; None if a result was wrong."""
    path, share, short = (os.path.join(folder, name) for name in ("elements.raw", "share.raw", "one.raw"))
    make = write_text if options.text else write
    make(path, int(gib * 2**30) // 4 * 4)
    make(share, int(gib * 2**30) // options.ranks // 4 * 4)
    write(short, 4)
    rest = [*(["--format", "text"] if options.text else ["--dtype", "float32"]), "-k", str(options.k), "--device", "cpu"]
    mca = ["--mca", *options.mca.split()] if options.mca else []
    launch = ["mpirun", "-n", str(options.ranks), *mca]
    times = rounds(options, {
        "one_thread_s": [options.tool, "select", path, *rest, "--threads", "1"],
        "threads_s": [options.tool, "select", path, *rest, "--threads", str(options.ranks)],
        "ranks_s": [*launch, options.tool, "select", "--mpi", path, *rest],
        "start_s": [*launch, options.tool, "select", "--mpi", short, "--dtype", "float32", "-k", "1"],
        "launch_s": [*launch, "true"],
        "apart_s": [*launch, options.tool, "select", share, *rest, "--threads", "1"],
    })
    if times is None:
        return None

    def median(figure):
        return f"{statistics.median(figure(*each) for each in times):.4f}"

    return {"input": "text" if options.text else "float32", "size_gib": f"{gib:g}", "k": options.k, "ranks": options.ranks, "mca": options.mca.replace(" ", "=") or "-", "runs": options.runs,
            **{name: median(lambda *each, at=at: each[at]) for at, name in enumerate(FIGURES)},
            "ratio": median(lambda *each: each[0] / each[2]),
            "ratio_started": median(lambda *each: each[0] / (each[2] - each[3])),
            "ratio_apart": median(lambda *each: each[0] / each[5])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--gib", default="2,4,8")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--mca", default="", help="a parameter of Open MPI and its value")
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--k", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--quiet", type=float, default=0, help="for how long to repeat rounds that others disturb")
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
