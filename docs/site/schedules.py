"""Makes a page for each schedule from the output of the command `steadfold`: summary, restrictions, picture and cost."""

import json
import re
import subprocess

from links import on_page
from markdown import table

RANKS_OF_PICTURE = 5
WIDTH_OF_PICTURE = 740  # pixels: the width of the text on a page
RANKS = (2, 5, 8, 64, 256)
WIDTHS = (1, 100_000)
# The authors of the papers that the registry names S0 to S4; docs/architecture.md, "Sources", has the titles.
AUTHORS = {"S0": "Stelz 2022", "S1": "Gruber & Freinberger", "S2": "Lapillonne & Peltekov 2013", "S3": "Balaji & Kimpe",
           "S4": "End et al."}  # fmt: skip

OVERVIEW = """# Schedules

A schedule is an algorithm for a collective call: it says which rank sends which data to which rank. A schedule never
changes the bits of `tree`, `exact` and `binned`. If a call names no schedule, `auto` chooses the one with the shortest
predicted time.

This table has all schedules. Each page has the collectives that the schedule serves, and its cost. `steadfold schedules`
prints the same list. `steadfold check-schedules` proves each schedule for every number of ranks up to a limit.

{table}

In the pictures each line is a rank, and the rounds go from left to right. The receiver merges the data of a filled
arrow with its own. It keeps the data of an open arrow with a plain line unchanged. A dashed line carries finished
values.
"""

PAGE = """# {name}

{sentence}.

![{name} on {ranks} ranks]({name}.svg)

| | |
|---|---|
| serves | {collectives} |
| methods | {methods} |
| rank order | {order} |
| all ranks get the same bits with `plain` | {same} |
| restrictions | {restrictions} |
| parameters | {parameters} |
| source | {source} |

## Cost

{cost}

## From its source file

This is the head of [{file}](../../{path}). n is the number of bytes of a vector, p the number of ranks, alpha the latency
of a message, beta the time of a byte, and gamma the time of an addition.

{head}
"""

COST = """The cost of {collective}, counted by `steadfold simulate --method {method}`, for the given number of doubles on every
rank. Rounds are the length of the longest chain of messages. Bytes are the sum over all messages.

{table}
"""


def answer(command, *words):
    done = subprocess.run([str(command), *map(str, words)], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None, done.stderr.strip()


def sources(house):
    """{name of a schedule: its source file}."""
    found = {}
    for path in sorted((house / "src/schedule/algorithms").glob("*.cpp")):
        for name in re.findall(r"\.name = \"(\w+)\"", path.read_text()):
            found[name] = path
    return found


def head_of(path):
    """Returns the comment at the head of a file, as a quotation in Markdown."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    return "\n".join(f"> {line}".rstrip() for line in "\n".join(lines).replace("*", r"\*").replace("<", r"\<").splitlines())


def number(value):
    return f"{value:,}".replace(",", " ")


def cost(command, row):
    method = row["methods"][0]
    options = {"method": method, "schedule": row["name"]}
    words = ["simulate", "--json", *(word for name, value in options.items() for word in (f"--{name}", value))]
    rows = []
    for width in WIDTHS:
        for ranks in RANKS:
            text, why = answer(command, *words, "--ranks", ranks, "--elements", ranks, "--width", width)
            if text is None:
                return f"The command cannot predict it: {why}."
            found = json.loads(text)
            if found["messages"] is None:
                return "The command cannot count its messages: the MPI library alone knows which it sends."
            counts = [number(found[name]) for name in ("messages", "rounds", "bytes")]
            rows.append([number(width), ranks, found["segments"], *counts])
    head = ["doubles per rank", "ranks", "segments", "messages", "rounds", "bytes"]
    return COST.format(collective=found["collective"], method=method, table=table(head, rows, "---:"))


def source_of(row, depth):
    source = row["source"]
    if source in AUTHORS:
        return f"[{AUTHORS[source]}]({depth}architecture.md#sources)"
    return {"ours": "Steadfold's own"}.get(source, source)


def page(command, row, path, directory):
    name = row["name"]
    picture, why = answer(command, "draw", "schedule", name, "--ranks", RANKS_OF_PICTURE, "--width", WIDTH_OF_PICTURE)
    text = PAGE.format(
        name=name,
        sentence=row["sentence"][0].upper() + row["sentence"][1:],
        ranks=RANKS_OF_PICTURE,
        collectives=", ".join(row["collectives"]),
        methods=", ".join(f"`{method}`" for method in row["methods"]),
        order="kept" if row["keeps_rank_order"] else "not kept",
        same="yes" if row["same_on_all_ranks"] else "no",
        restrictions=row["restrictions"] or "none",
        parameters=", ".join(f"`{each}=`" for each in row["parameters"]) or "none",
        source=source_of(row, "../"),
        cost=cost(command, row),
        file=path.name,
        path=path.relative_to(path.parents[3]),
        head=head_of(path),
    )
    if picture is None:
        return text.replace(f"![{name} on {RANKS_OF_PICTURE} ranks]({name}.svg)", f"There is no picture: {why}.")
    (directory / f"{name}.svg").write_text(on_page(picture))
    return text


def pages(command, house, directory):
    """{page of the site: its text}. Writes the pictures to the folder `directory`/schedules."""
    rows = json.loads(answer(command, "schedules", "--json")[0])["schedules"]
    (directory / "schedules").mkdir(parents=True, exist_ok=True)
    files = sources(house)
    made = {f"schedules/{row['name']}.md": page(command, row, files[row["name"]], directory / "schedules") for row in rows}
    lines = [
        [f"[{row['name']}](schedules/{row['name']}.md)", row["sentence"], ", ".join(row["collectives"]), source_of(row, "")]
        for row in rows
    ]
    made["schedules.md"] = OVERVIEW.format(table=table(["schedule", "what it does", "serves", "source"], lines))
    return made
