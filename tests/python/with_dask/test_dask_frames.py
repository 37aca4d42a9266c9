# SPDX-License-Identifier: Apache-2.0
"""nlargest() and nsmallest() of dask's frames are what pandas says of the whole."""
import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import assume, given, settings

dask = pytest.importorskip("dask")
pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("pyarrow")
from libtopk.dask import nlargest, nsmallest  # noqa: E402

ROWS = 40
METHODS = {"nlargest": nlargest, "nsmallest": nsmallest}


def frame_of(seed):
    """A column of each kind, with many ties and nulls, and labels that repeat."""
    random = np.random.default_rng(seed)
    numbers = random.integers(-3, 4, ROWS)
    nulls = random.random(ROWS) < 0.4
    some_null = [None if null else int(number) for null, number in zip(nulls, numbers)]
    times = pd.Series(pd.to_datetime(numbers * 10**15))
    return pd.DataFrame({
        "int64": numbers, "uint8": (numbers + 3).astype(np.uint8), "great": numbers + 2**62, "bool": numbers > 0,
        "float64": np.where(nulls, np.nan, numbers / 2), "float32": (1 / (numbers - 0.5)).astype(np.float32),
        "zeros": np.where(nulls, -0.0, 0.0), "Int64": pd.array(some_null, "Int64"), "Float32": pd.array(some_null, "Float32"),
        "arrow": pd.array(some_null, "int64[pyarrow]"), "boolean": pd.array([None if x is None else x > 0 for x in some_null], "boolean"),
        "time": times.where(~nulls), "zone": times.dt.tz_localize("UTC"), "duration": pd.to_timedelta(numbers, "h"),
        "null": np.full(ROWS, np.nan)}, index=random.integers(0, 9, ROWS))


FRAMES = [frame_of(seed) for seed in range(3)]


@settings(max_examples=settings().max_examples // 2)
@given(some.sampled_from(FRAMES), some.sampled_from(list(FRAMES[0].columns)), some.sampled_from([-1, 0, 1, 3, 9, ROWS // 2,
       ROWS - 1, ROWS, ROWS + 5]), some.sampled_from(["first", "last", "all"]), some.sampled_from(list(METHODS)),
       some.sampled_from(["frame", "frames", "series"]), some.integers(1, 8), some.sampled_from([None, 2, 3]))
def test_partitions_say_what_pandas_says(frame, column, n, keep, method, kind, partitions, split_every):
    lazy = dd.from_pandas(frame, npartitions=partitions, sort=False)
    if kind == "series":
        wanted = getattr(frame[column], method)(n, keep=keep)
        result = METHODS[method](lazy[column], n, keep=keep, split_every=split_every)
        assert result._meta.dtype == wanted.dtype
        pd.testing.assert_series_equal(result.compute(scheduler="sync"), wanted)
        return
    assume(n > 0 or kind == "frame")  # pandas ends in an IndexError there
    columns = column if kind == "frame" else ["boolean" if column == "int64" else "int64", column]
    wanted = getattr(frame, method)(n, columns, keep=keep)
    result = METHODS[method](lazy, n, columns, keep, split_every=split_every)
    assert result.npartitions == 1 and result._meta.dtypes.equals(wanted.dtypes)
    pd.testing.assert_frame_equal(result.compute(scheduler="sync"), wanted)


def test_few_rows_of_each_partition_go_on():
    frame = pd.DataFrame({"a": np.random.default_rng(1).permutation(10000), "b": 0})
    seen = []
    lazy = dd.from_pandas(frame, npartitions=20)

    def told(rows):
        seen.append(len(rows))
        return rows

    result = nlargest(lazy, 5, "a").map_partitions(told, meta=lazy._meta)
    pd.testing.assert_frame_equal(result.compute(scheduler="sync"), frame.nlargest(5, "a"))
    from libtopk.dask import _narrowed
    for keep, most in (("first", 6), ("last", 6), ("all", 6)):
        assert len(_narrowed(frame, count=6, column="a", largest=True, keep=keep)) == most
    assert seen == [5]


@pytest.mark.parametrize("error, words, call", [
    (TypeError, "no dask dataframe", lambda lazy: nlargest(FRAMES[0], 1, "int64")),
    (TypeError, "columns is for a dataframe", lambda lazy: nlargest(lazy, 1)),
    (TypeError, "columns is for a dataframe", lambda lazy: nlargest(lazy.int64, 1, "int64")),
    (KeyError, "missing", lambda lazy: nlargest(lazy, 1, "missing")),
    (ValueError, "keep must be", lambda lazy: nsmallest(lazy, 1, "int64", "some")),
    (TypeError, "n is 1.5", lambda lazy: nsmallest(lazy, 1.5, "int64")),
    (TypeError, "dtype", lambda lazy: nsmallest(lazy.assign(text="a"), 1, "text")),
    (ValueError, "split_every", lambda lazy: nsmallest(lazy, 1, "int64", split_every=1)),
])
def test_what_is_wrong_is_said_before_anything_is_computed(error, words, call):
    with pytest.raises(error, match=words):
        call(dd.from_pandas(FRAMES[0], npartitions=2, sort=False))
