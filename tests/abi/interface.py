"""Reads what programs are compiled and linked with: the public C headers, and the symbols of shared libraries.

Everything comes as lines of the form `name: facts`, each of which says all of its own, so that a diff of two lists can
be read without its surroundings. The headers are read as the preprocessor leaves them; sizes and offsets are those that
a compiled program tells. A declaration that is not understood is an error, so none goes missing."""

import os
import re
import subprocess
from pathlib import Path

# Forward declarations, a program's own data, the name of a symbol (which *.symbols have), what compilers check.
OF_NO_CONCERN = r"struct \w+|static const [^(]* = .*|extern const char \w+|_Static_assert ?\(.*\)|typedef char sf_compile_without_short_enums\[.*\]"
GUARD = re.compile(r"STEADFOLD_\w*_H")
MPI = "typedef struct mpi_comm* MPI_Comm;\ntypedef struct mpi_type* MPI_Datatype;\ntypedef struct mpi_op* MPI_Op;\n"


def output(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "LC_ALL": "C"}, **more)  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


# --- headers ---------------------------------------------------------------------------------------------------------


class Headers:
    """The C headers below `include`/steadfold, by a C compiler of this machine. `room`: an empty directory to work in.
    No MPI library is needed: its handles are only named."""

    def __init__(self, compiler, include, room):
        names = sorted(path.relative_to(include).as_posix() for path in (include / "steadfold").glob("*.h"))
        (room / "mpi.h").write_text(MPI)
        self.flags = [compiler, "-std=c11", "-I", include, "-I", room]
        self.room, self.includes = room, "".join(f"#include <{name}>\n" for name in names)
        self.macros, self.types, self.functions = [], [], {}
        for name, text in self._texts(include).items():
            self._read(name, text)

    def _texts(self, include):
        """What each header says itself, comments and other headers left out."""
        texts, file = {}, ""
        for line in output(*self.flags, "-E", "-dD", "-x", "c", "-", input=self.includes).splitlines():
            if marker := re.match(r'# \d+ "(.*?)"', line):
                file = marker[1]
            elif Path(file).is_relative_to(include):
                texts[file] = texts.get(file, "") + line + "\n"
        return {Path(file).name: text for file, text in sorted(texts.items())}

    def _read(self, header, text):
        for name, value in re.findall(r"^#define (\w+(?:\([^)]*\))?) ?(.*)$", text, re.MULTILINE):
            if not GUARD.fullmatch(name) and name != "SF_MPI_LINK":  # which each MPI library has of its own
                self.macros.append(f"macro {name}: {value}")
        for declaration in declarations(re.sub(r"^#.*$", "", text, flags=re.MULTILINE)):
            if found := re.fullmatch(r"typedef (enum|struct) (\w+) \{(.*)\} \2", declaration):
                self.types.append(found.groups())
            elif found := re.fullmatch(r"typedef struct (\w+) \1", declaration):
                self.types.append(("handle", found[1], ""))
            elif found := re.fullmatch(r"typedef ([^{]*?\(\*|[^{]*?\b)(\w+)(\)\(.*\)|)", declaration):
                self.types.append(("type", found[2], (found[1] + found[3]).strip()))
            elif found := re.fullmatch(r"\w[\w *]*[ *](\w+)\(.*\)", declaration):
                self.functions[found[1]] = declaration.replace(f"{found[1]}(", "(")
            elif not re.fullmatch(OF_NO_CONCERN, declaration):
                raise AssertionError(f"{header} has a declaration of a new kind ({declaration}), teach tests/abi/interface.py "
                                     "to record it")  # fmt: skip

    def layouts(self):
        """Types, one after the other, then macros."""
        told = []
        for kind, name, body in self.types:
            told += {"struct": of_struct, "enum": of_enum}.get(kind, of_type)(kind, name, body)
        program = (f"#include <stddef.h>\n#include <stdio.h>\n{self.includes}const char SF_MPI_LINK;\n"
                   f"int main(void) {{\n{''.join(told)}}}\n")  # fmt: skip
        output(*self.flags, "-Werror", "-x", "c", "-", "-o", self.room / "layouts", input=program)
        return output(self.room / "layouts").splitlines() + self.macros

    def prototypes(self):
        return [f"{name}: {prototype}" for name, prototype in sorted(self.functions.items())]

    def to_link(self):
        """The functions that a library has to have."""
        return {name for name, prototype in self.functions.items() if not re.match("(static|inline) ", prototype)}


def declarations(text):
    """Those of a preprocessed header, each as one line; functions without their bodies."""
    text = re.sub(r"__attribute__ ?\(\(.*?\)\)", "", text)
    depth = begin = 0
    for mark in re.finditer(r"[{};]", text):
        if mark[0] == "{":
            head = text[begin:mark.start()] if depth == 0 else head
            depth += 1
        elif mark[0] == "}":
            depth -= 1
            if depth == 0 and head.rstrip().endswith(")"):
                yield " ".join(head.split())
                begin = mark.end()
        elif depth == 0:
            yield " ".join(text[begin:mark.start()].split())
            begin = mark.end()


# Lines of a C program that tells the facts.


def of_struct(kind, name, body):
    yield tell(f"struct {name}: %zu bytes, aligned to %zu", f"sizeof({name})", f"_Alignof({name})")
    for field in filter(None, map(str.strip, body.split(";"))):
        found = re.fullmatch(r"(\w[\w *]*[ *])(\w+(?:, \w+)*) ?((?:\[.*?\])*)", field)
        if not found or (found[3] and "," in found[2]):
            raise AssertionError(f"{name} has a field of a new kind ({field}), teach tests/abi/interface.py to record it")
        for each in found[2].split(", "):
            yield tell(f"{name}.{each}: at %zu, %zu bytes, {found[1].strip()}{found[3]}", f"offsetof({name}, {each})",
                       f"sizeof((({name}*)0)->{each})")  # fmt: skip


def of_enum(kind, name, body):
    yield tell(f"enum {name}: %zu bytes", f"sizeof({name})")
    for enumerator in re.findall(r"(?:^|,) ?(\w+)", body):
        yield tell(f"{name}.{enumerator}: %lld", f"(long long){enumerator}")


def of_type(kind, name, body):
    yield tell(f"{kind} {name}: {body or 'opaque'}")


def tell(*words):
    text, *values = words
    return f'  printf("{text}\\n"{"".join(f", {value}" for value in values)});\n'


# --- libraries -------------------------------------------------------------------------------------------------------


class Library:
    """A shared library: its SONAME, and lines `name@@NODE: kind` for symbols that it defines (`exports`) or takes from
    other libraries of the project (`imports`). @@ marks the version that programs are linked with."""

    def __init__(self, path):
        [self.soname] = re.findall(r"Library soname: \[(.*)\]", output("readelf", "-dW", path))
        self.name = self.soname.split(".so")[0]
        self.exports, self.imports, self.wanted = [], [], set()
        for line in output("readelf", "--dyn-syms", "-W", path).splitlines():
            words = line.split()
            if len(words) < 8 or not words[0].rstrip(":").isdigit() or words[4] == "LOCAL":
                continue
            size, kind, place, name = words[2], words[3], words[6], words[7]
            if place == "UND":
                self.wanted.add(name.split("@")[0])
                self.imports += [name] if name.startswith("sf_") else []
            elif place != "ABS":  # such are the nodes themselves
                self.exports.append(f"{name}: function" if kind == "FUNC" else f"{name}: {kind.lower()}, {size} bytes")

    def lines(self):
        return [f"soname: {self.soname}", *sorted(self.exports)]

    def symbols(self):
        """Pairs of a name and its node, "" if it has none."""
        return [re.match(r"([^:@]*)@*([^:]*)", line).groups() for line in self.exports]

    def faults(self):
        """What no record excuses."""
        found = [f"{name} is taken from a library without versions, give it src/exports.map" for name in self.imports
                 if "@STEADFOLD_" not in name]  # fmt: skip
        version = self.soname.removeprefix(f"{self.name}.so.")
        for name, node in self.symbols():
            if not name.startswith("sf_"):
                found.append(f"{name} is exported (it is internal), hide it in src/exports*.map")
            elif not re.fullmatch(rf"STEADFOLD_({re.escape(version)}(\..*)?|PRIVATE)", node):
                found.append(f"{name} has the version '{node}' (the SONAME is {self.soname}), give it one in src/exports*.map")
        return found
