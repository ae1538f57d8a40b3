"""`steadfold study node`: [S2]'s reductions between the threads of a node, and reproducible sums by one and two sweeps."""

import math
import os
import unittest

from studies import StudyTest
from support import binned, bits, exact, made_up, run, tree

NODE = ("node", "S2")
CORES = os.cpu_count()
PARENTS = {
    "chain": lambda x: x - 1,
    "binary": lambda x: (x - 1) // 2,
    "binomial": lambda x: x & (x - 1),
    "4-ary": lambda x: (x - 1) // 4,
    "flat": lambda x: 0,
}
SUMS = {
    ("fastmath", "auto"),
    ("plain", "auto"),
    ("binned:sweep=single", "auto"),
    ("binned:sweep=double", "auto"),
    *((f"binned:sweep={sweep}", schedule) for sweep in ("single", "double")
      for schedule in ("recursive_doubling", "single_notify", "multi_notify")),  # fmt: skip
    ("tree", "auto"),
    ("exact", "auto"),
}
ORACLES = {"binned:sweep=single": binned, "binned:sweep=double": binned, "tree": tree, "exact": exact}


def element_at(column):
    """The benchmarks' number of that column: Steele, Lea and Flood's mixing of bits, one of 16 exponents."""
    word = (0x20161126 + column * 0x9E3779B97F4A7C15) % 2**64
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    word ^= word >> 31
    signed = word - 2**64 if word >= 2**63 else word
    return math.ldexp((signed >> 11) * 2.0**-52, -(word & 15))


def numbers_to_add(count):
    """Large numbers in both halves that cancel, small ones between them."""
    half, numbers = count // 2, []
    for i in range(count):
        if i % 2:
            numbers.append(math.ldexp(element_at(i), -90))
        else:
            numbers.append(element_at(i) if i < half else -element_at(40503 * i % half))
    return numbers


def times_of_sockets(threads, is_multi, near, merge):
    """Seconds of a reduction to thread 0 and of a broadcast back, over a binary tree in each socket of eight threads."""
    children = [[] for _ in range(threads)]
    for worker in range(1, threads):
        socket, place = worker // 8 * 8, worker % 8
        children[socket + (place - 1) // 2 if place else 0].append(worker)

    def times_of(worker):
        below = [(*times_of(child), near * (1 if child // 8 == worker // 8 else 130 / 60)) for child in children[worker]]
        summed = told = 0
        for written, broadcast, line in sorted(below, key=lambda child: child[0]) if is_multi else below:
            summed = max(summed, written) + line + (merge if is_multi else 0)
            told = max(told, line + broadcast)
        return summed + (0 if is_multi else merge * len(below)), told

    return times_of(0)


class Node(StudyTest):
    def assert_times(self, row):
        self.assertGreater(row["quartiles"][0], 0)
        self.assertLessEqual(row["quartiles"][0], row["seconds"])
        self.assertLessEqual(row["seconds"], row["quartiles"][1])
        self.assertLessEqual(row["quartiles"][1], row["max"])
        self.assertEqual(row["oversubscribed"], row["threads"] > CORES)

    def test_trees(self):
        found = self.rows("trees", study=NODE)[0]
        rows = {(row["threads"], row["places"], row["tree"], row["protocol"]): row for row in found}
        self.assertEqual(len(rows), len(found))
        self.assertEqual({key[0] for key in rows}, {2, 4, 8, 16})
        near, far, merge = 60e-9, 130e-9, 5e-9
        aware = rows[16, "by socket", "chain", "single_notify"]
        self.assertEqual(aware["cross_socket_edges"], 1, "no tree has fewer")
        self.assertAlmostEqual(aware["seconds"], 14 * near + far + 15 * merge, delta=1e-12)
        self.assertEqual(rows[16, "in turn", "chain", "single_notify"]["cross_socket_edges"], 15)
        for tree in ("chain", "binary", "binomial", "4-ary", "flat"):
            self.assertEqual(rows[16, "tree per socket", tree, "multi_notify"]["cross_socket_edges"], 1)
            self.assertEqual(rows[8, "tree per socket", tree, "multi_notify"]["cross_socket_edges"], 0)
        flat = rows[16, "by socket", "flat", "single_notify"]
        self.assertAlmostEqual(flat["seconds"], 7 * near + 8 * far + 15 * merge, delta=1e-12)
        counted = rows[16, "by socket", "flat", "counted_notify"]  # each adds to the count, 0 reads it, then all lines
        self.assertAlmostEqual(counted["seconds"], 14 * near + far + far + flat["seconds"], delta=1e-12)
        halves = rows[8, "by socket", "none", "dissemination"]
        self.assertAlmostEqual(halves["seconds"], 3 * (near + merge), delta=1e-12)
        for (threads, places, tree, protocol), row in rows.items():
            if protocol == "counted_notify":
                self.assertGreaterEqual(row["seconds"], rows[threads, places, tree, "single_notify"]["seconds"] + 2 * near - 1e-12)
            if protocol == "multi_notify" and tree != "flat":
                single = rows[threads, places, tree, "single_notify"]["seconds"]
                self.assertLessEqual(row["seconds"], single + 1e-12, (threads, places, tree))

    def test_measured(self):
        rows = self.rows("measured", "--ranks", "1,2,3,4", "--rounds", "3", study=NODE)[0]
        found = {(row["threads"], row["doubles"], row["tree"], row["protocol"]): row for row in rows}
        self.assertEqual(len(found), len(rows))
        self.assertEqual({key[:2] for key in found}, {(threads, doubles) for threads in (2, 3, 4) for doubles in (1, 16)})
        for (threads, _, tree, protocol), row in found.items():
            self.assert_times(row)
            if tree != "none":
                self.assertEqual(row["result"], "at the root" if protocol.endswith("_notify") else "everywhere")
        for threads in (2, 3, 4):
            plain = {protocol for count, _, tree, protocol in found if (count, tree) == (threads, "none")}
            self.assertGreaterEqual(plain, {"a team's plan", "bare exchange", "atomics"})
            self.assertEqual("dissemination" in plain, threads != 3, "it serves powers of two")
            self.assertEqual("dissemination, broadcast" in plain, threads == 4, "halves of one thread have nothing to tell")
        for protocol in ("multi_notify", "counted_notify", "counted_notify, broadcast"):
            self.assertIn((3, 16, "binomial", protocol), found)
        for variant in ("maximum", "four boxes"):  # whose results the study compares, too
            for protocol in ("single_notify", "multi_notify"):
                self.assertIn((3, 16, "binary", f"{variant}, {protocol}"), found)

    def test_measured_on_sockets(self):
        """Two sockets that hwloc makes up, of a core each: every shape has a tree per socket, too."""
        self.need_hwloc()
        asked = ("node", "--part", "measured", "--ranks", "2,4", "--rounds", "3")
        found = self.study(*asked, environment=made_up("package:2 core:1 pu:1"))["rows"]
        trees = {row["tree"] for row in found} - {"none"}
        self.assertEqual(trees, {*PARENTS, *(f"{name}, one per socket" for name in PARENTS)})
        of_trees = [row for row in found if row["tree"] != "none"]  # whose results the study compares with the sum
        self.assertEqual(len(of_trees), 2 * 2 * (len(trees) * 5 + 4))

    def test_storage(self):
        rows = self.rows("storage", study=NODE)[0]
        found = {(row["threads"], row["doubles"], row["tree"], row["protocol"]): row for row in rows}
        self.assertEqual(len(found), len(rows))
        self.assertEqual(len(found), 4 * 2 * (5 * 5 + 1 + 2))
        for (threads, doubles, tree_name, protocol), row in found.items():
            message = math.ceil((8 + 8 * doubles) / 64)  # with its number
            self.assertEqual(row["lines_per_message"], message)
            if protocol.startswith("counted_notify"):  # a line has no number; the count of those taken, and of those told
                counted = 2 * math.ceil(8 * doubles / 64) + 1 + 2
                feed, more = (2 * message + 2, (2, 3)) if protocol.endswith("broadcast") else (0, (0, 1))
                lines = [counted + feed] * threads
                published = [2 * threads - 1 + each * threads for each in more]
            elif protocol.endswith("_notify"):
                children = [0] * threads
                for worker in range(1, threads):
                    children[PARENTS[tree_name](worker)] += 1
                lines = [each * (2 * message + 1) for each in children]
                published = [sum(each + more for each in children) for more in (1, 2)]
            elif protocol == "reduce, broadcast":
                lines, published = [4 * message] * threads, [2 * threads - 1 + more * threads for more in (2, 3)]
            else:
                post = 8 * doubles
                own = {"dissemination": 2 * message * int(math.log2(threads)),
                       "a team's plan, its board": 1 + 5 + (2 * math.ceil(post / 64) if post > 112 else 0),
                       "a team's plan, its mailboxes": 1 + 6 + 9 * threads}  # fmt: skip
                lines, published = [own[protocol]] * threads, [None, None]
            self.assertEqual((row["lines"], row["most_lines_per_thread"]), (sum(lines), max(lines)), row)
            self.assertEqual([row["published_lines_least"], row["published_lines_most"]], published, row)

    def assert_sums(self, rows):
        """Times, ways and bits of sums over several numbers of threads."""
        by_ways = {}
        for row in rows:
            self.assert_times(row)
            way = (row["method"], row["schedule"])
            by_ways.setdefault((row["elements"], row["threads"]), {})[way] = row
            if row["schedule"] != "auto":
                self.assertEqual(row["chosen"], row["schedule"])
            else:
                self.assertEqual(row["chosen"], "together")
        by_elements = {}
        for (elements, _), of_ways in by_ways.items():
            self.assertEqual(set(of_ways), SUMS)
            by_elements.setdefault(elements, []).append(of_ways)
        for elements, runs in by_elements.items():
            numbers = numbers_to_add(elements)
            for method, oracle in ORACLES.items():
                got = {row["bits"] for of_ways in runs for way, row in of_ways.items() if way[0] == method}
                self.assertEqual(got, {bits(oracle(numbers))}, (elements, method))
            self.assertEqual(len({bits(oracle(numbers)) for oracle in ORACLES.values()}), 3, "the numbers tell methods apart")
        plain = {of_ways["plain", "auto"]["bits"] for of_ways in by_elements[4096]}
        self.assertGreater(len(plain), 1, "the control is the same for every number of threads")
        return by_ways

    def test_sums(self):
        rows = self.rows("sums", "--ranks", "1,2,3,5", "--rounds", "3", "--largest", "4096", study=NODE)[0]
        by_ways = self.assert_sums(rows)
        self.assertEqual(set(by_ways), {(elements, threads) for elements in (16, 256, 4096) for threads in (1, 2, 3, 5)})
        for of_ways in by_ways.values():
            for row in of_ways.values():
                self.assertAlmostEqual(row["ratio_to_plain"], row["seconds"] / of_ways["plain", "auto"]["seconds"])

    def test_scaling(self):
        rows = self.rows("scaling", "--ranks", "2,3", "--rounds", "3", "--largest", "4096", study=NODE)[0]
        by_ways = self.assert_sums(rows)
        self.assertEqual(set(by_ways), {(elements, threads) for elements in (1024, 4096) for threads in (1, 2, 3)})
        for (elements, _), of_ways in by_ways.items():
            for way, row in of_ways.items():
                alone = by_ways[elements, 1][way]
                self.assertAlmostEqual(row["speedup"], alone["seconds"] / row["seconds"])

    def test_sockets(self):
        rows = self.study("node", "--part", "sockets", "--rounds", "3", environment=made_up("core:2 pu:1"))["rows"]
        (near,), (merge,) = ({row[f"measured_{name}_seconds"] for row in rows} for name in ("message", "merge"))
        self.assertGreater(min(near, merge), 0)
        found = {(row["elements"], row["protocol"], row["method"], row["threads"]): row for row in rows}
        self.assertEqual(len(found), 5 * 2 * 3 * 5)
        adding = {}
        for (elements, protocol, method, threads), row in found.items():
            reduce, broadcast = times_of_sockets(threads, protocol == "multi_notify", near, merge)
            reducing = 2 * reduce + broadcast if method == "binned:sweep=double" else reduce
            self.assertAlmostEqual(row["predicted_reducing_seconds"], reducing, delta=1e-12)
            self.assertAlmostEqual(row["seconds"], row["measured_adding_seconds"] + reducing, delta=1e-12)
            self.assertEqual(row["sockets"], 2 if threads == 16 else 1)
            alone = found[elements, protocol, method, 1]
            self.assertAlmostEqual(row["speedup"], alone["seconds"] / row["seconds"])
            share = adding.setdefault((elements // threads, method), row["measured_adding_seconds"])
            self.assertEqual(row["measured_adding_seconds"], share)
            self.assertGreater(share, 0)

    def test_sockets_of_one_core(self):
        """Nobody passes anything on within one. On machines that hwloc makes up."""
        self.need_hwloc()
        for machine in ("core:1 pu:1", "package:2 core:1 pu:1"):
            found = self.study("node", "--part", "sockets", environment=made_up(machine))
            self.assertEqual((found["rows"], len(found["left_out"])), ([], 1))
            self.assertIn("sockets: not predicted", found["left_out"][0])

    def test_too_many_threads(self):
        found = self.study("node", "--part", "measured", "--ranks", "17,32", "--rounds", "3")
        self.assertEqual(found["rows"], [])
        self.assertEqual([each.split(":")[0] for each in found["left_out"]], ["17 threads", "32 threads"])


if __name__ == "__main__":
    unittest.main()
