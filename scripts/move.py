"""Moves files and folders with `git mv`, and rewrites their paths in all text files of the repository. Usage:
  move.py [--dry-run] OLD NEW [OLD NEW ...]
If NEW ends in a slash, OLD moves into this folder and keeps its name. --dry-run prints the changes, and makes none.

A text names a file by its path from the top folder, from src/, include/, tests/ or docs/, or from the folder of the text.
The path may lack the suffix (order/index), or first folders if its end is unique. Globs, lists in braces, variables of
CMake, dots of patterns ("index[.]hpp") and Python's "tests" / "golden" are understood. A file name without a folder is
rewritten in includes, links and CMake lists; elsewhere only if the file is renamed and no other file has its name. The
script prints the places that need a decision. It leaves the changelog and golden data as they are.

The script formats and stages the changed files. Afterwards, run `tests/mutants.py compile BUILD` if edits name moved files."""

import fnmatch
import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from posixpath import basename, dirname, join, normpath, relpath

FORMATTER = "clang-format-16"  # as in dev
SOURCES = (".cpp", ".hpp", ".h", ".c")
HISTORY = ("CHANGELOG.md", "packaging/debian/changelog")
DATA = ("tests/golden/*.txt", "tests/fuzz/seeds/*", "tests/abi/older/*", "*.csv", "*.tsv")
WIDTH = 120
PIECE = r"(?:[\w.*+-]|\[\.\]|\\\.|\$\{\w+\}|\{[\w.*-]*(?:,[\w.*-]*)+\})"
TOKEN = re.compile(rf"(?<![\w.*+-])((?:\*\*(?!/)|\.\*/)?(?:\$\{{(?:PROJECT|CMAKE_CURRENT)_SOURCE_DIR\}}/)?)({PIECE}+(?:/{PIECE}+)*/?)")
CHAIN = re.compile(r'"[\w.-]+"(?: / "[\w.-]+")+')
WILD = re.compile(r"(\*\*/|\*|\$\{\w+\}|\{[^{}]*\}|\b(?:FILE|FOLDER|NAME|ROOM|SUBJECT)\b)")
LINK = re.compile(r'(?:\]\(|(?:src|href)="|#\s*include\s*[<"])$')  # before the name of a file in the folder of the text


def git(*words):
    return subprocess.run(["git", "-c", "core.quotePath=false", *words], capture_output=True, text=True, check=True).stdout


def refuse(message):
    print(message, file=sys.stderr)
    sys.exit(2)


@functools.cache
def regex_of(glob):
    """Variables of CMake and words such as NAME stand for any text."""
    parts = []
    for number, part in enumerate(WILD.split(glob)):
        if number % 2 == 0:
            parts.append(re.escape(part))
        elif part.startswith("{"):
            parts.append("(?:" + "|".join(map(regex_of, part[1:-1].split(","))) + ")")
        else:
            parts.append("(?:.*/)?" if part == "**/" else "[^/]*")
    return "".join(parts)


class Tree:
    """The names of all files, before and after the move."""

    def __init__(self, files, moved):
        self.files, self.moved = files, moved
        self.paths, self.stems, self.ends = {}, {}, {}  # names -> files; the end of a name -> names
        for file in files:
            self.stems.setdefault(join(dirname(file), basename(file).split(".")[0]), []).append(file)
            for path in (file, *map(str, Path(file).parents)):
                self.paths.setdefault(path, []).append(file)
        for name in {**self.paths, **self.stems}:
            for slash in re.finditer("/", name):
                self.ends.setdefault(name[slash.end() :], []).append(name)
        names = [basename(file) for file in files]
        pairs = [(basename(old), basename(new)) for old, new in moved.items()]
        self.renamed = {old: new if names.count(old) == 1 else None for old, new in pairs if old != new}
        gone = [path for path, below in self.paths.items() if moved.keys() >= set(below)]
        unique = [path for path in gone if names.count(basename(path)) < 2]
        self.gone = {basename(path): self.after(path, self.paths[path]) or "in several folders" for path in unique}
        self.rooms = {basename(path): dirname(path) for path in gone if path not in moved and dirname(path) in ("", "src")}
        words = {re.escape(basename(path).split(".")[0]) for path in gone}
        self.words = re.compile(rf"(?<![a-zA-Z])(?:{'|'.join(sorted(words))})(?![a-zA-Z])")

    def find(self, path, bases, is_end):
        """(base, name, files) of the files that a path names; several if it is the end of several names."""
        if path.startswith("$") or not re.search(r"\w", WILD.sub("", path)):  # it stands for any folder
            return []
        bases = bases[:1] if path.startswith("*") else bases
        names = [(base, name) for base in bases if (name := normpath(join(base, path))) != "."]
        if WILD.search(path):
            for base, name in names:
                matches = re.compile(regex_of(name)).fullmatch
                if any(map(matches, self.moved)):
                    return [(base, name, list(filter(matches, self.files)))]
            return []
        for table in (self.paths, self.stems):
            for base, name in names:
                if name in table:
                    return [(base, name, table[name])]
        ends = self.ends.get(path, ()) if is_end else ()
        return [(name[: -len(path) - 1], name, self.paths.get(name) or self.stems[name]) for name in ends]

    def after(self, name, files):
        """The name of these files after the move; None if no name has all of them."""
        start, *rest = WILD.split(name)
        ends = [(self.moved.get(file, file), file[len(start) :]) for file in files]
        starts = {new[: len(new) - len(end)] if new.endswith(end) else None for new, end in ends}
        if len(starts) == 1 and None not in starts:
            return starts.pop() + "".join(rest)
        still = regex_of(name) if rest else re.escape(name) + "/.*"
        counts = sum(bool(re.fullmatch(still, new)) for new, _ in ends)
        return name if counts == len(ends) or (counts and not rest) else None


class Text:
    """A text file of the repository: its text after the move, and notes on places that need a decision."""

    def __init__(self, tree, file, text):
        self.tree, self.file, self.changes, self.notes = tree, file, [], []
        self.new_file = tree.moved.get(file, file)
        self.here, self.there = str(Path(file).parent), str(Path(self.new_file).parent)
        self.is_code, self.is_script = file.endswith(SOURCES), file.endswith(".py")
        self.is_list = basename(file) == "CMakeLists.txt" or file.endswith(".cmake")
        room = [f"src/{Path(file).stem}"] if self.here == "docs/rooms" else []
        self.bases = list(dict.fromkeys([self.here, *room, *map(str, Path(file).parents), "src", "include", "tests", "docs"]))
        self.text = "".join(self.line(*each) for each in enumerate(text.splitlines(keepends=True), 1))

    def note(self, why):
        self.notes.append(f"{self.new_file}:{self.number}: {why}")

    def line(self, number, line):
        is_glob = not self.is_code and WILD.search(line)
        if not is_glob and self.here == self.there and not self.tree.words.search(line):
            return line
        self.number = number
        self.note_names(line)
        made = TOKEN.sub(self.token, CHAIN.sub(self.chain, line) if self.is_script else line)
        if made != line:
            self.changes.append(f"{self.new_file}:{number}: {made.strip()}")
            if len(made) > WIDTH + 1 >= len(line) and not self.is_code:
                self.note(f"the line is now longer than {WIDTH} characters")
        return made

    def note_names(self, line):
        """Finds names that are no paths. They may be folders, modules of Python, or files of a folder that the line names."""
        if self.is_script and self.here.count("/") != self.there.count("/") and re.search(r"\bparents?\b", line):
            self.note("the file is now at another depth")
        is_import = self.is_script and re.match(r"\s*(?:from|import)\b", line)
        quoted = re.findall(r'/ "([\w.-]+)"', CHAIN.sub("", line)) if self.is_script else ()
        words = set(re.findall(r"(?<![\w./-])\w+(?![\w/-]|\.\w)", line))
        for name, new in self.tree.gone.items():
            is_room = name in words and name in self.tree.rooms
            if name in quoted or is_room and (f'"{name}"' in line or self.is_list and self.tree.rooms[name]):
                self.note(f"{name} may be {new}")
        for old, new in self.tree.moved.items() if words else ():
            stem, is_renamed = Path(old).stem, Path(old).stem != Path(new).stem
            is_apart = is_renamed or self.tree.gone.get(basename(dirname(old))) != dirname(new)
            is_module = is_import and old.endswith(".py") and is_apart
            is_file = "_" in stem and not self.is_code and (is_renamed or is_apart and basename(dirname(old)) + "/" in line)
            if stem in words and (is_module or is_file):
                self.note(f"{stem} may be {Path(new).with_suffix('')}")

    def chain(self, found):
        """The literals of a path that Python joins."""
        path = "/".join(re.findall(r'"([^"]*)"', found[0]))
        made = self.path(path, [".", self.here], False)
        return found[0] if made is None else " / ".join(f'"{part}"' for part in made.split("/"))

    def token(self, found):
        """The word with its path after the move."""
        start, word, before = found[1], found[2], found.string[max(0, found.start() - 20) : found.start()]
        text = re.sub(r"(?<!/)\*\*$", "", word.rstrip("."))
        path = text.replace("[.]", ".").replace("\\.", ".")
        is_relative = self.is_list or path.startswith(".") or LINK.search(before) is not None
        if "/" in path:
            made = self.path(path, self.bases_of(path, start, before), is_relative)
        elif is_relative and (normpath(join(self.here, path)) in self.tree.files or before.endswith("add_subdirectory(")):
            made = self.path(path, [self.here], True)
        elif (made := self.tree.renamed.get(path, path)) is None:
            self.note(f"{path} is renamed, but several files have this name")
        if made is None or made == path:
            return found[0]
        for dot in ("[.]", "\\."):
            made = made.replace(".", dot) if dot in text else made
        return start + made + word[len(text) :]

    def bases_of(self, path, start, before):
        """The folders from which a path may lead."""
        if path.startswith(".") or "CMAKE" in start or before.endswith("]("):
            return [self.here]
        return ["."] if "PROJECT" in start else self.bases

    def path(self, path, bases, is_relative):
        """The path after the move; None if it needs a decision."""
        found = self.tree.find(path.rstrip("/"), bases, bases is self.bases)
        if path.endswith("/"):
            found = [each for each in found if each[2][0].startswith(each[1] + "/")]
        is_moved = any(file in self.tree.moved for _, _, files in found for file in files)
        if not found or not (is_moved or found[0][0] == self.here != self.there):
            return path
        base, name, files = found[0]
        if len(found) > 1:
            return self.note(f"{path} may name {' or '.join(each for _, each, _ in found)}")
        if not (new := self.tree.after(name, files)):
            return self.note(f"{path} names files that are no longer together")
        made = self.spelt(new, base, is_relative)
        return path if made == normpath(path) else made + "/" * path.endswith("/")

    def spelt(self, new, base, is_relative):
        """The path from the same folder, or from another folder that texts start from."""
        if base == self.here and is_relative and (new.startswith(self.there + "/") or not self.is_code):
            return relpath(new, self.there)
        if base == self.here:
            base = self.there
        elif base != ".":
            base = self.tree.after(base, self.tree.paths[base]) or base
        starts = (base, "src", "include", *(["tests"] if self.there.startswith("tests") else [])) if base != "." else ()
        return next((new[len(each) + 1 :] for each in starts if new.startswith(each + "/")), new)


def moves_of(words, files):
    """Old name -> new name of each file that the words of the command move."""
    if not words or len(words) % 2:
        refuse(f"there are {len(words)} paths (each OLD needs a NEW), write move.py OLD NEW [OLD NEW ...]")
    moved = {}
    for old, new in zip(map(normpath, words[::2]), words[1::2]):
        new = normpath(join(new, basename(old)) if new.endswith("/") else new)
        news = {file: new + file[len(old) :] for file in files if file == old or file.startswith(old + "/")}
        if not os.path.lexists(old):
            refuse(f"{old} does not exist (paths begin at the top folder), see git ls-files")
        if not news:
            refuse(f"{old} is not tracked (git does not know it), add it first")
        if os.path.lexists(new) or set(news.values()) & set(moved.values()):
            refuse(f"{new} exists (the move would replace it), choose another name, or end a folder in a slash")
        if news.keys() & moved.keys():
            refuse(f"{old} moves twice (another OLD contains it), move it in a second step")
        if new.startswith(("/", "..", old + "/")):
            refuse(f"{old} cannot move to {new} (this is outside the repository or in {old}), choose another name")
        moved |= news
    return moved


def texts_of(files, tree):
    """The files that the move changes, and the files with places that need a decision."""
    for file in files:
        data = b"\0" if any(fnmatch.fnmatch(file, each) for each in DATA) or os.path.islink(file) else Path(file).read_bytes()
        if b"\0" in data:
            continue
        text = Text(tree, file, data.decode(errors="surrogateescape"))
        if file in HISTORY:
            text.notes, text.changes = [f"{each} (history stays as it is)" for each in text.changes], []
        if text.changes or text.notes:
            yield text


def move(moved, texts):
    for old, new in moved.items():
        os.makedirs(dirname(new) or ".", exist_ok=True)
        git("mv", old, new)
        if os.path.isdir(dirname(old)) and not os.listdir(dirname(old)):
            os.removedirs(dirname(old))
    for text in texts:
        Path(text.new_file).write_bytes(text.text.encode(errors="surrogateescape"))
    changed = [text.new_file for text in texts]
    if code := [file for file in changed if file.endswith(SOURCES) and shutil.which(FORMATTER)]:
        subprocess.run([FORMATTER, "-i", *code], check=True)
    git("add", "--", *changed)


def main():
    words = [word for word in sys.argv[1:] if word != "--dry-run"]
    os.chdir(git("rev-parse", "--show-toplevel").strip())
    files = dict.fromkeys(git("ls-files").splitlines())
    moved = moves_of(words, files)
    texts = list(texts_of(files, Tree(files, moved)))
    changed = [text for text in texts if text.changes]
    dirty = {line[3:] for line in git("status", "--porcelain", "--no-renames", "--untracked-files=no").splitlines()}
    if dirty := sorted(dirty & {*moved, *(text.file for text in changed)}):
        refuse(f"{dirty[0]} has changes that are not committed (the move would mix with them), commit or stash them")
    if "--dry-run" not in sys.argv:
        move(moved, changed)
    print(*(f"{old} -> {new}" for old, new in moved.items()), *(each for text in changed for each in text.changes), sep="\n")
    if notes := list(dict.fromkeys(note for text in texts for note in text.notes)):
        print("look at these by hand:", *notes, sep="\n  ")
    print(f"{len(moved)} files moved, {len(changed)} files rewritten, {len(notes)} places to look at by hand")


if __name__ == "__main__":
    main()
