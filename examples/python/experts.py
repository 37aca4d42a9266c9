# SPDX-License-Identifier: Apache-2.0
"""A mixture-of-experts layer: libtopk.route() sends each token to its k best experts."""

import torch
from torch import nn

import libtopk


class Experts(nn.Module):
    """Maps tokens (count, width) to the same shape, each by k of `experts` small networks."""

    def __init__(self, width, experts, k):
        super().__init__()
        self.k = k
        self.router = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(experts)
        )

    def route(self, tokens):
        """The experts of each token and their weights, both (count, k), best first."""
        logits = self.router(tokens)
        experts, weights = libtopk.route(logits.detach(), self.k)
        if torch.is_grad_enabled():
            # The same weights, but with a gradient for the router.
            weights = logits.gather(-1, experts).softmax(-1, dtype=torch.float32)
        return experts, weights

    def forward(self, tokens):
        chosen, weights = self.route(tokens)
        result = torch.zeros_like(tokens, dtype=torch.promote_types(tokens.dtype, torch.float32))  # sums of k
        for number, expert in enumerate(self.experts):
            token, slot = (chosen == number).nonzero(as_tuple=True)
            result.index_add_(0, token, (weights[token, slot, None] * expert(tokens[token])).to(result.dtype))
        return result.to(tokens.dtype)


def train(steps=100, seed=1):
    """Learns to turn each of four clusters of points in its own way. Returns the loss of each step."""
    torch.manual_seed(seed)
    centres, turns = 4 * torch.randn(4, 1, 8), torch.linalg.qr(torch.randn(4, 8, 8)).Q
    noise = torch.randn(4, 128, 8)
    tokens, targets = (centres + noise).flatten(0, 1), (noise @ turns).flatten(0, 1)
    layer = Experts(width=8, experts=8, k=2)
    optimizer = torch.optim.Adam(layer.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        loss = nn.functional.mse_loss(layer(tokens), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    losses = train()
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} after {len(losses)} steps")
