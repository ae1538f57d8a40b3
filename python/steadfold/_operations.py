"""Made by ./dev surface from the tables in surface/: edit the tables.

Functions of arrays with the usual arguments, and the same as methods of `steadfold.plan`, `start` and `Bundle`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._numbers import Operation
from ._options import CallOptions
from ._reductions import Axis, _call, with_options

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike
    from typing_extensions import Unpack

    from ._plans import Options

Made = TypeVar("Made")

__all__ = ["dot", "vdot", "covariance", "sample_covariance", "corr"]


@with_options(CallOptions)
def dot(
    x: ArrayLike, y: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False,
    where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The sum of the products x[i] y[i], by default rounded once. Complex numbers are not conjugated; see `vdot`. `y` is
    broadcast to the shape of `x`, but a single number is not.

    >>> import steadfold as sf
    >>> float(sf.dot([1e200, 1.0, -1e200], [1e200, 3.0, 1e200]))
    3.0
    """
    return _call(Operation.DOT, x, y, axis, dtype, keepdims, where, comm, options)


@with_options(CallOptions)
def vdot(
    x: ArrayLike, y: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False,
    where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The sum of the products conj(x[i]) y[i], by default rounded once.

    >>> import steadfold as sf
    >>> complex(sf.vdot([1j], [1j]))
    (1+0j)
    """
    return _call(Operation.DOTC, x, y, axis, dtype, keepdims, where, comm, options)


@with_options(CallOptions)
def covariance(
    x: ArrayLike, y: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False,
    where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The covariance: the mean of (x[i] - mean of x) (y[i] - mean of y), rounded once. `y` is broadcast to the shape of
    `x`, but a single number is not.

    >>> import steadfold as sf
    >>> float(sf.covariance([1e9, 1e9 + 1, 1e9 + 2], [3.0, 2.0, 4.0]))
    0.3333333333333333
    """
    return _call(Operation.COVARIANCE, x, y, axis, dtype, keepdims, where, comm, options)


@with_options(CallOptions)
def sample_covariance(
    x: ArrayLike, y: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False,
    where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """The covariance (see `covariance`) with the divisor n - 1 in place of n; NaN for a single pair.

    >>> import steadfold as sf
    >>> float(sf.sample_covariance([1e9, 1e9 + 1, 1e9 + 2], [3.0, 2.0, 4.0]))
    0.5
    """
    return _call(Operation.SAMPLE_COVARIANCE, x, y, axis, dtype, keepdims, where, comm, options)


@with_options(CallOptions)
def corr(
    x: ArrayLike, y: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False,
    where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """Pearson's correlation: the covariance divided by both standard deviations, rounded once; from -1 to 1. NaN if all
    elements of `x` or of `y` are equal. `y` is broadcast to the shape of `x`, but a single number is not.

    >>> import steadfold as sf
    >>> float(sf.corr([1e9, 1e9 + 1, 1e9 + 2], [3.0, 2.0, 4.0]))
    0.5
    """
    return _call(Operation.CORRELATION, x, y, axis, dtype, keepdims, where, comm, options)


class CallsOfOperations(Generic[Made]):
    """The methods of `steadfold.plan`, `start` and `Bundle`."""

    def _reduce(self, operation: Operation, x: Any, factors: Any, axis: Any, options: Options) -> Made:
        raise NotImplementedError

    def dot(self, x: ArrayLike, y: ArrayLike, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.dot`."""
        return self._reduce(Operation.DOT, x, y, axis, options)

    def vdot(self, x: ArrayLike, y: ArrayLike, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.vdot`."""
        return self._reduce(Operation.DOTC, x, y, axis, options)

    def covariance(self, x: ArrayLike, y: ArrayLike, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.covariance`."""
        return self._reduce(Operation.COVARIANCE, x, y, axis, options)

    def sample_covariance(self, x: ArrayLike, y: ArrayLike, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.sample_covariance`."""
        return self._reduce(Operation.SAMPLE_COVARIANCE, x, y, axis, options)

    def corr(self, x: ArrayLike, y: ArrayLike, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.corr`."""
        return self._reduce(Operation.CORRELATION, x, y, axis, options)
