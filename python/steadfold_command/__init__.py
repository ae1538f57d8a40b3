"""The `steadfold` command, as the Python package has it: a module for each MPI library, linked to none. That library is loaded
first: as a rank the launcher's, otherwise the first that is found. Where there is none, the command is one process. Nothing
here imports NumPy, so that many ranks start quickly."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Iterable

_HERE = Path(__file__).parent
# What MPI libraries with the same binary interface call their files, by the names of our modules for them.
_FILES = {"openmpi": ("libmpi.so.40",), "mpich": ("libmpi.so.12", "libmpich.so.12"), "mpi_abi": ("libmpi_abi.so.1", "libmpi_abi.so.0")}
# In which variables launchers tell a process its rank and how many there are (program/launcher.cpp knows the same), and whose
# launchers those are, the likely ones first.
_LAUNCHED = {
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"): ("openmpi", "mpi_abi"),
    ("PMI_RANK", "PMI_SIZE"): ("mpich", "mpi_abi", "openmpi"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"): ("openmpi", "mpich", "mpi_abi"),
}
# Modules in which MPI's handles are numbers: they can be loaded where no MPI library is.
_ALONE = ("mpi_abi", "mpich")


def _load_mpi(names: Iterable[str], reasons: list[str]) -> str | None:
    """Loads the first of these MPI libraries that is found and says which: in this environment (PyPI has some), where the user
    says, where the system looks. `reasons` gets why others could not be loaded."""
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
    """The module, of these, for the first of the MPI libraries that is found."""
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
    """The module for that MPI library, else for the launcher's, else for any that is found, or for none, which it says."""
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
    # ctypes asks for all functions at once, also for those of an MPI library that is not there.
    system = ctypes.CDLL(None)
    system.dlopen.restype = ctypes.c_void_p
    system.dlerror.restype = ctypes.c_char_p
    handle = system.dlopen(path, os.RTLD_LAZY | os.RTLD_LOCAL)
    if not handle:
        what_to_do = "unset LD_BIND_NOW" if os.environ.get("LD_BIND_NOW") else "install the package again"
        raise OSError(f"the command cannot be loaded ({os.fsdecode(system.dlerror())}), {what_to_do}")
    return ctypes.CDLL(os.fsdecode(path), handle=handle)


def _behave_as_a_program() -> None:
    """Takes back what Python changes of a process."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def main(library: str | None = None) -> int:
    """Runs the command on this process's arguments and gives its exit status. `library`: the MPI library that it is to take,
    one of `openmpi`, `mpich` and `mpi_abi`."""
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
