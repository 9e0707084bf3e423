import operator

import pytest

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.ir.printer import format_function
from adjoint.ir.rebuild import clone_function, inline, substitute
from adjoint.ir.verifier import verify
from adjoint.ir.walk import defined_in, free_vars, leaves, operands, read_counts, targets_of
from ir.building import build, choose, type_of_call, vector
from ir.interpreter import run


def branching() -> ir.Function:
    x, c = ir.Var("x", ir.FLOAT), ir.Var("c", ir.BOOL)
    b = Builder(type_of_call)
    doubled = b.call(operator.mul, x, ir.Const(2.0))
    inner = b.nested()
    less = inner.call(operator.sub, doubled, ir.Const(1.0))
    sides = (
        inner.block(ir.Return((less,))),
        ir.Block((), ir.Branch(c, ir.Block((), ir.Return((x,))), ir.Block((), ir.Return((doubled,))))),
    )
    return ir.Function("g", (x, c), b.block(ir.Branch(c, *sides)))


def test_operands_go_into_indices():
    a, i = ir.Var("a", vector()), ir.Var("i", ir.INT)
    b = Builder(type_of_call)
    b.load(a, ir.Subscript((i, ir.Slice(i, ir.Const(None), ir.Const(2))), tupled=True), ir.FLOAT)
    assert list(operands(b.statements[0])) == [a, i, i, ir.Const(None), ir.Const(2)]


def test_free_variables_are_in_order_and_without_what_is_bound_inside():
    function = build(
        lambda b, x, y, c: choose(b, c, lambda b: b.call(operator.add, b.call(operator.mul, y, x), y), lambda b: x),
        ir.FLOAT,
        ir.FLOAT,
        ir.BOOL,
    )
    (choice,) = function.body.statements
    assert isinstance(choice, ir.If)
    x, y, c = function.params
    assert free_vars(choice.then) == (y, x)
    assert free_vars(function.body) == (c, y, x)
    assert set(targets_of(choice)) < defined_in(function.body)
    assert read_counts(function.body)[y] == 2


def test_leaves_lie_below_branches():
    assert [type(leaf) for leaf in leaves(branching().body)] == [ir.Return] * 3


def test_substitution_reaches_every_depth():
    function = branching()
    x, c = function.params
    body = substitute(function.body, {x: ir.Const(3.0), c: ir.Const(False)})
    assert free_vars(body) == ()
    assert run(ir.Function("h", (), body)) == 6.0


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

    function = build(write, ir.FLOAT, ir.BOOL)
    verify(function)
    expected = run(callee, run(callee, 3.0, cond), cond)
    assert run(function, 3.0, cond) == expected
    assert all(target.type == ir.FLOAT for statement in function.body.statements for target in targets_of(statement))


def test_inline_splices_a_straight_body():
    callee = build(lambda b, x, y: (b.call(operator.mul, x, y), x), ir.FLOAT, ir.FLOAT)
    function = build(lambda b, x: inline(b, callee, (x, ir.Const(2.0))), ir.FLOAT)
    assert format_function(function) == "function f(%x):\n  %t = mul(%x, 2.0)\n  return %t, %x"


def test_inline_keeps_raises():
    x, c = ir.Var("x", ir.FLOAT), ir.Var("c", ir.BOOL)
    raising = ir.Block((), ir.Raise(ir.Const(ValueError("no"))))
    callee = ir.Function("g", (x, c), ir.Block((), ir.Branch(c, raising, ir.Block((), ir.Return((x,))))))
    function = build(lambda b, x, c: inline(b, callee, (x, c)), ir.FLOAT, ir.BOOL)
    verify(function)
    assert run(function, 1.0, False) == 1.0
    with pytest.raises(ValueError, match="no"):
        run(function, 1.0, True)


def test_results_of_different_kinds_are_numbers():
    x, c = ir.Var("x", ir.FLOAT), ir.Var("c", ir.BOOL)
    ends = ir.Branch(c, ir.Block((), ir.Return((x,))), ir.Block((), ir.Return((ir.Const(1),))))
    function = build(lambda b, x, c: inline(b, ir.Function("g", (x, c), ir.Block((), ends)), (x, c)), ir.FLOAT, ir.BOOL)
    assert isinstance(targets_of(function.body.statements[0])[0].type, ir.Number)
