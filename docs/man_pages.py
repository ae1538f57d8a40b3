#!/usr/bin/env python3
"""Writes manual pages (section 3) of the C interface: man_pages.py VERSION DIRECTORY HEADER...

The text of the pages is the comments of the headers. Declarations without an empty line between them share a page:
functions, types with their members, constants. The page is named after the first function or type, and the other names
link to it. A comment describes the declarations after it, up to the next comment. The comment before the first
declaration of a header becomes a page named after the header. The page of steadfold.h, steadfold(3), lists all
functions."""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
NAME = re.compile(r"\b(?:sf_\w+|SF_[A-Z]\w+)")
# A piece of a header: an empty line, a comment, or a declaration with the comment that follows on its last line.
PIECE = re.compile(
    r"(?P<gap>\n[ \t]*(?=\n))|(?P<comment>/\*.*?\*/)|\s+|(?P<code>#[^\n]*"
    r"|(?:typedef (?:struct|enum) \w+ \{.*?\} \w+;"
    r"|[^;{]*?\)\s*\{(?:[^\n]*\}$|.*?^\})|[^;{]+;)(?:[ \t]*/\*.*?\*/)?)", re.DOTALL | re.MULTILINE)
LIBRARIES = {"steadfold_mpi": "libsteadfold_openmpi or libsteadfold_mpich (\\-lsteadfold_mpi \\-lsteadfold)"}


@dataclass
class Item:
    """A declaration without its comments. `members`: (code, comment) of each member of a struct or enum. `note`: the
    comment that follows the declaration on its line."""
    name: str
    kind: str  # function, constant, struct, enum, type
    code: str
    members: list = field(default_factory=list)
    note: str = ""


@dataclass
class Part:
    """A comment and the declarations that it describes."""
    comment: str
    items: list = field(default_factory=list)


@dataclass
class Page:
    header: str  # the name of the header without .h
    parts: list

    def items(self, *kinds):
        return [item for part in self.parts for item in part.items if not kinds or item.kind in kinds]

    def names(self):
        """All names of the page. The first is a function or a type, if there is any; the page is named after it."""
        return [item.name for item in sorted(self.items(), key=lambda item: item.kind == "constant")]


def joined(text):
    return " ".join(text.split())


def words_of(comment):
    """The lines of a comment, without the stars at their beginning."""
    return "\n".join(re.sub(r"^\s*\* ?", "", line) for line in comment[2:-2].strip().split("\n")).strip()


def said_in(text):
    return " ".join(joined(words_of(comment[0])) for comment in COMMENT.finditer(text))


def without_conditions(text):
    """The text without directives and without the lines between #if and #endif. The include guard around the whole header
    does not count as an #if."""
    kept, depth = [], 0
    for line in text.splitlines():
        depth += bool(re.match(r"#\s*if", line))
        if depth <= 1 and not re.match(r"#\s*(if|endif|include|define STEADFOLD_)", line):
            kept.append(line)
        depth -= bool(re.match(r"#\s*endif", line))
    return "\n".join(kept)


def item_of(piece):
    """The declaration in a piece of a header, as an Item; None if the piece declares nothing that users see."""
    if found := re.fullmatch(r"typedef (struct|enum) \w+ \{(.*)\} (\w+);(.*)", piece, re.DOTALL):
        kind, body, name, behind = found.groups()
        separator = ";" if kind == "struct" else ","
        member = re.compile(rf"\s*((?:[^{separator}/]|/(?!\*))+){separator}?\s*((?:/\*.*?\*/\s*)*)", re.DOTALL)
        members = [(joined(each[1]), said_in(each[2])) for each in member.finditer(body) if each[1].strip()]
        return Item(name, kind, f"typedef {kind} {name} {name};", members, said_in(behind))
    code, note = joined(COMMENT.sub(" ", piece)), said_in(piece.split("{")[0])
    code = re.sub(r"^(?:static |inline )+|\s*\{.*", "", code).rstrip(";")
    for kind, pattern in (("constant", r"#\s*define (SF_\w+) .+"), ("type", r"typedef .*\(\*(\w+)\)\(.*\)"),
                          ("type", r"typedef .*\b(\w+)"), ("function", r"[\w* ]+\b(sf_\w+)\(.*\)")):
        if found := re.fullmatch(pattern, code):
            return Item(found[1], kind, code + ";" * (kind != "constant"), note=note)
    return None


def pages_of(header, text):
    """The comments of a header that belong to no declaration, and its pages."""
    blocks = [[]]
    for piece in PIECE.finditer(without_conditions(text)):
        if piece["gap"]:
            blocks.append([])
        elif piece["comment"]:
            blocks[-1].append(Part(words_of(piece[0])))
        elif piece["code"] and (item := item_of(piece["code"])):
            blocks[-1] = blocks[-1] or [Part("")]
            blocks[-1][-1].items.append(item)
    overview, pages, waiting = [], [], []  # waiting: constants without a comment; they join the next page
    for block in filter(None, blocks):
        kinds = {item.kind for part in block for item in part.items}
        is_silent = not block[0].comment
        if not kinds:
            overview += [part.comment for part in block]
        elif is_silent and kinds == {"constant"}:
            waiting = block[0].items
        elif is_silent and "function" in kinds:  # functions without a comment join the page before
            pages[-1].parts[-1].items += block[0].items
            pages[-1].parts += block[1:]
        else:
            block[0].items[:0], waiting = waiting, []
            pages.append(Page(header, block))
    return overview, pages


def bold(code):
    return "\\fB" + code.replace("-", "\\-") + "\\fR"


class Writer:
    """Writes the manual pages of all headers. `page_of` maps every name to its page, for links."""

    def __init__(self, version, directory, headers):
        self.version, self.directory = version, directory
        self.headers = [(path.stem, *pages_of(path.stem, path.read_text())) for path in headers]
        self.page_of = {name: page for _, _, pages in self.headers for page in pages for name in page.names()}

    def prose(self, text):
        """The text as roff: names and code are bold, and names with a page get its section, "(3)"."""
        def named(found):
            has_page = found[1] in self.page_of and found[1].startswith("sf_")
            return f"\\fB{found[1]}\\fR" + ("(3)" if has_page else found[2] or "")
        text = re.sub(r"(?<![A-Za-z0-9)])-|-(?=\d)", r"\\-", text.replace("\\", "\\e"))
        text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
        text = re.sub(rf"(?<!\\fB)({NAME.pattern})(\(\))?(?!\w|\.h)", named, text)
        return re.sub(r"^([.'])", r"\\&\1", text)

    def paragraphs(self, text):
        """A comment as paragraphs in roff. Indented lines become code."""
        lines = []
        for paragraph in filter(str.strip, re.split(r"\n\s*\n", text)):
            if all(line.startswith("  ") for line in paragraph.splitlines()):
                code = re.sub(r"^  ", "", paragraph.replace("\\", "\\e").replace("-", "\\-"), flags=re.MULTILINE)
                lines += [".PP", ".in +4n", ".EX", code, ".EE", ".in"]
            else:
                lines += [".PP", self.prose(joined(paragraph))]
        return lines

    def summary(self, page, part=None):
        """The summary of a page or of a part: its first sentence, cut at the first colon or semicolon after three words."""
        text = joined((part or page.parts[0]).comment)
        if not text:
            members = [member for item in page.items() for member in item.members]
            if page.items("enum"):
                return "one of " + ", ".join(code.split(" =")[0] for code, _ in members)
            text = next((said for _, said in members if said), f"an opaque type, see {page.header}(3)")
        words = re.match(r".+?(?=(?<![\s.])\.\s|\.?$)", re.sub(r" \([^()]*\)", "", text))[0]
        words = re.match(r"(?:\S+\s+){3,}?\S+?(?=[:;]\s)|.*", words)[0]
        return self.prose((words[0] if words[1:2].isupper() else words[0].lower()) + words[1:])

    def synopsis(self, item):
        if item.members:
            end = ";" if item.kind == "struct" else ","
            members = [bold(f"    {code}{end}") for code, _ in item.members]
            return [bold(f"typedef {item.kind} {item.name} {{"), *members, bold(f"}} {item.name};")]
        if not item.code.endswith(");"):
            return [bold(item.code)]
        head, _, arguments = item.code[:-1].rpartition("(")
        lines = [head + "("]
        for argument in arguments.replace(", ", ",\n").split("\n"):
            if len(re.sub(r"\\f.", "", lines[-1] + argument)) > 72:
                lines.append("   ")
            shown = re.sub(r"(?<=[ *])(\w+)(?=\W?$)", r"\\fI\1\\fB", argument)
            lines[-1] += shown if lines[-1].endswith("(") else " " + shown
        return [bold(line) for line in lines[:-1]] + [bold(lines[-1] + ";")]

    def description(self, page):
        lines = []
        for part in page.parts:
            if len(page.parts) > 1:
                lines.append(".SS " + ", ".join(item.name + "()" * (item.kind == "function") for item in part.items))
            lines += self.paragraphs(part.comment)
            for item in part.items:
                for code, comment in item.members:
                    lines += [".TP", bold(code), self.prose(comment) or "\\&"]
                if item.note:
                    lines += [".PP", (bold(item.name) + ": ") * (item.kind == "constant") + self.prose(item.note)]
        return lines or [".PP", self.summary(page)]

    def returned(self, page):
        lines = []
        for status in {item.code.split()[0] for item in page.items("function")} & {"sf_status", "sf_gaspi_return"}:
            lines += [".SH RETURN VALUE", self.prose(f"An {status}; if it is a failure, sf_error_text says more.")]
            for code, comment in self.page_of[status].items("enum")[0].members:
                lines += [".TP", bold(code.split(" =")[0]), self.prose(comment) or "success"]
        return lines

    def write(self, name, lines, see_also=()):
        if see_also:
            lines += [".SH SEE ALSO", " ,\n".join(f".BR {other} (3)" for other in see_also)]
        (self.directory / f"{name}.3").write_text("\n".join(lines) + "\n")

    def opening(self, names, summary, header):
        library = LIBRARIES.get(header, "libsteadfold (\\-lsteadfold)")
        return [f'.TH {names[0]} 3 "" "Steadfold {self.version}" "Steadfold Manual"', ".nh", ".ad l", ".SH NAME",
                f"{', '.join(names)} \\- {summary}", ".SH LIBRARY", library, ".SH SYNOPSIS", ".nf",
                bold(f"#include <steadfold/{header}.h>")]

    def write_page(self, page):
        names = page.names()
        lines = self.opening(names, self.summary(page), page.header)
        for item in page.items():
            lines += [".PP", *self.synopsis(item)]
        lines += [".fi", ".SH DESCRIPTION", *self.description(page), *self.returned(page)]
        said = set(NAME.findall("\n".join(lines))) & set(self.page_of) - set(names)
        self.write(names[0], lines, [*sorted(name for name in said if name.startswith("sf_")), page.header])
        for other in names[1:]:
            self.write(other, [f".so man3/{names[0]}.3"])

    def listed(self, headers, title, kinds):
        """Returns a section with one list per C header: all items of `kinds`, with their summaries."""
        lines = []
        for header, _, pages in headers:
            lines += [f".SS <steadfold/{header}.h>"] * (len(headers) > 1)
            for page, part in ((page, part) for page in pages for part in page.parts):
                if names := [f"{bold(item.name)}(3)" for item in part.items if item.kind in kinds]:
                    lines += [".TP", ", ".join(names), self.summary(page, part)]
        return [".SH " + title] * bool(lines) + lines

    def write_overview(self, header, overview, pages):
        words = re.sub(r"^Steadfold: ", "", joined(overview[0])).split(". ")[0].rstrip(".")
        lines = [*self.opening([header], self.prose(words), header), ".fi", ".SH DESCRIPTION"]
        lines += self.paragraphs("\n\n".join(overview))
        headers = self.headers if header == "steadfold" else [(header, overview, pages)]
        lines += self.listed(headers, "FUNCTIONS", ["function"])
        lines += self.listed(headers, "TYPES", ["struct", "enum", "type"])
        self.write(header, lines, [each for each, _, _ in self.headers if each != header])


def main():
    version, directory = sys.argv[1], Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*.3"):
        old.unlink()
    writer = Writer(version, directory, [Path(name) for name in sys.argv[3:]])
    for header, overview, pages in writer.headers:
        writer.write_overview(header, overview, pages)
        for page in pages:
            writer.write_page(page)


if __name__ == "__main__":
    main()
