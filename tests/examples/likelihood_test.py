"""Tries example_likelihood on several rank counts."""

import json
import re
import struct
import unittest
from pathlib import Path

from support import Example, bits_of, run

EXAMPLE = Example("example_likelihood")
PROGRAM, run_ranks = EXAMPLE.program, EXAMPLE.run_ranks
RANKS = (1, 3, 5)
SIZE = ("--sites", "40001", "--search-sites", "2003")  # no rank count divides them


def setUpModule():
    EXAMPLE.require()


class Job(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.records = {}
        for ranks in RANKS:
            done = run_ranks(ranks, "--json", *SIZE)
            if done.returncode != 0:
                raise AssertionError(f"{ranks} ranks: exit {done.returncode}: {done.stderr}")
            cls.records[ranks] = json.loads(done.stdout)  # fails unless there is one object and nothing else

    def values(self, *path):
        found = []
        for record in self.records.values():
            for step in path:
                record = record[step]
            found.append(record)
        return found

    def test_the_record_says_what_ran(self):
        for ranks, record in self.records.items():
            self.assertEqual(record["application"], "likelihood")
            self.assertEqual((record["ranks"], record["threads"], record["sites"]), (ranks, 1, 40001))
            for name in ("fingerprint_plain", "fingerprint_steadfold"):
                self.assertRegex(record[name], r"\A[0-9A-F]{16}\Z")

    def test_each_way_has_value_bits_and_time(self):
        for record in self.records.values():
            for way in ("plain", "tree", "exact"):
                self.assertEqual(bits_of(record[way]["value"]), record[way]["bits"])
                self.assertLess(record[way]["value"], 0)
                self.assertGreater(record[way]["seconds"], 0)
            for kind in ("plain", "steadfold"):
                self.assertEqual(bits_of(record["search"][kind]["value"]), record["search"][kind]["bits"])
                self.assertGreater(record["search"][kind]["steps"], 0)

    def test_the_ways_agree_but_for_rounding(self):
        for record in self.records.values():
            exact = record["exact"]["value"]
            for way in ("plain", "tree"):
                self.assertLess(abs(record[way]["value"] - exact), 1e-9 * abs(exact))

    def test_steadfold_has_the_same_bits_on_every_rank_count(self):
        for path in (("tree", "bits"), ("exact", "bits"), ("search", "steadfold", "bits"), ("fingerprint_steadfold",)):
            self.assertEqual(len(set(self.values(*path))), 1, f"{path}: {self.values(*path)}")

    def test_the_search_moves_away_from_its_starting_tree(self):
        for moves in self.values("search", "steadfold", "moves"):
            self.assertGreaterEqual(moves, 2)  # it starts two interchanges away from the true tree

    def test_control_plain_sums_do_change_with_the_rank_count(self):
        self.assertGreater(len(set(self.values("fingerprint_plain"))), 1)
        self.assertGreater(len(set(self.values("plain", "bits"))), 1)

    def test_a_job_runs_again_with_the_same_bits(self):
        again = json.loads(run_ranks(3, "--json", *SIZE).stdout)
        self.assertEqual(again["fingerprint_steadfold"], self.records[3]["fingerprint_steadfold"])

    def test_more_ranks_than_sites(self):
        one, three = (json.loads(run_ranks(ranks, "--json", "--sites", "2").stdout) for ranks in (1, 3))
        self.assertEqual(one["fingerprint_steadfold"], three["fingerprint_steadfold"])


class ForPeople(unittest.TestCase):
    def test_the_page_shows_the_tables_of_the_program(self):
        """Not its bits: exp and log of another libm may give other terms."""
        page = (Path(__file__).resolve().parents[2] / "docs" / "phylogenetics.md").read_text()
        rows = re.findall(r"^ +\d \|  (\w{16})[ *] +\|  (\w{16}) +\|  (\w{16})$", page, re.MULTILINE)
        self.assertEqual(len(rows), 5)
        plain, *steadfold = (len(set(column)) for column in zip(*rows))
        self.assertGreater(plain, 1)
        self.assertEqual(steadfold, [1, 1])
        done = run(PROGRAM, "--json", "--sites", "100000", "--search-sites", "10")
        shown = struct.unpack(">d", bytes.fromhex(rows[0][2]))[0]
        self.assertLess(abs(json.loads(done.stdout)["exact"]["value"] - shown), 1e-9 * abs(shown))

    def test_compare_prints_a_row_per_rank_count(self):
        done = run(PROGRAM, "--compare", "--ranks", "1,2,3", *SIZE)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^ +(\d+) (?:\|  ([0-9A-F]{16})[ *]).*$", done.stdout, re.MULTILINE)
        self.assertEqual([int(ranks) for ranks, _ in rows], [1, 2, 3], done.stdout)
        for _, bits in rows[1:]:
            self.assertEqual(f"{bits}*" in done.stdout, bits != rows[0][1], done.stdout)

    def test_a_job_prints_a_table(self):
        done = run_ranks(3, *SIZE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ +3 \|")

    def expect_usage_error(self, done):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"(?m)^.+ \(.+\), .+$")

    def test_usage_errors(self):
        for words in (("--sites", "0"), ("--sites", "many"), ("--unknown",), ("--ranks", "1"), ("--compare", "--json"),
                      ("--compare", "--ranks", "0")):
            with self.subTest(words=words):
                self.expect_usage_error(run(PROGRAM, *words))

    def test_one_rank_complains_for_all(self):
        done = run_ranks(3, "--sites", "0")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("--help"), 1, done.stderr)

    def test_compare_under_a_launcher_is_refused(self):
        done = run_ranks(2, "--compare")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("leave out mpirun", done.stderr)


if __name__ == "__main__":
    unittest.main()
