"""The reference pages of the Python interface: the docstrings of the package in the build folder."""

import importlib
import inspect
import re
import sys

from .operations import PYTHON, facts, made_by

# {page: (title, modules whose names it has)}. A public name of any other module is an error.
SUBJECTS = {
    "reductions": ("Reductions of arrays", ("_reductions", "_operations")),
    "keys": ("Groups and series", ("_group_by", "_series")),
    "collectives": ("MPI's shape", ("_collectives",)),
    "plans": ("Plans, bundles and started calls", ("_plans",)),
    "accumulators": ("Accumulators", ("_accumulator",)),
    "methods": ("Methods and settings", ("_method", "_config")),
    "groups": ("Layouts, groups and teams", ("_core",)),
    "errors": ("Errors", ("_errors",)),
}


NOT_OF_ARRAYS = ("fsum", "Statistics", "reduce")  # their arguments differ; their docstrings describe them


def prose(doc):
    """A docstring as Markdown. Examples become blocks of code. A name with indented text below it becomes an item of a list."""
    blocks = []
    for paragraph in filter(str.strip, re.split(r"\n\s*\n", inspect.cleandoc(doc or ""))):
        lines = paragraph.splitlines()
        if lines[0].startswith(">>>"):
            blocks.append(f"```pycon\n{paragraph}\n```")
            continue
        entries = re.split(r"\n(?=\S)", paragraph)
        if any("\n    " in each for each in entries):
            entries = [re.sub(r"^(.+?)\n\s+", r"- `\1`: ", each) for each in entries]
        blocks.append("\n".join(re.sub(r"\n\s+", "\n  ", each) for each in entries))
    return "\n\n".join(blocks)


def signature(name, what):
    """Returns the signature of a function, or None if Python cannot inspect the function."""
    try:
        parameters = [each for each in inspect.signature(what).parameters.values() if each.name != "self"]
    except (TypeError, ValueError):
        return None
    words, kind = [], None
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and kind not in (each.KEYWORD_ONLY, each.VAR_POSITIONAL):
            words.append("*")
        kind = each.kind
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(kind, "")
        said = "" if each.annotation is each.empty or each.annotation == "Any" else f": {plain(each.annotation)}"
        value = f"np.{each.default.__name__}" if inspect.isclass(each.default) else repr(each.default)
        default = "" if each.default is each.empty else f" = {value}" if said else f"={value}"
        words.append(f"{star}{each.name}{said}{default}")
    lines = [f"{name}("]
    for word in words:
        if len(lines[-1]) + len(word) > 84:
            lines.append("    ")
        lines[-1] += ("" if lines[-1].endswith(("(", "    ")) else " ") + word + ","
    return "\n".join(line.rstrip() for line in lines).rstrip(",") + ")"


def plain(annotation):
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return text.replace("_core.", "").replace("typing.", "")


def arguments(what, documented):
    """The options of a function that the docstring `documented` describes, as a list."""
    described = dict(re.findall(r"^(\w+)\n((?:    .*\n?)+)", documented, re.MULTILINE))
    given = inspect.signature(what).parameters
    return "\n".join(f"- `{name}`: {' '.join(described[name].split())}" for name in given if name in described)


def reduction(name, what, documented, operation):
    """The entry of a function of arrays: its docstring, its options, and the facts of its operation."""
    said, example, rest = entry(name, what, 2).partition("\n\n```pycon\n")
    said = said.replace("\n\nOptions are explained in ``help(steadfold)``.", "")
    return f"{said}\n\n{arguments(what, documented)}\n{facts(operation, PYTHON) if operation else ''}".rstrip() + example + rest


def entry(name, what, depth, of=""):
    """The text of an entry: a function, or a class with its methods. `depth`: the level of its heading."""
    doc = inspect.getdoc(what) or ""
    shown = signature(of + name, what)
    if shown is None:  # a function of the extension module; the docstring begins with the signatures
        lines = doc.splitlines()
        count = next((i for i, line in enumerate(lines) if not line.startswith(f"{name}(")), len(lines))
        shown, doc = (
            "\n".join(re.sub(r"\bself(?:, )?", "", line).replace("steadfold._core.", "") for line in lines[:count]),
            "\n".join(lines[count:]),
        )
        shown = "\n".join(of + line for line in shown.splitlines())
    if inspect.isclass(what) and issubclass(what, Exception):
        shown = f"class {name}({', '.join(base.__name__ for base in what.__bases__)})"
    lines = [f"{'#' * depth} {of}{name}"]
    if shown:
        lines.append(f"```python\n{shown}\n```")
    if doc.strip():
        lines.append(prose(doc))
    if inspect.isclass(what) and not issubclass(what, Exception):
        for member in members(what):
            value = inspect.getattr_static(what, member)
            if isinstance(value, property) or type(value).__name__ == "property":
                lines.append(f"{'#' * (depth + 1)} {name}.{member}\n\n{prose(value.__doc__)}")
            elif callable(getattr(what, member)):
                lines.append(entry(member, getattr(what, member), depth + 1, f"{name}."))
    return "\n\n".join(lines)


def members(what):
    """The names of the public members of a class, in the order of the source."""
    return [
        name
        for name in dict.fromkeys(name for base in reversed(what.__mro__) if base not in (object, tuple) for name in vars(base))
        if not name.startswith("_")
        and (hasattr(getattr(what, name), "__doc__"))
        and not (issubclass(what, tuple) and name in ("count", "index"))
    ]


def pages(house, release):
    sys.path.insert(0, str(release / "python"))
    package = importlib.import_module("steadfold")
    made, lost, of_operations = {}, set(package.__all__), made_by("python")
    order = list(of_operations)
    modules_doc = inspect.cleandoc(importlib.import_module("steadfold._reductions").__doc__)
    for page, (title, modules) in SUBJECTS.items():
        names = [name for name in package.__all__ if module_of(package, name) in modules]
        lost -= set(names)
        doc = package.__doc__ if page == "reductions" else importlib.import_module(f"steadfold.{modules[0]}").__doc__
        words = (
            prose(re.sub(r"^Made by [^\n]*\n\n", "", doc or ""))
            if modules[0] != "_core"
            else "Layouts say which rank has which elements. Groups and teams say which ranks and threads reduce together."
        )
        names.sort(key=lambda name: (order.index(name) if name in order else len(order), name.lower()))
        entries = [
            reduction(name, getattr(package, name), modules_doc, of_operations.get(name))
            if page == "reductions" and name not in NOT_OF_ARRAYS
            else entry(name, getattr(package, name), 2)
            for name in names
        ]
        made[f"reference/python/{page}.md"] = "\n\n".join([f"# {title} in Python", words, *entries]) + "\n"
    if lost:
        raise SystemExit(f"names of the Python package on no page ({', '.join(sorted(lost))}), name their module in SUBJECTS")
    modules = {"dask": "Dask arrays in Python", "duckdb": "Functions of DuckDB in Python", "polars": "Expressions of Polars in Python"}
    for name, title in modules.items():
        module = importlib.import_module(f"steadfold.{name}")
        entries = [entry(each, getattr(module, each), 2) for each in sorted(module.__all__)]
        made[f"reference/python/{name}.md"] = "\n\n".join([f"# {title}", prose(module.__doc__), *entries]) + "\n"
    return made


def module_of(package, name):
    return getattr(package, name).__module__.rpartition(".")[2]
