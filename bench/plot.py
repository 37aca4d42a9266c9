#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plots of CSV files of topk-bench and rivals.py, or of records, as SVG: the time of a call, its ratio to the limit,
which for select is one read, and to the fastest published implementation, if compare.py has added that; over the row
length, k, the number of rows, the share that is kept and the threads, wherever the results hold at least two values of
these.

  plot.py RESULTS.csv... --out FOLDER
  plot.py fig6.csv --split n,data --out FOLDER     a plot for each n and each data, not one of all lines
"""

import argparse
import html
import math
import os

import record

AXES = {"n": "elements of a row", "k": "k", "rows": "rows", "alpha": "alpha", "keep_percent": "percent kept",
        "threads": "threads of a call, or of a block of a baseline", "max_iterations": "steps"}
MEASURES = {"call_us": "microseconds", "to_limit": "times the limit", "to_best": "times the fastest published"}
# What tells one line of a plot from another; the axis itself is left out.
SERIES = ["what", "operation", "type", "data", "rows", "n", "k", "keep_percent", "order", "ties", "index", "method",
          "tuning", "launch", "predicate", "outputs", "routing", "max_iterations", "epsilon", "epsilon_relative", "lengths",
          "threads", "cache", "features"]
HIDDEN = {"alpha": {"tuning"}}  # what the axis stands for
COUNTING = {"where", "count", "mask"}  # their k is the number of matches, which follows from n and the share

MOST_TICKS = 9
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 480, 70, 330, 40, 50
COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#7b4b94", "#e377c2", "#8c564b", "#555555"]


def read_results(paths):
    results = []
    # Only results on a GPU have these, and only later ones; before, all rows were even.
    of_gpus = dict.fromkeys(("tuning", "launch", "predicate", "outputs", "routing"), "")
    of_gpus.update(dict.fromkeys(("max_iterations", "epsilon", "epsilon_relative"), "0"), lengths="even")
    for path in paths:
        results += [{**of_gpus, **line} for line in record.read(path) if line["check"] == "ok"]
    for line in results:
        alpha = line["tuning"].removeprefix("alpha=") if line["tuning"].startswith("alpha=") else "0"
        line["alpha"] = line["n"] if alpha == "n" else alpha if alpha.isdigit() else "0"
    return results


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


def labels(names, keys):
    """For each key the parts in which the keys differ, but for what follows from the first part."""
    def tells(i):
        return i == 0 or len({(key[0], key[i]) for key in keys}) > len({key[0] for key in keys})
    telling = [i for i in range(len(names)) if tells(i)]

    def part(name, value):
        if name == "keep_percent":
            return f"{value} %" if value != "0" else ""
        return f"{name} {value}" if value.isdigit() else value
    return [" ".join(filter(None, (part(names[i], key[i]) for i in telling))) for key in keys]


class Scale:
    """A logarithmic axis on a span of pixels, from the last round number that is no more than all values to the first
    that is more."""

    def __init__(self, values, begin, end):
        decades = range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 2)
        rounds = [float(f"{digit}e{exponent}") for exponent in decades for digit in (1, 2, 5)]
        self.low = max(number for number in rounds if number <= min(values))
        self.high = min(number for number in rounds if number > max(values))
        self.rounds = [number for number in rounds if self.low <= number <= self.high]
        self.begin, self.end = begin, end

    def __call__(self, value):
        return self.begin + math.log(value / self.low) / math.log(self.high / self.low) * (self.end - self.begin)

    def ticks(self):
        tens = [number for number in self.rounds if f"{number:e}".startswith("1.0")]
        return tens if len(self.rounds) > MOST_TICKS else self.rounds


def text(x, y, words, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def draw(series, axis, measure):
    names = labels(series_names(axis), list(series))
    points = [point for line in series.values() for point in line.items()]
    x_of = Scale([x for x, _ in points], LEFT, WIDTH - RIGHT)
    y_of = Scale([y for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
             'font-size="12"><rect width="100%" height="100%" fill="white"/>']
    for x in x_of.ticks():
        parts.append(f'<path d="M{x_of(x):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(text(x_of(x), HEIGHT - BOTTOM + 16, f"{x:g}", "middle"))
    for y in y_of.ticks():
        parts.append(f'<path d="M{LEFT} {y_of(y):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(text(LEFT - 6, y_of(y) + 4, f"{y:g}", "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, AXES[axis], "middle"))
    parts.append(text(LEFT, TOP - 14, MEASURES[measure]))
    for i, (label, line) in enumerate(zip(names, series.values())):
        colour = COLOURS[i % len(COLOURS)]
        dashes = ("", "6 3", "2 3", "8 3 2 3")[i // len(COLOURS) % 4]
        path = "L".join(f"{x_of(x):.1f} {y_of(y):.1f}" for x, y in sorted(line.items()))
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
        parts.append(f'<path d="M{WIDTH - RIGHT + 12} {TOP + 15 * i}h22" stroke="{colour}" stroke-width="2" '
                     f'stroke-dasharray="{dashes}"/>')
        parts.append(text(WIDTH - RIGHT + 40, TOP + 15 * i + 4, label))
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
                    yield f"{name}.svg", draw(series, axis, measure)


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
