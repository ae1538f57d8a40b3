"""`steadfold bench`: the rows that are promised, of plausible figures; how fast anything is, no test says."""

import json
import os
import statistics
import subprocess
import sys
import unittest
from pathlib import Path

from support import BITS_VERSIONS, COMMAND, LAUNCHER, METHODS, run, run_all
from support.benches import ALLREDUCE, CYCLIC, DOTS, KINDS_OF_CYCLIC, LOCAL, RANKS, READERS, BenchTest


class Bench(BenchTest):
    def test_local(self):
        rows = self.rows_from(run("bench", "local", "--sizes", "100,1000", "--rounds", "3", "--json"), LOCAL)
        self.assertGreaterEqual({row["kernel"] for row in rows}, READERS | {"tree", "exact"} | DOTS)
        self.assertEqual({row["elements"] for row in rows}, {100, 1000})
        for row in rows:
            self.assertGreater(row["ns_per_element"], 0)
            self.assert_between(row["ns_per_element"], row["ns_quartiles"])
            self.assert_between(row["ns_per_element"], row["ns_interval"])
            self.assertEqual((row["threads"], row["launches"], row["rounds"]), (1, 1, 3))
            if row["kernel"] == "read":
                self.assertEqual(row["ratio_to_read"], 1)

    def test_prefetch(self):
        rows = self.rows_from(run("bench", "prefetch", "--sizes", "100", "--rounds", "3", "--json"), LOCAL)
        found = {(row["kernel"], row["prefetch"]) for row in rows if "prefetch" in row}
        self.assertEqual(found, {(kernel, place) for kernel in ("tree", "exact", "binned") for place in ("off", "near", "far")})
        table = run("bench", "prefetch", "--sizes", "100", "--rounds", "3", environment={"STEADFOLD_PREFETCH": "near"}).stdout
        self.assertRegex(table, r"(?m)^binned, far +f64 +100 elements")
        self.assertIn("prefetching is set to near here", table)
        self.expect_fault(run("bench", "prefetch", "--ranks", "2"), "--ranks")

    def test_compare(self):
        """Two commands that answer in known times."""
        def answering(name, *times):
            rows = [{"type": "f64", "elements": 10, "threads": 1, "kernel": kernel, "ns_per_element": time}
                    for kernel, time in zip(("read", "tree", "exact"), times)]
            path = self.write(name, f"#!/bin/sh\ncat <<'END'\n{json.dumps({'rows': rows})}\nEND\n")
            path.chmod(0o755)
            return path
        script = Path(__file__).resolve().parents[2] / "bench" / "compare.py"
        words = [sys.executable, script, answering("before", 1.0, 2.0, 4.0), answering("after", 1.0, 3.0, 3.0), "--launches"]
        spoken = subprocess.run([*words, "4"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(spoken, r"(?m)^read .*  1\.000 \[1\.000, 1\.000\]$")
        self.assertRegex(spoken, r"(?m)^tree .*  1\.500 \[1\.500, 1\.500\] slower$")
        self.assertRegex(spoken, r"(?m)^exact .*  0\.750 \[0\.750, 0\.750\] faster$")
        few = subprocess.run([*words, "2"], capture_output=True, text=True)
        self.assertEqual((few.returncode, few.stdout), (2, ""))
        self.assertIn("--launches 2", few.stderr)
        missing = subprocess.run([sys.executable, script, words[2]], capture_output=True, text=True)
        self.assertEqual((missing.returncode, missing.stdout), (2, ""))
        self.assertIn("arguments are required: after", missing.stderr)
        helped = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertIn("95 % interval", helped)

    def test_arrays(self):
        rows = self.rows_from(run("bench", "arrays", "--sizes", "300", "--rounds", "3", "--json"), LOCAL)
        kernels = {(row["type"], row["kernel"]) for row in rows}
        self.assertGreaterEqual(kernels, {("fields", "exact masked"), ("fields", "binned"), ("rows", "exact"), ("rows", "read"),
                                          ("30 groups", "exact"), ("10000 groups", "binned"), ("statistics", "statistics")})
        for row in rows:
            self.assertGreaterEqual(row["elements"], 9000 if row["type"] in ("fields", "rows") else 300)
            self.assertGreater(row["ns_per_element"], 0)

    def test_labels(self):
        rows = self.rows_from(run("bench", "labels", "--sizes", "300", "--counts", "1,9", "--rounds", "3", "--json"), LOCAL)
        self.assertEqual({row["type"] for row in rows}, {f"{groups} groups{form}" for groups in (1, 9)
                                                         for form in ("", ", sorted", ", any exponent")})
        self.assertGreaterEqual({row["kernel"] for row in rows}, {"accumulate", "exact", "binned", "tree", "read"})
        self.assertEqual({row["elements"] for row in rows}, {300})

    def test_threads(self):
        rows = self.rows_from(run("bench", "local", "--sizes", "1000", "--rounds", "3", "--threads", "1,2", "--json"), LOCAL)
        for threads in (1, 2):
            kernels = {row["kernel"] for row in rows if row["threads"] == threads}
            self.assertGreaterEqual(kernels, READERS | {"tree", "exact"})

    def test_plot(self):
        ran = run("bench", "local", "--sizes", "100,300", "--types", "f64,f32", "--rounds", "3", "--json")
        path = self.write("local.json", ran.stdout)
        script = Path(__file__).resolve().parents[2] / "docs" / "plots" / "local.py"
        spoken = subprocess.run([sys.executable, script, path], capture_output=True, text=True, check=True).stdout
        for row in json.loads(ran.stdout)["rows"]:
            size = row["elements"] * {"f64": 8, "f32": 4}[row["type"]]
            self.assertRegex(spoken, rf"{row['kernel']} +{size} bytes +{row['ns_per_element']:.4f} ")

    def test_local_raw(self):
        path = self.folder / "raw.jsonl"
        ran = run("bench", "local", "--sizes", "500", "--types", "f32", "--rounds", "5", "--json", "--raw", path)
        rows = {row["kernel"]: row for row in self.rows_from(ran, LOCAL)}
        samples = self.samples_in(path)
        self.assertEqual({sample["round"] for sample in samples}, set(range(5)))
        self.assertGreater(len({sample["candidate"] for sample in samples if sample["candidate"][:4] == "read"}), 5)
        for kernel in ("accumulate", "tree"):
            seconds = [sample["seconds"] for sample in samples if sample["candidate"] == kernel]
            self.assertEqual(len(seconds), 5)
            self.assertAlmostEqual(statistics.median(seconds) / 500 * 1e9 / rows[kernel]["ns_per_element"], 1)
        for sample in samples:
            self.assertGreater(sample["calls"], 0)
            self.assertEqual((sample["launch"], sample["type"], sample["elements"]), (0, "f32", 500))

    def test_over_ranks(self):
        for name, methods, rivals in (("reduce", {"exact", "tree", "plain", "mpi"}, 1),
                                      ("bundle", {"exact", "tree", "plain"}, 1), ("fields", {"exact", "binned"}, 2)):
            ran = run("bench", name, "--counts", "1,5", "--rounds", "3", "--json", ranks=2)
            rows = self.rows_from(ran, RANKS)
            self.assertEqual({row["method"] for row in rows}, methods)
            self.assertEqual({row["count"] for row in rows}, {1, 5})
            for row in rows:
                self.assertEqual((row["ranks"], row["launches"], row["rounds"]), (2, 1, 3))
                self.assert_against(row, rivals)

    def test_reduce_of_a_distribution(self):
        ran = run("bench", "reduce", "--counts", "100", "--distribution", "optimized:deviation=0.5", "--methods", "tree",
                  "--schedules", "owner:buffer=4,auto", "--rounds", "3", "--json", ranks=3)  # fmt: skip
        rows = self.rows_from(ran, RANKS)
        self.assertEqual({row["distribution"] for row in rows}, {"optimized:deviation=0.5"})
        self.assertLessEqual({"owner:buffer=4", "auto"}, {row["schedule"] for row in rows})

    def test_reproblas(self):
        words = ("bench", "reduce", "--counts", "1,100", "--methods", "tree", "--rounds", "3", "--json", "--reproblas")
        for ranks in (1, 3):
            rows = self.rows_from(run(*words, self.reproblas(f"of {ranks}"), ranks=ranks), RANKS)
            self.assertEqual([row["count"] for row in rows if row["method"] == "reproblas"], [1, 100])
        for prefix, *expected in (
            (self.folder / "none", "--reproblas cannot be used", "none/lib/libreproblas.so"),
            (self.reproblas("old", "-Dbinned_dbdbadd=idxd_dididadd"), "has no binned_dbdbadd"),
            (self.reproblas("empty", "-DNO_PARTIALS"), "partial sums of 0 doubles"),
            (self.reproblas("broken", "-DADDS_NOTHING"), "wrong sum"),
        ):
            self.expect_fault(run(*words, prefix, ranks=3), *expected)

    def test_confidence(self):
        words = ("bench", "local", "--sizes", "100", "--rounds", "5")
        usual, asked = (self.object_from(run(*words, *more, "--json")) for more in ((), ("--confidence", "0.8")))
        self.assertEqual((usual["confidence"], asked["confidence"]), (0.95, 0.8))
        self.assertRegex(run(*words, "--confidence", "0.99").stdout, r"(?m)^exact ")
        for wrong in ("0", "1", "95", "much"):
            self.expect_fault(run(*words, "--confidence", wrong), "--confidence")

    def test_interpose(self):
        for method in ("tree", "exact"):
            ran = run("bench", "interpose", "--counts", "1,300", "--methods", method, "--rounds", "3", "--json")
            rows = self.rows_from(ran, RANKS)
            calls = [(method, "MPI_Allreduce"), (method, "MPI_Iallreduce"), ("passed on", "MPI_Allreduce")]
            self.assertEqual([(row["count"], row["method"], row["call"]) for row in rows], [(n, *call) for n in (1, 300) for call in calls])
            for row in rows:
                self.assertEqual((row["ranks"], row["launches"], row["rounds"]), (2, 1, 3))
                self.assert_against(row, 1)
        self.expect_fault(run("bench", "interpose", "--methods", "tree,exact"), "one method")
        self.expect_fault(run("bench", "interpose", "--methods", "best"), "best")
        self.expect_fault(run("bench", "interpose", "--counts", "1", ranks=2), "needs the interposer")

    def test_allreduce_by_all_schedules(self):
        rows = self.rows_from(run("bench", "allreduce", "--counts", "5", "--rounds", "3", "--json", ranks=2), ALLREDUCE)
        registry = json.loads(run("schedules", "--json").stdout)["schedules"]
        for method in METHODS:
            serving = {
                row["name"]
                for row in registry
                if "allreduce" in row["collectives"] and method in row["methods"]
                and row["name"] != "original_dissemination"  # counts ranks twice
                and (row["name"], method) != ("native", "binned")  # by double sweep, which is not raced
                and (row["name"], method) != ("multi_notify", "plain")  # sums would follow the order of arrival
            }
            self.assertGreater(len(serving), 10)
            mine = [row for row in rows if row["method"] == method]
            self.assertEqual({row["schedule"] for row in mine if row["call"] == "plan"}, serving | {"auto"})
            self.assertEqual({row["schedule"] for row in mine if row["call"] == "allreduce"}, {"auto"})
            differ = {row["schedule"] for row in mine if not row["same_on_all_ranks"]}
            unequal = {row["name"] for row in registry if not row["same_on_all_ranks"]}
            self.assertEqual(differ, unequal & serving if method == "plain" else set())
        for row in rows:
            self.assertEqual((row["operator"], row["type"], row["count"], row["bytes"]), ("sum", "f64", 5, 40))
            self.assertEqual((row["ranks"], row["rows"]), (2, 1))
            two_calls = row["schedule"] == "reduce_broadcast"
            self.assert_against(row, 4 if two_calls else 3)
            if two_calls:
                self.assertIn("MPI_Reduce(MPI_DOUBLE, MPI_SUM), MPI_Bcast(MPI_DOUBLE)", row["rivals"][3]["rival"])
            self.assertEqual("chosen" in row, row["schedule"] == "auto")
            self.assertIn(row.get("chosen", "ring").split(":")[0], {each["name"] for each in registry})

    def test_plain_over_cyclic_schedules(self):
        """Plain sums of floating-point numbers differ between ranks there: they are measured, and no call gets them."""
        asked = CYCLIC
        self.assert_that_sums_differ(run("bench", "allreduce", *asked, *KINDS_OF_CYCLIC, "--json", ranks=5))
        table = run("bench", "allreduce", *asked, ranks=3).stdout
        self.assertRegex(table, r"(?m)^plain +plan +bruck \* ")
        self.assertRegex(table, r"(?m)^plain +plan +ring +\d")
        self.assertRegex(table, r"(?m)^\* .*calls refuse this combination$")
        ran = run("bench", "allreduce", "--methods", "plain", "--schedules", "original_dissemination", ranks=3)
        self.expect_fault(ran, "original_dissemination", "counts some ranks twice", "another schedule")

    def test_allreduce_of_what_is_asked_for(self):
        ran = run("bench", "allreduce", "--counts", "1,70", "--types", "f32,f64", "--operators", "sum,max,user_sum",
                  "--methods", "tree,plain,binned:bins=2", "--schedules", "ring:block=7,mpich", "--rounds", "3", "--json",
                  ranks=2)  # fmt: skip
        rows = self.rows_from(ran, ALLREDUCE)
        found = sorted((r["operator"], r["type"], r["count"], r["method"], r["schedule"]) for r in rows)
        self.assertEqual(found, sorted(
            (operator, kind, count, method, schedule)
            for operator in ("sum", "max", "user_sum") for kind in ("f32", "f64") for count in (1, 70)
            for method in ("tree", "plain", "binned:bins=2") for schedule in ("ring:block=7", "mpich")
            if operator == "sum" or method != "binned:bins=2"
        ))  # fmt: skip
        for row in rows:
            self.assertEqual(row["bytes"], row["count"] * {"f32": 4, "f64": 8}[row["type"]])
            self.assert_against(row, 3)
            kind = {"f32": "MPI_FLOAT", "f64": "MPI_DOUBLE"}[row["type"]]
            built_in = {"sum": "MPI_SUM", "max": "MPI_MAX", "user_sum": "MPI_SUM"}[row["operator"]]
            first, second, third = [rival["rival"] for rival in row["rivals"]]
            if row["operator"] == "user_sum":
                first, second = second, first
            self.assertIn(f"MPI_Allreduce({kind}, {built_in})", first)
            self.assertIn(f"MPI_Allreduce({kind}, a user operator)", second)
            self.assertRegex(third, rf"MPI_Allreduce\(\d+ x {kind}, {built_in}\), with as many bytes as a partial result")

    def test_allreduce_of_several_rows(self):
        """Rivals add up their rows first. Results are compared with those of one process after every sample."""
        ran = run("bench", "allreduce", "--rows", "16", "--counts", "1,100", "--operators", "sum,max,user_sum",
                  "--methods", "tree,exact,plain", "--schedules", "auto,ring", "--rounds", "3", "--json", ranks=2)  # fmt: skip
        rows = self.rows_from(ran, ALLREDUCE)
        self.assertEqual({row["count"] for row in rows}, {1, 100})
        for row in rows:
            self.assertEqual((row["rows"], row["bytes"]), (16, 8 * row["count"]))
            self.assert_against(row, 3)
            self.assertIn("a loop, MPI_Allreduce", row["rival"])
        table = run("bench", "allreduce", "--rows", "4", "--counts", "10", "--methods", "exact", "--schedules", "auto",
                    "--rounds", "3", ranks=2).stdout  # fmt: skip
        self.assertIn("sum of 4 rows of 10 f64 per rank", table)
        self.expect_fault(run("bench", "allreduce", "--rows", "0", ranks=2), "--rows")

    def test_allreduce_where_the_order_shows(self):
        ran = run("bench", "allreduce", "--counts", "70", "--operators", "user_sum", "--methods", "tree,plain",
                  "--schedules", "auto,circulant", "--rounds", "3", "--json", ranks=3)  # fmt: skip
        rows = self.rows_from(ran, ALLREDUCE)
        self.assertEqual({(row["method"], row["ranks"]) for row in rows}, {("tree", 3), ("plain", 3)})

    def test_bytes_on_the_wire(self):
        ran = run("bench", "allreduce", "--counts", "3", "--methods", "tree", "--schedules", "auto", "--rounds", "3",
                  "--interface", "lo", "--json", "--ranks", "2")  # fmt: skip
        for row in self.rows_from(ran, ALLREDUCE):
            for each in [row, *row["rivals"]]:
                self.assertGreaterEqual(each["wire_bytes"], 0)

    def test_libraries_in_turn(self):
        other = Path(COMMAND).resolve().parent
        built = [n for n in ("openmpi", "mpich") if any((other / place / f"steadfold.{n}").exists()
                                                        for place in (".", f"../{n}/bin", "../../bin"))]  # fmt: skip
        names = {"openmpi": "Open MPI", "mpich": "MPICH"}
        if not built:
            self.skipTest("built for another MPI library")
        path = self.folder / "raw.jsonl"
        ran = run("bench", "allreduce", "--counts", "3", "--methods", "tree", "--schedules", "auto", "--rounds", "3",
                  "--libraries", ",".join(built), "--launches", "2", "--json", "--raw", path)  # fmt: skip
        rows = self.rows_from(ran, ALLREDUCE)
        calls = ["allreduce", "plan", "plan, sf_allocate"]
        self.assertEqual([(row["library"], row["call"]) for row in rows],
                         [(names[name], call) for name in built for call in calls])  # fmt: skip
        for row in rows:
            self.assertIn(row["library"].replace(" ", "").lower(), row["rival"].replace(" ", "").lower())
            self.assertEqual((row["ranks"], row["launches"], row["rounds"]), (2, 2, 6))
        self.assertEqual({sample["library"] for sample in self.samples_in(path)}, {names[name] for name in built})

    def test_launches(self):
        path = self.folder / "raw.jsonl"
        ran = run("bench", "bundle", "--counts", "2", "--rounds", "3", "--json", "--launches", "2", "--ranks", "1,3",
                  "--raw", path)  # fmt: skip
        rows = self.rows_from(ran, RANKS)
        self.assertEqual({row["ranks"] for row in rows}, {1, 3})
        samples = self.samples_in(path)
        for row in rows:
            self.assertEqual((row["launches"], row["rounds"]), (2, 6))
            self.assert_between(row["seconds"], row["seconds_interval"])
            self.assert_between(row["ratio"], row["ratio_interval"])
            name = " ".join([row["method"], row["schedule"], row["call"]])
            mine = [s for s in samples if s["candidate"] == name and s["ranks"] == row["ranks"]]
            self.assertEqual({(s["launch"], s["round"]) for s in mine}, {(k, i) for k in range(2) for i in range(3)})
            self.assertAlmostEqual(statistics.median(s["seconds"] for s in mine) / row["seconds"], 1)

    def test_ranks_that_it_starts_are_bound_while_there_are_cores(self):
        """Unless the user says something else."""
        ours = len(os.sched_getaffinity(0))
        settings = dict.fromkeys(("OMPI_MCA_hwloc_base_binding_policy", "PRTE_MCA_hwloc_default_binding_policy"))
        for arguments, ranks in (((), 2), (("--ranks", str(ours + 1)), ours + 1)):
            ran = run("bench", "bundle", "--counts", "2", "--rounds", "3", "--json", *arguments, environment=settings)
            self.assertEqual({row["ranks"] for row in self.rows_from(ran, RANKS)}, {ranks})
            theirs = self.object_from(ran)["environment"]["allowed_cores"]
            if ranks <= ours:
                self.assertLess(theirs, ours)
            else:
                self.assertEqual(theirs, ours)
        ran = run("bench", "bundle", "--counts", "2", "--rounds", "3", "--json",
                  environment={"OMPI_MCA_hwloc_base_binding_policy": "none", "HYDRA_BINDING": "none"})  # fmt: skip
        self.assertEqual(self.object_from(ran)["environment"]["allowed_cores"], ours)

    def test_in_a_job_of_one_rank(self):
        ran = run("bench", "bundle", "--counts", "2", "--rounds", "3", "--json", ranks=1)
        self.assertEqual({row["ranks"] for row in self.rows_from(ran, RANKS)}, {1})

    def test_auto_beside_the_best(self):
        fields = {"method": str, "count": int, "chosen": str, "seconds": float, "best": str, "best_seconds": float, "ratio": float,
                  "library": str, "transport": str, "ranks": int}  # fmt: skip
        names = {row["name"] for row in json.loads(run("schedules", "--json").stdout)["schedules"]}
        asked = ("bench", "auto", "--counts", "1,300", "--rounds", "4")
        found = {transport: self.rows_from(run(*asked, "--json", ranks=3, environment={"STEADFOLD_TRANSPORT": transport}), fields)
                 for transport in ("mpi", "shared")}  # fmt: skip
        for transport, rows in found.items():
            self.assertEqual([(row["count"], row["method"]) for row in rows],
                             [(count, method) for count in (1, 300) for method in BITS_VERSIONS])  # fmt: skip
            for row in rows:
                self.assertEqual((row["transport"], row["ranks"]), (transport, 3))
                self.assertIn(row["best"].split(":")[0], names)
                self.assertAlmostEqual(row["ratio"], row["seconds"] / row["best_seconds"])
                self.assert_between(row["ratio"], row["ratio_interval"])
        for row in found["mpi"]:
            self.assertIn(row["chosen"].split(":")[0], names)
            self.assertAlmostEqual(row["measured_to_predicted"], row["seconds"] / row["predicted_seconds"])
        self.assertEqual({(row["chosen"], row["predicted_seconds"]) for row in found["shared"]}, {("together", None)})
        if "mpich" in LAUNCHER[0]:
            return  # the same command starts ranks of both
        ran = run(*asked, "--methods", "tree", "--schedules", "linear,bruck:n=2", "--ranks", "2,3")  # and auto
        for ranks in (2, 3):
            for transport in ("shared", "mpi"):
                self.assertRegex(ran.stdout, rf"(?m)^{ranks} ranks, .*, transport {transport}, 1 launches$")
        self.assertRegex(ran.stdout, r"(?m)^tree +1 +together +\d+\.\d{3} +(linear|bruck:n=2) +\d+\.\d{3} +\d+\.\d\d \[")
        self.assertRegex(ran.stdout, r"(?m)^\d of 8 choices take at most 1.15 times as long as the best schedule$")

    def test_slow_network_says_what_it_lacks(self):
        script = Path(__file__).resolve().parents[2] / "bench" / "slow_network.py"
        ran = subprocess.run([sys.executable, script], capture_output=True, text=True, env={"PATH": str(self.folder)})
        self.assertEqual((ran.returncode, ran.stdout), (0, ""))
        self.assertRegex(ran.stderr, r"^left out: needs (root|ip)\n$")

    def test_for_people(self):
        self.assertRegex(run("bench", "bundle", "--counts", "3", "--rounds", "3", ranks=2).stdout, r"(?m)^tree +bundle ")
        for_people = run("bench", "allreduce", "--counts", "3", "--schedules", "ring", "--rounds", "3", ranks=2).stdout
        self.assertRegex(for_people, r"(?m)^sum of 3 f64 per rank \(24 bytes\) on 2 ranks, ")
        self.assertRegex(for_people, r"(?m)^A: MPI_Allreduce\(MPI_DOUBLE, MPI_SUM\)$")
        self.assertRegex(for_people, r"(?m)^tree +plan +ring +\d+( +\d+\.\d{3}){4} +\d+\.\d\d \[.*\] A, .* B, .* C$")

    def test_what_does_not_exist(self):
        over_ranks = [
            (("bench", "nothing"), ""),
            (("bench", "allreduce", "--methods", "magic"), "magic"),
            (("bench", "allreduce", "--counts", "0"), "--counts"),
            (("bench", "allreduce", "--types", "f16"), "f16"),
            (("bench", "allreduce", "--interface", "nowhere"), "--interface"),
            (("bench", "allreduce", "--operators", "xor"), "xor"),
            (("bench", "allreduce", "--schedules", "nowhere"), "nowhere"),
            (("bench", "allreduce", "--schedules", "root_group_last"), "root_group_last"),
            (("bench", "allreduce", "--methods", "exact", "--operators", "max"), "max"),
            (("bench", "reduce", "--launches", "2"), "--launches"),
            (("bench", "reduce", "--distribution", "random"), "unknown distribution 'random'"),
            (("bench", "local", "--sizes", "100,-1"), "--sizes: '-1' is not a count"),
            (("bench", "reduce", "--counts=-3"), "--counts: '-3' is not a count"),
            (("bench", "local", "--sizes", "18446744073709551616"), "--sizes: '18446744073709551616' is not a count"),
        ]
        alone = [
            (("bench", "allreduce", "--methods", "magic", "--ranks", "2"), "magic"),
            (("bench", "allreduce", "--ranks", "two"), "--ranks"),
            (("bench", "allreduce", "--libraries", "lam"), "lam"),
            (("bench", "local", "--types", "text"), ""),
            (("bench", "local", "--launches", "2"), "--launches"),
            (("bench", "local", "--threads", "0"), "--threads"),
            (("bench", "local", "--sizes", "10", "--raw", self.folder / "none" / "raw"), "--raw"),
        ]
        calls = [(words, {"ranks": 2}) for words, _ in over_ranks] + [(words, {}) for words, _ in alone]
        for ran, (_, told) in zip(run_all(calls), over_ranks + alone):
            self.expect_fault(ran, told)


if __name__ == "__main__":
    unittest.main()
