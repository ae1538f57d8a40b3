"""Holds the kernels to the instructions they need: what is counted does not depend on the machine's load."""

import os
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import instructions  # noqa: E402

PROGRAM = os.environ["STEADFOLD_ONCE"]
# A little above what GCC 12 makes of them.
MOST = {"tree": 1.15, "exact": 4.2, "binned": 8.6}


class Instructions(unittest.TestCase):
    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not here")
    def test_of_avx2_kernels(self):
        for row in instructions.measure(PROGRAM, ["avx2"], types=["f64"]):
            with self.subTest(**row):
                self.assertLess(row["instructions_per_element"], MOST[row["method"]])
                self.assertGreater(row["instructions_per_element"], 0.25)  # a load of four elements: something was counted


if __name__ == "__main__":
    unittest.main()
