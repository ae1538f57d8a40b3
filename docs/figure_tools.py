"""Helpers for the scripts that make the tables in the documents: they run programs, and write Markdown tables."""

import json
import os
import pathlib
import subprocess

HOUSE = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("STEADFOLD_EXAMPLES", HOUSE / "build" / "bin"))
COMMAND = str(BIN / "steadfold")
ROOT_MAY_RUN = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(*words, core=None, environment=None):
    """Runs a program. Returns its standard output, its processor time in seconds and its peak memory in bytes.
    `environment`: variables to add to the environment of this process."""
    pinned = ["taskset", "-c", str(core)] if core is not None else []
    process = subprocess.Popen([*pinned, *map(str, words)], stdout=subprocess.PIPE, text=True, cwd=HOUSE,
                               env={**os.environ, **ROOT_MAY_RUN, **(environment or {})})
    text = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))} ended with {process.returncode}")
    return text, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def answer(*words, core=None, environment=None):
    return json.loads(run(COMMAND, *words, "--json", core=core, environment=environment)[0])


def place():
    """Returns date, processor, compiler and MPI library of the measurement, in one line."""
    info = answer("bench", "local", "--sizes", "1000", "--rounds", "3")["environment"]
    mpi = info["mpi"].split(",")[0]
    return (f"{info['date'][:10]}, {info['cpu']}, {info['cores']} cores, {info['widest_target']}, {info['compiler']}, "
            f"{mpi}")


def rows(header, lines):
    text = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in text)


def spaced(number):
    return f"{number:,}".replace(",", " ") if number >= 10_000 else str(number)


def time_text(seconds):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 1e-9:.3g} ns"


def ratio_text(row, name):
    low, high = row[f"{name}_interval"]
    return f"{row[name]:.2f} [{low:.2f}, {high:.2f}]"
