"""Counts what passed and failed. Usage: report.py [--part] BUILD [stage=RESULT ...], where RESULT is passed, failed, or
begins with "left out" or "no time". BUILD holds what ctest wrote, tests.xml, and in reports/ what launches of many cases
wrote of each; --part: of some of the tests.

So that no test can go missing unseen, these are failures too: a skip that allowed_skips.txt does not name, fewer tests
of a group than minimum_counts.txt asks for, and, where CI is set, a stage that is left out, a skip that is not allowed
there, or a forced instruction set."""

import os
import re
import sys
import xml.etree.ElementTree
from pathlib import Path

from counts import passed_in, too_few

PART = "--part" in sys.argv
arguments = [word for word in sys.argv[1:] if word != "--part"]
IN_CI = bool(os.environ.get("CI"))
# Patterns of names, each with the comment above it: the reason. Where a second word says so, not in CI.
allowed, reason = [], ""
for line in (Path(__file__).parent / "allowed_skips.txt").read_text().splitlines():
    if line.startswith("#"):
        reason = line.lstrip("# ")
    elif line.strip():
        pattern, *elsewhere = line.split()
        if elsewhere not in ([], ["not-in-CI"]):
            sys.exit(f"allowed_skips.txt cannot be understood ('{line}'), write a pattern and perhaps not-in-CI")
        if not (IN_CI and elsewhere):
            allowed.append((re.compile(pattern), reason))

passed, failed = [], []
skipped, outputs = {}, {}  # names by reason; the last lines of cases that failed, by name
MOST_OUTPUTS, LAST_LINES = 5, 12


def last_lines(case):
    lines = (case.findtext("system-out") or case.findtext("failure") or "").rstrip().splitlines()
    return "\n".join(f"  {line[:200]}" for line in lines[-LAST_LINES:])


for stage in arguments[1:]:
    name, result = stage.split("=", 1)
    if result.startswith(("left out", "no time")):
        print(f"{name}: {result}")
        if IN_CI and not result.startswith("no time"):
            failed.append(f"{name} ({result}; nothing may be left out in CI)")
    else:
        (passed if result == "passed" else failed).append(name)
if IN_CI and os.environ.get("STEADFOLD_TARGET"):
    failed.append(f"STEADFOLD_TARGET (it forces {os.environ['STEADFOLD_TARGET']}; CI tries the widest instruction set)")
files = [Path(arguments[0], "tests.xml"), *sorted(Path(arguments[0], "reports").glob("*.xml"))]
for case in (case for file in files for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase")):
    name = case.get("name")
    if case.get("status") == "run":
        passed.append(name)
    elif case.find("skipped") is not None and any(pattern.fullmatch(name) for pattern, _ in allowed):
        reason = next(reason for pattern, reason in allowed if pattern.fullmatch(name))
        skipped.setdefault(reason, []).append(name)
    elif case.find("skipped") is not None:
        failed.append(f"{name} (skipped, and tests/allowed_skips.txt does not name it)")
    else:
        failed.append(name)
        outputs[name] = last_lines(case)
# What may be skipped counts as if it were there.
if not PART:
    there = [name for file in files for name in passed_in(file)] + [name for names in skipped.values() for name in names]
    failed += too_few("release", there)

for reason, names in skipped.items():
    print(f"skipped: {len(names)}, {names[0]}{' and others' if len(names) > 1 else ''}: {reason}")
for name, said in list(outputs.items())[:MOST_OUTPUTS]:
    print(f"{name} said last:\n{said}")
for name in failed:
    print(f"failed: {name}")
count = sum(map(len, skipped.values()))
print(f"{len(passed)} passed, {len(failed)} failed" + (f", {count} skipped" if count else ""))
sys.exit(1 if failed or not passed else 0)
