#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Comments say plainly what they mean. Some constructions make a sentence hard to read: "of which", "that of", "those of",
"who has", "so many". In each part of the tree they occur at most 1.5 times in 1000 words of comments and docstrings.

usage: words.py SOURCE_DIR
"""
import functools
import pathlib
import re
import sys

PARTS = ("bench", "cli", "examples", "include", "python", "scripts", "src", "tests")
IN_1000 = 1.5
HARD = re.compile(r"\b(?:of which|that of|those of|who has|so many)\b", re.IGNORECASE)
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PYTHON_COMMENT = re.compile(r'"""(?!\\).*?"""|#[^\n]*', re.DOTALL)
COMMENTS = {".py": PYTHON_COMMENT} | dict.fromkeys((".c", ".h", ".hpp", ".cpp", ".cu", ".cuh", ".def"), C_COMMENT)


@functools.cache
def counted(text, suffix):
    """The number of words in the comments of a file, and the hard ones: (line on which the comment begins, words)."""
    words, hard = 0, []
    for found in COMMENTS[suffix].finditer(text):
        comment = " ".join(re.sub(r"\n\s*\*? *", " ", found[0]).split())
        words += len(comment.split())
        hard += [(text.count("\n", 0, found.start()) + 1, one) for one in HARD.findall(comment)]
    return words, hard


def problems_of(root):
    for part in PARTS:
        words, hard = 0, []
        for path in sorted(path for path in (root / part).rglob("*") if path.suffix in COMMENTS):
            more, found = counted(path.read_text(), path.suffix)
            words += more
            hard += [f"  {path.relative_to(root)}:{line}: {one}" for line, one in found]
        if len(hard) > IN_1000 / 1000 * words:
            yield "\n".join([f"{part}: hard words {1000 * len(hard) / words:.2f} times in 1000, more than {IN_1000}:", *hard])


def main():
    problems = list(problems_of(pathlib.Path(sys.argv[1])))
    print("\n".join(problems) or "comments have few hard words")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
