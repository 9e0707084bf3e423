"""The interpreter of a user's program: the state of lowering, with all that expressions, statements and calls mean."""

from __future__ import annotations

from adjoint.frontend.calls import calls
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.syntax import expressions, statements


class Interpreter(Lowerer):
    """Evaluates expressions, runs statements and calls functions, of values that are partly known."""

    evaluate = expressions.evaluate
    run = statements.run
    call = calls.call_value
