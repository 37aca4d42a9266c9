#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the command-line tool takes to select from a large file on a GPU, beside what the GPU takes to get the elements.

  tool.py build/topk [--gib 16] [--k 1000] [--runs 7] [--folder /tmp] [--csv FILE]

The file holds random float32 elements, and lies in the page cache. Each round times a copy of as many bytes from pinned
memory to the GPU, then `topk select --device cuda` of this file, then of a file of one element: what it takes the tool
to start and end. Two ratios come of each round: the tool's time over the copy's, and the same without the time to start
and end. Figures are medians. This script keeps the GPU's driver at work meanwhile, so the tool does not wait for it to
load. What the tool prints is compared with what it prints on the CPU.

The exit status is 1 if a result was wrong, and 77 if there is no GPU.
"""

import argparse
import csv
import ctypes
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

SEED = 1
CHUNK_BYTES = 64 << 20
PINNED_BYTES = 512 << 20  # more than a processor's caches hold
# A byte for each byte, such that the last one of an element never makes it an infinity or NaN.
FINITE = bytes({0x7F: 0x7E, 0xFF: 0xFE}.get(byte, byte) for byte in range(256))


class NoGpu(Exception):
    pass


class Transfer:
    """Copies from pinned memory to the first GPU, through the driver's library."""

    def __init__(self):
        try:
            self.driver = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise NoGpu(error) from error
        context, self.host, self.device = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.call("cuMemHostAlloc", ctypes.byref(self.host), ctypes.c_size_t(PINNED_BYTES), 0)
        self.call("cuMemAlloc_v2", ctypes.byref(self.device), ctypes.c_size_t(PINNED_BYTES))
        ctypes.memset(self.host, 1, PINNED_BYTES)
        self.seconds(PINNED_BYTES)

    def call(self, name, *arguments):
        error = getattr(self.driver, name)(*arguments)
        if error != 0:
            raise NoGpu(f"{name}() returns {error}")

    def seconds(self, size):
        """What it takes to copy so many bytes."""
        begin = time.perf_counter()
        for at in range(0, size, PINNED_BYTES):
            part = ctypes.c_size_t(min(size - at, PINNED_BYTES))
            self.call("cuMemcpyHtoDAsync_v2", self.device, self.host, part, None)
        self.call("cuCtxSynchronize")
        return time.perf_counter() - begin


def write(path, size):
    """A file of random finite elements, on its way to the disk no more."""
    generator = random.Random(SEED)
    with open(path, "wb") as file:
        for at in range(0, size, CHUNK_BYTES):
            file.write(generator.randbytes(min(size - at, CHUNK_BYTES)).translate(FINITE))
        file.flush()
        os.fsync(file.fileno())


def select(tool, path, k, device):
    """What the tool prints, and the seconds that it takes."""
    command = [tool, "select", path, "--dtype", "float32", "-k", str(k), "--device", device]
    begin = time.perf_counter()
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return run.stdout, time.perf_counter() - begin


def measure(options, transfer, folder):
    """The line of the CSV; None if a result was wrong."""
    size = int(options.gib * 2**30) // 4 * 4
    path, short = os.path.join(folder, "elements.raw"), os.path.join(folder, "one.raw")
    write(path, size)
    write(short, 4)
    expected, _ = select(options.tool, path, options.k, "cpu")
    times = []
    for _ in range(options.runs + 1):
        copied = transfer.seconds(size)
        found, tool = select(options.tool, path, options.k, "cuda")
        if found != expected:
            return None
        times.append((copied, tool, select(options.tool, short, 1, "cuda")[1]))
    del times[0]  # the first one warms up

    def median(figure):
        return f"{statistics.median(figure(*each) for each in times):.4f}"

    return {"size_gib": f"{options.gib:g}", "k": options.k, "runs": options.runs,
            "transfer_s": median(lambda copied, tool, start: copied), "tool_s": median(lambda copied, tool, start: tool),
            "start_s": median(lambda copied, tool, start: start),
            "ratio": median(lambda copied, tool, start: tool / copied),
            "ratio_started": median(lambda copied, tool, start: (tool - start) / copied)}


def main(arguments, make_transfer=Transfer):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--gib", type=float, default=16)
    parser.add_argument("--k", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--folder", help="where the file is made and removed")
    parser.add_argument("--csv", type=argparse.FileType("w"), default=sys.stdout)
    options = parser.parse_args(arguments)
    try:
        transfer = make_transfer()
    except NoGpu as error:
        print(f"tool.py: no GPU: {error}", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        line = measure(options, transfer, folder)
    if line is None:
        print("tool.py: the GPU's result is not the CPU's", file=sys.stderr)
        return 1
    writer = csv.DictWriter(options.csv, line, lineterminator="\n")
    writer.writeheader()
    writer.writerow(line)
    options.csv.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
