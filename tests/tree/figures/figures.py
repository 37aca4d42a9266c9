#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares each measured figure in README.md and on the pages of docs/ with the CSV file that it comes from.

A figure is a number with a decimal point, or one in front of us, ms, ns, s, %, TB/s, GB/s, times, reads or `of` another
number, and those that a list joins to it; a percentage that is kept is none. Each has an entry in a comment behind its
paragraph, list or table:

    <!-- figures h200/air-fig6.csv n=2^30
    1954: {call_us data=normal k=8}
    6.6: {call_us tuning=adaptive=0} / {call_us tuning=adaptive=1}
    4.6: paper
    -->

The first line has a file of docs/benchmarks/ and conditions for all entries; a file without a folder lies beside the
page. What is in braces is a column and the lines meant (records.py); around it stand Python's operators, min, max, gmean,
sum, count (of what is not False), above (a limit), and of columns least and greatest (line by line), at (lines that both
have), last (of repeated ones) and best (of all methods, or values of a knob). Entries come in the order of the figures. In place of an expression: `paper` and `target`, which the text must call by these words, and `given`, for
integers that the text sets. A table has one line of cells for all its rows, or one for each row:

    | n keep_percent | {limit_us} | {call_us}; {to_limit} | - |

The first cell says which columns the numbers of that cell are conditions on (what a row leaves out is as in the row
above), `-` that there are no figures; expressions for several numbers are parted by semicolons. spread(X) stands for
three cells, gmean(X), min(X) and max(X). The text below the heading, or below that of the chapter, must name each file
and its folder. Blocks of comparison.md that bench/comparison.py writes are left to its own test. Every figure must be its
expression rounded to the digits that are printed. Then the same is done with each figure altered in its last digit, and
all of them must be noticed.

usage: figures.py SOURCE_DIR
"""
import decimal
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from records import CONDITION, RecordError, evaluate  # noqa: E402

SPREAD = re.compile(r"spread\((.*)\)")
NUMBER = re.compile(r"(?<![\w^.,/-])\d+(?:\.\d+)?(?![\w^]|\.\d)")
UNIT = re.compile(r"\**(?: ?%(?!\s+kept)| (?:us|ms|ns|s|TB/s|GB/s|times|reads|of \d+(?! bit))\b)")
OTHER = re.compile(r"(=|CUB|CUDA|FlashInfer|RAFT|capability|License|Debian|GCC|glibc|Python|numpy|torch|NCCL|CONTRACT\.md) $")  # settings, versions, sections
JOINED = re.compile(r"\**(?: to |, | and | or )\**$")
COMMENT = re.compile(r"\s*<!-- figures ?(.*)")
BEGINNING = re.compile(r"\||[\d. ]+:")  # of an entry
FENCED = re.compile(r"^```.*?^```$", re.S | re.M)
GENERATED = re.compile(r"<!-- comparison: \w+ -->\n.*?<!-- end -->", re.S)
WORDS = {"paper": r"\bpaper\b", "target": r"\b(target|goal)\b"}


def plain(text):
    """The text on one line, without code and addresses."""
    return re.sub(r"\s+", " ", re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text))


def without(pattern, text):
    """The text with what matches left blank, line by line."""
    return pattern.sub(lambda block: "\n" * block[0].count("\n"), text)


def figures_of(text):
    """The figures of running text, in order, as printed."""
    text = plain(text)
    numbers = list(NUMBER.finditer(text))
    found = []
    later = None  # the number behind, if it is a figure
    for i in reversed(range(len(numbers))):
        number = numbers[i]
        before, after = text[: number.start()], text[number.end():]
        joined = later is not None and JOINED.fullmatch(text[number.end():later.start()])
        counted = text[: number.start()].endswith(" of ") and i > 0 and numbers[i - 1].end() + 4 == number.start()
        counted = counted and not after.startswith(" bit")
        is_other = OTHER.search(before) or after.startswith(" bytes")
        if not is_other and ("." in number[0] or UNIT.match(after) or joined or counted):
            found.append(number[0])
            later = number
        else:
            later = None
    return found[::-1]


def agrees(printed, value):
    digits = decimal.Decimal(1).scaleb(-len(printed.partition(".")[2]))
    return decimal.Decimal(repr(value)).quantize(digits, decimal.ROUND_HALF_UP) == decimal.Decimal(printed)


def altered(printed):
    """Another figure: the last digit is the next one."""
    return printed[:-1] + str((int(printed[-1]) + 1) % 10)


class Block:
    """Lines of a page up to a blank one, and the comment behind them."""

    def __init__(self, line, around):
        self.line, self.around = line, around  # lines below the heading, and below that of the chapter
        self.lines, self.file, self.conditions, self.entries = [], None, [], None

    def text(self):
        return "\n".join(self.lines)

    def begin_comment(self, rest):
        words = rest.split()
        if words and words[0].endswith(".csv"):
            self.file = words.pop(0)
        self.conditions = [CONDITION.fullmatch(word).groups() for word in words]
        self.entries = []

    def add_entry(self, line):
        if BEGINNING.match(line):
            self.entries.append(line.strip())
        else:
            self.entries[-1] += " " + line.strip()


def blocks_of(page):
    blocks, block, chapter, section, comment = [], None, [], [], False
    for number, line in enumerate(page.splitlines(), 1):
        begun = COMMENT.fullmatch(line)
        if comment:
            comment = line.strip() != "-->"
            if comment:
                blocks[-1].add_entry(line)
            continue
        if line.startswith("###"):
            section = []
        elif line.startswith("#"):
            chapter = section = []
        if begun:
            blocks[-1].begin_comment(begun[1])
            comment, block = True, None
            continue
        section.append(line)
        if not line.strip():
            block = None
        else:
            if block is None:
                block = Block(number, (chapter, section))
                blocks.append(block)
            block.lines.append(line)
    return blocks


class Page:
    """Its complaints, and how many figures were compared. With `alter` all of them are others than the page prints."""

    def __init__(self, root, path, alter=False):
        self.root, self.path, self.alter, self.errors, self.compared = root, path, alter, [], 0
        text = without(FENCED, path.read_text())
        if path == root / "docs/benchmarks/comparison.md":
            text = without(GENERATED, text)
        for block in blocks_of(text):
            try:
                self.check(block)
            except (RecordError, ValueError, SyntaxError, TypeError) as error:
                self.complain(block, str(error))

    def complain(self, block, what):
        self.errors.append(f"{self.path.relative_to(self.root)}:{block.line}: {what}")

    def check(self, block):
        if block.entries is None:
            for figure in figures_of(block.text()):
                self.complain(block, f"no entry for {figure}")
        elif block.lines[0].startswith("|"):
            self.check_table(block)
        else:
            self.check_text(block)
        around = "\n".join(sum(block.around, [str(self.path)]))
        entries = " ".join([block.file or "", *(block.entries or [])])
        for folder, name in set(re.findall(r"(?:([\w.-]+)/)?([\w.-]+\.csv)", entries)):
            if f"`{name}`" not in around or folder not in around:
                self.complain(block, f"the text around does not name `{name}` of {folder or 'this folder'}")

    def check_text(self, block):
        figures = figures_of(block.text())
        entries = []
        for entry in block.entries:
            printed, colon, expression = entry.partition(":")
            entries += [(each, expression.strip()) for each in printed.split()]
        if [printed for printed, _ in entries] != figures:
            self.complain(block, f"the text has {figures}, the comment {[printed for printed, _ in entries]}")
            return
        for printed, expression in entries:
            if expression == "given":
                if "." in printed:
                    self.complain(block, f"{printed} is no integer that the text sets")
            elif expression in WORDS:
                if not re.search(WORDS[expression], block.text()):
                    self.complain(block, f"the text does not call {printed} a figure of the {expression}")
            else:
                self.compare(block, printed, expression, [])

    def compare(self, block, printed, expression, keys):
        value = evaluate(expression, self.root, self.path, block.file, block.conditions + keys)
        self.compared += 1
        if not agrees(altered(printed) if self.alter else printed, value):
            self.complain(block, f"{printed} is {value:.6g}, by {expression}")

    def check_table(self, block):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.lines[2:]]
        entries = [SPREAD.sub(r"gmean(\1) | min(\1) | max(\1)", entry) for entry in block.entries]
        templates = [[cell.strip() for cell in re.split(r"\|(?![^{]*\})", entry.strip("|"))] for entry in entries]
        if len(templates) not in (1, len(rows)):
            raise RecordError(f"{len(templates)} lines for {len(rows)} rows")
        keys = {}
        for i, row in enumerate(rows):
            template = templates[i if len(templates) > 1 else 0]
            if len(row) != len(template):
                raise RecordError(f"{len(template)} cells for {len(row)} in row {i + 1}")
            for j, (cell, wanted) in enumerate(zip(row, template)):
                if j == 0 and wanted != "-" and "{" not in wanted:
                    self.take_keys(keys, wanted.split(), plain(cell))
                else:
                    self.check_cell(block, cell, wanted, [(name, "=", value) for name, value in keys.items()])

    @staticmethod
    def take_keys(keys, names, cell):
        values = re.findall(r"\d+\^\d+|\d+\.\d+|[\w-]+", cell.replace("%", ""))
        values = values[: len(names)]
        keys.update(zip(names[len(names) - len(values):], values))

    def check_cell(self, block, cell, wanted, keys):
        if wanted == "-":
            for figure in figures_of(cell):
                self.complain(block, f"no entry for {figure} in a table")
            return
        figures = NUMBER.findall(plain(cell).replace("*", ""))
        expressions = [each.strip() for each in wanted.split(";")]
        if cell and len(figures) != len(expressions):
            self.complain(block, f"'{cell}' has not {len(expressions)} figures")
            return
        for printed, expression in zip(figures, expressions):
            self.compare(block, printed, expression, keys)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    compared = wrong = 0
    for path in [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]:
        page = Page(root, path)
        for error in page.errors:
            print(error)
        compared, wrong = compared + page.compared, wrong + len(page.errors)
        if not page.errors and len(Page(root, path, alter=True).errors) != page.compared:
            print(f"{path.relative_to(root)}: altered figures pass")
            wrong += 1
    print(f"{compared} figures compared with their files, {wrong} complaints")
    return wrong != 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main())
