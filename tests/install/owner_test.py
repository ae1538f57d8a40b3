"""What only the owner can say, packaging/owner.toml, stands in the files that packaging/owner.py names, no address is
invented, and nothing is published while a value is empty."""

import ast
import importlib.util
import json
import re
import shutil
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path += [str(SOURCE / "packaging"), str(SOURCE / "tests" / "support")]
import owner  # noqa: E402
from commands import output, run  # noqa: E402

REPOSITORY, CONTACT, DOI = "https://code.test/group/steadfold", "reports@code.test", "10.12345/steadfold.1"
FILLED = f"""repository = "{REPOSITORY}"
contact = "{CONTACT}"
doi = "{DOI}"
authors = [{{ given = "Ada", family = "Lovelace", orcid = "0000-0000-0000-000X", affiliation = "A: B" }},
           {{ given = "Émilie", family = "du Châtelet" }}]
"""
# Where each value must stand once it is set.
CITED = ["CITATION.cff", "SUPPORT.md"]
PACKAGES = ["CITATION.cff", "pyproject.toml", "cmake/SteadfoldPackage.cmake", "packaging/debian/control"]
PLACES = {
    REPOSITORY: [*PACKAGES, "packaging/conda/recipe.yaml", "packaging/spack/package.py",
                 ".github/ISSUE_TEMPLATE/config.yml", "SUPPORT.md", "docs/install.md"],
    CONTACT: [*PACKAGES, *owner.MAINTAINED, "SECURITY.md", "SUPPORT.md", "CODE_OF_CONDUCT.md"],
    DOI: CITED,
    "Lovelace": [*CITED, "pyproject.toml"],
    "du Châtelet": [*CITED, "pyproject.toml"],
}  # fmt: skip
WITH_VALUES = {*owner.FILES, *owner.MAINTAINED} - {"docs/policies.md"}  # which tells the values' names
# Hosts that nobody can have, and a mailbox that nobody reads.
INVENTED = re.compile(r"@[\w.-]*\.(?:invalid|example)\b|steadfold\.invalid|\bexample\.(?:com|org|net)\b|\bmaintainers@")
NOT_SET = re.compile(r"not set: |<not set>|\*\*not set\*\*|ADDRESS")


class Owner(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A copy of what owner.py and release.py read, committed, with every value set; and one that is as it is."""
        cls.room = Path(tempfile.mkdtemp(prefix="steadfold-"))
        cls.addClassCleanup(shutil.rmtree, cls.room)
        cls.empty, cls.filled = cls.copy("empty"), cls.copy("filled")
        (cls.empty / owner.FILE).write_text("".join(f'{name} = ""\n' for name in owner.LOOKS) + "authors = []\n")
        (cls.filled / owner.FILE).write_text(FILLED)
        for place in (cls.empty, cls.filled):
            output(sys.executable, "-B", place / "packaging/owner.py", "write")
            cls.commit(place)

    @classmethod
    def copy(cls, name):
        place = cls.room / name
        for folder in ("packaging", "docs", ".github"):
            shutil.copytree(SOURCE / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
        for file in {*owner.FILES, "CMakeLists.txt", "dev", "scripts/setup.sh", *(path.name for path in SOURCE.glob("*.md"))}:
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / file, place / file)
        (place / ".gitignore").write_text("/build/\n__pycache__/\n")
        return place

    @classmethod
    def commit(cls, place):
        git = ("git", "-C", place, "-c", "user.name=test", "-c", "user.email=test@localhost")
        output("git", "init", "-q", place)
        output(*git, "add", "--all")
        output(*git, "commit", "-q", "-m", "all")

    def run_in(self, place, script, *words):
        return run(sys.executable, "-B", place / "packaging" / script, *words)

    def expect_refused(self, done, *texts):
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        for line in done.stderr.splitlines():
            self.assertRegex(line, r"^.+ \(.+\), .+$", "no error as the house writes them")

    def text(self, place, name):
        return (place / name).read_text()

    def test_files_are_as_the_values_say(self):
        done = run(sys.executable, "-B", SOURCE / "packaging/owner.py", "check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_address_is_invented(self):
        for name in output("git", "-C", SOURCE, "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
            path = SOURCE / name
            if path.is_file() and path != Path(__file__).resolve():
                found = INVENTED.findall(path.read_bytes().decode(errors="ignore"))
                self.assertEqual(found, [], f"{name} has an address that nobody has")

    def test_values_stand_where_they_are_needed(self):
        for value, names in PLACES.items():
            for name in names:
                self.assertIn(value, self.text(self.filled, name), name)
        self.assertEqual({name for names in PLACES.values() for name in names}, WITH_VALUES)
        for name in WITH_VALUES:
            self.assertNotRegex(self.text(self.filled, name), NOT_SET, name)
        self.assertIn("Not set: none.", self.text(self.filled, "docs/policies.md"))

    def test_empty_values_are_not_set_or_left_out(self):
        for name in WITH_VALUES:
            self.assertRegex(self.text(self.empty, name), NOT_SET, name)
        self.assertIn("Set today: none.", self.text(self.empty, "docs/policies.md"))

    def test_formats_are_kept(self):
        project = tomllib.loads(self.text(self.filled, "pyproject.toml"))["project"]
        self.assertEqual(project["authors"], [{"name": "Ada Lovelace"}, {"name": "Émilie du Châtelet"}])
        self.assertEqual(project["maintainers"], [{"name": owner.EVERYBODY, "email": CONTACT}])
        self.assertEqual(project["urls"]["Repository"], REPOSITORY)
        project = tomllib.loads(self.text(self.empty, "pyproject.toml"))["project"]
        self.assertEqual((project["authors"], project["urls"]), ([{"name": owner.EVERYBODY}], {}))
        for place in (self.filled, self.empty):
            ast.parse(self.text(place, "packaging/spack/package.py"))
            changelog = self.text(place, "packaging/debian/changelog")
            self.assertRegex(changelog, rf"(?m)^ -- {owner.EVERYBODY} <[^<>]+>  \w{{3}}, \d\d \w{{3}} \d{{4}} ")
            self.assertRegex(self.text(place, "packaging/debian/control"), rf"(?m)^Maintainer: {owner.EVERYBODY} <[^<>]+>$")

    if importlib.util.find_spec("yaml"):

        def test_yaml_is_kept(self):
            citation = self.yaml(self.filled, "CITATION.cff")
            orcid = "https://orcid.org/0000-0000-0000-000X"
            first = {"given-names": "Ada", "family-names": "Lovelace", "orcid": orcid, "affiliation": "A: B"}
            self.assertEqual(citation["authors"][0], first)
            self.assertEqual((citation["doi"], citation["contact"][0]["email"]), (DOI, CONTACT))
            self.assertEqual(self.yaml(self.empty, "CITATION.cff")["authors"], [{"name": owner.EVERYBODY}])
            self.assertEqual(self.yaml(self.empty, ".github/ISSUE_TEMPLATE/config.yml"), {"blank_issues_enabled": True})
            for link in self.yaml(self.filled, ".github/ISSUE_TEMPLATE/config.yml")["contact_links"]:
                self.assertEqual(link.keys(), {"name", "url", "about"})

        def test_forms_are_whole(self):
            forms = [path for path in SOURCE.glob(".github/ISSUE_TEMPLATE/*.yml") if path.name != "config.yml"]
            self.assertEqual(len(forms), 3)
            for path in forms:
                form = self.yaml(SOURCE, path)
                self.assertEqual(form.keys(), {"name", "description", "title", "labels", "body"}, path.name)
                fields = [part for part in form["body"] if part["type"] != "markdown"]
                self.assertTrue(all(part["id"] and part["attributes"]["label"] for part in fields), path.name)
                self.assertTrue(any(part.get("validations", {}).get("required") for part in fields), path.name)

        def yaml(self, place, name):
            import yaml

            return yaml.safe_load(self.text(place, name))

    def test_a_part_that_was_edited_is_told_and_written_again(self):
        place = self.copy("edited")
        page = place / "SUPPORT.md"
        page.write_text(page.read_text().replace("<!-- owner: contact -->\n", "<!-- owner: contact -->\nask somebody\n"))
        self.expect_refused(self.run_in(place, "owner.py", "check"), "SUPPORT.md is not what packaging/owner.toml says")
        self.assertEqual(self.run_in(place, "owner.py", "write").stdout, "SUPPORT.md\n")
        self.assertEqual(page.read_text(), self.text(SOURCE, "SUPPORT.md"))
        page.write_text("no part")
        self.expect_refused(self.run_in(place, "owner.py", "check"), "SUPPORT.md has no part")

    def test_unusable_values_are_refused(self):
        place = self.copy("wrong")
        wrong = {
            "repository": ['"http://code.test/x"', '"https://code.test/x/"', "1"],
            "contact": ['"somebody"', '"a@b.c, d@e.f"'],
            "doi": [f'"https://doi.org/{DOI}"', "="],
            "authors": ['["Ada"]', '[{ given = "Ada" }]', '[{ given = "Ada", family = "Lovelace", orcid = "1" }]'],
            "phone": ['"1"'],
        }
        for name, value in ((name, value) for name, several in wrong.items() for value in several):
            values = {**{each: '""' for each in owner.LOOKS}, "authors": "[]", name: value}
            (place / owner.FILE).write_text("".join(f"{key} = {text}\n" for key, text in values.items()))
            with self.subTest(name=name, value=value):
                self.expect_refused(self.run_in(place, "owner.py", "check"), "packaging/owner.toml")

    def test_nothing_is_published_while_a_value_is_empty(self):
        told = "not set in packaging/owner.toml: repository, contact, doi, authors"
        self.expect_refused(self.run_in(self.empty, "owner.py", "publishable"), told)
        self.expect_refused(self.run_in(self.empty, "release.py", "--publish", "source"), told)
        self.expect_refused(run(self.empty / "dev", "release", "--publish", "source"), told)
        self.assertFalse((self.empty / "build/dist").exists())
        done = self.run_in(self.empty, "release.py", "source")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(told, done.stdout)

    def test_one_empty_value_is_enough(self):
        place = self.copy("one")
        for name in owner.VALUES:
            values = {**tomllib.loads(FILLED), name: "" if name in owner.LOOKS else []}
            lines = [f"{key} = {json.dumps(values[key])}\n" for key in owner.LOOKS]
            people = "[]" if name == "authors" else '[{ given = "Ada", family = "Lovelace" }]'
            (place / owner.FILE).write_text("".join(lines) + f"authors = {people}\n")
            output(sys.executable, "-B", place / "packaging/owner.py", "write")
            done = self.run_in(place, "owner.py", "publishable")
            self.expect_refused(done, f"not set in packaging/owner.toml: {name} (")

    def test_what_is_filled_committed_and_dated_may_be_published(self):
        place = self.room / "dated"
        shutil.copytree(self.filled, place)
        version = re.search(r"project\(Steadfold VERSION ([0-9.]+)", self.text(SOURCE, "CMakeLists.txt"))[1]
        signed = f"\n\n -- {owner.EVERYBODY} <{CONTACT}>  Fri\n"
        files = {"CHANGELOG.md": f"# Releases\n\n## {version} (not released)\n",
                 "packaging/debian/changelog": f"steadfold ({version}-1) UNRELEASED{signed}"}  # fmt: skip
        for name, text in files.items():
            (place / name).write_text(text)
        done = self.run_in(place, "release.py", "--publish", "source")
        self.expect_refused(done, "not everything is committed", *(f"{name} says '" for name in files))
        for name, text in files.items():
            (place / name).write_text(text.replace("(not released)", "(today)").replace("UNRELEASED", "unstable"))
        self.commit(place)
        done = self.run_in(place, "release.py", "--publish", "source")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("not set", done.stdout)
        self.assertTrue((place / f"build/dist/steadfold-{version}-source.tar.gz").exists())


if __name__ == "__main__":
    unittest.main()
