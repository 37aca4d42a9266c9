# SPDX-License-Identifier: Apache-2.0
"""Several places of kth at once: numbers, percentages, quantiles, among all elements or those that meet a predicate."""

import fractions
import json
import math
import random
import struct

import harness
from harness import NATIVE, npy_header, pack, text_of

SEED = 5
METHODS = ("linear", "lower", "higher", "nearest", "midpoint")


def place_of(asked, length):
    """The place from 1 that "7" or "12.5%" asks for."""
    if not asked.endswith("%"):
        return int(asked)
    return math.ceil(fractions.Fraction(asked[:-1]) * length / 100)


def line(values, k, code, **options):
    ranking = harness.Ranking(values, **options)
    at, better, equal = ranking.kth(k)
    return "%s\t%d\t%d\n" % (text_of(values[at] + 0.0 if code in "efd" else values[at], code), better, equal)


def quantile(values, q, method):
    """numpy's quantile of finite values as a fraction, how many values are below it, and how many equal it."""
    ordered = sorted(map(fractions.Fraction, values))
    at = fractions.Fraction(q) * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    part = at - low
    if method == "midpoint":
        part = fractions.Fraction(1, 2) if part else part
    elif method != "linear":
        nearest = part > fractions.Fraction(1, 2) or (part == fractions.Fraction(1, 2) and low % 2 == 1)
        part = {"lower": 0, "higher": math.ceil(part), "nearest": int(nearest)}[method]
    value = ordered[low] + (ordered[high] - ordered[low]) * part
    return value, sum(x < value for x in ordered), ordered.count(value)


class Case(harness.Case):
    def answers(self, *arguments, **keywords):
        result = harness.topk("kth", *arguments, **keywords)
        self.assertEqual((result.status, result.err), (0, ""), arguments)
        return [tuple(row.split("\t")) for row in result.out.decode().splitlines()]


class Places(Case):
    def test_in_the_order_asked(self):
        text = "".join("%d\n" % i for i in range(1, 11)).encode()
        self.prints("10\t0\t1\n6\t4\t1\n1\t9\t1\n10\t0\t1\n", "kth", "-k", "1,50%,100%,1", stdin=text)
        self.prints("10\t0\t1\n1\t9\t1\n", "kth", "-k", "1%,99.000000000000001%", stdin=text)
        self.prints("1\t0\t1\n5\t4\t1\n", "kth", "-k", "1,50%", "--smallest", stdin=text)

    def test_vectors(self):
        rng = random.Random(SEED)
        for name, descr, code in NATIVE:
            values = [rng.randrange(100) for _ in range(300)]
            if code in "efd":
                values[7:9] = float("nan"), float("inf")
            data = npy_header(descr, (300,)) + pack(code, values)
            path = self.write(name + ".npy", data)
            for options in ({}, {"smallest": True}):
                words = ["--" + option for option in options]
                for bound, kept in ([], lambda x: True), (["--gt", 30], lambda x: x > 30), (["--ne", 5], lambda x: x != 5):
                    met = [x for x in values if kept(x)]
                    asked = ["1", "50%", "7", "99.9%", "100%", str(len(met))]
                    expected = "".join(line(met, place_of(a, len(met)), code, **options) for a in asked)
                    for piece in harness.some(([], ["--piece-bytes", 700], ["--piece-bytes", 61])):
                        self.prints(expected, "kth", path, "-k", ",".join(asked), *words, *bound, *piece)
            self.prints(expected, "kth", "-k", ",".join(asked), "--smallest", "--ne", 5, stdin=data)

    def test_rows(self):
        rows = [[3, -1, 7, 0], [-2, -3, 5, -9], [4, 4, 4, 4]]
        path = self.write("m.npy", npy_header("<i2", (3, 4)) + b"".join(pack("h", row) for row in rows))
        for piece in ([], ["--piece-bytes", 16], ["--piece-bytes", 4]):
            self.prints("0\t7\t0\t1\n0\t0\t2\t1\n1\t5\t0\t1\n1\t-3\t2\t1\n2\t4\t0\t4\n2\t4\t0\t4\n",
                        "kth", path, "-k", "1,75%", *piece)
            self.prints("0\t3\t1\t1\n1\t5\t0\t1\n2\t4\t0\t4\n", "kth", path, "-k", "100%", "--gt", 0, *piece)
            self.prints("0\t3\t1\t1\n1\t-32768\t1\t0\n2\t4\t0\t4\n", "kth", path, "-k", 2, "--gt", 0, "--padding", *piece)
            result = harness.topk("kth", path, "-k", "2", "--gt", 0, *piece)
            self.assertEqual((result.status, result.err), (1, "topk: -k 2: no element has that place, for there are 1 that meet "
                                                              "the predicate in row 1; --padding prints a value all the same\n"))

    def test_text(self):
        """Numbers beyond float64 are among them."""
        rng = random.Random(SEED + 1)
        texts = [rng.choice((str(rng.randrange(50)), "9007199254740993", "1e400", "-3e-400", "9007199254740992")) for _ in range(4000)]
        order = sorted(range(len(texts)), key=lambda i: (-fractions.Fraction(texts[i]), i))
        for bound, kept in ([], lambda x: True), (["--gt", "9007199254740992"], lambda x: x > 2**53), (["--lt", 25], lambda x: x < 25):
            met = [texts[i] for i in order if kept(fractions.Fraction(texts[i]))]
            asked = ["3", "50%", "10%", "100%"]
            expected = []
            for place in (place_of(a, len(met)) for a in asked):
                value = fractions.Fraction(met[place - 1])
                exact = [fractions.Fraction(x) for x in met]
                expected.append("%s\t%d\t%d\n" % (met[place - 1], sum(x > value for x in exact), exact.count(value)))
            self.prints("".join(expected), "kth", "-k", ",".join(asked), *bound, stdin="\n".join(texts).encode())

    def test_many_lines(self):
        """The list of candidates is cut several times before the places are known."""
        rng = random.Random(SEED + 2)
        values = [rng.randrange(1000) for _ in range(400000)]
        text = "".join("%d\n" % x for x in values).encode()
        self.prints("".join(line(values, k, "q") for k in (1, 1000, 20)), "kth", "-k", "1,1000,20", stdin=text)

    def test_no_such_place(self):
        for arguments, where in (["-k", "1,4"], "-k 4"), (["-k", "0,1"], "-k 0"), (["-k", "50%", "--gt", 9], "-k 50%"), (
                ["--quantile", ".5", "--gt", 9], "--quantile .5"):
            self.fails(where + ": no element has that place, .*", "kth", *arguments, stdin=b"1\n2\n3\n")
        self.prints("-inf\t3\t0\n3\t0\t1\n-inf\t0\t0\n", "kth", "-k", "4,1,0", "--padding", stdin=b"1\n2\n3\n")

    def test_what_is_refused(self):
        for arguments, expected in [
                (["-k", "1,"], "-k: '' is no integer from 0 up"), (["-k", "0%"], "-k: '0%' is no percentage .*"),
                (["-k", "101%"], "-k: '101%' is no percentage .*"), (["-k", "1e1%"], "-k: '1e1%' is no percentage .*"),
                (["-k", "%"], "-k: '%' is no percentage .*"), (["--quantile", "1.1"], "--quantile: '1.1' is no decimal .*"),
                (["--quantile", "."], "--quantile: '.' is no decimal .*"),
                (["--quantile", "0." + "3" * 16], "--quantile: '0.3333333333333333' is no decimal .*"),
                (["--quantile", "9" * 40], "--quantile: '9+' is no decimal .*"),
                (["-k", "1", "--quantile", "0"], "-k and --quantile both say which places: choose"),
                (["-k", "1", "--interpolation", "cubic"], "--interpolation: 'cubic' is none of linear, .*")]:
            self.fails(expected, "kth", "-", *arguments, status=2, stdin=b"1\n")
        for command in "select", "explain":
            self.fails("-k: '1,2' is no integer from 0 up", command, "-", "-k", "1,2", status=2, stdin=b"1\n")

    def test_json(self):
        out = harness.topk("kth", "-k", "2,50%", "--json", stdin=b"1\n2\n3\n").out
        self.assertEqual(json.loads(out), {"command": "kth", "input": "-", "type": "f64", "k": [2, "50%"], "length": 3, "results": [
            {"k": 2, "value": 2, "better": 1, "equal": 1}, {"k": "50%", "value": 2, "better": 1, "equal": 1}]})
        found = json.loads(harness.topk("kth", "--quantile", ".25", "--json", stdin=b"1\n2\n").out)
        self.assertEqual((found["quantile"], found["results"]), ([".25"], [{"quantile": ".25", "value": 1.25, "better": 1, "equal": 0}]))


class Quantiles(Case):
    ASKED = ["0", "0.5", ".123456789012345", "1", "0.25", "0.999", "1.0"]

    def test_against_fractions(self):
        rng = random.Random(SEED + 3)
        for name, descr, code in NATIVE:
            low = 0 if code.isupper() else -100
            for length in (1, 2, 5, 400):
                values = [rng.randrange(low, 100) for _ in range(length)]
                path = self.write(name + ".npy", npy_header(descr, (length,)) + pack(code, values))
                for method in METHODS:
                    found = self.answers(path, "--quantile", ",".join(self.ASKED), "--interpolation", method)
                    for q, (value, below, equal) in zip(self.ASKED, found):
                        exact = quantile(values, q, method)
                        if code in "efd":
                            self.assertLess(abs(fractions.Fraction(value) - exact[0]), 1e-13, (name, q, method))
                            self.assertEqual((int(below), int(equal)), exact[1:], (name, q, method))
                        else:
                            self.assertEqual((fractions.Fraction(value), int(below), int(equal)), exact, (name, q, method))

    def test_integers_beyond_float64(self):
        values = [2**63 - 1, 2**63 - 2, -2**63, 2**53 + 1]
        path = self.write("x.npy", npy_header("<i8", (4,)) + pack("q", values))
        for q in self.ASKED:
            value, below, equal = self.answers(path, "--quantile", q)[0]
            self.assertEqual((fractions.Fraction(value), int(below), int(equal)), quantile(values, q, "linear"))
        self.prints("9007199254740993.5\t1\t0\n", "kth", "--quantile", ".5", "--dtype", "int64",
                    stdin=b"9007199254740993\n9007199254740994\n")
        self.fails("--quantile .5: lies between numbers that float64 cannot hold; .*", "kth", "--quantile", ".5",
                   stdin=b"9007199254740993\n9007199254740994\n")
        self.prints("9007199254740993\t0\t1\n", "kth", "--quantile", ".5", "--interpolation", "lower",
                    stdin=b"9007199254740993\n9007199254740995\n")
        self.prints("1e400\t0\t2\n", "kth", "--quantile", ".5", stdin=b"1e400\n10e399\n")

    def test_magnitudes(self):
        path = self.write("x.npy", npy_header("|i1", (2,)) + pack("b", [-128, -127]))
        self.prints("127.5\t1\t0\n", "kth", path, "--quantile", ".5", "--magnitude")

    def test_floats_that_are_not_finite(self):
        for text, expected in ((b"-inf\n1\n", "-inf\t1\t0\n"), (b"-inf\ninf\n", "nan\t1\t0\n"), (b"1\nnan\n", "nan\t1\t1\n"),
                               (b"inf\ninf\n", "inf\t0\t2\n"), (b"-1e308\n1.5e308\n", "2.5e+307\t1\t0\n")):
            self.prints(expected, "kth", "--quantile", ".5", stdin=text)
        self.prints("2\t1\t1\n", "kth", "--quantile", ".5", "--ge=-inf", stdin=b"1\nnan\n2\n3\nnan\n")

    def test_adjacent_floats(self):
        """What is rounded to an element is that element, with its counts."""
        low, high = struct.unpack("<2d", struct.pack("<2Q", 0x3ff0000000000001, 0x3ff0000000000002))
        path = self.write("x.npy", npy_header("<f8", (3,)) + pack("d", [high, low, low]))
        value, below, equal = self.answers(path, "--quantile", "0.6")[0]
        self.assertEqual((float(value), below, equal), (low, "0", "2"))

    def test_long_rows(self):
        rng = random.Random(SEED + 4)
        values = [rng.randrange(-1 << 31, 1 << 31) for _ in range(20000)]
        path = self.write("x.npy", npy_header("<i4", (20000,)) + pack("i", values))
        met = [x for x in values if x > 0]
        for piece in (["--piece-bytes", 1000], ["--piece-bytes", 9999], []):
            for bound, among in ([], values), (["--gt", 0], met):
                found = self.answers(path, "--quantile", ",".join(self.ASKED), *bound, *piece)
                for q, (value, below, equal) in zip(self.ASKED, found):
                    self.assertEqual((fractions.Fraction(value), int(below), int(equal)), quantile(among, q, "linear"))


if __name__ == "__main__":
    harness.main()
