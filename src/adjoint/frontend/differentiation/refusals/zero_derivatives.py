"""Warnings about derivatives that are zero whatever the argument: hardly ever what is meant.

Whether an argument reaches the result is asked twice: through everything, and through what has a derivative.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.analysis.joins import joins, reached
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.diagnostics import Diagnostic, Span, diagnostic
from adjoint.ir.walk import blocks_of, leaves, statements_in, terminators_in
from adjoint.rules.kinds import Elementwise
from adjoint.rules.registry import rule_for
from adjoint.types.classes.safe_lookups import is_one_of

if TYPE_CHECKING:
    from adjoint.differentiation.reachability import Dependence

_PYTHON_ROUNDINGS = (int, round, math.floor, math.ceil, math.trunc, operator.floordiv)
_NUMPY_ROUNDINGS = (np.floor, np.ceil, np.trunc, np.rint, np.round, np.fix, np.floor_divide)
ROUNDINGS = frozenset((*_PYTHON_ROUNDINGS, *_NUMPY_ROUNDINGS))


def zero_derivatives(
    function: ir.Function,
    arguments: Sequence[tuple[str, Sequence[int], Span | None]],
    outputs: Sequence[int],
    with_integers: Collection[str] = (),
) -> Iterator[Diagnostic]:
    """A warning for each argument on which no output depends in a way that has a derivative.

    Parameters
    ----------
    function
        What is differentiated.
    arguments
        For each argument its name, its parameters of ``function``, and its place.
    outputs
        Indices of the results that are differentiated.
    with_integers
        The names of arguments that hold integers, too.
    """
    returned = [
        leaf.values[place] for leaf in leaves(function.body) if isinstance(leaf, ir.Return) for place in outputs
    ]
    if not returned:
        return
    flows = _number_flows(function)
    whole: Dependence | None = None
    for name, places, span in arguments:
        numbers = [function.params[place] for place in places if function.params[place].type == ir.FLOAT]
        if not places or not reached(numbers, flows).isdisjoint(returned):
            continue
        from adjoint.differentiation.reachability import Dependence  # lazy

        whole = whole or Dependence(function, places, outputs)
        found = whole.of_parameters(function, places, outputs)
        written = any(found.active(function.params[place]) for place in places)
        if written or any(map(found.varies, returned)) or found.problems:
            continue
        if is_meant(function, places, returned):
            continue
        rounding = _rounding(function, places, returned)
        if rounding is not None:
            yield diagnostic("AD0502", rounding.span, f"what depends on {name!r} goes through this")
            continue
        decision = _decision(function, places)
        if decision is not None and decision.span is not None:
            label, others = f"{name!r} only decides which way the function takes", ((decision.span, "here"),)
            yield diagnostic("AD0501", span, label, others=others, helps=_OF_STEPS, name=name)
        elif name in with_integers:
            label = f"none of the floats in {name!r} reaches the result; integers count as constants"
            yield diagnostic("AD0501", span, label, helps=("write floats where numbers vary: 1.0 for 1",), name=name)
        else:
            yield diagnostic("AD0501", span, f"nothing of {name!r} reaches the result", name=name)


_OF_STEPS = (
    "a step has no slope: let the result depend on the number itself",
    "of the solution of an equation, as by bisection, say so: ad.implicit(solve, residual)",
)


def _decision(function: ir.Function, places: Sequence[int]) -> ir.Call | None:
    """The first test of what depends on the parameters."""
    varied = varying(function.body, [function.params[place] for place in places])
    tests = {statement.cond for statement in statements_in(function.body) if isinstance(statement, ir.If)}
    tests |= {end.cond for end in terminators_in(function.body) if isinstance(end, ir.Branch)}
    calls = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Call)]
    deciding = (call for call in calls if not tests.isdisjoint(call.targets))
    return next((call for call in deciding if any(arg in varied for arg in call.args)), None)


def _number_flows(function: ir.Function) -> dict[ir.Var, list[ir.Var]]:
    """Where numbers flow through nothing but functions without steps: enough for a quick yes."""
    flows: dict[ir.Var, list[ir.Var]] = {}
    for statement in statements_in(function.body):
        for source, target in joins(statement) if blocks_of(statement) else _smooth_flows(statement):
            if isinstance(source, ir.Var) and target.type == ir.FLOAT:
                flows.setdefault(source, []).append(target)
    return flows


def _smooth_flows(statement: ir.Statement) -> Iterable[tuple[ir.Atom, ir.Var]]:
    if isinstance(statement, ir.Call) and isinstance(rule_for(statement.callee), Elementwise):
        return [(arg, target) for target in statement.targets for arg in statement.args]
    return ()


def is_meant(function: ir.Function, places: Sequence[int], returned: Sequence[ir.Atom]) -> bool:
    """Whether it is said of the result, or of what it has of the parameters, that it counts as a constant."""
    varied = varying(function.body, [function.params[place] for place in places])
    stops = [
        statement
        for statement in statements_in(function.body)
        if isinstance(statement, ir.Call) and statement.callee is stop_gradient
    ]
    if any(target in returned for stop in stops for target in stop.targets):
        return True
    meant = [target for stop in stops for target in stop.targets if stop.args[0] in varied]
    return bool(meant) and any(atom in varying(function.body, meant) for atom in returned)


def _rounding(function: ir.Function, places: Sequence[int], returned: Sequence[ir.Atom]) -> ir.Statement | None:
    """The last rounding through which the result depends on the parameters: nothing goes around that."""
    varied = varying(function.body, [function.params[place] for place in places])
    for statement in reversed(statements_in(function.body)):
        if (
            isinstance(statement, ir.Call)
            and is_one_of(statement.callee, ROUNDINGS)
            and any(arg in varied for arg in statement.args)
        ):
            results = list(statement.targets)
            if not results:
                continue
            if any(atom in varying(function.body, results) for atom in returned):
                return statement
    return None
