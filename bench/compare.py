#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sets results of topk-bench on a GPU beside what published implementations took at the same points.

  compare.py RESULTS.csv... peers_h200.csv           the suites peers and peers-GROUP
  compare.py RESULTS.csv... peers_where_h200.csv     the suite where on CUDA

A line for each eager call of libtopk shows its time over two of theirs. The first is a rival's that does the same work:
for select the faster of RAFT's two variants of AIR Top-K, or the best where these have no figure, as for short rows;
for where the faster of CUB If and thrust::copy_if. TOO SLOW
marks a ratio above 1.1 for select, above 1 for where. The second is the fastest of all, which for where is CUB Flagged:
it is told which elements match. At the end come counts and geometric means of each group, for each method and each
promise of order and ties; lines that are VOID are counted and take no further part. The exit status is 1 if a result
was wrong, or if there is nothing to compare.
"""

import argparse
import collections
import csv
import math
import os
import sys

import record

Peer = collections.namedtuple("Peer", "group name us tolerance best best_us")
SELECT = dict(operation="select", type="f32", direction="largest", index="i32", lengths="even")
WHERE = dict(operation="where", type="f32", index="i32", rows="1", data="uniform", predicate="greater",
             outputs="indices")


def least(line, names):
    """(time, name) of the fastest of these columns that has a time; names say what they are called."""
    return min(((float(line[column]), name) for column, name in names.items() if line[column]), default=(None, None))


def read_peers(path):
    """The peers by the point they were measured at, the columns that name a point, and what it must be besides."""
    with open(path, newline="") as file:
        lines = list(csv.DictReader(file))
    if "group" not in lines[0]:
        names = {"if_us": "CUB If", "copy_if_us": "thrust::copy_if"}
        peers = {(line["n"], line["keep_percent"]): Peer("where", *reversed(least(line, names)), 1.0, "CUB Flagged",
                                                         float(line["flagged_us"]))
                 for line in lines if line["flagged_us"]}
        return peers, ("n", "keep_percent"), WHERE
    names = {"air_extra_us": "AIR", "air_fused_us": "AIR"}
    peers = {}
    for line in lines:
        best = line["best"], float(line["best_us"])
        us, name = least(line, names) if least(line, names)[0] else reversed(best)
        peers[tuple(line[c] for c in ("rows", "n", "k", "data"))] = Peer(line["group"], name, us, 1.1, *best)
    return peers, ("rows", "n", "k", "data"), SELECT


def peer_of(line, peers, columns, conditions):
    ours = line["what"] == "topk" and line.get("launch", "eager") == "eager" and line["call_us"]
    same = ours and all(line.get(column, wanted) == wanted for column, wanted in conditions.items())
    return peers.get(tuple(line[column] for column in columns)) if same else None


class Group:
    """Ratios of one method: to the peer that does the same work, and to the best of all."""

    def __init__(self):
        self.names, self.tolerance = {}, None
        self.points = self.void = 0
        self.to_peer, self.to_best = [], []

    def add(self, line, peer, to_peer, to_best):
        self.points += 1
        self.names["CUB If or Thrust" if peer.group == "where" else peer.name] = True
        self.tolerance = peer.tolerance
        if line["check"] != "ok":
            self.void += 1
            return
        self.to_best.append(to_best)
        if to_peer is not None:
            self.to_peer.append(to_peer)

    def __str__(self):
        def mean(ratios):
            return f"geometric mean {math.exp(math.fsum(map(math.log, ratios)) / len(ratios)):.3f}"

        def within(ratios, limit):
            return f"{sum(ratio <= limit for ratio in ratios)} of {len(ratios)}"
        parts = [f"{self.points:3} points" + (f", {self.void} VOID" if self.void else "")]
        if self.to_peer:
            parts.append(f"to {' or '.join(self.names)}: {within(self.to_peer, self.tolerance)} within "
                         f"{self.tolerance:.1f}, " + mean(self.to_peer))
        if self.to_best:
            parts.append(f"to the best peer: {within(self.to_best, 1)} at most 1, {mean(self.to_best)}")
        return "; ".join(parts)


def compare(lines, peers, columns, conditions, out):
    """Writes a line for each that has a peer, fills its columns to_air and to_best, and returns the groups."""
    groups, totals = collections.defaultdict(Group), collections.defaultdict(Group)
    for line in lines:
        line.update(to_air="", to_best="")
        peer = peer_of(line, peers, columns, conditions)
        if peer is None:
            continue
        us, method = float(line["call_us"]), line["method"]
        promises = f"{line.get('order', '')} {line.get('ties', '')}"
        to_peer, to_best = us / peer.us if peer.us else None, us / peer.best_us
        line["to_best"] = f"{to_best:.4f}"
        if peer.name == "AIR":
            line["to_air"] = f"{to_peer:.4f}"
        groups[method, promises, peer.group].add(line, peer, to_peer, to_best)
        if peer.group != "where":
            totals[method, promises, "all"].add(line, peer, to_peer, to_best)
        point = " ".join(f"{column} {line[column]:10}" for column in columns)
        shown = "" if to_peer is None or peer.name == peer.best else f", {to_peer:.2f} of {peer.name}{' TOO SLOW' * (to_peer > peer.tolerance)}"
        out.write(f"{method:8} {point} {us:10.2f} us {line['check']}{shown}, {to_best:.2f} of {peer.best}\n")
    return {**groups, **totals}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="CSV files of topk-bench, or records")
    parser.add_argument("peers", help="what published implementations took")
    parser.add_argument("--csv", help="write all results to this file, with the columns to_air and to_best")
    options = parser.parse_args()
    lines = []
    for path in options.results:
        lines += record.read(path)
    groups = compare(lines, *read_peers(options.peers), sys.stdout)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    if not groups:
        sys.exit("compare.py: no result is about a point of " + os.path.basename(options.peers))
    print("our time over the published time (H200, driver 580.159.04, 2026-11-20; select in any order, "
          "ties free):")
    for (method, promises, name), group in groups.items():
        print(f"{method:10} {promises:12} {name:10} {group}")
    return any(line["check"] == "FAIL" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
