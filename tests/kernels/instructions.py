"""Holds kernels, calls and plans to the instructions they need: a count does not depend on the machine's load."""

import os
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import instructions  # noqa: E402

PROGRAMS = os.environ["STEADFOLD_COUNTED"]
# A little above what GCC 12 makes of them for AVX2.
MOST_PER_ELEMENT = {"tree": 1.15, "exact": 4.2, "binned": 9.4}  # binned asks for memory with every vector
MOST_PER_CALL = {"tree": (430, 780, 2150), "exact": (485, 605, 5000), "binned": (590, 660, 8900)}  # of 1, 16, 1000
MOST_PER_RUN = {"tree": (1445, 3700, 6300)}  # of 1, of 801 per rank, of a bundle of 8
MOST_PER_SEGMENT = 2000  # of a pipeline, however many there are


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not here")
class Instructions(unittest.TestCase):
    def hold(self, rows, bounds, least):
        self.assertEqual(len(rows), len(bounds))
        for row, most in zip(rows, bounds):
            with self.subTest(**row):
                self.assertLess(row["instructions"], most)
                self.assertGreater(row["instructions"], least)  # something was counted

    def test_of_elements(self):
        rows = instructions.of_elements(PROGRAMS, "avx2", MOST_PER_ELEMENT, ["f64"])
        self.hold(rows, MOST_PER_ELEMENT.values(), 0.25)  # a load of four elements

    def test_of_calls(self):
        for method, bounds in MOST_PER_CALL.items():
            self.hold(instructions.of_calls(PROGRAMS, "avx2", [method], (1, 16, 1000)), bounds, 50)

    def test_of_runs(self):
        for method, bounds in MOST_PER_RUN.items():
            self.hold(instructions.of_runs(PROGRAMS, "avx2", [method]), bounds, 500)

    def test_of_chains(self):
        rows = instructions.of_chains(PROGRAMS, "avx2", counts=(100, 1000))
        self.hold(rows, [MOST_PER_SEGMENT] * len(rows), 300)


if __name__ == "__main__":
    unittest.main()
