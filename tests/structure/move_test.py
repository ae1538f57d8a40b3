"""scripts/move.py rewrites paths in all forms in which this repository writes them, and refuses moves that lose files."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/move.py"
WORDS = ["src/ash/leaf_green.hpp", "src/oak/", "src/ash/leaf_green.cpp", "src/oak/", "src/ash/twig", "src/oak/twig",
         "src/elm/old_bark.hpp", "src/elm/new_bark.hpp", "tests/ash/probe.py", "tests/oak/deep/probe.py",
         "src/fir/root.hpp", "src/oak/", "tests/ash/near.h", "tests/oak/"]  # fmt: skip
MOVED = {
    "src/ash/leaf_green.hpp": "src/oak/leaf_green.hpp", "src/ash/leaf_green.cpp": "src/oak/leaf_green.cpp",
    "src/ash/twig/a.hpp": "src/oak/twig/a.hpp", "src/ash/twig/b.cpp": "src/oak/twig/b.cpp",
    "src/elm/old_bark.hpp": "src/elm/new_bark.hpp", "tests/ash/probe.py": "tests/oak/deep/probe.py",
    "src/fir/root.hpp": "src/oak/root.hpp", "tests/ash/near.h": "tests/oak/near.h",
}  # fmt: skip
OTHERS = ["src/ash/root.hpp", "src/ash/root.cpp", "src/elm/bud.hpp", "src/elm/bud.cpp", "tests/ash/bud.hpp", "tests/data.txt"]
# A file, a text in it, and this text after the move (None if it stays).
FORMS = [
    ("src/elm/user.cpp", '#include "elm/old_bark.hpp"\n', '#include "elm/new_bark.hpp"\n'),
    ("src/elm/user.cpp", '#define HWY_TARGET_INCLUDE "ash/leaf_green.cpp"', '#define HWY_TARGET_INCLUDE "oak/leaf_green.cpp"'),
    ("src/elm/user.cpp", "// Like ash/leaf_green, and ash/root.", "// Like oak/leaf_green, and ash/root."),
    ("src/elm/user.cpp", "// As old_bark.hpp; see bud.hpp.", "// As new_bark.hpp; see bud.hpp."),
    ("src/elm/user.cpp", "// https://page.test/ash/leaf_green.hpp", None),
    ("src/ash/twig/b.cpp", '#include "a.hpp"\n', None),
    ("src/ash/twig/b.cpp", '#include "ash/twig/a.hpp"', '#include "oak/twig/a.hpp"'),
    ("tests/ash/near.c", '#include "ash/bud.hpp"\n', None),
    ("tests/ash/near.c", '#include "fir/root.hpp"\n', '#include "oak/root.hpp"\n'),
    ("tests/ash/near.c", '#include "near.h"', '#include "oak/near.h"'),
    ("tests/ash/near.c", "// fir/NAME.hpp", "// oak/NAME.hpp"),
    ("src/CMakeLists.txt", "file(GLOB sources ash/*.cpp ash/twig/*.cpp)", "file(GLOB sources ash/*.cpp oak/twig/*.cpp)"),
    ("src/CMakeLists.txt", "set(flags ash/leaf_green.cpp elm/bud.cpp)", "set(flags oak/leaf_green.cpp elm/bud.cpp)"),
    ("src/CMakeLists.txt", "set(names ash/leaf_${kind}.hpp ${place}/leaf.hpp)", "set(names oak/leaf_${kind}.hpp ${place}/leaf.hpp)"),
    ("tests/CMakeLists.txt", "${CMAKE_CURRENT_SOURCE_DIR}/ash/probe.py", "${CMAKE_CURRENT_SOURCE_DIR}/oak/deep/probe.py"),
    ("tests/CMakeLists.txt", "${PROJECT_SOURCE_DIR}/src/elm/old_bark.hpp", "${PROJECT_SOURCE_DIR}/src/elm/new_bark.hpp"),
    ("tests/list.toml", 'file = "src/ash/twig/b.cpp"', 'file = "src/oak/twig/b.cpp"'),
    ("tests/compiled.txt", "f7398708 src/ash/leaf_green.cpp", "f7398708 src/oak/leaf_green.cpp"),
    ("tests/use.py", 'TABLE = {"src/ash/leaf_green.cpp": 7}', 'TABLE = {"src/oak/leaf_green.cpp": 7}'),
    ("tests/use.py", 'PLACE = ROOT / "src" / "ash" / "twig"', 'PLACE = ROOT / "src" / "oak" / "twig"'),
    ("tests/use.py", r'A, B = r".*/src/ash/leaf_green[.]cpp", r"elm/old_bark\.hpp"',
     r'A, B = r".*/src/oak/leaf_green[.]cpp", r"elm/new_bark\.hpp"'),
    ("tests/use.py", 'RUN = "ash/probe.py"', 'RUN = "oak/deep/probe.py"'),
    ("docs/rooms/ash.md", "**leaf_green.hpp**, root.hpp, twig/ and **ash/twig**.", "**leaf_green.hpp**, root.hpp, oak/twig/ and **oak/twig**."),
    ("docs/rooms/ash.md", "src/ash/leaf_green.{hpp,cpp} and ash/*.hpp", "src/oak/leaf_green.{hpp,cpp} and ash/*.hpp"),
    ("docs/rooms/ash.md", "[old](../../src/elm/old_bark.hpp)", "[old](../../src/elm/new_bark.hpp)"),
    ("docs/rooms/ash.md", "ash/root, leaf_green and old_bark", None),
    ("tests/ash/probe.py", "HERE = Path(__file__).parents[1]", None),
    ("tests/golden/values.txt", "src/ash/leaf_green.cpp", None),
    ("CHANGELOG.md", "Adds src/ash/leaf_green.cpp.", None),
]  # fmt: skip
if shutil.which("clang-format-16"):
    FORMS.append(("tests/elm/all.cpp", '#include "ash/leaf_green.hpp"\n#include "elm/bud.hpp"', '#include "elm/bud.hpp"\n#include "oak/leaf_green.hpp"'))
BY_HAND = [
    "  CHANGELOG.md:1: Adds src/oak/leaf_green.cpp. (history stays as it is)",
    "  docs/rooms/ash.md:2: ash/*.hpp names files that are no longer together",
    "  docs/rooms/ash.md:4: leaf_green may be src/oak/leaf_green",
    "  docs/rooms/ash.md:4: old_bark may be src/elm/new_bark",
    "  src/CMakeLists.txt:1: ash/*.cpp names files that are no longer together",
    "  tests/oak/deep/probe.py:1: the file is now at another depth",
]


class Move(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = Path(tempfile.mkdtemp(prefix="steadfold-"))
        cls.addClassCleanup(shutil.rmtree, cls.room)
        for name in {*MOVED, *OTHERS, *(name for name, _, _ in FORMS)}:
            (cls.room / name).parent.mkdir(parents=True, exist_ok=True)
            (cls.room / name).write_text("".join(text + "\n" for each, text, _ in FORMS if each == name))
        cls.git("init", "-q")
        cls.git("add", "--all")
        cls.git("-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "all")

    @classmethod
    def git(cls, *words):
        return subprocess.run(["git", *words], cwd=cls.room, capture_output=True, text=True, check=True).stdout

    def move(self, *words):
        return subprocess.run([sys.executable, "-BS", SCRIPT, *words], cwd=self.room, capture_output=True, text=True)

    def test_every_form_is_rewritten(self):
        self.addCleanup(self.git, "reset", "-q", "--hard")
        done = self.move(*WORDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        names = {*OTHERS, *(name for name, _, _ in FORMS)}
        for name in names:
            text = "".join((text if after is None else after) + "\n" for each, text, after in FORMS if each == name)
            self.assertEqual((self.room / MOVED.get(name, name)).read_text(), text, name)
        self.assertEqual(done.stdout.split("look at these by hand:\n")[1].splitlines()[:-1], BY_HAND)
        self.assertEqual(set(self.git("ls-files").splitlines()), {*MOVED.values(), *(names - MOVED.keys())})
        self.assertFalse((self.room / "src/ash/twig").exists())
        self.assertNotRegex(self.git("status", "--porcelain"), r"(?m)^.[^ ]", "a change is not staged")

    def test_a_dry_run_changes_nothing(self):
        done = self.move("--dry-run", *WORDS)
        self.assertIn("\nsrc/CMakeLists.txt:2: set(flags oak/leaf_green.cpp elm/bud.cpp)\n", done.stdout)
        self.assertEqual(self.git("status", "--porcelain"), "")

    def test_moves_that_lose_something_are_refused(self):
        self.addCleanup(self.git, "reset", "-q", "--hard")
        self.addCleanup((self.room / "new.hpp").unlink)
        for name in ("new.hpp", "src/elm/user.cpp"):
            (self.room / name).write_text('#include "elm/old_bark.hpp"\n')
        for words, message in {
            ("src/yew.hpp", "src/oak/"): "src/yew.hpp does not exist (",
            ("new.hpp", "src/oak/"): "new.hpp is not tracked (",
            ("src/ash/root.hpp", "src/elm/bud.hpp"): "src/elm/bud.hpp exists (",
            ("src/elm/bud.hpp", "oak/", "tests/ash/bud.hpp", "oak/"): "oak/bud.hpp exists (",
            ("src/ash", "src/oak", "src/ash/twig", "src/twig"): "src/ash/twig moves twice (",
            ("src/ash", "src/ash/inner"): "src/ash cannot move to src/ash/inner (",
            ("src/elm/old_bark.hpp", "src/elm/new_bark.hpp"): "src/elm/user.cpp has changes that are not committed (",
            ("src/ash/root.hpp",): "there are 1 paths (",
        }.items():
            done = self.move(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertTrue(done.stderr.startswith(message), done.stderr)
            self.assertRegex(done.stderr, r"^.+ \(.+\), .+\n$")


if __name__ == "__main__":
    unittest.main()
