"""The ways to make a call."""

from enum import IntEnum


class Mode(IntEnum):
    """Whether a call runs at once, is started, or is prepared for a plan."""

    RUN = 0
    START = 1
    PREPARE = 2
