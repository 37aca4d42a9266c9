# SPDX-License-Identifier: Apache-2.0
"""Several conditions at once, on the elements and on other fields of their lines, against Python's exact numbers."""

import csv
import fractions
import io
import json
import math
import operator
import random
import struct

import harness
from harness import npy_header, pack

SEED = 7
OF = {"gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne}
SIGNS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "=": operator.eq, "==": operator.eq,
         "!=": operator.ne}


def exact(text):
    """A finite decimal, or a float that is not finite."""
    return float(text) if str(text).lstrip("-") in ("inf", "nan") else fractions.Fraction(text)


def compared(how, a, b):
    if isinstance(a, float) and math.isnan(a) or isinstance(b, float) and math.isnan(b):
        return how is operator.ne
    return how(a, b)


def as_compared(text):
    """Of text: below 2^53 the nearest float64, else as it is written."""
    number = exact(text)
    if isinstance(number, float) or not 0 < abs(float(text)) < 2.0**53:
        return number
    return fractions.Fraction(float(text))


class Elements(harness.Case):
    """Comparisons of elements of all types."""

    def values(self, rng, code):
        if code in "efd":
            specials = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 0.1, 0.5]
            size = {"e": 100.0, "f": 1e3, "d": 2.0**53}[code]
            found = [rng.choice([*specials, *(rng.uniform(-size, size) for _ in range(3)), rng.randrange(-4, 5)])
                     for _ in range(90)]
            return list(struct.unpack("<90" + code, pack(code, found)))
        bits = 8 * struct.calcsize(code)
        low, high = (0, 2**bits - 1) if code.isupper() else (-2**(bits - 1), 2**(bits - 1) - 1)
        return [rng.choice([low, low + 1, high, high - 1, *(min(max(rng.randrange(-4, 5), low), high) for _ in range(6))])
                for _ in range(90)]

    def bound(self, rng, values, code):
        """A bound as it is written, and the number that it is."""
        value = rng.choice(values)
        if rng.random() < 0.7:
            text = harness.text_of(value, code)
            return text, exact(value) if code in "efd" else value
        text = rng.choice(["-inf", "inf", "nan", "2.5", "-0.5", "0", "18446744073709551615", "-9223372036854775808",
                           "9223372036854775807", "1e30", "-1e30"])
        return text, exact(text)

    def question(self, rng, values, code):
        """Arguments, and which of the values they mean."""
        arguments, tests = [], []
        for _ in range(rng.randrange(2, 5)):
            if rng.random() < 0.2:
                (low, x), (high, y) = self.bound(rng, values, code), self.bound(rng, values, code)
                arguments += ["--between", low, high]
                tests += [(operator.ge, x), (operator.le, y)]
                continue
            name = rng.choice([*OF, "ge", "le", "ne"])
            text, number = self.bound(rng, values, code)
            arguments.append("--%s=%s" % (name, text))
            tests.append((OF[name], number))
        as_number = [exact(value) if code in "efd" else value for value in values]
        return arguments, [all(compared(how, number, bound) for how, bound in tests) for number in as_number]

    def check(self, path, values, code, arguments, met, piece):
        chosen = [i for i, is_met in enumerate(met) if is_met]
        line = "%%d\t%%%s\n" % "s"
        listed = "".join(line % (i, harness.text_of(values[i], code)) for i in chosen)
        self.prints(listed, "where", path, *arguments, *piece)
        self.prints("%d\n" % len(chosen), "count", path, *arguments, *piece)
        self.prints("".join("%d\n" % is_met for is_met in met), "mask", path, *arguments, *piece)
        best = [chosen[i] for i in harness.best([values[i] for i in chosen], len(chosen))]
        for k in (3, 90):
            self.prints("".join(line % (i, harness.text_of(values[i], code)) for i in best[:k]), "select", path, "-k", k,
                        *arguments, *piece)
        if chosen:
            k = (len(chosen) + 1) // 2
            at, better, equal = harness.kth([values[i] for i in chosen], k)
            found = harness.topk("kth", path, "-k", k, *arguments, *piece)
            number, *counts = found.out.decode().split("\t")
            self.assertEqual((found.err, [int(count) for count in counts]), ("", [better, equal]))
            expected = harness.text_of(values[chosen[at]], code)
            self.assertEqual(number, "0" if expected == "-0" else expected)

    def test_types(self):
        rng = random.Random(SEED)
        for _, descr, code in harness.NATIVE:
            for _ in range(3):
                values = self.values(rng, code)
                path = self.write("x.npy", npy_header(descr, (len(values),)) + pack(code, values))
                for _ in harness.some(range(4)):
                    arguments, met = self.question(rng, values, code)
                    with self.subTest(type=code, arguments=arguments):
                        self.check(path, values, code, arguments, met, rng.choice([[], [], ["--piece-bytes", 100]]))

    def test_rows(self):
        """Rows with a stride, and places that are a part of what each row has."""
        rng = random.Random(SEED)
        rows = [[rng.randrange(10) for _ in range(13)] for _ in range(7)]
        path = self.write("x.npy", npy_header("<i4", (7, 13)) + pack("i", [x for row in rows for x in row]))
        fvecs = self.write("x.fvecs", b"".join(struct.pack("<i", 13) + pack("f", row) for row in rows))
        arguments = ["--ne", 3, "--gt", 0, "--ne", 8]
        kept = [[x for x in row if x > 0 and x not in (3, 8)] for row in rows]
        for file in (path, fvecs):
            for piece in ([], ["--piece-bytes", 24], ["--piece-bytes", 120]):
                self.prints("".join("%d\t%d\n" % (i, len(row)) for i, row in enumerate(kept)), "count", file, *arguments, *piece)
                expected = ""
                for i, row in enumerate(kept):
                    place = -(-len(row) // 2)
                    _, better, equal = harness.kth(row, place)
                    expected += "%d\t%d\t%d\t%d\n" % (i, sorted(row, reverse=True)[place - 1], better, equal)
                self.assertEqual(harness.topk("kth", file, "-k", "50%", *arguments, *piece).out.decode().replace("50%\t", ""),
                                 expected)

    def test_more_than_fit(self):
        self.fails("more than 16 comparisons", "count", "-", *["--gt=1"] * 17, status=2, stdin=b"1\n2\n")
        self.prints("1\n", "count", "-", *["--gt=1"] * 16, stdin=b"1\n2\n")
        self.fails("--device cuda takes no --if, and no --ne beside another condition", "count", "-", "--gt=1", "--ne=3",
                   "--device=cuda", status=2)


class Fields(harness.Case):
    NAMES = ["city", "year", "price", "a,b"]

    def table(self, rng, rows):
        numbers = ["9007199254740993", "9007199254740992", "9007199254740994", "0.1", "0.10000000000000000001", "-3", "1e400",
                   "1e-400", "inf", "nan", "7"]
        return [[rng.choice(["Rome", "Oslo", "", 'R"o', "New York", "3"]), rng.choice(["2019", "2020", "2020.0", "2021"]),
                 rng.choice([*numbers, str(rng.randrange(100))]), rng.choice(numbers)] for _ in range(rows)]

    def written(self, rows):
        texts = []
        for row in rows:
            file = io.StringIO()
            csv.writer(file, lineterminator="\n").writerow(row)
            texts.append(file.getvalue())
        return texts

    def condition(self, rng, row):
        at = rng.randrange(4)
        if at == 0:
            value, sign = row[0], rng.choice(["=", "==", "!="])
            return at, sign, value
        return at, rng.choice([*SIGNS]), row[at]

    def meets(self, row, at, sign, value):
        if at == 0 and value == "3":  # a field that is no number equals none
            return (row[0] == "3") == (sign != "!=")
        if at == 0:
            return SIGNS[sign](row[0], value)
        return compared(SIGNS[sign], as_compared(row[at]), as_compared(value))

    def test_against_python(self):
        rng = random.Random(SEED)
        for _ in harness.some(range(40)):
            rows = self.table(rng, rng.choice([0, 1, 50, 400]))
            header, *texts = self.written([self.NAMES, *rows])
            data = (header + "".join(texts)).encode()
            path = self.write("x.csv", data)
            asked = [self.condition(rng, rng.choice(rows or self.table(rng, 1))) for _ in range(rng.randrange(1, 4))]
            by_name = rng.random() < 0.6
            arguments = ["--csv", "--column", "price"] if by_name else ["--csv", "--field", 3, "--header"]
            for at, sign, value in asked:
                blank = rng.choice(["", " "])
                arguments += ["--if", blank.join([self.NAMES[at] if by_name else str(at + 1), sign, value])]
            bound = rng.choice(["5", "0.1", "9007199254740993", None])
            met = [i for i, row in enumerate(rows) if all(self.meets(row, *each) for each in asked)]
            if bound is not None:
                arguments += ["--ge", bound, "--lt", "1e500"]
                met = [i for i in met if compared(operator.ge, as_compared(rows[i][2]), as_compared(bound)) and rows[i][2] != "inf"]
            head = header if by_name else ""
            with self.subTest(arguments=arguments):
                self.prints(head + "".join(texts[i] for i in met), "where", path, *arguments)
                self.prints("%d\n" % len(met), "count", *arguments, stdin=data)
                self.prints("".join("%d\n" % (i in met) for i in range(len(rows))), "mask", path, *arguments)
                numbers = [as_compared(rows[i][2]) for i in met]
                ranked = sorted(range(len(met)), key=lambda i: (0, 0) if numbers[i] != numbers[i] else
                                (1, 0) if numbers[i] == float("inf") else (2, -numbers[i]))
                best = [met[i] for i in ranked]
                for k in (1, 20):
                    self.prints(head + "".join(texts[i] for i in best[:k]), "select", "-k", k, *arguments, stdin=data)
                found = json.loads(harness.topk("select", path, "-k", 20, "--json", *arguments).out)
                self.assertEqual([result["index"] for result in found["results"]], best[:20])
                self.check_kth(path, arguments, rows, best)

    def check_kth(self, path, arguments, rows, best):
        if not best:
            self.fails("-k 1: no element has that place, for there are 0 that meet the predicate; .*", "kth", path, "-k", 1, *arguments)
            return
        k = (len(best) + 1) // 2
        found = harness.topk("kth", path, "-k", k, *arguments).out.decode().split("\t")[0]
        expected = rows[best[k - 1]][2]
        self.assertTrue(found == expected or as_compared(found) == as_compared(expected))

    def test_conditions_come_first(self):
        """What does not meet a condition is left out, whatever else is wrong with it; they are looked at in their order."""
        text = b"kind,amount,price\na,1,5\nb,x,\na,3,7\nc,\nb\n"
        self.prints("kind,amount,price\na,3,7\n", "select", "-k", 1, "--csv", "--column", "price", "--if", "kind=a", "--if", "amount>=1",
                    stdin=text)
        self.fails("standard input:3: 'x' is not a number, which --if 'amount>=1' compares", "count", "--csv", "--column",
                   "price", "--if", "amount>=1", "--if", "kind=a", stdin=text)
        self.fails("standard input:3: '' is not a number", "count", "--csv", "--column", "price", "--if", "kind=b", stdin=text)
        self.fails("standard input:6: line has no field 2, which --if 'amount!=9' compares", "count", "--csv", "--column",
                   "price", "--if", "kind!=c", "--if", "amount!=9", "--if", "price!=", stdin=text)
        found = harness.topk("count", "--csv", "--column", "price", "--if", "amount>=1", "--skip-invalid", stdin=text)
        self.assertEqual((found.out, found.err), (b"2\n", "topk: standard input: invalid lines passed over: 3; the first is "
                                                  "line 3: 'x' is not a number, which --if 'amount>=1' compares\n"))
        self.fails("standard input:1: '1,5' has a comma, but decimals need a point .*, which --if '2<=3' compares", "count",
                   "--delimiter", ";", "--if", "2<=3", "--skip-invalid", stdin=b"1;1,5\n")
        self.prints("1\n", "count", "--delimiter", ";", "--decimal=,", "--if", "2<=1,5", stdin=b"1;1,5\n1;1,6\n")

    def test_with_other_options(self):
        table = b"shop,kind,price\n" + b"".join(b"s%d,k%d,%d\n" % (i % 3, i % 2, i) for i in range(30))
        self.prints("shop,kind,price\ns0,k1,27\ns2,k1,29\ns1,k1,25\n", "select", "-k", 1, "--csv", "--column", "price", "--by", "shop",
                    "--if", "kind=k1", "--ne", 1, "--lt", 30, stdin=table.replace(b"s0,k0,0\n", b"").replace(b"s1,k1,1\n", b""))
        self.write("p1", "k,v\n1,5\n2,6\n")
        self.write("p2", "v,x,k\n7,0,1\n8,0,2\n")
        self.prints("k,v\n8,0,2\n2,6\n", "select", "-k", 3, "--csv", "--column", "v", "--if", "k=2", "--shards", self.path("p*"))
        self.prints("a 2\0", "where", "-z", "--field", 2, "--if", "1=a", stdin=b"a 2\0b 3\0")
        self.prints("", "where", "--csv", "--field", 1, "--if", "1=9", "--values", self.path("v.npy"), stdin=b"1\n9\n")
        self.assertEqual(harness.npy_read(self.read("v.npy"))[2], pack("d", [9]))

    def test_many_lines(self):
        """Several blocks, on several threads, also where most lines are bad."""
        lines = ["%d,%s,%d%s" % (i % 5, "x" if i % 3 else i % 7, i, ',"\n\n"' if i % 11 == 0 else "") for i in range(200000)]
        data = ("\n".join(lines) + "\n").encode()
        for threads in (1, 4):
            words = ["--csv", "--field", 3, "--threads", threads]
            self.prints("%d\n" % sum(i % 5 == 2 and i > 7 for i in range(200000)), "count", *words, "--if", "1=2", "--gt", 7, stdin=data)
            expected = [i for i in range(200000) if i % 3 == 0 and i % 7 > 4 and i != 199995][-5:][::-1]
            self.prints("".join(lines[i] + "\n" for i in expected), "select", "-k", 5, *words, "--if", "2>4", "--skip-invalid",
                        "--quiet", "--ne", 199995, "--ge", 0, stdin=data)

    def test_what_is_refused(self):
        for arguments, reason in (
                (["--csv", "--if", "city"], "--if: 'city' is no field, comparison and value, such as 'price>=2.5' or 'city=Rome'"),
                (["--csv", "--if", "=3"], "--if: '=3' is no field, .*"),
                (["--csv", "--if", "a!3"], "--if: 'a!3' is no field, .*"),
                (["--csv", "--if", "1>b"], "--if '1>b': 'b' is not a number, and text has no order"),
                (["--csv", "--if", "a=b"], "--if 'a=b': 'a' is no integer from 1 up; beside --column it is a name"),
                (["--csv", "--if", "0=b"], "--if '0=b': '0' is no integer from 1 up; .*"),
                (["--if", "1=b"], "--if needs --field, --column, --csv or --delimiter: without them lines have no fields"),
                (["--csv", *["--if=1=1"] * 17], "more than 16 times --if"),
                (["--csv", "--if", "1=b", "--device", "cuda"], "--device cuda takes no --if, .*")):
            self.fails(reason, "count", "-", *arguments, status=2, stdin=b"1\n")
        self.fails("--field, .* --if .* are for text, .*", "count", self.write("x.npy", npy_header("<f4", (1,)) + pack("f", [1])),
                   "--csv", "--if", "1=1", status=2)
        self.fails("standard input:1: the header names no column 'b'", "count", "--csv", "--column", "a", "--if", "b=1", stdin=b"a\n1\n")


if __name__ == "__main__":
    harness.main()
