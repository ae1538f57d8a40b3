"""Makes the figures of README.md and docs/*.md again, and writes them where they stand.

  python3 docs/figures.py                 what there is, and where it stands
  python3 docs/figures.py show NAME...    runs it and prints the block
  python3 docs/figures.py write NAME...   the same into the documents; all of them without a name
  python3 docs/figures.py check NAME...   whether they stand as they are made; without a name those that no machine
                                          changes, with STEADFOLD_FULL=1

A figure stands between the lines `<!-- figure NAME -->` and `<!-- end -->`. Build first (`./dev run`). Times differ
from run to run and from machine to machine: take them with nothing else running. Every block says when it was made and
where.
"""

import json
import os
import sys

from figure_tools import BIN, HOUSE, answer, place, ratio_text, rows, run, spaced, time_text


def sums():
    table, _, _ = run(BIN / "example_likelihood", "--compare")
    kept = [line for line in table.splitlines() if "|" in line]
    return "```\n$ ./dev run\n" + "\n".join(kept) + f"\n```\n\n(`*`: differs from the first row. {place()}.)"


def runs_of_solver(*more):
    """Without times: on more ranks than cores they say little."""
    words = ("--compare", *more, "--dot", "plain,exact,binned")
    table, _, _ = run(BIN / "example_solver", *words)
    kept = []
    for line in table.splitlines():
        head, *cells = line.split("|")
        if cells or line.startswith("  "):
            kept.append("|".join([head, *(cell[:17] for cell in cells)]).rstrip())
    command = f"$ build/bin/example_solver {' '.join(words)}"
    return "\n".join(["```", command, *kept, "```", "", f"(`*`: differs from the first row. {place()}.)"])


def solver():
    return runs_of_solver("--ranks", "1,2,3,4")


def pipelined():
    return runs_of_solver("--algorithm", "pipelined", "--points", "24", "--ranks", "1,2,3")


def search():
    """Without times, as above."""
    words = ("--compare", "--sites", "100000")
    table, _, _ = run(BIN / "example_likelihood", *words)
    lines = table.replace("plain loop + MPI_Allreduce", f"{'plain':26}").splitlines()
    kept = ["|".join(cell[:20] for cell in line.split("|")).rstrip() for line in lines if "|" in line]
    said = [line for line in lines if line.startswith("Versions")]
    return "\n".join(["```", f"$ build/bin/example_likelihood {' '.join(words)}", *kept, "", *said, "```", "",
                      f"(`*`: differs from the first row. {place()}.)"])


def climate():
    words = ("--compare", "--ranks", "1,2,3,4,5")
    table, _, _ = run(BIN / "example_climate", *words)
    kept = [line for line in table.splitlines() if "|" in line or "oceans" in line]
    return "\n".join(["```", f"$ build/bin/example_climate {' '.join(words)}", *kept, "```", "",
                      f"(`*`: differs from the first row. {place()}.)"])


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
                      f"(`*`: differs from the first row. {place()}.)"])


def solver_loop():
    found = answer("bench", "solver-loop", "--counts", "96,192", "--ranks", "1,2,4", "--launches", "3", "--rounds", "5")
    solves = [row for row in found["rows"] if row["operator"] == "solve"]
    jobs = sorted({(row["count"], row["ranks"]) for row in solves})
    of_job = {job: [row for row in solves if (row["count"], row["ranks"]) == job] for job in jobs}
    header = ["products by", *(f"{spaced(count)} velocities, {ranks} rank{'s' * (ranks > 1)}" for count, ranks in jobs)]
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
    note = "Solves; others times the first line, medians of 5 rounds in each of 3 launches"
    return "\n".join([rows(header, lines), "", f"({note}; {place()}.)", "",
                      f"Predicted for {spaced(most)} velocities on nodes of 36 ranks, 1.5 us and 10 GB/s between them:", "",
                      rows(["products by", *(f"{p} ranks" for p in ranks)], far)])


def proofs():
    text, seconds, _ = run(COMMAND, "check-schedules", "--max-ranks", "64", "--json")
    found = json.loads(text)
    return (f"`check-schedules --max-ranks 64` proves {spaced(found['passed'])} cases, {found['failed']} fail, in "
            f"{seconds:.0f} s of processor time ({place()}).")


def schedules():
    """As `time_text` has it, of vectors; made by simulation, so every machine has the same."""
    names = ("flat", "linear", "binomial", "recursive_doubling", "binary", "knomial", "pipelined_linear",
             "pipelined_tree", "doubly_pipelined_linear", "doubly_pipelined_tree", "transpose", "ring",
             "halving_doubling", "circulant", "two_level:size=32", "two_level:outer=[circulant]:size=32", "mpich")
    lines = []
    for name in names:
        times = [answer("simulate", "--ranks", ranks, "--elements", ranks, "--width", width, "--method", "plain",
                        "--collective", "allreduce", "--latency", 0, "--gap", 1e-6, "--per-byte", 8e-11,
                        "--rendezvous", 0, "--per-op", 8e-10, "--schedule", name)["seconds"]
                 for ranks in (36, 1152) for width in (1, 1000, 1_000_000)]  # fmt: skip
        lines.append([name, *map(time_text, times)])
    return rows(["schedule", "36 ranks, 1", "1e3", "1e6", "1152 ranks, 1", "1e3", "1e6"], lines)


def predictions():
    most = 2**20
    cases = [("recursive_doubling", "flat"), ("recursive_doubling", "two_level:size=8"),
             ("recursive_doubling", "fat_tree:arity=16:oversubscription=2"), ("binomial", "flat"), ("linear", "flat"),
             ("flat", "flat")]
    lines = []
    for schedule, topology in cases:
        text, seconds, memory = run(COMMAND, "simulate", "--ranks", most, "--elements", 10**9, "--method", "tree",
                                    "--schedule", schedule, "--topology", topology, "--json")
        found = json.loads(text)
        lines.append([f"{schedule}, {topology}", f"{found['messages']:.3g}", f"{seconds:.1f} s",
                      f"{memory / 2**30:.1f} GiB"])
    return rows(["schedule, topology", "messages", "processor", "memory"], lines) + f"\n\n({place()}.)"


def local():
    sizes = {1000: "1e3 (L1)", 100_000: "1e5 (L2)", 1_000_000: "1e6 (8 MB)", 10_000_000: "1e7 (80 MB)",
             30_000_000: "3e7 (240 MB)"}
    found = answer("bench", "local", "--sizes", ",".join(map(str, sizes)), "--rounds", "21", core=1)
    by = {(row["kernel"], row["elements"]): row for row in found["rows"]}
    names = [("accumulate", "`std::accumulate`"), ("fastmath", "fast-math loop"), ("kahan", "Kahan"),
             ("neumaier", "Neumaier"), ("tree", "`tree`"), ("exact", "`exact`"), ("binned", "`binned`, K = 3"),
             ("exact dot", "`exact` dot, against a read of one vector")]
    lines = [["read, ns per element", *(f"{by['read', n]['ns_per_element']:.3f}" for n in sizes)]]
    for name, said in names:
        lines.append([f"{said} / read", *(ratio_text(by[name, n], "ratio_to_read") for n in sizes)])
    return rows(["medians of 21 rounds", *sizes.values()], lines) + f"\n\n({place()}.)"


def prefetch():
    sizes = (10_000, 100_000, 1_000_000, 10_000_000, 30_000_000)
    found = answer("bench", "prefetch", "--sizes", ",".join(map(str, sizes)), "--rounds", "41", core=1)
    by = {(row["kernel"], row.get("prefetch"), row["elements"]): row for row in found["rows"]}
    lines = [[f"`{kernel}`, `{where}`", *(ratio_text(by[kernel, where, n], "ratio_to_read") for n in sizes)]
             for kernel in ("tree", "exact", "binned") for where in ("off", "near", "far")]
    header = ["x read, medians of 41 rounds", *(f"{n:.0e}".replace("e+0", "e") for n in sizes)]
    return rows(header, lines) + f"\n\n({place()}.)"


def calls():
    sizes = (1, 2, 3, 7, 16, 64)
    found = answer("bench", "local", "--sizes", ",".join(map(str, sizes)), "--types", "f64", "--rounds", "21", core=1)
    by = {(row["kernel"], row["elements"]): row["ns_per_element"] * row["elements"] for row in found["rows"]}
    lines = [[f"`{name}`", *(f"{by[name, n]:.0f}" for n in sizes)] for name in ("tree", "exact", "binned", "plain")]
    return rows(["ns per call", *sizes], lines) + f"\n\n(Medians of 21 rounds; {place()}.)"


def allreduce():
    counts = (1, 255, 1000, 10_000, 100_000, 1_000_000)
    found = answer("bench", "allreduce", "--libraries", "openmpi,mpich", "--ranks", "2", "--launches", "3", "--rounds",
                   "11", "--counts", ",".join(map(str, counts)), "--methods", "tree", "--types", "f64", "--operators",
                   "sum,user_sum")["rows"]
    libraries = sorted({row["library"] for row in found}, reverse=True)
    lines = []
    for count in counts:
        for operator in ("sum", "user_sum"):
            line = [spaced(count), operator]
            for library in libraries:
                ours = [row for row in found
                        if (row["count"], row["operator"], row["library"]) == (count, operator, library)]
                best = min((row for row in ours if row["call"] == "plan"), key=lambda row: row["ratio"])
                chosen = next(row for row in ours if row["schedule"] == "auto" and row["call"] == "plan")
                line += [time_text(best["rival_seconds"]), f"{best['schedule']}: {ratio_text(best, 'ratio')}",
                         f"{chosen['ratio']:.2f}"]
            lines.append(line)
    header = ["doubles", "operator"]
    for library in libraries:
        header += [f"{library}: MPI_Allreduce", "our best schedule, ratio", "`auto`"]
    return rows(header, lines) + f"\n\n(Medians of 11 samples in each of 3 launches; {place()}.)"


FIGURES = {
    "sums": (sums, "README.md"),
    "solver": (solver, "docs/solvers.md"),
    "ocean": (ocean, "docs/fortran.md"),
    "pipelined": (pipelined, "docs/solvers.md"),
    "search": (search, "docs/phylogenetics.md"),
    "climate": (climate, "docs/climate.md"),
    "solver-loop": (solver_loop, "docs/climate.md"),
    "proofs": (proofs, "docs/performance.md"),
    "schedules": (schedules, "docs/performance.md"),
    "predictions": (predictions, "docs/performance.md"),
    "local": (local, "docs/performance.md"),
    "prefetch": (prefetch, "docs/performance.md"),
    "calls": (calls, "docs/performance.md"),
    "allreduce": (allreduce, "docs/performance.md"),
}


def parted(name, document):
    """What stands before a figure in its document, the figure, and what stands behind it."""
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
    """`figures`: by name, what makes each, and its document. `steady`: the names of those that no machine changes."""
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
    main(FIGURES, ("schedules",) if "STEADFOLD_FULL" in os.environ else ())
