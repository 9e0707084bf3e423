"""Real and imaginary parts of complex arrays, which are views that can be written."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import either, refused, right, second
from sampling import check_grads

X = np.array([0.3, 0.5, 0.7])


def measure(z: Any) -> Any:
    """Depends on both parts of each number, and tells the numbers apart."""
    weights = np.reshape(np.arange(1.0, 1.0 + z.size), z.shape)
    return np.sum(weights * (z * z * z).real + np.cos(weights) * (z * z).imag)


def both_parts(x: Any) -> Any:
    z = np.zeros(3, complex)
    z.real = x
    z.imag = x * x
    return np.sum(np.abs(z) ** 2)


def parts_of_what_varies(x: Any) -> Any:
    z = x * (1 + 2j)
    z.imag = x**3
    z.real = np.sin(x)
    return measure(z)


def added(x: Any) -> Any:
    z = x * (1 + 2j)
    z.real += x * x
    z.imag -= np.sin(x)
    z.imag += 1.5
    return measure(z)


def scaled(x: Any) -> Any:
    z = np.exp(x * (1 + 2j))
    z.real *= x
    z.imag /= x
    z.imag **= 2
    return measure(z)


def slices(x: Any) -> Any:
    z = x * (1 + 2j)
    z.imag[1:] = x[:-1] ** 2
    z.imag[:2] += x[1:]
    z.real[...] = x[::-1]
    z.imag[::-1][0] *= x[2]
    return measure(z)


def elements(x: Any) -> Any:
    z = np.zeros(3, complex)
    for i in range(3):
        z.real[i] = x[i] ** 2
        z.imag[i] = np.sin(x[i]) + z.real[i]
        z.imag[i] += x[0] * z.imag[i - 1]
        z.imag[0] -= x[i]
    return measure(z)


def gathered(x: Any) -> Any:
    z = x * (1 + 2j)
    z.imag[[2, 0]] = x[:2] ** 2
    z.imag[[0, 1]] += x[1:]
    z.imag[x > 0.4] -= 0.5 * x[x > 0.4]
    np.add.at(z.imag, np.array([0, 0, 2]), x)
    np.subtract.at(z.imag, np.array([1, 1]), x[0])
    return measure(z)


def repeated_places(x: Any) -> Any:
    z = x * (1 + 2j)
    z.imag[np.array([1, 1, 0])] = x * x
    z.imag[np.array([2, 2])] += x[:2]
    return measure(z)


def parts_of_each_other(x: Any) -> Any:
    z = np.exp(x * (1 + 2j))
    z.imag = z.real
    z.imag[1:] = z.imag[:-1]
    z.real = z.imag * x
    z.real[:-1] += z.imag[1:]
    z.imag = -z.imag
    return measure(z)


def read_after_it_was_written(x: Any) -> Any:
    z = x * (1 + 2j)
    im = z.imag
    before = np.sum(im * im * x)
    z *= 1j * x
    between = np.sum(im**3)
    im[0] = x[1]
    z.real = im * im
    return before + between * measure(z) + im[0] * im.sum()


def views_of_views(x: Any) -> Any:
    z = x * (1 + 2j)
    tail = z.imag[1:]
    last = tail[-1:]
    last *= x[0]
    tail[0] = x[2]
    np.flip(z).imag[0] += x[1]
    np.flip(z.imag)[1] *= x[1]
    return measure(z) + np.sum(tail) * len(last)


def written_by_functions(x: Any) -> Any:
    z = x * (1 + 2j)
    np.copyto(z.imag, x * x)
    np.multiply(z.real, x, out=z.real)
    np.multiply(z.imag, x, out=z.imag)
    z.imag[1:].fill(x[0])
    for part in (z.real, z.imag):
        part += x
    return measure(z)


def in_a_function_that_is_called(x: Any) -> Any:
    def turn(part: Any, factor: Any) -> None:
        part *= factor
        part[0] = factor

    z = x * (1 + 2j)
    turn(z.imag, x[1])
    turn(z.real, x[2])
    return measure(z)


def numbers_are_spread(x: Any) -> Any:
    z = x * (1 + 2j)
    z.real = x[0]
    z.imag = 2
    z.imag[1:] = x[1]
    return measure(z)


def in_one_of_two_ways(x: Any) -> Any:
    z = x * (1 + 2j)
    for i in range(4):
        if i % 2:
            z.imag += x
        else:
            z.real = z.imag * x
    return measure(z)


def overwritten(x: Any) -> Any:
    z = x * (1 + 2j)
    z.imag = x**3
    z[1] = x[0] * (1 - 1j)
    z.imag = x**2
    return measure(z)


def of_a_result(x: Any) -> Any:
    z = np.fft.fft(x)
    z.imag[1] = x[0]
    z.real[2] *= x[1]
    return np.sum(np.fft.ifft(z).real ** 3)


VECTORS = (
    both_parts,
    parts_of_what_varies,
    added,
    scaled,
    slices,
    elements,
    gathered,
    repeated_places,
    parts_of_each_other,
    read_after_it_was_written,
    views_of_views,
    written_by_functions,
    in_a_function_that_is_called,
    numbers_are_spread,
    in_one_of_two_ways,
    overwritten,
    of_a_result,
)


@pytest.mark.parametrize("f", VECTORS)
def test_first_order(f: Callable[[Any], Any]) -> None:
    right(f, X)


SECOND = (scaled, slices, elements, gathered, parts_of_each_other, read_after_it_was_written, views_of_views)


@pytest.mark.parametrize("f", SECOND)
def test_second_order(f: Callable[[Any], Any]) -> None:
    second(f, X)
    direction = np.array([0.5, -1.0, 2.0])
    expected = ad.hessian(f)(X) @ direction
    np.testing.assert_allclose(ad.hvp(f, (X,), (direction,))[0], expected, rtol=1e-9)
    np.testing.assert_allclose(ad.grad(lambda x: ad.jvp(f, (x,), (direction,))[1])(X), expected, rtol=1e-9)


@pytest.mark.parametrize("f", [both_parts, elements, parts_of_each_other])
def test_machine_code(f: Callable[[Any], Any]) -> None:
    """In halves, too, for one of them: what is taken apart is the same statements."""
    right(f, X, native=True, modes=("grad", "value") if f is elements else ("value",))


def columns(x: Any) -> Any:
    z = np.outer(x, x * (1 + 2j))
    z.T.imag[0] = x
    z.imag.T[1] += x
    z.imag[:, 1] = x * x
    z.imag[np.ix_([0, 2], [1, 2])] *= x[0]
    z[0].imag[1:] = x[0]
    z.imag = z.imag @ z.real
    return measure(z) + np.sum(np.diagonal(z.imag) ** 2)


def a_number(x: Any) -> Any:
    z = np.array(x[0] * (1 + 2j))
    z.imag = x[1]
    z.imag[...] += x[2]
    z.real = x[1] * x[2]
    return (z * z).real + (z**3).imag


def in_single_precision(x: Any) -> Any:
    z = np.zeros(3, np.complex64)
    z.imag = x
    z.real[1] = x[0]
    z.imag[2] += x[1] * x[1]
    return measure(z)


def copies_stay(x: Any) -> Any:
    z = x * (1 + 2j)
    copied, chosen = z.imag.copy(), z.imag[[0, 1]]
    chosen[0] = x[2]
    copied[1] = x[0]
    z.imag = x * x
    return measure(z) + np.sum(copied * copied) + np.sum(chosen**3)


def sorted_in_place(x: Any) -> Any:
    z = x * (-1 + 2j)
    z.imag.sort()
    z.real.sort()
    return measure(z)


def until_it_fails(x: Any) -> Any:
    z = x * (1 + 2j)
    try:
        z.imag[0] = x[1]
        z.imag[5] = x[0]
    except IndexError:
        z.imag[1] = x[2]
    return measure(z)


class Field:
    def __init__(self, z: Any) -> None:
        self.z = z
        self.im = z.imag


def kept_in_an_object(x: Any) -> Any:
    field = Field(x * (1 + 2j))
    field.im[0] = x[1]
    field.z.imag += x
    field.z *= x
    return measure(field.z) + field.im[1]


def in_an_inner_derivative(x: Any) -> Any:
    def inner(y: Any) -> Any:
        z = y * (1 + 2j)
        z.imag = y * y
        z.imag[0] *= y[1]
        return measure(z)

    return np.sum(ad.grad(inner)(x) ** 2)


@pytest.mark.parametrize(
    "f", [columns, a_number, copies_stay, sorted_in_place, until_it_fails, kept_in_an_object, in_an_inner_derivative]
)
def test_other_ways_to_write(f: Callable[[Any], Any]) -> None:
    right(f, X)


def test_single_precision() -> None:
    single = X.astype(np.float32)
    found = ad.grad(in_single_precision)(single)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ad.grad(in_single_precision)(X), rtol=1e-5)
    np.testing.assert_array_equal(
        ad.value_and_grad(in_single_precision)(single)[0], in_single_precision(single), strict=True
    )


def test_an_argument_that_is_complex() -> None:
    def f(z: Any, x: Any) -> Any:
        z.imag[1:] = z.real[1:] * x[1:]
        z.real *= z.imag
        return measure(z)

    z, step = X * (1 + 2j), 1e-6
    found, by_x = ad.grad(f, (0, 1))(z.copy(), X)
    for place, unit in enumerate(np.eye(3)):
        along, across = (
            (f(z + step * turn * unit, X) - f(z - step * turn * unit, X)) / (2 * step) for turn in (1.0, 1j)
        )
        np.testing.assert_allclose(found[place], along - 1j * across, rtol=1e-7, atol=1e-8)
        ahead, behind = f(z.copy(), X + step * unit), f(z.copy(), X - step * unit)
        np.testing.assert_allclose(by_x[place], (ahead - behind) / (2 * step), rtol=1e-7, atol=1e-8)


def test_a_view_is_the_result() -> None:
    def f(x: Any) -> Any:
        z = x * (1 + 2j)
        part = z.imag
        part[0] = x[1] * x[2]
        return part

    value, pullback = ad.vjp(f, X)
    np.testing.assert_array_equal(value, f(X))
    np.testing.assert_allclose(pullback(np.array([1.0, 10.0, 100.0]))[0], [0.0, 0.7 + 20.0, 0.5 + 200.0])


def test_the_other_part_stays_as_it_is() -> None:
    def f(x: Any) -> Any:
        z = np.array([-0.0, np.inf, 0.5]) + 0j
        z.real[0] = -0.0
        z.imag = np.array([np.inf, 1.0, 2.0]) * x
        z.imag += x
        z.imag -= 2.0 * x
        return z

    value, _ = ad.vjp(f, X)
    np.testing.assert_array_equal(value, f(X))
    np.testing.assert_array_equal(np.signbit(value.real), np.signbit(f(X).real))


def test_real_arrays() -> None:
    def real_parts(x: Any) -> Any:
        z = x * 2.0
        z.real = x * x
        z.real[0] += x[1]
        z.real *= x
        return np.sum(z * x)

    def imaginary_parts(x: Any) -> Any:
        z = x * 2.0
        z.imag = x
        return np.sum(z)

    right(real_parts, X)
    assert "no imaginary part" in str(refused(lambda: ad.grad(imaginary_parts)(X)))


def chosen_when_it_runs(x: Any) -> Any:
    z = x * (1 + 2j)
    part = z.imag if x[0] > 0 else z.real
    part[0] = x[1]
    return measure(z)


def kept_in_a_list(x: Any) -> Any:
    z = x * (1 + 2j)
    views = []
    for _ in range(len(x)):
        views.append(z.imag)
    views[0][1] = x[0]
    return measure(z)


def reshaped(x: Any) -> Any:
    z = x * (1 + 2j)
    z.imag.reshape(-1)[0] = x[1]
    return measure(z)


def shortened(x: Any) -> Any:
    z = x * (1 + 2j)
    part = z.imag
    while len(part) > 1:
        part = part[1:]
        part *= x[0]
    return measure(z)


@pytest.mark.parametrize("f", [chosen_when_it_runs, kept_in_a_list, reshaped, shortened])
def test_views_that_are_lost_sight_of(f: Callable[[Any], Any]) -> None:
    right(f, X, modes=("jvp",))
    either(right, f, X, modes=("grad",))


def scaled_then_written_in_part(x: Any) -> Any:
    z = np.exp(1j * x)
    z[:] *= 0.5j
    z.real[:] = x
    return np.vdot(z, z).real


def test_supports_of_complex_arrays_tell_of_both_parts() -> None:
    """The real part of the cotangent is left out, the imaginary part is not."""
    right(scaled_then_written_in_part, X)
    _, pullback = ad.vjp(scaled_then_written_in_part, X)
    np.testing.assert_allclose(pullback(1.0)[0], 2 * X - 0.5 * np.cos(X) * np.sin(X))


def copied_then_written_in_part(x: Any, v: Any) -> Any:
    z = np.exp(1j * (v * x))
    y = np.array(z)
    y[::2] += v[0]
    y.imag *= 1.0
    return np.vdot(y, y).real


@pytest.mark.parametrize("v", [X, np.array([0.3, 0.1, 0.5, 0.2, 0.7])[::2]])
def test_supports_of_copies_of_complex_arrays(v: Any) -> None:
    check_grads(copied_then_written_in_part, (0.21, v))
