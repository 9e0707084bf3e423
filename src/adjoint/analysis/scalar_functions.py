"""Functions of numbers alone: what may flow where is a graph of their variables, and nothing else has to be asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from adjoint.ir.nodes import (
    Atom,
    Block,
    Branch,
    Call,
    Continue,
    Declared,
    Definition,
    Derived,
    Exit,
    Function,
    If,
    Items,
    Loop,
    Statement,
    Terminator,
    Var,
    Yield,
    differentiated_args,
)
from adjoint.ir.types import Scalar
from adjoint.ir.walk import operands
from adjoint.rules.kinds import Constant, NoDerivative, Observer
from adjoint.rules.registry import rule_for

Edges = dict[Var, list[Var]]


class NumberFlows:
    """Where derivatives may flow in a function of numbers alone.

    Attributes
    ----------
    edges
        For each variable those that are computed from it.
    all_declared
        Whether a rule says of each call how it is differentiated, or that nothing is lost with its derivative.
    """

    def __init__(self) -> None:
        self.edges: Edges = {}
        self.all_declared = True

    def reached(self, starts: Iterable[Var]) -> set[Var]:
        """What depends on some variables, themselves included."""
        return _reached(starts, self.edges)

    def reaching(self, ends: Iterable[Var]) -> set[Var]:
        """What some variables depend on, themselves included."""
        back: Edges = {}
        for source, sinks in self.edges.items():
            for sink in sinks:
                back.setdefault(sink, []).append(source)
        return _reached(ends, back)

    def add(self, source: Atom, sink: Var) -> None:
        if _is_smooth(source) and varies_smoothly(sink):
            known = self.edges.get(source)
            if known is None:
                self.edges[source] = [sink]
            else:
                known.append(sink)

    def add_all(self, sources: Iterable[Atom], sinks: Iterable[Var]) -> None:
        for source, sink in zip(sources, sinks, strict=False):
            self.add(source, sink)


def varies_smoothly(var: Var) -> bool:
    """Whether a number may carry a derivative."""
    return type(var.type) is Scalar and var.type.kind in ("float", "complex")


def _is_smooth(atom: Atom) -> TypeGuard[Var]:
    return type(atom) is Var and varies_smoothly(atom)


def number_flows(function: Function) -> NumberFlows | None:
    """Where derivatives may flow in a function; None unless all its variables are numbers."""
    flows = NumberFlows()
    return flows if _are_numbers(function.params) and _block(function.body, None, flows) else None


def _are_numbers(variables: Iterable[Var]) -> bool:
    return not [var for var in variables if type(var.type) is not Scalar]


def _block(block: Block, construct: If | Loop | None, flows: NumberFlows) -> bool:
    for statement in block.statements:
        if not (_call(statement, flows) if type(statement) is Call else _construct(statement, flows)):
            return False
    return _end(block.terminator, construct, flows)


def _call(call: Call, flows: NumberFlows) -> bool:
    if not _are_numbers(call.targets) or isinstance(call.callee, (Function, Definition, Derived)):
        return False
    if isinstance(call.callee, Declared):
        for atom in differentiated_args(call):
            for target in call.targets:
                flows.add(atom, target)
        return True
    rule = rule_for(call.callee)
    if isinstance(rule, (Constant, NoDerivative)):
        carriers = [target for target in call.targets if varies_smoothly(target)]
        flows.all_declared &= not carriers or isinstance(rule, (Constant, Observer))
        return True
    flows.all_declared &= rule is not None and not call.kwargs and not rule.unsupported(len(call.args), ())
    for place, _ in () if rule is None else rule.settings(len(call.args)):
        flows.all_declared &= not _is_smooth(call.args[place])
    for atom in operands(call):
        for target in call.targets:
            flows.add(atom, target)
    return True


def _construct(statement: Statement, flows: NumberFlows) -> bool:
    match statement:
        case If(then=then, orelse=orelse, targets=targets):
            return _are_numbers(targets) and _block(then, statement, flows) and _block(orelse, statement, flows)
        case Loop(over=over, params=params, inits=inits, targets=targets):
            if isinstance(over, Items) or not _are_numbers((*params, *targets)):
                return False
            flows.add_all(inits, params)
            flows.add_all(params, targets)
            return _block(statement.body, statement, flows)
        case _:
            return False


def _end(terminator: Terminator, construct: If | Loop | None, flows: NumberFlows) -> bool:
    match terminator:
        case Branch(then=then, orelse=orelse):
            return _block(then, construct, flows) and _block(orelse, construct, flows)
        case Yield(values=values) | Exit(values=values) if construct is not None:
            flows.add_all(values, construct.targets)
        case Continue(values=values) if isinstance(construct, Loop):
            flows.add_all(values, construct.params)
    return True


def _reached(starts: Iterable[Var], edges: Edges) -> set[Var]:
    found = set(starts)
    work = list(found)
    while work:
        for var in edges.get(work.pop(), ()):
            if var not in found:
                found.add(var)
                work.append(var)
    return found
