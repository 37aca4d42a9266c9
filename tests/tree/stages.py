#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/stages.py over a cmake and a ctest that are made up: whatever fails, later stages run, and the end says it.

usage: stages.py ROOT
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CMAKE = """#!/bin/sh
echo "cmake $*" >>calls
case "$*" in *"$BAD_BUILD"*) echo "no such luck"; exit 1 ;; esac
case "$*" in *"--build"*"$SLOW_BUILD"*) echo "[1/9] Building"; echo "$PROGRESS Building"; sleep 6 ;; esac
"""

# Ten tests, one of them skipped, and two failures where a stage is to fail.
CTEST = """#!/bin/sh
echo "ctest $*" >>calls
case "$*" in *"$SLOW_TESTS"*) touch slow; sleep 60 ;; esac
case "$*" in *"$NO_TESTS"*) exit 1 ;; esac
failures=0
case "$*" in *"$BAD_TESTS"*) failures=2 ;; esac
for report; do :; done
mkdir -p "$(dirname "$report")"
echo "<testsuite name=\\"x\\" tests=\\"10\\" failures=\\"$failures\\" disabled=\\"0\\" skipped=\\"1\\"/>" >"$report"
exit $failures
"""


# What stages need, and what the programs above do.
NEEDED = ("nvcc", "aarch64-linux-gnu-gcc", "qemu-aarch64")
SYSTEM = ("sh", "nice", "dirname", "mkdir", "touch", "sleep")


def start(root, folder, without, **cases):
    for name in SYSTEM:
        pathlib.Path(folder, name).symlink_to(shutil.which(name))
    for name, text in (("cmake", CMAKE), ("ctest", CTEST), *((name, "#!/bin/sh\n") for name in NEEDED if name != without)):
        program = pathlib.Path(folder, name)
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)
    environment = {"BAD_BUILD": "none", "SLOW_BUILD": "none", "PROGRESS": "[ 42%]", "BAD_TESTS": "none", "NO_TESTS": "none",
                   "SLOW_TESTS": "none", **os.environ, **cases, "PATH": folder}
    return subprocess.Popen([sys.executable, os.path.join(root, "scripts/stages.py")], cwd=folder, env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def check(root, expected, status, tested, interrupted=False, says="", without=None, **cases):
    with tempfile.TemporaryDirectory() as folder:
        process = start(root, folder, without, **cases)
        log = pathlib.Path(folder, "calls")
        while interrupted and not (os.path.exists(os.path.join(folder, "slow")) and "--build --preset cuda" in log.read_text()):
            assert process.poll() is None
            time.sleep(0.1)
        if interrupted:
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
        output = process.communicate()[0]
        calls = log.read_text(encoding="utf-8").splitlines()
    ran = [call.split()[2] for call in calls if call.startswith("ctest")]
    assert (output.splitlines()[-1], process.returncode, ran) == (expected, status, tested), output
    assert says in output, output


def main():
    root = os.path.abspath(sys.argv[1])
    every = ["default", "asan", "tsan", "clang-fuzz", "arm", "cuda"]
    check(root, "60 passed, 0 failed", 0, every)
    check(root, "60 passed, 0 failed", 0, every, says="== default: 42 % built after", SLOW_BUILD="--preset default")
    check(root, "60 passed, 0 failed", 0, every, says="== cuda: 43 % built after", SLOW_BUILD="--preset cuda", PROGRESS="[13/30]")
    check(root, "58 passed, 2 failed", 1, every, BAD_TESTS="default")
    check(root, "50 passed, 1 failed", 1, [name for name in every if name != "asan"], BAD_BUILD="--preset asan")
    check(root, "51 passed, 1 failed", 1, every, NO_TESTS="cuda")
    check(root, "50 passed, 0 failed", 0, [name for name in every if name != "arm"], without="qemu-aarch64",
          says="== arm: left out, for there is no qemu-aarch64 here")
    # Meanwhile the builds of all stages have ended.
    check(root, "15 passed, 1 failed", 1, ["default", "asan"], SLOW_TESTS="asan", interrupted=True)


if __name__ == "__main__":
    main()
