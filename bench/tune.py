#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the numbers of the cost functions, src/cuda/costs.c, to what choice.py measured on a GPU.

  tune.py choice.csv forms.csv --build build            tries; prints what it came to
  tune.py choice.csv forms.csv --build build --half even --write "NVIDIA H200, driver 580.159.04, 2026-11-23"

Predictions come from the cost functions themselves: those of the library over the emulated GPU, which the folder of a
build has (target topk_emulated_shared), told that it has the measured GPU's multiprocessors and shared memory. One number
after another is made greater or smaller by some factor, in steps that become finer, and stays so where the loss falls.

The loss of a point is the logarithm of what the method that would be chosen took over what the best one took, and a
part of the squared logarithm of what each method took over what is predicted: the part falls with how far the method is
behind the best, since it does not matter then. A tenth of its distance pulls each number back to where it began: the
points leave some of them open.

With --only METHOD the numbers of one method are fitted, and the others stay: where that method alone has changed.

It prints the loss and at how many points the choice is well (choice.py), before and after, of the points that it fitted
and of the others. --write has costs.c rewritten, with a comment that names the GPU. The emulated GPU has no clusters of 16
blocks: rows that need them have no prediction, and no say.
"""

import argparse
import ctypes
import math
import os
import re
import sys

import choice
import package

COSTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../src/cuda/costs.c")
NUMBER = re.compile(r"(\.(\w+) = )([\d.e+-]+)")
COUNTED = re.compile(r"of_\w+|(\w+_)?bytes_per_us|instructions_per_us")  # known from elsewhere, so not fitted
STEPS = (1.6, 1.25, 1.1, 1.04)
ERROR_WEIGHT, PULL = 0.3, 0.1


def shared_library(build):
    """The path of the shared library over the emulated GPU."""
    path = os.path.join(build, "tests/libtopk_emulated_shared.so")
    if not os.path.exists(path):
        sys.exit(f"there is no {path}: build the target topk_emulated_shared")
    return path


class Point:
    """A problem, and what each method took for it, with each tuning."""

    def __init__(self, line):
        self.line, self.times = line, {}


def read_points(paths):
    points = {}
    for key, lines in choice.read_points(paths)[0].items():
        for method, line in lines.items():
            if method != "auto":
                of_problem = tuple(value for name, value in zip(choice.POINT, key) if name != "tuning")
                points.setdefault(of_problem, Point(line)).times[method, line["tuning"]] = float(line["call_us"])
    return list(points.values())


def method_of(number):
    """The method whose number it is in costs.c, or None: the launch is nobody's."""
    methods = re.findall(r"\.(\w+) = \{", number.string[:number.start()])
    return methods[-1] if methods else None


class Model:
    """The cost functions, with numbers that can be set."""

    def __init__(self, path, options):
        library = ctypes.CDLL(path)
        library.emulated_size(options.sms, options.shared_kib, ctypes.c_double(1), ctypes.c_double(options.memory))
        library.emulated_room(options.sms, options.cluster)
        with open(COSTS, encoding="utf-8") as file:
            listed = list(NUMBER.finditer(file.read()))
        self.names = [match[2] for match in listed]
        self.methods = [method_of(match) for match in listed]
        self.numbers = (ctypes.c_double * len(self.names)).in_dll(library, "topk_cuda_costs")
        if [float(match[3]) for match in listed] != list(self.numbers):
            sys.exit("the build is older than costs.c, or this has its numbers in another order than costs.h")
        self.libtopk = package.load(path)  # the same library once more, not a copy of it
        self.context = self.libtopk.Context("cuda")

    def predictions(self, point):
        """{(method, tuning): us} of those that can serve, as far as it was measured what they take."""
        found = {}
        for method, tuning in {(method if tuning != "none" else None, tuning) for method, tuning in point.times}:
            tuned = {"method": method, "tuning": tuning} if tuning != "none" else {}
            chosen = choice.choice_of(self.libtopk, point.line, context=self.context, **tuned)
            for name, known in chosen.methods.items() if chosen is not None else ():
                if known.cannot is None and (name, tuning) in point.times:
                    found[name, tuning] = max(known.predicted_us, 0.1)
        return found


def loss_of(point, predictions):
    """(the loss of a point, the time of the method that would be chosen, that of the best)"""
    if not predictions:
        return 0.0, 1.0, 1.0
    times = {served: point.times[served] for served in predictions}
    chosen_us, best_us = times[min(predictions, key=predictions.get)], min(times.values())
    errors = [(math.log(us / predictions[served]), (best_us / us) ** 2) for served, us in times.items()]
    error = sum(weight * error * error for error, weight in errors) / sum(weight for _, weight in errors)
    return math.log(chosen_us / best_us) + ERROR_WEIGHT * error, chosen_us, best_us


def mean_loss(model, points, start):
    pulled = sum(math.log(number / first) ** 2 for number, first in zip(model.numbers, start)) / len(start)
    return sum(loss_of(point, model.predictions(point))[0] for point in points) / len(points) + PULL ** 2 * pulled


def fit(model, points, only=None):
    start = list(model.numbers)
    fitted = [i for i, (name, method) in enumerate(zip(model.names, model.methods))
              if not COUNTED.fullmatch(name) and only in (None, method)]
    least = mean_loss(model, points, start)
    for step in STEPS:
        is_better = True
        while is_better:
            is_better = False
            for i in fitted:
                before = model.numbers[i]
                for factor in (step, 1 / step):
                    model.numbers[i] = before * factor
                    loss = mean_loss(model, points, start)
                    if loss < least - 1e-5:
                        least, is_better = loss, True
                        break
                    model.numbers[i] = before
    return least


def report(name, model, points):
    losses = [loss_of(point, model.predictions(point)) for point in points]
    well = sum(chosen <= 1.1 * best or chosen <= best + 1 for _, chosen, best in losses)
    ratios = [chosen / best for _, chosen, best in losses]
    print(f"{name}: loss {sum(loss for loss, _, _ in losses) / len(losses):.4f}, choice well at {well} of {len(points)}, "
          f"over the best {choice.geometric_mean(ratios):.4f}, at most {max(ratios):.2f}")


def rewritten(text, model, gpu):
    """costs.c with the model's numbers."""
    numbers = iter(model.numbers)
    text = NUMBER.sub(lambda match: match[1] + f"{next(numbers):.3g}".replace("e+0", "e"), text)
    text = re.sub(r"(\n \*\n) \* .*? \*/", lambda match: match[1] + f" * {gpu}. Fitted by bench/tune.py. */", text, count=1,
                  flags=re.DOTALL)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="FILE.csv")
    parser.add_argument("--build", required=True, metavar="FOLDER")
    parser.add_argument("--half", choices=["even", "odd"])
    parser.add_argument("--only", metavar="METHOD", help="fit the numbers of this method alone")
    parser.add_argument("--sms", type=int, default=132, help="multiprocessors")
    parser.add_argument("--memory", type=float, default=1, help="speed of its memory, over an H200's")
    parser.add_argument("--shared-kib", type=int, default=227, help="shared memory of a block")
    parser.add_argument("--cluster", type=int, default=16, help="blocks of a cluster at most")
    parser.add_argument("--write", metavar="GPU, DATE", help="rewrite src/cuda/costs.c")
    options = parser.parse_args()
    measured = read_points(options.results)
    fitted, others = measured, []
    if options.half is not None:
        fitted, others = measured[options.half == "odd"::2], measured[options.half != "odd"::2]
    model = Model(shared_library(options.build), options)
    for when in ("before", "after"):
        if when == "after":
            fit(model, fitted, options.only)
        for name, points in (("fitted", fitted), ("others", others)):
            if points:
                report(f"{when}, {name} points", model, points)
    for name, number in zip(model.names, model.numbers):
        print(f"  {name} = {number:.3g}")
    if options.write:
        with open(COSTS, encoding="utf-8") as file:
            text = rewritten(file.read(), model, options.write)
        with open(COSTS, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
