#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles alone and twice, as C11 and as C++11, without a warning. One of C++ alone (.hpp)
does so as C++17 and C++20, with exceptions and without. Headers of MPI (_mpi.h) need mpicc, which knows where MPI's are. That of
NCCL is compiled with the tests' own nccl.h.

usage: headers.py INCLUDE_DIR
"""
import itertools
import pathlib
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pedantic-errors", "-fsyntax-only"]
C = ["-std=c11", "-Wstrict-prototypes", "-x", "c", "-"]
CXX = ["-std=c++11", "-x", "c++", "-"]
COMPILERS = [("gcc", C), ("clang", C), ("g++", CXX), ("clang++", CXX)]
HPP = [["-Wconversion", f"-std={standard}", *options, "-x", "c++", "-"]
       for standard in ("c++17", "c++20") for options in ([], ["-fno-exceptions"])]
COMPILERS_OF_HPP = [(compiler, options) for compiler in ("g++", "clang++") for options in HPP]


def headers(include, pattern):
    names = sorted(path.name for path in include.glob(pattern))
    return names or sys.exit(f"no {pattern} in {include}")


def options_of_mpi():
    """What a compiler needs for MPI's headers, whose own warnings do not count; None without MPI."""
    if shutil.which("mpicc") is None:
        return None
    told = subprocess.run(["mpicc", "-show"], check=True, capture_output=True, text=True).stdout
    return ["-DOMPI_SKIP_MPICXX", *(f"-isystem{word[2:]}" for word in told.split() if word.startswith("-I"))]


def main():
    mpi = options_of_mpi()
    include = pathlib.Path(sys.argv[1])
    nccl = [f"-isystem{include.resolve().parent}/tests/dist/fake"]
    compilations = [*itertools.product(COMPILERS, headers(include, "*.h")),
                    *itertools.product(COMPILERS_OF_HPP, headers(include, "*.hpp"))]
    failures = tried = 0
    for (compiler, options), header in compilations:
        if shutil.which(compiler) is None:
            print(f"skipped: no {compiler} here")
            continue
        if header.endswith("_mpi.h") and mpi is None:
            print(f"skipped: no mpicc here for {header}")
            continue
        options = [*(mpi if header.endswith("_mpi.h") else nccl if header.endswith("_nccl.h") else []), *options]
        tried += 1
        source = f"#include <{header}>\n" * 2 + "extern int translation_unit_is_not_empty;\n"
        run = subprocess.run([compiler, *WARNINGS, f"-I{include}", *options], input=source, text=True)
        if run.returncode != 0:
            failures += 1
            print(f"FAILED: {compiler} {header}")
    print(f"{tried} compilations, {failures} failed")
    sys.exit(failures != 0 or tried == 0)


main()
