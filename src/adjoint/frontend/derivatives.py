"""Differential operators inside the code that is lowered.

A derivative is a call like any other: the function is lowered with fresh parameters for what it is differentiated
with respect to; whatever else it uses becomes further parameters, so that captured variables are differentiated by
the operators around.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adjoint.analysis.varying import varying
from adjoint.diagnostics import DifferentiationError, Span, diagnostic
from adjoint.frontend import shapes
from adjoint.frontend.core import Lowerer, Problem
from adjoint.frontend.source import FunctionSource
from adjoint.frontend.values import (
    NONE,
    Closure,
    Method,
    Operator,
    Partial,
    Record,
    Ref,
    TupleValue,
    Union,
    Value,
    list_record,
)
from adjoint.ir.nodes import Atom, Block, Call, Const, Derived, Function, Return, Var
from adjoint.ir.types import (
    FLOAT,
    Array,
    Dim,
    List,
    Number,
    Opaque,
    Scalar,
    Tuple,
    Type,
    carries_derivative,
    is_float_dtype,
    fresh,
    is_handle,
)
from adjoint.ir.walk import free_vars, inline, leaves
from adjoint.runtime import results, tangents
from adjoint.types.vectors import tangent_class

MARK = "__adjoint_operator__"


def is_operator(value: Any) -> bool:
    """Whether ``value`` is a differential operator or what one made of a function."""
    return getattr(value, MARK, None) is not None


def operator_of(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """What a call of ``constant`` means where it is a differential operator, or a derivative made by one."""
    kind = getattr(constant, MARK, None)
    if kind is None:
        return None
    if not isinstance(kind, str):
        kind, function, options = kind
        from adjoint.frontend.inputs import captured

        path = ("root",) if function is lo.run_data.root else ("object", function)
        inner = captured(lo, function, path, "f", node)
        return call_operator(lo, Operator(kind, inner, options), args, kwargs, node)
    if kind in ("vjp", "jvp", "hvp"):
        return _immediate(lo, kind, args, kwargs, node)
    function_value, options = args[0] if args else kwargs["f"], _options(lo, args[1:], kwargs, node)
    return Operator(kind, function_value, options)


def _options(
    lo: Lowerer, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[tuple[str, Any], ...]:
    from adjoint.frontend.materialize import materialize

    options: dict[str, Any] = {}
    named = {**({"wrt": args[0]} if args else {}), **kwargs}
    for name, value in named.items():
        if name == "f":
            continue
        atom = materialize(lo, value, node)
        if not isinstance(atom, Const):
            raise lo.problem("AD0301", node, f"the option {name!r} of a differential operator is not known here")
        options[name] = atom.value
    return tuple(sorted(options.items()))


def call_operator(
    lo: Lowerer, operator: Operator, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of a derivative."""
    options = dict(operator.options)
    wrt = options.get("wrt", 0)
    has_aux = bool(options.get("has_aux", False))
    if operator.kind in ("grad", "value_and_grad"):
        return _gradient(lo, operator, wrt, has_aux, args, kwargs, node)
    from adjoint.frontend import library
    from adjoint.runtime import jacobians

    names = positions(lo, operator.function, wrt, args, kwargs, node)
    if len(names) != 1 or isinstance(wrt, (tuple, list)) or isinstance(names[0], str):
        raise lo.problem("AD0301", node, f"{operator.kind!r} inside other code takes one positional argument")
    body = {"jacobian": jacobians.jacobian_of, "hessian": jacobians.hessian_of}[operator.kind]
    return library.call(lo, body, [operator.function, TupleValue(tuple(args)), Const(names[0])], node)


# -- which arguments --------------------------------------------------------------------------------------------------


def parameter_names(lo: Lowerer, function: Value, node: ast.AST | None) -> list[str]:
    """The names of the positional parameters of a function."""
    from adjoint.frontend import objects, source
    from adjoint.frontend.calls import closure_of

    match function:
        case Closure():
            spec = function.source.node.args
            return [parameter.arg for parameter in [*spec.posonlyargs, *spec.args]]
        case Method():
            return parameter_names(lo, function.function, node)[1:]
        case Partial():
            return parameter_names(lo, function.function, node)[len(function.args) :]
        case Operator():
            return parameter_names(lo, function.function, node)
        case Const(value=constant):
            mark = getattr(constant, MARK, None)
            if isinstance(mark, tuple):
                return parameter_names(lo, Const(mark[1]), node)
            found = source.underlying(constant)
            if found is not None:
                names = parameter_names(lo, closure_of(lo, found, node), node)
                return names[1:] if hasattr(constant, "__self__") else names
    method = objects.special_method(lo, function, "__call__")
    return [] if method is None else parameter_names(lo, method, node)


def _keyword_only_names(function: Value) -> tuple[str, ...]:
    """The names of the parameters of a function object that can only be given by name."""
    from adjoint.frontend import source

    found = source.underlying(function.value) if isinstance(function, Const) else None
    if found is None:
        return ()
    code = found.__code__
    return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


def positions(
    lo: Lowerer,
    function: Value,
    wrt: Any,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> list[int | str]:
    """The arguments that ``wrt`` means: indices of positional ones, names of those given by name."""
    chosen = list(wrt) if isinstance(wrt, (tuple, list)) else [wrt]
    names = parameter_names(lo, function, node)
    places: list[int | str] = []
    for choice in chosen:
        place = _position(lo, function, choice, names, len(args), kwargs, node)
        if place in places:
            raise _refusal(lo, "AD0405", function, node, f"wrt={wrt!r} names the argument {choice!r} twice")
        places.append(place)
    return places


def _position(
    lo: Lowerer,
    function: Value,
    choice: Any,
    names: Sequence[str],
    count: int,
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> int | str:
    if isinstance(choice, str):
        if choice in kwargs:
            return choice
        if choice in names and names.index(choice) < count:
            return names.index(choice)
        known = dict.fromkeys([*names, *_keyword_only_names(function), *kwargs])
        missing = "is not given in this call" if choice in known else "is not among its parameters"
        label = f"{choice!r} {missing}: {', '.join(map(repr, known))}"
    elif isinstance(choice, int) and not isinstance(choice, bool):
        index = choice + count if choice < 0 else choice
        if 0 <= index < count:
            return index
        if 0 <= index < len(names) and names[index] in kwargs:
            return names[index]
        given = "1 positional argument" if count == 1 else f"{count} positional arguments"
        label = f"wrt={choice!r}, but the call has {given}"
    else:
        label = f"wrt={choice!r} is neither an index nor a name"
    raise _refusal(lo, "AD0405", function, node, label)


def _refusal(
    lo: Lowerer,
    code: str,
    function: Value,
    node: ast.AST | None,
    label: str,
    *,
    place: int | str | None = None,
    helps: Sequence[str] | None = None,
    **fields: object,
) -> Problem:
    """A problem with a function as a whole, or with a parameter: at the definition where the user asked for it."""
    source = None if node is not None else _source_of(function)
    if source is None:
        return lo.problem(code, node, label, helps=helps, **fields)
    found = _parameter_node(function, place)
    span = source.heading if found is None else source.span(found)
    return Problem(diagnostic(code, span, label, helps=helps, **fields))


def _source_of(function: Value) -> FunctionSource | None:
    from adjoint.frontend import source

    match function:
        case Closure():
            return function.source
        case Method() | Partial() | Operator():
            return _source_of(function.function)
        case Const(value=constant) if source.underlying(constant) is not None:
            return source.find(constant)
        case _:
            return None


def _parameter_node(function: Value, place: int | str | None) -> ast.arg | None:
    source = _source_of(function)
    if source is None or place is None or isinstance(function, (Partial, Operator)):
        return None
    spec = source.node.args
    parameters = [*spec.posonlyargs, *spec.args]
    if isinstance(place, str):
        return next((node for node in [*parameters, *spec.kwonlyargs] if node.arg == place), None)
    bound = isinstance(function, Method) or (isinstance(function, Const) and hasattr(function.value, "__self__"))
    place += bound
    return parameters[place] if place < len(parameters) else None


# -- fresh parameters -------------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Active:
    """Fresh parameters for the differentiable leaves of some arguments, and the atoms they stand for."""

    params: list[Var]
    atoms: list[Atom]
    copies: dict[Ref, Ref] = field(default_factory=dict)


def activate(lo: Lowerer, value: Value, active: Active, hint: str) -> Value:
    """A copy of ``value`` whose differentiable leaves are fresh parameters."""
    match value:
        case Var(type=type_) if carries_derivative(type_):
            return _parameter(value, Var(value.hint, type_, True), active)
        case Const(value=constant) if isinstance(constant, float):
            return _parameter(value, Var(hint, FLOAT, True), active)
        case TupleValue(items=items, cls=cls):
            names = getattr(cls, "_fields", None)
            return TupleValue(
                tuple(
                    activate(lo, item, active, names[i] if names else f"{hint}_{i}") for i, item in enumerate(items)
                ),
                cls,
            )
        case Ref():
            if value in active.copies:
                return active.copies[value]
            record = lo.store[value]
            assert isinstance(record, Record)
            copy = active.copies[value] = Ref(value.site, value.origin)
            lo.store[copy] = Record(
                record.cls,
                tuple((key, activate(lo, part, active, key if isinstance(key, str) else hint)) for key, part in record.parts),
            )
            return copy
        case Union():
            return Union(value.tag, tuple(activate(lo, option, active, hint) for option in value.options))
        case _:
            return value


def _parameter(atom: Atom, param: Var, active: Active) -> Var:
    active.params.append(param)
    active.atoms.append(atom)
    return param


@dataclass(eq=False, slots=True)
class Inner:
    """A function to differentiate: its results are the leaves of ``shape``."""

    function: Function
    atoms: tuple[Atom, ...]
    """The arguments of the function: the active ones first."""
    count: int
    """How many are active."""
    shape: shapes.Shape
    results: tuple[Type, ...]


def lower_inner(
    lo: Lowerer,
    function: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    places: Sequence[int | str],
    node: ast.AST | None,
) -> Inner:
    """Lowers a function with the arguments at ``places`` as fresh parameters."""
    from adjoint.frontend.calls import call_value

    outer_block, outer_store = lo.open, lo.store
    root = lo.fork(outer_store)
    names = parameter_names(lo, function, node)
    active = Active([], [])
    new_args, new_kwargs = list(args), dict(kwargs)
    for place in places:
        active.copies.clear()  # arguments are varied one by one, also where one object is passed twice
        if isinstance(place, str):
            new_kwargs[place] = activate(lo, kwargs[place], active, place)
        else:
            hint = names[place] if place < len(names) else "x"
            new_args[place] = activate(lo, args[place], active, hint)
    before = dict(lo.store)
    with lo.region("function") as region:
        value = call_value(lo, function, new_args, new_kwargs, node)
        lo.leave("return", value)
    if not region.exits:
        block = root.seal()
        _check_outside_writes(lo, block, active.params)
        raise _refusal(lo, "AD0407", function, node, "this never returns: every path raises an exception, or has no end")
    shape = lo.join_shapes([_as_result(shapes.shape_of(leaf.value, leaf.store)) for leaf in region.exits])
    for leaf in region.exits:
        _check_effects(lo, before, leaf.store, node)
    block = lo.finish(region, root, lambda leaf: tuple(shapes.flatten(leaf.value, shape, leaf.store)))
    lo.block, lo.store = outer_block, outer_store
    own = set(active.params)
    free = tuple(var for var in free_vars(block) if var not in own)
    inner_free = {var: Var(var.hint, var.type, var.named) for var in free}
    from adjoint.ir.walk import substitute

    if free:
        block = substitute(block, inner_free)
    lowered = Function(_name_of(function), (*active.params, *inner_free.values()), block)
    _check_outside_writes(lo, block, active.params)
    _check_results(lo, function, lowered, region.exits, shape, active.params, node)
    types = tuple(type_ for type_, _ in shapes.leaf_types(shape, ""))
    return Inner(lowered, (*active.atoms, *free), len(active.params), shape, types)


_INACTIVE = (bool, int, str, bytes, type(None), type, np.dtype)


def _check_results(
    lo: Lowerer,
    function: Value,
    lowered: Function,
    exits: Sequence[Any],
    shape: shapes.Shape,
    params: Sequence[Var],
    node: ast.AST | None,
) -> None:
    """Refuses results that vary but of which it is not known what they are: their derivative would be lost."""
    unknown = [
        place
        for place, (type_, _) in enumerate(shapes.leaf_types(shape, ""))
        if isinstance(type_, Opaque) and not (type_.cls is not None and issubclass(type_.cls, _INACTIVE))
    ]
    if not unknown:
        return
    varied = varying(lowered.body, params)
    for leaf in exits:
        atoms = list(shapes.flatten(leaf.value, shape, leaf.store))
        if any(atoms[place] in varied for place in unknown):
            from adjoint.transform.dependence import Dependence

            problems = Dependence(lowered, range(len(params)), unknown).problems
            if problems:
                raise DifferentiationError(problems)
            label = "what this returns depends on the arguments, but its kind is not known"
            raise _refusal(lo, "AD0401", function, node, label)


def _check_outside_writes(lo: Lowerer, block: Block, params: Sequence[Var]) -> None:
    """What outlives the call may be written, but not with what varies."""
    if not lo.run_data.outside_writes:
        return
    varied = varying(block, params)
    found = [
        diagnostic("AD0302", span, "what is stored here depends on the arguments")
        for _, value, span in lo.run_data.outside_writes
        if value in varied
    ]
    if found:
        raise DifferentiationError(*found)


def _as_result(shape: shapes.Shape) -> shapes.Shape:
    """Constants among the results are results all the same."""
    match shape:
        case shapes.Same(value=Const(value=bool() | int() | float() | complex() as constant)):
            number = isinstance(constant, (int, float)) and not isinstance(constant, bool)
            return shapes.Leaf(FLOAT if number else shapes.type_of(Const(constant)))
        case shapes.TupleShape(cls=cls, items=items):
            return shapes.TupleShape(cls, tuple(map(_as_result, items)))
        case shapes.RecordShape(cls=cls, keys=keys, items=items):
            return shapes.RecordShape(cls, keys, tuple(map(_as_result, items)))
        case shapes.RefShape(record=record, sites=sites):
            new = _as_result(record)
            assert isinstance(new, shapes.RecordShape)
            return shapes.RefShape(None, new, sites)
        case _:
            return shape


def _check_effects(lo: Lowerer, before: dict[Any, Value], after: dict[Any, Value], node: ast.AST | None) -> None:
    """What an inner function changes outside of itself would be lost."""
    if not lo.regions:
        return
    for key, value in after.items():
        if isinstance(key, Ref) and key.origin is not None:
            continue  # an argument of the whole: written through, to what is computed from its value on entry
        if key in before and before[key] is not value:
            raise lo.problem(
                "AD0302", node, "the function that is differentiated here changes a variable or object from outside"
            )


def _name_of(function: Value) -> str:
    match function:
        case Closure():
            return function.source.name if function.source.name.isidentifier() else "function"
        case Method() | Partial() | Operator():
            return _name_of(function.function)
        case Const(value=constant):
            mark = getattr(constant, MARK, None)
            if isinstance(mark, tuple):
                return f"{_name_of(Const(mark[1]))}_{mark[0]}"
            name = getattr(constant, "__name__", type(constant).__name__)
            return name if name.isidentifier() else "function"
        case _:
            return "function"


# -- gradients --------------------------------------------------------------------------------------------------------


def _gradient(
    lo: Lowerer,
    operator: Operator,
    wrt: Any,
    has_aux: bool,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    places = positions(lo, operator.function, wrt, args, kwargs, node)
    for place in places:
        value = kwargs[place] if isinstance(place, str) else args[place]
        check_differentiable(lo, operator.function, value, place, node)
    inner = lower_inner(lo, operator.function, args, kwargs, places, node)
    value_shape = inner.shape
    if has_aux:
        if not isinstance(value_shape, shapes.TupleShape) or len(value_shape.items) != 2:
            label = "with has_aux=True the function must return a pair (value, aux)"
            raise _refusal(lo, "AD0407", operator.function, node, label)
        value_shape = value_shape.items[0]
    seed = _seed(lo, operator.function, inner, value_shape, node)
    if node is None and not lo.regions:
        _warn_of_zero(lo, operator.function, inner, args, kwargs, places)
    wrt_indices = tuple(range(inner.count))
    targets, cotangents = _targets(inner, "value")
    derived = Derived(inner.function, wrt_indices, (0,))
    lo.emit(Call((*targets, *cotangents), derived, (*inner.atoms, seed), (), lo.span(node)))
    result = shapes.build(inner.shape, iter(targets), lo.store)
    places_of = iter(cotangents)
    gradients = [
        tangent_of(lo, kwargs[place] if isinstance(place, str) else args[place], places_of) for place in places
    ]
    gradient: Value = TupleValue(tuple(gradients)) if isinstance(wrt, (tuple, list)) else gradients[0]
    if operator.kind == "value_and_grad":
        return TupleValue((result, gradient))
    if has_aux:
        assert isinstance(result, TupleValue)
        return TupleValue((gradient, result.items[1]))
    return gradient


def _warn_of_zero(
    lo: Lowerer,
    function: Value,
    inner: Inner,
    args: list[Value],
    kwargs: dict[str, Value],
    places: Sequence[int | str],
) -> None:
    from adjoint.frontend.zero_derivatives import zero_derivatives

    names = parameter_names(lo, function, None)
    source = _source_of(function)
    arguments: list[tuple[str, Sequence[int], Span | None]] = []
    start = 0
    for place in places:
        value = kwargs[place] if isinstance(place, str) else args[place]
        end = start + sum(1 for _ in differentiable_leaves(lo, value))
        name = place if isinstance(place, str) else names[place] if place < len(names) else f"argument {place}"
        found = _parameter_node(function, place)
        span = None if source is None else source.heading if found is None else source.span(found)
        arguments.append((name, range(start, end), span))
        start = end
    lo.run_data.warnings += zero_derivatives(inner.function, arguments, (0,))


def _targets(inner: Inner, hint: str) -> tuple[list[Var], list[Var]]:
    targets = [Var(name, type_) for type_, name in shapes.leaf_types(inner.shape, hint)]
    cotangents = [Var(f"{param.hint}_bar", param.type, True) for param in inner.function.params[: inner.count]]
    return targets, cotangents


def _seed(lo: Lowerer, function: Value, inner: Inner, shape: shapes.Shape, node: ast.AST | None) -> Atom:
    """The cotangent 1 of a scalar result."""
    match shape:
        case shapes.Leaf(type=Scalar(kind="int")) if not _result_varies(inner):
            return Const(1.0)
        case shapes.Leaf(type=Scalar(kind="float")) | shapes.Leaf(type=Number()):
            return Const(1.0)
        case shapes.Leaf(type=Array(dtype=dtype, dims=dims)) if _has_one_element(dims) and _may_be_float(dtype):
            assert dims is not None
            return lo.open.call(np.ones, Const((1,) * len(dims)))
        case shapes.Leaf(type=Array()) | shapes.TupleShape() | shapes.RefShape():
            raise _refusal(lo, "AD0406", function, node, f"this returns {_describe(shape)}, not a number")
        case shapes.Leaf(type=type_) if carries_derivative(type_) and not isinstance(type_, Scalar):
            raise _refusal(lo, "AD0406", function, node, "this returns a structure, not a number")
        case shapes.Same(value=Const(value=None)):
            helps = ("return the value",)
            raise _refusal(lo, "AD0407", function, node, "this returns None", helps=helps)
        case _:
            raise _refusal(lo, "AD0407", function, node, f"this returns {_describe(shape)}")


def _result_varies(inner: Inner) -> bool:
    """Whether the first result has anything to do with the arguments."""
    varied = varying(inner.function.body, inner.function.params[: inner.count])
    return any(leaf.values[0] in varied for leaf in leaves(inner.function.body) if isinstance(leaf, Return))


def _has_one_element(dims: tuple[Dim, ...] | None) -> bool:
    return dims is not None and all(dim != "many" for dim in dims)


def _may_be_float(dtype: np.dtype | None) -> bool:  # type: ignore[type-arg]
    return dtype is None or is_float_dtype(dtype)


_KINDS = {"bool": "a boolean", "int": "an integer", "complex": "a complex number"}


def _describe(shape: shapes.Shape) -> str:
    match shape:
        case shapes.Leaf(type=Array(dims=dims)):
            return "an array" if dims is None else f"an array of rank {len(dims)}"
        case shapes.TupleShape(items=items):
            return f"a tuple of {len(items)}"
        case shapes.RefShape(record=record):
            return _object_of(record.cls)
        case shapes.Leaf(type=Scalar(kind=kind)) if kind in _KINDS:
            return _KINDS[kind]
        case shapes.Leaf(type=Opaque(cls=cls)) if cls is not None:
            return _object_of(cls)
        case shapes.Same(value=Const(value=constant)):
            return repr(constant)
        case shapes.Same():
            return "a function"
        case shapes.UnionShape(options=options):
            return " or ".join(dict.fromkeys(map(_describe, options)))
        case shapes.Leaf(type=Scalar() | Number()):
            return "a number"
        case _:
            return "something of a kind that is not known"


def _object_of(cls: type) -> str:
    named = {str: "a string", list: "a list", dict: "a dict", set: "a set", complex: "a complex number"}
    return named.get(cls, f"an object of class {cls.__name__!r}")


def check_differentiable(
    lo: Lowerer, function: Value, value: Value, place: int | str, node: ast.AST | None
) -> None:
    """Refuses an argument that has no derivative."""
    where = f"argument {place!r}" if isinstance(place, str) else f"argument {place}"

    def refuse(code: str, label: str, *helps: str) -> Problem:
        return _refusal(lo, code, function, node, f"{where} is {label}", place=place, helps=helps or None)

    match value:
        case Const(value=int() as number) if not isinstance(number, bool):
            raise refuse("AD0403", f"the integer {number}", f"pass {float(number)}")
        case Var(type=Scalar(kind="int")):
            given = None if node is not None else lo.run_data.arguments.get(place)
            if isinstance(given, (int, np.integer)) and abs(given) < 2**53:
                raise refuse("AD0403", f"the integer {given}", f"pass a float: {float(given)} for {given}")
            raise refuse("AD0403", "an integer", "pass a float: 3.0 for 3")
        case Var(type=Array(dtype=dtype)) if dtype is not None and dtype.kind in "iu":
            raise refuse("AD0403", f"an array of {dtype}", "pass an array of floats: x.astype(float)")
        case Var(type=Opaque(cls=type() as cls)) if hasattr(cls, "__next__"):
            raise refuse("AD0305", f"an iterator of class {cls.__name__!r}")
        case Const(value=constant):
            described = repr(constant) if constant is None or isinstance(constant, (bool, str)) else "a constant"
        case Var(type=Opaque(cls=type() as cls)):
            described = _object_of(cls)
        case _:
            described = "nothing that can be differentiated"
    if not any(True for _ in differentiable_leaves(lo, value)):
        raise refuse("AD0404", described)


def differentiable_leaves(lo: Lowerer, value: Value, seen: set[Ref] | None = None) -> Iterator[Atom]:
    """The leaves for which :func:`activate` makes parameters, in its order."""
    seen = set() if seen is None else seen
    match value:
        case Var(type=type_) if carries_derivative(type_):
            yield value
        case Const(value=constant) if isinstance(constant, float):
            yield value
        case TupleValue(items=items) | Union(options=items):
            for item in items:
                yield from differentiable_leaves(lo, item, seen)
        case Ref() if value not in seen:
            seen.add(value)
            record = lo.store[value]
            assert isinstance(record, Record)
            for item in record.items:
                yield from differentiable_leaves(lo, item, seen)


def tangent_of(lo: Lowerer, value: Value, leaves: Iterator[Var], made: dict[Ref, Ref] | None = None) -> Value:
    """The structure of ``value`` with its differentiable leaves replaced; None at what has no derivative."""
    made = {} if made is None else made
    match value:
        case Var(type=type_) if carries_derivative(type_):
            leaf = next(leaves)
            if lo.regions:
                return _of_tuples(lo, leaf)
            if is_handle(type_) and not isinstance(type_, Array):
                return _converted(lo, tangents.finish, [leaf, value], leaf)
            if isinstance(type_, Scalar):
                return _converted(lo, float if type_.dtype is None else type_.dtype.type, [leaf], leaf)
            return _converted(lo, results.owned, [leaf], leaf)
        case Const(value=constant) if isinstance(constant, float):
            return next(leaves)
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(tangent_of(lo, item, leaves, made) for item in items), cls)
        case Union():
            parts = tuple(tangent_of(lo, option, leaves, made) for option in value.options)
            return Union(value.tag, parts)
        case Ref() if value in made:
            return made[value]
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            parts_of = tuple((key, tangent_of(lo, part, leaves, made)) for key, part in record.parts)
            ref = made[value] = Ref(value.site)
            if record.cls in (list, dict):
                lo.store[ref] = Record(record.cls, parts_of)
            else:
                kept = tuple((key, part) for key, part in parts_of if part != NONE)
                lo.store[ref] = Record(tangent_class(record.cls), kept)
            return ref
        case _:
            return NONE


def _of_tuples(lo: Lowerer, shadow: Var) -> Value:
    """The tangent of a list of tuples as one: in shadows tuples are lists."""
    from adjoint.frontend import library

    match shadow.type:
        case List(element=Tuple()):
            return library.call(lo, library.retupled, [shadow], None)
        case _:
            return shadow


def _converted(lo: Lowerer, callee: Any, atoms: list[Atom], like: Var) -> Var:
    target = Var(like.hint, fresh(like.type), like.named)
    lo.emit(Call((target,), callee, tuple(atoms)))
    return target


# -- forward mode and pullbacks ---------------------------------------------------------------------------------------


def _immediate(
    lo: Lowerer, kind: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    from adjoint.frontend import containers, library

    if kind == "hvp":
        from adjoint import operators

        return library.call(lo, library.hvp, [Const(operators.grad), Const(operators.jvp), *args[:3]], node)
    if kind == "jvp":
        function, primals, tangents = (
            *args,
            *(kwargs[name] for name in ("primals", "tangents") if name in kwargs),
        )
        items = containers.known_items(lo, primals, node)
        directions = containers.known_items(lo, tangents, node)
        return jvp(lo, function, items, directions, node)
    raise lo.problem(
        "AD0301",
        node,
        "'ad.vjp' inside code that is differentiated is not supported yet",
        helps=("use ad.grad or ad.value_and_grad on a function that returns a number",),
    )


def jvp(lo: Lowerer, function: Value, args: list[Value], tangents: list[Value], node: ast.AST | None) -> Value:
    """The value of a function and its derivative in one direction."""
    from adjoint.transform.forward import forward

    if len(args) != len(tangents):
        raise lo.problem("AD0409", node, f"{len(args)} primals, but {len(tangents)} tangents")
    places = [i for i, tangent in enumerate(tangents) if tangent != NONE]
    for place in places:
        check_differentiable(lo, function, args[place], place, node)
    inner = lower_inner(lo, function, args, {}, places, node)
    directions: list[Atom] = []
    chosen: list[int] = []
    leaves = [pair for place in places for pair in _paired(lo, args[place], tangents[place], node)]
    for index, tangent in enumerate(leaves):
        if tangent != NONE:
            chosen.append(index)
            directions.append(tangent)
    outputs = tuple(i for i, type_ in enumerate(inner.results) if carries_derivative(type_))
    derivative = forward(inner.function, tuple(chosen), outputs)
    atoms = inline(lo.open, derivative, (*inner.atoms, *directions))
    count = len(inner.results)
    value = shapes.build(inner.shape, iter(atoms[:count]), lo.store)
    dots = dict(zip(outputs, atoms[count:], strict=True))
    if not lo.regions:
        dots = {i: _owned(lo, atom, atoms[i]) for i, atom in dots.items()}
    tangent = _result_tangent(lo, inner.shape, iter(range(count)), dots)
    return TupleValue((value, tangent))


def _owned(lo: Lowerer, atom: Atom, like: Atom) -> Atom:
    """A tangent that shares no memory with what the caller holds, in the structure of its primal."""
    if isinstance(atom, Var) and is_handle(atom.type) and not isinstance(atom.type, Array):
        return _converted(lo, tangents.finish, [atom, like], atom)
    if isinstance(atom, Var) and isinstance(atom.type, (Array, Number)):
        return _converted(lo, results.owned, [atom], atom)
    return atom


def _paired(lo: Lowerer, value: Value, tangent: Value, node: ast.AST | None) -> Iterator[Atom]:
    """The tangents of the differentiable leaves of ``value``, in order; None where nothing moves."""
    from adjoint.frontend.containers import known_items

    if tangent == NONE:
        for _ in differentiable_leaves(lo, value):
            yield NONE
        return
    match value:
        case Var(type=type_) if carries_derivative(type_):
            yield _direction(lo, value, tangent, node)
        case Const(value=constant) if isinstance(constant, float):
            yield _as_float(tangent)
        case TupleValue(items=items):
            parts = known_items(lo, tangent, node)
            if len(parts) != len(items):
                raise lo.problem("AD0409", node, "the tangent does not have the structure of the primal")
            for item, part in zip(items, parts, strict=True):
                yield from _paired(lo, item, part, node)
        case Ref():
            record, directions = lo.store[value], lo.store.get(tangent)
            assert isinstance(record, Record)
            if record.cls is list and not isinstance(directions, Record):
                directions = list_record(known_items(lo, tangent, node, count=len(record.parts)))
            if not isinstance(directions, Record):
                raise lo.problem("AD0409", node, "the tangent does not have the structure of the primal")
            for key, part in record.parts:
                direction = directions.get(key)
                yield from _paired(lo, part, NONE if direction is None else direction, node)


def _direction(lo: Lowerer, value: Var, tangent: Value, node: ast.AST | None) -> Atom:
    """The tangent of one leaf; of a container, memory of its own that forward mode may write."""
    if isinstance(value.type, Array) and value.type.storage.written and not lo.regions and isinstance(tangent, Var):
        return _converted(lo, np.copy, [tangent], value)  # forward mode writes what the function writes
    if not is_handle(value.type) or isinstance(value.type, Array):
        return _as_float(tangent)
    if isinstance(tangent, Ref) and tangent.origin is not None:
        given: Atom = tangent.origin
    elif isinstance(tangent, Var):
        if lo.regions:
            return tangent
        given = tangent
    else:
        from adjoint.frontend.materialize import materialize

        given = materialize(lo, tangent, node, observer=True)
    return _converted(lo, tangents.to_shadow, [given, value], value)


def _as_float(tangent: Value) -> Atom:
    if isinstance(tangent, Const) and isinstance(tangent.value, int):
        return Const(float(tangent.value))
    return tangent  # type: ignore[return-value]


def _result_tangent(lo: Lowerer, shape: shapes.Shape, indices: Iterator[int], dots: dict[int, Atom]) -> Value:
    from adjoint.frontend.values import Site

    match shape:
        case shapes.Leaf():
            return dots.get(next(indices), NONE)
        case shapes.TupleShape(items=items, cls=cls):
            return TupleValue(tuple(_result_tangent(lo, item, indices, dots) for item in items), cls)
        case shapes.RefShape(record=record, sites=sites):
            parts = tuple(
                (key, _result_tangent(lo, item, indices, dots))
                for key, item in zip(record.keys, record.items, strict=True)
            )
            ref = Ref(Site(("tangent", *sites)))
            if record.cls in (list, dict):
                lo.store[ref] = Record(record.cls, parts)
            else:
                kept = tuple((key, part) for key, part in parts if part != NONE)
                lo.store[ref] = Record(tangent_class(record.cls), kept)
            return ref
        case shapes.UnionShape(options=options):
            next(indices)
            found = [_result_tangent(lo, option, indices, dots) for option in options]
            return next((value for value in found if value != NONE), NONE)
        case _:
            return NONE


