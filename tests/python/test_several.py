# SPDX-License-Identifier: Apache-2.0
"""Several k of each row in one call of kth() have the results of as many calls."""
import unittest

import libtopk
import numpy as np

RANDOM = np.random.default_rng(54)


def _single(x, k, dim, **options):
    """As kth() of several k, by a call for each of them."""
    lead = np.delete(np.array(x.shape), dim)
    k = np.broadcast_to(k, (*lead, np.shape(k)[-1]))
    calls = [libtopk.kth(x, k[..., i].copy(), dim=dim, k_max=x.shape[dim] + 9, **options)
             for i in range(k.shape[-1])]
    return [np.stack(results, dim) for results in zip(*calls)]


class Several(unittest.TestCase):
    def check(self, x, k, dim=-1, **options):
        dim %= x.ndim
        for result, wanted in zip(libtopk.kth(x, k, dim=dim, **options), _single(x, k, dim, **options)):
            self.assertEqual(result.shape, wanted.shape)
            self.assertTrue((np.asarray(result) == wanted).all())

    def test_results(self):
        for n in (7, 300, 20000):
            x = RANDOM.integers(0, 1000, n).astype(np.float32)
            self.check(x, [1, n, 0, n + 1, n // 2 + 1, 1])
            self.check(x, [3])
            self.check(x, [2, 5], largest=False, lt=500)
        cube = RANDOM.standard_normal((3, 50, 4))
        self.check(cube, [[[1, 50, 25]]], dim=1)
        self.check(cube, RANDOM.integers(0, 52, (3, 4, 5)), dim=1)
        self.check(np.broadcast_to(cube[0], cube.shape), [[[9, 1]]], dim=1)
        self.check(np.broadcast_to(cube[:, :1], cube.shape), [[[9, 1]]], dim=1)

    def test_out(self):
        x = RANDOM.standard_normal((5, 40))
        out = np.zeros((5, 2)), np.zeros((5, 2), np.int64), np.zeros((5, 2), np.int64)
        libtopk.kth(x, [[4, 9]], out=out)
        self.assertTrue((out[0] == np.sort(x)[:, [-4, -9]]).all())

    def test_refused(self):
        x = RANDOM.standard_normal((5, 40))
        for k in (np.ones((1, 0), int), np.ones((4, 2), int)):
            with self.assertRaisesRegex(ValueError, "ranks"):
                libtopk.kth(x, k)
        with self.assertRaisesRegex(ValueError, "k has 2 elements"):
            libtopk.kth(x, [1, 2])


if __name__ == "__main__":
    unittest.main()
