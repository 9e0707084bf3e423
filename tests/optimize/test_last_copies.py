"""Copies of own arrays that are all that is left of them are not made; others are."""

import numpy as np
import pytest

from adjoint.ir.nodes import Block, Call, Const, Function, Load, Return, Slice, Store, Subscript, Var
from adjoint.ir.types import FLOAT, Array, Storage
from adjoint.optimize.touch_up.last_copies import without_last_copies
from ir.interpreter import run

X = Var("x", FLOAT)
OWN = Var("a", Array(np.dtype(float), ("many",), Storage(written=True)))
VIEW = Var("v", Array(np.dtype(float), ("many",), OWN.type.storage))  # type: ignore[attr-defined]
COPY = Var("b", Array(np.dtype(float), ("many",)))
FILLED = (
    Call((OWN,), np.zeros, (Const(2),)),
    Store(OWN, Subscript((Const(0),)), X),
)
COPIED = Call((COPY,), np.copy, (OWN,))
LATER = Store(OWN, Subscript((Const(1),)), X)
LOOK = Load(VIEW, OWN, Subscript((Slice(Const(None), Const(1), Const(None)),)))


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
    function = Function("f", (X,), Block(statements, Return(results)))
    changed = without_last_copies(function)
    assert (COPIED not in changed.body.statements) == goes
    np.testing.assert_equal(run(changed, 1.5), run(function, 1.5))
