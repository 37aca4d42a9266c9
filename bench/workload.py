#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many elements the two top-k of drtopk look at, by a model of the method, for figures 20, 21 and 24 of Dr. Top-k.

  workload.py build/libtopk-bench-workload.so --dist uniform --n 2^30 --k 1,2^10,2^20
  workload.py build/libtopk-bench-workload.so --dist normal-1e8 --n 2^30 --k 2^10 --beta 1,2 --filter 0,1 --block-max

The elements are the uint32 of topk-bench, and the largest are selected. Subranges must divide n. A line
of CSV for each n, k, exponent, beta and filter has the delegates, which are the input of the first top-k; the elements
that are concatenated, the input of the second; and both in percent of n. "rule" is the exponent that the library
chooses on an H100. The first top-k finds all digits (skip=0), and flat subranges give all of their elements.

With --block-max come the elements that block-max WAND evaluates with subranges as its blocks, and how many times the
elements of drtopk they are. Of 2^30 elements the model takes 5 to 6 GiB."""

import argparse
import csv
import ctypes
import sys
from ctypes import c_int64, c_uint64

import exponent as rule
import numpy

CHUNK = 1 << 22


def number(text):
    base, _, power = text.partition("^")
    return int(base) ** int(power or 1)


def merge(a, b):
    """The best of two lists of the best, best first; a list has an array for each rank."""
    count = len(a)
    best = [numpy.maximum(a[i], b[count - 1 - i]) for i in range(count)]
    for end in range(count - 1, 0, -1):
        for i in range(end):
            best[i], best[i + 1] = numpy.maximum(best[i], best[i + 1]), numpy.minimum(best[i], best[i + 1])
    return best


def halve(best, times):
    for _ in range(times):
        best = merge([each[0::2] for each in best], [each[1::2] for each in best])
    return best


def delegates_of(elements, exponent, beta):
    """The delegates of all subranges: an array for each rank, best first. 0 stands for none, and no subrange is so
    short that one of them remains."""
    found = [numpy.empty(len(elements) >> exponent, elements.dtype) for _ in range(beta)]
    for first in range(0, len(elements), CHUNK):
        chunk = elements[first:first + CHUNK]
        nothing = numpy.zeros(len(chunk), elements.dtype)
        for rank, each in enumerate(halve([chunk] + [nothing] * (beta - 1), exponent)):
            found[rank][first >> exponent:(first + len(chunk)) >> exponent] = each
    return found


def fitting(exponent, n, k, beta):
    """The exponent, or less until there are twice k delegates; None: there never are."""
    exponent = min(exponent, rule.highest(n, k, beta))
    return exponent if exponent >= rule.EXPONENTS[0] else None


def taken_of(delegates, k):
    """The key of the k-th delegate, and how many delegates of each subrange are taken. The first ones of those that tie
    are taken."""
    every = numpy.concatenate(delegates)
    if k >= len(every):
        return 0, numpy.full(len(delegates[0]), len(delegates), numpy.int64)
    every.partition(len(every) - k)
    key = every[len(every) - k]
    above = sum((each > key).astype(numpy.int64) for each in delegates)
    tied = sum((each == key).astype(numpy.int64) for each in delegates)
    before = numpy.cumsum(tied) - tied
    return key, above + numpy.clip(k - above.sum() - before, 0, tied)


def concatenated_of(elements, exponent, delegates, k, filters):
    """How many elements the second top-k gets."""
    key, taken = taken_of(delegates, k)
    scanned = numpy.flatnonzero(taken == len(delegates))
    count = int(taken.sum()) - len(scanned) * len(delegates)
    if not filters:
        return count + (len(scanned) << exponent)
    subranges = elements.reshape(-1, 1 << exponent)
    step = max(CHUNK >> exponent, 1)
    return count + sum(int(numpy.count_nonzero(subranges[scanned[i:i + step]] >= key))
                       for i in range(0, len(scanned), step))


def load(path):
    library = ctypes.CDLL(path)
    library.topk_workload_elements.restype = ctypes.c_bool
    library.topk_workload_block_max.restype = c_int64
    return library


def elements_of(library, distribution, seed, n):
    elements = numpy.empty(n, numpy.uint32)
    if not library.topk_workload_elements(distribution.encode(), c_uint64(seed), c_int64(n), c_int64(n),
                                          elements.ctypes.data_as(ctypes.c_void_p)):
        sys.exit(f"workload.py: no uint32 elements are {distribution}")
    return elements


def block_max(library, elements, exponent, maxima, k):
    """How many elements block-max WAND evaluates."""
    maxima = numpy.ascontiguousarray(maxima)
    count = library.topk_workload_block_max(elements.ctypes.data_as(ctypes.c_void_p), c_int64(len(elements)),
                                            c_int64(1 << exponent), maxima.ctypes.data_as(ctypes.c_void_p), c_int64(k))
    if count < 0:
        sys.exit("workload.py: out of memory")
    return count


def wanted(options, n, beta):
    """(exponent, k), by ascending exponents: the delegates of larger subranges are made of those of smaller ones."""
    pairs = {(rule.rule("u32", n, k, beta) if text == "rule" else fitting(int(text), n, k, beta), k)
             for text in options.exponent.split(",") for k in map(number, options.k.split(","))}
    for exponent, k in sorted(pair for pair in pairs if pair[0] is not None):
        if n % (1 << exponent) != 0:
            sys.exit(f"workload.py: {n} is no multiple of 2^{exponent}")
        yield exponent, k


def lines_of(options, library, elements):
    n = len(elements)
    for beta in map(int, options.beta.split(",")):
        delegates, have = None, 0
        for exponent, k in wanted(options, n, beta):
            delegates = (delegates_of(elements, exponent, beta) if delegates is None
                         else halve(delegates, exponent - have))
            have = exponent
            count = len(delegates) * len(delegates[0])
            evaluated = block_max(library, elements, exponent, delegates[0], k) if options.block_max else None
            for filters in map(int, options.filter.split(",")):
                concatenated = concatenated_of(elements, exponent, delegates, k, filters)
                line = dict(type="u32", data=options.dist, rows=1, n=n, k=k, exponent=exponent, beta=beta,
                            filter=filters, delegates=count, concatenated=concatenated,
                            share_percent=f"{100 * (count + concatenated) / n:.5f}")
                if evaluated is not None:
                    line.update(block_max=evaluated, ratio=f"{evaluated / (count + concatenated):.3f}")
                yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="with the elements: libtopk-bench-workload.so")
    parser.add_argument("--dist", default="uniform")
    parser.add_argument("--n", default="2^30")
    parser.add_argument("--k", default="1,2^5,2^10,2^13,2^16,2^20,2^24")
    parser.add_argument("--exponent", default="rule", help="rule, or 4 to 15")
    parser.add_argument("--beta", default="2")
    parser.add_argument("--filter", default="1")
    parser.add_argument("--block-max", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lengths = sorted(map(number, options.n.split(",")))
    library, writer = load(options.library), None
    everything = elements_of(library, options.dist, options.seed, lengths[-1])  # a shorter row begins like a longer one
    for n in lengths:
        for line in sorted(lines_of(options, library, everything[:n]), key=lambda line: line["k"]):
            if writer is None:
                writer = csv.DictWriter(sys.stdout, list(line), lineterminator="\n")
                writer.writeheader()
            writer.writerow(line)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
