"""The `steadfold` command, as the Python package has it: a module for each MPI library, linked to none. That library is loaded
first: as a rank the launcher's, otherwise the first that is found. Where there is none, the command is one process. Nothing
here imports NumPy, so that many ranks start quickly."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Callable, Iterable

_HERE = Path(__file__).parent
# What MPI libraries with the same binary interface call their files, by the names of our modules for them.
_FILES = {"openmpi": ("libmpi.so.40",), "mpich": ("libmpi.so.12", "libmpich.so.12"), "mpi_abi": ("libmpi_abi.so.1", "libmpi_abi.so.0")}
# By what a launcher tells its ranks (program/launcher.cpp knows the same variables).
_LAUNCHED = {"OMPI_COMM_WORLD_RANK": ("openmpi",), "PMI_RANK": ("mpich", "mpi_abi"), "PMIX_RANK": tuple(_FILES)}
# Modules in which MPI's handles are numbers: they can be loaded where no MPI library is.
_ALONE = ("mpi_abi", "mpich")


def _modules() -> list[str]:
    return [name for name in _FILES if (_HERE / f"{name}.so").exists()]


def _load_mpi(names: Iterable[str]) -> str | None:
    """Loads one of these MPI libraries and says which; this environment's (PyPI has some) come before the system's."""
    own = Path(sys.prefix)
    for folder in (str(own / "lib") + "/", ""):
        for name in names:
            for file in _FILES[name]:
                try:
                    ctypes.CDLL(folder + file, mode=ctypes.RTLD_GLOBAL)
                except OSError:
                    continue
                if folder and (own / "bin" / "mpiexec").exists():
                    os.environ.setdefault("STEADFOLD_MPIRUN", str(own / "bin" / "mpiexec"))
                return name
    return None


def _need_mpi(names: Iterable[str]) -> str:
    names = [name for name in names if name in _modules()]
    found = _load_mpi(names)
    if found is None:
        files = " or ".join(file for name in names for file in _FILES[name])
        raise OSError(f"no MPI library ({files} is neither in {sys.prefix}/lib nor where the system looks), add its folder to LD_LIBRARY_PATH")
    return found


def _suitable() -> str:
    """The module for the launcher's MPI library, or for any that is found, or for none."""
    for variable, names in _LAUNCHED.items():
        if variable in os.environ:
            return _need_mpi(names)
    return _load_mpi(_modules()) or next(name for name in _ALONE if name in _modules())


def _loaded(name: str) -> ctypes.CDLL:
    path = os.fsencode(_HERE / f"{name}.so")
    # ctypes asks for all functions at once, also for those of an MPI library that is not there.
    system = ctypes.CDLL(None)
    system.dlopen.restype = ctypes.c_void_p
    system.dlerror.restype = ctypes.c_char_p
    handle = system.dlopen(path, os.RTLD_LAZY | os.RTLD_LOCAL)
    if not handle:
        raise OSError(f"the command cannot be loaded ({os.fsdecode(system.dlerror())}), install the package again")
    return ctypes.CDLL(os.fsdecode(path), handle=handle)


def _behave_as_a_program() -> None:
    """Takes back what Python changes of a process."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _run(choose: Callable[[], str]) -> int:
    if not _modules():
        print("no command (this package was built without it), install a wheel, or build the project by CMake", file=sys.stderr)
        return 2
    try:
        module = _loaded(choose())
    except OSError as why:
        print(why, file=sys.stderr)
        return 2
    _behave_as_a_program()
    module.steadfold_is_installed(os.fsencode(os.path.abspath(sys.argv[0])), os.fsencode(_HERE.parent / "steadfold"))
    words = [os.fsencode(word) for word in ("steadfold", *sys.argv[1:])]
    return int(module.main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words)))


# What the scripts of the package are; the last three insist on an MPI library.


def main() -> int:
    return _run(_suitable)


def openmpi() -> int:
    return _run(lambda: _need_mpi(["openmpi"]))


def mpich() -> int:
    return _run(lambda: _need_mpi(["mpich"]))


def mpi_abi() -> int:
    return _run(lambda: _need_mpi(["mpi_abi"]))
