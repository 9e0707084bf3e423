"""What is done to a function before it is reversed, besides what has a module of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.activity import activity
from adjoint.analysis.draws import draws, has_function_values, may_run_again
from adjoint.differentiation.reverse.build import reverse
from adjoint.differentiation.reverse.normalize import normalize, with_last_arrays
from adjoint.ir.builder import Builder
from adjoint.ir.raising import goes_on
from adjoint.ir.rebuild import inline, map_blocks, substitute
from adjoint.ir.walk import operands, statements_in
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.passes import Context
from adjoint.pipeline import NORMAL_FORM, run
from adjoint.rules.typing import type_of_call
from adjoint.target import Target


def with_written_copied(function: ir.Function) -> ir.Function:
    """The function with its derivatives of functions that write their arguments as such of functions that do not."""
    statements = statements_in(function.body)
    if not any(isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Derived) for statement in statements):
        return function
    from adjoint.differentiation.pure import without_writes  # lazy

    return without_writes(function)


def normalized(function: ir.Function) -> ir.Function:
    """The form that the reverse sweep is read off, without what nothing depends on any more: it may be out of scope."""
    found = remove_dead_code(normalize(function))
    return ir.Function(found.name, found.params, with_last_arrays(found.body), found.doc)


def with_complex_stores(function: ir.Function) -> ir.Function:
    """The function with writes of imaginary parts as writes of complex numbers."""
    statements = statements_in(function.body)
    if not any(isinstance(statement, ir.Call) and statement.callee is np.imag for statement in statements):
        return function
    from adjoint.differentiation.memory import imaginary_parts  # lazy

    return remove_dead_code(imaginary_parts.with_complex_stores(function))


def with_surgery_done(
    function: ir.Function, wrt: Sequence[int], outputs: Sequence[int], shared: frozenset[ir.Var], target: Target
) -> ir.Function:
    """The function with derivatives written out through which a cotangent flows, and that cannot be kept by name.

    Those are derivatives in which cotangents are changed, and of functions that may not run again: they would draw
    other numbers, or print twice.
    """
    while True:
        calls = [call for call in statements_in(function.body) if _cannot_be_kept(call)]
        found = activity(function, wrt, outputs, None, shared) if calls else None
        done = {id(call) for call in calls if found is not None and any(map(found.active, operands(call)))}
        if not done:
            return function
        body = _with_written_out(function.body, done, target)
        written = ir.Function(function.name, function.params, body, function.doc)
        function = run(NORMAL_FORM, written, Context(target))


def _cannot_be_kept(statement: ir.Statement) -> bool:
    if not isinstance(statement, ir.Call) or not isinstance(statement.callee, ir.Derived):
        return False
    from adjoint.differentiation.surgery import has_surgery  # lazy

    function = statement.callee.function
    if has_surgery(function) or draws(function):
        return True
    return not (may_run_again(function) or has_function_values(function))  # of their pullbacks there is no derivative


def written_out(derived: ir.Derived, target: Target) -> ir.Function:
    """The program of a derivative, to be differentiated as any other."""
    from adjoint.differentiation.reverse.residuals.tapes import as_arrays  # lazy
    from adjoint.differentiation.surgery import surgery_in, with_plain_values  # lazy

    function = reverse(derived.function, derived.wrt, derived.outputs, target=target)
    surgery = tuple(surgery_in(derived.function))
    if not surgery:
        return function if may_run_again(derived.function) else as_arrays(function)
    return as_arrays(with_plain_values(function, surgery))


def _with_written_out(block: ir.Block, calls: set[int], target: Target) -> ir.Block:
    builder = Builder(type_of_call)
    renamed: dict[ir.Var, ir.Atom] = {}
    for statement in block.statements:
        current: ir.Statement = substitute(statement, renamed)
        if isinstance(statement, ir.Call) and id(statement) in calls:
            results = inline(builder, written_out(statement.callee, target), operands(current))
            renamed.update(zip(statement.targets, results, strict=True))
        else:
            builder.emit(map_blocks(current, lambda inner: _with_written_out(inner, calls, target)))
    return builder.block(substitute(block.terminator, renamed))


def with_exceptions_as_values(
    function: ir.Function, wrt: Sequence[int], outputs: Sequence[int], shared: frozenset[ir.Var]
) -> ir.Function:
    """The function without handlers that go on after exceptions from bodies that have changed memory."""
    if not any(isinstance(statement, ir.Guarded) and goes_on(statement) for statement in statements_in(function.body)):
        return function
    from adjoint.differentiation.reverse.exceptions_to_values import with_exceptions_as_values  # lazy

    return with_exceptions_as_values(function, lambda: activity(function, wrt, outputs, None, shared))
