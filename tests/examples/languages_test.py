"""The programs that pages quote in several languages (examples/languages) print the same bits in all of them, on 3 ranks;
so does the exact sum of their elements in Python's own arithmetic.

A language whose compiler or package is not here is left out, and the test says so."""

import math
import os
import shutil
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import MPIRUN, bits, bits_of, run

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "examples/languages"
BUILD = Path(os.environ.get("STEADFOLD_BUILD", ""))
WRAPPER = os.environ.get("STEADFOLD_MPICC", "")  # the others follow from its name
PYTHON = os.environ.get("STEADFOLD_PYTHON")  # with NumPy and mpi4py; unset: the Python package is not built
RANKS = 3
LIBRARIES = ["-L", str(BUILD / "lib"), "-lsteadfold_openmpi", "-lsteadfold", f"-Wl,-rpath,{BUILD / 'lib'}", "-fopenmp"]
FLAGS = ["-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]


def wrapper(name):
    return WRAPPER.replace("mpicc", name)


def command(source, program):
    """How a source is compiled; none if that is not possible here."""
    of_c = [*FLAGS, "-Wpedantic", "-I", str(ROOT / "include")]
    if source.suffix == ".c":
        return [wrapper("mpicc"), "-std=c11", *of_c, source, "-o", program, *LIBRARIES, "-lm"]
    if source.suffix == ".cpp":  # Open MPI's own header has such casts
        return [wrapper("mpicxx"), "-std=c++20", *of_c, "-Wno-cast-function-type", source, "-o", program, *LIBRARIES]
    module, descriptors = ROOT / "fortran/steadfold.f90", BUILD / "archive/libsteadfold_fortran.a"
    if not shutil.which(wrapper("mpifort")) or not descriptors.exists():
        return None
    quiet = ["-Wno-uninitialized", "-Wno-maybe-uninitialized"]  # of arrays that an assignment allocates
    flags = ["-std=f2018", *FLAGS, *quiet, "-fcheck=all", "-J", str(program.parent)]
    return [wrapper("mpifort"), *flags, module, source, "-o", program, descriptors, *LIBRARIES, "-lstdc++"]


def printed(source, room):
    """What a program prints, by its names: bits. None if it cannot run here."""
    folder = Path(room) / source.name
    folder.mkdir()
    words = [PYTHON, "-B", source] if PYTHON else None
    if source.suffix != ".py":
        words, build = [folder / "program"], command(source, folder / "program")
        if build is None:
            return None
        done = run(*map(str, build))
        if done.returncode != 0:
            raise AssertionError(f"{source.name} does not compile:\n{done.stderr}")
    if words is None:
        return None
    done = run("sh", "-c", f'cd "{folder}" && exec "$@"', "sh", MPIRUN, "-n", str(RANKS), *map(str, words),
               PYTHONPATH=str(BUILD / "python"), MPI4PY_MPIABI="openmpi")
    if done.returncode != 0:
        raise AssertionError(f"{source.name} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    rows = [line.rpartition(" ") for line in done.stdout.splitlines()]
    return {name: bits(number) for name, _, number in rows}, done.stderr


class Languages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sources = sorted(path for path in PROGRAMS.iterdir() if path.suffix in (".cpp", ".f90", ".py", ".c"))
        with tempfile.TemporaryDirectory(prefix="languages-") as room, ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda source: printed(source, room), sources))
        cls.results = {source: result for source, result in zip(sources, results) if result is not None}
        left_out = [source.name for source in sources if source not in cls.results]
        print(f"{len(cls.results)} programs ran; left out: {', '.join(left_out) or 'none'}")

    def of(self, stem):
        found = {source.name: result for source, result in self.results.items() if source.stem == stem}
        self.assertGreaterEqual(len(found), 2, f"{stem} ran in too few languages")
        return found

    def test_languages_print_the_same_bits(self):
        for stem, count in (("basins", 14), ("products", 7), ("sums", 7), ("team", 1)):
            found = self.of(stem)
            for name, (values, _) in found.items():
                with self.subTest(program=name):
                    self.assertEqual(len(values), count)
                    self.assertEqual(values, next(iter(found.values()))[0])

    def test_sums_are_right(self):
        x, w = [1 / (i + 1) for i in range(1000)], [1 + i % 7 for i in range(1000)]
        due = bits_of(math.fsum(x))
        values = next(iter(self.of("sums").values()))[0]
        for name in ("sum", "check", "threads", "kept"):
            self.assertEqual(values[name], due, name)
        self.assertEqual(values["weights"], bits_of(float(sum(Fraction(a) * b for a, b in zip(x, w)))))
        self.assertNotEqual(values["order"], due, "the tree's bits are its own on these elements")
        self.assertEqual(next(iter(self.of("team").values()))[0]["sum"], due)

    def test_basins_are_right(self):
        values = next(iter(self.of("basins").values()))[0]
        cells = [(i, j, Fraction(1 / (j + 2))) for j in range(8) for i in range(12)]
        whole = Fraction(0)
        for k in range(3):
            of_basin = [Fraction(0)] * 4  # land first
            for i, j, area in cells:
                of_basin[(i + j) % 4] += Fraction(1 / (1 + i + 12 * (j + 8 * k))) * area
            for basin in (1, 2, 3):
                self.assertEqual(values[f"basin {basin} level {k + 1}"], bits_of(float(of_basin[basin])))
            self.assertEqual(values[f"level {k + 1}"], bits_of(float(sum(of_basin[1:]))))
            whole += sum(of_basin[1:])
            if k == 0:
                wet = sum(area for i, j, area in cells if (i + j) % 4)
                self.assertEqual(values["mean"], bits_of(float(sum(of_basin[1:]) / wet)))
        self.assertEqual(values["budget"], bits_of(float(whole)))

    def test_every_rank_gets_the_error(self):
        for name, (_, errors) in self.of("sums").items():
            self.assertEqual(errors.count("cannot give guarantee 'layout' in this layout"), RANKS, f"{name}:\n{errors}")


def setUpModule():
    if not os.environ.get("STEADFOLD_BUILD") or not WRAPPER:
        print("skipped: STEADFOLD_BUILD is not set, point it to a finished build")
        raise unittest.SkipTest("STEADFOLD_BUILD is not set")


if __name__ == "__main__":
    unittest.main()
