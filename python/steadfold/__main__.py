"""The command ``python -m steadfold``. `info` prints the versions and libraries of this installation, as
`steadfold.show_config` does. `doctor` does the same and checks that results have the bits that every installation
gives. `vectors` checks test vectors."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import _core, _vectors, show_config
from ._config import config

_MOST_SHOWN = 20


def _together(comm: Any, work: Callable[[], Any]) -> Any:
    """Calls `work` on every rank. If a rank refuses, all ranks raise its RuntimeError: none waits for another."""
    result, refused = None, None
    try:
        result = work()
    except (RuntimeError, ValueError) as why:
        refused = str(why)
    refusals = [refused] if comm is None else comm.allgather(refused)
    for refusal in filter(None, refusals):
        raise RuntimeError(refusal)
    return result


def _of_all_ranks(comm: Any, lines: list[str]) -> list[str]:
    """Returns the lines of every rank, with the rank before each."""
    if comm is None:
        return lines
    return [f"rank {rank}: {line}" for rank, told in enumerate(comm.allgather(lines)) for line in told]


def _show(lines: list[str]) -> None:
    for line in lines[:_MOST_SHOWN]:
        print(f"  {line}")


def _examine(comm: Any) -> dict[str, Any]:
    found: dict[str, Any] = _together(comm, lambda: _core.examine(None))
    if comm is None:
        return found
    over = _together(comm, lambda: _core.examine(comm))
    digest = (found if found["wrong"] else over)["digest"]
    wrong = found["wrong"] + over["wrong"]
    every = comm.allgather((wrong, digest))
    first_wrong = next((digest for lines, digest in every if lines), every[0][1])
    return {**found, "digest": first_wrong, "wrong": _of_all_ranks(comm, wrong)}


def doctor(as_json: bool, comm: Any) -> int:
    """Checks the installation. Returns the exit status: 1 if a result has different bits."""
    found = _examine(comm)
    if comm is None or comm.rank == 0:
        _tell_examination(found, 1 if comm is None else comm.size, as_json)
    return 1 if found["wrong"] else 0


def _tell_examination(found: dict[str, Any], ranks: int, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**config(), "ranks": ranks, **found}))
        return
    show_config()
    print(f"{'checked:':<14}{found['checked']} results of {found['cases']} cases, {len(found['wrong'])} wrong")
    print(f"{'digest:':<14}{found['digest']}")
    _show(found["wrong"])


def _checked(comm: Any, path: Path, file: _core.VectorFile) -> dict[str, Any]:
    """Returns the findings of all ranks in one file."""

    def check(group: Any) -> dict[str, Any]:
        try:
            return _core.check_vectors(file, group)
        except (RuntimeError, ValueError) as why:
            raise RuntimeError(f"'{path}': {why}") from None

    found: dict[str, Any] = _together(comm, lambda: check(None))
    over = [] if comm is None else _together(comm, lambda: check(comm))["wrong"]
    return {"file": str(path), **found, "wrong": _of_all_ranks(comm, found["wrong"] + over)}


def vectors(given: argparse.Namespace, comm: Any) -> int:
    """Checks test vectors, or prints them. Returns the exit status: 1 if a result has different bits."""
    files = _together(comm, lambda: [(path, _vectors.read(path)) for path in given.files or _vectors.installed()])
    is_first = comm is None or comm.rank == 0
    if given.print:
        if is_first:
            print("".join(_core.list_vectors(file) for _, file in files), end="")
        return 0
    found = [_checked(comm, path, file) for path, file in files]
    wrong = [line for each in found for line in each["wrong"]]
    if is_first and given.json:
        print(json.dumps({"ranks": 1 if comm is None else comm.size, "files": found}))
    elif is_first:
        for each in found:
            counts = f"{each['checked']} checked, {each['not_run_here']} not run here, {len(each['wrong'])} wrong"
            print(f"{each['file']}: {counts}")
        _show(wrong)
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m steadfold", description="Reductions with the same bits every time.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="print versions, the extension, the MPI layers and the MPI library in use")
    examined = commands.add_parser("doctor", help="print the same, and check the bits of results")
    checked = commands.add_parser("vectors", help="check test vectors: inputs and the bits of their results")
    checked.add_argument("files", metavar="FILE", nargs="*", type=Path, help="default: the installed files")
    for each in (examined, checked):
        each.add_argument("--json", action="store_true", help="print one JSON object")
        each.add_argument("--mpi", action="store_true", help="also check over the ranks of mpi4py's COMM_WORLD")
    checked.add_argument("--print", action="store_true", help="print the vectors, and check nothing")
    return parser.parse_args()


def main() -> int:
    given = _arguments()
    if given.command == "info":
        show_config()
        return 0
    comm = None
    if given.mpi:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    try:
        return doctor(given.json, comm) if given.command == "doctor" else vectors(given, comm)
    except RuntimeError as why:
        if comm is None or comm.rank == 0:
            print(why, file=sys.stderr)
        return 2


if __name__ == "__main__":
    status = 1  # the status stays 1 unless everything is printed
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # the process that reads the output, such as `head`, has ended
        sys.stdout = None
    sys.exit(status)
