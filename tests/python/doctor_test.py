"""`python -m steadfold doctor`: the digest of the README, alone and over mpi4py, and status 1 for one wrong bit."""

import json
import os
import re
import subprocess
import sys
import unittest
import unittest.mock
from pathlib import Path

from support import libraries, on_ranks

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from commands import DIGEST  # noqa: E402

OVER_RANKS = "import sys, steadfold.__main__ as main; from mpi4py import MPI"
FLIPPED = Path(os.environ["STEADFOLD_BUILD"]) / "tests" / "libsteadfold_flipped_bit.so"


def doctor(*options, **environment):
    command = [sys.executable, "-B", "-m", "steadfold", "doctor", *options]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


class Doctor(unittest.TestCase):
    def test_alone(self):
        ran = doctor("--json")
        found = json.loads(ran.stdout)
        self.assertEqual((ran.returncode, found["digest"], found["wrong"]), (0, DIGEST, []), ran.stderr)
        self.assertRegex(doctor().stdout, rf"(?m)^digest: +{DIGEST}$")

    def test_on_ranks(self):
        program = f"{OVER_RANKS}; sys.exit(main.doctor(True, MPI.COMM_WORLD))"
        for library in libraries():
            for ranks in (3,) if library == "mpich" else (1, 5):
                with self.subTest(library=library, ranks=ranks):
                    found = json.loads(on_ranks(library, ranks, "-c", program))
                    self.assertEqual((found["digest"], found["wrong"], found["ranks"]), (DIGEST, [], ranks))

    def test_one_wrong_bit(self):
        for call in ("1", "300"):
            ran = doctor("--json", LD_PRELOAD=str(FLIPPED), STEADFOLD_TEST_FLIP=call)
            found = json.loads(ran.stdout)
            self.assertEqual((ran.returncode, len(found["wrong"])), (1, 1), ran.stderr)
            self.assertNotEqual(found["digest"], DIGEST)

    def test_a_wrong_bit_of_a_rank(self):
        program = f"{OVER_RANKS}; main.doctor(True, MPI.COMM_WORLD)"
        preloaded = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), str(FLIPPED)]))
        for library in libraries():
            for call, rank in (("5", "1"), ("600", "2")):
                settings = {"LD_PRELOAD": preloaded, "STEADFOLD_TEST_FLIP": call, "STEADFOLD_TEST_RANK": rank}
                with self.subTest(library=library, call=call), unittest.mock.patch.dict(os.environ, settings):
                    found = json.loads(on_ranks(library, 3, "-c", program))
                    self.assertEqual([line.split(":")[0] for line in found["wrong"]], [f"rank {rank}"])
                    self.assertNotEqual(found["digest"], DIGEST)

    def test_a_setting_is_no_wrong_bit(self):
        ran = doctor("--json", STEADFOLD_TARGET="abacus")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        self.assertIn("'abacus'", ran.stderr)


if __name__ == "__main__":
    unittest.main()
