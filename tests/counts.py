"""Whether as many tests passed as minimum_counts.txt asks for. Usage: counts.py BUILD [--program PROGRAM] JUNIT_FILE...:
what ctest and launches of many cases wrote, or GoogleTest for one program, whose name goes before those of its tests.
Groups of other programs are left out."""

import argparse
import platform
import re
import sys
import xml.etree.ElementTree
from pathlib import Path

TABLE = Path(__file__).parent / "minimum_counts.txt"
# From the plainest to the widest, each with what /proc/cpuinfo calls what it needs beside the one before.
SETS = {
    "x86_64": [("sse4", "sse4_1 sse4_2 pclmulqdq aes"), ("avx2", "avx2 bmi1 bmi2 fma"),
               ("avx512", "avx512f avx512vl avx512dq avx512bw")],
    "aarch64": [("neon", ""), ("sve", "sve")],
}  # fmt: skip


def widest():
    """The widest instruction set of this machine for which there are kernels."""
    found = "scalar"
    flags = set(re.findall(r"\w+", "".join(re.findall(r"(?m)^(?:flags|Features)\s*:(.*)$", Path("/proc/cpuinfo").read_text()))))
    for name, needed in SETS.get(platform.machine(), []):
        if not set(needed.split()) <= flags:
            break
        found = name
    return found


def passed_in(file, program=None):
    """The names of the tests that passed, skipped ones left out."""
    names = []
    for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase"):
        if case.get("status") == "run" and case.find("skipped") is None and case.find("failure") is None:
            names.append(f"{program}.{case.get('classname')}.{case.get('name')}" if program else case.get("name"))
    return names


def too_few(build, names, program=None):
    """A line for every group of the build that is below its minimum."""
    faults, rows = [], 0
    for line in TABLE.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            of, group, minimum = line.split()
            if of != build or (program and not group.startswith(program)):
                continue
            rows += 1
            group = group.replace("WIDEST", widest())
            count = sum(bool(re.match(group, name)) for name in names)
            if count < int(minimum):
                faults.append(f"{build} {group}: {count} passed (tests/minimum_counts.txt asks for {minimum}), "
                              "find out where they are, or lower it")  # fmt: skip
    return faults if rows else [f"{build} {program or ''}: no minimum (tests/minimum_counts.txt has none), add one"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--program")
    parser.add_argument("files", nargs="+")
    given = parser.parse_args()
    found = [name for file in given.files for name in passed_in(file, given.program)]
    for fault in (faults := too_few(given.build, found, given.program)):
        print(fault)
    sys.exit(1 if faults else 0)
