"""Operators on values of any kind: numbers and arrays by a call, objects by their methods, sequences part by part."""

from __future__ import annotations

import ast
import builtins
import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import EQUALITIES, call
from adjoint.frontend.calls.operands import are_never_equal, arrays, class_of_alien, stop_at_alien
from adjoint.frontend.data import containers, making
from adjoint.frontend.data.element_types import slots
from adjoint.frontend.data.making import list_items
from adjoint.frontend.data.outside.imported_modules import is_table_of_modules, module_now
from adjoint.frontend.data.outside.known_sets import is_member_now
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.values import (
    NONE,
    Record,
    Ref,
    TupleValue,
    Union,
    Value,
    is_atom,
)
from adjoint.frontend.iterators.iterator_objects import iterated
from adjoint.frontend.iterators.iterators import is_lazy
from adjoint.frontend.library import python_functions
from adjoint.frontend.objects.classes import class_of, is_object, is_polynomial
from adjoint.frontend.objects.linked import identity, is_reference
from adjoint.frontend.objects.special_methods import (
    Asked,
    compared_fields,
    is_named,
    methods_asked,
    said_array,
    special_method,
)
from adjoint.frontend.syntax.identities import identity_of, is_nan, is_number, may_be_nan
from adjoint.frontend.syntax.operators import inplace_name, method_name, reflected_name
from adjoint.runtime.arithmetic.checks import check_factor
from adjoint.types.structure import DICTS


def apply_operator(
    lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None, *, inplace: bool = False
) -> Value:
    """``op`` on values of any kind: numbers and arrays by a call, objects by their methods, lists and tuples here."""
    numbers = [operand for operand in operands if is_number(operand)]
    if len(numbers) == len(operands) and op not in (operator.is_, operator.is_not):
        return call(lo, op, numbers, node)
    for place, operand in enumerate(operands):
        if isinstance(operand, Union):
            return on_each_option(
                lo,
                operand,
                lambda option, p=place: apply_operator(  # type: ignore[misc]
                    lo, op, [*operands[:p], option, *operands[p + 1 :]], node
                ),
                node,
            )
    if any(isinstance(operand, ir.Const) and is_polynomial(operand.value) for operand in operands):
        from adjoint.frontend.library.arrays.functions import polynomial_of  # lazy

        operands = [polynomial_of(lo, operand, node) for operand in operands]
    if any(map(is_reference, operands)) and _compares_places(lo, op, operands):
        return identity(lo, op, operands[0], operands[1], node)
    fills_text = op is operator.mod and joins.type_of(operands[0]) == ir.Opaque(str)
    if (any(is_object(lo, operand) for operand in operands) and not fills_text) or _is_of_named_tuples(
        lo, op, operands
    ):
        return _by_method(lo, op, operands, node, inplace)
    if _takes_sequences_for_arrays(op, operands):
        if op is operator.mul:
            _check_factors(lo, operands, node)
        operands = arrays(lo, operands, node)
    sequence = _on_sequences(lo, op, operands, node)
    if sequence is not None:
        return sequence
    if lo.run_data.pools and op in _IN_ORDER and all(_is_of_linked(operand) for operand in operands):
        left, right = (containers.tuple_items(lo, operand, node) for operand in operands)
        return _ordered(lo, op, left, right, node)
    _refuse_sequence_beside_number(lo, op, operands, node)
    error = _error_of_aliens(op, operands, inplace) if lo.run_data.choices or lo.settings.tagged else None
    if error is not None:
        stop_at_alien(lo, error, node)
    atoms = [materialize(lo, operand, node) for operand in operands]
    if any(isinstance(joins.type_of(atom), ir.Opaque) for atom in atoms):
        from adjoint.frontend.external.sparse.matrices import is_sparse_matrix  # lazy

        if any(map(is_sparse_matrix, atoms)):
            from adjoint.frontend.external.sparse.values import arithmetic  # lazy

            result = arithmetic(lo, op, atoms, node)
            if result is not None:
                return result
    return call(lo, op, atoms, node)


def _error_of_aliens(op: Callable[..., Any], operands: Sequence[Value], inplace: bool) -> Exception | None:
    """What Python raises where an operator is certain to raise for None or a text beside numbers."""
    if method_name(op) is None or op in EQUALITIES:
        return None
    if op is operator.mod and class_of_alien(operands[0]) is str:
        return None  # which fills the text
    if all(class_of_alien(operand) is None for operand in operands):
        return None
    examples = [_example_beside_aliens(operand) for operand in operands]
    if any(example is ir.UNDEFINED for example in examples):
        return None
    written = getattr(operator, (inplace and inplace_name(op)) or op.__name__, op)
    try:
        written(*examples)
    except (TypeError, ValueError) as error:
        return error
    return None


def _example_beside_aliens(value: Value) -> Any:
    """None, a text or a number as a value is one; undefined for what may be something else."""
    match joins.type_of(value):
        case ir.Opaque(cls=builtins.str):
            return ""
        case ir.Opaque(cls=types.NoneType):
            return None
        case ir.Scalar(kind=kind, dtype=None):
            return {"float": 1.0, "complex": 1j, "int": 1, "bool": True}[kind]
        case ir.Scalar(dtype=dtype) if dtype is not None:
            return dtype.type(1)
        case ir.Array(dtype=dtype, dims=dims) if dtype is not None:
            return np.ones((1,) * (1 if dims is None else len(dims)), dtype)
        case _:
            return ir.UNDEFINED


def _is_of_named_tuples(lo: Lowerer, op: Callable[..., Any], operands: list[Value]) -> bool:
    """Whether an operator is a method of a class of named tuples."""
    names = (method_name(op), reflected_name(op))
    return any(
        name is not None and special_method(lo, operand, name) is not None
        for operand in operands
        if is_named(lo, operand)
        for name in names
    )


def _compares_places(lo: Lowerer, op: Callable[..., Any], operands: Sequence[Value]) -> bool:
    """Whether objects that refer to each other, or None, are the same where an operator says so."""
    if op in (operator.is_, operator.is_not) or (op in (operator.eq, operator.ne) and NONE in operands):
        return True
    own = any(special_method(lo, operand, "__eq__") is not None for operand in operands)
    return op in (operator.eq, operator.ne) and not own and compared_fields(lo, "__eq__", [*operands], None) is None


_FIELD_BY_FIELD = sys.version_info >= (3, 13)
"""Whether dataclasses compare their fields one by one, not in tuples, to which an item that is one is equal."""


def _by_method(
    lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None, inplace: bool
) -> Value:
    if op in (operator.is_, operator.is_not):
        return identity_of(lo, op, operands, node)
    if op is operator.ne and not any(special_method(lo, operand, "__ne__") for operand in operands):
        equal = apply_operator(lo, operator.eq, operands, node)
        return _negated(lo, equal, node)
    fields = compared_fields(lo, method_name(op), operands, node)
    if fields is not None:
        if op is operator.eq and _FIELD_BY_FIELD and operands[0] is not operands[1]:
            pairs = zip(fields[0].items, fields[1].items, strict=True)
            return _all_of(lo, [apply_operator(lo, op, [*pair], node) for pair in pairs], node)
        return apply_operator(lo, op, [*fields], node)
    return _asked(lo, op, operands, [*methods_asked(lo, op, operands, inplace=inplace)], node)


def _asked(
    lo: Lowerer, op: Callable[..., Any], operands: list[Value], methods: Sequence[Asked], node: ast.AST | None
) -> Value:
    """What the first of the methods answers that does not decline, on each path."""
    if not methods:
        return _unanswered(lo, op, operands, node)
    (receiver, name, arguments), *others = methods
    if receiver is operands[-1] and isinstance(joins.type_of(operands[0]), ir.Array):
        converted = said_array(lo, receiver, ("__array_priority__",), node)
        if converted is not None:  # NumPy's arithmetic is asked first
            return apply_operator(lo, op, [operands[0], converted], node)
    method = None if name is None else special_method(lo, receiver, name)
    is_inverse = method is None and name == "__ne__"  # what `object` has asks for equality
    if is_inverse:
        method = special_method(lo, receiver, "__eq__")
    if method is None or _is_about_its_own_kind(lo, op, receiver, arguments):
        return _asked(lo, op, operands, others, node)

    def answer(option: Value) -> Value:
        if option == ir.Const(NotImplemented):
            return _asked(lo, op, operands, others, node)
        return _negated(lo, option, node) if is_inverse else option

    result = lo.call(method, arguments, {}, node)
    return on_each_option(lo, result, answer, node) if isinstance(result, Union) else answer(result)


def _unanswered(lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None) -> Value:
    """What Python does where no method answers."""
    if op in (operator.eq, operator.ne):
        return identity_of(lo, operator.is_ if op is operator.eq else operator.is_not, operands, node)
    if len(operands) == 2 and isinstance(joins.type_of(operands[1]), ir.Array):
        converted = said_array(lo, operands[0], (), node)
        if converted is not None:
            return apply_operator(lo, op, [converted, operands[1]], node)
    name = getattr(op, "__name__", str(op))
    raise lo.mistake(TypeError, node, f"these objects do not support the operator {name!r}")


def _negated(lo: Lowerer, equal: Value, node: ast.AST | None) -> Value:
    """What `!=` makes of what `==` gives."""
    from adjoint.frontend.syntax.conditions import truth_of  # lazy

    if isinstance(equal, Union):
        return on_each_option(lo, equal, lambda option: _negated(lo, option, node), node)
    truth = truth_of(lo, equal, node)
    return ir.Const(not truth.value) if isinstance(truth, ir.Const) else call(lo, operator.not_, [truth], node)


def _is_about_its_own_kind(lo: Lowerer, op: Callable[..., Any], receiver: Value, arguments: Sequence[Value]) -> bool:
    """Whether a comparison is Python's own, of a container or a text, beside something else: it is not implemented."""
    cls, name = class_of(lo, receiver), method_name(op)
    if op not in _COMPARED or cls is None or name is None:
        return False
    owner = next(base for base in cls.__mro__ if name in base.__dict__)
    others = [class_of(lo, argument) for argument in arguments]
    return owner in _COMPARED_ALONE and not any(other is None or issubclass(other, owner) for other in others)


_COMPARED = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
_COMPARED_ALONE = (dict, list, tuple, str, bytes)


def _on_sequences(lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None) -> Value | None:
    """Concatenation and repetition of tuples and lists of known length; comparisons of tuples."""
    if op in (operator.is_, operator.is_not):
        return identity_of(lo, op, operands, node)
    if len(operands) != 2:
        return None
    left, right = operands
    if op is operator.mod and joins.type_of(left) == ir.Opaque(str):
        return call(lo, op, [materialize(lo, left, node), materialize(lo, right, node, observer=True)], node)
    if op is operator.add:
        if isinstance(left, TupleValue) and isinstance(right, TupleValue):
            return making.tuple_of(left.items + right.items, left, right)
        parts = [making.list_items(lo, side) for side in operands]
        if parts[0] is not None and parts[1] is not None:
            return making.new_list(lo, [*parts[0], *parts[1]], node)
        if any(map(making.is_tuple, operands)) and node is not None:
            operands = [_as_run_time_tuple(lo, side, node) for side in operands]
        if all(_is_list(lo, side) for side in operands):
            both = python_functions.call(lo, python_functions.joined, operands, node)
            return making.as_tuple(both) if all(map(making.is_tuple, operands)) else both
        if any(map(making.is_tuple, operands)):
            return call(
                lo, op, [materialize(lo, side, node, observer=making.is_tuple(side)) for side in operands], node
            )
    if op is operator.or_ and all(making.is_dict(lo, side, among=(dict,)) for side in operands):
        return python_functions.call(lo, python_functions.merged, operands, node)
    if op is operator.mul:
        for sequence, count in ((left, right), (right, left)):
            if isinstance(count, ir.Const) and isinstance(count.value, bool):
                count = ir.Const(int(count.value))
            if making.is_tuple(sequence) and isinstance(count, ir.Const) and isinstance(count.value, int):
                return making.repeat_list(lo, sequence, count, node)
            if isinstance(count, ir.Const) and isinstance(count.value, int):
                if isinstance(sequence, TupleValue):
                    return making.tuple_of(sequence.items * count.value, sequence)
                items = making.list_items(lo, sequence)
                if items is not None and len(items) * count.value <= 64:
                    return making.new_list(lo, list(items) * count.value, node)
            if _is_list(lo, sequence) and isinstance(joins.type_of(count), ir.Scalar):
                kind = joins.type_of(count).kind  # type: ignore[attr-defined]
                if kind not in ("bool", "int"):
                    raise lo.mistake(TypeError, node, f"can't multiply sequence by non-int of type {kind!r}")
                return making.repeat_list(lo, sequence, count, node)
            if _is_list(lo, sequence) and joins.type_of(count) == ir.Opaque() and not _holds_floats(lo, sequence):
                return making.repeat_list(lo, sequence, count, node)  # floats might be multiplied, by an array
    if op in (operator.eq, operator.ne) and are_never_equal(operands):
        return ir.Const(op is operator.ne)
    if op in (operator.eq, operator.ne) and any(map(making.is_tuple, operands)):
        sides = [lo.open.call(tuple, side) if making.is_tuple(side) else side for side in operands]  # type: ignore[arg-type]
        return call(lo, op, [materialize(lo, side, node) for side in sides], node)
    if op in (operator.eq, operator.ne) and isinstance(left, TupleValue) and isinstance(right, TupleValue):
        if len(left.items) != len(right.items):
            return ir.Const(op is operator.ne)
        result = _all_equal(lo, left.items, right.items, node)
        return result if op is operator.eq else apply_operator(lo, operator.not_, [result], node)
    return None


def _all_equal(lo: Lowerer, mine: Sequence[Value], theirs: Sequence[Value], node: ast.AST | None) -> Value:
    """Whether two tuples of one length are equal; Python compares those of their numbers that may be nan."""
    found: list[Value] = []
    unknown: list[tuple[Value, Value]] = []
    for pair in zip(mine, theirs, strict=True):
        equal = _same_item(lo, *pair, node)
        if equal is None:
            unknown.append(pair)
        else:
            found.append(equal)
    if unknown:
        sides = [materialize(lo, TupleValue(side), node) for side in zip(*unknown, strict=True)]
        found.append(call(lo, operator.eq, sides, node))
    return _all_of(lo, found, node)


def _all_of(lo: Lowerer, conditions: Sequence[Value], node: ast.AST | None) -> Value:
    """Whether all conditions hold."""
    result: Value = ir.Const(True)
    for each in conditions:
        result = each if result == ir.Const(True) else apply_operator(lo, operator.and_, [result, each], node)
    return result


def _same_item(lo: Lowerer, one: Value, other: Value, node: ast.AST | None) -> Value | None:
    """Whether a container takes two items for equal: it asks first whether they are one. None where Python has to."""
    if one is other or (isinstance(one, ir.Const) and isinstance(other, ir.Const) and one.value is other.value):
        return ir.Const(True)
    if not (may_be_nan(one) and may_be_nan(other)):
        return apply_operator(lo, operator.eq, [one, other], node)
    if isinstance(one, ir.Const) and isinstance(other, ir.Const):
        return ir.Const(False)
    if is_nan(one) or is_nan(other):
        return apply_operator(lo, operator.is_, [one, other], node)
    return None


def _holds_floats(lo: Lowerer, sequence: Value) -> bool:
    """Whether a list can only be taken for an array of floats."""
    items = making.list_items(lo, sequence)
    if items is None:
        types_ = [sequence.type.element] if isinstance(sequence, ir.Var) and isinstance(sequence.type, ir.List) else []
    else:
        types_ = [joins.type_of(item) if is_atom(item) else None for item in items]
    return bool(types_) and all(isinstance(type_, ir.Scalar) and ir.may_vary(type_) for type_ in types_)


_IN_ORDER = (operator.lt, operator.le, operator.gt, operator.ge)


def _is_of_linked(value: Value) -> bool:
    """Whether a value is a tuple of known length with objects in it that refer to each other."""
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Tuple) and ir.linked_class_in(value.type) is not None


def _ordered(
    lo: Lowerer, op: Callable[..., Any], left: Sequence[Value], right: Sequence[Value], node: ast.AST | None
) -> Value:
    """A comparison of tuples item by item, as the places of objects are no objects: the first that differ decide."""
    if not left or not right:
        return ir.Const(op(len(left), len(right)))
    mine, theirs = left[0], right[0]
    equal = materialize(lo, _all_equal(lo, (mine,), (theirs,), node), node)
    lo.run_data.choices += 1  # objects without an order raise where all before them are equal
    try:
        return lo.branch(
            equal,
            lambda: _ordered(lo, op, left[1:], right[1:], node),
            lambda: apply_operator(lo, op, [mine, theirs], node),
            node,
        )
    finally:
        lo.run_data.choices -= 1


def _as_run_time_tuple(lo: Lowerer, value: Value, node: ast.AST) -> Value:
    """A tuple as one whose length is known at run time only; other values as they are."""
    if not isinstance(value, TupleValue) and not (isinstance(value, ir.Var) and isinstance(value.type, ir.Tuple)):
        return value
    items = slots(lo, containers.tuple_items(lo, value, node), node)
    return making.as_tuple(making.runtime_list(lo, lo.site(node), items, node))


def _takes_sequences_for_arrays(op: Callable[..., Any], operands: list[Value]) -> bool:
    """Whether NumPy answers for an operator, to which lists and tuples are arrays."""
    types_ = [operand.type for operand in operands if isinstance(operand, ir.Var)]
    if any(isinstance(type_, ir.Array) for type_ in types_):
        return op not in (operator.is_, operator.is_not)
    # a number of Python's own would raise; a product with a whole number repeats the list
    products = (operator.mul,) if any(isinstance(type_, ir.Number) for type_ in types_) else ()
    return op in (*_NOT_OF_SEQUENCES, *products) and any(map(_may_be_of_numpy, types_))


def _check_factors(lo: Lowerer, operands: list[Value], node: ast.AST | None) -> None:
    """Of a number of unknown kind beside a list or tuple it is seen when the derivative runs that it is not whole."""
    if any(isinstance(operand, TupleValue) or _is_list(lo, operand) for operand in operands):
        for operand in operands:
            if isinstance(operand, ir.Var) and isinstance(operand.type, ir.Number):
                lo.emit(ir.Call((), check_factor, (operand,), (), lo.span(node)))


_NOT_OF_SEQUENCES = (operator.add, operator.sub, operator.truediv, operator.floordiv, operator.mod, operator.pow)


def _refuse_sequence_beside_number(
    lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None
) -> None:
    """Arithmetic of a list or tuple and a number of Python's own: a mistake, but for a whole number of repetitions."""
    if op not in (*_NOT_OF_SEQUENCES, operator.mul) or len(operands) != 2:
        return
    for sequence, number in (operands, operands[::-1]):
        type_ = joins.type_of(number) if is_number(number) else None
        is_own = isinstance(type_, ir.Scalar) and type_.dtype is None
        repeats = op is operator.mul and isinstance(type_, ir.Scalar) and type_.kind in ("int", "bool")
        kind = "tuple" if isinstance(sequence, TupleValue) else "list"
        if is_own and not repeats and (kind == "tuple" or _is_list(lo, sequence)):
            raise lo.mistake(TypeError, node, f"a {kind} and a number of Python's own have no such operation")


def _may_be_of_numpy(type_: object) -> bool:
    return isinstance(type_, ir.Number) or (isinstance(type_, ir.Scalar) and type_.dtype is not None)


def _is_list(lo: Lowerer, value: Value) -> bool:
    is_run_time = isinstance(value, ir.Var) and isinstance(value.type, ir.List)
    return is_run_time or making.list_items(lo, value) is not None


def contains(lo: Lowerer, container: Value, item: Value, node: ast.AST | None) -> Value:
    """``item in container``"""
    module = module_now(lo, item) if is_table_of_modules(container) else None
    if module is not None:
        return ir.Const(module != NONE)
    known = is_member_now(lo, container, item)
    if known is not None:
        return known
    if isinstance(container, Ref):
        record = lo.store[container]
        assert isinstance(record, Record)
        if record.cls in DICTS:
            keys = ir.Const(record.keys)
            return call(lo, operator.contains, [keys, materialize(lo, item, node)], node)
    items = list(container.items) if isinstance(container, TupleValue) else list_items(lo, container)
    if items is not None:
        result: Value = ir.Const(False)
        unknown: list[Value] = []
        for candidate in items:
            equal = _same_item(lo, candidate, item, node)
            if equal == ir.Const(True):
                return equal
            if equal is None:
                unknown.append(candidate)
            elif equal != ir.Const(False):
                result = equal if result == ir.Const(False) else call(lo, operator.or_, [result, equal], node)  # type: ignore[list-item]
        if unknown:
            held = materialize(lo, TupleValue(tuple(unknown)), node)
            equal = call(lo, operator.contains, [held, materialize(lo, item, node)], node)
            result = equal if result == ir.Const(False) else call(lo, operator.or_, [result, equal], node)  # type: ignore[list-item]
        return result
    if lo.run_data.sets:
        from adjoint.frontend.data.sets_of_objects import note_object  # lazy

        note_object(lo, container, item)
    method = special_method(lo, container, "__contains__")
    if method is not None:
        return lo.call(method, [item], {}, node)
    container = iterated(lo, container, node)
    if isinstance(container, ir.Var) and ir.is_tagged_within(container.type):
        if isinstance(container.type, ir.Dict):
            return lo.open.call(operator.contains, container, making.hashed(lo, item, node))
        return python_functions.call(lo, python_functions.found, [container, item], node)
    if is_lazy(container):
        return python_functions.call(lo, python_functions.found, [container, item], node)
    is_table = isinstance(container, ir.Var) and isinstance(container.type, ir.Dict)
    sought = making.hashed(lo, item, node) if is_table else materialize(lo, item, node)
    return call(lo, operator.contains, [materialize(lo, container, node), sought], node)
