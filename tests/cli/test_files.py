# SPDX-License-Identifier: Apache-2.0
"""Binary files: every format and element type, in one piece and in many, against a stable sort."""

import json
import os
import random
import struct

import harness
from harness import NATIVE, best, kth, npy_header, npy_raw_header, npy_read, pack, packed, text_of, unpack

# One piece for all; several rows in a piece; less than a row in a piece.
PIECES = [[], ["--piece-bytes", 700], ["--piece-bytes", 61]]


def sample(code, count, seed):
    """Elements of a type with ties, extremes and, for floats, infinities, NaN and both zeros."""
    generator = random.Random(seed)
    if code in "efd":
        values = [generator.choice([generator.gauss(0, 50), float(generator.randrange(-9, 9)), float("inf"),
                                    float("-inf"), float("nan"), -0.0, 0.0, 1e-7]) for _ in range(count)]
    else:
        bits = struct.calcsize(code) * 8
        low, high = (0, (1 << bits) - 1) if code.isupper() else (-(1 << bits - 1), (1 << bits - 1) - 1)
        values = [generator.choice([generator.randint(low, high), low, high, generator.randint(0, 9)])
                  for _ in range(count)]
    return unpack(code, pack(code, values))


def row_lines(values, code, indices, row=None):
    prefix = "" if row is None else "%d\t" % row
    return "".join("%s%d\t%s\n" % (prefix, i, text_of(values[i], code)) for i in indices)


def kth_text(value, code, magnitude):
    """topk_kth() writes classes: magnitudes, +0, one NaN. The magnitude of a minimum is itself."""
    if magnitude:
        low = -(1 << struct.calcsize(code) * 8 - 1)
        value = value if code in "bhiq" and value == low else abs(value)
    return text_of(value + 0 if code not in "efd" else value + 0.0, code)


class Types(harness.Case):
    def test_vectors(self):
        for name, descr, code in NATIVE:
            values = sample(code, 200, 7)
            path = self.write(name + ".npy", npy_header(descr, (200,)) + pack(code, values))
            for piece in PIECES:
                for options in harness.some(({}, {"smallest": True}, {"magnitude": True}, {"nan_last": True})):
                    arguments = [part for option in options
                                 for part in (["--nan", "last"] if option == "nan_last" else ["--" + option])]
                    with self.subTest(type=name, piece=piece, options=options):
                        ranking = harness.Ranking(values, **options)
                        for k in (1, 30, 200, 300):
                            self.prints(row_lines(values, code, ranking.best(k)), "select", path, "-k",
                                        k, *arguments, *piece)
                        for k in (1, 17, 60, 200):
                            at, better, equal = ranking.kth(k)
                            text = kth_text(values[at], code, "magnitude" in options)
                            self.prints("%s\t%d\t%d\n" % (text, better, equal), "kth", path, "-k", k, *arguments,
                                        *piece)

    def test_matrices(self):
        for name, descr, code in NATIVE:
            rows = [sample(code, 40, seed) for seed in range(9)]
            path = self.write(name + ".npy", npy_header(descr, (9, 40)) + b"".join(pack(code, row) for row in rows))
            for piece in PIECES:
                with self.subTest(type=name, piece=piece):
                    self.prints("".join(row_lines(row, code, best(row, 5), r) for r, row in enumerate(rows)),
                                "select", path, "-k", 5, *piece)
                    answers = [kth(row, 5) for row in rows]
                    self.prints("".join("%d\t%s\t%d\t%d\n" % (r, kth_text(rows[r][a[0]], code, False), a[1], a[2])
                                        for r, a in enumerate(answers)), "kth", path, "-k", 5, *piece)
                    self.prints("".join(row_lines(row, code, [i for i in range(40) if row[i] >= 3], r)
                                        for r, row in enumerate(rows)), "where", path, "--ge", 3, *piece)
                    self.prints("".join(row_lines(row, code, [i for i in best(row, 40) if row[i] < 3][:5], r)
                                        for r, row in enumerate(rows)), "select", path, "-k", 5, "--lt", 3, *piece)
                    self.prints("".join("%d\t%d\n" % (r, sum(x >= 3 for x in row)) for r, row in enumerate(rows)),
                                "count", path, "--ge", 3, *piece)
                    self.prints("".join("%d\t%d\n" % (r, x >= 3) for r, row in enumerate(rows) for x in row),
                                "mask", path, "--ge", 3, *piece)

    def test_where_bounds(self):
        comparisons = {
            "--gt": lambda x, b: x > b, "--ge": lambda x, b: x >= b, "--lt": lambda x, b: x < b,
            "--le": lambda x, b: x <= b, "--eq": lambda x, b: x == b, "--ne": lambda x, b: x != b}
        for name, descr, code in NATIVE:
            values = sample(code, 100, 3)
            path = self.write(name + ".npy", npy_header(descr, (100,)) + pack(code, values))
            for option, compare in comparisons.items():
                for bound in harness.some(("3", "2.5", "-1e3", "18446744073709551615", "inf", "nan", "300")):
                    exact = int(bound) if bound.isdigit() else float(bound)
                    with self.subTest(type=name, option=option, bound=bound):
                        expected = [i for i in range(100) if compare(values[i], exact)]
                        self.prints(row_lines(values, code, expected), "where", path, option, bound)

    def test_shorter_k_than_a_piece_and_longer_than_a_row(self):
        values = sample("f", 1000, 5)
        path = self.write("x.npy", npy_header("<f4", (1000,)) + pack("f", values))
        for k in (1, 10, 999, 1000, 2000):
            self.prints(row_lines(values, "f", best(values, k)), "select", path, "-k", k, "--piece-bytes", 100)


class AllTies(harness.Case):
    """--ties=all takes every element that is equal to the K-th."""

    @staticmethod
    def best(values, k, **options):
        ranking = harness.Ranking(values, **options)
        if k == 0 or not values:
            return []
        _, better, equal = ranking.kth(k)
        return ranking.best(better + equal)

    def test_what_kth_counts(self):
        path = self.write("x.npy", npy_header("<f4", (5,)) + pack("f", [.7, .2, .9, .7, .7]))
        self.prints("2\t0.9\n0\t0.7\n3\t0.7\n4\t0.7\n", "select", path, "-k", 2, "--ties=all")
        self.prints("2\t0.9\n", "select", path, "-k", 1, "--ties=all")
        self.prints("0\t0.7\n2\t0.9\n3\t0.7\n4\t0.7\n", "select", path, "-k", 4, "--ties=all", "--order=position")
        self.prints("", "select", path, "-k", 0, "--ties=all")
        found = json.loads(harness.topk("select", path, "-k", 2, "--ties=all", "--json").out)
        self.assertEqual((found["k"], len(found["results"])), (2, 4))
        self.assertIn(b"all of equal ones", harness.topk("explain", path, "-k", 2, "--ties=all").out)

    def test_vectors(self):
        for name, descr, code in harness.some(NATIVE):
            values = sample(code, 200, 11)
            data = npy_header(descr, (200,)) + pack(code, values)
            path = self.write(name + ".npy", data)
            for options in ({}, {"smallest": True}, {"magnitude": True, "nan_last": True}):
                arguments = ["--ties=all", *(part for option in options
                                             for part in (["--nan", "last"] if option == "nan_last" else ["--" + option]))]
                for piece in harness.some(PIECES):
                    for k in (1, 40, 130, 201):
                        with self.subTest(type=name, piece=piece, options=options, k=k):
                            expected = row_lines(values, code, self.best(values, k, **options))
                            self.prints(expected, "select", path, "-k", k, *arguments, *piece)
            self.prints(row_lines(values, code, self.best(values, 9)), "select", "-k", 9, "--ties", "all", stdin=data)

    def test_matrices(self):
        """Rows have results of their own number, in arrays behind padding."""
        generator = random.Random(12)
        rows = [[float(generator.randrange(1 + 3 * row)) for _ in range(40)] for row in range(9)]
        path = self.write("x.npy", npy_header("<f4", (9, 40)) + b"".join(pack("f", row) for row in rows))
        for k in (0, 1, 7, 40, 50):
            found = [self.best(row, k) for row in rows]
            most = max(map(len, found))
            for piece in PIECES:
                with self.subTest(k=k, piece=piece):
                    self.prints("".join(row_lines(row, "f", found[r], r) for r, row in enumerate(rows)), "select", path, "-k", k,
                                "--ties=all", *piece)
                    self.prints("", "select", path, "-k", k, "--ties=all", "--values", self.path("v"), "--indices", self.path("i"),
                                *piece)
                    descr, shape, data = npy_read(self.read("i"))
                    self.assertEqual((descr, shape), ("<i8", (9, most)))
                    self.assertEqual(unpack("q", data), [i for best in found for i in best + [-1] * (most - len(best))])
                    self.assertEqual(unpack("f", npy_read(self.read("v"))[2]),
                                     [x for row, best in zip(rows, found)
                                      for x in [row[i] for i in best] + [float("-inf")] * (most - len(best))])
        self.fails("--ties=all gives the results of a matrix best first, not by position", "select", path, "-k", 1, "--ties=all",
                   "--order=position", status=2)

    def test_text(self):
        lines = ["5", "9007199254740993", "5.0", "x", "1e400", "9007199254740993.0", "10e399", "9007199254740992", "1", "05"]
        data = "\n".join(lines).encode()
        path = self.write("x", data)
        skips = ["--ties=all", "--skip-invalid"]
        note = "topk: %s: invalid lines passed over: 1; the first is line 4: 'x' is not a number\n"
        ranked = [4, 6, 1, 5, 7, 0, 2, 9, 8]
        for k, count in ((1, 2), (2, 2), (3, 4), (4, 4), (5, 5), (6, 8), (8, 8), (9, 9), (20, 9)):
            expected = "".join("%d\t%s\n" % (i, lines[i]) for i in ranked[:count]).encode()
            for arguments, keywords, name in (([path], {}, path), ([], {"stdin": data}, "standard input")):
                result = harness.topk("select", *arguments, "-k", k, *skips, **keywords)
                self.assertEqual((result.status, result.out, result.err), (0, expected, note % name))
        with open(path, "rb") as file:
            os.lseek(file.fileno(), 2, os.SEEK_SET)
            self.prints("3\t1e400\n5\t10e399\n", "select", "-k", 1, *skips, "--quiet", stdin=file)
        self.prints("b 5\nc 5.0\n", "select", "-k", 1, "--ties=all", "--field", 2, "--header", stdin=b"a n\nb 5\nc 5.0\nd 4\n")
        self.prints("", "select", "-k", 1, "--ties=all", stdin=b"")
        self.fails("standard input:2: 'y' is not a number", "select", "-k", 1, "--ties=all", stdin=b"1\ny\n")

    def test_what_is_refused(self):
        path = self.write("x.npy", npy_header("<f4", (1,)) + pack("f", [1]))
        self.fails("--ties=all takes no predicate; .*", "select", path, "-k", 1, "--ties=all", "--gt", 0, status=2)
        self.fails("--ties=all is exact: .*", "select", path, "-k", 1, "--ties=all", "--epsilon", 1, status=2)
        os.mkfifo(self.path("pipe"))
        writer = os.open(self.path("pipe"), os.O_RDWR)
        os.write(writer, b"1\n")
        self.fails(".*pipe: --ties=all reads shards twice, so they are regular files", "select", "-k", 1, "--ties=all", "--shards",
                   self.path("p*"))
        os.close(writer)


class Bounds(harness.Case):
    """What kth prints is a bound that finds the elements it means: those that are better and those that are equal."""

    TYPES = [(name, struct.calcsize(code)) for name, _, code in NATIVE] + [("bf16", 2), ("f8_e4m3", 1), ("f8_e5m2", 1)]

    @staticmethod
    def bytes_of(generator, name, size):
        """Elements of all magnitudes, some of them several times, without NaN."""
        data = [generator.randbytes(size) for _ in range(40)]
        nan = {"f16": lambda x: x >> 10 & 31 == 31 and x & 1023, "f32": lambda x: x >> 23 & 255 == 255 and x << 9 & 0xffffffff,
               "f64": lambda x: x >> 52 & 2047 == 2047, "bf16": lambda x: x >> 7 & 255 == 255 and x & 127,
               "f8_e4m3": lambda x: x & 127 == 127, "f8_e5m2": lambda x: x & 127 > 124}.get(name, lambda x: False)
        data = [x for x in data if not nan(int.from_bytes(x, "little"))]
        return data + data[:len(data) // 3]

    def lines(self, *arguments):
        result = harness.topk(*arguments)
        self.assertEqual((result.status, result.err), (0, ""))
        return [line.split("\t") for line in result.out.decode().splitlines()]

    def check(self, path, k, length, *options):
        """For each of the two directions."""
        for direction, reach, beyond in (([], "--ge", "--gt"), (["--smallest"], "--le", "--lt")):
            (value, better, equal), = self.lines("kth", path, "-k", k, *direction, *options)
            found = int(better) + int(equal)
            self.assertEqual(self.lines("count", path, reach + "=" + value, *options), [[str(found)]], (path, value))
            self.assertEqual(self.lines("count", path, beyond + "=" + value, *options), [[better]], (path, value))
            self.assertEqual(self.lines("count", path, "--eq=" + value, *options), [[equal]], (path, value))
            self.assertEqual(len(self.lines("where", path, reach + "=" + value, *options)), found)
            self.assertEqual(len(self.lines("select", path, "-k", length, reach + "=" + value, *options)), found)
            self.assertEqual(self.lines("count", path, "--between", value, value, *options), [[equal]])

    def test_every_type(self):
        print("seed 21")
        generator = random.Random(21)
        for name, size in self.TYPES:
            data = self.bytes_of(generator, name, size)
            path = self.write("x.raw", b"".join(data))
            for k in harness.some(generator.sample(range(1, len(data) + 1), 4)):
                with self.subTest(type=name, k=k):
                    self.check(path, k, len(data), "--dtype", name)

    def test_magnitudes(self):
        """Predicates are about values: elements of a magnitude are at or above it, or at or below its negative."""
        path = self.write("x.npy", npy_header("<f4", (6,)) + pack("f", [.7, -.7, .2, -.9, .7, 0]))
        (value, better, equal), = self.lines("kth", path, "-k", 2, "--magnitude")
        self.assertEqual((value, better, equal), ("0.7", "1", "3"))
        found = [int(self.lines("count", path, option)[0][0]) for option in ("--ge=" + value, "--le=-" + value)]
        self.assertEqual(found, [2, 2])

    def test_text(self):
        path = self.write("x.txt", "0.7\n0.2\n1e300\n0.7\n-3\n5e-324\n9007199254740992\n")
        for k in range(1, 8):
            self.check(path, k, 7)
        path = self.write("x.txt", "9223372036854775807\n-9223372036854775808\n5\n5\n")
        for k in range(1, 5):
            self.check(path, k, 4, "--dtype", "int64")

    def test_other_decimals_mean_themselves(self):
        half = self.write("x.npy", npy_header("<f2", (4,)) + pack("e", [65504, 65472, .7, 2049]))
        for bound, found in [("65500", "65504"), ("65504", "65504"), ("65499", None), ("65501", None), ("0.7", "0.7"),
                             ("0.70", "0.7"), ("7e-1", "0.7"), ("0.7001953125", "0.7"), ("0.70001", None), ("2048", "2048"),
                             ("2049", None), ("+0.7", "0.7")]:
            self.assertEqual([value for _, value in self.lines("where", half, "--eq=" + bound)],
                             [] if found is None else [found if found != "65504" else "65500"], bound)
        for option, count in (("--gt=0.6999", 4), ("--gt=0.7", 3), ("--ge=0.7", 4), ("--ge=0.70001", 4), ("--ge=0.7002", 3)):
            self.assertEqual(self.lines("count", half, option), [[str(count)]], option)

    def test_beyond_float64(self):
        """Neither 0 nor infinite: such a bound lies between two neighbours."""
        inf = float("inf")
        values = [-inf, -1.7976931348623157e308, -1, -5e-324, -0.0, 0, 5e-324, 1, 1.7976931348623157e308, inf, float("nan")]
        path = self.write("x.npy", npy_header("<f8", (11,)) + pack("d", values))
        counts = {"--lt": (1, 4, 6, 9), "--le": (1, 4, 6, 9), "--gt": (9, 6, 4, 1), "--ge": (9, 6, 4, 1), "--eq": (0, 0, 0, 0),
                  "--ne": (11, 11, 11, 11)}
        for option, expected in counts.items():
            for bound, count in zip(("-1e309", "-1e-400", "2e-400", "1e5000"), expected):
                self.assertEqual(self.lines("count", path, option + "=" + bound), [[str(count)]], (option, bound))
        for low, high, count in (("-1e309", "1e309", 8), ("-1e-400", "1e-400", 2), ("1e-400", "1e309", 3), ("1", "1e309", 2),
                                 ("-1e-400", "1", 4), ("1e309", "inf", 1), ("1e309", "1e310", 0)):
            self.assertEqual(self.lines("count", path, "--between", low, high), [[str(count)]], (low, high))
        path = self.write("y.npy", npy_header("|i1", (3,)) + pack("b", [-1, 0, 1]))
        for option, count in (("--gt=1e-400", 1), ("--lt=1e-400", 2), ("--ge=-1e999", 3), ("--ne=1e999", 3), ("--eq=1e-400", 0)):
            self.assertEqual(self.lines("count", path, option), [[str(count)]], option)


class Streams(harness.Case):
    """Rows longer than a piece: pieces of any size, k above and below it, and predicates that few or many elements
    meet."""

    PIECES = (1, 7, 61, 997, 4096, 11999)
    PREDICATES = {"--lt": lambda x: x < 3, "--ge": lambda x: x >= 3, "--ne": lambda x: x != 3, "--gt": lambda x: x > 1e30}

    def check(self, values, code, row, k, predicate, piece):
        path = self.path("x.npy")
        matches = [i for i in best(values, len(values)) if predicate is None or self.PREDICATES[predicate](values[i])][:k]
        arguments = ["select", path, "-k", k, "--piece-bytes", piece, *([] if predicate is None else [predicate, 3])]
        if predicate == "--gt":
            arguments[-1] = "1e30"
        self.prints(row_lines(values, code, matches, row), *arguments)
        for outputs in (("v", "i"), ("v",), ("i",)):
            arrays = [part for name in outputs for part in ("--values" if name == "v" else "--indices", self.path(name))]
            self.prints("", *arguments, *arrays)
            lacking = k - len(matches)
            if "v" in outputs:
                padding = [float("-inf") if code in "efd" else -(1 << struct.calcsize(code) * 8 - 1)] * lacking
                self.assertEqual(npy_read(self.read("v"))[2], pack(code, [values[i] for i in matches] + padding))
            if "i" in outputs:
                self.assertEqual(npy_read(self.read("i"))[2], pack("q", matches + [-1] * lacking))

    def test_predicates(self):
        print("seed 13")
        generator = random.Random(13)
        for descr, code in (("<f4", "f"), ("<i2", "h")):
            values = [x for x in sample(code, 3001, 13) if x == x]
            self.write("x.npy", npy_header(descr, (len(values),)) + pack(code, values))
            for piece in self.PIECES:
                for predicate in harness.some((None, *self.PREDICATES)):
                    for k in generator.sample((0, 1, 10, 500, 1500, len(values) - 1, len(values), len(values) + 9), 2):
                        with self.subTest(type=code, piece=piece, predicate=predicate, k=k):
                            self.check(values, code, None, k, predicate, piece)

    def test_rows(self):
        """Each row is a stream of its own."""
        rows = [sample("h", 700, seed) for seed in range(4)]
        path = self.write("x.npy", npy_header("<i2", (4, 700)) + b"".join(pack("h", row) for row in rows))
        for piece in (7, 300, 1399):
            for k in (1, 200, 700):
                expected = [best(row, k) for row in rows]
                self.prints("".join(row_lines(row, "h", expected[r], r) for r, row in enumerate(rows)), "select", path, "-k",
                            k, "--piece-bytes", piece)
                expected = [[i for i in best(row, 700) if row[i] <= 5][:k] for row in rows]
                self.prints("".join(row_lines(row, "h", expected[r], r) for r, row in enumerate(rows)), "select", path, "-k",
                            k, "--le", 5, "--piece-bytes", piece)


class StandardInput(harness.Case):
    def test_whole_file(self):
        path = self.write("x.raw", pack("i", [5, 1, 9]))
        arguments = ["select", "-", "-k", 1, "--format", "raw", "--dtype", "int32"]
        with open(path, "rb") as file:
            self.prints("2\t9\n", *arguments, stdin=file)
        with open(path, "rb") as file:
            os.lseek(file.fileno(), 4, os.SEEK_SET)
            self.fails("standard input: a part of the file has been read; binary input is read from its start",
                       *arguments, stdin=file)


class SmallFloats(harness.Case):
    """bfloat16 and the 8-bit floats, all values of each, by decoders of their own."""

    @staticmethod
    def decode(bits, width, exponent_bits, infinities):
        fraction_bits = width - 1 - exponent_bits
        sign = -1.0 if bits >> (width - 1) else 1.0
        exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
        fraction = bits & (1 << fraction_bits) - 1
        top = (1 << exponent_bits) - 1
        bias = top >> 1
        if exponent == top and infinities:
            return sign * (float("nan") if fraction else float("inf"))
        if exponent == top and fraction == (1 << fraction_bits) - 1:
            return float("nan")
        if exponent == 0:
            return sign * fraction * 2.0 ** (1 - bias - fraction_bits)
        return sign * (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias)

    def check(self, dtype, width, exponent_bits, infinities, descrs):
        values = [self.decode(bits, width, exponent_bits, infinities) for bits in range(1 << width)]
        finite = [value for value in values[:1 << width - 1] if value == value and value != float("inf")]
        self.assertEqual(finite, sorted(finite))
        data = b"".join(struct.pack("<H" if width == 16 else "B", bits) for bits in range(1 << width))
        for descr in descrs:
            path = self.write(descr[1:] + ".npy", npy_header(descr, (1 << width,)) + data)
            result = harness.topk("select", path, "-k", 1 << width, "--dtype", dtype)
            self.assertEqual((result.status, result.err), (0, ""))
            lines = [line.split("\t") for line in result.out.decode().splitlines()]
            self.assertEqual([int(line[0]) for line in lines], best(values, 1 << width))
            self.check_texts([(line[1], values[int(line[0])]) for line in lines], finite)

    def check_texts(self, printed, finite):
        """Each text rounds to its value, and no text with fewer digits would."""
        rank = {value: i for i, value in enumerate(finite)}
        for text, value in printed:
            if value != value or abs(value) == float("inf"):
                self.assertEqual(text, "nan" if value != value else "inf" if value > 0 else "-inf")
                continue
            value = abs(value)
            text = text.lstrip("-")
            self.assertTrue(self.rounds_to(float(text), value, finite, rank), (text, value))
            digits = len(text.split("e")[0].replace(".", "").strip("0"))
            if digits > 1:
                for shorter in self.neighbours(value, digits - 1):
                    self.assertFalse(self.rounds_to(shorter, value, finite, rank), (text, shorter, value))

    @staticmethod
    def neighbours(value, digits):
        mantissa, exponent = ("%.*e" % (digits - 1, value)).split("e")
        unit = 10.0 ** (1 - digits)
        return [float("%.*fe%s" % (digits - 1, float(mantissa) + step, exponent)) for step in (-unit, 0, unit)]

    @staticmethod
    def rounds_to(x, value, finite, rank):
        i = rank[value]
        half_unit = (value - finite[i - 1]) / 2
        below = value - half_unit if i > 0 else -1.0
        above = (value + finite[i + 1]) / 2 if i + 1 < len(finite) else value + half_unit
        return below < x < above or (i % 2 == 0 and x in (below, above))

    def test_bfloat16(self):
        self.check("bfloat16", 16, 8, True, ["<V2", "|V2", "<u2"])

    def test_e4m3(self):
        self.check("float8_e4m3", 8, 4, False, ["|V1", "|u1", "<V1"])

    def test_e5m2(self):
        self.check("f8_e5m2", 8, 5, True, ["|V1", "|u1", "<f1", "|f1", ">f1"])

    def test_raw(self):
        path = self.write("x.raw", bytes([0x7e, 0x00, 0xfe, 0x80, 0x7f]))
        self.prints("4\tnan\n0\t450\n1\t0\n3\t-0\n2\t-450\n", "select", path, "-k", 5, "--dtype", "float8_e4m3fn")

    def test_arrays_keep_their_type(self):
        for dtype, descr, size in (("bf16", "<V2", 2), ("f8_e4m3", "|V1", 1), ("f8_e5m2", "|V1", 1)):
            path = self.write("x.bin", bytes(range(8 * size)))
            self.prints("", "select", path, "-k", 2, "--dtype", dtype, "--values", self.path("v.npy"))
            found, shape, data = harness.npy_read(self.read("v.npy"))
            self.assertEqual((found, shape, len(data)), (descr, (2,), 2 * size))


class Shortest(harness.Case):
    """Floats print as the shortest text that reads back."""

    def check(self, descr, code, values):
        values = [value for value in unpack(code, pack(code, values)) if value == value]
        path = self.write("x.npy", npy_header(descr, (len(values),)) + pack(code, values))
        self.prints(row_lines(values, code, range(len(values))), "where", path, "--ge", "-inf")

    def test_f16(self):
        self.check("<f2", "e", unpack("e", struct.pack("<65536H", *range(65536))))

    def test_f32_and_f64(self):
        print("seed 11")
        generator = random.Random(11)
        self.check("<f4", "f", unpack("I", struct.pack("<1I", 1)) +
                   unpack("f", struct.pack("<20000I", *(generator.getrandbits(32) for _ in range(20000)))))
        self.check("<f4", "f", [2.0 ** e for e in range(-149, 128)] + [-(2.0 ** e) for e in range(-149, 128)])
        self.check("<f8", "d", unpack("d", struct.pack("<20000Q", *(generator.getrandbits(64) for _ in range(20000)))))
        self.check("<f8", "d", [2.0 ** e for e in range(-1074, 1024)])
        self.check("<f8", "d", [10.0 ** e for e in range(-323, 309)] + [5e-324, 1.7976931348623157e308])
        self.check("<f8", "d", [9007199254740991.0, 9007199254740994.0, 123456789012345680.0, 0.1, 1e15, 1e16, 1e-4,
                                1e-5, 0.00012345, 123456.789])


class NpyHeaders(harness.Case):
    def test_versions_and_layouts(self):
        body = pack("f", [1, 3, 2])
        for header in [
                npy_header("<f4", (3,)), npy_header("<f4", (3,), version=(2, 0)),
                npy_header("<f4", (3,), version=(3, 0)), npy_header("<f4", (3,), align=16),
                npy_raw_header("{'shape':(3,),'fortran_order':False,'descr':'<f4'}"),
                npy_raw_header('{"descr": "<f4", "fortran_order": False, "shape": (3,)}'),
                npy_raw_header("{'descr': '<f4', 'fortran_order': True, 'shape': (3,)}"),
                npy_raw_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3L,), }"), # Python 2 on Windows
                npy_raw_header(" {\n 'shape' :\t( 3 , ) ,\r\n'descr':'<f4' , 'fortran_order' : False , } \n"),
                npy_raw_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" + " " * 70000, (2, 0))]:
            path = self.write("x.npy", header + body)
            self.prints("1\t3\n2\t2\n", "select", path, "-k", 2)

    def test_long_integers_of_a_matrix(self):
        header = npy_raw_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1L, 3L), }")
        self.prints("0\t1\t3\n", "select", self.write("x.npy", header + pack("f", [1, 3, 2])), "-k", 1)

    def test_misaligned_elements(self):
        values = sample("d", 300, 2)
        header = npy_raw_header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 100), } ", align=1)
        self.assertNotEqual(len(header) % 8, 0)
        path = self.write("x.npy", header + pack("d", values))
        expected = "".join(row_lines(values[r * 100:][:100], "d", best(values[r * 100:][:100], 4), r) for r in range(3))
        for piece in ([], ["--piece-bytes", 1700], ["--piece-bytes", 100]):
            self.prints(expected, "select", path, "-k", 4, *piece)

    def test_single_bytes_have_no_order(self):
        for descr in ("|i1", "<i1", ">i1"):
            path = self.write("x.npy", npy_header(descr, (2,)) + b"\x05\xff")
            self.prints("0\t5\n1\t-1\n", "select", path, "-k", 2)

    def test_empty_arrays(self):
        for shape in ((0,), (0, 4), (3, 0)):
            path = self.write("x.npy", npy_header("<f4", shape))
            self.prints("", "select", path, "-k", 2)
            self.prints("", "where", path, "--ge", 0)
            self.prints("", "mask", path, "--ge", 0)
        self.prints("0\t-inf\t0\t0\n1\t-inf\t0\t0\n2\t-inf\t0\t0\n", "kth", path, "-k", 2, "--padding")

    def test_override_names_the_same_type(self):
        path = self.write("x.npy", npy_header("<f4", (2,)) + pack("f", [1, 2]))
        self.prints("1\t2\n", "select", path, "-k", 1, "--dtype", "float32")

    def test_numpy_files(self):
        import numpy
        generator = numpy.random.default_rng(4)
        for array in (generator.standard_normal(50).astype("<f2"), generator.integers(-9, 9, (7, 5)),
                      numpy.arange(6, dtype="u2").reshape(2, 3)):
            numpy.save(self.path("x.npy"), array)
            rows = numpy.atleast_2d(array)
            order = numpy.argsort(-rows.astype("f8"), axis=1, kind="stable")[:, :3]
            self.prints("", "select", self.path("x.npy"), "-k", 3, "--values", self.path("v.npy"), "--indices",
                        self.path("i.npy"))
            values, indices = numpy.load(self.path("v.npy")), numpy.load(self.path("i.npy"))
            self.assertEqual(values.dtype, array.dtype)
            self.assertEqual(values.shape, array.shape[:-1] + (3,))
            self.assertTrue((numpy.atleast_2d(indices) == order).all())
            self.assertTrue((numpy.atleast_2d(values) == numpy.take_along_axis(rows, order, 1)).all())


class Vecs(harness.Case):
    def test_every_kind(self):
        for suffix, code, dimension in (("fvecs", "f", 33), ("ivecs", "i", 5), ("bvecs", "B", 13)):
            rows = [sample(code, dimension, seed) for seed in range(20)]
            data = b"".join(struct.pack("<i", dimension) + pack(code, row) for row in rows)
            path = self.write("x." + suffix, data)
            other = self.write("vectors", data)
            expected = "".join(row_lines(row, code, best(row, 4), r) for r, row in enumerate(rows))
            matches = "".join(row_lines(row, code, [i for i, x in enumerate(row) if x > 2], r)
                              for r, row in enumerate(rows))
            for piece in PIECES + [["--piece-bytes", 1]]:
                self.prints(expected, "select", path, "-k", 4, *piece)
                self.prints(matches, "where", path, "--gt", 2, *piece)
                self.prints("", "mask", path, "--gt", 2, "--bits", self.path("b.npy"), *piece)
                bits = packed([x > 2 for row in rows for x in row])
                self.assertEqual(npy_read(self.read("b.npy")), ("|u1", (len(bits),), bits))
            self.prints(expected, "select", other, "-k", 4, "--format", suffix)

    def test_empty(self):
        self.prints("", "select", self.write("x.fvecs", b""), "-k", 4)

    def test_bad(self):
        good = struct.pack("<iff", 2, 1, 2)
        for data, expected in [
                (b"\x02\x00", "byte 0: the file ends within the first dimension"),
                (struct.pack("<i", 0), "byte 0: dimension 0 is not positive"),
                (struct.pack("<i", -3), "byte 0: dimension -3 is not positive"),
                (struct.pack("<i", 0x7fffffff) + b"1234",
                 "byte 0: the file ends within a vector: its size is no multiple of 8589934592 bytes"),
                (good + good[:-1], "byte 12: the file ends within a vector: its size is no multiple of 12 bytes"),
                (good + struct.pack("<iff", 1, 1, 2), "byte 12: vector 1 has dimension 1, others have 2"),
                (good + struct.pack("<iff", 3, 1, 2), "byte 12: vector 1 has dimension 3, others have 2")]:
            path = self.write("x.fvecs", data)
            for piece in ([], ["--piece-bytes", 1]):
                self.fails(path + ": " + expected, "select", path, "-k", 1, "--values", self.path("v.npy"), *piece)
            self.assertEqual(os.listdir(self.folder), ["x.fvecs"])


class Raw(harness.Case):
    def test_vector_and_matrix(self):
        data = pack("h", [5, -7, 3, 9])
        for name in ("x.raw", "x.bin"):
            path = self.write(name, data)
            self.prints("3\t9\n0\t5\n", "select", path, "-k", 2, "--dtype", "int16")
            self.prints("0\t0\t5\n1\t1\t9\n", "select", path, "-k", 1, "--dtype", "i16", "--cols", 2)
        path = self.write("data", data)
        self.prints("0\t0\t5\n1\t1\t9\n", "select", path, "-k", 1, "--dtype", "int16", "--cols", 2)
        self.prints("3\t9\n", "select", path, "-k", 1, "--dtype", "int16", "--format", "raw")

    def test_standard_input_that_is_a_file(self):
        path = self.write("x", pack("h", [5, -7, 3, 9]))
        with open(path, "rb") as file:
            self.prints("3\t9\n", "select", "-", "-k", 1, "--dtype", "int16", "--format", "raw", stdin=file)

    def test_bad(self):
        path = self.write("x.raw", b"12345")
        self.fails(path + ": byte 4: the file's size is no multiple of 2 bytes, one element", "select", path, "-k", 1,
                   "--dtype", "int16")
        self.fails(path + ": byte 0: the file's size is no multiple of 6 bytes, one row", "select", path, "-k", 1,
                   "--dtype", "int16", "--cols", 3)
        self.fails(path + ": byte 0: a row of 9223372036854775807 elements overflows", "select", path, "-k", 1,
                   "--dtype", "int64", "--cols", 9223372036854775807)
        self.fails("raw file '" + path + "' needs --dtype", "select", path, "-k", 1, status=2)


class Bin(harness.Case):
    """A matrix behind its numbers of rows and columns."""

    KINDS = (("fbin", "f", "f32"), ("u8bin", "B", "u8"), ("i8bin", "b", "i8"), ("ibin", "i", "i32"))

    def test_every_kind(self):
        for suffix, code, dtype in self.KINDS:
            rows = [sample(code, 33, seed) for seed in range(9)]
            data = struct.pack("<II", 9, 33) + b"".join(pack(code, row) for row in rows)
            path, other, plain = self.write("x." + suffix, data), self.write("vectors", data), self.write("x.bin", data)
            expected = "".join(row_lines(row, code, best(row, 4), r) for r, row in enumerate(rows))
            for piece in PIECES + [["--piece-bytes", 1]]:
                self.prints(expected, "select", path, "-k", 4, *piece)
                self.prints(expected, "select", plain, "-k", 4, "--dtype", dtype, "--skip-bytes", 8, "--cols", 33, *piece)
            self.prints(expected, "select", other, "-k", 4, "--format", suffix)
            self.prints(expected, "select", "-", "-k", 4, "--format", suffix, stdin=data)
            self.prints(expected, "select", other, "-k", 4, "--dtype", dtype, "--skip-bytes", 8, "--cols", 33)
            hint = ": the first 8 bytes are a header, for 9 rows of 33 %s follow: say --skip-bytes 8 --cols 33, or " \
                "--format raw if they are elements" % dtype
            self.fails(plain + hint, "select", plain, "-k", 4, "--dtype", dtype)
            self.fails(other + hint, "select", other, "-k", 4, "--dtype", dtype, "--cols", 1)
            raw = unpack(code, data)
            for arguments in (["--format", "raw"], ["--skip-bytes", 0]):
                self.prints(row_lines(raw, code, best(raw, 2)), "select", plain, "-k", 2, "--dtype", dtype, *arguments)

    def test_empty(self):
        for rows, cols in ((0, 0), (0, 5)):
            self.prints("", "select", self.write("x.fbin", struct.pack("<II", rows, cols)), "-k", 4)

    def test_bad(self):
        for data, expected in [
                (b"", "byte 0: the file ends within the header"), (b"1234567", "byte 7: the file ends within the header"),
                (struct.pack("<II", 3, 0), "byte 4: the header says that rows have no elements"),
                (struct.pack("<II", 1, 1), "byte 0: the header says 1 rows of 1 f32, but 0 bytes follow"),
                (struct.pack("<IIf", 1, 2, 1), "byte 0: the header says 1 rows of 2 f32, but 4 bytes follow"),
                (struct.pack("<IIf", 1, 1, 1) + b"x", "byte 0: the header says 1 rows of 1 f32, but 5 bytes follow"),
                (struct.pack("<IIf", 0, 2, 1), "byte 0: the header says 0 rows of 2 f32, but 4 bytes follow"),
                (struct.pack("<IIf", 2 ** 32 - 1, 2 ** 32 - 1, 1),
                 "byte 0: the header says 4294967295 rows of 4294967295 f32, but 4 bytes follow")]:
            path = self.write("x.fbin", data)
            self.fails(path + ": " + expected, "select", path, "-k", 1)

    def test_skipped_bytes(self):
        path = self.write("x.raw", b"abc" + pack("h", [5, -7, 9, 3]))
        for piece in PIECES:
            self.prints("2\t9\n", "select", path, "-k", 1, "--dtype", "i16", "--skip-bytes", 3, *piece)
            self.prints("1\n", "count", path, "--lt", 0, "--dtype", "i16", "--skip-bytes", 3, *piece)
            self.prints("0\t5\t0\t1\n1\t9\t0\t1\n", "kth", path, "-k", 1, "--dtype", "i16", "--skip-bytes", 3, "--cols",
                        2, *piece)
        self.prints("", "select", path, "-k", 1, "--dtype", "i16", "--skip-bytes", 11)
        self.fails(path + ": byte 11: the file ends within the bytes of --skip-bytes", "select", path, "-k", 1, "--dtype",
                   "i16", "--skip-bytes", 12)
        self.fails(path + ": byte 10: the file's size without the bytes of --skip-bytes is no multiple of 2 bytes, one "
                   "element", "select", path, "-k", 1, "--dtype", "i16", "--skip-bytes", 4)
        self.fails("--cols and --skip-bytes are for raw files, and '-' is text", "select", "-", "-k", 1, "--skip-bytes", 3,
                   "--format", "text", status=2)


if __name__ == "__main__":
    harness.main()
