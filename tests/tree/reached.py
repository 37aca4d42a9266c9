#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Rare paths are listed where they are taken (src/reached.h): each path that code of src/ counts in the reached.def of its
folder, or of one around it; none twice, and none that nothing counts. A name begins with the backend, and with a run
that must take the path: a method of tests/runner/methods_*.def, or what a test gives to --paths or check_paths(). The
methods of the CPU share a run.

usage: reached.py SOURCE_DIR
"""
import pathlib
import re
import sys

CODE = {".c", ".h", ".cu", ".cuh"}
LIST = "reached.def"

ROW = re.compile(r'^PATH\((REACHED_\w+),(?:\s|/\*.*?\*/)*"([^"]*)"\)', re.MULTILINE)
COUNTED = re.compile(r"\bREACHED_\w+")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
LABEL = re.compile(r'^(?:SLOW_)?METHOD\("([^"]+)"', re.MULTILINE)
RUNS = (("*.cmake", re.compile(r'--paths "?([\w-]+)')),
        ("*.cmake", re.compile(r'^topk_emulated_next_rows\([^"]*"([\w-]+):', re.MULTILINE)),
        ("*.c", re.compile(r'\bcheck_paths\("([\w-]+)')),
        ("*.c", re.compile(r'\breached_paths_missing\(\w+, "cuda", "([\w-]+)')))


def listed(root):
    """{path: (folder, name)}, and what is listed twice."""
    found, twice = {}, []
    for file in sorted((root / "src").rglob(LIST)):
        for path, name in ROW.findall(file.read_text()):
            if path in found:
                twice.append(f"{file.relative_to(root)} lists {path}, as {found[path][0] / LIST} does")
            found[path] = (file.parent.relative_to(root), name)
    return found, twice


def counted(root):
    """(file, path) for each path that a file counts."""
    for file in sorted((root / "src").rglob("*")):
        if file.suffix in CODE and file.name not in ("reached.h", "reached.c"):
            for path in COUNTED.findall(COMMENT.sub("", file.read_text())):
                yield file.relative_to(root), path


def runs(root):
    found = set(LABEL.findall((root / "tests/runner/methods_cuda.def").read_text()))
    for pattern, run in RUNS:
        for file in (root / "tests").rglob(pattern):
            found.update(run.findall(file.read_text()))
    return found


def problems_of(root):
    paths, problems = listed(root)
    known, unused = runs(root), set(paths)
    for file, path in counted(root):
        unused.discard(path)
        if path not in paths:
            problems.append(f"{file} counts {path}, which no {LIST} lists")
        elif paths[path][0] not in file.parents:
            problems.append(f"{file} counts {path}, which {paths[path][0] / LIST} lists")
    problems += [f"{paths[path][0] / LIST} lists {path}, which nothing counts" for path in sorted(unused)]
    for path, (folder, name) in paths.items():
        backend, _, rest = name.partition(" ")
        run = rest.partition(":")[0]
        if backend.rstrip(":") != folder.parts[1]:
            problems.append(f"{folder / LIST}: the name of {path} does not begin with '{folder.parts[1]}'")
        elif not backend.endswith(":") and run not in known:
            problems.append(f"{folder / LIST}: no test runs '{run}', which must take {path}")
    return problems


def main():
    root = pathlib.Path(sys.argv[1])
    problems = problems_of(root)
    print("\n".join(problems) or f"{len(listed(root)[0])} paths")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
