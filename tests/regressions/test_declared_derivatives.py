"""Derivatives that users declare: what counts, what is kept, what is run, and what is refused."""

import contextlib
import dataclasses
import functools
import io
import math
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.rules import elementwise
from regressions.differences import refused, right, second

X = np.array([0.6, -0.4, 1.3])


def declared(fn: Any) -> Any:
    """A decorator as ``derivative_of``, for local functions."""
    return ad.derivative_of(fn)


# --- declared derivatives that are true, in every mode ----------------------------------------------------------------


def cube(x):
    return x * x * x


@ad.derivative_of(cube)
def cube_derivative(x):
    def pullback(ct):
        return 3.0 * x * x * ct

    return x * x * x, pullback


def softplus(x):
    return math.log1p(math.exp(x))


@ad.derivative_of(softplus)
def softplus_derivative(x):
    return softplus(x), lambda ct: ct / (1.0 + math.exp(-x))


def root(x):
    return math.sqrt(x)


@ad.derivative_of(root)
def root_derivative(x):
    y = root(x)
    return y, lambda ct: ct / (2.0 * y)


def implicit(x):
    return math.sqrt(x)


@ad.derivative_of(implicit)
def implicit_derivative(x):
    y = implicit(x)

    def pullback(ct):
        of_y, of_x = ad.grad(lambda y, x: y * y - x, (0, 1))(y, x)
        return -ct * of_x / of_y

    return y, pullback


def sine(x):
    return math.sin(x)


@ad.derivative_of(sine)
def sine_derivative(x):
    y, pullback = ad.vjp(math.sin, x)
    return y, pullback


class Pullback:
    def __init__(self, x):
        self.x = x

    def __call__(self, ct):
        return 3.0 * self.x * self.x * ct


def by_an_object(x):
    return x * x * x


ad.derivative_of(by_an_object)(lambda x: (x * x * x, Pullback(x)))


def solved(a, b):
    return np.linalg.solve(a, b)


@ad.derivative_of(solved)
def solved_derivative(a, b):
    y = np.linalg.solve(a, b)

    def pullback(ct):
        of_b = np.linalg.solve(a.T, ct)
        return -np.outer(of_b, y), of_b

    return y, pullback


def bent(x):
    return abs(x) * x


@ad.derivative_of(bent)
def bent_derivative(x):
    if x > 0:
        return x * x, lambda ct: 2.0 * x * ct
    y = -x

    def pullback(ct):
        return ct * 2.0 * y

    return x * y, pullback


def exponential(x):
    return np.exp(x)


@ad.derivative_of(exponential)
def exponential_derivative(x):
    y = np.exp(x)
    return y, lambda ct: ct * y


def halted(x):
    return x * x


@ad.derivative_of(halted)
def halted_derivative(x):
    y = x
    while True:
        y = y + x
        if y > 1.0 or y < -1.0:
            break
    if y < 0.0:
        return x * x, lambda ct: 2.0 * x * ct

    def pullback(ct):
        if y < -5.0:
            return None
        return ct * (x + x)

    return x * x, pullback


def passed_on(x):
    return sum(map(cube, [x, 2.0 * x])) + (cube if x > 0.0 else softplus)(x)


def weighted(x, weights, k=2.0):
    return k * weights @ x


@ad.derivative_of(weighted)
def weighted_derivative(x, weights, k=2.0):
    return k * weights @ x, lambda ct: (k * ct * weights, k * ct * x, ct * (weights @ x))


def scattered(x):
    return np.concatenate([x, 2.0 * x])


@ad.derivative_of(scattered)
def scattered_derivative(x):
    n = len(x)

    def pullback(ct):
        out = np.zeros(n)
        for i in range(n):
            out[i] += ct[i]
            out[i] += 2.0 * ct[n + i]
        return out

    return np.concatenate([x, 2.0 * x]), pullback


def in_loop(x):
    s = 0.0
    for i in range(4):
        s = s + (softplus(s) * x if i % 2 else cube(x))
    return s


def step(x):
    return eval("x * x")


@ad.derivative_of(step)
def step_derivative(x):
    y = step(x)
    return y, lambda ct: 2.0 * ct * x + 0.0 * y


def opaque_steps(x):
    for _ in range(3):
        x = step(x) * 0.5 + 1.0
    return np.sum(x)


def in_branch(x):
    return cube(x) * x if x > 0.0 else softplus(x)


def recursive(x, n=3):
    return cube(x) if n == 0 else softplus(recursive(x, n - 1)) * x


def in_while(x):
    while x < 3.0:
        x = x + softplus(x)
    return x


def in_try(x):
    try:
        return cube(x) / (x - x)
    except ZeroDivisionError:
        return softplus(x)


def in_comprehension(x):
    return sum([cube(x * k) for k in range(3)])


def inside_a_derivative(x):
    return ad.grad(cube)(x) * softplus(x)


def of_arrays(x):
    return np.sum(exponential(x) * x)


def written_afterwards(x):
    y = exponential(x)
    y += 1.0
    y[0] = x[1]
    return np.sum(y * y)


def written_before(x):
    y = x * 1.0
    y[1:] *= x[:-1]
    z = exponential(y)
    y[0] = 3.0
    return np.sum(z * y)


def rows(x):
    total = 0.0
    for k in range(3):
        y = exponential(x * k)
        for j in range(len(y)):
            total += y[j] * x[j]
    return total


def with_defaults(x):
    return weighted(x, np.sin(x)) + weighted(x, weights=x, k=3.0) + weighted(k=x[0], weights=x, x=x)


def solving(x):
    return np.sum(solved(np.eye(3) + np.outer(x, x), x) ** 2)


def scattering(x):
    return np.sum(scattered(x) ** 3)


NUMBERS = [
    *((f, x) for f in (cube, softplus, bent, halted, in_branch, passed_on) for x in (0.7, -0.7)),
    *((f, 0.7) for f in (root, implicit, sine, by_an_object)),
    *((f, 0.7) for f in (in_loop, recursive, in_while, in_try, in_comprehension, inside_a_derivative)),
]
ARRAYS = [of_arrays, written_afterwards, written_before, rows, with_defaults, scattering, solving, opaque_steps]


@pytest.mark.parametrize(("f", "x"), NUMBERS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_of_numbers(f: Any, x: float) -> None:
    right(f, x)
    second(f, x)


@pytest.mark.parametrize("f", ARRAYS, ids=lambda f: f.__name__)
def test_of_arrays(f: Any) -> None:
    right(f, X)
    second(f, X)


@pytest.mark.parametrize("f", [of_arrays, rows, written_afterwards], ids=lambda f: f.__name__)
def test_compiled(f: Any) -> None:
    np.testing.assert_allclose(ad.grad(f, native="strict")(X.copy()), ad.grad(f)(X.copy()), rtol=1e-12)


def test_machine_code_calls_what_has_no_form_there() -> None:
    assert ad.grad(softplus, native="strict")(0.3) == ad.grad(softplus)(0.3)


def test_a_cotangent_that_is_none_on_some_paths() -> None:
    def f(x):
        return x

    @declared(f)
    def derivative(x):
        def pullback(ct):
            return None if np.sum(x) > 1.0 else 3.0 * ct

        return x * 1.0, pullback

    assert (ad.grad(f)(0.5), ad.grad(f)(1.5)) == (3.0, 0.0)
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(f(x)))(np.ones(3)), np.zeros(3))


def test_derivatives_that_are_methods_and_partials() -> None:
    def f(x):
        return x

    class Model:
        factor = 2.0

        def derivative(self, x):
            return x, lambda ct: ct * self.factor

    model = Model()
    declared(f)(model.derivative)
    assert ad.grad(f)(1.0) == 2.0
    model.factor = 5.0
    assert ad.grad(f)(1.0) == 5.0

    def g(x):
        return x

    declared(g)(functools.partial(lambda k, x: (x, lambda ct: ct * k), 4.0))
    assert ad.grad(g)(1.0) == 4.0


def test_third_order() -> None:
    assert ad.grad(ad.grad(ad.grad(root)))(4.0) == pytest.approx(3 / 256)
    assert ad.grad(ad.grad(ad.grad(implicit)))(4.0) == pytest.approx(3 / 256)
    assert ad.grad(ad.grad(ad.grad(cube)))(0.7) == pytest.approx(6.0)
    sigmoid = 1.0 / (1.0 + math.exp(-0.7))
    third = sigmoid * (1.0 - sigmoid) * (1.0 - 2.0 * sigmoid)
    assert ad.grad(ad.grad(ad.grad(softplus)))(0.7) == pytest.approx(third)


# --- the declaration counts, not the function -------------------------------------------------------------------------


def test_the_declared_derivative_counts_in_every_mode() -> None:
    def f(x):
        return x * x

    @declared(f)
    def derivative(x):
        return x * x + 1.0, lambda ct: 7.0 * ct * x

    assert ad.value_and_grad(f)(2.0) == (5.0, 14.0)
    assert ad.jvp(f, (2.0,), (3.0,)) == (5.0, 42.0)
    assert ad.grad(ad.grad(f))(2.0) == 7.0
    assert ad.grad(lambda x: f(x) * f(x))(2.0) == 2.0 * 5.0 * 14.0
    assert ad.jvp(ad.grad(f), (2.0,), (1.0,)) == (14.0, 7.0)


@dataclasses.dataclass
class Vec:
    x: float
    y: float

    def norm2(self):
        return self.x * self.x + self.y * self.y

    def scaled(self, k):
        return Vec(self.x * k, self.y * k)

    @staticmethod
    def product(a, b):
        return a * b


@ad.derivative_of(Vec.scaled)
def scaled_derivative(self, k):
    def pullback(ct):
        return Vec(2.0 * ct.x * k, ct.y * k), self.x * ct.x + self.y * ct.y

    return Vec(self.x * k, self.y * k), pullback


ad.derivative_of(Vec.product)(lambda a, b: (a * b, lambda ct: (10.0 * ct * b, ct * a)))


@pytest.mark.parametrize("call", [lambda v, k: v.scaled(k), lambda v, k: v.scaled(k=k), lambda v, k: Vec.scaled(v, k)])
def test_of_a_method(call: Any) -> None:
    gradient, of_k = ad.grad(lambda v, k: call(v, k).norm2(), (0, 1))(Vec(1.0, 2.0), 3.0)
    assert (gradient.x, gradient.y, of_k) == (36.0, 36.0, 30.0)


def test_of_a_static_method() -> None:
    assert ad.grad(lambda x: Vec.product(x, x))(3.0) == 33.0


def test_of_structures() -> None:
    def f(p, q):
        return p[0] * p[1], q["a"]

    @declared(f)
    def derivative(p, q):
        return (p[0] * p[1], q["a"]), lambda ct: ((ct[0] * p[1], ct[0] * p[0]), {"a": 10.0 * ct[1]})

    def loss(p, q):
        first, other = f(p, q)
        return first * other

    assert ad.grad(loss, (0, 1))((2.0, 3.0), {"a": 4.0, "b": 1.0}) == ((12.0, 8.0), {"a": 60.0, "b": 0.0})
    moved = ad.jvp(f, ((2.0, 3.0), {"a": 4.0, "b": 1.0}), ((1.0, 0.0), {"a": 1.0, "b": 0.0}))
    assert moved == ((6.0, 4.0), (3.0, 10.0))


def test_of_a_function_of_the_library_of_which_nobody_asked_before(tmp_path: Path) -> None:
    """Its rule, which is read later, does not replace what was declared."""
    program = """
        import adjoint as ad, numpy as np
        ad.derivative_of(np.exp)(lambda x: (np.power(np.e, x), lambda ct: 7.0 * ct))
        def f(x):
            return np.sum(np.exp(x) + np.tanh(x) * 0.0)
        print(ad.grad(f)(np.ones(1)))
    """
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(program))
    environment = {**os.environ, "PYTHONPATH": str(Path(ad.__file__).parents[1])}
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, env=environment)
    assert done.stdout == "[7.]\n", done.stderr


def test_of_lists_and_of_any_number_of_arguments() -> None:
    def total(xs):
        return sum(xs)

    def of_all(*xs):
        return sum(xs)

    declared(total)(lambda xs: (sum(xs), lambda ct: [5.0 * ct for x in xs]))
    declared(of_all)(lambda *xs: (sum(xs), lambda ct: tuple(2.0 * ct for x in xs)))
    assert ad.grad(total)([2.0, 3.0, 4.0]) == [5.0, 5.0, 5.0]
    assert ad.grad(lambda x: total([x, x * x]))(3.0) == 5.0 + 30.0
    assert ad.grad(lambda x, y: of_all(x, y, x), (0, 1))(1.0, 2.0) == (4.0, 2.0)


def test_of_functions_that_nobody_looks_into() -> None:
    squared = functools.lru_cache(lambda x: eval("x * x"))
    declared(squared)(lambda x: (squared(x), lambda ct: 2.0 * x * ct))
    assert ad.grad(lambda x: squared(x) * x)(3.0) == 27.0
    assert ad.grad(ad.grad(lambda x: squared(x) * x))(3.0) == 18.0


def test_of_one_of_several_functions_of_one_def() -> None:
    def make():
        def f(x):
            return x

        return f

    def apply(f, x):
        return f(x)

    one, other = make(), make()
    declared(one)(lambda x: (x, lambda ct: 5.0 * ct))
    derivative = ad.grad(apply, 1)
    for _ in range(3):
        assert (ad.grad(one)(1.0), ad.grad(other)(1.0)) == (5.0, 1.0)
        assert (derivative(one, 1.0), derivative(other, 1.0)) == (5.0, 1.0)


# --- what it captures, and when it is declared ------------------------------------------------------------------------


class Settings:
    factor = 1.0


SETTINGS, TABLE = Settings(), {"factor": 1.0}
FACTOR = 1.0
WEIGHTS = np.ones(3)


def capturing(x):
    return x


@ad.derivative_of(capturing)
def capturing_derivative(x):
    return x, lambda ct: ct * SETTINGS.factor * FACTOR * TABLE["factor"] * WEIGHTS[0]


def ruled(x):
    return x


def helper(x):
    return x * FACTOR


elementwise(ruled, lambda x, y: SETTINGS.factor * helper(TABLE["factor"]) * WEIGHTS[0])


@pytest.mark.parametrize("f", [capturing, ruled])
def test_captured_data_is_read_at_each_call(f) -> None:
    global FACTOR, WEIGHTS
    halves = (lambda x: ad.vjp(f, x)[1](1.0)[0], lambda x: ad.jvp(f, (x,), (1.0,))[1])
    derivatives = (ad.grad(f), ad.grad(lambda x: f(x) + 0.0), *halves)
    try:
        for _ in range(3):
            for derivative in derivatives:
                assert derivative(1.0) == SETTINGS.factor * FACTOR * TABLE["factor"] * WEIGHTS[0]
            SETTINGS.factor *= 2.0
            FACTOR = FACTOR * 3.0
            TABLE["factor"] *= 5.0
            WEIGHTS = WEIGHTS + 1.0
            for derivative in derivatives:
                assert derivative(1.0) == SETTINGS.factor * FACTOR * TABLE["factor"] * WEIGHTS[0]
            WEIGHTS *= 2.0
    finally:
        SETTINGS.factor, FACTOR, TABLE["factor"], WEIGHTS = 1.0, 1.0, 1.0, np.ones(3)


def by_derivative(f, k):
    ad.derivative_of(f)(lambda x: (k * x, lambda ct: 10.0 * k * ct))


def by_rule(f, k):
    elementwise(f, lambda x, y: 10.0 * k)


@pytest.mark.parametrize("declare", [by_derivative, by_rule])
def test_functions_of_one_def_capture_their_own(declare) -> None:
    def make(k):
        def f(x):
            return k * x

        declare(f, k)
        return f

    one, two = make(1.0), make(2.0)
    assert [ad.grad(f)(1.0) for f in (one, two, one)] == [10.0, 20.0, 10.0]
    assert ad.grad(lambda x: one(x) + two(x))(1.0) == 30.0


def test_a_declaration_after_the_first_use_counts() -> None:
    def f(x):
        return x * x

    def g(x):
        return f(x) + 0.0

    gradient, jacobian, second_derivative = ad.grad(g), ad.jacobian(g), ad.grad(ad.grad(g))

    def all_of_them() -> list[Any]:
        found = [gradient(3.0), jacobian(3.0), second_derivative(3.0), ad.grad(g)(3.0)]
        return [*found, ad.vjp(g, 3.0)[1](1.0)[0], ad.jvp(g, (3.0,), (1.0,))[1]]

    for _ in range(3):
        assert all_of_them() == [6.0, 6.0, 2.0, 6.0, 6.0, 6.0]
    declared(f)(lambda x: (x * x, lambda ct: 100.0 * ct * x))
    for _ in range(3):
        assert all_of_them() == [300.0, 300.0, 100.0, 300.0, 300.0, 300.0]
    assert refused(lambda: declared(f)(lambda x: (x * x, lambda ct: 7.0 * ct * x))).diagnostics[0].code == "AD0210"
    ad.derivative_of(f, replace=True)(lambda x: (x * x, lambda ct: 7.0 * ct * x))
    assert all_of_them() == [21.0, 21.0, 7.0, 21.0, 21.0, 21.0]


def test_what_the_library_declares_forgets_nothing(tmp_path: Path) -> None:
    program = """
        import adjoint as ad, numpy as np
        from adjoint.dispatch import specialize
        def f(x):
            return x * x
        ad.grad(f)(1.0)
        kept = len(specialize._tables)
        ad.stop_gradient, ad.grad(lambda x: np.sum(np.exp(x)))(np.ones(2))
        assert len(specialize._tables) > kept > 0
    """
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(program))
    environment = {**os.environ, "PYTHONPATH": str(Path(ad.__file__).parents[1])}
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


def test_a_declaration_counts_in_compiled_code_that_was_made_before() -> None:
    import numba

    def f(x):
        return x * x

    declared(f)(lambda x: (x * x, lambda ct: 3.0 * ct * x))
    gradient = ad.grad(f)

    @numba.njit
    def inner(x):
        return gradient(x) + 1.0

    @numba.njit
    def outer(x):
        return 2.0 * inner(x)

    assert outer(2.0) == 14.0
    ad.derivative_of(f, replace=True)(lambda x: (x * x, lambda ct: 5.0 * ct * x))
    assert (inner(2.0), outer(2.0)) == (11.0, 22.0)


def test_a_declaration_that_is_run_again_is_no_other() -> None:
    def f(x):
        return x

    for _ in range(2):
        declared(f)(lambda x: (x, lambda ct: 2.0 * ct))
    assert ad.grad(f)(1.0) == 2.0


def test_a_rule_after_the_first_use_counts() -> None:
    def f(x):
        return x * x

    derivative = ad.grad(lambda x: f(x) + 0.0)
    assert [derivative(3.0) for _ in range(3)] == [6.0] * 3
    elementwise(f, lambda x, y: 7.0 * x)
    assert [derivative(3.0) for _ in range(3)] == [21.0] * 3


# --- what runs --------------------------------------------------------------------------------------------------------

RUNS: list[str] = []


def noisy(x):
    RUNS.append("function")
    return math.sqrt(x)


@ad.derivative_of(noisy)
def noisy_derivative(x):
    RUNS.append("derivative")
    y = noisy(x)

    def pullback(ct):
        return ct / (2.0 * y)

    return y, pullback


def test_the_value_is_computed_once_and_kept_for_the_pullback() -> None:
    for run in (lambda: ad.value_and_grad(noisy)(9.0), lambda: ad.grad(lambda x: 2.0 * noisy(x) * x)(9.0)):
        for _ in range(3):
            RUNS.clear()
            run()
            assert RUNS == ["derivative", "function"]
    _, pullback = ad.vjp(noisy, 9.0)
    RUNS.clear()
    assert pullback(1.0) == (1 / 6,)
    assert pullback(6.0) == (1.0,)
    assert not RUNS


def test_side_effects_stay_where_the_value_is_not_used() -> None:
    def f(x):
        noisy(x)
        return x * x

    RUNS.clear()
    assert ad.grad(f)(3.0) == 6.0
    assert RUNS == ["derivative", "function"]


def test_a_pullback_is_not_run_twice() -> None:
    def f(x):
        return x

    @declared(f)
    def derivative(x):
        def pullback(ct):
            print("pullback", end="")
            return ct

        return x * 1.0, pullback

    with contextlib.redirect_stdout(io.StringIO()) as said:
        ad.grad(lambda x: f(x) * f(x))(2.0)
    assert said.getvalue() == "pullbackpullback"


def test_a_pullback_that_writes_its_cotangent() -> None:
    def f(x):
        return 2.0 * x

    @declared(f)
    def derivative(x):
        def pullback(ct):
            ct *= 2.0
            return ct

        return 2.0 * x, pullback

    def loss(x):
        y = f(x)
        return np.sum(y * x) + np.sum(y)

    np.testing.assert_allclose(ad.grad(loss)(X), 4.0 * X + 2.0)
    value, pullback = ad.vjp(f, X)
    seed = np.ones(3)
    for _ in range(2):
        np.testing.assert_array_equal(pullback(seed)[0], [2.0, 2.0, 2.0])
    assert value.tolist() == (2.0 * X).tolist() and seed.tolist() == [1.0, 1.0, 1.0]


def test_a_derivative_that_raises() -> None:
    def f(x):
        return math.sqrt(x)

    @declared(f)
    def derivative(x):
        if x < 0.0:
            raise ValueError("negative")
        return math.sqrt(x), lambda ct: 5.0 * ct

    def guarded(x):
        try:
            return f(x)
        except ValueError:
            return x * x

    with pytest.raises(ValueError, match="negative"):
        ad.grad(f)(-1.0)
    assert (ad.grad(guarded)(4.0), ad.grad(guarded)(-4.0)) == (5.0, -8.0)


# --- what is refused --------------------------------------------------------------------------------------------------


def nothing_returned(x):
    print(x)


def no_pair(x):
    return x * x


def a_pullback_of_two(x):
    return x, lambda ct, other: ct


def a_void_pullback(x):
    def pullback(ct):
        print(ct)

    return x, pullback


MISTAKES = {
    "not callable": 3.0,
    "nothing": nothing_returned,
    "no pair": no_pair,
    "three": lambda x: (x, x, lambda ct: ct),
    "no function": lambda x: (x, 3.0),
    "too many parameters": lambda x, y: (x, lambda ct: ct),
    "too few parameters": lambda: (1.0, lambda ct: ct),
    "pullback of two": a_pullback_of_two,
    "void pullback": a_void_pullback,
    "pullback of none": lambda x: (x, lambda: 1.0),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_that_are_seen_when_they_are_declared(mistake: str) -> None:
    def f(x):
        return x

    refusal = refused(lambda: ad.derivative_of(f)(MISTAKES[mistake]))
    assert refusal.diagnostics[0].code == "AD0205"


LATER: dict[str, tuple[Any, Any]] = {
    "the value again": (lambda x: (x, x), 1.0),
    "the argument": (lambda x: x, 1.0),
    "a structure": (lambda x: (x, lambda ct: {"x": ct}), 1.0),
    "two cotangents": (lambda x: (x, lambda ct: (ct, ct)), 1.0),
    "an array for a number": (lambda x: (x, lambda ct: ct * np.ones(3)), 1.0),
    "a number for an array": (lambda x: (np.sum(x), lambda ct: ct), X),
    "another rank": (lambda x: (np.sum(x), lambda ct: ct * np.ones((3, 3))), X),
    "another length": (lambda x: (np.sum(x), lambda ct: ct * np.ones(7)), X),
    "a complex number": (lambda x: (x, lambda ct: ct * 1j), 1.0),
    "a text": (lambda x: (x, lambda ct: "ct"), 1.0),
}


@pytest.mark.parametrize("mistake", LATER)
def test_mistakes_that_are_seen_at_the_first_call(mistake: str) -> None:
    def f(x):
        return x

    derivative, x = LATER[mistake]

    def run() -> Any:
        ad.derivative_of(f)(derivative)
        return ad.grad(f)(x)

    refusal = refused(run)
    assert refusal.diagnostics[0].code == "AD0205"
    assert "test_declared_derivatives.py" in str(refusal), refusal


def test_one_cotangent_for_two_arguments() -> None:
    def f(x, y):
        return x * y

    for pullbacks in (lambda x, y: (x * y, lambda ct: ct * y), lambda x, y: (x * y, lambda ct: (ct, ct, ct))):
        assert refused(lambda pullbacks=pullbacks: ad.derivative_of(f)(pullbacks)).diagnostics[0].code == "AD0205"


def test_cotangents_of_another_structure() -> None:
    def f(p):
        return p[0] * p[1]

    for pullback in (lambda ct: ct, lambda ct: (ct,), lambda ct: (ct, ct, ct), lambda ct: {"a": ct}):
        _declare(f, pullback)
        assert refused(lambda: ad.grad(f)((2.0, 3.0))).diagnostics[0].code == "AD0205"

    def g(v):
        return v.x * v.y

    for structure in (lambda ct: ct, lambda ct: (ct, ct), lambda ct: {"x": ct, "y": ct}):
        _declare(g, structure)
        assert refused(lambda: ad.grad(g)(Vec(2.0, 3.0))).diagnostics[0].code == "AD0205"


def _declare(fn: Any, pullback: Any) -> None:
    """The same declaration, at one place, with another pullback."""
    ad.derivative_of(fn)(lambda x: (1.0, pullback))


TARGETS = {"number": 3.0, "method of a list": [].append, "derivative": ad.grad(cube)}


@pytest.mark.parametrize("target", TARGETS)
def test_targets_that_cannot_be_looked_up(target: str) -> None:
    assert refused(lambda: ad.derivative_of(TARGETS[target])).diagnostics[0].code == "AD0206"


def test_a_pullback_that_is_not_linear_has_no_second_derivative() -> None:
    def f(x):
        return x

    declared(f)(lambda x: (x * 1.0, lambda ct: np.clip(ct, -1.0, 1.0)))
    assert ad.grad(lambda x: 5.0 * f(x))(2.0) == 1.0
    for run in (lambda: ad.grad(ad.grad(lambda x: f(x) * f(x)))(2.0), lambda: ad.jvp(f, (2.0,), (1.0,))):
        refusal = refused(run)
        assert refusal.diagnostics[0].code == "AD0208"
        assert "not known to be linear" in str(refusal)


def test_memory_that_a_derivative_hands_on_and_that_is_written() -> None:
    def f(x):
        return x

    declared(f)(lambda x: (x, lambda ct: -ct))

    def written(x):
        y = f(x)
        y[0] = 5.0
        return np.sum(y) + np.sum(x)

    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(f(x) * x))(X), np.zeros(3))
    for run in (lambda: ad.grad(written)(X.copy()), lambda: ad.jvp(written, (X.copy(),), (X,))):
        assert refused(run).diagnostics[0].code == "AD0303"


def test_a_pullback_that_raises() -> None:
    def f(x):
        return x

    @declared(f)
    def derivative(x):
        def pullback(ct):
            if ct > 100.0:
                raise ValueError("large")
            return 2.0 * ct

        return x, pullback

    assert ad.grad(f)(3.0) == 2.0
    with pytest.raises(ValueError, match="large"):
        ad.grad(lambda x: 1000.0 * f(x))(3.0)


def doubled_in_place(x):
    y = np.sum(x * x)
    x *= 2.0
    return y, lambda ct: ct * x


def moved(v):
    v.x = 3.0
    return v.x, lambda ct: None


def counting(x):
    count = 0

    def pullback(ct):
        nonlocal count
        count += 1
        return ct * count * x

    return np.sum(x), pullback


def filling(x):
    work = 2.0 * x

    def pullback(ct):
        work[:] *= ct
        return work

    return np.sum(x * x), pullback


@pytest.mark.parametrize(
    ("derivative", "x", "code"),
    [
        (doubled_in_place, X, "AD0303"),
        (moved, Vec(1.0, 2.0), "AD0303"),
        (counting, X, "AD0302"),
        (filling, X, "AD0303"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_changed_under_way(derivative: Any, x: Any, code: str) -> None:
    def f(x):
        return 1.0

    ad.derivative_of(f)(derivative)
    assert refused(lambda: ad.grad(f)(x)).diagnostics[0].code == code


def test_an_argument_that_is_given_by_name_only() -> None:
    def f(x, *, k=2.0):
        return k * x

    declared(f)(lambda x, *, k=2.0: (k * x, lambda ct: k * ct))
    assert ad.grad(lambda x: f(x, k=3.0))(1.0) == 3.0
    assert refused(lambda: ad.grad(lambda x: f(1.0, k=x))(1.0)).diagnostics[0].code == "AD0204"


def test_a_view_of_what_is_given_that_is_written_later() -> None:
    """What was written through the value was taken for memory that nobody reads, and left out."""

    def itself(x):
        return x

    declared(itself)(lambda x: (x, lambda ct: ct))

    def f(x):
        a = x.copy()
        column = itself(a[:, None])
        column *= 2.0
        return np.sum(a * x)

    assert refused(lambda: ad.grad(f)(X)).diagnostics[0].code == "AD0303"
    assert refused(lambda: ad.jvp(f, (X,), (X,))).diagnostics[0].code == "AD0303"
