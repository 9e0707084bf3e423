import operator

import numpy as np
import pytest

from adjoint import ir
from adjoint.ir.verifier import InvalidIR, verify
from adjoint.ir.views import with_views_in_memory
from ir.building import build, choose

X, C, T, P, I = (
    ir.Var("x", ir.FLOAT),
    ir.Var("c", ir.BOOL),
    ir.Var("t", ir.FLOAT),
    ir.Var("p", ir.FLOAT),
    ir.Var("i", ir.INT),
)
EMPTY = ir.Block((), ir.Yield())
UPTO = ir.Range(ir.Const(0), ir.Const(3), ir.Const(1))


def function(*statements, end=None):
    return ir.Function("f", (X, C), ir.Block(statements, end or ir.Return((X,))))


def negate(target, operand):
    return ir.Call((target,), operator.neg, (operand,))


def loop(body, *, targets=(T,), inits=(X,), over=UPTO, index=None):
    return ir.Loop(over, index, (P,), inits, body, targets)


def test_valid_functions_pass():
    verify(build(lambda b, x, c: choose(b, c, lambda b: x, lambda b: b.call(operator.neg, x)), ir.FLOAT, ir.BOOL))
    ends = ir.Branch(C, ir.Block((), ir.Exit(1, (ir.UNDEFINED,))), ir.Block((), ir.Continue((P,))))
    verify(function(loop(ir.Block((), ends), inits=(ir.UNDEFINED,), index=I)))


@pytest.mark.parametrize(
    ("statements", "end", "message"),
    [
        ((negate(X, X),), None, "bound twice"),
        ((negate(T, X), negate(T, X)), None, "bound twice"),
        ((negate(T, P),), None, "before it is bound"),
        ((), ir.Return((T,)), "before it is bound"),
        ((ir.If(C, ir.Block((negate(T, X),), ir.Yield()), EMPTY),), ir.Return((T,)), "outside of the block"),
        (
            (ir.If(C, ir.Block((negate(T, X),), ir.Yield()), ir.Block((), ir.Yield())), negate(P, T)),
            None,
            "outside of the block",
        ),
        ((ir.If(C, ir.Block((), ir.Yield((X,))), EMPTY, (T,)),), None, "Yield hands 0 values to a if that takes 1"),
        ((ir.If(C, ir.Block((), ir.Return((X,))), EMPTY),), None, "Return ends a block of a if"),
        ((loop(ir.Block((), ir.Yield((P,)))),), None, "Yield ends a block of a loop"),
        ((loop(ir.Block((), ir.Return((P,)))),), None, "Return ends a block of a loop"),
        ((loop(ir.Block((), ir.Continue(()))),), None, "Continue hands 0 values to a loop that takes 1"),
        ((loop(ir.Block((), ir.Exit(1, (P, P)))),), None, "Exit hands 2 values to a loop that takes 1"),
        ((loop(ir.Block((), ir.Exit(0, (P,)))),), None, "exit kind 0"),
        ((loop(ir.Block((), ir.Continue((P,))), targets=()),), None, "a target for each parameter"),
        ((loop(ir.Block((), ir.Continue((P,))), inits=()),), None, "as many first values"),
        ((loop(ir.Block((), ir.Continue((P,))), over=None, index=I),), None, "no index"),
        ((loop(ir.Block((), ir.Continue((P,))), over=ir.Items(ir.UNDEFINED)),), None, "undefined value is read"),
        ((negate(T, ir.UNDEFINED),), None, "undefined value is read"),
        ((ir.If(ir.UNDEFINED, EMPTY, EMPTY),), None, "undefined value is read"),
        ((), ir.Return((ir.UNDEFINED,)), "undefined value is read"),
        ((), ir.Yield(), "Yield ends a block of a function"),
        ((), ir.Continue(), "Continue ends a block of a function"),
        ((ir.Store(X, None, X, "add_at"),), None, "takes an index"),
        ((), ir.Branch(C, ir.Block((), ir.Return((X,))), ir.Block((), ir.Return((X, X)))), "Return hands 2 values"),
    ],
)
def test_broken_rules_are_named(statements, end, message):
    with pytest.raises(InvalidIR, match=message) as caught:
        verify(function(*statements, end=end), "a pass")
    assert "after a pass" in str(caught.value)
    assert "function f(" in str(caught.value)


def test_a_branch_does_not_see_its_sibling():
    then = ir.Block((negate(T, X),), ir.Return((T,)))
    with pytest.raises(InvalidIR, match="outside of the block"):
        verify(function(end=ir.Branch(C, then, ir.Block((), ir.Return((T,))))))


def view_of(array, memory):
    """A view of an array, and a store through it."""
    part = ir.Var("part", ir.Array(np.dtype(float), ("any",), memory))
    key = ir.Subscript((ir.Slice(ir.Const(1), ir.Const(None), ir.Const(None)),))
    load, store = ir.Load(part, array, key), ir.Store(part, ir.Subscript((ir.Const(0),)), ir.Const(1.0))
    return part, ir.Function("f", (array,), ir.Block((load, store), ir.Return((part,))))


def test_views_lie_in_the_memory_of_their_arrays():
    array = ir.Var("a", ir.Array(np.dtype(float), ("many",), ir.Storage(written=True)))
    _, right = view_of(array, array.type.storage)
    part, wrong = view_of(array, ir.Storage(written=True))
    verify(right)
    with pytest.raises(InvalidIR, match="a view lies in memory of its own"):
        verify(wrong)
    mended = with_views_in_memory(wrong)
    verify(mended)
    (returned,) = mended.body.terminator.values
    assert returned is not part
    assert ir.storage_of(returned.type) is ir.storage_of(array.type)
    assert with_views_in_memory(right) is right
