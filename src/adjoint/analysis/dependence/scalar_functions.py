"""Functions of numbers alone: what may flow where is a graph of their variables, and nothing else has to be asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from adjoint import ir
from adjoint.analysis.joins import reached
from adjoint.ir.walk import operands
from adjoint.rules.kinds import Constant, NoDerivative, Observer
from adjoint.rules.registry import rule_for

Edges = dict[ir.Var, list[ir.Var]]


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

    def reached(self, starts: Iterable[ir.Var]) -> set[ir.Var]:
        """What depends on some variables, themselves included."""
        return reached(starts, self.edges)

    def reaching(self, ends: Iterable[ir.Var]) -> set[ir.Var]:
        """What some variables depend on, themselves included."""
        back: Edges = {}
        for source, sinks in self.edges.items():
            for sink in sinks:
                back.setdefault(sink, []).append(source)
        return reached(ends, back)

    def add(self, source: ir.Atom, sink: ir.Var) -> None:
        if _is_smooth(source) and varies_smoothly(sink):
            known = self.edges.get(source)
            if known is None:
                self.edges[source] = [sink]
            else:
                known.append(sink)

    def add_all(self, sources: Iterable[ir.Atom], sinks: Iterable[ir.Var]) -> None:
        for source, sink in zip(sources, sinks, strict=False):
            self.add(source, sink)


def varies_smoothly(var: ir.Var) -> bool:
    """Whether a number may carry a derivative."""
    return type(var.type) is ir.Scalar and var.type.kind in ("float", "complex")


def _is_smooth(atom: ir.Atom) -> TypeGuard[ir.Var]:
    return type(atom) is ir.Var and varies_smoothly(atom)


def number_flows(function: ir.Function) -> NumberFlows | None:
    """Where derivatives may flow in a function; None unless all its variables are numbers."""
    flows = NumberFlows()
    return flows if _are_numbers(function.params) and _block(function.body, None, flows) else None


def _are_numbers(variables: Iterable[ir.Var]) -> bool:
    return not [var for var in variables if type(var.type) is not ir.Scalar]


def _block(block: ir.Block, construct: ir.If | ir.Loop | None, flows: NumberFlows) -> bool:
    for statement in block.statements:
        if not (_call(statement, flows) if type(statement) is ir.Call else _construct(statement, flows)):
            return False
    return _end(block.terminator, construct, flows)


def _call(call: ir.Call, flows: NumberFlows) -> bool:
    if not _are_numbers(call.targets) or isinstance(call.callee, (ir.Function, ir.Definition, ir.Derived)):
        return False
    if isinstance(call.callee, ir.Declared):
        for atom in ir.differentiated_args(call):
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


def _construct(statement: ir.Statement, flows: NumberFlows) -> bool:
    match statement:
        case ir.If(then=then, orelse=orelse, targets=targets):
            return _are_numbers(targets) and _block(then, statement, flows) and _block(orelse, statement, flows)
        case ir.Loop(over=over, params=params, inits=inits, targets=targets):
            if isinstance(over, ir.Items) or not _are_numbers((*params, *targets)):
                return False
            flows.add_all(inits, params)
            flows.add_all(params, targets)
            return _block(statement.body, statement, flows)
        case _:
            return False


def _end(terminator: ir.Terminator, construct: ir.If | ir.Loop | None, flows: NumberFlows) -> bool:
    match terminator:
        case ir.Branch(then=then, orelse=orelse):
            return _block(then, construct, flows) and _block(orelse, construct, flows)
        case ir.Yield(values=values) | ir.Exit(values=values) if construct is not None:
            flows.add_all(values, construct.targets)
        case ir.Continue(values=values) if isinstance(construct, ir.Loop):
            flows.add_all(values, construct.params)
    return True
