"""`steadfold schedules`, `check-schedules` and `info`."""

import re
import unittest

from support import BITS_VERSIONS, CommandTest, made_up, run

FIELDS = {
    "name": str, "sentence": str, "collectives": list, "keeps_rank_order": bool, "same_on_all_ranks": bool,
    "restrictions": str, "methods": list, "source": str,
}  # fmt: skip
COLLECTIVES = {"reduce", "allreduce", "reduce_scatter", "scan", "exscan"}


class Catalogue(CommandTest):
    def test_schedules(self):
        for ranks in (None, 3):
            rows = self.object_from(run("schedules", "--json", ranks=ranks))["schedules"]
            names = [row["name"] for row in rows]
            self.assertEqual(len(names), len(set(names)))
            self.assertGreaterEqual(set(names), {"flat", "linear", "binomial", "recursive_doubling", "native", "owner"})
            for row in rows:
                for field, kind in FIELDS.items():
                    self.assertIsInstance(row[field], kind, (row["name"], field))
                self.assertTrue(row["sentence"] and row["source"])
                self.assertLessEqual(set(row["collectives"]), COLLECTIVES)
                self.assertTrue(row["collectives"] and row["methods"])
            methods = {row["name"]: row["methods"] for row in rows}
            self.assertEqual(methods["native"], ["exact", "binned"])
            self.assertEqual(methods["original_dissemination"], ["plain"])
            order = {row["name"]: row["keeps_rank_order"] for row in rows}
            self.assertEqual((order["binomial"], order["ring"]), (True, False))

    def test_schedules_for_people(self):
        ran = run("schedules")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stdout, r"(?m)^recursive_doubling +allreduce ")

    def test_check_schedules(self):
        passed = set()
        for threads in (["--threads", "1"], ["--threads", "3"], []):
            found = self.object_from(run("check-schedules", "--max-ranks", "9", "--json", *threads))
            self.assertEqual((found["failed"], found["failures"]), (0, []))
            self.assertGreater(found["passed"], 0)
            passed.add(found["passed"])
        self.assertEqual(len(passed), 1, "as many cases, whoever proves them")

    def test_alone(self):
        """What most people want, and no error; each of it is a command that is there."""
        ran = run()
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        told = re.findall(r"^  steadfold (\w+)", ran.stdout, re.MULTILINE)
        self.assertEqual(told, ["sum", "verify", "bench", "doctor"])
        for name in told:
            self.assertEqual(run(name, "--help").returncode, 0, name)

    def test_every_help_ends_with_two_examples(self):
        listed = run("--help").stdout.partition("Subcommands:\n")[2].partition("\n\n")[0]
        names = re.findall(r"^  (\w[\w-]*) ", listed, re.MULTILINE)
        self.assertGreater(len(names), 10)
        for words in ([], *([name] for name in names if name != "study")):  # which the laboratory has
            *_, head, first, second = run(*words, "--help").stdout.rstrip("\n").splitlines()
            self.assertEqual(head, "Examples:", words)
            for line in (first, second):
                self.assertRegex(line, rf"^  .*steadfold .*{words[0] if words else ''}")

    def test_help_of_bench_lists_the_options_of_every_benchmark(self):
        text = run("bench", "--help").stdout
        table = dict(re.findall(r"^  (\S+) +\S.*; ([^;\n]*)$", text.partition("Benchmarks:\n")[2], re.MULTILINE))
        self.assertGreaterEqual(len(table), 13, "a line without a comparison is not counted")
        self.assertEqual(table["bundle"], "--counts")
        for name, options in table.items():
            for option in options.split(", "):
                self.assertIn(f"\n  {option} ", text, name)

    def test_info(self):
        for ranks in (None, 2):
            found = self.object_from(run("info", "--json", ranks=ranks))
            self.assertRegex(found["version"], r"^\d+\.\d+\.\d+")
            self.assertEqual(found["bits_versions"], BITS_VERSIONS)
            self.assertIn("MPI", found["mpi_library"])
            self.assertIn(found["instruction_sets"]["chosen"], found["instruction_sets"]["found"])
            self.assertIn(found["prefetch"], ("off", "near", "far"))
            self.assertEqual(found["rounding_environment"]["rounding"], "to nearest")
            self.assertIs(found["rounding_environment"]["flush_to_zero"], False)
            self.assertGreaterEqual(found["machine"]["cores"], 1)
        self.assertEqual(run("info").returncode, 0)

    def test_info_of_another_machine(self):
        found = self.object_from(run("info", "--json", environment=made_up("package:2 numa:4 l3:1 core:16 pu:2")))
        if found["machine"]["packages"] is None:
            self.skipTest("built without hwloc")
        self.assertEqual(found["machine"], {"packages": 2, "numa_domains": 8, "caches": 8, "cores": 128})


if __name__ == "__main__":
    unittest.main()
