"""Tries example_hypre on several numbers of ranks: every inner product of its solvers, and their solutions."""

import unittest

from support.adapters import Adapter, Cases, dot, to_bits

ADAPTER = Adapter("example_hypre")


def setUpModule():
    ADAPTER.require("libhypre-dev")


class Hypre(Cases, unittest.TestCase):
    ADAPTER = ADAPTER

    def test_the_inner_product_is_correctly_rounded(self):
        f, u = self.vectors("exact")
        for ranks in (1, 3):
            self.assertEqual(self.dots_of(ranks)["exact"]["reductions"], {"dot": to_bits(dot(f, u))})


if __name__ == "__main__":
    unittest.main()
