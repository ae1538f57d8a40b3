"""Tries examples/tensor_parallel on several rank counts, and beside the same model written again here, whose tiles are
added by the binary tree, in loops."""

import hashlib
import os
import re
import unittest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from support.python_programs import IS_MPICH, Program

LAYERS, WIDTH, TILE, TILES, BATCH, STEPS, WORDS = 2, 32, 8, 13, 3, 3, 40
SIZE = ("--layers", LAYERS, "--width", WIDTH, "--tile", TILE, "--tiles", TILES, "--batch", BATCH, "--steps", STEPS, "--words", WORDS)
RANKS = (1, 2, 3) if IS_MPICH else (1, 3, 4, 8)
PROGRAM = Program("tensor_parallel")
job, record_of = PROGRAM.job, PROGRAM.record_of


class Model:
    """The same formulas as the program's, for one process."""

    def __init__(self):
        hidden = TILE * TILES
        self.up = [[self.matrix((n, t, 0), (WIDTH, TILE), WIDTH**-0.5) for t in range(TILES)] for n in range(LAYERS)]
        self.down = [[self.matrix((n, t, 1), (TILE, WIDTH), hidden**-0.5) for t in range(TILES)] for n in range(LAYERS)]
        self.embedding = self.matrix((LAYERS, 0), (WORDS, WIDTH), 1.0)
        self.head = self.matrix((LAYERS, 1), (WIDTH, WORDS), 2 * WIDTH**-0.5)

    @staticmethod
    def matrix(key, shape, deviation):
        return (np.random.default_rng([1, *key]).standard_normal(shape) * deviation).astype(np.float32)

    def whole(self, n, x):
        return np.maximum(x @ np.hstack(self.up[n]), 0) @ np.vstack(self.down[n])

    def by_tree(self, n, x):
        level = [np.maximum(x @ up, 0) @ down for up, down in zip(self.up[n], self.down[n])]
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
        return level[0]

    def run(self, product, tokens=None):
        def scaled(x):
            return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(1e-6))

        digest, chosen = hashlib.sha256(), []
        x = self.embedding[:BATCH]
        for step in range(STEPS):
            for n in range(LAYERS):
                y = product(n, scaled(x))
                digest.update(y.tobytes())
                x = x + y
            chosen.append((scaled(x) @ self.head).argmax(axis=1) if tokens is None else tokens[step])
            x = scaled(x) + self.embedding[chosen[-1]]
        return digest.hexdigest()[:16].upper(), chosen


class Bits(unittest.TestCase):
    def test_are_those_of_an_independent_program(self):
        model = Model()
        digest, tokens = model.run(model.whole)
        self.assertEqual(record_of(1, *SIZE)["fingerprint_plain"], digest)
        self.assertEqual(record_of(3, *SIZE)["fingerprint_steadfold"], model.run(model.by_tree, tokens)[0])

    def test_steadfold_has_the_same_bits_on_all_ranks(self):
        first = record_of(1, *SIZE)
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                record = record_of(ranks, *SIZE)
                self.assertEqual((record["application"], record["ranks"], record["threads"]), ("tensor_parallel", ranks, 1))
                self.assertEqual(record["fingerprint_steadfold"], first["fingerprint_steadfold"])
                self.assertEqual(record["scores_steadfold"], first["scores_steadfold"])

    def test_control_plain_products_change_with_the_ranks(self):
        self.assertGreater(len({record_of(ranks, *SIZE)["fingerprint_plain"] for ranks in RANKS}), 1)
        self.assertGreater(len({str(record_of(ranks, *SIZE)["scores_plain"]) for ranks in RANKS}), 1)

    def test_other_methods_have_other_bits_that_are_the_same_on_all_ranks(self):
        found = {method: record_of(2, *SIZE, "--method", method)["fingerprint_steadfold"] for method in ("exact", "binned")}
        for method, seen in found.items():
            self.assertEqual(record_of(1, *SIZE, "--method", method)["fingerprint_steadfold"], seen)
        self.assertNotEqual(found["exact"], record_of(1, *SIZE)["fingerprint_steadfold"])

    def test_more_ranks_than_tiles(self):
        few = (*SIZE, "--tiles", 2)
        self.assertEqual(record_of(3, *few)["fingerprint_steadfold"], record_of(1, *few)["fingerprint_steadfold"])


class ForPeople(unittest.TestCase):
    def test_compare_prints_a_row_per_job_and_marks_what_differs(self):
        done = PROGRAM.alone("--compare", "--ranks", "1,3", *SIZE)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split("|") for line in done.stdout.splitlines() if re.match(r" +\d", line)]
        self.assertEqual([int(row[0]) for row in rows], [1, 3])
        for row, ranks in zip(rows, (1, 3)):
            record = record_of(ranks, *SIZE)
            mark = "*" if record["fingerprint_plain"] != record_of(1, *SIZE)["fingerprint_plain"] else ""
            self.assertEqual([row[1].strip(), row[3].strip()], [record["fingerprint_plain"] + mark, record["fingerprint_steadfold"]])

    def test_usage_errors(self):
        for words in (("--tile", "0"), ("--batch", "1"), ("--method", "best"), ("--ranks", "2"), ("--compare", "--json"), ("--unknown",),
                      ("--words", "2"), ("--compare", "--ranks", "0")):  # fmt: skip
            with self.subTest(words=words):
                done = PROGRAM.alone(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"(?m)^.+ \(.+\), .+$")
        done = job(2, "--compare")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("leave out mpirun"), 1)


if __name__ == "__main__":
    unittest.main()
