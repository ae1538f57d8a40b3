"""Works on the entries of reference pages. An entry begins with a heading below the title and ends before the next
heading. Its heading has one or several names. This file adds examples to entries, and turns the names in docs/calls.md
into links to them."""

import re
from dataclasses import dataclass
from textwrap import dedent

from markdown import CODE_SPAN, first_sentence, without_code
from tables import LANGUAGES

HEADING = re.compile(r"^(##+) (.*)$", re.MULTILINE)
# The programs of examples/calls with an example of each call, and their languages as Markdown spells them. The examples of
# Python are in its docstrings.
PROGRAMS = {"cxx": ("calls.cpp", "cpp"), "c": ("calls.c", "c"), "fortran": ("calls.f90", "fortran")}
# An example begins with a comment that has only names of calls, and ends at the next empty line.
EXAMPLE = re.compile(r"^( +)(?://|/\*|!) (\w+(?:, \w+)*)(?: \*/)?\n((?:\1.*\n)+)", re.MULTILINE)
INDEX = re.compile(r"(?<=-->\n)\| you want .*?(?=<!-- end -->)", re.DOTALL)


@dataclass
class Entry:
    page: str
    heading: str  # with its # signs
    text: str

    @property
    def names(self):
        return re.sub(r"[`\\#]", "", self.heading).strip().split(", ")

    @property
    def place(self):
        """The target of links: the page, and the anchor that GitHub gives this heading."""
        words = self.heading.lstrip("# ").lower()
        return f"{self.page}#{re.sub(r'[^-_a-z0-9 ]', '', words).replace(' ', '-')}"

    @property
    def has_example(self):
        return "\n\nExample" in self.text or "```pycon\n" in self.text


def split(page, text):
    """Splits a page into the text before its first entry, and its entries."""
    found = list(HEADING.finditer(without_code(text)))
    ends = [each.start() for each in found[1:]] + [len(text)]
    entries = [Entry(page, text[each.start() : each.end()], text[each.end() : end]) for each, end in zip(found, ends)]
    return text[: found[0].start()] if found else text, entries


def examples(house, language):
    """{name of a call: Markdown that shows its example}."""
    if language not in PROGRAMS:
        return {}
    program, fence = PROGRAMS[language]
    return {
        name: f"Example, of [{program}](../../../examples/calls/{program}):\n\n```{fence}\n{dedent(lines)}```"
        for _, names, lines in EXAMPLE.findall((house / "examples/calls" / program).read_text())
        for name in names.split(", ")
    }


def completed(house, language, pages):
    """Adds the examples to the pages. It is an error if an entry has no sentence, or if an example has no entry."""
    given, faults, shown = examples(house, language), [], set()
    for page, text in pages.items():
        opening, entries = split(page, text)
        for entry in entries:
            if not first_sentence(entry.text):
                faults.append(f"{entry.place} has no sentence, write a comment where it is declared")
            for name in dict.fromkeys(given[name] for name in entry.names if name in given):
                entry.text = f"{entry.text.rstrip()}\n\n{name}\n\n"
            shown.update(entry.names)
        pages[page] = opening + "".join(entry.heading + entry.text for entry in entries)
    faults += [f"examples/calls has an example of {name}, which has no entry in {language}" for name in set(given) - shown]
    if faults:
        raise SystemExit("\n".join(faults))
    return pages


def with_links(text, made):
    """Turns the names of calls in docs/calls.md into links to their entries. It is an error if a name has no entry, or if its
    entry has no example."""
    found = {language: {} for language in (*LANGUAGES, "command")}
    for page, each in made.items():
        for language in found:
            if re.match(rf"reference/{language}[./]", page):
                for entry in split(page, each)[1]:
                    for name in entry.names:
                        found[language].setdefault(name, entry)
    faults = []

    def link(span, language):
        name = re.match(r"[\w ]+", span[0].strip("`"))[0]
        entry = found[language].get(name)
        if not entry or not (entry.has_example or language == "command"):
            faults.append(f"{name} ({language}) has no {'example in examples/calls' if entry else 'entry'}, see docs/calls.md")
            return span[0]
        return f"[{span[0]}]({entry.place})"

    def row(line, languages):
        want, *cells = line.split(" | ")
        linked = [CODE_SPAN.sub(lambda span, of=of: link(span, of), cell) for of, cell in zip(languages, cells)]
        return " | ".join([want, *linked])

    def rows(table):
        head, rule, *lines = table[0].splitlines()
        languages = ("command",) if head.endswith("| command |") else LANGUAGES
        return "\n".join([head, rule, *(row(line, languages) for line in lines), ""])

    text = INDEX.sub(rows, text)
    if faults:
        raise SystemExit("\n".join(faults))
    return text
