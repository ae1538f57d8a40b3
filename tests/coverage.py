"""Prints how many lines of each room of src/ ran, as GCC's counters tell; fails where they are fewer than a floor in
percent. Usage: coverage.py BUILD_DIRECTORY."""

import collections
import json
import subprocess
import sys
from pathlib import Path

from counts import widest

# One or two percent below what the stage of ./dev test with the address sanitizer reaches.
FLOORS = {
    "order": 97, "kernels": 96, "arithmetic": 96, "schedule": 96, "transport": 86, "agreement": 96,
    "execution": 97, "prediction": 95, "session": 91, "capi": 84,
}  # fmt: skip
if widest() not in ("avx512", "sve"):  # what is for these alone cannot run here: 92.7 % with AVX2
    FLOORS["kernels"] = 91

ROOT = Path(__file__).resolve().parents[1] / "src"
build = Path(sys.argv[1]).resolve()
runs = collections.defaultdict(int)  # (file, line) -> how often, over all programs that have it
for data in sorted(build.glob("src/**/*.gcda")):
    report = subprocess.run(["gcov", "--json-format", "--stdout", data], cwd=build, capture_output=True, check=True)
    for line in report.stdout.splitlines():
        for file in json.loads(line)["files"]:
            path = (build / file["file"]).resolve()  # through the links of build/rooms
            if path.is_relative_to(ROOT):
                for entry in file["lines"]:
                    runs[path, entry["line_number"]] += entry["count"]

rooms = collections.defaultdict(lambda: [0, 0])
for (path, _), count in runs.items():
    for room in (path.relative_to(ROOT).parts[0], "all of src"):
        rooms[room][0] += count > 0
        rooms[room][1] += 1
for room, (ran, lines) in sorted(rooms.items(), key=lambda item: (item[0] == "all of src", item[0])):
    print(f"coverage of {room:12} {100 * ran / lines:5.1f} %  ({ran} of {lines} lines)")
if not runs:
    sys.exit("no counters were written (nothing ran, or the build has none), configure with STEADFOLD_COVERAGE=ON")
faults = [f"{room} (no line of it ran)" for room in FLOORS if room not in rooms]
faults += [f"{room} (no floor is set in tests/coverage.py)" for room in rooms if room not in FLOORS and room != "all of src"]
for room, floor in FLOORS.items():
    ran, lines = rooms.get(room, (0, 0))
    if 100 * ran < floor * lines:
        faults.append(f"{room} (less than {floor} % of its lines ran)")
if faults:
    sys.exit(f"coverage is too low of {', '.join(faults)}, add tests")
