"""`steadfold draw`: as many arrows as messages, each element and node once, texts apart, errors, files whole or not there."""

import json
import re
import resource
import signal
import subprocess
import unittest
from pathlib import Path
from xml.etree import ElementTree

from support import COMMAND, CommandTest, run, run_all, some

SVG = "{http://www.w3.org/2000/svg}"
FONT = {"title": 15, "strong": 12}
# Beside the schedules by themselves.
NESTED = [
    "two_level:inner=[flat]:outer=[ring]:size=3", "two_level:inner=[binomial]:outer=[pipelined_tree:block=1]:size=2",
    "reduce_broadcast:reduce=[binary]:block=1", "dissemination:n=2", "bruck:n=3", "single_notify:tree=kary:k=3",
    "root_group_last:inner=[linear]:size=3",
]  # fmt: skip


def groups(picture, name):
    """The groups of that class, and what each is called."""
    return [(each, each.find(SVG + "title").text) for each in picture.iter(SVG + "g") if name in each.get("class").split()]


def texts(picture):
    """(left, right, baseline, text) of every text, as wide as a usual font makes it."""
    for each in picture.iter(SVG + "text"):
        width = 0.5 * FONT.get(each.get("class"), 11) * len(each.text or "")
        x = float(each.get("x")) - {None: 0, "middle": width / 2, "end": width}[each.get("text-anchor")]
        yield x, x + width, float(each.get("y")), each.text


class DrawTest(CommandTest):
    def picture(self, ran):
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        picture = ElementTree.fromstring(ran.stdout)
        self.assertEqual((picture.tag, picture.get("role")), (SVG + "svg", "img"))
        self.assertTrue(picture.find(SVG + "title").text and picture.find(SVG + "desc").text)
        ground = picture.find(SVG + "rect")
        self.assertEqual((ground.get("width"), ground.get("height"), ground.get("fill")), ("100%", "100%", "#ffffff"))
        # Self-contained: no reference, no script.
        self.assertNotRegex(ran.stdout, r"href|url\(|@import|<script|<image|<foreignObject")
        self.expect_inside(picture)
        return picture

    def draw(self, *arguments):
        return self.picture(run("draw", *arguments))

    def expect_inside(self, picture):
        width, height = float(picture.get("width")), float(picture.get("height"))
        for left, right, baseline, text in texts(picture):
            self.assertTrue(0 <= left and right <= width and 8 <= baseline <= height, (text, left, right, baseline))

    def expect_apart(self, picture):
        found = list(texts(picture))
        for i, (left, right, baseline, text) in enumerate(found):
            for other_left, other_right, other_baseline, other in found[:i]:
                overlap = left < other_right and other_left < right and abs(baseline - other_baseline) < 10
                self.assertFalse(overlap, (text, other))

    def arrows(self, picture):
        """(round, source, target, what) of every message; each has one line, one head and at least one text."""
        found = []
        for group, title in groups(picture, "message"):
            kinds = [child.tag.removeprefix(SVG) for child in group]
            self.assertEqual(kinds[:3], ["title", "line", "path"])
            self.assertEqual(set(kinds[3:]), {"text"})
            round_, source, target, what = re.fullmatch(r"round (\d+), rank (\d+) to rank (\d+): (.+)", title).groups()
            self.assertEqual("; ".join(child.text for child in group if child.tag == SVG + "text"), what)
            found.append((int(round_), int(source), int(target), what))
        return found


class Schedules(DrawTest):
    def names(self):
        rows = json.loads(run("schedules", "--json").stdout)["schedules"]
        return [(row["name"] + (":block=1" if "block" in row["parameters"] else ""), row["collectives"]) for row in rows]

    def expect_counts(self, cases):
        """The pictures have the arrows and rounds that `simulate` predicts of as many columns as there are segments."""
        pictures = [self.picture(ran) for ran in run_all([(("draw", "schedule", *case), {}) for case in cases])]
        calls = []
        for (name, *rest), picture in zip(cases, pictures):
            width = picture.get("data-segments")
            calls.append((("simulate", "--schedule", name, *rest, "--elements=1000", "--width", width, "--json"), {}))
        for case, picture, ran in zip(cases, pictures, run_all(calls)):
            with self.subTest(case=case):
                predicted = self.object_from(ran)
                self.assertEqual(predicted["segments"], int(picture.get("data-segments")))
                arrows = self.arrows(picture)
                self.assertEqual(len(arrows), predicted["messages"])
                self.assertEqual(max((arrow[0] for arrow in arrows), default=0), predicted["rounds"])
                self.expect_ranks(case, picture)

    def expect_ranks(self, case, picture):
        ranks = next(int(word.split("=")[1]) for word in case if word.startswith("--ranks"))
        lines = [each.text for each in picture.iter(SVG + "text") if re.fullmatch(r"rank \d+", each.text)]
        once = [f"rank {rank}" for rank in range(ranks)]
        self.assertEqual(lines, once * max(1, len(lines) // ranks))  # once in each band of rounds

    def test_rounds_without_room_go_on_below(self):
        for options, most in (("--ranks=16",), 1600), (("--ranks=5", "--width=740"), 740), (("--ranks=5", "--width=5000"), 5000):
            picture = self.draw("schedule", "ring", *options)
            ranks = int(options[0].split("=")[1])
            self.assertLessEqual(float(picture.get("width")), most)
            self.assertEqual(len(self.arrows(picture)), 2 * ranks * (ranks - 1))
            bands = {each.get("y") for each in picture.iter(SVG + "text") if each.text == "rank 0"}
            self.assertEqual(len(bands) > 1, most < 5000)
            self.assertEqual("are drawn below the others" in " ".join(text for *_, text in texts(picture)), len(bands) > 1)
            self.expect_apart(picture)

    def test_every_schedule_has_an_arrow_for_each_message(self):
        # Not predicted: what is no sum, what the MPI library sends by itself, and what follows the elements.
        names = [name for name, _ in self.names() if name not in ("original_dissemination", "native", "owner")]
        self.assertGreater(len(names), 20)
        self.expect_counts([(name, f"--ranks={p}") for p in some((1, 2, 3, 4, 5, 7, 8)) for name in names + NESTED])

    def test_pictures_on_pages_are_those_of_today(self):
        docs, count = Path(__file__).resolve().parents[2] / "docs", 0
        for page in docs.glob("*.md"):
            for file, arguments in re.findall(r"\]\((\w+\.svg)\)\n\n\(`steadfold (draw [^`]+)`\)", page.read_text()):
                drawn = run(*arguments.split())
                self.assertTrue(drawn.stdout == (docs / file).read_text(), f"docs/{file} is another picture: steadfold {arguments} --output docs/{file}")
                count += 1
        self.assertGreaterEqual(count, 2)

    def test_other_collectives(self):
        offered = [(name, each) for name, collectives in self.names() for each in collectives
                   if each != "allreduce" and not name.startswith(("native", "owner"))]  # fmt: skip
        self.expect_counts([(name, "--ranks=5", f"--collective={each}") for name, each in offered if "scatter" not in each])

    def test_scattered_blocks(self):
        for name, messages in (("ring", 5 * 4), ("transpose", 5 * 4), ("linear", 8), ("binomial", 8)):
            picture = self.draw("schedule", name, "--ranks=5", "--collective=reduce_scatter")
            self.assertEqual(len(self.arrows(picture)), messages)
            results = [each.text for each in picture.iter(SVG + "text") if re.fullmatch(r"result \[\d\]", each.text)]
            self.assertLessEqual({f"result [{block}]" for block in range(5)}, set(results))

    def test_the_schedule_owner(self):
        for elements, ranks, rule in ((13, 4, "upper"), (100, 7, "lower"), (100, 5, "optimized"), (3, 5, "upper")):
            options = [f"--elements={elements}", f"--ranks={ranks}", f"--distribution={rule}"]
            predicted = self.object_from(run("simulate", "--schedule=owner", "--method=tree", "--json", *options))
            self.assertEqual(len(self.arrows(self.draw("schedule", "owner", *options))), predicted["messages"])
        self.assertEqual(self.arrows(self.draw("schedule", "owner", "--ranks=3", "--elements=3")),
                         [(1, 1, 0, "+ 1 = 0-1"), (2, 2, 0, "+ 2 = all (sent in 1)")])  # fmt: skip

    def test_who_sends_what_in_a_binomial_tree(self):
        expected, p = [], 8
        for k in range(3):
            width = 2**k
            for rank in range(0, p, 2 * width):
                run_of = lambda first, count: str(first) if count == 1 else f"{first}-{first + count - 1}"  # noqa: E731
                merged = "all" if k == 2 else run_of(rank, 2 * width)
                expected.append((k + 1, rank + width, rank, f"+ {run_of(rank + width, width)} = {merged}"))
        down = [(7 - round_, target, source, "result") for round_, source, target, _ in expected]
        self.assertEqual(sorted(self.arrows(self.draw("schedule", "binomial", "--ranks=8"))), sorted(expected + down))
        reduce = self.arrows(self.draw("schedule", "binomial", "--ranks=8", "--collective=reduce"))
        self.assertEqual(sorted(reduce), sorted(expected))

    def test_who_sends_what_round_a_ring(self):
        """Block b begins on the rank behind b; in round k rank r sends the block that has come to it."""
        found = self.arrows(self.draw("schedule", "ring", "--ranks=3"))
        self.assertEqual({(source, target) for _, source, target, _ in found}, {(0, 1), (1, 2), (2, 0)})
        for block in range(3):
            steps = sorted(arrow for arrow in found if arrow[3].endswith(f"[{block}]"))
            self.assertEqual([round_ for round_, *_ in steps], [1, 2, 3, 4])
            self.assertEqual([what.startswith("+") for *_, what in steps], [True, True, False, False])
            for earlier, later in zip(steps, steps[1:]):
                self.assertEqual(earlier[2], later[1])

    def test_merges_of_one_round_stand_in_their_order(self):
        first = [what for round_, _, target, what in self.arrows(self.draw("schedule", "dissemination:n=3", "--ranks=13"))
                 if (round_, target) == (1, 5)]  # fmt: skip
        self.assertEqual(first, ["+ 4 = 4-5", "+ 3 = 3-5", "+ 2 = 2-5"])

    def test_partials_and_values_differ_without_colour(self):
        picture = self.draw("schedule", "binomial", "--ranks=4")
        style = picture.find(SVG + "style").text
        self.assertRegex(style, r"\.value\{[^}]*stroke-dasharray")
        self.assertNotRegex(style, r"\.merged\{[^}]*stroke-dasharray")
        for group, title in groups(picture, "message"):
            look = ("merged", "merged filled") if "+" in title else ("value", "value open")
            self.assertEqual((group.find(SVG + "line").get("class"), group.find(SVG + "path").get("class")), look)

    def test_texts_stand_apart(self):
        for name, ranks in (("binomial", 8), ("ring", 5), ("halving_doubling", 7), ("two_level", 8), ("pipelined_tree", 6),
                            ("dissemination", 5), ("dissemination:n=3", 13), ("flat", 12), ("recursive_doubling", 64),
                            ("transpose", 8), ("doubly_pipelined_tree", 9), ("bruck:n=2", 11)):  # fmt: skip
            self.expect_apart(self.draw("schedule", name, f"--ranks={ranks}"))

    def test_roots_and_segments(self):
        arrows = self.arrows(self.draw("schedule", "flat", "--ranks=4", "--collective=reduce", "--root=2"))
        self.assertEqual({target for _, _, target, _ in arrows}, {2})
        picture = self.draw("schedule", "pipelined_linear", "--ranks=4", "--segments=5")
        self.assertEqual((picture.get("data-segments"), len(self.arrows(picture))), ("5", 5 * 6))

    def test_names_are_escaped(self):
        self.expect_fault(run("draw", "schedule", "ring:<b>=&", "--ranks=4"), "<b>")
        counts = self.write("a<b>&\"'", "3 4")
        picture = self.draw("layout", "--ranks=2", "--elements=7", "--distribution", counts)
        self.assertIn("a<b>&\"'", picture.find(SVG + "title").text)
        strange = self.folder / "\udcff\x01"  # no UTF-8, and a character that XML does not have
        strange.write_text("3 4")
        self.draw("layout", "--ranks=2", "--elements=7", "--distribution", strange)

    def test_refusals(self):
        for arguments, *words in (
            (["schedule", "native", "--ranks=4"], "native", "MPI library"),
            (["schedule", "rign", "--ranks=4"], "the nearest name is 'ring'"),
            (["schedule", "auto", "--ranks=4"], "'auto'"),
            (["schedule", "--ranks=4"], "no schedule is named"),
            (["schedul", "ring", "--ranks=4"], "the nearest name is 'schedule'"),
            (["schedule", "ring", "--ranks=65"], "65", "64"),
            (["schedule", "ring", "--ranks=0"], "--ranks"),
            (["schedule", "ring", "--ranks=many"], "--ranks"),
            (["schedule", "ring"], "--ranks"),
            (["schedule", "transpose", "--ranks=64"], "8064 messages", "2048"),
            (["schedule", "auto", "--ranks=4"], "'auto' cannot be drawn", "depends on the call"),
            (["schedule", "root_group_last", "--ranks=4", "--collective=allreduce"], "cannot serve allreduce"),
            (["schedule", "ring", "--ranks=4", "--collective=reduc"], "the nearest name is 'reduce'"),
            (["schedule", "ring", "--ranks=4", "--root=1"], "--root"),
            (["schedule", "flat", "--ranks=4", "--collective=reduce", "--root=4"], "--root", "0 to 3"),
            (["schedule", "flat", "--ranks=4", "--collective=reduce", "--root=-1"], "--root"),
            (["schedule", "dissemination:n=1:strict=1", "--ranks=13"], "cannot serve 13 ranks"),
            (["schedule", "ring", "--ranks=4", "--segments=3"], "--segments", "multiples of 4"),
            (["schedule", "binomial", "--ranks=4", "--segments=0"], "--segments"),
            (["schedule", "ring", "--ranks=4", "--elements=9"], "--elements"),
            (["schedule", "ring", "--ranks=4", "--distribution=lower"], "--distribution"),
            (["schedule", "ring", "--ranks=4", "--colour"], "--colour"),
            (["tree", "--ranks=4"], "--elements is missing"),
            (["tree", "--ranks=4", "--elements=129"], "129", "128"),
            (["tree", "--ranks=4", "--elements=0"], "0 elements"),
            (["tree", "--ranks=4", "--elements=few"], "'few'"),
            (["tree", "--ranks=4", "--elements=9", "--distribution=uper"], "uper"),
            (["tree", "--ranks=4", "--elements=9", "--root=1"], "--root"),
            (["tree", "ring", "--ranks=4", "--elements=9"], "schedule"),
            (["layout", "--ranks=65", "--elements=9"], "65"),
            (["layout", "--ranks=4", "--elements=9", "--collective=reduce"], "--collective"),
            (["layout", "--ranks=4", "--elements=9", "--width=800"], "--width"),
            (["schedule", "ring", "--ranks=4", "--width=499"], "--width"),
            (["layout", "--ranks=4", f"--elements={2**62 + 1}"], "--elements"),
            ([], "PICTURE"),
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.expect_fault(run("draw", *arguments, "--output", self.folder / "x.svg"), *words)
        self.assertEqual(list(self.folder.iterdir()), [])


class Trees(DrawTest):
    def expect_tree(self, elements, ranks, rule):
        options = [f"--elements={elements}", f"--ranks={ranks}", f"--distribution={rule}"]
        picture = self.draw("tree", *options)
        predicted = self.object_from(run("simulate", "--schedule=binomial", "--json", *options))
        found = [(int(each.get("data-element")), int(each.get("data-rank"))) for each, _ in groups(picture, "element")]
        self.assertEqual([x for x, _ in found], list(range(elements)))
        self.assertEqual([rank for _, rank in found], self.owners(elements, ranks, rule))
        nodes = groups(picture, "node")
        self.assertEqual(len(nodes), elements - 1)
        crossing = groups(picture, "pe-intersecting")
        self.assertEqual(len(crossing), predicted["nodes"])
        owners = [rank for _, rank in found]
        for node, title in nodes:
            first, last = map(int, re.search(r"elements (\d+)-(\d+)", title).groups())
            self.assertEqual(int(node.get("data-rank")), owners[first])
            middle = first + 2 ** ((last - first).bit_length() - 1)
            self.assertEqual("pe-intersecting" in node.get("class"), owners[first] != owners[middle])
        self.expect_spans(elements, [title for _, title in nodes])
        lines = [each for each in picture.iter(SVG + "line") if each.get("class") in ("edge", "sent")]
        self.assertEqual(len(lines), 2 * (elements - 1))
        self.assertEqual(sum(each.get("class") == "sent" for each in lines), len(crossing))
        self.expect_apart(picture)

    def owners(self, elements, ranks, rule):
        """By the picture of the layout, whose counts other tests look at."""
        picture = self.draw("layout", f"--elements={elements}", f"--ranks={ranks}", f"--distribution={rule}")
        return [rank for rank, (each, _) in enumerate(groups(picture, "rank")) for _ in range(int(each.get("data-count")))]

    def expect_spans(self, elements, titles):
        """The nodes are those of neighbours that combine level by level, the last odd one passing through."""
        expected, level = set(), [(x, x) for x in range(elements)]
        while len(level) > 1:
            above = [(level[i][0], level[i + 1][1]) for i in range(0, len(level) - 1, 2)]
            expected |= set(above)
            level = above + level[len(level) - len(level) % 2 :]
        found = [tuple(map(int, re.search(r"elements (\d+)-(\d+)", title).groups())) for title in titles]
        self.assertEqual((len(found), set(found)), (len(expected), expected))

    def test_every_element_and_node_stands_there_once(self):
        for elements, ranks, rule in some(
            [(13, 4, "upper"), (1, 1, "upper"), (2, 5, "lower"), (16, 4, "power2"), (33, 3, "optimized"), (7, 7, "lower"),
             (100, 9, "balanced"), (128, 64, "upper"), (65, 2, "lower")]
        ):  # fmt: skip
            with self.subTest(elements=elements, ranks=ranks, rule=rule):
                self.expect_tree(elements, ranks, rule)

    def test_ranks_without_elements(self):
        counts = self.write("counts", "0 3 0 5 0")
        self.expect_tree(8, 5, counts)
        picture = self.draw("tree", "--elements=8", "--ranks=5", "--distribution", counts)
        self.assertIn("Without elements: ranks 0, 2, 4.", picture.find(SVG + "desc").text)


class Layouts(DrawTest):
    def test_bars_have_the_counts(self):
        counts = self.write("counts", "5 0 7 1")
        for elements, ranks, rule, expected in (
            (13, 4, "lower", [4, 3, 3, 3]), (13, 4, "upper", [3, 3, 3, 4]), (13, 4, "power2", [2, 2, 2, 7]),
            (13, 4, counts, [5, 0, 7, 1]), (0, 2, "upper", [0, 0]), (1000000, 3, "upper", [333333, 333333, 333334]),
        ):  # fmt: skip
            picture = self.draw("layout", f"--elements={elements}", f"--ranks={ranks}", f"--distribution={rule}")
            found = groups(picture, "rank")
            self.assertEqual([int(each.get("data-count")) for each, _ in found], expected)
            begin = 0
            for (group, title), count in zip(found, expected):
                bars = group.findall(SVG + "rect")
                self.assertEqual(len(bars), 1 if count else 0)
                if count:
                    self.assertAlmostEqual(float(bars[0].get("width")), 480 * count / elements, places=1)
                    self.assertAlmostEqual(float(bars[0].get("x")), 74 + 480 * begin / elements, places=1)
                    self.assertIn(f"{count} element", title)
                begin += count
            self.expect_apart(picture)
        self.assertEqual(len(groups(self.draw("layout", "--elements=1e15", "--ranks=64"), "rank")), 64)


class Output(DrawTest):
    ARGUMENTS = ("draw", "layout", "--elements=13", "--ranks=4")

    def test_a_file(self):
        path = self.folder / "a.svg"
        for _ in range(2):  # the second time it is replaced
            ran = run(*self.ARGUMENTS, "--output", path)
            self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))
            self.assertEqual(path.read_text(), run(*self.ARGUMENTS).stdout)
            self.assertEqual(list(self.folder.iterdir()), [path])

    def test_behind_a_link(self):
        link, path = self.folder / "link.svg", self.folder / "a.svg"
        path.write_text("old")
        link.symlink_to(path.name)
        self.assertEqual(run(*self.ARGUMENTS, "--output", link).returncode, 0)
        self.assertTrue(link.is_symlink())
        ElementTree.parse(path)

    def test_under_a_launcher(self):
        self.picture(run(*self.ARGUMENTS, ranks=3))

    def test_places_that_cannot_be_written(self):
        for place in (self.folder, self.folder / "no" / "x.svg", "/dev/full"):
            self.expect_fault(run(*self.ARGUMENTS, "--output", place), f"cannot write {place}")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_disk_that_fills_up(self):
        """What was there before stays, and nothing is left beside it."""
        path = self.write("x.svg", "old")

        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        ran = subprocess.run([COMMAND, *self.ARGUMENTS, "--output", path], capture_output=True, text=True, preexec_fn=small)
        self.expect_fault(ran, "cannot write", "File too large")
        self.assertEqual((list(self.folder.iterdir()), path.read_text()), ([path], "old"))


if __name__ == "__main__":
    unittest.main()
