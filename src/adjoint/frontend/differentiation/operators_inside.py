"""Differential operators inside the code that is lowered.

A derivative is a call like any other: the function is lowered with fresh parameters for what it is differentiated
with respect to; whatever else it uses becomes further parameters, so that captured variables are differentiated by
the operators around.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint.analysis.may_vary import varying
from adjoint.diagnostics import Span
from adjoint.frontend.data.constants import lost_in_fields
from adjoint.frontend.data.lists_of_objects import Stacked
from adjoint.frontend.differentiation.components import Component, component
from adjoint.frontend.differentiation.differentiated_paths import WHOLE, Keys, Way, part_at, written
from adjoint.frontend.differentiation.inner_functions import Inner, forget_changes, lower_inner, name_of
from adjoint.frontend.differentiation.refused_arguments import check_differentiable, holds_integers, object_of
from adjoint.frontend.differentiation.tangent_values import (
    converted,
    differentiable_leaves,
    layouts,
    owned_tangent,
    paired,
    result_tangent,
    tangent_of,
)
from adjoint.frontend.differentiation.wrt import (
    MARK,
    _parameter_node,
    parameter_names,
    positions,
    refusal,
    source_of,
    with_receiver,
)
from adjoint.frontend.entry.inputs import captured
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import NONE, Method, Operator, Pullback, Ref, TupleValue, Value
from adjoint.frontend.library import python_functions
from adjoint.ir.effects import storages, written_places
from adjoint.ir.nodes import Atom, Call, Const, Derived, Return, Var
from adjoint.ir.types import (
    Array,
    Dict,
    Dim,
    Instance,
    List,
    Number,
    Opaque,
    Scalar,
    Tuple,
    Type,
    carries_derivative,
    has_one_layout,
    is_float_dtype,
    is_handle,
)
from adjoint.ir.walk import inline, leaves
from adjoint.keypaths.parts import PartOf, as_part
from adjoint.records import dataclass, replace
from adjoint.runtime.arithmetic.checks import check_single
from adjoint.runtime.tangents import to_shadow

_KINDS = {"bool": "a boolean", "int": "an integer", "complex": "a complex number"}


def operator_of(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """What a call of ``constant`` means where it is a differential operator, or a derivative made by one."""
    kind = getattr(constant, MARK, None)
    if kind is None:
        return None
    if not isinstance(kind, str):
        kind, function, options = kind
        path = ("root",) if function is lo.run_data.root else ("object", function)
        inner = captured(lo, function, path, "f", node)
        return call_operator(lo, Operator(kind, inner, options), args, kwargs, node)
    if kind in ("vjp", "jvp", "hvp"):
        return _immediate(lo, kind, args, kwargs, node)
    if kind in ("linearize", "transpose", "jet"):
        helps = ("in code that is differentiated, take ad.jvp, ad.vjp or ad.grad",)
        raise lo.problem("AD0301", node, f"ad.{kind} inside other code is not covered", helps=helps)
    if kind == "checkpoint" and len(args) + len(kwargs) != 1:
        raise lo.mistake(TypeError, node, "ad.checkpoint takes one function", code="AD0203")
    function_value, options = args[0] if args else kwargs["f"], _options(lo, args[1:], kwargs, node)
    return Operator(kind, function_value, options)


def _options(
    lo: Lowerer, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[tuple[str, Any], ...]:
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
    result = _called(lo, operator, args, kwargs, node)
    forget_changes(lo)
    return result


def _called(
    lo: Lowerer, operator: Operator, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    options = dict(operator.options)
    if operator.kind in ("grad", "value_and_grad"):
        return _gradient(lo, operator, options, args, kwargs, node)
    from adjoint.runtime.numerical_methods import jacobians  # lazy

    if operator.kind == "checkpoint":
        from adjoint.frontend.surgery.checkpointed_loops import call_checkpointed  # lazy

        return call_checkpointed(lo, operator.function, args, kwargs, node)
    if operator.kind in ("call", "compile"):
        return lo.call(operator.function, args, kwargs, node)
    if operator.kind not in ("jacobian", "hessian"):
        helps = ("take the derivative: ad.grad(f)",)
        raise lo.problem(
            "AD0301", node, f"{operator.kind!r} of a derivative is not for other code to call", helps=helps
        )
    wrt = options.get("wrt", 0)
    names = positions(lo, operator.function, wrt, args, kwargs, node)
    if len(names) != 1 or isinstance(wrt, (tuple, list)) or isinstance(names[0], str):
        raise lo.problem("AD0301", node, f"{operator.kind!r} inside other code takes one positional argument")
    _check_unwritten_containers(lo, operator.function, args, kwargs, names, node)
    body = {"jacobian": jacobians.jacobian_of, "hessian": jacobians.hessian_of}[operator.kind]
    return python_functions.call(lo, body, [operator.function, TupleValue(tuple(args)), Const(names[0])], node)


def _check_unwritten_containers(
    lo: Lowerer,
    function: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    places: Sequence[int | str],
    node: ast.AST | None,
) -> None:
    """Refuses a function that is called once a column and changes more than arrays, of which each call has copies."""
    if not any(_is_container(value) for value in (*args, *kwargs.values())):
        return
    inner = lower_inner(lo, function, args, kwargs, places, node)
    if any(_is_container(inner.atoms[place]) for place in written_places(inner.function)):
        raise lo.problem("AD0303", node, "the function changes a list, dict or object that it is given")


def _is_container(value: Value) -> bool:
    match value:
        case Var(type=type_):
            return is_handle(type_) and not isinstance(type_, Array)
        case TupleValue(items=items):
            return any(map(_is_container, items))
        case _:
            return isinstance(value, Ref)


def _gradient(
    lo: Lowerer,
    operator: Operator,
    options: dict[str, Any],
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    has_aux, wrt = bool(options.get("has_aux", False)), options.get("wrt", 0)
    function, wrt, args = with_receiver(lo, operator.function, wrt, args, kwargs, node)
    operator = replace(operator, function=function)
    picked = pick(lo, function, wrt, args, kwargs, node)
    inner = lower_inner(lo, function, args, kwargs, picked.places, node, picked.ways)
    if not options.get("keep_writes", True):
        from adjoint.frontend.data.unkept_writes import without_kept_writes  # lazy

        inner = without_kept_writes(lo, inner, node)
    if has_aux:
        first_of_pair(lo, operator.function, inner, node)
    part = component(lo, operator.function, inner.shape, 0 if has_aux else options.get("result"), node)
    seed = _seed(lo, operator.function, inner, part, node)
    if node is None and not lo.regions:
        _warn_of_zero(lo, operator.function, inner, picked, part.start)
    layout = {} if lo.regions else layouts(lo, picked.values, lasting=False)
    stacked = Stacked(lo, inner)
    inner = stacked.inner
    targets, cotangents = _targets(inner, "value")
    derived = Derived(inner.function, tuple(range(inner.count)), (part.start,))
    lo.emit(Call((*targets, *cotangents), derived, (*inner.atoms, seed), (), lo.span(node)))
    differentiated = targets[part.start]
    if _may_have_several_elements(differentiated.type):
        lo.emit(Call((), check_single, (differentiated,), (), lo.span(node)))
    stacked.put_back()
    result = joins.build(inner.shape, iter(targets), lo.store)
    gradient = picked.gradient(lo, iter(stacked.cotangents(cotangents, layout)), layout, node)
    if operator.kind == "value_and_grad":
        return TupleValue((result, gradient))
    if has_aux:
        assert isinstance(result, TupleValue)
        return TupleValue((gradient, result.items[1]))
    return gradient


@dataclass(frozen=True, slots=True)
class Picked:
    """What ``wrt`` means in a call: the arguments, or parts of them, each once.

    Attributes
    ----------
    places, ways, values
        The arguments, the ways into them, and the parts that are there.
    sources, entries
        For each entry of ``wrt`` which of these has it, and the way to it.
    several
        Whether the gradient is a tuple with an entry for each.
    """

    places: list[int | str]
    ways: list[Keys]
    values: list[Value]
    sources: list[int]
    entries: list[Way]
    several: bool

    def gradient(
        self, lo: Lowerer, cotangents: Iterator[Var], layout: Mapping[Atom, Var], node: ast.AST | None
    ) -> Value:
        """The gradient in the structure of the arguments, from the cotangents of their leaves."""
        parts = [tangent_of(lo, value, cotangents, layout) for value in self.values]
        found = zip(self.sources, self.entries, strict=True)
        gradients = tuple(_part_of_gradient(lo, parts[source], way, node) for source, way in found)
        return TupleValue(gradients) if self.several else gradients[0]


def pick(
    lo: Lowerer, function: Value, wrt: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Picked:
    """What a derivative is taken with respect to."""
    several = isinstance(wrt, (tuple, list))
    choices = list(wrt) if several else [wrt]
    places = positions(lo, function, wrt, args, kwargs, node)
    given = [kwargs[place] if isinstance(place, str) else args[place] for place in places]
    entries = [_way(lo, choice, value, node) for choice, value in zip(choices, given, strict=True)]
    chosen = [part_at(lo, value, way.known) for way, value in zip(entries, given, strict=True)]
    for place, value in zip(places, chosen, strict=True):
        check_differentiable(lo, function, value, place, node, args, kwargs)
    varied = list(dict.fromkeys((place, way.known) for place, way in zip(places, entries, strict=True)))
    sources = [varied.index((place, way.known)) for place, way in zip(places, entries, strict=True)]
    values = [chosen[sources.index(i)] for i in range(len(varied))]
    return Picked([place for place, _ in varied], [way for _, way in varied], values, sources, entries, several)


def _way(lo: Lowerer, choice: Any, value: Value, node: ast.AST | None) -> Way:
    """The part of an argument that an entry of ``wrt`` means."""
    choice = as_part(choice)
    if not isinstance(choice, PartOf):
        return WHOLE
    from adjoint.frontend.data.key_paths import way_into  # lazy

    return way_into(lo, value, choice.path, node)


def _part_of_gradient(lo: Lowerer, gradient: Value, way: Way, node: ast.AST | None) -> Value:
    """What the steps lead to that are taken in the gradient."""
    if not way.rest:
        return gradient
    from adjoint.frontend.data.key_paths import follow  # lazy

    return follow(lo, gradient, way.rest, node)


def _warn_of_zero(
    lo: Lowerer,
    function: Value,
    inner: Inner,
    picked: Picked,
    output: int,
) -> None:
    from adjoint.frontend.differentiation.zero_derivatives import zero_derivatives  # lazy

    names = parameter_names(lo, function, None)
    source = source_of(function)
    arguments: list[tuple[str, Sequence[int], Span | None]] = []
    with_integers: list[str] = []
    start = 0
    for place, keys, value in zip(picked.places, picked.ways, picked.values, strict=True):
        end = start + sum(1 for _ in differentiable_leaves(lo, value))
        name = place if isinstance(place, str) else names[place] if place < len(names) else f"argument {place}"
        found = _parameter_node(function, place)
        span = None if source is None else source.heading if found is None else source.span(found)
        arguments.append((name + written(keys), range(start, end), span))
        if holds_integers(lo, value):
            with_integers.append(name + written(keys))
        start = end
    lo.run_data.warnings += zero_derivatives(inner.function, arguments, (output,), with_integers)
    lo.run_data.warnings += lost_in_fields(lo, inner.function, inner.count, output)
    if lo.run_data.surgery:
        from adjoint.frontend.surgery.idle_surgery import idle_surgery  # lazy

        lo.run_data.warnings += idle_surgery(inner.function, range(inner.count), (output,))


def _targets(inner: Inner, hint: str) -> tuple[list[Var], list[Var]]:
    targets = [Var(name, type_) for type_, name in joins.leaf_types(inner.shape, hint)]
    cotangents = [Var(f"{param.hint}_bar", param.type, True) for param in inner.function.params[: inner.count]]
    return targets, cotangents


def _seed(lo: Lowerer, function: Value, inner: Inner, part: Component, node: ast.AST | None) -> Atom:
    """The cotangent 1 of a scalar result, or of a component of the result that is one."""
    shape = part.shape
    match shape:
        case joins.Leaf(type=Scalar(kind="int")) if not _result_varies(inner, part.start):
            return Const(1.0)
        case joins.Leaf(type=Scalar(kind="float")) | joins.Leaf(type=Number()):
            return Const(1.0)
        case joins.Leaf(type=Array(dtype=dtype, dims=dims)) if _has_one_element(dims) and _may_be_float(dtype):
            assert dims is not None
            return lo.open.call(np.ones, Const((1,) * len(dims)))
        case joins.Leaf(type=Array()) | joins.TupleShape() | joins.RefShape():
            label, helps = f"this returns {describe(shape)}, not a number", _reduced(shape, part, function)
            raise refusal(lo, "AD0406", function, node, label, helps=helps, others=_returned(function, node))
        case joins.Leaf(type=type_) if carries_derivative(type_) and not isinstance(type_, Scalar):
            raise refusal(lo, "AD0406", function, node, "this returns a structure, not a number")
        case joins.Same(value=Const(value=None)):
            others = _missing_return(function)
            raise refusal(lo, "AD0407", function, node, "this returns None", helps=("return the value",), others=others)
        case _:
            refuse_several_kinds(lo, function, shape, node)
            label, others = f"this returns {describe(shape)}", _returned(function, node)
            helps = _as_float(shape) or _as_call(shape, others)
            raise refusal(lo, "AD0407", function, node, label, helps=helps, others=others)


def _reduced(shape: joins.Shape, part: Component, function: Value) -> tuple[str, ...] | None:
    """How a number is made of a result of another structure."""
    name = name_of(function)
    name = name if name.isidentifier() and name != "function" else "f"
    match shape:
        case joins.TupleShape(items=items) if not part.keys and items and _is_number(items[0]):
            return (
                f"for the first item, with the others handed out beside it: ad.grad({name}, result=0)",
                *([f"or, of a pair (value, aux): ad.grad({name}, has_aux=True)"] if len(items) == 2 else []),
                f"for a weighted sum of the results: ad.vjp({name}, *args)",
            )
        case joins.RefShape(record=record) if not part.keys and record.keys:
            return (
                f"for one part of it: ad.grad({name}, result={record.keys[0]!r})",
                f"for a weighted sum of the results: ad.vjp({name}, *args)",
            )
        case joins.Leaf():
            return (
                "make it a number: np.sum(...)",
                f"or, for all partial derivatives: ad.jacobian({name})",
                f"or, for a weighted sum of the results: ad.vjp({name}, *args)",
            )
        case _:
            return None


def _is_number(shape: joins.Shape) -> bool:
    return isinstance(shape, joins.Leaf) and isinstance(shape.type, Scalar) and shape.type.kind == "float"


def _as_float(shape: joins.Shape) -> tuple[str, ...] | None:
    """What to return instead of what has no derivative."""
    match shape:
        case joins.Leaf(type=Scalar(kind="int")):
            return (
                "an integer does not vary smoothly: return the number itself, as x for int(x), or x[i] for an index i",
            )
        case joins.Leaf(type=Scalar(kind="bool")) | joins.Same(value=Const(value=bool())):
            return ("a truth value does not vary smoothly: return the numbers that are compared",)
        case joins.Leaf(type=Scalar(kind="complex")):
            return ("return a real number: the real part, or abs(z)**2",)
        case joins.Same(value=Const(value=str())) | joins.Leaf(type=Opaque(cls=builtins.str)):
            return ("return the number, and make the text of it where the function is called",)
        case _:
            return None


def _as_call(shape: joins.Shape, returned: Sequence[tuple[Span, str]]) -> tuple[str, ...] | None:
    """The call that may be meant where a method is returned, or an attribute of which nothing is known."""
    is_unknown = isinstance(shape, joins.Leaf) and isinstance(shape.type, Opaque)
    if not returned or not (is_unknown or isinstance(shape, joins.ComposedShape)):
        return None
    span = returned[0][0]
    text = linecache.getline(span.file, span.line)[span.column : span.end_column]
    return (f"call it: {text}()",) if re.fullmatch(r".*\.[A-Za-z_]\w*", text) else None


def _returned(function: Value, node: ast.AST | None) -> tuple[tuple[Span, str], ...]:
    """The expression that is returned, where there is one only and the function is what the user differentiates."""
    if node is not None:
        return ()
    from adjoint.sources.missing_return import sole_return  # lazy

    return sole_return(source_of(function))


def refuse_several_kinds(lo: Lowerer, function: Value, shape: joins.Shape, node: ast.AST | None) -> None:
    """Refuses a result that is of one kind on some paths and of another on others: it would have two tangents."""
    if isinstance(shape, joins.UnionShape):
        helps = ("return a value of the same kind on all paths",)
        others = _missing_return(function) if _may_be_none(shape) else ()
        raise refusal(lo, "AD0407", function, node, f"this returns {describe(shape)}", helps=helps, others=others)


def _may_be_none(shape: joins.UnionShape) -> bool:
    return any(isinstance(each, joins.Same) and each.value == Const(None) for each in shape.options)


def _missing_return(function: Value) -> tuple[tuple[Span, str], ...]:
    from adjoint.sources.missing_return import missing_return  # lazy

    return missing_return(source_of(function))


def _result_varies(inner: Inner, place: int) -> bool:
    """Whether a result has anything to do with the arguments."""
    varied = varying(inner.function.body, inner.function.params[: inner.count])
    return any(leaf.values[place] in varied for leaf in leaves(inner.function.body) if isinstance(leaf, Return))


def _has_one_element(dims: tuple[Dim, ...] | None) -> bool:
    return dims is not None and all(dim != "many" for dim in dims)


def _may_have_several_elements(type_: Type) -> bool:
    return isinstance(type_, Array) and (type_.dims is None or any(dim != "one" for dim in type_.dims))


def _may_be_float(dtype: np.dtype | None) -> bool:
    return dtype is None or is_float_dtype(dtype)


def describe(shape: joins.Shape) -> str:
    """What a value is, in a few words."""
    match shape:
        case joins.Leaf(type=Array(dims=dims)):
            return "an array" if dims is None else f"an array of rank {len(dims)}"
        case joins.TupleShape(items=items):
            return f"a tuple of {len(items)}"
        case joins.RefShape(record=record):
            return object_of(record.cls)
        case joins.Leaf(type=Scalar(kind=kind)) if kind in _KINDS:
            return _KINDS[kind]
        case joins.Leaf(type=Opaque(cls=cls)) if cls is not None:
            return object_of(cls)
        case joins.Same(value=Const(value=constant)):
            return repr(constant)
        case joins.ComposedShape(template=Method()):
            return "a method, which is not called"
        case joins.Same() | joins.ComposedShape():
            return "a function"
        case joins.UnionShape(options=options):
            return " or ".join(dict.fromkeys(map(describe, options)))
        case joins.Leaf(type=Scalar() | Number()):
            return "a number"
        case _:
            return "something of a kind that is not known"


def _immediate(lo: Lowerer, kind: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    from adjoint.frontend.data import containers  # lazy

    kwargs = dict(kwargs)
    has_aux = kwargs.pop("has_aux", Const(False))
    if has_aux != Const(False) and (kind != "jvp" or has_aux != Const(True)):
        helps = ("take the pair as it is: the cotangent of aux is None",)
        raise lo.problem("AD0204", node, f"has_aux= of ad.{kind} is not for code that is differentiated", helps=helps)
    if kind in ("jvp", "hvp"):
        given = [*args, *(kwargs[name] for name in ("f", "primals", "tangents") if name in kwargs)]
        if len(given) != 3:
            raise lo.problem("AD0203", node, f"ad.{kind} takes a function, primals and tangents")
        function, primals, tangents = given
        for name, each in (("primals", primals), ("tangents", tangents)):
            if isinstance(joins.type_of(each), (Scalar, Array, Number)):
                label = f"the {name} are a tuple with one entry per argument"
                raise lo.problem("AD0409", node, label, helps=(f"write tuples: ad.{kind}(f, (x,), (x_dot,))",))
        if kind == "hvp":
            from adjoint.api import gradients, jvp_vjp  # lazy

            return python_functions.call(
                lo, python_functions.hvp, [Const(gradients.grad), Const(jvp_vjp.jvp), *given], node
            )
        items = containers.known_items(lo, primals, node)
        directions = containers.known_items(lo, tangents, node)
        return jvp(lo, function, items, directions, node, has_aux == Const(True))
    return _vjp(lo, args[0], args[1:], kwargs, node)


def _vjp(lo: Lowerer, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """The value of a function, and a pullback that is written out where it is called."""
    places = tuple(i for i, value in enumerate(args) if any(True for _ in differentiable_leaves(lo, value)))
    inner = lower_inner(lo, function, args, kwargs, places, node)
    if lo.run_data.changed:  # the pullback is written out later, for the arguments as they are now
        raise joins.NeedsRuntime(tuple(original.site for original, _, _ in lo.run_data.changed))
    kept = Inner(
        inner.function, tuple(_kept(lo, atom) for atom in inner.atoms), inner.count, inner.shape, inner.results
    )
    atoms = inline(lo.open, inner.function, inner.atoms)
    value = joins.build(inner.shape, iter(atoms), lo.store)
    return TupleValue((value, Pullback(kept, value, tuple(args), places)))


def _kept(lo: Lowerer, atom: Atom) -> Atom:
    """What an argument is now, for a pullback that is called later."""
    match atom:
        case Var(type=Array()):
            return converted(lo, np.copy, [atom], atom)
        case Var(type=List(element=element)) if element is None or isinstance(element, (Scalar, Number)):
            copied = python_functions.call(lo, python_functions.copied, [atom], None)
            assert isinstance(copied, Var)
            return copied
        case _:
            return atom


def _operands(lo: Lowerer, inner: Inner, node: ast.AST | None) -> tuple[Atom, ...]:
    """The arguments for one call of a pullback, which may write them as the function does."""
    atoms = list(inner.atoms)
    for place in written_places(inner.function):
        param = inner.function.params[place]
        if isinstance(param.type, Array):
            atoms[place] = _copy_as(lo, atoms[place], param)
    for atom in atoms:
        if isinstance(atom, Var) and _changes(atom.type):
            raise lo.problem("AD0303", node, "an argument of the function may have changed since ad.vjp was called")
    return tuple(atoms)


def _changes(type_: Type) -> bool:
    """Whether there is memory to a value that :func:`_kept` does not copy and that something writes."""
    flat = isinstance(type_, List) and not isinstance(type_.element, (List, Dict, Tuple, Instance, Array))
    return not flat and not isinstance(type_, Array) and any(storage.written for storage in storages(type_))


def call_pullback(
    lo: Lowerer, pullback: Pullback, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """One cotangent per positional argument of the function, None for one that cannot be differentiated."""
    if len(args) != 1 or kwargs:
        raise lo.problem("AD0203", node, "a pullback takes one cotangent, of the structure of the value")
    inner = pullback.inner
    differentiable = [i for i, type_ in enumerate(inner.results) if carries_derivative(type_)]
    given = list(paired(lo, pullback.value, args[0], node))
    if len(given) != len(differentiable):
        raise lo.problem("AD0409", node, "the cotangent does not have the structure of the value")
    chosen = [(i, atom) for i, atom in zip(differentiable, given, strict=True) if atom != NONE]
    derived = Derived(inner.function, tuple(range(inner.count)), tuple(i for i, _ in chosen))
    targets, cotangents = _targets(inner, "value")
    seeds = tuple(atom for _, atom in chosen)
    operands = _operands(lo, inner, node)
    lo.emit(Call((*targets, *cotangents), derived, (*operands, *seeds), (), lo.span(node)))
    leaves_left = iter(cotangents)
    return TupleValue(
        tuple(
            tangent_of(lo, value, leaves_left, {}) if place in pullback.places else NONE
            for place, value in enumerate(pullback.args)
        )
    )


def _copy_as(lo: Lowerer, atom: Atom, param: Var) -> Var:
    """A copy that a function which writes its parameter may be given."""
    own = Var(param.hint, param.type, param.named)
    lo.emit(Call((own,), np.copy, (atom,)))
    return own


def _lent(lo: Lowerer, direction: Atom, of: Atom, param: Var, node: ast.AST | None, *, written: bool) -> Atom:
    """A tangent ``of`` an argument, which forward mode writes where the function writes that."""
    match param.type:
        case Array() if written and has_one_layout(param.type):
            return _copy_as(lo, direction, param)
        case Array() if written and lo.regions:  # else it is laid out like the argument already
            own = Var(param.hint, param.type, param.named)
            lo.emit(Call((own,), to_shadow, (direction, of)))
            return own
        case List() | Dict() | Tuple() | Instance() as type_ if written and lo.regions:
            from adjoint.differentiation.memory.copying import can_be_copied, copied  # lazy

            if isinstance(direction, Var) and type(direction.type) is type(type_) and can_be_copied(direction.type):
                return copied(lo.open, direction, type_)
            raise lo.problem("AD0303", node, f"the function changes {param.hint!r}, and its tangent with it")
    if isinstance(direction, Var):
        _unite(direction, param)
    return direction


def _unite(one: Var, other: Var) -> None:
    mine, theirs = getattr(one.type, "storage", None), getattr(other.type, "storage", None)
    if mine is not None and theirs is not None and type(one.type) is type(other.type):
        mine.unite(theirs)


def first_of_pair(lo: Lowerer, function: Value, inner: Inner, node: ast.AST | None) -> int:
    """How many leaves the first item of a pair ``(value, aux)`` has; anything else is refused."""
    if not isinstance(inner.shape, joins.TupleShape) or len(inner.shape.items) != 2:
        label = "with has_aux=True the function must return a pair (value, aux)"
        helps = ("return the pair: return value, aux", "or leave out has_aux")
        raise refusal(lo, "AD0407", function, node, label, helps=helps, others=_returned(function, node))
    return component(lo, function, inner.shape, 1, node).start


def jvp(
    lo: Lowerer,
    function: Value,
    args: list[Value],
    tangents: list[Value],
    node: ast.AST | None,
    has_aux: bool = False,
) -> Value:
    """The value of a function and its derivative in one direction; ``aux`` behind them."""
    from adjoint.differentiation.forward.forward import forward  # lazy

    if len(args) != len(tangents):
        raise lo.problem("AD0409", node, f"{len(args)} primals, but {len(tangents)} tangents")
    places = [i for i, tangent in enumerate(tangents) if tangent != NONE]
    for place in places:
        check_differentiable(lo, function, args[place], place, node, args)
    inner = lower_inner(lo, function, args, {}, places, node)
    refuse_several_kinds(lo, function, inner.shape, node)
    directions: list[Atom] = []
    chosen: list[int] = []
    leaves = [pair for place in places for pair in paired(lo, args[place], tangents[place], node)]
    for index, tangent in enumerate(leaves):
        if tangent != NONE:
            chosen.append(index)
            directions.append(tangent)
    varying = range(first_of_pair(lo, function, inner, node)) if has_aux else range(len(inner.results))
    outputs = tuple(i for i in varying if carries_derivative(inner.results[i]))
    stacked = Stacked(lo, inner)
    inner = stacked.inner
    chosen, directions = stacked.directions(chosen, directions)
    derivative = forward(
        inner.function, tuple(chosen), outputs, keep_derived=bool(lo.regions), target=lo.settings.target
    )
    written = written_places(inner.function)
    for number, (place, param) in enumerate(zip(chosen, derivative.params[len(inner.atoms) :], strict=True)):
        of = inner.atoms[place]
        directions[number] = _lent(lo, directions[number], of, param, node, written=place in written)
    atoms = inline(lo.open, derivative, (*inner.atoms, *directions))
    stacked.put_back()
    count = len(inner.results)
    value = joins.build(inner.shape, iter(atoms[:count]), lo.store)
    dots = dict(zip(outputs, atoms[count:], strict=True))
    forget_changes(lo)
    if not lo.regions:
        dots = {i: owned_tangent(lo, atom, atoms[i]) for i, atom in dots.items()}
    dot = result_tangent(lo, inner.shape, iter(range(count)), dots)
    if has_aux:
        assert isinstance(value, TupleValue) and isinstance(dot, TupleValue)
        return TupleValue((value.items[0], dot.items[0], value.items[1]))
    return TupleValue((value, dot))
