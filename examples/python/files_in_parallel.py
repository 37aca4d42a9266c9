# SPDX-License-Identifier: Apache-2.0
"""The largest numbers of many .npy files and where they stand, by all cores or by a cluster, with dask.

usage: files_in_parallel.py [FILE.npy ...] [-k K]      without files: some that are made and removed
"""
import argparse
import os
import tempfile

import dask
import dask.array as da
import numpy as np

import libtopk.dask


def read(path, begin, end):
    return np.load(path, mmap_mode="r")[begin:end]  # opened where it is used, which may be another machine


def array_of_file(path, chunk_elements):
    numbers = np.load(path, mmap_mode="r")
    if numbers.ndim != 1:
        raise ValueError(f"{path} has {numbers.ndim} dimensions")
    ends = [*range(chunk_elements, numbers.size, chunk_elements), numbers.size]
    parts = [da.from_delayed(dask.delayed(read)(path, begin, end), (end - begin,), meta=numbers[:0])
             for begin, end in zip([0, *ends], ends)]
    return da.concatenate(parts)


def largest_of_files(paths, k, chunk_elements=2**22):
    """(values, (path, position) of each): the k largest elements, equal ones by the order of files and by position."""
    arrays = [array_of_file(path, chunk_elements) for path in paths]
    values, indices = dask.compute(*libtopk.dask.topk(da.concatenate(arrays), k))
    values, indices = values[indices >= 0], indices[indices >= 0]
    begins = np.cumsum([0, *(array.size for array in arrays)])
    files = np.searchsorted(begins, indices, side="right") - 1
    return values, [(paths[file], int(index - begins[file])) for file, index in zip(files, indices)]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("-k", type=int, default=10)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if not options.files:
            options.files = [os.path.join(folder, f"{number}.npy") for number in range(4)]
            for number, path in enumerate(options.files):
                np.save(path, np.random.default_rng(number).standard_normal(10**6, np.float32))
        values, places = largest_of_files(options.files, options.k)
    for value, (path, position) in zip(values, places):
        print(path, position, value)


if __name__ == "__main__":
    main()
