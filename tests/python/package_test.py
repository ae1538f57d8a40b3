"""The Python package as users get it: a source distribution, a wheel made of it over an installed Steadfold, and that wheel
in a virtual environment of its own, alone and under the launcher of every MPI library.

Nothing is downloaded: NumPy and mpi4py are those of the Python that runs this. With STEADFOLD_FULL=1 a wheel is also
built as `pip install .` does it, the whole library included, with what pip downloads."""

import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import run_paths  # noqa: E402
from commands import output, run  # noqa: E402

BUILD = Path(os.environ["STEADFOLD_BUILD"])
SOURCE = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
LAUNCHERS = {name: os.environ[f"STEADFOLD_MPIRUN_{name.upper()}"] for name in ("openmpi", "mpich")
             if f"STEADFOLD_MPIRUN_{name.upper()}" in os.environ}  # fmt: skip
LAYERS = sorted([*LAUNCHERS, *(["mpi_abi"] if (BUILD / "archive" / "libsteadfold_mpi_abi.a").exists() else [])])
os.environ.pop("PYTHONPATH", None)  # where the package is in the build directory
VERSION = re.search(r"PROJECT_VERSION:STATIC=(.+)", (BUILD / "CMakeCache.txt").read_text())[1]
DISTRIBUTIONS_PYTHON = "/usr/bin/python3"
RANKS = 3
SECONDS = 60  # after which ranks hang

# Run on every rank; rank 0 prints a line for each. Most of the sum cancels, so any change of order shows.
SUMS = """
import math, os, re
import numpy as np
from mpi4py import MPI
import steadfold as sf
rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
random = np.random.default_rng(7)
x = random.standard_normal(3000) * 10.0 ** random.integers(-20, 20, 3000)
x = random.permutation(np.concatenate([x, -x[:2000], random.standard_normal(1000)]))
mine = np.ascontiguousarray(x[rank::ranks])
value = sf.sum(mine, comm=MPI.COMM_WORLD)
plain = MPI.COMM_WORLD.allreduce(float(np.sum(mine)))
libraries = {os.path.realpath(line.split()[-1]) for line in open("/proc/self/maps")
             if re.search(r"/libmpi(ch)?[.]so", line)}
said = MPI.COMM_WORLD.gather([ranks, value == math.fsum(x), plain == math.fsum(x), *libraries])
for line in said or []:
    print(*line)
"""
REFUSED = """
import numpy as np
from mpi4py import MPI
import steadfold as sf
text = "no error"
try:
    sf.sum(np.ones(3), comm=MPI.COMM_WORLD)
except ImportError as error:
    text = str(error)
said = MPI.COMM_WORLD.gather(text)
print(*said or [], sep="\\n", end="")
"""
DOCTESTS = """
import doctest, importlib, importlib.util, os, pkgutil
import steadfold
left_out = {"_core", "_openmpi", "_mpich", "_mpi_abi", "__main__"}
left_out |= {name for name in ("dask", "duckdb", "polars") if importlib.util.find_spec(name) is None}
if not any(name.endswith(".duckdb_extension") for name in os.listdir(steadfold.__path__[0])):
    left_out.add("duckdb")  # this build has no extension for it
names = [found.name for found in pkgutil.iter_modules(steadfold.__path__) if found.name not in left_out]
attempted = 0
for name in ["steadfold", *("steadfold." + each for each in names)]:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0, name
    attempted += result.attempted
print(attempted)
"""


def has(python, *modules):
    return run(python, "-c", f"import {', '.join(modules)}").returncode == 0


def tag(python):
    return output(python, "-c", "import sysconfig; print(sysconfig.get_config_var('SOABI'))").strip()


def files_of(*directories):
    found = itertools.chain(*((SOURCE / name).rglob("*") for name in directories))
    return {str(path.relative_to(SOURCE)) for path in found if path.is_file() and path.parent.name != "__pycache__"}


@unittest.skipUnless(has(PYTHON, "scikit_build_core", "nanobind", "numpy"),
                     f"{PYTHON} lacks scikit-build-core, nanobind or NumPy (was there no network?)")  # fmt: skip
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = Path(tempfile.mkdtemp(prefix="steadfold-"))
        cls.addClassCleanup(shutil.rmtree, cls.room)
        cls.installed = cls.room / "prefix"
        output("cmake", "--install", BUILD, "--prefix", cls.installed)
        cls.sources = cls.sdist()
        cls.wheel = cls.wheel_over(cls.installed)
        cls.package = cls.room / "only"  # the package alone, for any Python
        with zipfile.ZipFile(cls.wheel) as wheel:
            wheel.extractall(cls.package)
        (cls.installed).rename(cls.room / "gone")  # the package must not need it
        cls.python = cls.environment()

    @classmethod
    def sdist(cls):
        output(PYTHON, "-c", "import sys; from scikit_build_core import build; build.build_sdist(sys.argv[1])", cls.room, cwd=SOURCE)
        return cls.room / f"steadfold-{VERSION}.tar.gz"

    @classmethod
    def wheel_over(cls, prefix):
        words = [PYTHON, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", cls.room,
                 cls.sources, "-C", f"cmake.define.STEADFOLD_INSTALLED={prefix}",
                 "-C", "cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0"]  # fmt: skip (nothing is measured)
        if shutil.which("ccache"):
            words += ["-C", "cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        output(*words, env={**os.environ, "CCACHE_NOHASHDIR": "1", "CCACHE_BASEDIR": str(cls.room), "TMPDIR": str(cls.room)})
        return next(cls.room.glob(f"steadfold-{VERSION}-*.whl"))

    @classmethod
    def environment(cls):
        """A virtual environment with the wheel, and behind it the packages of PYTHON. Returns its Python."""
        place = cls.room / "environment"
        output(PYTHON, "-m", "venv", "--without-pip", place)
        python = place / "bin/python"
        output(PYTHON, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", cls.wheel)
        packages = "import sysconfig; print(sysconfig.get_path('platlib'))"
        own = Path(output(python, "-c", packages).strip())
        (own / "others.pth").write_text(output(PYTHON, "-c", packages))
        return python

    def python_says(self, text, *more, python=None, **environment):
        return output(python or self.python, "-c", text, *more, cwd=self.room, env={**os.environ, **environment})

    def ranks_say(self, name, text, python=None, **environment):
        """The lines that rank 0 prints, one for each rank."""
        script = self.room / "script.py"
        script.write_text(text)
        done = run(LAUNCHERS[name], "-n", RANKS, python or self.python, "-B", script, cwd=self.room,
                   env={**os.environ, **self.for_mpi4py(name), **environment, "MPIEXEC_TIMEOUT": str(SECONDS)})  # fmt: skip
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, RANKS), done.stdout + done.stderr)
        return done.stdout.splitlines()

    def for_mpi4py(self, name):
        """Wheels of mpi4py look for MPICH as libmpi.so.12, which Debian calls libmpich.so.12."""
        if name != "mpich":
            return {}
        links = self.room / "links"
        links.mkdir(exist_ok=True)
        found = re.search(r"libmpich[.]so[.]12 .*=> (.+)", output("/sbin/ldconfig", "-p"))
        if found and not (links / "libmpi.so.12").is_symlink():
            (links / "libmpi.so.12").symlink_to(found[1])
        return {"LD_LIBRARY_PATH": f"{links}:{os.environ.get('LD_LIBRARY_PATH', '')}", "MPI4PY_MPIABI": "mpich"}

    def expect_sums(self, name, **more):
        for rank, said in enumerate(self.ranks_say(name, SUMS, **more)):
            ranks, same, plain_same, *libraries = said.split()
            self.assertEqual((ranks, same, plain_same), (str(RANKS), "True", "False"), rank)
            self.assertEqual(len(libraries), 1, f"the MPI libraries of rank {rank}: {libraries}")
            self.assertEqual("mpich" in Path(libraries[0]).name, name == "mpich", libraries)

    def test_the_source_distribution_has_what_is_needed(self):
        with tarfile.open(self.sources) as sources:
            found = {member.name.partition("/")[2] for member in sources if member.isfile()}
        alone = {"pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "PKG-INFO"}
        self.assertEqual(found, files_of("cmake", "include", "src", "python", "duckdb", "program/doctor", "vectors") | alone)
        self.assertLess(self.sources.stat().st_size, 2_000_000)

    def test_run_paths(self):
        count, faults = run_paths.faults_in(self.package)
        self.assertGreaterEqual(count, 3)
        self.assertEqual(faults, [])

    def test_what_the_wheel_holds(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            names = [name.partition("/")[2] for name in wheel.namelist() if name.startswith("steadfold/")]
            metadata = wheel.read(f"steadfold-{VERSION}.dist-info/METADATA").decode()
            texts = {name: wheel.read(name) for name in wheel.namelist()}
        layers = [f"_{name}.so" for name in LAYERS]
        shared = [f"_core.{tag(PYTHON)}.so", f"libsteadfold.so.{'.'.join(VERSION.split('.')[:2])}", *layers]
        sources = [Path(name).name for name in files_of("python/steadfold")]
        extension = ["steadfold.duckdb_extension"] if (BUILD / "lib" / "steadfold.duckdb_extension").exists() else []
        self.assertEqual(sorted(names), sorted([*shared, *extension, *sources, *files_of("vectors")]))
        for line in (f"Version: {VERSION}", "License-Expression: Apache-2.0", "Requires-Dist: numpy>=1.22", "Provides-Extra: mpi",
                     "Provides-Extra: dask"):  # fmt: skip
            self.assertIn(line, metadata.splitlines())
        for name, text in texts.items():
            for place in (BUILD, self.installed, SOURCE / "python"):
                self.assertNotIn(str(place).encode(), text, name)

    def test_only_libsteadfold_is_looked_for_beside_the_extension(self):
        for path in (self.package / "steadfold").glob("*.so*"):
            entries = output("readelf", "-d", path)
            needed = set(re.findall(r"NEEDED.*\[(.+?)\]", entries))
            self.assertFalse([name for name in needed if re.match("lib(mpi|open-)", name)], path)
            self.assertEqual(re.findall(r"R(?:UN)?PATH.*\[(.+?)\]", entries), ["$ORIGIN"])

    def test_vectors(self):
        ran = run(self.python, "-m", "steadfold", "vectors", "--json", cwd=self.room)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        found = [each["file"].partition("site-packages/steadfold/")[2] for each in json.loads(ran.stdout)["files"]]
        self.assertEqual(found, sorted(files_of("vectors")))

    def test_sums(self):
        said = self.python_says("""if True:
            import math, numpy as np, steadfold as sf
            random = np.random.default_rng(5)
            x = random.standard_normal(4096) * 10.0 ** random.integers(-30, 30, 4096)
            exact = math.fsum(x)
            print(sf.__file__, sf.__version__, [float(sf.sum(y)) == exact for y in (x, x[::-1], x.reshape(64, 64).T)],
                  len({float(np.sum(y)) for y in (x, x[::-1], random.permutation(x))}) > 1, sep="|")
        """)
        file, version, same, plain_differs = said.strip().split("|")
        self.assertIn(str(self.room), file)
        self.assertEqual((version, same, plain_differs), (VERSION, "[True, True, True]", "True"))

    def test_doctests_of_the_installed_package(self):
        self.assertGreater(int(self.python_says(DOCTESTS).split()[-1]), 3)

    def test_info(self):
        told = output(self.python, "-m", "steadfold", "info", cwd=self.room)
        self.assertEqual(told, self.python_says("import steadfold; steadfold.show_config()"))
        self.assertRegex(told, rf"version: +{re.escape(VERSION)}\n")
        self.assertRegex(told, f"mpi layers: +{', '.join(LAYERS)}\n")
        self.assertNotEqual(run(self.python, "-m", "steadfold", "nothing", cwd=self.room).returncode, 0)

    def test_under_every_launcher(self):
        if not has(PYTHON, "mpi4py"):
            self.skipTest(f"{PYTHON} lacks mpi4py (was there no network?)")
        binaries = output(PYTHON, "-c", "import mpi4py, os; print(*os.listdir(os.path.dirname(mpi4py.__file__)))")
        for name in LAUNCHERS:
            if f"MPI.{name}." not in binaries:
                self.skipTest(f"mpi4py has no binary for {name} (it is not the wheel of PyPI, or has another name)")
            with self.subTest(library=name):
                self.expect_sums(name)

    def test_under_the_distributions_python(self):
        if "openmpi" not in LAUNCHERS or not has(DISTRIBUTIONS_PYTHON, "numpy", "mpi4py"):
            self.skipTest(f"{DISTRIBUTIONS_PYTHON} lacks NumPy or mpi4py over Open MPI, install python3-mpi4py")
        if tag(DISTRIBUTIONS_PYTHON) != tag(PYTHON):
            self.skipTest(f"{DISTRIBUTIONS_PYTHON} is another version than {PYTHON}, for which the wheel was built")
        self.expect_sums("openmpi", python=DISTRIBUTIONS_PYTHON, PYTHONPATH=str(self.package))

    @unittest.skipUnless(LAUNCHERS, "the package is built without MPI")
    def test_without_a_fitting_layer_all_ranks_are_told(self):
        if not has(PYTHON, "mpi4py"):
            self.skipTest(f"{PYTHON} lacks mpi4py (was there no network?)")
        name = next(iter(LAUNCHERS))
        without = self.room / "without"
        shutil.copytree(self.package, without)
        (without / f"steadfold/_{name}.so").unlink()
        others = ", ".join(each for each in LAYERS if each != name) or "none"
        for text in self.ranks_say(name, REFUSED, PYTHONPATH=str(without)):
            self.assertRegex(text, f"^mpi4py has loaded .* no MPI layer .it has {others}., install steadfold where ")


if os.environ.get("STEADFOLD_FULL"):

    class WholeLibrary(unittest.TestCase):
        """pip wheel in isolation: the library, and what is needed to build it, downloaded."""

        def test_pip_install(self):
            room = Path(tempfile.mkdtemp(prefix="steadfold-"))
            self.addCleanup(shutil.rmtree, room)
            output(sys.executable, "-m", "venv", room / "new")
            pip = [room / "new/bin/python", "-m", "pip", "--quiet"]
            if run(*pip, "download", "--no-deps", "--dest", room, "packaging").returncode != 0:
                self.skipTest("pip downloads nothing here (no network)")
            ccache = ["-C", "cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
            words = [*pip, "install", *ccache, "-C", f"build-dir={room}/build", "steadfold[mpi,dask] @ " + SOURCE.as_uri()]
            done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=3000)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(run_paths.faults_in(room / "new/lib")[1], [])
            said = output(room / "new/bin/python", "-c", "import steadfold as sf, dask, mpi4py; print(sf.fsum([1e300, 1, -1e300]))", cwd=room)
            self.assertEqual(float(said), math.fsum([1e300, 1, -1e300]))


if __name__ == "__main__":
    unittest.main()
