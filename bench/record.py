#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes CSV files of results as records, which docs/benchmarks/ keeps: what all lines share is said once, above them,
together with what the lines do not say.

  record.py peers.csv --out docs/benchmarks/h200 date=2026-11-22 commit=9421b8e driver=580.159.04
"""

import argparse
import csv
import os


def read(path):
    """The lines of a CSV file, each with what a record says above them."""
    with open(path, newline="") as file:
        lines = list(csv.reader(file))
    shared = {}
    if [] in lines:
        shared = dict(zip(lines[0], lines[1]))
        lines = lines[lines.index([]) + 1:]
    return [{**shared, **dict(zip(lines[0], line))} for line in lines[1:]]


def write(path, lines, known):
    names = [name for name in lines[0] if name not in known]
    own = [name for name in names if len(lines) == 1 or len({line[name] for line in lines}) > 1]
    shared = known | {name: lines[0][name] for name in names if name not in own}
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([shared.keys(), shared.values(), [], own])
        writer.writerows([line[name] for name in own] for line in lines)
    if read(path) != [{**line, **known} for line in lines]:
        raise ValueError(f"{path} does not say what it was made of")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="FILE.csv | NAME=VALUE")
    parser.add_argument("--out", required=True, help="folder of the records")
    options = parser.parse_intermixed_args()
    known = dict(word.split("=", 1) for word in options.results if not word.endswith(".csv"))
    os.makedirs(options.out, exist_ok=True)
    for path in options.results:
        if path.endswith(".csv"):
            write(os.path.join(options.out, os.path.basename(path)), read(path), known)


if __name__ == "__main__":
    main()
