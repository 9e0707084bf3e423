"""Function values: those whose function is known are read like any other, the others called with what they carry."""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

import numpy as np

from adjoint import ir
from adjoint.declarations.function_values import (
    Fn,
    Signature,
    differentiable_function,
    dtype_of,
    name_of,
    parts_of,
    signature_of,
)
from adjoint.diagnostics import DifferentiationError
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.data.constants import as_constant
from adjoint.frontend.declared.arguments import Arguments
from adjoint.frontend.declared.calls import Following
from adjoint.frontend.declared.forms import Forms
from adjoint.frontend.differentiation.tangent_values import differentiable_leaves
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.values import Closure, Method, Partial, Record, Ref, Site, TupleValue, Union, Value
from adjoint.rules.declarations import Declaration
from adjoint.rules.types_of_values import abstract
from adjoint.runtime import functions
from adjoint.types.classes.annotations import alternatives, annotations_of, plain

_PULLBACK = ir.Opaque(functions.Pulling)


# -- calls ------------------------------------------------------------------------------------------------------------


def call_known(lo: Lowerer, function: Ref, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """A call of a function value whose function is known."""
    record = lo.store[function]
    assert isinstance(record, Record)
    parts = dict(record.parts)
    signature = parts["signature"].value if isinstance(parts["signature"], ir.Const) else None
    if signature is not None:
        args = [given(lo, arg, node) if place in signature.excluded else arg for place, arg in enumerate(args)]
        if len(args) + len(kwargs) != len(signature.parameters):
            raise lo.mistake(TypeError, node, _misfit(signature, len(args) + len(kwargs)), code="AD0203")
    if parts["declared"] == ir.Const(False):
        return lo.call(parts["function"], args, kwargs, node)
    if kwargs:
        raise lo.problem("AD0203", node, "a function value made of a pullback takes arguments by position")
    captured = [*_captured(lo, parts["function"], set())]
    result = Following(lo, _OfValue(lo, parts["function"], args, node)).value()
    varies = any(may_carry(lo, arg) for arg in args)
    return _beside(lo, result, captured, node) if captured and varies else result


def call_carried(
    lo: Lowerer, function: ir.Var, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of a function value that is known only at run time: the derivative calls what it carries."""
    assert isinstance(function.type, ir.Opaque)
    signature: Signature = function.type.signature
    if kwargs:
        raise lo.problem("AD0203", node, f"{signature!r} takes arguments by position")
    if len(args) != len(signature.parameters):
        raise lo.mistake(TypeError, node, _misfit(signature, len(args)), code="AD0203")
    atoms = [_argument(lo, arg, kind, node) for arg, kind in zip(args, signature.parameters, strict=True)]
    places = tuple([place + 1 for place in signature.places if _may_vary(atoms[place])])
    targets: list[ir.Var] = []
    result = _made(lo, signature.result, targets, signature, node)
    lo.at(node)
    lo.emit(
        ir.Call((*targets, ir.Var("pullback", _PULLBACK)), ir.Applied(places), (function, *atoms), (), lo.span(node))
    )
    captured = [*_made_with(lo, function, set())]
    return _beside(lo, result, captured, node) if captured else result


def _made_with(lo: Lowerer, atom: ir.Atom, seen: set[ir.Atom]) -> Iterator[ir.Atom]:
    """What may vary, and was handed to the functions out of which a function value comes: it may have captured that."""
    if not isinstance(atom, ir.Var) or atom in seen:
        return
    seen.add(atom)
    if ir.carries_derivative(atom.type):
        yield atom
        return
    base = lo.origins[atom][0] if atom in lo.origins else None
    if isinstance(base, ir.Var) and isinstance(base.type, ir.Opaque):
        yield from _made_with(lo, base, seen)
    for given_ in lo.run_data.made_with.get(atom, ()):
        yield from _made_with(lo, given_, seen)


def _misfit(signature: Signature, count: int) -> str:
    taken = len(signature.parameters)
    arguments = "1 argument" if taken == 1 else f"{taken} arguments"
    return f"{signature!r} takes {arguments}, {count} {'is' if count == 1 else 'are'} given"


def _may_vary(atom: ir.Atom) -> bool:
    type_ = atom.type if isinstance(atom, ir.Var) else abstract(atom.value) if isinstance(atom, ir.Const) else ir.OPAQUE
    return isinstance(type_, (ir.Number, ir.Array)) or (
        isinstance(type_, ir.Scalar) and type_.kind in ("float", "complex")
    )


def _argument(lo: Lowerer, value: Value, kind: Any, node: ast.AST | None) -> ir.Atom:
    """One argument of a call, a number or an array where it varies; an integer for a float becomes one."""
    atom = materialize(lo, value, node)
    if kind is float:
        if isinstance(atom, ir.Const) and type(atom.value) is int:
            return ir.Const(float(atom.value))
        if isinstance(atom, ir.Var) and isinstance(atom.type, ir.Scalar) and atom.type.kind in ("int", "bool"):
            return lo.open.call(float, atom)
    type_ = atom.type if isinstance(atom, ir.Var) else ir.OPAQUE
    if not isinstance(type_, (ir.Scalar, ir.Array, ir.Number, ir.Opaque)) and may_carry(lo, value):
        label = "a function value that is known only at run time is handed a structure"
        raise lo.problem("AD0204", node, label, helps=("let it take numbers and arrays",))
    return atom


def _made(lo: Lowerer, kind: Any, targets: list[ir.Var], signature: Signature, node: ast.AST | None) -> Value:
    """The result of a call, by its declared type; the variables in it are added to ``targets``."""
    parts = parts_of(kind)
    if parts is not None:
        return TupleValue(tuple(_made(lo, part, targets, signature, node) for part in parts))
    type_ = type_of(kind)
    if type_ is None:
        label = f"the function is known only at run time, and its type {signature!r} says no number or array"
        raise lo.problem("AD0222", node, label, helps=("let it return a float, an array, or a tuple of these",))
    targets.append(ir.Var("y", type_))
    return targets[-1]


def type_of(kind: Any) -> ir.Type | None:
    """The type of the numbers or arrays that an annotation names; None where it names none."""
    kind = plain(kind)
    origin = get_origin(kind) or kind
    if kind is typing.Any or isinstance(kind, typing.TypeVar):
        return ir.Number()
    if not isinstance(origin, type):
        return None
    if issubclass(origin, np.ndarray):
        return ir.Array(dtype_of(kind), None)
    if issubclass(origin, np.inexact):
        scalar = abstract(origin(0)) if origin not in (np.inexact, np.floating, np.complexfloating) else ir.Number()
        return scalar
    return {float: ir.FLOAT, complex: ir.Scalar("complex"), int: ir.INT}.get(origin)


class _OfValue(Forms):
    """What a function value was made of: a function that gives the value and the pullback."""

    def __init__(self, lo: Lowerer, function: Value, args: list[Value], node: ast.AST | None) -> None:
        own = function.function if isinstance(function, Closure) else getattr(function, "value", None)
        name = function.source.name if isinstance(function, Closure) else name_of(own)
        declaration = Declaration(_Named(name), pullback=own)  # type: ignore[arg-type]
        super().__init__(lo, declaration, Arguments(args, {}, len(args)), node, self.original)
        self.function = function

    def call(self, declared: Any, args: list[Value], named: dict[str, Value]) -> Value:
        return self.lo.call(self.function, args, named, self.node)


class _Named:
    """Stands for the function whose derivative a function value declares, in messages."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name


def _captured(lo: Lowerer, function: Value, seen: set[int]) -> Iterator[ir.Atom]:
    """The variables captured by a function that is made inside the differentiated one: none of them may vary."""
    match function:
        case Method(function=inner, receiver=receiver):
            yield from differentiable_leaves(lo, receiver)
            yield from _captured(lo, inner, seen)
        case Partial(function=inner, args=args, kwargs=kwargs):
            for value in (*args, *(value for _, value in kwargs)):
                yield from differentiable_leaves(lo, value)
            yield from _captured(lo, inner, seen)
        case Closure(function=None, cells=cells, source=source) if id(function) not in seen:
            seen.add(id(function))
            read = {node.id for node in ast.walk(source.node) if isinstance(node, ast.Name)}
            for name, cell in cells.items():
                if name not in read:
                    continue
                held = lo.store.get(cell)
                if isinstance(held, (Closure, Method, Partial)):
                    yield from _captured(lo, held, seen)
                elif held is not None:
                    yield from (leaf for leaf in differentiable_leaves(lo, held) if isinstance(leaf, ir.Var))


def _beside(lo: Lowerer, value: Value, captured: list[ir.Atom], node: ast.AST | None) -> Value:
    """The value, refused where something that was captured varies."""
    match value:
        case ir.Var(type=ir.Scalar() | ir.Array() | ir.Number() as type_):
            for variable in captured:
                value, last = ir.Var(value.hint, type_), value
                lo.emit(ir.Call((value,), functions.beside, (last, variable), (), lo.span(node)))
            return value
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(_beside(lo, item, captured, node) for item in items), cls)
        case _:
            return value


def given(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """An argument for a parameter that is marked ``NoDerivative``: refused where it varies."""
    match value:
        case ir.Var(type=ir.Scalar() | ir.Array() | ir.Number() as type_) if may_carry(lo, value):
            target = ir.Var(value.hint, type_)
            lo.emit(ir.Call((target,), functions.given, (value,), (), lo.span(node)))
            return target
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(given(lo, item, node) for item in items), cls)
        case _:
            return as_constant(lo, value, node)


# -- conversions ------------------------------------------------------------------------------------------------------


def type_of_functions(lo: Lowerer, node: ast.Subscript) -> ir.Const:
    """``Fn[[...], ...]`` in the code of a function."""
    assert lo.frame is not None
    try:
        return ir.Const(_evaluated(lo, node, lo.frame.closure.globals))
    except DifferentiationError as refusal:
        problem = refusal.diagnostics[0]
        raise lo.problem("AD0220", node, problem.notes[0], helps=problem.helps) from None
    except Exception:  # names that are known when it runs
        raise lo.problem("AD0220", node, "what it is made for is not known before anything runs") from None


def converted(
    lo: Lowerer, signature: Signature, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """``Fn[[...], ...](function)``"""
    if len(args) != 1 or kwargs:
        raise lo.mistake(TypeError, node, f"{signature!r} is given one function", code="AD0203")
    return as_declared(lo, args[0], signature, node)


def as_declared(
    lo: Lowerer, value: Value, signature: Signature, node: ast.AST | None, *, optional: bool = False
) -> Value:
    """A value that is declared to be a function of a type, or None where that is ``optional``."""
    if isinstance(value, ir.Var):
        if not isinstance(value.type, ir.Opaque) or value.type.signature == signature:
            return value
        target = ir.Var(value.hint, ir.Opaque(None if optional else Fn, signature), value.named)
        callee = functions.as_optional_function if optional else functions.as_function
        lo.emit(ir.Call((target,), callee, (value, ir.Const(signature)), (), lo.span(node)))
        lo.run_data.made_with[target] = (value,)
        return target
    if isinstance(value, Union):
        return on_each_option(lo, value, lambda option: as_declared(lo, option, signature, node), node)
    inner, declared = value, ir.Const(False)
    record = lo.store.get(value) if isinstance(value, Ref) else None
    if isinstance(record, Record) and record.cls is Fn:
        parts = dict(record.parts)
        if parts["signature"] == ir.Const(signature):
            return value
        inner, declared = parts["function"], parts["declared"]
    elif isinstance(value, (TupleValue, ir.Const)) and not (isinstance(value, ir.Const) and callable(value.value)):
        return value
    if not signature.excluded and declared == ir.Const(False):
        return value
    return _new(lo, inner, ir.Const(signature), declared, node)


def _new(lo: Lowerer, function: Value, signature: ir.Const, declared: ir.Const, node: ast.AST | None) -> Ref:
    ref = Ref(lo.site(node) if node is not None else Site(("function value", id(function))))
    lo.store[ref] = Record(Fn, (("function", function), ("signature", signature), ("declared", declared)))
    return ref


@handles(differentiable_function)
def made_inside(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """``ad.differentiable_function(derivative)``"""
    if len(args) != 1 or kwargs:
        return NotImplemented
    if isinstance(args[0], (ir.Var, TupleValue)) or (isinstance(args[0], ir.Const) and not callable(args[0].value)):
        raise lo.problem("AD0221", node, "ad.differentiable_function was given no function", name="this")
    return _new(lo, args[0], ir.Const(None), ir.Const(True), node)


def as_annotated(lo: Lowerer, value: Value, annotation: Any, node: ast.AST | None) -> Value:
    """A value of which nothing is known, as the function value, or the container of some, that an annotation says."""
    if annotation is None:
        return value
    signature = signature_of(annotation)
    if signature is not None:
        return as_declared(lo, value, signature, node, optional=type(None) in alternatives(annotation))
    if not isinstance(value, ir.Var) or type(value.type) is not ir.Opaque:
        return value
    origin, items = get_origin(plain(annotation)), get_args(plain(annotation))
    if not isinstance(origin, type) or not items:
        return value
    signature = signature_of(items[-2] if len(items) == 2 and items[-1] is Ellipsis else items[-1])
    if signature is None:
        return value
    type_: ir.Type = ir.Opaque(Fn, signature)
    if issubclass(origin, Mapping):
        callee: Any = functions.as_dict_of_functions
        type_ = ir.Dict(type_)
    else:
        callee, type_ = functions.as_list_of_functions, ir.List(type_)
    target = ir.Var(value.hint, type_, value.named)
    lo.emit(ir.Call((target,), callee, (value, ir.Const(signature)), (), lo.span(node)))
    lo.run_data.made_with[target] = (value,)
    return target


def meaning(lo: Lowerer, annotation: ast.expr | None, namespace: dict[str, Any]) -> Any:
    """What an annotation in the source of a function means; None where that is not known."""
    if annotation is None:
        return None
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    try:
        return _evaluated(lo, annotation, namespace)
    except Exception:  # names that only a type checker knows
        return None


def _evaluated(lo: Lowerer, annotation: ast.expr, namespace: dict[str, Any]) -> Any:
    """What an annotation is, in which local names stand for constants."""
    local = {}
    for name in {item.id for item in ast.walk(annotation) if isinstance(item, ast.Name)}:
        cell = lo.cell_named(name)
        held = None if cell is None else lo.store.get(cell)
        if isinstance(held, ir.Const):
            local[name] = held.value
    return eval(compile(ast.Expression(annotation), "<annotation>", "eval"), dict(namespace), local)


def returned_by(function: Any) -> Any:
    """The annotation of the result of a function whose body is not visible; None where there is none."""
    found = annotations_of(function).get("return")
    if isinstance(found, str):
        inner = getattr(function, "__wrapped__", function)
        try:
            return eval(found, dict(getattr(inner, "__globals__", {})))
        except Exception:  # names that only a type checker knows
            return None
    return found
