"""Functions that write to what they capture: objects, lists, dicts, arrays, variables. As if it were an argument."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

P = np.array([0.5, 1.5, -0.7])
WAYS = ("interpreted", "native")


class Model:
    """What users of autograd write: the parameters stay on the object, and other methods read them."""

    def __init__(self) -> None:
        self.params: Any = None
        self.history: list[float] = []
        self.cache: dict[str, Any] = {}
        self.buffer = np.zeros(3)
        self.weight = 2.0
        self.steps = 0

    def inner(self):
        return (self.params**2).sum() * self.weight

    def kept(self, p):
        self.params = p
        return self.inner()

    def new_attribute(self, p):
        self.fresh = p * 2.0
        return (self.fresh * self.weight).sum()

    def counted(self, p):
        self.steps += 1
        return (p**2).sum() * self.weight * self.steps

    def listed(self, p):
        loss = (p**3).sum()
        self.history.append(loss)
        return loss * len(self.history)

    def in_a_dict(self, p):
        self.cache["y"] = p * p
        return (self.cache["y"] * p).sum()

    def memo(self, p):
        if "k" not in self.cache:
            self.cache["k"] = 3.0
        return (p**2).sum() * self.cache["k"]

    def in_place(self, p):
        self.buffer[:] = p**2
        return (self.buffer * self.buffer).sum()

    def an_element(self, p):
        self.buffer[0] += p[1] ** 2
        return (self.buffer * p).sum()

    def old_value(self, p):
        before = self.weight
        self.weight = (p**2).sum()
        return before * (p**3).sum() + self.weight**2

    def in_a_loop(self, p):
        self.total = 0.0
        for i in range(3):
            self.total = self.total + (p**2).sum() * i
            self.last = p * i
        return self.total + self.last.sum()

    def on_one_path(self, p):
        if p[0] > 0.0:
            self.weight = p[1] ** 2
        return self.weight * p[0]

    def first_time(self, p):
        if self.params is None:
            self.params = np.sin(p)
        return (self.params * p).sum()


METHODS = [
    name
    for name, method in vars(Model).items()
    if isinstance(method, types.FunctionType) and name not in ("__init__", "inner")
]


def differences(function: Callable[..., Any], *given: Any) -> np.ndarray:
    """The gradient with respect to the last argument; others are as they are each time."""
    *others, x = given

    def value(step: np.ndarray) -> float:
        return float(function(*copy.deepcopy(others), x + step))

    return np.array([(value(1e-6 * unit) - value(-1e-6 * unit)) / 2e-6 for unit in np.eye(len(x))])


def second_differences(function: Callable[..., Any], *given: Any) -> np.ndarray:
    *others, x = given

    def value(step: np.ndarray) -> float:
        return float(function(*copy.deepcopy(others), x + step))

    def mixed(a: np.ndarray, b: np.ndarray) -> float:
        return (value(a + b) - value(a - b) - value(b - a) + value(-a - b)) / 4e-8

    return np.array([[mixed(1e-4 * a, 1e-4 * b) for b in np.eye(len(x))] for a in np.eye(len(x))])


def as_told(value: Any) -> Any:
    """What an object or a container holds, as plain data: nothing in it is anything else than the program leaves."""
    if isinstance(value, np.ndarray):
        return "array", value.dtype, [round(each, 9) for each in value.tolist()]
    if isinstance(value, (float, np.floating)):
        return round(float(value), 9)
    if isinstance(value, (list, tuple)):
        return [as_told(item) for item in value]
    if isinstance(value, dict):
        return {key: as_told(item) for key, item in sorted(value.items())}
    return as_told(vars(value)) if hasattr(value, "__dict__") else value


def of_bound_method(model: Model, name: str) -> Callable[..., Any]:
    return getattr(model, name)  # type: ignore[no-any-return]


def of_closure(model: Model, name: str) -> Callable[..., Any]:
    method = getattr(Model, name)
    return lambda p: method(model, p)


def of_lambda(model: Model, name: str) -> Callable[..., Any]:
    if name == "kept":
        return lambda p: model.kept(p)
    return of_closure(model, name)


def each_operator(native: bool) -> dict[str, tuple[Callable[..., Any], Callable[..., Any]]]:
    ones = np.ones(3)
    return {
        "grad": (lambda f: ad.grad(f, native=native)(P.copy()), differences),
        "value_and_grad": (lambda f: ad.value_and_grad(f, native=native)(P.copy())[1], differences),
        "jvp": (lambda f: ad.jvp(f, (P.copy(),), (ones,), native=native)[1], lambda *given: differences(*given).sum()),
        "jvps": (lambda f: ad.jvps(f, (P.copy(),), [(each,) for each in np.eye(3)], native=native)[1], differences),
        "vjp": (lambda f: ad.vjp(f, P.copy(), native=native)[1](1.0)[0], differences),
        "jacobian": (lambda f: ad.jacobian(f, native=native)(P.copy()), differences),
        "forward": (lambda f: ad.jacobian(f, native=native, mode="forward")(P.copy()), differences),
        "hessian": (lambda f: ad.hessian(f, native=native)(P.copy()), second_differences),
        "jacobian of grad": (lambda f: ad.jacobian(ad.grad(f), native=native)(P.copy()), second_differences),
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("operator", each_operator(False))
@pytest.mark.parametrize("name", METHODS)
def test_each_call_is_as_one_of_the_program(name: str, operator: str, way: str) -> None:
    """Three calls, each of which finds what the one before has left; what is there afterwards are plain values."""
    derive, expect = each_operator(way == "native")[operator]
    method = getattr(Model, name)
    for captured in (of_bound_method, of_closure):
        model, plain = Model(), Model()
        for _ in range(3):
            expected = expect(method, plain, P)
            found = derive(captured(model, name))
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
            method(plain, P.copy())
            assert as_told(model) == as_told(plain)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", METHODS)
def test_as_of_an_argument(name: str, way: str) -> None:
    native = way == "native"
    model, given = Model(), Model()
    for _ in range(2):
        found = ad.grad(of_lambda(model, name), native=native)(P.copy())
        np.testing.assert_allclose(
            found, ad.grad(getattr(Model, name), wrt=1, native=native)(given, P.copy()), rtol=1e-12
        )
        assert as_told(model) == as_told(given)


def test_a_pullback_has_what_it_needs() -> None:
    """It may be called later, and twice, whatever became of the object."""
    model = Model()
    value, pullback = ad.vjp(model.kept, P.copy())
    model.params, model.weight = None, 77.0
    assert value == pytest.approx((P**2).sum() * 2.0)
    np.testing.assert_allclose(pullback(1.0)[0], 4.0 * P)
    np.testing.assert_allclose(pullback(2.0)[0], 8.0 * P)


def test_a_value_of_another_call_is_a_constant() -> None:
    model = Model()
    ad.grad(model.kept)(P.copy())
    np.testing.assert_allclose(ad.grad(lambda q: (model.params * q).sum())(P.copy() * 2.0), P)


SETTINGS = Model()


def writes_a_global_object(p):
    SETTINGS.params = p * 2.0
    return SETTINGS.inner()


class Called:
    def __init__(self) -> None:
        self.inputs: Any = None

    def __call__(self, x):
        self.inputs = x
        return self.forward()

    def forward(self):
        return np.tanh(self.inputs) * 2.0


CALLED = Called()


def with_a_default(p, seen=[0.0]):
    seen[0] = (p**2).sum()
    return seen[0] * p[0]


def test_globals_callables_and_defaults() -> None:
    np.testing.assert_allclose(ad.grad(writes_a_global_object)(P.copy()), 16.0 * P)
    np.testing.assert_array_equal(SETTINGS.params, P * 2.0)
    np.testing.assert_allclose(ad.grad(lambda p: CALLED(p).sum())(P.copy()), 2.0 / np.cosh(P) ** 2)
    np.testing.assert_array_equal(CALLED.inputs, P)
    assert ad.grad(CALLED)(0.5) == pytest.approx(2.0 / np.cosh(0.5) ** 2)
    np.testing.assert_allclose(ad.grad(with_a_default)(P.copy()), differences(with_a_default, P), rtol=1e-6)


# -- what is reached in two ways


def twice(m, p):
    M.weight = (p**2).sum()
    return m.weight * p[0]


M = Model()


class Weight:
    def __init__(self, weight: float = 2.0) -> None:
        self.weight = weight


class Holder:
    def __init__(self, child: Any) -> None:
        self.child = child


def refused(function: Callable[[], Any], code: str, words: str) -> None:
    with pytest.raises(ad.DifferentiationError) as caught:
        function()
    (problem,) = caught.value.diagnostics
    assert (problem.code, words in str(caught.value)) == (code, True), str(caught.value)


def both_names(m, p):
    M.weight = m.weight * p[0]
    m.buffer[1] = M.weight * p[1]
    M.history.append(m.buffer[1])
    m.history[0] = M.history[-1] * p[2]
    M.buffer = m.buffer * p[0]
    return m.weight * M.history[0] + (M.buffer * m.buffer).sum() + len(m.history)


def of_both_names(p):
    M.__init__()
    M.history = [1.0]
    return both_names(M, p)


@pytest.mark.parametrize("way", WAYS)
def test_captured_and_an_argument(way: str) -> None:
    native = way == "native"
    derive = ad.value_and_grad(both_names, wrt=1, native=native)
    expected = differences(of_both_names, P)
    for _ in range(2):
        of_both_names(P.copy())
        wanted = copy.deepcopy(vars(M))
        M.__init__()
        M.history = [1.0]
        value, gradient = derive(M, P.copy())
        np.testing.assert_allclose(gradient, expected, rtol=1e-6)
        np.testing.assert_allclose(value, of_both_names(P.copy()))
        np.testing.assert_allclose(M.buffer, wanted["buffer"])
        assert M.history == pytest.approx(wanted["history"])
    slopes = []
    for direction in np.eye(3):
        M.__init__()
        M.history = [1.0]
        slopes.append(ad.jvp(both_names, (M, P.copy()), (None, direction), native=native)[1])
    np.testing.assert_allclose(slopes, expected, rtol=1e-6)
    M.__init__()
    other = Model()
    np.testing.assert_allclose(ad.grad(twice, wrt=1, native=native)(M, P.copy()), 2.0 * P * P[0] + [(P**2).sum(), 0, 0])
    np.testing.assert_allclose(ad.grad(twice, wrt=1, native=native)(other, P.copy()), [2.0, 0.0, 0.0])
    np.testing.assert_allclose(ad.grad(twice, wrt=1, native=native)(M, P.copy()), 2.0 * P * P[0] + [(P**2).sum(), 0, 0])


def captured_in_a_holder(holder, p):
    M.weight = holder.child.weight * p[0]
    holder.child.weight = M.weight + p[1]
    return holder.child.weight * M.weight


@pytest.mark.parametrize("derive", [ad.jacobian, ad.hessian])
def test_what_is_captured_and_lies_in_an_argument_is_not_copied_between_sweeps(derive: Any) -> None:
    """Further sweeps have copies of arguments, and what is captured would be another object than the copy."""
    options = {"mode": "forward"} if derive is ad.jacobian else {}
    for function, given in ((captured_in_a_holder, Holder(M)), (twice, M)):
        M.__init__()
        refused(lambda: derive(function, wrt=1, **options)(given, P.copy()), "AD0303", "is captured, too")
    M.__init__()
    found = ad.grad(captured_in_a_holder, wrt=1)(Holder(M), P.copy())
    np.testing.assert_allclose(found, 2.0 * M.weight * np.array([2.0, 1.0, 0.0]))


def test_of_what_is_linearized_neither_is_copied_alone() -> None:
    def kept(m, x):
        M.params = x * x
        return m.params * x

    M.__init__()
    refused(lambda: ad.linearize(kept, M, 1.5)[1](None, 1.0), "AD0303", "is captured, too")


def test_two_captured_objects_that_share_an_array() -> None:
    one, other = Model(), Model()
    other.buffer = one.buffer

    def loss(p):
        one.buffer[0] = p[0] ** 2
        return other.buffer[0] * p[1]

    refused(lambda: ad.grad(loss)(P.copy()), "AD0303", "share memory, and the function writes one")
    other.buffer = np.ones(3)
    np.testing.assert_allclose(ad.grad(loss)(P.copy()), [0.0, 1.0, 0.0])


def test_a_captured_list_that_lies_in_a_captured_object() -> None:
    model = Model()
    history = model.history = [1.0]

    def loss(p):
        history.append((p**2).sum())
        return model.history[-1] * p[0]

    refused(lambda: ad.grad(loss)(P.copy()), "AD0303", "and the function writes")


def appends(history, holder, x):
    history.append(x * x)
    return holder.child[-1] * x


@pytest.mark.parametrize("way", WAYS)
def test_a_list_that_lies_in_another_argument(way: str) -> None:
    history = [1.0]
    derive = ad.grad(appends, wrt=2, native=way == "native")
    refused(lambda: derive(history, Holder(history), 1.5), "AD0303", "is reached in two ways")
    assert derive(history, Holder([2.0]), 1.5) == 2.0


def reads_two(m, x):
    return M.weight * m.weight * x


def test_an_object_that_is_captured_and_given_is_one_of_a_kind() -> None:
    """What was compiled where both are one object does not fit where they are two."""
    one, other = M, Model()
    one.weight, other.weight = 2.0, 3.0
    gradient = ad.grad(reads_two, wrt=1)
    assert [gradient(each, 1.0) for each in (one, other, one)] == [4.0, 6.0, 4.0]


def through_another_name(a, m, x):
    m.weight = x * x
    return a.child.weight * x


def through_a_holder(a, m, x):
    a.child.weight = x * x
    return m.weight * x


def of_objects_at_run_time(a, m, n, x):
    held = []
    for _ in range(n):
        held.append(a)
    held[0].child.weight = x * x
    return m.weight * x


def of_the_other_at_run_time(a, m, n, x):
    held = []
    for _ in range(n):
        held.append(m)
    held[0].weight = x * x
    return a.child.weight * x


@pytest.mark.parametrize("function", [through_another_name, through_a_holder])
@pytest.mark.parametrize("varied", [0, 1])
def test_an_object_that_is_varied_has_no_other_name_where_it_is_written(function: Any, varied: int) -> None:
    m = Weight()
    assert ad.grad(function, wrt=2)(Holder(m), m, 1.5) == pytest.approx(6.75)
    refused(lambda: ad.grad(function, wrt=(varied, 2))(Holder(m), m, 1.5), "AD0303", "reached in another way, too")
    assert ad.grad(function, wrt=2)(Holder(Weight()), Weight(), 1.5) == 2.0


@pytest.mark.parametrize("varied", [0, 1])
def test_the_same_of_objects_at_run_time(varied: int) -> None:
    m = Weight()
    args = Holder(m), m, 2, 1.5
    refused(lambda: ad.grad(of_objects_at_run_time, wrt=3)(*args), "AD0303", "reached in another way, too")
    refused(lambda: ad.grad(of_the_other_at_run_time, wrt=(varied, 3))(*args), "AD0303", "reached in another way, too")


# -- derivatives inside


def grown(m, x):
    y = m.weight * x * x
    m.weight = m.weight * 2.0
    return y


def steps(m, x):
    for _ in range(3):
        x = x + ad.grad(grown, wrt=1)(m, x)
    return x


def steps_of_both(m, x):
    for _ in range(3):
        x = x + ad.grad(grown, wrt=(0, 1))(m, x)[1]
    return x


def steps_of_captured(m, x):
    for _ in range(3):
        x = x + ad.grad(lambda y: grown(m, y))(x)
    return x


def on_one_path_only(m, x):
    if x > 0.0:
        x = x + ad.grad(grown, wrt=(0, 1))(m, x)[1]
    return x * m.weight


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("run", [steps, steps_of_both, steps_of_captured])
def test_what_a_derivative_inside_changes_is_carried_by_loops(run: Any, way: str) -> None:
    m = Weight(1.0)
    value, slope = ad.value_and_grad(run, wrt=1, native=way == "native")(m, 1.5)
    assert (value, slope) == pytest.approx((1.5 * 3 * 5 * 9, 3 * 5 * 9))
    assert m.weight == 8.0


def test_what_a_derivative_inside_changes_on_one_path() -> None:
    m = Weight(1.0)
    assert ad.value_and_grad(on_one_path_only, wrt=1)(m, 1.5) == pytest.approx((9.0, 6.0))


def listed_inside(history, p):
    def energy(q):
        history.append(q * q)
        return q * q * q

    total = 0.0
    for i in range(3):
        total = total + ad.grad(energy)(p * (i + 1))
    return total + history[-1]


def put_inside(table, p):
    def energy(q):
        table["y"] = q * q
        return q * q * q

    return ad.grad(energy)(p) + table["y"]


@pytest.mark.parametrize("way", WAYS)
def test_what_a_derivative_inside_stores_depends_on_the_outer_arguments(way: str) -> None:
    native = way == "native"
    history: list[float] = []
    slope = ad.grad(lambda p: listed_inside(history, p), native=native)(1.5)
    assert slope == pytest.approx(6.0 * 1.5 * 14.0 + 18.0 * 1.5)
    assert history == [2.25, 9.0, 20.25]
    table: dict[str, float] = {}
    assert ad.grad(lambda p: put_inside(table, p), native=native)(1.5) == pytest.approx(12.0)
    assert table == {"y": 2.25}


def test_an_attribute_that_a_derivative_inside_gives_and_nobody_reads() -> None:
    model = Model()
    slope = ad.grad(lambda q: ad.grad(model.kept)(q).sum())(P.copy())
    np.testing.assert_allclose(slope, [4.0, 4.0, 4.0])
    np.testing.assert_array_equal(model.params, P)


best = 0.0


def assigned_inside(p):
    def energy(q):
        global best
        best = q * q
        return q * q * q

    return ad.grad(energy)(p) + best


def test_variables_that_a_derivative_inside_assigns_are_refused() -> None:
    refused(lambda: ad.grad(assigned_inside)(1.5), "AD0302", "changes a variable or object from outside")


# -- variables

latest: Any = None
total = np.zeros(3)


def assigns_globals(p):
    global best, latest, total
    before = best
    best = (p**2).sum()
    latest = p * 2.0
    for i in range(2):
        total = total + p * i
    assigns_globals.calls = best * 2.0  # type: ignore[attr-defined]
    return before * best + (latest * total).sum() * best


def closure_that_assigns() -> Callable[..., Any]:
    scale, weights, kept = 1.0, np.ones(3), None

    def loss(p):
        nonlocal scale, weights, kept
        before = kept = weights
        for i in range(3):
            weights = weights + p * i
        scale = scale * (p**2).sum()
        return scale * (weights * before * kept).sum()

    return loss


class Best:
    value = 1.0


def assigns_a_class(p):
    Best.value = Best.value * (p**3).sum()
    if p[0] > 0.0:
        Best.extra = p * Best.value  # type: ignore[attr-defined]
    return Best.value


def begin() -> None:
    global best, latest, total
    best, latest, total = 0.3, None, np.ones(3) * 0.2
    assigns_globals.calls = 0.0  # type: ignore[attr-defined]
    Best.value = 1.0
    if hasattr(Best, "extra"):
        del Best.extra


def variables(function: Any) -> Any:
    cells = [cell.cell_contents for cell in function.__closure__ or () if not callable(cell.cell_contents)]
    extra = getattr(Best, "extra", None)
    return as_told([best, latest, total, assigns_globals.calls, Best.value, extra, cells])  # type: ignore[attr-defined]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("operator", each_operator(False))
@pytest.mark.parametrize("make", [lambda: assigns_globals, closure_that_assigns, lambda: assigns_a_class])
def test_variables_that_are_assigned_what_varies(make: Callable[[], Any], operator: str, way: str) -> None:
    derive, expect = each_operator(way == "native")[operator]
    told, expected = [], []
    for calls in range(3):

        def after(p: np.ndarray, calls: int = calls) -> Any:
            begin()
            function = make()
            for _ in range(calls):
                function(P.copy())
            return function(p)

        expected.append(expect(after, P))
    begin()
    function = make()
    for _ in range(3):
        function(P.copy())
        told.append(variables(function))
    begin()
    function = make()
    for calls in range(3):
        np.testing.assert_allclose(derive(function), expected[calls], rtol=1e-4, atol=1e-5)
        assert variables(function) == told[calls]


counter = 0


def reads_a_counter(p):
    global counter
    counter += 1
    return (p**2).sum() * counter


@pytest.mark.parametrize("way", WAYS)
def test_several_sweeps_are_one_run(way: str) -> None:
    """Those in several directions at once are the first run, too."""
    global counter
    counter = 0
    np.testing.assert_allclose(ad.jacobian(reads_a_counter, native=way == "native")(np.ones(3)), [2.0, 2.0, 2.0])
    assert counter == 1


def writes_what_it_has_assigned(p):
    global latest
    buffer = np.zeros(3)
    latest = buffer
    buffer[0] = p[0]
    return p[0] ** 2


@pytest.mark.parametrize("way", WAYS)
def test_writes_into_what_was_assigned_are_seen(way: str) -> None:
    np.testing.assert_allclose(ad.grad(writes_what_it_has_assigned, native=way == "native")(P.copy()), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(latest, [0.5, 0.0, 0.0])


def adds_up_on_an_object(model, p):
    model.total = 0.0
    for i in range(3):
        model.total = model.total + (p**2).sum() * i
    return model.total


@pytest.mark.parametrize("way", WAYS)
def test_the_last_of_several_writes_stays(way: str) -> None:
    model = Model()
    for _ in range(2):
        ad.grad(adds_up_on_an_object, wrt=1, native=way == "native")(model, P.copy())
        assert model.total == pytest.approx((P**2).sum() * 3.0)  # type: ignore[attr-defined]


class Part:
    def __init__(self, weight: float) -> None:
        self.weight = weight


class PartWithRoom(Part):
    def __init__(self, weight: float) -> None:
        super().__init__(weight)
        self.late = 0.0


class Assembly:
    def __init__(self, cls: type) -> None:
        self.parts, self.count = [cls(0.5), cls(0.7)], 2


def given_late(x: Any, assembly: Any) -> Any:
    total = 0.0
    for i in range(assembly.count):
        part = assembly.parts[i]
        total += part.weight * x[0]
        if part.weight > 0.6:
            part.late = part.weight * x[1]
            total += part.late**2
    return total


def test_an_attribute_that_is_given_late_is_told_with_its_place_and_a_way_out_that_works() -> None:
    x = np.array([0.4, 0.7])
    with pytest.raises(ad.DifferentiationError, match="'late' is an attribute that the object did not have") as found:
        ad.grad(given_late)(x, Assembly(Part))
    assert "part.late = part.weight * x[1]" in str(found.value)
    assert "assign self.late in __init__, too" in str(found.value)
    np.testing.assert_allclose(ad.grad(given_late)(x, Assembly(PartWithRoom)), [1.2, 2 * 0.49 * 0.7])


class Descent:
    """Keeps what it saw last, and takes steps along its own gradient."""

    def __init__(self) -> None:
        self.seen: Any = None
        self.rate, self.size = 0.1, 0.0

    def energy(self, p):
        self.seen = p * p
        self.size = self.seen[0] if self.seen[0] > 1.0 else 2.0 * self.rate
        return (p**3).sum()

    def in_a_loop(self, p):
        for _ in range(3):
            p = p - self.rate * ad.grad(self.energy)(p) * self.seen
        return (p * self.seen).sum() + self.size * p[0]

    def read_before(self, p):
        total = 0.0
        for _ in range(2):
            if self.seen is not None:
                total = total + self.seen.sum() * p[0]
            value, slope = ad.value_and_grad(lambda q: self.energy(q) * self.rate)(p)
            total = total + value * (slope * p).sum()
            self.rate = self.rate + 0.1 * self.size
        return total

    def along(self, p):
        for _ in range(2):
            _, dot = ad.jvp(self.energy, (p,), (p,))
            p = p + 0.01 * dot * self.seen
        return p.sum() * self.size


@pytest.mark.parametrize("way", [*WAYS, "forward"])
@pytest.mark.parametrize("name", ["in_a_loop", "read_before", "along"])
def test_what_the_function_of_an_inner_derivative_keeps(name: str, way: str) -> None:
    """It is handed out beside the derivative, from None on, and is written once."""
    model, reference = Descent(), Descent()
    expected = differences(lambda p: getattr(Descent(), name)(p), P)
    method = getattr(model, name)
    if way == "forward":
        found = ad.jacobian(method, mode="forward")(P.copy())
    else:
        found = ad.grad(method, native=way == "native")(P.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    getattr(reference, name)(P.copy())
    np.testing.assert_allclose(model.seen, reference.seen)
    assert (model.rate, model.size) == pytest.approx((reference.rate, reference.size))


# -- matrices of derivatives inside: the function runs once for each column


class Layer:
    def __init__(self) -> None:
        self.count, self.scale, self.seen = 1.0, np.ones(3), None
        self.history = [1.0]

    def counts(self, q):
        self.count = self.count + 1.0
        return q * q * self.count

    def scales(self, q):
        self.scale = self.scale * q
        return q * self.scale

    def sees(self, q):
        self.seen = q * 2.0 if self.seen is None else self.seen * q
        return self.seen * q

    def appends(self, q):
        self.history.append(q[0] * self.history[-1])
        return q * q * self.history[-1] * len(self.history)

    def writes(self, q):
        self.scale *= q
        return q * self.scale


def columns(method: Any, x: np.ndarray) -> Any:
    return np.sum(ad.jacobian(method)(x) @ x)


def columns_of_a_gradient(method: Any, x: np.ndarray) -> Any:
    return np.sum(ad.hessian(lambda q: np.sum(method(q) * q))(x) @ x)


@pytest.mark.parametrize("matrix", [columns, columns_of_a_gradient])
@pytest.mark.parametrize("name", ["counts", "scales", "sees"])
def test_each_column_finds_what_the_first_one_found(matrix: Any, name: str) -> None:
    expected = differences(lambda p: matrix(getattr(Layer(), name), p), P)
    layer, other, reference = Layer(), Layer(), Layer()
    found = ad.grad(lambda p: matrix(getattr(layer, name), p))(P.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    forward = ad.jacobian(lambda p: matrix(getattr(other, name), p), mode="forward")(P.copy())
    np.testing.assert_allclose(forward, expected, rtol=1e-5)
    matrix(getattr(reference, name), P.copy())
    for each in (layer, other):
        assert each.count == reference.count
        np.testing.assert_allclose(each.scale, reference.scale)
        assert (each.seen is None) == (reference.seen is None)


@pytest.mark.parametrize("matrix", [columns, columns_of_a_gradient])
@pytest.mark.parametrize("name", ["appends", "writes"])
def test_memory_that_each_column_would_write_is_refused(matrix: Any, name: str) -> None:
    method = getattr(Layer(), name)
    refused(lambda: ad.grad(lambda p: matrix(method, p))(P.copy()), "AD0303", "runs once for each column")


def test_each_call_of_a_pullback_finds_what_the_function_found() -> None:
    def twice_pulled_back(p, layer):
        value, pullback = ad.vjp(layer.appends, p)
        return np.sum(value) + np.sum(pullback(np.ones(3))[0]) + np.sum(pullback(p)[0])

    layer, reference = Layer(), Layer()
    expected = differences(lambda p: twice_pulled_back(p, Layer()), P)
    np.testing.assert_allclose(ad.grad(lambda p: twice_pulled_back(p, layer))(P.copy()), expected, rtol=1e-5)
    twice_pulled_back(P.copy(), reference)
    assert layer.history == pytest.approx(reference.history)


NOTES: list[str] = []


def notes_a_constant(q):
    NOTES.append("called")
    return (q**3).sum()


def notes_a_number(q):
    NOTES.append(str(q[0]))
    return (q**3).sum()


def reads_a_note(q):
    return (q**2).sum() * float(NOTES[-1])


def test_texts_that_the_function_of_an_inner_derivative_notes() -> None:
    """A text that no number was made into has no derivative to lose."""
    NOTES.clear()
    found = ad.grad(lambda p: (ad.grad(notes_a_constant)(p) ** 2).sum())(P.copy())
    np.testing.assert_allclose(found, 36.0 * P**3)
    assert set(NOTES) == {"called"}
    product = lambda p: (ad.grad(notes_a_number)(p) * ad.grad(reads_a_note)(p)).sum()
    with pytest.raises(ad.DifferentiationError, match="comes back from text here"):
        ad.grad(product)(P.copy())
