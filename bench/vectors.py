#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes files of vectors that topk-bench takes: base.npy for --vectors, queries.npy for --queries.

  vectors.py hdf5 sift-128-euclidean.hdf5 --out sift
  vectors.py descriptions lists/*_Translation-en* --dimensions 96 --queries 1000 --out packages-96

"hdf5": of a data set of ANN-Benchmarks what is called "train" and "test"; needs h5py. "descriptions": where no such set
is at hand, real texts that any Debian system has, the descriptions of its packages. A text is a description or one of
its paragraphs, sentences, clauses or lines, each kept once. Its TF-IDF vector is projected to a few dimensions, at
random but always alike, and has length 1. Queries are drawn from the texts and then no longer among them. Needs
scikit-learn, and apt's lists in English:

  apt-get -o Acquire::Languages=en -o Dir::State::lists=lists update"""

import argparse
import os
import re
import subprocess
import sys

import numpy

SEED = 1
LETTERS = 20  # a shorter text says too little


def read_text(path):
    """The text of a file, which may be compressed by LZ4, as apt keeps its lists."""
    if path.endswith(".lz4"):
        return subprocess.run(["lz4", "-dc", path], check=True, capture_output=True).stdout.decode("utf-8", "replace")
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def texts_of(files):
    """Whole descriptions, their paragraphs, sentences, clauses and lines, each once, in the order of the files."""
    found = {}
    for path in files:
        text = re.sub(r"^(Package|Description-md5): .*\n|^Description-en: ", "", read_text(path), flags=re.MULTILINE)
        for description in text.split("\n\n"):
            paragraphs = [[line.strip() for line in lines.splitlines()] for lines in description.split("\n .\n")]
            joined = [" ".join(lines) for lines in paragraphs]
            parts = [part for end in (".!?", ".!?,;:") for paragraph in joined
                     for part in re.split(rf"(?<=[{end}])\s+", paragraph)]
            texts = [" ".join(joined), *joined, *parts, *(line for lines in paragraphs for line in lines)]
            found.update((text, None) for text in texts if len(text) >= LETTERS)
    return list(found)


def project(texts, dimensions):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize
    from sklearn.random_projection import GaussianRandomProjection
    weights = TfidfVectorizer(dtype=numpy.float32, sublinear_tf=True).fit_transform(texts)
    return normalize(GaussianRandomProjection(dimensions, random_state=SEED).fit_transform(weights))


def from_descriptions(arguments):
    texts = texts_of(arguments.files)
    if len(texts) <= arguments.queries:
        sys.exit(f"vectors.py: only {len(texts)} texts of at least {LETTERS} letters")
    vectors = project(texts, arguments.dimensions)
    order = numpy.random.default_rng(SEED).permutation(len(vectors))
    return vectors[order[arguments.queries:]], vectors[order[:arguments.queries]]


def from_hdf5(arguments):
    import h5py
    with h5py.File(arguments.file) as file:
        return file["train"][:], file["test"][:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(required=True)
    hdf5 = ways.add_parser("hdf5")
    hdf5.add_argument("file")
    hdf5.set_defaults(make=from_hdf5)
    descriptions = ways.add_parser("descriptions")
    descriptions.add_argument("files", nargs="+")
    descriptions.add_argument("--dimensions", type=int, default=96)
    descriptions.add_argument("--queries", type=int, default=1000)
    descriptions.set_defaults(make=from_descriptions)
    for way in (hdf5, descriptions):
        way.add_argument("--out", required=True, help="a folder")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    for name, vectors in zip(("base", "queries"), arguments.make(arguments)):
        numpy.save(os.path.join(arguments.out, name), numpy.ascontiguousarray(vectors, numpy.float32))
        print(f"{name}.npy: {vectors.shape[0]} vectors of {vectors.shape[1]} dimensions")


if __name__ == "__main__":
    main()
