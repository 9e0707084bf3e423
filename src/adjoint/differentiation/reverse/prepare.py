"""What is done to a function before it is reversed, besides what has a module of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from adjoint.runtime.tangents.slots import add_to_field, add_to_slot
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
    other numbers, or print twice. What has no derivative when it is written out, though it draws nothing, runs again.
    """
    while True:
        calls = _not_to_be_kept(function)
        found = activity(function, wrt, outputs, None, shared) if calls else None
        active = [each for each in calls if found is not None and any(map(found.active, operands(each[0])))]
        texts = [(call, derived, written_out(derived, target)) for call, derived in active]
        done = {id(call): text for call, derived, text in texts if _must_be_written_out(derived) or _is_plain(text)}
        if not done:
            return function
        body = _with_written_out(function.body, done)
        written = ir.Function(function.name, function.params, body, function.doc)
        function = run(NORMAL_FORM, written, Context(target))


def _not_to_be_kept(function: ir.Function) -> list[tuple[ir.Call, ir.Derived]]:
    """The calls of derivatives that had better not be kept by name: of pullbacks of others there is no derivative."""
    return [
        (call, call.callee)
        for call in statements_in(function.body)
        if isinstance(call, ir.Call) and isinstance(call.callee, ir.Derived)
        if _must_be_written_out(call.callee)
        or not (may_run_again(call.callee.function) or has_function_values(call.callee.function))
    ]


def _must_be_written_out(derived: ir.Derived) -> bool:
    """Whether another run would give something else, or cotangents are changed."""
    from adjoint.differentiation.surgery import has_surgery  # lazy

    return has_surgery(derived.function) or draws(derived.function)


def _is_plain(function: ir.Function) -> bool:
    """Whether nothing is added to slots of which it is known at run time only what they hold."""
    calls = (statement for statement in statements_in(function.body) if isinstance(statement, ir.Call))
    return not any(call.callee in (add_to_slot, add_to_field) for call in calls)


def written_out(derived: ir.Derived, target: Target) -> ir.Function:
    """The program of a derivative, to be differentiated as any other."""
    from adjoint.differentiation.reverse.residuals.tapes import as_arrays  # lazy
    from adjoint.differentiation.surgery import surgery_in, with_plain_values  # lazy

    function = reverse(derived.function, derived.wrt, derived.outputs, target=target)
    surgery = tuple(surgery_in(derived.function))
    if not surgery:
        return function if may_run_again(derived.function) else as_arrays(function)
    return as_arrays(with_plain_values(function, surgery))


def _with_written_out(block: ir.Block, functions: Mapping[int, ir.Function]) -> ir.Block:
    builder = Builder(type_of_call)
    renamed: dict[ir.Var, ir.Atom] = {}
    for statement in block.statements:
        current: ir.Statement = substitute(statement, renamed)
        if isinstance(statement, ir.Call) and id(statement) in functions:
            results = inline(builder, functions[id(statement)], operands(current))
            renamed.update(zip(statement.targets, results, strict=True))
        else:
            builder.emit(map_blocks(current, lambda inner: _with_written_out(inner, functions)))
    return builder.block(substitute(block.terminator, renamed))


def with_exceptions_as_values(
    function: ir.Function, wrt: Sequence[int], outputs: Sequence[int], shared: frozenset[ir.Var]
) -> ir.Function:
    """The function without handlers that go on after exceptions from bodies that have changed memory."""
    if not any(isinstance(statement, ir.Guarded) and goes_on(statement) for statement in statements_in(function.body)):
        return function
    from adjoint.differentiation.reverse.exceptions_to_values import with_exceptions_as_values  # lazy

    return with_exceptions_as_values(function, lambda: activity(function, wrt, outputs, None, shared))
