"""The first programs in Python (examples/first): each gives the bits that it says, whatever the number of ranks."""

import math
import subprocess
import sys
import unittest
from pathlib import Path

from support import libraries, on_ranks

FIRST = Path(__file__).resolve().parents[2] / "examples" / "first"
DUE = math.fsum(1.0 / (i + 1) for i in range(1000)).hex()


class FirstPrograms(unittest.TestCase):
    def expect(self, said):
        self.assertEqual(said.strip(), f"sum {DUE} (should be {DUE})")

    def run_alone(self, name):
        return subprocess.run([sys.executable, "-B", FIRST / name], capture_output=True, text=True, check=True).stdout

    def test_alone(self):
        self.expect(self.run_alone("sum.py"))

    def test_dask(self):
        try:
            import dask.array  # noqa: F401
        except ImportError:
            self.skipTest("dask is not installed, install dask[array]")
        self.expect(self.run_alone("sum_dask.py"))

    def test_mpi4py(self):
        for library in libraries():
            for ranks in (1, 3) if library == "mpich" else (1, 3, 4):
                with self.subTest(library=library, ranks=ranks):
                    self.expect(on_ranks(library, ranks, FIRST / "sum_mpi4py.py"))


if __name__ == "__main__":
    unittest.main()
