#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the built library defines: only names with the prefix, and no mutable globals.

usage: symbols.py LIBTOPK.so|LIBTOPK_DIST.so HEADER_DIR[,TRANSPORT...] ARCHIVE.a...

Headers of libtopk_dist's transports (mpi, nccl) count if they are named, for a library that has them.
"""
import pathlib
import re
import subprocess
import sys

# Mutable data that may exist. Everything else that is writable would be state shared between calls.
# The methods of a thread's last problems and the number of contexts there were change no answer.
# The archive of the test build counts the rare paths it takes, and watches the gaps of workspaces.
ALLOWED_DATA = {"last_error", "first_process", "memories", "next_memory", "contexts", "topk_reached_counts",
                "topk_gaps", "topk_gap_count", "topk_gap_broken", "topk_gaps_lock"}

# Tables of pointers that the loader makes read-only (.data.rel.ro) are no mutable data.
MUTABLE_SECTION = re.compile(r"^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)(\.(?!rel\.ro).*)?$")

# What the linker and the C runtime add to every shared library.
RUNTIME = re.compile(r"^(__\w+|completed\.\d+|DW\.ref\.\w+)$")

# What nvcc and the CUDA runtime, which is linked in, keep for launching kernels.
TOOLKIT = re.compile(r"^(libcudart_static_\w+|_ZG?V?ZL?\d+__device_stub__\w+|_ZL\d+__cudaFatCubinHandle)$")


def symbols(path, *options):
    """(type letter, name) of each symbol that the file defines."""
    lines = subprocess.run(["nm", "--defined-only", *options, path], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    for fields in (line.split() for line in lines):
        if len(fields) == 3:
            yield fields[1], fields[2]


def check_exports(library, header_directory, transports):
    exported = {name for _, name in symbols(library, "-D")}
    is_dist = "topk_dist" in pathlib.Path(library).name
    headers = (path for path in sorted(pathlib.Path(header_directory).glob("*.h"))
               if path.name.startswith("topk_dist") == is_dist
               and path.name not in {f"topk_dist_{name}.h" for name in {"mpi", "nccl"} - set(transports)})
    text = "".join(path.read_text() for path in headers)
    declared = set(re.findall(r"TOPK_API[^;(]*?(topk_\w+)\(", text))
    yield from (f"{library} exports {name}, which no public header declares" for name in sorted(exported - declared))
    yield from (f"{library} does not export {name}" for name in sorted(declared - exported))


def check_prefix(archive):
    for letter, name in symbols(archive, "-g"):
        if not name.startswith("topk_"):
            yield f"{archive} has the global symbol {name}"


def check_data(path):
    lines = subprocess.run(["objdump", "-t", path], check=True, capture_output=True, text=True).stdout.splitlines()
    for match in (re.match(r"^[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+\s+(?:\.\w+ )?(\S+)$", line) for line in lines):
        if match is None or "d" in match[1]:  # a section's own symbol
            continue
        name = re.sub(r"\.\d+$", "", match[3])
        known = RUNTIME.match(match[3]) or TOOLKIT.match(match[3]) or name in ALLOWED_DATA
        if MUTABLE_SECTION.match(match[2]) and not known:
            yield f"{path} has the mutable global {match[3]} in {match[2]}"


def main():
    library, headers, *archives = sys.argv[1:]
    directory, *transports = headers.split(",")
    problems = [*check_exports(library, directory, transports), *check_data(library)]
    for archive in archives:
        problems += [*check_prefix(archive), *check_data(archive)]
    print("\n".join(problems) or "only topk_ names, no mutable globals")
    sys.exit(bool(problems))


main()
