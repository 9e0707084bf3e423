"""Calls of functions whose derivative a user declared.

The declared function runs in place of the original: it gives the value and a pullback. The value becomes one whose
derivative is the pullback (:class:`adjoint.ir.nodes.Declared`), which is lowered beside it; what the pullback reads is
kept like any other residual. Where the declared function calls the original, that is called as it stands; if a
derivative is to flow through that call, for second derivatives, the declaration is followed there once more.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.diagnostics import DifferentiationError, Span, diagnostic
from adjoint.diagnostics.spans import shown_path
from adjoint.frontend import shapes, source
from adjoint.frontend.calls import call_value, closure_of, run_closure
from adjoint.frontend.containers import items_if_known
from adjoint.frontend.core import Lowerer, Problem
from adjoint.frontend.derivatives import describe
from adjoint.frontend.expressions import on_each_option
from adjoint.frontend.footprints import taken_down
from adjoint.frontend.handing_over import may_carry
from adjoint.frontend.inner import as_result, lower_inner
from adjoint.frontend.inputs import captured, fill_cell
from adjoint.frontend.levels import levels_now
from adjoint.frontend.materialize import materialize
from adjoint.frontend.objects import special_method
from adjoint.frontend.tangent_values import converted, differentiable_leaves, varying_parts
from adjoint.frontend.values import (
    NONE,
    UNDEFINED,
    Closure,
    Method,
    Partial,
    Record,
    Ref,
    Site,
    TupleValue,
    Union,
    Value,
    is_atom,
)
from adjoint.ir.effects import effects_of, storages
from adjoint.ir.nodes import Atom, Call, Const, Declared, Statement, Store, Var
from adjoint.ir.types import (
    FLOAT,
    OPAQUE,
    Array,
    List,
    Number,
    Opaque,
    Scalar,
    Storage,
    Tuple,
    Type,
    carries_derivative,
    fresh,
    is_handle,
)
from adjoint.ir.walk import operands
from adjoint.rules.registry import Declaration
from adjoint.runtime import tangents
from adjoint.runtime.arrays import zeros_like
from adjoint.runtime.cotangents import as_number, check_cotangent
from adjoint.types.vectors import tangent_class


def call_declared(
    lo: Lowerer, declaration: Declaration, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """The value of a call whose derivative is declared."""
    levels = levels_now()
    if lo.run_data.declared.count(declaration) >= levels.allowed:
        levels.were_reached = True
        return _call_original(lo, declaration, args, kwargs, node)
    given, named, count = _bound(lo, declaration, args, kwargs, node)
    lo.run_data.declared.append(declaration)
    try:
        return _Following(lo, declaration, node).value(given, named, count)
    finally:
        lo.run_data.declared.pop()


def _call_original(
    lo: Lowerer, declaration: Declaration, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """The function itself, of which nothing is known but that it writes none of its arguments."""
    atoms = [materialize(lo, value, node, observer=True) for value in args]
    named = tuple((name, materialize(lo, value, node, observer=True)) for name, value in kwargs.items())
    target = Var("t", _type_of_result(declaration.fn))
    lo.run_data.originals.add(target)
    lo.at(node)
    lo.emit(Call((target,), declaration.fn, tuple(atoms), named, lo.span(node)))
    return target


def _type_of_result(function: Any) -> Type:
    """The kind of what a function returns: what is annotated, or else a number or an array."""
    annotation = getattr(function, "__annotations__", {}).get("return", inspect.Parameter.empty)
    if annotation in (float, "float"):
        return FLOAT
    if annotation in (np.ndarray, "np.ndarray", "numpy.ndarray"):
        return Array(None, None)
    return Number() if annotation is inspect.Parameter.empty else OPAQUE


def _bound(
    lo: Lowerer, declaration: Declaration, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[list[Value], dict[str, Value], int]:
    """The arguments by position, as far as they can be; those by name only; how many the call gives."""
    parameters = parameters_of(declaration.fn) or parameters_of(declaration.derivative) or ()
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    most = _most_positional(declaration.derivative)
    positional, named = list(args), dict(kwargs)
    by_name = {p.name for p in places[len(args) :] if p.kind is p.POSITIONAL_OR_KEYWORD}
    count = len(args) + len(by_name & named.keys())
    for place, parameter in enumerate(places[len(args) :], len(args)):
        if parameter.name in by_name and parameter.name in named:
            positional.append(named.pop(parameter.name))
        elif parameter.default is not parameter.empty and place < most:
            positional.append(_default(lo, declaration.fn, place, parameter, node))
        else:
            break
    for name, value in named.items():
        if may_carry(lo, value):
            label = f"{name!r} varies, and has no cotangent: it is given by name only"
            raise lo.problem("AD0204", node, label, name=declaration.name)
    return positional, named, count


def parameters_of(function: Any) -> tuple[inspect.Parameter, ...] | None:
    """The parameters of a function, where Python knows them."""
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _most_positional(function: Any) -> float:
    """How many arguments a function takes by position."""
    parameters = parameters_of(function)
    if parameters is None or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return math.inf
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def _default(lo: Lowerer, function: Any, place: int, parameter: inspect.Parameter, node: ast.AST | None) -> Value:
    if not isinstance(function, FunctionType):
        return Const(parameter.default)
    index = place - (function.__code__.co_argcount - len(function.__defaults__ or ()))
    return captured(lo, parameter.default, ("default", function, index), parameter.name, node)


class _Following:
    """One call of a declared derivative."""

    def __init__(self, lo: Lowerer, declaration: Declaration, node: ast.AST | None) -> None:
        self.lo = lo
        self.declaration = declaration
        self.node = node
        self.called_at = lo.span(node)
        self.pullback: Value = NONE

    def refusal(self, label: str, *, at_pullback: bool = False, helps: tuple[str, ...] | None = None) -> Problem:
        """What is wrong with the declaration, at its place."""
        declared = self.declaration.derivative
        place = (heading_of(self.pullback) if at_pullback else None) or heading_of(Const(declared))
        others = () if self.called_at is None else ((self.called_at, "it is called here"),)
        return Problem(diagnostic("AD0205", place, label, helps=helps, others=others, name=self.declaration.name))

    def where(self) -> str:
        """The place of the pullback, for messages at run time."""
        span = heading_of(self.pullback) or heading_of(Const(self.declaration.derivative))
        place = "" if span is None else f" ({shown_path(span.file)}:{span.line})"
        return f"the declared pullback of {self.declaration.name!r}{place}"

    def value(self, args: list[Value], named: dict[str, Value], count: int) -> Value:
        """Runs the declared function, and gives its value the derivative that the pullback says."""
        lo = self.lo
        objects = {ref: lo.store[ref] for arg in args for ref in _refs(lo, arg)}
        statements: list[Statement] = []
        with taken_down(lo, statements):
            made = self.run(args, named)
        if lo.block is None:
            return UNDEFINED
        if any(lo.store.get(ref) is not record for ref, record in objects.items()) or _write(lo, statements, args):
            label = f"the declared derivative of {self.declaration.name!r} writes what it is given"
            raise lo.problem("AD0303", self.node, label, helps=("let it write a copy",))
        value = self.pair(made)
        if not any(may_carry(lo, arg) for arg in args):
            return value
        return self.attached(value, args, count)

    def run(self, args: list[Value], named: dict[str, Value]) -> Value:
        """Calls the declared function; inside itself it is no recursion, which would be called at run time."""
        lo, derivative = self.lo, self.declaration.derivative
        if lo.run_data.declared.count(self.declaration) == 1 or not isinstance(derivative, FunctionType):
            return call_value(lo, Const(derivative), args, named, self.node)
        closure = closure_of(lo, derivative, self.node)
        for name, cell in closure.cells.items():
            fill_cell(lo, cell, name, self.node)
        return run_closure(lo, closure, args, named, self.node)

    def pair(self, made: Value) -> Value:
        """The value of what a declared function returns; the pullback is taken down."""
        lo, record = self.lo, self.lo.store.get(made)
        items = made.items if isinstance(made, TupleValue) else None
        if isinstance(record, Record) and record.cls is list:
            items = record.items
        if items is None or len(items) != 2:
            raise self.refusal(f"it returns {_described(lo, made)}, not a pair (value, pullback)")
        value, self.pullback = items
        if not _is_callable(lo, self.pullback):
            raise self.refusal(f"the second item that it returns is {_described(lo, self.pullback)}, not a pullback")
        return value

    def attached(self, value: Value, args: list[Value], count: int) -> Value:
        """The value with its derivative."""
        lo = self.lo
        value = self.with_kinds(value)
        self.refuse_own_arguments(value, args)
        shape = as_result(shapes.shape_of(value, lo.store))
        if shapes.has_options(shape):
            raise self.refusal("it returns values of several kinds")
        values = tuple(shapes.flatten(value, shape, lo.store, lo.open))
        lent = {storage for arg in args for leaf in differentiable_leaves(lo, arg) for storage in _memory(leaf)}
        lent.update(storage for item in lo.run_data.inputs for storage in _memory(item.var))
        targets = tuple(
            Var(hint, fresh(type_) if lent.isdisjoint(_memory(atom)) else type_)
            for atom, (type_, hint) in zip(values, shapes.leaf_types(shape, "y"), strict=True)
        )
        seeds = [place for place, target in enumerate(targets) if carries_derivative(target.type)]
        result = shapes.build(shape, iter(targets), lo.store)
        leaves = [leaf for arg in args for leaf in differentiable_leaves(lo, arg)]
        if not seeds or not leaves:
            return value
        cotangents = {targets[place]: Var("ct", fresh(targets[place].type), True) for place in seeds}
        given = _structured(lo, result, cotangents, {})

        differentiated: list[Atom] = []

        def flat(returned: Value) -> Value:
            pairs = list(zip(leaves, self.cotangents(args, returned, count), strict=True))
            differentiated.extend(leaf for leaf, cotangent in pairs if cotangent != NONE)
            return TupleValue(tuple(cotangent for _, cotangent in pairs if cotangent != NONE))

        what = f"the declared pullback of {self.declaration.name!r}"
        own = lower_inner(lo, self.pullback, [given], {}, [0], self.node, returned=flat, what=what)
        assert own.count == len(seeds)
        callee = Declared(self.declaration.name, own.function, len(differentiated), tuple(seeds))
        lo.at(self.node)
        lo.emit(Call(targets, callee, (*differentiated, *values, *own.atoms[own.count :]), (), self.called_at))
        return result

    def with_kinds(self, value: Value) -> Value:
        """The value, a number or an array where it is not known what it is."""
        lo = self.lo
        match value:
            case Var(type=type_) if type_ == OPAQUE or value in lo.run_data.originals:
                if isinstance(type_, (Scalar, Array)):
                    return value
                target = Var("y", Number())
                lo.emit(Call((target,), as_number, (value, Const(self.declaration.name)), (), self.called_at))
                return target
            case TupleValue(items=items, cls=cls):
                return TupleValue(tuple(map(self.with_kinds, items)), cls)
            case _:
                return value

    def refuse_own_arguments(self, value: Value, args: list[Value]) -> None:
        """Refuses objects among the values that the caller has, and memory that is written."""
        lo = self.lo
        mine = {ref for arg in args for ref in _refs(lo, arg)}
        if any(ref in mine for ref in _refs(lo, value)):
            raise self.refusal("it returns an object that it is given", helps=("return a new one",))

    def cotangents(self, args: list[Value], returned: Value, count: int) -> Iterator[Atom]:
        """One cotangent for each number and array in the arguments, of what the pullback returned."""
        for place, (arg, cotangent) in enumerate(zip(args, self.each(args, returned, count), strict=True)):
            yield from self.leaves(arg, cotangent, place)

    def each(self, args: list[Value], returned: Value, count: int) -> list[Value]:
        """One cotangent for each argument."""
        lo, total = self.lo, len(args)
        record = lo.store.get(returned)
        items = list(returned.items) if isinstance(returned, TupleValue) else None
        if isinstance(record, Record) and record.cls is list:
            items = list(record.items)
        if 1 in (total, count) and (items is None or len(items) not in (total, count) or _is_sequence(lo, args[0])):
            items = [returned]
        if items is None or len(items) not in (total, count):
            found = _described(lo, returned) if items is None else f"{len(items)} cotangents"
            wanted = "one cotangent" if total == 1 else f"a tuple of {total} cotangents, one for each argument"
            raise self.refusal(f"this returns {found}, not {wanted}", at_pullback=True)
        return items + [NONE] * (total - len(items))

    def leaves(self, arg: Value, given: Value, place: int) -> Iterator[Atom]:
        """The cotangents of the numbers and arrays in one argument."""
        lo = self.lo
        if given == NONE:
            yield from (NONE for _ in differentiable_leaves(lo, arg))
            return
        if isinstance(given, Union) and is_atom(arg):
            given = on_each_option(lo, given, lambda option: self.or_zero(arg, option), self.node)
        match arg:
            case Var(type=type_) if carries_derivative(type_):
                yield self.fitting(arg, type_, given, place)
            case Const(value=float()):
                yield self.fitting(arg, FLOAT, given, place)
            case TupleValue(items=items):
                parts = _items(lo, given)
                if parts is None or len(parts) != len(items):
                    raise self.misfit(given, f"a tuple of {len(items)}", place)
                for item, part in zip(items, parts, strict=True):
                    yield from self.leaves(item, part, place)
            case Ref():
                yield from self.parts(arg, given, place)
            case Union():
                raise self.refusal(f"argument {place} is of several kinds")

    def or_zero(self, arg: Value, given: Value) -> Value:
        """A cotangent that is None on some paths only, on one of them."""
        if given != NONE:
            return given
        if isinstance(arg, Var) and not isinstance(arg.type, Scalar):
            return self.lo.open.call(zeros_like, arg)
        return Const(0.0)

    def parts(self, arg: Ref, given: Value, place: int) -> Iterator[Atom]:
        """The cotangents in an object, a list or a dict."""
        lo, record = self.lo, self.lo.store[arg]
        assert isinstance(record, Record)
        parts = varying_parts(record)
        if record.cls is list:
            items = _items(lo, given)
            if items is None or len(items) != len(parts):
                raise self.misfit(given, f"a list of {len(parts)}", place)
            found: dict[Any, Value] = dict(enumerate(items))
        else:
            held = lo.store.get(given)
            if not isinstance(held, Record) or held.cls is list or (held.cls is dict) != (record.cls is dict):
                raise self.misfit(given, _kind_of_record(record), place)
            found = dict(held.parts)
            unknown = [key for key in found if key not in dict(record.parts)]
            if unknown:
                raise self.misfit(given, f"{_kind_of_record(record)}, which has no {unknown[0]!r}", place)
        for key, part in parts:
            yield from self.leaves(part, found.get(key, NONE), place)

    def misfit(self, given: Value, wanted: str, place: int) -> Problem:
        label = f"this returns {_described(self.lo, given)} for argument {place}, not {wanted}"
        return self.refusal(label, at_pullback=True)

    def fitting(self, arg: Atom, type_: Type, given: Value, place: int) -> Atom:
        """The cotangent of one number, array or container, of the kind and shape of that."""
        lo = self.lo
        if is_handle(type_) and not isinstance(type_, Array):
            atom = materialize(lo, given, self.node, observer=True)
            return converted(lo, tangents.to_shadow, [atom, arg], arg)  # type: ignore[arg-type]
        if not is_atom(given) or (isinstance(given, Const) and not _is_number(given.value)):
            raise self.misfit(given, _kind(type_), place)
        assert isinstance(given, (Var, Const))
        found = shapes.type_of(given)
        if not _may_fit(found, type_):
            raise self.misfit(given, _kind(type_), place)
        if _surely_fits(found, type_):
            return Const(float(given.value)) if isinstance(given, Const) and type(given.value) is int else given
        target = Var("ct", fresh(type_))
        said = f"{self.where()} gives, for argument {place},"
        lo.emit(Call((target,), check_cotangent, (given, arg, Const(said)), (), self.called_at))
        return target


def heading_of(function: Value) -> Span | None:
    """The place of a function's definition, where there is one."""
    match function:
        case Closure():
            return function.source.heading
        case Method(function=inner) | Partial(function=inner):
            return heading_of(inner)
        case Union(options=options):
            return next(filter(None, map(heading_of, options)), None)
        case Const(value=constant):
            try:
                return source.find(constant).heading
            except DifferentiationError:
                return None
        case _:
            return None


def _is_callable(lo: Lowerer, value: Value) -> bool:
    match value:
        case Const(value=constant):
            return callable(constant)
        case Var() | TupleValue():
            return False
        case Ref():
            return special_method(lo, value, "__call__") is not None
        case Union(options=options):
            return all(_is_callable(lo, option) for option in options)
        case _:
            return True


def _structured(lo: Lowerer, value: Value, cotangents: dict[Var, Var], made: dict[Ref, Ref]) -> Value:
    """A cotangent of the structure of a value; None at what has no derivative."""
    match value:
        case Var():
            return cotangents.get(value, NONE)
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(_structured(lo, item, cotangents, made) for item in items), cls)
        case Ref() if value in made:
            return made[value]
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            ref = made[value] = Ref(Site(("cotangent", *value.site.place)))
            parts = tuple((key, _structured(lo, part, cotangents, made)) for key, part in varying_parts(record))
            if record.cls in (list, dict):
                lo.store[ref] = Record(record.cls, parts)
            else:
                kept = tuple((key, part) for key, part in parts if part != NONE)
                lo.store[ref] = Record(tangent_class(record.cls), kept)
            return ref
        case _:
            return NONE


def _write(lo: Lowerer, statements: Iterable[Statement], args: list[Value]) -> bool:
    """Whether statements write memory of arguments."""
    mine = {storage for arg in args for leaf in differentiable_leaves(lo, arg) for storage in _memory(leaf)}
    for statement in statements:
        if isinstance(statement, Store):
            bases: tuple[Atom, ...] = (statement.base,)
        elif isinstance(statement, Call) and (found := effects_of(statement)).known:
            values = operands(statement)
            bases = tuple(values[place] for place in found.writes if place < len(values))
        else:
            continue
        if any(not mine.isdisjoint(_memory(base)) for base in bases):
            return True
    return False


def _memory(atom: Atom) -> set[Storage]:
    return storages(atom.type) if isinstance(atom, Var) else set()


def _refs(lo: Lowerer, value: Value, seen: set[Ref] | None = None) -> set[Ref]:
    seen = set() if seen is None else seen
    match value:
        case TupleValue(items=items) | Union(options=items):
            for item in items:
                _refs(lo, item, seen)
        case Ref() if value not in seen:
            seen.add(value)
            record = lo.store[value]
            for _, part in record.parts if isinstance(record, Record) else ():
                _refs(lo, part, seen)
    return seen


def _items(lo: Lowerer, value: Value) -> list[Value] | None:
    if isinstance(value, TupleValue):
        return list(value.items)
    record = lo.store.get(value)
    if isinstance(record, Record) and record.cls is list:
        return list(record.items)
    if isinstance(value, Var) and isinstance(value.type, (List, Tuple)):
        return items_if_known(lo, value, None)
    return None


def _is_sequence(lo: Lowerer, value: Value) -> bool:
    record = lo.store.get(value)
    in_record = isinstance(record, Record) and record.cls is list
    return (
        isinstance(value, TupleValue) or in_record or (isinstance(value, Var) and isinstance(value.type, (List, Tuple)))
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.generic, np.ndarray)) and not isinstance(value, bool)


def _may_fit(found: Type, type_: Type) -> bool:
    """Whether a cotangent of a type may have the kind and shape of its value."""
    match found, type_:
        case (Number() | Opaque(cls=None), _) | (_, Number()):
            return True
        case Scalar(kind=kind), Scalar(kind=own):
            return kind != "bool" and (kind != "complex" or own == "complex")
        case Array(dtype=dtype, dims=dims), Scalar(kind=own):
            return dims in (None, ()) and not (dtype is not None and dtype.kind == "c" and own != "complex")
        case Scalar(), Array(dims=dims):
            return dims in (None, ())
        case Array(dtype=dtype, dims=dims), Array(dtype=own, dims=mine):
            real = own is not None and own.kind != "c"
            if (dtype is not None and dtype.kind == "c" and real) or (dtype is not None and dtype.kind not in "fciu"):
                return False
            return (
                dims is None
                or mine is None
                or (
                    len(dims) == len(mine)
                    and not any({"one", "many"} == {a, b} for a, b in zip(dims, mine, strict=True))
                )
            )
        case _:
            return False


def _surely_fits(found: Type, type_: Type) -> bool:
    return isinstance(found, Scalar) and isinstance(type_, Scalar)


def _kind(type_: Type) -> str:
    match type_:
        case Scalar(kind=kind):
            return "a complex number" if kind == "complex" else "a number"
        case Array(dims=dims):
            return "an array" if dims is None else f"an array of rank {len(dims)}"
        case List():
            return "a list"
        case _:
            return "a number or an array"


def _kind_of_record(record: Record) -> str:
    return "a dict" if record.cls is dict else f"a tangent of class {record.cls.__name__!r}"


def _described(lo: Lowerer, value: Value) -> str:
    if isinstance(value, Const) and _is_number(value.value):
        return f"the number {value.value!r}"
    if not is_atom(value) and not isinstance(value, (TupleValue, Ref, Union)):
        return "a function"
    return describe(shapes.shape_of(value, lo.store))
