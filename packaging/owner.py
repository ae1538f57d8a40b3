"""Writes the values of packaging/owner.toml into the files that need them. Usage: owner.py write | check | publishable.

`write` rewrites the files, `check` fails where a file is not current, `publishable` also where a value is not set. In
most files the text stands between two comments, `owner: NAME` and `end`; NAME is a function of TEXTS. A value that is
not set is written as "not set", or left out where the format of the file does not allow that."""

import json
import re
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[1]
FILE = "packaging/owner.toml"
EVERYBODY = "The Steadfold developers"
# Values that are texts: what they look like.
LOOKS = {
    "repository": (r"https://[\w.:-]+/[\w./~-]*[\w~-]", "https://, a host and a path, with no / at the end"),
    "contact": (r"[\w.+-]+@[\w-]+(\.[\w-]+)+", "an e-mail address"),
    "doi": (r"10\.\d{4,9}/[\w.()/:;-]+", "10., a number, / and a name"),
}
AUTHOR = {"given": r".+", "family": r".+", "orcid": r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]", "affiliation": r".+"}
VALUES = [*LOOKS, "authors"]
MAIN = "/blob/main"  # where a repository shows the files of its branch


def read(root=ROOT):
    """The values, which may be empty."""
    try:
        given = tomllib.loads((root / FILE).read_text())
    except tomllib.TOMLDecodeError as error:
        sys.exit(f"{FILE} cannot be read ({error}), mend it")
    if given.keys() != set(VALUES):
        sys.exit(f"{FILE} has {', '.join(given) or 'no values'} (it should have {', '.join(VALUES)}), mend it")
    for name, (pattern, look) in LOOKS.items():
        if given[name] != "" and not re.fullmatch(pattern, str(given[name])):
            sys.exit(f"{name} is {given[name]!r} in {FILE} (it should be {look}), correct it or leave it empty")
    for each in given["authors"]:
        if not (isinstance(each, dict) and {"given", "family"} <= each.keys() <= AUTHOR.keys()):
            sys.exit(f"an author is {each!r} in {FILE} (needed: given, family; allowed: orcid, affiliation), mend it")
        for name, value in each.items():
            if not re.fullmatch(AUTHOR[name], str(value)):
                sys.exit(f"{name} of an author is {value!r} in {FILE} (it should look like {AUTHOR[name]}), correct it")
    return SimpleNamespace(**given)


def missing(owner):
    """The names of the values that are not set."""
    return [name for name in VALUES if not getattr(owner, name)]


def quoted(text):
    """A string of TOML, YAML and Python."""
    return json.dumps(text, ensure_ascii=False)


def not_set(owner, *names):
    """A comment that names those of the values that are not set; nothing if all are."""
    empty = [name for name in names if not getattr(owner, name)]
    return [f"# not set: {', '.join(empty)}"] if empty else []


def full_name(author):
    return f"{author['given']} {author['family']}"


def maintainer(owner):
    """A name and an address, as packages of Debian must have them."""
    return f"{EVERYBODY} <{owner.contact or 'not set'}>"


def citation(owner):
    lines = ["authors:"]
    for each in owner.authors:
        lines += [f"  - given-names: {quoted(each['given'])}", f"    family-names: {quoted(each['family'])}"]
        if "orcid" in each:
            lines.append(f"    orcid: https://orcid.org/{each['orcid']}")
        if "affiliation" in each:
            lines.append(f"    affiliation: {quoted(each['affiliation'])}")
    if not owner.authors:  # the format needs one
        lines.append(f"  - name: {EVERYBODY}")
    if owner.contact:
        lines += ["contact:", f"  - name: {EVERYBODY}", f"    email: {owner.contact}"]
    if owner.repository:
        lines.append(f"repository-code: {quoted(owner.repository)}")
    if owner.doi:
        lines.append(f"doi: {owner.doi}")
    return [*lines, *not_set(owner, *VALUES)]


def python_people(owner):
    people = ", ".join(f"{{name = {quoted(full_name(each))}}}" for each in owner.authors)
    lines = [f"authors = [{people or f'{{name = {quoted(EVERYBODY)}}}'}]"]
    if owner.contact:
        lines.append(f"maintainers = [{{name = {quoted(EVERYBODY)}, email = {quoted(owner.contact)}}}]")
    return [*lines, *not_set(owner, "authors", "contact")]


def python_links(owner):
    pages = {"Repository": "", "Issues": "/issues"}
    pages |= {"Documentation": f"{MAIN}/docs/index.md", "Changelog": f"{MAIN}/CHANGELOG.md"}
    lines = [f"{name} = {quoted(owner.repository + path)}" for name, path in pages.items() if owner.repository]
    return [*lines, *not_set(owner, "repository")]


def debian(owner):
    lines = [f"Maintainer: {maintainer(owner)}"]
    if owner.repository:
        lines += [f"Homepage: {owner.repository}", f"Vcs-Git: {owner.repository}", f"Vcs-Browser: {owner.repository}"]
    return lines


def cpack(owner):
    lines = [f'set(CPACK_PACKAGE_CONTACT "{maintainer(owner)}")']
    if owner.repository:
        lines.append(f'set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "{owner.repository}")')
    return lines


def conda(owner):
    pages = {"homepage": "", "repository": "", "documentation": f"{MAIN}/docs/index.md"}
    lines = [f"  {name}: {quoted(owner.repository + path)}" for name, path in pages.items() if owner.repository]
    return lines or ["  # not set: homepage, repository, documentation"]


def spack(owner):
    if not owner.repository:
        advice = "so Spack fetches nothing: spack develop steadfold@=main --path CHECKOUT"
        return [f"    # not set: homepage and git, {advice}", '    version("main")']
    return [f"    homepage = {quoted(owner.repository)}", f"    git = {quoted(owner.repository)}", "",
            '    version("main", branch="main")']  # fmt: skip


def issue_links(owner):
    if not owner.repository:
        return ["# not set: contact_links, which need the repository's address"]
    place = owner.repository + MAIN
    links = (("A question", "SUPPORT.md", "Pages that answer it, and whom to ask."),
             ("A vulnerability", "SECURITY.md", "Please report it privately."))  # fmt: skip
    made = [(f"  - name: {name}", f"    url: {place}/{page}", f"    about: {about}") for name, page, about in links]
    return ["contact_links:", *(line for link in made for line in link)]


def contact(owner):
    return [f"Contact: <{owner.contact}>" if owner.contact else f"Contact: **not set** yet (`contact` in `{FILE}`)."]


def tracker(owner):
    if owner.repository:
        return [f"Issues: <{owner.repository}/issues>"]
    return [f"Issues: the address of the repository is **not set** yet (`repository` in `{FILE}`)."]


def clone(owner):
    command = f"git clone {owner.repository or 'ADDRESS'} steadfold && cd steadfold"
    return ["```", command if owner.repository else f"{command}    # ADDRESS: not set yet", "```"]


def cite(owner):
    names = ", ".join(map(full_name, owner.authors)) or EVERYBODY
    doi = f"<https://doi.org/{owner.doi}>" if owner.doi else "DOI: **not set** yet"
    return [f"{names}. Steadfold. {doi}"]


def values(owner):
    """Which values are set, for a page that depends on them."""
    empty = missing(owner)
    given = [name for name in VALUES if name not in empty]
    return [f"Set today: {', '.join(given) or 'none'}. Not set: {', '.join(empty) or 'none'}."]


TEXTS = {name.replace("_", "-"): globals()[name] for name in (
    "citation", "python_people", "python_links", "debian", "cpack", "conda", "spack", "issue_links",
    "contact", "tracker", "clone", "cite", "values")}  # fmt: skip
# Files that have parts between comments. Further pages may: all of docs/ and of the top folder are looked through.
FILES = [
    "CITATION.cff", "pyproject.toml", "cmake/SteadfoldPackage.cmake", "packaging/debian/control",
    "packaging/conda/recipe.yaml", "packaging/spack/package.py", ".github/ISSUE_TEMPLATE/config.yml",
    "SECURITY.md", "SUPPORT.md", "CODE_OF_CONDUCT.md", "docs/policies.md", "docs/install.md",
]  # fmt: skip
BEGIN, END = r"^ *(?:#|<!--) owner: (?P<name>[\w-]+)(?: -->)?\n", r" *(?:# end|<!-- end -->)\n"
PART = re.compile(f"(?P<begin>{BEGIN})(?P<text>.*?)(?P<end>{END})", re.MULTILINE | re.DOTALL)
# Files whose format has no comments: where the maintainer stands.
MAINTAINED = {
    "packaging/debian/changelog": r"(?<=^ -- )\S.*>(?=  )",
    "packaging/debian/copyright": r"(?<=^Upstream-Contact: )\S.*",
}


def filled(path, text, owner):
    """The text of a file with all its parts as the values say."""

    def part(found):
        if found["name"] not in TEXTS:
            sys.exit(f"{path} has a part '{found['name']}' (there is none), name one of {', '.join(TEXTS)}")
        return found["begin"] + "".join(f"{line}\n" for line in TEXTS[found["name"]](owner)) + found["end"]

    if path in MAINTAINED:
        text, count = re.subn(MAINTAINED[path], lambda _: maintainer(owner), text, flags=re.MULTILINE)
    else:
        text, count = PART.subn(part, text)
    if count == 0 and path in [*FILES, *MAINTAINED]:
        sys.exit(f"{path} has no part for the values of {FILE} (its comments are missing), put them back")
    return text


def stale(owner, root=ROOT):
    """Files that are not as the values say: path -> the text that they should have."""
    pages = [path.relative_to(root).as_posix() for path in [*root.glob("*.md"), *root.glob("docs/**/*.md")]]
    now = {path: (root / path).read_text() for path in dict.fromkeys([*FILES, *MAINTAINED, *sorted(pages)])}
    return {path: made for path, text in now.items() if (made := filled(path, text, owner)) != text}


def outdated(owner, root=ROOT):
    return [f"{path} is not what {FILE} says (it was edited, or the values were), run python3 packaging/owner.py write"
            for path in stale(owner, root)]  # fmt: skip


def unpublishable(owner, root=ROOT):
    """Why a release must not be published yet, as far as its owner is concerned."""
    found = outdated(owner, root)
    if empty := missing(owner):
        why = "a published release says where it comes from, whom to ask and how to cite it"
        advice = "set them and run python3 packaging/owner.py write"
        found.insert(0, f"not set in {FILE}: {', '.join(empty)} ({why}), {advice}")
    return found


def main():
    if sys.argv[1:] not in (["write"], ["check"], ["publishable"]):
        given = " ".join(sys.argv[1:])
        sys.exit(f"unknown arguments '{given}' (there are write, check, publishable), give one of them")
    owner = read()
    if sys.argv[1] == "write":
        for path, text in stale(owner).items():
            (ROOT / path).write_text(text)
            print(path)
        return
    if faults := (unpublishable if sys.argv[1] == "publishable" else outdated)(owner):
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
