"""Reductions that give the same bits every time, for any order of the elements in memory, and any number of chunks,
threads and ranks.

>>> import numpy as np
>>> import steadfold as sf
>>> x = np.random.default_rng(1).standard_normal(10_000) * 1e10
>>> bool(sf.sum(x) == sf.sum(x[::-1]) == sf.sum(x.reshape(100, 100).T))
True

With ``comm``, a communicator of mpi4py, the elements of all ranks are reduced: ``sf.sum(x, comm=MPI.COMM_WORLD)``.
"""

from . import _operations, _reductions
from ._accumulator import Accumulator
from ._collectives import allreduce, exscan, reduce_scatter, scan
from ._config import config, show_config
from ._core import Group, Layout, Request, Team
from ._core import version as _version
from ._errors import (
    EmptyError,
    Error,
    GapError,
    InternalError,
    InvalidArgumentError,
    MismatchError,
    OperatorError,
    OverlapError,
    TransportError,
    UnsupportedError,
)
from ._group_by import GroupBy, group_by
from ._method import Binned, Tree, binned, tree
from ._operations import *  # noqa: F403
from ._plans import Bundle, Member, Plan, plan, start
from ._reductions import (
    Statistics,
    argmax,
    argmin,
    fsum,
    max,
    mean,
    min,
    norm,
    prod,
    reduce,
    statistics,
    std,
    sum,
    sum_by,
    var,
)
from ._series import autocorrelation, cumsum

__version__ = _version()
__doc__ += (_reductions.__doc__ or "").partition("\n")[2]

__all__ = [
    "Accumulator",
    "Binned",
    "Bundle",
    "EmptyError",
    "Error",
    "GapError",
    "Group",
    "GroupBy",
    "InternalError",
    "InvalidArgumentError",
    "Layout",
    "Member",
    "MismatchError",
    "OperatorError",
    "OverlapError",
    "Plan",
    "Request",
    "Statistics",
    "Team",
    "TransportError",
    "Tree",
    "UnsupportedError",
    "allreduce",
    "argmax",
    "argmin",
    "autocorrelation",
    "binned",
    "config",
    "cumsum",
    "exscan",
    "fsum",
    "group_by",
    "max",
    "mean",
    "min",
    "norm",
    "plan",
    "prod",
    "reduce",
    "reduce_scatter",
    "scan",
    "show_config",
    "start",
    "statistics",
    "std",
    "sum",
    "sum_by",
    "tree",
    "var",
    *_operations.__all__,
]
