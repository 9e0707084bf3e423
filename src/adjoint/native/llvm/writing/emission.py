"""What is known while a function is written as LLVM IR: its values, who owns memory, and what a sweep learns.

References to memory are counted: each array is bound by the block that made it, and given up after its last use there;
views share the reference of what they are views of, and what is handed out is retained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from adjoint import ir
from adjoint.diagnostics import DifferentiationError, InexactInteger
from adjoint.ir.walk import targets_of
from adjoint.native.llvm.memory.blocks import OPERANDS
from adjoint.native.llvm.values import (
    OBJECT,
    Array,
    ArrayKind,
    Complex,
    Kind,
    Known,
    List,
    ListKind,
    Number,
    Object,
    ObjectKind,
    Owner,
    Shown,
    Steps,
    Struct,
    StructKind,
    TakenAsObject,
    Tuple,
    TupleKind,
    Unsupported,
    Value,
    is_complex,
    kind,
    kind_of,
    part_of,
    parts,
    references,
    types_of_parts,
)
from adjoint.native.llvm.writer import Writer, as_complex, as_kind, constant, is_literal, literal
from adjoint.records import dataclass, field, replace
from adjoint.runtime.arithmetic.checks import EXACT

if TYPE_CHECKING:
    from adjoint.native.llvm.writing.program import Program

UNLIKELY = ", !prof !0"
_MOST_LESSONS = 8
"""How often a statement is written in a sweep that learns by it."""
_T = TypeVar("_T")


class Learnt(Exception):
    """A sweep found out what it should have known before."""


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A statement that runs as Python: whether it asks for the classes of numbers, and which results are arrays."""

    statement: ir.Statement
    asks: bool
    arrays: frozenset[ir.Var]


@dataclass(eq=False, slots=True)
class Scope:
    """A block that is being written: the references that it gives up, and the variables that rest on each.

    Attributes
    ----------
    owned
        The variables that rest on each reference.
    last
        The place of the last statement that reads a variable.
    changed
        References of which others rest on since the last statement.
    due
        The references that should be given up behind a place.
    """

    owned: dict[Owner, frozenset[ir.Var]] = field(default_factory=dict)
    last: dict[ir.Var, int] = field(default_factory=dict)
    changed: list[Owner] = field(default_factory=list)
    due: dict[int, list[Owner]] = field(default_factory=dict)

    def ended(self, place: int) -> list[Owner]:
        """The references that no statement behind a place needs."""
        waiting = [*self.due.pop(place, ()), *self.changed]
        self.changed = []
        ended: list[Owner] = []
        for owner in dict.fromkeys(waiting):
            if owner in self.owned:
                end = max([self.last.get(var, -1) for var in self.owned[owner]], default=-1)
                if end <= place:
                    ended.append(owner)
                else:
                    self.due.setdefault(end, []).append(owner)
        return ended


@dataclass(eq=False, slots=True)
class Guard:
    """Handlers of exceptions, in order: the classes that each is for, and the block where it begins."""

    handlers: list[tuple[tuple[type[BaseException], ...], str]]
    entered: set[str] = field(default_factory=set)

    def handler_of(self, exception: type[BaseException]) -> str | None:
        """The block where the handler of an exception begins, which is entered."""
        for classes, label in self.handlers:
            if issubclass(exception, classes):
                self.entered.add(label)
                return label
        return None


class Emission:
    """Writes one function: what rules for calls, loads and stores need.

    Attributes
    ----------
    writer
        The text.
    """

    def __init__(self, program: Program, learnt: dict[Any, Kind]) -> None:
        self.program = program
        self.writer = Writer(program.module)
        self.learnt = learnt
        self.told: set[Any] = set()
        """What this sweep has learnt: what it writes from then on is not kept."""
        self.env: dict[ir.Var, Value] = {}
        self.scopes: list[Scope] = []
        self.guards: list[Guard] = []
        self.allocas: list[str] = []
        self.left: list[LeftAlone] = []
        """The statements that run as Python and may do so together."""
        self._results: tuple[Kind, ...] | None = None
        self._made: tuple[ir.Statement | None, int] = None, 0
        self._lessons = 0
        self._undo: list[tuple[Scope, Owner, frozenset[ir.Var] | None]] = []

    # Functions

    def results(self) -> tuple[Kind, ...]:
        return self._results or ()

    def slots(self, count: int) -> str:
        """Room for words on the stack."""
        name = self.writer.name()
        self.allocas.append(f"  {name} = alloca [{max(count, 1)} x i64], align 16")
        return name

    def list_key(self) -> Any:
        """What tells the lists apart that statements make."""
        statement, count = self._made
        self._made = statement, count + 1
        return id(statement), count

    def types_of_fields(self) -> Mapping[str, ir.Type]:
        """The types of the fields of the object that a statement makes, as far as the IR tells them."""
        statement, _ = self._made
        for target in targets_of(statement) if isinstance(statement, ir.Call) else ():
            if isinstance(target.type, ir.Instance):
                return target.type.fields
        return {}

    # Values

    def value(self, atom: ir.Atom) -> Value:
        match atom:
            case ir.Var():
                found = self.env[atom]
                return self._as_learnt(found) if self.told else found
            case ir.Const(value=value):
                return known_value(value)
        return Known(atom)

    def extent(self, value: Value) -> str:
        """A whole number of 64 bits."""
        if not isinstance(value, Number) or value.kind[0] == "f":
            raise Unsupported("not a whole number")
        return as_kind(self.writer, value, "i8").name

    def bind(self, var: ir.Var, value: Value) -> None:
        """Binds a variable; the references of its value that this block has to give up depend on it now."""
        self.env[var] = value
        owned = self.scopes[-1].owned
        for _, owner in references(value):
            if owner is not None and owner in owned:
                self._hold(owner, owned[owner] | {var})

    def owning(self, base: str) -> Owner:
        """A reference that the block that is written gives up in the end."""
        owner = Owner(base)
        self._hold(owner, frozenset())
        return owner

    def _hold(self, owner: Owner, dependents: frozenset[ir.Var]) -> None:
        scope = self.scopes[-1]
        self._undo.append((scope, owner, scope.owned.get(owner)))
        scope.owned[owner] = dependents
        scope.changed.append(owner)

    def disown(self, owner: Owner) -> None:
        """Somebody else gives up a reference."""
        scope = self.scopes[-1]
        self._undo.append((scope, owner, scope.owned.pop(owner)))

    def assembled(self, found: Kind, names: list[str], own: Callable[[str], Owner] | None) -> Value:
        """A value of a kind out of its parts, which are taken from a list."""
        match found:
            case str():
                first = names.pop(0)
                return Complex(found, first, names.pop(0)) if is_complex(found) else Number(found, first)
            case ArrayKind(rank=rank, by_rows=by_rows):
                base, data = names.pop(0), names.pop(0)
                shape = tuple(names.pop(0) for _ in range(rank))
                strides = (
                    tuple(names.pop(0) for _ in range(rank))
                    if not by_rows
                    else self.writer.strides_by_rows(found.element, shape)
                )
                return Array(found, base, data, shape, strides, None if own is None else own(base))
            case ListKind():
                base = names.pop(0)
                return List(found, base, None if own is None else own(base))
            case StructKind():
                base = names.pop(0)
                return Struct(found, base, None if own is None else own(base))
            case ObjectKind():
                base = names.pop(0)
                return Object(base, None if own is None else own(base))
            case TupleKind(items=items, numbers=numbers):
                return Tuple(tuple(self.assembled(item, names, own) for item in items), numbers)
        return Known(None)

    def joined_parts(self, found: Kind, incoming: Sequence[tuple[str, Value]]) -> list[str]:
        """The parts of a value of a kind that blocks hand out."""
        types = types_of_parts(found)
        columns = [
            [NONE_YET[part] for part in types] if is_undefined(value) else [name for _, name in parts(value)]
            for _, value in incoming
        ]
        names = []
        for part, column in zip(types, zip(*columns, strict=True), strict=True):
            labelled = [(name, label) for name, (label, _) in zip(column, incoming, strict=True)]
            names.append(column[0] if len(column) == 1 else self.writer.phi(part, labelled))
        return names

    def converted(self, value: Value, wanted: Kind, type_: ir.Type | None = None) -> Value:
        """A value as one of a kind, of which its own is a part; an object of Python is of the type, if that is told."""
        if isinstance(value, Known) and isinstance(value.value, ir.Undefined):
            return self.assembled(wanted, [NONE_YET[part] for part in types_of_parts(wanted)], None)
        if isinstance(wanted, ObjectKind):
            found: Value = self.program.written("object")(self, value, type_)
            return found
        if kind(value) == wanted:
            return value
        match value, wanted:
            case Known(value=None), StructKind(optional=True):
                return Struct(wanted, NONE_YET["ptr"], None)
            case Struct(), StructKind() if value.kind.cls is wanted.cls and wanted.optional:
                return Struct(wanted, value.base, value.owner)
            case ((Number() | Complex()), str()) if is_complex(wanted):
                return as_complex(self.writer, value, wanted)
            case Number(), str():
                return as_kind(self.writer, value, wanted)
            case Array(), ArrayKind() if not wanted.by_rows and wanted.element == value.kind.element:
                return Array(wanted, value.base, value.data, value.shape, value.strides, value.owner)
            case List(), ListKind():
                return self._of_items(value, wanted)
            case Tuple(items=items, numbers=numbers), TupleKind(items=kinds) if (
                len(items) == len(kinds) and numbers == wanted.numbers
            ):
                converted = tuple(self.converted(item, one) for item, one in zip(items, kinds, strict=True))
                return Tuple(converted, numbers)
        raise Unsupported("a value of several kinds")

    def _of_items(self, x: List, wanted: ListKind) -> List:
        """A list as one of items of a kind; the statement that makes it is told of another one than it has."""
        given, element = x.kind, wanted.element
        is_told = given.element == element or (given.element is None and ("list", given.key) in self.learnt)
        if given.read_only:
            if given.element not in (None, element):
                raise TakenAsObject(given.key)
        elif not is_told:
            self.learn(("list", given.key), OBJECT if element == OBJECT else ListKind(element, key=given.key))
        return List(wanted, x.base, x.owner)

    def release(self, base: str) -> None:
        self.writer.line(f"call void @release(ptr {base})")

    def retain(self, base: str) -> None:
        self.writer.line(f"call void @retain(ptr {base})")

    def retain_all(self, value: Value) -> None:
        """Retains all that a value refers to."""
        for base, _ in references(value):
            self.retain(base)

    # Calls

    def called(self, function: ir.Function, key: Any, args: Sequence[Value], targets: Sequence[ir.Var]) -> Value:
        """The results of a function that is called."""
        writer = self.writer
        if self.told and not self.program.knows(key, args):
            raise Learnt  # for arguments of other kinds, it may be
        callee = self.program.function(function, key, args, targets)
        assert callee.results is not None
        types = types_of_parts(TupleKind(callee.results))
        out = self.slots(len(types))
        given = [f"{part} {name}" for arg in args if not isinstance(arg, Known) for part, name in parts(arg)]
        status = writer.op(f"call i32 @{callee.name}({', '.join(['ptr %call', f'ptr {out}', *given])})")
        failed = writer.op(f"icmp ne i32 {status}, 0")
        bad, good = writer.new_label("bad"), writer.new_label("good")
        writer.branch(failed, bad, good, UNLIKELY)
        writer.start(bad)
        writer.line(f"ret i32 {status}")
        writer.start(good)
        names = writer.parts_at(out, types)
        found = [self.assembled(each, names, self.owning) for each in callee.results]
        return found[0] if len(found) == 1 else Tuple(tuple(found))

    # Attempts

    def mark(self) -> tuple[Any, ...]:
        """Where writing stands."""
        return len(self.writer.lines), self.writer.label, len(self.allocas), len(self.scopes), len(self._undo)

    def back_to(self, mark: tuple[Any, ...]) -> None:
        """Takes back what was written since."""
        lines, self.writer.label, allocas, scopes, undo = mark
        del self.writer.lines[lines:], self.allocas[allocas:], self.scopes[scopes:]
        while len(self._undo) > undo:
            scope, owner, before = self._undo.pop()
            if before is None:
                scope.owned.pop(owner, None)
            else:
                scope.owned[owner] = before
                scope.changed.append(owner)

    # What a sweep learns

    def learn(self, key: Any, found: Kind) -> None:
        """Has the next sweep know this."""
        if self.learnt.get(key) != found:
            self.learnt[key] = found
            self.told.add(key)
            self._lessons += 1
        elif key not in self.told:
            raise Unsupported("a value of several kinds")
        raise Learnt

    def with_lessons(self, write: Callable[[], _T]) -> _T:
        """What is written; where the sweep learns by it, once more, as the next sweep will.

        So one sweep learns as much as it can.
        """
        for _ in range(_MOST_LESSONS):
            mark, before = self.mark(), self._lessons
            try:
                return write()
            except Learnt:
                if self._lessons == before:
                    raise
                self.back_to(mark)
        raise Learnt

    def _as_learnt(self, value: Value) -> Value:
        """A value as the next sweep has it, as far as this one has learnt of lists."""
        match value:
            case List(kind=ListKind(key=key)) if ("list", key) in self.told:
                found = self.learnt["list", key]
                owner = value.owner
                return List(found, value.base, owner) if isinstance(found, ListKind) else Object(value.base, owner)
            case Tuple(items=items):
                return replace(value, items=tuple(map(self._as_learnt, items)))
        return value

    # Checks

    def check(self, failed: str, exception: type[BaseException], message: Any, operands: Sequence[Value] = ()) -> None:
        """Leaves the function where a condition holds."""
        bad, good = self.writer.new_label("bad"), self.writer.new_label("good")
        self.writer.branch(failed, bad, good, UNLIKELY)
        self.writer.start(bad)
        self.leave(exception, message, operands)
        self.writer.start(good)

    def check_exact(self, value: Number) -> None:
        """Refuses an integer that goes on as a float, where floats do not tell it from others."""
        if value.kind not in ("i8", "u8"):
            return
        if is_literal(value.name):
            if abs(int(value.name)) > EXACT:
                raise Unsupported("an integer that no float stands for")
            return
        shifted = self.writer.op(f"add i64 {value.name}, {EXACT}")
        self.check(self.writer.compare("ugt", shifted, str(2 * EXACT)), InexactInteger, ())

    def leave(self, exception: type[BaseException], message: Any, operands: Sequence[Value] = ()) -> None:
        """Goes to the handler of an exception; leaves the function where there is none, with what the message tells."""
        handling = () if issubclass(exception, DifferentiationError) else reversed(self.guards)
        for guard in handling:
            label = guard.handler_of(exception)
            if label is not None:
                self.writer.jump(label)
                return
        told = [part for value in operands for part in parts(value)]
        if len(told) > OPERANDS:
            raise Unsupported("an exception that tells of so much")
        self.writer.put_parts("%call", told)
        self.writer.line(f"ret i32 {self.program.site(exception, message)}")

    def inside(self, body: Callable[[], None]) -> None:
        """Writes what makes references that nobody needs afterwards."""
        scope = Scope()
        self.scopes.append(scope)
        body()
        self.scopes.pop()
        for owner in scope.owned:
            self.release(owner.base)

    def each(self, count: str, body: Callable[[str], None]) -> None:
        """A loop over so many places; what its body makes is given up there."""
        self.writer.each(count, lambda place: self.inside(lambda: body(place)))


class _NoneYet(dict[str, str]):
    """What stands for a value of a type as long as there is none."""

    def __missing__(self, part: str) -> str:
        return "zeroinitializer"


NONE_YET = _NoneYet({"ptr": "getelementptr (i8, ptr @nothing, i64 64)"})


def known_value(value: Any) -> Value:
    """A constant: a number, a tuple of constants, or what only the compiler sees."""
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        return constant(value)
    if isinstance(value, (complex, np.complexfloating)):
        own = kind_of(value.dtype) if isinstance(value, np.generic) else "c8"
        return Complex(own, *[literal(part_of(own), float(each)) for each in (value.real, value.imag)])
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return constant(value.item(), kind_of(value.dtype))
    if type(value) is tuple:
        return Tuple(tuple(map(known_value, value)))
    return Known(value)


def is_undefined(value: Value) -> bool:
    return isinstance(value, Known) and isinstance(value.value, ir.Undefined)


def is_of_python(value: Value) -> bool:
    """Whether a value is none that machine code has, but may be an object of Python: a text, a range, a type."""
    return isinstance(value, (Shown, Steps)) or (isinstance(value, Known) and value.value is not None)


def kind_of_object(value: Value) -> Kind:
    """The kind of a value that Python may be handed: an object of Python where machine code has none."""
    return OBJECT if is_of_python(value) else kind(value)


def is_same_known(first: Known, other: Value) -> bool:
    """Whether another value is known to be the same."""
    if not isinstance(other, Known):
        return False
    one, two = first.value, other.value
    return one is two or (type(one) is type(two) and isinstance(one, (str, np.dtype, type)) and one == two)
