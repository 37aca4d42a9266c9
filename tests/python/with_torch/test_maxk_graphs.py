# SPDX-License-Identifier: Apache-2.0
"""The example examples/python/maxk_gnn: its graph, loaders and plots. These need no PyTorch."""
import gzip
import json
import pathlib
import subprocess
import sys

import pytest

numpy = pytest.importorskip("numpy")
FOLDER = pathlib.Path(__file__).resolve().parents[3] / "examples" / "python" / "maxk_gnn"
sys.path.insert(0, str(FOLDER))
import graphs  # noqa: E402
import make_graph  # noqa: E402

PACKAGES = """\
Package: zsh
Section: shells
Depends: libc6 (>= 2.36), awk | mawk:any, nobody-has-this
Description: shell with lots of features
 Features of the shell that no column counts: shell shell shell.

Package: mawk
Provides: awk (= 1), other
Section: non-free/shells
Pre-Depends: libc6
Description: awk, an awk

Package: gawk
Provides: awk
Section: shells
Recommends: gawk
Description: features of awk

Package: libc6
Section: libs
Suggests: libgcc [amd64] <!nocheck>
Description: C library: C and C++

Package: libgcc
Section: libs
Depends: libc6
Description: library

Package: alone
Section: tiny
Description:

Package: libgcc
Section: tiny
Description: a second stanza
"""
NAMES = ["alone", "gawk", "libc6", "libgcc", "mawk", "zsh"]


def pairs(edges):
    return set(zip(*edges.tolist()))


def both(*undirected):
    return {pair for a, b in undirected for pair in ((a, b), (b, a))}


@pytest.fixture
def debian():
    return make_graph.make(PACKAGES, words=3, min_section=2)


def test_make_graph_nodes_and_labels(debian):
    graph, names = debian
    assert names["nodes"] == NAMES
    assert names["classes"] == ["libs", "shells"]
    assert graph.labels.tolist() == [-1, 1, 0, 0, 1, 1]
    assert graph.split[0] == graphs.NO_SPLIT and (graph.split[1:] != graphs.NO_SPLIT).all()


def test_make_graph_edges(debian):
    alone, gawk, libc6, libgcc, mawk, zsh = range(6)
    edges = debian[0].edges
    assert pairs(edges) == both((zsh, libc6), (zsh, mawk), (zsh, gawk), (mawk, libc6), (libc6, libgcc))
    assert edges.T.tolist() == sorted(edges.T.tolist())


def test_make_graph_features(debian):
    graph, names = debian
    assert names["columns"] == ["awk", "features", "library"]  # in two descriptions each, as is "of" behind them
    half = 2**-0.5
    expected = [[0, 0, 0], [half, half, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
    numpy.testing.assert_allclose(graph.features, expected, rtol=1e-6)


def test_make_graph_program(tmp_path):
    (tmp_path / "Packages").write_text(PACKAGES)
    command = [sys.executable, FOLDER / "make_graph.py", "--packages", "Packages", "--min-section"]
    for name in ("one", "two"):
        subprocess.run([*command, "2", name], cwd=tmp_path, check=True)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    for smallest, text, words in (("2", "", "has no packages"), ("4", PACKAGES, "fewer than two sections")):
        (tmp_path / "Packages").write_text(text)
        failed = subprocess.run([*command, smallest, "three"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        assert failed.returncode == 1 and words in failed.stderr


def test_without_apt(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="--packages"):
        make_graph.index_text(None)


FEATURES = numpy.arange(8, dtype=numpy.float32).reshape(4, 2)
LABELS, PARTS = numpy.array([2, 0, 1, 2]), [0, 0, 1, 2]
ENTRIES = numpy.array([[0, 1, 1, 2], [1, 0, 2, 2]])  # rows and columns: one edge both ways, one only once, a loop
EDGES = both((0, 1), (1, 2))


def check(graph, labels=LABELS):
    assert graph.features.dtype == numpy.float32
    numpy.testing.assert_array_equal(graph.labels, labels)
    assert graph.labels.dtype == (bool if graph.multi_label else numpy.int64)
    assert graph.split.tolist() == PARTS
    assert pairs(graph.edges) == EDGES
    assert graph.classes == 3


def save_scipy(path, form):
    """As scipy.sparse.save_npz does."""
    common = {"format": form.encode(), "shape": numpy.array([4, 4]), "data": numpy.ones(4, numpy.float32)}
    if form == "coo":
        numpy.savez(path, row=ENTRIES[0], col=ENTRIES[1], **common)
    else:
        major, minor = ENTRIES if form == "csr" else ENTRIES[::-1]
        starts = numpy.concatenate(([0], numpy.bincount(major, minlength=4).cumsum())).astype(numpy.int32)
        indices = minor[numpy.argsort(major, kind="stable")].astype(numpy.int32)
        numpy.savez(path, indices=indices, indptr=starts, **common)


def test_npz(tmp_path):
    graph = graphs.Graph(FEATURES, LABELS, graphs.undirected(ENTRIES, 4), numpy.array(PARTS, numpy.int8))
    graphs.save(tmp_path / "graph", graph, {"nodes": ["a", "b", "c", "d"]})
    check(graphs.load(tmp_path / "graph"))


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
def test_reddit(tmp_path, form):
    numpy.savez(tmp_path / "reddit_data.npz", feature=FEATURES, label=LABELS, node_types=numpy.array(PARTS) + 1,
                node_ids=numpy.arange(4))
    save_scipy(tmp_path / "reddit_graph.npz", form)
    check(graphs.load(tmp_path))


@pytest.mark.parametrize("multi_label", [False, True])
def test_saint(tmp_path, multi_label):
    labels = numpy.eye(3, dtype=int)[LABELS] | numpy.eye(3, dtype=int)[0] if multi_label else LABELS
    numpy.save(tmp_path / "feats.npy", FEATURES.astype(numpy.float64))
    save_scipy(tmp_path / "adj_full.npz", "csr")
    (tmp_path / "class_map.json").write_text(json.dumps({str(node): labels[node].tolist() for node in range(4)}))
    (tmp_path / "role.json").write_text(json.dumps({"tr": [0, 1], "va": [2], "te": [3]}))
    graph = graphs.load(tmp_path)
    check(graph, labels)
    numpy.testing.assert_allclose(graph.features, FEATURES - 1 - FEATURES[0])  # nodes 0 and 1: mean 0, variance 1


@pytest.mark.parametrize("form", ["csv", "npz", "several labels"])
def test_ogb(tmp_path, form):
    raw, split = tmp_path / "raw", tmp_path / "split" / "scheme"
    raw.mkdir()
    split.mkdir(parents=True)
    labels = numpy.eye(3, dtype=int)[LABELS] if form == "several labels" else LABELS[:, None]

    def write(path, rows, style):
        with gzip.open(path, "wt") as file:
            numpy.savetxt(file, rows, style, delimiter=",")

    if form == "npz":
        numpy.savez(raw / "data.npz", edge_index=ENTRIES, node_feat=FEATURES)
        numpy.savez(raw / "node-label.npz", node_label=labels.astype(numpy.float32))
    else:
        write(raw / "edge.csv.gz", ENTRIES.T, "%d")
        write(raw / "node-feat.csv.gz", FEATURES, "%g")
        write(raw / "node-label.csv.gz", labels, "%d")
    for part, name in enumerate(("train", "valid", "test")):
        write(split / f"{name}.csv.gz", numpy.flatnonzero(numpy.equal(PARTS, part)), "%d")
    check(graphs.load(tmp_path), labels if form == "several labels" else LABELS)


def test_unknown_source(tmp_path):
    with pytest.raises(SystemExit, match="neither"):
        graphs.load(tmp_path)


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    lines = ["graph,model,select,metric,test,epoch_ms,topk_share"]
    lines += [f"g.npz,{model},{select},accuracy,0.{seed + 5},10,0.2" for model in ("sage", "gin") for seed in range(2)
              for select in ("exact", "relu", "iterations=2", "iterations=8")]
    (tmp_path / "runs.csv").write_text("\n".join(lines))
    subprocess.run([sys.executable, FOLDER / "plot.py", "runs.csv", "--out", "plots"], cwd=tmp_path, check=True)
    for name in ("accuracy.svg", "time.svg"):
        assert "</svg>" in (tmp_path / "plots" / name).read_text()


def test_plot_refuses_runs_that_differ(tmp_path):
    pytest.importorskip("matplotlib")
    lines = ["graph,model,select,metric,test,epoch_ms,topk_share,k"]
    lines += [f"g.npz,sage,exact,accuracy,0.5,10,0.2,{k}" for k in (16, 32)]
    (tmp_path / "runs.csv").write_text("\n".join(lines))
    command = [sys.executable, FOLDER / "plot.py", "runs.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0 and "plot: runs of sage on g.npz differ in device or aggregate or k" in done.stderr
