# SPDX-License-Identifier: Apache-2.0
"""Text: numbers, fields, lines, streaming."""

import bisect
import csv
import decimal
import fractions
import io
import json
import operator
import random
import re
import struct
import re
import struct

import harness
from harness import best, kth, npy_read


class Numbers(harness.Case):
    def test_one_number_per_line(self):
        self.prints("1\t30\n3\t7.50\n0\t-1\n", "select", "-", "-k", 3, stdin=b"-1\n30\n-2\n7.50\n")

    def test_original_text_is_kept(self):
        self.prints("2\t+1e3\n1\t0100.00\n", "select", "-", "-k", 2, stdin=b"5\n  0100.00 \n+1e3\n")

    def test_spellings(self):
        lines = b"inf\n-Infinity\nNaN\n.5\n5.\n+2E-1\n-0\n1e-320\nINF\n-nan\n"
        self.prints("2\tNaN\n9\t-nan\n0\tinf\n8\tINF\n4\t5.\n3\t.5\n5\t+2E-1\n7\t1e-320\n6\t-0\n1\t-Infinity\n",
                    "select", "-", "-k", 20, stdin=lines)

    def test_nan_last(self):
        self.prints("2\t3\n1\t2\n0\tnan\n", "select", "-", "-k", 3, "--nan", "last", stdin=b"nan\n2\n3\n")

    def test_rounds_to_nearest_even(self):
        # The first two straddle the midpoint above 1; without exact rounding both read as the third.
        lines = b"1.00000000000000011102230246251565404\n1.000000000000000111022302462515654042363166809082031251\n1\n"
        self.prints("1\t1.000000000000000111022302462515654042363166809082031251\n", "where", "-", "--gt", 1,
                    stdin=lines)

    def test_digits_beyond_any_buffer(self):
        long_one = b"0." + b"0" * 2000 + b"1" * 3000 + b"e2001"
        self.prints(b"0\t" + long_one + b"\n", "where", "-", "--between", "1.11", "1.12", stdin=long_one + b"\n2\n")

    def test_missing_last_newline(self):
        self.prints("1\t9\n", "select", "-", "-k", 1, stdin=b"8\n9")

    def test_carriage_returns(self):
        self.prints("1\t9\n0\t8\n", "select", "-", "-k", 2, stdin=b"8\r\n9\r\n")

    def test_empty_input(self):
        self.prints("", "select", "-", "-k", 3, stdin=b"")
        self.prints("", "where", "-", "--gt", 0, stdin=b"")
        self.prints("-inf\t0\t0\n", "kth", "-", "-k", 3, "--padding", stdin=b"")
        for lines, arguments in ((b"", []), (b"name\n", ["--header"])):
            self.prints("0\n", "count", "--gt", 0, *arguments, stdin=lines, env={"MALLOC_PERTURB_": "165"})

    def test_zero_of_them(self):
        self.prints("", "select", "-", "-k", 0, stdin=b"1\n2\n")

    def test_int64(self):
        lines = b"9007199254740993\n9007199254740992\n-9223372036854775808\n+9223372036854775807\n"
        self.prints("3\t+9223372036854775807\n0\t9007199254740993\n1\t9007199254740992\n",
                    "select", "-", "-k", 3, "--dtype", "int64", stdin=lines)
        self.prints("2\t-9223372036854775808\n", "select", "-", "-k", 1, "--dtype", "int64", "--magnitude",
                    stdin=lines)

    def test_uint64(self):
        self.prints("1\t18446744073709551615\n", "select", "-", "-k", 1, "--dtype", "uint64",
                    stdin=b"18446744073709551614\n18446744073709551615\n-0\n")


class DecimalCommas(harness.Case):
    """--decimal , reads and prints as the same text with points does, but for that sign."""

    def both(self, command, lines, *arguments):
        expected = harness.topk(*command, *arguments, stdin=lines)
        self.assertEqual((expected.status, expected.err), (0, ""))
        swapped = [word.replace(".", ",") if isinstance(word, str) else word for word in arguments]
        self.prints(expected.out.replace(b".", b","), *command, *swapped, "--decimal", ",", stdin=lines.replace(b".", b","))

    def test_all_commands(self):
        rng = random.Random(7)
        texts = ["%.*f" % (rng.randrange(20), rng.uniform(-9, 9)) for _ in range(300)]
        texts += ["1.5e3", "-.5", "5.", "inf", "nan", "7", "9007199254740993.5", "1.25e400", "-1.0e-400", "0.1e-3", "12e-1"]
        rng.shuffle(texts)
        lines = "\n".join(texts).encode()
        for command in (["select", "-k", 400], ["kth", "-k", "1,3,50%,80%,100%"], ["kth", "--quantile", "0.001"],
                        ["select", "-k", 5, "--smallest"], ["kth", "-k", 4, "--magnitude"]):
            self.both(command, lines)
        for command in (["where"], ["count"], ["mask"], ["kth", "-k", 2]):
            for bounds in (["--gt", "0.5"], ["--between", "-1.25", "9007199254740993.5"], ["--le", "1.25e400"]):
                self.both(command, lines, *bounds)
        self.both(["kth", "--quantile", "0.5", "--dtype", "int64"], b"3\n4\n")

    def test_fields(self):
        table = b"name;price;count\nsoap;2,50;10\nrope;\"12,75\";3\nnail;0,05;900\n"
        self.prints(b"name;price;count\nrope;\"12,75\";3\nsoap;2,50;10\n", "select", "-k", 2, "--csv", "--delimiter", ";",
                    "--column", "price", "--decimal", ",", stdin=table)
        self.prints("2,5\t1\t1\n", "kth", "-k", "50%", "--csv", "--delimiter", ";", "--column", "price", "--decimal", ",",
                    "--ge", "0,05", stdin=table)
        self.prints("b 1,5\n", "where", "--gt", "1,25", "--field", 2, "--decimal", ",", stdin=b"a 1,25\nb 1,5\n")

    def test_json_has_points(self):
        self.assertEqual(json.loads(harness.topk("kth", "-k", 1, "--decimal", ",", "--json", stdin=b"2,5\n").out)["results"],
                         [{"value": 2.5, "better": 0, "equal": 1}])
        self.assertEqual(json.loads(harness.topk("select", "-k", 1, "--decimal", ",", "--json", stdin=b"2,5\n").out)["results"],
                         [{"index": 0, "value": 2.5, "text": "2,5"}])

    def test_a_point_is_the_default(self):
        self.prints("0\t2.5\n", "select", "-k", 1, "--decimal", ".", stdin=b"2.5\n")
        self.prints("1.5,a\n", "where", "--gt", 1, "--csv", "--decimal", ".", stdin=b"1.5,a\n")

    def test_what_is_refused(self):
        both = "' cannot both separate fields and begin decimals: choose another --delimiter, or --decimal"
        for arguments, expected in [
                (["--decimal", ";"], "--decimal: ';' is neither a comma nor a point"),
                (["--decimal", ""], "--decimal: '' is neither a comma nor a point"),
                (["--decimal", ",", "--csv"], "'," + both), (["--decimal", ",", "--delimiter", ","], "'," + both),
                (["--decimal", ".", "--delimiter", "."], "'." + both),
                (["--decimal", ",", "--human"], "--human takes a comma or a point, as it finds them: leave --decimal out")]:
            self.fails(re.escape(expected), "select", "-k", 1, *arguments, status=2, stdin=b"1\n")
        for arguments in (["--gt", "0,5"], ["--between", "0,5", "0.5"], ["--gt", "0,5", "--decimal", "."]):
            self.fails("bound '0,5' is not a number: decimals have a point, unless --decimal says else", "count", *arguments,
                       status=2, stdin=b"1\n")
        self.fails("bound '1.000,5' is not a number: decimals have a point", "count", "--decimal", ",", "--gt", "1.000,5",
                   status=2, stdin=b"1\n")


class Rounding(harness.Case):
    """Each decimal becomes the nearest double, as Python reads it."""

    def check(self, texts):
        self.prints("", "where", "-", "--ne", "nan", "--values", self.path("v.npy"), stdin="\n".join(texts).encode())
        read = [data for data, in struct.iter_unpack("8s", npy_read(self.read("v.npy"))[2])]
        expected = [struct.pack("<d", float(text)) for text in texts]
        self.assertEqual([text for text, a, b in zip(texts, read, expected) if a != b], [])
        self.assertEqual(len(read), len(texts))

    def test_rounded_once(self):
        """Rounded to 64 bits first, these end in the midpoint of two doubles."""
        self.check(["272984964.091683954", "40.0099726962190978", "-272984964.091683954", "400099726962190978e-16"])

    def test_sweep(self):
        seed = 11
        print("seed", seed)
        generator = random.Random(seed)
        texts = []
        for _ in range(150000):
            digits = str(generator.getrandbits(generator.randint(1, 62)))
            point = generator.randint(0, len(digits))
            exponent = generator.choice(["", "e%d" % generator.randint(-30, 30), "E%+04d" % generator.randint(-330, 290)])
            text = digits[:point] + "." + digits[point:] + exponent
            if float(text) != 0 or not digits.strip("0"):
                texts.append(generator.choice(["", "-", "+"]) + text)
        self.check(texts)

    def test_midpoints(self):
        """The midpoint of two doubles, and what lies next to it, however far behind."""
        texts = []
        longest = str((2**54 - 1) * 5**1075)
        self.assertEqual(len(longest), 768)
        for digits, exponent in (str(2**53 + 1), 0), (str((2**53 + 1) * 5**53), -53), (longest, -1075):
            below = str(int(digits) - 1)
            for zeros in (0, 1, 2, 600, 714, 715, 716, 750, 751, 752, 753, 800, 5000):
                for integer, behind in ((digits, "0" * zeros), (digits, "0" * zeros + "1"), (below, "9" * (zeros + 1))):
                    texts += ["%s.%se%d" % (integer, behind, exponent), "%s%se%d" % (integer, behind, exponent - len(behind)),
                              "0.%s%se%d" % (integer, behind, exponent + len(integer)),
                              "-0.%s%s%se%d" % ("0" * 900, integer, behind, exponent + len(integer) + 900)]
        self.check(texts)


class Fields(harness.Case):
    DU = b"120\t/var\n4096\t/usr/share/a b\n8\t/x\n4096\t/y\n"

    def test_whole_lines(self):
        self.prints("4096\t/usr/share/a b\n4096\t/y\n", "select", "-", "-k", 2, "--field", 1, stdin=self.DU)

    def test_later_fields(self):
        lines = b"a  10 x\n b\t 9 y\nc 11\n"
        self.prints("c 11\na  10 x\n", "select", "-", "-k", 2, "--field", 2, stdin=lines)

    def test_delimiter(self):
        lines = b"a,1.5,x\n,, 2.5 \nb,-3\n"
        self.fails(r"standard input:2: '' is not a number", "select", "-", "-k", 2, "--field", 2, "--delimiter",
                   ",", stdin=lines)
        self.prints(",, 2.5 \n", "where", "-", "--gt", 2, "--field", 3, "--delimiter", ",",
                    stdin=b"a,b,1.5\n,, 2.5 \n")
        self.prints("\t7\n", "select", "-", "-k", 1, "--field", 2, "--delimiter", "\\t", stdin=b"x\t3\n\t7\n")

    def test_delimiter_alone_means_the_first_field(self):
        self.prints("7;a\n", "select", "-", "-k", 1, "--delimiter", ";", stdin=b"3;b\n7;a\n")

    def test_delimiters_that_numbers_hold(self):
        self.prints("3-1\n", "select", "-", "-k", 1, "--delimiter", "-", stdin=b"2-9\n3-1\n")
        self.prints("2.9\n1.8\n", "select", "-", "-k", 2, "--delimiter", ".", "--field", 1, stdin=b"1.8\n2.9\n")
        self.prints("2e9\n", "select", "-", "-k", 1, "--delimiter", "e", "--field", 1, stdin=b"2e9\n1e99\n")
        self.fails(r"standard input:1: '' is not a number", "select", "-", "-k", 1, "--delimiter", "\t",
                   stdin=b"\t7\n")

    def test_bytes_of_no_encoding(self):
        lines = b"2 \xff\xfe\x01x\n1 y\n"
        self.prints(b"2 \xff\xfe\x01x\n", "select", "-", "-k", 1, "--field", 1, stdin=lines)

    def test_every_kind_of_field(self):
        """The fast way and the slow one find the same numbers: against Python's."""
        seed = 12
        print("seed", seed)
        generator = random.Random(seed)
        numbers = ["%s" % generator.choice([generator.randrange(-999, 999), generator.random(), "1e%d" % generator.randrange(40),
                                            ".5", "+7", "12345678901234567.5"]) for _ in range(3000)]
        words = ["", "a", "word", "x" * 7, "y" * 8, "z" * 9, "\xb5 \x80" * 5, "-", "1e5", "q" * 300]
        for delimiter, arguments in ((",", ["--delimiter", ","]), ("\t", ["--delimiter", "\\t"]), (None, []), (",", ["--csv"])):
            for field in (1, 2, 4):
                lines = []
                for number in numbers:
                    blank = generator.choice(["", "", " ", "  "])
                    fields = [generator.choice(words) for _ in range(5)]
                    if delimiter is None:
                        fields = [word.replace(" ", "") or "w" for word in fields]
                    if arguments == ["--csv"]:
                        fields = [generator.choice([word, '"%s"' % word, '"%s,""%s"' % (word, word)]) for word in fields]
                        number = generator.choice([number, '"%s"' % number, ' "%s" ' % number])
                    fields[field - 1] = blank + number + generator.choice(["", blank])
                    lines.append((delimiter or generator.choice([" ", " \t "])).join(fields[:generator.randint(field, 5)]))
                values = [float(number) for number in numbers]
                at = sorted(range(len(values)), key=lambda i: -values[i])
                for end in ("\n", "\r\n"):
                    self.prints("".join(lines[i] + "\n" for i in at[:50]).encode("latin-1"), "select", "-k", 50, "--field", field,
                                *arguments, stdin=end.join(lines).encode("latin-1"))


class Questions(harness.Case):
    LINES = b"3\n-5\n4\n3\n-4\n0\n"

    def test_smallest(self):
        self.prints("1\t-5\n4\t-4\n", "select", "-", "-k", 2, "--smallest", stdin=self.LINES)

    def test_magnitude(self):
        self.prints("1\t-5\n2\t4\n4\t-4\n", "select", "-", "-k", 3, "--magnitude", stdin=self.LINES)

    def test_kth(self):
        self.prints("3\t1\t2\n", "kth", "-", "-k", 2, stdin=self.LINES)
        self.prints("4\t1\t2\n", "kth", "-", "-k", 3, "--magnitude", stdin=self.LINES)
        self.prints("-inf\t6\t0\n", "kth", "-", "-k", 7, "--padding", stdin=self.LINES)
        self.prints("inf\t6\t0\n", "kth", "-", "-k", 7, "--padding", "--smallest", stdin=self.LINES)
        self.prints("-inf\t0\t0\n", "kth", "-", "-k", 0, "--padding", stdin=self.LINES)

    def test_where(self):
        for option, bounds, expected in [
                ("--gt", [3], [2]), ("--ge", [3], [0, 2, 3]), ("--lt", [-4], [1]), ("--le", ["-4"], [1, 4]),
                ("--eq", ["3.0"], [0, 3]), ("--ne", [3], [1, 2, 4, 5]), ("--between", ["-4", "0"], [4, 5])]:
            lines = self.LINES.decode().split()
            with self.subTest(option=option):
                self.prints("".join("%d\t%s\n" % (i, lines[i]) for i in expected), "where", "-", option, *bounds,
                            stdin=self.LINES)

    def test_select_with_a_predicate(self):
        self.prints("2\t4\n0\t3\n", "select", "-", "-k", 2, "--gt", 0, stdin=self.LINES)
        self.prints("0\t3\n3\t3\n", "select", "-", "-k", 2, "--lt", 4, stdin=self.LINES)
        self.prints("1\t-5\n4\t-4\n", "select", "-", "-k", 9, "--lt", 0, "--magnitude", stdin=self.LINES)
        self.prints("", "select", "-", "-k", 9, "--gt", 4, stdin=self.LINES)
        self.prints("1\tnan\n0\t1\n", "select", "-", "-k", 9, "--ne", 2, stdin=b"1\nnan\n2\n")
        self.prints("0\t1\n1\tnan\n", "select", "-", "-k", 9, "--ne", 2, "--nan", "last", stdin=b"1\nnan\n2\n")

    def test_count(self):
        for option, bounds, expected in [("--gt", [3], 1), ("--between", ["-4", "3"], 4), ("--ne", [3], 4), ("--eq", [7], 0)]:
            self.prints("%d\n" % expected, "count", "-", option, *bounds, stdin=self.LINES)
        self.prints("0\n", "count", "-", "--gt", 0, stdin=b"")

    def test_mask(self):
        for option, bounds, expected in [("--gt", [3], "001000"), ("--between", ["-4", "3"], "100111"),
                                         ("--ne", [3], "011011")]:
            self.prints("".join(bit + "\n" for bit in expected), "mask", "-", option, *bounds, stdin=self.LINES)
        self.prints("", "mask", "-", "--gt", 0, stdin=b"")

    def test_where_is_exact_on_integers(self):
        lines = b"9007199254740992\n9007199254740993\n"
        self.prints("1\t9007199254740993\n", "where", "-", "--dtype", "int64", "--gt", "9007199254740992",
                    stdin=lines)
        self.prints("1\t18446744073709551615\n", "where", "-", "--dtype", "uint64", "--ge",
                    "18446744073709551615", stdin=b"18446744073709551614\n18446744073709551615\n")


class Header(harness.Case):
    def test_lines_before_the_first_element(self):
        lines = b"a heading\n\n1\n3\n"
        self.prints("1\t3\n", "select", "-", "-k", 1, "--header=2", stdin=lines)
        self.prints("0\t3\n", "select", "-", "-k", 1, "--header=3", stdin=lines)
        self.prints("0\t3\n", "select", "-", "-k", 1, "--header", stdin=b"9\n3")
        for header in (4, 5, 1 << 62):
            self.prints("", "select", "-", "-k", 1, "--header=%d" % header, stdin=lines)
        self.fails("standard input:1: 'a' is not a number", "select", "-", "-k", 1, "--header=0", "--field", 1,
                   stdin=lines)

    def test_messages_count_them(self):
        self.fails("standard input:3: 'x' is not a number", "select", "-", "-k", 1, "--header", stdin=b"a\n1\nx\n")

    def test_all_commands(self):
        lines = b"a\n5\n7\n"
        self.prints("7\t0\t1\n", "kth", "-", "-k", 1, "--header", stdin=lines)
        self.prints("1\t7\n", "where", "-", "--gt", 6, "--header", stdin=lines)
        self.prints("1\n", "count", "-", "--gt", 6, "--header", stdin=lines)
        self.prints("0\n1\n", "mask", "-", "--gt", 6, "--header", stdin=lines)
        self.assertIn(b"1 row of 2 f64", harness.topk("explain", "-", "-k", 1, "--header", stdin=lines).out)

    def test_longer_than_a_buffer(self):
        self.prints("0\t3\n", "select", "-", "-k", 1, "--header=500000", stdin=b"some heading\n" * 500000 + b"3\n")
        self.prints("0\t3\n", "select", "-", "-k", 1, "--header=4", stdin=(b"x" * 1000000 + b"\n") * 4 + b"3\n")

    def test_byte_order_mark(self):
        mark = b"\xef\xbb\xbf"
        self.prints("0\t3\n", "select", "-", "-k", 1, stdin=mark + b"3\n")
        self.prints("3 x\n", "select", "-", "-k", 1, "--field", 1, stdin=mark + b"3 x\n2 y\n")
        self.prints("", "select", "-", "-k", 1, stdin=mark)
        self.fails("standard input:2: .* is not a number", "select", "-", "-k", 1, stdin=b"3\n" + mark + b"3\n")


class Invalid(harness.Case):
    """--skip-invalid."""

    LINES = b"4\nx\n\n7\n2 3\n4\n"

    def says(self, expected, note, *arguments, stdin):
        result = harness.topk(*arguments, "--skip-invalid", stdin=stdin)
        self.assertEqual((result.status, result.out), (0, expected.encode()))
        self.assertEqual(result.err, note and "topk: standard input: %s\n" % note)

    def test_all_commands(self):
        note = "invalid lines passed over: 3; the first is line 2: 'x' is not a number"
        for expected, *arguments in [
                ("3\t7\n0\t4\n5\t4\n", "select", "-k", 9), ("3\t7\n0\t4\n", "select", "-k", 2),
                ("3\t7\n", "select", "-k", 1), ("0\t4\n5\t4\n", "select", "-k", 2, "--lt", 7),
                ("4\t1\t2\n", "kth", "-k", 3), ("0\t4\n3\t7\n5\t4\n", "where", "--gt", 1), ("3\n", "count", "--ne", 1),
                ("1\n0\n0\n1\n0\n1\n", "mask", "--ge", "-9")]:
            with self.subTest(arguments=arguments):
                self.says(expected, note, *arguments, stdin=self.LINES)
        self.says("1\t7\n", "invalid lines passed over: 2; the first is line 3: blank line", "select", "-k", 1, "--header=2",
                  stdin=self.LINES)
        for k in (1, 2, 9):
            harness.topk("select", "-k", k, "--skip-invalid", "--indices", self.path("i.npy"), stdin=self.LINES)
            self.assertEqual(harness.unpack("q", npy_read(self.read("i.npy"))[2])[:3], [3, 0, 5][:k])
        out = harness.topk("explain", "-k", 1, "--skip-invalid", stdin=self.LINES).out
        self.assertIn(b"1 row of 3 f64", out)
        for command in (["select", "-k", 1], ["kth", "-k", 1], ["where", "--gt", 0], ["count", "--gt", 0]):
            out = harness.topk(*command, "--json", "--skip-invalid", stdin=self.LINES).out
            self.assertIn(b'"length": 6}', out)

    def test_reasons(self):
        for lines, arguments, reason in [
                (b"1 2\n3\n", ["--field", 2], "2: line has no field 2"), (b"1\n\x1b\n", [], "2: '\\x1b' is not a number"),
                (b"1\n0x10\n", [], "2: '0x10' is not a number")]:
            result = harness.topk("count", "--gt", 0, "--skip-invalid", *arguments, stdin=lines)
            self.assertEqual(result.err, "topk: standard input: invalid lines passed over: 1; the first is line %s\n" % reason)

    def test_numbers_are_never_passed_over(self):
        """Nor what a locale with a decimal comma writes: the results would lack the best lines."""
        comma = "'%s' has a comma, but decimals need a point (LC_ALL=C, or --decimal ,)"
        size = "'%s' has a comma, but decimals need a point (LC_ALL=C)"
        fields = "; fields need --csv"
        for token, arguments, reason in [
                ("0,5", [], comma + fields), ("-0,5", [], comma + fields), (",5e-3", [], comma + fields),
                ("1,000", [], comma + fields), ("1.000,5", [], comma + fields), ("1,2,3", ["--quiet"], comma + fields),
                ("1,000", ["--dtype", "int64"], comma + fields), ("1,000K", ["--human"], size),
                ("1.000,5K", ["--human"], size), ("1,", ["--human"], size), (",5,5K", ["--human"], size),
                *((token, ["--decimal", ","], "'%s' has a point, but --decimal says that decimals have a comma")
                  for token in ("0.5", "-1.000,5", "1,000.5", ".5e3")),
                ("1,2,3", ["--decimal", ","], "'%s' is not a number"),
                ("7,5", ["--decimal", ",", "--dtype", "int64"], "'%s' is not a decimal integer, as --dtype asks for"),
                ("9223372036854775808", ["--dtype", "int64"], "%s is out of the range of int64"),
                ("-1", ["--dtype", "uint64"], "%s is out of the range of uint64"),
                *((token, ["--dtype", dtype], "'%s' is not a decimal integer, as --dtype asks for")
                  for token in ("1e6", "7.5", "7.0", "1e999", "-2.5e3") for dtype in ("int64", "uint64")),
                ("-5", ["--human"], "'%s' is not a size"), ("1e5", ["--human"], "'%s' is not a size")]:
            for command in (["select", "-k", 1], ["count", "--lt", 1], ["where", "--gt", 0]):
                with self.subTest(token=token, command=command):
                    self.fails("standard input:3: " + re.escape(reason % token), *command,
                               "--skip-invalid", "--field", 2, *arguments, stdin=b"a 1\nNA NA\nb %s\n" % token.encode())

    def test_commas_between_known_fields(self):
        """No advice to say --csv where it is said, or another delimiter."""
        comma = "standard input:1: '1,5' has a comma, but decimals need a point \\(LC_ALL=C, or --decimal ,\\)"
        self.fails(comma, "select", "-k", 1, "--csv", stdin=b'"1,5"\n')
        self.fails(comma, "select", "-k", 1, "--delimiter", ";", stdin=b"1,5;3\n")
        self.fails(comma + "; fields need --csv", "select", "-k", 1, stdin=b"1,5\n")

    def test_nothing_to_say(self):
        self.says("0\t4\n", "", "select", "-k", 1, stdin=b"4\n")
        self.says("0\t4\n", "", "select", "-k", 1, "--quiet", stdin=b"4\nx\n")

    def test_nothing_but_invalid_lines(self):
        note = "invalid lines passed over: 2; the first is line 1: 'x' is not a number"
        self.says("", note, "select", "-k", 1, stdin=b"x\ny\n")
        self.says("0\n", note, "count", "--ne", 0, stdin=b"x\ny\n")
        self.says("0\n0\n", note, "mask", "--ne", 7, stdin=b"x\ny\n")

    def test_what_is_no_text(self):
        self.fails("standard input:40001: line holds a NUL; .*", "count", "--gt", 0, "--skip-invalid",
                   stdin=b"1\n" * 40000 + b"x\0y\n2\n")

    def test_many(self):
        """More lines than a chunk holds, in runs of all lengths, against a stable sort."""
        generator = random.Random(5)
        values = [generator.randrange(1000) if generator.random() < generator.choice([0.1, 0.9]) else None
                  for _ in range(300000)]
        data = "\n".join("%s" % ("bad" if value is None else value) for value in values).encode()
        valid = [i for i, value in enumerate(values) if value is not None]
        ranked = sorted(valid, key=lambda i: -values[i])
        skips = ["--skip-invalid", "--quiet"]
        for k in (1, 1000, len(valid)):
            self.prints("".join("%d\t%d\n" % (i, values[i]) for i in ranked[:k]), "select", "-k", k, *skips, stdin=data)
        at = ranked[4999]
        self.prints("%d\t%d\t%d\n" % (values[at], sum(values[i] > values[at] for i in valid),
                                      sum(values[i] == values[at] for i in valid)), "kth", "-k", 5000, *skips, stdin=data)
        self.prints("".join("%d\t%d\n" % (i, values[i]) for i in valid if values[i] != 3), "where", "--ne", 3, *skips,
                    stdin=data)
        self.prints("%d\n" % sum(values[i] != 3 for i in valid), "count", "--ne", 3, *skips, stdin=data)
        self.prints("".join("%d\n" % (value not in (None, 3)) for value in values), "mask", "--ne", 3, *skips, stdin=data)


class Binary(harness.Case):
    """What is no text is named, with a way out, however it comes and whatever lines may be passed over."""

    @staticmethod
    def archive():
        import io
        import zipfile
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("x.npy", harness.npy_header("<f4", (1,)) + harness.pack("f", [3]))
        return stream.getvalue()

    def files(self):
        """Each as its writer begins it; those that the standard library writes are whole."""
        import bz2
        import gzip
        import lzma
        import pickle
        import sqlite3
        database = sqlite3.connect(self.path("db"))
        with database:
            database.execute("create table t (x real)")
        database.close()
        text = b"1\n2\n3\n"
        schema = b'{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
        thrift = bytes.fromhex("1504151015144c1502")
        return [
            ("b.zip", self.archive(), "a ZIP archive, as .npz and .pt are", "`unzip -p FILE'"),
            ("a.zip", b"PK\x05\x06" + bytes(18), "an empty ZIP archive", "numpy.save"),
            ("a.gz", gzip.compress(text), "gzip", "`gzip -dc FILE'"),
            ("a.npy.gz", gzip.compress(text), "gzip", "`gzip -dc FILE'"),
            ("a.bz2", bz2.compress(text), "bzip2", "`bzip2 -dc FILE'"),
            ("b.bz2", bz2.compress(b""), "bzip2", "`bzip2 -dc FILE'"),
            ("a.xz", lzma.compress(text), "xz", "`xz -dc FILE'"),
            ("a.zst", bytes.fromhex("28b52ffd200631000031 0a320a330a"), "Zstandard", "`zstd -dc FILE'"),
            ("a.lz4", bytes.fromhex("04224d186440a7"), "LZ4", "`lz4 -dc FILE'"),
            ("a.parquet", b"PAR1" + thrift + b"PAR1", "a Parquet file", "python -m libtopk"),
            ("a.arrow", b"ARROW1\0\0\xff\xff\xff\xff", "an Arrow file, as Feather is", "python -m libtopk"),
            ("a.arrows", b"\xff\xff\xff\xff\x78\0\0\0", "perhaps an Arrow stream", "--format raw"),
            ("a.feather", b"FEA1" + bytes(4), "a Feather file", "numpy.save"),
            ("a.h5", b"\x89HDF\r\n\x1a\n" + bytes(8), "an HDF5 file", "h5dump"),
            ("a.st", struct.pack("<Q", len(schema)) + schema + bytes(4), "safetensors", "--format safetensors"),
            ("a.pkl", pickle.dumps([1.0, 2.0], 4), "a pickle", "numpy.save"),
            ("a.pt", pickle.dumps([1.0, 2.0], 2), "a pickle, as old .pt are", "numpy.save"),
            ("a.pdf", b"%PDF-1.7\n1 0 obj\n", "a PDF", "pdftotext"),
            ("db", self.read("db"), "an SQLite database", "numpy.save"),
            ("a.txt", "1\n2\n".encode("utf-16"), "UTF-16", "iconv"),
            ("b.txt", b"\xfe\xff" + "1\n2\n".encode("utf-16-be"), "UTF-16", "iconv"),
            ("a.f32", harness.pack("f", [1, 2, 3]), "there is a NUL byte", "--format raw --dtype TYPE"),
            ("a.dat", b"1\n2\n" + bytes(8), "there is a NUL byte", "--format raw --dtype TYPE"),
        ]

    def test_each_is_named(self):
        for name, data, what, advice in self.files():
            path = self.write(name, data)
            expected = re.escape("holds binary data (%s): " % what) + ".*" + re.escape(advice) + ".*"
            for options in ([], ["--field", 1], ["--skip-invalid", "--quiet"], ["--header"], ["--format", "text"]):
                with self.subTest(name=name, options=options):
                    self.fails(re.escape(path) + ": " + expected, "select", path, "-k", 1, *options)
                    self.fails("standard input: " + expected, "count", "-", "--gt", 0, *options, stdin=data)

    def test_what_leads_out(self):
        import gzip
        self.write("x.npz", self.archive())
        with open(self.path("x.npy"), "wb") as file:
            import zipfile
            file.write(zipfile.ZipFile(self.path("x.npz")).read("x.npy"))
        self.prints("0\t3\n", "select", "-", "-k", 1, stdin=self.read("x.npy")) # as unzip -p gives it
        self.prints("2\t3\n", "select", "-", "-k", 1, stdin=gzip.decompress(gzip.compress(b"1\n2\n3\n")))
        path = self.write("a.npy", gzip.compress(b"1\n"))
        self.fails(path + r": not an \.npy file \(gzip\): `gzip -dc FILE' gives what it holds to a pipe", "select", path,
                   "-k", 1)

    def test_text_that_begins_alike(self):
        for line in (b"PAR1 4\n", b"PAR1\t4\n", b"FEA1 4\n", b"BZh 4\n", b"BZh91AY 4\n", b"PK 4\n", b"%PDF 4\n", b"ARROW1 4\n",
                     b"SQLite 4\n", b"\xff\xff 4\n"):
            self.prints(line, "select", "-", "-k", 1, "--field", 2, stdin=line)
        self.prints(b"1 \xff\xfe\n", "select", "-", "-k", 1, "--field", 1, stdin=b"1 \xff\xfe\n")


class Beyond(harness.Case):
    """Numbers beyond float64 are numbers: they rank, count and print as they are written."""

    TABLE = b"rs1 0.03\nrs2 1.8E-3796\nrs5 0.5\nrs6 NA\nrs4 2e-400\n"

    def test_table_of_probabilities(self):
        skips = ["--field", 2, "--skip-invalid", "--quiet"]
        self.prints("rs2 1.8E-3796\nrs4 2e-400\nrs1 0.03\n", "select", "-k", 3, "--smallest", *skips, stdin=self.TABLE)
        self.prints("rs2 1.8E-3796\n", "select", "-k", 1, "--smallest", *skips, stdin=self.TABLE)
        self.prints("2\n", "count", "--lt", "5e-8", *skips, stdin=self.TABLE)
        self.prints("rs2 1.8E-3796\nrs4 2e-400\n", "where", "--lt", "5e-8", *skips, stdin=self.TABLE)
        self.prints("0\n1\n0\n0\n1\n", "mask", "--lt", "5e-8", *skips, stdin=self.TABLE)
        self.prints("2e-400\t1\t1\n", "kth", "-k", 2, "--smallest", *skips, stdin=self.TABLE)
        self.assertIn(b"1 row of 4 f64", harness.topk("explain", "-k", 1, *skips, stdin=self.TABLE).out)
        note = harness.topk("count", "--ne", 0, *skips[:-1], stdin=self.TABLE)
        self.assertEqual(note.out, b"4\n")
        self.assertRegex(note.err, r"invalid lines passed over: 1; the first is line 4: 'NA' is not a number")

    @staticmethod
    def value(text):
        word = text.strip('+-').lower()
        if word in ("inf", "infinity", "nan"):
            return float(text)
        return fractions.Fraction(decimal.Decimal(text)) if "e" in text.lower() else fractions.Fraction(text)

    @staticmethod
    def rounded(text):
        """What the tool compares: the nearest float64, but for a number beyond these, or from 2^53 up."""
        number = float(text)
        exact = Beyond.value(text)
        if number != number or isinstance(exact, float):
            return number
        return exact if abs(number) >= 2**53 or (number == 0 and exact != 0) else fractions.Fraction(number)

    def key(self, text, smallest, magnitude, nan_last):
        return harness.rank_key(self.rounded(text), smallest=smallest, magnitude=magnitude, nan_last=nan_last)

    @staticmethod
    def words(generator, count):
        """Few different numbers, so that many are equal, in many spellings."""
        kinds = [lambda: generator.choice(["0", "-0", "0e-999", "inf", "-inf", "nan", "1", "-1", "5e-324", "-5e-324", "3e-324",
                                           "1.7976931348623157e308", "-1.7976931348623157e308", "2.5", "1e308"]),
                 lambda: "%s%de%d" % (generator.choice(["", "-", "+"]), generator.randrange(1, 4),
                                      generator.choice([-400, -401, 400, 401, -3000, 3000])),
                 lambda: generator.choice(["20e-401", "2.0e-400", "0.02e-398", "00002e-0400", "0.2e401", "2" + "0" * 400,
                                           "-2" + "0" * 400 + ".0", "0." + "0" * 399 + "2", "-.2e-399", "2.00000000000000000001e-400",
                                           "2e-40000", "2e40000", "-2e-99999", "1.99999999999999999999e400"]),
                 lambda: "%s%d%s" % (generator.choice(["", "-", "+"]), 2**53 + generator.randrange(-1, 5),
                                     generator.choice(["", "", ".0", ".5", "e0", "." + "0" * 800 + "1"])),
                 lambda: generator.choice(["9223372036854775807", "9223372036854775808", "9223372036854776000", "-9.223372036854776e18",
                                           "18446744073709551615", "1e23", "99999999999999991611392", "99999999999999995000000",
                                           "100000000000000000000001", "1" + "0" * 23, "1.0000000000000000001e23", "1e308",
                                           "1.00000000000000001e308", "1" + "0" * 308])]
        return [generator.choice(kinds)() for _ in range(count)]

    def options(self, generator):
        chosen = [generator.random() < 0.4 for _ in range(3)]
        arguments = [part for on, words in zip(chosen, (["--smallest"], ["--magnitude"], ["--nan", "last"])) if on for part in words]
        return chosen, arguments

    def test_select_and_kth_against_exact_numbers(self):
        print("seed 31")
        generator = random.Random(31)
        for _ in range(25):
            words = self.words(generator, generator.choice([1, 5, 40, 300]))
            bad = {i for i in range(len(words)) if generator.random() < 0.1}
            lines = ["x" if i in bad else word for i, word in enumerate(words)]
            data = "\n".join(lines).encode()
            chosen, arguments = self.options(generator)
            keys = {i: self.key(words[i], *chosen) for i in range(len(words)) if i not in bad}
            ranked = sorted(keys, key=lambda i: keys[i])
            common = ["--skip-invalid", "--quiet", *arguments]
            for k in {1, len(words), generator.randrange(1, len(words) + 1)}:
                best_lines = ["%d\t%s\n" % (i, lines[i]) for i in ranked[:k]]
                self.prints("".join(best_lines), "select", "-k", k, *common, stdin=data)
                out = harness.topk("select", "-k", k, "--unsorted", *common, stdin=data).out.decode()
                self.assertEqual(sorted(out.splitlines(True)), sorted(best_lines))
                if k > len(ranked):
                    continue
                at = ranked[k - 1]
                better = sum(key < keys[at] for key in keys.values())
                equal = sum(key == keys[at] for key in keys.values())
                text, found, same = harness.topk("kth", "-k", k, *common, stdin=data).out.decode().split()
                self.assertEqual((int(found), int(same)), (better, equal), (data, arguments, k))
                wanted = self.rounded(words[at])
                self.assertTrue(self.rounded(text) == (abs(wanted) if chosen[1] else wanted) or wanted != wanted, (text, words[at]))

    def test_predicates_against_exact_numbers(self):
        print("seed 32")
        generator = random.Random(32)
        compare = {"--gt": operator.gt, "--ge": operator.ge, "--lt": operator.lt, "--le": operator.le, "--eq": operator.eq,
                   "--ne": operator.ne}
        for _ in range(20):
            words = self.words(generator, 60)
            values = [self.rounded(word) for word in words]
            data = "\n".join(words).encode()
            low, high = self.words(generator, 2)
            option = generator.choice([*compare, "--between"])
            if option == "--between":
                arguments = ["--between", low, high]
                met = [self.rounded(low) <= x <= self.rounded(high) for x in values]
            else:
                arguments = [option + "=" + low]
                met = [compare[option](x, self.rounded(low)) for x in values]
            indices = [i for i, meets in enumerate(met) if meets]
            self.prints("%d\n" % len(indices), "count", *arguments, stdin=data)
            self.prints("".join("%d\t%s\n" % (i, words[i]) for i in indices), "where", *arguments, stdin=data)
            self.prints("".join("%d\n" % meets for meets in met), "mask", *arguments, stdin=data)
            ranked = sorted(indices, key=lambda i: self.key(words[i], True, False, False))
            self.prints("".join("%d\t%s\n" % (i, words[i]) for i in ranked[:7]), "select", "-k", 7, "--smallest", *arguments,
                        stdin=data)

    def test_mixed_columns(self):
        """Integers beyond 2^53 beside fractions; who asks for float64 has them rounded."""
        lines = b"9007199254740993\n0.5\n9007199254740992\n-100000000000000000001\n9007199254740993.0\n"
        self.prints("0\t9007199254740993\n4\t9007199254740993.0\n2\t9007199254740992\n1\t0.5\n3\t-100000000000000000001\n",
                    "select", "-k", 5, stdin=lines)
        self.prints("3\t-100000000000000000001\n", "where", "--lt=-100000000000000000000.5", stdin=lines)
        self.prints("2\n", "count", "--eq", "9007199254740993", stdin=lines)
        self.prints("1\n", "count", "--between", "1", "9007199254740992.5", stdin=lines)
        self.prints("9007199254740993\t0\t2\n", "kth", "-k", 2, stdin=lines)
        self.prints("0\t9007199254740993\n2\t9007199254740992\n4\t9007199254740993.0\n1\t0.5\n", "select", "-k", 4,
                    "--dtype", "float64", stdin=lines)
        self.prints("9007199254740992\t0\t3\n", "kth", "-k", 1, "--dtype", "float64", stdin=lines)
        self.prints("1,9007199254740993\n", "where", "--gt", 1, "--dtype", "f64", "--csv", "--field", 2,
                    stdin=b"1,9007199254740993\n2,.25\n")

    def test_many_of_one_float64(self):
        """More than are kept, most of them forgotten before the end."""
        print("seed 34")
        generator = random.Random(34)
        values = [2**60 + generator.randrange(-700, 700) for _ in range(6000)]
        for options, sign in ((["--smallest"], 1), ([], -1)):
            ranked = sorted(range(len(values)), key=lambda i: sign * values[i])
            data = "\n".join(map(str, values)).encode()
            for k in (1, 30, 1700, 6000):
                at = values[ranked[k - 1]]
                self.prints("".join("%d\t%d\n" % (i, values[i]) for i in ranked[:k]), "select", "-k", k, *options, stdin=data)
                text, better, equal = harness.topk("kth", "-k", k, *options, stdin=data).out.split()
                self.assertEqual((int(decimal.Decimal(text.decode())), int(better), int(equal)),
                                 (at, sum(sign * value < sign * at for value in values), values.count(at)))

    def test_kth_is_a_bound(self):
        data = b"2e-400\n1e-400\n0.2e-399\n1\n0\n-3e999\n9007199254740993\n9007199254740992\n9007199254740993.0\n1e23\n"
        for k in range(1, 11):
            value, better, equal = harness.topk("kth", "-k", k, stdin=data).out.decode().split()
            self.prints("%d\n" % (int(better) + int(equal)), "count", "--ge=" + value, stdin=data)
            self.prints("%s\n" % equal, "count", "--eq=" + value, stdin=data)

    def test_arrays_and_json(self):
        """An array holds the nearest float64."""
        data = b"5\n1e-400\n-1e400\n-1e-400\n2e400\n"
        self.prints("", "select", "-k", 6, "--values", self.path("v.npy"), "--indices", self.path("i.npy"), stdin=data)
        inf = float("inf")
        self.assertEqual(npy_read(self.read("v.npy"))[2], harness.pack("d", [inf, 5, 0, -0.0, -inf, -inf]))
        self.assertEqual(npy_read(self.read("i.npy"))[2], harness.pack("q", [4, 0, 1, 3, 2, -1]))
        self.prints("", "where", "--ne", 5, "--values", self.path("v.npy"), "--indices", self.path("i.npy"), stdin=data)
        self.assertEqual(npy_read(self.read("v.npy"))[2], harness.pack("d", [0, -inf, -0.0, inf]))
        self.assertEqual(npy_read(self.read("i.npy"))[2], harness.pack("q", [1, 2, 3, 4]))
        self.prints("", "select", "-k", 1, "--indices", self.path("i.npy"), stdin=data)
        self.assertEqual(npy_read(self.read("i.npy"))[2], harness.pack("q", [4]))
        self.prints("", "mask", "--gt", 0, "--bits", self.path("b.npy"), stdin=data)
        self.assertEqual(npy_read(self.read("b.npy"))[2], bytes([0b10011]))
        found = json.loads(harness.topk("select", "-k", 2, "--json", stdin=data).out)
        self.assertEqual(found["results"], [{"index": 4, "value": "2e400", "text": "2e400"}, {"index": 0, "value": 5, "text": "5"}])
        self.assertEqual(found["length"], 5)
        found = json.loads(harness.topk("kth", "-k", 1, "--json", stdin=data).out)
        self.assertEqual(found["results"], [{"value": "2e400", "better": 0, "equal": 1}])
        found = json.loads(harness.topk("where", "--lt", 0, "--json", stdin=data).out)
        self.assertEqual([result["value"] for result in found["results"]], ["-1e400", "-1e-400"])

    def test_many(self):
        """More than a chunk holds, among other lines."""
        print("seed 33")
        generator = random.Random(33)
        exponents = [generator.randrange(300, 420) for _ in range(200000)]
        data = b"".join(b"1e-%d\n" % exponent for exponent in exponents)
        ranked = sorted(range(len(exponents)), key=lambda i: -min(exponents[i], 1000))
        for k in (1, 3000):
            self.prints("".join("%d\t1e-%d\n" % (i, exponents[i]) for i in ranked[:k]), "select", "-k", k, "--smallest",
                        stdin=data)
        at = exponents[ranked[99999]]
        self.prints("1e-%d\t%d\t%d\n" % (at, sum(x > at for x in exponents), exponents.count(at)), "kth", "-k", 100000, "--smallest",
                    stdin=data)
        self.prints("%d\n" % sum(x > 350 for x in exponents), "count", "--lt", "1e-350", stdin=data)

    def test_sizes_and_integers_have_no_such_numbers(self):
        digits = b"1" + b"0" * 400
        for arguments, what in ((["--human"], "float64"), (["--dtype", "int64"], "int64")):
            self.fails("standard input:2: 10+\\.\\.\\. is out of the range of " + what, "select", "-k", 1, "--skip-invalid",
                       *arguments, stdin=b"1\n" + digits + b"\n")


class Csv(harness.Case):
    def test_quoted_fields(self):
        lines = b'"a, b",1\n"say ""no, 9""",3\nplain,"2"\n'
        self.prints('"say ""no, 9""",3\nplain,"2"\n"a, b",1\n', "select", "-k", 3, "--csv", "--field", 2, stdin=lines)
        self.prints('"a;b";7\n', "select", "-k", 1, "--csv", "--delimiter", ";", "--field", 2, stdin=b'"a;b";7\n1;2\n')
        self.prints('"7",x\r\n6,"y,"\n'.replace("\r", ""), "select", "-k", 2, "--csv", stdin=b'"7",x\r\n6,"y,"\r\n')

    def test_newlines_in_fields(self):
        lines = b'name,n\n"two\nlines, 99",5\n8,"6"\n'
        self.prints('8,"6"\n"two\nlines, 99",5\n', "select", "-k", 9, "--csv", "--field", 2, "--header",
                    stdin=lines)
        self.prints("1\n2\n", "select", "-k", 9, "--csv", "--smallest", "--header", stdin=b'"a\nb"\n1\n2\n')
        self.fails("standard input:3: 'x' is not a number", "select", "-k", 1, "--csv", "--field", 2, "--header",
                   stdin=b'"a\nb",n\n"\n",1\n0,x\n')

    def test_quotes_within_fields_are_bytes(self):
        self.prints('\t"x\ty"\t5\n', "select", "-k", 1, "--csv", "--delimiter", "\t", "--field", 3, stdin=b'\t"x\ty"\t5\n')
        self.prints('5" pipe,3\n', "select", "-k", 1, "--csv", "--field", 2, stdin=b'5" pipe,3\n6",2\n')

    def test_refusals(self):
        for lines, expected in [
                (b'1\n"2\n3\n', "2: a quote is not closed"),
                (b'"' + b"x\n" * (1 << 22), "1: a quote is not closed"),
                (b'"' + b"x\n" * (1 << 22) + b'"\n', "1: '(x\\\\x0a){20}\\.\\.\\.' is not a number"),
                (b'1\n"2"3\n', "2: '\"2\"3' is not a number"), (b'""\n', "1: '' is not a number")]:
            self.fails("standard input:" + expected, "select", "-k", 1, "--csv", stdin=lines)
        self.fails("standard input:1: a quote is not closed", "select", "-k", 1, "--csv", "--header", stdin=b'"a\n1\n')
        self.fails("standard input:2: a quote is not closed", "select", "-k", 1, "--csv", "--skip-invalid",
                   stdin=b'1\n"2\n')

    def test_records_across_buffers(self):
        """Against Python's own reader of such files."""
        generator = random.Random(6)
        records = []
        for i in range(60000):
            text = "".join(generator.choice('ab,"\n ') for _ in range(generator.randrange(150)))
            records.append(['"%s"' % text.replace('"', '""'), generator.choice(["%d", '"%d"', ' "%d" ']) %
                            generator.randrange(1 << 40)])
        data = "".join(",".join(record) + "\n" for record in records)
        numbers = [int(number[1].strip(' "')) for number in csv.reader(io.StringIO(data.replace(' "', '"')))]
        self.prints("".join(",".join(records[i]) + "\n" for i in best(numbers, 500)), "select", "-k", 500, "--csv",
                    "--field", 2, stdin=data.encode())


class ZeroTerminated(harness.Case):
    """Records that end in NUL, as find -print0 and sort -z have them."""

    RECORDS = b"5 a\n b\x007 b\r\x006\tc\n\n\0"

    def test_all_commands(self):
        for option in ("-z", "--zero-terminated"):
            self.prints(b"7 b\r\x006\tc\n\n\0", "select", "-k", 2, "--field", 1, option, stdin=self.RECORDS)
        self.prints(b"5 a\n b\x006\tc\n\n\0", "where", "--lt", 7, "--field", 1, "-z", stdin=self.RECORDS)
        self.prints("6\t1\t1\n", "kth", "-k", 2, "--field", 1, "-z", stdin=self.RECORDS)
        self.prints("2\n", "count", "--gt", 5, "--field", 1, "-z", stdin=self.RECORDS)
        self.prints("0\n1\n0\n", "mask", "--gt", 6, "--field", 1, "-z", stdin=self.RECORDS)
        self.prints(b"1\t9\x002\t8\0", "select", "-k", 2, "-z", stdin=b"7\0\n9\n\x008")
        self.prints(b"b,2\0a\n,1\0", "select", "-k", 2, "-z", "--csv", "--field", 2, "--header", stdin=b"h,\n\0a\n,1\0b,2\0")
        out = harness.topk("select", "-k", 1, "--field", 1, "-z", "--json", stdin=self.RECORDS).out
        self.assertIn(b'"text": "7 b\\u000d"}\n', out)

    def test_fields_behind_newlines(self):
        self.prints(b"a\n3\0x 2\0", "select", "-k", 2, "-z", "--field", 2, stdin=b"x 2\0a\n3\0")

    def test_bad_records(self):
        self.fails("standard input:2: 'x' is not a number", "select", "-k", 1, "-z", stdin=b"1\0x\0")
        self.fails("standard input:2: blank line", "select", "-k", 1, "-z", stdin=b"1\0\n\0")
        self.fails("standard input:1: line holds more than a number; choose with --field", "select", "-k", 1, "-z", stdin=b"1\n2\n")

    def test_nul_without_the_option(self):
        """It is no part of a line: near the begin, and anywhere."""
        for data in (b"5 a\x007 b\0", b"1\n2 x\0\n"):
            self.fails(r"standard input: holds binary data \(there is a NUL byte\): .*, for lines that end in NUL say -z",
                       "select", "-k", 1, "--field", 1, stdin=data)
        many = b"1\n" * 40000
        for data, arguments, line in [
                (b"2 x\0\n", ["--field", 1], 1), (b"\x001\n", [], 1), (b"\n\0", [], 2), (b"1\n" * 400000 + b"2\0\n", [], 400001),
                (b"h\0\n1\n", ["--header=40001"], 1), (b'"\n"\n"\n\0"\n', ["--csv", "--field", 1], 2)]:
            for option in ([], ["--skip-invalid"]):
                if line == 2 and not option:
                    continue # the line before is bad
                self.fails(r"standard input:%d: line holds a NUL; if lines end in NUL, say --zero-terminated \(-z\)" % (40000 + line),
                           "select", "-k", 1, *arguments, *option, stdin=many + data)
        self.fails("standard input:40001: 'x' is not a number", "select", "-k", 1, stdin=many + b"x\n2\0\n")


class Sizes(harness.Case):
    """--human."""

    def test_units(self):
        for text, value in [("0", 0), ("512", 512), ("512B", 512), ("1.5K", 1536), ("2M", 2 << 20), ("3G", 3 << 30), ("4,0K", 4096), ("0,5M", 1 << 19), (",25K", 256),
                            ("12,75KB", 12750),
                            ("1.1T", 1.1 * 2**40), ("4P", 4 << 50), ("7E", 7 << 60), ("2MiB", 2 << 20), ("2Mi", 2 << 20),
                            ("10kB", 10000), ("10KB", 10000), ("1.5GB", 1.5e9), ("10k", 10240), ("8KiB", 8192), ("9007199254740993", 2.0**53), (".5K", 512)]:
            self.prints("%s\t0\t1\n" % harness.shortest(float(value), "d"), "kth", "-k", 1, "--human", stdin=text.encode())

    def test_what_is_no_size(self):
        for text in ("K", "-1K", "+1", "1e3", "1KK", "1X", "1.5.K", "nan", "inf", "1KiBB", "1iB", "1BB", "1 K", "1,5X", ",K", "1e", ""):
            self.fails("standard input:1: '%s' is not a size" % re.escape(text), "select", "-k", 1, "--human", "--delimiter",
                       ";", stdin=text.encode() + b";\n")
        self.fails("standard input:1: 10+\\.\\.\\. is out of the range of float64", "select", "-k", 1, "--human",
                   stdin=b"1" + b"0" * 300 + b"E")

    def test_lines_of_du(self):
        lines = b"4.0K\t/a\n1.2G\t/b c\n980M\t/d\n12K\t/e\n0\t/f\n"
        self.prints("1.2G\t/b c\n980M\t/d\n12K\t/e\n", "select", "-k", 3, "--human", "--field", 1, stdin=lines)
        self.prints("1,2G\t/b c\n980M\t/d\n", "where", "--gt", 900 << 20, "--human", "--field", 1,
                    stdin=lines.replace(b"1.2", b"1,2"))
        self.prints("1.2G\t/b c\n", "where", "--gt", 1 << 30, "--human", "--field", 1, stdin=lines)


class Streams(harness.Case):
    """More lines than a chunk holds, against a stable sort. Few distinct values: ties cross chunks."""

    def lines(self, seed, count, distinct):
        print("seed", seed)
        generator = random.Random(seed)
        values = [generator.randrange(distinct) - distinct // 2 for _ in range(count)]
        for i in range(0, count, 1009):
            values[i] = float(generator.choice(["nan", "inf", "-0.0", "2.5"]))
        return values, ["%s\trow %d %s" % (value, i, "x" * generator.randrange(9)) for i, value in enumerate(values)]

    def test_select(self):
        values, lines = self.lines(1, 300000, 1 << 40)
        data = "\n".join(lines).encode()
        for options in ({}, {"smallest": True}, {"magnitude": True, "nan_last": True}):
            arguments = ["--nan" if option == "nan_last" else "--" + option for option in options]
            arguments += ["last"] * ("nan_last" in options)
            ranking = harness.Ranking(values, **options)
            for k in (1, 100, 5000, 200000, 300001):
                with self.subTest(k=k, options=options):
                    expected = "".join(lines[i] + "\n" for i in ranking.best(k))
                    self.prints(expected, "select", "-", "-k", k, "--field", 1, *arguments, stdin=data)

    def test_kth(self):
        values, lines = self.lines(2, 300000, 50)
        data = "\n".join(lines).encode()
        for options in ({}, {"smallest": True}, {"magnitude": True}):
            ranking = harness.Ranking(values, **options)
            for k in (1, 200, 299, 4000, 150000, 299999):
                with self.subTest(k=k, options=options):
                    at, better, equal = ranking.kth(k)
                    value = abs(values[at]) if options.get("magnitude") else values[at]
                    text = harness.shortest(float(value) + 0.0, "d")
                    self.prints("%s\t%d\t%d\n" % (text, better, equal), "kth", "-", "-k", k, "--field", 1,
                                *["--" + option for option in options], stdin=data)

    def test_where(self):
        values, lines = self.lines(3, 300000, 50)
        data = "\n".join(lines).encode()
        expected = "".join(line + "\n" for value, line in zip(values, lines) if value >= 20)
        self.prints(expected, "where", "-", "--ge", 20, "--field", 1, stdin=data)

    def test_select_with_a_predicate(self):
        values, lines = self.lines(4, 300000, 1 << 40)
        data = "\n".join(lines).encode()
        for limit in (0, -(1 << 38)):
            rest = [i for i in best(values, len(values)) if values[i] < limit]
            for k in (1, 100, 5000, 70000):
                expected = "".join(lines[i] + "\n" for i in rest[:k])
                self.prints(expected, "select", "-", "-k", k, "--lt", limit, "--field", 1, stdin=data)
            self.prints("%d\n" % len(rest), "count", "-", "--lt", limit, "--field", 1, stdin=data)

    def test_ascending_input_replaces_every_line_that_is_kept(self):
        lines = ["%d" % i for i in range(400000)]
        self.prints("".join("%d\t%d\n" % (i, i) for i in range(399999, 399989, -1)), "select", "-", "-k", 10,
                    stdin="\n".join(lines).encode())

    def test_lines_of_any_length(self):
        """Longer than blocks and buffers, first, last or alone, with and without fields."""
        wide = b"7 " + b"y" * (3 << 20)
        for data, best in ((b"5 a\n" + wide + b"\n6 b\n", wide), (wide, wide), (wide + b"\n9 c", b"9 c"),
                           (b"5\n" * 99 + (b"8 " + b"z" * (9 << 20) + b"\n") + b"4\n" * 99, b"8 " + b"z" * (9 << 20))):
            for threads in (1, 2):
                self.prints(best + b"\n", "select", "-k", 1, "--field", 1, "--threads", threads, stdin=data)
        self.prints(wide + b"\n", "where", "--gt", 6, "--field", 1, stdin=b"1\n" + wide + b"\n")
        self.prints("9\t0\t1\n", "kth", "-k", 1, stdin=b"9" + b" " * (3 << 20) + b"\n8\n")
        result = harness.topk("select", "-k", 1, "--csv", "--skip-invalid", stdin=b"1," + b"x" * (3 << 20) + b"\n2,y\nz," + wide)
        self.assertEqual((result.status, result.out), (0, b"2,y\n"))
        self.assertRegex(result.err, "passed over: 1; the first is line 3: 'z' is not a number\n")
        text = b'1,"' + b"a\n" * (3 << 19) + b'"\n'
        self.prints(text + b"0,b\n", "select", "-k", 2, "--csv", stdin=text + b"0,b\n")

    def test_chunks_and_threads(self):
        """Many blocks: the same for any number of threads, with headers, bad lines and quotes at their ends."""
        generator = random.Random(8)
        lines = ["%d,%s" % (generator.randrange(1 << 40), "x" * generator.randrange(40)) for _ in range(250000)]
        quoted = ['%d,"%s"' % (generator.randrange(1 << 40), "a\nb,," * generator.randrange(9)) for _ in range(250000)]
        for records, arguments in ((lines, ["--delimiter", ","]), (quoted, ["--csv"]), (["head"] * 90000 + lines, ["--csv", "--header=90000"])):
            data = "\n".join(records).encode()
            numbered = records[90000:] if records[0] == "head" else records
            at = best([int(line.split(",")[0]) for line in numbered], 1000)
            for threads in (1, 2, 3):
                self.prints("".join(numbered[i] + "\n" for i in at), "select", "-k", 1000, "--threads", threads, *arguments,
                            stdin=data)
            bad = len(numbered) * 2 // 3
            records[len(records) - len(numbered) + bad] = "x,y"
            place = len(records) - len(numbered) + bad + 1
            data = "\n".join(records).encode()
            self.fails("standard input:%d: 'x' is not a number" % place, "count", "--gt", 0, *arguments, stdin=data)
            result = harness.topk("select", "-k", 1, "--smallest", "--skip-invalid", *arguments, stdin=data)
            self.assertEqual(result.err, "topk: standard input: invalid lines passed over: 1; the first is line %d: "
                             "'x' is not a number\n" % place)

    def test_many_results(self):
        """The lines of many results: falling, rising, nearly equal, and with a predicate."""
        count = 120000
        for values in ([i for i in range(count)], [-i for i in range(count)], [i % 3 for i in range(count)]):
            lines = ["%d r%d" % (value, i) for i, value in enumerate(values)]
            data = "\n".join(lines).encode()
            for k in (1000, 50000, count):
                for options in ([], ["--unsorted"], ["--smallest"], ["--order=position"], ["--ties", "any", "--unsorted"]):
                    out = harness.topk("select", "-k", k, "--field", 1, *options, stdin=data).out.decode().splitlines()
                    if "any" in options:
                        self.assertEqual(len(set(out)), k)
                        self.assertTrue(set(out) <= set(lines))
                        out = sorted(int(line.split()[0]) for line in out)
                        self.assertEqual(out, sorted(values)[-k:])
                        continue
                    chosen = best(values, k, smallest="--smallest" in options)
                    expected = [lines[i] for i in (sorted(chosen) if options == ["--order=position"] else chosen)]
                    self.assertEqual(sorted(out) if options == ["--unsorted"] else out,
                                     sorted(expected) if options == ["--unsorted"] else expected)
            rest = [i for i in best(values, count) if values[i] < 2]
            self.prints("".join(lines[i] + "\n" for i in rest[:50000]), "select", "-k", 50000, "--lt", 2, "--field", 1, stdin=data)

    def test_kth_of_long_streams(self):
        """More elements than are listed before the bar rises, for all places, with NaN and zeros of both signs."""
        generator = random.Random(10)
        for spread in (3, 1 << 30):
            values = [generator.choice([float(generator.randrange(-spread, spread)), -0.0, float("nan")])
                      for _ in range(300000)]
            data = "\n".join("%s" % value for value in values).encode()
            for options in ({}, {"smallest": True}, {"magnitude": True}, {"nan_last": True}):
                ranked = sorted((harness.rank_key(value, **options) for value in values))
                arguments = ["--nan" if option == "nan_last" else "--" + option for option in options]
                arguments += ["last"] * ("nan_last" in options)
                for k in (1, 99999, 200000, 300000):
                    key = ranked[k - 1]
                    better = bisect.bisect_left(ranked, key)
                    value = float("nan") if key[0] != 1 else key[1] * (1 if options.get("smallest") else -1) + 0.0
                    self.prints("%s\t%d\t%d\n" % (harness.shortest(value, "d"), better, bisect.bisect_right(ranked, key) - better),
                                "kth", "-k", k, *arguments, stdin=data)

    def test_long_lines(self):
        lines = [b"%d %s" % (i % 7, b"y" * ((1 << 20) - 2 - i)) for i in range(12)]
        self.prints(lines[6] + b"\n" + lines[5] + b"\n", "select", "-", "-k", 2, "--field", 1,
                    stdin=b"\n".join(lines))


class BadLines(harness.Case):
    def test_places_and_reasons(self):
        for data, arguments, expected in [
                (b"1\nx\n", [], "2: 'x' is not a number"),
                (b"1\n2 3\n", [], "2: line holds more than a number; choose with --field"),
                (b"1\n\n2\n", [], "2: blank line"),
                (b"1\n \t\r\n", [], "2: blank line"),
                (b"\n", [], "1: blank line"),
                (b"1 2\n3\n", ["--field", 2], "2: line has no field 2"),
                (b"1,2\n3\n", ["--field", 2, "--delimiter", ","], "2: line has no field 2"),
                (b"0x10\n", [], "1: '0x10' is not a number"),
                (b"1e\n", [], "1: '1e' is not a number"),
                (b"--1\n", [], "1: '--1' is not a number"),
                (b".\n", [], "1: '.' is not a number"),
                (b"infinit\n", [], "1: 'infinit' is not a number"),
                (b"1\x1b[2J\n", [], r"1: '1\\x1b\[2J' is not a number"),
                (b"\x7f" * 99, [], r"1: '(\\x7f){40}\.\.\.' is not a number"),
                (b"1.0\n", ["--dtype", "int64"], "1: '1.0' is not a decimal integer, as --dtype asks for"),
                (b"inf\n", ["--dtype", "int64"], "1: 'inf' is not a decimal integer, as --dtype asks for"),
                (b"9223372036854775808\n", ["--dtype", "int64"], "1: 9223372036854775808 is out of the range of int64"),
                (b"-9223372036854775809\n", ["--dtype", "int64"], "1: -9223372036854775809 is out of the range of int64"),
                (b"-1\n", ["--dtype", "uint64"], "1: -1 is out of the range of uint64"),
                (b"18446744073709551616\n", ["--dtype", "uint64"], "1: 18446744073709551616 is out of the range of uint64"),
        ]:
            with self.subTest(data=data):
                self.fails("standard input:" + expected, "select", "-", "-k", 1, *arguments, stdin=data)

    def test_exact_large_integers_are_fine(self):
        for text in (b"10000000000000000000000", b"9007199254740994", b"-36893488147419103232", b"1" + b"0" * 22):
            self.prints(b"0\t" + text + b"\n", "select", "-", "-k", 1, stdin=text)

    def test_the_file_is_named(self):
        path = self.write("numbers.txt", "1\n2\nthree\n")
        self.fails(path + ":3: 'three' is not a number", "select", path, "-k", 1)

    def test_a_late_line(self):
        self.fails("standard input:400001: 'x' is not a number", "where", "-", "--lt", 0,
                   stdin=b"1\n" * 400000 + b"x\n")


if __name__ == "__main__":
    harness.main()
