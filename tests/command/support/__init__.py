"""Running the command from tests: where it is, files to give it, and an oracle that shares nothing with the project.

STEADFOLD_BIN: the command, or its directory. STEADFOLD_MPIRUN: the launcher of its MPI library; without it, the one
that the command's own `info` calls for. STEADFOLD_SHARED: the folder with the published data, for published_test.py.
"""

import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

TIMEOUT = 120  # seconds; a hang fails
SEED = 20220701


def find_command():
    place = Path(os.environ.get("STEADFOLD_BIN") or Path(__file__).resolve().parents[3] / "build" / "bin")
    return str(place / "steadfold" if place.is_dir() else place)


def find_launcher():
    if os.environ.get("STEADFOLD_MPIRUN"):
        return os.environ["STEADFOLD_MPIRUN"].split()
    library = json.loads(subprocess.run([COMMAND, "info", "--json"], capture_output=True, text=True, check=True).stdout)
    name = "mpirun.mpich" if library["built_for"] == "MPICH" else "mpirun.openmpi"
    return [shutil.which(name) or shutil.which("mpirun")]


# The versions of the bits of methods, as tests/golden records them.
BITS_VERSIONS = json.loads((Path(__file__).resolve().parents[3] / "vectors/i32.json").read_text())["bits_versions"]
METHODS = (*BITS_VERSIONS, "plain")
COMMAND = find_command()
LAUNCHER = find_launcher()
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def made_up(machine):
    """Settings by which hwloc makes a machine up, which it does where nobody tells it what to ask."""
    return {"HWLOC_SYNTHETIC": machine, "HWLOC_COMPONENTS": None}


# Launchers are not asked: they know nothing of a machine that is made up.
ON_CORES_IN_TURN = ("sh", "-c", 'exec taskset -c $((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} % 2)) "$0" "$@"')


def run(*arguments, ranks=None, environment=None, timeout=TIMEOUT, through=(), instead=COMMAND):
    """The command with these arguments, under the launcher when `ranks` is given, whose ranks start it `through` other
    words. Settings that are None are not there. `instead`: another program."""
    words = [*through, str(instead), *map(str, arguments)]
    if ranks is not None:
        words = [*LAUNCHER, "-n", str(ranks), *words]
    # Launchers of Open MPI that share a session directory sometimes take it from under each other.
    with tempfile.TemporaryDirectory() as session:
        settings = {**ENVIRONMENT, "OMPI_MCA_orte_tmpdir_base": session, **(environment or {})}
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            env={name: value for name, value in settings.items() if value is not None},
        )


def run_all(calls):
    """What comes of many calls of `run`, given as arguments and keywords. Launchers mostly wait: several at once."""
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(run, *arguments, **keywords) for arguments, keywords in calls]
        return [each.result() for each in runs]


def some(cases):
    """All of them, and every third with MPICH: the command is the same with every MPI library, and ranks of MPICH take
    three times as long to start and end."""
    return list(cases)[:: 3 if "mpich" in LAUNCHER[0] else 1]


def bits(value):
    return struct.pack(">d", value).hex().upper()


def bits32(value):
    return struct.pack(">f", value).hex().upper()


def tree(values):
    """The sum level by level: neighbours combine, a last odd one passes through."""
    level = list(values)
    while len(level) > 1:
        above = [level[i] + level[i + 1] for i in range(0, len(level) - 1, 2)]
        if len(level) % 2:
            above.append(level[-1])
        level = above
    return level[0] if level else 0.0


def left_to_right(values):
    total = 0.0
    for value in values:
        total += value
    return total


def exact(values):
    return math.fsum(values)


def binned(values, bins=3):
    """Every value rounded to a multiple of the lowest of so many bins of 40 bits below the largest, ties to even."""
    largest = max((math.frexp(value)[1] for value in values if value), default=-1074)
    top = max(bins - 1, (largest + 1074) // 40)
    unit = Fraction(2) ** (40 * (top - bins + 1) - 1074)
    return float(sum(round(Fraction(value) / unit) for value in values) * unit)


def hostile(count, seed=SEED):
    """Numbers whose sum depends on the order: wide exponents, cancellation, subnormals, signed zeros."""
    generator = random.Random(seed)
    values = []
    for i in range(count):
        kind = generator.randrange(8)
        if kind == 0 and values:
            values.append(-generator.choice(values))
        elif kind == 1:
            values.append(generator.choice([0.0, -0.0, 5e-324, -2.5e-310]))
        else:
            values.append(generator.uniform(-1, 1) * 2.0 ** generator.randint(-60, 60))
    return values


def binpsllh(values):
    return struct.pack("<Q", len(values)) + struct.pack(f"<{len(values)}d", *values)


# NumPy's kinds, as struct names them.
KINDS = {
    "f8": "d", "f4": "f", "c16": "d",
    "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
}  # fmt: skip


def npy(values, descr="<f8", shape=None, version=1, fortran=False):
    order, kind = descr[0], KINDS[descr[1:]]
    shape = (len(values),) if shape is None else shape
    header = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode()
    width = 2 if version == 1 else 4
    header += b" " * (-(len(header) + 9 + width) % 64) + b"\n"
    start = b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header))
    return start + header + struct.pack(f"{order.replace('|', '<')}{len(values)}{kind}", *values)


class CommandTest(unittest.TestCase):
    """Cases with a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def need_hwloc(self):
        if json.loads(run("info", "--json").stdout)["machine"]["packages"] is None:
            self.skipTest("Steadfold was built without hwloc, so sockets are not known")

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def object_from(self, ran, status=0):
        """The one JSON object on standard output."""
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        self.assertEqual(ran.stdout.count("\n"), 1, ran.stdout)
        return json.loads(ran.stdout)

    def sum(self, path, *arguments, ranks=None, environment=None):
        return self.object_from(run("sum", path, "--json", *arguments, ranks=ranks, environment=environment))

    def sums(self, path, cases):
        """The objects of many sums: cases are pairs of further arguments and a number of ranks or None."""
        calls = [(("sum", path, "--json", *arguments), {"ranks": ranks}) for arguments, ranks in cases]
        return [self.object_from(ran) for ran in run_all(calls)]

    def expect_fault(self, ran, *words):
        """Status 2, nothing on standard output, and one line `problem (why), suggestion` that says all the words."""
        self.assertEqual(ran.returncode, 2, f"{ran.stdout}\n{ran.stderr}")
        self.assertEqual(ran.stdout, "")
        told = [line for line in ran.stderr.splitlines() if re.fullmatch(r"\S.* \(.+\), .+", line)]
        self.assertEqual(len(told), 1, ran.stderr)
        for word in words:
            self.assertIn(word, told[0])
        return told[0]
