"""The interposer under software that nobody here wrote: LAMMPS as Debian has it, and PETSc's pipelined solver, over Open MPI
with its algorithms forced. Without the interposer the algorithm changes the bits; else the case does not count."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from hashlib import sha256
from pathlib import Path

FULL = os.environ.get("STEADFOLD_FULL") == "1"
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


if __name__ == "__main__":
    unittest.main()
