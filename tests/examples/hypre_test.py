"""Tries example_hypre on several numbers of ranks: every inner product of its solvers, and their solutions."""

import unittest

from support import run
from support import bits_of
from support.adapters import SIZE, Adapter, Cases, dot

ADAPTER = Adapter("example_hypre")


def setUpModule():
    ADAPTER.require("libhypre-dev")


class Hypre(Cases, unittest.TestCase):
    ADAPTER = ADAPTER

    def test_the_inner_product_is_correctly_rounded(self):
        f, u = self.vectors("exact")
        for ranks in (1, 3):
            self.assertEqual(self.dots_of(ranks)["exact"]["reductions"], {"dot": bits_of(dot(f, u))})

    # The command line is that of example_petsc, too.

    def test_compare_prints_a_row_per_job(self):
        for product, status, mark in (("ordered", 0, " "), ("own", 1, r"\*")):
            done = run(ADAPTER.program, "--compare", "--ranks", "1,3", "--product", product, *SIZE[:-1])
            self.assertEqual(done.returncode, status, done.stderr)
            cell = r" +\d+ \w{8}"
            self.assertRegex(done.stdout, rf"(?m)^ +3 \|{cell}\* \|{cell}{mark} \|{cell}{mark}$")

    def test_usage_errors(self):
        for words in (("--points", "3,4"), ("--points", "1024"), ("--solver", "qr"), ("--contrast", "nan"),
                      ("--compare", "--json")):
            with self.subTest(words=words):
                done = run(ADAPTER.program, *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"(?m)^.+ \(.+\), .+$")


if __name__ == "__main__":
    unittest.main()
