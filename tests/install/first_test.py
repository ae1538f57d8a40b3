"""The first programs (examples/first): each is compiled by the line in its first comment, against an installed tree, and
gives the bits that it says, on several numbers of ranks and with every MPI library."""

import math
import os
import re
import shutil
import struct
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from install_test import BUILD, FORTRAN, LIBRARIES, SOURCE, output

FIRST = SOURCE / "examples" / "first"
RANKS = {"openmpi": (1, 3, 4, 8), "mpich": (1, 3)}  # MPICH polls
LONGEST = 30
SAID = re.compile(r"^(?:sum|ohms) (\S+) \(should be (\S+)\)$")


def in_parallel(ohms):
    """The pass-through tree over the indices: neighbours in pairs, an odd one moves up."""
    while len(ohms) > 1:
        pairs = [ohms[i : i + 2] for i in range(0, len(ohms), 2)]
        ohms = [pair[0] * pair[1] / (pair[0] + pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return ohms[0]


SUM = math.fsum(1.0 / (i + 1) for i in range(1000))
HALF = math.fsum(1.0 / (i + 1) for i in range(500))
DUE = {"operator": in_parallel([float(i + 1) for i in range(1000)])}


def first_line(source):
    return re.sub(r"^(//|/\*|!|#) | \*/$", "", source.read_text().splitlines()[0])


class FirstPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = Path(tempfile.mkdtemp(prefix="steadfold-"))
        cls.addClassCleanup(shutil.rmtree, cls.room)
        prefix = cls.room / "prefix"
        output("cmake", "--install", BUILD, "--prefix", prefix)
        [package] = prefix.rglob("steadfold.pc")
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": str(package.parent)}
        sources = [path for path in sorted(FIRST.iterdir()) if path.suffix in (".c", ".cpp", ".f90")]
        cls.sources = [path for path in sources if FORTRAN or path.suffix != ".f90"]
        jobs = [(name, source) for name in LIBRARIES for source in cls.sources]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda job: cls.compile(*job), jobs))

    @classmethod
    def folder(cls, name, source):
        return cls.room / name / source.name

    @classmethod
    def compile(cls, name, source):
        """By its own line, but for the compiler of this MPI library, and with warnings as errors."""
        folder = cls.folder(name, source)
        folder.mkdir(parents=True)
        shutil.copy(source, folder)
        line = first_line(source).split(" && ")[0].replace("steadfold-openmpi", f"steadfold-{name}")
        for wrapper in ("mpicc", "mpicxx", "mpifort"):
            line = re.sub(rf"^{wrapper} ", LIBRARIES[name][0].replace("mpicc", wrapper) + " ", line)
        warnings = "" if source.suffix == ".f90" else "-Wall -Wextra -Wpedantic -Werror"
        if source.suffix == ".cpp":
            warnings += " -Wno-cast-function-type"  # Open MPI's own header has such casts
        output("sh", "-c", f"{line} {warnings}", cwd=folder, env=cls.environment)

    def run_program(self, name, source, ranks, *arguments):
        launcher = [LIBRARIES[name][1], "-n", ranks] if ranks else []
        said = output(*launcher, f"./{source.stem}", *arguments, cwd=self.folder(name, source))
        found = SAID.match(said.strip())
        self.assertTrue(found, said)
        return found[1], found[2]

    def expect(self, value, *texts):
        for text in texts:
            bits = int(text, 16) if "x" not in text else struct.unpack(">Q", struct.pack(">d", float.fromhex(text)))[0]
            self.assertEqual(bits, struct.unpack(">Q", struct.pack(">d", value))[0], text)

    def test_bits(self):
        for name in LIBRARIES:
            for source in self.sources:
                for ranks in (None,) if source.stem == "threads" else RANKS.get(name, (1, 3)):
                    if source.stem != "restart":
                        with self.subTest(library=name, program=source.name, ranks=ranks):
                            self.expect(DUE.get(source.stem, SUM), *self.run_program(name, source, ranks))

    def test_a_restart_on_another_number_of_ranks(self):
        source = FIRST / "restart.cpp"
        for name in LIBRARIES:
            for before, after in ((4, 3), (1, 2)):
                with self.subTest(library=name, before=before, after=after):
                    self.expect(HALF, *self.run_program(name, source, before))
                    self.expect(SUM, *self.run_program(name, source, after, "resume"))

    def test_plain_sums_differ(self):
        """The control: a sum on every rank, then of the ranks' sums."""
        x = [1.0 / (i + 1) for i in range(1000)]
        plain = {sum(sum(x[rank::ranks]) for rank in range(ranks)) for ranks in (1, 3, 4, 8)}
        self.assertGreater(len(plain), 1)

    def test_programs_are_short(self):
        for source in FIRST.iterdir():
            self.assertLessEqual(len(source.read_text().splitlines()), LONGEST, source.name)


if __name__ == "__main__":
    unittest.main()
