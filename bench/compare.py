#!/usr/bin/env python3
"""Compares the times of kernels in two builds of the command, and prints their ratios.

BEFORE and AFTER are commands. Other options are passed to their `bench local`. The two commands are launched in turn,
pinned to the same core. A row has the medians of all launches, and their ratio with a 95 % interval (percentile bootstrap
over pairs of launches). Rows of `read` are the control: both commands compile these loops alike, so a difference there
comes from the machine.
./dev bench-compare REV builds both commands and calls this script.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys

RESAMPLES = 1000


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def measure(command, options, core):
    """Measures one launch. Returns nanoseconds per element by type, elements, threads and kernel."""
    ran = subprocess.run([command, "bench", "local", "--json", *options], stdout=subprocess.PIPE, text=True,
                         preexec_fn=lambda: os.sched_setaffinity(0, core))
    if ran.returncode != 0:
        fail(f"{command} bench local ended with {ran.returncode} (see above), try it by hand")
    return {(row["type"], row["elements"], row["threads"], row["kernel"]): row["ns_per_element"]
            for row in json.loads(ran.stdout)["rows"]}


def interval_of_ratio(before, after):
    draw = random.Random(1)
    ratios = []
    for _ in range(RESAMPLES):
        chosen = draw.choices(range(len(before)), k=len(before))
        ratios.append(statistics.median(after[i] for i in chosen) / statistics.median(before[i] for i in chosen))
    ratios.sort()
    return ratios[RESAMPLES // 40], ratios[-1 - RESAMPLES // 40]


def table(launches_before, launches_after):
    lines = [f"{'kernel':12} {'type':4} {'elements':>10} {'threads':>7} {'before':>9} {'after':>9}  after / before"]
    for key in sorted(launches_before[0].keys() & launches_after[0].keys()):
        before = [launch[key] for launch in launches_before]
        after = [launch[key] for launch in launches_after]
        low, high = interval_of_ratio(before, after)
        mark = "" if low <= 1 <= high else " slower" if low > 1 else " faster"
        kind, elements, threads, kernel = key
        lines.append(f"{kernel:12} {kind:4} {elements:10} {threads:7} {statistics.median(before):9.4f} "
                     f"{statistics.median(after):9.4f}  {statistics.median(after) / statistics.median(before):.3f} "
                     f"[{low:.3f}, {high:.3f}]{mark}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--launches", type=int, default=11, help="number of launches of each command")
    asked, options = parser.parse_known_args()
    if asked.launches < 3:
        fail(f"--launches {asked.launches} is too few (an interval needs 3), take 3 or more")
    if not any(option.startswith("--rounds") for option in options):
        options += ["--rounds", "5"]
    several = any(option.startswith("--threads") for option in options)
    core = os.sched_getaffinity(0) if several else {max(os.sched_getaffinity(0))}
    found = {asked.before: [], asked.after: []}
    for launch in range(asked.launches):
        for command in (asked.before, asked.after) if launch % 2 == 0 else (asked.after, asked.before):
            found[command].append(measure(command, options, core))
        if sys.stderr.isatty():
            print(f"\r{launch + 1} of {asked.launches} launches", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(f"ns per element, medians of {asked.launches} launches of each")
    print(table(found[asked.before], found[asked.after]))


if __name__ == "__main__":
    main()
