"""Results that depend on the order of the elements. Over ranks the elements of rank 0 come first, then the elements of
rank 1, and so on."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _elements
from ._accumulator import Accumulator
from ._convert import as_array, axes_of, is_half
from ._elements import Array
from ._errors import MismatchError
from ._gather import first_places, gathered_bytes, listed
from ._told import told

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike


def _exchanged(function: str, mine: Any, comm: Any) -> list[Any]:
    """Returns objects of all ranks, which are in the same function of this module."""
    return [pickle.loads(data) for data in gathered_bytes(function, pickle.dumps(mine), comm)]


def _rank_of(comm: Any) -> int:
    return 0 if comm is None else _core.Group(comm).rank


def cumsum(x: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, *, comm: Any = None) -> Any:
    """The sum of all elements up to each element, each correctly rounded. Integers wrap.

    axis
        The axis along which elements are added. By default all elements, in C order, are one axis.
    dtype
        The dtype of the result: float32 or float64, or the complex types of these. Integers keep 64 bits.
    comm
        A communicator. Each rank has some elements along `axis`, and gets their sums.

    >>> import steadfold as sf
    >>> sf.cumsum([1e16, 1.0, -1e16, 1.0]).tolist()
    [1e+16, 1e+16, 1.0, 2.0]
    """
    with told(comm):
        array, result = _as_series(as_array(x), dtype)
        axes = (0,) if axis is None else axes_of(operator.index(axis), array.ndim)
        lines = np.moveaxis(array.reshape(-1) if axis is None else array, axes[0], -1)
        make = _cumulated_integers if result.kind in "iu" else _cumulated
        others = lines.shape[:-1]
        count = np.empty(others, bool).size
        totals, finish = make(lines.reshape(count, lines.shape[-1]), result)
    along = "all axes" if axis is None else f"axis {axes[0]} beside axes of shape {others}"
    kind = f"elements of {array.dtype} along {along}, summed to {result},"
    return np.moveaxis(finish(_before(totals, kind, comm)).reshape(lines.shape), -1, axes[0])


def _as_series(array: Array, dtype: Any) -> tuple[Array, np.dtype[Any]]:
    """Returns elements that accumulators or NumPy's integers take, and the dtype of the result."""
    kind = array.dtype.kind
    if kind in "biu":
        own: np.dtype[Any] = np.dtype(np.uint64 if kind == "u" else np.int64)
        result = own if dtype is None else np.dtype(dtype)
        if result.kind == "f" and result.itemsize in (4, 8):
            return _elements.as_float64(array), result
        if result != own:
            raise TypeError(f"results of dtype {result} for elements of dtype {array.dtype} (sums of integers are {own}), convert the result")
        return _elements.converted(array, own), own
    own = np.dtype(np.float32) if is_half(array.dtype) else array.dtype
    if own.char not in "fdFD":
        raise TypeError(f"elements of dtype {array.dtype} (sums up to each element take float64 and narrower numbers), convert the elements")
    result = own if dtype is None else np.dtype(dtype)
    if result.char not in "fdFD" or result.kind != own.kind:
        raise TypeError(f"results of dtype {result} for elements of dtype {array.dtype} (results are float32, float64, or their complex types), convert the result")
    wide = np.promote_types(own, result)
    return array if array.dtype == wide else _elements.converted(array, wide), result


Totals = list[bytes]
Finish = Callable[[list[Totals]], Array]


def _cumulated_integers(lines: Array, result: np.dtype[Any]) -> tuple[Totals, Finish]:
    """Returns the total of every line, and a function that makes the sums from the totals of earlier ranks."""

    def finish(before: list[Totals]) -> Array:
        return _elements.cumulated_integers(lines, [np.frombuffer(b"".join(each), result) for each in before])

    return [total.tobytes() for total in _elements.totals_of_lines(lines)], finish


def _cumulated(lines: Array, result: np.dtype[Any]) -> tuple[Totals, Finish]:
    made = np.empty(lines.shape, result)
    sides = [(lines.real, made.real), (lines.imag, made.imag)] if result.kind == "c" else [(lines, made)]
    series = [(line, sums) for elements, side in sides for line, sums in zip(elements, side)]

    def finish(before: list[Totals]) -> Array:
        for (line, sums), totals in zip(series, before):
            start = Accumulator((), line.dtype)
            for data in totals:
                start += Accumulator.from_bytes(data)
            sums[...] = start.cumulate(line, sums.dtype)
        return made

    return [_total(line) for line, _ in series], finish


def _total(line: Array) -> bytes:
    made = Accumulator((), line.dtype)
    made.add(line)
    return made.to_bytes()


def _before(totals: Totals, kind: str, comm: Any) -> list[Totals]:
    """Returns, for every line, the totals of the ranks before this one. All ranks must have the same `kind` of lines."""
    every = _exchanged("cumsum", (kind, totals), comm)
    kinds = first_places([each for each, _ in every])
    if len(kinds) > 1:
        raise MismatchError(f"{listed(kinds, 'rank')} (all ranks must have arrays of one dtype, and of one shape but for the axis), convert the arrays")
    earlier = [each for _, each in every[:_rank_of(comm)]]
    return [[each[line] for each in earlier] for line in range(len(totals))]


def autocorrelation(x: ArrayLike, lag: int = 1, *, comm: Any = None) -> Any:
    """The autocorrelation coefficient of a series: the sum of (x[i] - mean) (x[i + lag] - mean), divided by the sum of
    (x[i] - mean)**2, as NIST's reference data sets define it. The quotient of exact sums is rounded once, to float64. NaN
    if all elements are equal, or if one is NaN or infinite.

    x
        Real numbers along one axis. Over the ranks of `comm` the series has first the elements of rank 0, then those of
        rank 1, and so on.
    lag
        The distance of the elements of a pair, from 0 to the number of elements minus 1; the same on all ranks.

    >>> import steadfold as sf
    >>> float(sf.autocorrelation([10000001.0, 10000003.0, 10000002.0]))
    -0.5
    """
    with told(comm):
        lag = operator.index(lag)
        array = as_array(x)
        if array.ndim != 1 or array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
            raise TypeError(f"a series of shape {array.shape} and dtype {array.dtype} (a series is one axis of float64 or narrower real numbers), "
                            "give such an array")
        series = _elements.as_float64(array) if array.dtype.kind in "biu" else _elements.converted(array, np.float64)
    heads = _exchanged("autocorrelation", (len(series), lag, series[:max(lag, 0)].tobytes()), comm)
    rank, sizes = _rank_of(comm), [size for size, _, _ in heads]
    lags, rows = {each for _, each, _ in heads}, sum(sizes)
    if len(lags) > 1:
        raise MismatchError(f"lags {sorted(lags)} (all ranks must give one lag), give the same lag")
    if not 0 <= lag < max(rows, 1):
        raise ValueError(f"a lag of {lag} for {rows} elements (a lag is 0 to the number of elements minus 1), give a smaller lag")
    later = series
    for size, _, head in heads[rank + 1:]:
        later = np.concatenate([later, np.frombuffer(head)])
        if size >= lag:
            break
    first = sum(sizes[:rank])
    return _of_lag(series, later[lag:lag + len(series)], (first, rows, lag), comm)


def _of_lag(series: Array, partners: Array, place: tuple[int, int, int], comm: Any) -> Any:
    """Returns the coefficient. `series` has the elements of this rank, and partners[i] is the element at the lag behind
    series[i]. `place`: the index of series[0] in the series of all ranks, the length of that series, and the lag."""
    first, rows, lag = place
    ends = [series[:max(lag - first, 0)], series[max(rows - lag - first, 0):]]
    with told(comm):
        mine: dict[Any, Accumulator] = {}
        for name, arrays in (("elements", [series]), ("ends", ends)):
            mine[name], mine["large", name] = Accumulator(), Accumulator()
            for each in arrays:
                small, large = _elements.without_large(each)
                mine[name].add(small)
                mine["large", name].add(large)
        for name, left, right in (("squares", series, series), ("products", series[:len(partners)], partners)):
            for part, scaled, factors in _elements.terms("weighted_mean", left, right):
                if factors is not None:
                    mine[name, part] = Accumulator(products=True)
                    mine[name, part].add(scaled, factors)
    merged: dict[Any, Accumulator] = {}
    for each in _exchanged("autocorrelation", {name: made.to_bytes() for name, made in mine.items()}, comm):
        for name, data in each.items():
            made = Accumulator.from_bytes(data)
            merged[name] = merged[name] + made if name in merged else made
    exact = {name: [float(value) for value in _elements.expansion(made.sum, made.subtract)] for name, made in merged.items()}
    return np.float64(_elements.lag_correlation(exact, rows, lag) if rows else np.nan)
