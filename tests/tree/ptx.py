#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the primitives of simt.cuh become: a fence that a header promises must be in the PTX.

Compiles tests/cuda/primitives.cu, for the GPUs that have all that simt.cuh knows of, for the portable path, and for
that of sm_80 where a comment tells one, and compares each kernel's instructions with the comment before it. The assembler must take them, too. Needs nvcc and no GPU.

No pointer may become one to local memory either, in kernels where a compiler did that to one of global memory.

usage: ptx.py NVCC SOURCE_DIR
"""
import pathlib
import re
import subprocess
import sys

KERNEL = re.compile(r"/\*((?:[^*]|\*(?!/))*)\*/\nPRIMITIVE\((\w+)\)")
ENTRY = re.compile(r"\.entry (\w+)\(.*?\n\}", re.DOTALL)
INSTRUCTION = re.compile(r"^\s*(?:@!?%?\w+\s+)?\{?\s*([a-z][\w.:]*)[\s;]", re.MULTILINE)
COUNTS = re.compile(r"(ld|st|atom|red|fence|membar|bar|barrier|shfl|vote|match|redux|griddepcontrol|mapa|"
                    r"mbarrier|cp|prefetch)\b"
                    r"|(add|mul|div)\.(\w+\.)*f|fma|ex2|rcp|max\.NaN|cvt\.f32\.f16")
DEFINED = re.compile(r"^(?:template <[^>]*> )?TOPK_DEVICE [^;{]*?\b(simt_\w+)\(", re.MULTILINE)

# Coordinates, bits, comparisons and parts of other primitives: they neither touch memory, nor meet anyone, nor round.
NO_PRIMITIVES = re.compile(r"simt_(threads?|lane|warps?|blocks?|blocks?_y|popc|clz|ffs|signs|byte_pair|shared_at|in_register|pick_halves|"
                           r"count_from|min_of_sums?(16)?|load_groups|unknown_one|from_native|combine_lanes|shared_address|"
                           r"float_(of_bits|max|min|magnitude)|bits_of_float)$")

# Another spelling of the same.
SAME = {"barrier.sync.aligned": "bar.sync", "barrier.red.popc.aligned.u32": "bar.red.popc.u32"}


def repeated(words):
    """The instructions of a comment; a*3 stands for three of them."""
    for word in words.split():
        name, _, times = word.partition("*")
        yield from [name] * int(times or 1)


def expectations(source, path):
    """Of each kernel, for a path: "usual", "portable" or "sm_80"."""
    found = {}
    for comment, name in KERNEL.findall(source):
        text = re.sub(r"^ \*", "", comment, flags=re.MULTILINE)
        parts = re.split("(portable|sm_80):", "usual:" + text)
        told = dict(zip(("usual", *parts[1::2]), (parts[0][len("usual:"):], *parts[2::2])))
        if path in told or path == "portable":
            found[name] = list(repeated(told.get(path, told["usual"])))
    return found


def instructions(ptx):
    for entry in ENTRY.finditer(ptx):
        names = (SAME.get(name, name) for name in INSTRUCTION.findall(entry.group(0)))
        yield entry.group(1), [n for n in names if COUNTS.match(n) and not n.startswith("ld.param")]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def compile_to_ptx(nvcc, root, source, options):
    return run(nvcc, "-ptx", "-std=c++17", "-I", root / "src/cuda", *options, "-o", "-", source)


def unused_primitives(root, source):
    for header in sorted((root / "src/cuda/simt").glob("*.cuh")):
        for name in sorted(set(DEFINED.findall(header.read_text()))):
            if not NO_PRIMITIVES.match(name) and not re.search(rf"\b{name}\b", source.read_text()):
                yield f"{header.name}: {name} has no kernel in {source.name}"


def pointers_to_local_memory(nvcc, root, kernels):
    ptx = compile_to_ptx(nvcc, root, root / kernels, 
                         ["-arch=compute_90", "-O3", "-I", root / "include", "-DKEY_BITS=64", "-DINSTANCE=kernels"])
    if "cvta.to.local" in ptx:
        yield f"{kernels}: a pointer becomes one to local memory"


def main():
    nvcc, root = sys.argv[1], pathlib.Path(sys.argv[2])
    source = root / "tests/cuda/primitives.cu"
    wrong = list(unused_primitives(root, source))
    for path, options in (("sm_80", ["-arch=compute_80"]), ("sm_80", ["-arch=compute_90", "-DTOPK_PORTABLE=80"]),
                          ("portable", ["-arch=compute_90", "-DTOPK_PORTABLE"]), ("portable", ["-arch=compute_75"]),
                          ("usual", ["-arch=compute_90"])):
        expected = expectations(source.read_text(), path)
        got = dict(instructions(compile_to_ptx(nvcc, root, source, options)))
        for name in sorted(expected if path == "sm_80" else expected.keys() | got.keys()):
            if expected.get(name) != got.get(name):
                wrong.append(f"{name} {' '.join(options)}: {got.get(name)}, not {expected.get(name)}")
    for architecture in ("sm_90", "sm_80", "sm_75"):
        run(nvcc, "-cubin", "-std=c++17", "-I", root / "src/cuda", f"-arch={architecture}", "-o", "/dev/null", source)
    wrong += pointers_to_local_memory(nvcc, root, "src/cuda/accumulate/kernels.cu")
    print("\n".join(wrong) or f"{len(expected)} kernels have the instructions that they should have")
    sys.exit(bool(wrong))


main()
