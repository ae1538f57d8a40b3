"""What the tests of examples share: where programs stand, and jobs of several ranks. STEADFOLD_EXAMPLES names the
directory of the programs."""

import os
import shutil
import struct
import subprocess
import tempfile
import unittest

DIRECTORY = os.environ.get("STEADFOLD_EXAMPLES", "")
MPIRUN = os.environ.get("STEADFOLD_MPIRUN") or shutil.which("mpirun")

ENVIRONMENT = dict(os.environ)
ENVIRONMENT.update(
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_hwloc_base_binding_policy="none",
    OMPI_MCA_mpi_yield_when_idle="1",
)


def bits_of(value):
    """Of a double, as hexadecimal digits."""
    return struct.pack(">d", value).hex().upper()


def bits(text):
    """Of a double as a program prints it: with C's %a, or by its bits."""
    return bits_of(float.fromhex(text)) if "x" in text else text


def run(*words, **environment):
    # Launchers of Open MPI that share a session directory sometimes take it from under each other.
    with tempfile.TemporaryDirectory() as session:
        settings = {**ENVIRONMENT, "OMPI_MCA_orte_tmpdir_base": session, **environment}
        return subprocess.run(words, env=settings, capture_output=True, text=True, timeout=240)


class Example:
    def __init__(self, name):
        self.name = name
        self.program = os.path.join(DIRECTORY, name)

    def run_ranks(self, ranks, *options, **environment):
        return run(MPIRUN, "-n", str(ranks), self.program, *map(str, options), **environment)

    def require(self):
        """For setUpModule."""
        if not DIRECTORY:
            print(f"skipped: STEADFOLD_EXAMPLES is not set, point it to the directory of {self.name}")
            raise unittest.SkipTest("STEADFOLD_EXAMPLES is not set")
