# SPDX-License-Identifier: Apache-2.0
"""Samples tokens from a batch of logits by top-k and top-p, without sorting the vocabulary.

Top-p keeps the fewest best tokens whose probabilities sum to p. Those are nearly always a few, so the k best are
enough: their probabilities are exact, because logsumexp sums over the whole row. Where k tokens do not reach p, k
doubles. Sorting the whole row would keep the same tokens.
"""

import torch

from libtopk.torch import topk


def top_k(logits, k):
    """Probabilities of the k best tokens of each row, best first, and the tokens."""
    values, tokens = topk(logits, k)
    return values.softmax(-1), tokens


def top_p(logits, p, k=64):
    """Of each row the probabilities of the fewest tokens that reach p together, best first, and the tokens.

    Rows that need fewer tokens than others end in probabilities of 0.
    """
    size = logits.shape[-1]
    total = logits.logsumexp(-1, keepdim=True)
    while True:
        k = min(k, size)
        values, tokens = topk(logits, k)
        probabilities = (values - total).exp()
        reached = probabilities.cumsum(-1)
        # The question waits for the device.
        if k == size or (reached[:, -1] >= p).all():
            break
        print(f"{k} tokens do not reach {p} in every row: trying {min(2 * k, size)}")
        k *= 2
    # A token is needed if those before it do not reach p. Rounding apart, the best one always is.
    needed = (reached - probabilities < p).index_fill(-1, torch.tensor(0, device=logits.device), True)
    probabilities = probabilities * needed
    return probabilities / probabilities.sum(-1, keepdim=True), tokens


def sample(probabilities, tokens):
    return tokens.gather(-1, probabilities.multinomial(1)).squeeze(-1)


if __name__ == "__main__":
    torch.manual_seed(1)
    logits = torch.randn(4, 50_000) * 3
    print("top-k:", sample(*top_k(logits, 50)).tolist())
    probabilities, tokens = top_p(logits, 0.5)
    print("top-p:", sample(probabilities, tokens).tolist(), "of", (probabilities > 0).sum(-1).tolist(), "tokens")
