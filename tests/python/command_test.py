"""The command of the Python package, by scripts like those that a wheel installs: behind each MPI library and without one it
does what the program does, starts itself again as ranks, ends by signals, and says what is missing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np
from support import hostile, libraries, link_for_mpich

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from commands import DIGEST, extended, output, run, waits_for_signals  # noqa: E402

PACKAGES = Path(os.environ["PYTHONPATH"])
SCRIPTS = PACKAGES / "scripts"
PROGRAM = Path(os.environ["STEADFOLD_BUILD"]) / "bin" / "steadfold"
RUNS_ALONE = (PACKAGES / "steadfold_command" / "mpich.so").exists()  # Open MPI's handles are addresses
HIDDEN = "import steadfold_command as command; command._FILES = {name: ('libnowhere.so',) for name in command._FILES}"
FIGURES = ("bits", "value", "elements", "method", "schedule", "messages", "rounds", "bytes")


def write_script(path, script, before=""):
    """The script as pip installs it; `before` is done first."""
    path.write_text((SCRIPTS / script).read_text().replace("#!python\n", f"#!{sys.executable} -B\n{before}\n", 1))
    path.chmod(0o755)
    return path


def wait_until(question, seconds=20):
    end = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < end, "it has not come so far"
        time.sleep(0.01)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.room = Path(folder.name)
        for script in SCRIPTS.iterdir():
            write_script(self.room / script.name, script.name)
        self.command = self.room / "steadfold"
        self.without_mpi = write_script(self.room / "without", "steadfold", HIDDEN)
        seed = int(time.time())
        self.file = self.room / "numbers.npy"
        np.save(self.file, hostile(np.random.default_rng(seed), 1001))
        print("seed", seed)

    def figures(self, *words):
        told = json.loads(output(*words, "sum", self.file, "--json", "--method", "tree", "--schedule", "recursive_doubling"))
        return {name: told[name] for name in FIGURES}

    def refused(self, *words, **more):
        done = run(*words, **more)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_sums_are_the_programs(self):
        alone = self.figures(PROGRAM)
        self.assertEqual(self.figures(self.command), alone)
        if RUNS_ALONE:
            self.assertEqual(self.figures(self.without_mpi), alone)
        for library in libraries():
            launcher = os.environ[f"STEADFOLD_MPIRUN_{library.upper()}"]
            for ranks in (3, 5) if library == "openmpi" else (3,):
                with self.subTest(library=library, ranks=ranks):
                    found = self.figures(launcher, "-n", ranks, self.command)
                    self.assertEqual(found["bits"], alone["bits"])
                    self.assertGreater(found["messages"], 0)  # ranks that found each other

    def test_doctor(self):
        for command in (self.command, self.without_mpi) if RUNS_ALONE else (self.command,):
            told = json.loads(output(command, "doctor", "--json"))
            self.assertEqual((told["digest"], told["wrong"]), (DIGEST, []))
            self.assertEqual(told["mpi_library"] == "none", command == self.without_mpi)

    def test_starts_itself_as_ranks(self):
        for library in libraries():
            with self.subTest(library=library):
                told = output(self.room / f"steadfold.{library}", "verify", self.file, "--ranks", "1,2,3", "--schedules", "auto,ring")
                self.assertEqual(told.splitlines()[-1], "Every method that promises the same bits gave the same bits: binned, exact, tree.", told)

    def test_starts_those_of_other_mpi_libraries(self):
        if len(libraries()) < 2:
            self.skipTest("there is one MPI library")
        told = json.loads(output(self.command, "bench", "allreduce", "--counts", "1", "--ranks", "2", "--libraries", "openmpi,mpich", "--rounds", "3", "--json"))
        self.assertEqual({row["library"] for row in told["rows"]}, {"Open MPI", "MPICH"})

    def test_what_is_missing(self):
        launched = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"), ("PMIX_RANK", "SLURM_STEP_NUM_TASKS")
        for rank, size in launched:
            self.assertIn("no MPI library (libnowhere.so", self.refused(self.without_mpi, "sum", self.file, env=extended(**{rank: "0", size: "2"})))
            if RUNS_ALONE:
                output(self.without_mpi, "info", env=extended(**{rank: "0", size: "1"}))
        for script in SCRIPTS.iterdir():
            if script.name != "steadfold":
                hidden = write_script(self.room / "hidden", script.name, HIDDEN)
                self.assertIn("no MPI library (libnowhere.so", self.refused(hidden, "info"))
        packages = self.room / "packages" / "steadfold_command"
        packages.mkdir(parents=True)
        shutil.copy(PACKAGES / "steadfold_command" / "__init__.py", packages)
        settings = extended(PYTHONPATH=str(packages.parent))
        (packages / "openmpi.so").write_text("no module")
        self.assertIn("no MPI library (libnowhere.so", self.refused(self.without_mpi, "info", env=settings))
        self.assertIn("the command cannot be loaded (", self.refused(self.command, "info", env=extended(PYTHONPATH=str(packages.parent), **{launched[0][0]: "0", launched[0][1]: "2"})))
        hidden = write_script(self.room / "hidden", "steadfold.mpich")
        self.assertIn("no command for this MPI library (this package was built for openmpi)", self.refused(hidden, "info", env=settings))

    def test_goes_by_the_library_path(self):
        if len(libraries()) < 2:
            self.skipTest("there is one MPI library")
        folder = self.room / "mpich"
        folder.mkdir()
        link_for_mpich(folder)
        told = json.loads(output(self.command, "info", "--json", env=extended(LD_LIBRARY_PATH=str(folder))))
        self.assertEqual(told["built_for"], "MPICH")

    def test_run(self):
        done = run(self.command, "run", "--", PROGRAM.parent / "steadfold", "info")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("MPI's reductions use method tree", done.stderr)

    def test_faults_are_the_programs(self):
        for words in (["nonsense"], ["sum"], ["sum", "nowhere.csv"], ["verify", self.file, "--ranks", "0"]):
            said = run(PROGRAM, *words)
            done = run(self.command, *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", said.stderr))

    def test_signals_end_it(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            ends = []
            for command in (PROGRAM, self.command):
                words = [command, "bench", "local", "--rounds", "10001"]
                with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as started:
                    wait_until(lambda: waits_for_signals(started))
                    self.assertIsNone(started.poll())
                    started.send_signal(number)
                    _, said = started.communicate(timeout=20)
                ends.append((started.returncode, said.split(" after ")[0]))
            self.assertEqual(ends[0], ends[1])
            self.assertNotEqual(ends[0][0], 0)

    def test_nobody_reads(self):
        ends = []
        for command in (PROGRAM, self.command):
            reader, writer = os.pipe()
            os.close(reader)
            ends.append(subprocess.run([command, "schedules"], stdout=writer, stderr=subprocess.PIPE, check=False).returncode)
            os.close(writer)
        self.assertEqual(ends, [-signal.SIGPIPE] * 2)


if __name__ == "__main__":
    unittest.main()
