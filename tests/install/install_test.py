"""Installs the tree, moves it, and builds and runs clients against it the ways users do: find_package and pkg-config,
C, C++20 and C++17, shared and static, every MPI library."""

import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import run_paths  # noqa: E402
from commands import output  # noqa: E402

BUILD = Path(os.environ["STEADFOLD_BUILD"])
SOURCE = Path(__file__).resolve().parents[2]
PROJECT = Path(__file__).resolve().parent / "project"
CONFIGURE = ["cmake", "-G", "Ninja", "-S", PROJECT]
# name -> (wrapper of the C compiler, launcher)
LIBRARIES = {n: (w, r) for n, w, r in (line.split("=") for line in os.environ["STEADFOLD_LIBRARIES"].split(","))}
FORTRAN_PROJECT = Path(__file__).resolve().parent / "fortran"
FORTRAN = (BUILD / "archive" / "libsteadfold_fortran.a").exists()
KINDS = [f"{language}_{kind}" for language in ("c", "cpp") for kind in ("shared", "static")]
FIRST = next(iter(LIBRARIES))


def kinds_for(name):
    """All for one MPI library, each language and each way to link for the others."""
    return KINDS if name == FIRST else ["c_shared", "cpp_static"]


# What a library defines and those compiled with its mpi.h refer to.
LINKS = {
    "openmpi": "sf_compiled_with_open_mpi_so_link_libsteadfold_openmpi",
    "mpich": "sf_compiled_with_mpich_so_link_libsteadfold_mpich",
    "mpi_abi": "sf_compiled_with_the_mpi_abi_so_link_libsteadfold_mpi_abi",
    "mpi": "sf_compiled_with_another_mpi_so_link_its_libsteadfold_mpi",
}
DROPPING = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
SUM = math.fsum(1.0 / (i + 1) for i in range(1000))


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = Path(tempfile.mkdtemp(prefix="steadfold-"))
        cls.addClassCleanup(shutil.rmtree, cls.room)
        output("cmake", "--install", BUILD, "--prefix", cls.room / "first")
        cls.prefix = cls.room / "moved here"
        (cls.room / "first").rename(cls.prefix)
        cls.version = re.search(r"PROJECT_VERSION:STATIC=(.+)", (BUILD / "CMakeCache.txt").read_text())[1]

    def library(self, name):
        return next(self.prefix.glob(f"lib*/**/{name}"))

    def compiler(self, name, language):
        """The words that compile C or C++ with the mpi.h of that MPI library, and link it."""
        wrapper = LIBRARIES[name][0]
        return [wrapper, "-std=c99"] if language == "c" else [wrapper.replace("mpicc", "mpicxx"), "-std=c++20"]

    def shared(self, name):
        place = self.library(f"libsteadfold_{name}.so").parent
        return [f"-L{place}", f"-lsteadfold_{name}", "-lsteadfold", f"-Wl,-rpath,{place}"]

    def static(self, name):
        [package] = self.prefix.rglob("steadfold-static.pc")
        [needed] = re.findall(r"^Libs: .*-l:libsteadfold\.a(.*)$", package.read_text(), re.MULTILINE)
        return [self.library(f"libsteadfold_{name}.a"), self.library("libsteadfold.a"), *needed.split()]

    def expect_result(self, name, program):
        for ranks in (1, 3):
            with self.subTest(program=program.name, ranks=ranks):
                version, value = output(LIBRARIES[name][1], "-n", ranks, program).split()
                self.assertEqual((version, float.fromhex(value)), (self.version, SUM))

    def test_names_no_place_of_the_build(self):
        names = [str(place).encode() for place in (BUILD, SOURCE / "src", SOURCE / "include", self.room / "first")]
        files = [path for path in self.prefix.rglob("*") if path.is_file()]
        self.assertGreater(len(files), 20)
        for path in files:
            found = [name for name in names if name in path.read_bytes()]
            self.assertFalse(found, path)

    def test_the_interposer_is_found_beside_the_command(self):
        """And its layers beside it, in a place without a space, at which LD_PRELOAD would part it."""
        place = self.room / "without_a_space"
        shutil.copytree(self.prefix, place, symlinks=True)
        for name, (_, mpirun) in LIBRARIES.items():
            if not (place / f"bin/steadfold.{name}").exists():
                continue
            command = place / f"bin/steadfold.{name}"
            ran = subprocess.run([command, "run", "--", mpirun, "-n", "2", command, "info", "--json"], capture_output=True,
                                 text=True, timeout=60)  # fmt: skip
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("steadfold: the reductions of rank 0 of 2.", ran.stderr)
            ran = subprocess.run([self.prefix / f"bin/steadfold.{name}", "run", "--", "true"], capture_output=True, text=True)
            self.assertEqual(ran.returncode, 2)
            self.assertIn("cannot be preloaded (LD_PRELOAD separates names at spaces and colons), install Steadfold in a directory without them", ran.stderr)

    def test_run_paths(self):
        """Nothing is looked for in the directory that somebody happens to be in."""
        for folder, least in ((self.prefix, 4), (BUILD, 20)):
            count, faults = run_paths.faults_in(folder)
            self.assertGreaterEqual(count, least, folder)
            self.assertEqual(faults, [])

    def test_what_another_mpi_compiled_does_not_link(self):
        nothing = self.room / "nothing.c"  # is called in it
        nothing.write_text("#include <steadfold/steadfold_mpi.h>\nint main(void) { return 0; }\n")
        cases = [(nothing, DROPPING), (nothing, ["-O2", "-flto", *DROPPING]), (PROJECT / "client.c", ["-O2"]),
                 (PROJECT / "client.cpp", [])]  # fmt: skip
        for (source, flags), name in itertools.product(cases, LIBRARIES):
            compiler = [*self.compiler(name, source.suffix[1:]), "-Wall", "-Wextra", "-Wpedantic", "-Werror", *flags]
            output(*compiler, "-isystem", self.prefix / "include", "-c", source, "-o", self.room / "one.o")
            for other in LIBRARIES:
                for libraries in (self.shared(other), self.static(other)):
                    words = [*compiler, self.room / "one.o", "-o", self.room / "linked", *libraries]
                    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
                    with self.subTest(source=source.name, flags=flags, compiled=name, libraries=libraries):
                        self.assertEqual(done.returncode == 0, name == other, done.stderr)
                        self.assertEqual(LINKS[name] in done.stderr, name != other, done.stderr)

    def test_the_compile_lines_of_the_page(self):
        """For both MPI libraries, without CMake and pkg-config; programs are found what they are linked with."""
        lines = re.findall(r"^mpicxx.* -lsteadfold_mpi .*$", (SOURCE / "docs/install.md").read_text(), re.MULTILINE)
        self.assertEqual(len(lines), 2)
        (self.room / "app.cpp").symlink_to(PROJECT / "client.cpp")
        (self.room / "DIRECTORY").symlink_to(self.prefix)
        for name in LIBRARIES:
            line = next(each for each in lines if ("mpich" in each) == (name == "mpich" and "openmpi" in LIBRARIES))
            words = line.replace(line.split()[0], self.compiler(name, "cpp")[0])
            words = words.replace("DIRECTORY/lib", f"DIRECTORY/{self.library('libsteadfold.a').parent.name}")
            output("sh", "-c", f"{words.replace('rpath,', 'rpath,$PWD/')} -o page_{name}", cwd=self.room)
            self.expect_result(name, self.room / f"page_{name}")

    def test_documentation(self):
        told = re.search(r"`(share/doc/\S+)/`", (SOURCE / "docs/install.md").read_text())[1]
        for name in ("README.md", "LICENSE", "docs/install.md"):
            self.assertEqual((self.prefix / told / name).read_bytes(), (SOURCE / name).read_bytes())

    def test_manual_pages(self):
        pages = {path.name: path.read_text() for path in (self.prefix / "share/man/man3").glob("*.3")}
        self.assertGreater(len(pages), 100)
        self.assertIn(f'"Steadfold {self.version}"', pages["sf_plan_run.3"])
        self.assertIn("reduces the rows", pages["sf_plan_run.3"])
        self.assertEqual(pages["sf_plan_wait.3"], ".so man3/sf_plan_start.3\n")

    def test_commands(self):
        numbers = self.room / "numbers.raw"
        numbers.write_bytes(bytes(8000))
        for name in LIBRARIES:
            command = self.prefix / "bin" / f"steadfold.{name}"
            self.assertEqual(output(command, "--version").split(), ["steadfold", self.version])
            told = output(command, "verify", numbers, "--format", "raw", "--ranks", "1,3")
            self.assertEqual(told.splitlines()[-1], "Every method that promises the same bits gave the same bits: binned, exact, tree.")
            vectors = json.loads(output(command, "vectors", "--json"))["files"]
            self.assertEqual({str(Path(each["file"]).parent) for each in vectors}, {str(self.prefix / "share/steadfold/vectors")})
            self.assertEqual([each["wrong"] for each in vectors], [[]] * len(vectors))
        self.assertEqual(output(self.prefix / "bin/steadfold", "--version").split()[1], self.version)

    def test_find_package(self):
        for name, (wrapper, _) in LIBRARIES.items():
            place = self.room / f"build_{name}"
            output(*CONFIGURE, "-B", place, f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCOMPONENT={name}",
                   f"-DMPI_C_COMPILER={wrapper}", "-DCMAKE_BUILD_TYPE=Debug")
            kinds = [*kinds_for(name), *(["cpp17_shared"] if name == FIRST else [])]
            output("cmake", "--build", place, "--parallel", "2", "--target", *kinds)
            for kind in kinds:
                self.expect_result(name, place / kind)

    def test_as_a_part_of_another_project(self):
        """By add_subdirectory, as FetchContent does: the libraries, optimised, and nothing that changes the other project."""
        place = self.room / "part"
        name, wrapper = FIRST, LIBRARIES[FIRST][0]
        output(*CONFIGURE, "-B", place, f"-DSTEADFOLD_SOURCE={SOURCE}", f"-DSTEADFOLD_MPI_WRAPPERS={wrapper}")
        cache = (place / "CMakeCache.txt").read_text()
        self.assertIn("\nCMAKE_BUILD_TYPE:STRING=\n", cache)
        self.assertFalse([line for line in cache.splitlines() if re.match("CPACK_|BUILD_TESTING|CMAKE_INSTALL_.*DIR:", line)])
        told = output("ninja", "-C", place, "-t", "targets", "all")
        theirs = re.compile("steadfold|^cmake_|_cache$|^all$|[.]ninja$|^CMakeCache[.]txt$|^(c|cpp|cpp17)_(shared|static)$")
        own = [target for target in re.findall(r"^([\w.+-]+): phony$", told, re.MULTILINE) if not theirs.search(target)]
        self.assertEqual(own, [], "targets whose names may be another's")
        commands = output("ninja", "-C", place, "-t", "commands", "c_shared")
        self.assertRegex(commands, r"-O3 -DNDEBUG .*/src/kernels/fold[.]cpp")
        self.assertNotRegex(commands, r"-O\d .*/project/client[.]c")
        if os.environ.get("STEADFOLD_FULL"):
            output("cmake", "--build", place, "--parallel", "2", "--target", *KINDS)
            for kind in KINDS:
                self.expect_result(name, place / kind)

    def test_find_package_refuses_another_mpi(self):
        for name, (wrapper, _) in LIBRARIES.items():
            for other in {"openmpi", "mpich"} - {name}:
                words = [*CONFIGURE, "-B", self.room / f"refused_{name}", f"-DCOMPONENT={other}",
                         f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DMPI_C_COMPILER={wrapper}"]
                done = subprocess.run(words, capture_output=True, text=True)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"the MPI library found is {name}", " ".join(done.stderr.split()))

    def test_pkg_config(self):
        # pkg-config would have to quote the blank in the prefix, and compilers' command lines are split at blanks.
        plain = self.room / "plain"
        plain.symlink_to(self.prefix)
        config = self.library("steadfold.pc").parent.relative_to(self.prefix)
        environment = {**os.environ, "PKG_CONFIG_PATH": str(plain / config)}
        for name in LIBRARIES:
            for kind in kinds_for(name):
                language, linked = kind.split("_")
                package = f"steadfold-{name}" + ("-static" if linked == "static" else "")
                flags = output("pkg-config", "--cflags", "--libs", package, env=environment).split()
                libraries = output("pkg-config", "--variable=libdir", package, env=environment).strip()
                program = self.room / f"{name}_{kind}"
                output(*self.compiler(name, language), PROJECT / f"client.{language}", "-o", program, *flags, f"-Wl,-rpath,{libraries}")
                self.expect_result(name, program)
                needed = output("readelf", "-d", program)
                self.assertEqual("libsteadfold" in needed, linked == "shared", kind)

    def expect_fortran(self, name, program):
        for ranks in (1, 3):
            with self.subTest(program=program, ranks=ranks):
                version, value = output(LIBRARIES[name][1], "-n", ranks, program).split()
                self.assertEqual((version, float(value)), (self.version, SUM))

    @unittest.skipUnless(FORTRAN, "there is no Fortran compiler whose array descriptors the library reads")
    def test_fortran_by_cmake(self):
        for name, (wrapper, _) in LIBRARIES.items():
            place = self.room / f"fortran_{name}"
            output("cmake", "-G", "Ninja", "-S", FORTRAN_PROJECT, "-B", place, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DMPI_C_COMPILER={wrapper}", f"-DMPI_Fortran_COMPILER={wrapper.replace('mpicc', 'mpifort')}")
            output("cmake", "--build", place)
            self.expect_fortran(name, place / "client")

    @unittest.skipUnless(FORTRAN, "there is no Fortran compiler whose array descriptors the library reads")
    def test_the_compile_lines_of_the_fortran_pages(self):
        files = ("examples/first/sum.f90", "docs/from_shr_reprosum.md")
        lines = [re.search(r"^(?:! )?(mpifort .*)$", (SOURCE / file).read_text(), re.MULTILINE)[1] for file in files]
        plain = self.room / "plain_fortran"
        plain.symlink_to(self.prefix)
        config = self.library("steadfold.pc").parent.relative_to(self.prefix)
        environment = {**os.environ, "PKG_CONFIG_PATH": str(plain / config)}
        for name, (wrapper, _) in LIBRARIES.items():
            for line in lines:
                words = line.replace("mpifort", wrapper.replace("mpicc", "mpifort")).replace("steadfold-openmpi", f"steadfold-{name}")
                program = self.room / f"app_{name}"
                words = re.sub(r"\b(?:app|sum)\.f90", str(FORTRAN_PROJECT / "client.f90"), words)
                words = re.sub(r"-o (?:app|sum)\b", f"-o {program}", words)
                output("sh", "-c", words, cwd=self.room, env=environment)
                self.expect_fortran(name, program)


if __name__ == "__main__":
    unittest.main()
