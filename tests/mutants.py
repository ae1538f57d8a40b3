"""Edits that break the library, each of which some test must notice. Usage:
  mutants.py check BUILD [TABLES]
                                 whether every edit still applies, BUILD has the cases that must notice it, and files with
                                 edits compile; of these it tries a few of those that TABLES/compiled.txt does not know
  mutants.py compile BUILD [TABLES]
                                 compiles all that TABLES/compiled.txt does not know, and writes them down there
  mutants.py source FOLDER       writes the project into FOLDER, with every edit behind a switch (mutants/switch.h)
  mutants.py run BUILD [N] [WORD]
                                 runs, in a build of that folder, the cases named: of all edits, or of N drawn by
                                 STEADFOLD_SEED; with a WORD, of those that have it in their file or in what they break

The edits are tables of the files in a folder, a file for each part of the project. TABLES: mutants/, or the laboratory's
lab/tests/mutants. `source` and `run` take both.
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

import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cases import Cases, is_of_one_process

PROJECT = Path(__file__).resolve().parents[1]
TABLES = PROJECT / "tests" / "mutants"
LABORATORY = PROJECT / "lab" / "tests" / "mutants"
COMPILED = "compiled.txt"  # beside tables: digests of files with all edits that a compiler took
MOST_COMPILED = 8  # by a check, each in a second; C's files take milliseconds and are all compiled
LIMIT = 20  # seconds; what takes longer hangs
TEXT_OR_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
PART_OF_STATEMENT = re.compile(r"\s*(?:if|for|while|return|const|constexpr|else)\b")
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
        if not self.is_interpreted and not self.is_of_statements and PART_OF_STATEMENT.match(self.old):
            self.faults.append("it is neither an expression nor a whole statement, edit the expression in it")

    @property
    def is_interpreted(self):
        return self.file.endswith(".py")

    @property
    def is_of_statements(self):
        return self.old.rstrip().endswith((";", "}")) and ";" in self.old

    def switched(self, old):
        """The old text with the new one beside it; `old` may hold other edits of the same place."""
        if self.is_of_statements:
            return f"if (STEADFOLD_MUTANT({self.number}u)) {{ {self.new} }} else {{ {old} }}"
        return f"(STEADFOLD_MUTANT({self.number}u) ? ({self.new}) : ({old}))"


def all_mutants(*folders):
    return [
        Mutant(table.name, entry)
        for folder in folders or (TABLES, LABORATORY)
        for table in sorted(folder.glob("*.toml"))
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


def faults_of_names(mutants, build):
    """Of the cases that must notice edits: a test that runs none of that name passes whatever the edit does."""
    cases = Cases(build)
    return [f"{mutant.name}: {fault}" for mutant in mutants for each in mutant.noticed if (fault := cases.fault(each))]


def check(build, tables):
    mutants = all_mutants(tables)
    faults = faults_of(mutants) + faults_of_names(mutants, build)
    if not faults:
        faults = check_compiling(build, tables, mutants)
    print(*faults, sep="\n")
    print(f"{len(mutants)} edits, {sum(bool(each.equivalent) for each in mutants)} of them equivalent; {len(faults)} faults")
    return 1 if faults else 0


# --- whether files with every edit compile ---------------------------------------------------------------------------


def switched_files(mutants):
    """Each compiled file that has edits, as the build of mutants has it."""
    compiled = [each for each in mutants if not each.is_interpreted and not each.equivalent]
    return {
        file: with_edits((PROJECT / file).read_text(), [each for each in compiled if each.file == file])
        for file in sorted({each.file for each in compiled})
    }


def digest_of(text):
    """Covers only the code, so that a new comment or another line break needs no compilation."""
    code = "".join(TEXT_OR_COMMENT.sub(lambda found: found[1] or "", text).split())
    return f"{zlib.crc32((TABLES / 'switch.h').read_bytes() + code.encode()):08x}"


def known_digests(tables):
    lines = (tables / COMPILED).read_text().splitlines() if (tables / COMPILED).exists() else []
    return {file: digest for digest, file in (line.split() for line in lines)}


def commands_of(build):
    """How the build compiles each file: a folder, and words without those that name input and output."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = Path(entry["file"])
        words = shlex.split(entry["command"])
        words = words[: words.index("-o")]
        members = re.findall(r'#include "(/[^"]+)"', source.read_text()) if "Unity" in source.parts else [source]
        for member in map(Path, members):
            if member.is_relative_to(PROJECT):
                found.setdefault(str(member.relative_to(PROJECT)), (entry["directory"], words))
    return found


def source_of(file, commands):
    """A source that the build compiles: the file, or one that includes it, perhaps by way of another header."""
    if file in commands:
        return file
    root, path = file.split("/", 1)
    near = sorted(commands, key=lambda each: -len(os.path.commonprefix([each, file])))
    for each in (*near, *(str(header.relative_to(PROJECT)) for header in (PROJECT / root).rglob("*.h*"))):
        text, is_neighbour = (PROJECT / each).read_text(), Path(each).parent == Path(file).parent
        if f'#include "{path}"' in text or f'#include "{file}"' in text or (is_neighbour and f'#include "{Path(file).name}"' in text):
            return source_of(each, commands)
    raise LookupError(f"no source includes {file}")


def fault_in(file, commands, folder):
    """What a compiler says to a file in the folder; None if it takes it."""
    source = source_of(file, commands)
    target = folder / source
    if not target.exists():
        target = folder / f"of_{file.replace('/', '_')}" / source
        target.parent.mkdir(parents=True)
        target.write_text((PROJECT / source).read_text())
    directory, (compiler, *options) = commands[source]
    places = [word for root in (".", "src", "include", Path(file).parts[0], Path(file).parent) for word in ("-I", folder / root)]
    words = [compiler, *places, *options, "-iquote", (PROJECT / source).parent, "-fsyntax-only", "-w", "-include", TABLES / "switch.h", target]
    ran = subprocess.run(words, cwd=directory, capture_output=True, text=True)
    return f"{file} does not compile with its edits: {ran.stderr[:1000]}" if ran.returncode else None


def faults_in(texts, build):
    """What compilers say to these files, each with the others. They are no part of the project."""
    commands = commands_of(build)
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        folder = Path(place)
        for file in texts:  # among its neighbours, which include each other by their names alone
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            for header in (PROJECT / file).parent.glob("*.h*"):
                shutil.copy(header, (folder / file).parent)
        for file, text in texts.items():
            (folder / file).write_text(text)
        faults = pool.map(lambda file: fault_in(file, commands, folder), texts)
        return {file: fault for file, fault in zip(texts, faults) if fault}


def check_compiling(build, tables, mutants):
    texts, known = switched_files(mutants), known_digests(tables)
    unknown = [file for file in texts if known.get(file) != digest_of(texts[file])]
    wanted = {file: texts[file] for file in drawn(unknown, MOST_COMPILED, "files that compiled.txt does not know")}
    if tables == TABLES:
        wanted |= {str(file.relative_to(PROJECT)): file.read_text() for file in PROJECT.glob("interpose/*.c")}
    return list(faults_in(wanted, build).values())


def compile_unknown(build, tables):
    mutants = all_mutants(tables)
    if faults := faults_of(mutants):
        sys.exit("\n".join(faults))
    texts, known = switched_files(mutants), known_digests(tables)
    unknown = {file: text for file, text in texts.items() if known.get(file) != digest_of(text)}
    faults = faults_in(unknown, build)
    (tables / COMPILED).write_text("".join(f"{digest_of(text)} {file}\n" for file, text in texts.items() if file not in faults))
    print(*faults.values(), sep="\n")
    print(f"{len(unknown)} files compiled, {len(faults)} faults")
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


def outcome_of(words, environment, seconds, folder=None):
    """Of a command that is ended after these seconds: passed, failed, or hangs; and what it printed."""
    job = subprocess.Popen(words, env=environment, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           errors="replace", stdin=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
    try:
        printed, _ = job.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        return "hangs", job.communicate()[0]
    if HANGS.search(printed):
        return "hangs", printed
    return "failed" if job.returncode != 0 else "passed", printed


def run_case(build, noticing, number):
    """Whether a case noticed, and whether by a hang alone; what it printed."""
    test, _, word = noticing.partition(" ")
    environment = {**os.environ, "STEADFOLD_MUTANT": str(number), "STEADFOLD_TEST_LIMIT": str(LIMIT)}
    if is_of_one_process(test):
        words = [str(build / "tests" / test), f"--gtest_filter={word}", "--gtest_fail_fast"]
    else:
        words = ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error", "-R", f"^{re.escape(test)}$"]
        environment["STEADFOLD_TEST_CASES"] = word
    verdict, printed = outcome_of(words, environment, 3 * LIMIT)
    return verdict == "failed", verdict == "hangs", printed


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


def drawn(all_of_them, number, what):
    if number >= len(all_of_them):
        return all_of_them
    seed = os.environ.get("STEADFOLD_SEED") or str(time.time_ns() % 1000000)
    print(f"{number} of {len(all_of_them)} {what}, STEADFOLD_SEED={seed}", flush=True)
    return random.Random(seed).sample(all_of_them, number)


def chosen(mutants, number, word):
    mutants = [each for each in mutants if not each.equivalent and (not word or word in each.file + " " + each.breaks)]
    return drawn(mutants, number or len(mutants), "edits")


def run(build, number, word):
    mutants = chosen(all_mutants(), number, word)
    if not mutants:
        sys.exit(f"0 noticed, 0 survived (no edit has '{word}' in its file or effect)")
    if faults := faults_of_names(mutants, build):
        sys.exit("\n".join([*faults, "0 noticed, 0 survived (some edits name cases that do not run)"]))
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
    if command in ("check", "compile"):
        tables = Path(more[0]).resolve() if more else TABLES
        return (check if command == "check" else compile_unknown)(Path(folder), tables)
    if command == "source":
        return write_source(Path(folder))
    number, word = (*more, *("0", "")[len(more) :])
    return run(Path(folder), int(number), word)


if __name__ == "__main__":
    sys.exit(main())
