#!/usr/bin/env python3
"""Builds the site: build.py, started by ./dev site. The result is build/site/index.html.

The pages of the repository are Markdown that also reads well on GitHub. This script copies the pages to build/site.pages, and
adds generated pages: of the schedules (schedules.py), of the interfaces and of the examples (reference/). Sphinx turns
them into HTML; a warning of Sphinx is an error. The site also offers the Markdown of each page, and llms.txt lists it."""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True

import reference
import schedules
import search
from links import Links
from markdown import first_sentence, replace_tabs, tab_set, title_of

HOUSE = Path(__file__).resolve().parents[2]
PAGES = HOUSE / "build/site.pages"
SITE = HOUSE / "build/site"
RELEASE = HOUSE / "build/release"
SENTENCE = "Reductions of distributed data with the same bits, every time: C++ over MPI, with C, Fortran and Python."

# The navigation: sections, and patterns for the names of their pages, in order. Every page must match a pattern, and every
# pattern a page; otherwise the build fails.
SECTIONS = {
    "Start": ["start", "install", "calls", "unmodified", "questions", "examples"],
    "Your field": ["tutorials/*", "climate", "solvers", "phylogenetics", "from_shr_reprosum", "notebooks/*"],
    "Languages": [
        "python",
        "fortran",
        "reference/cxx",
        "reference/c",
        "reference/fortran",
        "reference/python",
        "reference/command",
    ],
    "What is promised": ["guarantees", "orders", "methods", "comparison"],
    "What it costs": ["performance", "networks", "studies"],
    "How it works": ["architecture", "schedules", "transport"],
    "The project": ["support", "contributing", "code_of_conduct", "security", "policies", "changelog", "readme"],
}
# Pages that are children of another page in the navigation, in the order in which the parent links to them.
BELOW = {
    "questions": ["how_to/*"],
    "from_shr_reprosum": ["codes/*"],
    "architecture": ["rooms/README", "rooms/*"],
    "schedules": ["schedules/*"],
    "examples": ["examples/first", "examples/*"],
    **{f"reference/{language}": [f"reference/{language}/*"] for language in ("cxx", "c", "fortran", "python")},
}
# Pages of the repository that are outside docs/, and their names on the site.
ELSEWHERE = {
    f"{name}.md": f"{name.lower()}.md"
    for name in ("README", "CHANGELOG", "CONTRIBUTING", "SUPPORT", "SECURITY", "CODE_OF_CONDUCT")
}


def version():
    return re.search(r"project\(\s*\w+\s+VERSION (\S+)", (HOUSE / "CMakeLists.txt").read_text())[1]


def pages_of_repository():
    """{page of the site: file of the repository}."""
    found = [
        path for pattern in ("docs/**/*.md", "docs/**/*.ipynb", "examples/*/README.md") for path in sorted(HOUSE.glob(pattern))
    ]
    names = [str(path.relative_to(HOUSE)) for path in found if not path.is_relative_to(HOUSE / "docs/site")]
    return {re.sub(r"^docs/|(?<=^examples/)(\w+)/README(?=\.md$)", r"\1", name): name for name in names} | {
        page: name for name, page in ELSEWHERE.items()
    }


def matching(patterns, names):
    """The names that match one of the patterns, in the order of the patterns, without repetition."""
    found = []
    for pattern in patterns:
        found += [name for name in names if fnmatch.fnmatchcase(name, pattern) and name not in found]
    return found


def toctree(caption, names):
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n\n```{toctree}\n" + "\n".join([*options, "", *(f"/{name}" for name in names)]) + "\n```\n"


def navigate(pages):
    """Appends the navigation to the pages. Returns {section: names of its pages}."""
    names = [page.rpartition(".")[0] for page in pages]
    placed, sections = {"index"}, {}
    for section, patterns in SECTIONS.items():
        sections[section] = matching(patterns, names)
        placed.update(sections[section])
        if sections[section]:
            pages["index.md"] += toctree(section, sections[section])
    for parent, patterns in BELOW.items():
        text = pages.get(f"{parent}.md", "")
        below = [name for name in matching(patterns, names) if name not in placed]
        below.sort(key=lambda name: text.find(f"/{name.rpartition('/')[2]}.md") % (len(text) + 1))
        if not below:
            continue
        placed.update(below)
        pages[f"{parent}.md"] += toctree("", below)
        sections = {
            section: [each for name in of_section for each in (name, *(below if name == parent else ()))]
            for section, of_section in sections.items()
        }
    empty = [each for patterns in (*SECTIONS.values(), *BELOW.values()) for each in patterns if not matching([each], names)]
    if empty:
        raise SystemExit(
            f"the navigation names pages that are not there ({', '.join(empty)}), take them out of docs/site/build.py"
        )
    lost = [name for name in names if name not in placed and not name.startswith("source/")]
    if lost:
        raise SystemExit(f"pages that no section has ({', '.join(lost)}), name them in SECTIONS or BELOW of docs/site/build.py")
    return sections


def write_pages():
    """Writes all pages below build/site.pages. Returns their texts without navigation, and the sections with their pages."""
    shutil.rmtree(PAGES, ignore_errors=True)
    copied = pages_of_repository()
    made = {
        **reference.pages(HOUSE, RELEASE),
        **reference.pages_of_examples(HOUSE),
        **schedules.pages(RELEASE / "bin/steadfold", HOUSE, PAGES),
    }
    links = Links(HOUSE, {name: page for page, name in copied.items()}, made, PAGES)
    texts = {page: reference.with_links((HOUSE / name).read_text(), made) for page, name in copied.items()}
    pages = {page: links.rewritten(name, page, texts[page]) for page, name in copied.items()}
    pages |= {page: links.rewritten(f"docs/{page}", page, text) for page, text in made.items() if page not in copied}
    pages |= links.sources()
    plain = dict(pages)
    sections = navigate(pages)
    for page, text in pages.items():
        (PAGES / page).parent.mkdir(parents=True, exist_ok=True)
        try:
            (PAGES / page).write_text(replace_tabs(page, text, tab_set))
        except ValueError as error:
            links.faults.append(str(error))
    if links.faults:
        raise SystemExit("\n".join(links.faults))
    return plain, sections


def environment():
    """The environment of Sphinx and of the notebooks. The paths begin with the programs and the Python package of the
    build."""
    return {
        **os.environ,
        "STEADFOLD_VERSION": version(),
        "PATH": f"{RELEASE / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(RELEASE / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "STEADFOLD_HOUSE": str(HOUSE),
    }


def build():
    shutil.rmtree(SITE, ignore_errors=True)
    options = ["-b", "html", "-q", "-W", "--keep-going", "-n", "-j", "auto"]
    folders = ["-c", HOUSE / "docs/site", "-d", HOUSE / "build/site.doctrees", PAGES, SITE]
    if subprocess.run([sys.executable, "-m", "sphinx", *options, *folders], env=environment()).returncode != 0:
        raise SystemExit("the site has faults (see above), mend the pages: each stands below build/site.pages as Sphinx saw it")


def write_markdown(plain, sections):
    """Writes the Markdown of each page beside its HTML, and llms.txt in the format of llmstxt.org."""
    lines = ["# Steadfold", "", f"> {SENTENCE}", ""]
    for section, names in sections.items():
        if not names:
            continue
        lines += [f"## {section}", ""]
        for name in names:
            page = next(page for page in (f"{name}.md", f"{name}.ipynb") if page in plain)
            text = plain[page] if page.endswith(".md") else prose_of(json.loads(plain[page]))
            lines.append(f"- [{title_of(text)}]({page}): {first_sentence(text)}")
        lines.append("")
    (SITE / "llms.txt").write_text("\n".join(lines))
    for page, text in plain.items():
        (SITE / page).write_text(text)


def prose_of(notebook):
    return "\n\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")


def main():
    before = time.monotonic()
    plain, sections = write_pages()
    build()
    write_markdown(plain, sections)
    search.write(SITE)
    files = [path for path in SITE.rglob("*") if path.is_file()]
    print(
        f"{len(plain)} pages, {len(files)} files, {sum(path.stat().st_size for path in files) / 2**20:.1f} MiB, "
        f"{time.monotonic() - before:.0f} s: {SITE / 'index.html'}"
    )


if __name__ == "__main__":
    main()
