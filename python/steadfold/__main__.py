"""`python -m steadfold info`: what this installation is made of, as `steadfold.show_config` prints it. `python -m steadfold
doctor`: that, and whether its results have the bits that every installation gives."""

from __future__ import annotations

import argparse
import json
import sys

from . import _core, show_config
from ._config import config

_MOST_SHOWN = 20


def doctor(as_json: bool, over_mpi: bool) -> int:
    """The exit status: 1 where a result of this rank has other bits."""
    comm = None
    if over_mpi:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    found = _core.examine(comm)
    wrong = found["wrong"]
    if comm is None or comm.rank == 0:
        if as_json:
            print(json.dumps({**config(), "ranks": 1 if comm is None else comm.size, **found}))
        else:
            show_config()
            print(f"{'checked:':<14}{found['checked']} results of {found['cases']} cases, {len(wrong)} wrong")
            print(f"{'digest:':<14}{found['digest']}")
    for line in wrong[:_MOST_SHOWN]:
        print(f"wrong bits: {line}", file=sys.stderr)
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m steadfold", description="Reductions with the same bits every time.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="tell versions, the extension, the MPI layers and the MPI library in use")
    examined = commands.add_parser("doctor", help="tell that, and whether results have the right bits")
    examined.add_argument("--json", action="store_true", help="print one JSON object")
    examined.add_argument("--mpi", action="store_true", help="over the ranks of mpi4py's COMM_WORLD, too")
    given = parser.parse_args()
    if given.command == "doctor":
        return doctor(given.json, given.mpi)
    show_config()
    return 0


if __name__ == "__main__":
    sys.exit(main())
