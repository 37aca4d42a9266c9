# SPDX-License-Identifier: Apache-2.0
"""Samples tokens from a batch of logits by top-k and top-p, without sorting the vocabulary.

Top-p keeps the fewest best tokens whose probabilities sum to p. Those are nearly always a few, so the k best are
enough: their probabilities are exact, because logsumexp sums over the whole row. Where k tokens do not reach p, k
doubles. Sorting the whole row would keep the same tokens.
"""

import torch

from libtopk.torch import topk


def wide(dtype):
    """The type of probabilities: in fewer bits than float32 has, small ones vanish beside their sum."""
    return torch.promote_types(dtype, torch.float32)


def top_k(logits, k):
    """Probabilities of the k best tokens of each row, best first, and the tokens."""
    values, tokens = topk(logits, k)
    return values.softmax(-1, dtype=wide(logits.dtype)), tokens


def top_p(logits, p, k=64):
    """Of each row the probabilities of the fewest tokens that reach p together, best first, and the tokens.

    Rows that need fewer tokens than others end in probabilities of 0. k is the number of tokens to try first.
    """
    size = logits.shape[-1]
    total = logits.double().logsumexp(-1, keepdim=True)
    while True:
        k = min(k, size)
        values, tokens = topk(logits, k)
        probabilities = (values.double() - total).exp()
        reached = probabilities.cumsum(-1)
        # The question waits for the device.
        if k == size or (reached[..., -1] >= p).all():
            break
        k *= 2
    # A token is needed if those before it do not reach p, rounding of float64 apart. The best one always is.
    before = torch.nn.functional.pad(reached[..., :-1], (1, 0))
    needed = (before < p - 1e-12).index_fill(-1, torch.tensor(0, device=logits.device), True)
    probabilities = probabilities * needed
    return (probabilities / probabilities.sum(-1, keepdim=True)).to(wide(logits.dtype)), tokens


def sample(probabilities, tokens):
    return tokens.gather(-1, probabilities.multinomial(1)).squeeze(-1)


if __name__ == "__main__":
    torch.manual_seed(1)
    logits = torch.randn(4, 50_000) * 3
    print("top-k:", sample(*top_k(logits, 50)).tolist())
    probabilities, tokens = top_p(logits, 0.5)
    print("top-p:", sample(probabilities, tokens).tolist(), "of", (probabilities > 0).sum(-1).tolist(), "tokens")
