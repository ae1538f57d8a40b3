"""Reads the tables as objects, with default values filled in; and wraps texts."""

import textwrap
import tomllib
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
WIDTH = 120
TERMS = ("elements", "absolute values", "squares", "products", "conjugated products")
CLASSES = ("real", "integer", "narrow", "complex", "extended")
# The names of the languages in docs/calls.md; for C++ and Python with the prefix of the names.
LANGUAGES = {"cxx": "C++, `sf::`", "c": "C", "fortran": "Fortran", "python": "Python, `sf.`"}


@lru_cache
def load(name):
    with (FOLDER / name).open("rb") as file:
        return tomllib.load(file)


# `automatic` and the methods, in the order of their numbers.
NUMBERED_METHODS = next([entry["name"] for entry in each["entries"]] for each in load("enumerations.toml")["enumeration"] if each["name"] == "method")
# The methods, in the order in which they are shown: `plain`, which promises the least, is the last.
METHODS = tuple(sorted(NUMBERED_METHODS[1:], key=lambda name: name == "plain"))
# The keys of an operation, each with its allowed values, or None if any value is allowed.
KNOWN = {
    "name": None, "about": None, "note": None, "words": None, "combines": None, "bits": None, "empty": None, "alias": None,
    "cxx": None, "bundle": None, "doc": None, "second": None, "fortran": None, "python": None, "by_hand": None, "terms": TERMS, "takes": CLASSES,
    "sums": ("one", "several"), "methods": METHODS, "default": METHODS, "vectors": METHODS, "operands": ("elements", "factors", "mask", "operator"),
    "result": ("own", "real", "located", "statistics"),
}
DEFAULTS = {
    "note": "", "operands": "elements", "result": "own", "terms": "elements", "alias": "", "fortran": None, "python": None,
    "doc": "", "second": "y", "sums": "one", "by_hand": {},
}


def operations():
    rows = []
    for number, given in enumerate(load("operations.toml")["operation"]):
        name = given["name"]
        row = {**DEFAULTS, "number": number, "words": name.replace("_", " "), "combines": name, "cxx": [name],
               "vectors": given["default"], **given}
        row = SimpleNamespace(**row)
        row.bundle = given.get("bundle", row.cxx)
        row.c = f"SF_{name.upper()}"
        for key in given:
            known = KNOWN.get(key)
            values = given[key] if isinstance(given[key], list) else [given[key]]
            if key not in KNOWN or (known and not set(values) <= set(known)):
                raise ValueError(f"operation {name} has {key} = {given[key]!r} ({'there is no such key' if key not in KNOWN else known})")
        rows.append(row)
    return rows


def calls_of(operation):
    """The calls of each language that make an operation; empty if there is none."""
    made = {"cxx": (operation.bundle or operation.cxx)[:1], "c": [operation.c],
            "fortran": [f"sf_{operation.fortran['name']}"] if operation.fortran else [],
            "python": [operation.python["name"]] if operation.python else []}
    return made | {language: given if isinstance(given, list) else [given] for language, given in operation.by_hand.items()}


def calls():
    """Tasks and the calls for them in each language: those of operations, and those of calls.toml."""
    wants = [(each.about, calls_of(each)) for each in operations()]
    return wants, [(given["want"], {language: given.get(language, []) for language in LANGUAGES}) for given in load("calls.toml")["call"]]


def enumerations():
    """The enumerations of C, the operations included, in the order of C's sf_list."""
    listed = []
    for given in load("enumerations.toml")["enumeration"]:
        entries = [SimpleNamespace(**{"note": "", "alias": "", **each}) for each in given["entries"]]
        listed.append(SimpleNamespace(**{"are_bits": False, "unlisted": [], **given, "entries": entries}))
    own = SimpleNamespace(name="operation", doc="The operation that combines the elements.", are_bits=False, unlisted=[], entries=operations())
    listed.insert(2, own)
    return listed


def plural(enumeration):
    return "statuses" if enumeration.name == "status" else enumeration.name + "s"


def classes():
    """The types of each class, by the name of the class."""
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
    lines = textwrap.wrap(text + end.replace(" ", "\0"), width, initial_indent=first, subsequent_indent=others,
                          break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")
