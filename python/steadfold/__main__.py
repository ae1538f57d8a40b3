"""`python -m steadfold info`: what this installation is made of, as `steadfold.show_config` prints it."""

from __future__ import annotations

import argparse

from . import show_config


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m steadfold", description="Reductions with the same bits every time.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="tell versions, the extension, the MPI layers and the MPI library in use")
    parser.parse_args()
    show_config()


if __name__ == "__main__":
    main()
