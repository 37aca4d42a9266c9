# SPDX-License-Identifier: Apache-2.0
"""The likeliest tokens of a language model whose vocabulary is dealt out to ranks.

Each rank holds the rows of the output matrix that belong to its own tokens, as tensor parallelism has them, and so the
logits of these alone. Ranks send k logits each where a gather would send the whole vocabulary. Logits that tie go by
token, so the result is the same for any number of ranks.

    torchrun --nproc-per-node 2 sharded_vocabulary.py
"""
import torch
import torch.distributed

import libtopk.torch.distributed


def likeliest(hidden, weight, k, group=None):
    """The k likeliest tokens of the whole vocabulary, on every rank.

    hidden  (batch, width), the same on all ranks
    weight  (tokens of this rank, width): behind the tokens of the ranks with lower numbers

    Returns (their probabilities among each other (batch, k), best first; the tokens).
    """
    logits, tokens = libtopk.torch.distributed.topk(hidden @ weight.T, k, group=group)
    return logits.softmax(-1), tokens


def main(group=None):
    ranks, rank = torch.distributed.get_world_size(group), torch.distributed.get_rank(group)
    random = torch.Generator().manual_seed(1)  # every rank makes the whole matrix, and keeps its part
    hidden, weight = torch.randn(3, 64, generator=random), torch.randn(32_003, 64, generator=random)
    probabilities, tokens = likeliest(hidden, weight.tensor_split(ranks)[rank], 5, group)
    drawn = torch.multinomial(probabilities, 1, generator=random)  # alike on all ranks, as the generators are
    if rank == 0:
        print("likeliest tokens of each row:", tokens, "drawn:", tokens.gather(1, drawn).flatten(), sep="\n")


if __name__ == "__main__":
    torch.distributed.init_process_group("gloo")
    main()
    torch.distributed.destroy_process_group()
