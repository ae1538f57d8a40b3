"""Every name of the C interface has a manual page, made from the headers: none of their words is lost, links lead
somewhere, and what shows manual pages has nothing to say against them."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "include/steadfold").glob("*.h"))
LIBRARIES = [Path(name) for name in os.environ["STEADFOLD_LIBRARIES"].split(":")]
VERSION = "1.2.3"
OF_THE_BUILD = {"sf_layer_table"}  # src/capi/layer.hpp: what the libraries over MPI ask libsteadfold for


def words(text):
    return " ".join(text.split())


def without_code(header):
    """A header without function bodies, and without what only compilers read: conditions."""
    text = re.sub(r"\)\s*\{(?:[^\n]*\}$|.*?^\})", ");", header.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^#\s*(?:el)?if.*$", "", text, flags=re.MULTILINE)


def comments_of(header):
    for comment in re.findall(r"/\*.*?\*/", without_code(header), re.DOTALL):
        yield words(re.sub(r"^ \*", "", comment[2:-2], flags=re.MULTILINE).replace("`", ""))


def shown(source):
    """A page's words, as somebody reads them."""
    text = "\n".join(line for line in source.splitlines() if not re.match(r"\.(TH|SH|SS|[A-Z]{2}\b)|\.in", line))
    for code, plain in (("\\&", ""), ("\\-", "-"), ("\\e", "\\")):
        text = text.replace(code, plain)
    return words(re.sub(r"\\f[BIR]", "", text))


def bare(text):
    """Without what tells functions from other words."""
    return re.sub(r"\b(sf_\w+)(?:\(3\)|\(\))", r"\1", text)


class ManPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = Path(tempfile.mkdtemp(prefix="steadfold-"))
        cls.addClassCleanup(shutil.rmtree, cls.room)
        cls.sources = cls.made_of(cls.room / "man3", HEADERS)

    @staticmethod
    def made_of(directory, headers):
        generator = [sys.executable, "-B", ROOT / "docs/man_pages.py"]
        subprocess.run([*generator, VERSION, directory, *headers], check=True)
        return {path.stem: path.read_text() for path in directory.glob("*.3")}

    def page(self, name):
        self.assertIn(name, self.sources, "there is no such page")
        source = self.sources[name]
        if link := re.fullmatch(r"\.so man3/(\w+)\.3\n", source):
            return self.sources[link[1]]
        return source

    def section(self, name, title):
        found = re.search(rf"^\.SH {title}\n(.*?)(?=^\.SH |\Z)", self.page(name), re.MULTILINE | re.DOTALL)
        self.assertTrue(found, f"{name} has no section {title}")
        return found[1]

    def expect_page(self, name):
        named, about = self.section(name, "NAME").strip().split(" \\- ")
        self.assertIn(name, named.split(", "))
        self.assertGreater(len(about), 3)
        self.assertRegex(self.section(name, "SYNOPSIS"), r"#include <steadfold/\w+\.h>")
        self.assertGreater(len(shown(self.section(name, "DESCRIPTION"))), 5, name)
        self.assertIn(f'"Steadfold {VERSION}"', self.page(name))

    def test_every_exported_function_has_a_page(self):
        exported = {line.split()[-1].split("@")[0] for library in LIBRARIES for line in subprocess.run(
            ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()}
        exported = {name for name in exported - OF_THE_BUILD if name.startswith("sf_") and "_compiled_with_" not in name}
        self.assertGreater(len(exported), 50)
        front = shown(self.section("steadfold", "FUNCTIONS"))
        for name in sorted(exported):
            with self.subTest(name=name):
                self.expect_page(name)
                self.assertRegex(shown(self.section(name, "SYNOPSIS")), rf"\b{name}\(.*?\);")
                self.assertIn(f"{name}(3)", front)

    def test_every_type_and_constant_has_a_page(self):
        count = 0
        for header in HEADERS:
            text = re.sub(r"/\*.*?\*/", "", without_code(header), flags=re.DOTALL)
            typedef = re.compile(r"^typedef (struct|enum) \w+ \{(.*?)\} (\w+);", re.MULTILINE | re.DOTALL)
            for kind, body, name in typedef.findall(text):
                self.expect_page(name)
                tags = shown(self.section(name, "DESCRIPTION"))
                for member in filter(None, map(words, re.split("[;,]" if kind == "enum" else ";", body))):
                    self.assertIn(member, tags, name)
                    self.assertIn(member, shown(self.section(name, "SYNOPSIS")), name)
                    count += 1
            for name in re.findall(r"^typedef struct \w+ (\w+);|^#define (SF_\w+) [(\w]", text, re.MULTILINE):
                if "".join(name) != "SF_MPI_LINK":
                    self.expect_page("".join(name))
                    count += 1
        self.assertGreater(count, 100)

    def test_no_comment_is_lost(self):
        count = 0
        for header in HEADERS:
            said = bare(" | ".join(shown(source) for source in self.sources.values()
                                   if f"#include <steadfold/{header.name}>" in source.replace("\\-", "-")))
            for comment in comments_of(header):
                self.assertIn(bare(comment), said, header.name)
                count += 1
        self.assertGreater(count, 150)

    def test_words_are_no_commands(self):
        header = self.room / "steadfold_odd.h"
        header.write_text("/* Odd things. */\n\n/* .5 is no `\\n`, -1 - 2\n *\n * 'tis odd. */\nint sf_odd(int x);\n")
        source = self.made_of(self.room / "odd", [header])["sf_odd"]
        self.assertIn("\n.PP\n\\&.5 is no \\fB\\en\\fR, \\-1 \\- 2\n.PP\n\\&'tis odd.\n", source)

    def test_statuses_are_listed(self):
        listed = shown(self.section("sf_plan_run", "RETURN VALUE"))
        text = (ROOT / "include/steadfold/steadfold_enumerations.h").read_text()
        enum = re.search(r"enum sf_status \{(.*?)\} sf_status;", text, re.DOTALL)[1]
        statuses = re.findall(r"^  (SF_\w+) =", enum, re.MULTILINE)
        self.assertGreater(len(statuses), 8)
        for status in statuses:
            self.assertIn(status, listed)
        self.assertRegex(listed, r"SF_EMPTY(?: = 1)?\s+nothing to reduce")
        self.assertNotIn("SH RETURN VALUE", self.page("sf_version"))

    def test_links_lead_somewhere(self):
        count = 0
        for name, source in self.sources.items():
            for other in re.findall(r"^\.so man3/(\w+)\.3$|^\.BR (\w+) \(3\)|\\fB(\w+)\\fR\(3\)", source, re.MULTILINE):
                self.assertTrue("".join(other) in self.sources, f"{name} names {other}, which has no page")
                count += 1
        self.assertGreater(count, 300)

    def test_what_shows_them_has_no_warning(self):
        checks = [words for words in (["groff", "-man", "-Tutf8", "-ww", "-z"], ["mandoc", "-Tlint", "-Werror"])
                  if shutil.which(words[0])]
        if not checks:
            print("manual pages are not tried (neither groff nor mandoc is found), install groff-base")
        for check in checks:
            pages = [f"man3/{name}.3" for name in sorted(self.sources)]
            done = subprocess.run([*check, *pages], cwd=self.room, capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
