"""Plans (calls that are agreed on once and run often), bundles (several calls that share every message), and started
calls, which proceed while the caller computes. The methods of `Calls` make plans and started calls; they have the names
of the functions that run at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from . import _core
from ._arrow import is_column
from ._collectives import Operator
from ._errors import InvalidArgumentError
from ._mode import Mode
from ._mpi import operator_of
from ._numbers import Collective, Operation
from ._operations import CallsOfOperations
from ._options import CallOptions
from ._reductions import Axis, named_operation, with_default
from ._told import refuse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike
    from typing_extensions import Unpack

Made = TypeVar("Made")


class Options(CallOptions, total=False):
    """Options of reductions, as in `steadfold.sum`."""

    dtype: DTypeLike | None
    keepdims: bool
    where: ArrayLike | None


class Calls(CallsOfOperations[Made]):
    """Makes calls over a communicator. Derived classes decide whether a call is started, bound as a plan, or added to a
    bundle."""

    _mode = Mode.PREPARE

    def __init__(self, comm: Any = None) -> None:
        self._comm = comm

    def _made(self, call: Any) -> Made:
        raise NotImplementedError

    def _reduce(self, operation: Operation, x: Any, factors: Any, axis: Any, options: Any, labels: Any = None,
                groups: Any = None) -> Made:
        rest: dict[str, Any] = dict(options)
        dtype, keepdims, where = rest.pop("dtype", None), rest.pop("keepdims", False), rest.pop("where", None)
        made = _core.reduce(operation, x, factors, axis, dtype, keepdims, where, labels, groups, self._comm, rest, self._mode)
        return self._made(self._offered(made, x))

    def _buffer(self, collective: Collective, buffer: Any, op: Any, options: Any) -> Made:
        rest = dict(options)
        blocks, commutative = rest.pop("blocks", None), rest.pop("commutative", False)
        made = _core.reduce_buffer(collective, buffer, operator_of(op, self._comm), blocks, commutative, self._comm, rest, self._mode)
        return self._made(self._offered(made, buffer))

    def _offered(self, made: Any, x: Any) -> Any:
        if made is not NotImplemented:
            return made
        if is_column(x):
            refuse(self._comm, TypeError("a plan or a started call of a column of a table (it reads the memory of arrays), give the elements as an array"))
        refuse(self._comm, TypeError(f"a plan or a started call of dtype {getattr(x, 'dtype', type(x).__name__)}, or with factors of "
                                     "a wider one, is not supported, convert the elements"))

    def sum(self, x: ArrayLike, axis: Axis = None, *, weights: ArrayLike | None = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.sum`."""
        return self._reduce(Operation.SUM, x, weights, axis, options)

    def prod(self, x: ArrayLike, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.prod`."""
        return self._reduce(Operation.PRODUCT, x, None, axis, options)

    def norm(self, x: ArrayLike, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.norm` with ord=2."""
        return self._reduce(Operation.NORM2, x, None, axis, options)

    def mean(self, x: ArrayLike, axis: Axis = None, *, weights: ArrayLike | None = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.mean`; raises `EmptyError` if there are no elements."""
        return self._reduce(Operation.MEAN if weights is None else Operation.WEIGHTED_MEAN, x, weights, axis, options)

    def min(self, x: ArrayLike, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.min`."""
        return self._reduce(Operation.MIN, x, None, axis, options)

    def max(self, x: ArrayLike, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.max`."""
        return self._reduce(Operation.MAX, x, None, axis, options)

    def statistics(self, x: ArrayLike, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.statistics`; the result has fields with the same names."""
        return self._reduce(Operation.STATISTICS, x, None, axis, options)

    def sum_by(self, x: ArrayLike, labels: ArrayLike, groups: int, axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.sum_by`."""
        return self._reduce(Operation.SUM, x, None, axis, options, labels, groups)

    def reduce(self, x: ArrayLike, op: Operator, *, batched: bool = False, commutative: bool = False,
               initial: Any = None, **options: Unpack[CallOptions]) -> Made:
        """Makes the call `steadfold.reduce`."""
        op = operator_of(op, self._comm)
        if isinstance(op, str):
            operation, method = named_operation(op, self._comm)
            made = _core.reduce(operation, x, None, 0, None, False, None, None, None, self._comm, with_default(options, method),
                                self._mode, initial)
            return self._made(self._offered(made, x))
        return self._made(_core.reduce_user(x, op, batched, commutative, self._comm, options, self._mode, initial))

    def allreduce(self, buffer: ArrayLike, op: Operator = "sum", **options: Any) -> Made:
        """Makes the call `steadfold.allreduce`."""
        return self._buffer(Collective.REDUCE, buffer, op, options)

    def reduce_scatter(self, buffer: ArrayLike, op: Operator = "sum", **options: Any) -> Made:
        """Makes the call `steadfold.reduce_scatter`."""
        return self._buffer(Collective.REDUCE_SCATTER, buffer, op, options)

    def scan(self, buffer: ArrayLike, op: Operator = "sum", **options: Any) -> Made:
        """Makes the call `steadfold.scan`."""
        return self._buffer(Collective.SCAN, buffer, op, options)

    def exscan(self, buffer: ArrayLike, op: Operator = "sum", **options: Any) -> Made:
        """Makes the call `steadfold.exscan`."""
        return self._buffer(Collective.EXSCAN, buffer, op, options)


class start(Calls[_core.Request]):  # noqa: N801 - used as a verb
    """Starts calls that proceed while this rank computes: ``request = start(comm).sum(x)``, and later
    ``request.wait()``.

    Every rank starts the same calls in the same order. Arrays must not be changed before the call has ended. Started
    calls make progress inside calls of this library: `Request.test`, `Request.wait`, and all other calls over the
    communicator.

    >>> import steadfold as sf
    >>> team = sf.Team(1)
    >>> request = sf.start(team[0]).sum([1.0, 2.0])
    >>> float(request.wait(timeout=10))
    3.0
    """

    _mode = Mode.START

    def _made(self, call: _core.Request) -> _core.Request:
        return call


class NotCopied:
    """Base class of objects that the ranks agree on. The objects cannot be copied, since the other ranks would not know of
    the copy."""

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled (the ranks agree on each object), make another object")


class Plan(NotCopied):
    """A reduction that the ranks have agreed on, made by `plan`. Every run reads the current elements of the arrays
    from which the plan was made. Their shapes and dtypes must not change."""

    def __init__(self, call: _core.Prepared, comm: Any) -> None:
        self._plan = _core.Plan([call], comm)

    def run(self, x: Any = None, y: Any = None) -> Any:
        """Reduces the arrays of the plan, or `x` and `y` (the second factors), which must have the same dtype, shape
        and strides."""
        return self._plan.run(None if x is None and y is None else [(x, y)])[0]

    def start(self, x: Any = None, y: Any = None) -> None:
        """Starts a run, which proceeds while the caller computes; `wait` returns the result. One run at a time."""
        self._plan.start(None if x is None and y is None else [(x, y)])

    def test(self) -> bool:
        """Returns whether the run has ended. Checks once."""
        return self._plan.test()

    def wait(self, timeout: float | None = None) -> Any:
        """Waits for the end of the run and returns the result. After `timeout` seconds raises TimeoutError; the run
        continues."""
        return self._plan.wait(timeout)[0]

    @property
    def schedule(self) -> str:
        """Returns the name of the schedule in use."""
        return self._plan.schedule

    def __repr__(self) -> str:
        return f"<steadfold.Plan: {'; '.join(line.strip() for line in self._plan.describe().splitlines()[:2])}>"

    def describe(self) -> str:
        """Returns a readable description of what the ranks agreed on, a few lines of text."""
        return self._plan.describe()


class plan(Calls[Plan]):  # noqa: N801 - used as a verb
    """Makes plans: ``p = plan(comm).sum(x)``, then ``p.run()`` whenever `x` has new elements. The ranks agree once, so
    runs need no handshake, and send fewer and smaller messages.

    >>> import numpy as np
    >>> import steadfold as sf
    >>> x = np.ones(3)
    >>> p = sf.plan().sum(x)
    >>> x[0] = 5.0
    >>> float(p.run())
    7.0
    """

    def _made(self, call: _core.Prepared) -> Plan:
        return Plan(call, self._comm)


class Member:
    """One call of a bundle, with its result."""

    def __init__(self) -> None:
        self._value: Any = None
        self._ran = False

    @property
    def value(self) -> Any:
        """Returns the result of the last run of the bundle, or None on ranks that get no result."""
        if not self._ran:
            raise RuntimeError("no result yet (the bundle has not run), call run() first")
        return self._value

    def _take(self, value: Any) -> None:
        self._value, self._ran = value, True


class Bundle(Calls[Member], NotCopied):
    """Reductions that share every message. Add reductions, then run them together whenever their arrays have new
    elements. The results are the same as in separate calls.

    >>> import numpy as np
    >>> import steadfold as sf
    >>> x, y = np.arange(4.0), np.ones(4)
    >>> bundle = sf.Bundle()
    >>> product, length = bundle.dot(x, y), bundle.norm(y)
    >>> bundle.run()
    >>> float(product.value), float(length.value)
    (6.0, 2.0)
    """

    def __init__(self, comm: Any = None) -> None:
        super().__init__(comm)
        self._calls: list[_core.Prepared] = []
        self._members: list[Member] = []
        self._plan: _core.Plan | None = None
        self._is_binding = False

    def _made(self, call: _core.Prepared) -> Member:
        if self._plan is not None or self._is_binding:
            raise RuntimeError("a call cannot be added to a bundle that has run (the ranks have agreed on its calls), make another bundle")
        member = Member()
        self._calls.append(call)
        self._members.append(member)
        return member

    def _bound(self) -> _core.Plan:
        if self._is_binding:
            raise InvalidArgumentError("the bundle is in use by another thread (one thread at a time may use it), give every thread its own bundle")
        if self._plan is None:
            self._is_binding = True
            try:
                self._plan = _core.Plan(self._calls, self._comm)
            finally:
                self._is_binding = False
        return self._plan

    def _take(self, values: Sequence[Any]) -> None:
        for member, value in zip(self._members, values):
            member._take(value)

    def run(self) -> None:
        """Runs all calls. In the first run the ranks agree on them."""
        self._take(self._bound().run())

    def start(self) -> None:
        """Starts a run of all calls, which proceeds while the caller computes; `wait` ends it."""
        self._bound().start()

    def test(self) -> bool:
        """Returns whether the run has ended. Checks once."""
        return self._plan is None or self._plan.test()

    def wait(self, timeout: float | None = None) -> None:
        """Waits for the end of the run. After `timeout` seconds raises TimeoutError; the run continues."""
        if self._plan is None:
            raise RuntimeError("the bundle was not started (there is nothing to wait for), call start() or run()")
        self._take(self._plan.wait(timeout))

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        return f"<steadfold.Bundle of {len(self)} calls>"
