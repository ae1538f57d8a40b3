"""`steadfold doctor`: the digest is that of the recorded bits, on any number of ranks and every instruction set, and one
bit of one result gives another one."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from support import ENVIRONMENT, LAUNCHER, CommandTest, run, run_all

ROOT = Path(__file__).resolve().parents[2]


def recorded():
    """The lines whose digest is wanted: one for every case and method."""
    for line in (ROOT / "program" / "doctor" / "golden_cases.inc").read_text().splitlines()[1:-1]:
        words = line.split()
        for field in words[5:]:
            methods, bits = field.split("=")
            yield from (f"{' '.join(words[:5])} {method}={bits}\n" for method in methods.split(","))


def digest(lines):
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in "".join(lines).encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{value:016X}"


class Doctor(CommandTest):
    def test_all_is_well(self):
        lines = list(recorded())
        runs = run_all([(("doctor", "--json"), {"ranks": ranks}) for ranks in (None, 1, 2, 3, 5, 7)])
        for ran in runs:
            found = self.object_from(ran)
            self.assertEqual((found["wrong"], found["checked"]), ([], len(lines)))
            self.assertEqual(found["digest"], digest(lines))
            self.assertGreaterEqual(found["cases"], 100)
        self.assertEqual([self.object_from(ran)["ranks"] for ran in runs], [1, 1, 2, 3, 5, 7])
        self.assertTrue(digest(lines) in (ROOT / "README.md").read_text(), "the README has another digest")

    def test_every_instruction_set(self):
        for target in self.object_from(run("info", "--json"))["instruction_sets"]["found"]:
            found = self.object_from(run("doctor", "--json", environment={"STEADFOLD_TARGET": target}))
            self.assertEqual((found["digest"], found["instruction_sets"]["chosen"]), (digest(recorded()), target))

    def test_all_operations_types_and_methods(self):
        words = [line.replace("=", " ").split() for line in recorded()]
        self.assertLessEqual({"tree", "exact", "plain", "binned2", "binned3", "binned4"}, {each[5] for each in words})
        names = "double float half complex integers locations statistics covariances users"
        files = [ROOT / "tests" / "golden" / f"{name}.txt" for name in names.split()]
        everything = {tuple(line.split()[:2]) for file in files for line in file.read_text().splitlines()}
        self.assertEqual(everything, {(operation, type) for operation, type, *_ in words})

    def test_for_people(self):
        ran = run("doctor")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stdout, rf"(?m)^digest +{digest(recorded())}$")
        self.assertTrue(ran.stdout.endswith("\nAll results have the same bits as on every other machine.\n"))

    def flipped(self, call, *words, ranks=None, **settings):
        """What the command says with one bit of this call's result flipped."""
        command = os.environ.get("STEADFOLD_FLIPPED")
        if not command:
            self.skipTest("no command with a wrong bit (STEADFOLD_FLIPPED is not set), as in a build with sanitizers")
        launch = [] if ranks is None else [*LAUNCHER, "-n", str(ranks)]
        environment = {**ENVIRONMENT, "STEADFOLD_TEST_FLIP": str(call), **settings}
        return subprocess.run([*launch, command, "doctor", *words], capture_output=True, text=True, env=environment, timeout=60)

    def test_one_wrong_bit(self):
        for call in (1, 2, 137, 558):
            with self.subTest(call=call):
                ran = self.flipped(call)
                self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
                self.assertRegex(ran.stdout, r"(?m)^digest +[0-9A-F]{16}$")
                self.assertNotIn(digest(recorded()), ran.stdout)
                self.assertEqual(len(re.findall(r"(?m)^  .*: found .*, recorded ", ran.stdout)), 1)
        self.assertEqual(self.flipped(559).returncode, 0)  # there is no such call

    def test_a_wrong_bit_of_a_rank(self):
        """Calls 559 to 837 are those of all ranks together."""
        for call, rank in ((7, 1), (600, 2), (837, 0)):
            with self.subTest(call=call, rank=rank):
                ran = self.flipped(call, "--json", ranks=3, STEADFOLD_TEST_RANK=str(rank))
                found = json.loads(ran.stdout)
                self.assertEqual((ran.returncode, len(found["wrong"])), (1, 1), found["wrong"])
                self.assertTrue(found["wrong"][0].startswith(f"rank {rank}: "), found["wrong"])
                self.assertEqual("by all ranks" in found["wrong"][0], call > 550)
                self.assertNotEqual(found["digest"], digest(recorded()))
        self.assertEqual(len(json.loads(self.flipped(600, "--json", ranks=3).stdout)["wrong"]), 3)

    def test_settings_are_no_wrong_bits(self):
        for ranks, name in ((None, "STEADFOLD_TARGET"), (3, "STEADFOLD_TARGET"), (3, "STEADFOLD_SCHEDULE")):
            ran = run("doctor", ranks=ranks, environment={name: "abacus"})
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
            self.assertIn("'abacus'", ran.stderr)


if __name__ == "__main__":
    unittest.main()
