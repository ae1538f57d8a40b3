"""Runs the soak's programs for SECONDS seconds: `run.py DRIVERS SECONDS [SEED]`. DRIVERS is the file drivers.json that the build wrote.

The time is divided among the simulated network, teams of threads, and both MPI libraries with several rank counts. Progress goes to standard
error; the last line of standard output is "N compared, M wrong". The exit status is 1 if anything is wrong: a
result, a crash, a hang, or a program that compared nothing.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

RANKS = {"mpich": [3, 2, 1], None: [4, 3, 8, 5, 2, 7, 1]}  # fewer ranks with MPICH, which polls
SHARE = {"simulated": 0.4, "team": 0.15}  # of the time
UNSTEADY = 0.4  # of the jobs under MPI: with the slow and disorderly library of tests/support/unsteady.c
SHORTEST = 2.0  # seconds of one job under MPI, its start included
PATIENCE = 100  # seconds that a job may take longer; its own watchdog ends it after a minute
LAST_LINE = re.compile(r"^(\d+) compared, (\d+) wrong$", re.MULTILINE)


def say(text):
    print(text, file=sys.stderr, flush=True)


class Job:
    """One program, with its share of the time."""

    def __init__(self, name, command, environment):
        self.name, self.command, self.environment = name, command, environment

    def run(self, seconds, seed):
        """Runs the program. Returns the numbers of compared and of wrong results."""
        command = self.command + ["--seconds", f"{seconds:.1f}", "--seed", str(seed)]
        with subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            try:
                output, _ = process.communicate(timeout=seconds + PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
                say(f"{self.name} HANGS, seed {seed}")
        found = LAST_LINE.search(output or "")
        compared, wrong = (int(found[1]), int(found[2])) if found else (0, 0)
        if process.returncode != 0 or compared == 0:
            say(f"{self.name} failed with status {process.returncode}: {' '.join(command)}")
            wrong = max(wrong, 1)
        return compared, wrong


def jobs_of(drivers, seed):
    """The jobs of one process, and the jobs under MPI. Every rank count comes once before any is repeated."""
    draws = random.Random(f"unsteady {seed}")  # independent of the random numbers for turns
    alone, launched = [], []
    for driver in drivers:
        if "library" not in driver:
            alone.append(Job(driver["name"], [driver["program"]], dict(os.environ)))
            continue
        environment = dict(os.environ)
        environment["OMPI_MCA_orte_tmpdir_base"] = str(Path(driver["program"]).parent)
        preloaded = []
        for setting in driver["environment"]:
            name, _, value = setting.partition("=")
            if name == "LD_PRELOAD":  # for the ranks, not for their launcher
                preloaded = [value]
            else:
                environment[name] = value
        for ranks in RANKS.get(driver["library"], RANKS[None]):
            for transport in ("auto", "mpi", "rma"):  # shared memory, messages, and windows
                name = f"{driver['library']} on {ranks}, transport {transport}"
                settings, loaded = [f"STEADFOLD_TRANSPORT={transport}"], preloaded
                if draws.random() < UNSTEADY and "unsteady" in driver:
                    name += ", unsteady"
                    settings.append(f"STEADFOLD_TEST_UNSTEADY={seed or 1}")  # 0 would turn it off
                    loaded = [driver["unsteady"], *preloaded]
                if loaded:
                    settings.append(f"LD_PRELOAD={':'.join(loaded)}")
                command = [driver["launcher"], "-n", str(ranks), "env", *settings, driver["program"]]
                launched.append(Job(name, command, environment))
    return alone, launched


def turns(jobs, seconds, seed):
    """The jobs that run under MPI: all of them, or, if time is short, some that the seed chooses."""
    return random.Random(seed).sample(jobs, max(1, min(len(jobs), int(seconds / SHORTEST))))


def main():
    drivers, seconds = Path(sys.argv[1]), float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    alone, launched = jobs_of(json.loads(drivers.read_text()), seed)
    say(f"seed {seed}")
    end = time.monotonic() + seconds
    chosen = turns(launched, seconds * (1 - sum(SHARE.values())), seed) if launched else []
    jobs = alone + chosen
    total = [0, 0]
    overhead = 0.0  # seconds that a start takes
    for place, job in enumerate(jobs):
        left = end - time.monotonic()
        share = seconds * SHARE[job.name] if chosen and job.name in SHARE else left / (len(jobs) - place) - overhead
        begin = time.monotonic()
        compared, wrong = job.run(max(share, 0.5), seed)
        overhead = max(time.monotonic() - begin - share, 0.0) if job in launched else 0.0
        print(f"{job.name}: {compared} compared, {wrong} wrong", flush=True)
        total[0] += compared
        total[1] += wrong
    print(f"{total[0]} compared, {total[1]} wrong")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
