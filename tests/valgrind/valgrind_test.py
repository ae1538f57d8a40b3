"""The layers for Python and Fortran touch no memory that is not theirs: what address sanitizers see in C++, by valgrind
over programs as users have them. Values that nobody has written are not looked for, since NumPy and MPI libraries have
some."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LOST = 9  # exit status
VALGRIND = ["valgrind", "--quiet", "--leak-check=no", "--undef-value-errors=no", f"--error-exitcode={LOST}",
            f"--suppressions={TESTS}/valgrind/loader.supp"]  # fmt: skip
RANKS = 1
# Of tests/python/objects_test.py, whatever owns arrays or gives them to others.
OBJECTS = ["plans_read", "bundles", "teams", "requests", "dropped", "columns_masks", "bytes_and", "references_are"]


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not here")
class Valgrind(unittest.TestCase):
    def run_by(self, *command, **environment):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | environment, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_sees_what_is_lost(self):
        """A control: a read behind the end of an array."""
        program = "import ctypes; m = ctypes.create_string_buffer(4096); print(ctypes.string_at(ctypes.addressof(m) + 4090, 16))"
        done = subprocess.run([*VALGRIND, sys.executable, "-c", program], capture_output=True, text=True,
                              env=os.environ | {"PYTHONMALLOC": "malloc"}, check=False)  # fmt: skip
        self.assertEqual(done.returncode, LOST, done.stdout + done.stderr)
        self.assertIn("Invalid read", done.stderr)

    @unittest.skipUnless("STEADFOLD_PYTHON_REFERENCE" in os.environ, "the Python package is not built here")
    def test_python(self):
        chosen = [word for name in OBJECTS for word in ("-k", name)]
        said = self.run_by(*VALGRIND, sys.executable, "-B", TESTS / "python" / "objects_test.py", *chosen, PYTHONMALLOC="malloc")
        self.assertIn(f"Ran {len(OBJECTS)} tests", said)

    @unittest.skipUnless(os.environ.get("STEADFOLD_FORTRAN_PROGRAMS"), "the Fortran interface is not built here")
    def test_fortran(self):
        for program in os.environ["STEADFOLD_FORTRAN_PROGRAMS"].split(":"):
            with self.subTest(program=Path(program).name):
                said = self.run_by(os.environ["STEADFOLD_MPIRUN"], "-n", str(RANKS), *VALGRIND, program)
                self.assertIn("checks passed, 0 failed", said)


if __name__ == "__main__":
    unittest.main()
