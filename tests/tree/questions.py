#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Who has never seen the project finds the call for each of twenty questions from README.md alone, within two pages: the page
is linked from README.md, or from a page that is; it has the heading, and the call stands under that. What calls name is there:
functions and constants of C in the headers, functions of Python in the package, commands and options in the tool's man page.

usage: questions.py SOURCE_DIR
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import links  # noqa: E402

WHICH = "docs/which_call.md"
BEST, KTH, MATCHES, PARTS = "The best elements of rows", "The k-th element", "Elements that meet a predicate", "Data in parts"
PROGRAMS, TIES = "Inside other programs", "Ties, NaN, order"
QUESTIONS = (
    ("The ten best of each row of a matrix, in C?", WHICH, BEST, "topk_simple_select"),
    ("The positions alone, in Python?", WHICH, BEST, "argtopk(x, k)"),
    ("The best of rows of different lengths?", WHICH, BEST, "topk_input.lengths"),
    ("The best among elements above a bound?", WHICH, BEST, "select_where(x, k, gt=0)"),
    ("The k-th element, and how many are better?", WHICH, KTH, "topk_kth"),
    ("The median?", WHICH, KTH, "median(x)"),
    ("The elements above a bound, in order?", WHICH, MATCHES, "topk_where"),
    ("How many elements are above a bound?", WHICH, MATCHES, "count(x, gt=2.5)"),
    ("A bit mask of the elements above a bound?", WHICH, MATCHES, "topk_mask"),
    ("The experts of each token?", WHICH, "Experts of a token", "topk_route"),
    ("Chunks of a stream?", WHICH, PARTS, "topk_accumulator_push"),
    ("Lists of candidates from several machines?", "docs/merge.md", "Example", "topk_simple_run_merge"),
    ("Rows over several GPUs?", "docs/distributed.md", "GPUs of one machine", "topk_dist_group_create_peer"),
    ("The ten dearest lines of a CSV file, at the shell?", WHICH, "Text and tables at the shell",
     "topk select sales.csv -k 10 --csv --column price"),
    ("How large is the workspace of a call in a CUDA graph?", WHICH, PROGRAMS, "topk_workspace_size"),
    ("torch, with gradients?", "python/README.md", "torch", "from libtopk.torch import MaxK, topk"),
    ("JAX, under jit?", "python/README.md", "JAX", "jax.jit(lambda x: top_k(x, 10))(x)"),
    ("What replaces np.argpartition?", "docs/coming_from.md", "numpy", "libtopk.argtopk(x, k, sorted=False)"),
    ("Ties by the lowest position, and NaN last?", WHICH, TIES, "nan = TOPK_NAN_LAST"),
    ("What does a status mean?", WHICH, "What went wrong, and what is slow", "topk_last_error"),
)
HEADING = re.compile(r"^(#+) (.*)$", re.M)
FENCED = re.compile(r"^```.*?^```$", re.S | re.M)
CODE = re.compile(r"`([^`\n]+)`")


def linked_from(source, page):
    """The pages of the project that a page links to."""
    for link in links.INLINE.findall(links.text_of(page)):
        target = (page.parent / link.partition("#")[0]).resolve()
        if target.suffix == ".md" and target.is_relative_to(source):
            yield target


def within_two_pages(source):
    first = set(linked_from(source, source / "README.md"))
    return first.union(*(linked_from(source, page) for page in first if page.exists()))


def under(text, heading):
    """What stands under a heading, to the next one of its level or above; None where there is no such heading."""
    fences = [found.span() for found in FENCED.finditer(text)]
    headings = [found for found in HEADING.finditer(text) if not any(a <= found.start() < b for a, b in fences)]
    for at, found in enumerate(headings):
        if found[2] == heading:
            ends = (later.start() for later in headings[at + 1:] if len(later[1]) <= len(found[1]))
            return text[found.end():next(ends, len(text))]
    return None


def unanswered(source):
    near = within_two_pages(source)
    for question, page, heading, call in QUESTIONS:
        path = source / page
        if path not in near:
            yield f"{question} No link leads to {page} within two pages from README.md"
        answer = under(path.read_text(), heading)
        if answer is None:
            yield f"{question} {page} has no heading '{heading}'"
        elif call not in answer:
            yield f"{question} '{call}' does not stand under '{heading}' of {page}"


def named_in_vain(source):
    """Names of the page of all calls that nothing has."""
    text = (source / WHICH).read_text()
    headers = "".join(path.read_text() for path in (source / "include").iterdir())
    package = "".join(path.read_text() for path in (source / "python/libtopk").rglob("*.py"))
    manual = (source / "cli/topk.1").read_text().replace("\\-", "-")
    codes = CODE.findall(FENCED.sub("", text)) + "".join(FENCED.findall(text)).splitlines()
    for code in codes:
        for name in re.findall(r"\b(?:topk|TOPK)_\w+", code):
            if not re.search(rf"\b{name}\b", headers) and f"def {name}(" not in package:
                yield f"{WHICH} names {name}, which no header has"
        for name in re.findall(r"^(?!help\b)(?:libtopk\.)?(\w+)\(", code):
            if not re.search(rf"^\s*(?:def|class) {name}\b|\b{name}\b.*import|^from.*\b{name}\b", package, re.M):
                yield f"{WHICH} names {name}(), which the package has not"
        for name in re.findall(r"--[a-z-]+", code):
            if name not in manual:
                yield f"{WHICH} names {name}, which the man page has not"


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    complaints = [*unanswered(source), *named_in_vain(source)]
    if len({question for question, *_ in QUESTIONS}) != 20:
        complaints.append("there are to be twenty questions")
    print(*complaints, f"{len(QUESTIONS)} questions, {len(complaints)} complaints", sep="\n")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
