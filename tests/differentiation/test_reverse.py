"""Reverse mode against differences."""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adjoint import ir
from adjoint.diagnostics.errors import DifferentiationError
from adjoint.differentiation.forward import tangent_rules
from adjoint.differentiation.reverse import expand, reverse, split
from adjoint.differentiation.reverse.calls import calls
from adjoint.ir.builder import Builder
from adjoint.ir.verifier import verify
from adjoint.rules.typing import type_of_call
from differentiation.small import small
from differentiation.tracing import Tracer, splice
from ir.interpreter import run

DOUBLE = np.dtype(np.float64)
VECTOR = ir.Array(DOUBLE, ("many",))
MATRIX = ir.Array(DOUBLE, ("many", "many"))


def written(*dims: Any) -> ir.Array:
    return ir.Array(DOUBLE, dims or ("many",), ir.Storage(written=True))


@pytest.fixture(autouse=True)
def own_splice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "splice", splice)
    emit = Tracer.emit

    def without_none(self: Tracer, callee: Any, *args: Any, **kwargs: Any) -> Tracer:
        given = [Tracer(self.builder, ir.Const(None)) if arg is None else arg for arg in args]
        return emit(self, callee, *given, **kwargs)

    monkeypatch.setattr(Tracer, "emit", without_none)
    monkeypatch.setattr(Tracer, "T", property(lambda tracer: tracer.emit(np.transpose, tracer)), raising=False)


def fresh(args: tuple[Any, ...]) -> list[Any]:
    return [arg.copy() if isinstance(arg, (np.ndarray, list)) else arg for arg in args]


def differences(fn: Callable[..., float], args: tuple[Any, ...], place: int) -> Any:
    step = 1e-6
    x = np.asarray(args[place], dtype=float)
    found = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        values = []
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * step
            given = fresh(args)
            like = args[place]
            given[place] = moved if isinstance(like, np.ndarray) else moved.tolist()
            values.append(fn(*given))
        found[index] = (values[0] - values[1]) / (2 * step)
    return found


def check(fn: Callable[..., float], *args: Any, types: tuple[ir.Type, ...] | None = None) -> None:
    """Both forms of the reverse derivative against differences, and the pullback twice."""
    kinds = types or tuple(map(type_of, args))
    function = small(fn, *kinds)
    verify(function, "small")
    wrt = tuple(place for place, kind in enumerate(kinds) if kind is not ir.INT)
    joined = reverse(function, wrt, (0,))
    verify(joined, "reverse")
    value, *found = run(joined, *fresh(args), 1.5)
    np.testing.assert_allclose(value, fn(*fresh(args)))
    expected = [1.5 * differences(fn, args, place) for place in wrt]
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(mine, float), theirs, rtol=1e-6, atol=1e-7)
    halves = split(function, wrt, (0,))
    verify(halves.primal, "split: primal")
    verify(halves.adjoint, "split: adjoint")
    given = fresh(args)
    outcome = run(halves.primal, *given)
    outcome = outcome if isinstance(outcome, tuple) else (outcome,)
    residuals = outcome[len(outcome) - len(halves.residuals) :]
    for arg in given:
        if isinstance(arg, np.ndarray):
            arg[...] = np.nan
    for _ in range(2):
        cotangents = run(halves.adjoint, *residuals, 1.5)
        cotangents = cotangents if len(wrt) != 1 else (cotangents,)
        for mine, theirs in zip(cotangents, expected, strict=True):
            np.testing.assert_allclose(np.asarray(mine, float), theirs, rtol=1e-6, atol=1e-7)


def type_of(arg: Any) -> ir.Type:
    match arg:
        case int():
            return ir.INT
        case float():
            return ir.FLOAT
        case np.ndarray():
            return ir.Array(arg.dtype, tuple("many" for _ in arg.shape))
        case list():
            return ir.List(ir.FLOAT, ir.Storage(written=True))
    raise NotImplementedError


rng = np.random.default_rng(0)
X, W, M = rng.normal(size=5), rng.normal(size=5), rng.normal(size=(5, 5)) / 3


def damped(x, k):
    e = math.exp(-k * x)
    return e * math.sin(x)


def huber(r, delta):
    a = abs(r)
    if a <= delta:
        loss = 0.5 * r * r
    else:
        loss = delta * (a - 0.5 * delta)
    return loss


def early(x, y):
    z = x * y
    if z > 1.0:
        return z * z
    w = z + x
    if w > 0.5:
        return w * y
    return x - w


def energy(x, w):
    total = 0.0
    for i in range(len(x)):
        d = x[i] - w[i]
        if d > 0:
            total += d * d
        else:
            total -= d
    return total


def logistic(y, r, n):
    for _ in range(n):
        y = r * y * (1.0 - y)
    return y


def newton(a, x):
    while True:
        step = (x * x - a) / (2.0 * x)
        x = x - step
        if abs(step) < 1e-12:
            return x


def halving(x, k):
    n = 0
    while x > 0.1:
        x = x * k * math.cos(x)
        n = n + 1
    return x


def leaving(x, w, bound):
    total = 0.0
    for i in range(len(x)):
        t = x[i] * w[i]
        if t > bound:
            break
        total = total + t * total + t
    return total * total


def returning(x, bound):
    product = 1.0
    for i in range(len(x)):
        product = product * (x[i] + 2.0)
        if product > bound:
            return product * x[i]
    return product


def continuing(x, k):
    total = k
    for i in range(len(x)):
        if x[i] < 0.0:
            continue
        total = total * x[i] + k
    return total


def swaps(a, b, n):
    for i in range(n):
        a, b = b * a, a + math.sin(b)
    return a * b


def products(x):
    p = 1.0
    for i in range(1, len(x)):
        p = p * x[i] * x[i - 1]
    return p


def nested(x, k):
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        while y > 0.2:
            y = y * k
            if y > 3.0:
                break
            total = total + y * y
        total = total * k + y
    return total


def triangle(x, n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            total = total + total * x[i] * x[j] * 0.1 + x[j]
    return total


def stepped(x, k):
    total = k
    for i in range(4, 0, -2):
        total = math.sin(total * x[i])
    return total


def phis(x, n):
    a = x
    for i in range(n):
        if a > 0.5:
            b = a * 0.5
            c = b * b
        else:
            b = a + 0.3
            c = a
        a = b * c + a * x
    return a


def arrays(m, x, n):
    for i in range(n):
        x = np.tanh(m @ x)
    return np.sum(x * x)


def branch_of_arrays(x, w, k):
    if k > 0.0:
        y = x * w
    else:
        y = x
    return np.sum(y * k)


def rows(m, k):
    total = 0.0
    for i in range(3):
        row = m[i]
        for j in range(3):
            total = total + row[j] * row[j] * k
        total = total + np.sum(row)
    return total


def slices(x):
    y = x[1:]
    z = x[:-1]
    return np.sum(y * z) + x[0]


def appends(x, k):
    xs = []
    for i in range(len(x)):
        xs.append(x[i] * k)
    total = 0.0
    for i in range(len(x)):
        total = total + xs[i] * xs[i]
    return total


def stack(x):
    xs = []
    total = 1.0
    for i in range(len(x)):
        xs.append(x[i] * total)
        if x[i] > 0.0:
            total = total * xs.pop()
    while len(xs) > 1:
        total = total + xs.pop() * xs[0]
    return total


def smooth(u, c):
    v = np.copy(u)
    for i in range(1, len(v)):
        v[i] = v[i] + c * v[i - 1] * v[i]
    return v @ v


def in_place(u, c):
    for i in range(1, len(u)):
        u[i] = u[i] * u[i - 1] * c
    return np.sum(u)


def buffer(x, n):
    total = 0.0
    for k in range(n):
        b = np.zeros_like(x)
        for i in range(len(x)):
            b[i] = x[i] * total + 1.0
            b[i] += x[i]
        total = total + np.sum(b * b) * 0.1
    return total


def read_then_written(x):
    v = x * 1.0
    y = np.sin(v)
    v[0] = 3.0
    v[1:3] = y[2:4]
    return np.sum(v * y)


def recursive(x, n):
    if n == 0:
        return x
    return math.sin(x * recursive(x * 0.9, n - 1))


def recursive_loop(x, n):
    total = x
    for i in range(n):
        total = total + recursive_loop(x * total * 0.3, n - 1) * total
    return total


def list_argument(xs):
    total = 0.0
    for i in range(3):
        total = total + xs[i] * total + xs[i]
    return total


def swapped_buffers(x, n):
    a = np.copy(x)
    b = np.zeros_like(x)
    a[0] = a[0] * 2.0
    b[0] = 1.0
    for k in range(n):
        for i in range(1, len(x)):
            b[i] = a[i] * a[i - 1]
        a, b = b, a
    return np.sum(a)


CASES: list[tuple[Callable[..., float], tuple[Any, ...]]] = [
    (damped, (0.7, 0.3)),
    (huber, (0.4, 1.0)),
    (huber, (-2.0, 1.0)),
    (early, (2.0, 3.0)),
    (early, (0.5, 0.9)),
    (early, (-0.5, 0.9)),
    (energy, (X, W)),
    (logistic, (0.3, 3.1, 8)),
    (logistic, (0.3, 3.1, 0)),
    (newton, (2.0, 1.0)),
    (halving, (3.0, 0.9)),
    (leaving, (X, W, 0.1)),
    (leaving, (X, W, 100.0)),
    (returning, (X, 3.0)),
    (returning, (X, 1e9)),
    (continuing, (X, 0.7)),
    (swaps, (0.7, 1.2, 5)),
    (products, (X,)),
    (nested, (np.abs(X) + 0.5, 0.8)),
    (nested, (np.abs(X) + 0.5, 1.7)),
    (triangle, (X, 4)),
    (stepped, (X, 0.4)),
    (phis, (0.8, 6)),
    (arrays, (M, X, 3)),
    (branch_of_arrays, (X, W, 0.5)),
    (branch_of_arrays, (X, W, -0.5)),
    (rows, (M, 0.5)),
    (slices, (X,)),
    (appends, (X, 0.5)),
    (stack, (X,)),
    (smooth, (X, 0.3)),
    (buffer, (X, 3)),
    (read_then_written, (X,)),
    (recursive, (0.8, 4)),
    (recursive_loop, (0.4, 3)),
    (list_argument, ([0.3, 0.5, 0.7],)),
    (swapped_buffers, (X, 3)),
]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_against_differences(fn: Callable[..., float], args: tuple[Any, ...]) -> None:
    check(fn, *args)


def test_written_argument() -> None:
    check(in_place, X, 0.9, types=(written(), ir.FLOAT))


def reshaped(x):
    m = np.zeros_like(x)
    m[0] = x[0] * 2.0
    t = np.transpose(m)
    r = np.ravel(t)
    for i in range(4):
        r[i] = r[i] + x[1, 1] * x[0, 1]
    q = np.ravel(m)
    q[1] = q[2] * x[1, 0]
    return np.sum(m * m) + np.sum(r * t[0, 1]) + q[1]


def test_views_and_copies_of_written_memory() -> None:
    check(reshaped, rng.normal(size=(2, 2)))


def gathers(x, index):
    y = x[index]
    z = np.zeros_like(x)
    z[0] = 1.0
    w = z[index]
    z[1] = w[0] * y[1]
    return np.sum(y * y) + z[1] * y[2]


def test_gather() -> None:
    order = np.array([0, 2, 2, 1])
    function = small(gathers, VECTOR, ir.Array(order.dtype, ("many",)))
    joined = reverse(function, (0,), (0,))
    verify(joined, "reverse")
    _, found = run(joined, X, order, 1.0)
    np.testing.assert_allclose(found, differences(gathers, (X, order), 0), rtol=1e-6, atol=1e-8)


def scatters(x, index):
    y = np.zeros_like(x)
    y[index] = x
    return np.sum(y * y)


def test_of_stores_to_one_place_the_last_counts() -> None:
    function = small(scatters, VECTOR, ir.Array(np.dtype(int), ("many",)))
    joined = reverse(function, (0,), (0,))
    order = np.array([2, 0, 2, 2, 1])
    verify(joined, "reverse")
    _, found = run(joined, X, order, 1.0)
    np.testing.assert_allclose(found, differences(scatters, (X, order), 0), rtol=1e-6, atol=1e-8)


def test_opaque_calls_are_refused() -> None:
    x, y, z = (ir.Var(hint, ir.FLOAT) for hint in "xyz")
    hidden = (lambda x: x), (lambda x: x)
    statements = tuple(ir.Call((target,), fn, (arg,)) for target, fn, arg in zip((y, z), hidden, (x, y), strict=True))
    with pytest.raises(DifferentiationError, match="AD0201") as caught:
        reverse(ir.Function("f", (x,), ir.Block(statements, ir.Return((z,)))), (0,), (0,))
    assert len(caught.value.diagnostics) in (1, 2)


def cubic(x, k):
    y = k
    for i in range(3):
        y = y * x + math.sin(y)
    return y * y


def derived(function: ir.Function, times: int) -> ir.Function:
    """The derivative of a function with respect to its first parameter, by name, so many times."""
    for _ in range(times):
        builder = Builder(type_of_call)
        params = tuple(ir.Var(param.hint, param.type) for param in function.params)
        value, slope = ir.Var("y", ir.FLOAT), ir.Var("x_bar", ir.FLOAT)
        builder.emit(ir.Call((value, slope), ir.Derived(function, (0,), (0,)), (*params, ir.Const(1.0))))
        function = ir.Function("slope", params, builder.block(ir.Return((slope,))))
    return function


@pytest.mark.parametrize("times", [1, 2, 3])
def test_derivatives_of_derivatives(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tangent_rules, "splice", splice)
    function = small(cubic, ir.FLOAT, ir.FLOAT)
    lower = expand(derived(function, times - 1))
    joined = expand(reverse(derived(function, times - 1), (0, 1), (0,)))
    verify(joined, "reverse")
    _, *found = run(joined, 0.6, 0.8, 1.0)
    for place in (0, 1):
        theirs = differences(lambda *args: run(lower, *args), (0.6, 0.8), place)
        np.testing.assert_allclose(found[place], theirs, rtol=1e-5)


def with_context(x, y):
    return x * y


def test_the_body_of_a_with_statement() -> None:
    x, y, t, u, result = (ir.Var(hint, ir.FLOAT) for hint in "xytur")
    inner = Builder(type_of_call)
    inner.emit(ir.Call((t,), math.sin, (x,)))
    inner.emit(ir.Call((u,), operator.mul, (t, y)))
    body = inner.block(ir.Yield((u,)))
    guarded = ir.Guarded(ir.Const(contextlib.nullcontext()), None, body, (), None, (result,))
    function = ir.Function("f", (x, y), ir.Block((guarded,), ir.Return((result,))))
    joined = reverse(function, (0, 1), (0,))
    verify(joined, "reverse")
    np.testing.assert_allclose(run(joined, 0.3, 0.4, 1.0)[1:], [math.cos(0.3) * 0.4, math.sin(0.3)])


class Point:
    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y


def test_attributes_of_an_object() -> None:
    def body(p, k):
        p.x = p.x * p.y * k
        p.y = p.x + p.y * p.x
        return p.x * p.y

    def value(x, y, k):
        return body(Point(x, y), k)

    for storage in (ir.Storage(written=True),):
        kind = ir.Instance(Point, {"x": ir.FLOAT, "y": ir.FLOAT}, storage)
        joined = reverse(small(body, kind, ir.FLOAT), (0, 1), (0,))
        verify(joined, "reverse")
        _, shadow, slope = run(joined, Point(0.3, 0.4), 0.7, 1.0)
        theirs = [differences(value, (0.3, 0.4, 0.7), place) for place in range(3)]
        np.testing.assert_allclose([shadow.x, shadow.y, slope], theirs, rtol=1e-6)


def pairs(x, k):
    p = (x, k)
    t = (p, x * k)
    q = t[0]
    return q[0] * q[1] * t[1] + p[0]


def grown_rows(x, k):
    rows = [np.copy(x)]
    for i in range(2):
        rows.append(rows[i] * k)
    total = 0.0
    for i in range(3):
        row = rows[i]
        for j in range(len(x)):
            total = total + row[j] * row[j] * total + row[j]
    return total


def written_rows(x, k):
    a = np.copy(x)
    a[0] = a[1] * k
    rows = [a]
    b = np.zeros_like(x)
    b[0] = k
    rows.append(b)
    row = rows[1]
    row[1] = a[0] * x[2]
    a[2] = row[1] * row[0]
    last = rows.pop()
    return np.sum(last * a) + rows[0][2]


@pytest.mark.parametrize("fn", [pairs, grown_rows, written_rows], ids=lambda fn: fn.__name__)
def test_references_in_containers(fn: Callable[..., float]) -> None:
    check(fn, *((0.3, 0.6) if fn is pairs else (X, 0.6)))
