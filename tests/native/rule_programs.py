"""Example calls of every rule of the library as programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint.rules.kinds import Constant, NoDerivative, Rule
from adjoint.rules.registry import all_rules
from rules.evaluate import cases_of
from texts import run_text

Program = tuple[str, Callable[..., Any], tuple[Any, ...]]


def programs() -> Iterator[Program]:
    """Each example call of each rule: a name, a function, and the arguments that vary."""
    for rule in all_rules():
        if isinstance(rule, (Constant, NoDerivative)):
            continue
        for place, (args, kwargs) in enumerate(cases_of(rule, np.random.default_rng(len(rule.name)))):
            yield _program(rule, place, args, kwargs)


def _program(rule: Rule, place: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
    """What users would write: numbers, texts and flags that do not vary stand in the call."""
    given: list[Any] = []
    captured: dict[str, Any] = {"called": rule.fn, "np": np}

    def written(value: Any) -> str:
        if isinstance(value, (float, complex, np.ndarray, np.generic)):
            given.append(value)
            return f"x{len(given) - 1}"
        if isinstance(value, (list, tuple)):
            parts = "".join(f"{written(part)}, " for part in value)
            return f"[{parts}]" if isinstance(value, list) else f"({parts})"
        if isinstance(value, type):
            return f"np.{value.__name__}"
        if isinstance(value, (bool, int, str, bytes, type(None), slice, range, dict, set, frozenset, type(...))):
            return repr(value)
        captured[f"object_{len(captured)}"] = value  # such as a sparse matrix
        return f"object_{len(captured) - 1}"

    parts = [written(arg) for arg in args] + [f"{name}={written(value)}" for name, value in kwargs.items()]
    name = f"{rule.name}[{place}]"
    params = ", ".join(f"x{place}" for place in range(len(given)))
    text = f"def f({params}):\n    return called({', '.join(parts)})\n"
    filename = f"<{name}>"
    return name, run_text(text, filename, captured)["f"], tuple(given)
