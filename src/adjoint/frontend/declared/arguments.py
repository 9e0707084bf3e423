"""The arguments of a call whose derivative is declared: which have a cotangent, and which may not vary."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from adjoint import ir
from adjoint.frontend.data.outside.captures import captured_by
from adjoint.frontend.declared.parameters import (
    function_with_defaults,
    has_value,
    most_positional,
    name_of_place,
    parameters_of,
    positional,
)
from adjoint.frontend.differentiation.tangent_values import differentiable_leaves
from adjoint.frontend.entry.inputs import captured
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Record, Ref, TupleValue, Union, Value
from adjoint.records import dataclass
from adjoint.rules.declarations import Declaration, Place


@dataclass(eq=False, slots=True)
class Arguments:
    """The arguments of a call.

    Attributes
    ----------
    positional, named
        Those by position, as far as they can be; those by name only.
    given
        How many of the positional ones the call gives; the others are default values.
    receiver
        The object of which this is a method, or that is called, where the declaration is for this very object.
    """

    positional: list[Value]
    named: dict[str, Value]
    given: int
    receiver: Value | None = None

    def at(self, place: Place) -> Value | None:
        """One argument; None if the call leaves it out."""
        if isinstance(place, str):
            return self.named.get(place)
        return self.positional[place] if place < len(self.positional) else None

    @property
    def all(self) -> list[Value]:
        """All arguments."""
        return [*self.positional, *self.named.values()]

    def places(self, declaration: Declaration) -> tuple[Place, ...]:
        """The parameters that the derivative is with respect to."""
        return tuple(range(len(self.positional))) if declaration.wrt is None else declaration.wrt

    def excluded(self, lo: Lowerer, declaration: Declaration) -> list[tuple[str, ir.Atom]]:
        """The numbers and arrays for which no derivative is declared, each with a name for messages."""
        wrt = self.places(declaration)
        parts: list[tuple[str, Iterable[ir.Atom]]] = []
        for place in (*range(len(self.positional)), *self.named):
            value = self.at(place)
            assert value is not None
            name = name_of_place(declaration.fn, place)
            if place not in wrt:
                parts.append((name, differentiable_leaves(lo, value)))
            parts.append((f"what {name} captures", captured_by(lo, value)))
        if self.receiver is not None:
            parts.append(("the object", differentiable_leaves(lo, self.receiver)))
        return [
            (n, leaf)
            for n, leaves in parts
            for leaf in leaves
            if isinstance(leaf, ir.Var) and ir.carries_derivative(leaf.type)
        ]


def bound(
    lo: Lowerer,
    declaration: Declaration,
    args: list[Value],
    kwargs: dict[str, Value],
    receiver: Value | None,
    node: ast.AST | None,
) -> Arguments:
    """The arguments by position, as far as they can be, default values among them."""
    taken_by = declaration.pullback or declaration.differential or declaration.primal
    parameters = parameters_of(declaration.fn) or parameters_of(taken_by) or ()
    places = positional(parameters)
    most = most_positional(taken_by)
    found, named = list(args), dict(kwargs)
    by_name = {p.name for p in places[len(args) :] if p.kind is p.POSITIONAL_OR_KEYWORD}
    given = len(args) + len(by_name & named.keys())
    for place, parameter in enumerate(places[len(args) :], len(args)):
        if parameter.name in by_name and parameter.name in named:
            found.append(named.pop(parameter.name))
        elif has_value(parameter) and place < most:
            found.append(_default(lo, declaration.fn, parameter, node))
        else:
            break
    if taken_by is None or taken_by is declaration.primal:
        for parameter in parameters:  # an adjoint may name it
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in named and has_value(parameter):
                named[parameter.name] = _default(lo, declaration.fn, parameter, node)
    return Arguments(found, named, given, receiver)


def _default(lo: Lowerer, fn: Any, parameter: inspect.Parameter, node: ast.AST | None) -> Value:
    holder = function_with_defaults(fn)
    if not isinstance(holder, FunctionType):
        return ir.Const(parameter.default)
    if parameter.kind is parameter.KEYWORD_ONLY:
        key: int | str = parameter.name
    else:
        names = holder.__code__.co_varnames[: holder.__code__.co_argcount]
        key = names.index(parameter.name) - (len(names) - len(holder.__defaults__ or ()))
    return captured(lo, parameter.default, ("default", holder, key), parameter.name, node)


def refs_in(lo: Lowerer, value: Value, seen: set[Ref] | None = None) -> set[Ref]:
    """The objects and containers in a value."""
    seen = set() if seen is None else seen
    match value:
        case TupleValue(items=items) | Union(options=items):
            for item in items:
                refs_in(lo, item, seen)
        case Ref() if value not in seen:
            seen.add(value)
            record = lo.store[value]
            for _, part in record.parts if isinstance(record, Record) else ():
                refs_in(lo, part, seen)
    return seen
