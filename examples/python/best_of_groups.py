# SPDX-License-Identifier: Apache-2.0
"""The n best rows of each group of a table, where some values are null: SQL's top n per group.

Groups come in any order. A stable sort of the group numbers brings each group together, and a group is then a row of its
own length; one call selects from all of them.
"""
import numpy as np

import libtopk


def best_of_groups(groups, values, valid, n):
    """(values, places), each (number of groups, n): group g's n largest values that are valid, best first, equal ones in the
    order of the table. Places are rows of the table; where a group has fewer, they are -1.

    groups   integers from 0 on, one for each row of the table
    valid    False where the value is null
    """
    order = np.argsort(groups, kind="stable")
    offsets = np.concatenate(([0], np.cumsum(np.bincount(groups))))
    best = libtopk.select_where(values[order], n, offsets=offsets, mask=valid[order])
    places = np.take(order, offsets[:-1, None] + np.maximum(best.indices, 0), mode="clip")
    return best.values, np.where(best.indices < 0, -1, places)


def main():
    random = np.random.default_rng(1)
    shops, sales = random.integers(0, 100, 10**6), random.exponential(50, 10**6).round(2)
    valid = random.random(10**6) > 0.1
    values, places = best_of_groups(shops, sales, valid, 3)
    for shop in range(3):
        print(f"shop {shop}:", ", ".join(f"{value} (row {place})" for value, place in zip(values[shop], places[shop])))


if __name__ == "__main__":
    main()
