"""Differential operators inside the code that is lowered.

A derivative is a call like any other: the function is lowered with fresh parameters for what it is differentiated
with respect to; whatever else it uses becomes further parameters, so that captured variables are differentiated by
the operators around.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.diagnostics import DifferentiationError
from adjoint.frontend.data.containers import know_inputs
from adjoint.frontend.differentiation.changed_parts import settle_changes
from adjoint.frontend.differentiation.inside.gradients import gradient
from adjoint.frontend.differentiation.refusals.arguments import check_differentiable
from adjoint.frontend.entry.inputs import captured
from adjoint.frontend.entry.operator_marks import MARK
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Operator, Value
from adjoint.frontend.iterators.items import known_items
from adjoint.frontend.library import python_functions
from adjoint.types.classes.safe_lookups import asked


def operator_of(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """What a call of ``constant`` means where it is a differential operator, or a derivative made by one."""
    kind = asked(constant, MARK)
    if kind is None:
        return None
    if not isinstance(kind, str):
        kind, function, options = kind
        path = ("root",) if function is lo.run_data.root else ("object", function)
        inner = captured(lo, function, path, "f", node)
        return call_operator(lo, Operator(kind, inner, options), args, kwargs, node)
    if kind in ("vjp", "jvp", "jvps", "hvp"):
        return _immediate(lo, kind, constant, args, kwargs, node)
    if kind in ("linearize", "transpose", "jet"):
        helps = ("in code that is differentiated, take ad.jvp, ad.vjp or ad.grad",)
        raise lo.problem("AD0301", node, f"ad.{kind} inside other code is not covered", helps=helps)
    if kind == "ravel":
        return ravel(lo, constant, args, kwargs, node)
    if kind in _TOOLS:
        helps = ("call it outside of what is differentiated, and hand on what it gives",)
        raise lo.problem("AD0301", node, f"ad.{kind} inside other code is not covered", helps=helps)
    if kind == "checkpoint" and len(args) + len(kwargs) != 1:
        raise lo.mistake(TypeError, node, "ad.checkpoint takes one function", code="AD0203")
    if not args and "f" not in kwargs:
        raise lo.mistake(TypeError, node, f"ad.{kind} takes a function", code="AD0203")
    function_value, options = args[0] if args else kwargs["f"], _options(lo, args[1:], kwargs, node)
    if kind != "checkpoint":
        _check_options(lo, constant, dict(options), node)
    return Operator(kind, function_value, options)


def ravel(lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """A structure as a vector, and the way back."""
    from adjoint.frontend.differentiation.inside.matrices import refuse_objects  # lazy
    from adjoint.runtime.numerical_methods import jacobians  # lazy

    given = [*args, *kwargs.values()]
    if len(given) != 1 or kwargs.keys() - {"x"}:
        raise lo.mistake(TypeError, node, "ad.ravel takes one value", code="AD0203")
    refuse_objects(lo, "ravel", given[0], node)
    check_differentiable(lo, ir.Const(constant), given[0], 0, node)
    return python_functions.call(lo, jacobians.ravelled, given, node)


_TOOLS = ("export", "sparsity", "source", "stages", "tape_report")
"""What tells something of functions and derivatives, and computes nothing."""


def _options(
    lo: Lowerer, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[tuple[str, Any], ...]:
    options: dict[str, Any] = {}
    named = {**({"wrt": args[0]} if args else {}), **kwargs}
    for name, value in named.items():
        if name == "f":
            continue
        atom = materialize(lo, value, node)
        if not isinstance(atom, ir.Const):
            know_inputs(lo, [atom])
            lo.unroll_innermost(given=True)
            raise lo.problem("AD0301", node, f"the option {name!r} of a differential operator is not known here")
        options[name] = atom.value
    return tuple(sorted(options.items()))


def _check_options(lo: Lowerer, constant: Any, options: dict[str, Any], node: ast.AST | None) -> None:
    """Refuses what the operator itself refuses of its options, in its words."""
    try:
        constant(_any_function, **{name: value for name, value in options.items() if name != "sparsity"})
    except DifferentiationError as refusal:
        (found,) = refusal.diagnostics
        label = found.labels[0].text if found.labels else found.notes[0]
        raise lo.problem(found.code, node, label, helps=found.helps) from None
    except (TypeError, ValueError) as failure:
        raise lo.mistake(type(failure), node, str(failure)) from None


def _any_function(x: Any) -> Any:
    return x


def call_operator(
    lo: Lowerer, operator: Operator, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of a derivative."""
    result = _called(lo, operator, args, kwargs, node)
    settle_changes(lo)
    return result


def _called(
    lo: Lowerer, operator: Operator, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    options = dict(operator.options)
    if operator.kind in ("grad", "value_and_grad"):
        return gradient(lo, operator, options, args, kwargs, node)
    if operator.kind == "checkpoint":
        from adjoint.frontend.surgery.checkpointed_loops import call_checkpointed  # lazy

        return call_checkpointed(lo, operator.function, args, kwargs, node)
    if operator.kind in ("call", "compile"):
        return lo.call(operator.function, args, kwargs, node)
    if operator.kind not in ("jacobian", "hessian"):
        helps = ("take the derivative: ad.grad(f)",)
        raise lo.problem(
            "AD0301", node, f"{operator.kind!r} of a derivative is not for other code to call", helps=helps
        )
    from adjoint.frontend.differentiation.inside.matrices import matrix  # lazy

    return matrix(lo, operator, options, args, kwargs, node)


def _immediate(
    lo: Lowerer, kind: str, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of an operator that takes the arguments of the function at once."""
    own = set(inspect.unwrap(constant).__kwdefaults__ or ())
    options = dict(_options(lo, (), {name: value for name, value in kwargs.items() if name in own}, node))
    has_aux, named = bool(options.get("has_aux", False)), {k: v for k, v in kwargs.items() if k not in own}
    if kind == "vjp":
        from adjoint.frontend.differentiation.inside.pullbacks import vjp  # lazy

        if not args:
            raise lo.mistake(TypeError, node, "ad.vjp takes a function, and its arguments", code="AD0203")
        return vjp(lo, args[0], args[1:], named, node, has_aux)
    from adjoint.frontend.differentiation.inside import pushforwards  # lazy

    names = ("f", "primals", "tangents")
    given = [*args, *(named[name] for name in names[len(args) :] if name in named)]
    if len(given) != len(names) or len(args) + len(named) != len(names):
        raise lo.problem("AD0203", node, f"ad.{kind} takes a function, primals and tangents")
    function, primals, tangents = given
    for name, each in (("primals", primals), ("tangents", tangents)):
        if isinstance(joins.type_of(each), (ir.Scalar, ir.Array, ir.Number)):
            label = f"the {name} are a tuple with one entry per argument"
            raise lo.problem("AD0409", node, label, helps=(f"write tuples: ad.{kind}(f, (x,), (x_dot,))",))
    if kind == "jvps":
        from adjoint.runtime.numerical_methods import jacobians  # lazy

        return python_functions.call(lo, jacobians.derivatives_of, [*given, ir.Const(has_aux)], node)
    operator = pushforwards.jvp if kind == "jvp" else pushforwards.hvp
    return operator(lo, function, known_items(lo, primals, node), known_items(lo, tangents, node), node, has_aux)
