"""Generates the Fortran files: the enumerations, the interfaces of functions of C, and functions that return values, in C."""

import re
from dataclasses import dataclass, field, replace
from itertools import groupby

from tables import WIDTH, enumerations, load, operations, plural, wrapped

# The kinds of each class of types: suffix, type in C, enumerator of sf_type. The suffixes are types of fortran.toml.
KINDS = {
    "real": [("f64", "double", "SF_F64"), ("f32", "float", "SF_F32")],
    "complex": [("c64", "double _Complex", "SF_COMPLEX_F64"), ("c32", "float _Complex", "SF_COMPLEX_F32")],
    "integer": [("i32", "int32_t", "SF_I32"), ("i64", "int64_t", "SF_I64")],
}
TABLE = load("fortran.toml")
ARRAYS, OTHERS = ({name: kind for kind, names in TABLE[part].items() for name in names.split(", ")} for part in ("arrays", "arguments"))


@dataclass
class Procedure:
    """A procedure of fortran.toml, or all procedures of a generic interface."""

    name: str
    arguments: str
    doc: str = ""
    forms: tuple = ("call",)
    started: str = ""
    variants: dict = field(default_factory=dict)
    plain: str = ""
    is_asynchronous: bool = False


def functions():
    """The operations that are functions, with the kinds of their elements and of their results."""
    for each in operations():
        if each.fortran is None:
            continue
        given = each.fortran
        kinds = [pair for name in given.get("kinds", [name for name in each.takes if name in ("real", "complex")])
                 for pair in zip(KINDS[name], KINDS["real"] if each.result == "real" and name == "complex" else KINDS[name])]
        yield each, given, kinds


def function(operation, given, kinds):
    names, variants = ("x", "y") if operation.operands == "factors" else ("array",), {}
    for (kind, *_), (result, *_) in kinds:
        arrays = ", ".join(f"{name}: {kind}(..) in" for name in names)
        weight = f"weight: {kind}(..) in?, " if given.get("weight") else ""
        variants[kind] = f"{arrays}, comm?, {weight}where?, options?, ierr?, layout? -> value: {result}"
    return Procedure(f"sf_{given['name']}", "{}", given.get("doc", operation.doc), variants=variants)


def in_form(form, call):
    """The procedure that starts a call, or that makes a plan of it. `request` is the last argument that is not optional."""
    name = call.name.replace("sf_", f"sf_{form}_", 1)
    if form == "plan":
        doc = f"Makes a plan of {call.name}; without `comm`, adds it to a bundle."
        return replace(call, name=name, arguments=f"plan, {call.arguments}", doc=doc, is_asynchronous=True)
    arguments = call.arguments.replace("comm?", "comm").split(", ")
    arguments.insert(sum(not each.endswith("?") for each in arguments), "request")
    doc = call.started or f"Starts the call {call.name}."
    return replace(call, name=name, arguments=", ".join(arguments), doc=doc, is_asynchronous=True)


def sections():
    """Pairs: the comment of a section, and its procedures."""
    parts = []
    for given in TABLE["section"]:
        entries = {name: each if isinstance(each, dict) else {"arguments": each} for name, each in given.items()
                   if name not in ("about", "form")}
        parts.append((given, [Procedure(name, **each) for name, each in entries.items()]))
    every = [each for _, own in parts for each in own]
    yield "", [function(*each) for each in functions()]
    for given, own in parts:
        form = given.get("form")
        first = [in_form(form, each) for each in every if form in each.forms]
        yield given.get("about", ""), first + [each for each in own if "call" in each.forms]


def declaration(argument, is_asynchronous):
    """The attributes of an argument or of a result, and its name."""
    name, _, kind = argument.removesuffix("?").partition(": ")
    place, _, passing = (kind or (ARRAYS | OTHERS)[name]).partition(" ")
    of, _, shape = place.partition("(")
    words = [TABLE["types"][of], f"dimension({shape}" if shape else ""]
    if is_asynchronous and name in ARRAYS:
        words.append("intent(inout), asynchronous, target")
    else:
        words.append(f"intent({passing})" if passing in ("in", "out", "inout") else passing)
    words.append("optional" if argument.endswith("?") else "")
    return ", ".join(filter(None, words)), name


def body(name, in_c, arguments, is_asynchronous):
    """The interface of one procedure."""
    given, _, result = arguments.partition("-> ")
    declared = [declaration(each, is_asynchronous) for each in given.strip().split(", ") if each]
    kind, bound = "function" if result else "subroutine", f'bind(c,\0name="{in_c}")'
    head = f"{kind} {name}({', '.join(each for _, each in declared)}) {bound}"
    if result:
        declared.append(declaration(result, is_asynchronous))
        head += f"\0result({declared[-1][1]})"
    imported = sorted(set(re.findall(r"\b(?:c|sf)_\w+", " ".join(words for words, _ in declared))))
    lines = [wrapped(head, "    ", "      ", width=WIDTH - 2).replace("\n", " &\n"), f"      import :: {', '.join(imported)}"]
    for words, group in groupby(declared, lambda each: each[0]):
        lines.append(f"      {words} :: {', '.join(each for _, each in group)}")
    return [*lines, f"    end {kind}"]


def name_in_c(name):
    return TABLE["names"].get(name, f"sf_fortran_{name.partition('_')[2]}")


def plain(each):
    """A procedure within an interface that has no name."""
    comment = [wrapped(each.doc, "    ! ")] if each.doc else []
    return [*comment, *body(each.name, name_in_c(each.name), each.arguments, each.is_asynchronous)]


def generic(each):
    text = [wrapped(each.doc, "  ! "), f"  interface {each.name}"]
    for variant, arguments in each.variants.items():
        name = f"{each.name}_{variant}"
        in_c = name_in_c(each.name if variant == each.plain else name)
        text += body(name, in_c, each.arguments.format(arguments), each.is_asynchronous)
    return [*text, "  end interface\n"]


def section(about, procedures):
    """Interfaces. Procedures that are neighbours share an interface, unless they are generic."""
    text = ["\n  !\n".join(wrapped(part, "  ! ") for part in about.split("\n\n"))] if about else []
    for are_generic, group in groupby(procedures, lambda each: bool(each.variants)):
        if are_generic:
            text += [line for each in group for line in generic(each)]
        else:
            text += ["  interface", *(line for each in group for line in plain(each)), "  end interface\n"]
    return text


def lines_of(names):
    return [", ".join(names[i:i + 4]) for i in range(0, len(names), 4)]


def enumerator_block(comment, names):
    lines = lines_of(names)
    body = ", &\n                  ".join(lines)
    listed = ", &\n            ".join(lines)
    return [f"  ! {comment}", f"  enum, bind(c)\n    enumerator :: {body}\n  end enum", f"  public :: {listed}\n"]


def public(names):
    return "  public :: " + ", &\n            ".join(lines_of(names)) + "\n"


def module(made):
    lists = [f"SF_LIST_{plural(each).upper()}" for each in enumerations()] + ["SF_LIST_SCHEDULES", "SF_LIST_OPTIONS"]
    statuses = [f"SF_{each.name.upper()}" for each in enumerations()[0].entries]
    text = [f"! {made}\n!\n! The part of steadfold.f90 that is generated: constants, and interfaces of functions of C.\n",
            public([each.name for _, procedures in sections() for each in procedures if each.name.startswith("sf_")]),
            *enumerator_block("The lists of sf_list_name, sf_list_text and sf_list_find.", lists),
            *enumerator_block("The values of `ierr`: the numbers of sf_status.", statuses)]
    for each in sections():
        text += section(*each)
    return "\n".join(text)


def definitions(made):
    text = [f"/* {made}\n *\n * The functions that values.c defines: of one array, of one array with weights, or of two arrays. */"]
    for operation, given, kinds in functions():
        macro = "OF_PRODUCTS" if operation.operands == "factors" else "OF_WEIGHTED" if given.get("weight") else "OF_ARRAY"
        for (suffix, *_), (_, value, number) in kinds:
            text.append(f"{macro}({given['name']}, {suffix}, {value}, {number}, {operation.c})")
    return "\n".join(text) + "\n"


FILES = {"fortran/steadfold_operations.inc": module, "fortran/values.inc": definitions}
