# SPDX-License-Identifier: Apache-2.0
"""The 20 largest numbers of a file that is larger than memory, by an accumulator over a mapped array.

usage: large_file.py [FILE.npy [K]]      without a file: one of 80 MB is made and removed
"""
import os
import sys
import tempfile

import numpy as np

import libtopk


def largest_of_file(path, k=20, chunk_elements=2**24):
    """(values, positions) of the k largest elements of an array in a .npy file, in C order; equal ones by position."""
    numbers = np.load(path, mmap_mode="r")
    if not numbers.flags.c_contiguous or not numbers.size:
        raise ValueError(f"{path} has no elements, or has them in Fortran order")
    numbers = numbers.reshape(-1)
    best = libtopk.Accumulator(k, chunk_max=chunk_elements)
    for begin in range(0, numbers.size, chunk_elements):
        best.push(numbers[begin:begin + chunk_elements])  # read from the mapping, without a copy
        print(f"\r{100 * min(begin + chunk_elements, numbers.size) // numbers.size:3} %", end="", file=sys.stderr)
    print(file=sys.stderr)
    return best.finish()


def main(arguments):
    k = int(arguments[1]) if len(arguments) > 1 else 20
    if arguments:
        values, positions = largest_of_file(arguments[0], k)
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
