#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tool takes for the k-th element and for many results of a long file, in reads of the file.

  passes.py build/topk [--log2 29] [--runs 5] [--device cpu,cuda] [--folder /tmp] [--csv FILE]

The file holds 2^LOG2 float32 elements in (0, 1], and lies in the page cache. One read is what read() takes for all of it,
in blocks of 1 MiB. Each round times a read and then each command, from start to end of the process, and divides the one by
the other. Figures are medians. `start' is `topk kth' of a file of one element: what it takes to start and end. `sort' is
`topk select' of all elements of a file that has as many as there are results. The first answer to each command is checked
by counting with numpy, and all others must be the same. The exit status is 1 if one is wrong.
"""

import argparse
import csv
import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

BLOCK = 1 << 20


def write(path, data):
    numpy.save(path, data)
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def read_seconds(path):
    block = bytearray(BLOCK)
    begin = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(block) > 0:
            pass
    return time.perf_counter() - begin


class Command:
    def __init__(self, what, device, arguments, check):
        self.what, self.device, self.arguments, self.check, self.seconds = what, device, arguments, check, []
        self.first = None

    def answer(self, printed):
        """What it prints, and a digest of the arrays that it writes."""
        digest = hashlib.blake2b(printed)
        for name in (argument for argument in self.arguments if str(argument).endswith(("values.npy", "indices.npy"))):
            with open(name, "rb") as file:
                for block in iter(lambda file=file: file.read(BLOCK), b""):
                    digest.update(block)
        return digest.digest()

    def run(self, tool):
        print(f"{self.what} on {self.device}", file=sys.stderr)
        begin = time.perf_counter()
        done = subprocess.run([tool, *map(str, self.arguments), "--device", self.device], capture_output=True, check=True)
        self.seconds.append(time.perf_counter() - begin)
        answer = self.answer(done.stdout)
        right = self.check(done.stdout.decode()) if self.first is None else answer == self.first
        self.first = answer
        if not right:
            sys.exit(f"passes.py: the answer to {self.what} on {self.device} is wrong")


def is_kth(data, k):
    """A function that says whether a line is the answer of kth."""
    def check(line):
        value, better, equal = line.split()
        better, equal = int(better), int(equal)
        number = numpy.float32(value)
        return (better < k <= better + equal and better == numpy.count_nonzero(data > number)
                and equal == numpy.count_nonzero(data == number))
    return check


def are_best(data, k, ordered, paths):
    """The same for arrays of values and indices."""
    def check(_):
        values, indices = (numpy.load(path) for path in paths)
        last = values.min() if k else 0
        steps = numpy.diff(values.astype(numpy.float64))
        chosen = numpy.zeros(len(data), bool)
        chosen[indices] = True
        return (len(values) == k and (data[indices] == values).all() and numpy.count_nonzero(chosen) == k
                and numpy.count_nonzero(data > last) < k
                and (not ordered or ((steps <= 0).all() and (numpy.diff(indices)[steps == 0] > 0).all())))
    return check


def commands(folder, data, device):
    many = len(data) // 10
    file, results, one = (os.path.join(folder, name + ".npy") for name in ("all", "results", "one"))
    paths = [os.path.join(folder, name) for name in ("values.npy", "indices.npy")]
    arrays = ["--values", paths[0], "--indices", paths[1]]
    if not os.path.exists(file):
        write(file, data)
        write(results, data[:many])
        write(one, data[:1])
    return [Command("start", device, ["kth", one, "-k", 1], is_kth(data[:1], 1)),
            Command("kth-n/2", device, ["kth", file, "-k", len(data) // 2], is_kth(data, len(data) // 2)),
            Command("kth-1000", device, ["kth", file, "-k", 1000], is_kth(data, 1000)),
            Command("select-n/10-any-order", device, ["select", file, "-k", many, "--unsorted", *arrays],
                    are_best(data, many, False, paths)),
            Command("select-n/10", device, ["select", file, "-k", many, *arrays], are_best(data, many, True, paths)),
            Command("sort", device, ["select", results, "-k", many, *arrays], are_best(data[:many], many, True, paths))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--log2", type=int, default=29)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--folder", help="where the files are made and removed")
    parser.add_argument("--csv", type=argparse.FileType("w"), default=sys.stdout)
    options = parser.parse_args()
    data = numpy.random.default_rng(1).random(2**options.log2, numpy.float32)
    numpy.subtract(1, data, out=data)
    writer = csv.writer(options.csv, lineterminator="\n")
    writer.writerow("device what log2_n runs read_s seconds reads".split())
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for device in options.device.split(","):
            todo, reads = commands(folder, data, device), []
            for _ in range(options.runs):
                reads.append(read_seconds(os.path.join(folder, "all.npy")))
                for command in todo:
                    command.run(options.tool)
            for command in todo:
                ratios = [seconds / read for seconds, read in zip(command.seconds, reads)]
                writer.writerow([device, command.what, options.log2, options.runs, f"{statistics.median(reads):.4f}",
                                 f"{statistics.median(command.seconds):.4f}", f"{statistics.median(ratios):.3f}"])
                options.csv.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
