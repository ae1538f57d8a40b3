"""`steadfold bench`: the rows that are promised, of plausible figures; how fast anything is, no test says."""

import json
import statistics
import subprocess
import sys
import unittest
from pathlib import Path

from support import CommandTest, run

LOCAL = {
    "kernel": str, "type": str, "elements": int, "threads": int, "target": str, "ns_per_element": float,
    "ratio_to_read": float, "ratio_to_accumulate": float, "launches": int, "rounds": int,
}  # fmt: skip
RANKS = {
    "method": str, "schedule": str, "operator": str, "count": int, "ranks": int, "threads": int, "seconds": float,
    "rival": str, "rival_seconds": float, "ratio": float, "passthrough": bool, "launches": int, "rounds": int,
}  # fmt: skip

READERS = {"read", "accumulate", "fastmath", "kahan", "neumaier"}


class Bench(CommandTest):
    def assert_environment(self, environment):
        for field in ("date", "cpu", "caches", "cores", "pinned", "system", "compiler", "flags", "mpi", "widest_target"):
            self.assertIn(field, environment)

    def assert_between(self, value, interval):
        self.assertEqual(len(interval), 2)
        self.assertLessEqual(interval[0], value)
        self.assertLessEqual(value, interval[1])

    def samples_in(self, path):
        """The lines of a raw file but the first, which is the environment's."""
        head, *lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.assert_environment(head["environment"])
        return lines

    def rows_from(self, ran, fields):
        found = self.object_from(ran)
        self.assert_environment(found["environment"])
        self.assertTrue(found["rows"])
        for row in found["rows"]:
            for field, kind in fields.items():
                self.assertIsInstance(row[field], kind, (field, row))
        return found["rows"]

    def test_local(self):
        rows = self.rows_from(run("bench", "local", "--sizes", "100,1000", "--rounds", "3", "--json"), LOCAL)
        self.assertGreaterEqual({row["kernel"] for row in rows}, READERS | {"tree", "exact"})
        self.assertEqual({row["elements"] for row in rows}, {100, 1000})
        for row in rows:
            self.assertGreater(row["ns_per_element"], 0)
            self.assert_between(row["ns_per_element"], row["ns_quartiles"])
            self.assert_between(row["ns_per_element"], row["ns_interval"])
            self.assertEqual((row["threads"], row["launches"], row["rounds"]), (1, 1, 3))
            if row["kernel"] == "read":
                self.assertEqual(row["ratio_to_read"], 1)

    def test_threads(self):
        rows = self.rows_from(run("bench", "local", "--sizes", "1000", "--rounds", "3", "--threads", "1,2", "--json"), LOCAL)
        for threads in (1, 2):
            kernels = {row["kernel"] for row in rows if row["threads"] == threads}
            self.assertGreaterEqual(kernels, READERS | {"tree", "exact"})

    def test_plot(self):
        ran = run("bench", "local", "--sizes", "100,300", "--types", "f64,f32", "--rounds", "3", "--json")
        path = self.write("local.json", ran.stdout)
        script = Path(__file__).resolve().parents[2] / "docs" / "plots" / "local.py"
        spoken = subprocess.run([sys.executable, script, path], capture_output=True, text=True, check=True).stdout
        for row in json.loads(ran.stdout)["rows"]:
            size = row["elements"] * {"f64": 8, "f32": 4}[row["type"]]
            self.assertRegex(spoken, rf"{row['kernel']} +{size} bytes +{row['ns_per_element']:.4f} ")

    def test_local_raw(self):
        path = self.folder / "raw.jsonl"
        ran = run("bench", "local", "--sizes", "500", "--types", "f32", "--rounds", "5", "--json", "--raw", path)
        rows = {row["kernel"]: row for row in self.rows_from(ran, LOCAL)}
        samples = self.samples_in(path)
        self.assertEqual({sample["round"] for sample in samples}, set(range(5)))
        self.assertGreater(len({sample["candidate"] for sample in samples if sample["candidate"][:4] == "read"}), 5)
        for kernel in ("accumulate", "tree"):
            seconds = [sample["seconds"] for sample in samples if sample["candidate"] == kernel]
            self.assertEqual(len(seconds), 5)
            self.assertAlmostEqual(statistics.median(seconds) / 500 * 1e9 / rows[kernel]["ns_per_element"], 1)
        for sample in samples:
            self.assertGreater(sample["calls"], 0)
            self.assertEqual((sample["launch"], sample["type"], sample["elements"]), (0, "f32", 500))

    def test_over_ranks(self):
        for name, methods in (("allreduce", {"exact", "tree", "plain"}), ("bundle", {"exact", "tree", "plain"})):
            ran = run("bench", name, "--counts", "1,5", "--rounds", "3", "--json", ranks=2)
            rows = self.rows_from(ran, RANKS)
            self.assertEqual({row["method"] for row in rows}, methods)
            self.assertEqual({row["count"] for row in rows}, {1, 5})
            for row in rows:
                self.assertEqual(row["ranks"], 2)
                self.assertGreater(row["rival_seconds"], 0)
                self.assertAlmostEqual(row["ratio"] * row["rival_seconds"] / row["seconds"], 1)
                self.assertIn("MPI_Allreduce", row["rival"])
                self.assertEqual((row["launches"], row["rounds"]), (1, 3))

    def test_launches(self):
        path = self.folder / "raw.jsonl"
        ran = run("bench", "bundle", "--counts", "2", "--rounds", "3", "--json", "--launches", "2", "--ranks", "1,3",
                  "--raw", path)  # fmt: skip
        rows = self.rows_from(ran, RANKS)
        self.assertEqual({row["ranks"] for row in rows}, {1, 3})
        samples = self.samples_in(path)
        for row in rows:
            self.assertEqual((row["launches"], row["rounds"]), (2, 6))
            self.assert_between(row["seconds"], row["seconds_interval"])
            self.assert_between(row["ratio"], row["ratio_interval"])
            name = " ".join([row["method"], row["schedule"], row["call"]])
            mine = [s for s in samples if s["candidate"] == name and s["ranks"] == row["ranks"]]
            self.assertEqual({(s["launch"], s["round"]) for s in mine}, {(k, i) for k in range(2) for i in range(3)})
            self.assertAlmostEqual(statistics.median(s["seconds"] for s in mine) / row["seconds"], 1)

    def test_for_people(self):
        self.assertRegex(run("bench", "bundle", "--counts", "3", "--rounds", "3", ranks=2).stdout, r"(?m)^tree +bundle ")

    def test_what_does_not_exist(self):
        self.expect_fault(run("bench", "nothing"))
        self.expect_fault(run("bench", "local", "--types", "text"))
        self.expect_fault(run("bench", "allreduce", "--methods", "magic", ranks=2))
        self.expect_fault(run("bench", "allreduce", "--methods", "magic", "--ranks", "2"), "magic")
        self.expect_fault(run("bench", "allreduce", "--ranks", "two"), "--ranks")
        self.expect_fault(run("bench", "reduce", "--launches", "2", ranks=2), "--launches")
        self.expect_fault(run("bench", "local", "--launches", "2"), "--launches")
        self.expect_fault(run("bench", "local", "--threads", "0"), "--threads")
        self.expect_fault(run("bench", "local", "--sizes", "10", "--raw", self.folder / "none" / "raw"), "--raw")


if __name__ == "__main__":
    unittest.main()
