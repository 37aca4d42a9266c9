#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/comparison.py gets ratios, ranges and losses right, and notices a page that does not agree with the files.

usage: comparison.py SOURCE_DIR
"""
import pathlib
import subprocess
import sys
import tempfile

HEADER = "what,operation,type,data,rows,n,k,method,tuning,launch,call_us,check\n"


def line(what, us, data="uniform", rows=1, n=32768, k=2048, check="ok", tuning="none", launch="eager"):
    method = what if what in ("air", "gridselect", "bitonic", "bucket", "radix") else "air"
    what = "topk" if method == what else what
    return f"{what},select,f32,{data},{rows},{n},{k},{method},{tuning},{launch},{us},{check}\n"


def point(us, **where):
    return "".join(line(what, each, **where) for what, each in us.items())


# All ten and two more; air is the fastest. Then gridselect is.
RESULTS = point({"air": 10, "gridselect": 12, "bitonic": 40, "bucket": 50, "cub::DeviceRadixSort": 60, "WarpSelect": 160,
                 "BlockSelect": 48, "RadixSelect": 80, "QuickSelect": 300, "SampleSelect": 70, "RadixOverwrite": 1,
                 "cub::DeviceTopK": 1, "radix": 1})
RESULTS += point({"air": 30, "gridselect": 20, "BlockSelect": 25, "RadixSelect": 60}, n=2**20)
# Of two sorts the faster counts, and so does the faster of two lines about one method. A sort wins, then two at once.
RESULTS += point({"air": 40, "cub::DeviceSegmentedSort": 20, "cub::DeviceSegmentedRadixSort": 30, "RadixSelect": 900},
                 rows=100)
RESULTS += line("RadixSelect", 800, rows=100)
RESULTS += point({"air": 15, "gridselect": 15, "bucket": 12, "bitonic": 12}, n=2**25)
# Ours is as fast as the best: no loss. What is not ok, has knobs or is a replay does not count.
RESULTS += point({"air": 9, "bucket": 9}, data="normal")
RESULTS += line("bucket", 1, data="normal", check="VOID") + line("air", 1, data="normal", tuning="alpha=4")
RESULTS += line("RadixSelect", "", data="normal", check="refused") + line("air", 1, data="normal", launch="graph")
# k = n counts among the losses alone.
RESULTS += point({"air": 50, "bucket": 10, "RadixSelect": 5}, data="normal", rows=100, n=64, k=64)
# gridselect makes up for what air loses.
RESULTS += point({"air": 40, "gridselect": 20, "bucket": 30}, data="prefix20", n=2**21)
# Neither of ours has a time; and data of no law.
RESULTS += line("air", "", data="prefix20", check="VOID") + line("bucket", 5, data="prefix20")
RESULTS += line("air", 1, data="sorted")

FIGURE_6 = """| uniform | 1 | 2^15 | 2^11 | **10.0** | 12.0 | 60.0 | 160 | 48.0 | 40.0 | 300 | 50.0 | 70.0 | 80.0 |
| uniform | 1 | 2^20 | 2^11 | 30.0 | **20.0** | - | - | 25.0 | - | - | - | - | 60.0 |
| uniform | 1 | 2^25 | 2^11 | 15.0 | 15.0 | - | - | - | **12.0** | - | **12.0** | - | - |
| normal | 1 | 2^15 | 2^11 | **9.0** | - | - | - | - | - | - | **9.0** | - | - |
| 20 bits equal | 1 | 2^15 | 2^11 | - | - | - | - | - | - | - | **5.0** | - | - |""".splitlines()
TABLE_2 = {
    "1 | uniform": ["2.00 to 8.00, mean 4.00 (2)", "1.25 to 4.00, mean 2.24 (2)", "0.80 to 4.00, mean 1.39 (3)"],
    "1 | normal": ["-", "-", "1.00 to 1.00, mean 1.00 (1)"],
    "1 | 20 bits equal": ["-", "-", "0.75 to 0.75, mean 0.75 (1)"],
    "100 | normal": ["-", "-", "-"],
    "100 | uniform": ["20.00 to 20.00, mean 20.00 (1)", "-", "0.50 to 0.50, mean 0.50 (1)"],
}
LOSSES = """| 1 | any | 1 of 6 | 1.25 times as long | uniform, n = 2^25, k = 2^11 |
| 1 | bitonic | 1 of 6 | 1.25 times as long | uniform, n = 2^25, k = 2^11 |
| 1 | any, beside air alone | 3 of 6 | 1.33 times as long | 20 bits equal, n = 2^21, k = 2^11 |
| 100 | any | 2 of 2 | 10.00 times as long | normal, n = 64, k = 64 |
| 100 | sort | 1 of 2 | 2.00 times as long | uniform, n = 2^15, k = 2^11 |
| 100 | RadixSelect | 1 of 2 | 10.00 times as long | normal, n = 64, k = 64 |
| 100 | any, beside air alone | 2 of 2 | 10.00 times as long | normal, n = 64, k = 64 |

Points without a time of air and gridselect: 1.""".splitlines()

TIMELINES = {"air": "1,host,cudaMemsetAsync,0,2\n2,device,memset,5,6\n3,host,cudaLaunchKernelExC,3,4\n"
                    "4,device,air_first,8,20\n5,device,air_last,15,25\n6,host,cudaStreamSynchronize,5,26\n",
             "RadixSelect": "1,host,cudaLaunchKernelExC,0,2\n2,device,count_buckets,5,15\n"
                            "3,device,memcpy DtoH,16,18\n4,host,cudaStreamSynchronize,3,20\n"
                            "5,device,take,45,50\n6,host,cudaStreamSynchronize,30,51\n"}
FIGURE_8 = ["| air | 2 | 1 | 0 | 0 | 25.0 us | 72 % |", "| RadixSelect | 2 | 0 | 1 | 1 | 50.0 us | 34 % |"]

NAMES = ["figure6", "figure7", "table2", "losses", "points", "figure8"]
EMPTY = "# A page\n\n" + "".join(f"Text.\n\n<!-- comparison: {name} -->\n<!-- end -->\n\n" for name in NAMES)


class Trial:
    def __init__(self, source, folder, results=RESULTS):
        self.script, self.page = source / "bench/comparison.py", folder / "page.md"
        self.files = [folder / "k.csv", folder / "n.csv"]
        half = results.index("\n", len(results) // 2) + 1
        self.files[0].write_text(HEADER + results[:half])
        self.files[1].write_text(HEADER + results[half:])
        for name, lines in reversed(TIMELINES.items()):
            self.files.append(folder / f"timeline-{name}.csv")
            self.files[-1].write_text("at,where,name,begin_us,end_us\n" + lines)

    def run(self, *options):
        command = [sys.executable, "-B", self.script, *self.files, *options]
        return subprocess.run(command, capture_output=True, text=True)

    def check(self, page):
        self.page.write_text(page)
        return self.run("--check", self.page)


def blocks_of(text):
    """{name: lines of the table} of what is printed."""
    parts = [part.partition("\n") for part in text.split("## ")[1:]]
    return {name: body.strip().splitlines()[2:] for name, _, body in parts}


def check_numbers(trial):
    done = trial.run()
    assert done.returncode == 0, done
    blocks = blocks_of(done.stdout)
    assert list(blocks) == NAMES, blocks
    assert blocks["figure6"] == FIGURE_6, blocks["figure6"]
    assert blocks["figure7"] == [], blocks["figure7"]
    table = {" | ".join(cells[:2]): cells[2::2] for cells in (row.strip("| ").split(" | ") for row in blocks["table2"])}
    assert len(table) == 6 and {key: table[key] for key in TABLE_2} == TABLE_2, table
    assert blocks["losses"] == LOSSES, blocks["losses"]
    assert [row.split(" | ")[2] for row in blocks["points"]] == ["RadixSelect", "sort", "bitonic"], blocks["points"]
    assert blocks["figure8"] == FIGURE_8, blocks["figure8"]


def check_pages(trial):
    assert trial.check(EMPTY).returncode == 1
    assert trial.run("--write", trial.page).returncode == 0
    page = trial.page.read_text()
    assert page.startswith("# A page\n\nText.\n\n<!-- comparison: figure6 -->\n| data |"), page
    assert FIGURE_6[0] in page and trial.check(page).returncode == 0
    for right, wrong, name in [("8.00, mean", "8.01, mean", "table2"), ("| **10.0** |", "| 10.0 |", "figure6"),
                               ("1 of 6", "0 of 6", "losses"), (LOSSES[3] + "\n", "", "losses"),
                               ("72 %", "73 %", "figure8")]:
        done = trial.check(page.replace(right, wrong, 1))
        assert right in page and done.returncode == 1 and f"the block {name} " in done.stdout, (right, done)
    for spoiled in (page.replace("<!-- end -->", "", 1), page.replace(": losses", ": gains"), "# No block\n"):
        assert trial.check(spoiled).returncode == 1
    assert trial.check(page.replace("Text", "Other text")).returncode == 0


def main():
    source = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trial = Trial(source, folder)
        check_numbers(trial)
        check_pages(trial)
        page = trial.page.read_text()
        assert Trial(source, folder, RESULTS + line("bucket", "", k=99, check="FAIL")).check(page).returncode == 1
        assert Trial(source, folder, RESULTS.replace("10,ok", "11,ok")).check(page).returncode == 1


main()
