"""`steadfold verify`: starts the ranks itself; rows, bits by an independent oracle, `identical`, exit status."""

import unittest

from support import BITS_VERSIONS, LAUNCHER, METHODS, CommandTest, binned, binpsllh, bits, exact, hostile, run, tree


class Verify(CommandTest):
    def setUp(self):
        super().setUp()
        self.values = hostile(1003)
        self.path = self.write("x.binpsllh", binpsllh(self.values))

    def verify(self, *arguments):
        return self.object_from(run("verify", self.path, "--json", *arguments))

    def test_all_by_default(self):
        found = self.verify()
        self.assertIs(found["identical"], True)
        rows = found["rows"]
        self.assertEqual({row["ranks"] for row in rows}, {1, 2, 3, 5, 8})
        self.assertEqual({row["method"] for row in rows}, set(METHODS))
        schedules = {row["schedule"] for row in rows}
        self.assertGreaterEqual(schedules, {"flat", "linear", "binomial", "recursive_doubling", "native", "owner"})
        self.assertEqual({row["bits"] for row in rows if row["method"] == "tree"}, {bits(tree(self.values))})
        self.assertEqual({row["bits"] for row in rows if row["method"] == "exact"}, {bits(exact(self.values))})
        self.assertEqual({row["bits"] for row in rows if row["method"] == "binned"}, {bits(binned(self.values))})
        self.assertGreater(len({row["bits"] for row in rows if row["method"] == "plain"}), 1, "the control is the same")
        self.assertEqual({row["method"] for row in rows if row["schedule"] == "native"}, {"exact"})
        self.assertEqual(len({(row["ranks"], row["method"], row["schedule"]) for row in rows}), len(rows))

    def test_what_is_asked_for(self):
        found = self.verify("--ranks", "4", "--methods", "tree,plain", "--schedules", "binomial,flat")
        asked = {(row["ranks"], row["method"], row["schedule"]) for row in found["rows"]}
        self.assertEqual(asked, {(4, m, s) for m in ("tree", "plain") for s in ("binomial", "flat")})
        found = self.verify("--ranks", "2", "--schedules", "native")
        self.assertEqual([(row["method"], row["schedule"]) for row in found["rows"]], [("exact", "native")])
        twice = "binned:sweep=double_sweep"
        found = self.verify("--ranks", "2,3", "--methods", f"{twice},exact", "--schedules", "native,linear")
        self.assertIs(found["identical"], True)
        ran = {(row["method"], row["schedule"]) for row in found["rows"]}
        self.assertEqual(ran, {(m, s) for m in (twice, "exact") for s in ("native", "linear")})
        self.assertEqual({row["bits"] for row in found["rows"] if row["method"] == twice}, {bits(binned(self.values))})

    def test_policies(self):
        asked = ("--ranks", "3,4", "--methods", "tree,plain", "--schedules", "auto,mpich,flat")
        rows = self.verify(*asked)["rows"]
        ran = {(row["schedule"], row["method"], row["ranks"]): row["ran"] for row in rows}
        self.assertEqual(len(rows), 12)
        self.assertEqual({bits(tree(self.values))}, {row["bits"] for row in rows if row["method"] == "tree"})
        for method in ("tree", "plain"):
            for ranks in (3, 4):  # of one column [S3]'s MPICH takes the doubling
                self.assertEqual(ran["mpich", method, ranks], "recursive_doubling")
                self.assertEqual(ran["flat", method, ranks], "flat")
                self.assertNotIn(ran["auto", method, ranks], ("auto", "mpich"))
        compared = {row["compared"] != "" for row in rows if (row["schedule"], row["method"]) == ("auto", "tree")}
        self.assertEqual(compared, {True})
        self.assertEqual({row["compared"] for row in rows if row["schedule"] != "auto"}, {""})
        rooted = self.verify("--ranks", "3", "--collective", "reduce", "--methods", "tree", "--schedules", "mpich")["rows"]
        self.assertEqual([row["ran"] for row in rooted], ["binomial"])
        ran = run("verify", self.path, *asked)
        self.assertRegex(ran.stdout, r"mpich: recursive_doubling +[0-9A-F]{16}\n")
        number = r"\d+\.\d\d us"
        self.assertRegex(ran.stdout, rf"4 +tree +auto: \S+, predicted {number} by messages, next \S+ with {number} ")

    def test_reduce(self):
        found = self.verify("--ranks", "3", "--collective", "reduce", "--methods", "tree")
        schedules = {row["schedule"] for row in found["rows"]}
        self.assertGreaterEqual(schedules, {"flat", "linear", "binomial", "owner"})
        self.assertNotIn("recursive_doubling", schedules)
        self.assertEqual({row["bits"] for row in found["rows"]}, {bits(tree(self.values))})

    def test_rows_that_were_left_out(self):
        path = self.write("x.csv", "\n".join(["a", *(text for value in self.values for text in (repr(value), "NA"))]))
        arguments = ["verify", path, "--ranks", "1,3", "--schedules", "flat", "--methods", "tree", "--missing", "NA"]
        found = self.object_from(run(*arguments, "--json"))
        self.assertEqual(found["missing"], len(self.values))
        self.assertEqual({row["bits"] for row in found["rows"]}, {bits(tree(self.values))})
        self.assertIn(f"\nrows that were left out: {len(self.values)}\n", run(*arguments).stdout)
        self.assertNotIn("missing", self.verify("--ranks", "2", "--schedules", "flat"))

    def test_distributions_and_columns(self):
        path = self.write("x.csv", "\n".join(["a,b", *(f"x,{value!r}" for value in self.values)]))
        ran = run("verify", path, "--column", "b", "--distribution", "optimized:deviation=0.3", "--ranks", "1,3",
                  "--methods", "tree", "--json")  # fmt: skip
        self.assertEqual({row["bits"] for row in self.object_from(ran)["rows"]}, {bits(tree(self.values))})
        ran = run("verify", path, "--column-name", "b", "--ranks", "2", "--methods", "tree", "--schedules", "flat",
                  "--json")  # fmt: skip
        self.assertEqual([row["bits"] for row in self.object_from(ran)["rows"]], [bits(tree(self.values))])

    def test_plain_promises_nothing(self):
        found = self.verify("--methods", "plain", "--schedules", "flat", "--ranks", "1,2,3,5")
        self.assertIs(found["identical"], True)
        self.assertGreater(len({row["bits"] for row in found["rows"]}), 1)

    def test_results_that_differ(self):
        # Ranks of the second launch find another file.
        other = self.write("other", binpsllh([2 * value for value in self.values]))
        launcher = self.write("launcher", f'#!/bin/sh\n{" ".join(LAUNCHER)} "$@" && cp "{other}" "{self.path}"\n')
        launcher.chmod(0o755)
        ran = run("verify", self.path, "--ranks", "1,2", "--methods", "exact", "--schedules", "flat", "--json",
                  environment={"STEADFOLD_MPIRUN": str(launcher)})  # fmt: skip
        found = self.object_from(ran, status=1)
        self.assertIs(found["identical"], False)
        self.path.write_bytes(binpsllh(self.values))
        lines = self.last_lines("--ranks", "1,2", "--methods", "exact,tree", status=1, environment={"STEADFOLD_MPIRUN": str(launcher)})
        self.assertEqual(lines[-2:], [f"{method} gave 2 different results, although it promises the same bits." for method in ("exact", "tree")])
        sum_of_first = exact(self.values)
        self.assertEqual([row["bits"] for row in found["rows"]], [bits(sum_of_first), bits(2 * sum_of_first)])

    def test_a_table_without_json(self):
        ran = run("verify", self.path, "--ranks", "1,3", "--methods", "tree,plain")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stderr, "")
        self.assertIn(f"tree: the same bits everywhere, {bits(tree(self.values))}", ran.stdout)
        self.assertIn("plain:", ran.stdout)
        self.assertRegex(ran.stdout, r"\nplain: \d different results \(this method does not promise the same bits\)\n")
        self.assertTrue(ran.stdout.endswith("\n\nEvery method that promises the same bits gave the same bits: tree.\n"), ran.stdout)
        self.assertNotIn("identical", ran.stdout)

    def last_lines(self, *arguments, path=None, status=0, environment=None):
        ran = run("verify", path or self.path, "--schedules", "flat", *arguments, environment=environment)
        self.assertEqual((ran.returncode, ran.stderr), (status, ""))
        return ran.stdout.splitlines()

    def test_a_method_without_a_promise_may_keep_its_bits(self):
        integers = self.write("integers", binpsllh(list(range(100))))
        lines = self.last_lines("--ranks", "1,3", path=integers)
        self.assertIn(f"plain: the same bits here as well, {bits(4950.0)} (but this method does not promise the same bits)", lines)
        same = ", ".join(sorted(BITS_VERSIONS))
        self.assertEqual(lines[-1], f"Every method that promises the same bits gave the same bits: {same}.")

    def test_what_was_not_compared_is_no_success(self):
        lines = self.last_lines("--ranks", "1,3", "--methods", "plain")
        self.assertEqual(lines[-1], "No chosen method promises the same bits: method plain does not.")
        lines = self.last_lines("--ranks", "3", "--methods", "plain,tree")
        self.assertIn(f"tree: one sum, {bits(tree(self.values))}", lines)
        self.assertEqual(lines[-1], "Nothing was compared: there is only one sum per method.")

    def test_a_job_of_one_rank_may_start_ranks(self):
        ran = run("verify", self.path, "--ranks", "1,2", "--methods", "exact", "--json", ranks=1)
        self.assertIs(self.object_from(ran)["identical"], True)


if __name__ == "__main__":
    unittest.main()
