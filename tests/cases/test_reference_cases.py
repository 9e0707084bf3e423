"""The reference system's cases: values, gradients and differentials, with its numbers."""

from __future__ import annotations

import math
from typing import Any

import pytest

import adjoint as ad
from cases.loading import Loaded, assert_matches, load, ones_like, plain, reason_to_leave_out

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")

CASES = load()
FUNCTIONS = [case for case in CASES if case["kind"] == "function" and reason_to_leave_out(case) is None]
POINTS = [(case, index) for case in FUNCTIONS for index in range(len(case["points"]))]
NESTED = [case for case in CASES if case["kind"] == "nested_derivative" and "expected_orders" in case]
CONSTANT = [case for case in CASES if case["kind"] == "piecewise_constant"]


@pytest.mark.parametrize(("case", "index"), POINTS, ids=[f"{case['id']}-{index}" for case, index in POINTS])
def test_function(case: dict[str, Any], index: int) -> None:
    point = case["points"][index]
    if "tangents" in point:
        check_differential(case, point)
    else:
        check_gradient(case, point)


def check_differential(case: dict[str, Any], point: dict[str, Any]) -> None:
    loaded = Loaded(case)
    tangents = tuple(plain(spec) for spec in point["tangents"])
    value, tangent = ad.jvp(loaded.function, tuple(loaded.inputs(point)), tangents)
    assert_matches(value, point.get("value"), case["tol"], "value")
    assert_matches(tangent, point["differential"], case["tol"], "differential")


def check_gradient(case: dict[str, Any], point: dict[str, Any]) -> None:
    loaded = Loaded(case)
    value, pullback = ad.vjp(loaded.function, *loaded.inputs(point))
    assert_matches(value, point.get("value"), case["tol"], "value")
    if "gradient" in point:
        gradient = pullback(plain(point["seed"]) if "seed" in point else ones_like(value))
        assert_matches(gradient, list(point["gradient"]), case["tol"], "gradient")


def sin_of(x):
    return math.sin(x)


def cube(x):
    return x * x * x


def cube_by_power(x):
    return x**3.0


def exp_of_double(x):
    return math.exp(2 * x)


FORMULAS = {"x*x*x": cube, "x**3.0": cube_by_power, "sin(x)": sin_of, "exp(2*x)": exp_of_double}


@pytest.mark.parametrize("case", NESTED, ids=[case["id"] for case in NESTED])
def test_successive_derivatives(case: dict[str, Any]) -> None:
    f = FORMULAS[case["function"]]
    (x,) = case["inputs"]
    for expected in case["expected_orders"]:
        assert f(x) == pytest.approx(expected)
        f = ad.grad(f)


@pytest.mark.parametrize("case", CONSTANT, ids=[case["id"] for case in CONSTANT])
def test_piecewise_constant(case: dict[str, Any]) -> None:
    f = {"ceil": math.ceil, "round": round, "trunc": math.trunc}[case["function"]]
    (x,) = case["inputs"]
    assert [ad.grad(lambda t: float(f(t)))(float(x))] == case["expected_gradient"]


def test_every_case_is_run_or_left_out_for_a_reason() -> None:
    left_out = [case["id"] for case in CASES if case["kind"] == "function" and reason_to_leave_out(case)]
    assert len(FUNCTIONS) + len(left_out) == sum(case["kind"] == "function" for case in CASES)
    assert len(FUNCTIONS) >= 250
