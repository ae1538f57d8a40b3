"""Collectives in MPI's shape: every rank gives a buffer of the same shape, and the elements at the same position are
combined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _core, _elements
from ._convert import as_array, is_half
from ._mode import Mode
from ._mpi import operator_of
from ._numbers import Collective
from ._options import RootedOptions, VectorOptions
from ._reductions import with_options
from ._told import told

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

Operator = Union[str, Callable[[Any, Any], Any]]


def call(collective: Collective, buffer: Any, op: Any, blocks: Any, commutative: bool, comm: Any, options: Any) -> Any:
    """Makes a call in MPI's shape. Elements of 8 and 16 bits are converted to a wider type, combined, and converted
    back."""
    op = operator_of(op, comm)
    result = _core.reduce_buffer(collective, buffer, op, blocks, commutative, comm, options, Mode.RUN)
    if result is not NotImplemented:
        return result
    with told(comm):
        array = as_array(buffer)
        wide = np.float32 if is_half(array.dtype) else {"b": np.int64, "i": np.int64, "u": np.uint64}.get(array.dtype.kind)
        if wide is None:
            raise TypeError(f"{op!r} of dtype {array.dtype} is not supported (elements must be numbers, and complex numbers have no order), "
                            "convert the elements, or give a callable of two arrays")
        converted = _elements.converted(array, wide)
    result = _core.reduce_buffer(collective, converted, op, blocks, commutative, comm, options, Mode.RUN)
    return None if result is None else _elements.converted(result, array.dtype)


@with_options(RootedOptions)
def allreduce(buffer: ArrayLike, op: Operator = "sum", comm: Any = None, *, commutative: bool = False,
              **options: Unpack[RootedOptions]) -> Any:
    """Combines the buffers of all ranks element by element, in the order of the ranks, in the binary tree over ranks.

    op
        "sum", "prod", "min" or "max"; an operation of mpi4py such as ``MPI.SUM``; or a callable of two arrays with one axis, such
        as ``numpy.logaddexp``.

    Returns an array of the buffer's shape and dtype.

    >>> import steadfold as sf
    >>> rank = sf.Team(1)[0]  # or a communicator of mpi4py
    >>> sf.allreduce([1.0, 2.0], "sum", rank)
    array([1., 2.])
    """
    return call(Collective.REDUCE, buffer, op, None, commutative, comm, options)


@with_options(VectorOptions)
def reduce_scatter(buffer: ArrayLike, op: Operator = "sum", comm: Any = None, *, blocks: Sequence[int] | None = None,
                   commutative: bool = False, **options: Unpack[VectorOptions]) -> Any:
    """Combines the buffers as `allreduce` does. Rank r gets block r of the result, `blocks[r]` elements (None: equal
    blocks).

    >>> import steadfold as sf
    >>> rank = sf.Team(1)[0]  # or a communicator of mpi4py
    >>> sf.reduce_scatter([1.0, 2.0], "sum", rank)
    array([1., 2.])
    """
    return call(Collective.REDUCE_SCATTER, buffer, op, blocks, commutative, comm, options)


@with_options(VectorOptions)
def scan(buffer: ArrayLike, op: Operator = "sum", comm: Any = None, *, commutative: bool = False,
         **options: Unpack[VectorOptions]) -> Any:
    """Combines the buffers as `allreduce` does, but rank r gets the combined buffers of ranks 0 to r.

    >>> import steadfold as sf
    >>> rank = sf.Team(1)[0]  # or a communicator of mpi4py
    >>> sf.scan([1.0, 2.0], "sum", rank)
    array([1., 2.])
    """
    return call(Collective.SCAN, buffer, op, None, commutative, comm, options)


@with_options(VectorOptions)
def exscan(buffer: ArrayLike, op: Operator = "sum", comm: Any = None, *, commutative: bool = False,
           **options: Unpack[VectorOptions]) -> Any:
    """Combines the buffers as `allreduce` does, but rank r gets the combined buffers of ranks 0 to r - 1. Rank 0 gets
    None.

    >>> import steadfold as sf
    >>> rank = sf.Team(1)[0]  # or a communicator of mpi4py
    >>> sf.exscan([1.0, 2.0], "sum", rank) is None
    True
    """
    return call(Collective.EXSCAN, buffer, op, None, commutative, comm, options)
