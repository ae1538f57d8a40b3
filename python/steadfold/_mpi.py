"""Binds the package to the MPI library that mpi4py has loaded. The package has one MPI layer for each MPI library that
was found when the package was built. A layer contains no MPI library, so a process never has two."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from . import _core
from ._told import refuse

_FAMILIES = {"Open MPI": "openmpi", "MPICH": "mpich", "Intel(R) MPI": "mpich", "MVAPICH": "mpich"}
_bound: dict[str, str] = {}

_OPERATIONS = {"SUM": "sum", "PROD": "prod", "MIN": "min", "MAX": "max"}
_INSTEAD = {
    "MINLOC": "use steadfold.argmin", "MAXLOC": "use steadfold.argmax",
    "LAND": "give numpy.logical_and", "LOR": "give numpy.logical_or", "LXOR": "give numpy.logical_xor",
    "BAND": "give numpy.bitwise_and", "BOR": "give numpy.bitwise_or", "BXOR": "give numpy.bitwise_xor",
    "REPLACE": "use one of these", "NO_OP": "use one of these", "OP_NULL": "use one of these",
}  # fmt: skip


def operator_of(op: Any, comm: Any) -> Any:
    """Returns the name of an operation of mpi4py, such as "sum" for MPI.SUM; returns any other object unchanged. If an
    operation of mpi4py has no name in the library, raises TypeError and tells the other ranks of `comm`. Does not
    import mpi4py."""
    mpi = sys.modules.get("mpi4py.MPI")
    if not isinstance(op, getattr(mpi, "Op", ())):
        return op
    for name, own in _OPERATIONS.items():
        if op == getattr(mpi, name):
            return own
    known = next((name for name in _INSTEAD if op == getattr(mpi, name)), None)
    shown, instead = (repr(op), "give the function of which the operation was made") if known is None else (f"MPI.{known}", _INSTEAD[known])
    refuse(comm, TypeError(f"the operation {shown} (of mpi4py's operations, only MPI.SUM, PROD, MIN and MAX are supported), {instead}"))


def layers() -> dict[str, Path]:
    """Returns the files of the MPI layers of this package, by name."""
    here = Path(__file__).parent
    files = sorted(here.glob("_*.so"))
    return {file.name.split(".")[0][1:]: file for file in files if not file.name.startswith("_core")}


def bound() -> dict[str, str]:
    """Returns the MPI library in use as "layer", "library" (its version) and "file". Empty before the first communicator.
    """
    return dict(_bound)


def bind() -> None:
    """Loads the layer for mpi4py's MPI library. The caller has a communicator, so mpi4py has been imported."""
    import mpi4py.MPI as MPI

    version, file, is_abi = _core.mpi_library_of(MPI.__file__)
    version = version.strip("\0 \n").splitlines()[0]
    name = "mpi_abi" if is_abi else next((name for text, name in _FAMILIES.items() if text in version), None)
    if is_abi:
        version += " by the standard's binary interface"
    found = layers()
    if name is None or name not in found:
        raise ImportError(
            f"mpi4py has loaded {version} ({file}), for which this build of steadfold has no MPI layer "
            f"(it has {', '.join(found) or 'none'}), install steadfold where that library's mpicc is found, "
            f"or mpi4py for another library"
        )
    _core.load_layer(str(found[name]))
    _bound.update(layer=name, library=version, file=file)
