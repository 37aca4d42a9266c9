# SPDX-License-Identifier: Apache-2.0
"""The examples run, and do what they say."""

import importlib.util
import pathlib
import runpy

import pytest

torch = pytest.importorskip("torch", minversion="2.6")
pytest.importorskip("libtopk")

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples" / "python"
NAMES = ("sampling", "gradients", "experts")


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_runs_and_is_short(name, capsys):
    path = EXAMPLES / f"{name}.py"
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    assert len(path.read_text().splitlines()) < 60


@pytest.mark.parametrize("p", (0.0, 0.3001, 0.9001, 1.0))
@pytest.mark.parametrize("k", (1, 4, 300))
def test_top_p_is_that_of_a_full_sort(p, k):
    logits = torch.randn(5, 200, dtype=torch.float64) * torch.tensor([[0.0], [1], [3], [10], [2]])
    probabilities, tokens = load("sampling").top_p(logits, p, k)
    order = torch.sort(logits, dim=-1, descending=True, stable=True)
    all_of_them = order.values.softmax(-1)
    needed = all_of_them.cumsum(-1) - all_of_them < p
    needed[:, 0] = True
    width = tokens.shape[-1]
    if p < 1:  # for 1, rounding decides about the last tokens
        assert not needed[:, width:].any()
        assert torch.equal(probabilities > 0, needed[:, :width])
    assert torch.equal(tokens, order.indices[:, :width])
    expected = (all_of_them * needed)[:, :width]
    torch.testing.assert_close(probabilities, expected / expected.sum(-1, keepdim=True))


DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)


@dtypes
@pytest.mark.parametrize("p", (0.1, 0.5, 0.9, 0.999))
def test_top_p_of_each_type_sums_what_the_logits_say(dtype, p, capsys):
    logits = torch.randn(3, 20000) * torch.tensor([[0.3], [1], [4]])
    logits[0, :7] = 5  # a few great ones, beside which the others are small
    logits = logits.to(dtype)
    probabilities, _ = load("sampling").top_p(logits, p)
    exact = logits.double().softmax(-1).sort(descending=True).values
    assert (probabilities > 0).sum(-1).tolist() == ((exact.cumsum(-1) < p).sum(-1) + 1).tolist()
    assert probabilities.dtype == torch.promote_types(dtype, torch.float32)
    torch.testing.assert_close(probabilities.double().sum(-1), torch.ones(3, dtype=torch.float64), rtol=0, atol=1e-4)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64), ids=str)
@pytest.mark.parametrize("weights, p, needed", (
    ((0.3, 0.1, 0.1, 0.5), 0.8, 2), ((0.4, 0.4, 0.2), 0.8, 2), ((0.2,) * 5, 0.6, 3), ((0.25,) * 4, 0.5, 2),
    ((0.25,) * 4, 0.0, 1), ((0.25,) * 4, 1.0, 4)))
def test_top_p_stops_where_a_sum_is_p(weights, p, needed, dtype):
    probabilities, _ = load("sampling").top_p(torch.tensor([weights], dtype=dtype).log(), p)
    assert (probabilities > 0).sum() == needed


@dtypes
def test_samples_of_each_type_have_their_probabilities(dtype):
    sampling = load("sampling")
    logits = (torch.arange(8.0) / 3).repeat(4000, 1).to(dtype)
    probabilities, tokens = sampling.top_k(logits, 5)
    torch.testing.assert_close(probabilities.double().sum(-1), torch.ones(4000, dtype=torch.float64))
    shares = sampling.sample(probabilities, tokens).bincount(minlength=8) / 4000
    wanted = torch.cat([torch.zeros(3, dtype=torch.float64), logits[0, 3:].double().softmax(-1)])
    assert (shares - wanted).abs().max() < 0.05


def test_samples_are_among_the_chosen():
    sampling = load("sampling")
    logits = torch.randn(3, 100)
    for probabilities, tokens in (sampling.top_k(logits, 5), sampling.top_p(logits, 0.5)):
        chosen = sampling.sample(probabilities, tokens)
        assert chosen.shape == (3,)
        assert (probabilities[tokens == chosen[:, None]] > 0).all()


def test_sparse_gradients_converge():
    losses = load("gradients").train()
    assert losses[-1] < 1e-5 * losses[0]


def test_nothing_of_a_gradient_is_lost():
    gradients = load("gradients")
    weight, bias = torch.zeros(3, 4, requires_grad=True), torch.zeros(5, requires_grad=True)
    sparsifier = gradients.Sparsifier([weight, bias], 6)
    weight.grad, bias.grad = torch.randn(3, 4), torch.randn(5)
    everything = torch.cat([weight.grad.flatten(), bias.grad])
    values, indices = sparsifier.choose()
    assert torch.equal(sparsifier.residual.index_add(0, indices, values), everything)
    assert values.abs().min() >= sparsifier.residual.abs().max()


@dtypes
def test_small_gradients_of_each_type_are_not_lost(dtype):
    weight = torch.zeros(10, dtype=dtype, requires_grad=True)
    sparsifier = load("gradients").Sparsifier([weight], 1)
    small = torch.tensor(0.001, dtype=dtype)
    for _ in range(1000):
        weight.grad = torch.full((10,), small.item(), dtype=dtype)
        weight.grad[0] = 100
        values, indices = sparsifier.choose()
        assert indices.tolist() == [0] and values.tolist() == [100]
    wanted = torch.full((9,), 1000 * small.item(), dtype=torch.float64)
    torch.testing.assert_close(sparsifier.residual[1:].double(), wanted, rtol=1e-3, atol=0)


@dtypes
def test_experts_of_each_type(dtype):
    layer = load("experts").Experts(width=6, experts=5, k=2).to(dtype)
    tokens = torch.randn(50, 6).to(dtype)
    with torch.no_grad():
        result, (chosen, weights) = layer(tokens), layer.route(tokens)
    trained = layer(tokens)
    assert result.dtype == trained.dtype == dtype and weights.dtype == torch.float32
    logits = layer.router(tokens).double()
    assert torch.equal(chosen, logits.sort(descending=True, stable=True).indices[:, :2])
    exact = logits.gather(-1, chosen).softmax(-1)
    torch.testing.assert_close(weights.double(), exact, rtol=0, atol=1e-6)
    parts = torch.stack([expert(tokens).double() for expert in layer.experts], 1)
    wanted = (parts.gather(1, chosen[..., None].expand(-1, -1, 6)) * exact[..., None]).sum(1)
    one_rounding = {"rtol": torch.finfo(dtype).eps, "atol": 1e-6}
    torch.testing.assert_close(result.double(), wanted, **one_rounding)
    torch.testing.assert_close(trained.detach(), result, **one_rounding)


def test_experts_learn():
    losses = load("experts").train()
    assert losses[-1] < 0.3 * losses[0]


def test_routing_is_the_same_with_and_without_gradients():
    layer = load("experts").Experts(width=6, experts=5, k=2)
    tokens = torch.randn(10, 6)
    with torch.no_grad():
        experts, weights = layer.route(tokens)
        result = layer(tokens)
    trained_experts, trained_weights = layer.route(tokens)
    assert torch.equal(experts, trained_experts) and trained_weights.requires_grad
    torch.testing.assert_close(weights, trained_weights.detach())
    by_hand = sum(
        (weights * (experts == number)).sum(-1, keepdim=True) * expert(tokens)
        for number, expert in enumerate(layer.experts)
    )
    torch.testing.assert_close(result, by_hand.detach())
