#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Adds a method to each backend of a copy of the source tree, and an operation with a method on each, in the way that
CONTRIBUTING.md shows. The copy must then list them, choose them when they are forced, and pass the list of cases with
them, on the CPU and on the emulated GPU. The files that an addition touches outside its own folders are counted: fewer
than 10 for a method, and fewer than 25 for an operation.

To be quick, the CUDA backend of the copy has no other method, and nothing is optimised.

usage: add.py SOURCE_DIR WORK_DIR CMAKE
"""
import pathlib
import re
import shutil
import subprocess
import sys

COPIED = ("CMakeLists.txt", "CHANGELOG.md", "CONTRACT.md", "bench", "cmake", "docs/cuda.md", "docs/methods", "docs/running.md",
          "include", "src", "tests")
LEFT_OUT = shutil.ignore_patterns("mutants", "__pycache__")
BACKENDS = ("cpu", "cuda")
ADDED = ("best", "lengths")
PROGRAMS = ("test_cases_emulated_plain", "test_listed", "test_api_problem", "test_api_plan")
METHOD_FILES, OPERATION_FILES = 10, 25  # what is added touches fewer


def copy_tree(source, tree):
    shutil.rmtree(tree, ignore_errors=True)
    for name in COPIED:
        path = source / name
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, tree / name, ignore=LEFT_OUT)  # keeps times: what is unchanged is not built again
        else:
            shutil.copy2(path, tree / name)


class Addition:
    """Changes files of a tree, and knows which."""

    def __init__(self, tree):
        self.tree, self.touched = tree, set()

    def write(self, name, text):
        self.touched.add(name)
        (self.tree / name).write_text(text)

    def replace(self, name, old, new):
        text = (self.tree / name).read_text()
        if text.count(old) != 1:
            sys.exit(f"{name} has not one '{old.strip()}'")
        self.write(name, text.replace(old, new))

    def behind(self, name, line, added):
        self.replace(name, line, line + added)

    def one_more(self, name, number):
        text = re.sub(rf"(?<={number} = )\d+", lambda known: str(int(known[0]) + 1), (self.tree / name).read_text())
        self.write(name, text)

    def at_end(self, name, added):
        self.write(name, (self.tree / name).read_text() + added)

    def folder(self, what, part, target):
        """A folder of its own, which does not count."""
        shutil.copytree(self.tree / "tests" / "method" / what / part, self.tree / target)

    def method(self, backend, name):
        """What a method of any backend takes."""
        table = f"src/{backend}/methods.h"
        head = next(line for line in (self.tree / table).read_text().splitlines(True) if "_METHODS(ROW) " in line)
        self.folder(name, backend, f"src/{backend}/{name}")
        self.behind(table, head, f"    ROW(topk_{backend}_{name}) \\\n")
        self.behind(f"tests/runner/methods_{backend}.def", 'METHOD("default", NULL, NULL)\n',
                    f'METHOD("{name}", "{name}", NULL)\n')
        if backend == "cpu":
            self.one_more("tests/api/plan.c", "BACKEND_METHODS")

    def end(self, what, limit):
        print(f"{what} touches {len(self.touched)} files besides its own:", *sorted(self.touched), flush=True)
        if len(self.touched) >= limit:
            sys.exit(f"{what} touches {len(self.touched)} files besides its own: fewer than {limit} are allowed")


def add_method(tree, backend):
    a = Addition(tree)
    a.method(backend, "best")
    a.at_end("CHANGELOG.md", "- The method `best` finds the best element of each row.\n")
    a.write(f"docs/methods/best-{backend}.md", "# best\n\nA thread goes through a row and keeps the best element.\n")
    if backend == "cuda":
        a.behind("src/cuda/costs.h", "    double launch_us;\n", "    struct {\n        double elements_per_us;\n    } best;\n")
        a.behind("src/cuda/costs.c", "        .launch_us = 4.12,\n", "        .best = {.elements_per_us = 1},\n")
        a.at_end("docs/cuda.md", "\n`best` serves `topk_select` with k = 1.\n")
        a.at_end("tests/emulated.cmake", 'topk_emulated_next_rows(best_tsan 200 best 6 "best: another row" --filter rows=300,k=1'
                 " --largest 30 --elements 9000)\n")
    a.end(f"a method of {backend}", METHOD_FILES)


def add_operation(tree):
    """The length of each row, for all that runs operations by their number. It ranks nothing and takes no predicate."""
    a = Addition(tree)
    last, name = "TOPK_OPERATION_SELECT_BY", "TOPK_OPERATION_LENGTHS"
    a.replace("include/topk_types.h", f"    {last} = 10\n", f"    {last} = 10,\n    {name} = 11\n")
    a.replace("src/operations.h", f"OPERATION_LAST = {last}", f"OPERATION_LAST = {name}")
    a.behind("src/operations.c", "const struct operation topk_operations[OPERATION_LAST + 1] = {\n",
             f'    [{name}] = {{.name = "lengths", .outputs = TOPK_OUTPUT_COUNTS, .required = TOPK_OUTPUT_COUNTS}},\n')
    for backend in BACKENDS:
        a.method(backend, "lengths")
    shutil.copy2(tree / "tests/method/lengths/runner/lengths.c", tree / "tests/runner/lengths.c")  # its own
    a.replace("tests/cases.cmake", "runner/mask.c\n", "runner/mask.c runner/lengths.c\n")
    a.replace("tests/runner/run.h", "run_mask, run_route;", "run_mask, run_route, run_lengths;")
    a.write("tests/runner/backends.c",
            (tree / "tests/runner/backends.c").read_text().replace("&run_mask, ", "&run_mask, &run_lengths, "))
    a.one_more("tests/runner/backends.h", "OPERATIONS_MOST")
    a.replace("tests/runner/session.c", f"operation <= {last}", f"operation <= {name}")
    a.write("tests/api/problem.c", (tree / "tests/api/problem.c").read_text().replace(last, name))
    a.replace("tests/api/plan.c", f"enum {{ LAST = {last},", f"enum {{ LAST = {name},")
    a.behind("tests/api/plan.c", "    [TOPK_OPERATION_MASK] = TOPK_OUTPUT_MASK,\n", f"    [{name}] = TOPK_OUTPUT_COUNTS,\n")
    a.replace("tests/api/plan.c", "    return operation == TOPK_OPERATION_ROUTE       ? call_route(&f)",
              f"    return operation == {name} ? call_lengths(&f) : operation == TOPK_OPERATION_ROUTE ? call_route(&f)")
    a.behind("tests/api/fixture.h", "/* `values` are logits. */\n", """static inline topk_status call_lengths(fixture *f) {
    topk_output output = TOPK_OUTPUT_INIT;
    output.counts = f->out_counts;
    return topk_run(f->context, TOPK_OPERATION_LENGTHS, &f->problem, &f->input, &output, f->workspace,
                    f->workspace_bytes, f->stream);
}

""")
    a.at_end("CHANGELOG.md", "- `TOPK_OPERATION_LENGTHS`: the length of each row.\n")
    a.at_end("CONTRACT.md", "\n`TOPK_OPERATION_LENGTHS` writes the length of each row, as 3.4 has it.\n")
    a.at_end("docs/cuda.md", "\n`lengths` serves `TOPK_OPERATION_LENGTHS`.\n")
    a.end("an operation", OPERATION_FILES)


def remove_others(cuda):
    """Their rows and their files but for the headers, which tell tests of sizes."""
    table = cuda / "methods.h"
    others = [name for name in re.findall(r"ROW\(topk_cuda_(\w+)\)", table.read_text()) if name not in ADDED]
    for name in others:
        table.write_text(re.sub(rf" *ROW\(topk_cuda_{name}\).*\n", "", table.read_text()))
        for path in [*(cuda / name).glob("*.c"), *(cuda / name).glob("*.cu")]:
            path.unlink()


def optimise_nothing(tree):
    """Of the inner loops, which do not follow the build type."""
    path = tree / "src" / "CMakeLists.txt"
    text = path.read_text()
    if text.count(" -O3 -falign") != 1:
        sys.exit("src/CMakeLists.txt does not say how inner loops are optimised")
    path.write_text(text.replace(" -O3 -falign", " -O0 -falign"))


def run(*command):
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True)


def main():
    source, work, cmake = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
    tree, build = work / "tree", work / "build"
    copy_tree(source, tree)
    for backend in BACKENDS:
        add_method(tree, backend)
    add_operation(tree)
    remove_others(tree / "src" / "cuda")
    optimise_nothing(tree)
    run(sys.executable, tree / "tests" / "tree" / "layering.py", tree)
    run(cmake, "-S", tree, "-B", build, "-DTOPK_CUDA=OFF", "-DTOPK_BUILD_EMULATION=ON", "-DTOPK_BUILD_BENCH=OFF",
        "-DTOPK_BUILD_EXAMPLES=OFF", "-DTOPK_BUILD_CLI=OFF", "-DTOPK_BUILD_PYTHON=OFF", "-DTOPK_WERROR=ON",
        "-DTOPK_EMULATED=plain", "-DCMAKE_C_FLAGS_RELEASE=-O0")
    run(cmake, "--build", build, "-j2", "--target", *PROGRAMS)
    for program in ("test_api_problem", "test_api_plan"):
        run(build / "tests" / program)
    for backend in BACKENDS:
        cases = [build / "tests" / "test_cases_emulated_plain", "--backend", backend, "--elements", "2000"]
        run(build / "tests" / "test_listed", backend, "best")
        run(*cases, "--method", "best", "--operation", "select", "--filter", "k=1", "--largest", "1500", "--cases", "150")
        run(*cases, "--method", "lengths", "--operation", "lengths", "--largest", "1500", "--cases", "150")
    run(*cases, "--method", "best", "--operation", "select", "--filter", "k=1,rows=300", "--largest", "30", "--cases", "6",
        "--paths", "best: another row", "--elements", "9000")


main()
