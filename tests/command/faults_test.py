"""Bad input: one line `problem (why), suggestion` on standard error, status 2, nothing on standard output; on one rank
and on three, where none may be left waiting."""

import gzip
import os
import re
import shutil
import struct
import subprocess
import unittest

from support import COMMAND, ENVIRONMENT, LAUNCHER, CommandTest, binpsllh, npy, run, run_all, some

GOOD = binpsllh([1.0, 2.0, 3.0])


class FaultTest(CommandTest):
    """Cases are noted, then run several at once at the end of the test."""

    def setUp(self):
        super().setUp()
        self.noted = []

    def note(self, arguments, *words, **keywords):
        self.noted.append((arguments, keywords, words))

    def tearDown(self):
        noted = some(self.noted)
        for (arguments, _, words), ran in zip(noted, run_all((a, k) for a, k, _ in noted)):
            with self.subTest(arguments=arguments):
                self.expect_fault(ran, *words)


class Files(FaultTest):
    def expect(self, content, name, *words, arguments=(), ranks=3):
        folder = self.folder / str(len(self.noted))
        folder.mkdir()
        if content is not None:
            self.write(folder / name, content)
        self.note(["sum", folder / name, "--json", *arguments], name, *words, ranks=ranks)

    def test_missing(self):
        for ranks in (None, 3):
            self.expect(None, "missing.npy", "No such file", ranks=ranks)

    def test_directory_and_device(self):
        self.note(["sum", self.folder], "directory")
        self.note(["sum", "/dev/null"], "device")
        os.mkfifo(self.folder / "pipe.raw")
        self.note(["sum", self.folder / "pipe.raw"], "pipe")

    def test_empty(self):
        for name in ("x.npy", "x.binpsllh", "x.psllh", "x.raw", "x.csv"):
            self.expect(b"", name, "empty")

    def test_truncated(self):
        for ranks in (None, 3):
            self.expect(GOOD[:-1], "x.binpsllh", "truncated", "23 bytes", ranks=ranks)
        self.expect(npy([1.0, 2.0])[:-8], "x.npy", "truncated")
        self.expect(GOOD[:-1], "x.raw", "truncated")
        self.expect("3\n1\n2\n", "x.psllh", "truncated", "3", "2")

    def test_too_long(self):
        self.expect(GOOD + b"\0" * 8, "x.binpsllh", "too long")
        self.expect(npy([1.0]) + b"\0", "x.npy", "too long")
        self.expect("3\n1\n2\n3\n4\n", "x.psllh", "too long")

    def test_huge_counts(self):
        for count in (2**61 + 3, 2**63 - 1, 2**64 - 1, 2**40):
            self.expect(struct.pack("<Q", count) + GOOD[8:], "x.binpsllh", "count" if count > 2**63 else "truncated")
        self.expect("1000000000000000000 1", "x.psllh", "1000000000000000000")
        self.expect("-1 1", "x.psllh", "negative")

    def test_other_types(self):
        self.expect(npy([1.0, 2.0], "<c16"), "x.npy", "<c16", "float64")
        self.expect(npy([1, 2**53 + 1, 3], "<i8"), "x.npy", "element 1 is 9007199254740993", "float64")
        self.expect(npy([1, 2], "<i8"), "x.npy", "integers", "not f32", arguments=["--type", "f32"])
        self.expect(npy([1.0]), "x.binpsllh", "npy")
        self.expect(GOOD, "x.npy", "npy")
        self.expect(b"some text that is nothing", "x.data", "--format")

    def test_malformed_text(self):
        self.expect("3\n1\nabc\n3\n", "x.psllh", "line 3", "abc", "not a number")
        self.expect("2\n1\n1e999\n", "x.psllh", "line 3", "1e999", "too large")
        # The fault is in the last rank's part, and the first rank must say it.
        rows = "\n".join(str(i) for i in range(5000))
        self.expect(f"5001\n{rows}\nx\n", "y.psllh", "line 5002", "'x'")
        self.expect("a,b\n1,2\n3\n", "x.csv", "line 3", "1 field", arguments=["--column", "a"])
        self.expect('a,b\n"x\ny",2\n', "x.csv", "quoted", arguments=["--column", "b"])

    def test_a_line_1_of_numbers_or_names(self):
        for content, words in (
            (",0,1\n0,1.5,10\n1,2.5,20\n", ("line 1 may be names or numbers", "--header yes or --header no")),
            ("2018,2019\n1.5,2.5\n", ("line 1 may be names or numbers", "no decimal points")),
            ("none,2019\nx,1.5\n", ("line 1 may be names or numbers", "words and the digits 2019")),
            ("a,1e400\nb,2\n", ("line 1", "too large", "--header yes")), ("a,<5\nb,2\n", ("line 1", "'<5'", "--header yes")), ("a,2.5-299\nb,2\n", ("line 1", "exponent with e")),
        ):  # fmt: skip
            self.expect(content, "x.csv", *words, arguments=["--column", "1"])
        self.expect("n,2019\n1,2\n", "x.csv", "--column-name 2019", arguments=["--column", "2019"])

    def test_integers_that_no_type_holds(self):
        for method in ("exact", "plain"):
            for cell, words in (("9007199254740993", ["f64"]), ("-16777217", ["f32"])):
                arguments = ["--method", method, "--type", *words]
                self.expect(f"v\n{cell}\n{cell}\n", "x.csv", "line 2", cell, "type " + words[0], arguments=arguments)

    def test_files_of_other_kinds(self):
        self.expect(gzip.compress(b"v\n1\n2\n")[:-1], "x.csv.gz", "truncated", "gzip")
        self.expect(gzip.compress(gzip.compress(b"v\n1\n2\n")), "x.csv.gz", "gzip", "gunzip")
        self.expect("v\n1\n2\n".encode("utf-16"), "x.csv", "UTF-16", "UTF-8")
        self.expect("a;b\n1,5;2,5\n", "x.csv", "semicolons", "--separator semicolon", arguments=["--column", "a"])
        self.expect(struct.pack("<i2di", 16, 1.0, 2.0, 16), "x.raw", "a Fortran record", "--fortran-records")
        self.expect("1.5\n2.5\n3.5\n4.5\n", "x.txt", "text", "--format csv", arguments=["--format", "raw"])
        self.note(["sum", "/proc/self/status", "--format", "csv"], "does not report its size", "copy")

    def test_columns(self):
        self.expect("a,b\n1,2\n", "x.csv", "'c'", "'a', 'b'", arguments=["--column", "c"])
        self.expect("a,b\n1,2\n", "x.csv", "no column 2", arguments=["--column", "2"])
        self.expect("a,b\tc\n1\t2\n", "x.tsv", "'d'", "'a,b', 'c'", arguments=["--column", "d"])
        self.expect(b"\x93NUMPY\x01\x00" + bytes(8), "x.raw", "npy", arguments=["--format", "raw"])
        self.expect("a,b\n1,2\n", "x.csv", "--column")
        self.expect(GOOD, "x.binpsllh", "no table", "leave out --column", arguments=["--column", "a"])


class Options(FaultTest):
    def setUp(self):
        super().setUp()
        self.path = self.write("x.binpsllh", GOOD)

    def expect(self, arguments, *words):
        self.note(["sum", self.path, *arguments], *words, ranks=3)

    def test_an_unknown_subcommand(self):
        self.note(["summ", self.path], "'summ'", "sum, verify")

    def test_words_come_before_options_and_those_before_what_is_missing(self):
        for arguments, first in (
            (["draw", "foo"], "unknown picture or schedule 'foo' (no name is similar), choose one of schedule NAME, tree"),
            (["draw", "rign", "--rnaks", "4"], "unknown picture or schedule 'rign' (the nearest name is 'ring')"),
            (["draw", "ring"], "unknown picture 'ring' (it is a schedule), write draw schedule ring"),
            (["draw", "schedule", "rign", "--rnaks", "4"], "unknown schedule 'rign' (the nearest name is 'ring')"),
            (["draw", "schedule", "ring", "--rnaks", "4"], "unknown option '--rnaks' (the nearest name is '--ranks')"),
            (["draw", "--rnaks", "4", "schedule", "ring"], "unknown option '--rnaks'"),
            (["draw", "schedule", "ring", "--root", "x"], "the command line cannot be understood (--root"),
            (["draw", "schedule", "ring"], "the command line cannot be understood (--ranks is required)"),
            (["simulate", "ring", "--schedul", "ring"], "unknown option '--schedul' (the nearest name is '--schedule')"),
            (["simulate", "ring"], "the word 'ring' cannot be used (steadfold simulate takes only options)"),
            (["simulate", "--ranks", "x", "--elemnts", "3"], "unknown option '--elemnts' (the nearest name is '--elements')"),
            (["bench", "locl", "--frob", "--rounds", "x"], "unknown benchmark 'locl' (the nearest name is 'local')"),
            (["bench", "local", "--frob", "--rounds", "x"], "unknown option '--frob'"),
            (["bench", "shared", "--frob"], "unknown option '--frob'"),  # which the laboratory has
            (["sum", "missing", "--frob", "--method", "fast"], "cannot read missing"),
            (["sum", self.path, "--methd", "fast"], "unknown option '--methd' (the nearest name is '--method')"),
            (["sum", "--methd", "fast", self.path], "unknown option '--methd'"),
            (["sum", self.path, "more"], "the word 'more' cannot be used (steadfold sum takes FILE and options)"),
            (["verify", "missing", "--frob", "--ranks", "x"], "cannot read missing"),
            (["verify", self.path, "--frob", "--ranks", "x"], "unknown option '--frob'"),
            (["report", "missing", "--frob"], "cannot read missing"),
            (["report", self.path, "--frob"], "unknown option '--frob'"),
            (["completion", "csh", "--frob"], "there is no completion for 'csh'"),
            (["tune", "--ouput", "x", "--rounds", "x"], "unknown option '--ouput' (the nearest name is '--output')"),
            (["check-schedules", "7", "--max-ranks", "x"], "the word '7' cannot be used"),
            (["schedules", "extra"], "the word 'extra' cannot be used"), (["info", "--jsn"], "(the nearest name is '--json')"),
            (["run", "--methd", "exact", "--", "true"], "unknown option '--methd' (the nearest name is '--method')"),
            (["--frob"], "unknown option '--frob'"),
        ):  # fmt: skip
            self.note(arguments, first)

    def test_help_comes_before_faults(self):
        for arguments in (["draw", "foo"], ["simulate", "--elemnts", "3"], ["bench", "locl"], ["sum", "missing"]):
            ran = run(*arguments, "--help")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertIn(f"Usage: steadfold {arguments[0]} ", ran.stdout)
        ran = run("run", "--diagnose", "true", "--help")  # which is the other program's
        self.assertEqual((ran.returncode, "Usage: steadfold" in ran.stdout), (0, False))

    def test_pipes_that_wait_for_a_reader(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        good = self.write("good.json", '{"identical": true, "rows": []}')
        for arguments in (
            ["draw", "layout", "--ranks", "2", "--elements", "4", "--output", pipe], ["report", good, "--output", pipe],
            ["tune", "--times", good, "--output", pipe], ["run", "--report", pipe, "--", "true"],
            ["bench", "local", "--sizes", "8", "--rounds", "3", "--raw", pipe],
        ):  # fmt: skip
            self.note(arguments, f"cannot write {pipe} (it is a pipe")

    def test_unknown_names(self):
        self.note(["sum", self.path, "--schedule", "zigzag"], "zigzag")
        self.expect(["--schedule", "zigzag"], "zigzag")
        self.expect(["--method", "fast"], "fast", "tree")
        self.expect(["--collective", "gather"], "gather")
        self.expect(["--format", "hdf5"], "hdf5")
        self.expect(["--header", "maybe"], "maybe", "yes or no")
        self.expect(["--type", "f16"], "f16")
        self.expect(["--distribution", "sideways"], "sideways")

    def test_combinations_that_no_row_allows(self):
        self.expect(["--schedule", "native", "--method", "tree"], "native", "tree")
        self.expect(["--schedule", "recursive_doubling", "--collective", "reduce"], "recursive_doubling", "reduce")
        self.expect(["--schedule", "flat:colour=blue"], "colour")
        self.expect(["--type", "f32"], "f32")

    def test_what_is_not_built(self):
        self.expect(["--method", "binned:bins=5"], "bins=5", "bins=4")
        self.expect(["--method", "binned:"], "bins=4")
        self.expect(["--method", "binned:bins=2:sweep=triple"], "sweep=triple", "sweep=double_sweep")
        self.expect(["--schedule", "native", "--method", "binned:bins=4"], "native", "binned")
        self.expect(["--method", "exact:bins=3"], "no parameters")
        for lanes in ("lanes=0", "lanes=1025", "lanes=", "lanes=2x", "bins=2", ""):
            self.expect(["--method", f"tree:{lanes}"], "lanes=1024")
        self.expect(["--method", "tree:lanes=2:lanes=2"], "twice")

    def test_distributions(self):
        for content, word in (
            ("1 1 1 0", "4 counts"), ("1 1 2", "add up to 4"), ("1 1", "2 counts"), ("1 x 1", "'x'"), ("", "0 counts"),
            ("4 -1 0", "'-1'"), ("18446744073709551615 4 0", "add up to"),
        ):  # fmt: skip
            counts = self.write(f"counts{len(self.noted)}", content)
            self.expect(["--distribution", counts], word)
        for text in ("optimized:deviation=", "optimized:deviation=-1", "optimized:deviation=nan", "optimized:k=1"):
            self.expect(["--distribution", text], "deviation")
        self.expect(["--distribution", "upper:k=1"], "parameters")
        self.expect(["--distribution", self.folder], "cannot be read")

    def test_command_lines(self):
        for arguments in (
            ["sum"], ["fly"], ["sum", self.path, "--frob"], ["sum", self.path, self.path], ["--json"],
            ["sum", self.path, "--method"], ["sum", self.path, "--method", "tree", "--method", "exact"],
            ["sum", self.path, "--json=maybe"], ["schedules", "extra"], ["check-schedules", "--max-ranks", "x"],
            ["check-schedules", "--max-ranks", "0"], ["sum", ""], ["sum", self.path, "--schedule", ""],
        ):  # fmt: skip
            self.note(arguments)
        self.note(["sum"], "FILE", ranks=3)

    def test_values_that_no_option_takes(self):
        """Every option of every subcommand, as the help names them: texts are not empty, numbers finite, counts bounded."""
        asked = {
            "simulate": ["--ranks", "4", "--elements", "9"], "draw": ["tree", "--ranks", "2", "--elements", "4"],
            "run": ["--", "true"], "bench": ["local", "--sizes", "8"], "report": [self.path], "sum": [self.path],
            "verify": [self.path, "--ranks", "1"], "completion": ["bash"],
            "tune": ["--times", self.path],
        }  # fmt: skip
        helps = run("--help-all").stdout
        known = 0
        for name in re.findall(r"(?m)^(?!study$)([a-z][a-z-]*)$", helps):  # which the laboratory has
            for option, kind in re.findall(r"(?m)^ +(?:-\w,)?(--[\w-]+)(?:,--\w+)? (TEXT|U?INT|FLOAT)", run(name, "--help").stdout):
                known += 1
                values = [""] if kind == "TEXT" else ["", "nan", "inf", "1e400", "x", "18446744073709551615" if kind != "FLOAT" else "-inf"]
                for value in values if kind == "TEXT" or option in ("--sizes", "--poll", "--rounds") else values[:2] + values[-1:]:
                    self.note([name, option, value, *asked.get(name, [])], option)
        self.assertGreater(known, 70)
        self.note(["sum", "--column=", self.path], "--column", "empty")

    def test_options_without_a_use(self):
        brief = ["--counts", "1", "--rounds", "3", "--ranks", "1"]
        for arguments, word in (
            (["bench", "local", "--methods", "tree", "--sizes", "8", "--rounds", "3"], "--methods"),
            (["bench", "bundle", "--sizes", "9", *brief], "--sizes"), (["bench", "bundle", "--poll", "9", *brief], "splitphase"),
            (["bench", "fields", "--schedules", "ring", *brief], "--schedules"),
            (["run", "--diagnose", "--method", "plain", "--", "true"], "--diagnose"),
            (["tune", "--times", self.path, "--launches", "2"], "--launches"), (["run", "--force", "--", "true"], "--record"),
            (["sum", self.path, "--force"], "--force"),
        ):  # fmt: skip
            self.note(arguments, word)

    def test_texts_of_the_language_reach_nobody(self):
        self.note(["tune", "--times", self.folder], "it is a directory", "name a file with the output")

    def test_what_memory_does_not_hold(self):
        self.note(["bench", "local", "--sizes", "1e10", "--rounds", "3"], "out of memory", "fewer elements")

    def test_an_output_is_no_input(self):
        counts = self.write("d", "3 1")
        os.link(counts, self.folder / "hard")
        (self.folder / "soft").symlink_to(counts)
        for output in ("d", "hard", "soft"):
            words = ["--ranks", "2", "--elements", "4", "--distribution", counts, "--output", self.folder / output]
            self.note(["draw", "layout", *words], "it is the input", "--output")
            self.note(["report", counts, "--output", self.folder / output], "it is the input", "--output")
            self.note(["tune", "--times", counts, "--output", self.folder / output], "it is the input", "--output")
        words = ["--distribution", counts, "--raw", counts, "--ranks", "1", "--counts", "4"]
        self.note(["bench", "reduce", *words], "it is the input", "--raw")
        self.note(["run", "--record", self.folder / "r", "--report", self.folder / "r.0", "--", "true"], "a file of the record")
        self.write("old.3", "older")
        self.note(["run", "--record", self.folder / "old", "--", "true"], "old.3 exists already", "--force")
        self.addCleanup(self.assertEqual, counts.read_text(), "3 1")

    def test_older_records_go_by_force(self):
        for name in ("old.0", "old.12", "old.x"):
            self.write(name, "older")
        ran = run("run", "--force", "--record", self.folder / "old", "--", "true")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual([path.name for path in self.folder.glob("old.*")], ["old.x"])

    def test_the_nearest_name_is_told(self):
        for arguments, nearest in (
            (["smu", self.path], "sum"), (["sum", self.path, "--method", "exat"], "exact"),
            (["sum", self.path, "--method", "bined:bins=3"], "binned"), (["bench", "locl"], "local"),
            (["sum", self.path, "--schedule", "rign"], "ring"),
            (["simulate", "--ranks", "4", "--elements", "9", "--schedule", "ring", "--collective", "reduc"], "reduce"),
        ):  # fmt: skip
            self.note(arguments, f"the nearest name is '{nearest}'")
        self.note(["fly"], "no name is similar")

    def test_a_full_disk(self):
        with open("/dev/full", "w") as full:
            ran = subprocess.run([COMMAND, "schedules", "--json"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("could not be written", ran.stderr)


class Verify(FaultTest):
    def setUp(self):
        super().setUp()
        self.path = self.write("x.binpsllh", GOOD)

    def test_bad_requests(self):
        for arguments, word in (
            (["--ranks", "0"], "'0'"), (["--ranks", "2,x"], "'x'"), (["--ranks", "1,,2"], "1,,2"),
            (["--ranks", "99999999999"], "99999999999"), (["--schedules", "zigzag"], "zigzag"),
            (["--schedules", "native", "--methods", "tree"], "native"), (["--methods", "binned:bins"], "bins=2"),
            (["--methods", "tree,fast"], "fast"), (["--collective", "scan"], "scan"),
            (["--schedules", "recursive_doubling", "--collective", "reduce"], "recursive_doubling"),
            (["--schedules", "native", "--methods", "tree,exact", "--ranks", "1"], "native"),
        ):  # fmt: skip
            self.note(["verify", self.path, "--json", *arguments], word)

    def test_bad_files(self):
        self.note(["verify", self.folder / "missing"], "No such file")
        self.note(["verify", self.write("y.binpsllh", GOOD[:-1])], "truncated")
        # Only the ranks find these.
        self.note(["verify", self.write("y.psllh", "2\n1\nx\n"), "--ranks", "3"], "line 3", "'x'")
        integers = self.write("z.psllh", "2\n1\n9007199254740993\n")
        self.note(["verify", integers, "--ranks", "2", "--methods", "plain"], "line 3", "9007199254740993")
        self.note(["verify", self.write("x.csv", "1,2\n,3\n"), "--column", "x"], "no column")
        counts = self.write("counts", "2 1")
        self.note(["verify", self.path, "--distribution", counts, "--ranks", "2,3"], "2 counts, but there are 3 ranks")

    def test_under_a_launcher(self):
        self.note(["verify", self.path], "launcher", ranks=3)

    def test_launchers_that_are_none(self):
        self.note(["verify", self.path], "/nowhere/mpirun", environment={"STEADFOLD_MPIRUN": "/nowhere/mpirun"})
        self.note(["verify", self.path], "false -n 1", environment={"STEADFOLD_MPIRUN": "/bin/false"})


class RanksOfAnotherLauncher(CommandTest):
    def test_only_texts_are_printed(self):
        other = shutil.which("mpirun.openmpi" if "mpich" in LAUNCHER[0] else "mpirun.mpich")
        if other is None:
            self.skipTest("there is no launcher of another MPI library")

        def started(*words):
            # Each process gets a folder, because two jobs of Open MPI that start at once may not both create it.
            apart = 'export OMPI_MCA_orte_tmpdir_base=$(mktemp -d -p "${OMPI_MCA_orte_tmpdir_base:-/tmp}") && exec "$0" "$@"'
            command = [other, "-n", "2", "sh", "-c", apart, COMMAND, *words]
            return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)

        ran = started("sum", self.write("x.binpsllh", GOOD))
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("the launcher started 2 separate jobs of one rank (the launcher belongs to another MPI library", ran.stderr)
        for words, line in ((["--version"], "steadfold "), (["sum", "--help"], "Usage: "), ([], "Reductions with ")):
            ran = started(*words)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(sum(each.startswith(line) for each in ran.stdout.splitlines()), 1, ran.stdout)


class RanksThatDiffer(CommandTest):
    def test_command_lines(self):
        path = self.write("x.binpsllh", GOOD)
        first = ("sum", path, "--json")
        for second in (["schedules"], ["sum", path, "--method", "tree"], ["sum", path, "--frob"], ["info", "--json"]):
            self.expect_fault(run(*first, ":", "-n", "2", COMMAND, *second, ranks=1), "different command lines")


if __name__ == "__main__":
    unittest.main()
