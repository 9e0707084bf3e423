"""Warnings about derivatives of which a part is zero because it goes through a rounding to decimals.

Whoever rounds to decimals hardly means a step: a number is made shorter for a reader, and its slope is lost with that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.diagnostics import Diagnostic, Span, diagnostic
from adjoint.frontend.differentiation.refusals.zero_derivatives import is_meant
from adjoint.ir.walk import leaves, statements_in

_TO_DECIMALS = (round, np.round, np.around, np.ndarray.round)


def lost_in_roundings(
    function: ir.Function, count: int, output: int, told: Collection[Span | None]
) -> Iterator[Diagnostic]:
    """A warning for each rounding to decimals between the first ``count`` parameters and a result.

    ``told``: the places of which it was said already that the whole derivative is lost there.
    """
    roundings = [each for each in statements_in(function.body) if isinstance(each, ir.Call) and _is_to_decimals(each)]
    if not roundings:
        return
    returned = [leaf.values[output] for leaf in leaves(function.body) if isinstance(leaf, ir.Return)]
    if is_meant(function, range(count), returned):
        return
    varied = varying(function.body, function.params[:count])
    spans: set[Span | None] = set(told)
    for call in roundings:
        reaching = varying(function.body, call.targets)
        if call.args[0] in varied and call.span not in spans and any(atom in reaching for atom in returned):
            spans.add(call.span)
            yield diagnostic("AD0512", call.span, "this is rounded to decimals, and counts as a constant")


def _is_to_decimals(call: ir.Call) -> bool:
    callee: Any = call.callee
    if not any(callee is function for function in _TO_DECIMALS):
        return False
    decimals = next((value for name, value in call.kwargs if name in ("decimals", "ndigits")), None)
    if decimals is None:
        decimals = call.args[1] if len(call.args) > 1 else ir.Const(0)
    return not isinstance(decimals, ir.Const) or (decimals.value not in (0, None) and isinstance(decimals.value, int))
