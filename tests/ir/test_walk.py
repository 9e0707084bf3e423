import operator

import pytest

from adjoint.ir.builder import Builder
from adjoint.ir.nodes import Block, Branch, Const, Function, If, Raise, Return, Slice, Subscript, Var
from adjoint.ir.printer import format_function
from adjoint.ir.rebuild import clone_function, inline, substitute
from adjoint.ir.types import BOOL, FLOAT, INT, Number
from adjoint.ir.verifier import verify
from adjoint.ir.walk import defined_in, free_vars, leaves, operands, read_counts, targets_of
from ir.building import build, choose, type_of_call, vector
from ir.interpreter import run


def branching() -> Function:
    x, c = Var("x", FLOAT), Var("c", BOOL)
    b = Builder(type_of_call)
    doubled = b.call(operator.mul, x, Const(2.0))
    inner = b.nested()
    less = inner.call(operator.sub, doubled, Const(1.0))
    sides = inner.block(Return((less,))), Block((), Branch(c, Block((), Return((x,))), Block((), Return((doubled,)))))
    return Function("g", (x, c), b.block(Branch(c, *sides)))


def test_operands_go_into_indices():
    a, i = Var("a", vector()), Var("i", INT)
    b = Builder(type_of_call)
    b.load(a, Subscript((i, Slice(i, Const(None), Const(2))), tupled=True), FLOAT)
    assert list(operands(b.statements[0])) == [a, i, i, Const(None), Const(2)]


def test_free_variables_are_in_order_and_without_what_is_bound_inside():
    function = build(
        lambda b, x, y, c: choose(b, c, lambda b: b.call(operator.add, b.call(operator.mul, y, x), y), lambda b: x),
        FLOAT,
        FLOAT,
        BOOL,
    )
    (choice,) = function.body.statements
    assert isinstance(choice, If)
    x, y, c = function.params
    assert free_vars(choice.then) == (y, x)
    assert free_vars(function.body) == (c, y, x)
    assert set(targets_of(choice)) < defined_in(function.body)
    assert read_counts(function.body)[y] == 2


def test_leaves_lie_below_branches():
    assert [type(leaf) for leaf in leaves(branching().body)] == [Return] * 3


def test_substitution_reaches_every_depth():
    function = branching()
    x, c = function.params
    body = substitute(function.body, {x: Const(3.0), c: Const(False)})
    assert free_vars(body) == ()
    assert run(Function("h", (), body)) == 6.0


def test_a_clone_shares_no_variable():
    function = branching()
    copy = clone_function(function)
    verify(copy)
    assert not defined_in(copy.body) & defined_in(function.body)
    assert format_function(copy) == format_function(function)


@pytest.mark.parametrize("cond", [True, False])
def test_inline_makes_a_choice_of_early_returns(cond):
    callee = branching()

    def write(b, x, c):
        first = inline(b, callee, (x, c))
        return inline(b, callee, (*first, c))

    function = build(write, FLOAT, BOOL)
    verify(function)
    expected = run(callee, run(callee, 3.0, cond), cond)
    assert run(function, 3.0, cond) == expected
    assert all(target.type == FLOAT for statement in function.body.statements for target in targets_of(statement))


def test_inline_splices_a_straight_body():
    callee = build(lambda b, x, y: (b.call(operator.mul, x, y), x), FLOAT, FLOAT)
    function = build(lambda b, x: inline(b, callee, (x, Const(2.0))), FLOAT)
    assert format_function(function) == "function f(%x):\n  %t = mul(%x, 2.0)\n  return %t, %x"


def test_inline_keeps_raises():
    x, c = Var("x", FLOAT), Var("c", BOOL)
    raising = Block((), Raise(Const(ValueError("no"))))
    callee = Function("g", (x, c), Block((), Branch(c, raising, Block((), Return((x,))))))
    function = build(lambda b, x, c: inline(b, callee, (x, c)), FLOAT, BOOL)
    verify(function)
    assert run(function, 1.0, False) == 1.0
    with pytest.raises(ValueError, match="no"):
        run(function, 1.0, True)


def test_results_of_different_kinds_are_numbers():
    x, c = Var("x", FLOAT), Var("c", BOOL)
    ends = Branch(c, Block((), Return((x,))), Block((), Return((Const(1),))))
    function = build(lambda b, x, c: inline(b, Function("g", (x, c), Block((), ends)), (x, c)), FLOAT, BOOL)
    assert isinstance(targets_of(function.body.statements[0])[0].type, Number)
