# SPDX-License-Identifier: Apache-2.0
"""Columns of pyarrow, polars, pandas, DuckDB and their like: exact, whatever they hold."""
import re
import warnings

import numpy as np
import pytest

import libtopk

GREAT = [2**53, 2**53 + 1, 5]


def columns_of_pyarrow(numbers, integers):
    pa = pytest.importorskip("pyarrow")
    kind = pa.int64() if integers else pa.float64()
    array = pa.array(numbers, kind)
    return [array, pa.chunked_array([array[:1], array[1:]]), array.dictionary_encode()]


def columns_of_polars(numbers, integers):
    pl = pytest.importorskip("polars")
    series = pl.Series(numbers, dtype=pl.Int64 if integers else pl.Float64)
    return [series, pl.concat([series[:1], series[1:]], rechunk=False)]


def columns_of_pandas(numbers, integers):
    pd = pytest.importorskip("pandas")
    arrays = [pd.array(numbers, "Int64" if integers else "Float64")]
    try:
        arrays.append(pd.array(numbers, "int64[pyarrow]" if integers else "double[pyarrow]"))
    except ImportError:
        pass
    columns = [kind(array) for array in arrays for kind in (pd.Series, pd.Index)]
    return [*arrays, *columns, pd.Series(pd.Categorical(numbers))]


def columns_of_duckdb(numbers, integers):
    duckdb = pytest.importorskip("duckdb")
    kind = "BIGINT" if integers else "DOUBLE"
    values = ", ".join("(NULL)" if number is None else f"({number})" for number in numbers)
    relation = duckdb.sql(f"SELECT a::{kind} AS a FROM (VALUES {values}) AS t(a)")
    return [relation.fetchnumpy()["a"]]


SOURCES = {"pyarrow": columns_of_pyarrow, "polars": columns_of_polars, "pandas": columns_of_pandas,
           "duckdb": columns_of_duckdb}
sources = pytest.mark.parametrize("columns", SOURCES.values(), ids=SOURCES)


def identical(results, wanted):
    return all(a.dtype == b.dtype and a.tolist() == b.tolist() for a, b in zip(results, wanted))


@sources
def test_integers_without_nulls_are_exact(columns):
    wanted = libtopk.topk(np.array(GREAT), 2)
    for error in (False, True):
        with warnings.catch_warnings():
            if error:
                warnings.simplefilter("error")
            for x in columns(GREAT, True):
                assert identical(libtopk.topk(x, 2), wanted), type(x)
                assert libtopk.kth(x, 1).kth == 2**53 + 1
    for x in columns([0.5, 1e300, -1.0], False):
        assert identical(libtopk.topk(x, 2), libtopk.topk([0.5, 1e300, -1.0], 2)), type(x)


@sources
@pytest.mark.parametrize("integers", [True, False])
def test_a_null_is_never_among_the_best(columns, integers):
    for x in columns([3, 2**53 - 1, None], integers):
        for call in (lambda: libtopk.argtopk(x, 1).tolist(), lambda: libtopk.argwhere(x, gt=3)[0].tolist()):
            try:
                assert call() == [1], type(x)
            except TypeError as error:  # of columns that are categorical, or masked arrays
                assert re.search("nulls|mask", str(error))


def test_tables():
    pa, pl, pd = map(pytest.importorskip, ("pyarrow", "polars", "pandas"))
    for make in (pa.table, pl.DataFrame, pd.DataFrame):
        table = make({"a": GREAT[:2], "b": GREAT[1:], "c": [5, 5]})
        assert identical(libtopk.topk(table, 1, dim=0), libtopk.topk(np.asarray(table), 1, dim=0))
        small = make({"a": [1, 2], "b": [0.5, float("nan")]})
        assert libtopk.topk(small, 1, dim=0, largest=False).values.tolist() == [[1, 0.5]]
        with pytest.raises(TypeError, match="integers of a"):
            libtopk.topk(make({"a": GREAT, "b": [0.5, 1, 2]}), 1)
    for table in (pa.table({"a": [1, None]}), pl.DataFrame({"a": [1, None]}),
                  pd.DataFrame({"a": pd.array([1, None], "Int64")})):
        with pytest.raises(TypeError, match="nulls"):
            libtopk.topk(table, 1)


def test_nan_is_no_null():
    pa, pl, pd = map(pytest.importorskip, ("pyarrow", "polars", "pandas"))
    numbers = [1.0, float("nan")]
    for x in (pa.array(numbers), pl.Series(numbers), pd.Series(numbers), pd.Series(pd.arrays.SparseArray(numbers))):
        assert libtopk.topk(x, 1).indices.tolist() == [1]


def test_other_columns_are_refused():
    pa, pl, pd = map(pytest.importorskip, ("pyarrow", "polars", "pandas"))
    rows = pl.Series([[1.0, 2.0], [3.0, None]], dtype=pl.Array(pl.Float64, 2))
    for x, word in ((rows, "nulls"), (pa.array([1]).cast(pa.decimal128(20)), "decimals of 20 digits"),
                    (pd.Series(pd.period_range("2020", periods=1)), "objects .Period"), (pl.Series(["a"]), "objects|type"),
                    (pd.Series([1, "a"], dtype=object), "objects .str")):
        with pytest.raises(TypeError, match=word):
            libtopk.topk(x, 1)
    relation = pytest.importorskip("duckdb").sql("SELECT 1 AS a, 2.0 AS b")
    with pytest.raises(TypeError, match="a table of 2 columns: pass one of them"):
        libtopk.topk(relation, 1)


def test_masks_that_appear_on_conversion():
    netCDF4 = pytest.importorskip("netCDF4")
    with netCDF4.Dataset("none.nc", "w", diskless=True) as dataset:
        dataset.createDimension("t", 3)
        x = dataset.createVariable("x", "i8", ("t",), fill_value=-999)
        x[:] = np.ma.masked_array([5, 6, 7], [False, False, True])
        with pytest.raises(TypeError, match="mask"):
            libtopk.topk(x, 1)


def test_xarray():
    x = pytest.importorskip("xarray").DataArray([GREAT, GREAT])
    assert identical(libtopk.topk(x, 2), libtopk.topk(np.array([GREAT, GREAT]), 2))


class Offered:
    """An object that has Arrow's PyCapsule interface alone."""

    def __init__(self, column, stream):
        name = "__arrow_c_stream__" if stream else "__arrow_c_array__"
        self.capsules = getattr(column, name)

    def __getattr__(self, name):
        if name == self.capsules.__name__:
            return self.capsules
        raise AttributeError(name)


@pytest.mark.parametrize("numbers", (GREAT * 9, [*GREAT, None, 4, None, 2] * 9), ids=("full", "nulls"))
@pytest.mark.parametrize("source", ("pyarrow", "pyarrow chunks", "pyarrow table", "polars", "polars frame", "duckdb"))
def test_what_offers_capsules(source, numbers):
    valid = np.array([number is not None for number in numbers])
    plain = np.array([number or 0 for number in numbers])
    if source.startswith("pyarrow"):
        pa = pytest.importorskip("pyarrow")
        array = pa.array([None, *numbers, 1], pa.int64())[1:-1]
        if source == "pyarrow":
            given = [Offered(array, False)]
        else:
            chunked = pa.chunked_array([array[:5], array[5:]])
            given = [Offered(chunked if source == "pyarrow chunks" else pa.table({"a": chunked}), True)]
    elif source.startswith("polars"):
        pl = pytest.importorskip("polars")
        series = pl.Series("a", [None, *numbers], pl.Int64)[1:]
        given = [Offered(series.to_frame() if source == "polars frame" else series, True)]
    else:
        duckdb = pytest.importorskip("duckdb")
        values = ", ".join("(NULL)" if number is None else f"({number})" for number in numbers)
        given = [duckdb.connect().sql(f"SELECT a::BIGINT AS a FROM (VALUES {values}) AS t(a)")]
    for column in given:
        assert identical(libtopk.topk(column, 8), libtopk.select_where(plain, 8, mask=valid))
