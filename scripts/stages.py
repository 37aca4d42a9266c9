# SPDX-License-Identifier: Apache-2.0
"""Builds and tests the presets that scripts/test names, each as a stage.

Builds follow each other without a pause, at a lower priority than tests: while a stage is tested later ones are built,
from what the tests leave of the processor. A stage that fails keeps no other from running.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import xml.etree.ElementTree

STAGES = ["default", "asan", "tsan", "clang-fuzz", "arm", "cuda"]
JOBS = str(os.cpu_count())
PROGRESS_S = 2 # how often a build is asked how far it is
step_ended = threading.Event()


class Step(threading.Thread):
    """A command in a session of its own: its wall-clock and processor seconds, and whether it failed."""

    def __init__(self, command, output=None):
        super().__init__(daemon=True)
        self.start_time = time.monotonic()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                        stderr=subprocess.STDOUT if output else None, start_new_session=True)
        self.wall = self.processor = 0.0
        self.runs = self.failed = True
        self.start()

    def run(self):
        _, status, usage = os.wait4(self.process.pid, 0)
        self.wall = time.monotonic() - self.start_time
        self.processor = usage.ru_utime + usage.ru_stime
        self.failed = status != 0
        self.runs = False
        step_ended.set()

    def end(self):
        if self.runs:
            with contextlib.suppress(ProcessLookupError): # it has just ended
                os.killpg(self.process.pid, signal.SIGTERM)


class Stage:
    def __init__(self, name):
        self.name = name
        self.configuration = "default" if name == "quick" else name
        folder = "build" if self.configuration == "default" else "build-" + self.configuration
        self.report = os.path.join(os.getcwd(), folder, "tests.xml")
        self.told = 0 # tens of percent that are built
        self.log = tempfile.TemporaryFile()
        self.building = self.testing = None
        self.passed = self.failed = self.skipped = 0

    def build(self):
        configure = ["cmake", "--preset", self.configuration, "-DTOPK_WERROR=ON"]
        if self.name == "cuda":
            configure += options_of_cuda()
        build = ["nice", "cmake", "--build", "--preset", self.name, "--parallel", JOBS]
        script = '"$@" && exec ' + " ".join(build)
        self.building = Step(["sh", "-c", script, "sh", *configure], self.log)

    def percent_built(self):
        """What the build says of its progress, in the words of make or of ninja; 0 before it has said anything."""
        size = os.fstat(self.log.fileno()).st_size
        end = os.pread(self.log.fileno(), 4096, max(0, size - 4096))
        steps = re.findall(rb"^\[ *(\d+)(?:%|/(\d+))\]", end, re.MULTILINE)
        return 100 * int(steps[-1][0]) // int(steps[-1][1] or 100) if steps else 0

    def tell_progress(self):
        """Every ten percent of the build."""
        percent = self.percent_built()
        if percent // 10 > self.told:
            self.told = percent // 10
            print(f"== {self.name}: {percent} % built after {time.monotonic() - self.building.start_time:.0f} s", flush=True)

    def end_build(self):
        if self.building.failed:
            self.failed += 1
            self.log.seek(0)
            sys.stdout.write(self.log.read().decode("utf-8", "replace"))
        else:
            self.passed += 1
        print(f"== {self.name}: {'not ' if self.building.failed else ''}built in {self.building.wall:.0f} s", flush=True)

    def test(self):
        if os.path.exists(self.report):
            os.remove(self.report)
        self.testing = Step(["ctest", "--preset", self.name, "--parallel", JOBS, "--output-junit", self.report])

    def end_tests(self):
        self.count()
        print(f"== {self.name}: tested in {self.testing.wall:.0f} s", flush=True)

    def count(self):
        try:
            numbers = xml.etree.ElementTree.parse(self.report).getroot().attrib
        except (OSError, xml.etree.ElementTree.ParseError):
            numbers = {}
        tests, failures, skipped, disabled = (int(numbers.get(name, 0))
                                              for name in ("tests", "failures", "skipped", "disabled"))
        self.skipped = skipped + disabled
        self.passed += tests - failures - self.skipped
        self.failed += max(failures, int(self.testing.failed or tests == 0))

    def end(self):
        for step in (self.building, self.testing):
            if step is not None:
                step.end()


def find_nvcc():
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def missing_for(name):
    """What a stage needs and this machine lacks, for people; or None."""
    if name == "cuda" and find_nvcc() is None:
        return "nvcc"
    needed = ["aarch64-linux-gnu-gcc", "qemu-aarch64"] if name == "arm" else []
    return next((program for program in needed if shutil.which(program) is None), None)


def options_of_cuda():
    """PTX alone takes half as long to make, and hardly optimised a fifth of that. scripts/gpu-check makes a GPU's code, and
    checks its size."""
    options = ["-DTOPK_CUDA_ARCHITECTURES=90-virtual", "-DTOPK_CUDA_COMPRESSION=balance"]
    manual = subprocess.run([find_nvcc(), "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    if "--Ofast-compile" in manual: # newer than the oldest nvcc that will do
        options.append("-DCMAKE_CUDA_FLAGS=--Ofast-compile=max")
    return options


def run(stages):
    """One build and the tests of one stage at a time."""
    to_build, to_test = list(stages), []
    building = testing = None
    while to_build or to_test or building or testing:
        if building is None and to_build:
            building = to_build.pop(0)
            building.build()
        if testing is None and to_test:
            testing = to_test.pop(0)
            testing.test()
        step_ended.wait(PROGRESS_S)
        step_ended.clear()
        if building is not None and building.building.runs:
            building.tell_progress()
        elif building is not None:
            building.end_build()
            if not building.building.failed:
                to_test.append(building)
            building = None
        if testing is not None and not testing.testing.runs:
            testing.end_tests()
            testing = None


def print_times(stages):
    """Seconds of the clock and of the processor; a build runs beside the tests of stages before it."""
    print(f"{'':12}{'build':>8}{'proc.':>8}{'tests':>8}{'proc.':>8}{'passed':>8}{'failed':>8}{'skipped':>8}")
    for stage in stages:
        steps = "".join(f"{step.wall:8.0f}{step.processor:8.0f}" if step is not None else f"{'-':>8}{'-':>8}"
                        for step in (stage.building, stage.testing))
        print(f"{stage.name:12}{steps}{stage.passed:8}{stage.failed:8}{stage.skipped:8}")


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(prog="scripts/test", description="Builds and tests everything, in stages.")
    parser.add_argument("--quick", action="store_true", help="one build and a small part of the tests")
    names = ["quick"] if parser.parse_args().quick else STAGES
    for name in names:
        if missing_for(name) is not None:
            print(f"== {name}: left out, for there is no {missing_for(name)} here", flush=True)
    names = [name for name in names if missing_for(name) is None]
    if shutil.which("ninja") is not None: # which takes a minute less than make for what is to be built in a stage
        os.environ.setdefault("CMAKE_GENERATOR", "Ninja")
    if shutil.which("ccache") is not None: # builds have many objects in common
        for language in ("C", "CXX", "CUDA"):
            os.environ.setdefault(f"CMAKE_{language}_COMPILER_LAUNCHER", "ccache")
    signal.signal(signal.SIGTERM, interrupt)
    stages = [Stage(name) for name in names]
    begin = time.monotonic()
    ended = False
    try:
        run(stages)
        ended = True
    except BaseException: # the last line comes last
        traceback.print_exc()
    for stage in stages:
        stage.end()
    print_times(stages)
    failed = sum(stage.failed for stage in stages)
    if not ended:
        failed = max(failed, 1)
    print(f"{time.monotonic() - begin:.0f} s")
    print(f"{sum(stage.passed for stage in stages)} passed, {failed} failed", flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
