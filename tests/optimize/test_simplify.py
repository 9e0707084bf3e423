"""Each simplification by itself, what must not be simplified, and random functions before and after."""

import math
import operator
import time

import numpy as np
import pytest

from adjoint import ir
from adjoint.ir.printer import format_function
from adjoint.ir.verifier import verify
from adjoint.optimize.simplify import simplify
from adjoint.optimize.touch_up.in_place_updates import direct_updates
from adjoint.runtime.display import make_list, make_tuple
from ir.building import build, choose, vector
from ir.interpreter import run
from ir.random_programs import Generator

FIRST = ir.Subscript((ir.Const(0),))


def simplified(write, *types):
    """The lines of the body, simplified."""
    function = build(write, *types)
    verify(function)
    result = simplify(function)
    verify(result, "simplify")
    return [line[2:] for line in format_function(result).splitlines()[1:]]


def unknown(*args):
    """A function that nobody vouches for."""


def _call(target, callee, *args):
    return ir.Call((target,), callee, args)


# Dead code


def test_unused_values_go_and_calls_of_unknown_effect_stay():
    def write(b, x):
        b.call(math.sin, x)
        b.effect(unknown, x)
        return x

    assert simplified(write, ir.FLOAT)[1:] == ["return %x"]
    assert "unknown" in simplified(write, ir.FLOAT)[0]


def test_memory_that_nobody_reads_goes_with_its_stores():
    def write(b, x):
        dead = b.call(np.zeros, ir.Const(3))
        b.store(dead, FIRST, x)
        view = b.load(dead, ir.Subscript((ir.Const(slice(1, None)),)), dead.type)
        b.store(view, None, x, "add")
        kept = b.call(np.zeros, ir.Const(3))
        b.store(kept, FIRST, x)
        return kept

    assert simplified(write, ir.FLOAT) == ["%t = numpy.zeros(3)", "%t[0] = %x", "return %t"]


def test_stores_that_others_see_stay():
    def write(b, a, x):
        b.store(a, FIRST, x)
        return x

    assert simplified(write, vector(written=True), ir.FLOAT) == ["%x[0] = %y", "return %y"]


def test_lists_that_nobody_reads_go_with_their_appends():
    def write(b, x):
        items = ir.Var("items", ir.List(ir.FLOAT))
        kept = ir.Var("kept", ir.List(ir.FLOAT))
        for target in (items, kept):
            b.emit(_call(target, make_list))
            b.effect(list.append, target, x)
        b.emit(_call(ir.Var("p", ir.FLOAT), list.pop, items))
        return kept

    assert simplified(write, ir.FLOAT) == ["%kept = make_list()", "list.append(%kept, %x)", "return %kept"]


def test_a_choice_that_raises_stays():
    def write(b, x, c):
        b.emit(ir.If(c, ir.Block((), ir.Raise(ir.Const(ValueError))), ir.Block((), ir.Yield())))
        return x

    assert simplified(write, ir.FLOAT, ir.BOOL) == ["if %y:", "  raise ValueError", "else:", "  yield", "return %x"]


def test_carried_variables_that_only_feed_themselves_go():
    def write(b, x, n):
        p, q, i = ir.Var("p", ir.FLOAT), ir.Var("q", ir.FLOAT), ir.Var("i", ir.INT)
        inner = b.nested()
        more, less = inner.call(operator.mul, p, x), inner.call(operator.mul, q, x)
        body = inner.block(ir.Continue((more, less)))
        r, s, left = ir.Var("r", ir.FLOAT), ir.Var("s", ir.FLOAT), ir.Var("left", ir.INT)
        b.emit(ir.Loop(ir.Range(ir.Const(0), n, ir.Const(1)), i, (p, q), (x, ir.Const(1.0)), body, (r, s), left))
        return s

    assert simplified(write, ir.FLOAT, ir.INT) == [
        "for _ in range(0, %y, 1) with %q = 1.0:",
        "  %t = mul(%q, %x)",
        "  continue %t",
        "-> %s",
        "return %s",
    ]


def test_loops_without_effect_go():
    def write(b, x):
        inner = b.nested()
        cond = inner.call(operator.lt, x, ir.Const(0.0))
        ends = ir.Branch(cond, ir.Block((), ir.Exit(1)), ir.Block((), ir.Continue()))
        b.emit(ir.Loop(None, None, (), (), inner.block(ends), (), ir.Var("left", ir.INT)))
        return x

    assert simplified(write, ir.FLOAT) == ["return %x"]


def test_what_may_raise_in_a_try_stays():
    def write(b, x):
        inner = b.nested()
        inner.call(operator.truediv, ir.Const(1.0), x)
        handler = ir.Handler(ir.Const(ZeroDivisionError), None, ir.Block((), ir.Yield((ir.Const(0.0),))))
        target = ir.Var("r", ir.FLOAT)
        b.emit(ir.Guarded(None, None, inner.block(ir.Yield((ir.Const(1.0),))), (handler,), None, (target,)))
        return target

    assert "  %t = truediv(1.0, %x)" in simplified(write, ir.FLOAT)


# Copies


def test_choices_between_one_value_are_that_value():
    def write(b, x, c):
        (same,) = choose(b, c, lambda b: x, lambda b: x)
        (defined,) = choose(b, c, lambda b: same, lambda b: ir.UNDEFINED)
        return b.call(operator.mul, defined, defined)

    assert simplified(write, ir.FLOAT, ir.BOOL) == ["%t = mul(%x, %x)", "return %t"]


def test_carried_variables_that_never_change_are_their_first_value():
    def write(b, x, y, n):
        p, q = ir.Var("p", ir.FLOAT), ir.Var("q", ir.FLOAT)
        inner = b.nested()
        body = inner.block(ir.Continue((p, inner.call(operator.mul, q, p))))
        r, s = ir.Var("r", ir.FLOAT), ir.Var("s", ir.FLOAT)
        b.emit(ir.Loop(ir.Range(ir.Const(0), n, ir.Const(1)), None, (p, q), (x, y), body, (r, s)))
        return r, s

    assert simplified(write, ir.FLOAT, ir.FLOAT, ir.INT) == [
        "for _ in range(0, %z, 1) with %q = %y:",
        "  %t = mul(%q, %x)",
        "  continue %t",
        "-> %s",
        "return %x, %s",
    ]


# Repeated values


def test_repeated_values_are_computed_once():
    def write(b, x, c):
        first = b.call(math.sin, x)
        (second,) = choose(b, c, lambda b: b.call(math.sin, x), lambda b: ir.Const(0.0))
        return b.call(operator.mul, first, second)

    assert simplified(write, ir.FLOAT, ir.BOOL) == [
        "%t = math.sin(%x)",
        "if %y:",
        "  yield %t",
        "else:",
        "  yield 0.0",
        "-> %k",
        "%t.1 = mul(%t, %k)",
        "return %t.1",
    ]


def test_what_is_known_in_one_side_is_not_known_in_the_other():
    def write(b, x, c):
        (first,) = choose(b, c, lambda b: b.call(math.sin, x), lambda b: b.call(math.sin, x))
        return first

    assert sum("math.sin" in line for line in simplified(write, ir.FLOAT, ir.BOOL)) == 2


@pytest.mark.parametrize("store", [True, False])
def test_loads_repeat_only_from_memory_that_nobody_writes(store):
    def write(b, a, x):
        first = b.item(a, ir.Const(0), ir.FLOAT)
        if store:
            view = b.load(a, ir.Subscript((ir.Const(slice(None)),)), vector())
            b.store(view, FIRST, x)
        return b.call(operator.mul, first, b.item(a, ir.Const(0), ir.FLOAT))

    lines = simplified(write, vector(), ir.FLOAT)
    assert sum(line.endswith("= %x[0]") for line in lines) == (2 if store else 1)


def test_fresh_memory_and_results_stay_apart():
    def write(b, x):
        first, second = b.call(np.zeros_like, x), b.call(np.zeros_like, x)
        b.store(first, None, x, "add")
        cosine, again = b.call(np.cos, x), b.call(np.cos, x)
        return first, second, cosine, again

    lines = simplified(write, vector())
    assert sum("zeros_like" in line for line in lines) == 2
    assert sum("cos" in line for line in lines) == 2


def test_parts_of_a_new_tuple_are_known():
    def write(b, x, y):
        pair = ir.Var("pair", ir.Tuple((ir.FLOAT, ir.FLOAT)))
        b.emit(_call(pair, make_tuple, x, y))
        return b.item(pair, ir.Const(1), ir.FLOAT)

    assert simplified(write, ir.FLOAT, ir.FLOAT) == ["return %y"]


def test_operators_of_unknown_classes_are_neither_dropped_nor_merged():
    def write(b, x):
        b.call(operator.eq, x, ir.Const("mode"))
        b.call(operator.eq, x, ir.Const("mode"))
        return ir.Const(0.0)

    assert len(simplified(write, ir.OPAQUE)) == 3


# Algebra


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda b, x, y: b.call(operator.mul, x, ir.Const(1.0)), ["return %x"]),
        (lambda b, x, y: b.call(operator.mul, ir.Const(1), x), ["return %x"]),
        (lambda b, x, y: b.call(operator.truediv, x, ir.Const(1.0)), ["return %x"]),
        (lambda b, x, y: b.call(operator.pow, x, ir.Const(1)), ["return %x"]),
        (lambda b, x, y: b.call(operator.sub, x, ir.Const(0.0)), ["return %x"]),
        (lambda b, x, y: b.call(operator.neg, b.call(operator.neg, x)), ["return %x"]),
        (lambda b, x, y: b.call(operator.mul, x, ir.Const(-1.0)), ["%t = neg(%x)", "return %t"]),
        (lambda b, x, y: b.call(operator.add, x, b.call(operator.neg, y)), ["%t = sub(%x, %y)", "return %t"]),
        (lambda b, x, y: b.call(operator.add, b.call(operator.neg, y), x), ["%t = sub(%x, %y)", "return %t"]),
        (lambda b, x, y: b.call(operator.sub, x, b.call(operator.neg, y)), ["%t = add(%x, %y)", "return %t"]),
        (lambda b, x, y: b.call(operator.sub, ir.Const(5), ir.Const(3)), ["return 2"]),
        (lambda b, x, y: b.call(operator.pow, x, b.call(operator.sub, ir.Const(2), ir.Const(1))), ["return %x"]),
        # what would change a signed zero, a NaN, an infinity or an error
        (lambda b, x, y: b.call(operator.add, x, ir.Const(0.0)), ["%t = add(%x, 0.0)", "return %t"]),
        (lambda b, x, y: b.call(operator.add, x, ir.Const(0)), ["%t = add(%x, 0)", "return %t"]),
        (lambda b, x, y: b.call(operator.sub, x, ir.Const(-0.0)), ["%t = sub(%x, -0.0)", "return %t"]),
        (lambda b, x, y: b.call(operator.mul, x, ir.Const(0.0)), ["%t = mul(%x, 0.0)", "return %t"]),
        (
            lambda b, x, y: b.call(operator.truediv, ir.Const(1.0), ir.Const(0.0)),
            ["%t = truediv(1.0, 0.0)", "return %t"],
        ),
        (
            lambda b, x, y: b.call(operator.mul, ir.Const(1e300), ir.Const(1e300)),
            ["%t = mul(1e+300, 1e+300)", "return %t"],
        ),
    ],
)
def test_algebra_on_floats(write, expected):
    assert simplified(write, ir.FLOAT, ir.FLOAT) == expected


def test_a_product_with_one_keeps_the_dtype():
    narrow = ir.Scalar("float", np.dtype(np.float32))

    def wide(b, x):
        target = ir.Var("t", ir.Scalar("float", np.dtype(np.float64)))
        b.emit(_call(target, operator.mul, x, ir.Const(1.0)))
        return target

    assert simplified(wide, narrow) == ["%t = mul(%x, 1.0)", "return %t"]

    def promoted(b, x):
        target = ir.Var("t", ir.FLOAT)
        b.emit(_call(target, operator.mul, x, ir.Const(1.0)))
        return target

    assert simplified(promoted, ir.INT) == ["%t = mul(%x, 1.0)", "return %t"]
    assert simplified(promoted, ir.Scalar("float", np.dtype(float))) == ["%t = mul(%x, 1.0)", "return %t"]


def test_a_product_of_an_array_with_one_is_a_copy_where_that_matters():
    def used(b, x):
        return b.call(np.sin, b.call(operator.mul, x, ir.Const(1.0)))

    assert simplified(used, vector()) == ["%t = numpy.sin(%x)", "return %t"]
    returned = simplified(lambda b, x: b.call(operator.mul, x, ir.Const(1.0)), vector())
    assert returned == ["%t = mul(%x, 1.0)", "return %t"]
    unknown_dtype = ir.Array(None, ("many",))
    assert "mul" in simplified(used, unknown_dtype)[0]


def test_a_negative_is_not_moved_past_a_write():
    def write(b, a, x):
        negative = b.call(operator.neg, a)
        b.store(a, FIRST, x)
        return b.call(operator.add, x, negative)

    assert "%t = neg(%x)" in simplified(write, vector(), ir.FLOAT)


@pytest.mark.parametrize("mode", ["add", "sub"])
def test_what_is_first_added_to_a_copy_makes_it_a_sum(mode):
    def updated(written):
        def body(b, a, other, x):
            copy, sine = b.call(np.copy, a), b.call(np.sin, a)
            b.store({"original": a, "another": other, "copy": copy}[written], FIRST, x)
            b.store(copy, None, sine, mode)
            return copy

        function = direct_updates(build(body, vector(), vector(), ir.FLOAT))
        verify(function)
        return format_function(function)

    assert f"= {mode}(%x, %t)" in updated("another") and "copy" not in updated("another")
    assert all("= numpy.copy(%x)" in updated(written) for written in ("original", "copy"))


def test_adding_a_negative_in_place_is_subtracting():
    def write(b, a, x):
        b.store(a, FIRST, b.call(operator.neg, x), "add")
        return x

    assert simplified(write, vector(written=True), ir.FLOAT) == ["%x[0] -= %y", "return %y"]


def test_opposites_of_comparisons_mind_nan():
    def opposite(callee):
        return lambda b, x, y: b.call(operator.not_, b.call(callee, x, y))

    assert simplified(opposite(operator.eq), ir.FLOAT, ir.FLOAT)[0] == "%t = ne(%x, %y)"
    assert simplified(opposite(operator.lt), ir.INT, ir.INT)[0] == "%t = ge(%x, %y)"
    assert simplified(opposite(operator.lt), ir.FLOAT, ir.FLOAT)[0] == "%t = lt(%x, %y)"


# Branches


def test_decided_choices_are_followed():
    def write(b, x, c):
        less = b.call(operator.lt, ir.Const(1), ir.Const(2))
        (chosen,) = choose(b, less, lambda b: b.call(math.sin, x), lambda b: b.call(math.cos, x))
        return choose(b, c, lambda b: choose(b, c, lambda b: chosen, lambda b: ir.Const(1.0)), lambda b: ir.Const(2.0))

    assert simplified(write, ir.FLOAT, ir.BOOL) == [
        "%t = math.sin(%x)",
        "if %y:",
        "  yield %t",
        "else:",
        "  yield 2.0",
        "-> %k",
        "return %k",
    ]


def test_code_after_a_raise_that_always_happens_goes():
    def write(b, x):
        b.emit(ir.If(ir.Const(True), ir.Block((), ir.Raise(ir.Const(ValueError))), ir.Block((), ir.Yield())))
        return b.call(math.sin, x)

    assert simplified(write, ir.FLOAT) == ["raise ValueError"]


def test_neighbouring_choices_on_one_condition_are_one():
    def write(b, x, c):
        (first,) = choose(b, c, lambda b: b.call(math.sin, x), lambda b: x)
        between = b.call(math.exp, x)
        (second,) = choose(
            b, c, lambda b: b.call(operator.mul, first, between), lambda b: b.call(operator.add, first, between)
        )
        return second

    assert simplified(write, ir.FLOAT, ir.BOOL) == [
        "%t = math.exp(%x)",
        "if %y:",
        "  %t.1 = math.sin(%x)",
        "  %t.2 = mul(%t.1, %t)",
        "  yield %t.2",
        "else:",
        "  %t.3 = add(%x, %t)",
        "  yield %t.3",
        "-> %k",
        "return %k",
    ]


def test_choices_are_not_joined_across_a_write_or_a_raise():
    def across_write(b, a, c):
        (first,) = choose(b, c, lambda b: b.item(a, ir.Const(0), ir.FLOAT), lambda b: ir.Const(0.0))
        b.store(a, FIRST, ir.Const(7.0))
        (second,) = choose(b, c, lambda b: b.item(a, ir.Const(0), ir.FLOAT), lambda b: ir.Const(0.0))
        return first, second

    assert simplified(across_write, vector(written=True), ir.BOOL).count("if %y:") == 2

    def across_raise(b, x, c):
        b.emit(ir.If(c, ir.Block((), ir.Raise(ir.Const(ValueError))), ir.Block((), ir.Yield())))
        between = b.call(operator.truediv, ir.Const(1.0), x)
        return choose(b, c, lambda b: x, lambda b: b.call(math.sin, between))

    lines = simplified(across_raise, ir.FLOAT, ir.BOOL)
    assert lines[:2] == ["if %y:", "  raise ValueError"]


def test_what_a_choice_computed_is_at_hand_in_later_ones_on_its_condition():
    def write(b, a, x, c):
        (first,) = choose(b, c, lambda b: b.call(math.sin, x), lambda b: b.call(operator.mul, b.call(math.exp, x), x))
        b.store(a, FIRST, first)
        again = b.item(a, ir.Const(0), ir.FLOAT)
        return choose(
            b,
            c,
            lambda b: b.call(operator.add, b.call(math.sin, x), again),
            lambda b: b.call(operator.mul, b.call(math.exp, x), again),
        )

    assert simplified(write, vector(written=True), ir.FLOAT, ir.BOOL) == [
        "if %z:",
        "  %t = math.sin(%y)",
        "  yield %t, undefined",
        "else:",
        "  %t.1 = math.exp(%y)",
        "  %t.2 = mul(%t.1, %y)",
        "  yield %t.2, %t.1",
        "-> %k, %t.3",
        "%x[0] = %k",
        "%t.4 = %x[0]",
        "if %z:",
        "  %t.5 = add(%k, %t.4)",
        "  yield %t.5",
        "else:",
        "  %t.6 = mul(%t.3, %t.4)",
        "  yield %t.6",
        "-> %k.1",
        "return %k.1",
    ]


def test_a_choice_that_is_made_again_goes():
    def write(b, a, x, c):
        def choice():
            return choose(b, c, lambda b: (b.call(math.sin, x), x), lambda b: (b.call(math.exp, x), ir.Const(0.0)))

        first, second = choice()
        b.store(a, FIRST, first)
        return first, second, *choice()

    lines = simplified(write, vector(written=True), ir.FLOAT, ir.BOOL)
    assert lines.count("if %z:") == 1
    assert lines[-1] == "return %k, %k.1, %k, %k.1"


def test_what_is_written_between_choices_is_read_again():
    def write(b, a, c):
        (first,) = choose(b, c, lambda b: b.call(math.sin, b.item(a, ir.Const(0), ir.FLOAT)), lambda b: ir.Const(0.0))
        b.store(a, FIRST, first)
        return choose(b, c, lambda b: b.call(math.sin, b.item(a, ir.Const(0), ir.FLOAT)), lambda b: ir.Const(0.0))

    assert sum("math.sin" in line for line in simplified(write, vector(written=True), ir.BOOL)) == 2


def test_a_choice_in_a_loop_is_not_at_hand_behind_it():
    def write(b, a, x, c, n):
        index = ir.Var("i", ir.INT)
        inner = b.nested()
        (value,) = choose(inner, c, lambda b: b.call(math.sin, x), lambda b: x)
        inner.store(a, FIRST, value)
        b.emit(ir.Loop(ir.Range(ir.Const(0), n, ir.Const(1)), index, (), (), inner.block(ir.Continue()), ()))
        return choose(b, c, lambda b: b.call(math.sin, x), lambda b: x)

    lines = simplified(write, vector(written=True), ir.FLOAT, ir.BOOL, ir.INT)
    assert sum("math.sin" in line for line in lines) == 2


def test_a_variable_that_may_be_unbound_keeps_its_name():
    def write(b, a, x, c):
        def bound(name):
            block = b.nested()
            value = block.call(math.sin, x)
            target = ir.Var(name, ir.FLOAT, named=True)
            b.emit(ir.If(c, block.block(ir.Yield((value,))), ir.Block((), ir.Yield((ir.UNDEFINED,))), (target,)))
            return target

        first = bound("first")
        b.store(a, FIRST, ir.Const(1.0))
        second = bound("second")
        return first, second

    assert simplified(write, vector(written=True), ir.FLOAT, ir.BOOL)[-1] == "return %first, %second"


# All together


def outcome(function, x, y, n):
    a, b = np.array([1.0, 2.0, -0.0, x]), np.array([0.5, -1.0, 3.0, 0.0])
    try:
        result = run(function, x, y, n, a, b)
    except ValueError as error:
        return str(error)
    except OverflowError:
        return None
    arrays = (result[1], result[3])
    shared = [np.shares_memory(one, other) for one in arrays for other in (*arrays, a, b)]
    return repr((result, a, b, shared))


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_random_functions_compute_the_same_and_become_simple_at_once(first):
    for seed in range(first, first + 100):
        function = Generator(seed).function()
        verify(function)
        result = simplify(function)
        verify(result, f"simplify, seed {seed}")
        assert format_function(simplify(result)) == format_function(result), f"seed {seed}"
        for args in ((1.5, -2.0, 1), (0.0, -0.0, 0), (float("nan"), 3.0, 2)):
            expected = outcome(function, *args)
            assert expected is None or outcome(result, *args) == expected, f"seed {seed}"


def test_it_is_fast():
    def write(b, x, y):
        for _ in range(250):
            x = b.call(operator.mul, x, b.call(operator.add, y, b.call(math.sin, x)))
        return x

    function = build(write, ir.FLOAT, ir.FLOAT)
    start = time.perf_counter()
    simplify(function)
    assert time.perf_counter() - start < 0.5
