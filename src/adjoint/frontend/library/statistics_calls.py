"""The means and variances of `statistics`, of numbers that vary: without its exact fractions."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Callable
from typing import Any

from adjoint.frontend.calls.handlers import HANDLERS, Handler
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value
from adjoint.frontend.iterators.items import sequence
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python import statistics_definitions


def _means(function: Callable[..., Any]) -> Handler:
    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if len(args) != 1 or kwargs:
            return NotImplemented
        data = sequence(lo, args[0])
        return python_functions.call(lo, function, [data], node) if may_carry(lo, data) else NotImplemented

    return call


for _name in ("mean", "fmean", "harmonic_mean", "variance", "pvariance", "stdev", "pstdev"):
    HANDLERS[getattr(statistics, _name)] = _means(getattr(statistics_definitions, _name))
