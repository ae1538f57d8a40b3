#!/usr/bin/env python3
"""`steadfold bench allreduce` over a slow network: a network namespace for each rank, joined by a bridge and links of
limited rate. Prints measured beside predicted times, and bytes on the wire beside the least possible number.
--split-phase runs `bench splitphase`, which shows how much of the communication a computation hides. --choices runs
`bench auto` with a profile that `steadfold tune` first makes of the network. --per-node puts several ranks in each
namespace.

Needs Linux, root, ip, tc and unshare. If one is missing, the script names it and ends. At the end it removes its
namespaces and bridge.

    sudo bench/slow_network.py --ranks 4,8 --counts 1000000 --rate 100
"""

import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(__file__).resolve().parents[1] / "build"
NETWORK = "198.18.73"  # the range of addresses that RFC 2544 reserves for benchmarks
SCHEDULES = (
    "auto,mpich,recursive_doubling,binomial,pipelined_linear,pipelined_tree,doubly_pipelined_linear,"
    "doubly_pipelined_tree,transpose,ring,halving_doubling,circulant"
)
FRAME, PAYLOAD = 1514, 1448  # bytes of a full frame, and the TCP payload in it
PER_OPERATION = 1e-9  # seconds to add two doubles: negligible on slow links


def run(*words, check=True, **keywords):
    return subprocess.run([str(word) for word in words], check=check, capture_output=True, text=True, **keywords)


class Network:
    """The network namespaces, one per node, each with an interface eth0 whose sending and receiving rates are limited
    separately."""

    def __init__(self, options, ranks):
        self.ranks, self.rate, self.per_node = ranks, options.rate, options.per_node
        self.nodes = range(ranks // options.per_node)
        self.bridge = f"sf{os.getpid() % 100000}"
        self.folder = tempfile.TemporaryDirectory()
        self.agent = Path(self.folder.name) / "agent"

    def name(self, node):
        return f"{self.bridge}n{node}"

    def host(self, node):
        return f"{NETWORK}.{node + 1}"

    def __enter__(self):
        try:
            run("ip", "link", "add", self.bridge, "type", "bridge")
            run("ip", "address", "add", f"{NETWORK}.254/24", "dev", self.bridge)
            run("ip", "link", "set", self.bridge, "up")
            for node in self.nodes:
                self.add(node)
            # This script replaces ssh: the last part of the address names the namespace. Each namespace has a separate
            # host name, so that no library finds that ranks of two namespaces could share memory.
            self.agent.write_text(
                '#!/bin/sh\nhost=$1; shift; number=$((${host##*.} - 1))\n'
                f'exec ip netns exec {self.bridge}n$number unshare --uts sh -c "hostname {self.bridge}n$number; $*"\n'
            )
            self.agent.chmod(0o755)
        except BaseException:
            self.__exit__()
            raise
        return self

    def add(self, node):
        name, outside = self.name(node), f"{self.bridge}v{node}"
        run("ip", "netns", "add", name)
        run("ip", "link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", outside, "master", self.bridge, "up")
        run("ip", "-n", name, "address", "add", f"{self.host(node)}/24", "dev", "eth0")
        for interface in ("eth0", "lo"):
            run("ip", "-n", name, "link", "set", interface, "up")
        # The queue holds some milliseconds of data, as the queue of a real port does. In a longer queue,
        # acknowledgements would wait behind megabytes.
        for setting in ("tcp_limit_output_bytes=131072", "tcp_slow_start_after_idle=0"):
            run("ip", "netns", "exec", name, "sysctl", "-w", f"net.ipv4.{setting}", check=False)
        limit = ["tbf", "rate", f"{self.rate}mbit", "burst", "64kb", "limit", "100mb"]
        run("tc", "qdisc", "add", "dev", outside, "root", *limit)
        run("tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", *limit)

    def __exit__(self, *_):
        for node in self.nodes:
            for left in run("ip", "netns", "pids", self.name(node), check=False).stdout.split():
                os.kill(int(left), signal.SIGKILL)  # a process that an earlier, interrupted benchmark has left
            run("ip", "netns", "delete", self.name(node), check=False)
        run("ip", "link", "delete", self.bridge, check=False)
        self.folder.cleanup()


def launcher(library, network):
    hosts = [network.host(node) for node in network.nodes]
    if library == "mpich":
        return ["mpirun.mpich", "-launcher", "rsh", "-launcher-exec", network.agent, "-localhost", f"{NETWORK}.254",
                "-hosts", ",".join(hosts), "-n", network.ranks]  # fmt: skip
    settings = {
        "plm_rsh_agent": network.agent, "oob_tcp_if_include": f"{NETWORK}.0/24",
        "btl": "tcp,self" if network.per_node == 1 else "tcp,vader,self",
        "btl_tcp_if_include": "eth0", "pml": "ob1", "mpi_yield_when_idle": 1, "hwloc_base_binding_policy": "none",
        # Without this limit, a large message is sent whole before incoming data are read, which halves every rate.
        "btl_tcp_rdma_pipeline_frag_size": 131072,
    }  # fmt: skip
    words = [word for name, value in settings.items() for word in ("--mca", name, value)]
    words += ["-x", "STEADFOLD_TRANSPORT", "-x", "STEADFOLD_PROFILE"]
    return ["mpirun.openmpi", "--allow-run-as-root", *words, "--host",
            ",".join(f"{host}:{network.per_node}" for host in hosts), "-n", network.ranks]  # fmt: skip


def answered(options, network, *words, profile=""):
    """Returns the output of the command, with ranks in all namespaces."""
    # The ranks are on one machine, so without this variable they would share memory.
    own = {"STEADFOLD_TRANSPORT": "mpi", "STEADFOLD_PROFILE": str(profile)}
    environment = {**os.environ, **own, "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}
    command = options.bin / "steadfold"
    try:
        ran = run(*launcher(options.library, network), command, *words, "--json", env=environment, timeout=options.limit)
    except subprocess.CalledProcessError as failed:
        sys.exit(f"the benchmark failed ({failed.stderr.strip()}), try it with another --library")
    except subprocess.TimeoutExpired:
        sys.exit(f"the benchmark was given up (it took {options.limit} s), ask for fewer --rounds or a greater --limit")
    return json.loads(ran.stdout[ran.stdout.index("{"):])


def measured(options, network, benchmark, *more, profile="", **asked):
    """Returns the rows of a benchmark."""
    words = [f"--{name}={value}" for name, value in asked.items()]
    return answered(options, network, "bench", benchmark, *more, *words, profile=profile)["rows"]


class Model:
    """The predictions of `steadfold simulate` for one link."""

    def __init__(self, options, ranks, latency):
        self.options, self.ranks = options, ranks
        self.link = [f"--latency={latency}", f"--per-byte={8e-6 / options.rate * FRAME / PAYLOAD}"]

    def ask(self, schedule, count, link):
        words = ["--ranks", self.ranks, "--elements", self.ranks, "--width", count, "--schedule", schedule,
                 "--method", self.options.method, "--collective", "allreduce", "--per-op", PER_OPERATION]  # fmt: skip
        return json.loads(run(self.options.bin / "steadfold", "simulate", "--json", *words, *link).stdout)

    def for_this_link(self, schedule, count):
        """Returns the schedule with the block that the lemma finds for this link, or None if the block is the same."""
        here, there = self.ask(schedule, count, self.link), self.ask(schedule, count, [])
        if ":" in schedule or "pipelined" not in schedule or here["segments"] == there["segments"]:
            return None
        return f"{schedule}:block={math.ceil(count / here['segments'])}"

    def seconds(self, schedule, count):
        """Returns the time of the benchmark's steps. The library chooses schedule and segments for its
        assumed link."""
        taken = self.ask(schedule, count, [])
        name = taken["schedule"]
        if "pipelined" in name and ":" not in name:
            name += f":block={math.ceil(count / taken['segments'])}"
        return self.ask(name, count, self.link)["seconds"]


def table(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def row_of(row, model, count):
    """Returns the printed columns: times in seconds, and the bytes of the rank that sent most, compared with 2 (p-1)/p n.
    """
    least = 2 * (model.ranks - 1) / model.ranks * row["bytes"]
    predicted = model.seconds(row["schedule"], count)
    return {
        **{name: row[name] for name in ("library", "ranks", "count", "method", "schedule", "call", "seconds", "t_min")},
        "predicted": predicted, "measured_to_predicted": row["seconds"] / predicted, "ratio": row["ratio"],
        "ratio_interval": row["ratio_interval"], "wire_bytes": row["wire_bytes"], "least_bytes": least,
        "wire_to_least": row["wire_bytes"] / least, "rival_seconds": row["rival_seconds"],
        "rival_wire_to_least": row["rivals"][0]["wire_bytes"] / least,
    }  # fmt: skip


def shown(rows):
    head = rows[0]
    lines = [["schedule", "call", "seconds", "predicted", "measured/predicted", "x MPI_Allreduce", "wire MB", "/least"]]
    lines.append(["MPI_Allreduce", "", f"{head['rival_seconds']:.4g}", "", "", "",
                  f"{head['rival_wire_to_least'] * head['least_bytes'] / 1e6:.3g}",
                  f"{head['rival_wire_to_least']:.2f}"])  # fmt: skip
    for row in rows:
        low, high = row["ratio_interval"]
        lines.append([row["schedule"], row["call"], f"{row['seconds']:.4g}", f"{row['predicted']:.4g}",
                      f"{row['measured_to_predicted']:.2f}", f"{row['ratio']:.2f} [{low:.2f}, {high:.2f}]",
                      f"{row['wire_bytes'] / 1e6:.3g}", f"{row['wire_to_least']:.2f}"])  # fmt: skip
    heading = f"{head['library']}, {head['ranks']} ranks, {head['count']} doubles by {head['method']}, bytes of the rank"
    return f"{heading} that sends most,\nleast: {head['least_bytes'] / 1e6:.3g} MB\n{table(lines)}\n"


def benchmark(options, ranks):
    rows = []
    with Network(options, ranks) as network:
        one = measured(options, network, "allreduce", counts=1, methods="plain", schedules="recursive_doubling", rounds=15)[0]
        latency = one["t_min"] / math.ceil(math.log2(ranks))
        print(f"{ranks} ranks at {options.rate} Mbit/s: {latency * 1e6:.0f} us per message", file=sys.stderr)
        model = Model(options, ranks, latency)
        for count in options.counts:
            schedules = options.schedules.split(",")
            schedules += [name for each in schedules if (name := model.for_this_link(each, count))]
            found = measured(options, network, "allreduce", "--interface=eth0", counts=count, methods=options.method,
                             schedules=",".join(schedules), rounds=options.rounds)  # fmt: skip
            told = [row_of(row, model, count) for row in found]
            if not options.json:
                print(shown(told), flush=True)
            rows += told
    return rows


def hidden(rows):
    """Returns the columns of `bench splitphase` with the part of the communication that a computation hides."""
    waits = {(row["method"], row["schedule"]): row for row in rows if row["call"] == "start, wait"}
    lines = [["schedule", "start, wait", "x MPI_Iallreduce", "with a computation", "hidden"]]
    overlaps = [row for row in rows if "hidden" in row]
    by_mpi = overlaps[0]["rivals"][0]
    lines.append(["MPI_Iallreduce", f"{rows[0]['rival_seconds']:.4g}", "", f"{by_mpi['seconds']:.4g}", f"{by_mpi['hidden']:.0%}"])
    for row in overlaps:
        alone = waits[row["method"], row["schedule"]]
        lines.append([row["schedule"], f"{alone['seconds']:.4g}", f"{alone['ratio']:.2f}", f"{row['seconds']:.4g}",
                      f"{row['hidden']:.0%}"])  # fmt: skip
    head = rows[0]
    return f"{head['library']}, {head['ranks']} ranks, {head['count']} doubles by {head['method']}\n{table(lines)}\n"


def split_phase(options, ranks):
    """Prints the part of started allreduces that a computation with a test every 50 us hides."""
    rows = []
    with Network(options, ranks) as network:
        for count in options.counts:
            rows += (found := measured(options, network, "splitphase", counts=count, methods=options.method,
                                       schedules=options.schedules, rounds=options.rounds, poll=50))  # fmt: skip
            if not options.json:
                print(hidden(found), flush=True)
    return rows


def chosen(rows):
    lines = [["doubles", "method", "auto takes", "seconds", "predicted", "the best", "seconds", "times"]]
    for row in rows:
        low, high = row["ratio_interval"]
        predicted = row["predicted_seconds"]  # no time is predicted if only one schedule can serve the call
        lines.append([str(row["count"]), row["method"], row["chosen"], f"{row['seconds']:.4g}",
                      "-" if predicted is None else f"{predicted:.4g}",
                      row["best"], f"{row['best_seconds']:.4g}", f"{row['ratio']:.2f} [{low:.2f}, {high:.2f}]"])  # fmt: skip
    return f"{rows[0]['library']}, {rows[0]['ranks']} ranks\n{table(lines)}\n"


def choices(options, ranks):
    """Compares the choices of `auto`, with a profile of this network, with the best schedules."""
    rows = []
    with Network(options, ranks) as network:
        profile = Path(network.folder.name) / "profile"
        found = answered(options, network, "tune", f"--output={profile}", "--rounds=5")
        for link in filter(None, (found, found.get("node"))):
            print({key: figure for key, figure in link.items() if isinstance(figure, (int, float))}, file=sys.stderr)
        for count in options.counts:
            rows += measured(options, network, "auto", counts=count, methods=options.method, rounds=options.rounds, profile=profile)
        if not options.json:
            print(chosen(rows), flush=True)
    return rows


def missing(options):
    """Says why the benchmark cannot run on this machine, or returns None."""
    if os.geteuid() != 0:
        return "needs root"
    for tool in ("ip", "tc", "unshare", f"mpirun.{options.library}"):
        if shutil.which(tool) is None:
            return f"needs {tool}"
    if run("ip", "netns", "list", check=False).returncode != 0:
        return "needs network namespaces"
    return None if (options.bin / "steadfold").exists() else f"needs {options.bin}/steadfold"


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--ranks", type=numbers, default=[4, 8], help="numbers of ranks, 2 to 100")
    parser.add_argument("--counts", type=numbers, default=[1000000], help="doubles per rank")
    parser.add_argument("--per-node", type=int, default=1, help="--choices with Open MPI: ranks in each namespace")
    parser.add_argument("--rate", type=float, default=100, help="rate of every link, in Mbit/s per direction")
    parser.add_argument("--schedules", default=SCHEDULES)
    parser.add_argument("--method", default="tree")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--split-phase", action="store_true", help="measure started plans")
    parser.add_argument("--choices", action="store_true", help="measure the choices of `auto` beside the best schedules")
    parser.add_argument("--library", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--bin", type=Path, help="the folder of the command for this library")
    parser.add_argument("--limit", type=float, default=1800, help="greatest number of seconds for a benchmark")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.bin is None:
        options.bin = BUILD / ("mpich/bin" if options.library == "mpich" else "bin")
    if options.per_node < 1 or any(ranks % options.per_node or ranks == options.per_node for ranks in options.ranks):
        parser.error(f"--per-node {options.per_node} cannot be used (--ranks must fill two nodes or more), choose another number")
    if options.per_node > 1 and not (options.choices and options.library == "openmpi"):
        parser.error("--per-node cannot be used (what is predicted else, and MPICH here, know one rank per node), leave out --per-node")
    if reason := missing(options):
        print(f"left out: {reason}", file=sys.stderr)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the exit calls __exit__, which removes the namespaces
    try:
        measure = split_phase if options.split_phase else choices if options.choices else benchmark
        rows = [row for ranks in options.ranks for row in measure(options, ranks)]
    except subprocess.CalledProcessError as failed:
        sys.exit(f"{' '.join(failed.cmd)} failed ({failed.stderr.strip()}), see what this system lacks")
    if options.json:
        print(json.dumps({"rate": options.rate, "rows": rows}))


if __name__ == "__main__":
    main()
