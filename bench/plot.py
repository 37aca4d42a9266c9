#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plots of CSV files of topk-bench and rivals.py, or of records, as SVG: the time of a call, its ratio to the limit,
which for select is one read, and to the fastest published implementation, if compare.py has added that; over the row
length, k, the number of rows, the share that is kept and the threads, wherever the results hold at least two values of
these. A plot has at most eight lines, and says how many it leaves out.

  plot.py RESULTS.csv... --out FOLDER
  plot.py fig6.csv --split n,data --out FOLDER     a plot for each n and each data, not one of all lines

A published record has a column for each contender, or the two fastest at each point (`best_us` and its name in `best`).
Each library becomes a line, with the points at which it is one of the two. Beside such a record, the library's own lines
come from it alone.
"""

import argparse
import html
import math
import os
import re

import record

AXES = {"n": "elements of a row", "k": "k", "rows": "rows", "alpha": "alpha", "keep_percent": "percent kept",
        "threads": "threads of a call, or of a block of a baseline", "max_iterations": "steps"}
MEASURES = {"call_us": "Microseconds of a call", "to_limit": "Time of a call over the limit",
            "to_best": "Time of a call over the fastest published one"}
# What tells one line of a plot from another; the axis itself is left out.
SERIES = ["what", "operation", "type", "data", "rows", "n", "k", "keep_percent", "order", "ties", "index", "method",
          "tuning", "launch", "predicate", "outputs", "routing", "max_iterations", "epsilon", "epsilon_relative", "lengths",
          "threads", "cache", "features"]
HIDDEN = {"alpha": {"tuning"}}  # what the axis stands for
COUNTING = {"where", "count", "mask"}  # their k is the number of matches, which follows from n and the share
# How the heading says what all lines of a plot share; `{}` is the value.
SHARED = {"operation": "{}", "type": "{}", "data": "{}", "rows": "rows: {}", "n": "n = {}", "k": "k = {}",
          "order": "order: {}", "ties": "ties: {}", "features": "{}", "date": "{}", "measured": "{}"}
# What columns of published records are about.
PUBLISHED = {"read": "one read", "any": "libtopk, any order", "default": "libtopk, best first"}

MOST_LINES = 8
MOST_TICKS_X, MOST_TICKS_Y = 9, 12
# First digits of round numbers, the finest set first.
ROUND = [[1, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9],
         [1, 1.2, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1]]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 500, 84, 330, 64, 50
COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#7b4b94", "#e377c2", "#8c564b", "#555555"]


def read_results(paths):
    results, has_published = [], False
    # Only results on a GPU have these, and only later ones; before, all rows were even.
    of_gpus = dict.fromkeys(("tuning", "launch", "predicate", "outputs", "routing"), "")
    of_gpus.update(dict.fromkeys(("max_iterations", "epsilon", "epsilon_relative"), "0"), lengths="even")
    for path in paths:
        lines = record.read(path)
        published = "call_us" not in lines[0]
        lines = [each for line in lines for each in contenders(line)] if published else lines
        has_published |= published
        results += [{**of_gpus, **line} for line in lines if line["check"] == "ok"]
    if has_published:
        results = [line for line in results if line["what"] != "topk"]
    for line in results:
        alpha = line["tuning"].removeprefix("alpha=") if line["tuning"].startswith("alpha=") else "0"
        line["alpha"] = line["n"] if alpha == "n" else alpha if alpha.isdigit() else "0"
    return results


def contenders(line):
    """The lines that topk-bench would have written in place of one of a published record."""
    times = {}
    for column in line:
        if column.endswith("_us") and line[column]:
            name = column.removesuffix("_us")
            what = line[name].split()[0] if name in ("best", "second") else PUBLISHED.get(name, name)
            times[what] = min(float(line[column]), times.get(what, math.inf))
    own = {"operation": "select", "type": "f32", "keep_percent": "0", "check": "ok"}
    return [{**dict.fromkeys(SERIES, ""), **own, **line, "what": what, "call_us": us} for what, us in times.items()]


def series_names(axis):
    return [name for name in SERIES if name != axis and name not in HIDDEN.get(axis, ())]


def gather(results, axis, measure):
    """{series: {x: y}} of the series that have at least two points."""
    series = {}
    for line in results:
        counting = line["operation"] in COUNTING
        if not line.get(measure) or (counting and axis == "k"):
            continue
        # A rival's line names the method of the call that ran beside it.
        blank = {"k"} if counting else {"method"} if line["what"] != "topk" else ()
        key = tuple("" if name in blank else line[name] for name in series_names(axis))
        if float(line[axis] or 0) > 0:
            series.setdefault(key, {})[float(line[axis])] = float(line[measure])
    return {key: points for key, points in series.items() if len(points) > 1}


def kept(series):
    """The lines that a plot has room for: the library's own, its slowest first, then the fastest others. What counts is
    how far a line lies above the lowest one, by the geometric mean."""
    floor = {}
    for points in series.values():
        for x, y in points.items():
            floor[x] = min(y, floor.get(x, y))

    def place(key):
        height = sum(math.log(y / floor[x]) for x, y in series[key].items()) / len(series[key])
        own = key[0].startswith(("topk", "libtopk", "one read"))
        return (not own, -height if own else height)
    taken = sorted(series, key=place)[:MOST_LINES]
    return {key: points for key, points in series.items() if key in taken}


def heading(results, axis):
    """What all lines of a plot share."""
    words = []
    for name, form in SHARED.items():
        values = {line.get(name, "") for line in results}
        if name != axis and len(values) == 1 and "" not in values:
            words.append(form.format(*values))
    return ", ".join(words)


def labels(names, keys):
    """For each key the parts in which the keys differ, but for what follows from the first part."""
    def tells(i):
        return i == 0 or len({(key[0], key[i]) for key in keys}) > len({key[0] for key in keys})
    telling = [i for i in range(len(names)) if tells(i)]

    def part(name, value):
        if name == "keep_percent":
            return f"{value} %" if value != "0" else ""
        return f"{name} {value}" if value.isdigit() else value
    lines = [" ".join(filter(None, (part(names[i], key[i]) for i in telling))) for key in keys]
    return [re.sub(r"^topk\b", "libtopk", line) for line in lines]


def shown(number):
    """In decimal: 20 k for 20000."""
    for unit, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= unit:
            return f"{number / unit:g}{letter}"
    return f"{number:g}"


class Scale:
    """A logarithmic axis on a span of pixels, from the last round number that is no more than all values to the first
    that is more."""

    def __init__(self, values, begin, end, most_ticks):
        self.decades = range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 2)
        self.begin, self.end, self.most_ticks = begin, end, most_ticks
        rounds = self.numbers(ROUND[1])
        self.low = max(number for number in rounds if number <= min(values))
        self.high = min(number for number in rounds if number > max(values))

    def numbers(self, digits):
        return [float(f"{digit}e{exponent}") for exponent in self.decades for digit in digits]

    def __call__(self, value):
        return self.begin + math.log(value / self.low) / math.log(self.high / self.low) * (self.end - self.begin)

    def ticks(self):
        """The finest ones that there is room for."""
        sets = [[number for number in self.numbers(digits) if self.low <= number <= self.high] for digits in ROUND]
        return next((ticks for ticks in sets if len(ticks) <= self.most_ticks), sets[-1])


def text(x, y, words, anchor="start", style=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{html.escape(words)}</text>'


def draw(series, axis, measure, shared):
    left_out = len(series)
    series = kept(series)
    left_out -= len(series)
    names = labels(series_names(axis), list(series))
    points = [point for line in series.values() for point in line.items()]
    x_of = Scale([x for x, _ in points], LEFT, WIDTH - RIGHT, MOST_TICKS_X)
    y_of = Scale([y for _, y in points], HEIGHT - BOTTOM, TOP, MOST_TICKS_Y)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
             'font-size="12"><rect width="100%" height="100%" fill="white"/>']
    for x in x_of.ticks():
        parts.append(f'<path d="M{x_of(x):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(text(x_of(x), HEIGHT - BOTTOM + 16, shown(x), "middle"))
    for y in y_of.ticks():
        parts.append(f'<path d="M{LEFT} {y_of(y):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(text(LEFT - 6, y_of(y) + 4, f"{y:,.0f}" if y >= 10 else f"{y:g}", "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, AXES[axis], "middle"))
    title = f"{MEASURES[measure]} by {AXES[axis]}: lower is better"
    parts.append(text(LEFT, TOP - 40, title, style=' font-size="16" font-weight="bold"'))
    parts.append(text(LEFT, TOP - 18, shared))
    # The legend lists the lines as they end, the highest first.
    ends = sorted(zip(names, series.values(), COLOURS), key=lambda each: -each[1][max(each[1])])
    for i, (label, line, colour) in enumerate(ends):
        path = "L".join(f"{x_of(x):.1f} {y_of(y):.1f}" for x, y in sorted(line.items()))
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<path d="M{WIDTH - RIGHT + 12} {TOP + 18 * i}h22" stroke="{colour}" stroke-width="2"/>')
        parts.append(text(WIDTH - RIGHT + 40, TOP + 18 * i + 4, label))
    if left_out:
        parts.append(text(WIDTH - RIGHT + 40, TOP + 18 * len(ends) + 4, f"and {left_out} more lines, not drawn"))
    return "\n".join(parts + ["</svg>\n"])


def plots_of(results, split=()):
    """The name and the text of each plot, one for each value of the columns `split`."""
    for axis in AXES:
        parts = {}
        for line in results:
            key = tuple(f"{name}-{line[name]}" for name in split if name != axis)
            parts.setdefault(key, []).append(line)
        for key, lines in parts.items():
            for measure in MEASURES:
                series = gather(lines, axis, measure)
                if series:
                    name = "-".join([measure.replace("_us", ""), "over", axis, *key]).replace("/", "_")
                    yield f"{name}.svg", draw(series, axis, measure, heading(lines, axis))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="CSV files")
    parser.add_argument("--out", default=".", help="folder of the plots")
    parser.add_argument("--split", type=lambda text: text.split(","), default=[],
                        help="columns; each of their values gets plots of its own")
    options = parser.parse_args()
    unknown = set(options.split) - set(SERIES)
    if unknown:
        parser.error(f"no column to split by: {', '.join(sorted(unknown))}")
    os.makedirs(options.out, exist_ok=True)
    for name, plot in plots_of(read_results(options.results), options.split):
        path = os.path.join(options.out, name)
        with open(path, "w") as file:
            file.write(plot)
        print(path)


if __name__ == "__main__":
    main()
