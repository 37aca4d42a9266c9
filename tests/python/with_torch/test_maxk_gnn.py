# SPDX-License-Identifier: Apache-2.0
"""The example examples/python/maxk_gnn: its models and their training."""
import csv
import pathlib
import sys

import pytest

numpy = pytest.importorskip("numpy")
# Without PyTorch the name can find this folder, which has no version.
torch = pytest.importorskip("torch", minversion="2.0")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples" / "python" / "maxk_gnn"))
import graphs  # noqa: E402
import models  # noqa: E402
import train  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")


def planted(nodes=240, classes=4):
    """Edges mostly within a class; each feature tells little."""
    random = numpy.random.default_rng(1)
    labels = random.integers(0, classes, nodes)
    near = numpy.where(labels[:, None] == labels, 0.1, 0.01)
    edges = numpy.stack(numpy.nonzero(random.random((nodes, nodes)) < near))
    features = random.normal(size=(nodes, 16)) + numpy.eye(16)[labels]
    split = random.choice(3, nodes).astype(numpy.int8)
    return graphs.Graph(features.astype(numpy.float32), labels, graphs.undirected(edges, nodes), split)


def needs_library(select):
    if select not in ("torch", "relu"):
        pytest.importorskip("libtopk.torch")


SMALL = "--k 8 --hidden 32 --layers 2 --epochs 30 --device cpu --seeds 2 --timed 1 --csv runs.csv".split()
SELECTIONS = ["torch", "relu", "exact", "iterations=4"]


@pytest.mark.parametrize("select", SELECTIONS)
@pytest.mark.parametrize("model", ["sage", "gcn", "gin"])
def test_learns(tmp_path, monkeypatch, capsys, model, select):
    needs_library(select)
    graphs.save(tmp_path / "planted.npz", planted())
    monkeypatch.chdir(tmp_path)
    arguments = ["--graph", "planted.npz", "--model", model, "--select", select, *SMALL]
    monkeypatch.setattr(sys, "argv", ["train.py", *arguments])
    train.main()
    with open(tmp_path / "runs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["seed"] for row in rows] == ["0", "1"]
    for row in rows:
        assert float(row["test"]) > 0.5  # chance: 0.25
        assert float(row["epoch_ms"]) > 0 and float(row["topk_ms"]) > 0 and 0 < float(row["topk_share"]) < 1
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == [model, select, "2"]


@pytest.mark.parametrize("option", ["--k", "--epochs", "--every", "--timed", "--seeds"])
def test_refused(monkeypatch, capsys, option):
    monkeypatch.setattr(sys, "argv", ["train.py", "--graph", "none", option, "0"])
    with pytest.raises(SystemExit):
        train.main()
    assert f"{option} must be" in capsys.readouterr().err


@pytest.mark.parametrize("model", ["sage", "gcn", "gin"])
def test_aggregate(monkeypatch, device, model):
    """Against sums over a dense matrix; both ways, forward and backward."""
    monkeypatch.setattr(models, "EDGES_AT_ONCE", 100)  # so there are several parts
    graph = planted(40)
    edges = torch.from_numpy(graph.edges)
    adjacency = models.Adjacency(edges, 40, models.LAYERS[model].weighting, device)
    dense = torch.zeros(40, 40, dtype=torch.float64).index_put(tuple(edges), torch.ones((), dtype=torch.float64))
    if model == "sage":
        dense = dense / dense.sum(1, keepdim=True).clamp(min=1)
    elif model == "gcn":
        dense = dense + torch.eye(40)
        dense = dense / (dense.sum(1, keepdim=True) * dense.sum(0)).sqrt()
    torch.manual_seed(0)
    dense = dense.float().to(device)
    values, indices = torch.topk(torch.randn(40, 16, device=device), 4, sorted=False)
    gradient = torch.randn(40, 16, device=device)
    places = torch.zeros(40, 16, device=device).scatter(1, indices, values).requires_grad_()
    values.requires_grad_()
    expected = dense @ places.detach()
    expected_gradient = dense.T @ gradient
    sums = models.AggregateDense.apply(places, adjacency)
    sums.backward(gradient)
    torch.testing.assert_close(sums, expected)
    torch.testing.assert_close(places.grad, expected_gradient)
    sums = models.AggregateSparse.apply(values, indices, adjacency, 16)
    sums.backward(gradient)
    torch.testing.assert_close(sums, expected)
    torch.testing.assert_close(values.grad, expected_gradient.gather(1, indices))


def gradients(model, select, sparse, device):
    """Outputs, and the gradients of all parameters, of the same model."""
    graph = planted(60)
    torch.manual_seed(0)
    net = models.Model(model, 16, 4, select, k=5, hidden=24, layers=2, dropout=0, sparse=sparse).to(device)
    adjacency = models.Adjacency(torch.from_numpy(graph.edges), 60, models.LAYERS[model].weighting, device)
    outputs = net(torch.from_numpy(graph.features).to(device), adjacency)
    torch.nn.functional.cross_entropy(outputs, torch.from_numpy(graph.labels).to(device)).backward()
    return [outputs.detach(), *(parameter.grad for parameter in net.parameters())]


@pytest.mark.parametrize("select, sparse", [("torch", True), ("exact", False), ("exact", True)])
@pytest.mark.parametrize("model", ["sage", "gcn", "gin"])
def test_gradients_agree(device, model, select, sparse):
    needs_library(select)
    torch.testing.assert_close(gradients(model, select, sparse, device), gradients(model, "torch", False, device),
                               rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("select", ["iterations=2", "iterations=8"])
def test_early_stop_ways_agree(device, select):
    """Both modules must stop at the same elements."""
    needs_library(select)
    torch.testing.assert_close(gradients("sage", select, True, device), gradients("sage", select, False, device),
                               rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("select, words", [("iterations=0", "expected"), ("best", "expected"), ("relu", "sparse")])
def test_refuses(select, words):
    with pytest.raises(ValueError, match=words):
        models.selection(select, 4, sparse=True)


def test_micro_f1():
    labels = numpy.array([[1, 1, 0], [0, 1, 0]], bool)
    features, edges, split = numpy.zeros((2, 2)), numpy.zeros((2, 0), int), numpy.full(2, graphs.TEST)
    graph = graphs.Graph(features, labels, edges, split)
    outputs = torch.tensor([[1.0, -1, 1], [-1, 2, -3]])  # 2 of 3 hits are right, 2 of 3 labels are found
    assert train.Data(graph, "cpu").score(outputs, graphs.TEST) == pytest.approx(2 / 3)
