"""Tries example_gaspi on several rank counts and by several schedules."""

import json
import unittest

from support import Example

EXAMPLE = Example("example_gaspi")
run_ranks = EXAMPLE.run_ranks
RANKS = (1, 3, 5)
SCHEDULES = ("", "linear", "transpose")


def setUpModule():
    EXAMPLE.require()


def record_of(ranks, schedule):
    done = run_ranks(ranks, **({"STEADFOLD_SCHEDULE": schedule} if schedule else {}))
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
