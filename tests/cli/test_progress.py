# SPDX-License-Identifier: Apache-2.0
"""Jobs that take their time: the progress bar, and a file that shrinks meanwhile."""

import array
import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time
import unittest

import harness
from harness import npy_header, pack


class Slow(harness.Case):
    """The tool is slowed down by not reading its output."""

    def setUp(self):
        super().setUp()
        self.count = 1 << 18
        self.file = self.write("x.npy", npy_header("<i4", (self.count,)) + pack("i", [7] * self.count))
        self.command = [harness.TOPK, "where", self.file, "--gt", "0", "--piece-bytes", "100000"]

    def run_slowly(self, meanwhile, **keywords):
        """Starts the command, waits until its output is stuck in a full pipe, and then reads all it prints."""
        child = subprocess.Popen(self.command, stdout=subprocess.PIPE, **keywords)
        waiting = array.array("i", [0])
        while waiting[0] < 65536 and child.poll() is None:
            time.sleep(0.01)
            fcntl.ioctl(child.stdout, termios.FIONREAD, waiting)
        time.sleep(0.7)
        meanwhile()
        out = child.stdout.read()
        child.stdout.close()
        return child, out

    def bar(self, *arguments):
        self.command += arguments
        master, terminal = pty.openpty()
        child, out = self.run_slowly(lambda: None, stderr=terminal)
        child.wait()
        self.assertEqual((child.returncode, out.count(b"\n")), (0, self.count))
        return self.shown(master, terminal)

    @staticmethod
    def shown(master, terminal):
        """All that has been written to a terminal."""
        shown = b""
        while select.select([master], [], [], 0.2)[0]:
            shown += os.read(master, 1 << 16)
        os.close(terminal)
        os.close(master)
        return shown.decode()

    def test_bar(self):
        shown = self.bar()
        self.assertRegex(shown, r"\A(\r\[#* *\] +[0-9]+ %)+\r\x1b\[K\Z")

    def test_quiet(self):
        self.assertEqual(self.bar("--quiet"), "")

    def test_no_bar_without_a_terminal(self):
        child, _ = self.run_slowly(lambda: None, stderr=subprocess.PIPE)
        self.assertEqual((child.communicate()[1], child.returncode), (b"", 0))

    def test_stream_without_size(self):
        master, terminal = pty.openpty()
        child = subprocess.Popen([harness.TOPK, "select", "-", "-k", "1"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=terminal)
        for _ in range(2):
            child.stdin.write(b"1234567\n" * (1 << 20))
            child.stdin.flush()
            time.sleep(0.6)
        child.stdin.write(b"1234568\n" * (1 << 20))
        child.stdin.close()
        out = child.stdout.read()
        child.stdout.close()
        self.assertEqual((child.wait(), out), (0, b"%d\t1234568\n" % (2 << 20)))
        self.assertRegex(self.shown(master, terminal), r"\A(\r[0-9]+ MiB read)+\r\x1b\[K\Z")

    def test_file_that_shrinks(self):
        self.shrinks()

    def test_matrix_that_shrinks(self):
        """A GPU's elements are read, and not found in a mapping."""
        self.write("x.npy", npy_header("<i4", (self.count // 8, 8)) + pack("i", [7] * self.count))
        self.command = [harness.TOPK, "select", self.file, "-k", "8", "--piece-bytes", "100000"]
        self.shrinks()

    def shrinks(self):
        child, _ = self.run_slowly(lambda: os.truncate(self.file, 4096), stderr=subprocess.PIPE)
        error = child.communicate()[1]
        self.assertEqual((child.returncode, error), (1, b"topk: the input file has shrunk, or cannot be read\n"))


@unittest.skipUnless(os.environ.get("FAULTY_FILES"), "under a sanitizer nothing is preloaded")
class Passes(harness.Case):
    """A file that is read again and again: the bar shows the part of all passes. A clock is preloaded that runs so
    fast that each chunk moves the bar."""

    COUNT = 1 << 17
    CHUNKS = 4 * COUNT // 8192  # of a pass: an eighth of a piece each

    def parts(self, values, *arguments, rows=1):
        """What the bar shows, in percent, after each chunk."""
        self.write("x.npy", npy_header("<i4", (rows, self.COUNT // rows)) + pack("i", values))
        master, terminal = pty.openpty()
        command = [harness.TOPK, arguments[0], self.path("x.npy"), *map(str, arguments[1:]), "--piece-bytes", "65536",
                   "--device", "cpu"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=terminal, env={
                **os.environ, "CUDA_VISIBLE_DEVICES": "", "LD_PRELOAD": os.environ["FAULTY_FILES"],
                "FAULT": "slow"}) as child:
            shown = self.read_while_it_runs(child, master)
        os.close(terminal)
        os.close(master)
        self.assertEqual(child.returncode, 0, shown)
        return [int(part) for part in re.findall(r"(\d+) %", shown)]

    @staticmethod
    def read_while_it_runs(child, master):
        shown = b""
        while child.poll() is None or select.select([master], [], [], 0)[0]:
            if select.select([master], [], [], 0.1)[0]:
                shown += os.read(master, 1 << 16)
        return shown.decode()

    def check(self, passes, *arguments, rows=1):
        """The bar grows evenly to the end of the passes."""
        parts, chunks = self.parts(*arguments, rows=rows), self.CHUNKS * passes
        whole = chunks * 8192 + os.path.getsize(self.path("x.npy")) - 4 * self.COUNT  # and the header
        self.assertEqual(parts, [100 * 8192 * (chunk + 1) // whole for chunk in range(chunks)])

    # Pieces are so small that a sample has all elements: chance has no say.
    DIFFERENT = [i * 7919 % 1000003 for i in range(COUNT)]
    HALF_ALIKE = [7] * (COUNT // 2) + DIFFERENT[:COUNT // 2]

    def test_one_pass(self):
        self.check(1, self.DIFFERENT, "kth", "-k", 1)
        self.check(1, self.DIFFERENT, "kth", "-k", 1, rows=4)
        self.check(1, self.DIFFERENT, "select", "-k", self.COUNT // 2, "--gt", 900000)

    def test_two_passes_over_each_row(self):
        self.check(2, self.DIFFERENT, "kth", "-k", self.COUNT // 8, rows=4)

    def test_passes_for_lists(self):
        """One finds the k-th, which has many equals. Each of the two lists takes another."""
        self.check(3, self.HALF_ALIKE, "select", "-k", self.COUNT * 3 // 4)

    def test_list_without_room(self):
        """What the sample would list has no room. So three passes narrow down, and two list."""
        self.check(5, self.DIFFERENT, "select", "-k", self.COUNT * 3 // 4)

    def test_more_passes_than_expected(self):
        parts = self.parts(self.DIFFERENT, "kth", "-k", self.COUNT // 2)
        self.assertEqual(len(parts), 3 * self.CHUNKS)
        self.assertLessEqual(max(parts[:self.CHUNKS]), 33)
        self.assertEqual(max(parts), 99)

    def test_fewer_passes_than_expected(self):
        """The k-th is the last of many equals, and the list of what is near has no room: but one pass finds it. The
        bar expects the same of later rows. Yet each row, when it begins, may take two."""
        row = [7] * (self.COUNT // 8) + [-value for value in self.DIFFERENT[1:self.COUNT // 8 + 1]]
        parts = self.parts(4 * row, "kth", "-k", self.COUNT // 8, rows=4)
        self.assertEqual(len(parts), self.CHUNKS)
        done = 1 + 1 / (self.CHUNKS // 4)  # passes over a row, with the first chunk of the second row
        self.assertEqual(parts[self.CHUNKS // 4], int(100 * done / (1 + 2 + 1 + 1)))


if __name__ == "__main__":
    harness.main()
