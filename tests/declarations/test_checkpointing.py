"""Checkpoints: the same gradients to the bit, in few states and few steps."""

import linecache
import math
import re
import sys
import tempfile
import tracemalloc
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.snapshots import next_snapshot

X = np.linspace(0.1, 1.0, 6)

LOOPS = {
    "numbers": ("x, w", "for i in CP(range(17)): x = x + 0.1 * math.sin(w * x) * i + w", "x * w", (0.3, 1.1)),
    "none": ("x, w", "for i in CP(range(0)): x = x * w", "x * w", (0.3, 1.1)),
    "arrays": (
        "x, w",
        "for i in CP(range(2, 40, 3)): x = x + 0.1 * np.tanh(w * x) * x[0] * i",
        "np.sum(x * x)",
        (X, 1.1),
    ),
    "backwards": ("x, w", "for i in CP(range(9, -3, -2)): x = x * w + np.sin(x) * i", "np.sum(x * x)", (X, 1.1)),
    "in place": (
        "x, w",
        """
u = x * 1.0
for i in CP(range(15)):
    u[1:-1] += w * (u[2:] - 2 * u[1:-1] + u[:-2])
    u[0] = np.sin(u[1] * i)
""",
        "np.sum(u * u)",
        (X, 0.2),
    ),
    "views": (
        "x, w",
        """
u = x * 1.0
v = u[1:]
for i in CP(range(15)):
    v *= w * u[:-1]
    u[0] = np.sin(v[0] + i)
""",
        "np.sum(u * u)",
        (X, 1.2),
    ),
    "new arrays": (
        "x, w",
        """
u = x * 1.0
for i in CP(range(11)):
    new = np.empty_like(u)
    new[0] = np.sin(u[-1]) * i
    for k in range(1, len(x)):
        new[k] = u[k] + w * u[k - 1] * u[0]
    if new[2] > 50.0:
        break
    u = new
""",
        "np.sum(u * u)",
        (X, 0.3),
    ),
    "break": (
        "x, w",
        """
for i in CP(range(100)):
    x = x * w + 0.01 * i
    if x > 3.0:
        break
""",
        "x * x",
        (0.3, 1.1),
    ),
    "return": (
        "x, w",
        """
for i in CP(range(100)):
    x = x * w + 0.01 * i
    if x > 3.0:
        return x * i * w
    if i % 2:
        continue
    x = x - 0.001
""",
        "x * x",
        (0.3, 1.1),
    ),
    "while": (
        "x, w",
        """
y, k = x, 0
while CP(y < 5.0):
    y = y * w + 0.01 * x
    k += 1
""",
        "y * y * k",
        (0.3, 1.1),
    ),
    "elements": (
        "xs, w",
        """
s = 0.5
for i in CP(range(len(xs))):
    s = np.sin(s * xs[i]) + w * xs[i - 1]
for x in CP(xs):
    s = np.sin(s * x) + w * x
for i, x in CP(enumerate(xs)):
    s = s * w + x * i
""",
        "s",
        (X, 1.1),
    ),
    "within": (
        "x, w",
        """
for k in CP(range(4)):
    x = x * 1.1
    for i in CP(range(7)):
        x = x + 0.1 * math.sin(w * x) * i
    if x > 0.2:
        for i in CP(range(4)):
            x = x * w - 0.1 * i
""",
        "x",
        (0.3, 1.1),
    ),
    "several": (
        "x, w",
        """
a, b, c = x, w, 0.0
for i in CP(range(9)):
    a, b = b * x, a + w * b
    c = a * b
""",
        "c * a",
        (0.3, 1.1),
    ),
    "from zeros": (
        "x, w",
        """
y, z, last = np.zeros(6), 0.0, w
for i in CP(range(5)):
    y = y * w + x
    z = z + np.sum(y * y)
    last = last * x
""",
        "z + np.sum(last)",
        (X, 1.1),
    ),
    "list": (
        "x, w",
        """
out = []
for i in CP(range(9)):
    x = math.sin(x * w)
    out.append(x)
""",
        "sum(out) * out[3]",
        (0.3, 1.1),
    ),
    "written later": (
        "x, w",
        """
u, s = x * 1.0, 0.1
for i in CP(range(9)):
    s = s + w * u[0] * s + u[1]
u[0] = 7.0 * s
""",
        "u[0] * u[1]",
        (X, 1.1),
    ),
    "growing": (
        "x, w",
        "y = x\nfor i in CP(range(4)): y = np.concatenate([y, np.sin(y) * w])",
        "np.sum(y)",
        (X, 1.1),
    ),
    "raises": (
        "x, w",
        """
for i in CP(range(9)):
    if x < 0:
        raise ValueError(x)
    assert x > -1
    x = x + w * x
""",
        "x",
        (0.3, 1.1),
    ),
    "dict": (
        "x, w",
        """
d = {"a": x, "b": w}
for i in CP(range(9)):
    d["a"] = d["a"] * d["b"]
    d["b"] = d["b"] + 0.1 * d["a"]
""",
        "d['a']",
        (0.3, 1.1),
    ),
    "arrays in a list": (
        "x, w",
        """
layers = [x * 1.0, x * 2.0]
for i in CP(range(9)):
    layers[i % 2] = np.sin(layers[(i + 1) % 2]) * w
""",
        "np.sum(layers[0] * layers[1])",
        (X, 1.1),
    ),
}
SECOND = ("numbers", "in place", "new arrays", "return", "while", "within", "from zeros")


def made(name: str, options: str | None):
    params, body, result, _ = LOOPS[name]
    body = re.sub(r"CP\((.*)\):", r"ad.checkpointed(\1, " + options + "):" if options else r"\1:", body)
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    text = f"def f({params}):\n{lines}\n    return {result}\n"
    file = f"<checkpointing {name} {options}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = {"ad": ad, "np": np, "math": math}
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]


def copies(args):
    return tuple(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args)


def same(one, other) -> bool:
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, f"snapshots={count}") for name in LOOPS for count in (1, 3)),
        *((name, "memory='1 kB'") for name in ("numbers", "in place", "while")),
    ],
)
def test_gradients_are_the_same_to_the_bit(name, options) -> None:
    args = LOOPS[name][-1]
    plain, again = made(name, None), made(name, options)
    assert same(again(*copies(args)), plain(*copies(args)))
    expected = ad.value_and_grad(plain, wrt=(0, 1))(*copies(args))
    assert all(map(np.any, expected[1])) or name == "none"
    assert same(ad.value_and_grad(again, wrt=(0, 1))(*copies(args)), expected)
    _, pullback = ad.vjp(again, *copies(args))
    assert same(pullback(1.0), expected[1])
    assert same(pullback(1.0), expected[1])
    direction = (np.ones_like(args[0]) if isinstance(args[0], np.ndarray) else 1.0, None)
    assert same(ad.jvp(again, copies(args), direction), ad.jvp(plain, copies(args), direction))


@pytest.mark.parametrize("name", LOOPS)
def test_states_in_files(name) -> None:
    args = LOOPS[name][-1]
    again = made(name, "snapshots=1, disk=3")
    if name in ("views", "list", "arrays in a list"):
        with pytest.raises(ad.DifferentiationError, match="that cannot lie in files"):
            ad.grad(again)(*copies(args))
        return
    before = set(Path(tempfile.gettempdir()).glob("adjoint-*.state"))
    expected = ad.value_and_grad(made(name, None), wrt=(0, 1))(*copies(args))
    assert same(ad.value_and_grad(again, wrt=(0, 1))(*copies(args)), expected)
    _, pullback = ad.vjp(again, *copies(args))
    assert same(pullback(1.0), expected[1])
    assert same(pullback(1.0), expected[1])
    del pullback
    assert set(Path(tempfile.gettempdir()).glob("adjoint-*.state")) <= before


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name) -> None:
    args = LOOPS[name][-1]
    plain, again = made(name, None), made(name, "snapshots=2")
    direction = (np.ones_like(args[0]) if isinstance(args[0], np.ndarray) else 1.0, None)
    found, expected = (ad.hvp(f, copies(args), direction)[0] for f in (again, plain))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    if isinstance(args[0], float):
        twice = [ad.grad(lambda x, f=f: ad.grad(f)(x, args[1]))(args[0]) for f in (again, plain)]
        np.testing.assert_allclose(*twice, rtol=1e-12)
    else:
        np.testing.assert_allclose(ad.hessian(again)(*copies(args)), ad.hessian(plain)(*copies(args)), rtol=1e-12)


def falling(x, w, n):
    if n < 1:
        return x
    for i in ad.checkpointed(range(4), snapshots=2):
        x = x * w + 0.1 * math.sin(x) * i
    return falling(x, w, n - 1)


def falling_plainly(x, w, n):
    if n < 1:
        return x
    for i in range(4):
        x = x * w + 0.1 * math.sin(x) * i
    return falling_plainly(x, w, n - 1)


def test_loops_of_recursive_functions() -> None:
    derivative = ad.grad(falling, wrt=(0, 1))
    assert derivative(0.3, 1.1, 3.0) == ad.grad(falling_plainly, wrt=(0, 1))(0.3, 1.1, 3.0)
    assert "next_snapshot" in ad.source(derivative, 0.3, 1.1, 3.0)


def vectors(x, w):
    for _ in ad.checkpointed(range(9), snapshots=2):
        x = x + 0.1 * np.sin(w * x) * x[0]
    return x


def vectors_kept(x, w):
    for _ in range(9):
        x = x + 0.1 * np.sin(w * x) * x[0]
    return x


def test_a_pullback_called_for_each_row() -> None:
    np.testing.assert_array_equal(ad.jacobian(vectors)(X, 1.1), ad.jacobian(vectors_kept)(X, 1.1))


# Steps


@lru_cache(None)
def fewest(steps: int, snapshots: int) -> int:
    """The steps to run again, by the recursion of Griewank and Walther, to reverse as many."""
    if steps <= 1:
        return 0
    if snapshots == 1:
        return steps * (steps - 1) // 2
    return min(i + fewest(i, snapshots) + fewest(steps - i, snapshots - 1) for i in range(1, steps))


def many(x, n, k):
    for i in ad.checkpointed(range(n), snapshots=k):
        x = x + 0.01 * math.sin(x) * i
    return x


def until(x, w, k):
    while ad.checkpointed(x < 30.0, snapshots=k):
        x = x * w
    return x


def calls_of(derivative, *args) -> dict[str, int]:
    derivative(*args)
    counts: dict[str, int] = {}

    def count(frame, event, _) -> None:
        if event == "call":
            counts[frame.f_code.co_name] = counts.get(frame.f_code.co_name, 0) + 1

    sys.setprofile(count)
    try:
        derivative(*args)
    finally:
        sys.setprofile(None)
    return counts


@pytest.mark.parametrize(
    ("steps", "snapshots"), [(1, 1), (2, 1), (10, 3), (10, 1), (23, 4), (60, 5), (60, 59), (40, 99)]
)
def test_no_schedule_needs_fewer_steps(steps, snapshots) -> None:
    found = calls_of(ad.grad(many), 0.3, steps, snapshots)
    assert found["many_loop_step_adjoint"] == steps
    assert found["many_loop_step"] == fewest(steps, snapshots) + 1  # the last one, for the value


def test_the_schedule_is_that_of_the_library() -> None:
    n_advance = pytest.importorskip("checkpoint_schedules.multistage").n_advance
    n_advance = getattr(n_advance, "py_func", n_advance)
    for steps in range(2, 80):
        for free in range(1, 20):
            assert next_snapshot(5, 5 + steps, free) == 5 + n_advance(steps, free, trajectory="maximum")


def test_a_million_steps_in_a_hundred_states_take_less_than_four_each() -> None:
    assert fewest_of_many(60, 5) == fewest(60, 5)
    assert fewest_of_many(10**6, 100) < 4 * 10**6


def test_a_loop_of_unknown_length_needs_few_steps() -> None:
    found = calls_of(ad.grad(until), 1e-3, 1.01, 8)
    steps = found["until_loop_step_adjoint"] - 1
    assert steps > 1000
    assert found["until_loop_step"] < 1.35 * (steps + fewest_of_many(steps, 8))


def fewest_of_many(steps: int, snapshots: int) -> int:
    """As ``fewest``, by the formula."""
    repeats, reach = 0, 1
    while reach < steps:
        repeats += 1
        reach = math.comb(snapshots + repeats, snapshots)
    return repeats * steps - math.comb(snapshots + repeats, repeats - 1)


def field(u, n, k):
    for i in ad.checkpointed(range(n), snapshots=k):
        u = u + 0.01 * u * np.roll(u, 1)
    return np.sum(u)


def field_in_place(u, n, k):
    v = u * 1.0
    for i in ad.checkpointed(range(n), snapshots=k):
        v[1:] += 0.01 * v[1:] * v[:-1]
    return np.sum(v)


@pytest.mark.parametrize("f", [field, field_in_place])
def test_memory_is_that_of_the_snapshots(f) -> None:
    u = np.linspace(0.0, 0.1, 20_000)
    derivative = ad.grad(f)
    derivative(u, 3, 2)
    tracemalloc.start()
    derivative(u, 200, 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (10 + 10) * u.nbytes


def test_the_report_says_beforehand_what_it_will_cost(capsys) -> None:
    u = np.linspace(0.0, 1.0, 125_000)
    report = ad.tape_report(ad.grad(field), u, 10**6, 10)
    (loop,) = report.checkpoints
    assert (loop.iterations, loop.state, loop.snapshots, loop.bytes) == (10**6, 10**6, 10, 10**7)
    report = ad.tape_report(ad.grad(field), u, 10**6, 10, memory="100 MB")
    (loop,) = report.checkpoints
    assert (loop.snapshots, loop.run_again) == (100, fewest_of_many(10**6, 100))
    text = capsys.readouterr().out
    assert "for i in ad.checkpointed(range(n), snapshots=k):" in text
    assert "keeps  100 states of 1 MB (100 MB)" in text
    assert "again  3817896 iterations for 1000000, 3.82 for each" in text
    (loop,) = ad.tape_report(ad.grad(until), 1.0, 1.5, 4).checkpoints
    assert (loop.iterations, loop.snapshots) == (None, 4)
    elements = ad.tape_report(ad.grad(made("elements", "snapshots=2")), X, 1.1)
    assert [(loop.iterations, loop.state) for loop in elements.checkpoints] == [(6, 8)] * 3
    assert elements.bytes == 3 * 2 * 8


# Calls


def layer(x, w):
    h = np.tanh(w * x)
    for _ in range(3):
        h = h + np.sin(h) * x
    return h


def scale(u, w):
    u[0] = u[1] * w
    u *= 2.0


def outer(x, w):
    out = np.zeros(6)
    for i in range(6):
        out[i] = x[i] * w * x[0]
    return out


def checked(x, w):
    if w < 0:
        raise ValueError("no")
    if w > 10:
        return x, x
    a = x * w
    return a * a, a + x


def twice(layer, x, w):
    return np.sum(layer(layer(x, w), w))


def in_place(scale, x, w):
    u = x * 1.0
    scale(u, w)
    scale(u, w * u[2])
    return np.sum(u * u)


def written(outer, x, w):
    total = 0.0
    for k in range(4):
        y = outer(x, w)
        y[0] = y[1] * k
        total = total + np.sum(np.sin(y))
    return total


def structure(checked, x, w):
    a, b = checked(x, w)
    return np.sum(a * b) * w


@pytest.mark.parametrize(
    ("f", "inner"),
    [(twice, layer), (in_place, scale), (written, outer), (structure, checked)],
    ids=lambda f: f.__name__,
)
def test_calls_are_run_again(f, inner) -> None:
    again = ad.checkpoint(inner)
    expected = ad.value_and_grad(lambda x, w: f(inner, x, w), wrt=(0, 1))(X, 1.2)
    assert same(ad.value_and_grad(lambda x, w: f(again, x, w), wrt=(0, 1))(X, 1.2), expected)
    assert same(ad.value_and_grad(lambda x, w: f(ad.checkpoint(inner), x, w), wrt=(0, 1))(X, 1.2), expected)
    _, pullback = ad.vjp(lambda x, w: f(again, x, w), X, 1.2)
    assert same(pullback(1.0), expected[1])
    assert same(pullback(1.0), expected[1])
    hessians = [ad.hessian(lambda x, g=g: f(g, x, 1.2))(X) for g in (again, inner)]
    np.testing.assert_allclose(*hessians, rtol=1e-12)


def test_a_body_runs_once_forwards_and_once_in_the_pullback() -> None:
    text = ad.source(ad.grad(lambda x: np.sum(ad.checkpoint(layer)(x, 1.1))), X)
    assert text.count("np.tanh(") == 2
    assert ad.checkpoint(layer)(X, 1.1).tolist() == layer(X, 1.1).tolist()
    assert repr(ad.checkpoint(layer)) == "checkpoint(layer)"


# What is refused


def draws(x):
    rng = np.random.default_rng(0)
    for _ in ad.checkpointed(range(9), snapshots=2):
        x = x + rng.normal()
    return x


def tells(x):
    for i in ad.checkpointed(range(9), snapshots=2):
        x = x * 1.1
        print(i)
    return x


def swaps(x):
    u, v = x * 1.0, np.zeros(6)
    for _ in ad.checkpointed(range(9), snapshots=2):
        v[:] = np.sin(u)
        u, v = v, u
    return np.sum(u * v)


def elsewhere(x):
    numbers = ad.checkpointed(range(9), snapshots=2)
    for _ in numbers:
        x = x * 1.1
    return x


def optionless(x):
    for _ in ad.checkpointed(range(9), snapshots=2, memory=3):
        x = x * 1.1
    return x


def misspelt(x):
    for _ in ad.checkpointed(range(9), snapshot=2):
        x = x * 1.1
    return x


def without_unit(x):
    for _ in ad.checkpointed(range(9), memory="ten"):
        x = x * 1.1
    return x


def no_function(x):
    return ad.checkpoint(3)(x)


@pytest.mark.parametrize(
    ("f", "x", "code", "label"),
    [
        (draws, 0.3, "AD0309", "this may do something else, or something that others see, when it is run again"),
        (tells, 0.3, "AD0309", "this may do something else, or something that others see, when it is run again"),
        (swaps, X, "AD0309", "references move here"),
        (elsewhere, 0.3, "AD0309", "'ad.checkpointed' stands outside of a loop's head"),
        (optionless, 0.3, "AD0203", "ad.checkpointed takes snapshots= or memory="),
        (misspelt, 0.3, "AD0203", "ad.checkpointed takes what the loop runs over, and options by name"),
        (without_unit, 0.3, "AD0213", "'ten' is no amount of memory; one is '100 MB'"),
        (no_function, 0.3, "AD0103", "ad.checkpoint was given a value of type 'int'"),
    ],
)
def test_what_cannot_be_run_again_is_refused(f, x, code, label) -> None:
    with pytest.raises(ad.DifferentiationError) as refusal:
        ad.grad(f)(x)
    assert refusal.value.diagnostics[0].code == code
    assert label in str(refusal.value)


def test_forward_mode_runs_nothing_again() -> None:
    assert math.isclose(ad.jvp(draws, (0.3,), (1.0,))[1], 1.0)


def test_no_room_is_an_error() -> None:
    with pytest.raises(ValueError, match="a checkpointed loop needs one snapshot at least"):
        ad.grad(many)(0.3, 5, 0)
    with pytest.raises(TypeError, match="snapshots= or memory="):
        ad.checkpointed(range(3))
    with pytest.raises(ad.DifferentiationError, match="AD0103"):
        ad.checkpoint(3)


# Machine code


def orbit(x, w, n):
    for i in ad.checkpointed(range(n), memory="1 kB"):
        x = x + 0.01 * np.roll(x, 1) * i
    v = x * 1.0
    while ad.checkpointed(np.sum(v) < 2e4, snapshots=3):
        v[1:] += w * v[:-1]
    return np.sum(v * v)


def test_in_machine_code() -> None:
    pytest.importorskip("llvmlite")
    expected = ad.grad(orbit)(X, 0.2, 40)
    np.testing.assert_allclose(ad.grad(orbit, native="strict")(X, 0.2, 40), expected, rtol=1e-12)


def test_second_derivatives_of_loops_that_write_arguments() -> None:
    """Tangents flow through the argument as it was and as it is afterwards, not through what is kept."""

    def moved(v):
        w, m = np.sin(v), v
        for _ in ad.checkpointed(range(3), snapshots=2):
            m += 0.1 * w
            w = np.tanh(w + m) * 0.8
        return w @ w + v @ v

    def plain(v):
        w, m = np.sin(v), v.copy()
        for _ in range(3):
            m = m + 0.1 * w
            w = np.tanh(w + m) * 0.8
        return w @ w + m @ m

    v, direction = np.array([0.3, -0.4, 0.9]), np.array([1.0, -0.5, 0.2])
    (expected,) = ad.hvp(plain, (v,), (direction,))
    (found,) = ad.hvp(moved, (v.copy(),), (direction,))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(ad.hessian(moved)(v.copy()), ad.hessian(plain)(v), rtol=1e-12)


def test_second_derivatives_where_cotangents_are_changed_besides() -> None:
    def f(x):
        y, k = x, 0
        while ad.checkpointed(y < 1.5 and k < 6, snapshots=2):
            k += 1
            y = y * 1.3 + 0.1
        return x * ad.with_derivative(math.sin(y), lambda ct: 0.5 * ct)

    y = 0.4
    while y < 1.5:
        y = y * 1.3 + 0.1
    assert ad.grad(f)(0.4) == pytest.approx(math.sin(y) + 0.2 * math.cos(y) * 1.3**4, rel=1e-12)
    with pytest.raises(ad.DifferentiationError) as refusal:
        ad.hvp(f, (0.4,), (1.0,))
    (problem,) = refusal.value.diagnostics
    assert problem.code == "AD0309"
    assert problem.labels[0].text == "a derivative of this is differentiated, and cotangents are changed besides"


OfArray = ad.Fn[[np.ndarray, float], np.ndarray]


def test_function_values_known_only_at_run_time() -> None:
    """They compute: what else they do to memory is refused when they run."""
    kept = lru_cache(lambda: OfArray(lambda v, k: np.sin(v) * k))

    def f(v, k):
        layer: OfArray = kept()
        for _ in ad.checkpointed(range(4), snapshots=2):
            v = layer(v, k) + v
        return np.sum(v)

    def plain(v, k):
        layer: OfArray = kept()
        for _ in range(4):
            v = layer(v, k) + v
        return np.sum(v)

    point, direction = (np.array([0.3, 0.4]), 0.5), (np.array([1.0, -0.2]), 0.7)
    for way in (lambda f: ad.vjp(f, *point)[1](1.0), lambda f: ad.hvp(f, point, direction)):
        for found, expected in zip(way(f), way(plain), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", ["inside", "behind", "in a call"])
def test_loops_that_write_what_others_wrote(order) -> None:
    """Loops that refer to one array throughout: in what is run again itself, and behind each other."""

    def inside(loop, call, v):
        for _ in loop(range(2), snapshots=1):
            m = v * 0.5
            w = v * 1.0
            for _ in loop(range(3), snapshots=2):
                m += 0.1 * w
                w = w - 0.1 * m
            v = w * m
        return v @ v

    def behind(loop, call, v):
        m = v * 0.5
        for _ in loop(range(3), snapshots=1):
            m += 0.1 * m
        for _ in loop(range(3), snapshots=1):
            m *= 0.9 + 0.1 * m
        return m @ v

    def in_a_call(loop, call, v):
        def layer(v):
            m = v * 0.5
            for _ in loop(range(3), snapshots=1):
                m += 0.1 * v
            for _ in loop(range(2), snapshots=1):
                m *= m
            return m + v

        return np.sum(call(layer)(v) * v)

    program = {"inside": inside, "behind": behind, "in a call": in_a_call}[order]

    def checkpointed(v):
        return program(ad.checkpointed, ad.checkpoint, v)

    def plain(v):
        return program(lambda items, snapshots: items, lambda f: f, v)

    v, direction = np.array([0.3, -0.4, 0.9]), np.array([1.0, -0.5, 0.2])
    np.testing.assert_array_equal(ad.vjp(checkpointed, v)[1](1.0)[0], ad.vjp(plain, v)[1](1.0)[0])
    found, expected = (ad.jvp(ad.grad(f), (v,), (direction,))[1] for f in (checkpointed, plain))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def first_bound_in_the_loop(x, v):
    for _ in ad.checkpointed(range(3), snapshots=1):
        v = v * x
        rows = []
        for row in np.eye(3):
            for last in rows:
                pass
            rows.append(row)
        v = v + last
    return v


def bound_on_one_path(x, v):
    for i in ad.checkpointed(range(5), snapshots=2):
        if x > i:
            w = x * i
        v = v * x
    return v * w


@pytest.mark.parametrize("native", [False, True])
def test_variables_that_are_first_bound_in_the_loop(native):
    v = np.array([0.5, 0.6])
    for f, args in ((first_bound_in_the_loop, (0.85, X[:3])), (bound_on_one_path, (0.85, v))):
        plain, (x_bar, v_bar) = f(*args), ad.vjp(f, *args, native=native)[1](np.ones(len(args[1])))
        _, along = ad.jvp(f, args, (1.0, np.ones(len(args[1]))))
        np.testing.assert_allclose(ad.vjp(f, *args, native=native)[0], plain)
        np.testing.assert_allclose(x_bar + v_bar.sum(), along.sum())
    with pytest.raises(UnboundLocalError, match="'w'"):
        ad.vjp(bound_on_one_path, -0.85, v, native=native)


def left_by_return(x):
    for _ in ad.checkpointed(range(3), snapshots=2):
        x = x * 1.5
        if x > 4.0:
            return x * x
    return x


@pytest.mark.parametrize("native", [False, True])
def test_forward_mode_of_a_loop_that_is_left_by_return(native: bool) -> None:
    """What only that way gives has no value where the loop comes to its end."""
    assert ad.jvp(left_by_return, (1.0,), (1.0,), native=native) == (3.375, 3.375)
    assert ad.jvp(left_by_return, (2.0,), (1.0,), native=native) == (20.25, 20.25)
