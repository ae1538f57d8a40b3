"""Makes the reference pages of the site: of the C++, C, Fortran and Python interfaces from the comments in their sources, of
the command from its help, and of the examples."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

from links import quoted
from markdown import first_sentence, spans_of_code, table, title_of

sys.path.append(str(Path(__file__).resolve().parents[3] / "surface"))

from . import c, cxx, fortran, python  # noqa: E402
from .entries import completed, split, with_links  # noqa: E402, F401


def overview(title, words, below):
    """A page that lists the pages below it, and their entries."""
    parts = [f"# {title}", words]
    for page, text in below.items():
        rows = [
            [f"[{entry.heading.lstrip('# ')}]({entry.place.removeprefix('reference/')})", first_sentence(entry.text)]
            for entry in split(page, text)[1]
            if entry.heading.startswith("## ")
        ]
        title = f"## [{title_of(text)}]({page.removeprefix('reference/')})"
        parts += [title, first_sentence(text), table(["entry", "what it is"], rows)]
    return "\n\n".join(parts) + "\n"


def with_pages(text):
    """Turns the names of pages in comments, such as docs/methods.md, into links."""
    spans = spans_of_code(text)
    return re.sub(
        r"\bdocs/(\w+)\.md",
        lambda found: (
            found[0] if any(begin <= found.start() < end for begin, end in spans) else f"[{found[0]}](../../{found[1]}.md)"
        ),
        text,
    )


def command(release):
    """The page with the output of `steadfold --help` and of each subcommand's `--help`."""

    def help_of(*words):
        program = [str(release / "bin/steadfold"), *words, "--help"]
        return subprocess.run(program, capture_output=True, text=True, check=True).stdout

    text = help_of()
    names = re.findall(r"^  (\w[\w-]*) ", text.partition("Subcommands:\n")[2].partition("\n\n")[0], re.MULTILINE)
    opening = (
        "# The command\n\nThis page has every option of `steadfold`. It is the output of `steadfold --help` and "
        "`steadfold SUBCOMMAND --help`."
    )
    parts = [f"## steadfold {name}\n\n{of_help(help_of(name))}" for name in names]
    return "\n\n".join([opening, of_help(text), *parts]) + "\n"


def of_help(text):
    """Returns a help text as Markdown: lists become tables, and examples become code."""
    head, *lists = re.split(r"^(?=\w+:$)", text, flags=re.MULTILINE)
    usage, parts = re.search(r"^Usage: (.*)$", head, re.MULTILINE)[1], [head.splitlines()[0].rstrip(".") + "."]
    parts.append(f"```text\n{usage}\n```")
    for each in lists:
        title, body = each.split("\n", 1)
        if title == "Examples:":
            parts.append(f"```text\n{textwrap.dedent(body).strip()}\n```")
            continue
        rows = [
            [f"`{found[1].strip()}`", c.words(" ".join(found[2].split()))]
            for found in re.finditer(r"^  (\S.*?)(?:  |\n {20,})((?:.|\n(?=  {20,}))*)$", body, re.MULTILINE)
        ]
        parts.append(table([title.rstrip(":"), ""], rows))
    return "\n\n".join(parts)


INTERFACES = (
    (
        cxx,
        "C++ interface",
        "Every function and class of C++, by header. Programs include `steadfold/steadfold.hpp` (one process), "
        "`steadfold/mpi.hpp` (MPI) or another of these headers, and link the library. To find a call by its purpose, see "
        "[the list of calls](../calls.md).",
    ),
    (
        c,
        "C interface",
        "Every function, type and constant of C, by header. Manual pages have the same text: `man sf_reduce`. "
        "To find a call by its purpose, see [the list of calls](../calls.md).",
    ),
    (
        fortran,
        "Fortran interface",
        "Every procedure and type of the module `steadfold`, by subject. [Steadfold from Fortran](../fortran.md) explains "
        "them.",
    ),
    (
        python,
        "Python interface",
        "Every function and class of the package, by subject. [Steadfold from Python](../python.md) explains them.",
    ),
)


def pages(house, release):
    made = {"reference/command.md": command(release)}
    for module, title, words in INTERFACES:
        language = module.__name__.rpartition(".")[2]
        found = {page: with_pages(text) for page, text in module.pages(house, release).items()}
        below = completed(house, language, found)
        made |= {f"reference/{language}.md": overview(title, words, below), **below}
    return made


def pages_of_examples(house):
    """A page that lists the examples, and a page for each example without a README, which shows its sources."""
    made, rows = {}, []
    folders = [path for path in (house / "examples").iterdir() if path.is_dir() and path.name != "common"]
    for folder in sorted(folders, key=lambda path: (path.name != "first", path.name)):
        readme = folder / "README.md"
        text = readme.read_text() if readme.exists() else page_of_example(house, folder)
        if not readme.exists():
            made[f"examples/{folder.name}.md"] = text
        place = f"../examples/{folder.name}" if readme.exists() else f"examples/{folder.name}.md"
        rows.append([f"[{title_of(text)}]({place})", first_sentence(text)])
    opening = "# Examples\n\nPrograms to read and to run; `./dev build` makes them.\n\n"
    return {**made, "examples.md": f"{opening}{table(['program', 'what it shows'], rows)}\n"}


def page_of_example(house, folder):
    files = sorted(path for path in folder.iterdir() if path.suffix in (".c", ".cpp", ".f90", ".py"))
    title, words = folder.name, f"One program in {files[0].name}."
    if folder.name == "first":
        title = "First programs"
        words = (
            "The first programs, with at most 30 lines each. The first line of a program says how to compile or start it. "
            "Each program prints the bits that you should get."
        )
    sources = [f"## {path.name}\n\n{quoted(house, path.relative_to(house))}" for path in files]
    return "\n\n".join([f"# {title}", words, *sources]) + "\n"
