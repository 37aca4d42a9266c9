#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles alone and twice, as C11 and as C++11, without a warning.

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


def main():
    include = pathlib.Path(sys.argv[1])
    headers = sorted(path.name for path in include.glob("*.h"))
    if not headers:
        sys.exit(f"no headers in {include}")
    failures = tried = 0
    for (compiler, options), header in itertools.product(COMPILERS, headers):
        if shutil.which(compiler) is None:
            print(f"skipped: no {compiler} here")
            continue
        tried += 1
        source = f"#include <{header}>\n" * 2 + "extern int translation_unit_is_not_empty;\n"
        run = subprocess.run([compiler, *WARNINGS, f"-I{include}", *options], input=source, text=True)
        if run.returncode != 0:
            failures += 1
            print(f"FAILED: {compiler} {header}")
    print(f"{tried} compilations, {failures} failed")
    sys.exit(failures != 0 or tried == 0)


main()
