#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include what, read off the #include lines of the source tree.

  1. The leaves of src/ do not know each other: cpu/ and cuda/ include the neutral middle and themselves, and the
     middle knows of a leaf only what its backend.h declares. dist/, a library of its own, includes itself alone.
  2. cli, bench, tests, python and examples use only include/. Exceptions are listed below.
  3. Only a method's own files include its folder: no sibling does, nor anything that methods share.
  4. No files need each other in a circle, nor do folders side by side: circles.py.
  5. CUDA, MPI and NCCL headers, types and functions appear only in their own leaf, and elsewhere only
     in files named *_cuda.*, *.cu, *.cuh, *_mpi.* or *nccl.*.

usage: layering.py SOURCE_DIR
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import circles  # noqa: E402

LEAVES = ("cpu", "cuda", "dist")
USERS = ("cli", "bench", "tests", "python", "examples")

# The folders of a leaf that hold no method.
SHARED = {"cpu": ("kernels",), "cuda": ("ordering", "peer", "predicate", "select", "simt")}

# Where the build looks for quoted includes, beside the including file's folder.
SEARCHED = ("src", "src/cuda", "include", "cli", "bench", "tests/support", "tests/data", "tests/oracle", "tests/cases",
            "tests/runner", "tests/cuda", "tests/simt", "tests/simt/emulation", "tests/simt/runtime")

# Tests that are about internals: their boundaries, and the rare paths that a run must have taken.
INTERNAL_TESTS = {
    ("tests/cases/row_boundaries_cpu.c", "cpu/sizes.h"),
    ("tests/cases/row_boundaries_cuda.c", "cuda/air/sizes.h"),
    ("tests/cases/row_boundaries_cuda.c", "cuda/gridselect/sizes.h"),
    ("tests/cases/row_boundaries_cuda.c", "cuda/resident/sizes.h"),
    ("tests/cases/row_boundaries_cuda.c", "cuda/rtopk/sizes.h"),
    ("tests/cases/row_boundaries_cuda.c", "cuda/select/sizes.h"),
    ("tests/cases/row_boundaries_cuda.c", "cuda/sort/sizes.h"),
    ("tests/runner/reached_paths.c", "reached.h"),
    ("tests/runner/run.c", "gaps.h"),
    ("tests/internals/choice.c", "choose.h"),
    ("tests/internals/gaps.c", "workspace.h"),
    ("tests/internals/processors.c", "cpu/processors.h"),
    ("tests/internals/team.c", "cpu/team.h"),
    ("tests/simt/kernels/networks.cuh", "select/networks.cuh"),
    ("tests/simt/kernels/queues.cuh", "select/best.cuh"),
    ("tests/simt/emulation/simt_emulation.h", "../../../src/reached.h"),
    ("tests/simt/emulation/emulated_device.cpp", "../../../src/cuda/device.h"),
    ("tests/simt/emulation/emulated_device.cpp", "../../../src/cuda/launch.cuh"),
    ("tests/cuda/devices_emulated.c", "cuda/resident/sizes.h"),
    ("tests/cuda/conditional.c", "gaps.h"),
    ("tests/cuda/conditional.c", "method.h"),
    ("tests/internals/keys.c", "keys.h"),
    ("tests/fuzz/fuzz_tuning.c", "tuning.h"),
    ("tests/internals/aimed.c", "cpu/kernels/kernels.h"),
    ("tests/internals/aimed.c", "reached.h"),
    ("tests/internals/bracket_misses.c", "cuda/bracket/sizes.h"),
    ("tests/internals/bracket_misses.c", "reached.h"),
    ("tests/internals/bracket_way_out.c", "cuda/bracket/sizes.h"),
    ("tests/internals/bracket_way_out.c", "gaps.h"),
    ("tests/internals/bracket_way_out.c", "reached.h"),
    ("tests/internals/room.c", "method.h"),
    ("tests/instructions/loops.c", "cpu/kernels/kernels.h"),
    ("tests/internals/steps.c", "reached.h"),
}

# Files that are named after CUDA and call NCCL as well.
CUDA_AND_NCCL = {"tests/dist/killed_cuda.c"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
CUDA = re.compile(r"\b(cuda_runtime|cuda\.h|cuda_fp16|cooperative_groups|cub/|__global__|__device__|cuda[A-Z]\w+|"
                  r"cu(Ctx|Pointer)[A-Z]\w+)")
DISTRIBUTED = re.compile(r"\b(mpi\.h|nccl\.h|MPI_\w+|nccl[A-Z]\w+)")


def sources(root, *folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".c", ".h", ".cu", ".cuh", ".cc", ".cpp", ".hpp"}:
                yield path.relative_to(root)


def includes(root, path):
    return INCLUDE.findall((root / path).read_text())


def resolves_to(root, path, name):
    """The file under src/ that a quoted include names, or None."""
    for base in ((root / path).parent, root / "src"):
        target = (base / name).resolve()
        if target.is_file() and (root / "src").resolve() in target.parents:
            return target.relative_to(root.resolve())
    return None


def leaf_of(path):
    return path.parts[1] if path.parts[1] in LEAVES else None


def check_leaves(root):
    for path in sources(root, "src"):
        for _, name in includes(root, path):
            target = resolves_to(root, path, name)
            other = leaf_of(target) if target else None
            if target and leaf_of(path) == "dist" != other:
                yield f"{path} includes {name}: dist uses only include/"
                continue
            if other is None or other == leaf_of(path):
                continue
            if leaf_of(path) is None and target.name == "backend.h":
                continue
            yield f"{path} includes {name}: the leaf {other} is not its business"


def method_of(path):
    """The folder of the method that a file of src/ belongs to, or None."""
    leaf = leaf_of(path)
    return path.parts[2] if leaf and len(path.parts) > 3 and path.parts[2] not in SHARED.get(leaf, ()) else None


def check_methods(root):
    for path in sources(root, "src"):
        for _, name in includes(root, path):
            target = resolves_to(root, path, name)
            method = method_of(target) if target and leaf_of(target) == leaf_of(path) else None
            if method and method != method_of(path):
                yield f"{path} includes {target}: the method {method} is not its business"


def check_users(root):
    own = {path.name for path in sources(root, "include", *USERS)}
    for path in sources(root, *USERS):
        for _, name in includes(root, path):
            internal = resolves_to(root, path, name)
            if internal and pathlib.PurePath(name).name not in own and (path.as_posix(), name) not in INTERNAL_TESTS:
                yield f"{path} includes {internal}"


def check_foreign_types(root):
    for path in sources(root, "include", "src", *USERS):
        code = COMMENT.sub("", (root / path).read_text())
        where = path.as_posix()
        cuda_home = where.startswith("src/cuda/") or path.suffix in {".cu", ".cuh"} or "_cuda." in path.name
        dist_home = (where.startswith("src/dist/") or "_mpi." in path.name or "nccl." in path.name or
                     where in CUDA_AND_NCCL)
        if CUDA.search(code) and not cuda_home:
            yield f"{path} uses CUDA: {CUDA.search(code).group()}"
        if DISTRIBUTED.search(code) and not dist_home:
            yield f"{path} uses MPI or NCCL: {DISTRIBUTED.search(code).group()}"


def problems_of(root):
    everything = list(sources(root, "include", "src", *USERS))
    return [*check_leaves(root), *check_methods(root), *check_users(root), *check_foreign_types(root),
            *circles.check(root, everything, SEARCHED)]


def main():
    problems = problems_of(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "layers are kept")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
