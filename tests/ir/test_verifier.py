import operator

import pytest

from adjoint.ir.nodes import (
    UNDEFINED,
    Block,
    Branch,
    Call,
    Const,
    Continue,
    Exit,
    Function,
    If,
    Items,
    Loop,
    Range,
    Return,
    Store,
    Var,
    Yield,
)
from adjoint.ir.types import BOOL, FLOAT, INT
from adjoint.ir.verifier import InvalidIR, verify
from ir.building import build, choose

X, C, T, P, I = Var("x", FLOAT), Var("c", BOOL), Var("t", FLOAT), Var("p", FLOAT), Var("i", INT)
EMPTY = Block((), Yield())
UPTO = Range(Const(0), Const(3), Const(1))


def function(*statements, end=None):
    return Function("f", (X, C), Block(statements, end or Return((X,))))


def negate(target, operand):
    return Call((target,), operator.neg, (operand,))


def loop(body, *, targets=(T,), inits=(X,), over=UPTO, index=None):
    return Loop(over, index, (P,), inits, body, targets)


def test_valid_functions_pass():
    verify(build(lambda b, x, c: choose(b, c, lambda b: x, lambda b: b.call(operator.neg, x)), FLOAT, BOOL))
    ends = Branch(C, Block((), Exit(1, (UNDEFINED,))), Block((), Continue((P,))))
    verify(function(loop(Block((), ends), inits=(UNDEFINED,), index=I)))


@pytest.mark.parametrize(
    ("statements", "end", "message"),
    [
        ((negate(X, X),), None, "bound twice"),
        ((negate(T, X), negate(T, X)), None, "bound twice"),
        ((negate(T, P),), None, "before it is bound"),
        ((), Return((T,)), "before it is bound"),
        ((If(C, Block((negate(T, X),), Yield()), EMPTY),), Return((T,)), "outside of the block"),
        ((If(C, Block((negate(T, X),), Yield()), Block((), Yield())), negate(P, T)), None, "outside of the block"),
        ((If(C, Block((), Yield((X,))), EMPTY, (T,)),), None, "Yield hands 0 values to a if that takes 1"),
        ((If(C, Block((), Return((X,))), EMPTY),), None, "Return ends a block of a if"),
        ((loop(Block((), Yield((P,)))),), None, "Yield ends a block of a loop"),
        ((loop(Block((), Return((P,)))),), None, "Return ends a block of a loop"),
        ((loop(Block((), Continue(()))),), None, "Continue hands 0 values to a loop that takes 1"),
        ((loop(Block((), Exit(1, (P, P)))),), None, "Exit hands 2 values to a loop that takes 1"),
        ((loop(Block((), Exit(0, (P,)))),), None, "exit kind 0"),
        ((loop(Block((), Continue((P,))), targets=()),), None, "a target for each parameter"),
        ((loop(Block((), Continue((P,))), inits=()),), None, "as many first values"),
        ((loop(Block((), Continue((P,))), over=None, index=I),), None, "no index"),
        ((loop(Block((), Continue((P,))), over=Items(UNDEFINED)),), None, "undefined value is read"),
        ((negate(T, UNDEFINED),), None, "undefined value is read"),
        ((If(UNDEFINED, EMPTY, EMPTY),), None, "undefined value is read"),
        ((), Return((UNDEFINED,)), "undefined value is read"),
        ((), Yield(), "Yield ends a block of a function"),
        ((), Continue(), "Continue ends a block of a function"),
        ((Store(X, None, X, "add_at"),), None, "takes an index"),
        ((), Branch(C, Block((), Return((X,))), Block((), Return((X, X)))), "Return hands 2 values"),
    ],
)
def test_broken_rules_are_named(statements, end, message):
    with pytest.raises(InvalidIR, match=message) as caught:
        verify(function(*statements, end=end), "a pass")
    assert "after a pass" in str(caught.value)
    assert "function f(" in str(caught.value)


def test_a_branch_does_not_see_its_sibling():
    then = Block((negate(T, X),), Return((T,)))
    with pytest.raises(InvalidIR, match="outside of the block"):
        verify(function(end=Branch(C, then, Block((), Return((T,))))))
