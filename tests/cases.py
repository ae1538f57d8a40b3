"""The cases that a build has, for tables that name some: "test_kernels Turn*", a program of one process and a filter of its
cases, or another test of ctest's and a word that the names of its cases have ("mpi.openmpi.ranks.p3 BundleTest",
"python.objects_test test_teams")."""

import fnmatch
import json
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = (HERE, HERE.parent / "lab" / "tests")


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def listed_tests(build, *options):
    """The tests of a build, as ctest tells them; `options` choose some."""
    return json.loads(output_of("ctest", "--test-dir", str(build), "--show-only=json-v1", *options))["tests"]


def property_of(test, name, default=None):
    return next((each["value"] for each in test["properties"] if each["name"] == name), default)


def environment_of(test):
    return dict(word.split("=", 1) for word in property_of(test, "ENVIRONMENT", []))


def is_of_one_process(test):
    return re.fullmatch("test_[a-z]+", test) is not None


def cases_of_program(program):
    """The names of a GoogleTest program's cases."""
    suite, names = "", []
    for line in output_of(str(program), "--gtest_list_tests").splitlines():
        line = line.split("#")[0].rstrip()
        if line.endswith(".") and not line.startswith(" "):
            suite = line
        elif line.startswith("  "):
            names.append(suite + line.strip())
    return names


def cases_of_launch(command):
    """The names of the cases that a test over MPI runs, by mpi/launch.py, or None if that does not run the test."""
    words = dict(zip(command, command[1:]))
    if not any(word.endswith("mpi/launch.py") for word in command) or not Path(command[-1]).exists():
        return None
    subjects = words.get("--subjects", "").split(",")
    pairs = (line.split(" ", 1) for line in output_of(command[-1], "--list").splitlines())
    return [words["--name"].replace("{}", subject) + "." + name for subject, name in pairs if subjects == [""] or subject in subjects]


class Cases:
    def __init__(self, build):
        self.build, self.programs, self.launches = build, {}, {}
        self.tests = {test["name"]: test.get("command", []) for test in listed_tests(build, "-E", r"^test_[a-z]+\.")}
        # Of scripts, and of other programs over MPI, the sources name the cases.
        patterns = ("*_test.py", "*_test.cpp", "*_test.f90", "*.hpp")
        sources = (file for folder in SOURCES for pattern in patterns for file in folder.rglob(pattern))
        self.texts = "".join(file.read_text() for file in sources).lower()

    def names_in(self, test):
        """The names of a test's cases, as far as they are known: else None."""
        if test not in self.launches:
            self.launches[test] = cases_of_launch(self.tests[test])
        return self.launches[test]

    def fault(self, named):
        """What is wrong with the name of some cases; None if they are there."""
        test, word, *more = [*named.split(" "), ""]
        if more != ([""] if word else []):
            return f"{named!r} is not a test and a word"
        if is_of_one_process(test):
            if test not in self.programs:
                program = self.build / "tests" / test
                if not program.exists():
                    return f"there is no {test}"
                self.programs[test] = cases_of_program(program)
            if not any(fnmatch.fnmatchcase(name, part) for part in word.split(":") for name in self.programs[test]):
                return f"{test} has no case {word!r}"
        elif test not in self.tests:
            return f"there is no test {test}"
        elif word and (names := self.names_in(test)) is not None:
            if not any(word.lower() in name.lower() for name in names):
                return f"{test} runs no case {word!r}"
        elif word and not all(part.lower() in self.texts for part in word.split(".")[:2]):
            return f"no test has {word!r} in its name"
        return None
