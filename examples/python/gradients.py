# SPDX-License-Identifier: Apache-2.0
"""Gradient sparsification: each step uses the k gradient entries of the largest magnitude alone.

What a step leaves out is kept and added to the next gradient (error feedback), so nothing is lost, only delayed.
Between machines, k values and indices would be sent in place of the whole gradient.
"""

import torch

import libtopk


class Sparsifier:
    """Chooses k entries of the gradients of `parameters`, and keeps the rest for later, in float32 or float64."""

    def __init__(self, parameters, k):
        self.parameters = list(parameters)
        self.k = k
        flat = torch.nn.utils.parameters_to_vector(self.parameters).detach()
        # In fewer bits a small gradient that is added to a large residual would vanish.
        self.residual = torch.zeros_like(flat, dtype=torch.promote_types(flat.dtype, torch.float32))

    def choose(self):
        """The values and flat indices of the k largest entries, by magnitude."""
        self.residual += torch.cat([parameter.grad.flatten() for parameter in self.parameters])
        values, indices = libtopk.topk(self.residual, self.k, sorted=False, magnitude=True)
        self.residual[indices] = 0
        return values, indices


def train(steps=600, k=8, rate=0.02, seed=1):
    """Fits a linear model of 256 weights with k of them moved in each step. Returns the loss of each step."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(1024, 256, generator=generator)
    targets = inputs @ torch.randn(256, 1, generator=generator)
    model = torch.nn.Linear(256, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    sparsifier = Sparsifier(model.parameters(), k)
    losses = []
    for _ in range(steps):
        model.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        values, indices = sparsifier.choose()
        with torch.no_grad():
            model.weight.view(-1).index_add_(0, indices, values, alpha=-rate)
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    losses = train()
    for step in (0, 50, 100, 200, 400, 599):
        print(f"step {step:3}: loss {losses[step]:.2e}")
