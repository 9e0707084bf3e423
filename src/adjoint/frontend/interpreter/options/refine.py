"""What the outcome of a test tells of a variable that may have one of several structures."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import one_of
from adjoint.frontend.interpreter.tracking import set_unseen
from adjoint.frontend.interpreter.values import NONE, Cell, Union, Value
from adjoint.frontend.objects.classes import is_instance
from adjoint.records import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """``cond`` holds just where the variable has one of the options ``when_true``."""

    cond: ir.Atom
    cell: Cell
    union: Union
    when_true: tuple[int, ...]
    negated: bool = False
    only: bool | None = None
    """The outcome of the whole test under which anything is told; None for both."""

    def flipped(self) -> Fact:
        only = None if self.only is None else not self.only
        return Fact(self.cond, self.cell, self.union, self.when_true, not self.negated, only)

    def part_of(self, outcome: bool) -> Fact:
        """The same as one of several conditions of which the whole is told only with this outcome."""
        return Fact(self.cond, self.cell, self.union, self.when_true, self.negated, outcome)


def fact_of(lo: Lowerer, node: ast.expr) -> Fact | None:
    """Reads tests of the forms ``x is None``, ``x is not None``, ``isinstance(x, C)`` for a union ``x``.

    Where ``x`` is assigned in the test itself, that has been done.
    """
    match node:
        case ast.Compare(
            left=ast.Name(id=name) | ast.NamedExpr(target=ast.Name(id=name)),
            ops=[(ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq()) as op],
            comparators=[ast.Constant(value=None)],
        ):
            found = _union_of(lo, name)
            if found is None:
                return None
            wanted = isinstance(op, (ast.Is, ast.Eq))
            outcomes = [_is_none(option) for option in found[1].options]
            if None in outcomes:
                return None
            options = [place for place, outcome in enumerate(outcomes) if outcome == wanted]
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kinds], keywords=[]):
            found = _union_of(lo, name)
            if found is None:
                return None
            classes = materialize(lo, lo.evaluate(kinds), kinds)
            if not isinstance(classes, ir.Const):
                return None
            options = []
            for index, option in enumerate(found[1].options):
                try:
                    is_one = is_instance(lo, option, classes.value)
                except TypeError:
                    return None
                if is_one is None:
                    return None
                if is_one:
                    options.append(index)
        case _:
            return None
    cell, union = found
    return Fact(_tag_in(lo, union, options), cell, union, tuple(options))


def _is_none(option: Value) -> bool | None:
    """Whether one of several structures is None; None where that is known at run time only."""
    if isinstance(option, ir.Var):
        match option.type:
            case ir.Opaque(cls=cls):
                return None if cls is None else cls is type(None)
            case ir.Reference():
                return None
    return option == NONE


def _union_of(lo: Lowerer, name: str) -> tuple[Cell, Union] | None:
    assert lo.frame is not None
    cell = lo.cell_named(name)
    value = lo.store.get(cell) if cell is not None else None
    return (cell, value) if cell is not None and isinstance(value, Union) else None


def _tag_in(lo: Lowerer, union: Union, options: list[int]) -> ir.Atom:
    if not options:
        return ir.Const(False)
    if len(options) == len(union.options):
        return ir.Const(True)
    if isinstance(union.tag, ir.Const):
        return ir.Const(union.tag.value in options)
    if len(options) == 1:
        return lo.open.call(operator.eq, union.tag, ir.Const(options[0]))
    if len(options) == len(union.options) - 1:
        (other,) = set(range(len(union.options))) - set(options)
        return lo.open.call(operator.ne, union.tag, ir.Const(other))
    return lo.open.call(operator.contains, ir.Const(tuple(options)), union.tag)


def refine(lo: Lowerer, facts: Iterable[Fact], holds: bool) -> None:
    """Narrows variables on the side where the test came out as ``holds``."""
    for fact in facts:
        if lo.block is None or lo.store.get(fact.cell) is not fact.union or fact.only not in (None, holds):
            continue
        wanted = holds != fact.negated
        left = [i for i in range(len(fact.union.options)) if (i in fact.when_true) == wanted]
        if 0 < len(left) < len(fact.union.options):
            set_unseen(lo.store, fact.cell, one_of(lo, fact.union, left))


# What is taken of a value that may be None: there Python raises, and what follows knows that it is not None


def evaluate_owner(lo: Lowerer, node: ast.expr, use: ast.expr) -> Value:
    """The value of ``node``, of which ``use`` takes or sets an attribute or an item."""
    value = lo.evaluate(node)
    if isinstance(use, ast.Attribute):
        present = not hasattr(None, use.attr)
        return without_none(lo, value, node, AttributeError, _no_attribute(use.attr)) if present else value
    return without_none(lo, value, node, TypeError, "'NoneType' object is not subscriptable")


def without_none(lo: Lowerer, value: Value, node: ast.AST, exception: type[Exception], message: str) -> Value:
    """The value where it is not None; where it is, the exception is raised."""
    if not isinstance(value, Union) or NONE not in value.options or all(option == NONE for option in value.options):
        return value
    places = [place for place, option in enumerate(value.options) if option != NONE]

    def stop() -> Value:
        lo.stop(ir.Raise(lo.open.call(exception, ir.Const(message)), None, lo.span(node)))
        return ir.UNDEFINED

    absent = lo.open.call(operator.eq, value.tag, ir.Const(value.options.index(NONE)))
    lo.branch(absent, stop, lambda: ir.UNDEFINED, node)
    present = one_of(lo, value, places)
    _remember(lo, node, value, present)
    return present


def _remember(lo: Lowerer, node: ast.AST, before: Value, present: Value) -> None:
    """From here on the variable that was read is not None."""
    if isinstance(node, ast.Name) and lo.frame is not None:
        cell = lo.cell_named(node.id)
        if cell is not None and lo.store.get(cell) is before:
            lo.store[cell] = present


def _no_attribute(name: str) -> str:
    return f"'NoneType' object has no attribute {name!r}"
