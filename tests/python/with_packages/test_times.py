# SPDX-License-Identifier: Apache-2.0
"""Dates, times, durations and decimals of columns rank as the integers they are, and nulls and NaT take no part."""
import datetime
import decimal

import numpy as np
import pytest

import libtopk
from oracle import all_same, kth, select

pa = pytest.importorskip("pyarrow")

TYPES = {"date32": pa.date32(), "date64": pa.date64(), "time32[s]": pa.time32("s"), "time32[ms]": pa.time32("ms"),
         "time64[us]": pa.time64("us"), "time64[ns]": pa.time64("ns"), "timestamp[s]": pa.timestamp("s"),
         "timestamp[ms]": pa.timestamp("ms", "Asia/Tokyo"), "timestamp[us]": pa.timestamp("us"),
         "timestamp[ns]": pa.timestamp("ns", "UTC"), "duration[s]": pa.duration("s"), "duration[ns]": pa.duration("ns"),
         "decimal32": pa.decimal32(9, 2), "decimal64": pa.decimal64(18, 5), "decimal128": pa.decimal128(18, 3),
         "decimal256": pa.decimal256(18, 18)}
types = pytest.mark.parametrize("name", TYPES)


def integers_of(name, seed=1):
    """Few and close to each other, the largest that the type has among them, so that there are ties."""
    generator, kind = np.random.default_rng(seed), TYPES[name]
    dtype = np.dtype("int32" if kind.bit_width == 32 else "int64")
    if name.startswith("time6") or name.startswith("time3"):
        numbers = generator.integers(0, 86_000, 60)
    elif name == "date64":
        numbers = generator.integers(-10, 10, 60) * 86_400_000
    elif name.startswith("decimal"):
        most = 10**min(kind.precision, 18) - 1
        numbers = generator.choice([most, most - 1, most - 2, 0, -1, 1 - most, -most], 60)
    elif name == "date32":
        numbers = generator.integers(-10, 20_000, 60)
    else:
        numbers = generator.choice([2**53 + 1, 2**53, 2**53 + 2, 0, -1, -2**60, 5], 60)
    return numbers.astype(dtype)


def column_of(name, numbers, valid):
    """Of pyarrow. A null of two words or more holds bits that no decimal of the type has."""
    kind = TYPES[name]
    if name in ("decimal128", "decimal256"):
        words = np.repeat(numbers[:, None], kind.bit_width // 64, 1)
        words[:, 1:] >>= 63
        words[~valid] = 77
        numbers = words.ravel()
    bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(kind, len(valid), [bits, pa.py_buffer(numbers)])


def agree(column, numbers, valid):
    for largest in (True, False):
        wanted = tuple(result[0] for result in select([numbers], 9, numbers.dtype, chosen=[valid], largest=largest))
        assert all_same(libtopk.topk(column, 9, largest), wanted), column
        assert np.array_equal(libtopk.argtopk(column, 9, largest), wanted[1])
    assert all(map(np.array_equal, libtopk.kth(column, 3), kth(numbers[valid], 3)))
    bound = int(numbers[valid][0])
    assert libtopk.argwhere(column, ge=bound)[0].tolist() == np.flatnonzero(valid & (numbers >= bound)).tolist()
    stream = libtopk.Accumulator(9)
    stream.push(column[:25])
    stream.push(column[25:])
    assert stream.finish().indices.tolist() == libtopk.argtopk(column, 9).tolist()


@types
@pytest.mark.parametrize("chance", (0, 0.3, 0.95))
def test_columns_of_pyarrow(name, chance):
    numbers, valid = integers_of(name), np.random.default_rng(2).random(60) >= chance
    valid[40] = valid[41] = valid[42] = True
    whole = column_of(name, numbers, valid)
    for begin, end in ((0, 60), (3, 51)):
        column, part = whole[begin:end], slice(begin, end)
        agree(column, numbers[part], valid[part])
        agree(pa.chunked_array([column[:7], column[7:]]), numbers[part], valid[part])


@types
@pytest.mark.parametrize("chance", (0, 0.3))
def test_columns_of_polars_and_pandas(name, chance):
    pl, pd = map(pytest.importorskip, ("polars", "pandas"))
    numbers, valid = integers_of(name), np.random.default_rng(3).random(60) >= chance
    column = column_of(name, numbers, valid)
    for made in (pd.array(column, dtype=pd.ArrowDtype(TYPES[name])), ):
        for each in (made, pd.Series(made), pd.Index(made)):
            agree(each, numbers, valid)
    if name in ("date32", "time64[ns]", "timestamp[ms]", "timestamp[us]", "timestamp[ns]", "duration[ns]", "decimal128"):
        series = pl.from_arrow(column)
        agree(series, numbers, valid)
        agree(pl.concat([series[:11], series[11:]], rechunk=False), numbers, valid)


@pytest.mark.parametrize("zone", (None, "Asia/Tokyo"))
def test_times_of_numpy_in_pandas(zone):
    pd = pytest.importorskip("pandas")
    generator = np.random.default_rng(4)
    numbers, valid = generator.integers(-5, 2**60, 60), generator.random(60) >= 0.3
    for kind in ("datetime64[ns]", "timedelta64[ns]"):
        for chosen in (valid, np.ones(60, bool)):
            times = np.where(chosen, numbers, np.iinfo(np.int64).min).view(kind)
            series = pd.Series(times)
            if kind == "datetime64[ns]" and zone:
                series = series.dt.tz_localize("UTC").dt.tz_convert(zone)
            for column in (series, pd.Index(series), series.array):
                agree(column, numbers, chosen)


def test_relations_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    days = ", ".join(f"({'NULL' if i % 7 == 0 else i * 37 % 50})" for i in range(60))
    for made in ("DATE '2020-01-01' + a::INT", "TIMESTAMP '2020-01-01' + to_days(a::INT)", "TIME '01:00' + to_seconds(a::INT)",
                 "a::DECIMAL(18, 3)", "(a - 20)::DECIMAL(9, 1)"):
        relation = duckdb.connect().sql(f"SELECT {made} AS a FROM (VALUES {days}) AS t(a)")
        wanted = sorted((i for i in range(60) if i % 7), key=lambda i: (-(i * 37 % 50), i))
        assert libtopk.argtopk(relation, 20).tolist() == wanted[:20]


def test_what_64_bits_do_not_hold_is_refused():
    pl, pd = map(pytest.importorskip, ("polars", "pandas"))
    one, day = decimal.Decimal(1), datetime.date(2020, 1, 1)
    for cells in ([one], [one, None]):
        wide = pa.array(cells, pa.decimal128(19, 2))
        for column in (wide, pa.chunked_array([wide]), pl.Series(cells, dtype=pl.Decimal(38, 2)),
                       pd.Series(wide.to_pandas(), dtype=pd.ArrowDtype(pa.decimal128(19, 2)))):
            with pytest.raises(TypeError, match="decimals of (19|38) digits, where 64 bits hold 18"):
                libtopk.topk(column, 1)
    words = np.array([5, 1], np.int64)  # 2^64 + 5
    column = pa.Array.from_buffers(pa.decimal128(18), 1, [None, pa.py_buffer(words)])
    with pytest.raises(TypeError, match="beyond the digits of its type"):
        libtopk.topk(column, 1)
    for column, name in ((pa.array(["a", None]), "string"), (pl.Series(["a", None]), "String"),
                         (pl.Series([1, None], dtype=pl.Int128), "Int128"), (pa.array([[day], None]), "list<"),
                         (pd.Series(["a", None], dtype="string"), "string")):
        with pytest.raises(TypeError, match=f"with nulls.* Its type is {name}"):
            libtopk.topk(column, 1)
