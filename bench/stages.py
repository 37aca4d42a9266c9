#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time of each stage of drtopk, for figures 6, 7, 10, 13 and 15 of Dr. Top-k, by CUPTI.

  stages.py BUILD drtopk-stages                                  and more options of topk-bench
  stages.py BUILD drtopk-exponent --n 2^30 --k 2^13,2^20

BUILD is a build folder with topk-bench and the library that timeline/timeline.py uses. A line of CSV for each point has
the medians of 10 calls, in microseconds. A stage lasts from the end of the stage before it to the end of its last
kernel, so the stages of a call add up to the call. The stages are the delegates, with the memset in front; the first
top-k; the concatenation; the second top-k. Where the base serves alone, all time is in the last column.
call_us is what topk-bench itself measured in the same run, to be compared with all_us. The exit status is 1 if a result
was wrong."""

import csv
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "timeline"))
import timeline  # noqa: E402

# Kernels of topk-bench: before each timed call; in each check; and what else it times.
GATE, CHECK, OTHERS = "wait_for_gate", "bench_for_each", ("read_words", "do_nothing")
POINT = ("operation", "type", "data", "rows", "n", "k", "tuning")
STAGES = ("delegates", "first", "concatenation", "second", "alone")
WARM_UP = 2


def timed_calls(records):
    """A list for each point: its timed calls, each with what the device does from the gate to the next one. The last
    call of a point has no gate behind it, but what is timed from the host, and is left out."""
    points, calls, call = [], [], None
    for record in sorted((r for r in records if r["kind"] != "host"), key=lambda r: r["begin_ns"]):
        if CHECK in record["name"]:
            points += [calls] if calls else []
            calls, call = [], None
        elif GATE in record["name"]:
            calls += [call] if call else []
            call = [record]
        elif call is not None:
            call.append(record)
    return [calls for calls in points if not any(name in record["name"] for call in calls for record in call
                                                 for name in OTHERS)]


def stages_of(call):
    """Microseconds of each stage of a call, which begins with the gate."""
    names = [record["name"] for record in call]
    end = call[0]["end_ns"]
    scans = [at for at, name in enumerate(names) if "drtopk_concatenate" in name]
    found = dict.fromkeys(STAGES, 0.0)
    for at, record in enumerate(call[1:], 1):
        stage = ("alone" if not scans
                 else "concatenation" if at in scans
                 else "second" if at > scans[0]
                 else "delegates" if any("drtopk_by_" in name for name in names[at:])
                 else "first")
        found[stage] += max(record["end_ns"] - end, 0) / 1e3
        end = max(record["end_ns"], end)
    return found


def medians(calls):
    stages = [stages_of(call) for call in calls[WARM_UP:]]
    line = {f"{stage}_us": statistics.median(each[stage] for each in stages) for stage in STAGES}
    line["all_us"] = statistics.median(sum(each.values()) for each in stages)
    return line


def lines_of(points, results):
    """A line for each result with a time; there are as many points with timed calls."""
    timed = [line for line in results if line["call_us"]]
    if len(points) != len(timed):
        raise ValueError(f"{len(points)} points were recorded, {len(timed)} were timed")
    for calls, line in zip(points, timed):
        yield ({column: line[column] for column in POINT} | {name: f"{us:.3f}" for name, us in medians(calls).items()}
               | {"call_us": line["call_us"], "check": line["check"]})


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, options = sys.argv[1], sys.argv[2:]
    recorder = os.path.join(build, "libtopk-bench-timeline.so")
    if not os.path.exists(recorder):
        print(f"stages.py: no {recorder}: the build found no CUPTI", file=sys.stderr)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        recorded, results = os.path.join(folder, "recorded.csv"), os.path.join(folder, "results.csv")
        environment = dict(os.environ, CUDA_INJECTION64_PATH=os.path.abspath(recorder), TOPK_TIMELINE=recorded)
        command = [os.path.join(build, "topk-bench"), *options, "--device", "cuda", "--method", "drtopk",
                   "--pairs", "11", "--csv", results]
        status = subprocess.run(command, env=environment, stdout=sys.stderr).returncode
        if not os.path.exists(results):
            sys.exit(status)  # 77: there is no GPU
        with open(results, newline="") as file:
            lines = list(lines_of(timed_calls(timeline.read(recorded)), list(csv.DictReader(file))))
    writer = csv.DictWriter(sys.stdout, [*POINT, *(f"{stage}_us" for stage in STAGES), "all_us", "call_us", "check"],
                            lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    sys.exit(status)


if __name__ == "__main__":
    main()
