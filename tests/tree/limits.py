#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Files and functions stay short, the public headers and the benchmark small: topk.h is the core, which the other headers
include, never the reverse. No two files of kernels define the same function or type: the emulated GPU links all kernels
into one program, which would take the members of either type for both.

usage: limits.py SOURCE_DIR
"""
import pathlib
import re
import statistics
import sys

CODE = {".c", ".h", ".cc", ".cpp", ".hpp", ".cu", ".cuh"}
CORE, CORE_LINES = "include/topk.h", 278
BENCH, BASELINES, BENCH_LINES = "bench", "bench/baselines", 9200
KERNELS, KERNELS_MEDIAN, KERNELS_FILE, KERNELS_FUNCTION = "src/cuda", 120, 350, 60

NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
DEVICE_FUNCTION = re.compile(r"^TOPK_DEVICE [^;{]*?\b(\w+)\(([^;{]*)\) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:template <[^{;]*?> )?(?:struct|union|enum) (\w+) \{", re.MULTILINE)
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
LAST_WORD = re.compile(r"\b\w+$")
BODY = re.compile(r"\)(?:\s*const)?\s*\{")
CONTROL = re.compile(r"\s*(?:else\s+)?(?:if|for|while|switch|do)\b")


def files(root, folder, names=()):
    return [path for path in sorted((root / folder).rglob("*")) if path.suffix in CODE or path.name in names]


def lines(path):
    return len(path.read_text().splitlines())


def end_of(code, opening):
    """Where the brace that closes the one at `opening` is."""
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] == "{") - (code[at] == "}")
        if depth == 0:
            return at
    return len(code)


def start_of(code, closing):
    """Where the parenthesis that the one at `closing` closes is."""
    depth = 0
    for at in range(closing, -1, -1):
        depth += (code[at] == ")") - (code[at] == "(")
        if depth == 0:
            return at
    return 0


def functions(text):
    """(first line, lines) of each function, lambdas left to the function around them."""
    code = NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    for body in BODY.finditer(code):
        start = max(code.rfind(end, 0, start_of(code, body.start())) for end in ";{}") + 1
        start += len(code[start:]) - len(code[start:].lstrip())
        head = code[start:body.end()]
        if not CONTROL.match(head) and "](" not in head:
            first = code.count("\n", 0, start) + 1
            yield first, code.count("\n", start, end_of(code, body.end() - 1)) + 1


def check_kernels(root):
    paths = files(root, KERNELS)
    median = statistics.median(map(lines, paths))
    if median >= KERNELS_MEDIAN:
        yield f"the median file of {KERNELS} has {median:g} lines: under {KERNELS_MEDIAN}"
    for path in paths:
        if lines(path) > KERNELS_FILE:
            yield f"{path.relative_to(root)} has {lines(path)} lines: at most {KERNELS_FILE}"
        for first, count in functions(path.read_text()):
            if count > KERNELS_FUNCTION:
                yield f"{path.relative_to(root)}:{first}: a function of {count} lines: at most {KERNELS_FUNCTION}"


def compiled_as_kernels(root):
    """The files with kernels, and all that they include."""
    left = [path for path in files(root, KERNELS) if path.suffix == ".cu"]
    found = set(left)
    while left:
        path = left.pop()
        for name in INCLUDED.findall(path.read_text()):
            header = (path.parent / name).resolve()
            if header not in found and header.exists():
                found.add(header)
                left.append(header)
    return sorted(found)


def check_twins(root):
    """Functions by name and types of parameters, and types. One file may define one twice: for different GPUs."""
    found = {}
    for path in compiled_as_kernels(root.resolve()):
        text = path.read_text()
        names = [(one[1],) for one in TYPE.finditer(text)]
        for function in DEVICE_FUNCTION.finditer(text):
            types = (LAST_WORD.sub("", " ".join(one.split())) for one in function[2].split(","))
            names.append((function[1], *types))
        for name in names:
            other = found.setdefault(name, path)
            if other != path:
                yield f"{path.relative_to(root.resolve())} defines {name[0]}, as {other.relative_to(root.resolve())} does"


def check_bench(root):
    """Without the baselines, which are as long as what others published."""
    sources = [path for path in files(root, BENCH, ["CMakeLists.txt"]) if root / BASELINES not in path.parents]
    total = sum(map(lines, sources))
    if total > BENCH_LINES:
        yield f"the C, C++, CUDA and CMake sources of {BENCH}/ have {total} lines: at most {BENCH_LINES}"


def check_core(root):
    core = root / CORE
    if lines(core) > CORE_LINES:
        yield f"{CORE} has {lines(core)} lines: at most {CORE_LINES}"
    for name in re.findall(r'#include "(.*)"', core.read_text()):
        if name != "topk_types.h":
            yield f"{CORE} includes {name}: others add to the core"


def problems_of(root):
    return [*check_core(root), *check_kernels(root), *check_twins(root), *check_bench(root)]


def main():
    problems = problems_of(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "files and functions are short")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
