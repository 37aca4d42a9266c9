# SPDX-License-Identifier: Apache-2.0
"""Binary input from pipes: the same answers as from a file, whatever the pieces in which it comes."""

import os
import resource
import struct
import threading
import unittest

import harness
from harness import npy_header, pack

ROWS = [[i * 7919 % 101 for i in range(first, first + 50)] for first in range(0, 450, 50)]
ARRAY = npy_header("<i4", (9, 50)) + b"".join(pack("i", row) for row in ROWS)
VECTORS = b"".join(struct.pack("<i", 50) + pack("i", row) for row in ROWS)
BARE = b"".join(pack("i", row) for row in ROWS)


def feed(data, chunk, command, path, *arguments):
    """Runs the tool while a thread writes the data, `chunk` bytes at a time, to the path: a FIFO, or - for a pipe."""
    pipe = os.pipe() if path == "-" else None

    def write():
        with open(pipe[1] if pipe else path, "wb", buffering=0) as file:
            for at in range(0, len(data), chunk):
                try:
                    file.write(data[at:at + chunk])
                except BrokenPipeError:
                    break

    thread = threading.Thread(target=write)
    thread.start()
    result = harness.topk(command, path, *arguments, **({"stdin": pipe[0]} if pipe else {}))
    # Lets a writer go on that still waits for a reader.
    os.close(pipe[0] if pipe else os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    thread.join()
    return result


class Pipes(harness.Case):
    def same(self, name, data, *options):
        path = self.write(name, data)
        fifo = self.path("fifo")
        if not os.path.exists(fifo):
            os.mkfifo(fifo)
        for command in (["select", "-k", 3], ["kth", "-k", 3], ["where", "--gt", 90], ["count", "--gt", 90],
                        ["mask", "--gt", 90], ["select", "-k", 2, "--lt", 50]):
            for piece in ([], ["--piece-bytes", 430], ["--piece-bytes", 61]):
                expected = harness.topk(command[0], path, *command[1:], *piece, *options)
                self.assertEqual((expected.status, expected.err), (0, ""))
                for chunk, source in ((1, "-"), (97, "-"), (100000, "-"), (1000, fifo)):
                    with self.subTest(name=name, command=command, piece=piece, chunk=chunk, source=source):
                        found = feed(data, chunk, command[0], source, *command[1:], *piece, *options)
                        self.assertEqual((found.status, found.err, found.out), (0, "", expected.out))

    def test_npy(self):
        self.same("x.npy", ARRAY)

    def test_vectors(self):
        self.same("x.ivecs", VECTORS, "--format", "ivecs")

    def test_raw(self):
        self.same("x.raw", BARE, "--format", "raw", "--dtype", "int32", "--cols", 50)
        self.same("x.raw", BARE, "--format", "raw", "--dtype", "int32")

    def test_temporary_file(self):
        arguments = ["select", "-k", 1, "--format", "raw", "--dtype", "int32"]
        for folder, reason in (("none", "No such file or directory"), ("x", "Not a directory")):
            self.write("x", b"")
            missing = self.path(folder)
            self.fails(missing + ": no temporary file: " + reason, *arguments[:1], "-", *arguments[1:], stdin=BARE,
                       env={"TMPDIR": missing})
        os.mkdir(self.path("t"))
        self.prints("32\t100\n", "select", "-", *arguments[1:], stdin=pack("i", ROWS[0]),
                    env={"TMPDIR": self.path("t")})
        self.assertEqual(os.listdir(self.path("t")), [])

    def test_no_space_for_the_temporary_file(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        self.fails("/tmp: temporary file: File too large", "select", "-", "-k", 1, "--format", "ivecs", stdin=VECTORS,
                   env={"TMPDIR": None}, preexec=limit)

    @unittest.skipUnless(os.environ.get("FAULTY_FILES"), "under a sanitizer nothing is preloaded")
    def test_writes_that_take_a_part(self):
        path = self.write("x.ivecs", VECTORS)
        self.prints(harness.topk("select", path, "-k", 3).out, "select", "-", "-k", 3, "--format", "ivecs",
                    stdin=VECTORS, env={"LD_PRELOAD": os.environ["FAULTY_FILES"], "FAULT": "writes"})


if __name__ == "__main__":
    harness.main()
