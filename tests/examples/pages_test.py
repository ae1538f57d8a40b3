"""What pages say to type is typed, and prints what they say: blocks marked ```console, with lines `$ command` and the output
below each. A line `...` there stands for any lines. A comment <!-- not run: reason --> before a block leaves it out.

The blocks of a page run one after the other in one shell, which keeps what is exported. Every command begins in a folder that
looks like the project's after ./dev build, but keeps to itself what is written there. A command must end well, unless it
prints something, and all of it is shown."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import ENVIRONMENT, MPIRUN

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get("STEADFOLD_BUILD")
PYTHON = os.environ.get("STEADFOLD_PYTHON")  # with NumPy and mpi4py; unset: the Python package is not built
WRAPPERS = {"mpicc": os.environ.get("STEADFOLD_MPICC"), "mpicxx": os.environ.get("STEADFOLD_MPICXX")}
PAGES = [
    ROOT / "README.md",
    *(ROOT / f"docs/{name}.md" for name in ("index", "start", "questions", "comparison")),
    *sorted((ROOT / "docs/how_to").glob("*.md")),
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
]
BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>[^\n]*?) -->\n+)?^```console\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """Pairs: why a block is left out (None: it is not), and its commands with what they print."""
    for found in BLOCK.finditer(text):
        commands = []
        for line in found["text"].splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif commands and commands[-1][0].endswith("\\"):
                commands[-1] = (commands[-1][0] + "\n" + line, [])
            elif commands:
                commands[-1][1].append(line)
            else:
                raise ValueError(f"a block begins with '{line}' (it is no command), write `$ ` before it")
        yield found["reason"], commands


def fits(printed, shown):
    """Whether the lines printed are those shown, where `...` stands for any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(fits(printed[i:], shown[1:]) for i in range(len(printed) + 1))
    return bool(printed) and printed[0].rstrip() == shown[0].rstrip() and fits(printed[1:], shown[1:])


def script(path, *lines):
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


def room_like_the_project(room):
    """Fills a folder with links to the project and the build; returns the environment of its commands."""
    for path in ROOT.iterdir():
        if path.name not in ("build", ".git"):
            (room / path.name).symlink_to(path)
    (room / "build").mkdir()
    (room / "build/release").symlink_to(BUILD)
    for name in ("bin", "lib", "mpich"):
        if (Path(BUILD) / name).exists():
            (room / "build" / name).symlink_to(Path(BUILD) / name)
    tools = room / "build/tools"
    tools.mkdir()
    script(tools / "mpirun", f'exec {MPIRUN} "$@"')
    for name, wrapper in WRAPPERS.items():
        if wrapper:
            script(tools / name, f'exec {wrapper} "$@"')
    if PYTHON:
        script(tools / "python3", f'exec {PYTHON} "$@"')
    path = f"{room / 'build/bin'}:{tools}:{os.environ['PATH']}"
    return {
        **ENVIRONMENT,
        "PATH": path,
        "HOME": str(room),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMPI_MCA_orte_tmpdir_base": str(room),
    }


class Pages(unittest.TestCase):
    def test_commands_print_what_pages_say(self):
        ran, left_out = 0, []
        for page in PAGES:
            kept = [commands for reason, commands in blocks(page.read_text()) if reason is None]
            left_out += [f"{page.name}: {reason}" for reason, _ in blocks(page.read_text()) if reason is not None]
            commands = [command for block in kept for command in block]
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
        mark = "@@ command {} ended with {}"
        text = ["exec 2>&1"]
        for i, (command, _) in enumerate(commands):
            text += ["cd $HOME", command, f"printf '\\n{mark.format(i, '%d')}\\n' $?"]
        with tempfile.TemporaryDirectory(prefix="pages-") as room:
            environment = room_like_the_project(Path(room))
            done = subprocess.run(
                ["bash", "-c", "\n".join(text)],
                cwd=room,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
                timeout=300,
            )
        rest = done.stdout
        for i, (command, shown) in enumerate(commands):
            found = re.search(rf"(?s)\A(.*?)\n?\n{re.escape(mark.format(i, ''))}(\d+)\n", "\n" + rest)
            self.assertTrue(found, f"{page.name} ended within: {command}\n{rest[-2000:]}")
            printed, status = found[1][1:].split("\n") if found[1][1:] else [], int(found[2])
            rest = rest[found.end() - 1 :]
            self.assertTrue(
                fits(printed, shown),
                f"{page.name}: $ {command}\nprints\n{chr(10).join(printed[-60:])}\nand the page shows\n{chr(10).join(shown)}",
            )
            if "..." in shown or not shown:
                self.assertEqual(status, 0, f"{page.name}: $ {command}\nended with {status}:\n{chr(10).join(printed[-60:])}")

    def test_programs_are_quoted_as_they_are(self):
        """Code that begins with the name of an example has its very lines, in their order, between lines of dots."""
        count = 0
        for page in PAGES:
            for name, text in re.findall(
                r"^```\w+\n(?://|#|!) (examples/\S+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL
            ):
                source, at = (ROOT / name).read_text(), 0
                for part in re.split(r"^\s*(?://|#|!) \.\.\.\n", text, flags=re.MULTILINE):
                    self.assertIn(part, source[at:], f"{page.name}: {name} has other lines")
                    at = source.index(part, at) + len(part)
                    count += 1
        self.assertGreaterEqual(count, 10)

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


def setUpModule():
    if not BUILD or not MPIRUN or not shutil.which("bash"):
        print("skipped: STEADFOLD_BUILD is not set, point it to a finished build")
        raise unittest.SkipTest("STEADFOLD_BUILD is not set")


if __name__ == "__main__":
    unittest.main()
