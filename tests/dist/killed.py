#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A rank that is killed, between runs or while the others wait for it within one, ends the job: mpirun fails, and no rank
goes on.

usage: killed.py PROGRAM LAUNCH...
"""
import os
import pathlib
import subprocess
import sys
import time

LIMIT_S = 60


def ranks_left(token):
    """The processes that have the token among their arguments."""
    left = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        if token.encode() in words:
            left.append(path.parent.name)
    return left


def check(program, launch, phase):
    token = f"killed-{phase}-{os.getpid()}"
    job = subprocess.Popen([*launch, program, "killed", phase, token], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, stdin=subprocess.DEVNULL)
    try:
        output = job.communicate(timeout=LIMIT_S)[0]
    except subprocess.TimeoutExpired:
        job.kill()
        sys.exit(f"{phase}: the job went on for {LIMIT_S} s")
    ends = time.monotonic() + 10
    while ranks_left(token) and time.monotonic() < ends:
        time.sleep(0.1)
    left = ranks_left(token)
    if job.returncode == 0 or left or "went on" in output or "alive" not in output:
        sys.exit(f"{phase}: mpirun ended with {job.returncode}, processes left: {left}\n{output}")


def main():
    program, *launch = sys.argv[1:]
    for phase in ("plan", "run", "nodes"):
        check(program, launch, phase)
    print("no rank went on")


main()
