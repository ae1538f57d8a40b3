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


@dataclass(frozen=True)
class Tree:
    """The method "tree" with its parameter; see the function `tree`."""

    lanes: int = 1

    def __post_init__(self) -> None:
        if not 1 <= operator.index(self.lanes) <= 1024:
            raise ValueError(f"tree with lanes={self.lanes!r} (method tree has 1 to 1024 lanes), use one of these numbers")


def tree(lanes: int = 1) -> Tree:
    """The method "tree" with `lanes` lanes, 1 to 1024. Element i belongs to lane i % lanes. The elements of each lane are
    combined in the binary tree, then the results of the lanes, in their order. With more than one lane the operator must
    be commutative.

    >>> import steadfold as sf
    >>> float(sf.sum([1.0, 2.0, 3.0], method=sf.tree(lanes=2)))
    6.0
    """
    return Tree(lanes)


def binned(bins: int = 3, *, double_sweep: bool = False, k: int | None = None) -> Binned:
    """The method "binned" with `bins` bins, 2, 3 or 4: terms are rounded to a unit that depends on the largest term,
    and more bins give a smaller error. `double_sweep` finds the largest term in a separate reduction before the sum;
    the bits are the same. `k` is an older name of `bins`.

    >>> import steadfold as sf
    >>> float(sf.sum([1.0, 2.0], method=sf.binned(bins=4)))
    3.0
    """
    return Binned(bins if k is None else k, "double_sweep" if double_sweep else "single_sweep")
