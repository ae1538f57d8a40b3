"""Packages of distributions: the Debian package that CPack makes, unpacked and used; the recipes for
Debian, conda-forge and Spack, read."""

import ast
import math
import os
import re
import shutil
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from commands import DIGEST, output  # noqa: E402

BUILD = Path(os.environ["STEADFOLD_BUILD"])
SOURCE = Path(__file__).resolve().parents[2]
LIBRARIES = {n: r for n, _, r in (line.split("=") for line in os.environ["STEADFOLD_LIBRARIES"].split(","))}
TOOLS = ("cpack", "dpkg-deb", "dpkg-shlibdeps")
# What must be installed for an MPI library, whatever its version.
PACKAGES = {"openmpi": r"libopenmpi\w+", "mpich": r"libmpich\w+"}


@unittest.skipUnless(all(map(shutil.which, TOOLS)), f"not all of {', '.join(TOOLS)} are here, install dpkg-dev")
class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = Path(tempfile.mkdtemp(prefix="steadfold-"))
        cls.addClassCleanup(shutil.rmtree, cls.room)
        output("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", cls.room, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none")
        [cls.package] = cls.room.glob("*.deb")
        cls.version = re.search(r"PROJECT_VERSION:STATIC=(.+)", (BUILD / "CMakeCache.txt").read_text())[1]
        cls.root = cls.room / "root"
        output("dpkg-deb", "-x", cls.package, cls.root)
        cls.usr = cls.root / "usr"

    def field(self, name):
        return output("dpkg-deb", "--field", self.package, name).strip()

    def test_what_it_says_of_itself(self):
        architecture = output("dpkg", "--print-architecture").strip()
        self.assertEqual(self.package.name, f"steadfold_{self.version}_{architecture}.deb")
        self.assertEqual((self.field("Package"), self.field("Version")), ("steadfold", self.version))
        needed = [each.split()[0] for each in self.field("Depends").split(", ")]
        for pattern in ("libc6", r"libstdc\+\+6", *(PACKAGES[name] for name in LIBRARIES if name in PACKAGES)):
            self.assertTrue([name for name in needed if re.fullmatch(pattern, name)], (pattern, needed))
        self.assertNotIn("steadfold", " ".join(needed))

    def test_holds_the_installed_tree_and_no_more(self):
        held = {str(path.relative_to(self.usr)) for path in self.usr.rglob("*") if path.is_file()}
        self.assertEqual([path.name for path in self.root.iterdir()], ["usr"])
        for name in ("include/steadfold/steadfold.hpp", "bin/steadfold", "share/man/man3/sf_plan_run.3",
                     "share/doc/steadfold/LICENSE", "share/bash-completion/completions/steadfold",
                     "share/zsh/site-functions/_steadfold", "share/fish/vendor_completions.d/steadfold.fish"):  # fmt: skip
            self.assertIn(name, held)
        self.assertEqual({name.split("/")[0] for name in held}, {"bin", "include", "lib", "share"})
        self.assertFalse([name for name in held if name.endswith(".py") and "doc" not in name or "_core" in name])

    def test_completion_is_that_of_the_command(self):
        for shell, file in (("bash", "bash-completion/completions/steadfold"), ("zsh", "zsh/site-functions/_steadfold"),
                            ("fish", "fish/vendor_completions.d/steadfold.fish")):  # fmt: skip
            self.assertEqual((self.usr / "share" / file).read_text(), output(self.usr / "bin/steadfold", "completion", shell))

    def test_the_command_runs(self):
        numbers = [math.sin(i) * 10.0 ** (i % 30) for i in range(1000)]
        (self.room / "numbers.raw").write_bytes(struct.pack("<1000d", *numbers))
        for name, launcher in LIBRARIES.items():
            command = [self.usr / f"bin/steadfold.{name}", "sum", "--format", "raw", "--json", self.room / "numbers.raw"]
            for words in (command, [launcher, "-n", "3", *command]):
                told = output(*words)
                self.assertEqual(float(re.search(r'"value":([^,]+),', told)[1]), math.fsum(numbers), told)

    def test_a_program_is_built_with_it(self):
        """Its .pc files find the tree where it stands."""
        name = next(iter(LIBRARIES))
        [package] = self.usr.rglob("steadfold.pc")
        environment = {**os.environ, "PKG_CONFIG_PATH": str(package.parent), "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}
        if not shutil.which("pkg-config"):
            self.skipTest("pkg-config is not here")
        flags = output("pkg-config", "--cflags", "--libs", "steadfold", env=environment).split()
        source = self.room / "version.c"
        source.write_text("#include <stdio.h>\n#include <steadfold/steadfold.h>\nint main(void) { return puts(sf_version()) < 0; }\n")
        program = self.room / f"version_{name}"
        output("cc", source, "-o", program, *flags, f"-Wl,-rpath,{self.usr / 'lib'}")
        self.assertEqual(output(program).strip(), self.version)


def known_options():
    """Those of the build."""
    files = ("CMakeLists.txt", "cmake/SteadfoldHwloc.cmake", "examples/adapters/CMakeLists.txt")
    build = "".join((SOURCE / name).read_text() for name in files)
    return set(re.findall(r"^(?:option|set)\((STEADFOLD_\w+) ", build, re.MULTILINE))


class Recipes(unittest.TestCase):
    """That of Debian, which release_test builds with STEADFOLD_FULL=1, and that of conda-forge, which nobody has built."""

    def test_options_are_those_of_the_build(self):
        for name in ("debian/rules", "conda/recipe.yaml"):
            used = set(re.findall(r"-D(STEADFOLD_\w+)=", (SOURCE / "packaging" / name).read_text()))
            self.assertGreater(len(used), 2)
            self.assertLessEqual(used, known_options(), name)

    def test_versions_are_that_of_the_build(self):
        version = re.search(r"project\(Steadfold VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertIn(f'version: "{version}"', (SOURCE / "packaging/conda/recipe.yaml").read_text())
        self.assertRegex((SOURCE / "packaging/debian/changelog").read_text(), rf"^steadfold \({re.escape(version)}-\d+\) ")
        minor = ".".join(version.split(".")[:2])  # of the SONAME
        names = re.findall(r"^Package: (libsteadfold\S*?)([\d.]*)$", (SOURCE / "packaging/debian/control").read_text(), re.MULTILINE)
        self.assertEqual(sorted(names), [("libsteadfold", minor), ("libsteadfold-dev", ""), ("libsteadfold-mpich", minor), ("libsteadfold-openmpi", minor)])

    def test_debians_tests_expect_the_readmes_digest(self):
        for name in ("bits", "python"):
            self.assertIn(DIGEST, (SOURCE / "packaging/debian/tests" / name).read_text())


class Spack(unittest.TestCase):
    """Spack itself is not here: the recipe is Python, and names what there is."""

    RECIPE = (SOURCE / "packaging/spack/package.py").read_text()

    def calls(self, function):
        """The first argument of every call, where it is a text, with the keywords that are."""
        for node in ast.walk(ast.parse(self.RECIPE)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == function:
                yield node.args[0].value, {k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)}

    def test_it_is_a_package(self):
        [package] = [node for node in ast.parse(self.RECIPE).body if isinstance(node, ast.ClassDef)]
        self.assertEqual((package.name, package.bases[0].id), ("Steadfold", "CMakePackage"))
        self.assertTrue(ast.get_docstring(package))

    def test_variants_and_conditions(self):
        variants = {name for name, _ in self.calls("variant")}
        self.assertLess({"mpi", "python", "fortran"}, variants)
        conditions = [more["when"] for name in ("variant", "depends_on", "run_after") for _, more in self.calls(name) if "when" in more]
        conditions += [spec for name in ("when", "satisfies") for spec, _ in self.calls(name)]
        self.assertTrue(conditions)
        for condition in conditions:
            self.assertLessEqual(set(re.findall(r"[+~](\w+)", condition)), variants, condition)

    def test_options_are_those_of_the_build(self):
        used = {name for call in ("define", "define_from_variant") for name, _ in self.calls(call) if name.startswith("STEADFOLD")}
        self.assertGreater(len(used), 4)
        self.assertLessEqual(used, known_options())

    def test_versions_are_those_of_the_build(self):
        needed = dict(name.split("@") for name, _ in self.calls("depends_on") if name.startswith(("cmake@", "py-", "python@")) and "@" in name)
        told = (SOURCE / "pyproject.toml").read_text()
        self.assertEqual(needed["cmake"][:-1], re.search(r"VERSION ([\d.]+)\)", (SOURCE / "CMakeLists.txt").read_text())[1])
        self.assertIn(f'requires-python = ">={needed["python"][:-1]}"', told)
        self.assertIn(f'"nanobind>={needed["py-nanobind"][:-1]}.0"', told)


if __name__ == "__main__":
    unittest.main()
