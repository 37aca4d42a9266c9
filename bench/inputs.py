#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes files of elements that topk-bench takes with --data, of the data sets of Dr. Top-k (its Table 1).

  inputs.py distances bigann_base.bvecs --out distances.npy          ANN_SIFT1B: float32, --direction smallest
  inputs.py degrees web-ClueWeb09.edges --out degrees.npy            ClueWeb09: uint32, --direction largest
  inputs.py column tweets.csv --name fear_intensity --out fear.npy   TwitterCOVID-19: float32, --direction smallest

"distances": the squared Euclidean distances from one vector, the first by default, to all; of .fvecs, .bvecs, or .npy
with a matrix. "degrees": how many edges each vertex has; a line of text for each edge has its two vertices, and lines
that begin with % or # are left out, as is the first line after %%MatrixMarket, the sizes. "column": the numbers of a
column of CSV files. Texts that end in .gz are read as they are. The benchmark begins a file again where a row is
longer, as the paper repeats its tweets."""

import argparse
import csv
import gzip
import sys

import numpy

CHUNK = 1 << 17
TEXT_BYTES = 1 << 24


def open_text(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8", errors="replace", newline="")


def vectors_of(path):
    """A matrix over the file, which stays on disk."""
    if path.endswith(".npy"):
        return numpy.load(path, mmap_mode="r")
    if not path.endswith((".fvecs", ".bvecs")):
        sys.exit(f"inputs.py: {path} is neither .fvecs, .bvecs nor .npy")
    element = numpy.dtype("<f4" if path.endswith(".fvecs") else "u1")
    dimensions = int(numpy.fromfile(path, "<i4", 1)[0])
    return numpy.memmap(path, numpy.dtype([("dimensions", "<i4"), ("elements", element, dimensions)]), "r")["elements"]


def from_distances(arguments):
    vectors = vectors_of(arguments.file)
    count = min(len(vectors), arguments.count or len(vectors))
    query = vectors[arguments.query].astype(numpy.float32)
    distances = numpy.empty(count, numpy.float32)
    for first in range(0, count, CHUNK):
        last = min(first + CHUNK, count)
        apart = vectors[first:last].astype(numpy.float32) - query
        distances[first:last] = numpy.einsum("vd,vd->v", apart, apart)
    return distances


def edges_of(path):
    """Arrays of two columns, of some million lines each."""
    with open_text(path) as file:
        sizes_follow = False
        for lines in iter(lambda: file.readlines(TEXT_BYTES), []):
            sizes_follow |= lines[0].startswith("%%MatrixMarket")
            edges = [line for line in lines if not line.startswith(("%", "#"))]
            if sizes_follow and edges:
                del edges[0]
                sizes_follow = False
            numbers = numpy.fromstring("".join(edges), numpy.int64, sep=" ")
            if len(numbers) != 2 * len(edges):
                sys.exit(f"inputs.py: {path} has lines without two numbers")
            yield numbers.reshape(-1, 2)


def from_degrees(arguments):
    degrees = numpy.zeros(0, numpy.uint32)
    for edges in edges_of(arguments.file):
        vertices, counts = numpy.unique(edges, return_counts=True)
        if len(vertices) > 0 and vertices[-1] >= len(degrees):
            degrees = numpy.concatenate((degrees, numpy.zeros(vertices[-1] + 1 - len(degrees), numpy.uint32)))
        degrees[vertices] += counts.astype(numpy.uint32)
    return degrees[arguments.first:][:arguments.count or None]


def from_column(arguments):
    numbers = []
    for path in arguments.files:
        with open_text(path) as file:
            column = (line[arguments.name] for line in csv.DictReader(file))
            numbers.append(numpy.fromiter((float(text) for text in column if text), numpy.float32))
    numbers = numpy.concatenate(numbers)
    return numbers[~numpy.isnan(numbers)][:arguments.count or None]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(required=True)
    distances = ways.add_parser("distances")
    distances.add_argument("file")
    distances.add_argument("--query", type=int, default=0, help="which vector of the file")
    distances.set_defaults(make=from_distances)
    degrees = ways.add_parser("degrees")
    degrees.add_argument("file")
    degrees.add_argument("--first", type=int, default=0, help="the least vertex, 1 in files of Matrix Market")
    degrees.set_defaults(make=from_degrees)
    column = ways.add_parser("column")
    column.add_argument("files", nargs="+")
    column.add_argument("--name", required=True)
    column.set_defaults(make=from_column)
    for way in (distances, degrees, column):
        way.add_argument("--count", type=int, help="elements at most, e.g. 536870912")
        way.add_argument("--out", required=True, help="a .npy file")
    arguments = parser.parse_args()
    elements = arguments.make(arguments)
    numpy.save(arguments.out, elements)
    print(f"{arguments.out}: {len(elements)} elements of {elements.dtype}")


if __name__ == "__main__":
    main()
