"""Counts what passed and failed. Usage: report.py CTEST_JUNIT_FILE [stage=passed|failed|left out ... ...]; a skip that
allowed_skips.txt does not name is a failure, so that no test can go missing unseen."""

import re
import sys
import xml.etree.ElementTree
from pathlib import Path

# Patterns of names, each with the comment above it: the reason.
allowed, reason = [], ""
for line in (Path(__file__).parent / "allowed_skips.txt").read_text().splitlines():
    if line.startswith("#"):
        reason = line.lstrip("# ")
    elif line.strip():
        allowed.append((re.compile(line.split()[0]), reason))

passed, failed, skipped = [], [], []
for stage in sys.argv[2:]:
    name, result = stage.split("=", 1)
    if result.startswith("left out"):
        print(f"{name}: {result}")
    else:
        (passed if result == "passed" else failed).append(name)
for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    name = case.get("name")
    if case.get("status") == "run":
        passed.append(name)
    elif case.find("skipped") is not None and any(pattern.fullmatch(name) for pattern, _ in allowed):
        skipped.append(f"{name}: {next(reason for pattern, reason in allowed if pattern.fullmatch(name))}")
    elif case.find("skipped") is not None:
        failed.append(f"{name} (skipped, and tests/allowed_skips.txt does not name it)")
    else:
        failed.append(name)

for name in skipped:
    print(f"skipped: {name}")
for name in failed:
    print(f"failed: {name}")
print(f"{len(passed)} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
sys.exit(1 if failed or not passed else 0)
