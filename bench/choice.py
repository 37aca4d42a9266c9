#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How good the library's choice of methods is: times each point by the library's choice and by each method that can
serve, with topk-bench, and sets them side by side.

  choice.py run build/topk-bench --library build/libtopk.so --device cuda --csv choice.csv
  choice.py run build/topk-bench --library build/libtopk.so --device cuda --csv beside.csv --part beside
  choice.py report choice.csv beside.csv
  choice.py report choice.csv --half even       every other point, from the first one on; --half odd: the others

The part `grid` has round shapes; `beside` has shapes between those: odd lengths, few rows, k between powers of two.
`forms` has points where a method serves in one of two ways, with each of them: it says nothing about the choice. The
CSV has the lines of topk-bench without those that a method refuses, and two more columns: `served_by`, the method that
served, and `predicted_us`, what the library expected it to take.

The report has a line for each method that was chosen: at how many points, at how many of them no other method was
clearly faster, and how much longer the choice took than the best method, by a geometric mean and at worst. A method is
clearly faster if the choice takes more than --tolerance times its time and more than --slack-us longer. Then come the
points where one was, worst first; and for each method what it took over what the library expected, by a geometric mean,
and at the tenth and the ninetieth percentile.

The exit status is 1 if a result was wrong, if there is nothing to compare, or, with --targets, if a method was clearly
faster than the choice.
"""

import argparse
import collections
import csv
import math
import os
import shlex
import subprocess
import sys
import tempfile

import package
import record

POINT = ("operation type data rows n k keep_percent direction order ties index tuning predicate outputs max_iterations "
         "epsilon epsilon_relative lengths launch threads cache").split()
EARLIER = {"lengths": "even"}  # of lines without such a column

# Suites of topk-bench with other lists, for all of which the data are normal.
ALL = "--method auto,rtopk,resident,bracket,gridselect,radik,air,radix,bucket,bitonic,drtopk,sort "
FREE = ALL + "--order any --ties any "
BEST = ALL + "--order best --ties lowest "
LENGTHS = "2^11,2^12,2^13,2^14,2^15,2^16,2^17,2^18,2^19,2^20,2^21,2^22,2^23,2^24,2^25,2^26,2^27,2^28,2^30 "
FEW = "--n 2^12,2^15,2^17,2^20,2^24 "
GRIDS = {
    ("cpu", "grid"): ["sizes --method auto,bracket --n 2^12,2^18,2^22 --k 1,100,n/16 --order best,any",
                      "sizes --method auto,rows,bracket --rows 64,4096 --n 64,512,4096 --k 8,32"],
    ("cpu", "beside"): ["sizes --method auto,bracket --rows 3 --n 777777 --k 700,n/3"],
    ("cuda", "grid"): [
        f"sizes {FREE} --n {LENGTHS} --k 1,32,256,2048,32768,n/16,n/2",
        f"sizes {BEST} --n {LENGTHS} --k 32,2048,4096",
        f"sizes {BEST} --n 2^20,2^24,2^28 --k 32768,n/16,n/2",
        f"sizes {FREE} --rows 4,16,64,256 --n 2^12,2^14,2^15,2^17,2^20 --k 8,50,1024,2048",
        f"sizes {BEST} --rows 4,16,64,256 --n 2^12,2^14,2^15,2^17,2^20 --k 50,1024,4096",
        f"sizes {FREE} --rows 1024,16384,65536 --n 64,256,1024,2048,8192 --k 8,32,n/4",
        f"sizes {BEST} --type u8,f16,f64 --rows 1,64 {FEW} --k 50,2048",
        f"sizes {BEST} --type u8,f16,f64 --rows 16384 --n 256,1024,4096 --k 8,128",
        f"kth {ALL} --rows 1,64 {FEW} --k 50,2048,n/2",
        f"kth {ALL} --n 2^22,2^26,2^28 --k 2048,n/100,n/2",
        f"filtered {ALL} --rows 1,64 {FEW} --k 50,2048 --keep 10,90 --predicate at-most,bit-mask"],
    ("cuda", "forms"): ["sizes --method resident --tuning stream=0,stream=1 --order any --ties any "
                        "--rows 1,4,16,32,64,100,256 --n 40000,2^16,2^17 --k 50,1024,2048"],
    ("cuda", "beside"): [
        f"sizes {FREE} --rows 1,3,7 --n 3001,20011,50021,100003,300007,777777,3000017,50000017 --k 33,700,5000,n/3",
        f"sizes {BEST} --rows 1,5,90 --n 3001,50021,300007,777777 --k 33,700,3000",
        f"sizes {FREE} --rows 700,5000,100000 --n 77,300,999,3001 --k 5,50,n/3"],
}
TYPE_NAMES = {"f16": "float16", "f32": "float32", "f64": "float64", "u8": "uint8"}


def choice_of(libtopk, line, **options):
    """The library's choice for a line's problem. It needs no data. None if no method can serve."""
    operation = "topk" if line["operation"] == "select" else line["operation"]
    if operation != "kth":
        options.update(ties=line["ties"], index_dtype="int32")
    if operation == "select_where":
        options["gt"] = 0  # any predicate: which one does not count
    problem = libtopk.Shape((int(line["rows"]), int(line["n"])), TYPE_NAMES[line["type"]])
    try:
        return libtopk.choice(operation, problem, int(line["k"]), sorted=line["order"] == "best", **options)
    except NotImplementedError:
        return None


def expected(libtopk, line, context):
    """The method that serves, and what it is expected to take; empty texts if none can."""
    found = choice_of(libtopk, line, method=None if line["method"] == "auto" else line["method"],
                      tuning=None if line["tuning"] == "none" else line["tuning"], context=context)
    if found is None:
        return {"served_by": "", "predicted_us": ""}
    return {"served_by": found.method, "predicted_us": f"{found.methods[found.method].predicted_us:.1f}"}


def run(options):
    """Times all points of a part; writes them as CSV. Returns whether topk-bench found all results right."""
    libtopk = package.load(options.library)
    context = libtopk.Context(options.device, threads=options.threads)
    lines, right = [], True
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.csv")
        for suite in GRIDS[options.device, options.part]:
            command = [options.program, *shlex.split(suite), "--dist", "normal", "--device", options.device, "--csv", path]
            command += ["--threads", str(options.threads)] if options.device == "cpu" else []
            right = subprocess.run(command + options.more, check=False).returncode == 0 and right
            lines += [{**line, **expected(libtopk, line, context)} for line in record.read(path) if line["check"] != "refused"]
    with open(options.csv, "w", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    return right


def geometric_mean(ratios):
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))


def percentile(ratios, share):
    return sorted(ratios)[min(int(share * len(ratios)), len(ratios) - 1)]


def read_points(paths):
    """{point: {method: line}} of the library's lines that have a time."""
    points = collections.OrderedDict()
    wrong = 0
    for path in paths:
        for line in record.read(path):
            wrong += line["check"] == "FAIL"
            if line["what"] == "topk" and line["check"] == "ok" and line["call_us"]:
                key = tuple(line.get(name, EARLIER.get(name, "")) for name in POINT)
                points.setdefault(key, {})[line["method"]] = line
    return points, wrong


class Choice:
    """A point: what was chosen, and the best method."""

    def __init__(self, key, lines):
        self.key = dict(zip(POINT, key))
        self.chosen, self.us = lines["auto"]["served_by"], float(lines["auto"]["call_us"])
        times = {method: float(line["call_us"]) for method, line in lines.items() if method != "auto"}
        self.best = min(times, key=times.get)
        self.best_us = times[self.best]
        self.ratio = self.us / self.best_us

    def is_good(self, tolerance, slack_us):
        return self.chosen == self.best or self.ratio <= tolerance or self.us <= self.best_us + slack_us

    def __str__(self):
        point = self.key
        return (f"{point['operation']} {point['type']} {point['rows']} x {point['n']}, k = {point['k']}, "
                f"{point['order']} {point['ties']}: {self.chosen} {self.us:.2f} us, {self.best} {self.best_us:.2f} us, "
                f"{self.ratio:.2f}")


def report_choices(choices, options):
    """Prints how good they are; returns how many are not."""
    bad = []
    for method in sorted({choice.chosen for choice in choices}):
        of_method = [choice for choice in choices if choice.chosen == method]
        worse = [choice for choice in of_method if not choice.is_good(options.tolerance, options.slack_us)]
        ratios = [choice.ratio for choice in of_method]
        print(f"{method}: chosen at {len(of_method)} points, {len(of_method) - len(worse)} of them well; over the best "
              f"{geometric_mean(ratios):.3f}, at most {max(ratios):.2f}")
        bad += worse
    for choice in sorted(bad, key=lambda each: -each.ratio):
        print(f"  {choice}")
    return len(bad)


def report_predictions(points):
    """Prints how far the library's expectations are off."""
    ratios = collections.defaultdict(list)
    for lines in points.values():
        for method, line in lines.items():
            if method != "auto" and line["predicted_us"]:
                ratios[method].append(float(line["call_us"]) / max(float(line["predicted_us"]), 0.1))
    for method, of_method in sorted(ratios.items()):
        print(f"{method}: takes {geometric_mean(of_method):.2f} times what is expected at {len(of_method)} points, "
              f"{percentile(of_method, 0.1):.2f} to {percentile(of_method, 0.9):.2f} at most of them")


def report(options):
    """Returns whether there is something to compare and it is as it should be."""
    points, wrong = read_points(options.results)
    if options.half is not None:
        points = dict(list(points.items())[options.half == "odd"::2])
    choices = [Choice(key, lines) for key, lines in points.items() if "auto" in lines and len(lines) > 1]
    if not choices:
        sys.exit("no point has both the library's choice and a method")
    bad = report_choices(choices, options)
    report_predictions(points)
    print(f"{len(choices)} points, at {len(choices) - bad} the choice is well, {wrong} wrong results")
    return not wrong and not (options.targets and bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    of_run = commands.add_parser("run", help="further options are those of topk-bench")
    of_run.add_argument("program", metavar="TOPK-BENCH")
    of_run.add_argument("--library", required=True, metavar="LIBTOPK.so")
    of_run.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    of_run.add_argument("--threads", type=int, default=1, help="of a CPU")
    of_run.add_argument("--part", choices=["grid", "beside", "forms"], default="grid")
    of_run.add_argument("--csv", required=True)
    of_run.set_defaults(work=run)
    of_report = commands.add_parser("report")
    of_report.add_argument("results", nargs="+", metavar="FILE.csv")
    of_report.add_argument("--half", choices=["even", "odd"])
    of_report.add_argument("--tolerance", type=float, default=1.1)
    of_report.add_argument("--slack-us", type=float, default=1)
    of_report.add_argument("--targets", action="store_true")
    of_report.set_defaults(work=report)
    options, more = parser.parse_known_args()
    options.more = more
    if more and options.work is report:
        parser.error("what is " + " ".join(more) + "?")
    return 0 if options.work(options) else 1


if __name__ == "__main__":
    sys.exit(main())
