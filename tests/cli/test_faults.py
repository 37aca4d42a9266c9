# SPDX-License-Identifier: Apache-2.0
"""Signals at any time, disks that fill up, and inputs that others cut or rewrite: an output is there as a whole, or
not at all. Times and sizes are drawn from a seed; no verdict depends on how fast the tool is."""

import os
import random
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import harness
from harness import npy_header, npy_read, pack, unpack

OLD = b"precious"
CHANGES = "topk: the input file changes while it is read\n"
SHRUNK = "topk: the input file has shrunk, or cannot be read\n"


class Outputs(harness.Case):
    """Commands in many small pieces, what they write when nothing is in the way, and how long that takes."""

    COMMANDS = (["select", "-k", 20000, "--piece-bytes", 16384, "--values", "v.npy", "--indices", "i.npy"],
                ["select", "-k", 20000, "--piece-bytes", 16384, "--gt", 0, "--values", "v.npy"],
                ["where", "--gt", 0, "--piece-bytes", 512, "--values", "v.npy", "--indices", "i.npy"],
                ["mask", "--gt", 0, "--piece-bytes", 512, "--bits", "v.npy"],
                ["kth", "-k", 1000, "--piece-bytes", 512],
                ["where", "--gt", 0, "--piece-bytes", 512])

    def setUp(self):
        super().setUp()
        print("seed 17")
        self.random = random.Random(17)
        self.count = 100000
        values = [self.random.randrange(-1 << 31, 1 << 31) for _ in range(self.count)]
        self.data = npy_header("<i4", (self.count,)) + pack("i", values)
        self.file = self.write("x.npy", self.data)

    def start(self, command, env=None, preexec_fn=None):
        return subprocess.Popen([os.path.abspath(harness.TOPK), command[0], "x.npy", *map(str, command[1:])],
                                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=preexec_fn, env={**os.environ, "CUDA_VISIBLE_DEVICES": "", **(env or {})})

    def undisturbed(self, command, env=None):
        """What is printed, the outputs by their names, and the seconds."""
        for name in set(os.listdir(self.folder)) - {"x.npy"}:
            os.unlink(self.path(name))
        begin = time.monotonic()
        child = self.start(command, env=env)
        printed, error = child.communicate()
        seconds = time.monotonic() - begin
        self.assertEqual((child.returncode, error), (0, b""))
        right = {name: self.read(name) for name in os.listdir(self.folder) if name != "x.npy"}
        self.assertEqual(len(right), sum(str(part).endswith(".npy") for part in command))
        return printed, right, seconds

    def put_old_outputs(self, right):
        """Some outputs are there before; returns them."""
        old = {}
        for name in right:
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
            if self.random.random() < 0.5:
                old[name] = OLD
                self.write(name, OLD)
        return old

    def check_outputs(self, old, right, finished, leftover=None):
        """Each output is as before or right, and all are right if the tool finished; `leftover` matches names of files
        that may be there besides, which are removed."""
        for name in os.listdir(self.folder):
            if leftover is not None and re.fullmatch(leftover, name):
                os.unlink(self.path(name))
            elif name != "x.npy":
                self.assertIn(name, right.keys())
        for name, data in right.items():
            found = self.read(name) if os.path.exists(self.path(name)) else None
            self.assertTrue(found == data or (not finished and found == old.get(name)), name)


class Signals(Outputs):
    # LeakSanitizer looks for leaks in a process of its own as the tool ends. That process complains if the tool is
    # killed meanwhile.
    NO_SEARCH_FOR_LEAKS = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}

    def test_signals_at_any_time(self):
        ends = {}
        for command in self.COMMANDS:
            printed, right, seconds = self.undisturbed(command, env=self.NO_SEARCH_FOR_LEAKS)
            for number in 6 * (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
                with self.subTest(command=command, signal=number):
                    old = self.put_old_outputs(right)
                    child = self.start(command, env=self.NO_SEARCH_FOR_LEAKS)
                    sender = threading.Timer(self.random.uniform(0, 1.2 * seconds), child.send_signal, [number])
                    sender.start()
                    out, error = child.communicate()
                    sender.cancel()
                    sender.join()
                    self.assertIn(child.returncode, (0, -number))
                    self.assertEqual(error, b"")
                    self.assertTrue(printed.startswith(out) and (child.returncode != 0 or out == printed))
                    self.check_outputs(old, right, child.returncode == 0,
                                       r"topk-\w{6}" if number == signal.SIGKILL else None)
                    self.assertTrue(self.read("x.npy") == self.data)
                    ends[child.returncode] = ends.get(child.returncode, 0) + 1
        print("ends by status:", ends)


class FullDisks(Outputs):
    WITH_FILES = Outputs.COMMANDS[:4]

    def check_failure(self, command, right, reason, **keywords):
        """The tool fails with that reason, or has all it needs."""
        old = self.put_old_outputs(right)
        child = self.start(command, **keywords)
        _, error = child.communicate()
        self.assertRegex(error.decode(), r"\A(topk: [vi]\.npy: %s\n)?\Z" % reason)
        self.assertEqual(child.returncode, 1 if error else 0)
        self.check_outputs(old, right, child.returncode == 0)
        return child.returncode

    def limits(self, right):
        largest = max(map(len, right.values()))
        return [0, 1, 127, 128, largest - 1, largest, *(self.random.randrange(largest) for _ in range(6))]

    def test_limit_of_a_file(self):
        for command in self.WITH_FILES:
            _, right, _ = self.undisturbed(command)
            for limit in self.limits(right):
                with self.subTest(command=command, limit=limit):
                    status = self.check_failure(command, right, "File too large", preexec_fn=lambda limit=limit:
                                                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                    self.assertEqual(status, limit < max(map(len, right.values())))

    @unittest.skipUnless(os.environ.get("FAULTY_FILES"), "under a sanitizer nothing is preloaded")
    def test_no_space_after_some_bytes(self):
        """Found by write() alone: the file system could not tell before."""
        for command in self.WITH_FILES:
            _, right, _ = self.undisturbed(command)
            again = 0 if command[0] == "select" else 128 # the others write their headers again, with the length
            written = sum(len(data) + again for data in right.values())
            for limit in (*self.limits(right), written - 1, written):
                with self.subTest(command=command, limit=limit):
                    room = {"LD_PRELOAD": os.environ["FAULTY_FILES"], "FAULT": "full", "ROOM": str(limit)}
                    status = self.check_failure(command, right, "No space left on device", env=room)
                    self.assertEqual(status, limit < written)

    def test_small_file_system(self):
        """One of its own, where the machine lets the user have it."""
        namespace = ["unshare", "--user", "--map-root-user", "--mount"]
        mount = 'mount -t tmpfs -o size=64k none "$0" && cd "$0" || exit 99; '
        disk = tempfile.mkdtemp(prefix="topk-cli-")
        self.addCleanup(os.rmdir, disk)
        if subprocess.run([*namespace, "sh", "-c", mount, disk], check=False).returncode != 0:
            self.skipTest("no file system can be mounted; the other tests limit files and writes")
        script = mount + 'echo precious >v.npy; "$@"; echo "status $?"; ls; cat v.npy'
        for command in self.WITH_FILES[:3]:
            done = subprocess.run([*namespace, "sh", "-c", script, disk, os.path.abspath(harness.TOPK),
                                   command[0], self.file, *map(str, command[1:])], capture_output=True, check=False)
            self.assertRegex(done.stderr, rb"\Atopk: [vi]\.npy: No space left on device\n\Z")
            self.assertEqual(done.stdout, b"status 1\nv.npy\nprecious\n")


class Inputs(Outputs):
    def ends_with(self, child, error):
        """Right, or with one line that says what is wrong with the input."""
        self.assertRegex(error.decode(), r"\A(%s|%s|topk: x.npy: byte \d+: [^\n]*\n)?\Z" %
                         (re.escape(SHRUNK), re.escape(CHANGES)))
        self.assertEqual(child.returncode, 1 if error else 0)

    def test_input_that_shrinks(self):
        for command in self.COMMANDS:
            printed, right, seconds = self.undisturbed(command)
            for i in range(12):
                size = self.random.choice([self.random.randrange(len(self.data)), len(self.data) - 1 - 4 * i])
                with self.subTest(command=command, size=size):
                    self.write("x.npy", self.data)
                    old = self.put_old_outputs(right)
                    child = self.start(command)
                    cut = threading.Timer(self.random.uniform(0, seconds), os.truncate, [self.file, size])
                    cut.start()
                    out, error = child.communicate()
                    cut.cancel()
                    cut.join()
                    self.ends_with(child, error)
                    self.assertTrue(child.returncode != 0 or out == printed)
                    self.check_outputs(old, right, child.returncode == 0)
            self.write("x.npy", self.data)

    def test_input_that_shrinks_under_many_threads(self):
        """Each of them may be the one that finds the page gone."""
        count = 1 << 29
        path = self.write("large.npy", npy_header("|u1", (count,)))
        begin = os.path.getsize(path)
        command = [harness.TOPK, "count", path, "--ne", "0", "--threads", "8", "--device", "cpu"]
        for _ in range(8):
            os.truncate(path, begin + count)
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            cut = threading.Timer(self.random.uniform(0, 0.1), os.truncate, [path, begin + 4096])
            cut.start()
            out, error = child.communicate()
            cut.cancel()
            cut.join()
            if child.returncode == 0:
                self.assertEqual((out, error), (b"0\n", b""))
            else:
                self.assertEqual(child.returncode, 1)
                self.assertRegex(error.decode(), r"\A(%s|topk: [^\n]*: byte \d+: [^\n]*\n)\Z" % re.escape(SHRUNK))

    def test_input_that_shrinks_within_its_last_page(self):
        """What then lies behind the end of the file reads as zeros. The tool waits for its output to be read."""
        for command in (["where", "--ge", 0, "--piece-bytes", 512], ["mask", "--gt", 0, "--piece-bytes", 512]):
            for size in (len(self.data) - 4, len(self.data) - 1):
                self.write("x.npy", self.data)
                child = self.start(command)
                child.stdout.read(1)
                os.truncate(self.file, size)
                self.assertEqual((child.communicate()[1].decode(), child.returncode), (SHRUNK, 1))

    def test_input_that_is_rewritten(self):
        """In place, and from its beginning: outputs are whole, although they hold elements of several times."""
        other = npy_header("<i4", (self.count,)) + pack("i", sorted(unpack("i", self.data[128:]), reverse=True))

        def rewrite(done, empties):
            while not done.is_set():
                for data in (other, self.data):
                    with open(self.file, "wb" if empties else "r+b") as file:
                        file.write(data)

        for command in self.COMMANDS:
            _, right, _ = self.undisturbed(command)
            for empties in (False, True, False, True):
                with self.subTest(command=command, empties=empties):
                    old = self.put_old_outputs(right)
                    done = threading.Event()
                    writer = threading.Thread(target=rewrite, args=[done, empties])
                    writer.start()
                    child = self.start(command)
                    _, error = child.communicate()
                    done.set()
                    writer.join()
                    self.ends_with(child, error)
                    if child.returncode == 0:
                        self.check_whole(right)
                    else:
                        self.check_outputs(old, right, False)

    def check_whole(self, right):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*right, "x.npy"]))
        shapes = set()
        for name, data in right.items():
            descr, shape, elements = npy_read(self.read(name))
            self.assertEqual(descr, npy_read(data)[0])
            self.assertEqual(len(elements), shape[0] * int(descr[2]))
            shapes.add(shape)
        self.assertLessEqual(len(shapes), 1)


if __name__ == "__main__":
    harness.main()
