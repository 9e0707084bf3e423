"""The part of an argument that a derivative is taken for: where it lies, and copies in which it is varied."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.frontend.entry.inputs import cell_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.tracking import set_unseen
from adjoint.frontend.interpreter.values import Cell, Closure, Method, Partial, Record, Ref, TupleValue, Union, Value
from adjoint.records import dataclass, field
from adjoint.types.marks import no_derivative_fields
from adjoint.types.structure import CONTAINERS

if TYPE_CHECKING:
    from adjoint.keypaths.steps import Step

Keys = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A way into an argument."""

    known: Keys
    """The names and keys that lead through structure that is known when the derivative is compiled."""
    rest: tuple[Step, ...]
    """The steps that are left where the structure is only known at run time: taken in the gradient."""


WHOLE = Way((), ())


def parts_of(lo: Lowerer, value: Value) -> dict[Any, Value] | None:
    """The parts of a value by field name or key."""
    match value:
        case TupleValue(items=items, cls=cls):
            named = zip(getattr(cls, "_fields", ()), items, strict=False)
            return dict(enumerate(items)) | {f".{name}": item for name, item in named}
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            prefix = record.cls not in CONTAINERS
            return {f".{key}" if prefix else key: part for key, part in record.parts}
        case _:
            return None


def written(keys: Keys) -> str:
    """Known keys as one would write them after a name."""
    return "".join(key if isinstance(key, str) and key.startswith(".") else f"[{key!r}]" for key in keys)


def part_at(lo: Lowerer, value: Value, keys: Keys) -> Value:
    """The part of a value that known keys lead to."""
    for key in keys:
        parts = parts_of(lo, value)
        assert parts is not None
        value = parts[key]
    return value


@dataclass(eq=False, slots=True)
class Active:
    """Fresh parameters for the differentiable leaves of some arguments, and the atoms they stand for."""

    params: list[ir.Var]
    atoms: list[ir.Atom]
    copies: dict[Ref, Ref] = field(default_factory=dict)
    originals: dict[Ref, Ref] = field(default_factory=dict)
    """Of what each copy is one."""

    def copy_of(self, ref: Ref) -> Ref:
        copy = self.copies[ref] = Ref(ref.site, ref.origin)
        self.originals[copy] = ref
        return copy


def activate(lo: Lowerer, value: Value, active: Active, hint: str) -> Value:
    """A copy of ``value`` whose differentiable leaves are fresh parameters."""
    match value:
        case ir.Var(type=type_) if ir.carries_derivative(type_):
            return _parameter(value, ir.Var(value.hint, type_, True), active)
        case ir.Const(value=constant) if isinstance(constant, float):
            return _parameter(value, ir.Var(hint, ir.FLOAT, True), active)
        case TupleValue(items=items, cls=cls):
            names = getattr(cls, "_fields", None)
            return TupleValue(
                tuple(activate(lo, item, active, names[i] if names else f"{hint}_{i}") for i, item in enumerate(items)),
                cls,
            )
        case Ref():
            if value in active.copies:
                return active.copies[value]
            record = lo.store[value]
            assert isinstance(record, Record)
            copy = active.copy_of(value)
            excluded = no_derivative_fields(record.cls)
            parts = [
                (key, part if key in excluded else activate(lo, part, active, key if isinstance(key, str) else hint))
                for key, part in record.parts
            ]
            lo.store[copy] = Record(record.cls, tuple(parts))
            return copy
        case Union():
            return Union(value.tag, tuple(activate(lo, option, active, hint) for option in value.options))
        case _:
            return value


def bind_to_copies(lo: Lowerer, active: Active, value: Value) -> Value:
    """The copy of an argument, where methods of the copied objects that it holds belong to the copies.

    So it is with functions that capture them: what an argument reaches in itself is the argument.
    """
    for copy in list(active.copies.values()):
        record = lo.store[copy]
        assert isinstance(record, Record)
        parts = tuple((key, _bound_to_copies(lo, part, active.copies)) for key, part in record.parts)
        lo.store[copy] = Record(record.cls, parts)
    return _bound_to_copies(lo, value, active.copies)


def _bound_to_copies(lo: Lowerer, value: Value, copies: Mapping[Ref, Ref], active: tuple[Cell, ...] = ()) -> Value:
    def of(part: Value) -> Value:
        return _bound_to_copies(lo, part, copies, active)

    match value:
        case Ref():
            return copies.get(value, value)
        case Method(function=function, receiver=receiver):
            return Method(of(function), of(receiver))
        case Partial(function=function, args=args, kwargs=kwargs):
            return Partial(of(function), tuple(map(of, args)), tuple((name, of(part)) for name, part in kwargs))
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(map(of, items)), cls)
        case Union(tag=tag, options=options):
            return Union(tag, tuple(map(of, options)))
        case ir.Const(value=types.FunctionType(__closure__=tuple() as cells) as function):
            names = function.__code__.co_freevars
            _bind_cells(lo, [cell_of(lo, cell, name) for cell, name in zip(cells, names, strict=True)], copies, active)
        case Closure(cells=captured):
            _bind_cells(lo, captured.values(), copies, active)
    return value


def _bind_cells(lo: Lowerer, cells: Iterable[Cell], copies: Mapping[Ref, Ref], active: tuple[Cell, ...]) -> None:
    for cell in cells:
        held = lo.store.get(cell)
        if isinstance(held, Ref) or held is None or held is ir.UNDEFINED:
            bound: Value | None = copies.get(held) if isinstance(held, Ref) else None
        elif cell in active:
            continue
        else:
            bound = _bound_to_copies(lo, held, copies, (*active, cell))
        if bound is not None:
            set_unseen(lo.store, cell, bound)


def _parameter(atom: ir.Atom, param: ir.Var, active: Active) -> ir.Var:
    active.params.append(param)
    active.atoms.append(atom)
    return param


def activate_part(lo: Lowerer, value: Value, keys: Keys, active: Active, hint: str) -> Value:
    """A copy of an argument of which one part is varied: wherever what holds the part is referred to."""
    holders = [value]
    for key in keys:
        holders.append(part_at(lo, holders[-1], (key,)))
    place = max((i for i, holder in enumerate(holders[:-1]) if isinstance(holder, Ref)), default=None)
    if place is None:
        return _in_tuples(lo, value, keys, active, hint)
    holder = holders[place]
    assert isinstance(holder, Ref)
    return _Copy(lo, active, hint, holder, keys[place], keys[place + 1 :]).of(value)


def _in_tuples(lo: Lowerer, value: Value, keys: Keys, active: Active, hint: str) -> Value:
    if not keys:
        return activate(lo, value, active, hint)
    assert isinstance(value, TupleValue)
    items = list(value.items)
    names = getattr(value.cls, "_fields", None)
    below = names[keys[0]] if names else f"{hint}_{keys[0]}"
    items[keys[0]] = _in_tuples(lo, items[keys[0]], keys[1:], active, below)
    return TupleValue(tuple(items), value.cls)


@dataclass(eq=False, slots=True)
class _Copy:
    """Copies what an argument consists of, with one slot varied."""

    lo: Lowerer
    active: Active
    hint: str
    holder: Ref
    key: Any
    tail: Keys

    def of(self, value: Value) -> Value:
        match value:
            case TupleValue(items=items, cls=cls):
                return TupleValue(tuple(map(self.of, items)), cls)
            case Ref() if value in self.active.copies:
                return self.active.copies[value]
            case Ref():
                record = self.lo.store[value]
                assert isinstance(record, Record)
                copy = self.active.copy_of(value)
                prefix = record.cls not in CONTAINERS
                parts = [(key, self.slot(value, f".{key}" if prefix else key, part)) for key, part in record.parts]
                self.lo.store[copy] = Record(record.cls, tuple(parts))
                return copy
            case _:
                return value

    def slot(self, holder: Ref, key: Any, part: Value) -> Value:
        if holder is not self.holder or key != self.key or type(key) is not type(self.key):
            return self.of(part)
        hint = key.removeprefix(".") if isinstance(key, str) and key.removeprefix(".").isidentifier() else self.hint
        return _in_tuples(self.lo, part, self.tail, self.active, hint)
