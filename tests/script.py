"""Runs a script of unittest cases: script.py FILE. If the file's name has STEADFOLD_TEST_CASES in it, or that is not set,
all of them, else those whose names have it."""

import os
import runpy
import signal
import sys
from pathlib import Path

# What a shell starts behind a & ignores two of these signals, below nohup the third: tests send them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
script = Path(sys.argv[1]).resolve()
word = os.environ.get("STEADFOLD_TEST_CASES", "").lower()
sys.argv = [str(script)]
if word not in script.stem.lower():
    sys.argv += ["-k", "*" + "".join(f"[{letter}{letter.upper()}]" for letter in word) + "*"]
sys.path.insert(0, str(script.parent))
runpy.run_path(str(script), run_name="__main__")
