#!/bin/sh
# In one file max(x) is NaN, and ORDER BY x DESC LIMIT 1 is 8: duckdb 2.0.1, a Parquet file that polars 2.1.0 wrote.
#
# In DuckDB NaN is greater than all numbers, so a table with NaN has it first in both queries. Parquet's statistics leave
# NaN out. For a maximum DuckDB reads the elements of this file. For the best by ORDER BY and LIMIT it skips row groups
# whose statistics end below what it has found, and the NaN with them. Sorting all rows finds it again. DuckDB has a reader
# option, can_have_nan, which is off. DataFusion 55.0.0 skips such groups, too, and answers max(x) from the statistics.
#
# Whoever takes the k best of a column from a file by such an engine and from its values elsewhere compares different rows.
#
# Seen, of 8, 7, 6, 5, 4, 3, 2, NaN in four row groups:
#   duckdb, table: max nan, best nan, first of all nan
#   duckdb, file: max nan, best 8.0, first of all nan
#   datafusion, table: max nan, best nan, first of all nan
#   datafusion, file: max 8.0, best 8.0, first of all nan
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q duckdb==2.0.1 datafusion==55.0.0 polars==2.1.0 pyarrow==26.0.1
cat >"$venv/program.py" <<'P'
import sys

import datafusion
import duckdb
import polars

QUERIES = (("max", "SELECT max(x) FROM {}"), ("best", "SELECT x FROM {} ORDER BY x DESC LIMIT 1"),
           ("first of all", "SELECT x FROM {} ORDER BY x DESC"))
path = sys.argv[1]
frame = polars.DataFrame({"x": [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, float("nan")]})
frame.write_parquet(path, row_group_size=2)
numbers = frame.to_arrow()
context = datafusion.SessionContext()
context.register_record_batches("numbers", [numbers.to_batches()])
context.register_parquet("file", path)


def of_duckdb(query, name):
    return duckdb.execute(query.format(name)).fetchone()[0]


def of_datafusion(query, name):
    return next(batch for batch in context.sql(query.format(name)).collect() if batch.num_rows).column(0)[0].as_py()


for engine, first, names in (("duckdb", of_duckdb, ("numbers", f"'{path}'")), ("datafusion", of_datafusion, ("numbers", "file"))):
    for what, name in zip(("table", "file"), names):
        print(f"{engine}, {what}: " + ", ".join(f"{label} {first(query, name)}" for label, query in QUERIES))
P
"$venv/bin/python" "$venv/program.py" "$venv/numbers.parquet" | tee "$venv/seen"
grep '^#   ' "$0" | sed 's/^#   //' | diff - "$venv/seen"
