"""Variables that are read by names, and the frame: whoever asks for that would get the derivative's."""

import inspect
import logging
import sys
from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad
from adjoint.testing import check_grads
from regressions.differences import refused


def of_a_loop(x):
    total = 0.0
    for name in ("x", "total"):
        total += locals()[name]
    return total


def on_some_paths(x):
    if x > 1.0:
        y = x
    return x * x if "y" in locals() else x


def asked_twice(x):
    first = locals()
    x = x * x
    locals()
    return first["x"]


def deleted(x):
    y = x
    del y
    return x * x if "y" in locals() else x


def all_of_the_module(x):
    return x * len(dict(globals()))


def written(x):
    globals()["RATE"] = x
    return RATE * x


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "of a loop": of_a_loop,
    "on some paths": on_some_paths,
    "asked twice": asked_twice,
    "deleted": deleted,
    "in a comprehension": lambda x: [locals() for _ in range(2)][0]["x"] * x,
    "of the module": all_of_the_module,
    "written": written,
    "vars": lambda x: vars()["x"] * x,
    "dir": lambda x: x * len(dir()),
    "currentframe": lambda x: inspect.currentframe().f_locals["x"] * x,
    "getframe": lambda x: sys._getframe().f_locals["x"] * x,
    "getframe of a depth": lambda x: sys._getframe(0).f_locals["x"] * x,
    "stack": lambda x: inspect.stack()[0].frame.f_locals["x"] * x,
    "eval": lambda x: eval("x") * x,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_frame_is_refused(name: str) -> None:
    f = PROGRAMS[name]
    assert "AD0301" in str(refused(lambda: ad.grad(f)(2.0)))
    assert "AD0301" in str(refused(lambda: ad.jvp(f, (2.0,), (1.0,))))
    assert "AD0301" in str(refused(lambda: ad.grad(f, native=True)(2.0)))


RATE = 3.0


def by_locals(x, k=2.0, *rest, **options):
    y = x * x
    options["x"] = y
    unused: float  # noqa: F842
    z = locals()
    y = 0.0
    assert list(z) == ["x", "k", "rest", "options", "y"]
    assert "z" not in z
    return z["y"] * z["x"] * z["k"] + z.get("w", x) + z["options"]["x"] + y


def given_on(x, a=2.0):
    options = locals()
    options.pop("x")
    return (lambda x, a: x**a)(x, **options)


def not_read_by_name(x):
    y = x * x
    if x > 0.0:
        y = y * x
    return {**locals()}["y"]


def by_globals(x):
    square = globals()["by_square"]
    rate = globals().get("RATE", 1.0) if "RATE" in globals() else 0.0
    return square(x) * rate * globals().get("ABSENT", 2.0) if "__getattr__" not in globals() else 0.0


def by_square(x):
    return x * x


def assigned_before(x):
    global RATE
    RATE = 5.0
    return globals()["RATE"] * x


@pytest.mark.parametrize("f", [by_locals, given_on, not_read_by_name, by_globals])
def test_variables_by_names_that_are_known(f: Callable[[Any], Any]) -> None:
    check_grads(f, (1.3,))
    assert ad.grad(f, native=True)(1.3) == pytest.approx(ad.grad(f)(1.3))


def test_variables_of_the_module_are_as_they_are_now(monkeypatch: Any) -> None:
    gradient = ad.grad(by_globals)
    assert gradient(1.5) == 18.0
    monkeypatch.setitem(globals(), "RATE", 1.0)
    assert gradient(1.5) == 6.0
    monkeypatch.setitem(globals(), "ABSENT", 1.0)
    assert gradient(1.5) == 3.0
    monkeypatch.delitem(globals(), "RATE")
    assert gradient(1.5) == 0.0


def test_a_variable_of_the_module_that_is_assigned(monkeypatch: Any) -> None:
    monkeypatch.setitem(globals(), "RATE", 3.0)
    assert ad.grad(assigned_before)(2.0) == 5.0 == RATE


class Holder:
    def __init__(self, x: Any) -> None:
        self.x = x


def test_vars_of_an_object_stay() -> None:
    assert ad.grad(lambda x, holder: x * x * len(vars(holder)))(3.0, Holder(1.0)) == 6.0


def test_libraries_may_ask_who_calls() -> None:
    def f(x):
        logging.getLogger("adjoint.tests").debug("at %s", x)
        return x * x

    assert ad.grad(f)(3.0) == 6.0
