"""Methods that have parameters."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, ClassVar, Union

from ._options import LIMITS


class _WithParameters:
    """A method with the values of its parameters."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            if name not in LIMITS:
                if not isinstance(value, str):
                    raise TypeError(f"{self.name} with {name}={value!r} (a str is needed), give a name")
                continue
            least, most = LIMITS[name]
            if not least <= operator.index(value) <= most:
                raise ValueError(f"{self.name} with {name}={value!r} (method {self.name} takes {least} to {most} {name}), use one of these numbers")

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, by their names."""
        return dict(vars(self))


@dataclass(frozen=True)
class Binned(_WithParameters):
    """The method "binned" with its parameters; see the function `binned`."""

    name = "binned"
    bins: int = 3
    sweep: str = "single_sweep"


@dataclass(frozen=True)
class Tree(_WithParameters):
    """The method "tree" with its parameter; see the function `tree`."""

    name = "tree"
    lanes: int = 1


Method = Union[str, Binned, Tree, None]


def name_of(method: Any) -> Any:
    """Returns the name of a method with or without parameters."""
    return method.name if isinstance(method, _WithParameters) else method


def tree(lanes: int = 1) -> Tree:
    """The method "tree" with `lanes` lanes, 1 to 1024. Element i belongs to lane i % lanes. The elements of each lane are
    combined in the binary tree, then the results of the lanes, in their order. With more than one lane the operator must
    be commutative.

    >>> import steadfold as sf
    >>> float(sf.sum([1.0, 2.0, 3.0], method=sf.tree(lanes=2)))
    6.0
    """
    return Tree(lanes)


def binned(bins: int = 3, *, sweep: str = "single_sweep", double_sweep: bool = False, k: int | None = None) -> Binned:
    """The method "binned" with `bins` bins, 2, 3 or 4: terms are rounded to a unit that depends on the largest term,
    and more bins give a smaller error. With the sweep "double_sweep", a separate reduction finds the largest term before
    the sum; the bits are the same. ``double_sweep=True`` is another spelling, and `k` is an older name of `bins`.

    >>> import steadfold as sf
    >>> float(sf.sum([1.0, 2.0], method=sf.binned(bins=4)))
    3.0
    """
    return Binned(bins if k is None else k, "double_sweep" if double_sweep else sweep)
