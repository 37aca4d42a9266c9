# SPDX-License-Identifier: Apache-2.0
"""The nearest neighbours of some vectors among those on an allow-list: vector search with a filter.

A short list is gathered, so that distances are computed for its members alone. Of a long one all distances are computed,
and each query selects among the bits of one mask, which its rows share.
"""
import numpy as np

import libtopk

SHORT = 0.3  # of the vectors: gathering them costs about as much as the products that it saves


def squares_of(vectors, queries):
    """Squares of distances (queries, vectors), without the squares of the queries, which are the same along a row."""
    return np.einsum("ij,ij->i", vectors, vectors) - 2 * (queries @ vectors.T)


def neighbours(vectors, queries, allowed, k):
    """Positions (queries, k) of the nearest vectors that are allowed, nearest first, equal ones by position; -1 where fewer
    are.

    allowed   a boolean for each vector
    """
    if np.count_nonzero(allowed) < SHORT * len(allowed):
        positions = np.flatnonzero(allowed)
        found = libtopk.argtopk(squares_of(vectors[positions], queries), k, largest=False)
        return np.where(found < 0, -1, np.take(positions, found, mode="clip") if len(positions) else -1)
    squares = squares_of(vectors, queries)
    return libtopk.select_where(squares, k, largest=False, mask=np.broadcast_to(allowed, squares.shape)).indices


def main():
    random = np.random.default_rng(1)
    vectors, queries = (random.standard_normal((count, 64), np.float32) for count in (20000, 100))
    for share in (0.01, 0.9):
        allowed = random.random(len(vectors)) < share
        print(f"{share:.0%} allowed:", neighbours(vectors, queries, allowed, 5)[0])


if __name__ == "__main__":
    main()
