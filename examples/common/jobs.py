"""What the examples in Python share: usage errors, fingerprints, errors of one rank that all ranks learn of, and tables of
jobs on several numbers of ranks."""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

DIFFERS = "*"


class Refusal(Exception):
    """A usage or data error: "problem (why), suggestion"."""


class Parser(argparse.ArgumentParser):
    """Says usage errors in one line, on one rank."""

    def error(self, message):
        raise SystemExit(refuse_alone(f"{message} (of {self.prog}), see --help"))


def rank_from_launcher():
    """Before MPI is loaded."""
    for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        if name in os.environ:
            return int(os.environ[name])
    return 0


def refuse_alone(text):
    """The exit status of every rank; rank 0 says why. The others succeed: a launcher ends all ranks as soon as one fails,
    perhaps before rank 0 has spoken."""
    if rank_from_launcher() != 0:
        return 0
    print(text, file=sys.stderr)
    return 2


def at_least(least):
    def number(text):
        if int(text) < least:
            raise ValueError
        return int(text)

    number.__name__ = f"number of at least {least}"  # for argparse's message
    return number


def numbers(text):
    """1,2,4"""
    return [at_least(1)(part) for part in text.split(",")]


class Fingerprint:
    """A digest of all the bits that it was given, in order."""

    def __init__(self):
        self._digest = hashlib.sha256()

    def add(self, array):
        self._digest.update(array.tobytes())

    def __str__(self):
        return self._digest.hexdigest()[:16].upper()


def agree(comm, work):
    """Returns the result of `work()`. If it fails on some ranks, all ranks raise the Refusal of the first of them."""
    result, refusal = None, None
    try:
        result = work()
    except Refusal as error:
        refusal = str(error)
    except Exception as error:
        refusal = f"{type(error).__name__} on rank {comm.rank} ({error}), see --help"
    found = [text for text in comm.allgather(refusal) if text]
    if found:
        raise Refusal(found[0])
    return result


def run_job(job, arguments):
    """Runs job(comm, arguments) on every rank; rank 0 prints what it returns, as JSON or by its own `show`."""
    from mpi4py import MPI

    try:
        record, show = job(MPI.COMM_WORLD, arguments)
    except Refusal as refusal:
        if MPI.COMM_WORLD.rank == 0:
            print(refusal, file=sys.stderr)
        return 2
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(record)) if arguments.json else show(record)
    return 0


def _record_of(ranks, script, options):
    """Starts a job, and reads its output."""
    launcher = os.environ.get("STEADFOLD_MPIRUN") or shutil.which("mpirun")
    if launcher is None:
        raise Refusal("no mpirun on the path (--compare starts jobs with it), name it in STEADFOLD_MPIRUN")
    with tempfile.TemporaryDirectory() as session:
        settings = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_orte_tmpdir_base": session,
        }
        words = [launcher, "-n", str(ranks), sys.executable, script, *options, "--json"]
        done = subprocess.run(words, env={**os.environ, **settings}, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refusal(f"a job of {ranks} ranks ended with {done.returncode} ({done.stderr.strip()}), run it alone")
    return json.loads(done.stdout)


def compare(script, options, ranks, columns):
    """Prints a row per number of ranks, and marks what differs from the first row. `columns`: heading and key of a record,
    or a function of it. Returns 1 if Steadfold's bits differ."""
    if "OMPI_COMM_WORLD_RANK" in os.environ or "PMI_RANK" in os.environ:
        return refuse_alone("--compare under a launcher (it starts jobs itself), leave out mpirun")
    try:
        records = [_record_of(count, script, options) for count in ranks]
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 2
    texts = [[str(key(record) if callable(key) else record[key]) for _, key in columns] for record in records]
    widths = [max(len(heading), *(len(row[i]) + 1 for row in texts)) for i, (heading, _) in enumerate(columns)]
    print("ranks | " + " | ".join(heading.ljust(width) for (heading, _), width in zip(columns, widths)).rstrip())
    print("------|-" + "-|-".join("-" * width for width in widths))
    for count, row in zip(ranks, texts):
        cells = [text + (DIFFERS if text != first else "") for text, first in zip(row, texts[0])]
        print(f"{count:5} | " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip())
    return 1 if len({record["fingerprint_steadfold"] for record in records}) > 1 else 0
