"""Three readers go through the pages for them, from the README on, in one shell each: a modeller who writes Fortran, a
developer of solvers who writes C++, and a data scientist who writes Python. What they type is what the pages say
(support/pages.py), after `./dev build`. All see the same bits, which `math.fsum` computes without Steadfold."""

import math
import os
import re
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import MPIRUN, bits, bits_of
from support.pages import BUILD, PYTHON, ROOT, commands_of, expect_as_shown, read_in, type_commands

README = "README.md"
JOURNEYS = {
    "Fortran": (README, "docs/start.md", "docs/tutorials/climate.md", "docs/fortran.md"),
    "C++": (README, "docs/start.md", "docs/tutorials/solvers.md", "docs/questions.md", "docs/how_to/restart.md"),
    "Python": (README, "docs/start.md", "docs/python.md", "docs/questions.md", "docs/how_to/element_order.md"),
}
SUM = bits_of(math.fsum(1 / i for i in range(1, 1001)))  # of 1, 1/2, ..., 1/1000
DIGEST = re.compile(r"^digest +([0-9A-F]{16})$")
SAID = re.compile(r"^sum (\S+) \(should be \S+\)$|^(0x1\.\w+p[+-]\d+)(?: 0x1\.\w+p[+-]\d+)*$")
LINK = re.compile(r"\]\(([^)#:]+)")


def first_program(readme):
    """The README's program, its name, and the line that compiles and starts it, which is its first comment."""
    program = re.search(r"^## A first program$.*?^```cpp\n(// .*?)^```$", readme, re.MULTILINE | re.DOTALL)[1]
    line = program.splitlines()[0].removeprefix("// ")
    return program, re.search(r"\S+\.cpp", line)[0], line


def installation(readme):
    """The README's lines that install what `./dev build` has built."""
    block = re.search(r"^```\n(\./dev run .*?)^```$", readme, re.MULTILINE | re.DOTALL)[1]
    lines = [line.partition("  #")[0].strip() for line in block.splitlines()]
    return [line for line in lines if not line.startswith("./dev ")]


class Journeys(unittest.TestCase):
    def go(self, language):
        pages = {name: (ROOT / name).read_text() for name in JOURNEYS[language]}
        self.expect_links(pages)
        commands, files = [], []
        for name, text in pages.items():
            commands += [(command, shown, name) for command, shown in commands_of(read_in(name, text, language))]
            if name == README:
                commands += [(line, ["..."], name) for line in installation(text)]
                if language == "C++":
                    program, file, line = first_program(text)
                    files.append((file, program))
                    commands.append((line, ["..."], name))
        printed = []
        for typed, (*_, name) in zip(type_commands(language, [each[:2] for each in commands], files), commands, strict=True):
            expect_as_shown(name, typed)
            printed += typed.printed
        self.expect_bits(printed)
        print(f"{language}: {len(commands)} commands of {', '.join(pages)}")

    def expect_links(self, pages):
        """Each page is linked from one before it."""
        linked = set()
        for name, text in pages.items():
            self.assertTrue(name == README or name in linked, f"no page before {name} links to it")
            linked |= {os.path.normpath(os.path.join(os.path.dirname(name), link)) for link in LINK.findall(text)}

    def expect_bits(self, printed):
        digests = {found[1] for line in printed if (found := DIGEST.match(line))}
        self.assertEqual(len(digests), 1, "the digests of `steadfold doctor`")
        sums = [bits(found[1] or found[2]) for line in printed if (found := SAID.match(line))]
        self.assertIn(SUM, sums)

    def test_a_modeller_in_fortran(self):
        if not shutil.which("gfortran"):
            self.skipTest("there is no gfortran")
        self.go("Fortran")

    def test_a_developer_of_solvers_in_cxx(self):
        self.go("C++")

    def test_a_data_scientist_in_python(self):
        if not PYTHON:
            self.skipTest("the Python package is not built")
        self.go("Python")


def setUpModule():
    if not BUILD or not MPIRUN or not shutil.which("bash"):
        print("skipped: STEADFOLD_BUILD is not set, point it to a finished build")
        raise unittest.SkipTest("STEADFOLD_BUILD is not set")


if __name__ == "__main__":
    unittest.main()
