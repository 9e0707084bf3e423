"""The intermediate representation: functions of nested regions over single-assignment names.

Few kinds of nodes. A :class:`Block` is a sequence of statements and a terminator. Statements bind variables once;
``If`` and ``Loop`` hold blocks and bind the values that their blocks hand out. A terminator hands values to the
enclosing construct (``Yield``, ``Continue``, ``Exit``), leaves the function (``Return``, ``Raise``) or chooses
between two continuations (``Branch``), so that early exits need no flags.

Nodes are immutable. Variables are identities: two variables with one hint are two variables.
"""

from __future__ import annotations

from typing import Any, Literal

from adjoint.diagnostics.spans import Span
from adjoint.ir.types import Type
from adjoint.records import dataclass


@dataclass(eq=False, slots=True)
class Var:
    """A value's name. ``hint`` is the name to print; ``named`` says that a person chose it.

    While a function is lowered, a variable may still be given its name; after that it is never changed.
    """

    hint: str
    type: Type
    named: bool = False

    def __repr__(self) -> str:
        return f"%{self.hint}"


@dataclass(frozen=True, slots=True)
class Const:
    """A value known at compile time: a literal, a function, a class, a module."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return NotImplemented
        mine, theirs = self.value, other.value
        if mine is theirs:
            return True
        if type(mine) is not type(theirs) or not isinstance(mine, (bool, int, float, complex, str, bytes)):
            return False
        return repr(mine) == repr(theirs)  # tells 0.0 from -0.0, and lets nan equal itself

    def __hash__(self) -> int:
        value = self.value
        if isinstance(value, (bool, int, float, complex, str, bytes)):
            return hash(value) if value == value else 0  # one nan hashes to another number than the next
        return id(value)


@dataclass(frozen=True, slots=True)
class Undefined:
    """Stands where a value is handed out on a path on which it is never read."""


UNDEFINED = Undefined()
Atom = Var | Const | Undefined


@dataclass(frozen=True, slots=True)
class Slice:
    """``lower:upper:step`` in an index; a missing part is ``Const(None)``."""

    lower: Atom
    upper: Atom
    step: Atom


@dataclass(frozen=True, slots=True)
class Subscript:
    """``base[items]``; ``tupled`` tells ``a[i,]`` from ``a[i]``. New axis and ellipsis are constants."""

    items: tuple[Atom | Slice, ...]
    tupled: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """``base.name``"""

    name: str


Key = Subscript | Attribute

WHOLE = Subscript((Const(Ellipsis),))
"""All of an array."""
WHOLE_AXIS = Slice(Const(None), Const(None), Const(None))
"""All along one axis."""


@dataclass(frozen=True, slots=True)
class Call:
    """``targets = callee(*args, **kwargs)``: every computation, operators included (``operator.add``).

    ``callee`` is a Python callable, a :class:`Function`, or a compile-time description of a derivative. No
    target: called for its effect. Several targets: the result is a tuple that is unpacked.
    """

    targets: tuple[Var, ...]
    callee: Any
    args: tuple[Atom, ...]
    kwargs: tuple[tuple[str, Atom], ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """``target = base[key]`` or ``target = base.name``."""

    target: Var
    base: Atom
    key: Key
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """``base[key] = value``, or an accumulation.

    ``set`` replaces; ``add`` and ``sub`` are ``+=`` and ``-=``; without ``key`` they are about the whole array.
    ``add_at`` accumulates through an index that may repeat, as ``np.add.at``.
    """

    base: Atom
    key: Key | None
    value: Atom
    mode: Literal["set", "add", "sub", "add_at"] = "set"
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class If:
    """Both branches end in ``Yield`` (bound to ``targets``) or ``Raise``, possibly below a ``Branch``."""

    cond: Atom
    then: Block
    orelse: Block
    targets: tuple[Var, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """The integers of ``range(start, stop, step)``, backwards where ``backward``.

    ``free`` says that the iterations may run in any order: only roundings of sums depend on it, which are cotangents.
    """

    start: Atom
    stop: Atom
    step: Atom
    backward: bool = False
    free: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """What Python's ``for`` draws from an iterable that carries no derivative."""

    iterable: Atom


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that carries ``params``, first bound to ``inits``.

    ``index`` takes the values of ``over``; without ``over`` the loop runs until it is left. The body's leaves are
    ``Continue(values for params)`` and ``Exit(kind, values for targets)``. ``targets`` begin with one variable
    per parameter; more may follow, for values that only exits hand out. When ``over`` is exhausted the targets
    take the parameters' values (those that follow are undefined) and the exit kind is 0; so it is where the condition
    of a loop without ``over`` no longer holds: ``Exit(0, values)``. ``exit`` is bound to the kind, where anyone asks
    for it.
    """

    over: Range | Items | None
    index: Var | None
    params: tuple[Var, ...]
    inits: tuple[Atom, ...]
    body: Block
    targets: tuple[Var, ...]
    exit: Var | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Handler:
    """One ``except`` clause: ``exception`` is the class or tuple of classes, None for a bare one."""

    exception: Atom | None
    name: Var | None
    body: Block


@dataclass(frozen=True, slots=True)
class Guarded:
    """``with context as name: body`` or ``try: body`` with handlers and a final block.

    Body and handlers end in ``Yield`` (or ``Raise``); exits from inside are told apart by a yielded constant.
    """

    context: Atom | None
    name: Var | None
    body: Block
    handlers: tuple[Handler, ...]
    final: Block | None
    targets: tuple[Var, ...] = ()
    span: Span | None = None


Statement = Call | Load | Store | If | Loop | Guarded


@dataclass(frozen=True, slots=True)
class Yield:
    """Hands values to the enclosing ``If`` or ``Guarded`` statement (through any ``Branch`` between)."""

    values: tuple[Atom, ...] = ()


@dataclass(frozen=True, slots=True)
class Continue:
    """Goes to the next iteration of the enclosing loop."""

    values: tuple[Atom, ...] = ()


@dataclass(frozen=True, slots=True)
class Exit:
    """Leaves the enclosing loop."""

    kind: int
    values: tuple[Atom, ...] = ()


@dataclass(frozen=True, slots=True)
class Return:
    """Leaves the function. One value is returned as it is, several as a tuple."""

    values: tuple[Atom, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Raise:
    """``raise exception from cause``; without an exception, raises the current one again."""

    exception: Atom | None
    cause: Atom | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """``cond`` chooses how the block ends: the terminators below belong to the construct around it."""

    cond: Atom
    then: Block
    orelse: Block
    span: Span | None = None


Terminator = Yield | Continue | Exit | Return | Raise | Branch


@dataclass(frozen=True, slots=True)
class Block:
    """Statements in order, then the terminator."""

    statements: tuple[Statement, ...]
    terminator: Terminator


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    """A function: parameters (each printed by its hint) and a body whose leaves are ``Return`` or ``Raise``."""

    name: str
    params: tuple[Var, ...]
    body: Block
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """A function that is run again in the reverse sweep, rather than remembered.

    Attributes
    ----------
    options
        Where the body is a loop that keeps few of its states: the parameters that tell how many, in what memory, and
        how many more on disk. Else empty: the arguments are all that is kept.
    files
        Whether states may lie in files.
    """

    options: tuple[int, ...] = ()
    files: bool = False


@dataclass(eq=False, slots=True)
class Definition:
    """A function that is called rather than inlined, so that it may call itself: ``function`` is filled in late.

    Attributes
    ----------
    checkpoints
        How it is run again in the reverse sweep.
    """

    name: str
    function: Function | None = None
    checkpoints: Checkpoints | None = None

    def unfilled(self) -> Definition:
        """Another one like it, without a function."""
        return Definition(self.name, None, self.checkpoints)


@dataclass(frozen=True, eq=False, slots=True)
class Derived:
    """The reverse-mode derivative of a function, named but not yet written out.

    Called with the arguments of ``function`` and then one cotangent for each of its ``outputs``. The results are
    those of ``function`` and then one cotangent for each parameter in ``wrt``. Kept as a name as long as it may be
    differentiated: its own reverse derivative is the reverse derivative of a forward derivative, so that no tape
    is ever reversed.
    """

    function: Function
    wrt: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Declared:
    """Values whose derivative the user declared.

    Called with ``arguments`` atoms that carry derivatives, the values, and the residuals: what the pullback reads
    besides cotangents, then what the differential reads besides tangents. The results are the values. A derivative
    flows from the arguments to the results alone; values and residuals were computed by ordinary statements before,
    which a second derivative goes through.

    Where nobody else has the memory of a value, the result has memory of its own: a copy, if either is written. Else
    it is that memory; then no derivative flows through it if it is written.

    Attributes
    ----------
    seeds
        The results that have cotangents and tangents.
    pullback
        Takes a cotangent for each of ``seeds``, then its residuals; gives one cotangent for each argument.
    differential
        Takes a tangent for each argument, then its residuals; gives one tangent for each of ``seeds``.
    excluded
        What to call the last arguments, for which no derivative is declared: none of them may vary.
    linear
        Whether the values are linear in the other arguments.
    """

    name: str
    arguments: int
    seeds: tuple[int, ...]
    pullback: Function | None = None
    differential: Function | None = None
    excluded: tuple[str, ...] = ()
    linear: bool = False

    def arguments_of(self, call: Call) -> tuple[Atom, ...]:
        """The arguments of a call for which a derivative is declared."""
        return call.args[: self.arguments - len(self.excluded)]

    def excluded_of(self, call: Call) -> tuple[Atom, ...]:
        """The arguments of a call for which none is declared."""
        return call.args[self.arguments - len(self.excluded) : self.arguments]

    def values_of(self, call: Call) -> tuple[Atom, ...]:
        """What the results of a call are."""
        return call.args[self.arguments : self.arguments + len(call.targets)]

    def of_pullback(self, call: Call) -> tuple[Atom, ...]:
        """What the pullback of a call reads besides cotangents."""
        return self._residuals_of(call)[: self._count]

    def of_differential(self, call: Call) -> tuple[Atom, ...]:
        """What the differential of a call reads besides tangents."""
        return self._residuals_of(call)[self._count :]

    @property
    def _count(self) -> int:
        """How many residuals are the pullback's."""
        return 0 if self.pullback is None else len(self.pullback.params) - len(self.seeds)

    def _residuals_of(self, call: Call) -> tuple[Atom, ...]:
        return call.args[self.arguments + len(call.targets) :]


@dataclass(frozen=True, slots=True)
class Applied:
    """A call of a function value that is known only at run time.

    Called with the function value, then its arguments, numbers and arrays. The results are its values, each in memory
    of its own, and last the pullback of this call. A derivative flows from the arguments at ``places`` (the first
    has place 1) to the values; a call is refused where anything else varies.
    """

    places: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Surgery(Declared):
    """Values that are what they were before; in between a function of the user's changes their cotangents, or looks.

    Each argument is the value of the result at its place, and all have cotangents. In a derivative of a derivative
    they are plain values: it is the program of the first derivative that is differentiated. ``sole`` says that nobody
    uses the memory of the arguments by another name afterwards: then it may be written, and the memory of the
    cotangents changes in place.
    """

    sole: bool = False

    @property
    def function(self) -> Function:
        """The function of the cotangents."""
        assert self.pullback is not None
        return self.pullback


@dataclass(frozen=True, eq=False, slots=True)
class Binding(Surgery):
    """What a variable holds from here on, where derivatives with respect to it are asked for. Only while lowering."""


@dataclass(frozen=True, eq=False, slots=True)
class Requested:
    """The derivative of a value with respect to variables, of which it is not yet known how it was computed.

    Called with the value and the variables; the results are the derivatives. Only while lowering: the end of the
    function shows the flow, and puts a :class:`Derived` in its place.
    """

    name: str


def differentiated_args(call: Call) -> tuple[Atom, ...]:
    """The positional arguments of a call from which a derivative may flow to its results."""
    if isinstance(call.callee, Applied):
        return tuple([call.args[place] for place in call.callee.places])
    return call.args[: call.callee.arguments] if isinstance(call.callee, Declared) else call.args
