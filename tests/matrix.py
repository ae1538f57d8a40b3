"""Which test files notice which edits of tests/mutants. Usage: matrix.py BUILD [MINUTES], where BUILD is the build of
mutants (./dev mutants --matrix).

Every test file runs once, and the build tells which edits its cases reach. Files that take more than 20 seconds are left
out. A file notices an edit if it fails with it, in at most 20 seconds and three times its own. First every file runs with
edits until it notices one. Then every edit is tried with files until two notice it. So the table has the least number of
edits that a file notices; a file is said to notice an edit alone if all files that reach the edit have run with it.
BUILD/matrix.jsonl keeps the results: a run that was ended, or that MINUTES are over for, goes on where it was. Remove the
file after a change of sources or tests.

Left out, too: tests whose files guard no line of the library (EXEMPT), all but one number of ranks and one MPI library,
and edits of Python's files, which change the sources in place."""

import collections
import fnmatch
import json
import os
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

from cases import environment_of, is_of_one_process, listed_tests, output_of, property_of
from mutants import LIMIT, PROJECT, all_mutants, outcome_of

EXEMPT = {
    "abi": "programs of other releases", "documents": "pages", "examples": "programs of pages", "fuzz": "random input",
    "golden": "golden data", "install": "installations", "instructions": "counts of instructions",
    "lab": "the laboratory", "man_pages": "pages", "misuses": "a table", "move": "the source tree", "mutants": "this table",
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

    def run(self, **variables):
        """Passed, failed or hangs; and the seconds."""
        began, limit = time.monotonic(), LIMIT + 3 * self.seconds
        environment = {**os.environ, **self.environment, "STEADFOLD_TEST_LIMIT": str(int(limit)), **variables}
        verdict, _ = outcome_of(self.words, environment, limit, self.folder)
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


class Matrix:
    def __init__(self, files, mutants, results, end):
        self.files, self.mutants, self.results, self.end = files, mutants, results, end
        self.files_of = {each.number: [file for file in files if each.number in file.reached] for each in mutants}

    def is_known(self, file, mutant):
        return (file.file, mutant.number) in self.results.known

    def is_noticed(self, file, mutant):
        return self.results.known.get((file.file, mutant.number), ("", 0))[0] == "failed"

    def noticing(self, mutant):
        return [file for file in self.files_of[mutant.number] if self.is_noticed(file, mutant)]

    def try_once(self, file, mutant):
        if not self.is_known(file, mutant) and time.monotonic() < self.end:
            self.results.add(file.file, mutant.number, *file.run(STEADFOLD_MUTANT=str(mutant.number)))
        return self.is_noticed(file, mutant)

    def try_file(self, file):
        """Runs the file until it notices an edit: first the edits whose entries name the file, then edits that few files reach."""
        reached = [each for each in self.mutants if each.number in file.reached]
        reached.sort(key=lambda each: (not self.is_noticed(file, each), not file.is_named_by(each), len(self.files_of[each.number])))
        return any(self.try_once(file, each) for each in reached)

    def try_edit(self, mutant):
        """Runs files until two notice the edit: first the files that its entry names, then quick files."""
        files = sorted(self.files_of[mutant.number], key=lambda each: (not each.is_named_by(mutant), each.seconds))
        for file in files:
            if len(self.noticing(mutant)) >= 2:
                return
            self.try_once(file, mutant)

    def print_table(self):
        notices, alone = collections.Counter(), collections.Counter()
        for mutant in self.mutants:
            files, noticing = self.files_of[mutant.number], self.noticing(mutant)
            notices.update(each.file for each in noticing)
            if len(noticing) == 1 and all(self.is_known(each, mutant) for each in files):
                alone[noticing[0].file] += 1
        print("reached notices alone seconds file")
        for each in sorted(self.files, key=lambda each: (notices[each.file], alone[each.file], -each.seconds)):
            tried = sum(number in each.reached for file, number in self.results.known if file == each.file)
            note = "" if notices[each.file] else f" (tried with {tried})"
            print(f"{len(each.reached):7} {notices[each.file]:7} {alone[each.file]:5} {each.seconds:7.1f} {each.file}{note}")
        for mutant in self.mutants:
            if not self.noticing(mutant) and all(self.is_known(each, mutant) for each in self.files_of[mutant.number]):
                print(f"no file notices {mutant.name}")


def main():
    build, minutes = Path(sys.argv[1]).resolve(), float((*sys.argv[2:], "inf")[0])
    end = time.monotonic() + 60 * minutes
    mutants = [each for each in all_mutants() if not each.equivalent and not each.is_interpreted]
    files, results = test_files(build), Results(build / "matrix.jsonl")
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        find_reached(files, results, pool)
        matrix = Matrix(files, mutants, results, end)
        print(f"{len(files)} test files, {len(mutants)} edits, {sum(map(len, matrix.files_of.values()))} pairs", flush=True)
        list(pool.map(matrix.try_file, sorted(files, key=lambda each: each.seconds)))
        list(pool.map(matrix.try_edit, mutants))
    matrix.print_table()
    if time.monotonic() >= end:
        print("the time is over, start it again for the rest")
    for name, reason in EXEMPT.items():
        print(f"exempt: {name} ({reason})")
    print(f"run in {PROJECT}, exempt and left-out tests are not in the table")
    return 0


if __name__ == "__main__":
    sys.exit(main())
