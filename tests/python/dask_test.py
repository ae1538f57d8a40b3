"""Tries steadfold.dask: sums of dask arrays beside the exact ones, on several chunkings, schedulers and processes."""

import itertools
import math
import subprocess
import sys
import unittest
import warnings
from fractions import Fraction

import numpy as np

import steadfold as sf

try:
    import dask
    import dask.array as da

    import steadfold.dask as sfd
except ImportError:
    dask = None

SEED = 18
SHAPE = (12, 10)
CHUNKS = ((12, 10), (5, 3), ((1, 11), (10,)), ((4, 8), (3, 7)), (1, 10), (12, 1))


def setUpModule():
    if dask is None:
        raise unittest.SkipTest("dask is not installed, install dask[array] and distributed")


def hostile(shape=SHAPE, dtype=np.float64, seed=SEED):
    """Numbers of many magnitudes that cancel: their sums keep few digits."""
    random = np.random.default_rng(seed)
    reach = 30 if dtype in (np.float32, np.complex64) else 250
    values = random.standard_normal(shape) * 10.0 ** random.integers(-reach, reach, shape) / 1e3
    flat = values.reshape(-1)
    flat[flat.size // 2:] = -flat[: flat.size - flat.size // 2][::-1] * (1 + (random.random(flat.size - flat.size // 2) < 0.1))
    flat[random.integers(0, flat.size, 5)] = 5e-324, -0.0, 0.0, -5e-324, 1.0
    if np.dtype(dtype).kind == "c":
        return (values + 1j * values[::-1]).astype(dtype)
    return values.astype(dtype)


def bits(values):
    """The bytes of an array, and what it is."""
    array = np.asarray(values)
    return array.dtype, array.shape, array.tobytes()


def value(array):
    return array.compute(scheduler="sync")


class Case(unittest.TestCase):
    def same(self, found, wanted):
        """Bits, and what dask had announced."""
        self.assertEqual(found.dtype, np.asarray(wanted).dtype)
        self.assertEqual(found.shape, np.asarray(wanted).shape)
        self.assertEqual(bits(value(found)), bits(wanted))

    taken = 0

    def on_chunks(self, make, wanted, array):
        """Tries two of the chunkings, and others the next time: one takes dask some milliseconds."""
        for chunks in (CHUNKS[Case.taken % len(CHUNKS)], CHUNKS[(Case.taken + 2) % len(CHUNKS)]):
            with self.subTest(chunks=chunks):
                self.same(make(da.from_array(array, chunks=chunks)), wanted)
        Case.taken += 1


class Sums(Case):
    def test_are_the_correctly_rounded_ones(self):
        x = hostile()
        self.on_chunks(sfd.sum, np.float64(math.fsum(x.ravel())), x)
        columns = np.array([math.fsum(x[:, j]) for j in range(x.shape[1])])
        self.on_chunks(lambda d: sfd.sum(d, axis=0), columns, x)

    def test_control_dasks_own_sums_change_with_the_chunks(self):
        x = hostile()
        found = {bits(value(da.from_array(x, chunks=chunks).sum())) for chunks in CHUNKS}
        self.assertGreater(len(found), 1)
        found = {bits(value(da.from_array(x, chunks=chunks).mean(axis=0))) for chunks in CHUNKS}
        self.assertGreater(len(found), 1)

    def test_have_the_bits_of_the_array_in_memory(self):
        for dtype in (np.float64, np.float32, np.complex128, np.complex64):
            x = hostile(dtype=dtype)
            for axis, keepdims in ((None, False), (None, True), (0, False), (1, True), (-1, False), ((0, 1), False), ((), False)):
                with self.subTest(dtype=dtype, axis=axis, keepdims=keepdims):
                    for operation in ("sum", "mean"):
                        wanted = getattr(sf, operation)(x, axis=axis, keepdims=keepdims)
                        self.on_chunks(lambda d: getattr(sfd, operation)(d, axis, keepdims=keepdims), wanted, x)

    def test_three_axes(self):
        x = hostile((6, 10, 12))
        for axis in (None, 0, (0, 2), (2, 1), -2):
            for chunks in ((6, 10, 12), (2, 3, 5), (1, 10, 4)):
                with self.subTest(axis=axis, chunks=chunks):
                    self.same(sfd.sum(da.from_array(x, chunks=chunks), axis, split_every=3), sf.sum(x, axis))

    def test_results_of_other_widths_are_rounded_once(self):
        middle = np.array([1.0, 2.0**-24, 2.0**-60, 0.0])  # above the middle between two floats, by less than a double shows
        for dtype, x in ((np.float32, middle), (np.float64, middle.astype(np.float32)), (np.float32, hostile())):
            if x.size == 4:
                self.assertEqual(value(sfd.sum(da.from_array(x, chunks=1), dtype=np.float32)), np.float32(1 + 2.0**-23))
            self.same(sfd.sum(da.from_array(x, chunks=2), dtype=dtype), sf.sum(x, dtype=dtype))

    def test_masks_select(self):
        x = hostile()
        x[3, 4], x[10, 8] = np.nan, np.inf
        mask = np.random.default_rng(SEED).random(SHAPE) < 0.4
        mask[3, 4] = mask[10, 8] = False
        mask[:, 7] = False
        for dtype, axis in itertools.product((np.float64, np.complex128), (None, 0, 1)):
            for operation in ("sum", "mean", "norm"):
                with self.subTest(dtype=dtype, axis=axis, operation=operation), warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing
                    wanted = getattr(sf, operation)(x.astype(dtype), axis=axis, where=mask)
                    self.assertFalse(operation == "sum" and np.isnan(wanted).any())
                    self.on_chunks(lambda d: getattr(sfd, operation)(d, axis=axis, where=mask), wanted, x.astype(dtype))
        self.on_chunks(lambda d: sfd.sum(d, where=d > 0), sf.sum(x, where=x > 0), x)
        self.on_chunks(lambda d: sfd.sum(d, 0, where=da.from_array(mask, chunks=(8, 3))), sf.sum(x, 0, where=mask), x)

    def test_zeros_and_what_is_not_finite(self):
        rows = [[-0.0] * 6, [0.0, -0.0] * 3, [np.inf, 1, 2, 3, 4, 5], [np.inf, -np.inf, 1, 2, 3, 4], [np.nan, 1, np.inf, 1, 1, 1],
                [1e308, 1e308, -1e308, 0, 0, -0.0], [1e308] * 6, [5e-324, -5e-324, -0.0, -0.0, -0.0, -0.0]]
        x = np.array(rows)
        for chunks, axis in itertools.product(((1, 2), (3, 1), (8, 6), (2, 4)), (None, 0, 1)):
            with self.subTest(chunks=chunks, axis=axis), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of 1j times infinity
                d = da.from_array(x, chunks=chunks)
                self.same(sfd.sum(d, axis), sf.sum(x, axis))
                self.same(sfd.mean(d, axis), sf.mean(x, axis))
                self.same(sfd.norm(d, axis=axis), sf.norm(x, axis=axis))
                self.same(sfd.sum(d + 1j * d[::-1], axis), sf.sum(x + 1j * x[::-1], axis))
        self.assertEqual(bits(value(sfd.sum(da.from_array(x, chunks=(1, 2)), 1)))[2][:16], np.array([-0.0, 0.0]).tobytes())

    def test_no_elements(self):
        for shape, axis in (((0, 3), 0), ((0, 3), None), ((0,), None)):
            d = da.from_array(np.zeros(shape), chunks=2)
            self.same(sfd.sum(d, axis), np.zeros(np.zeros(shape).sum(axis).shape)[()])
            with self.assertWarns(RuntimeWarning):
                self.assertTrue(np.isnan(value(sfd.mean(d, axis))).all())
        x = hostile((20,))
        d = da.from_array(x, chunks=3)
        self.assertEqual(bits(value(sfd.sum(d[d > 1e300]))), bits(np.float64(0)))

    def test_sizes_that_dask_does_not_know(self):
        x = hostile((200,))
        d = da.from_array(x, chunks=30)
        self.same(sfd.sum(d[d > 0]), sf.sum(x[x > 0]))
        self.same(sfd.dot(d[d > 0], d[d > 0]), sf.dot(x[x > 0], x[x > 0]))


class Products(Case):
    def test_are_the_correctly_rounded_ones(self):
        x, y = hostile() / 1e100, np.abs(hostile(seed=SEED + 1)) / 1e100
        half = x.size // 2
        y.reshape(-1)[half:] = y.reshape(-1)[:half][::-1]  # most products cancel
        exact = sum((Fraction(a) * Fraction(b) for a, b in zip(x.ravel().tolist(), y.ravel().tolist())), Fraction())
        self.on_chunks(lambda d: sfd.dot(d, y), np.float64(float(exact)), x)
        self.assertNotEqual(np.dot(x.ravel(), y.ravel()), float(exact))

    def test_have_the_bits_of_the_arrays_in_memory(self):
        for dtype, axis in itertools.product((np.float64, np.float32, np.complex128), (None, 0, 1)):
            x, y = hostile(dtype=dtype), hostile(dtype=dtype, seed=SEED + 1)
            with self.subTest(dtype=dtype, axis=axis):
                self.on_chunks(lambda d: sfd.dot(d, da.from_array(y, chunks=(6, 24)), axis), sf.dot(x, y, axis), x)
                self.on_chunks(lambda d: sfd.vdot(d, y, axis), sf.vdot(x, y, axis), x)
                self.on_chunks(lambda d: sfd.dot(d, y[0], axis), sf.dot(x, y[0], axis), x)
                self.on_chunks(lambda d: sfd.sum(d, axis, weights=y[:, :1]), sf.sum(x, axis, weights=y[:, :1]), x)
                self.on_chunks(lambda d: sfd.norm(d, axis=axis), sf.norm(x, axis=axis), x)
        x = hostile()
        z = hostile(dtype=np.complex128)  # chunks of one factor are stretched, as its axis is
        self.on_chunks(lambda d: sfd.vdot(d, z[:, :1], split_every=2), sf.vdot(z, z[:, :1]), z)
        self.on_chunks(lambda d: sfd.vdot(d, z[:1], 1), sf.vdot(z, z[:1], 1), z)
        self.on_chunks(lambda d: sfd.norm(d, 1), sf.norm(x, 1), x)
        self.on_chunks(lambda d: sfd.dot(d, x, where=x > 0), sf.dot(x, x, where=x > 0), x)

    def test_one_number_has_no_partners(self):
        x = da.ones(6, chunks=2)
        for y in (2.0, [2.0], np.array([2]), da.ones(1)):
            for call in (lambda: sfd.dot(x, y), lambda: sfd.vdot(x.reshape(2, 3), y), lambda: sfd.sum_by(x, np.asarray(y).astype(int), 3)):  # noqa: B023
                with self.assertRaisesRegex(ValueError, "of 1 number for axes of"):
                    call()
        self.assertEqual([float(value(found)) for found in (sfd.sum(x, weights=2.0), sfd.dot(x[:1], [2.0]), sfd.dot(x.reshape(1, 6), [[2.0]]))], [12.0, 2.0, 12.0])

    def test_wider_factors_widen_the_elements(self):
        for dtype, other in itertools.permutations((np.float32, np.float64, np.complex64, np.complex128), 2):
            x, y = hostile(dtype=dtype), hostile(dtype=other, seed=3)
            if np.dtype(dtype).kind == np.dtype(other).kind:
                self.on_chunks(lambda d: sfd.dot(d, y), sf.dot(x, y), x)  # noqa: B023
                self.on_chunks(lambda d: sfd.sum(d, 0, weights=y), sf.sum(x, 0, weights=y), x)  # noqa: B023

    def test_norms_do_not_overflow(self):
        self.assertEqual(value(sfd.norm(da.from_array(np.array([3 * 2.0**700, 4 * 2.0**700]), chunks=1))), 5 * 2.0**700)


class Spreads(Case):
    """Variances, deviations, weighted means and extremes."""

    def test_have_the_bits_of_the_array_in_memory(self):
        random = np.random.default_rng(SEED)
        mask, weights = random.random(SHAPE) < 0.6, hostile(seed=3)
        mask[0] = True
        far = 1e8 + np.round(random.standard_normal(SHAPE) * 4) / 4  # a variance of doubles has no digit right
        for x in (hostile(), hostile(dtype=np.float32), far, np.where(hostile() > 0, 0.0, -0.0), random.integers(-5, 5, SHAPE)):
            for axis, where, keepdims in ((None, None, False), (0, mask, True), (1, None, False), (0, None, True), (None, mask, True)):
                for name, options in (("var", {"ddof": 1}), ("std", {"dtype": np.float32}), ("min", {}), ("max", {}), ("mean", {"weights": weights})):
                    with self.subTest(name=name, options=options, axis=axis, masked=where is not None, dtype=x.dtype):
                        wanted = getattr(sf, name)(x, axis=axis, keepdims=keepdims, where=where, **options)
                        self.on_chunks(lambda d: getattr(sfd, name)(d, axis, keepdims=keepdims, where=where, **options), wanted, x)  # noqa: B023

    def test_what_is_not_finite(self):
        for odd in (np.nan, -np.inf):
            x, w = hostile(), hostile(seed=3)
            x[3, 4] = w[2, 2] = odd
            for axis in (None, 0):
                for name in ("var", "std", "min", "max"):
                    self.on_chunks(lambda d: getattr(sfd, name)(d, axis), getattr(sf, name)(x, axis), x)  # noqa: B023
                for weights in (w, np.zeros(SHAPE), np.where(w > 0, 1.0, -1.0)):
                    self.on_chunks(lambda d: sfd.mean(d, axis, weights=weights), sf.mean(x, axis, weights=weights), x)  # noqa: B023

    def test_without_elements(self):
        mask = np.ones(SHAPE, bool)
        mask[:, 3] = False
        x = hostile()
        for name in ("var", "std", "min", "max"):
            self.on_chunks(lambda d: getattr(sfd, name)(d, 0, where=mask), getattr(sf, name)(x, 0, where=mask), x)  # noqa: B023
            self.same(getattr(sfd, name)(da.zeros((3, 0), chunks=1), 0), getattr(sf, name)(np.zeros((3, 0)), 0))
            self.same(getattr(sfd, name)(da.from_array(x, chunks=((0, 12, 0), (10,))), 0), getattr(sf, name)(x, 0))
            self.same(getattr(sfd, name)(da.from_array(x, chunks=5)[x > 0]), getattr(sf, name)(x[x > 0]))  # sizes that dask does not know
        for array in (x, x.astype(np.float32)):
            with self.assertRaises(sf.EmptyError):
                value(sfd.min(da.from_array(array, chunks=5), where=np.zeros(SHAPE, bool)))
        with self.assertRaises(sf.EmptyError):
            value(sfd.max(da.ones(SHAPE, dtype=int, chunks=5), 0, where=mask))
        one, none = np.ones((4, 1)), np.zeros((4, 1), bool)
        for keepdims in (False, True):
            self.same(sfd.min(da.from_array(one, chunks=1), 0, keepdims, none), sf.min(one, 0, keepdims=keepdims, where=none))
        for array, axis, where in ((one[:, 0], 0, none[:, 0]), (one, None, none), (np.ones((0, 2)), 0, None), (np.ones((0, 1)), 0, None)):
            for call in (lambda: sf.min(array, axis, where=where), lambda: value(sfd.min(da.from_array(array, chunks=(((0, 0) if array.size == 0 else (2, 2)), *array.shape[1:])), axis, where=where))):  # noqa: B023
                with self.assertRaises(sf.EmptyError):
                    call()

    def test_what_is_refused(self):
        d = da.ones(SHAPE, chunks=5)
        for call, text in [
            (lambda: sfd.var(d, ddof=2), "ddof of 2"), (lambda: sfd.std(d + 1j), "deviation of dtype complex128"),
            (lambda: sfd.min(d.astype("U3")), "chunks of dtype <U3"), (lambda: sfd.max(d + 1j), "max of dtype complex128"),
            (lambda: sfd.mean(d + 1j, weights=d), "weighted mean of dtype complex128"), (lambda: sfd.mean(d, weights=d + 1j), "weighted mean of dtype complex128"),
            (lambda: value(sfd.max(da.zeros((4, 2), dtype=bool, chunks=1), 0, where=np.zeros((4, 2), bool))), "max of no elements"), (lambda: sfd.var(d, dtype=int), "results of dtype int64"),
            (lambda: value(sfd.var(da.full(SHAPE, 2**53 + 1, chunks=5))), "above 2..53"),
        ]:  # fmt: skip
            with self.assertRaisesRegex((TypeError, ValueError), text):
                call()

    def test_sums_above_the_largest_double(self):
        large = np.array([1.7e308, 1.1e308, 1.5e308, 1.7e308, 5e-324, 1.0, -0.0, 1e308])
        for x in (large, -large, np.full(8, 1.7e308), large * [1, 1, 1, 1, 1, 1, 1, -1], large * [1, -1, 1, -1, 1, 1, 1, -1], [1e308, -1e308] * 4, [-1e308, 2.0**1020, 1.0, np.inf] * 2):
            x = np.array(x)
            pairs = np.stack([x, x[::-1]], axis=1)
            for chunks, axis in ((1, None), (3, 0)):
                with self.subTest(x=x, axis=axis):
                    d = da.from_array(pairs, chunks=(chunks, 2))
                    self.same(sfd.var(d, axis), sf.var(pairs, axis))
                    self.same(sfd.std(d, axis, ddof=1), sf.std(pairs, axis, ddof=1))
                    for elements in (pairs, pairs[:, ::-1], pairs / 1e308, np.zeros((8, 2)), np.ones((8, 2)), np.full((8, 2), -np.inf)):
                        self.same(sfd.mean(da.from_array(elements, chunks=(chunks, 2)), axis, weights=pairs), sf.mean(elements, axis, weights=pairs))

    def test_the_middle_of_the_largest_float32_and_infinity(self):
        middle = 2.0**128 - 2.0**103
        for x, weights in (([middle, 0, 0, 0], [2.0**80, 1, 0, 0]), ([middle, middle * 2, 0, 0], [2.0**80, 1, 0, 0]), ([middle] * 4, [1.0] * 4),
                           ([np.nextafter(middle, 0)] * 4, [1.0] * 4), ([1e300] * 4, [1.0] * 4)):
            for sign in (1, -1):
                x = np.array(x) * sign
                self.same(sfd.mean(da.from_array(x, chunks=1), dtype="f4", weights=np.array(weights)), sf.mean(x, dtype="f4", weights=weights))
        below = da.from_array(np.array([middle, 0.0]), chunks=1)
        self.assertEqual(value(sfd.mean(below, dtype="f4", weights=np.array([2.0**80, 1]))), np.finfo("f4").max)


class Integers(Case):
    def test_wrap_as_numpys_do(self):
        random = np.random.default_rng(SEED)
        for dtype in (np.int64, np.uint64, np.int32, np.uint8, np.int16):
            limits = np.iinfo(dtype)
            x = random.integers(limits.min, limits.max, SHAPE, dtype, endpoint=True)
            for axis in (None, 0, 1):
                with self.subTest(dtype=dtype, axis=axis):
                    self.on_chunks(lambda d: sfd.sum(d, axis), sf.sum(x, axis), x)
                    self.on_chunks(lambda d: sfd.dot(d, x, axis), sf.dot(x, x, axis), x)
                    self.on_chunks(lambda d: sfd.mean(d, axis), sf.mean(x, axis), x)
                    self.on_chunks(lambda d: sfd.sum(d, axis, where=x > 5), sf.sum(x, axis, where=x > 5), x)
        exact = Fraction(sum(int(i) for i in x.ravel()), x.size)
        self.assertEqual(value(sfd.mean(da.from_array(x, chunks=7))), float(exact))

    def test_of_the_other_byte_order(self):
        random = np.random.default_rng(SEED)
        for dtype in (">i8", ">u8", ">i4", ">u2", ">f8", ">f4", ">c16"):
            kind = np.dtype(dtype).kind
            x = (random.integers(0, 2**15, SHAPE) if kind in "iu" else hostile(dtype=np.complex128 if kind == "c" else np.float32)).astype(dtype)
            if dtype[1:] in ("i8", "u8"):
                x[3, 4] = 2**62 + 1
            keys = (random.integers(-1, 4, SHAPE)).astype(">i4")
            for name in ("sum", "mean", "norm") if kind == "c" else ("sum", "mean", "min", "max", "dot"):
                for axis in (None, 0):
                    with self.subTest(dtype=dtype, name=name, axis=axis):
                        if name == "norm":
                            self.on_chunks(lambda d: sfd.norm(d, axis=axis), sf.norm(x, axis=axis), x)  # noqa: B023
                        elif name == "dot":
                            self.on_chunks(lambda d: sfd.dot(d, x, axis), sf.dot(x, x, axis), x)  # noqa: B023
                        else:
                            self.on_chunks(lambda d: getattr(sfd, name)(d, axis), getattr(sf, name)(x, axis), x)  # noqa: B023
                if name in ("sum", "min", "max"):
                    groups = sf.group_by(keys, 4)
                    self.on_chunks(lambda d: getattr(sfd.group_by(keys, 4), name)(d), getattr(groups, name)(x), x)  # noqa: B023
            if kind in "iu":
                self.on_chunks(lambda d: sfd.sum(d, dtype=">f4"), sf.sum(x, dtype=">f4"), x)  # noqa: B023
                self.on_chunks(lambda d: sfd.std(d[:2]), sf.std(x[:2]), x)  # noqa: B023

    def test_of_bool_are_counts(self):
        x = np.random.default_rng(SEED).random(SHAPE) < 0.3
        self.on_chunks(sfd.sum, np.int64(np.count_nonzero(x)), x)
        self.on_chunks(sfd.mean, np.float64(np.count_nonzero(x) / x.size), x)

    def test_in_floating_point_are_rounded_once(self):
        x = np.array([2**63 - 1, 2**63 - 1, 1, 2**10, -(2**62), 3])
        exact = sum(int(i) for i in x)
        for chunks in (1, 2, 6):
            self.same(sfd.sum(da.from_array(x, chunks=chunks), dtype=np.float64), np.float64(exact))
        middle = np.array([2**60 + 2**36, 1, 0])  # the double is in the middle between two floats
        wanted = np.float32(2.0**60 + 2.0**37)
        self.assertNotEqual(np.float32(float(2**60 + 2**36 + 1)), wanted)
        for chunks in (1, 3):
            self.same(sfd.sum(da.from_array(middle, chunks=chunks), dtype=np.float32), wanted)
            self.same(sfd.sum(da.from_array(-middle, chunks=chunks), dtype=np.float32), -wanted)


class Groups(Case):
    def test_have_the_bits_of_the_array_in_memory(self):
        x, y = hostile(), hostile(seed=SEED + 1) / 1e200
        labels = np.random.default_rng(SEED).integers(-1, 9, SHAPE)
        labels[labels == 3] = 4
        mask = labels % 2 == 0
        self.on_chunks(lambda d: sfd.sum_by(d, labels, 9), sf.sum_by(x, labels, 9), x)
        self.on_chunks(lambda d: sfd.sum_by(d, labels[0], 12, where=mask), sf.sum_by(x, labels[0], 12, where=mask), x)
        self.on_chunks(lambda d: sfd.sum_by(d, labels, 9, weights=y), sf.sum_by(x, labels, 9, weights=y), x)
        z = x + 1j * x[::-1]
        self.on_chunks(lambda d: sfd.sum_by(d, labels, 9), sf.sum_by(z, labels, 9), z)
        wanted = np.array([math.fsum(x[labels == group]) for group in range(9)])
        self.same(sfd.sum_by(da.from_array(x, chunks=(7, 5)), labels, 9), wanted)

    def test_of_keys_have_the_bits_of_the_array_in_memory(self):
        random = np.random.default_rng(SEED)
        names = np.array(["b", "", "longer", "a"])[random.integers(0, 4, SHAPE)]
        for keys in (names, random.integers(-2, 2, SHAPE), random.integers(0, 2, SHAPE) > 0, names.astype("S"), np.array(["2020", "NaT", "1999"], "M8[Y]")[random.integers(0, 3, SHAPE)]):
            for chunks in CHUNKS[1:4]:
                found, wanted = sfd.group_by(da.from_array(keys, chunks=chunks)), sf.group_by(keys)
                self.assertEqual(bits(found.keys), bits(wanted.keys))
                self.assertEqual(bits(value(found.labels)), bits(wanted.labels))
        mask, weights, groups = random.random(SHAPE) < 0.6, hostile(seed=3), sf.group_by(names)
        for dtype in (np.float64, np.float32, np.int32, np.bool_):
            x = hostile(dtype=dtype) if dtype in (np.float64, np.float32) else random.integers(0, 2, SHAPE).astype(dtype)
            for chunks in CHUNKS[1:3]:
                d, cut = da.from_array(x, chunks=chunks), sfd.group_by(da.from_array(names, chunks=chunks))
                for name, options in self.METHODS:
                    with self.subTest(name=name, dtype=dtype, chunks=chunks):
                        self.same(getattr(cut, name)(d, where=mask, **options), getattr(groups, name)(x, where=mask, **options))
                self.same(cut.mean(d, weights=weights), groups.mean(x, weights=weights))
                if dtype != np.bool_:
                    self.same(cut.dot(d, x), groups.dot(x, x))
                self.same(cut.count(mask), groups.count(mask))
        rows, x = sfd.group_by(names[0]), da.from_array(hostile(), chunks=5)  # the keys are broadcast to the elements
        self.same(rows.count(), sf.group_by(names[0]).count())
        self.same(rows.count(x=x), sf.group_by(names[0]).count() * len(x))
        self.same(rows.count(mask, x=x), sf.group_by(np.broadcast_to(names[0], SHAPE)).count(mask))
        with self.assertRaisesRegex(ValueError, "where of shape .12, 10. for elements of shape .10,."):
            rows.count(mask)
        empty = sfd.group_by(da.from_array([2, -1, 2], chunks=1), 4)
        self.same(empty.mean(da.ones(3, chunks=1)), sf.group_by([2, -1, 2], 4).mean(np.ones(3)))
        self.same(empty.max(da.ones(3, chunks=1)), sf.group_by([2, -1, 2], 4).max(np.ones(3)))
        with self.assertRaisesRegex(sf.EmptyError, "max of no elements"):
            value(empty.max(da.ones(3, chunks=1, dtype=int)))

    METHODS = (("sum", {}), ("mean", {}), ("var", {}), ("std", {"ddof": 1}), ("min", {}), ("max", {}))

    def test_what_keys_are_refused(self):
        with self.assertRaisesRegex(TypeError, "keys of dtype float64"):
            sfd.group_by(da.ones(3))
        for call in (lambda: sfd.sum_by(da.ones(3, chunks=2), np.ma.array([1, 2, 3], mask=[0, 1, 0]), 4), lambda: sfd.group_by(np.ma.array([1, 2], mask=[0, 1]))):
            with self.assertRaisesRegex(TypeError, "a masked array"):
                call()
        with self.assertRaisesRegex(TypeError, "keys of the types int, str"):
            sfd.group_by(["a", 1])
        self.assertEqual(sfd.group_by(["a\0", "a"]).keys.tolist(), ["a", "a\0"])
        with self.assertRaisesRegex(ValueError, "0 groups"):
            sfd.group_by(da.zeros(3, dtype=int), 0)
        with self.assertRaisesRegex(TypeError, "labels of dtype float64"):
            sfd.sum_by(da.ones(3), da.zeros(3), 2)
        with self.assertRaisesRegex(TypeError, "keys of dtype float64"):
            sfd.group_by(da.zeros(3), 2)
        with self.assertRaisesRegex(ValueError, r"keys of 1 number .* da.broadcast_to\(keys, x.shape\)"):
            sfd.group_by([1]).sum(da.ones(3))
        with self.assertRaisesRegex(ValueError, "labels of shape .4,. for elements of shape .3,."):
            sfd.sum_by(da.ones(3), da.zeros(4, dtype=int), 2)
        with self.assertRaisesRegex(ValueError, "keys of shape .4,. for elements of shape .3,."):
            sfd.group_by(da.zeros(4, dtype=int)).sum(da.ones(3))
        mixed = da.from_array(np.array(["a", b"b"], object), chunks=1)
        with self.assertRaisesRegex(sf.MismatchError, "keys of str on part 0 and bytes on part 1"):
            sfd.group_by(mixed)

    def test_keys_that_change_are_refused(self):
        for first, second in (([1, 3, 5], [1, 4, 5]), ([1, 3, 5], [1, 3, 6]), (["a", "b", "a"], ["a", "aa", "b"]), ([1, 2, 1], ["1", "2", "1"]), (["NaT"] * 3, ["2020"] * 3)):
            turns = iter(np.array(each, "M8[Y]" if "NaT" in first else None) for each in (first, second))
            keys = da.from_delayed(dask.delayed(lambda turns=turns: next(turns), pure=False)(), (3,), np.array(first).dtype)
            with dask.config.set(scheduler="sync"):
                groups = sfd.group_by(keys)
                with self.assertRaisesRegex((ValueError, TypeError), "some were not there .*persist|not supported between"):
                    groups.sum(da.ones(3)).compute()

    def test_a_label_beyond_the_groups_is_an_error(self):
        with self.assertRaisesRegex(sf.InvalidArgumentError, "a label of 5 "):
            value(sfd.sum_by(da.ones(6, chunks=2), np.arange(6), 5))


class Errors(Case):
    def test_say_what_to_do(self):
        x = da.ones((4, 6), chunks=2)
        cases = [
            (TypeError, lambda: sfd.sum(x.astype(np.float16))), (TypeError, lambda: sfd.sum(x, dtype=np.int64)),
            (TypeError, lambda: sfd.sum(x, dtype=np.float16)), (TypeError, lambda: sfd.sum(x.astype(object))),
            (ValueError, lambda: sfd.dot(x, np.ones((4, 5)))), (ValueError, lambda: sfd.norm(x, 3)),
            (ValueError, lambda: sfd.sum(x, (0, -2))), (np.exceptions.AxisError, lambda: sfd.sum(x, 2)),
            (TypeError, lambda: sfd.sum_by(x, np.zeros(6, int), 1, dtype=np.int64)), (ValueError, lambda: sfd.sum_by(x, np.zeros(6, int), 0)),
        ]
        for number, (kind, call) in enumerate(cases):
            with self.subTest(number), self.assertRaises(kind) as caught:
                call()
            if kind is not np.exceptions.AxisError:
                self.assertRegex(str(caught.exception), r"^.+ \(.+\), .+$|twice")
        for call in (lambda: sfd.sum(x, where=x), lambda: sfd.dot(x, da.full((4, 6), 2**53 + 1, chunks=2))):
            with self.assertRaises(TypeError):
                value(call())

    def test_masks_of_masked_arrays_are_not_overlooked(self):
        x = np.ma.array(np.arange(4.0), mask=[0, 1, 0, 0])
        d = da.from_array(x, chunks=2)
        calls = [lambda: sfd.sum(d), lambda: sfd.sum(x), lambda: sfd.mean(d.astype(int)), lambda: sfd.dot(np.ones(4), d), lambda: sfd.norm(d), lambda: sf.sum(d),
                 lambda: sfd.sum_by(da.ones(4), d.astype(int), 4), lambda: sfd.sum(da.ones(4), where=d > 1),
                 lambda: value(sfd.sum(da.ones(4, chunks=2).map_blocks(np.ma.asarray, meta=np.empty(0)))),  # what dask was not told of
                 lambda: value(sfd.mean(da.ones(4, int, chunks=2).map_blocks(np.ma.asarray, meta=np.empty(0, int))))]  # fmt: skip
        for number, call in enumerate(calls):
            with self.subTest(number), self.assertRaisesRegex(TypeError, r"masked array.* give da.ma.getdata\(x\) and where=~da.ma.getmaskarray\(x\)"):
                call()
        self.assertEqual(value(sfd.sum(da.ma.getdata(d), where=~da.ma.getmaskarray(d))), 5.0)


class Workers(Case):
    def test_threads(self):
        x = hostile((40_000,))
        wanted = bits(sf.sum(x))
        for threads, chunks in itertools.product((1, 3), (100, 977)):
            with dask.config.set(scheduler="threads", num_workers=threads):
                self.assertEqual(bits(sfd.sum(da.from_array(x, chunks=chunks)).compute()), wanted)

    def test_processes_of_a_cluster(self):
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            self.skipTest("distributed is not installed")
        x = hostile((12_000, 4))
        labels = np.arange(12_000)[:, None] % 7
        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
            d = da.from_array(x, chunks=(1000, 2))
            found = client.compute([sfd.sum(d), sfd.sum(d, 0), sfd.norm(d), sfd.sum_by(d, labels, 7)])
            found = client.gather(found)
            held = client.persist(da.map_blocks(_with_process, d, dtype=float))  # chunks are on both workers
            self.assertEqual(len(np.unique(value_of(client, held))), 2)
        wanted = [sf.sum(x), sf.sum(x, 0), sf.norm(x), sf.sum_by(x, labels, 7)]
        self.assertEqual([bits(one) for one in found], [bits(one) for one in wanted])

    def test_steadfold_needs_no_dask(self):
        code = "import sys; sys.modules['dask'] = sys.modules['dask.array'] = None; import steadfold"
        subprocess.run([sys.executable, "-c", code], check=True)
        done = subprocess.run([sys.executable, "-c", code + "; import steadfold.dask"], capture_output=True, text=True)
        self.assertIn("pip install 'dask[array]'", done.stderr)


def _with_process(block):
    import os

    return np.full(block.shape, float(os.getpid()))


def value_of(client, array):
    return client.gather(client.compute(array))


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main()
