#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call loads and stores, for Table 3 of Dr. Top-k, by Nsight Compute.

  traffic.py build/topk-bench [SUITE AND OPTIONS OF topk-bench]      without any: drtopk-table3

A line of CSV for each point adds up the kernels of its call. A sector has 32 bytes; the paper's transactions are
sectors, and one read of 2^30 elements of 4 bytes takes 1.34e8 of them. l1_* are loads and stores of threads. Bulk
copies into shared memory are not among them. l2_* are what the SMs read from the L2 cache and write to it, bulk copies
included. dram_* are bytes. Memsets are no kernels and are left out."""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

METRICS = {
    "l1_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_write_sectors": "lts__t_sectors_srcunit_tex_op_write.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "time_ns": "gpu__time_duration.sum",
}
POINT = ("type", "data", "rows", "n", "k", "method", "tuning")


def is_own(kernel):
    """Whether the library launched it. The benchmark's kernels are bench_* or lie in no named space."""
    return not re.match(r"(void )?(bench_|\(anonymous|<unnamed>)", kernel)


def calls_of(lines):
    """The sums of each call: of the library's kernels between two of the benchmark. A line has one metric."""
    calls, last = [], False
    seen = {}  # the kernels by their number, in order
    for line in lines:
        kernel = seen.setdefault(int(line["ID"]), dict(name=line["Kernel Name"]))
        kernel[line["Metric Name"]] = float(line["Metric Value"].replace(",", ""))
    for _, kernel in sorted(seen.items()):
        if is_own(kernel["name"]):
            if not last:
                calls.append(dict.fromkeys(METRICS, 0.0) | {"kernels": 0})
            calls[-1]["kernels"] += 1
            for column, metric in METRICS.items():
                calls[-1][column] += kernel[metric]
        last = is_own(kernel["name"])
    return calls


def table(profile, results):
    """The profile is what ncu writes: CSV between remarks."""
    calls = calls_of(csv.DictReader(line for line in profile if line.startswith('"')))
    run = [line for line in results if line["check"] not in ("refused", "skipped")]
    if len(calls) != len(run):
        raise ValueError(f"{len(calls)} calls were recorded, {len(run)} were run")
    return [{column: line[column] for column in POINT} | {name: f"{value:.0f}" for name, value in call.items()}
            | {"check": line["check"]} for line, call in zip(run, calls)]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if shutil.which("ncu") is None:
        print("traffic.py: ncu (Nsight Compute) is not installed", file=sys.stderr)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        results, log = os.path.join(folder, "results.csv"), os.path.join(folder, "log.csv")
        # The clocks are left alone, as in table3.
        command = ["ncu", "--clock-control", "none", "--csv", "--log-file", log, "--print-units", "base",
                   "--kernel-name-base", "demangled", "--metrics", ",".join(METRICS.values()), sys.argv[1],
                   *(sys.argv[2:] or ["drtopk-table3"]), "--device", "cuda", "--once", "--csv", results]
        status = subprocess.run(command, stdout=sys.stderr).returncode
        if not os.path.exists(results):
            sys.exit(status or 1)
        with open(results, newline="") as file, open(log, newline="") as profile:
            lines = table(profile, list(csv.DictReader(file)))
    writer = csv.DictWriter(sys.stdout, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    sys.exit(status)


if __name__ == "__main__":
    main()
