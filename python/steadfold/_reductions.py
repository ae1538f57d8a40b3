"""Reductions of arrays, on one process or over the ranks of a communicator: the functions that users call.

All functions take the same arguments and options, if they apply:

x
    The elements of this process: an array of any shape and strides, any object that NumPy converts to an array, or a
    column of a table (pyarrow, Polars, DuckDB, pandas), whose nulls are left out.
y
    The second factors, broadcast to the elements.
axis
    The axis, or tuple of axes, to reduce, as in NumPy (None: all axes).
dtype
    The dtype of the result: float32, float64 or a complex type. Integers keep their dtype or are widened to 64 bits.
out
    The array that receives the result, as in NumPy.
keepdims
    Whether reduced axes are kept, with one index.
where
    A mask of bool, broadcast to the elements. An element that it leaves out is never combined, even if it is NaN.
method
    The method, which fixes the bits: "exact" (correctly rounded), "tree" (the binary tree over element indices) or
    ``steadfold.tree(lanes=16)``, "binned" or ``steadfold.binned(bins=4)``, "plain" (the bits are not fixed). By
    default exact for sums, and a suitable method for others.
comm
    A communicator of mpi4py (not an intercommunicator), or a member of a `steadfold.Team`. Every rank makes the same call with
    its own rows; an error on one rank is raised on all ranks. Without `comm` only the elements of this process are
    reduced.
layout
    A `steadfold.Layout`, which says which rows of the whole job each rank has. Matters for "tree" and for indices.
    None: first the rows of rank 0, then the rows of rank 1, and so on.
root
    The rank that gets the result; the other ranks get None. By default all ranks get the result.
schedule
    A name listed by ``steadfold schedules``. The schedule never changes bits. By default the library chooses.
threads
    The number of threads that read the elements. The number does not change the bits.
require
    Guarantees that the call must give, such as "ranks,layout". If it cannot, `UnsupportedError` is raised.
"""

from __future__ import annotations

import inspect
import numbers
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union

import numpy as np

from . import _core, _elements, _fallback
from ._convert import are_wider, as_array, as_operand, common_dtype
from ._errors import EmptyError
from ._method import Method, name_of
from ._mode import Mode
from ._mpi import operator_of
from ._numbers import Operation
from ._options import DEFAULTS, CallOptions
from ._told import refuse, told

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from typing_extensions import Unpack

Axis = Union[int, "tuple[int, ...]", None]

_RUN = int(Mode.RUN)
_SUM, _PRODUCT, _MIN, _MAX, _MEAN = (
    int(operation) for operation in (Operation.SUM, Operation.PRODUCT, Operation.MIN, Operation.MAX, Operation.MEAN)
)
_NAMED = {"sum": Operation.SUM, "prod": Operation.PRODUCT, "product": Operation.PRODUCT, "min": Operation.MIN, "max": Operation.MAX}
_reduce = _core.reduce
_Function = TypeVar("_Function", bound=Callable[..., Any])


def with_options(options: Any) -> Callable[[_Function], _Function]:
    """Lists the options of a function in its signature, for `help`."""
    listed = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[name],
                                annotation=getattr(annotation, "__forward_arg__", annotation))
              for name, annotation in options.__annotations__.items()]

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        function.__signature__ = signature.replace(parameters=own + listed)  # type: ignore[attr-defined]
        return function

    return decorate


def _store(result: Any, out: Any) -> Any:
    """Stores a result in NumPy's argument `out`, which _check_out has checked."""
    if out is None or result is None:
        return result
    _elements.store(result, out)
    return out


def _shape_of_results(elements: Any, axis: Any, keepdims: Any) -> tuple[int, ...] | None:
    """Returns the shape of the results; None if the call will refuse the axis."""
    axes = range(elements.ndim)
    try:
        reduced = set(axes if axis is None else (axes[each] for each in (axis if isinstance(axis, tuple) else (axis,))))
    except (IndexError, TypeError):
        return None
    return tuple(1 if i in reduced else elements.shape[i] for i in axes if keepdims or i not in reduced)


def _check_out(
    out: Any, x: Any, axis: Any, dtype: Any, keepdims: Any, comm: Any, factors: Any = None, is_divided: bool = False,
) -> Any:
    """Checks before the call whether `out` can take the results; otherwise one rank alone would raise after the call.
    Returns the elements and factors, which are converted here, because some columns of tables can be read only once,
    and the dtype to which the call rounds. Without `dtype` this is the dtype of `out`, as in NumPy, so that results are
    not rounded again when they are stored."""
    if out is None:
        return x, factors, dtype
    if not isinstance(out, np.ndarray):
        refuse(comm, TypeError(f"out must be an array, not {out!r}"))
    if not out.flags.writeable:
        refuse(comm, ValueError("out is read-only (results cannot be stored in it), give an array that may be written"))
    with told(comm):
        x = as_operand(x)
        factors = None if factors is None else as_operand(factors)
        shape = _shape_of_results(x, axis, keepdims)
        if shape not in (None, out.shape):
            raise ValueError(f"out of shape {out.shape} for results of shape {shape} (the shapes must be equal), give an out of the results' shape")
        known = [x.dtype] + ([] if factors is None else [factors.dtype]) + ([np.dtype(np.float64)] if is_divided else [])
        results = common_dtype(*known) if dtype is None else np.dtype(dtype)
        if results is None:
            return x, factors, dtype  # the call reports the error in the elements
        if not np.can_cast(results, out.dtype, "same_kind"):
            raise TypeError(f"out of dtype {out.dtype} for results of dtype {results} (results would be truncated), give an out of the results' dtype")
        is_wider_kind = results.kind in "iu" and out.dtype.kind == "f" and factors is None
        is_rounded_to = out.dtype.char in "fdFD" and results.char not in "gG" and (results.kind == out.dtype.kind or is_wider_kind)
        return x, factors, out.dtype if dtype is None and is_rounded_to else dtype


def _call(
    operation: int, x: Any, factors: Any, axis: Any, dtype: Any, keepdims: bool, where: Any, comm: Any, options: Any,
    labels: Any = None, groups: Any = None, initial: Any = None,
) -> Any:
    """Makes one blocking call of the library, or of the fallback for types that the library does not take."""
    result = _reduce(operation, x, factors, axis, dtype, keepdims, where, labels, groups, comm, options, _RUN, initial)
    if result is NotImplemented:
        return _fallback.reduce(operation, x, factors, axis, dtype, keepdims, where, labels, groups, comm, options, _RUN, initial)
    return result


@with_options(CallOptions)
def sum(
    x: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: NDArray[Any] | None = None, keepdims: bool = False,
    where: ArrayLike | None = None, *, weights: ArrayLike | None = None, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The sum of the elements, correctly rounded unless `method` says otherwise.

    weights
        Factors, broadcast to the elements. The result is the sum of the products, none of which is rounded.

    Options are explained in ``help(steadfold)``.

    >>> import numpy as np
    >>> import steadfold as sf
    >>> x = np.array([1e16, 1.0, -1e16, 1e-3])
    >>> float(np.sum(x)), float(sf.sum(x))
    (0.001, 1.001)
    >>> sf.sum(np.ones((2, 3)), axis=0)
    array([2., 2., 2.])
    """
    if out is not None:
        x, weights, rounded_to = _check_out(out, x, axis, dtype, keepdims, comm, weights)
        dtype = dtype if name_of(options.get("method")) in ("tree", "plain") else rounded_to  # tree and plain round in every step
    # Calls the library as _call does, without unnecessary function calls: each takes a tenth of the time of a sum of
    # few elements.
    result = _reduce(_SUM, x, weights, axis, dtype, keepdims, where, None, None, comm, options, _RUN)
    if result is NotImplemented:
        result = _fallback.reduce(_SUM, x, weights, axis, dtype, keepdims, where, None, None, comm, options, _RUN, None)
    return result if out is None else _store(result, out)


@with_options(CallOptions)
def prod(
    x: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: NDArray[Any] | None = None, keepdims: bool = False,
    *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The product of the elements, in the binary tree over their indices.

    >>> import steadfold as sf
    >>> float(sf.prod([1.5, 2.0, 4.0]))
    12.0
    """
    x, _, _ = _check_out(out, x, axis, dtype, keepdims, comm)
    return _store(_call(_PRODUCT, x, None, axis, dtype, keepdims, None, comm, options), out)


@with_options(CallOptions)
def norm(
    x: ArrayLike, ord: float = 2, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False,
    where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """A norm of the elements as one vector. `ord` is 2 (the square root of the sum of squares, rounded once), 1 or inf.

    >>> import steadfold as sf
    >>> float(sf.norm([3e200, 4e200]) / 1e200)
    5.0
    """
    operations = {2.0: Operation.NORM2, 1.0: Operation.NORM1, float("inf"): Operation.NORMINF}
    operation = operations.get(ord) if isinstance(ord, (int, float)) else None
    if operation is None:
        refuse(comm, ValueError(f"norm of ord {ord!r} (the norms are 1, 2 and inf), use one of these"))
    return _call(operation, x, None, axis, dtype, keepdims, where, comm, options)


def _mean_of_nothing(x: Any, weights: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    """Returns NaN of the dtype of other means, with the same kind of warning as NumPy's."""
    warnings.warn("mean of no elements", RuntimeWarning, stacklevel=3)
    own = _core.dtype_of_sums(x.dtype)
    if own is None or own.kind not in "fc":
        own = np.dtype(np.float64)
    factors = None if weights is None else as_operand(weights)
    if factors is not None and are_wider(factors, own):
        own = common_dtype(factors.dtype, own)
    shape = np.any(np.zeros(x.shape, bool), axis, keepdims=keepdims).shape
    result = np.full(shape, np.nan, own if dtype is None else np.dtype(dtype).newbyteorder("="))
    if result.dtype.kind == "c":
        result.imag = np.nan
    return result[()]


@with_options(CallOptions)
def mean(
    x: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: NDArray[Any] | None = None, keepdims: bool = False,
    where: ArrayLike | None = None, *, weights: ArrayLike | None = None, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The mean of the elements, or their weighted mean with `weights`: exact sums, divided and rounded once. Without
    elements the result is NaN, with a warning as in NumPy.

    >>> import steadfold as sf
    >>> float(sf.mean([1e308, 1e308, 4e307]))
    8e+307
    >>> float(sf.mean([1, 2]))
    1.5
    """
    x, weights, dtype = _check_out(out, x, axis, dtype, keepdims, comm, weights, is_divided=True)
    operation = _MEAN if weights is None else Operation.WEIGHTED_MEAN
    try:
        result = _call(operation, x, weights, axis, dtype, keepdims, where, comm, options)
    except EmptyError:
        root = options.get("root")
        if root is not None and comm is not None and _core.Group(comm).rank != root:
            return None
        result = _mean_of_nothing(as_operand(x), weights, axis, dtype, keepdims)
    return _store(result, out)


class Statistics(NamedTuple):
    """Ten numbers that describe the elements, each rounded once. Indices count the elements of the whole job in C
    order."""

    count: Any
    min: Any
    min_index: Any
    max: Any
    max_index: Any
    mean: Any
    variance: Any
    sample_variance: Any
    deviation: Any
    sample_deviation: Any


@with_options(CallOptions)
def statistics(
    x: ArrayLike, axis: Axis = None, keepdims: bool = False, where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Statistics | None:
    """The number of elements, the extremes and their indices, the mean, the variances and the deviations, in one pass
    over the elements and one reduction.

    >>> import steadfold as sf
    >>> numbers = sf.statistics([1.0, 2.0, 4.0])
    >>> float(numbers.max), int(numbers.max_index), float(numbers.mean)
    (4.0, 2, 2.3333333333333335)
    """
    result = _call(Operation.STATISTICS, x, None, axis, None, keepdims, where, comm, options)
    return statistics_of(result)


def statistics_of(result: Any) -> Statistics | None:
    """Returns the fields of the result of a call, or None if this rank gets no result."""
    return None if result is None else Statistics(*(result[name] for name in Statistics._fields))


VARIANCES, DEVIATIONS = ("variance", "sample_variance"), ("deviation", "sample_deviation")


def statistic(names: tuple[str, ...], ddof: int, x: Any, dtype: Any, comm: Any, describe: Callable[[Any, Any], Any]) -> Any:
    """Returns the statistic whose name is names[ddof]. ``describe(x, dtype)`` computes the statistics of elements and
    rounds them to this dtype."""
    if not isinstance(ddof, numbers.Real) or ddof not in (0, 1):
        refuse(comm, ValueError(f"ddof of {ddof!r} (only ddof 0 and 1 are supported), multiply the variance with ddof=0 instead"))
    with told(comm):
        array = as_operand(x)
        rounded_to = np.dtype(_core.dtype_of_sums(array.dtype) if dtype is None else dtype).newbyteorder("=")
        if dtype is None and rounded_to.kind != "f":
            rounded_to = np.dtype(np.float64)  # used for integers; complex numbers are refused below
    found = describe(array, rounded_to)
    # The call has already rounded this number.
    return None if found is None else _elements.converted(found[names[int(ddof)]], rounded_to)


def _spread(names: tuple[str, str], ddof: int, dtype: Any, x: Any, axis: Any, keepdims: bool, where: Any, comm: Any,
            options: Any) -> Any:
    return statistic(names, ddof, x, dtype, comm, lambda array, rounded_to: _call(
        Operation.STATISTICS, array, None, axis, rounded_to, keepdims, where, comm, options))


@with_options(CallOptions)
def var(
    x: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: NDArray[Any] | None = None, ddof: int = 0,
    keepdims: bool = False, where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The variance: computed exactly and rounded once, to the dtype of the sum, for integers to float64. `ddof` is 0 or
    1.

    >>> import steadfold as sf
    >>> float(sf.var([1e9, 1e9 + 1.0, 1e9 + 2.0], ddof=1))
    1.0
    """
    x, _, dtype = _check_out(out, x, axis, dtype, keepdims, comm, is_divided=True)
    return _store(_spread(VARIANCES, ddof, dtype, x, axis, keepdims, where, comm, options), out)


@with_options(CallOptions)
def std(
    x: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: NDArray[Any] | None = None, ddof: int = 0,
    keepdims: bool = False, where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The standard deviation: computed exactly and rounded once, to the dtype of the sum, for integers to float64.
    `ddof` is 0 or 1.

    >>> import steadfold as sf
    >>> float(sf.std([1.0, 3.0]))
    1.0
    """
    x, _, dtype = _check_out(out, x, axis, dtype, keepdims, comm, is_divided=True)
    return _store(_spread(DEVIATIONS, ddof, dtype, x, axis, keepdims, where, comm, options), out)


@with_options(CallOptions)
def min(
    x: ArrayLike, axis: Axis = None, out: NDArray[Any] | None = None, keepdims: bool = False, where: ArrayLike | None = None, *,
    comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The smallest element. NaN if an element is NaN; -0.0 is below +0.0. Raises `EmptyError` if there are no elements.

    >>> import steadfold as sf
    >>> float(sf.min([3.0, -0.0, 0.0]))
    -0.0
    """
    x, _, _ = _check_out(out, x, axis, None, keepdims, comm)
    return _store(_call(_MIN, x, None, axis, None, keepdims, where, comm, options), out)


@with_options(CallOptions)
def max(
    x: ArrayLike, axis: Axis = None, out: NDArray[Any] | None = None, keepdims: bool = False, where: ArrayLike | None = None, *,
    comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The largest element. NaN if an element is NaN; -0.0 is below +0.0. Raises `EmptyError` if there are no elements.

    >>> import steadfold as sf
    >>> int(sf.max([3, 1, 2]))
    3
    """
    x, _, _ = _check_out(out, x, axis, None, keepdims, comm)
    return _store(_call(_MAX, x, None, axis, None, keepdims, where, comm, options), out)


def _index(operation: int, x: Any, axis: Any, keepdims: bool, where: Any, comm: Any, options: Any) -> Any:
    found = _call(operation, x, None, axis, None, keepdims, where, comm, options)
    return None if found is None else _elements.converted(found["index"], np.int64)


@with_options(CallOptions)
def argmin(
    x: ArrayLike, axis: Axis = None, keepdims: bool = False, where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The lowest index of the smallest element. The index counts in C order over the reduced elements of all ranks. If
    there are NaNs, it is the index of the first NaN. -1 if a mask leaves no element.

    >>> import steadfold as sf
    >>> int(sf.argmin([2.0, 1.0, 1.0]))
    1
    """
    return _index(Operation.MIN_LOCATION, x, axis, keepdims, where, comm, options)


@with_options(CallOptions)
def argmax(
    x: ArrayLike, axis: Axis = None, keepdims: bool = False, where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The lowest index of the largest element; counted as in `argmin`.

    >>> import steadfold as sf
    >>> int(sf.argmax([2.0, 3.0, 3.0]))
    1
    """
    return _index(Operation.MAX_LOCATION, x, axis, keepdims, where, comm, options)


@with_options(CallOptions)
def sum_by(
    x: ArrayLike, labels: ArrayLike, groups: int, axis: Axis = None, dtype: DTypeLike | None = None,
    where: ArrayLike | None = None, *, weights: ArrayLike | None = None, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The sum of every group of elements: an array of shape (groups, *kept axes). `labels` are integers that are
    broadcast to the elements (except a single number). The label of an element is the number of its group, 0 to groups
    - 1; an element with a negative label belongs to no group. All ranks must give the same number of groups.

    >>> import steadfold as sf
    >>> sf.sum_by([1.0, 2.0, 3.0, 4.0], [0, 1, 0, -1], groups=3)
    array([4., 2., 0.])
    """
    return _call(_SUM, x, weights, axis, dtype, False, where, comm, options, labels, groups)


@with_options(CallOptions)
def reduce(
    x: ArrayLike, op: str | Callable[[Any, Any], Any], comm: Any = None, *, batched: bool = False, commutative: bool = False,
    initial: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """Combines x[0] op x[1] op ... in the binary tree over the indices of the whole job, for any number of ranks, unless
    `method` says otherwise.

    op
        A callable of two elements, arrays of shape x.shape[1:]; the first has the lower indices. It returns a new element, whose
        dtype must fit theirs (as NumPy casts into ``out``), not None. Or "sum", "prod", "min" or "max", or an operation of mpi4py
        such as ``MPI.SUM``, which combine elements number by number. An exception of the callable is raised on its rank; the
        other ranks raise `OperatorError`.
    batched
        Whether the elements are in columns, x[i, j], or in one column, x[i], each of which is reduced separately. Then `op`
        combines many pairs in one call: it gets arrays of shape (pairs, *x.shape[2:]).
    commutative
        Whether the order of the operands does not change the bits.
    initial
        One element, the same on all ranks. The result is op(initial, result of the elements), or `initial` without elements.

    >>> import numpy as np
    >>> import steadfold as sf
    >>> turns = np.array([[[0, -1], [1, 0]]] * 4)
    >>> sf.reduce(turns, np.matmul)
    array([[1, 0],
           [0, 1]])
    """
    op = operator_of(op, comm)
    if isinstance(op, str):
        operation, method = named_operation(op, comm)
        return _call(operation, x, None, 0, None, False, None, comm, with_default(options, method), initial=initial)
    return _core.reduce_user(x, op, batched, commutative, comm, options, _RUN, initial)


def with_default(options: CallOptions, method: str | None) -> CallOptions:
    """Returns the options with this method if they name none."""
    return options if options.get("method") is not None else {**options, "method": method}


def named_operation(op: str, comm: Any) -> tuple[Operation, str | None]:
    """Returns the operation with this name, and the method that gives it the bits of the binary tree."""
    if op not in _NAMED:
        refuse(comm, ValueError(f"operation {op!r} (the named operations are {', '.join(_NAMED)}), use one of these or a callable"))
    return _NAMED[op], "tree" if _NAMED[op] in (_SUM, _PRODUCT) else None


def fsum(values: Any) -> float:
    """The correctly rounded sum of any iterable of numbers, as `math.fsum`. If `math.fsum` raises (inf - inf,
    overflow), the result is NaN or infinite.

    >>> import steadfold as sf
    >>> sf.fsum([0.1] * 10)
    1.0
    """
    array = as_array(values if hasattr(values, "__array__") else list(values))
    if array.dtype.kind == "c":
        raise TypeError("fsum of complex numbers (fsum takes real numbers), use sum")
    return float(sum(array if array.dtype == np.float64 else _elements.doubles(array)))
