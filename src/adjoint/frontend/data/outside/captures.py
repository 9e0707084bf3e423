"""What a function finds outside of itself: the values of the variables that it captures, and all that lies in them.

A function that is called rather than inlined is lowered once for all calls that find the same structure there. The
variables in it may be others in each call: they are told apart by their places.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Hashable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

from adjoint import ir
from adjoint.frontend.data.outside.circular import known_as_themselves
from adjoint.frontend.data.outside.lookups import LookedUp
from adjoint.frontend.functions.closures import default_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import (
    Cell,
    Closure,
    GeneratorObject,
    IteratorValue,
    Method,
    Operator,
    Partial,
    RangeValue,
    Record,
    Ref,
    SliceValue,
    SuperValue,
    TupleValue,
    Union,
    is_torn,
)
from adjoint.records import dataclass
from adjoint.sources.scope import scope_of


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The structure of what is outside of a function, and the variables in it, each once, in order."""

    form: Hashable
    vars: tuple[ir.Var, ...]
    objects: dict[Closure | Ref, int]
    """The functions and objects in it, each once, in order."""
    cells: frozenset[Cell]
    """The variables that functions in it capture."""

    def moved(self, now: Surroundings) -> dict[ir.Var, ir.Var]:
        """What stands, in surroundings of the same structure, for each variable that is another one there."""
        return {old: new for old, new in zip(self.vars, now.vars, strict=True) if old is not new}


def surroundings(
    lo: Lowerer, closure: Closure, args: Iterable[Any], looked_up: Iterable[LookedUp] = ()
) -> Surroundings:
    """What a function finds where it is called, and what the functions find that it is handed over.

    Besides, objects that it takes for what they are, and what it was seen to look up.
    """
    walk = _Walk(lo)
    walk.value(closure)
    for cell in lo.assigned_outside():
        walk.value(lo.store.get(cell))
    args = tuple(args)
    for arg in args:
        for function in functions_in(lo, arg, Closure):
            walk.value(function)
    for ref in known_as_themselves(lo, args):
        walk.value(ref)
    cells = frozenset(walk.cells)
    for each in looked_up:
        if isinstance(each, Cell):
            walk.cell(each)
        else:
            walk.value(each)
    return Surroundings(tuple(walk.form), tuple(walk.vars), walk.seen, cells)


def functions_in(
    lo: Lowerer, value: Any, kinds: type | tuple[type, ...], seen: set[object] | None = None
) -> Iterable[Any]:
    """The function values of some kinds in a value; not those in them."""
    seen = set() if seen is None else seen
    if isinstance(value, kinds):
        yield value
        return
    if isinstance(value, Ref):
        if value in seen:
            return
        seen.add(value)
    for part in _parts(lo, value)[1]:
        yield from functions_in(lo, part, kinds, seen)


def objects_in(lo: Lowerer, *values: Any) -> Collection[Ref]:
    """The objects in values, and those in them; not what functions in them find outside."""
    found: dict[Ref, None] = {}
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, Closure) or (isinstance(value, Ref) and value in found):
            continue
        if isinstance(value, Ref):
            found[value] = None
        pending.extend(_parts(lo, value)[1])
    return found


_ALIKE = (ir.Scalar, ir.Array, ir.Number, ir.List, ir.Dict, ir.Tuple, ir.Instance)
"""Types that say of a value what can be known before the function runs."""


class _Walk:
    def __init__(self, lo: Lowerer) -> None:
        self.lo = lo
        self.form: list[Hashable] = []
        self.vars: dict[ir.Var, int] = {}
        self.seen: dict[Closure | Ref, int] = {}
        self.cells: dict[Cell, None] = {}

    def value(self, value: Any) -> None:
        if isinstance(value, ir.Var):
            self.form.append((self.vars.setdefault(value, len(self.vars)), value.type, *self._facts(value)))
            return
        if isinstance(value, (Closure, Ref)):
            if value in self.seen:
                self.form.append(self.seen[value])
                return
            self.seen[value] = len(self.seen)
        if isinstance(value, Closure):
            self._closure(value)
            return
        if isinstance(value, Ref):
            self._object(value)
            return
        if isinstance(value, GeneratorObject):
            self.cells.update(dict.fromkeys(value.frame.cells.values()))
        form, parts = _parts(self.lo, value)
        self.form.append((type(value), form, len(parts)))
        for part in parts:
            self.value(part)

    def cell(self, cell: Cell) -> None:
        """What a variable holds, and whether it is bound."""
        self.cells[cell] = None
        self.value(_held(self.lo, cell))
        flag = self.lo.run_data.is_bound.get(cell)
        if flag is not None:
            self.value(self.lo.store.get(flag))

    def _facts(self, var: ir.Var) -> tuple[Hashable, ...]:
        """What is known of a variable besides its type."""
        run = self.lo.run_data
        itself = () if isinstance(var.type, _ALIKE) else (var,)
        return (is_torn(var), run.sets.get(var), var in run.caught, var in run.alone, *itself)

    def _closure(self, closure: Closure) -> None:
        used = names_in(closure.source.node)
        cells = {name: cell for name, cell in closure.cells.items() if name in used}
        named, attributes = closure.kw_defaults, closure.attributes
        home = id(closure.globals), closure.owner
        self.form.append((closure.source.node, home, tuple(cells), tuple(named), tuple(attributes)))
        for cell in (*cells.values(), *attributes.values()):
            self.cell(cell)
        for value in (*closure.defaults, *named.values()):
            if isinstance(value, Cell):
                self.cell(value)
            else:
                self.value(value)

    def _object(self, ref: Ref) -> None:
        self.form.append((Ref, id(self.lo.run_data.told_apart.get(ref.site))))
        if isinstance(ref.origin, ir.Var):
            self.form.append(self.vars.setdefault(ref.origin, len(self.vars)))
        self.value(_held(self.lo, ref))


def _held(lo: Lowerer, key: Cell | Ref) -> Any:
    """What a variable or an object holds; if nobody looked it up so far, what it held when the call began."""
    return lo.store.get(key, lo.run_data.outside.get(key))


_names: WeakKeyDictionary[ast.AST, frozenset[str]] = WeakKeyDictionary()


def names_in(function: ast.AST) -> frozenset[str]:
    """The names that a function uses and does not bind, itself or in functions inside of it."""
    found = _names.get(function)
    if found is None:
        used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        own = scope_of(function).local if isinstance(function, (ast.FunctionDef, ast.Lambda)) else frozenset()
        found = _names[function] = frozenset(used - own)
    return found


def parts_of(lo: Lowerer, value: Any) -> tuple[Any, ...]:
    """The values in a value."""
    return _parts(lo, value)[1]


def _parts(lo: Lowerer, value: Any) -> tuple[Hashable, tuple[Any, ...]]:
    """What tells a value from others of its kind, and the values in it."""
    match value:
        case Closure(source=source, cells=cells, defaults=defaults, kw_defaults=named, attributes=attributes):
            captured = [lo.store.get(cell) for cell in (*cells.values(), *attributes.values())]
            return (source.node, tuple(cells), tuple(named), tuple(attributes)), (
                *captured,
                *(default_of(lo, value) for value in (*defaults, *named.values())),
            )
        case Ref():
            return None, (lo.store.get(value),)
        case Record(cls=cls, keys=keys, items=items):
            return (cls, tuple(map(repr, keys))), items
        case TupleValue(items=items, cls=cls):
            return cls, items
        case Method(function=function, receiver=receiver):
            return None, (function, receiver)
        case Partial(function=function, args=args, kwargs=kwargs):
            return tuple(name for name, _ in kwargs), (function, *args, *(item for _, item in kwargs))
        case Operator(kind=kind, function=function, options=options):
            return (kind, repr(options)), (function,)
        case RangeValue(start=start, stop=stop, step=step):
            return None, (start, stop, step)
        case SliceValue(lower=lower, upper=upper, step=step):
            return None, (lower, upper, step)
        case IteratorValue(kind=kind, parts=parts):
            return kind, parts
        case GeneratorObject(frame=frame, node=node):
            return (node, frame.source.node), tuple(lo.store.get(cell) for cell in frame.cells.values())
        case SuperValue(owner=owner, receiver=receiver):
            return owner, (receiver,)
        case Union(tag=tag, options=options):
            return None, (tag, *options)
        case _:
            return value, ()


def captured_by(lo: Lowerer, value: Any) -> tuple[ir.Var, ...]:
    """The variables that the functions in a value find outside of themselves, by the names that they use."""
    found: dict[ir.Var, None] = {}
    seen: set[object] = set()

    def look(part: Any) -> None:
        if isinstance(part, ir.Var):
            found[part] = None
            return
        if isinstance(part, (Closure, Ref)):
            if part in seen:
                return
            seen.add(part)
        if not isinstance(part, Closure):
            for inner in _parts(lo, part)[1]:
                look(inner)
            return
        used = names_in(part.source.node)
        for name, cell in part.cells.items():
            if name in used:
                look(lo.store.get(cell))
        for cell in part.attributes.values():
            look(lo.store.get(cell))

    for function in functions_in(lo, value, (Closure, Method, Partial, Operator)):
        look(function)
    return tuple(found)
