"""Arithmetic of tangents, and moving along them, in code that is differentiated: part by part."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import ir, tangents
from adjoint.declarations.differentiable_types import Synthesised, variables_class_of
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.data import making
from adjoint.frontend.data.item_writes import set_item
from adjoint.frontend.differentiation.tangent_values import varying_parts
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, Method, Record, Ref, Site, TupleValue, Value
from adjoint.frontend.objects.attribute_writes import set_attribute
from adjoint.frontend.objects.classes import class_of
from adjoint.frontend.syntax.operations import apply_operator
from adjoint.types.differentiable import move, moved, own_moved
from adjoint.types.marks import no_derivative_fields
from adjoint.types.structure import CONTAINERS, memberwise
from adjoint.types.variables import differentiable_variables, with_variables
from adjoint.types.vectors import TangentVector

Node = ast.AST | None
Leaf = Callable[[Value, Value], Value]
"""Takes a number or array and its partner, None where there is none."""


class _Unknown(Exception):
    """The structure is only known at run time."""


class _Parts:
    """Builds a structure like a given one, out of its numbers and arrays and their partners in another one."""

    def __init__(self, lo: Lowerer, leaf: Leaf, node: Node, point: Leaf | None = None) -> None:
        if node is None:
            raise _Unknown
        self.lo, self.leaf, self.node, self.point = lo, leaf, node, point
        """What is done with points of curved spaces; None in structures of tangents, which have none."""
        self.made: dict[Ref, Value] = {}

    def of(self, value: Value, partner: Value, *path: Any) -> Value:
        match value:
            case TupleValue(items=items, cls=cls):
                parts = self.parts(partner)
                return TupleValue(
                    tuple(self.of(item, parts.get(i, NONE), *path, i) for i, item in enumerate(items)), cls
                )
            case Ref():
                if value not in self.made:
                    self.made[value] = self.of_record(value, partner, path)
                return self.made[value]
            case ir.Const(value=None) if self.point is None and not isinstance(partner, ir.Const):
                return partner
            case ir.Const() | ir.Var(type=ir.Scalar() | ir.Number() | ir.Array()):
                return self.leaf(value, partner)
            case ir.Var() if partner == NONE:
                return value
        raise _Unknown

    def of_record(self, value: Ref, partner: Value, path: tuple[Any, ...]) -> Value:
        record = self.lo.store[value]
        assert isinstance(record, Record)
        if self.point is not None and record.cls not in CONTAINERS and own_moved(record.cls) is not None:
            return value if partner == NONE else self.point(value, partner)
        parts, excluded = self.parts(partner), no_derivative_fields(record.cls)
        names = dict.fromkeys((*record.keys, *(parts if self.point is None else ())))
        fields = []
        for name in names:
            part = record.get(name)
            part = NONE if part is None else part
            fields.append((name, part if name in excluded else self.of(part, parts.get(name, NONE), *path, name)))
        return made(self.lo, record.cls, fields, self.node, path)

    def parts(self, partner: Value) -> dict[Any, Value]:
        if partner == NONE:
            return {}
        if isinstance(partner, TupleValue):
            return dict(enumerate(partner.items))
        record = self.lo.store.get(partner) if isinstance(partner, Ref) else None
        if not isinstance(record, Record):
            raise _Unknown
        return dict(record.parts)


def made(lo: Lowerer, cls: type, fields: list[tuple[Any, Value]], node: Node, path: tuple[Any, ...] = ()) -> Value:
    """A new object, list or dict."""
    assert node is not None
    ref = Ref(Site((*lo.site(node).place, "part", *path)))
    lo.store[ref] = Record(cls, tuple(fields))
    if ref.site not in lo.settings.runtime_sites:
        return ref
    if cls in CONTAINERS:
        raise lo.problem("AD0301", node, f"a {cls.__name__} of tangents is needed as a whole")
    return making.runtime_object(lo, ref, node)


def _operated(lo: Lowerer, op: Any, node: Node, alone: Leaf) -> Leaf:
    def leaf(value: Value, partner: Value) -> Value:
        return alone(value, partner) if NONE in (value, partner) else apply_operator(lo, op, [value, partner], node)

    return leaf


def added(lo: Lowerer, a: Value, b: Value, node: Node) -> Value:
    """The sum of two tangents."""
    return _Parts(lo, _operated(lo, operator.add, node, lambda x, y: y if x == NONE else x), node).of(a, b)


def scaled(lo: Lowerer, tangent: Value, factor: Value, node: Node, op: Any = operator.mul) -> Value:
    """A multiple of a tangent."""

    def leaf(value: Value, _: Value) -> Value:
        return value if value == NONE else apply_operator(lo, op, [value, factor], node)

    return _Parts(lo, leaf, node).of(tangent, NONE)


def multiplied(lo: Lowerer, a: Value, b: Value, node: Node, op: Any = operator.mul) -> Value:
    """The product of two tangents, number by number; None is zero."""
    return _Parts(lo, _operated(lo, op, node, lambda x, y: NONE), node).of(a, b)


def moved_along(lo: Lowerer, value: Value, along: Value, node: Node) -> Value:
    """The value in the direction of a tangent."""

    def alone(x: Value, direction: Value) -> Value:
        if x == NONE or not (isinstance(x, ir.Var) and isinstance(x.type, ir.Array)):
            return x
        return lo.call(ir.Const(np.copy), [x], {}, node)

    def point(x: Value, direction: Value) -> Value:
        cls = class_of(lo, x)
        assert cls is not None
        return lo.call(Method(ir.Const(own_moved(cls)), x), [direction], {}, node)

    return _Parts(lo, _operated(lo, operator.add, node, alone), node, point).of(value, along)


def moved_in_place(lo: Lowerer, value: Value, along: Value, node: Node) -> None:
    """Moves arrays, and the parts of objects, lists and dicts, where they are."""
    if along == NONE:
        return
    if isinstance(value, ir.Var) and isinstance(value.type, ir.Array):
        total = apply_operator(lo, operator.add, [value, along], node)
        set_item(lo, value, ir.Const(Ellipsis), total, node)
        return
    record = lo.store[value] if isinstance(value, Ref) else None
    if not isinstance(record, Record) or (record.cls not in CONTAINERS and own_moved(record.cls) is not None):
        raise _Unknown
    parts, excluded = _Parts(lo, lambda x, y: x, node).parts(along), no_derivative_fields(record.cls)
    for name, part in record.parts:
        direction = parts.get(name, NONE)
        if name in excluded or direction == NONE:
            continue
        if _is_mutable(lo, part):
            moved_in_place(lo, part, direction, node)
            continue
        moved_part = moved_along(lo, part, direction, node)
        if record.cls in CONTAINERS:
            set_item(lo, value, ir.Const(name), moved_part, node)
        else:
            set_attribute(lo, value, name, moved_part, node)


def _is_mutable(lo: Lowerer, part: Value) -> bool:
    if isinstance(part, ir.Var):
        return isinstance(part.type, ir.Array)
    cls = class_of(lo, part) if isinstance(part, Ref) else None
    if cls is None or cls in CONTAINERS:
        return cls is not None
    params = getattr(cls, "__dataclass_params__", None)
    return own_moved(cls) is None and not (params is not None and params.frozen)


def variables_of(lo: Lowerer, value: Value, node: Node, *path: Any) -> Value:
    """All of a value that varies."""
    match value:
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(variables_of(lo, item, node, *path, i) for i, item in enumerate(items)), cls)
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            if record.cls in CONTAINERS:
                parts = [(key, variables_of(lo, part, node, *path, key)) for key, part in record.parts]
                return made(lo, record.cls, parts, node, path)
            if own_moved(record.cls) is not None:
                return value
            parts = [(key, variables_of(lo, part, node, *path, key)) for key, part in varying_parts(record)]
            parts = [(key, part) for key, part in parts if part != NONE]
            return made(lo, variables_class_of(record.cls), parts, node, path) if parts else NONE
        case ir.Var(type=ir.Scalar() | ir.Number() | ir.Array()) | ir.Const(value=float()):
            return moved_along(lo, value, NONE, node)
        case ir.Const():
            return NONE
    raise _Unknown


def with_variables_of(lo: Lowerer, value: Value, variables: Value, node: Node) -> Value:
    """A value like another, with these variables."""
    return _Parts(lo, lambda x, new: x if new == NONE else new, node, lambda x, new: new).of(value, variables)


def inner_product(lo: Lowerer, a: Value, b: Value, node: Node) -> Value:
    """The sum of the products of all numbers of two tangents."""
    total: list[Value] = [ir.Const(0.0)]

    def leaf(x: Value, y: Value) -> Value:
        if NONE not in (x, y):
            product = apply_operator(lo, operator.mul, [x, y], node)
            if isinstance(product, ir.Var) and isinstance(product.type, (ir.Array, ir.Number)):
                product = lo.call(ir.Const(np.sum), [product], {}, node)
            total.append(apply_operator(lo, operator.add, [total[-1], product], node))
        return NONE

    _Parts(lo, leaf, node).of(a, b)
    return total[-1]


# -- what calls of these functions mean


def _handle(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers what lowers calls of functions; what it does not know is left to their text."""

    def register(lower: Callable[..., Any]) -> Callable[..., Any]:
        def handler(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: Node) -> Any:
            try:
                return lower(lo, *args, node=node, **kwargs)
            except (_Unknown, TypeError):
                return NotImplemented

        handles(*functions)(handler)
        return lower

    return register


def _is_tangent(lo: Lowerer, value: Value) -> bool:
    cls = class_of(lo, value)
    return cls is not None and issubclass(cls, TangentVector)


def _is_number(value: Value) -> bool:
    match value:
        case ir.Const(value=bool()):
            return False
        case ir.Const(value=int() | float()) | ir.Var(type=ir.Scalar() | ir.Number()):
            return True
        case ir.Var(type=ir.Array(dims=dims)):
            return dims == ()
        case _:
            return False


_REFUSED = ir.Const(NotImplemented)


@_handle(TangentVector.__add__)
def _add(lo: Lowerer, a: Value, b: Value, *, node: Node) -> Value:
    return added(lo, a, b, node) if class_of(lo, a) is class_of(lo, b) else _REFUSED


@_handle(TangentVector.__sub__)
def _sub(lo: Lowerer, a: Value, b: Value, *, node: Node) -> Value:
    if class_of(lo, a) is not class_of(lo, b):
        return _REFUSED
    return added(lo, a, scaled(lo, b, ir.Const(-1.0), node), node)


@_handle(TangentVector.__neg__, tangents.negate)
def _neg(lo: Lowerer, tangent: Value, *, node: Node) -> Value:
    return scaled(lo, tangent, ir.Const(-1.0), node)


@_handle(TangentVector.__mul__, TangentVector.__rmul__)
def _mul(lo: Lowerer, a: Value, b: Value, *, node: Node) -> Value:
    if _is_tangent(lo, b):
        return multiplied(lo, a, b, node)
    return scaled(lo, a, b, node) if _is_number(b) else _REFUSED


@_handle(TangentVector.__truediv__)
def _truediv(lo: Lowerer, a: Value, b: Value, *, node: Node) -> Value:
    if _is_tangent(lo, b):
        return multiplied(lo, a, b, node, operator.truediv)
    return scaled(lo, a, b, node, operator.truediv) if _is_number(b) else _REFUSED


@_handle(tangents.add)
def _sum(lo: Lowerer, a: Value, b: Value, *, node: Node) -> Value:
    return added(lo, a, b, node)


@_handle(tangents.subtract)
def _difference(lo: Lowerer, a: Value, b: Value, *, node: Node) -> Value:
    return added(lo, a, scaled(lo, b, ir.Const(-1.0), node), node)


@_handle(tangents.scale)
def _scale(lo: Lowerer, tangent: Value, factor: Value, *, node: Node) -> Value:
    return scaled(lo, tangent, factor, node)


@_handle(tangents.dot)
def _dot(lo: Lowerer, a: Value, b: Value, *, node: Node) -> Value:
    return inner_product(lo, a, b, node)


@_handle(tangents.norm)
def _norm(lo: Lowerer, tangent: Value, *, node: Node) -> Value:
    return lo.call(ir.Const(math.sqrt), [inner_product(lo, tangent, tangent, node)], {}, node)


@_handle(moved, Synthesised.moved)
def _moved(lo: Lowerer, x: Value, along: Value, *, node: Node) -> Value:
    return moved_along(lo, x, along, node)


@_handle(move, Synthesised.move)
def _move(lo: Lowerer, x: Value, along: Value, *, node: Node) -> Value:
    if not _is_mutable(lo, x):
        raise _Unknown
    moved_in_place(lo, x, along, node)
    return NONE


@_handle(differentiable_variables)
def _variables(lo: Lowerer, value: Value, *, node: Node) -> Value:
    return variables_of(lo, value, node)


@_handle(with_variables, Synthesised.with_variables)
def _with_variables(lo: Lowerer, value: Value, variables: Value, *, node: Node) -> Value:
    return with_variables_of(lo, value, variables, node)


@handles(memberwise)
def _memberwise(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: Node) -> Any:
    cls = args[0] if args else None
    if not isinstance(cls, ir.Const) or len(args) != 1 or node is None:
        return NotImplemented
    return made(lo, cls.value, list(kwargs.items()), node)
