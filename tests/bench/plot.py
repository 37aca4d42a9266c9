#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/plot.py draws plots with a title, decimal ticks and at most eight lines, of records and of published records.

usage: plot.py SOURCE_DIR
"""
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "bench"))
import plot  # noqa: E402

OURS = [f"topk {method}" for method in ("air", "radix", "sort")]
RIVALS = [f"rival-{i}" for i in range(1, 8)]  # the later, the slower


def of_bench():
    """Ten contenders at three lengths."""
    lines = ["what,operation,type,data,rows,n,k,keep_percent,order,ties,index,method,launch,threads,cache,features,"
             "call_us,check"]
    for n in (2**10, 2**16, 2**23):
        for i, what in enumerate(OURS + RIVALS):
            name, _, method = what.partition(" ")
            lines.append(f"{name},select,f32,uniform,1,{n},32,0,any,any,i32,{method or 'air'},eager,,cold,a GPU,"
                         f"{n / 1000 * (i + 1)},ok")
    return "\n".join(lines) + "\n"


PUBLISHED = """measured,features
2026-11-28,a GPU

type,rows,n,k,data,read_us,any_us,default_us,best_us,best,second_us,second
f32,1,1000,32,uniform,1,2,3,4,CUB one,5,CUB two
f32,1,100000,32,uniform,2,4,6,8,RAFT queue,10,CUB two
f32,1,1000000,32,uniform,4,8,12,16,CUB one,20,RAFT other
"""


def drawn(folder, name, *texts):
    paths = []
    for i, text in enumerate(texts):
        paths.append(folder / f"{i}.csv")
        paths[-1].write_text(text)
    svg = dict(plot.plots_of(plot.read_results(paths)))[name]
    lines = re.findall(r'stroke="(#(?!ddd)\w+)" stroke-width="2"/>\n<path d="M\d+ \d+h22', svg)
    return re.findall(r"<text [^>]*>([^<]*)</text>", svg), lines


def check_records(folder):
    words, lines = drawn(folder, "call-over-n.svg", of_bench())
    assert "Microseconds of a call by elements of a row: lower is better" in words, words
    assert "select, f32, uniform, rows: 1, k = 32, order: any, ties: any, a GPU" in words, words
    assert {"1 k", "10 k", "100 k", "1 M", "10 M", "1,000", "10"} <= set(words), words
    assert not any("e+" in each for each in words), words
    # Lines of the library stay, and the slowest rivals go.
    shown = [each for each in words if each.startswith(("libtopk", "rival"))]
    assert shown == [*reversed(RIVALS[:5]), "libtopk sort", "libtopk radix", "libtopk air"], shown
    assert len(lines) == 8 and "and 2 more lines, not drawn" in words, (lines, words)


def check_published(folder):
    contenders = ["RAFT", "CUB", "libtopk, best first", "libtopk, any order", "one read"]
    words, lines = drawn(folder, "call-over-n.svg", PUBLISHED)
    assert [each for each in words if each in contenders] == contenders and len(lines) == 5, words
    assert "select, f32, uniform, rows: 1, k = 32, a GPU, 2026-11-28" in words, words
    points = {line["what"]: [] for line in plot.read_results([folder / "0.csv"])}
    for line in plot.read_results([folder / "0.csv"]):
        points[line["what"]].append((int(line["n"]), line["call_us"]))
    assert points["CUB"] == [(1000, 4), (100000, 10), (1000000, 16)], points
    assert points["RAFT"] == [(100000, 8), (1000000, 20)], points
    assert points["one read"] == [(1000, 1), (100000, 2), (1000000, 4)], points
    # Beside it, other records give rivals alone.
    for texts in (of_bench(), PUBLISHED), (PUBLISHED, of_bench()):
        words, _ = drawn(folder, "call-over-n.svg", *texts)
        assert "rival-1" in words and not any(each.startswith("libtopk ") for each in words), words
        assert "select, f32, uniform, rows: 1, k = 32, a GPU" in words, words


def check_ticks():
    scale = plot.Scale([1.02, 1.16], 0, 100, 12)
    assert (scale.low, scale.high, scale.ticks()) == (1, 1.2, [1, 1.05, 1.1, 1.15, 1.2]), vars(scale)
    assert plot.Scale([3, 4e8], 0, 100, 9).ticks() == [10.0**i for i in range(1, 9)]


def main():
    with tempfile.TemporaryDirectory() as name:
        check_records(pathlib.Path(name))
        check_published(pathlib.Path(name))
    check_ticks()


main()
