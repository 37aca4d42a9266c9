# SPDX-License-Identifier: Apache-2.0
"""The command line of `python -m libtopk`: the commands and options of the tool `topk`, over tables."""
import argparse
import csv
import io
import json
import re
import sys

import numpy as np

from libtopk import _api, _nulls, _tables
from libtopk._accumulator import Accumulator
from libtopk._tables import Table, TableError

USAGE, FAILED = 2, 1
KINDS = "gt", "ge", "lt", "le", "eq", "ne"
SIGNS = {">": "gt", ">=": "ge", "<": "lt", "<=": "le", "=": "eq", "==": "eq", "!=": "ne"}
CHUNK = 1 << 20


class UsageError(Exception):
    """A command line that makes no sense."""


# ---- Numbers as they are written and printed ----------------------------------------------------


def bound_of(text, dtype):
    """The number of a bound. What is printed for an element of a float means that element."""
    try:
        number = int(text) if re.fullmatch(r"\s*[+-]?\d+\s*", text) else float(text)
    except ValueError:
        raise UsageError(f"bound '{text}' is not a number") from None
    if isinstance(number, int) and not -2**63 <= number < 2**64:
        nearest = float(number)
        if np.isfinite(nearest) and int(nearest) != number:
            raise UsageError(f"bound '{text}' cannot be held exactly by int64, uint64 or float64")
        number = nearest
    if dtype.kind == "f" and dtype.itemsize < 8 and np.isfinite(float(number)):
        with np.errstate(over="ignore"):
            element = dtype.type(number)
        if np.isfinite(element) and float(text_of(element)) == float(number):
            return float(element)
    return number


def text_of(value):
    """As the tool prints an element: of floats the shortest decimal that reads as the same one."""
    if not isinstance(value, np.floating):
        return str(value)
    if not np.isfinite(value):
        return str(value)
    mantissa, _, exponent = np.format_float_scientific(value, unique=True, trim="-").partition("e")
    sign, digits = "-" * mantissa.startswith("-"), mantissa.strip("-").replace(".", "")
    point = int(exponent) + 1  # the value is 0.DIGITS * 10^point
    if value == 0:
        return sign + "0"
    if not -3 <= point <= 16:
        return f"{sign}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1:+03d}"
    if point <= 0:
        return sign + "0." + "0" * -point + digits
    whole = digits[:point].ljust(point, "0")
    return sign + whole + ("." + digits[point:] if digits[point:] else "")


def json_number(value):
    text = text_of(value)
    return text if isinstance(value, np.integer) or np.isfinite(value) else f'"{text}"'


# ---- Columns -------------------------------------------------------------------------------------


def _is_text(kind):
    types = _tables.pyarrow().types
    return types.is_string(kind) or types.is_large_string(kind) or getattr(types, "is_string_view", bool)(kind)


def _is_number(kind):
    types = _tables.pyarrow().types
    return types.is_integer(kind) or types.is_floating(kind)


def _decoded(column):
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _value_type(kind):
    return kind.value_type if _tables.pyarrow().types.is_dictionary(kind) else kind


def _numbers(column):
    """(numbers, a flag for each that is no null; None: all are none)."""
    column = _decoded(column)
    if column.null_count == 0:
        return column.to_numpy(zero_copy_only=False), None
    numbers, bits = _nulls.split_pyarrow(column)
    return numbers, _nulls.unpacked(bits, len(column))


def _met(numbers, predicate):
    """A flag for each number that meets a predicate of the library's."""
    bits = _api.mask(numbers, **predicate)
    return np.unpackbits(np.asarray(bits).view(np.uint8), count=len(numbers), bitorder="little").view(bool)


class Condition:
    """What another column must be, as in "year>=2020"."""

    def __init__(self, text):
        found = re.fullmatch(r"([^<>=!]+)(>=|<=|==|!=|>|<|=)(.*)", text, re.DOTALL)
        if not found or not found[1].strip():
            raise UsageError(f"--if: '{text}' is no column, comparison and value, such as 'price>=2.5' or 'city=Rome'")
        self.text, self.column, self.kind, self.value = text, found[1].strip(), SIGNS[found[2]], found[3].strip()

    def check(self, kind):
        """Reads the value, as one of the column's type. TableError where it is none."""
        pa, kind = _tables.pyarrow(), _value_type(kind)
        self.is_number = _is_number(kind)
        if self.is_number:
            self.bound = bound_of(self.value, np.dtype(kind.to_pandas_dtype()))
            return
        if _is_text(kind) and self.kind not in ("eq", "ne"):
            raise UsageError(f"--if '{self.text}': column '{self.column}' is text, which has no order")
        try:
            self.bound = pa.scalar(self.value).cast(kind)
        except (pa.ArrowException, NotImplementedError) as error:
            raise UsageError(f"--if '{self.text}': '{self.value}' is no {kind}: {str(error).splitlines()[0]}") from None

    def flags(self, batch):
        """Which rows of a batch meet it. Nulls never do."""
        column = _decoded(batch.column(self.column))
        if self.is_number:
            numbers, valid = _numbers(column)
            met = _met(numbers, {self.kind: self.bound})
            return met if valid is None else met & valid
        compute = _tables.pyarrow("pyarrow.compute")
        names = {"gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal"}
        met = getattr(compute, names[self.kind])(column, self.bound)
        return met.fill_null(False).to_numpy(zero_copy_only=False)


class Elements:
    """The elements of a column that meet all conditions, batch by batch."""

    def __init__(self, options):
        self.table = Table(options.input, options.format)
        self.column = self._choose(options.column)
        kind = _value_type(self.table.type_of(self.column))
        if not _is_number(kind):
            raise TableError(f"{options.input}: column '{self.column}' has type {kind}, and elements are integers or floats")
        self.dtype = np.dtype(kind.to_pandas_dtype())
        self.predicates = [{name: tuple(bound_of(text, self.dtype) for text in value) if name == "between" else
                            bound_of(value, self.dtype)} for name, value in options.comparisons]
        self.conditions = [Condition(text) for text in options.conditions]
        for condition in self.conditions:
            self._check_name(condition.column)
            condition.check(self.table.type_of(condition.column))
        self.length = 0

    def _choose(self, name):
        names = self.table.names
        if name is None and len(names) == 1:
            return names[0]
        if name is None:
            raise UsageError(f"--column says which column: there are {', '.join(names)}")
        self._check_name(name)
        return name

    def _check_name(self, name):
        count = self.table.names.count(name)
        if count != 1:
            raise TableError(f"the table has {'no' if count == 0 else 'more than one'} column '{name}'; "
                             f"there are {', '.join(self.table.names)}")

    def batches(self, columns=(), wanted=None):
        """(first position, batch, numbers, a flag for each that takes part; None: all do)."""
        used = {self.column: 0, **{condition.column: 0 for condition in self.conditions}, **dict.fromkeys(columns, 0)}
        for begin, batch in self.table.batches(used, wanted):
            self.length = max(self.length, begin + len(batch))
            if len(batch) == 0:
                continue
            numbers, flags = _numbers(batch.column(self.column))
            for met in (*(_met(numbers, predicate) for predicate in self.predicates),
                        *(condition.flags(batch) for condition in self.conditions)):
                flags = met if flags is None else flags & met
            yield begin, batch, numbers, flags

    def numbers(self):
        """Of each batch the elements that take part."""
        for _, _, numbers, flags in self.batches():
            yield numbers if flags is None else numbers[flags]


# ---- Answers -------------------------------------------------------------------------------------


class Report:
    """Prints results as the tool does: of a table with one column index and value, of others whole rows behind a header."""

    def __init__(self, options, elements, command):
        self._json, self._any, self._elements = options.json, False, elements
        self._rows = elements is not None and (options.column is not None or len(elements.table.names) > 1)
        self._command, self._options = command, options

    def begin(self, prints_rows):
        if self._json:
            dtype = self._elements.dtype
            head = {"command": self._command, "input": self._options.input, "type": f"{dtype.kind}{8 * dtype.itemsize}"}
            if self._options.k is not None:
                places = self._options.places
                head["k"] = int(self._options.k) if places is None or (len(places) == 1 and places[0].isdigit()) else [
                    int(place) if place.isdigit() else place for place in places]
            print(json.dumps(head)[:-1] + ', "results": [', end="")
        elif prints_rows and self._rows:
            print(self._line(self._elements.table.names))

    @property
    def columns(self):
        """Whose values a result needs."""
        return self._elements.table.names if self._rows else ()

    @staticmethod
    def _line(fields):
        file = io.StringIO()
        csv.writer(file, lineterminator="").writerow(fields)
        return file.getvalue()

    @staticmethod
    def _cells(column):
        """The fields of a column. Nulls are empty."""
        column = _decoded(column)
        if not _tables.pyarrow().types.is_floating(column.type):
            cells = column.to_pylist()
            return ["" if cell is None else str(cell).lower() if isinstance(cell, bool) else cell for cell in cells]
        numbers, valid = _numbers(column)
        return [text_of(number) if valid is None or valid[at] else "" for at, number in enumerate(numbers)]

    def texts(self, batch, places):
        """Rows of a batch as lines; None for each where results are not whole rows."""
        if not self._rows:
            return [None] * len(places)
        taken = batch.select(self.columns).take(_tables.pyarrow().array(places))
        return [self._line(fields) for fields in zip(*map(self._cells, taken.columns))]

    def result(self, index, value, text):
        if self._json:
            members = f'"index": {index}, "value": {json_number(value)}'
            self.member(members if text is None else f'{members}, "text": {json.dumps(text, ensure_ascii=False)}')
        else:
            print(f"{index}\t{text_of(value)}" if text is None else text)

    def member(self, members):
        print(f"{',' * self._any}\n{{{members}}}", end="")
        self._any = True

    def end(self):
        if self._json:
            print(f'\n], "length": {self._elements.length}}}')


def run_select(options):
    elements = Elements(options)
    best = Accumulator(options.k, not options.smallest, chunk_max=CHUNK, **_ranking(options))
    for _, _, numbers, flags in elements.batches():
        best.push(numbers, **({} if flags is None else {"mask": flags}))
    values, indices = best.finish() if elements.length else (np.empty(0, elements.dtype), np.empty(0, np.int64))
    found = [(int(index), value) for value, index in zip(values, indices) if index >= 0]
    report = Report(options, elements, "select")
    texts = _texts(elements, report, sorted(index for index, _ in found))
    report.begin(True)
    for index, value in found:
        report.result(index, value, texts.get(index))
    report.end()


def _texts(elements, report, positions):
    """The rows at sorted positions: another pass, over the parts of the table that hold some."""
    texts, positions = {}, np.array(positions, np.int64)

    def within(begin, end):
        return slice(*np.searchsorted(positions, (begin, end)))
    if not report.columns:
        return texts
    for begin, batch in elements.table.batches(report.columns, lambda begin, end: len(positions[within(begin, end)]) > 0):
        found = positions[within(begin, begin + len(batch))]
        texts.update(zip(found.tolist(), report.texts(batch, found - begin)))
    return texts


def run_where(options):
    elements = Elements(options)
    report = Report(options, elements, "where")
    report.begin(True)
    for begin, batch, numbers, flags in elements.batches(report.columns):
        places = np.flatnonzero(np.ones(len(numbers), bool) if flags is None else flags)
        for at, text in zip(places, report.texts(batch, places)):
            report.result(begin + int(at), numbers[at], text)
    report.end()


def run_count(options):
    elements = Elements(options)
    count = sum(len(numbers) for numbers in elements.numbers())
    report = Report(options, elements, "count")
    report.begin(False)
    if options.json:
        report.member(f'"count": {count}')
    else:
        print(count)
    report.end()


def _ranking(options):
    return {"magnitude": options.magnitude, "nan": options.nan}


def _places(options, elements):
    """The places that -k lists: integers, and percentages of the elements that take part."""
    count = None
    for text in options.places:
        percent = re.fullmatch(r"(\d+)(?:\.(\d{1,15}))?%", text)
        if percent is None:
            yield int(text)
            continue
        if count is None:
            count = sum(len(numbers) for numbers in elements.numbers())
        decimals = percent[2] or ""
        part, whole = int(percent[1] + decimals), 100 * 10**len(decimals)
        yield -(-part * count // whole)


def _counts(numbers, kth, options):
    """How many of the numbers are better than the k-th, and how many equal it."""
    at_least = int(_api.count(numbers, at_least=np.array([kth]), largest=not options.smallest, **_ranking(options)))
    if kth != kth:
        equal = len(numbers) - int(_api.count(numbers, between=(-np.inf, np.inf)))
    elif options.magnitude and kth != 0 and numbers.dtype.kind != "u":
        equal = sum(int(_api.count(numbers, eq=number)) for number in (kth.item(), -kth.item()))
    else:
        equal = int(_api.count(numbers, eq=kth.item()))
    return at_least - equal, equal


def _as_printed(kth, magnitude):
    if np.issubdtype(type(kth), np.integer):
        return abs(int(kth)) if magnitude else int(kth)
    return type(kth)(0) if kth == 0 else abs(kth) if magnitude else kth


def run_kth(options):
    elements = Elements(options)
    places = list(_places(options, elements))
    best = Accumulator(max(places), not options.smallest, chunk_max=CHUNK, **_ranking(options))
    count = 0
    for _, _, numbers, flags in elements.batches():
        best.push(numbers, **({} if flags is None else {"mask": flags}))
        count += len(numbers) if flags is None else int(np.count_nonzero(flags))
    for place, text in zip(places, options.places):
        if not 0 < place <= count:
            raise TableError(f"-k {text}: no element has that place, for there are {count}"
                             f"{' that meet the conditions' if elements.predicates or elements.conditions else ''}")
    values = best.finish().values
    counts = [[0, 0] for _ in places]
    for numbers in elements.numbers():
        for i, place in enumerate(places):
            better, equal = _counts(numbers, values[place - 1], options)
            counts[i] = [counts[i][0] + better, counts[i][1] + equal]
    report = Report(options, elements, "kth")
    report.begin(False)
    for place, text, (better, equal) in zip(places, options.places, counts):
        kth = _as_printed(values[place - 1], options.magnitude)
        if options.json:
            named = len(places) > 1 or not text.isdigit()
            name = f'"k": {text if text.isdigit() else json.dumps(text)}, ' if named else ""
            number = str(kth) if isinstance(kth, int) else json_number(kth)
            report.member(f'{name}"value": {number}, "better": {better}, "equal": {equal}')
        else:
            print(f"{text_of(kth)}\t{better}\t{equal}")
    report.end()


# ---- The command line ----------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


class _Comparison(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        namespace.comparisons = [*namespace.comparisons, (self.dest, values)]


def _parser():
    parser = _Parser(prog="python -m libtopk", allow_abbrev=False,
                     description="Exact selection from tables: Parquet, Arrow, Feather, ORC and what else pyarrow.dataset "
                     "reads, a file or a folder, batch by batch. `topk' does the same for text and arrays.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    for name, words in (("select", "the K best elements, best first"), ("kth", "the K-th best, and how many are better and "
                        "equal"), ("where", "the elements that meet all conditions"), ("count", "how many they are")):
        command = commands.add_parser(name, help=words, description=words, allow_abbrev=False)
        command.set_defaults(comparisons=[], k=None, places=None)
        command.add_argument("input", metavar="INPUT", help="a file, or a folder of files")
        command.add_argument("--column", metavar="NAME", help="whose numbers count; needed if there are several columns")
        command.add_argument("--format", choices=_tables.FORMATS, help="whatever the file's name and first bytes are")
        command.add_argument("--json", action="store_true", help="print a JSON document")
        if name in ("select", "kth"):
            command.add_argument("-k", required=True, metavar="K", help="how many; kth: which place, or several: 1,10,50%%")
            command.add_argument("--smallest", action="store_true", help="the smallest are best, not the largest")
            command.add_argument("--magnitude", action="store_true", help="rank by absolute value")
            command.add_argument("--nan", choices=("largest", "last"), default="largest",
                                 help="NaN ranks above infinity, or behind every number")
        for kind in KINDS:
            command.add_argument(f"--{kind}", action=_Comparison, metavar="X", help="elements that are so compared with X")
        command.add_argument("--between", action=_Comparison, nargs=2, metavar=("LO", "HI"), help="from LO to HI, both included")
        command.add_argument("--if", dest="conditions", action="append", default=[], metavar="CONDITION",
                             help="another column is so: 'city=Rome', 'year>=2020'")
    return parser


def _joined(arguments):
    """argparse takes -5 for an option: --gt -5 becomes --gt=-5. It cannot join two, so LO and HI get a blank before."""
    joined, arguments = [], list(arguments)
    while arguments:
        argument = arguments.pop(0)
        if argument[2:] in KINDS and argument.startswith("--") and arguments:
            argument += "=" + arguments.pop(0)
        joined.append(argument)
        if argument == "--between":
            joined += [" " + bound for bound in arguments[:2]]
            del arguments[:2]
    return joined


def _check_k(options):
    if options.command == "kth":
        options.places = options.k.split(",")
        for text in options.places:
            if not re.fullmatch(r"\d+|\d+(\.\d{1,15})?%", text) or not 0 <= float(text.rstrip("%")) <= (100 if "%" in text else 2**63 - 1):
                raise UsageError(f"-k: '{text}' is neither a place from 0 up nor a percentage")
        if len(options.places) == 1 and options.places[0].isdigit():
            options.k = int(options.k)
    elif options.command == "select":
        if not re.fullmatch(r"\d+", options.k) or int(options.k) >= 2**63:
            raise UsageError(f"-k: '{options.k}' is no integer from 0 up")
        options.k = int(options.k)
    elif not options.comparisons and not options.conditions:
        raise UsageError(f"{options.command} needs a condition, e.g. --gt 0")


def main(arguments=None):
    """Runs a command line, and returns the status: 0, 1 for bad input, 2 for a command line that makes no sense."""
    run = {"select": run_select, "kth": run_kth, "where": run_where, "count": run_count}
    try:
        options = _parser().parse_args(_joined(sys.argv[1:] if arguments is None else arguments))
        _check_k(options)
        run[options.command](options)
        sys.stdout.flush()
    except UsageError as error:
        print(f"topk: {error}", file=sys.stderr)
        return USAGE
    except (TableError, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):
            sys.stdout = None
            return FAILED
        print(f"topk: {error}", file=sys.stderr)
        return FAILED
    return 0
