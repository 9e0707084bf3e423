"""Derivatives of functions that write their arguments: taken again, as matrices, inside other code."""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

A = np.array([1.5, 2.0, 3.0])


def writer(a):
    a[0] = a[0] * a[1]
    a[1] += a[0] ** 2
    return a[0] * a[1] + a[2]


def on_a_copy(a):
    return writer(a.copy())


def vector_writer(a):
    a[0] = a[0] * a[1]
    a[1] += a[0] ** 2
    return a * 2.0


def test_second_and_third_order() -> None:
    def second(f):
        return lambda a: np.sum(ad.grad(f)(a))

    for make in (second, lambda f: second(second(f))):
        ours, expected = ad.grad(make(writer))(A.copy()), ad.grad(make(on_a_copy))(A)
        assert np.array_equal(ours, expected)


def test_what_a_derivative_writes_is_read_after_it() -> None:
    def f(a):
        a = a.copy()
        g = ad.grad(writer)(a)
        return np.sum(g * g) + a[0] * a[1]

    check_grads(f, (A,))


def test_two_arrays_that_are_swapped() -> None:
    def swapped(u, v):
        for _ in range(3):
            u[0] = v[0] * v[1]
            v[1] += u[0] * u[1]
            u, v = v, u
        return u[0] * v[1]

    def f(x):
        u, v = x[:2] * 1.0, x[1:] * 1.0
        g = ad.grad(swapped)(u, v)
        return np.sum(g * g) + u[0] * v[1]

    check_grads(f, (A,))


def test_two_arguments_that_share_memory_are_refused_when_the_program_runs() -> None:
    def swapped(u, v):
        u[0] = v[0] * v[1]
        u, v = v, u
        v[1] += u[0]
        return u[0] * v[1]

    def f(x):
        y = x * 1.0
        return np.sum(ad.grad(swapped)(y[:2], y[1:]))

    with pytest.raises(ad.DifferentiationError) as info:
        ad.grad(f)(A)
    assert info.value.diagnostics[0].code == "AD0303"


def test_the_hessian_is_of_the_value_on_entry() -> None:
    given = A.copy()
    assert np.array_equal(ad.hessian(writer)(given), ad.hessian(on_a_copy)(A))
    after = A.copy()
    writer(after)
    assert np.array_equal(given, after)


@pytest.mark.parametrize("rows", [1, 6])
def test_the_jacobian_is_of_the_value_on_entry(rows) -> None:
    def f(a):
        return np.stack([vector_writer(a)] * 2) if rows == 6 else vector_writer(a)[:1] * 2.0

    given = A.copy()
    expected = ad.jacobian(lambda a: f(a.copy()))(A)
    assert np.array_equal(ad.jacobian(f)(given), expected)
    after = A.copy()
    f(after)
    assert np.array_equal(given, after)


def test_the_jacobian_for_several_arguments() -> None:
    def f(a, b):
        a[0] *= b[1]
        b[0] += a[0]
        return a * b

    ours = ad.jacobian(f, wrt=(0, 1))(A.copy(), A * 2.0)
    expected = ad.jacobian(lambda a, b: f(a.copy(), b.copy()), wrt=(0, 1))(A, A * 2.0)
    assert all(map(np.array_equal, ours, expected))


def test_the_jacobian_inside_other_code() -> None:
    def f(x):
        y = x.copy()
        j = ad.jacobian(vector_writer)(y)
        return np.sum(j**2) + y[1] * y[0]

    check_grads(f, (A,))


def test_the_jacobian_of_what_changes_a_list_is_refused_inside_other_code() -> None:
    def h(x, o):
        o[0] = o[0] * x[0]
        return x[0] + x[1] * o[0]

    def f(x, o):
        j = ad.jacobian(h)(x, o)
        return j[0] + j[1]

    with pytest.raises(ad.DifferentiationError, match="changes a list"):
        ad.grad(f)(A, [1.0, 2.0])


def test_a_tangent_that_is_given_is_not_written() -> None:
    def f(a, t):
        d = ad.jvp(writer, (a.copy(),), (t,))[1]
        return d * t[0]

    check_grads(f, (A, np.array([0.3, -0.2, 0.5])))


def test_a_pullback_sees_its_arguments_as_they_were() -> None:
    def f(x):
        y = x.copy()
        value, pullback = ad.vjp(lambda a: a[0] ** 2 * a[1], y)
        y[0] = 10.0
        (g,) = pullback(1.0)
        return g[0] * g[1] + y[0] * value

    check_grads(f, (A,))


def test_a_pullback_of_a_function_that_writes_is_called_twice() -> None:
    def f(x):
        y = x.copy()
        value, pullback = ad.vjp(writer, y)
        (one,), (two,) = pullback(1.0), pullback(x[0])
        return np.sum(one * two) + y[0] * value

    check_grads(f, (A,))


def test_a_pullback_sees_a_list_as_it_was() -> None:
    def f(x):
        values = [x]
        for _ in range(2):
            values.append(values[-1] * x)
        value, pullback = ad.vjp(lambda v: v[0] * v[2] ** 2, values)
        values[0] = 5.0
        (g,) = pullback(1.0)
        return g[0] * g[2] + value

    check_grads(f, (1.3,))


def test_a_derivative_inside_a_recursive_function() -> None:
    def f(x, n):
        if n == 0:
            return x
        return ad.grad(lambda y: y**2 * x)(x) + f(x * 0.5, n - 1)

    check_grads(f, (1.3, 3), wrt=0)


def test_a_list_that_is_changed_and_grows() -> None:
    def f(xs, a):
        a[0] *= xs[1]
        xs[0] = xs[0] * xs[1] * a[1]
        xs.append(xs[2] * xs[0])
        xs.append(1.0)
        xs.pop()
        return xs[0] * xs[2] * xs[3] * a[0]

    check_grads(f, ([3.0, 1.0, 2.0], np.array([1.0, 2.0])))


def test_a_list_of_arrays_that_is_changed() -> None:
    def f(xs):
        xs[0] = xs[0] * xs[1]
        return np.sum(xs[0] * xs[2])

    check_grads(f, ([A, A * 0.5, A - 1.0],))


@dataclass
class Oscillator:
    place: float
    speed: float
    name: str = "one"

    def kick(self, amount):
        self.speed += amount * self.place


@dataclass
class Field:
    scale: float
    values: np.ndarray


class TestObjectsThatAreArguments:
    """Written by the function whose derivative is differentiated again."""

    def test_by_a_method(self) -> None:
        def f(body, amount):
            body.kick(amount)
            body.place += 0.1 * body.speed**2
            return body.place * body.speed

        check_grads(f, (Oscillator(0.3, 0.4), 0.2))

    def test_swapped_in_a_loop(self) -> None:
        def f(one, other, x):
            for _ in range(3):
                one, other = other, one
                one.place *= x
            return one.place * other.speed + other.place

        check_grads(f, (Oscillator(0.2, 0.3), Oscillator(0.4, 0.5), 0.4))

    def test_with_an_array(self) -> None:
        def f(field, x):
            field.scale *= x
            field.values[0] *= field.scale
            return field.scale * np.sum(field.values**2)

        check_grads(f, (Field(0.3, np.array([0.4, 0.3])), 0.2))

    def test_in_a_list(self) -> None:
        def f(bodies):
            for body in bodies:
                body.place *= body.speed
            return bodies[0].place * bodies[1].place

        check_grads(f, ([Oscillator(0.1, 0.2), Oscillator(0.3, 0.4)],))

    def test_what_the_derivative_leaves_behind(self) -> None:
        def f(field):
            field.values[0] *= field.scale
            field.scale += 1.0
            return np.sum(field.values**2)

        def second(field):
            return ad.grad(f)(field).scale * field.scale

        field = Field(0.5, np.array([2.0, 3.0]))
        gradient = ad.grad(second)(field)
        assert field.scale == 1.5
        assert np.array_equal(field.values, [1.0, 3.0])
        # second is 2 * scale * value0**2 * (scale + 1)
        assert np.isclose(gradient.scale, 2 * 4.0 * (2 * 0.5 + 1))
        assert np.allclose(gradient.values, [4 * 0.5 * 2.0 * 1.5, 0.0])

    def test_one_array_in_two_places_is_refused(self) -> None:
        def f(items):
            items[0][0] *= items[1][1]
            return items[0][0] * items[1][0]

        array = np.array([1.0, 2.0])
        with pytest.raises(ad.DifferentiationError, match="share memory"):
            ad.grad(lambda items: ad.grad(f)(items)[0][0])([array, array])

    def test_an_object_that_an_inner_derivative_changes(self) -> None:
        def f(field):
            field.values[0] *= field.scale
            field.scale += 1.0
            return np.sum(field.values**2)

        def outer(x):
            field = Field(x, np.array([2.0, 3.0]))
            return ad.grad(f)(field).scale * field.scale * field.values[0]

        check_grads(outer, (0.5,))
