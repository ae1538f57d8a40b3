"""Commands that tests start, and what the README says of one."""

import os
import re
import shlex
import subprocess
from pathlib import Path

# Of `steadfold doctor`, on every machine.
DIGEST = re.search(r"^digest +([0-9A-F]{16})$", (Path(__file__).resolve().parents[2] / "README.md").read_text(), re.MULTILINE)[1]


def run(*words, **more):
    """The finished command; `more` is for subprocess.run."""
    return subprocess.run([str(word) for word in words], **{"capture_output": True, "text": True, "timeout": 600, **more})


def output(*words, **more):
    """What the command prints, which must succeed."""
    done = run(*words, **more)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def extended(**settings):
    """The environment with these settings as well, for `env`."""
    return {**os.environ, **settings}
