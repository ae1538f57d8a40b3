"""The tables of lab/studies.md that no machine changes are what the studies make today."""

import os
import subprocess
import sys
import unittest
from pathlib import Path


class Figures(unittest.TestCase):
    def test_tables_that_no_machine_changes(self):
        script = Path(__file__).resolve().parents[1] / "study_figures.py"
        examples = Path(os.environ["STEADFOLD_BIN"]).parent
        done = subprocess.run([sys.executable, "-B", script, "check"], stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "STEADFOLD_EXAMPLES": str(examples)})  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
