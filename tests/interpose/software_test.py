"""The interposer under software that nobody here wrote: LAMMPS as Debian has it, and PETSc's pipelined solver, over Open MPI
with its algorithms forced; with STEADFOLD_FULL=1 also the programs of recipes.toml. Without the interposer the algorithm
changes the bits; else the case does not count."""

import math
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import tomllib
import unittest
from hashlib import sha256
from pathlib import Path

FULL = os.environ.get("STEADFOLD_FULL") == "1"
RECIPES = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text())["recipe"]
ATOMS = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nvt temp 1.5 1.5 0.5
thermo 0
run {steps}
write_dump all custom atoms.txt id x y z vx vy vz modify sort id format float %.17g
"""


class Software(unittest.TestCase):
    def run_in(self, folder, ranks, *command, interposed, **environment):
        own = os.environ | environment
        if interposed:
            own["LD_PRELOAD"] = ":".join(filter(None, (os.environ["STEADFOLD_INTERPOSE"], own.get("LD_PRELOAD", ""))))
        ran = subprocess.run([os.environ["STEADFOLD_MPIRUN"], "-n", str(ranks), *command], cwd=folder, env=own,
                             capture_output=True, text=True, timeout=200)  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def compare(self, digest):
        """`digest(algorithm, interposed)` of two algorithms: the same with the interposer, not without."""
        self.assertEqual(len({digest(algorithm, False) for algorithm in "12"}), 2, "the control: plain bits depend on the algorithm")
        self.assertEqual(len({digest(algorithm, True) for algorithm in "12"}), 1)

    def test_molecular_dynamics(self):
        if shutil.which("lmp") is None:
            self.skipTest("LAMMPS is not here (Debian's lammps)")
        for ranks in (5, 7, 8) if FULL else (5,):
            with self.subTest(ranks=ranks), tempfile.TemporaryDirectory() as folder:
                Path(folder, "in.melt").write_text(ATOMS.format(steps=1000 if FULL else 400))

                def digest(algorithm, interposed):
                    self.run_in(folder, ranks, "lmp", "-in", "in.melt", "-log", "none", "-screen", "none", interposed=interposed,
                                OMPI_MCA_coll_tuned_use_dynamic_rules="1", OMPI_MCA_coll_tuned_allreduce_algorithm=algorithm)  # fmt: skip
                    return sha256(Path(folder, "atoms.txt").read_bytes()).hexdigest()

                self.compare(digest)

    def test_a_pipelined_solver(self):
        program = os.environ["STEADFOLD_PIPELINED"]
        if not program:
            self.skipTest("PETSc is not here for Open MPI (Debian's libpetsc-real-dev)")
        for ranks in (5, 7) if FULL else (5,):
            with self.subTest(ranks=ranks), tempfile.TemporaryDirectory() as folder:

                def digest(algorithm, interposed):
                    printed = self.run_in(folder, ranks, program, interposed=interposed, OMPI_MCA_coll_libnbc_iallreduce_algorithm=algorithm)
                    return re.search(r"digest (\w+)", printed)[1]

                self.compare(digest)

    def results(self, recipe, start, algorithm, interposed):
        """The matches of the recipe's pattern after one run in a copy of the folder `start`."""
        with tempfile.TemporaryDirectory() as parent:
            folder = shutil.copytree(start, Path(parent, "run"))
            printed = self.run_in(folder, recipe["ranks"], *shlex.split(recipe["command"]), interposed=interposed, OMP_NUM_THREADS="1",
                                  OMPI_MCA_coll_tuned_use_dynamic_rules="1", OMPI_MCA_coll_tuned_allreduce_algorithm=algorithm,
                                  OMPI_MCA_coll_tuned_reduce_algorithm=algorithm, **recipe.get("environment", {}))  # fmt: skip
            text = Path(folder, recipe["output"]).read_text() if "output" in recipe else printed
            found = re.findall(recipe["pattern"], text, re.MULTILINE)
            self.assertTrue(found, f"nothing matches the pattern:\n{text}")
            return "\n".join(found)

    def try_recipe(self, recipe, start):
        for name, text in recipe["files"].items():
            Path(start, name).write_text(text)
        for command in recipe.get("prepare", []):
            ran = subprocess.run(command, shell=True, cwd=start, env=os.environ | recipe.get("environment", {}), capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        before = time.monotonic()
        plain, interposed = ([self.results(recipe, start, algorithm, which) for algorithm in "123"] for which in (False, True))
        digests = [" ".join(sha256(result.encode()).hexdigest()[:8] for result in each) for each in (plain, interposed)]
        print(f"{recipe['name']}: plain {digests[0]}, interposed {digests[1]}, {time.monotonic() - before:.0f} s", flush=True)
        if recipe["differs"]:
            self.assertGreater(len(set(plain)), 1, "the control: plain bits depend on the algorithm")
        self.assertEqual(len(set(interposed)), 1)
        numbers = [[float(word) for word in re.findall(r"-?\d+\.\d+(?:[eE][-+]?\d+)?", result)] for result in (plain[0], interposed[0])]
        for one, other in zip(*numbers, strict=True):
            self.assertTrue(math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6), f"plain {one}, interposed {other}")

    def test_recipes(self):
        if not FULL:  # no skip, since ctest would take the whole script as skipped
            print(f"STEADFOLD_FULL=1 would also run {', '.join(recipe['name'] for recipe in RECIPES)}")
            return
        for recipe in RECIPES:
            with self.subTest(recipe["name"]), tempfile.TemporaryDirectory() as start:
                if not (shutil.which(recipe["needs"]) or Path(recipe["needs"]).exists()):
                    reason = f"{recipe['name']} is not here (Debian's {', '.join(recipe['packages'])})"
                    print(reason, flush=True)
                    self.skipTest(reason)
                self.try_recipe(recipe, start)


if __name__ == "__main__":
    unittest.main()
