"""Runs the cases of GoogleTest programs many in a process, for builds whose programs take longer to start than most cases
to run, as sanitized ones do. Usage: batches.py BUILD JOBS INCLUDE EXCLUDE: of the tests that ctest would run by these
patterns, those that are a case of such a program. BUILD/batches.xml gets the results under ctest's names. A case that
crashes or hangs is named, and the next process goes on behind it."""

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

from cases import environment_of, listed_tests

MOST = 40  # cases of a process: few enough that all cores are busy until the end
PATIENCE = 300  # seconds without a word
ENDED = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] ([^\s,]+).* \((\d+) ms\)")
BEGUN = re.compile(r"\[ RUN +\] (\S+)")


class Case:
    def __init__(self, test):
        self.name = test["name"]
        self.program, filtered = test["command"][:2]
        self.filter = filtered.removeprefix("--gtest_filter=")
        self.environment = environment_of(test)


def cases(build, include, exclude):
    tests = listed_tests(build, "-R", include, *(["-E", exclude] if exclude else []))
    return [Case(test) for test in tests if test.get("command", [""])[1:2] and test["command"][1].startswith("--gtest_filter=")]


def run_once(some):
    """What the process printed, and its exit status."""
    process = subprocess.Popen(
        [some[0].program, "--gtest_also_run_disabled_tests", "--gtest_filter=" + ":".join(case.filter for case in some)],
        env=os.environ | some[0].environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    lines = []
    while True:
        silence = threading.Timer(PATIENCE, process.kill)
        silence.start()
        line = process.stdout.readline()
        silence.cancel()
        if not line:
            return "".join(lines), process.wait()
        lines.append(line)


def results_of(some):
    """(case, OK or FAILED or SKIPPED, milliseconds) of every case; what failed is printed."""
    found, left = [], some
    while left:
        output, status = run_once(left)
        ended = {name: (result, int(took)) for result, name, took in ENDED.findall(output)}
        begun = BEGUN.findall(output)
        done = [case for case in left if case.filter in ended]
        found += [(case, *ended[case.filter]) for case in done]
        if status != 0:
            print(output, end="", flush=True)
        left = [case for case in left if case.filter not in ended]
        if not left and status != 0 and all(result != "FAILED" for result, _ in ended.values()):  # at its end, as leaks are
            found[-1] = (found[-1][0], "FAILED", 0)
        culprit = next((case for case in left if begun and case.filter == begun[-1]), left[0] if left else None)
        if culprit:
            print(f"{culprit.name} ended its process (status {status})", flush=True)
            found.append((culprit, "FAILED", 0))
            left.remove(culprit)
    return found


def main():
    build, jobs, include, exclude = sys.argv[1:]
    of_program = {}
    for case in cases(build, include, exclude):
        of_program.setdefault(case.program, []).append(case)
    # Neighbours are alike, so they are dealt like cards: all batches take about as long.
    batches = []
    for some in of_program.values():
        count = -(-len(some) // MOST)
        batches += [some[i::count] for i in range(count)]
    with ThreadPoolExecutor(int(jobs)) as pool:
        found = [result for results in pool.map(results_of, batches) for result in results]
    suite = ElementTree.Element("testsuite")
    for case, result, took in found:
        entry = ElementTree.SubElement(suite, "testcase", name=case.name, status="run", time=str(took / 1000))
        if result != "OK":
            ElementTree.SubElement(entry, "failure" if result == "FAILED" else "skipped")
    ElementTree.ElementTree(suite).write(Path(build) / "batches.xml")
    failed = sorted(case.name for case, result, _ in found if result == "FAILED")
    print(f"{len(found) - len(failed)} cases passed or were skipped, {len(failed)} failed", *failed, sep="\n  ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
