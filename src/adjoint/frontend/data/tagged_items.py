"""What lies in a container and has one of several structures, as a tuple: a number that says which, and all of them.

An item that is read is one of several values, as a variable is behind a branch; one that is written is put into the
place of its structure. That is done where a container would be refused otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from adjoint import ir
from adjoint.frontend.data.contained_functions import made_again, which_function
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import MAX_OPTIONS, type_of
from adjoint.frontend.interpreter.options.choices import chosen, on_each_option, parts_of
from adjoint.frontend.interpreter.values import NONE, Union, Value
from adjoint.runtime import display


def merged(lo: Lowerer, one: ir.Type, other: ir.Type) -> ir.Type | None:
    """The type of an item that has the structure of one or the other; None where that would be too many."""
    found = list(_structures(one))
    for structure in _structures(other):
        place, joined = _place_of(lo, found, structure)
        if joined is None:
            found.append(structure)
        else:
            found[place] = joined
    if len(found) > MAX_OPTIONS:
        return None
    parts = [structure for structure in found if structure != ir.OF_NONE]
    return ir.Tuple((ir.INT, *parts), ir.Tagged if len(parts) == len(found) else ir.TaggedOrNone)


def _structures(type_: ir.Type) -> tuple[ir.Type, ...]:
    return ir.options_of(type_) or (type_,)


def _place_of(lo: Lowerer, structures: list[ir.Type], type_: ir.Type) -> tuple[int, ir.Type | None]:
    """Which of several structures a type belongs to, and what both are; None where it is of another one."""
    for place, structure in enumerate(structures):
        joined = lo.types.join(structure, type_)
        if joined is not None and (joined == structure or ir.OF_NONE not in (structure, type_)):
            return place, joined
    return 0, None


def tagged(
    lo: Lowerer, atom: ir.Atom, type_: ir.Type, as_element: Callable[[Lowerer, ir.Atom, ir.Type], ir.Atom]
) -> ir.Atom:
    """What a container holds for an item, if its items are of such a type."""
    options = ir.options_of(type_)
    if options is None or ir.options_of(type_of(atom)) is not None:
        return atom
    place, _ = _place_of(lo, list(options), type_of(atom))
    parts: list[ir.Atom] = [_nothing(option) for option in options]
    parts[place] = as_element(lo, atom, options[place])
    target = ir.Var("item", type_)
    held = parts[_without_place(options) :]
    lo.emit(ir.Call((target,), display.make_tuple, (ir.Const(place), *held), (), lo.open.span))
    return target


def _without_place(options: tuple[ir.Type, ...]) -> int:
    """How many of the structures have no place: None, where it is one of them."""
    return int(options[0] == ir.OF_NONE)


def _nothing(type_: ir.Type) -> ir.Const:
    """What is in the place of a structure that an item does not have: of a number another one."""
    numbers = {"float": 0.0, "int": 0, "bool": False, "complex": 0j}
    return ir.Const(numbers[type_.kind] if type(type_) is ir.Scalar else None)


def taken(lo: Lowerer, item: ir.Var, node: ast.AST | None) -> Value:
    """An item that was read from a container: one of several values where it has one of several structures."""
    if isinstance(item.type, ir.OneOf):
        return which_function(lo, item, node)
    if isinstance(item.type, ir.Tuple) and issubclass(item.type.cls, ir.MadeFunction):
        return made_again(lo, item.type.cls, _parts(lo, item, item.type.items, node), node)
    options = ir.options_of(item.type)
    if options is None:
        return item
    places: tuple[Value, ...] = tuple(map(ir.Const, range(len(options))))

    def part(place: Value) -> Value:
        assert isinstance(place, ir.Const)
        type_ = options[place.value]
        if type_ == ir.OF_NONE:
            return NONE
        target = ir.Var("t", type_)
        lo.emit(
            ir.Load(target, item, ir.Subscript((ir.Const(place.value + 1 - _without_place(options)),)), lo.span(node))
        )
        return taken(lo, target, node)

    tag = ir.Var("case", ir.INT)
    lo.emit(ir.Load(tag, item, ir.Subscript((ir.Const(0),)), lo.span(node)))
    return on_each_option(lo, Union(tag, places), part, node)


def _parts(lo: Lowerer, item: ir.Var, types: tuple[ir.Type, ...], node: ast.AST | None) -> list[Value]:
    """What lies in a tuple that stands for a function."""
    parts = []
    for place, type_ in enumerate(types):
        part = ir.Var("t", type_)
        lo.emit(ir.Load(part, item, ir.Subscript((ir.Const(place),)), lo.span(node)))
        parts.append(taken(lo, part, node))
    return parts


def may_hold_none(value: Value) -> bool:
    """Whether a value is a list of items of one structure, or None, each."""
    options = _options_of_items(value)
    return len(options) == 2 and ir.OF_NONE in options


def may_hold_placeholders(value: Value) -> bool:
    """Whether a value is a list of items of one structure, and of lists that stand where there is none yet: [None]."""
    options = _options_of_items(value)
    structures = [option for option in options if not _is_nothing(option)]
    return len(options) > 1 and len(structures) == 1 and not isinstance(structures[0], ir.List)


def _is_nothing(type_: ir.Type) -> bool:
    return type_ == ir.OF_NONE or (isinstance(type_, ir.List) and type_.element in (None, ir.OF_NONE))


def _options_of_items(value: Value) -> tuple[ir.Type, ...]:
    is_list = isinstance(value, ir.Var) and isinstance(value.type, ir.List)
    return (is_list and ir.options_of(value.type.element)) or ()  # type: ignore[union-attr]


def first_union(value: Value) -> Union | None:
    """What has several structures among the parts of a value that have no identity of their own."""
    if isinstance(value, Union):
        return value
    return next((found for part in parts_of(value) if (found := first_union(part)) is not None), None)


def put_each(lo: Lowerer, value: Value, put: Callable[[Value], None], node: ast.AST | None) -> bool:
    """Puts a value into a container, by the structure that it has; False where it has one anyway."""
    union = first_union(value)
    if union is None:
        return False

    def put_option(option: Value) -> Value:
        put(chosen(value, union, option))
        return NONE

    on_each_option(lo, union, put_option, node)
    return True
