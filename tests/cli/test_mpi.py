# SPDX-License-Identifier: Apache-2.0
"""Shards, and ranks of mpirun: they print the bytes of one process over one file, and fail with its line."""

import array
import os
import random
import re
import signal
import subprocess
import sys
import time

import harness
from harness import npy_header, pack, topk

LAUNCH = os.environ.get("LAUNCH", "").split()
RANKS = (1, 2, 3, 7)
MPIRUN_SAYS = "-" * 74  # the line above each of its own messages


def own_lines(text):
    """Of what a job prints to standard error, without mpirun's own messages, and without warnings of its event loop,
    which may look at a pipe of a rank that has just ended."""
    lines = "".join(text.split(MPIRUN_SAYS + "\n")[::2]).splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("[warn] "))


def job(ranks, *arguments, preexec=None, before=()):
    """What a job gives; `before` are commands that start the tool, of the ranks up to each number. On a busy machine Open
    MPI's mpirun may crash when ranks end with an error, whatever they are: a signal has killed mpirun itself then, and
    the job runs again."""
    for _ in range(3):
        found = subprocess.run([*LAUNCH, str(ranks), *before, harness.TOPK, *map(str, arguments), "--mpi"],
                               stdin=subprocess.DEVNULL, capture_output=True, check=False, preexec_fn=preexec,
                               timeout=harness.Limits.clock_seconds)
        if found.returncode >= 0:
            break
    return found


class Case(harness.Case):
    def vector(self, count=5000, seed=1):
        """Floats with many ties, and a NaN and infinities."""
        numbers = random.Random(seed)
        values = [numbers.choice((float(numbers.randrange(40)), numbers.gauss(0, 20))) for _ in range(count)]
        values[count // 3], values[count // 2], values[count // 5] = float("nan"), float("inf"), -0.0
        return values

    def shards(self, data, cuts, descr="<f4", code="f", name="part-%d.npy"):
        for i, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(data)])):
            part = data[begin:end]
            self.write(name % i, npy_header(descr, (len(part),)) + pack(code, part))
        return self.path(name.replace("%d", "*"))


class Shards(Case):
    def same(self, pattern, path, *options):
        for command in (["select", "-k", 30], ["select", "-k", 4000, "--smallest"], ["select", "-k", 99, "--ties=all"], ["kth", "-k", 77],
                        ["where", "--gt", 35], ["count", "--lt", 3], ["mask", "--gt", 20],
                        ["select", "-k", 9, "--json", "--le", 7], ["explain", "-k", 4]):
            for piece in ([], ["--piece-bytes", 613]):
                expected = topk(command[0], path, *command[1:], *options, *piece)
                found = topk(*command, "--shards", pattern, *options, *piece)
                self.assertEqual((expected.status, found.err, found.status), (0, "", 0), command)
                self.assertEqual(found.out.replace(pattern.encode(), path.encode()), expected.out, command)

    def test_vector(self):
        values = self.vector()
        pattern = self.shards(values, (0, 10, 10, 1777, 4999))
        self.same(pattern, self.write("x.npy", npy_header("<f4", (5000,)) + pack("f", values)))

    def test_rows(self):
        values = self.vector(1200)
        for i, (begin, end) in enumerate(((0, 3), (3, 3), (3, 11), (11, 12))):
            self.write(f"part-{i}.npy", npy_header("<f4", (end - begin, 100)) + pack("f", values[100 * begin:100 * end]))
        path = self.write("x.npy", npy_header("<f4", (12, 100)) + pack("f", values))
        self.same(self.path("part-*.npy"), path)
        self.same(self.path("part-*.npy"), path, "--flat")

    def test_raw(self):
        values = self.vector(3000)
        self.write("a.raw", b"abc" + pack("f", values[:2999]))
        self.write("b.raw", b"xyz" + pack("f", values[2999:]))
        self.write("c.raw", b"xyz")
        path = self.write("x", b"abc" + pack("f", values))
        self.same(self.path("?.raw"), path, "--dtype", "f32", "--skip-bytes", 3, "--format", "raw")

    def test_big_endian(self):
        values = self.vector(600)
        for name, part in (("a.npy", values[:333]), ("b.npy", values[333:]), ("x", values)):
            swapped = b"".join(pack("f", [value])[::-1] for value in part)
            self.write(name, npy_header(">f4", (len(part),)) + swapped)
        self.same(self.path("?.npy"), self.path("x"))

    def test_order_is_that_of_names(self):
        for name, value in (("p-10", 1), ("p-9", 2), ("p-B", 3), ("p-a", 4)):
            self.write(name + ".npy", npy_header("<i4", (1,)) + pack("i", [value]))
        self.prints("0\t1\n1\t2\n2\t3\n3\t4\n", "select", "-k", 9, "--order", "position", "--shards",
                    self.path("p-*.npy"))

    def test_what_differs(self):
        self.write("a.npy", npy_header("<f4", (2,)) + pack("f", [1, 2]))
        for other, reason in ((npy_header("<i4", (1,)) + pack("i", [1]), "holds i32, but .*a.npy holds f32"),
                              (npy_header(">f4", (1,)) + pack("f", [1]), "its byte order is not that of .*a.npy"),
                              (npy_header("<f4", (1, 1)) + pack("f", [1]), "its number of dimensions or of columns is not that of .*a.npy"),
                              (b"1\n2\n", "byte 0: no .npy file.*|byte 0: .*")):
            self.write("b.npy", other)
            self.fails(r".*b.npy: (?:%s).*" % reason, "select", "-k", 1, "--shards", self.path("?.npy"))

    def test_what_is_refused(self):
        self.write("a.fvecs", b"")
        self.write("a.npy", npy_header("<f4", (2,)) + pack("f", [1, 2]))
        self.fails("--shards: no file matches '.*'", "select", "-k", 1, "--shards", self.path("none-*"))
        for arguments, line in ((["--shards", self.path("*.fvecs")], "--shards takes no fvecs"),
                                (["--shards", self.path("a.npy"), "--axis", 0], "--shards takes no --axis: .*"),
                                (["--shards", self.path("a.npy"), "x"], "--shards .*: choose"),
                                (["x", "--shards", self.path("a.npy")], "--shards .*: choose"),
                                (["--shards", self.path("*.npy"), "--values", self.path("a.npy")],
                                 "--values is the input, '.*a.npy': choose another file")):
            self.fails(line, "select", "-k", 1, *arguments, status=2)


@harness.unittest.skipUnless(LAUNCH, "there is no topk-mpi or no mpirun")
class Ranks(Case):
    def same(self, command, *arguments, ranks=RANKS):
        """Ranks print what one process prints."""
        expected = topk(*command, *arguments)
        self.assertEqual((expected.status, expected.err), (0, ""))
        for count in ranks:
            found = job(count, *command, *arguments)
            self.assertEqual((found.returncode, found.stderr, found.stdout), (0, b"", expected.out), (count, command))

    def fail_together(self, ranks, line, *arguments, status=1, **keywords):
        """One line, one status, and nothing on standard output."""
        found = job(ranks, *arguments, **keywords)
        self.assertRegex(own_lines(found.stderr.decode()), r"\Atopk: " + line + r"\n\Z")
        self.assertEqual((found.returncode, found.stdout), (status, b""))

    def test_vector(self):
        values = self.vector()
        path = self.write("x.npy", npy_header("<f4", (5000,)) + pack("f", values))
        self.same(["select", path, "-k", 30])
        self.same(["select", path, "-k", 4000, "--smallest", "--json"], "--piece-bytes", 613, ranks=(3,))
        self.same(["select", path, "-k", 6000, "--magnitude", "--nan", "last"], ranks=(7,))
        self.same(["select", path, "-k", 80, "--order", "position", "--lt", 20], ranks=(3,))
        self.same(["select", path, "-k", 80, "--ties=all"], ranks=(1, 3))
        self.same(["select", path, "-k", 0], ranks=(3,))
        self.same(["kth", path, "-k", 700])
        self.same(["kth", path, "-k", 2500, "--magnitude"], "--piece-bytes", 613, ranks=(3,))
        self.same(["kth", path, "-k", 5001, "--padding"], ranks=(2,))
        self.same(["kth", path, "-k", "7,50%,6000"], "--padding", ranks=(3,))
        self.same(["kth", path, "--quantile", "0,0.123,1"], ranks=(2,))
        self.same(["count", path, "--between", -1, 7], "--json", ranks=(1, 3))
        self.same(["where", path, "--ge", 3])
        self.same(["where", path, "--ne", 3, "--json"], "--piece-bytes", 613, ranks=(2, 7))
        self.same(["where", path, "--gt", 1e9, "--json"], ranks=(3,))

    def test_other_formats(self):
        values = [i * 7919 % 1009 for i in range(1010)]
        self.write("x.raw", b"abc" + pack("h", values))
        self.same(["select", self.path("x.raw"), "-k", 9], "--dtype", "i16", "--skip-bytes", 3, ranks=(3,))
        self.write("f.npy", npy_header(">i2", (101, 10), order="True") +
                   b"".join(pack("h", [value])[::-1] for value in values))
        for command in (["select", self.path("f.npy"), "-k", 9, "--json"], ["kth", self.path("f.npy"), "-k", 300],
                        ["where", self.path("f.npy"), "--gt", 900, "--json"]):
            self.same(command, "--flat", ranks=(3,))

    def test_more_ranks_than_elements(self):
        path = self.write("x.npy", npy_header("<i8", (2,)) + pack("q", [5, 6]))
        empty = self.write("e.npy", npy_header("<i8", (0,)))
        for name in (path, empty):
            for command in (["select", name, "-k", 3], ["kth", name, "-k", 1, "--padding"], ["count", name, "--gt", 5],
                            ["where", name, "--ge", 5]):
                self.same(command, ranks=(3,))

    def test_shards(self):
        values = self.vector()
        pattern = self.shards(values, (0, 10, 10, 1777, 4999))
        self.same(["select", "-k", 20, "--shards", pattern])
        self.same(["kth", "-k", 700, "--shards", pattern], ranks=(3,))
        self.same(["count", "--gt", 12, "--shards", pattern], ranks=(3,))
        self.same(["where", "--lt", 2, "--shards", pattern], ranks=(1, 3, 7))

    def test_arrays(self):
        pattern = self.shards(self.vector(), (3000,))
        text = self.write("x", "\n".join(self.lines()))
        for command in (["select", "-k", 5005, "--shards", pattern], ["where", "--lt", 30, "--shards", pattern],
                        ["where", "--gt", 9e99, "--shards", pattern], ["where", "--ne", 3, text, "--piece-bytes", 613]):
            arrays = []
            for run in (topk, lambda *arguments: job(3, *arguments)):
                run(*command, "--values", self.path("v"), "--indices", self.path("i"))
                arrays.append((self.read("v"), self.read("i")))
                os.unlink(self.path("v"))
                os.unlink(self.path("i"))
            self.assertEqual(*arrays)

    def lines(self, count=3000, seed=2):
        """Numbers as they are written, of many lengths, some of them far beyond float64 and some with blanks around."""
        numbers = random.Random(seed)
        texts = [numbers.choice((f"{numbers.gauss(0, 9):.{numbers.randrange(17)}f}", f" {numbers.randrange(30)}\t", "nan"))
                 for _ in range(count)]
        for at, text in ((5, "1e400"), (count // 2, "-7e-4000"), (count - 1, "+2e400"), (count - 7, "3e-999"),
                         (count // 3, "1e400"), (count // 4, "9007199254740993"), (count // 5, "9007199254740992"),
                         (count - 9, "9007199254740993.0"), (7, "9007199254740992.5"), (count // 6, "9.007199254740994e15")):
            texts[at] = text
        return texts

    def test_text(self):
        path = self.write("x", "\n".join(self.lines()))
        self.same(["select", path, "-k", 20])
        self.same(["select", path, "-k", 3, "--json"], ranks=(3,))
        self.same(["select", path, "-k", 40, "--order", "position", "--smallest"], "--lt", 3, ranks=(3,))
        self.same(["select", path, "-k", 5000], ranks=(7,))
        self.same(["select", path, "-k", 9, "--magnitude", "--smallest"], ranks=(2,))
        self.same(["select", path, "-k", 6, "--ties=all"], ranks=(3,))
        self.same(["select", path, "-k", 500, "--ties=all"], ranks=(2,))
        self.same(["kth", path, "-k", 77])
        for k, options in ((3, ["--nan", "last"]), (900, ["--magnitude", "--smallest"]), (3001, ["--padding"]), (1, ["--json"])):
            self.same(["kth", path, "-k", k], *options, ranks=(3,))
        self.same(["kth", path, "-k", "3,50%,99.9%,3001"], "--padding", ranks=(1, 3))
        self.same(["kth", path, "--quantile", "0.1,0.9", "--interpolation", "lower", "--json"], ranks=(3,))
        self.same(["count", path, "--gt", "1e399"], ranks=(1, 3))
        self.same(["where", path, "--gt", 3])
        self.same(["where", path, "--ne", 3, "--json"], "--piece-bytes", 613, ranks=(3, 7))
        self.same(["where", path, "--gt", "9007199254740992"], "--json", ranks=(2,))

    def test_fields_and_headers(self):
        rows = "".join(f"{i}\t{i * 7919 % 997}\n" for i in range(700))
        path = self.write("x", "a\tb\n\n" + rows)
        self.same(["select", path, "-k", 9, "--field", 2, "--header=2"], ranks=(1, 3, 7))
        self.same(["kth", path, "-k", 9, "--field", 2, "--header=690", "--dtype", "int64"], ranks=(3,))
        self.same(["count", path, "--gt", 0, "--field", 2, "--header=999"], ranks=(3,))
        self.same(["where", path, "--gt", 500, "--field", 2, "--header=2"], ranks=(3,))
        self.same(["where", path, "--gt", 500, "--field", 2, "--header=690", "--dtype", "uint64", "--json"], ranks=(7,))
        self.same(["where", path, "--gt", 500, "--lt", 800, "--ne", 700, "--field", 2, "--if", "1>=9", "--header=2"], ranks=(3,))
        self.same(["select", path, "-k", 9, "--field", 2, "--if", "1!=500", "--if", "1<600", "--header=2"], ranks=(3,))
        self.same(["count", path, "--field", 2, "--if", "1<600", "--header=2"], ranks=(3,))
        path = self.write("z", rows.replace("\n", "\0"))
        self.same(["where", path, "--lt", 99, "--field", 2, "-z"], ranks=(3,))
        self.same(["select", path, "-k", 9, "--field", 2, "-z"], ranks=(3,))
        self.same(["select", self.write("few", "5\n7"), "-k", 9], ranks=(7,))
        self.same(["select", self.write("mark", "\ufeff5\n7"), "-k", 9], ranks=(7,))
        self.same(["count", self.write("none", ""), "--gt", 0], ranks=(2,))

    def text_shards(self, *parts):
        for i, part in enumerate(parts):
            self.write(f"t-{i}", part)
        return self.path("t-*")

    def test_text_shards(self):
        texts = self.lines()
        whole = self.write("x", "\n".join(texts))
        cuts = (0, 0, 1, 1, 900, 2990, 3000)
        pattern = self.text_shards(*("\n".join(texts[begin:end]) for begin, end in zip(cuts, cuts[1:])))
        for command in (["select", "-k", 20], ["kth", "-k", 600], ["count", "--gt", 3], ["where", "--gt", 3]):
            expected = topk(*command, whole)
            self.assertEqual(topk(*command, "--shards", pattern).out, expected.out)
            for ranks in (3, 7):
                self.assertEqual(job(ranks, *command, "--shards", pattern).stdout, expected.out, (command, ranks))

    def test_lines_longer_than_what_is_kept(self):
        """A rank keeps results up to a limit, and any single line."""
        texts = [f"{i} {'x' * (i * 7919 % 3000)}" for i in range(300)]
        path = self.write("x", "\n".join(texts))
        self.same(["where", path, "--ge", 0, "--field", 1, "--piece-bytes", 613], ranks=(2, 7))

    def test_listed_until_a_bad_line(self):
        """The message is that of the first bad line, though a later rank meets its own first, with results to pass on
        before it; what is printed is the begin of what one process would print."""
        texts = [str(i) for i in range(4000)]
        for bad in ((1500, 3900), (3999,), (0, 3999), (2100, 2200, 2900)):
            lines = list(texts)
            for at in bad:
                lines[at] = "x"
            path = self.write("x", "\n".join(lines))
            for ranks in (2, 3, 7):
                found = job(ranks, "where", path, "--ge", 0, "--piece-bytes", 613)
                self.assertRegex(own_lines(found.stderr.decode()), rf"\Atopk: .*x:{bad[0] + 1}: 'x' is not a number\n\Z")
                self.assertEqual(found.returncode, 1)
                whole = "".join(f"{i}\t{i}\n" for i in range(bad[0]))
                self.assertTrue(whole.startswith(found.stdout.decode()))
            skipped = topk("where", path, "--ge", 3, "--skip-invalid")
            found = job(3, "where", path, "--ge", 3, "--skip-invalid", "--piece-bytes", 613)
            self.assertEqual((found.returncode, found.stdout, found.stderr.decode()), (0, skipped.out, skipped.err))

    def test_nothing_is_left_of_arrays_when_a_rank_fails(self):
        path = self.write("x", "\n".join([*map(str, range(3000)), "y"]))
        self.fail_together(3, ".*x:3001: 'y' is not a number", "where", path, "--ge", 0, "--values", self.path("v"),
                           "--piece-bytes", 613)
        self.assertEqual(sorted(os.listdir(self.folder)), ["x"])

    @harness.unittest.skipUnless(os.environ.get("FAILING_ALLOC"), "a sanitizer takes memory of its own")
    def test_results_that_no_rank_could_keep(self):
        """A rank finds 36 MB, where 40 MB are enough for all of it. With more kept at once they are not."""
        path = self.write("x.raw", bytes(12 << 20))
        arguments = ["where", path, "--dtype", "i8", "--ge", 0, "--threads", 1, "--indices", self.path("i"), "--piece-bytes"]
        before = ["sh", "-c", 'ulimit -d 40000; exec "$0" "$@"']
        found = job(3, *arguments, 10**6, before=before)
        self.assertEqual((found.returncode, found.stdout, found.stderr), (0, b"", b""))
        indices = array.array("q", self.read("i")[128:])
        self.assertTrue(all(map(int.__eq__, indices, range(12 << 20))) and len(indices) == 12 << 20)
        self.fail_together(3, "out of memory: .*", *arguments, 10**8, before=before)

    def test_bad_lines(self):
        good = [str(i) for i in range(3000)]
        bad = list(good)
        bad[1700], bad[1800], bad[2900] = "x", "y", ""
        path = self.write("x", "\n".join(["title", *bad]))
        for ranks in RANKS:
            self.fail_together(ranks, ".*x:1702: 'x' is not a number", "select", path, "-k", 1, "--header")
        self.fail_together(3, ".*x:1: 'title' is not a number", "count", path, "--gt", 1)
        pattern = self.text_shards("7\n", "\n".join(bad), "z")
        self.fail_together(3, ".*t-1:1701: 'x' is not a number", "kth", "-k", 1, "--shards", pattern)
        for ranks in (1, 3, 7):
            expected = topk("select", path, "-k", 4, "--skip-invalid")
            found = job(ranks, "select", path, "-k", 4, "--skip-invalid")
            self.assertEqual((found.returncode, found.stdout, found.stderr.decode()), (0, expected.out, expected.err))
        expected = topk("count", "--gt", 4, "--skip-invalid", "--shards", pattern)
        self.assertRegex(expected.err, r"lines passed over: 4; the first is line 1701 of .*t-1: 'x' is not a number")
        found = job(3, "count", "--gt", 4, "--skip-invalid", "--shards", pattern)
        self.assertEqual((found.stdout, found.stderr.decode()), (expected.out, expected.err))
        self.fail_together(2, "--mpi takes no --csv: .*", "select", path, "-k", 1, "--csv", status=2)

    def test_binary_files(self):
        """One process looks at the first bytes of a file, whichever ranks have them."""
        lines = "\n".join(str(i) for i in range(20000)) + "\n"
        for ranks, data in ((2, lines[:15000] + "\n5\0\n" + lines), (3, lines + "5\0\n"), (7, "x\n" * 20 + "\0\n"),
                            (3, "\ufeffPAR1\x15\n" + lines), (3, lines[:65535] + "\0\n"), (3, "\ufeff" + lines[:65535] + "\0\n"),
                            (3, "\ufeff" + lines[:65536] + "\0\n")):
            path = self.write("x", data)
            expected = topk("kth", "-k", 1, path, "--skip-invalid")
            self.assertEqual((expected.status, expected.err[-1]), (1, "\n"))
            self.fail_together(ranks, re.escape(expected.err[len("topk: "):-1]), "kth", "-k", 1, path, "--skip-invalid")
        pattern = self.text_shards("7\n" * 900, "5\n" * 300 + "\0\n", "z")
        self.fail_together(3, r".*t-1: holds binary data \(there is a NUL byte\): .*", "count", "--gt", 1, "--shards", pattern)

    def test_pipes_are_refused_at_once(self):
        os.mkfifo(self.path("pipe"))
        os.mkfifo(self.path("pipe.npy"))
        for arguments in (["pipe"], ["pipe.npy"], ["--shards", "p*.npy"], ["--format", "npy", "pipe"]):
            arguments[-1] = self.path(arguments[-1])
            begin = time.monotonic()
            self.fail_together(2, ".*pipe.*: no regular file, of which ranks could read parts", "count", "--gt", 1, *arguments)
            self.assertLess(time.monotonic() - begin, 120)

    def test_without_mpirun(self):
        path = self.write("x.npy", npy_header("<i4", (3,)) + pack("i", [1, 3, 2]))
        self.prints("1\t3\n2\t2\n", "select", path, "-k", 2, "--mpi")

    def test_choice_of_network_is_the_users(self):
        """The tool chooses none where the user does: Open MPI then ends, for there is no such network."""
        path = self.write("x.npy", npy_header("<i4", (3,)) + pack("i", [1, 3, 2]))
        os.makedirs(self.path("home/.openmpi"))
        self.write("home/.openmpi/mca-params.conf", b"pml = none-such\n")
        if job(2, before=["sh", "-c", 'test -n "$OMPI_COMM_WORLD_SIZE"']).returncode != 0:
            self.skipTest("this is not Open MPI")
        for setting in ("OMPI_MCA_pml=none-such", "HOME=" + self.path("home")):
            found = job(2, "select", path, "-k", 2, before=["env", setting])
            self.assertNotEqual(found.returncode, 0, setting)

    def test_errors(self):
        path = self.write("x.npy", npy_header("<i4", (3,)) + pack("i", [1, 3, 2]))
        rows = self.write("y.npy", npy_header("<i4", (2, 2)) + pack("i", [1, 3, 2, 4]))
        self.fail_together(3, ".*none.npy: No such file or directory", "select", self.path("none.npy"), "-k", 1)
        self.fail_together(3, "--mpi shares out a vector, and '.*y.npy' is a matrix: .*", "select", rows, "-k", 1, status=2)
        self.fail_together(2, "--mpi is for select, kth, where and count", "mask", path, "--gt", 1, status=2)
        self.fail_together(2, "--mpi needs an INPUT that is a file, .*", "select", "-k", 1, status=2)
        self.fail_together(2, "--mpi takes no --epsilon, .*", "select", path, "-k", 1, "--epsilon", 1, status=2)
        self.fail_together(2, "-k 4: no element has that place, .*", "kth", path, "-k", 4)
        self.fail_together(2, "--mpi takes no --column: .*", "count", path, "--gt", 1, "--column", "a", status=2)
        self.fail_together(2, "--by takes no --mpi", "select", path, "-k", 1, "--field", 2, "--by", 1, status=2)
        self.fail_together(2, "kth --mpi takes no predicate", "kth", path, "-k", 1, "--gt", 0, status=2)
        self.write("z.npy", npy_header("<f4", (3,)) + pack("f", [1, 3, 2]))
        self.fail_together(3, ".*z.npy: holds f32, but .*x.npy holds i32", "select", "--shards", self.path("[xz].npy"), "-k", 1)
        full = ["sh", "-c", 'exec "$0" "$@" >/dev/full']
        self.fail_together(3, "standard output: No space left on device", "select", path, "-k", 1, before=full)
        many = self.write("many.npy", npy_header("<i4", (60000,)) + pack("i", range(60000)))
        for bound in (0, 40000):  # the root's own results do not fit, or another rank's
            self.fail_together(3, "standard output: No space left on device", "where", many, "--gt", bound,
                               "--piece-bytes", 9999, before=full)
        found = job(3, "select", path, "--nonsense")
        self.assertEqual((found.returncode, found.stdout, own_lines(found.stderr.decode()).count("--nonsense")), (2, b"", 1))
        found = job(3, "select", "--help")
        self.assertEqual((found.returncode, found.stdout), (0, topk("select", "--help").out))

    def test_unreadable_on_one_rank(self):
        """Rank 2 has a folder of its own, where a shard leads nowhere."""
        for name in ("a.npy", "b.npy"):
            self.write(name, npy_header("<i4", (3,)) + pack("i", [1, 3, 2]))
        os.mkdir(self.path("other"))
        self.write("other/a.npy", npy_header("<i4", (3,)) + pack("i", [1, 3, 2]))
        os.symlink("nowhere", self.path("other/b.npy"))
        before = ["sh", "-c", f'cd {self.folder}; test $OMPI_COMM_WORLD_RANK = 2 && cd other; exec "$0" "$@"']
        tool, harness.TOPK = harness.TOPK, os.path.abspath(harness.TOPK)
        for command in (["select", "-k", 1], ["where", "--gt", 1]):
            self.fail_together(3, "b.npy: No such file or directory", *command, "--shards", "?.npy", before=before)
        harness.TOPK = tool

    def test_killed(self):
        """A rank that is killed while the others wait for it ends the job."""
        path = self.write("x.npy", npy_header("<i4", (3,)) + pack("i", [1, 3, 2]))
        begin = time.monotonic()
        found = job(3, "select", path, "-k", 1, before=["sh", "-c", 'test $OMPI_COMM_WORLD_RANK = 1 && { "$0" "$@" & '
                                                        'kill -9 $!; wait $!; exit; }; exec "$0" "$@"'])
        self.assertEqual(found.stdout, b"")
        self.assertNotEqual(found.returncode, 0)
        self.assertLess(time.monotonic() - begin, 120)


@harness.unittest.skipIf(LAUNCH, "there is a topk-mpi")
class Without(harness.Case):
    def test_says_so(self):
        self.fails("--mpi: there is no .*topk-mpi: this tool was built without MPI", "select", "x", "-k", 1, "--mpi")


if __name__ == "__main__":
    harness.main()
