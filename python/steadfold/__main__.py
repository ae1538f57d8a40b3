"""The command ``python -m steadfold``. `info` prints the versions and libraries of this installation, as
`steadfold.show_config` does. `doctor` does the same and checks that results have the bits that every installation
gives."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from . import _core, show_config
from ._config import config

_MOST_SHOWN = 20


def doctor(as_json: bool, over_mpi: bool) -> int:
    """Checks the installation. Returns the exit status: 1 if a result has different bits, 2 if no result can be
    computed."""
    comm = None
    if over_mpi:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    try:
        found = _core.examine(None)
        refused = None
    except RuntimeError as why:
        refused = str(why)
    refusals = [refused] if comm is None else comm.allgather(refused)  # sent before any rank waits for another rank
    try:
        for refusal in filter(None, refusals):
            raise RuntimeError(refusal)
        alone, over = found["wrong"], None if comm is None else _core.examine(comm)
    except RuntimeError as why:
        if comm is None or comm.rank == 0:
            print(why, file=sys.stderr)
        return 2
    wrong = alone + (over["wrong"] if over else [])
    if over and not alone:
        found["digest"] = over["digest"]
    every = [(wrong, found["digest"])] if comm is None else comm.allgather((wrong, found["digest"]))
    found["wrong"] = [line if comm is None else f"rank {rank}: {line}" for rank, (lines, _) in enumerate(every) for line in lines]
    found["digest"] = next((digest for lines, digest in every if lines), every[0][1])
    if comm is None or comm.rank == 0:
        _tell(found, 1 if comm is None else comm.size, as_json)
    return 1 if found["wrong"] else 0


def _tell(found: dict[str, Any], ranks: int, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**config(), "ranks": ranks, **found}))
        return
    show_config()
    print(f"{'checked:':<14}{found['checked']} results of {found['cases']} cases, {len(found['wrong'])} wrong")
    print(f"{'digest:':<14}{found['digest']}")
    for line in found["wrong"][:_MOST_SHOWN]:
        print(f"  {line}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m steadfold", description="Reductions with the same bits every time.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="print versions, the extension, the MPI layers and the MPI library in use")
    examined = commands.add_parser("doctor", help="print the same, and check the bits of results")
    examined.add_argument("--json", action="store_true", help="print one JSON object")
    examined.add_argument("--mpi", action="store_true", help="also check over the ranks of mpi4py's COMM_WORLD")
    given = parser.parse_args()
    if given.command == "doctor":
        return doctor(given.json, given.mpi)
    show_config()
    return 0


if __name__ == "__main__":
    status = 1  # the status stays 1 unless everything is printed
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # the process that reads the output, such as `head`, has ended
        sys.stdout = None
    sys.exit(status)
