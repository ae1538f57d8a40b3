"""Reductions of one process: the bits of C++ on the gathered copy, and NumPy's arguments and dtypes."""

from __future__ import annotations

import array
import inspect
import itertools
import math
import types
import unittest
import warnings
from fractions import Fraction
from unittest import mock

import ml_dtypes
import numpy as np
import steadfold as sf
from hypothesis import given, settings
from hypothesis import strategies as st
from steadfold import _core
from support import bits, hostile, in_cxx

SEED = 20261123
INTEGERS = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def exact_sum(values):
    """The correctly rounded sum, by rational numbers."""
    return float(sum((Fraction(float(v)) for v in np.ravel(values)), Fraction(0)))


def neighbours(x):
    """A number, and those next to it."""
    with np.errstate(all="ignore"):
        return [np.nextafter(x, -np.inf, dtype=x.dtype), x, np.nextafter(x, np.inf, dtype=x.dtype)]


def nearest(value, dtype, power=1):
    """The number of a dtype that is nearest to a fraction (or its root, power 2); of two, the even one."""
    if value == 0:
        return dtype(0)
    guess = dtype(float(value) ** (1 / power))
    below, x, above = neighbours(guess)
    while (Fraction(float(x)) + Fraction(float(above))) ** power < 2**power * value:
        below, x, above = neighbours(above)
    while (Fraction(float(x)) + Fraction(float(below))) ** power > 2**power * value:
        below, x, above = neighbours(below)
    is_even = x.tobytes()[0] % 2 == 0
    if not is_even and (Fraction(float(x)) + Fraction(float(above))) ** power == 2**power * value:
        return above
    if not is_even and (Fraction(float(x)) + Fraction(float(below))) ** power == 2**power * value:
        return below
    return x


class Foreign:
    """Elements of a package whose dtype NumPy does not know, as pandas' Float64 and those of Arrow and Polars."""

    dtype = "Float64"

    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return self.x


class Bits(unittest.TestCase):
    """Against C++, and against arithmetic with rational numbers."""

    def setUp(self):
        self.rng = np.random.default_rng(SEED)

    def test_plain_sums_differ_with_the_order(self):
        x = hostile(self.rng, 1001)
        self.assertNotEqual(float(np.sum(x)), float(np.sum(x[::-1])), f"seed {SEED}")
        self.assertEqual(bits(sf.sum(x)), bits(sf.sum(x[::-1])))

    def test_hostile_values(self):
        for dtype, size, method in itertools.product((np.float64, np.float32), (1, 2, 7, 100, 5000), ("exact", "tree", "binned")):
            x, y = hostile(self.rng, size, dtype), hostile(self.rng, size, dtype)
            with self.subTest(dtype=dtype.__name__, size=size, method=method):
                self.assertEqual(bits(sf.sum(x, method=method)), bits(in_cxx("sum", x, method=method)))
                self.assertEqual(bits(sf.dot(x, y, method=method)), bits(in_cxx("dot", x, y, method=method)))
                self.assertEqual(bits(sf.norm(x, method=method)), bits(in_cxx("norm", x, method=method)))
                self.assertEqual(bits(sf.mean(x, method=method)), bits(in_cxx("mean", x, method=method)))
            self.assertEqual(bits(sf.prod(x)), bits(in_cxx("prod", x, method="auto")))
            self.assertEqual(bits(sf.min(x)), bits(in_cxx("min", x, method="auto")))
            self.assertEqual(bits(sf.max(x)), bits(in_cxx("max", x, method="auto")))

    def test_the_tree_rounds_every_product_and_sum(self):
        x, ones = np.array([1e16, 1.0, -1e16, 1.0]), np.ones(4)
        self.assertEqual(float(sf.dot(x, ones)), 2.0)
        self.assertEqual(float(sf.dot(x, ones, method="tree")), 0.0)
        self.assertEqual(float(sf.dot(x, ones, method=sf.tree(lanes=2))), 2.0)
        self.assertEqual(float(sf.mean(x)), 0.5)
        self.assertEqual(float(sf.mean(x, method="tree")), 0.0)
        self.assertEqual(float(sf.norm(np.array([1e200]))), 1e200)
        self.assertEqual(float(sf.norm(np.array([1e200]), method="tree")), math.inf)
        self.assertEqual(complex(sf.vdot(np.array([1j]), np.array([1.0 + 2.0j]), method="tree")), 2 - 1j)
        with self.assertRaisesRegex(sf.UnsupportedError, "the tree has no place for rows that the mask leaves out"):
            sf.dot(x, ones, where=x > 0, method="tree")

    def test_exact_sums_are_those_of_rational_numbers(self):
        x = hostile(self.rng, 300)
        x = x[np.abs(x) < 1e290]
        self.assertEqual(float(sf.sum(x)), exact_sum(x))
        self.assertEqual(float(sf.sum(x)), math.fsum(x))
        self.assertEqual(sf.fsum(float(v) for v in x), math.fsum(x))

    def test_no_numbers(self):
        for values in ([np.nan, 1.0], [np.inf, 1.0], [np.inf, -np.inf], [-np.inf], [-0.0, -0.0], [5e-324, -5e-324]):
            x = np.array(values)
            for method in ("exact", "tree", "binned"):
                self.assertEqual(bits(sf.sum(x, method=method)), bits(in_cxx("sum", x, method=method)), (values, method))
            self.assertEqual(bits(sf.min(x)), bits(in_cxx("min", x, method="auto")), values)

    def test_threads_change_nothing(self):
        x = hostile(self.rng, 70_000)
        for method in ("exact", "tree", "binned"):
            self.assertEqual(bits(sf.sum(x, method=method)), bits(sf.sum(x, method=method, threads=3)))

    @settings(max_examples=150, deadline=None, derandomize=True)
    @given(st.data())
    def test_arrays_of_any_strides(self, data):
        dtype = data.draw(st.sampled_from([np.float64, np.float32]))
        axes = data.draw(st.integers(0, 4))
        shape = tuple(data.draw(st.integers(1, 5)) for _ in range(axes))
        whole = hostile(np.random.default_rng(data.draw(st.integers(0, 2**32))), 3 ** axes * math.prod(shape) + 1, dtype)[1:]
        x = whole.reshape([3 * n for n in shape])
        steps = [data.draw(st.sampled_from([3, -3, 1, -1, 2, -2])) for _ in shape]
        x = x[tuple(slice(None, None, step) for step in steps)]
        x = x[tuple(slice(0, n) for n in shape)]
        x = x.transpose(data.draw(st.permutations(range(axes))))
        axis = data.draw(st.one_of(st.none(), st.sets(st.integers(-axes, axes - 1) if axes else st.nothing(), max_size=axes).map(tuple)))
        if axis is not None and len({a % axes for a in axis}) != len(axis):
            axis = tuple({a % axes for a in axis})
        keepdims = data.draw(st.booleans())
        method = data.draw(st.sampled_from(["exact", "tree", "binned"]))
        reduced = tuple(range(axes)) if axis is None else tuple(sorted(a % axes for a in axis))
        kept = [a for a in range(axes) if a not in reduced]
        mask = None
        if method != "tree" and data.draw(st.booleans()):
            mask = np.random.default_rng(data.draw(st.integers(0, 99))).random([x.shape[a] if data.draw(st.booleans()) else 1 for a in range(axes)]) < 0.6
        result = sf.sum(x, axis=axis, keepdims=keepdims, method=method, where=mask)
        expected = np.empty([x.shape[a] for a in kept], dtype)
        for index in np.ndindex(*expected.shape):
            at = tuple(index[kept.index(a)] if a in kept else slice(None) for a in range(axes))
            rows = x[at]
            if mask is not None:
                rows = rows[np.broadcast_to(mask, x.shape)[at]]
            expected[index] = in_cxx("sum", rows, method=method)
        self.assertEqual(np.shape(result), np.sum(x, axis=axis, keepdims=keepdims).shape)
        self.assertEqual(np.asarray(result).reshape(expected.shape).tobytes(), expected.tobytes())

    def test_long_columns_side_by_side(self):
        """Arrays whose columns stand one after the other take a way of their own."""
        for dtype, rows, method in itertools.product((np.float64, np.float32), (15, 16, 600), ("exact", "tree", "binned")):
            x = hostile(self.rng, 3 * 2 * rows, dtype).reshape(3, 2, rows)
            y = hostile(self.rng, rows, dtype)
            for section in (x, x[::-1], x.transpose(1, 0, 2), x[:, 1]):
                sums = sf.sum(section, axis=-1, method=method)
                products = sf.dot(section, y, axis=-1, method=method) if method != "tree" else None
                for index in np.ndindex(*sums.shape):
                    self.assertEqual(bits(sums[index]), bits(in_cxx("sum", section[index], method=method)))
                    if products is not None:
                        self.assertEqual(bits(products[index]), bits(in_cxx("dot", section[index], y, method=method)))

    def test_elements_have_c_order_however_they_stand(self):
        x, w = hostile(self.rng, 600).reshape(20, 30), self.rng.standard_normal((20, 30))
        turned = np.asfortranarray(x)
        expected = bits(in_cxx("sum", x, method="tree"))
        self.assertNotEqual(bits(in_cxx("sum", x.T, method="tree")), expected, f"or this shows nothing: seed {SEED}")
        self.assertEqual(bits(sf.sum(turned, method="tree")), expected)
        self.assertEqual(int(sf.argmax(turned)), int(np.argmax(x)))
        for a, b in ((turned, w), (w, turned), (x, np.asfortranarray(w))):
            self.assertEqual(bits(sf.dot(a, b)), bits(in_cxx("dot", x, w)))

    def test_weights(self):
        x, w = self.rng.standard_normal((4, 5)), self.rng.random(5)
        self.assertEqual(bits(sf.sum(x, weights=w)), bits(sf.dot(x, np.broadcast_to(w, x.shape))))
        self.assertEqual(float(sf.mean(x, weights=w)), float(sum(Fraction(a) * Fraction(b) for a, b in zip(x.ravel(), np.tile(w, 4))) / sum(Fraction(b) for b in np.tile(w, 4))))
        for dtype, factors in itertools.product(("f4", "f2", ">f4", "i4"), ("f4", ">f8", "f2", "i2")):  # without elements, the dtype of all means
            elements, weights = np.ones(3, dtype), np.ones(3, factors)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                none, narrow = sf.mean(elements, weights=weights, where=np.zeros(3, bool)), sf.mean(elements[:0], dtype=">f4")
            self.assertTrue(np.isnan(none) and np.isnan(narrow))
            self.assertEqual(none.dtype, sf.mean(elements, weights=weights).dtype, (dtype, factors))
            self.assertEqual(narrow.dtype.str, sf.mean(elements, dtype=">f4").dtype.str)
        self.assertEqual(bits(sf.sum(x, weights=w.astype(np.float32))), bits(sf.sum(x, weights=w.astype(np.float32).astype(float))))

    def test_the_wider_of_two_dtypes_counts(self):
        x, w = hostile(self.rng, 50, np.float32), hostile(self.rng, 50)
        for made in (sf.sum(x, weights=w), sf.dot(x, w), sf.dot(w, x)):
            self.assertEqual(bits(made), bits(in_cxx("dot", x.astype(float), w)))
        self.assertEqual(sf.dot(x, w + 1j).dtype, np.complex128)
        self.assertEqual(bits(sf.dot(x, np.arange(50, dtype="i2"))), bits(in_cxx("dot", x, np.arange(50, dtype=np.float32))))
        with self.assertRaisesRegex(TypeError, "convert one"):
            sf.dot(x, np.full(50, 2**24 + 1))
        self.assertEqual(float(sf.dot(np.ones(2), np.array([2**60, 1]))), 2.0**60)
        for call in (lambda y: sf.dot(np.ones(1), y), lambda y: sf.sum(np.ones(1), weights=y), lambda y: sf.Accumulator().add(y)):
            with self.assertRaisesRegex(TypeError, "convert one"):
                call(np.array([2**53 + 1]))

    def test_initial_values(self):
        x = hostile(self.rng, 100)
        whole = sf.reduce(x, "sum")
        self.assertEqual(bits(sf.reduce(x, "sum", initial=0.5)), bits(0.5 + whole))
        self.assertEqual(bits(sf.reduce(np.zeros(0), "sum", initial=-0.0)), bits(-0.0))
        self.assertEqual(float(sf.reduce(np.zeros(0), "min", initial=3)), 3.0)
        self.assertEqual(sf.reduce(np.arange(5), "sum", initial=7), 17)
        self.assertEqual(sf.reduce(np.ones(3, np.float32), "sum", initial=0.1).dtype, np.float32)
        turns = np.array([[[0, -1], [1, 0]]] * 3)
        scale = np.array([[2, 0], [0, 3]])
        self.assertEqual(sf.reduce(turns, np.matmul, initial=scale).tolist(), (scale @ sf.reduce(turns, np.matmul)).tolist())
        team = sf.Team(1)
        plan = sf.plan(team[0]).reduce(x, "sum", initial=2.0)
        self.assertEqual(bits(plan.run()), bits(2.0 + whole))
        subtract = lambda a, b: a - b  # noqa: E731
        self.assertEqual(bits(sf.start(team[0]).reduce(x, subtract, initial=2.0).wait()), bits(2.0 - sf.reduce(x, subtract)))
        with self.assertRaisesRegex(ValueError, "an initial value of shape"):
            sf.reduce(x, "sum", initial=[1.0, 2.0])
        with self.assertRaisesRegex(ValueError, "an initial value of shape"):
            sf.reduce(turns, np.matmul, initial=1)
        with self.assertRaisesRegex(TypeError, "the value would be truncated"):
            sf.reduce(np.arange(4), "sum", initial=1.5)

    def test_groups(self):
        x, labels = hostile(self.rng, 500).reshape(100, 5), self.rng.integers(-1, 4, (100, 5))
        sums = sf.sum_by(x, labels, 4)
        by_tree = sf.sum_by(x, labels, 4, method="tree")
        self.assertEqual(bits(by_tree), bits(np.array([sf.sum(x[labels == group], method="tree") for group in range(4)])))
        for group in range(4):
            self.assertEqual(bits(sums[group]), bits(in_cxx("sum", x[labels == group])))
        by_column = sf.sum_by(x, labels, 4, axis=0)
        self.assertEqual(by_column.shape, (4, 5))
        self.assertEqual(bits(by_column[2, 3]), bits(in_cxx("sum", x[labels[:, 3] == 2, 3])))
        for dtype in ("i1", "u1", "u2", "i4", "u8"):
            kept = labels.copy() if dtype[0] == "i" else np.where(labels < 0, 3, labels)
            self.assertEqual(bits(sf.sum_by(x, kept.astype(dtype), 4)), bits(sf.sum_by(x, kept, 4)))
        with self.assertRaises(sf.InvalidArgumentError):
            sf.sum_by(x, labels, 3)


class Variances(unittest.TestCase):
    """Exact, rounded once to the dtype that sums have: against fractions."""

    def expect(self, x, result, **options):
        values = [Fraction(float(v)) for v in np.asarray(x).ravel()]
        mean = sum(values) / len(values)
        for ddof in (0, 1):
            variance = sum((v - mean) ** 2 for v in values) / (len(values) - ddof)
            self.assertEqual(bits(sf.var(x, ddof=ddof, **options)), bits(nearest(variance, result)), f"seed {SEED}")
            self.assertEqual(bits(sf.std(x, ddof=ddof, **options)), bits(nearest(variance, result, 2)), f"seed {SEED}")

    def test_are_rounded_once(self):
        """The variance lies a little above the middle between two floats, which is the nearest double."""
        x = np.array([float.fromhex("0x1.000ffp+1"), float.fromhex("-0x1.fee032p-32")], np.float32)
        self.assertEqual(float(sf.var(x)), float.fromhex("0x1.001fe2p+0"))
        self.assertNotEqual(np.float32(sf.var(x, dtype=float)), sf.var(x), "or this shows nothing")
        self.expect(x, np.float32)
        out = np.zeros((), np.float32)
        self.assertEqual(bits(sf.var(x.astype(float), out=out)), bits(sf.var(x)))
        rng = np.random.default_rng(SEED)
        for _ in range(30):
            x = np.ldexp(rng.uniform(-1, 1, rng.integers(2, 20)), rng.integers(-30, 30))
            for dtype in (np.float64, np.float32, np.float16):
                with np.errstate(over="ignore"):
                    narrow = (x % 2).astype(dtype)
                self.expect(narrow, np.float64 if dtype is np.float64 else np.float32)
                self.expect(narrow, np.float32, dtype=np.float32)
                self.expect(narrow, np.float64, dtype=np.float64)
        self.expect(np.array([1e-40, 2e-40, 5e-41], np.float32), np.float32)

    def test_of_whatever_sums_take(self):
        x = np.array([1.0, 2.5, 4.0])
        given = [x, x.tolist(), Foreign(x), x.astype(">f8"), x.astype("f4"), [np.float32(v) for v in x], Foreign(x.astype("f4")), x.astype("f2"), x.astype(">f2"),
                 array.array("f", x), memoryview(x), x[::-1], np.array([1, 2, 4], "i1"), [True, False, True], np.float64(3.0), np.float32(3.0)]  # fmt: skip
        for each in given:
            own = np.asarray(sf.sum(each)).dtype
            for function in (sf.var, sf.std):
                found = function(each)
                self.assertEqual(found.dtype, own if own.kind == "f" else np.float64, (function.__name__, each))
                self.assertEqual(bits(found), bits(function(np.array(each.x if isinstance(each, Foreign) else each, float), dtype=found.dtype)))
        self.assertTrue(np.isnan(sf.var([])))
        self.assertEqual(sf.var(np.ones((2, 3), np.float32), axis=0, keepdims=True).shape, (1, 3))
        self.assertEqual(float(sf.std(x, where=x > 2)), 0.75)
        for wrong in (int, "f2", complex, np.longdouble):
            with self.assertRaisesRegex((TypeError, ValueError), "results of dtype"):
                sf.var(x, dtype=wrong)
        for odd in (x + 1j, x.astype(np.longdouble)):
            with self.assertRaisesRegex(TypeError, "statistics, var or std of dtype"):
                sf.var(odd)


class ByteOrder(unittest.TestCase):
    """Elements of the other byte order give what those of the machine's own give."""

    FUNCTIONS = [sf.sum, sf.prod, sf.mean, sf.var, sf.std, sf.min, sf.max, sf.argmin, sf.argmax, sf.norm, sf.fsum,
                 lambda x: sf.norm(x, 1), lambda x: tuple(sf.statistics(x)), lambda x: sf.dot(x, x), lambda x: sf.vdot(x, x), lambda x: sf.covariance(x, x),
                 lambda x: sf.sample_covariance(x, x), lambda x: sf.corr(x, x), lambda x: sf.sum(x, weights=np.arange(x.size, dtype="f8").reshape(x.shape)),
                 lambda x: sf.sum(np.arange(x.size, dtype="f8").reshape(x.shape), weights=x), lambda x: sf.mean(x, weights=x),
                 lambda x: sf.sum_by(x, np.zeros(x.shape, int), 1), lambda x: sf.sum(x, axis=-1) if x.ndim else 0, lambda x: sf.sum(x, dtype=x.dtype),
                 lambda x: sf.reduce(x, np.add), lambda x: sf.sum(x, where=x > 1), lambda x: sf.sum(x, out=np.zeros((), x.dtype)),
                 lambda x: sf.allreduce(x, "sum", sf.Team(1)[0])]  # fmt: skip

    def outcome(self, function, x):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of no elements
                found = function(x)
        except (TypeError, ValueError) as error:
            return type(error), str(error)
        return bits(np.asarray(found).astype(np.asarray(found).dtype.newbyteorder("=")))

    def test_every_function(self):
        served = 0
        for dtype in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"):
            whole = np.arange(1, 13).astype(dtype)
            for x in (whole, whole[::2], whole[3], whole.reshape(3, 4).T, whole[:0]):
                swapped = np.asarray(x).astype(np.dtype(dtype).newbyteorder(">"))
                swapped.flags.writeable = False
                for number, function in enumerate(self.FUNCTIONS):
                    wanted = self.outcome(function, np.asarray(x))
                    self.assertEqual(self.outcome(function, swapped), wanted, (dtype, number))
                    served += isinstance(wanted[0], str)
        self.assertGreater(served, 1000)

    def test_other_operands(self):
        x = np.arange(4.0)
        labels = np.array([0, 1, 1, -1])
        for dtype in (">i2", ">i4", ">i8"):
            self.assertEqual(bits(sf.sum_by(x, labels.astype(dtype), 2)), bits(sf.sum_by(x, labels, 2)))
        for dtype in (">f8", ">f4", ">f2", ">i4"):
            made, wanted = sf.Accumulator(), sf.Accumulator()
            made.add(x.astype(dtype))
            wanted.add(x)
            self.assertEqual(made, wanted)
        self.assertEqual(sf.sum(x, dtype=">f4").dtype, np.float32)
        with self.assertRaisesRegex(sf.InvalidArgumentError, "operands that need a conversion"):
            sf.plan().sum(x.astype(">f8"))


class Numpy(unittest.TestCase):
    """Arguments, shapes and dtypes are NumPy's."""

    def setUp(self):
        self.rng = np.random.default_rng(SEED)

    def test_integers_wrap_as_numpys(self):
        for dtype in INTEGERS:
            info = None if dtype == "bool" else np.iinfo(dtype)
            x = self.rng.random((6, 7)) < 0.5 if info is None else self.rng.integers(info.min, info.max, (6, 7), dtype=dtype, endpoint=True)
            for axis in (None, 0, (0, 1), ()):
                for ours, theirs in ((sf.sum, np.sum), (sf.prod, np.prod), (sf.min, np.min), (sf.max, np.max)):
                    self.assertEqual(bits(ours(x, axis=axis)), bits(theirs(x, axis=axis)), (dtype, axis, ours.__name__))
            for ours, theirs in ((sf.argmin, np.argmin), (sf.argmax, np.argmax)):
                for axis in (None, 0, 1):
                    self.assertEqual(bits(ours(x, axis=axis)), bits(theirs(x, axis=axis)), (dtype, axis))
            mean = Fraction(sum(int(v) for v in x.ravel()), x.size)
            self.assertEqual(float(sf.mean(x)), mean.numerator / mean.denominator, dtype)
            self.assertEqual(np.asarray(sf.mean(x, axis=0)).dtype, np.float64)
            self.assertEqual(int(sf.sum(x, where=x > 0)), int(np.sum(x, where=x > 0)))
            if dtype != "bool":
                self.assertEqual(bits(sf.dot(x[0], x[1])), bits(np.sum(np.multiply(x[0], x[1], dtype="u8" if dtype[0] == "u" else "i8"))))

    def test_integers_never_pass_through_double(self):
        x = np.array([2**53, 1, 1, -(2**53)])
        self.assertEqual(int(sf.sum(x)), 2)
        self.assertEqual(float(sf.sum(np.array([2**53 + 1, -(2**53)]), dtype=float)), 1.0)
        self.assertEqual(float(sf.mean(np.array([2**63 - 1, 2**63 - 1]))), 2.0**63)
        for odd in (2**60 + 1, 2**53 + 1, -(2**53) - 1):
            with self.assertRaisesRegex(TypeError, "above 2..53"):
                sf.norm(np.array([odd]))
        self.assertEqual(float(sf.norm(np.array([-(2**53)]))), 2.0**53)
        self.assertEqual(float(sf.norm(np.array([3, 4], dtype="i2"))), 5.0)
        self.assertEqual(float(sf.var(np.array([1, 3]))), 1.0)

    def test_other_types(self):
        half = np.array([1.0, 2.0, 0.5], np.float16)
        self.assertEqual(bits(sf.sum(half)), bits(np.float32(3.5)))
        self.assertEqual(bits(sf.sum(half, dtype=np.float64)), bits(np.float64(3.5)))
        self.assertEqual(int(sf.argmax(half)), 1)
        z = np.array([1 + 2j, 3 - 1j])
        self.assertEqual(complex(sf.sum(z)), 4 + 1j)
        self.assertEqual(complex(sf.dot(z, z)), complex(np.dot(z, z)))
        self.assertEqual(complex(sf.vdot(z, z)), complex(np.vdot(z, z)))
        self.assertEqual(bits(sf.norm(z)), bits(np.float64(math.sqrt(15))))
        self.assertEqual(sf.sum(z.astype(np.complex64)).dtype, np.complex64)
        self.assertEqual(sf.sum(np.array([1, 2], np.longdouble)).dtype, np.longdouble)
        self.assertEqual(sf.sum(np.ones(3, np.float32), dtype=float).dtype, np.float64)
        self.assertEqual(bits(sf.sum(np.arange(4.0).astype(">f8"))), bits(np.float64(6)))
        for bad in (["a"], [None], np.array(["2020-01-01"], "M8[D]")):
            with self.assertRaises(TypeError):
                sf.sum(bad)
        with self.assertRaises(TypeError):
            sf.min(z)

    def test_shapes(self):
        x = self.rng.standard_normal((2, 3, 4))
        for axis in (None, 0, -1, (0, 2), (), (2, 1, 0)):
            for keepdims in (False, True):
                self.assertEqual(np.shape(sf.sum(x, axis=axis, keepdims=keepdims)), np.shape(np.sum(x, axis=axis, keepdims=keepdims)), (axis, keepdims))
        np.testing.assert_array_equal(sf.sum(x, axis=()), x)
        self.assertIsInstance(sf.sum(x), np.float64)
        self.assertIsInstance(sf.sum(np.float64(3.0)), np.float64)
        self.assertEqual(float(sf.sum(3.0)), 3.0)
        self.assertEqual(sf.sum(np.ones((0, 3)), axis=0).tolist(), [0.0, 0.0, 0.0])
        self.assertEqual(sf.sum(np.ones((3, 0)), axis=0).shape, (0,))
        self.assertEqual(float(sf.sum([])), 0.0)
        out = np.zeros(4)
        self.assertIs(sf.sum(x, axis=(0, 1), out=out), out)
        np.testing.assert_array_equal(out, sf.sum(x, axis=(0, 1)))
        for wrong in (3, -4, (0, 5)):
            with self.assertRaises((ValueError, IndexError)):
                sf.sum(x, axis=wrong)
        with self.assertRaisesRegex(ValueError, "twice"):
            sf.sum(x, axis=(0, -3))
        with self.assertRaises(TypeError):
            sf.sum(x, axis="0")
        with self.assertRaises(TypeError):
            sf.sum(x, where=[1, 0, 1, 1])

    def test_spread_and_extremes(self):
        x = self.rng.standard_normal((50, 3))
        np.testing.assert_allclose(sf.var(x, axis=0), np.var(x, axis=0), rtol=1e-14)
        np.testing.assert_allclose(sf.std(x, ddof=1), np.std(x, ddof=1), rtol=1e-14)
        self.assertEqual(sf.var(x.astype(np.float32)).dtype, np.float32)
        np.testing.assert_array_equal(sf.argmin(x, axis=0), np.argmin(x, axis=0))
        self.assertEqual(int(sf.argmax(x)), int(np.argmax(x)))
        x[7, 1] = np.nan
        self.assertEqual(int(sf.argmax(x)), 22)
        self.assertTrue(np.isnan(sf.min(x)))
        with self.assertRaises(ValueError):
            sf.var(x, ddof=2)
        for far in (0.0, 1e9):
            y = x[:, 0] + far
            self.assertEqual(float(sf.covariance(y, y)), float(sf.var(y)))
            self.assertEqual(float(sf.sample_covariance(y, y)), float(sf.var(y, ddof=1)))
        by_column = sf.covariance(x, x[:, :1], axis=0)
        np.testing.assert_allclose(by_column, np.cov(x, rowvar=False, ddof=0)[0], rtol=1e-12)
        self.assertNotEqual(float(np.cov(x[:, 0] + 1e9, x[:, 1], ddof=0)[0, 1]), float(sf.covariance(x[:, 0] + 1e9, x[:, 1])))
        numbers = sf.statistics(x[:, 0])
        self.assertEqual(int(numbers.count), 50)
        self.assertEqual(float(numbers.max), float(x[:, 0].max()))
        self.assertEqual([sf.norm(v := [3.0, -4.0], ord=o) for o in (1, 2, np.inf)], [7.0, 5.0, 4.0], v)
        with self.assertRaises(ValueError):
            sf.norm(x, ord=3)

    def test_no_elements(self):
        for function in (sf.min, sf.max, sf.argmin):
            with self.assertRaises(ValueError):
                function([])
        with self.assertWarns(RuntimeWarning):
            self.assertTrue(np.isnan(sf.mean([])))
        self.assertTrue(np.isnan(sf.mean(np.array([], dtype=int))))
        for kept in (1, 2):  # a mask that has the kept axis
            x, mask = np.ones((3, kept)), np.zeros((3, kept), bool)
            for function in (sf.min, sf.max, sf.mean):
                self.assertTrue(np.isnan(function(x, axis=0, where=mask)).all(), (function, kept))

    def test_what_is_refused_says_why(self):
        for call, text in (
            (lambda: _core.reduce(-1, np.ones(2), *[None] * 8, {}, 0), r"operation -1 is unknown \(the operations are 0 to 19\)"),
            (lambda: sf.sum([1.5], dtype=int), "results of dtype int64 for elements of dtype float64"),
            (lambda: sf.sum([1.5], dtype="c16"), r"results of dtype complex128 for elements of dtype float64 \(the results are real numbers\), convert the result"),
            (lambda: sf.mean([1.5], dtype="c16", method="tree"), "results of dtype complex128"),
            (lambda: sf.sum([1j], dtype=float), r"results of dtype float64 for elements of dtype complex128 \(the results are complex numbers\), reduce x.real"),
            (lambda: sf.norm([1j], dtype="c16"), "results of dtype complex128 .*are real"),
            (lambda: sf.dot([1.5], [1.5], dtype=np.longdouble), "rounded once, to float32 or float64"),
            (lambda: sf.prod([1.5], dtype="f4"), r"every step is rounded to this dtype\), convert the elements or the result"),
            (lambda: sf.statistics([1j]), r"statistics, var or std of dtype complex128 is not supported \(only real numbers are\), reduce x.real and x.imag"),
            (lambda: sf.argmin([1j]), r"argmin of dtype complex128 is not supported \(complex numbers have no order\)"),
            (lambda: sf.norm([1j], np.inf), "norm of dtype complex128 .*no order"),
            (lambda: sf.mean([1j], weights=[1.0]), "a mean with weights of dtype complex128"),
            (lambda: sf.mean(np.ones(2, np.longdouble)), r"only float64 and narrower numbers are\), convert the elements, as x.astype"),
            (lambda: sf.sum(np.array([1, 2], "m8[s]")), r"they are times, not numbers\), reduce their ticks, x.view"),
            (lambda: sf.min(np.array([1, 2], "M8[s]")), "they are dates, not numbers"),
            (lambda: sf.sum(["1"]), "they are texts, not numbers"),
            (lambda: sf.sum([None]), "they are Python objects, not numbers"),
            (lambda: sf.sum(np.zeros(2, [("a", "f8")])), "reduce their fields"),
            (lambda: sf.reduce_scatter([1.0], "sum", sf.Team(1)[0], blocks=[]), r"0 blocks for 1 ranks \(each rank gets one block\), give one block per rank"),
            (lambda: sf.Accumulator().norm(), r"the norm of an accumulator of elements .*make the accumulator with products=True"),
            (lambda: sf.Accumulator().add([1.0], weights=[1.0]), r"weights for an accumulator of elements .*make the accumulator with products=True"),
            (lambda: sf.Accumulator.from_bytes(b"x" * 99), "give the bytes that an accumulator was written to"),
            (lambda: sf.sum(x for x in [1.5]), "use steadfold.fsum"),
            (lambda: sf.sum([1.5], root=3), r"root 3 is not a rank \(the ranks are 0 to 0\)"),
            (lambda: sf.mean([], root=-1), r"root -1 is not a rank \(ranks are counted from 0\), give a rank, or None to get the result on all"),
            (lambda: sf.sum([1.5], schedule="rng"), "unknown schedule 'rng'"),
            (lambda: sf.sum_by([1.5, 2.5], [0, 7], 2), "label 7 of element 1, counted from 0, names no group"),
            (lambda: sf.sum(np.ones((2, 3)), where=np.ones(4, bool)), r"a mask of shape \(4\) for elements of shape \(2, 3\)"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), text):
                call()
            try:
                call()
            except Exception as error:  # noqa: BLE001 - its text counts
                self.assertNotRegex(str(error), r"\bsf_|\bSF_|sf::", "names of other languages")
        self.assertEqual(sf.sum([1.5], root=0, schedule="ring"), 1.5)
        for advised in (sf.sum([1.5], dtype=float).astype("c16"), sf.sum(np.array([1, 2], "m8[s]").view("i8")).view("m8[s]")):
            self.assertIsNotNone(advised)
        self.assertEqual(sf.sum([1.5], dtype=np.longdouble).dtype, np.longdouble)

    def test_whatever_has_elements(self):
        class Dlpack:
            def __init__(self, device):
                self.device, self.x = device, np.array([1.0, 2.0])

            def __dlpack_device__(self):
                return (self.device, 0)

            def __dlpack__(self, **options):
                return self.x.__dlpack__(**options)

        for host in (1, 3):
            self.assertEqual(float(sf.sum(Dlpack(host))), 3.0)
        for elsewhere in (2, 10, 13):
            with self.assertRaisesRegex(TypeError, f"device {elsewhere} "):
                sf.sum(Dlpack(elsewhere))
        self.assertEqual(float(sf.sum(array.array("d", [1.0, 2.0]))), 3.0)
        self.assertEqual(float(sf.sum(memoryview(array.array("f", [1.0, 2.0])))), 3.0)
        self.assertEqual(int(sf.sum([1, 2])), 3)
        self.assertEqual(float(sf.sum(((1.0, 2.0), (3.0, 4.0)))), 10.0)
        read_only = np.ones(3)
        read_only.flags.writeable = False
        self.assertEqual(float(sf.sum(read_only)), 3.0)
        masked = np.frombuffer(b"\0" + np.arange(3.0).tobytes(), np.uint8)[1:].view(np.float64)
        self.assertEqual(float(sf.sum(masked)), 3.0, "unaligned")

    def test_masks_of_masked_arrays_are_not_overlooked(self):
        masked = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
        for call in (lambda: sf.sum(masked), lambda: sf.Accumulator().add(masked), lambda: sf.dot([1.0, 1.0, 1.0], masked), lambda: sf.fsum(masked),
                     lambda: sf.var(masked), lambda: sf.fsum(masked.astype(int)), lambda: sf.sum_by(masked.data, masked.astype(int), 4),
                     lambda: sf.sum([1.0, 2.0, 3.0], where=masked > 1), lambda: sf.allreduce(masked, "sum", sf.Team(1)[0]), lambda: sf.reduce(masked, np.add),
                     lambda: sf.sum([masked, masked]), lambda: sf.mean(((masked,), (masked,))), lambda: sf.sum(Foreign(masked)), lambda: sf.plan().sum(masked)):  # fmt: skip
            with self.assertRaisesRegex(TypeError, "masked array.*give"):
                call()
        for advised in (sf.fsum(masked.compressed()), sf.sum(masked.data, where=~np.ma.getmaskarray(masked))):
            self.assertEqual(float(advised), 4.0)

    def test_bfloat16_beside_other_dtypes(self):
        """NumPy finds no common dtype for it and most others: sums are exact all the same."""
        rows = {"bf": np.array([1.0, 2.0, 0.1], ml_dtypes.bfloat16)}
        rows |= {dtype: np.array([1.0, 2.0, 3.1]).astype(dtype) for dtype in ("f2", "f4", "f8", "i8", "u1", "?")}
        for (a, x), (b, y) in itertools.product(rows.items(), repeat=2):
            if "bf" not in (a, b):
                continue
            wanted = sum(Fraction(float(p)) * Fraction(float(q)) for p, q in zip(x, y))
            for found in (sf.dot(x, y), sf.sum(x, weights=y), sf.sum(x, weights=y, out=np.zeros(()))):
                dtype = np.asarray(found).dtype
                self.assertEqual(found, dtype.type(float(wanted)), (a, b, dtype))
        halved = sf.sum(rows["bf"], out=np.zeros((), ml_dtypes.bfloat16))
        self.assertEqual((halved.dtype, float(halved)), (rows["bf"].dtype, 3.09375))
        with self.assertRaisesRegex(TypeError, "elements of dtype float8.*cannot be reduced"):
            sf.sum(np.ones(3, ml_dtypes.float8_e4m3fn), weights=rows["bf"], out=np.zeros(()))
        for op in ("sum", "prod", "min", "max"):
            found = sf.allreduce(rows["bf"], op, sf.Team(1)[0])
            self.assertEqual((found.dtype, found.tolist()), (rows["bf"].dtype, rows["bf"].tolist()))

    def test_integers_beside_halves_raise_no_warning(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(float(sf.dot(np.ones(2, "f2"), [1, 2])), 3.0)

    def test_names_that_are_no_unicode(self):
        for call in (lambda name: sf.allreduce([1.0], name, sf.Team(1)[0]), lambda name: sf.sum([1.0], schedule=name), lambda name: sf.sum([1.0], require=name)):
            with self.assertRaisesRegex(TypeError, "a str is needed"):
                call("\ud800")

    def test_one_number_has_no_partners(self):
        x = np.arange(1.0, 7.0)
        for y in (2.0, [2.0], np.array(2), np.array([2], "f4")):
            for function in (sf.dot, sf.vdot, sf.covariance, sf.sample_covariance, sf.corr, sf.plan().dot):
                for given in (x, x.astype(int), x.astype("f2"), x.reshape(2, 3), x[:0]):
                    with self.assertRaisesRegex(ValueError, "y of 1 number for axes of"):
                        function(given, y)
        for labels in (0, [0], np.array([0], "u1")):
            with self.assertRaisesRegex(ValueError, "labels of 1 number for axes of 6 elements"):
                sf.sum_by(x, labels, 1)
        # One element each, rows that are stretched, and weights.
        for found, wanted in ((sf.dot([3.0], [2.0]), 6.0), (sf.dot(3.0, 2.0), 6.0), (sf.dot(x.reshape(6, 1), [2.0]), 42.0), (sf.dot(x.reshape(1, 6), [[2.0]]), 42.0),
                              (sf.sum(x, weights=2.0), 42.0), (sf.sum_by([3.0], [0], 1), [3.0]), (sf.sum_by(x.reshape(1, 6), [[0]], 1), [21.0])):  # fmt: skip
            self.assertEqual(np.asarray(found).tolist(), wanted)

    def test_many_axes(self):
        self.assertEqual(float(sf.sum(np.full((1,) * 30 + (2,), 7.0))), 14.0)
        self.assertEqual(sf.sum(np.full((2,) * 3 + (1,) * 12, 7.0), axis=0).shape, (2, 2) + (1,) * 12)
        for shape in ((1,) * 32, (1,) * 31 + (2,), (1,) * 64):
            if len(shape) <= 32 or np.lib.NumpyVersion(np.__version__) >= "2.0.0":
                with self.assertRaisesRegex(sf.InvalidArgumentError, "axes"):
                    sf.sum(np.full(shape, 7.0))

    def test_out(self):
        for wrong in (np.zeros((2, 3)), np.zeros(1)):
            with self.assertRaisesRegex(ValueError, "out of shape"):
                sf.sum([1.0, 2.0], out=wrong)
        with self.assertRaises(TypeError):
            sf.mean([1.0, 2.0], out=[0.0])
        whole = np.array(7)
        for call in (lambda: sf.sum([1.5], out=whole), lambda: sf.mean([1, 2], out=whole)):
            with self.assertRaises(TypeError):
                call()
        self.assertEqual(int(whole), 7, "nothing is cut off")
        x = np.array([1.0, 2.0**-24, 2.0**-60])  # above the middle between two floats, by less than a double shows
        for elements, options, out, wanted in (
            (x, {}, np.zeros((), "f4"), 1 + 2.0**-23), (x, {}, np.zeros((), ">f4"), 1 + 2.0**-23), (x, {"method": "tree"}, np.zeros((), "f4"), 1.0),
            (x, {"weights": [1, 1, 1]}, np.zeros((), "f4"), 1 + 2.0**-23), (x.astype(np.longdouble), {}, np.zeros(()), 1 + 2.0**-24),
            (x, {}, np.zeros((), "f2"), 1.0), (x + 0j, {}, np.zeros((), "c8"), 1 + 2.0**-23), (x, {}, np.zeros((), complex), 1 + 2.0**-24),
            (np.array([2**62, 2**62]), {}, np.zeros(()), 2.0**63), (np.array([3, 4]), {"weights": [5, 6]}, np.zeros((), "f4"), 39.0),
        ):  # fmt: skip
            self.assertEqual(sf.sum(elements, out=out, **options), wanted, (elements.dtype, options, out.dtype))

    def test_odd_arguments(self):
        x = np.ones((2, 3))
        self.assertEqual(sf.sum(x, axis=0, keepdims=np.True_).shape, (1, 3))
        self.assertEqual(sf.sum(x, axis=0, keepdims=1).shape, (1, 3))
        self.assertEqual(float(sf.var(x, ddof=1.0)), 0.0)
        for options in ({"threads": -1}, {"threads": None}, {"root": 1.5}, {"schedule": 5}, {"require": 5}, {"method": types.SimpleNamespace(bins=-1, sweep="single_sweep")}):
            with self.assertRaises(TypeError, msg=str(options)):
                sf.sum(x, **options)
        for groups in (-1, 2.0, None):
            with self.assertRaises(TypeError):
                sf.sum_by(x, np.zeros((2, 3), int), groups)
        for ord in ([1], "fro", None, -1):
            with self.assertRaises(ValueError):
                sf.norm(x, ord)
        with self.assertRaises(sf.InvalidArgumentError):
            sf.mean([1, 2], method="nonsense")

    def test_quotients_of_integers(self):
        self.assertEqual(sf.sum(np.array([1, 2]), dtype=np.complex64), np.complex64(3))
        self.assertEqual(bits(sf.mean(np.array([2**25 + 1, 2**25 + 2]), dtype=np.float32)), bits(np.float32(2**25)))
        with self.assertRaises(TypeError):
            sf.sum(np.array([2**62 + 1]), dtype=np.longdouble)
        with self.assertRaisesRegex(TypeError, "wrap"):
            sf.sum(np.array([2**62]), weights=np.array([4]), dtype=float)
        self.assertEqual(sf.dot(np.array([True, True]), np.array([True, False])).dtype, np.int64)
        with self.assertRaises(ValueError):
            sf.dot(np.ones(3, int), np.ones((2, 3), int))
        self.assertEqual(complex(sf.dot(np.array([1, 2]), np.array([1j, 2.0]))), 4 + 1j)
        self.assertEqual(float(sf.dot(np.array([1.5], ">f4"), np.array([2.0]))), 3.0)

    def test_factors_that_a_conversion_would_change(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for factor in (np.int64(2**63 - 1), np.uint64(2**64 - 1), np.int64(2**53 + 1)):
                with self.assertRaisesRegex(TypeError, "a conversion could change values"):
                    sf.dot(np.ones(1), np.array([factor]))
            for factor in (np.int64(-(2**63)), np.uint64(2**63), np.int64(2**53)):
                self.assertEqual(int(sf.dot(np.ones(1), np.array([factor]))), int(factor))

    def test_quotients_of_more_integers_than_words_hold(self):
        from steadfold import _elements
        few = _elements.integer_parts(np.full(16, -1, np.int32), None, False, None)
        for many in (2**27 + 1, 2**30):  # as many chunks or ranks
            self.assertEqual(_elements.integer_quotients(few * many, True, np.dtype(float)), -1.0)
            self.assertEqual(_elements.integer_quotients(few * many, False, np.dtype(float)), -16.0 * many)
        random = np.random.default_rng(5)
        for dtype in (np.int64, np.uint64, np.int8):
            x = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (7, 9, 3), dtype=dtype, endpoint=True)
            mask = random.random((9, 3)) < 0.5
            for axis in (None, 0, (0, 2), -2):
                with self.subTest(dtype=dtype.__name__, axis=axis), mock.patch.object(_elements, "_MOST_IN_WORDS", 5):
                    found = sf.sum(x, axis=axis, dtype=float, where=mask)
                    due = np.sum(np.where(mask, x.astype(object), 0), axis=axis)
                    np.testing.assert_array_equal(found, np.asarray(due).astype(float))

    def test_halves(self):
        half = np.array([1.0, 2.0], np.float16)
        for function in (sf.sum, sf.mean, sf.var, sf.std):
            self.assertEqual(function(half).dtype, np.float32)
        with self.assertWarns(RuntimeWarning):
            self.assertEqual(sf.mean(half[:0]).dtype, np.float32)

    def test_fsum_takes_what_math_fsum_takes(self):
        for wrong in ([None], ["1", "2"], np.array([1j])):
            with self.assertRaises(TypeError):
                sf.fsum(wrong)
        self.assertEqual(sf.fsum([Fraction(1, 2), 1, np.float32(0.25)]), 1.75)
        self.assertEqual(sf.fsum([]), 0.0)

    def test_options(self):
        x = np.arange(5.0)
        self.assertEqual(float(sf.sum(x, method=sf.binned(bins=2, double_sweep=True))), 10.0)
        for exponent, least in ((-100, 3), (-130, 4)):  # how many bins it takes to see so small a term
            sums = [float(sf.sum([1.0, 2.0**exponent, -1.0], method=sf.binned(bins=bins))) for bins in (2, 3, 4)]
            self.assertEqual(sums, [2.0**exponent if bins >= least else 0.0 for bins in (2, 3, 4)])
        with self.assertRaisesRegex(sf.InvalidArgumentError, "fastest"):
            sf.sum(x, method="fastest")
        with self.assertRaises(TypeError):
            sf.sum(x, method=3)
        with self.assertRaises(ValueError):
            sf.binned(bins=7)
        self.assertEqual(sf.binned(k=4), sf.binned(4), "the older name")
        cancelling = [1e16, 1.0, -1e16, 1.0]
        for lanes, total in ((1, 0.0), (2, 2.0), (1024, 0.0)):
            self.assertEqual(float(sf.sum(cancelling, method=sf.tree(lanes))), total, lanes)
        self.assertEqual(float(sf.prod([2.0, 3.0, 5.0], method=sf.tree(lanes=2))), 30.0)
        for lanes in (0, -1, 1025):
            with self.assertRaisesRegex(ValueError, "1 to 1024"):
                sf.tree(lanes)
        with self.assertRaisesRegex(sf.UnsupportedError, "ranks"):
            sf.sum(x, method="plain", require="ranks")
        with self.assertRaises(TypeError):
            sf.sum(x, comm=3)
        with self.assertRaises(TypeError):
            sf.sum(x, layout="grid")
        self.assertEqual(float(sf.sum(x, method=sf.binned(np.int64(4), sweep="double_sweep"))), 10.0)
        with self.assertRaisesRegex(sf.InvalidArgumentError, "unknown sweep 'thrice'"):
            sf.sum(x, method=sf.binned(sweep="thrice"))
        for wrong in (sf.Tree, sf.Binned, mock.Mock(parameters=3)):
            with self.assertRaisesRegex(TypeError, "method must be a name"):
                sf.sum(x, method=wrong)
        for wrong in (None, 3):
            with self.assertRaisesRegex(TypeError, "a str is needed"):
                sf.binned(sweep=wrong)
        four = sf.binned(4)
        four.parameters["bins"] = 99
        self.assertEqual(four, sf.binned(4))
        with self.assertRaisesRegex(TypeError, "argument 'keepdims' does not exist"):
            sf.plan().reduce(x, "sum", keepdims=True)
        of_steps, out = [1.0, 2.0**-30, -1.0], np.zeros((), np.float32)
        self.assertEqual(float(sf.sum(of_steps, out=out, method=sf.tree())), float(sf.sum(of_steps, method="tree")))

    def test_options_that_no_call_takes(self):
        """Whatever the elements: calls of integers do not all reach the library."""
        for x in (np.arange(5.0), np.arange(5), np.zeros(5, np.int8), np.zeros(5, np.float16), np.zeros(5, bool)):
            for call in (sf.sum, sf.mean, sf.prod, sf.max, sf.argmin, lambda x, **options: sf.reduce(x, max, **options)):
                with self.assertRaisesRegex(TypeError, "argument 'bogus' does not exist"):
                    call(x, bogus=1)
                with self.assertRaisesRegex(TypeError, "threads is 'two'"):
                    call(x, threads="two")
                with self.assertRaisesRegex(sf.InvalidArgumentError, "unknown guarantee 'colour'"):
                    call(x, require="colour")
        rank = sf.Team(1)[0]
        for call in (sf.allreduce, sf.reduce_scatter, sf.scan, sf.exscan):
            with self.assertRaisesRegex(TypeError, "argument 'layout' does not exist"):
                call([1.0], "sum", rank, layout=sf.Layout.anywhere())
            with self.assertRaisesRegex(sf.InvalidArgumentError, "2 threads with a callable"):
                call([1.0], np.add, rank, threads=2)
        with self.assertRaisesRegex(sf.InvalidArgumentError, "2 threads with a callable"):
            sf.reduce([1.0], np.add, threads=2)
        self.assertEqual(list(inspect.signature(sf.scan).parameters)[-3:], ["schedule", "require", "threads"])


class Operators(unittest.TestCase):
    """Reductions by callables."""

    def test_the_tree_is_the_same(self):
        x = hostile(np.random.default_rng(SEED), 1000)
        self.assertEqual(bits(sf.reduce(x, lambda a, b: a + b)), bits(in_cxx("sum", x, method="tree")))
        self.assertEqual(bits(sf.reduce(x, "sum")), bits(in_cxx("sum", x, method="tree")))
        columns = x.reshape(200, 5)
        by_batches = sf.reduce(columns, np.add, batched=True)
        self.assertEqual(bits(sf.reduce(columns[:, 0], np.add, batched=True)), bits(by_batches[0]))
        self.assertEqual(bits(by_batches), bits(sf.sum(columns, axis=0, method="tree")))

    def test_matrices_do_not_commute(self):
        m = np.random.default_rng(SEED).standard_normal((9, 2, 2))
        product = sf.reduce(m, np.matmul)
        self.assertEqual(bits(product), bits(((m[0] @ m[1]) @ (m[2] @ m[3])) @ ((m[4] @ m[5]) @ (m[6] @ m[7])) @ m[8]))

    def test_records(self):
        points = np.array([(1, 2.0), (3, 4.0)], dtype=[("n", "i4"), ("x", "f8")])

        def add(a, b):
            return np.array((a["n"] + b["n"], a["x"] + b["x"]), dtype=points.dtype)

        self.assertEqual(sf.reduce(points, add).tolist(), (4, 6.0))

    def test_large_elements(self):
        words = np.array([b"a" * 5000, b"c" * 5000, b"b" * 5000])
        self.assertEqual(sf.reduce(words, max), b"c" * 5000)
        self.assertEqual(sf.reduce(words.astype("U5000"), max), "c" * 5000)

    def test_operators_that_fail(self):
        def fails(a, b):
            raise KeyError("no such thing")

        with self.assertRaises(KeyError):
            sf.reduce(np.ones(3), fails)
        with self.assertRaisesRegex(ValueError, "returned shape"):
            sf.reduce(np.ones((3, 2)), lambda a, b: a[:1])
        with self.assertRaises((TypeError, ValueError)):
            sf.reduce(np.ones(3), lambda a, b: "text")
        with self.assertRaises(TypeError):
            sf.reduce(np.ones(3), 5)
        with self.assertRaises(ValueError):
            sf.reduce(np.ones(3), "median")
        with self.assertRaises(TypeError):
            sf.reduce(np.array([object(), object()]), lambda a, b: a)
        with self.assertRaises(sf.EmptyError):
            sf.reduce(np.ones((0, 2)), np.add)

    def test_operands_may_be_kept_and_changed(self):
        kept = []

        def add(a, b):
            kept.append((a, b))
            a += b
            return a

        x = np.arange(12.0).reshape(6, 2)
        result = sf.reduce(x, add)
        np.testing.assert_array_equal(result, x.sum(axis=0))
        self.assertEqual(len({id(a) for a, _ in kept}), 5)
        np.testing.assert_array_equal(kept[0][1], [2.0, 3.0])
        seen, x = [], hostile(np.random.default_rng(SEED), 12).reshape(6, 2)
        before = x.copy()
        with np.errstate(all="ignore"):
            sf.reduce(x, lambda a, b: seen.append((a, b, a.copy(), b.copy())) or a + b)
        for a, b, left, right in seen:
            self.assertEqual(bits([a, b]), bits([left, right]), "the library wrote to operands that were kept")
        self.assertEqual(bits(x), bits(before))


if __name__ == "__main__":
    unittest.main()
