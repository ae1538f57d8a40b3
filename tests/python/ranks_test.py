"""The package over mpi4py: the same bits on any number of ranks and over both MPI libraries."""

from __future__ import annotations

import unittest
from pathlib import Path

from support import libraries, on_ranks

PROGRAM = Path(__file__).with_name("ranks_program.py")


class Ranks(unittest.TestCase):
    """Every line that ranks_program.py prints."""

    def test_bits(self):
        found = {}
        for library in libraries():
            for ranks in (1, 2, 3, 5):
                lines = on_ranks(library, ranks, PROGRAM).splitlines()
                found[library, ranks] = lines
                with self.subTest(library=library, ranks=ranks):
                    self.assertIn(library, lines[-1])
        self.assertGreaterEqual(len({library for library, _ in found}), 1, "no MPI library, or no layer for it")
        first = next(iter(found.values()))
        expected = [line for line in first if not line.startswith("#")]
        self.assertGreater(len(expected), 20)
        for run, lines in found.items():
            self.assertEqual([line for line in lines if not line.startswith("#")], expected, run)
        plain = {line for lines in found.values() for line in lines if line.startswith("# plain")}
        self.assertGreater(len(plain), 1, "plain sums should differ with the number of ranks, or this shows nothing")


if __name__ == "__main__":
    unittest.main()
