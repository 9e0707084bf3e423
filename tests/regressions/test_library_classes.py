"""Classes of installed packages: looked into like those of users, or refused with the reason."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad

SOURCE = """
import math
import numpy as np

def shared(a, b):
    return a * b

def polynomial(x, coefficients):
    if x > 10.0:
        return 0.0 * x
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total

def option(value, options=("one", "two"), lower=True):
    if not isinstance(value, str):
        raise TypeError(value)
    value = value.lower() if lower else value
    if value not in options:
        raise ValueError(value)
    return value

def given_or(value, default):
    return default if value is None else value

def unit(dtype=float):
    return np.array([1.0, 0.0], dtype=dtype)

def law_of(kind):
    laws = {1: np.sin, 2: lambda x: x * x, 3: shared}
    law = laws[int(kind)]
    return law

class Board:
    def __init__(self, size, n):
        self.size, self.field = size, np.zeros(n)
        self.parts = {"first": 1.0}

def board(size, n):
    return Board(size, n)

def broken(n):
    del n
    return eval("lambda x: x * 3.0")

def raised(q):
    q = np.array(q)
    if q[1] == 0.0:
        return unit(q.dtype)
    found = np.zeros((2,), q.dtype)
    found[1:] = np.sin(q[1]) * q[0]
    return found * np.exp(q[0])

def as_kind(x, kind=None, function=None):
    return given_or(kind, np.float64)(given_or(function, np.sin)(x)) * given_or(function, shared)(x, 2.0)

class Chosen:
    def __init__(self, x, how):
        self.names = ["x", "y"]
        self.x = x.__array__() if hasattr(x, "__array__") else x
        self.best = None
        if "y" in self.names:
            self.names.remove("y")
        if option(how) == "one":
            self.found = self.x * 2.0
        else:
            self.other = self.found = self.x * 3.0
        if np.any(self.x > 1.0):
            self.best = 1.0

def stripped(x):
    return x.strip()

def space_of(*arrays):
    if len(arrays) == 0:
        raise ValueError("no arrays")
    for known in (np.ndarray, list):
        if all(isinstance(each, known) for each in arrays):
            return known
    raise ValueError("arrays of several kinds")

def filled(*arrays):
    found = []
    for each in arrays:
        if len(each) > 0:
            found.append(each)
    if space_of(*found) is np.ndarray:
        return found[0]
    return arrays[-1]

class Base:
    def __init__(self, gain=2.0):
        self.gain = gain
        self.history = []

    @property
    def doubled(self):
        return 2 * self.gain

    def log(self, name):
        self.name = name
        return self

class Filter(Base):
    rate = 0.5

    def __init__(self, x=0.0, gain=2.0):
        super().__init__(gain)
        self.x = x

    def update(self, z):
        self.x = self.x + self.rate * shared(self.gain, z - self.x)
        self.history.append(self.x)
        return self.x

    def __call__(self, t):
        return self.x * t

    @staticmethod
    def scaled(v):
        return 3 * v

    @classmethod
    def of(cls, pair):
        return cls(*pair)

class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __abs__(self):
        return (self.x ** 2 + self.y ** 2) ** 0.5

    def __getitem__(self, i):
        return (self.x, self.y)[i]

class Kalman:
    def __init__(self, n):
        self.P = np.eye(n)
        self.x = np.zeros(n)

    def predict(self, F):
        self.x = F @ self.x
        self.P = F @ self.P @ F.T

    def update(self, z, R):
        S = self.P + R * np.eye(len(z))
        K = self.P @ np.linalg.inv(S)
        self.x = self.x + K @ (z - self.x)
        self.P = self.P - K @ self.P

class Metered(float):
    def __new__(cls, *args):
        return super().__new__(cls)

    def __init__(self, k=1.0):
        self.k = k

    def scale(self, x):
        return self.k * x

class Endless:
    def __init__(self, k=1.0):
        self.k = k
        i = 0
        for i in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10):
            for j in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10):
                for l in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10):
                    setattr(self, "a%d%d%d" % (i, j, l), i)
                    for m in (1, 2, 3, 4, 5, 6, 7, 8):
                        n = m

class Sink:
    def __init__(self):
        self.seen = set()

    def note(self, text):
        self.seen.add(text)


def as_rows(x, least=1, axes=2):
    if x.ndim < least:
        x = x.reshape(x.shape + (1,) * (least - x.ndim))
    return x if x.ndim == axes else x[None, :]


def of_a_choice(x, kind):
    if kind > 5.0:
        found = x
    elif kind > 4.0:
        found = 2.0 * x
    return 3.0 * x if kind < 2.0 else _missing(x, kind)


def _missing(x, kind):
    if kind > 3.0:
        found = x
    return x * x if kind > 2.5 else _never()


def scaled(x, n=1000):
    return x * (2.0 if all(map(np.isscalar, (x, n))) else 1.0) / n


def constant_of():
    return 4.2


def _never():
    if False:
        found = 1.0
    return found


def folded(angle):
    rest = _rest(angle, 360.0)
    return math.copysign(180.0, angle) if abs(rest) == 180.0 else rest


def _rest(angle, period):
    return angle - period * math.floor(angle / period + 0.5)


def both(one, other, unroll):
    if unroll > 0:
        other = other + one
    else:
        other = folded(other)
    found = {"one": folded(one), "other": other}
    found["area"] = one * other
    return found


class Sum:
    def __init__(self):
        self.s = self.t = 0.0

    def add(self, y):
        z = y + self.t
        self.t += z * 0.5
        self.s += self.t
        return self


def part_of(one, other):
    return (folded(one) * folded(other), one)


def counted_up(n, step=1):
    return np.arange(0, n * step, step)


def together(*shapes):
    if not shapes:
        return ()
    rank = max(len(shape) for shape in shapes)
    found = []
    for axis in range(-rank, 0):
        sizes = {shape[axis] for shape in shapes if axis >= -len(shape)}
        sizes -= {1}
        if len(sizes) > 1:
            raise ValueError(shapes)
        found.append(sizes.pop() if sizes else 1)
    return tuple(found)


class Scaler:
    def fit(self, x):
        if hasattr(self, "mean"):
            del self.mean
        self.mean = np.mean(x)
        return self


def is_ready(thing):
    return len([name for name in vars(thing) if name.endswith("_")]) > 0


class Meter:
    def __init__(self, unit=1.0):
        self.unit = unit

    def add(self, xs):
        if not is_ready(self):
            self.count_ = 0
            self.total_ = 0.0
        self.count_ += len(xs)
        self.total_ = self.total_ + np.sum(xs) * self.unit
        return self
"""


@pytest.fixture(scope="module")
def lib(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("env") / "site-packages"
    package = folder / "filters_for_test"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(SOURCE)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("filters_for_test")
    finally:
        sys.path.remove(str(folder))
        del sys.modules["filters_for_test"]


def slope(f: Any, x: float, step: float = 1e-5) -> Any:
    return (f(x + step) - f(x - step)) / (2 * step)


def check(f: Any, x: float) -> None:
    expected = slope(f, x)
    for native in (False, True, False):
        assert ad.grad(f, native=native)(x) == pytest.approx(expected, rel=1e-6)
    assert ad.jvp(f, (x,), (1.0,)) == pytest.approx((f(x), expected), rel=1e-6)
    first = ad.grad(f)
    assert ad.grad(first)(x) == pytest.approx(slope(first, x), rel=1e-5, abs=1e-6)


def test_state_changed_by_methods(lib: Any) -> None:
    def f(z: float) -> float:
        h = lib.Filter(gain=1.5)
        h.update(z)
        h.update(z * z)
        return h.x + h.doubled

    check(f, 1.3)


def test_arguments_that_vary(lib: Any) -> None:
    def f(z: float) -> float:
        h = lib.Filter(z, gain=z * z)
        h.log("first").update(2.0)
        return h(3.0) * lib.Filter.scaled(z) + lib.Filter.of((z, 1.0)).x + h.history[-1]

    check(f, 0.7)


def test_classes_and_functions_that_are_handed_on(lib: Any) -> None:
    check(lambda z: lib.as_kind(z) + lib.as_kind(z, float, lambda x, y=1.0: x * x * y), 0.7)


def test_operators(lib: Any) -> None:
    def f(z: float) -> float:
        total = lib.Vector(z, 1.0)
        for i in range(3):
            total = total + 0.5 * lib.Vector(z, z * i)
        return abs(total) * total[1]

    check(f, 0.7)


def test_arrays_held(lib: Any) -> None:
    F = np.array([[1.0, 0.3], [0.0, 1.0]])

    def f(z: float) -> float:
        k = lib.Kalman(2)
        for i in range(4):
            k.predict(F)
            k.update(np.array([z * i, z]), 0.4 * z)
        return float(k.x @ k.x)

    check(f, 0.9)


def test_in_a_loop_whose_length_is_known_at_run_time(lib: Any) -> None:
    def f(z: float, n: int) -> float:
        h = lib.Filter(gain=1.5)
        for _ in range(n):
            h.update(z)
        return h.x * h.x

    check(lambda z: f(z, 3), 1.3)


def test_a_class_of_a_users_that_extends_it(lib: Any) -> None:
    class Mine(lib.Filter):
        def __init__(self, x: float) -> None:
            super().__init__(x)
            self.log("mine")

    def f(z: float) -> float:
        return Mine(z).update(2 * z)

    check(f, 1.3)


def test_options_that_a_library_checks(lib: Any) -> None:
    def f(x: float) -> float:
        first, second = lib.Chosen(np.array([x, x * x]), "ONE"), lib.Chosen(x, "two")
        return np.sum(first.found) * second.other * (2.0 if first.best is None else 1.0) * len(first.names)

    check(f, 1.3)
    with pytest.raises(ad.DifferentiationError, match="this path ends here, by ValueError"):
        ad.grad(lambda x: lib.Chosen(x, "three").found)(1.3)


def test_a_dtype_is_an_option(lib: Any) -> None:
    def f(x: float) -> float:
        found = lib.raised(np.array([x, x * x]))
        return np.sum(found) if isinstance(found, np.ndarray) else found

    check(f, 1.3)


def test_what_constants_give_is_looked_into_where_it_is_called_or_written(lib: Any) -> None:
    kinds = np.array([1.0, 2.0])

    def called(x: float) -> float:
        total = 0.0
        for i in range(2):
            total += lib.law_of(kinds[i])(x)
        return total

    def written(x: float) -> float:
        board = lib.board(2.0, 3)
        board.field[1] = x
        board.parts["second"] = x * x
        board.scale = x
        return np.sum(board.field) * board.size * board.parts["second"] * board.scale

    check(called, 1.3)
    check(written, 1.3)
    with pytest.raises(ad.DifferentiationError, match="AD0201"):
        ad.grad(lambda x: lib.broken(2)(x))(1.3)


def test_what_cannot_be_followed_is_as_it_was(lib: Any) -> None:
    def f(z: float) -> float:
        m = lib.Metered(2.0)
        e = lib.Endless()
        s = lib.Sink()
        s.note("x")
        return z * z * (1.0 if m is not None and e is not None and s is not None else 2.0)

    assert ad.grad(f)(1.3) == pytest.approx(2.6)
    assert ad.jvp(f, (1.3,), (1.0,)) == pytest.approx((1.69, 2.6))


def test_refusals_tell_what_was_in_the_way(lib: Any) -> None:
    with pytest.raises(ad.DifferentiationError, match=r"'Metered' is not looked into: .*is a value of class 'float'"):
        ad.grad(lambda z: lib.Metered(2.0).scale(z) * z)(1.3)
    with pytest.raises(ad.DifferentiationError, match=r"'Endless' is not looked into: .*more than 8000 statements"):
        ad.grad(lambda z: lib.Endless(z).k * z)(1.3)


def test_paths_of_a_library_that_raise_are_those_of_python(lib: Any) -> None:
    assert ad.grad(lambda x: lib.polynomial(x, 2.0))(11.0) == 0.0
    with pytest.raises(TypeError, match="not iterable"):
        ad.grad(lambda x: lib.polynomial(x, 2.0))(1.0)
    with pytest.raises(ad.DifferentiationError, match="no attribute 'strip'"):
        ad.grad(lambda x: lib.stripped(x))(1.0)


def test_ranks_that_are_defaults(lib: Any) -> None:
    def f(x: Any) -> Any:
        rows = lib.as_rows(x)
        total = np.sum(rows, axis=1) if rows.ndim == 2 else np.sum(rows)
        total *= total
        return np.sum(total)

    x = np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(ad.grad(f)(x), [7.0, 7.0, 7.0])
    assert "least" not in ad.source(ad.grad(f), x)
    lib.as_rows.__defaults__ = (1, 1)
    np.testing.assert_allclose(ad.grad(f)(x), [7.0, 7.0, 7.0])
    lib.as_rows.__defaults__ = (1, 2)


def test_what_is_never_assigned_raises_where_it_is_read(lib: Any) -> None:
    f = lambda x, kind: lib.of_a_choice(x, kind)
    assert ad.grad(f)(1.5, 1.0) == 3.0 and ad.grad(f)(1.5, 2.7) == 3.0
    with pytest.raises(UnboundLocalError):
        ad.grad(f)(1.5, 2.2)


def test_results_of_functions_that_are_kept(lib: Any) -> None:
    """What a library's function gives that is handed nothing that varies, on one of several paths."""

    def f(x: float, kind: float) -> Any:
        return x * x if kind > 1.0 else lib.constant_of()

    assert ad.grad(f)(1.5, 2.0) == 3.0 and ad.grad(f)(1.5, 0.5) == 0.0
    assert ad.value_and_grad(f)(1.5, 0.5) == (4.2, 0.0)


def test_whole_numbers_that_are_defaults(lib: Any) -> None:
    assert ad.grad(lambda x: lib.scaled(x))(1.5) == 2e-3


def test_what_lies_beside_numbers_is_a_number(lib: Any) -> None:
    """Of calls that are given nothing that varies the kind is found out where it is needed."""
    for unroll in (0, 1):
        check(lambda z, unroll=unroll: lib.both(z, 400.0, unroll)["area"] * lib.both(2.0, z, unroll)["one"] * z, 1.3)

    def f(z: float) -> float:
        items = [z, lib.folded(300.0)]
        items.append(lib.folded(20.0) * 0.01)
        total = 0.0
        for item in items:
            total += item * item
        return total * z

    check(f, 1.3)


def test_a_sum_in_place_of_what_is_a_number(lib: Any) -> None:
    def f(z: float) -> float:
        total = lib.Sum()
        for pair in ((2.0, 300.0), (1.0, 2.0)):
            total.add(lib.part_of(*pair)[0])
        return total.add(z * total.s).s

    check(f, 1.3)


def test_a_library_hands_on_as_many_arrays_as_there_are(lib: Any) -> None:
    """Which of them are filled is known at run time only; the function that takes them is the library's, too."""
    ones = np.ones(2)
    check(lambda x: np.sum(lib.filled(ones * x, ones) ** 2), 1.3)
    check(lambda x: np.sum(lib.filled(np.ones(0), ones * x * x, ones)), 1.3)
    with pytest.raises(ValueError, match="no arrays"):
        ad.grad(lambda x: np.sum(lib.filled(np.ones(0) * x)))(1.3)


def test_what_an_index_is_made_of_is_looked_into(lib: Any) -> None:
    def f(z: float) -> float:
        x = np.array([z, z * z, 2.0 * z, 3.0])
        picked = np.take(np.sin(x), lib.counted_up(2) * 2)
        picked[picked > 2.0] = 0.0
        return np.sum(picked) + np.sum(x[lib.counted_up(2, 2)] ** 2)

    check(f, 0.7)


def test_attributes_that_are_deleted_where_they_are_there(lib: Any) -> None:
    def f(z: float, again: bool) -> float:
        scalers = [lib.Scaler(), lib.Scaler()]
        for k, scaler in enumerate(scalers):
            scaler.fit(np.array([z * k, z * z]))
        if again:
            scalers[int(z)].fit(np.array([z]))
        return scalers[0].mean + scalers[-1].mean ** 2

    check(lambda z: f(z, False), 0.7)
    with pytest.raises(ad.DifferentiationError, match="'mean' of an object of class 'Scaler' varies, and is deleted"):
        ad.grad(lambda z: f(z, True))(0.7)


def test_what_is_not_cast_may_be_told_so(lib: Any) -> None:
    def f(z: float) -> float:
        x, out = np.array([z, z * z]), np.empty(2)
        np.multiply(x, x, out=out, casting="no")
        return np.sum(out) + np.sum(np.add(x, 1.0, casting="safe") ** 2)

    check(f, 0.7)


def test_shapes_of_which_a_function_of_a_package_makes_one(lib: Any) -> None:
    def row(x: Any, rows: Any = ()) -> Any:
        *before, columns = (3,)
        outer = x.shape[:-1] if x.shape[-1] == columns else ()
        return np.sum(np.reshape(x * x, (*lib.together(before, outer, rows), columns)) ** 2)

    def unpacked(x: Any) -> Any:
        rows, columns = lib.together((2, 1), (3,))
        return np.sum(np.broadcast_to(x, (rows, columns)) ** 2)

    x = np.array([0.5, 1.5, -0.7])
    np.testing.assert_allclose(ad.grad(row)(x), 4 * x**3)
    np.testing.assert_allclose(ad.grad(lambda x: row(x, [1]))(x), 4 * x**3)
    np.testing.assert_allclose(ad.grad(row)(np.stack([x, -x])), 4 * np.stack([x, -x]) ** 3)
    np.testing.assert_allclose(ad.grad(unpacked)(x), 4 * x)
    assert ad.jvp(row, (x,), (x,))[1] == pytest.approx(np.sum(4 * x**4))
    np.testing.assert_allclose(ad.jacobian(ad.grad(row))(x), np.diag(12 * x**2))


def test_an_empty_tuple_asked_for_an_item_that_is_known_at_run_time_only() -> None:
    def f(x: float, i: int) -> float:
        items = (x, x * x) if x > 2.0 else ()
        try:
            return x * items[i]
        except IndexError:
            return x**2

    assert ad.grad(f)(1.5, 1) == pytest.approx(3.0)
    assert ad.grad(f)(3.0, 1) == pytest.approx(27.0)
    with pytest.raises(ad.DifferentiationError, match="the tuple has 0 items"):
        ad.grad(lambda x, i: x + ()[i])(1.5, 0)  # type: ignore[misc]


def test_functions_that_are_handed_an_object_are_looked_into(lib: Any) -> None:
    def f(x: float) -> Any:
        meter = lib.Meter(2.0).add(np.array([x, x * x])).add(np.array([x, 1.0, x**3]))
        return meter.total_ / meter.count_ if lib.is_ready(meter) and not lib.is_ready(lib.Meter()) else x

    check(f, 1.3)
    assert "is_ready" not in ad.source(ad.grad(f), 1.3)
