"""Runs a script of unittest cases: script.py FILE. If the file's name has STEADFOLD_TEST_CASES in it, or that is not set,
all of them, else those whose names have it."""

import os
import runpy
import sys
from pathlib import Path

script = Path(sys.argv[1]).resolve()
word = os.environ.get("STEADFOLD_TEST_CASES", "").lower()
sys.argv = [str(script)]
if word not in script.stem.lower():
    sys.argv += ["-k", "*" + "".join(f"[{letter}{letter.upper()}]" for letter in word) + "*"]
sys.path.insert(0, str(script.parent))
runpy.run_path(str(script), run_name="__main__")
