#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/inputs.py makes distances, degrees and columns of small files as they would be by hand.

usage: inputs.py SOURCE_DIR
"""
import gzip
import pathlib
import subprocess
import sys
import tempfile

import numpy


def main():
    script = pathlib.Path(sys.argv[1]) / "bench/inputs.py"
    random = numpy.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def make(*arguments):
            made = folder / "made.npy"
            subprocess.run([sys.executable, "-B", script, *map(str, arguments), "--out", made], check=True)
            return numpy.load(made)

        vectors = random.integers(0, 256, (1000, 12), numpy.uint8)
        with open(folder / "v.bvecs", "wb") as file:
            for vector in vectors:
                file.write(numpy.int32(12).tobytes() + vector.tobytes())
        numpy.save(folder / "v.npy", vectors.astype(numpy.float32))
        right = ((vectors.astype(numpy.int64) - vectors[3]) ** 2).sum(axis=1)
        for path in ("v.bvecs", "v.npy"):
            made = make("distances", folder / path, "--query", 3)
            assert made.dtype == numpy.float32 and (made == right).all(), path
        assert (make("distances", folder / "v.bvecs", "--query", 3, "--count", 100) == right[:100]).all()

        edges = random.integers(1, 50, (3000, 2))
        text = "".join(f"{a} {b}\n" for a, b in edges)
        (folder / "plain.edges").write_text("# a comment\n" + text)
        with gzip.open(folder / "market.mtx.gz", "wt") as file:
            file.write(f"%%MatrixMarket matrix coordinate pattern general\n% a comment\n50 50 {len(edges)}\n" + text)
        right = numpy.bincount(edges.ravel())
        for path in ("plain.edges", "market.mtx.gz"):
            made = make("degrees", folder / path)
            assert made.dtype == numpy.uint32 and (made == right).all(), path
        assert (make("degrees", folder / "plain.edges", "--first", 1) == right[1:]).all()

        (folder / "a.csv").write_text("id,fear\n1,0.25\n2,\n3,0.5\n")
        (folder / "b.csv").write_text("id,fear\n4,nan\n5,0.75\n")
        made = make("column", folder / "a.csv", folder / "b.csv", "--name", "fear")
        assert made.dtype == numpy.float32 and made.tolist() == [0.25, 0.5, 0.75], made


main()
