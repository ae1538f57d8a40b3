"""What tests of benchmarks share: the fields of rows, and what holds for all of them."""

import json
import subprocess
from pathlib import Path

from . import CommandTest

LOCAL = {
    "kernel": str, "type": str, "elements": int, "threads": int, "target": str, "ns_per_element": float,
    "ratio_to_read": float, "ratio_to_accumulate": float, "launches": int, "rounds": int,
}  # fmt: skip
RANKS = {
    "method": str, "schedule": str, "operator": str, "count": int, "ranks": int, "threads": int, "seconds": float,
    "rival": str, "rival_seconds": float, "ratio": float, "passthrough": bool, "launches": int, "rounds": int,
    "library": str, "transport": str, "repetitions": int, "t_min": float, "t_max": float, "t_avg": float, "rivals": list,
}  # fmt: skip
ALLREDUCE = {**RANKS, "type": str, "bytes": int}

READERS = {"read", "accumulate", "fastmath", "kahan", "neumaier"}
DOTS = {f"{way} dot" for way in ("loop", "fastmath", "binned", "exact")}

# Plain sums over schedules that give ranks different bits, beside one that doesn't; and their types and operators.
CYCLIC = ("--methods", "plain", "--schedules", "bruck,dissemination,ring", "--counts", "1,255", "--rounds", "3")
KINDS_OF_CYCLIC = ("--types", "f64,i32", "--operators", "sum,max")


class BenchTest(CommandTest):
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

    def assert_against(self, row, rivals):
        """A row's figures, beside so many rivals."""
        self.assertEqual(len(row["rivals"]), rivals)
        self.assertEqual(row["rival"], row["rivals"][0]["rival"])
        self.assertEqual(row["ratio"], row["rivals"][0]["ratio"])
        for each in [row, *row["rivals"]]:
            self.assertIn("MPI_", each["rival"])
            self.assertGreater(each["t_min"], 0)
            self.assert_between(each["t_avg"], (each["t_min"], each["t_max"]))
            self.assert_between(each["seconds"], (each["t_min"], each["t_max"]))
            self.assertGreaterEqual(each["repetitions"], row["rounds"])
        for rival in row["rivals"]:
            self.assertAlmostEqual(rival["ratio"] * rival["seconds"] / row["seconds"], 1)

    def reproblas(self, name, *defines):
        """An installation of a library that stands in for ReproBLAS, which is not here. Its partial sums are pairs."""
        prefix = self.folder / name
        (prefix / "lib").mkdir(parents=True)
        subprocess.run(["cc", "-shared", "-fPIC", *defines, "-o", prefix / "lib/libreproblas.so",
                        Path(__file__).with_name("reproblas.c")], check=True)  # fmt: skip
        return prefix

    def assert_that_sums_differ(self, ran):
        """Of floating-point numbers, over cyclic schedules, and no others."""
        rows = self.rows_from(ran, ALLREDUCE)
        kinds = {(row["operator"], row["type"], row["count"], row["schedule"]) for row in rows}
        self.assertEqual(len(kinds), 2 * 2 * 2 * 3)
        for row in rows:
            differs = row["schedule"] != "ring" and (row["operator"], row["type"]) == ("sum", "f64")
            self.assertIs(row["same_on_all_ranks"], not differs, row)
