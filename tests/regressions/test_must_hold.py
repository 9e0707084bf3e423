"""The programs that break other designs: effects, aliasing, storage, activity; right, or refused."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X = np.array([2.0, 3.0, 5.0])


def test_callee_that_writes_one_of_two_aliased_arguments() -> None:
    def axpy(out, a, z):
        for i in range(len(out)):
            out[i] = out[i] + a * z[i]

    def f(x, a):
        z = x * 1.0
        axpy(z, a, z)
        return np.sum(z * x)

    check_grads(f, (X, 0.5))


def test_aliased_arguments_at_the_boundary() -> None:
    def f(out, z):
        out[0] = z[1] * 2.0
        return np.sum(out * z)

    x = np.array([2.0, 3.0])
    for other in (x, x[:], x[::-1]):
        with pytest.raises(ad.DifferentiationError, match="arguments 0 and 1 share memory"):
            ad.grad(f, wrt=(0, 1))(x, other)
    np.testing.assert_allclose(ad.grad(f, wrt=1)(x, x.copy()), [6.0, 7.0])


def test_argument_of_a_callee_written_afterwards() -> None:
    def g(a):
        return np.sum(np.sin(a) * a)

    def f(x):
        a = x * 1.0
        y = g(a)
        a[0] = 0.0
        return y + np.sum(a)

    check_grads(f, (X,))


def test_view_or_copy_is_asked_at_run_time() -> None:
    def f(x):
        y = x.ravel()
        y[0] *= 3
        return np.sum(x) + np.sum(y * y)

    def contiguous(b):
        return f(b * 1.0)

    def strided(b):
        c = b * 1.0
        return f(c[:, ::2])

    b = np.arange(1.0, 9.0).reshape(2, 4)
    check_grads(contiguous, (b,))
    check_grads(strided, (b,))


def test_overlapping_slices() -> None:
    def f(x):
        a = x * 1.0
        a[1:] = 2 * a[:-1]
        return np.sum(a * a * x)

    check_grads(f, (X,))


def test_store_with_repeated_indices() -> None:
    def f(x):
        a = np.zeros(3)
        a[[0, 0]] = x[:2]
        return np.sum(a * a)

    check_grads(f, (X,))


def test_store_of_a_float_into_an_integer_array_is_refused() -> None:
    def f(x):
        a = np.zeros(3, dtype=int)
        a[0] = x
        return a[0] * x

    with pytest.raises(ad.DifferentiationError, match="AD0408"):
        ad.grad(f)(2.5)


def test_workspace_argument() -> None:
    def f(x, out):
        for i in range(len(x)):
            out[i] = x[i] * x[i]
        return np.sum(out)

    out = np.zeros(3)
    np.testing.assert_allclose(ad.grad(f)(X, out), 2 * X)
    np.testing.assert_allclose(out, X * X)
    np.testing.assert_allclose(ad.grad(f, wrt=1)(X, out), 0.0)


def test_array_that_becomes_active_in_one_branch() -> None:
    def f(x, flag):
        a = np.zeros(3)
        if flag:
            a[0] = x * x
        a[1] = 2.0
        return np.sum(a * a) * x

    check_grads(f, (1.5, True))
    check_grads(f, (1.5, False))


BUFFER = np.zeros(3)
CACHE: dict[str, float] = {}


def test_memory_that_outlives_the_call_is_written() -> None:
    """As an argument is: there are plain values afterwards, which are constants of the next call."""

    def f(x):
        before = BUFFER[0]
        BUFFER[0] = x * x
        return BUFFER[0] * x + before

    assert [ad.grad(f)(2.0) for _ in range(2)] == [12.0, 12.0]
    assert BUFFER[0] == 4.0


def test_cache_of_active_values() -> None:
    def f(x):
        if "y" in CACHE:
            return CACHE["y"] * x
        CACHE["y"] = x * x
        return CACHE["y"] * x

    assert [ad.grad(f)(2.0) for _ in range(3)] == [12.0, 4.0, 4.0]


def test_random_numbers_are_drawn_once() -> None:
    rng = np.random.default_rng(0)

    def f(x):
        noise = rng.normal(size=3)
        return np.sum(np.sin(x * noise) * noise)

    expected = np.random.default_rng(0).normal(size=3)
    np.testing.assert_allclose(ad.grad(f)(X), np.cos(X * expected) * expected**2)
    assert rng.normal() == np.random.default_rng(0).normal(size=4)[3]


def test_random_numbers_in_a_loop_are_drawn_once() -> None:
    rng = np.random.default_rng(0)

    def f(x):
        for _ in range(3):
            x = math.sin(x) * float(rng.normal())
        return x

    draws = np.random.default_rng(0).normal(size=3)
    x, slope = 0.7, 1.0
    for d in draws:
        slope *= math.cos(x) * d
        x = math.sin(x) * d
    assert ad.grad(f)(0.7) == pytest.approx(slope)


def test_shuffle_of_active_memory_is_refused() -> None:
    rng = np.random.default_rng(0)

    def f(x):
        y = x * 1.0
        rng.shuffle(y)
        return y[0] * y[1]

    with pytest.raises(ad.DifferentiationError):
        ad.grad(f)(X)


def test_division_by_zero_that_is_caught() -> None:
    def f(x, w):
        y = x
        try:
            y = y * 2
            z = 1 / w
        except ZeroDivisionError:
            z = 0.0
        return y * y + z

    assert ad.grad(f)(3.0, 2.0) == pytest.approx(24.0)
    assert ad.grad(f)(3.0, 0.0) == pytest.approx(24.0)
    check_grads(f, (3.0, 2.0))


def test_raise_of_the_function_is_raised() -> None:
    def f(x):
        if x < 0:
            raise ValueError("negative input")
        return math.sqrt(x)

    assert ad.grad(f)(4.0) == 0.25
    with pytest.raises(ValueError, match="negative input"):
        ad.grad(f)(-4.0)


def test_assertion_of_the_function_is_raised() -> None:
    def f(x):
        assert x > 0, "positive please"
        return x * x

    assert ad.grad(f)(4.0) == 8.0
    with pytest.raises(AssertionError, match="positive please"):
        ad.grad(f)(-4.0)


def test_finally_runs_once() -> None:
    log: list[str] = []

    def f(x):
        try:
            return x * x
        finally:
            log.append("done")

    assert ad.grad(f)(3.0) == 6.0
    assert log == ["done"]


def test_primal_runs_exactly_once() -> None:
    state = {"g": 10.0}

    def f(x):
        state["g"] += 20
        return state["g"] * x

    assert ad.grad(f)(1.0) == 30.0


def test_integers_of_active_values_are_constants() -> None:
    assert ad.grad(lambda x: x * int(x))(2.5) == 2.0
    assert ad.grad(lambda x: x * round(x))(2.6) == 3.0
    assert ad.grad(lambda x: x * math.floor(x))(2.5) == 2.0
    assert ad.grad(lambda x: x * (x > 1.0))(2.5) == 1.0


def test_opaque_function_value_is_refused_or_known() -> None:
    def apply(fn, x):
        return fn(x) * 2.0

    assert ad.grad(apply, wrt=1)(math.sin, 0.0) == 2.0
    with pytest.raises(ad.DifferentiationError):
        ad.grad(apply, wrt=1)(eval("lambda x" + ": x * x + 41.25"), 1.0)


def test_function_without_source_is_refused() -> None:
    namespace: dict[str, object] = {}
    exec("def f" + "(x):\n    return x * x + 41.25\n", namespace)
    with pytest.raises(ad.DifferentiationError):
        ad.grad(namespace["f"])(2.0)


def test_library_function_without_a_rule_is_refused() -> None:
    with pytest.raises(ad.DifferentiationError):
        ad.grad(lambda x: float(np.nextafter(x, 9.0)[0]))(X)


def test_library_function_without_a_rule_is_fine_on_constants() -> None:
    def f(x):
        slope = float(np.polyfit(np.arange(3.0), np.array([1.0, 3.0, 5.0]), 1)[0])
        return x * slope

    assert ad.grad(f)(1.0) == pytest.approx(2.0)


def test_generator_handed_in_is_refused() -> None:
    def f(xs):
        return sum(x * x for x in xs)

    with pytest.raises((ad.DifferentiationError, TypeError)):
        ad.grad(f)(x for x in [1.0, 2.0])


def test_next_of_an_iterator() -> None:
    def f(xs):
        it = iter(xs)
        a = next(it)
        b = next(it)
        return a * b * b

    assert ad.grad(f)([2.0, 3.0]) == [9.0, 12.0]


def test_next_of_a_generator_that_is_gone_on_with() -> None:
    def f(xs):
        it = (x * x for x in xs)
        return next(it) * next(it)

    assert ad.grad(f)([2.0, 3.0]) == [36.0, 24.0]


def test_list_changed_while_it_is_iterated() -> None:
    def f(x):
        xs = [x]
        for v in xs:
            if len(xs) < 4:
                xs.append(v * x)
        return xs[3]

    assert ad.grad(f)(1.5) == 4 * 1.5**3


def test_inner_operator_that_writes_captured_memory() -> None:
    def f(x):
        store = [0.0]

        def g(y):
            store[0] = x * y
            return y * y

        slope = ad.grad(g)(3.0)
        return slope * store[0]

    assert ad.grad(f)(2.0) == 18.0


def test_mutable_default_argument() -> None:
    def f(x, history=[]):
        history.append(x)
        return x * len(history) + history[0]

    assert [ad.grad(f)(2.0) for _ in range(3)] == [2.0, 2.0, 3.0]


def test_async_and_generator_functions_are_refused() -> None:
    def generator(x):
        yield x * x

    async def coroutine(x):
        return x * x

    for f in (generator, coroutine):
        with pytest.raises((ad.DifferentiationError, TypeError)):
            ad.grad(f)(2.0)


def test_undefined_name_is_a_name_error() -> None:
    def f(x):
        return x * missing_name  # noqa: F821

    with pytest.raises((ad.DifferentiationError, NameError), match="missing_name"):
        ad.grad(f)(2.0)


def test_wrong_number_of_arguments_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        ad.grad(lambda x, y: x * y)(2.0)
    with pytest.raises(TypeError):
        ad.grad(lambda x: x)(2.0, z=3.0)


def test_wrt_out_of_range_is_an_error() -> None:
    with pytest.raises((ad.DifferentiationError, TypeError, ValueError, IndexError)):
        ad.grad(lambda x: x, wrt=3)(2.0)


def test_seed_of_wrong_shape_is_an_error() -> None:
    _, pullback = ad.vjp(lambda x: x * x, X)
    with pytest.raises((ad.DifferentiationError, TypeError, ValueError)):
        pullback(np.ones(5))


def test_deep_loop_does_not_overflow_the_stack() -> None:
    def f(x):
        for _ in range(20_000):
            x = x * 1.00001
        return x

    assert ad.grad(f)(1.0) == pytest.approx(1.00001**20_000)


def test_rows_of_a_list_of_buffers() -> None:
    def f(x):
        bufs = [np.zeros(2), np.zeros(2)]
        for k in range(4):
            row = bufs[k % 2]
            row[0] = row[0] + x * k
            row[1] = row[0] * x
        return bufs[0][1] + bufs[1][1] * bufs[0][0]

    check_grads(f, (1.5,))


def test_row_stored_in_a_list() -> None:
    def f(x):
        xs = [x * 1.0, x * 2.0]
        row = x * x
        xs[0] = row
        row[0] = 5.0
        return np.sum(xs[0] * xs[1])

    check_grads(f, (X,))


def test_object_in_a_list_is_shared() -> None:
    @dataclass
    class Cell:
        value: float

    def f(x):
        cell = Cell(x)
        cells = [cell, cell]
        cells[0].value = cells[1].value * x
        return cells[1].value * cell.value

    check_grads(f, (1.5,))


def test_global_array_is_a_constant() -> None:
    assert ad.grad(lambda x: np.sum(x * X))(1.0) == 10.0


def test_array_read_by_element_in_one_function_and_used_whole_in_another() -> None:
    def energy(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * x[i - 1]
        return total

    def f(x):
        total = 0.0
        for _ in range(3):
            total += energy(x) * np.sum(np.sin(x))
        return total

    check_grads(f, (X,))
    assert "copy" not in ad.source(ad.grad(f), X)  # nothing writes the array: it is no buffer


@dataclass
class Position:
    x: float
    y: float


@dataclass
class Body:
    pos: Position
    mass: float


def test_reference_taken_before_the_field_is_replaced() -> None:
    def f(x, y):
        b = Body(Position(x, y), 2.0)
        old = b.pos
        p = b.pos.x
        b.pos = Position(x * y, p)
        old.x = old.x * 3.0
        return p * b.pos.x * old.x + b.pos.y * old.y

    check_grads(f, (1.5, 0.5))


def test_field_of_an_argument_is_replaced() -> None:
    def f(b):
        p = b.pos.x
        b.pos = Position(p * b.mass, b.pos.y)
        b.pos.x *= p
        return b.pos.x * b.pos.y

    check_grads(f, (Body(Position(1.5, 0.5), 2.0),), order=1)


def test_captured_buffer_of_an_enclosing_call() -> None:
    def f(x):
        buffer = np.zeros(3)

        def step(k):
            buffer[k] = x * (buffer[k - 1] + k)
            return buffer[k]

        return step(0) + step(1) * step(2) + np.sum(buffer * buffer)

    check_grads(f, (1.5,))


def test_captured_buffer_that_outlives_the_call() -> None:
    def make():
        buffer = np.zeros(3)

        def f(x):
            buffer[0] = x * x
            return buffer[0] * x

        return f

    assert ad.grad(make())(2.0) == 12.0


def test_gradient_shares_no_memory_with_the_seed() -> None:
    _, pullback = ad.vjp(lambda x: x, X)
    seed = np.ones(3)
    (gradient,) = pullback(seed)
    assert not np.shares_memory(gradient, seed)
    gradient[:] = 7.0
    np.testing.assert_array_equal(pullback(seed)[0], 1.0)


def test_pullback_of_stores_called_twice() -> None:
    def f(x):
        y = np.zeros(3)
        for i in range(3):
            y[i] = x[i] * y[i - 1] + x[i]
            y[0] *= 2.0
        return y

    _, pullback = ad.vjp(f, X)
    jacobian = ad.jacobian(f)(X)
    for k in (0, 1, 0, 2):
        np.testing.assert_allclose(pullback(np.eye(3)[k])[0], jacobian[k])


class Layer:
    def __init__(self, act):
        self.act = act

    def __call__(self, x):
        return self.act(x) * x


def test_functions_that_are_data() -> None:
    layers = [Layer(math.sin), Layer(lambda t: t * t), Layer(math.exp)]

    def f(x):
        for fn in [math.sin, lambda t: t * t]:
            x = fn(x)
        for layer in layers:
            x = layer(x)
        return x

    check_grads(f, (0.7,))
