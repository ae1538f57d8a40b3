"""Tries example_sea_ice, in Fortran, with all its scalar products on several rank counts and divisions, and beside the same
solver written again here, without tiles, with rational numbers for exact products."""

import concurrent.futures
import functools
import json
import math
import struct
import unittest
from fractions import Fraction
from pathlib import Path

from support import Example, run

EXAMPLE = Example("example_sea_ice")
NX, NY, PICARD, ITERATIONS, RESTART, INNER = 24, 16, 2, 7, 4, 2
SIZE = ("--cells", f"{NX},{NY}", "--tile", "4,4", "--picard", PICARD, "--iterations", ITERATIONS, "--restart", RESTART,
        "--inner", INNER, "--tolerance", "0")  # fmt: skip
OURS = {"exact": ("exact", "exact_each", "exact_plan"), "binned": ("binned", "binned_plan")}
RIVALS = ("plain", "side_by_side", "integers", "double_double")


@functools.cache
def record_of(ranks, *options):
    done = EXAMPLE.run_ranks(ranks, "--json", *SIZE, *options)
    if done.returncode != 0:
        raise AssertionError(f"{ranks} ranks, {options}: exit {done.returncode}: {done.stderr}")
    record = json.loads(done.stdout)  # fails unless there is one object and nothing else
    record["ways"] = {way["name"]: way for way in record["ways"]}
    return record


def divisions():
    """Few with MPICH, where ranks that share cores take milliseconds for a message."""
    if "MPICH" in record_of(1)["mpi"]:
        return ((1,), (2, "--ranks", "random"), (3, "--ranks", "3x1"))
    return ((1,), (2,), (3, "--ranks", "3x1"), (4, "--ranks", "1x4"), (5, "--ranks", "random"), (7, "--ranks", "random"),
            (8, "--ranks", "2x4"))  # fmt: skip


def setUpModule():
    EXAMPLE.require()
    if not Path(EXAMPLE.program).exists():
        print(f"skipped: {EXAMPLE.program} is not there, build with gfortran")
        raise unittest.SkipTest("there is no example_sea_ice")


def add_to_digest(digest, value):
    for byte in struct.pack("<d", value):
        digest = (digest ^ byte) * 1099511628211 % 2**64
    return digest


class Ice:
    """The same formulas as the program's. Places are (row, column); a cell's corner is named after the point there."""

    SIDE, DT = 16000.0, 3600.0
    NE, NW, SW, SE = range(4)

    def __init__(self):
        self.cells = [(j, i) for j in range(NY) for i in range(NX)]
        x = {c: float(2 * c[1] + 1) / NX - 1 for c in self.cells}
        y = {c: float(2 * c[0] + 1) / NY - 1 for c in self.cells}
        sq = lambda a: a * a
        wet = {c for c in self.cells if sq(x[c] - 0.3) + 0.5 * y[c] * y[c] > 0.1 and sq(x[c] + 0.5) + sq(y[c] - 0.4) > 0.02}
        thick = {c: 1 + 0.5 * (y[c] - x[c]) for c in self.cells}
        self.pressure = {c: 27500.0 * thick[c] * math.exp(-20.0 * (1 - (0.9 + 0.04 * (y[c] - x[c])))) if c in wet else 0.0
                         for c in self.cells}  # fmt: skip
        self.points = [c for c in self.cells if all(around in wet for around in self.around(c))]
        mass = {p: 917.0 * (0.25 * ((thick[a] + thick[b]) + (thick[d] + thick[c])))
                for p in self.points for a, b, c, d in [self.around(p)]}  # fmt: skip
        self.wind, self.current = {}, {}
        for p in self.points:
            speed = 20 / (1 + 8 * (sq(x[p] + 0.2) + sq(y[p] - 0.1)))
            east, north = 3 - speed * (y[p] - 0.1), speed * (x[p] + 0.2)
            force = 1.3 * 1.2e-3 * math.sqrt(east * east + north * north)
            self.wind[p] = (force * east, force * north)
            self.current[p] = (-0.1 * y[p], 0.1 * x[p])
        self.mass = mass
        self.digest = {"products": 0xCBF29CE484222325, "residuals": 0xCBF29CE484222325}

    @staticmethod
    def around(point):
        """The cells of which the point is the north-eastern, north-western, south-western and south-eastern corner."""
        j, i = point
        east = (i + 1) % NX
        return (j, i), (j, east), (j + 1, east), (j + 1, i)

    def corners(self, cell, vector, part):
        j, i = cell
        west = (i - 1) % NX
        return [vector.get(p, (0.0, 0.0))[part] for p in ((j, i), (j, west), (j - 1, west), (j - 1, i))]

    def slopes(self, cell, vector, part):
        ne, nw, sw, se = self.corners(cell, vector, part)
        north, south, east, west = ((a - b) * (1 / self.SIDE) for a, b in ((ne, nw), (se, sw), (ne, se), (nw, sw)))
        return (north, north, south, south), (east, west, west, east)

    def strains(self, cell, vector):
        return zip(*self.slopes(cell, vector, 0), *self.slopes(cell, vector, 1))

    def forces(self, s11, s22, s12):
        def along(across, up):
            north, south = across[0] + across[1], across[3] + across[2]
            east, west = up[0] + up[3], up[1] + up[2]
            return [a * (0.25 / self.SIDE) for a in (-(north + east), north - west, south + west, east - south)]

        return list(zip(along(s11, s12), along(s12, s22)))

    def gather(self, force):
        """The cells beyond the wall push nothing: they are not around any point."""
        return {p: tuple((force[a][self.NE][k] + force[b][self.NW][k]) + (force[c][self.SW][k] + force[d][self.SE][k])
                         for k in (0, 1)) for p in self.points for a, b, c, d in [self.around(p)]}  # fmt: skip

    def freeze(self, vector):
        self.zeta, self.eta, self.drag = {}, {}, {}
        for c in self.cells:
            self.zeta[c] = []
            for ux, uy, vx, vy in self.strains(c, vector):
                spread, stretch, shear = ux + vy, ux - vy, uy + vx
                delta = math.sqrt(spread * spread + (stretch * stretch + shear * shear) / 4.0)
                self.zeta[c].append(0.5 * self.pressure[c] / max(delta, 2.0e-9))
            self.eta[c] = [zeta / 4.0 for zeta in self.zeta[c]]
        for p in self.points:
            east, north = (self.current[p][k] - vector[p][k] for k in (0, 1))
            self.drag[p] = 1026 * 5.5e-3 * math.sqrt(east * east + north * north)
        self.diagonal = {p: self.diagonal_at(p) for p in self.points}

    def diagonal_at(self, p):
        found = [self.mass[p] / self.DT + self.drag[p]] * 2
        beside_and_over = ((self.NW, self.SE), (self.NE, self.SW), (self.SE, self.NW), (self.SW, self.NE))
        for corner, cell in enumerate(self.around(p)):
            zeta, eta = self.zeta[cell], self.eta[cell]
            beside, over = beside_and_over[corner]
            both = [z + e for z, e in zip(zeta, eta)]
            found[0] += 0.25 / self.SIDE / self.SIDE * ((both[corner] + both[beside]) + (eta[corner] + eta[over]))
            found[1] += 0.25 / self.SIDE / self.SIDE * ((both[corner] + both[over]) + (eta[corner] + eta[beside]))
        return tuple(found)

    def times(self, vector):
        force = {}
        for c in self.cells:
            s11, s22, s12 = [], [], []
            for (ux, uy, vx, vy), zeta, eta in zip(self.strains(c, vector), self.zeta[c], self.eta[c]):
                spread, stretch = zeta * (ux + vy), eta * (ux - vy)
                s11.append(spread + stretch)
                s22.append(spread - stretch)
                s12.append(eta * (uy + vx))
            force[c] = self.forces(s11, s22, s12)
        pushed = self.gather(force)
        result = {}
        for p in self.points:
            kept, turned = self.mass[p] / self.DT + self.drag[p], 1.46e-4 * self.mass[p]
            u, v = vector[p]
            result[p] = ((kept * u - turned * v) - pushed[p][0], (kept * v + turned * u) - pushed[p][1])
        return result

    def right_hand_side(self):
        pushed = self.gather({c: self.forces([-0.5 * self.pressure[c]] * 4, [-0.5 * self.pressure[c]] * 4, [0.0] * 4)
                              for c in self.cells})  # fmt: skip
        return {p: tuple(pushed[p][k] + (self.wind[p][k] + self.drag[p] * self.current[p][k])
                         for k in (0, 1)) for p in self.points}  # fmt: skip

    def dot(self, x, y):
        exact = float(sum(Fraction(x[p][k]) * Fraction(y[p][k]) for p in self.points for k in (0, 1)))  # rounded once
        self.digest["products"] = add_to_digest(self.digest["products"], exact)
        return exact

    def mapped(self, function, *vectors):
        return {p: tuple(function(*(vector[p][k] for vector in vectors)) for k in (0, 1)) for p in self.points}

    def solve(self, b, x, most, restart, inner):
        """FGMRES to the last iteration; returns the solution and the residuals."""
        residuals, done = [], 0
        while True:
            w = self.mapped(lambda right, left: right - left, b, self.times(x))
            norm = math.sqrt(self.dot(w, w))
            residuals.append(norm)
            if done == most or norm <= (0 if inner else 1e-6 * residuals[0]):
                return x, residuals
            v, z, upper, turns, rest = [self.mapped(lambda a: a / norm, w)], [], [], [], [norm]
            for k in range(restart):
                z.append(self.precondition(v[k], inner))
                w = self.times(z[k])
                column = [self.dot(each, w) for each in v]
                for part, each in zip(column, v):
                    w = self.mapped(lambda a, c: a + -part * c, w, each)
                norm = math.sqrt(self.dot(w, w))
                column.append(norm)
                for j, (cosine, sine) in enumerate(turns):
                    column[j], column[j + 1] = (cosine * column[j] + sine * column[j + 1],
                                                cosine * column[j + 1] - sine * column[j])  # fmt: skip
                length = math.sqrt(column[k] * column[k] + norm * norm)
                cosine, sine = column[k] / length, norm / length
                turns.append((cosine, sine))
                column[k:] = [length]
                upper.append(column)
                rest[k:] = [cosine * rest[k], -sine * rest[k]]
                residuals.append(abs(rest[-1]))
                done += 1
                if done == most or residuals[-1] <= (0 if inner else 1e-6 * residuals[0]):
                    break
                v.append(self.mapped(lambda a: a / norm, w))
            weights = rest[: len(z)]
            for j in reversed(range(len(z))):
                weights[j] /= upper[j][j]
                for i in range(j):
                    weights[i] -= weights[j] * upper[j][i]
            for weight, each in zip(weights, z):
                x = self.mapped(lambda a, c: a + weight * c, x, each)
            if done == most or residuals[-1] <= (0 if inner else 1e-6 * residuals[0]):
                return x, residuals

    def precondition(self, v, inner):
        if inner == 0:
            return {p: tuple(v[p][k] / self.diagonal[p][k] for k in (0, 1)) for p in self.points}
        return self.solve(v, dict.fromkeys(self.points, (0.0, 0.0)), inner, inner, 0)[0]

    def step(self):
        velocities = dict.fromkeys(self.points, (0.0, 0.0))
        for _ in range(PICARD):
            self.freeze(velocities)
            velocities, residuals = self.solve(self.right_hand_side(), velocities, ITERATIONS, RESTART, INNER)
            for residual in residuals:
                self.digest["residuals"] = add_to_digest(self.digest["residuals"], residual)


class Program(unittest.TestCase):
    def test_is_the_solver_that_is_written_here(self):
        ice = Ice()
        ice.step()
        record = record_of(1)
        self.assertEqual(record["unknowns"], 2 * len(ice.points))
        for name, digest in ice.digest.items():
            self.assertEqual(record["ways"]["exact"][name], f"{digest:016X}", name)

    def test_every_history_is_the_same_on_any_division(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            records = list(pool.map(lambda words: record_of(*words), divisions()))
        self.assertEqual([(r["application"], r["ranks"]) for r in records], [("sea_ice", words[0]) for words in divisions()])
        self.assertEqual(len({r["fingerprint_steadfold"] for r in records}), 1)
        for method, ways in OURS.items():
            bits = {tuple(r["ways"][way][name] for name in ("residuals", "velocities", "products"))
                    for r in records for way in ways}  # fmt: skip
            self.assertEqual(len(bits), 1, method)
        for way in ("plain", "side_by_side"):
            found = {r["ways"][way]["residuals"] for r in records}
            self.assertGreater(len(found), len(records) // 2, f"{way} repeats itself, so this proves nothing")
        for record in records:
            exact = record["ways"]["exact"]["residual"]
            for way in RIVALS:
                self.assertAlmostEqual(record["ways"][way]["residual"] / exact, 1, delta=1e-7, msg=way)
        alone = records[0]["ways"]  # both round each product first, and lose nothing afterwards
        self.assertEqual(alone["double_double"]["products"], alone["binned"]["products"])

    def test_modified_gram_schmidt_has_a_call_for_every_product(self):
        some = ("--ways", "plain,exact,binned,exact_plan", "--gram_schmidt", "modified")
        alone, divided = record_of(1, *some), record_of(3, "--ranks", "random", *some)
        for way in ("exact", "binned", "exact_plan"):
            self.assertEqual(divided["ways"][way]["residuals"], alone["ways"][way]["residuals"])
            self.assertEqual(sum(divided["ways"][way]["calls"][1:]), 0)
        self.assertNotEqual(divided["ways"]["plain"]["residuals"], alone["ways"]["plain"]["residuals"])
        self.assertNotEqual(alone["ways"]["exact"]["residuals"], record_of(1)["ways"]["exact"]["residuals"])

    def test_it_converges_without_an_inner_solver_too(self):
        for words in ((), ("--inner", "0", "--restart", "30")):
            record = record_of(2, "--tolerance", "1e-8", "--iterations", "400", "--ways", "exact,plain", *words)
            for way in record["ways"].values():
                self.assertLess(way["residual"], 1.0001e-8, words)
                self.assertLess(way["iterations"], PICARD * 400, words)

    def test_inner_spaces_may_be_larger(self):
        alone, divided = (record_of(ranks, "--restart", "3", "--inner", "12") for ranks in (1, 2))
        self.assertEqual(divided["fingerprint_steadfold"], alone["fingerprint_steadfold"])

    def test_rounds_are_timed_each(self):
        record = record_of(1, "--rounds", "3", "--ways", "binned_plan,double_double")
        self.assertEqual(list(record["ways"]), ["binned_plan", "double_double"])
        self.assertIsNone(record["fingerprint_plain"])
        for way in record["ways"].values():
            self.assertEqual((len(way["seconds"]), len(way["seconds_of_products"])), (3, 3))
            self.assertTrue(all(0 < part < whole for part, whole in zip(way["seconds_of_products"], way["seconds"])))

    def test_misuse_is_answered(self):
        for words in (("--cell", "4,4"), ("--cells", "x"), ("--tile", "5,4"), ("--ranks", "2x2"), ("--ranks", "x"), ("--ranks", "-1x-1"), ("--cells", "2,2", "--tile", "1,1"),
                      ("--cells", "20000,4"),
                      ("--picard", "0"), ("--restart", "0"), ("--inner", "-1"), ("--ways", "best"), ("--ways", "plain,plain"),
                      ("--ways", ""), ("--tolerance", "nan"), ("--gram_schmidt", "no"), ("--rounds",)):  # fmt: skip
            done = run(EXAMPLE.program, *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertRegex(done.stderr, r"^example_sea_ice: .+ \(.+\), try: ", words)

    def test_the_table_is_for_people(self):
        done = EXAMPLE.run_ranks(2, *SIZE)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^Sea ice of \d+ velocities on 2 ranks$")
        self.assertEqual([line.split()[0] for line in lines[1:]],
                         ["products", *RIVALS, *OURS["exact"], *OURS["binned"]])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
