"""The extension of DuckDB: the bits of the package, for any number of threads, order of rows, row groups and memory."""

from __future__ import annotations

import os
import re
import tempfile
import unittest
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import steadfold as sf
import steadfold.duckdb as sfd
from environment_test import FLUSHES, within
from support import bits, hostile

SEED = 20261206
FUNCTIONS = {
    "exact_sum(x)": lambda groups, x, y: groups.sum(x), "exact_avg(x)": lambda groups, x, y: groups.mean(x),
    "exact_dot(x, y)": lambda groups, x, y: groups.dot(x, y), "exact_var_samp(x)": lambda groups, x, y: groups.var(x, ddof=1),
    "exact_stddev_samp(x)": lambda groups, x, y: groups.std(x, ddof=1), "exact_corr(x, y)": lambda groups, x, y: groups.corr(x, y),
}  # fmt: skip
SELECTED = ", ".join(FUNCTIONS)


def moderate(rng, count):
    """Elements that cancel, of 80 binary orders of magnitude, with zeros of both signs."""
    return np.ldexp(np.frexp(hostile(rng, count))[0], rng.integers(-40, 40, count))


def table(connection, count, groups, elements=moderate, seed=SEED):
    """Makes the table t, whose groups have different sizes. Returns its columns k, x and y."""
    rng = np.random.default_rng(seed)
    k = (rng.random(count) ** 2 * groups).astype("i8")
    x, y = (np.asarray(elements(rng, count)) for _ in "xy")
    given = {"k": k, "x": x, "y": y}
    connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM given")
    return tuple(given.values())


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def with_nulls(values):
    """The numbers of a row, NaN for NULL."""
    return [np.nan if each is None else each for each in values]


def setUpModule():
    try:
        sfd.extension()
    except sf.UnsupportedError as error:
        raise unittest.SkipTest(str(error))


class DuckDB(unittest.TestCase):
    def setUp(self):
        print(f"seed {SEED}, DuckDB {duckdb.__version__}")
        self.connection = sfd.connect(config={"threads": 2})
        self.addCleanup(self.connection.close)

    def rows(self, query):
        return self.connection.execute(query).fetchall()

    def grouped(self, source="t"):
        """The results by group, as columns, of rows in the order of the groups."""
        return np.array([with_nulls(row) for row in self.rows(f"SELECT {SELECTED} FROM {source} GROUP BY k ORDER BY k")]).T

    def expected(self, k, x, y):
        groups = sf.group_by(k)
        return np.array([function(groups, x, y) for function in FUNCTIONS.values()])

    def test_whole_columns(self):
        for elements in (hostile, moderate):
            k, x, y = table(self.connection, 50001, 1, elements)
            asked = self.expected(k * 0, x, y)[:, 0]
            for threads in (1, 2, 3):
                self.connection.execute(f"SET threads = {threads}")
                self.assertEqual(bits(np.array(self.rows(f"SELECT {SELECTED} FROM t")[0])), bits(asked), f"{elements.__name__}, {threads} threads")
                self.assertEqual(bits(np.array(self.rows(f"SELECT {SELECTED} FROM t ORDER BY ALL")[0])), bits(asked))
            self.assertNotEqual(self.rows("SELECT sum(x) FROM t")[0][0], asked[0])  # the control

    def test_groups(self):
        for count, groups, elements in ((9000, 10, hostile), (30000, 10000, hostile), (30000, 10000, moderate), (3000, 10, moderate)):
            k, x, y = table(self.connection, count, groups, elements)
            asked = self.expected(k, x, y)
            for threads in (1, 2):
                self.connection.execute(f"SET threads = {threads}")
                found = self.grouped()
                for name, some, others in zip(FUNCTIONS, found, asked):
                    self.assertEqual(bits(some), bits(others), f"{name}, {count} rows, {elements.__name__}, {threads} threads")

    def test_order_and_row_groups(self):
        k, x, y = table(self.connection, 300000, 1000)
        asked = self.expected(k, x, y)
        self.rows("CREATE TABLE mixed AS SELECT * FROM t ORDER BY hash(x * 3 + k), y")
        self.rows("CREATE TABLE sorted AS SELECT * FROM t ORDER BY k, x")
        with tempfile.TemporaryDirectory() as folder:
            for size in (2048, 50000):
                self.rows(f"COPY mixed TO '{folder}/{size}.parquet' (ROW_GROUP_SIZE {size})")
            for source in ("t", "mixed", "sorted", f"'{folder}/2048.parquet'", f"'{folder}/50000.parquet'"):
                self.assertEqual(bits(self.grouped(source)), bits(asked), source)

    def test_a_million_groups_in_little_memory(self):
        """States are moved, partitioned and written to files."""
        k, x, y = table(self.connection, 2_000_000, 1, lambda rng, count: rng.random(count))
        k = np.random.default_rng(SEED).permutation(np.arange(2_000_000) % 1_000_000)
        given = {"k": k, "x": x, "y": y}
        self.connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM given")
        groups = sf.group_by(k)
        with tempfile.TemporaryDirectory() as folder:
            self.rows(f"SET temp_directory = '{folder}'")
            for limit in ("4GB", "160MB"):
                self.rows(f"SET memory_limit = '{limit}'")
                query = "SELECT k, exact_sum(x) s, exact_dot(x, y) d FROM t GROUP BY k"
                found = self.connection.execute(f"SELECT s, d FROM ({query}) ORDER BY k").fetchnumpy()
                self.assertEqual(bits(np.asarray(found["s"])), bits(groups.sum(x)), limit)
                self.assertEqual(bits(np.asarray(found["d"])), bits(groups.dot(x, y)), limit)

    def test_windows(self):
        count = 700
        for elements in (hostile, moderate):
            _, x, y = table(self.connection, count, 3, elements)
            self.rows("CREATE OR REPLACE TABLE u AS SELECT row_number() OVER () i, * FROM t")
            for before, after in ((3, 0), (40, 5), (count, 0)):
                frame = f"OVER (ORDER BY i ROWS BETWEEN {before} PRECEDING AND {after} FOLLOWING)"
                found = self.rows("SELECT " + ", ".join(f"{name} {frame}" for name in FUNCTIONS) + " FROM u ORDER BY i")
                for i in range(0, count, 7):
                    part = slice(max(0, i - before), i + after + 1)
                    own = self.expected(np.zeros(len(x[part]), int), x[part], y[part])[:, 0]
                    self.assertEqual(bits(np.array(with_nulls(found[i]))), bits(own), f"{elements.__name__}, row {i}, {before} rows before")

    def test_nulls(self):
        table(self.connection, 20000, 50)
        self.rows("UPDATE t SET x = NULL WHERE hash(x) % 7 = 0; UPDATE t SET y = NULL WHERE hash(y) % 3 = 0")
        columns = self.connection.execute("SELECT k, x, y FROM t").fetchnumpy()
        k, x, y = columns["k"], np.ma.array(columns["x"]), np.ma.array(columns["y"])
        self.assertGreater(np.ma.count_masked(x), 1000)
        for name, function in FUNCTIONS.items():
            kept = ~np.ma.getmaskarray(x) & (~np.ma.getmaskarray(y) if "y" in name else True)
            asked = function(sf.group_by(np.asarray(k)[kept]), x.data[kept], y.data[kept])
            found = np.array([row[0] for row in self.rows(f"SELECT {name} FROM t GROUP BY k ORDER BY k")])
            self.assertEqual(bits(found), bits(asked), name)
        self.assertEqual(self.rows(f"SELECT {SELECTED} FROM t WHERE false"), [(None,) * 6])
        self.assertEqual(self.rows("SELECT exact_sum(NULL), exact_dot(1.5, NULL), exact_corr(NULL, 1.0)"), [(None,) * 3])
        one = self.rows("SELECT exact_sum(x), exact_avg(x), exact_var_samp(x), exact_stddev_samp(x), exact_corr(x, x) FROM (VALUES (2.5)) v(x)")
        self.assertEqual(one[0][:4], (2.5, 2.5, None, None))
        self.assertTrue(np.isnan(one[0][4]))

    def test_zeros_infinities_and_nan(self):
        cases = ([-0.0], [-0.0, -0.0], [-0.0, 0.0], [np.inf, 1.0], [-np.inf, np.inf], [np.nan, 1.0], [1e308, 1e308], [5e-324, 5e-324], [-1e308] * 3)
        for case in cases:
            x = np.array(case)
            for times in (1, 1000):  # few rows one by one, many by kernels
                given = {"x": np.tile(x, times), "k": np.zeros(len(x) * times, int)}
                asked = self.expected(given["k"], given["x"], given["x"][::-1].copy())[:, 0]
                given = pa.table({"x": given["x"], "y": given["x"][::-1]})  # NaN in an array of NumPy would be NULL
                found = with_nulls(self.connection.execute(f"SELECT {SELECTED} FROM given").fetchall()[0])
                self.assertEqual(bits(np.array(found)), bits(asked), f"{case} {times} times")

    def test_types(self):
        self.assertEqual(self.rows("SELECT exact_sum(x) FROM (VALUES (9007199254740992), (1), (-9007199254740992)) t(x)"), [(1.0,)])
        for type_ in ("TINYINT", "UTINYINT", "SMALLINT", "INTEGER", "UINTEGER", "BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL(9, 2)"):
            self.assertEqual(self.rows(f"SELECT exact_sum(x::{type_}), exact_dot(x::{type_}, 2.0::DOUBLE), exact_dot(3, x::{type_}) FROM range(1, 5) t(x)"), [(10.0, 20.0, 30.0)])
        self.assertEqual(self.rows("SELECT exact_sum(x::FLOAT) FROM (VALUES (0.1), (0.2)) t(x)")[0][0], float(np.float32(0.1)) + float(np.float32(0.2)))
        self.assertEqual(self.rows("SELECT exact_sum((1::HUGEINT << 100)), exact_sum(-(1::HUGEINT << 120))"), [(2.0**100, -(2.0**120))])
        for value in ("9007199254740993", "-9007199254740993", "18446744073709551615", "170141183460469231731687303715884105727"):
            for query in (f"SELECT exact_sum({value})", f"SELECT exact_dot(1.0::DOUBLE, {value})"):
                with self.assertRaisesRegex(duckdb.Error, f"the integer {value} is not exact as a DOUBLE .*, cast the column to DOUBLE"):
                    self.rows(query)
        self.assertEqual(self.rows("SELECT exact_sum(9007199254740993::DOUBLE)"), [(9007199254740992.0,)])
        for argument, type_ in (("'1 day'::INTERVAL", "INTERVAL"), ("[1.0]", "LIST"), (f"{{'{'a' * 100}': 1}}", "STRUCT"), ("true", "BOOLEAN"), ("1::BIGNUM", "BIGNUM"), ("'1'", "VARCHAR")):
            for call in (f"exact_sum({argument})", f"exact_corr(1, {argument})"):
                with self.assertRaisesRegex(duckdb.Error, rf"exact_\w+ does not take {type_} \(only integers, FLOAT, DOUBLE and DECIMAL\), cast the operand to DOUBLE"):
                    self.rows(f"SELECT {call}")
        self.assertEqual(self.connection.execute("SELECT exact_sum(x * ?), exact_sum(?) FROM range(3) t(x)", [2.0, 7]).fetchall(), [(6.0, 21.0)])
        self.rows("CREATE MACRO weighted(v, w) AS exact_dot(v, w) / exact_sum(w); PREPARE p AS SELECT exact_sum($1), exact_dot(x, $1) FROM range(3) t(x)")
        self.assertEqual(self.rows("SELECT weighted(x, 2) FROM (VALUES (1), (4)) t(x)"), [(2.5,)])
        for given, asked in (("0.5", [(1.5, 1.5)]), ("2::BIGINT", [(6.0, 6.0)]), ("1.25::DECIMAL(9, 2)", [(3.75, 3.75)]), ("NULL", [(None, None)])):
            self.assertEqual(self.rows(f"EXECUTE p({given})"), asked)
        with self.assertRaisesRegex(duckdb.Error, "does not take VARCHAR"):
            self.rows("EXECUTE p('a')")
        self.connection.executemany("SELECT exact_dot(x, ?) FROM range(3) t(x)", [[2.0], [3]])

    def test_decimals(self):
        """The nearest doubles, for all widths in which DuckDB stores decimals, which have no negative zero."""
        rng = np.random.default_rng(SEED)
        for width, scale in ((4, 0), (4, 4), (9, 3), (18, 2), (18, 18), (25, 24), (38, 0), (38, 2), (38, 37)):
            digits = ["".join(map(str, rng.integers(0, 10, width))) for _ in range(200)] + ["9" * width, "0" * width]
            texts = [sign + each[: width - scale] + "." + each[width - scale :] for each, sign in zip(digits, "-+" * 101)]
            given = pa.table({"x": texts})
            self.connection.execute(f"CREATE OR REPLACE TABLE d AS SELECT x::DECIMAL({width}, {scale}) x FROM given")
            found = self.rows("SELECT exact_sum(x) FROM d GROUP BY rowid ORDER BY rowid")  # each number alone
            self.assertEqual(bits(np.array(found)[:, 0]), bits(np.array([float(text) + 0.0 for text in texts])), f"DECIMAL({width}, {scale})")

    def test_integers_under_nulls_are_not_read(self):
        self.rows("CREATE TABLE v AS SELECT CASE WHEN i % 2 = 0 THEN 9007199254740993 + i ELSE 1 END x FROM range(3000) r(i)")
        self.rows("UPDATE v SET x = NULL WHERE x > 1")
        self.assertEqual(self.rows("SELECT exact_sum(x) FROM v"), [(1500.0,)])

    def test_distinct_filter_and_order(self):
        self.assertEqual(self.rows("SELECT exact_sum(DISTINCT x ORDER BY x), exact_avg(x) FILTER (x > 1) FROM (VALUES (1.0), (2.0), (2.0), (4.0)) t(x)"), [(7.0, 8.0 / 3)])

    def test_floating_point_environment(self):
        """The caller rounds upwards and flushes subnormal numbers to zero. Without the promised environment all terms vanish."""
        given = {"k": np.arange(5000) // 2500, "x": np.random.default_rng(SEED).uniform(-1, 1, 5000) * 2.0**-1030, "y": np.full(5000, 0.5)}
        asked = self.expected(**given)
        self.connection.execute("SET threads = 1; CREATE TABLE t AS SELECT * FROM given")
        found, after = within(("up", FLUSHES), lambda: (self.grouped(), given["x"] * 1.0))
        self.assertEqual(FLUSHES, not after.any(), "the control: the caller's environment")
        self.assertEqual(bits(found), bits(asked))
        self.assertNotEqual(found[0][0], 0.0)

    def test_memory_is_given_back(self):
        """Groups with terms of all exponents have accumulators: 20 MB in every query. Some queries do not read all groups."""
        table(self.connection, 40000, 10000, hostile)
        groups = "SELECT k, exact_sum(x) a, exact_var_samp(x) b FROM t GROUP BY k"
        self.rows(f"PREPARE one AS {groups} LIMIT 1")
        queries = (f"SELECT count(a) FROM ({groups})", f"{groups} LIMIT 1", f"SELECT EXISTS ({groups} HAVING a > b)", "EXECUTE one")
        for query in queries:
            for read in ("fetchall", "fetchone"):
                with self.subTest(query, read=read):
                    ask = lambda: getattr(self.connection.execute(query), read)()
                    for _ in range(3):
                        ask()
                    before = resident_bytes()
                    for _ in range(8):
                        ask()
                    self.assertLess(resident_bytes() - before, 80 << 20)

    def test_queries_of_tpc_h(self):
        """The shapes of queries 1 and 15: several sums and means by two keys, and the largest of the sums by supplier."""
        self.rows("""CREATE TABLE lines AS SELECT ['A', 'N', 'R'][1 + i % 11 % 3] flag, ['F', 'O'][1 + i % 7 % 2] status, hash(i + 1) % 300 supplier,
            1 + hash(i + 2) % 50 quantity, (90000 + hash(i + 3) % 10410000)::DOUBLE / 100 price, (hash(i + 4) % 11)::DOUBLE / 100 discount FROM range(30000) r(i)""")
        first = self.rows("""SELECT flag, status, exact_sum(quantity), exact_sum(price), exact_sum(price * (1 - discount)), exact_avg(discount), count(*)
            FROM lines GROUP BY flag, status ORDER BY flag, status""")
        self.assertEqual(len(first), 6)
        for flag, status, *found in first:
            part = self.connection.execute("SELECT * FROM lines WHERE flag = $1 AND status = $2", [flag, status]).fetchnumpy()
            part = {name: np.asarray(column) for name, column in part.items()}
            own = [float(part["quantity"].sum()), sf.sum(part["price"]), sf.sum(part["price"] * (1 - part["discount"])), sf.mean(part["discount"]), len(part["price"])]
            self.assertEqual(bits(np.array(found)), bits(np.array(own)))
        for order in range(3):
            best = self.rows(f"""WITH mixed AS (SELECT * FROM lines ORDER BY hash(price + {order})), revenue AS (
                SELECT supplier, exact_sum(price * (1 - discount)) total FROM mixed GROUP BY supplier)
                SELECT supplier, total FROM revenue WHERE total = (SELECT max(total) FROM revenue)""")
            self.assertEqual(len(best), 1)
            part = self.connection.execute("SELECT price * (1 - discount) p FROM lines WHERE supplier = $1", [best[0][0]]).fetchnumpy()["p"]
            self.assertEqual(bits(best[0][1]), bits(float(sf.sum(np.asarray(part)))))

    def test_connections(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.duckdb"
            with sfd.connect(path) as connection:
                sfd.load(connection)  # a second time
                connection.execute("CREATE TABLE t AS SELECT 0.5 x")
                self.assertEqual(connection.cursor().execute("SELECT exact_sum(x) FROM t").fetchall(), [(0.5,)])
            with sfd.connect(path, read_only=True) as connection:
                self.assertEqual(connection.execute("SELECT exact_sum(x) FROM t").fetchall(), [(0.5,)])
            quoted = Path(folder) / "it's"
            quoted.mkdir()
            copy = quoted / "steadfold.duckdb_extension"
            copy.write_bytes(Path(sfd.extension()).read_bytes())
            original, sfd.extension = sfd.extension, lambda: str(copy)
            try:
                self.assertEqual(sfd.connect().execute("SELECT exact_sum(1)").fetchall(), [(1.0,)])
                copy = quoted / "broken.duckdb_extension"
                copy.write_bytes(b"no extension")
                with self.assertRaises(sf.UnsupportedError):
                    sfd.connect()
            finally:
                sfd.extension = original

    def test_transactions_and_results(self):
        """`load` changes neither, and the functions are there at once."""
        connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        connection.execute("BEGIN; CREATE TABLE t AS SELECT 0.5 x")
        connection.execute("SELECT 7")
        sfd.load(connection)
        self.assertEqual(connection.fetchall(), [(7,)])
        self.assertEqual(connection.execute("SELECT exact_sum(x) FROM t").fetchall(), [(0.5,)])
        connection.execute("ROLLBACK")
        with self.assertRaises(duckdb.CatalogException):
            connection.execute("FROM t")
        self.assertEqual(connection.execute("SELECT exact_sum(2)").fetchall(), [(2.0,)])

    def test_what_is_refused(self):
        refused = r"started without allow_unsigned_extensions\), connect by steadfold.duckdb.connect"
        for connection in (duckdb.connect(), duckdb.default_connection()):
            with self.assertRaisesRegex(sf.UnsupportedError, refused):
                sfd.load(connection)
        for name in ("allow_unsigned_extensions", "ALLOW_UNSIGNED_EXTENSIONS"):
            for value in (False, "false"):
                with self.assertRaisesRegex(sf.UnsupportedError, refused):
                    sfd.connect(config={name: value})
            self.assertEqual(sfd.connect(config={name: True}).execute("SELECT exact_sum(1)").fetchall(), [(1.0,)])
        with tempfile.TemporaryDirectory() as folder, duckdb.connect(Path(folder) / "a.duckdb"):
            with self.assertRaisesRegex(duckdb.Error, "different configuration"):
                sfd.connect(Path(folder) / "a.duckdb")

    def test_one_version(self):
        """The headers of the extension, the extra of the package and these tests are of one version of DuckDB."""
        text = lambda name: (Path(__file__).resolve().parents[2] / name).read_text()
        version = re.search('^VERSION = "(.*)"$', text("duckdb/headers.py"), re.MULTILINE)[1]
        self.assertIn(f'duckdb = ["duckdb=={version}"]', text("pyproject.toml"))
        self.assertIn(f"duckdb=={version}", text("tests/python/requirements.txt").splitlines())
        self.assertEqual(version, duckdb.__version__)

    def test_versions(self):
        """DuckDB refuses an extension that was built for another version, and the error names both."""
        version = f"v{duckdb.__version__}".encode()
        whole = Path(sfd.extension()).read_bytes()
        self.assertEqual(whole.count(version + b"\0"), 1)
        other = version[:-1] + b"9"
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "steadfold.duckdb_extension"
            copy.write_bytes(whole.replace(version + b"\0", other + b"\0"))
            original, sfd.extension = sfd.extension, lambda: str(copy)
            try:
                with self.assertRaisesRegex(sf.UnsupportedError, f"built specifically for DuckDB version '{other.decode()}' .*'{version.decode()}'"):
                    sfd.connect()
            finally:
                sfd.extension = original


if __name__ == "__main__":
    unittest.main()
