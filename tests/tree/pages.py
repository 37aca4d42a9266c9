#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A page of docs/methods/ has at most 150 lines. Each record of docs/benchmarks/ stands in its folder's README.md, with
the date, the commit and the driver that the record itself states; nothing else lies there but the README, notes and
plots. Plots are as plot.py draws them: plots/peers/ has plots of peers.csv, and plots/a+b/ of two files, from the folder or
from published/. They have a title and at most eight lines. The figures of others, in published/, state no date. README.md, of at most 230
lines, lists the options of CMake, and no other. CONTRACT.md has promises, in at most 280 lines, and each of its sections that a
file quotes.

usage: pages.py SOURCE_DIR
"""
import itertools
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import plot  # noqa: E402
import record  # noqa: E402

LINES = 150
README_LINES = 230
CONTRACT_LINES = 280
SECTION = re.compile(r"^(?:## |- \*\*)(\d+(?:\.\d+)?)", re.M)
# "CONTRACT.md, 7.1 and 7.3", over the ends of lines of comments; within CONTRACT.md "(7.3)" and "section 7".
QUOTED = re.compile(r"CONTRACT\.md\)?,?[\s*#]+(?:sections? )?(\d+(?:\.\d+)?(?:(?:, | and | to )\d+\.\d+)*)")
OWN = re.compile(r"(?:\(|sections? )(\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*)\)?(?=[\s,.:;)])")
QUOTING = {".c", ".h", ".hpp", ".cuh", ".cu", ".cpp", ".py", ".md", ".1", ".patch"}
OPTION = re.compile(r"^ *(?:option\(|set\((?=\w+ \S+ CACHE ))(TOPK_\w+)", re.M)
SPLIT = ("n", "data", "rows", "k")  # of plots with these words in their names


def long_pages(methods):
    for page in sorted(methods.glob("*.md")):
        lines = len(page.read_text().splitlines())
        if lines > LINES:
            yield f"{page.name} has {lines} lines, more than {LINES}"


def misleading_readme(source):
    text = (source / "README.md").read_text()
    if len(text.splitlines()) > README_LINES:
        yield f"README.md has {len(text.splitlines())} lines, more than {README_LINES}"
    scripts = [*source.glob("*.txt"), *source.glob("cmake/*.cmake"), *source.glob("tests/**/CMakeLists.txt")]
    options = {name for script in scripts for name in OPTION.findall(script.read_text())}
    listed = set(re.findall(r"^\| `(TOPK_\w+)` \|", text, re.M))
    for name in sorted(options ^ listed):
        yield f"README.md {'lists' if name in listed else 'does not list'} {name}"


def quoting(source):
    """Files that may quote the contract, and how they do."""
    yield source / "CONTRACT.md", OWN
    folders = ("include", "src", "cli", "bench", "tests", "python", "examples", "docs")
    for path in [*source.glob("*.md"), *(path for folder in folders for path in (source / folder).rglob("*"))]:
        if path.suffix in QUOTING and path.is_file() and path.name != "CHANGELOG.md" and "releases" not in path.parts:
            yield path, QUOTED


def misquoted_contract(source):
    text = (source / "CONTRACT.md").read_text()
    if len(text.splitlines()) > CONTRACT_LINES:
        yield f"CONTRACT.md has {len(text.splitlines())} lines, more than {CONTRACT_LINES}"
    sections, quotes = set(SECTION.findall(text)), 0
    for path, pattern in quoting(source):
        for quoted in pattern.findall(path.read_text(errors="replace")):
            numbers = re.findall(r"\d+(?:\.\d+)?", quoted)
            quotes += len(numbers)
            for number in numbers:
                if number not in sections:
                    yield f"{path.relative_to(source)} quotes CONTRACT.md {number}, which is not there"
    if quotes < 60:
        yield f"{quotes} sections of CONTRACT.md are quoted, fewer than there were"


def listed_records(readme):
    """{file: {column: cell}} of a table whose columns are `file`, what a record states, and what was run."""
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in readme.splitlines() if line[:1] == "|"]
    return {row[0]: dict(list(zip(rows[0], row))[1:-1]) for row in rows[2:]}


def misplaced_records(folder):
    needed = set() if folder.name == "published" else {"date", "commit"}
    listed = listed_records((folder / "README.md").read_text())
    there = {path.name for path in folder.iterdir()}
    for name in sorted(there - listed.keys()):
        if not re.fullmatch(r"README\.md|notes-[a-z]+\.md|plots", name):
            yield f"{folder.name}/README.md does not list {name}"
    for name, cells in sorted(listed.items()):
        if name not in there:
            yield f"{folder.name}/README.md lists {name}, which is not there"
            continue
        line = record.read(folder / name)[0]
        stated = {column: line[column] for column in ("date", "commit", "driver") if column in line}
        if stated != cells or not stated.keys() >= needed:
            yield f"{folder.name}/README.md says {cells} of {name}, which says {stated}"


def stale_plots(folder):
    splits = [split for length in range(len(SPLIT) + 1) for split in itertools.combinations(SPLIT, length)]
    for plots in sorted(folder.glob("plots/*")):
        places = [folder, folder.parent / "published"]
        files = [next(place / f"{name}.csv" for place in places if (place / f"{name}.csv").exists())
                 for name in plots.name.split("+")]
        results = plot.read_results(files)
        drawn = {name: text for split in splits for name, text in plot.plots_of(results, split)}
        for path in sorted(plots.iterdir()):
            if drawn.get(path.name) != path.read_text():
                yield f"{path.relative_to(folder)} is not what plot.py draws of {plots.name}.csv"


def main():
    source = pathlib.Path(sys.argv[1])
    docs = source / "docs"
    folders = [path for path in (docs / "benchmarks").iterdir() if path.is_dir()]
    complaints = [*long_pages(docs / "methods"), *misleading_readme(source), *misquoted_contract(source)]
    for folder in folders:
        complaints += [*misplaced_records(folder), *stale_plots(folder)]
    print(*complaints, f"{len(folders)} records, {len(complaints)} complaints", sep="\n")
    return len(complaints) != 0 or not folders


if __name__ == "__main__":
    sys.exit(main())
