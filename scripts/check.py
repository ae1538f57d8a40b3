"""What ./dev check builds and runs: what the change since the last commit reaches most directly.
Usage: check.py BUILD CORES AT_ONCE LEFT_OUT; AT_ONCE: how many tests run at once; LEFT_OUT is a pattern of cases that only
try more of the same.

A source of a room reaches the tests of that room, every test over MPI on 3 ranks, and all cases elsewhere that have the
source's name in theirs. A header reaches what the rooms do that include it, by the compilers' dependency files. A test
reaches itself. What a change reaches beyond that, ./dev test finds."""

import re
import subprocess
import sys
import time
from pathlib import Path

BUILD, CORES, AT_ONCE, LEFT_OUT = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
LONG = 60  # seconds; what takes longer is announced
PROGRAM_OF_ROOM = {
    "order": "order", "kernels": "kernels", "arithmetic": "arithmetic", "schedule": "schedule",
    "transport": "transport", "call": "collective", "plan": "collective", "prediction": "collective", "group": "collective",
    "capi": "capi",
}  # fmt: skip
ON_THREE_RANKS = r"mpi\.openmpi\.(ranks|inside)\.p3"
EVERYTHING = r".*"
TARGETS = ["all", "lab"] if Path("lab/CMakeLists.txt").exists() else ["all"]
OF_THE_LAB = r"lab\..*"


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def changed_files():
    named = output_of("git", "diff", "--name-only", "HEAD").splitlines()
    return named + output_of("git", "ls-files", "--others", "--exclude-standard").splitlines()


def targets_that_include(file):
    """The CMake targets with an object that depends on the file."""
    found, target = set(), None
    for line in output_of("ninja", "-C", str(BUILD), "-t", "deps").splitlines():
        if not line.startswith(" "):
            in_target = re.search(r"CMakeFiles/([^/]+)\.dir/", line)
            target = in_target and in_target[1]
        elif target and line.endswith("/" + file) or target and line.strip().endswith(file.removeprefix("src/")):
            found.add(target)
    return found


def tests_of_target(target):
    """A pattern of the tests that stand for a target, or None."""
    if target.startswith("steadfold_") and (program := PROGRAM_OF_ROOM.get(target.removeprefix("steadfold_"))):
        return rf"test_{program}\..*"
    if target.startswith("test_"):
        return rf"{target}\..*"
    if target.startswith("steadfold_mpi_objects"):
        return r"mpi\.(openmpi|mpich)\.(ranks|inside|transport_test|team_test)\.p3"
    if target.startswith("mpi_"):
        return rf"mpi\.openmpi\.{target.removeprefix('mpi_').rsplit('_', 1)[0]}(\..*)?\.p3"
    if target.startswith("steadfold_lab") or target == "test_lab":
        return OF_THE_LAB
    if target.startswith("steadfold_command"):
        return r"command\.openmpi\.(sum|verify|catalogue)_test"
    if example := re.fullmatch(r"example_([a-z]+)_.*", target):
        return rf"examples\.openmpi\.{example[1]}_test"
    if target == "steadfold_python":
        return r"python\.(objects|reductions)_test"
    return r"fortran_interface|mpi\.openmpi\.(fortran|drop).*\.p3" if target.startswith("steadfold_fortran") else None


def suites_in(file):
    return set(re.findall(r"^TEST(?:_[FP])?\((\w+)", Path(file).read_text(), re.MULTILINE)) if Path(file).exists() else set()


def tests_of(file):
    """Patterns of the tests that a file reaches."""
    folder, stem = file.split("/")[0], Path(file).stem
    subject = re.sub(r"_test$|^mpi_", "", stem)
    if file.endswith(".md"):
        return {"documents", "man_pages"}
    if folder == "lab":
        return {OF_THE_LAB}
    if folder == "tests":
        room = file.split("/")[1]
        if room == "mpi":
            return {rf"mpi\.(openmpi|mpich)\.(ranks|inside|{stem})\.p3"}
        if file.endswith("_test.py"):
            return {rf"({room}\.openmpi\.|{room}\.|)({stem}|{subject}|{room}_{subject})"}
        if file.endswith(".cpp") and (suites := suites_in(file)):
            return {rf"test_{PROGRAM_OF_ROOM.get(room, room)}\.(.*/)?({'|'.join(sorted(suites))})\..*"}
    if not file.endswith((".cpp", ".hpp", ".h", ".c", ".f90", ".py")):
        return {EVERYTHING}
    patterns = {pattern for target in targets_that_include(file) if (pattern := tests_of_target(target))}
    if folder == "src":
        # The room's own tests, not those of every room that sees its headers: these are reached through the names.
        own = PROGRAM_OF_ROOM[file.split("/")[1]]
        patterns = {rf"test_{own}\..*", ON_THREE_RANKS} | {each for each in patterns if file.endswith(".hpp")}
        names = {subject, f"{Path(file).parent.name}_{subject}"}  # exact/builder: Builder, ExactBuilder
        words = "|".join("".join(word.capitalize() for word in name.split("_")) for name in sorted(names))
        patterns.add(rf"test_\w+\.(.*/)?\w*({words})\w*\..*")
    elif folder == "include":
        patterns |= {r"test_api\..*", ON_THREE_RANKS}
    elif folder in ("tools", "program", "bench"):
        patterns |= {rf"command\.openmpi\.{subject}_test"} | ({r"command\.openmpi\.bench_test"} if folder == "bench" else set())
    elif folder in ("python", "fortran"):
        patterns.add(rf"{folder}.*|mpi\.openmpi\.{folder}.*\.p3")
    return patterns or {EVERYTHING}


def seconds_to_build():
    """What the objects took to compile that are out of date, over the cores."""
    taken = {}
    for line in (BUILD / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        taken[output] = (int(end) - int(begin)) / 1000
    steps = re.findall(r"^\[\d+/\d+\] .* (\S+)$", output_of("ninja", "-C", str(BUILD), "-n", *TARGETS), re.MULTILINE)
    return sum(taken.get(step, 0.0) for step in steps) / CORES, len(steps)


def main():
    files = changed_files()
    if not files:
        print("nothing has changed since the last commit")
        return 0
    expected, steps = seconds_to_build()
    if expected > LONG:
        print(f"{steps} steps to build, some {expected:.0f} seconds: the change has many users", flush=True)
    began = time.monotonic()
    built = subprocess.run(["ninja", "-C", str(BUILD), *TARGETS], capture_output=True, text=True)
    if built.returncode != 0:
        print(*(line for line in built.stdout.splitlines() if not line.startswith("[")), sep="\n")
        return 1
    patterns = set().union(*(tests_of(file) for file in files))
    if EVERYTHING in patterns:
        print("some of the change reaches every test: ./dev test runs them; here, the rest")
        patterns.discard(EVERYTHING)
    print(f"built in {time.monotonic() - began:.0f} s; runs {' '.join(sorted(patterns))}", flush=True)
    if not patterns:
        return 0
    subprocess.run(["rm", "-rf", str(BUILD / "reports"), str(BUILD / "tests.xml")], check=True)
    ran = subprocess.run(
        ["ctest", "--test-dir", str(BUILD), "--parallel", AT_ONCE, "--output-on-failure", "--output-junit",
         "tests.xml", "-R", "^(" + "|".join(sorted(patterns)) + ")$", "-E", LEFT_OUT], text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    print(*(line for line in ran.stdout.splitlines() if not re.match(r" +Start|.* Passed ", line)), sep="\n")
    print(f"{time.monotonic() - began:.0f} s in all")
    return subprocess.run([sys.executable, "-B", "tests/report.py", "--part", str(BUILD)]).returncode


if __name__ == "__main__":
    sys.exit(main())
