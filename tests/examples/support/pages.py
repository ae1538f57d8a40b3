"""The commands of pages: blocks marked ```console, with lines `$ command` and the output below each. A line `...` there
stands for any lines. A comment <!-- not run: reason --> before a block leaves it out.

Commands are typed one after the other in one shell, which keeps what is exported. Each begins in a folder that looks like
the project's after ./dev build, but keeps to itself what is written there."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from . import ENVIRONMENT, MPIRUN

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "docs/site"))

from markdown import replace_tabs  # noqa: E402

BUILD = os.environ.get("STEADFOLD_BUILD")
PYTHON = os.environ.get("STEADFOLD_PYTHON")  # with NumPy and mpi4py; unset: the Python package is not built
WRAPPERS = {"mpicc": os.environ.get("STEADFOLD_MPICC"), "mpicxx": os.environ.get("STEADFOLD_MPICXX")}
BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>[^\n]*?) -->\n+)?^```console\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "@@ command {} ended with {}"


class Typed(NamedTuple):
    command: str
    shown: list  # lines that the page shows below the command
    printed: list  # lines that it prints
    status: int


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


def commands_of(text):
    """The commands of all blocks that are not left out."""
    return [command for reason, commands in blocks(text) if reason is None for command in commands]


def read_in(name, text, language):
    """The page as a reader of one language reads it: without the tabs of the others."""
    return replace_tabs(name, text, lambda tabs: tabs.get(language, ""))


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


def type_commands(name, commands, files=()):
    """Types pairs of a command and what the page shows, in a room with `files`, pairs of a name and a text. Yields a Typed
    of each. Raises AssertionError, with the name of the page, if the shell ends within a command."""
    text = ["exec 2>&1"]
    for i, (command, _) in enumerate(commands):
        text += ["cd $HOME", command, f"printf '\\n{MARK.format(i, '%d')}\\n' $?"]
    with tempfile.TemporaryDirectory(prefix="pages-") as room:
        environment = room_like_the_project(Path(room))
        for file, content in files:
            (Path(room) / file).write_text(content)
        done = subprocess.run(
            ["bash", "-c", "\n".join(text)],
            cwd=room,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=600,
        )
    rest = done.stdout
    for i, (command, shown) in enumerate(commands):
        found = re.search(rf"(?s)\A(.*?)\n?\n{re.escape(MARK.format(i, ''))}(\d+)\n", "\n" + rest)
        if not found:
            raise AssertionError(f"{name} ended within: {command}\n{rest[-2000:]}")
        printed = found[1][1:].split("\n") if found[1][1:] else []
        rest = rest[found.end() - 1 :]
        yield Typed(command, shown, printed, int(found[2]))


def expect_as_shown(name, typed):
    """A command must print what the page shows, and end well unless it prints something, and all of it is shown."""
    said = f"{name}: $ {typed.command}\n"
    last = "\n".join(typed.printed[-60:])
    if not fits(typed.printed, typed.shown):
        shown = "\n".join(typed.shown)
        raise AssertionError(f"{said}prints\n{last}\nand the page shows\n{shown}")
    if typed.status != 0 and ("..." in typed.shown or not typed.shown):
        raise AssertionError(f"{said}ended with {typed.status}:\n{last}")
