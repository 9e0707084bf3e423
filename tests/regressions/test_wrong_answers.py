"""Answers that other systems got wrong."""

import csv
import functools
import importlib.util
import io
import math
import operator
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

WEIGHTS = np.array([0.24, -0.38, 0.539])


def test_product_over_a_loop() -> None:
    def product(x):
        prod = 1.0
        for i in range(len(x)):
            prod *= x[i]
        return prod

    assert ad.grad(product)([2.0, 3.0, 5.0]) == [15.0, 10.0, 6.0]
    np.testing.assert_array_equal(ad.grad(product)(np.array([2.0, 3.0, 5.0])), [15.0, 10.0, 6.0])


def test_product_over_a_loop_with_a_zero() -> None:
    def product(x):
        prod = 1.0
        for i in range(len(x)):
            prod *= x[i]
        return prod

    assert ad.grad(product)([2.0, 0.0, 5.0]) == [0.0, 10.0, 0.0]


def test_value_assigned_before_a_loop_and_overwritten_in_it() -> None:
    def f(x):
        y = x * x
        for i in range(3):
            y = x + i
        return y * y

    assert ad.grad(f)(2.0) == 8.0


def test_value_assigned_before_a_loop_that_does_not_run() -> None:
    def f(x, n):
        y = x * x
        for i in range(n):
            y = x + i
        return y

    assert ad.grad(f)(3.0, 0) == 6.0
    assert ad.grad(f)(3.0, 2) == 1.0


def test_variable_defined_on_one_branch_only() -> None:
    def f(x):
        if x > 0:
            scale = 2.0 * x
        if x > 0:
            return x * scale
        return x

    assert ad.grad(f)(3.0) == 12.0
    assert ad.grad(f)(-3.0) == 1.0


def test_two_variables_swapped_in_a_loop() -> None:
    def f(x, y):
        for _ in range(3):
            x, y = y, x
        return x * x + y

    assert ad.grad(f, wrt=(0, 1))(2.0, 5.0) == (1.0, 10.0)


def test_integer_zero_accumulator() -> None:
    def f(x):
        total = 0
        for i in range(3):
            total += x * i
        return total

    assert ad.grad(f)(2.0) == 3.0


def test_perturbation_confusion() -> None:
    assert ad.grad(lambda x: x * ad.grad(lambda y: x + y)(1.0))(1.0) == 1.0


def test_nested_gradient_of_captured_variable() -> None:
    def f(x):
        inner = ad.grad(lambda y: x * x * y * y)
        return inner(3.0) * x

    # inner(3) = 6 x**2, so f = 6 x**3
    assert ad.grad(f)(2.0) == pytest.approx(72.0)


def test_nested_jvp_in_grad() -> None:
    def f(x):
        _, slope = ad.jvp(lambda y: y * y * x, (x,), (1.0,))
        return slope

    # slope = 2 x * x
    assert ad.grad(f)(3.0) == pytest.approx(12.0)


def test_augmented_assignment_of_a_float_rebinds() -> None:
    def f(x):
        y = x
        y *= 2
        return x * y

    assert ad.grad(f)(3.0) == 12.0


def test_augmented_assignment_of_an_array_writes() -> None:
    def f(x):
        y = x
        y *= 2
        return np.sum(x * y)

    x = np.array([3.0, 1.0])
    try:
        gradient = ad.grad(f)(x.copy())
    except ad.DifferentiationError:
        return
    np.testing.assert_allclose(gradient, 8.0 * x)


def test_augmented_assignment_of_an_element_rebinds() -> None:
    def f(m, r):
        s = m[0]
        s += r
        return s * m[0]

    check_grads(f, (np.array([2.0, 3.0]), 0.5))


def test_augmented_assignment_of_a_row_writes() -> None:
    def f(m, r):
        s = m[0]
        s += r
        return np.sum(s * m[0])

    check_grads(f, (np.array([[2.0, 3.0], [1.0, 1.0]]), 0.5))


def test_loop_over_functions() -> None:
    def f(x):
        for g in [math.sin, lambda t: t * t]:
            x = g(x)
        return x

    assert ad.grad(f)(0.7) == pytest.approx(2.0 * math.sin(0.7) * math.cos(0.7))


def test_late_binding_of_loop_variables() -> None:
    def f(x):
        fs = []
        for i in range(3):
            fs.append(lambda t: t * i)
        return sum(g(x) for g in fs)

    check_grads(f, (2.0,))
    assert ad.grad(f)(2.0) == 6.0


def test_nonlocal() -> None:
    def f(x):
        total = 0.0

        def add(t):
            nonlocal total
            total += t * x

        add(x)
        add(2.0)
        return total

    assert ad.grad(f)(3.0) == 8.0


def test_captured_variable_assigned_after_the_closure() -> None:
    def f(x):
        k = 2.0

        def g(t):
            return t * k

        k = x
        return g(x)

    assert ad.grad(f)(3.0) == 6.0


def test_wraps_wrapper_is_differentiated_as_the_wrapper() -> None:
    def doubled(fn):
        @functools.wraps(fn)
        def wrapper(*args):
            return 2 * fn(*args)

        return wrapper

    @doubled
    def square(x):
        return x * x

    assert ad.grad(square)(3.0) == 12.0
    assert ad.grad(lambda x: square(x) * x)(3.0) == pytest.approx(54.0)


def test_two_lambdas_on_one_line() -> None:
    f, g = (lambda x: x * x, lambda x: x * x * x)
    assert (ad.grad(f)(2.0), ad.grad(g)(2.0)) == (4.0, 12.0)


def test_same_argument_in_two_places() -> None:
    x = np.array([1.0, 2.0])
    a, b = ad.grad(lambda p, q: np.sum(p * q * q), wrt=(0, 1))(x, x)
    np.testing.assert_allclose(a, x * x)
    np.testing.assert_allclose(b, 2 * x * x)
    assert not np.shares_memory(a, b)


def test_same_list_twice_in_a_structure() -> None:
    shared = [2.0, 3.0]
    check_grads(lambda pair: pair[0][0] * pair[1][1], ((shared, shared),))


def test_while_loop_with_data_dependent_trip_count() -> None:
    def f(x):
        n = 0
        while x < 100.0:
            x = x * x
            n += 1
        return x

    assert ad.grad(f)(3.0) == pytest.approx(8.0 * 3.0**7)
    assert ad.grad(f)(200.0) == 1.0


def test_break_in_a_nested_loop() -> None:
    def f(x):
        total = 0.0
        for i in range(3):
            for j in range(5):
                if j > i:
                    break
                total += x**j
        return total

    # 1; 1 + x; 1 + x + x**2
    assert ad.grad(f)(2.0) == pytest.approx(2.0 + 2.0 * 2.0)


def test_chained_comparison_is_evaluated_once() -> None:
    calls = []

    def middle(x):
        calls.append(1)
        return x

    def f(x):
        return x * x if 0 < middle(x) < 10 else x

    assert ad.grad(f)(3.0) == 6.0
    assert len(calls) == 1


def test_element_reads_and_whole_array_use_in_a_loop() -> None:
    def f(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * np.sum(x)
        return total

    np.testing.assert_allclose(ad.grad(f)(np.array([1.0, 2.0])), [6.0, 6.0])


def test_repeated_gather() -> None:
    gradient = ad.grad(lambda x: np.sum(x[np.array([0, 0, 1])] * np.array([1.0, 2.0, 5.0])))(np.zeros(3))
    np.testing.assert_array_equal(gradient, [3.0, 5.0, 0.0])


def test_broadcasting_in_both_directions() -> None:
    a, b = np.ones((3, 1)), np.ones((1, 4))
    da, db = ad.grad(lambda p, q: np.sum(p * q), wrt=(0, 1))(a, b)
    assert da.shape == (3, 1)
    assert db.shape == (1, 4)
    np.testing.assert_array_equal(da, np.full((3, 1), 4.0))


def test_scalar_times_array_gives_a_float() -> None:
    gradient = ad.grad(lambda k: np.sum(k * np.ones(3)))(2.0)
    assert isinstance(gradient, float)
    assert gradient == 3.0


def test_object_shared_by_two_names() -> None:
    @dataclass
    class Cell:
        value: float

    def f(x):
        a = Cell(x)
        b = a
        b.value = b.value * x
        return a.value * x

    assert ad.grad(f)(2.0) == pytest.approx(12.0)


def test_field_that_holds_an_object_is_replaced() -> None:
    @dataclass
    class Vec:
        x: float

    @dataclass
    class Body:
        pos: Vec

    def f(b):
        p = b.pos.x
        b.pos = Vec(p * p)
        return b.pos.x * p

    check_grads(f, (Body(Vec(2.0)),))


def test_swap_of_rows_by_condition_in_a_loop() -> None:
    def f(x, y):
        c = (True, False, True, True)
        u, v = [x, y], [y * y, x]
        for k in range(4):
            u, v = (v, u) if c[k] else (u, v)
            u[0] = u[0] * v[1]
        return u[0] + 2.0 * v[0]

    check_grads(f, (1.5, 0.5))


def test_function_that_returns_its_argument_or_a_copy() -> None:
    def pick(a, copied):
        return a.copy() if copied else a

    def f(x, copied):
        y = x * 1.0
        z = pick(y, copied)
        z[0] = z[1] * 3.0
        return np.sum(y * z)

    x = np.array([2.0, 5.0])
    check_grads(f, (x, True))
    check_grads(f, (x, False))


class Coordinates:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __array__(self, dtype=None, copy=None):
        return np.array([self.x, self.y])


first_of = operator.attrgetter("x")


@pytest.mark.parametrize(
    "f", [lambda p: p.__getattribute__("x") * 2.0, lambda p: object.__getattribute__(p, "x") * 2.0]
)
def test_an_attribute_that_is_looked_up_by_its_method_varies(f):
    assert ad.grad(f)(Coordinates(1.0, 2.0)).x == 2.0


def test_an_object_that_is_handed_to_a_function_of_numpy_varies():
    """It gave zero: of the object only its fields were known to vary."""
    found = ad.grad(lambda p: np.sum(p))(Coordinates(1.0, 2.0))
    assert (found.x, found.y) == (1.0, 1.0)


def test_an_object_that_says_what_array_it_is():
    found = ad.grad(lambda p: np.sum(np.exp(np.asarray(p))))(Coordinates(1.0, 2.0))
    assert (found.x, found.y) == pytest.approx((np.exp(1.0), np.exp(2.0)))


@pytest.mark.parametrize(
    "f",
    [
        lambda p: first_of(p) * 2.0,
        lambda p: operator.attrgetter("x")(p) * 2.0,
        lambda p: vars(p)["x"] * 2.0,
        lambda p: sum(value * value for name, value in vars(p).items() if name == "x"),
    ],
)
def test_getters_read_what_varies(f):
    """Each gave zero, then was refused."""
    gradient = ad.grad(f)(Coordinates(1.0, 2.0))
    assert (gradient.x, gradient.y) == (2.0, 0.0)


@dataclass
class Twice:
    left: np.ndarray
    right: np.ndarray


def test_one_array_in_several_slots() -> None:
    def in_list(x, n):
        t, made = x * WEIGHTS, []
        for _ in range(n):
            made.append(t)
        return np.sum(made[0]) + np.sum(made[-1] * made[1])

    def in_dict(x, n):
        t, made = x * WEIGHTS, {}
        for i in range(n):
            made[i] = t
        return np.sum(made[0] * made[n - 1])

    def in_objects(x, n):
        t, made = x * WEIGHTS, []
        for _ in range(n):
            made.append(Twice(t, t))
        return np.sum(made[0].left * made[-1].right) + np.sum(made[-1].left)

    def in_tuples(x, n):
        t, made = x * WEIGHTS, []
        for i in range(n):
            made.append((t, t * i, t))
        return np.sum(made[0][0] * made[-1][2]) + np.sum(made[-1][1])

    def repeated(x, n):
        made = [x * WEIGHTS] * n
        return sum(np.sum(t * t) for t in made) + np.sum((made + made)[-1])

    def returned(x, n):
        t, made = x * WEIGHTS, []
        for _ in range(n):
            made.append(t)
        return made

    for f in (in_list, in_dict, in_objects, in_tuples, repeated):
        check_grads(f, (0.7, 3), wrt=0)
    check_grads(returned, (0.7, 3), wrt=0, order=1)


def test_one_written_array_in_several_slots() -> None:
    def f(x, n):
        t, made = x * WEIGHTS, []
        t[0] *= 2.0
        for _ in range(n):
            made.append(t)
        made[0][1] *= 3.0
        return np.sum(made[1])

    check_grads(f, (0.7, 3), wrt=0)


@dataclass
class NamedLikeVectors:
    one: float
    zero: np.ndarray
    reciprocal: float


def test_fields_with_the_names_of_what_vectors_have() -> None:
    def f(p, n):
        held = [NamedLikeVectors(p.one * i, p.zero * p.one, p.reciprocal) for i in range(n)]
        return held[-1].one + np.sum(held[0].zero * held[1].zero) * held[-1].reciprocal

    gradient = ad.grad(f)(NamedLikeVectors(2.0, np.array([3.0, 5.0]), 7.0), 3)
    assert (gradient.one, gradient.reciprocal) == (2.0 + 4.0 * 34.0 * 7.0, 4.0 * 34.0)
    assert np.array_equal(gradient.zero, [8.0 * 3.0 * 7.0, 8.0 * 5.0 * 7.0])


def test_jumps_in_the_else_clause_of_a_loop_over_a_tuple() -> None:
    def leaves(x, y, n):
        for _ in range(n):
            for factor in (y, 1.0, y):
                x = x * factor + 0.1
            else:
                break
        return x

    def goes_on(x, y, n):
        for i in range(n):
            for factor in (y, 1.0, y):
                if factor * x > 1.5:
                    break
                x = x * factor + 0.3
            else:
                continue
            x = x * 0.5 + i
        return x

    def some_leave(x, y, n):
        for i in range(n):
            for factor in (y, 2.0):
                if factor * x > 1.5:
                    break
                x = x * factor + 0.3
            else:
                if i > 1:
                    break
                x = x * y
            x = x * 0.5
        return x

    def returns(x, y, n):
        for i in range(n):
            for factor in (y, 2.0):
                if factor * x > 1.5 + i:
                    break
            else:
                return x * y
            x = x * 0.5
        return x

    for f in (leaves, goes_on, some_leave, returns):
        for n in (1, 4):
            for x in (0.4, 1.7):
                check_grads(f, (x, 0.9, n), wrt=(0, 1), order=1)


@pytest.mark.parametrize("x", [0.37, -0.37])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: min(0, x) * 2.0,
        lambda x: min(0, x),
        lambda x: max(x, 0) * x,
        lambda x: min(1, x, 2) * x,
        lambda x: max(0, min(1, x)) * x,
        lambda x: max(-1, x) * math.sin(x),
    ],
)
def test_an_integer_among_the_choices_of_min_and_max(f, x) -> None:
    check_grads(lambda x: f(x) + 0.0, (x,))
    assert ad.grad(f)(x) == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, abs=1e-6)


def doubled_in_place(x):
    x *= 2.0
    return np.sum(x * x)


@pytest.mark.filterwarnings("ignore:.*AD0505")
def test_jets_of_what_writes_its_argument():
    """It raised IndexError from inside."""
    value, slope = ad.jet(doubled_in_place, (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),), order=1)
    assert (value, slope) == (20.0, 8.0)


TEXTS = io.StringIO()


def through_a_buffer_of_the_module(x):
    TEXTS.seek(0)
    TEXTS.write(str(x * x))
    return float(TEXTS.getvalue()) * x


def through_a_buffer(x):
    texts = io.StringIO()
    texts.write(f"{x} 2.0")
    return sum(float(part) for part in texts.getvalue().split()) * x


def through_print(x):
    texts = io.StringIO()
    print(x * x, file=texts)
    return float(texts.getvalue()) * x


def through_a_writer_of_rows(x):
    texts = io.StringIO()
    csv.writer(texts).writerow([x * x])
    return float(texts.getvalue()) * x


@pytest.mark.parametrize(
    "f", [through_a_buffer_of_the_module, through_a_buffer, through_print, through_a_writer_of_rows]
)
def test_numbers_do_not_come_back_from_texts_that_objects_hold(f):
    """The text was taken for a constant."""
    with pytest.raises(ad.DifferentiationError, match=r"AD0204|AD0303"):
        ad.grad(f)(1.3)


def test_what_is_written_may_be_counted():
    def counted(x):
        texts = io.StringIO()
        texts.write("abc")
        print(x)
        return len(texts.getvalue()) * x

    assert ad.grad(counted)(1.3) == 3.0


def test_extremes_keep_the_dtype_of_the_array():
    """A first value of another dtype made float64 of float32."""
    data = np.array([[0.5, 1.5], [2.5, -0.5]], dtype=np.float32)
    for extreme in (np.min, np.max):
        value, _ = ad.vjp(lambda x, extreme=extreme: extreme(data, 0, initial=np.float64(x)), 0.1)
        expected = extreme(data, 0, initial=np.float64(0.1))
        assert value.dtype == expected.dtype == np.float32
        np.testing.assert_array_equal(value, expected)


def test_modules_of_users_may_have_names_of_pythons_own(tmp_path, monkeypatch):
    """Classes were taken for Python's by the names of their modules: opaque, and their objects constants."""
    for name, text in {
        "trace": "class Model:\n    def __init__(self, x):\n        self.x = x\n"
        "    def value(self):\n        return self.x**2\n",
        "queue": "class Settings:\n    def __init__(self, k):\n        self.k = k\n",
    }.items():
        file = tmp_path / f"{name}.py"
        file.write_text(text)
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
    model, settings = sys.modules["trace"].Model, sys.modules["queue"].Settings(2.0)
    assert ad.grad(lambda x: model(x).value())(3.0) == 6.0
    assert ad.grad(lambda s, x: s.k * x)(settings, 3.0).k == 3.0
