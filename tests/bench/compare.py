#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/compare.py compares the lines that it should, and gets ratios, marks, counts, means and its status right.

usage: compare.py SOURCE_DIR
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

HEADER = "what,operation,type,data,rows,n,k,keep_percent,direction,index,method,launch,predicate,outputs,call_us,check"
PEERS = """group,rows,n,k,data,read_us,best_us,best,air_extra_us,air_fused_us
one,1,1000,10,normal,5,20,CUB,50,40
one,1,1000,20,normal,5,40,CUB,40,50
two,1,2000,10,normal,5,10,RTop-K,,
"""
SELECT = """topk,select,f32,normal,1,1000,10,0,largest,i32,auto,eager,,,30,ok
topk,select,f32,normal,1,1000,10,0,largest,i32,auto,graph,,,1,ok
CUB,select,f32,normal,1,1000,10,0,largest,i32,auto,eager,,,2,ok
topk,select,f32,normal,1,1000,20,0,largest,i32,auto,eager,,,60,ok
topk,select,f32,normal,1,1000,20,0,largest,i32,auto,eager,,,3,VOID
topk,select,f64,normal,1,1000,20,0,largest,i32,auto,eager,,,4,ok
topk,select,f32,uniform,1,1000,20,0,largest,i32,auto,eager,,,5,ok
topk,select,f32,normal,1,1000,20,0,smallest,i32,auto,eager,,,6,ok
topk,select,f32,normal,1,1000,20,0,largest,i64,auto,eager,,,7,ok
topk,select,f32,normal,1,2000,10,0,largest,i32,air,eager,,,10,ok
topk,select,f32,normal,1,2000,10,0,largest,i32,air,eager,,,,refused
topk,kth,f32,normal,1,1000,10,0,largest,i32,auto,eager,,,9,ok
"""
SELECT_RATIOS = {0: ("0.7500", "1.5000"), 3: ("1.5000", "1.5000"), 4: ("0.0750", "0.0750"), 9: ("", "1.0000")}
SELECT_MARKS = ["30.00 us ok, 0.75 of AIR, 1.50 of CUB", "60.00 us ok, 1.50 of AIR TOO SLOW, 1.50 of CUB",
                "3.00 us VOID, 0.07 of AIR, 0.07 of CUB", "10.00 us ok, 1.00 of RTop-K"]
ONE = "3 points, 1 VOID; to AIR: 1 of 2 within 1.1, geometric mean 1.061; to the best peer: 0 of 2 at most 1, " \
      "geometric mean 1.500"
TWO = "1 points; to RTop-K: 1 of 1 within 1.1, geometric mean 1.000; to the best peer: 1 of 1 at most 1, geometric " \
      "mean 1.000"
SELECT_GROUPS = ["auto one " + ONE, "air two " + TWO, "auto all " + ONE, "air all " + TWO]

# The same point under two promises, and beside one whose best peer is no AIR.
ORDERED_HEADER = HEADER.replace("index,", "order,ties,index,")
ORDERED = """topk,select,f32,normal,1,1000,10,0,largest,any,any,i32,auto,eager,,,20,ok
topk,select,f32,normal,1,1000,10,0,largest,best,lowest,i32,auto,eager,,,40,ok
topk,select,f32,normal,1,2000,10,0,largest,best,lowest,i32,auto,eager,,,20,ok
"""
ORDERED_RATIOS = {0: ("0.5000", "1.0000"), 1: ("1.0000", "2.0000"), 2: ("", "2.0000")}
ORDERED_MARKS = ["20.00 us ok, 0.50 of AIR, 1.00 of CUB", "40.00 us ok, 1.00 of AIR, 2.00 of CUB",
                 "20.00 us ok, 2.00 of RTop-K"]
FREE = "1 points; to AIR: 1 of 1 within 1.1, geometric mean 0.500; to the best peer: 1 of 1 at most 1, geometric mean 1.000"
BEST = ["1 points; to AIR: 1 of 1 within 1.1, geometric mean 1.000; to the best peer: 0 of 1 at most 1, geometric mean 2.000",
        "1 points; to RTop-K: 0 of 1 within 1.1, geometric mean 2.000; to the best peer: 0 of 1 at most 1, geometric mean "
        "2.000",
        "2 points; to AIR or RTop-K: 1 of 2 within 1.1, geometric mean 1.414; to the best peer: 0 of 2 at most 1, geometric "
        "mean 2.000"]
ORDERED_GROUPS = ["auto any any one " + FREE, "auto best lowest one " + BEST[0], "auto best lowest two " + BEST[1],
                  "auto any any all " + FREE, "auto best lowest all " + BEST[2]]

WHERE_PEERS = """n,keep_percent,read_us,flagged_us,if_us,copy_if_us,nonzero_us
500,10,,,,,
1000,10,5,20,50,40,90
1000,50,5,30,40,50,90
"""
WHERE = """topk,where,f32,uniform,1,500,50,10,largest,i32,auto,eager,greater,indices,9,ok
topk,where,f32,uniform,1,1000,100,10,largest,i32,auto,eager,greater,indices,20,ok
topk,where,f32,uniform,1,1000,100,10,largest,i32,auto,eager,at-most,indices,20,ok
topk,where,f32,uniform,1,1000,100,10,largest,i32,auto,eager,greater,values,20,ok
topk,where,f32,uniform,2,1000,100,10,largest,i32,auto,eager,greater,indices,20,ok
topk,where,f32,uniform,1,1000,500,50,largest,i32,auto,eager,greater,indices,42,ok
"""
WHERE_RATIOS = {1: ("", "1.0000"), 5: ("", "1.4000")}
WHERE_MARKS = ["20.00 us ok, 0.50 of thrust::copy_if, 1.00 of CUB Flagged",
               "42.00 us ok, 1.05 of CUB If TOO SLOW, 1.40 of CUB Flagged"]
WHERE_GROUPS = ["auto where 2 points; to CUB If or Thrust: 1 of 2 within 1.0, geometric mean 0.725; to the best peer: "
                "1 of 2 at most 1, geometric mean 1.183"]


def compare(source, folder, results, peers, header=HEADER):
    """The exit status, the lines of the output without runs of spaces, and the CSV file that was written."""
    (folder / "results.csv").write_text(header + "\n" + results)
    (folder / "peers.csv").write_text(peers)
    done = subprocess.run([sys.executable, "-B", source / "bench/compare.py", folder / "results.csv",
                           folder / "peers.csv", "--csv", folder / "out.csv"], capture_output=True, text=True)
    with open(folder / "out.csv", newline="") as file:
        return done.returncode, [" ".join(line.split()) for line in done.stdout.splitlines()], list(csv.DictReader(file))


def check(got, results, ratios, marks, groups):
    status, lines, written = got
    assert status == 0, got
    assert len(lines) == len(marks) + 1 + len(groups), lines
    assert all(line.endswith(mark) for line, mark in zip(lines, marks)), lines
    assert lines[len(marks) + 1:] == groups, lines
    assert [",".join(list(line.values())[:-2]) for line in written] == results.splitlines(), written
    for i, line in enumerate(written):
        assert (line["to_air"], line["to_best"]) == ratios.get(i, ("", "")), (i, line)


def main():
    source = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check(compare(source, folder, SELECT, PEERS), SELECT, SELECT_RATIOS, SELECT_MARKS, SELECT_GROUPS)
        check(compare(source, folder, ORDERED, PEERS, ORDERED_HEADER), ORDERED, ORDERED_RATIOS, ORDERED_MARKS,
              ORDERED_GROUPS)
        check(compare(source, folder, WHERE, WHERE_PEERS), WHERE, WHERE_RATIOS, WHERE_MARKS, WHERE_GROUPS)
        wrong = "topk,kth,f32,normal,1,1000,10,0,largest,i32,auto,eager,,,,FAIL\n"
        assert compare(source, folder, SELECT + wrong, PEERS)[0] == 1
        assert compare(source, folder, WHERE, PEERS)[0] == 1


main()
