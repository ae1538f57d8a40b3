"""What a difference between two lists of tests/abi/interface.py means for programs that are compiled already."""

import difflib
import re

OTHER_SONAME = "the SONAME is another, so programs that are compiled already never load this library"


class Difference:
    """`breaks` and `harmless` have a line for every fact that differs; `text` is a diff, empty if the lists are equal."""

    def __init__(self, name, recorded, found, soname_differs=False):
        self.text = "\n".join(difflib.unified_diff(recorded, found, f"{name} (recorded)", f"{name} (found)", n=1, lineterm=""))
        self.old, self.new = facts(recorded), facts(found)
        self.breaks, self.harmless = [], []
        for key in [*self.old, *(key for key in self.new if key not in self.old)]:
            if self.old.get(key) != self.new.get(key):
                reason, breaks = self._judge(key)
                if soname_differs:
                    reason, breaks = OTHER_SONAME, False
                (self.breaks if breaks else self.harmless).append(f"{key}: {reason}")

    def _judge(self, key):
        """Why, and whether it breaks them."""
        old, new = self.old.get(key), self.new.get(key)
        owner, _, field = key.partition(".")
        if key.endswith("@@STEADFOLD_PRIVATE"):
            return "private, for libraries of one version", False
        if old is None and field and f"struct {owner}" in self.old:
            return self._judge_field(owner, new)
        if old is None:
            return "new", False
        if new is None:
            return f"gone (was {old})", True
        if key.startswith("struct ") and f"{key[7:]}.size" in self.old and alignment(old) == alignment(new) \
                and size(old) < size(new):  # fmt: skip
            return f"larger ({size(old)} bytes to {size(new)}), and programs tell its size", False
        return f"{new} (was {old})", True

    def _judge_field(self, owner, new):
        """A field that an older struct has not. Its old size is what older programs have memory for, and set."""
        end = size(self.old[f"struct {owner}"])
        if f"{owner}.size" not in self.old:
            return f"new in a struct of fixed size (nothing tells that older programs have {end} bytes of it)", True
        if int(re.match(r"at (\d+)", new)[1]) < end:
            return f"new within the {end} bytes that older programs have (some of which they may not set)", True
        return "new at the end of a struct whose size programs tell", False


def facts(lines):
    return dict(line.split(": ", 1) for line in lines)


def size(struct):
    return int(re.match(r"\d+", struct)[0])


def alignment(struct):
    return struct.split(", ")[1]
