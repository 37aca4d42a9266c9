# SPDX-License-Identifier: Apache-2.0
import copy
import csv
import io
import math
import pathlib
import re

import pytest

torch = pytest.importorskip("torch", minversion="2.6")
pytest.importorskip("libtopk")

from libtopk.torch import MaxK, SparseMaxK, maxk  # noqa: E402

ROOT = pathlib.Path(__file__).parents[3]


def reference(x, k):
    return torch.zeros_like(x).scatter(-1, torch.topk(x, k).indices, torch.topk(x, k).values)


@pytest.mark.parametrize("shape", ((7,), (3, 5), (2, 3, 8), (0, 4), (3, 0)), ids=str)
def test_keeps_the_k_largest(device, shape):
    x = torch.randn(shape, device=device)
    for k in range(shape[-1] + 1):
        assert torch.equal(maxk(x, k), reference(x, k))
        assert torch.equal(MaxK(k)(x), reference(x, k))
        values, indices = SparseMaxK(k)(x)
        assert values.shape == indices.shape == (*shape[:-1], k)
        assert torch.equal(torch.zeros_like(x).scatter(-1, indices, values), reference(x, k))


def test_layouts_and_special_values(device):
    x = torch.randn(6, 4, device=device).t()
    assert torch.equal(maxk(x, 2), reference(x, 2))
    x = torch.tensor([[1.0, math.nan, -math.inf, 2], [math.inf, -1, -2, -3]], device=device)
    kept = torch.tensor([[0, math.nan, 0, 2], [math.inf, -1, 0, 0]], device=device)
    torch.testing.assert_close(maxk(x, 2), kept, rtol=0, atol=0, equal_nan=True)
    assert maxk(torch.ones(5, device=device), 2).tolist() == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.uint8), ids=str)
def test_dtypes(device, dtype):
    x = torch.randperm(40).reshape(4, 10).to(device, dtype)
    assert torch.equal(maxk(x, 3), reference(x, 3)) and maxk(x, 3).dtype == dtype


@pytest.mark.parametrize("dtype", (torch.float8_e4m3fn, torch.float8_e5m2), ids=str)
def test_floats_of_8_bits(device, dtype):
    x = torch.randn(4, 300).clamp(-2, 2).to(dtype)
    kept = maxk(x.to(device), 30)
    assert kept.dtype == dtype and torch.equal(kept.cpu().float(), maxk(x.float(), 30))


def test_goes_through_exports():
    x = torch.randn(3, 9)
    for model in (MaxK(2), SparseMaxK(4), MaxK(3, 5), torch.nn.Sequential(torch.nn.Linear(9, 8), MaxK(3))):
        wanted = model(x)
        for export in (torch.fx.symbolic_trace, lambda model: torch.jit.trace(model, x),
                       lambda model: torch.export.export(model, (x,)).module()):
            torch.testing.assert_close(export(model)(x), wanted, rtol=0, atol=0)
        with pytest.raises(NotImplementedError, match="script cannot compile .*MaxK: use torch.export.export"):
            torch.jit.script(model)


def test_a_translation_takes_it_to_onnx():
    pytest.importorskip("onnxscript")
    evaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator
    page = (ROOT / "python" / "README.md").read_text()
    names = {}
    exec(re.search(r"^```python\n([^`]*onnxscript.*?)^```", page, re.MULTILINE | re.DOTALL)[1], names)
    x = torch.randn(64, 256)
    runs = evaluator(names["program"].model_proto)
    (found,) = runs.run(None, {runs.input_names[0]: x.numpy()})
    assert torch.equal(torch.tensor(found), maxk(x, 32))
    with pytest.raises(Exception, match="libtopk.topk"):
        torch.onnx.export(MaxK(2), (x,), dynamo=True)


def test_the_documentation_says_what_steps_cost():
    record = (ROOT / "docs" / "benchmarks" / "h100" / "maxk.csv").read_text().splitlines()
    accuracy = {}
    for line in csv.DictReader(record[record.index("") + 1:]):
        accuracy.setdefault((line["model"], line["select"]), []).append(100 * float(line["test"]))
    mean = {key: sum(of_seeds) / len(of_seeds) for key, of_seeds in accuracy.items()}

    words = " ".join(maxk.__doc__.split())
    exact, two, relu = (mean["sage", select] for select in ("exact", "iterations=2", "relu"))
    assert two < relu and f"from {exact:.1f} % to {two:.1f} %, below the {relu:.1f} % of ReLU" in words
    losses = [mean[model, "exact"] - mean[model, f"iterations={steps}"]
              for model in ("sage", "gin", "gcn") for steps in range(5, 9)]
    assert max(losses) <= 0.3 and "five to eight steps cost none of three networks more than 0.3 points" in words


def test_errors():
    x = torch.randn(3, 5)
    for call in (lambda: maxk(x, 6), lambda: MaxK(6)(x), lambda: SparseMaxK(6)(x), lambda: maxk(x, -1)):
        with pytest.raises(RuntimeError, match="k out of range"):
            call()
    with pytest.raises(ValueError):
        maxk(torch.tensor(1.0), 1)
    with pytest.raises(TypeError):
        maxk(x.to(torch.complex64), 1)
    for call, words in ((lambda: maxk(x.int(), 2, 3), "max_iterations goes with floating-point types, not with int32"),
                        (lambda: maxk(torch.randn(2, 9000), 2, 3), "8192"),
                        (lambda: maxk(x, 2, -1), "max_iterations is -1")):
        with pytest.raises((ValueError, NotImplementedError), match=words) as caught:
            call()
        assert not re.search("->|TOPK_", str(caught.value))
    for wrong in ((-1,), (2, -1)):
        with pytest.raises(ValueError):
            MaxK(*wrong)


def test_gradients(device):
    x = torch.randn(3, 6, dtype=torch.float64, device=device, requires_grad=True)
    for function in (lambda x: maxk(x, 2), lambda x: SparseMaxK(2)(x)[0]):
        torch.autograd.gradcheck(function, (x,), check_forward_ad=True)
        torch.autograd.gradgradcheck(lambda x: function(x).pow(3), (x,))
    upstream = torch.rand_like(x)
    (gradient,) = torch.autograd.grad(maxk(x, 2), x, upstream)
    assert torch.equal(gradient, upstream * (reference(x, 2) != 0))


def test_only_indices_are_kept():
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        maxk(torch.randn(4, 100, requires_grad=True), 2)
    assert all(tensor.shape == (4, 2) and tensor.dtype == torch.int64 for tensor in kept)
    assert len({tensor.data_ptr() for tensor in kept}) == 1


def test_approximate_search(device):
    x = torch.randn(20, 64, device=device, requires_grad=True)
    for steps in (1, 4, 8):
        result = maxk(x, 8, steps)
        kept = result != 0
        assert torch.equal(kept.sum(-1), torch.full((20,), 8, device=device))
        assert torch.equal(result[kept], x[kept])
        # RTop-K, Algorithm 2: what is kept reaches a bound, at most range / 2^steps below the k-th largest.
        spread = (x.amax(-1) - x.amin(-1)) * 2.0**-steps
        least = torch.where(kept, x, math.inf).amin(-1)
        assert (least >= torch.topk(x, 8).values[:, -1] - spread * 1.001).all()
        (gradient,) = torch.autograd.grad(result.sum(), x)
        assert torch.equal(gradient, kept.float())
        assert torch.equal(SparseMaxK(8, steps)(x)[1].sort().values, kept.nonzero()[:, 1].reshape(20, 8))
    assert torch.equal(maxk(x, 8, 60), reference(x, 8))


@pytest.mark.parametrize("dynamic", (False, True))
def test_compile(device, dynamic):
    torch._dynamo.reset()
    layer = torch.nn.Sequential(torch.nn.Linear(6, 8), MaxK(3), torch.nn.Linear(8, 2)).to(device)
    compiled = torch.compile(layer, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for rows in (4, 5):
        x = torch.randn(rows, 6, device=device)
        torch.testing.assert_close(compiled(x), layer(x))
        ours, theirs = (torch.autograd.grad(f(x).sum(), layer[0].weight) for f in (compiled, layer))
        torch.testing.assert_close(ours, theirs)
    values, indices = torch.compile(SparseMaxK(2), fullgraph=True, dynamic=dynamic, backend="aot_eager")(x)
    assert torch.equal(values, torch.topk(x, 2).values) and torch.equal(indices, torch.topk(x, 2).indices)


def test_transforms():
    x = torch.randn(3, 4, 5)
    assert torch.equal(torch.vmap(MaxK(2), in_dims=1, out_dims=1)(x), reference(x, 2))
    gradient = torch.vmap(torch.func.grad(lambda x: maxk(x, 2).sum()))(x)
    assert torch.equal(gradient, (reference(x, 2) != 0).float())


def test_modules_are_copied_saved_and_printed():
    layer = MaxK(3, max_iterations=4)
    assert repr(layer) == "MaxK(k=3, max_iterations=4)"
    assert repr(SparseMaxK(2)) == "SparseMaxK(k=2)"
    assert not layer.state_dict() and not list(layer.parameters())
    layer.load_state_dict({})
    again = copy.deepcopy(layer)
    assert (again.k, again.max_iterations) == (3, 4)
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    assert repr(torch.load(file, weights_only=False)) == repr(layer)
