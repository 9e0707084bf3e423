"""Functions of series: calls in a function lifted to them, and recurrences from the derivatives that rules tell."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import BuiltinMethodType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.analysis.dependence.taint import is_text
from adjoint.analysis.effects import effects_of
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.declarations.function_values import Fn, parts_of
from adjoint.diagnostics import error
from adjoint.differentiation.finish import finish
from adjoint.differentiation.memory.slots import is_container
from adjoint.differentiation.memory.structural import roles_of
from adjoint.differentiation.reverse import expand
from adjoint.differentiation.rules.splice import splice
from adjoint.frontend.differentiation.taylor.of_declared import DeclaredSeries, of_opaque, with_declared_kept
from adjoint.ir.builder import Builder
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.rules.declarations import declaration_for
from adjoint.rules.kinds import Bilinear, Constant, Elementwise, General, Linear, NoDerivative, Observer
from adjoint.rules.registry import rule_for
from adjoint.rules.types_of_values import abstract
from adjoint.rules.typing import type_of_call
from adjoint.runtime.array_functions.sequences import array_of
from adjoint.runtime.functions import called
from adjoint.runtime.taylor.functions import Lifted, Told
from adjoint.runtime.taylor.power_series import product_by
from adjoint.runtime.taylor.series import (
    RECURRENCES,
    NotCovered,
    Series,
    coefficient,
    derived,
    holds_series,
    order_in,
    value_of,
)
from adjoint.runtime.taylor.solved import solved

_AS_THEY_ARE = (range, len, list, tuple, dict, zip, enumerate, reversed, slice, iter, next, isinstance, type, bool, id)
"""Functions of Python that take series as they take anything."""


def of_series(function: ir.Function) -> ir.Function:
    """The same, with its derivatives written out."""
    return lifted(expand(with_declared_kept(function, of_series, {})))


def lifted(function: ir.Function, definitions: dict[ir.Definition, ir.Definition] | None = None) -> ir.Function:
    """A function for whose numbers and arrays series may stand, and those that it calls, which may call themselves."""
    known = {} if definitions is None else definitions
    varied = varying(function.body, function.params)
    written = {
        atom.type.storage.find() for atom in varied if isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array)
    }

    def block(old: ir.Block) -> ir.Block:
        statements = tuple(
            _lifted(map_blocks(statement, block), varied, written, known) for statement in old.statements
        )
        return ir.Block(statements, rebuild_terminator(old.terminator, lambda atom: atom, block))

    return ir.Function(function.name, function.params, block(function.body), function.doc)


def _lifted(
    statement: ir.Statement,
    varied: set[ir.Atom],
    written: set[ir.Storage],
    definitions: dict[ir.Definition, ir.Definition],
) -> ir.Statement:
    if isinstance(statement, ir.Store) and statement.mode == "add_at" and statement.base in varied:
        raise error("AD0423", statement.span, "an array is added to through an index that may repeat")
    if not isinstance(statement, ir.Call):
        return statement
    callee = statement.callee
    if isinstance(callee, ir.Definition):
        called = _lifted_definition(callee, definitions)
        return ir.Call(statement.targets, called, statement.args, statement.kwargs, statement.span)
    if isinstance(callee, (ir.Declared, ir.Derived, ir.Function)):
        raise NotCovered("a function whose derivative takes derivatives of another one")
    if isinstance(callee, DeclaredSeries):
        return statement
    if callee not in _AS_THEY_ARE and _tells(statement):
        return ir.Call(statement.targets, Told(callee), statement.args, statement.kwargs, statement.span)
    if _takes_anything(statement):
        return statement
    made = _is_written_later(statement, written)
    return ir.Call(statement.targets, Lifted(callee, made), statement.args, statement.kwargs, statement.span)


def _lifted_definition(definition: ir.Definition, definitions: dict[ir.Definition, ir.Definition]) -> ir.Definition:
    if definition not in definitions:
        assert definition.function is not None
        made = definitions[definition] = ir.Definition(definition.name)
        made.function = lifted(definition.function, definitions)
    return definitions[definition]


def _tells(call: ir.Call) -> bool:
    """Whether a call only tells somebody of numbers: it prints, or makes a text or an exception."""
    callee = call.callee
    if callee is operator.mod:
        return _is_text(call.args[0])
    if isinstance(callee, BuiltinMethodType) and isinstance(callee.__self__, str):
        return True
    is_exception = isinstance(callee, type) and issubclass(callee, BaseException)
    return is_exception or isinstance(rule_for(callee), Observer)


def _takes_anything(call: ir.Call) -> bool:
    if getattr(call.callee, "__module__", None) == operator.add.__module__ or call.callee in _AS_THEY_ARE:
        return True
    return roles_of(call, is_container) is not None


def _is_text(atom: ir.Atom) -> bool:
    return is_text(atom) or (isinstance(atom, ir.Const) and isinstance(atom.value, (str, bytes)))


def _is_written_later(call: ir.Call, written: set[ir.Storage]) -> bool:
    """Whether a call makes an array to which something is stored that varies."""
    if len(call.targets) != 1 or not isinstance(call.targets[0].type, ir.Array):
        return False
    storage = call.targets[0].type.storage
    return storage.written and storage.find() in written and effects_of(call).fresh


# Recurrences


def _of_function_value(function: Fn[..., Any], args: tuple[Any, ...], is_written: bool) -> Any:
    """The series of a function value that is known only at run time: those of the function that it carries."""
    if is_written:
        raise NotCovered("a function value beside memory that is written")
    found = RECURRENCES["declared"](function if function.declared else function.function, args)
    signature = function.signature
    return found if signature is None or parts_of(signature.result) is None else tuple(_flat(found))


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def recurrence(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call with series among its arguments, from the rule of its callee."""
    if callee is called:
        return _of_function_value(args[0], args[1:], bool(kwargs))
    rule = rule_for(callee)
    name = getattr(callee, "__name__", repr(callee))
    if rule is None and declaration_for(callee) is not None:
        return of_opaque(callee, args, kwargs, RECURRENCES["declared"])
    if rule is None or rule.writes:
        raise NotCovered(f"{name!r}")
    bound, named = rule.bind(args, kwargs, lambda default: default)
    if isinstance(rule, (Constant, NoDerivative)):
        if isinstance(rule, Constant) and any(np.iscomplexobj(value_of(arg)) for arg in bound if holds_series(arg)):
            raise NotCovered(f"{name!r} of complex numbers")
        return callee(*map(value_of, bound), **{key: value_of(value) for key, value in named.items()})
    fixed = (bound[place] for place, _ in rule.settings(len(bound)))
    if any(map(holds_series, (*named.values(), *fixed))) or rule.unsupported(len(bound), tuple(named)):
        raise NotCovered(f"{name!r} with these arguments")
    if callee in _LINEAR_BESIDES or (callee is np.einsum and len(bound) == 2):
        return _linear(range(1, len(bound)), callee, bound, named)
    match rule:
        case Linear():
            return _linear(range(len(bound)) if rule.wrt is None else rule.wrt, callee, bound, named)
        case Bilinear():
            series = product_by(lambda a, b: callee(a, b, *bound[2:], **named))
            return series(bound[0], bound[1])
        case Elementwise():
            return _elementwise(rule, callee, bound, named)
        case General():
            return _general(rule, callee, bound, named)
        case _:
            raise NotCovered(f"{name!r}")


RECURRENCES["find"] = recurrence


_LINEAR_BESIDES = (array_of,)
"""Functions that are linear in all arguments but the first, which their rules do not say."""


def _linear(wrt: Sequence[int], callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    order = order_in(args)

    def part(place: int) -> Any:
        at = [coefficient(arg, place) if k in wrt else value_of(arg) for k, arg in enumerate(args)]
        return callee(*at, **kwargs)

    first = part(0)
    if not isinstance(first, (tuple, list)):
        return Series(order, [first], part)
    parts = {0: first}

    def entry(which: int, place: int) -> Any:
        if place not in parts:
            parts[place] = part(place)
        return parts[place][which]

    found = [Series(order, [value], lambda place, which=k: entry(which, place)) for k, value in enumerate(first)]  # type: ignore[misc]
    return type(first)(found)


def _elementwise(rule: Elementwise, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs:
        raise NotCovered(f"{rule.name!r} with named arguments")
    ranks = [np.ndim(value_of(arg)) for arg in args]
    constants = {place: arg for place, arg in enumerate(args) if type(arg) in (int, float)}
    form = rule.form(ranks, constants)
    assert form is not None
    varied = [place for place, arg in enumerate(args) if holds_series(arg)]

    def right(y: Any) -> Any:
        total: Any = None
        for place in varied:
            along = derived(args[place])
            if rule.scaled is not None:
                part = spliced(form, (along, *args, y), place)
            else:
                partial = spliced(form, (*args, y), place)
                part = along if isinstance(partial, (int, float)) and partial == 1 else partial * along
            total = part if total is None else total + part
        return total

    return solved(callee, args, {}, 1, right)


def _general(rule: General, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    jvp = rule.jvp
    if jvp is None or any(isinstance(arg, list) or (isinstance(arg, tuple) and holds_series(arg)) for arg in args):
        raise NotCovered(f"{rule.name!r}")

    def right(y: Any) -> Any:
        dots = tuple(derived(arg) if _is_number(arg) else None for arg in args)
        return spliced(jvp, (dots, y, *args), None, kwargs)

    return solved(callee, args, kwargs, rule.results, right)


def _is_number(value: Any) -> bool:
    value = value_of(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.floating, np.complexfloating))


# Functions of rules, applied to series


def spliced(form: Any, args: tuple[Any, ...], entry: int | None, kwargs: dict[str, Any] | None = None) -> Any:
    """What a function of a rule returns for series: one entry of it, or all where ``entry`` is None."""
    taken: list[Any] = []
    kinds = tuple(_kind(arg, taken) for arg in args)
    named = tuple((key, ir.Const(value)) for key, value in sorted((kwargs or {}).items()))
    try:
        function = _compiled(form, kinds, entry, named)
    except TypeError:  # not hashable: an array among the constants
        function = _compiled.__wrapped__(form, kinds, entry, named)
    return function(*taken)


Kind = Any
"""The type of an argument, a constant, None, or a tuple of these."""


def _kind(value: Any, taken: list[Any]) -> Kind:
    if value is None:
        return None
    if isinstance(value, tuple) and any(map(_is_no_constant, value)):
        return tuple(_kind(part, taken) for part in value)
    if isinstance(value, (Series, np.ndarray, np.generic)):
        taken.append(value)
        return abstract(value_of(value))
    return ir.Const(value)


def _is_no_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_no_constant, value))
    return value is None or isinstance(value, (Series, np.ndarray, np.generic))


@lru_cache(maxsize=1024)
def _compiled(form: Any, kinds: tuple[Kind, ...], entry: int | None, kwargs: tuple[tuple[str, ir.Const], ...]) -> Any:
    params: list[ir.Var] = []
    builder = Builder(type_of_call)
    result = splice(builder, form, [_atom(kind, params) for kind in kinds], dict(kwargs))
    if entry is not None and isinstance(result, tuple):
        result = result[entry]
    several = isinstance(result, tuple)
    values: Sequence[Any] = result if isinstance(result, tuple) else (result,)
    if any(value is None for value in values):
        raise NotCovered(f"a derivative in {getattr(form, '__qualname__', form)!r}")
    body = ir.Block(tuple(builder.statements), ir.Return(tuple(values)))
    function = load(emit(finish(lifted(ir.Function("right_hand_side", tuple(params), body)))))
    if several and len(values) == 1:
        return lambda *args: (function(*args),)
    return function


def _atom(kind: Kind, params: list[ir.Var]) -> Any:
    if kind is None or isinstance(kind, ir.Const):
        return kind
    if isinstance(kind, tuple):
        return tuple(_atom(part, params) for part in kind)
    assert isinstance(kind, ir.Type)
    param = ir.Var(f"x_{len(params)}" if not isinstance(kind, ir.Scalar) else f"s_{len(params)}", kind, True)
    params.append(param)
    return param


__all__ = ["lifted", "of_series", "recurrence", "spliced"]
