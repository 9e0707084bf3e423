"""Numbers, flags and texts that a function assigns to variables that outlive the call: as often as the program does."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused

X = np.array([1.0, 2.0, 3.0])
CALLS = 0
SCALE: Any = 1.0
FLAG = False
NOTE: Any = None


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    reset()
    yield


def counted(x):
    global CALLS
    CALLS += 1
    return x * x


def weighted(x):
    global CALLS
    CALLS = CALLS + 1
    return np.sum(x * x * CALLS)


def tick():
    global CALLS
    CALLS += 1
    return CALLS


def state() -> tuple[Any, ...]:
    return CALLS, SCALE, FLAG, NOTE


def reset() -> None:
    global CALLS, SCALE, FLAG, NOTE
    CALLS, SCALE, FLAG, NOTE = 0, 1.0, False, None


def same(f: Callable[[float], float], x: float = 3.0) -> None:
    """Checks that three derivatives leave what three calls do; each is linear, with a factor of its own."""
    reset()
    expected = [(f(x), state()) for _ in range(3)]
    for derive in (_by_grad, _by_jvp, _by_vjp):
        reset()
        for value, left in expected:
            assert derive(f, x) == (pytest.approx(value), pytest.approx(value / x))
            assert state() == left


def _by_grad(f: Callable[[float], float], x: float) -> tuple[float, float]:
    return ad.value_and_grad(f)(x)


def _by_jvp(f: Callable[[float], float], x: float) -> tuple[float, float]:
    return ad.jvp(f, (x,), (1.0,))


def _by_vjp(f: Callable[[float], float], x: float) -> tuple[float, float]:
    value, pullback = ad.vjp(f, x)
    return value, pullback(1.0)[0]


def test_a_counter_counts_calls_of_the_derivative() -> None:
    assert [ad.grad(counted)(3.0) for _ in range(3)] == [6.0, 6.0, 6.0]
    assert CALLS == 3


def test_what_was_written_is_read_by_the_same_call_and_by_the_next() -> None:
    assert [ad.grad(weighted)(3.0) for _ in range(3)] == [6.0, 12.0, 18.0]
    assert CALLS == 3


def test_each_operator_evaluates_the_function_once() -> None:
    global CALLS
    value, pullback = ad.vjp(weighted, 3.0)
    assert (value, pullback(1.0), pullback(1.0), CALLS) == (9.0, (6.0,), (6.0,), 1)
    assert ad.jvp(weighted, (3.0,), (1.0,)) == (18.0, 12.0)
    assert ad.grad(ad.grad(weighted))(3.0) == 6.0
    assert ad.hvp(weighted, (3.0,), (1.0,)) == (8.0,)
    assert CALLS == 4
    CALLS = 0
    assert ad.grad(weighted, native=True)(3.0) == 6.0
    assert CALLS == 1


def test_matrices_are_those_of_one_call() -> None:
    def many(x):
        return x * x * tick()

    def few(x):
        return np.array([np.sum(x * x), np.sum(x)]) * tick()

    def two(x, y):
        return np.sum(x * x * y) * tick()

    for call in (1, 2):
        np.testing.assert_array_equal(ad.hessian(weighted)(X), 2.0 * call * np.eye(3))
        assert call == CALLS
    np.testing.assert_array_equal(ad.jacobian(many)(X), np.diag(2.0 * 3 * X))
    assert CALLS == 3
    wide = np.arange(6.0)
    np.testing.assert_array_equal(ad.jacobian(few)(wide), [2.0 * wide * 4, np.ones(6) * 4])
    assert CALLS == 4
    (_, mixed), (other, nothing) = ad.hessian(two, wrt=(0, 1))(X, X)
    np.testing.assert_array_equal(mixed, np.diag(2.0 * X * 5))
    np.testing.assert_array_equal(other, mixed)
    np.testing.assert_array_equal(nothing, np.zeros((3, 3)))
    assert CALLS == 5
    _, columns = ad.jvps(many, (X,), [(X,), (2.0 * X,)])
    np.testing.assert_array_equal(columns, [2.0 * X * X * 6, 4.0 * X * X * 6])
    assert CALLS == 6


def test_writes_in_loops_and_branches() -> None:
    def looped(x):
        total = 0.0
        for _ in range(3):
            tick()
            total += x * CALLS
        return total

    def until(x):
        global CALLS
        y = x
        while CALLS < 50:
            CALLS += 1
            if y > 100:
                return y * CALLS
            y = y * 2.0
        return y

    def branched(x):
        global CALLS, FLAG, NOTE
        if FLAG:
            CALLS += 10
            NOTE = "set"
        else:
            NOTE = "clear"
        FLAG = not FLAG
        return x * (CALLS + 1)

    def target(x):
        global CALLS
        total = 0.0
        for CALLS in range(5):
            if CALLS == 3:
                break
            total += x * CALLS
        return total * CALLS

    def chosen(x):
        global CALLS
        CALLS += 1 if x > 2.0 else 5
        return x * CALLS

    for f in (looped, until, branched, target, chosen):
        same(f)


def test_writes_where_exceptions_are_handled() -> None:
    def before_and_behind(x):
        global CALLS
        try:
            CALLS += 1
            y = 1.0 / (CALLS - 2.0)
            CALLS += 10
        except ZeroDivisionError:
            y = 2.0
        return x * y * CALLS

    def left(x):
        global CALLS
        CALLS += 1
        if x > 2.0:
            raise ValueError("too large")
        CALLS += 1
        return x * x

    same(before_and_behind)
    for native in (False, True):
        reset()
        with pytest.raises(ValueError, match="too large"):
            ad.grad(left, native=native)(3.0)
        assert CALLS == 1
        assert ad.grad(left, native=native)(1.0) == 2.0
        assert CALLS == 3


def test_items_are_drawn_between_the_writes() -> None:
    def generated(x):
        def items():
            for _ in range(3):
                tick()
                yield x * CALLS

        total = 0.0
        for item in items():
            total += item * CALLS
        return total

    def expression(x):
        total = 0.0
        for item in (x * CALLS for _ in range(3)):
            tick()
            total += item * CALLS
        return total

    same(generated)
    same(expression)


def test_recursive_functions_find_what_was_written() -> None:
    def chain(x, n):
        return x if n == 0 else CALLS * chain(x, n - 1)

    def twice(x):
        global CALLS
        CALLS = 2
        first = chain(x, 3)
        CALLS = 3
        return first + chain(x, 3)

    same(twice)

    def counting(x, n):
        tick()
        return x if n == 0 else x * counting(x, n - 1)

    refused(lambda: ad.grad(lambda x, n: counting(x, n))(2.0, 3))


def test_the_variable_by_other_names() -> None:
    module = sys.modules[__name__]

    def by_module(x):
        tick()
        return x * module.CALLS

    def by_another_scope(x):
        CALLS = 10.0

        def inside():
            global CALLS
            CALLS += 1
            return CALLS

        return x * inside() + x * CALLS

    def walrus(x):
        global CALLS
        return x * (CALLS := CALLS + 1) * CALLS

    for f in (by_module, by_another_scope, walrus):
        same(f)


def test_what_does_not_vary_may_be_a_float_a_text_or_what_stop_gradient_gives() -> None:
    def kept(x):
        global SCALE, NOTE
        before = SCALE
        SCALE = ad.stop_gradient(x * x)
        NOTE = f"{FLAG}"
        return x * SCALE + before

    assert ad.value_and_grad(kept)(3.0) == (28.0, 9.0)
    assert (SCALE, NOTE) == (9.0, "False")
    assert ad.value_and_grad(kept)(2.0) == (17.0, 4.0)
    assert ad.grad(ad.grad(kept))(2.0) == 0.0

    def once(x):
        global NOTE
        if NOTE is None:
            NOTE = 5
        return x * NOTE

    reset()
    same(once)


def test_kinds_that_change_from_call_to_call() -> None:
    def grows(x):
        global SCALE
        SCALE = SCALE * 0.5 if FLAG else 4
        return x * SCALE

    global FLAG
    assert ad.grad(grows)(2.0) == 4.0
    FLAG = True
    assert [ad.grad(grows)(2.0) for _ in range(2)] == [2.0, 1.0]
    assert SCALE == 1.0


def varied(x):
    global SCALE
    SCALE = x * x
    return SCALE


def varied_in_one_branch(x):
    global SCALE
    if x > 0.0:
        SCALE = 2.0 * x
    return x * SCALE


def product_with_note(x, y):
    global SCALE
    SCALE = y * 2.0
    return x * y * SCALE


def listed(x):
    global NOTE
    NOTE = [1, 2]
    return x


def arrayed(x):
    global NOTE
    NOTE = np.zeros(3) + x
    return x + NOTE[1]


def deleted(x):
    global CALLS
    del CALLS
    return x


def around(x):
    return ad.grad(counted)(x) * CALLS


@pytest.mark.parametrize("f", [listed, deleted, around])
def test_what_cannot_be_written_is_refused(f: Callable[[float], float]) -> None:
    refused(lambda: ad.grad(f)(2.0))
    assert state() == (0, 1.0, False, None)


def test_what_varies_is_assigned() -> None:
    assert (ad.grad(varied)(3.0), SCALE) == (6.0, 9.0)
    assert (ad.grad(varied_in_one_branch)(2.0), SCALE) == (8.0, 4.0)
    assert (ad.grad(varied_in_one_branch)(-2.0), SCALE) == (4.0, 4.0)
    assert ad.grad(arrayed)(2.0) == 2.0
    np.testing.assert_array_equal(NOTE, [2.0, 2.0, 2.0])  # type: ignore[arg-type]


def test_what_varies_in_an_outer_derivative() -> None:
    assert ad.grad(product_with_note)(2.0, 3.0) == 18.0
    assert ad.grad(ad.grad(product_with_note, wrt=0), wrt=1)(2.0, 3.0) == 12.0
    assert SCALE == 6.0


def counter() -> tuple[Callable[[Any], Any], Callable[[], int]]:
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return np.sum(x * x * count)

    return f, lambda: count


def test_captured_variables_that_are_assigned() -> None:
    f, read = counter()
    np.testing.assert_array_equal(ad.hessian(f)(X), 2.0 * np.eye(3))
    np.testing.assert_array_equal(ad.grad(f)(X), 4.0 * X)
    assert (ad.grad(ad.grad(f))(2.0), read()) == (6.0, 3)
    other, read_other = counter()
    np.testing.assert_array_equal(ad.grad(other)(X), 2.0 * X)
    assert (read(), read_other()) == (3, 1)


def test_captured_variables_of_functions_that_are_called_or_given() -> None:
    def ticking() -> Callable[[], int]:
        count = 0

        def step():
            nonlocal count
            count += 1
            return count

        return step

    step = ticking()

    def looped(x):
        total = 0.0
        for _ in range(5):
            total += x * step()
        return total

    assert [ad.grad(looped)(2.0), ad.grad(looped)(2.0), step()] == [15.0, 40.0, 11]

    def applied(g, x):
        return g(x) * g(x)

    (f, read), (other, read_other) = counter(), counter()
    derivative = ad.grad(applied, wrt=1)
    assert [derivative(f, 2.0), derivative(f, 2.0), derivative(other, 2.0)] == [64.0, 384.0, 64.0]
    assert (read(), read_other()) == (4, 2)


def test_captured_variables_that_vary_or_hold_objects() -> None:
    def keeping(value: Callable[[Any], Any]) -> Callable[[Any], Any]:
        best = None

        def f(x):
            nonlocal best
            best = value(x)
            return x * x

        return f

    refused(lambda: ad.grad(keeping(lambda x: [1.0]))(2.0))
    for value in (lambda x: 3, lambda x: 2.0 * x, lambda x: np.zeros(2) * x):
        assert ad.grad(keeping(value))(2.0) == 4.0


def test_the_text_tells_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "CALLS += 1\n    assign_global(" in ad.source(ad.grad(counted), 3.0)
    (tmp_path / "bumping.py").write_text("Q = 3\n\n\ndef bump(x):\n    global Q\n    Q += 1\n    return x * Q\n")
    monkeypatch.syspath_prepend(tmp_path)
    import bumping  # type: ignore[import-not-found]

    ad.export(tmp_path / "exported.py", ad.grad(bumping.bump), 2.0)
    import exported  # type: ignore[import-not-found]

    assert (exported.bump_grad(2.0, Q=bumping.Q), bumping.Q) == (4.0, 4)


def test_a_declared_pullback_assigns_nothing_outside() -> None:
    def cube(x):
        return x**3

    def derivative(x):
        return x**3, lambda ct: 3.0 * ct * x * x * tick()

    ad.derivative_of(cube)(derivative)
    refused(lambda: ad.grad(cube)(2.0))
    refused(lambda: ad.grad(lambda x: cube(x))(2.0))
