# SPDX-License-Identifier: Apache-2.0
"""The most significant of many tests: the smallest p-values with the tests' names, and those that survive a correction.

A p-value of NaN is a test that failed; it takes no part. Tests with equal p-values come by their place in the table.
"""
import numpy as np

import libtopk


def most_significant(p_values, k):
    """(p-values, places) of the k smallest, ascending: fewer if fewer tests have one."""
    found = libtopk.select_where(p_values, k, largest=False, between=(0.0, 1.0))
    count = min(k, int(libtopk.count(p_values, between=(0.0, 1.0))))
    return found.values[:count], found.indices[:count]


def discoveries(p_values, rate):
    """Places of the tests that Benjamini and Hochberg's procedure keeps at a false discovery rate, best first.

    The i-th smallest of m p-values, counted from 1, may be up to rate * i / m. The last one that is ends the list. No p-value
    above the rate can be in it, so only the others are sorted.
    """
    m = int(libtopk.count(p_values, between=(0.0, 1.0)))
    values, places = most_significant(p_values, int(libtopk.count(p_values, between=(0.0, rate))))
    fit = np.flatnonzero(values <= rate * np.arange(1, len(values) + 1) / m)
    return places[:fit[-1] + 1] if len(fit) else places[:0]


def main():
    random = np.random.default_rng(1)
    p_values = random.random(10**6)
    p_values[random.integers(0, 10**6, 200)] *= 1e-9  # some that mean something
    p_values[::1000] = np.nan
    for p, place in zip(*most_significant(p_values, 5)):
        print(f"test {place}: p = {p:.2e}")
    print(len(discoveries(p_values, 0.05)), "tests at a false discovery rate of 0.05")


if __name__ == "__main__":
    main()
