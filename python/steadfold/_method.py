"""Methods with parameters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Binned:
    """The method "binned" with its parameters: see `binned`."""

    bins: int = 3
    sweep: str = "single_sweep"


def binned(k: int = 3, *, double_sweep: bool = False) -> Binned:
    """Sums of terms that are rounded to `k` bins (2, 3 or 4) below the largest term: more are more exact. `double_sweep` finds
    the largest term by a reduction of its own before; the bits are the same.

    >>> import steadfold as sf
    >>> float(sf.sum([1.0, 2.0], method=sf.binned(k=4)))
    3.0
    """
    if k not in (2, 3, 4):
        raise ValueError(f"binned with k={k!r} (there are 2, 3 or 4 bins), take one of them")
    return Binned(k, "double_sweep" if double_sweep else "single_sweep")
