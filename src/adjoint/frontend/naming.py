"""Arguments of a call by name or index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adjoint.diagnostics import DifferentiationError, error
from adjoint.frontend import derivatives
from adjoint.frontend.core import Lowerer, Problem, Settings
from adjoint.frontend.inputs import entered_root
from adjoint.ir.nodes import Const


def resolve(
    function: Any, wrt: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """All arguments by position, and the positions that ``wrt`` means."""
    lo = Lowerer(Settings())
    try:
        fn = entered_root(lo, function)
        names = derivatives.parameter_names(lo, fn, None)
        arguments = list(args)
        for name in names[len(args) :]:
            if name not in kwargs:
                break
            arguments.append(kwargs[name])
        if len(arguments) != len(args) + len(kwargs):
            raise error("AD0203", None, "arguments that are given by name must follow those that are given by position")
        values: list[Any] = [Const(None)] * len(arguments)
        places = derivatives.positions(lo, fn, wrt, values, {}, None)
    except Problem as problem:
        raise DifferentiationError(problem.diagnostic) from None
    return tuple(arguments), tuple(place for place in places if isinstance(place, int))
