#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphs with features, labels and a split, from files. Needs numpy.

  graphs.py SOURCE FILE.npz       writes the graph in the form that loads fastest

SOURCE, which train.py takes as well, is
  a file FILE.npz            of make_graph.py or of this program
  a folder of OGB            ogbn-products, ogbn-arxiv and their like, as OGB unpacks them
  a folder of Reddit         reddit_data.npz and reddit_graph.npz, as DGL and PyG unpack them
  a folder of GraphSAINT     Flickr, Yelp: adj_full.npz, feats.npy, class_map.json, role.json
Every graph is made undirected.
"""

import gzip
import json
import pathlib
import sys
import typing

import numpy

NO_SPLIT, TRAIN, VALIDATION, TEST = -1, 0, 1, 2


class Graph(typing.NamedTuple):
    features: numpy.ndarray  # (nodes, columns) float32
    labels: numpy.ndarray    # (nodes,) int64, -1: none; or (nodes, classes) bool, where a node has several
    edges: numpy.ndarray     # (2, edges): target, source; both directions, sorted, no loops
    split: numpy.ndarray     # (nodes,) int8: NO_SPLIT, TRAIN, VALIDATION or TEST

    @property
    def multi_label(self):
        return self.labels.ndim == 2

    @property
    def classes(self):
        return self.labels.shape[1] if self.multi_label else int(self.labels.max()) + 1

    def describe(self):
        parts = [int((self.split == part).sum()) for part in (TRAIN, VALIDATION, TEST)]
        return (f"{len(self.features)} nodes, {self.edges.shape[1]} directed edges, {self.features.shape[1]} features, "
                f"{self.classes} classes; training, validation, test: {parts}")


def undirected(edges, nodes):
    """Both directions of each edge once, without loops, sorted by target and then by source."""
    codes = numpy.concatenate((edges[0] * nodes + edges[1], edges[1] * nodes + edges[0]))
    targets, sources = numpy.divmod(numpy.unique(codes), nodes)
    return numpy.stack((targets, sources))[:, targets != sources]


def save(path, graph, names=None):
    """`names`: lists of words that say what nodes, classes or columns are."""
    words = {f"names_of_{what}": numpy.array(list_of) for what, list_of in (names or {}).items()}
    with open(path, "wb") as file:  # numpy would add .npz to a name
        numpy.savez_compressed(file, **graph._asdict(), **words)


def load_npz(path):
    with numpy.load(path) as file:
        return Graph(*(file[field] for field in Graph._fields))


def read_scipy(path):
    """Rows and columns of the entries of a matrix that scipy.sparse.save_npz wrote."""
    with numpy.load(path) as file:
        form = str(file["format"].astype(str))  # bytes, or text from old versions
        if form == "coo":
            return numpy.stack((file["row"], file["col"])).astype(numpy.int64)
        if form not in ("csr", "csc"):
            sys.exit(f"graphs: {path} has the format {form}, not coo, csr or csc")
        major = numpy.repeat(numpy.arange(len(file["indptr"]) - 1), numpy.diff(file["indptr"]))
        return numpy.stack((major, file["indices"]))  # of csc the transpose: it is made undirected


def read_csv(path, dtype):
    with gzip.open(path, "rt") as file:
        return numpy.loadtxt(file, dtype, delimiter=",", ndmin=2)


def load_ogb(folder):
    raw = folder / "raw"
    if (raw / "data.npz").exists():
        with numpy.load(raw / "data.npz") as data, numpy.load(raw / "node-label.npz") as more:
            edges, features, labels = data["edge_index"], data["node_feat"], more["node_label"]
    elif not (raw / "node-feat.csv.gz").exists():
        sys.exit(f"graphs: {raw} has no node-feat.csv.gz; graphs without features of nodes cannot be used")
    else:
        edges = read_csv(raw / "edge.csv.gz", numpy.int64).T
        features = read_csv(raw / "node-feat.csv.gz", numpy.float32)
        labels = read_csv(raw / "node-label.csv.gz", numpy.float32)
    split = numpy.full(len(features), NO_SPLIT, numpy.int8)
    scheme = sorted((folder / "split").iterdir())[0]
    for part, name in ((TRAIN, "train"), (VALIDATION, "valid"), (TEST, "test")):
        split[read_csv(scheme / f"{name}.csv.gz", numpy.int64)[:, 0]] = part
    if labels.shape[1] == 1:
        labels = numpy.nan_to_num(labels[:, 0], nan=-1).astype(numpy.int64)
    else:
        labels = labels > 0
    return Graph(features.astype(numpy.float32), labels, undirected(edges, len(features)), split)


def load_reddit(folder):
    with numpy.load(folder / "reddit_data.npz") as data:
        features, labels = data["feature"].astype(numpy.float32), data["label"].astype(numpy.int64)
        split = (data["node_types"] - 1).astype(numpy.int8)  # 1, 2, 3: training, validation, test
    return Graph(features, labels, undirected(read_scipy(folder / "reddit_graph.npz"), len(features)), split)


def load_saint(folder):
    """As GraphSAINT does, columns get mean 0 and variance 1 over the training nodes."""
    features = numpy.load(folder / "feats.npy")
    split = numpy.full(len(features), NO_SPLIT, numpy.int8)
    roles = json.loads((folder / "role.json").read_text())
    for part, role in ((TRAIN, "tr"), (VALIDATION, "va"), (TEST, "te")):
        split[roles[role]] = part
    deviation = features[split == TRAIN].std(axis=0, dtype=numpy.float64)
    features = (features - features[split == TRAIN].mean(axis=0, dtype=numpy.float64)) / numpy.where(deviation > 0, deviation, 1)
    classes = json.loads((folder / "class_map.json").read_text())
    labels = numpy.array([classes[str(node)] for node in range(len(features))])
    labels = labels.astype(bool if labels.ndim == 2 else numpy.int64)
    edges = undirected(read_scipy(folder / "adj_full.npz"), len(features))
    return Graph(features.astype(numpy.float32), labels, edges, split)


LOADERS = {"raw": load_ogb, "reddit_data.npz": load_reddit, "adj_full.npz": load_saint}


def load(path):
    path = pathlib.Path(path)
    if path.is_file():
        return load_npz(path)
    for name, loader in LOADERS.items():
        if (path / name).exists():
            return loader(path)
    sys.exit(f"graphs: {path} is neither a file nor a folder with one of {', '.join(LOADERS)}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    graph = load(sys.argv[1])
    save(sys.argv[2], graph)
    print(f"{sys.argv[2]}: {graph.describe()}")


if __name__ == "__main__":
    main()
