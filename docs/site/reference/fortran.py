"""The reference pages of the Fortran interface: public procedures and types of the module, with the comments before them."""

import re
from dataclasses import dataclass, field

from markdown import table, with_code

from .operations import facts, made_by

# {page: (title, opening sentence, pattern)}. A name belongs to the first page whose pattern it matches.
SUBJECTS = {
    "accumulators": (
        "Accumulators",
        "Exact sums that a program can keep, add to, subtract from, merge, save, and round at any time.",
        r"sf_(accumulator|add|subtract|(un)?merge\w*|total|average|root|write|read|packed_size|(un)?pack"
        r"|clear|negate|copy|compare|shape)$",
    ),
    "plans": (
        "Plans",
        "Reductions that all ranks agree on once and run many times. The reductions of one plan share its messages.",
        r"sf_(plan\w*|bind|run|start|bundle_status)$",
    ),
    "started": (
        "Started calls",
        "Calls that proceed while the program computes.",
        r"sf_(start_\w+|request|wait|test|progress_thread)$",
    ),
    "teams": (
        "Groups and teams",
        "Groups (the library's form of a communicator), teams of threads that reduce together, and a barrier.",
        r"sf_(team\w*|group\w*|barrier|rank_order)$",
    ),
    "layouts": ("Layouts", "A layout says which rank has which elements of the whole job.", r"sf_layout\w*$"),
    "vectors": (
        "MPI's shape",
        "As in MPI, every rank passes one vector. The vectors are combined element by element.",
        r"sf_(allreduce|reduce_scatter|scan|exscan)$",
    ),
    "names": (
        "Names, memory, errors",
        "Lists of the names that calls accept, memory that the ranks of a node share, and the texts of errors.",
        r"sf_(list_\w+|allocate|free|error_message|version_text|mpi_library)$|SF_\w+$",
    ),
    "reductions": ("Reductions of arrays", "", r"sf_\w+$"),  # the comment at the head of the module opens this page
}
ORDER = ("reductions", "vectors", "layouts", "plans", "started", "accumulators", "teams", "names")


@dataclass
class Entry:
    name: str
    comment: str
    codes: list = field(default_factory=list)
    before: str = ""  # a comment on this procedure and the procedures after it


def joined(lines):
    """The lines of the source with continued lines joined, and without `bind(c)` and `import`."""
    text = re.sub(r"&\s*\n\s*&?", "", "\n".join(lines))
    return [
        re.sub(r",?\s*bind\(c(?:, name=\"\w+\")?\)", "", line).rstrip()
        for line in text.split("\n")
        if not re.match(r"\s*import\b", line)
    ]


def procedures(lines):
    """Yields the functions and subroutines in these lines, each as (comment, name, lines)."""
    comment, at = [], 0
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("!"):
            comment.append(line[1:].strip())
        elif found := re.match(r"(?:elemental |pure |impure |recursive )*(?:subroutine|function) (\w+)", line):
            end = next(i for i in range(at, len(lines)) if re.match(r"end (subroutine|function)", lines[i].strip()))
            yield " ".join(comment), found[1], lines[at : end + 1]
            comment, at = [], end
        elif not line:
            comment = []
        at += 1


def read(text):
    """The entries of the module, as {name: entry}, in the order of the source."""
    lines = joined(text.splitlines())
    entries, comment, at = {}, [], 0
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("!"):
            comment.append(line[1:].strip())
        elif found := BLOCK.match(line):
            end = next(i for i in range(at, len(lines)) if re.match(rf"\s*end {found['kind']}", lines[i]))
            READERS[found["kind"]](entries, lines[at : end + 1], paragraphs(comment))
            comment, at = [], end
        elif not line or line == "contains":
            comment = []
        at += 1
    return entries


def read_interface(entries, lines, words):
    generic = re.match(r"\s*interface (\w+)", lines[0])
    found = list(procedures(lines[1:-1]))
    for own, name, code in found:
        entry = Entry(generic[1], words) if generic else Entry(name, own)
        entries.setdefault(entry.name, entry).codes.append(code)
    if words and not generic:
        entries[found[0][1]].before = words


def read_type(entries, lines, words):
    name = lines[0].split()[-1]
    entries[name] = Entry(name, words, [[line for line in lines if not re.search(r"private|:: (handle|state)\b", line)]])


def read_enum(entries, lines, words):
    names = re.findall(r"SF_\w+", " ".join(lines))
    entries.update({name: Entry(", ".join(names), words) for name in names})


def read_procedure(entries, lines, words):
    """Adds the entry of a procedure: its first line, and the declarations of its arguments and of its result."""
    head = lines[0]
    kind, name = re.search(r"(subroutine|function) (\w+)", head).groups()
    arguments = re.findall(r"\w+", (re.search(r"\((.*?)\)", head) or ["", ""])[1]) + re.findall(r"result\((\w+)\)", head)
    declarations = [line for line in lines[1:-1] if set(re.findall(r"\w+", line.partition("::")[2])) & set(arguments)]
    entries.setdefault(name, Entry(name, words)).codes.append([head, *declarations, f"end {kind}"])


BLOCK = re.compile(
    r"(?:abstract |elemental |pure |impure |recursive )*(?P<kind>interface\b|type(?= ::)|enum\b|subroutine(?= )|function(?= ))"
)
READERS = {
    "interface": read_interface,
    "type": read_type,
    "enum": read_enum,
    "subroutine": read_procedure,
    "function": read_procedure,
}


def paragraphs(comment):
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", "\n".join(comment)) if part.strip())


def marked(words):
    return with_code(words, r"type\(\w+\)|\b\w*_\w+\b(?:\.h|\(\))?")


def shown(entry, described, operation):
    """The text of an entry: code, comment, and the descriptions of its arguments. If the procedure makes an operation, the
    text ends with the facts of the operation."""
    codes = entry.codes if len(entry.codes) <= 2 else entry.codes[:1]
    blocks = []
    for code in codes:
        indent = min(
            (len(line) - len(line.lstrip()) for line in code if line.strip().startswith(("sub", "func", "type"))), default=0
        )
        blocks.append("\n".join(line[indent:] if line[:indent].isspace() else line for line in code))
    lines = [f"## {entry.name}"]
    if blocks:
        lines.append("```fortran\n" + "\n".join(blocks) + "\n```")
    if entry.comment:
        lines.append(marked(entry.comment))
    if len(entry.codes) > len(codes):
        kinds = dict.fromkeys(
            re.search(r"^\s*((?:real|complex|integer|type)\([^)]*\))", "\n".join(code), re.MULTILINE)[1] for code in entry.codes
        )
        lines.append(f"Also for {', '.join(f'`{kind}`' for kind in list(kinds)[1:])}.")
    names = dict.fromkeys(re.findall(r"\w+", (re.search(r"\((.*?)\)", blocks[0]) or ["", ""])[1]) if blocks else [])
    given = "\n".join(f"- `{name}`: {described[name]}." for name in names if name in described)
    lines += filter(None, [given + ("\n" if given else "") + (facts(operation) if operation else "")])
    return "\n\n".join(lines)


def public_names(text):
    return [name for names in re.findall(r"public :: ((?:[^\n&]*&\n)*[^\n]*)", text) for name in re.findall(r"\w+", names)]


def pages(house, release):
    operations = (house / "fortran/steadfold_operations.inc").read_text()
    source = (house / "fortran/steadfold.f90").read_text()
    head = []
    for line in source.splitlines():
        if not line.startswith("!"):
            break
        head.append(line[1:].removeprefix(" "))
    whole = source.replace('  include "steadfold_operations.inc"', operations + "\n!")
    entries = read(whole)
    found = {page: [] for page in ORDER}
    for name in public_names(whole):
        if name not in entries:
            raise SystemExit(
                f"{name} of the Fortran module has no declaration that docs/site/reference/fortran.py can read, mend either"
            )
        page = next(page for page, (*_, pattern) in SUBJECTS.items() if re.match(pattern, name))
        if entries[name] not in found[page]:
            found[page].append(entries[name])
    words, described = arguments("\n".join(head))
    of_operations = made_by("fortran")
    order = list(of_operations)
    found["reductions"].sort(key=lambda entry: order.index(entry.name) if entry.name in order else len(order))
    made = {}
    for page in ORDER:
        title, what, _ = SUBJECTS[page]
        said = [what or words, *(marked(entry.before) for entry in found[page] if entry.before)]
        shown_of_page = [
            shown(entry, described if page == "reductions" else {}, of_operations.get(entry.name)) for entry in found[page]
        ]
        made[f"reference/fortran/{page}.md"] = "\n\n".join([f"# {title} in Fortran", *said, *shown_of_page]) + "\n"
    return made


def arguments(head):
    """The comment at the head of the module as Markdown, with its list of arguments as a table. Returns this text, and
    {argument: its description}."""
    blocks, described = [], {}
    for paragraph in re.split(r"\n\s*\n", head):
        if not paragraph.startswith("  "):
            blocks.append(marked(" ".join(paragraph.split())))
            continue
        rows = [" ".join(row.split()).split(" ", 1) for row in re.split(r"\n(?=  \S)", paragraph)]
        described |= {name: marked(words) for name, words in rows}
        blocks.append(table(["argument", "what it is"], [[f"`{name}`", said] for name, said in described.items()]))
    return "\n\n".join(blocks), described
