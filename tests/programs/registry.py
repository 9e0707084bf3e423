"""The decorator that makes a function a test case."""

from __future__ import annotations

import copy
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Case:
    """A function, the recipe of its arguments, and what `check_grads` is to do with them."""

    name: str
    function: Callable[..., Any]
    recipe: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def arguments(self) -> tuple[Any, ...]:
        """The arguments, made anew each time: functions may write to them."""
        rng = np.random.default_rng(7)
        return copy.deepcopy(tuple(item(rng) if _is_draw(item) else item for item in self.recipe))


CASES: list[Case] = []


def program(*recipe: Any, **options: Any) -> Callable[[F], F]:
    """Registers a function with the arguments ``recipe``; a function of ``rng`` among them draws its argument.

    May be repeated for several points. The options are those of `adjoint.testing.check_grads`; ``order=1`` is for
    functions that have no second derivative at the point.
    """

    def register(function: F) -> F:
        topic = function.__module__.rsplit(".", 1)[-1]
        earlier = sum(case.function is function for case in CASES)
        name = f"{topic}.{function.__name__}" + (f".{earlier + 1}" if earlier else "")
        CASES.append(Case(name, function, recipe, options))
        return function

    return register


def collect() -> list[Case]:
    """All cases of the modules of this package."""
    import programs

    for module in sorted(info.name for info in pkgutil.iter_modules(programs.__path__)):
        if not module.startswith("test_"):
            importlib.import_module(f"programs.{module}")
    return CASES


def _is_draw(item: Any) -> bool:
    return inspect.isfunction(item) and list(inspect.signature(item).parameters) == ["rng"]
