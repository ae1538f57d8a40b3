"""What can go wrong. Texts are "problem (why), suggestion". When a collective call fails on one rank, all ranks raise."""

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
    nothing to reduce (no rank brought an element and the operator has no neutral one), check the count first
    """


class EmptyError(Error, ValueError):
    """There is nothing to reduce, and the operator has no neutral element."""


class GapError(Error):
    """Elements that no rank brought."""


class OverlapError(Error):
    """An element that was brought twice."""


class OperatorError(Error):
    """An operator failed, on this rank or another one."""


class MismatchError(Error):
    """The ranks made different calls."""


class InvalidArgumentError(Error, ValueError):
    """An argument that no call can use."""


class UnsupportedError(Error, NotImplementedError):
    """A combination that cannot be kept or is not built."""


class TransportError(Error):
    """The MPI library reported an error, a message did not fit, or a wait for others was given up."""


class InternalError(Error):
    """Out of memory, or a fault of Steadfold."""


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
