"""Tries examples/histogram on several rank counts, CSV and Parquet files, and beside sums of rational numbers."""

import collections
import csv
import itertools
import os
import re
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

from support import bits_of
from support.python_programs import EXAMPLES, IS_MPICH, Program

sys.path[:0] = [str(EXAMPLES / "common"), str(EXAMPLES / "histogram")]
from jobs import Refusal
from rows import read

ROWS = 600
RANKS = (1, 2, 3) if IS_MPICH else (1, 3, 4, 5)
PROGRAM = Program("histogram")
job, record_of = PROGRAM.job, PROGRAM.record_of


def exact_sums(path, times=None):
    """Correctly rounded: quotients of integers are."""
    sums = collections.defaultdict(Fraction)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            sums[row["shop"]] += Fraction(float(row["amount"])) * (Fraction(float(row[times])) if times else 1)
    return {key: bits_of(float(value)) for key, value in sums.items()}


def has_pyarrow():
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.csv = cls.write("sample.csv")

    @classmethod
    def write(cls, name):
        path = os.path.join(cls.directory.name, name)
        done = PROGRAM.alone(path, "--write", "--rows", ROWS)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return path

    def file(self, text):
        path = os.path.join(self.directory.name, f"{self.id()}.csv")
        Path(path).write_bytes(text.encode())
        return path

    def test_sums_are_the_correctly_rounded_ones_on_all_ranks(self):
        wanted, plain = exact_sums(self.csv), set()
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                record = record_of(ranks, self.csv)
                self.assertEqual((record["application"], record["ranks"], record["threads"]), ("histogram", ranks, 1))
                self.assertEqual((record["rows"], record["groups"]), (ROWS, len(wanted)))
                self.assertEqual(record["bits_steadfold"], wanted)
                plain.add(record["fingerprint_plain"])
        self.assertGreater(len(plain), 1)  # the control

    def test_sums_of_products(self):
        wanted = exact_sums(self.csv, "count")
        self.assertNotEqual(wanted, exact_sums(self.csv))
        self.assertEqual(record_of(3, self.csv, "--times", "count")["bits_steadfold"], wanted)

    def parts(self, path, count):
        """What all ranks read, one after the other."""
        found = [read(path, "shop", ["amount"], rank, count) for rank in range(count)]
        return [list(zip(keys.tolist(), columns[0].tolist())) for keys, columns in found]

    def test_parquet_gives_what_csv_gives(self):
        path = self.write("sample.parquet") if has_pyarrow() else self.file("").replace(".csv", ".parquet")
        if not has_pyarrow():
            Path(path).touch()
            with self.assertRaisesRegex(Refusal, "pyarrow"):
                self.parts(path, 1)
            return
        rows = self.parts(self.csv, 1)[0]
        for count in (1, 2, 3, 4, 5, 7, 11, 700):  # five row groups
            found = self.parts(path, count)
            self.assertEqual(sum(found, []), rows)
            self.assertLess(max(map(len, found)) - min(map(len, found)), 2)
        self.assertEqual(record_of(3, path)["bits_steadfold"], exact_sums(self.csv))

    def test_every_line_is_read_by_one_rank(self):
        """Lines of all lengths, so that parts end anywhere in them; quotes, line ends of two bytes, and no last one."""
        rows = [(f"{'k' * (1 + i % 3)},é", i + 0.5) for i in range(17)]
        for end, last in itertools.product(("\n", "\r\n"), (True, False)):
            path = self.file("shop,amount" + end + end.join(f'"{key}",{value}' for key, value in rows) + end * last)
            for count in range(1, 60):
                self.assertEqual(sum(self.parts(path, count), []), rows, f"{count} ranks, {end!r}")

    def test_fewer_lines_than_ranks(self):
        path = self.file("shop,amount\na,1e16\na,1\nb,-0.0\nc,inf\nc,-inf\n")
        record = record_of(5, path)
        self.assertEqual(record["bits_steadfold"]["a"], bits_of(1e16))
        self.assertEqual(record["bits_steadfold"]["b"], bits_of(-0.0))
        self.assertEqual(record["sums_steadfold"], {"a": 1e16, "b": -0.0, "c": None})

    def test_data_errors_say_what_and_why(self):
        header, good = "shop,amount\n", "a,1\n" * 20
        cases = ((header + good + "a,many\n", "'many' as amount"), (header + good + "a\n", "a line of 1 fields"),
                 ("shop,price\na,1\n", "no column amount"), ("", "no column shop"))  # fmt: skip
        for text, said in cases:
            with self.subTest(said), self.assertRaisesRegex(Refusal, rf"^.*{said}.* \(.+\), .+$"):
                self.parts(self.file(text), 2)

    def test_data_errors_are_said_once_and_nobody_waits(self):
        """One rank finds the first one."""
        for text, said in (("shop,amount\n" + "a,1\n" * 20 + "a,many\n", "'many' as amount"), ("shop,amount\n", "has no rows")):
            with self.subTest(said):
                done = job(3, self.file(text))
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertEqual(len(re.findall(rf"^.*{said}.* \(.+\), .+$", done.stderr, re.MULTILINE)), 1, done.stderr)
        with self.assertRaisesRegex(Refusal, "nowhere.csv is not there"):
            self.parts("/nowhere.csv", 1)


class ForPeople(unittest.TestCase):
    def test_compare_prints_a_row_per_job(self):
        done = PROGRAM.alone("--compare", "--ranks", "1,3", "--rows", "300")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^ +(\d+) \| (\w{16})(\*?) +\| (\w{16})$", done.stdout, re.MULTILINE)
        self.assertEqual([row[0] for row in rows], ["1", "3"], done.stdout)
        self.assertEqual(rows[0][3], rows[1][3])
        self.assertEqual(rows[1][2] == "*", rows[0][1] != rows[1][1])

    def test_a_table_of_groups(self):
        done = job(2, "--rows", "50")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("50 rows, 12 groups, 2 ranks", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^shop 11 +[0-9A-F]{16} .+ [0-9A-F]{16} ")

    def test_usage_errors(self):
        for words in (("--rows", "0"), ("--ranks", "2"), ("--write",), ("--compare", "--json"), ("--unknown",)):
            with self.subTest(words=words):
                done = PROGRAM.alone(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"(?m)^.+ \(.+\), .+$")


if __name__ == "__main__":
    unittest.main()
