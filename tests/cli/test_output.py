# SPDX-License-Identifier: Apache-2.0
"""What is written: arrays, JSON, and what happens when it cannot be written."""

import json
import os
import resource
import signal
import stat
import subprocess
import time
import unittest

import harness
from harness import npy_header, npy_read, pack, packed, unpack


def be_nobody():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


class Arrays(harness.Case):
    def setUp(self):
        super().setUp()
        self.vector = self.write("x.npy", npy_header("<f4", (4,)) + pack("f", [1, 4, 3, 2]))
        self.matrix = self.write("m.npy", npy_header("<i2", (2, 3)) + pack("h", [1, 4, 3, 9, 7, 8]))
        self.v, self.i = self.path("v.npy"), self.path("i.npy")

    def arrays(self, code):
        descr, shape, data = npy_read(self.read("v.npy"))
        index_descr, index_shape, indices = npy_read(self.read("i.npy"))
        self.assertEqual(index_descr, "<i8")
        return descr, shape, unpack(code, data), index_shape, unpack("q", indices)

    def test_select_vector(self):
        self.prints("", "select", self.vector, "-k", 2, "--values", self.v, "--indices", self.i)
        self.assertEqual(self.arrays("f"), ("<f4", (2,), [4, 3], (2,), [1, 2]))

    def test_padding(self):
        for piece in ([], ["--piece-bytes", 8]):
            self.prints("", "select", self.vector, "-k", 6, "--values", self.v, "--indices", self.i, *piece)
            self.assertEqual(self.arrays("f"), ("<f4", (6,), [4, 3, 2, 1] + 2 * [float("-inf")], (6,),
                                                [1, 2, 3, 0, -1, -1]))

    def test_select_matrix(self):
        for piece in ([], ["--piece-bytes", 4]):
            self.prints("", "select", self.matrix, "-k", 2, "--smallest", "--values", self.v, "--indices", self.i, *piece)
            self.assertEqual(self.arrays("h"), ("<i2", (2, 2), [1, 3, 7, 8], (2, 2), [0, 2, 1, 2]))

    def test_select_with_a_predicate(self):
        low = -2**15
        for piece in ([], ["--piece-bytes", 4]):
            self.prints("", "select", self.matrix, "-k", 3, "--lt", 8, "--values", self.v, "--indices", self.i, *piece)
            self.assertEqual(self.arrays("h"), ("<i2", (2, 3), [4, 3, 1, 7, low, low], (2, 3), [1, 2, 0, 1, -1, -1]))

    def test_one_of_them(self):
        self.prints("", "select", self.vector, "-k", 1, "--values", self.v)
        self.assertEqual(npy_read(self.read("v.npy"))[2], pack("f", [4]))
        self.prints("", "select", self.vector, "-k", 1, "--indices", self.i)
        self.assertEqual(npy_read(self.read("i.npy"))[2], pack("q", [1]))

    def test_where(self):
        for piece in ([], ["--piece-bytes", 12]):
            self.prints("", "where", self.vector, "--ge", 3, "--values", self.v, "--indices", self.i, *piece)
            self.assertEqual(self.arrays("f"), ("<f4", (2,), [4, 3], (2,), [1, 2]))
            self.prints("", "where", self.matrix, "--ge", 4, "--values", self.v, "--indices", self.i, *piece)
            self.assertEqual(self.arrays("h"), ("<i2", (4,), [4, 9, 7, 8], (4, 2), [0, 1, 1, 0, 1, 1, 1, 2]))

    def test_text(self):
        self.prints("", "select", "-", "-k", 3, "--values", self.v, "--indices", self.i, stdin=b"5\n7\n")
        self.assertEqual(self.arrays("d"), ("<f8", (3,), [7, 5, float("-inf")], (3,), [1, 0, -1]))
        self.prints("", "where", "-", "--gt", 5, "--dtype", "int64", "--values", self.v, "--indices", self.i,
                    stdin=b"5\n7\n")
        self.assertEqual(self.arrays("q"), ("<i8", (1,), [7], (1,), [1]))

    def test_mask(self):
        for count in (0, 1, 8, 1000, 8 * 4096 - 1, 8 * 4096, 100001):
            values = [i * 7919 % 1000 for i in range(count)]
            expected = packed([value > 600 for value in values])
            path = self.write("y.npy", npy_header("<i4", (count,)) + pack("i", values))
            for piece in ([], ["--piece-bytes", 4 * 1003], ["--piece-bytes", 4 * 1000]):
                self.prints("", "mask", path, "--gt", 600, "--bits", self.path("b.npy"), *piece)
                self.assertEqual(npy_read(self.read("b.npy")), ("|u1", (len(expected),), expected))
            self.prints("", "mask", "-", "--gt", 600, "--bits", self.path("b.npy"),
                        stdin=b"".join(b"%d\n" % value for value in values))
            self.assertEqual(npy_read(self.read("b.npy")), ("|u1", (len(expected),), expected))

    def test_mask_of_a_matrix(self):
        for piece in ([], ["--piece-bytes", 4], ["--piece-bytes", 6]):
            self.prints("", "mask", self.matrix, "--ge", 4, "--bits", self.path("b.npy"), *piece)
            self.assertEqual(npy_read(self.read("b.npy")), ("|u1", (1,), packed([0, 1, 0, 1, 1, 1])))

    def test_replaces_a_file_and_keeps_its_mode_and_link(self):
        self.write("old.npy", b"old")
        os.chmod(self.path("old.npy"), 0o640)
        os.symlink("old.npy", self.path("v.npy"))
        self.prints("", "select", self.vector, "-k", 1, "--values", self.v)
        self.assertTrue(os.path.islink(self.v))
        self.assertEqual(npy_read(self.read("old.npy"))[1], (1,))
        self.assertEqual(stat.S_IMODE(os.stat(self.v).st_mode), 0o640)

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file away")
    def test_keeps_the_owner(self):
        self.write("v.npy", b"old")
        os.chown(self.v, 12345, 12346)
        self.prints("", "select", self.vector, "-k", 1, "--values", self.v)
        status = os.stat(self.v)
        self.assertEqual((status.st_uid, status.st_gid), (12345, 12346))

    def test_link_to_a_missing_file(self):
        os.mkdir(self.path("sub"))
        os.symlink("sub/new.npy", self.path("v.npy"))
        os.symlink(self.path("v.npy"), self.path("i.npy"))
        for path in (self.v, self.i):
            self.prints("", "select", self.vector, "-k", 1, "--values", path)
            self.assertTrue(os.path.islink(path))
            self.assertEqual(npy_read(self.read("sub/new.npy"))[1], (1,))
            os.unlink(self.path("sub/new.npy"))

    def test_name_as_long_as_names_may_be(self):
        long = self.path("v" * 255)
        for k in (1, 2):
            self.prints("", "select", self.vector, "-k", k, "--values", long)
            self.assertEqual(npy_read(self.read(long))[1], (k,))

    def test_mode_of_a_new_file(self):
        self.prints("", "select", self.vector, "-k", 1, "--values", self.v, preexec=lambda: os.umask(0o027))
        self.assertEqual(stat.S_IMODE(os.stat(self.v).st_mode), 0o640)


class Json(harness.Case):
    def check(self, expected, *arguments, **keywords):
        result = harness.topk(*arguments, **keywords)
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(json.loads(result.out.decode("utf-8")), expected)

    def test_vector(self):
        path = self.write("x.npy", npy_header("<f4", (4,)) + pack("f", [1.5, float("nan"), float("-inf"), float("inf")]))
        self.check({"command": "select", "input": path, "type": "f32", "k": 9, "length": 4, "results": [
            {"index": 1, "value": "nan"}, {"index": 3, "value": "inf"}, {"index": 0, "value": 1.5},
            {"index": 2, "value": "-inf"}]}, "select", path, "-k", 9, "--json")
        self.check({"command": "kth", "input": path, "type": "f32", "k": 2, "length": 4,
                    "results": [{"value": "inf", "better": 1, "equal": 1}]}, "kth", path, "-k", 2, "--json")
        self.check({"command": "where", "input": path, "type": "f32", "length": 4, "results": []},
                   "where", path, "--eq", 7, "--json")
        self.check({"command": "count", "input": path, "type": "f32", "length": 4, "results": [{"count": 2}]},
                   "count", path, "--lt", 2, "--json")
        self.check({"command": "mask", "input": path, "type": "f32", "length": 4, "results": [
            {"match": 1}, {"match": 0}, {"match": 1}, {"match": 0}]}, "mask", path, "--lt", 2, "--json")
        self.check({"command": "select", "input": path, "type": "f32", "k": 9, "length": 4, "results": [
            {"index": 0, "value": 1.5}, {"index": 2, "value": "-inf"}]}, "select", path, "-k", 9, "--lt", 2, "--json")

    def test_matrix(self):
        path = self.write("m.npy", npy_header("<u8", (2, 2)) + pack("Q", [1, 2**64 - 1, 3, 0]))
        self.check({"command": "select", "input": path, "type": "u64", "k": 1, "rows": 2, "length": 2, "results": [
            {"row": 0, "index": 1, "value": 2**64 - 1}, {"row": 1, "index": 0, "value": 3}]},
            "select", path, "-k", 1, "--json")
        self.check({"command": "kth", "input": path, "type": "u64", "k": 1, "rows": 2, "length": 2, "results": [
            {"row": 0, "value": 2**64 - 1, "better": 0, "equal": 1}, {"row": 1, "value": 3, "better": 0, "equal": 1}]},
            "kth", path, "-k", 1, "--json")
        self.check({"command": "count", "input": path, "type": "u64", "rows": 2, "length": 2, "results": [
            {"row": 0, "count": 1}, {"row": 1, "count": 0}]}, "count", path, "--gt", 3, "--json")
        self.check({"command": "mask", "input": path, "type": "u64", "rows": 2, "length": 2, "results": [
            {"row": 0, "match": 0}, {"row": 0, "match": 1}, {"row": 1, "match": 0}, {"row": 1, "match": 0}]},
            "mask", path, "--gt", 3, "--json")

    def test_text(self):
        lines = b'7\tquote " back \\ tab \t bell \x07 \xc3\xa9 \xff \xed\xa0\x80 \xf0\x9f\x98\x80 \xc0\x80\xe2\x82\n1\tx\n'
        text = '7\tquote " back \\ tab \t bell \x07 \xe9 \ufffd \ufffd\ufffd\ufffd \U0001f600 \ufffd\ufffd\ufffd\ufffd'
        self.check({"command": "select", "input": "-", "type": "f64", "k": 1, "length": 2,
                    "results": [{"index": 0, "value": 7, "text": text}]},
                   "select", "-", "-k", 1, "--field", 1, "--json", stdin=lines)
        self.check({"command": "where", "input": "-", "type": "i64", "length": 2,
                    "results": [{"index": 1, "value": 8, "text": "+8"}]},
                   "where", "-", "--gt", 7, "--dtype", "int64", "--json", stdin=b"7\n +8 \n")


class Failures(harness.Case):
    def setUp(self):
        super().setUp()
        count = 100000
        self.file = self.write("x.npy", npy_header("<i4", (count,)) + pack("i", list(range(count))))

    def test_full_device(self):
        with open("/dev/full", "wb") as full:
            self.fails("standard output: No space left on device", "select", self.file, "-k", 1, stdout=full)
            self.fails("standard output: No space left on device", "select", self.file, "-k", 90000, stdout=full)
            self.fails("standard output: No space left on device", "info", stdout=full)
            self.fails("standard output: No space left on device", "--version", stdout=full)
            self.fails("standard output: No space left on device", "select", "--help", stdout=full)
        for command in (["select", "-k", 3, "--values"], ["where", "--gt", 5, "--values"],
                        ["mask", "--gt", 5, "--bits"]):
            self.fails("/dev/full: No space left on device", command[0], self.file, *command[1:], "/dev/full")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_full_disk_leaves_no_file(self):
        limit = 10000
        for command in (["select", "-k", 90000, "--values"], ["select", "-k", 90000, "--indices"],
                        ["where", "--gt", 5, "--values"], ["where", "--gt", 5, "--indices"],
                        ["mask", "--gt", 5, "--bits"]):
            self.fails(self.path("v.npy") + ": File too large", command[0], self.file, *command[1:],
                       self.path("v.npy"), preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertEqual(os.listdir(self.folder), ["x.npy"])

    def test_full_disk_in_the_middle_of_a_write(self):
        """The limit takes a part of what write() is given, and refuses the rest."""
        whole = harness.topk("where", self.file, "--ge", 0).out
        for limit in (1, 1000, 10000, 65536, len(whole) - 1):
            with open(self.path("out"), "wb") as file:
                self.fails("standard output: File too large", "where", self.file, "--ge", 0, stdout=file,
                           preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertEqual(self.read("out"), whole[:limit])

    def test_old_output_survives_a_failure(self):
        self.write("v.npy", b"precious")
        text = self.write("bad.txt", "1\n2\nx\n")
        self.fails(text + ":3: 'x' is not a number", "where", text, "--gt", 0, "--values", self.path("v.npy"))
        self.assertEqual(self.read("v.npy"), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["bad.txt", "v.npy", "x.npy"])

    def test_protected_output(self):
        protected = self.write("v.npy", b"precious")
        os.chmod(self.folder, 0o777)
        os.chmod(protected, 0o444)

        # A file on standard input, and the tool itself, may lie where only root comes.
        for command in (["where", "-", "--gt", 0, "--values"], ["mask", "-", "--gt", 0, "--bits"]):
            try:
                self.fails(protected + ": Permission denied", *command, protected, stdin=b"1\n", preexec=be_nobody)
            except PermissionError:
                self.skipTest("nobody cannot run the tool")
            self.assertEqual(self.read("v.npy"), b"precious")
            self.assertEqual(sorted(os.listdir(self.folder)), ["v.npy", "x.npy"])

    def test_arrays_into_a_pipe(self):
        """Whole, or not at all: nobody can go back in a pipe to write how long an array is."""
        result = harness.topk("select", self.file, "-k", 2, "--values", "/dev/stdout")
        self.assertEqual((result.status, npy_read(result.out)), (0, ("<i4", (2,), pack("i", [99999, 99998]))))
        for command in (["where", "--gt", 5, "--values"], ["where", "--gt", 5, "--indices"], ["mask", "--gt", 5, "--bits"]):
            self.fails("/dev/stdout: the header, which comes first, needs the number of results: write to a file",
                       command[0], self.file, *command[1:], "/dev/stdout")

    def test_one_of_two_outputs_fails(self):
        self.fails("/nonexistent/i.npy: No such file or directory", "select", self.file, "-k", 1, "--values",
                   self.path("v.npy"), "--indices", "/nonexistent/i.npy")
        self.assertEqual(os.listdir(self.folder), ["x.npy"])
        self.fails(self.folder + ": Is a directory", "select", self.file, "-k", 1, "--values", self.folder)

    def test_closed_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        commands = (["select", self.file, "-k", 1], ["select", self.file, "-k", 90000], ["where", self.file, "--gt", 0],
                    ["select", self.file, "-k", 5, "--values", self.path("v.npy"), "--indices", "/dev/stdout"])
        with os.fdopen(writer, "wb") as pipe:
            for command in commands:
                result = harness.topk(*command, stdout=pipe)
                self.assertEqual((result.status, result.err), (-signal.SIGPIPE, ""))
                self.assertEqual(os.listdir(self.folder), ["x.npy"])
            for command in commands:
                self.fails("(standard output|/dev/stdout): Broken pipe", *command, stdout=pipe,
                           preexec=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
                self.assertEqual(os.listdir(self.folder), ["x.npy"])

    def test_reader_that_stops(self):
        for command in (["where", self.file, "--ge", 0], ["mask", self.file, "--ge", 0], ["select", self.file, "-k", 90000]):
            script = '"$@" | head -c 1; exit "${PIPESTATUS[0]}"'
            done = subprocess.run(["bash", "-c", script, "bash", harness.TOPK, *map(str, command)], capture_output=True,
                                  check=False)
            self.assertEqual((done.returncode, len(done.stdout), done.stderr), (128 + signal.SIGPIPE, 1, b""))

    def test_closed_standard_output(self):
        self.fails("standard output: Bad file descriptor", "select", self.file, "-k", 1, preexec=lambda: os.close(1))

    def has_an_output(self, child):
        """Whether the tool has a file in the folder, with a name or without."""
        folder = "/proc/%d/fd" % child.pid
        links = []
        for name in os.listdir(folder):
            try:
                links.append(os.readlink(os.path.join(folder, name)))
            except FileNotFoundError: # closed since
                pass
        return any(os.path.dirname(link) == os.path.realpath(self.folder) for link in links)

    def wait_for_an_output(self, child):
        """The tool begins an output once it knows the format of its input."""
        child.stdin.write(b"3\n")
        child.stdin.flush()
        deadline = time.monotonic() + 100
        while not self.has_an_output(child) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertTrue(self.has_an_output(child))

    def test_interruption_leaves_no_file(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            child = subprocess.Popen([harness.TOPK, "where", "-", "--gt", "0", "--values", self.path("v.npy")],
                                     stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            self.wait_for_an_output(child)
            child.send_signal(number)
            child.communicate()
            self.assertEqual(child.returncode, -number)
            self.assertEqual(os.listdir(self.folder), ["x.npy"])

    def test_signals_that_the_caller_ignores(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            child = subprocess.Popen([harness.TOPK, "where", "-", "--gt", "0", "--values", self.path("v.npy")],
                                     stdin=subprocess.PIPE, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
            self.wait_for_an_output(child)
            child.send_signal(number)
            child.communicate()
            self.assertEqual(child.returncode, 0)
            self.assertEqual(unpack("d", npy_read(self.read("v.npy"))[2]), [3])
            os.unlink(self.path("v.npy"))


@unittest.skipUnless(os.environ.get("FAULTY_FILES"), "under a sanitizer nothing is preloaded")
class Faults(harness.Case):
    def setUp(self):
        super().setUp()
        self.file = self.write("x.npy", npy_header("<i4", (100000,)) + pack("i", range(100000)))

    @staticmethod
    def fault(name):
        return {"LD_PRELOAD": os.environ["FAULTY_FILES"], "FAULT": name}

    def test_writes_that_take_a_part(self):
        text = self.write("x.txt", "1 %s\n" % ("x" * 100000))
        for command in (["where", self.file, "--ge", 90000], ["select", text, "-k", 1, "--field", 1]):
            self.prints(harness.topk(*command).out, *command, env=self.fault("writes"))
        self.prints("", "where", self.file, "--ge", 99990, "--values", self.path("v.npy"), env=self.fault("writes"))
        self.assertEqual(npy_read(self.read("v.npy")), ("<i4", (10,), pack("i", range(99990, 100000))))

    def test_close(self):
        """Some file systems say only then that there was no space."""
        for command in (["select", self.file, "-k", 1], ["where", self.file, "--eq", 7], ["info"], ["--version"]):
            result = harness.topk(*command, env=self.fault("close"))
            self.assertEqual((result.status, result.err), (1, "topk: standard output: Input/output error\n"))

    COMMANDS = (["select", "-k", 1, "--values"], ["where", "--gt", 1, "--values"], ["mask", "--gt", 1, "--bits"])

    def needs_unnamed_files(self):
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_RDWR))
        except OSError:
            self.skipTest("the file system has no files without a name")

    def ends(self, command, number, moment):
        """The tool ends by a signal at a moment of its output's life. Returns the folder's other files."""
        env = {**self.fault("signal"), "SIGNAL": str(int(number)), "MOMENT": moment}
        result = harness.topk(command[0], self.file, *command[1:], self.path("v.npy"), env=env)
        self.assertEqual((result.status, result.err), (-number, ""))
        return sorted(set(os.listdir(self.folder)) - {"x.npy"})

    def test_interruption_at_the_worst_time(self):
        self.needs_unnamed_files()
        for command in self.COMMANDS:
            for number in (signal.SIGTERM, signal.SIGKILL):
                self.assertEqual(self.ends(command, number, "create"), [])
                self.assertEqual(self.ends(command, number, "link"), ["v.npy"]) # whole
                length = npy_read(self.read("v.npy"))[1]
                os.unlink(self.path("v.npy"))
                self.assertGreater(length, (0,))

    def test_interruption_while_a_file_is_replaced(self):
        self.needs_unnamed_files()
        for command in self.COMMANDS:
            self.write("v.npy", b"old")
            self.assertEqual(self.ends(command, signal.SIGKILL, "create"), ["v.npy"])
            self.assertEqual(self.ends(command, signal.SIGTERM, "link"), ["v.npy"])
            self.assertEqual(self.read("v.npy"), b"old")
            # Between two calls that follow one another the array has another name, beside the old file.
            other, name = self.ends(command, signal.SIGKILL, "link")
            self.assertRegex(other, r"\Atopk-[a-z0-5]{6}\Z")
            self.assertEqual((name, self.read("v.npy")), ("v.npy", b"old"))
            os.unlink(self.path(other))
            self.assertEqual(self.ends(command, signal.SIGKILL, "rename"), ["v.npy"])
            self.assertGreater(npy_read(self.read("v.npy"))[1], (0,))

    def test_interruption_of_a_copy_of_the_input(self):
        self.needs_unnamed_files()
        env = {**self.fault("signal"), "SIGNAL": str(int(signal.SIGKILL)), "MOMENT": "create", "TMPDIR": self.folder}
        result = harness.topk("select", "-", "-k", 1, "--format", "raw", "--dtype", "i8", stdin=b"123", env=env)
        self.assertEqual((result.status, os.listdir(self.folder)), (-signal.SIGKILL, ["x.npy"]))

    def test_file_systems_that_know_names_alone(self):
        env = self.fault("named")
        for command in self.COMMANDS:
            for old in (None, 0o640):
                if old is not None:
                    os.chmod(self.write("v.npy", b"old"), old)
                self.prints("", command[0], self.file, *command[1:], self.path("v.npy"), env=env,
                            preexec=lambda: os.umask(0o027))
                self.assertEqual(stat.S_IMODE(os.stat(self.path("v.npy")).st_mode), 0o640)
                self.assertGreater(npy_read(self.read("v.npy"))[1], (0,))
                self.assertEqual(sorted(os.listdir(self.folder)), ["v.npy", "x.npy"])
            os.unlink(self.path("v.npy"))
        self.prints("2\t51\n", "select", "-", "-k", 1, "--format", "raw", "--dtype", "i8", stdin=b"123",
                    env={**env, "TMPDIR": self.folder})
        self.assertEqual(os.listdir(self.folder), ["x.npy"])

    def test_folder_without_the_right_to_write(self):
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        for env in (None, self.fault("named")):
            try:
                self.fails(self.path("v.npy") + ": Permission denied", "where", "-", "--gt", 0, "--values",
                           self.path("v.npy"), stdin=b"1\n", preexec=be_nobody, env=env)
            except PermissionError:
                self.skipTest("nobody cannot run the tool")


if __name__ == "__main__":
    harness.main()
