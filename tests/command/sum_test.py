"""`steadfold sum`: JSON fields, the bits of generated inputs by an independent oracle, messages and rounds, methods,
schedules, collectives and distributions."""

import math
import random
import re
import struct
import unittest
from fractions import Fraction

from support import CommandTest, binned, binpsllh, bits, bits32, exact, hostile, left_to_right, npy, run, some, tree

FIELDS = {
    "elements": int, "ranks": int, "method": str, "schedule": str, "distribution": str, "collective": str,
    "value": float, "bits": str, "messages": int, "rounds": int, "bytes": int, "seconds": float,
}  # fmt: skip


class Fields(CommandTest):
    def test_every_field_has_its_type(self):
        path = self.write("x.binpsllh", binpsllh([1.5, 2.25, -0.5]))
        for ranks in (None, 3):
            found = self.sum(path, ranks=ranks)
            for name, kind in FIELDS.items():
                self.assertIsInstance(found[name], kind, name)
            self.assertEqual(found["elements"], 3)
            self.assertEqual(found["ranks"], ranks or 1)
            self.assertEqual(found["method"], "exact")
            self.assertEqual(found["distribution"], "upper")
            self.assertEqual(found["collective"], "allreduce")
            self.assertEqual(found["value"], 3.25)
            self.assertEqual(found["bits"], bits(3.25))
            self.assertGreaterEqual(found["seconds"], 0)

    def test_operations(self):
        values = [1.5, -2.25, 1e16, 3.0, -1e16, 0.125, 7.0]
        path = self.write("x.binpsllh", binpsllh(values))
        fractions = [Fraction(value) for value in values]
        mean = sum(fractions) / len(values)
        variance = float(sum((each - mean) ** 2 for each in fractions) / len(values))
        expected = {"sum": 9.375, "mean": float(mean), "min": -1e16, "max": 1e16, "var": variance}
        for operation, value in expected.items():
            for found in self.sums(path, [(["--operation", operation], ranks) for ranks in (None, 3)]):
                self.assertEqual(found["bits"], bits(value), (operation, found["ranks"]))
                self.assertEqual(found["method"], "plain" if operation in ("min", "max") else "exact")
        found = self.sum(path, "--operation", "statistics", ranks=3)
        every = found["statistics"]
        self.assertEqual((every["count"], every["min_index"], every["max_index"]), (7, 4, 2))
        self.assertEqual({name: every[name]["bits"] for name in ("min", "max", "mean", "variance")},
                         {name: bits(value) for name, value in (("min", -1e16), ("max", 1e16), ("mean", float(mean)), ("variance", variance))})  # fmt: skip
        self.assertEqual(self.sum(path, "--operation", "std")["bits"], every["deviation"]["bits"])
        with self.assertRaisesRegex(AssertionError, "nothing to reduce"):
            self.sum(self.write("y.binpsllh", binpsllh([])), "--operation", "mean")

    def test_a_rank_alone_sends_nothing(self):
        path = self.write("x.binpsllh", binpsllh([1.0, 2.0]))
        found = self.sum(path)
        self.assertEqual((found["messages"], found["rounds"], found["bytes"]), (0, 0, 0))

    def test_what_is_not_finite_is_null(self):
        for values, pattern in some([
            ([1.0, math.inf], "7FF0000000000000"),
            ([-math.inf], "FFF0000000000000"),
            ([math.inf, -math.inf], "7FF8000000000000"),
            ([math.nan, 1.0], "7FF8000000000000"),
            ([1.7976931348623157e308] * 2, "7FF0000000000000"),
        ]):  # fmt: skip
            path = self.write("x.binpsllh", binpsllh(values))
            for found in self.sums(path, [(["--method", method], 2) for method in ("exact", "tree")]):
                self.assertIsNone(found["value"])
                self.assertEqual(found["bits"], pattern, (values, found["method"]))

    def test_zeros_and_nothing(self):
        for values, method, expected in some([
            ([], "exact", 0.0), ([], "tree", 0.0), ([-0.0] * 3, "exact", -0.0), ([-0.0] * 3, "tree", -0.0),
            ([-0.0, 0.0], "exact", 0.0), ([1.0, -1.0], "exact", 0.0), ([5e-324] * 1000, "exact", 1000 * 5e-324),
        ]):  # fmt: skip
            path = self.write("x.binpsllh", binpsllh(values))
            found = self.sum(path, "--method", method, ranks=4)
            self.assertEqual(found["bits"], bits(expected), (values[:3], method))
            self.assertEqual(found["elements"], len(values))

    def test_people_read_the_value_first(self):
        for values, first in (
            ([0.1, 0.2], "0.30000000000000004  (bits 3FD3333333333334)"), ([1e16, 1.0, -1e16], "1  (bits 3FF0000000000000)"),
            ([1e300, 0.0], "1e+300  (bits 7E37E43C8800759C)"), ([math.inf], "inf  (bits 7FF0000000000000)"),
        ):  # fmt: skip
            ran = run("sum", self.write("x.binpsllh", binpsllh(values)))
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertTrue(ran.stdout.startswith(first + "\n\n"), ran.stdout)
            self.assertRegex(ran.stdout, rf"(?m)^elements +{len(values)}$")
            self.assertNotRegex(ran.stdout, r"(?m)^(value|bits)\b")
        ran = run("sum", self.write("x.npy", npy([0.1, 0.2], "<f4")))
        self.assertTrue(ran.stdout.startswith("0.3  (bits 3E99999A)\n"), ran.stdout)
        value = exact(hostile(1003))
        ran = run("sum", self.write("x.binpsllh", binpsllh(hostile(1003))), ranks=2)
        self.assertRegex(ran.stdout, rf"(?m)^\S+  \(bits {bits(value)}\)$")
        self.assertEqual(float(ran.stdout.split()[0]), value)

    def test_help_and_version_go_to_standard_output(self):
        for arguments in (["--help"], ["sum", "--help"], ["verify", "--help"], ["--version"]):
            alone, ran = run(*arguments), run(*arguments, ranks=2)
            for each in (alone, ran):
                self.assertEqual(each.returncode, 0, each.stderr)
                self.assertIn("steadfold", each.stdout)
            self.assertEqual(ran.stdout.count("steadfold "), alone.stdout.count("steadfold "))


class Bits(CommandTest):
    def setUp(self):
        super().setUp()
        self.values = hostile(1003)
        self.path = self.write("x.binpsllh", binpsllh(self.values))
        self.expected = {
            "tree": bits(tree(self.values)), "exact": bits(exact(self.values)),
            "binned:bins=2:sweep=double_sweep": bits(binned(self.values, 2)),
            "tree:lanes=16": bits(tree([tree(self.values[lane::16]) for lane in range(16)])),
        }  # fmt: skip

    def test_the_data_tell_orders_apart(self):
        plain = {found["bits"] for found in self.sums(self.path, [(["--method", "plain"], p) for p in (1, 2, 3, 5)])}
        self.assertGreater(len(plain), 1, "the control brings the same bits everywhere")
        self.assertEqual(len({self.expected["tree"], self.expected["exact"], bits(left_to_right(self.values))}), 3)

    def test_ranks(self):
        cases = [(["--method", method], ranks) for method in self.expected for ranks in (None, 2, 3, 4, 7)]
        for found in self.sums(self.path, some(cases)):
            self.assertEqual(found["bits"], self.expected[found["method"]], (found["method"], found["ranks"]))

    def test_older_spellings(self):
        cases = [(["--method", method], None) for method in ("binned:k=2:sweep=double", "binned:sweep=single:k=2")]
        for found in self.sums(self.path, cases):
            self.assertEqual(found["bits"], bits(binned(self.values, 2)), found["method"])

    def test_distributions(self):
        counts = self.write("counts", "0\n1000 1\n0\n2\n")
        distributions = ["lower", "power2", "optimized", "optimized:deviation=0.5", "balanced", str(counts)]
        for method, expected in self.expected.items():
            asked = some(distributions) if method.startswith("tree") else ["lower", str(counts)]  # the others follow no layout
            found = self.sums(self.path, [(["--method", method, "--distribution", each], 5) for each in asked])
            self.assertEqual([each["distribution"] for each in found], asked)
            self.assertEqual([each["bits"] for each in found], [expected] * len(found), method)

    def test_fewer_elements_than_ranks(self):
        for count in (1, 3):
            path = self.write("few.binpsllh", binpsllh(self.values[:count]))
            distributions = ("lower", "upper", "power2", "optimized", "balanced")
            cases = [(["--method", "tree", "--distribution", each], 4) for each in some(distributions)]
            for found in self.sums(path, cases):
                self.assertEqual(found["bits"], bits(tree(self.values[:count])), (count, found["distribution"]))

    def test_floats(self):
        values = [struct.unpack("<f", struct.pack("<f", random.Random(i).uniform(-1, 1)))[0] for i in range(101)]
        path = self.write("x.npy", npy(values, "<f4"))
        found = self.sum(path, ranks=3)
        self.assertEqual(found["bits"], bits32(exact(values)))
        self.assertRegex(found["bits"], "^[0-9A-F]{8}$")
        self.assertEqual(bits32(found["value"]), found["bits"])
        self.assertEqual(found["type"], "f32")

    def test_the_file_is_not_changed(self):
        before = self.path.read_bytes()
        self.sum(self.path, ranks=2)
        self.assertEqual(self.path.read_bytes(), before)


class Schedules(CommandTest):
    def setUp(self):
        super().setUp()
        self.values = hostile(257)
        self.path = self.write("x.binpsllh", binpsllh(self.values))

    def test_messages_and_rounds(self):
        cases = some([*(("tree", ranks) for ranks in (2, 3, 5, 8)), ("exact", 5)])
        binomial = ["--schedule", "binomial", "--collective", "reduce"]
        for found in self.sums(self.path, [(["--method", method, *binomial], ranks) for method, ranks in cases]):
            ranks = found["ranks"]
            self.assertEqual((found["messages"], found["rounds"]), (ranks - 1, (ranks - 1).bit_length()), found)
            self.assertEqual((found["schedule"], found["collective"]), ("binomial", "reduce"))
            self.assertGreater(found["bytes"], 8 * (ranks - 1))
        doubling = ["--schedule", "recursive_doubling"]
        for found in self.sums(self.path, [(["--method", method, *doubling], ranks) for method, ranks in cases]):
            ranks = found["ranks"]
            more = 0 if ranks & (ranks - 1) == 0 else 1
            self.assertEqual(found["rounds"], (ranks - 1).bit_length() + more, found)

    def test_messages_of_a_tree_there_and_back(self):
        for schedule in ("flat", "linear", "binomial"):
            found = self.sum(self.path, "--method", "tree", "--schedule", schedule, ranks=5)
            self.assertEqual(found["messages"], 8, schedule)
            self.assertEqual(found["bits"], bits(tree(self.values)))

    def test_reduce_reaches_rank_0(self):
        for schedule in ("flat", "linear", "binomial", "auto"):
            found = self.sum(self.path, "--method", "tree", "--schedule", schedule, "--collective", "reduce", ranks=3)
            self.assertEqual(found["bits"], bits(tree(self.values)), schedule)

    def test_native_leaves_figures_open(self):
        found = self.sum(self.path, "--schedule", "native", ranks=3)
        self.assertEqual(found["schedule"], "native")
        self.assertEqual(found["bits"], bits(exact(self.values)))
        self.assertEqual([found[name] for name in ("messages", "rounds", "bytes")], [None] * 3)

    def test_auto_is_the_default(self):
        chosen = self.sum(self.path, ranks=3)["schedule"]
        self.assertNotEqual(chosen, "auto")
        self.assertEqual(self.sum(self.path, "--schedule", "auto", ranks=3)["schedule"], chosen)

    def test_the_environment_forces_a_schedule(self):
        found = self.sum(self.path, ranks=3, environment={"STEADFOLD_SCHEDULE": "flat"})
        self.assertEqual(found["schedule"], "flat")
        ran = run("sum", self.path, ranks=3, environment={"STEADFOLD_SCHEDULE": "zigzag"})
        self.expect_fault(ran, "STEADFOLD_SCHEDULE", "zigzag")

    def test_the_environment_asks_for_a_transport(self):
        expected = self.sum(self.path, ranks=3)["bits"]
        for transport in ("auto", "mpi", "shared", "rma"):
            found = self.sum(self.path, ranks=3, environment={"STEADFOLD_TRANSPORT": transport})
            self.assertEqual(found["bits"], expected, transport)
        ran = run("sum", self.path, ranks=3, environment={"STEADFOLD_TRANSPORT": "pigeon"})
        self.expect_fault(ran, "pigeon", "rma")

    def test_forced_target(self):
        self.sum(self.path, environment={"STEADFOLD_TARGET": "scalar"})
        ran = run("sum", self.path, ranks=3, environment={"STEADFOLD_TARGET": "avx99"})
        self.expect_fault(ran, "avx99", "scalar")

    def test_forced_prefetch(self):
        bits = {self.sum(self.path, environment={"STEADFOLD_PREFETCH": where})["bits"] for where in ("off", "near", "far")}
        self.assertEqual(len(bits), 1)
        ran = run("sum", self.path, ranks=3, environment={"STEADFOLD_PREFETCH": "banana"})
        self.expect_fault(ran, "banana", "STEADFOLD_PREFETCH", "near")

    def test_settings_that_are_none(self):
        for name, value in (
            ("BIND", "junk"), ("BIND", ""), ("PREFETCH", ""), ("SCHEDULE", ""), ("TARGET", ""), ("TRANSPORT", ""),
            ("PROFILE", ""),
        ):  # fmt: skip
            ran = run("sum", self.path, environment={f"STEADFOLD_{name}": value})
            self.expect_fault(ran, f"STEADFOLD_{name}", f"'{value}'" if value else "is empty", "leave it unset")
        self.expect_fault(run("sum", self.path, ranks=3, environment={"STEADFOLD_BIND": "junk"}), "set it to on or off")

    def test_a_name_beside_the_schedule(self):
        found = self.sum(self.path, "--schedule", "binomial_spanning_tree", ranks=3)
        self.assertRegex(found["schedule"], re.compile("^binomial"))


if __name__ == "__main__":
    unittest.main()
