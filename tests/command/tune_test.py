"""`steadfold tune`, the profile that it writes, and what profiles change: choices and predictions, never bits."""

import re
import unittest
from pathlib import Path

from support import CommandTest, binpsllh, run

SLOW_STARTS = "latency = 1e-3\ngap = 1e-3\nper_byte = 0\n"
SLOW_BYTES = "latency = 1e-9\ngap = 1e-9\nper_byte = 1e-3\n"


class Tune(CommandTest):
    def profile(self, text):
        return self.write("network.profile", text)

    def test_a_profile_is_written_and_read(self):
        path = self.folder / "own.profile"
        for ranks in (None, 3):  # started by the command, and in a job
            ran = run("tune", "--launches", "1", "--rounds", "3", "--output", path, "--json", ranks=ranks)
            if ran.returncode == 1:  # this machine does other things
                self.assertRegex(ran.stderr, r"nothing is written \(the model is \d+ % off in the median, more than 30 %\), ")
                self.assertFalse(path.exists())
                continue
            found = self.object_from(ran)
            text = path.read_text()
            for key in ("latency", "gap", "per_byte"):
                self.assertGreaterEqual(found[key], 0)
                self.assertIn(f"\n{key} = ", text)
            self.assertEqual(found["eager_limit"] is None, "eager_limit" not in text)
            self.assertEqual((found["profile"], len(found["times"]["bytes"])), (str(path), len(found["times"]["one_way"])))
            predicted = self.object_from(run("simulate", "--ranks", "2", "--elements", "2", "--profile", path, "--json"))
            self.assertGreaterEqual(predicted["seconds"], 0.99 * (found["latency"] + found["gap"]))
            path.unlink()

    def test_what_it_cannot_do(self):
        self.expect_fault(run("tune", "--launches", "1", "--rounds", "3", "--output", "/no/such/folder/file"), "/no/such/folder", "--output")
        self.expect_fault(run("tune", "--rounds", "0"), "--rounds")

    def test_simulate_goes_by_it(self):
        words = ("simulate", "--ranks", "8", "--elements", "8", "--width", "1000", "--method", "plain", "--json")
        dear = self.profile(SLOW_STARTS)
        found = self.object_from(run(*words, "--profile", dear))
        self.assertEqual((found["schedule"], round(found["seconds"], 4)), ("recursive_doubling", 0.006))
        found = self.object_from(run(*words, "--profile", self.profile(SLOW_BYTES)))
        self.assertNotEqual(found["schedule"], "recursive_doubling")
        self.assertGreater(found["seconds"], 8)  # some 8000 bytes
        self.expect_fault(run(*words, "--profile", self.profile("latency = 1\n")), "are all needed")
        self.expect_fault(run(*words, "--profile", "/no/such/file"), "cannot be read")
        self.expect_fault(run(*words, "--profile", dear, "--latency", "1"), "--profile", "--latency")

    def chosen(self, text):
        ran = run("bench", "allreduce", "--counts", "5000", "--methods", "tree", "--schedules", "auto", "--rounds", "3", "--json",
                  ranks=4, environment={"STEADFOLD_PROFILE": str(self.profile(text)), "STEADFOLD_TRANSPORT": "mpi"})  # fmt: skip
        return {row["chosen"] for row in self.object_from(ran)["rows"] if row["call"] == "plan"}  # checks every bit

    def test_choices_go_by_it(self):
        self.assertEqual(self.chosen(SLOW_STARTS), {"recursive_doubling"})
        self.assertNotEqual(self.chosen(SLOW_BYTES), {"recursive_doubling"})

    def test_no_bit_goes_by_it(self):
        path = self.write("x.binpsllh", binpsllh([0.1 * i for i in range(1000)]))
        words = ("sum", path, "--method", "tree", "--schedule", "pipelined_tree", "--json")
        bits = {self.object_from(run(*words, ranks=3, environment={"STEADFOLD_PROFILE": str(self.profile(text))}))["bits"]
                for text in (SLOW_STARTS, SLOW_BYTES)}  # fmt: skip
        bits.add(self.object_from(run(*words))["bits"])
        self.assertEqual(len(bits), 1)

    def test_a_broken_profile_is_said_once_and_left_out(self):
        path = self.write("x.binpsllh", binpsllh([0.5] * 10))
        broken = self.profile("a game's settings\n")
        ran = run("sum", path, "--json", ranks=3, environment={"STEADFOLD_PROFILE": str(broken)})
        self.assertEqual(self.object_from(ran)["value"], 5.0)
        told = re.findall(r"steadfold: STEADFOLD_PROFILE, (\S+), is not used: (.+)", ran.stderr)
        self.assertEqual([Path(name) for name, _ in told], [broken], ran.stderr)
        self.assertEqual(told[0][1], "line 1 is no `key = value` ('a game's settings'), let `steadfold tune` write it")


if __name__ == "__main__":
    unittest.main()
