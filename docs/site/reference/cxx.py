"""The reference pages of the C++ interface: public declarations of the headers, with the comments (///) before them. The
parser relies on the format that clang-format gives the headers. The pages leave out code that only compilers need:
conditions on template parameters, and types of the namespace detail."""

import re
from dataclasses import dataclass, field

from markdown import broken, with_code
from tables import operations

from .operations import facts

TOKEN = re.compile(
    r"(?P<doc>(?:[ \t]*///(?!<)[^\n]*\n)+)|(?P<note>///<[^\n]*)|(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<directive>^[ \t]*#(?:[^\n]*\\\n)*[^\n]*)"
    r"|(?P<namespace>namespace [\w:]+ \{|extern \"C\" \{)|(?P<access>(?:public|private|protected):)"
    r"|(?P<end>\}[ \t]*;?)|(?P<space>\s+)|(?P<code>.)",
    re.DOTALL | re.MULTILINE,
)
NOT_SHOWN = re.compile(
    r"(?:static_assert|friend (?:class|struct)|template <[^>]*>\s*friend|using namespace|~)\b|.*= delete$|"
    r"using guarantees::"
)
# Declarations that users do not need to see: definitions outside a class, specialisations, deduction guides, constructors
# that other classes call, copies and moves.
OUT_OF_CLASS = re.compile(r"^[^(=]*\w+(?:<\w+>)?::~?\w+\(|^[^(={]*\w<[^(={]*> = |\) -> ")
FOR_OTHER_CLASSES = re.compile(r"\(sf_call& call\)|\(.*_ptr<(?:const )?detail::|const Members&|static_cast")
COPIES = re.compile(r"(?:constexpr )?(?:\w+& operator=|(\w+))\((?:const )?\w+(?:<\w+>)?&&? ?(?:other)?\)")
TYPE = re.compile(r"(?:class|struct|enum(?: class)?) (?:\[\[[^\]]*\]\] )?(?:alignas\(\w+\) )?(\w+)")


@dataclass
class Entry:
    """An entry of a page: the declarations of one name, as (comment before it, code)."""

    name: str
    kind: str  # function, type, value
    declarations: list
    members: list = field(default_factory=list)  # the entries of the members, if the entry is a class
    bases: list = field(default_factory=list)  # the names of the base classes, if the entry is a class


def end_of(text, at, brackets="{}"):
    """The offset after the bracket that closes the bracket at `at`."""
    depth = 0
    for found in re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'|//[^\n]*|[{}]" if brackets == "{}" else r"[<>]").finditer(
        text, at
    ):
        depth += (found[0] == brackets[0]) - (found[0] == brackets[1])
        if depth == 0 and found[0] == brackets[1]:
            return found.end()
    raise ValueError(f"nothing closes what opens here: {text[at : at + 60]}")


def declaration_at(text, at):
    """Reads the declaration that begins at `at`. Returns its code without its body, the offset of the body (None if it has no
    body), and the offset after the declaration."""
    depth, i = 0, at
    while True:
        c = text[i]
        if c == '"':
            i = re.compile(r"\"(?:\\.|[^\"\\])*\"").match(text, i).end()
            continue
        if text.startswith("//", i):
            i = text.index("\n", i)
            continue
        depth += (c in "([") - (c in ")]")
        if depth == 0 and c == ";":
            return text[at:i], None, i + 1
        if c == "{":
            is_body = depth == 0 and text[i - 1] in " \n" and not re.search(r"(?<![=!<>])=\s*$", text[at:i])
            end = end_of(text, i)
            if is_body:
                return text[at:i], i, end
            i = end
            continue
        i += 1


def tidy(code):
    """Returns a declaration as readers see it: without comments, and without specifiers and types that only the compiler needs."""
    code = re.sub(r"//[^\n]*", "", code)
    code = re.sub(r"/\*.*?\*/", "", code)
    code = re.sub(r"detail::Sum<(?:[^<>]|<[^<>]*>)*>& ?", "decltype(sum)&", " ".join(code.split()))
    kept = ""
    while found := re.match(r"template <", code):
        end = end_of(code, found.end() - 1, "<>")
        kept += without_conditions(code[:end])
        code = code[end:].strip()
    code = re.sub(
        r"^(?:inline |constexpr |static (?=constexpr)|friend )+(?=(?:operator\W+|[^=(])*\()", "", code
    )  # of functions
    code = re.sub(r"^inline (?=constexpr)", "", code)
    head, opening, rest = code.partition("(")
    if opening and not head.startswith(("class", "struct")):
        name = re.search(r"(?:operator\S+|operator \w[\w:<> ]*|~?\w+)$", head)
        if name and "detail::" in head[: name.start()]:
            head = ("static " if head.startswith("static ") else "") + "auto " + head[name.start() :]
        code = head + opening + without_initialisers(rest)
    return (kept + code).strip()


def without_initialisers(rest):
    depth = 1
    for i, c in enumerate(rest):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return rest[: i + 1] + re.sub(r" : .*", "", rest[i + 1 :])
    return rest


def without_conditions(template):
    """`template <...>` without its unnamed parameters. They only restrict the types that a caller may pass."""
    inside, parts, depth = template[template.index("<") + 1 : -1], [""], 0
    for c in inside:
        depth += (c in "<(") - (c in ">)")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    named = [
        part.strip()
        for part in parts
        if not re.match(r"\s*(?:class|typename|std::enable_if_t<.*>)\s*=|\s*std::enable_if_t<.*", part)
    ]
    return f"template <{', '.join(named)}>\n" if named else ""


def name_of(code):
    code = re.sub(r"^(?:template <[^\n]*>\n)+", "", code)
    if found := TYPE.match(code):
        return found[1], "type"
    if found := re.match(r"using (\w+) =", code):
        return found[1], "type"
    if found := re.search(r"\b(operator(?:\(\)|[^\w\s(]+| \w[^(]*))\(", code):
        return found[1], "function"
    if found := re.match(r"[^(={]*?(~?\w+)\(", code):
        return found[1], "function"
    found = re.match(r"[\w:<>,\s&*]+?\b(\w+)\s*(?:\{|=|,|$)", code)
    return (found[1] if found else code.split()[-1]), "value"


@dataclass
class Scope:
    """The surroundings of a declaration (the namespaces of a header, or a class), and the entries read so far."""

    is_public: bool
    of: str = ""  # the class
    namespaces: tuple = ()
    entries: list = field(default_factory=list)
    doc: str = ""  # the comment before the next declaration
    has_gap: bool = False  # whether there is an empty line before the entry

    @property
    def is_shown(self):
        return self.is_public and "detail" not in self.namespaces

    def add(self, code, bare):
        """Adds a function or value, if users may see it. It joins the entry of the same name. If there is none, and it has
        neither a comment nor an empty line before it, it joins the entry before. Otherwise it becomes a new entry."""
        if not self.is_shown or NOT_SHOWN.match(bare) or "operator Options" in bare:
            return
        if OUT_OF_CLASS.search(bare) or FOR_OTHER_CLASSES.search(bare) or COPIES.match(bare):
            return
        shown = tidy(code)
        name, kind = name_of(shown)
        alike = next((each for each in self.entries if each.kind == kind and name in each.name.split(", ")), None)
        last = self.entries[-1] if self.entries else None
        if alike:
            alike.declarations.append((self.doc, shown))
        elif last and last.kind == kind and not self.doc and not self.has_gap and self.of not in (name, last.name):
            last.declarations.append((self.doc, shown))
            last.name += f", {name}"
        else:
            self.entries.append(Entry(name, kind, [(self.doc, shown)]))


class Reader:
    """Reads a header. `public`: the entries for users. `types`: all classes by name, internal classes too."""

    def __init__(self, text):
        self.text, self.types = text, {}
        self.public = self.entries(0, len(text), Scope(is_public=True))

    def entries(self, begin, end, scope):
        at, outer = begin, []
        while at < end:
            token = TOKEN.match(self.text, at)
            kind, at = token.lastgroup, token.end()
            if kind == "doc":
                scope.doc = "\n".join(re.sub(r"^\s*/// ?", "", line) for line in token[0].splitlines())
            elif kind == "space" and token[0].count("\n") > 1:
                scope.doc, scope.has_gap = "", True
            elif kind == "note" and scope.entries:
                noted = scope.entries[-1].declarations
                noted[-1] = (token[0][4:].strip(), noted[-1][1])
            elif kind == "namespace":
                outer.append(scope.namespaces)
                scope.namespaces = (*scope.namespaces, *token[0].split()[1].split("::"))
            elif kind == "end" and outer:
                scope.namespaces = outer.pop()
            elif kind == "access":
                scope.is_public = token[0] == "public:"
            elif kind == "code":
                at = self.declaration(token.start(), scope)
                scope.doc, scope.has_gap = "", False
        return scope.entries

    def declaration(self, at, scope):
        """Reads the declaration that begins at `at`. Returns the offset after the declaration."""
        code, body, end = declaration_at(self.text, at)
        bare = without_template(" ".join(code.split()))
        if not TYPE.match(bare):
            scope.add(code, bare)
        elif body is not None:  # a definition
            found = self.type_of(code, bare, (body, self.text.rindex("}", body, end)), scope.doc)
            self.types[found.name] = found
            if scope.is_shown:
                scope.entries.append(found)
        return end + (body is not None and self.text[end : end + 1] == ";")

    def type_of(self, code, bare, braces, doc):
        """The entry of a class or enumeration. `braces`: the offsets of the braces around its body."""
        name, (begin, end) = TYPE.match(bare)[1], braces
        if bare.startswith("enum"):
            values = re.sub(r"//[^\n]*", "", self.text[begin : end + 1])
            return Entry(name, "type", [(doc, tidy(f"{code} {values}"))])
        is_struct, after_colon = bare.startswith("struct"), bare.partition(" : ")[2]
        bases = re.findall(r"public (?:detail::)?(\w+)", after_colon)
        if is_struct:
            bases += re.findall(r"(?<!\w)(?:detail::)?(\w+)", after_colon)
        members = self.entries(begin + 1, end, Scope(is_struct, name))
        return Entry(name, "type", [(doc, tidy(code).partition(" : ")[0])], members, bases)


def without_template(code):
    while code.startswith("template <"):
        code = code[end_of(code, len("template "), "<>") :].strip()
    return re.sub(r"^(?:inline|constexpr) (?=struct|class)", "", code)


NAMES = (
    r"(?:\w+(?:<[\w:<> ]+>)?::)+\w+(?:<[\w:<> ]+>)?(?:\([^()]*\))?|\b\w+<\w+>|\b\w+\[\w+\]"
    r"|\b\w*_\w+(?:\.hpp|\.h)?(?:\(\))?|\b\w+\.(?:hpp|h)\b|\b\w+\(\)"
)


def prose(text):
    return with_code(text, NAMES)


def documented(text):
    """A comment as Markdown. Indented lines become blocks of code."""
    blocks, lines = [], []
    for line in [*text.splitlines(), None]:
        is_code = line is not None and line.startswith("  ")
        if line is None or (lines and is_code != lines[0].startswith("  ")) or not line.strip():
            if lines:
                joined = "\n".join(lines)
                blocks.append(
                    f"```cpp\n{re.sub(r'^  ', '', joined, flags=re.MULTILINE)}\n```"
                    if lines[0].startswith("  ")
                    else prose(joined)
                )
            lines = []
        if line is not None and line.strip():
            lines.append(line)
    text = "\n\n".join(blocks)
    return text[:1].upper() + text[1:]


def entry(found, types, of=""):
    """The text of an entry: a function, or a class with its members. `of`: for members, the name of the class and "::"."""
    sign = "`" if found.name.startswith("operator") else ""
    lines = [f"{'###' if of else '##'} {sign}{of}{found.name}{sign}"]
    code = []
    if found.kind == "value" and len(found.declarations) > 1:
        type_of = found.declarations[0][1].split(found.name.split(",")[0])[0].split()[-1]
        rows = "\n".join(map(noted, found.declarations))
        return "\n\n".join([*lines, f"Constants of type `{type_of}`.", f"```cpp\n{rows}\n```"])
    for doc, declaration in [*found.declarations, ("end", None)]:
        if doc and code:
            lines.append("```cpp\n" + "\n".join(code) + "\n```")
            code = []
        if declaration is None:
            break
        if doc:
            lines.append(documented(doc))
        code.append(broken(declaration) + ";")
    members = list(found.members)
    for base in found.bases:
        members += inherited(base, types)
    fields = [member for member in members if member.kind == "value"]
    if fields:
        rows = [noted(each) for member in fields for each in member.declarations]
        lines.append("```cpp\n" + "\n".join(rows) + "\n```")
    lines += [entry(member, types, f"{found.name}::") for member in members if member.kind != "value"]
    return "\n\n".join(lines)


def noted(declaration):
    """The declaration of a value, with its comment at the end of the line."""
    doc, code = declaration
    return f"{code};" + (f"  // {' '.join(doc.split())}" if doc else "")


def inherited(base, types):
    """The public members of a base class, and of the base classes of this class."""
    if base not in types:
        return []
    found = types[base]
    members = [each for each in found.members if each.name not in (base, "describe_call")]
    for other in found.bases:
        members += inherited(other, types)
    return members


def opening(text):
    """The comment at the head of a header, as Markdown."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        if not line.startswith("// Made by ./dev surface"):
            lines.append(line[2:].removeprefix(" "))
    return documented("\n".join(lines).strip("\n"))


FIRST = ("steadfold.hpp", "mpi.hpp", "group.hpp", "options.hpp", "layout.hpp", "types.hpp")  # the headers that users meet first, in order
SECOND = {"elements": False, "factors": True, "mask": True}  # {operands: whether the calls take a second vector}


def signatures(name, operands, built_in):
    """The calls of an operation: the overloads of BuiltIn::operator() that take as many vectors as the operation. An
    operation with a mask has no overloads for arrays."""
    declarations = [code for member in built_in.members if member.name == "operator()" for _, code in member.declarations]
    return [
        code.replace("operator()", name).removesuffix(" const")
        for code in declarations
        if bool(re.search(r"& y\b", code)) == SECOND[operands] and not (operands == "mask" and "Array" in code)
    ]


def arguments(codes, comment):
    """The descriptions of arguments in a comment, as a Markdown list. A description is a paragraph that begins with
    "`name`:". Names that none of the declarations `codes` has are left out."""
    found = re.findall(r"^`(\w+)`: (.*?)(?=\n\n|\Z)", comment, re.MULTILINE | re.DOTALL)
    return "\n".join(
        f"- `{name}`: {prose(' '.join(words.split()))}"
        for name, words in found
        if any(re.search(rf"\b{name}\b", code) for code in codes)
    )


def operation(each, constant, declared, types):
    """The entry for an operation: its calls, its arguments and its properties. The entry also shows the object (such as sf::sum)
    that `reduce` and plans take. `declared`: the entry of the function, if the operation has a function besides the
    object."""
    [(comment, code)] = constant.declarations
    code = code.replace("{}", "") + ";"
    if declared:
        codes = [each for _, each in declared.declarations]
        said = f"{entry(declared, types)}\n\nThe operator that `reduce`, `allreduce` and plans take:\n\n```cpp\n{code}\n```"
    else:
        name = (each.bundle or each.cxx)[0]
        codes = signatures(name, each.operands, types["BuiltIn"])
        calls = "\n".join(f"{broken(each)};" for each in codes)
        said = f"## {name}\n\n{documented(comment)}\n\n```cpp\n{calls}\n{code}\n```"
    return f"{said}\n\n{arguments(codes, types['BuiltIn'].declarations[0][0])}\n{facts(each)}"


def brought(name, texts, entries):
    """A list of the names that the headers included by header `name` declare, with links. The list is empty if it includes no other header."""
    found, rows = [name], []
    for each in found:
        found += [other for other in re.findall(r'#include "steadfold/(\w+\.hpp)"', texts[each]) if other not in found]
    for each in found[1:]:
        if entries[each]:
            rows.append(f"- [{each}]({each.removesuffix('.hpp')}.md): {', '.join(f'`{name}`' for name in entries[each])}")
    return ["This header also includes the declarations of these headers:\n\n" + "\n".join(rows)] if rows else []


def pages(house, release):
    texts = {path.name: path.read_text() for path in sorted((house / "include/steadfold").glob("*.hpp"))}
    readers = {
        name: Reader(re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*\n", "", text, flags=re.MULTILINE)) for name, text in texts.items()
    }
    types = {name: found for reader in readers.values() for name, found in reader.types.items()}
    entries = {name: {each.name: entry(each, types) for each in reader.public} for name, reader in readers.items()}
    # The operations and dot products are declared in separate headers. Programs include steadfold.hpp, so its page has them.
    functions = {each.name: each for each in readers["steadfold.hpp"].public}
    constants = {each.name.split(", ")[0]: each for each in readers["constants.hpp"].public}
    made_of_table = {
        (each.bundle or each.cxx)[0]: operation(
            each, constants[each.cxx[0]], functions.get((each.bundle or each.cxx)[0]), types
        )
        for each in operations()
        if each.cxx
    }
    for each in readers["dots.hpp"].public:
        codes = signatures(each.name, "elements", types["Dots"])
        each = Entry(each.name, "function", list(zip([each.declarations[0][0]] + [""] * len(codes), codes)))
        entries["dots.hpp"][each.name] = entry(each, types)
    entries["steadfold.hpp"] = made_of_table | {
        name: text for name, text in entries["steadfold.hpp"].items() if name not in made_of_table
    } | entries["dots.hpp"]
    entries["constants.hpp"] = entries["dots.hpp"] = {}
    made = {}
    for name in sorted(entries, key=lambda name: (*FIRST, name).index(name)):
        if entries[name]:
            made[f"reference/cxx/{name.removesuffix('.hpp')}.md"] = (
                "\n\n".join([f"# {name}", opening(texts[name]), *brought(name, texts, entries), *entries[name].values()]) + "\n"
            )
    return made
