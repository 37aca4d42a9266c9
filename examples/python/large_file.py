# SPDX-License-Identifier: Apache-2.0
"""The 20 largest numbers of a file that is larger than memory, by an accumulator over a mapped array.

usage: large_file.py [FILE.npy [K]]      without a file: one of 80 MB is made and removed
"""
import os
import sys
import tempfile

import numpy as np

import libtopk


def largest_of_file(path, k=20, chunk_elements=2**24, dtype=None, progress=lambda share: None):
    """(values, positions) of the k largest elements of an array in a .npy file, in C order; equal ones by position.

    dtype      the elements' type where numpy has no name for it: ml_dtypes.bfloat16, which is stored as two bytes
    progress   is called with the share that has been read, after each chunk
    """
    numbers = np.load(path, mmap_mode="r")
    numbers = numbers if dtype is None else numbers.view(dtype)
    if not numbers.flags.c_contiguous or not numbers.size:
        raise ValueError(f"{path} has no elements, or has them in Fortran order")
    numbers = numbers.reshape(-1)
    best = libtopk.Accumulator(k, chunk_max=chunk_elements)
    for begin in range(0, numbers.size, chunk_elements):
        best.push(numbers[begin:begin + chunk_elements])  # read from the mapping, without a copy
        progress(min(1, (begin + chunk_elements) / numbers.size))
    return best.finish()


def print_progress(share):
    print(f"\r{share:4.0%}", end="" if share < 1 else "\n", file=sys.stderr)


def main(arguments):
    k = int(arguments[1]) if len(arguments) > 1 else 20
    if arguments:
        values, positions = largest_of_file(arguments[0], k, progress=print_progress)
    else:
        numbers = np.random.default_rng(1).standard_normal(20_000_000, np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "numbers.npy")
            np.save(path, numbers)
            values, positions = largest_of_file(path, k, chunk_elements=2**22)
        assert np.array_equal(values, np.sort(numbers)[::-1][:k]) and np.array_equal(numbers[positions], values)
    for value, position in zip(values, positions):
        print(position, value)


if __name__ == "__main__":
    main(sys.argv[1:])
