"""Expressions of Polars whose results have the same bits for any number of threads, any chunks and any order of rows.

Polars takes the expressions in ``select``, ``with_columns`` and ``group_by(...).agg(...)``. All groups are reduced in one call.
Results are Float64, rounded once. Nulls are left out. With two columns, a row is left out if either element is null. A
sum of no elements is 0, other results of no elements are null. NaN is a number. Integers must be exact in Float64.

>>> import polars as pl
>>> import steadfold.polars as sfp
>>> frame = pl.DataFrame({"basin": ["b", "a", "b", "b"], "flow": [1e16, 2.0, 1.0, -1e16]})
>>> frame.select(sfp.sum("flow")).item()
3.0
>>> frame.group_by("basin").agg(sfp.sum("flow")).sort("basin").rows()
[('a', 2.0), ('b', 1.0)]
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np
import polars as pl

import steadfold

from ._arrow import column_of
from ._convert import as_doubles, without_nulls
from ._group_by import GroupBy

__all__ = ["corr", "dot", "mean", "std", "sum", "var"]

Column = Union[str, pl.Expr]


def sum(x: Column, *, weights: Column | None = None) -> pl.Expr:
    """The sum of the elements, or with `weights` the sum of the products, correctly rounded.

    >>> import polars as pl
    >>> pl.DataFrame({"x": [0.1] * 10}).select(sum("x")).item()
    1.0
    """
    return _expression([x] if weights is None else [x, weights], 0, lambda groups, *arrays: groups.sum(arrays[0], dtype=np.float64, **_weights(arrays)), is_sum=True)


def mean(x: Column, *, weights: Column | None = None) -> pl.Expr:
    """The mean, or with `weights` the weighted mean: exact sums, divided and rounded once.

    >>> import polars as pl
    >>> pl.DataFrame({"x": [1e308, 1e308, None]}).select(mean("x")).item()
    1e+308
    """
    return _expression([x] if weights is None else [x, weights], 0, lambda groups, *arrays: groups.mean(arrays[0], dtype=np.float64, **_weights(arrays)))


def var(x: Column, ddof: int = 1) -> pl.Expr:
    """The variance: computed exactly and rounded once. `ddof` is 0 or 1, by default 1, as in Polars.

    >>> import polars as pl
    >>> pl.DataFrame({"x": [1e9, 1e9 + 1.0, 1e9 + 2.0]}).select(var("x")).item()
    1.0
    """
    return _expression([x], ddof, lambda groups, x, where: groups.var(x, dtype=np.float64, ddof=ddof, where=where))


def std(x: Column, ddof: int = 1) -> pl.Expr:
    """The standard deviation: computed exactly and rounded once. `ddof` is 0 or 1, by default 1, as in Polars.

    >>> import polars as pl
    >>> pl.DataFrame({"x": [1.0, 3.0]}).select(std("x", ddof=0)).item()
    1.0
    """
    return _expression([x], ddof, lambda groups, x, where: groups.std(x, dtype=np.float64, ddof=ddof, where=where))


def dot(x: Column, y: Column) -> pl.Expr:
    """The sum of the products of two columns, rounded once.

    >>> import polars as pl
    >>> pl.DataFrame({"x": [1e200, 1.0, -1e200], "y": [1e200, 3.0, 1e200]}).select(dot("x", "y")).item()
    3.0
    """
    return _expression([x, y], 0, lambda groups, x, y, where: groups.dot(x, y, dtype=np.float64, where=where), is_sum=True)


def corr(x: Column, y: Column) -> pl.Expr:
    """Pearson's correlation of two columns, rounded once. NaN if all elements of a column are equal.

    >>> import polars as pl
    >>> pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [3.0, 2.0, 4.0]}).select(corr("x", "y")).item()
    0.5
    """
    return _expression([x, y], 0, lambda groups, x, y, where: groups.corr(x, y, dtype=np.float64, where=where))


def _weights(arrays: tuple[Any, ...]) -> dict[str, Any]:
    """Returns the arguments for weights, if there are any, and for the mask."""
    return {"weights": arrays[1] if len(arrays) == 3 else None, "where": arrays[-1]}


def _expression(columns: list[Column], ddof: int, reduce: Callable[..., Any], is_sum: bool = False) -> pl.Expr:
    """Returns an expression that reduces columns. ``reduce(groups, *arrays, where)`` calls a method of `GroupBy` or, for a
    single group, the function of the package with the same name. A result is null if its group has `ddof` elements or
    less, unless it is a sum."""
    if not isinstance(ddof, numbers.Real) or ddof not in (0, 1):
        raise ValueError(f"ddof of {ddof!r} (only ddof 0 and 1 are supported), multiply the variance with ddof=0 instead")
    given = [pl.col(each) if isinstance(each, str) else each for each in columns]
    for each in given:
        if not isinstance(each, pl.Expr):
            raise TypeError(f"{each!r} is no column (a column is a name or an expression of Polars), give one of these")

    def of_lists(lists: Sequence[pl.Series]) -> pl.Series:
        lengths = _lengths_of(lists)
        elements = [_elements_of(each) for each in lists]
        x, y, where = without_nulls(elements[0], elements[1] if len(elements) == 2 else None, None, False)
        arrays = [x, where] if y is None else [x, y, where]
        counts = lengths if where is None else _counts(lengths, where)
        if len(lengths) == 1 and counts[0] > 0:  # the whole column, which needs no labels
            made = pl.Series(lists[0].name, [reduce(steadfold, *arrays)], pl.Float64)
        else:
            made = pl.Series(lists[0].name, reduce(_groups(lengths), *arrays), pl.Float64)
        return made if is_sum else made.scatter(np.flatnonzero(np.asarray(counts) <= ddof), None)

    # A list is an element, so Polars may call the function with all groups, or with some of them.
    return pl.map_batches([each.implode() for each in given], of_lists, return_dtype=pl.Float64, is_elementwise=True)


def _groups(lengths: Any) -> GroupBy:
    """Returns groups of elements that follow each other."""
    places = np.arange(len(lengths))
    return GroupBy(places, np.repeat(places, lengths), None)


def _counts(lengths: Any, where: Any) -> Any:
    """Returns the number of elements of every group that are not null."""
    return [int(where.sum())] if len(lengths) == 1 else _groups(lengths).count(where=where)


def _lengths_of(lists: Sequence[pl.Series]) -> Any:
    """Returns the lengths of lists, which must be the same in every column."""
    lengths = [each.list.len().to_numpy() for each in lists]
    for each in lengths[1:]:
        if len(each) != len(lengths[0]) or np.any(each != lengths[0]):
            raise ValueError("columns of different lengths, or a number beside a column (every row needs both elements), give two columns, or multiply the column by the number")
    return lengths[0]


def _elements_of(lists: pl.Series) -> Any:
    """Returns the elements of all lists as a column of floating-point numbers."""
    column = column_of(lists.filter(lists.list.len() > 0).explode())
    return as_doubles(column) if column.dtype.kind in "biu" else column
