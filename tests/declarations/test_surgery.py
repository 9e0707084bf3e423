"""Cotangents that pass a function of the user's, or a block: everywhere derivatives are, and like the program says."""

import math
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right

Recorded = list[Any]
seen: Recorded = []


def clip(ct):
    return max(min(ct, 1.0), -1.0)


def clipped_power(x):
    for _ in range(6):
        x = ad.with_derivative(x, clip)
        x = 3.0 * x
    return x


def square(ct):
    return ct * ct


def squared_in_a_loop(x):
    while x < 10.0:
        x = ad.with_derivative(x, lambda ct: 0.1 * ct * ct)
        x = x * x + 0.1
    return x


def scaled_by_the_value(x):
    y = ad.with_derivative(x * x, lambda ct: ct * ct * x)
    return y * y


def recursive(x, n):
    if n == 0:
        return x
    x = ad.with_derivative(x, lambda ct: 0.1 * n * ct * ct)
    return recursive(x * x, n - 1) + x


def in_a_recursion(x):
    return recursive(x, 3)


def on_a_branch(x):
    y = x * x
    if y > 1.0:
        y = ad.with_derivative(y, square)
    return y * y


def arrays(x):
    h = np.tanh(x)
    for _ in range(3):
        h = ad.with_derivative(h * h + x, lambda ct: np.clip(ct, -1.0, 1.0) * h)
    return np.sum(h * h)


def written_array(x):
    h = np.zeros(3)
    for i in range(3):
        h[:] = np.tanh(h) + x * i
        h = ad.with_derivative(h, lambda ct: np.clip(ct, -1.0, 1.0) * 2.0)
        h[0] = h[0] * h[1]
    return np.sum(h * h)


def test_the_whitepapers_example() -> None:
    assert clipped_power(2.0) == 1458.0
    assert ad.grad(clipped_power)(2.0) == 1.0
    assert ad.value_and_grad(clipped_power)(2.0) == (1458.0, 1.0)
    assert ad.replace_gradient is ad.with_derivative


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (scaled_by_the_value, 3.0, 8.0 * 3.0**6),
        (on_a_branch, 2.0, 8.0**2 * 4.0),
        (on_a_branch, 0.5, 4.0 * 0.5**3),
    ],
)
def test_values(f: Any, x: float, expected: float) -> None:
    assert ad.grad(f)(x) == pytest.approx(expected)
    value, pullback = ad.vjp(f, x)
    assert value == f(x)
    assert pullback(1.0)[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "f", [scaled_by_the_value, squared_in_a_loop, in_a_recursion, on_a_branch, written_array], ids=lambda f: f.__name__
)
def test_second_derivatives_are_those_of_the_gradient(f: Any) -> None:
    """The derivative of a gradient is that of its program, where the function of the cotangent is like any other."""
    gradient, x, h = ad.grad(f), 1.5, 1e-6
    differences = (gradient(x + h) - gradient(x - h)) / (2.0 * h)
    assert ad.grad(gradient)(x) == pytest.approx(differences, rel=1e-6)
    assert ad.hessian(f)(x) == pytest.approx(differences, rel=1e-6)
    assert ad.jvp(gradient, (x,), (1.0,))[1] == pytest.approx(differences, rel=1e-6)


def test_second_derivatives_of_arrays() -> None:
    x, h = np.array([2.0, 0.1, 0.2]), 1e-6
    gradient = ad.grad(arrays)
    columns = [(gradient(x + step) - gradient(x - step)) / (2.0 * h) for step in h * np.eye(3)]
    np.testing.assert_allclose(ad.hessian(arrays)(x), np.array(columns).T, rtol=1e-6, atol=1e-8)


def test_derivatives_inside() -> None:
    def f(x):
        return ad.grad(scaled_by_the_value)(x) * x

    assert ad.grad(f)(1.5) == pytest.approx(56.0 * 1.5**6)
    assert ad.compile(f)(1.5) == pytest.approx(8.0 * 1.5**7)


def linear(x):
    y = ad.with_derivative(x * x, lambda ct: -0.5 * ct)
    return y * y


def test_forward_mode_transposes_what_is_linear() -> None:
    assert ad.jvp(linear, (3.0,), (1.0,)) == (81.0, -54.0)
    assert ad.grad(linear)(3.0) == -54.0
    assert ad.grad(ad.grad(linear))(3.0) == pytest.approx(-54.0)
    gradient_of_jvp = ad.grad(lambda x: ad.jvp(linear, (x,), (1.0,))[1])
    assert gradient_of_jvp(3.0) == pytest.approx(-54.0)
    turned = ad.jvp(lambda x: ad.with_derivative(x, lambda ct: ct[::-1])[0], (np.arange(3.0),), (np.arange(3.0),))
    assert turned == (0.0, 2.0)


def test_forward_mode_refuses_what_is_not() -> None:
    problem = refused(lambda: ad.jvp(clipped_power, (2.0,), (1.0,))).diagnostics[0]
    assert problem.code == "AD0208"
    assert "forward mode has no cotangents" in problem.labels[0].text


def test_jacobians_go_by_rows_then() -> None:
    def largest(ct):
        if ct > 1.0:
            return 1.0
        return ct

    def f(x):
        y = ad.with_derivative(x[0] * x[1], largest)
        return np.array([3.0 * y, 0.5 * y, x[1] * x[1]])

    expected = [[3.0, 2.0], [1.5, 1.0], [0.0, 6.0]]
    for native in (False, True):
        np.testing.assert_array_equal(ad.jacobian(f, native=native)(np.array([2.0, 3.0])), expected)


def observed(x):
    for i in range(3):
        x = x * x
        with ad.backward(x) as x_bar:
            print(i, x_bar)
    return x


def test_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    assert observed(2.0) == 256.0
    assert capsys.readouterr().out == ""
    assert ad.grad(observed)(2.0) == 1024.0
    assert capsys.readouterr().out == "2 1.0\n1 32.0\n0 256.0\n"
    assert ad.jvp(observed, (2.0,), (1.0,)) == (256.0, 1024.0)
    assert capsys.readouterr().out == ""
    assert ad.grad(ad.grad(observed))(2.0) == pytest.approx(56.0 * 2.0**6)
    assert capsys.readouterr().out == "2 1.0\n1 32.0\n0 256.0\n"


def test_blocks_change_what_they_name() -> None:
    def scaled(x, y):
        with ad.backward((x, y)) as both:
            both = (both[0], 2.0 * both[1])
        z = np.tanh(x * y)
        with ad.backward(z) as z_bar:
            largest = np.max(np.abs(z_bar))
            if largest > 1.0:
                z_bar = z_bar / largest
        return np.sum(z * z) * 10.0

    def plain(x, y):
        z = np.tanh(x * y)
        return np.sum(z * z) * 10.0

    x, y = np.array([0.1, 0.2]), np.array([0.5, 2.0])
    found = ad.grad(scaled, wrt=(0, 1))(x, y)
    expected = ad.grad(plain, wrt=(0, 1))(x, y)
    largest = np.max(np.abs(20.0 * np.tanh(x * y)))
    np.testing.assert_allclose(found[0], expected[0] / largest)
    np.testing.assert_allclose(found[1], 2.0 * expected[1] / largest)


def test_blocks_write_cotangents_in_place() -> None:
    def f(x):
        with ad.backward(x) as x_bar:
            x_bar[x_bar > 1.0] = 1.0
        return np.sum(x * x)

    np.testing.assert_array_equal(ad.grad(f)(np.array([0.1, 2.0])), [0.2, 1.0])


def test_blocks_check(recwarn: pytest.WarningsRecorder) -> None:
    def f(x):
        y = np.sqrt(x)
        with ad.backward(x) as x_bar:
            assert np.all(np.isfinite(x_bar)), "not finite"
        return np.sum(y * x)

    assert ad.grad(f)(np.ones(2)).tolist() == [1.5, 1.5]

    def g(x):
        with ad.backward(x) as x_bar:
            if not math.isfinite(x_bar):
                raise ValueError(x_bar)
        return x * x

    for native in (False, True):
        with pytest.raises(ValueError, match="nan"):
            ad.grad(g, native=native)(math.nan)


def test_a_debugger_in_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def hook() -> None:
        frame = sys._getframe(1)
        found.append((frame.f_code.co_name, dict(frame.f_locals)))

    monkeypatch.setattr(sys, "breakpointhook", hook)

    def f(x):
        with ad.backward(x) as x_bar:
            breakpoint()
            print(end=str(x_bar)[:0])
        return x * x

    assert ad.grad(f)(3.0) == 6.0
    assert found == [("f_grad", {"x": 3.0, "x_bar": 6.0})]


def test_a_block_is_left_out_under_tracing() -> None:
    lines = []

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code is observed.__code__:
            lines.append(event)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert observed(2.0) == 256.0
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
    assert lines.count("line") == 11


def test_recording() -> None:
    seen.clear()

    def f(x):
        for _ in range(3):
            x = ad.with_derivative(x, seen.append)
            x = x * x
        return x

    assert f(2.0) == 256.0
    assert seen == []
    assert ad.grad(f)(2.0) == 1024.0
    assert seen == [32.0, 256.0, 1024.0]
    assert ad.grad(f)(2.0) == 1024.0
    assert seen == [32.0, 256.0, 1024.0] * 2


def test_what_is_recorded_while_the_function_runs_is_refused() -> None:
    def f(x):
        x = ad.with_derivative(x, seen.append)
        return x * x * len(seen)

    assert refused(lambda: ad.grad(f)(2.0)).diagnostics[0].code == "AD0303"


def test_a_cotangent_of_zero_is_one() -> None:
    """Whether a function runs depends on the place alone, not on the number that comes."""

    def f(x, way):
        y = ad.with_derivative(x * x, lambda ct: ct + 1.0)
        return y if way > 0.0 else 3.0 * x

    assert ad.grad(f)(2.0, 1.0) == 8.0
    assert ad.grad(f)(2.0, -1.0) == 7.0


@dataclass
class Layer:
    weight: float
    bias: np.ndarray
    size: int = 3


def test_structures() -> None:
    def f(layer):
        layer = ad.with_derivative(layer, lambda ct: type(ct)(weight=10.0 * ct.weight, bias=-ct.bias))
        return layer.weight * np.sum(layer.bias) * layer.size

    found = ad.grad(f)(Layer(2.0, np.ones(2)))
    assert found.weight == 60.0
    np.testing.assert_array_equal(found.bias, [-6.0, -6.0])

    def g(layer):
        def half(ct):
            ct.weight = 0.5 * ct.weight

        layer = ad.with_derivative(layer, half)
        return layer.weight * np.sum(layer.bias)

    assert ad.grad(g)(Layer(2.0, np.ones(2))).weight == 1.0

    def swapped(x):
        a, b = ad.with_derivative((x * x, 2.0 * x), lambda ct: (ct[1], ct[0]))
        return a * b * b

    assert ad.grad(swapped)(3.0) == 108.0 * 6.0 + 36.0 * 2.0


def test_numbers_that_the_code_says_have_cotangents_too() -> None:
    def halves(x):
        a, b = ad.with_derivative([x, 3.0], lambda ct: [0.5 * e + 0.5 * e for e in ct])
        return a * b

    def multiplied(x):
        a, b = ad.with_derivative((x, 3.0), lambda ct: (ct[0] * ct[1], ct[1]))
        return a * b

    assert ad.grad(halves)(2.0) == 3.0 and ad.jvp(halves, (2.0,), (1.0,)) == (6.0, 3.0)
    assert ad.grad(multiplied)(2.0) == 6.0
    assert ad.grad(ad.grad(multiplied))(2.0) == 3.0


def test_other_uses_do_not_pass() -> None:
    def f(x):
        y = ad.with_derivative(x, lambda ct: 10.0 * ct)
        return x * y

    assert ad.grad(f)(3.0) == 33.0

    def written(x):
        h = np.zeros(3)
        for i in range(3):
            h[i] = x * i
        k = ad.with_derivative(h, lambda ct: 10.0 * ct)
        return np.sum(h * k)

    assert ad.grad(written)(3.0) == 11.0 * 3.0 * 5.0

    def neither(x):
        h = np.zeros(3)
        h[0] = x
        k = ad.with_derivative(h, lambda ct: 10.0 * ct)
        h[1] = x
        return np.sum(h * k)

    problem = refused(lambda: ad.grad(neither)(3.0)).diagnostics[0]
    assert problem.code == "AD0303"
    assert problem.helps[0].startswith("use only the value that is returned")


def test_memory_that_goes_by_one_name() -> None:
    def f(x):
        h = np.zeros(3)
        for i in range(3):
            h[i] = x * i
        if x > 0.0:
            h = ad.with_derivative(h, lambda ct: 2.0 * ct)
        h[1] *= 2.0
        return np.sum(h * h)

    assert ad.grad(f)(2.0) == 64.0
    assert ad.grad(f)(-2.0) == -32.0
    assert ad.jvp(f, (2.0,), (1.0,)) == (32.0, 64.0)

    def argument(x):
        x = ad.with_derivative(x, lambda ct: np.clip(ct, -1.0, 1.0))
        x[0] = x[0] * x[1]
        return np.sum(x * x)

    np.testing.assert_allclose(ad.grad(argument)(np.array([3.0, 0.2])), [0.24, 1.0])


def test_views_of_memory_that_is_written() -> None:
    """What is written through the value behind surgery is read by the array whose view it is."""

    def f(x):
        a = x.copy()
        column = ad.with_derivative(a[:, None], lambda ct: 1.0 * ct)
        column *= 2.0
        return np.sum(a * x)

    assert refused(lambda: ad.grad(f)(np.ones(2))).diagnostics[0].code == "AD0303"
    assert refused(lambda: ad.jvp(f, (np.ones(2),), (np.ones(2),))).diagnostics[0].code == "AD0303"


def test_one_of_several_kinds() -> None:
    def f(x):
        y = ad.with_derivative(None if x > 5.0 else Layer(x, np.ones(1)), lambda ct: 1.0 * ct)
        return x if y is None else y.weight * y.weight

    assert refused(lambda: ad.grad(f)(2.0)).diagnostics[0].code == "AD0230"


def test_an_identity_changes_nothing() -> None:
    def f(x):
        x = ad.with_derivative(x, lambda ct: None)
        y = ad.with_derivative(np.sin(x) * x, lambda ct: ct)
        return np.sum(y * x)

    right(f, np.array([0.3, 1.2]))


def test_machine_code() -> None:
    x = np.array([2.0, 0.1, 0.2])
    np.testing.assert_allclose(ad.grad(arrays, native=True)(x), ad.grad(arrays)(x), rtol=1e-12)
    assert ad.grad(written_array, native=True)(2.0) == pytest.approx(ad.grad(written_array)(2.0))


def test_machine_code_prints(capfd: pytest.CaptureFixture[str]) -> None:
    assert ad.grad(observed, native=True)(2.0) == 1024.0
    assert capfd.readouterr().out == "2 1.0\n1 32.0\n0 256.0\n"


def test_without_derivative() -> None:
    def f(x):
        return x * ad.without_derivative(x, lambda v: round(v, 1))

    assert f(3.14) == 3.14 * 3.1
    assert ad.grad(f)(3.14) == 3.1
    assert ad.grad(lambda x: x * ad.without_derivative(x))(3.0) == 3.0
    assert ad.jvp(f, (3.14,), (1.0,))[1] == 3.1


@pytest.mark.parametrize(
    "f",
    [
        lambda x: ad.stop_gradient(math.sqrt(3.0)),
        lambda x: ad.stop_gradient(3.0),
        lambda x: ad.without_derivative(x) * 2.0 + 1.0,
        lambda x: math.floor(ad.stop_gradient(x)) * 2.0,
    ],
)
def test_a_zero_that_is_meant_is_not_warned_of(f: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ad.grad(f)(2.0) == 0.0


def test_a_constant_of_something_else_does_not_tell() -> None:
    with pytest.warns(ad.DifferentiationWarning, match="AD0501"):
        assert ad.grad(lambda x, y: y * ad.stop_gradient(y))(2.0, 3.0) == 0.0


def test_what_is_no_function() -> None:
    with pytest.raises(TypeError, match="a function of the cotangent, not 'float'"):
        ad.with_derivative(2.0, 3.0)  # type: ignore[arg-type]
