#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions about a CSV file that `topk select` answers, beside DuckDB and polars: the 10 best of a column, and the 3 best of each group.

  columns.py build/topk [--gb 3] [--groups 1000] [--questions column,groups] [--threads 2] [--rounds 5] [--folder /tmp]
             [--table FILE] [--csv FILE]

The file has six columns (id, group, name, value, weight, day) and lies in the page cache. --table takes one that was made
before, or makes it and keeps it; --groups then says what it was made with. Contenders take turns, each
in a process of its own, and give whole lines. Seconds are of the whole process for the tool, and of the query alone for the
others: Python and their modules have started. MiB are what the process had resident at most; `start_mib` is what it had
before the query. Figures are medians, and a ratio is of one round: how many times as long as the tool, and how many times as
much memory. All must find the same lines: the exit status is 1 if they do not. Needs numpy, duckdb and polars.
"""

import argparse
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HEADER = "id,group,name,value,weight,day\n"
BLOCK = 10**6  # lines
BEST = {"column": 10, "groups": 3}


def write(path, size, groups):
    import numpy
    rng = numpy.random.default_rng(1)
    names = numpy.array([f"name-{i}" for i in range(5000)])
    with open(path, "w", encoding="ascii") as file:
        file.write(HEADER)
        first = 0
        while file.tell() < size:
            columns = (range(first, first + BLOCK), rng.integers(groups, size=BLOCK), names[rng.integers(5000, size=BLOCK)],
                       rng.normal(0, 1000, BLOCK), rng.random(BLOCK), rng.integers(1, 29, BLOCK))
            file.writelines(f"{i},g{group},{name},{value:.6f},{weight:.4f},2026-11-{day:02}\n" for i, group, name, value, weight, day in zip(*columns))
            first += BLOCK


# ---- Contenders, each in a process of its own. It yields what it had resident before, then the ids of its lines --------

def resident_mib(whose=resource.RUSAGE_SELF):
    return resource.getrusage(whose).ru_maxrss / 1024


def ask_topk(question, path, threads, tool):
    by = ["--by", "group"] if question == "groups" else []
    yield 0
    command = [tool, "select", path, "--csv", "--column", "value", "-k", str(BEST[question]), *by, "--threads", str(threads)]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    yield [int(line.split(b",")[0]) for line in lines[1:]]


def ask_duckdb(question, path, threads, _):
    import duckdb
    database = duckdb.connect(config={"threads": threads})
    yield resident_mib()
    wanted = {"column": "order by value desc limit {}",
              "groups": 'qualify row_number() over (partition by "group" order by value desc) <= {}'}[question]
    rows = database.sql(f"select * from read_csv('{path}') {wanted.format(BEST[question])}").fetchall()
    yield [row[0] for row in rows]


def ask_polars(question, path, threads, _):
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars
    yield resident_mib()
    table = polars.scan_csv(path)
    if question == "column":
        rows = table.top_k(BEST[question], by="value")
    else:
        rows = table.group_by("group").agg(polars.all().top_k_by("value", BEST[question])).explode(polars.exclude("group"))
    yield rows.collect(engine="streaming")["id"].to_list()


CONTENDERS = {"topk": ask_topk, "duckdb": ask_duckdb, "polars": ask_polars}


def answer(who, question, path, options):
    steps = CONTENDERS[who](question, path, options.threads, options.tool)
    start_mib = next(steps)
    begin = time.perf_counter()
    ids = next(steps)
    seconds = time.perf_counter() - begin
    print(seconds, resident_mib(resource.RUSAGE_CHILDREN if who == "topk" else resource.RUSAGE_SELF), start_mib)
    print(*ids)


# ---- Rounds ----------------------------------------------------------------------------------------------------------

def ask(options, who, question, path):
    """The ids of the lines that a contender finds, then its seconds, its MiB and those before."""
    command = [sys.executable, __file__, options.tool, "--answer", who, question, path, "--threads", str(options.threads)]
    figures, ids = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    return sorted(map(int, ids.split())), *map(float, figures.split())


def measure(options, question, path, groups):
    """A line of the CSV for each contender."""
    figures = {who: [] for who in CONTENDERS}
    for turn in range(options.rounds + 1):
        found = {who: ask(options, who, question, path) for who in figures}
        first = found["topk"]
        if any(each[0] != first[0] for each in found.values()):
            sys.exit("columns.py: contenders find different lines")
        for who, (_, seconds, mib, start_mib) in found.items():
            if turn > 0:  # the first one warms up
                figures[who].append((seconds, mib, start_mib, seconds / first[1], mib / first[2]))
    for who, rounds in figures.items():
        medians = dict(zip(("seconds", "mib", "start_mib", "ratio", "memory_ratio"), map(statistics.median, zip(*rounds))))
        yield {"question": question, "k": BEST[question], "groups": groups, "gb": f"{os.path.getsize(path) / 1e9:.2f}",
               "threads": options.threads, "contender": who, "rounds": options.rounds,
               **{name: f"{figure:.{0 if 'mib' in name else 3}f}" for name, figure in medians.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--gb", type=float, default=3)
    parser.add_argument("--groups", default="1000")
    parser.add_argument("--questions", default="column,groups", help="of these two")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where the file is made and removed")
    parser.add_argument("--table", metavar="FILE", help="a file of one number of groups, which stays")
    parser.add_argument("--csv", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--answer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answer(*options.answer, options)
        return
    writer = None
    for groups in map(int, options.groups.split(",")):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = options.table or os.path.join(folder, "table.csv")
            if not os.path.exists(path):
                write(path, options.gb * 1e9, groups)
            for question in options.questions.split(","):
                for line in measure(options, question, path, groups):
                    if writer is None:
                        writer = csv.DictWriter(options.csv, line, lineterminator="\n")
                        writer.writeheader()
                    writer.writerow(line)
                    options.csv.flush()


if __name__ == "__main__":
    main()
