#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/workload.py counts what the definition of drtopk gives, element by element, in rows full of ties; and what
block-max WAND evaluates.

usage: workload.py SOURCE_DIR LIBRARY
"""
import pathlib
import subprocess
import sys

import numpy

sys.dont_write_bytecode = True


def concatenated(elements, size, beta, k, filters):
    """The positions of the concatenated vector. Better elements come first, then lower positions."""
    def rank(position):
        return -int(elements[position]), position
    subranges = [sorted(range(first, first + size), key=rank)[:beta] for first in range(0, len(elements), size)]
    delegates = sorted((position for each in subranges for position in each), key=rank)
    taken, worst = set(delegates[:k]), elements[delegates[min(k, len(delegates)) - 1]]
    found = set(taken)
    for number, each in enumerate(subranges):
        if taken.issuperset(each):
            found.update(position for position in range(number * size, (number + 1) * size)
                         if not filters or k >= len(delegates) or elements[position] >= worst)
    if k <= len(elements):
        best = sorted(range(len(elements)), key=rank)[:k]
        assert sorted(elements[sorted(found, key=rank)[:k]]) == sorted(elements[best]), "the best are not all there"
    return found


def evaluated(elements, size, k):
    best, count = [], 0
    for first in range(0, len(elements), size):
        block = elements[first:first + size]
        for element in block:
            if len(best) == k and block.max() <= best[0]:
                break
            count += 1
            best = sorted([*best, element])[-k:]
    return count


def check_model(workload, library):
    random = numpy.random.default_rng(1)
    for values in (4, 50, 1 << 32):
        elements = random.integers(0, values, 512, numpy.uint32)
        for beta in (1, 2, 3, 4):
            for exponent in (4, 5, 7):
                delegates = workload.delegates_of(elements, exponent, beta)
                if exponent > 4:
                    smaller = workload.delegates_of(elements, 4, beta)
                    for a, b in zip(delegates, workload.halve(smaller, exponent - 4)):
                        assert (a == b).all()
                for k in (1, 2, 5, 16, beta * (512 >> exponent) - 1, beta * (512 >> exponent)):
                    for filters in (0, 1):
                        if k < 1:
                            continue
                        found = workload.concatenated_of(elements, exponent, delegates, k, filters)
                        right = len(concatenated(elements, 1 << exponent, beta, k, filters))
                        assert found == right, (values, beta, exponent, k, filters, found, right)
        for k in (1, 7, 100):
            maxima = workload.delegates_of(elements, 4, 1)[0]
            assert workload.block_max(library, elements, 4, maxima, k) == evaluated(elements, 16, k), (values, k)


def main():
    script = pathlib.Path(sys.argv[1]) / "bench/workload.py"
    sys.path.insert(0, str(script.parent))
    import workload
    check_model(workload, workload.load(sys.argv[2]))
    assert workload.fitting(15, 2**20, 2**16, 2) == 4 and workload.fitting(15, 2**20, 2**17, 2) is None
    assert workload.fitting(6, 2**30, 1, 2) == 6
    written = subprocess.run([sys.executable, "-B", script, sys.argv[2], "--n", "2^16,2^18", "--k", "1,2^8", "--beta",
                              "1,2", "--filter", "0,1", "--dist", "cd", "--block-max"], check=True,
                             capture_output=True, text=True)
    assert len(written.stdout.splitlines()) == 1 + 2 * 2 * 2 * 2, written.stdout
    assert subprocess.run([sys.executable, "-B", script, sys.argv[2], "--dist", "distances", "--n", "2^16"],
                          capture_output=True).returncode != 0


main()
