"""The reference pages of the C interface: the text of the manual pages (docs/man_pages.py), as Markdown."""

import re
import sys
from pathlib import Path

from markdown import broken, table, with_code
from tables import enumerations, operations

from .operations import facts

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import man_pages  # noqa: E402


def prose(comment):
    """Returns a comment as Markdown. Names become code spans, and indented lines become blocks of code."""
    paragraphs = []
    for paragraph in filter(str.strip, re.split(r"\n\s*\n", comment)):
        if all(line.startswith("  ") for line in paragraph.splitlines()):
            paragraphs.append("```c\n" + re.sub(r"^  ", "", paragraph, flags=re.MULTILINE) + "\n```")
        else:
            paragraphs.append(words(man_pages.joined(paragraph)))
    return "\n\n".join(paragraphs)


def words(text):
    return with_code(text, r"\b(?:\w*_\w+|\w+\.h\b)(?:\.\w+|\(\))*|\b\w+\[\w+\]")


def declaration(item):
    if item.members:
        end = ";" if item.kind == "struct" else ","
        return "\n".join(
            [f"typedef {item.kind} {item.name} {{", *(f"  {code}{end}" for code, _ in item.members), f"}} {item.name};"]
        )
    return broken(item.code)


def entry(page):
    names = page.names()
    lines = [f"## {', '.join(names)}"]
    for part in page.parts:
        if part.items:
            lines.append("```c\n" + "\n".join(declaration(item) for item in part.items) + "\n```")
        if part.comment:
            lines.append(prose(part.comment))
        for item in part.items:
            if any(comment for _, comment in item.members):
                rows = [
                    [f"`{code.split(' =')[0] if item.kind == 'enum' else code}`", words(comment)]
                    for code, comment in item.members
                ]
                lines.append(table(["member", "what it is"], rows))
            if item.note:
                lines.append(f"`{item.name}`: {words(item.note)}")
    return "\n\n".join(lines)


SECOND = {
    "elements": "NULL",
    "operator": "NULL",
    "factors": "the second vector, of as many rows and of the type of `first`",
    "mask": "the mask, one byte per row: any but 0 selects the row",
}


def operations_and_collectives(entries):
    """The page that explains each value of the fields `operation` and `collective` of an sf_call."""
    call = next(broken(item.code) for page in entries for item in page.items() if item.name == "sf_reduce")
    lines = [
        "# Operations of C",
        "The functions that reduce take an `sf_call` ([steadfold.h](steadfold.md#sf_call-sf_unknown-sf_all_ranks)), whose "
        "fields `operation` and `collective` say what they do. The functions are `sf_reduce` (a communicator), "
        "`sf_group_reduce` (a group), `sf_reduce_local` (one process), and plans, bundles and started calls.",
    ]
    for each in operations():
        sentence = each.about + (f" ({each.note})" if each.note else "")
        lines += [
            f"## {each.c}",
            f"{words(sentence[0].upper() + sentence[1:])}.",
            f"```c\ncall.operation = {each.c};\n{call}\n```",
            "- `call`: the fields that must be the same on all ranks, and the number of rows of this rank.\n"
            "- `first`: the elements of this rank, `rows` rows of `columns` elements.\n"
            f"- `second`: {SECOND[each.operands]}.\n"
            "- `result`: `columns` results, on the ranks that get a result.\n"
            f"- `comm`: the communicator. All its ranks must make the call.\n{facts(each)}",
        ]
    for each in next(each for each in enumerations() if each.name == "collective").entries:
        sentence = each.about + (f"; {each.note}" if each.note else "")
        name = f"SF_{each.name.upper()}"
        code = f"```c\ncall.collective = {name};\n{call}\n```"
        lines += [f"## {name}", f"{words(sentence[0].upper() + sentence[1:])}.", code]
    return "\n\n".join(lines) + "\n"


def pages(house, release):
    made, declared = {}, []
    for path in sorted((house / "include/steadfold").glob("*.h"), key=lambda path: (len(path.stem), path.stem)):
        overview, found = man_pages.pages_of(path.stem, path.read_text())
        declared += found
        made[f"reference/c/{path.stem}.md"] = (
            "\n\n".join([f"# {path.name}", prose("\n\n".join(overview)), *map(entry, found)]) + "\n"
        )
    return {"reference/c/operations.md": operations_and_collectives(declared), **made}
