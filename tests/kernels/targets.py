"""Runs whole test programs once for every instruction set of the machine, by STEADFOLD_TARGET, and compares the bits of
method plain, which no recorded value holds."""

import os
import subprocess
import unittest
from pathlib import Path

TESTS = Path(os.environ["STEADFOLD_TEST_PROGRAMS"])
# What the library takes unasked (kernels/target.cpp) is what all other tests run.
UNASKED = "near" if "AuthenticAMD" in Path("/proc/cpuinfo").read_text() else "far"
# Left out are cases that run for every instruction set by themselves, merges, files, sums by label (they use no kernels),
# long loops over one kernel, and comparisons of spellings or environments of one call (EveryCall).
FILTERS = {
    "test_kernels": "Targets.*",
    "test_arithmetic": "-Targets/*:BinnedWords.*:KeptBytes.*:DealtSums.*:CarriesOfBins.*:Intakes.*:*AnySplitting*:*AMillionRows",
    "test_api": "-Cxx17*:*EveryCall*:PlainBits.*:ThreadsTest.*:Large/*:Groups.ByLabelsOf32Bits:Groups.ByBytes:Groups.ByUnsignedLabels",
}


def run(program, target, filtered=None, **more):
    environment = dict(os.environ, STEADFOLD_TARGET=target, **more)
    command = [TESTS / program, f"--gtest_filter={filtered or FILTERS[program]}", "--gtest_brief=1"]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def targets():
    listed = subprocess.run([TESTS / "test_kernels", "--gtest_list_tests"], capture_output=True, text=True, check=True)
    names = [line.split("/")[1].split()[0] for line in listed.stdout.splitlines() if line.startswith("  ") and "/" in line]
    return list(dict.fromkeys(names))  # from the plainest to the best


def bits_of_plain(target):
    """A line for every reduction by method plain that test_api makes."""
    return [line for line in run("test_api", target, "PlainBits.*").stdout.splitlines() if line.startswith("plain ")]


class EveryTarget(unittest.TestCase):
    def test_programs(self):
        self.assertIn("scalar", targets())
        for target in targets()[:-1]:  # the best is what all other tests run
            # Shorter vectors than AVX2's add nothing to what the tests of kernels show for each target.
            thorough = target in ("scalar", "avx2") or "STEADFOLD_FULL" in os.environ
            for program in FILTERS if thorough else ["test_kernels"]:
                with self.subTest(target=target, program=program):
                    ran = run(program, target)
                    self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_prefetching_changes_no_bits(self):
        best = targets()[-1]
        for prefetch in sorted({"off", "near", "far"} - {UNASKED}):
            for program in ("test_kernels", "test_arithmetic"):
                with self.subTest(prefetch=prefetch, program=program):
                    filtered = f"Targets/*/{best}:TreeValues/*:FloatSums.*:Exact.*:Binned.*:Folds.*-Exact.IsTheSameFromAnySplitting*"
                    ran = run(program, best, filtered, STEADFOLD_PREFETCH=prefetch)
                    self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_plain_gives_the_same_bits_on_all(self):
        expected = bits_of_plain("scalar")
        self.assertGreater(len(expected), 700)
        for target in targets()[1:]:
            with self.subTest(target=target):
                self.assertEqual(bits_of_plain(target), expected)

    def test_an_unknown_target_is_refused(self):
        self.assertNotEqual(run("test_api", "avx99").returncode, 0)


if __name__ == "__main__":
    unittest.main()
