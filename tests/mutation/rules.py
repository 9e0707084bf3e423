"""Broken rules: whatever a rule is made of, changed in one place, under the test that every rule goes through.

A mutant counts if it changes a result: at the operands of the test, at others of the same kind, or at special ones.
"""

from __future__ import annotations

import dis
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "rules"))
import evaluate as ev
import test_library

from adjoint.rules.kinds import General, Rule
from mutation.mutants import Mutant, mutants

RULES = test_library.RULES
_OWN = ("adjoint.rules.", "adjoint.runtime.")
_SPECIAL = (0.0, 1.0, -1.0, 0.5, 2.0)
FRESH = 3


@dataclass
class Part:
    """A function that rules are made of.

    Attributes
    ----------
    function, rules
        It, and the rules that call it.
    """

    function: FunctionType
    rules: list[Rule] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    """What became of a mutant: ``killed``, ``same`` (it changes no result), or ``survived``."""

    part: Part
    mutant: Mutant
    fate: str


def parts(rules: list[Rule]) -> list[Part]:
    """What rules are made of: derivatives, and functions of this library that they call."""
    found: dict[int, Part] = {}
    for rule in rules:
        for function in _reached(rule):
            part = found.setdefault(id(function), Part(function))
            part.rules.append(rule)
    return list(found.values())


def _reached(rule: Rule) -> Iterator[FunctionType]:
    start = [rule.derivative, *rule.by_rank.values()]
    if isinstance(rule, General):
        start.append(rule.jvp)
    todo: list[Any] = [fn for fn in start if isinstance(fn, FunctionType)]
    seen: set[int] = set()
    while todo:
        function = todo.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        yield function
        captured = [cell.cell_contents for cell in function.__closure__ or ()]
        for other in (*_named(function.__code__, function.__globals__), *captured):
            if isinstance(other, FunctionType) and other.__module__.startswith(_OWN):
                todo.append(other)


def _named(code: CodeType, scope: dict[str, Any]) -> Iterator[Any]:
    """The values of global names, and of attributes of modules, that a code refers to."""
    current: Any = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            current = scope.get(instruction.argval)
            yield current
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            current = getattr(current, instruction.argval, None)
            yield current
        else:
            current = None
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _named(constant, scope)


def tried(part: Part, most: int | None = None) -> Iterator[Result]:
    """Each mutant of a part, and what became of it."""
    function, own = part.function, part.function.__code__
    expected: list[Any] | None = None
    for mutant in list(mutants(function))[:most]:
        function.__code__ = mutant.code
        try:
            fate = "killed" if not _passes(part.rules) else "survived"
            if fate == "survived":
                found = _observed(part.rules)
                function.__code__ = own
                expected = _observed(part.rules) if expected is None else expected
                fate = "same" if _alike(found, expected) else "survived"
        finally:
            function.__code__ = own
        yield Result(part, mutant, fate)


def _quietly(run: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return run()


def _passes(rules: list[Rule]) -> bool:
    """Whether the tests of the registry see nothing wrong."""
    for rule in rules:
        try:
            _quietly(lambda rule=rule: _tests(rule))
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt):
                raise
            return False
    return True


def _tests(rule: Rule) -> None:
    test_library.test_derivatives_agree(rule)
    if rule in test_library.ELEMENTWISE:
        for test in (test_library.test_complex_step, test_library.test_keeps_single_precision):
            try:
                test(rule)
            except BaseException as outcome:
                if type(outcome).__name__ != "Skipped":
                    raise
    if rule.singular:
        test_library.test_zero_cotangent_gives_zero(rule)


def _observed(rules: list[Rule]) -> list[Any]:
    """Derivatives at other operands: drawn anew, and special ones."""
    found = []
    for rule in rules:
        for draw in range(FRESH):
            rng = np.random.default_rng(1000 + draw)
            for args, kwargs in ev.cases_of(rule, rng):
                found.append(_outcome(rule, args, kwargs))
                found += [_outcome(rule, _set_to(args, value), kwargs) for value in _SPECIAL if draw == 0]
    return found


def _set_to(args: tuple[Any, ...], value: float) -> tuple[Any, ...]:
    def part(arg: Any) -> Any:
        if isinstance(arg, np.ndarray) and arg.dtype.kind in "fc":
            return np.full_like(arg, value)
        return value if type(arg) is float else arg

    return tuple(map(part, args))


def _outcome(rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    def run() -> Any:
        rng = np.random.default_rng(5)
        y = rule.fn(*args, **kwargs)
        y = tuple(y) if rule.results > 1 else y
        ct = ev.seed_like(y, rng)
        bars = [ev.pullback(rule, form, ct, y, args, kwargs) for form in test_library._forms(rule, args)]
        dots = [ev.direction(arg, bar, rng) for arg, bar in zip(args, bars[0], strict=True)]
        return bars, ev.pushforward(rule, dots, y, args, kwargs)

    try:
        return _quietly(run)
    except Exception as problem:
        return type(problem)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, type) or isinstance(other, type) or one is None or other is None:
        return one is other
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)
