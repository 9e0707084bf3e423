"""What is the same in all directions is computed once, before the sweeps; together they give what one sweep gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.api.jvp_vjp import checked_tangents, specialized_jvp
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.differentiation.directions.dependence import Inseparable
from adjoint.differentiation.directions.invariant_code import Beforehand, beforehand
from adjoint.differentiation.directions.sparse_tangents import with_zeros_skipped
from adjoint.frontend.entry.captured import differentiated
from adjoint.optimize.touch_up.zeros_by_shape import with_named_shapes
from adjoint.testing import clone
from differentiation.directions.seeds import directions_of
from numbers_of import numbers
from programs.registry import Case, collect

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")


def parts_of(function: ir.Function, places: list[int], with_value: bool = True) -> Beforehand | None:
    try:
        return beforehand(with_zeros_skipped(function, places), places, with_value=with_value)
    except Inseparable:
        return None


def test_programs() -> None:
    tried = sum(agrees(case) for case in collect()[::20])
    assert tried > 10


def agrees(case: Case) -> bool:
    """Whether a program has parts; they must give what the derivative gives."""
    arguments = case.arguments()
    try:
        directions = [list(checked_tangents(arguments, way)) for way in directions_of(arguments)]
        compiled = specialized_jvp(case.function, clone(tuple(arguments)), directions[0])
    except ad.DifferentiationError:
        return False
    first = len(arguments)
    places = [first + i for i, tangent in enumerate(directions[0]) if tangent is not None]
    parts = None if compiled.written or not places else parts_of(compiled.function, places)
    if parts is None:
        return False
    root = differentiated(case.function)
    before, sweep = load(emit(parts.before)), load(emit(parts.sweep))
    given = clone(tuple(arguments))
    value, *kept = before(*compiled.inputs(root, (*given, *clone(tuple(directions[0])))))
    for way in directions:
        expected = compiled.run(root, (*clone(tuple(arguments)), *clone(tuple(way))))
        derivative = sweep(*compiled.inputs(root, (*given, *clone(tuple(way)))), *kept)
        for one, other in zip(numbers((value, derivative)), numbers(expected), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=case.name)
    return True


def skinned(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Memory written in a loop, a product of it, and a loop over the rows of the product."""
    frames = np.empty((4, 3))
    for i in range(4):
        for j in range(3):
            frames[i, j] = np.sin(x[i]) * j
    blended = weights @ frames
    found = np.empty((len(weights), 2))
    for v in range(len(weights)):
        found[v, 0] = blended[v, 1] * blended[v, 2]
        found[v, 1] = x[0] * blended[v, 0]
    return found


X, WEIGHTS = np.linspace(0.1, 0.7, 4), np.cos(np.arange(20.0)).reshape(5, 4)


def parts_of_jvp(function: Any, *arguments: Any) -> Beforehand | None:
    tangents = [arguments[0], *[None] * (len(arguments) - 1)]
    compiled = specialized_jvp(function, arguments, tangents)
    return parts_of(compiled.function, [len(arguments)])


def test_sweeps_compute_neither_the_value_nor_what_was_computed_before() -> None:
    parts = parts_of_jvp(skinned, X, WEIGHTS)
    assert parts is not None
    before, sweep = emit(parts.before).text, emit(parts.sweep).text
    assert "weights @ frames" in before
    assert "_dot = " not in before.split("\n", 1)[1]
    assert "weights @ frames" not in sweep
    assert "found[" not in sweep
    assert "found_dot[" in sweep
    assert "product_of_moving(weights, frames_dot, skips, False)" in sweep


def test_what_is_written_later_is_not_kept() -> None:
    def scaled(x: np.ndarray, a: np.ndarray) -> np.ndarray:
        b = np.exp(a)
        y = x * b
        b[0] = 7.0
        return y * b

    assert parts_of_jvp(scaled, X, X) is None


def test_derivatives_share_no_memory_with_what_is_kept() -> None:
    def sides(x: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scale = np.exp(a)
        return x * scale, scale

    parts = parts_of_jvp(sides, X, X)
    assert parts is not None
    value, *kept = load(emit(parts.before))(X, X, X, None)
    results = [load(emit(parts.sweep))(X, X, X, None, *kept) for _ in range(2)]
    assert any(np.shares_memory(value[1], other) for other in kept)
    arrays = [*kept, *results[0], *results[1]]
    for place, one in enumerate(arrays[len(kept) :], len(kept)):
        assert not any(np.shares_memory(one, other) for other in arrays[:place])


def test_what_may_change_from_call_to_call_is_refused() -> None:
    generator = np.random.default_rng(0)

    def noisy(x: np.ndarray, a: np.ndarray) -> np.ndarray:
        return x * np.exp(a * generator.normal())

    assert parts_of_jvp(noisy, X, X) is None


def test_arguments_that_are_written_are_written_once() -> None:
    def scaled(x: np.ndarray, a: np.ndarray) -> np.ndarray:
        y = x * np.exp(a)
        x[0] = 1.0
        return y

    assert parts_of_jvp(scaled, X.copy(), X) is None


def test_zeros_are_made_in_the_shape_that_an_array_was_made_in() -> None:
    compiled = specialized_jvp(skinned, (X, WEIGHTS), (X, None))
    before, after = emit(compiled.function).text, emit(with_named_shapes(compiled.function)).text
    assert before.count("np.zeros_like(") == 2
    assert after.count("np.zeros_like(") == 0
    assert after.count("np.zeros(") == 2
