#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/tool.py times a tool whose GPU is made up, and notices when its results are wrong.

usage: tool.py SOURCE_DIR TOOL
"""
import csv
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "bench"))
import tool  # noqa: E402

MIB = 1 / 1024
WRONG = '#!/bin/sh\n"{tool}" "$@"\n[ "$8" = cpu ] || echo "7\t0"\n'


class Transfer:
    """Takes a tenth of a second for each call."""

    def seconds(self, size):
        assert size == 1 << 20, size
        return 0.1


def no_gpu():
    raise tool.NoGpu("none")


def run(folder, program, make_transfer=Transfer):
    """The exit status, and the lines of the CSV."""
    results = os.path.join(folder, "tool.csv")
    status = tool.main([program, "--gib", str(MIB), "--k", "30", "--runs", "3", "--folder", folder, "--csv", results],
                       make_transfer)
    with open(results, newline="") as file:
        return status, list(csv.DictReader(file))


def main():
    program = os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        status, lines = run(folder, program)
        assert status == 0 and len(lines) == 1, (status, lines)
        figures = {name: float(text) for name, text in lines[0].items()}
        assert figures["k"] == 30 and figures["runs"] == 3 and figures["transfer_s"] == 0.1, figures
        assert abs(figures["ratio"] - figures["tool_s"] / 0.1) < 0.01, figures
        assert 0 < figures["start_s"] and figures["ratio_started"] < figures["ratio"], figures
        wrong = os.path.join(folder, "wrong")
        with open(wrong, "w") as file:
            file.write(WRONG.format(tool=program))
        os.chmod(wrong, 0o755)
        assert run(folder, wrong) == (1, [])
        assert run(folder, program, no_gpu) == (77, [])
        left = set(os.listdir(folder))
        assert left == {"tool.csv", "wrong"}, left


main()
