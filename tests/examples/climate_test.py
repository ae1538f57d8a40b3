"""Tries example_climate on several rank counts and over restarts, and beside the same ocean written again here, on one
rank, with rational numbers for exact sums."""

import concurrent.futures
import functools
import itertools
import json
import math
import re
import shutil
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

from support import Example, bits_of, run

EXAMPLE = Example("example_climate")
PROGRAM, run_ranks = EXAMPLE.program, EXAMPLE.run_ranks
COLUMNS, ROWS, LEVELS, STEPS = 13, 11, 3, 8  # no rank count divides them
SIZE = ("--cells", f"{COLUMNS},{ROWS},{LEVELS}")


def record_of_job(ranks, *options):
    done = run_ranks(ranks, "--json", *SIZE, *options)
    if done.returncode != 0:
        raise AssertionError(f"{ranks} ranks, {options}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)  # fails unless there is one object and nothing else


record_of = functools.cache(record_of_job)


def all_of(*jobs):
    """What functions without arguments return, several at a time: a launcher sleeps for most of its time."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return [done.result() for done in [pool.submit(job) for job in jobs]]


def rank_counts():
    """Few with MPICH, where ranks that share cores take milliseconds for a message."""
    return (1, 3) if "MPICH" in record_of(1, "--steps", STEPS)["mpi"] else (1, 2, 3, 5)


def setUpModule():
    EXAMPLE.require()
    all_of(*(functools.partial(record_of, ranks, *words, "--steps", STEPS)
             for ranks, words in itertools.product(rank_counts(), ((), ("--plain",)))))


def exact(pairs):
    """The quotient of two integers is correctly rounded."""
    return float(sum(Fraction(a) * Fraction(b) for a, b in pairs))


def middle(index, count):
    return (2.0 * index + 1) / count - 1


class Ocean:
    """The same formulas as the program's, without blocks: cells are the keys (level, row, column) of dictionaries."""

    def __init__(self):
        surface = list(itertools.product(range(ROWS), range(COLUMNS)))
        self.area = {(j, i): 1.2e10 * (1 - 0.9 * middle(j, ROWS) * middle(j, ROWS)) for j, i in surface}
        self.wet = [(k, j, i) for k in range(LEVELS) for j, i in surface if k < self.depth(j, i)]
        temperature, salinity = {}, {}
        for k, j, i in self.wet:
            x, y = middle(i, COLUMNS), middle(j, ROWS)
            temperature[k, j, i] = 25 * (1 - y * y) / (1.0 + k) + x / 7
            salinity[k, j, i] = 35 + x * y / 3 - k / 11
        self.tracers = [temperature, salinity]
        self.kept = [Fraction(0), Fraction(0)]
        self.sums = []  # of all fluxes in all steps

    @staticmethod
    def depth(j, i):
        east, y = middle(i, COLUMNS) - 0.3, middle(j, ROWS)
        shore = east * east + 0.5 * y * y - 0.1
        return 0 if shore < 0 else min(LEVELS, 1 + int(8 * shore * LEVELS))

    def mixed(self, values):
        result = {}
        for k, j, i in self.wet:
            here, flow = values[k, j, i], 0.0
            beside = [(0.1, (k, j, (i - 1) % COLUMNS)), (0.1, (k, j, (i + 1) % COLUMNS)), (0.1, (k, j - 1, i)),
                      (0.1, (k, j + 1, i)), (0.02, (k - 1, j, i)), (0.02, (k + 1, j, i))]
            for factor, there in beside:
                if there in values:
                    flow += factor * (values[there] - here)
            result[k, j, i] = here + flow
        return result

    def step(self):
        self.tracers = [self.mixed(values) for values in self.tracers]
        temperature, salinity = self.tracers
        top = [cell for cell in self.wet if cell[0] == 0]
        fluxes = [{}, {}]
        for cell in top:
            y = middle(cell[1], ROWS)
            fluxes[0][cell] = 0.5 * (1 - y * y) - 0.02 * temperature[cell]
            fluxes[1][cell] = 0.01 * y - 0.002 * salinity[cell]
        for number, flux in enumerate(fluxes):
            total = exact((flux[cell], self.area[cell[1:]]) for cell in top)
            self.sums.append(total)
            mean = total / self.areas(0)
            for cell in top:
                flux[cell] -= mean
                self.kept[number] += Fraction(flux[cell]) * Fraction(self.area[cell[1:]])
                self.tracers[number][cell] += flux[cell]

    def areas(self, level):
        return math.fsum(self.area[j, i] for k, j, i in self.wet if k == level)

    def mean(self, number, level):
        values = self.tracers[number]
        total = exact((values[cell], self.area[cell[1:]]) for cell in self.wet if cell[0] == level)
        return total / self.areas(level)


def bits_at_the_end(record):
    """All that depends on the last state and on the budget."""
    means = [mean["bits"] for name in ("temperature", "salinity") for mean in record[name]]
    return means + [record["heat"]["bits"], record["water"]["bits"]]


class Bits(unittest.TestCase):
    def test_the_ocean_is_that_of_an_independent_program(self):
        ocean = Ocean()
        self.assertGreater(len(ocean.area), sum(cell[0] == 0 for cell in ocean.wet))  # there is land
        for _ in range(STEPS):
            ocean.step()
        expected = [bits_of(ocean.mean(number, level)) for number in (0, 1) for level in range(LEVELS)]
        expected += [bits_of(float(kept)) for kept in ocean.kept]
        self.assertEqual(bits_at_the_end(record_of(1, "--steps", STEPS)), expected)

    def test_steadfold_has_the_same_bits_on_every_rank_count(self):
        first = record_of(1, "--steps", STEPS)
        for ranks in rank_counts():
            with self.subTest(ranks=ranks):
                record = record_of(ranks, "--steps", STEPS)
                self.assertEqual((record["application"], record["ranks"], record["sums"]), ("climate", ranks, "exact"))
                self.assertEqual(record["blocks"][0] * record["blocks"][1], ranks)
                self.assertEqual(bits_at_the_end(record), bits_at_the_end(first))
                self.assertEqual(record["fingerprint"], first["fingerprint"])

    def test_control_plain_sums_do_change_with_the_rank_count(self):
        records = [record_of(ranks, "--plain", "--steps", STEPS) for ranks in rank_counts()]
        self.assertEqual({record["sums"] for record in records}, {"plain"})
        for of in (lambda record: record["fingerprint"], lambda record: record["heat"]["bits"], bits_at_the_end):
            self.assertGreater(len({str(of(record)) for record in records}), 1)

    def test_the_ways_agree_but_for_rounding(self):
        plain, steadfold = (record_of(1, *words, "--steps", STEPS) for words in (("--plain",), ()))
        for name in ("temperature", "salinity"):
            for a, b in zip(plain[name], steadfold[name]):
                self.assertLess(abs(a["value"] - b["value"]), 1e-11 * abs(b["value"]))

    def test_blocks_along_both_axes(self):
        record = record_of(4, "--steps", STEPS)
        self.assertEqual(record["blocks"], [2, 2])
        self.assertEqual(record["fingerprint"], record_of(1, "--steps", STEPS)["fingerprint"])


class Restart(unittest.TestCase):
    def test_goes_on_with_another_number_of_ranks(self):
        def restart(before, after):
            with tempfile.TemporaryDirectory() as room:
                half = record_of_job(before, "--steps", STEPS // 2, "--save", room)
                files = [(Path(room) / name).read_bytes() for name in ("budget", "tracers")]
                return half, files, record_of_job(after, "--steps", STEPS - STEPS // 2, "--load", room)

        through = bits_at_the_end(record_of(1, "--steps", STEPS))
        found = all_of(functools.partial(restart, 3, 1), functools.partial(restart, 1, 3))
        for half, files, rest in found:
            self.assertNotEqual(bits_at_the_end(half), through)
            self.assertEqual(files, found[0][1], "files depend on the number of ranks")
            self.assertEqual(bits_at_the_end(rest), through)

    def test_what_was_not_saved_is_refused_on_all_ranks(self):
        with tempfile.TemporaryDirectory() as room:
            def load(name, *words):
                return functools.partial(run_ranks, 3, *words, "--load", Path(room) / name)

            for name in ("saved", "damaged"):
                (Path(room) / name).mkdir()
            record_of_job(1, "--steps", 0, "--save", Path(room) / "saved")
            saved = (Path(room) / "saved" / "budget").read_bytes()
            (Path(room) / "damaged" / "budget").write_bytes(saved[:-1] + bytes([saved[-1] ^ 1]))
            shutil.copy(Path(room) / "saved" / "tracers", Path(room) / "damaged")
            answers = all_of(load("nowhere", *SIZE), load("saved", "--cells", "13,11,2"),
                             load("saved", *SIZE, "--plain"), load("damaged", *SIZE))
            for done, said in zip(answers, ("nowhere", "--cells", "--plain", "bytes")):
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(said, done.stderr)


class ForPeople(unittest.TestCase):
    def test_a_job_prints_a_row_per_level(self):
        done = run(PROGRAM, *SIZE, "--steps", str(STEPS))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^ +(\d+) \| .* ([0-9A-F]{16})  \| .* ([0-9A-F]{16})$", done.stdout, re.MULTILINE)
        record = record_of(1, "--steps", STEPS)
        expected = [(str(level), a["bits"], b["bits"])
                    for level, (a, b) in enumerate(zip(record["temperature"], record["salinity"]))]
        self.assertEqual(rows, expected, done.stdout)

    def test_the_page_shows_the_bits_of_the_program(self):
        page = (Path(__file__).resolve().parents[2] / "docs" / "climate.md").read_text()
        rows = re.findall(r"^\d.*\|  ([0-9A-F]{16})  +(\S+)$", page, re.MULTILINE)  # by Steadfold
        self.assertEqual(len(rows), 6)
        done = run(PROGRAM, "--json")
        record = json.loads(done.stdout)
        self.assertEqual(set(rows), {(record["temperature"][0]["bits"], f"{record['heat']['value']:.6e}")})

    def test_compare_prints_a_row_per_rank_count_and_a_restart(self):
        done = run(PROGRAM, "--compare", "--ranks", "1,2", "--steps", "4", *SIZE)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^(\d[^|]*?) +\|  ([0-9A-F]{16})[ *] .*\|  ([0-9A-F]{16}) ", done.stdout, re.MULTILINE)
        self.assertEqual([label for label, _, _ in rows], ["1", "2", "2, then 1"], done.stdout)
        self.assertEqual(len({bits for _, _, bits in rows}), 1, done.stdout)
        self.assertRegex(done.stdout, r"3 runs: [23] different oceans with MPI_Allreduce, 1 with Steadfold\.")

    def test_usage_errors(self):
        wrong = (("--cells", "3,4"), ("--steps", "-1"), ("--ranks", "1"), ("--compare", "--plain"))
        for words, done in zip(wrong, all_of(*(functools.partial(run, PROGRAM, *words) for words in wrong))):
            with self.subTest(words=words):
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"(?m)^.+ \(.+\), .+$")

    def test_what_is_refused_on_ranks_that_run(self):
        few, outer = all_of(functools.partial(run_ranks, 3, "--cells", "1,2,1"),
                            functools.partial(run_ranks, 2, "--compare"))
        for done, said in ((few, "take fewer ranks"), (outer, "leave out mpirun")):
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertEqual(done.stderr.count(said), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
