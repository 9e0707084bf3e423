"""Derivatives run without supports until a result is not a number; nobody notices but by the time it takes."""

import inspect
import math
import warnings
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.dispatch.speculative import Speculative, holds_nan


def masked(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        r = math.sqrt(x[i])
        area, volume = r * r, r * r * r
        if x[i] > 0:
            total += volume
            total += area
    return total


def square_of_root(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        r = math.sqrt(x[i])
        total += r * r
    return total


def compiled(derivative: Any, *args: Any) -> Any:
    return derivative.specialized(args, {})


def is_speculative(derivative: Any, *args: Any) -> bool:
    return isinstance(compiled(derivative, *args).call, Speculative)


def expected(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, 1.0 + 1.5 * np.sqrt(x), 0.0)


@pytest.mark.parametrize("native", [False, "strict"])
def test_what_was_left_out_is_zero_where_slopes_are_infinite(native: Any) -> None:
    df = ad.grad(masked, native=native)
    regular, singular = np.array([1.0, 4.0]), np.array([1.0, 0.0])
    assert is_speculative(df, regular)
    for x in (regular, singular, regular, singular):
        np.testing.assert_allclose(df(x), expected(x))
    value, slopes = ad.value_and_grad(masked, native=native)(singular)
    assert value == 2.0
    np.testing.assert_allclose(slopes, expected(singular))


def test_a_computed_zero_at_an_infinite_slope_is_not_a_number_again_and_again() -> None:
    df = ad.grad(square_of_root)
    singular, regular = np.array([0.0, 4.0]), np.array([1.0, 4.0])
    for x in (singular, regular, singular):
        np.testing.assert_array_equal(df(x), np.where(x == 0, np.nan, 1.0))


def test_other_operators_run_the_exact_derivative_where_they_have_to() -> None:
    x, direction = np.array([1.0, 0.0]), np.array([2.0, 0.0])
    assert ad.jvp(masked, (x,), (direction,)) == (2.0, 5.0)
    np.testing.assert_allclose(ad.vjp(masked, x)[1](1.0)[0], expected(x))
    np.testing.assert_allclose(ad.hvp(masked, (np.array([4.0, 1.0]),), (direction,))[0], [0.75, 0.0])


def test_the_text_that_runs_has_no_supports_and_that_of_exported_modules_has(tmp_path: Any) -> None:
    df = ad.grad(masked)
    x = np.array([1.0, 4.0])
    assert "selected" not in ad.source(df, x)
    ad.export(tmp_path / "module.py", df, x)
    assert "selected" in (tmp_path / "module.py").read_text()


def told(x: Any) -> Any:
    for i in range(len(x)):
        print("root of", float(x[i]))
    return masked(x)


def halved(x: Any, step: int) -> Any:
    print("step", step, float(x[0]))
    for place in range(2):
        x = x + 0.1 * np.cos(x) * np.sin(x + place) - 0.1 * np.sin(x + place) * np.cos(x)
        x = x * np.exp(-0.1 * x * x) * np.exp(0.1 * x * x) + 0.01 * np.tanh(x) - 0.01 * np.tanh(x)
        print("place", place)
    return np.sqrt(0.5 * x)


def told_in_calls(x: Any) -> Any:
    y = halved(halved(halved(halved(x, 0), 1), 2), 3)
    return np.sum(np.where(x > 0, y, 0.0))


@pytest.mark.parametrize("native", [False, "strict"])
@pytest.mark.parametrize("function", [told, told_in_calls])
def test_what_is_printed_is_printed_once(function: Any, native: Any, capsys: pytest.CaptureFixture[str]) -> None:
    df = ad.grad(function, native=native)
    regular, singular = np.array([1.0, 4.0]), np.array([1.0, 0.0])
    silent = np.where(singular > 0, df(np.ones(2)), 0.0)
    capsys.readouterr()
    for x in (regular, singular, singular, regular):
        function(x)
        expected_text = capsys.readouterr().out
        slopes = df(x)
        assert capsys.readouterr().out == expected_text
        assert np.isfinite(slopes).all()
    np.testing.assert_allclose(df(singular), silent)


def test_what_prints_runs_without_supports() -> None:
    assert is_speculative(ad.grad(told), np.array([1.0, 4.0]))
    assert is_speculative(ad.grad(told_in_calls), np.array([1.0, 4.0]))


def test_functions_that_act_on_the_world_run_once(tmp_path: Any) -> None:
    path = tmp_path / "log"

    def logged(x: float) -> float:
        with open(path, "a") as log:
            log.write("running\n")
        return math.sqrt(x) if x > 0 else 0.0 * x

    df = ad.grad(logged)
    assert df(4.0) == 0.25
    assert path.read_text() == "running\n"


def test_functions_that_write_their_arguments_run_once() -> None:
    def writing(x: Any, log: Any) -> Any:
        log[0] += 1.0
        return masked(x)

    log = np.zeros(1)
    value, _ = ad.value_and_grad(writing)(np.array([1.0, 0.0]), log)
    before = log.copy()
    ad.value_and_grad(writing)(np.array([1.0, 0.0]), log)
    assert not is_speculative(ad.value_and_grad(writing), np.array([1.0, 0.0]), log)
    assert value == 2.0
    assert log[0] - before[0] in (0.0, 1.0)


def test_functions_that_draw_from_iterators_and_generators_of_numbers_run_once() -> None:
    rng = np.random.default_rng(1)

    def noisy(x: Any) -> Any:
        return masked(x) + 0.0 * rng.normal()

    state = rng.bit_generator.state["state"]["state"]
    np.testing.assert_allclose(ad.grad(noisy)(np.array([1.0, 0.0])), [2.5, 0.0])
    after = rng.bit_generator.state["state"]["state"]
    other = np.random.default_rng(1)
    other.normal()
    assert state != after == other.bit_generator.state["state"]["state"]


def test_gradients_that_decide_are_exact() -> None:
    def repaired(x: Any) -> Any:
        slopes = ad.grad(masked)(x)
        return np.sum(np.where(np.isnan(slopes), 7.0, slopes))

    assert ad.compile(repaired, native=False)(np.array([1.0, 0.0])) == 2.5
    assert "selected" in ad.source(ad.grad(repaired), np.array([1.0, 4.0]))
    assert ad.value_and_grad(repaired)(np.array([1.0, 0.0]))[0] == 2.5


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, False),
        (math.nan, True),
        (np.float32("nan"), True),
        (complex(0, math.nan), True),
        (np.array([1.0, math.inf]), False),
        (np.array([1, 2]), False),
        (np.array(["a"], object), False),
        (("text", None, {"a": [np.array([1.0, math.nan])]}), True),
        ((True, 3, "nan", b"", [np.array([])]), False),
    ],
)
def test_results_are_looked_at_whole(value: Any, expected: bool) -> None:
    assert holds_nan(value) is expected


def test_objects_in_results_are_looked_at_once() -> None:
    class Node:
        def __init__(self) -> None:
            self.next, self.number = self, 1.0

    node = Node()
    assert not holds_nan(node)
    node.number = math.nan
    assert holds_nan((1.0, node))


def unpacked(x: Any) -> Any:
    """A check of a length stands before what is left out."""
    a, b = x
    r = math.sqrt(a)
    area, volume, total = r * r, r * r * r, 0.0
    if a > 0:
        total += volume
        total += area
    return total * b


def test_checks_are_made_twice_without_notice() -> None:
    df = ad.grad(unpacked)
    regular, singular = np.array([4.0, 2.0]), np.array([0.0, 2.0])
    assert is_speculative(df, regular)
    np.testing.assert_allclose(df(regular), [2.0 * (1.0 + 1.5 * 2.0), 12.0])
    np.testing.assert_allclose(df(singular), [0.0, 0.0])
    with pytest.raises(ValueError, match="too many values to unpack"):
        df(np.ones(3))


class Spring:
    def __init__(self, stiffness: Any) -> None:
        self.stiffness = stiffness


def in_lists(x: Any) -> Any:
    """What is kept of cotangents goes through lists."""
    springs = [Spring(x[i]) for i in range(len(x))]
    total = 0.0
    for spring in springs:
        r = math.sqrt(spring.stiffness)
        area, volume = r * r, r * r * r
        if spring.stiffness > 0:
            total += volume
            total += area
    return total


def test_lists_hand_on_what_is_not_a_number() -> None:
    df = ad.grad(in_lists)
    regular, singular = np.array([1.0, 4.0]), np.array([1.0, 0.0])
    assert is_speculative(df, regular)
    for x in (regular, singular, regular):
        np.testing.assert_allclose(df(x), expected(x))


def scaled(x: Any, factor: Any) -> Any:
    """Long enough to stay a function; the slope of its root is infinite at zero."""
    for place in range(2):
        x = x + 0.1 * np.cos(x) * np.sin(x + place) - 0.1 * np.sin(x + place) * np.cos(x)
        x = x * np.exp(-0.1 * x * x) * np.exp(0.1 * x * x) + 0.01 * np.tanh(x) - 0.01 * np.tanh(x)
    return np.sqrt(x) * factor


def stored_roots(x: Any) -> Any:
    """Where memory is written, supports are memory, too."""
    roots = np.empty(len(x))
    roots[:] = scaled(scaled(scaled(x, 2.0) ** 2, 0.5) ** 2, 1.0)
    areas = roots * roots
    volumes = np.empty(len(x))
    volumes[:] = areas * roots
    return np.sum(np.where(x > 0, volumes, 0.0)) + np.sum(np.where(x > 0, areas, 0.0))


@pytest.mark.parametrize("native", [False, "strict"])
def test_functions_that_stay_functions_are_looked_through(native: Any) -> None:
    df = ad.grad(stored_roots, native=native)
    regular, singular = np.array([1.0, 4.0]), np.array([1.0, 0.0])
    assert is_speculative(df, regular)
    if not native:
        assert "scaled_adjoint(" in ad.source(df, regular)
        assert "support" not in inspect.getsource(compiled(df, regular).call.quick)
    for x in (regular, singular, regular, singular):
        np.testing.assert_allclose(df(x), expected(x), rtol=1e-6)


def scaled_rows(x: Any) -> Any:
    """Quotients of arrays whose slopes are infinite, or not a number, where a row is zero."""
    lengths = np.sqrt(np.sum(x * x, axis=1))
    kept = lengths > 0.0
    rows = x / np.where(kept, lengths, 1.0)[:, None]
    return np.sum(np.where(kept[:, None], rows * rows * rows, x)) + np.sum(np.where(kept, np.log(lengths), 0.0))


def slopes_of_rows(x: np.ndarray) -> np.ndarray:
    steps = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
    with np.errstate(all="ignore"):
        return np.array([(scaled_rows(x + s) - scaled_rows(x - s)) / 2e-6 for s in steps]).reshape(x.shape)


REGULAR = np.array([[0.3, 0.4], [1.0, -2.0]])
SINGULAR = np.array([[0.3, 0.4], [0.0, 0.0]])


def test_arithmetic_is_plain_until_numpy_notes_an_error() -> None:
    df = ad.grad(scaled_rows)
    text = ad.source(df, REGULAR)
    assert not any(f"rt.{name}(" in text for name in ("times", "divide", "product", "quotient"))
    assert is_speculative(df, REGULAR)
    expected_slopes = slopes_of_rows(REGULAR)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(df(REGULAR), expected_slopes, rtol=1e-6)
    expected_singular = np.vstack([slopes_of_rows(SINGULAR)[:1], np.ones((1, 2))])
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
            found = df(SINGULAR)
        np.testing.assert_allclose(found, expected_singular, rtol=1e-6)
    np.testing.assert_allclose(df(REGULAR), expected_slopes, rtol=1e-6)


def test_only_warnings_of_the_program_are_shown() -> None:
    def program(x: Any) -> Any:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            x()
        return [str(warning.message) for warning in found]

    assert program(lambda: ad.grad(scaled_rows)(SINGULAR)) == program(lambda: scaled_rows(SINGULAR))
    assert program(lambda: ad.grad(scaled_rows)(REGULAR)) == []


def test_the_error_state_of_the_caller_holds() -> None:
    df = ad.grad(scaled_rows)
    with np.errstate(all="raise"):
        np.testing.assert_allclose(df(REGULAR), slopes_of_rows(REGULAR), rtol=1e-6)
        with pytest.raises(FloatingPointError):
            scaled_rows(SINGULAR)
        with pytest.raises(FloatingPointError):
            df(SINGULAR)


def test_what_a_program_warns_of_before_it_raises_is_shown() -> None:
    def checked(x: Any) -> Any:
        lengths = np.log(x)
        if not np.isfinite(lengths).all():
            raise ValueError("not finite")
        return np.sum(lengths / x * x / (1.0 + x))

    df = ad.grad(checked)
    assert np.isfinite(df(np.array([1.0, 2.0]))).all()
    with pytest.warns(RuntimeWarning, match="divide by zero"), pytest.raises(ValueError, match="not finite"):
        df(np.array([1.0, 0.0]))


def test_error_states_of_the_program_are_its_own() -> None:
    def quiet(x: Any) -> Any:
        with np.errstate(divide="ignore"):
            lengths = np.log(x)
        return np.sum(np.where(x > 0.0, lengths, 0.0) / (1.0 + x) / (2.0 + x))

    df = ad.grad(quiet)
    x = np.array([1.0, 0.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = df(x)
    y, z = np.where(x > 0, x, 1.0), (1.0 + x) * (2.0 + x)
    np.testing.assert_allclose(found, np.where(x > 0, 1.0 / y / z - np.log(y) * (3.0 + 2.0 * x) / z**2, 0.0))


def counted(x: Any, log: Any) -> Any:
    """Long enough to stay a function; it writes what its caller was handed."""
    log[0] += 1.0
    for place in range(2):
        x = x + 0.1 * np.cos(x) * np.sin(x + place) - 0.1 * np.sin(x + place) * np.cos(x)
        x = x * np.exp(-0.1 * x * x) * np.exp(0.1 * x * x) + 0.01 * np.tanh(x) - 0.01 * np.tanh(x)
    return np.sqrt(x)


def counted_twice(x: Any, log: Any) -> Any:
    roots = counted(counted(x, log) ** 2, log)
    return np.sum(np.where(x > 0, roots * roots * roots, 0.0)) + np.sum(np.where(x > 0, roots * roots, 0.0))


def test_functions_that_write_through_calls_run_once() -> None:
    df, log = ad.grad(counted_twice), np.zeros(1)
    for x in (np.array([1.0, 4.0]), np.array([1.0, 0.0])):
        log[:] = 0.0
        np.testing.assert_allclose(df(x, log), expected(x), rtol=1e-6)
        assert log[0] == 2.0
