"""Made by ./dev surface from the tables in surface/: edit the tables.

The numbers of the C interface."""

from enum import IntEnum


class Operation(IntEnum):
    """sf_operation."""

    SUM = 0
    PRODUCT = 1
    MIN = 2
    MAX = 3
    USER = 4
    DOT = 5
    NORM2 = 6
    MEAN = 7
    MIN_LOCATION = 8
    MAX_LOCATION = 9
    ABS_SUM = 10
    NORM1 = 10
    SUM_SQUARES = 11
    MASKED_SUM = 12
    STATISTICS = 13
    WEIGHTED_MEAN = 14
    NORMINF = 15
    DOTC = 16
    COVARIANCE = 17
    SAMPLE_COVARIANCE = 18
    CORRELATION = 19


class Collective(IntEnum):
    """sf_collective."""

    REDUCE = 0
    REDUCE_SCATTER = 1
    SCAN = 2
    EXSCAN = 3


class List(IntEnum):
    """sf_list."""

    STATUSES = 0
    TYPES = 1
    OPERATIONS = 2
    METHODS = 3
    SWEEPS = 4
    GUARANTEES = 5
    LAYOUTS = 6
    COLLECTIVES = 7
    SCHEDULES = 8
    OPTIONS = 9
