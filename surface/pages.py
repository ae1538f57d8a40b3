"""Generates the tables in pages, and the programs that pages quote: the text between two comments that name them."""

import re
from pathlib import Path

import options
from tables import LANGUAGES, METHODS, ROOT, calls, classes, enumerations, listing, load, operations

FENCES = {".c": "c", ".cpp": "cpp", ".f90": "fortran", ".py": "python"}


def table(head, rows):
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]).replace("| --- |", "|---|").replace(
        " --- |", "---|")


def methods_of_operations():
    """A table of the methods of the operations. Operations with the same methods share a row."""
    groups = {}
    for each in operations():
        groups.setdefault(tuple(method in each.methods for method in METHODS), []).append(each.name)
    rows = [[", ".join(names), *("yes" if served else "no" for served in which)] for which, names in groups.items()]
    return table(["operation", *METHODS], rows)


def facts_of_operations():
    results = {"own": "element type", "real": "element type, real for complex", "located": "a value and its index", "statistics": "ten numbers"}
    rows = []
    for each in operations():
        takes = listing(each.takes) or "any"
        if set(each.takes) == set(classes()):
            takes = "all"
        default = each.default + (f"; {each.vectors} for one vector per rank" if each.vectors != each.default else "")
        if "integer" in each.takes and each.default != "plain":
            default += "; plain for integers"
        if "extended" in each.takes and each.default == "exact":
            default += "; tree for extended types"
        about = each.about + (f" ({each.note})" if each.note and "sf_" not in each.note else "")
        rows.append([f"`{each.name}`", about, takes, results[each.result], default, each.bits, each.empty])
    return table(["operation", "meaning", "element types", "result", "default method", "bits", "result without rows"], rows)


def types_of_classes():
    about = {entry.name: entry for each in enumerations() if each.name == "type" for entry in each.entries}
    return table(["class", "types"], [[name, listing([f"`SF_{each.upper()}` ({about[each].about})" for each in types])]
                                      for name, types in classes().items()])


def index(rows):
    """A table of tasks, with the calls of all languages side by side."""
    return table(["you want", *LANGUAGES.values()],
                 [[want, *(", ".join(f"`{name}`" for name in names[language]) for language in LANGUAGES)] for want, names in rows])


def commands():
    return table(["you want", "command"], [[each["want"], f"`{each['command']}`"] for each in load("calls.toml")["command"]])


def default_of(option):
    """The default value of an option, as its name or number in sf_call_set."""
    if option.word and option.word[1] == option.default:
        return option.word[0]
    if option.list:
        return "by operation and elements" if option.default else options.entries_of(option.list)[0].name
    if option.name == "schedule":
        return "auto"
    return {"text": "none", "guarantees": "none"}.get(option.kind, str(option.by_default or option.default or 0))


def options_of_calls():
    """A table of the options of sf_call_set, with their spelling in the languages."""
    rows = []
    for each in options.options():
        cxx, python = f"`{{.{each.name} = ...}}`" if each.cxx_type else "", f"`{each.name}=`" if each.python else ""
        if each.method:
            cxx, python = f"`sf::{each.method}({{.{each.name} = ...}})`", f"`sf.{each.method}({each.name}=...)`"
        fortran = {"": f"`{each.name}=`", "vectors": f"`{each.name}=`, not in MPI's shape"}.get(each.arguments, "")
        rows.append([f"`{each.name}`", each.about, each.values, default_of(each), cxx, fortran, python])
    return table(["option, field of `sf_call`", "meaning", "values", "default", "C++", "Fortran, in `options`", "Python"], rows)


def shifted(paragraph):
    """A paragraph without the indentation of its first line. Lines of the preprocessor have none."""
    indent = re.match(" *", paragraph)[0]
    return re.sub(rf"^{indent}", "", paragraph, flags=re.MULTILINE)


def quoted(path, part):
    """A program, or one paragraph of it: if `part` is "call", the last but one, else the paragraph that begins with a
    comment `part: ...`, without the name of the part."""
    text = (ROOT / path).read_text().rstrip()
    paragraphs = [shifted(each) for each in text.split("\n\n")]
    if part:
        named = re.compile(rf"(//|/\*|!|#) {part}: ")
        found = paragraphs[-2:-1] if part == "call" else [each for each in paragraphs if named.match(each)]
        if len(found) != 1:
            raise ValueError(f"{path} has {len(found)} paragraphs that begin with a comment `{part}: ...`, write one")
        text = named.sub(r"\1 ", found[0])
    return f"```{FENCES[Path(path).suffix]}\n{text}\n```\n"


TABLES = {
    "docs/calls.md": {"operations": lambda: index(calls()[0]), "calls": lambda: index(calls()[1]), "commands": commands, "options": options_of_calls},
    "docs/guarantees.md": {"methods": methods_of_operations, "operations": facts_of_operations, "classes": types_of_classes},
}
BEGIN, END = "<!-- {}: made by ./dev surface from surface/ -->\n", "<!-- end -->\n"
QUOTED = re.compile(r"^(<!-- (examples/[^\s,]+)(?:, (\w+))?: quoted by \./dev surface -->\n)(.*?)(^<!-- end -->$)",
                    re.MULTILINE | re.DOTALL)


def page(text, tables):
    """The text of a page with current tables and quotations."""
    for name, make in tables.items():
        begin = BEGIN.format(name)
        before, found, rest = text.partition(begin)
        if not found or END not in rest:
            raise ValueError(f"no place for '{name}': {begin}")
        text = before + begin + make() + "\n" + rest[rest.index(END):]
    text, count = QUOTED.subn(lambda found: found[1] + quoted(found[2], found[3]) + found[5], text)
    if count != text.count("quoted by ./dev surface -->"):
        raise ValueError("a quotation that is malformed or not ended, write <!-- examples/FILE, PART: quoted by ./dev surface -->, "
                         "the code, and <!-- end -->")
    return text


def pages():
    """Every page that has a table or a quotation, with its current text."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in files}
    return {path: page(text, TABLES.get(path, {})) for path, text in texts.items()
            if path in TABLES or "quoted by ./dev surface" in text}
