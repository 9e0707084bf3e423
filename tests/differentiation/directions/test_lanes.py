"""Several directions in one sweep give what one sweep for each gives."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.api.jvp_vjp import checked_tangents, specialized_jvp
from adjoint.api.tools.float_leaves import clone
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.differentiation.directions.dependence import Inseparable
from adjoint.differentiation.directions.lanes import in_lanes
from adjoint.frontend.entry.captured import differentiated
from adjoint.ir.walk import statements_in
from differentiation.directions.seeds import WIDTH, directions_of
from numbers_of import numbers
from programs.registry import Case, collect
from sampling import IN_DEPTH, THOROUGH, is_chosen

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")

SOME = [case for case in collect() if is_chosen(case.name, 2)]


@pytest.mark.parametrize("case", SOME[::3], ids=lambda case: case.name)
def test_tangents(case: Case) -> None:
    arguments = case.arguments()
    try:
        directions = [list(checked_tangents(arguments, way)) for way in directions_of(arguments)]
        compiled = specialized_jvp(case.function, clone(tuple(arguments)), directions[0])
    except ad.DifferentiationError:
        pytest.skip("no forward derivative in a direction of this structure")
    first = len(arguments)
    places = [first + i for i, tangent in enumerate(directions[0]) if tangent is not None]
    if not places:
        pytest.skip("nothing varies")
    try:
        wide = in_lanes(compiled.function, places, WIDTH)
    except Inseparable:
        pytest.skip("one direction at a time")
    root = differentiated(case.function)
    expected = [compiled.run(root, (*clone(tuple(arguments)), *clone(tuple(way)))) for way in directions]
    given = clone(tuple(arguments))
    own = clone(tuple(directions[0]))
    further = [clone(part) for way in directions[1:] for part in way if part is not None]
    found = load(emit(wide))(*compiled.inputs(root, (*given, *own)), *further)
    for one, other in zip(numbers(found), numbers(expected), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("case", SOME[1::3], ids=lambda case: case.name)
def test_cotangents(case: Case) -> None:
    try:
        value, pullback = ad.vjp(case.function, *case.arguments())
    except ad.DifferentiationError:
        pytest.skip("no pullback for results of this structure")
    cotangents = [way[0] for way in directions_of([value])]
    if cotangents[0] is None:
        pytest.skip("nothing varies")
    function = pullback._compiled.adjoint_function
    assert function is not None
    count = len(function.params)
    places = range(count - len(pullback._compiled.seeds), count)
    try:
        wide = in_lanes(function, places, WIDTH)
    except Inseparable:
        pytest.skip("one direction at a time")
    try:
        expected = [pullback(cotangent) for cotangent in cotangents]
    except ad.DifferentiationError:
        pytest.skip("a cotangent of another structure")
    seeds = [seed for cotangent in cotangents for seed in pullback._seeds(cotangent)]
    run = load(emit(wide))
    for _ in range(2):  # the residuals are as they were
        for one, other in zip(numbers(run(*pullback._residuals, *seeds)), numbers(expected), strict=True):
            np.testing.assert_array_equal(one, other)


def loop_with_memory(x: np.ndarray, steps: int) -> np.ndarray:
    """Memory that is written, a path that the data choose, and numbers that are kept."""
    state = x.copy()
    for step in range(steps):
        for i in range(len(state)):
            if state[i] > 0.5:
                state[i] = np.sin(state[i]) * state[i - 1]
            else:
                state[i] += 0.1 * step
    return state


def test_nothing_is_done_twice_that_does_not_depend_on_the_direction() -> None:
    x = np.linspace(0.0, 1.0, 5)
    compiled = specialized_jvp(loop_with_memory, (x, 3), (x, None))
    one, three = emit(compiled.function).text, emit(in_lanes(compiled.function, [2], 3)).text
    assert three.count("np.cos(") == one.count("np.cos(") == 1
    assert three.count("np.sin(") == one.count("np.sin(") == 1
    assert three.count(" for ") == one.count(" for ")


def test_what_prints_is_not_repeated() -> None:
    def shown(x: float) -> float:
        print(x)
        return x * x

    compiled = specialized_jvp(shown, (2.0,), (1.0,))
    wide = in_lanes(compiled.function, [1], 2)
    assert emit(wide).text.count("print(") == 1


def halves(x: np.ndarray, low: int, high: int) -> float:
    """A sum by recursion."""
    if high - low == 1:
        return x[low] * x[low]
    middle = (low + high) // 2
    return halves(x, low, middle) + halves(x, middle, high)


def test_recursive_functions_are_called_for_each_direction() -> None:
    x = np.arange(4.0)
    _, pullback = ad.vjp(halves, x, 0, 4)
    function = pullback._compiled.adjoint_function
    assert function is not None
    one, two = emit(function).text, emit(in_lanes(function, [len(function.params) - 1], 2)).text
    assert two.count("halves_adjoint_1(") == one.count("halves_adjoint_1(") + 1
    for found, scale in zip(pullback.each([1.0, 3.0]), (1.0, 3.0), strict=True):
        np.testing.assert_array_equal(found[0], scale * 2.0 * x)


def overwritten_items(x: np.ndarray) -> np.ndarray:
    """A dict whose items are overwritten: nobody knows of what was there before whether it is a number or an array."""
    table = {}
    for i in range(4):
        table[i] = x * x[i]
    table[1] = table[0] * table[2]
    table[0] = x
    return np.stack([table[1] * table[3] * table[0], table[2] * table[1] * x])


@pytest.mark.parametrize("native", [False, True])
def test_each_direction_has_zeros_of_its_own_in_containers(native: bool) -> None:
    """They were new once, and all directions added to the same memory."""
    x, step = np.array([0.3, 0.5, -0.7, 1.2]), 1e-6
    ends = [(overwritten_items(x + move), overwritten_items(x - move)) for move in step * np.eye(4)]
    expected = np.stack([(ahead - behind) / (2 * step) for ahead, behind in ends], axis=-1)
    for mode in ("reverse", "forward"):
        found = ad.jacobian(overwritten_items, mode=mode, native=native)(x)
        np.testing.assert_allclose(found, expected, atol=1e-8)


@IN_DEPTH
def test_few_programs_are_refused() -> None:
    refused = tried = 0
    for case in collect()[1 :: 9 if THOROUGH else 18]:
        try:
            _, pullback = ad.vjp(case.function, *case.arguments())
        except ad.DifferentiationError:
            continue
        function = pullback._compiled.adjoint_function
        assert function is not None
        if any(
            isinstance(call, ir.Call) and isinstance(call.callee, ir.Definition)
            for call in statements_in(function.body)
        ):
            continue  # a direction is handed to a recursive function
        count = len(function.params)
        tried += 1
        try:
            in_lanes(function, range(count - len(pullback._compiled.seeds), count), 2)
        except Inseparable:
            refused += 1
    assert refused < 0.05 * tried
