"""Derivative surgery: a value that is what it was, whose cotangent passes a function of the user's.

The function is lowered beside the value, as the pullback of an identity (:class:`adjoint.ir.nodes.Surgery`): it sees
its variables as they are at this place, and what it reads is kept like any other residual.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from adjoint import ir
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.surgery import with_derivative, without_derivative
from adjoint.diagnostics import diagnostic
from adjoint.diagnostics.spans import shown_path
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.declared.forms import heading_of, is_callable
from adjoint.frontend.differentiation.fitting import described, may_fit, surely_fits
from adjoint.frontend.differentiation.inner_functions import lower_inner
from adjoint.frontend.differentiation.tangent_values import tangent_record, varying_parts
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.renaming import renamed
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import NONE, Record, Ref, Site, TupleValue, Union, Value, is_atom
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import targets_of
from adjoint.records import dataclass
from adjoint.runtime.cotangents import check_cotangent
from adjoint.types.structure import CONTAINERS, DICTS

_CONTAINERS = {ir.List: "a list", ir.Dict: "a dict", ir.Tuple: "a tuple", ir.Instance: "an object"}


@handles(with_derivative)
def _with_derivative(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    given = {**dict(zip(("x", "fn"), args, strict=False)), **kwargs}
    if len(args) + len(kwargs) != 2 or set(given) != {"x", "fn"}:
        raise lo.mistake(
            TypeError, node, "ad.with_derivative takes a value and a function of its cotangent", code="AD0203"
        )
    return altered(lo, given["x"], given["fn"], node)


@handles(without_derivative)
def _without_derivative(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    given = {**dict(zip(("x", "fn"), args, strict=False)), **kwargs}
    if len(args) + len(kwargs) != len(given) or not {"x"} <= set(given) <= {"x", "fn"}:
        raise lo.mistake(
            TypeError, node, "ad.without_derivative takes a value, and a function of it or none", code="AD0203"
        )
    value = lo.call(ir.Const(stop_gradient), [given["x"]], {}, node)
    if given.get("fn", NONE) == NONE:
        return value
    made = lo.call(given["fn"], [value], {}, node)
    return made if lo.block is None else lo.call(ir.Const(stop_gradient), [made], {}, node)


def altered(lo: Lowerer, value: Value, fn: Value, node: ast.AST | None) -> Value:
    """The value, with ``fn`` at work on its cotangent."""
    if isinstance(fn, Union):
        return on_each_option(lo, fn, lambda option: altered(lo, value, option, node), node)
    if isinstance(value, Union):
        helps = ("apply it where it is known which it is",)
        raise lo.problem("AD0230", node, "this is one of several kinds, by what has happened before", helps=helps)
    if not is_callable(lo, fn) and not isinstance(fn, ir.Var):
        label = f"this is {described(lo, fn)}, not a function of the cotangent"
        raise lo.problem("AD0230", getattr(node, "args", [node])[-1], label, helps=("give it a function",))
    return _Surgery(lo, fn, node).result(value)


def _with_what_it_makes(fn: Any, ct: Any) -> Any:
    """The cotangent that a function makes of one, which it may have written; lowered where that is called."""
    return _made_or(fn(ct), ct)


def _made_or(made: Any, ct: Any) -> Any:
    return ct if made is None else made


@dataclass(eq=False, slots=True)
class _Leaf:
    """One number or array: before, behind, and its cotangent. Numbers that are written in the code have one, too."""

    before: ir.Atom
    behind: ir.Var
    cotangent: ir.Var


class _Surgery:
    """One place at which a cotangent is changed."""

    def __init__(self, lo: Lowerer, fn: Value, node: ast.AST | None) -> None:
        self.lo = lo
        self.fn = fn
        self.node = node
        self.leaves: list[_Leaf] = []
        self.cotangents: dict[Ref, Ref] = {}

    def result(self, value: Value) -> Value:
        """Emits the identity, and gives the value behind it."""
        lo = self.lo
        behind = renamed(lo, value, self.behind, self.of_kinds)
        if all(isinstance(leaf.before, ir.Const) for leaf in self.leaves):
            warning = diagnostic("AD0507", lo.span(self.node), "nothing that is differentiated reaches this")
            if all(other != warning for other in lo.run_data.warnings):
                lo.run_data.warnings.append(warning)
            return value
        given = self.cotangent(behind, {leaf.behind: leaf.cotangent for leaf in self.leaves})

        def flat(returned: Value) -> Value:
            return TupleValue(tuple(self.fitted(value, returned)))

        function, what = ir.Const(_with_what_it_makes), "the function of the cotangent"
        args = [self.fn, given]
        own = lower_inner(lo, function, args, {}, [1], self.node, returned=flat, what=what)
        for ref in self.cotangents.values():  # containers of the function's parameters are nothing outside of it
            del lo.store[ref]
        changed = [entry for entry in lo.run_data.changed if entry[0] not in self.cotangents.values()]
        lo.run_data.changed[:] = changed
        count = len(self.leaves)
        assert own.count == count
        callee = ir.Surgery("with_derivative", count, tuple(range(count)), _without_idle_checks(own.function))
        before = tuple(leaf.before for leaf in self.leaves)
        lo.run_data.surgery = True
        lo.at(self.node)
        targets = tuple(leaf.behind for leaf in self.leaves)
        lo.emit(ir.Call(targets, callee, (*before, *before, *own.atoms[count:]), (), lo.span(self.node)))
        return behind

    # What is before the place and behind it

    def behind(self, part: ir.Var | ir.Const) -> Value:
        """What a number or an array is from here on."""
        if isinstance(part, ir.Const):
            self.leaves.append(_Leaf(part, ir.Var("y", ir.FLOAT), ir.Var("y_bar", ir.FLOAT, True)))
            return self.leaves[-1].behind
        if isinstance(part.type, (ir.List, ir.Dict, ir.Tuple, ir.Instance)):
            label = f"this is {_CONTAINERS[type(part.type)]} whose items are told apart when the program runs"
            raise self.lo.problem("AD0230", self.node, label, helps=("apply it to the numbers and arrays in it",))
        ct = ir.Var(f"{part.hint}_bar", ir.fresh(part.type), True)
        leaf = _Leaf(part, ir.Var(part.hint, part.type, part.named), ct)
        self.leaves.append(leaf)
        return leaf.behind

    def of_kinds(self, part: Union) -> Value:
        raise self.lo.problem("AD0230", self.node, "this holds something that is of several kinds")

    def cotangent(self, value: Value, found: dict[ir.Var, ir.Var]) -> Value:
        """A cotangent of the structure of a value; None at what has no derivative."""
        match value:
            case ir.Var():
                return found.get(value, NONE)
            case TupleValue(items=items, cls=cls):
                return TupleValue(tuple(self.cotangent(item, found) for item in items), cls)
            case Ref() if value in self.cotangents:
                return self.cotangents[value]
            case Ref():
                record = self.lo.store[value]
                assert isinstance(record, Record)
                ref = self.cotangents[value] = Ref(Site(("cotangent", *value.site.place)))
                parts = tuple((key, self.cotangent(part, found)) for key, part in varying_parts(record))
                self.lo.store[ref] = tangent_record(record.cls, parts)
                return ref
            case _:
                return NONE

    # What the function gives

    def fitted(self, value: Value, given: Value) -> Iterator[ir.Atom]:
        """The cotangents for what varies in a value, of what the function returned."""
        lo = self.lo
        match value:
            case ir.Var(type=type_) if ir.carries_derivative(type_):
                yield self.fitting(value, type_, given)
            case ir.Const(value=float()):
                yield self.fitting(value, ir.FLOAT, given)
            case TupleValue(items=items):
                yield from self.parts(dict(enumerate(items)), given, f"a tuple of {len(items)}")
            case Ref():
                record = lo.store[value]
                assert isinstance(record, Record)
                name = f"a tangent of class {record.cls.__name__!r}"
                if record.cls in CONTAINERS:
                    name = "a dict of the same keys" if record.cls in DICTS else f"a list of {len(record.parts)}"
                yield from self.parts(dict(varying_parts(record)), given, name)

    def parts(self, wanted: dict[Any, Value], given: Value, kind: str) -> Iterator[ir.Atom]:
        record = self.lo.store.get(given)
        found: dict[Any, Value] | None = None
        if isinstance(given, TupleValue):
            found = dict(enumerate(given.items))
        elif isinstance(record, Record):
            found = dict(record.parts)
        if found is None or not found.keys() <= wanted.keys():
            raise self.misfit(given, kind)
        for key, part in wanted.items():
            if any(True for _ in self.varying(part)):
                yield from self.fitted(part, found.get(key, NONE))

    def varying(self, value: Value) -> Iterator[ir.Atom]:
        mine = {leaf.before for leaf in self.leaves}
        match value:
            case ir.Var() | ir.Const() if value in mine:
                yield value
            case TupleValue(items=items):
                for item in items:
                    yield from self.varying(item)
            case Ref():
                record = self.lo.store[value]
                assert isinstance(record, Record)
                for _, part in varying_parts(record):
                    yield from self.varying(part)

    def fitting(self, before: ir.Atom, type_: ir.Type, given: Value) -> ir.Atom:
        """The cotangent of one number or array, of the kind and shape of that."""
        lo = self.lo
        kind = "an array" if isinstance(type_, ir.Array) else "a number"
        if not is_atom(given) or given is ir.UNDEFINED or (isinstance(given, ir.Const) and not _is_number(given.value)):
            raise self.misfit(given, kind)
        found = joins.type_of(given)
        if not may_fit(found, type_):
            raise self.misfit(given, kind)
        if surely_fits(found, type_):
            return ir.Const(float(given.value)) if isinstance(given, ir.Const) and type(given.value) is int else given  # type: ignore[return-value]
        target = ir.Var("ct", ir.fresh(type_))
        lo.emit(ir.Call((target,), check_cotangent, (given, before, ir.Const(self.said())), (), lo.span(self.node)))  # type: ignore[arg-type]
        return target

    def said(self) -> str:
        span = heading_of(self.fn) or self.lo.span(self.node)
        place = "" if span is None else f" ({shown_path(span.file)}:{span.line})"
        return f"the function of the cotangent{place} gives"

    def misfit(self, given: Value, wanted: str) -> Problem:
        """What is wrong with what the function returns, at its place."""
        label = f"this returns {described(self.lo, given)}, not {wanted}"
        called = self.lo.span(self.node)
        heading = heading_of(self.fn)
        others = () if called is None or heading is None else ((called, "the cotangent of this value is wanted"),)
        return Problem(diagnostic("AD0230", heading or called, label, others=others))


def _without_idle_checks(pullback: ir.Function) -> ir.Function:
    """The function without checks of cotangents that are handed on as they came."""
    own = set(pullback.params)
    idle = {
        statement.targets[0]: statement.args[0]
        for statement in pullback.body.statements
        if isinstance(statement, ir.Call) and statement.callee is check_cotangent and statement.args[0] in own
    }
    statements = tuple(part for part in pullback.body.statements if idle.keys().isdisjoint(targets_of(part)))
    body = substitute(ir.Block(statements, pullback.body.terminator), idle)
    return ir.Function(pullback.name, pullback.params, body, pullback.doc)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)
