"""Which test files notice which edits of tests/mutants. Usage: matrix.py BUILD [MINUTES], where BUILD is the build of
mutants (./dev mutants --matrix).

Every test file runs once, and the build tells which edits its cases reach. Then it runs once with each of these edits,
20 seconds at most, and notices an edit where it fails. BUILD/matrix.jsonl keeps the results: a run that was ended, or
that MINUTES are over for, goes on where it was. Remove the file after a change of sources or tests.

Left out: tests whose files guard no line of the library (EXEMPT), tests that take longer than 20 seconds, all but one
number of ranks and one MPI library, and edits of Python's files, which change the sources in place."""

import collections
import fnmatch
import json
import os
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from xml.etree import ElementTree

from cases import environment_of, is_of_one_process, listed_tests, output_of, property_of
from mutants import LIMIT, PROJECT, all_mutants, outcome_of

EXEMPT = {
    "abi": "programs of other releases", "documents": "pages", "examples": "programs of pages", "fuzz": "random input",
    "golden": "golden data", "install": "installations", "instructions": "counts of instructions",
    "lab": "the laboratory", "man_pages": "pages", "misuses": "a table", "mutants": "this table",
    "prefetched": "the compiler's output", "soak": "random programs", "structure": "the source tree",
    "targets": "all programs again", "valgrind": "memory",
}  # fmt: skip


class TestFile:
    """A file of tests, and how its cases are run."""

    def __init__(self, file, test, words, environment, folder):
        self.file, self.test, self.words, self.environment, self.folder = file, test, words, environment, folder
        self.cases, self.seconds, self.reached = (), 0.0, set()  # cases: of a program of one process

    def is_named_by(self, mutant):
        """Whether the tables of edits have one of these cases notice this edit."""
        named = [each.partition(" ") for each in mutant.noticed]
        words = [part for test, _, words in named if test == self.test for part in words.split(":")]
        return any(fnmatch.fnmatchcase(case, word) for word in words for case in self.cases or [word])

    def runs(self, mutants):
        """The edits to run with, the likeliest to be noticed first, then in an order by chance."""
        reached = [each for each in mutants if each.number in self.reached]
        return sorted(reached, key=lambda each: (not self.is_named_by(each), each.number))

    def run(self, **variables):
        """Passed, failed or hangs; and the seconds."""
        began = time.monotonic()
        environment = {**os.environ, **self.environment, "STEADFOLD_TEST_LIMIT": str(LIMIT), **variables}
        verdict, _ = outcome_of(self.words, environment, LIMIT, self.folder)
        return verdict, time.monotonic() - began


def files_of_program(program):
    """{file: [case]} of a GoogleTest program."""
    with tempfile.NamedTemporaryFile(suffix=".xml") as listed:
        output_of(str(program), "--gtest_list_tests", f"--gtest_output=xml:{listed.name}")
        suites = ElementTree.parse(listed.name).getroot()
    found = collections.defaultdict(list)
    for suite in suites:
        for case in suite:
            file = Path(case.get("file")).name
            found[file].append(f"{suite.get('name')}.{case.get('name')}")
    return found


def test_files(build):
    found, programs = [], set()
    for test in listed_tests(build):
        name, words = test["name"], test["command"]
        first = name.split(".")[0]
        environment, folder = environment_of(test), property_of(test, "WORKING_DIRECTORY")
        if first in EXEMPT or ".mpich." in name or (re.search(r"\.p\d+$", name) and not name.endswith(".p3")):
            continue
        if is_of_one_process(first):
            if first not in programs:
                programs.add(first)
                for file, cases in files_of_program(words[0]).items():
                    some = [words[0], "--gtest_filter=" + ":".join(cases), "--gtest_fail_fast"]
                    found.append(TestFile(f"{first}: {file}", first, some, environment, folder))
                    found[-1].cases = cases
        elif "--subjects" in words:
            for subject in words[words.index("--subjects") + 1].split(","):
                only = {**environment, "STEADFOLD_TEST_CASES": f".{subject}."}
                found.append(TestFile(f"{name}: {subject}.cpp", name, words, only, folder))
        else:
            found.append(TestFile(name, name, words, environment, folder))
    return found


class Results:
    """What is known, in a file that every new result is added to."""

    def __init__(self, path):
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.known = {(file, number): (verdict, seconds) for file, number, verdict, seconds in map(json.loads, lines)}
        self.reached = {}

    def add(self, file, number, verdict, seconds):
        self.known[file, number] = verdict, seconds
        with self.path.open("a") as out:
            out.write(json.dumps([file, number, verdict, round(seconds, 2)]) + "\n")


def find_reached(files, results, pool):
    """Runs every file once without an edit, for the edits that its cases reach. Edit 0 stands for none; its verdict also
    has their numbers."""

    def one(each):
        if (each.file, 0) in results.known:
            return
        with tempfile.NamedTemporaryFile() as record:
            verdict, seconds = each.run(STEADFOLD_MUTANT_REACHED=record.name)
            numbers = memoryview(Path(record.name).read_bytes()).cast("I")
            results.add(each.file, 0, [verdict, sorted(set(numbers))], seconds)

    list(pool.map(one, files))
    for each in files:
        (verdict, numbers), each.seconds = results.known[each.file, 0]
        each.reached = set(numbers) if verdict == "passed" else set()
        if verdict != "passed":
            print(f"left out: {each.file} ({'longer than 20 s' if verdict == 'hangs' else 'it fails without an edit'})")


def print_table(files, mutants, results):
    noticing = collections.defaultdict(list)
    for mutant in mutants:
        for each in files:
            if results.known.get((each.file, mutant.number), ("", 0))[0] == "failed":
                noticing[mutant.number].append(each.file)
    notices = collections.Counter(file for some in noticing.values() for file in some)
    alone = collections.Counter(some[0] for some in noticing.values() if len(some) == 1)
    print("reached notices alone seconds file")
    for each in sorted(files, key=lambda each: (notices[each.file], alone[each.file], -each.seconds)):
        print(f"{len(each.reached):7} {notices[each.file]:7} {alone[each.file]:5} {each.seconds:7.1f} {each.file}")
    for mutant in mutants:
        if not noticing[mutant.number]:
            print(f"no file notices {mutant.name}")


def main():
    build, minutes = Path(sys.argv[1]).resolve(), float((*sys.argv[2:], "inf")[0])
    end = time.monotonic() + 60 * minutes
    mutants = [each for each in all_mutants() if not each.equivalent and not each.is_interpreted]
    files, results = test_files(build), Results(build / "matrix.jsonl")
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        find_reached(files, results, pool)
        rounds = zip_longest(*([(each, mutant.number) for mutant in each.runs(mutants)] for each in files))
        pairs = [pair for some in rounds for pair in some if pair]  # so a run that is ended says something of every file
        left = [pair for pair in pairs if (pair[0].file, pair[1]) not in results.known]
        print(f"{len(files)} test files, {len(mutants)} edits; {len(pairs)} runs, {len(left)} of them left", flush=True)

        def one(pair):
            if time.monotonic() < end:
                results.add(pair[0].file, pair[1], *pair[0].run(STEADFOLD_MUTANT=str(pair[1])))

        list(pool.map(one, left))
    missing = sum((each.file, number) not in results.known for each, number in pairs)
    print_table(files, mutants, results)
    print(f"{len(pairs) - missing} of {len(pairs)} runs are done" + (", start it again for the others" if missing else ""))
    for name, reason in EXEMPT.items():
        print(f"exempt: {name} ({reason})")
    print(f"run in {PROJECT}, exempt and left-out tests are not in the table")
    return 0


if __name__ == "__main__":
    sys.exit(main())
