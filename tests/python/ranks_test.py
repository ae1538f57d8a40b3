"""The package over mpi4py: the same bits on any number of ranks and over both MPI libraries, and those of a program that
shares nothing with the library."""

from __future__ import annotations

import itertools
import sys
import unittest
from fractions import Fraction
from pathlib import Path

import numpy as np
import ranks_inputs as given
from ranks_inputs import digest
from support import libraries, on_ranks

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))
from cases import correlation, covariance, rounded_once, sample_covariance, weighted_mean  # noqa: E402
from formats import DOUBLE, decode, encode, product  # noqa: E402
from methods import absolute, adding, greatest, least, tree  # noqa: E402

PROGRAM = Path(__file__).with_name("ranks_program.py")
INTERRUPTED = PROGRAM.with_name("interrupted_program.py")
BEFORE_MPI = PROGRAM.with_name("before_mpi_program.py")


def computed_again():
    """The digests of most lines, by the program that makes the golden values."""

    def numbers(array):
        return [decode(DOUBLE, int(word)) for word in np.ascontiguousarray(array).view(np.uint64)]

    def value(number):
        return np.array(encode(DOUBLE, number), np.uint64).view(np.float64)

    def once(operation, terms, bins=0):
        return value(rounded_once(operation, terms, len(terms), DOUBLE, bins))

    x, y = numbers(given.x), numbers(given.y)
    columns = [numbers(column) for column in given.fields.T]
    ocean, area = given.ocean[:, 0], numbers(given.area[given.ocean])
    products = [product(a, b) for a, b in zip(x, y)]
    sum_of, dot, columns_of = once("sum", x), once("dot", products), [once("sum", column) for column in columns]
    by_tree, most = value(tree(x, adding(DOUBLE))), tree(x, greatest)
    fewest = tree(x, least)
    found = {
        "sum tree": [by_tree], "cyclic": [by_tree], "plan": [by_tree],
        "columns tree": [value(tree(column, adding(DOUBLE))) for column in columns],
        "threads": [sum_of], "dot": [dot, dot], "started": [by_tree, dot, sum_of],
        "norm": [once("abs_sum", [absolute(a) for a in x]), once("norm2", x), value(tree([absolute(a) for a in x], greatest))],
        "mean": [once("mean", x), *(value(weighted_mean(DOUBLE, numbers(c[ocean]), area)) for c in given.fields.T)],
        "covariance": [value(covariance(DOUBLE, x, y)), value(sample_covariance(DOUBLE, x, y)), value(correlation(DOUBLE, x, y))],
        "extremes": [value(fewest), value(most), np.int64(x.index(fewest)), np.int64(x.index(most))],
        "groups": [once("sum", numbers(given.x[given.labels == group])) for group in range(5)],
        "keys": [*(key.encode() for key in "ABCDE"), *([of(given.labels == group) for group in range(4, -1, -1)]
                 for of in (lambda rows: np.int64(rows.sum()), lambda rows: once("sum", numbers(given.x[rows])), lambda rows: once("mean", numbers(given.x[rows]))))],
        "cumsum": [[rounded(total) for total in itertools.accumulate(map(Fraction, given.x.tolist()))], np.cumsum(given.whole)],
        "autocorrelation": [lag_correlation(given.x, lag) for lag in (1, 7, given.N - 1)],
        "matrices": [tree(list(given.matrices), np.matmul)], "batched": [tree(list(given.fields), np.hypot)],
        "bundle": [sum_of, once("norm2", y), *columns_of, value(most)],
    }  # fmt: skip
    for name, bins in (("exact", 0), ("binned", 3), ("binned4", 4)):
        found[f"sum {name}"] = [once("sum", x, bins)]
        found[f"columns {name}"] = [once("sum", column, bins) for column in columns]
    return {name: digest(*values) for name, values in found.items()}


def rounded(value):
    return np.float64(value.numerator / value.denominator)


def lag_correlation(x, lag):
    exact = [Fraction(value) for value in x.tolist()]
    mean = sum(exact) / len(exact)
    around = [value - mean for value in exact]
    found = sum(a * b for a, b in zip(around, around[lag:])) / sum(a * a for a in around)
    return rounded(found)


class Ranks(unittest.TestCase):
    """Every line that ranks_program.py prints."""

    def test_bits(self):
        found = {}
        for library in libraries():
            for ranks in (1, 2, 3, 5) if not found else (3,):
                lines = on_ranks(library, ranks, PROGRAM).splitlines()
                found[library, ranks] = lines
                with self.subTest(library=library, ranks=ranks):
                    self.assertIn(library, lines[-1])
        self.assertGreaterEqual(len({library for library, _ in found}), 1, "no MPI library, or no layer for it")
        first = next(iter(found.values()))
        expected = [line for line in first if not line.startswith("#")]
        self.assertGreater(len(expected), 20)
        shown = dict(line.rsplit(" ", 1) for line in expected)
        again = computed_again()
        self.assertEqual({name: shown[name] for name in again}, again)
        for run, lines in found.items():
            self.assertEqual([line for line in lines if not line.startswith("#")], expected, run)
        plain = {line for lines in found.values() for line in lines if line.startswith("# plain")}
        self.assertGreater(len(plain), 1, "plain sums should differ with the number of ranks, or this shows nothing")

    def test_ctrl_c(self):
        text = "the communicator can't be used any more (a call on it was interrupted), use another communicator or team"
        for library in libraries():
            with self.subTest(library=library):
                self.assertEqual(on_ranks(library, 3, INTERRUPTED, timeout=60).splitlines(), ["interrupted True", text, text, text])

    def test_before_mpi(self):
        for library in libraries():
            with self.subTest(library=library):
                self.assertEqual("".join(on_ranks(library, 2, BEFORE_MPI, timeout=60).split()), "22")  # lines of ranks may join


if __name__ == "__main__":
    unittest.main()
