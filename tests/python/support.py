"""What tests of the Python package share: the bits of C++, hostile values, and ranks."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import steadfold as sf

METHODS = {"tree": 1, "exact": 2, "binned": 4}
OPERATIONS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "dot": 5, "norm": 6, "mean": 7}

_reference = ctypes.CDLL(os.environ["STEADFOLD_PYTHON_REFERENCE"])
_functions = {np.dtype(np.float64): (_reference.reference_f64, ctypes.c_double), np.dtype(np.float32): (_reference.reference_f32, ctypes.c_float)}
for _function, _type in _functions.values():
    _function.restype = _type
    _function.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


def in_cxx(operation, x, y=None, method="exact"):
    """What the C++ interface gives for the elements of x, in C order, as contiguous rows."""
    x = np.array(x, order="C", copy=True).reshape(-1)
    y = None if y is None else np.array(y, order="C", copy=True).reshape(-1)
    function, _ = _functions[x.dtype]
    return x.dtype.type(function(OPERATIONS[operation], METHODS.get(method, 0), x.ctypes.data, None if y is None else y.ctypes.data, x.size))


def bits(value):
    """The bits of a number or an array, NaNs included."""
    array = np.asarray(value)
    return array.dtype.str, array.shape, array.tobytes()


def hostile(rng, size, dtype=np.float64):
    """Values that cancel, of all exponents, with subnormals and zeros of both signs."""
    info = np.finfo(dtype)
    exponents = rng.integers(info.minexp - info.nmant, info.maxexp - 20, size)
    values = np.ldexp(rng.uniform(1, 2, size), exponents).astype(dtype) * rng.choice([-1, 1], size).astype(dtype)
    half = size // 2
    values[:half] = -values[size - half :][::-1] * dtype(1 + info.eps)
    values[rng.random(size) < 0.05] = dtype(-0.0)
    values[rng.random(size) < 0.05] = info.smallest_subnormal
    return rng.permutation(values)


def link_for_mpich(folder):
    """mpi4py's wheels look for MPICH as libmpi.so.12, which Debian has under another name."""
    found = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    for line in found.splitlines():
        if "libmpich.so.12 " in line:
            os.symlink(line.split("=> ")[1].strip(), Path(folder) / "libmpi.so.12")
            return


def expect_words_of_python(text):
    """No name of the C interface, and no number that was made of -1."""
    assert not re.search(r"\b(sf|SF)_|1844674407370955161[45]", text), text


def expect_refused(text, *calls):
    """Every call raises InvalidArgumentError, whose text has this one."""
    for call in calls:
        try:
            call()
        except sf.InvalidArgumentError as error:
            assert text in str(error), error
            expect_words_of_python(str(error))
            continue
        raise AssertionError(f"a call that should be refused: {text}")


def on_ranks(library, ranks, script, *arguments, timeout=120):
    """Runs a Python program on so many ranks of an MPI library, "openmpi" or "mpich": what it printed. An exception that
    nobody catches ends all ranks (-m mpi4py)."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, MPI4PY_MPIABI=library, OMPI_MCA_orte_tmpdir_base=folder, PYTHONUNBUFFERED="1")
        command = [os.environ.get(f"STEADFOLD_MPIRUN_{library.upper()}", f"mpirun.{library}"), "-n", str(ranks)]
        if library == "mpich":
            link_for_mpich(folder)
            environment["LD_LIBRARY_PATH"] = folder + ":" + environment.get("LD_LIBRARY_PATH", "")
        else:
            command.insert(1, "--oversubscribe")
        done = subprocess.run([*command, sys.executable, "-B", "-m", "mpi4py", str(script), *arguments], env=environment, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{library} on {ranks} ranks ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def libraries():
    """The MPI libraries that the package has layers for, and whose launchers are here."""
    from steadfold import _mpi

    return [name for name in ("openmpi", "mpich") if name in _mpi.layers() and shutil.which(os.environ.get(f"STEADFOLD_MPIRUN_{name.upper()}", f"mpirun.{name}"))]
