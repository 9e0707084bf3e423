"""What the frontend knows of a value: an atom of the IR, or compile-time structure whose parts are values.

Objects, lists and dicts have an identity here, a :class:`Ref`; what they hold is flow-sensitive and lies in the
store (:mod:`adjoint.frontend.store`) as a :class:`Record`. Two names of one object are two equal refs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from adjoint import ir
from adjoint.records import dataclass, field
from adjoint.sources.definitions import FunctionSource
from adjoint.types.classes.safe_lookups import asked


class Cell:
    """A variable of a frame, or an enclosing one: where closures look when they are called."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Cell({self.name})"


class Held(Cell):
    """The variable that an attribute of a class is, where the class is defined inside a function."""

    __slots__ = ()


LOCAL = "__adjoint_local__"
"""The attribute by which classes that are defined inside a function are known, and the functions in them."""


STANDS_FOR = "__adjoint_stands_for__"
"""The attribute of classes whose objects stand for those of others, which must not be seen outside."""


class Local:
    """What is known of a class that is defined inside a function.

    Attributes
    ----------
    settled
        Whether its statement is run once: then objects may exist at run time, for its methods find what they capture.
    node
        The statement.
    said, parts
        What the statement says: the same class serves all attempts at lowering where that does not change.
    """

    __slots__ = ("cls", "node", "parts", "said", "settled")

    def __init__(self, settled: bool, node: ast.AST, said: Any, parts: list[Any]) -> None:
        self.settled, self.node, self.said, self.parts = settled, node, said, parts
        self.cls: type | None = None


def is_stand_in(function: Any) -> bool:
    """Whether a function object stands for a method of such a class."""
    return LOCAL in function.__dict__


def local_mark(cls: type) -> Local | None:
    """What is known of a class if it, or one that it inherits from, is defined inside a function."""
    found: Local | None = asked(cls, LOCAL)
    return found


@dataclass(frozen=True, slots=True)
class Site:
    """Where an object is made: the unit of the decision whether it must exist at run time."""

    place: tuple[Any, ...]


def _is_in_recursion(site: Site) -> bool:
    """Whether one of the calls that led there is made inside of itself."""
    return len(set(site.place)) < len(site.place)


class RuntimeSites:
    """Where objects are made that must exist at run time.

    A place in the source that is reached by many ways, or inside of a recursion that is inlined, counts as a whole:
    each way found out on its own would take another attempt at lowering.
    """

    MANY = 4

    def __init__(self) -> None:
        self._ways: dict[Any, set[Site]] = {}
        self._whole: set[Any] = set()

    def add(self, site: Site) -> None:
        node = site.place[0]
        ways = self._ways.setdefault(node, set())
        ways.add(site)
        if type(node) is int and (len(ways) >= self.MANY or _is_in_recursion(site)):
            self._whole.add(node)

    def update(self, sites: Iterable[Site]) -> None:
        for site in sites:
            self.add(site)

    def discard(self, site: Site) -> None:
        self._ways.get(site.place[0], set()).discard(site)

    def clear(self) -> None:
        self._ways.clear()
        self._whole.clear()

    def __contains__(self, site: Site) -> bool:
        return site.place[0] in self._whole or site in self._ways.get(site.place[0], ())

    def __ge__(self, sites: Iterable[Site]) -> bool:
        return all(site in self for site in sites)


@dataclass(frozen=True, eq=False, slots=True)
class Ref:
    """The identity of an object, list or dict whose parts are known."""

    site: Site
    origin: ir.Atom | None = None
    """The run-time object behind it, where there is one: an argument, or what an argument holds."""
    joins: list[bool] = field(default_factory=list)
    """Not empty once a join has made a copy of it: from then on nobody may write it."""


def is_same_key(one: Any, other: Any) -> bool:
    """Whether a dict takes two keys for one: ``1``, ``1.0`` and ``True`` are."""
    if one is other:
        return True
    if type(one) is str is type(other):
        return bool(one == other)
    try:
        return hash(one) == hash(other) and bool(one == other)
    except TypeError:  # not hashable
        return False


@dataclass(frozen=True, slots=True)
class Record:
    """What a :class:`Ref` holds: attributes by name, list elements by index, dict values by key."""

    cls: type
    parts: tuple[tuple[Any, Value], ...]

    def get(self, key: Any) -> Value | None:
        for name, value in self.parts:
            if is_same_key(name, key):
                return value
        return None

    def with_part(self, key: Any, value: Value) -> Record:
        if self.get(key) is None:
            return Record(self.cls, (*self.parts, (key, value)))
        return Record(self.cls, tuple((k, value if is_same_key(k, key) else v) for k, v in self.parts))

    @property
    def items(self) -> tuple[Value, ...]:
        return tuple(value for _, value in self.parts)

    @property
    def keys(self) -> tuple[Any, ...]:
        return tuple(key for key, _ in self.parts)


def list_record(items: list[Value] | tuple[Value, ...]) -> Record:
    return Record(list, tuple(enumerate(items)))


@dataclass(frozen=True, slots=True)
class TupleValue:
    """A tuple of known length.

    Attributes
    ----------
    cls
        The class of a named tuple.
    is_itself
        Whether it is the object that the program made: what is left of tuples behind branches and loops, and in
        containers, are their items.
    """

    items: tuple[Value, ...]
    cls: type = tuple
    is_itself: bool = field(default=False, compare=False)


@dataclass(frozen=True, eq=False, slots=True)
class Closure:
    """A function whose body is at hand, with the cells it captures."""

    source: FunctionSource
    cells: dict[str, Cell]
    globals: dict[str, Any]
    defaults: tuple[Value | Cell, ...] = ()
    """The default values of parameters by position: what is computed when the program runs, in variables of its own."""
    kw_defaults: Mapping[str, Value | Cell] = field(default_factory=dict)
    owner: type | None = None
    """The class in whose body the function stands, for ``super()``."""
    function: Any = None
    """The function object, where one exists."""
    block: Any = None
    """The block in which it was made."""
    attributes: dict[str, Cell] = field(default_factory=dict)
    """The variables that its attributes are, of a function that is made inside the call."""
    outer: Closure | None = None
    """The function that it is made in, of a function that is made inside the call."""
    is_read: bool = False
    """Whether it was read from a container at run time, so that another reading may be the same function."""


@dataclass(frozen=True, slots=True)
class Method:
    """A function with its first argument."""

    function: Value
    receiver: Value


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial(function, *args, **kwargs)``"""

    function: Value
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Operator:
    """A differential operator applied to a function: ``ad.grad(f, wrt=...)``."""

    kind: str
    function: Value
    options: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Pullback:
    """The second result of ``ad.vjp``: what it was made of, and the value whose cotangent it takes.

    That consists of the first ``count`` results: others stand beside it.
    """

    inner: Any
    value: Value
    count: int
    args: tuple[Value, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RangeValue:
    start: ir.Atom
    stop: ir.Atom
    step: ir.Atom


@dataclass(frozen=True, slots=True)
class IteratorValue:
    """``enumerate``, ``zip``, ``reversed`` or the items of a dict, not yet run.

    Of the kind "lazy" are those for which a function of the library gives the list of all items.
    """

    kind: str
    parts: tuple[Value, ...]
    site: Site | None = field(default=None, compare=False)
    """Where it is made, if it could be an object that is come back to."""


@dataclass(frozen=True, slots=True)
class GivenValue:
    """What a function that stays one returns of what it is given, by its place: the caller has it already."""

    place: int


@dataclass(frozen=True, eq=False, slots=True)
class GeneratorValue:
    """A generator expression: run where it is consumed. What its first ``for`` goes through is known before."""

    node: ast.GeneratorExp
    frame: Any
    first: Value
    site: Site | None = None


@dataclass(eq=False, slots=True)
class GeneratorObject:
    """What a call of a generator function gives: its body runs while somebody goes through it.

    Attributes
    ----------
    frame
        The activation of the function, whose parameters are bound.
    node
        The call.
    args
        The arguments, by which it is told whether a recursion goes down a known structure.
    site
        Where it is made, for it could be an object that is come back to.
    held
        Whether a variable or an object has it: then it lives on where a loop over it is left.
    """

    frame: Any
    node: ast.AST
    args: tuple[Value, ...]
    site: Site
    held: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class GeneratorContext:
    """What a call of a generator function gives that `contextlib.contextmanager` decorates."""

    generator: GeneratorObject


@dataclass(frozen=True, slots=True)
class SliceValue:
    lower: ir.Atom
    upper: ir.Atom
    step: ir.Atom


@dataclass(frozen=True, slots=True)
class SuperValue:
    owner: type
    receiver: Value


@dataclass(frozen=True, slots=True)
class Union:
    """One of several values; ``tag`` tells which at run time."""

    tag: ir.Atom
    options: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Forgotten(ir.Undefined):
    """Stands for a part of an object that was changed, nobody knows to what.

    The function of an inner derivative did that, or one whose derivative is declared.
    """

    may_vary: bool = True
    """Whether it may carry a derivative."""


FORGOTTEN = Forgotten()
FORGOTTEN_CONSTANT = Forgotten(may_vary=False)

Value = (
    ir.Var
    | ir.Const
    | ir.Undefined
    | Ref
    | Record
    | TupleValue
    | Closure
    | Method
    | Partial
    | Operator
    | Pullback
    | RangeValue
    | IteratorValue
    | GivenValue
    | GeneratorValue
    | GeneratorObject
    | GeneratorContext
    | SliceValue
    | SuperValue
    | Union
)

TORN = "<torn>"
"""The name of a variable that a ``try`` block has bound, in what runs after an exception: when is not known."""
NONE = ir.Const(None)
ENDLESS = ir.Const(sys.maxsize)
"""How many items that has which never ends."""
USED = IteratorValue("used", ())
"""Where an iterator was that somebody has gone through, or goes through: equal to others of the kind."""
ELLIPSIS = ir.Const(Ellipsis)


def is_torn(value: Value | None) -> bool:
    return type(value) is ir.Var and value.hint == TORN


def is_atom(value: Value) -> bool:
    return isinstance(value, (ir.Var, ir.Const, ir.Undefined))


__all__ = [
    "ELLIPSIS",
    "FORGOTTEN",
    "FORGOTTEN_CONSTANT",
    "NONE",
    "USED",
    "Cell",
    "Closure",
    "GeneratorContext",
    "GeneratorObject",
    "GeneratorValue",
    "IteratorValue",
    "Method",
    "Operator",
    "Partial",
    "Pullback",
    "RangeValue",
    "Record",
    "Ref",
    "Site",
    "SliceValue",
    "SuperValue",
    "TupleValue",
    "Union",
    "Value",
    "is_atom",
    "is_torn",
    "list_record",
]
