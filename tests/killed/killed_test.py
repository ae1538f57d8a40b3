"""A rank is killed while a plan's run is under way: by launchers that keep the others, these end their waits in time, say
so and leave. Asserted of Open MPI. What MPICH makes of it is printed; that the job ends is asserted of both."""

import os
import re
import subprocess
import unittest

LIBRARY = os.environ["STEADFOLD_LIBRARY"]
KEEPS_SURVIVORS = {"openmpi": ["--enable-recovery"], "mpich": ["-disable-auto-cleanup"]}[LIBRARY]
TIMEOUT = 400  # milliseconds
LATE = 5000  # milliseconds; a rank gets a core of this machine much sooner
LINE = re.compile(r"rank (\d+): (\w+) ([\d.]+) (\w+) ([\d.]+)")


def survivors(ranks, schedule):
    """Rank -> its two waits, each what it came to and its milliseconds."""
    ran = subprocess.run(
        [os.environ["STEADFOLD_MPIRUN"], *KEEPS_SURVIVORS, "-n", str(ranks), os.environ["STEADFOLD_KILLED"], schedule,
         str(TIMEOUT)], capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    found = {}
    for rank, first, first_took, second, second_took in LINE.findall(ran.stdout):
        found[int(rank)] = [(first, float(first_took)), (second, float(second_took))]
    print(f"{LIBRARY}, {ranks} ranks, {schedule}: status {ran.returncode}, {found}", flush=True)
    return found


class Killed(unittest.TestCase):
    def test_the_others_end_in_time(self):
        for ranks in (2, 3, 5):
            for schedule in ("recursive_doubling", "binomial", "transpose"):
                found = survivors(ranks, schedule)
                if LIBRARY == "mpich":
                    continue
                with self.subTest(ranks=ranks, schedule=schedule):
                    self.assertEqual(set(found), set(range(ranks)) - {ranks // 2})
                    for waits in found.values():
                        for outcome, took in waits:
                            self.assertEqual(outcome, "timeout")
                            self.assertGreaterEqual(took, TIMEOUT)
                            self.assertLess(took, LATE)


if __name__ == "__main__":
    unittest.main()
