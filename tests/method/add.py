#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Adds a method to both backends of a copy of the source tree, in the way that CONTRIBUTING.md shows: a folder and a row
of the backend's table for each, and a line for the tests. The copy must then list the method, choose it when it is
forced, and pass the list of cases with it, on the CPU and on the emulated GPU.

To be quick, the CUDA backend of the copy has no other method.

usage: add.py SOURCE_DIR WORK_DIR CMAKE
"""
import pathlib
import re
import shutil
import subprocess
import sys

COPIED = ("CMakeLists.txt", "bench", "cmake", "include", "src", "tests")
LEFT_OUT = shutil.ignore_patterns("mutants", "__pycache__")
PROGRAMS = ("test_cases_emulated_plain", "test_listed")


def copy_tree(source, tree):
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in COPIED:
        path = source / name
        if path.is_dir():
            shutil.copytree(path, tree / name, ignore=LEFT_OUT)  # keeps times: what is unchanged is not built again
        else:
            shutil.copy2(path, tree / name)


def insert_behind(path, line, added):
    text = path.read_text()
    if text.count(line) != 1:
        sys.exit(f"{path} has not one line '{line.strip()}'")
    path.write_text(text.replace(line, line + added))


def add_method(tree):
    for backend, kind in (("cpu", "TOPK_BACKEND_CPU"), ("cuda", "TOPK_BACKEND_CUDA")):
        shutil.copytree(tree / "tests" / "method" / backend, tree / "src" / backend / "best")
        table = tree / "src" / backend / "methods.h"
        head = next(line for line in table.read_text().splitlines(True) if "_METHODS(ROW) " in line)
        insert_behind(table, head, f"    ROW(topk_{backend}_best) \\\n")
        insert_behind(tree / "tests" / "runner" / "backends.c", f'     {kind},\n     {{{{"default", NULL, NULL}},\n',
                      '      {"best", "best", NULL},\n')


def remove_others(cuda):
    """Their rows and their files but for the headers, which tell tests of sizes."""
    table = cuda / "methods.h"
    others = [name for name in re.findall(r"ROW\(topk_cuda_(\w+)\)", table.read_text()) if name != "best"]
    for name in others:
        table.write_text(re.sub(rf" *ROW\(topk_cuda_{name}\).*\n", "", table.read_text()))
        for path in [*(cuda / name).glob("*.c"), *(cuda / name).glob("*.cu")]:
            path.unlink()


def run(*command):
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True)


def main():
    source, work, cmake = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
    tree, build = work / "tree", work / "build"
    copy_tree(source, tree)
    add_method(tree)
    remove_others(tree / "src" / "cuda")
    run(cmake, "-S", tree, "-B", build, "-DTOPK_CUDA=OFF", "-DTOPK_BUILD_EMULATION=ON", "-DTOPK_BUILD_BENCH=OFF",
        "-DTOPK_BUILD_EXAMPLES=OFF", "-DTOPK_BUILD_CLI=OFF", "-DTOPK_BUILD_PYTHON=OFF", "-DTOPK_WERROR=ON",
        "-DTOPK_EMULATION_PLAIN=ON", "-DCMAKE_C_FLAGS_RELEASE=-O1")
    run(cmake, "--build", build, "-j2", "--target", *PROGRAMS)
    for backend in ("cpu", "cuda"):
        run(build / "tests" / "test_listed", backend, "best")
        run(build / "tests" / "test_cases_emulated_plain", "--backend", backend, "--method", "best", "--operation", "select",
            "--filter", "k=1", "--largest", "1500", "--elements", "2000", "--cases", "150")


main()
