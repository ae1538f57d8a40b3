"""Tests a sum with lanes, written with NumPy, against the test vectors of doubles."""

import json
from pathlib import Path

import numpy as np
import steadfold


def tree(v):
    while len(v) > 1:
        pairs = len(v) // 2 * 2
        v = np.concatenate([v[0:pairs:2] + v[1:pairs:2], v[pairs:]])
    return v[0]


def lane_sum(x, lanes):
    return tree(np.array([tree(x[lane::lanes]) for lane in range(min(lanes, len(x)))]))


def bits_of(number):
    if np.isnan(number):
        number = np.nan  # the canonical NaN
    return f"{int(np.float64(number).view(np.uint64)):016X}"


file = json.loads((Path(steadfold.__file__).parent / "vectors/f64.json").read_text())
right = wrong = 0
for vector in file["vectors"]:
    words = [int(bits, 16) for bits in file["inputs"][vector["input"]]["x"]]
    x = np.array(words, dtype=np.uint64).view(np.float64)
    if vector["operation"] != "sum" or vector["result"] != "f64" or "initial" in vector or len(x) == 0:
        continue
    for method, bits in vector["bits"].items():
        if method.startswith("tree:lanes="):
            with np.errstate(all="ignore"):
                is_right = bits_of(lane_sum(x, int(method.removeprefix("tree:lanes=")))) == bits
            right, wrong = right + is_right, wrong + (not is_right)
print(f"{right} right, {wrong} wrong")
