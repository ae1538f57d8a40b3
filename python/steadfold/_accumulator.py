"""Exact sums as objects."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arrow import is_column
from ._convert import as_array, without_nulls
from ._numbers import Operation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike


def _extents(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(operator.index, shape if isinstance(shape, (tuple, list)) else (shape,)))


class Accumulator:
    """An exact sum, or an array of exact sums, as an object. Elements can be added and subtracted at any time,
    accumulators can be merged, and they can be written to files and sent to other processes as bytes. Only results are
    rounded. Neither the order of the additions, nor their distribution over accumulators that are merged later, changes
    the results, and equal sums have equal bytes.

    shape
        The shape of the results. The last axes of added elements must have this shape. (): one sum.
    dtype
        The dtype of the elements and the results: float64 or float32.
    products
        Whether the sums are sums of products with `weights`; an element without a weight counts as itself.

    >>> import steadfold as sf
    >>> a, b = sf.Accumulator(), sf.Accumulator()
    >>> a.add([1e16, 1.0])
    >>> b.add([-1e16, 0.25])
    >>> a += b
    >>> float(a.sum()), a.rows
    (1.25, 4)
    """

    __slots__ = ("_core",)

    def __init__(self, shape: int | tuple[int, ...] = (), dtype: DTypeLike = np.float64, *, products: bool = False) -> None:
        self._core = _core.Accumulator(_extents(shape), dtype, bool(products))

    @classmethod
    def _of(cls, core: _core.Accumulator) -> Accumulator:
        made = cls.__new__(cls)
        made._core = core
        return made

    def add(self, x: ArrayLike, weights: ArrayLike | None = None, where: ArrayLike | None = None, *, threads: int = 1) -> None:
        """Adds the elements of `x`. The last axes of `x` must have the shape of the accumulator. With `weights`, which are
        broadcast to the elements, adds products."""
        self._add(x, weights, where, threads, False)

    def subtract(self, x: ArrayLike, weights: ArrayLike | None = None, where: ArrayLike | None = None, *, threads: int = 1) -> None:
        """Subtracts elements, as if they had never been added."""
        self._add(x, weights, where, threads, True)

    def _add(self, x: Any, weights: Any, where: Any, threads: int, subtract: bool) -> None:
        if is_column(x) or is_column(weights) or is_column(where):
            x, weights, where = without_nulls(x, weights, where, False)
        self._core.add(x, weights, where, threads, subtract)

    def merge_ranks(self, comm: Any) -> None:
        """Replaces the accumulator of every rank by the sum of the accumulators of all ranks. Collective."""
        self._core.merge_ranks(comm)

    def sum(self, dtype: DTypeLike | None = None) -> Any:
        """Returns the sums, rounded once to float64 or float32."""
        return self._core.round(Operation.SUM, dtype)

    def mean(self, dtype: DTypeLike | None = None) -> Any:
        """Returns the sums divided by the number of rows, rounded once."""
        return self._core.round(Operation.MEAN, dtype)

    def norm(self, dtype: DTypeLike | None = None) -> Any:
        """Returns the square roots of sums of products, rounded once."""
        return self._core.round(Operation.NORM2, dtype)

    def cumulate(self, x: ArrayLike, dtype: DTypeLike | None = None) -> Any:
        """Adds the elements of `x`, an array with one axis, one after the other. Returns the sum after each, rounded once
        to float64 or float32. The accumulator must have one sum.

        >>> import steadfold as sf
        >>> sf.Accumulator().cumulate([1e16, 1.0, -1e16]).tolist()
        [1e+16, 1e+16, 1.0]
        """
        array = as_array(x)
        return self._core.cumulate(array if array.flags.carray else array.copy(), dtype)

    def clear(self) -> None:
        """Resets the accumulator to no elements."""
        self._core.clear()

    def copy(self) -> Accumulator:
        """Returns a copy of the accumulator."""
        return self._of(self._core.copy())

    @property
    def rows(self) -> int:
        """The number of elements of each sum: elements added minus elements subtracted."""
        return self._core.rows

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the results."""
        return self._core.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of elements and results."""
        dtype: np.dtype[Any] = self._core.dtype
        return dtype

    @property
    def products(self) -> bool:
        """Whether the sums are sums of products."""
        return self._core.products

    def to_bytes(self) -> bytes:
        """Returns the bytes for a file. The bytes are the same on every machine, and equal if the sums are equal."""
        return self._core.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes, shape: int | tuple[int, ...] | None = None) -> Accumulator:
        """Makes an accumulator from the bytes of `to_bytes`. If `shape` is None, the shape is () for one sum, and has one
        axis for several sums."""
        return cls._of(_core.Accumulator.from_bytes(bytes(memoryview(data)), None if shape is None else _extents(shape)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Accumulator.from_bytes, (self.to_bytes(), self.shape))

    def __iadd__(self, other: Accumulator) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        self._core.merge(other._core, False)
        return self

    def __isub__(self, other: Accumulator) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        self._core.merge(other._core, True)
        return self

    def __add__(self, other: Accumulator) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        made = self.copy()
        made += other
        return made

    def __sub__(self, other: Accumulator) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        made = self.copy()
        made -= other
        return made

    def __neg__(self) -> Accumulator:
        made = self.copy()
        made._core.negate()
        return made

    def compare(self, other: Accumulator) -> Any:
        """Compares the exact sums with the sums of another accumulator. The results are -1, 0 or 1 for less, equal or
        greater, and 2 if one is NaN."""
        if not isinstance(other, Accumulator):
            raise TypeError(f"an accumulator is compared with {other!r} (only unrounded sums can be compared), give another accumulator")
        return self._core.compare(other._core)

    def __eq__(self, other: object) -> bool:
        """Whether all sums and the number of rows are equal."""
        if not isinstance(other, Accumulator):
            return NotImplemented
        return self.shape == other.shape and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kind = "products" if self.products else "elements"
        return f"<steadfold.Accumulator of {self.rows} rows: {kind} of {self.dtype}, shape {self.shape}>"
