"""The `steadfold` command of the Python package. There is one module for each MPI library; no module is linked to its
MPI library. That library is loaded first: the launcher's library if this process is a rank, otherwise the first that is
found. If no MPI library is found, the command runs as one process. Nothing here imports NumPy, so that many ranks start
quickly."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Iterable

_HERE = Path(__file__).parent
# The file names of MPI libraries with the same binary interface, by the names of our modules for them.
_FILES = {"openmpi": ("libmpi.so.40",), "mpich": ("libmpi.so.12", "libmpich.so.12"), "mpi_abi": ("libmpi_abi.so.1", "libmpi_abi.so.0")}
# The variables in which launchers give a process its rank and the number of ranks (also in program/launcher.cpp), and
# the MPI libraries of these launchers, the most likely first.
_LAUNCHED = {
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"): ("openmpi", "mpi_abi"),
    ("PMI_RANK", "PMI_SIZE"): ("mpich", "mpi_abi", "openmpi"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"): ("openmpi", "mpich", "mpi_abi"),
}
# Modules in which MPI handles are numbers. These modules can be loaded without an MPI library.
_ALONE = ("mpi_abi", "mpich")


def _load_mpi(names: Iterable[str], reasons: list[str]) -> str | None:
    """Loads the first of these MPI libraries that is found, and returns its name. Searches this environment (PyPI has
    MPI libraries), then LD_LIBRARY_PATH, then the system's folders. `reasons` receives the reasons why others could not
    be loaded."""
    own = Path(sys.prefix)
    said = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    for folder in (f"{own}/lib/", *(f"{folder}/" for folder in said if folder), ""):
        for name, file in ((name, file) for name in names for file in _FILES[name]):
            try:
                ctypes.CDLL(folder + file, mode=ctypes.RTLD_GLOBAL)
            except OSError as why:
                if not str(why).startswith(f"{folder}{file}: cannot open shared object file"):
                    reasons.append(str(why))
                continue
            launcher = own / "bin" / "mpiexec"
            if folder == f"{own}/lib/" and launcher.exists():
                os.environ.setdefault("STEADFOLD_MPIRUN", str(launcher))
            return name
    return None


def _need_mpi(names: Iterable[str], modules: list[str]) -> str:
    """Loads the first of the MPI libraries that is found and returns the module for it."""
    built = [name for name in names if name in modules]
    if not built:
        raise OSError(f"no command for this MPI library (this package was built for {' and '.join(modules)}), build it for that library, too")
    reasons: list[str] = []
    found = _load_mpi(built, reasons)
    if found is None:
        files = " or ".join(file for name in built for file in _FILES[name])
        why = "; ".join(reasons) or f"{files} is neither in {sys.prefix}/lib nor where the system looks"
        raise OSError(f"no MPI library ({why}), add its folder to LD_LIBRARY_PATH")
    return found


def _chosen(library: str | None) -> tuple[str, bool]:
    """Chooses the module: for the given MPI library, else for the launcher's, else for any that is found, else for
    none. Also returns whether there is an MPI library."""
    modules = [name for name in _FILES if (_HERE / f"{name}.so").exists()]
    if library is not None:
        return _need_mpi([library], modules), True
    for (rank, size), names in _LAUNCHED.items():
        ranks = os.environ.get(size, "")
        if rank in os.environ and ranks.isdigit() and int(ranks) > 1:
            return _need_mpi(names, modules), True
    try:
        return _need_mpi(modules, modules), True
    except OSError:
        for name in _ALONE:
            if name in modules:
                return name, False
        raise


def _loaded(name: str) -> ctypes.CDLL:
    path = os.fsencode(_HERE / f"{name}.so")
    # ctypes resolves all functions at once, also functions of an absent MPI library.
    system = ctypes.CDLL(None)
    system.dlopen.restype = ctypes.c_void_p
    system.dlerror.restype = ctypes.c_char_p
    handle = system.dlopen(path, os.RTLD_LAZY | os.RTLD_LOCAL)
    if not handle:
        what_to_do = "unset LD_BIND_NOW" if os.environ.get("LD_BIND_NOW") else "install the package again"
        raise OSError(f"the command cannot be loaded ({os.fsdecode(system.dlerror())}), {what_to_do}")
    return ctypes.CDLL(os.fsdecode(path), handle=handle)


def _behave_as_a_program() -> None:
    """Undoes changes that Python makes to signal handling."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def main(library: str | None = None) -> int:
    """Runs the command with this process's arguments and returns its exit status. `library` names the MPI library to use,
    `openmpi`, `mpich` or `mpi_abi`."""
    try:
        name, with_mpi = _chosen(library)
        module = _loaded(name)
    except OSError as why:
        print(why, file=sys.stderr)
        return 2
    _behave_as_a_program()
    program, libraries = os.path.abspath(sys.argv[0]), _HERE.parent / "steadfold"
    module.steadfold_set_installation(os.fsencode(program), os.fsencode(libraries), int(with_mpi))
    words = [os.fsencode(word) for word in ("steadfold", *sys.argv[1:])]
    return int(module.main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words)))
