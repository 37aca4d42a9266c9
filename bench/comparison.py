#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The comparison of the AIR Top-K paper, from results of topk-bench --rivals: ten methods, two of them the paper's own.

  comparison.py compare-k.csv compare-n.csv [timeline-air.csv timeline-RadixSelect.csv]    Markdown, and all losses
  comparison.py FILES... --write PAGE      fills the page's blocks in
  comparison.py FILES... --check PAGE      fails if a block of the page is not what the files say

A block lies between `<!-- comparison: NAME -->` and `<!-- end -->`; BLOCKS has the names. A line counts if its check is
`ok`. Of CUB's sorts, and of several lines about one method and point, the fastest counts. Ratios of table2 are a
baseline's time over ours. A timeline is called timeline-WHAT.csv. The exit status is 1 if a result was wrong or a page
does not agree.
"""

import argparse
import collections
import math
import os
import re
import sys

import record

OURS = ("air", "gridselect")
BASELINES = ("sort", "WarpSelect", "BlockSelect", "bitonic", "QuickSelect", "bucket", "SampleSelect", "RadixSelect")
SORTS = re.compile(r"cub::Device\w*Sort")
LAWS = {"uniform": "uniform", "normal": "normal", "prefix20": "20 bits equal"}
ROWS = (1, 100)

# (rows, n, k) of the rows of tables, if there are results.
FIGURE_6 = [(1, 2**n, 2**k) for n, k in ((15, 11), (20, 3), (20, 11), (20, 15), (25, 11), (30, 3), (30, 11), (30, 20))]
FIGURE_7 = [(1, 2**n, 256) for n in (11, 17, 23, 27)] + [(100, 2**n, 256) for n in (11, 17, 23)]

# What the paper's Table 2 has for A100, by (rows, law): least and greatest speedup.
PAPER = {
    (1, "uniform"): ("2.02 to 21.48", "1.09 to 880.6", "1.62 to 6.81"),
    (1, "normal"): ("1.99 to 21.22", "1.09 to 882.29", "1.53 to 7.34"),
    (1, "prefix20"): ("1.98 to 10.78", "1.09 to 875.11", "1.44 to 5.0"),
    (100, "uniform"): ("13.54 to 574.17", "1.11 to 9.82", "1.56 to 27.43"),
    (100, "normal"): ("10.26 to 574.78", "1.19 to 9.82", "1.42 to 31.91"),
    (100, "prefix20"): ("8.01 to 540.15", "1.14 to 9.83", "1.38 to 26.71"),
}

Loss = collections.namedtuple("Loss", "point winner ratio")  # the time of the better one of ours over the winner's


def name_of(line):
    """Which of the ten methods a line is about, or None."""
    what = line["method"] if line["what"] == "topk" else line["what"]
    what = "sort" if SORTS.fullmatch(what) else what
    return what if what in OURS + BASELINES and line.get("tuning", "none") == "none" else None


def read_points(lines):
    """{(law, rows, n, k): {method: us}}."""
    points = collections.defaultdict(dict)
    for line in lines:
        name = name_of(line)
        if name is None or line["check"] != "ok" or line.get("launch", "eager") != "eager" or line["data"] not in LAWS:
            continue
        times = points[line["data"], int(line["rows"]), int(line["n"]), int(line["k"])]
        times[name] = min(float(line["call_us"]), times.get(name, math.inf))
    return points


def power(number):
    exponent = number.bit_length() - 1
    return f"2^{exponent}" if number == 2**exponent and number > 256 else str(number)


def shown_us(us):
    return f"{us:.1f}" if us < 100 else f"{us:.0f}"


def table(heads, rows):
    return ["| " + " | ".join(line) + " |" for line in [heads, ["---"] * len(heads), *rows]]


def figure(points, wanted):
    """The time of each method, the least in bold."""
    rows = []
    for law, words in LAWS.items():
        for key in wanted:
            times = points.get((law, *key))
            if times:
                cells = {name: shown_us(us) for name, us in times.items()}
                best = min(times.values())
                cells.update({name: f"**{cells[name]}**" for name, us in times.items() if us == best})
                rows.append([words, *map(power, key)] + [cells.get(name, "-") for name in OURS + BASELINES])
    return table(["data", "rows", "n", "k", *OURS, *BASELINES], rows)


def speedups(points, rows, law, ours, others):
    """The least time of the others over ours, at each point that has both, but for k = n, which the paper leaves out."""
    found = []
    for (point_law, point_rows, n, k), times in points.items():
        known = [times[name] for name in others if name in times]
        if (point_law, point_rows) == (law, rows) and k < n and ours in times and known:
            found.append(min(known) / times[ours])
    return found


def shown_range(ratios):
    if not ratios:
        return "-"
    mean = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
    return f"{min(ratios):.2f} to {max(ratios):.2f}, mean {mean:.2f} ({len(ratios)})"


def table2(points):
    columns = (("air", ("RadixSelect",)), ("gridselect", ("BlockSelect",)), ("air", BASELINES))
    rows = []
    for batch in ROWS:
        for law, words in LAWS.items():
            cells = [str(batch), words]
            for (ours, others), paper in zip(columns, PAPER[batch, law]):
                cells += [shown_range(speedups(points, batch, law, ours, others)), paper]
            rows.append(cells)
    heads = ["air over RadixSelect", "gridselect over BlockSelect", "air over the best of eight"]
    return table(["rows", "data"] + [cell for head in heads for cell in (head, "paper")], rows)


def losses_of(points, own=OURS):
    """Where none of our methods is the fastest, the worst first; and points where none has a time."""
    losses, without = [], []
    for point, times in points.items():
        ours = min((times[name] for name in own if name in times), default=None)
        winner = min((name for name in BASELINES if name in times), key=times.get, default=None)
        if ours is None:
            without.append(point)
        elif winner and times[winner] < ours:
            losses.append(Loss(point, winner, ours / times[winner]))
    return sorted(losses, key=lambda loss: (-loss.ratio, loss.point)), without


def shown_point(point):
    return f"{LAWS[point[0]]}, n = {power(point[2])}, k = {power(point[3])}"


def losses(points):
    """For each number of rows, and each method that is the fastest somewhere: at how many points, and the worst."""
    lost, without = losses_of(points)
    of_air, _ = losses_of(points, OURS[:1])
    rows = []
    for batch in ROWS:
        ours = [point for point in points if point[1] == batch]
        here = [loss for loss in lost if loss.point[1] == batch]
        rows.append([str(batch), "any", f"{len(here)} of {len(ours)}", *worst_of(here)])
        for name in BASELINES:
            won = [loss for loss in here if loss.winner == name]
            if won:
                rows.append([str(batch), name, f"{len(won)} of {len(ours)}", *worst_of(won)])
        alone = [loss for loss in of_air if loss.point[1] == batch]
        rows.append([str(batch), "any, beside air alone", f"{len(alone)} of {len(ours)}", *worst_of(alone)])
    note = ["", f"Points without a time of air and gridselect: {len(without)}."] if without else []
    return table(["rows", "the fastest", "points", "ours takes, at worst", "at"], rows) + note


def worst_of(lost):
    return [f"{lost[0].ratio:.2f} times as long", shown_point(lost[0].point)] if lost else ["-", "-"]


def all_losses(points):
    return table(["rows", "point", "the fastest", "ours takes"],
                 [[str(loss.point[1]), shown_point(loss.point), loss.winner, f"{loss.ratio:.2f} times as long"]
                  for loss in losses_of(points)[0]])


def figure8(timelines):
    """Of each timeline: what it has of everything, how long it is, and how much of that the device is at work."""
    rows = []
    for name, lines in sorted(timelines.items(), key=lambda item: (item[0] not in OURS, item[0])):
        host = [line for line in lines if line["where"] == "host"]
        device = sorted((float(line["begin_us"]), float(line["end_us"]), line["name"])
                        for line in lines if line["where"] == "device")
        begin, end = min(float(line["begin_us"]) for line in lines), max(each[1] for each in device)
        busy = done = 0
        for first, last, _ in device:
            busy, done = busy + max(0, last - max(first, done)), max(done, last)
        copies = sum(each[2].startswith("memcpy") for each in device)
        memsets = sum(each[2] == "memset" for each in device)
        waits = sum(line["name"].startswith("cudaStreamSynchronize") for line in host)
        rows.append([name, str(len(device) - copies - memsets), str(memsets), str(copies), str(waits - 1),
                     f"{end - begin:.1f} us", f"{100 * busy / (end - begin):.0f} %"])
    return table(["call", "kernels", "memsets", "copies", "round trips", "first launch to the end of the work",
                  "share in which the device is busy"], rows)


BLOCKS = {
    "figure6": lambda points, timelines: figure(points, FIGURE_6),
    "figure7": lambda points, timelines: figure(points, FIGURE_7),
    "table2": lambda points, timelines: table2(points),
    "losses": lambda points, timelines: losses(points),
    "points": lambda points, timelines: all_losses(points),
    "figure8": lambda points, timelines: figure8(timelines),
}
BLOCK = re.compile(r"(<!-- comparison: (\w+) -->\n)(.*?)(<!-- end -->)", re.S)


def filled(page, points, timelines):
    """The page with its blocks as they are to be."""
    def block(match):
        if match[2] not in BLOCKS:
            sys.exit(f"comparison.py: no block is called {match[2]}")
        lines = BLOCKS[match[2]](points, timelines)
        return match[1] + "".join(line + "\n" for line in lines) + match[4]
    blocks = len(BLOCK.findall(page))
    if not blocks or {page.count("<!-- comparison:"), page.count("<!-- end -->")} != {blocks}:
        sys.exit("comparison.py: the page has no block, or one without a beginning or an end")
    return BLOCK.sub(block, page)


def read(paths):
    lines, timelines = [], {}
    for path in paths:
        found = record.read(path)
        if found and "where" in found[0]:
            timelines[os.path.basename(path).removeprefix("timeline-").removesuffix(".csv")] = found
        else:
            lines += found
    return lines, timelines


def agrees(path, points, timelines):
    with open(path) as file:
        page = file.read()
    for now, wanted in zip(BLOCK.finditer(page), BLOCK.finditer(filled(page, points, timelines))):
        if now[3] != wanted[3]:
            print(f"{path}: the block {now[2]} is not what the files say")
    return page == filled(page, points, timelines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="CSV files or records of topk-bench --rivals, and timelines")
    parser.add_argument("--check", metavar="PAGE")
    parser.add_argument("--write", metavar="PAGE")
    options = parser.parse_args()
    lines, timelines = read(options.results)
    points = read_points(lines)
    if not points:
        sys.exit("comparison.py: no result of the ten methods")
    wrong = sum(line["check"] == "FAIL" for line in lines)
    if options.check:
        return not agrees(options.check, points, timelines) or wrong > 0
    if options.write:
        with open(options.write) as file:
            page = filled(file.read(), points, timelines)
        with open(options.write, "w") as file:
            file.write(page)
    else:
        for name, block in BLOCKS.items():
            print(f"## {name}", "", *block(points, timelines), "", sep="\n")
    counts = collections.Counter(line["check"] for line in lines)
    shown = ", ".join(f"{count} {check}" for check, count in counts.items())
    print(f"{len(points)} points; lines: {shown}", file=sys.stderr)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
