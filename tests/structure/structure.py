"""Checks the shape of the source tree: who includes whom, who calls MPI, how long a file may be."""

import ast
import re
import subprocess
import sys
import unittest
from pathlib import Path

from prose import Prose, comments_of_lines, prose_of  # noqa: F401 (Prose: more tests)
from reached import Reached  # noqa: F401 (more tests)

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from path_of_a_call import forms  # noqa: E402

# Rooms and the rooms that their code may include; the edges of src/CMakeLists.txt.
SEES = {
    "order": set(),
    "kernels": {"order"},
    "arithmetic": {"kernels", "order"},
    "schedule": {"order"},
    "transport": {"order"},
    "call": {"arithmetic", "kernels", "schedule", "order"},
    "plan": {"call", "arithmetic", "kernels", "schedule", "transport", "order"},
    "prediction": {"plan", "call", "arithmetic", "kernels", "schedule", "transport", "order"},
    "group": {"plan", "call", "arithmetic", "kernels", "schedule", "transport", "order"},
    "capi": {"group", "plan", "call", "arithmetic", "kernels", "schedule", "transport", "order", "steadfold"},
}
MPI_FILES = re.compile(r"(transport/mpi/|capi/mpi)[^/]*$")  # the only files of src/ that may know MPI
MPI_CALL = re.compile(r"\bP?MPI_[A-Z]\w*\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# A type's definition, be it in a class or out of it. Specialisations are none of their own.
TYPE = re.compile(r"\b(?:enum\s+class|enum|struct|class|union)\s+(?:\[\[\w+\]\]\s*)?(?:alignas\([^)]*\)\s*)?"
                  r"((?:\w+::)*\w+)(?:\s+final)?\s*(?::[^:;{}()][^;{}()]*)?\{")
SEVERAL = {  # type names that have more than one definition in src/, and why
    "Rounding": "one for x86-64, another one for all other processors",
    "promise_type": "C++ prescribes the name",
}
# The text behind the parameters of a function that is defined, and a text before a name that is called.
BEGINS_BODY = re.compile(r"\s*(?:(?:const|noexcept|override|final)\b|\{|-> |:\s*\w+[({])")
IS_CALLED = re.compile(r"(?:\breturn|\bnew|[=(,?:&|+\-*/!<]|\.|->)\s*$")
NO_FUNCTIONS = set("if for while switch return sizeof decltype noexcept requires catch alignas".split())
MOST_PARAMETERS = 6
# Files whose functions have more parameters, with the most, and why.
MORE_PARAMETERS = {
    "src/kernels/column_bins.cpp": (13, "vectors in registers, which SVE cannot put into structures"),
    "src/kernels/deal_out.hpp": (10, "likewise"),
    "src/kernels/extraction.cpp": (11, "likewise"),
    "src/kernels/binned_groups.cpp": (7, "an entry of the table of kernels"),
    "src/capi/gaspi.cpp": (8, "the parameters of GASPI's functions"),
    "interpose/wrappers.hpp": (9, "the parameters of MPI's functions"),
    "python/extension/runs.cpp": (13, "the keywords of Python's functions"),
}
# The types of src/ that describe a call, or that have one of these types as a member. A new one makes the code heavier to read.
FORMS = {
    "agreement.cpp: CallHead": "what ranks gather to find out why they disagree, one call",
    "agreement.cpp: ProposedCall": "the same, with its lists",
    "agreement.hpp: Member": "a call of a plan, as all ranks agreed on it",
    "call.hpp: Call": "the call itself",
    "description.hpp: Description": "what must be equal on all ranks",
    "held_arguments.hpp: HeldArguments": "the memory to which a call points",
    "core.cpp: LastCall": "the last call of a thread, for a call that repeats it",
    "prediction.hpp: Scenario": "a call whose time is predicted",
    "local.cpp: LocalReducer::WideRowsReducer": "the description of the last call of wide rows",
    "shape.hpp: Shape": "what calls of one description share",
    "started_call.hpp: StartedCall": "a call under way",
}
LONGEST = 500
LONGEST_PLAN = 150  # docs/architecture.md: what does not fit there goes to a room's page
SUFFIXES = (".cpp", ".hpp", ".h", ".py", ".toml", "_test.cpp", "_test.py")  # that pages leave out
CODE = re.compile(r"`([^`\n]+)`")  # in pages
NAME = re.compile(r"(?<!\w)[A-Za-z]\w*(?:::\w+)*")
FILE = re.compile(r"(?<![\w./])[a-z]\w*\.(?:hpp|h|cpp|c|py|toml)\b")
# Files that comments name: of this project, of others, or examples.
NAMED_FILE = re.compile(r"(?<![\w./<\"-])(?:[\w-]+/)*[\w-]+\.(?:hpp|cpp|h|py|md|toml|f90|inc|cmake|sh)\b")
OF_OTHERS = set("mpi.h mpif.h dlpack.h ISO_Fortran_binding.h binned.h binnedBLAS.h misc/distribution_bench.sh page.md".split())
# Names of NumPy that the package uses outside _elements.py: none converts elements of floating point or computes with them.
OF_NUMPY = set("""asanyarray asarray from_dlpack broadcast_to expand_dims moveaxis reshape squeeze ndindex empty full ones zeros
    any arange argsort ascontiguousarray concatenate flatnonzero frombuffer isin isnan isnat searchsorted stack unique where can_cast dtype generic ma nan ndarray promote_types repeat result_type float32 float64 int8 int64 uint8
    uint64 __version__""".split())
# NumPy's C functions that may convert elements; without a dtype CheckFromAny changes the byte order at most.
CONVERTS = re.compile(r"\bPyArray_(?:Cast\w*|Copy\w*|FROM\w*|From\w+|\w+FromAny|Assign\w*|SetItem)\s*\((?!array\.ptr\(\), nullptr)")
# Names that belong to the compiler and its libraries, and those of theirs that are used here.
RESERVED = re.compile(r"\b(?:_[A-Z]\w*|\w*__\w*)")
OF_COMPILERS = re.compile(r"__builtin_\w+|_SC_\w+|__(?:clang__|cplusplus|VA_ARGS__|extension__|restrict|int128|float128|SIZEOF_FLOAT128__"
                          r"|has_attribute|attribute__|has_include|cpp_rtti|GNUC__|SSE2__|aarch64__|x86_64__|linux__|get_cpuid_count|m128i)")


def sources(directory):
    return sorted(p for p in (ROOT / directory).rglob("*") if p.suffix in {".cpp", ".hpp", ".h", ".c"})


def functions_of(text):
    """The functions that a file in C or C++ defines, with their numbers of parameters."""
    code = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', COMMENT.sub("", text))
    for name in re.finditer(r"~?\b[A-Za-z_]\w*(?=\()", code):
        if name[0] in NO_FUNCTIONS or IS_CALLED.search(code[max(0, name.start() - 40) : name.start()]):
            continue
        depth, angles, commas, end = 1, 0, 0, name.end() + 1
        while depth > 0 and end < len(code):
            char = code[end]
            depth += (char in "([{") - (char in ")]}")
            angles = max(0, angles + (char == "<") - (char == ">" and code[end - 1] != "-"))
            commas += char == "," and depth == 1 and angles == 0
            end += 1
        if BEGINS_BODY.match(code[end : end + 80]):
            yield name[0], commas + (code[name.end() + 1 : end - 1].strip() not in ("", "void"))


def includes(path):
    return [name for _, name in INCLUDE.findall(path.read_text())]


def pages_of_rooms():
    return {page.stem: page for page in (ROOT / "docs/rooms").glob("*.md")}


def room_of(include):
    first = include.split("/")[0]
    return first if first in SEES or first == "steadfold" else None


class Structure(unittest.TestCase):
    def expect_none(self, faults):
        self.assertFalse(faults, "\n" + "\n".join(faults))

    def test_rooms_are_known(self):
        self.assertEqual({p.name for p in (ROOT / "src").iterdir() if p.is_dir()} - set(SEES), set())

    def test_rooms_include_only_what_they_may_see(self):
        faults = []
        for room, seen in SEES.items():
            for path in sources(f"src/{room}"):
                for include in includes(path):
                    if room_of(include) not in seen | {room, None}:
                        faults.append(f"{path.relative_to(ROOT)} includes {include} ({room} may not see that room)")
                    if ".." in include.split("/"):
                        faults.append(f"{path.relative_to(ROOT)} includes {include} (leaves its room), write room/file")
        self.expect_none(faults)

    def test_only_the_mpi_files_know_mpi(self):
        faults = []
        for path in sources("src"):
            name = path.relative_to(ROOT / "src").as_posix()
            if MPI_FILES.fullmatch(name):
                continue
            faults += [f"src/{name} includes {i} (only mpi* files may)" for i in includes(path) if i == "mpi.h"]
            for call in MPI_CALL.findall(COMMENT.sub("", path.read_text())):
                faults.append(f"src/{name} calls {call} (only mpi* files may)")
        self.expect_none(faults)

    def test_the_mpi_layer_hands_over_transports_and_nothing_else(self):
        faults = []
        for path in sources("src"):
            name = path.relative_to(ROOT / "src").as_posix()
            if MPI_FILES.fullmatch(name):
                seen = [i for i in includes(path) if room_of(i) not in {None, "steadfold", "transport", "order"}]
                faults += [f"src/{name} includes {i} (of libsteadfold)" for i in seen if i != "capi/layer.hpp"]
        self.expect_none(faults)

    def test_public_headers_and_examples_see_the_public_api_only(self):
        faults = []
        for path in sources("include") + sources("examples"):
            for include in includes(path):
                if room_of(include) in SEES:
                    faults.append(f"{path.relative_to(ROOT)} includes {include} (of src/)")
        self.expect_none(faults)

    def test_sum_and_verify_see_the_public_api_only(self):
        faults = []
        for path in sources("tools"):
            if path.stem.startswith(("sum", "verify")):
                faults += [f"{path.relative_to(ROOT)} includes {i} (of src/)" for i in includes(path) if room_of(i) in SEES]
        self.expect_none(faults)

    def test_python_computes_with_elements_in_one_place(self):
        """There the environment is in force in which bits are promised. Keys, and data between ranks, are no elements:
        no floating-point number is among them."""
        faults = []
        for path in sorted((ROOT / "python/steadfold").glob("*.py")):
            tree = ast.parse(path.read_text())
            if path.stem == "_elements":
                guards = {each.name: [ast.unparse(one) for one in each.decorator_list] for each in tree.body if isinstance(each, ast.FunctionDef)}
                faults += [f"{path.name}: {name} is not @promised" for name, found in guards.items()
                           if name != "promised" and not name.startswith("_") and found != ["promised"]]
            if path.stem in ("_elements", "_keys", "_gather"):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Import) and any(name.name in ("math", "fractions") for name in node.names):
                    faults.append(f"{path.name}:{node.lineno} imports math")
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("asarray", "asanyarray")) and len(node.args + node.keywords) > 1:
                    faults.append(f"{path.name}:{node.lineno} has {ast.unparse(node)}, which may convert elements, move it to _elements.py")
                if not isinstance(node, ast.Attribute):
                    continue
                of_numpy = isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy")
                if node.attr in ("astype", "__array__") or (of_numpy and node.attr not in OF_NUMPY):
                    faults.append(f"{path.name}:{node.lineno} has {ast.unparse(node)}, which may compute with elements, move it to _elements.py")
        for path in sources("python/extension"):
            text = path.read_text()
            for call in CONVERTS.finditer(text):
                body = text[text.rfind("\n}\n", 0, call.start()) + 1:call.start()]
                if "PromisedEnvironment" not in body:
                    faults.append(f"{path.name} calls {call[0]}..., outside a PromisedEnvironment")
        self.expect_none(faults)

    def test_what_programs_share_is_below_them(self):
        faults = []
        for folder, above in (("program", ("tools/", "bench/")), ("bench", ("tools/",))):
            for path in sources(folder):
                faults += [f"{path.relative_to(ROOT)} includes {i}" for i in includes(path) if i.startswith((*above, ".."))]
        self.expect_none(faults)

    def test_nothing_outside_the_laboratory_includes_it(self):
        faults = []
        for folder in ("src", "include", "program", "bench", "tools", "interpose", "python", "fortran", "examples", "tests"):
            for path in sources(folder):
                faults += [f"{path.relative_to(ROOT)} includes {i} (of lab/)" for i in includes(path) if "lab" in i.split("/")]
        self.expect_none(faults)

    def test_no_name_is_the_compilers(self):
        """In place of bugprone-reserved-identifier, a fifth of clang-tidy's time."""
        faults = []
        for path in sources("src") + sources("include"):
            for name in RESERVED.findall(COMMENT.sub("", path.read_text())):
                if not OF_COMPILERS.fullmatch(name):
                    faults.append(f"{path.relative_to(ROOT)} has {name} (such names belong to the compiler), choose another")
        self.expect_none(faults)

    def test_what_is_made_from_the_tables_is_current(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "surface/write.py", "--check"], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_forwards_a_transport_forwards_all_of_it(self):
        declared = re.findall(r"virtual [^;{]*?(\w+)\(", (ROOT / "src/transport/transport.hpp").read_text())
        forwarded = re.findall(r"(\w+)\([^;{]*\) (?:const )?(?:noexcept )?override", (ROOT / "src/transport/forwarding.hpp").read_text())
        self.assertGreater(len(declared), 25)
        self.assertEqual(sorted(set(declared) - {"Endpoint", "Transport"}), sorted(set(forwarded)))

    def test_files_that_pages_name_are_there(self):
        rooms = "|".join(SEES.keys() - {"steadfold"})
        tops = "|".join(p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith(".") and p.name != "build")
        path = re.compile(rf"(?<![\w./$-])(?:(?:{tops})/)?(?:(?:{rooms}|{tops})/)[a-z0-9_/.]*[a-z0-9_](?![\w*])")
        faults = []
        for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/*.svg")]:
            for name in path.findall(page.read_text()):
                there = [found for root in (ROOT, ROOT / "src", ROOT / "tests") for found in root.glob(f"{name}*")]
                if not any(p.name in (Path(name).name, *(f"{Path(name).name}{s}" for s in SUFFIXES)) for p in there):
                    faults.append(f"{page.relative_to(ROOT)} names {name} (there is no such file), say where it is now")
        self.expect_none(faults)

    def test_files_that_comments_name_are_there(self):
        """Comments of whole lines, and behind code."""
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        if not listed:
            self.skipTest("git lists no files (this is no clone)")
        count, faults = 0, []
        for path in (ROOT / name for name in listed):
            if path.suffix == ".md" or not path.is_file():
                continue
            of_hash = path.suffix in (".toml", ".sh", "")
            for text in comments_of_lines(path.read_text(errors="replace"), "#") if of_hash else prose_of(path):
                for name in NAMED_FILE.findall(text):
                    count += 1
                    if name not in OF_OTHERS and not any(f"/{each}".endswith(f"/{name}") for each in listed):
                        faults.append(f"{path.relative_to(ROOT)} names {name} in a comment (there is no such file), say where it is now")
        self.assertGreater(count, 200)
        self.expect_none(faults)

    def test_names_that_pages_of_rooms_mention_are_there(self):
        """What stands between backticks; the parts of a qualified name stand in one file."""
        suffixes = {".cpp", ".hpp", ".h", ".c", ".py", ".toml", ".f90", ".cmake", ".map", ".sh", ".inc", ""}
        folders = ("src", "include", "program", "tools", "bench", "python", "fortran", "surface", "tests", "cmake", "scripts")
        files = [p for folder in folders for p in (ROOT / folder).rglob("*") if p.is_file() and p.suffix in suffixes]
        files += [ROOT / "dev", ROOT / "src/CMakeLists.txt", *ROOT.glob("*.toml")]
        words = [set(re.findall(r"\w+", path.read_text(errors="ignore"))) for path in files]
        file_names = {path.name for path in files}
        faults = []
        for page in [ROOT / "docs/architecture.md", *pages_of_rooms().values()]:
            text = page.read_text()
            for name in sorted({name for code in CODE.findall(text) for name in NAME.findall(code)}):
                parts = set(name.split("::"))
                if not any(parts <= each for each in words):
                    faults.append(f"{page.relative_to(ROOT)} mentions {name} (no file has it), say what it is called now")
            for name in sorted(set(FILE.findall(text)) - file_names):
                faults.append(f"{page.relative_to(ROOT)} mentions {name} (there is no such file), say where it is now")
        self.expect_none(faults)

    def test_architecture_leads_to_a_page_of_every_room(self):
        plan = (ROOT / "docs/architecture.md").read_text()
        self.assertLessEqual(len(plan.splitlines()), LONGEST_PLAN, "lines in docs/architecture.md, move some to docs/rooms")
        pages = pages_of_rooms()
        self.assertEqual(set(re.findall(r"\]\(rooms/(\w+)\.md\)", plan)), set(pages), "links to pages, and pages")
        self.assertEqual({p.name for p in (ROOT / "src").iterdir() if p.is_dir()} - set(pages), set(), "rooms without a page")
        for page in [ROOT / "docs/architecture.md", *pages.values()]:
            for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
                self.assertTrue((page.parent / link).exists(), f"{page.name} leads to {link}")
        drawn = re.findall(r'class="name"[^>]*>(\w+)', (ROOT / "docs/architecture.svg").read_text())
        self.assertEqual(SEES.keys() - set(drawn), set(), "rooms that docs/architecture.svg does not show")

    def test_pages_of_rooms_say_what_they_may_see_and_where_to_begin(self):
        for room, page in pages_of_rooms().items():
            if room == "README":
                continue
            text = page.read_text()
            self.assertIn("\n## Where to begin\n", text, room)
            seen = re.search(r"\n## Permitted includes\n(.*?)\n## ", text, re.DOTALL)
            self.assertTrue(seen, f"{room} says nothing under 'Permitted includes'")
            if room in SEES:
                self.assertEqual(set(re.findall(r"\]\((\w+)\.md\)", seen[1])), SEES[room] - {"steadfold"}, room)

    def test_a_name_of_a_type_has_one_meaning(self):
        found = {}
        for path in sources("src"):
            for name in TYPE.findall(COMMENT.sub("", path.read_text())):
                found.setdefault(name.split("::")[-1], []).append(path.relative_to(ROOT).as_posix())
        faults = [f"{name} is defined in {', '.join(paths)} (one name, several meanings), rename all but one"
                  for name, paths in sorted(found.items()) if len(paths) > 1 and name not in SEVERAL]
        faults += [f"{name} has one definition (SEVERAL lists it), leave it out there"
                   for name in SEVERAL if len(found.get(name, [])) < 2]
        self.expect_none(faults)

    def test_forms_of_a_call_are_known(self):
        paths = (path.relative_to(ROOT) for folder in ("src", "include") for path in sources(folder))
        found = {each.rpartition("/")[2] for each in forms(paths) if each.startswith("src/")}
        self.assertEqual(found, FORMS.keys(), "a form of a call came or went, let another form carry its facts or change FORMS")

    def test_functions_take_few_parameters(self):
        for folder in ("src", "include", "interpose", "program", "tools", "bench", "python/extension"):
            for path in sources(folder):
                name = str(path.relative_to(ROOT))
                most, _ = MORE_PARAMETERS.get(name, (MOST_PARAMETERS, ""))
                counts = list(functions_of(path.read_text()))
                with self.subTest(name):
                    self.assertEqual([each for each in counts if each[1] > most], [], f"more than {most} parameters")
                    if name in MORE_PARAMETERS:
                        self.assertEqual(max(count for _, count in counts), most, "MORE_PARAMETERS allows more than there are")

    def test_files_stay_short(self):
        faults = []
        for path in sources("src"):
            lines = len(path.read_text().splitlines())
            if lines > LONGEST:
                faults.append(f"{path.relative_to(ROOT)} has {lines} lines (most: {LONGEST}), split it by ideas")
        self.expect_none(faults)


if __name__ == "__main__":
    unittest.main()
