# SPDX-License-Identifier: Apache-2.0
"""The k cheapest of the rows that two other columns let through: WHERE stars >= 4 AND stock > 0 ORDER BY price LIMIT k.

A comparison of each column makes a bit mask of 1 / 8 byte for an element. Masks are joined by &, and one call selects
among the rows whose bit is set.
"""
import numpy as np

import libtopk


def cheapest(price, stars, stock, k, least_stars=4.0):
    """Rows of the k lowest prices that are rated well and in stock, cheapest first; -1 where there are fewer."""
    wanted = libtopk.mask(stars, ge=least_stars) & libtopk.mask(stock, gt=0)
    return libtopk.select_where(price, k, largest=False, bits=wanted).indices


def main():
    random = np.random.default_rng(1)
    price = random.integers(100, 10**5, 10**6)
    stars, stock = random.uniform(1, 5, 10**6).astype(np.float32), random.integers(0, 3, 10**6)
    for row in cheapest(price, stars, stock, 5):
        print(f"row {row}: {price[row] / 100:.2f}, {stars[row]:.1f} stars, {stock[row]} in stock")


if __name__ == "__main__":
    main()
