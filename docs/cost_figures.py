"""Makes the tables of docs/performance.md. Each table compares the time of Steadfold's calls with the time of
another library or of a loop, measured in the same run. `local` and `ranks` also draw plots, which needs matplotlib."""

from os import getloadavg
from statistics import median

from figure_tools import HOUSE, answer, place, ratio_text, rows, spaced, time_text
from plots import local as plot_of_local
from plots import ranks as plot_of_ranks

COUNTS = (1, 255, 1000, 10_000, 100_000, 1_000_000)
METHODS = ("tree", "exact", "binned")
DOTS = {"fastmath dot": "a loop compiled with `-ffast-math`", "binned dot": "`binned`", "exact dot": "`exact`, the default"}


def joined(numbers):
    return ",".join(map(str, numbers))


def noted(text, table):
    return f"{table}\n\n({text}. Measured on {place()}.)"


def local():
    sizes = {1000: "1e3 (L1)", 100_000: "1e5 (L2)", 1_000_000: "1e6 (8 MB)", 10_000_000: "1e7 (80 MB)",
             30_000_000: "3e7 (240 MB)"}
    found = answer("bench", "local", "--sizes", joined(sizes), "--rounds", "21", core=1)
    by = {(row["kernel"], row["elements"]): row for row in found["rows"]}
    names = [("accumulate", "`std::accumulate`"), ("fastmath", "fast-math loop"), ("kahan", "Kahan"), ("tree", "`tree`"),
             ("exact", "`exact`"), ("binned", "`binned`, K = 3")]
    lines = [["read, ns per element", *(f"{by['read', n]['ns_per_element']:.3f}" for n in sizes)]]
    lines += [[said, *(ratio_text(by[name, n], "ratio_to_read") for n in sizes)] for name, said in names]
    curve = answer("bench", "local", "--sizes", joined(n * 10**k for k in range(3, 8) for n in (1, 3)), "--rounds",
                   "9", "--types", "f64", core=1)
    sums = [row for row in curve["rows"] if not row["kernel"].endswith(" dot")]
    plot_of_local.plot(plot_of_local.series(sums), curve["environment"], HOUSE / "docs/plots/local.svg")
    return noted("Times relative to the plain read: medians of 21 rounds", rows(["doubles", *sizes.values()], lines))


def dots():
    """Measures the cost of dot products. It takes the lower quartile of the samples: other programs may run on the machine, and
    interrupt most samples."""
    sizes = {1000: "1000, from L1", 100_000: "100 000, from L2", 10_000_000: "10 000 000, from memory"}
    launches, rounds = 7, 25
    found = [answer("bench", "local", "--sizes", joined(sizes), "--types", "f64", "--rounds", rounds, core=1)["rows"]
             for _ in range(launches)]  # fmt: skip
    by = [{(row["kernel"], row["elements"]): row["ns_quartiles"][0] for row in each} for each in found]
    loop = [f"{median(times['loop dot', n] for times in by):.2f}" for n in sizes]
    lines = [["the usual loop, ns per product", *loop]]
    for kernel, said in DOTS.items():
        ratios = [[times[kernel, n] / times["loop dot", n] for times in by] for n in sizes]
        lines.append([said, *(f"{median(each):.2f} [{min(each):.2f}, {max(each):.2f}]" for each in ratios)])
    text = (f"Times relative to the usual loop. Each launch counts with the lower quartile of {rounds} rounds. A cell has the "
            f"median of {launches} launches, and in brackets the smallest and the largest value. Other programs ran on the "
            f"machine, with a load of {getloadavg()[1]:.0f}")  # fmt: skip
    return noted(text, rows(["doubles in each array", *sizes.values()], lines))


def calls():
    sizes = (1, 2, 3, 7, 16, 64)
    found = answer("bench", "local", "--sizes", joined(sizes), "--types", "f64", "--rounds", "21", core=1)
    by = {(row["kernel"], row["elements"]): row["ns_per_element"] * row["elements"] for row in found["rows"]}
    lines = [[f"`{name}`", *(f"{by[name, n]:.0f}" for n in sizes)] for name in (*METHODS, "plain")]
    return noted("Times in ns per call: medians of 21 rounds", rows(["doubles", *sizes], lines))


def fields():
    found = answer("bench", "arrays", "--sizes", "1000,100000", "--rounds", "15", core=1)["rows"]
    by = {(row["type"], row["kernel"], row["elements"]): row["ratio_to_accumulate"] for row in found}
    cases = [("thirty fields", "fields", "", 30), ("thirty fields, masked and weighted", "fields", " masked", 30),
             ("rows of thirty columns", "rows", "", 30), ("30 groups by labels", "30 groups", "", 1),
             ("10 000 groups by labels", "10000 groups", "", 1)]
    lines = [[said, *(f"{by[kind, method + end, times * points]:.2f}" for points in (1000, 100_000)
                      for method in ("exact", "binned"))] for said, kind, end, times in cases]
    lines.append(["mean, variance, least and greatest", *(cell for points in (1000, 100_000) for cell in
                                                          (f"{by['statistics', 'statistics', points]:.2f}", ""))])
    header = ["", "1000 points: `exact`", "`binned`", "100 000 points: `exact`", "`binned`"]
    return noted("Times relative to the program's own loop, on one core: medians of 15 rounds", rows(header, lines))


def over_ranks(transport, libraries):
    """Runs `bench allreduce` on two ranks. Returns its rows as {(library, method, call, count): row}."""
    found = answer("bench", "allreduce", "--libraries", libraries, "--ranks", "2", "--launches", "3", "--rounds", "11",
                   "--schedules", "auto", "--counts", joined(COUNTS), "--methods", joined(METHODS), "--types", "f64",
                   "--operators", "sum", environment={"STEADFOLD_TRANSPORT": transport})  # fmt: skip
    return {(row["library"], row["method"], row["call"], row["count"]): row for row in found["rows"]}


RANKS = [("tree", "plan", "`tree`, plan"), ("exact", "plan", "`exact`, plan"), ("binned", "plan", "`binned`, plan"),
         ("tree", "plan, sf_allocate", "`tree`, plan, `sf_allocate`"), ("tree", "allreduce", "`tree`, one call"),
         ("exact", "allreduce", "`exact`, one call")]


def lines_of_library(by, library, calls):
    """Rows of a table: the time of MPI_Allreduce, then the time of each of `calls` divided by it."""
    rival = [time_text(by[library, "tree", "plan", n]["rival_seconds"]) for n in COUNTS]
    ratios = [[said, *(f"{by[library, method, call, n]['ratio']:.2f}" for n in COUNTS)] for method, call, said in calls]
    return [[f"{library}: MPI_Allreduce", *rival], *ratios]


def ranks():
    by = over_ranks("auto", "openmpi,mpich")
    lines = lines_of_library(by, "Open MPI", RANKS) + lines_of_library(by, "MPICH", RANKS)
    plot_of_ranks.plot(by, RANKS, COUNTS, place(), HOUSE / "docs/plots/ranks.svg")
    return noted("Times relative to MPI_Allreduce of the same MPI library: medians of 11 samples in each of 3 launches",
                 rows(["doubles", *map(spaced, COUNTS)], lines))


def messages():
    lines = lines_of_library(over_ranks("mpi", "openmpi"), "Open MPI", [row for row in RANKS if "sf_allocate" not in row[1]])
    return noted("Times relative to MPI_Allreduce of Open MPI: medians of 11 samples in each of 3 launches",
                 rows(["doubles", *map(spaced, COUNTS)], lines))


def choices():
    found = answer("bench", "auto", "--ranks", "2", "--rounds", "8", environment={"STEADFOLD_TRANSPORT": "mpi"})["rows"]
    worst = max(found, key=lambda row: row["ratio"])
    near = sum(row["ratio"] <= 1.15 for row in found)
    return (f"Between two ranks that send messages, {near} of {len(found)} choices take at most 1.15 times as long as the "
            f"best schedule. The worst choice takes {worst['ratio']:.2f} times as long ({spaced(worst['count'])} doubles with "
            f"method `{worst['method']}`, measured on {place()}).")


def bundles():
    found = answer("bench", "bundle", "--libraries", "openmpi,mpich", "--ranks", "2", "--rounds", "21", "--counts",
                   "1,3,30")["rows"]
    by = {(row["library"], row["method"], row["call"], row["count"]): row["ratio"] for row in found}
    cases = [("exact", "bundle", "bundle, `exact`"), ("tree", "bundle", "bundle, `tree`"), ("exact", "sums", "single calls, `exact`")]
    places = [(library, count) for library in ("Open MPI", "MPICH") for count in (1, 3, 30)]
    lines = [[said, *(f"{by[library, method, call, count]:.2f}" for library, count in places)] for method, call, said in cases]
    header = ["sums", *(f"{library}: {count}" if count == 1 else count for library, count in places)]
    return noted("Times relative to one MPI_Allreduce for each sum, on two ranks: medians of 21 rounds", rows(header, lines))


def started():
    counts = (1, 255, 10_000)
    found = answer("bench", "splitphase", "--ranks", "2", "--counts", joined(counts), "--rounds", "15", "--launches",
                   "3")["rows"]
    by = {(row["method"], row["count"]): row for row in found if row["call"] == "start, wait"}
    lines = [["MPI_Iallreduce, MPI_Wait", *(time_text(by["tree", n]["rival_seconds"]) for n in counts)]]
    lines += [[f"`{method}`: start, wait", *(f"{by[method, n]['ratio']:.2f}" for n in counts)] for method in ("tree", "exact")]
    return noted("Times relative to MPI_Iallreduce and MPI_Wait of Open MPI, on two ranks of one node: medians of 45 samples",
                 rows(["doubles", *map(spaced, counts)], lines))


def threads():
    counts = (1, 255, 10_000)
    found = answer("bench", "shared", "--threads", "2", "--counts", joined(counts), "--methods", "tree,exact", "--rounds",
                   "31")["rows"]
    by = {(row["method"], row["rival"], row["count"]): row for row in found if row["call"] == "plan" and row["ranks"] == 1}
    lines = [["OpenMP's `reduction`", *(time_text(by["tree", "openmp", n]["rival_seconds"]) for n in counts)]]
    for rival, said in (("openmp", "OpenMP"), ("bare exchange", "a bare exchange of cache lines")):
        lines += [[f"`{method}`, relative to {said}", *(f"{by[method, rival, n]['ratio']:.2f}" for n in counts)]
                  for method in ("tree", "exact")]  # fmt: skip
    return noted("Times of plans of a team of two threads: medians of 31 rounds",
                 rows(["doubles", *map(spaced, counts)], lines))


FIGURES = {each.__name__: each for each in (local, calls, fields, ranks, messages, choices, bundles, started, threads)}
