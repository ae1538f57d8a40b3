"""Runs the interposer under the address sanitizer. The test programs link the interposer. It cannot be preloaded, because the
sanitizer must be loaded first."""

import os
import re
import subprocess
import tempfile
import unittest

PROGRAMS = os.environ["STEADFOLD_INTERPOSE_PROGRAMS"]


class Sanitized(unittest.TestCase):
    def ended_well(self, program, *words, **settings):
        own = os.environ | {f"STEADFOLD_INTERPOSE_{name}": value for name, value in settings.items()}
        # Open MPI unloads components that keep memory, so leaks have no names to suppress.
        own["ASAN_OPTIONS"] = own["ASAN_OPTIONS"] + ":detect_leaks=0"
        ran = subprocess.run([os.environ["STEADFOLD_MPIRUN"], "-n", "3", f"{PROGRAMS}/{program}", *words], capture_output=True, text=True,
                             timeout=200, env=own)  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout + ran.stderr

    def test_each_function_with_all_that_observes(self):
        with tempfile.TemporaryDirectory() as folder:
            record = f"{folder}/record"
            told = self.ended_well("collectives", RECORD=record, REPORT="1", CALLERS="2")
            self.assertIn("0 results are wrong", told)
            self.assertRegex(told, r"(?m)^Allreduce +MPI_SUM .* rank order, method tree +\w+ \(collectives\.c:\d+\) < ")
            told = self.ended_well("collectives", COMPARE=record)
            self.assertIn("the reductions of both runs are the same on all ranks", told)
        self.assertIn("0 results are wrong", self.ended_well("collectives", "sums of doubles", DIAGNOSE="1"))

    def test_the_edges(self):
        for words in (["pmpi"], ["wrapped"], ["extremes"], ["binary128"]):
            with self.subTest(words[0]):
                self.assertRegex(self.ended_well("edges", *words, DIAGNOSE="1", EXTREMES="ieee"), r"(?m)^Allreduce .* rank order, method tree ")
        with tempfile.TemporaryDirectory() as folder:
            self.ended_well("edges", "noisy", "1", "0", RECORD=f"{folder}/record")
            told = self.ended_well("edges", "noisy", "2", "1", COMPARE=f"{folder}/record", SKIP="MPI_MAX")
            self.assertEqual(len(re.findall(r"(?m)^rank \d, reduction number ", told)), 4, told)


if __name__ == "__main__":
    unittest.main()
