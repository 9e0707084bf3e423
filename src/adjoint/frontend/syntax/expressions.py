"""Expressions: the value of each node of the syntax tree."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.calls import call_node
from adjoint.frontend.calls.emitted_calls import call, refuse_linked
from adjoint.frontend.data import containers, making
from adjoint.frontend.functions.closures import as_default
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import has_options, on_each_option, with_each_structure
from adjoint.frontend.interpreter.options.refine import evaluate_owner, fact_of, refine
from adjoint.frontend.interpreter.state.signals import Unreached
from adjoint.frontend.interpreter.values import (
    NONE,
    Closure,
    GeneratorContext,
    GeneratorObject,
    GeneratorValue,
    IteratorValue,
    Record,
    SliceValue,
    TupleValue,
    Union,
    Value,
    is_atom,
)
from adjoint.frontend.iterators.coming_back import site_as_object
from adjoint.frontend.iterators.iterator_objects import as_object
from adjoint.frontend.iterators.iterators import hold, refuse_kept_by_function, taken
from adjoint.frontend.library import python_functions
from adjoint.frontend.objects.attributes import attribute
from adjoint.frontend.objects.classes import is_object
from adjoint.frontend.objects.special_method_effects import text_of
from adjoint.frontend.syntax import recent_syntax
from adjoint.frontend.syntax.assign import assign_name
from adjoint.frontend.syntax.conditions import truth, truth_of
from adjoint.frontend.syntax.names import lookup
from adjoint.frontend.syntax.operations import apply_operator, contains
from adjoint.frontend.syntax.operators import BINARY, COMPARE, UNARY
from adjoint.frontend.syntax.recent_syntax import without_star
from adjoint.frontend.syntax.starred import elements, list_display, tuple_display
from adjoint.records import replace
from adjoint.runtime import display
from adjoint.sources.scope import scope_of
from adjoint.types.structure import DICTS


def evaluate(lo: Lowerer, node: ast.expr) -> Value:
    """The value of an expression; statements that compute it go to the open block."""
    if lo.block is None:
        return ir.UNDEFINED
    value = _EXPRESSIONS.get(type(node), _unsupported)(lo, node)
    if lo.block is None and lo.frame is not None:
        raise Unreached  # every way through it raises, or leaves where a generator yields
    return value


def atom(lo: Lowerer, node: ast.expr) -> ir.Atom:
    return materialize(lo, evaluate(lo, node), node)


def _unsupported(lo: Lowerer, node: ast.expr) -> Value:
    code = "AD0104" if isinstance(node, ast.Await) else "AD0301"
    raise lo.problem(code, node, f"'{type(node).__name__}' is not supported here")


def _constant(lo: Lowerer, node: ast.Constant) -> Value:
    return ir.Const(node.value)


def _name(lo: Lowerer, node: ast.Name) -> Value:
    return _looked_up(lo, lookup(lo, node.id, node), node)


_TAKEN = (IteratorValue, GeneratorValue, GeneratorObject, GeneratorContext, Union)


def _looked_up(lo: Lowerer, value: Value, node: ast.expr) -> Value:
    if type(value) not in _TAKEN:
        return value
    return taken(lo, value, node)


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
    outer = frame.closure
    held = tuple(as_default(lo, value) for value in defaults)
    named = {own: as_default(lo, value) for own, value in kw_defaults.items()}
    return Closure(source, cells, outer.globals, held, named, outer.owner, block=lo.block, outer=outer)


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
        return ir.Const(not cond.value) if isinstance(cond, ir.Const) else lo.open.call(operator.not_, cond)
    operand = evaluate(lo, node.operand)
    lo.at(node)
    if isinstance(operand, ir.Const) and isinstance(operand.value, (int, float, complex)):
        return ir.Const(UNARY[type(node.op)](operand.value))
    return apply_operator(lo, UNARY[type(node.op)], [operand], node)


# -- conditions ------------------------------------------------------------------------------------------------------


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
        right = _sought_in(lo, left, operators[0], comparators[0])
        lo.at(node)
        value = compare(lo, operators[0], left, right, node)
        if len(operators) == 1:
            return value
        cond = truth_of(lo, value, node)
        return lo.branch(cond, lambda: chain(right, operators[1:], comparators[1:]), lambda: value, node)

    return chain(left, list(node.ops), list(node.comparators))


def _sought_in(lo: Lowerer, left: Value, op: ast.cmpop, node: ast.expr) -> Value:
    """What something is compared with; a set that is written there has the items of a tuple for what can lie in it."""
    is_plain = isinstance(left, ir.Const) and isinstance(left.value, (str, int, bytes, type(None), type))
    if isinstance(node, ast.Set) and isinstance(op, (ast.In, ast.NotIn)) and is_plain:
        return TupleValue(tuple(elements(lo, node.elts)))
    return evaluate(lo, node)


def compare(lo: Lowerer, op: ast.cmpop, left: Value, right: Value, node: ast.AST | None) -> Value:
    if isinstance(op, (ast.In, ast.NotIn)):
        inside = contains(lo, right, left, node)
        if isinstance(op, ast.In):
            return inside
        cond = truth_of(lo, inside, node)
        return ir.Const(not cond.value) if isinstance(cond, ir.Const) else call(lo, operator.not_, [cond], node)
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
    value = evaluate(lo, node.value)
    lo.rename(value, node.target.id)
    assign_name(lo, node.target.id, value, node)
    return value


# -- displays --------------------------------------------------------------------------------------------------------


def _set(lo: Lowerer, node: ast.Set) -> Value:
    values = elements(lo, node.elts)
    if any(is_object(lo, value) for value in values):
        return lo.call(ir.Const(set), [TupleValue(tuple(values))], {}, node)
    atoms = [materialize(lo, value, node) for value in values]
    return call(lo, display.make_set, atoms, node)


def _dict(lo: Lowerer, node: ast.Dict) -> Value:
    parts: list[tuple[Any, Value]] = []
    table: Value | None = None
    """The dict, once a part of it has keys that are not known."""
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            parts.append((evaluate(lo, key), evaluate(lo, value)))
            continue
        inner = making.plain_dict(lo, evaluate(lo, value), value)
        record = lo.store.get(inner)
        if isinstance(record, Record) and record.cls in DICTS:
            parts.extend(record.parts)
        elif isinstance(inner, ir.Var) and isinstance(inner.type, ir.Dict):
            table = _with_parts(lo, table, parts, node)
            python_functions.call(lo, python_functions.update, [table, inner], node)
            parts = []
        else:
            raise lo.problem("AD0301", value, "'**' of a dict whose keys are not known")
    return _with_parts(lo, table, parts, node)


def _with_parts(lo: Lowerer, table: Value | None, parts: list[tuple[Any, Value]], node: ast.Dict) -> Value:
    from adjoint.frontend.data.item_writes import set_item  # lazy

    if table is None:
        return making.new_dict(lo, parts, node)
    for key, value in parts:
        set_item(lo, table, key if isinstance(key, (ir.Var, ir.Const)) else ir.Const(key), value, node)
    return table


def _format(lo: Lowerer, node: ast.JoinedStr) -> Value:
    parts: list[ir.Atom] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            spec = ir.Const("") if part.format_spec is None else _format_atom(lo, part.format_spec)
            parts.append(_formatted(lo, evaluate(lo, part.value), part, spec))
        else:
            assert isinstance(part, ast.Constant)
            parts.append(ir.Const(part.value))
    if all(isinstance(part, ir.Const) for part in parts):
        return ir.Const("".join(part.value for part in parts))  # type: ignore[union-attr]
    return call(lo, display.join_string, parts, node)


def _formatted(lo: Lowerer, value: Value, part: ast.FormattedValue, spec: ir.Atom) -> ir.Atom:
    """The text of a value, of each structure that it may have."""

    def written(option: Value) -> Value:
        text = text_of(lo, _CONVERSIONS.get(part.conversion, format), option, [spec], part)
        if text is not option:
            return text
        atom = materialize(lo, option, part, observer=True)
        refuse_linked(lo, [atom], part)
        if isinstance(atom, ir.Const) and isinstance(spec, ir.Const) and type(atom.value) in (str, int, bool):
            with suppress(ValueError):  # which is raised at run time, too
                return ir.Const(display.format_value(atom.value, part.conversion, spec.value))
        return lo.open.call(display.format_value, atom, ir.Const(part.conversion), spec)

    found = on_each_option(lo, value, written, part) if isinstance(value, Union) else written(value)
    assert isinstance(found, (ir.Var, ir.Const))
    return found


_CONVERSIONS = {114: repr, 115: str, 97: ascii}


def _format_atom(lo: Lowerer, node: ast.expr) -> ir.Atom:
    value = evaluate(lo, node)
    assert is_atom(value)
    return value  # type: ignore[return-value]


# -- access ----------------------------------------------------------------------------------------------------------


def _attribute(lo: Lowerer, node: ast.Attribute) -> Value:
    base = evaluate_owner(lo, node.value, node)
    lo.at(node)
    return _looked_up(lo, attribute(lo, base, node.attr, node), node)


def _subscript(lo: Lowerer, node: ast.Subscript) -> Value:
    base = evaluate_owner(lo, node.value, node)
    if isinstance(base, ir.Const) and isinstance(base.value, type) and hasattr(base.value, "__adjoint_signature__"):
        from adjoint.frontend.functions.function_values import type_of_functions  # lazy

        return type_of_functions(lo, node)
    index = evaluate(lo, node.slice)
    lo.at(node)

    def looked_up(index: Value) -> Value:
        return _looked_up(lo, containers.subscript(lo, base, index, node), node)

    return with_each_structure(lo, index, looked_up, node) if has_options(index) else looked_up(index)


def _slice(lo: Lowerer, node: ast.Slice) -> Value:
    parts = [NONE if part is None else evaluate(lo, part) for part in (node.lower, node.upper, node.step)]

    def with_bounds(bounds: Value) -> Value:
        assert isinstance(bounds, TupleValue)
        return SliceValue(*[materialize(lo, bound, node) for bound in bounds.items])

    bounds = TupleValue(tuple(parts))
    return with_each_structure(lo, bounds, with_bounds, node) if has_options(bounds) else with_bounds(bounds)


def _call(lo: Lowerer, node: ast.Call) -> Value:
    return call_node(lo, node)


def _comprehension(lo: Lowerer, node: ast.ListComp) -> Value:
    from adjoint.frontend.syntax.comprehensions import list_comprehension  # lazy

    node = without_star(node)
    return list_comprehension(lo, node, node.elt, node.generators)


def _set_comprehension(lo: Lowerer, node: ast.SetComp) -> Value:
    from adjoint.frontend.syntax.comprehensions import list_comprehension  # lazy

    node = without_star(node)
    items = list_comprehension(lo, node, node.elt, node.generators)
    return call(lo, set, [materialize(lo, items, node)], node)


def _dict_comprehension(lo: Lowerer, node: ast.DictComp) -> Value:
    from adjoint.frontend.syntax.comprehensions import dict_comprehension  # lazy

    return dict_comprehension(lo, node)


def _generator(lo: Lowerer, node: ast.GeneratorExp) -> Value:
    assert lo.frame is not None
    lo.frame.makes_closures = True
    node = without_star(node)
    first = evaluate(lo, node.generators[0].iter)
    hold(first)
    site = site_as_object(lo, node)
    made = GeneratorValue(node, lo.frame, first, site)
    return as_object(lo, made, node) if site in lo.settings.stepped else made


def _yield(lo: Lowerer, node: ast.Yield) -> Value:
    from adjoint.frontend.iterators.generators.loops import yield_value  # lazy

    return yield_value(lo, node)


def _yield_from(lo: Lowerer, node: ast.YieldFrom) -> Value:
    from adjoint.frontend.iterators.generators.loops import delegate  # lazy

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
    **recent_syntax.EXPRESSIONS,
}
