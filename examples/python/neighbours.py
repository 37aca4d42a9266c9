# SPDX-License-Identifier: Apache-2.0
"""The nearest neighbours of some vectors among many, in numpy: distances by one matrix product, then the k smallest.

usage: neighbours.py [VECTORS.npy QUERIES.npy [K]]      without files: random ones
"""
import sys

import numpy as np

import libtopk


def neighbours(vectors, queries, k, block_bytes=2**26):
    """(distances, indices), each (queries, k), of float32 vectors: Euclidean, nearest first, equal ones by index."""
    lengths = np.einsum("ij,ij->i", vectors, vectors)
    distances, indices = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
    rows = max(1, block_bytes // (4 * len(vectors)))  # of the matrix of distances, as many as stay in the cache
    for begin in range(0, len(queries), rows):
        block = slice(begin, begin + rows)
        # |v - q|^2 without |q|^2, which is the same along a row
        squares = lengths - 2 * (queries[block] @ vectors.T)
        libtopk.topk(squares, k, largest=False, out=(distances[block], indices[block]))
    distances += np.einsum("ij,ij->i", queries, queries)[:, None]
    return np.sqrt(np.maximum(distances, 0)), indices


def main(arguments):
    k = int(arguments[2]) if len(arguments) > 2 else 5
    if len(arguments) >= 2:
        vectors, queries = (np.load(path).astype(np.float32, copy=False) for path in arguments[:2])
    else:
        random = np.random.default_rng(1)
        vectors, queries = (random.standard_normal((count, 64), np.float32) for count in (20000, 100))
    distances, indices = neighbours(vectors, queries, k)

    # The first query the long way round.
    exact = np.linalg.norm(vectors.astype(np.float64) - queries[0], axis=1)
    assert np.allclose(distances[0], np.sort(exact)[:k], rtol=1e-3, atol=1e-3)
    for query in range(min(3, len(queries))):
        print(f"query {query}:", " ".join(f"{i} ({d:.3f})" for i, d in zip(indices[query], distances[query])))


if __name__ == "__main__":
    main(sys.argv[1:])
