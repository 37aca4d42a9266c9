# SPDX-License-Identifier: Apache-2.0
"""Jobs that take their time: the progress bar, and a file that shrinks meanwhile.

The tool is slowed down by not reading its output."""

import os
import pty
import subprocess
import time

import harness
from harness import npy_header, pack


class Slow(harness.Case):
    def setUp(self):
        super().setUp()
        self.count = 1 << 18
        self.file = self.write("x.npy", npy_header("<i4", (self.count,)) + pack("i", [7] * self.count))
        self.command = [harness.TOPK, "where", self.file, "--gt", "0", "--piece-bytes", "100000"]

    def run_slowly(self, meanwhile, **keywords):
        """Starts the command, waits until it must be stuck in a write, and then reads all it prints."""
        child = subprocess.Popen(self.command, stdout=subprocess.PIPE, **keywords)
        time.sleep(1)
        meanwhile()
        out = child.stdout.read()
        child.stdout.close()
        return child, out

    def bar(self, *arguments):
        self.command += arguments
        master, terminal = pty.openpty()
        child, out = self.run_slowly(lambda: None, stderr=terminal)
        child.wait()
        os.close(terminal)
        try:
            shown = os.read(master, 1 << 20).decode()
        except OSError:
            shown = ""
        os.close(master)
        self.assertEqual((child.returncode, out.count(b"\n")), (0, self.count))
        return shown

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
        os.close(terminal)
        self.assertRegex(os.read(master, 1 << 20).decode(), r"\A(\r[0-9]+ MiB read)+\r\x1b\[K\Z")
        os.close(master)

    def test_file_that_shrinks(self):
        child, _ = self.run_slowly(lambda: os.truncate(self.file, 4096), stderr=subprocess.PIPE)
        error = child.communicate()[1]
        self.assertEqual((child.returncode, error), (1, b"topk: the input file has shrunk, or cannot be read\n"))


if __name__ == "__main__":
    harness.main()
