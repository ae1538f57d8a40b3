"""Tries example_petsc on several numbers of ranks: histories and solutions of its solvers, and every reduction that the
adapter takes over, beside rational numbers."""

import os
import unittest
from fractions import Fraction

from support import bits_of
from support.adapters import METHODS, RANKS, SIZE, Adapter, Cases, dot, root

ADAPTER = Adapter("example_petsc")


def setUpModule():
    ADAPTER.require("libpetsc-real-dev")


def times_of(record):
    return {key: value for key, value in record.items() if key.endswith("seconds")}


class Petsc(Cases, unittest.TestCase):
    ADAPTER = ADAPTER

    def test_reductions_are_correctly_rounded(self):
        y, x = self.vectors("exact")
        z = [0.3 * a + 0.7 * (b + -0.1 * a) for a, b in zip(x, y)]
        lost = [((c + 0.2 * a) - c) + -0.2 * a for a, c in zip(x, z)]
        square = lambda v: sum(Fraction(a) ** 2 for a in v)
        expected = {
            "dot": dot(x, y), "tdot": dot(x, z), "mdot_0": dot(x, x), "mdot_1": dot(x, y), "mdot_2": dot(x, z),
            "dot_of_two": dot(x, z), "square": float(square(z)), "norm1": float(sum(abs(Fraction(a)) for a in z)),
            "norm1_of_two": float(sum(abs(Fraction(a)) for a in x)), "norm2": root(square(x)),
            "norminf": max(abs(a) for a in z), "sum": float(sum(Fraction(a) for a in z)), "begun_dot": dot(x, y), "anew": dot(x, y),
            "lost": float(sum(abs(Fraction(a)) for a in lost)),
            "begun_norm": root(square(z)),
        }  # fmt: skip
        for ranks in (1, 3):
            found = self.dots_of(ranks)["exact"]["reductions"]
            self.assertEqual(found, {name: bits_of(value) for name, value in expected.items()}, f"{ranks} ranks")

    def test_control_every_plain_reduction_changes_with_ranks(self):
        """But the greatest value, and what begins changes as what doesn't."""
        found = [self.dots_of(ranks)["plain"]["reductions"] for ranks in RANKS]
        for name in found[0]:
            distinct = len({reductions[name] for reductions in found})
            if name != "norminf":
                self.assertGreater(distinct, 1, name)

    def test_no_vector_is_updated_by_blas(self):
        """With a BLAS whose bits depend on where a vector ends, nothing changes, while PETSc's own vectors do."""
        blas = {"LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')} {os.environ['STEADFOLD_UNEVEN_AXPY']}".strip()}
        dots = ADAPTER.record_in(blas, 3, *SIZE)["dots"]
        for method in METHODS:
            self.assertEqual(dots[method], {**self.dots_of(3)[method], **times_of(dots[method])}, method)
        self.assertNotEqual(dots["plain"]["history"], self.dots_of(3)["plain"]["history"])

    def test_other_solvers(self):
        """Pipelined conjugate gradients, whose dot products begin and end apart, and BiCGStab, which takes two at once."""
        for solver in ("pipecg", "bcgs"):
            one, three = (ADAPTER.record_in({"PETSC_OPTIONS": f"-ksp_type {solver}"}, ranks, *SIZE)["dots"]
                          for ranks in (1, 3))  # fmt: skip
            for method in METHODS:
                self.assertEqual(one[method]["history"], three[method]["history"], f"{solver}, {method}")
                self.assertNotEqual(one[method]["history"], self.dots_of(1)[method]["history"], solver)
            self.assertNotEqual(one["plain"]["history"], three["plain"]["history"], solver)


if __name__ == "__main__":
    unittest.main()
