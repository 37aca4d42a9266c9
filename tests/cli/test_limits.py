# SPDX-License-Identifier: Apache-2.0
"""Bounded memory: streams and files of any length, within what the tool promises.

By default inputs that take seconds; with --full the promised sizes, 10^8 lines and 8 GiB, as sparse files."""

import os
import resource
import struct
import subprocess
import sys
import tempfile

import harness
from harness import npy_header, npy_read, unpack

FULL = "--full" in sys.argv
if FULL:
    sys.argv.remove("--full")

LINES = 10 ** 8 if FULL else 10 ** 7
FILE_BYTES = 8 << 30 if FULL else 1 << 30
PIECE_BYTES = [] if FULL else ["--piece-bytes", 32 << 20]
FILE_MIB_MAX = 1024 if FULL else 160

# Line i is FACTOR^(i + 1) modulo MODULUS: no two of them are equal, and awk computes them exactly.
MODULUS, FACTOR = 2147483647, 48271


def best_lines(k):
    """The k largest lines, best first, block by block."""
    import numpy
    block = 1 << 20
    powers = numpy.empty(block, numpy.int64)
    x = 1
    for i in range(block):
        x = powers[i] = x * FACTOR % MODULUS
    best = []
    for begin in range(0, LINES, block):
        values = powers[:LINES - begin]
        largest = numpy.argsort(-values, kind="stable")[:k]
        best = sorted(best + [(-int(values[i]), begin + int(i)) for i in largest])[:k]
        powers = powers * pow(FACTOR, block, MODULUS) % MODULUS
    return ["%d\t%d" % (i, -value) for value, i in best]


def peak_mib(arguments, stdin=None):
    """Runs the tool in a child of its own, whose children's peak is the tool's: anonymous and mapped pages."""
    script = ("import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=sys.stderr); "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode)")
    done = subprocess.run([sys.executable, "-c", script, harness.TOPK, *map(str, arguments), "--device", "cpu"],
                          stdin=stdin, capture_output=True, check=True)
    peak, status = done.stdout.split()
    return int(peak) / 1024, int(status), done.stderr.decode()


class Streams(harness.Case):
    def test_standard_input(self):
        awk = ("BEGIN { x = 1; for (i = 0; i < %d; i++) { x = x * %d %% %d; print x } }" % (LINES, FACTOR, MODULUS))
        numbers = self.path("numbers")
        with open(numbers, "wb") as file:
            subprocess.run(["awk", awk], stdout=file, check=True)
        with subprocess.Popen(["cat", numbers], stdout=subprocess.PIPE) as cat:
            peak, status, out = peak_mib(["select", "-", "-k", 100], cat.stdout)
        print("peak of select: %.1f MiB" % peak)
        self.assertEqual(status, 0)
        self.assertEqual(out.splitlines(), best_lines(100))
        self.assertLess(peak, 64)
        for command in (["kth", "-", "-k", 100], ["where", "-", "--gt", MODULUS - 1000]):
            with subprocess.Popen(["cat", numbers], stdout=subprocess.PIPE) as cat:
                peak, status, out = peak_mib(command, cat.stdout)
            print("peak of %s: %.1f MiB" % (command[0], peak))
            self.assertEqual(status, 0)
            self.assertLess(peak, 64)


class LargeK(harness.Case):
    """What a stream takes grows with what arrives, not with k."""

    COMMANDS = (["select", "-"], ["select", "-", "--gt", 0], ["select", "-", "--field", 1, "--unsorted"],
                ["kth", "-", "--padding"],
                ["explain", "-"])

    def limited(self, *arguments):
        """Runs the tool on ten lines, with little address space, which bounds what is never touched as well. A library
        with kernels for many GPUs fits in that, too."""
        limit = 512 << 20
        result = harness.topk(*arguments, "--threads", 1, "--device", "cpu",
                              stdin=b"".join(b"%d\n" % (i * FACTOR % 97) for i in range(10)),
                              preexec=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual((result.status, result.err), (0, ""), arguments)
        return result.out

    def test_few_lines(self):
        for command in self.COMMANDS[:-1]:
            expected = self.limited(*command, "-k", 11)
            for k in (10**8, 2**62, 2**63 - 1):
                self.assertEqual(self.limited(*command, "-k", k), expected)

    def test_padding(self):
        few, many = 1000, 20000000
        for k in (few, many):
            self.limited("select", "-", "-k", k, "--values", self.path("v%d" % k), "--indices", self.path("i%d" % k))
        for name, code, padding in (("v", "d", float("-inf")), ("i", "q", -1)):
            short, long = (npy_read(self.read("%s%d" % (name, k))) for k in (few, many))
            self.assertEqual((short[1], long[1]), ((few,), (many,)))
            self.assertEqual(long[2], short[2] + harness.pack(code, [padding]) * (many - few))
            self.assertEqual(harness.pack(code, [padding]) * (few - 10), short[2][80:])

    def test_many_lines(self):
        count = 10**6
        numbers = self.write("many", b"".join(b"%d\n" % (i * FACTOR % MODULUS) for i in range(count)))
        for command in self.COMMANDS:
            outputs = []
            for k in (count, 10**9):
                with subprocess.Popen(["cat", numbers], stdout=subprocess.PIPE) as cat:
                    peak, status, out = peak_mib([*command, "-k", k], cat.stdout)
                print("peak of %s, k = %d: %.1f MiB" % (" ".join(map(str, command)), k, peak))
                self.assertEqual(status, 0)
                self.assertLess(peak, 256)
                outputs.append(out)
            if command[0] == "select":
                self.assertEqual(outputs[0], outputs[1])
            if command[0] == "kth":
                self.assertEqual(outputs[1], "-inf\t%d\t0\n" % count)

    def test_too_much_is_refused(self):
        """The refusal comes before the read, so it takes no time. The made-up system has no control groups."""
        count = 1 << 26
        path = self.write("x.npy", npy_header("|u1", (count,)))
        with open(path, "r+b") as file:
            file.truncate(len(npy_header("|u1", (count,))) + count)
        limit = 1 << 30
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.fails("out of memory: the results of -k take 2048 MiB, and there are 1024", "select", path, "-k", count,
                   "--piece-bytes", 1 << 20, "--threads", 1, "--values", self.path("v.npy"),
                   preexec=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
                   env={"LD_PRELOAD": os.environ["FAULTY_FILES"], "FAULT": "system", "SYSTEM": self.folder})
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 1)


class AddressSpace(harness.Case):
    """Files that are larger than the address space, which cannot be mapped: the same answers, read in pieces."""

    LIMIT = 192 << 20

    def both(self, *arguments, most=LIMIT):
        results = [harness.topk(*arguments, "--threads", 1, "--device", "cpu", preexec=limit)
                   for limit in (None, lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))]
        self.assertEqual((results[1].status, results[1].out, results[1].err), (results[0].status, results[0].out, results[0].err))
        self.assertEqual(results[0].status, 0)
        self.assertNotEqual(results[0].out, b"")

    def sparse(self, name, head, size, marks):
        path = self.write(name, head)
        with open(path, "r+b") as file:
            file.truncate(size)
            for at, data in marks:
                file.seek(at)
                file.write(data)
        return path

    def test_room_for_little_more_than_the_file(self):
        """A mapping that takes what results need helps nobody."""
        count = 20 << 20
        head = npy_header("<f4", (count,))
        path = self.sparse("x.npy", head, len(head) + 4 * count, [(len(head) + 4 * at, struct.pack("<f", at)) for at in (7, count - 1)])
        for mib in (88, 100, 120, 160, 240, 320):
            for command in (["select", "-k", 3], ["kth", "-k", 2], ["where", "--ne", 0]):
                self.both(command[0], path, *command[1:], most=mib << 20)

    def test_arrays(self):
        count = self.LIMIT // 4 + 12345
        head = npy_header("<f4", (count,))
        marks = [(len(head) + 4 * at, struct.pack("<f", value)) for at, value in ((7, 2.5), (count // 2, -3), (count - 1, 9.0))]
        vector = self.sparse("x.npy", head, len(head) + 4 * count, marks)
        rows = self.sparse("x.raw", b"", 4 * 1000 * (count // 1000), [(at, data) for at, data in marks[:2]])
        stride = 4 * 1001
        vectors = self.sparse("x.fvecs", b"", stride * (self.LIMIT // stride + 5), [])
        with open(vectors, "r+b") as file:
            for row in range(self.LIMIT // stride + 5):
                file.seek(row * stride)
                file.write(struct.pack("<i", 1000))
            file.seek(stride * 777 + 40)
            file.write(struct.pack("<f", 5))
        matrix = ["--dtype", "f32", "--cols", 1000]
        for command in (["select", "-k", 3], ["kth", "-k", 2], ["kth", "-k", count // 2], ["where", "--ne", 0], ["count", "--gt", 0],
                        ["select", "-k", 2, "--gt", 1]):
            self.both(command[0], vector, *command[1:])
        for command in (["where", "--ne", 0], ["select", "-k", 1, "--gt", 1]):
            self.both(command[0], rows, *command[1:], *matrix)
            self.both(command[0], vectors, *command[1:])
        with open(vectors, "r+b") as file:
            file.seek(stride * 900)
            file.write(struct.pack("<i", 999))
        self.fails(".*: byte %d: vector 900 has dimension 999, others have 1000" % (stride * 900), "count", vectors, "--gt", 0,
                   "--threads", 1, preexec=lambda: resource.setrlimit(resource.RLIMIT_AS, (self.LIMIT, self.LIMIT)))

    def test_text(self):
        numbers = self.sparse("x.txt", b"1\n", self.LIMIT + (1 << 20), [])
        with open(numbers, "r+b") as file:
            line = b"%s\n" % (b"7" + b" " * 4094)
            for _ in range((self.LIMIT + (1 << 20)) // 4096):
                file.write(line)
            file.truncate(file.tell())
        self.both("count", numbers, "--gt", 6)


class ControlGroups(harness.Case):
    """What a control group allows, by made-up files of the system: 128 MiB of results are refused, or not."""

    def select(self, groups, limits, *arguments):
        """`groups` is /proc/self/cgroup, and `limits` has files of /sys/fs/cgroup, with numbers in MiB."""
        system = tempfile.mkdtemp(dir=self.folder)
        files = {"proc/self/cgroup": groups, **{"sys/fs/cgroup/" + name: text for name, text in limits.items()}}
        for name, text in files.items():
            path = os.path.join(system, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write(str(text << 20) if isinstance(text, int) else text)
        count = 1 << 22
        path = self.write("x.npy", npy_header("|u1", (count,)) + bytes(count))
        return harness.topk("select", path, "-k", count, "--piece-bytes", 1 << 20, "--values", "/dev/null", *arguments,
                            env={"LD_PRELOAD": os.environ["FAULTY_FILES"], "FAULT": "system", "SYSTEM": system})

    def test_limits(self):
        for groups, limits, mib in (
                ("0::/\n", {"memory.max": 127}, 127),
                ("0::/a/b\n", {"a/memory.max": 90, "a/b/memory.max": "max\n"}, 90),
                ("0::/a/b\n", {"memory.max": 80, "a/memory.max": 90, "a/b/memory.max": 127}, 80),
                ("0::/not/seen/inside\n", {"memory.max": 70}, 70),
                ("0::/" + 5000 * "a", {"memory.max": 65}, 65),
                ("5:cpu:/x\n4:memory:/a\n0::/\n", {"memory/a/memory.limit_in_bytes": 60, "x/memory.max": 1}, 60),
                ("0::/a b:memory:/c\n", {"a b:memory:/memory.max": 55}, 55),
                ("4:memory:/docker/5\n", {"memory/memory.limit_in_bytes": 50}, 50)):
            result = self.select(groups, limits)
            self.assertEqual((result.status, result.err),
                             (1, "topk: out of memory: the results of -k take 128 MiB, and there are %d\n" % mib))

    def test_no_limit(self):
        for groups, limits in (("", {}), ("0::/\n", {}), ("0::/a\n", {"a/memory.max": "max\n", "memory.max": 128}),
                               ("4:memory:/\n", {"memory/memory.limit_in_bytes": "9223372036854771712\n"}),
                               ("5:cpu:/a:memory:/b\n", {"memory/memory.limit_in_bytes": 1}),
                               ("0::/a\n", {"b/memory.max": 1})):
            result = self.select(groups, limits)
            self.assertEqual((result.status, result.err), (0, ""))

    def test_what_takes_less(self):
        """Results in any order take 9 bytes. With a predicate nobody knows how many there are."""
        for arguments, mib in ((["--unsorted"], 36), (["--gt", 0], 1)):
            result = self.select("0::/\n", {"memory.max": mib}, *arguments)
            self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(self.select("0::/\n", {"memory.max": 35}, "--unsorted").status, 1)


class Files(harness.Case):
    """A sparse file: zeros but for a few elements, whose positions are known."""

    def setUp(self):
        super().setUp()
        self.count = FILE_BYTES // 4
        header = npy_header("<f4", (self.count,))
        self.file = self.write("big.npy", header)
        self.positions = [self.count * i // 1000 for i in range(1, 1000)]
        with open(self.file, "r+b") as file:
            file.truncate(len(header) + FILE_BYTES)
            for position in self.positions:
                file.seek(len(header) + 4 * position)
                file.write(struct.pack("<f", position % 1009 + 1))
        self.values = dict((position, position % 1009 + 1) for position in self.positions)

    def check(self, expected, *arguments):
        peak, status, out = peak_mib([*arguments, *PIECE_BYTES])
        print("peak of %s: %.1f MiB" % (arguments[0], peak))
        self.assertEqual(status, 0, out)
        if expected is not None:
            self.assertEqual(out, expected)
        # The resident set holds mapped pages too, which the bound on memory does not count: this is stricter.
        self.assertLess(peak, FILE_MIB_MAX)

    def test_select(self):
        ordered = sorted(self.positions, key=lambda position: (-self.values[position], position))
        expected = "".join("%d\t%d\n" % (position, self.values[position]) for position in ordered[:500])
        self.check(expected, "select", self.file, "-k", 500)
        self.check("", "select", self.file, "-k", 1000, "--indices", self.path("i.npy"))
        zero = next(i for i in range(self.count) if i not in self.values)
        self.assertEqual(unpack("q", npy_read(self.read("i.npy"))[2]), ordered + [zero])

    def test_positions_beyond_32_bits(self):
        count = (1 << 31) + 5000
        file = self.write("wide.npy", npy_header("|u1", (count,)))
        with open(file, "r+b") as wide:
            begin = wide.seek(0, os.SEEK_END)
            wide.truncate(begin + count)
            for position in (7, (1 << 31) - 1, 1 << 31, count - 1):
                wide.seek(begin + position)
                wide.write(bytes([position % 251 + 1]))
        values = dict((position, position % 251 + 1) for position in (7, (1 << 31) - 1, 1 << 31, count - 1))
        ordered = sorted(values, key=lambda position: (-values[position], position))
        lines = ["%d\t%d\n" % (position, values[position]) for position in ordered]
        self.check("".join(lines[:3]), "select", file, "-k", 3)
        self.check("".join(lines), "select", file, "-k", 1000, "--gt", 0)

    def test_kth(self):
        ordered = sorted(self.values.values(), reverse=True)
        tenth = ordered[9]
        self.check("%d\t%d\t%d\n" % (tenth, sum(x > tenth for x in ordered), ordered.count(tenth)),
                   "kth", self.file, "-k", 10)
        self.check("0\t%d\t%d\n" % (len(ordered), self.count - len(ordered)), "kth", self.file, "-k", 5000)

    def test_where(self):
        expected = "".join("%d\t%d\n" % (position, self.values[position]) for position in self.positions)
        self.check(expected, "where", self.file, "--ne", 0)

    def test_mask(self):
        self.check("", "mask", self.file, "--ne", 0, "--bits", self.path("b.npy"))
        _, shape, bits = npy_read(self.read("b.npy"))
        self.assertEqual(shape, (self.count // 8,))
        self.assertEqual([8 * i + bit for i, byte in enumerate(bits) if byte for bit in range(8) if byte >> bit & 1],
                         self.positions)


if __name__ == "__main__":
    harness.main()
