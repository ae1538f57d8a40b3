"""Tries example_solver on several rank and thread counts, and beside conjugate gradients written again here, with
rational numbers for exact sums."""

import functools
import itertools
import json
import re
import struct
import unittest
from fractions import Fraction
from pathlib import Path

from support import Example, run

EXAMPLE = Example("example_solver")
PROGRAM, run_ranks = EXAMPLE.program, EXAMPLE.run_ranks
DOTS = ("plain", "exact", "binned", "tree")
ALGORITHMS = ("cg", "pipelined")
POINTS = (7, 6, 10)  # 3, 4, 7 and 8 ranks get unequal slabs; k changes at the wall
SIZE = ("--points", "7,6,10", "--contrast", "1000", "--iterations", "12")


@functools.cache
def record_of(ranks, *options):
    done = run_ranks(ranks, "--json", *options)
    if done.returncode != 0:
        raise AssertionError(f"{ranks} ranks, {options}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)  # fails unless there is one object and nothing else


def workers():
    """Numbers of ranks and threads, not all of both: a job of many of both takes seconds on few cores. Fewer with MPICH,
    where ranks that share cores take milliseconds for a message."""
    if "MPICH" in record_of(1, *SIZE, "--algorithm", "cg")["mpi"]:
        return [(1, 1), (1, 3), (2, 1), (2, 3), (3, 1), (5, 1)]
    return [(1, 1), (1, 3), (2, 3), (3, 1), (4, 3), (5, 1), (7, 3), (8, 1)]


def setUpModule():
    EXAMPLE.require()


def exact_dot(x, y):
    """The quotient of two integers is correctly rounded."""
    return float(sum(Fraction(a) * Fraction(b) for a, b in zip(x, y)))


def tree_dot(x, y):
    level = [a * b for a, b in zip(x, y)]
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


class System:
    """The same formulas as the program's, without slabs."""

    def __init__(self, points, contrast):
        self.points = points
        self.places = [(x, y, z) for z in range(points[2]) for y in range(points[1]) for x in range(points[0])]
        self.k = {at: 1.0 if sum(i // 5 for i in at) % 2 == 0 else contrast for at in self.places}
        self.f = [self.charge(at, (0.3, 0.4, 0.2)) - 0.7 * self.charge(at, (0.6, 0.5, 0.9)) for at in self.places]

    def charge(self, at, parts):
        squared = 1.0
        for i, part, count in zip(at, parts, self.points):
            distance = (i + 1.0) - part * count
            squared += distance * distance
        return 1 / (squared * squared * squared)

    def times(self, vector):
        u = dict(zip(self.places, vector))
        result = []
        for at in self.places:
            flow = None
            for axis, step in itertools.product(range(3), (-1, 1)):
                beside = tuple(i + step * (a == axis) for a, i in enumerate(at))
                part = (self.k[at] + self.k.get(beside, self.k[at])) * (u[at] - u.get(beside, 0.0))
                flow = part if flow is None else flow + part
            result.append(0.5 * flow)
        return result

    def cg(self, dot, iterations):
        """(r, r) of every iteration."""
        r = p = self.f
        found = [dot(r, r)]
        for _ in range(iterations):
            q = self.times(p)
            alpha = found[-1] / dot(p, q)
            r = [a - alpha * b for a, b in zip(r, q)]
            found.append(dot(r, r))
            beta = found[-1] / found[-2]
            p = [a + beta * b for a, b in zip(r, p)]
        return found

    def pipelined(self, dot, iterations):
        r = self.f
        w = self.times(r)
        p = s = z = [0.0] * len(r)
        found, alpha, beta = [], 0.0, 0.0
        for _ in range(iterations + 1):
            q = self.times(w)
            found.append(dot(r, r))
            beta = found[-1] / found[-2] if len(found) > 1 else 0.0
            alpha = found[-1] / (dot(w, r) - (beta * found[-1] / alpha if len(found) > 1 else 0.0))
            z = [a + beta * b for a, b in zip(q, z)]
            s = [a + beta * b for a, b in zip(w, s)]
            p = [a + beta * b for a, b in zip(r, p)]
            r = [a - alpha * b for a, b in zip(r, s)]
            w = [a - alpha * b for a, b in zip(w, z)]
        return found


def digest_of(values):
    digest = 0xCBF29CE484222325  # FNV-1a
    for byte in b"".join(struct.pack("<d", value) for value in values):
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    return f"{digest:016X}"


class Bits(unittest.TestCase):
    def test_residuals_are_those_of_an_independent_program(self):
        system = System(POINTS, 1000.0)
        for algorithm, (name, dot) in itertools.product(ALGORITHMS, (("exact", exact_dot), ("tree", tree_dot))):
            with self.subTest(algorithm=algorithm, dot=name):
                found = record_of(1, *SIZE, "--algorithm", algorithm)["dots"][name]
                self.assertEqual(found["iterations"], 12)
                self.assertEqual(found["residuals"], digest_of(getattr(system, algorithm)(dot, 12)))

    def test_steadfold_has_the_same_bits_on_all_ranks_and_threads(self):
        for algorithm in ALGORITHMS:
            first = record_of(1, *SIZE, "--algorithm", algorithm)
            for ranks, threads in workers():
                with self.subTest(algorithm=algorithm, ranks=ranks, threads=threads):
                    options = ("--threads", threads) if threads > 1 else ()
                    record = record_of(ranks, *SIZE, "--algorithm", algorithm, *options)
                    self.assertEqual((record["application"], record["ranks"], record["threads"]),
                                     ("solver", ranks, threads))
                    self.assertEqual(record["fingerprint_steadfold"], first["fingerprint_steadfold"])
                    for dot in DOTS[1:]:
                        for key in ("iterations", "residuals", "residual_bits"):
                            self.assertEqual(record["dots"][dot][key], first["dots"][dot][key], f"{dot}: {key}")

    def test_control_plain_products_change_with_ranks_and_with_threads(self):
        one = record_of(1, *SIZE, "--algorithm", "cg")["fingerprint_plain"]
        more_ranks = [record_of(ranks, *SIZE, "--algorithm", "cg") for ranks, threads in workers() if threads == 1]
        self.assertGreater(len({record["fingerprint_plain"] for record in more_ranks}), 1)
        self.assertNotEqual(record_of(1, *SIZE, "--algorithm", "cg", "--threads", 3)["fingerprint_plain"], one)

    def test_slabs_of_any_height(self):
        first = record_of(1, *SIZE, "--algorithm", "cg")
        for planes in ("0,10,0", "4,0,6", "1,7,2"):
            with self.subTest(planes=planes):
                record = record_of(3, *SIZE, "--planes", planes)
                self.assertEqual(record["fingerprint_steadfold"], first["fingerprint_steadfold"])

    def test_more_ranks_than_planes(self):
        few = ("--points", "5,4,2", "--iterations", "8", "--algorithm", "pipelined")
        self.assertEqual(record_of(3, *few)["fingerprint_steadfold"], record_of(1, *few)["fingerprint_steadfold"])


class Solution(unittest.TestCase):
    def test_both_algorithms_converge_with_all_products(self):
        for algorithm, contrast in itertools.product(ALGORITHMS, (1, 50)):
            options = ("--points", "12,9,11", "--contrast", contrast, "--algorithm", algorithm, "--tolerance", "1e-9")
            for dot, found in record_of(1, *options)["dots"].items():
                with self.subTest(algorithm=algorithm, contrast=contrast, dot=dot):
                    self.assertTrue(found["converged"])
                    self.assertLess(found["residual"], 2e-9)
                    self.assertGreater(found["iterations"], 20)
                    self.assertGreater(found["seconds"], 0)

    def test_what_was_not_run_has_no_fingerprint(self):
        self.assertIsNone(record_of(1, *SIZE, "--dot", "plain")["fingerprint_steadfold"])
        record = record_of(1, *SIZE, "--dot", "tree,exact")
        self.assertEqual((record["fingerprint_plain"], list(record["dots"])), (None, ["exact", "tree"]))

    def test_a_box_of_one_point(self):
        found = record_of(1, "--points", "1", "--contrast", "3")["dots"]["exact"]
        self.assertEqual((found["iterations"], found["residual"]), (1, 0.0))


class ForPeople(unittest.TestCase):
    def test_a_job_prints_a_row_per_dot(self):
        done = run_ranks(2, *SIZE, "--tolerance", "1e-3")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^(\w+) +\| +(\d+)  ([0-9A-F]{16}) ", done.stdout, re.MULTILINE)
        self.assertEqual([name for name, _, _ in rows], list(DOTS), done.stdout)
        dots = record_of(2, *SIZE, "--tolerance", "1e-3")["dots"]
        self.assertEqual([residuals for _, _, residuals in rows], [dots[name]["residuals"] for name in DOTS])

    def test_the_page_shows_the_bits_of_the_program(self):
        page = (Path(__file__).resolve().parents[2] / "docs" / "solvers.md").read_text()
        page = page.split("<!-- figure pipelined -->")[1].split("<!-- end -->")[0]
        rows = re.findall(r"^ +\d +\d \|.*\| +(\d+) (\w{8}) +\| +(\d+) (\w{8})$", page, re.MULTILINE)  # by Steadfold
        self.assertEqual(len(rows), 6)
        dots = record_of(1, "--points", "24", "--algorithm", "pipelined", "--dot", "exact,binned")["dots"]
        exact, binned = ((str(found["iterations"]), found["residuals"][:8]) for found in (dots["exact"], dots["binned"]))
        self.assertEqual({exact + binned}, set(rows))

    def test_compare_prints_a_row_per_job(self):
        done = run(PROGRAM, "--compare", "--ranks", "1,2", "--threads", "1,2", *SIZE)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^ +(\d+) +(\d+) \| (.*)$", done.stdout, re.MULTILINE)
        self.assertEqual([(int(p), int(t)) for p, t, _ in rows], [(1, 1), (1, 2), (2, 1), (2, 2)], done.stdout)
        cells = [re.findall(r"([0-9A-F]{8})([ *])", row) for _, _, row in rows]
        for row in cells:
            self.assertEqual([mark == "*" for _, mark in row], [a[0] != b[0] for a, b in zip(row, cells[0])])
        self.assertRegex(done.stdout, r"plain +[2-4] different runs")
        for dot in DOTS[1:]:
            self.assertRegex(done.stdout, rf"{dot} +1 different run,")

    def test_usage_errors(self):
        for words in (("--points", "0"), ("--points", "3,4"), ("--points", "many"), ("--dot", "best"),
                      ("--algorithm", "gmres"), ("--contrast", "nan"), ("--tolerance", "-1"), ("--iterations", "-1"),
                      ("--threads", "1,2"), ("--planes", "-1"), ("--planes", "32,0"), ("--planes", "31"),
                      ("--ranks", "1"), ("--unknown",), ("--compare", "--json"), ("--compare", "--points", "3,4")):
            with self.subTest(words=words):
                done = run(PROGRAM, *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"(?m)^.+ \(.+\), .+$")

    def test_one_rank_complains_for_all(self):
        done = run_ranks(3, "--planes", "1,2,3")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("(6 in all, the box has 32)"), 1, done.stderr)

    def test_compare_under_a_launcher_is_refused(self):
        done = run_ranks(2, "--compare")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("leave out mpirun", done.stderr)


if __name__ == "__main__":
    unittest.main()
