"""Expressions of Python, one function each."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from adjoint.frontend.calls.calls import call_node
from adjoint.frontend.calls.operands import arrays
from adjoint.frontend.data import containers, making, objects
from adjoint.frontend.entry.inputs import global_value
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.choices import on_each_option
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.none_checks import evaluate_owner
from adjoint.frontend.interpreter.refine import Fact, fact_of, refine
from adjoint.frontend.interpreter.state.signals import Unreached
from adjoint.frontend.interpreter.values import (
    NONE,
    UNDEFINED,
    USED,
    Cell,
    Closure,
    GeneratorContext,
    GeneratorObject,
    GeneratorValue,
    IteratorValue,
    Method,
    Operator,
    Partial,
    RangeValue,
    Record,
    Ref,
    SliceValue,
    TupleValue,
    Union,
    Value,
    is_atom,
    is_torn,
)
from adjoint.frontend.iterators.iterators import hold, refuse_kept_by_function, taken
from adjoint.frontend.library import python_functions
from adjoint.frontend.syntax.operators import (
    BINARY,
    COMPARE,
    SAFE_TO_FOLD,
    UNARY,
    inplace_name,
    method_name,
    reflected_name,
)
from adjoint.frontend.syntax.starred import elements, list_display, tuple_display
from adjoint.ir.nodes import Atom, Call, Const, Var
from adjoint.ir.types import BOOL, Array, Dict, Instance, List, Number, Opaque, Scalar, Tuple
from adjoint.records import replace
from adjoint.runtime import display
from adjoint.sources.scope import own_yields, scope_of


def evaluate(lo: Lowerer, node: ast.expr) -> Value:
    """The value of an expression; statements that compute it go to the open block."""
    if lo.block is None:
        return UNDEFINED
    value = _EXPRESSIONS.get(type(node), _unsupported)(lo, node)
    if lo.block is None and lo.frame is not None and not own_yields(lo.frame.source.node):
        raise Unreached  # every way through it raises; from a 'yield' control may leave in others
    return value


def atom(lo: Lowerer, node: ast.expr) -> Atom:
    return materialize(lo, evaluate(lo, node), node)


def _unsupported(lo: Lowerer, node: ast.expr) -> Value:
    code = "AD0104" if isinstance(node, ast.Await) else "AD0301"
    raise lo.problem(code, node, f"'{type(node).__name__}' is not supported here")


def _constant(lo: Lowerer, node: ast.Constant) -> Value:
    return Const(node.value)


def _name(lo: Lowerer, node: ast.Name) -> Value:
    return _looked_up(lo, lookup(lo, node.id, node), node)


_TAKEN = (IteratorValue, GeneratorValue, GeneratorObject, GeneratorContext, Union)


def _looked_up(lo: Lowerer, value: Value, node: ast.expr) -> Value:
    if type(value) not in _TAKEN:
        return value
    return taken(lo, value, node)


def lookup(lo: Lowerer, name: str, node: ast.AST | None) -> Value:
    """What a name means in the current frame."""
    cell = lo.cell_named(name)
    if cell is not None:
        return held_by(lo, cell, node)
    return global_value(lo, name, node)


def held_by(lo: Lowerer, cell: Cell, node: ast.AST | None) -> Value:
    """What a variable holds."""
    name, value = cell.name, lo.store.get(cell, UNDEFINED)
    if value is UNDEFINED:
        lo.await_binding(cell)
    if value is UNDEFINED and cell in lo.store:
        raise lo.problem("AD0304", node, f"{name!r} is read before it is assigned")
    if value is UNDEFINED:
        raise lo.problem("AD0304", node, f"{name!r} is not assigned on any path that leads here")
    if is_torn(value):
        from adjoint.frontend.control.partial_effects import keep_or_refuse  # lazy

        keep_or_refuse(lo, value, node, f"what {name!r} holds here depends on where the exception was raised")
    return value


def make_closure(lo: Lowerer, node: ast.FunctionDef | ast.Lambda, name: str) -> Closure:
    """A function defined here: it captures the cells of this frame."""
    frame = lo.frame
    assert frame is not None
    frame.makes_closures = True
    declared = scope_of(node).globals
    cells = {own: cell for own, cell in frame.visible_to_closures.items() if own not in declared}
    defaults = tuple(evaluate(lo, default) for default in node.args.defaults)
    kw_defaults = {
        parameter.arg: evaluate(lo, default)
        for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if default is not None
    }
    if any(type(value) in _TAKEN for value in (*defaults, *kw_defaults.values())):
        refuse_kept_by_function(lo, (*defaults, *kw_defaults.values()), node)
    source = replace(frame.source, node=node, name=name)
    return Closure(source, cells, frame.closure.globals, defaults, kw_defaults, frame.closure.owner, block=lo.block)


def _lambda(lo: Lowerer, node: ast.Lambda) -> Value:
    return make_closure(lo, node, "<lambda>")


# -- operators -------------------------------------------------------------------------------------------------------


def _binary(lo: Lowerer, node: ast.BinOp) -> Value:
    left = evaluate(lo, node.left)
    right = evaluate(lo, node.right)
    lo.at(node)
    return apply_operator(lo, BINARY[type(node.op)], [left, right], node)


def _unary(lo: Lowerer, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        cond, _ = truth(lo, node.operand)
        return Const(not cond.value) if isinstance(cond, Const) else lo.open.call(operator.not_, cond)
    operand = evaluate(lo, node.operand)
    lo.at(node)
    if isinstance(operand, Const) and isinstance(operand.value, (int, float, complex)):
        return Const(UNARY[type(node.op)](operand.value))
    return apply_operator(lo, UNARY[type(node.op)], [operand], node)


def apply_operator(
    lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None, *, inplace: bool = False
) -> Value:
    """``op`` on values of any kind: numbers and arrays by a call, objects by their methods, lists and tuples here."""
    numbers = [operand for operand in operands if _is_number(operand)]
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
    if any(objects.is_object(lo, operand) for operand in operands):
        return _by_method(lo, op, operands, node, inplace)
    if _takes_sequences_for_arrays(op, operands):
        operands = arrays(lo, operands, node)
    sequence = _on_sequences(lo, op, operands, node)
    if sequence is not None:
        return sequence
    _refuse_sequence_beside_float(lo, op, operands, node)
    atoms = [materialize(lo, operand, node) for operand in operands]
    if any(isinstance(joins.type_of(atom), Opaque) for atom in atoms):
        from adjoint.frontend.data.sparse_matrices import is_sparse_matrix  # lazy

        if any(map(is_sparse_matrix, atoms)):
            from adjoint.frontend.external.sparse_values import arithmetic  # lazy

            result = arithmetic(lo, op, atoms, node)
            if result is not None:
                return result
    return call(lo, op, atoms, node)


def _is_number(value: Value) -> TypeGuard[Atom]:
    if type(value) is Var:
        return type(value.type) is Scalar
    return type(value) is Const and type(value.value) in (float, int, bool, complex)


def call(lo: Lowerer, callee: Any, atoms: Sequence[Atom], node: ast.AST | None) -> Atom:
    """A call with one result; what is known is computed here."""
    if callee in SAFE_TO_FOLD and all(_folds(callee, a) for a in atoms):
        try:
            return Const(callee(*(a.value for a in atoms)))  # type: ignore[union-attr]
        except Exception:  # raises at run time too
            pass
    lo.at(node)
    return lo.open.call(callee, *atoms)


_COMPARISONS = frozenset(COMPARE.values())


def _folds(callee: Any, value: Atom) -> bool:
    """Whether an operator is applied to a value here and now: arithmetic of floats is left to be read."""
    if not isinstance(value, Const):
        return False
    if type(value.value) is float:
        return callee in _COMPARISONS or (callee is operator.neg and math.isinf(value.value))
    known = (bool, int, str, bytes, tuple, type, np.dtype)
    return value.value is None or isinstance(value.value, known) or callable(value.value)


def _by_method(
    lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None, inplace: bool
) -> Value:
    if op in (operator.is_, operator.is_not):
        return _identity(lo, op, operands, node)
    if op is operator.ne and not any(objects.special_method(lo, operand, "__ne__") for operand in operands):
        equal = apply_operator(lo, operator.eq, operands, node)
        return Const(not equal.value) if isinstance(equal, Const) else call(lo, operator.not_, [equal], node)  # type: ignore[list-item]
    fields = objects.compared_fields(lo, method_name(op), operands, node)
    if fields is not None:
        return apply_operator(lo, op, fields, node)
    attempts: list[tuple[Value, str | None, list[Value]]] = []
    if inplace:
        attempts.append((operands[0], inplace_name(op), operands[1:]))
    attempts.append((operands[0], method_name(op), operands[1:]))
    if len(operands) == 2:
        attempts.append((operands[1], reflected_name(op), operands[:1]))
    for receiver, name, arguments in attempts:
        method = None if name is None else objects.special_method(lo, receiver, name)
        if method is None:
            continue
        result = lo.call(method, arguments, {}, node)
        if result != Const(NotImplemented):
            return result
    if op in (operator.eq, operator.ne):
        return _identity(lo, operator.is_ if op is operator.eq else operator.is_not, operands, node)
    name = getattr(op, "__name__", str(op))
    raise lo.mistake(TypeError, node, f"these objects do not support the operator {name!r}")


def _identity(lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None) -> Value:
    left, right = operands
    if any(isinstance(side, Const) and isinstance(side.value, bool) for side in operands) and any(
        isinstance(side, Var) for side in operands
    ):
        return call(lo, op, [materialize(lo, side, node) for side in operands], node)
    if is_atom(left) and is_atom(right) and not (isinstance(left, Const) and isinstance(right, Const)):
        if any(isinstance(side, Const) for side in (left, right)) and any(
            isinstance(joins.type_of(side), (Scalar, Array, List, Dict, Tuple, Instance, Number))
            for side in (left, right)
            if isinstance(side, Var)
        ):
            return Const(op is operator.is_not)
        return call(lo, op, [left, right], node)  # type: ignore[list-item]
    if isinstance(left, Ref) and isinstance(right, Ref) and left is not right:
        _refuse_unknown_identity(left, right)
    same = left is right or (isinstance(left, Const) and isinstance(right, Const) and left == right)
    if isinstance(left, Union) or isinstance(right, Union):
        raise lo.problem("AD0301", node, "the identity of a value that has several structures is not known")
    return Const(same == (op is operator.is_))


def _refuse_unknown_identity(left: Ref, right: Ref) -> None:
    """Where an object is one of several, its copy at compile time does not tell which."""
    mine, theirs = (set(joins.original_sites((ref.site,))) for ref in (left, right))
    if mine & theirs and any(ref.site.place[0] == "joined" for ref in (left, right)):
        raise joins.NeedsRuntime(tuple(mine | theirs))


def _on_sequences(lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None) -> Value | None:
    """Concatenation and repetition of tuples and lists of known length; comparisons of tuples."""
    if op in (operator.is_, operator.is_not):
        return _identity(lo, op, operands, node)
    if len(operands) != 2:
        return None
    left, right = operands
    if op is operator.add:
        if isinstance(left, TupleValue) and isinstance(right, TupleValue):
            return TupleValue(left.items + right.items)
        parts = [making.list_items(lo, side) for side in operands]
        if parts[0] is not None and parts[1] is not None:
            return making.new_list(lo, [*parts[0], *parts[1]], node)
        if any(map(making.is_tuple, operands)) and node is not None:
            operands = [_as_run_time_tuple(lo, side, node) for side in operands]
        if all(_is_list(lo, side) for side in operands):
            both = python_functions.call(lo, python_functions.joined, operands, node)
            return making.as_tuple(both) if all(map(making.is_tuple, operands)) else both
    if op is operator.or_ and all(making.is_dict(lo, side) for side in operands):
        return python_functions.call(lo, python_functions.merged, operands, node)
    if op is operator.mul:
        for sequence, count in ((left, right), (right, left)):
            if making.is_tuple(sequence) and isinstance(count, Const) and isinstance(count.value, int):
                return making.repeat_list(lo, sequence, count, node)
            if isinstance(count, Const) and isinstance(count.value, int):
                if isinstance(sequence, TupleValue):
                    return TupleValue(sequence.items * count.value)
                items = making.list_items(lo, sequence)
                if items is not None and len(items) * count.value <= 64:
                    return making.new_list(lo, list(items) * count.value, node)
            elif _is_list(lo, sequence) and isinstance(joins.type_of(count), Scalar):
                kind = joins.type_of(count).kind  # type: ignore[attr-defined]
                if kind not in ("bool", "int"):
                    raise lo.mistake(TypeError, node, f"can't multiply sequence by non-int of type {kind!r}")
                return making.repeat_list(lo, sequence, count, node)
    if op in (operator.eq, operator.ne) and any(map(making.is_tuple, operands)):
        sides = [lo.open.call(tuple, side) if making.is_tuple(side) else side for side in operands]  # type: ignore[arg-type]
        return call(lo, op, [materialize(lo, side, node) for side in sides], node)
    if op in (operator.eq, operator.ne) and isinstance(left, TupleValue) and isinstance(right, TupleValue):
        if len(left.items) != len(right.items):
            return Const(op is operator.ne)
        result: Value = Const(True)
        for mine, theirs in zip(left.items, right.items, strict=True):
            equal = apply_operator(lo, operator.eq, [mine, theirs], node)
            result = equal if result == Const(True) else call(lo, operator.and_, [result, equal], node)  # type: ignore[list-item]
        return result if op is operator.eq else call(lo, operator.not_, [result], node)  # type: ignore[list-item]
    return None


def _as_run_time_tuple(lo: Lowerer, value: Value, node: ast.AST) -> Value:
    """A tuple of numbers as one whose length is known at run time only; other values as they are."""
    if not isinstance(value, TupleValue) and not (isinstance(value, Var) and isinstance(value.type, Tuple)):
        return value
    items = containers.known_items(lo, value, node)
    if not all(is_atom(item) and isinstance(joins.type_of(item), Scalar) for item in items):
        return value
    return making.as_tuple(making.runtime_list(lo, lo.site(node), list(items), node))  # type: ignore[arg-type]


def _takes_sequences_for_arrays(op: Callable[..., Any], operands: list[Value]) -> bool:
    """Whether NumPy answers for an operator, to which lists and tuples are arrays."""
    types_ = [operand.type for operand in operands if isinstance(operand, Var)]
    if any(isinstance(type_, Array) for type_ in types_):
        return op not in (operator.is_, operator.is_not)
    # a number of Python's own would raise; a product with a whole number repeats the list
    products = (operator.mul,) if any(isinstance(type_, Number) for type_ in types_) else ()
    return op in (*_NOT_OF_SEQUENCES, *products) and any(map(_may_be_of_numpy, types_))


_NOT_OF_SEQUENCES = (operator.add, operator.sub, operator.truediv, operator.floordiv, operator.mod, operator.pow)


def _refuse_sequence_beside_float(
    lo: Lowerer, op: Callable[..., Any], operands: list[Value], node: ast.AST | None
) -> None:
    """Arithmetic of a list or tuple and a float of Python's own: a mistake, whatever the numbers are."""
    if op not in (*_NOT_OF_SEQUENCES, operator.mul) or len(operands) != 2:
        return
    for sequence, number in (operands, operands[::-1]):
        type_ = joins.type_of(number) if _is_number(number) else None
        is_float = isinstance(type_, Scalar) and type_.kind in ("float", "complex") and type_.dtype is None
        kind = "tuple" if isinstance(sequence, TupleValue) else "list"
        if is_float and (kind == "tuple" or _is_list(lo, sequence)):
            raise lo.mistake(TypeError, node, f"a {kind} and a number of Python's own have no such operation")


def _may_be_of_numpy(type_: object) -> bool:
    return isinstance(type_, Number) or (isinstance(type_, Scalar) and type_.dtype is not None)


def _is_list(lo: Lowerer, value: Value) -> bool:
    is_run_time = isinstance(value, Var) and isinstance(value.type, List)
    return is_run_time or making.list_items(lo, value) is not None


# -- conditions ------------------------------------------------------------------------------------------------------


def truth(lo: Lowerer, node: ast.expr) -> tuple[Atom, tuple[Fact, ...]]:
    """A condition, and what its outcome tells of variables."""
    fact = fact_of(lo, node)
    if fact is not None:
        return fact.cond, (fact,)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        cond, facts = truth(lo, node.operand)
        flipped = Const(not cond.value) if isinstance(cond, Const) else lo.open.call(operator.not_, cond)
        return flipped, tuple(f.flipped() for f in facts)
    if isinstance(node, ast.BoolOp):
        return _truth_of_operation(lo, node)
    return truth_of(lo, evaluate(lo, node), node), ()


def _truth_of_operation(lo: Lowerer, node: ast.BoolOp) -> tuple[Atom, tuple[Fact, ...]]:
    """``and`` and ``or`` where only the truth of the result counts."""
    is_and = isinstance(node.op, ast.And)
    known: list[Fact] = []

    def chain(parts: list[ast.expr]) -> Value:
        cond, facts = truth(lo, parts[0])
        known.extend(fact.part_of(is_and) for fact in facts)
        if len(parts) == 1:
            if isinstance(cond, Var) and not isinstance(cond.type, Scalar):
                target = Var("t", BOOL)
                lo.emit(Call((target,), bool, (cond,), (), lo.span(node)))
                return target
            return cond

        def rest() -> Value:
            refine(lo, facts, is_and)
            return chain(parts[1:])

        def done() -> Value:
            return Const(not is_and)

        return lo.branch(cond, rest, done, node) if is_and else lo.branch(cond, done, rest, node)

    found = chain(list(node.values))
    if lo.block is None:
        raise Unreached  # every way through it raises
    assert isinstance(found, (Var, Const))
    return found, tuple(known)


def truth_of(lo: Lowerer, value: Value, node: ast.AST | None) -> Atom:
    """``bool(value)`` where it is known, else a value that ``if`` can test."""
    match value:
        case Const():
            try:
                return Const(bool(value.value))
            except Exception:
                return value
        case Var(type=List() | Dict() | Tuple()):
            return lo.open.call(len, value)
        case Var():
            return value
        case TupleValue(items=items):
            return Const(bool(items))
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            if record.cls in (list, dict):
                return Const(bool(record.parts))
            found: Atom = objects.truth_of_object(lo, value, node)
            return found
        case Union():
            outcome = on_each_option(lo, value, lambda option: truth_of(lo, option, node), node)
            if isinstance(outcome, Union):  # truths of several types
                outcome = on_each_option(lo, outcome, lambda option: _bool_of(lo, option, node), node)
            assert isinstance(outcome, (Var, Const))
            return outcome
        case Closure() | Method() | Partial() | Operator() | GeneratorValue() | GeneratorObject():
            return Const(True)
        case RangeValue():
            return materialize(lo, value, node)
        case _:
            raise lo.problem("AD0301", node, "the truth of this value is not known")


def _bool_of(lo: Lowerer, truth: Value, node: ast.AST | None) -> Atom:
    assert isinstance(truth, (Var, Const))
    found = Var("t", BOOL)
    lo.emit(Call((found,), bool, (truth,), (), lo.span(node)))
    return found


def _bool_operation(lo: Lowerer, node: ast.BoolOp) -> Value:
    is_and = isinstance(node.op, ast.And)

    def chain(parts: list[ast.expr]) -> Value:
        fact = fact_of(lo, parts[0]) if len(parts) > 1 else None
        value: Value = fact.cond if fact is not None else evaluate(lo, parts[0])
        if len(parts) == 1:
            return value
        cond = truth_of(lo, value, parts[0])

        def rest() -> Value:
            if fact is not None:
                refine(lo, (fact,), is_and)
            return chain(parts[1:])

        def done() -> Value:
            return value

        return lo.branch(cond, rest, done, node) if is_and else lo.branch(cond, done, rest, node)

    return chain(list(node.values))


def _compare(lo: Lowerer, node: ast.Compare) -> Value:
    left = evaluate(lo, node.left)

    def chain(left: Value, operators: list[ast.cmpop], comparators: list[ast.expr]) -> Value:
        right = evaluate(lo, comparators[0])
        lo.at(node)
        value = compare(lo, operators[0], left, right, node)
        if len(operators) == 1:
            return value
        cond = truth_of(lo, value, node)
        return lo.branch(cond, lambda: chain(right, operators[1:], comparators[1:]), lambda: value, node)

    return chain(left, list(node.ops), list(node.comparators))


def compare(lo: Lowerer, op: ast.cmpop, left: Value, right: Value, node: ast.AST | None) -> Value:
    if isinstance(op, (ast.In, ast.NotIn)):
        inside = containers.contains(lo, right, left, node)
        if isinstance(op, ast.In):
            return inside
        cond = truth_of(lo, inside, node)
        return Const(not cond.value) if isinstance(cond, Const) else call(lo, operator.not_, [cond], node)
    return apply_operator(lo, COMPARE[type(op)], [left, right], node)


def _conditional(lo: Lowerer, node: ast.IfExp) -> Value:
    cond, facts = truth(lo, node.test)

    def side(part: ast.expr, holds: bool) -> Callable[[], Value]:
        def body() -> Value:
            refine(lo, facts, holds)
            return evaluate(lo, part)

        return body

    return lo.branch(cond, side(node.body, True), side(node.orelse, False), node)


def _walrus(lo: Lowerer, node: ast.NamedExpr) -> Value:
    from adjoint.frontend.syntax.assign import assign_name  # circular

    value = evaluate(lo, node.value)
    lo.rename(value, node.target.id)
    assign_name(lo, node.target.id, value, node)
    return value


# -- displays --------------------------------------------------------------------------------------------------------


def _set(lo: Lowerer, node: ast.Set) -> Value:
    atoms = [materialize(lo, value, node) for value in elements(lo, node.elts)]
    return call(lo, display.make_set, atoms, node)


def _dict(lo: Lowerer, node: ast.Dict) -> Value:
    parts: list[tuple[Any, Value]] = []
    table: Value | None = None
    """The dict, once a part of it has keys that are not known."""
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            parts.append((evaluate(lo, key), evaluate(lo, value)))
            continue
        inner = evaluate(lo, value)
        record = lo.store.get(inner)
        if isinstance(record, Record) and record.cls is dict:
            parts.extend(record.parts)
        elif isinstance(inner, Var) and isinstance(inner.type, Dict):
            table = _with_parts(lo, table, parts, node)
            python_functions.call(lo, python_functions.update, [table, inner], node)
            parts = []
        else:
            raise lo.problem("AD0301", value, "'**' of a dict whose keys are not known")
    return _with_parts(lo, table, parts, node)


def _with_parts(lo: Lowerer, table: Value | None, parts: list[tuple[Any, Value]], node: ast.Dict) -> Value:
    if table is None:
        return making.new_dict(lo, parts, node)
    for key, value in parts:
        containers.set_item(lo, table, key if isinstance(key, (Var, Const)) else Const(key), value, node)
    return table


def _format(lo: Lowerer, node: ast.JoinedStr) -> Value:
    parts: list[Atom] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            spec = Const("") if part.format_spec is None else _format_atom(lo, part.format_spec)
            value = materialize(lo, evaluate(lo, part.value), part, observer=True)
            parts.append(lo.open.call(display.format_value, value, Const(part.conversion), spec))
        else:
            assert isinstance(part, ast.Constant)
            parts.append(Const(part.value))
    if all(isinstance(part, Const) for part in parts):
        return Const("".join(part.value for part in parts))  # type: ignore[union-attr]
    return call(lo, display.join_string, parts, node)


def _format_atom(lo: Lowerer, node: ast.expr) -> Atom:
    value = evaluate(lo, node)
    assert is_atom(value)
    return value  # type: ignore[return-value]


# -- access ----------------------------------------------------------------------------------------------------------


def _attribute(lo: Lowerer, node: ast.Attribute) -> Value:
    if node.attr in ("send", "throw") and isinstance(node.value, ast.Name):
        _refuse_sending(lo, node.value, node)
    base = evaluate_owner(lo, node.value, node)
    lo.at(node)
    return _looked_up(lo, objects.attribute(lo, base, node.attr, node), node)


def _refuse_sending(lo: Lowerer, name: ast.Name, node: ast.Attribute) -> None:
    """Raises where a generator, which may have given items before, is sent something."""
    cell = lo.cell_named(name.id)
    held = None if cell is None else lo.store.get(cell)
    if held is USED:
        label = f"{name.id!r} is a generator that is sent values, which is not followed"
        helps = ("make it a class: what it keeps as attributes, what it does with a value as a method",)
        raise lo.problem("AD0104", node, label, helps=helps, name=name.id)


def _subscript(lo: Lowerer, node: ast.Subscript) -> Value:
    base = evaluate_owner(lo, node.value, node)
    if isinstance(base, Const) and isinstance(base.value, type) and hasattr(base.value, "__adjoint_signature__"):
        from adjoint.frontend.functions.function_values import type_of_functions  # lazy

        return type_of_functions(lo, node)
    index = evaluate(lo, node.slice)
    lo.at(node)
    return _looked_up(lo, containers.subscript(lo, base, index, node), node)


def _slice(lo: Lowerer, node: ast.Slice) -> Value:
    parts = [NONE if part is None else atom(lo, part) for part in (node.lower, node.upper, node.step)]
    return SliceValue(*parts)


def _call(lo: Lowerer, node: ast.Call) -> Value:
    return call_node(lo, node)


def _comprehension(lo: Lowerer, node: ast.ListComp) -> Value:
    from adjoint.frontend.syntax.comprehensions import list_comprehension  # lazy

    return list_comprehension(lo, node, node.elt, node.generators)


def _set_comprehension(lo: Lowerer, node: ast.SetComp) -> Value:
    from adjoint.frontend.syntax.comprehensions import list_comprehension  # lazy

    items = list_comprehension(lo, node, node.elt, node.generators)
    return call(lo, set, [materialize(lo, items, node)], node)


def _dict_comprehension(lo: Lowerer, node: ast.DictComp) -> Value:
    from adjoint.frontend.syntax.comprehensions import dict_comprehension  # lazy

    return dict_comprehension(lo, node)


def _generator(lo: Lowerer, node: ast.GeneratorExp) -> Value:
    assert lo.frame is not None
    lo.frame.makes_closures = True
    first = evaluate(lo, node.generators[0].iter)
    hold(first)
    return GeneratorValue(node, lo.frame, first)


def _yield(lo: Lowerer, node: ast.Yield) -> Value:
    from adjoint.frontend.iterators.generators import yield_value  # lazy

    return yield_value(lo, node)


def _yield_from(lo: Lowerer, node: ast.YieldFrom) -> Value:
    from adjoint.frontend.iterators.generators import delegate  # lazy

    return delegate(lo, evaluate(lo, node.value), node)


def _starred(lo: Lowerer, node: ast.Starred) -> Value:
    raise lo.problem("AD0301", node, "a starred expression is not supported here")


_EXPRESSIONS: dict[type[ast.expr], Callable[[Lowerer, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Lambda: _lambda,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _bool_operation,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.NamedExpr: _walrus,
    ast.Tuple: tuple_display,
    ast.List: list_display,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _format,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Call: _call,
    ast.ListComp: _comprehension,
    ast.SetComp: _set_comprehension,
    ast.DictComp: _dict_comprehension,
    ast.GeneratorExp: _generator,
    ast.Starred: _starred,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
}
