"""Containers and arrays are read: items by index or key, lengths, membership."""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any, NoReturn, TypeGuard

import numpy as np

from adjoint import ir
from adjoint.analysis.user_code_effects import is_of_the_user
from adjoint.diagnostics.similar import did_you_mean, one_of
from adjoint.frontend.calls.emitted_calls import call, refuse_linked
from adjoint.frontend.data.element_types import as_element, element_of, joined_types, learn_from_others
from adjoint.frontend.data.making import as_tuple, hashed, is_tuple, new_list, runtime_list, tuple_of
from adjoint.frontend.data.outside.imported_modules import is_table_of_modules, module_now
from adjoint.frontend.data.outside.scalar_replacement import MAX_DISPATCH, is_apart
from adjoint.frontend.data.tagged_items import taken
from adjoint.frontend.entry import inputs
from adjoint.frontend.entry.captured import has_fields
from adjoint.frontend.entry.constants import INDEX_TRICKS, is_constant, is_frozen
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites, type_of
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import item_at, on_each_option
from adjoint.frontend.interpreter.state.signals import Restart, Unreached
from adjoint.frontend.interpreter.values import (
    ELLIPSIS,
    NONE,
    Closure,
    IteratorValue,
    Method,
    RangeValue,
    Record,
    Ref,
    SliceValue,
    TupleValue,
    Union,
    Value,
    is_atom,
)
from adjoint.frontend.library import python_functions
from adjoint.frontend.objects.attributes import attribute
from adjoint.frontend.objects.classes import class_of, is_object
from adjoint.frontend.objects.special_methods import special_method
from adjoint.frontend.syntax.indexing import array_key
from adjoint.ir.item_types import type_of_item
from adjoint.runtime.array_functions.sparse import is_sparse
from adjoint.runtime.objects import slice_bounds
from adjoint.types.structure import CONTAINERS, DICTS

# -- items ------------------------------------------------------------------------------------------------------------


def tuple_items(lo: Lowerer, value: Value, node: ast.AST | None) -> list[Value]:
    """The items of a tuple of known length."""
    if isinstance(value, TupleValue):
        return list(value.items)
    assert isinstance(value, ir.Var)
    assert isinstance(value.type, ir.Tuple)
    return [_item(lo, value, ir.Const(i), type_, node) for i, type_ in enumerate(value.type.items)]


def refuse_number(lo: Lowerer, value: Value, what: str, node: ast.AST | None) -> None:
    """Numbers are no sequences, and None is none where a value may have another structure."""
    if value == NONE and lo.run_data.choices:
        raise lo.mistake(TypeError, node, f"a value of class 'NoneType' {what}")
    if isinstance(value, ir.Const) and type(value.value) in (bool, int, float, complex) and lo.run_data.choices:
        raise lo.mistake(TypeError, node, f"a value of class {type(value.value).__name__!r} {what}")
    if isinstance(value, ir.Var) and type(value.type) is ir.Scalar:
        dtype = value.type.dtype
        name = value.type.kind if dtype is None else dtype.type.__name__
        raise lo.mistake(TypeError, node, f"a value of class {name!r} {what}")


def _load(lo: Lowerer, base: ir.Var, index: ir.Atom, type_: ir.Type, node: ast.AST | None) -> ir.Atom:
    target = ir.Var("t", type_)
    lo.emit(ir.Load(target, base, ir.Subscript((index,)), lo.span(node)))
    if type_ == ir.Opaque(type(None)):
        return NONE  # as far as is known: what else is put there starts this again
    return target


def _item(lo: Lowerer, base: ir.Var, index: ir.Atom, type_: ir.Type, node: ast.AST | None) -> Value:
    """An item of a list, a dict or a tuple."""
    found = _load(lo, base, index, type_, node)
    return taken(lo, found, node) if isinstance(found, ir.Var) else found


def subscript(lo: Lowerer, base: Value, index: Value, node: ast.AST | None) -> Value:
    """``base[index]``"""
    if (
        isinstance(base, ir.Var) and type(base.type) is ir.Scalar and base.type.dtype is None
    ):  # NumPy's raise another error
        refuse_number(lo, base, "has no items", node)
    match base:
        case Union():
            return on_each_option(lo, base, lambda option: subscript(lo, option, index, node), node)
        case TupleValue(items=items):
            return _item_of_tuple(lo, base, items, index, node)
        case Ref():
            record = lo.store[base]
            assert isinstance(record, Record)
            if record.cls is list:
                return _item_of_list(lo, base, record, index, node)
            if record.cls in DICTS:
                return _item_of_dict(lo, base, record, index, node)
        case ir.Const(value=type() as cls) if isinstance(index, (ir.Const, TupleValue)) and hasattr(
            cls, "__class_getitem__"
        ):
            lo.run_data.asked_classes[cls] = None
            own = getattr(inspect.getattr_static(cls, "__class_getitem__"), "__func__", None)
            if isinstance(own, FunctionType) and is_of_the_user(own):
                return lo.call(ir.Const(own), [base, index], {}, node)
            return base  # what a generic class is made for tells nothing at run time
        case ir.Const(value=value):
            if isinstance(value, type):
                lo.run_data.asked_classes[value] = None
            return _item_of_constant(lo, base, index, node)
        case ir.Var(type=ir.Scalar()) if index == TupleValue(()):
            return base  # a number of NumPy
        case ir.Var(type=ir.Scalar()) if _adds_axes_only(index):
            return subscript(lo, lo.open.call(np.asarray, base), index, node)
        case ir.Var(type=ir.Scalar(dtype=np.dtype())) if _is_mask_of_a_number(index):
            whole, mask = (lo.open.call(np.reshape, each, ir.Const(1)) for each in (base, index))
            return subscript(lo, whole, mask, node)
        case ir.Var(type=ir.Scalar(dtype=dtype)) if _is_place(index):
            said = f"{name_of(class_of(lo, base))} object is not subscriptable" if dtype is None else _NO_ITEMS
            raise lo.mistake(TypeError if dtype is None else IndexError, node, said)
        case ir.Var(type=ir.Array() | ir.Number()):
            key = array_key(lo, index, node)
            # a number has no items, nor has what NumPy makes a number of where its rank is zero
            is_ranked = isinstance(base.type, ir.Array) and (bool(base.type.dims) or _takes_axes(key))
            is_untold = isinstance(base.type, ir.Number) and base in lo.run_data.originals  # it may be a tuple
            whole = lo.open.call(np.asarray, base) if not (is_ranked or is_untold) else base
            target = ir.Var("t", type_of_item(whole.type, key))
            if is_untold:
                lo.run_data.originals.add(target)
            lo.emit(ir.Load(target, whole, key, lo.span(node)))
            return target
        case ir.Var(type=ir.List()):
            if isinstance(index, SliceValue):
                chosen = python_functions.call(lo, python_functions.part, [base, bounds(lo, index, base)], node)
                return as_tuple(chosen) if is_tuple(base) else chosen
            missing = ir.Const(f"{'tuple' if is_tuple(base) else 'list'} index out of range")
            return _item(lo, base, materialize(lo, index, node), reached(lo, base, missing, node), node)
        case ir.Var(type=ir.Dict()):
            name = hashed(lo, index, node)
            refuse_linked(lo, [name], node)
            return _item(lo, base, name, reached(lo, base, name, node), node)
        case ir.Var(type=ir.Tuple(items=types_)):
            return _item_of_run_time_tuple(lo, base, types_, index, node)
        case IteratorValue(kind="flat", parts=(array,)):
            from adjoint.frontend.library.arrays.writers import flat_item  # lazy

            return flat_item(lo, array, index, node)
        case RangeValue():
            numbers, place = materialize(lo, base, node), materialize(lo, index, node)
            if isinstance(index, SliceValue):
                return call(lo, operator.getitem, [numbers, place], node)
            return _load_any(lo, numbers, place, ir.INT, node)
    method = special_method(lo, base, "__getitem__")
    if method is not None:
        return lo.call(method, [index], {}, node)
    if isinstance(base, ir.Var):
        if isinstance(base.type, ir.Opaque) and is_sparse(base.type.cls):
            from adjoint.frontend.external.sparse.matrices import part  # lazy

            found = part(lo, base, index, node)
            if found is not None:
                return found
        key = array_key(lo, index, node)
        if _may_compute(base.type, key):
            if any(isinstance(item, ir.Slice) for item in key.items):
                label = "what this object makes of a range of numbers is not known"
                raise lo.problem("AD0301", node, label, helps=("write np.linspace or np.arange",))
            return lo.call(attribute(lo, base, "__getitem__", node), [index], {}, node)
        target = ir.Var("t", ir.OPAQUE)
        lo.emit(ir.Load(target, base, key, lo.span(node)))
        return target
    if is_object(lo, base):
        raise lo.mistake(TypeError, node, f"{name_of(class_of(lo, base))} object is not subscriptable")
    raise lo.problem("AD0301", node, "this value has no items")


def _is_place(index: Value) -> bool:
    """Whether an index names one item of a sequence."""
    return isinstance(index, (ir.Var, ir.Const)) and type_of(index) == ir.INT


_NO_ITEMS = "invalid index to scalar variable"


def _may_compute(base: ir.Type, key: ir.Subscript) -> bool:
    """Whether an object that nobody looks into may make something of numbers in brackets (``np.r_[1.0, x]``)."""
    cls = base.cls if isinstance(base, ir.Opaque) else None
    if cls is not None and issubclass(cls, (Mapping, Sequence)):
        return False
    atoms = [atom for item in key.items for atom in _atoms_of(item)]
    kinds = [type_of(atom) for atom in atoms if isinstance(atom, ir.Var)]
    if any(isinstance(kind, ir.Array) and _is_inexact(kind.dtype) for kind in kinds):
        return True
    return cls is not None and any(
        isinstance(kind, ir.Number) or (isinstance(kind, ir.Scalar) and kind.kind in ("float", "complex"))
        for kind in kinds
    )


def _atoms_of(item: ir.Atom | ir.Slice) -> tuple[ir.Atom, ...]:
    return (item.lower, item.upper, item.step) if isinstance(item, ir.Slice) else (item,)


def _is_inexact(dtype: np.dtype | None) -> bool:
    return dtype is None or ir.is_float_dtype(dtype)


def _is_mask_of_a_number(index: Value) -> TypeGuard[ir.Atom]:
    """Whether an index chooses a number of NumPy or nothing: what it gives is an array of one element or none."""
    match index:
        case ir.Var(type=ir.Scalar(kind="bool")) | ir.Const(value=bool()):
            return True
        case ir.Var(type=ir.Array(dtype=np.dtype(kind="b"), dims=())):
            return True
        case _:
            return False


def _takes_axes(key: ir.Subscript) -> bool:
    """Whether an index is of arrays with axes only: of a number NumPy takes masks and new axes."""
    return any(
        isinstance(item, ir.Slice)
        or (isinstance(kind := type_of(item), ir.Scalar) and kind.kind == "int")
        or (isinstance(kind, ir.Array) and kind.dtype is not None and kind.dtype.kind in "iu")
        for item in key.items
    )


def _adds_axes_only(index: Value) -> bool:
    items = index.items if isinstance(index, TupleValue) else (index,)
    return all(item in (NONE, ELLIPSIS) for item in items)


def _item_of_constant(lo: Lowerer, base: ir.Const, index: Value, node: ast.AST | None) -> Value:
    constant = base.value
    if any(constant is each for each in INDEX_TRICKS):
        from adjoint.frontend.syntax.index_joins import made_of  # lazy

        made = made_of(lo, base, index, node)
        if made is not None:
            return made
    part = constant_slice(lo, index, node) if isinstance(index, SliceValue) else None
    if part is not None and isinstance(constant, (tuple, str)):
        return ir.Const(constant[part])
    atom = materialize(lo, index, node)
    module = module_now(lo, atom) if is_table_of_modules(base) else None
    if module is not None and module != NONE:
        return module
    if isinstance(atom, ir.Const):
        try:
            return ir.Const(constant[atom.value])
        except (TypeError, LookupError) as error:
            raise lo.mistake(type(error), node, str(error)) from None
    if isinstance(constant, (tuple, list)) and constant:
        types = [type_of(ir.Const(item)) for item in constant]
        return _load_any(lo, base, atom, joined_types(types, lo, node) or ir.OPAQUE, node)
    return call(lo, operator.getitem, [base, atom], node)


def _item_of_run_time_tuple(
    lo: Lowerer, base: ir.Var, types_: Sequence[ir.Type], index: Value, node: ast.AST | None
) -> Value:
    if isinstance(index, ir.Const) and isinstance(index.value, int):
        if not -len(types_) <= index.value < len(types_):
            raise lo.mistake(IndexError, node, "tuple index out of range")
        return _item(lo, base, index, types_[index.value], node)
    if isinstance(index, SliceValue):
        return subscript(lo, TupleValue(tuple(tuple_items(lo, base, node))), index, node)
    joined = joined_types(list(types_), lo, node)
    if isinstance(joined, ir.Scalar) and joined.kind == "float" and any(type_ != joined for type_ in types_):
        floats = materialize(lo, alike(lo, base, tuple(tuple_items(lo, base, node)), joined), node)
        return _load_any(lo, floats, materialize(lo, index, node), joined, node)
    return _item(lo, base, materialize(lo, index, node), joined or ir.OPAQUE, node)


def reached(lo: Lowerer, container: ir.Var, said: ir.Atom, node: ast.AST | None) -> ir.Type:
    """The type of an item of a container; where that is always empty, this path ends in the exception of Python."""
    element = element_of(container)
    if element is None:
        learn_from_others(lo, container, node)
        cls = KeyError if isinstance(container.type, ir.Dict) else IndexError
        lo.stop(ir.Raise(lo.open.call(cls, said), None, lo.span(node)))
        raise Unreached
    return element


def _load_any(lo: Lowerer, base: ir.Atom, index: ir.Atom, type_: ir.Type, node: ast.AST | None) -> ir.Var:
    target = ir.Var("t", type_)
    lo.emit(ir.Load(target, base, ir.Subscript((index,)), lo.span(node)))
    return target


def bounds(lo: Lowerer, index: SliceValue, base: ir.Var) -> RangeValue:
    """The places that a slice of a list selects."""
    found = ir.Var("bounds", ir.Tuple((ir.INT, ir.INT, ir.INT)))
    lo.emit(ir.Call((found,), slice_bounds, (base, index.lower, index.upper, index.step), (), lo.open.span))
    return RangeValue(*(_load(lo, found, ir.Const(i), ir.INT, None) for i in range(3)))


def constant_slice(lo: Lowerer, index: SliceValue, node: ast.AST | None) -> slice | None:
    """The slice, where it is known; with a step that is not zero."""
    if index.step == ir.Const(0):
        raise lo.mistake(ValueError, node, "slice step cannot be zero")
    parts = (index.lower, index.upper, index.step)
    if all(isinstance(part, ir.Const) for part in parts):
        return slice(*(part.value for part in parts))  # type: ignore[union-attr]
    return None


def _item_of_tuple(lo: Lowerer, base: Value, items: tuple[Value, ...], index: Value, node: ast.AST | None) -> Value:
    if isinstance(index, SliceValue):
        part = constant_slice(lo, index, node)
        if part is None:
            return _part_of_tuple(lo, items, index, node)
        return tuple_of(items[part], *((base,) if part.step in (None, 1) else ()))
    if isinstance(index, ir.Const):
        try:
            item: Value = items[index.value]
            return item
        except IndexError as error:
            raise_error(lo, IndexError, str(error), node, _out_of_range("tuple", len(items)), index.value)
        except TypeError as error:
            raise lo.mistake(TypeError, node, str(error)) from None
    if any(map(_is_called, items)):
        return _one_of(lo, items, index, "tuple", node)
    atom = materialize(lo, index, node)
    if all(is_atom(item) for item in items) and items:
        element = joined_types([type_of(item) for item in items], lo, node)
        container = materialize(lo, alike(lo, base, items, element), node)
        return _load_any(lo, container, atom, element or ir.OPAQUE, node)
    if 0 < len(items) <= MAX_DISPATCH:
        return _one_of(lo, items, atom, "tuple", node)
    if not items and type_of(atom) == ir.INT:
        raise_error(lo, IndexError, "tuple index out of range", node, _out_of_range("tuple", 0), None)
    raise lo.problem("AD0301", node, "an index that is not known at compile time into a tuple of structures")


def know_inputs(lo: Lowerer, values: Sequence[Value]) -> None:
    """Starts again where whole numbers that are given decide of what a program consists: with what they are."""
    found = {lo.run_data.whole_inputs.get(value) for value in values if isinstance(value, ir.Var)} - {None}
    if not found <= lo.settings.constant_inputs:
        lo.settings.constant_inputs.update(path for path in found if path is not None)
        raise Restart


def _part_of_tuple(lo: Lowerer, items: tuple[Value, ...], index: SliceValue, node: ast.AST | None) -> Value:
    """The items between bounds that are known at run time only."""
    numbers = [item for item in items if is_atom(item) and isinstance(type_of(item), ir.Scalar)]
    if len(numbers) < len(items) or node is None:
        know_inputs(lo, (index.lower, index.upper, index.step))
        raise lo.problem("AD0301", node, "a slice of a tuple whose bounds are not known")
    whole = runtime_list(lo, lo.site(node), numbers, node)  # type: ignore[arg-type]
    return as_tuple(python_functions.call(lo, python_functions.part, [whole, bounds(lo, index, whole)], node))


def _is_called(item: Value) -> bool:
    """Whether an item is a function: which one it is decides what is run."""
    return isinstance(item, (Closure, Method)) or (isinstance(item, ir.Const) and callable(item.value))


def _one_of(lo: Lowerer, items: tuple[Value, ...], index: Value, kind: str, node: ast.AST | None) -> Value:
    """One of several values, by an index that may count from the end, or be out of range."""
    place = place_in_list(lo, len(items), index, kind, f"{kind} index out of range", node)
    return item_at(lo, place, items, node)


def known_key(lo: Lowerer, key: Any, node: ast.AST | None) -> Value:
    """A key of a dict from outside as a value: of an object there is one, whichever way leads to it."""
    if not has_fields(key) or is_constant(key) or is_frozen(key):
        return ir.Const(key)
    return inputs.captured(lo, key, ("object", key), "key", node)


def place_of_key(lo: Lowerer, record: Record, key: Value, node: ast.AST | None) -> ir.Atom:
    """The place of a key that is known at run time only, among those of a dict."""
    keys = TupleValue(tuple(map(ir.Const, record.keys)))
    return materialize(lo, python_functions.call(lo, python_functions.place_of_key, [key, keys], node), node)


def place_in_list(lo: Lowerer, count: int, index: Value, kind: str, message: str, node: ast.AST | None) -> ir.Atom:
    """The place in a list or tuple that an index stands for, which may count from the end, or be out of range."""
    if isinstance(index, ir.Var) and index.type == ir.FLOAT:
        raise lo.mistake(TypeError, node, f"{kind} indices must be integers or slices, not float")
    described: list[Value] = [ir.Const(count), ir.Const(message)]
    return materialize(lo, python_functions.call(lo, python_functions.place_of, [index, *described], node), node)


def alike(lo: Lowerer, base: Value, items: tuple[Value, ...], element: ir.Type | None) -> Value:
    """A tuple whose items are of one kind, so that any of them may be read."""
    converted = tuple(as_element(lo, item, element) for item in items)  # type: ignore[arg-type]
    same = all(one is other for one, other in zip(items, converted, strict=True))
    return base if same else TupleValue(converted)


def _item_of_list(lo: Lowerer, base: Ref, record: Record, index: Value, node: ast.AST | None) -> Value:
    if isinstance(index, SliceValue):
        part = constant_slice(lo, index, node)
        if part is None:
            raise NeedsRuntime(tuple(original_sites((base.site,))))
        return new_list(lo, record.items[part], node)
    if isinstance(index, ir.Const):
        try:
            place = record.keys[index.value]
        except IndexError as error:
            raise_error(lo, IndexError, str(error), node, _out_of_range("list", len(record.items)), index.value)
        except TypeError as error:
            raise lo.mistake(TypeError, node, str(error)) from None
        return lo.known_part(base, record.items[place])
    is_told = not lo.settings.texts_told_apart.isdisjoint(original_sites((base.site,)))
    if is_told or any(map(_is_called, record.items)) or is_apart(lo, base):
        return _one_of(lo, record.items, index, "list", node)
    raise NeedsRuntime(tuple(original_sites((base.site,))))


def _item_of_dict(lo: Lowerer, base: Ref, record: Record, index: Value, node: ast.AST | None) -> Value:
    if isinstance(index, TupleValue):
        index = materialize(lo, index, node)
    if not isinstance(index, ir.Const):
        if record.items and (any(map(_is_called, record.items)) or is_apart(lo, base)):
            return item_at(lo, place_of_key(lo, record, index, node), record.items, node)
        raise NeedsRuntime(tuple(original_sites((base.site,))))
    found = record.get(index.value)
    if found is None:
        if hasattr(record.cls, "__missing__"):
            raise NeedsRuntime(tuple(original_sites((base.site,))))
        helps = did_you_mean(index.value, record.keys) or one_of(record.keys)
        raise_error(lo, KeyError, index.value, node, f"the dict has no key {index.value!r}", index.value, helps)
    return lo.known_part(base, found)


def _out_of_range(kind: str, count: int) -> str:
    return f"the {kind} has {count} item{'s' if count != 1 else ''}"


def raise_error(
    lo: Lowerer,
    cls: type[Exception],
    argument: Any,
    node: ast.AST | None,
    label: str,
    item: object,
    helps: tuple[str, ...] = (),
) -> NoReturn:
    """What is certain to raise when it runs: this path ends with that exception, for lack of an ``item``.

    Where no path returns anything, that is the reason.
    """
    named: dict[str, Any] = {} if item is None else {"name": item}
    lo.run_data.reasons.append(lo.problem("AD0212", node, label, helps=helps, **named).diagnostic)
    lo.stop(ir.Raise(lo.open.call(cls, ir.Const(argument)), None, lo.span(node)))
    raise Unreached


def name_of(cls: type | None) -> str:
    return repr(getattr(cls, "__name__", None))


def length(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """``len(value)``"""
    refuse_number(lo, value, "has no length", node)
    match value:
        case TupleValue(items=items):
            return ir.Const(len(items))
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            if record.cls in CONTAINERS:
                return ir.Const(len(record.parts))
        case Union():
            return on_each_option(lo, value, lambda option: length(lo, option, node), node)
        case ir.Var(type=ir.Tuple(items=items)):
            return ir.Const(len(items))
        case ir.Const(value=constant) if isinstance(constant, (str, tuple, list, dict, bytes, range)):
            return ir.Const(len(constant))
    method = special_method(lo, value, "__len__")
    if method is not None:
        return lo.call(method, [], {}, node)
    if isinstance(value, IteratorValue) and value.kind in ("flat", "ndenumerate"):
        return call(lo, np.size, [materialize(lo, value.parts[0], node)], node)
    target = ir.Var("n", ir.INT)
    is_container = isinstance(value, ir.Var) and isinstance(value.type, (ir.List, ir.Dict))
    held = value if is_container else materialize(lo, value, node)
    lo.emit(ir.Call((target,), len, (held,), (), lo.span(node)))  # type: ignore[arg-type]
    return target
