"""The text that is emitted, to the letter, and what it computes."""

from __future__ import annotations

import inspect
import math
import operator as op
import textwrap
import traceback
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adjoint import ir
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.diagnostics.spans import Span
from adjoint.ir.verifier import verify
from adjoint.runtime import display
from adjoint.runtime.array_functions.sequences import array_of
from codegen.building import FLOATS, MATRIX, VECTOR, WRITTEN, at, attribute, builder, end, function, named


def check(written: ir.Function, text: str) -> Any:
    """Compares the text, and gives the function that runs."""
    verify(written)
    emitted = emit(written)
    assert emitted.text == textwrap.dedent(text).lstrip()
    return load(emitted)


def up_to(stop: Any, backward: bool = False, start: Any = 0) -> ir.Range:
    atom = stop if isinstance(stop, (ir.Var, ir.Const)) else ir.Const(stop)
    return ir.Range(ir.Const(start), atom, ir.Const(1), backward)


def test_straight_line() -> None:
    x, k = named("x"), named("k")
    b = builder()
    e = b.call(math.exp, b.call(op.mul, b.call(op.neg, k), x), hint="e", named=True)
    sine = b.call(math.sin, x)
    e_bar = sine
    t_bar = b.call(op.mul, e_bar, e, hint="t_bar")
    x_bar = b.call(op.sub, b.call(op.mul, e, b.call(math.cos, x)), b.call(op.mul, t_bar, k), hint="x_bar")
    k_bar = b.call(op.mul, b.call(op.neg, t_bar), x, hint="k_bar")
    run = check(
        function("damped_grad", (x, k), b.block(ir.Return((x_bar, k_bar)))),
        """
        def damped_grad(x, k):
            e = math.exp(-k * x)
            t_bar = math.sin(x) * e
            x_bar = e * math.cos(x) - t_bar * k
            k_bar = -t_bar * x
            return x_bar, k_bar
        """,
    )
    e_value = math.exp(-0.3 * 0.7)
    assert run(0.7, 0.3)[1] == pytest.approx(-math.sin(0.7) * e_value * 0.7)


def huber() -> ir.Function:
    r, delta = named("r"), named("delta")
    b = builder()
    a = b.call(abs, r, hint="a", named=True)
    cond = b.call(op.le, a, delta)
    small, large = b.nested(), b.nested()
    one = small.call(op.mul, small.call(op.mul, ir.Const(0.5), r), r, hint="loss", named=True)
    part = large.call(op.mul, ir.Const(0.5), delta)
    other = large.call(op.mul, delta, large.call(op.sub, a, part), hint="loss", named=True)
    loss = named("loss")
    b.emit(ir.If(cond, small.block(ir.Yield((one,))), large.block(ir.Yield((other,))), (loss,)))
    return function("huber", (r, delta), b.block(ir.Return((loss,))))


def test_branch() -> None:
    run = check(
        huber(),
        """
        def huber(r, delta):
            a = abs(r)
            if a <= delta:
                loss = 0.5 * r * r
            else:
                loss = delta * (a - 0.5 * delta)
            return loss
        """,
    )
    assert run(0.5, 1.0) == 0.125
    assert run(-2.0, 1.0) == 1.5


def test_short_choice_is_an_expression() -> None:
    r = named("r")
    b = builder()
    cond = b.call(op.lt, r, ir.Const(0.0))
    neg = b.nested()
    flipped = neg.call(op.neg, r)
    out = ir.Var("t", ir.FLOAT)
    b.emit(ir.If(cond, neg.block(ir.Yield((flipped,))), end(ir.Yield((r,))), (out,)))
    double = b.call(op.mul, ir.Const(2.0), out)
    run = check(
        function("f", (r,), b.block(ir.Return((double,)))),
        """
        def f(r):
            return 2.0 * (-r if r < 0.0 else r)
        """,
    )
    assert run(-3.0) == 6.0


def test_and_or() -> None:
    x, y = named("x"), named("y")
    b = builder()
    first = b.call(op.lt, x, y)
    inner = b.nested()
    second = inner.call(op.lt, y, ir.Const(9.0))
    both = ir.Var("t", ir.BOOL)
    b.emit(ir.If(first, inner.block(ir.Yield((second,))), end(ir.Yield((first,))), (both,)))
    inner = b.nested()
    third = inner.call(op.eq, x, ir.Const(-1.0))
    either = ir.Var("t", ir.BOOL)
    b.emit(ir.If(both, end(ir.Yield((both,))), inner.block(ir.Yield((third,))), (either,)))
    one, two = end(ir.Return((x,))), end(ir.Return((y,)))
    run = check(
        function("f", (x, y), b.block(ir.Branch(either, one, two))),
        """
        def f(x, y):
            if x < y and y < 9.0 or x == -1.0:
                return x
            return y
        """,
    )
    assert (run(1.0, 2.0), run(3.0, 2.0), run(-1.0, 10.0)) == (1.0, 2.0, -1.0)


def energy_value_and_grad() -> ir.Function:
    x, w = named("x", VECTOR), named("w", VECTOR)
    b = builder()
    x_bar, w_bar = b.call(np.zeros_like, x, hint="x_bar"), b.call(np.zeros_like, w, hint="w_bar")
    n = b.call(len, x)
    i, total, after, out = named("i", ir.INT), named("total"), named("total"), named("total")
    body = b.nested()
    xi, wi = (body.load(base, at(i), ir.FLOAT) for base in (x, w))
    d = body.call(op.sub, xi, wi, hint="d", named=True)
    cond = body.call(op.gt, d, ir.Const(0.0))
    then, orelse = body.nested(), body.nested()
    grown = then.call(op.add, total, then.call(op.mul, d, d), hint="total", named=True)
    slope = then.call(op.mul, ir.Const(2.0), d)
    shrunk = orelse.call(op.sub, total, d, hint="total", named=True)
    d_bar = ir.Var("d_bar", ir.FLOAT)
    sides = then.block(ir.Yield((grown, slope))), orelse.block(ir.Yield((shrunk, ir.Const(-1.0))))
    body.emit(ir.If(cond, *sides, (after, d_bar)))
    body.store(x_bar, at(i), d_bar, "add")
    body.store(w_bar, at(i), d_bar, "sub")
    b.emit(ir.Loop(up_to(n), i, (total,), (ir.Const(0.0),), body.block(ir.Continue((after,))), (out,)))
    return function("energy_value_and_grad", (x, w), b.block(ir.Return((out, x_bar, w_bar))))


def test_loop_that_sums() -> None:
    run = check(
        energy_value_and_grad(),
        """
        def energy_value_and_grad(x, w):
            x_bar = np.zeros_like(x)
            w_bar = np.zeros_like(w)
            total = 0.0
            for i in range(len(x)):
                d = x[i] - w[i]
                if d > 0.0:
                    total += d * d
                    d_bar = 2.0 * d
                else:
                    total -= d
                    d_bar = -1.0
                x_bar[i] += d_bar
                w_bar[i] -= d_bar
            return total, x_bar, w_bar
        """,
    )
    total, x_bar, w_bar = run(np.array([1.0, 2.0]), np.array([0.0, 3.0]))
    assert total == 2.0
    assert x_bar.tolist() == [2.0, -1.0] and w_bar.tolist() == [-2.0, 1.0]


def logistic_grad() -> ir.Function:
    y0, r, n = named("y"), named("r"), named("n", ir.INT)
    b = builder()
    kept = b.call(np.empty, n, hint="y_kept")
    i, y = named("i", ir.INT), named("y")
    body = b.nested()
    body.store(kept, at(i), y)
    left, right = body.call(op.mul, r, y), body.call(op.sub, ir.Const(1.0), y)
    y1 = body.call(op.mul, left, right, hint="y", named=True)
    end_y = named("y")
    b.emit(ir.Loop(up_to(n), i, (y,), (y0,), body.block(ir.Continue((y1,))), (end_y,)))
    j, y_bar, r_bar = named("i", ir.INT), ir.Var("y_bar", ir.FLOAT), ir.Var("r_bar", ir.FLOAT)
    body = b.nested()
    y = body.load(kept, at(j), ir.FLOAT, hint="y", named=True)
    part = body.call(op.mul, body.call(op.mul, y_bar, y), body.call(op.sub, ir.Const(1.0), y))
    r_new = body.call(op.add, r_bar, part, hint="r_bar")
    slope = body.call(op.sub, ir.Const(1.0), body.call(op.mul, ir.Const(2.0), y))
    y_new = body.call(op.mul, body.call(op.mul, y_bar, r), slope, hint="y_bar")
    outs = ir.Var("y_bar", ir.FLOAT), ir.Var("r_bar", ir.FLOAT)
    inits = ir.Const(1.0), ir.Const(0.0)
    b.emit(ir.Loop(up_to(n, True), j, (y_bar, r_bar), inits, body.block(ir.Continue((y_new, r_new))), outs))
    return function("logistic_grad", (y0, r, n), b.block(ir.Return(outs)))


def test_loop_with_kept_values() -> None:
    run = check(
        logistic_grad(),
        """
        def logistic_grad(y, r, n):
            y_kept = np.empty(n)
            for i in range(n):
                y_kept[i] = y
                y = r * y * (1.0 - y)
            y_bar = 1.0
            r_bar = 0.0
            for i in reversed(range(n)):
                y = y_kept[i]
                r_bar += y_bar * y * (1.0 - y)
                y_bar = y_bar * r * (1.0 - 2.0 * y)
            return y_bar, r_bar
        """,
    )
    assert run(0.3, 3.1, 1) == pytest.approx((3.1 * 0.4, 0.21))


def newton(exit_: ir.Var | None) -> ir.Function:
    """Newton's iteration that returns from within the loop, and gives up after n steps."""
    a, x0, n = named("a"), named("x"), named("n", ir.INT)
    x, x_out, i = named("x"), named("x"), named("i", ir.INT)
    body, b = builder(), builder()
    twice = body.call(op.mul, ir.Const(2.0), x)
    residual = body.call(op.sub, body.call(op.mul, x, x), a)
    step = body.call(op.truediv, residual, twice, hint="step", named=True)
    x1 = body.call(op.sub, x, step, hint="x", named=True)
    small = body.call(op.lt, body.call(abs, step), ir.Const(1e-12))
    block = body.block(ir.Branch(small, end(ir.Exit(1, (x1,))), end(ir.Continue((x1,)))))
    if exit_ is None:
        b.emit(ir.Loop(None, None, (x,), (x0,), block, (x_out,)))
        return function("newton", (a, x0), b.block(ir.Return((x_out,))))
    b.emit(ir.Loop(up_to(n), i, (x,), (x0,), block, (x_out,), exit_))
    found = b.call(op.eq, exit_, ir.Const(1))
    failed = b.nested()
    error = failed.call(ValueError, ir.Const("no convergence"))
    return function(
        "newton", (a, x0, n), b.block(ir.Branch(found, end(ir.Return((x_out,))), failed.block(ir.Raise(error))))
    )


def test_while_true() -> None:
    run = check(
        newton(None),
        """
        def newton(a, x):
            while True:
                step = (x * x - a) / (2.0 * x)
                x -= step
                if abs(step) < 1e-12:
                    break
            return x
        """,
    )
    assert run(2.0, 1.0) == pytest.approx(math.sqrt(2.0))


def test_early_return() -> None:
    run = check(
        newton(ir.Var("exit", ir.INT)),
        """
        def newton(a, x, n):
            for _ in range(n):
                step = (x * x - a) / (2.0 * x)
                x -= step
                if abs(step) < 1e-12:
                    return x
            raise ValueError('no convergence')
        """,
    )
    assert run(2.0, 1.0, 20) == pytest.approx(math.sqrt(2.0))
    with pytest.raises(ValueError, match="no convergence"):
        run(2.0, 1.0, 1)


def test_while_with_condition() -> None:
    x0, n = named("x"), named("n", ir.INT)
    x, k, x_out, k_out = named("x"), named("k", ir.INT), named("x"), named("k", ir.INT)
    b, body = builder(), builder()
    go = body.call(op.lt, k, n)
    work = body.nested()
    x1 = work.call(op.mul, ir.Const(2.0), x, hint="x", named=True)
    k1 = ir.Var("k", ir.INT, True)
    work.emit(ir.Call((k1,), op.add, (k, ir.Const(1))))
    body_block = body.block(ir.Branch(go, work.block(ir.Continue((x1, k1))), end(ir.Exit(1, (x, k)))))
    b.emit(ir.Loop(None, None, (x, k), (x0, ir.Const(0)), body_block, (x_out, k_out)))
    run = check(
        function("f", (x0, n), b.block(ir.Return((x_out,)))),
        """
        def f(x, n):
            k = 0
            while k < n:
                x = 2.0 * x
                k += 1
            return x
        """,
    )
    assert run(1.5, 3) == 12.0


def test_swap_in_a_loop() -> None:
    u0, v0, n = named("u"), named("v"), named("n", ir.INT)
    u, v, u_out, v_out = (named(hint) for hint in "uvuv")
    b = builder()
    b.emit(ir.Loop(up_to(n), named("i", ir.INT), (u, v), (u0, v0), end(ir.Continue((v, u))), (u_out, v_out)))
    run = check(
        function("f", (u0, v0, n), b.block(ir.Return((u_out, v_out)))),
        """
        def f(u, v, n):
            for _ in range(n):
                u, v = v, u
            return u, v
        """,
    )
    assert run(1.0, 2.0, 3) == (2.0, 1.0)


def test_fibonacci() -> None:
    n = named("n", ir.INT)
    u, v, u_out, v_out = (named(hint, ir.INT) for hint in "uvuv")
    b, body = builder(), builder()
    both = ir.Var("t", ir.INT)
    body.emit(ir.Call((both,), op.add, (u, v)))
    loop = ir.Loop(
        up_to(n),
        named("i", ir.INT),
        (u, v),
        (ir.Const(0), ir.Const(1)),
        body.block(ir.Continue((v, both))),
        (u_out, v_out),
    )
    b.emit(loop)
    run = check(
        function("f", (n,), b.block(ir.Return((u_out,)))),
        """
        def f(n):
            u = 0
            v = 1
            for _ in range(n):
                u, v = v, u + v
            return u
        """,
    )
    assert run(10) == 55


def test_nested_loops() -> None:
    x, n = named("x", VECTOR), named("n", ir.INT)
    i, j = named("i", ir.INT), named("j", ir.INT)
    s, s_in, s_mid, s_out = (named("s") for _ in range(4))
    b, outer, inner = builder(), builder(), builder()
    product = inner.call(op.mul, inner.load(x, at(i), ir.FLOAT), inner.load(x, at(j), ir.FLOAT))
    s1 = inner.call(op.add, s_in, product, hint="s", named=True)
    start = ir.Var("t", ir.INT)
    outer.emit(ir.Call((start,), op.add, (i, ir.Const(1))))
    over = ir.Range(start, n, ir.Const(2))
    outer.emit(ir.Loop(over, j, (s_in,), (s,), inner.block(ir.Continue((s1,))), (s_mid,)))
    b.emit(ir.Loop(up_to(n), i, (s,), (ir.Const(0.0),), outer.block(ir.Continue((s_mid,))), (s_out,)))
    run = check(
        function("f", (x, n), b.block(ir.Return((s_out,)))),
        """
        def f(x, n):
            s = 0.0
            for i in range(n):
                for j in range(i + 1, n, 2):
                    s += x[i] * x[j]
            return s
        """,
    )
    assert run(np.array([1.0, 2.0, 3.0]), 3) == 1 * 2 + 2 * 3


def test_for_else() -> None:
    xs, limit = named("xs", FLOATS), named("limit")
    i, x, x_out, exit_ = named("i", ir.INT), named("x"), named("found"), ir.Var("exit", ir.INT)
    b, body = builder(), builder()
    n = b.call(len, xs)
    x = body.load(xs, at(i), ir.FLOAT, hint="x", named=True)
    big = body.call(op.gt, x, limit)
    block = body.block(ir.Branch(big, end(ir.Exit(1, (x,))), end(ir.Continue())))
    b.emit(ir.Loop(up_to(n), i, (), (), block, (x_out,), exit_))
    hit = b.call(op.eq, exit_, ir.Const(1))
    result = named("found")
    b.emit(ir.If(hit, end(ir.Yield((x_out,))), end(ir.Yield((ir.Const(-1.0),))), (result,)))
    twice = b.call(op.mul, result, result)
    run = check(
        function("f", (xs, limit), b.block(ir.Return((twice,)))),
        """
        def f(xs, limit):
            for x in xs:
                if x > limit:
                    found = x
                    break
            else:
                found = -1.0
            return found * found
        """,
    )
    assert run([1.0, 5.0, 7.0], 2.0) == 25.0
    assert run([1.0], 2.0) == 1.0


def test_several_kinds_of_exit() -> None:
    xs = named("xs", FLOATS)
    b, body = builder(), builder()
    exit_, i, s, s_out = ir.Var("exit", ir.INT), named("i", ir.INT), named("s"), named("s")
    x = body.load(xs, at(i), ir.FLOAT, hint="x", named=True)
    s1 = body.call(op.add, s, x, hint="s", named=True)
    negative = body.call(op.lt, x, ir.Const(0.0))
    rest = body.nested()
    huge = rest.call(op.gt, x, ir.Const(100.0))
    rest_block = rest.block(ir.Branch(huge, end(ir.Exit(2, (s,))), end(ir.Continue((s1,)))))
    block = body.block(ir.Branch(negative, end(ir.Exit(1, (s,))), rest_block))
    n = b.call(len, xs)
    b.emit(ir.Loop(up_to(n), i, (s,), (ir.Const(0.0),), block, (s_out,), exit_))
    returned = b.call(op.eq, exit_, ir.Const(1))
    after = b.nested()
    doubled = after.call(op.mul, s_out, ir.Const(2.0))
    run = check(
        function(
            "f",
            (xs,),
            b.block(ir.Branch(returned, end(ir.Return((ir.Const(None),))), after.block(ir.Return((doubled,))))),
        ),
        """
        def f(xs):
            s = 0.0
            for x in xs:
                s_1 = s + x
                if x < 0.0:
                    return
                if x > 100.0:
                    break
                s = s_1
            return s * 2.0
        """,
    )
    assert run([1.0, 2.0]) == 6.0
    assert run([1.0, 200.0]) == 2.0
    assert run([1.0, -2.0]) is None


def test_old_value_stays_alive() -> None:
    x = named("x")
    b = builder()
    x1 = b.call(op.mul, x, x, hint="x", named=True)
    x2 = b.call(op.sub, x1, x, hint="x", named=True)
    total = b.call(op.add, b.call(op.add, x2, x1), x)
    run = check(
        function("f", (x,), b.block(ir.Return((total,)))),
        """
        def f(x):
            x_1 = x * x
            x_2 = x_1 - x
            return x_2 + x_1 + x
        """,
    )
    assert run(3.0) == 6.0 + 9.0 + 3.0


def test_old_value_dies() -> None:
    x = named("x")
    b = builder()
    x1 = b.call(math.sin, x, hint="x", named=True)
    x2 = b.call(op.mul, x1, x1, hint="x", named=True)
    run = check(
        function("f", (x,), b.block(ir.Return((x2,)))),
        """
        def f(x):
            x = math.sin(x)
            x *= x
            return x
        """,
    )
    assert run(0.5) == math.sin(0.5) ** 2


def test_builtins_are_not_shadowed() -> None:
    x, length = named("x", VECTOR), named("len", ir.INT)
    b = builder()
    total = b.call(np.sum, x, hint="abs", named=True)
    absolute = b.call(abs, total, hint="np", named=True)
    size = b.call(len, x)
    out = b.call(op.add, b.call(op.add, b.call(op.mul, absolute, absolute), size), length)
    run = check(
        function("f", (x, length), b.block(ir.Return((out,)))),
        """
        def f(x, len):
            abs_1 = np.sum(x)
            np_1 = abs(abs_1)
            return np_1 * np_1 + len_1(x) + len
        """,
    )
    assert run(np.array([1.0, -4.0]), 5) == 9 + 2 + 5


def test_two_functions_of_one_name() -> None:
    def make(k: float) -> Any:
        def helper(v: float) -> float:
            return v + k

        return helper

    x = named("x")
    b = builder()
    out = b.call(make(1.0), b.call(make(10.0), x))
    table = np.array([1.0, 2.0])
    out = b.call(op.mul, out, b.load(ir.Const(table), at(1), ir.FLOAT))
    run = check(
        function("f", (x,), b.block(ir.Return((out,)))),
        """
        def f(x):
            return helper_1(helper(x)) * array[1]
        """,
    )
    assert run(0.0) == 22.0


def test_smooth() -> None:
    u0, c = named("u", VECTOR), named("c")
    b = builder()
    u = b.call(np.ndarray.copy, u0, hint="u", named=True)
    n = b.call(len, u)
    body = builder()
    i = named("i", ir.INT)
    here = body.load(u, at(i), ir.FLOAT)
    previous = ir.Var("t", ir.INT)
    body.emit(ir.Call((previous,), op.sub, (i, ir.Const(1))))
    before = body.load(u, at(previous), ir.FLOAT)
    again = body.load(u, at(i), ir.FLOAT)
    product = body.call(op.mul, body.call(op.mul, c, before), again)
    body.store(u, at(i), body.call(op.add, here, product))
    b.emit(ir.Loop(up_to(n, start=1), i, (), (), body.block(ir.Continue()), ()))
    out = b.call(op.matmul, u, u)
    run = check(
        function("smooth", (u0, c), b.block(ir.Return((out,)))),
        """
        def smooth(u, c):
            u = u.copy()
            for i in range(1, len(u)):
                u[i] = u[i] + c * u[i - 1] * u[i]
            return u @ u
        """,
    )
    given = np.array([1.0, 2.0])
    assert run(given, 0.5) == 1.0 + 9.0
    assert given.tolist() == [1.0, 2.0]


@dataclass
class Dense:
    w: np.ndarray
    b: np.ndarray


def test_arrays_and_attributes() -> None:
    layer = named("layer", ir.Instance(Dense, {"w": MATRIX, "b": VECTOR}))
    x, y = named("x", MATRIX), named("y", MATRIX)
    b = builder()
    product = b.call(op.matmul, x, b.attribute(layer, "w", MATRIX))
    h = b.call(np.tanh, b.call(op.add, product, b.attribute(layer, "b", VECTOR)), hint="h", named=True)
    r = b.call(op.sub, h, y, hint="r", named=True)
    r_bar = b.call(op.truediv, b.call(op.mul, ir.Const(2.0), r), b.call(np.size, r))
    z_bar = b.call(op.mul, r_bar, b.call(op.sub, ir.Const(1.0), b.call(op.mul, h, h)), hint="z_bar")
    w_bar = b.call(op.matmul, b.call(np.transpose, x), z_bar)
    b_bar = b.call(np.sum, z_bar, axis=ir.Const(0))
    out = b.call(Dense, w=w_bar, b=b_bar)
    run = check(
        function("loss_grad", (layer, x, y), b.block(ir.Return((out,))), "The gradient of a loss."),
        '''
        def loss_grad(layer, x, y):
            """The gradient of a loss."""
            h = np.tanh(x @ layer.w + layer.b)
            r = h - y
            z_bar = 2.0 * r / r.size * (1.0 - h * h)
            return Dense(w=x.T @ z_bar, b=np.sum(z_bar, axis=0))
        ''',
    )
    rng = np.random.default_rng(0)
    layer_value = Dense(rng.normal(size=(3, 2)), rng.normal(size=2))
    assert run(layer_value, rng.normal(size=(5, 3)), rng.normal(size=(5, 2))).w.shape == (3, 2)


def test_arrays_are_not_written_by_accident() -> None:
    x, k = named("x", VECTOR), named("k", ir.Number())
    b = builder()
    x1 = b.call(op.add, x, x, hint="x", named=True)
    k1 = ir.Var("k", ir.Number(), True)
    b.emit(ir.Call((k1,), op.mul, (k, ir.Const(2.0))))
    out = b.call(op.mul, b.call(op.mul, x1, k1), k1)
    check(
        function("f", (x, k), b.block(ir.Return((out,)))),
        """
        def f(x, k):
            x = x + x
            k = k * 2.0
            return x * k * k
        """,
    )


def test_stores() -> None:
    a, v = named("a", WRITTEN), named("v", VECTOR)
    b = builder()
    piece = ir.Subscript((ir.Slice(ir.Const(1), ir.Const(None), ir.Const(None)),))
    both = ir.Subscript((ir.Slice(ir.Const(None), ir.Const(-1), ir.Const(2)), ir.Const(None)), True)
    b.store(a, piece, v)
    b.store(a, both, v, "add")
    b.store(a, None, v, "sub")
    b.store(a, at(0, 1), v, "add_at")
    b.store(a, piece, v, "add_at")
    b.store(a, attribute("flat"), v)
    check(
        function("f", (a, v), b.block(ir.Return(()))),
        """
        def f(a, v):
            a[1:] = v
            a[:-1:2, None] += v
            a -= v
            np.add.at(a, (0, 1), v)
            np.add.at(a, np.s_[1:], v)
            a.flat = v
        """,
    )


def test_reads_stay_before_writes() -> None:
    a = named("a", WRITTEN)
    b = builder()
    old = b.load(a, at(0), ir.FLOAT)
    new = b.load(a, at(1), ir.FLOAT)
    b.store(a, at(0), new)
    b.store(a, at(1), old)
    run = check(
        function("f", (a,), b.block(ir.Return((a,)))),
        """
        def f(a):
            t = a[0]
            a[0] = a[1]
            a[1] = t
            return a
        """,
    )
    assert run([1.0, 2.0]) == [2.0, 1.0]


def test_private_memory_keeps_nothing_waiting() -> None:
    """A store to an array that nobody else has does not separate a read of another one from its use."""
    u, n = named("u", WRITTEN), named("n", ir.INT)
    b = builder()
    kept = b.call(np.empty, n, hint="kept")
    first = b.load(u, at(0), ir.FLOAT)
    b.store(kept, at(0), ir.Const(3.0))
    b.store(u, at(1), b.call(op.mul, first, ir.Const(2.0)))
    again = b.load(u, at(0), ir.FLOAT)
    b.store(u, at(0), b.load(kept, at(0), ir.FLOAT))
    run = check(
        function("f", (u, n), b.block(ir.Return((b.call(op.neg, again),)))),
        """
        def f(u, n):
            kept = np.empty(n)
            kept[0] = 3.0
            u[1] = u[0] * 2.0
            t = u[0]
            u[0] = kept[0]
            return -t
        """,
    )
    memory = np.array([1.0, 0.0])
    assert run(memory, 1) == -1.0
    assert memory.tolist() == [3.0, 2.0]


def test_displays_and_strings() -> None:
    x, d = named("x"), named("d", ir.OPAQUE)
    b = builder()
    items = b.call(display.make_list, x, ir.Const(math.inf), ir.Const(-2.5), hint="items", named=True)
    b.effect(list.append, items, ir.Const(-0.0))
    pair = b.call(display.make_tuple, items, b.call(display.make_dict, ir.Const("k"), x))
    field = b.call(display.format_value, x, ir.Const("r"), ir.Const(".2f"))
    field = b.call(display.format_value, x, ir.Const(None), ir.Const(".2f"))
    text = b.call(display.join_string, ir.Const("x = "), field, ir.Const("!"))
    inside = b.call(op.contains, d, x)
    root = b.call(op.pow, ir.Const(-2.0), ir.Const(2))
    called = b.call(display.call, d, x, key=ir.Const(b"q"))
    run = check(
        function("f", (x, d), b.block(ir.Return((pair, text, inside, root, called)))),
        """
        def f(x, d):
            items = [x, math.inf, -2.5]
            items.append(-0.0)
            pair = (items, {'k': x})
            return pair, f'x = {x:.2f}!', x in d, (-2.0) ** 2, d(x, key=b'q')
        """.replace("            pair = (items, {'k': x})\n", "").replace("return pair", "return (items, {'k': x})"),
    )

    class Box:
        def __contains__(self, item: float) -> bool:
            return item == 1.0

        def __call__(self, value: float, key: bytes) -> float:
            return value + len(key)

    result = run(1.0, Box())
    assert result[1:] == ("x = 1.00!", True, 4.0, 2.0)
    assert result[0] == ([1.0, math.inf, -2.5, -0.0], {"k": 1.0})


def test_callees() -> None:
    x = named("x", VECTOR)
    b = builder()
    b.effect(np.add.at, x, ir.Const(0), ir.Const(1.0))
    b.effect(
        print, ir.Const(...), ir.Const(np.float64), ir.Const(math.nan), ir.Const((1, -2)), ir.Const(np.dtype("float32"))
    )
    solved = b.call(np.linalg.solve, b.call(np.absolute, x), x)
    check(
        function("f", (x,), b.block(ir.Return((solved,)))),
        """
        def f(x):
            np.add.at(x, 0, 1.0)
            print(..., np.float64, math.nan, (1, -2), np.dtype(np.float32))
            return np.linalg.solve(np.abs(x), x)
        """,
    )


def test_definitions_call_each_other() -> None:
    fact = ir.Definition("fact")
    n = named("n", ir.INT)
    b = builder()
    stop = b.call(op.eq, n, ir.Const(0))
    again = b.nested()
    less = ir.Var("t", ir.INT)
    again.emit(ir.Call((less,), op.sub, (n, ir.Const(1))))
    product = again.call(op.mul, n, again.call(fact, less))
    body = b.block(ir.Branch(stop, end(ir.Return((ir.Const(1),))), again.block(ir.Return((product,)))))
    fact.function = function("fact", (n,), body)
    m = named("m", ir.INT)
    main = builder()
    result = main.call(fact, m)
    run = check(
        function("main", (m,), main.block(ir.Return((result,)))),
        """
        def main(m):
            return fact(m)


        def fact(n):
            if n == 0:
                return 1
            return n * fact(n - 1)
        """,
    )
    assert run(5) == 120


def test_assert_and_raise() -> None:
    x = named("x")
    b = builder()
    positive = b.call(op.gt, x, ir.Const(0.0))
    bad = b.nested()
    error = bad.call(AssertionError, ir.Const("positive"))
    b.emit(ir.If(positive, end(ir.Yield()), bad.block(ir.Raise(error))))
    small = b.call(op.lt, x, ir.Const(10.0))
    bad = b.nested()
    error = bad.call(ValueError, ir.Const("large"))
    b.emit(ir.If(small, end(ir.Yield()), bad.block(ir.Raise(error))))
    run = check(
        function("f", (x,), b.block(ir.Return((x,)))),
        """
        def f(x):
            assert x > 0.0, 'positive'
            if not x < 10.0:
                raise ValueError('large')
            return x
        """,
    )
    with pytest.raises(AssertionError, match="positive"):
        run(-1.0)


def test_elif_and_continue() -> None:
    xs = named("xs", FLOATS)
    b, body = builder(), builder()
    x, s, s_out = named("x"), named("s"), named("s")
    skip = body.call(op.eq, x, ir.Const(0.0))
    rest = body.nested()
    low, high = rest.call(op.lt, x, ir.Const(1.0)), rest.nested()
    middle = high.call(op.lt, x, ir.Const(2.0))
    weight = ir.Var("weight", ir.FLOAT, True)
    inner = ir.Var("weight", ir.FLOAT, True)
    high.emit(ir.If(middle, end(ir.Yield((ir.Const(2.0),))), end(ir.Yield((ir.Const(3.0),))), (inner,)))
    rest.emit(ir.If(low, end(ir.Yield((ir.Const(1.0),))), high.block(ir.Yield((inner,))), (weight,)))
    s1 = rest.call(op.add, s, rest.call(op.mul, weight, x), hint="s", named=True)
    block = body.block(ir.Branch(skip, end(ir.Continue((s,))), rest.block(ir.Continue((s1,)))))
    b.emit(ir.Loop(ir.Items(xs), x, (s,), (ir.Const(0.0),), block, (s_out,)))
    run = check(
        function("f", (xs,), b.block(ir.Return((s_out,)))),
        """
        def f(xs):
            s = 0.0
            for x in xs:
                if x == 0.0:
                    continue
                if x < 1.0:
                    weight = 1.0
                elif x < 2.0:
                    weight = 2.0
                else:
                    weight = 3.0
                s += weight * x
            return s
        """,
    )
    assert run([0.0, 0.5, 1.5, 4.0]) == 0.5 + 3.0 + 12.0


def test_enumerate() -> None:
    xs, w = named("xs", FLOATS), named("w", WRITTEN)
    b, body = builder(), builder()
    n, i = b.call(len, xs), named("i", ir.INT)
    x = body.load(xs, at(i), ir.FLOAT, hint="x", named=True)
    body.store(w, at(i), body.call(op.mul, x, x), "add")
    b.emit(ir.Loop(up_to(n), i, (), (), body.block(ir.Continue()), ()))
    check(
        function("f", (xs, w), b.block(ir.Return(()))),
        """
        def f(xs, w):
            for i, x in enumerate(xs):
                w[i] += x * x
        """,
    )


def test_value_of_the_last_round() -> None:
    """A variable that is first bound in a loop may never be bound; nobody reads it then."""
    xs = named("xs", FLOATS)
    b, body = builder(), builder()
    x, last, last_out = named("x"), named("last"), named("last")
    y = body.call(op.mul, x, x, hint="last", named=True)
    b.emit(ir.Loop(ir.Items(xs), x, (last,), (ir.UNDEFINED,), body.block(ir.Continue((y,))), (last_out,)))
    run = check(
        function("f", (xs,), b.block(ir.Return((last_out,)))),
        """
        def f(xs):
            for x in xs:
                last = x * x
            return last
        """,
    )
    assert run([1.0, 3.0]) == 9.0


def test_try_and_with() -> None:
    x, lock = named("x"), named("lock", ir.OPAQUE)
    b, body, handler, final = builder(), builder(), builder(), builder()
    y = body.call(op.truediv, ir.Const(1.0), x, hint="y", named=True)
    error = named("error", ir.OPAQUE)
    handler.effect(print, error)
    final.effect(print, ir.Const("done"))
    out = named("y")
    clause = ir.Handler(ir.Const(ZeroDivisionError), error, handler.block(ir.Yield((ir.Const(0.0),))))
    b.emit(ir.Guarded(None, None, body.block(ir.Yield((y,))), (clause,), final.block(ir.Yield()), (out,)))
    inside, held, entered = builder(), named("y"), named("entered", ir.OPAQUE)
    z = inside.call(op.add, out, out, hint="y", named=True)
    inside.effect(print, entered)
    b.emit(ir.Guarded(lock, entered, inside.block(ir.Yield((z,))), (), None, (held,)))
    check(
        function("f", (x, lock), b.block(ir.Return((held,)))),
        """
        def f(x, lock):
            try:
                y = 1.0 / x
            except ZeroDivisionError as error:
                print(error)
                y = 0.0
            finally:
                print('done')
            with lock as entered:
                y += y
                print(entered)
            return y
        """,
    )


def test_length_of_a_list_is_read_in_time() -> None:
    xs = named("xs", FLOATS)
    b = builder()
    n = b.call(len, xs)
    b.effect(list.append, xs, ir.Const(1.0))
    run = check(
        function("f", (xs,), b.block(ir.Return((b.call(op.neg, n),)))),
        """
        def f(xs):
            t = len(xs)
            xs.append(1.0)
            return -t
        """,
    )
    assert run([]) == 0


def test_constant_arrays_are_written_in_place() -> None:
    table = np.zeros(2)
    b = builder()
    b.store(ir.Const(table), None, ir.Const(1.0), "add")
    run = check(
        function("f", (), b.block(ir.Return(()))),
        """
        def f():
            array[...] += 1.0
        """,
    )
    run()
    assert table.tolist() == [1.0, 1.0]


def test_function_named_like_its_variable() -> None:
    x = named("loss")
    b = builder()
    y = b.call(op.mul, x, x, hint="loss", named=True)
    check(
        function("loss", (x,), b.block(ir.Return((b.call(op.add, y, y),)))),
        """
        def loss(loss):
            loss *= loss
            return loss + loss
        """,
    )


def test_long_lines_are_broken() -> None:
    xs = [named(f"variable_{n}") for n in range(9)]
    b = builder()
    total: Any = xs[0]
    for x in xs[1:]:
        total = b.call(op.add, b.call(op.mul, total, x), b.call(math.sin, x))
    text = emit(function("f", xs, b.block(ir.Return((total,))))).text
    assert max(map(len, text.splitlines()[1:])) <= 100


def test_tools_see_the_text() -> None:
    x = named("x")
    b = builder()
    b.span = Span("user.py", 7, 4, 7, 9)
    y = b.call(op.truediv, ir.Const(1.0), x, hint="y", named=True)
    emitted = emit(function("f", (x,), b.block(ir.Return((y,)))), name="inverse")
    run = load(emitted, "inverse of x")
    assert inspect.getsource(run) == emitted.text
    assert emitted.lines[2] == b.span
    with pytest.raises(ZeroDivisionError) as caught:
        run(0.0)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert frame.line == "y = 1.0 / x"
    assert frame.filename.startswith("<adjoint inverse of x #")


def test_arrays_of_numbers_are_displays() -> None:
    x, y = named("x"), named("y")
    b = builder()
    rows = b.call(array_of, ir.Const(((0, 1), (1, 2))), x, y, ir.Const(1.0))
    run = check(
        function("rows", (x, y), b.block(ir.Return((rows,)))),
        """
        def rows(x, y):
            return np.array([[x, y], [y, 1.0]])
        """,
    )
    np.testing.assert_array_equal(run(2.0, 3.0), array_of(((0, 1), (1, 2)), 2.0, 3.0, 1.0))


def test_a_number_among_some_is_in_these() -> None:
    n = named("n", ir.INT)
    b = builder()
    found = b.call(op.eq, ir.Const(1), n)
    for other in (-2, 5):
        found = b.call(op.or_, found, b.call(op.eq, ir.Const(other), n))
    run = check(
        function("among", (n,), b.block(ir.Return((found,)))),
        """
        def among(n):
            return n in (1, -2, 5)
        """,
    )
    assert [run(k) for k in (1, -2, 5, 2)] == [True, True, True, False]
