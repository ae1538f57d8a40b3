"""The errors of reductions. Their texts read "problem (why), suggestion". If a collective call fails on one rank, all
ranks raise."""

from __future__ import annotations

__all__ = [
    "EmptyError",
    "Error",
    "GapError",
    "InternalError",
    "InvalidArgumentError",
    "MismatchError",
    "OperatorError",
    "OverlapError",
    "TransportError",
    "UnsupportedError",
]


class Error(Exception):
    """A reduction failed.

    >>> import steadfold as sf
    >>> try:
    ...     sf.min([])
    ... except sf.Error as error:
    ...     print(error)
    nothing to reduce (no rank brought an element and the operator has no neutral element), check the number of elements first
    """


class EmptyError(Error, ValueError):
    """There is nothing to reduce, and the operation has no result without elements."""


class GapError(Error):
    """An element is missing: no rank gave it."""


class OverlapError(Error):
    """The same element was given twice."""


class OperatorError(Error):
    """An operator failed, on this rank or another rank."""


class MismatchError(Error):
    """The ranks made different calls."""


class InvalidArgumentError(Error, ValueError):
    """An argument is invalid."""


class UnsupportedError(Error, NotImplementedError):
    """The combination is not supported, or a required guarantee cannot be given."""


class TransportError(Error):
    """The MPI library reported an error, a message did not fit, or a wait for other ranks or workers timed out or was
    interrupted."""


class InternalError(Error):
    """Out of memory, or an error in Steadfold."""


#: The exception for a status of the C interface.
BY_STATUS: dict[int, type[Error]] = {
    1: EmptyError,
    2: GapError,
    3: OverlapError,
    4: OperatorError,
    5: MismatchError,
    6: InvalidArgumentError,
    7: UnsupportedError,
    8: TransportError,
    9: InternalError,
}
