#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the dependency graph of all Debian packages that apt knows, as one file for train.py.

  make_graph.py debian.npz
  make_graph.py debian.npz --packages Packages      the index from a file, as it is on a mirror; "-": standard input

A node is a package, in the order of names. Undirected edges join it with every package that it depends on, recommends
or suggests. Alternatives (a | b) count each; versions and architectures are ignored. A name that no package bears
stands for every package that provides it, or for nothing.

The label is the section without its component: non-free/libs is libs. Packages of sections with fewer than
--min-section packages stay in the graph; they have no label and belong to no part of the split. The split, 60 % for
training, 20 % for validation and 20 % for testing, comes from a hash of the name.

Features are the words of the description's first line: the --words words that most packages use, weighted by tf-idf,
each row of length 1. The same index gives the same file. Needs numpy.
"""

import argparse
import collections
import hashlib
import re
import subprocess
import sys

import numpy

from graphs import NO_SPLIT, TEST, TRAIN, VALIDATION, Graph, save, undirected

RELATIONS = ("Depends", "Pre-Depends", "Recommends", "Suggests")
FIELDS = {"Package", "Section", "Description", "Provides", *RELATIONS}
WORD = re.compile(r"[a-z][a-z0-9+#]+")
PACKAGE_NAME = re.compile(r"\s*([a-zA-Z0-9][a-zA-Z0-9+.-]*)")  # before a version, an architecture or ":any"


def index_text(path):
    """The package index as text."""
    if path == "-":
        return sys.stdin.read()
    if path is not None:
        with open(path, encoding="utf-8") as file:
            return file.read()
    try:
        return subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True).stdout.decode()
    except FileNotFoundError:
        sys.exit("make_graph: there is no apt-cache here; give a Packages file with --packages")
    except subprocess.CalledProcessError as error:
        sys.exit(f"make_graph: apt-cache failed: {error.stderr.decode().strip()}")


def parse_packages(text):
    """{name: {field: first line}} of the FIELDS, by name. Of two stanzas with one name the first counts."""
    packages = {}
    for stanza in text.split("\n\n"):
        fields = {}
        for line in stanza.splitlines():
            field, colon, value = line.partition(":")
            if colon and field in FIELDS:
                fields[field] = value.strip()
        if "Package" in fields:
            packages.setdefault(fields["Package"], fields)
    return dict(sorted(packages.items()))


def names_in(relation):
    """All package names of a field like "a (>= 1) | b:any, c [amd64]"."""
    matches = (PACKAGE_NAME.match(part) for part in re.split("[,|]", relation))
    return [match.group(1) for match in matches if match]


def edges_of(packages):
    """The two ends of each relation."""
    providers = collections.defaultdict(list)
    for node, fields in enumerate(packages.values()):
        for virtual in names_in(fields.get("Provides", "")):
            providers[virtual].append(node)
    for node, name in enumerate(packages):
        providers[name] = [node]  # a package of that name wins over packages that provide it
    ends = [(node, other) for node, fields in enumerate(packages.values()) for relation in RELATIONS
            for name in names_in(fields.get(relation, "")) for other in providers.get(name, ())]
    return numpy.array(ends, numpy.int64).reshape(-1, 2).T


def labels_of(packages, smallest):
    """The number of each package's section, -1 for small sections, and the names of the sections."""
    sections = [fields.get("Section", "").rpartition("/")[2] for fields in packages.values()]
    sizes = collections.Counter(section for section in sections if section)
    classes = sorted(section for section, size in sizes.items() if size >= smallest)
    number = {section: label for label, section in enumerate(classes)}
    return numpy.array([number.get(section, -1) for section in sections], numpy.int64), classes


def features_of(packages, words):
    """Rows of tf-idf weights, and the words of their columns: the most frequent ones first."""
    texts = [collections.Counter(WORD.findall(fields.get("Description", "").lower())) for fields in packages.values()]
    frequency = collections.Counter(word for text in texts for word in text)
    vocabulary = sorted(frequency, key=lambda word: (-frequency[word], word))[:words]
    column = {word: (at, numpy.log(len(texts) / frequency[word])) for at, word in enumerate(vocabulary)}
    features = numpy.zeros((len(texts), len(vocabulary)), numpy.float32)
    for row, text in zip(features, texts):
        for word, count in text.items():
            if word in column:
                at, weight = column[word]
                row[at] = count * weight
    lengths = numpy.linalg.norm(features, axis=1, keepdims=True)
    return features / numpy.where(lengths > 0, lengths, 1), vocabulary


def split_of(packages, labels):
    """The part of each package, by a hash of its name."""
    percent = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % 100 for name in packages]
    parts = numpy.choose(numpy.digitize(percent, (60, 80)), (TRAIN, VALIDATION, TEST))
    return numpy.where(labels >= 0, parts, NO_SPLIT).astype(numpy.int8)


def make(text, words=512, min_section=200):
    """The graph, and names for people: of nodes, classes and columns."""
    packages = parse_packages(text)
    if not packages:
        sys.exit("make_graph: the index has no packages; run `apt-get update`, or give a Packages file with --packages")
    labels, classes = labels_of(packages, min_section)
    if len(classes) < 2:
        sys.exit(f"make_graph: fewer than two sections have {min_section} packages; give a smaller --min-section")
    features, vocabulary = features_of(packages, words)
    edges = undirected(edges_of(packages), len(packages))
    names = {"nodes": list(packages), "classes": classes, "columns": vocabulary}
    return Graph(features, labels, edges, split_of(packages, labels)), names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", help="the .npz file to write")
    parser.add_argument("--packages", help="a Packages file (default: what `apt-cache dumpavail` prints)")
    parser.add_argument("--words", type=int, default=512, help="columns of the features (default: %(default)s)")
    parser.add_argument("--min-section", type=int, default=200,
                        help="packages of a section that is a class (default: %(default)s)")
    options = parser.parse_args()
    graph, names = make(index_text(options.packages), options.words, options.min_section)
    save(options.output, graph, names)
    print(f"{options.output}: {graph.describe()}")


if __name__ == "__main__":
    main()
