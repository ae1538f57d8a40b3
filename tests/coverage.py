"""Prints how many lines of each room of src/ ran, as Clang's counters tell; fails where they are fewer than a floor in
percent, and prints the lines of that room that did not run. Usage: coverage.py LLVM BUILD_DIRECTORY PROFILES: LLVM is
the release of llvm-cov, PROFILES where the programs of the build left their counters (LLVM_PROFILE_FILE)."""

import collections
import functools
import os
import subprocess
import sys
from pathlib import Path

# One or two percent below what the stage of ./dev test with the address sanitizer reaches; of kernels, with AVX2 alone.
FLOORS = {
    "order": 95, "kernels": 90, "arithmetic": 98, "schedule": 96, "transport": 93, "call": 97,
    "plan": 97, "prediction": 96, "group": 97, "capi": 95,
}  # fmt: skip

ROOT = Path(__file__).resolve().parents[1] / "src"
llvm, build, profiles = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3])
left = [str(path) for path in profiles.glob("*.profraw")]
if not left:
    sys.exit(f"no counters were written to {profiles} (nothing ran, or the build has none), configure with STEADFOLD_COVERAGE=ON")


def tool(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def has_counters(path):
    return path.is_file() and not path.is_symlink() and os.access(path, os.X_OK) and b"__llvm_prf_cnts" in path.read_bytes()


@functools.cache
def file_of(name):
    """The file of a name in the counters. Names are relative: to the project or, behind the path of the build, to
    either of them."""
    project = ROOT.parent
    behind = project / name.removeprefix(f"{build.relative_to(project)}/")
    return (behind if behind.exists() else project / name).resolve()  # through the links of build/rooms


@functools.cache
def is_of_every_target(path):
    """Whether a file is included once per instruction set. Its functions are always inlined, and Clang counts no line of
    them, although they run."""
    return "HWY_TARGET_TOGGLE" in path.read_text()


profile = profiles / "all.profdata"
tool(f"llvm-profdata-{llvm}", "merge", "-sparse", "-o", profile, *left)
programs = sorted(path for place in ("tests", "lib", "mpich/lib") for path in (build / place).rglob("*") if has_counters(path))
runs = collections.defaultdict(int)  # (file, line) -> how often, over all programs that have it
for program in programs:
    path = None
    for line in tool(f"llvm-cov-{llvm}", "export", "-format=lcov", "-instr-profile", profile, program).splitlines():
        key, _, value = line.partition(":")
        if key == "SF":
            path = file_of(value)
            path = path if path.is_relative_to(ROOT) and not is_of_every_target(path) else None
        elif key == "DA" and path:
            number, count = value.split(",")[:2]
            runs[path, int(number)] += int(count)


def without_runs(room):
    """The lines of a room that did not run: one text for each file."""
    files = collections.defaultdict(list)
    for (path, number), count in sorted(runs.items()):
        if count == 0 and path.relative_to(ROOT).parts[0] == room:
            files[path.relative_to(ROOT)].append(str(number))
    return [f"did not run: src/{path}:{','.join(numbers)}" for path, numbers in files.items()]


rooms = collections.defaultdict(lambda: [0, 0])
for (path, _), count in runs.items():
    for room in (path.relative_to(ROOT).parts[0], "all of src"):
        rooms[room][0] += count > 0
        rooms[room][1] += 1
for room, (ran, lines) in sorted(rooms.items(), key=lambda item: (item[0] == "all of src", item[0])):
    print(f"coverage of {room:12} {100 * ran / lines:5.1f} %  ({ran} of {lines} lines)")
faults = [f"{room} (no line of it ran)" for room in FLOORS if room not in rooms]
faults += [f"{room} (no floor is set in tests/coverage.py)" for room in rooms if room not in FLOORS and room != "all of src"]
for room, floor in FLOORS.items():
    ran, lines = rooms.get(room, (0, 0))
    if 100 * ran < floor * lines:
        faults.append(f"{room} (less than {floor} % of its lines ran)")
        print(*without_runs(room), sep="\n")
if faults:
    sys.exit(f"coverage is too low of {', '.join(faults)}, add tests")
