"""`python -m steadfold vectors`: the installed vectors, alone and over mpi4py; wrong digits, wrong bits and wrong files."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import libraries, on_ranks

ROOT = Path(__file__).resolve().parents[2]
FLIPPED = Path(os.environ["STEADFOLD_BUILD"]) / "tests" / "libsteadfold_flipped_bit.so"
SMALL = {
    "format": 1,
    "type": "f32",
    "inputs": {"two": {"x": ["3F800000", "BF800000"], "mask": [1, 0]}},
    "vectors": [
        {"operation": "sum", "result": "f32", "input": "two", "bits": {"tree": "00000000", "tree:lanes=2": "00000000"}},
        {"operation": "sum", "result": "f64", "input": "two", "initial": "80" + 14 * "0", "bits": {"tree": 16 * "0"}},
        {"operation": "masked_sum", "result": "f32", "input": "two", "bits": {"exact": "3F800000"}},
    ],
}


def vectors(*options, **environment):
    command = [sys.executable, "-B", "-m", "steadfold", "vectors", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


class Vectors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "vectors.json"
        self.path.write_text(json.dumps(SMALL))

    def changed(self, *path, to):
        content = json.loads(json.dumps(SMALL))
        inner = content
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = to
        self.path.write_text(json.dumps(content))
        return self.path

    def test_alone(self):
        ran = vectors("--json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        files = {Path(each["file"]).name: each for each in json.loads(ran.stdout)["files"]}
        self.assertEqual(set(files), {path.name for path in (ROOT / "vectors").glob("*")})
        for name, each in files.items():
            recorded = json.loads((ROOT / "vectors" / name).read_text())["vectors"]
            self.assertEqual(each["checked"] + each["not_run_here"], sum(len(vector["bits"]) for vector in recorded))
            self.assertEqual(each["wrong"], [])
        self.assertRegex(vectors(self.path).stdout, r"vectors\.json: 4 checked, 0 not run here, 0 wrong\n\Z")
        self.assertIn("sum f32 to f32, two, tree:lanes=2: 00000000\n", vectors("--print", self.path).stdout)

    def test_on_ranks(self):
        for library in libraries():
            for ranks in (3,) if library == "mpich" else (3, 5):
                with self.subTest(library=library, ranks=ranks):
                    files = [str(ROOT / "vectors" / f"{name}.json") for name in ("i32", "mix", "matrix", "halves")]
                    told = on_ranks(library, ranks, "-m", "steadfold", "vectors", "--mpi", "--json", *files)
                    found = json.loads(told)
                    self.assertEqual((found["ranks"], [each["wrong"] for each in found["files"]]), (ranks, [[]] * 4))

    def test_one_wrong_digit(self):
        ran = vectors(self.changed("vectors", 2, "bits", "exact", to="3F800001"))
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertEqual(ran.stdout.count("found 3F800000, recorded 3F800001"), 2)

    def test_one_wrong_bit(self):
        ran = vectors("--json", self.path, LD_PRELOAD=str(FLIPPED), STEADFOLD_TEST_FLIP="3")
        self.assertEqual((ran.returncode, len(json.loads(ran.stdout)["files"][0]["wrong"])), (1, 1), ran.stderr)

    def test_wrong_files_are_refused(self):
        wrong = [
            (("format",), 2, "format"),
            (("type",), 32, "type"),
            (("inputs", "two"), {}, "'x' is missing"),
            (("inputs", "two", "x"), "3F800000", "x is no list"),
            (("inputs", "two", "x", 1), "3F8", "3F8"),
            (("inputs", "two", "mask"), [1, 2], "mask"),
            (("inputs", "two", "mask"), [1], "mask has 1"),
            (("vectors", 0, "operation"), "median", "median"),
            (("vectors", 0, "bits"), {"quick": "0"}, "quick"),
            (("vectors", 0, "bits"), {"tree": 0}, "bits"),
            (("vectors", 0, "bits"), {"tree:lanes=2000": "0"}, "2000"),
        ]
        for path, value, word in wrong:
            with self.subTest(path=path, value=value):
                ran = vectors(self.changed(*path, to=value))
                self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
                self.assertRegex(ran.stderr, rf"\A\S.*{word}.*\n\Z")
                self.assertRegex(ran.stderr, r"\A\S.* \(.+\), .+\n\Z")
        self.path.write_text("[" * 100000)
        for path in (self.path, "nowhere.json"):
            ran = vectors(path)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
            self.assertIn("has no test vectors", ran.stderr)


if __name__ == "__main__":
    unittest.main()
