# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command-line tool share: running it, writing files, and an oracle of its own."""

import ast
import bisect
import itertools
import math
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

TOPK = os.environ.get("TOPK", "build/topk")

# name, npy descr, struct code
NATIVE = [
    ("f16", "<f2", "e"), ("f32", "<f4", "f"), ("f64", "<f8", "d"),
    ("i8", "|i1", "b"), ("i16", "<i2", "h"), ("i32", "<i4", "i"), ("i64", "<i8", "q"),
    ("u8", "|u1", "B"), ("u16", "<u2", "H"), ("u32", "<u4", "I"), ("u64", "<u8", "Q"),
]


class Result:
    def __init__(self, status, out, err, rss_kib):
        self.status = status
        self.out = out
        self.err = err
        self.rss_kib = rss_kib


FEWER = int(os.environ.get("FEWER", "1"))
turns = itertools.count()


def some(items):
    """All of them; or, where a script runs once more (on another device, under a sanitizer), one of FEWER by turns."""
    return [item for item in items if next(turns) % FEWER == 0]


class Limits:
    """Of one run of the tool. Past them it hangs, and the script's other tests are left out: they may hang as well."""
    clock_seconds = 1200 # for a run that waits for ever
    passed = False

    @staticmethod
    def processor(seconds):
        """However busy the machine is. The script has that limit too, and all that it runs inherits it: a function that
        sets it in each child would take twice as long as most runs, for Python then forks."""
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))


Limits.processor(300)


def topk(*arguments, stdin=b"", env=None, preexec=None, stdout=subprocess.PIPE):
    """Runs the tool to its end, without a GPU unless the environment asks for it: None removes a variable."""
    environment = dict(os.environ)
    for name in ("TOPK_METHOD", "TOPK_CPU_DISABLE"):
        environment.pop(name, None)
    environment.update({"CUDA_VISIBLE_DEVICES": "", **(env or {})})
    environment = {name: value for name, value in environment.items() if value is not None}

    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    keywords = {"stdin": stdin} if not isinstance(stdin, bytes) else {"input": stdin}
    try:
        done = subprocess.run([TOPK, *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE, env=environment,
                              preexec_fn=preexec, check=False, timeout=Limits.clock_seconds, **keywords)
    except subprocess.TimeoutExpired:
        Limits.passed = True
        raise
    Limits.passed |= done.returncode == -signal.SIGXCPU
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return Result(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), max(before, after))


def npy_header(descr, shape, version=(1, 0), order="False", align=64):
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, order, tuple(shape))
    return npy_raw_header(text, version, align)


def npy_raw_header(text, version=(1, 0), align=64):
    preamble = 10 if version[0] == 1 else 12
    text += " " * (-(preamble + len(text) + 1) % align) + "\n"
    length = struct.pack("<H" if version[0] == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text.encode("utf-8")


def npy_read(data):
    """The descr, shape and elements' bytes of an .npy file of version 1.0."""
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    end = 10 + struct.unpack("<H", data[8:10])[0]
    assert end % 64 == 0 and data[end - 1:end] == b"\n"
    header = ast.literal_eval(data[10:end].decode("ascii"))
    assert header["fortran_order"] is False
    return header["descr"], header["shape"], data[end:]


def pack(code, values):
    return struct.pack("<%d%s" % (len(values), code), *values)


def unpack(code, data):
    return list(struct.unpack("<%d%s" % (len(data) // struct.calcsize(code), code), data))


def packed(flags):
    """A bit mask: element i has bit i % 8, lowest first, of byte i / 8."""
    return bytes(sum(flag << i for i, flag in enumerate(flags[at:at + 8])) for at in range(0, len(flags), 8))


def rank_key(value, smallest=False, magnitude=False, nan_last=False):
    """Sorts best first; equal elements compare equal."""
    if value != value:
        return (2, 0) if nan_last or smallest else (0, 0)
    if magnitude:
        value = abs(value)
    return (1, value if smallest else -value)


class Ranking:
    """Values in order, by a stable sort, for several k."""

    def __init__(self, values, **options):
        keys = [rank_key(value, **options) for value in values]
        self.order = sorted(range(len(values)), key=keys.__getitem__)
        self.keys = [keys[at] for at in self.order]

    def best(self, k):
        """The positions of the k best."""
        return self.order[:k]

    def kth(self, k):
        """Position of the k-th (or of the last), and how many are better and equal."""
        at = min(k, len(self.order)) - 1
        better = bisect.bisect_left(self.keys, self.keys[at])
        return self.order[at], better, bisect.bisect_right(self.keys, self.keys[at]) - better


def best(values, k, **options):
    return Ranking(values, **options).best(k)


def kth(values, k, **options):
    return Ranking(values, **options).kth(k)


def shortest(value, code):
    """The shortest decimal that reads back as a native float, as the tool lays it out."""
    if value != value:
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if code == "d":
        text = repr(value)
    else:
        import numpy
        text = str({"f": numpy.float32, "e": numpy.float16}[code](value))
        # numpy picks its notation by its own limits; repr's are the tool's.
        if text.lower() != text or "e" in text or not -1e16 < value < 1e16:
            text = repr(float(text))
    return text[:-2] if text.endswith(".0") else text


def text_of(value, code):
    return shortest(value, code) if code in "efd" else str(value)


class Case(unittest.TestCase):
    """Each test has a folder of its own, in which nothing is left unless the test made it."""

    maxDiff = 2000

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="topk-cli-")
        self.addCleanup(shutil.rmtree, self.folder)

    def run(self, result=None):
        result = super().run(result)
        if Limits.passed and not result.wasSuccessful():
            result.stop()
        return result

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode("utf-8"))
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def prints(self, expected, *arguments, **keywords):
        """The tool succeeds with that output (None: it goes elsewhere) and says nothing else."""
        result = topk(*arguments, **keywords)
        self.assertEqual(result.err, "")
        self.assertEqual(result.status, 0)
        if isinstance(expected, str):
            expected = expected.encode("utf-8")
        self.assertEqual(result.out, expected)
        return result

    def fails(self, expected, *arguments, status=1, **keywords):
        """The tool fails with exactly that line (a regular expression) and no output."""
        result = topk(*arguments, **keywords)
        self.assertRegex(result.err, r"\Atopk: " + expected + r"\n\Z")
        self.assertEqual(result.err.count("\n"), 1)
        self.assertEqual(result.status, status)
        self.assertEqual(result.out or b"", b"")
        return result


def main():
    unittest.main(argv=[sys.argv[0], "-v"] + sys.argv[1:])
