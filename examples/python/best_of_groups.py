# SPDX-License-Identifier: Apache-2.0
"""The n best rows of each group of a table, where some values are null: SQL's top n per group.

Rows come in any order. Those without a value get a group number of -1, which leaves them out.
"""
import numpy as np

import libtopk


def best_of_groups(groups, values, valid, n):
    """(values, places), each (number of groups, n): group g's n largest values that are valid, best first, equal ones in the
    order of the table. Places are rows of the table; where a group has fewer, they are -1.

    groups   integers from 0 on, one for each row of the table
    valid    False where the value is null
    """
    best = libtopk.topk_by(values, np.where(valid, groups, -1), n, group_count=int(groups.max()) + 1)
    return best.values, best.indices


def main():
    random = np.random.default_rng(1)
    shops, sales = random.integers(0, 100, 10**6), random.exponential(50, 10**6).round(2)
    valid = random.random(10**6) > 0.1
    values, places = best_of_groups(shops, sales, valid, 3)
    for shop in range(3):
        print(f"shop {shop}:", ", ".join(f"{value} (row {place})" for value, place in zip(values[shop], places[shop])))


if __name__ == "__main__":
    main()
