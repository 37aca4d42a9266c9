#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""layering.py, limits.py, reached.py and words.py report what breaks their rules: each violation is planted in a copy of the source
tree.

usage: planted.py SOURCE_DIR
"""
import pathlib
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
import layering  # noqa: E402
import limits  # noqa: E402
import reached  # noqa: E402
import words  # noqa: E402

# A file, what is written at its end, and what a new line of the report says.
PLANTED = (
    ("src/cpu/rows.c", '#include "../cuda/backend.h"', "the leaf cuda is not its business"),
    ("src/choose.c", '#include "cpu/team.h"', "the leaf cpu is not its business"),
    ("src/cpu/compact/count.c", '#include "../bracket/row.h"', "the method bracket is not its business"),
    ("src/cuda/compact/compact.c", '#include "../sort/sizes.h"', "the method sort is not its business"),
    ("src/cuda/tiles.cuh", '#include "air/kernels.h"', "the method air is not its business"),
    ("src/cuda/simt/bits.cuh", '#include "../sort/sizes.h"', "the method sort is not its business"),
    ("src/dist/plan.c", '#include "../choose.h"', "src/dist/plan.c includes ../choose.h: dist uses only include/"),
    ("include/topk_dist.h", "MPI_Comm planted;", "include/topk_dist.h uses MPI or NCCL: MPI_Comm"),
    ("cli/main.c", '#include "choose.h"', "cli/main.c includes src/choose.h"),
    ("tests/oracle/oracle.c", '#include "problem.h"', "tests/oracle/oracle.c includes src/problem.h"),
    ("src/keys.c", "cudaError_t error;", "src/keys.c uses CUDA: cudaError_t"),
    ("src/keys.h", '#include "problem.h"', "a circle: src/keys.h includes src/problem.h"),
    ("include/topk.h", '#include "topk_device.cuh"\n#include "../src/keys.h"', "a circle: include/topk.h"),
    ("include/topk.h", "\n" * limits.CORE_LINES, "include/topk.h has "),
    ("include/topk.h", '#include "topk_route.h"', "include/topk.h includes topk_route.h"),
    ("src/cuda/block.cuh", '#include "tiles.cuh"', "src/cuda/block.cuh includes src/cuda/tiles.cuh"),
    ("src/tuning.c", '#include "choose.h"\nbool planted(void) { return topk_find_method(0, 0) == 0; }',
     "src/tuning.c names topk_find_method, which src/choose.c defines"),
    ("src/status.h",
     '#include "topk_accumulator.h"\nstatic inline void planted(void) { topk_accumulator_push(0, 0, 0, 0, 0, 0); }',
     "src/status.h names topk_accumulator_push, which src/accumulator.c defines"),
    ("src/cpu/team.c", "int cuCtxGetCurrent(void **);", "src/cpu/team.c uses CUDA: cuCtxGetCurrent"),
    ("src/cuda/air/air.c", '#include "../backend.h"\nconst void *planted = &topk_cuda_backend;',
     "src/cuda/air/air.c names topk_cuda_backend, which src/cuda/backend.c defines"),
    ("cli/base/fail.c", '#include "../run/run.h"', "cli/base/fail.c includes cli/run/run.h"),
    ("tests/support/guarded.h", '#include "device.h"', "tests/support/guarded.h includes tests/support/device.h"),
    ("tests/oracle/oracle.h", '#include "instance.h"', "tests/oracle/oracle.h includes tests/cases/instance.h"),
    ("src/cuda/codes.c", "\n" * limits.KERNELS_FILE, "src/cuda/codes.c has "),
    ("src/cuda/codes.h", "int planted(int (*f)(\n    void)) {\n" + "    f();\n" * 58 + "}", "a function of 61 lines"),
    ("src/cuda/codes.h", "struct s {\n    int f(void) const {\n" + "        ;\n" * 59 + "    }\n};",
     "a function of 61 lines"),
    ("src/cuda/rtopk/row.cuh", "TOPK_DEVICE uint32_t rough_root(uint32_t planted) {\n    return planted;\n}",
     "src/cuda/rtopk/row.cuh defines rough_root, as src/cuda/resident/"),
    ("src/cuda/rtopk/search.cuh", "template <typename Element> struct code_bracket {\n    Element low;\n};",
     "src/cuda/rtopk/search.cuh defines code_bracket, as src/cuda/resident/"),
    ("bench/CMakeLists.txt", "\n" * limits.BENCH_LINES, "sources of bench/ have"),
    ("src/cuda/air/finish.cuh", "TOPK_REACHED(REACHED_NOWHERE);", "REACHED_NOWHERE, which no reached.def lists"),
    ("src/cuda/bitonic/row.cuh", "TOPK_REACHED(REACHED_AIR_RANK);", "REACHED_AIR_RANK, which src/cuda/air/reached.def"),
    ("src/cuda/sort/reached.def", 'PATH(REACHED_PLANTED, "cuda sort: planted")', "REACHED_PLANTED, which nothing counts"),
    ("src/cuda/route/reached.def", 'PATH(REACHED_AIR_SORT, "cuda route: planted")', "lists REACHED_AIR_SORT, as src/cuda"),
    ("src/cuda/radik/reached.def", 'PATH(REACHED_OTHER, "cuda radic: planted")', "no test runs 'radic'"),
    ("src/cpu/reached.def", 'PATH(REACHED_OTHERS, "cuda: planted")', "REACHED_OTHERS does not begin with 'cpu'"),
    ("include/topk_types.h", "/*" + " that of so many" * 20 + " */", "include: hard words"),
)


def problems_of(root):
    return {*layering.problems_of(root), *limits.problems_of(root), *reached.problems_of(root), *words.problems_of(root)}


def groups():
    """Violations that are planted together: in files of their own, with reports that tell them apart. A circle that
    another violation widens would be reported otherwise, so circles are alone."""
    circles = [one for one in PLANTED if "circle" in one[2]]
    yield from ([one] for one in circles)
    left = [one for one in PLANTED if one not in circles]
    while left:
        group = []
        for one in left:
            if all(one[0] != other[0] and one[2] != other[2] for other in group):
                group.append(one)
        yield group
        left = [one for one in left if one not in group]


def main():
    source, missed = pathlib.Path(sys.argv[1]), []
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in ("include", "src", *layering.USERS):
            if (source / name).is_dir():
                shutil.copytree(source / name, copy / name, ignore=shutil.ignore_patterns("*.csv", "*.patch"))
        before = problems_of(copy)
        for group in groups():
            texts = {path: (copy / path).read_text() for path, _, _ in group}
            for path, planted, _ in group:
                (copy / path).write_text(f"{texts[path]}\n{planted}\n")
            new = problems_of(copy) - before
            for path, planted, report in group:
                if not any(report in line for line in new):
                    missed.append(f"nothing reports {planted!r} in {path}: {sorted(new)}")
            for path, text in texts.items():
                (copy / path).write_text(text)
    print("\n".join(missed) or f"all {len(PLANTED)} violations are reported")
    sys.exit(bool(missed))


main()
