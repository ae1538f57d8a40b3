"""Runs the programs whose output README.md and docs/**/*.md show as figures (tables and listings), and updates the pages.

  python3 docs/figures.py                 lists the figures, each with its page
  python3 docs/figures.py show NAME...    makes the figures and prints them
  python3 docs/figures.py write NAME...   makes the figures and writes them into the pages (default: all figures)
  python3 docs/figures.py check NAME...   makes the figures and fails if a page shows a different text

On its page a figure is the text between the lines `<!-- figure NAME -->` and `<!-- end -->`. Build first (`./dev run`).
Times differ from run to run and from machine to machine: run nothing else while you measure. Every figure says when it
was made, and on which machine.
"""

import json
import re
import struct
import sys

import cost_figures
from figure_tools import BIN, HOUSE, answer, place, ratio_text, rows, run, spaced, time_text


def sums():
    """Returns the results of example_likelihood in decimals and as bits. The times are left out: docs/performance.md has times."""
    table, _, _ = run(BIN / "example_likelihood", "--compare")
    jobs = [line.split("|") for line in table.splitlines() if re.match(r" *\d+ \|", line)]
    cells = [[ranks.strip(), *shown(plain), *shown(exact)] for ranks, plain, _, exact in jobs]
    header = ["ranks", "a loop and `MPI_Allreduce`", "bits", "`sf::sum`", "bits"]
    return rows(header, cells) + f"\n\n(\\*: differs from the first row. Made with `./dev run` on {place()}.)"


def shown(cell):
    """Returns the number of a cell in decimals, and its bits; a star marks bits that differ from the bits of the first row."""
    bits, *_ = cell.split()
    number = struct.unpack(">d", bytes.fromhex(bits.rstrip("*")))[0]
    return repr(number), f"`{bits.rstrip('*')}`" + "\\*" * bits.endswith("*")


def runs_of_solver(*more):
    """Returns the results of example_solver. The times are left out: with more ranks than cores they say little."""
    words = ("--compare", *more, "--dot", "plain,exact,binned")
    table, _, _ = run(BIN / "example_solver", *words)
    kept = []
    for line in table.splitlines():
        head, *cells = line.split("|")
        if cells or line.startswith("  "):
            kept.append("|".join([head, *(cell[:17] for cell in cells)]).rstrip())
    command = f"$ build/bin/example_solver {' '.join(words)}"
    return "\n".join(["```", command, *kept, "```", "", f"(`*`: differs from the first row. Run on {place()}.)"])


def solver():
    return runs_of_solver("--ranks", "1,2,3,4")


def pipelined():
    return runs_of_solver("--algorithm", "pipelined", "--points", "24", "--ranks", "1,2,3")


def search():
    """Returns the tree search of example_likelihood. The times are left out: with more ranks than cores they say little."""
    words = ("--compare", "--sites", "100000")
    table, _, _ = run(BIN / "example_likelihood", *words)
    lines = table.replace("plain loop + MPI_Allreduce", f"{'plain':26}").splitlines()
    kept = ["|".join(cell[:20] for cell in line.split("|")).rstrip() for line in lines if "|" in line]
    said = [line for line in lines if line.startswith("Versions")]
    return "\n".join(["```", f"$ build/bin/example_likelihood {' '.join(words)}", *kept, "", *said, "```", "",
                      f"(`*`: differs from the first row. Run on {place()}.)"])


def climate():
    words = ("--compare", "--ranks", "1,2,3,4,5")
    table, _, _ = run(BIN / "example_climate", *words)
    kept = [line for line in table.splitlines() if "|" in line or "oceans" in line]
    return "\n".join(["```", f"$ build/bin/example_climate {' '.join(words)}", *kept, "```", "",
                      f"(`*`: differs from the first row. Run on {place()}.)"])


def ocean():
    divisions = [(1, "1x1"), (2, "1x2"), (4, "4x1"), (8, "1x8"), (8, "2x4"), (8, "8x1"), (8, "random")]
    launcher = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")
    lines = ["ranks  division  |  plain             |  Steadfold", "-----------------|--------------------|-----------------"]
    first = None
    for ranks, division in divisions:
        text, _, _ = run(*launcher, ranks, BIN / "example_ocean", "--json", "--ranks", division)
        found = json.loads(text)
        first = first or found
        cells = [found[name] + ("" if found[name] == first[name] else "*") for name in ("state_plain", "state_steadfold")]
        lines.append(f"{ranks:5}  {division:8}  |  {cells[0]:17} |  {cells[1]}")
    return "\n".join(["```", "$ mpirun -n RANKS build/bin/example_ocean --ranks DIVISION", *lines, "```", "",
                      f"(`*`: differs from the first row. Run on {place()}.)"])


def solver_loop():
    found = answer("bench", "solver-loop", "--counts", "96,192", "--ranks", "1,2,4", "--launches", "3", "--rounds", "5")
    solves = [row for row in found["rows"] if row["operator"] == "solve"]
    jobs = sorted({(row["count"], row["ranks"]) for row in solves})
    of_job = {job: [row for row in solves if (row["count"], row["ranks"]) == job] for job in jobs}
    header = ["scalar products", *(f"{spaced(count)} velocities, {ranks} rank{'s' * (ranks > 1)}" for count, ranks in jobs)]
    plain = {job: of_job[job][0]["rivals"][0]["seconds"] for job in jobs}
    lines = [["plain loops", *(time_text(plain[job]) for job in jobs)]]
    for at, said in enumerate(("loops of eight sums at once", "integers, two reductions", "pairs of doubles"), 1):
        lines.append([said, *(f"{of_job[job][0]['rivals'][at]['seconds'] / plain[job]:.2f}" for job in jobs)])
    for at, row in enumerate(of_job[jobs[0]]):
        lines.append([f"`{row['method']}`, {row['call']}", *(ratio_text(of_job[job][at], "ratio") for job in jobs)])
    most = max(row["count"] for row in found["predicted"])
    by = {(row["ranks"], row["way"]): row for row in found["predicted"] if row["count"] == most}
    ranks = sorted({each for each, _ in by})
    said = {"side_by_side": "loops of eight sums at once", "integers": "integers, two reductions",
            "double_double": "pairs of doubles", "exact_plan": "`exact`, plan", "binned_plan": "`binned`, plan"}
    far = [["plain loops", *(time_text(by[p, "plain"]["seconds"]) for p in ranks)]]
    far += [[text, *(f"{by[p, way]['ratio']:.2f}" for p in ranks)] for way, text in said.items()]
    note = "Times of one solve; if no unit is given, relative to plain loops: medians of 5 rounds in each of 3 launches"
    return "\n".join([rows(header, lines), "", f"({note}. Measured on {place()}.)", "",
                      f"These times are predicted for {spaced(most)} velocities on nodes of 36 ranks, with a latency of "
                      "1.5 us and a bandwidth of 10 GB/s between nodes:", "",
                      rows(["scalar products", *(f"{p} ranks" for p in ranks)], far)])


FIGURES = {
    "sums": (sums, "README.md"),
    "first-page": (sums, "docs/index.md"),
    "solver": (solver, "docs/solvers.md"),
    "ocean": (ocean, "docs/fortran.md"),
    "pipelined": (pipelined, "docs/solvers.md"),
    "search": (search, "docs/phylogenetics.md"),
    "climate": (climate, "docs/climate.md"),
    "solver-loop": (solver_loop, "docs/climate.md"),
    **{name: (make, "docs/performance.md") for name, make in cost_figures.FIGURES.items()},
    "dots": (cost_figures.dots, "docs/how_to/dot_product.md"),
}


def parted(name, document):
    """Splits a document into three texts: before the figure, the figure, and after it."""
    document = HOUSE / document
    opening, closing = f"<!-- figure {name} -->\n", "<!-- end -->"
    text = document.read_text()
    if text.count(opening) != 1:
        raise SystemExit(f"{document} has no place for {name} (or several), put one line `{opening.strip()}` there")
    before, rest = text.split(opening)
    if closing not in rest.split("<!-- figure")[0]:
        raise SystemExit(f"the place of {name} in {document} has no end, put a line `{closing.strip()}` behind it")
    end = rest.index(closing)
    return before + opening, rest[:end], rest[end:]


def write(name, document, block):
    before, _, behind = parted(name, document)
    (HOUSE / document).write_text(before + block + "\n" + behind)


def check(figures):
    other = [name for name, (make, document) in figures.items() if parted(name, document)[1] != make() + "\n"]
    if other:
        raise SystemExit(f"{', '.join(other)}: not what is made today, see python3 {sys.argv[0]} show {other[0]}")


def main(figures, steady):
    """Runs the subcommand of the command line. `figures`: {name: (function that makes the figure, its document)}. `steady`:
    the names of the figures that are the same on every machine; `check` without names checks these."""
    what = (sys.argv[1:2] or ["list"])[0]
    names = sys.argv[2:] or (steady if what == "check" else figures)
    unknown = [name for name in names if name not in figures]
    if what not in ("list", "show", "write", "check") or unknown:
        raise SystemExit(f"unknown {' '.join(unknown) or what} (figures: {', '.join(figures)}), see the file's head")
    if what == "check":
        return check({name: figures[name] for name in names})
    for name in names:
        make, document = figures[name]
        if what == "list":
            print(f"{name:12} {document}")
            continue
        block = make()
        print(block)
        if what == "write":
            write(name, document, block)


if __name__ == "__main__":
    main(FIGURES, ())
