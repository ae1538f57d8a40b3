"""Functions that read and write Markdown, for the other scripts in this folder and for the tests of the pages."""

import re

FENCE = re.compile(r"^(```+|~~~+)[^\n]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)")
LANGUAGES = ("C++", "Fortran", "Python", "C", "Shell")
BEGIN_OF_TABS, END_OF_TABS = "<!-- tabs -->", "<!-- end of tabs -->"
TAB = re.compile(rf"^\*\*({'|'.join(map(re.escape, LANGUAGES))})\*\*[ \t]*$", re.MULTILINE)


def without_code(text):
    """Returns the text with fenced code replaced by spaces. Line breaks stay, so offsets are the same as in the original."""
    return FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def spans_of_code(text):
    """The begin and end offsets of all code: fenced, or between backticks."""
    return [found.span() for found in (*FENCE.finditer(text), *CODE_SPAN.finditer(without_code(text)))]


def replace_links(text, replacement):
    """Replaces every link outside code by `replacement(link)`; `link` is a match of LINK."""
    spans = spans_of_code(text)

    def replaced(link):
        target = link.start("target")
        return link[0] if any(begin <= target < end for begin, end in spans) else replacement(link)

    return LINK.sub(replaced, text)


def replace_tabs(name, text, made):
    """Replaces every set of tabs on a page by `made(tabs)`; `tabs` maps each language of the set to its text.

    A set begins with BEGIN_OF_TABS and ends with END_OF_TABS. In between, each line that is only the name of a language in
    bold begins a tab. Raises ValueError, which names the page, if a set is malformed."""
    parts, at, seen = [], 0, without_code(text)
    for found in re.finditer(rf"^(?:{BEGIN_OF_TABS}|{END_OF_TABS})[ \t]*$", seen, re.MULTILINE):
        is_open, ends, place = len(parts) % 2 == 1, found[0].startswith(END_OF_TABS), f"{name}:{line_of(text, found.start())}"
        if is_open != ends:
            fault = "tabs within tabs (the set before is not ended)" if is_open else "an end without tabs (none begins before)"
            raise ValueError(f"{place}: {fault}, write pairs of {BEGIN_OF_TABS} and {END_OF_TABS}")
        part = text[at : found.start()]
        parts.append(made(tabs_of(f"{name}:{line_of(text, at)}", part)) if ends else part)
        at = found.end()
    if len(parts) % 2:
        raise ValueError(f"{name}:{line_of(text, at)}: tabs that are not ended, write {END_OF_TABS} after the last one")
    return "".join([*parts, text[at:]])


def tabs_of(place, text):
    """Returns the tabs of one set, as {language: text}. Messages of errors begin with `place`."""
    seen = without_code(text)
    heads = [*TAB.finditer(seen)]
    if not heads or seen[: heads[0].start()].strip():
        raise ValueError(f"{place}: tabs without a language, begin each with a line such as **{LANGUAGES[0]}**")
    if re.search(r"^#+ ", seen, re.MULTILINE):
        raise ValueError(f"{place}: a heading within tabs (the page's contents cannot show it), put it before them")
    tabs = {}
    for head, end in zip(heads, [*(each.start() for each in heads[1:]), len(text)], strict=True):
        content = text[head.end() : end].strip("\n")
        if not content.strip() or head[1] in tabs:
            raise ValueError(f"{place}: the tab {head[1]} is empty or there twice, keep one with text")
        tabs[head[1]] = content
    return tabs


def tab_set(tabs):
    """Returns a set of tabs in the syntax of sphinx-design. If a reader chooses a language in one set, all sets show it."""
    lines = ["```````{tab-set}", ":sync-group: language", ""]
    for language, content in tabs.items():
        lines += [f"``````{{tab-item}} {language}", f":sync: {language}", "", content, "", "``````", ""]
    return "\n".join([*lines, "```````"])


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def title_of(text):
    return re.search(r"^# (.*)$", FENCE.sub("", text), re.MULTILINE)[1].replace("`", "")


def first_sentence(text):
    """The first sentence of the first paragraph that is prose: no code, heading, table, list or quotation."""
    text = COMMENT.sub("", FENCE.sub("", text))
    for paragraph in re.split(r"\n\s*\n", text):
        paragraph = " ".join(paragraph.split())
        if paragraph and paragraph[0] not in "#|<!-*>":
            paragraph = LINK.sub(lambda link: link["text"], paragraph)
            return re.match(r".*?(?:[.!?](?=\s|$)|$)", paragraph)[0]
    return ""


def escaped(words):
    """Plain text as Markdown: characters with a meaning in Markdown are escaped."""
    return re.sub(r"([*_<\[\]|])", r"\\\1", words)


def with_code(words, names):
    """Returns plain text as Markdown, escaped as in `escaped`. Text between backticks and matches of the pattern `names` become
    code."""
    parts, at = [], 0
    for found in re.finditer(rf"`[^`]+`|{names}", words):
        parts += [escaped(words[at : found.start()]), f"`{found[0].strip('`')}`"]
        at = found.end()
    return "".join([*parts, escaped(words[at:])])


def broken(code, width=88):
    """Breaks long lines of declarations after commas and semicolons, so that they have at most `width` columns."""
    lines = []
    for line in code.split("\n"):
        while len(line) > width:
            cut = max(line.rfind(", ", 0, width), line.rfind("; ", 0, width))
            if cut < 8:
                break
            lines.append(line[: cut + 1])
            line = "    " + line[cut + 2 :]
        lines.append(line)
    return "\n".join(lines)


def table(head, rows, alignment="---"):
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [head, [alignment] * len(head), *rows])
