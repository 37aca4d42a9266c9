#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""topk-bench-dist finds right results right, and gives no time to a result that was made wrong, whichever way.

usage: spoilt.py PROGRAM LAUNCH...
"""
import csv
import subprocess
import sys

ASKED = "--n 11 --k 10 --rows 4 --repeat 1 --where".split()
WAYS = ("value", "index", "order", "twice", "missing", "number")
TIMES = ("own_us", "reload_us", "run_us", "over_own", "communication_percent")
LIMIT_S = 300


def points(program, launch, where, *more):
    job = subprocess.run([*launch, program, *ASKED, where, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False)
    lines = [line for line in job.stdout.splitlines() if line.count(",") > 5]
    if not lines:
        sys.exit(f"{where} {more}: no points\n{job.stdout}{job.stderr}")
    return job.returncode, list(csv.DictReader(lines))


def main():
    program, *launch = sys.argv[1:]
    for where in ("everywhere", "root", "owner", "place"):
        status, found = points(program, launch, where)
        if status != 0 or len(found) != 3 or any(point["check"] != "ok" or not point["run_us"] for point in found):
            sys.exit(f"{where}: ended with {status}: {found}")
    for where, ways in (("everywhere", WAYS[:-1]), ("place", WAYS)):
        for way in ways:
            status, found = points(program, launch, where, "--spoil", way)
            if status == 0 or any(point["check"] != "FAIL" or any(point[time] for time in TIMES) for point in found):
                sys.exit(f"{where}, {way}: ended with {status}: {found}")
    print("all wrong results were found")


main()
