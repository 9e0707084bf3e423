"""Functions in containers whose length is known at run time only.

A container holds functions of outside themselves; its type says which they may be, so that what is read from it is one
of several values, and a call becomes a choice between calls. A function that is made inside the one that is
differentiated is a tuple of what it captured. The class of that tuple, which is part of the type, says of which
function: what is read is that function again, with variables that hold what lies in the tuple.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any, TypeGuard

from adjoint import ir
from adjoint.frontend.data.outside.captures import names_in
from adjoint.frontend.functions.closures import as_default, closure_of, default_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Cell, Closure, Method, Partial, Union, Value
from adjoint.records import dataclass, replace
from adjoint.runtime.objects import itself, place_of_function
from adjoint.sources.scope import bindings_of

_METHODS = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)
"""Classes of functions that are equal where they are bound to one object."""


def is_known_function(value: Value) -> TypeGuard[ir.Const]:
    """Whether a value is a function, and is told from others by its identity."""
    if not isinstance(value, ir.Const) or not callable(value.value):
        return False
    cls: Any = type(value.value)
    by_identity = cls.__eq__ is object.__eq__ and cls.__hash__ is object.__hash__
    return by_identity or cls is type or issubclass(cls, _METHODS)


def held_function(lo: Lowerer, function: ir.Const, node: ast.AST | None) -> ir.Var:
    """What a container at run time holds for a function."""
    target = ir.Var("f", ir.one_of(function.value))
    lo.emit(ir.Call((target,), itself, (function,), (), lo.span(node)))
    return target


def which_function(lo: Lowerer, item: ir.Var, node: ast.AST | None) -> Value:
    """A function that was read from a container, as one of those that it may be."""
    assert isinstance(item.type, ir.OneOf)
    options: tuple[Any, ...] = tuple(map(ir.Const, item.type.order))
    if len(options) == 1:
        return options[0]  # type: ignore[no-any-return]
    tag = ir.Var("case", ir.INT)
    lo.emit(ir.Call((tag,), place_of_function, (item, *options), (), lo.span(node)))
    return Union(tag, options)


OTHER_PLACES = (
    "put it into a list in a loop over a range whose bounds are known or given: for i in range(n)",
    "or make it outside, and hand it to the function",
)


@dataclass(frozen=True, slots=True)
class Form:
    """What all functions of one class have in common.

    Attributes
    ----------
    code
        The code, of a function; else the class of the value: a method, or a partial function.
    names
        The names of what lies in the tuple: captured variables, parameters by keyword.
    counts
        How many of these are captured variables, default values, and default values by keyword.
    outer
        The function object that it is made in, whose captured variables it shares.
    owner
        The class in whose body it stands.
    """

    code: Any
    names: tuple[str, ...]
    counts: tuple[int, ...]
    outer: Any = None
    owner: type | None = None


class _Kind:
    """The closure out of which the first function of a class was made: for what does not differ among them."""

    __slots__ = ("closure",)

    def __init__(self, closure: Closure | None) -> None:
        self.closure = closure


def held_made(
    lo: Lowerer,
    value: Closure | Method | Partial,
    slots: Callable[[Lowerer, list[Value], ast.AST | None], list[ir.Atom]],
    node: ast.AST | None,
) -> tuple[type, list[ir.Atom]]:
    """The class that stands for a function, and what it captured, as a container holds it."""
    if not lo.settings.tagged:
        lo.settings.tagged = True  # what stands for functions must not be handed on
    closure = None
    match value:
        case Method(function=function, receiver=receiver):
            form, parts = Form(Method, (), ()), [function, receiver]
        case Partial(function=function, args=args, kwargs=kwargs):
            names = tuple(name for name, _ in kwargs)
            form, parts = Form(Partial, names, (len(args),)), [function, *args, *(part for _, part in kwargs)]
        case Closure():
            closure = value
            names, parts = _captured(lo, closure, node)
            keywords = tuple(closure.kw_defaults)
            form = Form(
                closure.source.node,
                (*names, *keywords),
                (len(names), len(closure.defaults)),
                _outermost(closure).function,
                closure.owner,
            )
            parts += [default_of(lo, each) for each in (*closure.defaults, *closure.kw_defaults.values())]
            lo.run_data.defaults_taken.add((closure.function, None))
    held = slots(lo, parts, node)
    known = lo.settings.made_functions
    cls = known.get(form)
    if cls is None:
        cls = known[form] = type("MadeFunction", (ir.MadeFunction,), {"form": form, "kind": _Kind(closure)})
    return cls, held


def _captured(lo: Lowerer, closure: Closure, node: ast.AST | None) -> tuple[tuple[str, ...], list[Value]]:
    """The variables that a function reads and that are bound once, and what they hold."""
    if closure.attributes:
        raise _refused(lo, node, "a function made here has attributes, and is put into what exists at run time only")
    names, parts = [], []
    for name in sorted(names_in(closure.source.node) & closure.cells.keys()):
        if _is_of_outermost(closure, name):
            continue
        held = lo.store.get(closure.cells[name])
        if held is closure:
            label = "a function made here that calls itself is put into what exists at run time only"
            raise _refused(lo, node, label)
        if held is None or held is ir.UNDEFINED or not _is_bound_once(closure, name):
            label = (
                f"a function made here is put into what exists at run time only, and reads {name!r}, which may change"
            )
            raise _refused(lo, node, label, f"capture what it holds now: lambda x, {name}={name}: ...")
        names.append(name)
        parts.append(held)
    return tuple(names), parts


def _refused(lo: Lowerer, node: ast.AST | None, label: str, *helps: str) -> Exception:
    return lo.problem("AD0202", node, label, helps=(*helps, *OTHER_PLACES))


def _outermost(closure: Closure) -> Closure:
    """The function object that a function is made in, perhaps inside of others."""
    while closure.outer is not None:
        closure = closure.outer
    return closure


def _is_of_outermost(closure: Closure, name: str) -> bool:
    """Whether a function shares a variable with the function object that it is made in."""
    outer = _outermost(closure)
    return outer is not closure and outer.function is not None and outer.cells.get(name) is closure.cells[name]


def _is_bound_once(closure: Closure, name: str) -> bool:
    """Whether a variable keeps what it holds: it is bound at one place, which no loop comes to twice."""
    outer = closure.outer
    while outer is not None:
        bound = bindings_of(outer.source.node, name)
        if bound:
            return bound == 1
        outer = outer.outer
    return False


def made_again(lo: Lowerer, cls: type[ir.MadeFunction], parts: list[Value], node: ast.AST | None) -> Value:
    """The function that a tuple stands for."""
    form: Form = cls.form
    if form.code is Method:
        return Method(*parts)
    if form.code is Partial:
        (count,) = form.counts
        function, args, named = parts[0], parts[1 : 1 + count], parts[1 + count :]
        return Partial(function, tuple(args), tuple(zip(form.names, named, strict=True)))
    like: Closure = cls.kind.closure
    captured, defaults = form.counts
    cells = {} if form.outer is None else dict(closure_of(lo, form.outer, node).cells)
    for name, part in zip(form.names[:captured], parts, strict=False):
        cells[name] = Cell(name)
        lo.store[cells[name]] = part
    held = [as_default(lo, part) for part in parts[captured:]]
    return replace(
        like,
        cells=cells,
        defaults=tuple(held[:defaults]),
        kw_defaults=dict(zip(form.names[captured:], held[defaults:], strict=True)),
        block=lo.block,
        is_read=True,
    )
