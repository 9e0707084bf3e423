"""Operations that no numbers could make right raise, or are refused; none is a constant with the derivative zero."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused


def with_a_default(x: float, w: Any = None) -> Any:
    return w * x**2


def with_a_result_that_nobody_reads(x: float, w: Any = None) -> Any:
    _unused = w * x
    return x


def in_a_branch(x: float, w: Any = None) -> Any:
    if x > 0:
        return x + w
    return x


PROGRAMS: list[Callable[..., Any]] = [
    with_a_default,
    with_a_result_that_nobody_reads,
    in_a_branch,
    lambda x, w=None: w + x,
    lambda x, w=None: x - w,
    lambda x, w=None: x / w,
    lambda x, w=None: x**w,
    lambda x, w=None: x // w,
    lambda x, w=None: x + (-w),
    lambda x, w=None: max(x, w),
    lambda x, w=None: sum([x, w]),
    lambda x, w=None: abs(w) * x,
    lambda x, w=None: math.sin(w) * x,
    lambda x, w=None: np.sin(w) * x,
    lambda x, w=None: np.dot(w, x),
    lambda x, w=None: np.sum(np.ones(2) * w * x),
    lambda x, w=None: x if w < x else 2 * x,
    lambda x, w=None: w[0] * x,
    lambda x, w=None: w.scale * x,
    lambda x, w=None: w(x),
    lambda x: "a" * x,
    lambda x: "a" + x,
    lambda x: np.sum(np.ones(2) * x + "a"),
    lambda x: [1.0, 2.0] * x,
    lambda x: {"a": 1.0} * x,
    lambda x: {1.0} * x,
    lambda x: x @ x,
    lambda x: x[0] * x,
    lambda x: x.scale * 2.0,
    lambda x: x(2.0),
    lambda x: len(x) * x,
    lambda x: {"a": x}["b"] * x,
    lambda x: math.sin(x, 2.0),
]
MODES: list[Callable[[Callable[..., Any]], Any]] = [
    lambda f: ad.grad(f)(3.0),
    lambda f: ad.value_and_grad(f)(3.0),
    lambda f: ad.jvp(f, (3.0,), (1.0,)),
    lambda f: ad.vjp(f, 3.0)[1](1.0),
    lambda f: ad.grad(ad.grad(f))(3.0),
]


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize("f", PROGRAMS)
def test_what_always_raises_has_no_derivative(f: Callable[..., Any]) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError, KeyError)):
        f(3.0)
    for derive in MODES:
        try:
            found = derive(f)
        except ad.DifferentiationError as refusal:
            assert all(problem.code != "AD0901" for problem in refusal.diagnostics), refusal
        except (TypeError, ValueError):
            pass
        else:
            pytest.fail(f"{found!r}")


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize("f", [with_a_default, with_a_result_that_nobody_reads])
def test_what_always_raises_is_no_machine_code(f: Callable[..., Any]) -> None:
    with pytest.raises((TypeError, ad.DifferentiationError)):
        ad.grad(f, native=True)(3.0)


def handled(x: float, w: Any = None) -> float:
    try:
        return w * x
    except TypeError:
        return 2.0 * x


def asked_first(x: float, w: Any = None) -> float:
    return x * x if w is None else w * x


def test_what_is_handled_or_not_reached_is_as_it_was() -> None:
    assert ad.grad(handled)(3.0) == 2.0
    assert ad.grad(asked_first)(3.0) == 6.0


def test_what_raises_for_some_numbers_only_is_left_out() -> None:
    assert ad.grad(math.log)(-1.0) == -1.0


@pytest.mark.parametrize("order", [1, 2])
def test_digits_that_are_no_whole_number(order: int) -> None:
    def f(x: float) -> float:
        return x * x + round(x, 1.5)  # type: ignore[call-overload,no-any-return]

    derivative = ad.grad(f) if order == 1 else ad.grad(ad.grad(f))
    with pytest.raises(TypeError, match="integer"):
        derivative(2.3)


def test_digits_that_are_a_whole_number() -> None:
    with pytest.warns(ad.DifferentiationWarning, match="AD0512"):
        assert ad.grad(lambda x: x * x + round(x, 1))(2.0) == 4.0


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (1.0, x) + x,
        lambda x: x + (1.0, x),
        lambda x: [1.0, x] + x,
        lambda x: x - [1.0],
        lambda x: (1.0, x) * x,
        lambda x: [x] / x,
        lambda x: (x, x) ** x,
    ],
)
def test_sequences_beside_numbers_of_python(f: Callable[..., Any]) -> None:
    for derive in (lambda: ad.jvp(f, (2.0,), (1.0,)), lambda: ad.vjp(f, 2.0)):
        refusal = refused(derive)
        assert "a number of Python's own" in str(refusal) or "sequence" in str(refusal)
    np.testing.assert_array_equal(ad.jvp(lambda x: (1.0, x) + x, (np.float64(2.0),), (1.0,))[1], [1.0, 2.0])


def applied(function, *args, out=None):
    if out is not None:
        out[...] = applied(function, *args)
        return out
    return function(*args)


def unset(x):
    raise ValueError("the units are not set")


def with_units(x):
    return applied(unset, x) * 2.0


def test_what_calls_functions_that_it_is_handed_does_not_call_itself_without_end() -> None:
    said = str(refused(lambda: ad.grad(lambda x: applied(with_units, x))(0.7)))
    assert "this path ends here, by ValueError" in said and "without end" not in said
