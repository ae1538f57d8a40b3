"""Compares sums of an array by Steadfold and by other Python packages, in one run: the changes to which their bits are
sensitive, and their cost.

  python3 python/benchmarks/peers.py                             the tables, in Markdown
  python3 python/benchmarks/peers.py --json peers.json           the same, and all figures to a file, which
  python3 docs/plots/python.py peers.json docs/plots/python.svg  draws

Needs steadfold and NumPy. Packages that are not installed (dask, accupy, xsum, mpi4py with a launcher) are left out.
The run tests whether bits change. Contestants take turns in every round. STEADFOLD_MPIRUN names the launcher.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

import numpy as np

import steadfold as sf

SEED = 1
SIZES = (1000, 100_000, 10_000_000)
RANKS = (1, 2, 3, 4, 5)
THREADS = (1, 2, 3, 4)
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}  # processor: the time of all threads
CHUNKS = (20_000, 5000, 1000, 777, 100)


class Contestant:
    """A way to sum: `sum(x)`, and optionally `chunked(pieces)`, `threaded(x, threads)` and `ranks(part, comm)`.
    `prepare` converts an array to the measured operand."""

    def __init__(self, name, add, ours=False, single=False, prepare=None, chunked=None, threaded=None, ranks=None):
        self.name, self.sum, self.ours, self.single = name, add, ours, single
        self.prepare = prepare or (lambda x: x)
        self.threaded = threaded
        # If a contestant has no partial sums: the same function adds the sums of chunks, and MPI adds the sums of
        # ranks.
        self.chunked = chunked or (lambda pieces: add(self.prepare(np.array([add(self.prepare(p)) for p in pieces], pieces[0].dtype))))
        self.ranks = ranks or (lambda part, comm: allreduced(np.asarray(add(self.prepare(part)), part.dtype), comm))


def allreduced(value, comm):
    total = np.empty_like(value)
    comm.Allreduce(value, total)
    return total[()]


def ours(method, single=False):
    def accumulated(pieces):
        parts = [sf.Accumulator(dtype=pieces[0].dtype) for _ in pieces]
        for part, piece in zip(parts, pieces):
            part.add(piece)
        for part in parts[1:]:
            parts[0] += part
        return parts[0].sum()

    return Contestant(
        f"steadfold.sum, {method}" + (", float32" if single else ""), lambda x: sf.sum(x, method=method), True, single,
        chunked=accumulated if method == "exact" else None,
        threaded=lambda x, threads: sf.sum(x, method=method, threads=threads),
        ranks=lambda part, comm: sf.sum(part, method=method, comm=comm),
    )  # fmt: skip


def contestants():
    found = [Contestant("numpy.sum", np.sum), Contestant("numpy.sum, float32", np.sum, single=True),
             Contestant("math.fsum of a list", math.fsum, prepare=lambda x: x.tolist())]  # fmt: skip
    try:
        import accupy

        found += [Contestant("accupy.kahan_sum", accupy.kahan_sum), Contestant("accupy.ksum, K = 2", accupy.ksum)]
    except ImportError:
        pass
    try:
        import xsum

        found += [xsums(f"xsum.xsum_{size}", getattr(xsum, f"xsum_{size}")) for size in ("small", "large")]
    except ImportError:
        pass
    found += [ours("exact"), ours("exact", True), ours("tree"), ours("binned")]
    try:
        import dask.array as da

        import steadfold.dask as sfd

        found += [of_dask("dask.array sum, 8 chunks", da.sum, da, False), of_dask("steadfold.dask.sum, 8 chunks", sfd.sum, da, True)]
    except ImportError:
        pass
    return found


def xsums(name, kind):
    """An accumulator to which chunks are added."""

    def chunked(pieces):
        made = kind()
        for piece in pieces:
            made.add(piece)
        return made.round()

    return Contestant(name, lambda x: chunked([x]), chunked=chunked)


def of_dask(name, add, da, is_ours):
    def computed(array, threads):
        return add(array).compute(scheduler="threads", num_workers=threads)

    def eight(x):
        return da.from_array(x, chunks=-(-len(x) // 8), name=False)  # a name would need a digest of x

    def chunked(pieces):
        return computed(da.concatenate([da.from_array(piece, chunks=len(piece)) for piece in pieces]), 2)

    return Contestant(name, lambda x: computed(eight(x), 2), is_ours, chunked=chunked,
                      threaded=lambda x, threads: computed(eight(x), threads),
                      ranks=(lambda part, comm: sf.sum(part, comm=comm)) if is_ours else None)  # fmt: skip


# Changes of bits.


def hostile(single):
    """Numbers of many magnitudes; half of them nearly cancel the other half."""
    random = np.random.default_rng(SEED)
    half = random.standard_normal(10_000) * 2.0 ** random.integers(-20, 20, 10_000)
    x = np.concatenate([half, -half * (1 + random.integers(0, 2, 10_000) * 1e-9)])
    return random.permutation(x).astype(np.float32 if single else np.float64)


def bits(value, single):
    return np.asarray(value, np.float32 if single else np.float64).tobytes().hex()


def rounded(x):
    exact = sum(map(Fraction, x.astype(np.float64).tolist()), Fraction())
    return np.float64(float(exact)).astype(x.dtype)  # for float32: no exact sum here is close to a tie


def tried(one):
    """{the varied property: number of different results}, and whether the first result is correctly rounded."""
    x = hostile(one.single)
    random = np.random.default_rng(SEED)
    orders = [x] + [random.permutation(x) for _ in range(7)]
    pieces = [[x[i : i + size] for i in range(0, len(x), size)] for size in CHUNKS]
    found = {"order": [one.sum(one.prepare(order)) for order in orders], "chunks": [one.chunked(piece) for piece in pieces]}
    if one.threaded:
        found["threads"] = [one.threaded(x, threads) for threads in THREADS]
    counted = {what: len({bits(value, one.single) for value in values}) for what, values in found.items()}
    return counted, bits(found["order"][0], one.single) == bits(rounded(x), one.single)


# Cost.


def seconds_of(call, clock, least=5e-4):
    """Measures one call, or as many as take half a millisecond."""
    times = 1
    while True:
        begin = CLOCKS[clock]()
        for _ in range(times):
            call()
        took = CLOCKS[clock]() - begin
        if took >= least:
            return took / times
        times = max(2 * times, int(times * least / max(took, 1e-9)))


def race(calls, rounds, clock):
    """{name: seconds of every round}. In every round all contestants take turns. The first contestant changes from
    round to round."""
    names, found = list(calls), {name: [] for name in calls}
    for call in calls.values():
        call()  # first calls load libraries and make plans
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            found[name].append(seconds_of(calls[name], clock))
    return found


def figures(seconds, elements):
    return {"median": statistics.median(seconds) / elements * 1e9, "least": min(seconds) / elements * 1e9}


def measured(contenders, rounds, clock):
    """{name: {elements: figures}}, in ns per element."""
    found = {one.name: {} for one in contenders}
    for size in SIZES:
        x = np.random.default_rng(SEED).standard_normal(size)
        operands = {one.name: one.prepare(x.astype(np.float32) if one.single else x) for one in contenders}
        calls = {one.name: (lambda one=one: one.sum(operands[one.name])) for one in contenders}
        for name, seconds in race(calls, rounds if size < 10**6 else max(3, rounds // 3), clock).items():
            found[name][size] = figures(seconds, size)
    return found


# The functions below start this file again as a job with a launcher, and run there.


def of_ranks(rounds, clock):
    """Runs on every rank: the bits of each contestant, and with two ranks the cost of some."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD

    def part_of(x):
        return x[len(x) * comm.rank // comm.size : len(x) * (comm.rank + 1) // comm.size]

    # Different bits on the ranks of one job count as different results, too.
    found = {"bits": {one.name: sorted(set(comm.allgather(bits(one.ranks(part_of(hostile(one.single)), comm), one.single))))
                      for one in contestants()}, "times": {}}  # fmt: skip
    if comm.size == 2:
        found["times"] = {name: {} for name in ("numpy.sum and allreduce of mpi4py", "steadfold.sum, exact, with comm")}
        for size in SIZES:
            x = part_of(np.random.default_rng(SEED).standard_normal(size)).copy()
            ways = (lambda x=x: allreduced(np.asarray(np.sum(x)), comm), lambda x=x: sf.sum(x, comm=comm))
            calls = dict(zip(found["times"], ways))
            for name, seconds in race_of_ranks(calls, rounds, clock, comm, 20 if size < 10**6 else 1).items():
                found["times"][name][size] = figures(seconds, size)
    if comm.rank == 0:
        print(json.dumps(found))


def race_of_ranks(calls, rounds, clock, comm, times):
    """Measures as `race` does, with the same number of calls on every rank; the time of the slowest rank counts."""
    names, found = list(calls), {name: [] for name in calls}
    for turn in range(rounds + 1):
        for name in names[turn % 2 :] + names[: turn % 2]:
            comm.Barrier()
            begin = CLOCKS[clock]()
            for _ in range(times):
                calls[name]()
            took = max(comm.allgather((CLOCKS[clock]() - begin) / times))
            if turn > 0:
                found[name].append(took)
    return found


def job(ranks, rounds, clock):
    launcher = os.environ.get("STEADFOLD_MPIRUN") or shutil.which("mpirun")
    if launcher is None:
        return None
    with tempfile.TemporaryDirectory() as session:
        settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                    "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
                    "OMPI_MCA_orte_tmpdir_base": session}  # fmt: skip
        words = [launcher, "-n", str(ranks), sys.executable, __file__, "--on-ranks", "--rounds", str(rounds), "--clock", clock]
        done = subprocess.run(words, env={**os.environ, **settings}, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"a job of {ranks} ranks ended with {done.returncode} ({done.stderr.strip()[-500:]}), no column of ranks", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def environment():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown processor")
    versions = [f"NumPy {np.__version__}"]
    for name in ("dask", "accupy", "xsum", "mpi4py"):
        try:
            from importlib.metadata import version

            versions.append(f"{name} {version(name)}")
        except ImportError:
            pass
    return {"date": datetime.date.today().isoformat(), "cpu": cpu, "cores": os.cpu_count(), "versions": versions,
            "load": os.getloadavg()[0]}  # fmt: skip


# Tables.


def cell(count):
    return "-" if count is None else "same" if count == 1 else f"{count} results"


def table(header, lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *lines])


def shown(found):
    first = [[row["name"], *(cell(row["results"].get(what)) for what in ("order", "chunks", "threads", "ranks")),
              "yes" if row["rounded"] else "no"] for row in found["bits"]]  # fmt: skip
    place = found["environment"]
    second = [[name, *(f"{by['median']:.3g} ({by['least']:.3g})" for by in sizes.values())] for name, sizes in found["times"].items()]
    where = (f"{place['date']}, {place['cpu']}, {place['cores']} cores, load {place['load']:.1f}; {', '.join(place['versions'])}")
    return "\n\n".join([
        table(["bits over", "8 orders", "5 chunkings", "1 to 4 threads", "1 to 5 ranks", "correctly rounded"], first),
        table([f"ns of {place['clock']} time per element, median (least)", *(f"{size:.0e}".replace("e+0", "e") for size in SIZES)], second),
        f"(`-`: it has none. {where}.)",
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, help="file for all figures")
    parser.add_argument("--rounds", type=int, default=21, help="of measurements; a third of them at 1e7")
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="what is measured (wall)")
    parser.add_argument("--on-ranks", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.on_ranks:
        of_ranks(arguments.rounds, arguments.clock)
        return
    contenders = contestants()
    found = {"environment": {**environment(), "clock": arguments.clock}, "bits": []}
    jobs = [job(ranks, arguments.rounds, arguments.clock) for ranks in RANKS]
    for one in contenders:
        results, correct = tried(one)
        if all(jobs):
            results["ranks"] = len({value for each in jobs for value in each["bits"][one.name]})
        found["bits"].append({"name": one.name, "ours": one.ours, "results": results, "rounded": correct})
    found["times"] = measured(contenders, arguments.rounds, arguments.clock)
    for name, sizes in (jobs[RANKS.index(2)] or {"times": {}})["times"].items():
        found["times"][f"{name}, 2 ranks"] = {int(size): by for size, by in sizes.items()}
    print(shown(found))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
