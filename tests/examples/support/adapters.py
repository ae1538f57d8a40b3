"""What the tests of example_petsc and example_hypre share: records of jobs, exact reductions of the program's vectors, and
the cases that both programs must pass."""

import functools
import json
import math
import os
import struct
import unittest
from fractions import Fraction

from support import Example

POINTS = (7, 6, 10)  # no number of ranks divides the rows into whole planes; k changes inside
SIZE = ("--points", "7,6,10", "--contrast", "1000", "--tolerance", "1e-10", "--iterations", "120", "--values")
GMRES = ("--solver", "gmres", "--preconditioner", "none")
RANKS = (1, 2, 3, 4, 5, 8)
FEWER_RANKS = (1, 3, 4, 5)
METHODS = ("exact", "binned")


class Adapter(Example):
    def require(self, package):
        """For setUpModule."""
        super().require()
        if not os.path.exists(self.program):
            print(f"skipped: {self.program} is not there, install {package} and build again")
            raise unittest.SkipTest(f"there is no {self.name}")

    @functools.cache
    def record_of(self, ranks, *options):
        return self.record_in({}, ranks, *SIZE, *options)

    def record_in(self, environment, ranks, *options):
        done = self.run_ranks(ranks, "--json", *options, **environment)
        if done.returncode != 0:
            raise AssertionError(f"{ranks} ranks, {options}: exit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)  # fails unless there is one object and nothing else


def from_bits(text):
    return struct.unpack(">d", bytes.fromhex(text))[0]


def root(square):
    """The root of a rational number, correctly rounded: 200 bits of it, whose last one stands for all that follow."""
    scale = 4 ** max(0, 200 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    digits = square * scale
    whole = math.isqrt(digits.numerator // digits.denominator)
    return float(Fraction(2 * whole + (Fraction(whole * whole) != digits), 2 * math.isqrt(scale)))


def dot(x, y):
    """The quotient of two integers is correctly rounded."""
    return float(sum(Fraction(a) * Fraction(b) for a, b in zip(x, y)))


def right_hand_side():
    """As solver/problem.cpp has it: the field of two charges."""

    def charge(at, parts):
        squared = 1.0
        for i, part, count in zip(at, parts, POINTS):
            distance = (i + 1.0) - part * count
            squared += distance * distance
        return 1 / (squared * squared * squared)

    places = [(x, y, z) for z in range(POINTS[2]) for y in range(POINTS[1]) for x in range(POINTS[0])]
    return [charge(at, (0.3, 0.4, 0.2)) - 0.7 * charge(at, (0.6, 0.5, 0.9)) for at in places]


class Cases:
    """Mixed into a TestCase with an ADAPTER."""

    def dots_of(self, ranks, *options):
        return self.ADAPTER.record_of(ranks, *options)["dots"]

    def expect_same_on_all(self, rank_counts, *options):
        first = self.ADAPTER.record_of(1, *options)
        for ranks in rank_counts:
            with self.subTest(ranks=ranks, options=options):
                record = self.ADAPTER.record_of(ranks, *options)
                self.assertEqual((record["application"], record["ranks"]), (self.ADAPTER.name[8:], ranks))
                for method in METHODS:
                    for key in ("iterations", "history", "solution", "residual_bits", "reductions"):
                        self.assertEqual(record["dots"][method][key], first["dots"][method][key], f"{method}: {key}")
                self.assertEqual(record["fingerprint_steadfold"], first["fingerprint_steadfold"])

    def test_conjugate_gradients_have_the_same_bits_on_all_ranks(self):
        self.expect_same_on_all(RANKS)

    def test_gmres_has_the_same_bits_on_all_ranks(self):
        self.expect_same_on_all(FEWER_RANKS, *GMRES)

    def test_control_plain_dot_products_change_with_ranks(self):
        """The matrix product is the ordered one here, too, so nothing else differs."""
        for rank_counts, options in ((RANKS, ()), (FEWER_RANKS, GMRES)):
            records = [self.dots_of(ranks, *options)["plain"] for ranks in rank_counts]
            for key in ("history", "solution"):
                self.assertGreater(len({record[key] for record in records}), 2, f"{options}: {key}")

    def test_control_the_librarys_product_changes_with_ranks(self):
        own = ("--product", "own", "--dot", "exact")
        self.assertNotEqual(self.dots_of(1, *own)["exact"]["history"], self.dots_of(3, *own)["exact"]["history"])

    def test_ranks_without_rows(self):
        few = ({}, 4, "--points", "2,1,1", "--contrast", "1", "--preconditioner", "none", "--values")
        dots = self.ADAPTER.record_in(*few)["dots"]
        for method in METHODS:  # 6 u0 - u1 = f0, 6 u1 - u0 = f1
            self.assertTrue(dots[method]["converged"])
            self.assertEqual((dots[method]["iterations"], len(dots[method]["values"])), (2, 2))

    def test_the_residual_is_small(self):
        """Of the solutions that were found, by rational numbers."""
        for method in METHODS:
            self.assertTrue(self.dots_of(3)[method]["converged"])
            f, u = self.vectors(method)
            residual = [Fraction(a) - b for a, b in zip(f, self.times(u))]
            self.assertLess(sum(r * r for r in residual) * 10**14, sum(Fraction(a) ** 2 for a in f))

    def vectors(self, method):
        """The right-hand side and the solution."""
        values = self.dots_of(3)[method]["values"]
        return right_hand_side(), [from_bits(bits) for bits in values]

    def times(self, u):
        nx, ny, nz = POINTS
        k = lambda at: 1 if sum(i // 5 for i in at) % 2 == 0 else 1000
        result = []
        for index, value in enumerate(u):
            at = (index % nx, index // nx % ny, index // (nx * ny))
            flow = Fraction(0)
            for axis, step, distance in ((0, -1, 1), (0, 1, 1), (1, -1, nx), (1, 1, nx), (2, -1, nx * ny), (2, 1, nx * ny)):
                beside = tuple(i + step * (a == axis) for a, i in enumerate(at))
                if 0 <= beside[axis] < POINTS[axis]:
                    flow += Fraction(k(at) + k(beside), 2) * (Fraction(value) - Fraction(u[index + step * distance]))
                else:
                    flow += k(at) * Fraction(value)
            result.append(flow)
        return result
