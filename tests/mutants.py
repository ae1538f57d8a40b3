"""Edits that break the library, each of which some test must notice. Usage:
  mutants.py check BUILD         whether every edit still applies, and BUILD has the cases that must notice it
  mutants.py source FOLDER       writes the project into FOLDER, with every edit behind a switch (mutants/switch.h)
  mutants.py run BUILD [N] [WORD]
                                 runs, in a build of that folder, the cases named: of all edits, or of N drawn by
                                 STEADFOLD_SEED; with a WORD, of those that have it in their file or in what they break

The edits are tables of the files in mutants/, a file for each part of the project:
  [[mutant]]
  file = "src/kernels/turn.cpp"
  old = "i < count"              the text replaced: an expression, or, up to its ';' or '}', whole statements without
                                 declarations. It stands once in the file, or once in the text given as `where`, which does
  new = "i + 1 < count"          an expression of the same type, or statements, perhaps none
  breaks = "the last row of a tail is lost"
  noticed = ["test_kernels Turn*"]
                                 any of these must fail; cases.py says how cases are named
  equivalent = "why no test can notice it", in place of `noticed`
Python's files are edited as their turn comes. An edit that is noticed by a hang alone counts as survived."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cases import Cases, is_of_one_process

PROJECT = Path(__file__).resolve().parents[1]
TABLES = PROJECT / "tests" / "mutants"
LIMIT = 20  # seconds; what takes longer hangs
HANGS = re.compile(r" HANGS\b|nothing has moved for|\*\*\*Timeout")


class Mutant:
    def __init__(self, table, entry):
        known = {"file", "old", "new", "where", "breaks", "noticed", "equivalent"}
        self.file, self.old, self.new = entry["file"], entry["old"], entry["new"]
        self.where, self.breaks = entry.get("where", self.old), entry["breaks"]
        self.noticed, self.equivalent = entry.get("noticed", []), entry.get("equivalent")
        self.number = zlib.crc32("\0".join([self.file, self.where, self.old, self.new]).encode())
        self.name = f"{self.file}: {' '.join(self.old.split())[:60]} -> {' '.join(self.new.split())[:60]}"
        self.faults = [f"{table}: unknown key {key}" for key in entry.keys() - known]
        if bool(self.noticed) == bool(self.equivalent):
            self.faults.append("it needs either `noticed` or `equivalent`")
        if self.old == self.new:
            self.faults.append("it changes nothing")
        if (PROJECT / self.file).is_file():
            self.find((PROJECT / self.file).read_text())
        else:
            self.faults.append("there is no such file")

    def find(self, text):
        for whole, part in ((text, self.where), (self.where, self.old)):
            if whole.count(part) != 1:
                self.faults.append(f"found {whole.count(part)} times instead of once: {part!r}")
                return
        self.begin = text.index(self.where) + self.where.index(self.old)
        self.end = self.begin + len(self.old)
        if re.search(r"\bco_await\s+$", text[: self.begin]):  # of which GCC 12 awaits a copy that is gone
            self.faults.append("it is all that is awaited (a switch there crashes), edit a part of it")

    @property
    def is_interpreted(self):
        return self.file.endswith(".py")

    def switched(self, old):
        """The old text with the new one beside it; `old` may hold other edits of the same place."""
        if self.old.rstrip().endswith((";", "}")) and ";" in self.old:
            return f"if (STEADFOLD_MUTANT({self.number}u)) {{ {self.new} }} else {{ {old} }}"
        return f"(STEADFOLD_MUTANT({self.number}u) ? ({self.new}) : ({old}))"


def all_mutants():
    return [
        Mutant(table.name, entry)
        for table in sorted(TABLES.glob("*.toml"))
        for entry in tomllib.loads(table.read_text()).get("mutant", [])
    ]


def faults_of(mutants):
    faults = [f"{mutant.name}: {fault}" for mutant in mutants for fault in mutant.faults]
    sound = sorted((each for each in mutants if not each.faults), key=lambda each: (each.file, each.begin, each.end))
    for one, other in zip(sound, sound[1:]):
        if one.file == other.file and other.begin < one.end and (one.begin, one.end) != (other.begin, other.end):
            faults.append(f"{one.name} overlaps with {other.name}")
    numbers = [each.number for each in sound]
    return faults + [f"{each.name}: it is there twice" for each in sound if numbers.count(each.number) > 1]


def check(build):
    mutants = all_mutants()
    cases, faults = Cases(build), faults_of(mutants)
    for mutant in mutants:
        faults += [f"{mutant.name}: {fault}" for each in mutant.noticed if (fault := cases.fault(each))]
    print(*faults, sep="\n")
    print(f"{len(mutants)} edits, {sum(bool(each.equivalent) for each in mutants)} of them equivalent; {len(faults)} faults")
    return 1 if faults else 0


# --- the source with every edit --------------------------------------------------------------------------------------


def with_edits(text, mutants):
    places = {}
    for mutant in mutants:
        places.setdefault((mutant.begin, mutant.end), []).append(mutant)
    for (begin, end), here in sorted(places.items(), reverse=True):
        old = text[begin:end]
        for mutant in here:
            old = mutant.switched(old)
        text = text[:begin] + old + text[end:]
    return text


def write_source(folder):
    mutants = all_mutants()
    if faults := faults_of(mutants):
        sys.exit("\n".join(faults))
    wanted = set()
    for root, folders, files in os.walk(PROJECT):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in ("build", "__pycache__")]
        wanted |= {Path(root, file).relative_to(PROJECT) for file in files if not file.startswith(".git")}
    for file in wanted:
        target, data = folder / file, (PROJECT / file).read_bytes()
        here = [each for each in mutants if each.file == str(file) and not each.is_interpreted and not each.equivalent]
        if here:
            data = with_edits(data.decode(), here).encode()
        if target.exists() and target.read_bytes() == data:
            continue  # and nothing is compiled again
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        shutil.copymode(PROJECT / file, target)
    for file in [each.relative_to(folder) for each in folder.rglob("*") if each.is_file()]:
        if file not in wanted and "__pycache__" not in file.parts:
            (folder / file).unlink()


# --- runs ------------------------------------------------------------------------------------------------------------


def run_case(build, noticing, number):
    """Whether a case noticed, and whether by a hang alone; what it printed."""
    test, _, word = noticing.partition(" ")
    environment = {**os.environ, "STEADFOLD_MUTANT": str(number), "STEADFOLD_TEST_LIMIT": str(LIMIT)}
    if is_of_one_process(test):
        words = [str(build / "tests" / test), f"--gtest_filter={word}", "--gtest_fail_fast"]
    else:
        words = ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error", "-R", f"^{re.escape(test)}$"]
        environment["STEADFOLD_TEST_CASES"] = word
    job = subprocess.Popen(words, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           errors="replace", stdin=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
    try:
        printed, _ = job.communicate(timeout=3 * LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        return False, True, job.communicate()[0]
    hung = bool(HANGS.search(printed))
    return job.returncode != 0 and not hung, hung, printed


def run_mutant(build, mutant):
    """Noticed, survived, or hangs; and the last case that did."""
    interpreted = build / "source" / mutant.file
    try:
        if mutant.is_interpreted:
            text = interpreted.read_text()
            interpreted.write_text(text.replace(mutant.where, mutant.where.replace(mutant.old, mutant.new)))
        hung = ""
        for noticing in mutant.noticed:
            noticed, hangs, _ = run_case(build, noticing, mutant.number)
            if noticed:
                return "noticed", noticing
            hung = noticing if hangs else hung
        return ("hangs", hung) if hung else ("survived", "")
    finally:
        if mutant.is_interpreted:
            interpreted.write_text(text)


def chosen(mutants, number, word):
    mutants = [each for each in mutants if not each.equivalent and (not word or word in each.file + " " + each.breaks)]
    if number and number < len(mutants):
        seed = os.environ.get("STEADFOLD_SEED") or str(time.time_ns() % 1000000)
        print(f"{number} of {len(mutants)} edits, STEADFOLD_SEED={seed}", flush=True)
        mutants = random.Random(seed).sample(mutants, number)
    return mutants


def run(build, number, word):
    mutants = chosen(all_mutants(), number, word)
    if not mutants:
        sys.exit(f"0 noticed, 0 survived (no edit has '{word}' in its file or effect)")
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        controls = sorted({noticing for mutant in mutants for noticing in mutant.noticed})
        for noticing, (noticed, hung, printed) in zip(controls, pool.map(lambda each: run_case(build, each, 0), controls)):
            if noticed or hung:
                print(printed[-3000:])
                sys.exit(f"0 noticed, 0 survived ({noticing} fails without any edit)")
        began, survived = time.monotonic(), 0
        # Python's sources are one for all: they come last, one by one.
        compiled = [each for each in mutants if not each.is_interpreted]
        interpreted = [each for each in mutants if each.is_interpreted]
        verdicts = zip(compiled, pool.map(lambda each: run_mutant(build, each), compiled))
        for mutant, (verdict, by) in (*verdicts, *((each, run_mutant(build, each)) for each in interpreted)):
            if verdict != "noticed":
                survived += 1
                print(f"{'SURVIVED' if verdict == 'survived' else 'HANGS'}: {mutant.name}\n  {mutant.breaks}\n"
                      f"  not noticed by {', '.join(mutant.noticed)}{by and ', which hangs: ' + by}", flush=True)  # fmt: skip
    print(f"{time.monotonic() - began:.0f} s")
    print(f"{len(mutants) - survived} noticed, {survived} survived")
    return 1 if survived else 0


def main():
    command, folder, *more = sys.argv[1:]
    if command == "check":
        return check(Path(folder))
    if command == "source":
        return write_source(Path(folder))
    number, word = (*more, *("0", "")[len(more) :])
    return run(Path(folder), int(number), word)


if __name__ == "__main__":
    sys.exit(main())
