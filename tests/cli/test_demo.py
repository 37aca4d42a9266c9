# SPDX-License-Identifier: Apache-2.0
"""scripts/demo, with the programs of this build: its checks notice each wrong result. And how it shows a build.

And scripts/install-deps, which it begins with, on made-up machines.
"""

import contextlib
import os
import pty
import re
import shutil
import subprocess

import harness

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts")
DEMO = os.path.join(SCRIPTS, "demo")
INSTALL_DEPS = os.path.join(SCRIPTS, "install-deps")
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


class Case(harness.Case):
    def script(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path


class Demo(Case):
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
        self.assertRegex(done.stdout, r"\nAll results were right\. .* takes (\d+\.\d(, | and |)){3} times as long as topk .*\.\n$")
        # Choosing what lies between the bounds, and reading, take longer than the sort that follows: they count.
        between = done.stdout.partition("--between")[2].partition("std::partial_sort")[0]
        self.assertGreater(int(re.findall(r"(\d+) ms  C\+\+", between)[0]), 0)
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


class InstallDeps(Case):
    def install(self, commands, packages, apt_get="exit 0"):
        """On a machine with these commands and these packages: how it went, and what apt-get was asked to install."""
        shutil.rmtree(os.path.join(self.folder, "bin"), ignore_errors=True)
        asked = os.path.join(self.folder, "asked")
        with open(asked, "w"):
            pass
        for command in commands:
            self.script(f"bin/{command}", "#!/bin/sh\n")
        known = "|".join(packages)
        self.script("bin/dpkg-query", f"#!/bin/sh\ncase $3 in {known}) echo installed ;; *) exit 1 ;; esac\n")
        self.script("bin/apt-get", f'#!/bin/sh\necho "$*" >>"{asked}"\n{apt_get}\n')
        self.script("bin/sudo", '#!/bin/sh\nexec "$@"\n')
        for tool in "sh", "env", "grep", "id", "mktemp", "rm", "cat":
            os.symlink(shutil.which(tool), os.path.join(self.folder, "bin", tool))
        done = subprocess.run(
            [INSTALL_DEPS], env={"PATH": os.path.join(self.folder, "bin")}, capture_output=True, text=True
        )
        with open(asked) as lines:
            return done, [line.split() for line in lines]

    def test_all_there(self):
        for commands in [], ["cmake", "make", "gcc", "g++", "python3"]:
            packages = {"cmake", "make", "gcc", "g++", "libc6-dev", "python3"} - set(commands)
            with self.subTest(commands):
                done, asked = self.install(commands, packages)
                self.assertEqual((done.returncode, done.stdout, done.stderr, asked), (0, "", "", []))

    def test_some_missing(self):
        done, (update, install) = self.install(["cmake", "gcc"], ["make", "python3"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(update, ["-q", "-y", "update"])
        self.assertEqual(install, ["-q", "-y", "install", "--no-install-recommends", "g++", "libc6-dev"])

    def test_not_to_be_had(self):
        done, asked = self.install(["cmake"], ["make"], apt_get="echo not to be had; exit 100")
        self.assertEqual((done.returncode, done.stderr, len(asked)), (1, "not to be had\n", 1))


if __name__ == "__main__":
    harness.main()
