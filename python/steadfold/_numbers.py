"""Numbers of the C interface: operations, collectives, and what is made of a call."""

from enum import IntEnum


class Operation(IntEnum):
    """sf_operation."""

    SUM = 0
    PRODUCT = 1
    MIN = 2
    MAX = 3
    DOT = 5
    NORM2 = 6
    MEAN = 7
    MIN_LOCATION = 8
    MAX_LOCATION = 9
    NORM1 = 10
    SUM_SQUARES = 11
    STATISTICS = 13
    WEIGHTED_MEAN = 14
    NORMINF = 15
    DOTC = 16


class Collective(IntEnum):
    """sf_collective."""

    REDUCE = 0
    REDUCE_SCATTER = 1
    SCAN = 2
    EXSCAN = 3


class List(IntEnum):
    """sf_list: those that are asked for."""

    METHODS = 3
    SCHEDULES = 8


class Mode(IntEnum):
    """What is made of a call."""

    RUN = 0
    START = 1
    PREPARE = 2
