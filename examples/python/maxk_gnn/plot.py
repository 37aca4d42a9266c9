#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what train.py has measured, for each graph and model, as SVG.

  plot.py debian.csv --out FOLDER

accuracy.svg: the test score against max_iterations, with the spread over seeds; other selections as lines, a band
              for the spread of the exact one.
time.svg:     the time of an epoch, and the selections' part of it.
Needs matplotlib.
"""

import argparse
import csv
import os
import statistics
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot: this needs matplotlib")
matplotlib.use("svg")
import matplotlib.pyplot as pyplot  # noqa: E402

ITERATIONS = "iterations="
SETTINGS = "device aggregate k hidden layers epochs".split()  # columns that the rows of a panel have in common
COLOURS = {"exact": "#1b6ca8", "torch": "#555555", "relu": "#edae49", ITERATIONS: "#d1495b"}


def read_panels(paths):
    """{(graph, model): {selection: its rows}}. Runs that differ in one of SETTINGS cannot be drawn as one."""
    panels, settings = {}, {}
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                name = os.path.basename(row["graph"].rstrip("/")), row["model"]
                setting = {column: row.get(column) for column in SETTINGS}
                if settings.setdefault(name, setting) != setting:
                    sys.exit(f"plot: runs of {' on '.join(reversed(name))} differ in {' or '.join(SETTINGS)}")
                panel = panels.setdefault(name, {})
                panel.setdefault(row["select"], []).append(row)
    return panels


def mean(rows, column):
    return statistics.mean(float(row[column]) for row in rows)


def spread(rows, column):
    return statistics.stdev(float(row[column]) for row in rows) if len(rows) > 1 else 0


def draw_accuracy(axes, selections):
    steps = sorted(int(select.partition("=")[2]) for select in selections if select.startswith(ITERATIONS))
    early = [selections[f"{ITERATIONS}{step}"] for step in steps]
    if early:
        axes.errorbar(steps, [mean(rows, "test") for rows in early], [spread(rows, "test") for rows in early],
                      color=COLOURS[ITERATIONS], marker="o", capsize=3, label="max_iterations")
        axes.set_xticks(steps)
    for select, rows in selections.items():
        if not select.startswith(ITERATIONS):
            level, width = mean(rows, "test"), spread(rows, "test")
            axes.axhline(level, color=COLOURS[select], linestyle="-" if select == "exact" else "--", label=select)
            if select == "exact":
                axes.axhspan(level - width, level + width, color=COLOURS[select], alpha=0.12, linewidth=0)
    axes.set_xlabel("max_iterations")
    axes.set_ylabel("test " + next(iter(selections.values()))[0]["metric"])


def draw_time(axes, selections):
    names = list(selections)
    epoch, shares = ([mean(selections[name], column) for name in names] for column in ("epoch_ms", "topk_share"))
    topk = [whole * share for whole, share in zip(epoch, shares)]
    axes.bar(names, topk, color=COLOURS["exact"], label="selection")
    axes.bar(names, [whole - part for whole, part in zip(epoch, topk)], bottom=topk, color="#cccccc", label="the rest")
    for place, (whole, share) in enumerate(zip(epoch, shares)):
        axes.text(place, whole, f"{share:.0%}", ha="center", va="bottom")
    axes.set_ylabel("ms of an epoch")
    axes.tick_params(axis="x", rotation=90)
    axes.margins(y=0.1)  # for the percentages


def draw(panels, draw_panel, path):
    figure, all_axes = pyplot.subplots(1, len(panels), figsize=(4.5 * len(panels), 4), squeeze=False)
    for axes, ((graph, model), selections) in zip(all_axes[0], panels.items()):
        draw_panel(axes, selections)
        axes.set_title(f"{model}, {graph}")
    labelled = {label: handle for axes in all_axes[0] for handle, label in zip(*axes.get_legend_handles_labels())}
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    figure.legend(labelled.values(), labelled, loc="lower center", ncol=len(labelled))
    figure.savefig(path, metadata={"Date": None})
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", nargs="+", help="files that train.py has written")
    parser.add_argument("--out", default=".", help="the folder to write to (default: this one)")
    options = parser.parse_args()
    panels = read_panels(options.csv)
    if not panels:
        sys.exit("plot: there are no rows")
    matplotlib.rcParams["svg.hashsalt"] = "maxk_gnn"  # the same rows give the same file
    os.makedirs(options.out, exist_ok=True)
    draw(panels, draw_accuracy, os.path.join(options.out, "accuracy.svg"))
    draw(panels, draw_time, os.path.join(options.out, "time.svg"))


if __name__ == "__main__":
    main()
