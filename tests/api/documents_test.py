"""The pages for users keep their word: their C++ is a whole program, which compiles without warnings, or a quotation of
an example, which has those very lines; what the page about methods says of compiler flags is what they do here; links
lead somewhere, and to the answers of all questions in two clicks."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIELDS = ("climate", "solvers", "phylogenetics")
PAGES = [ROOT / "docs" / f"{name}.md" for name in ("methods", *FIELDS, *(f"tutorials/{field}" for field in FIELDS))]
EVERY_PAGE = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
COMPILER = os.environ["STEADFOLD_CXX"]
LIBRARY = os.environ["STEADFOLD_LIBRARY"]  # the directory of libsteadfold.so
INCLUDES = [word for directory in os.environ["STEADFOLD_MPI_INCLUDES"].split(":") if directory
            for word in ("-isystem", directory)]
FLAGS = ["-std=c++20", "-I", str(ROOT / "include"), *INCLUDES, "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]

QUOTATION = re.compile(r"^```\w+\n(?://|#|!) (examples/\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUESTION = re.compile(r"^\*\*\[(.*?)\]\(how_to/(\w+)\.md\)\*\*$", re.MULTILINE)  # of docs/questions.md, with its page
# Words that the answer of a page in docs/how_to must have.
ANSWERS = {
    "dot_product": r"\| `exact`, the default \| [0-9.]+",
    "tables": r"Nulls are left out",
    "tested": r"deliberate edits",
    "cite": r"CITATION\.cff",
    "platforms": r"\| Windows \|.*\n\| macOS \|",
    "failures": r"killed rank ends the job",
    "gpus": r"host's memory only",
    "threads": r"do not depend on the number of threads",
    "restart": r"\*accumulator\*",
    "replace_allreduce": r"sf::sum\(\w+, comm\)",
    "still_different": r"The elements differ",
}


def output(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def without_fences(page):
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def blocks(page):
    """Those in C++ but what ./dev surface quotes, which tests/structure compares with its examples."""
    text = re.sub(r"^<!-- examples/[^\n]*: quoted by ./dev surface -->\n.*?^<!-- end -->$", "", page.read_text(),
                  flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def programs(page):
    return [block for block in blocks(page) if "int main(" in block]


class Documents(unittest.TestCase):
    def test_programs_compile(self):
        count = 0
        in_cxx17 = ROOT / "docs/install.md"
        for page in [*PAGES, in_cxx17]:
            standard = "-std=c++17" if page == in_cxx17 else "-std=c++20"
            for program in programs(page):
                with self.subTest(page=page.name, program=program[:200]):
                    output(COMPILER, *FLAGS, standard, *WARNINGS, "-fsyntax-only", "-x", "c++", "-", input=program)
                count += 1
        self.assertGreaterEqual(count, 4)
        self.assertTrue(programs(in_cxx17))

    @unittest.skipUnless(shutil.which("mpifort"), "there is no mpifort")
    def test_programs_in_fortran_compile(self):
        names = ["shr_reprosum", "ice_reprosum", "cism_reprosum", "mpas_global_sum", "mom_coms"]  # each behind what it uses
        drop_ins = [ROOT / f"fortran/drop_ins/steadfold_{name}.f90" for name in names]
        self.assertEqual(set(drop_ins), set((ROOT / "fortran/drop_ins").glob("*.f90")))
        modules = [ROOT / "fortran/steadfold.f90", *drop_ins]
        flags = "-std=f2018", "-Wall", "-Wextra", "-Werror"
        text = "".join((ROOT / f"docs/{page}.md").read_text() for page in ("fortran", "from_shr_reprosum"))
        programs = re.findall(r"^```fortran\n((?:program|subroutine|module) .*?)^```$", text, re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(programs), 3)
        with tempfile.TemporaryDirectory() as room:
            (Path(room) / "app.f90").write_text("".join(programs))
            output("mpifort", *flags, "-fsyntax-only", *modules, "app.f90", cwd=room)

    def test_all_else_is_quoted_from_an_example(self):
        for page in PAGES:
            for block in blocks(page):
                self.assertTrue("int main(" in block or block.startswith("// examples/"),
                                f"{page.name}: neither a program nor a quotation, name its file: // examples/...\n{block}")

    def test_quotations_are_lines_of_their_examples(self):
        """Code that begins with the name of an example has its very lines, in their order, between lines of dots."""
        count = 0
        for page in EVERY_PAGE:
            for name, text in QUOTATION.findall(page.read_text()):
                source, at = (ROOT / name).read_text(), 0
                for part in re.split(r"^\s*(?://|#|!) \.\.\.\n", text, flags=re.MULTILINE):
                    self.assertIn(part, source[at:], f"{page.name}: {name} has other lines")
                    at = source.index(part, at) + len(part)
                    count += 1
        self.assertGreaterEqual(count, 20)

    def test_the_readme_is_short(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text().splitlines()), 130)

    def test_links_lead_somewhere(self):
        count = 0
        for page in EVERY_PAGE:
            for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", without_fences(page)):
                self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")
                count += 1
        self.assertGreater(count, 300)

    def reached(self, first, clicks):
        """The pages that so many clicks lead to, at most."""
        pages = {first}
        for _ in range(clicks):
            for page in list(pages):
                links = re.findall(r"\]\(([^)#:]+\.md)[^)]*\)", without_fences(page))
                pages |= {found for link in links if (found := (page.parent / link).resolve()).is_file()}
        return pages

    def test_questions_are_answered_within_two_clicks(self):
        titles = {name: title for title, name in QUESTION.findall((ROOT / "docs/questions.md").read_text())}
        self.assertEqual(set(titles), {path.stem for path in (ROOT / "docs/how_to").glob("*.md")})
        self.assertLessEqual(set(ANSWERS), set(titles))
        for first in (ROOT / "README.md", ROOT / "docs/index.md"):
            two_clicks = self.reached(first, 2)
            for name, title in titles.items():
                page = ROOT / f"docs/how_to/{name}.md"
                with self.subTest(question=title, first=first.name):
                    self.assertIn(page, two_clicks)
                    self.assertTrue(page.read_text().startswith(f"# {title}\n"))
                    self.assertRegex(page.read_text(), ANSWERS.get(name, "."))

    def test_sections_that_are_named_are_there(self):
        """Named as `[page](page.md), "Title"`, maybe cut short."""
        count = 0
        for page in EVERY_PAGE:
            for target, title in re.findall(r"\]\(([^()#:]+\.md)\),\s+\"([^\"]+)\"", without_fences(page)):
                titles = re.findall(r"^#+ (.*)$", (page.parent / target).read_text(), re.MULTILINE)
                found = [each for each in titles if each.startswith(re.sub(r"\s+", " ", title))]
                self.assertTrue(found, f"{page.name}: {target} has no section \"{title}\"")
                count += 1
        self.assertGreaterEqual(count, 15)

    def test_what_flags_do_to_the_users_half(self):
        """Bits as the page shows them; those of fused terms only where the machine has the instruction."""
        page = PAGES[0]
        [program] = programs(page)
        shown = re.findall(r"^sum ([0-9A-F]{16})\ndot ([0-9A-F]{16})$", page.read_text(), re.MULTILINE)
        self.assertEqual(len(shown), 3)
        self.assertEqual(shown[0], shown[2])
        self.assertNotEqual(shown[0][0], shown[1][0])
        cases = [("-ffp-contract=off", shown[0])]
        defined = output(COMPILER, "-march=native", "-dM", "-E", "-x", "c++", "-", input="")
        if "#define __FMA__ " in defined or "#define __ARM_FEATURE_FMA " in defined:
            cases += [("-march=native", shown[1]), ("-march=native -ffp-contract=off", shown[2])]
        for flags, bits in cases:
            with self.subTest(flags=flags), tempfile.TemporaryDirectory() as room:
                output(COMPILER, *FLAGS, "-O2", *flags.split(), "-x", "c++", "-", "-o", Path(room) / "flags",
                       "-L", LIBRARY, "-lsteadfold", f"-Wl,-rpath,{LIBRARY}", input=program)
                self.assertEqual(output(Path(room) / "flags"), "sum {}\ndot {}\n".format(*bits))


if __name__ == "__main__":
    unittest.main()
