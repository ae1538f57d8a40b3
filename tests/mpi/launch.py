"""Runs cases of a program on the ranks of one launch, and reports on each.
Usage: launch.py [--subjects NAME,...] --report FILE --name PATTERN -- LAUNCHER... PROGRAM

A subject is a file of tests/mpi; without --subjects, every case runs. In PATTERN '{}' stands for the subject: with
'mpi.openmpi.{}.p3' a case is reported as mpi.openmpi.bundle_test.p3.BundleTest.Name. FILE is JUnit's XML. A case that
crashes or hangs has failed, and a new launch goes on behind it. Environment:
  STEADFOLD_TEST_CASES    a word: only cases whose reported names have it, in letters of any case
  STEADFOLD_TEST_SHUFFLE  a seed, not 0: cases run in an order of its own
  STEADFOLD_TEST_LIMIT    seconds after which a case hangs
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

MOST_LAUNCHES = 5  # what crashes more often is broken as a whole
LIMIT = int(os.environ.get("STEADFOLD_TEST_LIMIT") or 20)
OF_THE_ENDS = LIMIT + 30  # seconds without a line of the journal: a case hangs that nobody stops, or MPI does at its ends


class Case:
    def __init__(self, subject, name, pattern):
        self.name = name
        self.reported = pattern.replace("{}", subject) + "." + name
        self.verdict, self.seconds, self.text = None, 0.0, ""


def cases_of(program, subjects, pattern):
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, timeout=60, check=True).stdout
    pairs = [line.split(" ", 1) for line in listed.splitlines()]
    missing = set(subjects or []) - {subject for subject, _ in pairs}
    if missing:
        sys.exit(f"{program} has no cases of {', '.join(sorted(missing))}")
    return [Case(subject, name, pattern) for subject, name in pairs if not subjects or subject in subjects]


def read(journal, cases):
    """Notes what the journal says; returns the case that began and did not end, if there is one."""
    open_case = None
    for line in journal.read_text().splitlines():
        word, name, *seconds = line.split(" ")
        if word == "began":
            open_case = cases[name]
        else:
            cases[name].verdict, cases[name].seconds, open_case = word, int(seconds[0]) / 1000, None
    return open_case


def launch(command, wanted, folder):
    """One launch: exit status, what it printed, the case it ended in."""
    journal, names, printed = Path(folder, "journal"), Path(folder, "cases"), Path(folder, "printed")
    names.write_text("".join(f"{case.name}\n" for case in wanted))
    journal.write_text("")
    words = [*command, f"--cases={names}", f"--journal={journal}", f"--limit={LIMIT}"]
    if seed := os.environ.get("STEADFOLD_TEST_SHUFFLE"):
        words += ["--gtest_shuffle", f"--gtest_random_seed={seed}"]
    with printed.open("w") as output:
        job = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        written, since = 0, time.monotonic()
        try:
            while job.poll() is None and time.monotonic() - since <= OF_THE_ENDS:
                time.sleep(0.02)
                if (size := journal.stat().st_size) != written:
                    written, since = size, time.monotonic()
        finally:
            if job.poll() is None:
                output.write(f"nothing has moved for {time.monotonic() - since:.0f} seconds: ended\n")
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
    return job.returncode, printed.read_text(errors="replace"), read(journal, {case.name: case for case in wanted})


def run(command, cases):
    """Launches until every case has a verdict. Returns what went wrong outside of cases."""
    for _ in range(MOST_LAUNCHES):
        wanted = [case for case in cases if case.verdict is None]
        with tempfile.TemporaryDirectory() as folder:
            status, text, ended_in = launch(command, wanted, folder)
        for case in wanted:
            if case.verdict == "failed":
                case.text = text
        if ended_in is not None:
            ended_in.verdict, ended_in.text = "failed", text
            print(f"{ended_in.reported} ended its ranks with status {status}", flush=True)
        elif any(case.verdict is None for case in wanted):
            return f"status {status} outside of any case\n{text}"
        elif status != 0 and all(case.verdict != "failed" for case in wanted):
            return f"status {status}, though every case passed\n{text}"
        if all(case.verdict is not None for case in cases):
            return ""
    for case in cases:
        if case.verdict is None:
            case.verdict, case.text = "failed", f"not run: {MOST_LAUNCHES} launches crashed before"
    return ""


def report(file, cases):
    suite = ElementTree.Element("testsuite")
    for case in cases:
        element = ElementTree.SubElement(suite, "testcase", name=case.reported, time=f"{case.seconds:.3f}", status="run")
        if case.verdict == "skipped":
            element.set("status", "notrun")
            ElementTree.SubElement(element, "skipped")
        elif case.verdict == "failed":
            element.set("status", "fail")
            ElementTree.SubElement(element, "failure").text = re.sub(r"[^\t\n\x20-\uFFFD]", "?", case.text[-20000:])
    ElementTree.ElementTree(suite).write(file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--subjects", type=lambda text: text.split(","))
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    given.report.unlink(missing_ok=True)
    cases = cases_of(given.command[-1], given.subjects, given.name)
    if only := os.environ.get("STEADFOLD_TEST_CASES"):
        cases = [case for case in cases if only.lower() in case.reported.lower()]
        if not cases:
            print(f"no case has {only} in its name: left out")
            return 0
    began = time.monotonic()
    outside = run(given.command, cases)
    given.report.parent.mkdir(parents=True, exist_ok=True)
    report(given.report, cases)
    failed = [case for case in cases if case.verdict == "failed"]
    for text in dict.fromkeys(case.text for case in failed):
        print(text[-8000:])
    for case in failed:
        print(f"FAILED: {case.reported}")
    if outside:
        print(f"FAILED: {outside[-8000:]}")
    slowest = max(cases, key=lambda case: case.seconds)
    print(f"{len(cases)} cases in {time.monotonic() - began:.1f} s, {len(failed)} failed; the longest took "
          f"{slowest.seconds:.1f} s ({slowest.reported})")  # fmt: skip
    return 1 if failed or outside else 0


if __name__ == "__main__":
    sys.exit(main())
