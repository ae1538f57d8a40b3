"""Published data: the bits printed by the author of [S0] (tree) and the correctly rounded sums (exact), as read from
the README beside the data. The first file is summed in every way and each other file in some: that all files have these
bits for all numbers of ranks, layouts and schedules is shown by tests/mpi/calls/published_test.cpp without starting ranks each
time. Skips where STEADFOLD_SHARED names no folder that has them."""

import os
import re
import unittest
from pathlib import Path

from support import CommandTest, run

DATA = Path(os.environ.get("STEADFOLD_SHARED", "")) / "data"
ROW = re.compile(r"\| `(\S+\.binpsllh)` \| (\d+) \| ([0-9A-F]{16}) \| ([0-9A-F]{16}) \| ([0-9A-F]{16}) \|")


def published():
    return [match.groups() for match in ROW.finditer((DATA / "README.md").read_text())]


@unittest.skipUnless(
    os.environ.get("STEADFOLD_SHARED") and (DATA / "README.md").is_file(),
    "the published data are not here: STEADFOLD_SHARED names no folder with data/README.md",
)
class Published(CommandTest):
    def test_there_are_files(self):
        self.assertGreaterEqual(len(published()), 4)

    def test_bits_on_all_rank_counts_and_schedules(self):
        for number, (name, count, tree, exact, naive) in enumerate(published()):
            ranks = "1,3,8" if number else "1,2,3,5,8"
            ran = run("verify", DATA / name, "--ranks", ranks, "--json", timeout=300)
            found = self.object_from(ran)
            self.assertIs(found["identical"], True, name)
            for method, expected in (("tree", tree), ("exact", exact)):
                rows = [row for row in found["rows"] if row["method"] == method]
                self.assertGreaterEqual(len(rows), len(ranks.split(",")) * 4)
                self.assertEqual({row["bits"] for row in rows}, {expected}, (name, method))
            plain = {row["bits"] for row in found["rows"] if row["method"] == "plain"}
            self.assertGreater(len(plain), 1, f"{name}: the control is the same everywhere")
            self.assertIn(naive, plain, name)

    def test_distributions_and_reduce(self):
        binomial = ["--collective", "reduce", "--schedule", "binomial"]
        distributions = ("lower", "power2", "optimized")
        for number, (name, count, tree, exact, _) in enumerate(published()):
            cases = [
                (["--method", method, "--distribution", distribution, *binomial], 5)
                for method in ("tree", "exact")
                for distribution in (distributions[number % 3 :][:1] if number else distributions)
            ]
            for found in self.sums(DATA / name, cases):
                expected = tree if found["method"] == "tree" else exact
                self.assertEqual((found["bits"], found["elements"]), (expected, int(count)), found)
                self.assertEqual(found["messages"], 4)

    def test_the_scheme_of_the_source(self):
        schedules = "owner:buffer=1,owner:buffer=4"
        # The scheme knows no MPI library, and ranks of MPICH take three times as long to start and end.
        all_ranks = "1,3,8" if "mpich" in os.environ["STEADFOLD_MPIRUN"] else "1,2,3,4,5,6,7,8"
        distributions = ("lower", "upper", "power2", "optimized")
        for number, (name, _, tree, _, _) in enumerate(published()):
            for distribution in distributions[number % 4 :][:1] if number else distributions:
                ranks = all_ranks if distribution == "upper" and number == 0 else "3,8"
                ran = run("verify", DATA / name, "--ranks", ranks, "--schedules", schedules, "--methods", "tree",
                          "--distribution", distribution, "--json", timeout=300)  # fmt: skip
                rows = self.object_from(ran)["rows"]
                self.assertEqual(len(rows), 2 * len(ranks.split(",")))
                self.assertEqual({row["bits"] for row in rows}, {tree}, (name, distribution))


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why it skips
