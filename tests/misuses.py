"""Whether misuses.toml has a cell for every language, and the build every case that it names. Usage: misuses.py BUILD"""

import sys
import tomllib
from pathlib import Path

from cases import Cases

LANGUAGES = ("c", "cxx", "fortran", "python")


def fault(cell, cases):
    kind, _, rest = cell.partition(": ")
    if kind == "cannot":
        return None if rest else "no reason"
    return cases.fault(rest if kind == "compile" else cell)


def main():
    cases = Cases(Path(sys.argv[1]))
    rows = tomllib.loads(Path(__file__).with_name("misuses.toml").read_text())["misuse"]
    faults = []
    for row in rows:
        cells = {key: cell for key, cell in row.items() if key != "what"}
        faults += [f"{row['what']}: no cell for {language}" for language in LANGUAGES if language not in cells]
        faults += [f"{row['what']}, {key}: {wrong}" for key, cell in cells.items() if (wrong := fault(cell, cases))]
    print(*faults, sep="\n")
    print(f"{len(rows)} misuses, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
