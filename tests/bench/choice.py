#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/choice.py counts, sorts and averages what it should, and ends with the right status.

usage: choice.py SOURCE_DIR
"""
import pathlib
import subprocess
import sys
import tempfile

HEADER = "what,operation,type,data,rows,n,k,order,ties,method,launch,call_us,check,served_by,predicted_us\n"
LINE = "{what},select,f32,normal,1,{n},8,any,any,{method},eager,{us},{check},{by},{predicted}\n"


def lines_of(n, auto, **methods):
    """A point: (method that served, us) of the library's choice, and us of each method, expected to take 10 us."""
    text = LINE.format(what="topk", n=n, method="auto", us=auto[1], check="ok", by=auto[0], predicted=10)
    for method, us in methods.items():
        text += LINE.format(what="topk", n=n, method=method, us=us, check="ok", by=method, predicted=10)
    return text


# Well chosen; 1.2 times, but by less than 1 us; 1.5 times and more than that; the only method; and what is no result.
POINTS = (lines_of(100, ("a", 20), a=20, b=40) + lines_of(200, ("a", 6), a=6, b=5) +
          lines_of(300, ("b", 30), a=20, b=30) + lines_of(400, ("b", 9)))
OTHERS = (LINE.format(what="CUB", n=300, method="auto", us=1, check="ok", by="", predicted="") +
          LINE.format(what="topk", n=300, method="c", us="", check="refused", by="", predicted="") +
          LINE.format(what="topk", n=300, method="d", us=1, check="VOID", by="d", predicted=10))
WRONG = LINE.format(what="topk", n=300, method="d", us="", check="FAIL", by="", predicted="")

ALL = ["a: chosen at 2 points, 2 of them well; over the best 1.095, at most 1.20",
       "b: chosen at 1 points, 0 of them well; over the best 1.500, at most 1.50",
       "select f32 1 x 300, k = 8, any any: b 30.00 us, a 20.00 us, 1.50",
       "a: takes 1.34 times what is expected at 3 points, 0.60 to 2.00 at most of them",
       "b: takes 1.82 times what is expected at 3 points, 0.50 to 4.00 at most of them",
       "3 points, at 2 the choice is well, {} wrong results"]
EVEN = ["a: chosen at 1 points, 1 of them well", "b: chosen at 1 points, 0 of them well",
        "2 points, at 1 the choice is well, 0 wrong results"]
ODD = ["a: chosen at 1 points, 1 of them well", "1 points, at 1 the choice is well, 0 wrong results"]


def main():
    program = pathlib.Path(sys.argv[1]) / "bench" / "choice.py"
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "choice.csv"

        def check(text, arguments, status, expected):
            nonlocal failures
            results.write_text(HEADER + text)
            run = subprocess.run([sys.executable, "-B", program, "report", results, *arguments], capture_output=True, text=True)
            missing = [line for line in expected if line not in run.stdout + run.stderr]
            if run.returncode != status or missing:
                failures += 1
                print(f"{arguments}: status {run.returncode}, not {status}; missing {missing} in\n{run.stdout}{run.stderr}")

        right, wrong = [line.format(0) for line in ALL], [line.format(1) for line in ALL]
        check(POINTS + OTHERS, [], 0, right)
        check(POINTS + OTHERS, ["--targets"], 1, right)
        check(POINTS + OTHERS, ["--targets", "--tolerance", "1.6"], 0, ["3 points, at 3 the choice is well"])
        check(POINTS + OTHERS, ["--slack-us", "0.5"], 0, ["a: chosen at 2 points, 1 of them well"])
        check(POINTS + OTHERS + WRONG, [], 1, wrong)
        check(POINTS, ["--half", "even"], 0, EVEN)
        check(POINTS, ["--half", "odd"], 0, ODD)
        check(lines_of(400, ("b", 9)), [], 1, ["no point has both"])
    print(f"{failures} failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
