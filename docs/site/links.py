"""Changes the links of pages for the site. In the repository, links lead to files; on the site, they lead to pages. A linked
source file becomes a page that shows the source. A linked picture is copied to the site. A dead link is an error."""

import os
import re
import shutil
from pathlib import Path

from markdown import replace_links

LEXERS = {
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".h": "c",
    ".c": "c",
    ".py": "python",
    ".f90": "fortran",
    ".inc": "fortran",
    ".toml": "toml",
    ".sh": "bash",
}
PICTURES = {".svg", ".png"}


class Links:
    def __init__(self, house, page_of, made, directory):
        """`page_of`: {file of the repository: page of the site}. `made`: the generated pages. `directory`: the folder to
        which the pages are written."""
        self.house, self.made, self.directory = house, made, directory
        self.page_of = dict(page_of)
        self.shown = {}  # file -> page that shows it
        self.faults = []

    def rewritten(self, name, page, text):
        """Returns the text of a page, with links for the site. `name`: its file, to which its links are relative. A generated page
        has no file: its `name` is the name of the page below docs/."""

        def replacement(link):
            target, _, anchor = link["target"].partition("#")
            if re.match(r"[a-z]+:", link["target"]) or not target:
                return link[0]
            found = os.path.normpath(os.path.join(os.path.dirname(name), target))
            place = self.place_of(found, bool(link["picture"]))
            if place is None:
                self.faults.append(f"dead link ({name} leads to {target}, which is not there), mend or remove it")
                return link[0]
            relative = os.path.relpath(place, os.path.dirname(page) or ".")
            return f"{link['picture']}[{link['text']}]({relative}{'#' * bool(anchor)}{anchor})"

        return replace_links(text, replacement)

    def place_of(self, found, is_picture):
        """Returns the page or picture of the site for a file or folder of the repository, or None if the site has no page for it."""
        if found in self.page_of:
            return self.page_of[found]
        if (below := found.removeprefix("docs/")) != found and (below in self.made or (self.directory / below).is_file()):
            return below
        source = self.house / found
        if source.is_dir():
            pages = f"{found}.md", f"{found.removeprefix('docs/')}.md"
            return next((page for page in pages if page in self.made or page in self.page_of.values()), None)
        if not source.is_file():
            return None
        if source.suffix in PICTURES:
            place = found.removeprefix("docs/")
            (self.directory / place).parent.mkdir(parents=True, exist_ok=True)
            if source.suffix == ".svg":
                (self.directory / place).write_text(on_page(source.read_text()))
            else:
                shutil.copy(source, self.directory / place)
            return place
        header = re.fullmatch(r"include/steadfold/(\w+)\.(h|hpp)", found)
        if header and (page := f"reference/{'c' if header[2] == 'h' else 'cxx'}/{header[1]}.md") in self.made:
            return page
        return self.shown.setdefault(found, f"source/{found}.md")

    def sources(self):
        """Makes the pages that show source files. Other pages link to these files."""
        return {page: shown(self.house, found) for found, page in self.shown.items()}


def on_page(picture):
    """Returns an SVG without its style for systems in dark mode. The site has its own switch between light and dark, and its style
    sheet inverts pictures."""
    return re.sub(r"\s*@media \(prefers-color-scheme: ?dark\) ?\{[^{}]*\{[^{}]*\}\s*\}", "", picture)


def shown(house, found):
    return f"---\norphan: true\n---\n\n# {found}\n\n{quoted(house, found)}\n"


def quoted(house, found):
    text = (house / found).read_text().rstrip()
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{fence}{LEXERS.get(Path(found).suffix, 'text')}\n{text}\n{fence}"
