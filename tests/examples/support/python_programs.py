"""What the tests of the examples in Python share: jobs of the Python that runs the test, under the launcher that
STEADFOLD_MPIRUN names."""

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from support import MPIRUN, run

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
IS_MPICH = "mpich" in os.path.realpath(MPIRUN) or "mpich" in MPIRUN or "hydra" in os.path.realpath(MPIRUN)


@functools.cache
def _settings():
    """mpi4py's wheels look for MPICH as libmpi.so.12, which Debian has under another name."""
    if not IS_MPICH:
        return {"MPI4PY_MPIABI": "openmpi"}
    settings = {"MPI4PY_MPIABI": "mpich"}
    found = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    files = [line.split("=> ")[1].strip() for line in found.splitlines() if "libmpich.so.12 " in line]
    if files:
        folder = tempfile.TemporaryDirectory()
        _settings.kept = folder  # until the end
        os.symlink(files[0], Path(folder.name) / "libmpi.so.12")
        settings["LD_LIBRARY_PATH"] = folder.name + ":" + os.environ.get("LD_LIBRARY_PATH", "")
    return settings


class Program:
    def __init__(self, name):
        self.path = EXAMPLES / name / "main.py"

    def alone(self, *options):
        return run(sys.executable, "-B", str(self.path), *map(str, options), **_settings())

    def job(self, ranks, *options):
        return run(MPIRUN, "-n", str(ranks), sys.executable, "-B", str(self.path), *map(str, options), **_settings())

    @functools.cache
    def record_of(self, ranks, *options):
        done = self.job(ranks, "--json", *options)
        if done.returncode != 0:
            raise AssertionError(f"{ranks} ranks, {options}: exit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)  # fails unless there is one object and nothing else
