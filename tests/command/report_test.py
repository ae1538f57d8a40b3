"""`steadfold report`: findings in sentences, every number of every row in a table, plots with rivals and limits, hostile text, faults."""

import html
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
            plot["series"].append({"name": "", "segments": 0, "marks": 0, "classes": set()})
        series = plot["series"][-1] if "g" in self.open else {}
        if tag == "line":
            plot["lines"].append(attributes["class"].split())
            if series and "interval" not in attributes["class"]:
                series["segments"] += 1
        elif tag in ("circle", "rect", "polygon"):
            plot["marks"] += 1
            if series:
                series["marks"] += 1
        for name in ("cx", "cy", "r", "x", "y", "x1", "y1", "x2", "y2", "width", "height"):
            assert math.isfinite(float(attributes.get(name, 0))), attributes
        for name in ("d", "points"):
            assert not re.search("nan|inf", attributes.get(name, "")), attributes
        if tag in ("line", "circle", "rect", "polygon") and series:
            series["classes"] |= set(attributes["class"].split())

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
        self.assertEqual(plot["texts"][0], "time per element by elements")
        self.assertIn("time per element (ns)", plot["texts"])
        self.assertIn("10 k", plot["texts"])
        self.assertEqual(plot["data-series"], "3")  # two kernels, and the limit that reading sets
        for name in ("tree", "exact", "limit: read"):
            self.assertIn(name, plot["texts"])
        self.assertEqual(plot["marks"], 2 * 3)
        self.assertEqual(sum("limit" in each and "sample" not in each for each in plot["lines"]), 2)
        self.assertEqual(sum("interval" in each for each in plot["lines"]), 2 * 3 * 3)

    def findings(self, object):
        text = run("report", self.write("x.json", json.dumps(object))).stdout
        self.page(run("report", self.folder / "x.json"))
        before, rest = text.split('<ul class="findings">')
        self.assertNotRegex(before, "<svg|<table")
        return [html.unescape(each) for each in re.findall("<li>(.*)</li>", rest.split("</ul>")[0])]

    def test_findings_come_first(self):
        kernels = [local("exact", n, 0.5) for n in (100, 100000)] + [local("accumulate", 100000, 1.0)]
        for each, ratio in zip(kernels, (0.5, 0.2345, 1.0)):
            each["ratio_to_accumulate"] = ratio
        self.assertEqual(self.findings({**BENCH, "rows": kernels}), ["exact: 0.234 × std::accumulate at 100 000 doubles."])
        self.assertEqual(self.findings(RANKS), ["exact, 2 ranks: 0.333 × MPI_Allreduce at 1 element, 0.00267 × at 1000 elements."])
        middle = [over_ranks(n, 3e-6 * n * k, call=call) for call in ("allreduce", "plan") for n, k in ((1, 0.5), (10, 4.0), (100, 2.0))]
        self.assertEqual(self.findings({**RANKS, "rows": middle}),
                         [f"exact, {call}, 2 ranks: 0.5 × MPI_Allreduce at 1 element, 2 × at 100 elements, up to 4 × between." for call in ("allreduce", "plan")])  # fmt: skip
        several = [over_ranks(8, 1e-6 * k, schedule=schedule) for k, schedule in ((3, "ring"), (6, "flat"), (12, "auto"))]
        self.assertEqual(self.findings({**RANKS, "rows": several[:2]}),
                         ["exact, 2 ranks: 0.125 to 0.25 × MPI_Allreduce at 8 elements, over 2 schedules."])  # fmt: skip
        self.assertEqual(self.findings({**RANKS, "rows": several}), ["exact, 2 ranks: 0.5 × MPI_Allreduce at 8 elements."])
        self.assertEqual(self.findings(STUDY), ["time: 1 ms at 1 rank, 250 µs at 4 ranks.", "nodes of the tree: 6 at 2 ranks, 24 at 8 ranks."])
        lines = [{"schedule": name, "ranks": p, "us": k * p} for k, name in enumerate(("ring", "flat", "bruck"), 1) for p in (2, 4)]
        self.assertEqual(self.findings({"study": "s", "rows": lines}),
                         ["time at 4 ranks: ring (4 µs) is the lowest, bruck (12 µs) the highest of 3."])  # fmt: skip
        equal = [{**each, "us": 8.0} for each in lines]
        self.assertEqual(self.findings({"study": "s", "rows": equal}), ["time at 4 ranks: 8 µs for each of the 3 lines of the plot."])
        self.assertEqual(self.findings(VERIFY), ["Every method that promises the same bits gave the same bits.",
                                                 "exact: the same bits in 2 sums, 3FF0000000000000."])  # fmt: skip
        rows = [{**row, "bits": str(i)} for i, row in enumerate(VERIFY["rows"])]
        self.assertEqual(self.findings({"identical": False, "rows": rows}),
                         ["A method that promises the same bits gave different bits.", "exact: 2 different results in 2 sums."])  # fmt: skip
        rows = [{**row, "same_on_all_ranks": False} for row in VERIFY["rows"]]
        self.assertEqual(self.findings({"identical": False, "rows": rows})[1], "exact: 2 different results in 2 sums.")

    def test_people_read_no_path_first(self):
        page = self.report(BENCH)
        self.assertLess(page.texts.index("Cost of sums in one process"), page.texts.index("Some processor, 2 cores"))
        place = next(i for i, each in enumerate(page.texts) if str(self.folder) in each)
        self.assertGreater(place, page.texts.index("Environment"))

    def test_tables_are_folded(self):
        text = run("report", self.write("x.json", json.dumps(RANKS))).stdout
        for at in (found.start() for found in re.finditer("<table", text)):
            self.assertGreater(text[:at].count("<details>"), text[:at].count("</details>"))
        self.assertIn("<summary>Table of 4 rows</summary>", text)

    def test_no_plot_has_a_colour_twice(self):
        style = run("report", self.write("x.json", json.dumps(BENCH))).stdout.split("</style>")[0]
        for rules in style.split("@media (prefers-color-scheme:dark){.line0")[:2]:
            colours = re.findall(r"line\d+\{stroke:(#[0-9a-f]{6})|^\{stroke:(#[0-9a-f]{6})", rules)
            self.assertEqual((len(colours), len(set(colours))), (24, 24))
        for count in (3, 9, 60):
            rows = [{"schedule": f"s{k}", "count": n, "seconds": 1.0 * k + n, "rival": f"r{k % 3}", "rival_seconds": 0.5 + k % 3}
                    for k in range(count) for n in (1, 100)]  # fmt: skip
            plots = self.report({"environment": {}, "rows": rows}).plots
            self.assertEqual(len({each["name"] for plot in plots for each in plot["series"]}), count + 3)
            for plot in plots:
                self.assertLessEqual(len(plot["series"]), 24)
                colours = [name for each in plot["series"] for name in each["classes"] if re.fullmatch(r"line\d+", name)]
                self.assertEqual((len(colours), len(set(colours))), (len(plot["series"]), len(plot["series"])))
                if len(plot["series"]) > 8:
                    self.assertTrue(any("dashes1" in each["classes"] for each in plot["series"]))

    def test_the_environment(self):
        page = self.report(BENCH)
        [environment] = [table for table in page.tables if ["cpu", "Some processor"] in table]
        self.assertEqual(environment, [["cpu", "Some processor"], ["cores", "2"], ["pinned", "false"],
                                       ["caches", "[L1 32K, L2 1M]"], ["load", "0.5"]])  # fmt: skip

    def test_bench_over_ranks(self):
        page = self.report(RANKS)
        self.expect_rows(page, RANKS["rows"], {"count", "seconds", "ratio", "rivals"})
        [plot] = page.plots
        self.assertEqual(plot["texts"][0], "time by elements")
        self.assertIn("time (ms)", plot["texts"])
        self.assertIn("beside: MPI_Allreduce", plot["texts"])
        self.assertEqual((plot["data-series"], plot["marks"]), ("2", 8))
        self.assertEqual(sum("rival" in each and "sample" not in each for each in plot["lines"]), 3)

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
        self.assertEqual((plot["texts"][0], "time (µs)" in plot["texts"]), ("time by ranks", True))
        self.assertEqual(lines_of(plot), {"ports 1": 2, "ports 2": 2})
        rows = [{"ranks": p, "bruck_us": 1.0 * p, "tree_us": 2.0 * p, "rounds": 7} for p in (2, 4)]
        [plot] = self.report({"study": "butterfly", "rows": rows}).plots
        self.assertEqual((plot["texts"][0], "time (µs)" in plot["texts"]), ("time by ranks", True))
        self.assertEqual(lines_of(plot), {"bruck": 1, "tree": 1})

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
        self.assertIn("ratio to the rival by elements", plot["texts"])
        self.assertIn("rival", plot["texts"])

    def test_what_cannot_be_compared_has_a_plot_of_its_own(self):
        rows = [{**each, "type": name} for each in BENCH["rows"] for name in ("f64", "f32")]
        self.assertEqual([plot["texts"][0] for plot in self.report({**BENCH, "rows": rows}).plots],
                         [f"time per element by elements: type {name}" for name in ("f64", "f32")])  # fmt: skip

    def test_studies(self):
        page = self.report(STUDY)
        self.expect_rows(page, STUDY["rows"][:3], {"ranks", "seconds"})
        self.expect_rows(page, STUDY["rows"][3:], {"ranks", "nodes"})
        self.assertEqual([plot["texts"][0] for plot in page.plots], ["time by ranks", "nodes of the tree by ranks"])
        for text in ("Study thesis of [S0]", "a part that takes long", "S0", "time", "nodes"):
            self.assertTrue(any(text in each for each in page.texts), text)

    def test_verify(self):
        page = self.report(VERIFY, {**VERIFY, "identical": False})
        self.expect_rows(page, VERIFY["rows"], {"ranks"})
        self.assertEqual([table[0] for table in page.tables if table[0][0] == "identical"], [["identical", "true"], ["identical", "false"]])
        self.assertEqual(page.plots, [])

    def test_several_files_and_lines(self):
        lines = json.dumps(BENCH) + "\n\n" + json.dumps(VERIFY) + "\r\n"
        page = self.report(lines, json.dumps(STUDY, indent=2))
        for place in ("results0.json, line 1", "results0.json, line 3", "results1.json"):
            self.assertEqual([each[:6] for each in page.texts if each.rstrip(")").endswith(place)], [f"({self.folder}"[:6], "From /"])
        for heading in ("Cost of sums in one process", "The bits of a sum", "Study thesis of [S0]"):
            self.assertEqual(page.texts.count(heading), 2)  # in the contents and above each

    def test_rows_with_other_fields_have_a_table_of_their_own(self):
        rows = [{"ranks": 1, "messages": 2}, {"ranks": 2, "messages": 4}, {"ranks": 3, "rounds": 1}]
        page = self.report({"study": "s", "rows": rows})
        self.expect_rows(page, rows[:2], {"messages"})
        self.expect_rows(page, rows[2:], {"rounds"})

    def test_few_rows(self):
        self.assertIn("The results have no rows.", self.report({"study": "s", "rows": []}).texts)
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
        self.assertIn(f"From {path}", self.page(run("report", path)).texts)

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
        self.fault("hello", "line 1 is not JSON")
        self.fault('{"identical": true,\n"rows": [\n{"ranks": 1,]}\n', "line 3 is not JSON")
        self.fault(json.dumps(VERIFY) + "\n" + json.dumps(VERIFY)[:-1] + "\n", "line 2 is not JSON")
        self.fault(json.dumps(VERIFY) + "\n\nnonsense\n", "line 3 is not JSON")
        self.fault(json.dumps(VERIFY)[:-5], "line 1 is not JSON")
        self.fault(b'{"identical": true, "rows": [{"x": "\xff"}]}', "line 1 is not JSON")
        self.fault('{"identical": true, "rows": [{"x": NaN}]}', "line 1 is not JSON")
        self.fault('{"identical": true, "rows": [{"x": 1e999}]}', "larger than any double")
        self.fault('{"identical": true, "rows": [{"x": ' + 100000 * "[" + 100000 * "]" + "}]}", "nested more than 32")

    def test_unknown_shapes(self):
        self.fault("[1, 2]", "not a JSON object", "bench, study or verify")
        self.fault("3", "not a JSON object")
        self.fault('{"rows": []}', '"environment"', '"study"', '"identical"')
        self.fault('{"identical": true}', 'no array "rows"')
        self.fault('{"identical": true, "rows": {}}', 'no array "rows"')
        self.fault('{"identical": true, "rows": [1]}', 'no array "rows"')
        self.fault('{"environment": 1, "rows": []}', '"environment"')
        self.fault(json.dumps({"environment": {}, "contests": []}), 'no array "rows"')  # as --raw writes
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
