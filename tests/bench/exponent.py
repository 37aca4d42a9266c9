#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/exponent.py has the library's numbers, finds numbers that explain times which follow its model, leaves out
wrong lines, and reads records.

usage: exponent.py SOURCE_DIR
"""
import csv
import io
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

COLUMNS = ["type", "n", "k", "method", "tuning", "data", "check", "call_us"]


def check_constants(exponent, source):
    sizes = (source / "src/cuda/drtopk/sizes.h").read_text()
    for name, value in (("EXPONENT_MIN", exponent.EXPONENTS[0]), ("EXPONENT_MAX", exponent.EXPONENTS[-1]),
                        ("COALESCED_MAX", exponent.COALESCED_MAX), ("WAITING", exponent.WAITING),
                        ("DELEGATES_OF_K", exponent.DELEGATES_OF_K)):
        assert f"DRTOPK_{name} = {value}," in sizes, name
    strategy = (source / "src/cuda/drtopk/strategy.c").read_text()
    numbers = re.search(r"delegate_costs\[WIDTHS\] = \{(.*?)\};", strategy, re.S).group(1)
    found = [tuple(map(int, each.split(","))) for each in re.findall(r"\{([^{}]*)\}", numbers)]
    assert found == [exponent.NUMBERS[size] for size in (1, 2, 4, 8)], found


def lines_of(exponent, numbers):
    """Times that follow the model, but for a wrong line's."""
    for n in (2**20, 2**24, 2**30):
        for k in (1, 2**10, 2**14):
            for e in exponent.EXPONENTS:
                us = 100 + exponent.work(exponent.terms_of(("u32", n, k, 2, 0), e, 132), numbers) / 1e6
                yield ["u32", n, k, "drtopk", f"exponent={e}", "uniform", "ok", us]
            yield ["u32", n, k, "drtopk", "none", "uniform", "ok", us]
    yield ["u32", 2**30, 1, "drtopk", "exponent=4", "uniform", "FAIL", 1]
    yield ["u32", 2**30, 1, "radix", "none", "uniform", "ok", 1]


def table(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def main():
    source = pathlib.Path(sys.argv[1])
    script = source / "bench/exponent.py"
    sys.path.insert(0, str(script.parent))
    import exponent
    check_constants(exponent, source)
    assert exponent.rule("u32", 2**20, 2**20, 2) is None
    assert exponent.rule("u32", 2**30, 2**18, 2) < exponent.rule("u32", 2**30, 1, 2)
    rows = list(lines_of(exponent, (50, 40, 300)))
    with tempfile.TemporaryDirectory() as folder:
        plain, record = pathlib.Path(folder) / "plain.csv", pathlib.Path(folder) / "record.csv"
        plain.write_text(table([COLUMNS] + rows))
        record.write_text(table([["type"], ["u32"]]) + "\n" + table([COLUMNS[1:]] + [row[1:] for row in rows]))
        assert exponent.points_of([plain]) == exponent.points_of([record])
        run = [sys.executable, "-B", script]
        fitted = subprocess.run([*run, plain, "--fit"], check=True, capture_output=True, text=True).stdout.splitlines()
        assert len(fitted) == 2 and fitted[1].endswith(",1.000,1.000"), fitted
        shown = subprocess.run([*run, record], check=True, capture_output=True, text=True).stdout.splitlines()
        assert len(shown) == 10 and all(float(line.split(",")[-1]) >= 1 for line in shown[1:]), shown
        plain.write_text(table([COLUMNS]))
        assert subprocess.run([*run, plain], capture_output=True).returncode != 0


main()
