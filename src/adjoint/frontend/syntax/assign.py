"""Binding names and writing to attributes and items."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.differentiation.nondifferentiable import OUT_OF_EXCEPTIONS
from adjoint.frontend.calls.emitted_calls import call
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.calls.opaque.library_classes import look_where_it_comes_from
from adjoint.frontend.calls.operands import array_operand, stop_at_alien
from adjoint.frontend.control.binding_flags import note_bound, raise_unbound
from adjoint.frontend.data import containers, making
from adjoint.frontend.data.element_types import mark_array_written
from adjoint.frontend.data.uniqueness import is_sole_owner
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import has_options, with_each_structure
from adjoint.frontend.interpreter.options.refine import evaluate_owner, without_none
from adjoint.frontend.interpreter.values import NONE, Cell, IteratorValue, Record, Ref, SliceValue, Value
from adjoint.frontend.iterators.items import known_items
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.arrays import definitions as array_definitions
from adjoint.frontend.objects.attributes import attribute
from adjoint.frontend.objects.special_methods import special_method
from adjoint.frontend.syntax import starred
from adjoint.frontend.syntax.indexing import array_key
from adjoint.frontend.syntax.names import lookup
from adjoint.frontend.syntax.operations import apply_operator
from adjoint.frontend.syntax.operators import inplace_operator
from adjoint.ir.item_types import is_advanced
from adjoint.ir.walk import blocks_of, operands, statements_in, targets_of
from adjoint.runtime.arithmetic.in_place import check_array, check_number, check_written
from adjoint.types.structure import DICTS


def assign(lo: Lowerer, target: ast.expr, value: Value) -> None:
    """``target = value`` for any target."""
    match target:
        case ast.Name(id=name):
            assign_name(lo, name, value, target)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            _unpack(lo, target, elements, value)
        case ast.Attribute():
            from adjoint.frontend.objects.attribute_writes import set_attribute  # lazy

            set_attribute(lo, evaluate_owner(lo, target.value, target), target.attr, value, target)
        case ast.Subscript():
            base = evaluate_owner(lo, target.value, target)
            index = lo.evaluate(target.slice)
            from adjoint.frontend.data.item_writes import set_item  # lazy

            written = _written(lo, base, target)
            _at_each_place(lo, index, lambda place: set_item(lo, written, place, value, target), target)
            _keep_written(lo, base, written, target)
        case _:
            raise lo.problem("AD0301", target, "this assignment target is not supported")


def _at_each_place(lo: Lowerer, index: Value, write: Callable[[Value], None], node: ast.AST) -> None:
    """Writes at an index; where that has one of several structures, there is one statement for each."""

    def written(place: Value) -> Value:
        write(place)
        return NONE

    if has_options(index):
        with_each_structure(lo, index, written, node)
    else:
        write(index)


def _written(lo: Lowerer, base: Value, target: ast.Subscript) -> Value:
    """What items are written of: of what may be a number, and one variable alone has, an array that it is bound to."""
    if not isinstance(target.value, ast.Name) or not _is_own(lo, target.value.id, base):
        return base
    return python_functions.call(lo, array_definitions.own_array, [base], target)


def _keep_written(lo: Lowerer, base: Value, written: Value, target: ast.Subscript) -> None:
    """Binds a variable to the array that was written in place of what it held."""
    if written is not base:
        assert isinstance(target.value, ast.Name)
        assign_name(lo, target.value.id, written, target)


def assign_name(lo: Lowerer, name: str, value: Value, node: ast.AST | None) -> None:
    cell = lo.cell_named(name)
    if cell is None:
        from adjoint.frontend.data.outside.outer_variables import first_assignment  # lazy

        assert lo.frame is not None
        raise first_assignment(lo, lo.frame.closure.globals, name, node)
    if value is ir.UNDEFINED:
        raise lo.problem("AD0304", node, "a value that does not exist on any path is assigned")
    if isinstance(value, IteratorValue) and value.kind in ("count", "cycle"):
        value = materialize(lo, value, node)  # 'next' may be asked for it
    if lo.settings.tracked and lo.frame is not None and (lo.frame.source.node, name) in lo.settings.tracked:
        from adjoint.frontend.flow.derivatives import bound  # lazy

        value = bound(lo, value, name)
    bind_anew(lo, cell, value, node)


def bind_anew(lo: Lowerer, cell: Cell, value: Value, node: ast.AST | None) -> None:
    """Gives a variable another value, here and where it lives if it outlives the call."""
    if outlives_the_call(lo, cell):
        from adjoint.frontend.data.outside.outer_variables import assign_outside  # lazy

        assign_outside(lo, cell, value, node)
    lo.store[cell] = value
    note_bound(lo, cell, is_bound=True)
    if cell in lo.run_data.boxes:
        from adjoint.frontend.control.partial_effects import keep  # lazy

        keep(lo, cell, value, node)


def outlives_the_call(lo: Lowerer, cell: Cell) -> bool:
    """Whether a variable is global, an attribute of a function or class, or captured by a function object."""
    return not lo.run_data.all_constant and (cell in lo.run_data.contents or cell in lo.run_data.globals.values())


def _unpack(lo: Lowerer, target: ast.expr, elements: list[ast.expr], value: Value) -> None:
    value = without_none(lo, value, target, TypeError, "cannot unpack non-iterable NoneType object")
    open_ended = [place for place, element in enumerate(elements) if isinstance(element, ast.Starred)]
    targets = [element.value if isinstance(element, ast.Starred) else element for element in elements]
    if open_ended:
        items = starred.unpack(lo, target, value, open_ended[0], len(targets))
    else:
        items = known_items(lo, value, target, count=len(targets))
    if len(items) != len(targets):
        raise lo.mistake(ValueError, target, f"{len(items)} values are unpacked into {len(targets)} names")
    for part, item in zip(targets, items, strict=True):
        if isinstance(part, ast.Name):
            lo.rename(item, part.id)
        assign(lo, part, item)


def augment(lo: Lowerer, target: ast.expr, op: Callable[..., Any], operand: ast.expr, node: ast.AugAssign) -> None:
    """``target op= operand``: arrays and lists are written in place, anything else is rebound."""
    match target:
        case ast.Name(id=name):
            current = lookup(lo, name, target)
            value = lo.evaluate(operand)
            lo.at(node)
            result = None if _is_own(lo, name, current) else _in_place(lo, current, op, value, node)
            if result is None:
                result = _combine(lo, op, current, value, node)
                if _may_be_array(current):
                    lo.emit(ir.Call((), check_written, (current, materialize(lo, result, node)), (), lo.span(node)))
                lo.rename(result, name)
            assign_name(lo, name, result, target)
        case ast.Attribute():
            base = evaluate_owner(lo, target.value, target)
            current = attribute(lo, base, target.attr, target)
            value = lo.evaluate(operand)
            lo.at(node)
            result = _in_place(lo, current, op, value, node)
            if result is None:
                result = _combine(lo, op, current, value, node)
            elif isinstance(base, ir.Var) and isinstance(base.type, ir.Array):
                return  # the part of an array is a view of it, which holds the result already
            from adjoint.frontend.objects.attribute_writes import set_attribute  # lazy

            set_attribute(lo, base, target.attr, result, target)
        case ast.Subscript():
            base = evaluate_owner(lo, target.value, target)
            index = lo.evaluate(target.slice)
            written = _written(lo, base, target)
            _at_each_place(lo, index, lambda place: _augment_item(lo, written, place, op, operand, target, node), node)
            _keep_written(lo, base, written, target)
        case _:
            raise lo.problem("AD0301", target, "this assignment target is not supported")


def _is_own(lo: Lowerer, name: str, current: Value) -> bool:
    """Whether a variable alone has what may be an array."""
    cell = lo.cell_named(name)
    return (
        _may_be_array(current)
        and cell is not None
        and lo.store.get(cell) is current
        and is_sole_owner(lo, current, cell)
    )


def _may_be_array(value: Value) -> TypeGuard[ir.Var]:
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Number)


def _combine(lo: Lowerer, op: Callable[..., Any], current: Value, value: Value, node: ast.AST) -> Value:
    return apply_operator(lo, op, [current, value], node, inplace=True)


def _augment_item(
    lo: Lowerer,
    base: Value,
    index: Value,
    op: Callable[..., Any],
    operand: ast.expr,
    target: ast.Subscript,
    node: ast.AugAssign,
) -> None:
    from adjoint.frontend.data.item_writes import set_item  # lazy

    if isinstance(base, ir.Var) and isinstance(base.type, ir.Array) and op in (operator.add, operator.sub):
        key = array_key(lo, index, target)
        opened, start = lo.open, len(lo.open.statements)
        before = containers.subscript(lo, base, index, target) if _may_run_code(operand) else None
        added = lo.evaluate(operand)
        is_copy = isinstance(before, ir.Var) and (
            not isinstance(before.type, ir.Array) or any(map(is_advanced, key.items))
        )
        is_late = is_copy and (lo.open is not opened or any(map(_writes, opened.statements[start:])))
        if not is_late and not _may_repeat(key):
            array = base
            with_each_structure(lo, added, lambda each: _add_to_part(lo, array, key, op, each, node), node)
            return
        current = before if is_late and before is not None else containers.subscript(lo, base, index, target)
        result = _combine(lo, op, current, array_operand(lo, added, node), node)
    else:
        current = containers.subscript(lo, base, index, target)
        value_ = lo.evaluate(operand)
        lo.at(node)
        in_place = (
            None
            if isinstance(base, ir.Var) and isinstance(base.type, ir.Array)
            else _in_place(lo, current, op, value_, node)
        )
        result = in_place if in_place is not None else _combine(lo, op, current, value_, node)
    set_item(lo, base, index, result, target)


def _add_to_part(
    lo: Lowerer, array: ir.Var, key: ir.Subscript, op: Callable[..., Any], value: Value, node: ast.AST
) -> Value:
    """``array[key] += value``, where the key names no element twice."""
    operand = _operand_in_place(lo, value, node)
    if not _names_element(key, array):
        _check_dtype(lo, array, operand, op, node)
    mark_array_written(lo, array, node)
    lo.at(node)
    lo.emit(ir.Store(array, key, operand, "add" if op is operator.add else "sub", lo.span(node)))
    return NONE


def _may_run_code(node: ast.expr) -> bool:
    """Whether evaluating an expression may run a function, which may write what was read before."""
    return not isinstance(node, (ast.Name, ast.Constant))


def _writes(statement: ir.Statement) -> bool:
    """Whether a statement, or one inside of it, may write memory."""
    inner = [nested for block in blocks_of(statement) for nested in statements_in(block)]
    return any(
        isinstance(part, ir.Store)
        or (isinstance(part, ir.Call) and (effects_of(part).writes or not effects_of(part).known))
        for part in (statement, *inner)
    )


def _may_repeat(key: ir.Subscript) -> bool:
    """Whether an index may name an element twice."""
    return not all(isinstance(item, ir.Slice) or _names_once(item) for item in key.items)


def _names_element(key: ir.Subscript, array: ir.Var) -> bool:
    """Whether an index surely names one element, which is a number: not a part, which is an array in its turn."""
    assert isinstance(array.type, ir.Array)
    dims = array.type.dims
    return (
        dims is not None
        and len(key.items) == len(dims)
        and all(not isinstance(item, ir.Slice) and isinstance(joins.type_of(item), ir.Scalar) for item in key.items)
    )


def _names_once(item: ir.Atom) -> bool:
    """Whether it is a number, a slice or a mask; arrays, lists and tuples may hold a place twice."""
    if isinstance(item, ir.Const):
        return not isinstance(item.value, (tuple, list, np.ndarray))
    match item.type if isinstance(item, ir.Var) else None:
        case ir.Scalar() | ir.Opaque(cls=builtins.slice):
            return True
        case ir.Array(dtype=dtype):
            return dtype is not None and dtype.kind == "b"
        case _:
            return False


def _in_place(lo: Lowerer, current: Value, op: Callable[..., Any], value: Value, node: ast.AST) -> Value | None:
    """What ``current`` is after it was written in place; None where the name is to be rebound."""
    is_list = making.list_items(lo, current) is not None or (
        isinstance(current, ir.Var) and isinstance(current.type, ir.List) and not current.type.is_tuple
    )
    by_numpy = isinstance(value, ir.Var) and isinstance(value.type, (ir.Array, ir.Number))
    if is_list and op is operator.add and not by_numpy:
        if isinstance(joins.type_of(value), ir.Scalar):
            helps = ("to put in one item: xs.append(x)",)
            raise lo.mistake(TypeError, node, "a list is extended by a number, not by items", helps=helps)
        from adjoint.frontend.data.list_extension import extend_list  # lazy

        return extend_list(lo, current, value, node)
    if is_list and op is operator.mul and not by_numpy:
        python_functions.call(lo, python_functions.repeat_in_place, [current, value], node)
        return current
    if op is operator.or_ and making.is_dict(lo, current):
        lo.call(ir.Const(dict.update), [current, value], {}, node)
        return current
    if isinstance(current, ir.Var) and isinstance(current.type, ir.Opaque) and not may_carry(lo, value):
        return call(lo, inplace_operator(op), [current, materialize(lo, value, node)], node)
    if isinstance(current, ir.Var) and isinstance(current.type, ir.Number):
        if _comes_from_exception(lo, value):
            label = "an exception carries this, and of what kind it is is not known"
            raise lo.problem("AD0307", node, label, helps=OUT_OF_EXCEPTIONS)
        look_where_it_comes_from(lo, current)
        library = lo.settings.target.library
        if library is not None and library.writes:
            label = "it is not known whether this is a number, which is bound anew, or an array, which is written"
            raise lo.problem("AD0401", node, label, helps=("write the operation out: y = y * 2",))
        _check_kind(lo, check_number, current, node)
        return None
    if not isinstance(current, ir.Var) or not isinstance(current.type, ir.Array):
        return None
    library = lo.settings.target.library
    if library is not None and not library.writes:
        return None  # its arrays are rebound, as numbers are
    array = current
    with_each_structure(lo, value, lambda each: _write_in_place(lo, array, op, each, node), node)
    return current


def _write_in_place(lo: Lowerer, current: ir.Var, op: Callable[..., Any], value: Value, node: ast.AST) -> Value:
    """Writes an array in place."""
    assert isinstance(current.type, ir.Array)
    operand = _operand_in_place(lo, value, node, always=op not in (operator.add, operator.sub))
    _check_dtype(lo, current, operand, op, node)
    mark_array_written(lo, current, node)
    if current.type.dims is None:
        _check_kind(lo, check_array, current, node)
    if op in (operator.add, operator.sub):
        lo.emit(ir.Store(current, None, operand, "add" if op is operator.add else "sub", lo.span(node)))
    else:
        result = lo.open.call(op, current, operand)
        lo.emit(ir.Store(current, None, result, "set", lo.span(node)))
    return NONE


def _operand_in_place(lo: Lowerer, value: Value, node: ast.AST, *, always: bool = False) -> ir.Atom:
    """What an array is written with in place; a path with None ends."""
    if value == NONE:
        stop_at_alien(lo, TypeError("an array cannot take None in place"), node)
    return array_operand(lo, value, node, always=always)


def _check_kind(lo: Lowerer, check: Callable[..., None], current: ir.Var, node: ast.AST) -> None:
    """Has it asked at run time whether what is changed in place is a number or an array."""
    name = ir.Const(current.hint if current.named else None)
    lo.emit(ir.Call((), check, (current, name), (), lo.span(node)))


def _comes_from_exception(lo: Lowerer, value: Value) -> bool:
    """Whether a value is computed here of what an exception holds that is handled."""
    made = {target: operands(each) for each in lo.open.statements for target in targets_of(each)}
    pending: list[ir.Atom] = [value] if isinstance(value, ir.Var) else []
    seen: set[ir.Atom] = set()
    while pending:
        atom = pending.pop()
        if atom in lo.run_data.caught:
            return True
        if isinstance(atom, ir.Var) and atom not in seen:
            seen.add(atom)
            pending += made.get(atom, ())
    return False


def _check_dtype(lo: Lowerer, array: ir.Var, operand: ir.Atom, op: Callable[..., Any], node: ast.AST) -> None:
    assert isinstance(array.type, ir.Array)
    dtype = array.type.dtype
    if dtype is None or ir.is_float_dtype(dtype):
        return
    type_ = joins.type_of(operand)
    floating = getattr(type_, "kind", None) == "float" or ir.is_float_dtype(getattr(type_, "dtype", None))
    if floating or op is operator.truediv:
        helps = ("make it an array of floats: np.zeros(n), np.array(values, dtype=float)",)
        raise lo.mistake(TypeError, node, f"an array of {dtype} cannot take floats in place", helps=helps)


def delete(lo: Lowerer, target: ast.expr) -> None:
    match target:
        case ast.Name(id=name):
            cell = lo.cell_named(name)
            if cell is None or outlives_the_call(lo, cell):
                raise lo.problem("AD0301", target, f"the variable {name!r} outlives the call, and is deleted")
            raise_unbound(lo, cell, target, is_deleted=True)
            lo.store[cell] = ir.UNDEFINED
            note_bound(lo, cell, is_bound=False)
        case ast.Subscript():
            _delete_item(lo, lo.evaluate(target.value), lo.evaluate(target.slice), target)
        case ast.Attribute():
            from adjoint.frontend.objects.attribute_writes import delete_attribute  # lazy

            delete_attribute(lo, lo.evaluate(target.value), target.attr, target)
        case _:
            raise lo.problem("AD0301", target, "'del' is not supported here")


def _delete_item(lo: Lowerer, base: Value, index: Value, node: ast.Subscript) -> None:
    making.refuse_if_iterated(lo, base, node)
    record = lo.store.get(base) if isinstance(base, Ref) else None
    method = special_method(lo, base, "__delitem__")
    kept = _parts_kept(lo, record, index, node) if isinstance(record, Record) else None
    if kept is not None:
        assert isinstance(base, Ref) and isinstance(record, Record)
        making.replace(lo, base, Record(record.cls, kept), node)
    elif method is not None:
        lo.call(method, [index], {}, node)
    elif isinstance(base, ir.Var) and isinstance(base.type, ir.List) and isinstance(index, SliceValue):
        places = containers.bounds(lo, index, base)
        bounds: list[Value] = [places.start, places.stop, places.step]
        python_functions.call(lo, python_functions.delete_slice, [base, *bounds], node)
    elif isinstance(base, ir.Var) and isinstance(base.type, ir.List):
        python_functions.call(lo, python_functions.delete, [base, index], node)
    elif (isinstance(record, Record) and record.cls in DICTS) or isinstance(getattr(base, "type", None), ir.Dict):
        python_functions.call(lo, python_functions.delete_entry, [base, index], node)
    else:
        raise lo.problem("AD0301", node, "'del' of an item that is not known at compile time")


def _parts_kept(lo: Lowerer, record: Record, index: Value, node: ast.AST) -> tuple[tuple[Any, Value], ...] | None:
    """What a container whose parts are known holds without one of them, or without a slice."""
    if record.cls is not list:
        if record.cls not in DICTS or not isinstance(index, ir.Const) or record.get(index.value) is None:
            return None
        return tuple((key, part) for key, part in record.parts if key != index.value)
    places = range(len(record.parts))
    found = containers.constant_slice(lo, index, node) if isinstance(index, SliceValue) else None
    if found is not None:
        gone = set(places[found])
    elif isinstance(index, ir.Const) and isinstance(index.value, int) and -len(places) <= index.value < len(places):
        gone = {places[index.value]}
    else:
        return None
    return tuple(enumerate(part for place, (_, part) in zip(places, record.parts, strict=True) if place not in gone))
