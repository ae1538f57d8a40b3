"""Binds the package to the MPI library that mpi4py has loaded. The package has one MPI layer for each library that was
found when it was built; a layer has no MPI library of its own, so a process never has two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import _core

_FAMILIES = {"Open MPI": "openmpi", "MPICH": "mpich", "Intel(R) MPI": "mpich", "MVAPICH": "mpich"}
_bound: dict[str, str] = {}


def layers() -> dict[str, Path]:
    """The MPI layers of this package: their files by name."""
    here = Path(__file__).parent
    files = sorted(here.glob("_*.so"))
    return {file.name.split(".")[0][1:]: file for file in files if not file.name.startswith("_core")}


def bound() -> dict[str, str]:
    """What the package is bound to: "layer", "library" (its version) and "file". Empty before the first communicator."""
    return dict(_bound)


def bind(comm: Any) -> None:
    """Loads the layer for the MPI library of this communicator of mpi4py."""
    if not hasattr(comm, "py2f"):
        raise TypeError(f"comm is a communicator of mpi4py, a member of a steadfold.Team, or None, not {comm!r}")
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
