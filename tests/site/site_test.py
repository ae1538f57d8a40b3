"""The site that was built is whole: links and anchors lead somewhere, every public name has a place in the reference, every
schedule a page, search finds what is asked, texts can be read in light and dark, and nothing comes from elsewhere."""

import fnmatch
import json
import re
import subprocess
import sys
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from py_mini_racer import MiniRacer

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build/site"
sys.path[:0] = [str(ROOT / "tests/structure"), str(ROOT / "docs/site")]

from markdown import BEGIN_OF_TABS, replace_tabs, tab_set, without_code  # noqa: E402
import contrast  # noqa: E402
from reached import code, functions, public_names  # noqa: E402
from reference import completed, with_links  # noqa: E402

QUESTION = re.compile(r"^\*\*\[(.*?)\]\((\S+)\.md\)\*\*$", re.MULTILINE)  # of docs/questions.md, with its page
# What readers type besides the questions, and a page that should be among the first five that they find; for a function the first.
SEARCHES = {
    "exact dot product cost": "how_to/dot_product",
    "rank dies": "how_to/failures",
    "cite": "how_to/cite",
    "windows": "how_to/platforms",
    "macos": "how_to/platforms",
    "tested": "how_to/tested",
    "restart": "how_to/restart",
    "gpu": "how_to/gpus",
    "raxml": "how_to/raxml_ng",
    "replace MPI_Allreduce": "how_to/replace_allreduce",
    "compiler flags": "how_to/compiler_flags",
    "install python": "install",
    "ring": "schedules/ring",
    "group by label": "*#*sum-by",
}
FUNCTIONS = {
    "sum": "reference/cxx/*#sum",
    "mean": "reference/*#mean",
    "fortran sum": "reference/fortran/*#sf-sum",
    "sf_reduce": "reference/c/*#sf-reduce*",
    "steadfold doctor": "reference/command#steadfold-doctor",
}


class Page(HTMLParser):
    """What a page has: links, anchors, and what it loads."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.links, self.anchors, self.loads = [], set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        self.anchors.add(given.get("id") or given.get("name"))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag in ("img", "script", "iframe") and given.get("src"):
            self.loads.append(given["src"])
        elif tag == "link" and "stylesheet" in given.get("rel", ""):
            self.loads.append(given["href"])


def words(text):
    """Without what differs between a heading and its source: signs, and how quotation marks look."""
    return " ".join(re.findall(r"\w+", text.lower().replace("'", "").replace("\u2019", "")))


def text_of(cell):
    """What a cell of a notebook printed."""
    pieces = [output.get("text") or output.get("data", {}).get("text/plain", []) for output in cell["outputs"]]
    return "".join("".join(piece) for piece in pieces)


def target_of(path, link):
    """The file and anchor that a link of a page leads to; None if it leaves the site."""
    parts = urlsplit(link)
    if parts.scheme or link.startswith("//"):
        return None
    return ((path.parent / unquote(parts.path)).resolve() if parts.path else path), unquote(parts.fragment)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = {path: Page(path) for path in SITE.rglob("*.html")}

    def test_links_and_anchors_lead_somewhere(self):
        faults, count = [], 0
        for path, page in self.pages.items():
            for link in page.links + page.loads:
                found = target_of(path, link)
                if not found:
                    continue
                count += 1
                file, anchor = found
                if not file.exists():
                    faults.append(f"{path.relative_to(SITE)}: {link} (there is no such file)")
                elif anchor and file in self.pages and anchor not in self.pages[file].anchors and link != "#":
                    faults.append(f"{path.relative_to(SITE)}: {link} (there is no such anchor)")
        self.assertGreater(count, 10_000)
        self.assertFalse(faults, "\n" + "\n".join(sorted(set(faults))[:50]))

    def test_nothing_is_loaded_from_elsewhere(self):
        for path, page in self.pages.items():
            for link in page.loads:
                self.assertTrue(target_of(path, link), f"{path.relative_to(SITE)} loads {link}")
        loads = re.compile(
            r"""<(?:script|img|iframe|source)[^>]*\ssrc=["'](?:https?:)?//[^"']*|"""
            r"""<link[^>]*\srel=["']?(?:stylesheet|preload|icon)[^>]*href=["'](?:https?:)?//[^"']*|"""
            r"""(?:url\(|@import )\s*["']?(?:https?:)?//[^"')]*"""
        )
        for path in SITE.rglob("*"):
            if path.suffix in (".html", ".css", ".svg"):
                self.assertEqual(loads.findall(path.read_text()), [], path.relative_to(SITE))

    def reference(self, language):
        return "\n".join(path.read_text() for path in sorted((SITE / "reference" / language).glob("*.md")))

    def test_every_public_name_is_in_the_reference(self):
        text = re.sub(r'^\s*#.*$|"(?:\\.|[^"\\])*"', "", code("include/steadfold/*.hpp"), flags=re.MULTILINE)
        declared = set(
            re.findall(r"\w+", " ".join(re.findall(r"^```cpp\n(.*?)^```$", self.reference("cxx"), re.MULTILINE | re.DOTALL)))
        )
        self.assertEqual(sorted(public_names(text) - declared - {"describe"}), [])
        declared = set(re.findall(r"\w+", " ".join(re.findall(r"^## (.*)$", self.reference("c"), re.MULTILINE))))
        self.assertEqual(sorted(set(functions()) - declared), [])
        module = "".join((ROOT / "fortran" / name).read_text() for name in ("steadfold.f90", "steadfold_operations.inc"))
        names = {name for line in re.findall(r"public :: ((?:[^\n&]*&\n)*[^\n]*)", module) for name in re.findall(r"\w+", line)}
        declared = set(re.findall(r"\w+", " ".join(re.findall(r"^## (.*)$", self.reference("fortran"), re.MULTILINE))))
        self.assertGreater(len(names), 100)
        self.assertEqual(sorted(names - declared), [])

    def test_every_comment_of_cxx_is_in_the_reference(self):
        """Comments on what is public: before a function of namespace steadfold, or a type of it."""
        said = words(re.sub(r"\]\([^)]*\)", "", self.reference("cxx")))
        count = 0
        for path in sorted((ROOT / "include/steadfold").glob("*.hpp")):
            text = re.sub(
                r"^namespace (?:steadfold::)?detail \{.*?^\}  // namespace (?:steadfold::)?detail$",
                "",
                path.read_text(),
                flags=re.MULTILINE | re.DOTALL,
            )
            for comment in re.findall(
                r"^((?:///(?!<).*\n)+)(?!///|(?:template <.*>\n)?(?:class|struct) \w+;|namespace)", text, re.MULTILINE
            ):
                first = words(re.sub(r"^///", "", comment, flags=re.MULTILINE))
                self.assertTrue(first[:60] in said, f"{path.name}: {comment}")
                count += 1
        self.assertGreater(count, 90)

    def test_calls_lead_to_entries_with_examples(self):
        """In the tables of docs/calls.md every name is a link; there are names of all languages."""
        rows = [row.split(" | ") for row in (SITE / "calls.md").read_text().splitlines() if "](reference/" in row]
        self.assertGreater(len(rows), 40)
        by_language = dict(zip(("cxx", "c", "fortran", "python"), zip(*(row[1:] for row in rows if len(row) == 5))))
        for language, cells in {**by_language, "command": [row[1] for row in rows if len(row) == 2]}.items():
            names = [name for cell in cells for name in re.findall(r"`[^`]+`", cell)]
            links = [link for cell in cells for link in re.findall(rf"`\]\(reference/{language}[/.]\S+\)", cell)]
            self.assertEqual(len(names), len(links), language)
            self.assertGreaterEqual(len(links), 4, language)

    def test_pages_of_the_reference_are_light(self):
        for path in (SITE / "reference").rglob("*.md"):
            text = path.read_text()
            self.assertLess(len(text.splitlines()), 3000, path.name)
            headings = re.findall(r"^##+ (.*)$", text, re.MULTILINE)
            self.assertEqual(len(headings), len(set(headings)), f"{path.name} has two entries with one anchor")

    def test_the_reference_refuses_what_is_not_documented(self):
        page = "reference/cxx/some.md"
        with self.assertRaisesRegex(SystemExit, "some.md#twice has no sentence"):
            completed(ROOT, "python", {page: "# Some\n\n## twice\n\n```cpp\nint twice(int x);\n```\n"})
        with self.assertRaisesRegex(SystemExit, "an example of sum, which has no entry in cxx"):
            completed(ROOT, "cxx", {page: "# Some\n\n## twice\n\nTwice a number.\n"})
        table = "<!-- calls: -->\n| you want | C++ |\n|---|---|\n| twice | `twice` |\n<!-- end -->\n"
        with self.assertRaisesRegex(SystemExit, "twice .cxx. has no entry"):
            with_links(table, {})
        with self.assertRaisesRegex(SystemExit, "twice .cxx. has no example"):
            with_links(table, {page: "## twice\n\nTwice a number.\n"})
        self.assertIn(f"[`twice`]({page}#twice)", with_links(table, {page: "## twice\n\nTwice.\n\nExample:\n\n```cpp\n```\n"}))

    def test_every_schedule_has_a_page_with_its_picture_and_cost(self):
        listed = subprocess.run(
            [ROOT / "build/release/bin/steadfold", "schedules", "--json"], capture_output=True, text=True, check=True
        )
        rows = json.loads(listed.stdout)["schedules"]
        self.assertGreaterEqual(len(rows), 25)
        overview = (SITE / "schedules.html").read_text()
        for row in rows:
            page = (SITE / f"schedules/{row['name']}.md").read_text()
            self.assertIn(f'href="schedules/{row["name"]}.html"', overview)
            self.assertIn(words(row["sentence"]), words(page))
            self.assertRegex(page, rf"\]\({row['name']}\.svg\)|There is no picture: ")
            self.assertRegex(page, r"\| +bytes \|\n|The command cannot (count|predict)")

    def test_llms_txt_lists_the_pages(self):
        text = (SITE / "llms.txt").read_text()
        self.assertRegex(text, r"\A# Steadfold\n\n> \S")
        entries = re.findall(r"^- \[([^\]]+)\]\(([^)]+)\): (.*)$", text, re.MULTILINE)
        self.assertEqual(len(entries), len(re.findall(r"^- ", text, re.MULTILINE)), "a page without a sentence")
        for title, file, sentence in entries:
            self.assertTrue((SITE / file).exists(), file)
            self.assertTrue(title and sentence, file)
        pages = {str(path.relative_to(SITE)) for path in SITE.rglob("*.md") if "source" not in path.relative_to(SITE).parts}
        self.assertEqual(pages - {file for _, file, _ in entries}, {"index.md"})

    def test_notebooks_keep_what_they_print(self):
        """Pictures apart, and cells whose tag says that the processor decides."""
        count = 0
        for path in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
            books = [json.loads(each.read_text()) for each in (path, ROOT / "build/jupyter_execute/notebooks" / path.name)]
            for kept, executed in zip(*(book["cells"] for book in books), strict=True):
                if kept["cell_type"] != "code" or "varies" in kept["metadata"].get("tags", []):
                    continue
                advice = f"{path.name}, {kept['id']}: after a change run python3 docs/notebooks/keep.py"
                self.assertEqual(text_of(kept), text_of(executed), advice)
                count += bool(text_of(kept))
            self.assertIn("image/png", json.dumps(books[0]), path.name)
        self.assertGreater(count, 8)

    def search(self):
        """A function: what the page finds, as "page#anchor". It runs the page's own script."""
        engine = MiniRacer()
        for name in ("search_index.js", "_static/search.js"):
            engine.eval((SITE / name).read_text())
        engine.eval("var entries = prepared(SEARCH_INDEX)")
        places = "find(entries, {}, 5).map(entry => `${{entry.page}}#${{entry.anchor}}`).join(' ')"
        return engine, lambda query: engine.eval(places.format(json.dumps(query))).split()

    def test_search_finds_what_is_asked(self):
        _, found = self.search()
        titles = QUESTION.findall((SITE / "questions.md").read_text())
        self.assertGreaterEqual(len(titles), 15)
        for query, page in (*SEARCHES.items(), *titles):
            self.assertTrue(fnmatch.filter(found(query), page if "#" in page else f"{page}#*"), (query, found(query)))
        for query, function in FUNCTIONS.items():
            self.assertTrue(fnmatch.fnmatchcase(found(query)[0], function), (query, found(query)))
        self.assertEqual(found("xyzzy"), [])

    def test_search_needs_no_server_and_shows_excerpts(self):
        """The index is a script, which pages read from a disk load too. What it leads to is there."""
        page = (SITE / "search.html").read_text()
        self.assertIn('src="search_index.js"', page)
        self.assertNotRegex((SITE / "_static/search.js").read_text(), r"\bfetch\(|XMLHttpRequest|import\(")
        engine, _ = self.search()
        excerpt = engine.eval("excerptOf(find(entries, 'rank dies')[0], 'rank dies')")
        self.assertRegex(excerpt, r"\brank\b")
        self.assertLess(len(excerpt), 230)
        places = json.loads(engine.eval("JSON.stringify(entries.map(entry => [entry.page, entry.anchor]))"))
        self.assertGreater(len(places), 800)
        for name, anchor in places:
            file = SITE / f"{name}.html"
            self.assertTrue(file in self.pages and (not anchor or anchor in self.pages[file].anchors), (name, anchor))

    def test_texts_stand_off_from_their_ground(self):
        """Also in the dark."""
        self.assertEqual(len(contrast.faults([("grey", "#888888", "#ffffff"), ("black", "#000", "#fff")])), 1)
        sheets = [(SITE / "_static" / name).read_text() for name in ("styles/furo.css", "site.css")]
        grounds = [contrast.variables(sheets, is_dark)["--ground-of-code"] for is_dark in (False, True)]
        of_code = [*contrast.of_code((SITE / "_static/pygments.css").read_text(), grounds)]
        self.assertGreater(len(of_code), 50)
        pairs = of_code + [*contrast.of_page(sheets, False), *contrast.of_page(sheets, True)]
        for picture in sorted((SITE / "_images").glob("*.svg")):
            pairs += [(f"{picture.name}: {what}", *rest) for what, *rest in contrast.of_picture(picture.read_text())]
        self.assertGreater(len(pairs), 1000)
        faults = sorted(set(contrast.faults(pairs)))
        self.assertFalse(faults, "\n" + "\n".join(faults))

    def test_pictures_fit_and_follow_the_page(self):
        """A picture that is wide is drawn in bands; none turns dark by itself, because the page's switch does that."""
        for picture in sorted((SITE / "_images").glob("*.svg")):
            text = picture.read_text()
            width = float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1])
            self.assertLessEqual(width, 1000, picture.name)
            self.assertNotIn("prefers-color-scheme", text, picture.name)
        for picture in (*ROOT.glob("docs/*.svg"), *ROOT.glob("docs/plots/*.svg")):
            self.assertIn("prefers-color-scheme", picture.read_text(), picture.name)


class Tabs(unittest.TestCase):
    def test_tabs_hold_what_follows_their_language(self):
        text = (
            "before\n\n<!-- tabs -->\n**C++**\n\n```cpp\n**C**\n```\n**Fortran**\n\nwords, **not a tab**\n"
            "<!-- end of tabs -->\n\nafter\n\n```\n<!-- tabs -->\n```\n"
        )
        made = replace_tabs("page.md", text, tab_set)
        self.assertEqual(re.findall(r"^`+\{tab-item\} (.*)\n:sync: \1$", made, re.MULTILINE), ["C++", "Fortran"])
        self.assertLess(made.index("```cpp\n**C**\n```"), made.index("{tab-item} Fortran"))
        self.assertTrue(made.startswith("before\n\n") and made.endswith("\n\nafter\n\n```\n<!-- tabs -->\n```\n"))

    def test_malformed_tabs_are_refused(self):
        for text, why in (
            ("{}**C**\n\na\n", "page.md:1: tabs that are not ended"),
            ("{}**C**\n\na\n{}", "page.md:5: tabs within tabs"),
            ("**C**\n\na\n<!-- end of tabs -->\n", "page.md:4: an end without tabs"),
            ("{}a\n<!-- end of tabs -->\n", "without a language"),
            ("{}a\n**C**\n\nb\n<!-- end of tabs -->\n", "without a language"),
            ("{}**C**\n\n**Python**\n\na\n<!-- end of tabs -->\n", "tab C is empty"),
            ("{}**C**\n\na\n**C**\n\nb\n<!-- end of tabs -->\n", "tab C is .* there twice"),
            ("{}**C**\n\n## a\n<!-- end of tabs -->\n", "a heading within tabs"),
        ):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, why):
                replace_tabs("page.md", text.replace("{}", BEGIN_OF_TABS + "\n"), tab_set)

    def test_every_set_of_tabs_is_one_on_the_site(self):
        for path in SITE.rglob("*.md"):
            sets = len(re.findall(f"^{BEGIN_OF_TABS}$", without_code(path.read_text()), re.MULTILINE))
            html = path.with_suffix(".html").read_text()
            self.assertEqual(html.count('class="sd-tab-set'), sets, path.relative_to(SITE))


def setUpModule():
    if not (SITE / "index.html").exists():
        raise SystemExit("there is no build/site/index.html (the site is not built), run ./dev site")


if __name__ == "__main__":
    unittest.main()
