"""Counts habits of writing that make sentences hard to read (CONTRIBUTING.md, "Plain English"), in pages, comments and texts.
Usage:
  prose.py write            records the counts in prose.txt; the test fails if one is higher than recorded
  prose.py list HABIT       prints the sentences that have a habit
  prose.py draw SEED        prints 40 sentences of pages, 40 of comments and docstrings and 20 texts of the program, for readers
"""

import ast
import collections
import io
import itertools
import random
import re
import sys
import tokenize
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_suffix(".txt")
HABITS = {
    "what in place of a noun": r"\b[Ww]hat (?:is|was|are|were|has|have|it|they|its|the|a|an|that|this|does|can|goes|comes|stands|makes"
    r"|remains|follows|others?|no|does|did|we|must|may|is)\b(?![^.]*\?)",
    "those": r"\b[Tt]hose\b",
    "such": r"\b[Ss]uch\b(?! as\b)",
    "other bits": r"\bother bits\b",
    "by a method": r"\bby (?:`(?:tree|exact|binned|plain)`|(?:tree|exact|binned|plain)\b)",
    "one in place of a noun": r"\b(?:that|this|the|an) one\b|\bones\b|\b[Oo]ne that\b",
    "a for per": r"\b(?:each|one|\d+|row|message|byte|bytes|launch|call|calls) (?:a|an) (?:rank|node|row|message|call|element|group|column"
    r"|thread|interval|launch)\b",
    "a sentence that begins with of or there:": r"(?:^|(?<=[.;:] ))(?:Of [a-z]+|There:)",
    "numbers and semicolons": r"\d[^;.]*;[^;.]*\d[^;.]*;[^;.]*\d",
    "after reading": r"\bAfter (?:reading )?this (?:page )?you\b",
    "at their place": r"\bstands? (?:there|here|beside|behind|below|in)\b",
    "of its own": r"\bof (?:its|their|his|one's) own\b",
    "no verb: none, never, not": r"(?:^|(?<=[.;:] ))(?:None|Never|Not)\b[^.]{0,30}\.",
}  # fmt: skip
GROUPS = {  # of files: the folders whose prose is counted together
    "pages": ("README.md", "CONTRIBUTING.md", "SUPPORT.md", "SECURITY.md", "docs"),
    "interfaces": ("include", "fortran", "python", "program"),
    "library": ("src", "interpose"),
    "command": ("tools", "bench"),
    "tests": ("tests", "examples", "surface", "packaging", "cmake"),
    "laboratory": ("lab",),
}
SUFFIXES = {".md", ".cpp", ".hpp", ".h", ".c", ".py", ".f90", ".cmake"}
MADE = re.compile(r"<!-- [^>]*(?:quoted by|made (?:from|by))[^>]*-->.*?<!-- end -->", re.DOTALL)
C_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//([^\n]*)|/\*(.*?)\*/', re.DOTALL)
EXAMPLE = re.compile(r"\n[ *]*\n(?:[ *]*\*   .*\n)+")  # in a comment of several lines
C_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def files_of(group):
    """Also in a source archive, which has no repository."""
    places = [ROOT / name for name in GROUPS[group]]
    files = [path for place in places for path in ([place] if place.is_file() else place.rglob("*"))]
    return sorted(path for path in files if path.suffix in SUFFIXES or path.name == "CMakeLists.txt")


def page_of(text):
    """The prose of a page: a paragraph, an item or a row per part."""
    text = re.sub(r"```.*?```", "\n\n", MADE.sub("\n\n", text), flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*#|]|\d+\.) )|\|", text)]


def joined(comments):
    """The comments. A comment that has its line for itself continues a comment of the line before, if both begin in one column.
    Indented lines after an empty line are an example or a table, and no prose."""
    parts, last, is_example = [], None, False
    for line, column, comment, is_alone in comments:
        continues = is_alone and last == (line - 1, column)
        is_example = is_alone and comment.startswith("   ") and (is_example or not continues)
        if continues and not is_example:
            parts[-1] += " " + comment
        else:
            parts.append("" if is_example else comment)
        last = (line + comment.count("\n"), column)
    return [" ".join(re.sub(r"(?:^|\n) *\*+", " ", part).split()) for part in parts]


def comments_of_c(text):
    found = []
    for match in C_COMMENT.finditer(text):
        if comment := EXAMPLE.sub("\n", match[1] or match[2] or "").lstrip("/<"):
            before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            found.append((text.count("\n", 0, match.start()), len(before), comment, not before.strip()))
    return joined(found)


def comments_of_lines(text, mark):
    lines = [(line, re.search(f"(.*?){mark}+<?\\s(.*)", words)) for line, words in enumerate(text.splitlines())]
    return joined((line, len(found[1]), " " + found[2], not found[1].strip()) for line, found in lines if found)


def comments_of_python(text):
    """A mark in a string begins no comment."""
    tokens = [each for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type == tokenize.COMMENT]
    found = [(each, re.match(r"#+\s(.*)", each.string)) for each in tokens]
    return joined(
        (each.start[0], each.start[1], " " + words[1], not each.line[: each.start[1]].strip()) for each, words in found if words
    )


def docstrings_of(text):
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [ast.get_docstring(node) for node in ast.walk(ast.parse(text)) if isinstance(node, nodes)]
    paragraphs = [part for each in texts if each for part in each.split("\n\n") if not part.lstrip().startswith(">>>")]
    parts = [list(lines) for each in paragraphs for _, lines in itertools.groupby(each.splitlines(), indentation)]
    return [" ".join(" ".join(lines).split()) for lines in parts]


def indentation(line):
    return len(line) - len(line.lstrip())


def prose_of(path):
    text, suffix = path.read_text(errors="replace"), path.suffix
    if suffix == ".md":
        return page_of(text)
    if suffix in (".cpp", ".hpp", ".h", ".c"):
        return comments_of_c(text)
    if suffix == ".py":
        return docstrings_of(text) + comments_of_python(text)
    if suffix == ".f90":
        return comments_of_lines(text, "!")
    if suffix == ".cmake" or path.name == "CMakeLists.txt":
        return comments_of_lines(text, "#")
    return []


def texts_of(path):
    """What the program prints: literals of several words."""
    if path.suffix not in (".cpp", ".hpp", ".c"):
        return []
    code = C_COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else "", path.read_text())
    code = re.sub(r'"\s*\n\s*"', "", code)
    return [text for text in C_TEXT.findall(code) if len(re.findall("[a-z]{2,} ", text)) >= 3]


def sentences_of(parts):
    return [each for part in parts for each in re.split(r"(?<=[.!?:]) (?=[A-Z`])", part) if len(each.split()) >= 4]


def counts():
    """{(group, habit): count} of all habits that there are."""
    found = collections.Counter()
    for group in GROUPS:
        parts = [part for path in files_of(group) for part in prose_of(path) + texts_of(path)]
        for habit, pattern in HABITS.items():
            found[group, habit] = sum(len(re.findall(pattern, part)) for part in parts)
    return found


def recorded():
    rows = (line.split(None, 2) for line in RECORD.read_text().splitlines() if not line.startswith("#"))
    return {(group, habit): int(count) for count, group, habit in rows}


class Prose(unittest.TestCase):
    def test_habits_become_fewer(self):
        most = recorded()
        for (group, habit), count in counts().items():
            with self.subTest(group=group, habit=habit):
                self.assertLessEqual(count, most.get((group, habit), 0),
                                     f"more than before: see prose.py list {habit!r}, and CONTRIBUTING.md, Plain English")  # fmt: skip

    def test_the_words_of_every_kind_of_file_are_seen(self):
        self.assertEqual(page_of("# What is it\n\nOf those `a`.\n```\ncode\n```\n- one\n- two"), ["# What is it", "Of those `a`.", "- one", "- two"])
        self.assertEqual(comments_of_c('int a; // one\n       // two\nauto b = "// no"; /* three */\n// four'), ["one two", "three", "four"])
        self.assertEqual(comments_of_lines("x = 1  # one\n# two\n# three\ny = 2\n# four", "#"), ["one", "two three", "four"])
        self.assertEqual(comments_of_python("x = '# no'  # one\n# two\ny = 2\n# three"), ["one", "two", "three"])
        self.assertEqual(comments_of_c("// one\n//\n//   f(x)\n//   g(x)\n//\n// - two\n//   three"), ["one", "", "", "- two three"])
        self.assertEqual(comments_of_c("/* one\n *\n *   f(x)\n *\n * two */"), ["one two"])
        self.assertEqual(docstrings_of('"""One.\n\nx\n    Two\n    three.\n\n>>> f()\n"""'), ["One.", "x", "Two three."])
        for habit, example in {"those": "of those", "by a method": "sums by `tree`", "such": "such a thing", "a for per": "one a rank",
                               "what in place of a noun": "says what it takes"}.items():  # fmt: skip
            self.assertRegex(example, HABITS[habit])
        self.assertNotRegex("operations such as sums", HABITS["such"])


def write():
    lines = [f"{count:5} {group} {habit}" for (group, habit), count in sorted(counts().items())]
    RECORD.write_text("# How often each habit of prose.py is met; made by prose.py write. May only fall.\n" + "\n".join(lines) + "\n")


def code_at(path, comment):
    """The line of code that a comment belongs to: its own line, or the next line without a comment."""
    words = r"[\s/*!#<]+".join(map(re.escape, comment.split()))
    text = path.read_text(errors="replace")
    found = re.search(words, text)
    if not found:
        return ""
    begin = text.rfind("\n", 0, found.start()) + 1
    lines = (text[begin : found.start()] + text[found.end() :]).splitlines()
    is_code = re.compile(r"\s*[^\s/*!#\"]")
    return next((line.strip() for line in lines if is_code.match(line)), "")


def draw(seed):
    """A comment is shown with its file and its line of code, as its readers see it."""
    chance = random.Random(seed)
    pages = sentences_of(part for path in files_of("pages") for part in prose_of(path))
    code = [path for group in ("interfaces", "library", "command") for path in files_of(group)]
    comments = [(each, path) for path in code if path.suffix != ".md" for each in sentences_of(prose_of(path))]
    texts = [(each, path) for path in code for each in texts_of(path)]
    for title, some, count in (("pages", pages, 40), ("comments and docstrings", comments, 40), ("texts", texts, 20)):
        print(f"# {title}: {count} of {len(some)}")
        for number, each in enumerate(chance.sample(some, count), 1):
            sentence, path = each if isinstance(each, tuple) else (each, None)
            print(f"{number}. {sentence}" + (f"   [{path.relative_to(ROOT)}: {code_at(path, sentence)}]" if path else ""))


def main():
    what, *words = sys.argv[1:]
    if what == "write":
        write()
    elif what == "list":
        for group in GROUPS:
            for path in files_of(group):
                for part in prose_of(path) + texts_of(path):
                    for sentence in sentences_of([part]):
                        if re.search(HABITS[words[0]], sentence):
                            print(f"{path.relative_to(ROOT)}: {sentence}")
    elif what == "draw":
        draw(words[0])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
