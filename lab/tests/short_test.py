"""Each study and each benchmark of the laboratory once, small."""

import unittest

from support import run
from support.benches import RANKS, BenchTest

SMALL = {  # options of each study
    "thesis": ("--part", "nodes,messages,buffer,scaling,lookup,reproducibility", "--largest", "1000"),
    "pipelines": ("--part", "blocks", "--largest", "1000"),
    "node": ("--part", "trees,storage,measured", "--ranks", "2", "--rounds", "3"),
    "topology": ("--part", "arrival,bound"),
    "butterfly": ("--most-ranks", "12"),
}
BENCHES = {"shared": (), "teams": ("--threads", "1"), "splitphase": ("--schedules", "bruck")}


class Short(BenchTest):
    def test_every_study(self):
        self.assertEqual({row["name"] for row in self.object_from(run("study", "--list", "--json"))["rows"]}, SMALL.keys())
        for study, words in SMALL.items():
            with self.subTest(study=study):
                found = self.object_from(run("study", study, *words, "--json"))
                self.assertEqual(found["study"], study)
                self.assertTrue(found["rows"])

    def test_every_benchmark_of_one_call(self):
        fields = {name: kind for name, kind in RANKS.items() if name != "rivals"}
        for name, words in BENCHES.items():
            with self.subTest(name=name):
                ran = run("bench", name, "--counts", "1", "--methods", "tree", "--rounds", "3", *words, "--json")
                self.assertEqual({row["method"] for row in self.rows_from(ran, fields)}, {"tree"})


if __name__ == "__main__":
    unittest.main()
