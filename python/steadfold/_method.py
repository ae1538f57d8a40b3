"""Methods that have parameters."""

from __future__ import annotations

import operator
from dataclasses import dataclass


@dataclass(frozen=True)
class Binned:
    """The method "binned" with its parameters; see the function `binned`."""

    bins: int = 3
    sweep: str = "single_sweep"

    def __post_init__(self) -> None:
        if operator.index(self.bins) not in (2, 3, 4):
            raise ValueError(f"binned with bins={self.bins!r} (method binned keeps 2, 3 or 4 bins), use one of these numbers")


def binned(bins: int = 3, *, double_sweep: bool = False, k: int | None = None) -> Binned:
    """The method "binned" with `bins` bins, 2, 3 or 4: terms are rounded to a unit that depends on the largest term,
    and more bins give a smaller error. `double_sweep` finds the largest term in a separate reduction before the sum;
    the bits are the same. `k` is an older name of `bins`.

    >>> import steadfold as sf
    >>> float(sf.sum([1.0, 2.0], method=sf.binned(bins=4)))
    3.0
    """
    return Binned(bins if k is None else k, "double_sweep" if double_sweep else "single_sweep")
