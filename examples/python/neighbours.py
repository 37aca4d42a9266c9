# SPDX-License-Identifier: Apache-2.0
"""The nearest neighbours of some vectors among many, in numpy: distances by one matrix product, then the k smallest.

usage: neighbours.py [VECTORS.npy QUERIES.npy [K]]      without files: random ones
"""
import sys

import numpy as np

import libtopk


def neighbours(vectors, queries, k, block_bytes=2**26):
    """(distances, indices), each (queries, k): Euclidean, nearest first, equal ones by index.

    float64 vectors are multiplied and summed in float64, all others in float32.
    """
    dtype = np.dtype(np.float64 if vectors.dtype == np.float64 else np.float32)
    vectors, queries = vectors.astype(dtype, copy=False), queries.astype(dtype, copy=False)
    lengths = np.einsum("ij,ij->i", vectors, vectors)
    distances, indices = np.empty((len(queries), k), dtype), np.empty((len(queries), k), np.int64)
    # Of the matrix of distances, as many rows as stay in the cache
    rows = max(1, block_bytes // (dtype.itemsize * len(vectors)))
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
        vectors, queries = map(np.load, arguments[:2])
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
