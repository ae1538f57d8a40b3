"""The calls that the reference quotes (examples/calls) give the results that they say, on any number of ranks."""

import os
import unittest

from support import Example

RANKS = (1, 2, 3, 5)
PROGRAMS = [Example("example_calls"), Example("example_calls_c")]
IN_FORTRAN = Example("example_calls_f")


def setUpModule():
    IN_FORTRAN.require()
    if os.path.exists(IN_FORTRAN.program):  # where there is a compiler
        PROGRAMS.append(IN_FORTRAN)


class Calls(unittest.TestCase):
    def test_all_are_right(self):
        for program in PROGRAMS:
            for ranks in RANKS:
                with self.subTest(program=program.name, ranks=ranks):
                    done = program.run_ranks(ranks)
                    self.assertEqual(done.stdout, "all calls are right\n", done.stderr)
                    self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
