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
def test_top_p_is_that_of_a_full_sort(p, k, capsys):
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
    assert (f"{k} tokens do not reach {p}" in capsys.readouterr().out) == (p > 0 and k < 200)


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
