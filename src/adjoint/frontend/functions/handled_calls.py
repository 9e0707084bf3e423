"""Functions that stay functions, called where exceptions are handled: what may raise in them is not left out.

Passes keep what may raise in the body of a ``try`` statement, as a handler notices it. In a function that is called
there they see no ``try``. So the body of such a function becomes that of one, which hands every exception on.
"""

from __future__ import annotations

from adjoint import ir
from adjoint.differentiation.definitions import called_by, everywhere, with_called
from adjoint.ir.raising import block_may_raise, handles
from adjoint.ir.rebuild import result_targets, yielding
from adjoint.ir.walk import leaves, statements_in


def with_exceptions_kept(function: ir.Function) -> ir.Function:
    """The function; those that are called where exceptions are handled, and those that they call, hand these on."""
    called = {id(each.function) for body in _bodies_of_try(function) for each in called_by(ir.Function("", (), body))}
    if not called:
        return function
    return everywhere(function, lambda each: _handing_on(each) if id(each) in called else each)


def _bodies_of_try(function: ir.Function) -> list[ir.Block]:
    """The blocks in which exceptions are handled, also of functions that are called."""
    return [
        statement.body
        for each in with_called(function)
        for statement in statements_in(each.body)
        if isinstance(statement, ir.Guarded) and handles(statement)
    ]


def _handing_on(function: ir.Function) -> ir.Function:
    """A function that raises each exception of its body again."""
    returns = any(isinstance(leaf, ir.Return) for leaf in leaves(function.body))
    if not returns or not block_may_raise(function.body):
        return function
    targets = result_targets(function.body)
    again = ir.Handler(ir.Const(BaseException), None, ir.Block((), ir.Raise(None)))
    guarded = ir.Guarded(None, None, yielding(function.body), (again,), None, targets)
    return ir.Function(function.name, function.params, ir.Block((guarded,), ir.Return(targets)), function.doc)
