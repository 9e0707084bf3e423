"""Variables are read by their names in the source only: whoever asks for the frame would get that of the derivative."""

import inspect
import logging
import sys
from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad
from regressions.differences import refused


def by_locals(x):
    y = x * x
    return locals()["y"] * x


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "locals": by_locals,
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
