"""Tries example_ocean, in Fortran, on several rank counts, divisions among ranks and threads and over restarts, and
beside the same ocean written again here, without tiles, with rational numbers for exact sums."""

import concurrent.futures
import functools
import json
import math
import struct
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

from support import Example, run

EXAMPLE = Example("example_ocean")
NX, NY, STEPS = 24, 16, 12
SIZE = ("--cells", f"{NX},{NY}", "--tile", "4,4")


def record_of_job(ranks, *options):
    done = EXAMPLE.run_ranks(ranks, "--json", *SIZE, *options)
    if done.returncode != 0:
        raise AssertionError(f"{ranks} ranks, {options}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)  # fails unless there is one object and nothing else


record_of = functools.cache(record_of_job)


def is_mpich():
    return "MPICH" in record_of(1, "--steps", STEPS)["mpi"]


def divisions():
    """Few with MPICH, where ranks that share cores take milliseconds for a message."""
    if is_mpich():
        return ((1,), (2, "--ranks", "random"), (3, "--ranks", "3x1", "--threads", "2"))
    return ((1,), (1, "--threads", "2"), (2,), (3, "--ranks", "3x1", "--threads", "2"), (4, "--ranks", "1x4"),
            (4, "--ranks", "random"), (5, "--ranks", "random"), (8, "--ranks", "2x4"))  # fmt: skip


def setUpModule():
    EXAMPLE.require()
    if not Path(EXAMPLE.program).exists():
        print(f"skipped: {EXAMPLE.program} is not there, build with gfortran")
        raise unittest.SkipTest("there is no example_ocean")


class Ocean:
    """The same formulas as the program's. Cells are the keys (row, column) of dictionaries."""

    GRAVITY, DEPTH, DY, DT, WIND = 9.81, 100.0, 5.0e4, 200.0, 1.0e-6

    def __init__(self):
        self.cells = [(j, i) for j in range(NY) for i in range(NX)]
        y = {(j, i): float(2 * j + 1) / NY - 1 for j, i in self.cells}
        x = {(j, i): float(2 * i + 1) / NX - 1 for j, i in self.cells}
        self.dx = {c: self.DY * (1 - 0.4 * y[c] * y[c]) for c in self.cells}
        for i in range(NX):  # the face of the southern wall
            edge = float(2 * 0 - 1) / NY - 1
            self.dx[-1, i] = self.DY * (1 - 0.4 * edge * edge)
        self.area = {c: self.dx[c] * self.DY for c in self.cells}
        self.turn = {c: 1.0e-4 * y[c] for c in self.cells}
        self.wet = {c for c in self.cells if (x[c] - 0.3) * (x[c] - 0.3) + 0.5 * y[c] * y[c] > 0.1}
        self.h = {c: 1 / (1 + 20 * ((x[c] + 0.4) * (x[c] + 0.4) + (y[c] - 0.2) * (y[c] - 0.2))) if c in self.wet else 0.0
                  for c in self.cells}  # fmt: skip
        self.u, self.v = dict.fromkeys(self.cells, 0.0), dict.fromkeys(self.cells, 0.0)
        self.digest = 0xCBF29CE484222325
        self.measure()
        self.first_level, self.first_energy = self.level, self.energy

    def total(self, values):
        exact = float(sum(Fraction(values[c]) * Fraction(self.area[c]) for c in self.wet))  # rounded once
        for byte in struct.pack("<d", exact):
            self.digest = (self.digest ^ byte) * 1099511628211 % 2**64
        return exact

    def measure(self):
        energy = {c: 0.5 * (self.GRAVITY * (self.h[c] * self.h[c]) + self.DEPTH * (self.u[c] * self.u[c] + self.v[c] * self.v[c]))
                  for c in self.wet}  # fmt: skip
        level, energy, area = self.total(self.h), self.total(energy), self.total(dict.fromkeys(self.wet, 1.0))
        self.level, self.energy = level / area, energy / area

    def step(self):
        drag = 1.0e-6 * self.energy / self.first_energy
        u, v = dict(self.u), dict(self.v)
        for j, i in self.cells:
            c, e, w, n, s = (j, i), (j, (i + 1) % NX), (j, (i - 1) % NX), (j + 1, i), (j - 1, i)
            across = 0.25 * ((v[c] + v[e]) + (v.get(s, 0.0) + v.get((j - 1, (i + 1) % NX), 0.0)))
            along = 0.25 * ((u[c] + u.get(n, 0.0)) + (u[w] + u.get((j + 1, (i - 1) % NX), 0.0)))
            if c in self.wet and e in self.wet:
                slope = self.GRAVITY * (self.h[e] - self.h[c]) / self.dx[c]
                self.u[c] = u[c] + self.DT * (self.turn[c] * across - drag * u[c] + 1.0e4 * self.WIND * self.turn[c] - slope)
            if c in self.wet and n in self.wet:
                slope = self.GRAVITY * (self.h[n] - self.h[c]) / self.DY
                self.v[c] = v[c] - self.DT * (self.turn[c] * along + drag * v[c] + slope)
        for j, i in self.wet:
            west, south = (j, (i - 1) % NX), (j - 1, i)
            gone = self.DY * (self.u[j, i] - self.u[west]) + (self.dx[j, i] * self.v[j, i] - self.dx[south] * self.v.get(south, 0.0))
            self.h[j, i] = self.h[j, i] - self.DT * self.DEPTH * gone / self.area[j, i]
        self.measure()
        for c in self.wet:
            self.h[c] = self.h[c] - (self.level - self.first_level)


class Program(unittest.TestCase):
    def test_is_the_ocean_that_is_written_here(self):
        ocean = Ocean()
        for _ in range(STEPS):
            ocean.step()
        record = record_of(1, "--steps", STEPS)
        self.assertEqual(record["fingerprint_steadfold"], f"{ocean.digest:016X}")
        self.assertEqual((record["mean_level"], record["energy"]), (ocean.level, ocean.energy))
        self.assertTrue(math.isfinite(ocean.energy) and ocean.energy > 0)

    def test_every_bit_is_the_same_on_any_ranks_and_threads(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            records = list(pool.map(lambda words: record_of(*words, "--steps", STEPS), divisions()))
        ours = {(r["fingerprint_steadfold"], r["state_steadfold"], r["mean_level"], r["energy"]) for r in records}
        self.assertEqual(len(ours), 1, records)
        plain = [(r["fingerprint_plain"], r["state_plain"]) for r in records]
        self.assertGreater(len(set(plain)), len(records) // 2, "plain sums repeat themselves, so this proves nothing")
        self.assertEqual([(r["application"], r["ranks"]) for r in records], [("ocean", words[0]) for words in divisions()])

    def test_goes_on_from_a_file_on_another_number_of_ranks(self):
        whole = record_of(1, "--steps", STEPS)
        with tempfile.TemporaryDirectory() as room:
            file = Path(room) / "state"
            record_of_job(3, "--ranks", "random", "--steps", STEPS - 5, "--save", file)
            rest = record_of_job(2, "--steps", 5, "--load", file)
            other = EXAMPLE.run_ranks(1, "--cells", "12,16", "--tile", "4,4", "--load", file)
        for name in ("fingerprint_steadfold", "state_steadfold", "steps", "energy"):
            self.assertEqual(rest[name], whole[name])
        self.assertNotEqual(rest["state_plain"], whole["state_plain"])
        self.assertNotEqual(other.returncode, 0)
        self.assertIn("holds another grid", other.stderr)

    def test_misuse_is_answered(self):
        for words in (("--cell", "4,4"), ("--cells", "x"), ("--tile", "5,4"), ("--ranks", "2x2"), ("--ranks", "-1x-1"), ("--ranks", "x"),
                      ("--steps", "-1"), ("--threads", "0"), ("--load",)):  # fmt: skip
            done = run(EXAMPLE.program, *words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn("example_ocean: ", done.stderr, words)

    def test_the_table_is_for_people(self):
        done = EXAMPLE.run_ranks(2, *SIZE, "--steps", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "An ocean after 3 steps, on 2 ranks")
        self.assertEqual([line.split()[0] for line in lines[1:]], ["sums", "plain", "Steadfold"])


if __name__ == "__main__":
    unittest.main()
