"""Calls of functions that have a rule: the arguments are bound, checked and materialized, and a call is emitted."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics.similar import did_you_mean
from adjoint.frontend.calls.emitted_calls import call_any
from adjoint.frontend.calls.empty_lists import see_items
from adjoint.frontend.calls.opaque.arguments import may_carry, refuse_objects
from adjoint.frontend.calls.operands import arrays, class_of_alien, is_inexact, stop_at_alien
from adjoint.frontend.data import making
from adjoint.frontend.data.tagged_items import may_hold_none, may_hold_placeholders
from adjoint.frontend.functions.parameters import misfit
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import NONE, GeneratorValue, IteratorValue, Record, Ref, TupleValue, Value
from adjoint.frontend.iterators.iterators import drawn
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python import filled_lists
from adjoint.frontend.objects.classes import is_object
from adjoint.frontend.objects.special_methods import said_array
from adjoint.rules import registry
from adjoint.rules.declarations import Declaration
from adjoint.rules.kinds import Bilinear, Elementwise, General, Linear, Rule
from adjoint.runtime.arithmetic.checks import check_casts
from adjoint.sources.library_folders import package_of
from adjoint.types.classes.annotations import signature
from adjoint.types.structure import CONTAINERS


def is_ruled(constant: Any) -> bool:
    """Whether it is declared how a function is differentiated."""
    return registry.declaration_for(constant) is not None or registry.rule_for(constant) is not None


def call_by_declaration(
    lo: Lowerer,
    declaration: Declaration,
    receiver: Value | None,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    from adjoint.frontend.declared.calls import call_declared  # lazy

    return call_declared(lo, declaration, args, kwargs, node, receiver)


def _refuse_arrays_for_numbers(lo: Lowerer, callee: Any, args: list[Value], node: ast.AST | None) -> None:
    """Refuses what functions of the module ``math`` do not take: they take numbers, and arrays of one element."""
    if getattr(callee, "__module__", None) not in ("math", "cmath"):
        return
    for value in args:
        kind = _kind_of_no_number(lo, value)
        if kind is not None:
            name, which = callee.__name__, repr(value.hint) if isinstance(value, ir.Var) and value.named else "this"
            own = {"pow": "power", "atan2": "arctan2", **{f"a{each}": f"arc{each}" for each in _ARCS}}.get(name, name)
            helps = (f"np.{own} takes {kind[1]}",) if hasattr(np, own) else ("call it for each element",)
            label = f"{callee.__module__}.{name}() takes a number, and {which} is {kind[0]}"
            raise lo.mistake(TypeError, node, label, helps=helps)


def _stop_at_none(lo: Lowerer, rule: Rule, operands: Sequence[Value], node: ast.AST | None) -> None:
    """Ends a path on which None is beside numbers where NumPy multiplies or computes element by element."""
    taken = operands[:2] if isinstance(rule, Bilinear) else operands if isinstance(rule, Elementwise) else ()
    if any(class_of_alien(value) is type(None) for value in taken) and any(map(is_inexact, taken)):
        stop_at_alien(lo, TypeError(f"unsupported operand type for {rule.name!r}: 'NoneType'"), node)


def _kind_of_no_number(lo: Lowerer, value: Value) -> tuple[str, str] | None:
    """What a value is that is no number, in the singular and in the plural; None for others."""
    match value:
        case ir.Var(type=ir.Array(dims=dims)) if "many" in (dims or ()):
            return "an array", "arrays"
        case ir.Var(type=ir.List()) | TupleValue():
            return "a list" if isinstance(value, ir.Var) else "a tuple", "arrays and lists"
    if isinstance(value, Ref):
        record = lo.store.get(value)
        if isinstance(record, Record) and record.cls in CONTAINERS:
            return f"a {record.cls.__name__}", "arrays and lists"
    return None


def _refuse_unknown_keyword(lo: Lowerer, callee: Any, name: str, keyword: str, node: ast.AST | None) -> None:
    """Refuses a keyword that a function of a library does not have at all."""
    try:
        known = signature(callee).parameters
    except (TypeError, ValueError):
        return
    if keyword in known or any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return
    label, helps = f"{name}() has no parameter {keyword!r}", did_you_mean(keyword, known, "{}=")
    raise lo.mistake(TypeError, node, label, code="AD0203", helps=helps, name=name)


_ARCS = ("sin", "cos", "tan", "sinh", "cosh", "tanh")


def call_rule(lo: Lowerer, callee: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """A call of a function that has a rule, with what it is told as a sequence spread out."""
    if lo.settings.tagged:
        args, kwargs = untagged(lo, args, node), dict(zip(kwargs, untagged(lo, [*kwargs.values()], node), strict=True))
    declaration = registry.declaration_for(callee)
    if declaration is not None:
        return call_by_declaration(lo, declaration, None, args, kwargs, node)
    rule = registry.rule_for(callee)
    assert rule is not None
    args = [_converted(lo, callee, value, node) for value in args]
    args, kwargs = _with_out_named(callee, rule, args, kwargs)
    if isinstance(callee, np.ufunc) and "casting" in kwargs:
        kwargs = _without_casts(lo, callee, args, kwargs, node)
    if isinstance(callee, np.ufunc) and kwargs:
        args, kwargs = _of_one_dtype(lo, callee, args, _without_defaults(kwargs), node)
    if kwargs.get("out") == NONE:
        kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    bound, named = rule.bind(args, kwargs)
    if "out" in named:
        return call_into(lo, callee, args, kwargs, node)
    if isinstance(callee, np.ufunc) and rule.results == 1 and "where" in kwargs and kwargs.keys() <= {"where", "out"}:
        return _somewhere(lo, callee, args, kwargs["where"], node)
    if isinstance(rule, Elementwise) and (named or len(bound) != len(rule.accepted)):
        taken = len(rule.parameters)
        if taken and (len(bound) > taken or len(bound) + len(named) < _needed(rule)):
            raise lo.mistake(TypeError, node, misfit(rule.name, taken, len(bound)), code="AD0203", name=rule.name)
    _refuse_arrays_for_numbers(lo, callee, args, node)
    if lo.run_data.choices or lo.settings.tagged:
        _stop_at_none(lo, rule, bound, node)
    uncovered = rule.unsupported(len(bound), tuple(named))
    if uncovered and any(may_carry(lo, value) for value in (*bound, *named.values())):
        _refuse_unknown_keyword(lo, callee, rule.name, uncovered[0], node)
        raise lo.problem("AD0204", node, f"{rule.name!r} has no derivative with the argument {uncovered[0]!r}")
    spread = registry.variadic(callee)
    if spread is not None and bound:
        items = _parts(lo, bound[0])
        if items is not None:
            later = list(bound[1:])
            names = [p.name for p in rule.parameters[1:]]
            named = {**dict(zip(names, later, strict=False)), **named}
            return call_rule(lo, spread, arrays(lo, items, node), named, node)
    observer = getattr(rule, "observes", False) or type(rule).__name__ in ("NoDerivative", "Observer")
    if isinstance(rule, (Elementwise, Linear, Bilinear, General)):
        refuse_objects(lo, rule, (*bound, *named.values()), node)
    named = {name: _known_dtype(lo, each, node) if name == "dtype" else each for name, each in named.items()}
    names = [*(parameter.name for parameter in rule.parameters), *("" for _ in bound)]
    placed = [_axes(lo, name, value) for name, value in zip(names, bound, strict=False)]
    atoms = [materialize(lo, value, node, observer=observer) for value in placed]
    pairs = {name: materialize(lo, _axes(lo, name, each), node, observer=observer) for name, each in named.items()}
    see_items(lo, callee, atoms, pairs, node)
    return call_any(lo, callee, atoms, node, **pairs)


def _converted(lo: Lowerer, callee: Any, value: Value, node: ast.AST | None) -> Value:
    """What NumPy makes of an object that says what array it is, and has no method of the function's name."""
    if not is_object(lo, value) or package_of(callee) != "numpy":
        return value
    return said_array(lo, value, (getattr(callee, "__name__", ""),), node) or value


def _known_dtype(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """The dtype of records, where a list says what fields they have."""
    items = making.list_items(lo, value)
    if items is None:
        return value
    atoms = [materialize(lo, item, node) for item in items]
    if not all(isinstance(atom, ir.Const) for atom in atoms):
        return value
    try:
        return ir.Const(np.dtype([atom.value for atom in atoms if isinstance(atom, ir.Const)]))
    except TypeError:
        return value


def untagged(lo: Lowerer, values: list[Value], node: ast.AST | None) -> list[Value]:
    """Lists in which nothing but None or [None] was beside items of one structure, as lists of these."""
    said = ir.Const("None lies among the items that a function takes for an array")

    def plain(value: Value) -> Value:
        if may_hold_none(value):
            return python_functions.call(lo, filled_lists.all_there, [value, said], node)
        if may_hold_placeholders(value):
            return python_functions.call(lo, filled_lists.no_lists_there, [value, said], node)
        return value

    return [plain(value) for value in values]


def _axes(lo: Lowerer, name: str, value: Value) -> Value:
    """Axes that are a tuple at run time, which NumPy does not take as a list."""
    return lo.open.call(tuple, value) if name in ("axis", "axes") and making.is_tuple(value) else value  # type: ignore[arg-type]


def _with_out_named(
    callee: Any, rule: Rule, args: list[Value], kwargs: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, the array that its result goes to by its name; of several results a tuple of arrays."""
    place = place_of_out(callee)
    if place is None or len(args) <= place:
        return args, kwargs
    if isinstance(callee, np.ufunc) and callee.nout > 1:
        missing = [NONE] * (callee.nout - (len(args) - place))
        return args[:place], {"out": TupleValue((*args[place:], *missing)), **kwargs}
    given = list(args[:place])
    while given and given[-1] == NONE and len(given) > len(rule.accepted):
        given.pop()
    later = [p.name for p in rule.parameters[place + 1 :]]
    return given, {"out": args[place], **dict(zip(later, args[place + 1 :], strict=False)), **kwargs}


_DEFAULTS: dict[str, tuple[Any, ...]] = {
    "order": ("K",),
    "casting": ("same_kind", "unsafe"),
    "subok": (True, False),
    "dtype": (None,),
    "out": (None,),
}
"""Keywords of ufuncs that change nothing: operands are plain arrays, and what is computed is not cast."""


def _without_defaults(kwargs: dict[str, Value]) -> dict[str, Value]:
    if kwargs.get("out", NONE) != NONE:
        return kwargs
    return {name: value for name, value in kwargs.items() if not _is_one_of(value, _DEFAULTS.get(name, ()))}


def _without_casts(
    lo: Lowerer, callee: np.ufunc, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> dict[str, Value]:
    """Keywords without that for casts, where nothing is cast, or it is asked at run time that nothing else is."""
    operands = [value for value in (*args, kwargs.get("out", NONE)) if value != NONE]
    rest = {name: value for name, value in kwargs.items() if name != "casting"}
    if _are_doubles(operands):
        return rest
    narrower = any(kwargs["casting"] == ir.Const(each) for each in ("no", "equiv", "safe"))
    if not narrower or "dtype" in kwargs or not all(isinstance(type_of(value), ir.Array) for value in operands):
        return kwargs
    atoms = [materialize(lo, value, node) for value in (kwargs["casting"], *operands)]
    lo.emit(ir.Call((), check_casts, (ir.Const(callee), *atoms), (), lo.span(node)))
    return rest


def _are_doubles(values: Iterable[Value]) -> bool:
    """Whether all are floats of Python or arrays of doubles; or None, where no array is given."""
    types_ = [type_of(value) for value in values if value != NONE]
    return all(type_ == ir.FLOAT or getattr(type_, "dtype", None) == np.float64 for type_ in types_)


def _is_one_of(value: Value, constants: tuple[Any, ...]) -> bool:
    return any(value == ir.Const(each) for each in constants)


def _of_one_dtype(
    lo: Lowerer, callee: np.ufunc, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[list[Value], dict[str, Value]]:
    """The operands as ``dtype=`` has them, where a ufunc computes in floats or complex numbers of that dtype."""
    told = kwargs.get("dtype")
    if not isinstance(told, ir.Const) or kwargs.keys() != {"dtype"} or len(args) != callee.nin:
        return args, kwargs
    try:
        kind = np.dtype(told.value).char
    except TypeError:
        return args, kwargs
    if kind not in "fdD" or f"{kind * callee.nin}->{kind}" not in callee.types:
        return args, kwargs
    return [lo.call(ir.Const(np.asarray), [arg], {"dtype": told}, node) for arg in args], {}


@functools.lru_cache(maxsize=512)
def place_of_out(callee: Any) -> int | None:
    """Which positional argument of a function of NumPy is the array that the result goes to."""
    if isinstance(callee, np.ufunc):
        return callee.nin
    if package_of(callee) != "numpy":
        return None
    try:
        parameters = signature(callee).parameters.values()
    except (TypeError, ValueError):
        return None
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return positional.index("out") if "out" in positional else None


def _needed(rule: Elementwise) -> int:
    return sum(parameter.default is parameter.empty for parameter in rule.parameters)


def call_into(lo: Lowerer, callee: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """A call of NumPy that says where its result goes: with ``out=None`` to memory of its own."""
    from adjoint.frontend.library.arrays.writers import into  # lazy

    rest = dict(kwargs)
    out = rest.pop("out")
    where = rest.pop("where", ir.Const(True)) if isinstance(callee, np.ufunc) and out != NONE else ir.Const(True)

    def compute() -> Value:
        return lo.call(ir.Const(callee), args, rest, node)

    return compute() if out == NONE else into(lo, compute, callee, args, out, where, node)


def _somewhere(lo: Lowerer, callee: Any, args: list[Value], where: Value, node: ast.AST | None) -> Value:
    from adjoint.frontend.library.arrays.writers import computed_somewhere  # lazy

    if where == ir.Const(True):
        return call_rule(lo, callee, args, {}, node)
    return computed_somewhere(lo, callee, args, where, node)


def _parts(lo: Lowerer, value: Value) -> tuple[Value, ...] | None:
    if isinstance(value, (GeneratorValue, IteratorValue)):
        value = drawn(lo, value, None)
    return value.items if isinstance(value, TupleValue) else making.list_items(lo, value)
