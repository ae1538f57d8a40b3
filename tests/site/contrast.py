"""How far colours of text stand off from their ground, as WCAG 2 reckons it, in style sheets and pictures."""

import re

LEAST = 4.5
COLOUR = r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b"


def channels(colour):
    digits = colour.lstrip("#")
    digits = "".join(2 * each for each in digits) if len(digits) == 3 else digits
    return [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]


def luminance(colour):
    linear = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in channels(colour)]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def inverted(colour):
    """What `invert(1) hue-rotate(180deg)` makes of it, by which pictures follow the dark."""
    r, g, b = (1 - each for each in channels(colour))
    turned = (-0.574 * r + 1.43 * g + 0.144 * b, 0.426 * r + 0.43 * g + 0.144 * b, 0.426 * r + 1.43 * g - 0.856 * b)
    return "#" + "".join(f"{round(255 * min(1, max(0, each))):02x}" for each in turned)


def faults(pairs):
    """`pairs`: (what, colour of the text, of its ground)."""
    return [
        f"{what}: {text} on {ground} has {contrast(text, ground):.2f}"
        for what, text, ground in pairs
        if contrast(text, ground) < LEAST
    ]


def rules_of(sheet):
    """(selector, declarations) of a style sheet."""
    for selector, declarations in re.findall(r"([^{}]*)\{([^{}]*)\}", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)):
        yield selector.strip(), declarations


def of_code(sheet, grounds):
    """Pairs of a style sheet of Pygments. `grounds`: of light code and of dark code, where a rule has none of its own. White
    space is no text, and the site numbers no lines."""
    for selector, declarations in rules_of(sheet):
        colour = re.search(rf"(?<![-\w])color: ({COLOUR})", declarations)
        ground = re.search(rf"background-color: ({COLOUR})", declarations)
        if colour and not re.search(r"\.w$|\.linenos", selector):
            yield f"code, {selector}", colour[1], ground[1] if ground else grounds["data-theme" in selector]


def variables(sheets, is_dark):
    """The colours that style sheets, the later over the earlier, give to a page by variables."""
    found = {}
    for theme in ["body", "body[data-theme=dark]"][: 1 + is_dark]:
        for sheet in sheets:
            for selector, declarations in rules_of(sheet):
                if selector.replace('"', "") == theme:
                    found |= dict(re.findall(r"(--[\w-]+):\s*([^;]+)", declarations))
    for name, value in found.items():
        while inner := re.fullmatch(r"var\((--[\w-]+)\)", value):
            value = found.get(inner[1], "")
        found[name] = value.strip()
    return found


TEXTS = {
    "--color-background-primary": (
        "foreground-primary",
        "foreground-secondary",
        "foreground-muted",
        "brand-content",
        "brand-visited",
    ),
    "--color-background-secondary": (
        "foreground-primary",
        "foreground-secondary",
        "foreground-muted",
        "brand-primary",
        "brand-content",
    ),
    "--ground-of-code": ("foreground-primary", "foreground-secondary"),
}


def of_page(sheets, is_dark):
    """Pairs of a page's texts and grounds."""
    found = variables(sheets, is_dark)
    for ground, texts in TEXTS.items():
        for text in texts:
            yield f"{text} on {ground}{' in the dark' * is_dark}", found[f"--color-{text}"], found[ground]


def of_picture(text):
    """Pairs of an SVG's texts: on white, and turned for the dark."""
    rules = dict(re.findall(r"([\w.-]+)\s*\{[^{}]*?fill:\s*(#\w+)", text.partition("</style>")[0]))
    for tag in re.findall(r"<text\b[^>]*>", text):
        own = re.search(rf"fill[:=][\s\"]*({COLOUR})", tag)
        classes = (re.search(r'class="([^"]*)"', tag) or ["", ""])[1].split()
        colour = (
            own[1]
            if own
            else next((rules[f".{each}"] for each in classes if f".{each}" in rules), rules.get("text", "#000000"))
        )
        yield "text", colour, "#ffffff"
        yield "text in the dark", inverted(colour), "#131416"
