#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timeline of one call: when the host launches and waits, and when the device is at work, by CUPTI.

    timeline.py BUILD [--rival RadixSelect] [OPTIONS OF topk-bench]      e.g. --n 2^23 --k 2048 --dist uniform

BUILD is a build folder with topk-bench and the library that records. The call is the last of those that the benchmark
times from the host: the device is idle when it begins. Written to stdout as CSV, in microseconds since the host began
to launch. With --rival it is a call of that baseline, which the host drives: it waits for the device many times, and
copies counts. How often is told on stderr: a round trip is a wait that the host must sit out before it launches more."""

import csv
import os
import re
import subprocess
import sys
import tempfile

# Kernels of the library, and of a rival, whose last one ends its call. The benchmark's own kernels make and check the
# data.
OWN = ("air_", "sort_", "compact_", "rtopk_", "resident_", "route_")
RIVALS = {"RadixSelect": (("count_buckets<of_digit>", "filter<of_digit>", "take("), "take(")}


def plain(name):
    return name.removeprefix("void ").replace("bench_buckets::", "")


def last_call(records, own=OWN, end=""):
    """The host's records of the last call up to the wait for it, and the device's of what it launched. A call is over
    when the host waits for a kernel that begins with `end`; waits before that are a part of it."""
    device = {r["correlation"]: r for r in records if r["kind"] != "host"}
    found, host, launches = None, [], []
    for record in sorted((r for r in records if r["kind"] == "host"), key=lambda r: r["begin_ns"]):
        if record["correlation"] in device:
            launches.append(record)
        elif record["name"].startswith("cudaStreamSynchronize"):
            work = [device[each["correlation"]] for each in launches]
            kernels = [plain(each["name"]) for each in work if each["kind"] == "kernel"]
            is_own = kernels and all(name.startswith(own) for name in kernels)
            host = host + launches + [record] if is_own else []
            launches = []
            if host and any(name.startswith(end) for name in kernels):
                work = [device[each["correlation"]] for each in host if each["correlation"] in device]
                found, host = (host, work), []
    return found


def read(path):
    with open(path, newline="") as file:
        records = list(csv.DictReader(file))
    for record in records:
        record["begin_ns"], record["end_ns"] = int(record["begin_ns"]), int(record["end_ns"])
    return records


def main():
    build, *options = sys.argv[1:] or sys.exit(__doc__)
    own, end = OWN, ""
    if options[:1] == ["--rival"]:
        own, end = RIVALS[options[1]] if options[1:2] and options[1] in RIVALS else sys.exit(__doc__)
        options = ["--rivals"] + options[2:]
    recorder = os.path.join(build, "libtopk-bench-timeline.so")
    if not os.path.exists(recorder):
        print(f"timeline.py: no {recorder}: the build found no CUPTI", file=sys.stderr)
        sys.exit(77)
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        environment = dict(os.environ, CUDA_INJECTION64_PATH=os.path.abspath(recorder), TOPK_TIMELINE=file.name)
        command = [os.path.join(build, "topk-bench"), "air-fig8", "--device", "cuda"] + options
        subprocess.run(command, check=True, env=environment, stdout=sys.stderr)
        call = last_call(read(file.name), own, end)
    if call is None:
        sys.exit("timeline.py: no such call was recorded")
    host, device = call
    waits = sum(each["name"].startswith("cudaStreamSynchronize") for each in host)
    print(f"{len(device)} kernels, copies and memsets, {waits - 1} round trips of the host", file=sys.stderr)
    zero = host[0]["begin_ns"]
    rows = [("host", each) for each in host] + [("device", each) for each in device]
    print("at,where,name,begin_us,end_us")
    for at, (where, each) in enumerate(sorted(rows, key=lambda row: row[1]["begin_ns"]), 1):
        name = re.sub(r"_v\d+$|[<(].*", "", plain(each["name"]))
        print(f"{at},{where},{name},{(each['begin_ns'] - zero) / 1e3:.3f},{(each['end_ns'] - zero) / 1e3:.3f}")


if __name__ == "__main__":
    main()
