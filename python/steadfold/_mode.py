"""What becomes of a call."""

from enum import IntEnum


class Mode(IntEnum):
    """What is made of a call."""

    RUN = 0
    START = 1
    PREPARE = 2
