"""Arrays made of arrays: conversions, which copy or do not, and copies."""

from __future__ import annotations

import ast
import operator
import string
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import call_any
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.calls.operands import array, is_sequence
from adjoint.frontend.data import containers, making
from adjoint.frontend.data.item_writes import set_item
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import ELLIPSIS, NONE, RangeValue, TupleValue, Value, is_atom
from adjoint.frontend.iterators.items import static_items
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.arrays import definitions as array_definitions
from adjoint.frontend.library.arrays import records
from adjoint.frontend.objects.attribute_writes import set_attribute
from adjoint.frontend.objects.attributes import attribute
from adjoint.frontend.objects.classes import class_of
from adjoint.frontend.objects.special_methods import special_method
from adjoint.runtime.array_functions.places import from_diagonal, side_of_mesh
from adjoint.runtime.array_functions.products import einsum_of_one
from adjoint.runtime.array_functions.sequences import array_of

_TRUE = ir.Const(True)


@handles(np.array)
def _array(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """``np.array`` copies, unless it is told not to."""
    of_records = records.of_rows(lo, args, kwargs, node)
    if of_records is not None:
        return of_records
    given = _of_object(lo, args, node) or _of_range(lo, args, node)
    if given is not None:
        return _call(lo, np.array, given, kwargs, node)
    if "ndmin" in kwargs:
        return _of_rank(lo, np.array, args, kwargs, node)
    rest = {name: value for name, value in kwargs.items() if name != "copy"}
    if "order" in kwargs and _copies(lo, kwargs, node):
        return _in_order(lo, np.array, args, kwargs, node)
    if _copies(lo, kwargs, node):
        if isinstance(rest.pop("subok", None), ir.Const):  # arrays of other classes are none to us
            return _call(lo, np.array, args, rest, node)
        return _array_of_parts(lo, args, rest, node)
    return _call(lo, np.asanyarray if kwargs.get("subok") == _TRUE else np.asarray, args, rest, node)


def _of_object(lo: Lowerer, args: list[Value], node: ast.AST | None) -> list[Value] | None:
    """The arguments where the first one was an object that says itself what array it is."""
    method = special_method(lo, args[0], "__array__") if args else None
    return None if method is None else [lo.call(method, [], {}, node), *args[1:]]


def _of_range(lo: Lowerer, args: list[Value], node: ast.AST | None) -> list[Value] | None:
    """The arguments where the first one was a range, which is an array before it becomes another one."""
    return [array(lo, args[0], node), *args[1:]] if args and isinstance(args[0], RangeValue) else None


@handles(np.require)
def _require(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """A conversion to an array that lies in memory in some way; whether it may be written, it tells when it is."""
    given = {**dict(zip(("a", "dtype", "requirements"), args, strict=False)), **kwargs}
    asked = given.pop("requirements", NONE)
    if isinstance(asked, ir.Const):
        parts = asked.value if isinstance(asked.value, (list, tuple)) else (asked.value,)
        items: Sequence[Value] | None = [ir.Const(part) for part in parts]
    else:
        items = static_items(lo, asked, node)
    if items is None or not all(isinstance(item, ir.Const) and item.value in _ORDERS for item in items):
        return NotImplemented
    orders = {_ORDERS[item.value] for item in items if isinstance(item, ir.Const)} - {None}
    if len(orders) > 1:
        return NotImplemented
    order = {"order": ir.Const(orders.pop())} if orders else {}
    return _call(lo, np.asanyarray, [given.pop("a")], {**given, **order}, node)


_ORDERS: dict[str | None, str | None] = {
    **dict.fromkeys((None, "A", "ALIGNED", "W", "WRITEABLE", "E", "ENSUREARRAY")),
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
}
"""What ``np.require`` asks for, and the order of elements that this is."""


@handles(np.asarray, np.asanyarray)
def _asarray(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    given = _of_object(lo, args, node) or _of_range(lo, args, node)
    if given is not None:
        return _call(lo, np.asarray, given, kwargs, node)
    if isinstance(kwargs.get("subok"), ir.Const):  # arrays of other classes are none to us
        kwargs = {name: value for name, value in kwargs.items() if name != "subok"}
        return _call(lo, np.asarray, args, kwargs, node)
    if "order" in kwargs:
        return _in_order(lo, np.asarray, args, kwargs, node)
    if "ndmin" in kwargs:
        return _of_rank(lo, np.asarray, args, kwargs, node)
    if kwargs.get("copy") == _TRUE:
        return _call(lo, np.array, args, {name: value for name, value in kwargs.items() if name != "copy"}, node)
    if args and is_sequence(lo, args[0]) and kwargs.get("copy", NONE) == NONE:
        rest = {name: value for name, value in kwargs.items() if name != "copy"}
        return _call(lo, np.array, args, rest, node)  # an array of its own: no view of the list
    return NotImplemented


@handles(np.ndarray.__array__)
def _itself(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """What an array gives where it is asked for one, as libraries ask what may be none."""
    return _call(lo, np.asarray, args, kwargs, node)


@handles(np.ndarray.item)
def _item(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """One element: by its place in all of them, or by an index."""
    array, *places = args
    if not places or kwargs:
        return NotImplemented
    index: Value = places[0] if len(places) == 1 else TupleValue(tuple(places))
    if issubclass(class_of(lo, index) or object, tuple):
        found = containers.subscript(lo, array, index, node)
    else:
        found = _call(lo, np.take, [array, index], {}, node)
    dtype = found.type.dtype if isinstance(found, ir.Var) and isinstance(found.type, ir.Scalar) else None
    if dtype is not None and dtype.kind == "f":
        return _call(lo, float, [found], {}, node)
    return python_functions.call(lo, python_functions.number, [found], node)


def _in_order(lo: Lowerer, conversion: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """A conversion to an array, and another copy where the elements lie in another order than it is told."""
    rest = dict(kwargs)
    order = rest.pop("order")
    if not isinstance(order, ir.Const):
        return NotImplemented
    array = _call(lo, conversion, args, rest, node)
    letter = order.value.upper() if isinstance(order.value, str) else order.value
    if letter in (None, "K", "A"):
        return array
    has_axes = isinstance(array, ir.Var) and isinstance(array.type, ir.Array) and bool(array.type.dims)
    convert = {"C": np.ascontiguousarray, "F": np.asfortranarray}.get(letter)
    if convert is None:
        return NotImplemented
    laid_out = _call(lo, convert, [array], {}, node)
    return laid_out if has_axes else _call(lo, np.reshape, [laid_out, _call(lo, np.shape, [array], {}, node)], {}, node)


@handles(np.ndarray.astype)
def _astype(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if "order" in kwargs and _copies(lo, kwargs, node):
        return _in_order(lo, np.array, args, kwargs, node)
    if _copies(lo, kwargs, node):
        return NotImplemented
    return _call(lo, np.asarray, args, {name: value for name, value in kwargs.items() if name != "copy"}, node)


@handles(np.ndarray.reshape, np.reshape)
def _reshape(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """One that copies at need is told so by None; in the order of memory, a vector has but one."""
    if ir.Const("A") in (*args[2:], *kwargs.values()) and args and is_atom(args[0]):
        if ir.rank_of(type_of(args[0])) not in (0, 1):
            label = "this order follows from how the array lies in memory"
            raise lo.problem("AD0204", node, label, helps=("say which order: order='C' by rows, order='F' by columns",))
        array, *shape = [arg for arg in args if arg != ir.Const("A")]
        args = [array, *shape] if len(shape) < 2 else [array, TupleValue(tuple(shape))]
        return _call(lo, np.reshape, args, {name: value for name, value in kwargs.items() if name != "order"}, node)
    if kwargs.get("copy") != NONE:
        return NotImplemented
    return _call(lo, np.reshape, args, {name: value for name, value in kwargs.items() if name != "copy"}, node)


@handles(np.ndarray.copy)
def _copy_by_rows(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """In the order of rows: of a vector there is no other."""
    array, order = _with_order(args, kwargs)
    if order == ir.Const("C"):
        return _call(lo, np.ndarray.copy, [array], {}, node)
    is_vector = ir.has_one_layout(type_of(args[0])) and len(args) == 1 and not kwargs
    return _call(lo, np.copy, args, {}, node) if is_vector else NotImplemented


@handles(np.diag)
def _diag(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Of a vector ``np.diag`` makes a new matrix, of a matrix it gives a view."""
    made_of = type_of(args[0]) if args else None
    if not isinstance(made_of, ir.Array) or made_of.dims is None or len(made_of.dims) > 2:
        return NotImplemented
    if len(made_of.dims) == 1:
        return _call(lo, from_diagonal, args, kwargs, node)
    return _call(lo, np.diagonal, [*args, *kwargs.values()], {}, node)


def _of_rank(
    lo: Lowerer, callee: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | Any:
    """A conversion that adds axes in front where there are fewer than it is told."""
    rest = dict(kwargs)
    least = rest.pop("ndmin")
    array = _call(lo, callee, args, rest, node)
    known = isinstance(array, ir.Var) and isinstance(array.type, ir.Array) and array.type.dims is not None
    if isinstance(least, ir.Const) and least.value in _AT_LEAST and not known:
        return _call(lo, _AT_LEAST[least.value], [array], {}, node)
    if not known or not isinstance(least, ir.Const):
        return NotImplemented
    return python_functions.call(lo, array_definitions.of_rank, [array, least], node)


_AT_LEAST = {1: np.atleast_1d, 2: np.atleast_2d}


def _copies(lo: Lowerer, kwargs: dict[str, Value], node: ast.AST | None) -> bool:
    """Whether a conversion is told to copy; only where it must is said by None or False, or by their names."""
    given = kwargs.get("copy", _TRUE)
    if not isinstance(given, ir.Const):
        raise lo.problem("AD0303", node, "whether this copies is not known before it runs")
    if isinstance(given.value, Enum):  # np._CopyMode
        return given.value.name == "ALWAYS"
    return bool(given.value)


def _call(lo: Lowerer, callee: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    return lo.call(ir.Const(callee), args, kwargs, node)


@handles(np.einsum)
def _einsum(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Subscripts in lists are spelled out; of one array, without sums, NumPy gives a view."""
    if args and not _is_text(args[0]) and any(may_carry(lo, arg) for arg in args):
        return _call(lo, np.einsum, _with_subscripts(lo, args, node), kwargs, node)
    if kwargs or len(args) != 2 or not isinstance(args[0], ir.Const) or not _only_moves(args[0].value):
        return NotImplemented
    return _call(lo, einsum_of_one, args, {}, node)


def _is_text(value: Value) -> bool:
    if isinstance(value, ir.Const):
        return isinstance(value.value, str)
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Opaque)


def _with_subscripts(lo: Lowerer, args: list[Value], node: ast.AST | None) -> list[Value]:
    """Operands each followed by its labels, and the labels of the result, with one text for all the labels."""
    labels = [_letters(lo, value, node) for value in args[1::2]]
    operands = args[::2]
    if len(operands) == len(labels):
        return [ir.Const(",".join(labels)), *operands]
    result = _letters(lo, operands.pop(), node)
    return [ir.Const(f"{','.join(labels)}->{result}"), *operands]


def _letters(lo: Lowerer, labels: Value, node: ast.AST | None) -> str:
    items = labels.items if isinstance(labels, TupleValue) else making.list_items(lo, labels)
    known = [item.value for item in items or () if isinstance(item, ir.Const)]
    if isinstance(labels, ir.Const) and isinstance(labels.value, (list, tuple)):
        items, known = (), list(labels.value)
    if items is None or len(known) < len(items):
        raise lo.problem("AD0204", node, "its labels are not known before it runs", name="numpy.einsum")
    letters = string.ascii_uppercase + string.ascii_lowercase  # in NumPy's order, which that of the result follows
    if not all(label is Ellipsis or (isinstance(label, int) and 0 <= label < len(letters)) for label in known):
        raise lo.problem("AD0204", node, "its labels are no whole numbers below 52", name="numpy.einsum")
    return "".join(["..." if label is Ellipsis else letters[label] for label in known])


def _only_moves(subscripts: Any) -> bool:
    """Whether no label of an only operand is summed over."""
    if not isinstance(subscripts, str) or "," in subscripts:
        return False
    operand, arrow, result = subscripts.replace(" ", "").partition("->")
    return set(operand) == set(result) if arrow else len(set(operand)) == len(operand)


@handles(np.ix_)
def _open_mesh(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Each array of places along an axis of its own."""
    places = [_call(lo, np.asarray, [arg], {}, node) for arg in args]
    if kwargs or not args:
        return NotImplemented
    if not all(map(_is_row_of_places, places)):
        if len(args) != 2 or any(may_carry(lo, arg) for arg in args):
            return NotImplemented
        given = [materialize(lo, arg, node) for arg in args]
        return TupleValue(tuple([_call(lo, side_of_mesh, [x, ir.Const(k)], {}, node) for k, x in enumerate(given)]))
    shapes = [tuple(-1 if axis == place else 1 for axis in range(len(args))) for place in range(len(args))]
    return TupleValue(
        tuple(
            _call(lo, np.reshape, [array, ir.Const(shape)], {}, node)
            for array, shape in zip(places, shapes, strict=True)
        )
    )


def _is_row_of_places(array: Value) -> bool:
    """Whether it is a vector of whole numbers; truth values are counted, and an empty list has no kind."""
    match type_of(array) if is_atom(array) else None:
        case ir.Array(dtype=dtype, dims=(_,)) if dtype is not None:
            return dtype.kind in "iu"
        case _:
            return False


@handles(np.ravel)
def _ravel(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """In another order than that of the rows: ``reshape`` knows how."""
    array, order = _with_order(args, kwargs)
    return NotImplemented if order is None else _call(lo, np.reshape, [array, ir.Const(-1)], {"order": order}, node)


@handles(np.ndarray.flatten)
def _flatten(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    array, order = _with_order(args, kwargs)
    if order is None:
        return NotImplemented
    return _call(lo, np.copy, [_call(lo, np.reshape, [array, ir.Const(-1)], {"order": order}, node)], {}, node)


def _with_order(args: list[Value], kwargs: dict[str, Value]) -> tuple[Value, Value | None]:
    """The array, and the order of its elements if it is that of the columns or of the rows, and said so.

    Of a vector it is the same whatever its memory.
    """
    given = {**dict(zip(("a", "order"), args, strict=False)), **kwargs}
    order = given.get("order")
    if order in (ir.Const("K"), ir.Const("A")) and (
        ir.rank_of(type_of(given["a"])) if is_atom(given["a"]) else None
    ) in (0, 1):
        order = ir.Const("C")
    plain = given.keys() == {"a", "order"} and order in (ir.Const("C"), ir.Const("F"))
    return given.get("a", NONE), order if plain else None


@handles(np.nonzero, np.where)
def _nonzero(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Places are arrays of which the types are known, one for each axis."""
    (array, *rest) = args or (NONE,)
    dims = array.type.dims if isinstance(array, ir.Var) and isinstance(array.type, ir.Array) else None
    if rest or kwargs or not dims or len(dims) > 2:
        return NotImplemented
    meaning = array_definitions.nonzero if len(dims) == 1 else array_definitions.nonzero_of_two
    return python_functions.call(lo, meaning, [array], node)


@handles(np.diff)
def _diff(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """The differences of order zero are the array itself."""
    given = {**dict(zip(("a", "n", "axis"), args, strict=False)), **kwargs}
    order = given.get("n", ir.Const(1))
    if (isinstance(order, ir.Const) and order.value != 0) or not given.keys() <= {"a", "n", "axis"}:
        return NotImplemented
    if order == ir.Const(0):
        return _call(lo, np.asanyarray, [given["a"]], {}, node)
    return python_functions.call(lo, array_definitions.diff, [given["a"], order, given.get("axis", ir.Const(-1))], node)


@handles(np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn)
def _transformed(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """Along no axis, an array is its own transform."""
    axes = args[2] if len(args) > 2 else kwargs.get("axes", NONE)
    if not isinstance(axes, TupleValue) or axes.items:
        return NotImplemented
    return _call(lo, np.asanyarray, args[:1], {}, node)


@handles(np.ndarray.view)
def _view(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    match [*args[1:], *kwargs.values()]:
        case [] | [ir.Const(value=np.ndarray)]:
            return containers.subscript(lo, args[0], ELLIPSIS, node)
        case _:
            return NotImplemented  # of what does not vary it may be anything


def _unstack(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    given = dict(kwargs)
    axis = given.pop("axis", ir.Const(0))
    if len(args) != 1 or given:
        return NotImplemented
    return _call(lo, tuple, [_call(lo, np.moveaxis, [args[0], axis, ir.Const(0)], {}, node)], {}, node)


if hasattr(np, "unstack"):  # NumPy 2.1
    handles(np.unstack)(_unstack)


@handles(np.ndarray.setflags)
def _setflags(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    write = args[1] if len(args) > 1 else kwargs.get("write", NONE)
    if write != NONE:
        set_attribute(lo, attribute(lo, args[0], "flags", node), "writeable", write, node)
    return NONE


@handles(operator.setitem)
def _setitem(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if len(args) != 3:
        return NotImplemented
    set_item(lo, args[0], args[1], args[2], node)
    return NONE


def _array_of_parts(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """``np.array`` of nested lists and tuples whose leaves are known one by one."""
    if not args or (not isinstance(args[0], TupleValue) and making.list_items(lo, args[0]) is None):
        return NotImplemented
    leaves: list[Value] = []

    def template(value: Value) -> Any:
        items = value.items if isinstance(value, TupleValue) else making.list_items(lo, value)
        if items is None:
            leaves.append(value)
            return len(leaves) - 1
        return tuple(template(item) for item in items)

    form = template(args[0])
    if all(isinstance(leaf, ir.Const) for leaf in leaves):
        return NotImplemented if kwargs or len(args) > 1 else _array_of_literals(lo, args[0], form, leaves, node)
    if not all(is_atom(leaf) for leaf in leaves):
        return NotImplemented
    lists = [leaf for leaf in leaves if isinstance(leaf, ir.Var) and isinstance(leaf.type, ir.List)]
    if len(lists) == len(leaves):
        return NotImplemented  # of one kind: an array of a list of lists
    leaves = [_call(lo, np.array, [leaf], {}, node) if leaf in lists else leaf for leaf in leaves]
    named = {**({"dtype": args[1]} if len(args) > 1 else {}), **kwargs}
    pairs = {name: materialize(lo, value, node) for name, value in named.items()}
    return call_any(lo, array_of, [ir.Const(form), *leaves], node, **pairs)


def _array_of_literals(lo: Lowerer, value: Value, form: Any, leaves: list[Value], node: ast.AST | None) -> Any:
    """``np.array`` of numbers that are known, of which the extents are known, too."""
    numbers = [leaf.value for leaf in leaves if isinstance(leaf, ir.Const)]
    if not numbers or not all(type(number) in (bool, int, float, complex) for number in numbers):
        return NotImplemented
    try:
        sample = array_of(form, *numbers)
    except ValueError:  # rows of several lengths
        return NotImplemented
    if sample.dtype.kind not in "bifc":
        return NotImplemented
    type_ = type_of(ir.Const(sample))
    assert isinstance(type_, ir.Array)
    target = ir.Var("t", ir.Array(type_.dtype, type_.dims))
    lo.at(node)
    lo.emit(ir.Call((target,), np.array, (materialize(lo, value, node),), (), lo.span(node)))
    return target


@handles(np.generic.tolist)
def _number_of_python(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return python_functions.call(lo, python_functions.number, args, node)


@handles(np.ndarray.tolist)
def _tolist(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    type_ = getattr(args[0], "type", None)
    if not isinstance(type_, ir.Array) or type_.dims is None or len(type_.dims) > 2:
        return NotImplemented
    if not type_.dims:
        return _number_of_python(lo, args, kwargs, node)
    if type_.dtype == np.dtype(float):
        return python_functions.call(
            lo, python_functions.floats if len(type_.dims) == 1 else python_functions.rows_of_floats, [args[0]], node
        )
    return python_functions.call(
        lo, python_functions.numbers if len(type_.dims) == 1 else python_functions.rows_of_numbers, [args[0]], node
    )
