# SPDX-License-Identifier: Apache-2.0
"""scripts/demo, with the programs of this build: its checks notice each wrong result. And how it shows a build."""

import contextlib
import os
import pty
import re
import shutil
import subprocess

import harness

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/demo")
EXAMPLES = os.path.abspath(os.environ["EXAMPLES"])  # the folder of make_npy and check_by_sort

# The tool, but lines 2 and 3 change places where its arguments have these words.
WRONG_TOOL = """#!/bin/sh
case "$*" in
*{words}*) "{tool}" "$@" | sed '2{{h;d}};3G' ;;
*) "{tool}" "$@" ;;
esac
"""

# What a build prints.
CMAKE = """#!/bin/sh
if [ "$1" = --build ]; then
    printf '[  9%%] one\\n[ 55%%] two\\n[ 58%%] three\\nsome words\\n'
    exit {status}
fi
"""


def has_gpu():
    info = subprocess.run([harness.TOPK, "info"], capture_output=True, text=True).stdout
    return re.search("^chosen +cuda", info, re.M) is not None


class Demo(harness.Case):
    def script(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def quick(self):
        """With the tool that lies in the test's folder."""
        os.symlink(EXAMPLES, os.path.join(self.folder, "examples"))
        try:
            return subprocess.run([DEMO, "--quick", self.folder], capture_output=True, text=True)
        finally:
            os.unlink(os.path.join(self.folder, "examples"))

    def test_right(self):
        os.symlink(os.path.abspath(harness.TOPK), os.path.join(self.folder, "topk"))
        done = self.quick()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\nchecked: 1000 results are .*; all numbers differ\n")
        self.assertTrue(done.stdout.endswith("\nAll results were right.\n"))
        on_gpu = has_gpu()
        self.assertEqual("checked: the same results, byte by byte\n" in done.stdout, on_gpu)
        self.assertEqual("No GPU that this build can use" in done.stdout, not on_gpu)

    def test_wrong(self):
        for words in "--field 1", "-k 1000", "--between", "rows.npy", *["--device cuda"] * has_gpu():
            with self.subTest(words):
                self.script("topk", WRONG_TOOL.format(words=words, tool=os.path.abspath(harness.TOPK)))
                done = self.quick()
                self.assertNotEqual(done.returncode, 0)
                self.assertNotIn("All results were right", done.stdout)

    def build(self, status, **output):
        demo = os.path.join(self.folder, "scripts/demo")
        self.script("scripts/install-deps", "#!/bin/sh\n")
        shutil.copy(DEMO, demo)
        os.makedirs(os.path.join(self.folder, "build"), exist_ok=True)
        path = os.path.dirname(self.script("bin/cmake", CMAKE.format(status=status))) + ":" + os.environ["PATH"]
        return subprocess.run([demo], env={**os.environ, "PATH": path}, text=True, **output)

    def test_build_that_fails(self):
        done = self.build(1, capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines()[1:], ["55 % built"])
        self.assertIn("some words\n", done.stderr)

    def test_build_on_a_terminal(self):
        master, terminal = pty.openpty()
        done = self.build(1, stdout=terminal, stderr=subprocess.DEVNULL)
        os.close(terminal)
        shown = ""
        with open(master, "rb", buffering=0) as screen, contextlib.suppress(OSError):  # at the end
            while True:
                shown += screen.read(1 << 16).decode()
        self.assertEqual(done.returncode, 1)
        self.assertIn("\r  9 % built\r 55 % built\r 58 % built\r\x1b[K", shown)


if __name__ == "__main__":
    harness.main()
