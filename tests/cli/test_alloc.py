# SPDX-License-Identifier: Apache-2.0
"""Memory that runs out: each allocation of small jobs fails in turn, with all that follow it."""

import os

import harness
from harness import npy_header, pack

SHIM = os.environ["FAILING_ALLOC"]
LIMIT = 500


class Sweep(harness.Case):
    def sweep(self, *arguments, stdin=b""):
        """Fails allocation 1, 2, ... until the job no longer gets so far."""
        arguments += ("--threads", 1, "--device", "cpu")
        good = harness.topk(*arguments, stdin=stdin)
        self.assertEqual((good.status, good.err), (0, ""))
        written = {name: self.read(name) for name in os.listdir(self.folder)}
        outputs = [name for name in written if name.startswith("out")]
        failures = 0
        for at in range(1, LIMIT):
            for name in outputs:
                if os.path.exists(self.path(name)):
                    os.unlink(self.path(name))
            result = harness.topk(*arguments, stdin=stdin, env={"LD_PRELOAD": SHIM, "FAIL_AT": str(at)})
            if result.status == 0:
                self.assertEqual((result.out, result.err), (good.out, ""))
                self.assertEqual({name: self.read(name) for name in os.listdir(self.folder)}, written)
                break
            failures += 1
            self.assertEqual(result.status, 1, (at, result.err))
            self.assertRegex(result.err, r"\Atopk: [^\n]*(memory|allocate)[^\n]*\n\Z", at)
            self.assertEqual(sorted(os.listdir(self.folder)), sorted(set(written) - set(outputs)), at)
        self.assertGreater(failures, 3)
        self.assertLess(failures, LIMIT - 1)

    def test_text(self):
        text = b"".join(b"%d\n" % (i * 7919 % 1000) for i in range(1000))
        self.sweep("select", "-", "-k", 5, stdin=text)
        self.sweep("kth", "-", "-k", 5, stdin=text)
        self.sweep("where", "-", "--gt", 990, stdin=text)
        self.sweep("select", "-", "-k", 3, "--lt", 990, stdin=text)
        self.sweep("count", "-", "--gt", 990, stdin=text)
        self.sweep("count", "-", "--gt", 990, "--ne", 995, stdin=text)
        self.sweep("select", "-", "-k", 3, "--field", 1, "--if", "1<990", stdin=text)
        self.sweep("explain", "-", "-k", 5, stdin=text)
        self.sweep("mask", "-", "--gt", 990, "--bits", self.path("out.npy"), stdin=text)

    def test_files(self):
        path = self.write("x.npy", npy_header("<f4", (10, 30)) + pack("f", [i * 7919 % 300 for i in range(300)]))
        for piece in ([], ["--piece-bytes", 100]):
            self.sweep("select", path, "-k", 5, *piece)
            self.sweep("kth", path, "-k", 5, *piece)
            self.sweep("where", path, "--gt", 290, *piece)
            self.sweep("select", path, "-k", 3, "--lt", 290, *piece)
            self.sweep("count", path, "--gt", 290, *piece)
            self.sweep("kth", path, "-k", 3, "--gt", 200, "--ne", 290, *piece)
            self.sweep("mask", path, "--gt", 290, *piece)
        self.sweep("select", path, "-k", 5, "--values", self.path("out.npy"), "--indices",
                   self.path("out2.npy"))

    def test_pipes(self):
        for order in ("False", "True"):
            array = npy_header("<f4", (10, 30), order=order) + pack("f", range(300))
            for piece in ([], ["--piece-bytes", 100]):
                self.sweep("select", "-", "-k", 5, *piece, stdin=array)

    def test_arrays_beyond_every_disk(self):
        path = self.write("x.npy", npy_header("<f4", (3,)) + pack("f", [1, 2, 3]))
        for k in (1 << 50, (1 << 63) - 1):
            for source in (path, "-"):
                self.fails(self.path("v.npy") + ": (File too large|No space left on device)", "select", source, "-k", k,
                           "--values", self.path("v.npy"), stdin=b"1\n2\n")
        self.assertEqual(os.listdir(self.folder), ["x.npy"])


if __name__ == "__main__":
    harness.main()
