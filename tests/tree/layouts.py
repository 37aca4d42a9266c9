#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Structs of the interface keep the layout that each release gave them: programs that were built with its headers
go on working (CONTRACT.md, 8.2). Those that begin with their size may grow, by whole words behind what an
earlier release had, padding included; each word is a field or several. All others never change. Enumerators keep their
numbers, and new ones begin with the name of their type.

usage: layouts.py SOURCE_DIR
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRUCT = re.compile(r"typedef struct (\w+) \{\n(.*?)\n\} \1;", re.DOTALL)
NESTED = re.compile(r"(struct|union) \{.*?\}", re.DOTALL)
FIELD = re.compile(r"(\w+)(\[\w+\])*;")
ENUM = re.compile(r"typedef enum topk_(\w+) \{(.*?)\} topk_\1;", re.DOTALL)
ENUMERATOR = re.compile(r"(TOPK_\w+)\s*=\s*(\d+)")
# Of types whose enumerators do not begin with the type's first word.
PREFIX = {"status": "TOPK_ERROR_", "predicate_kind": "TOPK_"}
WORD = 8


def fields_of(body):
    return [match.group(1) for match in FIELD.finditer(NESTED.sub("nested", body))]


def text_of(folder):
    return COMMENT.sub("", "".join(path.read_text() for path in sorted(folder.glob("*.h"))))


def enumerators_of(folder):
    """{enumerator: (type, number)}"""
    return {name: (match.group(1), number) for match in ENUM.finditer(text_of(folder))
            for name, number in ENUMERATOR.findall(match.group(2))}


def misnamed(before, now):
    for name, (kind, number) in before.items():
        if now.get(name) != (kind, number):
            yield f"{name} is {number} in topk_{kind} of a release, now {now.get(name)}"
    for name in sorted(now.keys() - before.keys()):
        kind = now[name][0]
        prefix = PREFIX.get(kind, f"TOPK_{kind.split('_')[0].removesuffix('s').upper()}_")
        if not name.startswith(prefix):
            yield f"{name} of topk_{kind} does not begin with {prefix}"


def layouts(folder, compiler):
    """{struct: (size, {field: (begin, end)})} of the headers in a folder, as the compiler lays them out."""
    structs = {match.group(1): fields_of(match.group(2)) for match in STRUCT.finditer(text_of(folder))}
    lines = [f'printf("{struct} {field} %zu %zu\\n", offsetof({struct}, {field}), sizeof(({struct} *)0)->{field});'
             for struct, fields in structs.items() for field in fields]
    lines += [f'printf("{struct} - %zu 0\\n", sizeof({struct}));' for struct in structs]
    with tempfile.TemporaryDirectory() as work:
        headers = "".join(f'#include "{path.name}"\n' for path in folder.glob("*.h")
                          if not path.name.endswith(("_mpi.h", "_nccl.h")))
        source, program = pathlib.Path(work, "layouts.c"), pathlib.Path(work, "layouts")
        source.write_text(headers + '#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n'
                          + "\n".join(lines) + "\n}\n")
        subprocess.run([compiler, f"-I{folder}", source, "-o", program], check=True)
        output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    found = {struct: [0, {}] for struct in structs}
    for struct, field, begin, size in (line.split() for line in output.splitlines()):
        if field == "-":
            found[struct][0] = int(begin)
        else:
            found[struct][1][field] = (int(begin), int(begin) + int(size))
    return found


def differences(release, struct, before, now):
    (size, fields), (size_now, fields_now) = before, now
    for field, place in fields.items():
        if fields_now.get(field) != place:
            yield f"{struct}.{field} is at {fields_now.get(field)}, in {release} it was at {place}"
    if "size" not in fields:
        if now != before:
            yield f"{struct} is not what it was in {release}, and has no size to tell"
        return
    end = size
    for field, (begin, field_end) in sorted(fields_now.items(), key=lambda item: item[1]):
        if field in fields:
            continue
        if begin < size:
            yield f"{struct}.{field} begins at {begin}, within the {size} bytes that {release} had"
        elif begin != end:
            yield f"{struct}.{field} begins at {begin}, and leaves a gap from {end} on"
        if begin // WORD != (field_end - 1) // WORD:
            yield f"{struct}.{field} is more than a word: a program may have a part of it"
        end = max(end, field_end)
    if end != size_now:
        yield f"{struct} ends in padding, which a later field would share: fill the word"


def main():
    source = pathlib.Path(sys.argv[1])
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        sys.exit(77)
    now = layouts(source / "include", compiler)
    releases = sorted(path for path in (source / "tests" / "releases").iterdir() if path.is_dir())
    problems = [] if releases else ["no release is kept"]
    enumerators = enumerators_of(source / "include")
    for folder in releases:
        problems += misnamed(enumerators_of(folder), enumerators)
        for struct, before in layouts(folder, compiler).items():
            if struct not in now:
                problems.append(f"{struct} of {folder.name} is gone")
            else:
                problems += differences(folder.name, struct, before, now[struct])
    print(*problems, f"{len(now)} structs, {len(problems)} problems", sep="\n")
    sys.exit(bool(problems) or len(now) < 7)


main()
