"""Makes the index of the search page. The index is a script, because a page that is opened from a disk can load scripts but
no other files. It holds the text of every section; static/search.js searches and ranks them."""

import json
import re
from html.parser import HTMLParser

# Kinds of pages, each with a pattern for the beginning of their names. The first match counts. static/search.js has a weight
# for each kind.
KINDS = (
    ("how-to", r"how_to/"),
    (
        "start",
        r"(index|start|install|questions|calls|unmodified|python|fortran|climate|solvers|phylogenetics)$|tutorials/|notebooks/",
    ),
    ("reference", r"reference/|schedules"),
    ("page", r"(guarantees|methods|comparison|performance|networks|studies|from_shr_reprosum|support|examples)$"),
    ("internals", r""),
)
LANGUAGES = {"cxx": "C++", "c": "C", "fortran": "Fortran", "python": "Python", "command": "Command"}
NAME = re.compile(r"[a-z_]\w*(::~?\w+|\.\w+)*|operator\W+|steadfold [\w-]+", re.IGNORECASE)


class Sections(HTMLParser):
    """The sections of a page: anchor, level, title, prose and code. `left_out`: elements whose text is not searched."""

    left_out = {"script", "style", "annotation", "button"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found, self.open, self.depth, self.hidden, self.in_code, self.level = [], [], 0, 0, 0, 0
        self.in_headerlink = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.depth += tag == "article"
        if not self.depth:
            return
        self.hidden += tag in self.left_out
        self.in_code += tag == "pre"
        self.in_headerlink = tag == "a" and "headerlink" in (given.get("class") or "")
        if tag == "section":
            self.found.append({"anchor": given.get("id", ""), "level": 0, "title": "", "prose": "", "code": ""})
            self.open.append(self.found[-1])
        elif re.fullmatch(r"h[1-6]", tag) and self.open and not self.open[-1]["level"]:
            self.level = self.open[-1]["level"] = int(tag[1])
        elif tag not in ("code", "span", "a", "em", "strong"):
            self.handle_data(" ")

    def handle_endtag(self, tag):
        self.depth -= tag == "article"
        self.hidden -= self.depth > 0 and tag in self.left_out
        self.in_code -= self.depth > 0 and tag == "pre"
        self.in_headerlink = False
        if tag == "section" and self.open:
            self.open.pop()
        elif re.fullmatch(r"h[1-6]", tag):
            self.level = 0

    def handle_data(self, text):
        if not self.open or not self.depth or self.hidden or self.in_headerlink:
            return
        self.open[-1]["title" if self.level else "code" if self.in_code else "prose"] += text


def kind_of(page, section):
    # These pages repeat names of functions for arrays, which come first.
    is_main = page not in ("reference/python/dask", "reference/python/duckdb", "reference/python/polars")
    if is_main and page.startswith("reference/") and section["level"] > 1 and all(map(NAME.fullmatch, section["title"].split(", "))):
        return "function"
    if section["level"] == 1 and section["title"].endswith((".h", ".hpp")):
        return "internals"
    return next(kind for kind, pattern in KINDS if re.match(pattern, page))


def entries(page, text):
    """An entry of the index for each section of a page: page, anchor, title, title of the page, kind, prose, code."""
    sections = Sections(text).found
    for section in sections:
        for part in ("title", "prose", "code"):
            section[part] = " ".join(section[part].split())
    title = sections[0]["title"] if sections else ""
    language = re.match(r"reference/(\w+)", page)
    if language and LANGUAGES[language[1]] not in title:
        title = f"{LANGUAGES[language[1]]}: {title}"
    return [
        [page, "" if number == 0 else each["anchor"], each["title"], title, kind_of(page, each), each["prose"], each["code"]]
        for number, each in enumerate(sections)
        if each["title"]
    ]


def write(site):
    """Writes search_index.js to the folder of the site. Pages that show source files are left out: links lead to them."""
    found = []
    for path in sorted(site.rglob("*.html")):
        page = str(path.relative_to(site).with_suffix(""))
        if page != "search" and not page.startswith("source/"):
            found += entries(page, path.read_text())
    lines = ",\n".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in found)
    (site / "search_index.js").write_text(f"var SEARCH_INDEX = [\n{lines}\n];\n")
    return found
