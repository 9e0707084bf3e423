"""Copies of own arrays that are all that is left of them are not made; others are."""

import numpy as np
import pytest

from adjoint import ir
from adjoint.optimize.touch_up.last_copies import without_last_copies
from ir.interpreter import run

X = ir.Var("x", ir.FLOAT)
OWN = ir.Var("a", ir.Array(np.dtype(float), ("many",), ir.Storage(written=True)))
VIEW = ir.Var("v", ir.Array(np.dtype(float), ("many",), OWN.type.storage))  # type: ignore[attr-defined]
COPY = ir.Var("b", ir.Array(np.dtype(float), ("many",)))
FILLED = (
    ir.Call((OWN,), np.zeros, (ir.Const(2),)),
    ir.Store(OWN, ir.Subscript((ir.Const(0),)), X),
)
COPIED = ir.Call((COPY,), np.copy, (OWN,))
LATER = ir.Store(OWN, ir.Subscript((ir.Const(1),)), X)
LOOK = ir.Load(VIEW, OWN, ir.Subscript((ir.Slice(ir.Const(None), ir.Const(1), ir.Const(None)),)))


@pytest.mark.parametrize(
    ("statements", "results", "goes"),
    [
        ((*FILLED, COPIED), (COPY,), True),
        ((*FILLED, COPIED, LATER), (COPY,), False),
        ((*FILLED, COPIED), (COPY, OWN), False),
        ((*FILLED, LOOK, COPIED), (COPY, VIEW), False),
    ],
    ids=["only the copy is left", "written later", "both are returned", "a view is returned"],
)
def test_a_copy_goes_where_nothing_else_is_left(statements: tuple, results: tuple, goes: bool) -> None:  # type: ignore[type-arg]
    function = ir.Function("f", (X,), ir.Block(statements, ir.Return(results)))
    changed = without_last_copies(function)
    assert (COPIED not in changed.body.statements) == goes
    np.testing.assert_equal(run(changed, 1.5), run(function, 1.5))
