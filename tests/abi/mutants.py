"""Changes to small headers and libraries, and what tests/abi must say of each: so that none passes unseen."""

import os
import re
import tempfile
import unittest
from pathlib import Path

from compare import Difference
from interface import Headers, Library, output

COMPILER = os.environ["STEADFOLD_CC"]

HEADER = """
#include <stdint.h>
#define SF_MOST 3
typedef enum sf_kind { SF_ONE, SF_TWO, SF_FOUR = 4 } sf_kind;
typedef struct sf_fixed { double value; uint64_t index; } sf_fixed;
typedef struct sf_sized { uint64_t size; sf_kind kind; uint64_t rows; uint32_t bins; } sf_sized; /* and 4 bytes */
typedef struct sf_handle sf_handle;
typedef int (*sf_step)(const void* from, void* to);
static inline int sf_short(int a) { if (a > 0) { return 1; } return 2; }
int sf_take(const sf_sized* sized, uint64_t count);
void sf_free(sf_handle* handle);
"""

# What, the text that is replaced, what by, the facts that break programs, those that do not.
CHANGES = [
    ("nothing", "uint64_t rows;", "uint64_t  rows; /* comment */", "", ""),
    ("a field in the middle", "uint64_t rows;", "uint64_t new; uint64_t rows;", "sf_sized.new sf_sized.rows sf_sized.bins",
     "struct_sf_sized"),
    ("in what was padding", "bins;", "bins; uint32_t new;", "sf_sized.new", ""),
    ("at the end", "bins;", "bins; uint64_t new;", "", "struct_sf_sized sf_sized.new"),
    ("at the end, fixed size", "index;", "index; uint64_t new;", "struct_sf_fixed sf_fixed.new", ""),
    ("two fields swapped", "double value; uint64_t index;", "uint64_t index; double value;", "sf_fixed.value sf_fixed.index", ""),
    ("another type", "uint64_t rows;", "int64_t rows;", "sf_sized.rows", ""),
    ("a wider type", "uint32_t bins;", "uint64_t bins;", "sf_sized.bins", ""),
    ("a field gone", "uint32_t bins;", "", "sf_sized.bins struct_sf_sized", ""),
    ("an enumerator in the middle", "SF_TWO,", "SF_NEW, SF_TWO,", "sf_kind.SF_TWO", "sf_kind.SF_NEW"),
    ("at the end", "SF_FOUR = 4", "SF_FOUR = 4, SF_NEW", "", "sf_kind.SF_NEW"),
    ("an enumerator gone", "SF_TWO,", "", "sf_kind.SF_TWO", ""),
    ("too large for an int", "SF_FOUR = 4", "SF_FOUR = 4, SF_NEW = INT64_MAX", "enum_sf_kind sf_sized.kind", "sf_kind.SF_NEW"),
    ("a macro", "SF_MOST 3", "SF_MOST 4", "macro_SF_MOST", ""),
    ("a new type", "typedef int (", "typedef uint32_t sf_new; typedef int (", "", "type_sf_new"),
    ("an operator's arguments", "void* to)", "void* to, int n)", "type_sf_step", ""),
    ("a handle that shows itself", "typedef struct sf_handle sf_handle", "typedef struct sf_handle { int a; } sf_handle",
     "handle_sf_handle", "struct_sf_handle sf_handle.a"),
    ("another argument", "uint64_t count", "uint32_t count", "sf_take", ""),
    ("another result", "int sf_take", "int64_t sf_take", "sf_take", ""),
    ("a function gone", "void sf_free(sf_handle* handle);", "", "sf_free", ""),
    ("a function inline", "void sf_free(sf_handle* handle);", "static inline void sf_free(sf_handle* handle) { (void)handle; }",
     "sf_free", ""),
    ("a new function", "int sf_take", "int sf_new(void); int sf_take", "", "sf_new"),
]  # fmt: skip

SYMBOLS = ["soname: libsteadfold.so.1", "sf_a@@STEADFOLD_1.0: function", "sf_b@@STEADFOLD_1.0: object, 1 bytes",
           "sf_layer_table@@STEADFOLD_PRIVATE: function"]  # fmt: skip


def interfaces(texts):
    """What is recorded of each header, by one compilation: names of the header number n get a prefix mn_ meanwhile."""
    with tempfile.TemporaryDirectory() as room:
        include = Path(room) / "include"
        (include / "steadfold").mkdir(parents=True)
        for number, text in enumerate(texts):
            prefixed = re.sub(r"\b(?=(sf|SF)_)", f"m{number}_", text)
            (include / "steadfold" / f"{number:03}.h").write_text(prefixed)
        headers = Headers(COMPILER, include, Path(room))
        found = [[] for _ in texts]
        for line in headers.layouts() + headers.prototypes():
            found[int(re.search(r"\bm(\d+)_", line)[1])].append(re.sub(r"\bm\d+_", "", line))
        return found, headers.to_link()


def names(lines):
    return sorted(line.split(": ")[0].replace(" ", "_") for line in lines)


def library(symbols, version_script):
    """A library that defines these functions."""
    with tempfile.TemporaryDirectory() as room:
        (Path(room) / "exports.map").write_text(version_script)
        path = Path(room) / "libsteadfold.so"
        output(COMPILER, "-shared", "-fPIC", "-o", path, f"-Wl,--version-script={room}/exports.map",
               "-Wl,-soname,libsteadfold.so.1", "-x", "c", "-",
               input="".join(f"void {name}(void);\nvoid {name}(void) {{}}\n" for name in symbols))  # fmt: skip
        return Library(path)


class Mutants(unittest.TestCase):
    def test_headers(self):
        texts = [HEADER.replace(old, new) for _, old, new, _, _ in CHANGES]
        self.assertNotIn(HEADER, texts)
        [recorded, *changed], to_link = interfaces([HEADER, *texts])
        self.assertLessEqual({"m0_sf_take", "m0_sf_free"}, to_link)
        self.assertNotIn("m0_sf_short", to_link)
        for (what, _, _, breaks, harmless), found in zip(CHANGES, changed):
            with self.subTest(what):
                difference = Difference(what, recorded, found)
                self.assertEqual(names(difference.breaks), sorted(breaks.split()))
                self.assertEqual(names(difference.harmless), sorted(harmless.split()))
                self.assertEqual(difference.text == "", not breaks + harmless)

    def test_declarations_of_a_new_kind_are_refused(self):
        for text in ("typedef union sf_u { int a; float b; } sf_u;", "extern int sf_i;",
                     "typedef struct sf_s { int (*f)(void); } sf_s;", "typedef struct sf_s { int a : 3; } sf_s;"):
            with self.subTest(text), self.assertRaisesRegex(AssertionError, "of a new kind"):
                interfaces([text])

    def test_symbols(self):
        for what, old, new, breaks, harmless in [
            ("gone", SYMBOLS[1], "", "sf_a@@STEADFOLD_1.0", ""),
            ("another version", "sf_a@@STEADFOLD_1.0", "sf_a@@STEADFOLD_1.1", "sf_a@@STEADFOLD_1.0", "sf_a@@STEADFOLD_1.1"),
            ("another size", "1 bytes", "2 bytes", "sf_b@@STEADFOLD_1.0", ""),
            ("a new one", SYMBOLS[1], SYMBOLS[1] + "\nsf_c@@STEADFOLD_1.1: function", "", "sf_c@@STEADFOLD_1.1"),
            ("private", SYMBOLS[3], "", "", "sf_layer_table@@STEADFOLD_PRIVATE"),
        ]:  # fmt: skip
            with self.subTest(what):
                changed = list(filter(None, "\n".join(SYMBOLS).replace(old, new).split("\n")))
                difference = Difference(what, SYMBOLS, changed)
                self.assertEqual((names(difference.breaks), names(difference.harmless)), (breaks.split(), harmless.split()))
                self.assertEqual(Difference(what, SYMBOLS, changed, soname_differs=True).breaks, [])

    def test_exports(self):
        nodes = "STEADFOLD_1.0 { global: sf_*; local: *; };"
        good = library(["sf_a", "hidden"], nodes)
        self.assertEqual(good.lines(), ["soname: libsteadfold.so.1", "sf_a@@STEADFOLD_1.0: function"])
        self.assertEqual(good.faults(), [])
        for what, symbols, script in [
            ("an internal symbol", ["sf_a", "_ZN9steadfold4coreEv"], nodes.replace("sf_*;", "sf_*; _Z*;")),
            ("no version", ["sf_a"], "{ global: sf_*; local: *; };"),
            ("the version of another SONAME", ["sf_a"], nodes.replace("1.0", "10.0")),
        ]:
            with self.subTest(what):
                self.assertEqual(len(library(symbols, script).faults()), 1)
