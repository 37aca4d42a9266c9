#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the rule for the size of the subranges of drtopk, and compares it with the best size: figure 14 of Dr. Top-k.

  topk-bench drtopk-exponent --device cuda --csv exponent.csv
  exponent.py exponent.csv            what the rule that was measured, "none", takes beside the best exponent
  exponent.py exponent.csv --fit      the numbers for each width of elements that would have been best

A number says what the delegates of a subrange cost, in elements that are scanned again. There are three: for subranges
that are loaded side by side, for those of at least 4 KiB, and for others. The fit tries all triples from a grid. It
keeps the triple with the least ratio of chosen to best at the worst point, and among equals the least mean ratio. The
model is work_of() in src/cuda/drtopk/strategy.c. --sms is the number of multiprocessors, by default an H100's."""

import argparse
import collections
import csv
import itertools
import math
import sys

BYTES = {"u8": 1, "u16": 2, "u32": 4, "f32": 4, "u64": 8}
COALESCED_MAX, CHUNK_BYTES, WARPS_PER_SM, DELEGATES_OF_K, WAITING = 6, 4096, 24, 2, 4
EXPONENTS = range(4, 16)
NUMBERS = {1: (6, 45, 64), 2: (45, 91, 181), 4: (45, 128, 181), 8: (23, 45, 64)}  # the library's, by bytes of an element
GRID = [round(2 ** (i / 2)) for i in range(5, 19)]


def settings_of(tuning):
    return dict(part.split("=") for part in tuning.split("+")) if tuning != "none" else {}


def points_of(paths):
    """{(type, n, k, beta, base): {exponent or "rule": us}}, of right lines."""
    points = collections.defaultdict(dict)
    for path in paths:
        with open(path, newline="") as file:
            for line in csv.DictReader(constant_columns(file)):
                if line["method"] != "drtopk" or line["check"] != "ok" or line["data"] != "uniform":
                    continue
                settings = settings_of(line["tuning"])
                if set(settings) - {"exponent", "beta", "base"}:
                    continue
                key = (line["type"], int(line["n"]), int(line["k"]), int(settings.get("beta", 2)),
                       int(settings.get("base", 0)))
                exponent = int(settings["exponent"]) if "exponent" in settings else "rule"
                points[key][exponent] = float(line["call_us"])
    return points


def constant_columns(file):
    """The lines of a file; a record begins with the columns that are the same in all of its lines."""
    text = file.read()
    head, blank, rest = text.partition("\n\n")
    if not blank:
        return text.splitlines()
    names, values = list(csv.reader(head.splitlines()))[:2]
    rows = list(csv.reader(rest.splitlines()))
    joined = [names + rows[0]] + [values + row for row in rows[1:]]
    return [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in joined]


def highest(n, k, beta):
    """The highest exponent with twice k delegates."""
    return max((e for e in EXPONENTS if beta * (n >> e) // DELEGATES_OF_K >= k), default=EXPONENTS[0] - 1)


def rule(kind, n, k, beta, sms=132):
    """What the library takes by default; None: it makes no delegates."""
    key, low = (kind, n, k, beta, 0), EXPONENTS[0] + (BYTES[kind] == 1)
    fitting = range(highest(n, k, beta), low - 1, -1)
    return min(fitting, key=lambda e: work(terms_of(key, e, sms), NUMBERS[BYTES[kind]]), default=None)


def work(terms, numbers):
    return numbers[terms[0]] * terms[1] + terms[2]


def terms_of(key, exponent, sms):
    """(which number, how often it counts, the rest) of what the model says that subranges cost."""
    kind, n, k, beta, _ = key
    subranges = -(-n >> exponent)
    warps = sms * WARPS_PER_SM
    which = 0 if exponent <= COALESCED_MAX else 1 if BYTES[kind] << exponent >= CHUNK_BYTES else 2
    waiting = math.ceil(subranges / warps) * warps - subranges if which > 0 else 0
    factor = (2 ** exponent + 32) / 96 if which == 0 else beta * beta / 4
    return which, subranges * factor, (waiting / WAITING + min(k / beta + 1, subranges)) * 2 ** exponent


def candidates_of(points, sms):
    """For each point the terms of each exponent that the rule may choose, with its time over the best one's."""
    for key, times in points.items():
        measured = {e: us for e, us in times.items() if e != "rule"}
        fitting = [e for e in measured if e <= highest(*key[1:4])]
        if fitting:
            yield [(*terms_of(key, e, sms), measured[e] / min(measured.values())) for e in fitting]


def ratio_of(candidates, numbers):
    return min(candidates, key=lambda terms: work(terms, numbers))[3]


def fit(points, sms):
    candidates = list(candidates_of(points, sms))

    def badness(numbers):
        ratios = [ratio_of(each, numbers) for each in candidates]
        return round(max(ratios), 3), sum(ratios) / len(ratios)
    numbers = min(itertools.product(GRID, repeat=3), key=badness)
    return numbers, badness(numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--sms", type=int, default=132)
    options = parser.parse_args()
    points = points_of(options.files)
    if not points:
        sys.exit("exponent.py: no line is about drtopk")
    if options.fit:
        print("type,coalesced,whole,part,worst,mean")
        for kind in sorted({key[0] for key in points}, key=BYTES.get):
            numbers, (worst, mean) = fit({k: v for k, v in points.items() if k[0] == kind}, options.sms)
            print(kind, *numbers, f"{worst:.3f},{mean:.3f}", sep=",")
        return
    print("type,n,k,beta,base,rule_us,best_exponent,best_us,rule_to_best")
    for key, times in points.items():
        measured = {e: us for e, us in times.items() if e != "rule"}
        if "rule" in times and measured:
            best = min(measured, key=measured.get)
            print(",".join(map(str, key)), f"{times['rule']:.1f},{best},{measured[best]:.1f},"
                  f"{times['rule'] / measured[best]:.3f}", sep=",")


if __name__ == "__main__":
    main()
