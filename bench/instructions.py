"""Counts the instructions an element costs, with callgrind: the same figure on every run, unlike a time.

    bench/instructions.py [--program build/release/bench/bench_once] [--targets scalar,sse4,avx2]

The slope between two lengths, so that starting the program and filling the array count the same or are taken off.
Valgrind knows no AVX-512.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile

SHORT, LONG = 1 << 16, 1 << 17


def instructions(program, target, method, type_, count):
    """The number of instructions that run inside the library's call."""
    with tempfile.TemporaryDirectory() as directory:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/out", "--toggle-collect=sf_reduce_local",
                   program, method, type_, str(count)]
        ran = subprocess.run(command, env=dict(os.environ, STEADFOLD_TARGET=target), capture_output=True, text=True)
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{ran.stderr}")
    return int(re.search(r"Collected : (\d+)", ran.stderr).group(1))


def measure(program, targets, methods=("tree", "exact", "binned"), types=("f64", "f32")):
    rows = []
    for target in targets:
        for method in methods:
            for type_ in types:
                short, long = (instructions(program, target, method, type_, n) for n in (SHORT, LONG))
                rows.append({"target": target, "method": method, "type": type_,
                             "instructions_per_element": round((long - short) / (LONG - SHORT), 3)})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bench/bench_once")
    parser.add_argument("--targets", default="scalar,sse4,avx2", type=lambda text: text.split(","))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.program, options.targets)
    if options.json:
        print(json.dumps({"rows": rows}))
        return
    for row in rows:
        print("{target:7} {method:7} {type}  {instructions_per_element:7.3f} instructions an element".format(**row))


if __name__ == "__main__":
    main()
