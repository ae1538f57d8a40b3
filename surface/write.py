"""Writes the files and parts of files that are generated from the tables here; with --check, names those that are not current."""

import sys

sys.dont_write_bytecode = True

import c
import cxx
import fortran
import options
import pages
import python
from tables import ROOT

MADE = "Made by ./dev surface from the tables in surface/: edit the tables."


def contents():
    """Every file that is generated, whole or in part, with its current text."""
    files = {path: make(MADE) for language in (c, cxx, fortran, options, python) for path, make in language.FILES.items()}
    return files | pages.pages()


def main():
    files = contents()
    stale = [path for path, text in files.items() if not (ROOT / path).exists() or (ROOT / path).read_text() != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path} is not what surface/ says (it was edited, or the tables were), run ./dev surface")
        return 1 if stale else 0
    for path in stale:
        (ROOT / path).write_text(files[path])
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
