"""Benchmarks of the laboratory: the rows that are promised, of plausible figures; how fast anything is, no test says."""

import shutil
import unittest
from pathlib import Path

from support import COMMAND, run
from support.benches import ALLREDUCE, CYCLIC, KINDS_OF_CYCLIC, RANKS, BenchTest


class LabBench(BenchTest):
    def test_solver_loop(self):
        if not (Path(COMMAND).resolve().parent / "example_sea_ice").exists():
            self.assertIsNone(shutil.which("gfortran"))
            return self.expect_fault(run("bench", "solver-loop"), "example_sea_ice is not there")
        ran = run("bench", "solver-loop", "--counts", "16", "--rounds", "3", "--ranks", "1,2", "--json")
        rows = self.rows_from(ran, RANKS)
        ways = [("exact", "one call"), ("exact", "a call each"), ("exact", "plan"), ("binned", "one call"), ("binned", "plan")]
        self.assertEqual([(row["ranks"], row["operator"], row["method"], row["call"]) for row in rows],
                         [(ranks, what, *way) for ranks in (1, 2)
                          for what in ("solve", "products of a solve") for way in ways])  # fmt: skip
        for row in rows:
            self.assertEqual((row["launches"], row["rounds"], sum(row["calls"]) > 100), (1, 3, True))
            self.assert_against(row, 4)
        for solve, products in zip(rows[:5], rows[5:10]):
            self.assertLess(products["seconds"], solve["seconds"])
        predicted = self.object_from(ran)["predicted"]
        self.assertEqual([(row["ranks"], row["way"]) for row in predicted],
                         [(ranks, way) for ranks in (36, 144, 576, 2304)
                          for way in ("plain", "side_by_side", "integers", "double_double", "exact_plan", "binned_plan")])  # fmt: skip
        messages = {(row["ranks"], row["way"]): row["seconds_of_messages"] for row in predicted}
        for ranks in (36, 144, 576, 2304):  # two reductions, and one of little more than a double
            self.assertGreater(messages[ranks, "integers"], 1.8 * messages[ranks, "plain"])
            self.assertLess(messages[ranks, "binned_plan"], 1.1 * messages[ranks, "plain"])
        for words, told in ((("--counts", "15"), "multiples of 8"), (("--ranks", "1,none"), "none")):
            self.expect_fault(run("bench", "solver-loop", *words), told)
        self.expect_fault(run("bench", "solver-loop", ranks=2), "start it without mpirun")

    def test_splitphase(self):
        ran = run("bench", "splitphase", "--counts", "1,255", "--operators", "sum,user_max", "--methods", "tree,plain",
                  "--schedules", "auto,bruck", "--rounds", "3", "--json", ranks=2)  # fmt: skip
        rows = self.rows_from(ran, ALLREDUCE)
        ways = {(row["method"], row["schedule"], row["call"]) for row in rows}
        calls = ("start, wait", "start, tests", "start, computation, wait")
        pairs = (("tree", "auto"), ("tree", "bruck"), ("plain", "auto"), ("plain", "bruck"))
        self.assertLessEqual({(*pair, call) for pair in pairs for call in calls}, ways)
        for row in rows:
            self.assert_against(row, 1)
            self.assertIn("MPI_Iallreduce", row["rival"])
            self.assertEqual("tests" in row, row["call"] == "start, tests")
            self.assertEqual("hidden" in row, row["call"] == "start, computation, wait")
            self.assertEqual("hidden" in row["rivals"][0], "hidden" in row)
            self.assertEqual("chosen" in row, row["schedule"] == "auto")
            self.assertGreaterEqual(row.get("tests", 1), 1)
        ran = run("bench", "splitphase", "--counts", "1,255", "--types", "i32", "--operators", "sum,min,max", "--methods",
                  "tree", "--schedules", "bruck", "--rounds", "3", "--json", ranks=2)  # fmt: skip
        rows = self.rows_from(ran, ALLREDUCE)
        self.assertEqual({(row["operator"], row["type"], row["count"]) for row in rows},
                         {(operator, "i32", count) for operator in ("sum", "min", "max") for count in (1, 255)})
        self.assertTrue(all("MPI_INT, MPI_" + row["operator"].upper() in row["rival"] for row in rows))
        self.expect_fault(run("bench", "splitphase", "--types", "i32", "--methods", "exact", ranks=2), "exact", "i32", "tree")
        table = run("bench", "splitphase", "--counts", "1", "--methods", "tree", "--rounds", "3", ranks=2).stdout
        self.assertIn("hidden", table)

    def test_threads_and_ranks_of_a_node(self):
        words = ("bench", "shared", "--counts", "1,300", "--methods", "tree,exact", "--rounds", "3")
        rows = self.rows_from(run(*words, "--json"), {k: v for k, v in ALLREDUCE.items() if k != "rivals"})
        of_threads = [row for row in rows if row["ranks"] == 1]
        self.assertEqual({(row["threads"], row["transport"]) for row in of_threads}, {(2, "shared")})
        for count in (1, 300):
            for method in ("tree", "exact"):
                for call in ("allreduce", "plan"):
                    found = [r for r in of_threads if (r["count"], r["method"], r["call"]) == (count, method, call)]
                    self.assertEqual([r["rival"] for r in found], ["bare exchange", "openmp", "atomics"])
                    for row in found:
                        self.assertAlmostEqual(row["ratio"], row["seconds"] / row["rival_seconds"])
        of_ranks = [row for row in rows if row["ranks"] == 2]
        of_teams = [row for row in of_ranks if "barriers" in row["rival"]]
        self.assertEqual({row["threads"] for row in of_ranks}, {1, 2})
        self.assertEqual({row["threads"] for row in of_teams}, {1, 2})
        self.assertTrue(all("MPI_Allreduce" in row["rival"] for row in of_ranks))
        self.assertEqual({row["count"] for row in of_ranks}, {1, 300})
        said = run(*words).stdout
        self.assertRegex(said, r"(?m)^sum of 300 f64 per thread \(2400 bytes\) on 2 threads, transport shared$")
        self.assertRegex(said, r"(?m)^sum of 300 f64 per thread \(2400 bytes\) on 2 ranks of 2 threads, .*, transport shared, 1 launches$")

    def test_teams(self):
        ran = run("bench", "teams", "--counts", "3", "--threads", "1,2", "--methods", "binned", "--rounds", "3", "--json", ranks=2)
        rows = self.rows_from(ran, ALLREDUCE)
        ways = {(row["ranks"], row["threads"], row["call"]) for row in rows}
        self.assertEqual(ways, {(2, threads, call) for threads in (1, 2) for call in ("allreduce", "plan")})
        for row in rows:
            self.assert_against(row, 1)
        self.expect_fault(run("bench", "teams", "--counts", "0", ranks=2), "--counts", "0")

    def test_plain_over_cyclic_schedules(self):
        self.assert_that_sums_differ(run("bench", "splitphase", *CYCLIC, *KINDS_OF_CYCLIC, "--json", ranks=3))

    def test_a_study_beside_reproblas(self):
        time = ("study", "thesis", "--part", "time", "--largest", "500", "--ranks", "3", "--rounds", "3", "--json")
        without, with_it = (
            self.object_from(run(*time, *more)) for more in ((), ("--reproblas", self.reproblas("of 3")))
        )
        self.assertIn("ReproBLAS: not measured", "".join(without["left_out"]))
        self.assertEqual({row["ratio_to_reproblas"] for row in without["rows"]}, {None})
        theirs = next(row["seconds"] for row in with_it["rows"] if row["method"] == "reproblas")
        for row in with_it["rows"]:
            self.assertAlmostEqual(row["ratio_to_reproblas"], row["seconds"] / theirs)
        self.assertNotIn("ReproBLAS", "".join(with_it["left_out"]))


if __name__ == "__main__":
    unittest.main()
