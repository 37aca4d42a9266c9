#!/bin/sh
# Of vectors that tie faiss lists the first ones first by one metric, and last by another: faiss-cpu 1.15.1, on a CPU.
#
# For vectors of length 1 the distance L2 and the inner product rank alike, so one expects IndexFlatL2 and IndexFlatIP to
# answer with the same ids. With vectors that occur several times they do not: L2 lists equal ones by ascending id, the
# inner product by descending id, for any k. So whoever merges answers of shards has to know the metric.
#
# Seen:
#   L2: [0, 1, 2, 3, 4]
#   IP: [4, 3, 2, 1, 0]
set -eu
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install -q faiss-cpu==1.15.1 numpy==2.4.6
"$venv/bin/python" - <<'P'
import faiss
import numpy

alike = numpy.tile(numpy.float32([0.6, 0.8]), (1000, 1))
seen = {}
for name, metric in (("L2", faiss.METRIC_L2), ("IP", faiss.METRIC_INNER_PRODUCT)):
    index = faiss.IndexFlat(2, metric)
    index.add(alike)
    seen[name] = index.search(alike[:1], 5)[1][0].tolist()
    ids = index.search(alike[:1], 1000)[1][0].tolist()
    print(f"{name}: {seen[name]}")
    assert ids == sorted(ids, reverse=name == "IP")
assert seen == {"L2": [0, 1, 2, 3, 4], "IP": [4, 3, 2, 1, 0]}
P
