"""Counts instructions with callgrind. Unlike a time, the count is the same in every run.

    bench/instructions.py elements|calls|runs|chains [--programs build/release/bench] [--targets scalar,sse4,avx2] [--json]

elements: per element of a long array. The slope between two lengths leaves out the cost of a call.
calls:    per call of a few elements, in header and library. The slope between two numbers of calls.
runs:     per run and rank of a plan of two ranks, without the transport. The slope between two numbers of runs.
chains:   per segment and rank of a pipeline over four simulated ranks, without the network. Messages come one at a time.
Valgrind does not support AVX-512.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile

METHODS = ("tree", "exact", "binned")
LENGTHS = (1 << 16, 1 << 17)
REPETITIONS = (10, 110)
COUNTS_OF_CALLS = (1, 2, 3, 7, 16, 1000)
SEGMENTS = (10, 100, 1000)
BUNDLES = ((1, 1), (801, 1), (1, 8))  # pairs of elements per rank and members of the bundle


def instructions(target, functions, command):
    """Counts the instructions in these functions. If a listed function calls another listed function, the instructions
    of the called function are counted once."""
    with tempfile.TemporaryDirectory() as directory:
        toggles = [f"--toggle-collect={name}" for name in functions]
        ran = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/out", *toggles, *command],
                             env=dict(os.environ, STEADFOLD_TARGET=target), capture_output=True, text=True)
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{ran.stderr}")
    return int(re.search(r"Collected : (\d+)", ran.stderr).group(1))


def slope(target, functions, command_for, amounts):
    """Returns the number of instructions per unit of the argument of `command_for`."""
    few, many = (instructions(target, functions, command_for(str(amount))) for amount in amounts)
    return (many - few) / (amounts[1] - amounts[0])


def of_elements(programs, target, methods=METHODS, types=("f64", "f32")):
    return [{"target": target, "method": method, "what": f"element of {type_}",
             "instructions": round(slope(target, ["*counted_call*"],
                                         lambda n: [f"{programs}/counted_call", method, type_, n], LENGTHS), 3)}
            for method in methods for type_ in types]


def of_calls(programs, target, methods=METHODS, counts=COUNTS_OF_CALLS):
    return [{"target": target, "method": method, "what": f"call of {count} f64",
             "instructions": round(slope(target, ["*counted_call*"],
                                         lambda n: [f"{programs}/counted_call", method, "f64", str(count), n],
                                         REPETITIONS))}
            for method in methods for count in counts]


def of_runs(programs, target, methods=METHODS, bundles=BUNDLES):
    functions = ["*Plan::start*", "*Plan::wait*", "*LoopbackEndpoint::*"]
    return [{"target": target, "method": method, "what": f"run of {members} x {count} f64",
             "instructions": round(slope(target, functions,
                                         lambda n: [f"{programs}/counted_run", method, str(count), n, str(members)],
                                         REPETITIONS) / 2)}
            for method in methods for count, members in bundles]


def of_chains(programs, target, schedules=("linear", "ring"), counts=SEGMENTS):
    functions = ["*Plan::start*", "*Plan::test*", "*ForwardingEndpoint::*", "*FewAtATime::*"]
    return [{"target": target, "method": "plain", "what": f"segment of {count}, {schedule}",
             "instructions": round(slope(target, functions,
                                         lambda n: [f"{programs}/counted_chain", schedule, str(count), n], (1, 3))
                                   / (4 * count))}
            for schedule in schedules for count in counts]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measures = {"elements": of_elements, "calls": of_calls, "runs": of_runs, "chains": of_chains}
    parser.add_argument("what", choices=measures)
    parser.add_argument("--programs", default="build/release/bench")
    parser.add_argument("--targets", default="scalar,sse4,avx2", type=lambda text: text.split(","))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [row for target in options.targets for row in measures[options.what](options.programs, target)]
    if options.json:
        print(json.dumps({"rows": rows}))
        return
    for row in rows:
        print("{target:7} {method:7} {instructions:9} instructions per {what}".format(**row))


if __name__ == "__main__":
    main()
