# SPDX-License-Identifier: Apache-2.0
"""Benchmark records as columns: `{call_us n=2^30 data=normal k<=32768}` is that column of the lines of a CSV file that
meet the conditions. Columns can be reckoned with; two of them are matched line by line, by all that says which point a
line is about and that varies in both."""

import collections
import csv
import functools
import math
import operator
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import record  # noqa: E402

# What says which point a line is about. Of operations without a k, `k` counts matches and is a result.
POINT = ("what operation type data rows n k keep_percent direction order ties index method tuning launch predicate "
         "outputs lengths threads cache kernel at where name").split()
PEERS = "docs/benchmarks/published/peers_h200.csv"
CONDITION = re.compile(r"([\w.]+?)(<=|>=|!=|=|<|>)(.+)")
COMPARE = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


class RecordError(Exception):
    pass


@functools.lru_cache(None)
def value_of(text):
    """A number, also one written 2^26; else the text itself."""
    power = re.fullmatch(r"(\d+)\^(\d+)", text)
    if power:
        return float(int(power[1]) ** int(power[2]))
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return text


def pivot(lines):
    """What Nsight Compute writes, a line for each metric, as a line for each kernel."""
    kernels = {}
    for line in lines:
        name = re.sub(r"^void |[<(].*", "", line["Kernel Name"])
        kernel = kernels.setdefault(int(line["ID"]), {"kernel": name})
        kernel[line["Metric Name"]] = line["Metric Value"]
    return [dict(kernels[i], at=str(at)) for at, i in enumerate(sorted(kernels), 1)]


@functools.lru_cache(None)
def load(path, peers):
    lines = record.read(path)
    if lines and "Metric Name" in lines[0]:
        lines = pivot(lines)
    if lines and "data" in lines[0]:
        add_groups(lines, peers)
    for line in lines:
        if "rows" in line and "n" in line and line.get("lengths", "even") == "even":
            line["elements"] = str(int(line["rows"]) * int(line["n"]))
    return lines


def add_groups(lines, peers):
    """`group`, of the lines about points of peers_h200.csv, unless they say their own."""
    with open(peers, newline="") as file:
        groups = {tuple(line[c] for c in ("rows", "n", "k", "data")): line["group"] for line in csv.DictReader(file)}
    for line in lines:
        if "group" not in line:
            line["group"] = groups.get(tuple(line[c] for c in ("rows", "n", "k", "data")), "")


def meets(line, column, compare, wanted):
    if column not in line:
        raise RecordError(f"no column '{column}'")
    own = value_of(line[column])
    if compare in COMPARE:
        return isinstance(own, float) and COMPARE[compare](own, value_of(line.get(wanted, wanted)))
    same = own in [value_of(line.get(each, each)) for each in wanted.split("|")]
    return same == (compare == "=")


def without(knob, tuning):
    """Settings such as beta=1+exponent=7 without one knob."""
    return "+".join(part for part in tuning.split("+") if part.partition("=")[0] != knob) or "none"


class Column:
    """Numbers, each under what tells its line from the others."""

    def __init__(self, numbers):
        self.numbers = numbers

    def values(self):
        return list(self.numbers.values())

    def combine(self, other, how):
        if not isinstance(other, Column):
            return Column({key: how(value, other) for key, value in self.numbers.items()})
        common = self.names() & other.names()
        mine, theirs = self.reduced(common), other.reduced(common)
        if mine.keys() != theirs.keys():
            raise RecordError(f"lines without a counterpart: {sorted(map(sorted, mine.keys() ^ theirs.keys()))[:3]}")
        return Column({key: how(mine[key], theirs[key]) for key in mine})

    def least(self, other):
        """The lesser of two, line by line, or the first one's where the other has no line."""
        common = self.names() & other.names()
        theirs = other.reduced(common)
        return Column({key: min(value, theirs.get(key, value)) for key, value in self.reduced(common).items()})

    def at(self, other):
        """The lines that the other has, too."""
        common = self.names() & other.names()
        theirs = other.reduced(common)
        return Column({key: value for key, value in self.reduced(common).items() if key in theirs})

    def last(self):
        """Of what was measured more than once the last."""
        return Column({frozenset(item for item in key if item[0] != "again"): value for key, value in self.numbers.items()})

    def best(self, knob):
        """The least of each point, over all methods, or over all values of a knob."""
        least = {}
        for key, value in self.last().numbers.items():
            point = frozenset((name, without(knob, each)) if name == "tuning" else (name, each) for name, each in key
                              if name != "method")
            least[point] = min(value, least.get(point, value))
        return Column(least)

    def names(self):
        """What tells one line from another."""
        items = {item for key in self.numbers for item in key}
        return {name for name, _ in items if len({value for other, value in items if other == name}) > 1}

    def reduced(self, names):
        reduced = {frozenset(item for item in key if item[0] in names): value for key, value in self.numbers.items()}
        if len(reduced) != len(self.numbers):
            raise RecordError("several lines for one counterpart")
        return reduced

    def __truediv__(self, other):
        return self.combine(other, operator.truediv)

    def __add__(self, other):
        return self.combine(other, operator.add)

    def __sub__(self, other):
        return self.combine(other, operator.sub)

    def __mul__(self, other):
        return self.combine(other, operator.mul)

    def __rmul__(self, other):
        return self.combine(other, operator.mul)

    def __rsub__(self, other):
        return self.combine(other, lambda a, b: b - a)

    def __rtruediv__(self, other):
        return self.combine(other, lambda a, b: b / a)

    def __le__(self, other):
        return self.combine(other, operator.le)

    def __gt__(self, other):
        return self.combine(other, operator.gt)


def look_up(path, peers, column, conditions):
    """The column of the lines that meet all conditions, (name, comparison, value) each."""
    numbers, measured = {}, collections.Counter()
    fixed = {name for name, compare, wanted in conditions if compare == "=" and "|" not in wanted}
    for line in load(path, peers):
        if not all(meets(line, *condition) for condition in conditions):
            continue
        if line.get("check", "ok") != "ok":
            raise RecordError(f"a line that is '{line['check']}'")
        counted = line.get("operation") in ("where", "count", "mask")
        key = frozenset((name, line[name]) for name in POINT
                        if line.get(name) is not None and name not in fixed and not (name == "k" and counted))
        if column not in line or not isinstance(value_of(line[column]), float):
            raise RecordError(f"no number in column '{column}'")
        again = measured[key]  # a point that was measured more than once
        measured[key] += 1
        numbers[key | {("again", again)} if again else key] = value_of(line[column])
    if not numbers:
        raise RecordError(f"no line of {path.name} has {' '.join(''.join(each) for each in conditions)}")
    return Column(numbers)


def flat(numbers):
    return numbers.values() if isinstance(numbers, Column) else [numbers]


FUNCTIONS = {
    "min": lambda *columns: min(min(flat(each)) for each in columns),
    "max": lambda *columns: max(max(flat(each)) for each in columns),
    "above": lambda n, limit: Column({key: value for key, value in n.numbers.items() if value > limit}),
    "least": lambda a, b: a.least(b),
    "greatest": lambda a, b: a.combine(b, max),
    "at": lambda a, b: a.at(b),
    "last": lambda n: n.last(),
    "best": lambda n, knob=None: n.best(knob),
    "sum": lambda n: sum(flat(n)),
    "count": lambda n: len([each for each in flat(n) if each is not False]),
    "gmean": lambda n: math.exp(math.fsum(map(math.log, flat(n))) / len(flat(n))),
}


def path_of(name, root, page):
    """FOLDER/FILE among the records, or a file beside the page."""
    return root / "docs/benchmarks" / name if "/" in name else page.parent / name


def evaluate(text, root, page, file, defaults):
    """What an expression over columns comes to; `file` and `defaults` hold where a column names no other."""
    columns = []

    def take(match):
        words = match[1].split()
        name = words.pop(0) if words[0].endswith(".csv") else file
        if name is None:
            raise RecordError("no file")
        own = [CONDITION.fullmatch(word) for word in words[1:]]
        if None in own:
            raise RecordError(f"not a condition: {words[1:][own.index(None)]}")
        own = [condition.groups() for condition in own]
        kept = [each for each in defaults if each[0] not in {condition[0] for condition in own}]
        columns.append(look_up(path_of(name, root, page), root / PEERS, words[0], kept + own))
        return f"_columns[{len(columns) - 1}]"

    code = re.sub(r"\{([^}]*)\}", take, text)
    result = eval(code, {"__builtins__": {}}, dict(FUNCTIONS, _columns=columns))
    if isinstance(result, Column):
        if len(result.numbers) != 1:
            raise RecordError(f"{len(result.numbers)} lines")
        result = result.values()[0]
    return float(result)
