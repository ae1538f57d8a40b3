"""The Fortran interface is whole: it calls every public function of C, or docs/fortran.md says why not; its interfaces have
the arguments of the C functions behind them; what a compiler would copy is refused where a call is started; and errors
of C are translated."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "fortran/steadfold.f90"
GFORTRAN = "gfortran"


def module_text():
    return MODULE.read_text() + (ROOT / "fortran/steadfold_operations.inc").read_text()


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, **more)


def sources():
    return [*(ROOT / "fortran").glob("*.c"), *(ROOT / "fortran").glob("*.h")]


def public_functions():
    return re.findall(r"^(sf_\w+):", (ROOT / "tests/abi/functions.txt").read_text(), re.MULTILINE)


def left_out():
    """What the table in docs/fortran.md names."""
    page = (ROOT / "docs/fortran.md").read_text()
    table = re.search(r"^## Functions of C that Fortran lacks$(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL).group(1)
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(sf_\w+)`", row)}


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def called():
    code = without_comments("\n".join(path.read_text() for path in sources()))
    return set(re.findall(r"\b(sf_\w+)\(", code)) | set(re.findall(r'bind\(c, name="(sf_\w+)"\)', module_text()))


def interfaces():
    """The arguments of every function of C that the modules declare, by its name."""
    drop_ins = "".join(path.read_text() for path in sorted((ROOT / "fortran/drop_ins").glob("*.f90")))
    text = re.sub(r"&\n\s*", "", module_text() + drop_ins)
    found = re.findall(r'(?:subroutine|function) \w+\(([^)]*)\) *bind\(c, name="(sf_fortran_\w+)"\)', text)
    return {name: [word.strip() for word in arguments.split(",") if word.strip()] for arguments, name in found}


def definitions():
    """The same of the C sources, macros expanded."""
    place = Path(run(GFORTRAN, "-print-file-name=include/ISO_Fortran_binding.h").stdout.strip()).parent
    found = {}
    for path in (ROOT / "fortran").glob("*.c"):
        done = run("cc", "-E", "-P", "-std=c11", "-I", ROOT / "include", "-idirafter", place, path)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        for name, arguments in re.findall(r"\b(sf_fortran_\w+)\(([^()]*)\)\s*\{", done.stdout):
            words = [re.search(r"(\w+)\s*$", argument).group(1) for argument in arguments.split(",") if argument.strip()]
            found[name] = [] if words == ["void"] else words
    return found


class Interface(unittest.TestCase):
    def test_every_public_function_is_called_or_left_out_for_a_reason(self):
        public = set(public_functions())
        self.assertGreater(len(public), 70)
        self.assertEqual(public - called() - left_out(), set(), "neither called from Fortran nor named in docs/fortran.md")
        self.assertEqual(left_out() & called(), set(), "named in docs/fortran.md though Fortran calls them")
        self.assertEqual(left_out() - public, set(), "named in docs/fortran.md, but not public")

    def test_arguments_are_those_of_c(self):
        declared, defined = interfaces(), definitions()
        self.assertGreater(len(declared), 100)
        self.assertEqual(set(declared), set(defined))
        shared = {"comm", "keep", "weight", "where", "options", "ierr", "layout", "request", "labels", "blocks", "context"}
        for name, arguments in declared.items():
            with self.subTest(name=name):
                self.assertEqual(len(arguments), len(defined[name]), f"{arguments}, {defined[name]}")
                for here, there in zip(arguments, defined[name]):
                    if here in shared and there in shared:
                        self.assertEqual(here, there)

    def test_all_that_is_declared_is_public(self):
        text = module_text()
        public = set(re.findall(r"\bsf_\w+", re.sub(r"&\n", "", " ".join(re.findall(r"public :: ((?:.*&\n)*.*)", text)))))
        generic = set(re.findall(r"^  interface (\w+)", text, re.MULTILINE))
        plain = re.sub(r"^  interface \w+\n.*?^  end interface", "", text, flags=re.MULTILINE | re.DOTALL)
        names = generic | set(re.findall(r"^ +(?:subroutine|function) (sf_\w+)", plain, re.MULTILINE))
        self.assertEqual(names - public, set())
        self.assertGreater(len(names), 80)


# Texts with names of C that no program in Fortran gets to read, and why.
NOT_READ = {
    "combine values of sf_guarantee": "guarantees are given by name",
    "it is not a value of sf_operation": "operations are given by name",
    "user operators take SF_BYTES": "the layer says which elements an operator has",
    "SF_BYTES and element_bytes": "likewise",
    "sf_gaspi_allreduce_user": "the name of an operator",
    "sf_accumulator_merge_ranks": "likewise",
    "SF_GASPI_TIMEOUT": "of calls in the shape of GASPI",
    "use a value of sf_type": "the layer says the types",
    "give a value of sf_type": "likewise",
    "SF_BYTES of 1 or 2 bytes": "the layer looks at the types of labels",
    "SF_BYTES of 1, 2, 4 or 8 bytes": "and at those of masks",
    "get the size from sf_accumulator_packed_size": "the layer compares sizes",
    "use SF_ELEMENTS or SF_PRODUCTS": "the layer says the terms",
    "make one with sf_accumulator_create": "the layer gives no null pointers",
    "bind one with sf_plan_bind": "likewise",
    "begin with sf_call_init": "likewise",
    " for an sf_call of ": "the layer's own has the size of its library's",
    "sf_call": "the name of the struct, likewise",
    "sf_arrays": "likewise",
}


def texts_of_c():
    """The strings of the library, those of one statement joined."""
    for path in sorted((ROOT / "src").rglob("*.?pp")):
        code = re.sub(r"^\s*(#|static_assert).*$|//.*$", "", path.read_text(), flags=re.MULTILINE)
        code = re.sub(r'"\s*\+?\s*"', "", code)
        yield from re.findall(r'"((?:[^"\\\n]|\\.)*)"', code)


class Texts(unittest.TestCase):
    def test_names_of_c_are_translated_or_nobody_reads_them(self):
        rows = re.findall(r'^    \{"(.*?)", "(.*?)"\},$', (ROOT / "fortran/texts.c").read_text(), re.MULTILINE)
        self.assertGreater(len(rows), 15)
        public = set(re.findall(r"\bsf_\w+", module_text().lower()))
        texts, met = list(texts_of_c()), set()
        for text in texts:
            rest = text
            for phrase in [each for each, _ in rows] + list(NOT_READ):
                if "#" not in phrase and phrase in rest:
                    met.add(phrase)
                    rest = rest.replace(phrase, "")
            names = {name.lower() for name in re.findall(r"\b(?:sf|SF)_\w+", rest)}
            self.assertEqual(names - public, set(), f"{text!r}: translate it in fortran/texts.c, or say why nobody reads it")
        phrases = {phrase for phrase, _ in rows if "#" not in phrase} | set(NOT_READ)
        self.assertEqual(phrases - met, set(), "in no text of C")
        for _, phrase in rows:
            names = {name.lower() for name in re.findall(r"\b(?:sf|SF)_\w+", phrase)}
            self.assertEqual(names - public, set())


# Procedures whose results no arithmetic makes.
WITHOUT_NUMBERS = re.compile(
    r"sf_(layout|team|group|list|plan_(trace|text|schedule|figures)|start_(barrier|rank_order)$|allocate|error|version"
    r"|mpi_library|barrier|rank_order|progress_thread|operator|bundle_status|test$|packed_size|shape)"
)


class Environments(unittest.TestCase):
    def test_every_procedure_that_makes_numbers_is_tried_in_every_environment(self):
        text = (ROOT / "tests/fortran/fortran_test.f90").read_text()
        tried = set(re.findall(r"\bsf_\w+", re.search(r"^module environments$(.*?)^end module$", text, re.M | re.S).group(1)))
        public = re.findall(r"public :: ((?:.*&\n)*.*)", module_text())
        named = {name for words in public for name in re.findall(r"\bsf_\w+", words)}
        self.assertGreater(len(named), 90)
        self.assertEqual({name for name in named - tried if not WITHOUT_NUMBERS.match(name)}, set())


PROGRAM = """
subroutine test(given)
  use, intrinsic :: iso_c_binding
  use steadfold
  real(8), intent(in) :: given(10)
  real(8), asynchronous, target :: x(10), y(10), result, results(3)
  integer(c_int64_t), asynchronous :: place
  integer :: list(3)
  type(c_funptr) :: op
  type(sf_request) :: request
  {}
end subroutine
"""
COPIED = ["x(list)", "2*x", "(x)", "[1d0, 2d0]", "given", "1.5d0"]


class Temporaries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        done = run(GFORTRAN, "-std=f2018", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", MODULE, cwd=cls.room.name)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def compiles(self, statement):
        done = run(GFORTRAN, "-fsyntax-only", "-x", "f95", "-", cwd=self.room.name, input=PROGRAM.format(statement))
        return done.returncode == 0, done.stderr

    def test_what_is_copied_does_not(self):
        calls = ["sf_start_sum({}, result, 0, request)", "sf_start_sum(x, {}, 0, request)",
                 "sf_start_sum(x, result, 0, request, weight={})", "sf_start_sum(x, result, 0, request, where={})",
                 "sf_start_dot({}, y, result, 0, request)", "sf_start_dot(x, {}, result, 0, request)",
                 "sf_start_allreduce({}, 'sum', 0, request)", "sf_start_scan({}, 'sum', 0, request)",
                 "sf_start_reduce_scatter({}, results, 'sum', 0, request)",
                 "sf_start_combine({}, 'max', result, 0, request)", "sf_start_minloc({}, result, place, 0, request)",
                 "sf_start_maxloc(x, {}, place, 0, request)", "sf_start_describe({}, results, 0, request)",
                 "sf_start_sum_by({}, list, results, 0, request)", "sf_start_reduce({}, result, op, 0, request)"]
        for call in calls:
            for what in ["y(::2)", *COPIED]:
                with self.subTest(call=call, what=what):
                    is_so, text = self.compiles(f"call {call.format(what)}")
                    self.assertEqual(is_so, what not in COPIED, text)

    def test_what_is_copied_makes_no_plan(self):
        calls = ["sf_plan_sum(p, {}, result)", "sf_plan_sum(p, x, {})", "sf_plan_sum(p, x, result, weight={})",
                 "sf_plan_sum(p, x, result, where={})", "sf_plan_dot(p, {}, y, result)", "sf_plan_dot(p, x, {}, result)",
                 "sf_plan_norm2(p, {}, result)", "sf_plan_combine(p, {}, 'max', result)",
                 "sf_plan_minloc(p, {}, result, place)", "sf_plan_maxloc(p, {}, result, place)",
                 "sf_plan_describe(p, {}, results)"]  # fmt: skip
        for call in calls:
            for what in ["y(::2)", *COPIED]:
                with self.subTest(call=call, what=what):
                    is_so, text = self.compiles(f"block; type(sf_plan) :: p; call {call.format(what)}; end block")
                    self.assertEqual(is_so, what not in COPIED, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
