"""Kernels ask for memory ahead in the machine code, too: a compiler may drop what has no effect on a result."""

import os
import re
import subprocess
import unittest

ARCHIVE = os.environ["STEADFOLD_KERNELS"]
# By family: where its instructions stand, and which ones: into the first-level cache (t0) and the second-level one (t1).
FAMILIES = {
    r"ExtractionKernel<.*>::sum\(": ("t0", "t1"),
    r"::add_slices<": ("t0", "t1"),
    r"N_AVX3::.*Folded<.*>::whole_chunk\(": ("t0",),
}


def functions():
    """Names of functions with a body of their own, and the text of each."""
    listed = subprocess.run(["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", ARCHIVE],
                            capture_output=True, text=True, check=True).stdout
    for head, body in re.findall(r"^[0-9a-f]+ <(.*)>:\n((?:.+\n)+)", listed, re.MULTILINE):
        if "[clone .cold]" not in head:
            yield head, body


class Prefetched(unittest.TestCase):
    def test_every_family_asks_ahead(self):
        seen = dict.fromkeys(FAMILIES, 0)
        for name, body in functions():
            for family, places in FAMILIES.items():
                if re.search(family, name) and "N_" in name:
                    seen[family] += 1
                    for place in places:
                        self.assertIn(f"prefetch{place}", body, name)
        if not any(seen.values()):
            self.skipTest("the kernels were compiled without Highway")
        for family, count in seen.items():
            self.assertGreaterEqual(count, 16, family)


if __name__ == "__main__":
    unittest.main()
