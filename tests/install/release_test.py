"""What packaging/release.py makes. With STEADFOLD_FULL=1 it makes all of it, downloading what it needs, and each wheel is
installed where no compiler is to be found, tried, and removed again; the first equal bits by the commands of
docs/python.md must come within a minute. Those for AArch64 are unpacked and run by qemu, under
the Python of Debian for that processor."""

import hashlib
import os
import shutil
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
DIST = SOURCE / "build" / "dist"
SCRIPT = SOURCE / "packaging" / "release.py"
sys.path += [str(SCRIPT.parent), str(SOURCE / "tests" / "support"), str(SOURCE / "tests" / "examples")]
import release  # noqa: E402
from commands import DIGEST, extended, output, run  # noqa: E402
from support.pages import blocks, fits, script  # noqa: E402

os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")

# What it takes to run Python for AArch64, of Debian; versions are those of this machine's distribution.
PACKAGES = ("python3.11", "libpython3.11-stdlib", "libstdc++6")


class Release(unittest.TestCase):
    def room(self):
        place = Path(tempfile.mkdtemp(prefix="steadfold-"))
        self.addCleanup(shutil.rmtree, place)
        return place

    def test_an_unknown_part_is_refused(self):
        done = run(sys.executable, "-B", SCRIPT, "wheel")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("unknown part wheel (a release has source, sdist, wheels, debian)", done.stderr)

    def expect_right(self, *doctor, **settings):
        """`doctor`: the command that runs the package's doctor, or the command's own."""
        self.assertRegex(output(*doctor, env=extended(**settings)), rf"\b(0 wrong|wrong +0)\ndigest:? +{DIGEST}\n")

    def try_in_a_minute(self, file, base):
        """From an empty environment to equal bits, as docs/python.md says, where no program is but Python and `tail`."""
        room = self.room()
        (room / "build" / "dist").mkdir(parents=True)
        (room / "tools").mkdir()
        shutil.copy(file, room / "build" / "dist")
        python = output(base, "-c", "import sys; print(sys.executable)").strip()  # what pyenv's script of that name starts
        script(room / "tools" / "python3", f'exec {python} "$@"')
        (room / "tools" / "tail").symlink_to(shutil.which("tail"))
        [commands] = [commands for reason, commands in blocks((SOURCE / "docs" / "python.md").read_text()) if reason and "wheel" in reason]
        settings = extended(PATH=str(room / "tools"), HOME=str(room), PYTHONPATH="")
        self.assertNotEqual(run(shutil.which("bash"), "-c", "cc --version", env=settings).returncode, 0)
        before, seconds = time.monotonic(), None
        for command, shown in commands:
            done = run(shutil.which("bash"), "-c", command, env=settings, cwd=room)
            self.assertTrue(fits(done.stdout.splitlines(), shown), f"$ {command}\n{done.stdout}{done.stderr}")
            self.assertEqual(done.returncode, 0, f"$ {command}\n{done.stderr}")
            if shown and seconds is None:
                seconds = time.monotonic() - before
        print(f"{file.name}: the first equal bits after {seconds:.0f} s")
        self.assertLess(seconds, 60)

    def try_wheel(self, file, base):
        room = self.room()
        output(base, "-m", "venv", room)
        python = room / "bin" / "python"
        output(python, "-m", "pip", "install", "-q", "numpy", "mpi4py")
        before = sorted(room.rglob("*"))
        doctor = (python, "-m", "steadfold", "doctor")
        own = {"PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
        alone = {"PATH": str(python.parent), **own}
        output(python, "-m", "pip", "install", "-q", "--no-compile", "--no-deps", "--no-index", file, env=extended(**alone))
        self.expect_right(*doctor, **alone)
        flags = Path("/proc/cpuinfo").read_text().split()
        for target in ("scalar", *(["avx2"] if "avx2" in flags else []), *(["avx512"] if "avx512vl" in flags else [])):
            self.expect_right(*doctor, STEADFOLD_TARGET=target, **alone)  # an error where it is not there
        self.expect_right(room / "bin" / "steadfold", "doctor", **alone)
        if shutil.which("mpirun.openmpi"):
            self.try_ranks(room / "bin", doctor, own)
        output(python, "-m", "pip", "uninstall", "-q", "-y", "steadfold")
        self.assertEqual(sorted(room.rglob("*")), before, "traces are left")

    def try_ranks(self, programs, doctor, own):
        for ranks in (2, 3):
            self.expect_right("mpirun.openmpi", "-n", ranks, *doctor, "--mpi", **own)
            self.expect_right("mpirun.openmpi", "-n", ranks, programs / "steadfold", "doctor", **own)
        numbers = programs / "numbers.csv"
        numbers.write_text("".join(f"{(-1) ** i * 1.1**i}\n" for i in range(1000)))
        told = output(programs / "steadfold.openmpi", "verify", numbers, "--ranks", "1,2,3", "--schedules", "auto", env=extended(**own))
        self.assertEqual(told.splitlines()[-1], "Every method that promises the same bits gave the same bits: binned, exact, tree.")
        numbers.unlink()
        unchanged = "import numpy; from mpi4py import MPI; MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, numpy.ones(1))"
        done = run(programs / "steadfold", "run", "--", "mpirun.openmpi", "-n", 3, programs / "python", "-c", unchanged, env=extended(**own))
        self.assertIn("rank order, method tree", done.stderr)

    def emulated_python(self, room):
        """Debian's Python for AArch64 and its libraries, below room/root."""
        for folder in ("lists/partial", "archives/partial"):
            (room / "apt" / folder).mkdir(parents=True)
        (room / "apt" / "status").touch()
        apt = ["apt-get", "-qq", "-o", "APT::Architecture=arm64", "-o", "APT::Architectures::=arm64", "-o", "Debug::NoLocking=1",
               "-o", "APT::Sandbox::User=", "-o", f"Dir::State={room}/apt", "-o", f"Dir::Cache={room}/apt",
               "-o", f"Dir::State::status={room}/apt/status"]  # fmt: skip
        output(*apt, "update")
        output(*apt, "install", "--yes", "--no-install-recommends", "--download-only", *PACKAGES)
        for package in (room / "apt" / "archives").glob("*.deb"):
            output("dpkg-deb", "-x", package, room / "root")
        return ["qemu-aarch64", "-L", room / "root", room / "root/usr/bin/python3.11"]

    def try_emulated(self, file):
        room = self.room()
        python = self.emulated_python(room)
        output(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--python-version", "3.11",
                    "--platform", "manylinux_2_28_aarch64", "--platform", "manylinux_2_27_aarch64", "-d", room, "numpy")  # fmt: skip
        for wheel in (file, *room.glob("numpy*.whl")):
            zipfile.ZipFile(wheel).extractall(room / "packages")
        self.expect_right(*python, "-m", "steadfold", "doctor", PYTHONPATH=str(room / "packages"))
        command = "import sys, steadfold_command as command; sys.exit(command.main())"  # there is no MPI library
        self.expect_right(*python, "-c", command, "doctor", PYTHONPATH=str(room / "packages"))

    if "STEADFOLD_FULL" in os.environ:

        def test_release(self):
            output(sys.executable, "-B", SCRIPT, timeout=6000)
            listed = dict(reversed(line.split()) for line in (DIST / "SHA256SUMS").read_text().splitlines())
            self.assertEqual(listed.keys(), {str(path.relative_to(DIST)) for path in DIST.rglob("*") if path.is_file()} - {"SHA256SUMS"})
            for name, digest in listed.items():
                self.assertEqual(hashlib.sha256((DIST / name).read_bytes()).hexdigest(), digest, name)
            pythons = release.pythons()
            self.assertEqual(len([name for name in listed if name.endswith(".whl")]), 2 * len(pythons))
            for tag, base in pythons.items():
                for arch in ("x86_64", "aarch64"):
                    [file] = DIST.glob(f"*-{tag}-*{arch}.whl")
                    with self.subTest(wheel=file.name):
                        modules = [name for name in zipfile.ZipFile(file).namelist() if ".so" in name]
                        for layer in ("_openmpi", "_mpich", "_mpi_abi"):
                            self.assertIn(f"steadfold/{layer}.so", modules)
                            self.assertIn(f"steadfold_command/{layer[1:]}.so", modules)
                        for module in modules:
                            self.expect_no_names_of_others(file, module)
                        if arch == "x86_64":
                            self.try_in_a_minute(file, base)
                            self.try_wheel(file, base)
                        elif tag == "cp311-cp311":
                            self.try_emulated(file)

    def expect_no_names_of_others(self, file, module):
        """The C++ library that is inside might be taken for another's, or the other way round."""
        extracted = zipfile.ZipFile(file).extract(module, self.room())
        shown = output("nm", "-D", "--defined-only", extracted).split("\n")
        self.assertEqual([line for line in shown if " _Z" in line], [], module)


if __name__ == "__main__":
    unittest.main()
