"""``@ad.adjoint(wrt="a")``: a function inside of another that gives the cotangents of its parameters.

The value becomes one whose derivative is the adjoint (:class:`adjoint.ir.nodes.Declared`). What else the value depends
on, by the statements of the function around, must not vary: of that nobody has said the derivative.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.declarations.inline_adjoints import adjoint
from adjoint.diagnostics import diagnostic
from adjoint.diagnostics.spans import shown_path
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.declared.forms import heading_of
from adjoint.frontend.differentiation.components import describe
from adjoint.frontend.differentiation.fitting import Fitting, described, every_leaf, or_zero, vector_of
from adjoint.frontend.differentiation.inner_functions import as_result, lower_inner
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.state.signals import Problem, Restart
from adjoint.frontend.interpreter.values import Closure, TupleValue, Value
from adjoint.frontend.surgery.sole_names import reached_by, written_by
from adjoint.frontend.syntax.expressions import make_closure
from adjoint.ir.walk import binders_of, blocks_of, operands, targets_of, vars_used
from adjoint.records import dataclass


@dataclass(frozen=True, eq=False, slots=True)
class Inline:
    """An adjoint inside of a function: of which values it gives the cotangents."""

    names: tuple[str, ...]
    values: tuple[Value, ...]
    function: Closure


@handles(adjoint)
def _refuse(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    helps = ("decorate a function that is defined in the function whose adjoint it is",)
    raise lo.problem("AD0233", node, "this decorates no function that is defined here", helps=helps)


def decorates(lo: Lowerer, decorator: ast.expr) -> bool:
    """Whether a decorator is ``ad.adjoint(...)``."""
    if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, (ast.Name, ast.Attribute)):
        return False
    return lo.evaluate(decorator.func) == ir.Const(adjoint)


def declare(lo: Lowerer, node: ast.FunctionDef, decorator: ast.Call) -> None:
    """Takes down what the adjoint of a function around is, or of one of its variables."""
    frame = lo.frame
    assert frame is not None
    names, of = _said(lo, decorator)
    if len(node.decorator_list) > 1:
        raise lo.problem("AD0233", decorator, "it has other decorators", helps=("let it have this one alone",))
    if node not in getattr(frame.source.node, "body", ()):
        label = "it stands in a branch or a loop"
        raise lo.problem("AD0233", node, label, helps=("define it in the body of the function, for all paths",))
    _start_anew(lo, frame, names)
    function = make_closure(lo, node, node.name)
    if of is None:
        for name in names:
            if name not in frame.given:
                label = f"{name!r} is no parameter of {frame.source.name!r}"
                helps = ("name parameters", f"or say of which value: ad.adjoint(wrt={name!r}, of='y')")
                raise lo.problem("AD0233", decorator, label, helps=helps)
            if any(name in other.names for other in frame.adjoints):
                raise lo.problem("AD0233", decorator, f"there is another adjoint with respect to {name!r}")
        frame.adjoints.append(Inline(names, tuple(frame.given[name] for name in names), function))
        return
    values = tuple(_variable(lo, frame, name, decorator) for name in names)
    value = _attached(lo, frame, _variable(lo, frame, of, decorator), [Inline(names, values, function)], node)
    lo.store[frame.cells[of]] = value


def with_adjoint(lo: Lowerer, value: Value, node: ast.Return) -> Value:
    """What a function returns, with the derivative that the adjoints inside of it give."""
    frame = lo.frame
    assert frame is not None
    if not frame.adjoints:
        return value
    inside = [region.kind for region in lo.regions]
    if "loop" in inside[len(inside) - inside[::-1].index("function") :]:
        label = "this returns out of a loop, where its adjoint does not know how the value came about"
        raise lo.problem("AD0233", node, label, helps=("leave the loop by 'break', and return behind it",))
    return _attached(lo, frame, value, frame.adjoints, node)


def _said(lo: Lowerer, decorator: ast.Call) -> tuple[tuple[str, ...], str | None]:
    """What the decorator says: the names, and of which variable it is the adjoint."""
    said: dict[str, Any] = {}
    for keyword in decorator.keywords:
        value = lo.evaluate(keyword.value)
        items = value.items if isinstance(value, TupleValue) else (value,)
        if keyword.arg is None or not all(isinstance(item, ir.Const) for item in items):
            raise lo.problem("AD0233", decorator, "the names are not known here", helps=('write them: wrt="a"',))
        found = tuple(item.value for item in items if isinstance(item, ir.Const))
        said[keyword.arg] = found if isinstance(value, TupleValue) else found[0]
    wrt, of = said.get("wrt"), said.get("of")
    names = wrt if isinstance(wrt, tuple) else (wrt,)
    texts = all(isinstance(name, str) for name in names) and (of is None or isinstance(of, str))
    if decorator.args or not names or not texts or not said.keys() <= {"wrt", "of"}:
        raise lo.mistake(
            TypeError, decorator, 'ad.adjoint takes names: ad.adjoint(wrt="a"), and of= that of a value', code="AD0203"
        )
    return names, of


def _start_anew(lo: Lowerer, frame: Frame, names: Iterable[str]) -> None:
    """Starts again, if the function around was entered without knowing of this."""
    node = frame.source.node
    tracked = {(node, name) for name in names}
    if node not in lo.settings.adjoined or not tracked <= lo.settings.tracked:
        lo.settings.adjoined.add(node)
        lo.settings.tracked |= tracked
        raise Restart


def _variable(lo: Lowerer, frame: Frame, name: str, node: ast.AST) -> Value:
    cell = frame.cells.get(name)
    value = ir.UNDEFINED if cell is None else lo.store.get(cell, ir.UNDEFINED)
    if value is ir.UNDEFINED:
        raise lo.problem("AD0233", node, f"there is no variable {name!r} in {frame.source.name!r} here")
    return value


def _attached(lo: Lowerer, frame: Frame, value: Value, adjoints: Sequence[Inline], node: ast.AST) -> Value:
    """A value with the derivative that adjoints give."""
    name = frame.source.name
    shape = as_result(joins.shape_of(value, lo.store))
    if joins.has_options(shape):
        raise lo.problem("AD0233", node, "the value is of several kinds")
    values = tuple(joins.flatten(value, shape, lo.store, lo.open, lo.types))
    leaves = [leaf for each in adjoints for part in each.values for leaf in every_leaf(lo, part)]
    _refuse_written(lo, frame, leaves, node)
    others = _others(frame.log, values, leaves)
    lent = {storage for atom in (*leaves, *others) for storage in reached_by(atom)}
    lent.update(storage for item in lo.run_data.inputs for storage in reached_by(item.var))
    targets = tuple(
        ir.Var(hint, ir.fresh(type_) if lent.isdisjoint(reached_by(atom)) else type_)
        for atom, (type_, hint) in zip(values, joins.leaf_types(shape, "y"), strict=True)
    )
    seeds = [place for place, target in enumerate(targets) if ir.carries_derivative(target.type)]
    if not seeds:
        label = f"the value is {describe(shape)}, which has no cotangent"
        raise lo.problem("AD0233", node, label, helps=("make it a float: float(y)",))
    if not (leaves or others):
        return value
    result = joins.build(shape, iter(targets), lo.store)
    pattern = joins.build(shape, iter(values), lo.store)
    cotangents = iter([ir.Var("seed", ir.fresh(targets[place].type), True) for place in seeds])
    seed = vector_of(lo, pattern, cotangents)

    def apply(taken: list[Value]) -> Value:
        return TupleValue(tuple(lo.call(each.function, taken, {}, node) for each in adjoints))

    def flat(returned: Value) -> Value:
        assert isinstance(returned, TupleValue)
        found = [
            atom for each, given in zip(adjoints, returned.items, strict=True) for atom in _fitted(lo, each, given)
        ]
        return TupleValue(tuple(or_zero(lo, leaf, atom) for leaf, atom in zip(leaves, found, strict=True)))

    what = f"the adjoint of {name!r}"
    inner = lower_inner(lo, adjoints[0].function, [seed], {}, [0], node, returned=flat, what=what, call=apply)
    excluded = tuple(repr(atom.hint) for atom in others)
    callee = ir.Declared(name, len(leaves) + len(others), tuple(seeds), inner.function, None, excluded)
    lo.at(node)
    lo.emit(ir.Call(targets, callee, (*leaves, *others, *values, *inner.atoms[inner.count :]), (), lo.span(node)))
    return result


def _refuse_written(lo: Lowerer, frame: Frame, leaves: Sequence[ir.Atom], node: ast.AST) -> None:
    """Refuses to give cotangents of memory as it was when the function has written it meanwhile."""
    for leaf in leaves:
        memory = reached_by(leaf)
        for statement in frame.log:
            known = not isinstance(statement, ir.Call) or effects_of(statement).known
            if known and not memory.isdisjoint(written_by(statement)):
                hint = leaf.hint if isinstance(leaf, ir.Var) else "it"
                label = f"{hint!r} is written in place by the function whose adjoint this is"
                raise lo.problem("AD0233", node, label, helps=(f"write a copy: {hint} = {hint}.copy()",))


def _fitted(lo: Lowerer, each: Inline, given: Value) -> list[ir.Atom]:
    """The cotangents that an adjoint gives, one for each number and array."""
    place = heading_of(each.function)

    def misfit(label: str) -> Problem:
        return Problem(diagnostic("AD0233", place, label, helps=("return one cotangent for each name",)))

    items: Sequence[Value] = (given,)
    if len(each.names) > 1:
        if not isinstance(given, TupleValue) or len(given.items) != len(each.names):
            raise misfit(f"this returns {described(lo, given)}, not a tuple of {len(each.names)} cotangents")
        items = given.items
    where = "the inline adjoint" + ("" if place is None else f" ({shown_path(place.file)}:{place.line})")
    return [
        atom
        for name, value, item in zip(each.names, each.values, items, strict=True)
        for atom in Fitting(lo, None, misfit, where, repr(name)).leaves(value, item)
    ]


def _others(log: Sequence[ir.Statement], values: Iterable[ir.Atom], leaves: Iterable[ir.Atom]) -> list[ir.Var]:
    """What the values depend on besides some variables, of what was there before the statements of a function."""
    own = set(leaves)
    by_target = {target: statement for statement in log for target in targets_of(statement)}
    writers: dict[ir.Storage, list[ir.Statement]] = {}
    for statement in log:
        for storage in written_by(statement):
            writers.setdefault(storage, []).append(statement)
    needed: dict[ir.Atom, None] = {}
    waiting = [atom for atom in values if isinstance(atom, ir.Var) and atom not in own]
    while waiting:
        var = waiting.pop()
        if var in needed:
            continue
        needed[var] = None
        statements = [by_target[var]] if var in by_target else []
        statements += [statement for storage in reached_by(var) for statement in writers.get(storage, ())]
        for statement in statements:
            used = {*operands(statement), *(atom for block in blocks_of(statement) for atom in vars_used(block))}
            waiting += [atom for atom in used if isinstance(atom, ir.Var) and atom not in own and atom not in needed]
    inside = {param for statement in log for param in binders_of(statement)}
    return [
        var
        for var in needed
        if isinstance(var, ir.Var) and var not in by_target and var not in inside and ir.carries_derivative(var.type)
    ]
