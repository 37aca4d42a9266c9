# SPDX-License-Identifier: Apache-2.0
"""`python -m libtopk` over files of pyarrow, against Python's own sort."""
import json
import math
import operator
import random
import subprocess
import sys

import numpy as np
import pytest

from libtopk import _command

pa = pytest.importorskip("pyarrow")
SEED = 11
OF = {"gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne}
TYPES = ["int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64"]


def write(table, path, kind, size):
    """A file of the kind, in pieces of `size` rows; or a folder of two."""
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=size)
    elif kind == "feather":
        pytest.importorskip("pyarrow.feather").write_feather(table, str(path), chunksize=size)
    elif kind == "stream":
        with pytest.importorskip("pyarrow.ipc").new_stream(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=size)
    else:
        path.mkdir()
        write(table[:len(table) // 3], path / "a.parquet", "parquet", size)
        write(table[len(table) // 3:], path / "b.parquet", "parquet", size)
    return str(path)


KINDS = ["parquet", "feather", "stream", "folder"]


def run(capsys, *arguments):
    status = _command.main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def numbers_of(rng, dtype, count):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        drawn = [rng.choice([math.nan, math.inf, -math.inf, -0.0, 0.0, 0.7, rng.uniform(-9, 9), rng.randrange(-3, 4)])
                 for _ in range(count)]
    else:
        ends = np.iinfo(dtype)
        drawn = [rng.choice([ends.min, ends.max, ends.max - 1, max(ends.min, rng.randrange(-4, 5))]) for _ in range(count)]
    return [None if rng.random() < 0.15 else dtype.type(x) for x in drawn]


def rank(value, smallest=False, magnitude=False, nan="largest"):
    """Sorts best first."""
    if value != value:
        return (2, 0) if smallest or nan == "last" else (0, 0)
    number = value.item()
    number = abs(number) if magnitude else number
    return (1, number if smallest else -number)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_against_sort(dtype, kind, tmp_path, capsys):
    rng = random.Random(SEED)
    for turn in range(4):
        numbers = numbers_of(rng, dtype, rng.choice([1, 7, 200]))
        words = [rng.choice(["a", "b,c", None]) for _ in numbers]
        table = pa.table({"word": pa.array(words, pa.string()), "x": pa.array(numbers, getattr(pa, dtype)())})
        path = write(table, tmp_path / f"{turn}", kind, rng.choice([3, 50, 1000]))
        given = [number for number in numbers if number is not None and number == number]
        bound = rng.choice(given) if given else np.dtype(dtype).type(1)
        conditions, tests = [], []
        for name in rng.sample(sorted(OF), rng.randrange(1, 3)):
            conditions += [f"--{name}", _command.text_of(bound)]
            tests.append((OF[name], bound))
        if turn % 2:
            conditions += ["--if", "word=b,c"]
        with np.errstate(all="ignore"):
            met = [i for i, number in enumerate(numbers) if number is not None and all(how(number, b) for how, b in tests)
                   and (turn % 2 == 0 or words[i] == "b,c")]
        check(capsys, path, conditions, numbers, words, met, rng)
        check(capsys, path, [], numbers, words, [i for i, number in enumerate(numbers) if number is not None], rng)


def line(words, numbers, i):
    word = words[i] if words[i] is not None else ""
    return (f'"{word}"' if "," in word else word) + "," + ("" if numbers[i] is None else _command.text_of(numbers[i])) + "\n"


def check(capsys, path, conditions, numbers, words, met, rng):
    options = {"smallest": rng.random() < 0.5, "magnitude": rng.random() < 0.5, "nan": rng.choice(["largest", "last"])}
    ranking = [f"--{name}" for name in ("smallest", "magnitude") if options[name]] + ["--nan", options["nan"]]
    best = sorted(met, key=lambda i: rank(numbers[i], **options))
    rows = ["word,x\n", *(line(words, numbers, i) for i in best)]
    column = ["--column", "x", *conditions]
    if conditions:
        assert run(capsys, "count", path, *column) == (0, f"{len(met)}\n", "")
        assert run(capsys, "where", path, *column) == (0, "".join(["word,x\n", *(line(words, numbers, i) for i in met)]), "")
    for k in (0, 3, 500):
        assert run(capsys, "select", path, "-k", k, *column, *ranking) == (0, "".join(rows[:k + 1]), "")
    status, out, err = run(capsys, "select", path, "-k", 5, "--json", *column, *ranking)
    found = json.loads(out)
    assert (status, err, [result["index"] for result in found["results"]]) == (0, "", best[:5])
    assert found["length"] == len(numbers) and [result["text"] + "\n" for result in found["results"]] == rows[1:6]
    if not best:
        assert run(capsys, "kth", path, "-k", 1, *column)[0] == 1
        return
    percent = rng.randrange(1, 101)
    places = [1, len(best), -(-len(best) * percent // 100)]
    lines = []
    for place in places:
        keys = [rank(numbers[i], **options) for i in best]
        key, value = keys[place - 1], numbers[best[place - 1]]
        printed = "0" if value == 0 else _command.text_of(value).lstrip("-" if options["magnitude"] else "")
        lines.append(f"{printed}\t{sum(k < key for k in keys)}\t{keys.count(key)}\n")
    asked = f"1,{len(best)},{percent}%"
    assert run(capsys, "kth", path, "-k", asked, *column, *ranking) == (0, "".join(lines), "")


def test_one_column_prints_index_and_value(tmp_path, capsys):
    path = write(pa.table({"x": pa.array([3, None, 2**53 + 1, 2**53], pa.int64())}), tmp_path / "x", "parquet", 2)
    assert run(capsys, "select", path, "-k", 2) == (0, f"2\t{2**53 + 1}\n3\t{2**53}\n", "")
    assert run(capsys, "where", path, "--gt", 2, "--le", 2**53) == (0, f"0\t3\n3\t{2**53}\n", "")
    assert run(capsys, "where", path, "--between", -5, 4) == (0, "0\t3\n", "")
    assert run(capsys, "kth", path, "-k", "50%") == (0, f"{2**53}\t1\t1\n", "")
    assert json.loads(run(capsys, "kth", path, "-k", "1,50%", "--json")[1])["k"] == [1, "50%"]
    assert json.loads(run(capsys, "count", path, "--gt", 2, "--json")[1]) == {
        "command": "count", "input": path, "type": "i64", "results": [{"count": 3}], "length": 4}


def test_conditions_on_columns_of_any_type(tmp_path, capsys):
    import datetime
    table = pa.table({"x": [1, 2, 3, 4], "day": [datetime.date(2024, 1, day) for day in (1, 2, 3, 4)],
                      "good": [True, False, None, True], "word": pa.array(["a", "b", "a", None]).dictionary_encode(),
                      "great": pa.array([2**63, 2**63 + 1, 5, None], pa.uint64())})
    path = write(table, tmp_path / "x", "parquet", 3)
    for condition, count in (("day>=2024-01-03", 2), ("good=true", 2), ("good!=true", 1), ("word=a", 2), ("word!=a", 1),
                             (f"great>{2**63}", 1), ("great<=9.5e18", 3), ("great = 5", 1), ("x!=2", 3)):
        assert run(capsys, "count", path, "--column", "x", "--if", condition) == (0, f"{count}\n", ""), condition
    assert run(capsys, "count", path, "--column", "x", "--if", "x>1", "--if", "day<2024-01-04", "--ne", 2) == (0, "1\n", "")


def test_what_is_refused(tmp_path, capsys):
    path = write(pa.table({"x": [1, 2], "word": ["a", "b"]}), tmp_path / "x.parquet", "parquet", 2)
    (tmp_path / "x.txt").write_text("1\n")
    (tmp_path / "x.old").write_bytes(b"FEA1" + bytes(20))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" + bytes(20))
    for arguments, status, words in (
            (["select", path, "-k", 1], 2, "--column says which column: there are x, word"),
            (["select", path, "-k", 1, "--column", "y"], 1, "the table has no column 'y'; there are x, word"),
            (["select", path, "-k", 1, "--column", "word"], 1, "column 'word' has type string, and elements are integers or floats"),
            (["select", path, "--column", "x"], 2, "the following arguments are required: -k"),
            (["select", path, "--column", "x", "-k", "1.5"], 2, "-k: '1.5' is no integer from 0 up"),
            (["kth", path, "--column", "x", "-k", "x"], 2, "-k: 'x' is neither a place from 0 up nor a percentage"),
            (["kth", path, "--column", "x", "-k", "3"], 1, "-k 3: no element has that place, for there are 2"),
            (["count", path, "--column", "x"], 2, "count needs a condition, e.g. --gt 0"),
            (["count", path, "--column", "x", "--gt", "y"], 2, "bound 'y' is not a number"),
            (["count", path, "--column", "x", "--eq", 2**64 + 1], 2, "cannot be held exactly by int64, uint64 or float64"),
            (["count", path, "--column", "x", "--if", "x"], 2, "--if: 'x' is no column, comparison and value"),
            (["count", path, "--column", "x", "--if", "y=1"], 1, "the table has no column 'y'"),
            (["count", path, "--column", "x", "--if", "word>a"], 2, "column 'word' is text, which has no order"),
            (["count", path, "--column", "x", "--if", "x=a"], 2, "bound 'a' is not a number"),
            (["count", tmp_path / "nonesuch", "--gt", 1], 1, "nonesuch: No such file or directory"),
            (["count", tmp_path / "x.txt", "--gt", 1], 1, "x.txt: is no table of a known kind"),
            (["count", tmp_path / "x.old", "--gt", 1], 1, "x.old: holds version 1 of Feather"),
            (["count", tmp_path / "bad.parquet", "--gt", 1], 1, "bad.parquet: "),
            (["sort"], 2, "invalid choice: 'sort'")):
        found, out, err = run(capsys, *arguments)
        assert (found, out, err.count("\n")) == (status, "", 1) and err.startswith("topk: ") and words in err, (arguments, err)


def python(*arguments, code=None):
    return subprocess.run([sys.executable, *(["-c", code] if code else ["-m", "libtopk"]), *map(str, arguments)],
                          capture_output=True, text=True, check=False)


def test_as_a_program(tmp_path):
    path = write(pa.table({"x": [1, 2]}), tmp_path / "x.arrow", "feather", 2)
    found = python("select", path, "-k", 1)
    assert (found.returncode, found.stdout, found.stderr) == (0, "1\t2\n", "")
    assert "select" in python("--help").stdout and "--column" in python("kth", "--help").stdout
    hidden = "import sys; sys.modules['pyarrow'] = None\nfrom libtopk import _command\nsys.exit(_command.main())"
    found = python("select", path, "-k", 1, code=hidden)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith("topk: tables are read by pyarrow, which cannot be imported")
    assert python(code="import libtopk, sys\nassert 'pyarrow' not in sys.modules").returncode == 0
