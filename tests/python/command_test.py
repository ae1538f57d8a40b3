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
import tomllib
import unittest
from pathlib import Path

import numpy as np
from support import hostile, libraries

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from commands import DIGEST, extended, output, run  # noqa: E402

SOURCE = Path(__file__).resolve().parents[2]
PACKAGES = Path(os.environ["PYTHONPATH"])
PROGRAM = Path(os.environ["STEADFOLD_BUILD"]) / "bin" / "steadfold"
SCRIPTS = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]["scripts"]
HIDDEN = "import steadfold_command as command; command._FILES = {name: ('libnowhere.so',) for name in command._FILES}"
FIGURES = ("bits", "value", "elements", "method", "schedule", "messages", "rounds", "bytes")


def write_script(path, function, before=""):
    path.write_text(f"#!{sys.executable} -B\n{before}\nimport sys\nfrom steadfold_command import {function}\nsys.exit({function}())\n")
    path.chmod(0o755)
    return path


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.room = Path(folder.name)
        for name, entry in SCRIPTS.items():
            write_script(self.room / name, entry.split(":")[1])
        self.command = self.room / "steadfold"
        self.without_mpi = write_script(self.room / "without", "main", HIDDEN)
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
        self.assertEqual(self.figures(self.without_mpi), alone)
        for library in libraries():
            launcher = os.environ[f"STEADFOLD_MPIRUN_{library.upper()}"]
            for ranks in (3, 5) if library == "openmpi" else (3,):
                with self.subTest(library=library, ranks=ranks):
                    found = self.figures(launcher, "-n", ranks, self.command)
                    self.assertEqual(found["bits"], alone["bits"])
                    self.assertGreater(found["messages"], 0)  # ranks that found each other

    def test_doctor(self):
        for command in (self.command, self.without_mpi):
            told = json.loads(output(command, "doctor", "--json"))
            self.assertEqual((told["digest"], told["wrong"]), (DIGEST, []))
        self.assertEqual(told["mpi_library"], "none")

    def test_starts_itself_as_ranks(self):
        for library in libraries():
            with self.subTest(library=library):
                told = output(self.room / f"steadfold.{library}", "verify", self.file, "--ranks", "1,2,3", "--schedules", "auto,ring")
                self.assertEqual(told.splitlines()[-1], "identical", told)

    def test_starts_those_of_other_mpi_libraries(self):
        if len(libraries()) < 2:
            self.skipTest("there is one MPI library")
        told = json.loads(output(self.command, "bench", "allreduce", "--counts", "1", "--ranks", "2", "--libraries", "openmpi,mpich", "--rounds", "3", "--json"))
        self.assertEqual({row["library"] for row in told["rows"]}, {"Open MPI", "MPICH"})

    def test_what_is_missing(self):
        for variable, file in (("OMPI_COMM_WORLD_RANK", "libnowhere.so"), ("PMI_RANK", "libnowhere.so"), ("PMIX_RANK", "libnowhere.so")):
            self.assertIn(f"no MPI library ({file}", self.refused(self.without_mpi, "sum", self.file, env=extended(**{variable: "0"})))
        for name in SCRIPTS.keys() - {"steadfold"}:
            script = write_script(self.room / "hidden", name.split(".")[1], HIDDEN)
            self.assertIn("add its folder to LD_LIBRARY_PATH", self.refused(script, "info"))
        packages = self.room / "packages" / "steadfold_command"
        packages.mkdir(parents=True)
        shutil.copy(PACKAGES / "steadfold_command" / "__init__.py", packages)
        settings = extended(PYTHONPATH=str(packages.parent))
        self.assertIn("built without it", self.refused(self.command, "info", env=settings))
        (packages / "mpich.so").write_text("no module")
        self.assertIn("the command cannot be loaded (", self.refused(self.without_mpi, "info", env=settings))

    def test_faults_are_the_programs(self):
        for words in (["nonsense"], ["sum"], ["sum", "nowhere.csv"], ["verify", self.file, "--ranks", "0"]):
            said = run(PROGRAM, *words)
            done = run(self.command, *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", said.stderr))

    def test_signals_end_it(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for command in (PROGRAM, self.command):
                with subprocess.Popen([command, "bench", "local", "--rounds", "100000"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as started:
                    time.sleep(0.5)  # until it is at work
                    started.send_signal(number)
                    _, said = started.communicate(timeout=20)
                self.assertNotIn("Traceback", said)
                if command == PROGRAM:
                    expected = started.returncode
                self.assertEqual(started.returncode, expected)

    def test_a_reader_that_has_seen_enough(self):
        shell = f"{self.command} schedules | head -n 1"
        done = run("bash", "-c", shell)
        self.assertEqual((done.stdout.count("\n"), done.stderr), (1, ""))


if __name__ == "__main__":
    unittest.main()
