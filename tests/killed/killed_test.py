"""A rank is killed while a run, a call or a team's run is under way: by launchers that keep the others, these end their
waits in time, say so and leave. Asserted of Open MPI. What MPICH makes of it is printed; that the job ends is asserted of both."""

import os
import re
import subprocess
import unittest

LIBRARY = os.environ["STEADFOLD_LIBRARY"]
KEEPS_SURVIVORS = {"openmpi": ["--enable-recovery"], "mpich": ["-disable-auto-cleanup"]}[LIBRARY]
TIMEOUT = 400  # milliseconds
LATE = 5000  # milliseconds; a rank gets a core of this machine much sooner
LINE = re.compile(r"rank (\d+)(?:[.](\d))?: (\w+) ([\d.]+) (\w+) ([\d.]+)")
BY_MESSAGES = ["recursive_doubling", "binomial", "transpose"]
OTHERS = ["posts", "in_place", "started", "team"]  # in the node's memory, of a call that was started, of several workers


def survivors(ranks, subject):
    """(Rank, worker) -> its two waits, each what it came to and its milliseconds."""
    ran = subprocess.run(
        [os.environ["STEADFOLD_MPIRUN"], *KEEPS_SURVIVORS, "-n", str(ranks), os.environ["STEADFOLD_KILLED"], subject,
         str(TIMEOUT)], capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    found = {}
    for rank, worker, first, first_took, second, second_took in LINE.findall(ran.stdout):
        found[int(rank), int(worker or 0)] = [(first, float(first_took)), (second, float(second_took))]
    print(f"{LIBRARY}, {ranks} ranks, {subject}: status {ran.returncode}, {found}", flush=True)
    return found


class Killed(unittest.TestCase):
    def test_the_others_end_in_time(self):
        for ranks in (2, 3, 5):
            for subject in BY_MESSAGES + OTHERS if ranks == 3 else BY_MESSAGES:
                found = survivors(ranks, subject)
                if LIBRARY == "mpich":
                    continue
                with self.subTest(ranks=ranks, subject=subject):
                    workers = range(2 if subject == "team" else 1)
                    self.assertEqual(set(found), {(r, w) for r in range(ranks) if r != ranks // 2 for w in workers})
                    for waits in found.values():
                        for outcome, took in waits:
                            self.assertEqual(outcome, "timeout")
                            self.assertGreaterEqual(took, TIMEOUT)
                            self.assertLess(took, LATE)


if __name__ == "__main__":
    unittest.main()
