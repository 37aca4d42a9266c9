# SPDX-License-Identifier: Apache-2.0
"""select --by: the K best lines of each group, against a sort of each group."""

import collections
import fractions
import json
import random

import harness

SEED = 13


def expected(rows, key, number, k, smallest=False, kept=lambda value: True):
    """Rows of the K best of each group, groups by their first row that is kept."""
    groups = collections.OrderedDict()
    for at, row in enumerate(rows):
        if kept(number(row)):
            groups.setdefault(key(row), []).append(at)
    best = []
    for members in groups.values():
        best += sorted(members, key=lambda at: (number(rows[at]) * (1 if smallest else -1), at))[:k]
    return best


class By(harness.Case):
    def rows(self, count, groups, values, seed=SEED):
        rng = random.Random(seed)
        return [(rng.choice(groups), rng.choice(values)) for _ in range(count)]

    def test_against_a_sort(self):
        groups = ["g%d" % i for i in range(40)] + ["", "a b", "x" * 30]
        rows = self.rows(5000, groups, [str(i) for i in range(-50, 50)])
        lines = ["%s,%s\n" % row for row in rows]
        text = "".join(lines).encode()
        path = self.write("x.csv", "key,value\n" + text.decode())
        for k in (0, 1, 3, 1000):
            for words, options in (([], {}), (["--smallest"], {"smallest": True})):
                for bound, kept in (([], lambda x: True), (["--gt", 10], lambda x: x > 10)):
                    best = expected(rows, lambda row: row[0], lambda row: int(row[1]), k, kept=kept, **options)
                    printed = "".join(lines[at] for at in best)
                    for threads in 1, 3:
                        self.prints(printed, "select", "--csv", "--field", 2, "--by", 1, "-k", k, *words, *bound, "--threads",
                                    threads, stdin=text)
                    self.prints("key,value\n" + printed, "select", path, "--csv", "--column", "value", "--by", "key", "-k", k,
                                *words, *bound)

    def test_numbers_beyond_float64(self):
        values = ["9007199254740993", "9007199254740992", "1e400", "-1e400", "2e400", "5", "1e-400"]
        rows = self.rows(800, "abc", values)
        lines = ["%s %s\n" % row for row in rows]
        for k in (1, 2, 7, 300):
            for words, options in (([], {}), (["--smallest"], {"smallest": True})):
                best = expected(rows, lambda row: row[0], lambda row: fractions.Fraction(row[1]), k, **options)
                self.prints("".join(lines[at] for at in best), "select", "--field", 2, "--by", 1, "-k", k, *words,
                            stdin="".join(lines).encode())

    def test_ranking_options(self):
        text = b"a nan\na 3\na -7\nb inf\nb nan\nb 2\n"
        self.prints("a nan\na 3\nb nan\nb inf\n", "select", "--field", 2, "--by", 1, "-k", 2, stdin=text)
        self.prints("a 3\na -7\nb inf\nb 2\n", "select", "--field", 2, "--by", 1, "-k", 2, "--nan=last", stdin=text)
        self.prints("a -7\nb inf\n", "select", "--field", 2, "--by", 1, "-k", 1, "--nan=last", "--magnitude", stdin=text)
        big = b"a\t9223372036854775807\na\t9223372036854775806\na\t-9223372036854775808\n"
        self.prints("a\t-9223372036854775808\na\t9223372036854775807\n", "select", "--field", 2, "--by", 1, "-k", 2, "--magnitude",
                    "--dtype", "int64", stdin=big)
        self.prints("a\t9223372036854775807\n", "select", "--field", 2, "--by", 1, "-k", 1, "--dtype", "uint64",
                    stdin=big.splitlines(True)[0] + big.splitlines(True)[1])

    def test_many_groups(self):
        """More than the table first has room for, and keys that share long beginnings."""
        rng = random.Random(SEED)
        rows = [("k" * 40 + str(rng.randrange(20000)), str(rng.randrange(10))) for _ in range(60000)]
        lines = ["%s\t%s\n" % row for row in rows]
        best = expected(rows, lambda row: row[0], lambda row: int(row[1]), 2)
        self.prints("".join(lines[at] for at in best), "select", "--field", 2, "--by", 1, "-k", 2, stdin="".join(lines).encode())

    def test_quotes_and_json(self):
        text = b'k,v\n"a, ""b""",1\nc,"2"\n"a, ""b""",3\n"c",1\n'
        self.prints('k,v\n"a, ""b""",3\nc,"2"\n', "select", "--csv", "--column", "v", "--by", "k", "-k", 1, stdin=text)
        found = json.loads(harness.topk("select", "--csv", "--column", "v", "--by", "k", "-k", 1, "--json", stdin=text).out)
        self.assertEqual([(each["index"], each["value"]) for each in found["results"]], [(2, 3), (1, 2)])
        self.prints("", "select", "--field", 2, "--by", 1, "-k", 1, stdin=b"")
        self.prints("a 2\n", "select", "--field", 2, "--by", 1, "-k", 1, "--skip-invalid", "--quiet", stdin=b"a 1\na x\n\na 2\n")

    def test_what_is_refused(self):
        for arguments, reason in (
                (["--by", "1"], "--by needs --field, --column, --csv or --delimiter: without them lines have no fields"),
                (["--by", "k", "--field", "2"], "--by: 'k' is no integer from 1 up; beside --column it is a name"),
                (["--by", "1", "--field", "2", "--ties=any"], "--by takes the first of equal lines, .*"),
                (["--by", "1", "--field", "2", "--order=position"], "--by takes the first of equal lines, .*"),
                (["--by", "1", "--field", "2", "--values", "v.npy"], "--by prints lines: .*"),
                (["--by", "1", "--field", "2", "--device", "cuda"], "--by takes no --device cuda"),
                (["--by", "1", "--field", "2", "--method", "rows"], "--by takes no --method, .*")):
            self.fails(reason, "select", "-k", 1, *arguments, status=2, stdin=b"1 2\n")
        self.fails("standard input: the line with index 1 has no field 3, which --by asks for", "select", "-k", 1, "--field", 1,
                   "--by", 3, stdin=b"1 2 3\n1 2\n")
        self.fails("standard input:1: the header names no column 'z'", "select", "-k", 1, "--csv", "--column", "a", "--by", "z",
                   stdin=b"a,b\n1,2\n")


if __name__ == "__main__":
    harness.main()
