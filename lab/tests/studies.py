"""What tests of studies share."""

from support import CommandTest, run


class StudyTest(CommandTest):
    """Cases that look at the rows of studies."""

    def study(self, *arguments, **keywords):
        return self.object_from(run("study", *arguments, "--json", **keywords))

    def rows(self, part, *arguments, study=("thesis", "S0")):
        found = self.study(study[0], "--part", part, *arguments)
        self.assertEqual((found["study"], found["source"]), study)
        self.assertEqual({row["part"] for row in found["rows"]}, {part})
        self.assertEqual({tuple(row) for row in found["rows"]}, {tuple(found["rows"][0])}, "all rows have the same fields")
        return found["rows"], found["left_out"]
