"""The tables as objects, with what is left out filled in; and how texts are wrapped."""

import textwrap
import tomllib
from pathlib import Path
from types import SimpleNamespace

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
WIDTH = 120
METHODS = ("tree", "exact", "binned", "plain")
TERMS = ("elements", "absolute values", "squares", "products", "conjugated products")
DEFAULTS = {
    "note": "", "operands": "elements", "result": "own", "terms": "elements", "alias": "", "fortran": None, "python": None,
    "doc": "",
}


def load(name):
    with (FOLDER / name).open("rb") as file:
        return tomllib.load(file)


def operations():
    rows = []
    for number, given in enumerate(load("operations.toml")["operation"]):
        name = given["name"]
        row = {**DEFAULTS, "number": number, "words": name.replace("_", " "), "combines": name, "cxx": [name],
               "vectors": given["default"], **given}
        row = SimpleNamespace(**row)
        row.bundle = given.get("bundle", row.cxx)
        row.c = f"SF_{name.upper()}"
        unknown = set(given) - set(vars(row)) - {"bundle"}
        if unknown or set(row.methods) - set(METHODS) or row.terms not in TERMS:
            raise ValueError(f"operation {name}: {unknown or row.methods or row.terms} is unknown")
        rows.append(row)
    return rows


def enumerations():
    """The types are those of C; the operations stand among them as they stand in C's list of lists."""
    listed = []
    for given in load("enumerations.toml")["enumeration"]:
        entries = [SimpleNamespace(**{"note": "", "alias": "", **each}) for each in given["entries"]]
        listed.append(SimpleNamespace(**{"are_bits": False, "unlisted": [], **given, "entries": entries}))
    own = SimpleNamespace(name="operation", doc="How elements are combined.", are_bits=False, unlisted=[], entries=operations())
    listed.insert(2, own)
    return listed


def plural(enumeration):
    return "statuses" if enumeration.name == "status" else enumeration.name + "s"


def classes():
    """The types of each class, by name."""
    types = next(each for each in enumerations() if each.name == "type")
    found = {}
    for entry in types.entries:
        if hasattr(entry, "class"):
            found.setdefault(getattr(entry, "class"), []).append(entry.name)
    return found


def listing(words, last="and"):
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""


def wrapped(text, first, others=None, end="", width=WIDTH):
    """Lines of a comment."""
    others = first if others is None else others
    lines = textwrap.wrap(text + end, width, initial_indent=first, subsequent_indent=others, break_long_words=False,
                          break_on_hyphens=False)
    return "\n".join(lines)
