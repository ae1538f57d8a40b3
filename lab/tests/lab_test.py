"""What `study` and the laboratory's benchmarks share with the rest of the command; and how the command starts them, or says
that they are missing."""

import os
import re
import shutil
import unittest
from pathlib import Path

import faults_test
import interrupt_test
import progress_test
import report_test
from support import COMMAND, CommandTest, run

BENCHES = ("shared", "teams", "splitphase", "solver-loop")


class Start(CommandTest):
    def alone(self):
        """The command's file in a folder of its own, so that the laboratory isn't beside it."""
        command = self.folder / Path(COMMAND).resolve().name
        shutil.copy(Path(COMMAND).resolve(), command)
        return command

    def laboratory(self, command, content):
        path = command.with_name("steadfold-lab" + command.suffix)
        path.write_text(f"#!/bin/sh\n{content}\n")
        path.chmod(0o755)

    def run_by(self, command, *words, **keywords):
        libraries = os.pathsep.join(str(Path(COMMAND).resolve().parents[1] / place) for place in ("lib", "../lib"))
        return run(*words, environment={"LD_LIBRARY_PATH": libraries}, instead=command, **keywords)

    def test_it_takes_the_place_of_the_command(self):
        command = self.alone()
        self.laboratory(command, 'echo "$$ $# $@"; exit 7')
        for words in (["study"], ["study", "--help"], ["study", "thesis", "--part", "a b"], ["bench", "shared"],
                      ["bench", "--counts", "1", "--", "splitphase"], ["bench", "--json", "teams"],
                      ["bench", "solver-loop", "--counts=16"]):  # fmt: skip
            ran = self.run_by(command, *words)
            self.assertEqual((ran.returncode, ran.stderr), (7, ""), words)
            self.assertEqual(ran.stdout.split(" ", 1)[1], f"{len(words)} {' '.join(words)}\n")

    def test_nothing_else_starts_it(self):
        command = self.alone()
        self.laboratory(command, "exit 7")
        for words in (["bench", "--help"], ["info"], ["bench", "reduce", "--distribution", "shared"], ["bench", "shard"], ["--help"],
                      ["bench", "splitphase", "--rounds", "1"]):  # fmt: skip
            self.assertIn(self.run_by(command, *words).returncode, (0, 2), words)

    def test_where_it_is_missing(self):
        command = self.alone()
        for ranks in (None, 3):
            for words in (["study"], ["study", "--list", "--json"], *(["bench", name, "--rounds", "3"] for name in BENCHES)):
                told = self.expect_fault(self.run_by(command, *words, ranks=ranks), "laboratory", "steadfold-lab", "./dev build")
                self.assertTrue(told.startswith("study" if words[0] == "study" else f"bench {words[1]}"), told)

    def test_names_and_faults_are_those_of_the_command(self):
        for words in (["bench", "--help"], ["bench", "shard"], ["bench"]):
            one, other = run(*words), run(*words, instead=Path(COMMAND).with_name("steadfold-lab"))
            self.assertEqual((one.returncode, one.stdout, one.stderr), (other.returncode, other.stdout, other.stderr))
        text = " ".join(run("bench", "--help").stdout.split())
        for name in BENCHES:
            self.assertIn(name, text)


class Faults(faults_test.FaultTest):
    def setUp(self):
        super().setUp()
        self.path = self.write("x.npy", "")

    def test_values_that_no_option_takes(self):
        known = 0
        for option, kind in re.findall(r"(?m)^ +(?:-\w,)?(--[\w-]+)(?:,--\w+)? (TEXT|U?INT|FLOAT)", run("study", "--help").stdout):
            known += 1
            values = [""] if kind == "TEXT" else ["", "nan", "1e400", "18446744073709551615" if kind != "FLOAT" else "-inf"]
            for value in values:
                self.note(["study", option, value, "thesis", "--part", "lookup"], option)
        self.assertGreater(known, 10)

    def test_options_without_a_use(self):
        for arguments, word in (
            (["study", "butterfly", "--ranks", "2"], "--ranks"), (["study", "--list", "--rounds", "5"], "--rounds"),
            (["study", "thesis", "--list"], "--list"), (["bench", "shared", "--types", "f32"], "--types"),
            (["bench", "solver-loop", "--methods", "tree"], "--methods"), (["bench", "teams", "--poll", "9"], "--poll"),
        ):  # fmt: skip
            self.note(arguments, word)

    def test_the_nearest_name_is_told(self):
        self.note(["study", "theses"], "the nearest name is 'thesis'")
        self.note(["study", "thesis", "--part", "node"], "the nearest name is 'nodes'")

    def test_a_launcher_of_another_program(self):
        self.note(["study", "thesis"], "under a launcher", ranks=2)
        self.note(["bench", "shared"], "start it without mpirun", ranks=2)


class Rows(report_test.ReportTest):
    def test_what_studies_print(self):
        printed = [run("study", "topology", "--part=bound", "--json").stdout, run("study", "--list", "--json").stdout]
        page = self.report(*printed)
        for text, heads in zip(printed, ({"summands"}, {"sentence"})):
            rows = report_test.json.loads(text)["rows"]
            self.assertEqual(len(self.table_with(page, heads)), len(rows))


class Finished(interrupt_test.InterruptTest):
    def test_parts(self):
        words = ["study", "thesis", "--part", "nodes,time", "--largest", "1000", "--ranks", "2"]
        output = self.expect_what_is_finished(words, r"^thesis \[S0\]: .*\n\nnodes: [\s\S]*\n$")
        self.assertNotIn("\ntime:", output)


class Many(interrupt_test.ManyTest):
    def test_are_not_started_unasked(self):
        self.expect_a_question(["study", "thesis", "--part", "time", "--ranks", "2,65"])


class Progress(progress_test.ProgressTest):
    def test_of_parts(self):
        words = ["study", "thesis", "--part", "nodes,time", "--largest", "1000", "--ranks", "1", "--rounds", "3"]
        self.expect_progress([(words, "part 2 of 2: time")])


if __name__ == "__main__":
    unittest.main()
