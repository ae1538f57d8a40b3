"""The binary interface is the one that is recorded beside this file: symbols of the shared libraries (*.symbols), sizes,
offsets and values of all public types (layouts.txt), prototypes (functions.txt). What differs is shown with what it does
to programs that are compiled already. `cmake --build build/release --target record_abi` (--record) writes the record."""

import functools
import os
import platform
import sys
import tempfile
import unittest
from pathlib import Path

from compare import Difference
from interface import Headers, Library, output
from mutants import Mutants  # noqa: F401 (more tests)

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
COMPILER = os.environ["STEADFOLD_CC"]
LIBRARIES = [Library(path) for path in os.environ["STEADFOLD_SHARED_LIBRARIES"].split(":")]  # libsteadfold is the first
RECORDED_ON = "x86_64"  # sizes and offsets depend on the processor
ADVICE = """take back what breaks programs, unless no release has this SONAME yet or it becomes another
(docs/rooms/capi.md, "The binary interface"), then: cmake --build build/release --target record_abi"""


@functools.cache
def headers():
    with tempfile.TemporaryDirectory() as room:
        read = Headers(COMPILER, INCLUDE, Path(room))
        return read, {"layouts.txt": read.layouts(), "functions.txt": read.prototypes()}


def recorded(name):
    path = HERE / name
    return path.read_text().splitlines() if path.exists() else []


def recorded_symbols(library):
    return f"{library.name}.symbols"


def soname_differs():
    return LIBRARIES[0].lines()[:1] != recorded(recorded_symbols(LIBRARIES[0]))[:1]


def report(difference):
    parts = [("breaks programs that are compiled already", difference.breaks), ("harmless", difference.harmless)]
    return "\n".join([difference.text, *(f"{title}:\n  " + "\n  ".join(lines) for title, lines in parts if lines)])


class Abi(unittest.TestCase):
    def expect_recorded(self, name, found):
        difference = Difference(name, recorded(name), found, soname_differs())
        if difference.text:
            self.fail(f"{name} differs (the binary interface is not the one recorded), {ADVICE}\n{report(difference)}")

    def test_symbols(self):
        for library in LIBRARIES:
            with self.subTest(library=library.name):
                if library.name == "libsteadfold_mpi":  # of an MPI library that nobody has recorded
                    self.skipTest("no record of this MPI library")
                self.expect_recorded(recorded_symbols(library), library.lines())

    def test_types_and_macros(self):
        if platform.machine() != RECORDED_ON:
            self.skipTest(f"layouts are recorded for {RECORDED_ON}")
        self.expect_recorded("layouts.txt", headers()[1]["layouts.txt"])

    def test_functions(self):
        self.expect_recorded("functions.txt", headers()[1]["functions.txt"])

    def test_libraries_export_what_headers_declare(self):
        """Those over MPI have the same functions, and none that libsteadfold has."""
        core, *over_mpi = [{name for name, node in library.symbols() if node != "STEADFOLD_PRIVATE"} for library in LIBRARIES]
        functions = [{name for name in names if not name.startswith("sf_compiled_with_")} for names in over_mpi]
        for names in functions:
            self.assertEqual(names, functions[0])
            self.assertFalse(names & core, "in both libraries")
        self.assertEqual(core - headers()[0].to_link(), set())
        if functions:
            self.assertEqual(core | functions[0], headers()[0].to_link())

    def test_nothing_is_destroyed_at_exit(self):
        """Static objects with destructors register them: calls that come when a program ends would find them gone."""
        for library in LIBRARIES:
            with self.subTest(library=library.name):
                self.assertFalse("__cxa_atexit" in library.wanted, "make what is static a reference to an object of its own")
                self.assertTrue("__cxa_finalize" in library.wanted, "names are read as they are written")

    def test_enumerations_have_the_size_of_an_int(self):
        for standard in ("c99", "c17"):
            words = (COMPILER, f"-std={standard}", "-Wall", "-pedantic-errors", "-Werror", "-fsyntax-only", "-I", INCLUDE, "-x", "c", "-")
            source = "#include <steadfold/steadfold.h>\n"
            self.assertEqual(output(*words, input=source), "")
            with self.assertRaisesRegex(AssertionError, "sf_compile_without_short_enums"):
                output(*words, "-fshort-enums", input=source)

    def test_exports(self):
        for library in LIBRARIES:
            if faults := library.faults():
                self.fail("\n".join([library.name, *faults]))
        private = [[name for name, node in library.symbols() if node == "STEADFOLD_PRIVATE"] for library in LIBRARIES]
        self.assertEqual(private, [["sf_layer_table"], *([] for _ in LIBRARIES[1:])])  # src/capi/layer.hpp


def record():
    found = {recorded_symbols(library): library.lines() for library in LIBRARIES}
    if platform.machine() == RECORDED_ON:
        found.update(headers()[1])
    for name, lines in found.items():
        difference = Difference(name, recorded(name), lines, soname_differs())
        if difference.text:
            print(report(difference))
    for name, lines in found.items():
        (HERE / name).write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    record() if sys.argv[1:] == ["--record"] else unittest.main()
