"""Forward mode on hand-built functions, against complex steps and differences, once and twice."""

from __future__ import annotations

import math
import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

try:
    import adjoint.differentiation.rules.splice  # noqa: F401
except ImportError:  # these tests bring their own
    _module = types.ModuleType("adjoint.differentiation.rules.splice")
    _module.splice = None  # type: ignore[attr-defined]
    sys.modules["adjoint.differentiation.rules.splice"] = _module

from adjoint import ir
from adjoint.diagnostics import DifferentiationError
from adjoint.differentiation.forward import tangent_rules
from adjoint.differentiation.forward.forward import forward
from adjoint.ir.builder import Builder
from adjoint.ir.verifier import verify
from adjoint.rules.typing import type_of_call
from adjoint.runtime.display import make_list, make_tuple
from adjoint.types.vectors import tangent_class
from differentiation.tracing import splice
from ir.interpreter import run

Make = Callable[..., Any]
DOUBLE = np.dtype(np.float64)


@pytest.fixture(autouse=True)
def own_splice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tangent_rules, "splice", splice)
    monkeypatch.setattr(sys.modules["adjoint.differentiation.rules.splice"], "splice", splice)


def vector(dim: Any = "many", *, written: bool = False) -> ir.Array:
    return ir.Array(DOUBLE, (dim,), ir.Storage(written=written))


def build(body: Make, *params: ir.Type, name: str = "f") -> ir.Function:
    """A function whose body is emitted by ``body(builder, *params)``, which gives the results."""
    names = [ir.Var("xyzuvwpqrs"[i], type_, True) for i, type_ in enumerate(params)]
    builder = Builder(type_of_call)
    results = body(builder, *names)
    if isinstance(results, (ir.Return, ir.Branch)):
        return ir.Function(name, tuple(names), builder.block(results))
    values = results if isinstance(results, tuple) else (results,)
    return ir.Function(name, tuple(names), builder.block(ir.Return(values)))


def index(*items: Any) -> ir.Subscript:
    return ir.Subscript(
        tuple(item if isinstance(item, (ir.Var, ir.Slice)) else ir.Const(item) for item in items), len(items) > 1
    )


def derivative(function: ir.Function, wrt: Sequence[int] = (0,), outputs: Sequence[int] = (0,)) -> ir.Function:
    verify(function)
    result = forward(function, wrt, outputs)
    verify(result)
    assert len(result.params) == len(function.params) + len(wrt)
    return result


def flat(value: Any) -> np.ndarray:
    if isinstance(value, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(flat, value)])
    if hasattr(value, "__dict__"):
        return flat(list(vars(value).values()))
    return np.zeros(0) if value is None else np.ravel(value)


def copied(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def moved(value: Any, dot: Any, step: float) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(moved(item, part, step) for item, part in zip(value, dot, strict=True))
    return value if dot is None else value + step * dot


def direction(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, (list, tuple)):
        return [direction(item, rng) for item in value]
    if isinstance(value, np.ndarray):
        return rng.normal(size=value.shape)
    return float(rng.normal())


def check(
    function: ir.Function, *args: Any, wrt: Sequence[int] = (0,), outputs: Sequence[int] = (0,), order: int = 2
) -> None:
    """Compares tangents with central differences, and those of the tangents, too."""
    rng = np.random.default_rng(0)
    dots = [direction(args[i], rng) for i in wrt]
    result = derivative(function, wrt, outputs)
    count = len(outputs)
    found = run(result, *map(copied, args), *map(copied, dots))[-count:]

    def at(step: float) -> np.ndarray:
        point = [copied(arg) for arg in args]
        for i, dot in zip(wrt, dots, strict=True):
            point[i] = moved(point[i], dot, step)
        values = run(function, *point)
        values = values if isinstance(values, tuple) else (values,)
        return flat([values[i] for i in outputs])

    h = 1e-5
    expected = (at(h) - at(-h)) / (2 * h)
    assert np.allclose(flat(list(found)), expected, rtol=1e-6, atol=1e-7), (flat(list(found)), expected)
    values = run(function, *map(copied, args))
    values = values if isinstance(values, tuple) else (values,)
    for i, tangent in zip(outputs, found, strict=True):
        if isinstance(values[i], (np.ndarray, float)):
            assert np.shape(tangent) == np.shape(values[i])
    if order > 1:
        everything = (*wrt, *range(len(function.params), len(result.params)))
        last = len(run(result, *map(copied, args), *map(copied, dots))) - 1
        check(result, *args, *dots, wrt=everything, outputs=(last,), order=order - 1)


# Straight lines


def test_scalars() -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        s = b.call(math.sin, x)
        t = b.call(operator.mul, s, y)
        u = b.call(operator.sub, ir.Const(3.0), t)
        v = b.call(operator.truediv, u, b.call(math.exp, x))
        return b.call(operator.pow, v, ir.Const(3)), s, y

    function = build(body, ir.FLOAT, ir.FLOAT)
    check(function, 0.7, 1.3)
    check(function, 0.7, 1.3, wrt=(1, 0), outputs=(2, 1, 0))
    check(function, 0.7, 1.3, wrt=(1,), outputs=(1,))


def test_text_of_a_simple_derivative() -> None:
    from adjoint.ir.printer import format_function

    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        s = b.call(math.sin, x, hint="s", named=True)
        return b.call(operator.add, b.call(operator.mul, s, y, hint="p"), ir.Const(1.0), hint="q")

    text = format_function(derivative(build(body, ir.FLOAT, ir.FLOAT)))
    assert "s_dot = " in text
    assert "q_dot" not in text


def test_inactive_statements_are_copied_once() -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        t = b.call(operator.mul, y, y)
        b.effect(print, t)
        return b.call(operator.mul, x, t)

    result = derivative(build(body, ir.FLOAT, ir.FLOAT))
    calls = [s for s in result.body.statements if isinstance(s, ir.Call)]
    assert sum(s.callee is print for s in calls) == 1
    assert sum(s.callee is operator.mul for s in calls) == 3


def test_int_results_and_constants() -> None:
    def body(b: Builder, x: ir.Var) -> Any:
        n = b.call(int, x)
        return b.call(operator.mul, x, n), n, ir.Const(2.0)

    function = build(body, ir.FLOAT)
    check(function, 2.7, outputs=(0,))
    assert run(derivative(function, outputs=(0, 2)), 2.7, 1.0) == (5.4, 2, 2.0, 2.0, 0.0)


def test_nan_is_not_masked() -> None:
    function = build(lambda b, x: b.call(operator.mul, x, ir.Const(2.0)), ir.FLOAT)
    assert math.isnan(run(derivative(function), 1.0, math.nan)[1])


# Arrays


def test_broadcasting_gives_full_tangents() -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        t = b.call(operator.add, x, y)
        return t, b.call(operator.mul, t, y), b.call(operator.sub, y, x)

    y = np.arange(1.0, 4.0)
    for type_, x in (
        (ir.FLOAT, 0.5),
        (vector("one"), np.array([0.5])),
        (vector("any"), np.array([0.5])),
        (vector(), y * 2),
    ):
        check(build(body, type_, vector()), x, y, outputs=(0, 1, 2))
        check(build(body, type_, vector("any")), x, y, outputs=(0, 1, 2), wrt=(0, 1))


def test_dtypes_follow_the_value() -> None:
    single = ir.Array(np.dtype(np.float32), ("many",))
    function = build(lambda b, x, y: b.call(operator.add, x, y), single, vector())
    x = np.ones(2, np.float32)
    assert run(derivative(function), x, np.ones(2), x)[1].dtype == np.float64


def test_products_and_reductions() -> None:
    pytest.importorskip("adjoint.rules.numpy.reductions")
    matrix = ir.Array(DOUBLE, ("many", "many"))

    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        t = b.call(np.tanh, b.call(operator.matmul, x, y))
        return b.call(np.sum, b.call(np.where, b.call(operator.gt, t, ir.Const(0.0)), t, ir.Const(1.0)))

    rng = np.random.default_rng(1)
    check(build(body, matrix, vector()), rng.normal(size=(3, 2)), rng.normal(size=2), wrt=(0, 1))


def test_makers_of_arrays_that_take_values() -> None:
    pytest.importorskip("adjoint.rules.numpy.arrays.construction")
    check(build(lambda b, x: b.call(np.full, ir.Const(3), x), ir.FLOAT), 2.0)
    check(build(lambda b, x: b.call(operator.mul, b.call(np.ones_like, x), x), vector()), np.array([1.0, 2.0]))


def test_reading_elements_and_views() -> None:
    def body(b: Builder, x: ir.Var) -> Any:
        a = b.load(x, index(1), ir.FLOAT)
        s = b.load(x, index(ir.Slice(ir.Const(1), ir.Const(None), ir.Const(None))), vector("any"))
        return b.call(operator.mul, s, a)

    check(build(body, vector()), np.array([2.0, 3.0, 4.0]))


# Memory


def written_vector(b: Builder, x: ir.Var) -> ir.Var:
    return b.call(np.zeros_like, x)


def test_stores_of_every_mode() -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        out = ir.Var("out", vector(written=True))
        b.emit(ir.Call((out,), np.zeros_like, (x,)))
        b.store(out, index(0), b.load(x, index(1), ir.FLOAT))
        b.store(out, index(1), y)
        b.store(out, index(1), b.load(x, index(0), ir.FLOAT), "add")
        b.store(out, index(0), ir.Const(2.0), "add")
        b.store(out, index(2), b.load(out, index(0), ir.FLOAT), "sub")
        b.store(out, None, x, "add")
        b.store(out, ir.Subscript((ir.Const(np.array([0, 0])),)), b.load(x, index(1), ir.FLOAT), "add_at")
        t = b.load(out, index(0), ir.FLOAT)
        b.store(out, index(0), b.call(operator.mul, t, t))
        b.store(out, index(3), ir.Const(5.0))
        return out

    check(build(body, vector(), ir.FLOAT), np.arange(1.0, 5.0), 3.0)


def test_a_tangent_does_not_alias_written_memory() -> None:
    storage = ir.Storage(written=True)

    def body(b: Builder, x: ir.Var) -> Any:
        a = ir.Var("a", ir.Array(DOUBLE, ("many",), storage))
        b.emit(ir.Call((a,), operator.mul, (x, ir.Const(1.0))))
        y = b.call(operator.add, a, ir.Const(1.0))
        b.store(a, index(0), ir.Const(0.0))
        c = ir.Var("c", ir.Array(DOUBLE, ("many",), ir.Storage(written=True)))
        b.emit(ir.Call((c,), operator.add, (x, ir.Const(1.0))))
        b.store(c, index(1), ir.Const(0.0))
        return y, a, c, x

    x = np.array([2.0, 3.0])
    check(build(body, vector()), x, outputs=(0, 1, 2, 3))


def test_views_of_written_memory_share_their_shadow() -> None:
    storage = ir.Storage(written=True)
    array = ir.Array(DOUBLE, ("many",), storage)

    def body(b: Builder, x: ir.Var) -> Any:
        a = ir.Var("a", array)
        b.emit(ir.Call((a,), operator.mul, (x, x)))
        view = b.load(a, index(ir.Slice(ir.Const(1), ir.Const(None), ir.Const(None))), array, "view")
        b.store(view, index(0), b.load(x, index(0), ir.FLOAT))
        return a

    check(build(body, vector()), np.array([2.0, 3.0, 4.0]))


def test_reshape_follows_the_primal() -> None:
    pytest.importorskip("adjoint.rules.numpy.arrays.shapes")
    storage = ir.Storage(written=True)
    matrix = ir.Array(DOUBLE, ("many", "many"), storage)

    def body(b: Builder, x: ir.Var) -> Any:
        a = ir.Var("a", matrix)
        b.emit(ir.Call((a,), operator.mul, (x, ir.Const(2.0))))
        flat_ = ir.Var("flat", ir.Array(DOUBLE, ("many",), storage))
        b.emit(ir.Call((flat_,), np.ravel, (a,)))
        b.store(flat_, index(1), b.load(x, index(0, 0), ir.FLOAT))
        return a, flat_

    function = build(body, ir.Array(DOUBLE, ("many", "many")))
    x = np.arange(1.0, 5.0).reshape(2, 2)
    check(function, x, outputs=(0, 1))
    result = derivative(function, (0,), (0, 1))
    a, flat_, a_dot, flat_dot = run(result, x.T, np.ones((2, 2)).T)
    assert not np.may_share_memory(a, flat_)
    assert not np.may_share_memory(a_dot, flat_dot)


def test_a_parameter_that_is_written() -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        b.store(x, index(0), y)
        return b.call(operator.mul, x, ir.Const(2.0))

    function = build(body, vector(written=True), ir.FLOAT)
    check(function, np.array([1.0, 2.0]), 3.0, wrt=(0, 1))
    check(function, np.array([1.0, 2.0]), 3.0, wrt=(1,))
    check(function, np.array([1.0, 2.0]), 3.0, wrt=(0,))


# Containers


def test_lists_that_grow() -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        items = ir.Var("items", ir.List(ir.FLOAT))
        b.emit(ir.Call((items,), make_list, (ir.Const(1.0), x)))
        b.effect(list.append, items, y)
        b.effect(list.append, items, b.call(operator.mul, x, x))
        b.store(items, index(0), x)
        last = b.call(list.pop, items)
        first = b.item(items, ir.Const(0), ir.FLOAT)
        b.store(items, index(1), ir.Const(0.0))
        other = b.call(list.copy, items)
        b.effect(list.append, other, last)
        return b.call(operator.add, last, first), items, other

    function = build(body, ir.FLOAT, ir.FLOAT)
    check(function, 2.0, 3.0, outputs=(0, 1, 2))
    check(function, 2.0, 3.0, wrt=(1,), outputs=(0, 1, 2))


def test_tuples_in_lists() -> None:
    pair = ir.Tuple((ir.FLOAT, ir.INT))

    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        p = b.call(make_tuple, x, y)
        items = b.call(make_list, p)
        b.effect(list.append, items, b.call(make_tuple, ir.Const(2.0), y))
        q = b.item(items, ir.Const(0), pair)
        r = b.item(items, ir.Const(1), pair)
        t = b.call(operator.mul, b.item(q, ir.Const(0), ir.FLOAT), b.item(r, ir.Const(0), ir.FLOAT))
        return b.call(operator.mul, t, b.item(q, ir.Const(1), ir.INT)), items

    function = build(body, ir.FLOAT, ir.INT)
    check(function, 2.0, 3, outputs=(0,))
    assert run(derivative(function, (0,), (1,)), 2.0, 3, 1.0)[-1] == [[1.0, 0.0], [0.0, 0.0]]


def test_arrays_in_a_list() -> None:
    array = vector(written=True)

    def body(b: Builder, x: ir.Var) -> Any:
        a = ir.Var("a", array)
        b.emit(ir.Call((a,), operator.mul, (x, x)))
        rows = ir.Var("rows", ir.List(array))
        b.emit(ir.Call((rows,), make_list, (a,)))
        fresh = ir.Var("fresh", array)
        b.emit(ir.Call((fresh,), np.zeros_like, (x,)))
        b.effect(list.append, rows, fresh)
        row = b.item(rows, ir.Const(1), array, "row")
        b.store(row, index(0), b.load(b.item(rows, ir.Const(0), array), index(1), ir.FLOAT))
        return fresh, a

    check(build(body, vector()), np.array([2.0, 3.0]), outputs=(0, 1))


class Box:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def test_objects() -> None:
    box = ir.Instance(Box, {"value": ir.FLOAT, "scale": ir.FLOAT, "name": ir.OPAQUE})

    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        value = b.attribute(x, "value", ir.FLOAT)
        b.store(x, ir.Attribute("value"), b.call(operator.mul, value, y))
        b.store(x, ir.Attribute("name"), ir.Const("text"))
        t = b.attribute(x, "value", ir.FLOAT)
        return b.call(operator.mul, t, b.attribute(x, "scale", ir.FLOAT))

    function = build(body, box, ir.FLOAT)
    for wrt in ((0, 1), (0,)):
        result = derivative(function, wrt)
        dot = tangent_class(Box)(value=1.0, scale=0.5)
        dots = (dot, 10.0)[: len(wrt)]
        found = run(result, Box(value=2.0, scale=3.0, name=""), 4.0, *dots)
        assert found[1] == (1.0 * 4.0 + (10.0 * 2.0 if len(wrt) == 2 else 0)) * 3.0 + 8.0 * 0.5
        assert dot.value == 4.0 + (20.0 if len(wrt) == 2 else 0)
    only_y = derivative(function, (1,))
    assert run(only_y, Box(value=2.0, scale=3.0, name=""), 4.0, 1.0)[1] == 6.0


def test_a_field_that_does_not_vary_costs_nothing() -> None:
    box = ir.Instance(Box, {"value": ir.FLOAT, "scale": ir.FLOAT})

    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        b.store(x, ir.Attribute("scale"), ir.Const(2.0))
        b.store(x, ir.Attribute("value"), y)
        scale = b.attribute(x, "scale", ir.FLOAT)
        return b.call(operator.mul, scale, b.attribute(x, "value", ir.FLOAT))

    result = derivative(build(body, box, ir.FLOAT), (1,))
    assert run(result, Box(value=0.0, scale=0.0), 3.0, 1.0)[1] == 2.0
    assert sum(isinstance(s, ir.Call) and s.callee is operator.mul for s in result.body.statements) == 2


# Control flow


def test_if_and_branch() -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        then, orelse = b.nested(), b.nested()
        r = ir.Var("r", ir.FLOAT)
        cond = b.call(operator.gt, x, ir.Const(0.0))
        first = then.block(ir.Yield((then.call(operator.mul, x, y),)))
        b.emit(ir.If(cond, first, orelse.block(ir.Yield((ir.Const(1.0),))), (r,)))
        early, late = b.nested(), b.nested()
        left = early.block(ir.Return((early.call(math.exp, r),)))
        right = late.block(ir.Return((ir.Const(3.0),)))
        return ir.Branch(b.call(operator.gt, r, ir.Const(0.5)), left, right)

    function = build(body, ir.FLOAT, ir.FLOAT)
    for x in (0.5, -1.0):
        for y in (2.0, -1.0):
            check(function, x, y, wrt=(0, 1))
            check(function, x, y, wrt=(1,))


def loop_over_range(b: Builder, n: ir.Var, x: ir.Var, *, backward: bool = False) -> ir.Var:
    """``total = 0.0; for i in range(n): total = total * x + i``"""
    i, total, result = ir.Var("i", ir.INT), ir.Var("total", ir.FLOAT), ir.Var("total", ir.FLOAT)
    inner = b.nested()
    new = inner.call(operator.add, inner.call(operator.mul, total, x), i)
    over = ir.Range(ir.Const(0), n, ir.Const(1), backward)
    b.emit(ir.Loop(over, i, (total,), (ir.Const(0.0),), inner.block(ir.Continue((new,))), (result,)))
    return result


@pytest.mark.parametrize("backward", [False, True])
def test_range_loops(backward: bool) -> None:
    function = build(lambda b, x, y: loop_over_range(b, y, x, backward=backward), ir.FLOAT, ir.INT)
    for n in (0, 1, 4):
        check(function, 1.1, n)


def test_a_while_loop_with_exits() -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        u, target, extra, kind = (
            ir.Var("u", ir.FLOAT),
            ir.Var("u", ir.FLOAT),
            ir.Var("early", ir.FLOAT),
            ir.Var("kind", ir.INT),
        )
        head = b.nested()
        new = head.call(operator.mul, u, y)
        early, rest = head.nested(), head.nested()
        left = early.block(ir.Exit(1, (ir.UNDEFINED, early.call(operator.mul, new, y))))
        far, on = rest.nested(), rest.nested()
        out = far.block(ir.Exit(2, (new, ir.UNDEFINED)))
        again = on.block(ir.Continue((new,)))
        right = rest.block(ir.Branch(rest.call(operator.gt, new, ir.Const(100.0)), out, again))
        loop_body = head.block(ir.Branch(head.call(operator.lt, new, ir.Const(0.0)), left, right))
        b.emit(ir.Loop(None, None, (u,), (x,), loop_body, (target, extra), kind))
        first, second = b.nested(), b.nested()
        is_early = b.call(operator.eq, kind, ir.Const(1))
        return ir.Branch(is_early, first.block(ir.Return((extra,))), second.block(ir.Return((target,))))

    function = build(body, ir.FLOAT, ir.FLOAT)
    check(function, 2.0, 1.5, wrt=(0, 1))
    check(function, 2.0, -1.5, wrt=(0, 1))
    check(function, 2.0, 1.5, wrt=(1,))


def test_a_parameter_that_only_an_exit_makes_vary() -> None:
    def body(b: Builder, x: ir.Var) -> Any:
        i, u, target = ir.Var("i", ir.INT), ir.Var("u", ir.FLOAT), ir.Var("u", ir.FLOAT)
        inner = b.nested()
        out, on = inner.nested(), inner.nested()
        cond = inner.call(operator.gt, i, ir.Const(1))
        loop_body = inner.block(ir.Branch(cond, out.block(ir.Exit(1, (x,))), on.block(ir.Continue((ir.Const(2.0),)))))
        b.emit(
            ir.Loop(ir.Range(ir.Const(0), ir.Const(5), ir.Const(1)), i, (u,), (ir.Const(1.0),), loop_body, (target,))
        )
        return b.call(operator.mul, target, target)

    check(build(body, ir.FLOAT), 3.0)


def test_in_place_recurrences() -> None:
    array = vector(written=True)

    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        out = ir.Var("out", array)
        b.emit(ir.Call((out,), np.empty_like, (x,)))
        b.store(out, index(0), ir.Const(1.0))
        i = ir.Var("i", ir.INT)
        inner = b.nested()
        before = inner.load(out, ir.Subscript((inner.call(operator.sub, i, ir.Const(1)),)), ir.FLOAT)
        now = inner.load(x, ir.Subscript((i,)), ir.FLOAT)
        inner.store(out, ir.Subscript((i,)), inner.call(operator.mul, before, now))
        b.emit(ir.Loop(ir.Range(ir.Const(1), y, ir.Const(1)), i, (), (), inner.block(ir.Continue(())), ()))
        return out

    check(build(body, vector(), ir.INT), np.array([1.0, 2.0, 3.0]), 3)


def test_swapping_handles_in_a_loop() -> None:
    array = vector(written=True)

    def body(b: Builder, x: ir.Var) -> Any:
        u, v = ir.Var("u", array), ir.Var("v", array)
        b.emit(ir.Call((u,), operator.mul, (x, x)))
        b.emit(ir.Call((v,), np.zeros_like, (x,)))
        i, p, q, p1, q1 = (
            ir.Var("i", ir.INT),
            ir.Var("p", array),
            ir.Var("q", array),
            ir.Var("p", array),
            ir.Var("q", array),
        )
        inner = b.nested()
        inner.store(p, index(0), inner.load(q, index(1), ir.FLOAT), "add")
        loop_body = inner.block(ir.Continue((q, p)))
        b.emit(ir.Loop(ir.Range(ir.Const(0), ir.Const(3), ir.Const(1)), i, (p, q), (u, v), loop_body, (p1, q1)))
        return p1, q1, v

    check(build(body, vector()), np.array([1.0, 2.0]), outputs=(0, 1, 2))


def test_guarded() -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        r = ir.Var("r", ir.FLOAT)
        inner, handler = b.nested(), b.nested()
        quotient = inner.call(operator.truediv, x, y)
        other = ir.Handler(ir.Const(ZeroDivisionError), None, handler.block(ir.Yield((ir.Const(1.0),))))
        b.emit(ir.Guarded(None, None, inner.block(ir.Yield((quotient,))), (other,), None, (r,)))
        return b.call(operator.mul, r, x)

    function = build(body, ir.FLOAT, ir.FLOAT)
    check(function, 3.0, 2.0)
    check(function, 3.0, 0.0)


def test_raise() -> None:
    def body(b: Builder, x: ir.Var) -> Any:
        bad, good = b.nested(), b.nested()
        error = ir.Var("error", ir.Opaque(ValueError))
        bad.emit(ir.Call((error,), ValueError, (x,)))
        left = bad.block(ir.Raise(error))
        right = good.block(ir.Return((good.call(operator.mul, x, x),)))
        return ir.Branch(b.call(operator.lt, x, ir.Const(0.0)), left, right)

    function = build(body, ir.FLOAT)
    check(function, 3.0)
    with pytest.raises(ValueError, match="-1"):
        run(derivative(function), -1.0, 1.0)


# Functions


def power_definition() -> ir.Definition:
    """``def p(x, n): return 1.0 if n == 0 else x * p(x, n - 1)``"""
    definition = ir.Definition("p")

    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        base, step = b.nested(), b.nested()
        rest = ir.Var("rest", ir.FLOAT)
        less = step.call(operator.sub, y, ir.Const(1))
        step.emit(ir.Call((rest,), definition, (x, less)))
        left = base.block(ir.Return((ir.Const(1.0),)))
        right = step.block(ir.Return((step.call(operator.mul, x, rest),)))
        return ir.Branch(b.call(operator.eq, y, ir.Const(0)), left, right)

    definition.function = build(body, ir.FLOAT, ir.INT, name="p")
    return definition


def test_recursion() -> None:
    definition = power_definition()

    def body(b: Builder, x: ir.Var) -> Any:
        t = ir.Var("t", ir.FLOAT)
        b.emit(ir.Call((t,), definition, (x, ir.Const(4))))
        return b.call(operator.mul, t, ir.Const(2.0))

    check(build(body, ir.FLOAT), 1.3, order=3)


def test_a_function_that_writes_its_argument() -> None:
    array = vector(written=True)
    definition = ir.Definition("fill")

    def fill(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        b.store(x, index(0), b.call(operator.mul, y, y))
        return ir.Const(None)

    definition.function = build(fill, array, ir.FLOAT)

    def body(b: Builder, x: ir.Var) -> Any:
        out = ir.Var("out", array)
        b.emit(ir.Call((out,), np.zeros, (ir.Const(2),)))
        b.emit(ir.Call((), definition, (out, x)))
        return out

    check(build(body, ir.FLOAT), 3.0)


# Refusals


def opaque(x: Any) -> Any:
    return x


def codes(caught: Any) -> list[str]:
    return [problem.code for problem in caught.value.diagnostics]


def test_opaque_calls_are_refused_all_at_once() -> None:
    def body(b: Builder, x: ir.Var) -> Any:
        first, second = b.call(opaque, x), b.call(opaque, b.call(operator.mul, x, x))
        return b.call(operator.add, b.call(float, first), b.call(float, second))

    with pytest.raises(DifferentiationError) as caught:
        forward(build(body, ir.FLOAT), (0,), (0,))
    assert set(codes(caught)) == {"AD0201"}


def test_opaque_calls_whose_result_does_not_matter() -> None:
    def body(b: Builder, x: ir.Var) -> Any:
        b.call(opaque, x)
        b.effect(print, x)
        return b.call(operator.mul, x, x)

    check(build(body, ir.FLOAT), 2.0)


def test_active_memory_is_not_lent_to_strangers() -> None:
    def body(b: Builder, x: ir.Var) -> Any:
        b.effect(opaque, x)
        b.store(x, index(0), ir.Const(1.0))
        return b.load(x, index(1), ir.FLOAT)

    with pytest.raises(DifferentiationError) as caught:
        forward(build(body, vector(written=True)), (0,), (0,))
    assert codes(caught) == ["AD0303"]


@pytest.mark.parametrize(
    ("base", "code"),
    [
        (ir.OPAQUE, "AD0307"),
        (ir.Array(np.dtype(np.int64), ("many",), ir.Storage(written=True)), "AD0408"),
    ],
)
def test_stores_that_would_lose_the_derivative(base: ir.Type, code: str) -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        b.store(y, index(0), x)
        return x

    with pytest.raises(DifferentiationError) as caught:
        forward(build(body, ir.FLOAT, base), (0,), (0,))
    assert codes(caught) == [code]


def test_memory_that_outlives_the_call() -> None:
    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        array = b.load(y, ir.Attribute("buffer"), vector(written=True))
        b.store(array, index(0), x)
        return b.load(array, index(0), ir.FLOAT)

    with pytest.raises(DifferentiationError) as caught:
        forward(build(body, ir.FLOAT, ir.OPAQUE), (0,), (0,))
    assert codes(caught) == ["AD0302"]


def test_iterators_that_vary() -> None:
    def body(b: Builder, x: ir.Var) -> Any:
        drawn, u, result = ir.Var("drawn", ir.OPAQUE), ir.Var("u", ir.FLOAT), ir.Var("u", ir.FLOAT)
        values = b.call(make_list, x)
        inner = b.nested()
        new = inner.call(operator.add, u, inner.call(float, drawn))
        b.emit(ir.Loop(ir.Items(values), drawn, (u,), (ir.Const(0.0),), inner.block(ir.Continue((new,))), (result,)))
        return result

    with pytest.raises(DifferentiationError) as caught:
        forward(build(body, ir.FLOAT), (0,), (0,))
    assert codes(caught) == ["AD0305"]


# What reverse mode makes


def test_tapes() -> None:
    """The reverse derivative of ``x ** (2 ** n)``, written as reverse mode writes it."""

    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        kept = ir.Var("kept", ir.List(ir.FLOAT))
        b.emit(ir.Call((kept,), make_list, ()))
        i, u, u1 = ir.Var("i", ir.INT), ir.Var("u", ir.FLOAT), ir.Var("u", ir.FLOAT)
        inner = b.nested()
        inner.effect(list.append, kept, u)
        square = inner.call(operator.mul, u, u)
        space = ir.Range(ir.Const(0), y, ir.Const(1))
        b.emit(ir.Loop(space, i, (u,), (x,), inner.block(ir.Continue((square,))), (u1,)))
        j, bar, bar1 = ir.Var("j", ir.INT), ir.Var("bar", ir.FLOAT), ir.Var("bar", ir.FLOAT)
        back = b.nested()
        old = ir.Var("old", ir.FLOAT)
        back.emit(ir.Call((old,), list.pop, (kept,)))
        new = back.call(operator.mul, back.call(operator.mul, ir.Const(2.0), old), bar)
        over = ir.Range(ir.Const(0), y, ir.Const(1), True)
        b.emit(ir.Loop(over, j, (bar,), (ir.Const(1.0),), back.block(ir.Continue((new,))), (bar1,)))
        return bar1

    check(build(body, ir.FLOAT, ir.INT), 1.1, 3)


def test_accumulators() -> None:
    array = vector(written=True)

    def body(b: Builder, x: ir.Var) -> Any:
        bar = ir.Var("x_bar", array)
        b.emit(ir.Call((bar,), np.zeros_like, (x,)))
        i = ir.Var("i", ir.INT)
        inner = b.nested()
        item = inner.load(x, ir.Subscript((i,)), ir.FLOAT)
        inner.store(bar, ir.Subscript((i,)), inner.call(math.cos, item), "add")
        inner.store(bar, ir.Subscript((ir.Const(0),)), item, "sub")
        b.emit(ir.Loop(ir.Range(ir.Const(0), ir.Const(3), ir.Const(1)), i, (), (), inner.block(ir.Continue(())), ()))
        return bar

    check(build(body, vector()), np.array([1.0, 2.0, 3.0]))


def test_results_keep_their_order() -> None:
    function = build(lambda b, x, y: (x, y), ir.FLOAT, ir.FLOAT)
    assert run(derivative(function, (1,), (1, 0)), 1.0, 2.0, 3.0) == (1.0, 2.0, 3.0, 0.0)


# Forward over reverse


def polynomial(b: Builder, x: ir.Var, y: ir.Var) -> Any:
    t = b.call(operator.mul, b.call(math.sin, x), y)
    return b.call(operator.mul, loop_over_range(b, ir.Const(3), t), y)  # type: ignore[arg-type]


def running_product(b: Builder, x: ir.Var, y: ir.Var) -> Any:
    u, i, result = ir.Var("u", ir.FLOAT), ir.Var("i", ir.INT), ir.Var("u", ir.FLOAT)
    inner = b.nested()
    item = inner.load(x, ir.Subscript((i,)), ir.FLOAT)
    new = inner.call(operator.mul, u, inner.call(operator.mul, item, u))
    far, on = inner.nested(), inner.nested()
    cond = inner.call(operator.gt, new, ir.Const(1e6))
    loop_body = inner.block(ir.Branch(cond, far.block(ir.Exit(1, (new,))), on.block(ir.Continue((new,)))))
    b.emit(ir.Loop(ir.Range(ir.Const(0), ir.Const(3), ir.Const(1)), i, (u,), (y,), loop_body, (result,)))
    return result


def in_place(b: Builder, x: ir.Var, y: ir.Var) -> Any:
    out = ir.Var("out", vector(written=True))
    b.emit(ir.Call((out,), operator.mul, (x, y)))
    i = ir.Var("i", ir.INT)
    inner = b.nested()
    before = inner.load(out, ir.Subscript((inner.call(operator.sub, i, ir.Const(1)),)), ir.FLOAT)
    inner.store(
        out, ir.Subscript((i,)), inner.call(operator.mul, before, inner.load(out, ir.Subscript((i,)), ir.FLOAT))
    )
    b.emit(ir.Loop(ir.Range(ir.Const(1), ir.Const(3), ir.Const(1)), i, (), (), inner.block(ir.Continue(())), ()))
    return b.load(out, index(2), ir.FLOAT)


def recursive(b: Builder, x: ir.Var, y: ir.Var) -> Any:
    t = ir.Var("t", ir.FLOAT)
    b.emit(ir.Call((t,), power_definition(), (x, ir.Const(3))))
    return b.call(operator.mul, t, b.call(operator.mul, y, y))


PROGRAMS: list[tuple[Make, ir.Type, Any]] = [
    (polynomial, ir.FLOAT, 0.8),
    (running_product, vector(), np.array([1.1, 1.2, 0.9])),
    (in_place, vector(), np.array([1.1, 1.2, 0.9])),
    (recursive, ir.FLOAT, 1.2),
]


def gradient_of(function: ir.Function) -> ir.Function:
    """The value and gradient of a function of two parameters, called by name, and a product of them."""
    type_ = function.params[0].type

    def body(b: Builder, x: ir.Var, y: ir.Var) -> Any:
        value, x_bar, y_bar = (
            ir.Var(hint, t) for hint, t in (("value", ir.FLOAT), ("x_bar", type_), ("y_bar", ir.FLOAT))
        )
        seed = b.call(operator.mul, y, ir.Const(2.0))
        b.emit(ir.Call((value, x_bar, y_bar), ir.Derived(function, (0, 1), (0,)), (x, y, seed)))
        return x_bar, y_bar, b.call(operator.mul, value, y_bar)

    return build(body, type_, ir.FLOAT)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(("body", "type_", "x"), PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_forward_over_reverse(body: Make, type_: ir.Type, x: Any, keep: bool) -> None:
    from adjoint.differentiation.reverse import expand, reverse

    function = build(body, type_, ir.FLOAT)
    result = forward(gradient_of(function), (0, 1), (0, 1, 2), keep_derived=keep)
    verify(result)
    kept = [s for s in result.body.statements if isinstance(s, ir.Call) and isinstance(s.callee, ir.Derived)]
    assert len(kept) == keep
    rng = np.random.default_rng(3)
    dots = direction(x, rng), 0.7
    found = run(expand(result), x, 1.3, *dots)[3:]
    plain = reverse(function, (0, 1), (0,))

    def at(h: float) -> np.ndarray:
        y = 1.3 + h * dots[1]
        value, x_bar, y_bar = run(plain, x + h * dots[0], y, 2.0 * y)
        return flat([x_bar, y_bar, value * y_bar])

    expected = (at(1e-5) - at(-1e-5)) / 2e-5
    assert np.allclose(flat(list(found)), expected, rtol=1e-6, atol=1e-7)


def test_a_kept_derivative_whose_seed_alone_varies() -> None:
    from adjoint.differentiation.reverse import expand

    function = build(polynomial, ir.FLOAT, ir.FLOAT)

    def body(b: Builder, x: ir.Var) -> Any:
        targets = value, x_bar = ir.Var("value", ir.FLOAT), ir.Var("x_bar", ir.FLOAT)
        b.emit(ir.Call(targets, ir.Derived(function, (0,), (0,)), (ir.Const(0.8), ir.Const(1.3), x)))
        return b.call(operator.mul, x_bar, value)

    checked = build(body, ir.FLOAT)
    result = expand(forward(checked, (0,), (0,), keep_derived=True))
    slope = run(expand(checked), 1.0)
    assert run(result, 3.0, 0.5) == pytest.approx((3.0 * slope, 0.5 * slope))
