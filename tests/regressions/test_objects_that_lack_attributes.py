"""Objects that get an attribute on some paths only, in `__init__` or later: they exist at run time from the start."""

import dataclasses
import math
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.rules.types_of_values import abstract
from regressions.differences import refused, right, second
from sampling import check_grads


class Tried:
    def __init__(self, x: float) -> None:
        try:
            self.x = x
        except TypeError:
            pass


def try_in_init(x: float) -> float:
    return Tried(x).x ** 2


class Changed:
    def __init__(self, x: float) -> None:
        self.x = x
        try:
            self.x = 2 * x
            root = math.sqrt(x)
            self.x = root
        except ValueError:
            self.y = 1.0


def changed_before_it_raises(x: float) -> float:
    return Changed(x).x ** 2


class Sometimes:
    def __init__(self, x: float) -> None:
        self.x = x
        if x > 0:
            self.y = 2 * x

    def get(self) -> float:
        return self.y if self.x > 0 else self.x


def on_one_branch(x: float) -> float:
    return Sometimes(x).get() ** 2


@dataclasses.dataclass
class Posted:
    x: float

    def __post_init__(self) -> None:
        try:
            self.y = math.log(self.x)
        except ValueError:
            self.y = self.x * self.x


def after_the_fields(x: float) -> float:
    d = Posted(x)
    return d.x * d.y


class Defaulted:
    y = 3.0
    z = 2

    def __init__(self, x: float) -> None:
        self.x = x
        if x > 0:
            self.y = 2 * x
            self.z = x * x  # type: ignore[assignment]


def a_default_of_the_class(x: float) -> float:
    t = Defaulted(x)
    return t.x * t.y + t.z * t.x


class Inheriting(Tried):
    def __init__(self, x: float) -> None:
        super().__init__(x)
        try:
            self.z = 1 / (x - x)
        except ZeroDivisionError:
            self.z = x * x


def inherited_in_a_loop(x: float) -> float:
    total = 0.0
    for i in range(3):
        s = Inheriting(x + i)
        total = total + s.x * s.z
    return total


class Collecting:
    def __init__(self, x: float) -> None:
        self.items: list[float] = [x]
        for i in range(3):
            try:
                self.items.append(math.sqrt(x - i * 0.5))
            except ValueError:
                self.bad = i


def a_list_that_grows(x: float) -> float:
    t = Collecting(x)
    return sum(t.items) * t.bad


class Missing:
    def __init__(self, x: float) -> None:
        if x > 0:
            self.y = 2 * x
        try:
            self.y = self.y + 1.0
        except AttributeError:
            self.y = x


def missing_when_it_is_read(x: float) -> float:
    return Missing(x).y ** 2


class OfAllKinds:
    def __init__(self, x: float) -> None:
        self.items = [x]
        if x > 0:
            self.late = 2 * x
            self.array = np.array([x, x * x])

    def use(self) -> float:
        first = self.items[0]
        return first * self.late + self.array[1] if first > 0 else first


def of_all_kinds(x: float) -> float:
    return OfAllKinds(x).use()


def of_all_kinds_exchanged(x: float) -> float:
    pair, total = [OfAllKinds(x), OfAllKinds(2 * x)], 0.0
    for i in range(2):
        total = total + pair[i].use()
        pair[i], pair[1 - i] = pair[1 - i], pair[i]
    return total


PROGRAMS = [
    try_in_init,
    changed_before_it_raises,
    on_one_branch,
    after_the_fields,
    a_default_of_the_class,
    inherited_in_a_loop,
    a_list_that_grows,
    missing_when_it_is_read,
    of_all_kinds,
    of_all_kinds_exchanged,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_attributes_on_some_paths(program: Any) -> None:
    right(program, 0.7)
    right(program, -0.7 if program is not a_list_that_grows else 0.2)


@pytest.mark.parametrize("program", [try_in_init, on_one_branch, of_all_kinds], ids=lambda f: f.__name__)
def test_second_order(program: Any) -> None:
    second(program, 0.7)


def test_natively() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ad.DifferentiationWarning)  # it runs interpreted
        right(on_one_branch, 0.7, native=True)


class Cached:
    cache = None

    def __init__(self, x: float) -> None:
        self.x = x

    def get(self, x: float) -> float:
        if self.cache is None:
            self.cache = x * self.x  # type: ignore[assignment]
        return self.cache  # type: ignore[return-value]


class Named:
    name = "none so far"

    def __init__(self, x: float) -> None:
        self.x = x

    def get(self, x: float) -> float:
        if self.name == "none so far":
            self.name = x * self.x  # type: ignore[assignment]
        return self.name  # type: ignore[return-value]


def test_an_attribute_of_the_class_that_is_none_at_first() -> None:
    def total(x: float) -> float:
        objects = []
        for i in range(3):
            objects.append(Cached(x * i))
        return sum(o.get(x) + o.get(x + 1) for o in objects)

    right(total, 0.7)
    second(total, 0.7)


def test_an_attribute_of_the_class_that_is_no_number_is_not_taken_for_one() -> None:
    def total(x: float) -> float:
        objects = []
        for i in range(3):
            objects.append(Named(x * i))
        return sum(o.get(x) + o.get(x + 1) for o in objects)

    assert refused(lambda: ad.grad(total)(0.7)).diagnostics[0].code == "AD0402"


def test_an_attribute_that_is_not_there_raises() -> None:
    with pytest.raises(AttributeError):
        ad.value_and_grad(lambda x: Sometimes(x).y)(-0.7)


class Grown:
    def __init__(self, x: float, n: int) -> None:
        self.x = x
        self.n = n

    def step(self) -> float | None:
        if self.n == 0:
            return None
        self.n -= 1
        self.last = self.x * self.n
        return self.last


def test_objects_in_a_list_that_get_an_attribute_later() -> None:
    def total(x: float) -> float:
        waiting, found = [Grown(x, 2), Grown(x * x, 3), Grown(2.0, 1)], 0.0
        while waiting:
            for each in list(waiting):
                step = each.step()
                if step is None:
                    waiting.remove(each)
                else:
                    found += step * x
        return found

    right(total, 0.7)


def test_objects_of_a_local_class_are_taken_out_of_a_list() -> None:
    def total(x: float) -> float:
        class Weighted:
            def __init__(self, weight: float) -> None:
                self.weight = weight

        waiting = [Weighted(x), Weighted(x * x), Weighted(3.0)]
        second = waiting[1]
        waiting.remove(second)
        return sum(each.weight * x for each in waiting) * len(waiting)

    right(total, 0.7)


def test_a_default_counts_where_nobody_knows_the_object() -> None:
    def f(x):
        module = sys.modules.get("math")
        absent = getattr(sys.modules.get("a module that nobody has"), "name", None)
        factor = getattr(module, "no_such_name", x) * getattr(module, "pi", x)
        return x * factor if absent is None else x

    assert ad.grad(f)(3.0) == 6.0 * math.pi
    assert ad.jvp(f, (3.0,), (1.0,)) == (9.0 * math.pi, 6.0 * math.pi)
    assert ad.grad(ad.grad(f))(3.0) == 2.0 * math.pi


class MadeOfAnother:
    """An object that its own constructor may make another one for."""

    def __init__(self, *parts: Any, angle: Any = None) -> None:
        if angle is not None:
            self.q = MadeOfAnother(np.cos(angle), np.sin(angle)).q
        else:
            self.q = np.array([parts[0], parts[1]])


def test_a_constructor_that_calls_itself_assigns_attributes_for_the_first_time() -> None:
    check_grads(lambda x: np.sum(MadeOfAnother(angle=x).q ** 3), (0.3,))
    check_grads(lambda x: np.sum(MadeOfAnother(x, x * x).q ** 3), (0.3,))


class Held:
    def __init__(self, holder: Any, x: Any) -> None:
        self.holder = holder
        self.x = x


class Holder:
    """An object that holds one that holds it."""

    def __init__(self) -> None:
        self.k = 2.0
        self.first = Held(self, 3.0)


HOLDER = Holder()


def test_types_of_objects_that_hold_each_other_end() -> None:
    assert isinstance(abstract(HOLDER), ir.Instance)
    assert ad.grad(lambda x: HOLDER.k * x * HOLDER.first.holder.k * HOLDER.first.x)(1.0) == 12.0


class Lazy:
    """An object that computes what it is asked for once, and has a place for that from the start."""

    __slots__ = ("_product", "_square", "x")

    def __init__(self, x: Any) -> None:
        self.x = x

    def square(self) -> Any:
        try:
            return self._square
        except AttributeError:
            pass
        self._square = self.x * self.x
        return self._square

    def product(self) -> Any:
        try:
            return self._product
        except:  # noqa: E722 - as it is published
            self._product = self.square() * self.x
        return self._product


class LazyByDict:
    """The same without places."""

    def __init__(self, x: Any) -> None:
        self.x = x

    square = Lazy.square


def computed_twice(x: float) -> Any:
    made = Lazy(x)
    return made.square() * made.square() + made.product() * made.product()


def computed_on_some_paths(x: float) -> Any:
    made = Lazy(x)
    if x > 0:
        made.square()
    return made.square() * made.product()


def computed_in_a_list(x: float) -> Any:
    made = [Lazy(x * i) for i in range(3)]
    for each in made:
        each.square()
    return sum(each.square() * each.product() for each in made)


def asked_for(x: float) -> Any:
    made = Lazy(x)
    first = made.square() if hasattr(made, "_square") else x
    return first * getattr(made, "_product", 3.0) * made.square() * (2.0 if hasattr(made, "_square") else x)


@pytest.mark.parametrize("f", [computed_twice, computed_on_some_paths, computed_in_a_list, asked_for])
def test_places_that_are_empty_at_first(f: Any) -> None:
    right(f, 1.7)
    second(f, 1.7)


@pytest.mark.parametrize("cls", [Lazy, LazyByDict])
def test_what_an_object_from_outside_computes_once(cls: Any) -> None:
    held = cls(2.0)
    slope = ad.grad(lambda x: held.square() * x)
    assert slope(1.5) == 4.0
    assert held._square == 4.0
    held._square = 5.0
    assert slope(1.5) == 5.0
    del held._square
    assert slope(1.5) == 4.0


class Optional:
    """Is written before an exception that is handled: so its objects exist at run time."""

    def __init__(self, weight: Any, solver: Any = None) -> None:
        self.weight, self.solver = weight, solver

    def fit(self, x: Any) -> Any:
        try:
            self.weight = self.weight * x
            scale = math.sqrt(x)
        except ValueError:
            scale = 1.0
        if self.solver is not None:
            scale = ENGINE.solve(self.solver, scale)  # of which nothing is known
        if hasattr(self, "names"):
            delattr(self, "names")
        return scale * self.weight


class Engine:
    __slots__ = ()

    solve = staticmethod(print)


ENGINE = Engine()


def without_a_solver(x: float) -> float:
    return Optional(x).fit(x)


def with_none_for_a_while(x: float) -> float:
    made = Optional(x)
    both, total = [made, made], 0.0
    for i in range(3):
        total = total + (x if both[i % 2].solver is None else both[0].solver * x)
        if i == 1:
            both[1].solver = x * x
    return total


def with_a_name_for_a_while(x: float) -> float:
    both, total = [Optional(x), Optional(2.0)], 0.0
    for i in range(4):
        total = total + getattr(both[i % 2], "name", 1.0) * x
        if i == 1:
            setattr(both[1], "name", x * x)
    return total


def deleted_by_name(x: float) -> float:
    made = Optional(x)
    made.name = x * x
    delattr(made, "name")
    return x * x if hasattr(made, "name") else x


@pytest.mark.parametrize(
    "function", [without_a_solver, with_none_for_a_while, with_a_name_for_a_while, deleted_by_name]
)
def test_attributes_that_are_none_or_missing(function: Any) -> None:
    right(function, 0.3)
