"""The package over mpi4py: the same bits on any number of ranks and over both MPI libraries."""

from __future__ import annotations

import unittest
from pathlib import Path

from support import libraries, on_ranks

PROGRAM = Path(__file__).with_name("ranks_program.py")
INTERRUPTED = PROGRAM.with_name("interrupted_program.py")
BEFORE_MPI = PROGRAM.with_name("before_mpi_program.py")


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

    def test_ctrl_c(self):
        text = "the communicator can't be used any more (a call on it was interrupted), use another"
        for library in libraries():
            with self.subTest(library=library):
                self.assertEqual(on_ranks(library, 3, INTERRUPTED, timeout=60).splitlines(), ["interrupted True", text, text, text])

    def test_before_mpi(self):
        for library in libraries():
            with self.subTest(library=library):
                self.assertEqual("".join(on_ranks(library, 2, BEFORE_MPI, timeout=60).split()), "22")  # lines of ranks may join


if __name__ == "__main__":
    unittest.main()
