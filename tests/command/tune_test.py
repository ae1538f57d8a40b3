"""`steadfold tune`, the profile that it writes, and what profiles change: choices and predictions, never bits."""

import json
import os
import subprocess
import unittest
from pathlib import Path

from support import ON_CORES_IN_TURN, CommandTest, binpsllh, made_up, run

SLOW_STARTS = "latency = 1e-3\ngap = 1e-3\nper_byte = 0\n"
SLOW_BYTES = "latency = 1e-9\ngap = 1e-9\nper_byte = 1e-3\n"


def times_of(latency, gap, per_byte, limit, rendezvous, noise):
    sizes = [8, 64, 256, 1024, 1984, 3968, 8064, 16256, 65408, 262144, 1048576]
    one_way = [(latency + gap + per_byte * size + rendezvous * (size > limit)) * (1 + noise * (-1) ** i) for i, size in enumerate(sizes)]
    return {"times": {"bytes": sizes, "one_way": one_way, "in_stream": gap}}


class Tune(CommandTest):
    def profile(self, text):
        return self.write("network.profile", text)

    def times(self, *link, noise=0.0, inside=None):
        """What such a link would be measured to take, and one inside nodes, in a file."""
        times = times_of(*link, noise)
        if inside:
            times["node"] = times_of(*inside, 0.0)
        return self.write("times.json", json.dumps(times))

    def test_measured_times_become_a_profile_or_are_said_not_to_fit(self):
        for ranks in (None, 3):  # started by the command, and in a job
            path = self.folder / f"{ranks}.profile"
            ran = run("tune", "--launches", "1", "--rounds", "3", "--output", path, "--json", ranks=ranks)
            if ran.returncode == 1:  # this machine does other things
                self.assertRegex(ran.stderr, r"no profile is written \(the median error of the model is \d+ %, more than 30 %\), ")
                self.assertFalse(path.exists())
                continue
            found = self.object_from(ran)
            self.assertTrue(path.exists())
            self.assertTrue(all(1e-9 < seconds < 1 for seconds in found["times"]["one_way"]), found)
            self.assertTrue(0 <= found["times"]["byte_in_stream"] < 1e-3, found)
            self.assertGreater(found["times"]["one_way"][-1], found["times"]["one_way"][0])

    def test_the_profile_is_the_link_that_made_the_times(self):
        path = self.folder / "own.profile"
        for limit in (1984, 16256, 65408):
            times = self.times(1e-6, 2e-7, 1e-10, limit, 5e-6)
            found = self.object_from(run("tune", "--times", times, "--output", path, "--json"))
            self.assertEqual((found["profile"], found["eager_limit"]), (str(path), limit))
            for key, value in (("latency", 1e-6), ("gap", 2e-7), ("per_byte", 1e-10), ("rendezvous", 5e-6)):
                self.assertAlmostEqual(found[key] / value, 1, places=3)
            self.assertIn(f"\neager_limit = {limit}\n", path.read_text())
            for size, seconds in ((limit // 8 - 20, 1.2e-6), (limit // 8 + 20, 6.2e-6)):  # with headers
                predicted = self.object_from(run("simulate", "--ranks", "2", "--elements", "2", "--method", "plain", "--width", size,
                                                 "--collective", "reduce", "--schedule", "flat", "--per-op", "0", "--profile", path, "--json"))  # fmt: skip
                self.assertAlmostEqual(predicted["seconds"], seconds + 8e-10 * size, delta=2e-8)
        for_people = run("tune", "--times", self.times(1e-6, 2e-7, 1e-10, 1 << 30, 0), "--output", path)
        self.assertIn(f"The median error of the model is 0 %. {path} is written. To use this profile:\n  export STEADFOLD_PROFILE={path}\n", for_people.stdout)
        self.assertNotIn("eager_limit", path.read_text())
        self.assertNotIn("long_from", path.read_text())

    def test_long_messages_may_have_a_rate_of_their_own(self):
        """A bucket that is empty after 65408 bytes."""
        path = self.folder / "own.profile"
        of_bucket = times_of(5e-5, 5e-6, 4e-8, 1 << 30, 0, 0.0)
        times = of_bucket["times"]
        times["one_way"] = [seconds + 4e-8 * max(size - 65408, 0) for size, seconds in zip(times["bytes"], times["one_way"])]
        found = self.object_from(run("tune", "--times", self.write("times.json", json.dumps(of_bucket)), "--output", path, "--json"))
        self.assertEqual((found["long_from"], found["eager_limit"], found["rendezvous"]), (65408, None, None))
        self.assertIn("\nlong_from = 65408\nlong_per_byte = 8e-08\n", path.read_text())
        ran = run("simulate", "--ranks", "2", "--elements", "2", "--method", "plain", "--width", "100000", "--collective", "reduce",
                  "--schedule", "flat", "--per-op", "0", "--profile", path, "--json")  # fmt: skip
        self.assertAlmostEqual(self.object_from(ran)["seconds"], 5.5e-5 + 65408 * 4e-8 + (800_000 - 65408) * 8e-8, delta=1e-5)

        # The bucket fills while answers are on their way, so in a stream a byte takes twice as long.
        times["byte_in_stream"] = 8e-8
        ran = run("tune", "--times", self.write("times.json", json.dumps(of_bucket)), "--output", path)
        self.assertIn("the time per byte of a stream of messages, 80 ns", ran.stdout)
        self.assertIn("\nper_byte = 8e-08\n", path.read_text())
        self.assertNotIn("long_from", path.read_text())

    def test_lengths_that_do_not_ascend_are_refused(self):
        answer = times_of(1e-6, 2e-7, 1e-10, 1 << 30, 0, 0.0)
        for key in ("bytes", "one_way"):
            answer["times"][key].reverse()
        path = self.folder / "own.profile"
        path.write_text("as it was")
        self.expect_fault(run("tune", "--times", self.write("times.json", json.dumps(answer)), "--output", path), "not the output of tune --json")
        self.assertEqual(path.read_text(), "as it was")
        self.assertEqual([each.name for each in self.folder.glob("own.profile*")], ["own.profile"])

    def test_a_job_on_several_nodes_or_parts_has_several_links(self):
        self.need_hwloc()
        two_nodes = self.folder / "two_nodes.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", two_nodes, Path(__file__).with_name("support") / "two_nodes.c"], check=True)
        preload = f"{os.environ.get('LD_PRELOAD', '')}:{two_nodes}"
        nodes = {"LD_PRELOAD": preload, "NODE_SIZE": "2"}
        # Of two nodes of four ranks each has two parts of two; of three ranks on two cores one is alone in its part.
        parts = {"environment": made_up("package:2 core:1 pu:1"), "through": ON_CORES_IN_TURN}
        nodes_of_parts = {**parts, "environment": {**parts["environment"], **nodes, "NODE_SIZE": "4"}}
        for ranks, settings, expected in (
            (4, {"environment": nodes}, {"node"}),
            (3, {"environment": nodes}, {"node"}),
            (3, {}, set()),
            (3, parts, {"part"}),
            (8, nodes_of_parts, {"node", "part"}),
        ):
            found = self.object_from(run("tune-worker", "--rounds", "3", ranks=ranks, **settings))
            self.assertEqual({"node", "part"} & set(found), expected, (ranks, settings))
            for times in [found["times"], *(found[link]["times"] for link in expected)]:
                self.assertEqual(len(times["one_way"]), len(times["bytes"]))
                self.assertTrue(all(1e-9 < seconds < 1 for seconds in times["one_way"]), found)

    def test_of_two_links_both_become_the_profile(self):
        path = self.folder / "own.profile"
        times = self.times(1e-5, 2e-7, 1e-9, 65408, 5e-5, inside=(1e-6, 1e-7, 1e-10, 1984, 5e-6))
        ran = run("tune", "--times", times, "--output", path)
        self.assertRegex(ran.stdout, r"(?s)^bytes .*\nInside a node:\nbytes .*\nThe median error of the model is 0 %")
        text = path.read_text()
        self.assertIn("\neager_limit = 65408\n", text)
        self.assertIn("\nnode.eager_limit = 1984\n", text)
        words = ("simulate", "--elements", "2", "--method", "plain", "--collective", "reduce", "--schedule", "flat",
                 "--per-op", "0", "--profile", path, "--json")  # fmt: skip
        for ranks, size, seconds in ((2, 2, 1.1e-6), (2, 1, 1.02e-5)):
            found = self.object_from(run(*words, "--ranks", ranks, "--topology", f"two_level:size={size}"))
            self.assertAlmostEqual(found["seconds"] / seconds, 1, delta=0.02, msg=f"{size} ranks on a node")

    def test_the_profile_has_rates_of_this_processor(self):
        path = self.folder / "own.profile"
        found = self.object_from(run("tune", "--times", self.times(1e-6, 1e-7, 0, 1 << 30, 0), "--output", path, "--json"))
        for content in ("values", "accumulators", "bins"):
            for key in ("merge_per_byte", "finish_per_byte"):
                self.assertTrue(1e-13 < found[content][key] < 1e-6, found)
                self.assertIn(f"\n{content}.{key} = ", path.read_text())
        of_another = {**times_of(1e-6, 1e-7, 0, 1 << 30, 0, 0.0), "bins": {"merge_per_byte": 1.5, "finish_per_byte": 2.5}}
        run("tune", "--times", self.write("times.json", json.dumps(of_another)), "--output", path)
        self.assertIn("\nbins.merge_per_byte = 1.5\nbins.finish_per_byte = 2.5\n", path.read_text(), "measured elsewhere")

    def test_without_a_name_it_stands_where_it_is_looked_for(self):
        home = {"XDG_CONFIG_HOME": str(self.folder / "settings"), "STEADFOLD_TRANSPORT": "mpi"}
        ran = run("tune", "--times", self.times(1e-3, 1e-3, 0, 1 << 30, 0), environment=home)
        (path,) = (self.folder / "settings/steadfold").iterdir()
        self.assertRegex(path.name, r"^[a-z0-9-]+\.[a-z-]+\.profile$")
        self.assertIn(f"The median error of the model is 0 %. {path} is written. Steadfold uses this profile from now on.\n", ran.stdout)
        self.assertEqual(self.object_from(run("info", "--json", environment=home))["profile"], str(path))
        self.assertIsNone(self.object_from(run("info", "--json"))["profile"])
        self.assertEqual(set(self.chosen(home)), {"recursive_doubling"})
        path.write_text(SLOW_BYTES)
        self.assertNotIn("recursive_doubling", self.chosen(home))
        named = {**home, "STEADFOLD_PROFILE": str(self.profile(SLOW_STARTS))}
        self.assertEqual(set(self.chosen(named)), {"recursive_doubling"}, "what is named counts")
        ran = run("tune", "--times", self.times(1e-6, 1e-7, 0, 1 << 30, 0), environment=named)
        self.assertIn(f"{path} is written. To use this profile:\n  export STEADFOLD_PROFILE={path}\n", ran.stdout)
        nowhere = {"HOME": None, "XDG_CONFIG_HOME": None}
        self.expect_fault(run("tune", "--times", self.times(1e-6, 1e-7, 0, 1 << 30, 0), environment=nowhere), "no place for the profile", "--output")

    def test_times_that_do_not_fit(self):
        path = self.folder / "own.profile"
        ran = run("tune", "--times", self.times(1e-6, 2e-7, 1e-10, 1984, 5e-6, noise=0.85), "--output", path)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertRegex(ran.stderr, r"no profile is written \(the median error of the model is \d+ %, more than 30 %\), ")
        self.assertFalse(path.exists())

    def test_what_it_cannot_do(self):
        self.expect_fault(run("tune", "--launches", "1", "--rounds", "3", "--output", "/no/such/folder/file"), "/no/such/folder", "--output")
        self.expect_fault(run("tune", "--rounds", "0"), "--rounds")
        times = times_of(1e-6, 1e-7, 0, 1 << 30, 0, 0.0)
        for bins in (1, {}, {"merge_per_byte": -1, "finish_per_byte": 1}):
            self.expect_fault(run("tune", "--times", self.write("no", json.dumps({**times, "bins": bins}))), "not the output of tune --json")
        for text in ("", "{}", '{"times": 1}', '{"times": {"bytes": [1], "one_way": [], "in_stream": 0}}',
                     '{"times": {"bytes": [1, 2, 3], "one_way": [1, 1, 1], "in_stream": 0, "byte_in_stream": 2}}'):
            self.expect_fault(run("tune", "--times", self.write("no", text)), "not the output of tune --json")

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

    def chosen(self, environment, count=5000, ranks=4, through=()):
        """Of so many columns by methods whose bits every rank compares with those of one process."""
        ran = run("bench", "allreduce", "--counts", count, "--methods", "tree,exact,binned", "--schedules", "auto", "--rounds", "3",
                  "--json", environment=environment, ranks=ranks, through=through)  # fmt: skip
        return [row["chosen"] for row in self.object_from(ran)["rows"] if row["call"] == "plan"]

    def chosen_by(self, text, transport):
        return self.chosen({"STEADFOLD_PROFILE": str(self.profile(text)), "STEADFOLD_TRANSPORT": transport})

    def test_choices_of_messages_go_by_it_and_no_bit(self):
        self.assertEqual(set(self.chosen_by(SLOW_STARTS, "mpi")), {"recursive_doubling"})
        self.assertNotIn("recursive_doubling", self.chosen_by(SLOW_BYTES, "mpi"))

    def test_a_job_on_one_node_goes_by_what_is_inside(self):
        self.need_hwloc()
        inside = "".join("node." + line for line in SLOW_BYTES.splitlines(keepends=True))
        self.assertNotIn("recursive_doubling", self.chosen_by(SLOW_STARTS + inside, "mpi"))
        quick = self.profile("latency = 1e-5\ngap = 1e-6\nper_byte = 1e-9\npart.latency = 1e-7\npart.gap = 1e-8\npart.per_byte = 1e-11\n")
        environment = {**made_up("package:2 core:1 pu:1"), "STEADFOLD_PROFILE": str(quick), "STEADFOLD_TRANSPORT": "mpi"}
        self.assertEqual(set(self.chosen(environment, 1, ranks=7, through=ON_CORES_IN_TURN)), {"two_level"})
        self.assertNotIn("two_level", self.chosen(environment, 1, ranks=7), "without parts")

    def test_memory_that_ranks_share_has_no_profile(self):
        self.assertEqual(self.chosen_by(SLOW_STARTS, "shared"), self.chosen_by(SLOW_BYTES, "shared"))

    def test_a_broken_profile_is_left_out_and_info_says_why(self):
        path = self.write("x.binpsllh", binpsllh([0.5] * 10))
        broken = self.profile("a game's settings\n")
        environment = {"STEADFOLD_PROFILE": str(broken), "STEADFOLD_TRANSPORT": "mpi"}
        ran = run("sum", path, "--json", ranks=3, environment=environment)
        self.assertEqual(self.object_from(ran)["value"], 5.0)
        self.assertNotIn("profile", ran.stderr, "the library prints nothing")
        told = self.object_from(run("info", "--json", environment=environment))
        self.assertEqual((told["profile"], told["unused_profile"]), (str(broken), f"the profile {broken} is not used: line 1 is "
                         "not of the form `key = value` ('a game's settings'), write the profile with `steadfold tune`"))  # fmt: skip
        sound = self.profile(SLOW_STARTS)
        self.assertIsNone(self.object_from(run("info", "--json", environment={"STEADFOLD_PROFILE": str(sound)}))["unused_profile"])


if __name__ == "__main__":
    unittest.main()
