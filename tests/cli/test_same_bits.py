# SPDX-License-Identifier: Apache-2.0
"""A GPU's answers are the CPU's, bit for bit, over many inputs, options and sizes of pieces."""

import os
import random
import sys

import harness
from harness import NATIVE, npy_header

SEED = 20240717
JOBS = int(os.environ.get("JOBS", "40"))
DEVICE = {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES")}  # as it is outside the tests


def elements(rng, code, size, count):
    """Bytes of elements: any bits, or a few values only, so that many are equal."""
    if rng.random() < 0.5:
        return rng.randbytes(size * count)
    few = [rng.randbytes(size) for _ in range(rng.randint(1, 5))] + [bytes(size)]
    return b"".join(rng.choice(few) for _ in range(count))


class SameBits(harness.Case):
    def both(self, *arguments, env=None, **keywords):
        """The tool's answers on the CPU and on the GPU, with the arrays that they leave."""
        answers = []
        if arguments[0] == "kth":
            arguments += ("--padding",)
        for device in ("cpu", "cuda"):
            result = harness.topk(*arguments, "--device", device, env=env or DEVICE, **keywords)
            self.assertEqual((result.status, result.err), (0, ""), (device, arguments))
            arrays = [self.read(argument[len(self.folder) + 1:]) for argument in arguments
                      if isinstance(argument, str) and argument.startswith(self.path("out"))]
            answers.append((result.out, arrays))
        self.assertEqual(answers[0], answers[1], arguments)

    def options(self, rng):
        options = []
        for option in (["--smallest"], ["--magnitude"], ["--nan", "last"]):
            if rng.random() < 0.4:
                options += option
        if rng.random() < 0.6:
            options += ["--piece-bytes", rng.choice([1, 8, 50, 333, 1000, 8192, 100000])]
        return options

    def k_of(self, rng, cols):
        return rng.choice([0, 1, 2, cols // 2, max(cols - 1, 0), cols, cols + 1, cols + 40, rng.randint(0, cols + 5)])

    def matrix(self, rng):
        """A file, what names its type, and the length of its rows."""
        _, descr, code = rng.choice(NATIVE)
        size = int(descr[2:])
        rows, cols = rng.choice([(1, 1), (1, 700), (1, 20000), (3, 50), (40, 33), (200, 4), (2, 3000), (5, 0), (0, 4)])
        data = elements(rng, code, size, rows * cols)
        if rng.random() < 0.25:
            header = harness.npy_header(descr, (rows, cols), align=1)  # elements lie where its length puts them
            return self.write("x.npy", header + data), cols
        shape = (cols,) if rows == 1 else (rows, cols)
        return self.write("x.npy", npy_header(descr, shape) + data), cols

    def test_select(self):
        rng = random.Random(SEED)
        for _ in range(JOBS):
            path, cols = self.matrix(rng)
            outputs = rng.choice([[], ["--json"], ["--values", self.path("out1")], ["--indices", self.path("out2")],
                                  ["--values", self.path("out1"), "--indices", self.path("out2")]])
            self.both("select", path, "-k", self.k_of(rng, cols), *self.options(rng), *outputs)

    def test_kth(self):
        rng = random.Random(SEED + 1)
        for _ in range(JOBS):
            path, cols = self.matrix(rng)
            self.both("kth", path, "-k", self.k_of(rng, cols), *self.options(rng))

    def test_text(self):
        rng = random.Random(SEED + 2)
        for _ in range(max(JOBS // 10, 1)):
            count = rng.choice([1, 5, 1000])
            lines = "".join("%s\n" % rng.choice([rng.randint(-9, 9), rng.random(), "nan", "-inf"]) for _ in range(count))
            for command in ("select", "kth"):
                self.both(command, "-", "-k", self.k_of(rng, count), stdin=lines.encode())

    def test_text_with_predicates(self):
        rng = random.Random(SEED + 8)
        for _ in range(max(JOBS // 10, 1)):
            count = rng.choice([1, 5, 1000])
            lines = "".join("%s\n" % rng.choice([rng.randint(-9, 9), rng.random(), "nan", "-inf"]) for _ in range(count))
            for outputs in ([], ["--values", self.path("out1"), "--indices", self.path("out2")]):
                self.both("select", "-", "-k", self.k_of(rng, count), rng.choice(["--gt", "--le", "--ne"]),
                          rng.choice([-20, 0, 0.5]), *outputs, stdin=lines.encode())

    def test_predicates_in_streams(self):
        rng = random.Random(SEED + 9)
        for _ in range(max(JOBS // 4, 2)):
            path, cols = self.matrix(rng)
            outputs = rng.choice([[], ["--values", self.path("out1")], ["--indices", self.path("out2")]])
            self.both("select", path, "-k", self.k_of(rng, cols), rng.choice(["--gt", "--le", "--ne"]),
                      rng.choice([-20, 0, 0.5, 100]), *self.options(rng), *outputs)

    def test_rows_in_many_pieces(self):
        """Results come a few pieces later than their rows."""
        rng = random.Random(SEED + 11)
        path = self.write("x.npy", npy_header("<i2", (70, 30)) + rng.randbytes(4200))
        for piece in (60, 100, 500, 4140, 4200):
            for k in (1, 30, 33):
                for outputs in ([], ["--values", self.path("out1")], ["--indices", self.path("out2")],
                                ["--values", self.path("out1"), "--indices", self.path("out2")]):
                    predicate = rng.choice([[], ["--gt", 0], ["--lt", -30000]])
                    self.both("select", path, "-k", k, *predicate, *outputs, "--piece-bytes", piece)

    def test_states_that_do_not_fit(self):
        """The CPU has accumulators that the device lacks, or has no memory for. A real device has both."""
        rng = random.Random(SEED + 10)
        path = self.write("x.npy", npy_header("<f4", (20000,)) + rng.randbytes(80000))
        for env in ({"FAKE_DEVICE_PLAIN": "1"}, {"FAKE_DEVICE_BYTES": str(700000)}):
            for k in (10, 6000, 20000):
                for predicate in ([], ["--gt", 0]):
                    self.both("select", path, "-k", k, *predicate, "--piece-bytes", 9999, env={**DEVICE, **env})
                self.both("kth", path, "-k", k, "--piece-bytes", 9999, env={**DEVICE, **env})

    def test_slots_without_early_memory(self):
        """Memory that cannot be pinned while the device starts is pinned later."""
        rng = random.Random(SEED + 12)
        path = self.write("x.npy", npy_header("<f4", (20000,)) + rng.randbytes(80000))
        for piece in (900, 2500, 100000):
            for command in ("select", "kth"):
                self.both(command, path, "-k", 10, "--piece-bytes", piece, env={**DEVICE, "FAKE_DEVICE_LATE": "1"})

    def test_several_places(self):
        """Each is what it is alone."""
        rng = random.Random(SEED + 13)
        places = ["1", "50%", "4500", "0", "99%", "2", "10%"]
        quantiles = [".5", "0", ".123", "1", ".5", ".999"]
        for rows, cols in ((1, 9000), (3, 5000), (40, 33)):
            _, descr, code = rng.choice(NATIVE)
            data = elements(rng, code, int(descr[2:]), rows * cols)
            path = self.write("x.npy", npy_header(descr, (rows, cols)) + data)
            for option, asked in (("-k", places), ("--quantile", quantiles)):
                for more in [[], ["--ne", 0], ["--smallest", "--magnitude"]][:3 if option == "-k" else 2]:
                    self.both("kth", path, option, ",".join(asked), *more)
                    alone = [harness.topk("kth", path, option, place, "--padding", *more).out.splitlines(True) for place in asked]
                    expected = b"".join(lines[row] for row in range(rows) for lines in alone)
                    self.prints(expected, "kth", path, option, ",".join(asked), "--padding", *more)

    def test_several_places_share_a_read(self):
        env = {**DEVICE, "FAKE_DEVICE_COUNTS": "1"}
        path = self.write("x.npy", npy_header("<f4", (2, 6000)) + random.Random(SEED + 14).randbytes(48000))
        for device, counts in (("cpu", "1 runs, 0 uploads\n"), ("cuda", "3 runs, 1 uploads\n")):
            result = harness.topk("kth", path, "-k", "1,50%,9", "--device", device, env=env)
            if result.err == "":
                self.skipTest("the device counts no calls")
            self.assertEqual((result.status, result.err), (0, counts))

    def test_many_lines(self):
        if JOBS < 10:
            self.skipTest("more than one chunk of lines is much for an emulated GPU")
        lines = b"".join(b"%d\n" % (i * 48271 % 65537) for i in range(300000))
        for k in (1000, 200000, 10**12):
            self.both("select", "-", "-k", k, stdin=lines)
            self.both("kth", "-", "-k", k, stdin=lines)

    def test_fvecs(self):
        rng = random.Random(SEED + 3)
        dimension = (7).to_bytes(4, "little")
        path = self.write("x.fvecs", b"".join(dimension + rng.randbytes(28) for _ in range(100)))
        for k in (1, 3, 7, 9):
            for pieces in ([], ["--piece-bytes", 300], ["--piece-bytes", 12]):
                self.both("select", path, "-k", k, *pieces)
                self.both("kth", path, "-k", k, *pieces)
        for pieces in ([], ["--piece-bytes", 300], ["--piece-bytes", 12]):
            self.both("mask", path, "--gt", 0, *pieces)

    def test_eight_bits(self):
        rng = random.Random(SEED + 4)
        for dtype in ("float8_e4m3", "float8_e5m2", "bfloat16"):
            path = self.write("x.raw", rng.randbytes(6000))
            for pieces in ([], ["--piece-bytes", 500]):
                self.both("select", path, "--dtype", dtype, "-k", 700, "--values", self.path("out1"), *pieces)
                self.both("kth", path, "--dtype", dtype, "-k", 700, *pieces)

    def test_pieces_fit(self):
        rng = random.Random(SEED + 6)
        path = self.write("x.npy", npy_header("|u1", (200000,)) + rng.randbytes(200000))
        env = {**DEVICE, "FAKE_DEVICE_BYTES": str(44 << 20)}  # a real device has enough
        for k in (10, 50000, 200000, 200001):
            self.both("select", path, "-k", k, "--values", self.path("out1"), "--indices", self.path("out2"), env=env)
            self.both("kth", path, "-k", k, env=env)

    def test_tuning(self):
        rng = random.Random(SEED + 7)
        path = self.write("x.npy", npy_header("<f4", (3000,)) + rng.randbytes(12000))
        if b"knob alpha" not in harness.topk("explain", path, "-k", 1, "--device", "cuda", env=DEVICE).out:
            self.skipTest("no method of this device has knobs")
        lines = b"".join(b"%d\n" % (i * 48271 % 65537) for i in range(900))
        tunings = ["alpha=4", "adaptive_buffering=0,digit_bits=5", "early_stop=0", "fused_filter=1,alpha=4,digit_bits=3"]
        commands = [(["select", path, "-k", 40], tunings), (["select", path, "-k", 3005], tunings),
                    (["select", path, "-k", 40, "--piece-bytes", 5000], tunings), (["kth", path, "-k", 40], tunings),
                    (["kth", path, "-k", 40, "--piece-bytes", 5000], tunings), (["select", "-", "-k", 40], tunings),
                    (["kth", "-", "-k", 40], tunings), (["select", path, "-k", 40, "--gt", 0], tunings),
                    (["where", path, "--gt", 0], ["one_pass=0", "one_pass=1"])]
        for command, each in commands:
            untuned = harness.topk(*command, "--device", "cpu", stdin=lines, env=DEVICE)
            self.assertEqual((untuned.status, untuned.err), (0, ""), command)
            for tuning in each:
                self.prints(untuned.out, *command, "--device", "cuda", "--tuning", tuning, stdin=lines, env=DEVICE)
        self.fails("--device cuda: .*'air': takes alpha 4 or more, not 3", "select", path, "-k", 1, "--device", "cuda",
                   "--tuning", "alpha=3", env=DEVICE)

    def test_where_if_served(self):
        rng = random.Random(SEED + 5)
        path = self.write("x.npy", npy_header("<f4", (30, 40)) + rng.randbytes(4800))
        env = {**DEVICE, "FAKE_DEVICE_WHERE": "1"}
        if harness.topk("where", path, "--gt", 0, "--device", "cuda", env=env).status != 0:
            self.skipTest("the device has no topk_where()")
        for pieces in ([], ["--piece-bytes", 500]):
            for bound in ("--gt", "--ne"):
                self.both("where", path, bound, 0, *pieces, env=env)

    def test_predicates_if_served(self):
        rng = random.Random(SEED + 7)
        path = self.write("x.npy", npy_header("<f4", (30, 40)) + rng.randbytes(4800))
        for command in (["count", path], ["mask", path], ["select", path, "-k", 1]):
            if harness.topk(*command, "--gt", 0, "--device", "cuda", env=DEVICE).status != 0:
                self.skipTest("the device has no topk_count(), topk_mask() or topk_select_where()")
        for pieces in ([], ["--piece-bytes", 500], ["--piece-bytes", 50]):
            for bound in ("--gt", "--ne"):
                self.both("count", path, bound, 0, *pieces)
                self.both("mask", path, bound, 0, *pieces)
                self.both("mask", path, bound, 0, *pieces, "--bits", self.path("out1"))
                for k in (1, 10, 40, 50):
                    self.both("select", path, "-k", k, bound, 0, "--nan", "last", *pieces)
                    self.both("select", path, "-k", k, bound, 0, *pieces, "--values", self.path("out1"),
                              "--indices", self.path("out2"))

    def test_auto(self):
        """The device where it serves, the CPU where it does not."""
        path = self.write("x.npy", npy_header("<f4", (3,)) + harness.pack("f", [1, 3, 2]))
        self.assertIn(b"\nchosen    cuda:0\n", harness.topk("info", env=DEVICE).out)
        self.assertIn(b"\ndevice    cuda:0\n", harness.topk("explain", path, "-k", 1, env=DEVICE).out)
        self.prints("1\t3\n", "select", path, "-k", 1, env=DEVICE)
        self.prints("1\t3\n", "where", path, "--gt", 2, env=DEVICE)
        self.prints("2\t2\n", "select", path, "-k", 1, "--lt", 3, env=DEVICE)
        self.prints("2\n", "count", path, "--lt", 3, env=DEVICE)
        self.prints("1\n0\n1\n", "mask", path, "--lt", 3, env=DEVICE)
        self.assertIn(b"\nchosen    cpu\n", harness.topk("info", "--device", "cpu", env=DEVICE).out)
        self.fails(".*", "select", path, "-k", 1, "--device", "cuda:99", env=DEVICE)


if harness.topk("info", "--device", "cuda", env=DEVICE).status != 0:
    print("skipped: no GPU that the tool can use")
    sys.exit(77)
if __name__ == "__main__":
    harness.main()
