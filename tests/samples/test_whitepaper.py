"""The rows of the whitepaper on differentiation, each as a user would write it, with the numbers of its samples."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad


def tanh(x):
    return (math.exp(x) - math.exp(-x)) / (math.exp(x) + math.exp(-x))


def foo(x, y):
    return tanh(x) + tanh(y)


def test_reverse_mode_of_arbitrary_functions():  # A1
    value, pullback = ad.vjp(foo, 3.0, 4.0)
    assert value == pytest.approx(math.tanh(3.0) + math.tanh(4.0))
    assert pullback(1.0) == pytest.approx((0.009866037165440211, 0.0013409506830258655))


def halvings(x):
    count = 0
    while x > 1.0:
        if x > 8.0:
            x = x / 4.0
        else:
            x = x / 2.0
        count += 1
    return x * count


def test_what_the_reverse_sweep_keeps_is_known():  # A2
    report = str(ad.tape_report(ad.grad(halvings), 20.0))
    assert "keeps  x " in report and "again  x > 8.0" in report  # the branch is decided again from what is kept
    assert ad.grad(halvings)(20.0) == pytest.approx(4 / 32)


def test_seeds():  # A3
    _, pullback = ad.vjp(tanh, 2.0)
    assert pullback(3.0)[0] == pytest.approx(0.211952475)
    assert pullback(1.0)[0] == pytest.approx(0.070650825)  # called again


def test_fan_ins_are_added():  # A4
    def fanned(x, items):
        kept = [x, *items]
        return x * x + sum(kept) * x

    assert ad.grad(fanned, wrt=(0, 1))(3.0, [1.0, 2.0]) == (15.0, [3.0, 3.0])


def test_the_gradient_operator():  # A5
    assert ad.grad(tanh)(2.0) == pytest.approx(0.07065082485316447)
    assert ad.grad(foo, wrt=(0, 1))(3.0, 4.0) == pytest.approx((0.009866037165440211, 0.0013409506830258655))


def test_value_and_gradient():  # A6
    value, gradient = ad.value_and_grad(tanh)(2.0)
    assert (value, gradient) == pytest.approx((0.96402758, 0.07065082485316447))


@dataclass
class Line:
    slope: float
    offset: float

    def at(self, x):
        return self.slope * x + self.offset


def test_choosing_parameters():  # A7
    assert ad.grad(foo, wrt=0)(3.0, 4.0) == pytest.approx(0.009866037165440211)
    assert ad.grad(foo, wrt="y")(3.0, 4.0) == pytest.approx(0.0013409506830258655)
    assert ad.grad(foo, wrt=(1, 0))(3.0, 4.0) == pytest.approx((0.0013409506830258655, 0.009866037165440211))
    by_self, by_x = ad.grad(Line.at, wrt=("self", "x"))(Line(2.0, 1.0), 5.0)
    assert (by_self.slope, by_self.offset, by_x) == (5.0, 1.0, 2.0)
    with pytest.raises(ad.DifferentiationError, match="AD0405"):
        ad.grad(foo, wrt=2)(3.0, 4.0)


def test_floats_are_differentiated_and_integers_are_not():  # A9, A11
    with pytest.raises(ad.DifferentiationError, match="AD0403"):
        ad.grad(lambda a: (a * a).sum())(np.arange(3))
    assert ad.grad(lambda a: (a * a).sum())(np.arange(3.0)).tolist() == [0.0, 2.0, 4.0]


def test_the_compiler_knows_no_function():  # A13
    def cubed(x):
        return opaque_cube(x)

    def opaque_cube(x):
        raise AssertionError("the body is not entered")

    @ad.derivative_of(opaque_cube)
    def opaque_cube_derivative(x):
        return x**3, lambda ct: 3 * x**2 * ct

    assert ad.grad(cubed)(2.0) == 12.0


def test_only_what_is_on_the_way_has_to_be_differentiable():  # A14
    def noted(x, labels):
        place = labels.index("b")  # no derivative, and none is needed
        return x * place

    assert ad.grad(noted)(3.0, ["a", "b"]) == 1.0


def test_a_declared_derivative_is_used_and_the_body_is_not_entered():  # A20
    def steep(x):
        raise AssertionError("entered")

    @ad.derivative_of(steep)
    def steep_derivative(x):
        return 5.0 * x, lambda ct: 5.0 * ct

    assert ad.value_and_grad(lambda x: steep(x) + 1.0)(2.0) == (11.0, 5.0)


def test_what_the_derivative_does_not_use_is_not_computed():  # A21
    text = ad.source(ad.grad(lambda x: math.sin(x) + 3.0 * x), 1.0)
    assert "math.sin" not in text and "math.cos" in text


def test_errors_come_before_anything_runs():  # A22
    ran = []

    def careless(x):
        ran.append(x)
        return float.fromhex(float.hex(x))

    with pytest.raises(ad.DifferentiationError) as refusal:
        ad.grad(careless)(1.0)
    assert not ran
    assert "help: " in str(refusal.value) and "^" in str(refusal.value)


def test_differentiation_does_not_need_the_array_library():  # A23
    assert ad.grad(lambda p: p[0] * p[1]["k"])((2.0, {"k": 3.0})) == (3.0, {"k": 2.0})


def test_operators_are_ordinary_functions():  # A24
    operators = [ad.grad, ad.value_and_grad, ad.jacobian]
    assert [operator(math.exp)(0.0) for operator in operators] == [1.0, (1.0, 1.0), 1.0]


def test_with_respect_to_the_properties_of_a_model():  # A28
    gradient = ad.grad(Line.at, wrt="self")(Line(2.0, 1.0), 5.0)
    assert gradient == ad.grad(lambda line: line.at(5.0))(Line(2.0, 1.0))


def test_higher_order_without_confusion():  # A31
    def outer(x):
        return x * ad.grad(lambda y: x * y)(1.0)

    assert ad.grad(ad.grad(ad.grad(math.exp)))(0.0) == 1.0
    assert ad.grad(ad.compile(outer))(3.0) == 6.0  # of x * x


def test_forward_mode():  # A32
    assert ad.jvp(foo, (3.0, 4.0), (1.0, 0.0))[1] == pytest.approx(0.009866037165440211)
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    product = ad.hvp(lambda x: 0.5 * x @ matrix @ x, (np.ones(2),), (np.array([1.0, -1.0]),))
    assert np.allclose(product, matrix @ [1.0, -1.0])


def test_control_flow():  # A33
    def searched(x, limit):
        for k in range(100):
            if k == 2:
                continue
            x = x * 1.5
            try:
                if x > limit:
                    raise OverflowError
            except OverflowError:
                break
        else:
            return 0.0
        return x

    assert ad.grad(searched)(1.0, 5.0) == pytest.approx(1.5**4)


@pytest.mark.parametrize("make", [lambda x: math.sqrt(3.0), lambda x: 2.0])
def test_a_constant_result_is_told(make):  # the warning of the document
    with pytest.warns(ad.DifferentiationWarning, match="AD0501"):
        assert ad.grad(make)(1.0) == 0.0


def test_warnings_can_be_silenced():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=ad.DifferentiationWarning)
        assert ad.grad(lambda x: 4.0)(1.0) == 0.0
