"""Reductions by key and of series: the bits of each group alone, on any number of workers, and what is refused."""

from __future__ import annotations

import enum
import itertools
import unittest
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import steadfold as sf
from support import bits, hostile

SEED = 20261202
KEYS = {
    "integers": np.array([3, -1, 3, 7, -1, 3, 0], "i2"),
    "large": np.array([2**63, 1, 2**63, 5, 1, 0, 5], "u8"),
    "bool": np.array([True, False, True, True, False, False, True]),
    "strings": ["b", "", "b", "é", "aaaaaaaaaaaaaaaaaaa", "b", "\ud800"],
    "bytes": np.array([b"b", b"a\0b", b"b", b"\xff", b"", b"b", b"a\0b"]),
    "ends in nulls": np.array([b"a\0", b"a", b"a\0\0", b"a", b"a\0", b"", b"\0"], object),
    "dates": np.array(["2020-02", "NaT", "2019-12", "2020-02", "NaT", "2019-12", "1960-01"], "M8[M]"),
    "durations": np.array([5, -3, 5, 2, -3, 5, 5], "m8[s]"),
    "missing": np.array(["x", None, "y", None, "x", "x", "y"], object),
    "missing, as in pandas": np.array(["x", np.nan, "y", None, "x", "x", "y"], object),
    "other byte order": np.array([3, 1, 3, 7, 1, 3, 0], ">i4"),
}  # fmt: skip


def on_workers(size, call):
    """The results of `call(worker, member)` on a team."""
    team = sf.Team(size, timeout=60)
    with ThreadPoolExecutor(size) as threads:
        return list(threads.map(lambda worker: call(worker, team[worker]), range(size)))


def refusals(size, call):
    """The errors of all workers, which must all raise, and can go on."""

    def attempt(worker, member):
        try:
            return f"no error: {call(worker, member)}"
        except Exception as error:
            assert sf.sum([1.0], comm=member) == size
            return f"{type(error).__name__}: {error}"

    return on_workers(size, attempt)


def split(array, size):
    return np.array_split(np.asarray(array), size)


class Keys(unittest.TestCase):
    def test_every_kind(self):
        for name, keys in KEYS.items():
            given = [key if key == key else None for key in np.asarray(keys, None if isinstance(keys, np.ndarray) else object).tolist()]
            found = sf.group_by(keys)
            expected = sorted({key for key in given if key is not None})
            self.assertEqual(found.keys.tolist(), expected, name)
            self.assertEqual(found.labels.tolist(), [-1 if key is None else expected.index(key) for key in given], name)
            self.assertEqual(found.count().tolist(), [given.count(key) for key in expected], name)
            self.assertEqual(len(found), len(expected))

    def test_every_distribution(self):
        for name, keys in KEYS.items():
            alone = sf.group_by(keys)
            parts = np.asarray(keys, object if isinstance(keys, list) else None)
            for size in (1, 3, 4, 7, 8):
                found = on_workers(size, lambda worker, member: sf.group_by(split(parts, size)[worker], comm=member))
                for each in found:
                    self.assertEqual(bits(each.keys) if each.keys.dtype != object else each.keys.tolist(),
                                     bits(alone.keys) if alone.keys.dtype != object else alone.keys.tolist(), (name, size))
                self.assertEqual(np.concatenate([each.labels for each in found]).tolist(), alone.labels.tolist(), (name, size))

    def test_dtypes_of_ranks(self):
        found = on_workers(3, lambda worker, member: sf.group_by(np.array([1, 200], ["u1", "i4", "i8"][worker]), comm=member))
        self.assertEqual({each.keys.dtype.name for each in found}, {"int64"})
        found = on_workers(3, lambda worker, member: sf.group_by([[], ["a"], np.array(["longer"])][worker], comm=member))
        self.assertEqual([each.keys.tolist() for each in found], [["a", "longer"]] * 3)
        for other, name in ((["a"], "str"), ([b"a"], "bytes"), ([True], "bool"), (np.array([1], "u8"), "u8"), (np.array(["2020"], "M8[Y]"), "M8[Y]")):
            texts = refusals(3, lambda worker, member: sf.group_by(other if worker == 1 else [-1], comm=member))  # noqa: B023
            self.assertEqual(texts, [f"MismatchError: keys of i8 on rank 0 and {name} on rank 1 (all ranks must have keys of one dtype, or give "
                                     "the same number of groups), convert the keys"] * 3)
        texts = refusals(3, lambda worker, member: sf.group_by([0], 3 if worker == 2 else None, comm=member))
        self.assertEqual(texts, ["MismatchError: keys of i8 on rank 0 and labels of 3 on rank 2 (all ranks must have keys of one dtype, or give the "
                                 "same number of groups), convert the keys"] * 3)
        texts = refusals(3, lambda worker, member: sf.group_by([0] if worker else [], 3 if worker else None, comm=member))
        self.assertEqual({text.split(" (")[0] for text in texts}, {"MismatchError: keys of no dtype on rank 0 and labels of 3 on rank 1"})
        for empty in ([], np.array([None], object), np.empty(0, "U3"), np.array(["NaT"], "M8[s]")):
            found = on_workers(3, lambda worker, member: sf.group_by(empty if worker else [], comm=member))  # noqa: B023
            self.assertEqual([len(each) for each in found], [0, 0, 0])
        texts = refusals(3, lambda worker, member: sf.group_by([0], 2 + worker % 2, comm=member))
        self.assertIn("labels of 2 on rank 0 and labels of 3 on rank 1", texts[2])

    def test_subclasses_of_str(self):
        season = enum.Enum("Season", {"WINTER": "w", "SUMMER": "s"}, type=str)
        self.assertEqual(sf.group_by([season.WINTER, season.SUMMER]).keys.tolist(), ["s", "w"])
        labels = np.array([1, 2])
        groups = sf.group_by(labels, 3)
        labels[:] = 0
        self.assertEqual(groups.sum([1.0, 2.0]).tolist(), [0.0, 1.0, 2.0])

    def test_no_keys(self):
        for empty in ([], np.empty(0, "U3"), np.empty((0, 3), int), [None, None]):
            found = sf.group_by(np.array(empty, object) if None in empty else empty)
            self.assertEqual(len(found), 0)
            x = np.ones(found.labels.shape)
            for values in (found.sum(x), found.mean(x), found.var(x), found.count()):
                self.assertEqual(values.shape, (0,))
            for dtype in ("f8", "f4", "i8", "u1", "bool", ">i4", "g"):
                self.assertEqual(bits(found.min(x.astype(dtype))), bits(np.empty(0, np.dtype(dtype).newbyteorder("="))))
        found = on_workers(3, lambda worker, member: sf.group_by([], comm=member).max(np.zeros((0, 2), int), axis=0, root=1))
        self.assertEqual([None if each is None else bits(each) for each in found], [None, bits(np.zeros((0, 2), int)), None])
        found = sf.group_by([2, -1, 2], 4)
        self.assertEqual(found.keys.tolist(), [0, 1, 2, 3])
        self.assertEqual(found.count().tolist(), [0, 0, 2, 0])
        self.assertEqual(np.isnan(found.mean([1.0, 2.0, 3.0])).tolist(), [True, True, False, True])

    def test_what_is_refused(self):
        groups = sf.group_by(["a", "b", "a", "b"])
        for call, text in [
            (lambda: sf.group_by(None), "keys are None"),
            (lambda: sf.group_by([1.0, 2.0]), "keys of dtype float64 .keys are integers, bool, strings, bytes or dates"),
            (lambda: sf.group_by([1, "a"]), "keys of the types int, str"),
            (lambda: sf.group_by([b"a", "a"]), "keys of the types bytes, str"),
            (lambda: sf.group_by(np.array([1, None])), "keys of the types int "),
            (lambda: sf.group_by(np.ma.array([1, 2], mask=[True, False])), "a masked array"),
            (lambda: sf.group_by([0, 1], 0), "0 groups"),
            (lambda: sf.group_by([0, 1], 1.5), "integer"),
            (lambda: sf.group_by([0, 5], 2).sum([1.0, 2.0]), "label 5 of element 1"),
            (lambda: sf.group_by(["a"], 2), "keys of dtype <U1 .keys must be integers"), (lambda: sf.sum_by([1.0], ["a"], 2), "labels of dtype <U1"),
            (lambda: groups.mean([1] * 4, dtype="i8"), "results of dtype int64"), (lambda: groups.var([1] * 4, dtype="i8"), "results of dtype int64 for elements of dtype int64"),
            (lambda: groups.mean([1] * 4, method="plain"), "mean of f64 with method plain"), (lambda: sf.norm([1, 2], dtype="i8"), "results of dtype int64 for elements of dtype int64"),
            (lambda: groups.sum(np.ones((4, 2))), r"keys of shape \(4,\) for reduced axes of shape \(4, 2\)"),
            (lambda: groups.sum([1.0]), r"for reduced axes of shape \(1,\)"),
            (lambda: groups.sum(1.0), r"for reduced axes of shape \(\)"),
            (lambda: groups.sum(np.ones((4, 2)), axis=1), r"for reduced axes of shape \(2,\)"),
            (lambda: groups.sum(np.ones((4, 2)), axis=2), "axis 2 is out of bounds"),
            (lambda: groups.dot([1.0] * 4, [1.0]), "y of 1 number"),
            (lambda: groups.var([1.0] * 4, ddof=2), "ddof of 2"),
            (lambda: groups.corr([1j] * 4, [1.0] * 4), "correlation of dtype complex128"),
            (lambda: groups.max(["a"] * 4), "are texts, not numbers"),
            (lambda: groups.min([1, 2, 3, 4], where=[True, False, True, False]), "nothing to reduce"),
        ]:
            with self.assertRaisesRegex((TypeError, ValueError, sf.Error), text):
                call()
        for call in (lambda worker, member: sf.group_by([1.5] if worker == 1 else [1], comm=member),
                     lambda worker, member: sf.group_by([1, 2], comm=member).sum([1.0] * (3 if worker == 1 else 2)),
                     lambda worker, member: sf.group_by([1, 2], comm=member).mean("ab" if worker == 1 else [1, 2])):
            texts = refusals(3, call)
            self.assertTrue(all("no error" not in text for text in texts), texts)


class Groups(unittest.TestCase):
    """Each result has the bits of its group alone."""

    METHODS = (
        ("sum", {}), ("sum", {"method": "binned"}), ("sum", {"dtype": "f4"}), ("mean", {}), ("min", {}), ("max", {}), ("var", {"ddof": 1}),
        ("std", {}), ("statistics", {}), ("sum", {"weights": "y"}), ("mean", {"weights": "y"}), ("dot", {"y": "y"}), ("corr", {"y": "y"}),
    )  # fmt: skip

    def check(self, x, y, keys, where=None):
        distinct = sorted(set(keys.tolist()))
        for name, options in self.METHODS:
            chosen = [(keys == key) & (True if where is None else where) for key in distinct]
            alone = [getattr(sf, name)(x[rows], **{k: y[rows] if isinstance(v, str) and v == "y" else v for k, v in options.items()}) for rows in chosen]
            given = {k: y if isinstance(v, str) and v == "y" else v for k, v in options.items()}
            whole = getattr(sf.group_by(keys), name)(x, where=where, **given)
            for size in (3, 5) if where is None else ():
                parts = {k: split(v, size) for k, v in given.items() if isinstance(v, np.ndarray)}
                found = on_workers(size, lambda worker, member: getattr(sf.group_by(split(keys, size)[worker], comm=member), name)(
                    split(x, size)[worker], **{**given, **{k: v[worker] for k, v in parts.items()}}))  # noqa: B023
                for each in found:
                    self.assertEqual([bits(v) for v in each] if name == "statistics" else bits(each),
                                     [bits(v) for v in whole] if name == "statistics" else bits(whole), (name, options, size))
            if name == "statistics":
                for field, values in zip(whole._fields, whole):
                    if not field.endswith("index"):
                        self.assertEqual(bits(values), bits(np.array([getattr(each, field) for each in alone])), (name, field))
            else:
                self.assertEqual(bits(whole), bits(np.array(alone)), (name, options))

    def test_bits(self):
        rng = np.random.default_rng(SEED)
        print("seed", SEED)
        keys = np.array(["one", "two", "three", "four"])[rng.integers(0, 4, 90)]
        for dtype in (np.float64, np.float32):
            self.check(hostile(rng, 90, dtype), hostile(rng, 90, dtype), keys)
        self.check(rng.standard_normal(90), rng.random(90), keys, rng.random(90) < 0.7)
        many = rng.permutation(np.append(np.arange(300), rng.integers(0, 300, 600)))  # so many groups share a builder
        self.check(hostile(rng, 900), hostile(rng, 900), many)
        plain = rng.standard_normal(90) * 10.0 ** rng.integers(-8, 8, 90)
        by_numpy = np.bincount(sf.group_by(keys).labels, plain)
        self.assertNotEqual(bits(by_numpy), bits(sf.group_by(keys).sum(plain)), "bincount would do, and this shows nothing")

    def test_columns(self):
        rng = np.random.default_rng(SEED)
        x, keys = hostile(rng, 60).reshape(12, 5), np.array([0, 1, 2] * 4)
        groups = sf.group_by(keys)
        for column in range(5):
            self.assertEqual(bits(groups.sum(x, axis=0)[:, column]), bits(groups.sum(x[:, column])))
            self.assertEqual(bits(groups.std(x, axis=0)[:, column]), bits(groups.std(x[:, column])))
        self.assertEqual(bits(groups.mean(x.T, axis=1)), bits(groups.mean(x, axis=0)))
        self.assertEqual(bits(groups.mean(x, axis=0, weights=x[:, :1])[:, 1]), bits(groups.mean(x[:, 1], weights=x[:, 0])))
        square = sf.group_by(np.arange(25).reshape(5, 5) % 3)
        self.assertEqual(bits(square.sum(x[:5])), bits(sf.sum_by(x[:5], np.arange(25).reshape(5, 5) % 3, 3)))

    def test_integers(self):
        groups, x = sf.group_by([1, 0, 1, 1]), np.array([4, 2**53, 5, 5])
        for dtype in ("i8", "i4", "u8", "i1", "u2", "bool"):
            narrow = (x % 100).astype(dtype)
            self.assertEqual(groups.mean(narrow).tolist(), [sf.mean(narrow[1:2]), sf.mean(narrow[[0, 2, 3]])])
            self.assertEqual(bits(groups.max(narrow)), bits(np.array([sf.max(narrow[1:2]), sf.max(narrow[[0, 2, 3]])])))
        self.assertEqual(groups.sum(x).tolist(), [2**53, 14])
        self.assertEqual(groups.mean(x, dtype="f4").dtype, np.float32)
        with self.assertRaisesRegex(TypeError, "above 2..53"):
            groups.mean(x + 1)

    def test_root(self):
        found = on_workers(3, lambda worker, member: [
            getattr(sf.group_by(["a", "b"], comm=member), name)([1.0, 2.0], root=1) for name in ("sum", "mean", "std", "statistics")])
        self.assertEqual([each[0] is None for each in found], [True, False, True])
        self.assertEqual([each[3] is None for each in found], [True, False, True])


class Series(unittest.TestCase):
    def test_sums_up_to_each(self):
        rng = np.random.default_rng(SEED)
        for x in (hostile(rng, 80), hostile(rng, 80, np.float32), hostile(rng, 60).view("c16"), hostile(rng, 84).reshape(12, 7), rng.integers(-9, 9, 50),
                  np.array([2**63, 2**63, 5], "u8"), np.array([True, False, True]), np.array([-0.0, -0.0, 0.0, -0.0]), np.array([1.0, np.inf, -np.inf, 2.0]),
                  np.zeros(0), np.zeros((3, 0)), rng.standard_normal(9).astype("f2")):
            for axis in (None, *range(x.ndim)):
                found = sf.cumsum(x, axis)
                lines, of = (x.reshape(1, -1), found.reshape(1, -1)) if axis is None else (np.moveaxis(x, axis, -1), np.moveaxis(found, axis, -1))
                for index in np.ndindex(lines.shape[:-1]):
                    alone = [sf.sum(lines[index][:count]) for count in range(1, lines.shape[-1] + 1)]
                    self.assertEqual(bits(of[index]), bits(np.array(alone, found.dtype)))
                for size in (1, 3, 5, 8):
                    parts = np.array_split(x.reshape(-1) if axis is None else x, size, axis or 0)
                    pieces = on_workers(size, lambda worker, member: sf.cumsum(parts[worker], axis, comm=member))  # noqa: B023
                    self.assertEqual(bits(np.concatenate(pieces, axis or 0)), bits(found), (x.dtype, x.shape, axis, size))
        x = hostile(rng, 80)
        unaligned = np.frombuffer(b"\0" + x.tobytes(), offset=1)
        for strided in (x[::-2], x.reshape(8, 10)[:, 3], unaligned, np.stack([x, x], 1).astype(">f8")[:, 0], x.tolist()):
            contiguous = np.array(strided, float)
            self.assertEqual(bits(sf.Accumulator().cumulate(strided)), bits(sf.Accumulator().cumulate(contiguous)))
            self.assertEqual(bits(sf.cumsum(strided)), bits(sf.cumsum(contiguous)))
        self.assertEqual(bits(sf.cumsum(x, dtype="f4")), bits(np.array([sf.sum(x[:i + 1], dtype="f4") for i in range(80)])))
        self.assertNotEqual(bits(np.cumsum(x)), bits(sf.cumsum(x)), "NumPy's would do, and this shows nothing")

    def test_what_sums_up_to_each_refuse(self):
        for call, text in [
            (lambda: sf.cumsum(["a"]), "elements of dtype <U1"), (lambda: sf.cumsum(np.ones(3, np.longdouble)), "elements of dtype"),
            (lambda: sf.cumsum([1, 2], dtype="i4"), "results of dtype int32"), (lambda: sf.cumsum([1.0], dtype=int), "results of dtype int64"),
            (lambda: sf.cumsum([1.0], dtype="c16"), "results of dtype complex128"), (lambda: sf.cumsum([1.0], 1), "axis 1 is out of bounds"),
            (lambda: sf.cumsum([2**60 + 1], dtype=float), "above 2..53"), (lambda: sf.Accumulator(2).cumulate([1.0]), "along one axis"),
            (lambda: sf.Accumulator().cumulate([[1.0]]), "along one axis"), (lambda: sf.Accumulator().cumulate(1.0), "along one axis"),
            (lambda: sf.Accumulator(dtype="f4").cumulate([1.0]), "terms of dtype"),
        ]:  # fmt: skip
            with self.assertRaisesRegex((TypeError, ValueError, sf.Error), text):
                call()
        for call, text in [
            (lambda worker, member: sf.cumsum(np.ones((2, 2 + worker % 2)), 0, comm=member), r"along axis 0 beside axes of shape \(2,\), .* on rank 0 and .* of shape \(3,\)"),
            (lambda worker, member: sf.cumsum(np.ones((2, 3, 2) if worker % 2 else (2, 2, 3)), 0, comm=member), r"of shape \(2, 3\), .* on rank 0 and .* of shape \(3, 2\)"),
            (lambda worker, member: sf.cumsum([1] if worker == 1 else [1.0], comm=member), "elements of int64 along all axes, summed to int64, on rank 1"),
            (lambda worker, member: sf.cumsum(np.ones((2, 2)), worker % 2, comm=member), "along axis 0 .* and elements of float64 along axis 1"),
            (lambda worker, member: sf.cumsum([1.0], comm=member) if worker == 1 else sf.autocorrelation([1.0, 2.0], comm=member),
             r"the ranks made different calls \(autocorrelation on rank 0 and cumsum on rank 1\)"),
            (lambda worker, member: sf.group_by([1], comm=member) if worker == 1 else sf.cumsum([2.0], comm=member), "cumsum on rank 0 and group_by on rank 1"),
            (lambda worker, member: sf.sum([1.0], comm=member) if worker == 1 else sf.group_by([1], comm=member), "the ranks made different calls"),
            (lambda worker, member: sf.cumsum("a" if worker == 1 else [1.0], comm=member), "elements of dtype <U1"),
        ]:
            for found in refusals(3, call):
                self.assertRegex(found, text)

    def test_autocorrelation_of_published_sets(self):
        """NumAcc1 to NumAcc4 of NIST's StRD. Their decimals are no doubles, so the last digits differ."""
        sets = [(np.array([10000001.0, 10000003.0, 10000002.0]), -0.5, 0.0)] + [
            (np.array([first, *[first - 0.1, first + 0.1] * 500]), -0.999, error) for first, error in ((1.2, 1e-15), (1000000.2, 1e-12), (10000000.2, 1e-11))]
        for x, certified, error in sets:
            found = float(sf.autocorrelation(x))
            self.assertLessEqual(abs(found - certified), error)
            for size, lag in itertools.product((3, 5, 8), (0, 1, 2, x.size - 1)):
                pieces = on_workers(size, lambda worker, member: sf.autocorrelation(split(x, size)[worker], lag, comm=member))  # noqa: B023
                self.assertEqual({bits(each) for each in pieces}, {bits(sf.autocorrelation(x, lag))})

    def test_autocorrelation_is_rounded_once(self):
        rng = np.random.default_rng(SEED)
        for trial in range(40):
            x = hostile(rng, int(rng.integers(4, 60))) if trial % 2 else 1e8 + np.round(rng.standard_normal(30) * 4)
            if trial % 4 == 0:  # sums above the largest double
                x = np.concatenate([x, rng.choice([1.7e308, 1.1e308, -1e308], 20, p=[0.5, 0.3, 0.2])])
            lag = int(rng.integers(0, x.size))
            exact = [Fraction(value) for value in x.tolist()]
            around = [value - sum(exact) / x.size for value in exact]
            quotient = sum((a * b for a, b in zip(around, around[lag:])), Fraction(0)) / sum(a * a for a in around)
            self.assertEqual(float(sf.autocorrelation(x, lag)), quotient.numerator / quotient.denominator, (trial, lag))
        for x in ([1.0, 1.0], [1.0, np.nan, 3.0], [1.0, np.inf, 2.0]):
            self.assertTrue(np.isnan(sf.autocorrelation(x)))

    def test_what_autocorrelation_refuses(self):
        for call, text in [
            (lambda: sf.autocorrelation([[1.0]]), "a series of shape"), (lambda: sf.autocorrelation([1j, 2j]), "dtype complex128"),
            (lambda: sf.autocorrelation([1.0, 2.0], 2), "a lag of 2 for 2 elements"), (lambda: sf.autocorrelation([1.0, 2.0], -1), "a lag of -1"),
            (lambda: sf.autocorrelation([]), "a lag of 1 for 0 elements"), (lambda: sf.autocorrelation([1.0, 2.0], 0.5), "integer"),
        ]:  # fmt: skip
            with self.assertRaisesRegex((TypeError, ValueError), text):
                call()
        for found in refusals(3, lambda worker, member: sf.autocorrelation([1.0, 2.0], worker % 2, comm=member)):
            self.assertIn("lags [0, 1] (all ranks must give one lag)", found)


if __name__ == "__main__":
    unittest.main()
