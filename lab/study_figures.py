"""Makes the tables of lab/studies.md and lab/notes/prediction.md again, and writes them where they stand: list, show, write or check, and names, as
docs/figures.py takes them. Build first (`./dev lab`). A check without names takes 20 s, with STEADFOLD_FULL=1 five minutes.
STEADFOLD_REPROBLAS names an installation of ReproBLAS (lab/studies.md says how), which thesis-time needs, and
STEADFOLD_DATA a folder with [S0]'s data, which thesis-reproducibility needs."""

import collections
import functools
import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
import figures  # noqa: E402
from figure_tools import COMMAND, answer, place, rows, run, spaced, time_text  # noqa: E402


@functools.cache
def part_of(study, part, *more):
    return answer("study", study, "--part", part, *more)["rows"]


def thesis_nodes():
    found = {(row["elements"], row["ranks"], row["distribution"]): row for row in part_of("thesis", "nodes")}
    some = ("upper", "optimized", "balanced")
    jobs = [(504_850, 256, ("lower", "upper", "power2", "optimized, table 3.3", "optimized", "balanced")), (21_410_970, 256, some),
            (21_410_970, 1280, some)]
    lines = []
    for elements, ranks, distributions in jobs:
        for distribution in distributions:
            row = found[elements, ranks, distribution]
            score = f"{row['score_seconds'] * 1e6:.1f}"
            published = ""
            if row["published_nodes"] is not None:
                published = f"{row['published_nodes']}, {row['published_score_seconds'] * 1e6:.1f}"
            job = (spaced(elements), ranks) if distribution == distributions[0] else ("", "")
            lines.append([*job, distribution, spaced(row["nodes"]), score, published, row["tree_messages"],
                          spaced(row["tree_bytes"]), f"{row['tree_seconds'] * 1e6:.2f}"])
    return rows(["N", "p", "distribution", "nodes", "score, us", "published", "rank tree: messages", "bytes", "predicted, us"],
                lines)


def thesis_buffer():
    found = [row for row in part_of("thesis", "buffer") if row["ranks"] == 256]
    held = sorted({row["held"] for row in found})
    header = ["distribution", *held[:-1], "any"]
    lines = []
    for distribution in dict.fromkeys(row["distribution"] for row in found):
        of = [row for row in found if row["distribution"] == distribution]
        lines.append([distribution, *(f"{row['messages']} ({round(row['nodes_per_message'], 2):g})" for row in of)])
    return rows(header, lines)


def thesis_predicted():
    """In microseconds, of `upper`."""
    lines = []
    for elements, ranks in ((504_850, 256), (504_850, 1280), (21_410_970, 256), (21_410_970, 1280)):
        cells = []
        for gap in ("0", "5e-7", "2e-6"):
            of = next(row for row in part_of("thesis", "nodes", "--gap", gap)
                      if (row["elements"], row["ranks"], row["distribution"]) == (elements, ranks, "upper"))
            times = (of[f"{name}_seconds"] for name in ("owner_1", "owner_4", "tree"))
            cells.append(", ".join(f"{seconds * 1e6:.{2 if seconds < 2e-5 else 1}f}" for seconds in times))
        lines.append([spaced(elements), ranks, *cells])
    return rows(["N", "ranks", "no gap", "gap 0.5 us", "gap 2 us"], lines)


def thesis_summation():
    found = {(row["elements"], row["way"]): row["ns_per_element"] for row in part_of("thesis", "summation")}
    lines = []
    for elements in (8, 64, 512, 4096, 2**15, 2**21, 2**27):
        loop, recursive, tree = (found[elements, way] for way in ("loop", "recursive", "tree"))
        name = spaced(elements) if elements < 2**20 else f"2^{elements.bit_length() - 1}"
        lines.append([name, *(f"{time:.2g}" for time in (loop, recursive, tree, loop / tree, recursive / tree))])
    header = ["N", "std::accumulate", "recursive", "tree", "accumulate / tree", "recursive / tree"]
    return rows(header, lines) + f"\n\n({place()}.)"


def node_trees():
    """In ns, of the count / a flag per child / children as they come."""
    found = {(row["tree"], row["places"], row["protocol"]): row["seconds"]
             for row in part_of("node", "trees") if row["threads"] == 16}  # fmt: skip
    places = {"in turn": "threads dealt to the sockets in turn", "by socket": "socket after socket",
              "tree per socket": "a tree per socket (1 edge across)"}
    protocols = ("counted_notify", "single_notify", "multi_notify")
    lines = [[tree, *(" / ".join(f"{found[tree, place, protocol] * 1e9:.0f}" for protocol in protocols) for place in places)]
             for tree in ("chain", "binary", "binomial", "4-ary", "flat")]
    return rows(["tree", *places.values()], lines)


def butterfly_adaptable():
    found = part_of("butterfly", "adaptable")
    lines = []
    for n in sorted({row["n"] for row in found}):
        refused = [row["ranks"] for row in found if row["n"] == n and not row["adaptable"]]
        most = max(row["second_partials"] // row["ranks"] for row in found if row["n"] == n)
        lines.append([n, sum(p <= 256 for p in refused), len(refused), ", ".join(map(str, refused[:4])), most])
    return rows(["n", "to p = 256", "to p = 1024", "the first", "second partials per rank, at most"], lines)


def simulated(schedule, ranks, method):
    return answer("simulate", "--ranks", ranks, "--elements", 504_850, "--method", method, "--schedule", schedule, "--gap", 0)


def microseconds(seconds):
    return f"{seconds * 1e6:.{1 if seconds >= 1e-5 else 2}f}"


def butterfly_messages():
    lines = []
    for schedule in ("recursive_doubling", *(f"{name}:n={n}" for n in (1, 3, 9) for name in ("bruck", "dissemination"))):
        tree, exact = (simulated(schedule, 1000, method) for method in ("tree", "exact"))
        cells = [cell for row in (tree, exact) for cell in (spaced(row["bytes"]), microseconds(row["seconds"]))]
        lines.append([schedule, tree["rounds"], spaced(tree["messages"]), *cells])
    return rows(["schedule", "rounds", "messages", "`tree`: bytes", "us", "`exact`: bytes", "us"], lines)


def butterfly_pairs():
    names = ("recursive_doubling", "pairwise_exchange")
    lines = []
    for ranks in (5, 7, 100, 1000):
        both = [simulated(name, ranks, "tree") for name in names]
        lines.append([ranks, *(cell for row in both for cell in (spaced(row["bytes"]), microseconds(row["seconds"])))])
    return rows(["ranks", names[0], "us", names[1], "us"], lines)


def without_repeats(lines, columns):
    """Leaves out, in the first columns, what the line before has as well."""
    kept, before = [], None
    for line in lines:
        alike = 0
        while before and alike < columns and line[alike] == before[alike]:
            alike += 1
        kept.append([*([""] * alike), *line[alike:]])
        before = line
    return kept


def thesis_lookup():
    found = {(row["ranks"], row["way"]): row["ns_per_lookup"] for row in part_of("thesis", "lookup", "--rounds", 41)}
    ways = ("walk", "binary search", "closed form")
    lines = []
    for ranks in (2, 4, 8, 16, 256, 1280, 2**20):
        times = (found.get((ranks, way)) for way in ways)
        cells = ("" if time is None else f"{float(f'{time:.2g}'):g}" for time in times)
        lines.append(["2^20" if ranks == 2**20 else ranks, *cells])
    return rows(["ranks", *ways], lines) + f"\n\n({place()}.)"


def thesis_time():
    """Medians of five runs."""
    prefix = os.environ.get("STEADFOLD_REPROBLAS")
    if prefix is None:
        raise SystemExit("thesis-time cannot be made (no ReproBLAS is named), set STEADFOLD_REPROBLAS")
    words = ("--ranks", "1,2", "--rounds", 31, "--reproblas", prefix)
    ways = {"MPI_Allreduce": ("mpi", "mpi"), "plain": ("plain", "binomial"), "tree: rank tree": ("tree", "binomial"),
            "owner": ("tree", "owner:buffer=1"), "owner:buffer=4": ("tree", "owner:buffer=4"),
            "exact": ("exact", "binomial"), "ReproBLAS": ("reproblas", "mpi")}
    found = collections.defaultdict(list)
    for _ in range(5):
        for row in answer("study", "thesis", "--part", "time", *words)["rows"]:
            found[row["ranks"], row["elements"], (row["method"], row["schedule"])].append(row)
    lines = []
    for ranks in (1, 2):
        for elements in (460, 1602, 504_850, 3_011_099, 21_410_970):
            of = {way: found[ranks, elements, way] for way in ways.values()}
            loop = statistics.median(row["rival_seconds"] for row in of["mpi", "mpi"])
            ratios = (statistics.median(row["ratio"] for row in runs) for runs in of.values())
            lines.append([spaced(elements), ranks, four_digits(loop), *(f"{ratio:.2f}" for ratio in ratios)])
    return rows(["N", "ranks", "loop, us", *ways], lines) + f"\n\n({place()}.)"


def thesis_reproducibility():
    """The data sets whose files are in STEADFOLD_DATA, and generated numbers for the others."""
    folder = os.environ.get("STEADFOLD_DATA")
    if folder is None:
        raise SystemExit("thesis-reproducibility cannot be made (no data are named), set STEADFOLD_DATA")
    found = collections.defaultdict(dict)
    for row in (*part_of("thesis", "reproducibility"), *part_of("thesis", "reproducibility", "--data", folder)):
        found[row["data_set"]][row["method"], row["schedule"]] = row
    lines = []
    for name, of in found.items():
        plain = of["plain", "recursive_doubling"]
        ours = max(of["tree", "binomial"]["difference"], of["exact", "recursive_doubling"]["difference"])
        theirs = [""] * 3
        if plain["published_table"] is not None:
            theirs = [f"{plain['published_table']:.1e}", f"{plain['published_difference']:.1e}", plain["published_results"]]
        lines.append([name, spaced(plain["elements"]), *theirs, plain["data"], f"{plain['difference']:.1e}",
                      plain["results"], f"{plain['relative_difference']:.1e}", f"{ours:g}"])
    return rows(["data set", "N", "table 4.2", "transcript", "different results of 16", "data here", "plain here",
                 "different results of 16", "relative to the sum", "tree, exact"], lines)


def node_storage():
    """Of 16 threads."""
    found = {(row["doubles"], row["tree"], row["protocol"]): row
             for row in part_of("node", "storage") if row["threads"] == 16}  # fmt: skip
    said = {("binary", "single_notify"): "SingleNotify, MultiNotify, any tree",
            ("binary", "counted_notify"): "SingleNotify with a count",
            ("binary", "counted_notify, broadcast"): "SingleNotify with a count, broadcast by counts",
            ("binary", "reduce, broadcast"): "reduce and broadcast",
            ("none", "dissemination"): "dissemination",
            ("none", "a team's plan, its board"): "a team's plan: its board",
            ("none", "a team's plan, its mailboxes"): "a team's plan: its mailboxes"}  # fmt: skip
    lines = []
    for which, text in said.items():
        one, many = found[1, *which], found[16, *which]
        least, most = one["published_lines_least"], one["published_lines_most"]
        lines.append([text, one["lines"], many["lines"], "" if least is None else f"{least} to {most}"])
    trees = ("chain", "binary", "binomial", "flat")
    most = (", ".join(str(found[doubles, tree, "single_notify"]["most_lines_per_thread"]) for tree in trees)
            for doubles in (1, 16))  # fmt: skip
    lines.insert(1, [f"the same, the thread with most: {', '.join(trees)}", *most, "3, 4, 6, 17 at most"])
    return rows(["", "one double", "16 doubles", "[S2]: a message is one line"], lines)


def node_arrival():
    """In ms. Rank 1 of 16 has 300 rows, the others one each."""
    trees = ("chain", "binary", "binomial", "kary", "flat")
    lines = []
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as held:
        held.write("\n".join(["1", "300", *["1"] * 14]) + "\n")
        held.flush()
        words = ("--ranks", 16, "--elements", 315, "--width", 1000, "--distribution", held.name, "--method", "exact",
                 "--collective", "reduce", "--gap", 0, "--rendezvous", 0)
        for protocol in ("single_notify", "multi_notify"):
            found = [answer("simulate", *words, "--schedule", f"{protocol}:tree={tree}") for tree in trees]
            lines.append([protocol, *(f"{row['seconds'] * 1e3:.3f}" for row in found)])
    return rows(["tree", *trees], lines)


def node_sockets():
    """It depends on the state of the caches of the machine that makes it."""
    found = part_of("node", "sockets")
    by = {(row["elements"], row["protocol"], row["method"], row["threads"]): row for row in found}
    single, double = "binned:sweep=single", "binned:sweep=double"
    lines = []
    for elements in (1024, 4096, 16_384, 65_536):
        cells = []
        for method in (single, double):
            gained = (by[elements, "multi_notify", method, threads]["speedup"] for threads in (2, 4, 8, 16))
            without = by[elements, "single_notify", method, 16]["speedup"]
            cells.append(", ".join(f"{each:.2g}" for each in gained) + f" ({without:.2g})")
        ratios = (by[elements, "multi_notify", double, threads]["seconds"] /
                  by[elements, "multi_notify", single, threads]["seconds"] for threads in (8, 16))
        lines.append([spaced(elements), *cells, ", ".join(f"{ratio:.1f}" for ratio in ratios)])
    times = ", ".join(f"a {what} {found[0][f'measured_{what}_seconds'] * 1e9:.0f} ns" for what in ("message", "merge"))
    header = ["elements", "single sweep", "double sweep", "double / single, 8 and 16 threads"]
    return rows(header, lines) + f"\n\n({times}; {place()}.)"


def topology_bits():
    """Of 1 048 576 doubles on 20 ranks, the share of results whose bits change."""
    groups = ("x2", "x4", "x8", "x6")
    found = {(row["method"], row["schedule"], row["groups"]): row["share"]
             for row in part_of("topology", "differences") if (row["ranks"], row["doubles"]) == (20, 2**20)}  # fmt: skip
    lines = []
    for method, schedule in dict.fromkeys(key[:2] for key in found):
        shares = (found[method, schedule, group] for group in groups)
        lines.append([method, schedule, *(f"{100 * share:.0f} %" if share else 0 for share in shares)])
    return rows(["method", "schedule", *groups], without_repeats(lines, 1))


def topology_cost():
    lines = []
    for row in part_of("topology", "cost"):
        if row["doubles"] == 1:
            continue
        ratios = [row[name] for name in ("x2", "x4", "x8", "x8_two_level", "x8_to_round_robin")]
        lines.append([row["collective"], row["ranks"], spaced(row["doubles"]), row["schedule"],
                      four_digits(row["seconds"]), *("" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
                      row["published"]])
    header = ["collective", "ranks", "doubles", "schedule", "us", "x2", "x4", "x8", "two_level, x8",
              "x8 to round robin", "published"]
    return rows(header, without_repeats(lines, 2))


def topology_placement():
    """Of 32 768 doubles, in microseconds; groups of nodes are the same wherever ranks stand."""
    alone = "halving_doubling"
    lines = []
    for collective, grouping in (("reduce", "root_group_last"), ("allreduce", "two_level")):
        for ranks in (64, 1024):
            words = ("--ranks", ranks, "--elements", ranks, "--width", 32_768, "--method", "plain",
                     "--collective", collective, "--latency", 2.81e-7, "--gap", 0, "--rendezvous", 0,
                     "--per-op", 8e-10, "--topology", "two_level:size=8:links=1")  # fmt: skip
            times = [answer("simulate", *words, "--schedule", alone, "--placement", where)["seconds"]
                     for where in ("block", "round_robin", "random")]
            grouped = f"{grouping}:size=8:inner=[{alone}]:outer=[{alone}]"
            in_groups = answer("simulate", *words, "--schedule", grouped)["seconds"]
            lines.append([collective, ranks, *map(four_digits, times), f"{in_groups / times[-1]:.2f}"])
    return rows(["collective", "ranks", "block", "round_robin", "random", "x8 to random"], without_repeats(lines, 1))


def topology_bound():
    """The mathematical library has a share in it: it makes the numbers."""
    found = {(row["summands"], row["order"]): row for row in part_of("topology", "bound")}
    orders = ("tree", "exact", "binned", "plain, x8, root's group last", "plain, in a row")
    lines = []
    for summands in (64, 1000, 65_536, 1_048_576):
        of = [found[summands, order] for order in orders]
        lines.append([spaced(summands), f"{of[0]['bound']:.2g}",
                      *(f"{row['relative_error']:.2g}" + ("" if row["holds"] else ", above") for row in of)])
    return rows(["N", "bound", *orders], lines) + f"\n\n({place()}.)"


EXERCISES = {"reduce_broadcast": "reduce_broadcast (exercise 1)", "pipelined_linear": "pipelined_linear (2)",
             "doubly_pipelined_linear:roots=1": "doubly_pipelined_linear:roots=1 (3)",
             "doubly_pipelined_linear": "doubly_pipelined_linear, two roots", "pipelined_tree": "pipelined_tree (4)",
             "doubly_pipelined_tree:roots=1": "doubly_pipelined_tree:roots=1 (5)",
             "doubly_pipelined_tree": "doubly_pipelined_tree, two roots", "transpose": "transpose (ours)",
             "ring": "ring", "halving_doubling": "halving_doubling", "circulant": "circulant"}  # fmt: skip
JOBS = ("1 x 16", "20 x 1", "36 x 1", "20 x 16", "36 x 16", "36 x 32")  # of [S1]: nodes x processes


def four_digits(seconds):
    """Microseconds: below 1000 by three digits, above by four and zeros."""
    number = seconds * 1e6
    if number < 1000:
        return f"{number:#.3g}".rstrip(".")
    return spaced(int(float(f"{number:.4g}")))


def sizes_of_pipelines():
    """By configuration, algorithm and floats."""
    asked = ("--configurations", ",".join(job.replace(" ", "") for job in JOBS))
    return {(row["configuration"], row["algorithm"], row["floats"]): row
            for row in part_of("pipelines", "sizes", *asked)}  # fmt: skip


def pipelines_jobs():
    """One float, then 10^7 with the best of [S1]'s blocks."""
    found = sizes_of_pipelines()
    singles = [name for name, said in EXERCISES.items() if ")" in said and "ours" not in said]
    lines = []
    for floats, said, names in ((1, "1", singles), (10_000_000, "10^7", [*singles, "halving_doubling"])):
        for name in names:
            of = [found[job, name, floats] for job in JOBS]
            times = (row["seconds"] if row["as_tried_seconds"] is None else row["as_tried_seconds"] for row in of)
            lines.append([f"{EXERCISES[name]}, {said}", *map(four_digits, times)])
    return rows(["algorithm", *JOBS], lines)


def pipelines_sizes():
    found = sizes_of_pipelines()
    lengths = (1, 512, 65_536, 524_288, 10_000_000)
    lines = []
    for name, said in EXERCISES.items():
        of = [found["36 x 32", name, floats] for floats in lengths]
        blocks = [f" ({spaced(row['block'])})" if row["block"] and row["block"] < row["floats"] else "" for row in of]
        tried = of[-1]["as_tried_seconds"]
        lines.append([said, *(four_digits(row["seconds"]) + block for row, block in zip(of, blocks)),
                      "" if tried is None else four_digits(tried)])
    return rows(["algorithm", *map(spaced, lengths), "as tried"], lines)


def pipelines_duplex():
    found = {(row["configuration"], row["algorithm"]): row
             for row in part_of("pipelines", "duplex", "--configurations", "1x16,36x32") if row["floats"] == 10_000}
    jobs = ("1 x 16", "36 x 32")
    lines = []
    for name, said in EXERCISES.items():
        of = [found[job, name] for job in jobs]
        lines.append([said, *(cell for row in of for cell in (four_digits(row["seconds"]),
                                                             four_digits(row["half_duplex_seconds"]),
                                                             f"{row['ratio']:.2f}"))])
    return rows(["algorithm", *(cell for job in jobs for cell in (f"{job}: both at once", "either", "ratio"))], lines)


BUTTERFLIES = ("pairwise_exchange", *(f"{name}:n={n}" for name in ("bruck", "dissemination") for n in (1, 3, 5)))


def times_of_butterflies(*more):
    """By payload, links, ranks, schedule and ports."""
    named = {}
    for row in part_of("butterfly", "time", *more):
        schedule = row["schedule"] if row["n"] is None else f"{row['schedule']}:n={row['n']}"
        named[row["payload"], row["links"], row["ranks"], schedule, row["ports"]] = row["us"]
    return named


def butterfly_times():
    """On flat links, one port."""
    found = times_of_butterflies()
    ranks = (8, 16, 28, 48, 64)
    lines = []
    for payload in ("1 int", "255 doubles"):
        for schedule in ("binomial", *BUTTERFLIES):
            lines.append([payload, schedule, *(f"{found[payload, 'flat', p, schedule, 1]:.2f}" for p in ranks)])
    return rows(["payload", "schedule", *ranks], without_repeats(lines, 1))


def butterfly_contention():
    """Of 255 doubles."""
    found = times_of_butterflies("--most-ranks", 1024)
    links = ("fat tree", "fat tree 2:1", "torus", "torus, half duplex")
    ways = [("binomial", 1), ("pairwise_exchange", 1)]
    ways += [(f"{name}:n={n}", ports) for n, ports in ((1, 1), (5, 1), (5, 5)) for name in ("bruck", "dissemination")]
    lines = []
    for ranks in (64, 1024):
        for schedule, ports in ways:
            times = [found["255 doubles", link, ranks, schedule, ports] for link in ("flat", *links)]
            said = schedule + (f", {ports} ports" if ports > 1 else "")
            lines.append([ranks, said, f"{times[0]:.2f}", *(f"{time / times[0]:.2f}" for time in times[1:])])
    return rows(["ranks", "schedule", "flat, us", *links], without_repeats(lines, 1))


def butterfly_best():
    """How often n = 1, 2, ... is the fastest one, and what is lost by [S4]'s n: median and largest ratio."""
    found = collections.defaultdict(list)
    for row in part_of("butterfly", "best"):
        found[row["payload"], row["links"], row["ports"]].append(row)
    lines = []
    for which in (("1 int", "flat", "1"), ("255 doubles", "flat", "1"), ("255 doubles", "flat", "n"),
                  ("255 doubles", "fat tree", "n"), ("255 doubles", "fat tree 2:1", "1"), ("255 doubles", "torus", "1"),
                  ("255 doubles", "torus, half duplex", "1")):  # fmt: skip
        cells = []
        for name, asked in (("dissemination", "smallest_us"), ("bruck", "bruck_5_us")):
            best = collections.Counter(row[f"{name}_n"] for row in found[which])
            lost = [row[asked] / row[f"{name}_us"] for row in found[which]]
            cells += [", ".join(str(best[n]) for n in range(1, 6)), f"{statistics.median(lost):.2f}, {max(lost):.2f}"]
        lines.append([*which, *cells])
    header = ["payload", "links", "ports", "dissemination", "smallest n", "bruck", "n = 5"]
    return rows(header, without_repeats(lines, 2))


def butterfly_special():
    found = {(row["n"], row["ranks_are"]): row for row in part_of("butterfly", "special")
             if (row["payload"], row["links"]) == ("255 doubles", "flat")}
    kinds = {"(n + 1)^k": "p = (n + 1)^k", "(n + 1)^k - 1": "(n + 1)^k - 1", "adaptable": "other adaptable p",
             "not adaptable": "not adaptable p"}
    lines = []
    for n in range(1, 6):
        cells = []
        for row in (found.get((n, kind)) for kind in kinds):
            if row is None:
                cells.append("")
                continue
            least, greatest = f"{row['least_ratio']:.2f}", f"{row['greatest_ratio']:.2f}"
            cells.append(f"{row['dissemination_first']}, {row['bruck_first']} of {row['rank_counts']}"
                         + (f": {least} to {greatest}" if least != greatest else ""))
        lines.append([n, *cells])
    return rows(["n", *kinds.values()], lines)


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


PREDICTIONS = {"proofs": proofs, "schedules": schedules, "predictions": predictions}
TABLES = {
    "thesis-nodes": thesis_nodes,
    "thesis-buffer": thesis_buffer,
    "thesis-predicted": thesis_predicted,
    "thesis-lookup": thesis_lookup,
    "thesis-summation": thesis_summation,
    "thesis-time": thesis_time,
    "thesis-reproducibility": thesis_reproducibility,
    "node-trees": node_trees,
    "node-storage": node_storage,
    "node-arrival": node_arrival,
    "node-sockets": node_sockets,
    "topology-bits": topology_bits,
    "topology-cost": topology_cost,
    "topology-placement": topology_placement,
    "topology-bound": topology_bound,
    "pipelines-sizes": pipelines_sizes,
    "pipelines-jobs": pipelines_jobs,
    "pipelines-duplex": pipelines_duplex,
    "butterfly-adaptable": butterfly_adaptable,
    "butterfly-messages": butterfly_messages,
    "butterfly-pairs": butterfly_pairs,
    "butterfly-times": butterfly_times,
    "butterfly-contention": butterfly_contention,
    "butterfly-best": butterfly_best,
    "butterfly-special": butterfly_special,
}
# Counted and predicted, not measured; those in the second line take half a minute or more each.
QUICK = ("thesis-nodes", "thesis-buffer", "thesis-predicted", "node-trees", "node-storage", "node-arrival",
         "topology-placement", "butterfly-adaptable", "butterfly-messages", "butterfly-pairs", "butterfly-times",
         "butterfly-best", "butterfly-special")
SLOW = ("topology-bits", "topology-cost", "pipelines-sizes", "pipelines-jobs", "pipelines-duplex", "butterfly-contention",
        "schedules")


if __name__ == "__main__":
    tables = {name: (make, "lab/studies.md") for name, make in TABLES.items()}
    tables |= {name: (make, "lab/notes/prediction.md") for name, make in PREDICTIONS.items()}
    figures.main(tables, QUICK + (SLOW if "STEADFOLD_FULL" in os.environ else ()))
