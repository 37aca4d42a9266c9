# SPDX-License-Identifier: Apache-2.0
"""Tables in files, batch by batch: what pyarrow.dataset reads, and streams of Arrow. Nothing else of the package needs
pyarrow."""
import contextlib
import importlib
import os

MAGICS = {b"PAR1": "parquet", b"ARROW1": "ipc", b"\xff\xff\xff\xff": "stream", b"ORC": "orc"}
FORMATS = "parquet", "ipc", "arrow", "feather", "stream", "orc", "csv", "json"


class TableError(Exception):
    """What is wrong with the input, in words for a user."""


def pyarrow(module="pyarrow"):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TableError(f"tables are read by pyarrow, which cannot be imported ({error}): pip install pyarrow") from None


def _format_of(path):
    """By the first bytes, else by the end of the name."""
    if os.path.isdir(path):
        return "parquet"
    with open(path, "rb") as file:
        head = file.read(8)
    if head.startswith(b"FEA1"):
        raise TableError(f"{path}: holds version 1 of Feather: pyarrow.feather.read_table() reads it, and write_feather() "
                         "writes it anew")
    for magic, name in MAGICS.items():
        if head.startswith(magic):
            return name
    ending = os.path.splitext(path)[1][1:]
    if ending in ("csv", "json"):
        return ending
    raise TableError(f"{path}: is no table of a known kind; --format says which of {', '.join(FORMATS)} it is")


class _Stream:
    """A file of Arrow's stream format."""

    def __init__(self, path):
        self._path = path
        with self._open() as reader:
            self.schema = reader.schema

    def _open(self):
        return pyarrow("pyarrow.ipc").open_stream(pyarrow().memory_map(self._path))

    def parts(self):
        yield self

    def rows(self):
        return None

    def batches(self, columns):
        with self._open() as reader:
            for batch in reader:
                yield batch.select(columns)


class _Part:
    """A file of a dataset, or a group of its rows."""

    def __init__(self, fragment, schema):
        self._fragment, self._schema = fragment, schema

    def rows(self):
        """How many; None where it takes a read to know."""
        groups = getattr(self._fragment, "row_groups", None)
        return None if groups is None else sum(group.num_rows for group in groups)

    def batches(self, columns):
        return iter(self._fragment.to_batches(columns=columns, schema=self._schema))


class _Dataset:
    def __init__(self, path, name):
        self._dataset = pyarrow("pyarrow.dataset").dataset(path, format=name, partitioning="hive")
        self.schema = self._dataset.schema

    def parts(self):
        for fragment in self._dataset.get_fragments():
            groups = fragment.split_by_row_group() if hasattr(fragment, "split_by_row_group") else [fragment]
            for group in groups:
                yield _Part(group, self.schema)


class Table:
    """A table in a file, or in the files of a folder, whose rows count in their order.

    names    of its columns
    """

    def __init__(self, path, name=None):
        pyarrow()
        self._path = path
        with self._in_words():
            name = name or _format_of(path)
            self._source = _Stream(path) if name == "stream" else _Dataset(path, name)
        self.names = self._source.schema.names

    @contextlib.contextmanager
    def _in_words(self):
        try:
            yield
        except (OSError, pyarrow().ArrowException) as error:
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise TableError(f"{self._path}: {reason}") from None

    def type_of(self, column):
        return self._source.schema.field(column).type

    def batches(self, columns, wanted=None):
        """(the position of its first row, a batch) of all batches in their order. `wanted(begin, end)`: whether rows
        [begin, end) are; parts whose rows are not may be left out."""
        begin = 0
        for part in self._parts():
            rows = part.rows() if wanted is not None else None
            if rows is not None and not wanted(begin, begin + rows):
                begin += rows
                continue
            batches = part.batches(list(columns))
            while (batch := self._next(batches)) is not None:
                yield begin, batch
                begin += len(batch)

    def _parts(self):
        parts = self._source.parts()
        while (part := self._next(parts)) is not None:
            yield part

    def _next(self, iterator):
        """None at its end."""
        with self._in_words():
            return next(iterator, None)
