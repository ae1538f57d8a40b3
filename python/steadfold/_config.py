"""The versions and libraries of this installation."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

from . import _core, _mpi
from ._numbers import List


def config() -> dict[str, Any]:
    """Returns the information that `show_config` prints, as a dictionary."""
    return {
        "version": _core.version(),
        "extension": str(Path(_core.__file__ or "")),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "mpi layers": sorted(_mpi.layers()),
        "mpi library": _mpi.bound() or None,
        "methods": _core.names(List.METHODS),
        "schedules": _core.names(List.SCHEDULES),
    }


def show_config() -> None:
    """Prints the version, the extension, the MPI layers and the MPI library in use."""
    for name, value in config().items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else value
        if isinstance(value, dict):
            text = f"{value['library']} ({value['file']}), by the layer {value['layer']}"
        print(f"{name + ':':<14}{'none' if text in (None, '') else text}", file=sys.stdout)
