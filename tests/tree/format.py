#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""All C and C++ files under version control are formatted as .clang-format says.

usage: format.py SOURCE_DIR
"""
import shutil
import subprocess
import sys

SKIPPED = 77  # what CTest takes for "skipped"


def main():
    root = sys.argv[1]
    clang_format = shutil.which("clang-format-14") or shutil.which("clang-format")
    listing = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.c", "*.h",
                              "*.cpp", "*.hpp", "*.cc", "*.cu", "*.cuh"], capture_output=True, text=True)
    files = listing.stdout.split()
    if clang_format is None or listing.returncode != 0 or not files:
        print("skipped: this needs clang-format 14 and a git checkout")
        sys.exit(SKIPPED)
    print(f"{len(files)} files")
    sys.exit(subprocess.run([clang_format, "--dry-run", "-Werror", *files], cwd=root).returncode)


main()
