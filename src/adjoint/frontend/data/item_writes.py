"""Containers and arrays are written: items by index, key or slice."""

from __future__ import annotations

import ast

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import refuse_linked
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.calls.opaque.library_classes import look_where_it_comes_from
from adjoint.frontend.calls.operands import array_operand
from adjoint.frontend.data.containers import bounds, name_of, place_in_list, place_of_key
from adjoint.frontend.data.element_types import mark_array_written
from adjoint.frontend.data.making import hashed, put_in, refuse_if_iterated, replace
from adjoint.frontend.data.outside.scalar_replacement import is_apart
from adjoint.frontend.data.tagged_items import put_each
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import on_each_option, with_each_structure
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import NONE, IteratorValue, Record, Ref, SliceValue, TupleValue, Union, Value
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.arrays.writers import set_flat_item
from adjoint.frontend.objects.classes import class_of, is_object
from adjoint.frontend.objects.special_methods import special_method
from adjoint.frontend.syntax.indexing import array_key
from adjoint.types.structure import CONTAINERS, DICTS


def set_item(lo: Lowerer, base: Value, index: Value, value: Value, node: ast.AST | None) -> None:
    """``base[index] = value``"""
    match base:
        case Ref():
            record = lo.store[base]
            assert isinstance(record, Record)
            if record.cls in CONTAINERS:
                _set_known(lo, base, record, index, value, node)
                return
        case ir.Var(type=ir.Array(dtype=dtype)):
            if (dtype is None or dtype.kind == "V") and may_carry(lo, value):
                _keep_fields_apart(lo)
            with_each_structure(lo, value, lambda each: _set_of_array(lo, base, index, each, node), node)
            return
        case ir.Var(type=ir.List() | ir.Dict()):
            if isinstance(index, SliceValue):
                _set_slice(lo, base, index, value, node)
                return
            is_table = isinstance(base.type, ir.Dict)
            place = hashed(lo, index, node) if is_table else materialize(lo, index, node)
            put_in(lo, base, place, value, node)
            return
        case IteratorValue(kind="flat", parts=(array,)):
            set_flat_item(lo, array, index, value, node)
            return
        case Union():
            _set_of_each(lo, base, index, value, node)
            return
        case (
            TupleValue() | ir.Var(type=ir.Tuple()) | ir.Const(value=tuple() | str() | bytes() | int() | float() | None)
        ):
            raise _no_items_to_assign(lo, class_of(lo, base), node)
        case ir.Const():
            raise lo.problem("AD0311", node, "an item of an object that outlives the call is assigned")
    method = special_method(lo, base, "__setitem__")
    if method is not None:
        lo.call(method, [index, value], {}, node)
        return
    if isinstance(base, ir.Var) and isinstance(base.type, ir.Number):
        look_where_it_comes_from(lo, base)
        _keep_fields_apart(lo)
        label = "it is not known whether this is an array, which is written, or a number, which raises"
        raise lo.problem("AD0401", node, label, helps=("make it an array: np.asarray(x)",))
    if is_object(lo, base) or (isinstance(base, ir.Var) and isinstance(base.type, ir.Scalar)):
        raise _no_items_to_assign(lo, class_of(lo, base), node)
    if isinstance(base, ir.Var):
        if isinstance(base.type, ir.Opaque) and base.type.cls is not None:
            from adjoint.frontend.external.sparse.matrices import written_by_entries  # lazy

            if base.type.cls is memoryview:
                label = "this writes elements of an array through a view that is no array: who reads them is not seen"
                raise lo.problem("AD0303", node, label, helps=("write the array itself: a[i] = value",))
            written_by_entries(lo, base, value)
        if isinstance(base.type, ir.Opaque) and may_carry(lo, value):
            look_where_it_comes_from(lo, base)
            _keep_fields_apart(lo)
        given = materialize(lo, value, node)
        refuse_linked(lo, [given], node)
        lo.emit(ir.Store(base, array_key(lo, index, node), given, "set", lo.span(node)))
        return
    raise lo.problem("AD0301", node, "an item of this value cannot be assigned")


def _keep_fields_apart(lo: Lowerer) -> None:
    """Starts again with an array for each field of arrays of records, where the function makes one."""
    if lo.run_data.makes_records and not lo.settings.fields_apart:
        lo.settings.fields_apart = True
        raise Restart


def _set_of_array(lo: Lowerer, base: ir.Var, index: Value, value: Value, node: ast.AST | None) -> Value:
    _refuse_mask(lo, value, node)
    key = array_key(lo, index, node)
    atom = array_operand(lo, value, node)
    mark_array_written(lo, base, node)
    lo.emit(ir.Store(base, key, atom, "set", lo.span(node)))
    return NONE


def _refuse_mask(lo: Lowerer, value: Value, node: ast.AST | None) -> None:
    """Refuses to mask an element: the array may be one of NumPy's masked ones, of which that is the data here."""
    if class_of(lo, value) is type(np.ma.masked):
        helps = ("leave elements out by what stands there: np.where(mask, 0.0, x)",)
        raise lo.problem("AD0207", node, "an element is masked here", helps=helps)


def _no_items_to_assign(lo: Lowerer, cls: type | None, node: ast.AST | None) -> Exception:
    label = f"{name_of(cls)} object does not support item assignment"
    helps = ("make it a list: list(items)",) if cls is tuple else ()
    return lo.mistake(TypeError, node, label, helps=helps)


def _set_of_each(lo: Lowerer, base: Union, index: Value, value: Value, node: ast.AST | None) -> None:
    """``base[index] = value`` for one of several structures."""

    def write(option: Value) -> Value:
        set_item(lo, option, index, value, node)
        return NONE

    on_each_option(lo, base, write, node)


def _set_slice(lo: Lowerer, base: ir.Var, index: SliceValue, value: Value, node: ast.AST | None) -> None:
    """``items[a:b] = values`` for a list at run time."""
    refuse_if_iterated(lo, base, node)
    places = bounds(lo, index, base)
    python_functions.call(lo, python_functions.set_slice, [base, places.start, places.stop, places.step, value], node)


def _set_one_of(lo: Lowerer, base: Ref, record: Record, index: Value, value: Value, node: ast.AST | None) -> None:
    """Writes one of the items that are known, by an index that is known at run time only."""
    if record.cls in DICTS:
        place = place_of_key(lo, record, index, node)
    else:
        place = place_in_list(lo, len(record.parts), index, "list", "list assignment index out of range", node)

    def write(key: Value) -> Value:
        known = lo.store[base]
        assert isinstance(known, Record)
        _set_known(lo, base, known, key, value, node)
        return NONE

    on_each_option(lo, Union(place, tuple(map(ir.Const, record.keys))), write, node)


def _set_known(lo: Lowerer, base: Ref, record: Record, index: Value, value: Value, node: ast.AST | None) -> None:
    if isinstance(index, TupleValue):
        index = materialize(lo, index, node)
    if not isinstance(index, ir.Const):
        if is_apart(lo, base):
            _set_one_of(lo, base, record, index, value, node)
            return
        raise NeedsRuntime(tuple(original_sites((base.site,))))
    if base.origin is not None and put_each(lo, value, lambda option: set_item(lo, base, index, option, node), node):
        return
    key = index.value
    if record.cls is list:
        if not isinstance(key, int) or not -len(record.parts) <= key < len(record.parts):
            raise lo.mistake(IndexError, node, "list assignment index out of range")
        key %= len(record.parts)
    elif record.get(key) is None:
        refuse_if_iterated(lo, base, node)
    replace(lo, base, record.with_part(key, value), node)
