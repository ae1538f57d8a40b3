"""`steadfold bench`: the rows that are promised, of plausible figures; how fast anything is, no test says."""

import unittest

from support import CommandTest, run

LOCAL = {
    "kernel": str, "type": str, "elements": int, "threads": int, "target": str, "ns_per_element": float,
    "ratio_to_read": float,
}  # fmt: skip
RANKS = {
    "method": str, "schedule": str, "operator": str, "count": int, "ranks": int, "threads": int, "seconds": float,
    "rival": str, "rival_seconds": float, "ratio": float, "passthrough": bool,
}  # fmt: skip


class Bench(CommandTest):
    def rows_from(self, ran, fields):
        found = self.object_from(ran)
        self.assertTrue(found["environment"] and found["rows"])
        for row in found["rows"]:
            for field, kind in fields.items():
                self.assertIsInstance(row[field], kind, (field, row))
        return found["rows"]

    def test_local(self):
        rows = self.rows_from(run("bench", "local", "--sizes", "100,1000", "--rounds", "3", "--json"), LOCAL)
        self.assertGreaterEqual({row["kernel"] for row in rows}, {"read", "accumulate", "tree", "exact"})
        self.assertEqual({row["elements"] for row in rows}, {100, 1000})
        for row in rows:
            self.assertGreater(row["ns_per_element"], 0)

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

    def test_for_people(self):
        self.assertRegex(run("bench", "bundle", "--counts", "3", "--rounds", "3", ranks=2).stdout, r"(?m)^tree +bundle ")

    def test_what_does_not_exist(self):
        self.expect_fault(run("bench", "nothing"))
        self.expect_fault(run("bench", "local", "--types", "text"))
        self.expect_fault(run("bench", "allreduce", "--methods", "magic", ranks=2))


if __name__ == "__main__":
    unittest.main()
