"""Every function of the C interface is called by some program in C and by the headers of C++, or the tables below say why
not (tests/fortran/interface_test.py does so for Fortran); and every name of these headers is called by tests that are
compiled as C++17 and compared with C++20.

A row that is no longer true is a failure, too."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

GASPI = "for programs in the shape of GASPI, which are written in C"
AS_IN_C = "takes and gives texts: called as it is"
OF_A_COMMUNICATOR = "of a communicator: its group has the same by {}"

# Functions that no program in C calls, and why.
NOT_IN_C = {
    "sf_fail_fortran": "for steadfold.f90 alone; it ends the program",
    "sf_group_start_refuse": "for steadfold.f90 alone",
}

# Functions of C that the headers of C++ do not call, and why.
NOT_IN_CXX = {
    "sf_arrays_default": "arrays_of_nothing is the same, as a constant",
    "sf_arrays_init": "likewise",
    "sf_bundle_bind": OF_A_COMMUNICATOR.format("sf_group_bind"),
    "sf_call_default": "call_of_defaults is the same, as a constant",
    "sf_call_init": "likewise",
    "sf_call_set": AS_IN_C,
    "sf_fail_fortran": "for steadfold.f90 alone",
    "sf_gaspi_allreduce": GASPI,
    "sf_gaspi_allreduce_user": GASPI,
    "sf_gaspi_barrier": GASPI,
    "sf_group_of_fortran": "for steadfold.f90 alone",
    "sf_list_find": AS_IN_C,
    "sf_list_name": AS_IN_C,
    "sf_list_size": AS_IN_C,
    "sf_list_text": AS_IN_C,
    "sf_mpi_library": AS_IN_C,
    "sf_plan_test": "sf_plan_wait_for with no time",
    "sf_plan_bind": OF_A_COMMUNICATOR.format("sf_group_bind"),
    "sf_rank_order": OF_A_COMMUNICATOR.format("sf_group_rank_order"),
    "sf_reduce": OF_A_COMMUNICATOR.format("sf_group_reduce"),
    "sf_request_test": "sf_request_wait_for with no time",
    "sf_request_wait": "sf_request_wait_for without end",
    "sf_set_error_text": "for layers above the interface that have no exceptions",
    "sf_set_interrupt": "for interpreters; a program in C++ calls it as in C",
    "sf_team_create_over_fortran": "for steadfold.f90 alone",
    "sf_version": AS_IN_C,
}

# Names of the headers of C++ that calls.hpp and its neighbours need not call, and why.
NOT_CALLED = {
    "Binned": "what binned takes: binned({4})",
    "BundleOperations": "what Bundle derives from",
    "BuiltIn": "the type of sum, dot and all others",
    "MaybeArray": "what Axes keeps of an array",
    "MaybeLabels": "what Axes keeps of an array",
    "Tree": "what tree takes: tree({16})",
    "Memory": "what allocate makes",
    "Named": "what named makes",
    "WithInitial": "what with_initial makes",
    "deallocate": "by containers",
    "is_given": "of what Axes keeps of an array",
}


def code(*patterns):
    """The files of these patterns in one text, without comments."""
    paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    assert paths, patterns
    return "\n".join(COMMENT.sub(" ", path.read_text()) for path in paths)


def functions():
    lines = (ROOT / "tests/abi/functions.txt").read_text().splitlines()
    return [line.split(":")[0] for line in lines]


def names_in(text):
    return set(re.findall(r"\w+", text))


# --- names of headers --------------------------------------------------------------------------------------------------

ACCESS = re.compile(r"\b(public|private|protected):(?!:)")
CLASS = re.compile(r"\b(?<!enum )(class|struct) (\w+)(?: final)?(?: : [^()]*)?$")
OBJECTS = re.compile(r"\binline constexpr (?:\w+::)*\w+<\w+> (\w+(?:, \w+)*)$")
FUNCTION = re.compile(r"(?<![\w:.>~])([a-zA-Z]\w*)\(")
NO_NAMES = re.compile(r"\b(?:decltype|noexcept|static_assert|enable_if_t|using|friend|operator|return|for|if)\b.*")


def declarations(text):
    """Pairs: what stands before a semicolon or a brace, and the text within the braces."""
    start = at = 0
    while at < len(text):
        if text[at] in ";{":
            head, begin, depth = text[start:at], at, text[at] == "{"
            while depth:
                at += 1
                depth += {"{": 1, "}": -1}.get(text[at], 0)
            yield " ".join(head.split()), text[begin + 1 : at]
            start = at + 1
        at += 1


def public_names(text, access="public"):
    """What headers offer: functions, objects, classes, and what is public in these."""
    text = re.sub(r"inline constexpr [^;(]*;", lambda objects: objects[0].replace("{}", ""), text)
    found = set()
    for head, body in declarations(text):
        if words := ACCESS.findall(head):
            access = words[-1]
        head = ACCESS.sub("", head).strip()
        if access != "public" or re.search(r"\bnamespace (?:\w+::)*detail$", head):
            continue
        if re.match(r"(?:inline )?namespace\b", head):
            found |= public_names(body)
        elif kind := CLASS.search(head):
            found |= {kind[2]} | public_names(body, "public" if kind[1] == "struct" else "private")
        elif names := OBJECTS.search(head):
            found |= set(names[1].split(", "))
        else:
            found |= set(FUNCTION.findall(NO_NAMES.sub("", head))[:1])
    return found


class Reached(unittest.TestCase):
    def expect_reached(self, names, reached, reasons, where):
        missing = sorted(set(names) - reached - set(reasons))
        stale = sorted(name for name in reasons if name in reached or name not in names)
        self.assertFalse(missing, f"not called {where} (nor a reason for it in {Path(__file__).name}), do either")
        self.assertFalse(stale, f"a reason why they are not called {where} (they are, or are gone), take the rows out")

    def test_the_parser_sees_what_there_is(self):
        text = """namespace a { namespace detail { void hidden(); }
          template <class T> void shown(const T& x, int y = f(3)) { other(x); }
          class Thing : public Base<int> { int never(); public: explicit Thing(int x); int method() const { return 1; }
           private: void secret(); };
          struct Plain { int open() { return 0; } private: int closed(); };
          inline constexpr BuiltIn<SF_SUM> sum{}, plus{}; inline constexpr detail::Dots<1> times{}; }"""
        self.assertEqual(public_names(text), {"shown", "Thing", "method", "Plain", "open", "sum", "plus", "times"})

    def test_every_function_is_called_in_c(self):
        called = set(re.findall(r"\b(sf_\w+)\s*\(", code("tests/**/*.c", "examples/**/*.c")))
        self.expect_reached(functions(), called | {"sf_arrays_default"}, NOT_IN_C, "in C")

    def test_every_function_is_reached_from_cxx(self):
        reached = names_in(code("include/steadfold/*.hpp"))
        self.expect_reached(functions(), reached, NOT_IN_CXX, "by the headers of C++")

    def test_every_name_of_cxx_is_called_in_cxx17(self):
        text = re.sub(r'^\s*#.*$|"(?:\\.|[^"\\])*"', "", code("include/steadfold/*.hpp"), flags=re.MULTILINE)
        offered = public_names(text)
        self.assertGreater(len(offered), 140)
        called = names_in(code("tests/every_call/*", "tests/api/cxx17*.cpp", "tests/mpi/calls/cxx17_test.cpp"))
        self.expect_reached(offered, called, NOT_CALLED, "by tests compiled as C++17")


if __name__ == "__main__":
    unittest.main()
