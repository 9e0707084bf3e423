"""Python's own functions, where they act on structure rather than on numbers."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import call_any
from adjoint.frontend.calls.empty_lists import see_rank
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.calls.opaque.arguments import refuse_made_here
from adjoint.frontend.calls.opaque.library_classes import look_where_it_comes_from
from adjoint.frontend.calls.operands import arrays
from adjoint.frontend.data import containers, making
from adjoint.frontend.entry.captured import names_guard
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.values import (
    NONE,
    STANDS_FOR,
    Closure,
    IteratorValue,
    Method,
    Operator,
    Partial,
    Pullback,
    RangeValue,
    Record,
    Ref,
    SliceValue,
    SuperValue,
    TupleValue,
    Union,
    Value,
    is_atom,
    local_mark,
)
from adjoint.frontend.iterators.coming_back import come_back
from adjoint.frontend.iterators.items import kept, sequence, static_items, written_out
from adjoint.frontend.iterators.iterator_objects import is_iterator_object, iterator_of, lazily, next_of_object, rows
from adjoint.frontend.iterators.iterators import drawn, is_iterator, is_lazy, refuse_twice
from adjoint.frontend.iterators.of_itertools import item_by_item
from adjoint.frontend.library import python_functions
from adjoint.frontend.objects.classes import class_of, class_seen, class_told, is_object, note_owner
from adjoint.frontend.objects.linked import is_reference
from adjoint.frontend.objects.special_method_effects import text_of
from adjoint.frontend.objects.special_methods import special_method
from adjoint.frontend.syntax.conditions import bool_of, truth_of
from adjoint.frontend.syntax.operations import apply_operator
from adjoint.runtime import display
from adjoint.runtime.arithmetic import numbers
from adjoint.sources.library_folders import is_class_of_a_library, is_of_a_library
from adjoint.sources.trees import nodes
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.structure import CONTAINERS


@handles(range)
def _range(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    atoms = [materialize(lo, value, node) for value in args]
    are_told = [not isinstance(type_of(atom), (ir.Array, ir.Number)) for atom in atoms]
    atoms = [atom if told else lo.open.call(operator.index, atom) for atom, told in zip(atoms, are_told, strict=True)]
    for atom in atoms:
        note_owner(lo, atom, lambda number: hasattr(number, "__index__"))
        type_ = type_of(atom)
        if isinstance(type_, ir.Scalar) and type_.kind in ("float", "complex"):
            raise lo.mistake(TypeError, node, f"'range' takes whole numbers, and this is of class {type_.kind!r}")
    if len(atoms) == 3 and atoms[2] == ir.Const(0):
        raise lo.mistake(ValueError, node, "the step of 'range' must not be zero")
    if len(atoms) == 1:
        return RangeValue(ir.Const(0), atoms[0], ir.Const(1))
    return RangeValue(atoms[0], atoms[1], atoms[2] if len(atoms) > 2 else ir.Const(1))


def _refuse_uniterable(lo: Lowerer, values: Iterable[Value], node: ast.AST | None) -> None:
    """Numbers, arrays without axes and most objects are no iterables, whether anybody asks for an item or not."""
    for value in values:
        if _is_uniterable_object(lo, value):
            name = getattr(class_of(lo, value), "__name__", "function")
            raise lo.mistake(TypeError, node, f"a value of class {name!r} cannot be iterated over")
        type_ = type_of(value)
        if type(type_) is ir.Scalar or (isinstance(type_, ir.Array) and type_.dims == ()) or value == NONE:
            name = "NoneType" if value == NONE else getattr(class_of(lo, value), "__name__", "array")
            raise lo.mistake(TypeError, node, f"a value of class {name!r} cannot be iterated over")


def _is_uniterable_object(lo: Lowerer, value: Value) -> bool:
    match value:
        case Closure() | Method() | Partial() | Operator() | SliceValue():
            return True
        case ir.Const(value=constant):
            return not (is_marked(type(constant), "__iter__") or is_marked(type(constant), "__getitem__"))
    return is_object(lo, value) and all(special_method(lo, value, name) is None for name in ("__iter__", "__getitem__"))


@handles(enumerate)
def _enumerate(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    _refuse_uniterable(lo, args[:1], node)
    start = kwargs.get("start", args[1] if len(args) > 1 else ir.Const(0))
    return lazily(lo, IteratorValue("enumerate", (kept(lo, args[0]), start)), node)


@handles(zip)
def _zip(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    _refuse_uniterable(lo, args, node)
    is_strict = kwargs.get("strict", ir.Const(False)) != ir.Const(False)
    if is_strict:
        args = [_with_length(lo, arg, node) for arg in args]
    if node is not None and sum(is_iterator_object(lo, arg) for arg in args) > 1:
        return rows(lo, args, node)
    parts = tuple(kept(lo, arg) for arg in args)
    refuse_twice(lo, parts, node)
    if is_strict and _may_be_handled(lo):  # what was done with the items before is there, then
        return python_functions.call(lo, item_by_item.zipped_strictly, [TupleValue(parts)], node)
    if is_strict:
        for place, part in enumerate(parts[1:], 2):
            end = "argument 1" if place == 2 else f"arguments 1-{place - 1}"
            words = [ir.Const(f"zip() argument {place} is {than} than {end}") for than in ("shorter", "longer")]
            python_functions.call(lo, python_functions.check_as_long, [part, parts[0], *words], node)
    return lazily(lo, IteratorValue("zip", parts), node)


def _may_be_handled(lo: Lowerer) -> bool:
    """Whether an exception may be handled by one of the functions that run."""
    frame = lo.frame
    while frame is not None:
        if any(isinstance(part, (ast.Try, ast.With)) for part in nodes(frame.source.node)):
            return True
        frame = frame.caller
    return bool(lo.run_data.handled)


def _with_length(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """Items of which the number is known before the first is used: all are computed, where nobody may see that."""
    is_asked = special_method(lo, value, "__iter__") is not None
    if not (is_asked or is_lazy(value) or isinstance(value, IteratorValue) or is_iterator_object(lo, value)):
        return value
    from adjoint.frontend.iterators.effect_watches import before_its_turn  # lazy
    from adjoint.frontend.iterators.generators.zipped import may_have_no_end  # lazy

    if is_iterator_object(lo, value) or may_have_no_end(value):
        raise lo.problem("AD0301", node, "'zip' with 'strict' of something that has no length")
    with before_its_turn(lo, node):
        return lo.call(ir.Const(list), [value], {}, node)


@handles(reversed)
def _reversed(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    _refuse_uniterable(lo, args, node)
    method = special_method(lo, args[0], "__reversed__")
    if method is not None:
        return lo.call(method, [], {}, node)
    if is_iterator(args[0]):
        raise lo.mistake(TypeError, node, "an iterator cannot be reversed")
    if is_object(lo, args[0]) and any(special_method(lo, args[0], name) is None for name in ("__len__", "__getitem__")):
        label = f"an object of class {getattr(class_of(lo, args[0]), '__name__', '')!r} cannot be reversed"
        raise lo.mistake(TypeError, node, label)
    return lazily(lo, IteratorValue("reversed", (sequence(lo, args[0]),)), node)


def _by_method(name: str) -> Handler:
    def convert(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        method = special_method(lo, args[0], name) if args else None
        if method is None:
            return NotImplemented
        return lo.call(method, args[1:], kwargs, node)

    return convert


for _function, _name in (
    (abs, "__abs__"),
    (float, "__float__"),
    (int, "__int__"),
    (round, "__round__"),
    (complex, "__complex__"),
    (math.floor, "__floor__"),
    (math.ceil, "__ceil__"),
    (math.trunc, "__trunc__"),
):
    HANDLERS[_function] = _by_method(_name)


@handles(bool)
def _bool(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not args or isinstance(args[0], ir.Var):
        return NotImplemented
    return bool_of(lo, truth_of(lo, args[0], node), node)


@handles(iter)
def _iter(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if len(args) == 2:
        return python_functions.call(lo, item_by_item.called_until, args, node)
    _refuse_uniterable(lo, args[:1], node)
    if isinstance(args[0], ir.Var) and isinstance(args[0].type, ir.Opaque) and lo.run_data.handled:
        return NotImplemented  # which raises at once
    value = iterator_of(lo, args[0], node)
    if is_iterator(value) or is_iterator_object(lo, value):
        return value
    return lazily(lo, IteratorValue("iter", (value,)), node)


@handles(next)
def _next(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if isinstance(args[0], Union):
        for option in args[0].options:
            come_back(lo, option)
        return on_each_option(lo, args[0], lambda option: _next(lo, [option, *args[1:]], {}, node), node)
    if len(args) == 1:
        from adjoint.frontend.iterators.generators.loops import refuse_ending  # lazy

        refuse_ending(lo, node)
    if is_iterator(args[0]):
        return python_functions.call(
            lo, python_functions.first if len(args) == 1 else python_functions.first_or, args, node
        )
    if is_iterator_object(lo, args[0]):
        return next_of_object(lo, args, node)
    if all(is_atom(arg) for arg in args):
        return NotImplemented
    raise lo.problem(
        "AD0305", node, "'next' takes an item out of an iterator, which the reverse sweep cannot give back"
    )


@handles(len)
def _len(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if isinstance(args[0], RangeValue):
        return NotImplemented
    if isinstance(args[0], IteratorValue):
        return NotImplemented
    return containers.length(lo, args[0], node)


_WRITTEN_OUT = ("write the expression or the name where it is used, or take a dict for what has names at run time",)


@handles(eval, exec)
def _names_unseen(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    label = "variables are read or written here by names that are not in the source"
    raise lo.problem("AD0301", node, label, helps=_WRITTEN_OUT)


def _may_be_absent(part: Value) -> bool:
    """Whether an attribute may not have been assigned."""
    return isinstance(part, ir.Undefined) or (isinstance(part, Union) and any(map(_may_be_absent, part.options)))


@handles(dir)
def _names_of_the_frame(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not args:
        return _names_unseen(lo, args, kwargs, node)
    record = lo.store.get(args[0]) if isinstance(args[0], Ref) else None
    if not isinstance(record, Record) or record.cls in CONTAINERS:
        return NotImplemented
    is_other = STANDS_FOR in record.cls.__dict__ or local_mark(record.cls) is not None
    if (
        is_other
        or inspect.getattr_static(record.cls, "__dir__") is not object.__dir__
        or any(map(_may_be_absent, record.items))
    ):
        return NotImplemented
    if not (lo.run_data.all_constant or is_class_of_a_library(record.cls)):
        lo.run_data.guards.append(names_guard(record.cls))
    names = {*record.keys, *dir(record.cls)}
    return making.new_list(lo, [ir.Const(name) for name in sorted(names)], node)


@handles(vars)
def _vars(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if len(args) != 1 or not is_object(lo, args[0]) or node is None:
        return _names_of_the_frame(lo, args, kwargs, node)
    from adjoint.frontend.objects.own_attributes import table_of  # lazy

    return table_of(lo, args[0], node)


@handles(sys._getframe, inspect.currentframe, inspect.stack)
def _frame(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if lo.frame is not None and is_of_a_library(lo.frame.closure.source.file):
        return NotImplemented  # a library that asks who calls it, to name the place
    raise lo.problem("AD0301", node, "the frame of the function is asked for, and a derivative has another one")


@handles(type)
def _type(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    told = class_told(lo, args[0], node) if len(args) == 1 and not is_reference(args[0]) else None
    note_owner(lo, args[0], lambda number: number)
    return NotImplemented if told is None else told


@handles(callable)
def _callable(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    match args[0]:
        case ir.Const(value=constant):
            return ir.Const(callable(constant))
        case Closure() | Method() | Partial() | Operator() | Pullback():
            return ir.Const(True)
        case ir.Var(type=ir.Opaque(cls=cls, signature=signature)):
            if cls is None:
                return NotImplemented if signature is None else ir.Const(True)
            return ir.Const(is_marked(cls, "__call__"))
        case value:
            return ir.Const(special_method(lo, value, "__call__") is not None)


@handles(object.__init__)
def _object_init(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return NONE


@handles(super)
def _super(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if len(args) != 2 or not isinstance(args[0], ir.Const):
        return NotImplemented
    return SuperValue(args[0].value, args[1])


# -- containers -------------------------------------------------------------------------------------------------------


@handles(tuple)
def _tuple(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not args:
        return TupleValue(())
    value = sequence(lo, args[0])
    items = written_out(lo, value, node)
    if items is not None:
        return making.tuple_of(items, args[0])
    if isinstance(value, ir.Var) and not isinstance(value.type, (ir.List, ir.Array)):
        return NotImplemented
    items_now = value if is_lazy(args[0]) else python_functions.call(lo, python_functions.copied, [value], node)
    return making.as_tuple(items_now)


@handles(list)
def _list(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not args:
        return making.new_list(lo, [], node)
    value = kept(lo, args[0])
    if is_lazy(value) and not isinstance(value := drawn(lo, value, node), IteratorValue):
        return value
    items = static_items(lo, value, node)
    if items is not None:
        return making.new_list(lo, items, node)
    if isinstance(value, ir.Var) and isinstance(value.type, ir.Dict):
        return lo.open.call(display.keys_of, value)
    if isinstance(value, ir.Var) and not isinstance(value.type, (ir.List, ir.Array)):
        return NotImplemented
    return python_functions.call(lo, python_functions.copied, [value], node)


@handles(frozenset)
def _frozenset(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if not args or not is_lazy(args[0]):
        return NotImplemented
    return lo.call(ir.Const(frozenset), [lo.call(ir.Const(list), args, {}, node)], {}, node)


@handles(slice)
def _slice(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    atoms = [materialize(lo, value, node) for value in args]
    if len(atoms) == 1:
        return SliceValue(NONE, atoms[0], NONE)
    return SliceValue(atoms[0], atoms[1], atoms[2] if len(atoms) > 2 else NONE)


# -- folds ------------------------------------------------------------------------------------------------------------


@handles(np.isscalar)
def _isscalar(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if isinstance(args[0], ir.Const):
        return ir.Const(np.isscalar(args[0].value))
    if isinstance(args[0], ir.Var) and isinstance(args[0].type, (ir.Scalar, ir.Array)):
        return ir.Const(isinstance(args[0].type, ir.Scalar))
    return NotImplemented


@handles(np.iterable)
def _is_iterable(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    match args:
        case [ir.Const(value=constant)]:
            return ir.Const(np.iterable(constant))
        case [TupleValue() | ir.Var(type=ir.List() | ir.Dict())]:
            return ir.Const(True)
        case [ir.Var() as value]:
            if isinstance(value.type, ir.Opaque):
                look_where_it_comes_from(lo, value)
            rank = _rank(lo, value)
            return NotImplemented if rank is None else ir.Const(rank > 0)
        case [Ref() as value] if making.is_dict(lo, value) or making.list_items(lo, value) is not None:
            return ir.Const(True)
    return NotImplemented


@handles(np.ndim)
def _ndim(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    rank = _rank(lo, args[0]) if len(args) == 1 else None
    see_rank(lo, rank)
    return NotImplemented if rank is None else ir.Const(rank)


def _rank(lo: Lowerer, value: Value) -> int | None:
    """The rank of an array, or of what would be one; None where it is not known."""
    match value:
        case ir.Const(value=constant):
            return np.ndim(constant)
        case ir.Var(type=ir.Array(dims=dims)):
            return None if dims is None else len(dims)
        case ir.Var(type=ir.Scalar() | ir.Number(has_no_axes=True)):
            return 0
    items = value.items if isinstance(value, TupleValue) else making.list_items(lo, value)
    if items is None:
        return None
    inner = _rank(lo, items[0]) if items else 0
    return None if inner is None else 1 + inner


@handles(numbers.is_real)
def _is_real(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return ir.Const(_surely_real(lo, args[0], node))


@handles(np.sign)
def _sign(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Of complex numbers it is their direction, which varies."""
    args = arrays(lo, args, node)
    if kwargs or len(args) != 1 or not is_atom(args[0]) or _surely_real(lo, args[0], node):
        return NotImplemented
    conjugate = lo.call(ir.Const(numbers.sign), args, {}, node)
    return lo.call(ir.Const(np.conjugate), [conjugate], {}, node)


def _surely_real(lo: Lowerer, value: Value, node: ast.AST | None) -> bool:
    match type_of(materialize(lo, value, node)):
        case ir.Scalar(kind=kind):
            return kind != "complex"
        case ir.Array(dtype=dtype):
            return dtype is not None and dtype.kind != "c"
        case _:
            return False


def _observing(function: Any) -> Handler:
    def observe(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        args = [making.plain_dict(lo, arg, node) if class_seen(lo, arg) is dict else arg for arg in args]
        for value in (*args, *kwargs.values()):
            refuse_made_here(lo, value, node)
        args = [*(text_of(lo, function, value, args[1:], node) for value in args)]
        atoms = [materialize(lo, value, node, observer=True) for value in args]
        pairs = {name: materialize(lo, value, node, observer=True) for name, value in kwargs.items()}
        if function in display.PRINTS:
            lo.open.effect(function, *atoms, **pairs)
            return NONE
        if not pairs and atoms and all(isinstance(a, ir.Const) for a in atoms) and function is str:
            return ir.Const(str(*(a.value for a in atoms)))  # type: ignore[union-attr]
        return call_any(lo, function, list(atoms), node, **pairs)

    return observe


for _observer in (*display.PRINTS, repr, str, format):
    HANDLERS[_observer] = _observing(_observer)


@handles(pow)
def _pow(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """``pow(x, y)`` is ``x ** y``."""
    return NotImplemented if kwargs or len(args) != 2 else apply_operator(lo, operator.pow, args, node)
