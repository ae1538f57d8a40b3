"""`steadfold report`: every number of every row in a table, plots with rivals and limits, hostile text, faults."""

import json
import math
import re
import resource
import signal
import subprocess
import unittest
from html.parser import HTMLParser

from support import COMMAND, CommandTest, binpsllh, run

VOID = {"meta", "br", "input", "link", "img", "hr"}
HOSTILE = "<script>alert(1)</script>\"'&</title></td><img src=x onerror=y>\x01"


class Page(HTMLParser):
    """The page's tables, pictures and texts. Every element must be closed by its own tag."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tables, self.plots, self.texts, self.open, self.names, self.style = [], [], [], [], [], ""
        self.references = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names.append(tag)
        self.references += [attributes[name] for name in ("href", "src", "style", "onerror", "onload") if name in attributes]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "svg":
            self.plots.append({"marks": 0, "lines": [], "texts": [], "series": [], **attributes})
        elif "svg" in self.open:
            self.handle_picture(tag, attributes)

    def handle_picture(self, tag, attributes):
        plot = self.plots[-1]
        if tag == "g":
            plot["series"].append({"name": "", "segments": 0, "marks": 0})
        series = plot["series"][-1] if "g" in self.open else {}
        if tag == "line":
            plot["lines"].append(attributes["class"])
            if series and "interval" not in attributes["class"]:
                series["segments"] += 1
        elif tag in ("circle", "rect"):
            plot["marks"] += 1
            if series:
                series["marks"] += 1
        for name in ("cx", "cy", "r", "x", "y", "x1", "y1", "x2", "y2", "width", "height"):
            assert math.isfinite(float(attributes.get(name, 0))), attributes
        assert not re.search("nan|inf", attributes.get("d", "")), attributes

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.style += data
        elif "g" in self.open and self.open[-1] == "title":
            self.plots[-1]["series"][-1]["name"] += data
        elif "svg" in self.open:
            self.plots[-1]["texts"] += [data] if data.strip() else []
        elif "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data
        self.texts.append(data)


def lines_of(plot):
    """The segments of every line, by its name."""
    return {each["name"]: each["segments"] for each in plot["series"]}


def shown(value):
    """As a table shows a value."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return {None: "-", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else str(value)


def row(**fields):
    return {"kernel": "tree", "type": "f64", "elements": 1000, "threads": 1, **fields}


def local(kernel, elements, per_element):
    """As much more for few elements as the loop that only reads."""
    nanoseconds, limit = per_element * (1 + 100 / elements), 0.25 * (1 + 100 / elements)
    return row(kernel=kernel, elements=elements, ns_per_element=nanoseconds, ns_interval=[0.9 * nanoseconds, 1.1 * nanoseconds],
               ratio_to_read=nanoseconds / limit, ratio_to_read_interval=[1.0, 9.5])  # fmt: skip


def over_ranks(count, seconds, **fields):
    rival = {"rival": "Some MPI: MPI_Allreduce", "seconds": 3e-6 * count, "ratio": seconds / (3e-6 * count), "t_min": 1.25e-6}
    return {"method": "exact", "schedule": "ring", "count": count, "ranks": 2, "threads": 1, "seconds": seconds,
            "seconds_interval": [0.5 * seconds, 2 * seconds], "rival": rival["rival"], "rival_seconds": rival["seconds"],
            "ratio": rival["ratio"], "ratio_interval": [0.125, 2.5], "rivals": [rival], **fields}  # fmt: skip


BENCH = {
    "environment": {"cpu": "Some processor", "cores": 2, "pinned": False, "caches": ["L1 32K", "L2 1M"], "load": 0.5},
    "rows": [local(kernel, n, ns) for kernel, ns in (("read", 0.25), ("tree", 0.5), ("exact", 0.75))
             for n in (100, 1000, 10000)],
}  # fmt: skip
RANKS = {"environment": {"cpu": "Some processor"}, "rows": [over_ranks(10**k, 1e-6 * 2**k) for k in range(4)]}
STUDY = {
    "study": "thesis", "source": "S0", "left_out": ["a part that takes long"],
    "rows": [{"part": "time", "ranks": p, "seconds": 1e-3 / p, "published": None} for p in (1, 2, 4)]
    + [{"part": "nodes", "ranks": p, "nodes": 3 * p, "distribution": "upper"} for p in (2, 4, 8)],
}  # fmt: skip
VERIFY = {"identical": True, "rows": [{"ranks": p, "method": "exact", "schedule": "flat", "bits": "3FF0000000000000"} for p in (1, 2)]}


class ReportTest(CommandTest):
    def report(self, *contents, arguments=()):
        paths = [self.write(f"results{i}.json", each if isinstance(each, str) else json.dumps(each)) for i, each in enumerate(contents)]
        return self.page(run("report", *paths, *arguments))

    def page(self, ran):
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertTrue(ran.stdout.startswith("<!DOCTYPE html>\n"))
        page = Page(ran.stdout)
        # Self-contained, without scripts; what refers goes to the page itself.
        self.assertFalse({"script", "link", "img", "iframe", "object"} & set(page.names))
        self.assertEqual([each for each in page.references if not each.startswith("#results")], [])
        self.assertNotRegex(page.style, r"url\(|@import")
        self.assertIn("prefers-color-scheme:dark", page.style)
        return page

    def table_with(self, page, heads):
        """The rows of the table that has such columns, as dictionaries."""
        for table in page.tables:
            head = [cell.removesuffix(" [interval]") for cell in table[0]]
            if set(heads) <= set(head):
                for line in table[1:]:
                    self.assertEqual(len(line), len(head))
                return [dict(zip(head, line)) for line in table[1:]]
        self.fail(f"no table has {heads}")

    def expect_rows(self, page, rows, heads):
        found = self.table_with(page, heads)
        self.assertEqual(len(found), len(rows))
        same = [dict(map(tuple, table)) for table in page.tables if all(len(line) == 2 for line in table)]
        for line, wanted in zip(found, rows):
            for name, value in wanted.items():
                if name.endswith("_interval"):
                    base = {"ns_interval": "ns_per_element"}.get(name, name.removesuffix("_interval"))
                    self.assertIn("[" + ", ".join(map(shown, value)) + "]", line[base])
                elif isinstance(value, list):
                    for part in (part for each in value for part in each.values()):
                        self.assertIn(shown(part), line[name])
                elif name in line:
                    self.assertEqual(line[name].split(" [")[0], shown(value), name)
                else:
                    self.assertTrue(any(each.get(name) == shown(value) for each in same), name)


class Reports(ReportTest):
    def test_bench_of_one_process(self):
        page = self.report(BENCH)
        self.expect_rows(page, BENCH["rows"], {"kernel", "elements", "ns_per_element"})
        [plot] = page.plots
        self.assertIn("ns_per_element by elements", plot["texts"])
        self.assertEqual(plot["data-series"], "3")  # two kernels, and the limit that reading sets
        for name in ("tree", "exact", "limit: read"):
            self.assertIn(name, plot["texts"])
        self.assertEqual(plot["marks"], 2 * 3)
        self.assertEqual(sum(each == "limit" for each in plot["lines"]), 2)
        self.assertEqual(sum("interval" in each for each in plot["lines"]), 2 * 3 * 3)

    def test_the_environment(self):
        page = self.report(BENCH)
        [environment] = [table for table in page.tables if ["cpu", "Some processor"] in table]
        self.assertEqual(environment, [["cpu", "Some processor"], ["cores", "2"], ["pinned", "false"],
                                       ["caches", "[L1 32K, L2 1M]"], ["load", "0.5"]])  # fmt: skip

    def test_bench_over_ranks(self):
        page = self.report(RANKS)
        self.expect_rows(page, RANKS["rows"], {"count", "seconds", "ratio", "rivals"})
        [plot] = page.plots
        self.assertIn("seconds by count", plot["texts"])
        self.assertIn("beside: MPI_Allreduce", plot["texts"])
        self.assertEqual((plot["data-series"], plot["marks"]), ("2", 8))
        self.assertEqual(sum(each == "rival" for each in plot["lines"]), 3)

    def test_one_rival_in_fields_of_its_own(self):
        rows = [{name: value for name, value in each.items() if name != "rivals"} for each in RANKS["rows"]]
        [plot] = self.report({**RANKS, "rows": rows}).plots
        self.assertIn("beside: MPI_Allreduce", plot["texts"])

    def over_ranks_and(self, rows):
        return self.report({"environment": {}, "rows": [dict(zip(("method", "ranks", "count", "seconds", "rival", "rival_seconds"), row))
                                                        for row in rows]})  # fmt: skip

    def test_a_rival_has_a_line_for_every_number_of_ranks(self):
        times = {(2, 1): 2.0, (2, 100): 4.0, (4, 1): 40.0, (4, 100): 80.0}
        [plot] = self.over_ranks_and([("tree", p, n, 1.0, "MPI", time) for (p, n), time in times.items()]).plots
        self.assertEqual(lines_of(plot), {"ranks 2": 1, "ranks 4": 1, "beside: MPI, ranks 2": 1, "beside: MPI, ranks 4": 1})
        # Two of our methods stand beside the same rival, whatever the second row says of it.
        rows = [(method, p, n, 1.0, "MPI", 2.0 + (method == "b")) for method in "ab" for p in (2,) for n in (1, 100)]
        self.assertEqual(lines_of(self.over_ranks_and(rows).plots[0]), {"a": 1, "b": 1, "beside: MPI": 1})
        # Measured at other counts for either number of ranks.
        rows = [("tree", p, n, 1.0, "MPI", 2.0 * n) for p, n in ((2, 1), (2, 10), (4, 100), (4, 1000))]
        self.assertEqual(lines_of(self.over_ranks_and(rows).plots[0]),
                         {"ranks 2": 1, "ranks 4": 1, "beside: MPI, ranks 2": 1, "beside: MPI, ranks 4": 1})  # fmt: skip
        # The same whatever the ranks are: one line.
        rows = [("tree", p, n, 1.0, "MPI", 2.0 * n) for p in (2, 4) for n in (1, 10)]
        self.assertEqual(lines_of(self.over_ranks_and(rows).plots[0]), {"ranks 2": 1, "ranks 4": 1, "beside: MPI": 1})

    def test_a_limit_has_a_line_for_every_number_of_threads(self):
        rows = [row(threads=t, elements=n, ns_per_element=8.0 * n, ratio_to_read=2.0 * t) for t in (1, 2) for n in (1, 100)]
        [plot] = self.report({"environment": {}, "rows": rows}).plots
        self.assertEqual(lines_of(plot), {"threads 1": 1, "threads 2": 1, "limit: read, threads 1": 1, "limit: read, threads 2": 1})
        for each in rows:
            each["ratio_to_read"] = 2.0
        self.assertIn("limit: read", lines_of(self.report({"environment": {}, "rows": rows}).plots[0]))

    def test_times_in_microseconds(self):
        rows = [{"part": "time", "schedule": "bruck", "ranks": p, "ports": ports, "rounds": 7, "us": 1.5 * p / ports}
                for p in (2, 4, 8) for ports in (1, 2)]  # fmt: skip
        [plot] = self.report({"study": "butterfly", "rows": rows}).plots
        self.assertIn("us by ranks", plot["texts"])
        self.assertEqual(lines_of(plot), {"ports 1": 2, "ports 2": 2})
        rows = [{"ranks": p, "bruck_us": 1.0 * p, "tree_us": 2.0 * p, "rounds": 7} for p in (2, 4)]
        [plot] = self.report({"study": "butterfly", "rows": rows}).plots
        self.assertIn("us by ranks", plot["texts"])
        self.assertEqual(lines_of(plot), {"bruck_us": 1, "tree_us": 1})

    def test_points_that_something_unknown_tells_apart_are_not_joined(self):
        rows = [{"elements": n, "depth": depth, "seconds": 1.0 * n * depth} for n in (1, 2) for depth in (1, 2)]
        [plot] = self.report({"study": "s", "rows": rows}).plots
        self.assertEqual([(each["segments"], each["marks"]) for each in plot["series"]], [(0, 4)])

    def test_a_name_that_the_first_row_does_not_have(self):
        rows = [{"kernel": kernel, "elements": n, "seconds": 1.0 * n} for kernel in (None, "b") for n in (1, 2)]
        [plot] = self.report({"study": "s", "rows": rows}).plots
        self.assertEqual(lines_of(plot), {"kernel -": 1, "b": 1})

    def test_what_only_some_rows_say_leaves_them_in_one_table(self):
        rows = [{"schedule": schedule, **({"chosen": "ring"} if schedule == "auto" else {}), "count": n, "seconds": 1.0 * n}
                for schedule in ("ring", "auto") for n in (1, 2)]  # fmt: skip
        page = self.report({"environment": {}, "rows": rows})
        [plot] = page.plots
        self.assertEqual(lines_of(plot), {"ring": 1, "auto": 1})
        self.assertEqual([line["chosen"] for line in self.table_with(page, {"schedule", "seconds"})], ["", "", "ring", "ring"])

    def test_two_intervals_of_one_field(self):
        rows = [row(ns_per_element=1.0 + i, ns_interval=[0.25, 2.0 + i], ns_per_element_interval=[0.5, 4.0 + i]) for i in range(2)]
        page = self.report({"environment": {}, "rows": rows})
        [table] = [table for table in page.tables if table and "ns_per_element_interval" in table[0]]
        self.assertEqual(table[0], ["ns_per_element [interval]", "ns_per_element_interval"])
        self.assertEqual(table[2], ["2 [0.25, 3]", "[0.5, 5]"])

    def test_four_times_the_rows_take_about_four_times_as_long(self):
        def seconds(count):
            rows = [{"kernel": kernel, "elements": n, "seconds": 1.0} for kernel in "ab" for n in range(count // 2)]
            path = self.write("x.json", json.dumps({"environment": {}, "rows": rows}))
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            self.assertEqual(run("report", path).returncode, 0)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

        self.assertLess(seconds(100000), 9 * min(seconds(25000) for _ in range(2)))

    def test_ratios_have_a_line_for_the_rival(self):
        rows = [{"method": "tree", "count": 10**k, "ratio": 0.5 * 2**k, "ratio_interval": [0.5, 9.0]} for k in range(3)]
        [plot] = self.report({"environment": {}, "rows": rows}).plots
        self.assertIn("ratio by count", plot["texts"])
        self.assertIn("rival", plot["texts"])

    def test_what_cannot_be_compared_has_a_plot_of_its_own(self):
        rows = [{**each, "type": name} for each in BENCH["rows"] for name in ("f64", "f32")]
        self.assertEqual([plot["texts"][0] for plot in self.report({**BENCH, "rows": rows}).plots],
                         [f"ns_per_element by elements: type {name}" for name in ("f64", "f32")])  # fmt: skip

    def test_studies(self):
        page = self.report(STUDY)
        self.expect_rows(page, STUDY["rows"][:3], {"ranks", "seconds"})
        self.expect_rows(page, STUDY["rows"][3:], {"ranks", "nodes"})
        self.assertEqual([plot["texts"][0] for plot in page.plots], ["seconds by ranks", "nodes by ranks"])
        for text in ("study thesis: ", "a part that takes long", "S0", "time", "nodes"):
            self.assertTrue(any(text in each for each in page.texts), text)

    def test_verify(self):
        page = self.report(VERIFY, {**VERIFY, "identical": False})
        self.expect_rows(page, VERIFY["rows"], {"ranks"})
        self.assertEqual([table[0] for table in page.tables if table[0][0] == "identical"], [["identical", "true"], ["identical", "false"]])
        self.assertEqual(page.plots, [])

    def test_several_files_and_lines(self):
        lines = json.dumps(BENCH) + "\n\n" + json.dumps(VERIFY) + "\r\n"
        page = self.report(lines, json.dumps(STUDY, indent=2))
        headings = [each for each in page.texts if re.match(r"(bench|verify|study)\b.*: /", each)]
        self.assertEqual(len(headings), 2 * 3)  # in the contents and above each
        self.assertTrue(headings[0].endswith("results0.json, line 1"))
        self.assertTrue(headings[1].endswith("results0.json, line 3"))
        self.assertTrue(headings[2].endswith("results1.json"))

    def test_rows_with_other_fields_have_a_table_of_their_own(self):
        rows = [{"ranks": 1, "messages": 2}, {"ranks": 2, "messages": 4}, {"ranks": 3, "rounds": 1}]
        page = self.report({"study": "s", "rows": rows})
        self.expect_rows(page, rows[:2], {"messages"})
        self.expect_rows(page, rows[2:], {"rounds"})

    def test_few_rows(self):
        self.assertIn("There are no rows.", self.report({"study": "s", "rows": []}).texts)
        page = self.report({**BENCH, "rows": BENCH["rows"][:1]})
        self.expect_rows(page, BENCH["rows"][:1], {"kernel"})
        self.assertEqual(page.plots, [])

    def test_strange_numbers(self):
        rows = [{"elements": n, "seconds": s} for n, s in ((0, 0.0), (1, -1.5), (2**63, 1e300), (5, 5e-324), (7, None), (8, -1.7e308), (9, 1.7e308))]
        rows += [{**each, "seconds_interval": [-1.7e308, 1.7e308]} for each in rows]
        rows += [{**rows[0], "ratio_to_read": 5e-324, "ns_per_element": 1e200}, {**rows[1], "ratio_to_read": 5e-324, "ns_per_element": 1.0}]
        for some in (rows[:7], rows[7:14], rows[14:], rows[:2], rows[2:4], [{"elements": n, "seconds": 0.25} for n in (1, 2)],
                     [{"elements": n, "seconds": 1e-9 * n} for n in (1, 10**6)]):  # fmt: skip
            page = self.report({"environment": {}, "rows": some})
            found = self.table_with(page, {"elements"})
            self.assertEqual([line["elements"] for line in found], [str(each["elements"]) for each in some])

    def test_numbers_that_lie_close_together(self):
        for values in ((-1e17, -1e17), (1e17, 1e17), (-5.0, -5.0 + 1e-15), (0.0, 5e-324), (-5e-324, -5e-324), (-1e289, -1e289)):
            rows = [{"count": k, "seconds": value} for k, value in enumerate(values)]
            self.assertEqual(len(self.report({"environment": {}, "rows": rows}).plots), 1)
        rows = [{"count": -100000000000000000, "seconds": 1}, {"count": -99999999999999984, "seconds": 2}]
        self.assertEqual(len(self.report({"environment": {}, "rows": rows}).plots), 1)

    def test_hostile_text(self):
        clean = HOSTILE.replace("\x01", " ")
        rows = [{HOSTILE: HOSTILE, "method": HOSTILE, "count": 10**k, "seconds": 1.0 + k, "rival": HOSTILE + str(k),
                 "rival_seconds": 2.0, "rivals": [{HOSTILE: [HOSTILE]}]} for k in range(3)]  # fmt: skip
        rows.append({**rows[0], "method": "other"})
        page = self.report({"environment": {HOSTILE: HOSTILE}, "rows": rows, HOSTILE: HOSTILE},
                           {"study": HOSTILE, "rows": [{"part": HOSTILE, "ranks": 1}]}, arguments=["--title", HOSTILE])  # fmt: skip
        cells = [cell for table in page.tables for line in table for cell in line]
        self.assertGreater(cells.count(clean), 8)
        self.assertTrue(any(clean in each for each in page.texts))
        self.assertNotIn("script", page.names)
        path = self.folder / "<b>&'\".json"
        path.write_text(json.dumps(VERIFY))
        self.assertIn(f"verify: {path}", self.page(run("report", path)).texts)

    def test_what_the_command_prints(self):
        data = self.write("x.binpsllh", binpsllh([0.5, 1.25, -3.0]))
        printed = [
            run("verify", data, "--ranks=1,2", "--schedules=binomial", "--json").stdout,
            run("bench", "local", "--sizes=100,1000", "--types=f64", "--rounds=3", "--json").stdout,
        ]
        page = self.report(*printed)
        for text, heads in zip(printed, ({"ranks", "bits"}, {"kernel", "ns_per_element"})):
            rows = json.loads(text)["rows"]
            self.assertEqual(len(self.table_with(page, heads - {"bits"})), len(rows))
        self.assertTrue(any("limit: read" in plot["texts"] for plot in page.plots))


class Faults(ReportTest):
    def fault(self, content, *words, name="x.json"):
        output = self.folder / "out.html"
        path = self.write(name, content)
        self.expect_fault(run("report", path, "--output", output), str(path), *words)
        self.assertFalse(output.exists())

    def test_files_that_cannot_be_read(self):
        self.expect_fault(run("report", self.folder / "missing.json"), "missing.json", "No such file")
        self.expect_fault(run("report", self.folder), "it is a directory")
        self.expect_fault(run("report"), "FILE")
        good = self.write("good.json", json.dumps(VERIFY))
        self.expect_fault(run("report", good, self.folder / "missing.json"), "missing.json")

    def test_pipes_without_an_end(self):
        for path in ("/dev/zero", "/dev/urandom"):
            self.expect_fault(run("report", path), path, "more than 64 MiB")

    def test_no_json(self):
        self.fault("", "it is empty")
        self.fault(" \n\n", "it is empty")
        self.fault("hello", "line 1 is no JSON")
        self.fault('{"identical": true,\n"rows": [\n{"ranks": 1,]}\n', "line 3 is no JSON")
        self.fault(json.dumps(VERIFY) + "\n" + json.dumps(VERIFY)[:-1] + "\n", "line 2 is no JSON")
        self.fault(json.dumps(VERIFY) + "\n\nnonsense\n", "line 3 is no JSON")
        self.fault(json.dumps(VERIFY)[:-5], "line 1 is no JSON")
        self.fault(b'{"identical": true, "rows": [{"x": "\xff"}]}', "line 1 is no JSON")
        self.fault('{"identical": true, "rows": [{"x": NaN}]}', "line 1 is no JSON")
        self.fault('{"identical": true, "rows": [{"x": 1e999}]}', "larger than any double")
        self.fault('{"identical": true, "rows": [{"x": ' + 100000 * "[" + 100000 * "]" + "}]}", "nest deeper than 32")

    def test_unknown_shapes(self):
        self.fault("[1, 2]", "no JSON object", "bench, study or verify")
        self.fault("3", "no JSON object")
        self.fault('{"rows": []}', '"environment"', '"study"', '"identical"')
        self.fault('{"identical": true}', 'no "rows"')
        self.fault('{"identical": true, "rows": {}}', 'no "rows"')
        self.fault('{"identical": true, "rows": [1]}', 'no "rows"')
        self.fault('{"environment": 1, "rows": []}', '"environment"')
        self.fault(json.dumps({"environment": {}, "contests": []}), 'no "rows"')  # as --raw writes
        self.fault(json.dumps(VERIFY) + "\n{}\n", "line 2")

    def test_what_stands_in_the_place_of_the_output(self):
        path, output = self.write("x.json", json.dumps(VERIFY)), self.folder / "out.html"
        page = run("report", path).stdout
        output.write_text("old")
        output.chmod(0o600)
        self.assertEqual(run("report", path, "--output", output).returncode, 0)
        self.assertEqual((output.read_text(), output.stat().st_mode & 0o777), (page, 0o600))
        link, target, named = self.folder / "link", self.folder / "target", self.folder / (250 * "n")
        link.symlink_to("target")  # not there yet
        for place, written in ((link, target), (named, named)):
            self.assertEqual(run("report", path, "--output", place).returncode, 0)
            self.assertEqual(written.read_text(), page)
            self.assertEqual(written.stat().st_mode & 0o777, path.stat().st_mode & 0o777)
        self.assertTrue(link.is_symlink())
        circle = self.folder / "circle"
        circle.symlink_to("circle")
        self.expect_fault(run("report", path, "--output", circle), "cannot write")
        self.assertTrue(circle.is_symlink())

    def test_what_the_shell_has_open_is_added_to(self):
        path, log = self.write("x.json", json.dumps(VERIFY)), self.folder / "log"
        page = run("report", path).stdout
        for redirection, place in ((">>", "/dev/stdout"), ("3>>", "/dev/fd/3"), ("1>>", "/proc/self/fd/1")):
            log.write_text("old\n")
            subprocess.run(["sh", "-c", f'"$1" report "$2" --output {place} {redirection}"$3"', "sh", COMMAND, path, log], check=True)
            self.assertEqual(log.read_text(), "old\n" + page)

    def test_output(self):
        path, output = self.write("x.json", json.dumps(VERIFY)), self.folder / "out.html"
        ran = run("report", path, "--output", output)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))
        self.assertEqual(output.read_text(), run("report", path).stdout)
        self.expect_fault(run("report", path, "--output", self.folder / "no" / "out.html"), "cannot write")
        self.expect_fault(run("report", path, "--output", "/dev/full"), "cannot write /dev/full")
        output.write_text("old")

        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        ran = subprocess.run([COMMAND, "report", path, "--output", output], capture_output=True, text=True, preexec_fn=small)
        self.expect_fault(ran, "cannot write")
        self.assertEqual(output.read_text(), "old")
        self.assertEqual(sorted(self.folder.iterdir()), sorted([path, output]))


if __name__ == "__main__":
    unittest.main()
