"""`steadfold simulate`: JSON fields, what `sum` counts on real ranks, published node counts, times, limits, errors."""

import os
import unittest

from support import CommandTest, binpsllh, npy, run

FIELDS = {
    "ranks": int, "elements": int, "schedule": str, "distribution": str, "collective": str, "messages": int,
    "rounds": int, "bytes": int, "seconds": float, "score_seconds": float, "nodes": int,
}  # fmt: skip


class Simulate(CommandTest):
    def simulate(self, simulated, elements, *arguments, **keywords):
        return self.object_from(
            run("simulate", "--ranks", simulated, "--elements", elements, "--json", *arguments, **keywords)
        )

    def fault(self, *words, ranks="4", elements="10", arguments=()):
        return self.expect_fault(run("simulate", f"--ranks={ranks}", f"--elements={elements}", *arguments), *words)

    def test_every_field_has_its_type(self):
        for ranks in (None, 2):  # under a launcher one rank does the work
            found = self.simulate(7, 100, "--schedule", "linear", ranks=ranks)
            for name, kind in FIELDS.items():
                self.assertIsInstance(found[name], kind, name)
            self.assertEqual((found["ranks"], found["elements"], found["width"]), (7, 100, 1))
            self.assertEqual((found["distribution"], found["collective"]), ("upper", "allreduce"))
            self.assertEqual((found["messages"], found["rounds"]), (12, 12))
            self.assertEqual(found["predicted_by"], "simulation")

    def test_it_says_what_sum_counts(self):
        path = self.write("x.binpsllh", binpsllh([0.25] * 1001))
        uneven = self.write("uneven", "0 1000 0 1 0")
        cases = [
            (["--schedule", schedule, "--method", method, "--collective", collective, "--distribution", distribution], p)
            for schedule, method, collective, distribution, p in [
                ("flat", "tree", "reduce", "lower", 3),
                ("linear", "tree", "allreduce", "upper", 5),
                ("binomial", "tree", "reduce", "power2", 7),
                ("binomial_spanning_tree", "plain", "allreduce", "optimized", 4),
                ("recursive_doubling", "tree", "allreduce", "optimized:deviation=0.5", 5),
                ("recursive_doubling", "plain", "allreduce", str(uneven), 5),
                ("owner", "tree", "reduce", "lower", 5),
                ("owner", "tree", "reduce", str(uneven), 5),
                ("owner:buffer=4", "tree", "reduce", "upper", 7),
                ("owner", "tree", "allreduce", str(uneven), 5),
                ("binomial", "binned:bins=2:sweep=double_sweep", "reduce", "upper", 5),
                ("recursive_doubling", "binned", "allreduce", "lower", 3),
                ("auto", "tree", "allreduce", "lower", 2),
                ("auto", "tree", "reduce", "upper", 1),
            ]
        ]
        for (arguments, ranks), real in zip(cases, self.sums(path, cases)):
            found = self.simulate(ranks, 1001, *arguments)
            for field in ("schedule", "distribution", "collective", "messages", "rounds", "bytes"):
                self.assertEqual(found[field], real[field], (arguments, field))

    def test_shares(self):
        """Messages and rounds of what gives a rank less than the whole; values with a header of 24 bytes or more."""
        for collective, schedule, messages, rounds in [
            ("reduce_scatter", "ring", 7 * 6, 6),
            ("reduce_scatter", "circulant", 7 * 3, 3),
            ("reduce_scatter", "binomial", 12, 6),
            ("scan", "linear", 6, 6),
            ("scan", "flat", 12, 7),
            ("exscan", "flat", 11, 6),
            ("scan", "recursive_doubling", 14, 3),
            ("exscan", "binomial", 10, 5),
        ]:
            found = self.simulate(
                7, 7, "--width=70", f"--collective={collective}", f"--schedule={schedule}", "--method=plain"
            )
            what = (collective, schedule)
            self.assertEqual((found["messages"], found["rounds"]), (messages, rounds), what)
            self.assertEqual(found["segments"], 7 if collective == "reduce_scatter" else 1, what)
            self.assertGreater(found["bytes"], 0)
        narrow = self.simulate(7, 7, "--width=3", "--collective=reduce_scatter", "--schedule=ring")
        self.assertEqual((narrow["segments"], narrow["messages"]), (3, 3 * 6))

    def test_floats_weigh_less(self):
        path = self.write("x.npy", npy([0.5] * 64, "<f4"))
        arguments = ["--type", "f32", "--method", "tree", "--schedule", "linear"]
        self.assertEqual(self.simulate(4, 64, *arguments)["bytes"], self.sum(path, *arguments, ranks=4)["bytes"])

    def test_published_scores(self):
        for distribution, nodes, microseconds in (("lower", 1640, 469.0), ("upper", 1401, 401.9), ("power2", 256, 1083.4)):
            for schedule in ("native", "binomial"):  # whatever the schedule
                found = self.simulate(256, 504850, "--distribution", distribution, "--schedule", schedule)
                self.assertEqual(found["nodes"], nodes)
                self.assertEqual(round(found["score_seconds"] * 1e6, 1), microseconds)
                self.assertEqual(found["score_seconds"], 281e-9 * nodes + 4.15e-9 * self.most(distribution))

    def test_published_messages_of_owner(self):
        for distribution, nodes in (("lower", 1640), ("upper", 1401), ("power2", 256)):
            arguments = ["--distribution", distribution, "--method", "tree", "--schedule"]
            found = self.simulate(256, 504850, *arguments, "owner")
            self.assertEqual((found["messages"], found["nodes"], found["collective"]), (nodes, nodes, "reduce"))
            self.assertLessEqual(self.simulate(256, 504850, *arguments, "owner:buffer=4")["messages"], nodes)

    @staticmethod
    def most(distribution):
        share = 504850 // 256
        return 504850 - 255 * 1024 if distribution == "power2" else share + 1

    def test_native_knows_nothing_of_its_messages(self):
        found = self.simulate(9, 100, "--schedule", "native")
        self.assertEqual([found[field] for field in ("messages", "rounds", "bytes", "seconds")], [None] * 4)
        self.assertEqual(found["predicted_by"], "nothing")
        self.assertGreater(found["nodes"], 0)

    def test_exact_is_priced_at_full_width(self):
        found = self.simulate(5, 20, "--schedule", "flat", "--collective", "reduce", "--width", 3)
        self.assertEqual(found["bytes"], 4 * (24 + 8 + 3 * (4 + 4 * 68)))  # columns share what says which digits follow
        self.assertEqual(found, self.simulate(5, 20, "--schedule", "flat", "--collective", "reduce", "--width", 3))

    def test_times_follow_the_options(self):
        options = ["--schedule=linear", "--collective=reduce", "--method=plain"]
        times = ["--latency=1", "--gap=0.5", "--per-byte=0.0625", "--per-op=0.25"]
        self.assertEqual(self.simulate(5, 50, *options, *times)["seconds"], 9 * 0.25 + 4 * (1 + 0.5 + 40 / 16 + 0.25))
        nothing = ["--latency=0", "--gap=0", "--per-byte=0", "--per-op=0"]
        self.assertEqual(self.simulate(5, 50, *options, *nothing)["seconds"], 0)

    def test_long_messages_wait_for_leave(self):
        """Four messages of 40 bytes, one after the other at their receiver."""
        options = ["--schedule=linear", "--collective=reduce", "--method=plain", "--latency=1", "--gap=0", "--per-byte=0",
                   "--per-op=0"]  # fmt: skip
        for limit, rendezvous, seconds in ((40, 0.5, 4), (39, 0.5, 6), (39, 0, 4), (0, 2, 12)):
            asked = [f"--eager-limit={limit}", f"--rendezvous={rendezvous}"]
            self.assertEqual(self.simulate(5, 50, *options, *asked)["seconds"], seconds, (limit, rendezvous))

    def test_long_messages_have_a_rate_of_their_own(self):
        """Four messages of 40 bytes, one after the other at their receiver."""
        options = ["--schedule=linear", "--collective=reduce", "--method=plain", "--latency=1", "--gap=0", "--per-byte=0.25",
                   "--per-op=0"]  # fmt: skip
        for limit, seconds in ((40, 44), (32, 4 * (1 + 8 + 4)), (0, 4 * (1 + 20))):
            asked = [f"--long-from={limit}", "--long-per-byte=0.5"]
            self.assertEqual(self.simulate(5, 50, *options, *asked)["seconds"], seconds, limit)

    def test_links_that_are_shared_take_longer(self):
        def seconds(topology, schedule):
            return self.simulate(64, 64, "--schedule", schedule, "--topology", topology)["seconds"]

        flat = seconds("flat", "recursive_doubling")
        self.assertEqual(seconds("fat_tree:arity=8", "recursive_doubling"), flat)
        self.assertGreater(seconds("fat_tree:arity=8:oversubscription=4", "recursive_doubling"), flat)
        self.assertEqual(
            seconds("fat_tree:arity=8:oversubscription=8", "linear"), seconds("fat_tree:arity=8", "linear")
        )
        self.assertLess(seconds("two_level:size=8:latency=1e-8", "recursive_doubling"), flat)
        self.assertGreater(seconds("two_level:size=8:links=1", "recursive_doubling"), flat)
        self.assertEqual(seconds("two_level:size=8:links=8", "recursive_doubling"), flat)
        self.assertEqual(seconds("two_level:size=8:links=1", "linear"), seconds("flat", "linear"))

    def test_placement(self):
        """A message to another node takes a second and nothing else takes time, so that seconds are crossings."""
        times = ["--gap=0", "--per-byte=0", "--per-op=0", "--schedule=linear", "--collective=reduce"]

        def crossings(ranks, topology, placement, latency=1):
            places = ["--topology", topology, "--placement", placement, "--latency", latency]
            found = self.simulate(ranks, ranks, *times, *places)
            self.assertEqual((found["placement"], found["messages"]), (placement, ranks - 1))
            self.assertEqual(found.get("placement_seed"), 1 if placement == "random" else None)
            return found["seconds"]

        nodes = "two_level:size=8:latency=0"
        self.assertEqual(crossings(64, nodes, "block"), 7)
        self.assertEqual(crossings(64, nodes, "round_robin"), 63)
        self.assertEqual(crossings(8, nodes, "round_robin"), 0)  # one node
        self.assertEqual(crossings(7, "two_level:size=3:latency=0", "block"), 2)
        self.assertEqual(crossings(7, "two_level:size=3:latency=0", "round_robin"), 6)  # the last node is not full
        drawn = crossings(64, nodes, "random")
        self.assertTrue(7 < drawn < 63 and drawn == int(drawn), drawn)
        self.assertEqual(crossings(64, nodes, "random"), drawn)
        for placement, hops in (("block", 2), ("round_robin", 14)):  # up and down
            self.assertEqual(crossings(8, "fat_tree:arity=4:hop=1", placement, latency=0), hops)
        self.assertEqual(crossings(9, "torus:sides=3x3:hop=1", "block", latency=0), 2)
        self.fault("round_robin", "torus", arguments=["--topology=torus:sides=8x8", "--placement=round_robin"])
        for placement in ("block", "round_robin", "random"):
            self.fault("--placement", "flat", arguments=["--placement", placement])
        self.fault("two_level:size=8", "latency, gap", arguments=["--topology", "two_level:size=8"])
        plain = self.simulate(64, 64, "--topology", nodes)
        self.assertEqual(plain, self.simulate(64, 64, "--topology", nodes, "--placement", "block"))
        self.assertNotIn("placement_seed", plain)
        self.fault("unknown placement 'scatter'", "round_robin", arguments=["--placement=scatter"])

    def test_a_million_ranks_in_a_minute(self):
        ranks = 1 << (20 if os.environ.get("STEADFOLD_FULL") else 16)
        for schedule in ("binomial", "recursive_doubling"):
            arguments = ["--ranks", ranks, "--elements", 100 * ranks, "--schedule", schedule, "--method=tree"]
            found = self.object_from(run("simulate", "--json", *arguments, timeout=60))
            self.assertEqual(found["predicted_by"], "simulation")

    def test_2_to_the_40_elements_in_every_distribution(self):
        ranks = 1 << (20 if os.environ.get("STEADFOLD_FULL") else 14)
        options = ["--schedule=binomial", "--collective=reduce", "--method=tree"]
        for distribution in ("lower", "upper", "power2", "optimized", "balanced"):
            seconds = []
            for elements in (2**38 + 1, 2**39 + 1, 2**40 + 12345):
                found = self.simulate(ranks, elements, "--distribution", distribution, *options)
                self.assertEqual((found["messages"], found["rounds"]), (ranks - 1, ranks.bit_length() - 1))
                self.assertEqual(found["predicted_by"], "simulation")
                self.assertGreaterEqual(found["nodes"], ranks - 1)
                self.assertGreater(found["score_seconds"], 4.15e-9 * elements / ranks)
                seconds.append(found["seconds"])
            self.assertLess(seconds[0], seconds[1], distribution)
            self.assertLess(seconds[1], seconds[2], distribution)

    def test_above_a_billion_messages_the_formulas_stand(self):
        ranks, segments = 1 << 16, 10000  # partials of exact climb a tree, values descend it
        found = self.simulate(ranks, 10**10, "--width", segments, "--schedule=pipelined_tree:block=1")
        self.assertEqual(found["messages"], 2 * (ranks - 1) * segments)
        self.assertEqual(found["bytes"], (ranks - 1) * segments * ((24 + 4 + 4 * 68) + (16 + 8)))
        self.assertEqual((found["predicted_by"], found["seconds"]), ("formulas", None))

    def test_the_environment_forces_a_schedule(self):
        found = self.simulate(4, 10, environment={"STEADFOLD_SCHEDULE": "flat"})
        self.assertEqual(found["schedule"], "flat")
        ran = run("simulate", "--ranks=4", "--elements=10", environment={"STEADFOLD_SCHEDULE": "nosuch"})
        self.expect_fault(ran, "STEADFOLD_SCHEDULE: unknown schedule 'nosuch'")

    def test_for_people(self):
        ran = run("simulate", "--ranks=4", "--elements=10", "--schedule=native")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stdout, r"(?m)^messages +unknown$")
        self.assertRegex(ran.stdout, r"(?m)^nodes +\d+$")

    def test_faults(self):
        self.fault("--ranks", ranks="0")
        for ranks in (2**31 - 1, 2**28, 2**24 + 1):  # which would take minutes
            self.fault("--ranks", "1 to 16777216", ranks=str(ranks))
        self.fault("ranks", ranks="-3")
        for bad in ("-5", "1.5", "1e-3", "1e300", "many", ""):
            self.fault("elements", elements=bad)
            if bad:
                self.fault(f"'{bad}' is not a count", elements=bad)
        self.assertEqual(self.simulate("4", "1e6")["elements"], 1000000)
        found = self.simulate("010", "010")  # which is 8 in octal
        self.assertEqual((found["ranks"], found["elements"]), (10, 10))
        self.fault("--elements", elements=str(2**63))
        self.fault("no name is similar", arguments=["--schedule=nosuch"])
        self.fault("reduce only", arguments=["--schedule=root_group_last", "--method=tree", "--collective=allreduce"])
        self.fault("from 1 to 64", arguments=["--schedule=owner:buffer=0", "--method=tree"])
        self.fault("cannot serve reduce ", arguments=["--schedule=recursive_doubling", "--collective=reduce"])
        self.fault("exact", arguments=["--schedule=native", "--method=tree"])
        self.fault("cannot serve 13 ranks", "n=2", ranks="13", arguments=["--schedule=dissemination:n=1:strict=1"])
        self.fault("bins=1", arguments=["--method=binned:bins=1"])
        for twice in ("bins=3:bins=2", "k=3:bins=3", "sweep=single:bins=2:sweep=double"):
            self.fault("twice", arguments=[f"--method=binned:{twice}"])
        self.fault("gather", arguments=["--collective=gather"])
        self.fault("cannot serve scan", arguments=["--schedule=ring", "--collective=scan"])
        self.fault("f16", arguments=["--type=f16"])
        for width in ("0", "-1", str(2**64)):
            self.fault("--width", arguments=[f"--width={width}"])
        self.fault("torus", arguments=["--topology=torus"])
        for option in ("--latency", "--gap", "--per-byte", "--per-op", "--rendezvous"):
            for time in ("-1", "nan", "inf"):
                self.fault(option, arguments=[f"{option}={time}"])
        self.fault("--eager-limit", arguments=["--eager-limit=-1"])
        self.fault("--long-per-byte", arguments=["--long-from=1"])
        self.fault("--long-from", arguments=["--long-per-byte=1"])
        self.fault("--long-per-byte", arguments=["--long-from=1", "--long-per-byte=-1"])
        profile = str(self.write("a.profile", ""))
        for option in ("--eager-limit=1", "--rendezvous=1", "--long-from=1"):  # which a profile has, too
            self.fault("--profile", arguments=[option, "--profile", profile])
        self.fault(f"{profile}: figures are missing", arguments=["--profile", profile])
        self.fault(f"{profile}: line 1 is not of the form", arguments=["--profile", str(self.write("a.profile", "1"))])

    def test_starts_that_are_not_monotone_are_refused(self):
        backwards = self.write("backwards", "5 -3 8 0")
        self.fault("-3", arguments=["--distribution", str(backwards)])
        short = self.write("short", "5 5")
        self.fault("2 counts, but there are 4 ranks", arguments=["--distribution", str(short)])


if __name__ == "__main__":
    unittest.main()
