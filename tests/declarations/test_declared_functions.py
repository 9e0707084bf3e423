"""``@ad.differentiable`` on functions and methods: checked where it stands, or where it is differentiated."""

import math
import sys
import warnings
from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np
import pytest

import adjoint as ad
from adjoint.cli import main
from regressions.differences import refused


def test_it_stays_the_function_that_it_is():
    def area(x: float, y: np.ndarray) -> float:
        return x * np.sum(y)

    assert ad.differentiable(area) is area
    assert ad.grad(area)(2.0, np.ones(3)) == 3.0
    assert ad.differentiable(wrt=("x", "y"))(area) is area


def message(run):
    (problem,) = refused(run).diagnostics
    return problem.code, problem.labels[0].text if problem.labels else problem.notes[0]


def test_the_body_is_checked_where_types_tell():
    def declare():
        @ad.differentiable
        def next_to(x: float) -> float:
            return math.nextafter(x, 2.0)

    assert message(declare) == ("AD0201", "the body of 'nextafter' is not visible here")


def test_arrays_of_unknown_rank_are_given_the_benefit_of_the_doubt():
    @ad.differentiable
    def corner(x: np.ndarray) -> float:
        return x[0, 0, 0] * 2.0

    @ad.differentiable
    def product(x: np.ndarray, y: np.ndarray) -> float:
        return x @ y

    assert ad.grad(product)(np.ones(2), np.ones(2)).tolist() == [1.0, 1.0]

    def declare():
        @ad.differentiable
        def opaque(x: np.ndarray) -> float:
            return math.nextafter(float(np.sum(x)), 2.0)

    assert message(declare)[0] == "AD0201"


def test_what_is_not_told_yet_is_told_later():
    @ad.differentiable
    def without_types(x):
        return math.nextafter(x, 2.0)

    @ad.differentiable
    def of_the_future(x: float) -> float:
        return defined_later(x)  # noqa: F821

    assert message(lambda: ad.grad(without_types)(1.0))[0] == "AD0201"
    assert refused(lambda: ad.grad(of_the_future)(1.0))


def test_function_values_among_the_parameters():
    @ad.differentiable
    def twice(f: ad.Fn[[float], float], x: float) -> float:
        return f(f(x))

    assert ad.grad(twice, wrt=1)(math.exp, 0.0) == pytest.approx(math.e)


@pytest.mark.parametrize(
    ("wrt", "said"),
    [
        ("z", "wrt names 'z', which is not among its parameters"),
        (("y", "x"), "wrt names parameters in another order, or twice"),
        (("x", "x"), "wrt names parameters in another order, or twice"),
        ((1, 0), "wrt names parameters in another order, or twice"),
        (7, "wrt=7: it has 4 parameters, the first is 0"),
        (-1, "wrt=-1: indices of parameters start at 0"),
        (1.5, "wrt=1.5 is neither an index nor a name"),
        ("self", "wrt names 'self', and it is no method of an object"),
        ("n", "the parameter 'n' of type 'int' cannot vary"),
        ("f", "the parameter 'f' of type 'Fn[[float], float]' cannot vary"),
        ((), "wrt names no parameter"),
    ],
)
def test_parameters_that_are_none(wrt, said):
    def declare():
        @ad.differentiable(wrt=wrt)
        def product(x: float, y: float, n: int = 3, f: ad.Fn[[float], float] = None) -> float:
            return x * y

    assert message(declare) == ("AD0430", said)


def no_parameters() -> float:
    return 1.0


def nothing(x: float) -> None:
    print(x)


def nothing_said(x):
    print(x)


def text(x: float) -> str:
    return str(x)


def whole(n: int) -> float:
    return 1.0 * n


def pair(x: float) -> tuple[float, int]:
    return x, 1


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        (no_parameters, {}, "it has no parameters to differentiate for"),
        (nothing, {}, "it returns nothing"),
        (nothing_said, {}, "it returns nothing"),
        (text, {}, "its result of type 'str' cannot vary"),
        (whole, {}, "none of its parameters can vary"),
        (pair, {"result": 1}, "its result of type 'int' cannot vary"),
        (pair, {"result": 2}, "result=2: it returns 2 values, the first is 0"),
    ],
)
def test_signatures_that_have_no_derivative(function, options, said):
    assert message(lambda: ad.differentiable(**options)(function)) == ("AD0430", said)


def test_declared_twice():
    def declare():
        @ad.differentiable
        @ad.differentiable
        def square(x: float) -> float:
            return x * x

    assert message(declare) == ("AD0430", "it is declared twice, with the same parameters")


def test_what_is_no_function():
    with pytest.raises(TypeError, match=r"for classes, functions and methods, not for 3\.0"):
        ad.differentiable(3.0)
    with pytest.raises(TypeError, match="frozen: for classes"):
        ad.differentiable(frozen=True)(pair)
    with pytest.raises(TypeError, match="wrt: for functions"):
        ad.differentiable(wrt="x")(type("Plain", (), {}))


def test_machine_code_without_asking():
    @ad.differentiable(native=True, wrt="x")
    def square(x: float) -> float:
        return x * x

    assert repr(ad.grad(square)) == "grad(square, native=True)"
    assert ad.grad(square)(3.0) == 6.0


# Classes


class Shape(ABC):
    @abstractmethod
    @ad.differentiable
    def area(self, x: float) -> float: ...


class HasLoss(Protocol):
    @ad.differentiable(wrt=("self", "x"))
    def loss(self, x: float) -> float: ...


def test_methods_are_checked_with_their_class():
    @ad.differentiable
    class Rectangle(Shape):
        width: float

        @ad.differentiable(wrt=("self", "x"))
        def area(self, x: float) -> float:
            return self.width * x

        @ad.differentiable
        @property
        def twice(self) -> float:
            return self.width * 2.0

        @staticmethod
        @ad.differentiable
        def half(x: float) -> float:
            return 0.5 * x

        @ad.differentiable
        @classmethod
        def made(cls, x: float) -> float:
            return x * x

    gradient = ad.grad(lambda shape, x: shape.area(x) * shape.twice, wrt=(0, 1))(Rectangle(2.0), 3.0)
    assert (gradient[0].width, gradient[1]) == (24.0, 8.0)

    def declare():
        @ad.differentiable
        class Strange(Shape):
            width: float

            @ad.differentiable(wrt="self")
            def area(self, x: float) -> float:
                return math.nextafter(self.width, x)

    assert message(declare)[0] == "AD0201"


def test_the_object_comes_first():
    def declare():
        class Strange:
            @ad.differentiable(wrt=("x", "self"))
            def area(self, x: float) -> float:
                return x

    assert message(declare) == ("AD0430", "'self' stands behind others in wrt")


def test_overriding_without_a_declaration_is_told():
    class Square(Shape):
        def area(self, x: float) -> float:
            return x * x

    with pytest.warns(ad.DifferentiationWarning, match=r"'Square\.area' is not declared") as caught:
        assert ad.grad(lambda x: Square().area(x))(3.0) == 6.0
    (problem,) = caught[0].message.diagnostics
    assert [label.text for label in problem.labels] == [
        "Square.area overrides Shape.area, which is declared to be differentiable",
        "it is declared here",
    ]
    with pytest.warns(ad.DifferentiationWarning, match="Cube.area"):

        @ad.differentiable
        class Cube(Shape):
            edge: float

            def area(self, x: float) -> float:
                return self.edge * x

    class Declared(Shape):
        @ad.differentiable
        def area(self, x: float) -> float:
            return x * x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ad.grad(lambda x: Declared().area(x))(3.0) == 6.0


MODULE = """
import math
from abc import ABC, abstractmethod

import adjoint as ad


@ad.differentiable
def good(x: float) -> float:
    return later(x)


@ad.differentiable
def bad(x: float) -> float:
    return opaque(x)


@ad.differentiable
def without_types(x):
    return x


def later(x):
    return x * x


def opaque(x):
    return math.nextafter(x, 2.0)


class Shape(ABC):
    @abstractmethod
    @ad.differentiable
    def area(self, x: float) -> float: ...


class Square(Shape):
    def area(self, x: float) -> float:
        return x * x
"""


def test_the_command_line_finds_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shapes_of_test.py").write_text(MODULE)
    assert main(["check", "shapes_of_test.py"]) == 1
    sys.modules.pop("shapes_of_test", None)
    found = capsys.readouterr()
    assert [line.partition(": ")[2] for line in found.out.splitlines()] == [
        "good: differentiable",
        "bad: refused",
        "without_types: not checked: the parameter 'x' has no annotation",
        "Shape.area: declared for what overrides it",
        "",
    ]
    assert "error[AD0201]" in found.err and "called from shapes_of_test.py:15:12, opaque(x)" in found.err
    assert "warning[AD0510]: 'Square.area' is not declared" in found.err
