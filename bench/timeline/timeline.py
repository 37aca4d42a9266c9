#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timeline of one call: when the host launches and waits, and when the device is at work, by CUPTI.

    timeline.py BUILD [OPTIONS OF topk-bench]      e.g. --n 2^23 --k 2048 --dist uniform

BUILD is a build folder with topk-bench and the library that records. The call is the last of those that the benchmark
times from the host: the device is idle when it begins. Written to stdout as CSV, in microseconds since the host began
to launch."""

import csv
import os
import re
import subprocess
import sys
import tempfile

# Kernels of the library. The benchmark's own kernels make and check the data.
OWN = ("air_", "sort_", "compact_", "rtopk_", "resident_", "route_")


def is_own(record):
    name = record["name"].removeprefix("void ")
    return record["kind"] == "memset" or name.startswith(OWN)


def last_call(records):
    """The host's records of the last call up to the wait for it, and the device's of what it launched."""
    device = {r["correlation"]: r for r in records if r["kind"] != "host"}
    found, launches = None, []
    for record in sorted((r for r in records if r["kind"] == "host"), key=lambda r: r["begin_ns"]):
        if record["correlation"] in device:
            launches.append(record)
        elif record["name"].startswith("cudaStreamSynchronize"):
            work = [device[each["correlation"]] for each in launches]
            if all(map(is_own, work)) and any(each["kind"] == "kernel" for each in work):
                found = launches + [record], work
            launches = []
    return found


def read(path):
    with open(path, newline="") as file:
        records = list(csv.DictReader(file))
    for record in records:
        record["begin_ns"], record["end_ns"] = int(record["begin_ns"]), int(record["end_ns"])
    return records


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, options = sys.argv[1], sys.argv[2:]
    recorder = os.path.join(build, "libtopk-bench-timeline.so")
    if not os.path.exists(recorder):
        print(f"timeline.py: no {recorder}: the build found no CUPTI", file=sys.stderr)
        sys.exit(77)
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        environment = dict(os.environ, CUDA_INJECTION64_PATH=os.path.abspath(recorder), TOPK_TIMELINE=file.name)
        command = [os.path.join(build, "topk-bench"), "air-fig8", "--device", "cuda"] + options
        subprocess.run(command, check=True, env=environment, stdout=sys.stderr)
        call = last_call(read(file.name))
    if call is None:
        sys.exit("timeline.py: nothing of the library was recorded")
    host, device = call
    zero = host[0]["begin_ns"]
    rows = [("host", each) for each in host] + [("device", each) for each in device]
    print("at,where,name,begin_us,end_us")
    for at, (where, each) in enumerate(sorted(rows, key=lambda row: row[1]["begin_ns"]), 1):
        name = re.sub(r"_v\d+$|[<(].*", "", each["name"].removeprefix("void "))
        print(f"{at},{where},{name},{(each['begin_ns'] - zero) / 1e3:.3f},{(each['end_ns'] - zero) / 1e3:.3f}")


if __name__ == "__main__":
    main()
