"""Tangents in the structure of values: of arguments, of results, and as the user gives them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.reachable import all_memory
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import (
    FORGOTTEN_CONSTANT,
    NONE,
    Record,
    Ref,
    TupleValue,
    Union,
    Value,
    list_record,
)
from adjoint.frontend.iterators.items import known_items
from adjoint.frontend.library import python_functions
from adjoint.runtime import copies, tangents
from adjoint.types.marks import no_derivative_fields
from adjoint.types.structure import CONTAINERS, DICTS
from adjoint.types.vectors import tangent_class


def differentiable_leaves(
    lo: Lowerer, value: Value, within: Iterable[Ref] = (), *, once: bool = True
) -> Iterator[ir.Atom]:
    """The leaves for which :func:`activate` makes parameters, in its order.

    Without ``once``, those of an object or container that occurs twice in a value are given twice.
    """
    return _leaves(lo, value, set(within), once)


def _leaves(lo: Lowerer, value: Value, seen: set[Ref], once: bool) -> Iterator[ir.Atom]:
    match value:
        case ir.Var(type=type_) if ir.carries_derivative(type_):
            yield value
        case ir.Const(value=constant) if isinstance(constant, float):
            yield value
        case TupleValue(items=items) | Union(options=items):
            for item in items:
                yield from _leaves(lo, item, seen, once)
        case Ref() if value not in seen:
            seen.add(value)
            record = lo.store[value]
            assert isinstance(record, Record)
            for _, item in varying_parts(record):
                if item is not FORGOTTEN_CONSTANT:
                    yield from _leaves(lo, lo.known_part(value, item), seen, once)
            if not once:
                seen.discard(value)


def varying_parts(record: Record) -> list[tuple[Any, Value]]:
    """The parts of an object or container, without the fields that carry no derivative by declaration."""
    excluded = no_derivative_fields(record.cls)
    return [(key, part) for key, part in record.parts if key not in excluded] if excluded else list(record.parts)


def layouts(lo: Lowerer, values: Iterable[Value], *, lasting: bool) -> dict[ir.Atom, ir.Var]:
    """Zero tangents of containers as they are now: of those that will change, or with ``lasting`` of all."""
    leaves = [leaf for value in values for leaf in differentiable_leaves(lo, value) if isinstance(leaf, ir.Var)]
    containers = [leaf for leaf in leaves if ir.is_handle(leaf.type) and not isinstance(leaf.type, ir.Array)]
    return {
        leaf: converted(lo, tangents.zero_tangent, [leaf], leaf)
        for leaf in containers
        if lasting or any(storage.written for storage in all_memory(leaf.type))
    }


def tangent_of(
    lo: Lowerer,
    value: Value,
    leaves: Iterator[ir.Var],
    layout: Mapping[ir.Atom, ir.Var],
    made: dict[Ref, Ref] | None = None,
) -> Value:
    """The structure of ``value`` with its differentiable leaves replaced; None at what has no derivative.

    Containers are laid out like what ``layout`` holds for them, or else like themselves.
    """
    made = {} if made is None else made
    match value:
        case ir.Var(type=type_) if ir.carries_derivative(type_):
            leaf = next(leaves)
            if lo.regions:
                return of_tuples(lo, leaf, type_)
            if ir.is_handle(type_) and not isinstance(type_, ir.Array):
                return converted(lo, tangents.finish, [leaf, layout.get(value, value)], as_tuple_like(leaf, value))
            if isinstance(type_, ir.Scalar):
                python = complex if type_.kind == "complex" else float
                return converted(lo, python if type_.dtype is None else type_.dtype.type, [leaf], leaf)
            return converted(lo, copies.owned, [leaf], leaf)
        case ir.Const(value=constant) if isinstance(constant, float):
            return next(leaves)
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(tangent_of(lo, item, leaves, layout, made) for item in items), cls)
        case Union():
            parts = tuple(tangent_of(lo, option, leaves, layout, made) for option in value.options)
            return Union(value.tag, parts)
        case Ref() if made.get(value) is value:
            cls = lo.store[value].cls  # type: ignore[union-attr]
            label = f"an object of class {cls.__name__!r} leads back to itself, and so would its tangent"
            helps = (f"differentiate with respect to one part of it: wrt=ad.keypath({cls.__name__}).name",)
            raise lo.problem("AD0301", None, label, helps=helps)
        case Ref() if value in made:
            return made[value]
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            made[value] = value  # until its parts are known
            parts_of = tuple((key, tangent_of(lo, part, leaves, layout, made)) for key, part in varying_parts(record))
            ref = made[value] = Ref(value.site)
            lo.store[ref] = tangent_record(record.cls, parts_of)
            return ref
        case _:
            return NONE


def tangent_record(cls: type, parts: tuple[tuple[Any, Value], ...]) -> Record:
    """What the tangent of an object or container of a class holds; objects leave out what has no derivative."""
    if cls in CONTAINERS:
        return Record(dict if cls in DICTS else cls, parts)
    excluded = no_derivative_fields(cls)
    kept = tuple((key, part) for key, part in parts if part != NONE and key not in excluded)
    return Record(tangent_class(cls), kept)


def of_tuples(lo: Lowerer, shadow: ir.Atom, type_: ir.Type) -> Value:
    """The tangent of a list of tuples as one: in shadows tuples are lists."""
    match type_:
        case ir.List(element=ir.Tuple(items=items)) if isinstance(shadow, ir.Var):
            places = TupleValue(
                tuple(ir.Const(place if ir.may_vary(item) else None) for place, item in enumerate(items))
            )
            return python_functions.call(lo, python_functions.retupled, [shadow, places], None)
        case ir.List(is_tuple=True):
            return lo.call(ir.Const(tuple), [shadow], {}, None)
        case _:
            return shadow


def as_tuple_like(tangent: ir.Var, like: ir.Atom) -> ir.Var:
    """The tangent of a tuple whose length is known at run time only is one; a shadow is a list as long as it grows."""
    type_, own = getattr(like, "type", None), tangent.type
    if not isinstance(type_, ir.List) or not type_.is_tuple or not isinstance(own, ir.List):
        return tangent
    return ir.Var(tangent.hint, ir.List(own.element, own.storage, True), tangent.named)


def converted(lo: Lowerer, callee: Any, atoms: list[ir.Atom], like: ir.Var) -> ir.Var:
    target = ir.Var(like.hint, ir.fresh(like.type), like.named)
    lo.emit(ir.Call((target,), callee, tuple(atoms)))
    return target


def paired(lo: Lowerer, value: Value, tangent: Value, node: ast.AST | None) -> Iterator[ir.Atom]:
    """The tangents of the differentiable leaves of ``value``, in order; None where nothing moves."""
    if tangent == NONE:
        for _ in differentiable_leaves(lo, value):
            yield NONE
        return
    match value:
        case ir.Var(type=type_) if ir.carries_derivative(type_):
            yield _direction(lo, value, tangent, node)
        case ir.Const(value=constant) if isinstance(constant, float):
            yield _as_float(tangent)
        case TupleValue(items=items):
            parts = known_items(lo, tangent, node)
            if len(parts) != len(items):
                raise lo.problem("AD0409", node, "the tangent does not have the structure of the primal")
            for item, part in zip(items, parts, strict=True):
                yield from paired(lo, item, part, node)
        case Ref():
            record, directions = lo.store[value], lo.store.get(tangent)
            assert isinstance(record, Record)
            if record.cls is list and not isinstance(directions, Record):
                directions = list_record(known_items(lo, tangent, node, count=len(record.parts)))
            if not isinstance(directions, Record):
                raise lo.problem("AD0409", node, "the tangent does not have the structure of the primal")
            for key, part in varying_parts(record):
                direction = directions.get(key)
                yield from paired(lo, part, NONE if direction is None else direction, node)


def _direction(lo: Lowerer, value: ir.Var, tangent: Value, node: ast.AST | None) -> ir.Atom:
    """The tangent of one leaf; of a container, memory of its own that forward mode may write."""
    if (
        isinstance(value.type, ir.Array)
        and value.type.storage.written
        and not lo.regions
        and isinstance(tangent, ir.Var)
    ):
        if ir.has_one_layout(value.type):
            return converted(lo, np.copy, [tangent], value)  # forward mode writes what the function writes
        return converted(lo, tangents.to_shadow, [tangent, value], value)
    if not ir.is_handle(value.type) or isinstance(value.type, ir.Array):
        return _as_float(tangent)
    if isinstance(tangent, Ref) and tangent.origin is not None:
        given: ir.Atom = tangent.origin
    elif isinstance(tangent, ir.Var):
        if lo.regions:
            return tangent
        given = tangent
    else:
        given = materialize(lo, tangent, node, observer=True)
    return converted(lo, tangents.to_shadow, [given, value], value)


def _as_float(tangent: Value) -> ir.Atom:
    if isinstance(tangent, ir.Const) and isinstance(tangent.value, int):
        return ir.Const(float(tangent.value))
    return tangent  # type: ignore[return-value]
