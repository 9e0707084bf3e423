"""What is handed to functions whose bodies are not visible: whether it may vary, and what must exist for that."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from adjoint import ir
from adjoint.analysis.memory.reachable import may_write_anything
from adjoint.frontend.calls.emitted_calls import refuse_linked
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import (
    LOCAL,
    STANDS_FOR,
    Closure,
    GeneratorObject,
    GeneratorValue,
    IteratorValue,
    Method,
    Operator,
    Partial,
    Record,
    Ref,
    TupleValue,
    Union,
    Value,
    local_mark,
)
from adjoint.frontend.library.in_python.collections_definitions import UsersList, UsersTable
from adjoint.frontend.objects.classes import class_of, is_object
from adjoint.ir.walk import operands
from adjoint.rules.kinds import Rule
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.structure import CONTAINERS

SIGNATURE = "__adjoint_signature__"
"""The attribute by which objects that carry their derivatives say what they take and give: they are never written."""


def may_carry(lo: Lowerer, value: Value, around: tuple[Ref, ...] = ()) -> bool:
    """Whether a derivative may flow through ``value``, which lies in the objects ``around``."""

    def any_of(values: Iterable[Value]) -> bool:
        return any(may_carry(lo, each, around) for each in values)

    match value:
        case ir.Var(type=type_):
            return ir.carries_derivative(type_)
        case ir.Const(value=constant):
            return isinstance(constant, types.FunctionType)
        case Ref():
            if value in around:  # an attribute is a method of the object that has it
                return False
            record = lo.store[value]
            return isinstance(record, Record) and any(may_carry(lo, item, (*around, value)) for item in record.items)
        case TupleValue(items=items):
            return any_of(items)
        case Method():
            return any_of((value.receiver, value.function))
        case Union(options=options):
            return any_of(options)
        case IteratorValue(parts=parts):
            return any_of(parts)
        case Closure() | Partial() | GeneratorValue() | GeneratorObject() | Operator():
            return True
        case _:
            return False


def any_carries(lo: Lowerer, args: Iterable[Value], kwargs: Mapping[str, Value]) -> bool:
    """Whether a derivative may flow through an argument of a call."""
    return any(may_carry(lo, value) for value in (*args, *kwargs.values()))


def refuse_objects(lo: Lowerer, rule: Rule, values: Iterable[Value], node: ast.AST | None) -> None:
    """Rules tell derivatives for numbers and arrays; what NumPy makes of an object, its class knows."""
    for value in values:
        cls = class_of(lo, value) if is_object(lo, value) and may_carry(lo, value) else None
        if cls is not None:
            label = f"{rule.name!r} is handed an object of class {cls.__name__!r}"
            raise lo.problem("AD0204", node, label, helps=("hand over its fields",))


def keep_identity(lo: Lowerer, value: Value) -> None:
    """A list or dict that is handed to who knows whom must be the one that others see, not a copy."""
    if isinstance(value, Ref) and value.origin is None:
        record = lo.store[value]
        if isinstance(record, Record) and record.cls in CONTAINERS and record.parts:
            raise NeedsRuntime(tuple(original_sites((value.site,))))


def keep_track(lo: Lowerer, value: Value) -> None:
    """Of an object from outside only the parts are known to vary: what it is handed to takes it as a whole."""
    if isinstance(value, Ref) and value.origin is not None and may_carry(lo, value):
        record = lo.store[value]
        if isinstance(record, Record) and record.cls not in CONTAINERS and not is_marked(record.cls, SIGNATURE):
            raise NeedsRuntime(tuple(original_sites((value.site,))))


def lend(callee: Any, args: Sequence[ir.Atom], kwargs: Mapping[str, ir.Atom]) -> None:
    """Takes down that a function of which nobody knows what it does may write all memory that it can reach.

    Without anything among the arguments that may vary, it writes constants.
    """
    call = ir.Call((), callee, tuple(args), tuple(kwargs.items()))
    types_ = [atom.type for atom in operands(call) if isinstance(atom, ir.Var)]
    if may_write_anything(call) and any(map(ir.carries_derivative, types_)):
        for storage in chain.from_iterable(map(ir.storages, types_)):
            storage.mark_written()


_OF_CONTAINERS = {UsersTable: "dict", UsersList: "list"}
_RESULTS = ("OptimizeResult", "RootResults", "OdeResult")
_STAND_INS = {
    "Deque": "deque",
    "AttributeTable": "dict of attributes",
    "Counter": "Counter",
    "DefaultDict": "defaultdict",
    "OrderedDict": "OrderedDict",
    "ObjectSet": "set of objects",
    "RecordArray": "structured array",
    "RecordRow": "record of an array",
    **dict.fromkeys(_RESULTS[:2], "result of a solver"),
    _RESULTS[2]: "trajectory",
    (_GENERATOR := "<generator>"): "generator",
}


def refuse_made_here(lo: Lowerer, value: Value, node: ast.AST | None) -> None:
    """Raises where a value that is handed out has to do with a class that is defined inside the function."""
    if lo.run_data.pools:
        refuse_linked(lo, _variables_in(lo, value), node)
    mark = _mark_in(lo, value)
    if mark is not None and "> " in mark:
        kind, _, name = mark.removeprefix("<").partition("> ")
        label = f"an object of the class {name!r}, which is a {kind}, is handed out"
        raise lo.problem("AD0301", node, label, helps=(f"hand over a {kind} of what it holds: {kind}(items)",))
    if mark in _STAND_INS:
        raise _seen_outside(lo, mark, node)
    if mark is not None:
        label = f"an object or a method of the class {mark!r}, defined inside the function, is handed out"
        raise lo.problem("AD0301", node, label, helps=("hand over its fields", "define the class in the module"))


def refuse_stand_ins(lo: Lowerer, value: Value, node: ast.AST | None) -> None:
    """Raises where what stands for a container of a library is put where others see it, who would take it for that.

    Results of solvers have the attributes that they are asked for.
    """
    mark = (_mark_in(lo, value) or "").rpartition("> ")[2]
    if mark in _STAND_INS and mark not in _RESULTS:
        raise _seen_outside(lo, mark, node)


def _seen_outside(lo: Lowerer, mark: str, node: ast.AST | None) -> Problem:
    label = f"a {_STAND_INS[mark]!r} that is made inside the function is handed out"
    return lo.problem("AD0301", node, label, helps=("hand over a list or a dict of what it holds",))


def compares_by_identity(lo: Lowerer, value: Value) -> bool:
    """Whether a value is an object that equals only itself, or a list of such objects."""
    record = lo.store.get(value) if isinstance(value, Ref) else None
    if isinstance(record, Record) and record.cls is list:
        return all(compares_by_identity(lo, item) for item in record.items)
    is_list = isinstance(value, ir.Var) and isinstance(value.type, ir.List)
    element = value.type.element if is_list else None  # type: ignore[union-attr]
    cls = element.cls if isinstance(element, ir.Instance) else class_of(lo, value)
    return cls is not None and inspect.getattr_static(cls, "__eq__") is object.__dict__["__eq__"]


def _variables_in(lo: Lowerer, value: Value) -> Iterator[ir.Var]:
    match value:
        case ir.Var():
            yield value
        case Ref():
            yield from _variables_in(lo, lo.store.get(value, ir.UNDEFINED))
        case Record(items=parts) | TupleValue(items=parts) | Union(options=parts):
            for part in parts:
                yield from _variables_in(lo, part)


def _mark_in(lo: Lowerer, value: Value) -> str | None:
    match value:
        case ir.Const(value=constant):
            return _name_of(constant)
        case ir.Var(type=type_):
            return _mark_in_type(type_)
        case Ref():
            record = lo.store.get(value)
            return _mark_in(lo, record) if isinstance(record, Record) else None
        case Record(cls=cls, items=items) | TupleValue(cls=cls, items=items):
            return _name_of(cls) or next(filter(None, (_mark_in(lo, item) for item in items)), None)
        case Union(options=options):
            return next(filter(None, (_mark_in(lo, option) for option in options)), None)
        case _:
            return None


def _mark_in_type(type_: ir.Type | None) -> str | None:
    match type_:
        case ir.Instance(cls=cls, fields=fields):
            return _name_of(cls) or next(filter(None, map(_mark_in_type, fields.values())), None)
        case ir.List(element=part) | ir.Dict(value=part):
            return _mark_in_type(part)
        case ir.Tuple(items=items):
            return next(filter(None, map(_mark_in_type, items)), None)
        case _:
            return None


def _name_of(constant: Any) -> str | None:
    if isinstance(constant, type):
        if constant.__dict__.get(STANDS_FOR) is types.GeneratorType:
            return _GENERATOR
        for base, kind in _OF_CONTAINERS.items():
            if issubclass(constant, base):
                return f"<{kind}> {constant.__name__}"
        return constant.__name__ if local_mark(constant) is not None or STANDS_FOR in constant.__dict__ else None
    return getattr(constant, LOCAL, None) if isinstance(constant, types.FunctionType) else None
