"""Runs a script of unittest cases: script.py FILE [CASE...], all of them or the cases named. If STEADFOLD_TEST_CASES is set
and not part of the file's name: the cases whose names have it, and no others."""

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
for case in sys.argv[2:]:
    if f"def {case}(" not in script.read_text():
        sys.exit(f"{script} has no case {case}")
word = os.environ.get("STEADFOLD_TEST_CASES", "").lower()
sys.argv = [str(script), *(word for case in sys.argv[2:] for word in ("-k", case))]
if word not in script.stem.lower():
    sys.argv[1:] = ["-k", "*" + "".join(f"[{letter}{letter.upper()}]" for letter in word) + "*"]
sys.path.insert(0, str(script.parent))
runpy.run_path(str(script), run_name="__main__")
