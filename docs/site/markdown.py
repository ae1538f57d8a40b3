"""What the other scripts here ask of Markdown."""

import re

FENCE = re.compile(r"^(```+|~~~+)[^\n]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)")


def spans_of_code(text):
    """Where code stands: fenced, or between backticks."""
    spans = [found.span() for found in FENCE.finditer(text)]
    masked = text
    for begin, end in spans:
        masked = masked[:begin] + " " * (end - begin) + masked[end:]
    return spans + [found.span() for found in CODE_SPAN.finditer(masked)]


def replace_links(text, replacement):
    """The text with `replacement(link)` in place of every link that is no code; `link` is a match of LINK."""
    spans = spans_of_code(text)

    def replaced(link):
        target = link.start("target")
        return link[0] if any(begin <= target < end for begin, end in spans) else replacement(link)

    return LINK.sub(replaced, text)


def title_of(text):
    return re.search(r"^# (.*)$", FENCE.sub("", text), re.MULTILINE)[1].replace("`", "")


def first_sentence(text):
    """Of the first paragraph of words."""
    text = COMMENT.sub("", FENCE.sub("", text))
    for paragraph in re.split(r"\n\s*\n", text):
        paragraph = " ".join(paragraph.split())
        if paragraph and paragraph[0] not in "#|<!-*>":
            paragraph = LINK.sub(lambda link: link["text"], paragraph)
            return re.match(r".*?(?:[.!?](?=\s|$)|$)", paragraph)[0]
    return ""


def escaped(words):
    """Words that are no Markdown."""
    return re.sub(r"([*_<\[\]|])", r"\\\1", words)


def broken(code, width=88):
    """Long declarations, one parameter after the other on lines that fit."""
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
