"""Tries example_gaspi on several rank counts and by several schedules. STEADFOLD_EXAMPLES names the directory where it stands."""

import json
import os
import shutil
import subprocess
import unittest

DIRECTORY = os.environ.get("STEADFOLD_EXAMPLES", "")
PROGRAM = os.path.join(DIRECTORY, "example_gaspi")
MPIRUN = os.environ.get("STEADFOLD_MPIRUN") or shutil.which("mpirun")
RANKS = (1, 3, 5)
SCHEDULES = ("", "linear", "transpose")

ENVIRONMENT = dict(os.environ)
ENVIRONMENT.update(
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_hwloc_base_binding_policy="none",
    OMPI_MCA_mpi_yield_when_idle="1",
)


def setUpModule():
    if not DIRECTORY:
        print("skipped: STEADFOLD_EXAMPLES is not set, point it to the directory of example_gaspi")
        raise unittest.SkipTest("STEADFOLD_EXAMPLES is not set")


def record_of(ranks, schedule):
    environment = dict(ENVIRONMENT)
    if schedule:
        environment["STEADFOLD_SCHEDULE"] = schedule
    done = subprocess.run(
        [MPIRUN, "-n", str(ranks), PROGRAM], env=environment, capture_output=True, text=True, timeout=120
    )
    if done.returncode != 0:
        raise AssertionError(f"{ranks} ranks, {schedule or 'auto'}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class Bits(unittest.TestCase):
    def test_follow_neither_schedule_nor_operation(self):
        hashes = set()
        for ranks in RANKS:
            records = [record_of(ranks, schedule) for schedule in SCHEDULES]
            for record in records:
                self.assertEqual(record["ranks"], ranks)
                self.assertTrue(record["same_by_own_operation"])
                self.assertEqual(record["hash"], records[0]["hash"])
            hashes.add(records[0]["hash"])
        self.assertEqual(len(hashes), len(RANKS))  # the hash does see the data


if __name__ == "__main__":
    unittest.main()
