"""The interposer, preloaded into programs in C that know nothing of it: what MPI's own reductions give with it, and as a
control without it."""

import json
import math
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

LIBRARY = os.environ["STEADFOLD_LIBRARY"]
PROGRAMS = os.environ["STEADFOLD_INTERPOSE_PROGRAMS"]
PRELOADED = os.environ["STEADFOLD_INTERPOSE"]
FORTRAN = os.environ["STEADFOLD_INTERPOSE_FORTRAN"] == "1"
FULL = os.environ.get("STEADFOLD_FULL") == "1"
RANKS = (3, 4, 5, 7, 8) if FULL or LIBRARY == "openmpi" else (3, 7)
# Those of an allreduce that the MPI library can be told to take.
ALGORITHMS = {"openmpi": ["1", "3", "4", "2", "5", "6"], "mpich": ["recursive_doubling", "reduce_scatter_allgather", "smp", "nb"]}[LIBRARY]

# The variable that chooses one for MPI_Iallreduce, some values, and what else they take.
STARTED = {
    "openmpi": ("OMPI_MCA_coll_libnbc_iallreduce_algorithm", ["1", "2", "3"], {}),
    "mpich": ("MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM", ["sched_naive", "sched_recursive_doubling", "sched_reduce_scatter_allgather"],
              {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"}),
}[LIBRARY]  # fmt: skip


def run(ranks, *command, interposed=True, preloaded=PRELOADED, limit=120, **environment):
    """The finished launch of a program; environment variables of the interposer go without their prefix."""
    as_they_are = ("OMPI", "MPIR", "INIT_", "PROFILER_")
    own = {**os.environ, **{k if k.startswith(as_they_are) else f"STEADFOLD_INTERPOSE_{k}": v for k, v in environment.items()}}
    if interposed:
        own["LD_PRELOAD"] = ":".join(filter(None, (preloaded, own.get("LD_PRELOAD", ""))))
    return subprocess.run([os.environ["STEADFOLD_MPIRUN"], "-n", str(ranks), *command], capture_output=True, text=True,
                          timeout=limit, env=own)  # fmt: skip


WITHOUT_SETTINGS = {name: value for name, value in os.environ.items() if not name.startswith("STEADFOLD_INTERPOSE")}


def finished(command, environment=WITHOUT_SETTINGS):
    """The finished command `steadfold run`, without settings of the interposer."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


def program(name):
    return f"{PROGRAMS}/{name}"


def forced(algorithm):
    if LIBRARY == "mpich":
        return {"MPIR_CVAR_DEVICE_COLLECTIVES": "none", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": algorithm}
    return {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_allreduce_algorithm": algorithm}


def line_of_call(function, text):
    """Where the only statement with this text stands in a function of programs.c, as a report tells it."""
    lines = Path(__file__).with_name("programs.c").read_text().splitlines()
    begin = lines.index(f"static void {function}(void) {{")
    found = [i + 1 for i in range(begin, lines.index("}", begin)) if text in lines[i]]
    assert len(found) == 1, (function, text, found)
    return f"{function} (programs.c:{found[0]})"


class Interposed(unittest.TestCase):
    def ended_well(self, ran):
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran

    def digest(self, ranks, shift=0, what="digest", **options):
        return re.search(r"digest (\w+)", self.ended_well(run(ranks, program("programs"), what, str(shift), **options)).stdout)[1]

    def test_every_function_gives_the_bits_of_the_tree_over_ranks(self):
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                ran = self.ended_well(run(ranks, program("collectives")))
                self.assertIn("\n0 results are wrong", "\n" + ran.stdout)

    def test_that_program_sees_what_is_wrong(self):
        ran = run(4, program("collectives"), "sums of doubles", interposed=False)
        self.assertNotEqual(ran.returncode, 0)

    def test_fortran_gets_the_same_bits_by_each_of_its_interfaces(self):
        if not FORTRAN:
            self.skipTest("no Fortran compiler for this MPI library")
        for interface in ("include", "module", "f08"):
            for ranks in (3, 7) if interface == "f08" else (3,):
                with self.subTest(interface=interface, ranks=ranks):
                    ran = self.ended_well(run(ranks, program(f"fortran_{interface}"), REPORT="1"))
                    self.assertIn("0 results are wrong", ran.stdout)
                    name = "mpi_iallreduce" if LIBRARY == "openmpi" else "Iallreduce"  # each call once
                    calls = re.findall(rf"{name} +MPI_SUM +MPI_DOUBLE_PRECISION +(\d+) +\d+ +\S+  rank order, method tree", ran.stderr)
                    self.assertEqual(sum(map(int, calls)), 7)
        ran = self.ended_well(run(3, program("opens"), program("libfortran.so")))  # as Python does with its modules
        self.assertIn("0 results are wrong", ran.stdout)
        ran = run(4, program("fortran_include"), interposed=False)
        self.assertNotEqual(ran.returncode, 0, "the control: without the interposer it fails")

    def test_no_algorithm_changes_a_bit(self):
        for ranks in (4, 5, 7, 8) if FULL or LIBRARY == "openmpi" else (4, 7):
            algorithms = ALGORITHMS if ranks == 4 or FULL else ALGORITHMS[:2]
            with self.subTest(ranks=ranks):
                plain = {self.digest(ranks, interposed=False, **forced(a)) for a in algorithms}
                self.assertGreater(len(plain), 1, "the control: plain sums depend on the algorithm")
                self.assertEqual(len({self.digest(ranks, **forced(a)) for a in algorithms}), 1)

    def test_no_algorithm_of_started_calls_changes_a_bit(self):
        ways = [{STARTED[0]: algorithm, **STARTED[2]} for algorithm in STARTED[1]]
        for ranks in (5, 7) if LIBRARY == "openmpi" else (5,):  # those whose plain sums depend on these algorithms
            with self.subTest(ranks=ranks):
                plain = {self.digest(ranks, what="digest_started", interposed=False, **way) for way in ways}
                self.assertGreater(len(plain), 1, "the control: plain sums depend on the algorithm")
                self.assertEqual(len({self.digest(ranks, what="digest_started", **way) for way in ways}), 1)

    def test_exact_and_binned_do_not_depend_on_which_rank_has_what(self):
        for method in ("exact", "binned"):
            with self.subTest(method=method):
                self.assertEqual(len({self.digest(5, shift, METHOD=method) for shift in (1, 2, 3)}), 1)
        self.assertGreater(len({self.digest(5, shift) for shift in (1, 2, 3)}), 1, "the control: the tree's do")

    def test_exact_sums_are_rounded_once(self):
        lines = self.ended_well(run(5, program("programs"), "values", METHOD="exact")).stdout.splitlines()
        self.assertEqual(len(lines), 200)
        trees = 0
        for line in lines:
            *summands, found = map(float.fromhex, line.split())
            self.assertEqual(found.hex(), (math.fsum(summands) + 0.0).hex())
            (a, b, c, d, e) = summands
            trees += found != ((a + b) + (c + d)) + e
        self.assertGreater(trees, 20, "the control: the tree rounds otherwise")

    def test_no_rank_waits_for_data_that_it_does_not_need(self):
        for kind in ("0", "2"):
            self.ended_well(run(2, program("programs"), "ends", kind, limit=20))
        if LIBRARY == "openmpi":  # MPICH's own scan waits, too
            self.ended_well(run(2, program("programs"), "ends", "1", limit=20))

    def test_programs_have_thousands_of_communicators(self):
        self.ended_well(run(2, program("programs"), "in_turn", "10000" if FULL else "2500"))
        self.ended_well(run(2, program("programs"), "at_once", "1900"))

    def test_threads(self):
        self.ended_well(run(3, program("programs"), "threads"))

    def test_a_library_that_was_opened_locally_is_found(self):
        ran = self.ended_well(run(4, program("opens"), program("libprograms.so"), "digest", "0"))
        self.assertIn(self.digest(4), ran.stdout)

    def test_the_report_says_what_was_done(self):
        ran = self.ended_well(run(3, program("programs"), "kinds", REPORT="1"))
        for function, op, kind, calls, done in (
            ("Allreduce", "MPI_SUM", "MPI_DOUBLE", 1, "rank order, method tree +kinds "),
            ("Allreduce", "MPI_MAX", "MPI_DOUBLE", 1, "rank order, method tree, with the MPI library's operator"),
            ("Allreduce", "MPI_SUM", "MPI_INT", 1, "passed on: the order cannot change bits"),
            ("Allreduce", "MPI_SUM", "MPI_DOUBLE", 1, "passed on: one rank"),
            ("Allreduce", "MPI_SUM", "MPI_DOUBLE", 1, "passed on: no elements"),
            ("Iallreduce", "MPI_SUM", "MPI_DOUBLE", 1, "rank order, method tree +kinds "),
            ("Accumulate", "any", "any", 1, "passed on: one-sided"),
        ):
            self.assertRegex(ran.stderr, rf"{function} +{op} +{kind} +{calls} +\d* *[\d.e-]* *{done}")
        self.assertIn("These calls give the same bits on every run with this number of ranks, except for calls that were passed on", ran.stderr)
        self.assertEqual(self.ended_well(run(3, program("programs"), "kinds")).stderr, "")

    def test_a_report_in_a_file_says_where_calls_stand(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/report.json"
            self.ended_well(run(3, program("programs"), "kinds", REPORT=file))
            report = json.loads(Path(file).read_text())
        self.assertEqual((report["rank"], report["ranks"], report["same_bits_again"]), (0, 3, False))
        sums = [call for call in report["calls"] if call["function"] == "Iallreduce"]
        self.assertEqual([(call["operator"], call["type"], call["calls"], call["bytes"]) for call in sums], [("MPI_SUM", "MPI_DOUBLE", 1, 8)])
        for function, op, kind, done, text in (
            ("Allreduce", "MPI_SUM", "MPI_DOUBLE", "rank order, method tree", "MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)"),
            ("Allreduce", "MPI_MAX", "MPI_DOUBLE", "rank order, method tree, with the MPI library's operator", "MPI_MAX"),
            ("Allreduce", "MPI_SUM", "MPI_INT", "passed on: the order cannot change bits", "MPI_INT"),
            ("Allreduce", "MPI_SUM", "MPI_DOUBLE", "passed on: one rank", "MPI_COMM_SELF"),
            ("Allreduce", "MPI_SUM", "MPI_DOUBLE", "passed on: no elements", "&y, 0, MPI_DOUBLE"),
            ("Iallreduce", "MPI_SUM", "MPI_DOUBLE", "rank order, method tree", "MPI_Iallreduce"),
            ("Scan", "MPI_SUM", "MPI_DOUBLE", "rank order, method tree", "MPI_Scan"),
            ("Scan", "MPI_SUM", "MPI_FLOAT", "rank order, method tree", "MPI_Scan"),
        ):
            with self.subTest(function=function, op=op, type=kind, done=done):
                wanted = {"function": function, "operator": op, "type": kind, "done": done}
                (where,) = (call["where"] for call in report["calls"] if wanted.items() <= call.items())
                self.assertEqual(where, line_of_call("kinds", text))
        self.assertGreater(sums[0]["seconds"], 0)

    def test_a_report_tells_what_is_known_of_a_place(self):
        for function, line, where in (
            ("kinds", "/any/programs.c:12 (discriminator 3)", r"kinds \(programs\.c:12\)"),
            ("kinds", "??:?", "kinds in programs"),
            ("??", "??:0", r"programs\+0x[0-9a-f]+"),
        ):
            with self.subTest(line=line), tempfile.TemporaryDirectory() as folder:
                file, tool = Path(folder, "report.json"), Path(folder, "addr2line")
                tool.write_text(f'#!/bin/sh\nshift 2\nfor address; do echo "{function}"; echo "{line}"; done\n')
                tool.chmod(0o755)
                here = f"PATH={folder}:{os.environ['PATH']}"  # which launchers may change
                self.ended_well(run(1, "env", here, program("programs"), "kinds", REPORT=str(file)))
                places = [call["where"] for call in json.loads(file.read_text())["calls"] if "where" in call]
                self.assertEqual(len(places), 8)
                for place in places:
                    self.assertRegex(place, f"^{where}$")

    def test_a_report_names_no_function_that_did_not_call(self):
        """In a stripped program: an exported function by its name, others by their address."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "report.json")
            self.ended_well(run(2, program("stripped"), REPORT=str(file)))
            places = sorted(call["where"] for call in json.loads(file.read_text())["calls"])
        self.assertEqual(places[0], "shown in stripped")
        self.assertEqual([bool(re.fullmatch(r"stripped\+0x[0-9a-f]+", place)) for place in places[1:]], [True, True])
        offset = int(places[1].partition("+")[2], 16)
        told = subprocess.run(["addr2line", "-fe", program("stripped"), hex(offset - 1)], capture_output=True, text=True, check=True)
        self.assertNotEqual(told.stdout.splitlines()[0], "??", "the control: addr2line names another function")

    def test_runs_that_end_early_leave_what_they_did(self):
        for end in ("aborts", "is_killed"):
            with self.subTest(end=end), tempfile.TemporaryDirectory() as folder:
                record, report = f"{folder}/record", f"{folder}/report.json"
                self.assertNotEqual(run(3, program("stripped"), end, RECORD=record, REPORT=report).returncode, 0)
                self.assertEqual([os.path.getsize(f"{record}.{rank}") for rank in range(3)], 3 * [24 + 24 * 3])
                if end == "aborts":
                    told = json.loads(Path(report).read_text())
                    self.assertEqual((told["rank"], sum(call["calls"] for call in told["calls"])), (0, 3))
                same = self.ended_well(run(3, program("stripped"), COMPARE=record)).stderr
                more = self.ended_well(run(3, program("stripped"), "more", COMPARE=record)).stderr
                for told in (same, more):
                    self.assertIn("the reductions of both runs are the same as far as the records go\n", told)
                    self.assertEqual(told.count(", reduction number 4"), 3)
                    self.assertEqual(told.count(": the record ends before this call: its run did not reach MPI_Finalize, or the file is cut\n"), 3)
                self.assertEqual(more.count(", Allreduce in "), 3)
                fewer = self.ended_well(run(3, program("programs"), "ends", "0", COMPARE=record)).stderr
                self.assertIn("the runs differ; ", fewer)

    def test_a_report_promises_nothing_of_calls_that_the_library_orders(self):
        for ranks, command, settings, done in (
            (2, ["across"], {}, "passed on: processes of two worlds, or an intercommunicator"),
            (2, ["large"], {}, "passed on: too large"),
            (1, ["one_sided"], {}, "passed on: one-sided"),
            (2, ["digest", "0"], {"METHOD": "plain"}, "passed on: method plain"),
        ):
            with self.subTest(command), tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "report.json")
                self.ended_well(run(ranks, program("programs"), *command, REPORT=str(file), **settings))
                report = json.loads(file.read_text())
                self.assertEqual({call["done"] for call in report["calls"]}, {done})
                self.assertIs(report["same_bits_again"], False)
                if command == ["across"]:
                    self.assertEqual(report["calls"][0]["type"], '"doubles" \\ of\nours')

    def test_a_diagnosis_tells_what_the_library_rounds_otherwise(self):
        def differing(ranks, algorithm, **options):
            with tempfile.TemporaryDirectory() as folder:
                file = f"{folder}/report.json"
                self.ended_well(run(ranks, program("programs"), "values", REPORT=file, DIAGNOSE="1", **forced(algorithm), **options))
                (line,) = (call for call in json.loads(Path(file).read_text())["calls"] if "compared" in call)
                self.assertEqual(line["compared"], 200)
                self.assertEqual(line["differing"] > 0, line["most_ulps"] > 0)
                return line["differing"]

        tree, others = ("3", "1") if LIBRARY == "openmpi" else ("recursive_doubling", "nb")
        self.assertEqual(differing(4, tree), 0)  # the same tree
        self.assertGreater(differing(5, others), 20)
        self.assertGreater(differing(4, tree, METHOD="exact"), 20)

    def test_a_diagnosis_changes_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/report.json"
            ran = self.ended_well(run(3, program("collectives"), "sums of doubles", REPORT=file, DIAGNOSE="1"))
            self.assertIn("0 results are wrong", ran.stdout)
            diagnosed = {call["function"] for call in json.loads(Path(file).read_text())["calls"] if "compared" in call}
        self.assertLessEqual({"Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan"}, diagnosed)

    def test_two_runs_part_where_they_do(self):
        first, second = ALGORITHMS[:2]
        same = "the reductions of both runs are the same"
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/record"

            def compared(*command, **options):
                return self.ended_well(run(5, program("programs"), *command, COMPARE=file, **options)).stderr

            self.ended_well(run(5, program("programs"), "digest", "0", RECORD=file, METHOD="plain", **forced(first)))
            self.assertEqual(sorted(os.listdir(folder)), [f"record.{rank}" for rank in range(5)])
            calls = 5 * 5
            self.assertEqual(os.path.getsize(file + ".3"), 24 + 24 * calls)
            self.assertIn(same, compared("digest", "0", METHOD="plain", **forced(first)))
            told = compared("digest", "0", METHOD="plain", **forced(second))
            self.assertRegex(told, r"rank 0, reduction number \d+, Allreduce in digest \(programs.c:\d+\): the contribution is the same, but the result")
            told = compared("digest", "1", METHOD="plain", **forced(first))
            self.assertRegex(told, r"rank 4, reduction number 1, Allreduce in digest .*: the contribution of this rank or the call differs")
            with open(file + ".1", "ab") as record:
                record.write(24 * b"7")
            self.assertRegex(compared("digest", "0", METHOD="plain", **forced(first)), r"rank 1, reduction number 26: only the recorded run has this call")
            for size in (24 + 24 * 20, 24 + 24 * 21 - 1):
                os.truncate(file + ".2", size)
                told = compared("digest", "0", METHOD="plain", **forced(first))
                self.assertRegex(told, r"rank 2, reduction number 21, Allreduce .*: the record ends before this call: ")
            file = f"{folder}/started"
            self.ended_well(run(5, program("programs"), "digest_started", "0", RECORD=file, **forced(first)))
            self.assertIn(same, compared("digest_started", "0", **forced(second)))
            self.assertIn("the contribution of this rank or the call differs", compared("digest_started", "1", **forced(first)))
            file = f"{folder}/collectives"
            self.ended_well(run(3, program("collectives"), RECORD=file))  # each function in each way
            self.assertIn(same, self.ended_well(run(3, program("collectives"), COMPARE=file)).stderr)
            ran = self.ended_well(run(4, program("programs"), "digest", "0", COMPARE=file))
            self.assertIn("collectives.0 is of another number of ranks), record the other run first", ran.stderr)
            self.assertIn("nothing was compared (no rank has a record of the other run)\n", ran.stderr)
            self.assertNotIn("differs", ran.stderr)

    def test_a_record_has_what_was_reduced_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/record"

            def compared(what):
                return self.ended_well(run(3, program("programs"), "traced", str(what), COMPARE=file)).stderr

            self.ended_well(run(3, program("programs"), "traced", "0", RECORD=file))
            told = compared(1)
            self.assertEqual(told.count(" reduction number 1, Allreduce in traced "), 3)
            self.assertEqual(told.count(": the contribution of this rank or the call differs\n"), 3)
            told = compared(2).splitlines()[1:]  # the earliest ranks first
            self.assertEqual([line.split(" in ")[0] for line in told], [f"rank {r}, reduction number {n}" for r, n in ((0, "4, Reduce"), (2, "4, Reduce"), (1, "6, Allreduce"))])
            self.assertTrue(told[0].endswith(": the contribution is the same, but the result differs, since the contribution of rank 2 differs"), told)
            self.assertTrue(all(line.endswith(": the contribution of this rank or the call differs") for line in told[1:]), told)
            self.assertIn("the reductions of both runs are the same on all ranks, with the same contributions and results\n", compared(3))
            os.remove(file + ".2")
            told = compared(0)
            self.assertIn(f"nothing of rank 2 is compared ({file}.2 cannot be read), record the other run first\n", told)
            self.assertIn("1 of 3 ranks were not compared; no compared rank differs\n", told)
            self.assertNotIn("on all ranks", told)

    def test_spawned_processes_leave_the_files_of_others_alone(self):
        if LIBRARY == "mpich":
            return  # Debian's fails in MPI_Comm_spawn
        with tempfile.TemporaryDirectory() as folder:
            record, report = f"{folder}/record", f"{folder}/report.json"
            ran = self.ended_well(run(2, program("programs"), "spawns", RECORD=record, REPORT=report))
            self.assertEqual([os.path.getsize(f"{record}.{rank}") for rank in range(2)], 2 * [24 + 24 * 2])
            self.assertEqual(sum(call["calls"] for call in json.loads(Path(report).read_text())["calls"]), 2)
            why = " (another process with the same rank spawned this process)\n"
            self.assertEqual(ran.stderr.count(f"nothing is recorded{why}"), 2)
            self.assertIn(f"no report is written of spawned processes (the processes that spawned them write {report})\n", ran.stderr)
            ran = self.ended_well(run(2, program("programs"), "spawns", COMPARE=record))
            self.assertEqual(ran.stderr.count(f"nothing is compared{why}"), 2)
            self.assertEqual(ran.stderr.count("the reductions of both runs are the same"), 1)
            self.assertNotIn("the runs differ", ran.stderr)

    def test_a_report_of_handled_calls_alone_promises_the_same_bits(self):
        for command in ([program("programs"), "digest", "0"], [program("at_exit")]):
            ran = self.ended_well(run(3, *command, REPORT="1"))
            self.assertIn("These calls give the same bits on every run with this number of ranks.\n", ran.stderr)

    def test_a_report_tells_of_requests_that_were_not_completed(self):
        told = self.ended_well(run(3, program("stripped"), "forgets", REPORT="1")).stderr
        lines = re.findall(r"(?m)^steadfold: started reductions of rank (\d) have no result: 1 \(", told)
        self.assertGreaterEqual(len(set(lines)), 1, told)  # on a late rank the call may end as soon as it is started
        self.assertNotIn("no result", self.ended_well(run(3, program("programs"), "digest_started", "0", REPORT="1")).stderr)

    def test_a_report_without_calls_says_what_it_does_not_see(self):
        told = self.ended_well(run(2, program("programs"), "nothing", REPORT="1")).stderr
        self.assertRegex(told, r"(?m)^This rank made no reduction that the interposer can see\. .* mpi4py ")
        self.assertNotIn("made no reduction", self.ended_well(run(2, program("stripped"), REPORT="1")).stderr)

    def test_profiling_tools_see_all_calls(self):
        """Before and behind the interposer in LD_PRELOAD, and with an MPI library that only Python's modules see."""
        plain = {self.ended_well(run(5, program("edges"), "tooled", interposed=False, **forced(a))).stdout for a in ALGORITHMS[:4]}
        self.assertGreater(len(plain), 1, "the control: plain sums depend on the algorithm")
        profiler = program("libprofiler.so")
        for order in (f"{PRELOADED}:{profiler}", f"{profiler}:{PRELOADED}"):
            for past in (False, True):
                with self.subTest(order=order, past=past), tempfile.TemporaryDirectory() as folder:
                    file = Path(folder, "report.json")
                    own = {"preloaded": order, "REPORT": str(file)} | ({"PROFILER_GOES_PAST": "1"} if past else {})
                    ran = self.ended_well(run(5, program("edges"), "tooled", **own))
                    report = json.loads(file.read_text())
                    self.assertIn("profiler: 3 1 1 1\n", ran.stderr)
                    allreduces = [(call["calls"], call["done"]) for call in report["calls"] if call["function"] == "Allreduce"]
                    if past and order.startswith(PRELOADED):
                        self.assertEqual(allreduces, [(3, "passed on: by a tool, not with a PMPI function")])
                        self.assertIs(report["same_bits_again"], False)
                        continue
                    self.assertEqual(set(ran.stdout.split()), {"0x1p+0"})
                    self.assertEqual(allreduces, [(3, "rank order, method tree")])
                    self.assertIs(report["same_bits_again"], True)
                    calling = "tooled (edges.c:" if order.startswith(PRELOADED) else "MPI_Allreduce in libprofiler.so"
                    self.assertTrue(report["calls"][0]["where"].startswith(calling), report)
        ran = self.ended_well(run(3, program("opens"), program("libprograms.so"), "digest", "0", preloaded=f"{PRELOADED}:{profiler}"))
        self.assertIn("profiler: 10 5 0 0\n", ran.stderr)
        self.assertIn(self.digest(3), ran.stdout)

    def test_calls_of_pmpi_functions_are_handled(self):
        ran = self.ended_well(run(5, program("edges"), "pmpi", REPORT="1"))
        self.assertEqual(ran.stdout.split(), 10 * ["0x1p+0"])
        self.assertRegex(ran.stderr, r"Allreduce +MPI_SUM +MPI_DOUBLE +1 .* rank order, method tree +pmpi \(edges.c:")
        self.assertRegex(ran.stderr, r"Iallreduce +MPI_SUM +MPI_DOUBLE +1 .* rank order, method tree +pmpi \(edges.c:")

    def test_a_report_names_the_callers_outside_a_library(self):
        def places(callers):
            ran = self.ended_well(run(2, program("edges"), "wrapped", REPORT="1", CALLERS=callers))
            self.assertEqual("names the functions outside the library" in ran.stderr, callers == "0")
            return [re.sub(r":\d+", "", place) for place in re.findall(r"  (inner in libwrapper\.so.*)", ran.stderr)]

        self.assertEqual([place.split(" ")[1:] for place in places("0")], [["in", "libwrapper.so"]])
        first, second, third = (place.split(" < ")[1:] for place in places("3"))
        self.assertEqual(first, ["first_caller (edges.c)", "wrapped (edges.c)", "main (edges.c)"])
        self.assertEqual((second, third), 2 * (["second_caller (edges.c)", "wrapped (edges.c)", "main (edges.c)"],))

    def test_a_comparison_lists_each_place_and_integers_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/record"

            def compared(noise, order, **options):
                return self.ended_well(run(3, program("edges"), "noisy", noise, order, COMPARE=file, **options)).stderr.splitlines()

            self.ended_well(run(3, program("edges"), "noisy", "1", "0", RECORD=file))
            told = compared("2", "0.5")
            self.assertEqual(len(told), 8, told)
            self.assertIn("the runs differ; the first different reduction of each rank follows", told[0])
            for rank in range(3):  # the time, not the free memory
                self.assertRegex(told[1 + rank], rf"^rank {rank}, reduction number 2, Allreduce in noisy ")
            self.assertEqual(told[4], "steadfold: other places that differ, each with its first different reduction")
            self.assertRegex(told[5], r"^rank 0, reduction number 6, Allreduce in sum .* differs \(MPI_SUM of MPI_DOUBLE, calls that differ: 2\)$")
            self.assertEqual(told[6], "steadfold: reductions of integers, logical values or bits that differ")
            self.assertRegex(told[7], r"^rank 0, reduction number 1, .* \(MPI_MIN of MPI_LONG, calls that differ: 3\)$")
            told = compared("2", "0", SKIP="MPI_MAX")
            self.assertIn("the runs differ only in reductions of integers, logical values or bits, apart from calls that --skip leaves out (findings: 3)", told[0])
            self.assertEqual(len(told), 2, told)
            for skipped in ("MPI_MAX,MPI_LONG", "noisy", "edges.c"):
                (told,) = compared("2", "0", SKIP=skipped)
                self.assertIn("are the same on all ranks, with the same contributions and results, apart from calls that --skip leaves out (findings: 6)", told)
            told = compared("2", "0.5", SKIP="noisy")
            self.assertEqual(len(told), 4, told)
            self.assertRegex(told[1], r"^rank 0, reduction number 6, Allreduce in sum ")

    def test_a_full_disk_leaves_no_record(self):
        with tempfile.TemporaryDirectory() as folder:
            told = self.ended_well(run(3, program("edges"), "fills_the_disk", RECORD=f"{folder}/record")).stderr
            self.assertEqual(told.count(" cannot be written completely), free space on the disk\n"), 3, told)
            self.assertEqual(os.listdir(folder), [])

    def test_runs_that_exit_say_what_they_did(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/record"
            told = run(2, program("edges"), "exits", RECORD=file, REPORT="1").stderr
            self.assertIn("steadfold: rank 0 ends without MPI_Finalize; its report until then follows\n", told)
            self.assertRegex(told, r"Allreduce +MPI_SUM +MPI_DOUBLE +1 ")
            told = run(2, program("edges"), "exits", "1", COMPARE=file).stderr
            self.assertIn("steadfold: rank 0 ends without MPI_Finalize; this rank's reductions until then follow\n", told)
            self.assertIn("rank 0, reduction number 1, Allreduce in sum (edges.c:", told)
            told = run(2, program("edges"), "exits", "0", COMPARE=file).stderr
            self.assertNotIn("differ", told)

    def test_an_error_names_the_call_of_the_program(self):
        told = run(3, program("edges"), "disagrees", REPORT="1", limit=60)
        self.assertNotEqual(told.returncode, 0)
        self.assertRegex(told.stderr, r"steadfold: rank [012]: Allreduce of (1|64) elements of 8 bytes with MPI_SUM in disagrees \(edges\.c:\d+\) failed \(.*([Tt]runcated|Other MPI error).*\)\. The functions ")
        told = run(3, program("edges"), "disagrees", DIAGNOSE="1", limit=60)
        self.assertNotEqual(told.returncode, 0)
        self.assertRegex(told.stderr, r"Allreduce: the ranks call with different arguments \(rank 0 of the communicator: allreduce of 1 elements of 8 bytes with MPI_SUM in disagrees "
                                      r"\(edges\.c:\d+\); rank 2 of the communicator: allreduce of 64 elements of 8 bytes with MPI_SUM\), correct the program")  # fmt: skip

    def test_binary128_is_calculated_by_steadfold(self):
        for ranks in (2, 3):
            told = self.ended_well(run(ranks, program("edges"), "binary128")).stdout
        if "no real(16)" in told:
            self.skipTest("the compiler or the MPI library has no real(16)")
        self.assertNotEqual(run(3, program("edges"), "binary128", interposed=False).returncode, 0, "the control: the MPI library's results are wrong")

    def test_extremes_of_ieee_754(self):
        lines = self.ended_well(run(4, program("edges"), "extremes", EXTREMES="ieee", REPORT="1"))
        self.assertEqual(lines.stdout.splitlines(), 4 * ["-1 -1"])
        self.assertRegex(lines.stderr, r"MPI_MAX +MPI_DOUBLE +1 +8 +\S+  rank order, method tree +extremes ")
        lines = self.ended_well(run(4, program("edges"), "extremes")).stdout.splitlines()
        self.assertEqual(len(set(lines)), 1)
        self.assertNotEqual(lines[0], "-1 -1", "the control: MPI's own comparison loses the NaN")

    def test_objects_may_reduce_before_and_behind_main(self):
        for method in ("tree", "exact"):
            ran = self.ended_well(run(3, program("at_exit"), METHOD=method))
            self.assertEqual(sorted(ran.stdout.splitlines()), 3 * ["at exit 3"] + 3 * ["in main 3"])
        with tempfile.TemporaryDirectory() as folder:  # and the settings, made behind those objects, outlive them
            file = Path(folder, "a_report_of_what_was_done_until_the_end.json")
            self.ended_well(run(2, program("at_exit"), INIT_IN_MAIN="1", REPORT=str(file)))
            self.assertEqual(sum(call["calls"] for call in json.loads(file.read_text())["calls"]), 2)

    def test_memory_is_bounded_where_elements_stand_far_apart(self):
        peaks = [int(re.search(r"peak (\d+)", self.ended_well(run(2, program("programs"), "gaps", interposed=i)).stdout)[1]) for i in (True, False)]
        self.assertLess(peaks[0], peaks[1] + 32 * 1024)

    def test_sums_do_not_depend_on_how_the_program_rounds(self):
        self.ended_well(run(3, program("programs"), "rounding"))
        self.assertNotEqual(run(3, program("programs"), "rounding", interposed=False).returncode, 0, "the control")

    def test_what_the_library_refuses_is_refused(self):
        self.ended_well(run(3, program("programs"), "refused"))

    def test_the_command_starts_programs(self):
        mpirun = os.environ["STEADFOLD_MPIRUN"]
        command = [os.environ["STEADFOLD_BIN"], "run", "--method", "exact", "--"]
        started = [*command, mpirun, "-n", "3", program("programs"), "kinds"]
        ran = self.ended_well(finished(started))
        promise = "steadfold: MPI's reductions use method {}: the same bits on every run with the same number of ranks"
        self.assertIn(promise.format("exact"), ran.stderr)
        self.assertRegex(ran.stderr, r"Allreduce +MPI_SUM +MPI_DOUBLE +1 +8 +\S+  rounded once, exact")
        binned = {**WITHOUT_SETTINGS, "STEADFOLD_INTERPOSE_METHOD": "binned"}
        started = [command[0], "run", "--", *started[started.index("--") + 1 :]]
        ran = self.ended_well(finished(started, binned))
        self.assertIn(promise.format("binned"), ran.stderr)
        with tempfile.TemporaryDirectory() as folder:
            launcher = Path(folder) / "mpirun"
            launcher.write_text('#!/bin/sh\nprintf "%s " "$@"\n')
            launcher.chmod(0o755)
            ran = self.ended_well(finished([*command, launcher, "-n", "3"]))
            srun = Path(folder) / "srun"
            srun.write_text("#!/bin/sh\n")
            srun.chmod(0o755)
            told = self.ended_well(finished([*command, srun, "app"])).stderr
            self.assertRegex(told, r"set these variables for the ranks: LD_PRELOAD=\S+libsteadfold_interpose.so\S* STEADFOLD_INTERPOSE_METHOD=exact STEADFOLD_INTERPOSE_REPORT=1\n")
            words = ["-x", "LD_PRELOAD=/a.so", "-genv", "LD_PRELOAD", "/b.so", "env", "LD_PRELOAD=/c.so", "a"]
            joined = finished([*command, launcher, *words]).stdout.split()
            for library in ("/a.so", "/b.so", "/c.so"):
                (word,) = (each for each in joined if each.endswith(library))
                self.assertRegex(word, rf"^(LD_PRELOAD=)?/\S+/libsteadfold_interpose\.so\S*:{library}$")
            missing = finished([*command[:-1], "--compare", f"{folder}/none", "--", "true"])
            self.assertEqual((missing.returncode, missing.stdout), (2, ""), missing.stderr)
            self.assertIn(f"cannot compare with the record {folder}/none (there is no {folder}/none.0, and no file of another rank), name a record", missing.stderr)
        names = ("LD_PRELOAD", "STEADFOLD_INTERPOSE_METHOD", "STEADFOLD_INTERPOSE_REPORT", "STEADFOLD_INTERPOSE_OUTCOME")
        handed_on = [word for name in names for word in ("-x", name)] if LIBRARY == "openmpi" else []
        self.assertEqual(ran.stdout.split(), [*handed_on, "-n", "3"])
        ran = finished([*command, "no_such_program"])
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(ran.stderr, "'no_such_program' cannot be started (No such file or directory), name a program\n")

    def test_the_command_tells_the_verdict_and_lost_interposers(self):

        def started(*words):
            command = [os.environ["STEADFOLD_BIN"], "run", *words]
            ran = finished(command)
            return ran.returncode, ran.stderr

        lost = "steadfold: no rank has reported ("
        ranks = (os.environ["STEADFOLD_MPIRUN"], "-n", "2", program("edges"))
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/record"
            status, told = started("--record", file, "--", *ranks, "noisy", "1", "0")
            self.assertEqual((status, lost in told), (0, False), told)
            for words, expected in ((("1", "0"), 0), (("2", "0"), 1), (("2", "0", "--skip", "noisy"), 0), (("2", "0", "--skip", "MPI_MAX", "--skip", "MPI_LONG"), 0)):
                status, told = started("--compare", file, *words[2:], "--", *ranks, "noisy", *words[:2])
                self.assertEqual((status, lost in told), (expected, False), told)
            os.remove(file + ".1")
            self.assertEqual(started("--compare", file, "--", *ranks, "noisy", "1", "0")[0], 2)
            status, told = started("--compare", file, "--", "true")
            self.assertEqual((status, lost in told), (2, True))
        status, told = started("--", "sh", "-c", "exit 7")
        self.assertEqual((status, lost in told), (7, True))
        status, told = started("--", "env", "-u", "LD_PRELOAD", *ranks, "wrapped")
        self.assertEqual((status, lost in told), (0, True))

    def test_the_command_passes_signals_on(self):
        for sent, status in ((signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, 128 + signal.SIGINT), (signal.SIGKILL, -signal.SIGKILL)):
            with self.subTest(sent=sent), subprocess.Popen(
                [os.environ["STEADFOLD_BIN"], "run", "--", "sh", "-c", "echo $$; exec sleep 60"], env=WITHOUT_SETTINGS,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            ) as ran:  # fmt: skip
                child = int(ran.stdout.readline())
                ran.send_signal(sent)
                self.assertEqual(ran.wait(timeout=20), status)
                end = time.monotonic() + 20
                while Path(f"/proc/{child}").exists() and time.monotonic() < end:
                    time.sleep(0.01)
                if Path(f"/proc/{child}").exists():
                    os.kill(child, signal.SIGKILL)
                    self.fail("the command goes on")

    def test_the_command_starts_ranks_of_a_launcher(self):
        """`mpirun -n 3 steadfold run -- app` in place of `steadfold run -- mpirun -n 3 app`."""
        command = [os.environ["STEADFOLD_BIN"], "run", "--", program("programs"), "kinds"]
        ran = self.ended_well(run(3, *command, interposed=False))
        self.assertEqual(ran.stderr.count("steadfold: MPI's reductions use method tree"), 1)
        self.assertEqual(ran.stderr.count("steadfold: the reductions of rank 0 of 3"), 1)

    def test_wrong_settings_end_the_program(self):
        def refused(text, *command, **settings):
            for _ in range(1 if LIBRARY == "openmpi" else 5):  # MPICH's launcher may lose what a rank wrote before it ended all
                ran = run(3 if not command else 1, program("programs"), "kinds", *command, **settings)
                self.assertNotEqual(ran.returncode, 0)
                if text in ran.stderr:
                    break
            self.assertEqual(ran.stderr.count(text), 1)

        refused("STEADFOLD_INTERPOSE_METHOD cannot be 'best' (the value is unknown), set it to tree, exact, binned or plain", METHOD="best")
        refused("STEADFOLD_INTERPOSE_DIAGNOSE cannot be 'yes'", DIAGNOSE="yes")
        refused("STEADFOLD_INTERPOSE_REPORT cannot be '0' (the value is unknown), set it to 1 for a table", REPORT="0")
        refused("STEADFOLD_INTERPOSE_RECORD is empty", RECORD="")
        refused("STEADFOLD_INTERPOSE_EXTREMES cannot be 'nan' (the value is unknown), set it to ieee", EXTREMES="nan")
        refused("STEADFOLD_INTERPOSE_CALLERS cannot be '9' (the value is unknown), set it to the number of callers", CALLERS="9")
        refused("cannot write the report /no/such/folder/report (No such file or directory), name another file", REPORT="/no/such/folder/report")
        refused("cannot write the report /tmp (it is a folder), name another file", REPORT="/tmp")
        with tempfile.TemporaryDirectory() as folder:
            Path(f"{folder}/old.1").write_text("older")
            os.mkfifo(f"{folder}/pipe.0")
            refused(f"cannot write the record {folder}/old.1 (it exists already), name another file", RECORD=f"{folder}/old")
            refused(f"cannot write the record {folder}/pipe.0 (it exists already), name another file", RECORD=f"{folder}/pipe")
            self.assertEqual(Path(f"{folder}/old.1").read_text(), "older")
            self.assertEqual(sorted(os.listdir(folder)), ["old.1", "pipe.0"])
        refused("a run cannot be recorded and compared", RECORD="/tmp/record", COMPARE="/tmp/record")
        for setting in ("METHOD=exact", "EXTREMES=ieee", "COMPARE=/no/such/record", "DIAGNOSE=1"):
            others = [":", "-n", "1", "env", f"STEADFOLD_INTERPOSE_{setting}", program("programs"), "kinds"]
            refused("give all ranks the same environment", *others)


if __name__ == "__main__":
    unittest.main()
