"""What ranks_program.py reduces, and how it shows results, for itself and for the test that computes them a second time."""

from __future__ import annotations

import hashlib

import numpy as np
from support import hostile

N = 4099

rng = np.random.default_rng(20261123)
x, y = hostile(rng, N), hostile(rng, N)
fields, area, ocean = rng.standard_normal((N, 6)), rng.random((N, 1)), rng.random((N, 1)) < 0.7
labels = rng.integers(-1, 5, N)
matrices = rng.standard_normal((41, 3, 3))
whole = rng.integers(-(2**62), 2**62, N)


def digest(*values):
    return hashlib.sha256(b"".join(np.ascontiguousarray(v).tobytes() for v in values)).hexdigest()[:16]
