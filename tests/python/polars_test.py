"""Expressions of Polars: the bits of the package, for any number of threads, chunks, order of rows and engine."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest

import numpy as np
import polars as pl
import steadfold as sf
import steadfold.polars as sfp
from support import bits, hostile

SEED = 20261204
PRINT_BITS = f"""
import numpy as np, polars as pl, steadfold.polars as sfp, sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
import polars_test
frame = polars_test.table(20000, 100)
print(pl.thread_pool_size(), frame.group_by("k").agg(**polars_test.EXPRESSIONS).sort("k").drop("k").to_numpy().tobytes().hex())
"""  # fmt: skip
EXPRESSIONS = {
    "sum": sfp.sum("x"), "mean": sfp.mean(pl.col("x")), "var": sfp.var("x"), "std": sfp.std("x", ddof=0), "dot": sfp.dot("x", "y"),
    "corr": sfp.corr("x", "y"), "weighted_sum": sfp.sum("x", weights="y"), "weighted_mean": sfp.mean("x", weights=pl.col("y")),
}  # fmt: skip


def table(count, groups, seed=SEED):
    """Hostile elements with nulls in groups of different sizes."""
    rng = np.random.default_rng(seed)
    moderate = [np.ldexp(np.frexp(hostile(rng, count))[0], rng.integers(-40, 40, count)) for _ in "xy"]
    columns = [pl.Series(values).scatter(np.flatnonzero(rng.random(count) < 0.1), None) for values in moderate]
    return pl.DataFrame({"k": (rng.random(count) ** 2 * groups).astype("i8"), "x": columns[0], "y": columns[1]})


def expected(frame):
    """The results of `EXPRESSIONS` for one group, by functions of the package."""
    x, y = frame["x"], frame["y"]
    return {
        "sum": sf.sum(x), "mean": sf.mean(x), "var": sf.var(x, ddof=1), "std": sf.std(x), "dot": sf.dot(x, y), "corr": sf.corr(x, y),
        "weighted_sum": sf.sum(x, weights=y), "weighted_mean": sf.mean(x, weights=y),
    }  # fmt: skip


class Polars(unittest.TestCase):
    def setUp(self):
        print(f"seed {SEED}")

    def test_select(self):
        frame = table(3001, 1)
        found = frame.select(**EXPRESSIONS).row(0, named=True)
        self.assertEqual({name: bits(value) for name, value in found.items()}, {name: bits(value) for name, value in expected(frame).items()})
        self.assertNotEqual(found["sum"], frame["x"].sum())  # the control

    def test_groups(self):
        frame = table(5000, 40)
        for row in frame.group_by("k").agg(**EXPRESSIONS).iter_rows(named=True):
            alone = expected(frame.filter(pl.col("k") == row["k"]))
            for name, value in alone.items():
                found = float("nan") if row[name] is None else row[name]
                self.assertEqual(bits(found), bits(value), f"{name} of group {row['k']}")

    def test_order_chunks_and_engines(self):
        frame = table(20000, 1000)
        asked = frame.group_by("k").agg(**EXPRESSIONS).sort("k")
        shuffled = frame.sample(fraction=1.0, shuffle=True, seed=SEED)
        chunked = pl.concat([shuffled[i : i + 777] for i in range(0, 20000, 777)], rechunk=False)
        for name, given in {"shuffled": shuffled, "chunked": chunked}.items():
            for engine in ("in-memory", "streaming"):
                made = given.lazy().group_by("k").agg(**EXPRESSIONS).sort("k").collect(engine=engine)
                self.assertTrue(made.equals(asked), f"{name}, {engine}")
                self.assertEqual(made.drop("k").to_numpy().tobytes(), asked.drop("k").to_numpy().tobytes(), f"{name}, {engine}")

    def test_threads(self):
        printed = {}
        for threads in ("1", "2", "3"):
            ran = subprocess.run([sys.executable, "-c", PRINT_BITS], env={**os.environ, "POLARS_MAX_THREADS": threads}, capture_output=True, text=True,
                                 timeout=120, check=False)  # fmt: skip
            self.assertEqual(ran.returncode, 0, ran.stderr)
            count, printed[threads] = ran.stdout.split()
            self.assertEqual(count, threads)
        self.assertEqual(len(set(printed.values())), 1)

    def test_queries_of_tpc_h(self):
        """The shapes of queries 1 and 15: several sums and means by two keys, and the largest of the sums by supplier."""
        rng = np.random.default_rng(SEED)
        count = 30000
        lines = pl.DataFrame({
            "flag": rng.choice(["A", "N", "R"], count), "status": rng.choice(["F", "O"], count), "supplier": rng.integers(0, 300, count),
            "quantity": rng.integers(1, 51, count), "price": rng.integers(90000, 10500000, count) / 100, "discount": rng.integers(0, 11, count) / 100,
        })  # fmt: skip
        discounted = pl.col("price") * (1 - pl.col("discount"))
        first = {"quantity": sfp.sum("quantity"), "price": sfp.sum("price"), "discounted": sfp.sum(discounted), "mean": sfp.mean("discount")}
        rows = lines.group_by("flag", "status").agg(**first).rows_by_key(["flag", "status"], named=True, unique=True)
        self.assertEqual(len(rows), 6)
        for (flag, status), row in rows.items():
            part = lines.filter((pl.col("flag") == flag) & (pl.col("status") == status))
            self.assertEqual(bits(row["quantity"]), bits(float(sf.sum(part["quantity"]))))
            self.assertEqual(bits(row["price"]), bits(sf.sum(part["price"])))
            self.assertEqual(bits(row["discounted"]), bits(sf.sum(part.select(discounted).to_series())))
            self.assertEqual(bits(row["mean"]), bits(sf.mean(part["discount"])))
        for order in range(3):
            mixed = lines.sample(fraction=1.0, shuffle=True, seed=order)
            best = mixed.lazy().group_by("supplier").agg(total=sfp.sum(discounted)).filter(pl.col("total") == pl.col("total").max()).collect()
            self.assertEqual(len(best), 1)
            own = lines.filter(pl.col("supplier") == best["supplier"].item()).select(discounted).to_series()
            self.assertEqual(bits(best["total"].item()), bits(sf.sum(own)))

    def test_without_elements(self):
        empty = pl.DataFrame(schema={"k": pl.Int64, "x": pl.Float64, "y": pl.Float64})
        nulls = pl.DataFrame({"k": [1, 1, 2], "x": [None, None, 1.0], "y": [1.0, 2.0, 3.0]})
        nothing = {name: 0.0 if name in ("sum", "dot", "weighted_sum") else None for name in EXPRESSIONS}
        self.assertEqual(empty.select(**EXPRESSIONS).row(0, named=True), nothing)
        self.assertEqual(len(empty.group_by("k").agg(**EXPRESSIONS)), 0)
        self.assertEqual(nulls.filter(pl.col("k") == 1).select(**EXPRESSIONS).row(0, named=True), nothing)
        rows = nulls.group_by("k").agg(**EXPRESSIONS).sort("k").drop("k").rows(named=True)
        self.assertEqual(rows[0], nothing)
        self.assertEqual((rows[1]["sum"], rows[1]["mean"], rows[1]["var"], rows[1]["std"]), (1.0, 1.0, None, 0.0))

    def test_types_and_contexts(self):
        frame = pl.DataFrame({"k": ["a", "b", "a"], "i": [1, 2, None], "f": pl.Series([0.1, 0.2, 0.3], dtype=pl.Float32), "b": [True, None, True]})
        self.assertEqual(frame.select(sfp.sum("i"), sfp.sum("b")).row(0), (3.0, 2.0))
        exact = sf.sum(np.array([0.1, 0.2, 0.3], "f4").astype("f8"))
        self.assertEqual(bits(frame.select(sfp.sum("f")).item()), bits(float(exact)))
        self.assertEqual(frame.lazy().group_by("k").agg(sfp.mean("i")).collect_schema()["i"], pl.Float64)
        self.assertEqual(frame.with_columns(s=sfp.sum("i").over("k"))["s"].to_list(), [1.0, 2.0, 1.0])

    def test_what_is_refused(self):
        frame = pl.DataFrame({"x": [1.0, 2.0], "i": [2**60 + 1, 1], "s": ["a", "b"]})
        for call, text in (
            (lambda: frame.select(sfp.sum("i")), "2\\*\\*53"),
            (lambda: frame.select(sfp.sum("s")), "numbers"),
            (lambda: frame.select(sfp.dot("x", pl.lit(1.0))), "every row needs both"),
            (lambda: sfp.var("x", ddof=2), "only ddof 0 and 1"),
            (lambda: sfp.sum(3), "is no column"),
            (lambda: sfp.mean(None, weights="x"), "is no column"),
            (lambda: sfp.corr("x", None), "is no column"),
            (lambda: sfp.var("x", ddof="1"), "only ddof 0 and 1"),
        ):
            with self.assertRaisesRegex(Exception, text):
                call()


if __name__ == "__main__":
    unittest.main()
