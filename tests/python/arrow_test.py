"""Columns of pyarrow, Polars, pandas and DuckDB: the bits of their elements without nulls, on any number of workers."""

from __future__ import annotations

import gc
import tracemalloc
import unittest
import weakref

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import steadfold as sf
import steadfold.dask as sfd
from groups_test import on_workers, refusals, split
from support import bits, hostile

SEED = 20261203
SIZES = (3, 4, 5, 7, 8)


def with_nulls(count, seed=SEED):
    """Hostile elements, and a mask that is False where an element is null. What lies in a null's place is not an element."""
    elements = hostile(np.random.default_rng(seed), count)
    return elements, np.random.default_rng(seed + 1).random(count) > 0.2


def column(elements, are_valid, kind=None):
    return pa.array(elements, kind, mask=~are_valid)


def exporters(elements, are_valid):
    """The same column from every library, in one chunk or several, with and without an offset."""
    whole = column(elements, are_valid)
    cut = len(elements) // 3
    chunks = pa.chunked_array([whole[:cut], whole[:0], whole[cut:]])
    around = pa.concat_arrays([pa.array([1.0, None, 3.0]), whole, pa.array([7.0])])
    polars = pl.Series("x", pa.chunked_array([whole]))
    return {
        "array": whole, "slice": around[3:-1], "chunks": chunks, "record batch": pa.record_batch({"x": whole}),
        "slice of a record batch": pa.record_batch({"x": around})[3:-1], "table": pa.table({"x": chunks}),
        "reader": pa.table({"x": chunks}).to_reader(), "dictionary": whole.dictionary_encode(),
        "polars": polars, "polars frame": polars.to_frame(), "polars chunks": polars[:cut].append(polars[cut:]),
        "duckdb": duckdb.connect().from_arrow(pa.table({"x": chunks})),
        "pandas, pyarrow": pd.Series(chunks, dtype=pd.ArrowDtype(pa.float64())),
        "pandas, masked": pd.Series(pd.arrays.FloatingArray(elements.copy(), ~are_valid)),
        "pandas frame": pd.DataFrame({"x": pd.arrays.FloatingArray(elements.copy(), ~are_valid)}),
    }  # fmt: skip


class Columns(unittest.TestCase):
    def setUp(self):
        print(f"seed {SEED}")

    def test_every_exporter(self):
        elements, are_valid = with_nulls(1003)
        expected, control = bits(sf.sum(elements[are_valid])), bits(sf.sum(elements))
        self.assertNotEqual(expected, control)
        for name, given in exporters(elements, are_valid).items():
            self.assertEqual(bits(sf.sum(given)), expected, name)

    def test_every_function(self):
        elements, are_valid = with_nulls(501)
        others, are_others = with_nulls(501, SEED + 7)
        x, y = column(elements, are_valid), pl.Series(column(others, are_others))
        both = are_valid & are_others
        of_one = {
            name: getattr(sf, name) for name in ("sum", "mean", "min", "max", "argmin", "argmax", "var", "std", "norm")
        } | {"statistics": lambda x, **options: sf.statistics(x, **options).sample_variance}
        for name, function in of_one.items():
            self.assertEqual(bits(function(x)), bits(function(elements, where=are_valid)), name)
        of_two = {name: getattr(sf, name) for name in ("dot", "covariance", "sample_covariance", "corr")}
        of_two |= {name: lambda x, y, f=getattr(sf, name): f(x, weights=y) for name in ("sum", "mean")}
        for name, function in of_two.items():
            expected = bits(function(elements[both], others[both]))
            self.assertEqual(bits(function(x, y)), expected, name)
            self.assertEqual(bits(function(elements, column(others, both))), expected, name)
        where = np.arange(501) % 3 > 0
        self.assertEqual(bits(sf.sum(x, where=where)), bits(sf.sum(elements[are_valid & where])))
        nulls_in_mask = pa.array(where, mask=np.arange(501) % 5 == 0)
        self.assertEqual(bits(sf.sum(elements, where=nulls_in_mask)), bits(sf.sum(elements[where & (np.arange(501) % 5 > 0)])))
        out = np.empty((), np.float64)
        self.assertEqual(bits(sf.mean(x, out=out)), bits(sf.mean(elements[are_valid])))
        kept = sf.Accumulator()
        kept.add(x)
        kept.subtract(x[:100])
        self.assertEqual((bits(kept.sum()), kept.rows), (bits(sf.sum(elements[100:][are_valid[100:]])), int(are_valid[100:].sum())))

    def test_every_number(self):
        given = np.array([3, 0, 1, 100, 7], "i8")
        are_valid = np.array([True, False, True, True, True])
        for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
            numbers = given.astype(kind)
            for name in ("sum", "min", "mean", "argmax"):
                found, expected = getattr(sf, name)(column(numbers, are_valid)), getattr(sf, name)(numbers, where=are_valid)
                self.assertEqual((bits(found), found.dtype), (bits(expected), expected.dtype), f"{name} {kind}")
        self.assertEqual(int(sf.sum(pa.array([True, None] + 20 * [True])[1:])), 20)

    def test_nothing_is_copied(self):
        numbers = pa.array(np.arange(1000.0))
        series = pl.Series(np.arange(1000.0))
        for given in (numbers, numbers[10:], pa.chunked_array([numbers]), series):
            made = sf._convert.as_array(given)
            self.assertFalse(made.flags.writeable)
            self.assertEqual(made.__array_interface__["data"][0], np.asarray(given).__array_interface__["data"][0])
        gone = weakref.ref(memory := np.arange(1000.0))
        made = sf._convert.as_array(pa.array(memory))
        del memory, numbers, given
        gc.collect()
        self.assertEqual(float(sf.sum(made)), 499500.0)
        self.assertIsNotNone(gone())  # the array reads this memory
        del made
        gc.collect()
        self.assertIsNone(gone())

    def test_chunks_and_bitmaps_are_not_copied(self):
        elements, are_valid = with_nulls(300000, SEED + 5)
        whole = column(elements, are_valid)
        cuts = [0, 1, 1, 70003, 200000, 300000]
        chunks = pa.chunked_array([whole[a:b] for a, b in zip(cuts, cuts[1:])])
        labels = np.arange(300000) % 7
        groups = sf.group_by(labels)
        for name, function, asked in (
            ("sum", sf.sum, sf.sum(elements[are_valid])), ("mean", sf.mean, sf.mean(elements[are_valid])),
            ("max", sf.max, sf.max(elements[are_valid])), ("std", sf.std, sf.std(elements[are_valid])),
            ("by label", groups.sum, sf.sum_by(elements[are_valid], labels[are_valid], 7)),
            ("threads", lambda x: sf.sum(x, threads=3), sf.sum(elements[are_valid])),
            ("argmin", sf.argmin, sf.argmin(elements, where=are_valid)),
        ):  # fmt: skip
            function(chunks)
            tracemalloc.start()
            found = function(chunks)
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            self.assertEqual(bits(found), bits(asked), name)
            self.assertLess(most, 100_000, name)  # joined elements take 2.4 MB, a mask 0.3 MB

    def test_no_axis_is_reduced(self):
        for given in (pa.chunked_array([[1.5, 2.5], [4.0]]), pa.array([1.5, None, 4.0]), pl.Series([1.5, None])):
            values, are_valid = np.array(given.to_pylist() if hasattr(given, "to_pylist") else given.to_list(), float), ~np.array(given.is_null())
            for name in ("sum", "mean", "max", "std"):
                asked = getattr(sf, name)(np.where(are_valid, values, 0), axis=(), where=are_valid)
                self.assertEqual(bits(getattr(sf, name)(given, axis=())), bits(asked), name)

    def test_without_elements(self):
        for given in (pa.array([], pa.float64()), pa.chunked_array([], pa.float64()), pl.Series([], dtype=pl.Float64)):
            self.assertEqual(float(sf.sum(given)), 0.0)
        for kind in (pa.string(), pa.int32(), pa.dictionary(pa.int8(), pa.string()), pa.bool_(), pa.date32()):
            self.assertEqual(len(sf.group_by(pa.chunked_array([], kind))), 0)
        self.assertEqual(float(sf.sum(pa.array([None, None], pa.float64()))), 0.0)
        with self.assertWarns(RuntimeWarning):
            self.assertTrue(np.isnan(sf.mean(pa.array([None, None], pa.float64()))))
            self.assertEqual(sf.mean(pa.array([None], pa.float32()), weights=pa.array([None], pa.float64())).dtype, np.float64)

    def test_what_is_refused(self):
        nulls = pa.array([1.0, None])
        for call, text in (
            (lambda: sf.cumsum(nulls), "a column with 1 null .*, drop the nulls"),
            (lambda: sf.fsum(nulls), "a column with 1 null .*, drop the nulls"),
            (lambda: sf.sum(pa.table({"a": nulls, "b": nulls})), "2 columns .one column is reduced: a, b"),
            (lambda: sf.sum(pa.array([[1.0]])), "a column of lists"),
            (lambda: sf.sum(pa.array([1]).cast(pa.decimal128(21, 2))), "a column of decimals"),
            (lambda: sf.sum([nulls, nulls]), "columns with nulls"),
            (lambda: sf.sum(pa.StructArray.from_arrays([nulls], ["x"], mask=pa.array([True, False]))), "structures with nulls"),
            (lambda: sf.sum(nulls, where=np.ones(3, bool)), "a mask of shape .3,. for a column"),
            (lambda: sf.sum_by([1.0], pa.array(["a"]), 1), "labels of dtype object"),
            (lambda: sf.sum([1.0, 2.0], where=pa.array([1, None])), "where of dtype int64"),
            (lambda: sf.group_by(pa.DictionaryArray.from_arrays(pa.array([0, -1], pa.int8()), ["a"], safe=False)), "codes from -1 to 0 .* 1 words"),
            (lambda: sf.plan().sum(nulls), "a plan or a started call"),
            (lambda: sf.sum(nulls, method="tree"), "tree is not supported .*, use method exact or binned"),
            (lambda: sf.prod(nulls), "tree is not supported .*, give only the rows that the mask selects"),
            (lambda: sf.sum_by([1.0, 2.0], pa.array([2**63, None], pa.uint64()), 2), "label"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError, sf.UnsupportedError), text):
                call()

    def test_what_is_read_once(self):
        class Exported:
            def __init__(self, **capsules):
                vars(self).update({f"__arrow_c_{name}__": lambda given=given: given for name, given in capsules.items()})

        numbers = pa.array(np.arange(1000.0))
        for capsules in ({"array": numbers.__arrow_c_array__()}, {"stream": pa.chunked_array([numbers]).__arrow_c_stream__()}):
            given = Exported(**capsules)
            self.assertEqual(float(sf.sum(given)), 499500.0)
            with self.assertRaisesRegex(ValueError, "a column that another reader has taken"):
                sf.sum(given)
        out = np.empty(())
        for name in ("sum", "mean", "var", "max"):
            reader = pa.table({"x": pa.chunked_array([[1.0], [2.0, 6.0]])}).to_reader()
            getattr(sf, name)(reader, out=out)
            self.assertEqual(float(out), float(getattr(sf, name)([1.0, 2.0, 6.0])), name)

    def test_the_number_in_place_of_a_null(self):
        """It may be any number, and does not count."""
        integers = column(np.array([1, 2**60 + 1, 3]), np.array([True, False, True]))
        self.assertEqual(float(sf.var(integers)), 1.0)
        self.assertEqual(float(sf.dot([1.0, 2.0, 3.0], integers)), 10.0)
        self.assertEqual(sf.group_by([0, 0, 0]).mean(integers).tolist(), [2.0])

    def test_nulls_of_no_type(self):
        self.assertEqual(float(sf.sum(pa.nulls(3))), 0.0)
        self.assertEqual(float(sf.sum(pl.Series([]))), 0.0)
        self.assertEqual(sf.group_by(pa.nulls(2)).labels.tolist(), [-1, -1])

    def test_pandas_without_na(self):
        class Derived(pd.Series):
            pass

        for kind in (pd.Series, Derived):
            self.assertTrue(np.isnan(sf.sum(kind([1.0, np.nan]))))
            self.assertEqual(float(sf.sum(kind([1.0, None], dtype="Float64"))), 1.0)

    def test_dask(self):
        self.assertEqual(float(sfd.sum(pl.Series([1.0, 2.0])).compute()), 3.0)
        for call in (lambda nulls: sfd.sum(nulls), lambda nulls: sfd.sum(np.ones(2), weights=nulls)):
            with self.assertRaisesRegex(TypeError, "a column with 1 null "):
                call(pa.array([1.0, None]))

    def test_a_stream_that_fails(self):
        def batches():
            yield pa.record_batch({"x": pa.array([1.0])})
            raise OSError("the disk is full")

        with self.assertRaisesRegex(RuntimeError, "the disk is full"):
            sf.sum(pa.RecordBatchReader.from_batches(pa.schema({"x": pa.float64()}), batches()))


class OverRanks(unittest.TestCase):
    def test_nulls_on_some_ranks(self):
        elements, are_valid = with_nulls(997, SEED + 2)
        expected = bits(sf.sum(elements[are_valid])), bits(sf.std(elements, where=are_valid))
        for size in SIZES:
            are_valid_here = split(are_valid, size)
            are_valid_here[1] = np.ones(len(are_valid_here[1]), bool)  # no bitmap on rank 1
            parts = [column(x, valid) for x, valid in zip(split(elements, size), are_valid_here)]
            known = np.concatenate(are_valid_here)
            expected = bits(sf.sum(elements[known])), bits(sf.std(elements, where=known))
            found = on_workers(size, lambda worker, member: (bits(sf.sum(parts[worker], comm=member)), bits(sf.std(parts[worker], comm=member))))
            self.assertEqual(found, [expected] * size)

    def test_some_ranks_have_arrays(self):
        elements, are_valid = with_nulls(997, SEED + 3)
        of_numbers = pa.schema([pa.field("x", pa.float64(), nullable=False)])
        for size in SIZES:
            parts, masks = split(elements, size), split(are_valid, size)
            chunks = [pa.chunked_array([part[:3], part[3:]]) for part in parts]

            def ask(worker, member):
                x, mask = parts[worker], masks[worker]
                if worker % 2 == 0:
                    return bits(sf.sum(x, comm=member)), bits(sf.sum(x, where=mask, comm=member))
                nulls = column(x, mask)
                return bits(sf.sum(pa.table([chunks[worker]], of_numbers), comm=member)), bits(sf.sum(pa.chunked_array([nulls[:5], nulls[5:]]), comm=member))

            self.assertEqual(on_workers(size, ask), [(bits(sf.sum(elements)), bits(sf.sum(elements[are_valid])))] * size)

    def test_errors_reach_all_ranks(self):
        bad = pa.array([[1.0]])
        for text in refusals(3, lambda worker, member: sf.sum(bad if worker == 1 else pa.array([1.0]), comm=member)):
            self.assertIn("a column of lists", text)


class Keys(unittest.TestCase):
    def test_every_kind(self):
        words = ["b", "a", None, "bbbbbbbbbbbbbbbbb", "a", "é", "b", ""]
        numbers = [5, 3, None, 2**40, 3, -1, 5, 0]
        x = hostile(np.random.default_rng(SEED), 8)
        kinds = {
            "string": (pa.array(words), words), "large": (pa.array(words, pa.large_string()), words),
            "view": (pa.array(words, pa.string_view()), words), "polars": (pl.Series(words), words),
            "categorical": (pl.Series(words).cast(pl.Categorical), words), "slice": (pa.array(["z", None, *words])[2:], words),
            "dictionary": (pa.array(words).dictionary_encode(), words),
            "two dictionaries": (pa.chunked_array([pa.array(words[:3]).dictionary_encode(), pa.array(words[3:]).dictionary_encode()]), words),
            "null in a dictionary": (pa.DictionaryArray.from_arrays([1, 0, 2, 4, 0, 3, 1, 5], ["a", "b", None, "é", "bbbbbbbbbbbbbbbbb", ""]), words),
            "integers": (pa.array(numbers), numbers), "duckdb": (duckdb.connect().from_arrow(pa.table({"k": numbers})), numbers),
        }  # fmt: skip
        for name, (keys, known) in kinds.items():
            expected = sorted({key for key in known if key is not None})
            found = sf.group_by(keys)
            self.assertEqual(found.keys.tolist(), expected, name)
            for i, key in enumerate(expected):
                rows = [row for row, each in enumerate(known) if each == key]
                self.assertEqual(bits(found.mean(column(x, np.arange(8) != 4))[i]), bits(sf.mean(x[rows], where=[row != 4 for row in rows])), (name, key))

    def test_strings_of_pandas(self):
        for kind in ("str", "category", "string", object):
            found = sf.group_by(pd.Series(["b", None, "a", "b"], dtype=kind))
            self.assertEqual((found.keys.tolist(), found.labels.tolist()), (["a", "b"], [1, -1, 0, 1]), kind)

    def test_any_code_in_place_of_a_null(self):
        codes = pa.Array.from_buffers(pa.int8(), 3, [pa.py_buffer(b"\x05"), pa.py_buffer(b"\0\x63\0")])
        found = sf.group_by(pa.DictionaryArray.from_arrays(codes, ["a"]))
        self.assertEqual((found.keys.tolist(), found.labels.tolist()), (["a"], [0, -1, 0]))

    def test_dates_bytes_and_bool(self):
        days = np.array(["2020-02-01", "1960-01-01", "2020-02-01"], "M8[D]")
        for kind in (pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("us"), pa.timestamp("ns")):
            found = sf.group_by(pa.array(days).cast(kind))
            self.assertEqual(found.keys.astype("M8[D]").tolist(), sorted(set(days.tolist())), str(kind))
            self.assertEqual(found.labels.tolist(), [1, 0, 1])
        self.assertEqual(sf.group_by(pa.array([3, None, -1], pa.duration("ms"))).keys.tolist(), sorted(np.array([3, -1], "m8[ms]").tolist()))
        self.assertEqual(sf.group_by(pa.array([b"b\0", None, b"b"], pa.large_binary())).keys.tolist(), [b"b", b"b\0"])
        self.assertEqual(sf.group_by(pa.array([True, None, False, True])).labels.tolist(), [1, -1, 0, 1])

    def test_labels(self):
        labels = pa.array([0, None, 1, 0], pa.uint16())
        self.assertEqual(sf.sum_by([1.0, 2.0, 4.0, 8.0], labels, 2).tolist(), [9.0, 4.0])
        self.assertEqual(sf.group_by(labels, groups=2).sum([1.0, 2.0, 4.0, 8.0]).tolist(), [9.0, 4.0])

    def test_over_ranks(self):
        keys = ["b", None, "a", "c", "b", "a", "b", "c", None]
        x = hostile(np.random.default_rng(SEED), 9)
        alone = sf.group_by(pa.array(keys)).sum(x)
        for size in SIZES:
            places = split(np.arange(9), size)
            found = on_workers(size, lambda worker, member: bits(
                sf.group_by(pa.array([keys[i] for i in places[worker]], pa.string()), comm=member).sum(x[places[worker]])))
            self.assertEqual(found, [bits(alone)] * size)


if __name__ == "__main__":
    unittest.main()
