#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions that inner loops of the CPU backend execute for 16 bytes of elements, under QEMU.

What a loop takes is the difference between running it a few times and some more times, so nothing else counts. As CSV to
the standard output; or, with --check, compared with a record: a loop that executes over a tenth more fails.

  count.py neon=build-arm/tests/test_loops avx2=build/tests/test_loops >instructions.csv
  count.py neon=build-arm/tests/test_loops --check docs/benchmarks/aarch64-qemu/instructions.csv
"""
import argparse
import csv
import pathlib
import shutil
import subprocess
import sys
import tempfile

LOOPS = ("encode", "split", "split-by-magnitude", "match", "count", "take-half", "take-few", "positions-half", "positions-few",
         "count-digits", "histogram", "take-range", "bisect", "select-rows", "select-rows-sorted")
BITS = (8, 16, 32, 64)
ELEMENTS = 8192
TIMES = (3, 7)
CHECKED_BITS = "32" # other widths have the same source
QEMU = {"neon": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"], "avx2": ["qemu-x86_64"]}
SKIPPED = 77

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import record  # noqa: E402


def executed(plugin, name, program, loop, bits, times):
    command = [*QEMU[name], "-cpu", "max", "-plugin", plugin, program, name, loop, str(bits), str(times)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stderr.endswith(" instructions\n"):
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return int(done.stderr.split()[-2])


def count(plugin, name, program, loop, bits):
    few, more = (executed(plugin, name, program, loop, bits, times) for times in TIMES)
    return (more - few) / (TIMES[1] - TIMES[0]) / (ELEMENTS * bits / 128)


def check(plugin, programs, path):
    limits = {(line["loop"], int(line["bits"])): float(line["neon"]) for line in record.read(path) if line["bits"] == CHECKED_BITS}
    slower = 0
    for (loop, bits), limit in limits.items():
        now = count(plugin, "neon", programs["neon"], loop, bits)
        if now > 1.1 * limit:
            slower += 1
            print(f"{loop}, {bits} bits: {now:.2f} instructions for 16 bytes, {limit:.2f} in {path}")
    print(f"{len(limits)} loops, {slower} execute more than they did")
    return slower != 0 or not limits


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="SET=PROGRAM")
    parser.add_argument("--check", metavar="FILE.csv", help="a record")
    options = parser.parse_args()
    programs = dict(word.split("=", 1) for word in options.programs)
    for name in programs:
        if shutil.which(QEMU[name][0]) is None:
            print(f"count.py: there is no {QEMU[name][0]} here")
            return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        plugin = str(pathlib.Path(folder, "plugin.so"))
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", plugin, pathlib.Path(__file__).with_name("plugin.c")], check=True)
        if options.check:
            return check(plugin, programs, options.check)
        write(plugin, programs)
    return 0


def write(plugin, programs):
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["loop", "bits", *programs, *(["to_avx2"] if "avx2" in programs else [])])
    for loop in LOOPS:
        for bits in BITS:
            counts = {name: count(plugin, name, program, loop, bits) for name, program in programs.items()}
            ratio = [f"{counts['neon'] / counts['avx2']:.2f}"] if counts.keys() >= {"neon", "avx2"} else []
            out.writerow([loop, bits, *(f"{number:.2f}" for number in counts.values()), *ratio])


if __name__ == "__main__":
    sys.exit(main())
