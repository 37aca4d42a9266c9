# SPDX-License-Identifier: Apache-2.0
"""Columns of text by their names, against Python's csv module; and headers that go on to the output."""

import csv
import io
import random

import harness

SEED = 3


def written(rows, **dialect):
    """Rows as csv writes them, one string each; a record may have several lines."""
    texts = []
    for row in rows:
        file = io.StringIO()
        csv.writer(file, lineterminator="\n", **dialect).writerow(row)
        texts.append(file.getvalue())
    return texts


class Columns(harness.Case):
    NAMES = ["id", "unit price", 'a "quoted" one', "two\nlines", "x,y", ""]

    def test_against_csv(self):
        rng = random.Random(SEED)
        for dialect, words in (({}, ["--csv"]), ({"delimiter": ";"}, ["--csv", "--delimiter", ";"]),
                               ({"quoting": csv.QUOTE_ALL, "delimiter": "\t"}, ["--csv", "--delimiter", "\\t"])):
            rows = [[rng.choice([str(rng.randrange(1000)), "%.3f" % rng.random()]) for _ in self.NAMES] for _ in range(300)]
            header, *texts = written([self.NAMES, *rows], **dialect)
            data = (header + "".join(texts)).encode()
            path = self.write("x.csv", data)
            for at, name in enumerate(self.NAMES):
                values = [float(row[at]) for row in rows]
                best = harness.best(values, 7)
                self.prints(header + "".join(texts[i] for i in best), "select", path, *words, "--column", name, "-k", 7)
                met = [i for i, value in enumerate(values) if value < 100]
                self.prints(header + "".join(texts[i] for i in met), "where", *words, "--column", name, "--lt", 100, stdin=data)
                self.prints("%d\n" % len(met), "count", path, *words, "--column", name, "--lt", 100)
                self.prints(header + "".join(texts[i] for i in [i for i in harness.best(values, 300) if i in met][:5]),
                            "select", path, *words, "--column", name, "--lt", 100, "-k", 5)

    def test_output_is_a_table_again(self):
        table = b"name,a,b\n" + b"".join(b"r%d,%d,%d\n" % (i, i % 7, i % 5) for i in range(40))
        first = harness.topk("where", "--csv", "--column", "a", "--gt", 4, stdin=table).out
        second = harness.topk("select", "--csv", "--column", "b", "-k", 2, stdin=first)
        self.assertEqual((second.out, second.err), (b"name,a,b\nr19,5,4\nr34,6,4\n", ""))

    def test_blanks_and_ends_of_lines(self):
        self.prints("  name   size \nb 30\n", "select", "-k", 1, "--column", "size", stdin=b"  name   size \na 4\nb 30\n")
        self.prints("a, b \n1,9\n", "select", "-k", 1, "--csv", "--column", "b", stdin=b"\xef\xbb\xbfa, b \r\n1,9\r\n2,8")
        self.prints("a\tb\0" "1\t9\0", "select", "-k", 1, "-z", "--column", "b", stdin=b"a\tb\0" b"1\t9\0" b"2\t8\0")
        self.prints("note\na,b\n1,9\n", "select", "-k", 1, "--csv", "--header=2", "--column", "b", stdin=b"note\na,b\n1,9\n2,8\n")
        self.prints("a,b\n", "where", "--csv", "--column", "b", "--gt", 0, stdin=b"a,b\n")
        self.prints("a,b\n", "select", "--csv", "--column", "b", "-k", 3, stdin=b"a,b")
        self.prints("a,b\n1,9\n3,9\n", "select", self.write("t.csv", "a,b\n1,9\n2,8\n3,9\n"), "--csv", "--column", "b", "-k", 1,
                    "--ties=all")

    def test_no_header_without_whole_lines(self):
        text = b"a,b\n1,9\n2,8\n"
        self.assertNotIn(b"a,b", harness.topk("select", "-k", 1, "--csv", "--column", "b", "--json", stdin=text).out)
        self.prints("8\t1\t1\n", "kth", "-k", "2", "--csv", "--column", "b", stdin=text)
        self.prints("1\n0\n", "mask", "--gt", "8", "--csv", "--column", "b", stdin=text)
        self.prints("", "select", "-k", 1, "--csv", "--column", "b", "--values", self.path("v.npy"), stdin=text)

    def test_shards(self):
        self.write("p1", "b,a\n5,1\n6,2\n")
        self.write("p2", "")
        self.write("p3", "a,c,b\n4,0,7\n3,0,8\n")
        self.prints("b,a\n4,0,7\n3,0,8\n", "select", "--csv", "--column", "a", "-k", 2, "--shards", self.path("p*"))
        self.write("p4", "c,b\n1,2\n")
        self.fails(".*p4:1: the header names no column 'a'", "count", "--csv", "--column", "a", "--gt", 0, "--shards", self.path("p*"))

    def test_what_is_refused(self):
        for text, reason in ((b"a,b\n1,2\n", "standard input:1: the header names no column 'c'"),
                             (b"c,b,c\n1,2,3\n", "standard input:1: the header names more than one column 'c'"),
                             (b"cc,c c,C\n", "standard input:1: the header names no column 'c'"),
                             (b"", "standard input: has no header to name column 'c'"),
                             (b'a,"b\n', "standard input:1: a quote is not closed"),
                             (b"a,c\n1,x\n", "standard input:2: 'x' is not a number")):
            self.fails(reason, "count", "--csv", "--column", "c", "--gt", 0, stdin=text)
        self.fails("--field, --column, .* are for text, .*", "count", "a.npy", "--column", "c", "--gt", 0, status=2)

    def test_wide_header(self):
        """Time in proportion to the header's length."""
        names = ["c%d" % i for i in range(200000)]
        text = (",".join(names) + "\n" + ",".join("1" for _ in names) + "\n").encode()
        self.prints("1\n", "count", "--csv", "--column", names[-1], "--gt", 0, stdin=text)


if __name__ == "__main__":
    harness.main()
