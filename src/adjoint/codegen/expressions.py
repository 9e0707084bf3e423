"""Python syntax for atoms, calls and loads.

Operators print as operators, methods of built-in types as method calls, displays as displays; what is not in the
tables prints as a call of the callee by its name.
"""

from __future__ import annotations

import ast
import math
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.codegen import unparse
from adjoint.codegen.global_names import GlobalNames
from adjoint.codegen.tree import Number, token
from adjoint.ir.join import type_of_atom
from adjoint.runtime import display
from adjoint.runtime.array_functions.sequences import array_of
from adjoint.types.classes.safe_lookups import found_in

BINARY: dict[Any, type[ast.operator]] = {
    operator.add: ast.Add,
    operator.sub: ast.Sub,
    operator.mul: ast.Mult,
    operator.truediv: ast.Div,
    operator.floordiv: ast.FloorDiv,
    operator.mod: ast.Mod,
    operator.pow: ast.Pow,
    operator.matmul: ast.MatMult,
    operator.and_: ast.BitAnd,
    operator.or_: ast.BitOr,
    operator.xor: ast.BitXor,
    operator.lshift: ast.LShift,
    operator.rshift: ast.RShift,
}
COMPARISON: dict[Any, type[ast.cmpop]] = {
    operator.lt: ast.Lt,
    operator.le: ast.LtE,
    operator.eq: ast.Eq,
    operator.ne: ast.NotEq,
    operator.gt: ast.Gt,
    operator.ge: ast.GtE,
    operator.is_: ast.Is,
    operator.is_not: ast.IsNot,
}
UNARY: dict[Any, type[ast.unaryop]] = {
    operator.neg: ast.USub,
    operator.pos: ast.UAdd,
    operator.invert: ast.Invert,
    operator.not_: ast.Not,
}
ARRAY_FACTS: dict[Any, str] = {np.shape: "shape", np.size: "size", np.ndim: "ndim"}
_PARTS: dict[Any, str] = {np.real: "real", np.imag: "imag"}
_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType)
_LOAD = ast.Load()


def negated(cond: ast.expr) -> ast.expr:
    """The opposite of a condition. Comparisons of order stay: ``not a < b`` is not ``a >= b`` for nan."""
    match cond:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Compare(left=left, ops=[op], comparators=comparators) if type(op) in _OPPOSITE:
            return ast.Compare(left, [_OPPOSITE[type(op)]()], comparators)
        case _:
            return ast.UnaryOp(ast.Not(), cond)


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


class Expressions:
    """Builds syntax out of IR; ``numbers`` tells the tokens of variables."""

    def __init__(self, names: GlobalNames, numbers: dict[ir.Var, Number]) -> None:
        self.names = names
        self.numbers = numbers

    def var(self, var: ir.Var) -> ast.Name:
        return token(var.hint, self.numbers[var])

    def atom(self, atom: ir.Atom) -> ast.expr:
        if type(atom) is ir.Var:
            return self.var(atom)
        if type(atom) is ir.Const:
            return self.const(atom.value)
        raise TypeError("an undefined value is read")

    # Constants

    def const(self, value: Any) -> ast.expr:
        """A literal where there is one, else a reference to the object."""
        if type(value) in (float, int, complex):
            return self._number(value)
        match value:
            case None | bool() | str() | bytes() if value is None or type(value) in (bool, str, bytes):
                return ast.Constant(value)
            case types.EllipsisType():
                return ast.Constant(value)
            case ir.Function():
                return self.names.handed_over(value)
            case tuple() if type(value) is tuple:
                return ast.Tuple([self.const(item) for item in value], _LOAD)
            case np.generic() if value.dtype.kind in "biufc" and value.dtype.itemsize <= 8:
                return self._call(self.names.reference(type(value)), [self.const(value.item())])
            case np.dtype() if type(value).__name__ != "VoidDType" and value.isnative and np.dtype(value.type) == value:
                return self._call(self.names.reference(np.dtype), [self.names.reference(value.type)])
            case _:
                return self.names.reference(value)

    def _number(self, value: complex) -> ast.expr:
        if isinstance(value, complex):
            parts = [self._number(value.real), self._number(value.imag)]
            return self._call(self.names.builtin("complex"), parts)
        if isinstance(value, float):
            if value != value:
                return self._math("nan")
            if value in (math.pi, -math.pi):
                return self._signed(value, self._math("pi"))
            if math.isinf(value):
                return self._signed(value, self._math("inf"))
        return self._signed(value, ast.Constant(abs(value)))

    @staticmethod
    def _signed(value: float, magnitude: ast.expr) -> ast.expr:
        return ast.UnaryOp(ast.USub(), magnitude) if math.copysign(1.0, value) < 0 else magnitude

    def _math(self, name: str) -> ast.expr:
        return ast.Attribute(self.names.module("math"), name, _LOAD)

    @staticmethod
    def _call(callee: ast.expr, args: list[ast.expr]) -> ast.expr:
        return ast.Call(callee, args, [])

    # Loads and indices

    def load(self, base: ast.expr, key: ir.Key, parts: Sequence[ast.expr]) -> ast.expr:
        """``base[key]`` or ``base.name``; ``parts`` are the expressions of the key's atoms."""
        if isinstance(key, ir.Attribute):
            return ast.Attribute(base, key.name, _LOAD)
        return ast.Subscript(base, self.index(key, parts), _LOAD)

    def index(self, key: ir.Subscript, parts: Sequence[ast.expr]) -> ast.expr:
        """What stands between the brackets."""
        rest = iter(parts)
        items: list[ast.expr] = []
        for item in key.items:
            if isinstance(item, ir.Slice):
                items.append(ast.Slice(*(_unless_none(next(rest)) for _ in range(3))))
            else:
                items.append(next(rest))
        return ast.Tuple(items, _LOAD) if key.tupled or len(items) != 1 else items[0]

    def index_value(self, key: ir.Subscript, parts: Sequence[ast.expr]) -> ast.expr:
        """The index as a value: ``np.s_[1:, i]`` where it holds a slice."""
        index = self.index(key, parts)
        if any(isinstance(item, ir.Slice) for item in key.items):
            return ast.Subscript(ast.Attribute(self.names.module("np"), "s_", _LOAD), index, _LOAD)
        return index

    # Calls

    def order(self, callee: Any, count: int) -> Sequence[int]:
        """The order in which Python evaluates the operands of a printed call."""
        return (1, 0) if callee is operator.contains and count == 2 else range(count)

    def call(
        self, callee: Any, atoms: Sequence[ir.Atom], args: list[ast.expr], kwargs: Sequence[tuple[str, ast.expr]]
    ) -> ast.expr:
        """A call; ``atoms`` are its positional arguments, ``args`` their expressions."""
        if isinstance(callee, (ir.Definition, ir.Function)):
            return self._plain(self.names.reference(callee), args, kwargs)
        if not kwargs:
            special = _membership(callee, atoms, args) or self._operator(callee, args) or self._display(callee, args)
            special = special or self._attribute(callee, atoms, args)
            if special is not None:
                return special
        if callee is array_of and isinstance(atoms[0], ir.Const) and isinstance(atoms[0].value, tuple):
            rows = _nested(atoms[0].value, args[1:])
            return self._plain(ast.Attribute(self.names.module("np"), "array", _LOAD), [rows], kwargs)
        if callee is display.print_all:
            return self._plain(self.names.builtin("print"), [part for arg in args for part in _spread(arg)], kwargs)
        if callee is display.make_tuple:
            return self._plain(kwargs[0][1], args, ())  # of the class of a named tuple
        if callee in (display.call, display.draw) or is_call_of_pullback(callee):
            return self._plain(args[0], args[1:], kwargs)
        if isinstance(callee, _METHODS) and args:
            return self._plain(ast.Attribute(args[0], callee.__name__, _LOAD), args[1:], kwargs)
        if not callable(callee):
            raise TypeError(f"no Python text for a call of {callee!r}")
        return self._plain(self.names.reference(callee), args, kwargs)

    @staticmethod
    def _plain(callee: ast.expr, args: list[ast.expr], kwargs: Sequence[tuple[str, ast.expr]]) -> ast.expr:
        return ast.Call(callee, args, [ast.keyword(name, value) for name, value in kwargs])

    def _operator(self, callee: Any, args: list[ast.expr]) -> ast.expr | None:
        if len(args) == 1 and (unary := found_in(UNARY, callee)):
            return ast.UnaryOp(unary(), args[0])
        if len(args) != 2:
            return None
        left, right = args
        if binary := found_in(BINARY, callee):
            return ast.BinOp(left, binary(), right)
        if comparison := found_in(COMPARISON, callee):
            return ast.Compare(left, [comparison()], [right])
        if callee is operator.contains:
            return ast.Compare(right, [ast.In()], [left])
        if callee is operator.getitem:
            return ast.Subscript(left, right, _LOAD)
        return None

    def _attribute(self, callee: Any, atoms: Sequence[ir.Atom], args: list[ast.expr]) -> ast.expr | None:
        """``x.T``, ``x.shape`` and the like, of what is known to be an array; the parts of a complex number."""
        if len(args) != 1 or not isinstance(atoms[0], ir.Var):
            return None
        match atoms[0].type:
            case ir.Array():
                name = "T" if callee is np.transpose else found_in(ARRAY_FACTS, callee)
            case ir.Scalar(kind="complex"):
                name = found_in(_PARTS, callee)
            case _:
                return None
        return None if name is None else ast.Attribute(args[0], name, _LOAD)

    def _display(self, callee: Any, args: list[ast.expr]) -> ast.expr | None:
        printer = found_in(_DISPLAYS, callee)
        if printer is not None:
            return printer(args)  # type: ignore[no-any-return]
        if callee is display.make_set:
            return ast.Set(args) if args else self._call(self.names.builtin("set"), [])
        if callee is display.make_slice:
            return self._call(self.names.builtin("slice"), args)
        return None


def is_call_of_pullback(callee: Any) -> bool:
    """Whether what is called is the first argument: the pullback of a call of a function value."""
    return getattr(callee, "__name__", "") == "pulled_back" and callee.__module__ == "adjoint.runtime.functions"


def _nested(template: tuple[Any, ...], leaves: Sequence[ast.expr]) -> ast.expr:
    """The display of lists whose items are leaves, by their places."""
    parts = [_nested(part, leaves) if isinstance(part, tuple) else leaves[part] for part in template]
    return ast.List(parts, _LOAD)


def _membership(callee: Any, atoms: Sequence[ir.Atom], args: Sequence[ast.expr]) -> ast.expr | None:
    """``t in (1, 2)`` for ``(1 == t) | (2 == t)``, as which the front end looks for a number among some."""
    if callee is not operator.or_ or len(args) != 2:
        return None
    one, other = (_asked_for(atom, node) for atom, node in zip(atoms, args, strict=True))
    if one is None or other is None or one[0].id != other[0].id:
        return None
    return ast.Compare(one[0], [ast.In()], [ast.Tuple([*one[1], *other[1]], _LOAD)])


def _asked_for(atom: ir.Atom, node: ast.expr) -> tuple[ast.Name, list[ast.expr]] | None:
    """The number that is compared with others, and these."""
    match node:
        case ast.Compare(one, [ast.Eq()], [ast.Name() as number]) if type_of_atom(atom) == ir.BOOL:
            is_literal = isinstance(one.operand if isinstance(one, ast.UnaryOp) else one, ast.Constant)
            return (number, [one]) if is_literal else None
        case ast.Compare(ast.Name() as number, [ast.In()], [ast.Tuple(some)]):
            return number, some
        case _:
            return None


def _spread(container: ast.expr) -> list[ast.expr]:
    return container.elts if isinstance(container, ast.Tuple) else [ast.Starred(container, _LOAD)]


def _unless_none(part: ast.expr) -> ast.expr | None:
    return None if isinstance(part, ast.Constant) and part.value is None else part


def _field(args: list[ast.expr]) -> ast.expr | None:
    """``f"{value!r:spec}"``, if the conversion and the specification are literals."""
    value, conversion, spec = (*args, ast.Constant(None), ast.Constant(None))[:3]
    if not (isinstance(conversion, (ast.Constant, ast.UnaryOp)) and isinstance(spec, ast.Constant)):
        return None
    code = _CONVERSIONS.get(conversion.value, -1) if isinstance(conversion, ast.Constant) else -1
    format_spec = ast.JoinedStr([ast.Constant(spec.value)]) if spec.value else None
    return _printable(ast.JoinedStr([ast.FormattedValue(value, code, format_spec)]))


_CONVERSIONS: dict[Any, int] = {"s": 115, "r": 114, "a": 97, 115: 115, 114: 114, 97: 97}


def _joined(args: list[ast.expr]) -> ast.expr | None:
    parts: list[ast.expr] = []
    for arg in args:
        if isinstance(arg, ast.JoinedStr):
            parts += arg.values
        elif isinstance(arg, ast.Constant) and isinstance(arg.value, str):
            parts.append(arg)
        else:
            parts.append(ast.FormattedValue(arg, -1, None))
    return _printable(ast.JoinedStr(parts))


def _printable(node: ast.JoinedStr) -> ast.expr | None:
    """The f-string, unless its quotes and backslashes cannot be nested."""
    return None if unparse.text_of(node, _PLAIN.field) is None else node


_PLAIN = unparse.Expressions(lambda name: name)


_DISPLAYS: dict[Any, Callable[[list[ast.expr]], ast.expr | None]] = {
    display.make_list: lambda args: ast.List(args, _LOAD),
    display.make_tuple: lambda args: ast.Tuple(args, _LOAD),
    display.make_dict: lambda args: ast.Dict(list(args[::2]), list(args[1::2])),
    display.unpack: lambda args: args[0],
    display.keys_of: lambda args: ast.Call(ast.Name("list", _LOAD), args, []),
    display.format_value: _field,
    display.join_string: _joined,
}
