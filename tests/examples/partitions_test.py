"""Compiles examples/partitions as C++11. Its sums have the bits of a tree over each partition, on any number of ranks and
threads. This file computes the tree. The control: plain sums differ."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import MPIRUN, bits_of, run

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("STEADFOLD_BUILD", ""))
PATTERNS = [1000, 37, 4200, 1, 650]
LIBRARIES = ["-L", BUILD / "lib", "-lsteadfold_openmpi", "-lsteadfold", f"-Wl,-rpath,{BUILD / 'lib'}", "-pthread"]
FLAGS = ["-std=c++11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-cast-function-type"]


def log_likelihood(partition, pattern):
    mixed = ((pattern + 1) * 2654435761 + partition * 40503) % 2**32
    return -(1 + mixed * 40.0 / 4294967291.0) * (1 + pattern % 7)


def tree(values):
    """Neighbours are added, level by level; a last value without a neighbour stays as it is."""
    while len(values) > 1:
        values = [sum(values[i : i + 2]) for i in range(0, len(values), 2)]
    return values[0]


class Partitions(unittest.TestCase):
    def test_sums_have_the_bits_of_the_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "partitions")
            source = ROOT / "examples/partitions/partitions.cpp"
            compiled = run(*map(str, [os.environ["STEADFOLD_MPICXX"], *FLAGS, "-I", ROOT / "include", source, "-o", program, *LIBRARIES]))
            self.assertEqual(compiled.returncode, 0, compiled.stderr)
            wanted = [bits_of(tree([log_likelihood(p, i) for i in range(count)])) for p, count in enumerate(PATTERNS)]
            plain = set()
            for ranks, threads in [(1, 1), (3, 1), (2, 2), (4, 1), (5, 1), (1, 3), (7, 1)]:
                ran = run(MPIRUN, "-n", str(ranks), str(program), str(threads))
                self.assertEqual(ran.returncode, 0, ran.stderr)
                found = {name: sums for name, *sums in map(str.split, ran.stdout.splitlines())}
                self.assertEqual(found["tree"], wanted, f"{ranks} ranks of {threads} threads")
                plain.add(tuple(found["plain"]))
            self.assertGreater(len(plain), 2, "the control: plain sums depend on the number of workers")


if __name__ == "__main__":
    unittest.main()
