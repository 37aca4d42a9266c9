# SPDX-License-Identifier: Apache-2.0
"""The command line: every option, help, and what makes no sense."""

import os
import re

import harness
from harness import npy_header, pack


class Help(harness.Case):
    def test_help(self):
        for arguments, words in [
                (["--help"], ["select", "kth", "where", "count", "mask", "info", "explain", "help"]),
                (["select", "--help"], ["-k", "--smallest", "--magnitude", "--order", "--unsorted", "--ties", "--nan", "--method",
                                        "--tuning", "--device", "--threads", "--values", "--indices", "--json", "--dtype", "--cols",
                                        "--skip-bytes", "--max-iterations", "--epsilon", "--epsilon-relative",
                                        "--field", "--delimiter", "--format", "--quiet"]),
                (["kth", "--help"], ["-k", "--smallest", "--padding", "--tuning", "--json"]),
                (["where", "--help"], ["--gt", "--ge", "--lt", "--le", "--eq", "--ne", "--between", "--if", "--tuning", "--values"]),
                (["mask", "--help"], ["--gt", "--between", "--device", "--bits", "--json"]),
                (["info", "--help"], ["--device", "--threads"]),
                (["explain", "--help"], ["-k", "--method", "--tuning", "--max-iterations"])]:
            with self.subTest(arguments=arguments):
                result = harness.topk(*arguments)
                self.assertEqual((result.status, result.err), (0, ""))
                for word in words:
                    self.assertIn(word, result.out.decode())
                self.assertNotIn("piece-bytes", result.out.decode())

    def test_other_ways_to_help(self):
        self.prints(harness.topk("--help").out, "-h")
        self.prints(harness.topk("--help").out, "help")
        for command in ("select", "kth", "where", "count", "mask", "info", "explain"):
            self.prints(harness.topk(command, "--help").out, command, "-h")
            self.prints(harness.topk(command, "--help").out, "help", command)

    def test_groups(self):
        """Each group of a listing holds what it names, and is there only if it holds something."""
        groups = {
            "Input:": "array axis cols dtype flat format shards skip-bytes",
            "Text:": "by column csv decimal delimiter field header human skip-invalid z zero-terminated",
            "Ranking:": "interpolation k magnitude nan order padding quantile smallest ties unsorted",
            "Conditions, all of which must hold:": "between eq ge gt if le lt ne",
            "Approximation, one:": "epsilon epsilon-relative max-iterations",
            "Execution:": "device method mpi quiet threads tuning",
            "Output:": "bits indices json values",
            "": "help h usage version",
        }
        for command in ("select", "kth", "where", "count", "mask", "info", "explain"):
            listing = harness.topk(command, "--help").out.decode().split("\n\n")[1:]
            for block in listing:
                heading = re.match(r" (\S.*:)$", block, re.M)
                held = re.findall(r"^ +(?:-\S, )?--?([a-z-]+)", block, re.M)
                with self.subTest(command=command, block=block):
                    self.assertTrue(held)
                    self.assertLessEqual(set(held), set(groups[heading[1] if heading else ""].split()))

    def test_version(self):
        for arguments in (["--version"], ["select", "--version"]):
            result = harness.topk(*arguments)
            self.assertEqual((result.status, result.err), (0, ""))
            self.assertRegex(result.out.decode(), r"\Atopk [0-9]+\.[0-9]+\.[0-9]+\n\Z")


class Lists(harness.Case):
    """Each option is in the tool's tables, in its listings and in the manual, or in none of them."""

    COMMANDS = ("select", "kth", "where", "count", "mask", "info", "explain")
    OF_ARGP = {"-?", "--help", "--usage", "-V", "--version"}

    def source(self, name):
        with open(os.path.join(os.path.dirname(__file__), "../..", name), encoding="utf-8") as file:
            return file.read()

    def table(self):
        """The options of the tables without the hidden ones, which are returned as well."""
        rows = re.findall(r"^ *\{(NULL|\"[a-z-]+\"), ('.'|KEY_[^,]+),([^}]*)\}", self.source("cli/options/tables.c"), re.M)
        hidden = {"--" + long.strip('"') for long, _, rest in rows if "OPTION_HIDDEN" in rest}
        names = {"-" + key[1] for _, key, _ in rows if key[0] == "'"}
        names |= {"--" + long.strip('"') for long, _, _ in rows if long != "NULL"}
        self.assertGreater(len(names), 35)
        return names - hidden, hidden

    def listed(self, *command):
        lines = re.findall(r"^ {2,6}(?:(-.), )?(--?[a-z-]+)", harness.topk(*command, "--help").out.decode(), re.M)
        return {name for line in lines for name in line if name}

    def test_listings_and_tables(self):
        names, hidden = self.table()
        listed = set().union(*(self.listed(command) for command in self.COMMANDS))
        self.assertEqual(listed, names | self.OF_ARGP)
        self.assertEqual(self.listed(), {"-h"} | self.OF_ARGP)
        for command in self.COMMANDS:
            for option in hidden:
                self.assertNotIn(option, harness.topk(command, "--help").out.decode())

    def test_manual_and_tables(self):
        names, hidden = self.table()
        manual = self.source("cli/topk.1").replace("\\-", "-")
        section = manual[manual.index("\n.SH OPTIONS"):manual.index('\n.SH "FORM OF VALUES"')]
        described = set()
        for tag in re.findall(r"^\.TP\n(.*)$", section, re.M):
            described |= set(re.findall(r"(?<![a-z-])--?[a-zV?][a-z-]*", re.sub(r"\\f.", " ", tag)))
        self.assertEqual(described, names | self.OF_ARGP)
        for page in manual, self.source("cli/topk-formats.5").replace("\\-", "-"):
            self.assertLessEqual(set(re.findall(r"(?<![a-z-])--[a-z][a-z-]*", page)), described)
        self.assertFalse(hidden & described)

    def test_readme_and_tables(self):
        """README shows some of them."""
        commands = re.findall(r"\btopk (?:%s) .*" % "|".join(self.COMMANDS), self.source("README.md"))
        shown = {option for command in commands for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", command)}
        self.assertGreater(len(shown), 5)
        self.assertLessEqual(shown, self.table()[0])


class Usage(harness.Case):
    def test_standard_input_is_the_default_input(self):
        self.prints("1\t9\n", "select", "-k", 1, stdin=b"8\n9\n")
        self.prints("1\n", "count", "--gt", 8, stdin=b"8\n9\n")
        self.assertIn(b'"input": "-"', harness.topk("kth", "-k", 1, "--json", stdin=b"8\n").out)
        terminal, name = os.openpty()
        try:
            for command in ("select", "where"):
                self.fails("topk %s needs an INPUT: a file, or - for standard input" % command, command, status=2,
                           stdin=name)
        finally:
            os.close(terminal)
            os.close(name)

    def test_one_line_and_status_2(self):
        for arguments, expected in [
                ([], "a command is needed: select, kth, where, count, mask, info or explain"),
                (["sort"], "'sort' is no command; there are select, kth, where, count, mask, info and explain"),
                (["help", "sort"], "'sort' is no command; there are select, kth, where, count, mask, info and explain"),
                (["help", "select", "kth"], "help takes one command, not 'kth'"),
                (["select"], "topk select needs -k K"),
                (["select", "-"], "topk select needs -k K"),
                (["kth", "-"], "topk kth needs -k K or --quantile Q"),
                (["explain", "-"], "topk explain needs -k K"),
                (["where", "-"], "topk where needs a predicate, e.g. --gt 0"),
                (["count", "-"], "topk count needs a predicate, e.g. --gt 0"),
                (["mask", "-"], "topk mask needs a predicate, e.g. --gt 0"),
                (["select", "-", "--gt", "1"], "topk select needs -k K"),
                (["info", "x"], "info takes no argument, not 'x'"),
                (["select", "a", "b", "-k", "1"], "one INPUT is enough: 'a' and 'b' were given"),
                (["where", "-", "--between", "1"], "--between takes two bounds"),
                (["where", "-", "--gt", "x"], "bound 'x' is not a number"),
                (["where", "-", "--gt", "0,5"], "bound '0,5' is not a number: decimals have a point, unless --decimal says else"),
                (["where", "-", "--between", "1", "2x"], "bound '2x' is not a number"),
                (["where", "a.npy", "--eq", "18446744073709551617"],
                 "bound '18446744073709551617' cannot be held exactly by int64, uint64 or float64"),
                (["select", "-", "-k", "x"], "-k: 'x' is no integer from 0 up"),
                (["select", "-", "-k", "-1"], "-k: '-1' is no integer from 0 up"),
                (["select", "-", "-k", "1.5"], "-k: '1.5' is no integer from 0 up"),
                (["select", "-", "-k", ""], "-k: '' is no integer from 0 up"),
                (["select", "-", "-k", "9223372036854775808"], "-k: '9223372036854775808' is no integer from 0 up"),
                (["select", "-", "-k", "1", "--threads", "0"], "--threads: '0' is no integer from 1 to 1024"),
                (["select", "-", "-k", "1", "--threads", "1025"], "--threads: '1025' is no integer from 1 to 1024"),
                (["select", "-", "-k", "1", "--cols", "0"], "--cols: '0' is no integer from 1 up"),
                (["select", "-", "-k", "1", "--field", "0"], "--field: '0' is no integer from 1 up"),
                (["select", "-", "-k", "1", "--delimiter", "ab"],
                 "--delimiter: 'ab' is not a single character of a line"),
                (["select", "-", "-k", "1", "--delimiter", ""], "--delimiter: '' is not a single character of a line"),
                (["select", "-", "-k", "1", "--delimiter", "\n"],
                 r"--delimiter: '\?' is not a single character of a line"),
                (["select", "-", "-k", "1", "--dtype", "f8"], "--dtype: 'f8' is none of float16, .*"),
                (["select", "-", "-k", "1", "--dtype", "float32"],
                 "text holds float64, int64 or uint64, not f32; binary files need --format raw"),
                (["select", "-", "-k", "1", "--nan", "first"], "--nan: 'first' is none of largest, last"),
                (["select", "-", "-k", "1", "--ties", "some"], "--ties: 'some' is none of lowest, any, all"),
                (["select", "-", "-k", "1", "--device", "gpu"], "--device: 'gpu' is none of auto, cpu, cuda, cuda:N"),
                (["select", "-", "-k", "1", "--format", "csv"],
                 "--format: 'csv' is none of auto, text, npy, npz, safetensors, fvecs, ivecs, bvecs, fbin, u8bin, i8bin, ibin, raw"),
                (["select", "a.npy", "-k", "1", "--field", "1"],
                 r"--field, --column, --delimiter, .* are for text, and 'a\.npy' is npy"),
                *((["select", "a.npy", "-k", "1", option], r"--field, .*%s.* are for text, and 'a\.npy' is npy" % option.split("=")[0])
                  for option in ("--csv", "--header", "--skip-invalid", "--human", "--decimal=,")),
                (["select", "-", "-k", "1", "--field", "1", "--column", "a"],
                 "--field and --column both say which field: choose"),
                (["select", "-", "-k", "1", "--header=-1"], "--header: '-1' is no integer from 0 up"),
                (["select", "-", "-k", "1", "--human", "--dtype", "int64"], "--human reads float64, not i64"),
                (["select", "a.npy", "-k", "1", "--cols", "1"], r"--cols and --skip-bytes are for raw files, and 'a\.npy' is npy"),
                (["select", "a.npy", "-k", "1", "--array", "x"], r"--array is for npz and safetensors, and 'a\.npy' is npy"),
                (["select", "a.safetensors", "-k", "1", "--dtype", "f32"], "--dtype has no meaning for safetensors"),
                (["select", "a.fvecs", "-k", "1", "--dtype", "float32"], "--dtype has no meaning for fvecs"),
                (["select", "a.raw", "-k", "1"], r"raw file 'a\.raw' needs --dtype"),
                (["select", "-", "-k", "1", "--json", "--values", "v.npy"],
                 "--json prints, and --values, --indices and --bits write arrays instead: choose"),
                (["mask", "-", "--gt", "1", "--json", "--bits", "b.npy"],
                 "--json prints, and --values, --indices and --bits write arrays instead: choose")]:
            with self.subTest(arguments=arguments):
                self.fails(expected, *arguments, status=2)

    def test_unknown_options(self):
        for arguments in (["select", "-", "--nonsense"], ["kth", "-", "-k", "1", "--ties", "any"], ["--nonsense"],
                          ["select", "-", "-k", "1", "--padding"], ["kth", "-", "-k", "1", "--padding=1"],
                          ["where", "-", "--gt", "1", "--bits", "b.npy"],
                          ["mask", "-", "--gt", "1", "--values", "v.npy"],
                          ["select", "-", "-k"]):
            result = harness.topk(*arguments)
            self.assertEqual((result.status, result.out), (2, b""))
            self.assertIn("topk", result.err)


class Options(harness.Case):
    """Options that do not change the results must not."""

    def setUp(self):
        super().setUp()
        self.values = [3.0, 9.0, float("nan"), -11.0, 9.0, 0.5]
        self.file = self.write("x.npy", npy_header("<f8", (6,)) + pack("d", self.values))

    def test_execution(self):
        for arguments in (["--threads", 1], ["--threads", 3], ["--device", "cpu"], ["--device", "auto"], ["--quiet"],
                          ["--method", "reference"], ["--format", "npy"], ["--ties", "lowest"], ["--nan", "largest"]):
            with self.subTest(arguments=arguments):
                self.prints("2\tnan\n1\t9\n4\t9\n", "select", self.file, "-k", 3, *arguments)

    def test_unsorted_and_ties(self):
        result = self.prints(harness.topk("select", self.file, "-k", 3, "--unsorted").out, "select", self.file, "-k", 3,
                             "--unsorted")
        self.assertEqual(sorted(result.out.splitlines()), [b"1\t9", b"2\tnan", b"4\t9"])
        result = harness.topk("select", self.file, "-k", 2, "--ties", "any", "--nan", "last")
        self.assertEqual(sorted(result.out.splitlines()), [b"1\t9", b"4\t9"])
        result = harness.topk("select", self.file, "-k", 1, "--ties", "any", "--nan", "last")
        self.assertIn(result.out, [b"1\t9\n", b"4\t9\n"])

    def test_order(self):
        for order, printed in (("best", "2\tnan\n1\t9\n4\t9\n"), ("position", "1\t9\n2\tnan\n4\t9\n")):
            self.prints(printed, "select", self.file, "-k", 3, "--order", order)
        result = harness.topk("select", self.file, "-k", 3, "--order", "any")
        self.assertEqual(sorted(result.out.splitlines()), [b"1\t9", b"2\tnan", b"4\t9"])
        self.prints("0\t5\n2\t1e400\n3\t7\n", "select", "-k", 3, "--order", "position", stdin=b"5\n1\n1e400\n7\n")

    def test_equals_sign_and_order_of_arguments(self):
        self.prints("3\t-11\n", "select", "--nan=last", "-k1", "--magnitude", self.file)
        self.prints("0\t3\n3\t-11\n5\t0.5\n", "where", "--between", "-11", "3", self.file)
        self.prints("3\t-11\n", "where", self.file, "--lt", "-1")

    def test_refusals_of_the_library(self):
        self.fails(".*", "select", self.file, "-k", 1, "--method", "nonsense")
        self.fails(".*CUDA.*", "select", self.file, "-k", 1, "--device", "cuda")
        self.fails(".*", "select", self.file, "-k", 1, env={"TOPK_METHOD": "nonsense"})
        self.fails(".*", "select", self.file, "-k", 1, env={"TOPK_CPU_DISABLE": "nonsense"})

    def test_tuning(self):
        commands = (["select", self.file, "-k", 1], ["kth", self.file, "-k", 1], ["where", self.file, "--gt", 1],
                    ["count", self.file, "--gt", 1], ["mask", self.file, "--gt", 1],
                    ["select", self.file, "-k", 1, "--gt", 1], ["select", "-", "-k", 1], ["kth", "-", "-k", 1],
                    ["select", "-", "-k", 1, "--field", 1], ["kth", self.file, "-k", 1, "--piece-bytes", 16])
        for command in commands:
            with self.subTest(command=command):
                untuned = harness.topk(*command, stdin=b"1\n2\n")
                self.assertEqual(untuned.status, 0)
                self.prints(untuned.out, *command, "--tuning", "", stdin=b"1\n2\n")
                self.fails("(.*: )?problem->tuning: 'alpha' is not NAME=VALUE .*", *command, "--tuning", "alpha",
                           stdin=b"1\n2\n")
                self.fails("(.*: )?no method can serve this .* has no knob 'alpha'", *command, "--tuning", "alpha=4",
                           stdin=b"1\n2\n")
        self.fails(".*method 'reference' cannot serve this problem: has no knob 'alpha'", "select", self.file, "-k", 1,
                   "--method", "reference", "--tuning", "alpha=4")
        out = harness.topk("explain", self.file, "-k", 1, "--tuning", "alpha=4").out.decode()
        self.assertIn("cannot: has no knob 'alpha'", out)
        self.fails(".*'alpha' twice", "explain", self.file, "-k", 1, "--tuning", "alpha=4,alpha=4")
        for command in (["kth", "-", "-k", 1], ["kth", self.file, "-k", 1, "--piece-bytes", 16]):
            self.fails(".*no method 'nonsense'", *command, "--method", "nonsense", stdin=b"1\n2\n")
            self.fails(".*'compact' cannot serve .*", *command, "--method", "compact", stdin=b"1\n2\n")

    def test_approximation(self):
        ramp = self.write("ramp.npy", npy_header("<f4", (2, 16)) + pack("f", [*range(16), *range(16)]))
        commands = ["select", ramp, "-k", 3]
        exact = "0\t15\t15\n0\t14\t14\n0\t13\t13\n1\t15\t15\n1\t14\t14\n1\t13\t13\n"
        rough = "0\t10\t10\n0\t9\t9\n0\t8\t8\n1\t10\t10\n1\t9\t9\n1\t8\t8\n"
        for options in ([], ["--max-iterations", 0], ["--max-iterations", 4], ["--epsilon", "1e-3"], ["--epsilon", 0],
                        ["--epsilon-relative", "1e-3"]):
            self.prints(exact, *commands, *options)
        self.prints(rough, *commands, "--max-iterations", 1)
        self.prints(rough, *commands, "--epsilon", "7.5")
        self.prints(rough, *commands, "--epsilon-relative", "0.5")
        self.prints(rough, *commands, "--max-iterations=1", "--ge", 0)
        self.prints("0\t8\t8\n0\t9\t9\n0\t10\t10\n1\t8\t8\n1\t9\t9\n1\t10\t10\n", *commands, "--unsorted",
                    "--max-iterations=1")
        out = harness.topk("explain", ramp, "-k", 3, "--max-iterations", 4).out.decode()
        self.assertIn(", approximate\n", out)
        self.assertIn("* rtopk ", out)
        self.assertIn("cannot: approximation: only rtopk", out)
        for value in ("-1", "x", "nan", "inf", "1e999", ""):
            self.fails(".*--epsilon: .*", *commands, "--epsilon", value, status=2)
        self.fails(".*--epsilon-relative: .*", *commands, "--epsilon-relative", "-1", status=2)
        self.fails(".*--max-iterations: .*", *commands, "--max-iterations", "-1", status=2)
        self.fails(".*do not go together", *commands, "--max-iterations", 1, "--epsilon", 1)
        self.fails(".*only rtopk.*", *commands, "--max-iterations", 1, "--method", "rows")
        self.fails(".*rows as a whole.*", *commands, "--max-iterations", 1, "--piece-bytes", 16)
        self.fails(".*rows as a whole.*", "select", "-", "-k", 1, "--max-iterations", 1, stdin=b"1\n2\n")
        long = self.write("long.npy", npy_header("<f4", (8193,)) + pack("f", range(8193)))
        self.fails(".*'rtopk': rows are longer than 8192.*", "select", long, "-k", 1, "--max-iterations", 1)
        integers = self.write("integers.npy", npy_header("<i4", (2,)) + pack("i", [1, 2]))
        self.fails(".*floating-point types, not with i32", "select", integers, "-k", 1, "--max-iterations", 1)

    def test_method_of_the_environment_steps_aside(self):
        for method in ("rows", "compact", "reference"):
            self.prints("1\t9\n", "select", self.file, "-k", 1, "--nan", "last", env={"TOPK_METHOD": method})
        out = harness.topk("explain", self.file, "-k", 1, env={"TOPK_METHOD": "compact"}).out.decode()
        self.assertIn("'compact', which TOPK_METHOD names, steps aside: does not do select", out)
        self.fails(".*compact.*", "select", self.file, "-k", 1, "--method", "compact")


class Information(harness.Case):
    def test_info(self):
        lines = harness.topk("info", "--threads", 2).out.decode().splitlines()
        fields = dict(line.split(None, 1) for line in lines)
        self.assertEqual(sorted(fields), ["chosen", "cpu", "cuda", "features", "threads", "version"])
        self.assertEqual(fields["threads"], "2")
        self.assertEqual(fields["cpu"], "available")
        self.assertEqual("topk " + fields["version"], harness.topk("--version").out.decode().strip())
        scalar = harness.topk("info", env={"TOPK_CPU_DISABLE": "avx512,avx2,neon"}).out.decode()
        self.assertRegex(scalar, r"\nfeatures  scalar\n")

    def test_explain(self):
        path = self.write("x.npy", npy_header("<f4", (2, 50)) + pack("f", range(100)))
        out = harness.topk("explain", path, "-k", 3, "--smallest").out.decode()
        self.assertIn("input     2 rows of 50 f32\nquestion  the 3 smallest, best first", out)
        self.assertIn("reference", out)
        for k in (3, 2**63 - 1):
            out = harness.topk("explain", "-", "-k", k, stdin=b"1\n2\n").out.decode()
            self.assertIn("input     1 row of 2 f64\nquestion  the %d largest, best first" % k, out)
            self.assertIn("reference", out)


if __name__ == "__main__":
    harness.main()
