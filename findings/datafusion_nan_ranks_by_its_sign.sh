#!/bin/sh
# A NaN that the processor has made is not the NaN that a table holds: datafusion 55.0.0 on x86-64.
#
# DataFusion orders floats by their bits, so a NaN with its sign bit set ranks below all numbers, and one without it above
# them. The quotient 0.0/0.0 has that bit set on x86-64. So the two largest of a column of quotients leave their NaN
# out, and the two largest of the same column with NaN written as such begin with it. max and min disagree in the same
# way, and a group of NaN becomes two. numpy, whose quotients have the bit set, too, ranks both kinds alike.
#
# Seen, for 0/0, 1/2, -3/1 and inf/1, and what should be the same in both lines of a pair:
#   the two largest: computed ['inf', '0.5'], written ['nan', 'inf']
#   max and min: computed ['inf', 'nan'], written ['nan', '-3.0']
#   groups of NaN, of both together: 2
#   numpy, the largest: computed nan, written nan
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q datafusion==55.0.0 pyarrow==26.0.1 numpy==2.4.6
cat >"$venv/program.py" <<'P'
import datafusion
import numpy as np
import pyarrow as pa

context = datafusion.SessionContext()
above, below = np.array([0.0, 1.0, -3.0, np.inf]), np.array([0.0, 2.0, 1.0, 1.0])
written = np.array([np.nan, 0.5, -3.0, np.inf])
context.from_arrow(pa.table({"above": above, "below": below, "written": written}), name="t")


def column(query):
    rows = context.sql(query).to_pydict()
    return [str(value) for values in rows.values() for value in values]


columns = {"computed": "above / below", "written": "written"}
largest = [f"{name} {column(f'select {x} as x from t order by x desc limit 2')}" for name, x in columns.items()]
ends = [f"{name} {column(f'select max({x}), min({x}) from t')}" for name, x in columns.items()]
both = " union all ".join(f"select {x} as x from t" for x in columns.values())
print("the two largest:", ", ".join(largest))
print("max and min:", ", ".join(ends))
print("groups of NaN, of both together:", column(f"select x from ({both}) group by x").count("nan"))
with np.errstate(invalid="ignore"):
    print(f"numpy, the largest: computed {np.max(above / below)}, written {np.max(written)}")
P
"$venv/bin/python" "$venv/program.py" | tee "$venv/seen"
grep '^#   ' "$0" | sed 's/^#   //' | diff - "$venv/seen"
