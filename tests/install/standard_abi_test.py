"""The layers for MPI's standard binary interface, over an MPI library that has no other: a client in C, linked by hand and by
find_package, programs that nobody changes, and (STEADFOLD_FULL=1, since mpi4py has to be compiled)
the Python package."""

import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from commands import extended, output, run  # noqa: E402

BUILD = Path(os.environ["STEADFOLD_BUILD"])
WRAPPER = os.environ["STEADFOLD_ABI_WRAPPER"]
MPIRUN = Path(WRAPPER).with_name("mpirun")
SOURCE = Path(__file__).resolve().parents[2]
TESTS = SOURCE / "tests"
PYTHON = os.environ.get("STEADFOLD_PYTHON")
LINK = "sf_compiled_with_the_mpi_abi_so_link_libsteadfold_mpi_abi"
INTERPOSER = str(BUILD / "lib" / "libsteadfold_interpose.so")
NAP = os.environ.pop("LD_PRELOAD", "")  # ranks that wait do
SUMS = """
import math, numpy as np, steadfold as sf
from mpi4py import MPI
random, rank, ranks = np.random.default_rng(7), MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
x = random.standard_normal(3000) * 10.0 ** random.integers(-20, 20, 3000)
right = sf.sum(np.ascontiguousarray(x[rank::ranks]), comm=MPI.COMM_WORLD) == math.fsum(x)
said = MPI.COMM_WORLD.gather((right, sf.config()["mpi library"]["layer"]))
for each in said or []:
    print(*each)
"""


def preloaded(interposed=True, **settings):
    return extended(LD_PRELOAD=f"{INTERPOSER * interposed}:{NAP}", **settings)


class StandardAbi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = Path(tempfile.mkdtemp(prefix="steadfold-"))
        cls.addClassCleanup(shutil.rmtree, cls.room)

    def compiled(self, source, *words):
        program = self.room / source.stem
        output(WRAPPER, "-std=gnu11", "-g", f"-I{SOURCE / 'include'}", f"-I{TESTS}", source, "-o", program, *words, "-lm", "-pthread")
        return program

    def digest(self, ranks, algorithm, interposed):
        told = {"MPIR_CVAR_DEVICE_COLLECTIVES": "none", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": algorithm}
        ran = output(MPIRUN, "-n", ranks, self.room / "programs", "digest", "0", env=preloaded(interposed, **told))
        return re.search(r"digest (\w+)", ran)[1]

    def test_a_client(self):
        place = BUILD / "mpi_abi" / "lib"
        client = self.compiled(TESTS / "api" / "client.c", f"-L{place}", "-lsteadfold_mpi", "-lsteadfold", f"-Wl,-rpath,{place}")
        for ranks in (1, 2, 3):
            output(MPIRUN, "-n", ranks, client)

    def test_the_layer_is_tied_to_no_library(self):
        for file in ("mpi_abi/lib/libsteadfold_mpi_abi.so", "lib/libsteadfold_interpose_mpi_abi.so"):
            self.assertIn("[$ORIGIN]", output("readelf", "--dynamic", BUILD / file))

    def test_no_other_layer_links(self):
        others = [path for name in ("openmpi", "mpich") if (path := BUILD / "archive" / f"libsteadfold_{name}.a").exists()]
        self.assertTrue(others)
        for other in others:
            source = TESTS / "api" / "client.c"
            done = run(WRAPPER, f"-I{SOURCE / 'include'}", source, "-o", self.room / "none", other, BUILD / "archive" / "libsteadfold.a",
                       "-lstdc++", "-lm")  # fmt: skip
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(LINK, done.stderr)

    def test_find_package(self):
        output("cmake", "--install", BUILD, "--prefix", self.room / "prefix")
        output("cmake", "-G", "Ninja", "-S", TESTS / "install" / "project", "-B", self.room / "project", "-DCOMPONENT=mpi_abi",
                    f"-DCMAKE_PREFIX_PATH={self.room / 'prefix'}", f"-DMPI_C_COMPILER={WRAPPER}")  # fmt: skip
        output("cmake", "--build", self.room / "project", "--target", "c_shared", "c_static")
        said = {output(MPIRUN, "-n", 3, self.room / "project" / kind) for kind in ("c_shared", "c_static")}
        self.assertEqual(len(said), 1)

    def test_programs_that_nobody_changes(self):
        """Sums of plain MPI differ between its algorithms, those behind the interposer do not. Its layer is the right one:
        the library calls itself MPICH, as one with MPICH's own handles does."""
        self.compiled(TESTS / "interpose" / "programs.c")
        collectives = self.compiled(TESTS / "interpose" / "collectives.c")
        algorithms = ("recursive_doubling", "reduce_scatter_allgather", "smp")
        for ranks in (4, 5):
            with self.subTest(ranks=ranks):
                plain = {self.digest(ranks, algorithm, False) for algorithm in algorithms}
                self.assertGreater(len(plain), 1, "the control: plain sums depend on the algorithm")
                self.assertEqual(len({self.digest(ranks, algorithm, True) for algorithm in algorithms}), 1)
        ran = output(MPIRUN, "-n", 5, collectives, env=preloaded())
        self.assertIn("\n0 results are wrong", "\n" + ran)
        self.assertNotEqual(run(MPIRUN, "-n", 4, collectives, "sums of doubles", env=preloaded(False)).returncode, 0, "the control")

    if PYTHON:

        def test_the_python_package_has_the_layer(self):
            said = output(PYTHON, "-m", "steadfold", "info", env=extended(PYTHONPATH=str(BUILD / "python")))
            self.assertRegex(said, r"mpi layers: .*\bmpi_abi\b")

    if PYTHON and "STEADFOLD_FULL" in os.environ:

        def test_mpi4py(self):
            output(PYTHON, "-m", "venv", self.room / "python")
            python = self.room / "python" / "bin" / "python"
            output(python, "-m", "pip", "install", "-q", "numpy", "--no-binary=mpi4py", "mpi4py", env=extended(MPICC=WRAPPER))
            ours = extended(PYTHONPATH=str(BUILD / "python"))
            said = output(MPIRUN, "-n", 3, python, "-c", SUMS, env=ours)
            self.assertEqual(said.splitlines(), ["True mpi_abi"] * 3)
            said = output(MPIRUN, "-n", 3, python, "-m", "steadfold", "doctor", "--mpi", env=ours)
            self.assertIn(" 0 wrong", said)


if __name__ == "__main__":
    unittest.main()
