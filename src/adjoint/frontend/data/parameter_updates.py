"""Updates of all parameters of a structure in code that is differentiated or compiled: written out, one by one."""

from __future__ import annotations

import ast
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.data.item_writes import set_item
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, Value
from adjoint.frontend.objects.key_paths import follow, parts_with_steps, put
from adjoint.keypaths.walk import walk
from adjoint.parameters.aggregate import ParameterAggregate
from adjoint.parameters.iteration import for_zipped_parameters
from adjoint.parameters.unroll import Unrolled


@handles(for_zipped_parameters, ParameterAggregate.update)
def _updated(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    names = ("parameters", "gradients", "fn")[len(args) :]
    if set(kwargs) != set(names):
        return NotImplemented
    given = [*args, *(kwargs[name] for name in names)]
    parameters, gradients, fn = given[0], given[1], given[2]
    for steps, part, _ in walk(parameters, lambda value, _: parts_with_steps(lo, value, node), True, ()):
        if not _is_parameter(part):
            continue
        new = lo.call(fn, [part, follow(lo, gradients, steps, node)], {}, node)
        if isinstance(part, ir.Var) and isinstance(part.type, ir.Array):
            if new != NONE:  # else the function has written to the array
                set_item(lo, part, ir.Const(Ellipsis), new, node)
        elif isinstance(part, ir.Var) and isinstance(part.type, ir.Number):
            raise lo.problem(
                "AD0301", node, f"whether the parameter {''.join(map(str, steps))} is an array is not known"
            )
        else:
            put(lo, parameters, steps, new, node)
    return NONE


def _is_parameter(value: Value) -> bool:
    if isinstance(value, ir.Var):
        return isinstance(value.type, (ir.Scalar, ir.Array, ir.Number)) and ir.carries_derivative(value.type)
    return isinstance(value, ir.Const) and isinstance(value.value, float)


@handles(Unrolled.__call__)
def _unrolled(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    label = "an update that ad.unrolled has made is not covered in code that is differentiated"
    helps = ("write the loop, which is unrolled: for kp in Parameters.all_key_paths(): ...",)
    raise lo.problem("AD0301", node, label, helps=helps)
