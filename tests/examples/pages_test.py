"""What pages say to type is typed, and prints what they say; support/pages.py says which blocks these are. The blocks of a
page run one after the other in one shell."""

import re
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import MPIRUN
from support.pages import BUILD, PYTHON, ROOT, blocks, commands_of, expect_as_shown, fits, read_in, type_commands

PAGES = [
    ROOT / "README.md",
    *(ROOT / f"docs/{name}.md" for name in ("index", "start", "questions", "comparison", "python")),
    *sorted((ROOT / "docs/how_to").glob("*.md")),
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
]


class Pages(unittest.TestCase):
    def test_commands_print_what_pages_say(self):
        ran, left_out = 0, []
        for page in PAGES:
            left_out += [f"{page.name}: {reason}" for reason, _ in blocks(page.read_text()) if reason is not None]
            commands = commands_of(page.read_text())
            if not PYTHON and any("python" in command for command, _ in commands):
                left_out.append(f"{page.name}: the Python package is not built")
                continue
            if commands:
                with self.subTest(page=page.name):
                    self.run_page(page, commands)
                ran += len(commands)
        print(f"{ran} commands ran; not run: {len(left_out)}", *left_out, sep="\n  ")
        self.assertGreaterEqual(ran, 50 if PYTHON else 20)

    def run_page(self, page, commands):
        for typed in type_commands(page.name, commands):
            expect_as_shown(page.name, typed)

    def test_what_a_shell_runs_is_marked(self):
        """Blocks of commands are `console`, so that they run here, or say that they set up the reader's own shell."""
        for page in PAGES[1:]:
            for language, text in re.findall(r"^```(sh|bash|shell)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
                self.assertRegex(
                    text, r"\A(export|source) [^\n]*\n\Z", f"{page.name}: mark this block as console, not {language}"
                )

    def test_output_that_differs_is_seen(self):
        self.assertTrue(fits(["a", "b", "c"], ["a", "...", "c"]))
        self.assertTrue(fits([], ["..."]))
        for printed, shown in (
            (["a"], []),
            ([], ["a"]),
            (["a", "b"], ["a"]),
            (["b", "a"], ["...", "b"]),
            (["a", "c"], ["a", "...", "b"]),
        ):
            self.assertFalse(fits(printed, shown))
        text = "<!-- not run: slow -->\n```console\n$ a\n```\n```console\n$ b \\\n  c\n1\n$ d\n```\n"
        self.assertEqual(list(blocks(text)), [("slow", [("a", [])]), (None, [("b \\\n  c", ["1"]), ("d", [])])])
        with self.assertRaises(AssertionError):
            self.run_page(PAGES[0], [("echo 1", ["2"])])
        with self.assertRaises(AssertionError):
            self.run_page(PAGES[0], [("false", ["..."])])

    def test_a_reader_of_one_language_skips_the_others(self):
        text = "a\n<!-- tabs -->\n**C++**\n\nb\n**C**\n\nc\n<!-- end of tabs -->\nd\n"
        self.assertEqual(read_in("page.md", text, "C++").split(), ["a", "b", "d"])
        self.assertEqual(read_in("page.md", text, "Fortran").split(), ["a", "d"])


def setUpModule():
    if not BUILD or not MPIRUN or not shutil.which("bash"):
        print("skipped: STEADFOLD_BUILD is not set, point it to a finished build")
        raise unittest.SkipTest("STEADFOLD_BUILD is not set")


if __name__ == "__main__":
    unittest.main()
