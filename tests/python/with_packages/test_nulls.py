# SPDX-License-Identifier: Apache-2.0
"""Nulls of columns take no part, wherever a slice begins; positions are those in the column, and integers are exact."""
import numpy as np
import pytest

import libtopk
from oracle import all_same, best, kth, same, select, where

NAMES = {"int8": "Int8", "int64": "Int64", "uint64": "UInt64", "float32": "Float32", "float64": "Float64"}


def columns_of_pyarrow(numbers, valid):
    pa = pytest.importorskip("pyarrow")
    array = pa.array(numbers, mask=~valid, from_pandas=False)
    yield array
    yield pa.chunked_array([array[:5], array[5:9], array[9:]])
    yield array.dictionary_encode()


def columns_of_polars(numbers, valid):
    pl = pytest.importorskip("polars")
    cells = [number if is_valid else None for number, is_valid in zip(numbers.tolist(), valid)]
    series = pl.Series(cells, dtype=getattr(pl, NAMES[numbers.dtype.name]))
    yield series
    yield pl.concat([series[:7], series[7:]], rechunk=False)


def columns_of_pandas(numbers, valid):
    pd = pytest.importorskip("pandas")
    kind = pd.arrays.IntegerArray if numbers.dtype.kind in "iu" else pd.arrays.FloatingArray
    arrays = [kind(numbers, ~valid)]
    try:
        import pyarrow as pa
        arrays.append(pd.arrays.ArrowExtensionArray(pa.array(numbers, mask=~valid, from_pandas=False)))
    except ImportError:
        pass
    for array in arrays:
        yield array
        yield pd.Series(array)
        yield pd.Index(array)


SOURCES = {"pyarrow": columns_of_pyarrow, "polars": columns_of_polars, "pandas": columns_of_pandas}
sources = pytest.mark.parametrize("columns", SOURCES.values(), ids=SOURCES)


def numbers_of(dtype, generator):
    """Few and close to each other, the largest there are among them, so that there are ties; NaN among floats."""
    if np.dtype(dtype).kind == "f":
        return generator.choice(np.array([np.nan, np.inf, -np.inf, 0.5, -0.0, 3.0], dtype), 40)
    most = np.iinfo(dtype).max
    return np.array([most - int(step) for step in generator.integers(0, 4, 40)], dtype)


def cases(columns, seed):
    """(column, its numbers, which are no nulls) of slices that begin at any bit."""
    generator = np.random.default_rng(seed)
    for dtype in NAMES:
        for chance in (0.3, 0.9, 1):
            numbers, valid = numbers_of(dtype, generator), generator.random(40) >= chance
            valid[generator.integers(0, 40)] = False
            for column in columns(numbers, valid):
                begin = int(generator.integers(0, 20))
                end = int(generator.integers(begin + 1, 41))
                yield column[begin:end], numbers[begin:end], valid[begin:end]


@sources
def test_selections(columns):
    for column, numbers, valid in cases(columns, 1):
        for largest in (True, False):
            for nan in ("largest", "last"):
                wanted = select([numbers], 6, numbers.dtype, chosen=[valid], largest=largest, nan=nan)
                wanted = tuple(result[0] for result in wanted)
                found = libtopk.topk(column, 6, largest, nan=nan)
                assert all_same(found, wanted), (type(column), column, found)
                assert same(libtopk.argtopk(column, 6, largest, nan=nan), wanted[1])
                rank = kth(numbers[valid], 3, largest=largest, nan=nan)
                found = libtopk.kth(column, 3, largest, nan=nan)
                assert all(np.array_equal(a, b, equal_nan=numbers.dtype.kind == "f") for a, b in zip(found, rank))
                assert found.kth.dtype == numbers.dtype and found.kth.shape == ()


@sources
def test_predicates_among_what_is_no_null(columns):
    for column, numbers, valid in cases(columns, 2):
        bound, mask = numbers[0].item(), np.arange(len(numbers)) % 3 != 0
        with np.errstate(invalid="ignore"):
            predicates = (({"ge": bound}, numbers >= numbers[0]), ({"ne": bound}, numbers != numbers[0]),
                          ({"mask": mask}, mask), ({"bits": np.packbits(mask, bitorder="little")}, mask))
        for predicate, meets in predicates:
            meets = meets & valid
            assert all_same(libtopk.where(column, **predicate), where([numbers], [meets], numbers.dtype))
            assert same(libtopk.argwhere(column, **predicate)[0], np.flatnonzero(meets))
            assert libtopk.count(column, **predicate) == meets.sum()
            assert same(libtopk.mask(column, **predicate), np.packbits(meets, bitorder="little"))
            wanted = select([numbers], 5, numbers.dtype, chosen=[meets])
            assert all_same(libtopk.select_where(column, 5, **predicate), tuple(result[0] for result in wanted))
            ranked, is_float = libtopk.kth(column, 2, **predicate), numbers.dtype.kind == "f"
            assert all(np.array_equal(pair[0], pair[1], equal_nan=is_float)
                       for pair in zip(ranked, kth(numbers[meets], 2)))


@sources
def test_rows_of_a_column(columns):
    for column, numbers, valid in cases(columns, 3):
        cuts = np.array([0, len(numbers) // 3, len(numbers) // 2, len(numbers)])
        found = libtopk.topk(column, [2, 0, 3], offsets=cuts)
        ranks = libtopk.kth(column, 2, offsets=cuts)
        ranks_of_spans = libtopk.kth(column, [2, 2], begins=[0, 0], ends=[len(numbers)] * 2)
        for r, k in enumerate((2, 0, 3)):
            row = slice(cuts[r], cuts[r + 1])
            positions = best(numbers[row], k, valid[row])
            assert found.indices[r].tolist() == [*positions, -1, -1, -1][:3]
            wanted = kth(numbers[row][valid[row]], 2)
            assert all(np.array_equal(ranks[i][r], wanted[i], equal_nan=numbers.dtype.kind == "f") for i in range(3))
        whole = libtopk.kth(column, 2)
        assert all(np.array_equal(pair, [one, one], equal_nan=numbers.dtype.kind == "f")
                   for pair, one in zip(ranks_of_spans, whole))


@sources
def test_streams(columns):
    for column, numbers, valid in cases(columns, 4):
        middle = len(numbers) // 2
        for predicate, meets in (({}, valid), ({"gt": 2}, valid & (numbers > 2))):
            stream = libtopk.Accumulator(4)
            stream.push(column[:middle], **predicate)
            stream.push(column[middle:], **predicate)
            wanted = select([numbers], 4, numbers.dtype, chosen=[meets])
            assert all_same(stream.finish(), tuple(result[0] for result in wanted))


@sources
def test_quantiles(columns):
    for column, numbers, valid in cases(columns, 5):
        for method in ("lower", "nearest", "linear"):
            left = numbers[valid]
            if left.size:
                found = libtopk.quantile(column, [0.1, 0.5, 1], method=method)
                assert same(found, libtopk.quantile(left, [0.1, 0.5, 1], method=method))
                found = libtopk.median(column, ne=left[0].item(), nan="ignore")
                with np.errstate(invalid="ignore"):
                    assert np.array_equal(found, libtopk.median(left[left != left[0]], nan="ignore"), equal_nan=True)
            elif numbers.dtype.kind == "f" or method == "linear":
                assert np.isnan(libtopk.quantile(column, 0.5, method=method))


def test_masks_with_nulls_choose_what_is_true():
    pa, pl, pd = map(pytest.importorskip, ("pyarrow", "polars", "pandas"))
    cells = [True, None, False, True, None]
    masks = (pa.array([None, *cells])[1:], pa.chunked_array([pa.array(cells)]), pl.Series(cells),
             pd.array(cells, "boolean"), pd.Series(cells, dtype="bool[pyarrow]"))
    for mask in masks:
        for x in (np.arange(5), pa.array([0, 1, 2, 3, 4]), pl.Series([0, 1, None, 3, 4])):
            assert libtopk.argwhere(x, mask=mask)[0].tolist() == [0, 3], type(mask)
            assert libtopk.select_where(x, 1, mask=mask).indices == [3]
            stream = libtopk.Accumulator(3)
            stream.push(x, mask=mask)
            assert stream.finish().indices.tolist() == [3, 0, -1]


@sources
def test_what_goes_wrong_says_so(columns):
    column = next(columns(np.array([3, 1, 2]), np.array([True, True, False])))
    for error, words, call in (
            (TypeError, "'gt' here: use select_where", lambda: libtopk.topk(column, 1, gt=1)),
            (TypeError, "two predicates", lambda: libtopk.kth(column, 1, gt=1, lt=1)),
            (TypeError, "nulls", lambda: libtopk.count(column, at_least=np.array([1]))),
            (TypeError, "a predicate is needed", lambda: libtopk.where(column)),
            (TypeError, "two predicates", lambda: libtopk.count(column, gt=1, lt=1)),
            (ValueError, "mask is not of the shape", lambda: libtopk.count(column, mask=[True])),
            (IndexError, "dim is 1", lambda: libtopk.topk(column, 1, dim=1)),
            (ValueError, "indices is not of the shape|indices are not", lambda: libtopk.topk(
                column, 1, indices=np.zeros(2, np.int64))),
            (TypeError, "^k: .* with nulls", lambda: libtopk.topk([3, 1, 2], column, offsets=[0, 1, 2, 3])),
            (TypeError, "^lengths: .* with nulls", lambda: libtopk.topk([3, 1, 2], 1, lengths=column)),
            (TypeError, "^indices: .* with nulls", lambda: libtopk.topk([3, 1, 2], 1, indices=column)),
            (TypeError, "^mask is neither of type bool nor uint8$", lambda: libtopk.count([3, 1, 2], mask=column)),
            (TypeError, "^mask is neither of type bool nor uint8$", lambda: libtopk.median([3, 1, 2], None, mask=column)),
            (TypeError, "nulls", lambda: libtopk.route(column, 1)),
            (TypeError, "nulls", lambda: libtopk.merge([[3, 1, 2]], column, 1))):
        with pytest.raises(error, match=words):
            call()
    assert libtopk.explain("topk", column, 1) and libtopk.workspace_size("kth", column, 1) >= 0
    out = np.zeros(2, np.int64), np.zeros(2, np.int32)
    libtopk.topk(column, 2, out=out)
    assert out[0].tolist() == [3, 1] and out[1].tolist() == [0, 1]


def test_truth_values_with_nulls_choose_the_true_ones():
    pa, pl, pd = map(pytest.importorskip, ("pyarrow", "polars", "pandas"))
    cells = [None, True, False, True, None, None, False, True, True, None, False]
    garbage = pa.BooleanArray.from_buffers(pa.bool_(), 11, [pa.array(cells).buffers()[0], pa.py_buffer(b"\xff\xff")])
    assert garbage.to_pylist() == [cell if cell is None else True for cell in cells]
    for begin in range(4):
        these = cells[begin:]
        wanted = [i for i, cell in enumerate(these) if cell]
        for column in (pa.array(cells)[begin:], pa.chunked_array([cells[:5], cells[5:]])[begin:], pl.Series(cells)[begin:],
                       pd.Series(these, dtype="boolean"), pd.Series(these, dtype=pd.ArrowDtype(pa.bool_())),
                       pa.array([cell for cell in these if cell is not None])):
            if len(column) < len(these):
                wanted = [i for i, cell in enumerate(column.to_pylist()) if cell]
            assert libtopk.count(column) == len(wanted) == libtopk.count(column, eq=1)
            assert libtopk.count(column, eq=False) == these.count(False)
            assert libtopk.argwhere(column)[0].tolist() == wanted
            values = libtopk.where(column).values
            assert values.dtype == bool and values.tolist() == [True] * len(wanted)
    assert libtopk.argwhere(garbage)[0].tolist() == [i for i, cell in enumerate(cells) if cell is not None]


def test_columns_that_are_not_of_numbers_are_refused():
    pa, pl, pd = map(pytest.importorskip, ("pyarrow", "polars", "pandas"))
    for column in (pa.array(["a", None]), pl.Series(["a", None]), pd.Series(["a", None], dtype="string"),
                   pa.array([[1], None]), pa.array([1, None]).cast(pa.decimal128(20)),
                   pl.Series([1, None], dtype=pl.Int128)):
        for call in (lambda: libtopk.topk(column, 1), lambda: libtopk.count(column, gt=0),
                     lambda: libtopk.Accumulator(1).push(column)):
            with pytest.raises(TypeError):
                call()
