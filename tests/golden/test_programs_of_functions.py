"""Derivatives of programs of several functions: they have several functions, and are right."""

from collections.abc import Callable
from typing import Any

import pytest

from golden.programs_of_functions import PROGRAMS, gradient_text
from sampling import check_grads


@pytest.mark.parametrize(("function", "args", "wrt"), PROGRAMS.values(), ids=list(PROGRAMS))
def test_right_in_all_modes(function: Callable[..., Any], args: tuple[Any, ...], wrt: tuple[int, ...]) -> None:
    check_grads(function, args, wrt=wrt)


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_stay_functions(name: str) -> None:
    assert gradient_text(name).count("def ") > 1
