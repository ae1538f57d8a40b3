"""Runs commands for tests, and has the digest that the README shows."""

import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

# The digest that `steadfold doctor` prints on every machine.
DIGEST = re.search(r"^digest +([0-9A-F]{16})$", (Path(__file__).resolve().parents[2] / "README.md").read_text(), re.MULTILINE)[1]


def run(*words, **more):
    """The finished command; `more` is for subprocess.run."""
    return subprocess.run([str(word) for word in words], **{"capture_output": True, "text": True, "timeout": 600, **more})


def output(*words, **more):
    """The output of the command. Raises AssertionError if it fails."""
    done = run(*words, **more)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def waits_for_signals(process):
    """Whether a signal now ends the command in an orderly way: it blocks SIGINT, and has a thread that handles it."""
    found = re.search(r"SigBlk:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())
    return int(found[1], 16) >> (signal.SIGINT - 1) & 1 == 1


def extended(**settings):
    """The environment with these settings added, for the argument `env` of subprocess functions."""
    return {**os.environ, **settings}
