#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/tune.py finds a number of the cost functions that measurements contradict, and writes it into costs.c.

usage: tune.py SOURCE_DIR BUILD_DIR
"""
import csv
import pathlib
import subprocess
import sys
import tempfile
import types

SOURCE, BUILD = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench"))
import tune  # noqa: E402

COLUMNS = "what operation type rows n k order ties method tuning call_us check".split()
SHAPES = [(1, 1 << 20, 50), (1, 1 << 22, 2048), (1, 1 << 25, 2048), (100, 1 << 16, 50), (1, 1000, 10), (7, 300007, 700)]
NAME, FACTOR = "shared_us", 3  # what the "measured" GPU takes longer for


def lines_of(model):
    """Each method takes what it is expected to; resident with each tuning besides."""
    for rows, n, k in SHAPES:
        line = dict(what="topk", operation="select", type="f32", rows=rows, n=n, k=k, order="any", ties="any", check="ok")
        point = tune.Point({name: str(value) for name, value in line.items()})
        point.times = {(method, "none"): 1 for method in ("rtopk", "resident", "bracket", "air", "sort")}
        point.times.update({("resident", "stream=0"): 1, ("resident", "stream=1"): 1})
        for (method, tuning), us in model.predictions(point).items():
            yield {**line, "method": method, "tuning": tuning, "call_us": us}


def main():
    failures = []

    def check(what, holds):
        if not holds:
            failures.append(what)

    with tempfile.TemporaryDirectory() as folder:
        options = types.SimpleNamespace(sms=132, memory=1, shared_kib=227, cluster=16)
        model = tune.Model(tune.shared_library(BUILD), options)
        which = model.names.index(NAME)
        right = model.numbers[which]
        model.numbers[which] = FACTOR * right
        lines = list(lines_of(model))
        results = pathlib.Path(folder, "choice.csv")
        with open(results, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(lines)
        model.numbers[which] = right
        points = tune.read_points([results])
        start = list(model.numbers)
        check("all problems are read", len(points) == len(SHAPES))
        check("each with its tunings", any(tuning == "stream=1" for point in points for _, tuning in point.times))
        tune.fit(model, points, "bracket")
        moved = {method for i, method in enumerate(model.methods) if model.numbers[i] != start[i]}
        check("a method is fitted alone", moved == {"bracket"})
        for i, number in enumerate(start):
            model.numbers[i] = number
        before = tune.mean_loss(model, points, start)
        after = tune.fit(model, points)
        check("the loss falls", after < before / 4)
        check("the number is found", abs(model.numbers[which] / (FACTOR * right) - 1) < 0.1)
        others = [i for i, name in enumerate(model.names) if tune.COUNTED.fullmatch(name)]
        check("what is known stays", others and all(model.numbers[i] == start[i] for i in others))
        text = pathlib.Path(tune.COSTS).read_text()
        written = tune.rewritten(text, model, "A GPU, today")
        numbers = [float(match[3]) for match in tune.NUMBER.finditer(written)]
        check("all numbers are written",
              all(abs(number / wanted - 1) < 0.01 for number, wanted in zip(numbers, model.numbers, strict=True)))
        check("the GPU is named", " * A GPU, today. Fitted by bench/tune.py. */\n#include" in written)
        check("nothing else changes", tune.NUMBER.sub("", written).count("\n") == tune.NUMBER.sub("", text).count("\n"))
        command = [sys.executable, "-B", SOURCE / "bench" / "tune.py", results, "--build", BUILD, "--half", "even"]
        run = subprocess.run(command, capture_output=True, text=True)
        check("the program runs", run.returncode == 0 and "after, others points: loss" in run.stdout)
        check("it writes only if asked to", pathlib.Path(tune.COSTS).read_text() == text)
        if run.returncode != 0:
            print(run.stdout + run.stderr)
    for what in failures:
        print(f"failed: {what}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
