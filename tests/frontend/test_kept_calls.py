"""Functions stay functions where inlining them repeats too much: text grows with its source, and numbers are right."""

import heapq
import math
import re
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.target import ALL_INLINED
from fuzz.inlining import repeating
from sampling import THOROUGH, check_grads


def rhs(u, s, r, b, out):
    out[0] = s * (u[1] - u[0])
    out[1] = u[0] * (r - u[2]) - u[1]
    out[2] = u[0] * u[1] - b * u[2]


def lorenz(s, r, b):
    state = np.array([1.0, 1.0, 1.0])
    k = np.zeros((4, 3))
    for _ in range(8):
        rhs(state, s, r, b, k[0])
        rhs(state + 0.005 * k[0], s, r, b, k[1])
        rhs(state + 0.005 * k[1], s, r, b, k[2])
        rhs(state + 0.01 * k[2], s, r, b, k[3])
        state = state + 0.01 / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
    return np.sum(state)


def piece(x, y):
    if x < 0.1:
        r = x * y
    elif x < 0.2:
        r = x + math.sin(y)
    elif x < 0.3:
        r = x * x - y
    elif x < 0.4:
        r = x * math.exp(y)
    elif x < 0.5:
        r = x / (1 + y * y)
    elif x < 0.6:
        r = x * math.cos(y)
    elif x < 0.7:
        r = math.sqrt(x) * y
    elif x < 0.8:
        r = math.log(x) + y
    elif x < 0.9:
        r = x**3 + y
    else:
        r = x - y * y
    return r


def chain(depth: int, tmp_path: Any) -> Callable[[float], float]:
    """A function that calls one twice that calls one twice, and so on."""
    lines = ["import math", "def f0(x):", "    return math.sin(x) * x"]
    for i in range(1, depth + 1):
        lines += [f"def f{i}(x):", f"    return f{i - 1}(x * 1.1) * 0.5 + f{i - 1}(x + 0.1)"]
    return _made(lines, f"f{depth}", tmp_path)


def calls_of_piece(count: int, tmp_path: Any) -> Callable[[float, float], float]:
    lines = ["def total(x, y):", "    t = 0.0"]
    lines += [f"    t += piece(x * {0.1 * i + 0.05:.3f}, y + {i}.0)" for i in range(count)]
    return _made([*lines, "    return t"], "total", tmp_path, piece=piece)


def _made(lines: list[str], name: str, folder: Any, **known: Any) -> Any:
    file = folder / f"{name}.py"
    file.write_text("\n".join(lines) + "\n")
    names: dict[str, Any] = dict(known)
    exec(compile(file.read_text(), str(file), "exec"), names)
    return names[name]


def lines_of(derivative: Any, *args: Any) -> int:
    return len(ad.source(derivative, *args).splitlines())


# What text grows with


@pytest.mark.parametrize(("depth", "most"), [(8, 40), (12, 56), (20, 88)])
def test_a_chain_of_calls_grows_with_its_source(depth: int, most: int, tmp_path: Any) -> None:
    function = chain(depth, tmp_path)
    assert lines_of(ad.grad(function), 0.3) <= most
    if depth == 8:
        check_grads(function, (0.3,), order=1)


@pytest.mark.parametrize(("count", "most"), [(16, 100), (64, 250)])
def test_calls_of_one_function_grow_by_their_calls(count: int, most: int, tmp_path: Any) -> None:
    function = calls_of_piece(count, tmp_path)
    assert lines_of(ad.grad(function, wrt=(0, 1)), 0.5, 0.3) <= most
    if count == 16:
        check_grads(function, (0.5, 0.3), order=1)


def test_a_right_hand_side_that_writes_stays_a_function() -> None:
    text = ad.source(ad.grad(lorenz, wrt=(0, 1, 2)), 10.0, 28.0, 2.5)
    assert text.count("def rhs") == 2  # itself, and its pullback
    assert len(text.splitlines()) <= 79
    check_grads(lorenz, (10.0, 28.0, 2.5))


def checked_law(x, a):
    if a <= 0:
        raise ValueError("a must be positive")
    total = math.sin(x * a)
    if x > 0.5:
        if a > 5:
            raise ValueError("a is too large")
        total = total * a
    p = x * a + math.sin(total) * a
    q = p * p - math.cos(p) * x
    r = q * x + p / (1.0 + a * a)
    s = math.exp(-r * r) * q + x
    return s * r + p * q - r / (2.0 + s * s)


def three_checked_laws(x, a):
    y = x + 0.1 * checked_law(x, a)
    y = y + 0.1 * checked_law(y, 0.9 * a)
    return y * checked_law(y, 1.1 * a)


def test_what_raises_is_pulled_back_as_what_returned() -> None:
    derivative = ad.grad(three_checked_laws, wrt=(0, 1))
    text = ad.source(derivative, 0.3, 0.8)
    assert text.count("must be positive") == 1  # in the function itself, not in its pullback
    assert "def checked_law(x, a):" in text
    for x in (0.3, 0.7):
        check_grads(three_checked_laws, (x, 0.8))
    with pytest.raises(ValueError, match="a must be positive"):
        derivative(0.3, -1.0)
    with pytest.raises(ValueError, match="a is too large"):
        derivative(0.7, 5.5)


def test_a_function_of_the_text_is_printed_alone() -> None:
    derivative = ad.grad(lorenz, wrt=(0, 1, 2))
    derivative(10.0, 28.0, 2.5)
    text = ad.source(derivative, "rhs_pullback")
    assert text.startswith("def rhs_pullback(u, s, r, b, out_bar):")
    assert text in ad.source(derivative)
    with pytest.raises(ad.DifferentiationError) as refused:
        ad.source(derivative, "rhs_pullbak")
    assert str(refused.value).startswith("error[AD0106]: no function 'rhs_pullbak' in the text of this derivative")
    assert "help: did you mean 'rhs_pullback'?" in str(refused.value)
    assert "help: there are 'lorenz_grad', 'rhs', 'rhs_pullback'" in str(refused.value)


def test_a_pullback_reads_what_the_caller_has() -> None:
    """Nothing is kept of what the caller has at hand: a function with that alone has no primal."""

    def smoothed(v, w):
        a = v * w
        b = np.tanh(a) + w
        c = np.tanh(b) - v
        d = np.tanh(c) * a
        e = np.tanh(d) + b
        f = np.tanh(e) * c
        g = np.tanh(f) + d
        return g * w

    def nested(v, w):
        return smoothed(smoothed(v, w), w)

    def total(x, w):
        y = nested(nested(x, w), 0.5 * w)
        z = nested(nested(y, w), 2.0 * w)
        return np.sum(y * z)

    x, w = np.array([0.3, -0.8, 1.2]), 0.9
    text = ad.source(ad.grad(total, wrt=(0, 1)), x, w)
    assert "def nested_adjoint(v, w, kept, out_bar):" in text or "def smoothed_adjoint(v, w, kept, out_bar):" in text
    check_grads(total, (x, w))


def test_a_pullback_that_is_called_later_reads_copies() -> None:
    def product(v, w):
        a = v * w + w
        b = np.tanh(a) * v
        c = np.tanh(b) + w
        d = np.tanh(c) * a
        e = np.tanh(d) + b
        f = np.tanh(e) * c
        return f * v + np.sin(w)

    def total(x, y):
        return product(product(x, y), product(y, x)) + product(x + y, product(x, x))

    x, y, seed = np.array([0.3, -0.8]), np.array([0.7, 0.2]), np.array([1.0, 0.5])
    expected = ad.vjp(total, x.copy(), y.copy())[1](seed)
    value, pullback = ad.vjp(total, x, y)
    x[:], y[:], value[:] = 7.0, 8.0, 9.0
    np.testing.assert_array_equal(pullback(seed), expected)
    np.testing.assert_array_equal(pullback(seed), expected)


def test_stages_tell_what_stays_a_function() -> None:
    text = ad.stages(ad.grad(lorenz, wrt=(0, 1, 2)), 10.0, 28.0, 2.5)
    assert "rhs stays a function: 2 calls of it, inlined, took " in text
    attempts = int(text.split("lowering was started ")[1].split()[0])
    assert 1 < attempts <= 6


def test_one_call_in_a_loop_is_inlined() -> None:
    def euler(s, r, b):
        state, k = np.array([1.0, 1.0, 1.0]), np.zeros(3)
        for _ in range(50):
            rhs(state, s, r, b, k)
            state = state + 0.01 * k
        return np.sum(state)

    assert "rhs" not in ad.source(ad.grad(euler, wrt=(0, 1, 2)), 10.0, 28.0, 2.5)


def test_no_statement_runs_more_than_twice(tmp_path: Any) -> None:
    """However deep the calls are: a pullback that runs its function again is one of a function that calls no other."""
    function = chain(7, tmp_path)
    derivative = ad.grad(function)
    derivative(0.3)
    assert _sines(lambda: derivative(0.3)) <= 2 * _sines(lambda: function(0.3))


def _sines(run: Callable[[], object]) -> int:
    count = 0

    def note(frame: object, event: str, callee: object) -> None:
        nonlocal count
        count += event == "c_call" and callee is math.sin

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


# Programs in which a function is called with what makes it hard to call


def scaled(v, factor, out):
    """Long enough to stay a function."""
    for i in range(len(v)):
        t = v[i] * factor
        u = math.sin(t) + 0.1 * t
        w = math.cos(u) * 0.5
        out[i] = 0.3 * t + u * w
    return out


def norm_of(v):
    s = 0.0
    for x in v:
        a = x * x
        b = math.sqrt(a + 1.0)
        c = b * x + math.sin(a)
        d = c * 0.5 + a
        s += d * math.cos(b)
    return s


def written_and_read(x):
    a, b, c = np.zeros(3), np.zeros(3), np.zeros(3)
    scaled(x, 2.0, a)
    scaled(a, 0.5, b)
    scaled(b, 1.5, c)
    a[0] = 7.0
    scaled(c, 1.1, a)
    return norm_of(a) + norm_of(b) * norm_of(c) + norm_of(x)


def overlapping(x):
    """What is written lies beside, or over, what is read."""
    buffer = np.zeros(6)
    buffer[:3] = x
    scaled(buffer[:3], 2.0, buffer[3:])
    scaled(buffer[1:4], 0.5, buffer[1:4])
    scaled(buffer[3:], 0.5, buffer[:3])
    scaled(buffer[:3], 1.5, buffer[:3])
    return norm_of(buffer)


def results_written_on(x):
    """The caller writes into what a function returns."""

    def squares(v):
        r = v * v
        s = np.sin(r) + r
        t = s * v - r
        u = np.tanh(t) + np.cos(s)
        return u

    p = squares(x)
    q = squares(p)
    p[0] = 3.0 * q[1]
    r = squares(q + p)
    s = squares(r)
    return np.sum(p * q) + np.sum(s)


def arguments_written_later(x):
    """A function reads an array that is written behind the call."""
    a = x * 2.0
    t = norm_of(a)
    a[1] = t
    u = norm_of(a)
    a[0] *= u
    v = norm_of(a)
    a[:] = v * x
    return t * u * v + norm_of(a)


def flags(x, y):
    def model(v, bias, squared, kind):
        r = v * 2.0 + bias
        if squared:
            r = r * r
        if kind == "sin":
            r = math.sin(r) * v
        elif kind == "exp":
            r = math.exp(0.1 * r) + v
        t = r * v
        u = t + r * r
        return u * t

    return (
        model(x, y, True, "sin")
        + model(y, x, False, "exp")
        + model(x * y, 1.0, True, "none")
        + model(x, 2.0, False, "sin")
        + model(y, 0.5, True, "exp")
    )


def methods(x, y):
    class Spring:
        def __init__(self, k, rest):
            self.k = k
            self.rest = rest

        def energy(self, p, q):
            d = p - q
            length = math.sqrt(d * d + 0.1)
            stretch = length - self.rest
            damped = stretch * math.exp(-stretch * stretch)
            return 0.5 * self.k * stretch * stretch + damped * length

    a, b = Spring(x, 1.0), Spring(2.0, y)
    return a.energy(x, y) + b.energy(y, x) + a.energy(1.0, x) + b.energy(x * y, 0.3) + a.energy(y, 2.0)


def callbacks(x):
    def simpson(f, a, b):
        h = (b - a) / 2
        m = a + h
        ends = f(a) + f(b)
        middle = f(m)
        correction = (f(a + h / 2) - f(m + h / 2)) * 1e-3
        return h / 3 * (ends + 4 * middle) + correction

    scale = x * x
    return (
        simpson(lambda t: math.sin(t * x), 0.0, 1.0)
        + simpson(lambda t: math.exp(-t * scale), 0.0, x)
        + simpson(math.sin, x, 2.0)
        + simpson(math.sin, 0.0, x)
        + simpson(math.sin, 0.5, x)
    )


def exceptions(x):
    def checked(v):
        if v < 0:
            raise ValueError("negative")
        a = math.sqrt(v) + v
        b = a * a - math.sin(v)
        c = b * v + a
        d = c * 0.5 + math.cos(b)
        return a * b + c * d

    total = 0.0
    for shift in (0.0, 1.0, -5.0, 2.0):
        try:
            total += checked(x + shift) * checked(x + 0.5 * shift)
        except ValueError:
            total += x
    return total + checked(x) * checked(2 * x)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (written_and_read, (np.array([0.3, -0.8, 1.2]),)),
    (overlapping, (np.array([0.3, -0.8, 1.2]),)),
    (results_written_on, (np.array([0.3, -0.8, 0.5]),)),
    (arguments_written_later, (np.array([0.3, -0.8, 1.2]),)),
    (flags, (0.7, 1.2)),
    (methods, (0.7, 1.2)),
    (callbacks, (0.7,)),
    (exceptions, (0.7,)),
]


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=[function.__name__ for function, _ in PROGRAMS])
def test_right_with_calls(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check_grads(function, args)


# Where a selection leaves something out


def rooted(v, w):
    a = np.sqrt(v) * w
    b = a * a + np.cos(w)
    c = np.sin(b) * a
    d = c + b * w
    e = d * np.exp(-b)
    return e + np.where(v > 0, a, 0.0)


def selected_roots(x):
    """The square root of zero is left out: its infinite slope must not be seen."""
    total = 0.0
    for w in (0.5, 1.5):
        kept = np.where(x > 0, rooted(np.where(x > 0, x, 1.0), w), 0.0)
        total += np.sum(kept * np.where(x > 0, np.sqrt(x), 0.0))
    return total + np.sum(np.where(x > 0, rooted(x, 2.5), 0.0)) + np.sum(np.where(x > 0, rooted(x, x), 0.0))


@pytest.mark.parametrize("derive", [ad.grad, ad.hessian], ids=["grad", "hessian"])
def test_what_a_selection_leaves_out_stays_zero_across_calls(derive: Any) -> None:
    x, inside = np.array([0.0, 0.7, -1.0]), np.array([0.7])
    found = derive(selected_roots)(x)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.ravel()[np.nonzero(found.ravel())], derive(selected_roots)(inside).ravel())


def long_root(v, w):
    """Long enough to stay a function."""
    a = np.sqrt(v) * w
    b = a * a + np.cos(w)
    c = np.sin(b) * a
    d = c + b * w
    e = d * np.exp(-b)
    f = np.tanh(e) * c + d
    g = np.sin(f) * np.cos(e) - b
    h = g * f + np.exp(-g * g)
    return e + np.where(v > 0, a, 0.0) + h * np.tanh(g)


def of_long_roots(x):
    total = 0.0
    for w in (0.5, 1.5, 2.5):
        total += np.sum(np.where(x > 0, long_root(np.sqrt(x), w), 0.0))
    return total


def decided_by_a_slope(x):
    if np.sum(ad.grad(of_long_roots)(x)) > -1000.0:
        return x[1] * 2.0
    return x[1] * 5.0


def slope_of_long_roots(x):
    return np.sum(ad.grad(of_long_roots)(x))


def decided_in_a_function(x):
    return x[1] * (2.0 if slope_of_long_roots(x) > -1000.0 else 5.0)


def decided_by_arithmetic(x):
    """A maximum, which takes the other side of what is not a number."""
    return x[1] * max(2.0, slope_of_long_roots(x))


def put_into_place(x):
    found = np.array([0.5, 2.0])
    return x[1] * found[int(slope_of_long_roots(x) > -1000.0)]


DECIDED = [decided_by_a_slope, decided_in_a_function, decided_by_arithmetic, put_into_place]


@pytest.mark.parametrize("function", DECIDED, ids=[function.__name__ for function in DECIDED])
@pytest.mark.parametrize("most", [0, *([None] if THOROUGH else [])], ids=str)
def test_nothing_is_decided_by_a_slope_that_a_selection_should_have_left_out(function: Any, most: int | None) -> None:
    x = np.array([0.0, 0.7, -1.0])
    with np.errstate(all="ignore"):
        with repeating(ALL_INLINED):
            expected = ad.value_and_grad(function)(x)
        with repeating(most):
            assert "def long_root_adjoint" in ad.source(ad.grad(function), x)
            found = [ad.value_and_grad(function)(x), (ad.vjp(function, x)[0], ad.vjp(function, x)[1](1.0)[0])]
            value, tangent = ad.jvp(function, (x,), (np.ones(3),))
    for given in (*found, (value, expected[1])):
        assert given[0] == pytest.approx(expected[0]) == pytest.approx(function(x))
        np.testing.assert_allclose(given[1], expected[1])
    assert tangent == pytest.approx(np.sum(expected[1]))


def test_a_pullback_keeps_calls_of_what_has_infinite_slopes(tmp_path: Any) -> None:
    x = np.array([0.0, 0.7, -1.0])
    with np.errstate(all="ignore"):
        pullback = ad.vjp(of_long_roots, x)[1]
        assert "def long_root_adjoint(w, kept, out_bar, support):" in ad.source(pullback)
        np.testing.assert_allclose(pullback(1.0)[0], ad.grad(of_long_roots)(x))
    function = calls_of_piece(64, tmp_path)
    pullback = ad.vjp(function, 0.5, 0.3)[1]
    assert len(ad.source(pullback).splitlines()) <= 130
    np.testing.assert_allclose(pullback(1.0), ad.grad(function, wrt=(0, 1))(0.5, 0.3))


def test_a_derivative_that_writes_its_arguments_runs_once() -> None:
    def divided(v, out):
        a = np.sqrt(v[0]) + v[1]
        b = a * a - v[0] * v[1]
        c = b / (1.0 + a * a)
        d = c * a + b
        out[0] += d
        out[1] += c * d
        return a + b * c + d

    def total(v, out):
        return divided(v, out) + divided(2 * v, out) + divided(3 * v, out) + divided(v * v, out)

    v, plain, derived = np.array([0.0, 0.5]), np.zeros(2), np.zeros(2)
    total(v, plain)
    with np.errstate(all="ignore"):
        ad.grad(total)(v, derived)
    np.testing.assert_array_equal(derived, plain)
    assert "def divided" in ad.source(ad.grad(total), v, plain)


def test_a_recursive_function_that_returns_an_iterator_is_refused() -> None:
    def ends(v, depth):
        if depth == 0:
            return iter([v, 2 * v])
        return ends(v * v, depth - 1)

    def total(v, depth):
        return sum(ends(v, depth))

    with pytest.raises(ad.DifferentiationError, match="returns a function or an iterator over what it has computed"):
        ad.grad(total)(0.5, 3)


def resumed(x):
    def updates(a):
        for i in range(len(a)):
            a[i] *= 2.0
            yield a[i]

    def pairs(y):
        while True:
            y = y * 0.5
            yield y, y * y

    a = x.copy()
    it, others = updates(a), pairs(x[0] * x[1])
    first = next(it)
    a[1] = a[0] * a[1]
    rest = next(others)[1]
    for v in it:
        b, c = next(others)
        rest += v * first * b + c
    return rest + np.sum(a)


class Account:
    """Its first attributes hold no float when it is made, and one is not there."""

    def __init__(self):
        self.total = 0
        self.log = []


def deposit(account, v):
    account.last = v * v
    account.log.append(np.sin(v) * account.last)
    if v > 0.6:
        account.total = account.total + v * account.log[-1]
    return account.total * 2.0 + account.last


def accounts(xs, n):
    made = []
    for i in range(n):
        made.append(Account())
    s = 0.0
    for i in range(n):
        for x in xs:
            s = s + deposit(made[i], x * (i + 1))
        s = s * made[i].last
    return s + made[0].total * made[1].total


@pytest.mark.parametrize(("f", "args"), [(resumed, (np.array([0.3, 0.8, -0.4]),)), (accounts, ([0.5, 0.7], 2))])
@pytest.mark.parametrize("statements", [0, None])
def test_attributes_without_a_float_at_first_take_cotangents(f, args, statements):
    """Shadows of objects that are handed to calls are made beside them, when nothing may lie in an attribute yet."""
    with repeating(statements):
        check_grads(f, args)


class Reading(NamedTuple):
    count: int
    value: float


def with_value(reading, value):
    return Reading(reading.count + 1, value * value)


def readings(x):
    made = [Reading(i, v * v) for i, v in enumerate(x)]
    for i in range(len(made)):
        made[i] = with_value(made[i], x[i])
    made.append(with_value(made[0], x[2]))
    return made[0].value * made[3].value + made[1].value * made[2].count


class Money:
    def __init__(self, amount, unit):
        self.amount, self.unit = amount, unit

    def __lt__(self, other):
        return self.amount < other.amount

    def __radd__(self, other):
        return self.amount + other


def total_and_least(x):
    made = [Money(x, "eur"), Money(x * x, "usd")]
    return sum(made) * sorted(made)[0].amount


def delegated(x):
    def values():
        given = yield from [x, 2 * x]
        yield 5.0 * x if given is None else 0.0
        yield from (x * i for i in range(3))

    it = values()
    return next(it) * next(it) + next(it) * sum(it)


def columns(x, n):
    rows = [(x[i], x[i] ** 2, i) for i in range(n)]
    total = 0.0
    for column in zip(*rows):
        total += sum(column) ** 2
    return total


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (readings, (np.array([0.3, 0.4, 0.5]),)),
        (total_and_least, (0.4,)),
        (delegated, (0.7,)),
        (columns, (np.array([0.5, 1.2, 2.3]), 3)),
    ],
)
def test_what_works_inlined_works_with_calls(f, args):
    """References through which nothing flows, text beside numbers, linked objects, columns of rows."""
    with repeating(0):
        check_grads(f, args, order=2)


def damped(u, k):
    r = u * k
    for _ in range(3):
        r = math.sin(r) * k + u
    return r


def twice_damped(x):
    return damped(damped(x, 1.5), x)


def test_adjoints_are_named_by_what_they_are_taken_with_respect_to() -> None:
    with repeating(0):
        text = ad.source(ad.grad(twice_damped), 0.7)
        check_grads(twice_damped, (0.7,), order=2)

    assert re.findall(r"def (\w+_adjoint\w*)", text) == ["damped_adjoint", "damped_adjoint_wrt_u"]


def heap_sorted(xs):
    heap = []
    for x in xs:
        heapq.heappush(heap, x * x)
    first, second = heapq.heappop(heap), heapq.heappop(heap)
    return first + 2.0 * second + 3.0 * heapq.heappop(heap) * heap[0]


def test_machine_code_inlines_longer_what_is_handed_lists() -> None:
    """It has no form for the lists of a function that stays one here."""
    pytest.importorskip("llvmlite")
    x = np.array([0.7, -1.2, 2.1, 0.4, 0.9])
    assert "def pop_adjoint" in ad.source(ad.grad(heap_sorted), x)
    np.testing.assert_allclose(ad.grad(heap_sorted, native="strict")(x), ad.grad(heap_sorted)(x), rtol=1e-13)
