#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each link of a page leads to a file, and to a heading where it names one. Nothing is asked of addresses of the web.

usage: links.py ROOT LEAST      the source folder, or installed documents; there must be LEAST links
"""
import os
import pathlib
import re
import sys

FENCED = re.compile(r"^```.*?^```$", re.S | re.M)
INLINE = re.compile(r"\]\(([^)\s]+)\)")
DEFINED = re.compile(r"^\[[^\]]+\]: (\S+)$", re.M)
HEADING = re.compile(r"^#+ (.*)$", re.M)


def pages_of(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".", "build"))]
        yield from (pathlib.Path(folder) / name for name in files if name.endswith(".md"))


def text_of(page):
    return FENCED.sub("", page.read_text())


def anchors_of(page):
    """As GitHub names headings."""
    return {re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-") for words in HEADING.findall(text_of(page))}


def leads_nowhere(root, page, link):
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not target.is_relative_to(root):
        return True
    return anchor and (target.suffix != ".md" or anchor not in anchors_of(target))


def main():
    root, least = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
    links = dangling = 0
    for page in pages_of(root):
        text = text_of(page)
        for link in INLINE.findall(text) + DEFINED.findall(text):
            if re.match(r"\w+:", link):
                continue
            links += 1
            if leads_nowhere(root, page, link):
                dangling += 1
                print(f"{page.relative_to(root)}: {link} leads nowhere")
    print(f"{links} links, {dangling} of them lead nowhere")
    return dangling != 0 or links < least


if __name__ == "__main__":
    sys.exit(main())
