"""Starred parts: of displays, of argument lists, of targets that take apart what they are assigned."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import types
from collections.abc import Callable, Collection, Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.opaque.arguments import any_carries
from adjoint.frontend.calls.opaque.library_classes import look_where_it_comes_from
from adjoint.frontend.data import containers, making
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.growing_tuples import note_growing_value
from adjoint.frontend.interpreter.values import (
    NONE,
    Closure,
    IteratorValue,
    Method,
    Partial,
    SliceValue,
    TupleValue,
    Value,
)
from adjoint.frontend.iterators.items import items_if_known, known_items
from adjoint.frontend.iterators.iterator_objects import iterated
from adjoint.frontend.iterators.iterators import drawn, lazy
from adjoint.frontend.library import python_functions
from adjoint.frontend.syntax.operations import apply_operator
from adjoint.records import dataclass
from adjoint.rules import registry
from adjoint.runtime import display
from adjoint.runtime.objects import check_least_length
from adjoint.sources.library_folders import is_installed, is_of_a_library
from adjoint.types.classes.annotations import signature
from adjoint.types.structure import home_of


def elements(lo: Lowerer, nodes: Sequence[ast.expr]) -> list[Value]:
    """The values of a display, starred parts spread out."""
    values: list[Value] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            values.extend(known_items(lo, lo.evaluate(node.value), node))
        else:
            values.append(lo.evaluate(node))
    return values


def list_display(lo: Lowerer, node: ast.List) -> Value:
    """``[x, *items]``"""
    parts = _listed(lo, node.elts, node)
    return _joined(lo, parts, node) if parts else making.new_list(lo, [], node)


def tuple_display(lo: Lowerer, node: ast.Tuple) -> Value:
    """``(x, *items)``"""
    parts = _parts(lo, node.elts, _tuple_of, lambda items, star: _counted(lo, tuple, items, star, node))
    return _joined(lo, parts, node) if parts else TupleValue(())


def printed(lo: Lowerer, node: ast.Call) -> tuple[Value, list[Any]]:
    """What ``print(*items)`` calls, and with what: of items of which the number is not known, with containers."""
    parts = _parts(lo, node.args, _tuple_of, lambda items, _: items)
    if all(isinstance(part, TupleValue) for part in parts):
        return ir.Const(print), [item for part in parts if isinstance(part, TupleValue) for item in part.items]
    return ir.Const(display.print_all), [*parts]


def _tuple_of(items: list[Value]) -> Value:
    return TupleValue(tuple(items), is_itself=True)


def _parts(
    lo: Lowerer,
    elements: Sequence[ast.expr],
    make: Callable[[list[Value]], Value],
    spread: Callable[[Value, ast.Starred], Value],
) -> list[Value]:
    """What elements come to, in parts: of each starred one of unknown length, and of those between."""
    parts: list[Value] = []
    items: list[Value] = []
    for element in elements:
        if not isinstance(element, ast.Starred):
            items.append(lo.evaluate(element))
            continue
        value = drawn(lo, lo.evaluate(element.value), element)
        if (known := items_if_known(lo, value, element)) is not None:
            items += known
            continue
        parts += [make(items)] if items else []
        parts.append(spread(value, element))
        items = []
    return [*parts, make(items)] if items else parts


def _listed(lo: Lowerer, elements: Sequence[ast.expr], node: ast.AST) -> list[Value]:
    return _parts(
        lo,
        elements,
        lambda items: making.new_list(lo, items, node),
        lambda items, star: _counted(lo, list, items, star, node),
    )


def _joined(lo: Lowerer, parts: list[Value], node: ast.AST) -> Value:
    """The sum of lists, or of tuples."""
    whole = parts[0]
    for part in parts[1:]:
        whole = apply_operator(lo, operator.add, [whole, part], node)
    return whole


def _made(lo: Lowerer, kind: type, items: Value, node: ast.AST) -> Value:
    """``kind(items)``"""
    return lo.call(ir.Const(kind), [items], {}, node)


def _counted(lo: Lowerer, kind: type, items: Value, star: ast.Starred, node: ast.AST) -> Value:
    """``kind(items)``, where the number of items is known at run time."""
    _refuse_uncountable(lo, items, star)
    return _made(lo, kind, items, node)


def _refuse_uncountable(lo: Lowerer, value: Value, node: ast.AST) -> None:
    if not isinstance(value, ir.Var) or not isinstance(value.type, (ir.Array, ir.List)):
        look_where_it_comes_from(lo, value)
        note_growing_value(lo, value)
        raise lo.problem("AD0301", node, "the number of items is not known here")


def columns(lo: Lowerer, node: ast.Call) -> Value | None:
    """What ``zip(*rows)`` gives; None where something else is handed to it.

    The rows may be tuples of one length, in a list that is known at run time only, or be known at run time only, too.
    """
    if node.keywords or len(node.args) != 1 or not isinstance(node.args[0], ast.Starred):
        return None
    star = node.args[0]
    rows = drawn(lo, lo.evaluate(star.value), star)
    lo.at(node)
    if (
        not isinstance(rows, ir.Var)
        or not isinstance(rows.type, ir.List)
        or not isinstance(rows.type.element, ir.Tuple)
    ):
        known = items_if_known(lo, rows, star)
        if known is not None:
            return lo.call(ir.Const(zip), known, {}, node)
        _refuse_uncountable(lo, rows, star)
        return lazy(python_functions.transposed, rows)
    lo.open.effect(check_least_length, rows, ir.Const(1))  # of no rows, nobody knows how many columns they have
    count = len(rows.type.element.items)
    found = []
    for place in range(count):
        with lo.one_of(place):
            found.append(python_functions.call(lo, python_functions.column, [rows, ir.Const(place)], node))
    return IteratorValue("iter", (TupleValue(tuple(map(making.as_tuple, found))),))


Asked = tuple[str, Any]
"""A parameter, and its default: as a value or itself; ``_NEEDED`` where it has none."""
_NEEDED = inspect.Parameter.empty

MAX_OPTIONAL = 8
"""For so many optional parameters, a call with a starred argument of unknown length is written out."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A starred argument that gives as many values as it has, which is known at run time: from least to most.

    ``text`` is the parameter that would take one more, but has a text where these are numbers.
    """

    value: Value
    node: ast.AST
    least: int
    most: int
    text: str | None = None


def _spread(value: Value, node: ast.AST, least: int, asked: Sequence[Asked], following: Sequence[ast.expr]) -> Spread:
    """What a starred argument gives to parameters from its own on: no number to one that takes a text."""
    most = len(asked) - len(following)
    texts = [place for place, each in enumerate(asked) if _takes_text(each)]
    if texts and _is_of_numbers(value):
        others = [place for place, each in enumerate(following, 1) if not _is_text(each)]
        before_text = texts[0] - max(others, default=0)
        if before_text < most:
            return Spread(value, node, least, before_text, asked[texts[0]][0])
    return Spread(value, node, least, most)


def _is_of_numbers(items: Value) -> bool:
    type_ = items.type if isinstance(items, ir.Var) else None
    return isinstance(type_.element if isinstance(type_, ir.List) else type_, (ir.Array, ir.Scalar))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def for_each_length(lo: Lowerer, args: list[Any], call: Callable[[list[Value]], Value], node: ast.AST) -> Value:
    """A call with a starred argument that may give one of several numbers of values: its length tells which."""
    place = next((place for place, value in enumerate(args) if isinstance(value, Spread)), None)
    if place is None:
        return call(args)
    spread = args[place]
    length = materialize(lo, containers.length(lo, spread.value, spread.node), spread.node)

    def too_many() -> Value:
        counted = f"{spread.least} to {spread.most}" if spread.least < spread.most else f"{spread.most}"
        said = f"{counted} values are taken by the starred argument"
        if spread.text is not None:
            said = f"{said}: {spread.text!r} is a text, and cannot be one of its numbers in a derivative"
        lo.stop(ir.Raise(lo.open.call(TypeError, ir.Const(said)), None, lo.span(node)))
        return ir.UNDEFINED

    def of_length(count: int) -> Value:
        if count > spread.most:
            return too_many()

        def call_with() -> Value:
            items = []
            for i in range(count):
                items.append(containers.subscript(lo, spread.value, ir.Const(i), spread.node))
                if lo.block is None:  # of so many it is known that they are not there
                    return ir.UNDEFINED
            return call([*args[:place], *items, *args[place + 1 :]])

        is_so = lo.open.call(operator.eq, length, ir.Const(count))
        return lo.branch(is_so, call_with, lambda: of_length(count + 1), node)

    lo.run_data.choices += 1
    try:
        return of_length(spread.least)
    finally:
        lo.run_data.choices -= 1


def arguments(lo: Lowerer, function: Value, node: ast.Call) -> list[Any]:
    """The positional arguments of a call; a starred one of unknown length gives as many as the function asks for."""
    values: list[Any] = []
    named = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
    for place, argument in enumerate(node.args):
        if not isinstance(argument, ast.Starred):
            values.append(lo.evaluate(argument))
            continue
        value = drawn(lo, lo.evaluate(argument.value), argument)
        known = items_if_known(lo, value, argument)
        if known is None:
            following = node.args[place + 1 :]
            together = _with_the_rest(lo, function, named, values, value, argument, following)
            if together is not None:
                return together
            asked = None if any(isinstance(other, ast.Starred) for other in following) else asked_for(function, named)
            others = len(values) + len(following)
            least = 0 if asked is None else sum(default is _NEEDED for _, default in asked)
            if asked is not None and 0 < len(asked) - least <= MAX_OPTIONAL:
                values.append(_spread(value, argument, max(least - others, 0), asked[len(values) :], following))
                continue
            missing = None if asked is None or least < len(asked) else least - others
            known = known_items(lo, value, argument, missing)
        values += known
    return values


def _with_the_rest(
    lo: Lowerer,
    function: Value,
    named: Collection[str],
    given: list[Value],
    value: Value,
    node: ast.AST,
    following: Sequence[ast.expr],
) -> list[Value] | None:
    """The arguments of a function that takes any number of values: the last is a tuple of those that are left.

    ``value`` is what a starred argument gives, ``following`` the arguments behind it. None where the function asks for
    a number of them, or is not known.
    """
    is_extreme = function in (ir.Const(max), ir.Const(min))
    positional = [] if is_extreme else _before_the_rest(function, any_carries(lo, [*given, value], {}))
    if positional is None or any(name in named for name in positional):
        return None
    if not isinstance(value, ir.Var) or not isinstance(value.type, (ir.Array, ir.List)):
        return None
    if following:
        value = _joined(lo, [_made(lo, list, value, node), *_listed(lo, following, node)], node)
    count = len(positional)
    first = max(count - len(given), 0)
    items = [containers.subscript(lo, value, ir.Const(i), node) for i in range(first)]
    left = containers.subscript(lo, value, SliceValue(ir.Const(first), NONE, NONE), node) if first else value
    if is_extreme and not given:
        return [left]  # as max(items) is max(*items)
    listed = _made(lo, list, left, node)
    if given[count:]:
        listed = _joined(lo, [making.new_list(lo, given[count:], node), listed], node)
    if is_extreme:
        return [listed]
    return [*given[:count], *items, IteratorValue("rest", (making.as_tuple(listed),))]


def _before_the_rest(function: Value, is_varied: bool) -> list[str] | None:
    """The positional parameters of a function before its ``*`` parameter; None where it has no such parameter.

    A library's function is looked into where it ``is_varied``: where what it is given may carry a derivative.
    """
    match function:
        case Closure(source=source):
            spec = source.node.args
            names = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)]
            needs_all = not function.defaults
            return names if spec.vararg is not None and needs_all else None
        case Method(function=inner):
            found = _before_the_rest(inner, is_varied)
            return found[1:] if found else None
        case ir.Const(value=type() as cls):
            made_by = inspect.getattr_static(cls, "__init__")
            taken = _before_the_rest(ir.Const(made_by), is_varied) if isinstance(made_by, types.FunctionType) else None
            return taken[1:] if taken else None
        case ir.Const(value=math.hypot):
            return []
        case ir.Const(value=types.FunctionType() as constant) if registry.rule_for(constant) is None:
            code = constant.__code__
            takes_any = code.co_flags & inspect.CO_VARARGS and not constant.__defaults__
            is_seen = not is_of_a_library(code.co_filename) or (is_varied and is_installed(code.co_filename))
            is_plain = takes_any and is_seen and not registry.is_defined(constant)
            return list(code.co_varnames[: code.co_argcount]) if is_plain else None
        case _:
            return None


def asked_for(function: Value, named: Collection[str]) -> list[Asked] | None:
    """The positional parameters of a function besides those that are named.

    None where they are not known, or where there is no end of them.
    """
    match function:
        case Closure(source=source, defaults=defaults):
            spec = source.node.args
            positional = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)]
            if spec.vararg is not None:
                return None
            known = [_NEEDED] * (len(positional) - len(defaults)) + [*defaults]
            return [asked for asked in zip(positional, known, strict=True) if asked[0] not in named]
        case Method(function=inner):
            found = asked_for(inner, named)
            return None if found is None else found[1:]
        case Partial(function=inner, args=args, kwargs=kwargs):
            found = asked_for(inner, {*named, *(name for name, _ in kwargs)})
            return None if found is None else found[len(args) :]
        case ir.Const(
            value=types.FunctionType() | types.BuiltinFunctionType() | types.MethodType() | type() as constant
        ):
            return _asked_by_signature(constant, named)
        case ir.Const(value=constant) if hasattr(constant, "numargs"):
            return _asked_by_signature(constant, named)
        case _:
            return None


def _asked_by_signature(constant: Any, named: Collection[str]) -> list[Asked] | None:
    try:
        parameters = signature(constant, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return _asked_by_distribution(constant, list(parameters), named)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [(p.name, p.default) for p in parameters if p.kind in kinds and p.name not in named]


def _asked_by_distribution(
    method: Any, parameters: Sequence[inspect.Parameter], named: Collection[str]
) -> list[Asked] | None:
    """The same of a method of SciPy's distributions: behind a place come the shapes, then a location and a scale."""
    receiver = getattr(method, "__self__", method)  # which is called itself for one of fixed parameters
    names = [parameter.name for parameter in parameters]
    if not hasattr(receiver, "numargs") or names[-2:] != ["args", "kwds"] or method == getattr(receiver, "rvs", None):
        return None
    shapes = (receiver.shapes or "").replace(",", " ").split()
    if len(shapes) != receiver.numargs or not home_of(type(receiver)).startswith("scipy.stats."):
        return None
    more = [("loc", 0.0)] if hasattr(receiver, "pmf") else [("loc", 0.0), ("scale", 1.0)]
    needed = [(name, _NEEDED) for name in (*names[:-2], *shapes)]
    return [asked for asked in (*needed, *more) if asked[0] not in named]


def _takes_text(asked: Asked) -> bool:
    """Whether the default of a parameter is a text."""
    default = asked[1]
    return isinstance(default.value if isinstance(default, ir.Const) else default, str)


def unpack(lo: Lowerer, target: ast.expr, value: Value, starred: int, count: int) -> list[Value]:
    """The values for ``count`` targets of which the one at ``starred`` takes as many as are left."""
    after = count - starred - 1
    value = drawn(lo, iterated(lo, value, target), target)
    items = items_if_known(lo, value, target)
    if items is None:
        value = (
            python_functions.call(lo, python_functions.copied, [value], target)
            if isinstance(value, IteratorValue)
            else value
        )
        return _unpack_unknown(lo, target, value, starred, after)
    if len(items) < starred + after:
        raise lo.mistake(ValueError, target, f"there are only {len(items)} values to unpack")
    middle = making.new_list(lo, items[starred : len(items) - after], target)
    return [*items[:starred], middle, *items[len(items) - after :]]


def _unpack_unknown(lo: Lowerer, target: ast.expr, value: Value, before: int, after: int) -> list[Value]:
    _refuse_uncountable(lo, value, target)
    lo.open.effect(check_least_length, value, ir.Const(before + after))  # type: ignore[arg-type]
    bounds = SliceValue(ir.Const(before), ir.Const(-after) if after else NONE, NONE)
    middle = containers.subscript(lo, value, bounds, target)
    return [
        *(containers.subscript(lo, value, ir.Const(place), target) for place in range(before)),
        _made(lo, list, middle, target),
        *(containers.subscript(lo, value, ir.Const(place), target) for place in range(-after, 0)),
    ]
