"""`steadfold vectors`: all installed vectors have the bits of their files, on several numbers of ranks; one digit of a file
or one bit of a result gives status 1; wrong files are refused."""

import json
import os
import re
import struct
import subprocess
import unittest
from pathlib import Path

from support import ENVIRONMENT, LAUNCHER, CommandTest, bits, run, run_all, some, tree

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "vectors").glob("*.json"))
SMALL = {
    "format": 1,
    "type": "f64",
    "bits_versions": {},
    "inputs": {"two": {"x": [bits(1e16), bits(1.0)], "y": [bits(1.0), bits(-2.0)], "mask": [0, 1]}},
    "vectors": [
        {"operation": "sum", "result": "f64", "input": "two", "bits": {"tree": bits(1e16), "tree:lanes=2": bits(1e16)}},
        {"operation": "dot", "result": "f64", "input": "two", "bits": {"exact": bits(1e16 - 2)}},
        {"operation": "masked_sum", "result": "f64", "input": "two", "bits": {"binned:bins=3": bits(1.0)}},
        {"operation": "min", "result": "f64", "input": "two", "initial": bits(0.5), "bits": {"tree": bits(0.5)}},
    ],
}


def lane_sum(values, lanes):
    return tree([tree(values[lane::lanes]) for lane in range(min(lanes, len(values)))])


class Vectors(CommandTest):
    def test_all_is_well(self):
        """Everything alone; over ranks the files of which each has other code behind it."""
        over = [str(ROOT / "vectors" / f"{name}.json") for name in ("f64", "cf32", "i32", "b128", "mix", "matrix")]
        ranks = some([3, 5, 7])
        alone, *others = run_all([(("vectors", "--json"), {}), *((("vectors", "--json", *over), {"ranks": n}) for n in ranks)])
        found = self.object_from(alone)
        self.assertEqual([Path(each["file"]).name for each in found["files"]], [path.name for path in FILES])
        for path, each in zip(FILES, found["files"], strict=True):
            vectors = json.loads(path.read_text())["vectors"]
            self.assertEqual(each["checked"] + each["not_run_here"], sum(len(vector["bits"]) for vector in vectors))
            self.assertEqual((each["wrong"], each["type"]), ([], path.stem))
        self.assertGreater(sum(each["checked"] for each in found["files"]), 16000)
        for count, ran in zip(ranks, others, strict=True):
            found = self.object_from(ran)
            self.assertEqual((found["ranks"], [each["wrong"] for each in found["files"]]), (count, [[]] * len(over)))

    def test_every_instruction_set(self):
        for target in self.object_from(run("info", "--json"))["instruction_sets"]["found"]:
            ran = run("vectors", str(ROOT / "vectors/f64.json"), environment={"STEADFOLD_TARGET": target})
            self.assertEqual(ran.returncode, 0, ran.stdout)

    def test_files_have_what_their_page_says(self):
        """Every operation, type and method of the golden records, lanes, initial values and hostile inputs."""
        files = [json.loads(path.read_text()) for path in FILES]
        golden = [path for path in (ROOT / "tests/golden").glob("*.txt") if path.stem not in ("accumulators", "tree_expressions")]
        everything = {tuple(line.split()[:2]) for path in golden for line in path.read_text().splitlines()}
        vectors = [(file["type"], vector) for file in files for vector in file["vectors"]]
        self.assertEqual(everything, {(vector["operation"], type) for type, vector in vectors})
        methods = {method for _, vector in vectors for method in vector["bits"]}
        lanes = {f"tree:lanes={count}" for count in (2, 3, 16, 128)}
        self.assertEqual(methods, {"tree", "exact", "plain", *(f"binned:bins={bins}" for bins in (2, 3, 4)), *lanes})
        initial = {(type, vector["operation"]) for type, vector in vectors if "initial" in vector}
        self.assertLessEqual({("f64", "dot"), ("cf32", "product"), ("i32", "min"), ("matrix", "user")}, initial)

    def test_lanes_by_an_oracle_of_this_test(self):
        """Sums of doubles with lanes, by Python's own additions. In some vectors the bits differ from `tree` without lanes."""
        file = json.loads((ROOT / "vectors/f64.json").read_text())
        compared = differ = 0
        for vector in file["vectors"]:
            texts = file["inputs"][vector["input"]]["x"]
            x = [struct.unpack(">d", bytes.fromhex(text))[0] for text in texts]
            if (vector["operation"], vector["result"]) != ("sum", "f64") or "initial" in vector or not x:
                continue
            for method, wanted in vector["bits"].items():
                if not method.startswith("tree:lanes="):
                    continue
                found = lane_sum(x, int(method.partition("=")[2]))
                self.assertEqual("7FF8000000000000" if found != found else bits(found), wanted, (vector["input"], method))
                compared += 1
                differ += wanted != vector["bits"]["tree"]
        self.assertGreater(compared, 50)
        self.assertGreater(differ, 10)

    def test_for_people(self):
        ran = run("vectors")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stdout, r"(?m)^\S+/vectors/f64\.json +f64 +2\d+ +0 +0$")
        self.assertTrue(ran.stdout.endswith("\nAll results have the bits of the files.\n"))
        printed = run("vectors", "--print", self.file(SMALL))
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertEqual(printed.stdout.splitlines()[0], f"sum f64 to f64, two, tree: {bits(1e16)}")
        self.assertEqual(printed.stdout.splitlines()[-1], f"min f64 to f64, two from {bits(0.5)}, tree: {bits(0.5)}")

    def file(self, content):
        return self.write("vectors.json", content if isinstance(content, str) else json.dumps(content))

    def changed(self, *path, to):
        """Writes the small file with the value at this path replaced, or removed if `to` is None."""
        content = json.loads(json.dumps(SMALL))
        inner = content
        for step in path[:-1]:
            inner = inner[step]
        if to is None:
            del inner[path[-1]]
        else:
            inner[path[-1]] = to
        return self.file(content)

    def test_one_wrong_digit(self):
        self.assertEqual(run("vectors", self.file(SMALL)).returncode, 0)
        for number, method in ((0, "tree:lanes=2"), (1, "exact"), (2, "binned:bins=3"), (3, "tree")):
            wrong = SMALL["vectors"][number]["bits"][method][:-1] + "B"
            path = self.changed("vectors", number, "bits", method, to=wrong)
            alone, over = run_all([(("vectors", path), {}), (("vectors", path), {"ranks": 3})])
            self.assertEqual((alone.returncode, over.returncode), (1, 1), alone.stdout + alone.stderr)
            self.assertEqual(len(re.findall(r"(?m)^  .*: found [0-9A-F]+, recorded " + wrong, alone.stdout)), 2)
            self.assertEqual(len(re.findall(r"(?m)^  rank [012]: .*: found ", over.stdout)), 9)

    def test_wrong_files_are_refused(self):
        wrong = [
            (("format",), 2, "format"),
            (("type",), "f65", "f65"),
            (("type",), None, "type"),
            (("inputs", "two", "x", 0), "3FF", "3FF"),
            (("inputs", "two", "x", 0), bits(1.0).lower().replace("3ff", "3fg"), "3fg"),
            (("inputs", "two", "x", 0), 1.0, "string"),
            (("inputs", "two", "y"), [bits(1.0)], "y has 1"),
            (("inputs", "two", "mask"), [1], "mask has 1"),
            (("inputs", "two", "mask"), None, "mask has 0"),
            (("vectors", 0, "operation"), "median", "no operation has this name"),
            (("vectors", 0, "input"), "three", "three"),
            (("vectors", 0, "result"), "f63", "f63"),
            (("vectors", 0, "operation"), "user", "operators of a caller"),
            (("type",), "matrix", "operators of a caller"),
            (("vectors", 0, "result"), "matrix", "f64 to matrix"),
            (("vectors", 0, "bits"), {"tree:lanes=": "0"}, "lanes="),
            (("vectors", 0, "bits"), {"tree:lanes=2x": "0"}, "2x"),
            (("vectors", 0, "bits"), {"tree:lanes=2000": bits(1.0)}, "2000"),
            (("vectors", 0, "bits"), {"quick": bits(1.0)}, "quick"),
            (("vectors", 0, "bits"), {"exact:bins=3": bits(1.0)}, "exact:bins=3"),
            (("vectors", 0, "bits"), {"binned:bins=2:bins=3": bits(1.0)}, "each given once"),
            (("vectors", 2, "bits"), {"tree": bits(1.0)}, "tree"),
            (("vectors", 3, "initial"), "00", "00"),
        ]
        for path, value, word in wrong:
            with self.subTest(path=path, value=value):
                self.expect_fault(run("vectors", self.changed(*path, to=value)), word)
        self.expect_fault(run("vectors", "nowhere.json"), "nowhere.json")
        self.expect_fault(run("vectors", self.file("[1")), "vectors.json")
        self.expect_fault(run("vectors", self.file("[" * 100000)), "vectors.json")
        self.expect_fault(run("vectors", self.changed("vectors", 0, "operation", to="median"), ranks=3), "median")

    def test_one_wrong_bit(self):
        command = os.environ.get("STEADFOLD_FLIPPED")
        if not command:
            self.skipTest("no command with a wrong bit (STEADFOLD_FLIPPED is not set), as in a build with sanitizers")
        for call, ranks, places in ((1, None, 1), (4, None, 1), (12, 3, 3)):
            launch = [] if ranks is None else [*LAUNCHER, "-n", str(ranks)]
            environment = {**ENVIRONMENT, "STEADFOLD_TEST_FLIP": str(call)}
            words = [*launch, command, "vectors", "--json", self.file(SMALL)]
            ran = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60, check=False)
            self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
            wrong = json.loads(ran.stdout)["files"][0]["wrong"]
            self.assertEqual(len(wrong), places)
            self.assertEqual("by all ranks" in wrong[0], ranks is not None)


if __name__ == "__main__":
    unittest.main()
