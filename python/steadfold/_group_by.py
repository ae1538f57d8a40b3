"""Reductions by key, on one process or over the ranks of a communicator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._convert import as_doubles, as_operand, axes_of
from ._errors import EmptyError
from ._keys import labelled, numbered
from ._numbers import Operation
from ._options import CallOptions
from ._reductions import DEVIATIONS, VARIANCES, Axis, Statistics, _call, statistic, statistics_of, with_options
from ._told import told

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from typing_extensions import Unpack


class GroupBy:
    """Elements in groups, made by `group_by`. The methods reduce every group by itself. They return an array of shape
    (groups, *kept axes), in the order of `keys`. Each result has the same bits as a reduction of the group's elements
    alone.

    The methods take the arguments of the functions of the same name. Every element along the reduced axes has a key:
    the array of keys has the shape of the reduced axes. For a table with one key per row, give ``axis=0``.

    keys
        The keys in ascending order, one for each group.
    labels
        The number of the group of every element of this process; negative for an element in no group.

    >>> import numpy as np
    >>> import steadfold as sf
    >>> groups = sf.group_by(np.array(["2026-01", "2025-12", "2026-01"], "datetime64[M]"))
    >>> groups.max([1.0, 5.0, 2.0])
    array([5., 2.])
    >>> groups.std([[1.0, 4.0], [5.0, 6.0], [3.0, 8.0]], axis=0)
    array([[0., 0.],
           [1., 2.]])
    """

    __slots__ = ("_comm", "keys", "labels")

    keys: NDArray[Any]
    labels: NDArray[Any]

    def __init__(self, keys: NDArray[Any], labels: NDArray[Any], comm: Any) -> None:
        self.keys = keys
        self.labels = labels
        self._comm = comm

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.keys)

    def __repr__(self) -> str:
        return f"<steadfold.GroupBy: {len(self)} groups of {self.labels.size} elements>"

    def _labels_for(self, elements: Any, axis: Any) -> NDArray[Any]:
        """Returns the labels in a shape that is broadcast to the elements."""
        reduced = axes_of(axis, elements.ndim)
        shape = tuple(elements.shape[i] for i in reduced)
        if shape != self.labels.shape:
            raise ValueError(f"keys of shape {self.labels.shape} for reduced axes of shape {shape} (every element along the reduced axes has "
                             "a key), give the axis along which the keys are, or a key for every element")
        return self.labels.reshape([elements.shape[i] if i in reduced else 1 for i in range(elements.ndim)])

    def _reduce(self, operation: int, x: Any, factors: Any, axis: Any, dtype: Any, where: Any, options: Any) -> Any:
        with told(self._comm):
            elements = as_operand(x)
            labels = self._labels_for(elements, axis)
        groups = len(self) or 1  # without keys, no element is in the group that the call makes
        try:
            found = _call(operation, elements, factors, axis, dtype, False, where, self._comm, options, labels, groups)
        except EmptyError:  # on all ranks
            if len(self) > 0:
                raise
            found = self._no_extremes(elements, axis, options.get("root"))
        return None if found is None else found[:len(self)]

    def _no_extremes(self, elements: Any, axis: Any, root: Any) -> Any:
        """Returns the extremes of no groups, on ranks that get results."""
        if root is not None and self._comm is not None and _core.Group(self._comm).rank != root:
            return None
        kept = set(range(elements.ndim)) - set(axes_of(axis, elements.ndim))
        return np.empty((0, *(elements.shape[i] for i in sorted(kept))), elements.dtype)

    def _statistic(self, names: tuple[str, ...], ddof: int, x: Any, axis: Any, dtype: Any, where: Any, options: Any) -> Any:
        return statistic(names, ddof, x, dtype, self._comm, lambda array, rounded_to: self._reduce(
            Operation.STATISTICS, array, None, axis, rounded_to, where, options))

    @with_options(CallOptions)
    def count(self, where: ArrayLike | None = None, **options: Unpack[CallOptions]) -> Any:
        """The number of elements, int64."""
        return self._reduce(Operation.SUM, np.broadcast_to(np.ones((), np.int64), self.labels.shape), None, None, None, where, options)

    @with_options(CallOptions)
    def sum(self, x: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, where: ArrayLike | None = None, *,
            weights: ArrayLike | None = None, **options: Unpack[CallOptions]) -> Any:
        """The sum, or with `weights` the sum of the products, correctly rounded unless `method` says otherwise."""
        return self._reduce(Operation.SUM, x, weights, axis, dtype, where, options)

    @with_options(CallOptions)
    def mean(self, x: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, where: ArrayLike | None = None, *,
             weights: ArrayLike | None = None, **options: Unpack[CallOptions]) -> Any:
        """The mean, or with `weights` the weighted mean: exact sums, divided and rounded once. NaN for a group without
        elements. Integers must be exact in float64."""
        if weights is not None:
            return self._reduce(Operation.WEIGHTED_MEAN, x, weights, axis, dtype, where, options)
        with told(self._comm):
            elements = as_operand(x)
            if elements.dtype.kind in "biu":
                elements = as_doubles(elements)
        return self._reduce(Operation.MEAN, elements, None, axis, dtype, where, options)

    @with_options(CallOptions)
    def min(self, x: ArrayLike, axis: Axis = None, where: ArrayLike | None = None, **options: Unpack[CallOptions]) -> Any:
        """The smallest element. NaN for a group without elements; for integers `EmptyError` is raised."""
        return self._reduce(Operation.MIN, x, None, axis, None, where, options)

    @with_options(CallOptions)
    def max(self, x: ArrayLike, axis: Axis = None, where: ArrayLike | None = None, **options: Unpack[CallOptions]) -> Any:
        """The largest element. NaN for a group without elements; for integers `EmptyError` is raised."""
        return self._reduce(Operation.MAX, x, None, axis, None, where, options)

    @with_options(CallOptions)
    def var(self, x: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, ddof: int = 0, where: ArrayLike | None = None,
            **options: Unpack[CallOptions]) -> Any:
        """The variance: computed exactly and rounded once. `ddof` is 0 or 1."""
        return self._statistic(VARIANCES, ddof, x, axis, dtype, where, options)

    @with_options(CallOptions)
    def std(self, x: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, ddof: int = 0, where: ArrayLike | None = None,
            **options: Unpack[CallOptions]) -> Any:
        """The standard deviation: computed exactly and rounded once. `ddof` is 0 or 1."""
        return self._statistic(DEVIATIONS, ddof, x, axis, dtype, where, options)

    @with_options(CallOptions)
    def statistics(self, x: ArrayLike, axis: Axis = None, where: ArrayLike | None = None, **options: Unpack[CallOptions]) -> Statistics | None:
        """Returns ten numbers for every group, as `steadfold.statistics` does. An index is the position of the element among
        all elements of the job."""
        return statistics_of(self._reduce(Operation.STATISTICS, x, None, axis, None, where, options))

    @with_options(CallOptions)
    def dot(self, x: ArrayLike, y: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, where: ArrayLike | None = None,
            **options: Unpack[CallOptions]) -> Any:
        """The sum of the products x[i] y[i], by default rounded once."""
        return self._reduce(Operation.DOT, x, y, axis, dtype, where, options)

    @with_options(CallOptions)
    def corr(self, x: ArrayLike, y: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, where: ArrayLike | None = None,
             **options: Unpack[CallOptions]) -> Any:
        """Pearson's correlation of x and y, rounded once. NaN for a group in which all x, or all y, are equal."""
        return self._reduce(Operation.CORRELATION, x, y, axis, dtype, where, options)


def group_by(keys: ArrayLike, groups: int | None = None, *, comm: Any = None) -> GroupBy:
    """Groups elements by their keys: one group for every distinct key of the whole job. The methods of the result reduce
    every group by itself.

    keys
        Integers, bool, strings, bytes, dates or time differences, of one dtype on all ranks. An element whose key is None,
        NaT, or NaN among strings, is in no group.
    groups
        If given, the keys are labels: the numbers of groups, 0 to groups - 1. An element with a negative label is in no
        group. Then `keys` of the result is ``numpy.arange(groups)``, and groups may be empty.
    comm
        As in all functions. The call is collective, and every rank gets the keys of all ranks.

    >>> import steadfold as sf
    >>> basins = sf.group_by(["north", "south", "north"])
    >>> basins.keys.tolist(), basins.mean([1.0, 5.0, 2.0]).tolist()
    (['north', 'south'], [1.5, 5.0])
    """
    return GroupBy(*(numbered(keys, comm) if groups is None else labelled(keys, groups, comm)), comm)
